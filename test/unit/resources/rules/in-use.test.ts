// What a plan warns of before a delete: alert rules that still name a push destination, and roles that end with a user.
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../src/model/index.js';
import type { Proposal } from '../../../../src/reconciler/plan/plan.js';
import { declare, entry, live, planScene } from '../../../support/planning.js';

type Said = Readonly<Record<'severity' | 'summary' | 'detail' | 'address', string | undefined>>;

const hq = live('accounts', '1', { name: 'HQ', account: null });
const said = ({ plan }: Proposal, code: string): readonly Said[] =>
  plan.diagnostics
    .filter((one) => one.code === code)
    .map(({ severity, summary, detail, address }) => ({ severity, summary, detail, address }));

describe('a push destination that is deleted', () => {
  const rule = (hooks: readonly string[]): Record<string, Json> => ({
    associated_accounts: [1],
    filter_criteria: { alert_type__in: ['login_success'] },
    http_destinations: hooks,
  });
  const destination = (id: string, name: string) =>
    live('alert_push_destinations', id, {
      name,
      enabled: true,
      endpoint: { url: 'https://hooks.example.com/' },
    });
  const written = {
    associated_accounts: ['1'],
    filter_criteria: { alert_type__in: ['login_success'] },
  };
  /** The rule `r1`, with the destinations that its declaration names, and others. */
  const scene = (
    hooks: Parameters<typeof declare>[1] | undefined,
    others: readonly ReturnType<typeof live>[] = [],
  ) =>
    planScene({
      declared: hooks ? [declare('alert_rules.r', { ...written, ...hooks })] : [],
      state: {
        'alert_push_destinations.d': entry('alert_push_destinations', 'd1', { name: 'D' }),
        'alert_rules.r': entry('alert_rules', 'r1', rule(['d1'])),
      },
      live: {
        accounts: [hq],
        alert_push_destinations: [destination('d1', 'D'), destination('d2', 'E')],
        alert_rules: [live('alert_rules', 'r1', rule(['d1'])), ...others],
      },
    });

  test('is told with the managed rules that still name it', () => {
    expect(said(scene({}), 'still-named')).toEqual([
      {
        severity: 'warning',
        address: 'alert_push_destinations.d',
        summary:
          'alert_push_destinations.d is to be deleted, but other objects still name it, so the service may refuse the delete.',
        detail:
          'Declare another destination in alert_rules.r, unless one is declared already, and apply that as well. `http_destinations: []` may need --allow rule-without-destination.',
      },
    ]);
  });

  test.each([
    ['name none', { http_destinations: [] }],
    ['name another', { http_destinations: ['d2'] }],
    ['are deleted', undefined],
  ])('is not, where the rules %s afterwards', (_, hooks) =>
    expect(said(scene(hooks), 'still-named')).toEqual([]),
  );

  test('is told with the id of each rule that nothing manages', () => {
    const other = live('alert_rules', 'r2', rule(['d2', 'd1']));
    const unrelated = live('alert_rules', 'r3', rule(['d2']));
    const [warning, ...more] = said(
      scene({ http_destinations: [] }, [other, unrelated]),
      'still-named',
    );
    expect(more).toEqual([]);
    expect(warning!.detail).toMatch(
      /^Declare unmanaged alert_rules HQ: login_success → D, 1 more \(r2\) with another destination and `lifecycle: \{ adopt: "r2" \}`, or change it in the service\.$/,
    );
  });
});

describe('a user who is deleted', () => {
  const authorization = (id: string, user: string): ReturnType<typeof live> =>
    live('account_authorizations', id, { user, account: '1', role: 'read_only_user' });
  const role = (name: string, user: string) =>
    declare(`account_authorizations.${name}`, { user, account: '1', role: 'read_only_user' });
  const recorded = (id: string, user: string, more = {}) =>
    entry('account_authorizations', id, { user, account: '1', role: 'read_only_user' }, more);
  const scene = (
    declared: readonly ReturnType<typeof role>[],
    state: Readonly<Record<string, ReturnType<typeof entry>>>,
    authorizations: readonly ReturnType<typeof live>[],
    request: Parameters<typeof planScene>[0]['request'] = {},
  ) =>
    planScene({
      request,
      declared: [...declared],
      state: { 'users.dana': entry('users', '74', { email: 'dana@example.com' }), ...state },
      live: {
        accounts: [hq],
        users: [live('users', '74', { email: 'dana@example.com', user_id: 'u74' })],
        account_authorizations: [...authorizations],
      },
    });

  test('is told with the declared role that ends', () => {
    const proposal = scene(
      [role('dana', '74'), role('eve', '75')],
      { 'account_authorizations.dana': recorded('904', '74') },
      [authorization('904', '74'), authorization('905', '75')],
    );
    expect(said(proposal, 'role-ends')).toEqual([
      {
        severity: 'warning',
        address: 'users.dana',
        summary: 'users.dana is to be deleted, and account_authorizations.dana ends with it.',
        detail:
          'Remove its declaration as well: the API cannot create roles, so the next plan would be an error.',
      },
    ]);
  });

  test.each<[string, readonly ReturnType<typeof role>[], NonNullable<Parameters<typeof scene>[3]>]>(
    [
      ['the targets leave out, not declared', [], { targets: ['users.dana'] }],
      [
        'a target of destroy leaves declared',
        [role('dana', '74')],
        { destroy: true, targets: ['users.dana'] },
      ],
    ],
  )('is told with a recorded role that %s', (_, declared, request) => {
    const state = { 'account_authorizations.dana': recorded('904', '74') };
    const proposal = scene(declared, state, [authorization('904', '74')], request);
    expect(said(proposal, 'role-ends').map(({ detail }) => detail)).toEqual([
      'If the project still declares it, remove that as well: the API cannot create roles, so the next plan would be an error.',
    ]);
  });

  test('is told with each of them, by whichever identifier it names the user', () => {
    const proposal = scene([role('dana', '74'), role('other', 'u74')], {}, [
      authorization('904', '74'),
      authorization('905', 'u74'),
    ]);
    expect(said(proposal, 'role-ends')).toMatchObject([
      {
        summary:
          'users.dana is to be deleted, and account_authorizations.dana, account_authorizations.other end with it.',
        detail: expect.stringContaining('Remove their declarations as well: ') as string,
      },
    ]);
  });

  test('is told with a role that nothing manages', () =>
    expect(said(scene([], {}, [authorization('904', '74')]), 'role-ends')).toMatchObject([
      {
        address: 'users.dana',
        summary:
          'users.dana is to be deleted, and unmanaged account_authorizations dana@example.com on HQ (904) ends with it.',
      },
    ]));

  test.each<[string, Parameters<typeof scene>]>([
    [
      'whose declaration is removed as well',
      [[], { 'account_authorizations.dana': recorded('904', '74') }, [authorization('904', '74')]],
    ],
    [
      'that this plan takes away',
      [
        [],
        {
          'account_authorizations.dana': recorded('904', '74', { on_removal: 'no_access' }),
        },
        [authorization('904', '74')],
      ],
    ],
  ])('is not told with a role %s', (_, given) =>
    expect(said(scene(...given), 'role-ends')).toEqual([]),
  );
});

type Request = NonNullable<Parameters<typeof planScene>[0]['request']>;

const ADD = `to remove what the targets leave out, add --target 'accounts.leaf["a b"]'`;

describe('an account that is deleted', () => {
  const role = { user: '74', account: '2', role: 'full_access' };
  const rule = {
    associated_accounts: ['2'],
    filter_criteria: { alert_type__in: ['login_success'] },
  };
  const findings = (
    declared: readonly ReturnType<typeof declare>[],
    kind: string,
    values: Readonly<Record<string, Json>>,
  ): readonly string[] =>
    planScene({
      declared: [declare('accounts.hq', { name: 'HQ' }), ...declared],
      state: {
        'accounts.hq': entry('accounts', '1', { name: 'HQ' }),
        'accounts.north': entry('accounts', '2', { name: 'North', account: '1' }),
        [`${kind}.x`]: entry(kind, 'x-1', values, { on_removal: 'forget' }),
      },
      live: {
        accounts: [hq, live('accounts', '2', { name: 'North', account: '1' })],
        [kind]: [live(kind, 'x-1', values)],
      },
    }).plan.verdicts.flatMap((one) => (one.rule === 'account-in-use' ? (one.detail ?? []) : []));
  const holds = 'accounts.north (account 2) still holds';
  const unknown = '; whether the service refuses the delete because of';
  const hint = `${unknown} account_authorizations is not known; the API cannot delete an authorization, and one with the role no_access does not count`;

  test.each([
    [
      'a role that is declared',
      [declare('account_authorizations.x', role)],
      'account_authorizations',
      role,
      `${holds} account_authorizations.x${hint}`,
    ],
    [
      'a role that the plan forgets',
      [],
      'account_authorizations',
      role,
      `${holds} account_authorizations.x (forgotten, not deleted)${hint}`,
    ],
    [
      'a rule that the plan forgets',
      [],
      'alert_rules',
      rule,
      `${holds} alert_rules.x (forgotten, not deleted)${unknown} alert_rules is not known`,
    ],
  ])('names what it holds: %s', (_, declared, kind, values, detail) =>
    expect(findings(declared, kind, values)).toEqual([detail]),
  );

  test.each([
    ['moves with its router', '1', true, 0],
    ['stays with its router', '2', true, 1],
    ['stays with a router that is not read', '1', false, 1],
    ['stays with a router whose account is not shown', null, true, 1],
  ])('a configuration that %s', (_, account, isRead, count) => {
    const mac = '003044000001';
    const router = { mac, account: account && '2' };
    const { plan } = planScene({
      declared: [
        declare('accounts.hq', { name: 'HQ' }),
        ...(isRead ? [declare('routers.r', account === null ? { mac } : { mac, account })] : []),
      ],
      state: {
        'accounts.hq': entry('accounts', '1', { name: 'HQ' }),
        'accounts.north': entry('accounts', '2', { name: 'North', account: '1' }),
        ...(isRead && { 'routers.r': entry('routers', '7', router) }),
      },
      live: {
        accounts: [hq, live('accounts', '2', { name: 'North', account: '1' })],
        ...(isRead && { routers: [live('routers', '7', router)] }),
        configuration_managers: [
          live('configuration_managers', '9', { router: '7', account: '2' }),
        ],
      },
    });
    const held = plan.verdicts.filter(({ detail }) => detail.includes('configuration_managers'));
    expect(held).toHaveLength(count);
  });

  test.each<[string, Request, { on_removal?: string; is_declared?: boolean }, string]>([
    ['the targets', { targets: ['accounts.north'] }, {}, `; ${ADD}`],
    ['the targets of destroy', { targets: ['accounts.north'], destroy: true }, {}, `; ${ADD}`],
    ['an exclusion', { targets: ['accounts.north'], excludes: ['accounts.x'] }, {}, ''],
    ['no target', { excludes: ['accounts.leaf'] }, {}, ''],
    ['what is declared', { targets: ['accounts.north'] }, { is_declared: true }, ''],
    ['what is forgotten', { targets: ['accounts.north'] }, { on_removal: 'forget' }, ''],
  ])(
    'names the target that would remove what it holds: %s',
    (_, request, { is_declared = false, ...more }, added) => {
      const leaf = { name: 'Leaf', account: '2' };
      const { plan } = planScene({
        request,
        declared: is_declared ? [declare('accounts.leaf["a b"]', leaf)] : [],
        state: {
          'accounts.north': entry('accounts', '2', { name: 'North', account: '1' }),
          'accounts.leaf["a b"]': entry('accounts', '3', leaf, more),
        },
        live: {
          accounts: [
            hq,
            live('accounts', '2', { name: 'North', account: '1' }),
            live('accounts', '3', leaf),
          ],
        },
      });
      const details = plan.verdicts.filter(({ rule: name }) => name === 'account-in-use');
      expect(details.map(({ detail }) => detail)).toEqual([
        `${holds} accounts.leaf["a b"]; until it holds no accounts, the service refuses the delete${added}`,
      ]);
    },
  );
});
