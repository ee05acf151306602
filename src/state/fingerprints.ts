// Fingerprints of secrets: scrypt over a salt of their own, so that the state proves a secret unchanged and gives
// nothing away, even to someone who guesses. Each costs some 50 ms and 16 MiB: none is computed twice, two at once.
import { createHmac, scrypt, timingSafeEqual } from 'node:crypto';
import { limited, refuse, sha256, type Fingerprint } from '../model/index.js';
import type { Fingerprints, Random } from '../ports/index.js';

type Recipe = Omit<Fingerprint, 'algorithm' | 'hash'>;

const BYTES = 32;
const AT_ONCE = 2;

/** @param options.key TRUEUP_FINGERPRINT_KEY @param options.cost log2 of scrypt's N, for tests */
export function scryptFingerprints(options: { readonly random: Random; readonly key?: string; readonly cost?: number }): Fingerprints {
  const { random, key, cost = 14 } = options;
  const known = new Map<string, Promise<string>>();
  const soon = limited(AT_ONCE);

  const hash = (value: string, recipe: Recipe): Promise<string> => {
    const name = [sha256(value), recipe.salt, recipe.cost, recipe.block, recipe.parallel, recipe.keyed].join(' ');
    const made = known.get(name) ?? soon(() => derive(recipe.keyed && key !== undefined ? createHmac('sha256', key).update(value).digest() : value, recipe));
    known.set(name, made);
    return made;
  };

  return {
    async make(value) {
      const recipe: Recipe = { cost, block: 8, parallel: 1, salt: Buffer.from(random.bytes(16)).toString('base64'), keyed: key !== undefined };
      return { algorithm: 'scrypt', ...recipe, hash: await hash(value, recipe) };
    },
    async matches(value, fingerprint) {
      if (fingerprint.keyed && key === undefined) {
        refuse('fingerprint-key', 'the state holds secrets that were fingerprinted with a key, and TRUEUP_FINGERPRINT_KEY is not set', {
          detail: 'Set TRUEUP_FINGERPRINT_KEY (or TRUEUP_FINGERPRINT_KEY_FILE) to the key that was used before.',
        });
      }
      const [mine, theirs] = [await hash(value, fingerprint), fingerprint.hash].map((text) => Buffer.from(text, 'base64')) as [Buffer, Buffer];
      return mine.length === theirs.length && timingSafeEqual(mine, theirs);
    },
  };
}

function derive(value: string | Buffer, { salt, cost, block, parallel }: Recipe): Promise<string> {
  const N = 2 ** cost;
  return new Promise((resolve, reject) => {
    scrypt(value, Buffer.from(salt, 'base64'), BYTES, { N, r: block, p: parallel, maxmem: 256 * N * block + 1024 * 1024 }, (error, hash) =>
      error ? reject(error) : resolve(hash.toString('base64')),
    );
  });
}
