// Pages as laws: whoever follows `next` to its end has seen every record once, in order.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Estate } from '../../../src/emulator/index.js';
import { rig, type Rig } from './rig.js';
import { drawn } from '../../support/drawn.js';

const uuid = (index: number): string =>
  `aaaaaaaa-0000-11ef-8000-${String(index).padStart(12, '0')}`;

function estate(size: number): Estate {
  const indices = Array.from({ length: size }, (_, index) => index);
  return {
    version: 1,
    records: {
      accounts: [
        { id: '1', name: 'Headquarters', account: null },
        ...indices.map((index) => ({ id: String(index + 100), name: `Site ${index}` })),
      ],
      alert_rules: indices.map((index) => ({
        alert_config_id: uuid(index),
        schedule: index % 3 === 0 ? 'daily' : null,
      })),
      account_authorizations: indices.map((index) => ({
        id: String(index + 500),
        user: String(index),
        account: '1',
        role: index % 2 === 0 ? 'no_access' : 'administrator',
      })),
    },
  };
}

/** Ids of a v3 listing, forwards by next or backwards by prev. */
async function walk(
  { ask }: Rig,
  query: string,
  link: 'next' | 'prev',
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let search: string | undefined = query; search !== undefined;) {
    const { body } = await ask('GET', `/api/v3/beta/account_authorizations${search}`);
    const page = body.data.map(({ id }) => id as string);
    if (link === 'next') ids.push(...page);
    else ids.unshift(...page);
    const to: string | null = body.links[link];
    search = to === null ? undefined : new URL(to).search;
  }
  return ids;
}

describe('following next', () => {
  test('by offset and by cursor, whatever the size and the limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 1, max: 70 }),
        async (size, limit) => {
          const { list, emulator } = rig({ estate: estate(size) });
          expect((await list(`/api/v2/accounts/?limit=${limit}`)).map(({ id }) => id)).toEqual(
            emulator.objects('accounts').map(({ id }) => id),
          );
          const asked = emulator.requests.length;
          expect(asked).toBe(Math.ceil((size + 1) / limit));
          expect(
            (await list(`/api/v2/alert_rules/?limit=${limit}`)).map((one) => one.alert_config_id),
          ).toEqual(emulator.objects('alert_rules').map((one) => one.alert_config_id));
          expect(emulator.requests.length - asked).toBe(Math.max(1, Math.ceil(size / limit)));
        },
      ),
      { numRuns: drawn(60) },
    );
  });

  test('filters stay in force from page to page', async () => {
    const { list } = rig({ estate: estate(50) });
    expect(await list('/api/v2/alert_rules/?schedule=daily&limit=4')).toHaveLength(17);
  });

  test('in v3, forwards and back again, filtered and sorted', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 50 }),
        fc.constantFrom('', '&sort=-user', '&filter[role]=no_access', '&sort=role&search=a'),
        async (size, page, more) => {
          const one = rig({ estate: estate(size) });
          const whole = await walk(one, `?page[size]=50${more}`, 'next');
          expect(await walk(one, `?page[size]=${page}${more}`, 'next')).toEqual(whole);
          expect(new Set(whole).size).toBe(whole.length);
          if (whole.length <= page) return;
          const last = await one.ask(
            'GET',
            `/api/v3/beta/account_authorizations?page[size]=${page}${more}`,
          );
          const cursor = (last.body.meta as unknown as { pagination: { after: string } }).pagination
            .after;
          expect(
            await walk(one, `?page[size]=${page}${more}&page[before]=${cursor}`, 'prev'),
          ).toEqual(whole.slice(0, page - 1));
        },
      ),
      { numRuns: drawn(60) },
    );
  });

  test('a cursor holds although records before it, and its own, have gone', async () => {
    const { ask } = rig({ estate: estate(10) });
    const first = await ask('GET', '/api/v2/alert_rules/?limit=4');
    for (const gone of [0, 3]) await ask('DELETE', `/api/v2/alert_rules/${uuid(gone)}/`);
    const { search } = new URL(first.body.meta.next ?? '');
    const second = await ask('GET', `/api/v2/alert_rules/${search}`);
    expect(second.body.data.map((one) => one.alert_config_id)).toEqual([4, 5, 6, 7].map(uuid));
  });
});

describe('parameters', () => {
  test.each([
    ['/api/v2/accounts/?limit=0', 'limit'],
    ['/api/v2/accounts/?limit=-1', 'limit'],
    ['/api/v2/accounts/?limit=ten', 'limit'],
    ['/api/v2/accounts/?offset=1.5', 'offset'],
    ['/api/v2/accounts/?limit=5&limit=6', 'limit'],
    ['/api/v2/alert_rules/?cursor=nonsense', 'cursor'],
    [
      `/api/v2/accounts/?id__in=${Array.from({ length: 101 }, (_, index) => index + 1).join(',')}`,
      'id__in',
    ],
    ['/api/v2/accounts/?cursor=WzAsIjEiXQ', 'cursor'],
  ])('%s is refused', async (path, parameter) => {
    const { status, body } = await rig({ estate: estate(3) }).ask('GET', path);
    expect([status, body.errors[0]?.path]).toEqual([400, parameter]);
  });

  test('a hundred values are taken, and 500 records', async () => {
    const { ask } = rig({ estate: estate(600) });
    const ids = Array.from({ length: 100 }, (_, index) => index + 100).join(',');
    expect((await ask('GET', `/api/v2/accounts/?id__in=${ids}&limit=500`)).body.data).toHaveLength(
      100,
    );
    expect((await ask('GET', '/api/v2/accounts/?limit=500')).body.data).toHaveLength(500);
    expect((await ask('GET', '/api/v2/accounts/')).body.data).toHaveLength(20);
    expect((await ask('GET', '/api/v3/beta/account_authorizations')).body.data).toHaveLength(20);
  });

  test('both cursors at once are refused, as are fields nobody knows', async () => {
    const { ask } = rig({ estate: estate(3) });
    for (const query of [
      'page[after]=a&page[before]=b',
      'page[after]=%21',
      'sort=colour',
      'search[colour]=x',
      'page[number]=2',
    ]) {
      expect([
        query,
        (await ask('GET', `/api/v3/beta/account_authorizations?${query}`)).status,
      ]).toEqual([query, 400]);
    }
  });
});
