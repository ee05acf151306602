// Reads and makes records: member by member, and always as own members, whatever their names are.

/** A record with each of its values changed. */
export const mapMembers = <T, U>(
  record: Readonly<Record<string, T>>,
  to: (value: T, name: string) => U,
): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value, name)]));

/** A record with those of its members that pass. */
export const keptMembers = <T>(
  record: Readonly<Record<string, T>>,
  passes: (value: T, name: string) => boolean,
): Record<string, T> =>
  Object.fromEntries(Object.entries(record).filter(([name, value]) => passes(value, name)));

/** The value of a map under a key; made and stored at the first access. */
export function cached<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}
