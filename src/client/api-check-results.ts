// Shared parts of the API checks: readings, and verdicts over all records of a page or of a filtered listing.
import { isObject, type Collections, type Json, type JsonObject } from '../model/index.js';
import type { Dialect } from './dialect.js';
import { Malformed } from './response.js';
import type { Answer } from './transport.js';

export interface CheckResult {
  /** `unchecked`: this account has no objects or no right to check it with. */
  readonly verdict: 'ok' | 'note' | 'bad' | 'unchecked';
  readonly detail: string;
}

export interface Records {
  readonly records: readonly JsonObject[];
  /** The query of the next page; null at the end. */
  readonly next: string | null;
}

/** The readings of checks. Equal requests are sent once. */
export interface Facts {
  readonly collections: Collections;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The raw response. @throws Refusal for a status that is not in `statuses` */
  readonly answer: (
    collection: string,
    query: Readonly<Record<string, string>> | string,
    how?: { readonly id?: string; readonly statuses?: readonly number[] },
  ) => Promise<Answer>;
  /** A page as the client reads it. @throws Malformed, Refusal */
  readonly page: (
    collection: string,
    query: Readonly<Record<string, string>> | string,
  ) => Promise<Records>;
  readonly dialect: (collection: string) => Dialect;
}

export type ApiCheck = (facts: Facts) => Promise<CheckResult>;

export const ok = (detail: string): CheckResult => ({ verdict: 'ok', detail });
export const note = (detail: string): CheckResult => ({ verdict: 'note', detail });
export const bad = (detail: string): CheckResult => ({ verdict: 'bad', detail });
export const unchecked = (detail: string): CheckResult => ({ verdict: 'unchecked', detail });

/** Bad if `wrong` finds an error in an item; unchecked if there are no items. `what`: a plural noun. */
export function verdictOn<T>(
  items: readonly T[],
  what: string,
  wrong: (item: T) => string | readonly string[] | undefined,
): CheckResult {
  if (items.length === 0) return unchecked(`there are no ${what}`);
  const found = items.flatMap((item) => wrong(item) ?? []);
  const more = found.length > 1 ? ` (and ${found.length - 1} more)` : '';
  return found.length === 0 ? ok(`${items.length} ${what}`) : bad(`${found[0]}${more}`);
}

/** The check whether anything is wrong with any of what `read` gives. */
export const eachOf =
  <T>(
    what: string,
    read: (facts: Facts) => Promise<readonly T[]>,
    wrong: (item: T, facts: Facts) => string | readonly string[] | undefined,
  ): ApiCheck =>
  async (facts) =>
    verdictOn(await read(facts), what, (item) => wrong(item, facts));

/** Bad if something is wrong. */
export const okUnless = (wrong: string | undefined, detail: string): CheckResult =>
  wrong === undefined ? ok(detail) : bad(wrong);

/** A finding that is fine but for values nobody has described. */
export const withOthers = (found: CheckResult, others: readonly unknown[]): CheckResult =>
  found.verdict === 'ok' && others.length > 0
    ? note(`there are others: ${others.map(shortText).join(', ')}`)
    : found;

/** A check that is about the form of the answer: a malformed one is bad, and not merely unseen. */
export const aboutForm =
  (check: ApiCheck): ApiCheck =>
  (facts) =>
    check(facts).catch((error: unknown) => {
      if (error instanceof Malformed) return bad(`the answer ${error.message}`);
      throw error;
    });

/** Whether pages have the size that is asked for: 1, and the largest there is. `what`: a plural. */
export const pageSizes =
  (name: string, what: string, parameter: string, largest: number): ApiCheck =>
  async (facts) => {
    const small = await facts.page(name, { [parameter]: '1' });
    const large = await facts.page(name, { [parameter]: String(largest) });
    if (small.records.length > 1)
      return bad(`${parameter}=1 gives ${small.records.length} ${what}`);
    if (large.records.length < 2) return unchecked(`there are not two ${what}`);
    if (small.next === null) return bad(`${parameter}=1 gives one of several ${what}, and no next`);
    return large.next !== null && large.records.length < largest
      ? bad(`${parameter}=${largest} gives ${large.records.length} ${what}, and more follow`)
      : ok(`1 and ${largest}`);
  };

export const pluralName = (name: string): string => name.replaceAll('_', ' ');

export const shortText = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value ?? null)).slice(0, 100);

/** An id as a filter or path takes it. */
export const idIn = (record: JsonObject, name: string): string =>
  isObject(record[name]) ? '' : String(record[name] ?? '');

/** An identifier of the form that `known` have and that none of them is. */
export function unrelatedTo(known: readonly string[]): string {
  if (known.some((id) => !/^\d+$/.test(id))) return '00000000-0000-1000-8000-000000000000';
  const taken = new Set(known);
  let id = 2_147_483_646;
  while (taken.has(String(id))) id -= 1;
  return String(id);
}

/** First page of the largest size. */
export const wholePage = (facts: Facts, name: string) => facts.page(name, { limit: '500' });

/** The fault of an answer to a filter that nothing meets; undefined if it is empty. */
export async function notEmpty(
  facts: Facts,
  name: string,
  filter: string,
  value: string,
): Promise<string | undefined> {
  const { records } = await facts.page(name, { [filter]: value, limit: '1' });
  return records.length === 0
    ? undefined
    : `${pluralName(name)}: ${filter} of something that does not exist gives records, as if it were ignored`;
}

export const isInteger = (value: Json | undefined): boolean =>
  (typeof value === 'number' && Number.isSafeInteger(value)) ||
  (typeof value === 'string' && /^\d+$/.test(value));
