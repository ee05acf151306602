// What the log says of a run is what the run said of itself.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as log } from '../../../src/cli/commands/log.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

const accounts = (text: string): string => `settings: { target: emulator }\n${text}\n`;

test('adopted and renamed objects that are changed are counted as by their apply', async () => {
  const cwd = freshFolder();
  const write = (text: string) => writeFileSync(join(cwd, 'trueup.yaml'), accounts(text));
  const run = (command: typeof apply, ...words: readonly string[]) =>
    inProcess(command, words, { cwd, env: {} });
  write('accounts: { a: { name: A, is_disabled: false }, b: { name: B } }');
  await run(apply, 'apply', '--auto-approve');
  rmSync(join(cwd, '.trueup', 'state.json'));
  write('accounts: { a: { name: A, is_disabled: true }, b: { name: B } }');
  const counts = async (...words: readonly string[]) => {
    const applied = await run(apply, 'apply', '--auto-approve', ...words);
    const [, said] = /^Applied: (.*); \d+ unchanged\.$/m.exec(applied.stdout)!;
    const logged = await run(log, 'log', '-n', '1');
    return [said?.replaceAll(/ \(.*?\)/g, ''), /apply {2}(.*)/.exec(logged.stdout)?.[1]];
  };
  const adopted = '0 created, 2 adopted, 0 updated, 0 deleted';
  expect(await counts('--allow', 'first-run')).toEqual([adopted, adopted]);
  write(`accounts: { c: { name: A2, is_disabled: true }, d: { name: B } }
moved: [{ from: accounts.a, to: accounts.c }, { from: accounts.b, to: accounts.d }]`);
  const renamed = '0 created, 1 updated, 0 deleted, 1 renamed';
  expect(await counts()).toEqual([renamed, renamed]);
});
