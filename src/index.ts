// The library: the same rooms the command uses, for programs that bring their own ports.
export * from './model/index.js';
export type * from './ports/index.js';
export { systemClock } from './ports/clock.js';
export { diskFiles } from './ports/files.js';
export { systemRandom } from './ports/random.js';
export { kinds } from './resources/index.js';
