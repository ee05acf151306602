// The one diff: declared against live, with what was last applied as the third witness. Only declared attributes
// count; what is compared is in normal form, so spellings and server fields never make a difference.
// Ignoring is a rewrite of desire (`ignoring`), never an `if` in the differ.
import { isKnown, isTree, same, Secret, writables, type Attribute, type AttributeChange, type JsonObject, type Kind, type Live, type Value, type Values } from '../model/index.js';
import { isMerged, merged, mergeChanges, mergeSent } from './merge.js';

/** Whether a declared secret is the one that was last sent; `unknown` where none was sent by us, `unavailable` where its value is not at hand. */
export type SecretVerdict = 'same' | 'changed' | 'unknown' | 'unavailable';

export interface Comparison {
  readonly kind: Kind;
  readonly declared: Values;
  readonly live: Live;
  /** What was last applied; absent for an object that is not recorded. */
  readonly applied?: JsonObject | undefined;
  readonly secret: (path: string) => SecretVerdict;
}

/** Every declared attribute that differs from what is live, by dotted path. */
export function diff({ kind, declared, live, applied, secret }: Comparison): readonly AttributeChange[] {
  const changes: AttributeChange[] = [];
  const compare = (attribute: Attribute, path: string, wanted: Value, now: Value | undefined, prior: Value | undefined): void => {
    if (attribute.secret) {
      const verdict = secret(path);
      if (verdict === 'changed' || verdict === 'unknown') changes.push({ path, before: undefined, after: wanted, drifted: false });
    } else if (isMerged(attribute)) {
      changes.push(...mergeChanges({ path, wanted, live: now, prior, resend: (at) => ['changed', 'unknown'].includes(secret(at)) }));
    } else if (attribute.word === 'object' && isTree(wanted)) {
      for (const [name, inner] of Object.entries(attribute.attributes))
        if (Object.hasOwn(wanted, name)) compare(inner, `${path}.${name}`, wanted[name] as Value, member(now, name), member(prior, name));
    } else if (!same(attribute, wanted, now)) {
      changes.push({ path, before: now, after: wanted, drifted: prior !== undefined && !same(attribute, prior, now) });
    }
  };
  for (const [name, attribute] of writables(kind)) if (Object.hasOwn(declared, name)) compare(attribute, name, declared[name] as Value, live.values[name], applied?.[name]);
  return changes;
}

const member = (value: Value | undefined, name: string): Value | undefined => (isTree(value) ? value[name] : undefined);

/** What changed outside: every attribute that was last applied and is not live any more; `before` is what was applied. */
export function driftOf(kind: Kind, applied: JsonObject, live: Live): readonly AttributeChange[] {
  return diff({ kind, declared: applied, live, applied, secret: () => 'same' }).map(({ path, before, after }) => ({ path, before: after, after: before, drifted: true }));
}

/** Values without the attributes (by dotted path) that `lifecycle.ignore_changes` names. */
export function ignoring<T extends Values | JsonObject>(values: T, paths: readonly string[]): T {
  if (paths.length === 0) return values;
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    if (paths.includes(name)) continue;
    const inner = paths.filter((path) => path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1));
    out[name] = isTree(value) ? ignoring(value as Values, inner) : value;
  }
  return out as T;
}

/** Whether the value of the secret at a path is here. */
type AtHand = (path: string) => boolean;

/** What an update sends. */
export function sentFields(kind: Kind, declared: Values, live: Live, changes: readonly AttributeChange[], atHand: AtHand = () => true): Values {
  return kind.operations.update === 'PUT' ? allFields(kind, declared, live, atHand) : changedFields(kind, declared, live, changes, atHand);
}

/** Attributes a PATCH sends: those that change, each whole, with what other hands keep inside them. */
function changedFields(kind: Kind, declared: Values, live: Live, changes: readonly AttributeChange[], atHand: AtHand): Values {
  const names = new Set(changes.map((change) => change.path.split('.', 1)[0] as string));
  return Object.fromEntries([...names].map((name) => [name, laidOver(name, kind.attributes[name] as Attribute, declared[name] as Value, live.values[name], atHand)]));
}

/** Attributes a PUT sends: every one that can change, so that a server that replaces and one that merges give the same. */
function allFields(kind: Kind, declared: Values, live: Live, atHand: AtHand): Values {
  const out: Record<string, Value> = {};
  for (const [name, attribute] of writables(kind)) {
    if (attribute.immutable) continue;
    const now = live.values[name];
    if (Object.hasOwn(declared, name)) out[name] = laidOver(name, attribute, declared[name] as Value, now, atHand);
    else if (now !== undefined && now !== null && !attribute.only_declared) out[name] = now;
  }
  return out;
}

/** Declared members over live ones: members nobody declared keep their value. */
function laidOver(path: string, attribute: Attribute, declared: Value, live: Value | undefined, atHand: AtHand): Value {
  if (isMerged(attribute)) return mergeSent({ path, wanted: declared, live }, atHand);
  return attribute.word === 'object' && isTree(declared) && isTree(live) ? { ...live, ...declared } : declared;
}

/** Whether everything that was written is live. Secrets cannot be seen and count as taken. */
export function taken(kind: Kind, fields: Values, live: Live): boolean {
  const holds = (attribute: Attribute, value: Value, now: Value | undefined): boolean => {
    if (attribute.secret || value instanceof Secret || !isKnown(value)) return true;
    if (isMerged(attribute)) return merged(value, now);
    if (attribute.word === 'object' && isTree(value))
      return Object.entries(attribute.attributes).every(([name, inner]) => !Object.hasOwn(value, name) || holds(inner, value[name] as Value, member(now, name)));
    return same(attribute, value, now);
  };
  return Object.entries(fields).every(([name, value]) => kind.attributes[name] === undefined || holds(kind.attributes[name], value, live.values[name]));
}
