// What the commands for the state say of an address or a serial that does not fit.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as bind } from '../../../src/cli/commands/import.js';
import { run as log } from '../../../src/cli/commands/log.js';
import { history, rollback } from '../../../src/cli/commands/kept-states.js';
import { list, mv, rm, show } from '../../../src/cli/commands/state.js';
import { freshFolder, inProcess, type Said } from '../../support/in-process.js';
import type { Command } from '../../../src/cli/context.js';

const PROJECT =
  'settings: { target: emulator }\naccounts: { a: { name: A }, c: { for_each: [k, m], name: "${each.value}" } }\n';

/** Types a command for the state of an applied project; it changes nothing. */
async function refused(command: Command, ...words: readonly string[]): Promise<Said> {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), PROJECT);
  await inProcess(apply, ['apply', '--auto-approve'], { cwd, env: {} });
  const state = (): string => readFileSync(join(cwd, '.trueup/state.json'), 'utf8');
  const before = state();
  const said = await inProcess(command, ['state', ...words], { cwd, env: {} });
  expect(state()).toBe(before);
  return said;
}

test('an object that has the address already is not to be forgotten', async () => {
  const { code, stderr } = await refused(mv, 'mv', 'accounts.a', 'accounts.a');
  expect([code, stderr]).toEqual([
    1,
    'error: Both addresses are accounts.a: there is nothing to move. [usage] ',
  ]);
});

test.each<[string, string, readonly string[], string]>([
  [
    'nothing declares it',
    PROJECT,
    [],
    'warning: accounts.b is not declared, so a plan counts its object as removed. [undeclared] Declare it, or move it back: trueup state mv accounts.b accounts.a ',
  ],
  ['it is declared', PROJECT.replace('a: {', 'b: {'), [], ''],
  [
    'it is declared as moved on',
    PROJECT.replace('a: {', 'd: {') + 'moved: [{ from: accounts.b, to: accounts.d }]\n',
    [],
    'warning: accounts.b is declared as an earlier address of accounts.d, so the next apply moves its object there. [moves-on] Delete the moved block or lifecycle.renamed_from, or move it back: trueup state mv accounts.b accounts.a ',
  ],
  ['the declarations do not load', `${PROJECT}accounts: [`, [], ''],
  [
    'a program declares, which is not run',
    PROJECT,
    ['--path', 'trueup.yaml', '--path', 'cdk.json'],
    '',
  ],
])('a move says that the next apply undoes it, or nothing: %s', async (_, text, flags, warned) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), PROJECT);
  await inProcess(apply, ['apply', '--auto-approve'], { cwd, env: {} });
  writeFileSync(join(cwd, 'trueup.yaml'), text);
  writeFileSync(join(cwd, 'cdk.json'), '{ "app": "exit 1" }');
  const words = ['state', 'mv', 'accounts.a', 'accounts.b', ...flags];
  expect(await inProcess(mv, words, { cwd, env: {} })).toEqual({
    code: 0,
    stdout: 'accounts.a is accounts.b now.\n',
    stderr: warned,
  });
});

test.each([
  ['show', show, []],
  ['mv', mv, ['accounts.d']],
  ['rm', rm, []],
])('%s of a `for_each` without a key names its members', async (name, command, more) => {
  const { code, stderr } = await refused(command, name, 'accounts.c', ...more);
  expect([code, stderr]).toEqual([
    1,
    `error: accounts.c is not in the state. It has members: 'accounts.c["k"]', 'accounts.c["m"]' [not-managed] List the addresses: trueup state list `,
  ]);
});

test('a key whose quotes the shell took is written for the shell', async () => {
  const { stderr } = await refused(show, 'show', 'accounts.c[k]');
  expect(stderr).toContain(
    `accounts.c[k] is not in the state. Did you mean \`'accounts.c["k"]'\`?`,
  );
});

test('a rollback without a serial says what lists the serials', async () => {
  const { code, stderr } = await refused(rollback, 'rollback');
  expect([code, stderr]).toEqual([
    1,
    'error: Type the serial of the state to restore. [usage] Those that are kept: trueup state history ',
  ]);
});

test.each([
  ['{bad', 1, ''],
  ['{bad', 2, 'SERIAL  WRITTEN'],
])(
  'the history of a state that is damaged (%j) says so, after %i applies',
  async (text, applies, shown) => {
    const cwd = freshFolder();
    for (let run = 0; run < applies; run += 1) {
      writeFileSync(join(cwd, 'trueup.yaml'), PROJECT.replace('name: A', `name: A${run}`));
      await inProcess(apply, ['apply', '--auto-approve'], { cwd, env: {} });
    }
    writeFileSync(join(cwd, '.trueup/state.json'), text);
    const { code, stdout, stderr } = await inProcess(history, ['state', 'history'], {
      cwd,
      env: {},
    });
    expect([code, stdout.slice(0, shown.length), stderr]).toEqual([
      1,
      shown,
      expect.stringContaining('.trueup/state.json is damaged'),
    ]);
    expect(stderr).not.toContain('There is no state yet');
  },
);

const KEY = 'k'.repeat(12);
const FILE = 'declarations-of-all-customers.yaml';
const MEMBER = `accounts.of-all-customers["${KEY}"]`;

test.each<[words: readonly string[], command: Command, wide: RegExp, narrow: RegExp]>([
  [['state', 'list'], list, /^ADDRESS .*\n\S+  +2 +\S+\n$/, /^\S+\n {4}2  \S+\n$/],
  [
    ['import', MEMBER, '2'],
    bind,
    /^Imported 2 as \S+\. To see the differences: trueup plan\n$/,
    /^Imported 2 as \S+\. To see the differences:\n {2}trueup plan\n$/,
  ],
  [
    ['log'],
    log,
    /^1 {2}\S+:\d\dZ {2}apply {2}1 created, 0 updated, 0 deleted\n {4}1 object in the state; by .*; declarations \w+\n$/,
    /^1 {2}\S+:\d\dZ {2}apply {2}1 created, 0 updated, 0 deleted\n {4}1 object in the state;(?: .*\n {4})? ?by .*;(?: |\n {4})declarations \w+\n$/,
  ],
])('%j is laid out for a terminal, and not for a pipe', async (words, command, wide, narrow) => {
  const cwd = freshFolder();
  writeFileSync(
    join(cwd, FILE),
    `settings: { target: emulator }\naccounts: { of-all-customers: { for_each: [${KEY}], name: A } }\n`,
  );
  await inProcess(apply, ['apply', '--auto-approve'], { cwd, env: {} });
  const at80: Command = ({ out, ...context }, args) =>
    command({ ...context, out: { ...out, style: { ...out.style, width: 80 } } }, args);
  expect((await inProcess(at80, words, { cwd, env: {} })).stdout).toMatch(narrow);
  expect((await inProcess(command, words, { cwd, env: {} })).stdout).toMatch(wide);
});
