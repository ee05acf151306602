// The port of a remote backend: named values that change by compare-and-swap. Everything that makes a state of them,
// its lock and its journal stands above this port, once for all backends.

/** Opaque: a counter, an ETag. Two values of one key never have the same. */
export type Version = string;

export interface Register {
  readonly body: Uint8Array;
  readonly version: Version;
}

/** `conflict`: the key does not have the expected version. `unknown`: bytes left, and there is no clear response. */
export type Put = { readonly version: Version } | 'conflict' | 'unknown';

export interface Registers {
  /** For people; never with a password. */
  readonly location: string;
  /** Tells servers apart that have the same location; without credentials. */
  readonly endpoint?: string;
  /** Sees every write that ended before it began. Undefined where the key, or the whole place, does not exist. @throws Refusal */
  get(key: string): Promise<Register | undefined>;
  /** Never sends twice by itself. @param expect null: only where the key is absent @throws Refusal where the place refuses this user, or knows no conditions */
  put(key: string, body: Uint8Array, expect: Version | null): Promise<Put>;
  /** The keys that begin with a prefix, in the order of their bytes. Sees every key that was written before it began. @throws Refusal */
  list(prefix: string): AsyncIterable<string>;
  /** For what nothing refers to any more: a removal is never part of a proof. Keys that do not exist are no error. */
  remove(keys: readonly string[]): Promise<void>;
  /** Makes what the values need, such as a table. Only a run that takes the lock asks for it. @throws Refusal with what a person with more rights types */
  prepare?(): Promise<void>;
}

/** All of them. @throws Refusal */
export async function keysBelow(registers: Registers, prefix: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const key of registers.list(prefix)) found.push(key);
  return found;
}
