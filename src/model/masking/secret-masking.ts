// Masks secrets by value: every secret value that the run can read is masked in every text before it is shown or
// stored, wherever the text comes from. Members of documents that are named like secrets are masked as well. Addresses
// and names of members are not masked.
import { Template, isTree } from '../declaration.js';
import { recordFrom } from '../members.js';
import { maskerOf } from './masked-text.js';
import { isMask } from '../partial-documents.js';
import { isSecretName } from '../secret-names.js';
import { SENSITIVE, type Secret } from '../secret.js';

export interface Masking {
  /** Masks what the secret holds from now on. It is read when the next text is looked at. */
  add(secret: Secret): void;
  /** Without any of the values. */
  text(text: string): string;
  /** A value of the service or of a declaration, with every text in it masked, and every member that is named as a secret. The same object where there is nothing to mask. */
  readonly value: <T>(value: T) => T;
  /** Whether a text inside a value holds one of the values. */
  holds(value: unknown): boolean;
  /** Masks a document, a diagnostic or an event, except addresses, names of kinds and trueup's own words. */
  readonly said: <T>(thing: T) => T;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
/** Members of documents that hold values: below them everything is masked, by value and by name. */
const VALUES = words('before after value body declared applied observed live');
/** Members of any shape that hold addresses, places and marks of trueup. */
const PLACES = words(
  'generated_from target state origin actions depends_on in_sync destinations after_unknown before_sensitive after_sensitive',
);
/** Members whose text is an address, a path, a time or one of trueup's own words. */
const WORDS = words(
  'address previous_address rule kind collection path attribute op method code severity status verdict action outcome type format_version trueup_version generated_at fingerprint since until',
);

/** The most names whose verdict is kept, because every member of very many records is checked. */
const MOST_NAMES = 10_000;

/** `isSecretName` with a cache. */
function namesJudged(): (name: string) => boolean {
  const names = new Map<string, boolean>();
  return (name) => {
    const known = names.get(name);
    if (known !== undefined) return known;
    const judged = isSecretName(name);
    if (names.size < MOST_NAMES) names.set(name, judged);
    return judged;
  };
}

export function maskingOf(): Masking {
  /** By their source: many declarations name the same one. */
  const waiting = new Map<string, Secret>();
  const values = new Set<string>();
  let masked: ((text: string) => string) | undefined;

  /** Reads the sources added since the last call; a source that is added again may have a new value. */
  const text = (given: string): string => {
    if (!masked || waiting.size > 0) {
      const before = values.size;
      for (const secret of waiting.values()) values.add(secret.reveal() ?? '');
      waiting.clear();
      if (!masked || values.size > before)
        masked = maskerOf(values, { mark: SENSITIVE, short: 'whole' });
    }
    return masked(given);
  };
  const isNamed = namesJudged();
  /** Asked of very many records, so that it makes nothing where there is nothing to mask. */
  const walked = (given: unknown, byName: boolean): unknown => {
    if (typeof given === 'string') return text(given);
    if (typeof given !== 'object' || given === null) return given;
    if (Array.isArray(given))
      return changedItems(given as readonly unknown[], (item) => walked(item, byName));
    if (!isTree(given)) return given instanceof Template ? template(given) : given;
    let copy: Record<string, unknown> | undefined;
    for (const name in given) {
      const before = given[name];
      const after = byName && isNamed(name) ? covered(before) : walked(before, byName);
      if (after !== before) (copy ??= { ...given })[name] = after;
    }
    return copy ?? given;
  };
  const template = (given: Template): Template => {
    const parts = given.parts.map((part) => (typeof part === 'string' ? text(part) : part));
    return parts.every((part, index) => part === given.parts[index]) ? given : new Template(parts);
  };
  const value = sameType((given) => walked(given, true));
  const holds = (given: unknown): boolean => walked(given, false) !== given;

  /** @param about the address that the text is about, which a text may name */
  const told = (thing: unknown, about: string | undefined): unknown => {
    if (typeof thing === 'string')
      return about === undefined || !thing.includes(about)
        ? text(thing)
        : thing.split(about).map(text).join(about);
    if (Array.isArray(thing))
      return changedItems(thing as readonly unknown[], (item) => told(item, about));
    if (!isTree(thing)) return thing;
    const { address, path } = thing;
    const secret = typeof path === 'string' && path.split(/[./]/).some(isSecretName);
    const inner = typeof address === 'string' ? address : about;
    const shown = changedMembers(thing, (item, name) => {
      if (
        PLACES.has(name) ||
        (typeof item === 'string' && (WORDS.has(name) || (name === 'name' && 'origin' in thing)))
      )
        return item;
      if (VALUES.has(name)) return secret ? covered(item) : value(item);
      return told(item, inner);
    });
    return 'before_sensitive' in thing ? withMarks(thing, shown) : shown;
  };

  return {
    add: (secret) => void waiting.set(secret.source, secret),
    text,
    value,
    holds,
    said: sameType((thing) => told(thing, undefined)),
  };
}

/** A masked copy has the type of what was masked: texts become texts. */
const sameType = (mask: (given: unknown) => unknown) => {
  function masked<T>(given: T): T;
  function masked(given: unknown): unknown {
    return mask(given);
  }
  return masked;
};

type Tree = Readonly<Record<string, unknown>>;

/** A copy with each item that `change` makes another; the same list where it makes none. */
function changedItems(
  list: readonly unknown[],
  change: (item: unknown) => unknown,
): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (const [index, before] of list.entries()) {
    const after = change(before);
    if (after !== before) (copy ??= [...list])[index] = after;
  }
  return copy ?? list;
}

/** Likewise, with each member. */
function changedMembers(tree: Tree, change: (item: unknown, name: string) => unknown): Tree {
  let copy: Record<string, unknown> | undefined;
  for (const name in tree) {
    const before = tree[name];
    const after = change(before, name);
    if (after !== before) (copy ??= { ...tree })[name] = after;
  }
  return copy ?? tree;
}

/** Hides a value that is secret as a whole; a mask, a flag and nothing reveal nothing. */
function covered(item: unknown): unknown {
  if (Array.isArray(item) || isTree(item)) return Object.keys(item).length === 0 ? item : SENSITIVE;
  return item === '' ||
    isMask(item) ||
    !(typeof item === 'string' || typeof item === 'number' || item instanceof Template)
    ? item
    : SENSITIVE;
}

/** A change whose marks of what is sensitive tell what was masked, too. */
const withMarks = (before: Tree, after: Tree): Tree => ({
  ...after,
  before_sensitive: marks(before['before'], after['before'], before['before_sensitive']),
  after_sensitive: marks(before['after'], after['after'], before['after_sensitive']),
});

/** True, or by the names of members, where a value is another one than it was. A list is one value. */
function marks(was: unknown, is: unknown, known: unknown): unknown {
  if (was === is || known === true) return known;
  if (!isTree(was) || !isTree(is)) return true;
  const own = Object.keys(is).filter((name) => is[name] !== was[name]);
  return {
    ...(isTree(known) ? known : {}),
    ...recordFrom(own, (name) =>
      marks(was[name], is[name], isTree(known) ? known[name] : undefined),
    ),
  };
}
