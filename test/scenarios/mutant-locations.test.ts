// Every seeded fault stands on a text of the sources, whatever the print width, and names tests that exist.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { format, resolveConfig } from 'prettier';
import { describe, expect, it } from 'vitest';
import { replaceOnce } from '../mutants/locate.js';
import { mutants } from '../mutants/table.js';

const root = join(import.meta.dirname, '../..');

describe('every seeded fault', () => {
  const files = [...new Set(mutants.map(({ file }) => file))];

  /** Faults whose text is not there once, or leaves no program behind. */
  async function unusable(printWidth?: number): Promise<readonly string[]> {
    const options = await resolveConfig(join(root, 'src/index.ts'));
    const found: string[] = [];
    for (const file of files) {
      const source = readFileSync(join(root, 'src', file), 'utf8');
      const code =
        printWidth === undefined
          ? source
          : await format(source, { ...options, printWidth, parser: 'typescript' });
      for (const { name, find, replace } of mutants.filter((one) => one.file === file)) {
        try {
          transformSync(replaceOnce(code, find, replace), { loader: 'ts', logLevel: 'silent' });
        } catch (error) {
          found.push(`${name} (${file}): ${String(error).split('\n', 2).join(' ')}`);
        }
      }
    }
    return found;
  }

  it('stands once in its file, and leaves a program', async () => {
    expect(await unusable()).toEqual([]);
  });

  it('does so whatever the print width', async () => {
    expect(await unusable(180)).toEqual([]);
  });

  it('names files of tests that exist', () => {
    const missing = mutants.flatMap(({ name, tests }) =>
      tests
        .filter((test) => !existsSync(join(root, 'test', test)))
        .map((test) => `${name}: ${test}`),
    );
    expect(missing).toEqual([]);
  });
});
