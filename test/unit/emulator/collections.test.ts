// What can only be read: seeded, filtered and paged from the reference's words, and never written.
import { expect, test } from 'vitest';
import { makeEstate } from '../../support/make-estate.js';
import { collection, collectionsOf, text, type JsonObject } from '../../../src/model/index.js';
import { collections, kinds } from '../../../src/resources/index.js';
import { seededRandom } from '../../support/simulated.js';
import { handClock, rig } from './rig.js';

const accounts = [{ id: '1', name: 'Headquarters', account: null }];
const estate = (records: Readonly<Record<string, readonly JsonObject[]>>) => ({
  version: 1 as const,
  root: '1',
  records: { accounts, ...records },
});

test('a collection nobody has named gets its routes, filters and pages from its definition', async () => {
  const gates = collection({
    name: 'gates',
    singular: 'gate',
    doc: 'A gate.',
    id: 'id',
    attributes: {
      id: text('Id.', { computed: true }),
      colour: text('Colour.', { computed: true }),
      resource_url: text('URL.', { computed: true, format: 'url' }),
    },
    operations: {
      dialect: 'v2',
      collection: 'gates',
      paging: 'offset',
      page: 500,
      filters: ['colour'],
    },
  });
  const { ask } = rig({
    collections: collectionsOf([...kinds.values(), gates]),
    estate: estate({ gates: [{ id: '7', colour: 'red', extra: [1] }, { colour: 'blue' }] }),
  });
  const { status, body } = await ask('GET', '/api/v2/gates/?colour=red');
  expect([status, body.data]).toEqual([
    200,
    [{ id: '7', colour: 'red', extra: [1], resource_url: 'http://cloud.test/api/v2/gates/7/' }],
  ]);
  expect((await ask('GET', '/api/v2/gates/')).body.data[1]).toMatchObject({
    colour: 'blue',
    id: '8',
  });
  expect((await ask('GET', '/api/v2/gates/?size=1')).status).toBe(400);
  expect((await ask('GET', '/api/v2/gates')).status).toBe(301);
  expect((await ask('POST', '/api/v2/gates/', {})).status).toBe(405);
});

test('a seed may leave fields out, name references as URLs, and hold what nobody knows', async () => {
  const seed = {
    type: 'odd',
    router: 'https://elsewhere.example/api/v2/routers/5/',
    stranger: { a: [null] },
  };
  const { list, emulator } = rig({ estate: estate({ alerts: [seed] }) });
  const [alert] = await list('/api/v2/alerts/');
  expect(alert).toEqual({
    type: 'odd',
    router: 'http://cloud.test/api/v2/routers/5/',
    account: null,
    friendly_info: null,
    detected_at: null,
    info: null,
    created_at: '2026-01-02T03:04:05.000Z',
    created_at_timeuuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-1/) as string,
    stranger: { a: [null] },
  });
  expect(emulator.objects('alerts')).toHaveLength(1);
  const again = rig({ estate: emulator.snapshot() });
  expect(await again.list('/api/v2/alerts/')).toEqual([alert]);
});

test('records of a collection that is not there are refused', () => {
  expect(() => rig({ estate: estate({ alarms: [] }) })).toThrow(
    expect.objectContaining({
      diagnostics: [expect.objectContaining({ code: 'bad-estate' })],
    }) as Error,
  );
});

test('a log grows, or is cut, in front of who reads it', async () => {
  const ids = ['1', '2', '3'].map((digit) => `${digit.repeat(8)}-aaaa-11f0-8000-000000000001`);
  const alerts = ids.map((created_at_timeuuid) => ({ created_at_timeuuid, type: 'odd' }));
  const page = async (faults: Parameters<typeof rig>[0]): Promise<unknown[]> => {
    const { ask } = rig({ estate: estate({ alerts }), ...faults });
    await ask('GET', '/api/v2/alerts/?limit=2');
    return (await ask('GET', '/api/v2/alerts/?limit=2&offset=2')).body.data.map(
      (one: JsonObject) => one['created_at_timeuuid'],
    );
  };
  expect(await page({})).toEqual([ids[2]]);
  expect(await page({ faults: [{ name: 'page-shift', after: 1 }] })).toEqual([ids[1], ids[2]]);
  expect(await page({ faults: [{ name: 'page-shift', after: 1, mode: 'remove' }] })).toEqual([]);
});

test('v3 pages lead on and back, each including what its records point at', async () => {
  const asset_endpoints = Array.from({ length: 45 }, (_, index) => ({
    id: String(index),
    tenants: index < 20 ? '1' : '2',
    subscriptions: [String(100 + index)],
  }));
  const { ask } = rig({ estate: estate({ asset_endpoints }) });
  const first = (await ask('GET', '/api/v3/asset_endpoints')).body;
  expect(first.data).toHaveLength(20);
  const second = (
    await ask('GET', `/api/v3/asset_endpoints${new URL(String(first.links.next)).search}`)
  ).body;
  expect(second.data.map(({ id }: JsonObject) => id)).toEqual(
    Array.from({ length: 20 }, (_, index) => String(20 + index)),
  );
  const pointed = (second['included'] as readonly JsonObject[]).map(
    ({ type, id }) => `${String(type)} ${String(id)}`,
  );
  expect([pointed.length, pointed.includes('tenants 2'), pointed.includes('tenants 1')]).toEqual([
    21,
    true,
    false,
  ]);
  const back = (
    await ask('GET', `/api/v3/asset_endpoints${new URL(String(second.links.prev)).search}`)
  ).body;
  expect(back.data).toEqual(first.data);
});

test('an estate made up has something to read everywhere, in order of time, and about what exists', async () => {
  const made = makeEstate({ random: seededRandom(3), clock: handClock() });
  const { list, ask } = rig({ estate: made });
  const times = (await list('/api/v2/alerts/?limit=500')).map((one) => String(one['created_at']));
  expect(times).toHaveLength(200);
  expect(times).toEqual(times.toSorted());
  const log = await list('/api/v2/activity_logs/?object__type=authorization&limit=500');
  expect(log.length).toBeGreaterThan(0);
  const granted = new Set((made.records['account_authorizations'] ?? []).map(({ id }) => id));
  expect(log.every(({ object }) => granted.has((object as JsonObject)['id'] as string))).toBe(true);
  expect(await list('/api/v2/audit_logs/?limit=500')).toHaveLength(60);
  expect(await list('/api/v2/batteries/?router=5001')).toHaveLength(1);
  expect(
    (await ask('GET', '/api/v3/asset_endpoints?filter[hardware_series]=E100')).body.data,
  ).toHaveLength(8);
  expect(collections.size).toBeGreaterThan(kinds.size);
});
