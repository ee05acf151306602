// Groups and routers keep an account in use, also where a target leaves them out of the plan; a project that has none of
// them does not read them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import { folderWith, typing } from '../../support/in-process.js';

const ACCOUNT = 'settings: { target: emulator }\naccounts: { a: { name: A } }\n';
const GROUP = 'groups: { g: { name: G, account: "${accounts.a.id}" } }\n';

const planned = async (text: string, ...words: readonly string[]) => {
  const cwd = folderWith({ 'trueup.yaml': text });
  expect((await typing(apply, cwd, 'apply', '--auto-approve')).code).toBe(0);
  return typing(plan, cwd, 'plan', '--destroy', ...words);
};

test('a target that leaves out the group of its account is blocked', async () => {
  const { code, stdout } = await planned(ACCOUNT + GROUP, '--target', 'accounts.a');
  expect(code).toBe(3);
  expect(stdout).toContain(
    'BLOCKED account-in-use: accounts.a (account 2) still holds groups.g; until it holds no groups, the service refuses the delete; to remove what the targets leave out, add --target groups.g',
  );
});

test('a target that covers the group is not, and a note names only the routers', async () => {
  const targets = ['--target', 'accounts.a', '--target', 'groups.g'];
  const { code, stderr } = await planned(ACCOUNT + GROUP, ...targets);
  expect(code).toBe(0);
  expect(stderr).toContain(
    'info: accounts.a is to be deleted. Whether it still holds routers is not known, because routers were not read.',
  );
});

test('a project without groups does not read them', async () => {
  const cwd = folderWith({ 'trueup.yaml': ACCOUNT + GROUP });
  await typing(apply, cwd, 'apply', '--auto-approve');
  const forget = 'removed: [{ from: groups.g, lifecycle: { destroy: false } }]\n';
  for (const text of [ACCOUNT + forget, ACCOUNT]) {
    writeFileSync(join(cwd, 'trueup.yaml'), text);
    expect((await typing(apply, cwd, 'apply', '--auto-approve')).code).toBe(0);
  }
  const { code, stderr } = await typing(plan, cwd, 'plan', '--destroy');
  expect(code).toBe(0);
  expect(stderr).toContain('Whether it still holds groups and routers is not known');
});
