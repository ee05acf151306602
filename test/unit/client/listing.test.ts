// Listings are complete or refused, whatever the pages look like.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '../../../src/client/index.js';
import { kinds } from '../../../src/resources/index.js';
import { ExactNumber, kind } from '../../../src/model/index.js';
import { bench, json, page, page3, refusal, script, secret, v2Headers } from './fake-cloud.js';
import { drawn } from '../../support/drawn.js';

const rules = kinds.get('alert_rules')!;
const accounts = kinds.get('accounts')!;
const authorizations = kinds.get('account_authorizations')!;

const rule = (id: string) => ({ alert_config_id: id, schedule: null });
const account = (id: number) => ({
  id: String(id),
  name: `account ${id}`,
  account: 'https://elsewhere.example/api/v2/accounts/1/',
});
const authorization = (id: string, role = 'no_access') => ({
  type: 'account_authorizations',
  id,
  attributes: { role, note: 'kept' },
  relationships: {
    user: { data: { type: 'users', id: '77' } },
    account: { data: { type: 'accounts', id: '5' } },
  },
  links: { self: `/api/v3/beta/account_authorizations/${id}` },
});
const ids = (objects: readonly { id: string }[]) => objects.map(({ id }) => id);

/** Accounts by offset, as the reference describes them. */
const offsetServer =
  (total: number, cap = 500) =>
  (_: unknown, url: URL): HttpResponse => {
    const offset = Number(url.searchParams.get('offset') ?? 0);
    const limit = Math.min(cap, Number(url.searchParams.get('limit') ?? 20));
    const data = Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (__, index) =>
      account(offset + index + 1),
    );
    const next =
      offset + limit < total
        ? `https://shard7.example/api/v2/accounts/?limit=${limit}&offset=${offset + limit}`
        : null;
    return json({ data, meta: { limit, offset, next, previous: null } });
  };

describe('a listing by next', () => {
  it('asks for the largest page with the four headers, and follows the query of next on its own address', async () => {
    const { cloud, asked, paths } = bench(
      script(
        page([rule('a')], 'https://shard7.example/other/path/?cursor=x%3D1&limit=500'),
        page([rule('b')]),
      ),
    );
    const listing = await cloud.list(rules);
    expect(ids(listing.objects)).toEqual(['a', 'b']);
    expect(paths()).toEqual([
      '/api/v2/alert_rules/?limit=500',
      '/api/v2/alert_rules/?cursor=x%3D1&limit=500',
    ]);
    expect(asked.every(({ url }) => new URL(url).origin === 'http://127.0.0.1:9')).toBe(true);
    expect(asked[0]!.headers).toMatchObject({
      accept: 'application/json',
      'X-MGR-API-ID': 'mgr-id-1',
      'X-MGR-API-KEY': 'mgr-key-1',
      'X-VND-API-ID': 'vnd-id-1',
      'X-VND-API-KEY': 'vnd-key-1',
    });
    expect(asked[0]!.headers).not.toHaveProperty('authorization');
  });

  it('speaks JSON:API and a bearer token to v3, without a slash at the end', async () => {
    const { cloud, asked, paths } = bench(
      script(
        page3(
          [authorization('a')],
          '/api/v3/beta/account_authorizations?page%5Bafter%5D=c1&page%5Bsize%5D=50',
        ),
        page3([authorization('b', 'administrator')]),
      ),
    );
    const { objects } = await cloud.list(authorizations);
    expect(objects.map(({ values }) => values)).toEqual([
      { id: 'a', user: '77', account: '5', role: 'no_access' },
      { id: 'b', user: '77', account: '5', role: 'administrator' },
    ]);
    expect(objects[0]!.raw).toEqual(authorization('a'));
    expect(paths()[0]).toBe('/api/v3/beta/account_authorizations?page%5Bsize%5D=50');
    expect(paths()[1]).toContain('page%5Bafter%5D=c1');
    expect(asked[0]!.headers).toMatchObject({
      accept: 'application/vnd.api+json',
      'content-type': 'application/vnd.api+json',
      authorization: 'Bearer token-1',
    });
    expect(Object.keys(asked[0]!.headers)).not.toContain('X-MGR-API-KEY');
  });

  it('gives normal forms, the raw record only where a PUT needs it, and the clock of the server', async () => {
    const record = {
      ...rule('a'),
      associated_accounts: [9, 10, 9],
      updated_at: '2026-03-01T00:00:00+00:00',
      account: 'https://x.example/api/v2/accounts/7/',
      stranger: 1,
    };
    const answer = page([record]);
    const { cloud, clock } = bench(() => ({
      ...answer,
      headers: { ...answer.headers, date: 'Thu, 01 Jan 2026 00:00:09 GMT' },
    }));
    const listing = await cloud.list(rules);
    expect(new Date(clock.now() + listing.skew!).toISOString()).toBe('2026-01-01T00:00:09.000Z');
    expect(listing.objects).toEqual([
      {
        id: 'a',
        values: {
          alert_config_id: 'a',
          schedule: null,
          associated_accounts: ['10', '9'],
          updated_at: '2026-03-01T00:00:00.000Z',
          account: '7',
        },
      },
    ]);
    const other = bench(() => page([account(3)]));
    expect((await other.cloud.list(accounts)).objects[0]).toEqual({
      id: '3',
      values: { id: '3', name: 'account 3', account: '1' },
      raw: account(3),
    });
  });

  it('tells how far it has come', async () => {
    const { cloud, events } = bench(script(page([rule('a')], '?p=2'), page([rule('b')])));
    await cloud.list(rules);
    expect(events).toEqual([
      { type: 'reading', kind: 'alert_rules', objects: 1 },
      { type: 'reading', kind: 'alert_rules', objects: 2 },
    ]);
    expect(cloud.cost()).toEqual({ alert_rules: 2 });
  });

  it('lists completely however the records fall into pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.uuid(), { maxLength: 40 }),
        fc.array(fc.nat(6), { maxLength: 12 }),
        async (all, sizes) => {
          const parts: string[][] = [];
          let at = 0;
          for (const size of sizes) parts.push(all.slice(at, (at += size)));
          parts.push(all.slice(at));
          const kept = parts.filter(
            (part, index) => part.length > 0 || parts[index + 1]?.length !== 0,
          );
          const { cloud, asked } = bench((_, url) => {
            const number = Number(url.searchParams.get('page') ?? 0);
            return page(
              kept[number]!.map(rule),
              number + 1 < kept.length ? `http://any.example/?page=${number + 1}` : null,
            );
          });
          expect(ids((await cloud.list(rules)).objects)).toEqual(all);
          expect(asked).toHaveLength(kept.length);
        },
      ),
    );
  });

  it('refuses when any page has any fault', async () => {
    const faults: Record<string, (good: HttpResponse) => HttpResponse> = {
      html: (good) => ({
        ...good,
        headers: { 'content-type': 'text/html; charset=utf-8' },
        body: '<html></html>',
      }),
      truncated: (good) => ({ ...good, body: good.body.slice(0, -3) }),
      empty: (good) => ({ ...good, body: '' }),
      'no data': (good) => json({ meta: (JSON.parse(good.body) as { meta: unknown }).meta }),
      'data is not a list': () => json({ data: {}, meta: { next: null } }),
      'no meta': () => json({ data: [] }),
      'no next': () => json({ data: [], meta: {} }),
      'next is not a string': () => json({ data: [], meta: { next: 7 } }),
      'next without a query': () =>
        json({ data: [], meta: { next: 'https://any.example/api/v2/alert_rules/' } }),
      'next with an empty query': () => page([], 'https://any.example/api/v2/alert_rules/?'),
      'record without id': () => page([{ schedule: null }]),
      'record with an empty id': () => page([rule('')]),
      'record with a path for an id': () => page([rule('../x')]),
      'record that is not an object': () => page([null]),
      'record that is text': () => page(['a']),
      'bottomless record': () =>
        page([
          {
            ...rule('deep'),
            settings: JSON.parse('{"a":'.repeat(70) + '1' + '}'.repeat(70)) as unknown,
          },
        ]),
      'no rights': () => json({ exception: 'no' }, 403),
      gone: () => json({}, 404),
      redirect: () => json('', 301, { location: 'https://any.example/' }),
      partial: (good) => ({ ...good, status: 206 }),
      outage: () => json('', 503),
    };
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.nat(4),
        fc.constantFrom(...Object.keys(faults)),
        async (count, where, name) => {
          const bad = where % count;
          const { cloud } = bench((_, url) => {
            const number = Number(url.searchParams.get('page') ?? 0);
            const good = page(
              [rule(`r${number}`)],
              number + 1 < count ? `?page=${number + 1}` : null,
            );
            return number === bad ? faults[name]!(good) : good;
          });
          const { exit, text } = await refusal(cloud.list(rules));
          expect(exit).toBe(1);
          expect(text).toMatch(/alert_rules/);
        },
      ),
      { numRuns: drawn(200) },
    );
  });

  it.each([
    ['an HTML page', json('<html>', 200, { 'content-type': 'text/html' }), /HTML page/],
    ['truncated JSON', json('{"data": ['), /not complete, valid JSON/],
    ['401', json({ exception: 'bad keys' }, 401), /401: bad keys.*TRUEUP_MGR_API_ID/],
    [
      '403',
      json({ exception: { type: 'x', message: 'no role' } }, 403),
      /403: no role.*TRUEUP_VND_API_KEY/,
    ],
    ['a redirect', json('', 302, { location: 'https://evil.example/' }), /302.*never followed/],
    ['404', json('', 404), /404.*TRUEUP_V2_URL/],
    [
      'records beside errors',
      json({ data: [], errors: [{ detail: 'partial' }], meta: { next: null } }),
      /errors beside/,
    ],
    [
      'records beside an exception',
      json({ data: [], exception: 'partial', meta: { next: null } }),
      /errors beside/,
    ],
  ])('says what is wrong with %s, without asking again', async (_, answer, words) => {
    const { cloud, asked } = bench(() => answer);
    expect((await refusal(cloud.list(rules))).text).toMatch(words);
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['to itself', '?limit=500'],
    ['to an earlier page in another spelling', '?b=2&a=1'],
  ])('refuses a next that leads %s', async (_, back) => {
    let turn = 0;
    const { cloud, asked } = bench(() =>
      page([rule(`r${turn++}`)], turn === 1 ? '?a=1&b=2' : back),
    );
    expect((await refusal(cloud.list(rules))).text).toMatch(/already read/);
    expect(asked).toHaveLength(2);
  });

  it('refuses a listing of empty pages without end', async () => {
    let turn = 0;
    const { cloud, asked } = bench(() => page([], `?page=${++turn}`));
    expect((await refusal(cloud.list(rules))).text).toMatch(/without end/);
    expect(asked.length).toBeLessThan(20);
  });

  it('lists again when pages moved, and gives up when they never rest', async () => {
    const moved = bench(
      script(
        page([rule('a'), rule('b')], '?p=2'),
        page([rule('b')]),
        page([rule('x'), rule('a')], '?p=2'),
        page([rule('b')]),
      ),
    );
    expect(ids((await moved.cloud.list(rules)).objects)).toEqual(['x', 'a', 'b']);
    const restless = bench(script(page([rule('a'), rule('a')])));
    expect((await refusal(restless.cloud.list(rules))).code).toBe('moving-pages');
    expect(restless.asked).toHaveLength(4);
  });

  it('keeps every digit, and is not harmed by __proto__', async () => {
    const body =
      '{"data":[{"alert_config_id":"a","settings":{"big":12345678901234567890123,"list":[-9007199254740993],"small":9007199254740991,"text":"n: 12345678901234567890, \\"x\\"","__proto__":{"evil":1},"\\u005f_proto__":{"evil":2}}}],"meta":{"next":null}}';
    const { objects } = await bench(() => json(body)).cloud.list(rules);
    const settings = objects[0]!.values['settings'] as Record<string, unknown>;
    expect(settings).toEqual({
      '__proto__ (not read)': '*',
      big: new ExactNumber('12345678901234567890123'),
      list: [new ExactNumber('-9007199254740993')],
      small: 9007199254740991,
      text: 'n: 12345678901234567890, "x"',
    });
    expect(JSON.parse(JSON.stringify(settings))).toMatchObject({
      big: '12345678901234567890123',
      list: ['-9007199254740993'],
    });
    expect(Object.hasOwn(settings, '__proto__')).toBe(false);
    expect(({} as Record<string, unknown>)['evil']).toBeUndefined();
    const numeric = await bench(() =>
      json(
        '{"data":[{"id":12345678901234567890,"name":"n"},{"id":7,"name":"m"}],"meta":{"next":null}}',
      ),
    ).cloud.list(accounts);
    expect(ids(numeric.objects)).toEqual(['12345678901234567890', '7']);
    expect(numeric.objects[1]!.values['id']).toBe('7');
  });
});

describe('a ghost record', () => {
  const managers = kinds.get('configuration_managers')!;
  const ghost = {
    id: '',
    account: 'https://any.example/api/v2/accounts/None/',
    target: null,
    version_number: 0,
  };
  const real = {
    id: '4',
    router: 'https://any.example/api/v2/routers/12/',
    account: 'https://any.example/api/v2/accounts/1/',
  };

  it('is left out with a note that is given once, with the count', async () => {
    const { cloud, events } = bench((_, url) =>
      url.searchParams.get('offset') === '500'
        ? page([{ ...ghost, configuration: [{}, []], router: null }])
        : page([ghost, real, ghost], '?limit=500&offset=500'),
    );
    expect(ids((await cloud.list(managers)).objects)).toEqual(['4']);
    expect(ids((await cloud.list(managers)).objects)).toEqual(['4']);
    const notes = events.flatMap((event) =>
      event.type === 'diagnostic' ? [event.diagnostic] : [],
    );
    expect(notes).toEqual([
      {
        severity: 'info',
        code: 'ghost-records',
        summary: expect.stringMatching(
          /^The listing of configuration_managers holds 3 records without an id/,
        ) as string,
      },
    ]);
  });

  it('is no answer to a search', async () => {
    const { cloud } = bench(() => page([ghost]));
    expect(await cloud.find(managers, ['4'])).toEqual([]);
  });

  it.each([
    ['no id at all', { ...ghost, id: undefined }],
    ['null for an id', { ...ghost, id: null }],
    ['blanks for an id', { ...ghost, id: ' ' }],
    ['an id that is no id', { ...ghost, id: '../1' }],
    ['an account', { ...ghost, account: 'https://any.example/api/v2/accounts/7/' }],
    ['no word of an account', { ...ghost, account: undefined }],
    ['null for an account', { ...ghost, account: null }],
    ['a target', { ...ghost, target: [{}, []] }],
    ['no word of a target', { ...ghost, target: undefined }],
    ['a version', { ...ghost, version_number: 1 }],
    ['no version', { ...ghost, version_number: undefined }],
  ])('is none with %s: the listing is refused', async (_, record) => {
    expect((await refusal(bench(() => page([real, record])).cloud.list(managers))).text).toMatch(
      /record without a valid id/,
    );
  });

  it('is none where the kind knows of no ghosts', async () => {
    expect(
      (await refusal(bench(() => page([{ ...ghost, name: 'x' }])).cloud.list(accounts))).text,
    ).toMatch(/record without a valid id/);
  });
});

describe('the end of a v3 listing', () => {
  const pagination = (after?: unknown) => ({
    pagination: { before: null, ...(after !== undefined && { after }) },
  });
  const end = async (rest: object) =>
    bench(() => json({ data: [authorization('a')], ...rest })).cloud.list(authorizations);

  it.each([
    ['links.next is null', { links: { next: null } }],
    ['links has no next', { links: {} }],
    ['links has no next, and after is null', { links: { self: '/x' }, meta: pagination(null) }],
    ['after is null without links', { meta: pagination(null) }],
    ['after is null and links too', { links: null, meta: pagination(null) }],
    ['links.next is null, whatever after is', { links: { next: null }, meta: pagination('c2') }],
  ])('is where %s', async (_, rest) => {
    expect(ids((await end(rest)).objects)).toEqual(['a']);
  });

  it.each([
    ['neither links nor pagination', {}, /does not say under links.next or meta.pagination.after/],
    ['pagination without after', { meta: pagination() }, /does not say/],
    ['links null and nothing else', { links: null }, /does not say/],
    ['links in a list', { links: [] }, /does not say/],
    ['meta without pagination', { meta: {} }, /does not say/],
    [
      'after with a cursor and no link',
      { links: {}, meta: pagination('c2') },
      /no links.next that leads there/,
    ],
    [
      'after with a cursor and no links',
      { meta: pagination('c2') },
      /no links.next that leads there/,
    ],
    [
      'next without a query',
      { links: { next: '/api/v3/beta/account_authorizations' } },
      /leads nowhere/,
    ],
    ['next that is not a string', { links: { next: 7 } }, /leads nowhere/],
  ])('is unknown with %s', async (_, rest, words) => {
    expect((await refusal(end(rest))).text).toMatch(words);
  });

  it('is not where a link leads on, although after is null', async () => {
    const { cloud } = bench(
      script(
        page3([authorization('a')], '?page%5Bafter%5D=c1'),
        json({ data: [authorization('b')], links: {} }),
      ),
    );
    expect(ids((await cloud.list(authorizations)).objects)).toEqual(['a', 'b']);
  });
});

describe('a listing by offset', () => {
  it.each([
    // total, expected by the state, requests at least, requests at most
    [0, undefined, 1, 1],
    [500, undefined, 1, 1],
    [501, undefined, 2, 3],
    [1000, undefined, 2, 3],
    [2600, undefined, 6, 8],
    [5000, undefined, 10, 12],
    [5000, 5000, 10, 10],
    [5001, 5000, 11, 12],
    [10_000, 9_800, 20, 20],
    [400, 300, 1, 1],
    [700, 1200, 2, 3],
  ])(
    'lists %i of which %s are expected with little waste',
    async (total, expected, least, most) => {
      const { cloud, asked } = bench(
        offsetServer(total),
        expected === undefined ? {} : { ahead: { accounts: expected } },
      );
      expect(ids((await cloud.list(accounts)).objects)).toEqual(
        Array.from({ length: total }, (_, index) => String(index + 1)),
      );
      expect(asked.length).toBeGreaterThanOrEqual(least);
      expect(asked.length).toBeLessThanOrEqual(most);
    },
  );

  it('fetches expected pages beside one another, eight at once', async () => {
    let under = 0;
    let most = 0;
    const serve = offsetServer(10_000);
    const { cloud } = bench(
      async (request, url) => {
        most = Math.max(most, ++under);
        await new Promise((resolve) => setTimeout(resolve, 2));
        under -= 1;
        return serve(request, url);
      },
      { ahead: { accounts: 10_000 }, deadlineSeconds: 1e9 },
    );
    await cloud.list(accounts);
    expect(most).toBe(8);
  });

  it('follows next where the server pages by its own measure', async () => {
    const { cloud } = bench(offsetServer(730, 100), { ahead: { accounts: 730 } });
    expect((await cloud.list(accounts)).objects).toHaveLength(730);
  });

  it('is not hurt by a failing page beyond the end, and is refused for one before it', async () => {
    const serve = offsetServer(600);
    const answer = (bad: string) => (request: unknown, url: URL) =>
      url.searchParams.get('offset') === bad ? json('', 400) : serve(request, url);
    const fine = bench(answer('1000'), { ahead: { accounts: 1400 } });
    expect((await fine.cloud.list(accounts)).objects).toHaveLength(600);
    expect(
      (await refusal(bench(answer('500'), { ahead: { accounts: 1400 } }).cloud.list(accounts)))
        .text,
    ).toMatch(/400/);
  });

  it('notices a server that ignores the offset', async () => {
    const { cloud } = bench((_, url) =>
      json({
        data: [account(1)],
        meta: { next: `?limit=500&offset=${Number(url.searchParams.get('offset') ?? 0) + 500}` },
      }),
    );
    expect((await refusal(cloud.list(accounts))).code).toBe('moving-pages');
  });

  it('lists completely for any total, expectation and page size of the server', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(4000),
        fc.nat(6000),
        fc.constantFrom(500, 500, 250, 77),
        async (total, expected, cap) => {
          const { cloud } = bench(offsetServer(total, cap), { ahead: { accounts: expected } });
          expect((await cloud.list(accounts)).objects).toHaveLength(total);
        },
      ),
      { numRuns: drawn(40) },
    );
  });
});

describe('finding by identifier', () => {
  it('asks in chunks of a hundred where there is a filter for many', async () => {
    const wanted = Array.from({ length: 250 }, (_, index) => String(index + 1));
    const { cloud, asked, paths } = bench((_, url) =>
      page(
        url.searchParams
          .get('id__in')!
          .split(',')
          .filter((id) => Number(id) % 2)
          .map((id) => account(Number(id))),
      ),
    );
    const found = await cloud.find(accounts, [...wanted, ...wanted]);
    expect(ids(found)).toEqual(wanted.filter((id) => Number(id) % 2));
    expect(asked).toHaveLength(3);
    expect(paths()[2]).toMatch(/^\/api\/v2\/accounts\/\?id__in=201%2C202.*limit=500$/);
  });

  it('asks once for each id elsewhere, at most ten at once', async () => {
    let under = 0;
    let most = 0;
    const { cloud, asked } = bench(
      async (_, url) => {
        most = Math.max(most, ++under);
        await new Promise((resolve) => setImmediate(resolve));
        under -= 1;
        return page([rule(url.searchParams.get('alert_config_id')!)]);
      },
      { deadlineSeconds: 1e9 },
    );
    const wanted = Array.from({ length: 25 }, (_, index) => `r${index}`);
    expect(ids(await cloud.find(rules, wanted))).toEqual(wanted);
    expect(asked).toHaveLength(25);
    expect(most).toBe(10);
  });

  it('is not fooled by a server that ignores the filter', async () => {
    const { cloud } = bench(script(page([rule('a'), rule('b')], '?p=2'), page([rule('c')])));
    expect(ids(await cloud.find(rules, ['c']))).toEqual(['c']);
    const other = bench(script(page([rule('a')])));
    expect(await other.cloud.find(rules, ['c'])).toEqual([]);
  });

  it.each([
    ['401', json('', 401)],
    ['500', json('', 500)],
    ['HTML', json('<html>', 200, { 'content-type': 'text/html' })],
    ['404 on a collection', json('', 404)],
    ['410 on a collection', json('', 410)],
    ['an empty answer', json('')],
  ])('refuses on %s: a failed look is no proof of absence', async (_, answer) => {
    await refusal(bench(() => answer).cloud.find(rules, ['a']));
  });

  it.each([401, 403, 500, 503])('refuses on %i for one object as well', async (status) => {
    await refusal(bench(() => json('', status)).cloud.find(authorizations, ['a']));
  });

  it.each([404, 410])('takes %i for one object as its absence', async (status) => {
    const { cloud, paths } = bench((_, url) =>
      url.pathname.endsWith('/there') ? json({ data: authorization('there') }) : json('', status),
    );
    expect(await cloud.find(authorizations, ['gone'])).toEqual([]);
    expect(await cloud.find(authorizations, ['gone', 'there'])).toMatchObject([{ id: 'there' }]);
    expect(paths()).toHaveLength(3);
  });

  it('reads one object by its path where there is no filter; another object is no absence', async () => {
    const { cloud, paths } = bench((_, url) => {
      if (url.pathname.endsWith('/a%3A1')) return json({ data: authorization('a:1') });
      if (url.pathname.endsWith('/wrong')) return json({ data: authorization('other') });
      return json('', 403);
    });
    expect(await cloud.find(authorizations, ['a:1', '..'])).toMatchObject([
      { id: 'a:1', values: { role: 'no_access' } },
    ]);
    expect(paths()).toEqual(['/api/v3/beta/account_authorizations/a%3A1']);
    expect((await refusal(cloud.find(authorizations, ['wrong']))).text).toMatch(/is about other/);
    expect((await refusal(cloud.find(authorizations, ['x']))).text).toMatch(/TRUEUP_V3_TOKEN/);
  });
});

describe('what is missing', () => {
  it('names the environment for a dialect without address, and for a credential without value', async () => {
    const without = bench(() => page([]), { v3: undefined as never });
    expect((await refusal(without.cloud.list(authorizations))).text).toMatch(
      /TRUEUP_V3_URL.*TRUEUP_V3_TOKEN or TRUEUP_V3_TOKEN_FILE/,
    );
    expect(without.cloud.target).toBe('http://127.0.0.1:9/api/v2');
    const keyless = bench(() => page([]), {
      v2: {
        url: 'http://localhost:9/api/v2/',
        headers: { ...v2Headers, 'X-VND-API-KEY': secret('TRUEUP_VND_API_KEY', undefined) },
      },
    });
    expect((await refusal(keyless.cloud.list(rules))).text).toMatch(
      /TRUEUP_VND_API_KEY has no value/,
    );
    expect(keyless.asked).toEqual([]);
    const broken = bench(() => page([]), {
      v2: {
        url: 'http://localhost:9/api/v2/',
        headers: { ...v2Headers, 'X-VND-API-KEY': secret('TRUEUP_VND_API_KEY', 'sesame\nx: y') },
      },
    });
    const { text } = await refusal(broken.cloud.list(rules));
    expect(text).toMatch(/TRUEUP_VND_API_KEY/);
    expect(text).not.toMatch(/sesame/);
  });

  it.each([
    ['http://api.example.com/api/v2', /plain http/],
    ['ftp://api.example.com/', /neither https nor http/],
    ['https://user:hunter2@api.example.com/', /user name or password/],
    ['https://api.example.com/?key=hunter2', /query/],
    ['not a url hunter2', /not a URL/],
    ['http://127.0.0.1.evil.example/', /plain http/],
  ])('refuses the address %s without quoting it', async (url, words) => {
    const { text } = await refusal(
      Promise.resolve().then(() => bench(() => page([]), { v2: { url, headers: v2Headers } })),
    );
    expect(text).toMatch(words);
    expect(text).not.toMatch(/hunter2/);
  });

  it('lists a kind nobody has thought of yet', async () => {
    const made = kind({
      ...rules,
      name: 'widgets',
      id: 'wid',
      attributes: { wid: rules.attributes['alert_config_id']! },
      operations: { ...rules.operations, collection: 'widgets', page: 7 },
    });
    const { cloud, paths } = bench(() => page([{ wid: 'w1' }]));
    expect(ids((await cloud.list(made)).objects)).toEqual(['w1']);
    expect(paths()).toEqual(['/api/v2/widgets/?limit=7']);
  });
});
