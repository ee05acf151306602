// Fingerprints prove a secret unchanged, give nothing away, and are not computed twice.
import { createHook } from 'node:async_hooks';
import { scryptSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Random } from '../../src/ports/index.js';
import { scryptFingerprints } from '../../src/state/index.js';
import { seededRandom } from '../support/simulated.js';
import { refusal } from './conformance.js';

const quick = (key?: string, random: Random = seededRandom(1)) => scryptFingerprints({ random, cost: 4, ...(key !== undefined && { key }) });

describe('fingerprints', () => {
  it('match the value they were made of and no other, in this process and the next', async () => {
    const made = await quick().make('hunter2');
    for (const fingerprints of [quick(), scryptFingerprints({ random: seededRandom(2) })]) {
      expect(await fingerprints.matches('hunter2', made)).toBe(true);
      expect(await fingerprints.matches('hunter3', made)).toBe(false);
      expect(await fingerprints.matches('hunter2', { ...made, salt: 'b3RoZXI=' })).toBe(false);
      expect(await fingerprints.matches('hunter2', { ...made, hash: '' })).toBe(false);
    }
  });

  it('are scrypt at cost 2^14 over 16 bytes of salt, which anyone can check', async () => {
    const made = await scryptFingerprints({ random: seededRandom(1) }).make('hunter2');
    expect(made).toMatchObject({ algorithm: 'scrypt', cost: 14, block: 8, parallel: 1, keyed: false });
    const salt = Buffer.from(made.salt, 'base64');
    expect(salt).toHaveLength(16);
    expect(made.hash).toBe(scryptSync('hunter2', salt, 32, { N: 2 ** 14, r: 8, p: 1, maxmem: 2 ** 26 }).toString('base64'));
  });

  it('of equal values differ, and hold nothing of them', async () => {
    const fingerprints = quick();
    const [one, other] = await Promise.all([fingerprints.make('hunter2'), fingerprints.make('hunter2')]);
    expect(one.hash).not.toBe(other.hash);
    expect(JSON.stringify([one, other])).not.toContain('hunter2');
  });

  it('made with a key match with that key alone, and ask for it where it is missing', async () => {
    const made = await quick('key').make('hunter2');
    expect(made.keyed).toBe(true);
    expect(await quick('key').matches('hunter2', made)).toBe(true);
    expect(await quick('other').matches('hunter2', made)).toBe(false);
    const refused = await refusal(quick().matches('hunter2', made));
    expect(refused).toMatchObject({ code: 'fingerprint-key', exit: 1 });
    expect(refused.words).toContain('TRUEUP_FINGERPRINT_KEY');
    expect(await quick('key').matches('hunter2', await quick().make('hunter2'))).toBe(true);
  });

  it('are computed once for a value and a salt, and never more than two at a time', async () => {
    const running = new Set<number>();
    let [computed, most] = [0, 0];
    const hook = createHook({
      init(id, type) {
        if (type !== 'SCRYPTREQUEST') return;
        computed += 1;
        most = Math.max(most, running.add(id).size);
      },
      before: (id) => void running.delete(id),
    }).enable();
    const fingerprints = quick();
    const made = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((value) => fingerprints.make(value)));
    expect(await Promise.all(made.flatMap((one) => [fingerprints.matches('a', one), fingerprints.matches('a', one)]))).toEqual([true, true, ...Array<boolean>(8).fill(false)]);
    hook.disable();
    expect({ computed, most }).toEqual({ computed: 9, most: 2 });
  });
});
