// `for_each` and `count`: the members that one declaration stands for.
import { isEmpty, isList, nearest, shownMembers } from '../model/index.js';
import type { RawEntry } from './collect.js';
import {
  escapeText,
  literalOf,
  partsOf,
  type ExpressionFrom,
  type Part,
} from './reference-syntax.js';
import { substitute, type Filling, type Scope } from './interpolate.js';
import { ofType } from './stacks/variables.js';
import {
  complainAt,
  found,
  type Complain,
  type ComplaintPlace,
  type Violation,
} from './validation.js';
import { isMap, type Raw } from './yaml/raw-values.js';

export type Member = NonNullable<Scope['each']>;

const MOST_MEMBERS = 100_000;

/** One that is undefined where there is no `for_each`. Undefined after a complaint. @param raw what stands at `for_each`, or at `count` in a stack */
export function expanded(
  raw: Raw | undefined,
  piece: Pick<RawEntry, 'counted' | 'ofStack'>,
  scope: Scope,
  complain: Complain,
): readonly (Member | undefined)[] | undefined {
  if (raw === undefined) return [undefined];
  let wrong = false;
  const place: Filling = {
    path: [piece.counted ? 'count' : 'for_each'],
    scope,
    complain(complaint) {
      wrong = true;
      complain(complaint);
    },
  };
  const filled = substitute(raw, undefined, place);
  if (wrong) return undefined;
  // A list in a stack is a set of texts, which `toset` makes of anything.
  const members = piece.counted
    ? countedMembers(filled, place)
    : membersOf(filled, piece.ofStack === true, place);
  return wrong ? undefined : members;
}

/** The key that was meant as `for_each`, or is what other programs call it. @param known what may stand beside it */
export const mistakenForEach = (given: object, known: object): string | undefined =>
  Object.keys(given).find(
    (name) =>
      !Object.hasOwn(known, name) &&
      (name === 'count' || nearest(name, [...Object.keys(known), FOR_EACH]) === FOR_EACH),
  );

const FOR_EACH = 'for_each';

/** What is said of a key that was meant as `for_each`. */
export const notForEach = (name: string, what: string): Violation => ({
  path: [name],
  code: 'unknown-attribute',
  summary: `\`${name}\` is not an attribute of ${what}. Did you mean \`${FOR_EACH}\`?`,
  detail: 'It takes a list of strings or a mapping, as in `for_each: [a, b]`.',
});

/** Members "0", "1", …; each one's value is its number. */
function countedMembers(filled: Raw, place: ComplaintPlace): readonly Member[] | undefined {
  const count = ofType(filled, 'number');
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= MOST_MEMBERS)
    return Array.from({ length: count }, (_, index) => ({ key: String(index), value: index }));
  return complainAt(
    place,
    'bad-count',
    `\`count\` has to be a number from 0 to ${MOST_MEMBERS}`,
    'Work it out in the program, or use a loop there.',
  );
}

function membersOf(
  each: Raw,
  isSet: boolean,
  { path, complain }: ComplaintPlace,
): readonly Member[] | undefined {
  const say = (what: string, more: readonly string[] = [], detail?: string): undefined =>
    complainAt(
      { path: [...path, ...more], complain },
      'bad-for-each',
      `\`for_each\`: ${what}`,
      detail,
    );
  const live = typeof each === 'string' ? partsOf(each).find(isLive) : undefined;
  if (live)
    return complainAt(
      { path, complain },
      'live-reference',
      `\`for_each\`: ${live.text} is read from the service, and the keys must be known before anything is read`,
      'Write a list or a mapping, or a variable that holds one.',
    );
  if (isMap(each)) return Object.entries(each).map(([key, value]) => ({ key, value }));
  if (!isList(each)) return say(`a list of strings or a mapping is expected, not ${found(each)}`);
  const seen = new Map<string, Raw>();
  for (const [index, one] of each.entries()) {
    const at = [String(index)];
    const item =
      isSet && (typeof one === 'number' || typeof one === 'boolean') ? String(one) : keyOf(one);
    const key = typeof item === 'string' ? literalOf(item) : undefined;
    if (typeof item !== 'string') say(...expectation(item, at));
    else if (key === undefined) say('a key must be known before anything is read', at);
    else if (seen.has(key) && !isSet)
      say(
        `the key ${JSON.stringify(key)} appears twice`,
        at,
        `Items ${each.findIndex((other) => keyOf(other) === item) + 1} and ${index + 1} have it.`,
      );
    else seen.set(key, isMap(one) ? one : escapeText(key));
  }
  return Array.from(seen, ([key, value]) => ({ key, value }));
}

const isLive = (part: Part): part is ExpressionFrom<'declared' | 'lookup'> =>
  typeof part !== 'string' && (part.from === 'declared' || part.from === 'lookup');

/** What is said of an item that gives no key: the sentence, the place, and how to write it. */
function expectation(
  item: Raw,
  at: readonly string[],
): readonly [what: string, at: readonly string[], detail: string] {
  if (item === null || isList(item))
    return [
      `a string or a mapping with a \`name\` is expected, not ${found(item)}`,
      at,
      EITHER_KEY,
    ];
  if (!isMap(item)) return [`a string is expected, not ${found(item)}`, at, 'Write it in quotes.'];
  const { name } = item;
  const isCollection = isList(name) || isMap(name) || name === null;
  if (name !== undefined)
    return [
      `the \`name\` of a mapping has to be a string, not ${found(name)}`,
      [...at, 'name'],
      isCollection ? KEY : `${KEY} Write it in quotes: name: ${JSON.stringify(String(name))}`,
    ];
  return [
    `a string or a mapping with a \`name\` is expected; this one ${isEmpty(item) ? 'is empty' : `has only ${shownMembers(Object.keys(item))}`}`,
    at,
    KEY,
  ];
}

const KEY = 'Its name is the key.';
const EITHER_KEY = 'The string, or the `name` of the mapping, is the key.';

/** Of a mapping, its name. */
const keyOf = (one: Raw): Raw =>
  isMap(one) && typeof one['name'] === 'string' ? one['name'] : one;
