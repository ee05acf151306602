// The library: the modules of the command, for programs that bring their own ports.
export * from './model/index.js';
export type * from './platform/index.js';
export { systemClock } from './platform/clock.js';
export { diskFiles } from './platform/files.js';
export { systemRandom } from './platform/random.js';
export { kinds } from './resources/index.js';
