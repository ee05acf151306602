// The cellar's door: every room may import from here.
export * from './address.js';
export * from './attribute.js';
export * from './audit.js';
export * from './cloud.js';
export * from './collection.js';
export * from './declaration.js';
export * from './diagnostic.js';
export * from './document.js';
export * from './event.js';
export * from './json.js';
export * from './kind.js';
export * from './limited.js';
export * from './nearest.js';
export * from './normal.js';
export * from './plan.js';
export * from './secret.js';
export * from './state.js';
