// The only diff: declared against live, with the last applied values as the third side. Only declared attributes are
// compared, in normal form, so spellings and server fields are never differences. `ignoring` rewrites the declaration;
// the diff itself has no exception for ignored attributes.
import {
  equal,
  foldedText,
  isClear,
  isKnown,
  isTree,
  keptMembers,
  mapMembers,
  same,
  Secret,
  writables,
  type Attribute,
  type AttributeChange,
  type JsonObject,
  type Kind,
  type Live,
  type Value,
  type Values,
  type Write,
  isList,
} from '../../model/index.js';
import {
  changedWhere,
  type ComparedValue,
  isMerged,
  isDocumentApplied,
  mergeChanges,
  mergedNames,
} from './document-diff.js';
import { additions, membersToSend, wholeDocument } from './document-merge.js';

/** Compares a declared secret with the one last sent: `unknown` if trueup sent none, `unavailable` if its value cannot be read. */
export type SecretVerdict = 'same' | 'changed' | 'unknown' | 'unavailable';

export interface Comparison {
  readonly kind: Kind;
  readonly declared: Values;
  readonly live: Live;
  /** The values last applied; absent for an object that is not recorded. */
  readonly applied?: Values | undefined;
  readonly secret: (path: string) => SecretVerdict;
  /** A declared value in which references to what the state holds lead to the recorded objects, also to those that are gone. */
  readonly asRecorded?: (attribute: Attribute, value: Value, path: string) => Value;
}

/** Every declared attribute that differs from what is live, by dotted path. */
export function diff({
  kind,
  declared,
  live,
  applied,
  secret,
  asRecorded = (_, value) => value,
}: Comparison): readonly AttributeChange[] {
  const changes: AttributeChange[] = [];
  const compare = (
    attribute: Attribute,
    path: string,
    { wanted, live: now, prior }: ComparedValue,
  ): void => {
    if (attribute.secret) {
      const verdict = secret(path);
      if (verdict === 'changed' || verdict === 'unknown')
        changes.push({ path, before: undefined, after: wanted, drifted: false });
    } else if (isMerged(attribute)) {
      changes.push(
        ...mergeChanges({
          path,
          wanted,
          recorded: asRecorded(attribute, wanted, path),
          live: now,
          prior,
          resend: (at) => ['changed', 'unknown'].includes(secret(at)),
        }),
      );
    } else if (attribute.word === 'object' && isTree(wanted)) {
      for (const [name, inner] of Object.entries(attribute.attributes))
        if (Object.hasOwn(wanted, name))
          compare(inner, `${path}.${name}`, {
            wanted: wanted[name]!,
            live: member(now, name),
            prior: member(prior, name),
          });
    } else if (!same(attribute, wanted, now)) {
      changes.push({
        path,
        before: now,
        after: wanted,
        ...changedWhere({
          outside: prior === undefined ? undefined : !same(attribute, prior, now),
          here: prior !== undefined && !same(attribute, prior, asRecorded(attribute, wanted, path)),
        }),
      });
    }
  };
  for (const [name, attribute] of writables(kind))
    if (Object.hasOwn(declared, name))
      compare(attribute, name, {
        wanted: declared[name]!,
        live: live.values[name],
        prior: applied?.[name],
      });
  return changes;
}

const member = (value: Value | undefined, name: string): Value | undefined =>
  isTree(value) ? value[name] : undefined;

/** Changes outside of trueup: every attribute that was last applied and is not live any more; `before` is what was applied. */
export function driftOf(kind: Kind, applied: Values, live: Live): readonly AttributeChange[] {
  return diff({ kind, declared: applied, live, applied, secret: () => 'same' }).map(
    ({ path, before, after }) => ({ path, before: after, after: before, drifted: true }),
  );
}

/** Values without the attributes (by dotted path) that `lifecycle.ignore_changes` names. */
export function ignoring(values: JsonObject, paths: readonly string[]): JsonObject;
export function ignoring(values: Values, paths: readonly string[]): Values;
export function ignoring(values: Values, paths: readonly string[]): Values {
  if (paths.length === 0) return values;
  const kept = keptMembers(values, (_, name) => !paths.includes(name));
  return mapMembers(kept, (value, name) => {
    const inner = paths
      .filter((path) => path.startsWith(`${name}.`))
      .map((path) => path.slice(name.length + 1));
    if (isTree(value)) return ignoring(value, inner);
    return isDocument(value) && inner.length > 0 ? documentWithout(value, inner) : value;
  });
}

const isDocument = (value: Value): value is readonly Value[] => isList(value) && isTree(value[0]);

/** A document of two parts without what is ignored; a second part that is ignored is not managed. */
function documentWithout(
  [tree, ...more]: readonly Value[],
  paths: readonly string[],
): readonly Value[] {
  const inside = paths.filter((path) => path.startsWith('0.')).map((path) => path.slice(2));
  return [isTree(tree) ? ignoring(tree, inside) : tree!, ...(paths.includes('1') ? [] : more)];
}

/** The body of an update, and whether it is sent as a PATCH. */
export type ObjectUpdate = Pick<Write, 'fields' | 'kept' | 'patch'>;

/** Inputs of the update of one object. */
export interface Sending {
  readonly kind: Kind;
  readonly declared: Values;
  readonly live: Live;
  readonly changes: readonly AttributeChange[];
  /** True: PATCH adds to a document. False: PUT replaces it. */
  readonly patch?: boolean;
  /** True if a PATCH has to send the secret at a path. A PUT sends all declared values. */
  readonly resend?: (path: string) => boolean;
}

/** The fields of a create, with each document in the form that a PUT sends. */
export const createdFields = (kind: Kind, declared: Values): Values =>
  mapMembers(declared, (value, name) =>
    mergedNames(kind).includes(name) && (Array.isArray(value) || isTree(value))
      ? wholeDocument(value, undefined)
      : value,
  );

const never = (): boolean => false;

/** The body of an update; undefined where it would have to be a PATCH and something has to be taken out. */
export function updateOf(sending: Sending): ObjectUpdate | undefined {
  const { kind, declared, live, changes, resend = never } = sending;
  const names = new Set(changes.map((change) => change.path.split('.', 1)[0]!));
  const documents = mergedNames(kind).filter((name) => names.has(name));
  const patch =
    documents.length === 0
      ? kind.operations.patch !== undefined
      : sending.patch === true && !documents.some((name) => isClear(declared[name]));
  if (!patch && kind.operations.update === 'PUT') return allFields(kind, declared, live, names);
  const added = new Map(
    documents.map((path) => [
      path,
      patch
        ? additions({ path, wanted: declared[path]!, live: live.values[path], resend })
        : membersToSend(declared[path]!, live.values[path]),
    ]),
  );
  if ([...added.values()].includes(undefined)) return undefined;
  const kept: string[] = [];
  const fields = [...names].map((name): [string, Value] => [
    name,
    added.get(name) ??
      laidOver(kind.attributes[name]!, declared[name]!, live.values[name], (member) =>
        kept.push(`${name}.${member}`),
      ),
  ]);
  return {
    fields: Object.fromEntries(fields),
    ...(kept.length > 0 && { kept }),
    ...(patch && { patch }),
  };
}

/** Attributes a PUT sends: every one that can change, so that a server that replaces and one that merges give the same; of documents those that change. */
function allFields(
  kind: Kind,
  declared: Values,
  live: Live,
  changed: ReadonlySet<string>,
): ObjectUpdate {
  const fields: Record<string, Value> = {};
  const kept: string[] = [];
  for (const [name, attribute] of writables(kind)) {
    if (attribute.immutable || (isMerged(attribute) && !changed.has(name))) continue;
    const now = live.values[name];
    // Another spelling of the same stays as it is.
    if (Object.hasOwn(declared, name) && isRespelled(attribute, declared[name]!, now))
      fields[name] = now!;
    else if (Object.hasOwn(declared, name))
      fields[name] = isMerged(attribute)
        ? membersToSend(declared[name]!, now)
        : laidOver(attribute, declared[name]!, now, (member) => kept.push(`${name}.${member}`));
    else if (now !== undefined && now !== null && !attribute.only_declared) {
      fields[name] = now;
      kept.push(name);
    }
  }
  return { fields, ...(kept.length > 0 && { kept }) };
}

const isRespelled = (attribute: Attribute, declared: Value, live: Value | undefined): boolean =>
  attribute.word === 'text' &&
  typeof live === 'string' &&
  equal(foldedText(attribute, declared), foldedText(attribute, live));

/** Declared members over live ones: members nobody declared keep their value. @param keep called with the name of each of these */
function laidOver(
  attribute: Attribute,
  declared: Value,
  live: Value | undefined,
  keep: (member: string) => void = () => undefined,
): Value {
  if (attribute.word !== 'object' || !isTree(declared) || !isTree(live)) return declared;
  Object.keys(live)
    .filter((name) => !Object.hasOwn(declared, name))
    .forEach(keep);
  return { ...live, ...declared };
}

/** The attribute, and the member of it, whose name may hold dots. */
function splitAtDot(path: string): readonly [name: string, member?: string] {
  const dot = path.indexOf('.');
  return dot < 0 ? [path] : [path.slice(0, dot), path.slice(dot + 1)];
}

/** Fields with what nobody declared as it is live now. */
export function withKept(
  { fields, kept = [] }: Pick<Write, 'fields' | 'kept'>,
  live: Values,
): Values {
  const out: Record<string, Value> = { ...fields };
  for (const path of kept) {
    const [name, inner] = splitAtDot(path);
    const { [inner ?? '']: _, ...others } = isTree(out[name]) ? out[name] : {};
    const now = inner === undefined ? live[name] : member(live[name], inner);
    // An attribute that a reading leaves out is not known to be empty.
    if (inner === undefined) out[name] = now === undefined ? (fields[name] ?? null) : now;
    else out[name] = now === undefined ? others : { ...others, [inner]: now };
  }
  return out;
}

/** A live object as it is where everything that was applied is live. */
export const asApplied = (kind: Kind, applied: Values, live: Live): Live => ({
  ...live,
  values: {
    ...live.values,
    ...Object.fromEntries(
      writables(kind).flatMap(([name, attribute]) =>
        Object.hasOwn(applied, name)
          ? [[name, laidOver(attribute, applied[name]!, live.values[name])]]
          : [],
      ),
    ),
  },
});

/** True if every written value is live. Secrets cannot be read and count as applied. */
export function isApplied(kind: Kind, fields: Values, live: Live): boolean {
  const holds = (attribute: Attribute, value: Value, now: Value | undefined): boolean => {
    if (attribute.secret || value instanceof Secret || !isKnown(value)) return true;
    if (isMerged(attribute)) return isDocumentApplied(value, now);
    if (attribute.word === 'object' && isTree(value))
      return Object.entries(attribute.attributes).every(
        ([name, inner]) =>
          !Object.hasOwn(value, name) || holds(inner, value[name]!, member(now, name)),
      );
    return same(attribute, value, now);
  };
  return Object.entries(fields).every(
    ([name, value]) =>
      kind.attributes[name] === undefined || holds(kind.attributes[name], value, live.values[name]),
  );
}
