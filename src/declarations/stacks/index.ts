// The exports for other modules, loaded only if a PATH leads to a synthesised stack.
export { desiredOf } from './stack.js';
export { readStacks } from './stack-files.js';
