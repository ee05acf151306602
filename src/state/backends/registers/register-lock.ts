// The lock of a remote state: takes it, takes it over from a run that gives no sign of life, and removes it at the request
// of a person. `lease.ts` renews it.
import { equal, sameTarget, sha256, warning, type Diagnostic } from '../../../model/index.js';
import { MovedState } from '../../state-format.js';
import { described, type Opening } from '../../store-port.js';
import { lockWaited } from '../../waiting-store.js';
import {
  refuseAlive,
  refuseHeld,
  refuseInterrupted,
  refuseNotLocked,
  refuseTarget,
  refuseWrongLock,
} from '../backend-errors.js';
import type { LockTools } from '../file/lock.js';
import {
  encodeHead,
  newHolder,
  readHead,
  type Head,
  type Holder,
  type VersionedHead,
} from './head.js';
import type { OpenedHead } from './lease.js';
import { newHead } from './lost-head.js';
import { probe } from './probe.js';
import { readLog } from './record-log.js';
import type { SessionTools } from './register-session.js';
import { lostPuts, settledPut } from './settled-put.js';
import { endedSoon } from '../until-interrupted.js';

/** Milliseconds between two looks at a lock while waiting. */
const LOOK = 2_000;

export interface RegisterStoreOptions extends SessionTools, Pick<LockTools, 'notify'> {
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
}

export type Taken = Omit<OpenedHead, 'state' | 'log'>;

/** The version that names a holder, and since when it stands still. Kept between two attempts to open a store. */
export interface HolderWatch {
  seen: { readonly version: string; readonly at: number } | undefined;
}
type Taker = RegisterStoreOptions & {
  readonly watch: HolderWatch;
  /** Ends with a signal. The write that takes the lock does not: its outcome has to be known. */
  readonly asking: RegisterStoreOptions;
};

/** Replaces the head with one that names this run. The log is read afterwards. */
export async function take(options: Taker, { operation, target, moved }: Opening): Promise<Taken> {
  const { keys, clock, random, notify, asking } = options;
  const { registers } = asking;
  const mayTake = takeoverTimer(options, {
    held: (holder) => `the state is locked by ${described(holder)}`,
    refuse: (holder) => refuseHeld(registers.location, holder),
  });
  const lost = lostPuts(options);
  const probed_in = sha256(`${registers.location} ${registers.endpoint ?? ''}`);
  let isProven = false;
  for (;;) {
    const found = await readHead(registers, keys);
    if (found?.head.moved && !equal(found.head.moved, moved))
      throw new MovedState(registers.location, found.head.moved);
    const before = found?.head ?? (await newHead(asking, target));
    if (!sameTarget(before.target, target) && (await isUsed(asking, before)))
      refuseTarget(registers.location, before.target, target);
    if (found?.head.holder && !(await mayTake(found.version, found.head.holder))) continue;
    if (found?.head.probed_in !== probed_in && !isProven) {
      isProven = true;
      await registers.prepare?.();
      await probe(asking);
      if (!found && before.epoch > 0) notify?.(headLost(registers.location));
    }
    const holder = newHolder(options, operation);
    const proof = isProven && { format: 2 as const, probed_at: holder.created_at, probed_in };
    const head = { ...before, ...proof, target, holder };
    const taken = { ...head, epoch: head.epoch + 1, beat: 0 };
    const since = clock.monotonic();
    const body = encodeHead(taken, random.uuid());
    const put = await settledPut(options, keys.head, body, found?.version ?? null);
    if (put !== 'conflict') return { head: taken, version: put.version, since };
    await lost(found?.version);
  }
}

const headLost = (location: string): Diagnostic =>
  warning(
    'head-lost',
    `The head of the state at ${location} is gone. This run goes on with the state and the log that are left.`,
  );

/** True if anything was ever recorded under a head. Until then it belongs to no cloud. */
async function isUsed({ registers, keys }: RegisterStoreOptions, head: Head): Promise<boolean> {
  if (head.states.length > 0 || head.carry.length > 0) return true;
  const { records } = await readLog(registers, keys, head);
  return records.length > 0;
}

type Watching = Pick<Taker, 'clock' | 'signal' | 'watch'> & {
  readonly locking: Omit<Taker['locking'], 'lease'>;
  readonly notify?: LockTools['notify'] | undefined;
};

interface HeldWords {
  /** What a run that waits is told. */
  readonly held: (holder: Holder) => string;
  readonly refuse: (holder: Holder) => never;
}

/**
 * Called repeatedly for a held lock: true once its holder did not replace its version for two leases, by the clock of
 * this process. False after a pause, to read again. @throws Refusal (exit 4) when the wait is over
 */
export function takeoverTimer(
  { clock, locking, signal, notify, watch }: Watching,
  { held, refuse }: HeldWords,
) {
  const begun = clock.monotonic();
  let isTold = false;
  return async (version: string, holder: Holder): Promise<boolean> => {
    const now = clock.monotonic();
    if (!isTold && locking.wait > 0) notify?.(lockWaited(held(holder), locking.wait));
    isTold = true;
    const seen = watch.seen?.version === version ? watch.seen : { version, at: now };
    watch.seen = seen;
    if (locking.takeover && now - seen.at >= 2 * holder.lease) return true;
    if (now - begun >= locking.wait) refuse(holder);
    await clock.sleep(LOOK, signal).catch(refuseInterrupted);
    return false;
  };
}

/** Releases a lock that no session holds yet. If that fails, another run takes it over later. */
export async function releaseTaken(
  options: RegisterStoreOptions,
  { head, version }: Taken,
): Promise<void> {
  const body = encodeHead({ ...head, holder: null }, options.random.uuid());
  const put = settledPut(options, options.keys.head, body, version);
  await endedSoon(options, options.registers.location, put).catch(() => undefined);
}

/** Removes the lock, at the request of a person, if its holder does not replace the head for a whole lease. */
export async function unlock(options: RegisterStoreOptions, id: string): Promise<void> {
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

async function heldBy(
  { registers, keys }: RegisterStoreOptions,
  id: string,
): Promise<VersionedHead & { readonly head: Head & { readonly holder: Holder } }> {
  const found = await readHead(registers, keys);
  const holder = found?.head.holder;
  if (!found || !holder) return refuseNotLocked(`the state at ${registers.location}`);
  if (holder.id !== id) refuseWrongLock(id, holder.id, `: ${described(holder)}`);
  return { head: { ...found.head, holder }, version: found.version };
}
