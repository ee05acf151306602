// The store port: the place of data between runs. Every store keeps state and journal in the same durable place.
import {
  Refusal,
  type Intent,
  type Outcome,
  type Project,
  type RunRecord,
  type State,
} from '../model/index.js';

/** Everything a store knows, with the journal of an unfinished run folded in. */
export interface Snapshot {
  readonly state: State;
  /** Intents without a known outcome, oldest first. */
  readonly pending: readonly Intent[];
  /** True if a journal of an earlier run still exists. */
  readonly unfinished: boolean;
}

export interface LockInfo {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly operation: string;
  /** ISO 8601. */
  readonly created_at: string;
  /** Of the CI run that holds it. */
  readonly url?: string;
}

/** For people: `"apply", process 7 on "runner-2", since 2026-01-01T00:00:00.000Z (https://…)`. */
export function described({ operation, pid, host, created_at, url }: LockInfo): string {
  const run = url === undefined ? '' : ` (${url})`;
  return `${JSON.stringify(operation)}, process ${pid} on ${JSON.stringify(host)}, since ${created_at}${run}`;
}

/** Whether another run holds the lock. */
export const isLocked = (error: unknown): error is Refusal =>
  error instanceof Refusal && error.diagnostics.some(({ code }) => code === 'locked');

/** A state that a store holds: the current one, or one before it. */
export interface KeptState {
  readonly serial: number;
  /** The number of objects in it. */
  readonly objects: number;
  /** ISO 8601. */
  readonly at?: string;
  readonly operation?: string;
  readonly host?: string;
  /** @throws Refusal where it does not verify */
  read(): Promise<State>;
}

/** A place that a state moved to, or is being moved from. */
export type Moved = { readonly to: string } | { readonly from: string };

export interface Opening {
  /** For those who find the lock taken. */
  readonly operation: string;
  readonly target: string;
  /** A mark that does not keep this run out. */
  readonly moved: Moved | undefined;
}

/** Tells whether two states are of one project: they are about one cloud, and objects of both are declared in one file. */
export interface ProjectIdentity {
  readonly target: string;
  /** Relative to the current folder. */
  readonly files: readonly string[];
}

/** What these credentials may do with a state; `absent` where it does not exist yet. */
export type Access = 'may-write' | 'may-not-remove' | 'read-only' | 'absent';

export interface Store {
  /** For people: the file or address. */
  readonly location: string;
  /** Tells servers apart that have the same location; without credentials. */
  readonly endpoint?: string;
  /** Reads and verifies; writes nothing, takes no lock. `undefined` where no state exists yet. @throws Refusal where what is there does not verify. */
  read(): Promise<Snapshot | undefined>;
  /** The holder of the lock; undefined if nobody holds it or the holder is provably dead. */
  holder(): Promise<LockInfo | undefined>;
  /** Takes the lock. @param moved opens it although it is marked as being moved so @throws Refusal (exit 4) where another run holds it. */
  open(operation: string, target: string, moved?: Moved): Promise<Session>;
  /** The states that it still holds, the newest first. */
  history(): Promise<readonly KeptState[]>;
  /** Whether a run could lock it, tried out in a place that exists. Makes no place. @throws Refusal where it cannot hold a lock */
  access?(): Promise<Access>;
  /** For a run that found no state. @throws Refusal where this machine knows one of these declarations in another place */
  assertMigrated?(declared: ProjectIdentity): Promise<void>;
  /** Takes the state as it is, although this machine saw a newer one. @returns its serial */
  accept?(): Promise<number | undefined>;
  /** Removes a lock that cannot be proven stale. @throws Refusal where the id is another or its holder lives. */
  unlock(id: string): Promise<void>;
}

/** How a state is written. */
export interface Compaction {
  /** Makes what is written in place of the new state; asked only where one is written. Its serial counts if it is higher. */
  readonly finish?: (state: State) => Promise<State>;
  /** Writes a new state although nothing changed. */
  readonly always?: boolean;
  /** The declarations that were applied. */
  readonly applied?: Pick<Project, 'digest'>;
  /** What became of each change. */
  readonly outcomes?: readonly Pick<Outcome, 'outcome'>[];
}

/** A run's exclusive hold of the store. */
export interface Session {
  readonly snapshot: Snapshot;
  /** Durable when resolved; calls made together share one fsync. An intent is renewed by recording it again with a later time. @throws Refusal (exit 4) where the lock was lost. */
  record(...records: readonly RunRecord[]): Promise<void>;
  /** True if a value contains a secret and is therefore not stored in clear. */
  hides?(value: unknown): boolean;
  /**
   * Fencing: throws where this run does not hold the lock any more. Called before every mutating request.
   * @param op of the request: a check will do that began a moment ago, after the intent was recorded; absent: checks now
   */
  assertHeld(op?: string): Promise<void>;
  /** Folds the journal into the state, durably, and ends the journal unless intents are still pending. Returns the new snapshot. */
  compact(how?: Compaction): Promise<Snapshot>;
  /** Marks the store: until the mark is taken away, no other run opens it. */
  mark(moved: Moved | null): Promise<void>;
  /** Lets the lock go. Safe to call twice. */
  release(): Promise<void>;
}

/** Lines beside a store, which a process without the lock leaves for the next holder. */
export interface Notes {
  /** Durable when resolved. The store's folder exists. @param lines without line ends */
  leave(lines: readonly string[]): Promise<void>;
  /** All lines so far; `forget` removes what they were read from. Under the lock. */
  read(): Promise<{ readonly lines: readonly string[]; forget(): Promise<void> }>;
}
