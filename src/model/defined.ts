// Optional members of an object literal: under `exactOptionalPropertyTypes` a member that is absent differs from one that is undefined.

/** The members that are not undefined: `{ a, ...defined({ b }) }` has no key `b` where `b` is undefined. */
export function defined<T extends object>(
  members: T,
): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
