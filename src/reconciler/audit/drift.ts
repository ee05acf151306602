// The audit: compares live objects with the declarations and the last apply. For each attribute: old and new value,
// time and author, if the activity log shows them. Reads only.
import {
  defined,
  labelOf,
  labelsIn,
  changesOf,
  compareText,
  exits,
  firstNamed,
  note,
  paired,
  redact,
  REPLACED_OUTSIDE,
  Secret,
  secretsIn,
  SENSITIVE,
  isClear,
  own,
  isEmpty,
  WHOLE_PLAN,
  writes,
  type AttributeChange,
  type AuditFindings,
  type Change,
  type Collections,
  type Declaration,
  type Diagnostic,
  type Drift,
  type DriftChange,
  type DriftRecord,
  type Entry,
  type Exit,
  type Findings,
  type Json,
  type Kind,
  type Kinds,
  type Live,
  type Project,
  type Provider,
  type ReferenceLabels,
  type State,
  type UnmanagedRecord,
  type Value,
  worst,
} from '../../model/index.js';
import type { Snapshot } from '../../state/store-port.js';
import { attribute, type Attribution, type Subject } from './attribution.js';
import { ignoring } from '../plan/diff.js';
import { differsInSecretsAlone } from '../plan/document-diff.js';
import { unverified, verifyExpectations } from './expectations.js';
import { observe, type LiveCollections } from '../live-collections.js';
import { observingOf, propose, type PlanContext } from '../plan/propose.js';
import { formerAddressInState } from '../plan/match.js';
import type { Proposal } from '../plan/plan.js';
import { managers } from '../plan/recorded-addresses.js';
import { declaredValueAt } from '../plan/resolve-references.js';

export interface Audit extends Findings {
  /** 0 in sync, 2 drift, 1 or 5 where the audit could not be made. */
  readonly exit: Exit;
  /** Whether a declared secret counts as unchanged because it is the one sent last. */
  readonly compares_secrets: boolean;
}

export interface AuditContext extends PlanContext, Pick<Provider, 'audits'> {
  readonly collections: Collections;
}

/** A finding before the log is read, and the question to the log. */
interface Case<T> {
  readonly record: Omit<T, keyof Attribution>;
  readonly subject?: Subject;
}

export async function findDrift(
  context: AuditContext,
  project: Project,
  snapshot: Snapshot | undefined,
): Promise<Audit> {
  // What a rule warns of in a plan, the health issues of an audit tell.
  const rules = context.rules.map(({ warn: _, ...rule }) => rule);
  const request = { ...WHOLE_PLAN, audit: true } as const;
  const proposal = await propose({ ...context, rules }, project, snapshot, request);
  const { plan, liveObjects, secrets, unmanaged: objects, exit } = proposal;
  const entries = snapshot?.state.resources ?? {};
  const changes = paired(plan.changes).map(([change]) => change);
  const cases = casesOf(context.kinds, { project, state: snapshot?.state, changes, proposal });
  const [news] = Object.values(entries)
    .map(({ applied_at }) => applied_at)
    .toSorted(compareText);
  const unmanaged = [...objects].flatMap(([name, some]) =>
    some.map((live) => unmanagedOf(context.kinds.get(name)!, live, { news, liveObjects })),
  );
  const { saidOf, diagnostics } = await askLog(context, [...cases, ...unmanaged], liveObjects);
  const records = cases.map((one): DriftRecord => ({
    ...one.record,
    ...(saidOf(one) ?? {
      changed_by: 'unknown',
      window: { after: one.record.since, before: null },
    }),
  }));
  const named = new Set(records.map(({ address }) => address));
  const expectations = await verifyExpectations(
    context.cloud,
    context.collections,
    project.expectations,
  );
  const audited = {
    changes: plan.changes,
    live: liveObjects,
    settings: project.settings,
    addressOf: managers(plan.changes, entries),
    read: (names: readonly string[]) => observe(observingOf(context, snapshot?.state), names),
  };
  const more = await Promise.all(context.audits.map((source) => source(audited)));
  return {
    drift: records,
    in_sync: changes.flatMap(({ address }) => (named.has(address) ? [] : [address])),
    unmanaged: plan.unmanaged,
    unmanaged_objects: unmanaged.map((one): UnmanagedRecord => ({
      ...one.record,
      ...saidOf(one)!,
    })),
    health: more.flatMap(({ health = [] }) => health),
    expectations,
    access: more.find(({ access }) => access)?.access ?? null,
    diagnostics: [
      ...unlessRetold(plan.diagnostics, more),
      ...unsentNotes(context, changes, secrets),
      ...diagnostics,
      ...more.flatMap((one) => one.diagnostics ?? []),
      ...unverified(expectations),
    ],
    exit: exitOf({ exit, plan }, records, expectations),
    compares_secrets: [...secrets.values()].includes('same'),
  };
}

interface Proposed {
  readonly project: Project;
  readonly state: State | undefined;
  readonly changes: readonly Change[];
  readonly proposal: Proposal;
}

/** What is not as declared or as last applied, also where an error keeps the plan from having a change. */
function casesOf(
  kinds: Kinds,
  { project, state, changes, proposal: { plan, liveObjects, secrets } }: Proposed,
): readonly Case<DriftRecord>[] {
  const declarations = new Map(project.declarations.map((one) => [one.address, one]));
  const entryAt = (address: string): Entry | undefined => state?.resources[address];
  const drifted = new Map(plan.drift.map((one) => [one.address, one]));
  const planned = new Set(changes.map(({ address }) => address));
  const caseOf = (found: Found, known: Pick<Known, 'entry' | 'declaration'>) => {
    const subject = subjectOf(found, kinds.get(found.record.kind)!, { ...known, liveObjects });
    return { record: found.record, ...defined({ subject }) };
  };
  return [
    ...changes.flatMap((change): Case<DriftRecord> | [] => {
      const entry = entryAt(change.renamed_from ?? change.address);
      const known = { entry, declaration: declarations.get(change.address) };
      const found = recordOf(kinds.get(change.kind)!, change, { ...known, drifted, secrets });
      return found ? caseOf(found, known) : [];
    }),
    ...plan.drift.flatMap((one): Case<DriftRecord> | [] => {
      if (planned.has(one.address)) return [];
      const declaration = declarations.get(one.address);
      const former = declaration && formerAddressInState(declaration, state);
      const known = { entry: entryAt(former ?? one.address), declaration };
      return caseOf(recordOfUnplanned(one, known), known);
    }),
  ];
}

/** Secrets that the next apply sends because no record says that they were sent: nobody can tell whether they are live. */
function unsentNotes(
  { kinds }: Pick<AuditContext, 'kinds'>,
  changes: readonly Change[],
  secrets: Proposal['secrets'],
): readonly Diagnostic[] {
  const unsent = changes.flatMap((change) =>
    change.action === 'create'
      ? []
      : changesOf(change)
          .filter((one) => differsInSecretsAlone(kinds.get(change.kind)!, one))
          .flatMap(({ path, after = null }) => [...secretsIn(after, path).keys()])
          .filter((path) => secrets.get(`${change.address} ${path}`) === 'unknown')
          .map((path) => `${path} of ${change.address}`),
  );
  if (unsent.length === 0) return [];
  const [is, it] = unsent.length === 1 ? ['is', 'it is'] : ['are', 'they are'];
  return [
    note(
      'secret-unsent',
      `${firstNamed(unsent, FEW)} ${is} not recorded as sent, so the audit cannot tell whether ${it} as declared.`,
      'To send what is declared: trueup apply',
    ),
  ];
}

/** Secrets that a note names. */
const FEW = 3;

/** Without what the health issues of the same objects tell, too. */
function unlessRetold(
  diagnostics: readonly Diagnostic[],
  sources: readonly AuditFindings[],
): readonly Diagnostic[] {
  const told = new Set(
    sources.flatMap(({ health = [], retold = [] }) =>
      health.flatMap(({ address }) => retold.map((code) => `${code} ${address}`)),
    ),
  );
  return diagnostics.filter(({ code, address }) => !told.has(`${code} ${address}`));
}

/** An audit fails with the errors of its plan. */
function exitOf(
  { exit, plan }: Pick<Proposal, 'exit' | 'plan'>,
  records: readonly DriftRecord[],
  expectations: Audit['expectations'],
): Exit {
  if (exit === exits.error || exit === exits.undecided) return exit;
  // A plan that is blocked as well ends with another exit code.
  if (plan.diagnostics.some(({ severity }) => severity === 'error')) return exits.error;
  const drifts =
    records.some(({ status }) => status !== 'settled') ||
    expectations.some(({ verdict }) => verdict === 'failed');
  const unknown = unverified(expectations);
  return worst([...(drifts ? [exits.changes] : []), ...(unknown.length > 0 ? [exits.error] : [])]);
}

async function askLog(
  context: AuditContext,
  cases: readonly Pick<Case<unknown>, 'subject'>[],
  liveObjects: LiveCollections,
) {
  const subjects = cases.flatMap(({ subject }) => subject ?? []);
  const { skew } = [...liveObjects.values()].find((one) => one.skew !== undefined) ?? {};
  const { told, diagnostics } = await attribute(context, subjects, skew);
  const said = new Map(subjects.map((subject, index) => [subject, told[index]!]));
  const saidOf = ({ subject }: (typeof cases)[number]): Attribution | undefined =>
    subject && said.get(subject);
  return { saidOf, diagnostics };
}

/** An object that is not as declared or as last applied; `outside` names the attributes that were changed outside of trueup. */
interface Found extends Case<DriftRecord> {
  readonly outside: readonly string[];
}

type Read = Pick<Proposal, 'liveObjects'>;

interface Known extends Pick<Proposal, 'secrets'> {
  readonly entry: Entry | undefined;
  readonly declaration: Declaration | undefined;
  /** Changes outside of trueup, by address. */
  readonly drifted: ReadonlyMap<string, Drift>;
}

function recordOf(
  kind: Kind,
  change: Change,
  { entry, declaration, drifted, secrets }: Known,
): Found | undefined {
  const found = (
    status: DriftRecord['status'],
    id: string | null,
    more: Partial<DriftRecord> = {},
    outside: readonly { readonly path: string }[] = [],
  ): Found => ({
    record: {
      address: change.address,
      kind: change.kind,
      origin: change.origin ?? null,
      since: entry?.applied_at ?? null,
      status,
      id,
      changes: [],
      ...more,
    },
    outside: outside.map(({ path }) => path),
  });
  const edited = ({ path, after }: AttributeChange): boolean =>
    [...secretsIn(after ?? null, path).keys()].some(
      (at) => secrets.get(`${change.address} ${at}`) === 'changed',
    );
  const changes = changesOf(change).filter(
    (one) => edited(one) || !differsInSecretsAlone(kind, one),
  );
  const told = changes.map((one): DriftChange => toldOf(one, entry, edited(one)));
  const applied = drifted.get(change.address)?.reference_labels;
  const shown = { changes: told, ...labelsOfBoth(applied, change.reference_labels) };
  if (change.action === 'adopt' && change.previous_id !== undefined) {
    const { previous_id, id } = change;
    const replaced = { reason: REPLACED_OUTSIDE, previous_id, importing: { id } } as const;
    return found('replaced', id, { ...replaced, ...shown }, changes);
  }
  if (change.action === 'create' && !change.replaces)
    return found(entry ? 'gone' : 'missing', entry?.id ?? null);
  if (
    change.action === 'delete' ||
    change.action === 'forget' ||
    (change.action === 'update' && !change.declaredObject)
  ) {
    const gone = change.action === 'forget' && drifted.has(change.address);
    return found(gone ? 'gone' : 'undeclared', change.id);
  }
  const { id } = change.action === 'create' ? change.replaces! : change;
  if (changes.length > 0 && writes(change)) {
    const outside = changes.filter((one) => one.drifted || entry?.id !== id);
    const more = { ...shown, ...(isBoundAlone(entry) && { since: null }) };
    return found('changed', id, more, outside);
  }
  const { changes: outside = [], reference_labels } = drifted.get(change.address) ?? {};
  if (outside.length === 0) return undefined;
  const settled = sinceApply(declaration, outside);
  return found('settled', id, { changes: settled, ...defined({ reference_labels }) }, outside);
}

/** What changed outside of trueup, beside what is declared. */
function sinceApply(
  declaration: Declaration | undefined,
  outside: readonly AttributeChange[],
): readonly DriftChange[] {
  const declared = ignoring(declaration?.values ?? {}, declaration?.lifecycle.ignore_changes ?? []);
  return outside.map((one) => ({
    path: one.path,
    declared: json(declaredValueAt(declared, one.path)),
    applied: json(one.before),
    live: json(one.after),
  }));
}

/** A recorded object that was deleted or changed, and of which an error keeps the plan from saying what is sent. */
function recordOfUnplanned(
  { address, kind, id, changes: outside = [], reference_labels }: Drift,
  { entry, declaration }: Pick<Known, 'entry' | 'declaration'>,
): Found {
  return {
    record: {
      address,
      kind,
      origin: declaration?.origin ?? null,
      since: entry?.applied_at ?? null,
      status: outside.length === 0 ? 'gone' : 'changed',
      id,
      changes: sinceApply(declaration, outside),
      ...defined({ reference_labels }),
    },
    outside: outside.map(({ path }) => path),
  };
}

/** What was applied may refer to another object than what is declared and what is live. */
function labelsOfBoth(
  applied: ReferenceLabels = {},
  planned: ReferenceLabels = {},
): Pick<DriftRecord, 'reference_labels'> {
  const names = new Set([...Object.keys(applied), ...Object.keys(planned)]);
  if (names.size === 0) return {};
  const both = [...names].map((name) => [name, { ...applied[name], ...planned[name] }] as const);
  return { reference_labels: Object.fromEntries(both) };
}

/** A change as an audit tells it. A secret is shown on no side; of a document, it is known whether it has one. */
function toldOf(
  { path, before, after }: AttributeChange,
  entry: Entry | undefined,
  isEdited: boolean,
): DriftChange {
  const applied = appliedAt(entry, path);
  const isGone = isEmpty(before) && 'applied' in applied;
  return {
    path,
    declared: json(after),
    ...(after instanceof Secret && isEdited
      ? { applied: SENSITIVE, live: isGone ? null : SENSITIVE }
      : { ...applied, live: json(before) }),
  };
}

function appliedAt(entry: Entry | undefined, path: string): Pick<DriftChange, 'applied'> {
  const { applied = {} } = entry ?? {};
  const value = declaredValueAt(applied, path);
  if (value !== undefined) return { applied: json(value) };
  // A document that was cleared had no member.
  return isClear(own<Value>(applied, path.split('.', 1)[0]!)) ? { applied: null } : {};
}

/** True for an object in state to which nothing was ever applied: the age of its values is unknown. */
const isBoundAlone = (entry: Entry | undefined): boolean =>
  entry !== undefined && Object.keys(entry.applied).length === 0;

/** Of what took the place of another object, the log is asked who created it. */
const askedAs: Partial<Record<DriftRecord['status'], Subject['what']>> = {
  gone: 'gone',
  replaced: 'unmanaged',
};

/** The question to the log; undefined where nobody else can have made the change. */
function subjectOf(
  { record: { id, status }, outside }: Found,
  kind: Kind,
  { entry, declaration, liveObjects }: Omit<Known, 'drifted' | 'secrets'> & Read,
): Subject | undefined {
  if (id === null || (status !== 'gone' && status !== 'replaced' && outside.length === 0))
    return undefined;
  const live = liveObjects.get(kind.name)?.byId.get(id);
  return {
    kind,
    id,
    what: askedAs[status] ?? 'changed',
    drifted: outside,
    declared: declaration?.values ?? {},
    ...(entry?.id === id && (status === 'gone' || !isBoundAlone(entry)) && { prior: entry }),
    ...defined({ live }),
  };
}

function unmanagedOf(
  kind: Kind,
  live: Live,
  { news, liveObjects }: { readonly news: string | undefined } & Read,
): Case<UnmanagedRecord> & { readonly subject: Subject } {
  const subject: Subject = {
    kind,
    id: live.id,
    what: 'unmanaged',
    drifted: [],
    declared: {},
    live,
    ...defined({ news }),
  };
  const label = labelOf(kind, live.values, labelsIn(liveObjects));
  return { record: { kind: kind.name, id: live.id, label }, subject };
}

const json = (value: Value | undefined): Json =>
  value === undefined ? null : redact(value, () => SENSITIVE);
