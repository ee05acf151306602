// A put whose outcome is known. Every body is unlike any other, so what stands under the key tells whose it is.
import { Buffer } from 'node:buffer';
import { refuseInterrupted, refuseUnfit, refuseUnreachable } from '../backend-errors.js';
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

/** Lost puts of one version, also where others are lost in between: two caches can show two old ones in turn. */
const MOST = 5;

/**
 * For a put that another run was faster with: the key shows another version now, and the run looks again. Where it goes on
 * showing the version that the place does not replace, such as behind a cache, nothing can be written.
 * @returns to be called after each lost put, with the version that was to be replaced; pauses
 * @throws Refusal where looking again does not help
 */
export function lostPuts({
  registers,
  signal,
  ...pauses
}: PutTools & { readonly signal?: AbortSignal }) {
  const losses = new Map<Version | undefined, number>();
  return async (version: Version | undefined): Promise<void> => {
    const times = (losses.get(version) ?? 0) + 1;
    losses.set(version, times);
    if (times === MOST) refuseStale(registers, version);
    await pauseAfter(pauses, times, signal).catch(refuseInterrupted);
  };
}

/** @param version what the place shows each time */
export const refuseStale = ({ location }: Registers, version: Version | undefined): never =>
  refuseUnfit(
    location,
    version === undefined
      ? 'it rejects every write of a value that it does not return'
      : 'it rejects every update of the version that it returns',
    'If there is a cache in front of it, use the address of the server itself.',
  );
