// What the cloud remembers: identifiers, the log, secrets (not at all), and itself as one document.
import { describe, expect, test } from 'vitest';
import {
  bareEstate,
  createEmulator,
  dummyCredentials,
  parseEstate,
  type Estate,
} from '../../../src/emulator/index.js';
import { makeEstate } from '../../support/make-estate.js';
import { timeUuids } from '../../../src/emulator/uuid.js';
import { Refusal, canonical, type JsonObject } from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import { seededRandom } from '../../support/simulated.js';
import { answerOf, handClock, requestOf, rig, START } from './rig.js';

const tree: Estate = {
  version: 1,
  records: {
    accounts: [
      { id: '1', name: 'Headquarters' },
      { id: '12', name: 'North', account: 'https://any.host/api/v2/accounts/1/' },
    ],
    account_authorizations: [
      { id: '70', user: '7', account: '12', role: 'no_access' },
      { id: '71', user: '7', account: '1', role: 'administrator' },
    ],
  },
};

/** Milliseconds since 1970 in a time-based UUID. */
function timeOf(uuid: string): number {
  const [low = '', middle = '', high = ''] = uuid.split('-');
  return Number((BigInt(`0x${high.slice(1)}${middle}${low}`) - 122_192_928_000_000_000n) / 10_000n);
}

describe('identifiers', () => {
  test('UUIDs are of version 1, tell the time and never come twice', () => {
    const clock = handClock();
    const next = timeUuids(clock, seededRandom(5));
    const made = Array.from({ length: 1000 }, next);
    clock.advance(5000);
    made.push(next());
    expect(new Set(made).size).toBe(1001);
    expect(
      made.every((uuid) =>
        /^[0-9a-f]{8}-[0-9a-f]{4}-1[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uuid),
      ),
    ).toBe(true);
    expect([timeOf(made[0] as string), timeOf(made.at(-1) as string)]).toEqual([
      START,
      START + 5000,
    ]);
    expect(made.map(timeOf)).toEqual(made.map(timeOf).toSorted((a, b) => a - b));
  });

  test('the number of a deleted account is not given again, not even after a restart', async () => {
    const first = rig();
    expect((await first.ask('POST', '/api/v2/accounts/', { name: 'A' })).body.id).toBe('2');
    await first.ask('DELETE', '/api/v2/accounts/2/');
    const second = rig({ estate: first.emulator.snapshot() });
    expect((await second.ask('POST', '/api/v2/accounts/', { name: 'B' })).body.id).toBe('3');
  });
});

describe('accounts', () => {
  test.each([
    ['the root is not deleted', 'DELETE', '/api/v2/accounts/1/', undefined, 409],
    ['the root is not moved', 'PUT', '/api/v2/accounts/1/', { account: '12' }, 409],
    ['the root is renamed', 'PUT', '/api/v2/accounts/1/', { name: 'Main office' }, 200],
    ['an account is not its own parent', 'PUT', '/api/v2/accounts/12/', { account: '12' }, 409],
  ] as const)('%s', async (_, method, path, body, status) => {
    expect((await rig({ estate: tree }).ask(method, path, body)).status).toBe(status);
  });

  test('the authorizations of an account go with it, and the log says so', async () => {
    const { ask, emulator, list } = rig({ estate: tree });
    expect((await ask('DELETE', '/api/v2/accounts/12/')).status).toBe(200);
    expect(emulator.objects('account_authorizations').map(({ id }) => id)).toEqual(['71']);
    expect(
      (await list('/api/v2/activity_logs/')).map(({ object }) => (object as JsonObject).id),
    ).toEqual(['70', '12']);
  });
});

describe('secrets', () => {
  test('are kept nowhere', async () => {
    const { ask, emulator } = rig();
    const secret = 'correct horse battery staple';
    const { body } = await ask('POST', '/api/v2/alert_push_destinations/', {
      name: 'Desk',
      authentication: { secret },
    });
    await ask('PATCH', `/api/v2/alert_push_destinations/${String(body.destination_config_id)}/`, {
      authentication: { secret: `${secret}!` },
      nonsense: 1,
    });
    await ask(
      'PATCH',
      `/api/v2/alert_push_destinations/${String(body.destination_config_id)}/`,
      `{"authentication": {"secret": "${secret}`,
    );
    const everything = JSON.stringify([
      emulator.snapshot(),
      emulator.requests,
      emulator.objects('alert_push_destinations'),
    ]);
    expect(everything).not.toContain('horse');
    const sent = emulator.requests
      .slice(0, 2)
      .map((one) => ((one.body as JsonObject).authentication as JsonObject).secret);
    expect(sent.every((text) => /^sha256:[0-9a-f]{64}$/.test(String(text)))).toBe(true);
    expect(sent[0]).not.toBe(sent[1]);
  });
});

describe('what is shown', () => {
  test('names the origin that was asked, whoever asked before', async () => {
    const { emulator } = rig({ estate: tree });
    for (const origin of ['http://one.test', 'http://two.test']) {
      const { body } = await answerOf(
        await emulator.fetch(requestOf('GET', '/api/v2/accounts/?id=12', undefined, {}, origin)),
      );
      expect(body.data[0]?.account).toBe(`${origin}/api/v2/accounts/1/`);
    }
  });

  test('tells when it was last changed', async () => {
    const { ask, list, clock } = rig();
    const { body } = await ask('POST', '/api/v2/alert_rules/', { schedule: 'daily' });
    clock.advance(60_000);
    await ask('PATCH', `/api/v2/alert_rules/${String(body.alert_config_id)}/`, { schedule: null });
    expect([body.updated_at, (await list('/api/v2/alert_rules/'))[0]?.updated_at]).toEqual([
      '2026-01-02T03:04:05.000Z',
      '2026-01-02T03:05:05.000Z',
    ]);
  });
});

describe('other hands', () => {
  test('a second key and a second token act as somebody else', async () => {
    const { ask, list } = rig({ estate: tree });
    await ask('PUT', '/api/v2/accounts/12/', { name: 'Nord' }, { ...dummyCredentials.v2[1] });
    const data = {
      type: 'account_authorizations',
      id: '70',
      attributes: { role: 'administrator' },
    };
    await ask(
      'PUT',
      '/api/v3/beta/account_authorizations/70',
      { data },
      { authorization: 'Bearer other-token' },
    );
    const actors = (await list('/api/v2/activity_logs/')).map(({ actor }) => actor);
    expect(actors).toEqual([
      { id: 'other-mgr-id', type: 3, type_name: 'api_key' },
      { id: '2', email: 'somebody.else@example.com', type: 2, type_name: 'sso_user' },
    ]);
  });

  test('parts of two keys are no key', async () => {
    const [, other] = dummyCredentials.v2;
    expect(
      (
        await rig().ask('GET', '/api/v2/accounts/', undefined, {
          'X-VND-API-KEY': other?.['X-VND-API-KEY'] ?? '',
        })
      ).status,
    ).toBe(401);
  });
});

describe('the estate', () => {
  test('a snapshot is the whole cloud: another emulator made of it answers the same', async () => {
    const first = rig({ estate: makeEstate({ random: seededRandom(2), clock: handClock() }) });
    await first.ask('POST', '/api/v2/alert_push_destinations/', {
      name: 'Desk',
      authentication: { secret: 'hush' },
    });
    await first.ask('PUT', '/api/v2/accounts/100002/', { name: 'Nord' });
    const text = JSON.stringify(first.emulator.snapshot());
    const second = rig({ estate: parseEstate(text, 'data.json') });
    expect(JSON.stringify(second.emulator.snapshot())).toBe(text);
    for (const path of [
      '/api/v2/accounts/',
      '/api/v2/alert_rules/',
      '/api/v2/alert_push_destinations/',
      '/api/v2/activity_logs/',
    ])
      expect(await second.list(path)).toEqual(await first.list(path));
    const authorizations = '/api/v3/beta/account_authorizations?page[size]=50&page[after]=';
    expect((await second.ask('GET', authorizations)).text).toBe(
      (await first.ask('GET', authorizations)).text,
    );
  });

  test('listeners hear of each change and of nothing else', async () => {
    const { ask, emulator } = rig();
    let heard = 0;
    emulator.onChange(() => (heard += 1));
    await ask('GET', '/api/v2/accounts/');
    await ask('POST', '/api/v2/accounts/', {});
    expect(heard).toBe(0);
    await ask('POST', '/api/v2/accounts/', { name: 'A' });
    await ask('PUT', '/api/v2/accounts/2/', { name: 'B' });
    await ask('DELETE', '/api/v2/accounts/2/');
    expect(heard).toBe(3);
  });

  test.each([
    ['nothing', '', 'not JSON'],
    ['a list', '[]', 'version is not 1'],
    ['another version', '{"version": 2, "records": {}}', 'version is not 1'],
    ['no records', '{"version": 1}', 'no records'],
    ['records that are none', '{"version": 1, "records": {"accounts": [1]}}', 'records.accounts'],
  ])('%s is no estate', (_, text, why) => {
    expect(() => parseEstate(text, 'data.json')).toThrow(Refusal);
    expect(() => parseEstate(text, 'data.json')).toThrow(why);
  });

  test.each([
    ['without an account', { accounts: [] }, 'no account'],
    ['with an id twice', { accounts: [{ id: '1' }, { id: 1 }] }, 'two accounts with the id 1'],
    ['with a strange kind', { ...bareEstate.records, modems: [] }, '"modems"'],
  ])('an estate %s is refused', (_, records, why) => {
    const build = () =>
      createEmulator({
        kinds,
        clock: handClock(),
        random: seededRandom(),
        estate: { version: 1, records },
      });
    expect(build).toThrow(Refusal);
    expect(build).toThrow(why);
  });
});

describe('an estate made up', () => {
  const made = (seed: number, size = {}): Estate =>
    makeEstate({ random: seededRandom(seed), clock: handClock(), ...size });

  test('is the same for the same seed, and another for another', () => {
    expect(made(1)).toEqual(made(1));
    expect(made(1)).not.toEqual(made(2));
  });

  test('is as large as ordered, without twins, and holds together', () => {
    const { records, users } = made(1, {
      accounts: 40,
      rules: 3000,
      destinations: 20,
      authorizations: 400,
      users: 35,
    });
    const {
      accounts = [],
      alert_rules: rules = [],
      alert_push_destinations: destinations = [],
      account_authorizations: grants = [],
    } = records;
    expect([
      accounts.length,
      rules.length,
      destinations.length,
      grants.length,
      users?.length,
    ]).toEqual([40, 3000, 20, 400, 35]);
    const contents = rules.map((rule) =>
      canonical({ ...rule, alert_config_id: null, updated_at: null }),
    );
    const distinct = (texts: readonly unknown[]) => expect(new Set(texts).size).toBe(texts.length);
    distinct(contents);
    distinct(grants.map(({ user, account }) => `${String(user)} ${String(account)}`));
    distinct(accounts.map(({ account, name }) => `${String(account)} ${String(name)}`));
    distinct(destinations.map(({ name }) => name));
    const ids = new Set(accounts.map(({ id }) => id));
    expect(accounts.every(({ account }) => account === null || ids.has(account as string))).toBe(
      true,
    );
    expect(accounts.filter(({ account }) => account === null)).toHaveLength(1);
  });

  test('takes the size of the quickstart by default', () => {
    const { records, activity_logs } = made(1);
    expect(activity_logs).toHaveLength(60);
    expect(
      Object.fromEntries(Object.entries(records).map(([kind, list]) => [kind, list.length])),
    ).toEqual({
      accounts: 12,
      alert_push_destinations: 6,
      alert_rules: 24,
      account_authorizations: 120,
      configuration_managers: 24,
      alerts: 200,
      audit_logs: 60,
      batteries: 8,
      asset_endpoints: 24,
      subscriptions: 40,
    });
  });

  test('refuses more authorizations than there are pairs', () => {
    expect(() => made(1, { accounts: 1, users: 2, authorizations: 3 })).toThrow(RangeError);
  });
});

test('every request is kept, with what was answered', async () => {
  const { ask, emulator, clock } = rig();
  await ask('POST', '/api/v2/accounts/', { name: 'A' });
  clock.advance(1000);
  await emulator.fetch(
    requestOf('GET', '/api/v2/accounts/?limit=2', undefined, { 'X-MGR-API-ID': 'x' }),
  );
  expect(emulator.requests).toEqual([
    {
      method: 'POST',
      path: '/api/v2/accounts/',
      query: '',
      body: { name: 'A' },
      status: 200,
      at: '2026-01-02T03:04:05.000Z',
    },
    {
      method: 'GET',
      path: '/api/v2/accounts/',
      query: '?limit=2',
      body: null,
      status: 401,
      at: '2026-01-02T03:04:06.000Z',
    },
  ]);
});
