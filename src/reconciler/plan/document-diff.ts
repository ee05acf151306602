// Documents of which a declaration holds a part: the declared part of the live document, its changes, the content of a
// write, and the check of the rest. Undeclared members are neither shown nor stored. A PUT replaces the document, so it
// contains the whole live one with the declared members merged in; a mask in it would overwrite the hidden value.
import {
  cached,
  keptMembers,
  Reference,
  Secret,
  Template,
  below,
  digest,
  documentOf,
  equal,
  equalUnescaped,
  isClear,
  isEmpty,
  isMask,
  isSecretName,
  isTree,
  masksIn,
  mergeOf,
  redact,
  redactAll,
  secretsIn,
  pathSteps,
  unescapeAll,
  type Attribute,
  type AttributeChange,
  type DocumentBase,
  type Json,
  type JsonObject,
  type Kind,
  type Value,
  type Values,
  isList,
  own,
  mapMembers,
  recordFrom,
} from '../../model/index.js';
import { declaredValueAt } from './resolve-references.js';

export const MASK = '*';
/** Stands for each member of a document that is cleared: they are not ours to show. */
const NOT_SHOWN = '(not shown)';

export const isMerged = (attribute: Attribute): boolean => attribute.wire === 'merge';

/** Names of a kind's documents of which a declaration holds a part. Asked of every object. */
export function mergedNames({ attributes }: Kind): readonly string[] {
  return cached(names, attributes, () =>
    Object.keys(attributes).filter(
      (name) => attributes[name]?.computed !== true && isMerged(attributes[name]!),
    ),
  );
}

const names = new WeakMap<Kind['attributes'], readonly string[]>();

/** Declared values with each document as `[object]` or `[object, paths]`, so that what is inside has one path, however it was written. */
export function spread(kind: Kind, declared: Values): Values {
  const alone = mergedNames(kind).filter((name) => isTree(declared[name]));
  return alone.length === 0
    ? declared
    : { ...declared, ...recordFrom(alone, (name) => [declared[name]!]) };
}

/** Live values with no more of each document than `declared` holds, and nothing of what is masked in `prior`. */
export function declaredPart(
  kind: Kind,
  declared: Values,
  live: Values,
  prior: Values = {},
): Values {
  const merged = mergedNames(kind).filter((name) => Object.hasOwn(live, name));
  if (merged.length === 0) return live;
  return {
    ...live,
    ...recordFrom(merged, (name) =>
      declared[name] === undefined
        ? null
        : comparedDocument(declared[name], live[name], prior[name]),
    ),
  };
}

/** Of a reading, what a write names of each document, so that two readings compare. Not `_id_`, which a PATCH names without being declared. */
export const namedPart = (kind: Kind, fields: Values, live: Values, prior: Values): Values =>
  mergedNames(kind).length === 0
    ? live
    : declaredPart(kind, mapMembers(fields, withoutIds), live, prior);

function withoutIds(value: Value): Value {
  if (Array.isArray(value)) return (value as readonly Value[]).map(withoutIds);
  if (!isTree(value)) return value;
  const kept = Object.entries(value).filter(([name]) => name !== '_id_');
  return Object.fromEntries(kept.map(([name, item]) => [name, withoutIds(item)]));
}

/**
 * The live document as far as a declaration holds it: the members it names, and the removed paths where it lists them.
 * Where a secret is declared, or was applied, a mask, whatever the service shows.
 */
export function comparedDocument(declared: Value, live: Value | undefined, prior?: Value): Value {
  if (isSameReference(declared, live)) return declared;
  const wanted = mergeOf(declared);
  const { tree, removed = [] } = mergeOf(live);
  if (isClear(declared)) return documentOf({ tree: mapMembers(tree, () => NOT_SHOWN), removed });
  const before = mergeOf(prior).tree;
  const shown = masksIn(before).length === 0 ? tree : picked([before], tree, true);
  return documentOf({
    tree: treeIn(picked([wanted.tree], shown, false)),
    removed: wanted.removed && removed,
  });
}

/** The whole document is taken from an object that is not known, on both sides. */
const isSameReference = (declared: Value, live: Value | undefined): boolean =>
  isReference(declared) && equal(declared, live);

const isReference = (value: Value): boolean =>
  value instanceof Reference || value instanceof Template;

/** `whole`: inside a list, which is one value. Its items move: what is secret in one of them is secret in each, unless as many are masked. */
function picked(wanted: readonly Value[], live: Value, whole: boolean): Value {
  if (wanted.some(isHidden)) return isEmpty(live) ? live : MASK;
  if (Array.isArray(live)) {
    const masks = live.filter(isMask).length;
    const items = wanted.flatMap((one) => {
      if (!Array.isArray(one)) return [];
      const clear = (one as readonly Value[]).filter((item) => !isHidden(item));
      return one.length - clear.length > masks ? (one as readonly Value[]) : clear;
    });
    return (live as readonly Value[]).map((item) => picked(items, item, true));
  }
  const trees = wanted.filter((one) => isTree(one));
  if (trees.length === 0 || !isTree(live)) return live;
  const members = (name: string): readonly Value[] =>
    trees.flatMap((tree) => (Object.hasOwn(tree, name) ? [tree[name]!] : []));
  const names = Object.keys(live).filter((name) => whole || members(name).length > 0);
  return Object.fromEntries(names.map((name) => [name, picked(members(name), live[name]!, whole)]));
}

const isHidden = (value: Value): boolean => value instanceof Secret || isMask(value);

/** A value as declared, as live, and as last applied. */
export interface ComparedValue {
  readonly wanted: Value;
  readonly live: Value | undefined;
  readonly prior: Value | undefined;
}

/** One document compared; `resend` tells whether the secret at a path has to be sent. */
export interface Merging extends ComparedValue {
  readonly path: string;
  /** What is declared, with the recorded ids of objects that are gone. Default: `wanted`. */
  readonly recorded?: Value;
  readonly resend: (path: string) => boolean;
}

/** Every declared member that is not live, every member declared null that is, and the list of removed paths where it differs: by dotted path, lists as one value. */
export function mergeChanges({
  path,
  wanted,
  recorded = wanted,
  live,
  prior,
  resend,
}: Merging): readonly AttributeChange[] {
  const changes = (
    declared: Value,
    seen: Value | undefined,
    sends: (secret: string) => boolean = () => false,
  ): readonly Omit<AttributeChange, 'drifted'>[] => {
    const now = mergeOf(comparedDocument(declared, seen));
    const { tree, removed } = mergeOf(declared);
    const after = isClear(declared)
      ? {}
      : treeIn(
          over(
            { resend: sends },
            { wanted: tree, live: now.tree, prior: mergeOf(prior).tree },
            `${path}.0`,
          ),
        );
    const listed =
      removed !== undefined && !samePaths(removed, now.removed ?? [])
        ? [{ path: `${path}.1`, before: now.removed, after: removed }]
        : [];
    return [...between(`${path}.0`, now.tree, after), ...listed];
  };
  if (isSameReference(wanted, live)) return [];
  if (isReference(wanted)) return [{ path, before: undefined, after: wanted, drifted: false }];
  const pathsOf = (declared: Value, seen: Value | undefined): ReadonlySet<string> =>
    new Set(changes(declared, seen).map((change) => change.path));
  const outside = prior === undefined ? undefined : pathsOf(prior, live);
  const here = prior === undefined ? undefined : pathsOf(recorded, prior);
  const applied = { [path]: documentOf(mergeOf(prior)) };
  return changes(wanted, live, resend).map((change) => {
    const held = declaredValueAt(applied, change.path);
    return {
      ...change,
      ...changedWhere({
        // A document that was cleared had no member.
        outside: held === undefined && !isClear(prior) ? undefined : outside?.has(change.path),
        here: here?.has(change.path) === true,
      }),
    };
  });
}

/** Where a value changed: outside of trueup, and in the declaration. */
export const changedWhere = ({
  outside,
  here,
}: {
  readonly outside: boolean | undefined;
  readonly here: boolean;
}): Pick<AttributeChange, 'drifted' | 'edited'> => ({
  drifted: outside,
  ...(outside === here && { edited: here }),
});

/** True if only secrets differ, which cannot be read back. A document shows whether it contains one. */
export function differsInSecretsAlone(
  { attributes }: Kind,
  { path, before, after }: AttributeChange,
): boolean {
  const attribute = attributes[path.split('.', 1)[0]!];
  if (attribute === undefined || !isMerged(attribute)) return after instanceof Secret;
  return holdsOtherSecrets({ before, after });
}

/** True if the value of a document is the live one but for secrets, of which the live ones are masked. */
export const holdsOtherSecrets = ({
  before,
  after,
}: Pick<AttributeChange, 'before' | 'after'>): boolean =>
  after !== undefined &&
  secretsIn(after).size > 0 &&
  equalUnescaped(
    redact(after, () => MASK),
    before,
  );

/** The paths are a set: their order says nothing. */
export function samePaths(some: readonly Value[], others: readonly Value[]): boolean {
  const [one, other] = [pathKeys(some), pathKeys(others)];
  return one.size === other.size && [...one].every((key) => other.has(key));
}

export const pathKey = (path: Value): string => JSON.stringify(pathSteps(path));

const pathKeys = (paths: readonly Value[] = []): ReadonlySet<string> => new Set(paths.map(pathKey));

/** Declared members over live ones; a member that means the same stays as it is live, one declared null goes. */
function over(
  run: Pick<Merging, 'resend'>,
  { wanted, live, prior }: ComparedValue,
  path: string,
): Value | undefined {
  if (wanted === null) return undefined;
  if (holdsNothing(wanted) && isEmpty(live)) return live;
  if (isTree(wanted) && !isMask(live)) {
    const now: Values = isTree(live) ? live : {};
    const items = new Map(Object.entries(now));
    for (const [name, item] of Object.entries(wanted)) {
      const before = isTree(prior) ? own<Value>(prior, name) : undefined;
      const inner = { wanted: item, live: own<Value>(now, name), prior: before };
      const after = over(run, inner, below(path, name));
      if (after === undefined) items.delete(name);
      else items.set(name, after);
    }
    return Object.fromEntries(items);
  }
  return !wasSecret(wanted, live, prior) && isAlike(run, wanted, live, path) ? live : wanted;
}

/** True if a value is masked only because a secret was applied there, and its declaration has changed since. */
function wasSecret(wanted: Value, live: Value | undefined, prior: Value | undefined): boolean {
  if (prior === undefined || live === undefined || masksIn(live).length === 0) return false;
  return !equal(
    prior,
    redact(wanted, () => MASK),
  );
}

const treeIn = (value: Value | undefined): Values => (isTree(value) ? value : {});

/** True if a declared value contains nothing but members declared null. */
export const holdsNothing = (value: Value): boolean =>
  isEmpty(value) || (isTree(value) && Object.values(value).every(holdsNothing));

/** Whether two values mean the same, lists whole. A mask stands for any value but none. */
export function isAlike(
  run: Pick<Merging, 'resend'>,
  wanted: Value | undefined,
  live: Value | undefined,
  path: string,
): boolean {
  if (wanted instanceof Secret) return !isEmpty(live) && !run.resend(path);
  if (isMask(wanted)) return !isEmpty(live);
  if (isMask(live) || (isEmpty(wanted) && isEmpty(live))) return true;
  if (Array.isArray(wanted) || isTree(wanted)) {
    if (Array.isArray(wanted) !== Array.isArray(live) || !(Array.isArray(live) || isTree(live)))
      return false;
    const members = Object.entries<Value>(wanted);
    return (
      members.length === Object.keys(live).length &&
      members.every(
        ([step, item]) =>
          Object.hasOwn(live, step) &&
          isAlike(run, item, own<Value>(live, step), below(path, step)),
      )
    );
  }
  return equalUnescaped(wanted, live);
}

/** Differences of two trees, as deep as dotted paths can name them. */
function between(
  path: string,
  before: Value | undefined,
  after: Value | undefined,
): readonly Omit<AttributeChange, 'drifted'>[] {
  if (before === after || (isEmpty(before) && isEmpty(after))) return [];
  if (isTree(before) && isTree(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const inside = names.flatMap((name) =>
      between(`${path}.${name}`, own<Value>(before, name), own<Value>(after, name)),
    );
    if (inside.length === 0 || !names.some((name) => name.includes('.'))) return inside;
  } else if (!(after instanceof Secret) && equal(before, after)) return [];
  return [{ path, before, after }];
}

/** Dotted paths of declared literals, objects and lists where the live value is a mask: nobody can compare the two. The items of a list move: they are one place for what is not live as it is declared. */
export function literalsAtMasks(kind: Kind, declared: Values, live: Values): readonly string[] {
  return mergedNames(kind).flatMap((name) =>
    Object.hasOwn(declared, name)
      ? literals(mergeOf(declared[name]).tree, [mergeOf(live[name]).tree], `${name}.0`)
      : [],
  );
}

function literals(
  declared: Value,
  live: readonly (Value | undefined)[],
  path: string,
): readonly string[] {
  if (declared === null || isHidden(declared)) return [];
  if (!Array.isArray(declared) && !isTree(declared)) return live.some(isMask) ? [path] : [];
  const places = live.map((one) =>
    Array.isArray(declared) && Array.isArray(one) ? placesIn(one, declared) : undefined,
  );
  const inside = Object.entries<Value>(declared).flatMap(([name, item]) => {
    const members = live.flatMap((one, index): readonly (Value | undefined)[] => {
      if (isMask(one)) return [one];
      if (Array.isArray(declared)) return places[index]?.(Number(name)) ?? [];
      return isTree(one) && Object.hasOwn(one, name) ? [one[name]] : [];
    });
    return literals(item, members, below(path, name));
  });
  return inside.length === 0 && live.length > 0 && live.every(isMask) ? [path] : inside;
}

/** The items of a live list that may stand for a declared one: none where it is live as it is declared. A mask or a plain value stands for one alone. */
function placesIn(
  live: readonly Value[],
  declared: readonly Value[],
): (index: number) => readonly (Value | undefined)[] {
  if (masksIn(live).length === 0) return () => [];
  const left = [...live];
  const found = declared.map((item) => {
    const shown = redact(item, () => MASK);
    const at = left.findIndex((one) => (isMask(shown) ? isMask(one) : equalUnescaped(shown, one)));
    return at >= 0 && left.splice(at, 1).length > 0;
  });
  left.push(...live.filter((one) => typeof one === 'object'));
  return (index) =>
    found[index] ? [] : [...left, ...(live.length === declared.length ? [live[index]] : [])];
}

/** Version and digest of the live document that a request was planned from. */
export function baseOf(kind: Kind, fields: Values, live: Values): DocumentBase | undefined {
  const name = mergedNames(kind).find((one) => Object.hasOwn(fields, one));
  if (name === undefined) return undefined;
  const version = kind.version === undefined ? undefined : live[kind.version];
  return {
    version_number: typeof version === 'number' ? version : null,
    sha256: digest(redact(live[name] ?? null)),
  };
}

/** A document after a write: dotted paths of members that are gone or altered, and of members that were not sent. */
export interface Aftermath {
  readonly lost: readonly string[];
  readonly added: readonly string[];
}

/** Compares what a write leaves behind, by `sent` (the whole document), with what is live afterwards. */
export function aftermath(path: string, sent: Value, live: Value | undefined): Aftermath {
  const [expected, now] = [mergeOf(sent), mergeOf(live)];
  const [wanted, there] = [pathKeys(expected.removed), pathKeys(now.removed)];
  const tree = compared(expected.tree, now.tree, `${path}.0`);
  return {
    lost: [...tree.lost, ...([...wanted].some((key) => !there.has(key)) ? [`${path}.1`] : [])],
    added: [...tree.added, ...([...there].some((key) => !wanted.has(key)) ? [`${path}.1`] : [])],
  };
}

function compared(expected: Values, live: Values, path: string): Aftermath {
  const found = Object.entries(expected).map(([name, item]): Aftermath => {
    const [now, at] = [own<Value>(live, name), below(path, name)];
    if (isTree(item) && isTree(now)) return compared(item, now, at);
    const isKept = isAlike({ resend: () => false }, item, now, at) && !isEscapedAgain(item, now);
    return { lost: isKept ? [] : [at], added: [] };
  });
  const strange = Object.keys(live).filter(
    (name) => !Object.hasOwn(expected, name) && !isEmpty(live[name]),
  );
  return {
    lost: found.flatMap(({ lost }) => lost),
    added: [...found.flatMap(({ added }) => added), ...strange.map((name) => below(path, name))],
  };
}

/** True if strings that were read HTML-escaped, and sent back unchanged, are now escaped twice. */
function isEscapedAgain(sent: Value, now: Value | undefined): boolean {
  if (now === undefined || sent instanceof Secret || equal(sent, now)) return false;
  return equal(sent, unescapeAll(now)) && !equal(sent, unescapeAll(sent));
}

/**
 * Declared values as the state and the journal hold them: where a document has a secret, a mask, so that a list keeps its form. Literals
 * under names of secrets are left out, and lists that hold one, and as a whole documents that are compared as a whole.
 */
export function applied(kind: Kind, declared: Values): JsonObject {
  const values = spread(kind, declared);
  const documents = mergedNames(kind).filter((name) => Object.hasOwn(values, name));
  const stored = (value: Value): Json =>
    redact(isList(value) && isTree(value[0]) ? withoutLiteralSecrets(value) : value, () => MASK);
  return {
    ...redactAll(storable(kind, values)),
    ...recordFrom(documents, (name) => stored(values[name]!)),
  };
}

/** Values without documents that are compared as a whole and hold a literal under the name of a secret. */
export const storable = ({ attributes }: Kind, values: Values): Values =>
  keptMembers(
    values,
    (value, name) =>
      attributes[name]?.word !== 'document' || isMerged(attributes[name]) || !holdsLiteral(value),
  );

const isLiteral = (name: string, value: Value): boolean =>
  isSecretName(name) &&
  !isEmpty(value) &&
  !isTree(value) &&
  !(value instanceof Secret) &&
  !isMask(value);

const holdsLiteral = (value: Value): boolean =>
  (Array.isArray(value) || isTree(value)) &&
  Object.entries<Value>(value).some(([name, item]) => isLiteral(name, item) || holdsLiteral(item));

/** Whether a value at a dotted path is, and holds, no literal under the name of a secret. */
export const isStorable = (path: string, value: Value): boolean =>
  !path.split('.').some((name) => isLiteral(name, value)) && !holdsLiteral(value);

function withoutLiteralSecrets([tree, ...more]: readonly Value[]): readonly Value[] {
  const kept = (values: Values): Values =>
    Object.fromEntries(
      Object.entries(values).flatMap(([name, item]): [string, Value][] =>
        isLiteral(name, item) || (Array.isArray(item) && holdsLiteral(item))
          ? []
          : [[name, isTree(item) ? kept(item) : item]],
      ),
    );
  return [kept(treeIn(tree)), ...more];
}

/** Whether what was sent is live. A secret cannot be seen: something has to be there. */
export function isDocumentApplied(sent: Value, live: Value | undefined): boolean {
  return (
    mergeChanges({ path: '', wanted: sent, live, prior: undefined, resend: () => false }).length ===
    0
  );
}
