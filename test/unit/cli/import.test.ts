// What `trueup import` advises where the object has an address already.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as bind } from '../../../src/cli/commands/import.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

test('an object that another address manages: both ways out', async () => {
  const cwd = freshFolder();
  const file = join(cwd, 'trueup.yaml');
  writeFileSync(file, 'settings: { target: emulator }\naccounts: { a: { name: A } }\n');
  const { stdout } = await inProcess(apply, ['apply', '--auto-approve'], { cwd, env: {} });
  const [, id = ''] = /accounts\.a \(id (\d+)\)/.exec(stdout) ?? [];
  writeFileSync(file, 'settings: { target: emulator }\naccounts: { b: { name: A } }\n');
  const { code, stderr } = await inProcess(bind, ['import', 'accounts.b', id], { cwd, env: {} });
  expect([code, stderr.replaceAll(/\s+/g, ' ')]).toEqual([
    1,
    expect.stringContaining(
      "Keep one of the two. If it was renamed, write `moved: [{ from: 'accounts.a', to: 'accounts.b' }]`, or type: trueup state mv accounts.a accounts.b",
    ),
  ]);
});

test('an id is plain, or the path of the object', async () => {
  const cwd = freshFolder();
  const file = join(cwd, 'trueup.yaml');
  writeFileSync(file, 'settings: { target: emulator }\naccounts: { a: { name: A } }\n');
  const importing = (id: string) => inProcess(bind, ['import', 'accounts.a', id], { cwd, env: {} });
  expect((await importing('0/../1')).stderr).toContain('`0/../1` is not an id of accounts');
  expect((await importing('01')).stderr).toContain('`01` is not an id of accounts');
  const { code, stdout } = await importing('/api/v2/accounts/1/');
  expect([code, stdout]).toEqual([0, expect.stringContaining('Imported 1 as accounts.a.')]);
});

test('a name of a `for_each` is advised to be one of its members', async () => {
  const cwd = freshFolder();
  writeFileSync(
    join(cwd, 'trueup.yaml'),
    'settings: { target: emulator }\naccounts: { s: { for_each: [x, y], name: "${each.key}" } }\n',
  );
  const { code, stderr } = await inProcess(bind, ['import', 'accounts.s', '1'], { cwd, env: {} });
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(`Name one of them: trueup import 'accounts.s["x"]' 1`),
  ]);
});
