// Fingerprints of secrets: a state can prove a secret unchanged without revealing it, even to someone who guesses. The
// slow part, about 30 ms and 16 MiB of scrypt, runs once for each distinct secret of a run, or once for all of them if
// none changed; with TRUEUP_FINGERPRINT_KEY no part is slow.
import { createHmac, scrypt, timingSafeEqual } from 'node:crypto';
import {
  cached,
  canonical,
  compareText,
  limited,
  sha256,
  type Entry,
  type Fingerprint,
  type SaltedFingerprint,
  type CombinedFingerprint,
} from '../model/index.js';
import type { Compared, Fingerprints, Known } from '../platform/index.js';

const BYTES = 32;
/** The most combined fingerprints in a state; there are several because machines have different secrets. */
const KEPT = 8;

/** The parameters of scrypt. */
type Recipe = Omit<SaltedFingerprint, 'algorithm' | 'hash' | 'keyed'>;
const recipeOf = (salt: string, cost: number): Recipe => ({ salt, cost, block: 8, parallel: 1 });

/** A fingerprint of the current form, with its value. */
interface Member {
  readonly fingerprint: Fingerprint;
  readonly value: string;
}

type Options = { readonly key?: string; readonly cost?: number; readonly atOnce?: number };

/** @param options.key TRUEUP_FINGERPRINT_KEY @param options.cost log2 of scrypt's N @param options.atOnce how many scrypts run beside one another */
export function scryptFingerprints(options: Options = {}): Fingerprints {
  const { mode, isProven, make, matches, proveTogether, wholeOf } = proofsOf(options);

  return {
    make,
    async compare({ secrets_salt: salt = '', secrets_together: all = [] }, known, advance) {
      const asked = known.filter((one) => one.asked);
      for (const made of all.length === 0
        ? []
        : [known.filter(isSlow), ...(options.key === undefined ? [] : [known.filter(isKeyed)])])
        if (distinct(made.filter((one) => one.asked)) > 1)
          await proveTogether(salt, all, sorted(made));
      const rest = asked.filter(({ fingerprint, value }) => !isProven(fingerprint, value));
      const total = new Set(rest.map(({ value }) => value)).size;
      const done = new Set<string>();
      const verdicts = new Map<Known, Compared>(asked.map((one) => [one, true]));
      await Promise.all(
        rest.map(async (one) => {
          verdicts.set(one, await matches(one.value, salt, one.fingerprint));
          if (done.size < done.add(one.value).size) advance(done.size, total);
        }),
      );
      return known.map((one) => verdicts.get(one));
    },
    async renew(state, values) {
      const { secrets_salt: salt } = state;
      if (salt === undefined || values.size === 0) return state;
      const isCurrent = (one: Fingerprint | SaltedFingerprint): one is Fingerprint =>
        !('algorithm' in one) && one.cost === mode.cost;
      const members: Member[] = [];
      const renewed = async (address: string, entry: Entry): Promise<Entry> => {
        const secrets = await Promise.all(
          Object.entries(entry.secrets ?? {}).map(async ([path, known]) => {
            const of = `${address} ${path}`;
            const value = values.get(of);
            if (value === undefined || !isProven(known, value)) return [path, known] as const;
            const fingerprint = isCurrent(known) ? known : await make(salt, of, value);
            members.push({ fingerprint, value });
            return [path, fingerprint] as const;
          }),
        );
        return secrets.every(([path, fingerprint]) => entry.secrets?.[path] === fingerprint)
          ? entry
          : { ...entry, secrets: Object.fromEntries(secrets) };
      };
      const resources = Object.fromEntries(
        await Promise.all(
          Object.entries(state.resources).map(
            async ([address, entry]) => [address, await renewed(address, entry)] as const,
          ),
        ),
      );
      const together = await wholeOf(salt, state.secrets_together ?? [], sorted(members));
      return { ...state, resources, ...(together.length > 0 && { secrets_together: together }) };
    },
  };
}

/** Makes, compares and proves fingerprints. */
function proofsOf({ key, cost = 14, atOnce = 2 }: Options) {
  const { slow, hashOf, wholeHash } = hashesOf(key, atOnce);
  /** Values by the hash of their proven fingerprint. */
  const proven = new Map<string, string>();
  const isProven = ({ hash }: { readonly hash: string }, value: string): boolean =>
    proven.get(hash) === value;
  /** The members of a new fingerprint that depend on the key. */
  const mode: { readonly cost?: number } = key === undefined ? { cost } : {};

  async function make(salt: string, of: string, value: string): Promise<Fingerprint> {
    const plain = { of, ...mode };
    const fingerprint = { ...plain, hash: await hashOf(value, salt, plain) };
    proven.set(fingerprint.hash, value);
    return fingerprint;
  }

  /** Undefined if the key is needed and missing. */
  async function matches(
    value: string,
    salt: string,
    fingerprint: Fingerprint | SaltedFingerprint,
  ): Promise<boolean | undefined> {
    const old = 'algorithm' in fingerprint;
    const keyed = old ? fingerprint.keyed : fingerprint.cost === undefined;
    if (keyed && key === undefined) return undefined;
    const mine = old
      ? (await slow(keyed ? hmac(key!, value) : value, fingerprint)).toString('base64')
      : await hashOf(value, salt, fingerprint);
    const same = alike(mine, fingerprint.hash);
    if (same) proven.set(fingerprint.hash, value);
    return same;
  }

  /** Asks for all members at once. */
  async function proveTogether(
    salt: string,
    all: readonly CombinedFingerprint[],
    members: readonly Member[],
  ) {
    const of = listDigest(members);
    const together = all.find((one) => one.of === of);
    if (!together || !alike(await wholeHash(members, salt, together), together.hash)) return;
    for (const { fingerprint, value } of members) proven.set(fingerprint.hash, value);
  }

  async function wholeOf(
    salt: string,
    all: readonly CombinedFingerprint[],
    members: readonly Member[],
  ) {
    const plain = { of: listDigest(members), ...mode };
    if (distinct(members) < 2 || all.some(({ of }) => of === plain.of)) return all;
    return [{ ...plain, hash: await wholeHash(members, salt, plain) }, ...all].slice(0, KEPT);
  }

  return { mode, isProven, make, matches, proveTogether, wholeOf };
}

/** Hashes; what is slow is done once for each value. */
function hashesOf(key: string | undefined, atOnce: number) {
  const derived = new Map<string, Promise<Buffer>>();
  const soon = limited(atOnce);

  const slow = (value: string | Buffer, recipe: Recipe): Promise<Buffer> => {
    const name = canonical([sha256(value), recipe]);
    return cached(derived, name, () => soon(() => derive(value, recipe)));
  };
  const hashOf = async (
    value: string,
    salt: string,
    { of, cost: slowness }: Omit<Fingerprint, 'hash'>,
  ): Promise<string> =>
    hmac(
      slowness === undefined
        ? hmac(key!, `${salt} ${value}`)
        : await slow(value, recipeOf(salt, slowness)),
      of,
    ).toString('base64');
  const wholeHash = (
    members: readonly Member[],
    salt: string,
    together: Omit<CombinedFingerprint, 'hash'>,
  ) => hashOf(JSON.stringify(members.map(({ value }) => value)), salt, together);

  return { slow, hashOf, wholeHash };
}

const isSlow = (one: Known): one is Known & Member =>
  !('algorithm' in one.fingerprint) && one.fingerprint.cost !== undefined;
const isKeyed = (one: Known): one is Known & Member =>
  !('algorithm' in one.fingerprint) && one.fingerprint.cost === undefined;
const distinct = (members: readonly Member[]): number =>
  new Set(members.map(({ value }) => value)).size;
const sorted = (members: readonly Member[]): readonly Member[] =>
  members.toSorted((a, b) => compareText(a.fingerprint.of, b.fingerprint.of));
/** Differs if one of the fingerprints or the set of available secrets differs. */
const listDigest = (members: readonly Member[]): string =>
  sha256(JSON.stringify(members.flatMap(({ fingerprint }) => [fingerprint.of, fingerprint.hash])));
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

function alike(mine: string, theirs: string): boolean {
  const [a, b] = [Buffer.from(mine, 'base64'), Buffer.from(theirs, 'base64')];
  return a.length === b.length && timingSafeEqual(a, b);
}

function derive(value: string | Buffer, { salt, cost, block, parallel }: Recipe): Promise<Buffer> {
  const N = 2 ** cost;
  return new Promise((resolve, reject) => {
    scrypt(
      value,
      Buffer.from(salt, 'base64'),
      BYTES,
      { N, r: block, p: parallel, maxmem: 256 * N * block + 1024 * 1024 },
      (error, hash) => (error ? reject(error) : resolve(hash)),
    );
  });
}
