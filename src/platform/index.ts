// Time, randomness, disk and network come in through here, so that a whole run can be simulated from a seed, killed at
// any point and replayed. The real ones are in this folder; the simulated ones are in test/.
import type { Fingerprint, Obtained, SaltedFingerprint, State } from '../model/index.js';

export interface Clock {
  /** Milliseconds since 1970 UTC. */
  now(): number;
  /** Milliseconds that never go back. */
  monotonic(): number;
  /** Milliseconds since the start of the machine, sleep included, and an id of this start; null if the system does not show it. */
  boot(): { readonly id: string | null; readonly milliseconds: number };
  /** Resolves after `milliseconds`; rejects with the signal's reason when aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export interface Random {
  /** In [0, 1). */
  fraction(): number;
  /** `size` unpredictable bytes. */
  bytes(size: number): Uint8Array;
  uuid(): string;
}

/** The disk, with the verbs that durability needs spelled out. Paths are absolute. Errors are Node's, with `code`. */
export interface Files {
  /** A regular file of at most 256 MiB, as text; never waits. Beside Node's: EFBIG, EILSEQ (not UTF-8), EFTYPE (a FIFO, a device). */
  read(path: string): Promise<string>;
  /** Creates or replaces, atomically and durably: temporary file beside (`<path>.<uuid>.tmp`), fsync, rename, fsync of the folder. */
  replace(path: string, text: string, mode: number): Promise<void>;
  /** Creates; fails with EEXIST where the file is already there. Durable. */
  create(path: string, text: string, mode: number): Promise<void>;
  /** Opens for appending; creates where missing. */
  append(path: string, mode: number): Promise<Appender>;
  /** Durable; replaces what is at `to`. */
  rename(from: string, to: string): Promise<void>;
  /** Durable. */
  remove(path: string): Promise<void>;
  /**
   * With its parents.
   * @param mode of those that are new: 0700 by default
   */
  makeFolder(path: string, mode?: number): Promise<void>;
  list(path: string): Promise<readonly string[]>;
  /** With every symbolic link followed. */
  realPath(path: string): Promise<string>;
  /** A cheap mark that changes if a file is replaced, written or touched; undefined if the file does not exist. Reads at each call. */
  stamp(path: string): Promise<string | undefined>;
  /** Bytes of a file; undefined if it does not exist. Cheap; reads at each call. */
  size(path: string): Promise<number | undefined>;
  /** When a file was written last, in milliseconds; undefined if it does not exist. */
  modified(path: string): Promise<number | undefined>;
  /** Gives a file the time of now, so that its stamp is another one. Not durable. */
  touch(path: string): Promise<void>;
}

export interface Appender {
  /** Resolves once the text is durable (fsync). */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** The parts of the machine and its processes that a lock needs. */
export interface LockPort {
  readonly host: string;
  /** Differs after each start of the machine; null where the system does not say. */
  readonly bootId: string | null;
  readonly pid: number;
  /** The namespace of `pid`: differs between containers of one machine; null if unknown. */
  readonly pidNamespace: string | null;
  /** Repeats the work in an interval, until it is stopped or the process has nothing else to do. */
  every(milliseconds: number, work: () => void): () => void;
  /** A process of this machine: undefined where it is gone (or only waits to be reaped); its start in the system's own units, null where unknown. */
  find(pid: number): Promise<{ readonly startTime: string | null } | undefined>;
  /** Holds a name on this machine until `release` or the end of the process, however it ends; `absent` where the system has no such lock. */
  hold(name: string): Promise<{ release(): Promise<void> } | 'taken' | 'absent'>;
}

/** A secret that is at hand, and the fingerprint that the state holds of it. */
export interface Known {
  readonly value: string;
  readonly fingerprint: Fingerprint | SaltedFingerprint;
  /** Whether it is to be compared by itself, should it not be proven unchanged together with others. */
  readonly asked: boolean;
}

/** Whether a secret is the one of the fingerprint; undefined if that is unknown: the key is missing, or it was not compared. */
export type Compared = boolean | undefined;

/** Slow or keyed hashes of secrets: prove that a value is unchanged without holding it. */
export interface Fingerprints {
  /** @param salt of the state @param of `<address> <path>` */
  make(salt: string, of: string, value: string): Promise<Fingerprint>;
  /** In the order of `known`, of which those that are not asked only help to prove all unchanged at once. @param advance told how many of how many distinct values were compared one by one */
  compare(
    state: Pick<State, 'secrets_salt' | 'secrets_together'>,
    known: readonly Known[],
    advance: (done: number, total: number) => void,
  ): Promise<readonly Compared[]>;
  /** The state with older fingerprints replaced, and with one over all secrets together, as far as values were made or compared here before. @param values by `<address> <path>` */
  renew(state: State, values: ReadonlyMap<string, string>): Promise<State>;
}

/** Runs a program with its arguments. @returns what it prints */
export type CommandOutput = (
  words: readonly string[],
  where: {
    readonly cwd: string;
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly signal: AbortSignal;
  },
) => Promise<Obtained<string>>;

/**
 * What loading declarations needs of the disk. Synchronous, because a position inside a file is asked for one at a
 * time, long after the file was read. Errors are Node's, with `code`.
 */
export interface DeclarationFiles {
  /** The entry at a path after symbolic links are followed; `id` is equal for the same entry. Undefined if there is none. */
  stat(
    path: string,
  ): { readonly kind: 'file' | 'folder' | 'other'; readonly id: string } | undefined;
  /** At most the first `limit` bytes of a regular file. */
  read(path: string, limit: number): Uint8Array;
  /** Names in a folder. */
  list(path: string): readonly string[];
  /** With every symbolic link followed; undefined where nothing is, or where it cannot be followed. */
  realPath(path: string): string | undefined;
  /** Whether the name itself is a symbolic link, wherever that leads. */
  isLink(path: string): boolean;
}
