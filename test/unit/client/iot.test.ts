// Subscriptions of the IoT platform: what is asked, with which token, how a listing ends, and what is no answer.
import { describe, expect, it, test } from 'vitest';
import type { HttpResponse, ConnectOptions, HttpRequest } from '../../../src/client/index.js';
import type { Found } from '../../../src/model/index.js';
import { subscriptions as collection } from '../../../src/resources/subscriptions.js';
import { bench, json, lost, refusal, script, secret, type Bench } from './fake-cloud.js';

const DETAILS = '/iot/api/subscriptions/details';
const TOKEN = '/iot/api/auth/token';
const loopback = {
  url: 'http://127.0.0.1:9',
  username: secret('TRUEUP_IOT_USERNAME', 'dana'),
  password: secret('TRUEUP_IOT_PASSWORD', 'open sesame & co'),
};
const sims = (...imsis: readonly string[]): readonly { imsi: string }[] =>
  imsis.map((imsi) => ({ imsi }));
const listed = (records: readonly unknown[], next?: unknown, more: object = {}): HttpResponse =>
  json({
    subscriptions: records,
    size: records.length,
    ...(next !== undefined && { next }),
    ...more,
  });
const problem = (status: number, headers: Readonly<Record<string, string>> = {}): HttpResponse =>
  json(
    { type: 'about:blank', title: 'Not so', status, detail: 'because \u001b[31mreasons' },
    status,
    { 'content-type': 'application/problem+json', ...headers },
  );
const issued = (number: number, expires_in: unknown = 1800): HttpResponse =>
  json({ access_token: `token-${number}`, token_type: 'JWT', expires_in });

interface Platform extends Bench {
  readonly tokens: () => number;
  /** Every record that the filters give, and what stands in its way. */
  readonly read: (filters: Readonly<Record<string, string>>) => Promise<readonly Found[]>;
  readonly details: () => readonly HttpRequest[];
}

type Reply = (
  request: HttpRequest,
  url: URL,
  token: string,
) => HttpResponse | Promise<HttpResponse>;

function platform(
  answer: Reply,
  {
    token = issued,
    ...more
  }: Partial<ConnectOptions> & {
    token?: (number: number) => HttpResponse | Promise<HttpResponse>;
  } = {},
): Platform {
  let tokens = 0;
  const made = bench(
    (request, url) =>
      url.pathname === TOKEN
        ? token(++tokens)
        : answer(request, url, (request.headers['authorization'] ?? '').replace('Bearer ', '')),
    {
      iot: loopback,
      ...more,
    },
  );
  return {
    ...made,
    tokens: () => tokens,
    details: () => made.asked.filter(({ url }) => new URL(url).pathname === DETAILS),
    async read(filters) {
      const all: Found[] = [];
      for await (const some of made.cloud.records(collection, { filters })) all.push(...some);
      return all;
    },
  };
}

const imsis = (found: readonly Found[]): readonly unknown[] =>
  found.map(({ record }) => record['imsi']);

describe('the token', () => {
  it('comes by the password grant, as a form, once for all requests beside one another', async () => {
    const { read, asked, tokens } = platform(() => listed(sims('1')));
    await Promise.all([read({ label: 'a' }), read({ label: 'b' }), read({ imsi: '1' })]);
    expect(tokens()).toBe(1);
    expect([asked[0]?.method, asked[0]?.url, asked[0]?.headers['content-type']]).toEqual([
      'POST',
      `http://127.0.0.1:9${TOKEN}`,
      'application/x-www-form-urlencoded',
    ]);
    expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toEqual({
      grant_type: 'password',
      client_id: 'cm-public-api-client',
      username: 'dana',
      password: 'open sesame & co',
    });
    expect(asked.slice(1).map(({ headers }) => headers['authorization'])).toEqual(
      Array(3).fill('Bearer token-1'),
    );
    expect(asked.slice(1).map(({ headers }) => headers['accept'])).toEqual(
      Array(3).fill('application/json'),
    );
  });

  it.each([
    [1800, 1_769_000, 1],
    [1800, 1_771_000, 2],
    [10, 8000, 1],
    [10, 9500, 2],
    ['10', 9500, 2],
    [null, 10_000_000, 1],
    [-5, 10_000_000, 1],
    ['soon', 10_000_000, 1],
  ])(
    'that lasts %s seconds is renewed, after %i ms, for %i in all',
    async (seconds, wait, count) => {
      const { read, clock, tokens } = platform(() => listed(sims('1')), {
        token: (number) => issued(number, seconds),
      });
      await read({ label: 'a' });
      await clock.sleep(wait);
      await Promise.all([read({ label: 'a' }), read({ label: 'b' })]);
      expect(tokens()).toBe(count);
    },
  );

  it('that is refused in the middle of a listing is renewed once, and the page is asked for again', async () => {
    const { read, tokens, details } = platform((_, url, token) => {
      const second = url.searchParams.has('cursor');
      if (second && token === 'token-1') return problem(401);
      return second ? listed(sims('2')) : listed(sims('1'), 'c-2');
    });
    expect(imsis(await read({ label: 'a' }))).toEqual(['1', '2']);
    expect(tokens()).toBe(2);
    expect(details().map(({ url }) => new URL(url).searchParams.get('cursor'))).toEqual([
      null,
      'c-2',
      'c-2',
    ]);
  });

  it('that is refused to many at once is renewed once for all', async () => {
    const { read, tokens } = platform((_, __, token) =>
      token === 'token-1' ? problem(401) : listed(sims('1')),
    );
    await Promise.all(Array.from({ length: 5 }, (_, index) => read({ label: `l${index}` })));
    expect(tokens()).toBe(2);
  });

  it('that is refused when new is an error', async () => {
    const { read, tokens, details } = platform(() => problem(401));
    const { code, text } = await refusal(read({ label: 'a' }));
    expect([code, tokens(), details().length]).toEqual(['unauthenticated', 2, 2]);
    expect(text).toContain(`GET ${DETAILS} returned 401: Not so: because [31mreasons`);
    expect(text).toContain('The token was new');
    expect(text).not.toContain('\u001b');
  });

  it('that is not given is asked for again by the next reading only', async () => {
    const { read, tokens } = platform(() => listed(sims('1')), {
      token: (number) => (number === 1 ? problem(401) : issued(number)),
    });
    const { code, text } = await refusal(read({ label: 'a' }));
    expect([code, tokens()]).toEqual(['unauthenticated', 1]);
    expect(text).toContain('TRUEUP_IOT_USERNAME and TRUEUP_IOT_PASSWORD');
    expect(imsis(await read({ label: 'a' }))).toEqual(['1']);
  });

  it.each([
    ['nothing', json({})],
    ['an empty one', json({ access_token: '', expires_in: 1800 })],
    ['a list', json([])],
    ['half an answer', json('{"access_token": "to')],
    ['a page', json('<html>', 200, { 'content-type': 'text/html' })],
  ])('is not taken from %s', async (_, token) => {
    const { code, text } = await refusal(
      platform(() => listed([]), { token: () => token }).read({ label: 'a' }),
    );
    expect([code, text.includes(`POST ${TOKEN}`)]).toEqual(['unreadable-answer', true]);
  });

  it('is not the only thing a service may answer: a complaint of ten megabytes is cut', async () => {
    const { read } = platform(() =>
      json({ title: 'No', detail: 'x'.repeat(10_000_000) }, 400, {
        'content-type': 'application/problem+json',
      }),
    );
    const { code, text } = await refusal(read({ label: 'a' }));
    expect([code, text.length < 1000]).toEqual(['rejected', true]);
  });

  it('and the password are in no message and no event, however the service repeats them', async () => {
    const echo = (status: number): HttpResponse =>
      json(
        {
          title: 'No',
          detail: 'token-1 open sesame & co open+sesame+%26+co open%20sesame%20%26%20co',
        },
        status,
        { 'content-type': 'application/problem+json' },
      );
    for (const [made, hidden] of [
      [platform(() => echo(403)), /sesame|token-1/],
      [platform(() => listed([]), { token: () => echo(400) }), /sesame/],
      [platform(() => echo(401), { token: () => issued(1) }), /sesame|token-1/],
    ] as const) {
      const { text } = await refusal(made.read({ label: 'a' }));
      expect(text).toContain('***');
      expect(text + JSON.stringify(made.events)).not.toMatch(hidden);
    }
  });
});

describe('what is asked', () => {
  test.each([
    ['label', 'fleet-a', 'label==fleet-a'],
    ['company', 'Acme Ltd', 'company=="Acme Ltd"'],
    ['customField', 'a;state==ACTIVE', 'customField=="a;state==ACTIVE"'],
    ['label', 'x" or label=="y', `label=='x" or label=="y'`],
    ['label', "O'Brien", `label=="O'Brien"`],
    ['label', 'Zürich, Süd', 'label=="Zürich, Süd"'],
    ['label', 'a&limit=1#b', 'label=="a&limit=1#b"'],
  ])('%s=%s is one condition', async (key, value, q) => {
    const { read, details } = platform(() => listed([]));
    await read({ [key]: value });
    const [one] = details();
    expect([one?.method, one?.body]).toEqual(['GET', undefined]);
    expect([...new URL(one?.url ?? '').searchParams]).toEqual([
      ['q', q],
      ['limit', '10000'],
    ]);
  });

  test.each([
    { label: `both ' and "` },
    { label: 'a\\' },
    { label: 'line\nbreak' },
    { imsi: ' , ' },
  ])('%j is refused before anything is sent', async (filters) => {
    const { read, asked } = platform(() => listed([]));
    expect((await refusal(read(filters))).code).toBe('filter-value');
    expect(asked).toEqual([]);
  });

  test.each([
    [{}, 'filter-needed'],
    [{ label: '' }, 'filter-needed'],
    [{ state: 'ACTIVE' }, 'filter-needed'],
    [{ path: '240010000000001' }, 'filter-needed'],
    [{ label: 'a', company: 'b' }, 'one-filter'],
    [{ imsi: '1', msisdn: '2' }, 'one-filter'],
    [{ label: 'a', state: 'ACTIVE' }, 'one-filter'],
  ])('%j is not exactly one filter', async (filters, expected) => {
    const { read, asked } = platform(() => listed([]));
    const { code, text } = await refusal(read(filters));
    expect([code, asked.length]).toEqual([expected, 0]);
    expect(text).toContain('label, company, customField, imsi, icc, msisdn');
  });

  test.each([
    [{ since: '2026-01-01T00:00:00.000Z' }, 'no-times'],
    [{ until: '2026-01-01T00:00:00.000Z' }, 'no-times'],
    [{ expand: 'account' }, 'unknown-expand'],
  ])('nothing is ignored: %j is refused before anything is sent', async (more, expected) => {
    const { cloud, asked } = platform(() => listed([]));
    const records = cloud.records(collection, { filters: { label: 'a' }, ...more });
    const reading = records[Symbol.asyncIterator]();
    expect((await refusal(reading.next())).code).toBe(expected);
    expect(asked).toEqual([]);
  });

  it('without an address names what to set', async () => {
    const { cloud } = bench(() => listed([]));
    const first = cloud.records(collection, { filters: { imsi: '1' } })[Symbol.asyncIterator]();
    const { code, text } = await refusal(first.next());
    expect(code).toBe('no-target');
    expect(text).toContain('TRUEUP_IOT_URL, and TRUEUP_IOT_USERNAME and TRUEUP_IOT_PASSWORD');
  });

  test.each([
    ['imsi', 'IMSI', 'imsi'],
    ['icc', 'ICC', 'iccid'],
    ['msisdn', 'MSISDN', 'msisdn'],
  ])(
    '%s= is a list of identifiers, in pieces, none twice, with label and custom fields',
    async (key, identifierType, attribute) => {
      const { read, details } = platform(({ body }) =>
        listed(
          (JSON.parse(body ?? '') as { identifierValues: string[] }).identifierValues.map(
            (value) => ({ imsi: `9${value}`, [attribute]: value }),
          ),
        ),
      );
      const values = Array.from({ length: 250 }, (_, index) => String(1000 + index));
      expect(
        (await read({ [key]: [...values, ' 1000', '1249 ', ''].join(',') })).map(
          ({ record }) => record[attribute],
        ),
      ).toEqual(values);
      expect(details().map(({ method }) => method)).toEqual(['POST', 'POST', 'POST']);
      expect(details().map(({ headers }) => headers['content-type'])).toEqual(
        Array(3).fill('application/json'),
      );
      const bodies = details().map(
        ({ body }) =>
          JSON.parse(body ?? '') as { identifierType: string; identifierValues: string[] },
      );
      expect(bodies.map((one) => [one.identifierType, one.identifierValues.length])).toEqual([
        [identifierType, 100],
        [identifierType, 100],
        [identifierType, 50],
      ]);
      for (const { url } of details())
        expect(new URL(url).search).toBe('?additionalFields=LABEL&additionalFields=CUSTOM_FIELDS');
    },
  );

  it('is asked again where the service is in trouble, by GET and by POST', async () => {
    for (const filters of [{ label: 'a' }, { imsi: '1' }]) {
      const { read } = platform(script(problem(503), () => lost(), listed(sims('1'))));
      expect(imsis(await read(filters))).toEqual(['1']);
    }
  });
});

describe('a listing', () => {
  test.each([
    ['a bare cursor', 'c=2/+', 'c=2/+'],
    ['a relative URL', '/iot/api/subscriptions/details?cursor=c%3D2', 'c=2'],
    [
      'a URL of another host',
      'https://elsewhere.example.com/x?cursor=c2&limit=1&q=label==other',
      'c2',
    ],
    ['a query', '?cursor=c2', 'c2'],
  ])('goes on by %s, with what was asked for, where it was asked', async (_, next, cursor) => {
    const { read, details } = platform((__, url) =>
      url.searchParams.has('cursor') ? listed(sims('2'), null) : listed(sims('1'), next),
    );
    expect(imsis(await read({ label: 'a' }))).toEqual(['1', '2']);
    const second = new URL(details()[1]?.url ?? '');
    expect([second.origin, second.pathname]).toEqual(['http://127.0.0.1:9', DETAILS]);
    expect(Object.fromEntries(second.searchParams)).toEqual({
      cursor,
      q: 'label==a',
      limit: '10000',
    });
    expect(second.searchParams.getAll('q')).toHaveLength(1);
  });

  test.each([
    [
      'a next that is an address without a query',
      listed(sims('1'), 'https://elsewhere.example.com/'),
      'leads nowhere',
    ],
    ['a next that is a number', listed(sims('1'), 7), 'leads nowhere'],
    [
      'an address that asks for nothing',
      listed(sims('1'), '/iot/api/subscriptions/details?'),
      'leads nowhere',
    ],
    ['the same page again and again', listed([], 'c'), 'leads back'],
    ['no list', json({ size: 0 }), 'no list'],
    ['errors beside records', json({ subscriptions: [], errors: [{ message: 'half' }] }), 'errors'],
    ['less than it counts', listed(sims('1'), undefined, { size: 2 }), 'ends after 1'],
    ['a record that is none', listed(['x']), 'not an object'],
    ['a page in HTML', json('<html>', 200, { 'content-type': 'text/html' }), 'HTML'],
  ])('of %s is no listing', async (_, answer, words) => {
    const { code, text } = await refusal(platform(() => answer).read({ label: 'a' }));
    expect([code, text]).toEqual(['unreadable-answer', expect.stringContaining(words)]);
  });

  it('whose pages repeat records is refused', async () => {
    const { read } = platform((_, url) =>
      listed(sims('1'), `c${Number((url.searchParams.get('cursor') ?? 'c0').slice(1)) + 1}`),
    );
    expect((await refusal(read({ label: 'a' }))).code).toBe('moving-pages');
  });

  it('counts all of it on each page, or each page alone', async () => {
    for (const [first, second] of [
      [2, 1],
      [3, 3],
    ]) {
      const { read } = platform((_, url) =>
        url.searchParams.has('cursor')
          ? listed(sims('3'), null, { size: second })
          : listed(sims('1', '2'), 'c', { size: first }),
      );
      expect(await read({ label: 'a' })).toHaveLength(3);
    }
  });

  test.each<[string, Readonly<Record<string, string>>, readonly object[], (readonly object[])?]>([
    ['more than was asked for', { imsi: '1,2' }, sims('1', '2', '3')],
    ['another one', { imsi: '1' }, sims('9')],
    ['one twice', { imsi: '1,2' }, sims('1', '1')],
    ['one twice, on two pages', { imsi: '1,2' }, sims('1'), sims('1')],
    ['one that does not tell', { imsi: '1' }, [{ state: 'ACTIVE' }]],
    ['a number in place of its text', { imsi: '1' }, [{ imsi: 1 }]],
    ['the same digits of another identifier', { icc: '1' }, [{ imsi: '1', iccid: '2' }]],
    ['the same digits of a third', { msisdn: '1' }, [{ imsi: '1', iccid: '1', msisdn: '2' }]],
  ])('of identifiers that holds %s is none', async (_, filters, first, second) => {
    const { read } = platform((__, url) =>
      second && !url.searchParams.has('cursor') ? listed(first, 'c') : listed(second ?? first),
    );
    const { code, text } = await refusal(read(filters));
    expect([code, text]).toEqual([
      'unreadable-answer',
      expect.stringContaining('not asked for, or one twice'),
    ]);
  });

  it('of identifiers may hold fewer than were asked for, on as many pages as it likes', async () => {
    const { read } = platform((_, url) =>
      url.searchParams.has('cursor') ? listed(sims('1')) : listed(sims('3'), 'c'),
    );
    expect(imsis(await read({ imsi: '1,2,3' }))).toEqual(['3', '1']);
  });

  it('passes on what is not known: records without an identifier, states, fields, long texts', async () => {
    const records = [
      { state: 'ON_THE_MOON' },
      { state: 'TERMINATED', iccid: '89', novel: [{ deep: 1 }] },
      { imsi: '1', label: 'x'.repeat(10_000_000) },
      { state: null },
    ];
    const found = await platform(() => listed(records)).read({ label: 'a' });
    expect(found.map(({ record }) => record)).toEqual(records);
    expect(found[0]?.values).toMatchObject({ state: 'ON_THE_MOON' });
  });
});

describe('limits', () => {
  const far = { ...loopback, url: 'https://iot.example.com' };

  it('of the platform hold in every second and every minute, for details and for tokens', async () => {
    const times: Record<string, number[]> = { [DETAILS]: [], [TOKEN]: [] };
    const made = platform(
      (_, url, token) => {
        times[url.pathname]?.push(made.clock.monotonic());
        return Number(token.slice(6)) % 2 === 1 ? problem(401) : listed(sims('1'));
      },
      {
        iot: far,
        token: (number) => {
          times[TOKEN]?.push(made.clock.monotonic());
          return issued(number, 0.001);
        },
      },
    );
    for (let turn = 0; turn < 170; turn += 1) await made.read({ label: `l${turn}` });
    const most = (list: readonly number[], window: number): number =>
      Math.max(
        ...list.map((start) => list.filter((at) => at >= start && at < start + window).length),
      );
    expect(most(times[DETAILS] ?? [], 1000)).toBeLessThanOrEqual(10);
    expect(most(times[DETAILS] ?? [], 60_000)).toBeLessThanOrEqual(150);
    expect(most(times[TOKEN] ?? [], 1000)).toBeLessThanOrEqual(5);
    expect(most(times[TOKEN] ?? [], 60_000)).toBeLessThanOrEqual(60);
    expect(most(times[TOKEN] ?? [], 60_000)).toBeGreaterThan(50);
  });

  it('of details alone let through what the platform allows, and nothing waits on loopback', async () => {
    const spans = [far, loopback].map(async (iot) => {
      const times: number[] = [];
      const made = platform(() => (times.push(made.clock.monotonic()), listed(sims('1'))), { iot });
      for (let turn = 0; turn < 151; turn += 1) await made.read({ label: `l${turn}` });
      const busiest = Math.max(
        ...times.map((start) => times.filter((at) => at >= start && at < start + 1000).length),
      );
      return { busiest, seconds: Math.floor(((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000) };
    });
    expect(await Promise.all(spans)).toEqual([
      { busiest: 9, seconds: 60 },
      { busiest: 151, seconds: 0 },
    ]);
  });

  test.each([
    [{ 'x-ratelimit-remaining-second': '0', 'x-ratelimit-remaining-minute': '7' }, 1000, 2000],
    [{ 'x-ratelimit-remaining-second': '0', 'x-ratelimit-remaining-minute': '0' }, 60_000, 61_000],
    [{ 'retry-after': '5', 'x-ratelimit-remaining-minute': '0' }, 5000, 6000],
  ])('a 429 with %j is waited for', async (headers, least, most) => {
    const { read, clock } = platform(script(problem(429, headers), listed(sims('1'))));
    expect(await read({ label: 'a' })).toHaveLength(1);
    expect(clock.elapsed()).toBeGreaterThanOrEqual(least);
    expect(clock.elapsed()).toBeLessThan(most);
  });

  it('a 429 that does not end is an error that says so', async () => {
    expect((await refusal(platform(() => problem(429)).read({ label: 'a' }))).code).toBe(
      'rate-limited',
    );
  });
});
