// What `get` says of formats that only the access review has.
import { expect, test } from 'vitest';
import { run } from '../../../src/cli/commands/get.js';
import { commands } from '../../../src/cli/command-table.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

test.each(['markdown', 'html'])('-o %s of a kind names its formats, and access', async (format) => {
  const words = ['get', 'accounts', '-o', format];
  const { code, stderr } = await inProcess(run, words, { cwd: freshFolder(), env: {} });
  expect(code).toBe(1);
  expect(stderr).toContain(
    'Formats of accounts: table, wide, json, yaml, csv, ndjson. The access review: trueup get access -o '.concat(
      format,
    ),
  );
});

test('the help says which formats only access has', () => {
  const flags = commands.find(({ name }) => name === 'get')?.flags ?? [];
  expect(flags.find(({ spelling }) => spelling.includes('--output'))?.doc).toBe(
    'output format; markdown and html only of access',
  );
});
