// What a message tells to type is typed here, at a shell, as it was printed: then nothing is left to do.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TRUEUP } from '../support/command.js';
import { folder, type Folder } from '../support/cli.js';

/** Keys that mean something to a shell, to JSON, to a terminal or to a CI log. */
const keys = [
  'plain',
  'two words',
  "it's",
  '$HOME',
  '`id`',
  '"quoted"',
  'back\\slash',
  'a;b & c | d > e',
  '*',
  '!',
  'bidi\u202e',
  '##[group]',
  'line\nbreak',
  'ü',
  '',
];

const SETTINGS =
  'settings: { target: emulator, policy: { max_deletes: 99, max_changed_percent: 100 } }\n';
const forEach = (name: string, members: Readonly<Record<string, string>>): string =>
  `accounts:\n  ${name}: { for_each: ${JSON.stringify(members)}, name: "\${each.value}", account: "1" }\n`;

/** The commands in a text as it is printed to people. */
const commandsIn = (text: string, begin: string): readonly string[] =>
  text.split('\n').flatMap((line) => new RegExp(`(?:^ *|: )(${begin} .*)$`).exec(line)?.[1] ?? []);

/** Types them at /bin/sh in the folder, with `trueup` as the built command. */
const type = (home: Folder, commands: readonly string[]): string =>
  execFileSync(
    '/bin/sh',
    ['-ec', `trueup() { "$NODE" "$TRUEUP" "$@"; }\n${commands.join('\n')}\n`],
    {
      cwd: home.path,
      env: { PATH: process.env['PATH'], NODE: process.execPath, TRUEUP, HOME: 'expanded' },
      encoding: 'utf8',
    },
  );

/** The block that a note tells to write, as it is printed. */
const blockIn = (text: string): string =>
  /^ *moved:\n(?: +- \{.*\}\n)+/m.exec(text)?.[0].replaceAll(/^ {2}/gm, '') ?? '';

it('renamed keys of a for_each: nothing is sent after what the plan tells to write', async () => {
  const before = Object.fromEntries(keys.map((_, index) => [`old-${index}`, `Depot ${index}`]));
  const after = Object.fromEntries(keys.map((key, index) => [key, `Depot ${index}`]));
  const home = folder({ 'trueup.yaml': SETTINGS + forEach('depots', before) });
  await home.expect(0, ['apply', '--auto-approve']);
  home.write('trueup.yaml', SETTINGS + forEach('depots', after));
  const { stderr } = await home.run(['plan']);
  home.write('moves.yaml', blockIn(stderr));
  expect((await home.expect(0, ['plan', '--detailed-exitcode'])).stdout).toContain(
    `${keys.length} renamed`,
  );
});

it.each(keys)('a member renamed to the key %j: what is told to type and to write', async (key) => {
  const home = folder({ 'trueup.yaml': SETTINGS + forEach('depots', { old: 'A', other: 'B' }) });
  await home.expect(0, ['apply', '--auto-approve']);
  const cloud = home.read('.trueup/emulator.json');
  home.write('trueup.yaml', SETTINGS + forEach('depots', { [key]: 'A', other: 'B' }));
  const { stderr } = await home.run(['plan']);
  expect(stderr).not.toContain('renamed_from');
  type(home, commandsIn(stderr, 'trueup state mv'));
  await home.expect(0, ['plan', '--detailed-exitcode']);
  expect(home.read('.trueup/emulator.json')).toBe(cloud);
});

it('a renamed for_each: nothing is sent with the block that the plan tells to write', async () => {
  const home = folder({ 'trueup.yaml': SETTINGS + forEach('depots', { a: 'A', b: 'B' }) });
  await home.expect(0, ['apply', '--auto-approve']);
  home.write('trueup.yaml', SETTINGS + forEach('sites', { a: 'A', b: 'B' }));
  const { stderr } = await home.run(['plan']);
  expect(blockIn(stderr).split('\n')).toHaveLength(3);
  home.write('moves.yaml', blockIn(stderr));
  await home.expect(0, ['plan', '--detailed-exitcode']);
});

it('a renamed for_each with one member: nothing is sent with the line that the plan tells to write', async () => {
  const home = folder({ 'trueup.yaml': SETTINGS + forEach('depots', { a: 'A' }) });
  await home.expect(0, ['apply', '--auto-approve']);
  const renamed = SETTINGS + forEach('sites', { a: 'A' });
  home.write('trueup.yaml', renamed);
  const { stderr } = await home.run(['plan']);
  const [line = ''] = /lifecycle: \{ renamed_from: "depots" \}/.exec(stderr) ?? [];
  home.write('trueup.yaml', renamed.replace('for_each', `${line}, for_each`));
  await home.expect(0, ['plan', '--detailed-exitcode']);
});

it('a renamed declaration that was a member of a for_each', async () => {
  const home = folder({ 'trueup.yaml': SETTINGS + forEach('depots', { "it's": 'A' }) });
  await home.expect(0, ['apply', '--auto-approve']);
  home.write('trueup.yaml', `${SETTINGS}accounts:\n  depot: { name: A, account: "1" }\n`);
  const { stderr } = await home.run(['plan']);
  const [line = ''] = /lifecycle: \{ renamed_from: .* \}(?=`, and)/.exec(stderr) ?? [];
  home.write('trueup.yaml', `${SETTINGS}accounts:\n  depot: { name: A, account: "1", ${line} }\n`);
  await home.expect(0, ['plan', '--detailed-exitcode']);
});

it.each(keys)('a member with the key %j: what import and state mv tell to type', async (key) => {
  const home = folder({ 'trueup.yaml': SETTINGS + forEach('depots', { [key]: 'A', other: 'B' }) });
  await home.expect(0, ['apply', '--auto-approve']);
  const address = `accounts.depots[${JSON.stringify(key)}]`;
  const moved = await home.expect(1, ['state', 'mv', 'accounts.depots["other"]', address]);
  type(home, commandsIn(moved.stderr, 'trueup state rm'));
  await home.expect(1, ['state', 'show', address]);
  await home.expect(0, ['apply', '--auto-approve']);
  const bound = await home.expect(1, ['import', address, '999999']);
  type(home, commandsIn(bound.stderr, 'trueup state rm'));
  await home.expect(1, ['state', 'show', address]);
});

it('a member that matches two live objects: what is told to type alone, because a lifecycle stands beside all members', async () => {
  const twin = '{ name: A, account: "1", lifecycle: { allow_duplicate: true } }';
  const home = folder({ 'trueup.yaml': `${SETTINGS}accounts:\n  a: ${twin}\n  b: ${twin}\n` });
  await home.expect(0, ['apply', '--auto-approve']);
  rmSync(join(home.path, '.trueup/state.json'));
  home.write('trueup.yaml', SETTINGS + forEach('depots', { "it's $HOME": 'A' }));
  const { stdout, stderr } = await home.expect(5, ['plan']);
  expect(stdout + stderr).not.toContain('adopt:');
  type(home, commandsIn(stdout + stderr, 'trueup import'));
  await home.expect(0, ['plan', '--detailed-exitcode']);
});
