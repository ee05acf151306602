// The tests, over sources of which one is broken: the mutant whose name MUTANT holds. No file is touched; without a
// name, nothing is broken.
import { join } from 'node:path';
import { mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';
import { replaceOnce } from './locate.js';
import { mutants } from './table.js';

const root = join(import.meta.dirname, '../..');

export default mergeConfig(base, {
  root,
  plugins: [
    {
      name: 'mutant',
      enforce: 'pre',
      transform(code: string, id: string) {
        const mutant = mutants.find(({ name }) => name === process.env['MUTANT']);
        return mutant && id.split('?')[0] === join(root, 'src', mutant.file)
          ? replaceOnce(code, mutant.find, mutant.replace)
          : undefined;
      },
    },
  ],
});
