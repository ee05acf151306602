// Errors, warnings and notes of a text report are printed once: in the text where both streams are one, else on stderr.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import type { Command } from '../../../src/cli/context.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

const SETTINGS = 'settings: { target: emulator, policy: { max_deletes: 0 } }\n';
const REFUSED = 'account_authorizations: { x: { user: "1", account: "1", role: administrator } }\n';
const ACCOUNTS = 'accounts: { a: { name: A }, b: { name: B } }\n';

const times = (text: string, part: string): number => text.split(part).length - 1;

test.each([
  ['both streams are one', true, [1, 0]],
  ['they are two', false, [0, 1]],
] as const)('where %s', async (_, isOne, counts) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + REFUSED);
  const told: Command = (context, args) => plan({ ...context, isOneStream: () => isOne }, args);
  for (const words of [['plan'], ['plan', '--report', 'text=plan.txt', '--verbose']]) {
    const { code, stdout, stderr } = await inProcess(told, words, { cwd, env: {} });
    const [inText, apart] = [stdout, stderr].map((text) => times(text, '[cannot-create]'));
    expect([code, inText, apart]).toEqual([1, ...counts]);
  }
});

test('a file holds them in any case', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + REFUSED);
  await inProcess(plan, ['plan', '--report', 'text=plan.txt'], { cwd, env: {} });
  expect(times(readFileSync(join(cwd, 'plan.txt'), 'utf8'), '[cannot-create]')).toBe(1);
});

test('what blocks is in the text, and stderr names the rule', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + ACCOUNTS);
  await inProcess(apply, ['apply', '--auto-approve'], { cwd, env: {} });
  writeFileSync(join(cwd, 'trueup.yaml'), `${SETTINGS}accounts: { a: { name: A } }\n`);
  const { code, stdout, stderr } = await inProcess(plan, ['plan'], { cwd, env: {} });
  expect([code, times(stdout, 'BLOCKED max-deletes: 1 to delete')]).toEqual([3, 1]);
  expect(stderr).toContain('error: Blocked by max-deletes.');
  expect(stderr).not.toContain('1 to delete');
  const json = await inProcess(plan, ['plan', '--format', 'json'], { cwd, env: {} });
  expect(json.stderr).toContain('error: Blocked by policy: 1 to delete');
});
