// The constructs of `trueup/cdktf` and `trueup/cdktn`: this one source is built for both; `#cdk` is the library.
export * from './generated/classes.js';
export type { PropsOf } from '../props.js';
export { DevicecloudProvider, type DevicecloudProviderProps } from './provider.js';
