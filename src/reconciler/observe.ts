// What is live. Each needed collection is listed once, all of them beside one another; a recorded id that a
// listing lacks is looked for once more by itself, because a list that shifts while it is read can hide an object.
import {
  isEmpty,
  redactAll,
  refuse,
  sameTarget,
  type Attributes,
  type CloudReader,
  type Emit,
  type Entry,
  type Kind,
  type JsonObject,
  type Kinds,
  type Live,
  type State,
  type Value,
  type Values,
  isTree,
  walk,
} from '../model/index.js';

/** A kind's live objects, proven complete. */
export interface Collection {
  readonly kind: Kind;
  readonly byId: ReadonlyMap<string, Live>;
  /** As in `Listing`. */
  readonly skew?: number;
}

/** Everything that was read, by kind name. */
export type World = ReadonlyMap<string, Collection>;

/** More ids than this are looked for by a second listing instead of one by one. */
const LOOKS = 20;

export async function observe(cloud: CloudReader, kinds: Kinds, names: Iterable<string>, entries: readonly Entry[], emit: Emit): Promise<World> {
  const wanted = [...kinds.values()].filter((kind) => new Set(names).has(kind.name));
  const collections = await Promise.all(wanted.map((kind) => collect(cloud, kind, entries, emit)));
  return new Map(collections.map((collection) => [collection.kind.name, collection]));
}

async function collect(cloud: CloudReader, kind: Kind, entries: readonly Entry[], emit: Emit): Promise<Collection> {
  const listing = await cloud.list(kind);
  const byId = new Map<string, Live>();
  const secretive = [...walk(kind.attributes)].some(([, attribute]) => attribute.secret);
  const keep = (live: Live): unknown => byId.set(live.id, secretive ? { ...live, values: withoutSecrets(kind.attributes, live.values) } : live);
  listing.objects.forEach(keep);
  const missing = entries.filter((entry) => entry.kind === kind.name && !byId.has(entry.id)).map((entry) => entry.id);
  if (missing.length > 0) {
    const again = missing.length <= LOOKS || kind.operations.by_ids ? await cloud.find(kind, missing) : (await cloud.list(kind)).objects;
    again.forEach(keep);
  }
  emit({ type: 'reading', kind: kind.name, objects: byId.size, done: true });
  return { kind, byId, ...(listing.skew === undefined ? {} : { skew: listing.skew }) };
}

/** Even a server that answers a secret in clear must not get it into a plan or a state. */
export function withoutSecrets(attributes: Attributes, values: Values): Values {
  const out: Record<string, Value> = {};
  for (const [name, value] of Object.entries(values)) {
    const attribute = attributes[name];
    if (attribute?.secret) continue;
    out[name] = attribute?.word === 'object' && isTree(value) ? withoutSecrets(attribute.attributes, value) : value;
  }
  return out;
}

/** A live object as the state remembers it: without secrets, without what holds nothing, without free text of the service, and without documents in which others keep theirs. */
export function remembered(kind: Kind, values: Values): JsonObject {
  const seen = withoutSecrets(kind.attributes, values);
  const isKept = (name: string): boolean => kind.attributes[name]?.wire !== 'merge' && kind.attributes[name]?.unstored !== true;
  return redactAll(Object.fromEntries(Object.entries(seen).filter(([name, value]) => !isEmpty(value) && isKept(name))));
}

/** @throws Refusal where the state is about another cloud. */
export function checkTarget(state: State | undefined, target: string): void {
  if (!state || Object.keys(state.resources).length === 0 || sameTarget(state.target, target)) return;
  refuse('other-target', `The state is about ${state.target}, but ${target === '' ? 'no target is named' : `the target is ${target}`}.`, {
    detail: 'Point the environment at the target of the state, or name another state: settings.state, or --env for another environment.',
  });
}
