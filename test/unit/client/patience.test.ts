// Retries, budgets, waiting and limits, on a clock that tells how long it all took.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limiter } from '../../../src/client/rate-limit.js';
import { backoff, retryAfter, retryBudget } from '../../../src/client/retry.js';
import { kinds } from '../../../src/resources/index.js';
import { bench, json, lost, never, page, refusal, refused, script } from './fake-cloud.js';
import { drawn } from '../../support/drawn.js';

const rules = kinds.get('alert_rules')!;
const now = Date.parse('2026-01-01T00:00:00Z');

describe('Retry-After', () => {
  it.each<[string | undefined, string | undefined, number | undefined]>([
    ['7', undefined, 7000],
    [' 7 ', undefined, 7000],
    ['0', undefined, 0],
    ['-3', undefined, undefined],
    ['1.5', undefined, undefined],
    ['soon', undefined, undefined],
    ['', undefined, undefined],
    [undefined, undefined, undefined],
    ['1e9', undefined, undefined],
    ['99999999999999999999', undefined, 1e23],
    ['Thu, 01 Jan 2026 00:00:30 GMT', undefined, 30_000],
    ['Thu, 01 Jan 2026 01:00:30 GMT', 'Thu, 01 Jan 2026 01:00:00 GMT', 30_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 'garbage', 30_000],
    ['Wed, 31 Dec 2025 23:00:00 GMT', undefined, undefined],
    ['Thursday, 01-Jan-26 00:00:30 GMT', undefined, 30_000],
    ['Thu Jan  1 00:00:30 2026', undefined, 30_000],
    ['2026', undefined, 2_026_000],
    ['Thu, 99 Jan 2026 00:00:30 GMT', undefined, undefined],
  ])('%j, at the server %j, is %j', (value, date, wait) => {
    expect(
      retryAfter(
        {
          ...(value !== undefined && { 'retry-after': value }),
          ...(date !== undefined && { date }),
        },
        now,
      ),
    ).toBe(wait);
  });
});

describe('the pause before another attempt', () => {
  it('is anywhere below a bound that doubles up to 20 s', () => {
    const longest = { fraction: () => 0.999999 };
    expect([1, 2, 3, 6, 7, 50].map((attempt) => backoff(attempt, longest))).toEqual([
      499, 999, 1999, 15999, 19999, 19999,
    ]);
    expect(backoff(9, { fraction: () => 0 })).toBe(0);
  });

  it.each<[string, number, Record<string, string>, number, number, number]>([
    // status, headers, requests, shortest and longest time spent
    ['what is asked for', 429, { 'retry-after': '5' }, 3, 10_000, 10_000],
    [
      'a date',
      503,
      { 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT', date: 'Thu, 01 Jan 2026 00:00:00 GMT' },
      3,
      120_000,
      120_000,
    ],
    ['two minutes at most', 429, { 'retry-after': '120' }, 3, 240_000, 240_000],
    ['no longer', 429, { 'retry-after': '121' }, 1, 0, 0],
    ['not for a year', 503, { 'retry-after': '99999999999999999999' }, 1, 0, 0],
    ['a little for garbage', 429, { 'retry-after': 'soon' }, 3, 1, 1500],
    ['a little for the past', 429, { 'retry-after': '-1' }, 3, 1, 1500],
    ['a little without it', 408, {}, 3, 1, 1500],
  ])('is %s', async (_, status, headers, requests, least, most) => {
    const { cloud, asked, clock } = bench(() => json('', status, headers));
    const { text } = await refusal(cloud.list(rules));
    expect(asked).toHaveLength(requests);
    expect(clock.elapsed()).toBeGreaterThanOrEqual(least);
    expect(clock.elapsed()).toBeLessThanOrEqual(most);
    expect(/asks to wait .* s, longer than the 120 s/.test(text)).toBe(requests === 1);
  });

  it('is told where it is long', async () => {
    const { cloud, events } = bench(script(json('', 429, { 'retry-after': '5' }), page([])));
    await cloud.list(rules);
    expect(events[0]).toEqual({
      type: 'waiting',
      why: 'the service asked to wait',
      milliseconds: 5000,
    });
  });
});

describe('a read', () => {
  it.each([
    ['a lost connection', lost],
    ['a refused connection', refused],
    ['500', json('', 500)],
    ['502', json('', 502)],
    ['503', json('', 503)],
    ['504', json('', 504)],
    ['408', json('', 408)],
    ['429', json('', 429)],
  ])('is tried again after %s, three times in all', async (_, trouble) => {
    const cured = bench(script(trouble, trouble, page([{ alert_config_id: 'a' }])));
    expect((await cured.cloud.list(rules)).objects).toHaveLength(1);
    const lasting = bench(script(trouble));
    await refusal(lasting.cloud.list(rules));
    expect(lasting.asked).toHaveLength(3);
    expect(lasting.cloud.cost()).toEqual({ alert_rules: 3 });
  });

  it('has a deadline for each attempt', async () => {
    const { cloud, asked, clock } = bench(({ signal }) => never(signal));
    expect((await refusal(cloud.list(rules))).text).toMatch(/within 30 s/);
    expect(asked).toHaveLength(3);
    expect(clock.elapsed()).toBeGreaterThanOrEqual(90_000);
    expect(clock.elapsed()).toBeLessThan(92_000);
  });

  it('is not repeated where nobody gets a response from the origin, but is after a response', async () => {
    const origins: string[] = [];
    const mayRepeat = (origin: string): boolean => {
      origins.push(origin);
      return origins.length < 2;
    };
    const dead = bench(script(lost), { mayRepeat });
    await refusal(dead.cloud.list(rules));
    expect(dead.asked).toHaveLength(2);
    expect(new Set(origins)).toEqual(new Set([new URL(dead.asked[0]!.url).origin]));
    const failing = bench(script(json('', 503)), { mayRepeat: () => false });
    await refusal(failing.cloud.list(rules));
    expect(failing.asked).toHaveLength(3);
  });

  it('ends at once when the run is interrupted', async () => {
    const running = bench(({ signal }) => never(signal));
    const promise = refusal(running.cloud.list(rules));
    await new Promise((resolve) => setImmediate(resolve));
    running.stop.abort(new Error('SIGINT'));
    expect(await promise).toMatchObject({ code: 'interrupted', exit: 130 });
    expect(running.clock.elapsed()).toBe(0);
    const waiting = bench(() => json('', 429, { 'retry-after': '100' }));
    const other = refusal(waiting.cloud.list(rules));
    await new Promise((resolve) => setImmediate(resolve));
    waiting.stop.abort(new Error('SIGINT'));
    await other;
    expect(waiting.clock.elapsed()).toBe(0);
  });

  it('shares one budget of retries with the whole run', async () => {
    const { cloud, asked } = bench(() => json('', 503));
    for (let turn = 0; turn < 20; turn += 1) await refusal(cloud.list(rules));
    expect(asked).toHaveLength(20 + 10);
  });

  it('never retries more than a fifth of its requests, beyond ten', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 500 }), (failures) => {
        const budget = retryBudget();
        let requests = 0;
        let retries = 0;
        for (const failed of failures) {
          requests += 1;
          if (failed && budget.spend(requests)) retries += 1;
        }
        expect(retries).toBeLessThanOrEqual(Math.max(10, Math.ceil(requests / 5)));
        expect(retries).toBeGreaterThanOrEqual(Math.min(10, failures.filter(Boolean).length));
      }),
    );
  });
});

describe('the limiter', () => {
  it('lets no window of a minute hold more than the rate and one bucket', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3000 }),
        fc.array(fc.nat(5000), { minLength: 1, maxLength: 400 }),
        (rate, gaps) => {
          let time = 0;
          const gate = limiter({ monotonic: () => time }, rate);
          const sent = gaps.map((gap) => {
            time += gap;
            return time + gate.take();
          });
          sent.sort((a, b) => a - b);
          const bucket = Math.max(1, Math.min(60, Math.floor(rate / 15)));
          for (let first = 0; first < sent.length; first += 1)
            expect(
              sent.filter((at) => at >= sent[first]! && at < sent[first]! + 60_000).length,
            ).toBeLessThanOrEqual(rate + bucket);
        },
      ),
      { numRuns: drawn(60) },
    );
  });

  it('lets a short plan pass and then keeps the pace', () => {
    const gate = limiter({ monotonic: () => 0 }, 450);
    const waits = Array.from({ length: 60 }, () => gate.take());
    expect(waits.filter((wait) => wait === 0)).toHaveLength(30);
    expect(waits.at(-1)).toBe(4000);
  });

  it('holds everyone after a 429', async () => {
    let turn = 0;
    const { cloud, clock } = bench((_, url) =>
      turn++ === 0
        ? json('', 429, { 'retry-after': '9' })
        : page(url.pathname.includes('rules') ? [] : []),
    );
    const first = cloud.list(rules);
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([
      first,
      cloud
        .list(kinds.get('accounts')!)
        .then(() => expect(clock.elapsed()).toBeGreaterThanOrEqual(9000)),
    ]);
  });

  it('counts every attempt, has a default for real addresses and none for loopback', async () => {
    const time = async (url: string, more = {}) => {
      let turn = 0;
      const { cloud, clock, events } = bench(
        () => page([{ alert_config_id: `r${turn}` }], ++turn < 130 ? `?p=${turn}` : null),
        { v2: { url, headers: {} }, ...more },
      );
      await cloud.list(rules);
      return {
        spent: clock.elapsed(),
        waits: events.filter(({ type }) => type === 'waiting').length,
      };
    };
    expect((await time('http://127.0.0.1:9/api/v2')).spent).toBe(0);
    const real = await time('https://api.example.com/api/v2');
    expect(real.spent).toBeGreaterThan(13_000);
    expect(real.spent).toBeLessThan(13_700);
    expect(
      (await time('http://127.0.0.1:9/api/v2', { requestsPerMinute: 60 })).spent,
    ).toBeGreaterThan(120_000);
  });
});
