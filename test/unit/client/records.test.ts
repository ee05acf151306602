// Looking at records: as the API gives them, page by page, by its own filters; never a secret, never a part for the whole.
import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '../../../src/client/index.js';
import type { Collection, Found, JsonObject, Query } from '../../../src/model/index.js';
import { collections } from '../../../src/resources/index.js';
import { bench, json, never, page, page3, refusal, type Bench } from './fake-cloud.js';

const of = (name: string): Collection => collections.get(name) as Collection;
const uuid = (index: number): string =>
  `${String(index).padStart(8, '0')}-aaaa-11f0-8000-000000000001`;
const alert = (index: number, more: JsonObject = {}): JsonObject => ({
  created_at_timeuuid: uuid(index),
  created_at: new Date(index * 1000).toISOString(),
  type: 'account_locked',
  ...more,
});
const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

async function gathered(
  { cloud }: Bench,
  name: string,
  query: Partial<Query> = {},
): Promise<readonly Found[]> {
  const found: Found[] = [];
  for await (const some of cloud.records(of(name), { filters: {}, ...query })) found.push(...some);
  return found;
}
const recordsOf = (found: readonly Found[]): readonly JsonObject[] =>
  found.map(({ record }) => record);

/** Alerts by offset, the newest first where `grown` records arrive with every page that is asked for. */
function log(total: number, grown = 0): (request: unknown, url: URL) => HttpResponse {
  let now = total;
  return (_, url) => {
    const offset = Number(url.searchParams.get('offset') ?? 0);
    const data = range(offset, Math.min(now, offset + 500)).map((place) => alert(now - place));
    const next = offset + 500 < now ? `?limit=500&offset=${offset + 500}` : null;
    now += grown;
    return page(data, next);
  };
}

describe('what a record holds', () => {
  it.each([404, 410])('is none where the service answers %i for its id', async (status) => {
    const cloud = bench(() => json('', status));
    expect(await gathered(cloud, 'accounts', { filters: { path: '7' } })).toEqual([]);
  });

  it('masks a secret that a service lists in clear, and changes nothing else', async () => {
    const record = {
      destination_config_id: 'd-1',
      name: 'Pager',
      authentication: { secret: 'sesame', algorithm: 'sha256' },
      stranger: [{ deep: 1 }],
    };
    const found = await gathered(
      bench(() => page([record])),
      'alert_push_destinations',
    );
    expect(recordsOf(found)).toEqual([
      { ...record, authentication: { secret: '*', algorithm: 'sha256' } },
    ]);
    expect(JSON.stringify([found, found[0]?.values])).not.toContain('sesame');
  });

  it('passes what nobody knows, in any collection', async () => {
    const odd = alert(1, {
      type: 'not_yet_invented',
      stranger: { ['toString']: 1 },
      router: 'https://shard9.example/api/v2/routers/7/',
      account: null,
    });
    const [found] = await gathered(
      bench(() => page([odd])),
      'alerts',
    );
    expect(found?.record).toEqual(odd);
    expect(found?.values).toMatchObject({ type: 'not_yet_invented', router: '7', account: null });
    const whole = { some: { thing: [1, null] }, account_id: '9007199254740993' };
    expect(
      recordsOf(
        await gathered(
          bench(() => page([whole, {}])),
          'audit_logs',
        ),
      ),
    ).toEqual([whole, {}]);
  });

  it.each([
    ['no object', [alert(1), 7]],
    ['a list', [[alert(1)]]],
  ])('refuses a record that is %s', async (_, data) => {
    expect(
      await refusal(
        gathered(
          bench(() => page(data)),
          'alerts',
        ),
      ),
    ).toMatchObject({ code: 'unreadable-answer' });
  });

  it('reads of a member named __proto__ its name alone', async () => {
    const body = `{"data":[{"created_at_timeuuid":"${uuid(1)}","__proto__":{"type":"x"},"info":{"__proto__":{"polluted":true}}}],"meta":{"next":null}}`;
    const [found] = await gathered(
      bench(() => json(body)),
      'alerts',
    );
    expect(found?.values['type']).toBeUndefined();
    expect(Object.keys(found?.record ?? {})).toEqual([
      'created_at_timeuuid',
      'info',
      '__proto__ (not read)',
    ]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('takes a text of 10 MB', async () => {
    const text = 'x'.repeat(10_000_000);
    const [found] = await gathered(
      bench(() => page([alert(1, { friendly_info: text })])),
      'alerts',
    );
    expect(found?.values['friendly_info']).toBe(text);
  });
});

describe('what comes twice', () => {
  it('is dropped where a log grows while it is read', async () => {
    const found = await gathered(bench(log(1200, 3)), 'alerts');
    const ids = found.map(({ record }) => record['created_at_timeuuid']);
    expect(new Set(ids).size).toBe(ids.length);
    expect(range(1, 1201).every((index) => ids.includes(uuid(index)))).toBe(true);
  });

  it('is told by the whole record where nobody knows what identifies one, by action.id in the log of changes', async () => {
    const audit = { reported_at: '2026-01-01T00:00:00Z', what: [1] };
    const answers = (_: unknown, url: URL): HttpResponse =>
      url.searchParams.has('p') ? page([audit, { ...audit, what: [2] }]) : page([audit], '?p=2');
    expect(recordsOf(await gathered(bench(answers), 'audit_logs'))).toEqual([
      audit,
      { ...audit, what: [2] },
    ]);
    const change = (id: string, name: string): JsonObject => ({
      action: { id, timestamp: '2026-01-01T00:00:00Z' },
      object: { id: '1', name },
    });
    const changes = (_: unknown, url: URL): HttpResponse =>
      url.searchParams.has('p')
        ? page([change('a', 'again'), change('b', 'B')])
        : page([change('a', 'A')], '?p=2');
    const found = await gathered(bench(changes), 'activity_logs');
    expect(found.map(({ values }) => values['action.id'])).toEqual(['a', 'b']);
  });

  it.each(['accounts', 'alert_rules', 'asset_endpoints'])(
    'puts a listing of %s in doubt',
    async (name) => {
      const record = { id: '1', alert_config_id: 'r-1' };
      const answer = name === 'asset_endpoints' ? page3 : page;
      const cloud = bench((_, url) =>
        url.search.includes('p=2') || url.searchParams.has('offset')
          ? answer([record])
          : answer([record], name === 'accounts' ? '?limit=500&offset=500' : '?p=2'),
      );
      expect((await refusal(gathered(cloud, name))).code).toBe('moving-pages');
    },
  );

  it.each([
    ['whole pages', 500],
    ['one record', 1],
  ])('is dropped for ever by no listing, whose pages are %s', async (_, size) => {
    const cloud = bench(() =>
      page(
        range(0, size).map((index) => alert(index)),
        `?cursor=${cloud.asked.length}`,
      ),
    );
    expect(await refusal(gathered(cloud, 'alerts'))).toMatchObject({ code: 'unreadable-answer' });
    expect(cloud.asked.length).toBeLessThan(20);
  });

  it('is dropped as long as now and then a record is new', async () => {
    const cloud = bench(() => {
      const turn = cloud.asked.length;
      return page([alert(0), alert(Math.floor(turn / 10))], turn < 60 ? `?cursor=${turn}` : null);
    });
    expect(await gathered(cloud, 'alerts')).toHaveLength(7);
  });

  it('lets records without an identifier pass', async () => {
    const records = [{ name: 'A' }, { name: 'A' }];
    expect(
      recordsOf(
        await gathered(
          bench(() => page(records)),
          'accounts',
        ),
      ),
    ).toEqual(records);
  });
});

describe('the query', () => {
  it('fetches pages ahead by offset, with every filter, and no more than two beyond the end', async () => {
    const cloud = bench(log(2600));
    const found = await gathered(cloud, 'alerts', { filters: { type: 'account_locked' } });
    expect(found).toHaveLength(2600);
    const offsets = cloud.asked.map(({ url }) =>
      Number(new URL(url).searchParams.get('offset') ?? 0),
    );
    expect(offsets.slice(0, 6).toSorted((a, b) => a - b)).toEqual([0, 500, 1000, 1500, 2000, 2500]);
    expect(offsets.length).toBeLessThanOrEqual(8);
    const first = bench(log(5000));
    for await (const some of first.cloud.records(of('alerts'), { filters: {} }))
      if (some.length > 0) break;
    expect(first.asked).toHaveLength(1);
  });

  it('gives up what is under way once nobody wants more', async () => {
    const cloud = bench((request, url) =>
      url.searchParams.get('offset') === '1000' ? never(request.signal) : log(5000)(request, url),
    );
    let pages = 0;
    for await (const some of cloud.cloud.records(of('alerts'), { filters: {} }))
      if (some.length > 0 && (pages += 1) === 2) break;
    const open = cloud.asked.filter(({ url }) => url.includes('offset=1000'));
    expect(open.map(({ signal }) => signal.aborted)).toEqual([true]);
  });

  it('keeps filters on pages that are fetched ahead', async () => {
    const cloud = bench((request, url) => {
      const answer = log(1100)(request, url);
      return { ...answer, body: answer.body.replace('?limit=500', '?type=a&limit=500') };
    });
    await gathered(cloud, 'alerts', { filters: { type: 'a' } });
    expect(cloud.asked.length).toBeGreaterThan(2);
    expect(cloud.asked.every(({ url }) => new URL(url).searchParams.get('type') === 'a')).toBe(
      true,
    );
  });

  it('asks for expanded references on every page, also where next forgets them', async () => {
    const parent = { id: '1', name: 'HQ' };
    const cloud = bench((_, url) =>
      url.searchParams.has('offset')
        ? page([{ id: '3', account: parent }])
        : page([{ id: '2', account: parent }], '?limit=500&offset=500'),
    );
    const found = await gathered(cloud, 'accounts', { expand: 'account' });
    expect(
      new Set(cloud.asked.map(({ url }) => new URL(url).searchParams.getAll('expand').join())),
    ).toEqual(new Set(['account']));
    expect(cloud.asked.length).toBeGreaterThan(1);
    expect(found.map(({ record, values }) => [record['account'], values['account']])).toEqual([
      [parent, '1'],
      [parent, '1'],
    ]);
  });

  it('merges what a v3 answer includes, where that was asked for', async () => {
    const link = (id: string): JsonObject => ({ type: 'subscriptions', id });
    const endpoint = {
      type: 'asset_endpoints',
      id: '8',
      attributes: {},
      relationships: {
        tenants: { data: { type: 'tenants', id: '1' } },
        subscriptions: { data: [link('5'), link('6')] },
      },
    };
    const included = [
      { ...link('5'), attributes: { state: 'ACTIVE' } },
      { type: 'tenants', id: '5', attributes: { no: true } },
    ];
    const answer = page3([endpoint]);
    const cloud = bench(() => ({
      ...answer,
      body: answer.body.replace('{', `{"included":${JSON.stringify(included)},`),
    }));
    expect(recordsOf(await gathered(cloud, 'asset_endpoints'))).toEqual([endpoint]);
    const [found] = await gathered(cloud, 'asset_endpoints', { expand: 'subscriptions' });
    expect(found?.record['relationships']).toEqual({
      ...endpoint.relationships,
      subscriptions: { data: [included[0], link('6')] },
    });
    expect(found?.values).toMatchObject({ id: '8', tenants: '1', subscriptions: ['5', '6'] });
    const broken = bench(() => ({ ...answer, body: answer.body.replace('{', '{"included":{},') }));
    expect((await refusal(gathered(broken, 'asset_endpoints', { expand: 'tenants' }))).code).toBe(
      'unreadable-answer',
    );
  });

  it.each([
    ['alerts', { expand: 'account' }, 'unknown-expand'],
    ['accounts', { expand: 'account,account' }, 'unknown-expand'],
    ['batteries', {}, 'filter-needed'],
    ['batteries', { filters: { router: '' } }, 'filter-needed'],
    ['accounts', { since: '2026-01-01T00:00:00.000Z' }, 'no-times'],
    ['asset_endpoints', { until: '2026-01-01T00:00:00.000Z' }, 'no-times'],
    [
      'activity_logs',
      { since: '2026-01-01T00:00:00.000Z', filters: { action__timestamp__gte: '2026-01-01' } },
      'usage',
    ],
  ] as const)('%s with %j is refused before anything is sent', async (name, query, code) => {
    const cloud = bench(() => page([]));
    expect((await refusal(gathered(cloud, name, query))).code).toBe(code);
    expect(cloud.asked).toHaveLength(0);
  });

  it('asks for long lists in parts of a hundred values, no value twice', async () => {
    const cloud = bench((_, url) =>
      page(
        (url.searchParams.get('account_id_in') ?? '')
          .split(',')
          .map((account_id) => ({ account_id })),
      ),
    );
    const asked = [...range(0, 250), ...range(0, 250)];
    expect(
      await gathered(cloud, 'audit_logs', { filters: { account_id_in: asked.join(',') } }),
    ).toHaveLength(250);
    expect(
      cloud.asked.map(
        ({ url }) => new URL(url).searchParams.get('account_id_in')?.split(',').length,
      ),
    ).toEqual([100, 100, 50]);
  });

  it('compares times here where the API has no parameter, both ends included', async () => {
    const records = [
      alert(1),
      alert(2),
      alert(3),
      alert(4),
      alert(9, { created_at: 'no time' }),
      alert(10, { created_at: { toString: 1 } }),
    ];
    const cloud = bench(() => page(records));
    const found = await gathered(cloud, 'alerts', {
      since: new Date(2000).toISOString(),
      until: new Date(3000).toISOString(),
    });
    expect(recordsOf(found)).toEqual([records[1], records[2], records[4], records[5]]);
    expect(cloud.paths()).toEqual(['/api/v2/alerts/?limit=500']);
  });

  it('hands times to the API where it has parameters for them', async () => {
    const cloud = bench(() => page([]));
    await gathered(cloud, 'activity_logs', { since: '2026-01-01T00:00:00.000Z' });
    await gathered(cloud, 'audit_logs', {
      since: '2026-01-01T00:00:00.000Z',
      until: '2026-01-02T00:00:00.000Z',
    });
    expect(cloud.asked.map(({ url }) => Object.fromEntries(new URL(url).searchParams))).toEqual([
      { action__timestamp__gte: '2026-01-01T00:00:00.000Z', limit: '500' },
      {
        reported_at__gt: '2025-12-31T23:59:59.999Z',
        reported_at__lt: '2026-01-02T00:00:00.001Z',
        limit: '500',
      },
    ]);
  });

  it('tells how far it has come', async () => {
    const cloud = bench(log(700));
    await gathered(cloud, 'alerts');
    expect(cloud.events).toEqual([
      { type: 'reading', kind: 'alerts', objects: 500 },
      { type: 'reading', kind: 'alerts', objects: 700 },
    ]);
  });
});
