// The exports for other modules: reading declarations. Those that write live objects as declarations are in `writing.ts`.
export { lint } from './lint.js';
export { load, secretsNamed, type LoadOptions, type Loaded } from './load.js';
export { mentionsIn } from './mentions.js';
export {
  DOCUMENTS_OUTPUT,
  STACKS_OUTPUT,
  filesAt,
  filesBelow,
  realPath,
  yamlFilesIn,
} from './paths.js';
export { propNamer } from './prop-names.js';
export { sections } from './vocabulary.js';
export { declarationsSchema, kindSchema } from './file-schema.js';
