// The live object of each address: by the recorded id, else `lifecycle.adopt`, else identity. One unmanaged match is
// adopted; if several match, the user decides (exit 5); the order of the listing never does.
import {
  append,
  cached,
  canonical,
  defined,
  exits,
  firstNamed,
  isEmpty,
  isKnown,
  isList,
  isTree,
  normal,
  objectsIn,
  redact,
  shellWord,
  tryAddress,
  foldedText,
  formatAddress,
  identityWords,
  recognisedBy,
  unescapeFully,
  writables,
  type Advice,
  type Attribute,
  type Declaration,
  type Diagnostic,
  type Entry,
  type Exit,
  type Kind,
  type Live,
  type Observed,
  type State,
  type Value,
  type Values,
  type Json,
} from '../../model/index.js';
import { declarationError, oneOfTwo } from './plan-errors.js';
import type { Visibility } from '../recent-writes.js';
import type { LiveCollection, LiveCollections } from '../live-collections.js';

export interface Match {
  /** `unseen`: created just now, and no listing has shown it yet. */
  readonly how: 'recorded' | 'unseen' | 'adopt' | 'identity' | 'none';
  readonly live?: Live;
  readonly entry?: Entry;
  /** The address the entry stands under, where the declaration was renamed. */
  readonly renamedFrom?: string;
  /** The recorded object was deleted outside. */
  readonly gone?: boolean;
}

export interface MatchError {
  readonly diagnostic: Diagnostic;
  readonly exit: Exit;
  /** The entry of a recorded object that was deleted outside. */
  readonly gone?: Entry;
}

/** The addresses that a declaration says it had before: in `lifecycle.renamed_from`, and in `moved` blocks. */
export function declaredFormerAddresses({
  address,
  kind,
  lifecycle: { renamed_from: old },
  moved_from: moved = [],
}: Declaration): readonly string[] {
  const renamed = old === undefined ? undefined : tryAddress(`${kind}.${old}`);
  const key = renamed && (renamed.key ?? tryAddress(address)?.key);
  return [
    ...(renamed ? [formatAddress({ ...renamed, key })] : []),
    ...moved.map((one) => one.address),
  ];
}

/** The same; of a declaration that names none, the address that it had with another `count`. */
export function formerAddresses(declaration: Declaration): readonly string[] {
  const { recounted, lifecycle, moved_from } = declaration;
  if (lifecycle.renamed_from !== undefined || moved_from)
    return declaredFormerAddresses(declaration);
  return recounted === undefined ? [] : [recounted];
}

/**
 * The previous address of a declaration, where it names one that the state still holds; both may be bound to one object
 * where a run ended between them. That no other declaration has it is seen to by `select`.
 */
export function formerAddressInState(
  declaration: Declaration,
  state: State | undefined,
): string | undefined {
  const own = state?.resources[declaration.address];
  return formerAddresses(declaration).find((former) => {
    const entry = state?.resources[former];
    return entry && (own === undefined || own.id === entry.id) && former !== declaration.address;
  });
}

/** Where a declaration names the id of its object. */
export const adoptionWords = ({ import_origin }: Declaration): string =>
  import_origin ? 'an import block' : 'lifecycle.adopt';

interface Matched {
  readonly liveObjects: LiveCollections;
  readonly state: State | undefined;
  readonly visibility: Visibility;
}

/** Finds live objects for declarations, and records which are taken. */
export class Matcher {
  readonly #read: Matched;
  readonly #managed = new Map<string, string>();
  readonly #claimed = new Map<string, string>();
  readonly #index = new Map<string, ReadonlyMap<string, readonly Live[]>>();

  constructor(read: Matched, declarations: Iterable<Declaration>) {
    this.#read = read;
    for (const [address, entry] of Object.entries(read.state?.resources ?? {}))
      for (const object of objectsIn(entry)) this.#managed.set(object, address);
    for (const { kind, address, lifecycle } of declarations)
      if (lifecycle.adopt !== undefined && !this.#claimed.has(key(kind, lifecycle.adopt)))
        this.#claimed.set(key(kind, lifecycle.adopt), address);
  }

  match(kind: Kind, declaration: Declaration, values: Values): Match | MatchError {
    const collection = this.#read.liveObjects.get(kind.name)!;
    const renamedFrom = formerAddressInState(declaration, this.#read.state);
    const entry = this.#read.state?.resources[renamedFrom ?? declaration.address];
    const rename = renamedFrom === undefined ? {} : { renamedFrom };
    const adopt = declaration.lifecycle.adopt;
    if (entry) {
      const live = collection.byId.get(entry.id);
      if (live && adopt !== undefined && adopt !== entry.id && collection.byId.has(adopt))
        return this.#alreadyBound(declaration, entry, adopt);
      if (live) return { how: 'recorded', live, entry, ...rename };
      if (this.#read.visibility.created(kind.name, entry.id) === 'unseen')
        return { how: 'unseen', entry, ...rename };
    }
    const base = entry ? { entry, gone: true, ...rename } : rename;
    // An adoption that happened is over: what became of the object since is drift.
    if (adopt !== undefined && adopt !== entry?.id) {
      const found = this.#adopt(collection, declaration, adopt, base);
      return isMatchError(found) ? { ...found, ...defined({ gone: entry }) } : found;
    }
    const candidates = this.#candidates(collection, values);
    const allowsDuplicates = declaration.lifecycle.allow_duplicate === true;
    if (candidates.length > 1 && !allowsDuplicates)
      return {
        ...ambiguous(declaration, candidates, entry && (renamedFrom ?? declaration.address)),
        ...defined({ gone: entry }),
      };
    const live = candidates[0];
    if (!live) return { how: 'none', ...base };
    this.#claimed.set(key(kind.name, live.id), declaration.address);
    return { how: 'identity', live, ...base };
  }

  /** Live objects of the same identity that no address manages or claims. */
  alike(kind: Kind, values: Values): readonly Live[] {
    return this.#candidates(this.#read.liveObjects.get(kind.name)!, values);
  }

  /** Objects of the same identity that addresses hold, also those that no listing shows yet. */
  held(kind: Kind, values: Values): readonly (readonly [address: string, live: Live])[] {
    return this.#equal(this.#read.liveObjects.get(kind.name)!, values).flatMap((live) => {
      const address = this.#managed.get(key(kind.name, live.id));
      return address === undefined ? [] : [[address, live] as const];
    });
  }

  /** Kinds of which an earlier run made an object that no listing shows yet and no address holds: a creation may mean that one. */
  strays(): ReadonlySet<string> {
    const { recent = [] } = this.#read.state ?? {};
    const isStray = (kind: string, id: string): boolean =>
      this.#read.visibility.created(kind, id) === 'unseen' &&
      !this.#read.visibility.wasDeletedRecently(kind, id) &&
      !this.#managed.has(key(kind, id)) &&
      this.#read.liveObjects.get(kind)?.byId.has(id) === false;
    return new Set(
      recent.flatMap(({ kind, unseen }) => (unseen.some((id) => isStray(kind, id)) ? [kind] : [])),
    );
  }

  /** Live objects of the kind that no address manages or claims. */
  unmanaged(kind: Kind): readonly Live[] {
    return [...(this.#read.liveObjects.get(kind.name)?.byId.values() ?? [])].filter((live) =>
      this.#free(kind.name, live.id),
    );
  }

  #free(kind: string, id: string): boolean {
    return !this.#managed.has(key(kind, id)) && !this.#claimed.has(key(kind, id));
  }

  #candidates(collection: LiveCollection, values: Values): readonly Live[] {
    return this.#equal(collection, values).filter(({ id }) => this.#free(collection.kind.name, id));
  }

  #equal(collection: LiveCollection, values: Values): readonly Live[] {
    const { kind } = collection;
    const whole = { ...ownRoot(collection), ...values };
    const names = recognisedBy(kind, whole);
    const wanted = identityKey(kind, whole, names);
    if (wanted === undefined) return [];
    const index = cached(this.#index, key(kind.name, names.join()), () => {
      const unseen = Object.values(this.#read.state?.resources ?? {}).flatMap((entry) =>
        entry.kind === kind.name &&
        !collection.byId.has(entry.id) &&
        this.#read.visibility.created(kind.name, entry.id) === 'unseen'
          ? [[entry.id, recordedObject(kind, entry)] as const]
          : [],
      );
      return indexByIdentity({ kind, byId: new Map([...collection.byId, ...unseen]) }, names);
    });
    return index.get(wanted) ?? [];
  }

  #adopt(
    collection: LiveCollection,
    declaration: Declaration,
    id: string,
    base: Partial<Match>,
  ): Match | MatchError {
    const owner =
      this.#managed.get(key(declaration.kind, id)) ?? this.#claimed.get(key(declaration.kind, id));
    if (owner !== undefined && owner !== declaration.address && owner !== base.renamedFrom)
      return adoptionError(declaration, {
        code: 'adopt-taken',
        summary: `${declaration.address} is to adopt ${id}, which is managed as ${owner}.`,
        detail: oneOfTwo(owner, declaration.address),
      });
    const live = collection.byId.get(id);
    if (!live)
      return adoptionError(declaration, {
        code: 'adopt-missing',
        summary: `${declaration.address} is to adopt ${id}, but no live object of ${declaration.kind} has this id.`,
        detail: `List what is live: trueup get ${declaration.kind}`,
      });
    return { how: 'adopt', live, ...base };
  }

  #alreadyBound(declaration: Declaration, entry: Entry, adopt: string): MatchError {
    const words = adoptionWords(declaration);
    const remedy = declaration.import_origin ? 'Delete the block' : `Remove ${words}`;
    const recorded = formerAddressInState(declaration, this.#read.state) ?? declaration.address;
    return adoptionError(declaration, {
      code: 'adopt-bound',
      summary: `${declaration.address} is bound to ${entry.id}, but ${words} names ${adopt}.`,
      detail: `${remedy}, or forget the bound object first: trueup state rm ${shellWord(recorded)}`,
    });
  }
}

/** An object as it was last observed. */
export const recordedObject = (kind: Kind, { id, observed }: Entry): Live => ({
  id,
  values: { ...observed, [kind.id]: id },
});

export const isMatchError = (match: Match | MatchError): match is MatchError =>
  'diagnostic' in match;

const key = (kind: string, id: string): string => `${kind} ${id}`;

/** At the block that names the id, if it is one. */
function adoptionError(declaration: Declaration, what: Advice): MatchError {
  const { origin, import_origin } = declaration;
  const diagnostic = declarationError({ ...declaration, origin: import_origin ?? origin }, what);
  return { diagnostic, exit: exits.error };
}

/** @param gone the address in the state of an object that is gone: it has to be free before another one is imported */
function ambiguous(
  declaration: Declaration,
  candidates: readonly Live[],
  gone: string | undefined,
): MatchError {
  const ids = candidates.map((live) => live.id).toSorted();
  const id = ids[0]!;
  const { origin } = declaration;
  const isMade = tryAddress(declaration.address)?.key !== undefined || origin.path !== undefined;
  const diagnostic = declarationError(declaration, {
    code: 'ambiguous',
    summary: `${declaration.address} matches ${ids.length} live objects of ${declaration.kind}: ${firstNamed(ids, 5, ', and ')}.`,
    // `lifecycle` is written once for a whole `for_each`, so a single member cannot be given `adopt`. A stack of a CDK has none.
    detail: `${gone !== undefined ? `Forget the object that is gone: trueup state rm ${shellWord(gone)}\nThen choose one` : 'Choose one'}: trueup import ${shellWord(declaration.address)} ${shellWord(id)}${isMade ? '' : `\nor write \`lifecycle: { adopt: ${JSON.stringify(id)} }\` beside its attributes.`}`,
  });
  return { diagnostic, exit: exits.undecided };
}

/** Text that is equal for objects of equal identity; undefined while a part of it is not known. */
export function identityKey(
  kind: Kind,
  values: Values,
  names = recognisedBy(kind, values),
): string | undefined {
  const parts: Json[] = [];
  for (const name of names) {
    const value = values[name];
    // Objects without a name are not equal by having none.
    if (!isKnown(value) || (kind.else_identity && isEmpty(value))) return undefined;
    parts.push(comparable(kind.attributes[name]!, value));
  }
  return canonical(kind.else_identity ? [names, parts] : parts);
}

/** One spelling for what `same` calls equal: empties are null, texts are unescaped, secrets are left out. */
export const comparable = (attribute: Attribute, value: Value | undefined): Json =>
  spelled(attribute, redact(normal(attribute, value)));

function spelled(attribute: Attribute, plain: Json): Json {
  if (isEmpty(plain)) return null;
  if (attribute.word === 'object' && isTree(plain)) {
    const out: Record<string, Json> = {};
    for (const [name, inner] of Object.entries(attribute.attributes)) {
      const part = inner.secret ? null : spelled(inner, plain[name] ?? null);
      if (part !== null) out[name] = part;
    }
    return Object.keys(out).length === 0 ? null : out;
  }
  if ((attribute.word === 'set' || attribute.word === 'list') && isList(plain))
    return plain.map((item) => spelled(attribute.of, item));
  return foldedText(attribute, unescapeFully(plain));
}

/** One text for attributes that `same` calls equal. */
export const comparableText = (kind: Kind, names: readonly string[], values: Values): string =>
  canonical(names.map((name) => comparable(kind.attributes[name]!, values[name])));

/** The attribute by which an object names its parent, an object of the same kind; undefined where the kind is no tree. */
const parentAttribute = (kind: Kind): string | undefined =>
  writables(kind).find(
    ([, attribute]) => attribute.word === 'ref' && attribute.to === kind.name && attribute.optional,
  )?.[0];

/**
 * The value of an undeclared parent attribute: the root of the tree, such as the account that the API keys belong to. If
 * exactly one object has no listed parent, it is the root. If several have the same unlisted parent, that parent is the
 * root. A parent that the state records but the listing lacks (`missing`) counts as listed. Empty if the root is not known.
 */
export const ownRoot = (collection: LiveCollection): Values =>
  cached(roots, collection.byId, () => rootOf(collection));

function rootOf({ kind, byId, missing }: LiveCollection): Values {
  const parentName = parentAttribute(kind);
  if (parentName === undefined) return {};
  const parentOf = ({ values }: Live): string | undefined =>
    isEmpty(values[parentName]) ? undefined : String(values[parentName]);
  const isTop = (live: Live): boolean => {
    const parent = parentOf(live);
    return (
      parent === undefined ||
      parent === live.id ||
      (!byId.has(parent) && missing?.has(parent) !== true)
    );
  };
  const tops = [...byId.values()].filter(isTop);
  const [first] = tops;
  if (!first) return {};
  if (tops.length === 1) return { [parentName]: first.id };
  const parent = parentOf(first);
  return parent !== undefined && tops.every((top) => parentOf(top) === parent && top.id !== parent)
    ? { [parentName]: parent }
    : {};
}

/** The name of the parent attribute, if it must be declared because the default parent (`ownRoot`) is not known; otherwise undefined. */
export function unknownParent(collection: LiveCollection, values: Values): string | undefined {
  const parentName = parentAttribute(collection.kind);
  const isOpen =
    parentName !== undefined && !Object.hasOwn(values, parentName) && collection.byId.size > 0;
  return isOpen && isEmpty(ownRoot(collection)[parentName]) ? parentName : undefined;
}

/** Cache of `ownRoot`, which is called for every declaration. */
const roots = new WeakMap<LiveCollection['byId'], Values>();

/** Live objects of a collection by identity, each bucket in order of ids. */
export function indexByIdentity(
  collection: Observed,
  names?: readonly string[],
): ReadonlyMap<string, readonly Live[]> {
  const index = new Map<string, Live[]>();
  for (const live of collection.byId.values()) {
    const identity = identityKey(collection.kind, live.values, names);
    if (identity === undefined) continue;
    append(index, identity, live);
  }
  for (const bucket of index.values()) bucket.sort((a, b) => (a.id < b.id ? -1 : 1));
  return index;
}

/** Advice for a declaration that no live object matches, where the API cannot create one. @param live every object of the kind */
export function adviceToFind(kind: Kind, values: Values, live: Iterable<Live>): string {
  const own = kind.unmatched?.(
    values,
    Array.from(live, (one) => one.values),
  );
  return (
    own ??
    `Create it where such objects are created, or correct ${identityWords(kind)}. List what is live: trueup get ${kind.name}`
  );
}
