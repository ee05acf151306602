// A token bucket below the retries: every attempt takes a token. If the server asks to wait, all requests wait.
import type { Clock } from '../platform/index.js';

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
  const interval = perMinute === undefined ? 0 : 60_000 / perMinute;
  const slack = (burst - 1) * interval;
  let due = Number.NEGATIVE_INFINITY;
  let heldUntil = Number.NEGATIVE_INFINITY;
  const held = (): number => Math.max(0, Math.ceil(heldUntil - clock.monotonic()));
  return {
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
