// Retries: whether to send a request again, and how long to wait before. Pure functions, tested by a table.
import type { Random } from '../platform/index.js';
import { classify, isThrottled } from './classify.js';
import type { Surface } from './dialect.js';
import { finalCodes, type HttpResult } from './transport.js';

const maxAttempts = 3;
/** Longest wait, in milliseconds, that a server may ask for. */
export const longestRetryAfter = 120_000;

/** Whether a read may be retried: after a failure that is probably temporary. */
export function isRetryableRead(surface: Surface, result: HttpResult): boolean {
  if ('error' in result) return !finalCodes.has(result.error.code);
  const { status } = result.response;
  return status === 408 || status >= 500 || isThrottled(surface, result.response);
}

/** Whether a write may be retried: only if it certainly had no effect. @param creates as for `classify` */
export function isRetryableWrite(surface: Surface, result: HttpResult, creates: boolean): boolean {
  if ('error' in result) return !result.error.sent && !finalCodes.has(result.error.code);
  return isThrottled(surface, result.response) && classify(result, { creates }) === 'rejected';
}

const base = 500;
const ceiling = 20_000;

/** Milliseconds to wait after failure number `attempt` (from 1): random, below a bound that doubles. */
export function backoff(attempt: number, random: Pick<Random, 'fraction'>): number {
  return Math.floor(random.fraction() * Math.min(ceiling, base * 2 ** (attempt - 1)));
}

/** Milliseconds to wait after the `tries`th attempt, at least what the server asked for; undefined if there may be no other attempt. */
export function retryDelay(
  tries: number,
  asked: number | undefined,
  random: Pick<Random, 'fraction'>,
): number | undefined {
  if (tries >= maxAttempts || (asked ?? 0) > longestRetryAfter) return undefined;
  return Math.max(asked ?? 0, backoff(tries, random));
}

/**
 * Milliseconds that `Retry-After` asks for, in seconds or as a date (by the server's own clock where it tells), else
 * those of the window that `X-RateLimit-Remaining-…` says is used up. Undefined where neither tells, or tells garbage or
 * a time that is past.
 */
export function retryAfter(
  headers: Readonly<Record<string, string>>,
  now: number,
): number | undefined {
  const text = headers['retry-after']?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = httpDate(text);
  if (at === undefined)
    return Object.entries(windows).find(
      ([name]) => headers[`x-ratelimit-remaining-${name}`]?.trim() === '0',
    )?.[1];
  const wait = at - (httpDate(headers['date']) ?? now);
  return wait >= 0 ? wait : undefined;
}

/** Milliseconds of the windows in which requests are counted, the longest first. */
const windows = { minute: 60_000, second: 1000 } as const;

const YEAR_10000 = Date.UTC(10_000, 0);

/** Milliseconds since 1970 of a date as HTTP writes it; undefined for anything else, and for a year that has no four digits. */
export function httpDate(text: string | undefined): number | undefined {
  if (!text || !/^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text)) return undefined;
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return at < YEAR_10000 ? at : undefined;
}

/** Retries a whole run may spend: a fifth of its requests, at least ten, so that an outage is not amplified. */
export function retryBudget(): { spend(requests: number): boolean } {
  let spent = 0;
  return {
    spend(requests) {
      if (spent >= Math.max(10, requests / 5)) return false;
      spent += 1;
      return true;
    },
  };
}
