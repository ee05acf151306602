// The real randomness of the system, for salts, lock ids and jitter.
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
