// The door of the room: how desire comes in, and how the live estate is written down as desire.
export { lint } from './lint.js';
export { load, secretsNamed, type LoadOptions, type Loaded } from './load.js';
export { checkerOf } from './single.js';
export { declarationsSchema, kindSchema } from './schema.js';
export { declarationName, type Estate, type Written } from './write.js';
export { writeCdk } from './write-cdk.js';
export { writeHcl } from './write-hcl.js';
export { writeDeclarations, yamlLines } from './write-yaml.js';
