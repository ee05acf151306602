// The words and signs that all renderers use.
import {
  canonical,
  equal,
  firstNamed,
  flagToAllow,
  groupedBy,
  isClear,
  isList,
  isMask,
  isObject,
  isTree,
  MASKED_CONFIGURATION,
  namedWithId,
  objectWords,
  own,
  SENSITIVE,
  summarise,
  type Action,
  type HealthIssue,
  type Json,
  type Diagnostic,
  type DocumentRequest,
  type DriftChange,
  type DriftDocument,
  type DriftRecord,
  type Origin,
  type Outcome,
  type PlanDocument,
  type ResourceChange,
  type Summary,
  type UnmanagedRecord,
  type Verdict,
  type Verified,
  type Window,
} from '../model/index.js';
import { CORRECT_FIRST, isWrong } from './brief-diagnostics.js';

export const signs: Readonly<Record<Action, string>> = {
  create: '+',
  update: '~',
  delete: '-',
  adopt: '=',
  forget: '.',
  keep: ' ',
};
export const driftActions: Readonly<Record<DriftRecord['status'], Action>> = {
  changed: 'update',
  gone: 'delete',
  replaced: 'update',
  missing: 'create',
  undeclared: 'forget',
  settled: 'adopt',
};

/** The sign of an object that drifted. */
export const driftSignOf = (status: DriftRecord['status']): string => signs[driftActions[status]];

/** The action of a change in a document, or the two actions of a replacement. */
export type SummaryKey = keyof Summary;

/** The action that a change of a document stands for. */
export function actionOf({ change }: ResourceChange): SummaryKey {
  if (change.importing) return 'adopt';
  const [action, then] = change.actions;
  if (then !== undefined) return 'replace';
  return action === 'no-op' ? 'keep' : action;
}

/** Unchanged objects are only counted, unless their address is new. */
export const isShown = (resource: ResourceChange): boolean =>
  actionOf(resource) !== 'keep' || isRename(resource);
export const isRename = (resource: ResourceChange): boolean =>
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

/** Whether an object that exists is taken over and changed as well. */
export const adoptsAndWrites = ({ change }: ResourceChange): boolean =>
  change.importing !== undefined && change.actions[0] === 'update';

export function verbOf(resource: ResourceChange): string {
  const action = actionOf(resource);
  if (destroys(resource)) return action.toUpperCase();
  if (isRename(resource)) return 'rename';
  return adoptsAndWrites(resource) ? 'adopt, update' : action;
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
  const last = (action: 'replace' | 'delete'): readonly SentWords[] =>
    ranked(2).filter(({ change }) => actionOf(change) === action);
  const [first, middle, replaced] = [ranked(0), ranked(1), last('replace')];
  return [...first.toReversed(), ...middle, ...replaced.toReversed(), ...last('delete')];
}

/** As in `4 s`, `2 min 5 s` or `1 h 30 min`: the two largest units, without those that are zero. */
export function timeWords(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  const part = (count: number, unit: string): readonly string[] =>
    count > 0 ? [`${count} ${unit}`] : [];
  const shown =
    hours > 0
      ? [...part(hours, 'h'), ...part(minutes % 60, 'min')]
      : [...part(minutes, 'min'), ...part(seconds % 60, 's')];
  return shown.join(' ') || '0 s';
}

export const plural = (count: number, one: string): string =>
  `${count} ${count === 1 ? one : `${one}s`}`;

/** As in `1 failed`, `2 met`: how often each of the words is there; those that are nowhere are left out. */
export const countsOf = <T, Word extends string>(
  all: readonly T[],
  wordOf: (one: T) => Word,
  words: readonly Word[],
): readonly string[] =>
  words.flatMap((word) => {
    const { length } = all.filter((one) => wordOf(one) === word);
    return length > 0 ? [`${length} ${word}`] : [];
  });

function areAsDeclared(count: number, diagnostics: readonly Diagnostic[]): string {
  const isPart = diagnostics.some(({ code }) => ['secret-unseen', 'secret-unsent'].includes(code));
  const known = isPart ? ', as far as their secrets are known' : '';
  return `${count === 1 ? '1 object is' : `${count} objects are`} as declared${known}`;
}

/** `file:line:column`, behind the path of the construct where a program made it. */
export function place({ file, line, column, path, used_at: used }: Origin): string {
  const text = `${file}:${line}:${column}${used ? `, used at ${place(used)}` : ''}`;
  if (path === undefined) return text;
  return line === 0 ? path : `${path} (${text})`;
}

/** The place of all, or none. */
export function commonPlaces(
  all: readonly { readonly origin: Origin | null }[],
): readonly string[] {
  const places = new Set(all.map(({ origin }) => origin && place(origin)));
  return places.size === 1 ? [...places].filter((one) => one !== null) : [];
}

/** The place of a diagnostic, from the file to the attribute. */
export function diagnosticPlaces(about: Partial<Diagnostic>): readonly string[] {
  const { origin, address, attribute } = about;
  return [origin && place(origin), address, attribute].filter((one) => one !== undefined);
}

/** The description of a change after its address: its reason and its place. */
export function circumstances(resource: ResourceChange): readonly string[] {
  return [
    resource.previous_id === undefined
      ? resource.reason
      : `replaced outside of trueup; it was ${resource.previous_id}`,
    ...(resource.label === undefined ? [] : [resource.label]),
    ...(resource.deposed === undefined ? [] : [`id ${resource.deposed}, deposed`]),
    ...(resource.change.importing ? [`id ${resource.change.importing.id}`] : []),
    ...(resource.previous_address === undefined || isRename(resource)
      ? []
      : [`renamed from ${resource.previous_address}`]),
  ];
}

const changing = ['create', 'adopt', 'update', 'replace', 'delete', 'forget'] as const;

/** Counts of writes are shown even if they are zero; counts of changes that affect only the state are left out then. */
const worthCounting = (summary: Summary) =>
  changing.filter(
    (action) => summary[action] > 0 || !['adopt', 'replace', 'forget'].includes(action),
  );

/** Whether a member of a document is declared null. A list is sent as it is declared. */
const takesOut = (value: Json): boolean => {
  const isNull = (tree: Json): boolean =>
    isTree(tree) && Object.values(tree).some((item) => item === null || isNull(item));
  return isList(value) && value[0] !== undefined && isNull(value[0]);
};

const holdsSecret = (value: Json): boolean =>
  value === SENSITIVE ||
  (isList(value) && value.some(holdsSecret)) ||
  (isTree(value) && Object.values(value).some(holdsSecret));

/** The effect of a request on the rest of a document that it replaces; undefined for any other request. */
export function baseSentence({ body, base }: DocumentRequest): string | undefined {
  if (!base) return undefined;
  const values: readonly Json[] = isObject(body) ? Object.values(body) : [];
  const rest = [
    'members that are not declared are read again and sent unchanged',
    ...(values.some(takesOut) ? ['members that are declared null are taken out'] : []),
    ...(holdsSecret(body) ? ['declared secrets are sent too'] : []),
  ];
  const isWhole = values.some(isClear);
  const what = isWhole ? 'the whole live document is replaced' : rest.join('; ');
  const version = base.version_number === null ? '' : `version ${base.version_number}, `;
  const held = isWhole ? '' : '; not sent if others change a declared member before';
  return `${what} (planned from ${version}sha256 ${base.sha256.slice(0, 12)}…${held})`;
}

/** The two sides of a comparison. */
const sidesOf = ({ before, after }: NonNullable<PlanDocument['compared']>): [string, string] => [
  before.reference,
  after?.reference ?? 'the working tree',
];

/** What was compared in place of a cloud. */
export const COMPARED =
  'Declarations were compared. The cloud and the state were not read, and policies and limits were not evaluated: trueup plan does that.';

/** How many of those that are adopted are changed, too, and of those that are updated renamed. */
const alsoDone = (adopted: number, updated: number): Partial<Record<keyof Summary, string>> => ({
  ...(adopted > 0 && { adopt: ` (${adopted} with changes)` }),
  ...(updated > 0 && { update: ` (${updated} renamed)` }),
});

/** The sentence a plan ends with. */
export function planSentence(document: PlanDocument): string {
  const { summary, diagnostics, resource_changes, compared } = document;
  const errors = errorsIn(diagnostics);
  const renamed = resource_changes.filter(isRename).length;
  const [from, to] = compared ? sidesOf(compared) : [];
  if (errors === 0 && changing.every((action) => summary[action] === 0)) {
    const where = compared ? ` from ${from} to ${to}` : ' in the cloud';
    const kept = compared
      ? `Unchanged: ${summary.keep - renamed}`
      : areAsDeclared(summary.keep, diagnostics);
    const moved = renamed > 0 ? `, ${renamed} renamed` : '';
    return `No changes${compared || renamed > 0 ? where : ''}${moved}. ${kept}.`;
  }
  const also = alsoDone(
    resource_changes.filter(adoptsAndWrites).length,
    resource_changes.filter((one) => actionOf(one) === 'update' && one.previous_address).length,
  );
  const counts = worthCounting(summary).map(
    (action) => `${summary[action]} to ${action}${also[action] ?? ''}`,
  );
  if (renamed > 0) counts.push(`${renamed} to rename`);
  const name = compared ? `From ${from} to ${to}` : 'Plan';
  const head = errors === 0 ? name : `${name} with ${plural(errors, 'error')}`;
  const planned = changing.filter((action) => summary[action] > 0);
  // What is not declared any more has no place.
  const isPlanned = resource_changes.some(
    (one) => one.origin !== null && !['delete', 'forget'].includes(actionOf(one)),
  );
  if (errors > 0 && !isPlanned && summary.keep === 0)
    return `${head}: ${[planned.map((action) => `${summary[action]} to ${action}`).join(', '), 'what is declared was not planned'].filter(Boolean).join('; ')}.`;
  return `${head}: ${counts.join(', ')}; ${summary.keep - renamed} unchanged.`;
}

const methods = ['POST', 'PATCH', 'PUT', 'DELETE'] as const;

/** How many requests of each method are sent; undefined without any. */
export function requestSentence(changes: readonly ResourceChange[]): string | undefined {
  const sent = changes.flatMap(({ requests }) => requests);
  if (sent.length === 0) return undefined;
  const counts = `Requests: ${countsOf(sent, ({ method }) => method, methods).join(', ')}.`;
  return changes.some(carriesOthers)
    ? `${counts} A PUT also sends attributes that do not change, as they are live.`
    : counts;
}

/** Whether a PUT holds attributes that the change does not show. */
function carriesOthers({ patch, requests }: ResourceChange): boolean {
  const shown = new Set(patch.map(({ path }) => path.split('/', 2)[1]));
  return requests.some(
    ({ method, body }) =>
      method === 'PUT' && isObject(body) && Object.keys(body).some((name) => !shown.has(name)),
  );
}

/** The rules that block a plan, and the flags that let all of them pass; no flags where one cannot be let pass. */
export function blockedRules(verdicts: readonly Verdict[]) {
  const blocked = verdicts.filter(({ verdict }) => verdict === 'blocked');
  const byRule = new Map(blocked.map((one) => [one.rule, one]));
  const rules = [...byRule.keys()];
  const flags = [...byRule.values()].flatMap((one) => flagToAllow(one) ?? []);
  const fixed = rules.filter((rule) => flagToAllow(byRule.get(rule)!) === undefined);
  return { rules, fixed, flags: fixed.length === 0 ? flags : [] };
}

const blockedBy = (rules: readonly string[]): string => `BLOCKED by ${rules.join(', ')}.`;

/** `again: ` and the command that makes a saved plan again, with these flags added; other words where the command is not known. */
export type Again = (flags?: readonly string[]) => string;

/** What lets blocked rules pass: flags, or the command that makes a saved plan again with them. */
export function toAllow(flags: readonly string[], again: Again | undefined): string {
  const them = flags.length === 1 ? 'it' : 'them';
  return `To allow ${them}${again ? `, plan ${again(flags)}` : `: ${flags.join(' ')}`}`;
}

/** What to do where no flag lets some rules pass. @param fixed those of the rules */
export const notAllowable = (fixed: readonly string[], rules: readonly string[] = fixed): string =>
  `No flag allows ${rules.length === 1 ? 'it' : fixed.join(', ')}: ${fixed.every((rule) => rule === MASKED_CONFIGURATION) ? 'do what the rule says' : 'change what is declared, or the policy'}.`;

/** What to do about a blocked plan. */
export function blockedAdvice({ policy, diagnostics }: PlanDocument, again?: Again): string {
  if (isWrong(diagnostics)) return CORRECT_FIRST;
  const { rules, fixed, flags } = blockedRules(policy);
  return flags.length > 0 ? toAllow(flags, again) : notAllowable(fixed, rules);
}

/** The last sentences of a blocked plan; undefined if it is not blocked. */
export function blockedSentence(document: PlanDocument, again?: Again): string | undefined {
  const { rules } = blockedRules(document.policy);
  return rules.length === 0 ? undefined : `${blockedBy(rules)} ${blockedAdvice(document, again)}`;
}

/** What a plan is called: whether it is blocked, then its counts. */
export function planTitle(document: PlanDocument): string {
  const { rules } = blockedRules(document.policy);
  return [...(rules.length > 0 ? [blockedBy(rules)] : []), planSentence(document)].join(' ');
}

const statuses = ['changed', 'gone', 'replaced', 'missing', 'undeclared', 'settled'] as const;

/** The sentence an audit ends with. */
export function driftSentence(document: DriftDocument): string {
  const { drift, summary, expectations, diagnostics } = document;
  const { drifted, in_sync, unmanaged, expectations_failed } = summary;
  const errors = errorsIn(diagnostics);
  if (errors > 0 && drift.length + in_sync + expectations.length === 0)
    return `The audit could not be made: ${plural(errors, 'error')}.`;
  const failed =
    expectations_failed > 0 ? [`${plural(expectations_failed, 'expectation')} failed`] : [];
  const isFound = document.unmanaged_is_drift === true && unmanaged > 0;
  if (isFound) failed.push(`${unmanaged} unmanaged`);
  const rest = unmanaged > 0 && !isFound ? `, ${unmanaged} unmanaged` : '';
  if (errors > 0)
    return `Audit with ${plural(errors, 'error')}: ${[`${drifted} drifted`, ...failed].join(', ')}, ${in_sync} in sync${rest}.`;
  const settled = drift.filter(({ status }) => status === 'settled').length;
  if (drift.length - settled + failed.length === 0)
    return `No drift${settled > 0 ? `, ${settled} settled` : ''}. ${areAsDeclared(in_sync, diagnostics)}${rest}.`;
  const counts = countsOf(drift, ({ status }) => status, statuses);
  return `Drift: ${[...counts, ...failed].join(', ')}; ${in_sync} in sync${rest}.`;
}

/** The meaning of an audit status. */
export const driftMeanings: Readonly<Record<DriftRecord['status'], string>> = {
  changed: 'the live object is not as declared',
  gone: 'the live object was deleted outside of trueup',
  replaced: 'the object is gone, and another one matches the declaration',
  missing: 'declared, but no live object exists',
  undeclared: 'in the state, but no longer declared',
  settled: 'changed outside of trueup to what is declared',
};

/** What an audit says first of an object. */
export const driftMeaning = (record: DriftRecord): string =>
  isEditedInSecretsAlone(record)
    ? 'a declared secret has not been sent'
    : driftMeanings[record.status];

/** The result of an expectation. */
export function expectationSentence(verified: Verified): string {
  const { verdict, checked, failed, count, diagnostic } = verified;
  const records = plural(checked, 'record');
  if (verdict === 'unknown')
    return `not known${diagnostic?.code === 'takes-too-long' ? '' : ', because the records could not be read'}${diagnostic ? `: ${diagnostic.summary}` : ''}`;
  const all = [failed > 0 ? `${failed} of ${records} not as expected` : undefined, count];
  return all.filter((one) => one !== undefined).join('; ') || `${records}, all as expected`;
}

/** The object of a health issue. */
export const healthSubject = ({ kind, id, address, label }: HealthIssue): string =>
  address ?? objectWords(kind, id, label);

/** A health issue, with the text of the service. */
export function healthIssueSentence(issue: HealthIssue): string {
  const { code, summary, detail, at } = issue;
  return `${healthSubject(issue)}: ${summary}${detail === undefined ? '' : `: ${detail}`}${at === undefined ? '' : `, since ${at}`} [${code}]`;
}

/** Names of objects that are shown of a group of health issues. */
const FEW_NAMES = 3;

/** Health issues, those of one cause together. */
export const healthGroups = (health: readonly HealthIssue[]): readonly (readonly HealthIssue[])[] =>
  groupedBy(health, ({ code, kind, id, address, cause, summary, detail, at }) => {
    const isShared = cause !== undefined || detail === undefined;
    const key = isShared ? [code, kind, cause ?? summary, at] : [kind, id, address, code];
    return canonical(key.map((one) => one ?? null));
  });

/** What several health issues have in common. */
export function causeSentence(issues: readonly HealthIssue[]): string {
  const { cause, summary, kind } = issues[0]!;
  return cause === undefined
    ? `${summary}: ${issues.length} ${kind}`
    : `${cause}, so ${issues.length} ${kind} do not work`;
}

/** Health issues, those of one cause in one sentence. */
export const healthSentences = (health: readonly HealthIssue[]): readonly string[] =>
  healthGroups(health).map((issues) => {
    const [first] = issues;
    if (issues.length === 1) return healthIssueSentence(first!);
    const names = issues.map(
      ({ address, id, label }) => address ?? (label === undefined ? id : namedWithId(label, id)),
    );
    return `${causeSentence(issues)}: ${firstNamed(names, FEW_NAMES)} [${first!.code}]`;
  });

/** Who changed the object and when, as far as the activity log knows. */
export function changedBy(record: DriftRecord): string {
  const isOutside = isChangedOutside(record);
  const resent = record.changes.filter(isSecretOfProject).map(({ path }) => path);
  const [value, are, ones] =
    resent.length === 1 ? ['value', 'is not the one', 'one'] : ['values', 'are not those', 'ones'];
  const notSentLast = `${are} sent last; whether somebody changed the live ${ones}, nobody can see`;
  if (isEditedInSecretsAlone(record)) return `the declared ${value} ${notSentLast}`;
  const said = isOutside
    ? authorSentence(record)
    : `not changed outside of trueup: the declared ${record.changes.length === 1 ? 'value' : 'values'} changed, or what ${record.changes.length === 1 ? 'it refers' : 'they refer'} to`;
  return resent.length === 0
    ? said
    : `${said}; the declared ${firstNamed(resent, FEW_NAMES)} ${notSentLast}`;
}

/** Whether nothing is known of the live object but that it is as it was applied, secrets aside. */
const isEditedInSecretsAlone = (record: DriftRecord): boolean =>
  record.changes.length > 0 && !isChangedOutside(record) && record.changes.every(isSecretOfProject);

/** Whether a secret was edited in the project: the live one cannot be compared. */
const isSecretOfProject = ({ declared, live }: DriftChange): boolean =>
  holdsSecret(declared) && isLikeBesideSecrets(declared, live);

/** Whether a live value is the declared one but for secrets that are masked in it. */
function isLikeBesideSecrets(declared: Json, live: Json | undefined): boolean {
  if (declared === SENSITIVE) return live === SENSITIVE || isMask(live);
  if (!isObject(declared) && !isList(declared)) return equal(declared, live);
  if ((!isObject(live) && !isList(live)) || isList(declared) !== isList(live)) return false;
  const all = Object.entries<Json>(declared);
  const now = new Map(Object.entries<Json>(live));
  return (
    all.length === now.size && all.every(([name, one]) => isLikeBesideSecrets(one, now.get(name)))
  );
}

/** False where the live object is as it was applied, as far as it was: an attribute that is declared since then was not. */
export const isChangedOutside = ({ status, since, changes }: DriftRecord): boolean =>
  status !== 'changed' ||
  since === null ||
  changes.some(({ applied, live }) => applied !== undefined && !equal(applied, live));

/** Without the end of a window that is before its beginning: two clocks may tell the two. */
export const orderedWindow = ({ after, before }: Window): Window => ({
  after,
  before: after && before && Date.parse(after) >= Date.parse(before) ? null : before,
});

/** The author of a change or, if unknown, its window of time. */
export function authorSentence({
  changed_by,
  window,
}: Pick<UnmanagedRecord, 'changed_by' | 'window'>): string {
  if (changed_by !== 'unknown')
    return `${own<string>(past, changed_by.action) ?? changed_by.action} by ${changed_by.actor} (${changed_by.actor_type}) at ${changed_by.at}`;
  const { after, before } = orderedWindow(window);
  const bounds = [after && `after ${after}`, before && `before ${before}`].filter(Boolean);
  return `changed by: unknown${bounds.length === 0 ? '' : `, ${bounds.join(' and ')}`}`;
}

/** An unmanaged object. */
export const unmanagedObjectSentence = ({ kind, id, label }: UnmanagedRecord): string =>
  objectWords(kind, id, label);

export function unmanagedSentence(unmanaged: Readonly<Record<string, number>>): string | undefined {
  const counts = Object.entries(unmanaged)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${count === 1 ? kind.replace(/s$/, '') : kind}`)
    .toSorted((a, b) => (a.slice(a.indexOf(' ')) < b.slice(b.indexOf(' ')) ? -1 : 1));
  return counts.length === 0 ? undefined : `Unmanaged: ${counts.join(', ')}.`;
}

const errorsIn = (diagnostics: readonly Diagnostic[]): number =>
  diagnostics.filter(({ severity }) => severity === 'error').length;

export const past: Readonly<Record<SummaryKey, string>> = {
  create: 'created',
  update: 'updated',
  replace: 'replaced',
  delete: 'deleted',
  adopt: 'adopted',
  forget: 'forgotten',
  keep: 'unchanged',
};
/** Of a deleted object that did not exist any more, behind its id. */
export const GONE = ', was gone already';
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
  const applied = outcomes.filter(({ outcome }) => outcome === 'done');
  const done = summarise(applied);
  const renamed = applied.filter(
    ({ action, renamed_from }) => action === 'keep' && renamed_from !== undefined,
  ).length;
  const also = alsoDone(
    applied.filter(({ updates }) => updates).length,
    applied.filter(({ action, renamed_from }) => action === 'update' && renamed_from).length,
  );
  const counts = worthCounting(done).map(
    (action) => `${done[action]} ${past[action]}${also[action] ?? ''}`,
  );
  if (renamed > 0) counts.push(`${renamed} renamed`);
  const open = countsOf(outcomes, ({ outcome }) => outcome, ['failed', 'skipped', 'unknown']);
  const head = open.length === 0 ? 'Applied' : 'Not all applied';
  return `${head}: ${counts.join(', ')}; ${[`${done.keep - renamed} unchanged`, ...open].join(', ')}.`;
}

/** The addresses of the cloud. One below another says nothing more. */
export function cloudSentence({ target }: { readonly target: string }): string {
  const urls = [...new Set(target.split(' '))];
  const isBelow = (url: string): boolean => urls.some((other) => url.startsWith(`${other}/`));
  return urls.filter((url) => !isBelow(url)).join(' and ');
}
