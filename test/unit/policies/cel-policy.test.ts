// Policies of a project: what they see, what they report, and that nothing passes which could not be evaluated.
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import { compiledPolicy, type PolicyInput } from '../../../src/policies/cel-policy.js';

const change = (
  address: string,
  actions: readonly string[],
  after: JsonObject | null,
): JsonObject => ({
  address,
  kind: address.split('.')[0]!,
  change: { actions, before: null, after },
});

const input: PolicyInput = {
  plan: {
    summary: { create: 2, delete: 1 },
    generated_at: '2026-11-27T10:00:00.000Z',
    resource_changes: [
      change('accounts.a', ['create'], { name: 'A' }),
      change('alert_rules.r', ['create'], { settings: null }),
      change('accounts.b', ['delete'], null),
    ],
  },
  declarations: [
    { address: 'accounts.a', kind: 'accounts', attributes: { name: 'A' } },
    { address: 'alert_rules.r', kind: 'alert_rules', attributes: {} },
  ],
};

function violations(when: string, message = 'found'): readonly (readonly [string, string?])[] {
  const compiled = compiledPolicy({ when, message }, kinds);
  if (!('violations' in compiled)) throw new Error(JSON.stringify(compiled));
  return compiled
    .violations(input)
    .map(({ message: said, address }) => (address === undefined ? [said] : [said, address]));
}

describe('a condition', () => {
  test.each([
    ['is not violated', 'plan.summary.delete > 1', []],
    ['over the plan counts once', 'plan.summary.delete > 0', [['found']]],
    [
      'over the changes names each',
      'change.change.actions == ["create"]',
      [
        ['found', 'accounts.a'],
        ['found', 'alert_rules.r'],
      ],
    ],
    [
      'over the declarations names each',
      'has(declaration.attributes.name)',
      [['found', 'accounts.a']],
    ],
    [
      'may use the plan beside a change',
      'plan.summary.delete > 0 && change.address == "accounts.b"',
      [['found', 'accounts.b']],
    ],
    [
      'may look for others',
      'declarations.exists(one, one.kind == "accounts") && plan.summary.create == 2',
      [['found']],
    ],
    ['knows the day', 'timestamp(plan.generated_at).getDayOfWeek() == 5', [['found']]],
    ['holds in a string', '"change" == "declaration" || plan.summary.create == 2', [['found']]],
  ])('%s: %s', (_, when, found) => expect(violations(when)).toEqual(found));

  test.each([
    [
      'a member that is not there',
      'plan.nothing > 1',
      'there is no member `nothing`. `plan` has: summary, generated_at, resource_changes',
    ],
    [
      'a member of a member, nearly',
      'change.change.action == "create"',
      'no member `action`. Did you mean `actions`? `change.change` has: actions, before, after',
    ],
    ['a member of an item', 'plan.resource_changes[0].x == 1', 'there is no member `x`'],
    ['a type that differs', 'plan.summary > 1', 'these types do not go together'],
    ['a value that is no boolean', 'plan.summary.create', 'it gives 2, not true or false'],
    ['work without end', loops(5), 'takes more than'],
  ])('that cannot be evaluated is violated: %s', (_, when, why) => {
    const [[said] = ['']] = violations(when);
    expect(said).toMatch(/^`when` cannot be evaluated: /);
    expect(said).toContain(why);
  });

  test('a change that cannot be evaluated does not hide another', () => {
    expect(violations('change.change.after.name == "A"', 'named A')).toEqual([
      ['named A', 'accounts.a'],
      [expect.stringContaining('cannot be evaluated'), 'alert_rules.r'],
      [expect.stringContaining('cannot be evaluated'), 'accounts.b'],
    ]);
  });
});

/** Loops over 30 items inside one another. */
function loops(depth: number): string {
  const list = `[${Array.from({ length: 30 }, (_, index) => index).join(',')}]`;
  return Array.from({ length: depth }).reduce<string>(
    (inner, _, index) => `${list}.all(i${index}, ${inner})`,
    'plan.summary.create == 2',
  );
}

describe('a message', () => {
  test.each([
    ['text', 'as it is', 'as it is'],
    ['a string', 'of ${plan.generated_at}', 'of 2026-11-27T10:00:00.000Z'],
    ['a number', '${plan.summary.create} creates', '2 creates'],
    ['a list', '${plan.resource_changes.map(c, c.kind)}', '["accounts","alert_rules","accounts"]'],
    ['braces inside', '${{"a": "}"}.a}!', '}!'],
    ['a literal', '$${plan} $$ {x}', '${plan} $$ {x}'],
    [
      'what is not there',
      '${plan.nothing}',
      '`message` cannot be evaluated: there is no member `nothing`. `plan` has: summary, generated_at, resource_changes',
    ],
    [
      'what is not there, amid text',
      'of ${plan.generated_at} ${plan.nothing} x ${plan.summary.create}',
      '`message` cannot be evaluated: there is no member `nothing`. `plan` has: summary, generated_at, resource_changes',
    ],
  ])('holds %s', (_, message, said) =>
    expect(violations('plan.summary.create == 2', message)).toEqual([[said]]),
  );
});

describe('a policy of a fleet', () => {
  const compiled = compiledPolicy(
    { when: 'fleet.changed_tenants > 1', message: '${fleet.changed_tenants} tenants' },
    kinds,
  );
  if (!('violations' in compiled)) throw new Error('it compiles');
  const of = (fleet?: JsonObject): readonly string[] =>
    compiled
      .violations({ plan: {}, declarations: [], ...(fleet && { fleet }) })
      .map(({ message }) => message);

  test('is judged once, over the run', () => {
    expect(compiled.scope).toBe('fleet');
    expect(of({ changed_tenants: 2 })).toEqual(['2 tenants']);
    expect(of({ changed_tenants: 1 })).toEqual([]);
  });

  test('is violated where there is no run', () =>
    expect(of()).toEqual([expect.stringContaining('cannot be evaluated')]));

  test.each([
    'plan.summary.create > fleet.changed_tenants',
    'fleet.a == change.kind',
    'fleet.a == declaration.kind',
  ])('sees no single plan: %s', (when) =>
    expect(compiledPolicy({ when, message: 'x' }, kinds)).toMatchObject([
      { field: 'when', summary: '`fleet` cannot be used in an expression with other variables' },
    ]),
  );

  test('of another scope, the message does not name it', () =>
    expect(
      compiledPolicy({ when: 'plan.summary.create > 0', message: '${fleet.a}' }, kinds),
    ).toMatchObject([{ field: 'message' }]));
});

describe('a kind or an action that does not exist', () => {
  test.each([
    'change["kind"] == "routerz"',
    'plan.resource_changes[0].kind == "routerz"',
    'plan.resource_changes.filter(c, c.change.actions == ["create"]).all(c, c.kind != "routerz")',
    'plan.resource_drift.exists(one, "routerz" == one.kind)',
    'declarations.exists(one, declarations.exists(two, one.kind == two.kind && two.kind == "routerz"))',
    'change.kind in {"routerz": 1}',
    'change.kind in (["accounts"] + ["routerz"])',
    'cel.bind(k, change.kind, k == "routerz")',
    'change.change.actions.exists(a, a == "routerz")',
    'change.change.actions[0] == "routerz"',
    'change.change.actions == ["routerz"]',
    '"routerz" in plan.resource_changes.map(c, c.kind)',
    'plan.resource_changes.map(c, c.kind).exists(k, k == "routerz")',
    'plan.resource_drift.exists(d, d.actions == ["routerz"])',
  ])('is an error: %s', (when) =>
    expect(compiledPolicy({ when, message: 'x' }, kinds)).toEqual([
      expect.objectContaining({
        summary: expect.stringMatching(/^there is no (?:kind|action) `routerz`/),
      }),
    ]),
  );

  test.each([
    'declaration.attributes.configuration[0].lan.exists(l, l.kind == "bridge")',
    '[{"kind": "site"}].exists(one, one.kind == "site" && declaration.kind == "accounts")',
    'cel.bind(x, declaration.attributes, x.kind == "bridge")',
    'declaration.attributes.rules.all(r, r.change.actions == "foo")',
    'plan.resource_changes.map(change, change.address).exists(change, change == "x")',
    '[declaration.attributes].exists(declaration, declaration.kind == "bridge")',
    'declaration.attributes.kind == "bridge"',
    'change.kind == "alert_" + "rules" || "account" + "s" != change.kind',
    'change.kind in ["account" + "s"]',
    'plan.resource_changes.map(c, c.address).exists(k, k == "routerz")',
    'change.kind == "accounts" && change.change.actions == ["delete", "create"]',
    'change.kind.startsWith("acc") && change.kind + "x" == "accountsx"',
  ])('is not meant in %s', (when) =>
    expect(compiledPolicy({ when, message: 'x' }, kinds)).toHaveProperty('violations'),
  );
});

describe('what does not compile', () => {
  test.each([
    ['syntax', 'plan.summary.create >', 'x', 'when', /./],
    [
      'an unknown variable',
      'chnge.address == ""',
      'x',
      'when',
      /`chnge` is not a variable. Did you mean `change`/,
    ],
    [
      'two subjects',
      'change.address == declaration.address',
      'x',
      'when',
      /`change` and `declaration` cannot be used/,
    ],
    ['depth', `${'('.repeat(10_000)}true${')'.repeat(10_000)}`, 'x', 'when', /./],
    ['a message without end', 'true', '${plan', 'message', /no closing brace/],
    [
      'a message about no subject',
      'plan.summary.create > 0',
      '${change.address}',
      'message',
      /`change` is not a variable/,
    ],
    [
      'an unknown kind',
      'change.kind == "alert_rules" || "account" == change.kind',
      'x',
      'when',
      /^there is no kind `account`\. Did you mean `accounts`\? \(at `"account"`\)$/,
    ],
    [
      'an unknown kind in a list',
      'plan.resource_changes.exists(one, one.kind in ["accounts", "routerz"])',
      'x',
      'when',
      /^there is no kind `routerz`/,
    ],
    [
      'an unknown action',
      '"deleted" in change.change.actions',
      'x',
      'when',
      /^there is no action `deleted`\. Did you mean `delete`/,
    ],
    ['a number', '1 + 1', 'x', 'when', /^it gives a value of the type `int`, not true or false$/],
    ['nothing', 'null', 'x', 'when', /of the type `null`/],
    ['a list', '[plan.summary]', 'x', 'when', /of the type `list`/],
    ['the environment', 'env.HOME != ""', 'x', 'when', /`env` is not a variable/],
  ])('%s', (_, when, message, field, summary) => {
    const faults = compiledPolicy({ when, message }, kinds);
    expect(faults).toEqual([
      expect.objectContaining({ field, summary: expect.stringMatching(summary) }),
    ]);
  });
});
