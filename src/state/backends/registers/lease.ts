// The head under the lock: every write of it proves that the lock is still held, and renews the lease.
import { Buffer } from 'node:buffer';
import { sha256, type Intent, type State } from '../../../model/index.js';
import { encodeState } from '../../state-format.js';
import { refuseLost, unlessRefused } from '../backend-errors.js';
import {
  encodeHead,
  isNewerHead,
  readHead,
  type Head,
  type Holder,
  type VersionedHead,
} from './head.js';
import type { ProjectPlace } from './keys.js';
import { keysBelow } from './port.js';
import type { JournalLog } from './record-log.js';
import { ATTEMPTS, pauseAfter } from '../retried.js';
import { refuseStale, settledPut } from './settled-put.js';

/** States that are kept, and milliseconds after which they are not. */
export interface History {
  readonly keep: number;
  readonly milliseconds: number;
}

export interface HeadTools extends ProjectPlace {
  readonly history: History;
}

/** The head, the state and the log of a run that has taken the lock. */
export interface OpenedHead extends VersionedHead {
  readonly head: Head & { readonly holder: Holder };
  /** Monotonic milliseconds before the head was written. */
  readonly since: number;
  readonly state: State;
  readonly log: JournalLog;
}

/** The head as this run wrote it last. */
export function heldHead(tools: HeadTools, held: OpenedHead) {
  const { registers, keys, clock, random, history } = tools;
  const { id, lease, operation, host } = held.head.holder;
  let { head, version, since }: Omit<OpenedHead, 'head'> & { readonly head: Head } = held;
  let isLost = false;

  const isOurs = (found: Head | undefined): found is Head =>
    found?.epoch === held.head.epoch && found.holder?.id === id;

  /** Undefined where there is none that this run can have written. */
  const current = (): Promise<VersionedHead | undefined> =>
    readHead(registers, keys).catch((error: unknown) => {
      if (isNewerHead(error)) return undefined;
      throw error;
    });

  const lose = async (): Promise<never> => {
    isLost = true;
    const taker = (await readHead(registers, keys).catch(() => undefined))?.head.holder;
    return refuseLost(registers.location, taker);
  };

  const swap = async (change: (head: Head) => Head, attempt = 1): Promise<void> => {
    const next = change(head);
    const started = clock.monotonic();
    const put = await settledPut(tools, keys.head, encodeHead(next, random.uuid()), version);
    if (put !== 'conflict') {
      [head, version, since] = [next, put.version, started];
      return;
    }
    const found = await current();
    // Nobody else writes our name: a write of this run that it had given up took effect after all.
    if (!found || !isOurs(found.head)) return lose();
    if (attempt === ATTEMPTS) refuseStale(registers, version);
    ({ head, version } = found);
    await pauseAfter(tools, attempt);
    return swap(change, attempt + 1);
  };

  return {
    now: () => head,
    isLost: () => isLost,
    lose,
    swap: (change: (head: Head) => Head) => swap(change),
    /** Whether this run did not replace the head for a whole lease. After two, other runs may take the lock over. */
    isOverdue: () => clock.monotonic() - since > lease,
    beat: () => swap((now) => ({ ...now, beat: now.beat + 1 })),

    /** @throws Refusal (exit 4) where the head names another run */
    async assertOurs(): Promise<void> {
      if (!isOurs((await current())?.head)) await lose();
    },

    /** The new head is the moment from which on the new state counts. */
    async replaceState(next: State, carry: readonly Intent[]): Promise<void> {
      const { serial } = next;
      const body = Buffer.from(encodeState(next));
      const key = keys.state(serial, random.uuid());
      if ((await settledPut(tools, key, body, null)) === 'conflict') await lose();
      const now = clock.now();
      const at = new Date(now).toISOString();
      const objects = Object.keys(next.resources).length;
      const newest = { serial, key, sha256: sha256(body), at, operation, host, objects };
      await swap((before) => ({
        ...before,
        lineage: next.lineage,
        secrets_salt: next.secrets_salt ?? before.secrets_salt,
        serial,
        log_from: '',
        carry,
        states: [
          newest,
          ...before.states
            .slice(0, history.keep - 1)
            .filter((one) => now - Date.parse(one.at) <= history.milliseconds),
        ],
      }));
    },

    /** Removes what no head will name again. What stays because of an error is removed the next time. */
    collectGarbage: () => collectGarbage(tools, head).catch(unlessRefused),
  };
}

async function collectGarbage({ registers, keys }: HeadTools, head: Head): Promise<void> {
  const { serial, log_from, states } = head;
  const known = new Set(states.map(({ key }) => key));
  const log = keys.entry(serial, log_from);
  const beyond = keys.state(serial + 1, '');
  const [logs, kept] = await Promise.all([
    keysBelow(registers, keys.logs),
    keysBelow(registers, keys.states),
  ]);
  const garbage = [
    ...logs.filter((key) => key < log),
    ...kept.filter((key) => key < beyond && !known.has(key)),
  ];
  if (garbage.length > 0) await registers.remove(garbage);
}
