import { keptMembers, mapMembers } from './members.js';
// The vocabulary of attributes. A kind names each of its fields once, in these words; types, JSON Schema,
// reference docs, normal forms, redaction and the emulator's checks are all read from here.

export interface Traits {
  /** May be absent from a declaration (absent means: not managed). */
  readonly optional?: boolean;
  /** Its doc where it can only be read, for an attribute whose `doc` tells how it is written. */
  readonly read_doc?: string;
  /** Belongs to the server: never declared, never sent, never drift. */
  readonly computed?: boolean;
  /** Of a computed one: the attributes whose writes change its value, or `any` where each write does. Absent: it stays, or it is the `version` of the kind. */
  readonly changed_by?: 'any' | readonly string[];
  /** Fixed at creation: another value takes another object. */
  readonly immutable?: boolean;
  /** Of an object that Terraform has as a block: nothing can stand in its place, only for its members. */
  readonly block?: boolean;
  /** Write-only: the service returns it masked, and trueup stores only a slow hash of it. */
  readonly secret?: boolean;
  /** Free text of the service, which may repeat anything: shown, and in no state, ours or terraform's. */
  readonly unstored?: boolean;
  /** Sent by a full PUT only where declared (otherwise every writable attribute is sent). */
  readonly only_declared?: boolean;
  /** A flag that the service raises by itself: only `false` can be declared, which takes it back. A create does not send it. */
  readonly only_false?: boolean;
  /**
   * How the value travels where that differs from its word:
   * `url` a reference read as a URL and sent as an id · `integer` a reference sent as a JSON number ·
   * `attribute` / `relationship` its place in a JSON:API resource · `timestamp` text that is compared as a time ·
   * `merge` a document in the form `[object, list of paths]`: written, the object is merged into the live one and the
   * paths are taken out of it, and what is not declared is not ours; read, what is secret inside is masked.
   */
  readonly wire?: 'url' | 'integer' | 'attribute' | 'relationship' | 'timestamp' | 'merge';
}

/**
 * `duration`: a length of time, as `tryDuration` reads it · `email`: compared in any case · `mac`: compared in any case,
 * with or without separators.
 */
export type Text = {
  readonly word: 'text';
  readonly format?: 'url' | 'duration' | 'email' | 'mac';
};
export type Choice = {
  readonly word: 'choice';
  readonly values: readonly string[];
  readonly open: boolean;
};
export type Ref = { readonly word: 'ref'; readonly to: string };
export type List = { readonly word: 'list'; readonly of: Attribute };
export type SetOf = { readonly word: 'set'; readonly of: Attribute };
export type MapOf = { readonly word: 'map'; readonly of: Attribute };
export type ObjectOf = { readonly word: 'object'; readonly attributes: Attributes };
export type Plain = { readonly word: 'integer' | 'number' | 'flag' | 'document' };

export type Shape = Text | Choice | Ref | List | SetOf | MapOf | ObjectOf | Plain;
export type Attribute = Shape & { readonly doc: string } & Traits;
export type Attributes = Readonly<Record<string, Attribute>>;

/** The attributes that a state may hold. */
export type Stored<A> = {
  [K in keyof A as A[K] extends { readonly unstored: true } ? never : K]: A[K];
};
export const stored = <const A extends Attributes>(attributes: A): Stored<A> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the names that are left are those of the type
  keptMembers(attributes, ({ unstored }) => unstored !== true) as Stored<A>;

/** An object with the traits that were given: its type tells which, where a spread of an optional argument forgets it. */
export const withTraits = <const M extends object, T>(members: M, traits: T | undefined): M & T =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- absent traits have no members
  ({ ...members, ...traits }) as M & T;

export const text = <const T extends Traits>(doc: string, traits?: T & Pick<Text, 'format'>) =>
  withTraits({ word: 'text', doc }, traits);
export const integer = <const T extends Traits>(doc: string, traits?: T) =>
  withTraits({ word: 'integer', doc }, traits);
export const number = <const T extends Traits>(doc: string, traits?: T) =>
  withTraits({ word: 'number', doc }, traits);
export const flag = <const T extends Traits>(doc: string, traits?: T) =>
  withTraits({ word: 'flag', doc }, traits);
/** Any JSON object or null, compared as a whole; with `wire: 'merge'` as a tree, member by member. */
export const document = <const T extends Traits>(doc: string, traits?: T) =>
  withTraits({ word: 'document', doc }, traits);

/** One of `values`; where the service's list is not complete (`open`), others pass with a warning. */
export const choice = <
  const V extends readonly string[],
  const T extends Traits & { readonly open?: boolean },
>(
  doc: string,
  values: V,
  traits?: T,
) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- whether it is open is told by its traits
  withTraits({ word: 'choice', doc, values, open: traits?.open ?? false }, traits) as unknown as {
    readonly word: 'choice';
    readonly doc: string;
    readonly values: V;
    readonly open: T extends { readonly open: true } ? true : false;
  } & Omit<T, 'open'>;

/** The identifier of an object of kind `to` (managed here or not). In normal form always text. Kinds of this cloud take `ref` of `src/resources/ref.ts`, which knows the names. */
export const anyRef = <const T extends Traits>(doc: string, to: string, traits?: T) =>
  withTraits({ word: 'ref', doc, to }, traits);

const holding =
  <const W extends 'list' | 'set' | 'map'>(word: W) =>
  <const A extends Attribute, const T extends Traits>(doc: string, of: A, traits?: T) =>
    withTraits({ word, doc, of }, traits);
export const list = holding('list');
/** Unordered, without duplicates: `[]` means none, absent means not managed. */
export const set = holding('set');
export const map = holding('map');
export const object = <const A extends Attributes, const T extends Traits>(
  doc: string,
  attributes: A,
  traits?: T,
) => withTraits({ word: 'object', doc, attributes }, traits);

/** The attributes as something is found by them: those with one plain value, none required, the service's own included. */
export function asCondition(attributes: Attributes): Attributes {
  const asked = keptMembers(
    attributes,
    ({ word, secret }) =>
      secret !== true && !['list', 'set', 'map', 'object', 'document'].includes(word),
  );
  const traits = { optional: true, computed: false, only_false: false };
  return mapMembers(asked, (one) => ({ ...one, ...traits, doc: readDoc(one) }));
}

export const readDoc = ({ doc, read_doc }: Attribute): string => read_doc ?? doc;

/** Nothing of such an object can be read, so there is nothing to show where it is not declared. */
export const holdsOnlySecrets = (attribute: Attribute): boolean =>
  attribute.word === 'object' &&
  Object.values(attribute.attributes).every(({ secret }) => secret === true);

export const writable = (attribute: Attribute): boolean => attribute.computed !== true;

/** Every attribute below `attributes` with its dotted path; objects are entered, collections are not. */
export function* walk(
  attributes: Attributes,
  prefix = '',
): Generator<readonly [path: string, attribute: Attribute]> {
  for (const [name, attribute] of Object.entries(attributes)) {
    yield [prefix + name, attribute];
    if (attribute.word === 'object') yield* walk(attribute.attributes, `${prefix}${name}.`);
  }
}

/** Whether null can be declared, which clears the value. */
export const isNullable = (attribute: Attribute): boolean =>
  (attribute.word === 'document' && attribute.wire !== 'merge') ||
  (attribute.optional === true && ['text', 'choice', 'integer', 'number'].includes(attribute.word));
