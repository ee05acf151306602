// Sends nothing to an origin that stopped responding: a circuit breaker for the tenants of a process. A lane then loses
// the time of one deadline to it, and not of one for each of its tenants.
import type { Clock } from '../platform/index.js';

/** Requests in a row without a response, of at least two tenants, after which an origin is down. */
const DOWN_AFTER = 5;
/** A request that waited this long for a response, in milliseconds, counts as three. */
const SILENCE = 10_000;
/** Milliseconds between two requests to an origin that is down, at least. */
const SHORTEST_WAIT = 1000;

interface Unanswered {
  readonly count: number;
  readonly tenants: ReadonlySet<string>;
  /** Milliseconds from one request to the next while the origin is down. */
  readonly wait: number;
  nextAt: number;
}

export function circuitBreaker(clock: Pick<Clock, 'monotonic'>) {
  /** By origin, since its last response. */
  const unanswered = new Map<string, Unanswered>();
  return {
    /** A response of any kind, also of a failing service. */
    answered: (origin: string): boolean => unanswered.delete(origin),
    /** @param milliseconds that the request waited for a response */
    failed(origin: string, tenant: string, milliseconds: number): void {
      const before = unanswered.get(origin);
      const wait = Math.max(SHORTEST_WAIT, milliseconds);
      unanswered.set(origin, {
        count: (before?.count ?? 0) + (milliseconds >= SILENCE ? 3 : 1),
        tenants: new Set(before?.tenants).add(tenant),
        wait,
        nextAt: clock.monotonic() + wait,
      });
    },
    /** Whether a request may be sent. While the origin is down, one may from time to time: it waits as long as the last one did. */
    maySend(origin: string): boolean {
      const found = unanswered.get(origin);
      if (!found || found.count < DOWN_AFTER || found.tenants.size < 2) return true;
      if (clock.monotonic() < found.nextAt) return false;
      found.nextAt = clock.monotonic() + found.wait;
      return true;
    },
  };
}
