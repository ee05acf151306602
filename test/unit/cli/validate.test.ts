// `validate` shows the first of many warnings that say the same, and all of them where it is asked to.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../../src/cli/commands/validate.js';
import { freshFolder, inProcess, type Said } from '../../support/in-process.js';

const rules = Array.from(
  { length: 5 },
  (_, index) =>
    `  r${index}:\n    associated_accounts: ["${index}"]\n    filter_criteria: { alert_type__in: [unheard_of] }\n    http_destinations: ["00000000-aaaa-11f0-8000-000000000001"]\n`,
).join('');

test.each([
  [[], 4, true],
  [['--verbose'], 5, false],
] as const)('validate %j shows %s warnings', async (flags, shown, more) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), `alert_rules:\n${rules}`);
  const { code, stderr } = await inProcess(run, ['validate', ...flags], { cwd, env: {} });
  expect([code, stderr.match(/Warning: /gi)?.length]).toEqual([0, shown]);
  expect(stderr.includes('All of them: --verbose')).toBe(more);
});

/** A project with one policy. */
function validated(policy: object): Promise<Said> {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), 'accounts: { a: { name: A } }\n');
  mkdirSync(join(cwd, 'policies'));
  const text = JSON.stringify({ name: 'p', ...policy });
  writeFileSync(join(cwd, 'policies', 'base.cel.yaml'), `- ${text}\n`);
  return inProcess(run, ['validate'], { cwd, env: {} });
}

test.each([
  ['plan.sumary.delete > 3', 'x', '`sumary`. Did you mean `summary`?'],
  ['change.chnge.actions == ["delete"]', 'x', '`chnge`. Did you mean `change`?'],
  ['declaration.kin == "accounts"', 'x', '`kin`. Did you mean `kind`?'],
  ['plan.summary.delete >= 0', '${plan.sumary}', '`sumary`. Did you mean `summary`?'],
  ['declaration.attributes.anything == 1', 'x', undefined],
  ['change.change.after.name == "A"', 'x', undefined],
  ['plan.summary.delete > 3', 'x', undefined],
  // No plan of this version violates it.
  ['plan.format_version != "1.0" && plan.sealed', 'x', undefined],
  ['plan.target == null && plan.sealed', 'x', undefined],
  ['plan.policy.exists(one, one.verdict == null && one.sealed)', 'x', undefined],
  ['plan.format_version == "1.0" && plan.sealed', 'x', '`sealed`. `plan` has: '],
])('a policy that reads what is nowhere: %s', async (when, message, said) => {
  const { code, stderr } = await validated({ when, message });
  expect([code, stderr === '']).toEqual(said === undefined ? [0, true] : [1, false]);
  expect(stderr).toContain(said ?? '');
  expect(stderr.includes('base.cel.yaml:1:')).toBe(said !== undefined);
});

test.each([
  [
    'has(plan.sumary)',
    'x',
    ['`has(plan.sumary)`', '`plan` has no `sumary`. Did you mean `summary`?'],
  ],
  [
    'plan.summary.delete >= 0 && plan.resource_changes.exists(c, has(c.change.actoins))',
    'x',
    ['`has(plan.resource_changes[].change.actoins)`', 'Did you mean `actions`?'],
  ],
  ['plan.summary.delete >= 0', '${has(plan.sumary)}', ['`plan` has no `sumary`']],
  ['has(declaration.kin)', 'x', ['`declaration` has no `kin`. Did you mean `kind`?']],
  ['has(plan.summary.delete) && has(change.change.after.name)', 'x', []],
  ['has(declaration.attributes.nothing)', 'x', []],
  ['plan.format_version != "1.0" && has(plan.sealed)', 'x', []],
  ['declaration.attributes.items.exists(plan, has(plan.sealed))', 'x', []],
])('a policy that asks for what is nowhere: %s', async (when, message, said) => {
  const { code, stderr } = await validated({ when, message });
  const text = stderr.replaceAll(/\s+/g, ' ');
  expect([code, text.includes('is never true')]).toEqual([0, said.length > 0]);
  for (const one of said) expect(text).toContain(one);
});

test('a policy that only warns is no error, and all members are named', async () => {
  const { code, stderr } = await validated({
    when: 'change.attributes == 1',
    message: 'x',
    severity: 'warning',
  });
  const said = stderr.replaceAll(/\s+/g, ' ');
  expect(code).toBe(0);
  expect(said).toMatch(/warning: p: there is no member `attributes`/i);
  expect(said).toMatch(/`change` has: address, .*, reference_labels\b/);
  expect(said).not.toMatch(/and \d+ more/);
});
