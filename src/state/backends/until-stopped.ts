// Stops a run whose remote state cannot be used any more: nothing is sent or written after the first failure, and the
// results of requests are kept on this machine.
import type { RunRecord } from '../../model/index.js';
import { encodeRecord } from '../journal-text.js';
import { duringRun } from './backend-errors.js';
import type { RescueFolder } from './registers/rescue.js';

/** Keeps lines on this machine that the backend did not take. */
type Rescue = Pick<RescueFolder, 'path' | 'keep'>;

/** Work that ends for good with its first failure. @param isLost whether the lock is known to be another run's: the next holder finds out what became of requests */
export function untilStopped(isLost: () => boolean, rescue: Rescue) {
  let stopped: { readonly because: unknown } | undefined;
  const stop = (because: unknown): void => {
    stopped ??= { because };
  };
  return {
    stop,
    isStopped: () => stopped !== undefined,
    /** @param added kept on this machine if they cannot be recorded */
    async on<T>(work: () => Promise<T>, added: readonly RunRecord[] = []): Promise<T> {
      try {
        if (stopped) throw stopped.because;
        return await work();
      } catch (error) {
        stop(duringRun(error, rescue.path));
        if (!isLost()) await keepResults(rescue, added);
        throw stopped!.because;
      }
    },
  };
}

/** Keeps what became of requests, which is known only here. What else was to be recorded can be found again. */
async function keepResults(rescue: Rescue, added: readonly RunRecord[]): Promise<void> {
  const results = added.filter((record) => record.type === 'result' && record.op !== undefined);
  if (results.length > 0) await rescue.keep(results.map(encodeRecord).join(''));
}

/**
 * A question that is asked for all who wait for it. Who comes while it is asked gets its result if it began late enough.
 * Otherwise they get the result of the next one, which is asked after they came.
 * @param moment when a question begins, as a number that never falls; absent: a number that grows with each caller
 * @returns asks with the least moment whose result will do: now, if absent
 */
export function sharedNext(
  ask: () => Promise<void>,
  moment?: () => number,
): (least?: number) => Promise<void> {
  let count = 0;
  const now = moment ?? (() => (count += 1));
  let asked: Promise<void> | undefined;
  let begun = 0;
  let next: Promise<void> | undefined;
  const start = (): Promise<void> => {
    begun = now();
    return (asked = ask().finally(() => {
      asked = undefined;
    }));
  };
  const afterwards = (): Promise<void> => {
    next = undefined;
    return start();
  };
  return (least = now()) => {
    if (!asked) return start();
    return begun >= least ? asked : (next ??= asked.then(afterwards, afterwards));
  };
}
