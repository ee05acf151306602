// The stored data of the cloud: records by kind in listing order and by id, and the log of every change.
import {
  defined,
  refuse,
  type Attribute,
  type Collection,
  type Collections,
  type Json,
  type JsonObject,
  type Kind,
  type Kinds,
} from '../model/index.js';
import type { Clock, Random } from '../platform/index.js';
import { coded, loggedObject, type Actor } from './activity-log.js';
import {
  checkKinds,
  completed,
  type Estate,
  type EstateStep,
  type Fill,
  type User,
} from './estate.js';
import { showRecord, type RenderContext, type StoredRecord, recordId } from './records.js';
import { timeUuids } from './uuid.js';

export interface RecordEdit {
  readonly kind: Kind;
  readonly before?: StoredRecord;
  /** Absent: deleted. */
  readonly after?: StoredRecord;
}

export interface RecordChange extends RecordEdit {
  readonly actor: Actor;
  readonly face: RenderContext;
  /** Put before all others instead of behind them. */
  readonly first?: boolean;
}

export type RecordStore = ReturnType<typeof createStore>;

/** Hears of each change: the steps that lead from the estate before it to the one after it. */
export type Listener = (steps: readonly EstateStep[]) => void;

const NUMERIC = /^\d{1,15}$/;

interface EntryFacts {
  readonly id: string;
  readonly at: string;
  readonly root: string;
  readonly users: ReadonlyMap<string, User>;
}

interface StoreOptions {
  readonly kinds: Kinds;
  readonly collections: Collections;
  readonly estate: Estate;
  readonly clock: Clock;
  readonly random: Random;
}

/** @throws Refusal for an estate with a strange kind, an id twice or no account at all. */
export function createStore(options: StoreOptions) {
  const { kinds, collections, estate } = options;
  checkKinds(estate, kinds, collections);
  const root = ownAccount(estate);
  const defaults = defaultsOf(options, root);
  const { take, stored, ...tables } = tablesOf(options, defaults);
  const users: ReadonlyMap<string, User> = new Map(
    (estate.users ?? []).map((user) => [user.id, user]),
  );
  const listeners: Listener[] = [];
  const change = (...steps: readonly EstateStep[]): void => {
    for (const step of steps) take(step);
    for (const listener of listeners) listener(steps);
  };

  return {
    kinds,
    /** Id of the keys' own account. */
    root,
    users,
    occupied: estate.occupied ?? {},
    ...tables,
    /** A new record of what is only read: what `fields` leaves out is filled in. */
    add: (collection: Collection, fields: JsonObject): StoredRecord => {
      const put = defaults.seeded(collection, fields);
      change({ in: collection.name, put });
      return put;
    },
    /** Something happens: a record like the first one comes before it, or (`remove`) the first one is forgotten. */
    happen: (collection: Collection, remove: boolean): void => {
      const [first] = tables.records(collection.name);
      const like = {
        ...first,
        ...(collection.id !== undefined && { [collection.id]: defaults.newId(collection) }),
      };
      if (first)
        change({ in: collection.name, ...(remove ? { at: 0 } : { put: like, first: true }) });
    },
    /** Puts a record of what is only read here, and changed elsewhere, in place of another; the log knows nothing of it. */
    rewrite: (name: string, before: StoredRecord, after: StoredRecord): void =>
      change({ in: name, at: tables.records(name).indexOf(before), put: after }),
    /** A record with every default set, a new id and the time of now, then `fields` over it. */
    draft: (kind: Kind, fields: JsonObject): StoredRecord => ({
      ...completed(kind, {}, defaults.fill(kind)),
      ...fields,
    }),
    /** Carries a change out, logs it and tells the listeners. */
    commit: (made: RecordChange): void => {
      const { kind, after, first } = made;
      const id = recordId(kind, (after ?? made.before)!);
      const put = entryOf(made, id, { id: defaults.uuid(), at: defaults.now(), root, users });
      change(
        { in: kind.name, id, ...(after && { put: after }), ...(first && { first: true }) },
        { in: 'activity_logs', put },
      );
    },
    now: defaults.now,
    snapshot: (): Estate => ({
      version: 1,
      root,
      next_id: defaults.nextId(),
      records: stored(),
      users: [...users.values()],
      occupied: estate.occupied ?? {},
      activity_logs: [...tables.log],
    }),
    listen: (listener: Listener): void => void listeners.push(listener),
  };
}

/** Every record by kind or collection, and the log. */
function tablesOf(
  { kinds, collections, estate }: StoreOptions,
  { fill, seeded, taken }: ReturnType<typeof defaultsOf>,
) {
  const seedsOf = ({ name }: Collection): readonly JsonObject[] => estate.records[name] ?? [];
  const shelves = new Map(
    [...kinds.values()].map((kind) => [kind.name, shelf(kind, seedsOf(kind), fill(kind))]),
  );
  const of = (kind: Kind) => shelves.get(kind.name)!;
  const others = [...collections.values()].filter(
    ({ name }) => !kinds.has(name) && name !== 'activity_logs',
  );
  const read = new Map(
    others.map((one) => [one.name, seedsOf(one).map((seed) => seeded(one, seed))]),
  );
  const log: JsonObject[] = [...(estate.activity_logs ?? [])];

  const take = (step: EstateStep): void => {
    const { in: name, id, put, first } = step;
    const kept = shelves.get(name);
    if (!kept) return placed(name === 'activity_logs' ? log : (read.get(name) ?? []), step);
    if (id !== undefined && put) kept.put(id, put, first === true);
    else if (id !== undefined) kept.remove(id);
    taken(id ?? '');
  };
  for (const step of estate.changes ?? []) take(step);

  return {
    /** Collections that are only read, beside the log of changes. */
    collections: others,
    log: log as readonly JsonObject[],
    all: (kind: Kind): readonly StoredRecord[] => of(kind).all(),
    get: (kind: Kind, id: string) => of(kind).get(id),
    /** Records by the name of a kind or collection; none of one that is not here. */
    records: (name: string): readonly StoredRecord[] =>
      shelves.get(name)?.all() ?? read.get(name) ?? [],
    /** Where the record stands in the listing: ascending, never given twice while the emulator runs. */
    place: (kind: Kind, id: string) => of(kind).place(id),
    take,
    stored: () =>
      Object.fromEntries([
        ...[...kinds.values()].map((kind) => [kind.name, of(kind).all()] as const),
        ...[...read].map(([name, list]) => [name, [...list]] as const),
      ]),
  };
}

/** Defaults of a new record: id, times, and values of fields that nobody has set. */
function defaultsOf({ estate, clock, random }: StoreOptions, root: string) {
  const uuid = timeUuids(clock, random);
  /** ISO 8601. */
  const now = (): string => new Date(clock.now()).toISOString();
  let nextId = estate.next_id ?? highestId(estate) + 1;
  const newId = (kind: Collection): string => (kind.id === 'id' ? String(nextId++) : uuid());
  const stamp = (collection: Collection, name: string): Json | undefined => {
    if (name === collection.id) return newId(collection);
    return name === 'updated_at' || name === 'created_at' ? now() : undefined;
  };
  return {
    uuid,
    now,
    newId,
    nextId: () => nextId,
    /** No later record is given this id. */
    taken: (id: string): void => {
      if (NUMERIC.test(id)) nextId = Math.max(nextId, Number(id) + 1);
    },
    fill: (kind: Kind) => (name: string, attribute: Attribute) => {
      const stamped = stamp(kind, name);
      if (stamped !== undefined) return stamped;
      if (name === 'version_number') return 1;
      if (name === 'enabled' || name === 'synched') return true;
      return attribute.word === 'ref' && attribute.to === 'accounts' && attribute.wire === 'url'
        ? root
        : undefined;
    },
    /** A record of what is only read: known fields with their defaults, unknown ones as they are. */
    seeded: (collection: Collection, seed: JsonObject): StoredRecord =>
      collection.operations.dialect === 'iot'
        ? seed
        : { ...seed, ...completed(collection, seed, (name) => stamp(collection, name)) },
  };
}

/** The record of the log for a change of the object with this id, with the id of the account beside it (left out of responses). */
function entryOf(
  { kind, before, after, actor, face }: RecordChange,
  object: string,
  { id, at, root, users }: EntryFacts,
): JsonObject {
  const owner = kind.name === 'accounts' ? object : (after ?? before)?.account;
  const kept = after ? 'update' : 'delete';
  /** No secret is in them. */
  const seen = {
    before: before ? showRecord(kind, before, face, false) : null,
    after: after ? showRecord(kind, after, face, false) : null,
  };
  return {
    account: typeof owner === 'string' ? owner : root,
    action: { id, timestamp: at, ...coded('action', before ? kept : 'create'), ...seen },
    actor: { id: actor.id, ...defined({ email: actor.email }), ...coded('actor', actor.type_name) },
    object: loggedObject(kind.name, object, seen.after ?? seen.before ?? {}, users),
  };
}

/** Changes a list without ids: what stands at a place, or a new record behind all others or before them. */
function placed(list: JsonObject[], { at, put, first }: EstateStep): void {
  if (at !== undefined) list.splice(at, 1, ...(put ? [put] : []));
  else if (put && first) list.unshift(put);
  else if (put) list.push(put);
}

/** Records of one kind. The listing is made once and thrown away by the next change: changes and looks by id cost the same in any estate. */
function shelf(kind: Kind, seeds: readonly JsonObject[], fill: Fill) {
  let byId = new Map<string, StoredRecord>();
  let listing: readonly StoredRecord[] | undefined;
  const places = new Map<string, number>();
  let [front, back] = [0, 0];
  for (const seed of seeds) {
    // The own account is nobody's child: a seed that leaves its parent out means none.
    const record = completed(
      kind,
      kind.name === 'accounts' && byId.size === 0 ? { account: null, ...seed } : seed,
      fill,
    );
    const id = recordId(kind, record);
    if (byId.has(id))
      refuse('bad-estate', `the emulator's data holds two ${kind.name} with the id ${id}`);
    byId.set(id, record);
    places.set(id, ++back);
  }
  return {
    all: () => (listing ??= [...byId.values()]),
    get: (id: string) => byId.get(id),
    place: (id: string) => places.get(id) ?? 0,
    put: (id: string, record: StoredRecord, first: boolean) => {
      listing = undefined;
      if (!byId.has(id)) places.set(id, first ? --front : ++back);
      if (first) byId = new Map([[id, record], ...byId]);
      else byId.set(id, record);
    },
    remove: (id: string) => {
      listing = undefined;
      byId.delete(id);
      places.delete(id);
    },
  };
}

function ownAccount({ root, records }: Estate): string {
  const own =
    root ?? records.accounts?.find(({ account }) => account === null || account === undefined)?.id;
  if (own === undefined || !records.accounts?.some(({ id }) => String(id) === String(own)))
    refuse('bad-estate', "the emulator's data holds no account for its keys");
  return String(own);
}

function highestId({ records }: Estate): number {
  let highest = 0;
  for (const list of Object.values(records))
    for (const { id } of list)
      if (NUMERIC.test(String(id))) highest = Math.max(highest, Number(id));
  return highest;
}
