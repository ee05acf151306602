// Time and randomness for tests: the clock jumps to the next timer as soon as nothing else happens,
// the dice fall the same way for the same seed.
import type { Clock, Random } from '../../src/platform/index.js';

export interface SimulatedClock extends Clock {
  /** Milliseconds since the clock was made. */
  elapsed(): number;
  /** Somebody sets the wall clock of the machine, by so many milliseconds. */
  step(milliseconds: number): void;
  /** The machine starts again. */
  reboot(): void;
  /** The process stands still, while the service does what is due; `asleep`: so does the machine, whose monotonic clock stands still, too. */
  freeze(milliseconds: number, asleep?: boolean): Promise<void>;
  /** The same time as a service tells it: nobody sets that clock. */
  readonly service: Clock;
}

/** Turns of the event loop without a new timer after which the clock jumps. */
const idleTurns = 4;

/** Not for real sockets or slow disks: it would jump while they work. */
export function simulatedClock(start = Date.parse('2026-01-01T00:00:00Z')): SimulatedClock {
  interface Timer {
    due: number;
    readonly wake: () => void;
    readonly remote: boolean;
  }
  const timers = new Set<Timer>();
  let now = start;
  let idle = 0;
  let turning = false;
  let frozen = false;

  const earliest = (some: Iterable<Timer>): Timer | undefined =>
    [...some].reduce<Timer | undefined>(
      (first, timer) => (first && first.due <= timer.due ? first : timer),
      undefined,
    );
  function ring(timer: Timer): void {
    timers.delete(timer);
    now = Math.max(now, timer.due);
    timer.wake();
  }

  function turn(): void {
    turning = false;
    const next = frozen ? undefined : earliest(timers);
    if (!next) return;
    idle += 1;
    if (idle > idleTurns) {
      idle = 0;
      ring(next);
    }
    schedule();
  }

  function schedule(): void {
    if (turning) return;
    turning = true;
    setImmediate(turn);
  }

  const sleeper =
    (remote: boolean): Clock['sleep'] =>
    (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error);
        const stop = (): void => {
          timers.delete(timer);
          reject(signal?.reason as Error);
        };
        const timer: Timer = {
          remote,
          due: now + milliseconds,
          wake: (): void => {
            signal?.removeEventListener('abort', stop);
            resolve();
          },
        };
        signal?.addEventListener('abort', stop, { once: true });
        timers.add(timer);
        idle = 0;
        schedule();
      });

  async function freeze(milliseconds: number, asleep = false): Promise<void> {
    const end = now + milliseconds;
    const remote = (): Timer | undefined =>
      earliest([...timers].filter((timer) => timer.remote && timer.due <= end));
    const work = async (): Promise<void> => {
      for (let turns = 0; turns <= idleTurns; turns += 1)
        await new Promise((resolve) => void setImmediate(resolve));
    };
    frozen = true;
    // What has left already is the service's.
    await work();
    for (let next = remote(); next; next = remote()) {
      ring(next);
      await work();
    }
    if (asleep) {
      for (const timer of timers) if (!timer.remote) timer.due += milliseconds;
      slept += milliseconds;
    }
    [now, frozen, idle] = [end, false, 0];
    schedule();
  }

  let set = 0;
  let slept = 0;
  let boots = 1;
  let booted = start;
  const elapsed = (): number => now - start;
  const boot: Clock['boot'] = () => ({ id: `boot-${boots}`, milliseconds: now - booted });
  return {
    now: () => now + set,
    monotonic: () => elapsed() - slept,
    boot,
    elapsed,
    sleep: sleeper(false),
    freeze,
    step: (milliseconds) => void (set += milliseconds),
    reboot: () => {
      boots += 1;
      booted = now;
    },
    service: { now: () => now, monotonic: elapsed, boot, sleep: sleeper(true) },
  };
}

/** The same seed gives the same numbers. */
export function seededRandom(seed = 1): Random {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const bytes = (size: number): Uint8Array =>
    Uint8Array.from({ length: size }, () => Math.floor(fraction() * 256));
  return {
    fraction,
    bytes,
    uuid() {
      const digits = Buffer.from(bytes(16)).toString('hex');
      return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20)}`;
    },
  };
}
