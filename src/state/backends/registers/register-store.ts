// The store on a remote backend: finds and verifies the state. `register-lock.ts` takes the lock, `register-session.ts` writes.
import { Buffer } from 'node:buffer';
import { defined, emptyState, sha256, type State } from '../../../model/index.js';
import { snapshotOf } from '../../snapshot.js';
import { decodeState, MovedState } from '../../state-format.js';
import type { Session, Snapshot, Store } from '../../store-port.js';
import { accessBy, refuseDamaged } from '../backend-errors.js';
import { interruptible, takenInTime } from '../until-interrupted.js';
import { readHead, type Head, type StoredState } from './head.js';
import { newHead } from './lost-head.js';
import { probe } from './probe.js';
import {
  releaseTaken,
  take,
  unlock,
  type RegisterStoreOptions,
  type HolderWatch,
} from './register-lock.js';
import { readLog } from './record-log.js';
import { registerSession } from './register-session.js';
import { recordRescued } from './rescue.js';

/** Attempts to read head, state and log while a run replaces them. */
const READS = 5;

export function registerStore(options: RegisterStoreOptions): Store {
  const { keys } = options;
  const { location } = options.registers;
  const registers = interruptible(options.registers, options);
  /** For what is asked before the lock is held. */
  const asking = { ...options, registers };
  const watch: HolderWatch = { seen: undefined };
  return {
    location,
    ...defined({ endpoint: registers.endpoint }),
    read: () => readQuietly(asking),
    async holder() {
      const holder = (await readHead(registers, keys))?.head.holder;
      if (!holder) return undefined;
      const { lease: _, ...info } = holder;
      return info;
    },
    async history() {
      const { states } = (await quietHead(asking)).head;
      return states.map((one) => ({
        ...one,
        read: () => readState(asking, one, 'Name another serial.'),
      }));
    },
    async open(operation, target, moved) {
      const taken = await takenInTime(options, location, {
        taking: take({ ...options, watch, asking }, { operation, target, moved }),
        remove: (late) => releaseTaken(options, late),
      });
      let session: Session | undefined;
      try {
        session = registerSession(options, { ...taken, ...(await load(asking, taken.head)) });
        await recordRescued(options.rescue, session);
        return session;
      } catch (error) {
        await (session?.release() ?? releaseTaken(options, taken));
        throw error;
      }
    },
    access: async () =>
      (await readHead(registers, keys)) ? accessBy(() => probe(asking)) : 'absent',
    unlock: (id) => unlock(asking, id),
  };
}

/** Without a lock another run may write in between: read until the head is still the one that was read first. */
async function readQuietly(options: RegisterStoreOptions): Promise<Snapshot | undefined> {
  const { registers, keys } = options;
  for (let attempt = 1; ; attempt += 1) {
    const before = await quietHead(options);
    // As it was when the head was looked for. A run that came since has its own.
    if (before.head.epoch === 0) return undefined;
    if (before.head.moved) throw new MovedState(registers.location, before.head.moved);
    const isLast = async (): Promise<boolean> =>
      attempt === READS || (await readHead(registers, keys))?.version === before.version;
    try {
      const { state, log } = await load(options, before.head);
      if (!(await isLast())) continue;
      const records = [...before.head.carry, ...log.records];
      // A log without a head and a state tells no lineage: the next run gives it one.
      const isEmpty = before.head.states.length === 0 && !(before.version && records.length > 0);
      return isEmpty ? undefined : snapshotOf(state, records);
    } catch (error) {
      if (await isLast()) throw error;
    }
  }
}

/** The head; where there is none, what a run would begin with. */
async function quietHead(options: RegisterStoreOptions) {
  const found = await readHead(options.registers, options.keys);
  return found ?? { head: await newHead(options, ''), version: undefined };
}

async function load(options: RegisterStoreOptions, head: Head) {
  const [state, log] = await Promise.all([
    loadState(options, head),
    readLog(options.registers, options.keys, head),
  ]);
  return { state, log };
}

async function loadState(options: RegisterStoreOptions, head: Head): Promise<State> {
  const { lineage, target, secrets_salt, states } = head;
  const [newest, ...older] = states;
  if (!newest) return { ...emptyState(lineage, target), secrets_salt };
  const advice =
    older.length === 0
      ? 'Nothing was changed. Restore it from a backup of the place.'
      : `Nothing was changed. Restore it from a backup of the place. The state before it has serial ${older[0]!.serial}.`;
  return { secrets_salt, ...(await readState(options, newest, advice)) };
}

async function readState(
  { registers, version }: RegisterStoreOptions,
  one: StoredState,
  advice: string,
): Promise<State> {
  const place = `${registers.location}: ${one.key}`;
  const found = await registers.get(one.key);
  if (!found) return refuseDamaged(place, 'it was removed', advice);
  if (sha256(found.body) !== one.sha256)
    refuseDamaged(place, 'its checksum is not the one that the head names', advice);
  const text = Buffer.from(found.body).toString('utf8');
  return decodeState(text, place, version, advice);
}
