// The lines of src/resources/index.ts → the array of what they export, in their order, which a namespace does not keep.
// It runs before scripts/generate.ts, whose imports need the result.
import { readFileSync } from 'node:fs';
import { finish } from './generated-files.js';
import { exportLines, ORIGIN } from './kind-lines.js';

const lines = exportLines(readFileSync('src/resources/index.ts', 'utf8'));
const imports = lines.map(({ name, file }) => `import { ${name} } from '../${file}';`);
const names = lines.map(({ name }) => `  ${name},`);
const text = [
  ORIGIN,
  "import type { Collection, Kind } from '../../model/index.js';",
  ...imports,
  '',
  'export const listed: readonly (Kind | Collection)[] = [',
  ...names,
  '];',
  '',
];
finish(new Map([['src/resources/generated/listed.ts', text.join('\n')]]));
