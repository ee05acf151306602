// The exports of the emulator: a device cloud in one process, for tests, trials and the quickstart.
export { createEmulator, type Emulator, type EmulatorOptions } from './emulator.js';
export {
  accountCredentials,
  byAccount,
  parseAccountFault,
  type AccountCalls,
} from './account-routing.js';
export { dummyCredentials, type Credentials, type V2Key } from './app.js';
export type { DeliveryOptions } from './deliveries.js';
export { bareEstate, parseEstate, type Estate, type EstateStep, type User } from './estate.js';
export { ConnectionReset, parseFault, type Fault } from './faults.js';
export { parseBehaviours, type Behaviours } from './behaviours.js';
export { postWebhook, serve, type Served } from './serve.js';
