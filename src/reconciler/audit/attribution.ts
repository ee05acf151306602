// Finds the authors of the changes that an audit found: one reading of the activity log for all of them, and then only
// its records for each object. A record that does not show the live value is no evidence near the apply, because it may
// be trueup's own write. If the log cannot show the author, a window of time is given.
import {
  append,
  compareText,
  equal,
  exits,
  isEmpty,
  isMask,
  isTree,
  mapMembers,
  normalAll,
  note,
  own,
  redact,
  Refusal,
  Secret,
  SENSITIVE,
  writables,
  type Activity,
  type Attribute,
  type Author,
  type CloudReader,
  type Diagnostic,
  type DriftRecord,
  type Entry,
  type Json,
  type JsonObject,
  type Kind,
  type Live,
  type Value,
  type Values,
  type Window,
} from '../../model/index.js';
import type { Clock } from '../../platform/index.js';
import { isMerged, isDocumentApplied, declaredPart } from '../plan/document-diff.js';
import { missingCredentials } from '../plan/propose.js';
import { unreadWarnings } from '../live-collections.js';
import { declaredValueAt } from '../plan/resolve-references.js';

/** An object of which the log is asked. */
export interface Subject {
  readonly kind: Kind;
  readonly id: string;
  readonly what: 'changed' | 'gone' | 'unmanaged';
  /** The values last applied to it, where they are known. */
  readonly prior?: Pick<Entry, 'applied' | 'applied_at'>;
  /** Dotted paths of what is not as applied (or, never applied, not as declared). */
  readonly drifted: readonly string[];
  readonly live?: Live;
  readonly declared: Values;
  /** For an unmanaged object: the oldest known apply (ISO 8601). The log is searched from there on. */
  readonly news?: string;
}

export type Attribution = Pick<DriftRecord, 'changed_by' | 'window'>;

export interface LogEntries {
  readonly cloud: Pick<CloudReader, 'activity'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The activity log is kept this long. */
const KEPT = 30 * 24 * 3600_000;
/** The longest time back for which authors of unmanaged objects are searched. */
const NEWS = 7 * 24 * 3600_000;
/** Records may be a minute late or out of order. */
const GAP = 60_000;
/** The time that a response gives is cut to whole seconds. */
const CUT = 1000;
/** Largest assumed difference between two clocks that were not compared. */
const APART = 5 * 60_000;

/**
 * What is told of each subject, in their order.
 * @param skew milliseconds by which the server's clock is ahead of this machine's, if known
 */
export async function attribute(
  { cloud, clock }: LogEntries,
  subjects: readonly Subject[],
  skew?: number,
): Promise<{ told: readonly Attribution[]; diagnostics: readonly Diagnostic[] }> {
  const read = clock.now();
  const asked = subjects.filter(({ kind }) => !kind.unlogged);
  const { found, diagnostics } = await consult(cloud, asked, () => logWindow(asked, read, skew));
  const records = new Map<string, Activity[]>();
  for (const activity of found) append(records, activity.object_id, activity);
  const told = subjects.map((subject): Attribution => {
    const author = subject.kind.unlogged
      ? undefined
      : authorOf(subject, records.get(subject.id) ?? [], skew);
    return {
      changed_by: author ? shown(subject, author) : 'unknown',
      window: windowOf(subject, read, skew),
    };
  });
  return { told, diagnostics: [...diagnostics, ...unloggedNotes(subjects)] };
}

/** Says why the authors of some changes are not known. */
function unloggedNotes(subjects: readonly Subject[]): readonly Diagnostic[] {
  const asked = subjects.filter(({ kind, what }) => kind.unlogged && what !== 'unmanaged');
  const names = [...new Set(asked.map(({ kind }) => kind.name))].toSorted(compareText);
  if (names.length === 0) return [];
  const summary = `The activity log has no type for ${names.join(' and ')}, so who changed them is not looked up.`;
  return [note('unlogged', summary)];
}

/** A log that cannot be read costs the authors, and nothing else. */
async function consult(
  cloud: LogEntries['cloud'],
  asked: readonly Subject[],
  since: () => string,
): Promise<{ found: readonly Activity[]; diagnostics: readonly Diagnostic[] }> {
  if (asked.length === 0) return { found: [], diagnostics: [] };
  try {
    const ids = [...new Set(asked.map(({ id }) => id))];
    return { found: await cloud.activity(ids, since()), diagnostics: [] };
  } catch (error) {
    if (!(error instanceof Refusal) || error.exit === exits.interrupted) throw error;
    // A project whose own objects need no keys of the log did not ask for authors of unmanaged objects.
    const unasked =
      asked.every(({ what }) => what === 'unmanaged') &&
      error.diagnostics.every(({ code }) => missingCredentials.has(code));
    const summary = 'Who changed it is not known, because the activity log could not be read.';
    return { found: [], diagnostics: unasked ? [] : unreadWarnings(error, summary) };
  }
}

/** From when on the log has to be read for these, of which there is one at least; by the server's clock (ISO 8601). */
export function logWindow(subjects: readonly Subject[], now: number, skew?: number): string {
  const end = now + (skew ?? 0);
  const start = subjects.reduce(
    (first, subject) => Math.min(first, startOf(subject, end, skew)),
    Infinity,
  );
  return new Date(Math.max(end - KEPT, start)).toISOString();
}

function startOf(subject: Subject, end: number, skew: number | undefined): number {
  if (subject.what !== 'unmanaged')
    return (appliedAt(subject, skew) ?? Number.NEGATIVE_INFINITY) - slack(skew);
  return Math.max(
    end - NEWS,
    subject.news === undefined ? 0 : Date.parse(subject.news) + (skew ?? 0) - slack(skew),
  );
}

/** Within which two moments may be one. */
const slack = (skew: number | undefined): number => GAP + (skew === undefined ? APART : 0);

/** When it was last applied, by the server's clock; up to `CUT` too early. */
const appliedAt = ({ prior }: Subject, skew = 0): number | undefined =>
  prior && Date.parse(prior.applied_at) + skew;

/** The record that tells who did it. `activities` are those of this identifier, the oldest first. */
export function authorOf(
  subject: Subject,
  activities: readonly Activity[],
  skew?: number,
): Activity | undefined {
  const applied = appliedAt(subject, skew) ?? Number.NEGATIVE_INFINITY;
  const records = activities.filter(
    (one) => isAbout(subject.kind, one) && Date.parse(one.at) >= applied - slack(skew),
  );
  if (subject.what === 'gone') return records.findLast(({ action }) => action === 'delete');
  if (subject.what === 'unmanaged')
    return (
      records.findLast(({ action }) => MAKING.has(action)) ??
      records.findLast(({ action }) => action === 'update')
    );
  const weighed = records.map((one) => [one, weigh(subject, one)] as const);
  const mayBeOurs = ({ at }: Activity): boolean => Date.parse(at) <= applied + slack(skew) + CUT;
  const rest = weighed.slice(
    weighed.findLastIndex(
      ([one, weight]) => weight === 'contradicts' || (weight === 'open' && mayBeOurs(one)),
    ) + 1,
  );
  const [author] =
    rest.findLast(([, weight]) => weight === 'shows') ??
    rest.findLast(([, weight]) => weight === 'open' && subject.prior) ??
    [];
  return author;
}

const MAKING: ReadonlySet<string> = new Set(['create', 'register']);

/** Numbers identify objects of several types: a record that names no type has to look like the kind. */
function isAbout(
  { singular, attributes }: Kind,
  { object_id, object_type, before, after }: Activity,
): boolean {
  if (object_type !== null) return singular === object_type || singular.endsWith(`_${object_type}`);
  const names = Object.keys({ ...before, ...after });
  return (
    !/^\d+$/.test(object_id) ||
    (names.length > 0 && names.every((name) => Object.hasOwn(attributes, name)))
  );
}

/**
 * The evidence of a record for the drift: it shows the live value; it contradicts the live value, so there was a later
 * change; it changed other values, or none (`none`); or it is an update without details.
 */
function weigh(
  subject: Subject,
  { action, before, after }: Activity,
): 'shows' | 'contradicts' | 'none' | 'open' {
  const [then, now, live] = [toldOf(subject, before), toldOf(subject, after), liveOf(subject)];
  const told = subject.drifted.filter((path) => Object.hasOwn(now, nameIn(path)));
  if (action !== 'update' && !(MAKING.has(action) && !subject.prior)) return 'none';
  if (!told.every((path) => alike(subject, path, now, live))) return 'contradicts';
  if (action !== 'update') return told.length > 0 ? 'shows' : 'none';
  const compared = told.filter((path) => Object.hasOwn(then, nameIn(path)));
  if (compared.some((path) => !alike(subject, path, then, now))) return 'shows';
  const silent = isEmpty(before) && isEmpty(after);
  return compared.length === 0 && (told.length > 0 || silent) ? 'open' : 'none';
}

const nameIn = (path: string): string => path.split('.', 1)[0]!;

function alike({ kind: { attributes } }: Subject, path: string, a: Values, b: Values): boolean {
  const [one, other] = [declaredValueAt(a, path) ?? null, declaredValueAt(b, path) ?? null];
  const attribute = own(attributes, nameIn(path));
  if ((isEmpty(one) && isEmpty(other)) || equal(one, other)) return true;
  return (
    attribute !== undefined &&
    isMerged(attribute) &&
    isDocumentApplied({ it: one }, { it: other }) &&
    isDocumentApplied({ it: other }, { it: one })
  );
}

/** The values that trueup manages. */
const spoken = ({ prior, declared }: Subject): Values => prior?.applied ?? declared;

/** The values of a record, in normal form, and of a document no more than is declared. */
function toldOf(subject: Subject, state: JsonObject | null): Values {
  const { attributes } = subject.kind;
  const values = mapMembers(state ?? {}, (value, name) => plain(own(attributes, name), value));
  return numbered(
    subject.kind,
    declaredPart(subject.kind, spoken(subject), normalAll(attributes, values)),
  );
}

/** Values with the two parts of each document under `0` and `1`, so that every part has a place by its path. */
const numbered = (kind: Kind, values: Values): Values =>
  mapMembers(values, (value, name) =>
    own(kind.attributes, name)?.wire === 'merge' && Array.isArray(value)
      ? Object.fromEntries(Object.entries(value as readonly Value[]))
      : value,
  );

/** The reverse, for what is shown. */
function paired(kind: Kind, values: JsonObject | null): JsonObject | null {
  if (!values) return null;
  const documents = Object.entries(values).map(([name, value]): [string, Json] => {
    if (own(kind.attributes, name)?.wire !== 'merge' || !isTree(value)) return [name, value];
    const { 0: tree = {}, 1: removed } = value as Readonly<Record<string, Json>>;
    return [name, removed === undefined ? [tree] : [tree, removed]];
  });
  return Object.fromEntries(documents);
}

/** The log writes a choice as `{id, name}`. */
const plain = (attribute: Attribute | undefined, value: Value): Value =>
  attribute?.word === 'choice' && isTree(value) ? (own(value, 'name') ?? null) : value;

const liveOf = (subject: Subject): Values =>
  numbered(subject.kind, declaredPart(subject.kind, spoken(subject), subject.live?.values ?? {}));

/** After the last apply; at the latest when the object says that it was updated, or when it was read. */
function windowOf(subject: Subject, read: number, skew: number | undefined): Window {
  const updated =
    subject.what === 'gone' ? Number.NaN : Date.parse(String(subject.live?.values['updated_at']));
  const known = updated >= (appliedAt(subject, skew) ?? Number.NEGATIVE_INFINITY);
  return {
    after: subject.prior?.applied_at ?? null,
    before: new Date(known ? updated : read).toISOString(),
  };
}

/** A record as it is shown: of what can be written only what drifted (was declared, where it is gone), and no secret. */
function shown(
  subject: Subject,
  { actor, actor_type, at, action, before, after }: Activity,
): Exclude<Author, 'unknown'> {
  const [then, now] = [toldOf(subject, before), toldOf(subject, after)];
  const veil = veilOf(subject, [then, now]);
  const [earlier, later] = differing(
    before && veiled(subject, then, veil),
    after && veiled(subject, now, veil),
  );
  return {
    actor,
    actor_type,
    at,
    action,
    before: paired(subject.kind, earlier),
    after: paired(subject.kind, later),
  };
}

type Veil = ReturnType<typeof veilOf>;

function veilOf(subject: Subject, states: readonly Values[]) {
  const { kind, what, drifted, declared } = subject;
  const free = writables(kind).flatMap(([name, { word }]) => (word === 'document' ? [] : [name]));
  const paths = { changed: drifted, gone: Object.keys(spoken(subject)), unmanaged: free }[what];
  const witnesses = [
    ...states,
    liveOf(subject),
    numbered(kind, spoken(subject)),
    numbered(kind, declared),
  ];
  return {
    /** Places at which something is a secret or masked. */
    covered: new Set(witnesses.flatMap((values) => [...coveredIn(values, '')])),
    shows: (place: string): boolean =>
      paths.some(
        (path) => path === place || path.startsWith(`${place}.`) || place.startsWith(`${path}.`),
      ),
  };
}

const placeOf = (place: string, step: string): string => (place === '' ? step : `${place}.${step}`);

/** Where something is masked or a secret. The items of a list are one place: they move. */
function* coveredIn(value: Value, place: string): Generator<string> {
  if (isMask(value) || value instanceof Secret) yield place;
  else if (Array.isArray(value))
    for (const item of value as readonly Value[]) yield* coveredIn(item, placeOf(place, '*'));
  else if (isTree(value))
    for (const [name, item] of Object.entries(value)) yield* coveredIn(item, placeOf(place, name));
}

function veiled(subject: Subject, state: Values, veil: Veil): JsonObject {
  const [live, known] = [liveOf(subject), numbered(subject.kind, spoken(subject))];
  const entries = writables(subject.kind).flatMap(([name, attribute]): [string, Json][] => {
    if (!Object.hasOwn(state, name) || !veil.shows(name)) return [];
    const at = { live: live[name], known: known[name], attribute, place: name };
    return [[name, visible(state[name]!, at, veil)]];
  });
  return Object.fromEntries(entries);
}

/** The position of a value of the log, with the live and the declared value there. */
interface LogPlace {
  readonly live: Value | undefined;
  readonly known: Value | undefined;
  readonly attribute: Attribute;
  readonly place: string;
}

/** Only the service knows which members of a document are secret: of it nothing is shown but what is live in clear, or declared as it is. */
function visible(value: Value, at: LogPlace, veil: Veil): Json {
  const { live, known, attribute, place } = at;
  if (value === null) return null;
  if (attribute.secret || veil.covered.has(place)) return SENSITIVE;
  if (Array.isArray(value))
    return (value as readonly Value[]).map((item, index) =>
      visible(item, below(at, index, '*', innerOf(attribute)), veil),
    );
  if (isTree(value)) {
    const entries = Object.entries(value).flatMap(([name, item]): [string, Json][] => {
      const inner =
        attribute.word === 'object' ? own(attribute.attributes, name) : innerOf(attribute);
      if (!inner || !veil.shows(placeOf(place, name))) return [];
      return [[name, visible(item, below(at, name, name, inner), veil)]];
    });
    return Object.fromEntries(entries);
  }
  const clear =
    attribute.word !== 'document' ||
    equal(value, known) ||
    !(isTree(live) || Array.isArray(live) || isEmpty(live) || live === '');
  return clear ? redact(value) : SENSITIVE;
}

/** The attribute of what is inside: of a document, the document. */
const innerOf = (attribute: Attribute): Attribute => ('of' in attribute ? attribute.of : attribute);

const below = (
  { live, known, place }: LogPlace,
  name: string | number,
  step: string,
  attribute: Attribute,
): LogPlace => ({
  live: partOf(live, name),
  known: partOf(known, name),
  attribute,
  place: placeOf(place, step),
});

function partOf(value: Value | undefined, name: string | number): Value | undefined {
  if (typeof name === 'string') return isTree(value) ? own(value, name) : undefined;
  return Array.isArray(value) ? (value as readonly Value[])[name] : undefined;
}

/** Members that differ, as deep as both sides are objects; a side alone stays whole. */
function differing(
  before: JsonObject | null,
  after: JsonObject | null,
): readonly [JsonObject | null, JsonObject | null] {
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
