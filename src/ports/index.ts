// Time, randomness, disk and network come in through here, so that a whole run can be simulated from a seed,
// killed at any point and replayed. The real ones stand in the files beside; the simulated ones live in test/.
import type { Fingerprint } from '../model/index.js';

export interface Clock {
  /** Milliseconds since 1970 UTC. */
  now(): number;
  /** Milliseconds that never go back. */
  monotonic(): number;
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
  read(path: string): Promise<string>;
  /** Creates or replaces, atomically and durably: temporary file beside, fsync, rename, fsync of the folder. */
  replace(path: string, text: string, mode: number): Promise<void>;
  /** Creates; fails with EEXIST where the file is already there. Durable. */
  create(path: string, text: string, mode: number): Promise<void>;
  /** Opens for appending; creates where missing. */
  append(path: string, mode: number): Promise<Appender>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  makeFolder(path: string): Promise<void>;
  list(path: string): Promise<readonly string[]>;
}

export interface Appender {
  /** Resolves once the text is durable (fsync). */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Slow keyed hashes of secrets: prove that a value is unchanged without holding it. */
export interface Fingerprints {
  make(value: string): Promise<Fingerprint>;
  matches(value: string, fingerprint: Fingerprint): Promise<boolean>;
}

export interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly files: Files;
}
