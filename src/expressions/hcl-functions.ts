// The twenty functions of Terraform that are evaluated here, as Terraform 1.11 has them. What they are is a decision
// (docs/decisions); every other one is refused.
import { counted, generalText, integerOf, numberText } from './hcl-numbers.js';
import {
  ANY,
  HclError,
  NUMBER,
  STRING,
  compareBytes,
  convertHcl,
  converts,
  equalValues,
  isItems,
  isMembers,
  isNumber,
  hclListOf,
  listType,
  mapOf,
  objectOf,
  ofBool,
  ofNumber,
  ofNull,
  ofString,
  sameType,
  tupleOf,
  typeWords,
  unified,
  type HclType,
  type HclValue,
} from './hcl-values.js';

/** Counts what is made, and throws where it is too much. */
export type Charge = (amount: number) => void;

interface Parameter {
  readonly type: HclType;
  readonly isNullable?: true;
}

interface HclFunction {
  readonly takes: readonly Parameter[];
  /** What each further argument is. */
  readonly rest?: Parameter;
  /** @param values as many as `takes` has at least, converted */
  readonly call: (values: readonly HclValue[], charge: Charge) => HclValue;
}

const whole: Parameter = { type: ANY };
const nullable: Parameter = { type: ANY, isNullable: true };
const string: Parameter = { type: STRING };

/** Of a string argument, which is one by its type. */
const textOf = ({ data }: HclValue): string => String(data);

/** Of a list, set or tuple, and of no other. */
const itemsOf = ({ data }: HclValue): readonly HclValue[] => (isItems(data) ? data : []);

function membersOf(value: HclValue): ReadonlyMap<string, HclValue> {
  if (isMembers(value.data)) return value.data;
  throw new HclError(`expected a map or an object, found ${typeWords(value.type)}`);
}

/** Both are sequences that have places. */
const isListed = ({ type: { kind } }: HclValue): boolean => kind === 'list' || kind === 'tuple';

function strings(lists: readonly HclValue[]): readonly string[] {
  return lists.flatMap((list) =>
    itemsOf(list).map((one) => {
      if (one.data === null) throw new HclError('an item is null');
      return textOf(one);
    }),
  );
}

function joined([separator, ...lists]: readonly HclValue[], charge: Charge): HclValue {
  if (lists.length === 0) throw new HclError('at least one list is required');
  const items = strings(lists);
  const between = textOf(separator!);
  charge(items.reduce((length, one) => length + one.length + between.length, 0));
  return ofString(items.join(between));
}

function split([separator, text]: readonly HclValue[], charge: Charge): HclValue {
  const between = textOf(separator!);
  const parts = between === '' ? Array.from(textOf(text!)) : textOf(text!).split(between);
  charge(parts.length + textOf(text!).length);
  return hclListOf(STRING, parts.map(ofString));
}

function replaced([text, what, by]: readonly HclValue[], charge: Charge): HclValue {
  const [given, sought, put] = [textOf(text!), textOf(what!), textOf(by!)];
  if (sought.length > 1 && sought.startsWith('/') && sought.endsWith('/'))
    throw new HclError('`replace` with a regular expression', 'refused');
  const parts = sought === '' ? ['', ...Array.from(given), ''] : given.split(sought);
  charge(given.length + parts.length * put.length);
  return ofString(parts.join(put));
}

/** Letter by letter; one that would become several stays. */
const casing = (change: (letter: string) => string): HclFunction => ({
  takes: [string],
  call([text], charge) {
    const given = textOf(text!);
    charge(given.length);
    const letters = Array.from(given, (letter) => {
      const [first = letter, ...more] = change(letter);
      return more.length === 0 || letter === 'İ' ? first : letter;
    });
    return ofString(letters.join(''));
  },
});

const segments = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** A virama between two letters: Unicode 15.1 makes one of them, and Terraform counts by 15.0. */
const CONJUNCT =
  /[\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d\u1039\u17d2\u1a60\ua9c0\uaaf6][\p{M}\u200c\u200d]*\p{L}/u;

function lengthOf(text: string): number {
  if (CONJUNCT.test(text)) throw new HclError('the length of text with Indic conjuncts', 'refused');
  return [...segments.segment(text)].length;
}

function padded(text: string, flags: string, width: number): string {
  const missing = Math.max(0, width - lengthOf(text));
  const padding = (flags.includes('0') ? '0' : ' ').repeat(missing);
  return flags.includes('-') ? text + padding : padding + text;
}

/** `%d`: zeros stand behind the sign, and never behind the number. */
function integerText({ data }: HclValue, flags: string, width: number): string {
  const integer = isNumber(data) ? integerOf(data) : undefined;
  if (integer === undefined) throw new HclError('`%d` takes an integer');
  const text = String(integer);
  if (flags.includes('-')) return text.padEnd(width);
  if (!flags.includes('0')) return text.padStart(width);
  return text.startsWith('-')
    ? `-${text.slice(1).padStart(width - 1, '0')}`
    : text.padStart(width, '0');
}

const VERB = /%([^A-Za-z%]*)([A-Za-z%]?)/g;

function formatted([pattern, ...values]: readonly HclValue[], charge: Charge): HclValue {
  let used = 0;
  const text = textOf(pattern!).replace(VERB, (all: string, how: string, verb: string) => {
    if (all === '%%') return '%';
    const [known, flags = '', digits = '0'] = /^([-0]*)([1-9]\d{0,2})?$/.exec(how) ?? [];
    if (known === undefined || !/^[sdv]$/.test(verb))
      throw new HclError(`the verb \`${all}\` of \`format\``, 'refused');
    const value = values[used];
    used += 1;
    if (!value) throw new HclError(`\`${all}\` has no value`);
    if (value.data === null && verb !== 'v') throw new HclError(`the value of \`${all}\` is null`);
    const width = Number(digits);
    if (verb === 'd') return integerText(convertHcl(value, NUMBER), flags, width);
    const plain = verb === 's' ? textOf(convertHcl(value, STRING)) : shown(value);
    charge(plain.length + width);
    return padded(plain, flags, width);
  });
  if (used < values.length) throw new HclError('`format` has more values than verbs');
  charge(text.length);
  return ofString(text);
}

/** As `%v` writes it. */
function shown({ type, data }: HclValue): string {
  if (typeof data === 'string') return data;
  return isNumber(data) ? generalText(data) : json({ type, data });
}

function json({ data }: HclValue): string {
  if (typeof data === 'string') {
    const text = JSON.stringify(data);
    return text.replace(
      /[<>&\u2028\u2029]/g,
      (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  }
  if (isNumber(data)) return numberText(data);
  if (isItems(data)) return `[${data.map(json).join(',')}]`;
  if (!isMembers(data)) return String(data);
  const members = [...data].map(([name, one]) => `${json(ofString(name))}:${json(one)}`);
  return `{${members.join(',')}}`;
}

function concatenated(lists: readonly HclValue[], charge: Charge): HclValue {
  const [first] = lists;
  if (!first) throw new HclError('at least one argument is required');
  const other = lists.find((one) => !isListed(one));
  if (other) throw new HclError(`expected a list, found ${typeWords(other.type)}`);
  const items = lists.flatMap(itemsOf);
  charge(items.length);
  const types = lists.flatMap(({ type }) => (type.kind === 'list' ? [type] : []));
  const common = types.length === lists.length ? unified(types) : undefined;
  return common?.kind === 'list'
    ? hclListOf(
        common.of,
        items.map((one) => convertHcl(one, common.of)),
      )
    : tupleOf(items);
}

function merged(values: readonly HclValue[], charge: Charge): HclValue {
  const isEmpty = ({ type, data }: HclValue): boolean => data === null && type.kind === 'any';
  const other = values.find(
    (one) => !isEmpty(one) && one.type.kind !== 'map' && one.type.kind !== 'object',
  );
  if (other) throw new HclError(`expected a map or an object, found ${typeWords(other.type)}`);
  const members = values.flatMap(({ data }) => (isMembers(data) ? [...data] : []));
  charge(members.length);
  const [first] = values;
  return first?.type.kind === 'map' && values.every(({ type }) => sameType(type, first.type))
    ? mapOf(first.type.of, members)
    : objectOf(members);
}

function lookedUp([from, name, ...others]: readonly HclValue[]): HclValue {
  if (others.length > 1) throw new HclError('`lookup` takes two or three arguments');
  const [initial] = others;
  const key = textOf(name!);
  const { type } = from!;
  const found = membersOf(from!).get(key);
  if (type.kind === 'map' && initial && !converts(initial.type, type.of))
    throw new HclError('the default of `lookup` is of another type than the members of the map');
  const fallback = initial && type.kind === 'map' ? convertHcl(initial, type.of) : initial;
  const value = found ?? fallback;
  if (!value) throw new HclError(`there is no member \`${key}\`, and no default`);
  return value;
}

function size({ type, data }: HclValue, charge: Charge): HclValue {
  if (typeof data === 'string') {
    charge(data.length);
    return ofNumber(counted(lengthOf(data)));
  }
  if (isItems(data)) return ofNumber(counted(data.length));
  if (isMembers(data)) return ofNumber(counted(data.size));
  throw new HclError(`${typeWords(type)} has no length`);
}

const LARGEST = 2n ** 63n - 1n;

function element([list, place]: readonly HclValue[]): HclValue {
  const { type, data } = list!;
  if (!isListed(list!) || !isItems(data))
    throw new HclError(`expected a list, found ${typeWords(type)}`);
  const index = isNumber(place!.data) ? integerOf(place!.data) : undefined;
  if (index === undefined || index > LARGEST || index < -LARGEST - 1n)
    throw new HclError('an index is an integer');
  if (data.length === 0) throw new HclError('an empty list has no elements');
  const rest = Number(index % BigInt(data.length));
  const found = data[type.kind === 'list' && rest < 0 ? rest + data.length : rest];
  if (!found) throw new HclError('a negative index, which only a typed list takes');
  return found;
}

function contains([list, value]: readonly HclValue[]): HclValue {
  if (!isItems(list!.data))
    throw new HclError(`expected a list or a set, found ${typeWords(list!.type)}`);
  return ofBool(list!.data.some((one) => equalValues(one, value!)));
}

function keys([from]: readonly HclValue[], charge: Charge): HclValue {
  const names = [...membersOf(from!).keys()].map(ofString);
  charge(names.length);
  return from!.type.kind === 'map' ? hclListOf(STRING, names) : tupleOf(names);
}

function valuesOf([from]: readonly HclValue[], charge: Charge): HclValue {
  const all = [...membersOf(from!).values()];
  charge(all.length);
  return from!.type.kind === 'map' ? hclListOf(from!.type.of, all) : tupleOf(all);
}

function coalesced(values: readonly HclValue[]): HclValue {
  const common = values.length === 0 ? undefined : unified(values.map(({ type }) => type));
  if (!common) throw new HclError('the arguments are of types that have nothing in common');
  for (const one of values) {
    const value = convertHcl(one, common);
    if (value.data !== null && !(common.kind === 'string' && value.data === '')) return value;
  }
  throw new HclError('all arguments are null or empty');
}

const conversion = (type: HclType): HclFunction => ({
  takes: [nullable],
  call: ([value]) =>
    value!.data === null && !('of' in type) ? nullAs(value!, type) : convertHcl(value!, type),
});

const nullAs = (value: HclValue, type: HclType): HclValue =>
  converts(value.type, type) ? ofNull(type) : convertHcl(value, type);

const table: Readonly<Record<string, HclFunction>> = {
  coalesce: { takes: [], rest: nullable, call: coalesced },
  concat: { takes: [], rest: whole, call: concatenated },
  contains: { takes: [whole, whole], call: contains },
  element: { takes: [whole, { type: NUMBER }], call: element },
  format: { takes: [string], rest: nullable, call: formatted },
  join: { takes: [string], rest: { type: listType(STRING) }, call: joined },
  jsonencode: {
    takes: [nullable],
    call: ([value], charge) => {
      const text = json(value!);
      charge(text.length);
      return ofString(text);
    },
  },
  keys: { takes: [whole], call: keys },
  length: { takes: [whole], call: ([value], charge) => size(value!, charge) },
  lookup: { takes: [whole, string], rest: nullable, call: lookedUp },
  lower: casing((letter) => letter.toLowerCase()),
  merge: { takes: [], rest: nullable, call: merged },
  replace: { takes: [string, string, string], call: replaced },
  split: { takes: [string, string], call: split },
  tolist: conversion(listType(ANY)),
  tonumber: conversion(NUMBER),
  toset: conversion({ kind: 'set', of: ANY }),
  tostring: conversion(STRING),
  upper: casing((letter) => letter.toUpperCase()),
  values: { takes: [whole], call: valuesOf },
};

/** The names of the functions, in order. */
export const functionNames: readonly string[] = Object.keys(table).toSorted(compareBytes);

/** @throws HclError */
export function called(name: string, given: readonly HclValue[], charge: Charge): HclValue {
  const one = Object.hasOwn(table, name) ? table[name] : undefined;
  if (!one) throw new HclError(`the function \`${name}\``, 'refused');
  const { takes, rest, call } = one;
  if (given.length < takes.length || (given.length > takes.length && !rest))
    throw new HclError(
      `\`${name}\` takes ${takes.length}${rest ? ' or more' : ''} arguments, not ${given.length}`,
    );
  const values = given.map((value, index) => {
    const { type, isNullable } = takes[index] ?? rest ?? whole;
    if (value.data === null && !isNullable)
      throw new HclError(`argument ${index + 1} of \`${name}\` is null`);
    if (value.data === null && value.type.kind === 'any' && name === 'format')
      throw new HclError('a null without a type in `format`', 'refused');
    return convertHcl(value, type);
  });
  return call(values, charge);
}
