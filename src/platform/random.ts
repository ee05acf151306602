// The real randomness, from the system: salts, lock ids and jitter alike.
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { Random } from './index.js';

const STEPS = 2 ** 47;

export function systemRandom(): Random {
  return {
    fraction: () => randomInt(STEPS) / STEPS,
    bytes: (size) => randomBytes(size),
    uuid: () => randomUUID(),
  };
}
