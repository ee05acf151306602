// The words and signs that every renderer uses for the same thing.
import {
  equal,
  flagToAllow,
  summarise,
  type Action,
  type HealthIssue,
  type Diagnostic,
  type DocumentRequest,
  type DriftDocument,
  type DriftRecord,
  type Origin,
  type Outcome,
  type PlanDocument,
  type ResourceChange,
  type Severity,
  type Summary,
  type UnmanagedRecord,
  type Verified,
} from '../model/index.js';

export const signs: Readonly<Record<Action, string>> = {
  create: '+',
  update: '~',
  delete: '-',
  adopt: '=',
  forget: '.',
  keep: ' ',
};
export const driftSigns: Readonly<Record<DriftRecord['status'], string>> = {
  changed: '~',
  gone: '-',
  replaced: '~',
  missing: '+',
  undeclared: '.',
  settled: '=',
};
export const driftActions: Readonly<Record<DriftRecord['status'], Action>> = {
  changed: 'update',
  gone: 'delete',
  replaced: 'update',
  missing: 'create',
  undeclared: 'forget',
  settled: 'adopt',
};

/** What a change of a document does: an action, or two of them that replace an object. */
export type SummaryKey = keyof Summary;

/** The action that a change of a document stands for. */
export function actionOf({ change }: ResourceChange): SummaryKey {
  if (change.importing) return 'adopt';
  const [action, then] = change.actions;
  if (then !== undefined) return 'replace';
  return action === 'no-op' ? 'keep' : action;
}

/** What is kept is counted and not shown, unless its address is new. */
export const isShown = (resource: ResourceChange): boolean =>
  actionOf(resource) !== 'keep' || isRename(resource);
const isRename = (resource: ResourceChange): boolean =>
  actionOf(resource) === 'keep' && resource.previous_address !== undefined;

export function signOf(resource: ResourceChange): string {
  if (isRename(resource)) return '>';
  const action = actionOf(resource);
  return action === 'replace'
    ? resource.change.actions.map((one) => (one === 'create' ? '+' : '-')).join('/')
    : signs[action];
}

/** Whether a live object goes for good: that has to be seen without colour, and stands on top. */
export const destroys = (resource: ResourceChange): boolean =>
  resource.change.actions.some((one) => one === 'delete');

export function verbOf(resource: ResourceChange): string {
  const action = actionOf(resource);
  if (destroys(resource)) return action.toUpperCase();
  if (isRename(resource)) return 'rename';
  return action === 'adopt' && resource.change.actions[0] === 'update' ? 'adopt, update' : action;
}

export interface SentWords {
  readonly change: ResourceChange;
  readonly request: DocumentRequest;
}

/** Requests as they are sent: first the deletes before a replacement, last the other deletes, an object before those that it names. */
export function requestsInOrder(changes: readonly ResourceChange[]): readonly SentWords[] {
  const all = changes.flatMap((change) => change.requests.map((request) => ({ change, request })));
  const rank = ({ change, request }: SentWords): number => {
    if (request.method !== 'DELETE') return 1;
    return change.change.actions.join() === 'delete,create' ? 0 : 2;
  };
  const ranked = (wanted: number): readonly SentWords[] =>
    all.filter((one) => rank(one) === wanted);
  const [replaced, removed] = [
    ranked(2).filter(({ change }) => actionOf(change) === 'replace'),
    ranked(2).filter(({ change }) => actionOf(change) === 'delete'),
  ];
  return [...ranked(0).toReversed(), ...ranked(1), ...replaced.toReversed(), ...removed];
}

export function plural(count: number, one: string): string {
  return `${count} ${count === 1 ? one : `${one}s`}`;
}

/** `file:line:column`, behind the path of the construct where a program made it. */
export function place({ file, line, column, path }: Origin): string {
  const text = `${file}:${line}:${column}`;
  if (path === undefined) return text;
  return line === 0 ? path : `${path} (${text})`;
}

/** What the change is and where it comes from, beside its address. */
export function circumstances(resource: ResourceChange): readonly string[] {
  return [
    resource.previous_id === undefined
      ? resource.reason
      : `replaced outside of trueup; it was ${resource.previous_id}`,
    ...(resource.deposed === undefined ? [] : [`id ${resource.deposed}, deposed`]),
    ...(resource.change.importing ? [`id ${resource.change.importing.id}`] : []),
    ...(resource.previous_address === undefined || isRename(resource)
      ? []
      : [`renamed from ${resource.previous_address}`]),
  ];
}

/** What writes is counted even where it is nothing; what only changes memory is left out then. */
const worthCounting = (summary: Summary): readonly Exclude<SummaryKey, 'keep'>[] =>
  (['create', 'adopt', 'update', 'replace', 'delete', 'forget'] as const).filter(
    (action) => summary[action] > 0 || !['adopt', 'replace', 'forget'].includes(action),
  );

/** What goes with our members where a request replaces a whole document. */
export function baseSentence({
  version_number,
  sha256,
}: NonNullable<DocumentRequest['base']>): string {
  return `with the rest of the live document${version_number === null ? '' : `, version ${version_number}`}, sha256 ${sha256.slice(0, 12)}…`;
}

/** The sentence a plan ends with. */
export function planSentence({ summary, diagnostics, resource_changes }: PlanDocument): string {
  const { create, adopt, update, replace, delete: deleted, forget, keep } = summary;
  const errors = countOf(diagnostics, 'error');
  const renamed = resource_changes.filter(isRename).length;
  if (errors === 0 && create + adopt + update + replace + deleted + forget === 0)
    return `No changes${renamed > 0 ? ` in the cloud, ${renamed} renamed` : ''}. ${keep === 1 ? '1 object is' : `${keep} objects are`} as declared.`;
  const written = resource_changes.filter(
    ({ change }) => change.importing && change.actions[0] === 'update',
  ).length;
  const counts = `${worthCounting(summary)
    .map(
      (action) =>
        `${summary[action]} to ${action}${action === 'adopt' && written > 0 ? ` (${written} with changes)` : ''}`,
    )
    .join(', ')}; ${keep} unchanged.`;
  return errors === 0 ? `Plan: ${counts}` : `Plan with ${plural(errors, 'error')}: ${counts}`;
}

/** What a blocked plan says last; undefined where nothing blocks it. */
export function blockedSentence({ policy }: PlanDocument): string | undefined {
  const rules = [
    ...new Set(policy.flatMap(({ rule, verdict }) => (verdict === 'blocked' ? [rule] : []))),
  ];
  if (rules.length === 0) return undefined;
  const flags = rules.flatMap((rule) => flagToAllow(rule) ?? []);
  return `BLOCKED by ${rules.join(', ')}.${flags.length === rules.length ? ` To allow ${rules.length === 1 ? 'it' : 'them'}: ${flags.join(' ')}` : ''}`;
}

const statuses = ['changed', 'gone', 'replaced', 'missing', 'undeclared', 'settled'] as const;

/** The sentence an audit ends with. */
export function driftSentence({
  drift,
  summary,
  expectations,
  diagnostics,
}: DriftDocument): string {
  const errors = countOf(diagnostics, 'error');
  if (errors > 0 && drift.length + summary.in_sync + expectations.length === 0)
    return `The audit could not be made: ${plural(errors, 'error')}.`;
  const failed =
    summary.expectations_failed > 0
      ? [`${plural(summary.expectations_failed, 'expectation')} failed`]
      : [];
  const rest = summary.unmanaged > 0 ? `, ${summary.unmanaged} unmanaged` : '';
  if (errors > 0)
    return `Audit with ${plural(errors, 'error')}: ${[`${summary.drifted} drifted`, ...failed].join(', ')}, ${summary.in_sync} in sync${rest}.`;
  const settled = drift.filter(({ status }) => status === 'settled').length;
  if (drift.length - settled + failed.length === 0)
    return `No drift${settled > 0 ? `, ${settled} settled` : ''}. ${summary.in_sync === 1 ? '1 object is' : `${summary.in_sync} objects are`} as declared${rest}.`;
  const counts = statuses
    .map((status) => [drift.filter((record) => record.status === status).length, status] as const)
    .filter(([count]) => count > 0);
  return `Drift: ${[...counts.map(([count, status]) => `${count} ${status}`), ...failed].join(', ')}; ${summary.in_sync} in sync${rest}.`;
}

/** What a status of the audit means. */
export const driftMeanings: Readonly<Record<DriftRecord['status'], string>> = {
  changed: 'the live object is not as declared',
  gone: 'the live object was deleted outside of trueup',
  replaced: 'the object is gone, and another one matches the declaration',
  missing: 'declared, but no live object exists',
  undeclared: 'in the state, but no longer declared',
  settled: 'changed outside of trueup to what is declared',
};

/** What became of an expectation. */
export function expectationSentence({
  verdict,
  checked,
  failed,
  count,
  diagnostic,
}: Verified): string {
  if (verdict === 'unknown')
    return `not known${diagnostic?.code === 'takes-too-long' ? '' : ', because the records could not be read'}${diagnostic ? `: ${diagnostic.summary}` : ''}`;
  const every = failed > 0 ? [`${failed} of ${plural(checked, 'record')} not as expected`] : [];
  const all = [...every, ...(count === undefined ? [] : [count])];
  return all.length === 0 ? `${plural(checked, 'record')}, all as expected` : all.join('; ');
}

/** What is not well, and what the service says of it. */
export function healthIssueSentence({
  code,
  kind,
  id,
  address,
  summary,
  detail,
  at,
}: HealthIssue): string {
  return `${address ?? `${kind} ${id}`}: ${summary}${detail === undefined ? '' : `: ${detail}`}${at === undefined ? '' : `, since ${at}`} [${code}]`;
}

/** Who changed the object and when, as far as the activity log knows. */
export function changedBy(record: DriftRecord): string {
  const { status, since, changes } = record;
  const anew =
    status === 'changed' &&
    since !== null &&
    changes.every(({ applied, live }) => equal(applied, live));
  return anew ? 'not changed outside of trueup: the declaration changed' : authorSentence(record);
}

/** Who did it, or when it was done by nobody knows whom. */
export function authorSentence({
  changed_by,
  window: { after, before },
}: Pick<UnmanagedRecord, 'changed_by' | 'window'>): string {
  if (changed_by !== 'unknown')
    return `${changed_by.action} by ${changed_by.actor} (${changed_by.actor_type}) at ${changed_by.at}`;
  const bounds = [
    ...(after === null ? [] : [`after ${after}`]),
    ...(before === null ? [] : [`before ${before}`]),
  ];
  return `changed by: unknown${bounds.length === 0 ? '' : `, ${bounds.join(' and ')}`}`;
}

/** What is live and managed by nothing here. */
export function unmanagedObjectSentence({ kind, id, label }: UnmanagedRecord): string {
  return `${kind} ${id}${label === null ? '' : ` ${label}`}`;
}

export function unmanagedSentence(unmanaged: Readonly<Record<string, number>>): string | undefined {
  const counts = Object.entries(unmanaged)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${count === 1 ? kind.replace(/s$/, '') : kind}`)
    .toSorted((a, b) => (a.slice(a.indexOf(' ')) < b.slice(b.indexOf(' ')) ? -1 : 1));
  return counts.length === 0 ? undefined : `Unmanaged: ${counts.join(', ')}.`;
}

function countOf(diagnostics: readonly Diagnostic[], severity: Severity): number {
  return diagnostics.filter((one) => one.severity === severity).length;
}

export const past: Readonly<Record<SummaryKey, string>> = {
  create: 'created',
  update: 'updated',
  replace: 'replaced',
  delete: 'deleted',
  adopt: 'adopted',
  forget: 'forgotten',
  keep: 'unchanged',
};
export const during: Readonly<Record<Action, string>> = {
  create: 'creating',
  update: 'updating',
  delete: 'deleting',
  adopt: 'adopting',
  forget: 'forgetting',
  keep: 'keeping',
};

/** The sentence an apply ends with. */
export function outcomeSentence(outcomes: readonly Outcome[]): string {
  const done = summarise(outcomes.filter(({ outcome }) => outcome === 'done'));
  const counts = worthCounting(done)
    .map((action) => `${done[action]} ${past[action]}`)
    .join(', ');
  const open = (['failed', 'skipped', 'unknown'] as const)
    .map((wanted) => [outcomes.filter(({ outcome }) => outcome === wanted).length, wanted] as const)
    .filter(([count]) => count > 0);
  const head = open.length === 0 ? 'Applied' : 'Not all applied';
  return `${head}: ${counts}; ${done.keep} unchanged${open.map(([count, wanted]) => `, ${count} ${wanted}`).join('')}.`;
}
