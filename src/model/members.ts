// Records made of records: the members one by one, and always as own members, whatever their names are.

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
