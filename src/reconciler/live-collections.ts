// The live objects. Each needed collection is listed, all at the same time; it is listed a second time only before a
// write that depends on an object being absent (`readAgain`), or if it lacks many recorded ids. A recorded id that a
// listing lacks is looked up a second time, because a listing that changes while it is read can miss an object. What
// both lack is `missing`: it counts as deleted, unless it was created recently (recent-writes.ts).
import {
  defined,
  equal,
  exits,
  isEmpty,
  keptMembers,
  redactAll,
  refuse,
  Refusal,
  sameTarget,
  targetAdvice,
  isTree,
  unescapeAll,
  walk,
  type Attributes,
  type CloudReader,
  type Diagnostic,
  type Emit,
  type Entry,
  type Kind,
  type JsonObject,
  type Kinds,
  type Live,
  type Observed,
  type State,
  type Value,
  type Values,
} from '../model/index.js';
import type { Clock } from '../platform/index.js';
import { storable } from './plan/document-diff.js';
import type { Visibility } from './recent-writes.js';

export interface LiveCollection extends Observed {
  /** As in `Listing`. */
  readonly skew?: number;
  readonly pages?: number;
  /** Recorded ids that it does not show: gone, or not visible just now. */
  readonly missing?: ReadonlySet<string>;
  /** When its reading began, in milliseconds since the start of the machine. */
  readonly read_at?: number;
}

/** Everything that was read, by kind name. */
export type LiveCollections = ReadonlyMap<string, LiveCollection>;

export interface Observing {
  readonly cloud: CloudReader;
  /** Absent: nobody asks how old the reading is. */
  readonly clock?: Pick<Clock, 'boot'>;
  readonly kinds: Kinds;
  readonly emit: Emit;
  /** Recorded objects: what a listing lacks of them is looked for once more. */
  readonly entries: readonly Entry[];
  readonly visibility: Visibility;
}

export async function observe(
  observing: Observing,
  names: Iterable<string>,
): Promise<LiveCollections> {
  const asked = new Set(names);
  const wanted = [...observing.kinds.values()].filter(({ name }) => asked.has(name));
  const collections = await Promise.all(wanted.map((kind) => collect(observing, kind)));
  return new Map(collections.map((collection) => [collection.kind.name, collection]));
}

async function collect(
  { cloud, clock, entries, emit, visibility }: Observing,
  kind: Kind,
): Promise<LiveCollection> {
  const read_at = clock?.boot().milliseconds;
  const listing = await cloud.list(kind);
  const byId = new Map<string, Live>();
  const keep = keeper(kind, byId, visibility);
  listing.objects.forEach(keep);
  const recorded = entries.flatMap((entry) =>
    entry.kind === kind.name ? [entry.id, ...(entry.deposed ?? [])] : [],
  );
  const unlisted = recorded.filter((id) => !byId.has(id));
  if (unlisted.length > 0) (await lookAgain(cloud, kind, unlisted)).forEach(keep);
  emit({ type: 'reading', kind: kind.name, objects: byId.size });
  return {
    kind,
    byId,
    missing: new Set(unlisted.filter((id) => !byId.has(id))),
    ...defined({ read_at, pages: listing.pages, skew: listing.skew }),
  };
}

/** More ids than this are looked for by a second listing instead of one by one. */
const LOOKS = 20;

/** The second look: a few ids one by one, more by another listing. */
export const lookAgain = async (
  cloud: Pick<CloudReader, 'find' | 'list'>,
  kind: Kind,
  ids: readonly string[],
): Promise<readonly Live[]> =>
  ids.length <= LOOKS || kind.operations.by_ids
    ? cloud.find(kind, ids)
    : (await cloud.list(kind)).objects;

/** Adds objects without their secrets, and none that was deleted just now. */
function keeper(
  kind: Kind,
  byId: Map<string, Live>,
  { wasDeletedRecently }: Visibility,
): (live: Live) => void {
  const secretive = [...walk(kind.attributes)].some(([, attribute]) => attribute.secret);
  return (live) => {
    if (!wasDeletedRecently(kind.name, live.id))
      byId.set(
        live.id,
        secretive ? { ...live, values: withoutSecrets(kind.attributes, live.values) } : live,
      );
  };
}

/** Listings after the first one. */
const RELISTINGS = 3;

/** What other listings show, until one shows the same objects as the one before: others delete and make objects while pages are read, and replicas of a service are late. */
async function settledListing(
  cloud: Pick<CloudReader, 'list'>,
  kind: Kind,
  listed: readonly string[],
): Promise<readonly Live[]> {
  const found: Live[] = [];
  let before = listed.toSorted();
  for (let turn = 0; turn < RELISTINGS; turn += 1) {
    const { objects } = await cloud.list(kind);
    found.push(...objects);
    const ids = objects.map(({ id }) => id).toSorted();
    if (equal(ids, before)) break;
    before = ids;
  }
  return found;
}

/** Names without these are spelled one way, whichever way the service stores them. */
const ESCAPED = /[&<>"']/;

/**
 * Another reading of a collection that came in several pages, before something is written that rests on what it lacks: an
 * object that moved between two pages while they were read is in neither. What either reading shows exists. A few names
 * are asked for by the filter of the listing, which no other object can hide; more, and objects that may have another
 * name, are looked for by a second listing.
 * @param sought what is known of the objects that may be missing
 */
export async function readAgain(
  { cloud, visibility }: Pick<Observing, 'cloud' | 'visibility'>,
  collection: LiveCollection,
  sought: readonly { readonly values: Values; readonly ofAnyName?: boolean }[],
): Promise<LiveCollection> {
  const { kind, pages = 1, byId: first } = collection;
  if (pages <= 1) return collection;
  const { by_name } = kind.operations;
  const names = by_name === undefined ? [] : sought.map(({ values }) => values[by_name]);
  const few =
    by_name !== undefined &&
    names.length <= pages &&
    names.every((name) => typeof name === 'string' && !ESCAPED.test(name));
  const byId = new Map(first);
  const keep = keeper(kind, byId, visibility);
  const isListed = !few || sought.some(({ ofAnyName }) => ofAnyName);
  const found = await Promise.all([
    ...[...new Set(few ? names : [])].map((name) =>
      cloud.search(kind, { [by_name!]: String(name) }),
    ),
    ...(isListed ? [settledListing(cloud, kind, [...first.keys()])] : []),
  ]);
  for (const live of found.flat()) if (!first.has(live.id)) keep(live);
  return { ...collection, byId };
}

/** Live objects as `withoutSecrets` leaves them. */
export const secretless = ({ attributes }: Kind, objects: readonly Live[]): readonly Live[] =>
  objects.map((live) => ({ ...live, values: withoutSecrets(attributes, live.values) }));

/** Even a server that returns a secret in clear must not get it into a plan or a state. */
export function withoutSecrets(attributes: Attributes, values: Values): Values {
  const out: Record<string, Value> = {};
  for (const [name, value] of Object.entries(values)) {
    const attribute = attributes[name];
    if (attribute?.secret) continue;
    out[name] =
      attribute?.word === 'object' && isTree(value)
        ? withoutSecrets(attribute.attributes, value)
        : value;
  }
  return out;
}

/** A live object as the state stores it: in plain texts, without secrets, without what holds nothing, without free text of the service, and without documents in which others keep theirs or that hold a literal secret. */
export function storedValues(kind: Kind, values: Values): JsonObject {
  const seen = storable(kind, withoutSecrets(kind.attributes, values));
  const isKept = (name: string): boolean =>
    kind.attributes[name]?.wire !== 'merge' && kind.attributes[name]?.unstored !== true;
  return unescapeAll(
    redactAll(keptMembers(seen, (value, name) => !isEmpty(value) && isKept(name))),
  );
}

/** @throws Refusal where the state is about another cloud. */
export function checkTarget(state: State | undefined, target: string): void {
  if (!state || Object.keys(state.resources).length === 0 || sameTarget(state.target, target))
    return;
  refuse(
    'other-target',
    `The state belongs to ${state.target}, but ${target === '' ? 'no target is set' : `the target is ${target}`}.`,
    {
      detail: targetAdvice(state.target, target),
    },
  );
}

/** @throws what is no refusal, and what ends the run */
export function unreadWarnings(error: unknown, summary: string): readonly Diagnostic[] {
  if (!(error instanceof Refusal) || error.exit === exits.interrupted) throw error;
  return error.diagnostics.map((one) => ({
    ...one,
    severity: 'warning',
    summary: `${summary} ${one.summary}`,
  }));
}
