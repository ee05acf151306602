// Who changed what an audit found: one reading of the activity log for all of it, and then, for each object, only what
// the log shows. Our own writes are told apart by their content and time; where the log cannot know, a window is left.
import {
  append,
  below,
  equal,
  exits,
  isEmpty,
  isTree,
  masksIn,
  mergeOf,
  normal,
  own,
  redact,
  Refusal,
  same,
  SENSITIVE,
  type Activity,
  type Attribute,
  type Author,
  type CloudReader,
  type Diagnostic,
  type Entry,
  type Json,
  type JsonObject,
  type Kind,
  type Live,
  type Value,
  type Values,
  type Window,
} from '../model/index.js';
import type { Clock } from '../ports/index.js';
import { driftOf } from './diff.js';
import { missingCredentials } from './propose.js';

/** An object of which the log is asked. */
export interface Subject {
  readonly kind: Kind;
  readonly id: string;
  readonly what: 'changed' | 'gone' | 'unmanaged';
  /** What was last applied to it, where that is known. */
  readonly prior?: Pick<Entry, 'applied' | 'applied_at'>;
  /** Names of the attributes that are not as applied (or, never applied, not as declared). */
  readonly drifted: readonly string[];
  readonly live?: Live;
  /** Dotted paths of declared secrets. */
  readonly secrets: readonly string[];
}

export interface Attribution {
  readonly changed_by: Author;
  readonly window: Window;
}

/** What attribution needs to read. */
export interface Witnesses {
  readonly cloud: Pick<CloudReader, 'activity'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The activity log is kept this long. */
const KEPT = 30 * 24 * 3600_000;
/** Records may be a minute late or out of order. */
const GAP = 60_000;
/** How far two clocks may be apart that nobody compared. */
const APART = 5 * 60_000;

/**
 * What is told of each subject, in their order.
 * @param skew milliseconds by which the server's clock is ahead of ours, where it told
 */
export async function attribute(
  { cloud, clock }: Witnesses,
  subjects: readonly Subject[],
  skew?: number,
): Promise<{ told: readonly Attribution[]; diagnostics: readonly Diagnostic[] }> {
  const read = clock.now();
  const asked = subjects.filter(({ kind }) => !kind.unlogged);
  const { found, diagnostics } = await consult(cloud, asked, () => logWindow(asked, read, skew));
  const records = new Map<string, Activity[]>();
  for (const activity of found) append(records, activity.object_id, activity);
  const told = subjects.map((subject): Attribution => {
    const author = subject.kind.unlogged ? undefined : authorOf(subject, records.get(subject.id) ?? [], skew);
    return { changed_by: author ? shown(subject, author) : 'unknown', window: windowOf(subject, read, skew) };
  });
  return { told, diagnostics };
}

/** A log that cannot be read costs the authors, and nothing else. */
async function consult(cloud: Witnesses['cloud'], asked: readonly Subject[], since: () => string): Promise<{ found: readonly Activity[]; diagnostics: readonly Diagnostic[] }> {
  if (asked.length === 0) return { found: [], diagnostics: [] };
  try {
    return { found: await cloud.activity([...new Set(asked.map(({ id }) => id))], since()), diagnostics: [] };
  } catch (error) {
    if (!(error instanceof Refusal) || error.exit === exits.interrupted) throw error;
    // Who manages only what needs no keys of the log has not asked for authors of what others made.
    const unasked = asked.every(({ what }) => what === 'unmanaged') && error.diagnostics.every(({ code }) => missingCredentials.has(code));
    const summary = 'Who changed it is not known, because the activity log could not be read.';
    return { found: [], diagnostics: unasked ? [] : error.diagnostics.map((one) => ({ ...one, severity: 'warning', summary: `${summary} ${one.summary}` })) };
  }
}

/** From when on the log has to be read for these, of which there is one at least; by the server's clock (ISO 8601). */
export function logWindow(subjects: readonly Subject[], now: number, skew?: number): string {
  const oldest = now + (skew ?? 0) - KEPT;
  const start = subjects.reduce((first, subject) => Math.min(first, appliedAt(subject, skew) ?? oldest), Infinity);
  return new Date(Math.max(oldest, start - slack(skew))).toISOString();
}

/** Within which two moments may be one. */
const slack = (skew: number | undefined): number => GAP + (skew === undefined ? APART : 0);

/** When it was last applied, by the server's clock. */
const appliedAt = ({ prior }: Subject, skew = 0): number | undefined => prior && Date.parse(prior.applied_at) + skew;

/** The record that tells who did it. `activities` are those of this identifier, the oldest first. */
export function authorOf(subject: Subject, activities: readonly Activity[], skew?: number): Activity | undefined {
  const records = activities.filter((one) => isAbout(subject.kind, one));
  if (subject.what === 'gone') return records.findLast(({ action }) => action === 'delete');
  if (subject.what === 'unmanaged') return records.findLast(({ action }) => action === 'create') ?? records.at(-1);
  const later = afterApply(subject, records, skew);
  return later.findLast((one) => weigh(subject, one) === 'touched') ?? later.findLast((one) => one.action === 'update' && weigh(subject, one) === 'untold');
}

/** Numbers identify objects of several types, and a record that names no type has to look like the kind; other identifiers are nobody else's. */
function isAbout({ singular, attributes }: Kind, { object_id, object_type, before, after }: Activity): boolean {
  if (!/^\d+$/.test(object_id)) return true;
  if (object_type === null) return Object.keys({ ...before, ...after }).every((name) => Object.hasOwn(attributes, name));
  return singular === object_type || singular.endsWith(`_${object_type}`);
}

/** What was done since the last apply. Where our own write is not in the log, clocks decide, and near that moment only what is live now. */
function afterApply(subject: Subject, records: readonly Activity[], skew: number | undefined): readonly Activity[] {
  const applied = appliedAt(subject, skew);
  if (applied === undefined) return records;
  const ours = records.findLastIndex((one) => isOurs(subject, one, skew));
  if (ours >= 0) return records.slice(ours + 1);
  return records.filter(({ at, after }) => Date.parse(at) >= applied || (Date.parse(at) >= applied - slack(skew) && showsLive(subject, after)));
}

/** Written by what we write with, at about the time of the apply, and the object was then as we applied it. */
function isOurs(subject: Subject, { at, actor_type, after }: Activity, skew: number | undefined): boolean {
  const { kind, id, prior } = subject;
  if (!prior || !after || Math.abs(Date.parse(at) - (appliedAt(subject, skew) as number)) > slack(skew)) return false;
  // A v3 token speaks for the user it was given to.
  if (actor_type !== 'api_key' && kind.operations.dialect !== 'v3') return false;
  const told = Object.fromEntries(Object.entries(prior.applied).filter(([name]) => Object.hasOwn(after, name)));
  return Object.keys(told).length > 0 && driftOf(kind, told, { id, values: normalised(kind, after) }).length === 0;
}

function showsLive({ kind, drifted, live }: Subject, after: JsonObject | null): boolean {
  const told = drifted.filter((name) => after !== null && Object.hasOwn(after, name));
  return told.length > 0 && told.every((name) => alike(kind.attributes[name], after?.[name], live?.values[name]));
}

/** Whether a record says that it changed something that is not as applied. */
function weigh({ kind, drifted, prior }: Subject, { before, after }: Activity): 'touched' | 'untouched' | 'untold' {
  const told = drifted.filter((name) => [before, after].some((state) => state !== null && Object.hasOwn(state, name)));
  if (told.length === 0) return 'untold';
  const touched = told.some((name) => {
    const attribute = kind.attributes[name];
    const restored = attribute && prior && Object.hasOwn(prior.applied, name) && same(attribute, prior.applied[name], normal(attribute, after?.[name]));
    return !restored && !alike(attribute, before?.[name], after?.[name]);
  });
  return touched ? 'touched' : 'untouched';
}

function alike(attribute: Attribute | undefined, a: Value | undefined, b: Value | undefined): boolean {
  return (isEmpty(a) && isEmpty(b)) || (attribute ? equal(normal(attribute, a), normal(attribute, b)) : equal(a, b));
}

/** After the last apply; at the latest when the object says that it was updated, or when it was read. */
function windowOf(subject: Subject, read: number, skew: number | undefined): Window {
  const updated = subject.what === 'gone' ? Number.NaN : Date.parse(String(subject.live?.values['updated_at']));
  const known = updated >= (appliedAt(subject, skew) ?? Number.NEGATIVE_INFINITY);
  return { after: subject.prior?.applied_at ?? null, before: new Date(known ? updated : read).toISOString() };
}

/** A record as it is shown: what it changed of what can be written, without secrets. */
function shown(subject: Subject, { actor, actor_type, at, action, before, after }: Activity): Exclude<Author, 'unknown'> {
  const [earlier, later] = differing(before && readable(subject, before), after && readable(subject, after));
  return { actor, actor_type, at, action, before: earlier, after: later };
}

function readable({ kind, live, secrets }: Subject, state: JsonObject): JsonObject {
  const hidden = new Set(secrets.map((path) => path.replaceAll('\\.', '.')));
  const entries = Object.entries(normalised(kind, state)).flatMap(([name, value]): [string, Json][] => {
    const attribute = own(kind.attributes, name);
    if (attribute?.computed) return [];
    if (attribute?.wire !== 'merge') return [[name, veiled(attribute, value)]];
    const masked = masksIn(mergeOf(live?.values[name]).tree).map((path) => `${name}.0.${path}`);
    return [[name, without(mergeOf(value).tree, `${name}.0`, new Set([...hidden, ...masked]))]];
  });
  return Object.fromEntries(entries);
}

/** Known attributes in normal form, others as they are. */
function normalised(kind: Kind, state: JsonObject): Values {
  return Object.fromEntries(
    Object.entries(state).map(([name, value]) => {
      const attribute = own(kind.attributes, name);
      return [name, attribute ? normal(attribute, value) : value];
    }),
  );
}

function veiled(attribute: Attribute | undefined, value: Value): Json {
  if (attribute?.secret) return value === null ? null : SENSITIVE;
  if (attribute?.word !== 'object' || !isTree(value)) return redact(value);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, veiled(own(attribute.attributes, name), item)]));
}

/** A tree in which what stands at the hidden paths is not shown. */
function without(value: Value, path: string, hidden: ReadonlySet<string>): Json {
  if (hidden.has(path)) return SENSITIVE;
  if (Array.isArray(value)) return value.map((item: Value, index) => without(item, `${path}.${index}`, hidden));
  if (!isTree(value)) return redact(value);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, without(item, below(path, name).replaceAll('\\.', '.'), hidden)]));
}

/** Members that differ, as deep as both sides are objects; a side alone stays whole. */
function differing(before: JsonObject | null, after: JsonObject | null): readonly [JsonObject | null, JsonObject | null] {
  if (!before || !after) return [before, after];
  const sides: readonly [Record<string, Json>, Record<string, Json>] = [{}, {}];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [a, b] = [own(before, name), own(after, name)];
    if ((isEmpty(a) && isEmpty(b)) || equal(a, b)) continue;
    const [earlier, later] = isTree(a) && isTree(b) ? differing(a, b) : [a, b];
    if (earlier !== undefined) sides[0][name] = earlier;
    if (later !== undefined) sides[1][name] = later;
  }
  return sides;
}
