// Tells whether an approved plan is stale: compares it with a new plan. A change that is no longer needed is accepted; a
// new or different one is refused. Undeclared attributes may change: only attributes of changes are compared.
import {
  append,
  below,
  defined,
  equal,
  firstNamed,
  isList,
  isObject,
  isTree,
  keyOf,
  note,
  SENSITIVE,
  type Diagnostic,
  type Json,
  type PlanDocument,
  type ResourceChange,
} from '../../model/index.js';

/** Complaints where `now` holds a change that `then` did not; none where the approval still covers everything. */
export function staleness(then: PlanDocument, now: PlanDocument): readonly Diagnostic[] {
  const approved = new Map(then.resource_changes.map((change) => [keyIn(change), change]));
  const gone = new Map(
    now.resource_drift.map(({ address, id, actions }) => [address, actions[0] === 'delete' && id]),
  );
  const byReason = new Map<string, string[]>();
  for (const change of now.resource_changes.filter(acts)) {
    const { address } = change;
    const old = approved.get(keyIn(change)) ?? approved.get(address);
    const why =
      old === undefined || !acts(old)
        ? 'it was not in the plan'
        : difference(old, change, change.deposed ?? gone.get(address));
    if (why !== undefined) append(byReason, why, address);
  }
  return [
    ...masked(then, now),
    ...[...byReason].map(([why, addresses]): Diagnostic => {
      const [address] = addresses;
      return {
        severity: 'error',
        code: 'stale',
        summary: `${firstNamed([...new Set(addresses)], FEW)}: ${why}.`,
        detail: [...(addresses.length === 1 ? valuesOf(approved, now, address!) : []), REMEDY].join(
          '\n',
        ),
        ...(addresses.length === 1 && defined({ address })),
      };
    }),
  ];
}

/** What a saved plan would change, and this run does not. @param now what is left to do */
export function unneeded(then: PlanDocument, now: PlanDocument): readonly Diagnostic[] {
  const left = new Map(now.resource_changes.map((one) => [one.address, acts(one)]));
  const planned = then.resource_changes.filter(acts);
  const done = planned.filter(({ address }) => left.get(address) === false);
  const unknown = planned.filter(({ address }) => !left.has(address));
  const names = (some: typeof planned): string =>
    firstNamed([...new Set(some.map(({ address }) => address))], FEW);
  const hasSecret = done.some(({ change }) => JSON.stringify(change).includes(SENSITIVE));
  const secret = 'A secret is sent if its value in this run is not the one that trueup sent last.';
  const gone = unknown.length === 1 ? 'is' : 'are';
  const forgotten = new Set(
    now.resource_changes.filter(does('forget')).map(({ address }) => address),
  );
  const deleted = planned.filter((one) => does('delete')(one) && forgotten.has(one.address));
  const [exists, it] = deleted.length === 1 ? ['exists', 'it'] : ['exist', 'them'];
  return [
    ...(deleted.length === 0
      ? []
      : [
          note('not-needed', `${names(deleted)} no longer ${exists}, so apply only forgets ${it}.`),
        ]),
    ...(done.length === 0
      ? []
      : [
          note(
            'not-needed',
            `${names(done)}: nothing is left to change of what was planned.`,
            hasSecret ? secret : undefined,
          ),
        ]),
    ...(unknown.length === 0
      ? []
      : [
          note(
            'not-needed',
            `${names(unknown)} ${gone} neither declared nor in the state, so nothing is sent for what was planned.`,
          ),
        ]),
  ];
}

const does =
  (action: 'delete' | 'forget') =>
  ({ change: { actions } }: ResourceChange): boolean =>
    actions.length === 1 && actions[0] === action;

/** Addresses, or attributes, that a complaint names. */
const FEW = 10;
/** Characters of a value that a complaint shows. */
const LONGEST = 60;
const REMEDY = 'Make a new plan and look at it again.';

/** Masks that came into a document since, which a write would overwrite: nobody can have approved that. */
function masked(then: PlanDocument, now: PlanDocument): readonly Diagnostic[] {
  const known = new Set(then.policy.map(({ rule, address }) => `${rule} ${address}`));
  return now.policy
    .filter(
      ({ rule, address, allowable }) => allowable === false && !known.has(`${rule} ${address}`),
    )
    .map(({ address, detail }) => ({
      severity: 'error',
      code: 'stale',
      summary: `${address}: ${detail}.`,
      detail: REMEDY,
      ...defined({ address }),
    }));
}

/** Sends something, binds something or drops something. */
function acts(change: ResourceChange): boolean {
  return change.change.actions[0] !== 'no-op' || change.change.importing !== undefined;
}

/** @param gone the id of the object of this address, where it is not live any more */
function difference(
  old: ResourceChange,
  now: ResourceChange,
  gone: string | false | undefined,
): string | undefined {
  const [then, action] = [old.change.actions.join(', '), now.change.actions.join(', ')];
  // Of a replacement that was cut off, the create or the delete of the old object may be left.
  const half =
    old.change.actions.length === 2 && (action === 'create' || now.deposed !== undefined);
  if (then === 'create' && now.change.importing)
    return 'an unmanaged object with the same identity exists now, and would be adopted';
  if (then === 'create' && action === 'update')
    return 'the object exists now: the plan may have been applied before';
  if (
    old.change.importing?.id !== now.change.importing?.id ||
    idsIn(now).some((path) => !idsIn(old).includes(path))
  )
    return 'another live object is meant now';
  const isDone =
    action === 'forget' && idsIn(old).some((path) => path.split('/').some((part) => part === gone));
  if (then !== action && !half)
    return action === 'no-op' || isDone
      ? undefined
      : `it was planned as ${then} and is ${action} now`;
  const uncovered = (names: readonly string[], based = true): readonly string[] =>
    names.filter((name) => !isCovered(old, now, { name, based }));
  const isOther = old.fingerprint !== now.fingerprint;
  switch (action) {
    case 'create, delete':
    case 'delete, create':
      return named(DIFFERENT, [
        ...uncovered(changed(now)),
        ...(isOther ? changedSince(old, now) : []),
      ]);
    case 'create':
      return named(
        'what would be sent is different now',
        uncovered(Object.keys(now.change.after ?? {}), !half),
      );
    case 'update':
      return named(DIFFERENT, [
        ...uncovered(changed(now)),
        ...sends(now).filter((name) => !sends(old).includes(name)),
      ]);
    case 'delete':
      return isOther ? named('the live object changed since', changedSince(old, now)) : undefined;
    default:
      return undefined;
  }
}

const DIFFERENT = 'the live object or what is wanted of it is different now';

/** What is another value since the approval: of the live object, or of what is wanted of it. */
function valuesOf(
  approved: ReadonlyMap<string, ResourceChange>,
  { resource_changes }: PlanDocument,
  address: string,
): readonly string[] {
  const now = resource_changes.find((one) => one.address === address && acts(one));
  const old = now && (approved.get(keyIn(now)) ?? approved.get(address));
  if (!old || !now) return [];
  return (['before', 'after'] as const).flatMap((side) => {
    const [then, later] = [old.change[side], now.change[side]];
    if (!then || !later) return [];
    const word = side === 'before' ? 'Live' : 'Wanted';
    return changed(now)
      .filter((name) => side === 'before' || !(name in old.change.after_unknown))
      .flatMap((name) => [...parts(name, then[name], later[name])])
      .slice(0, FEW)
      .map(({ path, values }) => {
        if (side === 'after' && values.includes(SENSITIVE)) return ofSecret(path, values);
        const [was, is] = values.map((one) => JSON.stringify(one ?? null));
        return was!.length > LONGEST || is!.length > LONGEST
          ? `${word} ${path} is another value now.`
          : `${word} ${path}: ${was} when it was planned, ${is} now.`;
      });
  });
}

/** Of a secret that does not change, a plan holds what the service shows, a mask or nothing: it is not what is wanted. */
const ofSecret = (path: string, [then]: Part['values']): string =>
  then === SENSITIVE
    ? `${path} was to change when it was planned, and is not now.`
    : `${path} was not to change when it was planned, and is to change now.`;

interface Part {
  readonly path: string;
  readonly values: readonly [then: Json | undefined, now: Json | undefined];
}

/** What differs, by dotted path: lists of plain values are one value. */
function* parts(path: string, ...values: Part['values']): Generator<Part> {
  const [then, now] = values;
  if (equal(then, now)) return;
  if (isTree(then) && isTree(now))
    for (const name of new Set([...Object.keys(then), ...Object.keys(now)]))
      yield* parts(below(path, name), then[name], now[name]);
  else if (isList(then) && isList(now) && then.length === now.length && then.some(isTree))
    for (const index of then.keys())
      yield* parts(below(path, String(index)), then[index], now[index]);
  else yield { path, values };
}

/** Undefined where nothing differs. An empty name stands for something that has none. */
function named(why: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const shown = [...new Set(names)].filter((name) => name !== '');
  return shown.length === 0 ? why : `${why}: ${firstNamed(shown, FEW)}`;
}

/** Attributes whose live value is another one. Where the object differs in something else, one without a name. */
function changedSince(
  { change: old }: ResourceChange,
  { change: now }: ResourceChange,
): readonly string[] {
  const names = new Set([...Object.keys(old.before ?? {}), ...Object.keys(now.before ?? {})]);
  const found = [...names].filter((name) => !equal(old.before?.[name], now.before?.[name]));
  return found.length === 0 ? [''] : found;
}

/** True if the attribute has the same value after the change, and, if `based`, before it, as in the approved plan. A value that was unknown then may be known now. */
const isCovered = (
  { change: old }: ResourceChange,
  { change: now }: ResourceChange,
  { name, based }: { readonly name: string; readonly based: boolean },
): boolean =>
  (!based || equal(old.before?.[name], now.before?.[name])) &&
  (name in old.after_unknown || equal(old.after?.[name], now.after?.[name]));

function changed({ change: { before, after, after_unknown } }: ResourceChange): readonly string[] {
  return [...new Set([...Object.keys(after ?? {}), ...Object.keys(after_unknown)])].filter(
    (name) => name in after_unknown || !equal(before?.[name], after?.[name]),
  );
}

/** Attributes a PATCH names; a PUT names them all, and is judged by what changes. */
function sends({ requests }: ResourceChange): readonly string[] {
  return requests.flatMap(({ method, body }) =>
    method === 'PATCH' && isObject(body) ? Object.keys(body) : [],
  );
}

const keyIn = ({ address, deposed }: ResourceChange): string =>
  deposed === undefined ? address : keyOf({ address, id: deposed, deposed: true });

/** Paths of the live objects that are written. */
const idsIn = ({ requests }: ResourceChange): readonly string[] =>
  requests.flatMap(({ method, path }) => (method === 'POST' ? [] : [path]));
