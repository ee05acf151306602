// Reads and makes records: member by member, and always as own members, whatever their names are.

/** A record with each of its values changed. */
export const mapMembers = <T, U>(
  record: Readonly<Record<string, T>>,
  to: (value: T, name: string) => U,
): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value, name)]));

/** A record with a member for each name. */
export const recordFrom = <T>(
  names: readonly string[],
  value: (name: string) => T,
): Record<string, T> => Object.fromEntries(names.map((name) => [name, value(name)]));

/** A record with those of its members that pass. */
export const keptMembers = <T>(
  record: Readonly<Record<string, T>>,
  passes: (value: T, name: string) => boolean,
): Record<string, T> =>
  Object.fromEntries(Object.entries(record).filter(([name, value]) => passes(value, name)));

/** The names of a record that has no more members than its type says. */
export const keysOf = <T extends object>(record: T): readonly (keyof T & string)[] =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets the names
  Object.keys(record) as (keyof T & string)[];

/** The value of a map under a key; made and stored at the first access. */
export function cached<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** In the order in which the keys come first. Without a key, an item is alone. */
export function groupedBy<T>(
  all: readonly T[],
  keyOf: (one: T) => string | undefined,
): readonly (readonly T[])[] {
  const byKey = new Map<string, T[]>();
  for (const [index, one] of all.entries())
    cached(byKey, keyOf(one) ?? `${index}`, (): T[] => []).push(one);
  return [...byKey.values()];
}

/** The sums of counts with equal keys, in the order in which the keys come first. */
export function totals<K>(counts: Iterable<readonly [key: K, count: number]>): Map<K, number> {
  const sums = new Map<K, number>();
  for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count);
  return sums;
}

/** How often each key is there, in the order in which they come first. */
export const tally = <K>(keys: readonly K[]): Map<K, number> => totals(keys.map((key) => [key, 1]));
