// A collection of records that can be listed, declarable or not: its path, its pages and its filters.
import { mapMembers } from './members.js';
import type { Attributes } from './attribute.js';
import { own, type Json, type JsonObject } from './json.js';
import { didYouMean } from './did-you-mean.js';
import { isTree, type Value, type Values } from './declaration.js';

/** How a collection is read. */
export interface ReadOperation {
  /** Name of what speaks to it: read by the adapter alone. */
  readonly dialect: string;
  /** Path of the collection, relative to the dialect's base address, as in `sites` or `beta/sites`. */
  readonly collection: string;
  /** How a listing goes on: by our own `offset`, or by the query of the response's `next`. */
  readonly paging: 'offset' | 'next';
  /** Largest page the API allows. */
  readonly page: number;
  /** Query parameter that filters the listing by identifier; `path` where the API reads one object by its path. */
  readonly by_id?: string;
  /** Query parameter that takes up to 100 identifiers separated by commas, where there is one. */
  readonly by_ids?: string;
  /** Other query parameters that filter the listing; `[…]` stands for names of fields. */
  readonly filters?: readonly string[];
  /** Filters of which a listing needs one. */
  readonly needs?: readonly string[];
  /** One of `needs` is all that is given: one of these, each with the attribute it lists values of, or another with the value of a condition. */
  readonly identifiers?: Readonly<Record<string, string>>;
  /** Words that `expand` takes: references that can be replaced by what they point at. */
  readonly expand?: readonly string[];
  /** Dotted path of the attribute that says when a record was made. */
  readonly time?: string;
  /** Query parameters that bound that time, both inclusive; where the API has none, the time is compared here. */
  readonly since?: string;
  readonly until?: string;
}

export interface Collection {
  /** Plural, as in addresses. */
  readonly name: string;
  readonly singular: string;
  readonly doc: string;
  /** Dotted path of the attribute that identifies a record; absent if none is known. */
  readonly id?: string;
  /** Attributes that are known; others pass through. */
  readonly attributes: Attributes;
  /** Dotted paths that a table shows; absent: every attribute that some record has. */
  readonly columns?: readonly string[];
  /** Not in the published API reference: nothing reads it unless a project uses it, or `settings.kinds` names it. */
  readonly beyond?: true;
  /** A log grows while it is read: a record that comes twice is dropped, where it would elsewhere put the listing in doubt. */
  readonly log?: true;
  readonly operations: ReadOperation;
}

/** The value at a dotted path such as `action.timestamp`, or undefined. */
export function valueAt(record: JsonObject, path: string): Json | undefined;
export function valueAt(record: Values, path: string): Value | undefined;
export function valueAt(record: Values, path: string): Value | undefined {
  if (Object.hasOwn(record, path)) return record[path];
  const dot = path.indexOf('.');
  const inner = dot < 0 ? undefined : own(record, path.slice(0, dot));
  return isTree(inner) ? valueAt(inner, path.slice(dot + 1)) : undefined;
}

/** Everything that can be listed, by name, in the order of the index. */
export type Collections = ReadonlyMap<string, Collection>;

/** A collection that can only be read: every attribute is the server's. Checks its shape at compile time. */
export const collection = <
  const A extends Attributes,
  const C extends Omit<Collection, 'attributes'>,
>(
  definition: C & { readonly attributes: A },
): C & { readonly attributes: A } => ({
  ...definition,
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only a trait is added
  attributes: computedAll(definition.attributes) as A,
});

const computedAll = (attributes: Attributes): Attributes =>
  mapMembers(attributes, (one) => ({
    ...one,
    ...(one.word === 'object' && { attributes: computedAll(one.attributes) }),
    computed: true,
  }));

export function collectionsOf(list: readonly Collection[]): Collections {
  return new Map(list.map((one) => [one.name, one]));
}

/** Query parameters that filter a listing. */
export function filterNames({
  operations: { by_id = 'path', by_ids, filters = [] },
}: Collection): readonly string[] {
  return [
    ...(by_id === 'path' ? [] : [by_id]),
    ...(by_ids === undefined ? [] : [by_ids]),
    ...filters,
  ];
}

/** The short name of a filter: `colour` for `filter[colour]`. */
export const shortFilter = (name: string): string => /^filter\[(.+)\]$/.exec(name)?.[1] ?? name;

/** The query parameter for `word`, or the message if there is none. */
export function filterMeant(
  collection: Collection,
  word: string,
): string | { readonly summary: string; readonly detail: string } {
  const known = filterNames(collection);
  const fits = (one: string): boolean =>
    one === word ||
    (one.endsWith('[…]') && word.startsWith(one.slice(0, -2)) && /[^[]\]$/.test(word));
  const found = known.some(fits) ? word : known.find((one) => shortFilter(one) === word);
  if (found !== undefined) return found;
  const right = didYouMean(word, [...known, ...known.map(shortFilter)]);
  return {
    summary: `${collection.name} cannot be filtered by ${JSON.stringify(word)}.${right}`,
    detail: known.length === 0 ? 'There are no filters.' : `Filters: ${known.join(', ')}.`,
  };
}

/** An error in the combination of filters; `filter` is the one to change. */
interface Unaskable {
  readonly code: 'filter-needed' | 'one-filter' | 'filter-value';
  readonly filter?: string;
  readonly summary: string;
  readonly detail?: string;
}

/** Why a collection cannot be asked for by these filters, by the API's names; undefined where it can. */
export function unaskable(
  { name, operations: { needs = [], identifiers } }: Collection,
  filters: Readonly<Record<string, string>>,
): Unaskable | undefined {
  if (needs.length === 0 || (filters['path'] !== undefined && identifiers === undefined))
    return undefined;
  const filter = needs.find((one) => filters[one]);
  if (filter === undefined)
    return { code: 'filter-needed', summary: `${name} are read by ${needs.join(', ')}: name one` };
  if (identifiers === undefined) return undefined;
  const [, other] = Object.keys(filters);
  if (other !== undefined)
    return {
      code: 'one-filter',
      filter: other,
      summary: `${name} are found by exactly one of ${needs.join(', ')}, not by ${Object.keys(filters).join(' and ')}`,
    };
  const value = filters[filter]!;
  if (Object.hasOwn(identifiers, filter))
    return listedValues(value).length > 0
      ? undefined
      : { code: 'filter-value', filter, summary: `${filter} names no identifier` };
  if (/^[^\\\p{Cc}]+$/u.test(value) && !(value.includes("'") && value.includes('"')))
    return undefined;
  const detail =
    'A value holds no backslash, no control character, and not both kinds of quotation marks.';
  return {
    code: 'filter-value',
    filter,
    summary: `${filter} cannot be asked for: its value could be read as another condition`,
    detail,
  };
}

/** The values of a list that is written with commas, none twice. */
export const listedValues = (value: string): readonly string[] =>
  [...new Set(value.split(',').map((one) => one.trim()))].filter(Boolean);

/** The query of a listing. */
export interface Query {
  /** Query parameters by name; the identifier's, or `path`, asks for one record. */
  readonly filters: Readonly<Record<string, string>>;
  readonly expand?: string;
  /** ISO 8601, both inclusive. */
  readonly since?: string;
  readonly until?: string;
}
