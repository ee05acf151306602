// The form of a kind: a collection whose objects can be declared. Each kind is one file that also documents it.
import { cached } from './members.js';
import { stored, type Attribute, type Attributes } from './attribute.js';
import type { Collection, ReadOperation } from './collection.js';
import type { Declaration, Values } from './declaration.js';
import type { Diagnostic } from './diagnostic.js';
import type { JsonObject } from './json.js';

/** The requests that a kind takes. A verb that is absent does not exist, and nothing can make it. */
export interface Operations extends ReadOperation {
  readonly by_id: string;
  /** Attribute of the identity that the listing filters by, under the same name. */
  readonly by_name?: string;
  readonly create?: 'POST';
  readonly update?: 'PATCH' | 'PUT';
  /** Beside a PUT: an update that changes no document is sent as a PATCH of what it changes. */
  readonly patch?: 'PATCH';
  readonly delete?: 'DELETE';
}

/** The allowed actions for the live object when its declaration is removed; the first is the default. */
export type Removal = 'delete' | 'forget' | (string & {});

/** When a live object nearly equals one that is about to be created. Dotted paths of attributes. */
export interface Likeness {
  /** Equal in both, and known; what is not declared equals everything. */
  readonly equal: readonly string[];
  /** A set of which the two share at least half of their union. */
  readonly overlap?: string;
  /** A string that is the same but for case, blanks around it and HTML escapes. */
  readonly folded?: string;
}

/** A warning about one declaration; `attribute` is a dotted path. */
export type Advice = Pick<Diagnostic, 'code' | 'summary' | 'detail' | 'attribute'>;

/** The label of another object; undefined if that object was not read. */
export type LabelOf = (kind: string, id: string) => string | undefined;

export interface Kind extends Collection {
  /** Name of the attribute that is the remote identifier. */
  readonly id: string;
  /** Attributes by which an object that is not in state is recognised; `content` means every writable one. */
  readonly identity: readonly string[] | 'content';
  /** Attributes by which it is recognised instead where a declaration lacks one of `identity`. */
  readonly else_identity?: readonly string[];
  readonly operations: Operations;
  /** Absent: only an object of the same identity is taken for the one that is declared. */
  readonly likeness?: Likeness;
  /** Name of the attribute that grows by one with each write of the object. */
  readonly version?: string;
  /** The activity log does not say who changed its objects. */
  readonly unlogged?: true;
  /** A record of a listing with exactly these values, in normal form, stands for no object. */
  readonly ghost?: Values;
  /** For each `lifecycle.on_removal` word beside `delete` and `forget`: the attributes sent before the object is forgotten. */
  readonly retire?: Readonly<Record<string, Values>>;
  /** What is still so once an object with these live values is forgotten, where that is not clear from what the kind is. */
  readonly kept?: (values: Values) => string | undefined;
  /** Advice for a declaration that no live object matches, if there is more to do than to check the objects. */
  readonly unmatched?: (values: Values, live: readonly Values[]) => string | undefined;
  /** Values that would never be sent, each with its attribute. The values may hold references. */
  readonly faults?: (values: Values) => readonly Advice[];
  /** Warnings for declarations that are allowed but probably mistakes; `find` returns another declaration by its address. */
  readonly lint?: (
    declaration: Declaration,
    find: (address: string) => Declaration | undefined,
  ) => readonly Advice[];
  /** How people recognise an object that has no name. Texts of others in it are shortened, and not escaped. */
  readonly label?: (values: Values, others: LabelOf) => string;
  /** A name of an object, where messages show this kind to explain what an address is. */
  readonly named_as?: string;
  /** Name of a declaration and its attributes, valid as it stands (references may point at `${<kind>.example...}`). */
  readonly example: JsonObject;
}

export const isKind = (one: Collection): one is Kind => 'identity' in one;

/** Checks a kind's shape at compile time and keeps its literal types. */
export const kind = <
  const A extends Attributes,
  const K extends Omit<Kind, 'attributes' | 'example'>,
>(
  definition: K & { readonly attributes: A; readonly example: JsonObject },
): K & {
  readonly attributes: A;
  readonly example: JsonObject;
} => definition;

/** The kinds a run knows, by name, in the order of the index. */
export type Kinds = ReadonlyMap<string, Kind>;

export function kindsOf(list: readonly Kind[]): Kinds {
  return new Map(list.map((one) => [one.name, one]));
}

/** The names of the kinds as a message lists them. */
export const kindWords = (kinds: Kinds): string =>
  [...kinds.keys()].join(', ').replaceAll('_', ' ');

/** The kinds as far as a state may hold their objects. */
export const storedKinds = (kinds: Kinds): Kinds =>
  kindsOf([...kinds.values()].map((one) => ({ ...one, attributes: stored(one.attributes) })));

/** The words `lifecycle.on_removal` takes for a kind; the first is the default. */
export function removals(one: Kind): readonly Removal[] {
  return [...(one.operations.delete ? ['delete'] : []), 'forget', ...Object.keys(one.retire ?? {})];
}

export function writables({ attributes }: Kind): readonly (readonly [string, Attribute])[] {
  return cached(writable, attributes, () =>
    Object.entries(attributes).filter(([, attribute]) => attribute.computed !== true),
  );
}

/** The attributes by which an object with these values is recognised. */
export function recognisedBy(one: Kind, values: Values): readonly string[] {
  const { identity, else_identity } = one;
  if (identity === 'content') return writables(one).map(([name]) => name);
  return else_identity && !identity.every((name) => Object.hasOwn(values, name))
    ? else_identity
    : identity;
}

/** The names by which a message says that objects of a kind are recognised. */
export const identityWords = ({ identity, else_identity }: Kind): string =>
  identity === 'content'
    ? 'its attributes'
    : [identity, ...(else_identity ? [else_identity] : [])]
        .map((names) => names.join(' and '))
        .join(', or ');

/** The names of what a declaration can refer to: kinds, collections and externals. */
export function* targetsOf(attributes: Attributes): Generator<string> {
  for (const one of Object.values(attributes)) if (one.computed !== true) yield* targetsIn(one);
}

function* targetsIn(attribute: Attribute): Generator<string> {
  if (attribute.word === 'ref') yield attribute.to;
  else if (attribute.word === 'object') yield* targetsOf(attribute.attributes);
  else if ('of' in attribute) yield* targetsIn(attribute.of);
}

/** Whether declarations can refer to objects of the kind. */
export const isReferredTo = ({ name }: Kind, kinds: Kinds): boolean =>
  [...kinds.values()].some(({ attributes }) => [...targetsOf(attributes)].includes(name));

/**
 * Whether what names an object of a kind has to be changed before the object can be deleted. Terraform, which deletes
 * first, has to be told so, by lifecycle.create_before_destroy; it then makes a new object beside the old one.
 */
export function deletedLast(one: Kind, kinds: Kinds): boolean {
  const { create, delete: remove } = one.operations;
  return create !== undefined && remove !== undefined && isReferredTo(one, kinds);
}

/** Asked several times for every object. */
const writable = new WeakMap<Attributes, readonly (readonly [string, Attribute])[]>();
