// JSON to values of CEL and back. Integers are BigInt there, and mappings are Maps, so that no key reaches a prototype.
import { cached, isList, type Json } from '../model/index.js';
import { refuseUnknown, spend, wrongValue } from './step-limit.js';
import { UnknownValue } from './unknown-value.js';

export type CelInput =
  | null
  | boolean
  | number
  | string
  | UnknownValue
  | readonly CelInput[]
  | { readonly [key: string]: CelInput };

/** The members of a variable that has too many to convert, or some that must not be read. Undefined for a name that has none. */
export type Members = (name: string) => CelInput | undefined;

const known = new WeakMap<object, unknown>();

export function toCel(value: CelInput): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (value === null || typeof value !== 'object' || value instanceof UnknownValue) return value;
  return cached(known, value, () =>
    isList(value)
      ? value.map(toCel)
      : new Map(Object.entries<CelInput>(value).map(([key, member]) => [key, toCel(member)])),
  );
}

/** Maps whose members are asked for: the library knows a mapping by its constructor. */
const asked = new WeakSet<object>();

export function toAsked(members: Members): unknown {
  const map = new Map<string, unknown>();
  map.get = (name) => {
    const value = typeof name === 'string' ? members(name) : undefined;
    return value === undefined ? undefined : toCel(value);
  };
  // Not all members are known: a loop over them would be a loop over none. The library reads `entries` for types.
  const unlisted = (): never => {
    throw wrongValue('members of this variable are read by name, and cannot be listed');
  };
  map.keys = unlisted;
  map[Symbol.iterator] = unlisted;
  Object.defineProperty(map, 'size', { get: unlisted });
  asked.add(map);
  return map;
}

const MOST_DEPTH = 64;

export function toJson(value: unknown, depth = 0): Json {
  spend(1);
  refuseUnknown(value);
  if (depth > MOST_DEPTH) throw wrongValue(`the result has more than ${MOST_DEPTH} levels`);
  if (typeof value === 'bigint') return integer(value);
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value;
    throw wrongValue(`the result is ${value}, which is not a number`);
  }
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((one) => toJson(one, depth + 1));
  if (value instanceof Map) {
    if (asked.has(value)) throw wrongValue('a variable of this name has no value of its own');
    return mapping(value, depth);
  }
  if (typeof value === 'object' && value.constructor === Object)
    return mapping(Object.entries(value), depth);
  throw wrongValue('the result is not a string, number, boolean, list or mapping');
}

function integer(value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw wrongValue('the result is an integer beyond 2^53, where integers lose digits');
}

const mapping = (entries: Iterable<readonly [unknown, unknown]>, depth: number): Json =>
  Object.fromEntries(
    Array.from(entries, ([key, member]) => [String(key), toJson(member, depth + 1)]),
  );
