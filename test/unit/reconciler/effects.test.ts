// What limits count, what a run without a state may do, what counts as a duplicate, and what is not visible yet: the
// tables of planning beside the plain ones.
import { describe, expect, it } from 'vitest';
import {
  defined,
  Reference,
  type Declaration,
  type Entry,
  type Live,
} from '../../../src/model/index.js';
import type { Visibility } from '../../../src/reconciler/recent-writes.js';
import {
  blocked,
  codes,
  declare,
  entry,
  live,
  planScene,
  steps,
  type Scene,
} from '../../support/planning.js';

const root = live('accounts', '1', { name: 'Headquarters', account: null });
const sites = (count: number, more: Record<string, boolean> = {}): readonly Live[] =>
  Array.from({ length: count }, (_, index) =>
    live('accounts', String(index + 10), { name: `Site ${index}`, account: '1', ...more }),
  );
const declared = (
  count: number,
  disabled: number,
  lifecycle: (index: number) => Declaration['lifecycle'] = () => ({}),
): readonly Declaration[] =>
  Array.from({ length: count }, (_, index) =>
    declare(
      `accounts.a${index}`,
      { name: `Site ${index}`, ...(index < disabled && { is_disabled: true }) },
      lifecycle(index),
    ),
  );
const recorded = (from: number, to: number): Record<string, Entry> =>
  Object.fromEntries(
    Array.from({ length: to - from }, (_, index) => [
      `accounts.a${from + index}`,
      entry('accounts', String(from + index + 10), { name: `Site ${from + index}` }),
    ]),
  );

type Row = Scene & { readonly title: string; readonly blocks: readonly string[] };
const check = (row: Row): void => expect(blocked(planScene(row))).toEqual(row.blocks);

describe('a run without a state', () => {
  it.each<Row>([
    {
      title: 'adopts what is as declared',
      declared: declared(3, 0),
      live: { accounts: [root, ...sites(3)] },
      blocks: [],
    },
    {
      title: 'changes nothing that it adopts by identity',
      declared: declared(3, 1),
      live: { accounts: [root, ...sites(3)] },
      blocks: ['first-run'],
    },
    {
      title: 'nor where the state holds no object',
      declared: declared(3, 1),
      state: {},
      live: { accounts: [root, ...sites(3)] },
      blocks: ['first-run'],
    },
    {
      title: 'unless that is allowed',
      declared: declared(3, 1),
      live: { accounts: [root, ...sites(3)] },
      request: { allow: ['first-run'] },
      blocks: [],
    },
    {
      title: 'changes what lifecycle.adopt names',
      declared: declared(3, 1, (index) => (index === 0 ? { adopt: '10' } : {})),
      live: { accounts: [root, ...sites(3)] },
      blocks: [],
    },
    {
      title: 'is none where the state holds an object',
      declared: declared(3, 1),
      state: recorded(2, 3),
      live: { accounts: [root, ...sites(3)] },
      blocks: [],
    },
    { title: 'creates', declared: declared(3, 1), live: { accounts: [root] }, blocks: [] },
  ])('$title', check);
});

describe('the share of changed objects', () => {
  const noon = Date.parse('2026-01-01T12:00:00Z');
  const day = 24 * 60 * 60 * 1000;
  const twelve = { accounts: [root, ...sites(12)] };
  const spent = (...ids: readonly string[]) =>
    ids.map((id) => ({
      at: '2026-01-01T12:00:00Z',
      action: 'update' as const,
      kind: 'accounts',
      id,
    }));
  it.each<Row>([
    {
      title: 'counts adopted objects',
      declared: declared(12, 4, (index) => ({ adopt: String(index + 10) })),
      live: twelve,
      blocks: ['max-changed'],
    },
    {
      title: 'is of all matched objects, recorded or not',
      declared: declared(12, 3),
      state: recorded(0, 3),
      live: twelve,
      blocks: [],
    },
    {
      title: 'is of recorded objects that are declared no more, too',
      declared: declared(8, 3),
      state: recorded(0, 12),
      live: twelve,
      request: { targets: ['accounts.a0', 'accounts.a1', 'accounts.a2'] },
      blocks: [],
    },
    {
      title: 'is the same for a part of the project',
      declared: declared(12, 4),
      state: recorded(0, 12),
      live: twelve,
      request: { targets: ['accounts.a0', 'accounts.a1', 'accounts.a2', 'accounts.a3'] },
      blocks: ['max-changed'],
    },
    {
      title: 'is of what the project declares, also where a target narrows the plan',
      declared: declared(40, 4),
      state: recorded(0, 10),
      live: { accounts: [root, ...sites(40)] },
      request: { targets: ['accounts.a0', 'accounts.a1', 'accounts.a2', 'accounts.a3'] },
      blocks: [],
    },
    {
      title: 'counts each object once in a day',
      declared: declared(12, 3),
      state: recorded(0, 12),
      spent: spent('10', '11', '12'),
      live: twelve,
      blocks: [],
    },
    {
      title: 'counts what was changed before',
      declared: declared(12, 1),
      state: recorded(0, 12),
      spent: spent('19', '20', '21'),
      live: twelve,
      blocks: ['max-changed'],
    },
    ...[
      { by: 'the time since the start', since: { boot: day }, wall: 2 * day, blocks: true },
      { by: 'the time since the start', since: { boot: day + 1 }, wall: 0, blocks: false },
      { by: 'the clock of the service', since: { server: day }, wall: 2 * day, blocks: true },
      { by: 'the clock of the service', since: { server: day + 5001 }, wall: 0, blocks: false },
      { by: 'the clock of the machine alone', since: {}, wall: day, blocks: true },
      { by: 'the clock of the machine alone', since: {}, wall: day + 1, blocks: false },
    ].map(({ by, since: { boot, server }, wall, blocks }) => ({
      title: `${blocks ? 'counts' : 'does not count'} by ${by}`,
      declared: declared(12, 1),
      state: recorded(0, 12),
      spent: spent('19', '20', '21').map((one) => ({
        ...one,
        ...defined({
          boot: boot === undefined ? undefined : { id: 'this', milliseconds: 0 },
          server_at: server === undefined ? undefined : one.at,
        }),
      })),
      live: twelve,
      more: {
        now: {
          boot: { id: 'this', milliseconds: boot ?? 0 },
          server: noon + (server ?? 0),
          wall: noon + wall,
        },
      },
      blocks: blocks ? ['max-changed'] : [],
    })),
    {
      title: 'counts what an older version recorded without a name',
      declared: declared(12, 1),
      state: recorded(0, 12),
      spent: spent('1', '1', '1').map(({ at, action }) => ({ at, action })),
      live: twelve,
      blocks: ['max-changed'],
    },
  ])('$title', check);
});

describe('a possible duplicate', () => {
  const unscheduled = {
    associated_accounts: ['2', '3'],
    filter_criteria: { alert_type__in: ['a', 'b', 'c'] },
    http_destinations: ['d-1'],
  };
  const rule = { ...unscheduled, schedule: 'daily' };
  const rules = (...others: readonly Parameters<typeof live>[2][]) => ({
    alert_rules: others.map((one, index) => live('alert_rules', `r-${index}`, { ...rule, ...one })),
  });
  const named = (...types: readonly string[]) => ({
    filter_criteria: { alert_type__in: [...types] },
  });
  const one = [declare('alert_rules.r', rule)];
  const dup = ['possible-duplicate'];

  it.each<[string, object, object, string]>([
    [
      'what is live and not declared',
      unscheduled,
      { associated_groups: [77] },
      'account 2 and 2 more: a and 2 more → 1 by webhook; no declared attribute differs; live, but not declared: schedule "daily", associated_groups ["77"]',
    ],
    [
      'not what is empty',
      rule,
      { ...named('a', 'b'), associated_groups: [], settings: {} },
      'account 2 and 1 more: a and 1 more → 1 by webhook; differs in filter_criteria',
    ],
    [
      'beside what differs',
      unscheduled,
      named('a', 'b'),
      'account 2 and 1 more: a and 1 more → 1 by webhook; differs in filter_criteria; live, but not declared: schedule "daily"',
    ],
    [
      'no literal under the name of a secret',
      rule,
      { settings: { x: { token: 'canary' } } },
      'account 2 and 1 more: a and 2 more → 1 by webhook; no declared attribute differs; live, but not declared: settings (not shown)',
    ],
  ])('is told with %s', (_, values, more, words) => {
    const { plan } = planScene({
      declared: [declare('alert_rules.r', values as typeof rule)],
      live: rules({ ...more, schedule: 'daily' }),
    });
    expect(plan.verdicts.map(({ detail }) => detail)).toEqual([
      `alert_rules.r is a possible duplicate of the unmanaged alert rule r-0 (${words}); if both are the same object, import it: \`trueup import alert_rules.r r-0\``,
    ]);
  });

  it('is told whatever the spaces in a name', () => {
    const { plan } = planScene({
      declared: [declare('accounts.c', { name: 'Cedar Schools', account: '1' })],
      live: {
        accounts: [
          live('accounts', '1', { name: 'Root' }),
          live('accounts', '5', { name: ' Cedar  schools', account: '1' }),
        ],
      },
    });
    expect(plan.verdicts.map(({ rule }) => rule)).toContain('possible-duplicate');
  });

  it('is told without the secret of a destination, and without flags that are not set', () => {
    const { plan } = planScene({
      declared: [declare('alert_push_destinations.p', { name: 'Pager' })],
      live: {
        alert_push_destinations: [
          live('alert_push_destinations', 'd-1', {
            name: 'PAGER',
            enabled: true,
            suspended: false,
            authentication: {},
          }),
        ],
      },
    });
    expect(plan.verdicts[0]?.detail).toContain(
      '(differs in name; live, but not declared: enabled true);',
    );
  });
  const unknown = new Reference('declared', 'accounts.new', 'id');
  it.each<Row>([
    {
      title: 'a rule with one more type',
      declared: one,
      live: rules(named('a', 'b', 'c', 'd')),
      blocks: dup,
    },
    {
      title: 'a name in capitals that have no small letter of their own',
      declared: [declare('accounts.s', { name: 'Stra\u00dfe' })],
      live: { accounts: [root, live('accounts', '9', { name: 'STRASSE', account: '1' })] },
      blocks: dup,
    },
    {
      title: 'a name with an accent of its own',
      declared: [declare('accounts.s', { name: 'Caf\u00e9' })],
      live: { accounts: [root, live('accounts', '9', { name: 'Cafe\u0301', account: '1' })] },
      blocks: dup,
    },
    {
      title: 'a rule with half of the types of both',
      declared: one,
      live: rules(named('a', 'b', 'd')),
      blocks: dup,
    },
    {
      title: 'a rule with less than half of them',
      declared: one,
      live: rules(named('a', 'd', 'e')),
      blocks: [],
    },
    {
      title: 'another scope',
      declared: one,
      live: rules({ associated_accounts: ['2'], ...named('a', 'b') }),
      blocks: [],
    },
    {
      title: 'the same scope in another order',
      declared: one,
      live: rules({ associated_accounts: ['3', '2'], ...named('a', 'b') }),
      blocks: dup,
    },
    {
      title: 'other groups',
      declared: [declare('alert_rules.r', { ...rule, associated_groups: ['8'] })],
      live: rules({ associated_groups: ['9'], ...named('a', 'b') }),
      blocks: [],
    },
    {
      title: 'groups where none are declared',
      declared: one,
      live: rules({ associated_groups: ['9'] }),
      blocks: dup,
    },
    {
      title: 'a schedule where none is declared, beside a rule that declares one',
      declared: [
        declare('alert_rules.q', { ...rule, associated_accounts: ['4'] }),
        declare('alert_rules.r', unscheduled),
      ],
      live: rules({}),
      blocks: dup,
    },
    {
      title: 'a schedule where it is declared that there is none',
      declared: [declare('alert_rules.r', { ...rule, schedule: null })],
      live: rules({}),
      blocks: [],
    },
    {
      title: 'other destinations',
      declared: one,
      live: rules({ http_destinations: [], ...named('a', 'b') }),
      blocks: [],
    },
    {
      title: 'another schedule',
      declared: one,
      live: rules({ schedule: null, ...named('a', 'b') }),
      blocks: [],
    },
    {
      title: 'other settings, and all types',
      declared: one,
      live: rules({ settings: { x: { limit: 1 } } }),
      blocks: dup,
    },
    {
      title: 'nothing to hear of, on both sides',
      declared: [declare('alert_rules.r', { ...rule, ...named() })],
      live: rules({ ...named(), settings: { x: { limit: 1 } } }),
      blocks: dup,
    },
    {
      title: 'a managed rule',
      declared: [...one, declare('alert_rules.s', { ...rule, ...named('a', 'b') })],
      state: { 'alert_rules.s': entry('alert_rules', 'r-0', { ...rule, ...named('a', 'b') }) },
      live: rules(named('a', 'b')),
      blocks: [],
    },
    {
      title: 'a scope that is known only after apply',
      declared: [
        declare('accounts.new', { name: 'New' }),
        declare('alert_rules.r', { ...rule, associated_accounts: [unknown] }),
      ],
      live: { accounts: [root], ...rules({ associated_accounts: [], ...named('a', 'b') }) },
      blocks: [],
    },
    {
      title: 'one live rule for two creations',
      declared: [
        declare('alert_rules.r', rule),
        declare('alert_rules.s', { ...rule, ...named('a', 'b') }),
      ],
      live: rules(named('a', 'b', 'c', 'd')),
      blocks: dup,
    },
    {
      title: 'a rule that is allowed to be one',
      declared: [declare('alert_rules.r', rule, { allow_duplicate: true })],
      live: rules(named('a', 'b', 'c', 'd')),
      blocks: [],
    },
    {
      title: 'any, where the run allows them',
      declared: one,
      live: rules(named('a', 'b', 'c', 'd')),
      request: { allow: ['possible-duplicate'] },
      blocks: [],
    },
    {
      title: 'a name in other letters',
      declared: [declare('accounts.a', { name: 'north SITE' })],
      live: { accounts: [root, live('accounts', '5', { name: ' North Site', account: '1' })] },
      blocks: dup,
    },
    {
      title: 'an escaped name in other letters',
      declared: [declare('accounts.a', { name: 'R&D' })],
      live: { accounts: [root, live('accounts', '5', { name: 'r&amp;d', account: '1' })] },
      blocks: dup,
    },
    {
      title: 'a name that was escaped twice',
      declared: [declare('accounts.a', { name: 'R&D' })],
      live: { accounts: [root, live('accounts', '5', { name: 'r&amp;amp;d', account: '1' })] },
      blocks: dup,
    },
    {
      title: 'the same name below another account',
      declared: [declare('accounts.a', { name: 'North site', account: '5' })],
      live: {
        accounts: [
          root,
          live('accounts', '5', { name: 'x', account: '1' }),
          live('accounts', '6', { name: 'north site', account: '1' }),
        ],
      },
      blocks: [],
    },
    {
      title: 'a destination in other letters',
      declared: [declare('alert_push_destinations.p', { name: 'pager' })],
      live: { alert_push_destinations: [live('alert_push_destinations', 'd', { name: 'Pager' })] },
      blocks: dup,
    },
  ])('$title', check);

  it('is counted once for each live object, the likest first', () => {
    const proposal = planScene({
      declared: [
        declare('alert_rules.r', { ...rule, ...named('a', 'b') }),
        declare('alert_rules.s', rule),
      ],
      live: rules(named('a', 'b', 'c', 'd')),
    });
    expect(proposal.plan.verdicts.map(({ address, detail }) => [address, detail])).toEqual([
      [
        'alert_rules.s',
        'alert_rules.s is a possible duplicate of the unmanaged alert rule r-0 (account 2 and 1 more: a and 3 more → 1 by webhook; differs in filter_criteria); if both are the same object, import it: `trueup import alert_rules.s r-0`',
      ],
    ]);
  });
});

describe('an object that was created just now', () => {
  const seen = (state: 'seen' | 'unseen' | undefined): { readonly visibility: Visibility } => ({
    visibility: {
      created: (_, id) => (id === '7' ? state : undefined),
      wasDeletedRecently: () => false,
      isOld: () => false,
    },
  });
  const account = declare('accounts.a', { name: 'A' });
  const state = { 'accounts.a': entry('accounts', '7', { name: 'A' }) };
  const alone = { accounts: [root] };

  it.each<[string, Scene, readonly string[], readonly string[]]>([
    [
      'and is not visible yet stays, aloud',
      { declared: [account], state, live: alone, more: seen('unseen') },
      ['keep accounts.a'],
      [],
    ],
    [
      'and was shown before is created again, which apply waits for',
      { declared: [account], state, live: alone, more: seen('seen') },
      ['create accounts.a'],
      ['accounts.a'],
    ],
    [
      'longer ago is created again',
      { declared: [account], state, live: alone, more: seen(undefined) },
      ['create accounts.a'],
      [],
    ],
    [
      'and is declared otherwise by now is waited for',
      {
        declared: [declare('accounts.a', { name: 'B' })],
        state,
        live: alone,
        more: seen('unseen'),
      },
      ['keep accounts.a'],
      ['accounts.a'],
    ],
    [
      'and is referred to by something that is written is waited for',
      {
        declared: [
          account,
          declare('accounts.b', {
            name: 'B',
            account: new Reference('declared', 'accounts.a', 'id'),
          }),
        ],
        state,
        live: alone,
        more: seen('unseen'),
      },
      ['keep accounts.a', 'create accounts.b'],
      ['accounts.a'],
    ],
    [
      'and is declared no more is waited for',
      {
        declared: [],
        state,
        live: alone,
        request: { allow: ['all-removed'] },
        more: seen('unseen'),
      },
      [],
      ['accounts.a'],
    ],
  ])('%s', (_, scene, expected, awaited) => {
    const proposal = planScene(scene);
    expect([steps(proposal), proposal.awaited]).toEqual([expected, awaited]);
    expect(codes(proposal).includes('not-visible-yet')).toBe(
      scene.more?.visibility?.created('', '7') === 'unseen',
    );
  });

  it('and is left out by a target is not made again', () => {
    const proposal = planScene({
      declared: [declare('accounts.b', { name: 'A' })],
      state: { 'accounts.a': entry('accounts', '7', { name: 'A', account: '1' }) },
      live: alone,
      request: { targets: ['accounts.b'] },
      more: seen('unseen'),
    });
    expect([proposal.exit, codes(proposal)]).toEqual([1, ['exists-already']]);
  });
});
