// Time-based UUIDs (version 1), as the service gives to rules, destinations and log records: they sort by time.
import type { Clock, Random } from '../platform/index.js';

/** Hundreds of nanoseconds between 1582-10-15 and 1970-01-01. */
const GREGORIAN = 122_192_928_000_000_000n;
const hex = (bytes: Iterable<number>): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** A maker of UUIDs that never repeats itself, even where the clock stands still. */
export function timeUuids(clock: Pick<Clock, 'now'>, random: Pick<Random, 'bytes'>): () => string {
  const [first = 0, second = 0, third = 0, ...rest] = random.bytes(8);
  const sequence = hex([(first & 0x3f) | 0x80, second]);
  const node = hex([third | 1, ...rest]);
  let last = 0n;
  return () => {
    const now = BigInt(Math.floor(clock.now())) * 10_000n + GREGORIAN;
    last = now > last ? now : last + 1n;
    const ticks = last.toString(16).padStart(15, '0');
    return `${ticks.slice(7)}-${ticks.slice(3, 7)}-1${ticks.slice(0, 3)}-${sequence}-${node}`;
  };
}
