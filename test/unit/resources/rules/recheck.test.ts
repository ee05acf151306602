// What others do between the plan and a guarded write, or while it is carried out: nobody loses the last administrator
// by it, and no account is deleted that holds something by then.
import { describe, expect, it } from 'vitest';
import { parseFault, dummyCredentials, type Estate } from '../../../../src/emulator/index.js';
import type { Declaration, JsonObject, Project } from '../../../../src/model/index.js';
import { declare } from '../../../support/planning.js';
import { desire, rig, type Rig } from '../../../support/rig.js';

const always: readonly string[] = [
  'first-run',
  'max-changed',
  'max-deletes',
  'privilege-escalation',
  'all-removed',
];

/** Accounts `1` > `2` > `3`, and `4` below `1`; `holders` as `id account`, all administrators. */
const estate = (
  ...administrators: readonly (readonly [id: string, account: string])[]
): Estate => ({
  version: 1,
  root: '1',
  next_id: 50,
  records: {
    accounts: [
      { id: '1', name: 'A1', account: null },
      { id: '2', name: 'A2', account: '1' },
      { id: '3', name: 'A3', account: '2' },
      { id: '4', name: 'A4', account: '1' },
    ],
    account_authorizations: administrators.map(([id, account]) => ({
      id,
      user: `7${id}`,
      account,
      role: 'administrator',
    })),
    alert_rules: [],
  },
});

type Hand = (cloud: Rig) => Promise<unknown>;

async function ask(cloud: Rig, method: string, path: string, body?: object): Promise<void> {
  const v3 = path.startsWith('/api/v3');
  const type = v3 ? 'application/vnd.api+json' : 'application/json';
  const keys = v3
    ? { authorization: `Bearer ${Object.keys(dummyCredentials.v3)[1]}` }
    : { ...dummyCredentials.v2[1] };
  const answer = await cloud.emulator.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: { ...keys, accept: type, 'content-type': type },
      ...(body && { body: JSON.stringify(body) }),
    }),
  );
  expect([path, answer.status]).toEqual([path, 200]);
}
const role =
  (id: string, to: string): Hand =>
  (cloud) =>
    ask(cloud, 'PUT', `/api/v3/beta/account_authorizations/${id}`, {
      data: { type: 'account_authorizations', id, attributes: { role: to } },
    });
const move =
  (id: string, account: string): Hand =>
  (cloud) =>
    ask(cloud, 'PUT', `/api/v2/accounts/${id}/`, { name: `A${id}`, account });
const nothing: Hand = () => Promise.resolve();

interface Told {
  readonly outcome: string | undefined;
  readonly code: string | undefined;
  readonly summary: string;
  readonly detail: string | undefined;
  readonly exit: number;
  /** `METHOD path` of what the run sent or read once the plan was approved, in order. */
  readonly asked: readonly string[];
  readonly cloud: Rig;
}

interface Meanwhile {
  /** Between the plan and the first write. */
  readonly before?: Hand;
  /** When the first write arrives, before it is carried out. */
  readonly during?: Hand;
  readonly allow?: readonly string[];
  /** Applied first, so that the state holds it. */
  readonly applied?: Project;
  /** Statuses of writes, in order; others are carried out. */
  readonly answers?: readonly (number | undefined)[];
}

async function run(
  data: Estate,
  project: Project,
  { before = nothing, during = nothing, allow = [], applied, answers = [] }: Meanwhile,
): Promise<Told> {
  let [approved, written] = [false, 0];
  const asked: string[] = [];
  const cloud: Rig = rig({
    estate: data,
    intercept: async ({ method, path }, proceed) => {
      if (approved) asked.push(`${method} ${path}`);
      if (method === 'GET') return proceed();
      written += 1;
      if (written === 1) await during(cloud);
      const status = answers[written - 1];
      return status === undefined
        ? proceed()
        : {
            status,
            headers: { 'content-type': 'application/json' },
            body: '{"errors":[{"detail":"no"}]}',
          };
    },
  });
  if (applied) await cloud.apply(applied, { allow: always, approve: async () => true });
  const approve = async (): Promise<boolean> => {
    await before(cloud);
    return (approved = true);
  };
  const { outcomes, exit } = await cloud.apply(project, { allow: [...always, ...allow], approve });
  const [first] = outcomes.filter(({ action }) => action !== 'keep');
  return {
    outcome: first?.outcome,
    code: first?.diagnostic?.code,
    summary: first?.diagnostic?.summary ?? '',
    detail: first?.diagnostic?.detail,
    exit,
    asked,
    cloud,
  };
}

const demoted = (id: string, account: string): Declaration =>
  declare(`account_authorizations.u${id}`, { user: `7${id}`, account, role: 'read_only_user' });
const roleOf = (cloud: Rig, id: string): unknown =>
  cloud.objects('account_authorizations').find((one) => one['id'] === id)?.['role'];

describe('a demotion', () => {
  const [two, project] = [estate(['900', '2'], ['901', '2']), desire(demoted('900', '2'))];

  it('is carried out where the other administrator remains, after one look before it and one behind it', async () => {
    const { outcome, asked, cloud } = await run(two, project, {});
    expect([outcome, roleOf(cloud, '900')]).toEqual(['done', 'read_only_user']);
    const one = (id: string): string => `/api/v3/beta/account_authorizations/${id}`;
    // The last reading is the proof of what was written.
    expect(asked).toEqual([
      `GET ${one('900')}`,
      `GET ${one('901')}`,
      `PUT ${one('900')}`,
      `GET ${one('901')}`,
      `GET ${one('900')}`,
    ]);
  });

  it('is not sent where the other administrator was demoted meanwhile', async () => {
    const { outcome, code, exit, cloud } = await run(two, project, {
      before: role('901', 'read_only_user'),
    });
    expect([outcome, code, exit, cloud.mutations().filter((one) => one.endsWith('/900'))]).toEqual([
      'failed',
      'last-administrator',
      1,
      [],
    ]);
    expect((await cloud.snapshot())?.pending ?? []).toEqual([]);
  });

  it('is taken back where the other administrator is demoted at the same moment', async () => {
    const { outcome, code, summary, exit, cloud } = await run(two, project, {
      during: role('901', 'read_only_user'),
    });
    expect([outcome, code, exit, roleOf(cloud, '900')]).toEqual([
      'failed',
      'last-administrator',
      1,
      'administrator',
    ]);
    expect(summary).toBe(
      'account_authorizations.u900 was updated, and account 2 had no administrator afterwards: the role administrator was put back.',
    );
    expect((await cloud.snapshot())?.pending).toEqual([]);
    expect(await cloud.plan(project, { allow: always })).toMatchObject({ exit: 3 });
  });

  it('is taken back although a reading shows the role before it for a while', async () => {
    const { summary, cloud } = await run(two, project, {
      during: async (self) => {
        await role('901', 'read_only_user')(self);
        self.emulator.setFaults([parseFault('stale=5000,method=PUT,path=/900')]);
      },
    });
    await cloud.clock.sleep(60_000);
    expect(summary).toContain('the role administrator was put back');
    expect(roleOf(cloud, '900')).toBe('administrator');
  });

  it.each(['before', 'during'] as const)(
    'that somebody else made meanwhile is not taken back: the other one is demoted %s it',
    async (when) => {
      const { cloud } = await run(two, project, {
        before: async (self) => {
          await role('900', 'read_only_user')(self);
          if (when === 'before') await role('901', 'read_only_user')(self);
        },
        ...(when === 'during' && { during: role('901', 'read_only_user') }),
      });
      expect([roleOf(cloud, '900'), roleOf(cloud, '901')]).toEqual([
        'read_only_user',
        'read_only_user',
      ]);
    },
  );

  it('says what to do where it cannot be taken back', async () => {
    const { outcome, code, summary, exit, cloud } = await run(two, project, {
      during: role('901', 'read_only_user'),
      answers: [undefined, 403],
    });
    expect([outcome, code, exit, roleOf(cloud, '900')]).toEqual([
      'failed',
      'last-administrator',
      7,
      'read_only_user',
    ]);
    expect(summary).toContain('the role could not be put back: ');
  });

  it('stands where somebody else administers the account by then', async () => {
    const three = estate(['900', '2'], ['901', '2'], ['902', '1']);
    const { outcome, cloud } = await run(three, project, { during: role('901', 'read_only_user') });
    expect([outcome, roleOf(cloud, '900')]).toEqual(['done', 'read_only_user']);
  });

  it('is neither looked at nor taken back where that is allowed', async () => {
    const { outcome, asked, cloud } = await run(two, project, {
      during: role('901', 'read_only_user'),
      allow: ['last-administrator'],
    });
    const one = '/api/v3/beta/account_authorizations/900';
    expect([outcome, roleOf(cloud, '900'), asked.slice(0, 2)]).toEqual([
      'done',
      'read_only_user',
      [`GET ${one}`, `PUT ${one}`],
    ]);
  });

  it('rests on the way up to an administrator of an account above', async () => {
    const above = estate(['900', '3'], ['901', '1']);
    expect(await run(above, desire(demoted('900', '3')), {})).toMatchObject({ outcome: 'done' });
    const elsewhere: Estate = {
      ...above,
      records: {
        ...above.records,
        accounts: [...(above.records['accounts'] ?? []), { id: '5', name: 'A5', account: null }],
      },
    };
    expect(
      await run(elsewhere, desire(demoted('900', '3')), { before: move('2', '5') }),
    ).toMatchObject({ outcome: 'failed', code: 'last-administrator' });
    expect(
      await run(elsewhere, desire(demoted('900', '3')), { before: move('3', '4') }),
    ).toMatchObject({ outcome: 'failed', code: 'last-administrator' });
  });

  it('fails closed where nobody can look, before it; behind it, that is said', async () => {
    const blind = async (turn: number): Promise<readonly unknown[]> => {
      let looks = 0;
      const cloud = rig({
        estate: two,
        intercept: ({ method, path }, proceed) =>
          method === 'GET' && path.endsWith('authorizations/901') && (looks += 1) === turn
            ? Promise.resolve({ status: 403, headers: {}, body: '' })
            : proceed(),
      });
      const { outcomes } = await cloud.apply(project, { allow: always });
      return [
        outcomes[0]?.outcome,
        roleOf(cloud, '900'),
        cloud.events.flatMap((event) =>
          event.type === 'diagnostic' ? [event.diagnostic.code] : [],
        ),
      ];
    };
    expect(await blind(1)).toEqual(['failed', 'administrator', []]);
    expect(await blind(2)).toEqual(['done', 'read_only_user', ['unverified']]);
  });
});

describe('a move', () => {
  const [data, project] = [
    estate(['900', '1'], ['901', '4']),
    desire(declare('accounts.a3', { name: 'A3', account: '4' }, { adopt: '3' })),
  ];

  it('rests on an administrator of the new place', async () => {
    expect(await run(data, project, {})).toMatchObject({ outcome: 'done' });
    const outside: Estate = {
      ...data,
      records: {
        ...data.records,
        accounts: (data.records['accounts'] ?? []).map((one) =>
          one.id === '4' ? { ...one, account: null } : one,
        ),
      },
    };
    expect(await run(outside, project, { before: role('901', 'read_only_user') })).toMatchObject({
      outcome: 'failed',
      code: 'last-administrator',
    });
    const lost = await run(outside, project, { during: role('901', 'read_only_user') });
    expect(lost).toMatchObject({ outcome: 'failed', code: 'last-administrator' });
    expect(lost.summary).toBe(
      'accounts.a3 was moved, and account 3 had no administrator afterwards: nothing was put back.',
    );
  });
});

describe('the delete of a user', () => {
  const two = estate(['900', '2'], ['901', '2']);
  const data: Estate = {
    ...two,
    records: { ...two.records, users: [{ id: '7900', email: 'a@example.com', username: 'a' }] },
  };
  const applied = desire(
    declare('users.ada', { email: 'a@example.com' }),
    declare('accounts.a2', { name: 'A2', account: '1' }),
  );
  const project = desire(declare('accounts.a2', { name: 'A2', account: '1' }));

  it('rests on another administrator of each account', async () => {
    expect(await run(data, project, { applied })).toMatchObject({ outcome: 'done' });
    expect(
      await run(data, project, { applied, before: role('901', 'read_only_user') }),
    ).toMatchObject({ outcome: 'failed', code: 'last-administrator' });
  });
});

describe('the deactivation of a user', () => {
  const two = estate(['900', '2'], ['901', '2']);
  const person = (id: string): JsonObject => ({
    id,
    email: `${id}@example.com`,
    user_id: id,
    is_active: true,
  });
  const data: Estate = {
    ...two,
    records: { ...two.records, users: [person('7900'), person('7901')] },
  };
  const project = desire(declare('users.ada', { email: '7900@example.com', is_active: false }));
  const deactivated: Hand = (cloud) =>
    ask(cloud, 'PUT', '/api/v3/beta/users/7901', {
      data: {
        type: 'users',
        id: '7901',
        attributes: { email: '7901@example.com', user_id: '7901', is_active: false },
      },
    });

  it('rests on another active administrator of each account', async () => {
    expect(await run(data, project, {})).toMatchObject({ outcome: 'done' });
    const blocked = { outcome: 'failed', code: 'last-administrator' };
    expect(await run(data, project, { before: role('901', 'read_only_user') })).toMatchObject(
      blocked,
    );
    expect(await run(data, project, { before: deactivated })).toMatchObject(blocked);
  });

  it('of the one who remains ends a demotion, too', async () => {
    const eve = declare('users.eve', { email: '7901@example.com' });
    const [applied, demotion] = [desire(eve), desire(demoted('900', '2'), eve)];
    const first = await run(data, demotion, { applied, before: deactivated });
    expect(first).toMatchObject({ outcome: 'failed', code: 'last-administrator' });
    expect(roleOf(first.cloud, '900')).toBe('administrator');
    const second = await run(data, demotion, { applied, during: deactivated });
    expect(second).toMatchObject({ outcome: 'failed', code: 'last-administrator' });
    expect(roleOf(second.cloud, '900')).toBe('administrator');
  });
});

describe('a deletion', () => {
  const create =
    (collection: string, body: object): Hand =>
    (cloud) =>
      ask(cloud, 'POST', `/api/v2/${collection}/`, body);
  const rules = { filter_criteria: { alert_type__in: ['login_success'] } };

  it.each<[string, Hand, string]>([
    [
      'an account below it',
      create('accounts', { name: 'New', account: '4' }),
      'holds the account 50 now',
    ],
    [
      'a rule for it',
      create('alert_rules', { ...rules, associated_accounts: [4] }),
      'holds the alert rule',
    ],
  ])('is not sent where there is %s by then', async (_, before, said) => {
    const cloud = rig({ estate: estate(['900', '1']) });
    await cloud.apply(desire(declare('accounts.a4', { name: 'A4' }, { adopt: '4' })), {
      allow: always,
    });
    const approve = async (): Promise<boolean> => before(cloud).then(() => true);
    const { outcomes, exit } = await cloud.apply(desire(), { allow: always, approve });
    expect([outcomes[0]?.outcome, outcomes[0]?.diagnostic?.code, exit]).toEqual([
      'failed',
      'account-in-use',
      1,
    ]);
    expect(outcomes[0]?.diagnostic?.summary).toContain(said);
    expect(cloud.mutations().filter((one) => one.startsWith('DELETE'))).toEqual([]);
  });

  it('of a group is not sent where it holds a router or a rule by then', async () => {
    const base = estate(['900', '1']);
    const data: Estate = {
      ...base,
      records: {
        ...base.records,
        groups: [{ id: '40', name: 'Stores', account: '1' }],
        routers: [{ id: '12', name: 'a', mac: '003044ab0001', account: '1', group: null }],
      },
    };
    const router = declare('routers.a', { mac: '003044ab0001' });
    const stores = declare('groups.g', { name: 'Stores', account: '1' });
    const joins: Hand = (cloud) =>
      ask(cloud, 'PATCH', '/api/v2/routers/12/', { group: '/api/v2/groups/40/' });
    const named = create('alert_rules', { ...rules, associated_groups: [40] });
    for (const [before, said] of [
      [joins, 'groups.g (group 40) holds the router 12 now'],
      [named, 'groups.g (group 40) holds the alert rule'],
    ] as const) {
      const applied = desire(router, stores);
      const { outcome, code, summary, cloud } = await run(data, desire(router), {
        applied,
        before,
      });
      expect([outcome, code]).toEqual(['failed', 'group-in-use']);
      expect(summary).toContain(said);
      expect(cloud.objects('groups')).toHaveLength(1);
    }
  });

  it('that the service refuses is told with what names the object by then', async () => {
    const base = estate(['900', '1']);
    const data: Estate = {
      ...base,
      records: {
        ...base.records,
        alert_push_destinations: [
          {
            destination_config_id: 'd1',
            name: 'D',
            enabled: true,
            endpoint: { url: 'https://hooks.example.com/' },
          },
        ],
      },
    };
    const applied = desire(
      declare('alert_push_destinations.d', {
        name: 'D',
        enabled: true,
        endpoint: { url: 'https://hooks.example.com/' },
      }),
    );
    const before = create('alert_rules', {
      ...rules,
      associated_accounts: [4],
      http_destinations: ['d1'],
    });
    const { outcome, code, detail } = await run(data, desire(), {
      applied,
      before,
      allow: ['rule-without-destination'],
    });
    expect([outcome, code]).toEqual(['failed', 'rejected']);
    expect(detail).toMatch(/^Declare unmanaged alert_rules .* with another destination/);
    const unread = await run(data, desire(), { applied, answers: [409] });
    expect([unread.outcome, unread.code, unread.detail]).toEqual(['failed', 'rejected', undefined]);
  });

  it('goes on where what it held was deleted just now, though a listing still shows it', async () => {
    const cloud = rig({ estate: estate(['900', '1']) });
    const [parent, child] = [
      declare('accounts.a4', { name: 'A4' }, { adopt: '4' }),
      declare('accounts.a3', { name: 'A3', account: '2' }, { adopt: '3' }),
    ];
    await cloud.apply(
      desire(parent, child, declare('accounts.a2', { name: 'A2' }, { adopt: '2' })),
      { allow: always },
    );
    cloud.emulator.setFaults([{ name: 'stale', value: 20_000, method: 'DELETE' }]);
    const { outcomes, exit } = await cloud.apply(desire(), { allow: always });
    expect([exit, outcomes.map(({ outcome }) => outcome)]).toEqual([0, ['done', 'done', 'done']]);
    expect(cloud.objects('accounts').map(({ id }) => id)).toEqual(['1']);
  });
});
