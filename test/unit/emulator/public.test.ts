// The dialect of public clients: what it adds is there with `dialect: public`, and refused by the service of the reference.
import { describe, expect, test } from 'vitest';
import type { Estate } from '../../../src/emulator/index.js';
import { kind, kindsOf, text, type JsonObject } from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import { rig, type Rig } from './rig.js';

const uuid = (digit: number, day: number): string =>
  `${String(day).repeat(8)}-aaaa-11ef-8000-00000000000${digit}`;
const estate: Estate = {
  version: 1,
  next_id: 900,
  users: [{ id: '70', email: 'ada@example.com' }],
  records: {
    accounts: [
      { id: '1', name: 'Headquarters', account: null },
      { id: '12', name: 'North', account: '1' },
      { id: '13', name: 'South', account: '1' },
      { id: '110', name: 'East', account: '12' },
    ],
    alert_rules: [
      { alert_config_id: uuid(1, 1), schedule: 'daily', updated_at: '2025-01-01T00:00:00Z' },
      { alert_config_id: uuid(2, 2), schedule: null, updated_at: '2025-03-01T00:00:00+00:00' },
      { alert_config_id: uuid(3, 3), schedule: 'weekly', updated_at: '2025-02-01T00:00:00Z' },
    ],
    account_authorizations: [{ id: '80', user: '70', account: '12', role: 'no_access' }],
    configuration_managers: [
      {
        id: '6001',
        router: '5001',
        account: '12',
        configuration: [{ lan: { mtu: 1400 }, wan: { list: [1, 2] } }, [['lan', 'old']]],
      },
    ],
    alerts: [
      {
        created_at_timeuuid: uuid(1, 1),
        created_at: '2025-01-01T00:00:00Z',
        type: 'a',
        router: '5001',
      },
      {
        created_at_timeuuid: uuid(2, 2),
        created_at: '2025-02-01T00:00:00Z',
        type: 'b',
        account: '12',
      },
    ],
    batteries: [{ id: '7001', router: '5001' }],
  },
};
const kept: Estate = {
  ...estate,
  records: {
    ...estate.records,
    products: [{ id: '50', name: 'R1900' }],
    firmwares: [{ id: '60', version: '7.1.0', product: '50' }],
    groups: [{ id: '40', name: 'Depots', account: '12', product: '50' }],
    routers: [{ id: '5001', name: 'Depot 7', mac: '003044000001', account: '13', group: '40' }],
  },
};
const extended = (seed = estate): Rig => rig({ estate: seed, behaviours: { dialect: 'public' } });
const ids = (records: readonly JsonObject[]): readonly unknown[] =>
  records.map((one) => one['id'] ?? one['alert_config_id'] ?? one['created_at_timeuuid']);

describe('header names', () => {
  const key = { 'X-MGR-API-ID': '', 'X-MGR-API-KEY': '', 'X-VND-API-ID': '', 'X-VND-API-KEY': '' };
  const other = {
    'X-ECM-API-ID': 'emulator-mgr-id',
    'X-ECM-API-KEY': 'emulator-mgr-key',
    'X-CP-API-ID': 'emulator-vnd-id',
    'X-CP-API-KEY': 'emulator-vnd-key',
  };
  const status = async (
    emulator: Rig['emulator'],
    headers: Readonly<Record<string, string>>,
  ): Promise<number> =>
    (await emulator.fetch(new Request('http://cloud.test/api/v2/accounts/', { headers }))).status;

  test.each([
    ['all four of the other family', other, 200],
    [
      'two of each',
      {
        'X-ECM-API-ID': 'emulator-mgr-id',
        'X-ECM-API-KEY': 'emulator-mgr-key',
        'X-VND-API-ID': 'emulator-vnd-id',
        'X-VND-API-KEY': 'emulator-vnd-key',
      },
      200,
    ],
    ['a wrong value', { ...other, 'X-CP-API-KEY': 'guessed' }, 401],
    ['a wrong value beside a right one', { ...other, ...key, 'X-VND-API-KEY': 'guessed' }, 401],
    ['one that is missing', { 'X-ECM-API-ID': 'emulator-mgr-id' }, 401],
  ])('%s: %j', async (_, headers, answered) => {
    expect(await status(extended().emulator, headers)).toBe(answered);
    expect(await status(rig({ estate }).emulator, headers)).toBe(401);
  });
});

describe('lists', () => {
  test.each([
    ['accounts/?order_by=name', ['110', '1', '12', '13']],
    ['accounts/?order_by=-id', ['110', '13', '12', '1']],
    ['accounts/?order_by=account,-name', ['1', '13', '12', '110']],
    ['accounts/?id__gt=12', ['13', '110']],
    ['accounts/?id__lte=12&id__gte=2', ['12']],
    ['accounts/?account.id=1', ['12', '13']],
    ['accounts/?account.id__in=1,12', ['12', '13', '110']],
    ['alert_rules/?updated_at__gt=2025-01-01T00:00:00Z', [uuid(2, 2), uuid(3, 3)]],
    ['alert_rules/?updated_at__lt=2025-02-01T00:00:00Z', [uuid(1, 1)]],
    ['alert_rules/?alert_config_id__lt=' + uuid(3, 3), [uuid(1, 1), uuid(2, 2)]],
    ['alert_rules/?order_by=-updated_at', [uuid(2, 2), uuid(3, 3), uuid(1, 1)]],
    ['alerts/?created_at__gte=2025-02-01T00:00:00Z', [uuid(2, 2)]],
    ['alerts/?router.id=5001', [uuid(1, 1)]],
    ['alerts/?order_by=-created_at', [uuid(2, 2), uuid(1, 1)]],
    ['configuration_managers/?router.id=5001', ['6001']],
    ['batteries/?router.id=5001', ['7001']],
  ])('%s', async (path, found) => {
    expect(ids(await extended().list(`/api/v2/${path}`))).toEqual(found);
    expect((await rig({ estate }).ask('GET', `/api/v2/${path}`)).status).toBe(400);
  });

  test.each([
    'accounts/?order_by=size',
    'accounts/?fields=id,size',
    'accounts/?name__gt=A',
    'accounts/?name.id=1',
    'accounts/?id__gt=x',
    'accounts/?size__gt=1',
    'accounts/?account__gt=1',
  ])('%s is refused', async (path) => {
    expect((await extended().ask('GET', `/api/v2/${path}`)).status).toBe(400);
  });

  test('fields leaves out what it does not name', async () => {
    expect(await extended().list('/api/v2/accounts/?fields=id,account&account=1')).toEqual(
      [12, 13].map((id) => ({ id: String(id), account: 'http://cloud.test/api/v2/accounts/1/' })),
    );
    expect(await extended().list('/api/v2/alerts/?fields=type')).toEqual([
      { type: 'a' },
      { type: 'b' },
    ]);
  });

  test('an order holds from page to page, by offset and by cursor', async () => {
    const { list } = extended();
    expect(ids(await list('/api/v2/accounts/?order_by=-id&limit=1'))).toEqual([
      '110',
      '13',
      '12',
      '1',
    ]);
    expect(ids(await list('/api/v2/alert_rules/?order_by=-updated_at&limit=1'))).toEqual([
      uuid(2, 2),
      uuid(3, 3),
      uuid(1, 1),
    ]);
  });

  test('a limit above 500 is clamped', async () => {
    for (const path of ['accounts', 'alert_rules', 'alerts', 'activity_logs']) {
      const { status, body } = await extended().ask('GET', `/api/v2/${path}/?limit=1000`);
      expect([status, body.meta.limit]).toEqual([200, 500]);
      expect((await rig({ estate }).ask('GET', `/api/v2/${path}/?limit=1000`)).status).toBe(400);
    }
  });

  test('one record is read by its path', async () => {
    expect((await extended().ask('GET', '/api/v2/accounts/12/')).body).toMatchObject({
      id: '12',
      name: 'North',
    });
    expect((await extended().ask('GET', '/api/v2/accounts/99/')).status).toBe(404);
    expect((await rig({ estate }).ask('GET', '/api/v2/accounts/12/')).status).toBe(405);
  });
});

describe('writes', () => {
  test('a URL of v1 is a reference', async () => {
    const { ask } = extended();
    const { body } = await ask('POST', '/api/v2/accounts/', {
      name: 'Depot',
      account: 'https://www.example.com/api/v1/accounts/12/',
    });
    expect(body.account).toBe('http://cloud.test/api/v2/accounts/12/');
    expect(
      (
        await ask('POST', '/api/v2/accounts/', {
          name: 'Depot',
          account: 'https://www.example.com/api/v1/routers/12/',
        })
      ).status,
    ).toBe(400);
  });

  const path = '/api/v2/configuration_managers/6001/';
  test('PATCH of a configuration merges members, replaces lists, and takes nothing out', async () => {
    const { ask, emulator } = extended();
    const element = '00000000-0d93-319d-8220-4a1fb0372b51';
    expect(
      (
        await ask('PATCH', path, {
          configuration: [
            { lan: { mtu: 1500, [element]: { _id_: element, name: 'x' } }, wan: { list: [3] } },
            [],
          ],
        })
      ).status,
    ).toBe(200);
    const tree = (): unknown =>
      (
        emulator.objects('configuration_managers')[0] as
          { configuration: readonly unknown[] } | undefined
      )?.configuration[0];
    expect(tree()).toEqual({
      lan: { mtu: 1500, [element]: { _id_: element, name: 'x' } },
      wan: { list: [3] },
    });
    await ask('PATCH', path, {
      configuration: [{ lan: { [element]: { _id_: element, ip: '1' } } }],
    });
    expect(tree()).toMatchObject({
      lan: { mtu: 1500, [element]: { _id_: element, name: 'x', ip: '1' } },
    });
  });

  test.each([
    ['takes something out', { configuration: [{}, [['lan', 'mtu']]] }, 'cannot take anything out'],
    [
      'does not repeat a UUID',
      { configuration: [{ lan: { '00000000-0d93-319d-8220-4a1fb0372b51': { name: 'x' } } }, []] },
      '_id_',
    ],
  ])('a PATCH that %s is refused', async (_, body, why) => {
    const answer = await extended().ask('PATCH', path, body);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(why)]);
  });

  test('the service of the reference knows no PATCH of a configuration', async () => {
    expect((await rig({ estate }).ask('PATCH', path, { configuration: [{}, []] })).status).toBe(
      405,
    );
  });
});

describe('more collections', () => {
  test('groups: made, listed, renamed, changed, deleted', async () => {
    const { ask, list } = extended(kept);
    const made = await ask('POST', '/api/v2/groups/', {
      name: 'Clinics',
      account: 'http://cloud.test/api/v2/accounts/13/',
      product: 'https://www.example.com/api/v1/products/50/',
      target_firmware: 'http://cloud.test/api/v2/firmwares/60/',
    });
    expect(made.body).toMatchObject({
      id: '900',
      name: 'Clinics',
      product: 'http://cloud.test/api/v2/products/50/',
      configuration: [{}, []],
    });
    expect(
      (await ask('POST', '/api/v2/groups/', { name: 'Ghosts', product: '/api/v2/products/51/' }))
        .status,
    ).toBe(400);
    expect((await ask('PUT', '/api/v2/groups/900/', { name: 'Hospitals' })).body.name).toBe(
      'Hospitals',
    );
    await ask('PATCH', '/api/v2/groups/900/', { configuration: [{ lan: { mtu: 1 } }, []] });
    await ask('PATCH', '/api/v2/groups/900/', { configuration: [{ wan: {} }, []] });
    expect((await ask('GET', '/api/v2/groups/900/')).body.configuration).toEqual([
      { lan: { mtu: 1 }, wan: {} },
      [],
    ]);
    await ask('PUT', '/api/v2/groups/900/', { configuration: [{ wan: {} }, []] });
    expect((await list('/api/v2/groups/?account.id=13'))[0]?.configuration).toEqual([
      { wan: {} },
      [],
    ]);
    expect((await ask('DELETE', '/api/v2/groups/900/')).status).toBe(200);
    expect(
      (await list('/api/v2/activity_logs/?object__type=group')).map(
        ({ action }) => (action as JsonObject).type_name,
      ),
    ).toEqual(['create', 'update', 'update', 'update', 'update', 'delete']);
  });

  test('routers: changed and deleted with their configuration manager, never created', async () => {
    const { ask, list, emulator } = extended(kept);
    expect((await ask('POST', '/api/v2/routers/', { name: 'x' })).status).toBe(405);
    expect((await ask('PUT', '/api/v2/routers/5001/', { mac: '1' })).status).toBe(400);
    await ask('PATCH', '/api/v2/routers/5001/', { custom1: 'rack 4' });
    expect(
      (await list('/api/v2/routers/?custom1=rack 4&group.id=40')).map(({ name }) => name),
    ).toEqual(['Depot 7']);
    expect((await ask('DELETE', '/api/v2/groups/40/')).text).toContain('still has routers');
    expect((await ask('DELETE', '/api/v2/routers/5001/')).status).toBe(200);
    expect(emulator.objects('configuration_managers')).toEqual([]);
    expect((await ask('DELETE', '/api/v2/groups/40/')).status).toBe(200);
  });

  test('a router moves to another account with its configuration manager, and leaves its group', async () => {
    const { ask, emulator } = extended(kept);
    expect(
      (await ask('PUT', '/api/v2/routers/5001/', { account: '/api/v1/accounts/110/', group: null }))
        .body,
    ).toMatchObject({
      account: 'http://cloud.test/api/v2/accounts/110/',
      group: null,
    });
    expect(emulator.objects('configuration_managers').map(({ account }) => account)).toEqual([
      '110',
    ]);
    expect((await ask('PUT', '/api/v2/accounts/12/', { account: null })).status).toBe(400);
  });

  test('products and firmwares are only read', async () => {
    const { ask, list } = extended(kept);
    expect(ids(await list('/api/v2/products/?name=R1900'))).toEqual(['50']);
    expect((await list('/api/v2/firmwares/?product=50')).map(({ version }) => version)).toEqual([
      '7.1.0',
    ]);
    for (const path of ['products/', 'firmwares/'])
      expect((await ask('POST', `/api/v2/${path}`, { name: 'x' })).status).toBe(405);
  });

  test('users of v3: those that an estate mentions are there, and their roles go with them', async () => {
    const { ask, emulator } = extended();
    const found = (
      await ask('GET', '/api/v3/beta/users?filter[email]=ada@example.com&filter[is_active]=true')
    ).body.data;
    expect(found).toMatchObject([
      {
        type: 'users',
        id: '70',
        attributes: { email: 'ada@example.com', user_id: '70', is_active: true },
      },
    ]);
    const made = await ask('POST', '/api/v3/beta/users', {
      data: { type: 'users', attributes: { email: 'dana@example.com', first_name: 'Dana' } },
    });
    const id = String(made.body.data.id);
    expect(made.body.data.attributes).toMatchObject({
      email: 'dana@example.com',
      first_name: 'Dana',
      last_name: null,
      user_id: id,
    });
    const whole = {
      ...(made.body.data as JsonObject),
      attributes: { ...(made.body.data.attributes as JsonObject), last_name: 'Reyes' },
    };
    expect(
      (await ask('PUT', `/api/v3/beta/users/${id}`, { data: whole })).body.data.attributes,
    ).toMatchObject({ last_name: 'Reyes' });
    expect((await ask('DELETE', '/api/v3/beta/users/70')).status).toBe(200);
    expect(emulator.objects('account_authorizations')).toEqual([]);
  });

  test('routers with a configuration manager are there without a record of their own', async () => {
    expect(await extended().list('/api/v2/routers/')).toMatchObject([
      { id: '5001', account: 'http://cloud.test/api/v2/accounts/12/' },
    ]);
  });

  test('an account with groups or routers is not deleted', async () => {
    const { ask } = extended(kept);
    expect((await ask('DELETE', '/api/v2/accounts/12/')).text).toContain('sub-accounts');
    await ask('DELETE', '/api/v2/accounts/110/');
    expect((await ask('DELETE', '/api/v2/accounts/12/')).text).toContain(
      'the account still has groups',
    );
    expect((await ask('DELETE', '/api/v2/accounts/13/')).text).toContain(
      'the account still has routers',
    );
  });

  test('a rule names groups that exist', async () => {
    expect(
      (await extended(kept).ask('POST', '/api/v2/alert_rules/', { associated_groups: [40] }))
        .status,
    ).toBe(200);
    expect(
      (await extended(kept).ask('POST', '/api/v2/alert_rules/', { associated_groups: [41] }))
        .status,
    ).toBe(400);
  });

  test('the service of the reference has them, too, and takes any id of a collection that holds none', async () => {
    const { ask } = rig({ estate });
    for (const path of [
      'v2/groups/',
      'v2/routers/',
      'v2/products/',
      'v2/firmwares/',
      'v3/beta/users',
    ])
      expect((await ask('GET', `/api/${path}`)).status).toBe(200);
    const rule = { associated_groups: [41] };
    expect((await ask('POST', '/api/v2/alert_rules/', rule)).status).toBe(200);
    expect((await rig({ estate: kept }).ask('POST', '/api/v2/alert_rules/', rule)).status).toBe(
      400,
    );
  });

  test('a kind of the same name takes the place of one', async () => {
    const own = kind({
      name: 'groups',
      singular: 'group',
      doc: 'A group.',
      id: 'id',
      identity: ['name'],
      attributes: {
        name: text('Name.'),
        motto: text('Motto.'),
        id: text('Id.', { computed: true }),
      },
      operations: {
        dialect: 'v2',
        collection: 'groups',
        paging: 'offset',
        page: 500,
        by_id: 'id',
        create: 'POST',
      },
      example: {},
    });
    const { ask } = rig({
      kinds: kindsOf([...kinds.values(), own]),
      estate,
      behaviours: { dialect: 'public' },
    });
    expect(
      (await ask('POST', '/api/v2/groups/', { name: 'Depots', motto: 'On time' })).body,
    ).toMatchObject({ name: 'Depots', motto: 'On time' });
    expect((await ask('POST', '/api/v2/groups/', { name: 'Depots' })).status).toBe(400);
    expect((await ask('GET', '/api/v2/routers/')).status).toBe(200);
  });

  test('a snapshot holds them, and opens again', () => {
    const { emulator } = extended(kept);
    const again = extended(emulator.snapshot());
    expect(again.emulator.snapshot()).toEqual(emulator.snapshot());
  });
});
