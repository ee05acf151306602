// The constructs of `trueup/constructs`, with `constructs` as the only library. The entry point adds the disk.
export * from './generated/classes.js';
export { Lookup, Resource } from './classes.js';
export type { PropsOf } from '../props.js';
export { Stack, type StackProps, type StackSettings } from './stack.js';
export { secret, type Reference, type SecretReference } from './tokens.js';
