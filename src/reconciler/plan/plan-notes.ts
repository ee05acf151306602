// The notes of a plan beside its changes.
import {
  isNullable,
  defined,
  firstNamed,
  REPLACED_OUTSIDE,
  compareText,
  changesOf,
  secretsIn,
  below,
  isEmpty,
  isList,
  isTree,
  mergeOf,
  own,
  writes,
  type Attributes,
  type Change,
  type Diagnostic,
  type Entry,
  type Kind,
  type Live,
  type PlanRequest,
  type Value,
  type Values,
} from '../../model/index.js';
import { ignoring } from './diff.js';
import { isMerged, mergedNames } from './document-diff.js';
import { maskedWrite } from './document-merge.js';
import type { Draft } from './draft.js';
import { formerAddressInState } from './match.js';
import { declaredValueAt } from './resolve-references.js';
import { isNamedBy } from './target-selection.js';

/** Objects in whose place somebody put others. */
export function replacedOutsideNotes(changes: readonly Change[]): readonly Diagnostic[] {
  return changes.flatMap((change): Diagnostic | [] => {
    if (change.previous_id === undefined || !('id' in change)) return [];
    const declared = 'declaredObject' in change && change.declaredObject?.declared;
    const secretive = declared && secretsIn(declared).size > 0;
    const summary = `${change.address} was replaced outside of trueup: ${change.previous_id} is gone, and ${change.id} matches the declaration now`;
    return {
      severity: 'warning',
      code: REPLACED_OUTSIDE,
      summary: `${summary}${secretive ? '; its secret may not be the declared one' : ''}.`,
      address: change.address,
      ...defined({ origin: change.origin }),
    };
  });
}

export function unseenNotes({ unseen, old }: Draft): readonly Diagnostic[] {
  const late = [
    [unseen, 'created just now, and no listing shows', 'yet', 'This is neither drift nor a change'],
    [
      old,
      'updated just now, and the service shows',
      'as before: the reading may be old',
      'Until it is certain, what was written counts as live',
    ],
  ] as const;
  return late.flatMap(([some, how, when, meaning]): Diagnostic | [] => {
    if (some.size === 0) return [];
    const [was, it] = some.size === 1 ? ['was', 'it'] : ['were', 'them'];
    return {
      severity: 'info',
      code: 'not-visible-yet',
      summary: `${firstNamed([...some].toSorted(compareText), 3)} ${was} ${how} ${it} ${when}.`,
      detail: `${meaning}. To see it, plan again in a minute: trueup plan`,
    };
  });
}

/** Names that a note lists, and ways to a secret. */
const FEW = 3;

/** What the plan does not do without the value of a secret, and what it does with it. */
const WITHOUT = {
  compare: ['so the plan does not compare it', ['Then the plan shows whether it has to be sent.']],
  send: ['and it is not recorded as sent', ['Then the plan sends it.']],
  apply: ['and apply needs it', []],
} as const;

export function unseenSecretNotes(draft: Draft, changes: readonly Change[]): readonly Diagnostic[] {
  const { input, planned } = draft;
  if (![...input.secrets.values()].includes('unavailable')) return [];
  const sent = new Set(
    // A PUT repeats secrets that do not change.
    changes.flatMap((change) =>
      [...secretsIn(('write' in change && change.write?.fields) || {}).keys()].map(
        (path) => `${change.address} ${path}`,
      ),
    ),
  );
  const unseen = [...planned].flatMap(([address, { declared, live }]) =>
    [...secretsIn(declared)]
      .filter(([path]) => input.secrets.get(`${address} ${path}`) === 'unavailable')
      .map(([path, { advice }]) => ({
        address,
        advice,
        lacks: live && !sent.has(`${address} ${path}`) ? ifLive(draft, address, path) : 'apply',
      })),
  );
  return Object.entries(WITHOUT).flatMap(([what, [effect, then]]): Diagnostic | [] => {
    const meant = unseen.filter(({ lacks }) => lacks === what);
    if (meant.length === 0) return [];
    const addresses = [...new Set(meant.map(({ address }) => address))].toSorted(compareText);
    const summary = `The secret of ${firstNamed(addresses, FEW, ', and ')} is not available here, ${effect}.`;
    const ways = [...new Set(meant.map(({ advice }) => advice))].toSorted(compareText);
    const detail = [firstNamed(ways, FEW, '\nand ', '\n'), ...then].join('\n');
    return { severity: 'info', code: 'secret-unseen', summary, detail };
  });
}

function ifLive(draft: Draft, address: string, path: string): 'compare' | 'send' {
  const { secrets = {} } = entryOf(draft, address) ?? {};
  return own(secrets, path) === undefined ? 'send' : 'compare';
}

function entryOf({ input: { state }, declared }: Draft, address: string): Entry | undefined {
  const former = formerAddressInState(declared.get(address)!, state);
  return state?.resources[former ?? address];
}

/** Attributes that were applied and are not declared any more, and that the plan does not change. */
export function undeclaredNotes(draft: Draft, changes: readonly Change[]): readonly Diagnostic[] {
  const byAddress = new Map(changes.map((change) => [change.address, change]));
  return [...draft.planned].flatMap(([address, { kind, declared, live }]): Diagnostic | [] => {
    const [entry, change] = [entryOf(draft, address), byAddress.get(address)];
    if (!entry || !change || entry.id !== live?.id) return [];
    const { lifecycle, origin } = draft.declared.get(address)!;
    const { ignore_changes = [] } = lifecycle;
    const applied = ignoring(entry.applied, ignore_changes);
    const secrets = Object.keys(entry.secrets ?? {});
    const covered = [...changesOf(change).map(({ path }) => path), ...ignore_changes];
    const around = new Set([...covered, ...covered.flatMap(pathsAround)]);
    const paths = outermost([
      ...covered,
      ...notDeclared(kind.attributes, applied, declared),
      ...(secrets.length === 0 ? [] : undeclaredOf(secrets, declared)),
    ]).filter(
      (path) =>
        !around.has(path) && !isGone(kind, live, path) && !isOverwritten(kind, path, change, live),
    );
    if (paths.length === 0) return [];
    const [is, it, value] =
      paths.length === 1 ? ['is', 'it', 'value stays'] : ['are', 'them', 'values stay'];
    const isLeftOut =
      leavesOut(kind, change) && paths.some((path) => kind.attributes[path]?.only_declared);
    const where = isLeftOut ? ' if the service keeps what a PUT leaves out' : '';
    return {
      severity: 'info',
      code: 'no-longer-declared',
      summary: `${firstNamed(paths, MANY)} of ${address} ${is} no longer declared.`,
      detail: `The live ${value}${where}, and trueup no longer manages ${it}.${toClear(kind, paths)}`,
      address,
      origin,
    };
  });
}

/** Whether a rule says that the write would overwrite live values of the document that a member is of. */
const isOverwritten = (kind: Kind, path: string, change: Change, live: Live): boolean =>
  mergedNames(kind).includes(path.split('.', 1)[0]!) &&
  'write' in change &&
  change.write !== undefined &&
  maskedWrite(kind, change.write, live) !== undefined;

/** Changes that no target names: what the targets refer to is planned, too. */
export function targetedToo(
  { targets, destroy }: PlanRequest,
  changes: readonly Change[],
): readonly Diagnostic[] {
  const others = changes.filter(
    (change) =>
      writes(change) &&
      ![change.address, change.renamed_from ?? change.address].some((one) =>
        isNamedBy(one, targets),
      ),
  );
  if (targets.length === 0 || destroy || others.length === 0) return [];
  const [is, it] = others.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const names = firstNamed(
    others.map(({ address }) => address),
    MANY,
  );
  return [
    {
      severity: 'info',
      code: 'targeted-too',
      summary: `${names} ${is} changed, too, because what --target names refers to ${it}.`,
    },
  ];
}

/** Whether a member of a document holds nothing: no live value stays. */
function isGone({ attributes }: Kind, { values }: Live, path: string): boolean {
  const attribute = attributes[path.split('.', 1)[0]!];
  return attribute !== undefined && isMerged(attribute) && isEmpty(declaredValueAt(values, path));
}

/** Objects as declared whose `protect` or `on_removal` the state does not hold yet: a removal goes by the state. */
export function unrecordedNotes(draft: Draft, changes: readonly Change[]): readonly Diagnostic[] {
  if (draft.input.request.audit) return [];
  const found = changes.flatMap((change) => {
    const entry = change.action === 'keep' ? entryOf(draft, change.address) : undefined;
    const { protect = false, on_removal } = draft.declared.get(change.address)?.lifecycle ?? {};
    if (!entry || ((entry.protect ?? false) === protect && entry.on_removal === on_removal))
      return [];
    return change.address;
  });
  if (found.length === 0) return [];
  const [is, its] = found.length === 1 ? ['is', 'its'] : ['are', 'their'];
  return [
    {
      severity: 'info',
      code: 'lifecycle-not-recorded',
      summary: `${firstNamed(found, MANY)} ${is} as declared, but the state does not hold ${its} declared lifecycle yet.`,
      detail:
        'For a removal, `protect` and `on_removal` count as they are recorded. To record the declared ones: trueup apply',
    },
  ];
}

/** What to write for live values to go, of those for which it can be declared. */
function toClear({ attributes }: Kind, paths: readonly string[]): string {
  const cleared = paths.filter((path) => {
    const attribute = attributes[path];
    return attribute && isNullable(attribute) && !attribute.immutable;
  });
  if (cleared.length === 0) return '';
  const all = paths.length === 1 ? 'it' : 'them';
  const names = cleared.length === paths.length ? all : firstNamed(cleared, MANY);
  return ` To clear ${names}, declare null.`;
}

/** Paths that a note lists: nothing else tells them. */
const MANY = 20;

/** Whether a change sends the object without what is not declared of it. A JSON:API resource goes back whole. */
const leavesOut = ({ attributes, operations }: Kind, change: Change): boolean =>
  'write' in change &&
  change.write?.verb === 'update' &&
  !change.write.patch &&
  operations.update === 'PUT' &&
  !Object.values(attributes).some(({ wire }) => wire === 'attribute');

/** Paths of what `applied` holds and `declared` lacks. A null was declared in order to have no value. */
function* notDeclared(
  attributes: Attributes,
  applied: Values,
  declared: Values,
  path = '',
): Generator<string> {
  for (const [name, value] of Object.entries(applied)) {
    const [attribute, now] = [attributes[name], own<Value>(declared, name)];
    const at = below(path, name);
    if (value === null || attribute === undefined) continue;
    if (now === undefined) yield at;
    else if (attribute.word === 'object' && isTree(value) && isTree(now))
      yield* notDeclared(attribute.attributes, value, now, at);
    else if (isMerged(attribute) && (isTree(now) || isList(now)))
      yield* membersNotDeclared(mergeOf(value).tree, mergeOf(now).tree, `${at}.0`);
  }
}

function* membersNotDeclared(applied: Values, declared: Values, path: string): Generator<string> {
  for (const [name, value] of Object.entries(applied)) {
    const [at, now] = [below(path, name), own<Value>(declared, name)];
    if (value === null) continue;
    if (now === undefined) yield at;
    else if (isTree(value) && isTree(now)) yield* membersNotDeclared(value, now, at);
  }
}

/** Those of the paths at which nothing is declared, nor anything in place of what is around them. */
function undeclaredOf(paths: readonly string[], declared: Values): readonly string[] {
  const [all, ends] = [new Set<string>(), new Set<string>()];
  const walkInto = (value: Values | readonly Value[], path: string): void => {
    for (const [name, member] of Object.entries<Value>(value)) {
      const at = below(path, name);
      all.add(at);
      if (isTree(member) || isList(member)) walkInto(member, at);
      else ends.add(at);
    }
  };
  walkInto(declared, '');
  return paths.filter((path) => !all.has(path) && !pathsAround(path).some((one) => ends.has(one)));
}

/** Each path that a path lies within. */
const pathsAround = (path: string): readonly string[] =>
  [...path.matchAll(/\./g)].map(({ index }) => path.slice(0, index));

/** Without those that are inside another one. */
function outermost(paths: readonly string[]): readonly string[] {
  const all = new Set(paths);
  return [...all].filter((path) => !pathsAround(path).some((one) => all.has(one)));
}
