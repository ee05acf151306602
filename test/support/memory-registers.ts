// A remote backend in memory, with the ways in which real ones fail: late answers, lost answers, writes that land late,
// conditions that are ignored, users without rights, an outage.
import { Buffer } from 'node:buffer';
import type { Clock, Random } from '../../src/platform/index.js';
import { refuseDenied, refuseUnreachable } from '../../src/state/backends/backend-errors.js';
import type { Put, Registers } from '../../src/state/backends/registers/port.js';

export interface MemoryFaults {
  /** Longest time of a request or an answer, in milliseconds. */
  delay?: number;
  /** Part of the puts whose answer is lost. */
  lost?: number;
  /** Part of the puts that get lost before they arrive. */
  dropped?: number;
  /** Whether conditions are ignored. */
  lying?: boolean;
  readOnly?: boolean;
  down?: boolean;
}

export interface MemoryRegisters {
  /** The place as one process sees it. */
  connect(): Registers;
  readonly values: Map<string, { readonly body: Uint8Array; readonly version: string }>;
  readonly faults: MemoryFaults;
  /** Puts that took effect, in their order. */
  readonly written: string[];
}

/** @param clock of the service: time goes on there while a process stands still */
export function memoryRegisters(clock: Clock, random: Random): MemoryRegisters {
  const values: MemoryRegisters['values'] = new Map();
  const faults: MemoryFaults = {};
  const written: string[] = [];
  let versions = 0;
  const location = 'memory://place';
  const pause = async (): Promise<void> => {
    if (faults.delay !== undefined) await clock.sleep(random.fraction() * faults.delay);
    else await Promise.resolve();
  };
  const assertUp = (): void => {
    if (faults.down) refuseUnreachable(location, 'the connection was refused');
  };
  const write = (key: string, body: Uint8Array, expect: string | null): Put => {
    if (!faults.lying && (values.get(key)?.version ?? null) !== expect) return 'conflict';
    const version = String((versions += 1));
    values.set(key, { body: Buffer.from(body), version });
    written.push(key);
    return { version };
  };
  const registers: Registers = {
    location,
    async get(key) {
      await pause();
      assertUp();
      const found = values.get(key);
      await pause();
      return found;
    },
    async put(key, body, expect) {
      if (faults.readOnly) refuseDenied(location, 'write', 'permission is denied');
      const sent = pause();
      const [drop, lose] = [random.fraction(), random.fraction()];
      if (faults.down || drop < (faults.dropped ?? 0)) return 'unknown';
      if (lose < (faults.lost ?? 0)) {
        void sent.then(() => write(key, body, expect));
        return 'unknown';
      }
      await sent;
      const put = write(key, body, expect);
      await pause();
      return put;
    },
    async *list(prefix) {
      await pause();
      assertUp();
      const keys = [...values.keys()].filter((key) => key.startsWith(prefix));
      await pause();
      yield* keys.toSorted();
    },
    async remove(keys) {
      await pause();
      assertUp();
      for (const key of keys) values.delete(key);
    },
  };
  return { connect: () => registers, values, faults, written };
}
