// JSON values: plain JSON, its canonical text and its equality, for everything that is hashed, compared or stored.
import { createHash } from 'node:crypto';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A number of the service that a double cannot hold: it is kept and sent back as it was written. It is stored and shown as a string. */
export class ExactNumber {
  constructor(readonly text: string) {}
  toJSON(): string {
    return this.text;
  }
  toString(): string {
    return this.text;
  }
}

/** An exact number as the text of its digits; any other value as it is. */
export const digitsOf = (value: unknown): unknown =>
  value instanceof ExactNumber ? value.text : value;

export function isObject(value: Json | undefined): value is JsonObject;
export function isObject(value: unknown): value is Readonly<Record<string, unknown>>;
export function isObject(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ExactNumber)
  );
}

/** As `Array.isArray`, of what may be a list that nobody changes. */
export const isList = <T>(value: T): value is Extract<T, readonly unknown[]> =>
  Array.isArray(value);

/** The `code` of an error as Node's have it: `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  const code = isObject(error) ? error['code'] : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** The own member of a record or a list under a name from outside, never an inherited one. */
export function own<T>(
  record: Readonly<Record<string, T>> | readonly T[],
  name: string,
): T | undefined {
  if (!Object.hasOwn(record, name)) return undefined;
  return isList(record) ? record[Number(name)] : record[name];
}

/** Code-unit order: the same in every locale, so equal inputs give equal bytes. */
export function compareText(a: string, b: string): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

/** JSON text with sorted keys and no spaces: equal values have equal texts. `undefined` members are left out. */
export function canonical(value: Json | object | undefined): string {
  if (value === undefined) return 'null';
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonical(item)).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  let members = '';
  for (const key of Object.keys(value).toSorted()) {
    const member = value[key];
    if (member !== undefined)
      members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${canonical(member)}`;
  }
  return `{${members}}`;
}

/** Copy with keys sorted at every level, for documents that people diff. */
export function sorted<T>(value: T): T;
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => sorted(item));
  if (!isObject(value)) return value;
  const names = Object.keys(value).toSorted(compareText);
  return Object.fromEntries(
    names.flatMap((name) => (value[name] === undefined ? [] : [[name, sorted(value[name])]])),
  );
}

export function equal(a: unknown, b: unknown): boolean {
  if (digitsOf(a) === digitsOf(b)) return true;
  if (Array.isArray(a))
    return (
      Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(item, b[index]))
    );
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]))
  );
}

/** SHA-256 in lowercase hexadecimal. */
export function sha256(text: string | Uint8Array): string {
  const hash = createHash('sha256');
  if (typeof text !== 'string') return hash.update(text).digest('hex');
  for (let at = 0; at < text.length;) {
    const end = at + PIECE;
    const next = isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end;
    hash.update(text.slice(at, next));
    at = next;
  }
  return hash.digest('hex');
}

/** A long text is hashed in pieces, because each is copied as UTF-8; no piece ends within a character. */
const PIECE = 65_536;
const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00;

/** Digest of a value that does not depend on the order of its keys. */
export function digest(value: Json | object): string {
  return sha256(canonical(value));
}

/** Adds to the list that a map holds under a key. */
export function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** As in `a, b and 3 more`: the first of many names. @param and what stands before the number of the others */
export const firstNamed = (
  names: readonly string[],
  most: number,
  and = ' and ',
  comma = ', ',
): string =>
  names.slice(0, most).join(comma) +
  (names.length > most ? `${and}${names.length - most} more` : '');

/** The strings of a list; empty for any other value. */
export const stringsIn = (list: unknown): readonly string[] =>
  Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
