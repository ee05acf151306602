// The store on a remote backend. This file finds, verifies and takes the lock; `register-session.ts` writes.
import { Buffer } from 'node:buffer';
import {
  emptyState,
  equal,
  refuse,
  Refusal,
  sameTarget,
  sha256,
  type Diagnostic,
  type State,
} from '../../../model/index.js';
import { refuseLocked } from '../../disk-errors.js';
import { snapshotOf } from '../../snapshot.js';
import { decodeState, MovedState } from '../../state-text.js';
import type { Opening, Session, Snapshot, Store } from '../../store-port.js';
import { lockWaited, refuseInterrupted } from '../../waiting-store.js';
import { described, refuseDamaged, refuseHeld, refuseTarget } from '../backend-errors.js';
import {
  encodeHead,
  readHead,
  type Head,
  type Holder,
  type StoredState,
  type VersionedHead,
} from './head.js';
import { readLog, type JournalLog } from './record-log.js';
import { probe } from './probe.js';
import type { OpenedHead } from './held-head.js';
import { registerSession, type SessionTools } from './register-session.js';
import { recordRescued, type RescueFolder } from './rescue.js';
import { settledPut } from './settled-put.js';

/** Milliseconds between two looks at the head while waiting. */
const LOOK = 2_000;
/** Attempts to read head, state and log while a run replaces them. */
const READS = 5;

export interface RegisterStoreOptions extends Omit<SessionTools, 'rescue'> {
  /** Of trueup, for messages. */
  readonly version: string;
  readonly locking: {
    /** Milliseconds without a sign of life after which a run sends nothing more. Twice of it, and others take the lock. */
    readonly lease: number;
    /** Milliseconds to wait for the lock. */
    readonly wait: number;
    /** True: take the lock over if its holder does not renew it. */
    readonly takeover: boolean;
  };
  /** Of the CI run, for those who find the lock taken. */
  readonly url?: string;
  readonly rescue: RescueFolder;
  /** Ends a wait. */
  readonly signal?: AbortSignal;
  /** Called once, with the reason, before a lock is waited for. */
  readonly notify?: (diagnostic: Diagnostic) => void;
}

interface Content {
  readonly state: State;
  readonly log: JournalLog;
}

export function registerStore(options: RegisterStoreOptions): Store {
  const { registers, keys } = options;
  const watch: Watch = { seen: undefined };
  return {
    location: registers.location,
    read: () => readQuietly(options),
    async holder() {
      const holder = (await readHead(registers, keys))?.head.holder;
      if (!holder) return undefined;
      const { lease: _, ...info } = holder;
      return info;
    },
    async history() {
      const states = (await readHead(registers, keys))?.head.states ?? [];
      return states.map((one) => ({
        ...one,
        read: () => readState(options, one, 'Name another serial.'),
      }));
    },
    async open(operation, target, moved) {
      const taken = await take({ ...options, watch }, { operation, target, moved });
      let session: Session | undefined;
      try {
        session = registerSession(options, { ...taken, ...(await load(options, taken.head)) });
        await recordRescued(options.rescue, session);
        return session;
      } catch (error) {
        await (session?.release() ?? releaseTaken(options, taken));
        throw error;
      }
    },
    access: () => access(options),
    unlock: (id) => unlock(options, id),
  };
}

/** Without a lock another run may write in between: read until the head is still the one that was read first. */
async function readQuietly(options: RegisterStoreOptions): Promise<Snapshot | undefined> {
  const { registers, keys } = options;
  for (let attempt = 1; ; attempt += 1) {
    const before = await readHead(registers, keys);
    if (!before) return undefined;
    if (before.head.moved) throw new MovedState(registers.location, before.head.moved);
    const isLast = async (): Promise<boolean> =>
      attempt === READS || (await readHead(registers, keys))?.version === before.version;
    try {
      const { state, log } = await load(options, before.head);
      if (!(await isLast())) continue;
      const records = [...before.head.carry, ...log.records];
      const isEmpty = before.head.states.length === 0 && records.length === 0;
      return isEmpty ? undefined : snapshotOf(state, records);
    } catch (error) {
      if (await isLast()) throw error;
    }
  }
}

async function load(options: RegisterStoreOptions, head: Head): Promise<Content> {
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
  return decodeState(text, place, version, async () => advice);
}

async function access(options: RegisterStoreOptions) {
  if (!(await readHead(options.registers, options.keys))) return 'absent';
  try {
    await probe(options);
    return 'may-write';
  } catch (error) {
    if (error instanceof Refusal && error.diagnostics[0]?.code === 'backend-denied')
      return 'read-only';
    throw error;
  }
}

type Taken = Omit<OpenedHead, 'state' | 'log'>;

/** The head of a holder, and since when it stands still. Kept between two attempts to open a store. */
interface Watch {
  seen: { readonly version: string; readonly at: number } | undefined;
}
type Taker = RegisterStoreOptions & { readonly watch: Watch };

/** Replaces the head with one that names this run. The log is read afterwards. */
async function take(options: Taker, { operation, target, moved }: Opening): Promise<Taken> {
  const { registers, keys, clock, random } = options;
  const mayTake = patience(options);
  for (;;) {
    const found = await readHead(registers, keys);
    if (found?.head.moved && !equal(found.head.moved, moved))
      throw new MovedState(registers.location, found.head.moved);
    if (found && !sameTarget(found.head.target, target) && (await isUsed(options, found.head)))
      refuseTarget(registers.location, found.head.target, target);
    if (found?.head.holder && !(await mayTake(found.version, found.head.holder))) continue;
    if (!found) {
      await registers.prepare?.();
      await probe(options);
    }
    const holder = holderOf(options, operation);
    const head = { ...(found?.head ?? newHead(options)), target, holder };
    const taken = { ...head, epoch: head.epoch + 1, beat: 0 };
    const since = clock.monotonic();
    const body = encodeHead(taken, random.uuid());
    const put = await settledPut(options, keys.head, body, found?.version ?? null);
    if (put !== 'conflict') return { head: taken, version: put.version, since };
  }
}

function newHead({ clock, random }: RegisterStoreOptions): Head {
  return {
    format: 1,
    lineage: random.uuid(),
    target: '',
    secrets_salt: Buffer.from(random.bytes(16)).toString('base64'),
    serial: 0,
    states: [],
    epoch: 0,
    beat: 0,
    holder: null,
    log_from: '',
    carry: [],
    moved: null,
    probed_at: new Date(clock.now()).toISOString(),
  };
}

function holderOf(
  { random, clock, lock, locking, url }: RegisterStoreOptions,
  operation: string,
): Holder {
  return {
    id: random.uuid(),
    host: lock.host,
    pid: lock.pid,
    operation,
    created_at: new Date(clock.now()).toISOString(),
    ...(url !== undefined && { url }),
    lease: locking.lease,
  };
}

/** True if anything was ever recorded under a head. Until then it belongs to no cloud. */
async function isUsed({ registers, keys }: RegisterStoreOptions, head: Head): Promise<boolean> {
  if (head.states.length > 0 || head.carry.length > 0) return true;
  const { records } = await readLog(registers, keys, head);
  return records.length > 0;
}

/**
 * Called repeatedly for a held lock: true once its holder did not replace the head for two leases, by the clock of this
 * process. False after a pause, to read again. @throws Refusal (exit 4) when the wait is over
 */
function patience({ registers, clock, locking, signal, notify, watch }: Taker) {
  const begun = clock.monotonic();
  let isTold = false;
  return async (version: string, holder: Holder): Promise<boolean> => {
    const now = clock.monotonic();
    if (!isTold && locking.wait > 0)
      notify?.(lockWaited(`the state is locked by ${described(holder)}`, locking.wait));
    isTold = true;
    const seen = watch.seen?.version === version ? watch.seen : { version, at: now };
    watch.seen = seen;
    if (locking.takeover && now - seen.at >= 2 * holder.lease) return true;
    if (now - begun >= locking.wait) refuseHeld(registers.location, holder);
    await clock.sleep(LOOK, signal).catch(refuseInterrupted);
    return false;
  };
}

/** Releases a lock that no session holds yet. If that fails, another run takes it over later. */
async function releaseTaken(
  options: RegisterStoreOptions,
  { head, version }: Taken,
): Promise<void> {
  const body = encodeHead({ ...head, holder: null }, options.random.uuid());
  await settledPut(options, options.keys.head, body, version).catch(() => undefined);
}

/** Removes the lock, at the request of a person, if its holder does not replace the head for a whole lease. */
async function unlock(options: RegisterStoreOptions, id: string): Promise<void> {
  const { keys, clock, random, signal } = options;
  const before = await heldBy(options, id);
  const begun = clock.monotonic();
  const { holder } = before.head;
  options.notify?.({
    severity: 'info',
    code: 'lock-watched',
    summary: `Watching for ${Math.round(holder.lease / 1000)} s whether the run that holds the lock still lives.`,
  });
  while (clock.monotonic() - begun < holder.lease) {
    await clock.sleep(LOOK, signal).catch(refuseInterrupted);
    if ((await heldBy(options, id)).version !== before.version) refuseAlive(holder);
  }
  const { head, version } = before;
  const freed = encodeHead({ ...head, epoch: head.epoch + 1, holder: null }, random.uuid());
  if ((await settledPut(options, keys.head, freed, version)) !== 'conflict') return;
  await heldBy(options, id);
  refuseAlive(holder);
}

const refuseAlive = (holder: Holder): never =>
  refuseLocked('lock-alive', `the run that holds the lock is still active: ${described(holder)}`, {
    detail: 'Wait for it, or end it first.',
  });

async function heldBy(
  { registers, keys }: RegisterStoreOptions,
  id: string,
): Promise<VersionedHead & { readonly head: Head & { readonly holder: Holder } }> {
  const found = await readHead(registers, keys);
  const holder = found?.head.holder;
  if (!found || !holder)
    return refuse('not-locked', `the state at ${registers.location} is not locked`);
  if (holder.id !== id)
    refuseLocked(
      'wrong-lock',
      `the lock is not ${JSON.stringify(id)} but ${holder.id}: ${described(holder)}`,
    );
  return { head: { ...found.head, holder }, version: found.version };
}
