// Values and types of Terraform: what `==` compares, what converts to what, and which type several values have in common.
import { isDeepStrictEqual } from 'node:util';
import { keysOf } from '../model/index.js';
import { compareNumbers, isDecimal, numberIn, numberText, type HclNumber } from './hcl-numbers.js';

export type HclType =
  | { readonly kind: 'string' | 'number' | 'bool' | 'any' }
  | { readonly kind: 'list' | 'set' | 'map'; readonly of: HclType }
  | { readonly kind: 'tuple'; readonly items: readonly HclType[] }
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, HclType> };

/** Members of maps and objects are in the order of their names; those of sets in order, and each once. */
export interface HclValue {
  readonly type: HclType;
  readonly data:
    null | string | boolean | HclNumber | readonly HclValue[] | ReadonlyMap<string, HclValue>;
}

/** What is wrong with an expression. */
export class HclError extends Error {
  /** @param how `refused`: it may be right, but it is not evaluated here, not even in a branch that is not taken */
  constructor(
    message: string,
    readonly how: 'wrong' | 'refused' = 'wrong',
  ) {
    super(message);
  }
}

export const STRING: HclType = { kind: 'string' };
export const NUMBER: HclType = { kind: 'number' };
export const BOOL: HclType = { kind: 'bool' };
export const ANY: HclType = { kind: 'any' };
export const listType = (of: HclType): HclType => ({ kind: 'list', of });

export const isItems = (data: HclValue['data']): data is readonly HclValue[] => Array.isArray(data);
export const isMembers = (data: HclValue['data']): data is ReadonlyMap<string, HclValue> =>
  data instanceof Map;
export const isNumber = (data: HclValue['data']): data is HclNumber =>
  typeof data === 'object' && data !== null && 'integer' in data;

export const ofNull = (type: HclType = ANY): HclValue => ({ type, data: null });
export const ofString = (text: string): HclValue => ({ type: STRING, data: text.normalize('NFC') });
export const ofBool = (data: boolean): HclValue => ({ type: BOOL, data });
export const ofNumber = (data: HclNumber | undefined): HclValue => {
  if (!data) throw new HclError('a number is too large or too small', 'refused');
  return { type: NUMBER, data };
};
export const tupleOf = (data: readonly HclValue[]): HclValue => ({
  type: { kind: 'tuple', items: data.map(({ type }) => type) },
  data,
});
export const hclListOf = (of: HclType, data: readonly HclValue[]): HclValue => ({
  type: listType(of),
  data,
});

/** In the order of their UTF-8 bytes. */
export const compareBytes = (left: string, right: string): number =>
  Buffer.compare(Buffer.from(left), Buffer.from(right));

const ordered = <T>(members: Iterable<readonly [string, T]>): ReadonlyMap<string, T> =>
  new Map([...new Map(members)].toSorted(([left], [right]) => compareBytes(left, right)));

export function objectOf(members: Iterable<readonly [string, HclValue]>): HclValue {
  const data = ordered(members);
  const types = new Map([...data].map(([name, { type }]) => [name, type]));
  return { type: { kind: 'object', members: types }, data };
}

export const mapOf = (of: HclType, members: Iterable<readonly [string, HclValue]>): HclValue => ({
  type: { kind: 'map', of },
  data: ordered(members),
});

export function setOf(of: HclType, data: readonly HclValue[]): HclValue {
  if (data.length > 1 && data.some(({ data: one }) => isItems(one) || isMembers(one)))
    throw new HclError('a set of anything but strings, numbers and booleans', 'refused');
  const sorted = data.toSorted(compareValues);
  const distinct = sorted.filter(
    (one, index) => index === 0 || compareValues(sorted[index - 1]!, one) !== 0,
  );
  return { type: { kind: 'set', of }, data: distinct };
}

/** The order of a set of values of one type: null is last. */
function compareValues({ data: left }: HclValue, { data: right }: HclValue): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right);
  return typeof left === 'string' && typeof right === 'string'
    ? compareBytes(left, right)
    : Number(left) - Number(right);
}

export const sameType = (left: HclType, right: HclType): boolean => isDeepStrictEqual(left, right);

/** `==`: values of different types are unequal, and null equals null. */
export function equalValues(left: HclValue, right: HclValue): boolean {
  const [one, other] = [left.data, right.data];
  if (one === null || other === null) return one === other;
  if (!sameType(left.type, right.type)) return false;
  if (isNumber(one) && isNumber(other)) return compareNumbers(one, other) === 0;
  if (isItems(one) && isItems(other))
    return (
      one.length === other.length && one.every((item, index) => equalValues(item, other[index]!))
    );
  if (!isMembers(one) || !isMembers(other)) return one === other;
  return (
    one.size === other.size &&
    [...one].every(([name, item]) => {
      const twin = other.get(name);
      return twin !== undefined && equalValues(item, twin);
    })
  );
}

/** Whether values of a type may convert to another; some of them may still not. */
export function converts(from: HclType, to: HclType): boolean {
  if (to.kind === 'any' || from.kind === 'any' || sameType(from, to)) return true;
  switch (to.kind) {
    case 'string':
      return from.kind === 'number' || from.kind === 'bool';
    case 'number':
    case 'bool':
      return from.kind === 'string';
    case 'list':
    case 'set':
    case 'map': {
      const isMapped = from.kind === 'map' || from.kind === 'object';
      if (SINGLE.has(from.kind) || isMapped !== (to.kind === 'map')) return false;
      const types = innerTypes(from);
      if (to.of.kind !== 'any') return types.every((one) => converts(one, to.of));
      const common = types.length === 0 ? ANY : unified(types);
      return isMapped ? common !== undefined : isClear(common, types);
    }
    case 'tuple':
      return (
        from.kind === 'tuple' &&
        from.items.length === to.items.length &&
        from.items.every((one, index) => converts(one, to.items[index]!))
      );
    case 'object':
      if (from.kind === 'map') return [...to.members.values()].every((of) => converts(from.of, of));
      return (
        from.kind === 'object' &&
        [...to.members].every(([name, of]) => {
          const one = from.members.get(name);
          return one !== undefined && converts(one, of);
        })
      );
  }
}

/** In the order in which they are tried as the type of several values. */
const WORDS: Readonly<Record<HclType['kind'], string>> = {
  string: 'a string',
  number: 'a number',
  bool: 'a boolean',
  list: 'a list',
  map: 'a map',
  set: 'a set',
  tuple: 'a list',
  object: 'an object',
  any: 'null',
};
export const typeWords = ({ kind }: HclType): string => WORDS[kind];

/** @throws HclError */
export function convertHcl(value: HclValue, to: HclType): HclValue {
  const { type, data } = value;
  if (to.kind === 'any' || sameType(type, to)) return value;
  if (!converts(type, to)) {
    const [found, expected] = [typeWords(type), typeWords(to)];
    throw new HclError(
      found === expected
        ? `the members of ${found} are of other types than expected`
        : `expected ${expected}, found ${found}`,
    );
  }
  if (data === null) return ofNull(to);
  if (isItems(data)) return sequenceOf(data, to);
  if (isMembers(data)) return membersOf(data, to);
  return singleOf(value, to);
}

function singleOf({ data }: HclValue, to: HclType): HclValue {
  if (to.kind === 'string') return ofString(isNumber(data) ? numberText(data) : String(data));
  if (to.kind === 'bool') {
    if (data === 'true' || data === '1') return ofBool(true);
    if (data === 'false' || data === '0') return ofBool(false);
    throw new HclError('expected a boolean, found a string that is neither true nor false');
  }
  if (typeof data !== 'string' || !isDecimal(data))
    throw new HclError('expected a number, found a string that is not a number');
  return ofNumber(numberIn(data));
}

function sequenceOf(items: readonly HclValue[], to: HclType): HclValue {
  if (to.kind === 'tuple') return tupleOf(items.map((one, at) => convertHcl(one, to.items[at]!)));
  if (to.kind !== 'list' && to.kind !== 'set')
    throw new HclError(`expected ${typeWords(to)}, found a list`);
  const of = to.of.kind === 'any' ? commonType(items) : to.of;
  const all = items.map((one) => convertHcl(one, of));
  return to.kind === 'list' ? hclListOf(of, all) : setOf(of, all);
}

function membersOf(members: ReadonlyMap<string, HclValue>, to: HclType): HclValue {
  if (to.kind === 'object')
    return objectOf(
      [...to.members].map(([name, of]) => {
        const one = members.get(name);
        if (!one) throw new HclError(`expected an object with \`${name}\`, found a map without it`);
        return [name, convertHcl(one, of)];
      }),
    );
  if (to.kind !== 'map') throw new HclError(`expected ${typeWords(to)}, found an object`);
  const of = to.of.kind === 'any' ? commonType([...members.values()], 'refused') : to.of;
  return mapOf(
    of,
    [...members].map(([name, one]) => [name, convertHcl(one, of)]),
  );
}

function commonType(values: readonly HclValue[], how: HclError['how'] = 'wrong'): HclType {
  const types = values.map(({ type }) => type);
  const common = values.length === 0 ? ANY : unified(types);
  if (!isClear(common, types))
    throw new HclError('members of types that have nothing in common', common ? how : 'wrong');
  return common;
}

/** Whether there is a type, and one that null does not leave open. */
const isClear = (common: HclType | undefined, types: readonly HclType[]): common is HclType =>
  common !== undefined && (common.kind !== 'any' || types.every(({ kind }) => kind === 'any'));

const SINGLE: ReadonlySet<HclType['kind']> = new Set(['string', 'number', 'bool']);

/** The type that all of the types convert to; undefined where there is none. */
export function unified(types: readonly HclType[]): HclType | undefined {
  const kinds = new Set(types.map(({ kind }) => kind));
  const isDynamic = kinds.delete('any');
  const [kind, ...others] = [...kinds];
  if (others.length === 0 && kind !== undefined) {
    if (!SINGLE.has(kind)) return isDynamic ? ANY : ofOneKind(kind, types);
  }
  const isPlain = [...kinds].map((one) => SINGLE.has(one));
  if (isPlain.includes(true) && isPlain.includes(false)) return isDynamic ? ANY : undefined;
  if (!isDynamic && kinds.size === 2) {
    const collected = collectedType(types);
    if (collected) return collected;
  }
  return preferred(types).find((want) => types.every((one) => converts(one, want)));
}

/** Of lists and tuples, and of maps and objects: tuples and objects count as what they could be written as. */
function collectedType(types: readonly HclType[]): HclType | undefined {
  const loose = types.filter(({ kind }) => kind === 'tuple' || kind === 'object');
  const tight = types.filter(({ kind }) => kind === 'list' || kind === 'map');
  const isList = tight.every(({ kind }) => kind === 'list');
  const isAlike = loose.every(({ kind }) => kind === (isList ? 'tuple' : 'object'));
  if (loose.length + tight.length !== types.length || !isAlike || tight.length === 0) return;
  if (!isList && tight.some(({ kind }) => kind !== 'map')) return;
  const collected = loosened(isList ? 'list' : 'map', loose);
  return collected && unified([...tight, collected]);
}

function innerTypes(type: HclType): readonly HclType[] {
  if (type.kind === 'tuple') return type.items;
  if (type.kind === 'object') return [...type.members.values()];
  return 'of' in type ? [type.of] : [];
}

function ofOneKind(kind: HclType['kind'], types: readonly HclType[]): HclType | undefined {
  if (kind === 'list' || kind === 'set' || kind === 'map') {
    const of = unified(types.flatMap(innerTypes));
    return of && { kind, of };
  }
  const [first] = types;
  if (first?.kind === 'tuple') {
    const lists = types.map(innerTypes);
    if (lists.some(({ length }) => length !== first.items.length)) return loosened('list', types);
    const items = known(first.items.map((_, index) => unified(lists.map((list) => list[index]!))));
    return items && { kind: 'tuple', items };
  }
  if (first?.kind !== 'object') return undefined;
  const objects = types.flatMap((one) => (one.kind === 'object' ? [one.members] : []));
  const names = [...first.members.keys()];
  if (objects.some((one) => one.size !== names.length || !names.every((name) => one.has(name))))
    return loosened('map', types);
  const found = known(names.map((name) => unified(objects.map((one) => one.get(name)!))));
  return found && { kind: 'object', members: new Map(names.map((name, at) => [name, found[at]!])) };
}

/** All of the types; undefined where one is missing. */
const known = (types: readonly (HclType | undefined)[]): readonly HclType[] | undefined =>
  types.every((one) => one !== undefined) ? types : undefined;

function loosened(kind: 'list' | 'map', types: readonly HclType[]): HclType | undefined {
  const of = unified(types.flatMap(innerTypes));
  const loose: HclType | undefined = of && { kind, of };
  return loose && types.every((one) => converts(one, loose)) ? loose : undefined;
}

const RANKS = keysOf(WORDS);

/** In the order in which they are tried, equal neighbours once. */
const preferred = (types: readonly HclType[]): readonly HclType[] =>
  types
    .toSorted((left, right) => RANKS.indexOf(left.kind) - RANKS.indexOf(right.kind))
    .filter((one, index, all) => index === 0 || !sameType(one, all[index - 1]!));
