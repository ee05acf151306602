// Requests to a backend that change nothing are repeated after failures that may pass.
import { errorCode, Refusal } from '../../model/index.js';
import { refuseUnreachable } from './backend-errors.js';
import type { LockTools } from './file/lock.js';

export const ATTEMPTS = 4;
/** Milliseconds; doubled with each attempt, and drawn between half of it and the whole. */
const PAUSE = 250;

export type Pauses = Pick<LockTools, 'clock' | 'random'>;

/** @throws the reason of the signal once it is aborted */
export const pauseAfter = (
  { clock, random }: Pauses,
  attempt: number,
  signal?: AbortSignal,
): Promise<void> => clock.sleep(PAUSE * 2 ** (attempt - 1) * (0.5 + random.fraction() / 2), signal);

/** @param ask gives the reason where asking again may help @throws Refusal with the last reason */
export async function retried<T>(
  pauses: Pauses,
  location: string,
  ask: () => Promise<{ readonly found: T } | { readonly failure: string }>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await ask();
    if ('found' in result) return result.found;
    if (attempt === ATTEMPTS) refuseUnreachable(location, result.failure);
    await pauseAfter(pauses, attempt);
  }
}

/** Whether another attempt may get another response. 501: the server does not know the request. */
export const isPassing = ({ status }: { readonly status: number }): boolean =>
  (status >= 500 && status !== 501) || status === 429 || status === 408;

/** Milliseconds for one request over http. */
export const REQUEST_TIMEOUT = 30_000;

/** Why a request over http got no response. @throws Refusal */
export function asFailure(error: unknown): { readonly failure: string } {
  if (error instanceof Refusal) throw error;
  const code = errorCode(error) ?? 'the connection failed';
  // Nothing but its time gives a request up.
  return { failure: code === 'aborted' ? noResponse(REQUEST_TIMEOUT) : code };
}

export const noResponse = (timeout: number): string =>
  `it gave no response within ${timeout / 1000} s`;
