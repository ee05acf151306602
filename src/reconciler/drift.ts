// The audit: live against declared and against last applied. Which attribute, from what to what, since when, and
// who, where the activity log knows. Reads only.
import {
  exits,
  redact,
  Refusal,
  Secret,
  SENSITIVE,
  writes,
  type Activity,
  type AttributeChange,
  type Change,
  type Declaration,
  type Diagnostic,
  type DriftChange,
  type DriftRecord,
  type Entry,
  type Exit,
  type Findings,
  type Json,
  type PlanRequest,
  type Project,
  type Value,
  worst,
} from '../model/index.js';
import type { Snapshot } from '../state/store.js';
import { ignoring } from './diff.js';
import { propose, type Desk } from './propose.js';
import { valueAt } from './resolve.js';

export interface Audit extends Findings {
  /** 0 in sync, 2 drift, 1 or 5 where the audit could not be made. */
  readonly exit: Exit;
}

/** The activity log is kept this long. */
const LOG_DAYS = 30;

export async function findDrift(desk: Desk, project: Project, snapshot: Snapshot | undefined): Promise<Audit> {
  const request: PlanRequest = { targets: [], excludes: [], allow: [], destroy: false };
  const { plan, exit } = await propose(desk, project, snapshot, request);
  const entries = snapshot?.state.resources ?? {};
  const declarations = new Map(project.declarations.map((one) => [one.address, one]));
  const drifted = new Map(plan.drift.map((one) => [one.address, one.changes]));
  const records = plan.changes.flatMap((change) => recordOf(change, entries[change.renamed_from ?? change.address], declarations.get(change.address), drifted) ?? []);
  const named = new Set(records.map(({ address }) => address));
  const { activities, diagnostics } = await whoChanged(desk, records);
  const failed = exit === exits.error || exit === exits.undecided;
  return {
    records: records.map((record) => withAuthor(record, activities)),
    inSync: plan.changes.flatMap(({ address }) => (named.has(address) ? [] : [address])),
    unmanaged: plan.unmanaged,
    unmanagedObjects: [],
    health: [],
    expectations: [],
    access: null,
    diagnostics: [...plan.diagnostics, ...diagnostics],
    exit: failed ? exit : worst(records.some((record) => record.status !== 'settled') ? [exits.changes] : []),
  };
}

function recordOf(
  change: Change,
  entry: Entry | undefined,
  declaration: Declaration | undefined,
  drifted: ReadonlyMap<string, readonly AttributeChange[] | undefined>,
): DriftRecord | undefined {
  const base = {
    address: change.address,
    kind: change.kind,
    origin: change.origin ?? null,
    since: entry?.applied_at ?? null,
    changed_by: 'unknown' as const,
    window: { after: entry?.applied_at ?? null, before: null },
  };
  const applied = (path: string): Json => json(valueAt(entry?.applied ?? {}, path));
  if (change.action === 'create') return { ...base, id: entry?.id ?? null, status: entry ? 'gone' : 'missing', changes: [] };
  if (change.action === 'delete' || change.action === 'forget' || (change.action === 'update' && !change.desired)) {
    const gone = change.action === 'forget' && drifted.has(change.address);
    return { ...base, id: change.id, status: gone ? 'gone' : 'undeclared', changes: [] };
  }
  if ('changes' in change && writes(change) && change.changes.some((one) => !isSecret(one.after)))
    return {
      ...base,
      id: change.id,
      status: 'changed',
      changes: change.changes.map((one): DriftChange => ({ path: one.path, declared: json(one.after), applied: applied(one.path), live: json(one.before) })),
    };
  const outside = drifted.get(change.address);
  if (!outside || outside.length === 0) return undefined;
  const declared = ignoring(declaration?.values ?? {}, declaration?.lifecycle.ignore_changes ?? []);
  return {
    ...base,
    id: change.id,
    status: 'settled',
    changes: outside.map((one): DriftChange => ({ path: one.path, declared: json(valueAt(declared, one.path)), applied: json(one.before), live: json(one.after) })),
  };
}

/** A secret cannot be read back, so it is never drift. */
const isSecret = (value: Value | undefined): boolean => value instanceof Secret;

const json = (value: Value | undefined): Json => (value === undefined ? null : redact(value, () => SENSITIVE));

async function whoChanged(desk: Desk, records: readonly DriftRecord[]): Promise<{ activities: ReadonlyMap<string, Activity>; diagnostics: readonly Diagnostic[] }> {
  const asked = records.filter((record) => record.id !== null && ['changed', 'gone', 'settled'].includes(record.status));
  if (asked.length === 0) return { activities: new Map(), diagnostics: [] };
  const oldest = new Date(desk.clock.now() - LOG_DAYS * 24 * 3600 * 1000).toISOString();
  const since = asked.map((record) => record.since ?? oldest).toSorted()[0] ?? oldest;
  try {
    const found = await desk.cloud.activity(
      asked.map((record) => record.id as string),
      since < oldest ? oldest : since,
    );
    return { activities: new Map(found.map((activity) => [activity.object_id, activity])), diagnostics: [] };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return {
      activities: new Map(),
      diagnostics: error.diagnostics.map((one) => ({
        ...one,
        severity: 'warning',
        summary: `Who changed it is not known, because the activity log could not be read. ${one.summary}`,
      })),
    };
  }
}

function withAuthor(record: DriftRecord, activities: ReadonlyMap<string, Activity>): DriftRecord {
  const activity = record.id === null || record.status === 'undeclared' || record.status === 'missing' ? undefined : activities.get(record.id);
  if (!activity || (record.since !== null && activity.at < record.since)) return record;
  const { actor, actor_type, at, action, before, after } = activity;
  return { ...record, changed_by: { actor, actor_type, at, action, before, after } };
}
