// The data between runs. The state is a value; the journal is a list of records that turn one state into the next.
import { cached } from './members.js';
import type { JsonObject } from './json.js';

/** Proves a secret unchanged without revealing it: HMAC-SHA256 of `of`; its key is scrypt of the secret, or an HMAC of the secret under TRUEUP_FINGERPRINT_KEY. */
export interface Fingerprint {
  /** `<address> <path>` as it was when this was made: equal secrets have different fingerprints, and a renamed object keeps its own. */
  readonly of: string;
  /** base64 */
  readonly hash: string;
  /** log2 of scrypt's N, with r = 8, p = 1 and the salt of the state. Absent: made with the key. */
  readonly cost?: number;
}

/** As states of format 1 hold it: scrypt with a salt of its own. */
export interface SaltedFingerprint {
  readonly algorithm: 'scrypt';
  /** log2 of the cost N; block size r; parallelism p. */
  readonly cost: number;
  readonly block: number;
  readonly parallel: number;
  /** Both base64. */
  readonly salt: string;
  readonly hash: string;
  /** Whether TRUEUP_FINGERPRINT_KEY was mixed in. */
  readonly keyed: boolean;
}

/** One fingerprint of several secrets together. It is compared first, for one scrypt (none with the key) instead of one per secret. `of` is a digest of the list of their fingerprints, which identifies the secrets and their values. */
export type CombinedFingerprint = Fingerprint;

export interface Entry {
  readonly kind: string;
  readonly id: string;
  /** The file that declared it, relative to the current folder, with `/`. */
  readonly file: string;
  /** Last applied: the declared attributes in normal form, without secrets. */
  readonly applied: JsonObject;
  /** Last observed, in normal form. */
  readonly observed: JsonObject;
  readonly depends_on: readonly string[];
  /** By dotted attribute path. */
  readonly secrets?: Readonly<Record<string, Fingerprint | SaltedFingerprint>>;
  readonly protect?: boolean;
  readonly on_removal?: string;
  /** Ids of replaced objects that are not deleted yet. */
  readonly deposed?: readonly string[];
  /** ISO 8601, when `applied` was written. */
  readonly applied_at: string;
}

/** `<kind> <id>` of every object of an address: its own, and the replaced ones. */
export const objectsIn = ({ kind, id, deposed = [] }: Entry): readonly string[] =>
  [id, ...deposed].map((one) => `${kind} ${one}`);

/** Completed writes to existing objects, kept for 24 hours, because limits apply across runs. */
export interface Spent extends Moment {
  readonly action: 'update' | 'delete';
  /** The object, which counts once; absent where an older version wrote it. */
  readonly kind?: string;
  readonly id?: string;
  /** For an update: digests of the attributes, each with its value, that it replaced. A reading that shows them may be an old one. */
  readonly replaced?: readonly string[];
}

/** When something happened, by every clock that can tell its age later. */
export interface Moment {
  /** ISO 8601, by the clock of the machine. */
  readonly at: string;
  /** ISO 8601, by the clock of the service, if known. */
  readonly server_at?: string;
  /** Since the start of the machine, if the system shows it. */
  readonly boot?: { readonly id: string; readonly milliseconds: number };
}

/** Objects of a kind that a run created or deleted: a listing may show that late. */
export interface Recent extends Moment {
  readonly kind: string;
  readonly created: readonly string[];
  /** Of these, the ids that no listing has shown yet. */
  readonly unseen: readonly string[];
  readonly deleted: readonly string[];
}

/** The user, the machine and the CI run that a state is written by. */
export interface RunAuthor {
  readonly user: string;
  readonly host: string;
  /** Of the CI run. */
  readonly url?: string;
}

/** A run that wrote the state, and the numbers of its writes that took effect. */
export interface RecordedRun extends RunAuthor {
  /** Of the state that it wrote. */
  readonly serial: number;
  /** ISO 8601. */
  readonly at: string;
  readonly operation: string;
  /** Of the declarations that were applied. */
  readonly digest?: string;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  /** Objects that it bound to an address for the first time without creating them. Absent where an older version wrote it. */
  readonly adopted?: number;
  /** Objects that it bound to another address than before. Absent where an older version wrote it. */
  readonly renamed?: number;
  /** Objects that it removed from the state without deleting or replacing them. Absent where an older version wrote it. */
  readonly forgotten?: number;
  /** Changes that failed, were not tried, and of which it is unknown. Absent where there are none, and where an older version wrote it. */
  readonly failed?: number;
  readonly skipped?: number;
  readonly unknown?: number;
  /** The number of objects in the state afterwards. */
  readonly objects: number;
  /** The numbers include writes of a run that was interrupted before. */
  readonly resumed?: true;
}

export interface State {
  readonly format_version: 3;
  readonly lineage: string;
  readonly serial: number;
  /** Identifies the cloud this state is about (origins of the target), so that it is never used against another. */
  readonly target: string;
  readonly resources: Readonly<Record<string, Entry>>;
  readonly spent: readonly Spent[];
  /** Writes that listings may not show yet, by run and kind; kept for a day at most. */
  readonly recent?: readonly Recent[];
  /** Salt of all fingerprints, 16 random bytes in base64. Absent until a run that writes has opened the state. */
  readonly secrets_salt?: string;
  /** The newest first. */
  readonly secrets_together?: readonly CombinedFingerprint[];
  /** The runs that wrote it, the newest first. Absent where only older versions wrote it. */
  readonly runs?: readonly RecordedRun[];
}

/** The record that is on disk before the first byte of a write is sent. */
export interface Intent extends Moment {
  readonly type: 'intent';
  /** Unique within the journal. */
  readonly op: string;
  readonly address: string;
  readonly kind: string;
  readonly action: 'create' | 'update' | 'delete';
  /** For update and delete. */
  readonly id?: string;
  /** For a create: digest of the canonical writable content, secrets replaced by their source names. */
  readonly content?: string;
  /** For a create: that content itself (no secret), so that recovery compares and not only hashes. For an update that counts against the limits: what is sent, as the state holds it. */
  readonly body?: JsonObject;
  /** For a create: attributes that `body` does not hold in clear, and a fingerprint of their values with its salt. */
  readonly hidden?: {
    readonly names: readonly string[];
    readonly salt: string;
    readonly fingerprint: Fingerprint;
  };
  /** For a create: the id in a response whose object is not what was sent. Known to the run that got it, and not recorded. */
  readonly answered?: string;
  /** For a create: why the response was not clear. Known to the run that got it, and not recorded. */
  readonly unclear?: string;
  /** For a create: ids of the objects with the same identity that existed before, which recovery must not take. */
  readonly preimage?: readonly string[];
  /** For a create, where ids are numbers: the highest that existed before; what is above it is new. */
  readonly highest?: string;
  /** For a create, where ids are time-based: the newest that existed before; what is newer is new. */
  readonly newest?: string;
  /** For a create: what the entry will be once an id is known. */
  readonly entry?: Omit<Entry, 'id' | 'observed'>;
}

export type OutcomeClass = 'not_sent' | 'rejected' | 'applied' | 'unknown';

export interface Result {
  readonly type: 'result';
  /** The intent this settles; absent for changes of the state alone (adopt, forget, rename). */
  readonly op?: string;
  readonly class: OutcomeClass;
  readonly address: string;
  /** The new entry, null where the address is gone; absent where nothing is known to have changed. */
  readonly entry?: Entry | null;
  readonly spent?: Spent;
  /** Where an object was created or deleted. */
  readonly lately?: Moment & {
    readonly what: 'created' | 'deleted';
    readonly kind: string;
    readonly id: string;
  };
}

export const resultRecord = (
  address: string,
  outcome: OutcomeClass,
  more: Partial<Result> = {},
): Result => ({ type: 'result', class: outcome, address, ...more });

/** Ids of created objects that a listing has shown. */
export interface Seen {
  readonly type: 'seen';
  readonly kind: string;
  readonly ids: readonly string[];
}

/** Opens a journal: the state it continues. */
export interface Begin extends Pick<State, 'lineage' | 'serial' | 'target' | 'secrets_salt'> {
  readonly type: 'begin';
  readonly run: string;
  readonly at: string;
}

/** A record after the first one of a journal. */
export type RunRecord = Intent | Result | Seen;
export type JournalRecord = Begin | RunRecord;

export function emptyState(lineage: string, target: string): State {
  return { format_version: 3, lineage, serial: 0, target, resources: {}, spent: [] };
}

/** The state after a journal: results folded in, in order; the serial is the caller's to raise. */
export function fold(state: State, records: readonly JournalRecord[]): State {
  const resources: Record<string, Entry> = { ...state.resources };
  const spent = [...state.spent];
  for (const record of records) {
    if (record.type !== 'result') continue;
    if (record.entry === null) delete resources[record.address];
    else if (record.entry) resources[record.address] = record.entry;
    if (record.spent) spent.push(record.spent);
  }
  const recent = recentAfter(state.recent ?? [], records);
  return { ...state, resources, spent, ...(recent.length > 0 && { recent }) };
}

/** The sets of recent writes, with one more for each kind of these records, as of the latest of them. */
function recentAfter(
  before: readonly Recent[],
  records: readonly JournalRecord[],
): readonly Recent[] {
  const byKind = new Map<string, { moment: Moment; created: Set<string>; deleted: Set<string> }>();
  const seen = new Map<string, Set<string>>();
  for (const record of records) {
    if (record.type === 'seen')
      for (const id of record.ids)
        seen.set(record.kind, (seen.get(record.kind) ?? new Set<string>()).add(id));
    if (record.type !== 'result' || !record.lately) continue;
    const { what, kind, id, ...moment } = record.lately;
    const group = cached(byKind, kind, () => ({
      moment,
      created: new Set<string>(),
      deleted: new Set<string>(),
    }));
    group.moment = moment;
    group[what].add(id);
  }
  const added = [...byKind].map(([kind, { moment, created, deleted }]): Recent => ({
    ...moment,
    kind,
    created: [...created],
    unseen: [...created],
    deleted: [...deleted],
  }));
  return [...before, ...added].map((one) =>
    seen.has(one.kind)
      ? { ...one, unseen: one.unseen.filter((id) => !seen.get(one.kind)?.has(id)) }
      : one,
  );
}

/**
 * The numbers of objects that were created, updated, deleted, adopted, renamed or forgotten, by the results of a journal.
 * As in the words of an apply, what is adopted and updated counts as adopted, and what is renamed and updated as updated.
 * @param before the state that the journal continues
 */
export function countApplied(
  before: State,
  records: readonly JournalRecord[],
): Pick<RecordedRun, 'created' | 'updated' | 'deleted' | 'adopted' | 'renamed' | 'forgotten'> {
  const applied = new Set(
    records.flatMap((one) =>
      one.type === 'result' && one.class === 'applied' && one.op !== undefined ? [one.op] : [],
    ),
  );
  // An intent that was renewed is recorded twice.
  const intents = new Map(
    records.flatMap((one) =>
      one.type === 'intent' && applied.has(one.op) ? [[one.op, one] as const] : [],
    ),
  );
  const by = (action: Intent['action']): readonly Intent[] =>
    [...intents.values()].filter((one) => one.action === action);
  const objectOf = ({ kind, id }: Intent): string => `${kind} ${id}`;
  const { adopted, renamed } = boundBy(before, records);
  const updates = by('update');
  const updated = new Set(updates.map(objectOf));
  return {
    created: by('create').length,
    updated: updates.filter((one) => !adopted.has(objectOf(one))).length,
    deleted: by('delete').length,
    adopted: adopted.size,
    renamed: [...renamed].filter((object) => !updated.has(object)).length,
    forgotten: countForgotten(before, records),
  };
}

/** Objects that were bound without being created: for the first time, or to another address. */
function boundBy(
  before: State,
  records: readonly JournalRecord[],
): Readonly<Record<'adopted' | 'renamed', ReadonlySet<string>>> {
  const former = new Map(
    Object.entries(before.resources).flatMap(([address, entry]) =>
      objectsIn(entry).map((object) => [object, address] as const),
    ),
  );
  const created = new Set<string>();
  const bound = new Map<string, string>();
  for (const record of records) {
    if (record.type !== 'result' || record.class !== 'applied') continue;
    const { op, address, entry, lately } = record;
    if (lately?.what === 'created') created.add(`${lately.kind} ${lately.id}`);
    if (entry && op === undefined) bound.set(`${entry.kind} ${entry.id}`, address);
  }
  const others = [...bound].filter(([object]) => !created.has(object));
  const objects = (some: typeof others): ReadonlySet<string> =>
    new Set(some.map(([object]) => object));
  return {
    adopted: objects(others.filter(([object]) => !former.has(object))),
    renamed: objects(
      others.filter(([object, address]) => former.has(object) && former.get(object) !== address),
    ),
  };
}

/** An object whose update has an unknown outcome is not forgotten yet: the next run settles the update. */
function countForgotten(before: State, records: readonly JournalRecord[]): number {
  const resources = new Map(Object.entries(before.resources));
  const dropped = new Set<string>();
  const others = new Set(pending(records).map(({ kind, id }) => `${kind} ${id}`));
  for (const record of records) {
    if (record.type !== 'result') continue;
    const { op, address, entry, lately } = record;
    if (lately?.what === 'deleted') others.add(`${lately.kind} ${lately.id}`);
    if (entry === undefined) continue;
    const prior = resources.get(address);
    const isDropped = op === undefined && (!entry || entry.id === prior?.id);
    const kept = entry ? objectsIn(entry) : [];
    for (const object of prior ? objectsIn(prior) : [])
      if (isDropped && !kept.includes(object)) dropped.add(object);
      else dropped.delete(object);
    if (entry) resources.set(address, entry);
    else resources.delete(address);
  }
  for (const object of [...resources.values()].flatMap(objectsIn)) others.add(object);
  return [...dropped].filter((object) => !others.has(object)).length;
}

/** Intents of unknown outcome: without a result, or with a result `unknown`. A renewed one has the time of its renewal. */
export function pending(records: readonly JournalRecord[]): readonly Intent[] {
  const settled = new Set(
    records.flatMap((record) =>
      record.type === 'result' && record.op !== undefined && record.class !== 'unknown'
        ? [record.op]
        : [],
    ),
  );
  const open = new Map<string, Intent>();
  for (const record of records)
    if (record.type === 'intent' && !settled.has(record.op)) open.set(record.op, record);
  return [...open.values()];
}
