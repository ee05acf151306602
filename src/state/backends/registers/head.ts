// The head: the one value of a project that changes. It names the state and the log that count, and who holds the lock.
import { Buffer } from 'node:buffer';
import { defined, isObject, refuse, Refusal, type Intent } from '../../../model/index.js';
import type { LockPort } from '../../../platform/index.js';
import { checkedLine, parseCheckedLine } from '../../journal-text.js';
import {
  filled,
  isText,
  isWhole,
  listOf,
  lockMembers,
  members,
  movedShape,
  oneOf,
  orNull,
  recordShapes,
  time,
} from '../../shape-check.js';
import type { KeptState, LockInfo, Moved } from '../../store-port.js';
import { refuseDamaged } from '../backend-errors.js';
import type { Pauses } from '../retried.js';
import type { Keys } from './keys.js';
import type { Registers, Version } from './port.js';

/** The holder of the lock. */
export interface Holder extends LockInfo {
  /** Milliseconds. The holder replaces the head three times in each lease. */
  readonly lease: number;
}

export interface HolderTools extends Pauses {
  readonly lock: Pick<LockPort, 'host' | 'pid'>;
  readonly locking: { readonly lease: number };
  readonly url?: string;
}

/** This process. @param operation for those who find the lock taken */
export const newHolder = (
  { random, clock, lock, locking, url }: HolderTools,
  operation: string,
): Holder => ({
  id: random.uuid(),
  host: lock.host,
  pid: lock.pid,
  operation,
  created_at: new Date(clock.now()).toISOString(),
  ...defined({ url }),
  lease: locking.lease,
});

/** One serial of the state: a write-once value. */
export interface StoredState extends Required<Omit<KeptState, 'read'>> {
  readonly key: string;
  readonly sha256: string;
}

export interface Head {
  /** 2: may hold `probed_in`. */
  readonly format: 1 | 2;
  readonly lineage: string;
  readonly target: string;
  readonly secrets_salt: string;
  /** One more with each state. */
  readonly serial: number;
  /** The newest first; none before the first state. Rollback leads to any of them. */
  readonly states: readonly StoredState[];
  /** One more each time the lock is taken. */
  readonly epoch: number;
  /** One more with each sign of life of the holder. */
  readonly beat: number;
  readonly holder: Holder | null;
  /** Slot of the first wave that counts; what stands before it is in the state. */
  readonly log_from: string;
  /** Intents of earlier serials without a known outcome. */
  readonly carry: readonly Intent[];
  /** Nobody else opens a state that moved, or that is being moved. */
  readonly moved: Moved | null;
  /** ISO 8601: when this place proved that it can lock. */
  readonly probed_at: string;
  /** Digest of the place that proved it: a copy of the head elsewhere proves nothing. Absent in older heads. */
  readonly probed_in?: string;
}

export interface VersionedHead {
  readonly head: Head;
  readonly version: Version;
}

export const holderShape = members<Holder>({
  ...lockMembers,
  'url?': filled,
  lease: isWhole(1),
});

const shape = members<Head & { readonly nonce: string }>({
  format: oneOf(1, 2),
  lineage: filled,
  target: isText,
  secrets_salt: filled,
  serial: isWhole(0),
  states: listOf(
    members<StoredState>({
      serial: isWhole(1),
      key: filled,
      sha256: filled,
      at: time,
      operation: isText,
      host: isText,
      objects: isWhole(0),
    }),
  ),
  epoch: isWhole(1),
  beat: isWhole(0),
  holder: orNull(holderShape),
  log_from: isText,
  carry: listOf((value) => recordShapes.get('intent')!(value)),
  moved: movedShape,
  probed_at: time,
  'probed_in?': filled,
  nonce: filled,
});

/** @param nonce makes this body unlike any other */
export const encodeHead = (head: Head, nonce: string): Uint8Array =>
  Buffer.from(checkedLine({ ...head, nonce }));

const FORMAT = 2;
const NEWER = 'newer-format';

/** Only a holder writes a head: one of a newer format is not that of this run. */
export const isNewerHead = (error: unknown): boolean =>
  error instanceof Refusal && error.diagnostics[0]?.code === NEWER;

/** Undefined where the project has no head yet. @throws Refusal */
export async function readHead(
  registers: Registers,
  keys: Keys,
): Promise<VersionedHead | undefined> {
  const found = await registers.get(keys.head);
  if (!found) return undefined;
  const place = `${registers.location}: ${keys.head}`;
  const value = parseCheckedLine(Buffer.from(found.body).toString('utf8').trimEnd());
  if (isObject(value) && typeof value['format'] === 'number' && value['format'] > FORMAT)
    refuse(
      NEWER,
      `${place} was written by a newer trueup: its format is ${value['format']}, and this one reads formats up to ${FORMAT}`,
      { detail: 'Install the newer version and run the same command again. Nothing was changed.' },
    );
  if (shape(value))
    refuseDamaged(
      place,
      'it is not what trueup wrote',
      'Restore this value from a backup of the place. Nothing was changed.',
    );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its shape was checked
  const { nonce: _, ...head } = value as Head & { readonly nonce: string };
  return { head, version: found.version };
}
