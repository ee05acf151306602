// The constructs of `trueup/constructs`, on `constructs` alone. What touches the disk is added by the entry point.
export * from './generated/classes.js';
export { Lookup, Resource } from './classes.js';
export type { PropsOf } from '../props.js';
export { Stack, type StackProps, type StackSettings } from './stack.js';
export { secret, type Reference, type SecretReference } from './tokens.js';
