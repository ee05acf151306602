// What a plan means for the alerts that came: a table of rules, places and destinations, before and after.
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Found, Impact, Json, Live, RuleImpact, Values } from '../../../../src/model/index.js';
import { Reference } from '../../../../src/model/index.js';
import { managers } from '../../../../src/reconciler/plan/recorded-addresses.js';
import { impactOf } from '../../../../src/resources/rules/impact.js';
import { declare, entry, live, planScene, type Scene } from '../../../support/planning.js';

const SINCE = '2026-01-01T00:00:00.000Z';
const UNTIL = '2026-01-08T00:00:00.000Z';

interface Came {
  readonly type?: string;
  readonly account?: string;
  readonly router?: string;
  /** Day of January. */
  readonly day?: number;
}
const found = ({ type = 'account_locked', account, router, day = 2 }: Came): Found => ({
  record: {},
  values: {
    type,
    account: account ?? null,
    router: router ?? null,
    created_at: `2026-01-0${day}T10:00:00.000Z`,
  },
});
const times = (count: number, came: Came): readonly Came[] =>
  Array.from({ length: count }, () => came);

/** Root 1, North 3 with Oslo 4 below it, South 2. */
const accounts = [
  live('accounts', '1', { name: 'Root', account: null }),
  live('accounts', '2', { name: 'South', account: '1' }),
  live('accounts', '3', { name: 'North', account: '1' }),
  live('accounts', '4', { name: 'Oslo', account: '3' }),
];
const destinations = [
  live('alert_push_destinations', 'd1', { name: 'One', enabled: true }),
  live('alert_push_destinations', 'd2', { name: 'Two' }),
  live('alert_push_destinations', 'off', { name: 'Off', enabled: false }),
  live('alert_push_destinations', 'ill', { name: 'Ill', enabled: true, suspended: true }),
];
const content = {
  associated_accounts: [3],
  filter_criteria: { alert_type__in: ['account_locked'] },
  http_destinations: ['d1'],
};
const rule = (id: string, more: Record<string, Json> = {}): Live =>
  live('alert_rules', id, { ...content, ...more });

async function judge(
  scene: Scene,
  alerts: readonly Came[],
  routers: Readonly<Record<string, string>> = { '50': '4', '52': '99' },
): Promise<Impact> {
  const { plan, liveObjects: world } = planScene({
    ...scene,
    live: { accounts, alert_push_destinations: destinations, ...scene.live },
  });
  expect(plan.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const pages = async function* (): AsyncGenerator<readonly Found[]> {
    for (const came of alerts) yield [found(came)];
  };
  return impactOf(
    { live: world, changes: plan.changes, addressOf: managers(plan.changes, scene.state ?? {}) },
    {
      since: SINCE,
      until: UNTIL,
      alerts: pages(),
      accountOf: (router) => Promise.resolve(routers[router]),
    },
  );
}
const ruleOf = ({ rules }: Impact, name?: string): RuleImpact =>
  rules.find((one) => (name === undefined ? one.id === 'r' : one.rule === name)) as RuleImpact;
const numbers = ({ before, after }: RuleImpact): readonly number[] => [before, after];

describe('a rule as it is', () => {
  it.each<readonly [string, Record<string, Json>, readonly Came[], number]>([
    ['an account that it names', {}, [{ account: '3' }], 1],
    ['an account below one that it names', {}, [{ account: '4' }], 1],
    ['no account above', {}, [{ account: '1' }], 0],
    ['no account beside', {}, [{ account: '2' }], 0],
    [
      'an account once, however many ways lead there',
      { associated_accounts: [1, 3, 4] },
      [{ account: '4' }],
      1,
    ],
    ['an account that nobody listed', { associated_accounts: [99] }, [{ account: '99' }], 1],
    ['a router by its account', {}, [{ router: '50' }], 1],
    ['no other type', {}, [{ account: '3', type: 'login_success' }], 0],
    ['no type without a filter', { filter_criteria: null }, [{ account: '3' }], 0],
    ['every alert', {}, times(3, { account: '3' }), 3],
    [
      'an alert for each destination',
      { http_destinations: ['d1', 'd2'] },
      times(3, { account: '3' }),
      6,
    ],
    [
      'no destination that is disabled or suspended, or gone',
      { http_destinations: ['off', 'ill', 'lost', 'd2'] },
      [{ account: '3' }],
      1,
    ],
    ['e-mail', { http_destinations: [], email_destinations: [7, 8] }, [{ account: '3' }], 2],
    [
      'one summary a day',
      { schedule: 'daily' },
      [...times(9, { account: '3', day: 2 }), { account: '3', day: 4 }],
      2,
    ],
    [
      'one summary a day for each destination',
      { schedule: 'daily', http_destinations: ['d1', 'd2'] },
      times(9, { account: '3' }),
      2,
    ],
    [
      'no account by its groups',
      { associated_accounts: [], associated_groups: [9] },
      [{ account: '3' }],
      0,
    ],
    ['accounts beside its groups', { associated_groups: [9] }, [{ router: '50' }], 1],
    [
      'nothing without a scope',
      { associated_accounts: [] },
      [{ account: '3' }, { router: '50' }],
      0,
    ],
  ])('hears of %s', async (_, more, alerts, sent) => {
    const impact = await judge({ live: { alert_rules: [rule('r', more)] } }, alerts);
    expect(numbers(ruleOf(impact))).toEqual([sent, sent]);
    expect(impact.unjudged).toEqual({ groups: 0, routers: 0 });
    expect(ruleOf(impact)).toMatchObject({
      id: 'r',
      unjudged: { before: 0, after: 0 },
      noisy: false,
    });
    expect(impact.unheard.map(({ before, after }) => [before, after])).toEqual(
      sent === 0 ? [[alerts.length, alerts.length]] : [],
    );
  });

  it.each<readonly [string, Record<string, Json>, Came, Impact['unjudged']]>([
    [
      'a router that may be in its group',
      { associated_accounts: [2], associated_groups: [9] },
      { router: '50' },
      { groups: 1, routers: 0 },
    ],
    ['a router of which nobody knows the account', {}, { router: '51' }, { groups: 0, routers: 1 }],
    ['an alert of nobody', {}, {}, { groups: 0, routers: 1 }],
    [
      'an account that nobody listed: what is above it is not known',
      { associated_accounts: [1] },
      { account: '99' },
      { groups: 0, routers: 1 },
    ],
    [
      'a router in such an account',
      { associated_groups: [9] },
      { router: '52' },
      { groups: 0, routers: 1 },
    ],
  ])('is not judged for %s', async (_, more, alert, unjudged) => {
    const impact = await judge({ live: { alert_rules: [rule('r', more)] } }, [alert]);
    expect(impact.unjudged).toEqual(unjudged);
    expect(ruleOf(impact)).toMatchObject({
      before: 0,
      after: 0,
      unjudged: { before: 1, after: 1 },
    });
    expect(impact.unheard).toEqual([]);
    const deaf = await judge(
      { live: { alert_rules: [rule('r', { ...more, http_destinations: ['off'] })] } },
      [alert],
    );
    expect(deaf.unjudged).toEqual({ groups: 0, routers: 0 });
    expect(deaf.unheard).toEqual([{ type: 'account_locked', alerts: 1, before: 1, after: 1 }]);
  });

  it('is judged for an account that nobody listed where it names groups alone, since no account is in one', async () => {
    const impact = await judge(
      { live: { alert_rules: [rule('r', { associated_accounts: [], associated_groups: [9] })] } },
      [{ account: '99' }],
    );
    expect([impact.unjudged, impact.unheard]).toEqual([
      { groups: 0, routers: 0 },
      [{ type: 'account_locked', alerts: 1, before: 1, after: 1 }],
    ]);
  });

  it('is heard, and not counted, on a schedule that nobody knows', async () => {
    const impact = await judge(
      { live: { alert_rules: [rule('r', { schedule: 'weekly' })] } },
      times(4, { account: '3' }),
    );
    expect(ruleOf(impact)).toMatchObject({
      before: 0,
      after: 0,
      unjudged: { before: 4, after: 4 },
    });
    expect(impact.unheard).toEqual([]);
  });

  it('shows what rests on accounts reaching down', async () => {
    const alerts = [{ account: '3' }, { account: '4' }, { router: '50' }];
    expect((await judge({ live: { alert_rules: [rule('r')] } }, alerts)).through_sub_accounts).toBe(
      2,
    );
    expect(
      (await judge({ live: { alert_rules: [rule('r', { associated_accounts: [3, 4] })] } }, alerts))
        .through_sub_accounts,
    ).toBe(0);
    expect(
      (
        await judge(
          { live: { alert_rules: [rule('r'), rule('s', { associated_accounts: [4] })] } },
          alerts,
        )
      ).through_sub_accounts,
    ).toBe(2);
  });

  it('names destinations by their address where they have one, and counts e-mail', async () => {
    const state = {
      'alert_push_destinations.one': entry('alert_push_destinations', 'd1', { name: 'One' }),
    };
    const declared = [declare('alert_push_destinations.one', { name: 'One' })];
    const impact = await judge(
      {
        declared,
        state,
        live: {
          alert_rules: [
            rule('r', { http_destinations: ['d2', 'd1', 'off'], email_destinations: [7] }),
          ],
        },
      },
      [],
    );
    const names = [
      'alert_push_destinations Two (d2)',
      'alert_push_destinations.one',
      '1 by e-mail',
    ];
    expect(ruleOf(impact).destinations).toEqual({ before: names, after: names });
  });
});

const wan = 'alert_rules.wan';
const state = { [wan]: entry('alert_rules', 'r', content) };
const declaredRule = (more: Values = {}) =>
  declare(wan, { ...content, associated_accounts: ['3'], ...more });
const alerts = [{ account: '3' }, { account: '4' }, { account: '2' }];
const made = (address: string, attribute: string): Reference =>
  new Reference('declared', address, attribute);

describe('a rule before and after', () => {
  it.each<readonly [string, Scene, readonly number[]]>([
    ['is made', { declared: [declaredRule()] }, [0, 2]],
    ['goes', { state, live: { alert_rules: [rule('r')] } }, [2, 0]],
    ['stays', { declared: [declaredRule()], state, live: { alert_rules: [rule('r')] } }, [2, 2]],
    ['is adopted', { declared: [declaredRule()], live: { alert_rules: [rule('r')] } }, [2, 2]],
    ['is managed by nobody', { live: { alert_rules: [rule('r')] } }, [2, 2]],
    [
      'changes its accounts',
      {
        declared: [declaredRule({ associated_accounts: ['1'] })],
        state,
        live: { alert_rules: [rule('r')] },
      },
      [2, 3],
    ],
    [
      'changes its types',
      {
        declared: [declaredRule({ filter_criteria: { alert_type__in: ['login_success'] } })],
        state,
        live: { alert_rules: [rule('r')] },
      },
      [2, 0],
    ],
    [
      'changes its schedule',
      {
        declared: [declaredRule({ schedule: 'daily' })],
        state,
        live: { alert_rules: [rule('r', { schedule: null })] },
      },
      [2, 1],
    ],
    [
      'keeps e-mail that no declaration names',
      {
        declared: [declaredRule({ http_destinations: [] })],
        state,
        live: { alert_rules: [rule('r', { email_destinations: [7] })] },
      },
      [4, 2],
    ],
    [
      'gets a destination that is made',
      {
        declared: [
          declaredRule({
            http_destinations: [made('alert_push_destinations.new', 'destination_config_id')],
          }),
          declare('alert_push_destinations.new', { name: 'New' }),
        ],
      },
      [0, 2],
    ],
    [
      'gets a destination that is made disabled',
      {
        declared: [
          declaredRule({
            http_destinations: [made('alert_push_destinations.new', 'destination_config_id')],
          }),
          declare('alert_push_destinations.new', { name: 'New', enabled: false }),
        ],
      },
      [0, 0],
    ],
    [
      'loses its destination to a disabling',
      {
        declared: [declare('alert_push_destinations.one', { name: 'One', enabled: false })],
        live: { alert_rules: [rule('r')] },
      },
      [2, 0],
    ],
    [
      'loses its destination to a delete',
      {
        state: {
          'alert_push_destinations.one': entry('alert_push_destinations', 'd1', { name: 'One' }),
        },
        live: { alert_rules: [rule('r')] },
      },
      [2, 0],
    ],
    [
      'gets its destination back',
      {
        declared: [declare('alert_push_destinations.off', { name: 'Off', enabled: true })],
        live: { alert_rules: [rule('r', { http_destinations: ['off'] })] },
      },
      [0, 2],
    ],
    [
      'hears of an account that moves below one that is made',
      {
        declared: [
          declaredRule({ associated_accounts: [made('accounts.new', 'id')] }),
          declare('accounts.new', { name: 'New' }),
          declare(
            'accounts.oslo',
            { name: 'Oslo', account: made('accounts.new', 'id') },
            { adopt: '4' },
          ),
        ],
      },
      [0, 1],
    ],
    [
      'hears of one that moves below one that is made under the root',
      {
        declared: [
          declare('accounts.new', { name: 'New' }),
          declare(
            'accounts.oslo',
            { name: 'Oslo', account: made('accounts.new', 'id') },
            { adopt: '4' },
          ),
        ],
        live: { alert_rules: [rule('r', { associated_accounts: [1] })] },
      },
      [3, 3],
    ],
    [
      'hears no more of an account that moves away',
      {
        declared: [declare('accounts.oslo', { name: 'Oslo', account: '2' }, { adopt: '4' })],
        live: { alert_rules: [rule('r')] },
      },
      [2, 1],
    ],
  ])('%s', async (_, scene, sent) => {
    expect((await judge(scene, alerts)).rules.map(numbers)).toEqual([sent]);
  });

  it.each<readonly [string, Scene, string]>([
    ['its address', { declared: [declaredRule()], state, live: { alert_rules: [rule('r')] } }, wan],
    ['the address that it is to have', { declared: [declaredRule()] }, wan],
    [
      'the address that adopts it',
      { declared: [declaredRule()], live: { alert_rules: [rule('r')] } },
      wan,
    ],
    ['the address that it had', { state, live: { alert_rules: [rule('r')] } }, wan],
    [
      'the address of a plan that does not cover it',
      {
        state,
        live: { alert_rules: [rule('r')] },
        request: { targets: ['accounts.oslo'] },
        declared: [declare('accounts.oslo', { name: 'Oslo', account: '3' }, { adopt: '4' })],
      },
      wan,
    ],
    [
      'its label and its id, where nobody manages it',
      { live: { alert_rules: [rule('r')] } },
      'alert_rules North: account_locked → One (r)',
    ],
  ])('goes by %s', async (_, scene, name) => {
    expect((await judge(scene, alerts)).rules.map((one) => one.rule)).toEqual([name]);
  });

  it('has no id before it is made', async () => {
    expect(ruleOf(await judge({ declared: [declaredRule()] }, []), wan).id).toBeNull();
    expect(ruleOf(await judge({ state, live: { alert_rules: [rule('r')] } }, []), wan).id).toBe(
      'r',
    );
  });

  it('says of each type how much nobody hears, in the order of names', async () => {
    const scene: Scene = {
      declared: [declaredRule({ filter_criteria: { alert_type__in: ['login_success'] } })],
      state,
      live: { alert_rules: [rule('r')] },
    };
    const came = [
      ...times(5, { account: '3' }),
      ...times(2, { account: '2' }),
      { account: '3', type: 'login_success' },
      { account: '3', type: 'a_new_one' },
    ];
    expect((await judge(scene, came)).unheard).toEqual([
      { type: 'a_new_one', alerts: 1, before: 1, after: 1 },
      { type: 'account_locked', alerts: 7, before: 2, after: 7 },
    ]);
  });

  it.each([
    ['ten a day that were none', 0, 70, true],
    ['fewer than ten a day', 0, 69, false],
    ['three times as many', 30, 60, true],
    ['fewer than three times as many', 31, 61, false],
    ['as many as before', 100, 0, false],
  ])('is noisy or not: %s', async (_, before, more, noisy) => {
    const scene: Scene = {
      declared: [declaredRule({ associated_accounts: ['2', '3'] })],
      state,
      live: { alert_rules: [rule('r')] },
    };
    const impact = await judge(scene, [
      ...times(before, { account: '3' }),
      ...times(more, { account: '2' }),
    ]);
    expect(ruleOf(impact, wan)).toMatchObject({ before, after: before + more, noisy });
  });
});

test('alerts pass by: each page is let go before the next one is read', async () => {
  const { plan, liveObjects: world } = planScene({
    live: { accounts, alert_push_destinations: destinations, alert_rules: [rule('r')] },
  });
  let held = 0;
  let most = 0;
  const alertsOnTheWay = async function* (): AsyncGenerator<readonly Found[]> {
    for (let page = 0; page < 50; page += 1) {
      const records = Array.from({ length: 100 }, () => {
        held += 1;
        most = Math.max(most, held);
        return {
          record: {},
          get values() {
            held -= 1;
            return found({ account: '3' }).values;
          },
        };
      });
      yield records;
    }
  };
  const impact = await impactOf(
    { live: world, changes: plan.changes, addressOf: () => undefined },
    {
      since: SINCE,
      until: UNTIL,
      alerts: alertsOnTheWay(),
      accountOf: () => Promise.reject(new Error('no alert is about a router')),
    },
  );
  expect([impact.alerts, ruleOf(impact).after, held, most]).toEqual([5000, 5000, 0, 100]);
});

test('a law: what is not changed sends as before, and every alert is heard, unheard or open', async () => {
  const came = fc.record({
    type: fc.constantFrom('account_locked', 'login_success'),
    account: fc.constantFrom('1', '2', '3', '4', '99'),
    day: fc.integer({ min: 1, max: 7 }),
  });
  const onRouter = fc.record({
    type: fc.constantFrom('account_locked', 'login_success'),
    router: fc.constantFrom('50', '51'),
  });
  const any = fc.record({
    associated_accounts: fc.subarray([1, 2, 3, 4]),
    associated_groups: fc.subarray([9]),
    filter_criteria: fc.record({
      alert_type__in: fc.subarray(['account_locked', 'login_success']),
    }),
    http_destinations: fc.subarray(['d1', 'd2', 'off', 'ill']),
    schedule: fc.constantFrom(null, 'daily', 'weekly'),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(any, { maxLength: 4 }),
      fc.array(fc.oneof(came, onRouter), { maxLength: 20 }),
      async (contents, list) => {
        const impact = await judge(
          { live: { alert_rules: contents.map((one, index) => rule(`r${index}`, one)) } },
          list,
        );
        expect(impact.alerts).toBe(list.length);
        for (const one of impact.rules) {
          expect(one.after).toBe(one.before);
          expect(one.unjudged.after).toBe(one.unjudged.before);
          expect(one.destinations.after).toEqual(one.destinations.before);
          expect(one.after).toBeLessThanOrEqual(list.length * one.destinations.after.length);
        }
        const unheard = impact.unheard.reduce((sum, one) => sum + one.after, 0);
        expect(unheard + impact.unjudged.groups + impact.unjudged.routers).toBeLessThanOrEqual(
          list.length,
        );
        for (const one of impact.unheard) expect(one.before).toBe(one.after);
      },
    ),
  );
});

describe('a rule for groups, where routers were read', () => {
  const grouped = rule('r', { associated_accounts: [], associated_groups: [40] });
  const routers = [
    live('routers', '50', { name: 'a', account: '4', group: '40' }),
    live('routers', '51', { name: 'b', account: '4', group: null }),
  ];
  const came = [{ router: '50' }, { router: '51' }, { router: '52' }, { account: '4' }];

  it('has the alerts of the routers in them, and of others only what is not known', async () => {
    const impact = await judge({ live: { alert_rules: [grouped], routers } }, came, {
      '50': '4',
      '51': '4',
      '52': '4',
    });
    expect(ruleOf(impact)).toMatchObject({
      before: 1,
      after: 1,
      unjudged: { before: 1, after: 1 },
    });
    expect(impact).toMatchObject({ through_sub_accounts: 0, unjudged: { groups: 1, routers: 0 } });
  });

  it('gets those of a router that the plan puts into a group', async () => {
    const scene: Scene = {
      declared: [declare('routers.b', { name: 'b', group: '40' })],
      live: { alert_rules: [grouped], routers },
    };
    const impact = await judge(scene, came, { '50': '4', '51': '4', '52': '4' });
    expect(numbers(ruleOf(impact))).toEqual([1, 2]);
  });
});
