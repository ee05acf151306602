// A store that waits for its lock, where it cannot do so itself.
import type { Diagnostic } from '../model/index.js';
import { refuseInterrupted } from './backends/backend-errors.js';
import type { LockTools } from './backends/file/lock.js';
import { isLocked, type Store } from './store-port.js';

/** Milliseconds between two attempts. */
const LOOK = 2_000;

export interface Waiting extends Pick<LockTools, 'clock' | 'signal' | 'notify'> {
  /** Milliseconds to wait for the lock. */
  readonly wait: number;
}

export function waitingStore(store: Store, { clock, wait, signal, notify }: Waiting): Store {
  return {
    ...store,
    async open(...asked) {
      const begun = clock.monotonic();
      for (let attempt = 1; ; attempt += 1)
        try {
          return await store.open(...asked);
        } catch (error) {
          if (!isLocked(error) || clock.monotonic() - begun >= wait) throw error;
          if (attempt === 1) notify?.(lockWaited(error.diagnostics[0]!.summary, wait));
          await clock.sleep(LOOK, signal).catch(refuseInterrupted);
        }
    },
  };
}

/** @param held continues "…", the reason */
export const lockWaited = (held: string, wait: number): Diagnostic => ({
  severity: 'info',
  code: 'lock-waited',
  summary: `${held.charAt(0).toUpperCase()}${held.slice(1)}. Waiting up to ${Math.round(wait / 1000)} s.`,
});
