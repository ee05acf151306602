// The store port: the place of data between runs. Every store keeps state and journal in the same durable place.
import type { Intent, JournalRecord, RunRecord, State } from '../model/index.js';

/** Everything a store knows, with the journal of an unfinished run folded in. */
export interface Snapshot {
  readonly state: State;
  /** Intents without a known outcome, oldest first. */
  readonly pending: readonly Intent[];
  /** Whether a journal of an earlier run is still there. */
  readonly unfinished: boolean;
}

export interface LockInfo {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly operation: string;
  /** ISO 8601. */
  readonly created_at: string;
}

export interface Store {
  /** For people: the file or address. */
  readonly location: string;
  /** Reads and verifies; writes nothing, takes no lock. `undefined` where no state exists yet. @throws Refusal where what is there does not verify. */
  read(): Promise<Snapshot | undefined>;
  /** Who holds the lock, if anyone provably or possibly does. */
  holder(): Promise<LockInfo | undefined>;
  /** Takes the lock. @throws Refusal (exit 4) where another run holds it. */
  open(operation: string, target: string): Promise<Session>;
  /** Removes a lock that cannot be proven stale. @throws Refusal where the id is another or its holder lives. */
  unlock(id: string): Promise<void>;
}

/** A run's exclusive hold of the store. */
export interface Session {
  readonly snapshot: Snapshot;
  /** Durable when resolved; calls made together share one fsync. An intent is renewed by recording it again with a later time. @throws Refusal (exit 4) where the lock was lost. */
  record(...records: readonly RunRecord[]): Promise<void>;
  /** Whether a value is not stored in clear, because it holds a secret. */
  hides?(value: unknown): boolean;
  /** Fencing: throws where this run does not hold the lock any more. Called before every mutating request. */
  assertHeld(): Promise<void>;
  /** Folds the journal into the state, durably, and ends the journal unless intents are still pending. Returns the new snapshot. @param finish what is written in place of the new state, asked only where one is written */
  compact(finish?: (state: State) => Promise<State>): Promise<Snapshot>;
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

export type { JournalRecord };
