// The exports for other modules: reading declarations, and writing live objects as declarations.
export { lint } from './lint.js';
export { load, secretsNamed, type LoadOptions, type Loaded } from './load.js';
export { updatesOf, type LiveDifference, type UpdatedFile } from './update.js';
export { propNamer } from './prop-names.js';
export { checkerOf } from './single-declaration.js';
export { declarationsSchema, kindSchema } from './file-schema.js';
export {
  declarationName,
  type ExportedObjects,
  type NameFor,
  type WrittenObject,
} from './export/declarations.js';
export { writeCdk } from './export/cdk.js';
export { writeHcl } from './export/hcl.js';
export { writeDeclarations, yamlLines } from './export/yaml.js';
