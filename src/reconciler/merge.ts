// Documents that are merged into the live one: what of the live one is ours, what a declaration changes in it, and
// what is sent. Members nobody declared are never looked at, shown or sent; a mask is neither a difference nor sent.
import {
  Reference,
  Secret,
  Template,
  below,
  equal,
  equalUnescaped,
  isEmpty,
  isMask,
  isTree,
  masksIn,
  memberAt,
  mergeOf,
  redact,
  redactAll,
  secretsIn,
  stepsOf,
  unmasked,
  writables,
  type Attribute,
  type AttributeChange,
  type JsonObject,
  type Kind,
  type Merge,
  type Value,
  type Values,
} from '../model/index.js';

const MASK = '*';

export const isMerged = (attribute: Attribute): boolean => attribute.wire === 'merge';

/** Names of a kind's merged documents. Asked of every object. */
function mergedNames({ attributes }: Kind): readonly string[] {
  const known = names.get(attributes) ?? Object.keys(attributes).filter((name) => attributes[name]?.computed !== true && isMerged(attributes[name] as Attribute));
  names.set(attributes, known);
  return known;
}

const names = new WeakMap<Kind['attributes'], readonly string[]>();

/** Declared values with each merged document as `[object, paths]`, so that what is inside has one path, however it was written. */
export function spread(kind: Kind, declared: Values): Values {
  const alone = mergedNames(kind).filter((name) => isTree(declared[name]));
  return alone.length === 0 ? declared : { ...declared, ...Object.fromEntries(alone.map((name) => [name, [declared[name] as Value, []]])) };
}

/** Live values with no more of each merged document than `declared` speaks of, and nothing of what is masked in `prior`. */
export function ours(kind: Kind, declared: Values, live: Values, prior: Values = {}): Values {
  const merged = mergedNames(kind).filter((name) => Object.hasOwn(live, name));
  if (merged.length === 0) return live;
  return { ...live, ...Object.fromEntries(merged.map((name) => [name, declared[name] === undefined ? null : seen(declared[name], live[name], prior[name])])) };
}

/** The live members that a document declares or takes out. Where a secret is declared, or was applied, a mask, whatever the service shows. */
export function seen(declared: Value, live: Value | undefined, prior?: Value): Values {
  const wanted = mergeOf(declared);
  const [tree, before] = [mergeOf(live).tree, mergeOf(prior).tree];
  return members(wanted, masksIn(before).length === 0 ? tree : (picked([before], tree, true) as Values));
}

function members(wanted: Merge, tree: Values): Values {
  return wanted.removed.map(stepsOf).reduce(
    (known, steps) => {
      const member = memberAt(tree, steps);
      return member === undefined ? known : placed(known, steps, member);
    },
    picked([wanted.tree], tree, false) as Values,
  );
}

/** `whole`: inside a list, which is one value. Its items move: what is secret in one of them is secret in each. */
function picked(wanted: readonly Value[], live: Value, whole: boolean): Value {
  if (wanted.some((one) => one instanceof Secret || isMask(one))) return isEmpty(live) ? live : MASK;
  if (Array.isArray(live)) {
    const items = wanted.flatMap((one) => (Array.isArray(one) ? (one as readonly Value[]) : []));
    return (live as readonly Value[]).map((item) => picked(items, item, true));
  }
  const trees = wanted.filter(isTree);
  if (trees.length === 0 || !isTree(live)) return live;
  const members = (name: string): readonly Value[] => trees.flatMap((tree) => (Object.hasOwn(tree, name) ? [tree[name] as Value] : []));
  const names = Object.keys(live).filter((name) => whole || members(name).length > 0);
  return Object.fromEntries(names.map((name) => [name, picked(members(name), live[name] as Value, whole)]));
}

function placed(tree: Values, [step = '', ...rest]: readonly string[], value: Value): Values {
  const inner = Object.hasOwn(tree, step) ? tree[step] : undefined;
  return { ...tree, [step]: rest.length === 0 ? value : placed(isTree(inner) ? inner : {}, rest, value) };
}

/** One document compared: what it declares, what is live, what was last applied; `resend` tells whether the secret at a path has to be sent. */
export interface Merging {
  readonly path: string;
  readonly wanted: Value;
  readonly live: Value | undefined;
  readonly prior: Value | undefined;
  readonly resend: (path: string) => boolean;
}

/** Every declared member that is not live, and every path that is live and should not be: by dotted path, lists as one value. */
export function mergeChanges({ path, wanted, live, prior, resend }: Merging): readonly AttributeChange[] {
  const changes = (declared: Value, applied: Value | undefined, sends: (secret: string) => boolean): readonly Omit<AttributeChange, 'drifted'>[] => {
    const now = seen(declared, live);
    const { tree, removed } = mergeOf(declared);
    const merged = over({ resend: sends }, tree, now, mergeOf(applied).tree, `${path}.0`) as Values;
    return [...between(path, now, removed.map(stepsOf).reduce(without, merged))];
  };
  if (wanted instanceof Reference || wanted instanceof Template) return [{ path, before: undefined, after: wanted, drifted: false }];
  const outside = new Set(prior === undefined ? [] : changes(prior, prior, () => false).map((change) => change.path));
  return changes(wanted, prior, resend).map((change) => ({ ...change, drifted: outside.has(change.path) }));
}

/** Declared members over live ones; a member that means the same stays as it is live. */
function over(run: Pick<Merging, 'resend'>, wanted: Value, live: Value | undefined, prior: Value | undefined, path: string): Value {
  if (isTree(wanted) && !isMask(live) && !(isEmpty(wanted) && isEmpty(live))) {
    const now: Values = isTree(live) ? live : {};
    const items = Object.entries(wanted).flatMap(([name, item]): [string, Value][] => {
      const before = Object.hasOwn(now, name) ? now[name] : undefined;
      const after = over(run, item, before, isTree(prior) && Object.hasOwn(prior, name) ? prior[name] : undefined, below(path, name));
      return after === undefined ? [] : [[name, after]];
    });
    return { ...now, ...Object.fromEntries(items) };
  }
  const restated =
    prior !== undefined &&
    live !== undefined &&
    masksIn(live).length > 0 &&
    !equal(
      prior,
      redact(wanted, () => MASK),
    );
  return !restated && alike(run, wanted, live, path) ? (live as Value) : wanted;
}

/** Whether two values mean the same, lists whole. A mask stands for any value but none. */
function alike(run: Pick<Merging, 'resend'>, wanted: Value | undefined, live: Value | undefined, path: string): boolean {
  if (wanted instanceof Secret) return !isEmpty(live) && !run.resend(path);
  if (isMask(wanted)) return !isEmpty(live);
  if (isMask(live) || (isEmpty(wanted) && isEmpty(live))) return true;
  if (Array.isArray(wanted) || isTree(wanted)) {
    if (Array.isArray(wanted) !== Array.isArray(live) || !(Array.isArray(live) || isTree(live))) return false;
    const [members, theirs] = [Object.entries(wanted as Values), live as Values];
    return members.length === Object.keys(theirs).length && members.every(([step, item]) => Object.hasOwn(theirs, step) && alike(run, item, theirs[step], below(path, step)));
  }
  return equalUnescaped(wanted, live);
}

function without(tree: Values, [step = '', ...rest]: readonly string[]): Values {
  if (!Object.hasOwn(tree, step)) return tree;
  const { [step]: inner, ...others } = tree;
  if (rest.length === 0) return others;
  return isTree(inner) ? { ...tree, [step]: without(inner, rest) } : tree;
}

/** Dotted paths of the masks that a change would have to send: what stands behind them is not known, so it never arrives. */
export function unsendable({ path, before, after }: Pick<AttributeChange, 'path' | 'before' | 'after'>): readonly string[] {
  if (isTree(after)) {
    const now: Values = isTree(before) ? before : {};
    return Object.entries(after).flatMap(([name, item]) => unsendable({ path: below(path, name), before: Object.hasOwn(now, name) ? now[name] : undefined, after: item }));
  }
  return after === undefined || equal(before, after) ? [] : masksIn(after, path);
}

/** Differences of two trees, as deep as dotted paths can name them. */
function* between(path: string, before: Value | undefined, after: Value | undefined): Generator<Omit<AttributeChange, 'drifted'>> {
  if (before === after || (isEmpty(before) && isEmpty(after))) return;
  if (isTree(before) && isTree(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    if (!names.some((name) => name.includes('.'))) {
      for (const name of names) yield* between(`${path}.${name}`, Object.hasOwn(before, name) ? before[name] : undefined, Object.hasOwn(after, name) ? after[name] : undefined);
      return;
    }
  }
  if (!(after instanceof Secret) && equal(before, after)) return;
  yield { path, before, after };
}

/** What a PUT sends: everything declared but masks and unchanged secrets that are not at hand, and the paths that are live. */
export function mergeSent({ path, wanted, live }: Pick<Merging, 'path' | 'wanted' | 'live'>, atHand: (path: string) => boolean): Value {
  if (wanted instanceof Reference || wanted instanceof Template) return wanted;
  const { tree, removed } = mergeOf(wanted);
  const now = mergeOf(live).tree;
  const known = withoutLost(unmasked(tree), now, `${path}.0`, atHand);
  return [known, removed.filter((path) => memberAt(now, stepsOf(path)) !== undefined)];
}

function withoutLost(tree: Values, live: Value | undefined, path: string, atHand: (path: string) => boolean): Values {
  const members = Object.entries(tree).flatMap(([name, item]): [string, Value][] => {
    const at = below(path, name);
    const now = isTree(live) && Object.hasOwn(live, name) ? live[name] : undefined;
    if (isTree(item)) return [[name, withoutLost(item, now, at, atHand)]];
    const lost = [...secretsIn(item, at).keys()].some((secret) => !atHand(secret));
    return lost && alike({ resend: () => false }, item, now, at) ? [] : [[name, item]];
  });
  return Object.fromEntries(members);
}

/** Declared values as the state holds them: where a document has a secret, a mask, so that a list keeps its form. */
export function applied(kind: Kind, declared: Values): JsonObject {
  const documents = writables(kind).filter(([name, attribute]) => isMerged(attribute) && Object.hasOwn(declared, name));
  return { ...redactAll(declared), ...Object.fromEntries(documents.map(([name]) => [name, redact(declared[name] as Value, () => MASK)])) };
}

/** Whether what was sent is live. A secret cannot be seen: something has to be there. */
export function merged(sent: Value, live: Value | undefined): boolean {
  return mergeChanges({ path: '', wanted: sent, live, prior: undefined, resend: () => false }).length === 0;
}
