// The API's names in camel case, for values and for types.

/** `site_type__in` → `siteTypeIn` */
export type Camel<S extends string> = S extends `_${infer Rest}`
  ? Camel<Rest>
  : S extends `${infer Head}_${infer Rest}`
    ? `${Head}${Capitalize<Camel<Rest>>}`
    : S;

export const camel = (name: string): string =>
  name.replaceAll(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
