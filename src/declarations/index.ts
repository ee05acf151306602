// The door of the room: how desire comes in, and how the live estate is written down as desire.
export { lint } from './lint.js';
export { load, secretsNamed, type LoadOptions, type Loaded } from './load.js';
export { checkerOf } from './single-declaration.js';
export { declarationsSchema, kindSchema } from './file-schema.js';
export { declarationName, type Estate, type Written } from './export/declarations.js';
export { writeCdk } from './export/cdk.js';
export { writeHcl } from './export/hcl.js';
export { writeDeclarations, yamlLines } from './export/yaml.js';
