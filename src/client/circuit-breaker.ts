// A circuit breaker for the tenants of a process: an origin that stopped responding does not cost each tenant the time
// that a request waits. Trial requests decide, so that neither a short outage nor a few slow tenants stop the others.
import type { Clock } from '../platform/index.js';

/** Requests in a row without a response, of two tenants or more, after which an origin seems to be down. */
const DOWN_AFTER = 5;
/** A request that waited this long for a response, in milliseconds, counts as three. */
const SILENCE = 10_000;
/** An origin is down if trial requests of this many tenants got no response, */
const TRIALS = 5;
/** and if there was none for this many milliseconds. */
const PATIENCE = 10_000;
/** Seconds that a trial request waits for a response. */
const TRIAL_SECONDS = 4;
/** Milliseconds from one trial request to the next one: before PATIENCE is over, and afterwards. */
const [SOON, LATER] = [1000, 10_000];
/** After this many milliseconds without a failure, earlier ones say nothing. */
const FORGOTTEN = 30_000;

/** Whether a request is sent. A trial request has a deadline of its own. */
export interface Turn {
  readonly isSent: boolean;
  readonly deadlineSeconds?: number;
  /** To be called when the request has ended in any way. */
  readonly end: () => void;
}

const sent: Turn = { isSent: true, end: () => undefined };
const notSent: Turn = { isSent: false, end: () => undefined };

/** What is known of an origin since its last response. Times are of the monotonic clock. */
const originState = () => ({
  failedAt: Number.NEGATIVE_INFINITY,
  /** When the first of the requests without a response was sent. */
  downSince: Number.POSITIVE_INFINITY,
  nextTrialAt: Number.NEGATIVE_INFINITY,
  /** Requests without a response, and their tenants. */
  count: 0,
  tenants: new Set<string>(),
  /** Tenants whose trial requests are under way, and those whose got no response. */
  trying: new Set<string>(),
  tried: new Set<string>(),
});

type OriginState = ReturnType<typeof originState>;

const seemsDown = ({ count, tenants }: OriginState): boolean =>
  count >= DOWN_AFTER && tenants.size > 1;

function reset(one: OriginState): void {
  one.count = 0;
  one.downSince = Number.POSITIVE_INFINITY;
  one.nextTrialAt = Number.NEGATIVE_INFINITY;
  one.tenants.clear();
  one.tried.clear();
}

/** Whether it is this tenant's turn to find out if the origin is up: once for the first few, then for anyone from time to time. */
function mayTry({ trying, tried, nextTrialAt }: OriginState, tenant: string, now: number): boolean {
  if (tried.size >= TRIALS) return trying.size === 0 && now >= nextTrialAt;
  return trying.size + tried.size < TRIALS && !trying.has(tenant) && !tried.has(tenant);
}

export function circuitBreaker(clock: Pick<Clock, 'monotonic' | 'sleep'>) {
  const origins = new Map<string, OriginState>();
  const stateOf = (origin: string): OriginState => {
    const one = origins.get(origin) ?? originState();
    origins.set(origin, one);
    return one;
  };

  function beginTrial(one: OriginState, tenant: string): Turn {
    const begun = clock.monotonic();
    one.trying.add(tenant);
    const end = (): void => {
      one.trying.delete(tenant);
      if (!seemsDown(one) || one.failedAt < begun) return;
      const now = clock.monotonic();
      one.tried.add(tenant);
      one.nextTrialAt = now + (now - one.downSince < PATIENCE ? SOON : LATER);
    };
    return { isSent: true, deadlineSeconds: TRIAL_SECONDS, end };
  }

  return {
    /** A response of any kind, also of a failing service. */
    answered: (origin: string): void => reset(stateOf(origin)),

    /** @param milliseconds that the request waited for a response */
    failed(origin: string, tenant: string, milliseconds: number): void {
      const [one, now] = [stateOf(origin), clock.monotonic()];
      one.count += milliseconds >= SILENCE ? 3 : 1;
      one.tenants.add(tenant);
      one.failedAt = now;
      one.downSince = Math.min(one.downSince, now - milliseconds);
    },

    /** Asked before a request is sent; it may take some seconds. @throws what the signal is raised with */
    async turn(origin: string, tenant: string, signal?: AbortSignal): Promise<Turn> {
      const one = stateOf(origin);
      for (;;) {
        const now = clock.monotonic();
        if (now - one.failedAt > FORGOTTEN) reset(one);
        if (!seemsDown(one)) return sent;
        if (mayTry(one, tenant, now)) return beginTrial(one, tenant);
        const isDecided = one.tried.size < TRIALS ? one.tried.has(tenant) : one.trying.size === 0;
        if (isDecided && now - one.downSince >= PATIENCE) return notSent;
        await clock.sleep(SOON, signal);
      }
    },
  };
}
