// The tests, over sources of which one is broken: the mutant whose name MUTANT holds. No file is touched; without a
// name, nothing is broken.
import { join } from 'node:path';
import { mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';
import { replaceOnce } from './locate.js';
import { mutants } from './table.js';

const mutant = mutants.find(({ name }) => name === process.env['MUTANT']);
const root = join(import.meta.dirname, '../..');
const broken = mutant && join(root, 'src', mutant.file);

export default mergeConfig(base, {
  root,
  plugins: [
    {
      name: 'mutant',
      enforce: 'pre',
      transform: (code: string, id: string) =>
        mutant && id.split('?')[0] === broken
          ? replaceOnce(code, mutant.find, mutant.replace)
          : undefined,
    },
  ],
});
