// Live objects that nothing manages and that nearly equal one about to be created: most likely the same object, of
// which nobody remembers that it is ours. Each of them counts for one creation.
import {
  append,
  canonical,
  isKnown,
  same,
  shellWord,
  unescapeFully,
  writables,
  type Attribute,
  type Create,
  type Json,
  type Kind,
  type Likeness,
  type Live,
  type Project,
  type Value,
  type Values,
} from '../../model/index.js';
import { comparable } from './match.js';
import { declaredValueAt } from './references.js';

export interface Duplicate {
  readonly change: Create;
  readonly live: Live;
  /** Attributes in which the two differ. */
  readonly differing: readonly string[];
}

/** Share of the union of two sets that they have to have in common. */
const SHARED = 0.5;

interface Candidate {
  readonly change: Create;
  readonly live: Live;
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
  const candidates = creates.flatMap((change) => {
    const values = effective(change.desired.declared);
    // What is not declared may have any live value: a plan over the same object leaves it as it is.
    const names = likeness.equal.filter((name) => Object.hasOwn(values, name));
    const bucket = bucketsOf(names).get(keyOf(kind, likeness, names, values) ?? '') ?? [];
    return bucket.length === 0 ? [] : alike(likeness, change, values, bucket);
  });
  return chosen(candidates).map(({ change, live }) => ({
    change,
    live,
    differing: differing(kind, effective(change.desired.declared), live),
  }));
}

/** Addresses whose declarations allow duplicates. */
export const allowingDuplicates = ({ declarations }: Project): ReadonlySet<string> =>
  new Set(
    declarations.flatMap(({ address, lifecycle }) => (lifecycle.allow_duplicate ? [address] : [])),
  );

export function duplicateSentence(
  kind: Kind,
  { change, live, differing: names }: Duplicate,
): string {
  const difference =
    names.length === 0 ? 'no declared attribute differs' : `differs in ${names.join(', ')}`;
  const bind = `trueup import ${shellWord(change.address)} ${shellWord(live.id)}`;
  return `${change.address} is a possible duplicate of the unmanaged ${kind.singular.replaceAll('_', ' ')} ${live.id} (${difference}); if both are the same object, bind it: \`${bind}\``;
}

/** Live objects by `keyOf`, grouped once for each list of names. */
function cachedBuckets(
  kind: Kind,
  likeness: Likeness,
  unmanaged: readonly Live[],
): (names: readonly string[]) => ReadonlyMap<string, readonly Live[]> {
  const cache = new Map<string, ReadonlyMap<string, readonly Live[]>>();
  return (names) => {
    const known = cache.get(canonical(names));
    if (known) return known;
    const buckets = new Map<string, Live[]>();
    for (const live of unmanaged) {
      const key = keyOf(kind, likeness, names, live.values);
      if (key !== undefined) append(buckets, key, live);
    }
    cache.set(canonical(names), buckets);
    return buckets;
  };
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
    comparable(kind.attributes[name] as Attribute, values[name]),
  );
  if (folded === undefined) return canonical(parts);
  const text = declaredValueAt(values, folded);
  return typeof text === 'string' ? canonical([...parts, withoutCase(text)]) : undefined;
}

/** One spelling for names that a reader takes for equal: `Straße` and `STRASSE`, composed and decomposed accents. */
const withoutCase = (text: string): string =>
  unescapeFully(text).trim().normalize('NFC').toUpperCase().toLowerCase();

function alike(
  { overlap }: Likeness,
  change: Create,
  values: Values,
  bucket: readonly Live[],
): readonly Candidate[] {
  if (overlap === undefined) return bucket.map((live) => ({ change, live, ratio: 1 }));
  const wanted = wordsOf(declaredValueAt(values, overlap));
  if (!wanted) return [];
  return bucket.flatMap((live) => {
    const there = wordsOf(declaredValueAt(live.values, overlap)) ?? new Set<string>();
    const shared = [...wanted].filter((word) => there.has(word)).length;
    const ratio = wanted.size + there.size === 0 ? 1 : shared / (wanted.size + there.size - shared);
    return ratio >= SHARED ? [{ change, live, ratio }] : [];
  });
}

/** The items of a set; undefined where they are known only after apply. */
function wordsOf(value: Value | undefined): ReadonlySet<string> | undefined {
  if (value === undefined || value === null) return new Set();
  return Array.isArray(value) && isKnown(value)
    ? new Set((value as readonly Value[]).map(String))
    : undefined;
}

/** The best pairs first; no object twice. */
function chosen(candidates: readonly Candidate[]): readonly Candidate[] {
  const taken = new Set<string>();
  const best = candidates.toSorted(
    (a, b) =>
      b.ratio - a.ratio ||
      (a.change.address < b.change.address ? -1 : 1) ||
      (a.live.id < b.live.id ? -1 : 1),
  );
  return best.filter(({ change, live }) => {
    const keys = [`address ${change.address}`, `id ${live.id}`];
    if (keys.some((key) => taken.has(key))) return false;
    for (const key of keys) taken.add(key);
    return true;
  });
}

const differing = (kind: Kind, declared: Values, live: Live): readonly string[] =>
  writables(kind).flatMap(([name, attribute]) =>
    Object.hasOwn(declared, name) && !same(attribute, declared[name], live.values[name])
      ? [name]
      : [],
  );
