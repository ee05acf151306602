// Policies as rules of the engine: what blocks a plan, what --allow lets pass, and what only warns.
import { describe, expect, test } from 'vitest';
import { exits } from '../../../src/model/index.js';
import { policiesIn } from '../../../src/policies/policy-files.js';
import { rulesOfPolicies } from '../../../src/policies/cel-policy-rules.js';
import { declarationFiles } from '../../../src/platform/declaration-files.js';
import { kinds } from '../../../src/resources/index.js';
import { folder } from '../../support/cli.js';
import { declare, planScene } from '../../support/planning.js';

const KNOWN = { taken: [], kinds: kinds };
const text = `
- { name: refused, when: 'plan.summary.create > 0', message: created }
- { name: final, when: 'plan.summary.create > 0', message: created, allow: false }
- { name: warned, when: 'plan.summary.create > 0', message: created, severity: warning }
- { name: silent, when: 'plan.summary.create > 1', message: created }
`;

async function planned(allow: readonly string[]) {
  const { path: cwd } = folder({ 'policies/a.cel.yaml': text });
  const { policies } = await policiesIn({ files: declarationFiles, cwd }, KNOWN);
  let documents = 0;
  const own = rulesOfPolicies(policies, ({ changes }) => {
    documents += 1;
    return { plan: { summary: { create: changes.length } }, declarations: [] };
  });
  const proposal = planScene({
    declared: [declare('accounts.a', { name: 'A' })],
    request: { allow },
    more: { rules: own },
  });
  expect(documents).toBe(1);
  return proposal;
}

test('a policy of a fleet is no rule of a plan', async () => {
  const { path: cwd } = folder({
    'policies/a.cel.yaml': '- { name: few, when: fleet.changed_tenants > 1, message: many }',
  });
  const { policies } = await policiesIn({ files: declarationFiles, cwd }, KNOWN);
  expect(policies.map(({ name }) => name)).toEqual(['few']);
  expect(rulesOfPolicies(policies, () => ({ plan: {}, declarations: [] }))).toEqual([]);
});

describe('a plan', () => {
  test('is blocked by each violation', async () => {
    const { plan: made, exit } = await planned([]);
    expect(exit).toBe(exits.blocked);
    expect(made.verdicts).toEqual([
      { rule: 'refused', verdict: 'blocked', detail: 'created' },
      { rule: 'final', verdict: 'blocked', detail: 'created', allowable: false },
    ]);
    expect(made.diagnostics.map(({ severity, code }) => [severity, code])).toEqual([
      ['warning', 'warned'],
    ]);
  });

  test('stays blocked by what no flag lets pass', async () => {
    const { plan: made, exit } = await planned(['refused', 'final']);
    expect(exit).toBe(exits.blocked);
    expect(made.verdicts.map(({ rule, verdict }) => [rule, verdict])).toEqual([
      ['refused', 'allowed'],
      ['final', 'blocked'],
    ]);
  });
});

test('a policy that cannot be evaluated names its place', async () => {
  const { path: cwd } = folder({
    'policies/a.cel.yaml': `- { name: sound, when: 'true', message: found }
- { name: broken, when: plan.nothing > 1, message: found }
`,
  });
  const { policies } = await policiesIn({ files: declarationFiles, cwd }, KNOWN);
  const rules = rulesOfPolicies(policies, () => ({ plan: { summary: {} }, declarations: [] }));
  const { plan } = planScene({ more: { rules } });
  expect(plan.verdicts.map(({ detail }) => detail)).toEqual([
    'found',
    '`when` cannot be evaluated: there is no member `nothing`. `plan` has: summary (in policies/a.cel.yaml:2:3)',
  ]);
});

test('what cannot be evaluated for several objects is said once', async () => {
  const { path: cwd } = folder({
    'policies/a.cel.yaml': `- name: told
  when: change.kind == "accounts"
  message: "\${change.nothing}"
  severity: warning
- { name: named, when: change.kind == "accounts", message: "\${change.address}" }
`,
  });
  const { policies } = await policiesIn({ files: declarationFiles, cwd }, KNOWN);
  const rules = rulesOfPolicies(policies, ({ changes }) => ({
    plan: {
      resource_changes: changes.map(({ address, kind }, index) => ({
        address,
        kind,
        ...(index > 0 && { label: 'B' }),
      })),
    },
    declarations: [],
  }));
  const { plan } = planScene({
    declared: [declare('accounts.a', { name: 'A' }), declare('accounts.b', { name: 'B' })],
    more: { rules },
  });
  expect(plan.diagnostics.map(({ summary }) => summary)).toEqual([
    '`message` cannot be evaluated: there is no member `nothing` (in policies/a.cel.yaml:1:3), for accounts.a, accounts.b',
  ]);
  expect(plan.verdicts.map(({ detail }) => detail)).toEqual(['accounts.a', 'accounts.b']);
});

const unjudgedOf = async (when: string): Promise<readonly string[]> => {
  const { path: cwd } = folder({
    'policies/a.cel.yaml': `- { name: one, when: '${when}', message: found }\n`,
  });
  const { policies } = await policiesIn({ files: declarationFiles, cwd }, KNOWN);
  const rules = rulesOfPolicies(policies, ({ changes }) => ({
    plan: {
      resource_changes: changes.map(({ address, kind }) => ({
        address,
        kind,
        change: { after: kind === 'accounts' ? { name: 'A' } : { name: 'G', device_type: 'x' } },
      })),
    },
    declarations: [],
  }));
  const { plan } = planScene({
    declared: [declare('accounts.a', { name: 'A' }), declare('groups.g', { name: 'G' })],
    more: { rules, kinds },
  });
  return plan.verdicts.map(({ detail }) => detail);
};

describe('of a member that an object lacks, a policy says', () => {
  test.each([
    [
      'which one may be meant',
      'change.change.after.nmae == "A"',
      'no member `nmae`. Did you mean `name`? (in',
    ],
    [
      'how the other objects pass',
      'change.kind == "users" || change.change.after.device_type == "x"',
      'write `has(change.change.after.device_type) &&` before the condition that reads it (in',
    ],
    [
      'how the items of a list pass',
      'plan.resource_changes.exists(c, c.change.after.device_type == "y")',
      'write `has(c.change.after.device_type) &&` before the condition that reads it (in',
    ],
  ])('%s', async (_, when, said) => {
    const found = await unjudgedOf(when);
    expect(found.filter((one) => one !== 'found')).toEqual([expect.stringContaining(said)]);
  });

  test.each([
    'change.kind == "users" || has(change.change.after.device_type) && change.change.after.device_type == "y"',
    'plan.resource_changes.exists(c, has(c.change.after.device_type) && c.change.after.device_type == "y")',
  ])('something that can be typed: %s', async (when) => expect(await unjudgedOf(when)).toEqual([]));
});
