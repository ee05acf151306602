// The activity log: the newest record of each object, and nothing guessed.
import { describe, expect, it } from 'vitest';
import { bench, json, page, refusal, script } from './fake-cloud.js';

const record = (
  id: string,
  object: string,
  timestamp: string,
  actor: object = { id: '4', email: 'dana@example.com', type: 2, type_name: 'user' },
) => ({
  action: { id, timestamp, type: 3, type_name: 'update', before: {}, after: {} },
  actor,
  object: { id: object, type: 12, type_name: 'authorization' },
});
const since = '2026-01-01T00:00:00.000Z';

describe('activity', () => {
  it('asks for each object since a time, and takes the records that are about it', async () => {
    const { cloud, paths } = bench((_, url) =>
      page(
        url.searchParams.get('object__id') === 'a'
          ? [
              record('1', 'a', '2026-01-02T00:00:00+00:00'),
              record('3', 'a', '2026-01-04T00:00:00Z', { id: 'key-9', type_name: 'api_key' }),
              record('2', 'a', '2026-01-03T00:00:00Z'),
              record('4', 'other', '2026-01-09T00:00:00Z'),
              { action: { timestamp: 'never' }, actor: {}, object: { id: 'a' } },
              null,
            ]
          : [],
      ),
    );
    const found = await cloud.activity(['a', 'b'], since);
    expect(found.map(({ id }) => id)).toEqual(['1', '2', '3']);
    expect(found[2]).toMatchObject({
      object_id: 'a',
      actor: 'key-9',
      actor_id: 'key-9',
      actor_type: 'api_key',
      action: 'update',
      at: '2026-01-04T00:00:00.000Z',
    });
    expect(paths()).toEqual([
      '/api/v2/activity_logs/?object__id=a&action__timestamp__gte=2026-01-01T00%3A00%3A00.000Z&limit=500',
      '/api/v2/activity_logs/?object__id=b&action__timestamp__gte=2026-01-01T00%3A00%3A00.000Z&limit=500',
    ]);
    expect(cloud.cost()).toEqual({ activity_logs: 2 });
  });

  it.each<readonly [string, object, string | null]>([
    ['its name', { type: 12, type_name: 'router' }, 'router'],
    ['its number', { type: 4 }, 'router'],
    ['its number as text', { type: '12', type_name: null }, 'authorization'],
    ['a number that nobody knows', { type: 99 }, 'type 99'],
    ['nothing', { type: null, type_name: null }, null],
  ])('knows a type by %s', async (_, object, type) => {
    const { cloud } = bench(() =>
      page([
        {
          ...record('1', '7', '2026-01-02T00:00:00Z'),
          object: { id: '7', ...object },
          action: { id: '1', timestamp: '2026-01-02T00:00:00Z', type: 4 },
        },
      ]),
    );
    expect(await cloud.activity(['7'], since)).toMatchObject([
      { object_type: type, action: 'request' },
    ]);
  });

  it('names people by their address', async () => {
    const { cloud } = bench(() => page([record('1', '7', '2026-01-02T00:00:00Z')]));
    expect((await cloud.activity(['7'], since))[0]).toMatchObject({
      actor: 'dana@example.com',
      actor_type: 'user',
    });
  });

  it('reads on, and stops on an empty page', async () => {
    const { cloud, asked } = bench(
      script(
        page([record('1', 'a', '2026-01-02T00:00:00Z')], '?p=2'),
        page([record('2', 'a', '2026-01-03T00:00:00Z')], '?p=3'),
        page([], '?p=4'),
      ),
    );
    expect((await cloud.activity(['a'], since)).at(-1)!.at).toBe('2026-01-03T00:00:00.000Z');
    expect(asked).toHaveLength(3);
  });

  it('reads the window once for more than two objects, in pages, each record once', async () => {
    const many = ['o1', 'o2', 'o3'];
    const { cloud, paths } = bench(
      script(
        page(
          [
            record('1', 'o3', '2026-01-02T00:00:00Z'),
            record('2', 'stranger', '2026-01-02T00:00:00Z'),
          ],
          '?limit=500&offset=500',
        ),
        page([record('1', 'o3', '2026-01-02T00:00:00Z')]),
      ),
    );
    expect((await cloud.activity(many, since)).map(({ object_id }) => object_id)).toEqual(['o3']);
    expect(paths()).toEqual([
      '/api/v2/activity_logs/?action__timestamp__gte=2026-01-01T00%3A00%3A00.000Z&limit=500',
      '/api/v2/activity_logs/?limit=500&offset=500',
    ]);
  });

  it('asks nothing for nothing, and refuses where it cannot read', async () => {
    const { cloud, asked } = bench(() => json('', 403));
    expect(await cloud.activity([], since)).toEqual([]);
    expect(asked).toEqual([]);
    expect((await refusal(cloud.activity(['a'], since))).text).toMatch(
      /activity_logs cannot be read.*403/,
    );
  });
});
