// What the tests of all remote backends share.
import { Buffer } from 'node:buffer';
import { encodeHead, readHead } from '../../../src/state/backends/registers/head.js';
import type { Keys } from '../../../src/state/backends/registers/keys.js';
import type { Registers } from '../../../src/state/backends/registers/port.js';

/** Everything under the keys, without what a head says of the lock and the log. */
export function withoutSignsOfLife(
  values: ReadonlyMap<string, { readonly body: Uint8Array }>,
): readonly (readonly [string, string])[] {
  return [...values]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { body }]) => {
      const text = Buffer.from(body).toString('utf8');
      if (!key.endsWith('/head')) return [key, text];
      const { lineage, serial, states, carry } = JSON.parse(text.slice(17));
      return [key, JSON.stringify({ lineage, serial, states, carry })];
    });
}

/** Another run takes the lock, whoever holds it, and lets it go. */
export async function stealHead(registers: Registers, keys: Keys): Promise<void> {
  const { head, version } = (await readHead(registers, keys))!;
  const taken = { ...head, epoch: head.epoch + 1, holder: null };
  await registers.put(keys.head, encodeHead(taken, 'stolen'), version);
}
