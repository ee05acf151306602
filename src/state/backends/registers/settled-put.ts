// A put whose outcome is known. Every body is unlike any other, so what stands under the key tells whose it is.
import { Buffer } from 'node:buffer';
import { refuseUnreachable } from '../backend-errors.js';
import type { Registers, Version } from './port.js';
import { ATTEMPTS, pauseAfter, type Pauses } from '../retried.js';

export interface PutTools extends Pauses {
  readonly registers: Registers;
}

/**
 * Puts a body, and looks what became of it where the response does not say that it took effect. A write that was repeated,
 * here or by a proxy on the way, gets `conflict` because the first one took effect.
 * @param body holds bytes that no other body holds
 * @throws Refusal where the outcome stays unknown, or the place refuses this user
 */
export async function settledPut(
  { registers, ...pauses }: PutTools,
  key: string,
  body: Uint8Array,
  expect: Version | null,
): Promise<{ readonly version: Version } | 'conflict'> {
  for (let attempt = 1; ; attempt += 1) {
    const put = await registers.put(key, body, expect);
    if (typeof put === 'object') return put;
    const found = await registers.get(key);
    if (found && Buffer.from(found.body).equals(body)) return { version: found.version };
    if (put === 'conflict' || (found?.version ?? null) !== expect) return 'conflict';
    if (attempt === ATTEMPTS)
      refuseUnreachable(registers.location, 'it gives no clear response to a write');
    await pauseAfter(pauses, attempt);
  }
}
