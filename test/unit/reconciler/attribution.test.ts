// Who changed it: only what a record shows, never a guess, and the window where no record tells.
import { describe, expect, it, test } from 'vitest';
import {
  exits,
  redact,
  Refusal,
  Secret,
  type Activity,
  type Json,
  type JsonObject,
  type Values,
} from '../../../src/model/index.js';
import {
  attribute,
  authorOf,
  logWindow,
  type Subject,
} from '../../../src/reconciler/audit/attribution.js';
import { kindOf, live } from '../../support/planning.js';

const APPLIED = '2026-01-10T12:00:00.000Z';
/** Seconds after the last apply. */
const after = (seconds: number): string =>
  new Date(Date.parse(APPLIED) + seconds * 1000).toISOString();
const NOW = Date.parse(after(3600));

let count = 0;
const record = (
  seconds: number,
  changes: JsonObject,
  by = 'dana@example.com',
  more: Partial<Activity> = {},
): Activity => ({
  id: `r-${++count}`,
  object_id: '12',
  object_type: null,
  actor: by,
  actor_id: by,
  actor_type: by.includes('@') ? 'sso_user' : 'api_key',
  action: 'update',
  at: after(seconds),
  before: { name: 'Field' },
  after: changes,
  ...more,
});

const subject = (more: Partial<Subject> = {}): Subject => ({
  kind: kindOf('accounts'),
  id: '12',
  what: 'changed',
  prior: { applied: { name: 'Field' }, applied_at: APPLIED },
  drifted: ['name'],
  declared: { name: 'Field' },
  live: live('accounts', '12', { name: 'Camp', account: '1', is_disabled: false }),
  ...more,
});

const ours = (seconds = 0, more: Partial<Activity> = {}): Activity =>
  record(seconds, { id: '12', name: 'Field', account: '/api/v2/accounts/1/' }, 'key-1', more);
const silent: Partial<Activity> = { object_type: 'account', before: null, after: null };
const gone: Partial<Subject> = { what: 'gone', drifted: [] };
const stranger: Subject = {
  kind: kindOf('accounts'),
  id: '12',
  what: 'unmanaged',
  drifted: [],
  declared: {},
};
const deletion = (seconds: number, by?: string): Activity =>
  record(seconds, {}, by, { action: 'delete', before: { name: 'Field' }, after: null });

/** Skew of 0 where a case names none: the clocks agree. */
const cases: readonly (readonly [
  title: string,
  records: readonly Activity[],
  author: string | undefined,
  more?: Partial<Subject>,
  skew?: number | null,
])[] = [
  ['nothing in the log', [], undefined],
  ['one change', [record(60, { name: 'Camp' })], 'dana@example.com'],
  [
    'the newest of several',
    [record(60, { name: 'Yard' }, 'ada@example.com'), record(70, { name: 'Camp' })],
    'dana@example.com',
  ],
  ['our own write alone', [ours()], undefined],
  ['our own write, then another hand', [ours(), record(60, { name: 'Camp' })], 'dana@example.com'],
  [
    'our own write a little before it was written down',
    [ours(-20), record(-10, { name: 'Camp' })],
    'dana@example.com',
  ],
  ['another hand, which we put right', [record(-30, { name: 'Camp' }), ours(-1)], undefined],
  [
    'the same key again, with other content',
    [ours(), record(60, { name: 'Camp' }, 'key-1')],
    'key-1',
  ],
  [
    'our content, written by a person',
    [record(1, { name: 'Field' }, 'ada@example.com', { before: { name: 'Camp' } })],
    undefined,
  ],
  [
    'a change that was put back, and came again unseen',
    [
      record(60, { name: 'Camp' }),
      record(600, { name: 'Field' }, 'key-1', { before: { name: 'Camp' } }),
    ],
    undefined,
  ],
  ['a change to something that is not live', [record(60, { name: 'Yard' })], undefined],
  [
    'a change to something that is not live, then the one that is',
    [
      record(60, { name: 'Yard' }, 'ada@example.com'),
      record(70, { name: 'Camp' }, undefined, { before: { name: 'Yard' } }),
    ],
    'dana@example.com',
  ],
  [
    'a state that shows what is live, and changed nothing',
    [record(90, { name: 'Camp' }, 'eve@example.com', { before: { name: 'Camp' } })],
    undefined,
  ],
  [
    'a change of something else',
    [
      record(60, { name: 'Field', is_disabled: true }, 'ada@example.com', {
        before: { name: 'Field', is_disabled: false },
      }),
    ],
    undefined,
  ],
  [
    'a change of something else after the one in question',
    [
      record(60, { name: 'Camp' }),
      record(70, { name: 'Camp', is_disabled: true }, 'ada@example.com', {
        before: { name: 'Camp', is_disabled: false },
      }),
    ],
    'dana@example.com',
  ],
  [
    'a record that does not say what it changed',
    [record(90, {}, 'ada@example.com', silent)],
    'ada@example.com',
  ],
  [
    'a record that says what it changed is believed first',
    [record(60, { name: 'Camp' }), record(90, {}, 'ada@example.com', silent)],
    'dana@example.com',
  ],
  [
    'a record that does not say what it changed, when our own write may have come',
    [record(60.9, {}, 'key-1', silent)],
    undefined,
  ],
  [
    'a change that our own write may have put back, which does not say what it changed',
    [record(-30, { name: 'Camp' }), record(-1, {}, 'key-1', silent)],
    undefined,
  ],
  [
    'a change after what may be our own write',
    [record(-1, {}, 'key-1', silent), record(2, { name: 'Camp' })],
    'dana@example.com',
  ],
  [
    'the same, where nobody compared the clocks',
    [record(360.9, {}, 'key-1', silent)],
    undefined,
    {},
    null,
  ],
  ['the same, clearly later', [record(362, {}, 'key-1', silent)], 'key-1', {}, null],
  [
    'a record that does not say what it changed, before something else was live',
    [record(90, {}, 'ada@example.com', silent), record(100, { name: 'Yard' })],
    undefined,
  ],
  [
    'a record that tells of something else alone',
    [record(90, { is_disabled: true }, 'ada@example.com', { before: { is_disabled: false } })],
    undefined,
  ],
  [
    'a record with a state in words of its own',
    [record(1, { role_name: 'x' }, 'key-1', { object_type: 'account', before: {} })],
    undefined,
  ],
  [
    'a state without the one before, clearly later',
    [record(90, { name: 'Camp' }, 'ada@example.com', { before: null })],
    'ada@example.com',
  ],
  [
    'a state without the one before, at about the apply',
    [record(1, { name: 'Camp' }, 'key-1', { before: null })],
    undefined,
  ],
  [
    'a record of which nobody says what it is about',
    [record(90, {}, 'ada@example.com', { before: null, after: null })],
    undefined,
  ],
  [
    'no apply is known: a record that does not say what it changed',
    [record(90, {}, 'ada@example.com', silent)],
    undefined,
    { prior: undefined as never },
  ],
  [
    'no apply is known: made so',
    [record(90, { name: 'Camp' }, 'ada@example.com', { action: 'create', before: null })],
    'ada@example.com',
    { prior: undefined as never },
  ],
  [
    'made so before what we applied',
    [record(-10, { name: 'Camp' }, 'ada@example.com', { action: 'create', before: null })],
    undefined,
  ],
  [
    'a report is no change',
    [record(90, { name: 'Camp' }, 'router-5', { action: 'report', actor_type: 'router' })],
    undefined,
  ],
  [
    'a record about a router of the same number',
    [record(60, { name: 'Camp' }, 'ada@example.com', { object_type: 'router' })],
    undefined,
  ],
  [
    'a record without type about something of another kind',
    [record(60, { name: 'Camp', role: 'x' }, 'ada@example.com')],
    undefined,
  ],
  [
    'a record of the right type',
    [record(60, { name: 'Camp' }, 'ada@example.com', { object_type: 'account' })],
    'ada@example.com',
  ],
  ['an older change that shows nothing that is live', [record(-30, { name: 'Yard' })], undefined],
  [
    'an older change that shows what is live: the clocks are not exact',
    [record(-30, { name: 'Camp' })],
    'dana@example.com',
  ],
  ['too old to be a matter of clocks', [record(-90, { name: 'Camp' })], undefined],
  [
    'too old, but nobody compared the clocks',
    [record(-90, { name: 'Camp' })],
    'dana@example.com',
    {},
    null,
  ],
  [
    'a server ahead: our own write is later there',
    [ours(300), record(299, { name: 'Camp' })].toSorted((a, b) => (a.at < b.at ? -1 : 1)),
    undefined,
    {},
    300_000,
  ],
  [
    'a server ahead: what it calls later came before our write',
    [record(100, { name: 'Camp' })],
    undefined,
    {},
    300_000,
  ],
  ['a server behind', [record(-250, { name: 'Camp' })], 'dana@example.com', {}, -300_000],
  [
    'never applied: whoever came last',
    [record(-9000, { name: 'Camp' })],
    'dana@example.com',
    { prior: undefined as never },
  ],
  ['deleted', [ours(), deletion(60)], 'dana@example.com', gone],
  [
    'deleted after a change',
    [record(50, { name: 'Camp' }, 'ada@example.com'), deletion(60)],
    'dana@example.com',
    gone,
  ],
  ['deleted with our key by another program', [ours(), deletion(60, 'key-1')], 'key-1', gone],
  ['deleted before it was applied', [deletion(-90)], undefined, gone],
  [
    'gone, and nothing says by whom',
    [record(50, { name: 'Camp' }, 'ada@example.com')],
    undefined,
    gone,
  ],
  [
    'unmanaged: who made it',
    [
      record(10, { name: 'x' }, 'ada@example.com', { action: 'create', before: null }),
      record(20, { name: 'y' }),
    ],
    'ada@example.com',
    stranger,
  ],
  [
    'unmanaged, made long ago: who changed it last',
    [record(10, { name: 'x' }, 'ada@example.com'), record(20, { name: 'y' })],
    'dana@example.com',
    stranger,
  ],
  [
    'unmanaged: a request is no change',
    [
      record(10, {}, '0', {
        object_type: 'account',
        actor_type: 'system',
        action: 'request',
        before: null,
        after: null,
      }),
    ],
    undefined,
    stranger,
  ],
  [
    'unmanaged: a router of the same number was made',
    [record(10, { name: 'x' }, 'ada@example.com', { object_type: 'router', action: 'create' })],
    undefined,
    stranger,
  ],
];

for (const [title, records, author, more = {}, skew = 0] of cases)
  test(title, () =>
    expect(authorOf(subject(more), records, skew ?? undefined)?.actor).toBe(author),
  );

describe('a role', () => {
  const role = (value: string, seconds: number, by: string, before = 'no_access'): Activity =>
    record(
      seconds,
      { user: { id: '77', email: 'x@example.com' }, role: { id: '2', name: value } },
      by,
      {
        before: { role: { id: '1', name: before } },
        object_type: 'authorization',
      },
    );
  const authorization = subject({
    kind: kindOf('account_authorizations'),
    prior: { applied: { user: '77', account: '1', role: 'read_only_user' }, applied_at: APPLIED },
    drifted: ['role'],
    live: live('account_authorizations', '12', { user: '77', account: '1', role: 'administrator' }),
  });
  const records = [
    role('administrator', -5, 'ada@example.com'),
    role('read_only_user', 0, 'emulator@example.com'),
  ];

  it('that our token wrote is ours, whoever the token belongs to', () => {
    expect(authorOf(authorization, records, 0)).toBeUndefined();
    expect(authorOf(authorization, records.slice(1), 0)).toBeUndefined();
  });

  it('is read as the log writes it', () => {
    expect(
      authorOf(authorization, [...records, role('administrator', 5, 'ada@example.com')], 0)?.actor,
    ).toBe('ada@example.com');
  });

  it('of another identifier than a number is not what another type of object was', () => {
    const other = {
      ...role('administrator', 5, 'ada@example.com'),
      object_id: 'a-1',
      object_type: 'router',
    };
    expect(authorOf({ ...authorization, id: 'a-1' }, [other], 0)).toBeUndefined();
  });
});

describe('a configuration', () => {
  const manager = (mtu: number, more: Partial<Subject> = {}): Subject =>
    subject({
      kind: kindOf('configuration_managers'),
      drifted: ['configuration.0.lan.mtu'],
      prior: {
        applied: { router: '12', configuration: [{ lan: { mtu: 1400 } }, []] },
        applied_at: APPLIED,
      },
      live: live('configuration_managers', '12', {
        router: '12',
        configuration: [{ lan: { mtu }, name: 'after bob' }, []],
      }),
      ...more,
    });
  const wrote = (mtu: number): Activity =>
    record(60, { configuration: [{ lan: { mtu }, name: 'bob' }, []] }, 'bob@example.com', {
      before: { configuration: [{ lan: { mtu: 1400 }, name: 'x' }, []] },
    });

  it('is judged by what is declared of it alone', () => {
    expect(authorOf(manager(9000), [wrote(9000)], 0)?.actor).toBe('bob@example.com');
    expect(authorOf(manager(9001), [wrote(9000)], 0)).toBeUndefined();
    expect(authorOf(manager(9000), [wrote(1400)], 0)).toBeUndefined();
  });

  it('is the same with a mask in it as without', () => {
    const users = (password: string, name: string): JsonObject => ({ users: [{ name, password }] });
    const one = manager(0, {
      drifted: ['configuration.0.users'],
      prior: {
        applied: { router: '12', configuration: [users('*', 'ada'), []] },
        applied_at: APPLIED,
      },
      live: live('configuration_managers', '12', {
        router: '12',
        configuration: [users('*', 'bob'), []],
      }),
    });
    expect(
      authorOf(
        one,
        [
          record(60, { configuration: [users('clear', 'bob'), []] }, 'bob@example.com', {
            before: { configuration: [users('clear', 'ada'), []] },
          }),
        ],
        0,
      )?.actor,
    ).toBe('bob@example.com');
  });
});

describe('the window that is read', () => {
  const at = (applied_at: string): Subject => subject({ prior: { applied: {}, applied_at } });
  it.each([
    ['begins at the oldest apply, a minute early', [at(after(100)), at(APPLIED)], 0, after(-60)],
    ["is told by the server's clock", [at(APPLIED)], 90_000, after(30)],
    ['allows for clocks that nobody compared', [at(APPLIED)], undefined, after(-360)],
    [
      'is never longer than the log is kept',
      [at('2025-01-01T00:00:00.000Z')],
      0,
      new Date(NOW - 30 * 24 * 3600_000).toISOString(),
    ],
    [
      'is the whole log for what was never applied',
      [at(APPLIED), subject({ prior: undefined as never })],
      0,
      new Date(NOW - 30 * 24 * 3600_000).toISOString(),
    ],
    [
      'is a week for what nothing manages',
      [at(APPLIED), stranger],
      0,
      new Date(NOW - 7 * 24 * 3600_000).toISOString(),
    ],
    [
      'is shorter for it where the oldest apply is younger',
      [{ ...stranger, news: APPLIED }],
      0,
      after(-60),
    ],
    [
      'is a week for it where the oldest apply is older',
      [{ ...stranger, news: '2025-12-24T00:00:00.000Z' }],
      0,
      new Date(NOW - 7 * 24 * 3600_000).toISOString(),
    ],
    ['is told for very many', Array.from({ length: 200_000 }, () => at(APPLIED)), 0, after(-60)],
  ])('%s', (_, subjects, skew, since) => expect(logWindow(subjects, NOW, skew)).toBe(since));
});

describe('attribute', () => {
  const clock = { now: () => NOW };
  const answering = (found: readonly Activity[] | Error) => {
    const asked: (readonly [readonly string[], string])[] = [];
    const activity = async (
      ids: readonly string[],
      since: string,
    ): Promise<readonly Activity[]> => {
      asked.push([ids, since]);
      if (found instanceof Error) throw found;
      return found;
    };
    return { asked, witnesses: { cloud: { activity }, clock } };
  };

  it('asks once for all of them, and answers in their order', async () => {
    const { asked, witnesses } = answering([
      record(60, { name: 'Camp' }),
      record(61, { name: 'Camp' }, 'ada@example.com', { object_id: '13' }),
    ]);
    const { told } = await attribute(
      witnesses,
      [subject({ id: '13' }), subject(), subject({ id: '14' })],
      0,
    );
    expect(asked).toEqual([[['13', '12', '14'], after(-60)]]);
    expect(
      told.map(({ changed_by }) => (changed_by === 'unknown' ? changed_by : changed_by.actor)),
    ).toEqual(['ada@example.com', 'dana@example.com', 'unknown']);
  });

  it('shows what changed, in the words of the declarations, and no secret', async () => {
    const destination = { ...kindOf('alert_push_destinations'), unlogged: undefined as never };
    const state = (url: string, secret: string): JsonObject => ({
      destination_config_id: 'd-1',
      name: 'Pager',
      endpoint: { url },
      authentication: { secret },
      account: 'https://shard.test/api/v2/accounts/1/',
      updated_at: url,
      note: 'kept',
    });
    const records = [
      record(60, state('https://b.test', 'two'), 'dana@example.com', {
        object_type: 'alert_push_destination',
        before: state('https://a.test', 'one'),
      }),
    ];
    const { told } = await attribute(
      answering(records).witnesses,
      [
        subject({
          kind: destination,
          drifted: ['endpoint.url'],
          prior: { applied: { endpoint: { url: 'https://a.test' } }, applied_at: APPLIED },
          live: live('alert_push_destinations', '12', { endpoint: { url: 'https://b.test' } }),
        }),
      ],
      0,
    );
    expect(told[0]?.changed_by).toEqual({
      actor: 'dana@example.com',
      actor_type: 'sso_user',
      at: after(60),
      action: 'update',
      before: { endpoint: { url: 'https://a.test' } },
      after: { endpoint: { url: 'https://b.test' } },
    });
  });

  describe('of a configuration', () => {
    const shownOf = async (
      declared: Values,
      drifted: readonly string[],
      livetree: JsonObject,
      before: JsonObject,
      after: JsonObject,
      more: JsonObject = {},
    ): Promise<unknown> => {
      const applied = {
        router: '12',
        configuration: redact(declared['configuration'] ?? null, () => '*'),
      };
      const manager = subject({
        kind: kindOf('configuration_managers'),
        drifted,
        declared,
        prior: { applied, applied_at: APPLIED },
        live: live('configuration_managers', '12', { router: '12', configuration: [livetree, []] }),
      });
      const records = [
        record(60, { configuration: [after, []], ...more }, undefined, {
          object_type: 'configuration_manager',
          before: { configuration: [before, []], ...more },
        }),
      ];
      const { told } = await attribute(answering(records).witnesses, [manager], 0);
      expect(told[0]?.changed_by).not.toBe('unknown');
      expect(JSON.stringify(told)).not.toContain('clear');
      const author = told[0]?.changed_by as Activity | undefined;
      return [author?.before, author?.after].map(
        (side) => (side?.['configuration'] as readonly Json[] | undefined)?.[0] ?? side,
      );
    };
    const secret = new Secret('env.X', () => 'clear-0');

    it('shows what drifted, and nothing that nobody declared', async () => {
      const declared = { configuration: [{ lan: { mtu: 1400 }, wan: { mtu: 1 } }, []] };
      const before = {
        lan: { mtu: 1400, key: 'clear-1' },
        wan: { mtu: 1 },
        users: [{ name: 'a', password: 'clear-2' }],
        psk: 'clear-3',
      };
      const after = {
        lan: { mtu: 1500, key: 'clear-4' },
        wan: { mtu: 1 },
        users: [{ name: 'a', password: 'clear-5' }],
        psk: 'clear-6',
      };
      const livetree = {
        lan: { mtu: 1500, key: '*' },
        wan: { mtu: 1 },
        users: [{ name: 'a', password: '*' }],
        psk: 'clear-6',
      };
      expect(
        await shownOf(declared, ['configuration.0.lan.mtu'], livetree, before, after, {
          password: 'clear-7',
          suspended: true,
        }),
      ).toEqual([{ lan: { mtu: 1400 } }, { lan: { mtu: 1500 } }]);
    });

    it('shows nothing that is declared as a secret', async () => {
      const declared = { configuration: [{ system: { id: 'a', key: secret } }, []] };
      const [before, after] = [
        { system: { id: 'a', key: 'clear-1' } },
        { system: { id: 'b', key: 'clear-2' } },
      ];
      expect(
        await shownOf(
          declared,
          ['configuration.0.system.id', 'configuration.0.system.key'],
          after,
          before,
          after,
        ),
      ).toEqual([{ system: { id: 'a' } }, { system: { id: 'b' } }]);
    });

    it.each<readonly [string, JsonObject, JsonObject, JsonObject]>([
      ['live', { psk: '*' }, { psk: 'clear-1' }, { psk: 'clear-2' }],
      ['the half before', { psk: 'clear-2' }, { psk: '*' }, { psk: 'clear-2' }],
      ['the half after', { psk: 'clear-2' }, { psk: 'clear-1' }, { psk: '*' }],
      ['none, where it is not live', {}, { psk: 'clear-1' }, {}],
    ])('shows nothing that is masked in %s', async (_, livetree, before, after) => {
      const tree = (more: JsonObject, id: string): JsonObject => ({ system: { id, ...more } });
      const declared = { configuration: [{ system: { id: 'a', psk: 'declared' } }, []] };
      const [earlier] = (await shownOf(
        declared,
        ['configuration.0.system.id', 'configuration.0.system.psk'],
        tree(livetree, 'b'),
        tree(before, 'a'),
        tree(after, 'b'),
      )) as JsonObject[];
      expect(earlier).toMatchObject({ system: { id: 'a' } });
    });

    it('shows of a list no item that is not live, and no member that any item masks', async () => {
      const declared = { configuration: [{ users: [{ name: 'a' }] }, []] };
      const livetree = {
        users: [
          { name: 'b', password: '*' },
          { name: 'c', password: 'clear-4' },
        ],
      };
      const before = {
        users: [
          { name: 'a' },
          { name: 'd', password: 'clear-1' },
          { name: 'clear-2', password: 'clear-3' },
        ],
      };
      const after = {
        users: [
          { name: 'b', password: '*' },
          { name: 'c', password: 'clear-4' },
        ],
      };
      expect(await shownOf(declared, ['configuration.0.users'], livetree, before, after)).toEqual([
        {
          users: [
            { name: 'a' },
            { name: 'd', password: '(sensitive)' },
            { name: '(sensitive)', password: '(sensitive)' },
          ],
        },
        {
          users: [
            { name: 'b', password: '(sensitive)' },
            { name: 'c', password: '(sensitive)' },
          ],
        },
      ]);
    });

    it('shows what is not live any more where it is as declared', async () => {
      const declared = { configuration: [{ lan: { mtu: 1400 } }, []] };
      expect(
        await shownOf(
          declared,
          ['configuration.0.lan.mtu'],
          { lan: {} },
          { lan: { mtu: 1400 } },
          { lan: {} },
        ),
      ).toEqual([{ lan: { mtu: 1400 } }, { lan: {} }]);
    });
  });

  it('shows of what is gone what was declared, and of what nothing manages what can be written', async () => {
    const records = [
      record(60, {}, undefined, {
        action: 'delete',
        before: { id: '12', name: 'Field', is_disabled: false },
        after: null,
      }),
      record(70, { id: '13', name: 'New' }, undefined, {
        object_id: '13',
        action: 'create',
        before: null,
      }),
    ];
    const { told } = await attribute(
      answering(records).witnesses,
      [subject(gone), { ...stranger, id: '13' }],
      0,
    );
    expect(told.map(({ changed_by }) => changed_by)).toMatchObject([
      { before: { name: 'Field' }, after: null },
      { before: null, after: { name: 'New' } },
    ]);
    expect(JSON.stringify(told)).not.toContain('is_disabled');
  });

  it('asks nothing about what the log does not know, and gives the window', async () => {
    const { asked, witnesses } = answering([]);
    const rule = subject({
      kind: kindOf('alert_rules'),
      id: 'r-1',
      live: live('alert_rules', 'r-1', { updated_at: '2026-01-10T12:30:00+00:00' }),
    });
    const { told, diagnostics } = await attribute(
      witnesses,
      [
        rule,
        { ...rule, what: 'gone' },
        subject({ kind: kindOf('alert_rules'), prior: undefined as never }),
      ],
      0,
    );
    expect(asked).toEqual([]);
    expect(diagnostics).toEqual([
      {
        severity: 'info',
        code: 'unlogged',
        summary:
          'The activity log has no type for alert_rules, so who changed them is not looked up.',
      },
    ]);
    const { diagnostics: none } = await attribute(witnesses, [{ ...rule, what: 'unmanaged' }], 0);
    expect(none).toEqual([]);
    expect(told).toEqual([
      { changed_by: 'unknown', window: { after: APPLIED, before: '2026-01-10T12:30:00.000Z' } },
      { changed_by: 'unknown', window: { after: APPLIED, before: new Date(NOW).toISOString() } },
      { changed_by: 'unknown', window: { after: null, before: new Date(NOW).toISOString() } },
    ]);
  });

  it('believes no time of an update that was before the apply', async () => {
    const rule = subject({
      kind: kindOf('alert_rules'),
      live: live('alert_rules', 'r-1', { updated_at: after(-3000) }),
    });
    expect((await attribute(answering([]).witnesses, [rule], 0)).told[0]?.window.before).toBe(
      new Date(NOW).toISOString(),
    );
  });

  const refusal = (code: string, exit?: 1 | 130): Refusal =>
    new Refusal([{ severity: 'error', code, summary: 'activity_logs cannot be read: 403' }], exit);

  it('goes on without authors where the log cannot be read, and says so', async () => {
    const { told, diagnostics } = await attribute(
      answering(refusal('rejected')).witnesses,
      [subject(), stranger],
      0,
    );
    expect(told.map(({ changed_by }) => changed_by)).toEqual(['unknown', 'unknown']);
    expect(diagnostics).toEqual([
      {
        severity: 'warning',
        code: 'rejected',
        summary:
          'Who changed it is not known, because the activity log could not be read. activity_logs cannot be read: 403',
      },
    ]);
  });

  it('is quiet about keys that only the authors of what is unmanaged would need', async () => {
    expect(
      (await attribute(answering(refusal('secret-missing')).witnesses, [stranger], 0)).diagnostics,
    ).toEqual([]);
    expect(
      (await attribute(answering(refusal('secret-missing')).witnesses, [stranger, subject()], 0))
        .diagnostics,
    ).toHaveLength(1);
    expect(
      (await attribute(answering(refusal('rejected')).witnesses, [stranger], 0)).diagnostics,
    ).toHaveLength(1);
  });

  it('ends with the run, and hides no bug', async () => {
    await expect(
      attribute(answering(refusal('interrupted', exits.interrupted)).witnesses, [subject()], 0),
    ).rejects.toThrow(Refusal);
    await expect(
      attribute(answering(new TypeError('a bug')).witnesses, [subject()], 0),
    ).rejects.toThrow(TypeError);
  });
});
