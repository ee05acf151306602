// The exports for other modules: writing live objects as declarations. Apart from `index.ts`, because a plan writes none.
export { updatesOf, type LiveDifference, type UpdatedFile } from './update-in-place.js';
export {
  declarationName,
  type ExportedObjects,
  type NameFor,
  type WrittenObject,
} from './export/declarations.js';
export { writeCdk } from './export/cdk.js';
export { writeHcl } from './export/hcl.js';
export { writeDeclarations, yamlLines } from './export/yaml.js';
