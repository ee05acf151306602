// How values of records are compared with what a query names: by their shape, never by their spelling.
import { idOf, type Json } from '../model/index.js';
import type { StoredRecord } from './records.js';
import { turnDown } from './error-responses.js';

/** What the value of a filter has to be. */
export type FilterType = 'text' | 'integer' | 'reference' | 'time' | 'uuid';
export type Test = 'is' | 'among' | 'lt' | 'lte' | 'gt' | 'gte';

export interface Filter {
  readonly field: string;
  readonly shape: FilterType;
  readonly test: Test;
}

const MOST_VALUES = 100;
const LONGEST_INTEGER = 19;

/** What values of a shape are compared by; undefined for what is none. */
export function sortKeyOf(shape: FilterType, value: string): string | number | undefined {
  switch (shape) {
    case 'text':
      return value;
    case 'integer':
      return /^\d{1,19}$/.test(value) ? value.padStart(LONGEST_INTEGER, '0') : undefined;
    case 'reference':
      return sortKeyOf('integer', idOf(value) ?? '');
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

export const compared: Readonly<Record<Test, (a: string | number, b: string | number) => boolean>> =
  {
    is: (a, b) => a === b,
    among: (a, b) => a === b,
    lt: (a, b) => a < b,
    lte: (a, b) => a <= b,
    gt: (a, b) => a > b,
    gte: (a, b) => a >= b,
  };

export const passing = <T>(
  items: readonly T[],
  tests: readonly ((item: T) => boolean)[],
): readonly T[] =>
  tests.length === 0 ? items : items.filter((item) => tests.every((test) => test(item)));

/** The test that a query parameter makes of each record. @throws Refused (400) for a value that cannot be one of that filter. */
export function testOf(
  name: string,
  { field, shape, test }: Filter,
  text: string,
): (record: StoredRecord) => boolean {
  const given = test === 'among' ? text.split(',') : [text];
  if (given.length > MOST_VALUES)
    turnDown(400, `${name} takes at most ${MOST_VALUES} values`, [name]);
  const wanted = given.map(
    (value) =>
      sortKeyOf(shape, value) ?? turnDown(400, `the value of ${name} is not valid`, [name]),
  );
  return (record) =>
    [record[field] ?? []].flat().some((value: Json) => {
      const key = sortKeyOf(shape, String(value));
      return key !== undefined && wanted.some((one) => compared[test](key, one));
    });
}
