// The audit against the emulator: what other hands did, what nobody manages, what is ill, and what the log costs.
import { describe, expect, it } from 'vitest';
import {
  dummyCredentials,
  parseFault,
  type Estate,
  type V2Key,
} from '../../../src/emulator/index.js';
import { Reference, Secret, SENSITIVE, type Declaration } from '../../../src/model/index.js';
import { theirs as theirEstate } from '../../support/estate.js';
import { changedBy, driftMeaning } from '../../../src/report/words.js';
import { declare } from '../../support/planning.js';
import { desire, rig, type Rig } from '../../support/rig.js';

const [ours, theirs] = dummyCredentials.v2 as readonly [V2Key, V2Key];
const to = (target: string, attribute: string): Reference =>
  new Reference('declared', target, attribute);

async function hand(
  cloud: Rig,
  method: string,
  path: string,
  body?: unknown,
  headers: object = theirs,
): Promise<string> {
  const type = path.startsWith('/api/v3') ? 'application/vnd.api+json' : 'application/json';
  const answer = await cloud.emulator.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: { ...headers, accept: type, 'content-type': type },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  expect([method, path, answer.ok]).toEqual([method, path, true]);
  return await answer.text();
}

const idOf = async (cloud: Rig, address: string): Promise<string> =>
  String((await cloud.snapshot())?.state.resources[address]?.id);
const looks = (cloud: Rig): number =>
  cloud.emulator.requests.filter(({ path }) => path === '/api/v2/activity_logs/').length;
const accounts = (...names: readonly string[]): readonly Declaration[] =>
  names.map((name) => declare(`accounts.${name}`, { name }));

async function applied(
  cloud: Rig,
  ...declarations: readonly Declaration[]
): Promise<ReturnType<typeof desire>> {
  const project = desire(...declarations);
  expect((await cloud.apply(project, { allow: ['first-run'] })).exit).toBe(0);
  await cloud.clock.sleep(600_000);
  return project;
}

const estate: Estate = {
  version: 1,
  root: '1',
  next_id: 100,
  users: [{ id: '77', email: 'dana@example.com' }],
  records: {
    accounts: [{ id: '1', name: 'Headquarters', account: null }],
    account_authorizations: [{ id: '100', user: '77', account: '1', role: 'read_only_user' }],
  },
};

describe('what the plan has no change for', () => {
  it('is told where it is gone or changed, although what it refers to is not decided', async () => {
    const cloud = rig();
    const kids = ['one', 'two', 'three'].map((name) =>
      declare(`accounts.${name}`, { name, account: to('accounts.depot', 'id') }),
    );
    await applied(cloud, declare('accounts.depot', { name: 'Depot' }), ...kids);
    const other = (await hand(cloud, 'POST', '/api/v2/accounts/', { name: 'Other' })).match(
      /"id":\s*"?(\d+)/,
    )![1]!;
    await hand(cloud, 'DELETE', `/api/v2/accounts/${await idOf(cloud, 'accounts.one')}/`);
    const two = await idOf(cloud, 'accounts.two');
    await hand(cloud, 'PUT', `/api/v2/accounts/${two}/`, { name: 'Zwei' });
    const [one, ...rest] = kids;
    const project = desire(
      declare('accounts.depot', { name: 'Depot' }, { adopt: other }),
      { ...one!, address: 'accounts.uno', name: 'uno', lifecycle: { renamed_from: 'one' } },
      ...rest,
    );
    const audit = await cloud.drift(project);
    expect(audit.diagnostics.map(({ code }) => code)).toEqual(['adopt-bound', 'not-planned']);
    expect(audit.drift).toMatchObject([
      { address: 'accounts.two', status: 'changed', changes: [{ path: 'name', live: 'Zwei' }] },
      {
        address: 'accounts.uno',
        status: 'gone',
        since: expect.any(String) as string,
        changed_by: { actor: 'other-mgr-id' },
      },
    ]);
    expect(audit.in_sync).toEqual(['accounts.three']);
  });

  /** A cloud with one role, which is read as `roles` says: as it is, as another one, or not at all. */
  function withRole() {
    const roles: { role?: string; isGone?: true } = {};
    const cloud = rig({
      estate,
      intercept: async ({ path }, proceed) => {
        const answer = await proceed();
        if (!path.includes('account_authorizations')) return answer;
        if (roles.isGone && /\d$/.test(path)) return { ...answer, status: 404 };
        const body = answer.body.replace('read_only_user', roles.role ?? 'read_only_user');
        return { ...answer, body: roles.isGone ? '{"data":[],"links":{"next":null}}' : body };
      },
    });
    const role = { user: '77', account: '1', role: 'read_only_user' };
    return { cloud, roles, role };
  }

  it('is told of a role that is gone, and cannot be created', async () => {
    const { cloud, roles, role } = withRole();
    const project = await applied(cloud, declare('account_authorizations.dana', role));
    roles.isGone = true;
    const audit = await cloud.drift(project);
    expect([audit.exit, audit.drift]).toMatchObject([
      1,
      [{ address: 'account_authorizations.dana', status: 'gone', id: '100' }],
    ]);
  });

  it('is told of a changed object with a declaration that cannot be sent', async () => {
    const { cloud, roles, role } = withRole();
    await applied(cloud, declare('account_authorizations.dana', role));
    roles.role = 'full_access_user';
    const elsewhere = declare('account_authorizations.dana', { ...role, account: '9' });
    const audit = await cloud.drift(desire(elsewhere));
    expect(audit.diagnostics.map(({ code }) => code)).toEqual(['immutable']);
    const change = { path: 'role', declared: 'read_only_user', applied: 'read_only_user' };
    expect(audit.drift).toMatchObject([
      { status: 'changed', changes: [{ ...change, live: 'full_access_user' }] },
    ]);
  });
});

describe('who changed it', () => {
  it('names another key that changed one account and deleted the other, and asks for each by its id', async () => {
    const cloud = rig();
    const project = await applied(cloud, ...accounts('north', 'south'));
    const [north, south] = [
      await idOf(cloud, 'accounts.north'),
      await idOf(cloud, 'accounts.south'),
    ];
    await hand(cloud, 'PUT', `/api/v2/accounts/${north}/`, { name: 'Nord' });
    await hand(cloud, 'DELETE', `/api/v2/accounts/${south}/`);
    const audit = await cloud.drift(project);
    const by = { actor: 'other-mgr-id', actor_type: 'api_key' };
    expect(audit.exit).toBe(2);
    expect(audit.drift).toMatchObject([
      {
        address: 'accounts.north',
        status: 'changed',
        changed_by: { ...by, action: 'update', before: { name: 'north' }, after: { name: 'Nord' } },
      },
      {
        address: 'accounts.south',
        status: 'gone',
        changed_by: { ...by, action: 'delete', before: { name: 'south' }, after: null },
      },
    ]);
    expect(audit.diagnostics).toEqual([]);
  });

  it('calls an adopted object that is deleted or replaced gone or replaced, whatever lifecycle.adopt says', async () => {
    const cloud = rig({
      estate: {
        ...estate,
        records: {
          account_authorizations: [],
          accounts: [
            { id: '1', name: 'Headquarters', account: null },
            { id: '2', name: 'Depot', account: '1' },
          ],
        },
      },
    });
    const project = await applied(
      cloud,
      declare('accounts.depot', { name: 'Depot' }, { adopt: '2' }),
    );
    await hand(cloud, 'DELETE', '/api/v2/accounts/2/');
    await cloud.clock.sleep(60_000);
    expect((await cloud.drift(project)).drift).toMatchObject([{ id: '2', status: 'gone' }]);
    await hand(cloud, 'POST', '/api/v2/accounts/', { name: 'Depot' });
    expect((await cloud.drift(project)).drift).toMatchObject([{ status: 'replaced' }]);
    expect((await cloud.apply(project)).exit).toBe(0);
    expect((await cloud.plan(project)).exit).toBe(0);
  });

  it('takes one object by its id, and our own key for another program when it comes again', async () => {
    const cloud = rig({
      estate: {
        ...estate,
        records: {
          account_authorizations: [],
          accounts: [{ id: '1', name: 'Headquarters', account: null }],
        },
      },
    });
    const project = await applied(
      cloud,
      declare('accounts.hq', { name: 'Headquarters' }, { adopt: '1' }),
    );
    expect((await cloud.drift(project)).drift).toEqual([]);
    expect(looks(cloud)).toBe(0);
    await hand(cloud, 'PUT', '/api/v2/accounts/1/', { name: 'Main' }, ours);
    expect((await cloud.drift(project)).drift[0]?.changed_by).toMatchObject({
      actor: 'emulator-mgr-id',
      actor_type: 'api_key',
      after: { name: 'Main' },
    });
    expect(
      cloud.emulator.requests
        .filter(({ path }) => path === '/api/v2/activity_logs/')
        .map(({ query }) => new URLSearchParams(query).get('object__id')),
    ).toEqual(['1']);
  });

  it('is told by neither a role of our own nor an account of the same number', async () => {
    const cloud = rig({ estate });
    const role = declare('account_authorizations.dana', {
      user: '77',
      account: '1',
      role: 'no_access',
    });
    const project = await applied(cloud, role, ...accounts('field'));
    expect(await idOf(cloud, 'accounts.field')).toBe('100');
    await hand(cloud, 'PUT', '/api/v2/accounts/100/', { is_disabled: true });
    const data = {
      type: 'account_authorizations',
      id: '100',
      attributes: { role: 'administrator' },
    };
    await hand(
      cloud,
      'PUT',
      '/api/v3/beta/account_authorizations/100',
      { data },
      { authorization: 'Bearer other-token' },
    );
    expect((await cloud.drift(project)).drift).toMatchObject([
      {
        address: 'account_authorizations.dana',
        changed_by: {
          actor: 'somebody.else@example.com',
          actor_type: 'sso_user',
          before: { role: 'no_access' },
          after: { role: 'administrator' },
        },
      },
    ]);
  });

  it('is unknown for a rule, with the window, and costs nothing', async () => {
    const cloud = rig();
    const rule = declare('alert_rules.down', {
      associated_accounts: [to('accounts.field', 'id')],
      schedule: 'daily',
    });
    const project = await applied(
      cloud,
      rule,
      declare('accounts.field', { name: 'Headquarters' }, { adopt: '1' }),
    );
    const { applied_at = '' } = (await cloud.snapshot())?.state.resources['alert_rules.down'] ?? {};
    await hand(cloud, 'PATCH', `/api/v2/alert_rules/${await idOf(cloud, 'alert_rules.down')}/`, {
      schedule: null,
    });
    const changed = new Date(cloud.clock.now()).toISOString();
    await cloud.clock.sleep(60_000);
    expect((await cloud.drift(project)).drift).toMatchObject([
      { changed_by: 'unknown', window: { after: applied_at, before: changed } },
    ]);
    expect(looks(cloud)).toBe(0);
  });

  it('is named for a configuration, of which only what changed is shown, and no password', async () => {
    const seed = {
      id: '7',
      router: '12',
      account: '1',
      configuration: [{ system: { system_id: 'depot' }, wan: { mtu: 1400 } }, []],
    };
    const cloud = rig({
      estate: {
        ...estate,
        records: {
          accounts: [{ id: '1', name: 'Headquarters', account: null }],
          configuration_managers: [seed],
        },
      },
    });
    const project = await applied(
      cloud,
      declare(
        'configuration_managers.depot',
        { router: '12', configuration: [{ wan: { mtu: 1500 } }, []] },
        { adopt: '7' },
      ),
    );
    await hand(cloud, 'PUT', '/api/v2/configuration_managers/7/', {
      configuration: [
        { wan: { mtu: 9000 }, system: { users: { admin: { password: 'canary' } } } },
        [],
      ],
    });
    const audit = await cloud.drift(project);
    expect(audit.drift).toMatchObject([
      {
        address: 'configuration_managers.depot',
        changed_by: {
          actor: 'other-mgr-id',
          action: 'update',
          before: { configuration: [{ wan: { mtu: 1500 } }] },
          after: { configuration: [{ wan: { mtu: 9000 } }] },
        },
      },
    ]);
    expect(JSON.stringify(audit)).not.toContain('canary');
  });

  it('is nobody where the declaration changed', async () => {
    const cloud = rig();
    await applied(cloud, ...accounts('north'));
    const id = await idOf(cloud, 'accounts.north');
    await hand(cloud, 'PUT', `/api/v2/accounts/${id}/`, { is_disabled: true });
    const [record] = (await cloud.drift(desire(declare('accounts.north', { name: 'Nord' })))).drift;
    expect(record).toMatchObject({
      status: 'changed',
      changed_by: 'unknown',
      window: { before: null },
    });
  });

  it('is not known where the log fails: nothing else is', async () => {
    for (const fault of [
      'status=500,path=activity_logs',
      'status=403,path=activity_logs',
      'html,path=activity_logs',
    ]) {
      const cloud = rig({ faults: [parseFault(fault)] });
      const project = await applied(cloud, ...accounts('north'));
      await hand(cloud, 'PUT', `/api/v2/accounts/${await idOf(cloud, 'accounts.north')}/`, {
        name: 'Nord',
      });
      const audit = await cloud.drift(project);
      expect([fault, audit.exit, audit.drift.length, audit.drift[0]?.changed_by]).toEqual([
        fault,
        2,
        1,
        'unknown',
      ]);
      expect(audit.diagnostics.map(({ severity }) => severity)).toEqual(['warning']);
      expect(audit.diagnostics[0]?.summary).toMatch(
        /^Who changed it is not known, because the activity log could not be read/,
      );
    }
  });

  it('costs one reading of the log for very many objects', { timeout: 60_000 }, async () => {
    const names = Array.from({ length: 500 }, (_, index) => `site-${index}`);
    const cloud = rig({ requestsPerMinute: 0 });
    const project = await applied(cloud, ...accounts(...names));
    const records = cloud.objects('accounts').filter(({ id }) => id !== '1');
    for (const { id } of records)
      await hand(cloud, 'PUT', `/api/v2/accounts/${String(id)}/`, { name: `moved ${String(id)}` });
    const audit = await cloud.drift(project);
    expect(
      audit.drift.filter(
        ({ changed_by }) => changed_by !== 'unknown' && changed_by.actor === 'other-mgr-id',
      ),
    ).toHaveLength(500);
    const logged = cloud.emulator.snapshot().activity_logs?.length ?? 0;
    expect(logged).toBe(1000);
    expect(looks(cloud)).toBeLessThanOrEqual(1 + Math.ceil(logged / 500));
  });
});

describe('what nothing manages', () => {
  it('is listed with who made it, and changes no exit code', async () => {
    const cloud = rig({ estate });
    const project = await applied(
      cloud,
      declare('account_authorizations.dana', { user: '77', account: '1', role: 'read_only_user' }),
      ...accounts('north'),
    );
    await hand(cloud, 'POST', '/api/v2/accounts/', {
      name: 'Trial',
      account: '/api/v2/accounts/1/',
    });
    const audit = await cloud.drift(project);
    expect([
      audit.exit,
      audit.unmanaged['accounts'],
      audit.unmanaged['account_authorizations'],
    ]).toEqual([0, 2, 0]);
    expect(audit.unmanaged_objects).toMatchObject([
      {
        kind: 'accounts',
        id: '1',
        label: 'Headquarters',
        changed_by: 'unknown',
        window: { after: null },
      },
      {
        kind: 'accounts',
        id: '101',
        label: 'Trial',
        changed_by: {
          actor: 'other-mgr-id',
          action: 'create',
          before: null,
          after: { name: 'Trial', account: '1' },
        },
      },
    ]);
  });

  it('costs no more of the log than since the oldest apply where nothing drifted', async () => {
    const records = {
      accounts: ['1', '2', '3', '4'].map((id) => ({
        id,
        name: `Site ${id}`,
        account: id === '1' ? null : '1',
      })),
    };
    const cloud = rig({ estate: { ...estate, records } });
    const project = await applied(
      cloud,
      declare('accounts.hq', { name: 'Site 1' }, { adopt: '1' }),
    );
    const { applied_at = '' } = (await cloud.snapshot())?.state.resources['accounts.hq'] ?? {};
    expect((await cloud.drift(project)).unmanaged_objects).toHaveLength(3);
    const [look, ...more] = cloud.emulator.requests.filter(
      ({ path }) => path === '/api/v2/activity_logs/',
    );
    expect(more).toEqual([]);
    const since = Date.parse(new URLSearchParams(look?.query).get('action__timestamp__gte') ?? '');
    expect(Date.parse(applied_at) - since).toBeLessThanOrEqual(7 * 60_000);
  });

  it('is recognised by what identifies it where it has no name', async () => {
    const cloud = rig({
      estate: {
        ...estate,
        records: { ...estate.records, alert_rules: [{ alert_config_id: 'r-1' }] },
      },
    });
    const other = { id: '901', user: '78', account: '1', role: 'administrator' };
    const grown = rig({
      estate: {
        ...estate,
        records: {
          ...estate.records,
          account_authorizations: [...(estate.records['account_authorizations'] ?? []), other],
        },
      },
    });
    const dana = declare('account_authorizations.dana', {
      user: '77',
      account: '1',
      role: 'read_only_user',
    });
    expect((await grown.drift(desire(dana))).unmanaged_objects.map(({ label }) => label)).toEqual([
      'user 78 on account 1',
    ]);
    const rule = declare('alert_rules.x', { schedule: 'daily' });
    expect(
      (await cloud.drift(desire(rule))).unmanaged_objects.map(({ id, label }) => [id, label]),
    ).toEqual([['r-1', 'no account: no alert type → nobody']]);
  });
});

it('reports what is ill, by its address where it has one, and is no drift', async () => {
  const cloud = rig({
    estate: {
      ...estate,
      records: {
        accounts: [{ id: '1', name: 'Headquarters', account: null }],
        alert_push_destinations: [
          {
            destination_config_id: 'd-1',
            name: 'Pager',
            endpoint: { url: 'https://a.example.com' },
            suspended: true,
            last_error_text: 'HTTP 410',
            last_error_at: '2026-01-01T00:00:00Z',
          },
        ],
        configuration_managers: [{ id: '7', router: '12', account: '1', synched: false }],
      },
    },
  });
  const audit = await cloud.drift(
    desire(
      declare('alert_push_destinations.pager', { name: 'Pager' }),
      declare('configuration_managers.depot', { router: '12' }),
    ),
  );
  expect(audit.exit).toBe(0);
  expect(audit.health).toMatchObject([
    {
      code: 'destination-suspended',
      address: 'alert_push_destinations.pager',
      id: 'd-1',
      detail: 'HTTP 410',
      at: '2026-01-01T00:00:00.000Z',
    },
    { code: 'out-of-sync', address: 'configuration_managers.depot', id: '7' },
  ]);
});

describe('the access review of an audit', () => {
  const tree: Estate = {
    ...estate,
    users: [
      { id: '77', email: 'dana@example.com' },
      { id: '78', email: 'lee@example.com' },
    ],
    records: {
      accounts: [
        { id: '1', name: 'Headquarters', account: null },
        { id: '2', name: 'North', account: '1' },
      ],
      account_authorizations: [
        { id: '100', user: '77', account: '1', role: 'administrator' },
        { id: '101', user: '78', account: '2', role: 'read_only_user' },
      ],
    },
  };
  const roles = desire(
    declare('account_authorizations.lee', { user: '78', account: '2', role: 'read_only_user' }),
  );
  const listings = (cloud: Rig): number =>
    cloud.emulator.requests.filter(({ path }) => path === '/api/v2/accounts/').length;

  it('reads the accounts where nothing else needed them, once', async () => {
    const cloud = rig({ estate: tree });
    const { access, diagnostics } = await cloud.drift(roles);
    expect(access).toMatchObject({
      accounts: [
        { id: '1', administrators: 1 },
        { id: '2', name: 'North', depth: 1, administrators: 1 },
      ],
      cells: [
        { user: '77', account: '1' },
        { user: '77', account: '2', inherited_from: '1' },
        { user: '78', account: '2', address: 'account_authorizations.lee' },
      ],
    });
    expect([diagnostics, listings(cloud)]).toEqual([[], 1]);
    const both = rig({ estate: tree });
    await both.drift(
      desire(...roles.declarations, declare('accounts.north', { name: 'North', account: '1' })),
    );
    expect(listings(both)).toBe(1);
    const neither = rig({ estate: tree });
    expect(
      (await neither.drift(desire(declare('alert_push_destinations.pager', { name: 'Pager' }))))
        .access,
    ).toBeNull();
    expect(listings(neither)).toBe(0);
  });

  it('says that it does not know the tree where accounts cannot be read, and the audit goes on', async () => {
    const forbidden = { status: 403, headers: { 'content-type': 'application/json' }, body: '{}' };
    const cloud = rig({
      estate: tree,
      intercept: async ({ path }, proceed) =>
        path === '/api/v2/accounts/' ? forbidden : proceed(),
    });
    const { access, diagnostics, exit } = await cloud.drift(roles);
    expect(exit).toBe(0);
    expect(access?.accounts.map(({ administrators }) => administrators)).toEqual([null, null]);
    expect(diagnostics).toMatchObject([
      {
        severity: 'warning',
        summary: expect.stringMatching(/no account tree.*accounts cannot be read/) as unknown,
      },
    ]);
  });
});

it('fails with an error of a plan that a policy rule blocks as well', async () => {
  const cloud = rig({ estate });
  const role = { user: '77', account: '1', role: 'full_access_user' };
  const project = desire(
    declare('account_authorizations.dana', role),
    declare('configuration_managers.r1', { router: '5', configuration: [{}, []] }),
  );
  const { plan, exit } = await cloud.plan(project);
  expect([exit, plan.verdicts.some(({ verdict }) => verdict === 'blocked')]).toEqual([3, true]);
  expect((await cloud.drift(project)).exit).toBe(1);
});

it('what others put into a configuration that was cleared was changed outside of trueup', async () => {
  const cloud = rig({ estate: theirEstate });
  const cleared = declare(
    'configuration_managers.gate',
    { router: '12', configuration: [{}, []] },
    { clear: true },
  );
  const project = await applied(cloud, cleared);
  const id = await idOf(cloud, cleared.address);
  await hand(cloud, 'PUT', `/api/v2/configuration_managers/${id}/`, {
    configuration: [{ system: { name: 'theirs' } }, []],
  });
  const [record] = (await cloud.drift(project)).drift;
  expect(changedBy(record!)).toMatch(/^updated by |^changed by: unknown/);
  const { plan } = await cloud.plan(project);
  expect(plan.changes[0]?.reason).toMatch(/changed outside of trueup$/);
});

describe('a secret that is not the one last sent', () => {
  const pager = (value: string | undefined) =>
    declare('alert_push_destinations.pager', {
      name: 'Pager',
      enabled: true,
      endpoint: { url: 'https://pager.example.com' },
      authentication: { secret: new Secret('env.PAGER', () => value) },
    });
  const gate = (value: string) =>
    declare('configuration_managers.gate', {
      router: '12',
      configuration: [{ wifi: { psk: new Secret('env.PSK', () => value) } }],
    });

  it('is drift of the declaration, without its value', async () => {
    const cloud = rig({ estate: theirEstate });
    await applied(cloud, pager('canary-1'), gate('canary-2'));
    const project = desire(pager('canary-3'), gate('canary-4'));
    expect((await cloud.plan(project)).exit).toBe(2);
    const audit = await cloud.drift(project);
    expect([audit.exit, audit.in_sync]).toEqual([2, []]);
    const shown = { declared: SENSITIVE, applied: SENSITIVE, live: SENSITIVE };
    expect(audit.drift.map(({ status, changes }) => ({ status, changes }))).toEqual([
      { status: 'changed', changes: [{ path: 'authentication.secret', ...shown }] },
      { status: 'changed', changes: [{ path: 'configuration.0.wifi.psk', ...shown }] },
    ]);
    expect(audit.drift.map(driftMeaning)).toEqual(
      Array(2).fill('a declared secret has not been sent'),
    );
    expect(audit.drift.map(changedBy)).toEqual(
      Array(2).fill(
        'the declared value is not the one sent last; whether somebody changed the live one, nobody can see',
      ),
    );
    expect(JSON.stringify(audit)).not.toContain('canary');
  });

  it('is told in a list, and not of a live object that has none', async () => {
    const cloud = rig({ estate: theirEstate });
    const both = (psk: string, password: string) =>
      declare('configuration_managers.gate', {
        router: '12',
        configuration: [
          {
            wifi: { name: 'w', psk: new Secret('env.PSK', () => psk) },
            users: [{ name: 'u', password: new Secret('env.USER', () => password) }],
          },
        ],
      });
    await applied(cloud, both('canary-1', 'canary-2'));
    const [inList] = (await cloud.drift(desire(both('canary-1', 'canary-3')))).drift;
    expect(inList?.changes.map(({ path }) => path)).toEqual(['configuration.0.users']);
    expect(changedBy(inList!)).toMatch(/^the declared value is not the one sent last; /);
    const id = await idOf(cloud, 'configuration_managers.gate');
    const users = [{ name: 'u', password: 'x' }];
    await hand(cloud, 'PUT', `/api/v2/configuration_managers/${id}/`, {
      configuration: [{ wifi: { name: 'w' }, users }, []],
    });
    const [gone] = (await cloud.drift(desire(both('canary-4', 'canary-2')))).drift;
    expect(gone?.changes).toEqual([
      {
        path: 'configuration.0.wifi.psk',
        declared: SENSITIVE,
        applied: SENSITIVE,
        live: null,
      },
    ]);
    expect(changedBy(gone!)).not.toContain('sent last');
    await hand(cloud, 'PUT', `/api/v2/configuration_managers/${id}/`, {
      configuration: [{ wifi: { name: 'w', psk: 'x' }, users: [{ ...users[0], name: 'v' }] }, []],
    });
    const [other] = (await cloud.drift(desire(both('canary-1', 'canary-5')))).drift;
    expect(other?.changes.map(({ path }) => path)).toEqual(['configuration.0.users']);
    expect(changedBy(other!)).not.toContain('sent last');
    expect(driftMeaning(other!)).toBe('the live object is not as declared');
  });

  it('is told beside what others changed of the object, and beside what else the project changed', async () => {
    const cloud = rig({ estate: theirEstate });
    const named = (value: string, name: string) => {
      const { values, ...more } = pager(value);
      return { ...more, values: { ...values, name } };
    };
    await applied(cloud, pager('canary-1'));
    const edited = await cloud.drift(desire(named('canary-2', 'Beeper')));
    const last =
      'the declared authentication.secret is not the one sent last; whether somebody changed the live one, nobody can see';
    expect(edited.drift.map(changedBy)).toEqual([
      `not changed outside of trueup: the declared values changed, or what they refer to; ${last}`,
    ]);
    const id = await idOf(cloud, 'alert_push_destinations.pager');
    await hand(cloud, 'PATCH', `/api/v2/alert_push_destinations/${id}/`, { enabled: false });
    const [record] = (await cloud.drift(desire(pager('canary-2')))).drift;
    expect(changedBy(record!)).toMatch(new RegExp(`^changed by: unknown.*; ${last}$`));
  });

  it('is no drift without a state, nor where its value is not known', async () => {
    const cloud = rig({ estate: theirEstate });
    const project = await applied(cloud, pager('canary-1'), gate('canary-2'));
    expect((await cloud.drift(project)).exit).toBe(0);
    expect((await cloud.drift(desire(pager(undefined), gate('canary-2')))).exit).toBe(0);
    await cloud.files.remove('/sim/state.json');
    const audit = await cloud.drift(desire(pager('canary-3'), gate('canary-4')));
    expect([audit.exit, audit.diagnostics]).toMatchObject([
      0,
      [
        {
          code: 'secret-unsent',
          summary:
            'authentication.secret of alert_push_destinations.pager, configuration.0.wifi.psk of configuration_managers.gate are not recorded as sent, so the audit cannot tell whether they are as declared.',
        },
      ],
    ]);
  });
});

it('of an attribute that is declared only now, the declaration changed', async () => {
  const cloud = rig({ estate });
  const pager = { name: 'Pager', endpoint: { url: 'https://pager.example.com' } };
  await applied(cloud, declare('alert_push_destinations.pager', pager));
  const disabled = declare('alert_push_destinations.pager', { ...pager, enabled: false });
  const audit = await cloud.drift(desire(disabled));
  expect(audit.drift.map(changedBy)).toEqual([
    'not changed outside of trueup: the declared value changed, or what it refers to',
  ]);
});

it('of an object whose adoption failed it says nothing of what was applied, nor since when', async () => {
  const cloud = rig({
    estate,
    intercept: ({ method }, proceed) =>
      method === 'PUT'
        ? Promise.resolve({ status: 400, headers: {}, body: '{"message":"no"}' })
        : proceed(),
  });
  const project = desire(
    declare('accounts.hq', { name: 'Renamed' }, { adopt: estate.root as string }),
  );
  expect((await cloud.apply(project)).exit).toBe(1);
  const { drift } = await cloud.drift(project);
  expect((await cloud.snapshot())?.state.resources['accounts.hq']?.applied).toEqual({});
  expect(drift).toMatchObject([{ status: 'changed', since: null }]);
  expect(drift[0]?.window?.after ?? null).toBeNull();
  expect(drift[0]?.changes.map((one) => Object.keys(one))).toEqual([['path', 'declared', 'live']]);
});
