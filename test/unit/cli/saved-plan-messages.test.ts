// What is said of a saved plan where another file is expected, or the other way round.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { expect, test } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import { run as show } from '../../../src/cli/commands/show.js';
import { run as validate } from '../../../src/cli/commands/validate.js';
import { freshFolder, inProcess, type Said } from '../../support/in-process.js';

const PROJECT = 'settings: { target: emulator }\naccounts: { a: { name: A } }\n';

/** A project with a saved plan, `p.plan`. */
async function planned(): Promise<string> {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), PROJECT);
  await inProcess(plan, ['plan', '--out', 'p.plan'], { cwd, env: {} });
  return cwd;
}

test.each(['trueup.yaml', 'declared'])('declarations in %s are no damaged plan', async (name) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, name), PROJECT);
  const { code, stderr } = await inProcess(show, ['show', name], { cwd, env: {} });
  const path = join(cwd, name);
  expect([code, stderr]).toEqual([
    1,
    `error: ${path} is a file of declarations, not a saved plan [no-plan] To plan what it declares: trueup plan ${path} To save the plan, add --out FILE. `,
  ]);
});

test.each([
  ['plan', plan],
  ['validate', validate],
])('%s of a saved plan names the commands that take one', async (name, command) => {
  const cwd = await planned();
  const { code, stderr } = await inProcess(command, [name, 'p.plan'], { cwd, env: {} });
  expect([code, stderr]).toEqual([
    1,
    'error: p.plan is a saved plan, not a file of declarations p.plan:1:1 · [not-ours] To see it, type `trueup show p.plan`; to apply it, `trueup apply p.plan`. ',
  ]);
});

test('what is shown of a saved plan says when it was made, until when it is valid, and what to type', async () => {
  const cwd = await planned();
  const shown = await inProcess(show, ['show', 'p.plan'], { cwd, env: {} });
  const AT = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
  expect(shown.stderr).toMatch(
    new RegExp(
      String.raw`^Made at ${AT} without a state, valid until ${AT}\. To apply it: trueup apply p\.plan\s*$`,
    ),
  );
  await inProcess(apply, ['apply', 'p.plan'], { cwd, env: {} });
  writeFileSync(join(cwd, 'trueup.yaml'), PROJECT.replace('name: A', 'name: B'));
  await inProcess(plan, ['plan', '--out', 'p.plan', '--valid-for', '90m'], { cwd, env: {} });
  const later = await inProcess(show, ['show', 'p.plan'], { cwd, env: {} });
  expect(later.stderr).toContain('for serial 1 of the state, valid until');
  const json = await inProcess(show, ['show', 'p.plan', '--format', 'json'], { cwd, env: {} });
  expect(json.stderr).toBe('');
});

test.each([
  ['sub', 'p.plan', ' To apply it: trueup apply sub/p.plan'],
  [
    '',
    '../p.plan',
    ' To apply it, if it was made in this folder: trueup apply ../p.plan If it was made in its own folder: cd .. && trueup apply p.plan',
  ],
])('the way to apply a plan that is shown from elsewhere: in %j', async (folder, name, said) => {
  const cwd = await planned();
  mkdirSync(join(cwd, 'sub'));
  if (folder !== '') renameSync(join(cwd, name), join(cwd, folder, name));
  const at = folder === '' ? join(cwd, 'sub') : cwd;
  const shown = await inProcess(show, ['show', join(folder, name)], { cwd: at, env: {} });
  expect(shown.stderr.trimEnd().endsWith(said), shown.stderr).toBe(true);
});

test('a saved create of what exists by now: the reason, that nothing was changed, and what to type', async () => {
  const cwd = await planned();
  const run = (command: typeof plan, ...words: readonly string[]) =>
    inProcess(command, words, { cwd, env: {} });
  await run(apply, 'apply', 'p.plan');
  writeFileSync(
    join(cwd, 'trueup.yaml'),
    PROJECT.replace('{ name: A }', '{ name: A }, b: { name: B }'),
  );
  await run(plan, 'plan', '--out', 'p.plan');
  const data = join(cwd, '.trueup', 'emulator.json');
  const estate = JSON.parse(readFileSync(data, 'utf8')) as {
    records: { accounts: Record<string, unknown>[] };
  };
  const { accounts } = estate.records;
  accounts.push({ ...accounts.at(-1), id: '77', name: 'B' });
  writeFileSync(data, JSON.stringify(estate));
  const { code, stderr } = await run(apply, 'apply', 'p.plan');
  expect([code, stderr]).toEqual([
    6,
    expect.stringContaining('an unmanaged object with the same identity exists now, and would be'),
  ]);
  expect(stderr).toContain(
    'Nothing was changed in the cloud. [nothing-changed] Make the plan again: trueup plan --out p.plan',
  );
});

/** Applies a plan that renames an account from A to B, which somebody else renamed meanwhile. */
async function appliedAfterRename(live: string): Promise<Said> {
  const cwd = await planned();
  const run = (command: typeof plan, ...words: readonly string[]) =>
    inProcess(command, words, { cwd, env: {} });
  await run(apply, 'apply', 'p.plan');
  writeFileSync(join(cwd, 'trueup.yaml'), PROJECT.replace('name: A', 'name: B'));
  await run(plan, 'plan', '--out', 'p.plan');
  const data = join(cwd, '.trueup', 'emulator.json');
  writeFileSync(data, readFileSync(data, 'utf8').replaceAll('"name":"A"', `"name":"${live}"`));
  return run(apply, 'apply', 'p.plan');
}

test('a stale update says which value is another one now', async () => {
  const { code, stderr } = await appliedAfterRename('Z');
  expect([code, stderr]).toEqual([
    6,
    expect.stringContaining('Live name: "A" when it was planned, "Z" now. Make a new plan'),
  ]);
});

test('a saved plan is shown with its requests where that is asked for', async () => {
  const cwd = await planned();
  const words = ['apply', 'p.plan', '--show-requests'];
  const { code, stdout } = await inProcess(apply, words, { cwd, env: {} });
  expect([code, stdout]).toEqual([0, expect.stringContaining('{"name":"A"}')]);
});

test('a change of a saved plan that is live already is told', async () => {
  const { code, stdout, stderr } = await appliedAfterRename('B');
  expect([code, stdout + stderr]).toEqual([
    0,
    expect.stringContaining(
      'accounts.a: nothing is left to change of what was planned. [not-needed]',
    ),
  ]);
});

test('an apply without the value of a secret says that nothing was changed', async () => {
  const cwd = freshFolder();
  writeFileSync(
    join(cwd, 'trueup.yaml'),
    `${PROJECT}alert_push_destinations: { p: { name: P, endpoint: { url: "https://a.test" }, authentication: { secret: "\${secret.env.NONE}" } } }\n`,
  );
  const { code, stderr } = await inProcess(apply, ['apply', '--auto-approve'], { cwd, env: {} });
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/Nothing was changed in the cloud\..*\[secret-missing\]/),
  ]);
});

test('the way to the folder of an encrypted plan has the identity, as it is named from there', async () => {
  const cwd = await planned();
  const identity = await generateX25519Identity();
  writeFileSync(join(cwd, 'key.txt'), identity);
  const recipient = await identityToRecipient(identity);
  await inProcess(plan, ['plan', '--out', 'p.plan', '--encrypt-to', recipient], { cwd, env: {} });
  const sub = join(cwd, 'sub');
  mkdirSync(sub);
  const words = ['show', '../p.plan', '--identity', '../key.txt'];
  const { stderr } = await inProcess(show, words, { cwd: sub, env: {} });
  expect(stderr).toContain('cd .. && trueup apply p.plan --identity key.txt');
});

test('a saved plan in another folder than its own: the folder is the reason', async () => {
  const cwd = await planned();
  const sub = join(cwd, 'sub');
  mkdirSync(sub);
  const { code, stderr } = await inProcess(apply, ['apply', '../p.plan'], { cwd: sub, env: {} });
  expect([code, stderr]).toEqual([
    6,
    'error: ../p.plan is stale: the declarations from which it was made are not in the current folder. [stale] Nothing was changed. Apply it in the folder in which it was made. If that is the folder of the plan: cd .. && trueup apply p.plan ',
  ]);
  writeFileSync(join(sub, 'p.plan'), readFileSync(join(cwd, 'p.plan')));
  const copied = await inProcess(apply, ['apply', 'p.plan'], { cwd: sub, env: {} });
  expect(copied.stderr).toMatch(/Apply it in the folder in which it was made\. $/);
  writeFileSync(join(cwd, 'trueup.yaml'), 'accounts: [');
  const broken = await inProcess(apply, ['apply', 'p.plan'], { cwd, env: {} });
  expect(broken.stderr).toContain('can no longer be loaded');
});
