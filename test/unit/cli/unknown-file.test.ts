// Files that trueup leaves out because it knows none of their top-level keys, and that declared recorded objects before.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as destroy } from '../../../src/cli/commands/destroy.js';
import { run as drift } from '../../../src/cli/commands/drift.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import { folderWith, typing } from '../../support/in-process.js';

let cwd = '';

beforeEach(async () => {
  cwd = folderWith({
    'trueup.yaml':
      'settings: { target: emulator }\naccounts: { keep: { name: Keep } }\n' +
      'users: { bob: { email: b@example.com, first_name: B, last_name: B } }\n',
    'x.yaml':
      'accounts:\n  depot: { name: Depot }\nusers:\n  ada: { email: a@example.com, first_name: A, last_name: A }\n',
  });
  await typing(apply, cwd, 'apply', '--auto-approve');
});

const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text);

test.each([
  'accounts=\n  depot: { name: Depot }\n',
  'accounts:depot: { name: Depot }\n',
  'accounts\n',
  'users ada: { email: a@example.com }\n',
  'jobs: { build: {} }\n',
])('removes nothing where it declared what is recorded: %j', async (text) => {
  write('x.yaml', text);
  const { code, stderr } = await typing(plan, cwd, 'plan');
  expect(code).toBe(1);
  expect(stderr).toContain(
    'error: accounts.depot, users.ada would be removed, because trueup knows none of the top-level keys of x.yaml.',
  );
  expect(stderr).toContain(
    'If the file declares them, write at its top level, with the colon: `accounts:`, `users:`',
  );
  expect((await typing(apply, cwd, 'apply', '--auto-approve')).code).toBe(1);
});

test.each([
  'accounts # sites\n  depot: { name: Depot }\n',
  '"accounts"\n  depot: { name: Depot }\n',
  '  accounts\n    depot: { name: Depot }\n',
  '--- accounts\n  depot: { name: Depot }\n',
  '? accounts\n  depot: { name: Depot }\n',
])('is an error where it has a section and is no YAML: %j', async (text) => {
  write('x.yaml', text);
  const { code, stderr } = await typing(plan, cwd, 'plan');
  expect([code, stderr]).toEqual([1, expect.stringContaining('[yaml-syntax]')]);
});

test('removes nothing where it has another name now, and holds theirs', async () => {
  rmSync(join(cwd, 'x.yaml'));
  write('y.yaml', 'sites:\n  depot: { name: Depot }\npeople:\n  ada: { email: a@example.com }\n');
  const { code, stderr } = await typing(plan, cwd, 'plan');
  expect(code).toBe(1);
  expect(stderr).toContain('trueup knows none of the top-level keys of y.yaml.');
  const [, block = ''] = /write for each: (removed: .*\}\])/.exec(stderr) ?? [];
  expect(block).toBe("removed: [{ from: 'accounts.depot', lifecycle: { destroy: true } }]");
  write('removed.yaml', block.replace('[', '[{ from: users.ada, lifecycle: { destroy: true } }, '));
  expect(await typing(plan, cwd, 'plan')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('2 to delete') as string,
  });
});

test('stops no removal from a file that still declares something, whatever else holds the name', async () => {
  write('x.yaml', 'accounts:\n  depot: { name: Depot }\n');
  write('y.yaml', 'people:\n  ada: { email: a@example.com }\n');
  const { code, stdout } = await typing(plan, cwd, 'plan');
  expect([code, stdout]).toEqual([0, expect.stringContaining('1 to delete')]);
});

test('is an error of an audit, too', async () => {
  write('x.yaml', 'accounts\n');
  const { code, stderr } = await typing(drift, cwd, 'drift');
  expect([code, stderr]).toEqual([1, expect.stringContaining('[file-left-out]')]);
});

test.each([
  ['is deleted', () => rmSync(join(cwd, 'x.yaml'))],
  ['has another name', () => renameSync(join(cwd, 'x.yaml'), join(cwd, 'x.txt'))],
  ['is empty', () => write('x.yaml', '# nothing\n')],
  [
    'has blocks that remove them',
    () => {
      write('x.yaml', 'accounts\n');
      write('removed.yaml', 'removed: [{ from: accounts.depot }, { from: users.ada }]\n');
    },
  ],
])('stops no removal where the file %s', async (_, change) => {
  change();
  const { code, stdout } = await typing(plan, cwd, 'plan');
  expect([code, stdout]).toEqual([0, expect.stringContaining('2 to delete')]);
});

test('stops no removal of objects that another file declared', async () => {
  write('y.yaml', 'jobs: { build: {} }\n');
  rmSync(join(cwd, 'x.yaml'));
  expect(await typing(plan, cwd, 'plan')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('2 to delete') as string,
  });
});

test('does not keep destroy from its objects', async () => {
  write('x.yaml', 'accounts\n');
  const { code, stdout } = await typing(destroy, cwd, 'destroy', '--auto-approve');
  expect([code, stdout]).toEqual([0, expect.stringContaining('4 deleted')]);
});
