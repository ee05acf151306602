// Holds what came against the filters that were asked for: a service may ignore a query parameter, and a list of
// everything then looks like the result of the filter.
import {
  idOf,
  listedValues,
  own,
  shortFilter,
  warning,
  type Attribute,
  type Collection,
  type Diagnostic,
  type Found,
  type Value,
} from '../model/index.js';

/** One filter that compares the value of an attribute: what is asked for, and how many records have another value. */
interface Watched {
  /** As it was given. */
  readonly filter: string;
  readonly attribute: string;
  readonly wanted: ReadonlySet<string>;
  seen: number;
  others: number;
}

const LIST = '__in';

/** A spelling that is not equal may still match: letter case and white space are left to the service. */
const folded = (text: string): string => text.trim().toLowerCase();

const comparable = ({ word, wire }: Attribute): boolean =>
  ['ref', 'choice', 'flag', 'integer'].includes(word) || (word === 'text' && wire === undefined);

/** `add` takes each page of the listing; `warnings` says which filters it did not obey. */
export function ignoredFilters(
  collection: Collection,
  filters: Readonly<Record<string, string>>,
): { readonly add: (page: readonly Found[]) => void; readonly warnings: () => Diagnostic[] } {
  const watched = Object.entries(filters).flatMap(([filter, text]) => {
    const asked = watchedFilter(collection, filter, text);
    return asked ? [asked] : [];
  });
  return {
    add: (page) => {
      for (const one of watched)
        for (const { values } of page) {
          const value = own(values, one.attribute);
          if (value === undefined) continue;
          one.seen += 1;
          if (![value].flat().some((item) => matches(item, one.wanted))) one.others += 1;
        }
    },
    warnings: () =>
      watched
        .filter(({ others }) => others > 0)
        .map(({ filter, others, seen }) =>
          warning(
            'filter-ignored',
            `${others} of ${seen} ${collection.name.replaceAll('_', ' ')} do not match --filter ${filter}.`,
            'The service ignored the filter or reads it in another way. The output is what the service returned.',
          ),
        ),
  };
}

function watchedFilter(
  { attributes, operations: { identifiers = {} } }: Collection,
  filter: string,
  text: string,
): Watched | undefined {
  // Whether only these came was seen when they were read.
  if (Object.hasOwn(identifiers, filter)) return undefined;
  const named = shortFilter(filter);
  const isList = named.endsWith(LIST);
  const name = isList ? named.slice(0, -LIST.length) : named;
  const attribute = own(attributes, name);
  if (!attribute) return undefined;
  const { word } = attribute;
  const member = word === 'set' || word === 'list' ? attribute.of : attribute;
  if (!comparable(member)) return undefined;
  const given = isList ? listedValues(text) : [text];
  const wanted = new Set(given.flatMap((one) => [folded(one), idOf(one) ?? folded(one)]));
  return { filter: `${filter}=${text}`, attribute: name, wanted, seen: 0, others: 0 };
}

const matches = (value: Value, wanted: ReadonlySet<string>): boolean =>
  wanted.has(folded(String(value))) || wanted.has(idOf(value) ?? '');
