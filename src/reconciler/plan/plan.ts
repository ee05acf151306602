// The plan: declared, prior and live in, every change with its reason out. Pure: the same inputs give the same bytes.
import {
  compareText,
  defined,
  faultsOf,
  isKnown,
  keyOf,
  mayBeDuplicates,
  redact,
  redactAll,
  removals,
  REPLACED_OUTSIDE,
  same,
  sha256,
  shellWord,
  unescapeAll,
  worst,
  exits,
  isChange,
  walk,
  writes,
  type AttributeChange,
  type Attribute,
  type Change,
  type Create,
  type Declaration,
  type Desired,
  type Diagnostic,
  type Drift,
  type Entry,
  type Exit,
  type Kind,
  type Kinds,
  type Live,
  type Plan,
  type Reference,
  type Replaces,
  type State,
  type Value,
  type Values,
  type Write,
} from '../../model/index.js';
import { diff, driftOf, ignoring, updateOf, type Sending, type SecretVerdict } from './diff.js';
import {
  adviceToFind,
  identityKey,
  isMatchError,
  Matcher,
  ownRoot,
  recordedObject,
  formerAddressInState,
  unknownParent,
  type Match,
} from './match.js';
import { baseOf, literalsAtMasks, declaredPart } from './document-diff.js';
import { withNumbers } from './text-numbers.js';
import type { Visibility } from '../visibility.js';
import type { LiveCollection, LiveCollections } from '../observe.js';
import type { PlanInput } from './plan-input.js';
import { concerns, judge } from './policy.js';
import { graph, type Graph } from './dependency-graph.js';
import { fillAll, declaredValueAt, type Resolver } from './references.js';
import type { Selection } from './select.js';
import { sequence } from './order.js';
import { renameHints, renaming } from './rename-hints.js';

export interface Proposal {
  readonly plan: Plan;
  /** What the plan was computed from. */
  readonly liveObjects: LiveCollections;
  readonly secrets: PlanInput['secrets'];
  /** Live objects that no address manages or claims, by kind name. */
  readonly unmanaged: ReadonlyMap<string, readonly Live[]>;
  /** Objects that are not visible yet and that this plan has to do with: apply waits for them. */
  readonly awaited: readonly string[];
  readonly visibility: Visibility;
  /** 0 nothing to do, 2 changes, 3 blocked, 5 a person must decide, 1 errors. */
  readonly exit: Exit;
}

/** An address on its way through planning, as references see it. */
interface Planned {
  readonly kind: Kind;
  readonly declared: Values;
  readonly live?: Live;
  readonly moves: boolean;
}

interface Draft {
  readonly input: PlanInput;
  readonly selection: Selection;
  readonly graph: Graph;
  readonly matcher: Matcher;
  readonly planned: Map<string, Planned>;
  /** Everything that is declared, also what this plan does not cover. */
  readonly declared: ReadonlyMap<string, Declaration>;
  readonly resolver: Resolver;
  readonly diagnostics: Diagnostic[];
  readonly exits: Exit[];
  readonly drift: Drift[];
  /** Addresses of recorded objects that no listing shows yet. */
  readonly unseen: Set<string>;
  /** Of these, and of recorded objects that are gone so soon, those that have to be waited for. */
  readonly awaited: Set<string>;
  /** Addresses whose object is deleted before another takes its place. */
  readonly vacated: Set<string>;
}

export function plan(input: PlanInput): Proposal {
  const { selection } = input;
  const order = graph(selection.declarations, (address) => selection.known.has(address));
  const diagnostics: Diagnostic[] = [...selection.diagnostics, ...order.diagnostics];
  const planned = new Map<string, Planned>();
  const lookups = input.request.destroy ? new Map<string, Planned>() : lookUp(input, diagnostics);
  const resolver: Resolver = (reference) =>
    resolve(reference, planned, lookups, input.state, input.kinds);
  // What the plan leaves out claims first: `lifecycle.adopt` of a declaration holds wherever that is.
  const matcher = new Matcher(input, [...selection.others, ...selection.declarations.values()]);
  const declared = new Map(input.project.declarations.map((one) => [one.address, one]));
  const draft: Draft = {
    input,
    declared,
    selection,
    graph: order,
    matcher,
    planned,
    resolver,
    diagnostics,
    exits: [],
    drift: [],
    unseen: new Set(),
    awaited: new Set(),
    vacated: new Set(),
  };
  const changes: Change[] = [];
  for (const address of diagnostics.some((one) => one.severity === 'error') ? [] : order.order) {
    changes.push(...planDeclared(draft, selection.declarations.get(address) as Declaration));
  }
  const others = matchOthers(draft);
  const twins = equals(draft, others);
  diagnostics.push(...twins.map((pair) => identical(input, pair)), ...secretsUnseen(draft));
  const held = heldElsewhere(selection, input.state);
  const removals = selection.removed.flatMap(
    ([address, entry]) => planRemoved(draft, address, entry, held) ?? [],
  );
  const [wanted, unwanted] = afterDeposed(draft, held, changes, removals);
  const ordered = sequence(wanted, unwanted, input);
  const strays = matcher.strays();
  for (const change of ordered) {
    if (change.action === 'create' && strays.has(change.kind)) draft.awaited.add(change.address);
    if (writes(change))
      for (const address of change.depends_on)
        if (draft.unseen.has(address)) draft.awaited.add(address);
  }
  diagnostics.push(
    ...renameHints(ordered, input.liveObjects),
    ...concerns(ordered, input),
    ...replacements(draft, ordered),
    ...besideHeld(draft, ordered, new Set(twins.flat().map(({ address }) => address))),
    ...unseenNotes(draft),
  );
  const matched = new Set(
    [...planned.values(), ...others.values()].flatMap(({ kind, live }) =>
      live ? [`${kind.name} ${live.id}`] : [],
    ),
  );
  const unmanaged = new Map(
    [...input.liveObjects.values()].map(({ kind }) => [kind.name, matcher.unmanaged(kind)]),
  );
  const verdicts = judge(ordered, { selection, input, matched, unmanaged });
  const errors = diagnostics.some((one) => one.severity === 'error') ? [exits.error] : [];
  const exit = worst([
    ...draft.exits,
    ...errors,
    ...(verdicts.some((one) => one.verdict === 'blocked') ? [exits.blocked] : []),
    ...(ordered.some(isChange) ? [exits.changes] : []),
  ]);
  const counts = Object.fromEntries(
    [...unmanaged].map(([name, objects]) => [name, objects.length]),
  );
  const proposed: Plan = {
    changes: ordered,
    drift: draft.drift,
    unmanaged: counts,
    verdicts,
    diagnostics,
  };
  return {
    liveObjects: input.liveObjects,
    secrets: input.secrets,
    visibility: input.visibility,
    unmanaged,
    awaited: [...draft.awaited].toSorted(compareText),
    plan: proposed,
    exit,
  };
}

/** Declarations that the plan does not cover, as far as their kinds were read, with the live objects that they mean. */
function matchOthers({ input, selection, matcher, resolver }: Draft): ReadonlyMap<string, Planned> {
  const found = new Map<string, Planned>();
  for (const declaration of selection.others) {
    const kind = input.kinds.get(declaration.kind) as Kind;
    if (!input.liveObjects.has(kind.name)) continue;
    const declared = fillAll(kind.attributes, declaration.values, resolver);
    const match = matcher.match(kind, declaration, declared);
    const live = isMatchError(match) ? undefined : match.live;
    found.set(declaration.address, { kind, declared, ...defined({ live }), moves: false });
  }
  return found;
}

/** Objects in whose place somebody put others. */
function replacements(
  { input: { kinds } }: Draft,
  changes: readonly Change[],
): readonly Diagnostic[] {
  return changes.flatMap((change): Diagnostic[] => {
    if (change.previous_id === undefined || !('id' in change)) return [];
    const secretive = [...walk(kinds.get(change.kind)?.attributes ?? {})].some(
      ([, { secret }]) => secret,
    );
    const summary = `${change.address} was replaced outside of trueup: ${change.previous_id} is gone, and ${change.id} matches the declaration now`;
    return [
      {
        severity: 'warning',
        code: REPLACED_OUTSIDE,
        summary: `${summary}${secretive ? '; its secret may not be the declared one' : ''}.`,
        address: change.address,
        ...(change.origin ? { origin: change.origin } : {}),
      },
    ];
  });
}

function unseenNotes({ unseen }: Draft): readonly Diagnostic[] {
  if (unseen.size === 0) return [];
  const addresses = [...unseen].toSorted(compareText);
  const shown =
    addresses.slice(0, 3).join(', ') +
    (addresses.length > 3 ? ` and ${addresses.length - 3} more` : '');
  return [
    {
      severity: 'info',
      code: 'not-visible-yet',
      summary: `${shown} ${addresses.length === 1 ? 'was' : 'were'} created just now, and no listing shows ${addresses.length === 1 ? 'it' : 'them'} yet.`,
      detail: 'This is neither drift nor a change. To see it, plan again in a minute: trueup plan',
    },
  ];
}

function planDeclared(draft: Draft, declaration: Declaration): readonly Change[] {
  const kind = draft.input.kinds.get(declaration.kind) as Kind;
  const filled = fillAll(kind.attributes, declaration.values, draft.resolver);
  const match = draft.matcher.match(kind, declaration, filled);
  if (isMatchError(match)) {
    draft.diagnostics.push(match.diagnostic);
    draft.exits.push(match.exit);
    return [];
  }
  if (match.how === 'unseen' && match.entry)
    return [unseen(draft, kind, declaration, filled, { ...match, entry: match.entry })];
  const values = match.live ? withNumbers(kind, filled, match.live.values) : filled;
  const planned = (): readonly Change[] =>
    match.live
      ? onLive(draft, kind, declaration, filled, { ...match, live: match.live })
      : creation(draft, kind, declaration, filled, match);
  const changes = isFaulty(draft, kind, declaration, values, match.live) ? [] : planned();
  const stays = match.live && !changes.some((change) => change.deposed) ? { live: match.live } : {};
  draft.planned.set(declaration.address, {
    kind,
    declared: stays.live ? values : filled,
    ...stays,
    moves: changes.length === 0 || changes.some(writes),
  });
  const { entry, live, gone } = match;
  if (entry && gone)
    draft.drift.push({
      address: declaration.address,
      kind: kind.name,
      id: entry.id,
      ...(live && { replaced_by: live.id }),
    });
  else if (entry && live) noteDrift(draft, kind, declaration, entry, live);
  if (entry && gone && draft.input.visibility.created(kind.name, entry.id) !== undefined)
    draft.awaited.add(declaration.address);
  return changes;
}

/** Nothing changes of an object that is not visible yet: what is recorded stands for it. Where more than that is declared by now, apply waits for it. */
function unseen(
  draft: Draft,
  kind: Kind,
  declaration: Declaration,
  filled: Values,
  match: Match & { readonly entry: Entry },
): Change {
  const { entry } = match;
  const live = recordedObject(kind, entry);
  const declared = ignoring(filled, declaration.lifecycle.ignore_changes ?? []);
  draft.unseen.add(declaration.address);
  const verdict = (path: string): SecretVerdict =>
    draft.input.secrets.get(`${declaration.address} ${path}`) ?? 'unavailable';
  if (diff({ kind, declared, live, applied: entry.applied, secret: verdict }).length > 0)
    draft.awaited.add(declaration.address);
  draft.planned.set(declaration.address, { kind, declared: filled, live, moves: false });
  const base = common(
    draft,
    declaration,
    'it was created just now, and no listing shows it yet',
    match,
  );
  return {
    action: 'keep',
    ...base,
    id: entry.id,
    before: live.values,
    desired: desired(declaration, declared),
  };
}

/** Says what is wrong with what is declared, and whether that keeps it from being sent. */
function isFaulty(
  draft: Draft,
  kind: Kind,
  declaration: Declaration,
  values: Values,
  live: Live | undefined,
): boolean {
  const sent = live ? ignoring(values, declaration.lifecycle.ignore_changes ?? []) : values;
  const faults = faultsOf(kind, sent, live?.values).map(
    ({ attribute = '', ...one }): Diagnostic => {
      const unchanged =
        one.severity === 'warning'
          ? { detail: `The live object has it already, so it stays. ${one.detail ?? ''}` }
          : {};
      return {
        ...one,
        ...unchanged,
        summary: `${declaration.address}: ${one.summary}`,
        address: declaration.address,
        attribute,
        origin: declaration.at(attribute),
      };
    },
  );
  draft.diagnostics.push(...faults);
  return faults.some(({ severity }) => severity === 'error');
}

const common = (draft: Draft, declaration: Declaration, reason: string, match: Match) => ({
  address: declaration.address,
  kind: declaration.kind,
  name: declaration.name,
  origin: declaration.origin,
  reason,
  depends_on: draft.graph.dependencies.get(declaration.address) ?? [],
  ...(match.renamedFrom === undefined ? {} : { renamed_from: match.renamedFrom }),
  ...(match.entry && match.gone && match.live ? { previous_id: match.entry.id } : {}),
});

const desired = (declaration: Declaration, declared: Values): Desired => ({
  declared,
  file: declaration.file ?? declaration.origin.file,
  protect: declaration.lifecycle.protect === true,
  ...(declaration.lifecycle.on_removal === undefined
    ? {}
    : { on_removal: declaration.lifecycle.on_removal }),
});

function creation(
  draft: Draft,
  kind: Kind,
  declaration: Declaration,
  values: Values,
  match: Match,
): readonly Create[] {
  if (!kind.operations.create) {
    draft.diagnostics.push({
      severity: 'error',
      code: 'cannot-create',
      summary: `${declaration.address} has no live object, and ${kind.name} cannot be created through the API.`,
      detail: adviceToFind(
        kind,
        values,
        draft.input.liveObjects.get(kind.name)?.byId.values() ?? [],
      ),
      address: declaration.address,
      origin: declaration.origin,
    });
    return [];
  }
  const parent = declaration.lifecycle.allow_duplicate
    ? undefined
    : unknownParent(draft.input.liveObjects.get(kind.name) as LiveCollection, values);
  if (parent !== undefined) {
    draft.diagnostics.push({
      severity: 'error',
      code: 'unknown-parent',
      summary: `${declaration.address} declares no ${parent}, and the listing of ${kind.name} does not show in which one it would be created: an equal object may exist already.`,
      detail: `Declare \`${parent}\`. List what is live: trueup get ${kind.name}`,
      address: declaration.address,
      origin: declaration.origin,
    });
    return [];
  }
  const write: Write = { verb: 'create', fields: values };
  const reason = match.gone
    ? 'it was deleted outside of trueup and is created again'
    : 'it does not exist yet';
  return [
    {
      action: 'create',
      ...common(draft, declaration, reason, match),
      write,
      request: draft.input.compose(kind, write),
      desired: desired(declaration, values),
    },
  ];
}

function onLive(
  draft: Draft,
  kind: Kind,
  declaration: Declaration,
  filled: Values,
  match: Match & { readonly live: Live },
): readonly Change[] {
  const { entry } = match;
  const values = withNumbers(kind, filled, match.live.values);
  const declared = ignoring(values, declaration.lifecycle.ignore_changes ?? []);
  const recorded = match.how === 'recorded';
  const seen = declaredPart(
    kind,
    declared,
    match.live.values,
    recorded ? entry?.applied : undefined,
  );
  const live = seen === match.live.values ? match.live : { ...match.live, values: seen };
  const secret = (path: string): SecretVerdict => {
    const verdict = draft.input.secrets.get(`${declaration.address} ${path}`) ?? 'unavailable';
    // What is recorded is of the object that is gone; what was sent to this one nobody knows.
    return recorded || verdict === 'unavailable' ? verdict : 'unknown';
  };
  const changes = diff({
    kind,
    declared,
    live,
    applied: recorded ? entry?.applied : undefined,
    secret,
  });
  const fixed = changes.filter(
    ({ path }) => kind.attributes[path.split('.', 1)[0] as string]?.immutable,
  );
  if (fixed.length > 0)
    return replacement(draft, kind, declaration, filled, {
      match,
      before: live.values,
      changes,
      fixed,
    });
  const masks = literalsAtMasks(kind, declared, match.live.values);
  if (masks.length > 0) {
    draft.diagnostics.push(...masks.map((path) => masked(declaration, path)));
    return [];
  }
  const base = {
    ...common(draft, declaration, reasonOf(match, changes), match),
    id: live.id,
    before: live.values,
    desired: desired(declaration, declared),
  };
  const written =
    changes.length === 0
      ? undefined
      : update(
          draft,
          {
            kind,
            declared,
            live: match.live,
            changes,
            resend: (path) => ['changed', 'unknown'].includes(secret(path)),
          },
          live,
        );
  if (changes.length > 0 && !written) {
    draft.diagnostics.push(additionsOnly(declaration));
    return [];
  }
  if (!recorded) return [{ action: 'adopt', ...base, changes, ...written }];
  return [
    written ? { action: 'update', ...base, changes, ...written } : { action: 'keep', ...base },
  ];
}

interface Replacing extends Pick<Replaces, 'before' | 'changes'> {
  readonly match: Match & { readonly live: Live };
  /** Those of the changes that no update can make. */
  readonly fixed: readonly AttributeChange[];
}

/** A new object, and the delete of the old one: each is carried out like any other create and delete. */
function replacement(
  draft: Draft,
  kind: Kind,
  declaration: Declaration,
  values: Values,
  { match, before, changes, fixed }: Replacing,
): readonly Change[] {
  const { live } = match;
  const { address } = declaration;
  const hindrance = hindranceTo(kind, declaration, match);
  if (hindrance !== undefined) {
    draft.diagnostics.push(...fixed.map((change) => immutable(declaration, change, hindrance)));
    return [];
  }
  const [there] = declaration.lifecycle.allow_duplicate ? [] : draft.matcher.alike(kind, values);
  if (there) draft.diagnostics.push(inTheWay(kind, declaration, there));
  if (there || isFaulty(draft, kind, declaration, values, undefined)) return [];
  const first = fitsBeside(draft, kind, declaration, before, values) ? 'create' : 'delete';
  if (first === 'delete') draft.vacated.add(address);
  const paths = fixed.map(({ path }) => path);
  const outside = fixed.every(({ drifted }) => drifted)
    ? 'changed outside of trueup'
    : 'changed in the declaration';
  const base = common(
    draft,
    declaration,
    `${paths.join(', ')} ${outside}, and cannot be updated`,
    match,
  );
  const id = live.id;
  const write: Write = { verb: 'delete', id, fields: {}, live };
  const old = {
    ...base,
    depends_on: first === 'create' ? [address] : [],
    id,
    before,
    deposed: true as const,
  };
  return [
    ...creation(draft, kind, declaration, values, match).map((change) => ({
      ...change,
      ...base,
      replaces: { id, before, changes, fixed: paths, first } as const,
    })),
    { action: 'delete', ...old, write, request: draft.input.compose(kind, write) },
  ];
}

/** Why a live object cannot be replaced, and what to do then. */
function hindranceTo(
  kind: Kind,
  { address, lifecycle }: Declaration,
  { how, entry, live }: Replacing['match'],
): string | undefined {
  const { create, delete: remove } = kind.operations;
  const forget = `Declare the other object under a new name, or forget this one: trueup state rm ${shellWord(address)}`;
  const missing = [...(create ? [] : ['created']), ...(remove ? [] : ['deleted'])];
  if (missing.length > 0)
    return `${kind.name} cannot be ${missing.join(' or ')} through the API, so trueup cannot replace this object. ${forget}`;
  if (how !== 'recorded')
    return `trueup replaces only objects that it manages, and this one is not managed yet. Correct the declaration; or bind the object, and the next plan replaces it.\n${toBind(address, live.id, entry !== undefined)}`;
  const { on_removal: removal = 'delete' } = lifecycle;
  return removal === 'delete'
    ? undefined
    : `lifecycle.on_removal is ${removal}, so trueup may not delete the object, and cannot replace it. ${forget}`;
}

/** What to type so that an address holds another object. */
const toBind = (address: string, id: string, bound: boolean): string =>
  [
    ...(bound ? [`Forget the recorded object: trueup state rm ${shellWord(address)}`] : []),
    `Bind the live object: trueup import ${shellWord(address)} ${shellWord(id)}`,
  ].join('\n');

/**
 * Whether the new object can be there beside the old one. What is identified by a name or by its content cannot, nor
 * what is not known to have another identity; and a reference to what is deleted first has to go before that.
 */
function fitsBeside(
  draft: Draft,
  kind: Kind,
  { address }: Declaration,
  before: Values,
  values: Values,
): boolean {
  if (
    kind.identity === 'content' ||
    kind.identity.some((name) => kind.attributes[name]?.word === 'text')
  )
    return false;
  const identity = identityKey(kind, values);
  const waits = draft.graph.dependencies.get(address) ?? [];
  return (
    identity !== undefined &&
    identity !== identityKey(kind, before) &&
    !waits.some((one) => draft.vacated.has(one))
  );
}

/** @param shown the live object as far as a plan may hold it */
function update(
  draft: Draft,
  sending: Sending,
  shown: Live,
): Pick<Extract<Change, { action: 'update' }>, 'write' | 'request'> | undefined {
  const { kind, live } = sending;
  const { project, compose } = draft.input;
  const composed = updateOf({
    ...sending,
    patch: project.settings.configuration_writes === 'patch',
  });
  if (!composed) return undefined;
  const write: Write = { verb: 'update', id: live.id, live: shown, ...composed };
  const base = write.patch ? undefined : baseOf(kind, write.fields, live.values);
  return { write, request: { ...compose(kind, write), ...(base && { base }) } };
}

function reasonOf(match: Match, changes: readonly AttributeChange[]): string {
  const paths = changes.map((change) => change.path).join(', ');
  if (match.gone && match.live) return REPLACED_OUTSIDE;
  if (match.how !== 'recorded') {
    const how =
      match.how === 'adopt'
        ? 'lifecycle.adopt names it'
        : 'it is the only unmanaged object that matches';
    return changes.length > 0 ? `${how}; ${paths} will be updated` : how;
  }
  if (changes.length === 0)
    return match.renamedFrom === undefined
      ? 'it is as declared'
      : `renamed from ${match.renamedFrom}`;
  const drifted = changes.filter((change) => change.drifted).map((change) => change.path);
  return drifted.length === 0
    ? `${paths} changed in the declaration`
    : drifted.length === changes.length
      ? `${paths} changed outside of trueup`
      : `${drifted.join(', ')} changed outside of trueup; others changed in the declaration`;
}

function immutable(declaration: Declaration, change: AttributeChange, detail: string): Diagnostic {
  return {
    severity: 'error',
    code: 'immutable',
    summary: `${declaration.address}: ${change.path} is immutable: it is ${JSON.stringify(redact(change.before ?? null))} and cannot be updated to ${JSON.stringify(redact(change.after ?? null))}.`,
    detail,
    address: declaration.address,
    attribute: change.path,
    origin: declaration.at(change.path),
  };
}

function inTheWay(kind: Kind, { address, origin }: Declaration, { id }: Live): Diagnostic {
  return {
    severity: 'error',
    code: 'exists-already',
    summary: `${address} cannot be replaced: the ${singular(kind)} ${id} already has the identity of the new object.`,
    detail: toBind(address, id, true),
    address,
    origin,
  };
}

function masked(declaration: Declaration, path: string): Diagnostic {
  return {
    severity: 'error',
    code: 'masked-value',
    summary: `${declaration.address}: ${path} reads back masked, so the declared value cannot be compared with it.`,
    detail:
      'Write the value as "${secret.env.NAME}", or leave the member out: an undeclared member keeps its live value.',
    address: declaration.address,
    attribute: path,
    origin: declaration.at(path),
  };
}

function additionsOnly(declaration: Declaration): Diagnostic {
  return {
    severity: 'error',
    code: 'additions-only',
    summary: `${declaration.address}: the change removes something from the configuration, and a PATCH can only add.`,
    detail:
      'Remove settings.configuration_writes: patch, or leave out the members declared null and the list of removed defaults.',
    address: declaration.address,
    attribute: 'configuration',
    origin: declaration.at('configuration'),
  };
}

function noteDrift(
  draft: Draft,
  kind: Kind,
  declaration: Declaration,
  entry: Entry,
  live: Live,
): void {
  const changes = driftOf(
    kind,
    ignoring(entry.applied, declaration.lifecycle.ignore_changes ?? []),
    live,
  );
  if (changes.length > 0)
    draft.drift.push({ address: declaration.address, kind: kind.name, id: live.id, changes });
}

/** `<kind> <id>` of what an address holds that stays. A rename that was cut off leaves two addresses with one object. */
function heldElsewhere({ removed }: Selection, state: State | undefined): Set<string> {
  const goes = new Set(removed.map(([address]) => address));
  return new Set(
    Object.entries(state?.resources ?? {}).flatMap(([address, { kind, id }]) =>
      goes.has(address) ? [] : [`${kind} ${id}`],
    ),
  );
}

/** Also deletes what an interrupted replacement left behind. What takes the address out of the state comes after that. */
function afterDeposed(
  draft: Draft,
  held: Set<string>,
  declared: readonly Change[],
  removed: readonly Change[],
): readonly [readonly Change[], readonly Change[]] {
  const { state } = draft.input;
  const recorded = [...draft.selection.declarations.values()].flatMap((one) => {
    const entry = state?.resources[formerAddressInState(one, state) ?? one.address];
    return entry ? [[one.address, entry] as const] : [];
  });
  const left = [...recorded, ...draft.selection.removed].flatMap(([address, entry]) =>
    (entry.deposed ?? []).flatMap(
      (id) =>
        planRemoved(draft, address, { ...entry, id }, held, 'another object took its place') ?? [],
    ),
  );
  if (left.length === 0) return [declared, removed];
  const waiting = (change: Change): Change => {
    const keys =
      change.deposed || !('desired' in change && change.desired)
        ? left.filter(({ address }) => address === change.address).map(keyOf)
        : [];
    return keys.length === 0 ? change : { ...change, depends_on: [...change.depends_on, ...keys] };
  };
  return [declared.map(waiting), [...removed.map(waiting), ...left]];
}

/**
 * @param held grows by the object that is planned to go, so that it goes once
 * @param deposed why the object goes although its address stays
 */
function planRemoved(
  draft: Draft,
  address: string,
  entry: Entry,
  held: Set<string>,
  deposed?: string,
): Change | undefined {
  const { kinds, liveObjects, compose, request } = draft.input;
  const kind = kinds.get(entry.kind);
  if (!kind) {
    draft.diagnostics.push({
      severity: 'error',
      code: 'unknown-kind',
      summary: `The state holds ${address}, whose kind this version does not know.`,
      detail: 'Use the version of trueup that wrote the state.',
    });
    return undefined;
  }
  const live = liveObjects.get(kind.name)?.byId.get(entry.id);
  const how = deposed === undefined ? (entry.on_removal ?? removals(kind)[0]) : 'delete';
  const why =
    deposed ?? (request.destroy ? 'the plan destroys everything' : 'it is no longer declared');
  const declaration =
    request.destroy || deposed !== undefined ? draft.declared.get(address) : undefined;
  const base = {
    address,
    kind: kind.name,
    name: address.slice(kind.name.length + 1),
    ...(declaration ? { origin: declaration.origin } : {}),
    depends_on: [],
    id: entry.id,
    before: live ? declaredPart(kind, entry.applied, live.values) : entry.observed,
    ...(deposed === undefined ? {} : { deposed: true as const }),
  };
  const created = live ? undefined : draft.input.visibility.created(kind.name, entry.id);
  // Some replicas may show a new object and others not: trueup forgets none before the settle time is over.
  if (created !== undefined) draft.awaited.add(address);
  if (created === 'unseen') {
    draft.unseen.add(address);
    return undefined;
  }
  if (!live) {
    if (deposed === undefined) draft.drift.push({ address, kind: kind.name, id: entry.id });
    return { action: 'forget', ...base, reason: `${why}, and it no longer exists` };
  }
  const object = `${entry.kind} ${entry.id}`;
  if (held.has(object))
    return { action: 'forget', ...base, reason: `${why}; another address manages its object` };
  held.add(object);
  if (how === 'delete' && kind.operations.delete) {
    const write: Write = { verb: 'delete', id: entry.id, fields: {}, live };
    return { action: 'delete', ...base, reason: why, write, request: compose(kind, write) };
  }
  const retired = kind.retire?.[how as string] as Values | undefined;
  const changes = retired ? diff({ kind, declared: retired, live, secret: () => 'same' }) : [];
  if (!retired || changes.length === 0)
    return { action: 'forget', ...base, reason: `${why}; the live object stays as it is` };
  const written = update(draft, { kind, declared: retired, live, changes }, live);
  if (!written) throw new Error(`${kind.name} cannot be retired by additions alone`);
  return { action: 'update', ...base, reason: `${why}; on_removal: ${how}`, changes, ...written };
}

/** Exactly one live object for each lookup, or an error. */
function lookUp(
  { kinds, project, liveObjects }: PlanInput,
  diagnostics: Diagnostic[],
): ReadonlyMap<string, Planned> {
  const found = new Map<string, Planned>();
  for (const lookup of project.lookups) {
    const kind = kinds.get(lookup.kind) as Kind;
    const where = fillAll(kind.attributes, lookup.where, (reference) =>
      resolve(reference, new Map(), found, undefined, kinds),
    );
    const live = [...(liveObjects.get(kind.name)?.byId.values() ?? [])].filter((one) =>
      Object.entries(where).every(([name, value]) =>
        same(kind.attributes[name] as Attribute, value, one.values[name]),
      ),
    );
    const only = live.length === 1 ? live[0] : undefined;
    if (only) found.set(lookup.name, { kind, declared: {}, live: only, moves: false });
    else
      diagnostics.push({
        severity: 'error',
        code: 'lookup',
        summary: `lookups.${lookup.name} must match exactly one of ${kind.name}, but matches ${
          live.length === 0
            ? 'none'
            : `${live.length}: ${live
                .slice(0, 5)
                .map((one) => one.id)
                .join(', ')}`
        }.`,
        detail:
          live.length === 0
            ? `List what is live: trueup get ${kind.name}`
            : `Add an attribute, for example ${kind.id}: "${live[0]?.id}".`,
        origin: lookup.origin,
      });
  }
  return found;
}

function resolve(
  reference: Reference,
  planned: ReadonlyMap<string, Planned>,
  lookups: ReadonlyMap<string, Planned>,
  state: State | undefined,
  kinds: Kinds,
): Value | undefined {
  const target =
    reference.source === 'lookup' ? lookups.get(reference.target) : planned.get(reference.target);
  if (target) return attributeOf(target, reference.attribute);
  const entry = reference.source === 'lookup' ? undefined : state?.resources[reference.target];
  if (!entry) return undefined;
  return reference.attribute === kinds.get(entry.kind)?.id
    ? entry.id
    : declaredValueAt(entry.observed, reference.attribute);
}

/** A planned value never changes at apply: computed attributes of what is written are not known before. */
function attributeOf({ kind, declared, live, moves }: Planned, path: string): Value | undefined {
  if (path === kind.id) return live?.id;
  const value = declaredValueAt(declared, path);
  if (value !== undefined) return isKnown(value) ? value : undefined;
  const computed = kind.attributes[path.split('.', 1)[0] as string]?.computed;
  const read = declaredValueAt(live?.values ?? {}, path);
  return read === undefined || (computed && moves) ? undefined : unescapeAll(read);
}

/**
 * Two declarations of one identity would fight over one object, or make it twice. Of two that the plan does not cover
 * nothing is said. Two that both have an object are told apart by what is live of what they do not declare.
 */
function equals(
  draft: Draft,
  others: ReadonlyMap<string, Planned>,
): readonly (readonly [Declaration, Declaration])[] {
  const seen = new Map<string, string>();
  const out: (readonly [Declaration, Declaration])[] = [];
  const identityOf = ({ kind, declared }: Planned, live?: Live): string => {
    const root = ownRoot(draft.input.liveObjects.get(kind.name) as LiveCollection);
    const values = { ...root, ...live?.values, ...declared };
    // References stand for themselves, so that two declarations that name the same unknown object compare equal.
    return `${kind.name} ${identityKey(kind, values) ?? identityKey(kind, placeholders(values))}`;
  };
  for (const [address, planned] of [...others, ...draft.planned]) {
    const identity = identityOf(planned);
    const twin = seen.get(identity);
    if (twin === undefined) seen.set(identity, address);
    if (twin === undefined || !draft.planned.has(address)) continue;
    const one = draft.declared.get(address) as Declaration;
    const other = draft.declared.get(twin) as Declaration;
    const before = draft.planned.get(twin) ?? others.get(twin);
    const differ =
      before?.live &&
      planned.live &&
      identityOf(before, before.live) !== identityOf(planned, planned.live);
    if (!differ && !mayBeDuplicates(other.lifecycle, one.lifecycle)) out.push([one, other]);
  }
  return out;
}

/** References as texts that no normal form alters: an address may hold what an id cannot. */
const placeholders = (values: Values): Values =>
  JSON.parse(JSON.stringify(redactAll(values)), (_, value: unknown) =>
    typeof value === 'string' && value.includes('${') ? sha256(value) : value,
  ) as Values;

function identical(
  { kinds }: PlanInput,
  [one, other]: readonly [Declaration, Declaration],
): Diagnostic {
  return {
    severity: 'error',
    code: 'identical-declarations',
    summary: `${one.address} and ${other.address} declare the same ${singular(kinds.get(one.kind) as Kind)}.`,
    detail: `The other one is at ${other.origin.file}:${other.origin.line}. Remove one, or write lifecycle: { allow_duplicate: true } on both.`,
    address: one.address,
    origin: one.origin,
  };
}

const singular = (kind: Kind): string => kind.singular.replaceAll('_', ' ');

/**
 * Creations beside an object of the same identity that another address holds, and that still has it after this plan.
 * @param told addresses of which that was said already
 */
function besideHeld(
  { input, declared, matcher }: Draft,
  changes: readonly Change[],
  told: ReadonlySet<string>,
): readonly Diagnostic[] {
  const written = new Map(
    changes.flatMap((change) =>
      writes(change) && 'id' in change ? [[`${change.kind} ${change.id}`, change.write]] : [],
    ),
  );
  return changes.flatMap((change): Diagnostic[] => {
    const { address } = change;
    if (change.action !== 'create' || told.has(address)) return [];
    const mine = declared.get(address)?.lifecycle ?? {};
    if (mine.allow_duplicate) return [];
    const kind = input.kinds.get(change.kind) as Kind;
    const stays = ({ id, values }: Live): boolean => {
      const { verb, fields } = written.get(`${kind.name} ${id}`) ?? {};
      return (
        verb !== 'delete' &&
        identityKey(kind, { ...values, ...fields }) === identityKey(kind, values)
      );
    };
    const found = matcher.held(kind, change.desired.declared).find(([, live]) => stays(live));
    if (!found) return [];
    const [holder, { id }] = found;
    if (mayBeDuplicates(declared.get(holder)?.lifecycle ?? {}, mine)) return [];
    return [
      {
        severity: 'error',
        code: 'exists-already',
        summary: `${address} cannot be created: ${holder} holds the ${singular(kind)} ${id}, which has the same identity.`,
        detail: `${renaming({ address: holder, name: holder.slice(kind.name.length + 1) }, change)}\nOtherwise plan the whole project, without PATH, --target and --exclude. If both are wanted, write lifecycle: { allow_duplicate: true }.`,
        address,
        ...defined({ origin: change.origin }),
      },
    ];
  });
}

function secretsUnseen(draft: Draft): Diagnostic[] {
  const unseen = [...draft.input.secrets]
    .filter(([, verdict]) => verdict === 'unavailable')
    .map(([key]) => key.slice(0, key.indexOf(' ')));
  const addresses = [...new Set(unseen)]
    .filter((address) => draft.planned.get(address)?.live)
    .toSorted(compareText);
  if (addresses.length === 0) return [];
  const shown =
    addresses.slice(0, 3).join(', ') +
    (addresses.length > 3 ? `, and ${addresses.length - 3} more` : '');
  return [
    {
      severity: 'info',
      code: 'secret-unseen',
      summary: `The secret of ${shown} is not available here, so the plan treats it as unchanged.`,
      detail:
        'Set its environment variable, or provide its file: then the plan shows a changed secret.',
    },
  ];
}
