// Additions to v2 only in the dialect `public`: header names, query parameters, larger limits.
import { compareText, keptMembers, own, type Collection, type JsonObject } from '../model/index.js';
import { queryOf, type Asked } from './app.js';
import {
  passing,
  sortKeyOf,
  testOf,
  type Filter,
  type FilterType,
  tests,
} from './filter-comparison.js';
import type { StoredRecord } from './records.js';
import { turnDown } from './error-responses.js';

/** The other name of a v2 header: ECM stands where the reference says MGR, CP where it says VND. */
export const publicHeader = (name: string): string =>
  name.replace('-MGR-', '-ECM-').replace('-VND-', '-CP-');

/** Of a query that asks for nothing beyond the parameters of the reference. */
const nothing: ReturnType<typeof askedBeyond> = {
  knows: () => false,
  pick: (records) => records,
  ordered: false,
};

/** Parameters of a query that the reference does not have. @throws Refused (400) for fields that do not exist, and values that fit no filter */
export const extrasOf = (c: Asked, collection: Collection) =>
  c.env.cloud.behaviours.dialect === 'public' ? askedBeyond(queryOf(c), collection) : nothing;

function askedBeyond(query: URLSearchParams, collection: Collection) {
  const tests = [...query].flatMap(([name, text]) => {
    const filter = filterOf(collection, name);
    return filter ? [testOf(name, filter, text)] : [];
  });
  const [order, fields] = [query.get('order_by'), query.get('fields')];
  const compare = order === null ? undefined : orderOf(collection, order);
  return {
    /** Whether it is one of these parameters. */
    knows: (name: string): boolean =>
      name === 'order_by' || name === 'fields' || filterOf(collection, name) !== undefined,
    /** The records that pass, in the order that is asked for. */
    pick(records: readonly StoredRecord[]): readonly StoredRecord[] {
      const passed = passing(records, tests);
      return compare ? passed.toSorted(compare) : passed;
    },
    /** Whether an order is asked for. */
    ordered: compare !== undefined,
    /** A record with the members that `fields` names; absent: with all. */
    ...(fields !== null && { narrow: narrowing(collection, fields) }),
  };
}

/** `router.id`, `router.id__in`; `created_at__gt` and its like for times and identifiers. */
function filterOf(collection: Collection, parameter: string): Filter | undefined {
  const [, field = '', id, word = 'is'] =
    /^(\w+?)(\.id)?(?:__(in|lte?|gte?))?$/.exec(parameter) ?? [];
  const shape = shapeOf(collection, field);
  const test = tests.find((one) => one === (word === 'in' ? 'among' : word))!;
  const exact = test === 'is' || test === 'among';
  const fits =
    id === undefined
      ? !exact && (shape === 'time' || field === collection.id)
      : exact && shape === 'reference';
  return shape && fits ? { field, shape, test } : undefined;
}

/** Undefined for what is no attribute. */
function shapeOf({ id, attributes }: Collection, field: string): FilterType | undefined {
  const attribute = own(attributes, field);
  if (!attribute) return undefined;
  if (field === id) return id === 'id' ? 'integer' : 'uuid';
  if (attribute.word === 'ref') return 'reference';
  return attribute.wire === 'timestamp' ? 'time' : 'text';
}

/** By each name in turn; with a minus the other way round. Nothing comes before everything else. */
function orderOf(
  collection: Collection,
  text: string,
): (a: StoredRecord, b: StoredRecord) => number {
  const keys = text.split(',').map((word) => {
    const field = word.replace(/^-/, '');
    const shape =
      shapeOf(collection, field) ??
      turnDown(400, 'order_by names a field that does not exist', ['order_by']);
    const of = ({ [field]: value = null }: StoredRecord): string | number => {
      if (typeof value === 'number') return value;
      return value === null ? '' : (sortKeyOf(shape, String(value)) ?? String(value));
    };
    return { sign: word.startsWith('-') ? -1 : 1, of };
  });
  const compare = (a: string | number, b: string | number): number =>
    typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b));
  return (a, b) =>
    keys.reduce((found, { sign, of }) => (found === 0 ? sign * compare(of(a), of(b)) : found), 0);
}

function narrowing({ attributes }: Collection, text: string): (shown: JsonObject) => JsonObject {
  const names = text.split(',');
  if (!names.every((name) => Object.hasOwn(attributes, name)))
    turnDown(400, 'fields names a field that does not exist', ['fields']);
  return (shown) => keptMembers(shown, (_, name) => names.includes(name));
}
