// Tenants in lanes that send requests to one origin, on a clock that jumps: who fails, how long it takes, what is sent.
import { describe, expect, test } from 'vitest';
import { circuitBreaker } from '../../../src/client/circuit-breaker.js';
import { httpClient } from '../../../src/client/http-client.js';
import { TransportError, type Transport } from '../../../src/client/transport.js';
import { forEachLimited } from '../../../src/model/index.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';

const origin = 'https://cloud.example.com';

/** Milliseconds until the response; `lost` without one, `refused` at once. */
type Response = number | 'lost' | 'refused';

interface Fleet {
  readonly lanes: number;
  readonly tenants: number;
  /** @param at milliseconds since the start */
  readonly respond: (tenant: number, at: number) => Response;
}

const reads = 4;

function world({ respond }: Pick<Fleet, 'respond'>) {
  const clock = simulatedClock();
  const breaker = circuitBreaker(clock);
  const signal = new AbortController().signal;
  const sent: number[] = [];
  const sending =
    (tenant: number): Transport =>
    async (request) => {
      const begun = clock.monotonic();
      sent.push(clock.elapsed());
      const response = respond(tenant, clock.elapsed());
      try {
        if (response === 'refused')
          throw new TransportError('refused', { sent: false, code: 'ECONNREFUSED' });
        await clock.sleep(response === 'lost' ? 1e9 : response, request.signal).catch(() => {
          throw new TransportError('cut', { sent: true, code: 'cut' });
        });
      } catch (error) {
        breaker.failed(origin, `t${tenant}`, clock.monotonic() - begun);
        throw error;
      }
      breaker.answered(origin);
      return { status: 200, headers: {}, body: '' };
    };
  /** Whether all its requests got a response. */
  const run = async (tenant: number): Promise<boolean> => {
    const client = httpClient(
      {
        transport: sending(tenant),
        clock,
        random: seededRandom(tenant),
        emit: () => undefined,
        signal,
        turn: (to, raised) => breaker.turn(to, `t${tenant}`, raised),
      },
      30,
    );
    const call = { method: 'GET', url: `${origin}/x`, headers: {}, counted: 'x' } as const;
    const results = await Promise.all(
      Array.from({ length: reads }, () => client.carry(call, (one) => 'error' in one)),
    );
    return results.every((one) => 'answer' in one);
  };
  return { clock, sent, run, breaker };
}

async function fleet({ lanes, tenants, respond }: Fleet) {
  const { clock, sent, run } = world({ respond });
  const failed: number[] = [];
  const all = Array.from({ length: tenants }, (_, at) => at);
  await forEachLimited(all, lanes, async (one) => {
    if (!(await run(one))) failed.push(one);
  });
  return { failed: failed.toSorted((a, b) => a - b), seconds: clock.elapsed() / 1000, sent };
}

describe('an origin', () => {
  test.each([
    [32, 40],
    [4, 46],
    [2, 75],
  ])(
    'that never responds costs %i lanes %i seconds at most, whatever the number of tenants',
    async (lanes, most) => {
      const { failed, seconds, sent } = await fleet({ lanes, tenants: 400, respond: () => 'lost' });
      expect(failed).toHaveLength(400);
      expect(seconds).toBeLessThan(most);
      expect(sent.length).toBeLessThan(lanes * reads + 10 + reads * 5);
    },
  );

  test('with one tenant gets each of its attempts, with the usual deadline', async () => {
    const { seconds, sent } = await fleet({ lanes: 1, tenants: 1, respond: () => 'lost' });
    expect(sent).toHaveLength(3 * reads);
    expect(seconds).toBeGreaterThan(90);
  });

  test.each([2, 4, 16])(
    'that refuses connections for three seconds fails none but the first tenants of %i lanes',
    async (lanes) => {
      const respond = (_: number, at: number) => (at < 3000 ? 'refused' : 300);
      const { failed } = await fleet({ lanes, tenants: 40, respond });
      expect(failed.filter((one) => one >= lanes)).toEqual([]);
    },
  );

  test.each([2, 4, 16])(
    'that loses what is sent in five seconds fails no tenant of %i lanes',
    async (lanes) => {
      const respond = (_: number, at: number) => (at < 5000 ? 'lost' : 300);
      expect((await fleet({ lanes, tenants: 40, respond })).failed).toEqual([]);
    },
  );

  test.each([
    [1, 2],
    [2, 2],
    [2, 4],
    [4, 2],
    [4, 4],
    [16, 4],
  ])('with %i lanes that responds to all but %i tenants fails these alone', async (lanes, sick) => {
    const respond = (tenant: number) => (tenant < sick ? 'lost' : 1000);
    const { failed } = await fleet({ lanes, tenants: 60, respond });
    expect(failed).toEqual(Array.from({ length: sick }, (_, at) => at));
  });

  test('whose outage is over is sent what tenants want, a minute later and at once', async () => {
    const { clock, sent, run } = world({ respond: (_, at) => (at < 60_000 ? 'lost' : 300) });
    await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(run));
    await clock.sleep(120_000);
    const [before, begun] = [sent.length, clock.elapsed()];
    expect(await Promise.all([0, 1, 2, 3].map(run))).toEqual([true, true, true, true]);
    expect([sent.length - before, clock.elapsed() - begun]).toEqual([4 * reads, 300]);
  });

  test('that is down is tried by one tenant from time to time, and used once it responds', async () => {
    const { clock, sent, run } = world({ respond: (_, at) => (at < 90_000 ? 'refused' : 300) });
    await Promise.all([0, 1, 2, 3, 4, 5, 6].map(run));
    expect(clock.elapsed()).toBeLessThan(20_000);
    const before = sent.length;
    let failures = 0;
    while (clock.elapsed() < 89_000) {
      if (!(await run(8 + failures))) failures += 1;
      await clock.sleep(500);
    }
    expect(failures).toBeGreaterThan(20);
    expect(sent.length - before).toBeLessThan(12);
    await clock.sleep(12_000);
    expect(await Promise.all([8, 9, 10].map(run))).toEqual([true, true, true]);
  });

  test('is waited for no longer than the run goes on', async () => {
    const { breaker } = world({ respond: () => 'lost' });
    const tenants = ['a', 'b', 'c', 'd', 'e'];
    for (const one of tenants) breaker.failed(origin, one, 3);
    for (const one of tenants) {
      const { end } = await breaker.turn(origin, one);
      breaker.failed(origin, one, 3);
      end();
    }
    const stop = new AbortController();
    const waiting = breaker.turn(origin, 'a', stop.signal);
    stop.abort(new Error('SIGINT'));
    await expect(waiting).rejects.toThrow('SIGINT');
  });
});
