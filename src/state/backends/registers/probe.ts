// Proves that a place can lock, before anything rests on it. Some servers take the conditions of a write and ignore
// them: two runs would both believe that they hold the lock.
import { Buffer } from 'node:buffer';
import { isDenied, refuseUnfit } from '../backend-errors.js';
import type { ProjectPlace } from './keys.js';
import { keysBelow, type Put } from './port.js';
import { ATTEMPTS, pauseAfter } from '../retried.js';
import { settledPut } from './settled-put.js';

/**
 * Milliseconds after which no probe is under way any more. A machine whose clock is ahead by more than that removes the
 * key of a probe that is under way: that one is then refused although the place is fit, and changes nothing.
 */
const LONGEST = 7 * 24 * 3_600_000;

/** Writes values of its own and removes them. @returns whether this user may remove values @throws Refusal where the place ignores a condition, or does not show what was written */
export async function probe(tools: ProjectPlace): Promise<boolean> {
  const { registers, keys, clock, random } = tools;
  const unfit = (problem: string, instead?: string): never =>
    refuseUnfit(registers.location, problem, instead);
  const key = keys.probe(clock.now(), random.uuid());
  const garbage = [key];
  let mayRemove = true;
  const body = (): Uint8Array => Buffer.from(`probe ${random.uuid()}\n`);
  const [first, second] = [body(), body()];
  const created = await settledPut(tools, key, first, null);
  if (created === 'conflict') return unfit('it refuses to create a new key');
  try {
    const replaced = await settledPut(tools, key, second, created.version);
    if (replaced === 'conflict')
      return unfit('it rejects an update of the current version of a key');
    const isClear = await allRefused(tools, [
      {
        problem: 'it overwrites a key that must not exist',
        send: () => registers.put(key, body(), null),
      },
      {
        problem: 'it overwrites a key that has another version',
        send: () => registers.put(key, body(), created.version),
      },
    ]);
    // Afterwards: a write without a clear response may have taken effect.
    const [found, listed] = await Promise.all([
      registers.get(key),
      keysBelow(registers, keys.probes),
    ]);
    // Of runs that were killed. Names begin with their time.
    const ended = keys.probe(clock.now() - LONGEST, '');
    garbage.push(...listed.filter((one) => one < ended));
    if (!found || !Buffer.from(found.body).equals(second))
      return unfit('it does not show what was written last');
    if (!listed.includes(key)) return unfit('it does not list a key that exists');
    if (!isClear)
      return unfit(
        'it does not clearly reject a write whose condition is not met',
        'If the server was busy, try again. Otherwise use PostgreSQL, or S3 with If-Match and If-None-Match.',
      );
  } finally {
    mayRemove = await registers.remove(garbage).then(
      () => true,
      (error: unknown) => !isDenied(error),
    );
  }
  return mayRemove;
}

/** A write that must fail, and what is wrong with a place where it does not. */
interface Forbidden {
  readonly problem: string;
  readonly send: () => Promise<Put>;
}

/**
 * Sends all of them at once. A server may call one of them too many, whatever it does with conditions: those without a
 * clear response are sent again, one at a time.
 * @returns false where one of them gets no clear response @throws Refusal where one of them takes effect
 */
async function allRefused(tools: ProjectPlace, writes: readonly Forbidden[]): Promise<boolean> {
  const first = await Promise.all(writes.map(({ send }) => send()));
  let isClear = true;
  for (const [at, { problem, send }] of writes.entries()) {
    let put = first[at]!;
    for (let attempt = 1; put === 'unknown' && attempt < ATTEMPTS; attempt += 1) {
      await pauseAfter(tools, attempt);
      put = await send();
    }
    if (typeof put === 'object') refuseUnfit(tools.registers.location, problem);
    isClear &&= put === 'conflict';
  }
  return isClear;
}
