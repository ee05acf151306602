// What other modules use of synthesised stacks, loaded only where a PATH leads to one.
export { desiredOf } from './stack.js';
export { readStacks } from './stack-files.js';
