// What a run asks before it holds the lock ends with the first signal: nothing was sent to the cloud yet. What it writes
// under the lock does not. What ends a run, its lock and the results of a fleet, has a last short time.
import { setMaxListeners } from 'node:events';
import { defined, exits, refuse } from '../../model/index.js';
import type { LockTools } from './file/lock.js';
import { keysBelow, type Registers } from './registers/port.js';

/** Milliseconds that a request for the lock has after a signal: its response says whether there is a lock to remove. */
const GRACE = 1_000;
/** Milliseconds that the last requests of a run have after a signal: results are to be written, or a lock removed. */
export const LAST = 10_000;

type Interruption = Pick<LockTools, 'clock' | 'signal'>;

/** @param grace milliseconds for the work after a signal @param detail what may be left @throws Refusal once they are over, or what the work throws */
export async function untilInterrupted<T>(
  { clock, signal }: Interruption,
  location: string,
  work: Promise<T>,
  { grace = 0, ...detail }: { readonly grace?: number; readonly detail?: string } = {},
): Promise<T> {
  if (!signal) return work;
  // Many requests wait at once, and each removes its listener.
  setMaxListeners(0, signal);
  const done = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true, signal: done.signal });
  });
  const interrupted = stopped
    .then(() => clock.sleep(grace, done.signal))
    .then(() =>
      refuse(
        'interrupted',
        `the run was interrupted while it waited for a response of the state at ${location}`,
        detail,
        exits.interrupted,
      ),
    );
  try {
    return await Promise.race([work, interrupted]);
  } finally {
    done.abort(new Error('responded'));
  }
}

/** For what a run does last: once it is interrupted, the work has a short time. */
export const endedSoon = <T>(
  run: Interruption,
  location: string,
  work: Promise<T>,
  detail?: string,
): Promise<T> => untilInterrupted(run, location, work, { grace: LAST, ...defined({ detail }) });

/** Reads as long as the run is not interrupted. */
export const interruptible = (registers: Registers, run: Interruption): Registers => ({
  ...registers,
  ...readsThrough(registers, (ask) => untilInterrupted(run, registers.location, ask())),
});

/** Once the run is interrupted, each request has a short time, and the first that fails is the last. */
export function endingSoon(registers: Registers, run: Interruption): Registers {
  const { location, prepare } = registers;
  const detail = 'It does not contain what this run could not write.';
  let failed: { readonly error: unknown } | undefined;
  const asked: Asking = async (ask) => {
    if (failed) throw failed.error;
    try {
      return await endedSoon(run, location, ask(), detail);
    } catch (error) {
      if (run.signal?.aborted) failed ??= { error };
      throw error;
    }
  };
  return {
    ...registers,
    ...readsThrough(registers, asked),
    put: (...one) => asked(() => registers.put(...one)),
    remove: (keys) => asked(() => registers.remove(keys)),
    ...(prepare && { prepare: () => asked(prepare) }),
  };
}

type Asking = <T>(ask: () => Promise<T>) => Promise<T>;

const readsThrough = (registers: Registers, asked: Asking): Pick<Registers, 'get' | 'list'> => ({
  get: (key) => asked(() => registers.get(key)),
  async *list(prefix) {
    yield* await asked(() => keysBelow(registers, prefix));
  },
});

/** Takes a lock. One that is taken only after the interruption is removed again, if the process still runs. */
export async function takenInTime<T>(
  run: Interruption,
  location: string,
  { taking, remove, detail }: LockRequest<T>,
): Promise<T> {
  try {
    return await untilInterrupted(run, location, taking, { grace: GRACE, ...defined({ detail }) });
  } catch (error) {
    void taking.then(remove).catch(() => undefined);
    throw error;
  }
}

interface LockRequest<T> {
  readonly taking: Promise<T>;
  readonly remove: (taken: T) => Promise<unknown>;
  /** What to do with a lock that is left. */
  readonly detail?: string;
}
