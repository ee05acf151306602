// Compares values of records with those of a query: by value, not by spelling.
import { canonical, idOf, tryJson, valueAt, type Attribute, type Json } from '../model/index.js';
import type { StoredRecord } from './records.js';
import { turnDown } from './error-responses.js';

/** The type that the value of a filter must have. */
export type FilterType =
  'text' | 'integer' | 'reference' | 'id' | 'time' | 'uuid' | 'flag' | 'document';
export const tests = ['is', 'among', 'lt', 'lte', 'gt', 'gte'] as const;
type Test = (typeof tests)[number];

export interface Filter {
  /** Dotted, where it stands inside of another. */
  readonly field: string;
  readonly shape: FilterType;
  readonly test: Test;
}

export const by = (field: string, shape: FilterType = 'text', test: Test = 'is'): Filter => ({
  field,
  shape,
  test,
});

const MOST_VALUES = 100;
const LONGEST_INTEGER = 19;

/** The form in which values of a shape are compared; undefined for other values. */
export function sortKeyOf(shape: FilterType, value: string): string | number | undefined {
  switch (shape) {
    case 'text':
      return value;
    case 'integer':
      return /^\d{1,19}$/.test(value) ? value.padStart(LONGEST_INTEGER, '0') : undefined;
    case 'reference':
      return sortKeyOf('integer', idOf(value) ?? '');
    case 'id':
      return idOf(value) ?? undefined;
    case 'flag':
      return /^(?:true|false)$/.test(value) ? value : undefined;
    case 'document': {
      const tree = tryJson(value) ?? undefined;
      return tree === undefined ? undefined : canonical(tree);
    }
    case 'time':
      return Number.isNaN(Date.parse(value)) ? undefined : Date.parse(value);
    case 'uuid': {
      const [, low, mid, high, rest] =
        /^([0-9a-f]{8})-([0-9a-f]{4})-1([0-9a-f]{3})-([0-9a-f]{4}-[0-9a-f]{12})$/i.exec(value) ??
        [];
      return low === undefined ? undefined : `${high}${mid}${low}${rest}`.toLowerCase();
    }
  }
}

const compared: Readonly<Record<Test, (a: string | number, b: string | number) => boolean>> = {
  is: (a, b) => a === b,
  among: (a, b) => a === b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
};

/** How the values of an attribute are compared, or each one of a list. */
export function filterTypeOf(attribute: Attribute): FilterType {
  switch (attribute.word) {
    case 'ref':
      return attribute.wire === undefined ? 'id' : 'reference';
    case 'set':
    case 'list':
      return filterTypeOf(attribute.of);
    case 'object':
      return 'document';
    case 'document':
    case 'flag':
      return attribute.word;
    default:
      return attribute.wire === 'timestamp' ? 'time' : 'text';
  }
}

/** The records that pass every filter, by its name, that the query has. @throws Refused (400) */
export const filtered = (
  records: readonly StoredRecord[],
  query: URLSearchParams,
  filters: Readonly<Record<string, Filter>>,
): readonly StoredRecord[] =>
  passing(
    records,
    Object.entries(filters).flatMap(([name, filter]) => {
      const text = query.get(name);
      return text === null ? [] : [testOf(name, filter, text)];
    }),
  );

export const passing = <T>(
  items: readonly T[],
  tests: readonly ((item: T) => boolean)[],
): readonly T[] =>
  tests.length === 0 ? items : items.filter((item) => tests.every((test) => test(item)));

/** The values that a query names. @throws Refused (400) for too many */
export function namedValues(name: string, test: Test, text: string): readonly string[] {
  const given = test === 'among' ? text.split(',') : [text];
  if (given.length > MOST_VALUES)
    turnDown(400, `${name} takes at most ${MOST_VALUES} values`, [name]);
  return given;
}

/** The test that a query parameter makes of each record. @throws Refused (400) for a value that cannot be one of that filter. */
export function testOf(
  name: string,
  { field, shape, test }: Filter,
  text: string,
): (record: StoredRecord) => boolean {
  const wanted = namedValues(name, test, text).map(
    (value) =>
      sortKeyOf(shape, value) ?? turnDown(400, `the value of ${name} is not valid`, [name]),
  );
  return (record) => {
    const held = valueAt(record, field) ?? null;
    return (shape === 'document' ? [held] : [held].flat()).some((value: Json) => {
      const key = sortKeyOf(shape, typeof value === 'string' ? value : JSON.stringify(value));
      return key !== undefined && wanted.some((one) => compared[test](key, one));
    });
  };
}
