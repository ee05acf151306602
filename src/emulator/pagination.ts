// Splits listings into pages, by offset and by opaque cursors. Cursors of v2 hold a position that is never reused, so
// that no record is missed when others come and go; those of v3, for any order, hold the index and id of a record.
import { tryJson, type Json } from '../model/index.js';
import { turnDown } from './error-responses.js';

/** A whole number of a query parameter. @throws Refused beyond its bounds. */
export function count(
  query: URLSearchParams,
  name: string,
  fallback: number,
  [least, most]: readonly [number, number],
): number {
  const text = query.get(name);
  if (text === null) return fallback;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most))
    turnDown(400, `${name} must be between ${least} and ${most}`, [name]);
  return value;
}

/** @throws Refused for parameters that the listing does not know, and for any that is given twice. */
export function checkParameters(
  query: URLSearchParams,
  known: readonly string[],
  isKnown: (name: string) => boolean = () => false,
): void {
  const names = [...query.keys()];
  const unknown = names.filter((name) => !known.includes(name) && !isKnown(name));
  if (unknown.length > 0) turnDown(400, `unknown query parameter ${unknown.join(', ')}`, unknown);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (twice.length > 0)
    turnDown(400, `query parameter ${twice.join(', ')} is given more than once`, twice);
}

const encoded = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');

const decoded = (text: string): Json | undefined =>
  tryJson(Buffer.from(text, 'base64url').toString());

/** The cursor of a place. */
export const placeCursor = encoded as (place: number) => string;

/** Index of the first item after the cursor's position; positions ascend. @throws Refused for an invalid cursor. */
export function behindPlace<T>(
  items: readonly T[],
  cursor: string,
  parameter: string,
  placeOf: (item: T) => number,
): number {
  const place = decoded(cursor);
  if (typeof place !== 'number') return turnDown(400, `${parameter} is not a cursor`, [parameter]);
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (placeOf(items[middle]!) > place) high = middle;
    else low = middle + 1;
  }
  return low;
}

type Identify<T> = (item: T) => string;

export function cursorAt<T>(items: readonly T[], index: number, identify: Identify<T>): string {
  return encoded([index, identify(items[index]!)]);
}

/** The current position of a cursor's record: its index, or the two between which it was. @throws Refused for an invalid cursor. */
export function locate<T>(
  items: readonly T[],
  cursor: string,
  parameter: string,
  identify: Identify<T>,
): { readonly at: number; readonly found: boolean } {
  const [index, id] =
    readCursor(cursor) ?? turnDown(400, `${parameter} is not a cursor`, [parameter]);
  const hit = items[index];
  if (hit !== undefined && identify(hit) === id) return { at: index, found: true };
  const moved = items.findIndex((item) => identify(item) === id);
  return moved >= 0
    ? { at: moved, found: true }
    : { at: Math.min(index, items.length), found: false };
}

function readCursor(text: string): readonly [number, string] | undefined {
  const value = decoded(text);
  const [index, id]: readonly unknown[] = Array.isArray(value) ? value : [];
  return typeof index === 'number' &&
    Number.isSafeInteger(index) &&
    index >= 0 &&
    typeof id === 'string'
    ? [index, id]
    : undefined;
}

/** Index of the first item behind the cursor. */
export function behind<T>(
  items: readonly T[],
  cursor: string,
  parameter: string,
  identify: Identify<T>,
): number {
  const { at, found } = locate(items, cursor, parameter, identify);
  return found ? at + 1 : at;
}

/** The query with some parameters set or (null) taken out, as in `?limit=2&offset=4`. */
export function queryWith(
  query: URLSearchParams,
  changes: Readonly<Record<string, string | null>>,
): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name);
    else next.set(name, value);
  }
  return `?${next.toString()}`;
}
