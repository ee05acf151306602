// A token bucket below the retries: every attempt takes a token. If the server asks to wait, all requests wait;
// `retry.ts` reads how long.
import { cached } from '../model/index.js';
import type { Clock } from '../platform/index.js';
import { longestRetryAfter } from './retry.js';
import type { HttpResult } from './transport.js';

/** Milliseconds that repeated addition may be off. */
const rounding = 1e-6;

export type Limiter = ReturnType<typeof limiter>;

/** A bucket that is worth four seconds (30 requests at the default rate), so that a short plan is not slowed. */
const usualBurst = (perMinute: number): number =>
  Math.max(1, Math.min(60, Math.floor(perMinute / 15)));

/** Without `perMinute` only `hold` holds. In any time, at most `burst` requests and those of the rate are let through. */
export function limiter(
  clock: Pick<Clock, 'monotonic'>,
  perMinute: number | undefined,
  burst = usualBurst(perMinute ?? 0),
) {
  let interval = 0;
  let slack = 0;
  /** At most `rate` a minute from now on, if that is fewer than before. */
  const slowTo = (rate: number | undefined, most = usualBurst(rate ?? 0)): void => {
    if (rate === undefined || 60_000 / rate <= interval) return;
    interval = 60_000 / rate;
    slack = (most - 1) * interval;
  };
  slowTo(perMinute, burst);
  let due = Number.NEGATIVE_INFINITY;
  let heldUntil = Number.NEGATIVE_INFINITY;
  const held = (): number => Math.max(0, Math.ceil(heldUntil - clock.monotonic()));
  return {
    slowTo: (rate: number | undefined) => slowTo(rate),
    /** Milliseconds that everyone still has to hold. */
    held,
    /** Takes a token; milliseconds to wait before it may be used. */
    take(): number {
      const now = clock.monotonic();
      due = Math.max(due, now - slack);
      const wait = Math.max(0, Math.ceil(due - now - rounding));
      due += interval;
      return Math.max(wait, held());
    },
    /** Nobody sends for the next milliseconds. */
    hold(milliseconds: number): void {
      heldUntil = Math.max(heldUntil, clock.monotonic() + milliseconds);
    },
  };
}

/** After a 429 that says how long to wait (`Retry-After`), nobody with this limiter sends until then. */
export function holdIfThrottled({ hold }: Limiter, result: HttpResult): void {
  if (!('response' in result) || result.response.status !== 429) return;
  const { wait } = result;
  if (wait !== undefined && wait <= longestRetryAfter) hold(wait);
}

/** Of a bucket that lets less than `perMinute` requests through in any 60 seconds, with those of its burst: some arrive late. */
const steadyRate = (perMinute: number | undefined): number | undefined =>
  perMinute === undefined ? undefined : Math.max(1, perMinute - usualBurst(perMinute));

/**
 * One limiter for each key, with the lowest of the rates that were asked for. Many runs share a key, so that their bursts
 * would come at any time: they are part of the rate.
 */
export function limitersByKey(
  clock: Pick<Clock, 'monotonic'>,
): (key: string, perMinute: number | undefined) => Limiter {
  const known = new Map<string, Limiter>();
  return (key, perMinute) => {
    const rate = steadyRate(perMinute);
    const one = cached(known, key, () => limiter(clock, rate));
    one.slowTo(rate);
    return one;
  };
}
