// Files that trueup leaves out because it knows none of their top-level keys, and that declared recorded objects before.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
  expect(stderr).toContain(
    'error: accounts.depot, users.ada would be removed, but y.yaml may declare them: it is left out, because trueup knows none of its top-level keys.',
  );
  const [, block = ''] = /add for each of them: (removed: .*\}\])/.exec(stderr) ?? [];
  expect(block).toBe("removed: [{ from: 'accounts.depot', lifecycle: { destroy: true } }]");
  write('removed.yaml', block.replace('[', '[{ from: users.ada, lifecycle: { destroy: true } }, '));
  expect(await typing(plan, cwd, 'plan')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('2 to delete') as string,
  });
});

test.each([
  ['another file', 'y.yaml', 'people:\n  ada: { email: a@example.com }\n'],
  ['a file at its top', 'y.yaml', 'ada: { email: a@example.com }\n'],
  ['a file that is no YAML', 'y.yaml', 'people:\n  ada: { email: a@example.com\n'],
  ['an explicit key', 'y.yaml', 'people:\n  ? ada\n  : { email: a@example.com }\n'],
  ['a file of an environment', 'trueup.web.yaml', 'people:\n  ada: { email: a@example.com }\n'],
  [
    'a file, under a new name,',
    'y.yaml',
    'people:\n  eva: { email: a@example.com, lifecycle: { renamed_from: ada } }\n',
  ],
  [
    'a file, renamed from its address,',
    'y.yaml',
    'people:\n  eva: { email: a@example.com, lifecycle: { renamed_from: users.ada } }\n',
  ],
])('removes nothing that %s may declare now', async (_, name, text) => {
  write('x.yaml', 'accounts:\n  depot: { name: Depot }\n');
  write(name, text);
  const { code, stderr } = await typing(plan, cwd, 'plan');
  expect(code).toBe(1);
  expect(stderr).toContain(`error: users.ada would be removed, but ${name} may declare it`);
  const rename = name === 'y.yaml' ? '' : 'give the file another name, and ';
  expect(stderr).toContain(
    `If the file declares it, ${rename}write at its top level, with the colon: \`users:\``,
  );
  expect(stderr).toContain("If no file declares it any more, add: removed: [{ from: 'users.ada',");
});

test.each([
  ['a mapping of another program', 'services:\n  ada: { image: nginx }\n'],
  ['a key without a mapping', 'volumes: { ada: }\n'],
  ['a comment', '# ada: old\nservices: { web: { image: nginx }\n'],
  ['a key further below', 'services: { web: { ada: { email: a@example.com } } }\n'],
  ['a part of a name', 'people:\n  ada-b: { email: a@example.com }\n'],
])('stops no removal because of %s with its name', async (_, text) => {
  write('x.yaml', 'accounts:\n  depot: { name: Depot }\n');
  write('y.yaml', text);
  const { code, stdout } = await typing(plan, cwd, 'plan');
  expect([code, stdout]).toEqual([0, expect.stringContaining('1 to delete')]);
});

test.each([
  ['its own file', 'x.yaml', 'uses:\n  acme: { template: site }\n', 'because trueup knows'],
  ['another file', 'y.yaml', 'acme: { template: site }\n', 'but y.yaml may declare them'],
])('removes nothing that a use made which is in %s', async (_, name, text, why) => {
  write(
    'site.yaml',
    'templates:\n  site:\n    accounts:\n      main: { name: Main }\n      guests: { name: Guests }\n',
  );
  write('x.yaml', 'use:\n  acme: { template: site }\n');
  await typing(apply, cwd, 'apply', '--auto-approve');
  rmSync(join(cwd, 'x.yaml'));
  write(name, text);
  const { code, stderr } = await typing(plan, cwd, 'plan');
  expect(code).toBe(1);
  expect(stderr).toContain(
    `error: accounts.acme-guests, accounts.acme-main would be removed, ${why}`,
  );
  expect(stderr).toContain('write at its top level, with the colon: `use:`');
});

test('is a warning of an audit, which tells all other drift', async () => {
  const data = join(cwd, '.trueup', 'emulator.json');
  writeFileSync(data, readFileSync(data, 'utf8').replaceAll('"Keep"', '"Hand"'));
  write('x.yaml', 'accounts\n');
  const { code, stdout, stderr } = await typing(drift, cwd, 'drift');
  expect(stderr).toContain('warning: accounts.depot, users.ada would be removed, because');
  expect(stdout).toContain('~ changed accounts.keep');
  expect([code, stdout]).toEqual([0, expect.stringContaining('1 changed, 2 undeclared')]);
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
