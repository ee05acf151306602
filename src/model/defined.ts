// Optional members of an object literal: under `exactOptionalPropertyTypes`, absent and undefined are different.

/** The members that are not undefined: `{ a, ...defined({ b }) }` has no key `b` where `b` is undefined. */
export function defined<T extends object>(
  members: T,
): { readonly [K in keyof T]?: Exclude<T[K], undefined> };
export function defined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
