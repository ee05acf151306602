// `--filter key=value` of `get` and `export`: the filters of the API, by its own names.
import { filterMeant, refuse, type Collection } from '../model/index.js';
import { pairs } from './project.js';

/** The API reference's query parameters; `role=` is short for `filter[role]=`. @throws Refusal */
export function filterFlags(
  collection: Collection,
  words: readonly string[] | undefined,
): Readonly<Record<string, string>> {
  const spelled = (key: string): string => {
    const meant = filterMeant(collection, key);
    return typeof meant === 'string'
      ? meant
      : refuse('unknown-filter', meant.summary, { detail: meant.detail });
  };
  const given = pairs('--filter', words).map(([key, value]) => [spelled(key), value] as const);
  const twice = given.find(([key], index) => given.findIndex(([other]) => other === key) < index);
  if (twice)
    refuse('usage', `--filter ${twice[0]}= is given twice.`, {
      detail: 'Write several values as one list where the API takes a list: name__in=a,b',
    });
  return Object.fromEntries(given);
}
