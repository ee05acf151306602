// Unmanaged live objects that nearly equal an object to be created: probably the same object, created by an earlier run
// without this state. Each of them counts for one create.
import {
  cached,
  canonical,
  compareText,
  isKnown,
  same,
  shellWord,
  unescapeFully,
  writables,
  type Create,
  type Json,
  type Kind,
  type LabelOf,
  type Likeness,
  type Live,
  type Project,
  type Value,
  type Values,
} from '../../model/index.js';
import { storedValues } from '../live-collections.js';
import { comparable } from './match.js';
import { declaredValueAt } from './resolve-references.js';

export interface Duplicate {
  readonly change: Create;
  readonly live: Live;
  /** Attributes in which the two differ. */
  readonly differing: readonly string[];
  /** Attributes that only the live object has, with their values: a plan over the same object leaves them as they are. */
  readonly undeclared: readonly string[];
}

/** Share of the union of two sets that they have to have in common. */
const SHARED = 0.5;

/** Members with the same items of the set that is compared; without such a set, all of them. */
interface Group<T> {
  readonly words: ReadonlySet<string>;
  readonly members: T[];
}

interface Pair {
  readonly creates: readonly Create[];
  readonly lives: readonly Live[];
  /** 1 where what is compared is the same. */
  readonly ratio: number;
}

/** @param effective the declared values of a creation with what an absent reference means */
export function possibleDuplicates(
  kind: Kind,
  creates: readonly Create[],
  unmanaged: readonly Live[],
  effective: (values: Values) => Values,
): readonly Duplicate[] {
  const { likeness } = kind;
  if (!likeness || creates.length === 0 || unmanaged.length === 0) return [];
  const bucketsOf = cachedBuckets(kind, likeness, unmanaged);
  const wanted = new Map<Groups<Live>, Groups<Create>>();
  for (const change of creates) {
    const values = effective(change.declaredObject.declared);
    // An undeclared attribute may have any live value: a plan over the same object leaves it as it is.
    const names = likeness.equal.filter((name) => Object.hasOwn(values, name));
    const lives = bucketsOf(names).get(keyOf(kind, likeness, names, values) ?? '');
    const words = wordsOf(likeness, values);
    if (!lives || !words) continue;
    const sets: Groups<Create> = cached(wanted, lives, () => new Map());
    join(sets, words, change);
  }
  return chosen([...wanted].flatMap(([lives, sets]) => alike(sets, lives))).map(
    ({ change, live }) => ({
      change,
      live,
      ...comparison(kind, effective(change.declaredObject.declared), live),
    }),
  );
}

type Groups<T> = Map<string, Group<T>>;

function join<T>(sets: Groups<T>, words: ReadonlySet<string>, member: T): void {
  const key = canonical([...words].toSorted());
  const group: Group<T> = cached(sets, key, () => ({ words, members: [] }));
  group.members.push(member);
}

/** Addresses whose declarations allow duplicates. */
export const allowingDuplicates = ({ declarations }: Project): ReadonlySet<string> =>
  new Set(
    declarations.flatMap(({ address, lifecycle }) => (lifecycle.allow_duplicate ? [address] : [])),
  );

export function duplicateSentence(
  kind: Kind,
  { change, live, differing: names, undeclared }: Duplicate,
  others: LabelOf,
): string {
  const difference =
    names.length === 0 ? 'no declared attribute differs' : `differs in ${names.join(', ')}`;
  const more = undeclared.length === 0 ? '' : `; live, but not declared: ${undeclared.join(', ')}`;
  const command = `trueup import ${shellWord(change.address)} ${shellWord(live.id)}`;
  const label = kind.label ? `${kind.label(live.values, others)}; ` : '';
  return `${change.address} is a possible duplicate of the unmanaged ${kind.singular.replaceAll('_', ' ')} ${live.id} (${label}${difference}${more}); if both are the same object, import it: \`${command}\``;
}

/** Live objects by `keyOf`, grouped once for each list of names. */
function cachedBuckets(
  kind: Kind,
  likeness: Likeness,
  unmanaged: readonly Live[],
): (names: readonly string[]) => ReadonlyMap<string, Groups<Live>> {
  const cache = new Map<string, ReadonlyMap<string, Groups<Live>>>();
  return (names) =>
    cached(cache, canonical(names), () => {
      const buckets = new Map<string, Groups<Live>>();
      for (const live of unmanaged) {
        const key = keyOf(kind, likeness, names, live.values);
        if (key === undefined) continue;
        const sets: Groups<Live> = cached(buckets, key, () => new Map());
        join(sets, wordsOf(likeness, live.values) ?? new Set(), live);
      }
      return buckets;
    });
}

/**
 * Equal for objects that may be alike in the attributes of these names; undefined where a name is known only after apply.
 * Of anything else that is, no live object has the text.
 */
function keyOf(
  kind: Kind,
  { folded }: Likeness,
  names: readonly string[],
  values: Values,
): string | undefined {
  const parts: readonly Json[] = names.map((name) =>
    comparable(kind.attributes[name]!, values[name]),
  );
  if (folded === undefined) return canonical(parts);
  const text = declaredValueAt(values, folded);
  return typeof text === 'string' ? canonical([...parts, withoutCase(text)]) : undefined;
}

/** One spelling for names that a reader takes for equal: `Straße` and `STRASSE`, composed and decomposed accents, whatever the spaces. */
const withoutCase = (text: string): string =>
  unescapeFully(text).replaceAll(/\s+/g, '').normalize('NFC').toUpperCase().toLowerCase();

function alike(creates: Groups<Create>, lives: Groups<Live>): readonly Pair[] {
  const pairs: Pair[] = [];
  for (const { words, members } of creates.values())
    for (const group of lives.values()) {
      let shared = 0;
      for (const word of words) if (group.words.has(word)) shared += 1;
      const all = words.size + group.words.size - shared;
      const ratio = all === 0 ? 1 : shared / all;
      if (ratio >= SHARED) pairs.push({ creates: members, lives: group.members, ratio });
    }
  return pairs;
}

/** The items of the set that is compared, none where there is no such set; undefined where they are known only after apply. */
function wordsOf({ overlap }: Likeness, values: Values): ReadonlySet<string> | undefined {
  const value = overlap === undefined ? undefined : declaredValueAt(values, overlap);
  if (value === undefined || value === null) return new Set();
  return Array.isArray(value) && isKnown(value)
    ? new Set((value as readonly Value[]).map(String))
    : undefined;
}

/** The best pairs first; no object twice. */
function chosen(pairs: readonly Pair[]): readonly { change: Create; live: Live }[] {
  const taken = new Set<Create | Live>();
  const free = <T extends Create | Live>(
    all: readonly T[],
    key: (one: T) => string,
  ): readonly T[] =>
    all.filter((one) => !taken.has(one)).toSorted((a, b) => compareText(key(a), key(b)));
  const addresses = new Map(pairs.map(({ creates }) => [creates, first(creates)]));
  const best = pairs.toSorted(
    (a, b) =>
      b.ratio - a.ratio || compareText(addresses.get(a.creates)!, addresses.get(b.creates)!),
  );
  const found = best.flatMap(({ creates, lives, ratio }) => {
    const left = free(lives, ({ id }) => id);
    const changes = free(creates, ({ address }) => address).slice(0, left.length);
    return changes.map((change, index) => {
      const live = left[index]!;
      taken.add(change).add(live);
      return { change, live, ratio };
    });
  });
  return found.toSorted(
    (a, b) => b.ratio - a.ratio || compareText(a.change.address, b.change.address),
  );
}

const first = (creates: readonly Create[]): string =>
  creates.map(({ address }) => address).toSorted(compareText)[0]!;

function comparison(
  kind: Kind,
  declared: Values,
  live: Live,
): Pick<Duplicate, 'differing' | 'undeclared'> {
  const names = writables(kind).flatMap(([name, attribute]) =>
    same(attribute, declared[name], live.values[name]) ? [] : [name],
  );
  const shown = storedValues(kind, live.values);
  return {
    differing: names.filter((name) => Object.hasOwn(declared, name)),
    undeclared: names
      .filter((name) => !Object.hasOwn(declared, name))
      .map((name) => `${name} ${JSON.stringify(shown[name]) ?? '(not shown)'}`),
  };
}
