// The plan: declared, prior and live in, every change with its reason out. Pure: the same inputs give the same bytes.
import {
  compareText,
  defined,
  faultsOf,
  referencesIn,
  Reference,
  writes,
  type AttributeChange,
  type Change,
  type Create,
  type Declaration,
  type DeclaredObject,
  type Diagnostic,
  type Entry,
  type Exit,
  type Live,
  type Plan,
  type Replaces,
  type Value,
  type Values,
  type Write,
} from '../../model/index.js';
import { howChanged, reasonOf, whereEdited } from './change-reasons.js';
import { graph } from './dependency-graph.js';
import { createdFields, diff, driftOf, ignoring, type SecretVerdict } from './diff.js';
import { declaredPart, literalsAtMasks } from './document-diff.js';
import {
  composedUpdate,
  current,
  type Draft,
  type FilledDeclaration,
  type Planned,
} from './draft.js';
import {
  identicalDeclarations,
  identicalError,
  identityConflicts,
} from './identical-declarations.js';
import { lookUp, resolveReference } from './lookups.js';
import {
  Matcher,
  adviceToFind,
  isMatchError,
  recordedObject,
  unknownParent,
  type Match,
} from './match.js';
import { sequence } from './order.js';
import {
  additionsOnlyError,
  cannotCreateErrors,
  declarationError,
  existsAlreadyError,
  heldAdvice,
  immutableErrors,
  maskedValueError,
} from './plan-errors.js';
import type { PlanInput } from './plan-input.js';
import {
  replacedOutsideNotes,
  targetedToo,
  undeclaredNotes,
  unrecordedNotes,
  unseenNotes,
  unseenSecretNotes,
} from './plan-notes.js';
import { planExitCode } from './plan-exit-code.js';
import { concerns, firstRunNotes, judge, judgedWhole } from './policy.js';
import { forgetting } from './recorded-addresses.js';
import { fillAll, type Resolver } from './resolve-references.js';
import { afterDeposed, heldElsewhere, removalsOf } from './removed-declarations.js';
import { refactoringNotes } from './refactoring-notes.js';
import { withReferenceLabels } from './reference-labels.js';
import {
  goneErrors,
  keepingRecorded,
  recordedValue,
  undecidedIn,
  undecidedNotes,
} from './undecided.js';
import {
  isAsLive,
  renamedErrors,
  renameNote,
  renameNotes,
  renamesIn,
  withWholes,
} from './rename-hints.js';
import { firstWrite, hindranceTo, type LiveMatch } from './replacement.js';
import { withNumbers } from './text-numbers.js';

/** With the readings that the plan was computed from. */
export interface Proposal extends Pick<PlanInput, 'liveObjects' | 'secrets' | 'visibility'> {
  readonly plan: Plan;
  /** Live objects that no address manages or claims, by kind name. */
  readonly unmanaged: ReadonlyMap<string, readonly Live[]>;
  /** Objects that are not visible yet and that this plan has to do with: apply waits for them. */
  readonly awaited: readonly string[];
  /** 0 nothing to do, 2 changes, 3 blocked, 5 a person must decide, 1 errors. */
  readonly exit: Exit;
}

/** Before anything is planned. */
function draftOf(input: PlanInput): Draft {
  const { selection } = input;
  const order = graph(selection.declarations, (address) => selection.known.has(address));
  const diagnostics: Diagnostic[] = [
    ...(input.project.warnings ?? []),
    ...selection.diagnostics,
    ...order.diagnostics,
  ];
  const planned = new Map<string, Planned>();
  const lookups = input.request.destroy ? new Map<string, Planned>() : lookUp(input, diagnostics);
  const undecided = new Map<string, string>();
  const resolver: Resolver = (reference) =>
    undecided.has(reference.target)
      ? undefined
      : resolveReference(reference, planned, lookups, input);
  // Declarations outside of the plan are matched first: their `lifecycle.adopt` is valid as well.
  const matcher = new Matcher(input, [...selection.others, ...selection.declarations.values()]);
  const declared = new Map(input.project.declarations.map((one) => [one.address, one]));
  return {
    input,
    declared,
    selection,
    graph: order,
    matcher,
    planned,
    forgetting: forgetting(input.project),
    lookups,
    resolver,
    diagnostics,
    exits: [],
    fixed: [],
    renamed: [],
    absent: [],
    drift: [],
    undecided,
    unseen: new Set(),
    old: new Set(),
    awaited: new Set(),
    vacated: new Set(),
    held: heldElsewhere(selection, input.state),
  };
}

const isError = ({ severity }: Diagnostic): boolean => severity === 'error';

export function plan(input: PlanInput): Proposal {
  const draft = draftOf(input);
  const { selection, graph: order, diagnostics, planned, matcher } = draft;
  const changes = (diagnostics.some(isError) ? [] : order.order).flatMap((address) =>
    planDeclared(draft, selection.declarations.get(address)!),
  );
  const others = matchOthers(draft, selection.others);
  const twins = identicalDeclarations(draft, others);
  diagnostics.push(
    ...twins.map((pair) => identicalError(input, pair)),
    ...unseenSecretNotes(draft, changes),
  );
  const [wanted, unwanted] = afterDeposed(draft, changes, removalsOf(draft));
  const ordered = sequence(wanted, unwanted, input);
  const addresses = new Set([
    ...draft.declared.keys(),
    ...Object.keys(input.state?.resources ?? {}),
  ]);
  const renames = renamesIn(ordered, input.liveObjects, addresses);
  const renamed = new Set(renames.map(({ change }) => change.address));
  waitForUnseen(draft, ordered);
  const same = new Set(twins.flat().map(({ address }) => address));
  const conflicts = identityConflicts(draft, ordered, same);
  // To leave out what cannot be created corrects nothing else.
  const errors = [...diagnostics, ...conflicts].filter(isError);
  const isElseWrong = [draft.renamed, draft.fixed, renames, errors].some((one) => one.length > 0);
  const hasRest = !isElseWrong && ordered.some(({ action }) => action !== 'keep');
  diagnostics.push(
    ...cannotCreateErrors(draft.absent, hasRest, renamed),
    ...immutableErrors(draft.fixed, { drift: draft.drift, hints: renames.map(renameNote) }),
    ...refactoringNotes(input, diagnostics),
    ...concerns(ordered, input),
    ...firstRunNotes(ordered, input),
    ...replacedOutsideNotes(ordered),
    ...conflicts,
    ...unseenNotes(draft),
    ...targetedToo(input.request, ordered),
    ...undeclaredNotes(draft, ordered),
    ...unrecordedNotes(draft, ordered),
    ...undecidedNotes(draft),
    ...renameNotes(renames, addresses),
    ...renamedErrors(withWholes(draft.renamed, addresses), addresses),
  );
  const unmanaged = new Map(
    [...input.liveObjects.values()].map(({ kind }) => [kind.name, matcher.unmanaged(kind)]),
  );
  const counted = matchOthers(draft, selection.outside, others);
  const matched = objectsOf([...planned.values(), ...counted.values()]);
  const verdicts = judge(ordered, { selection, input, matched, unmanaged });
  const counts = Object.fromEntries(
    [...unmanaged].map(([name, objects]) => [name, objects.length]),
  );
  const proposed = judgedWhole(
    {
      ...withReferenceLabels({ changes: ordered, drift: draft.drift }, input),
      unmanaged: counts,
      verdicts,
      diagnostics,
    },
    input,
  );
  return {
    liveObjects: input.liveObjects,
    secrets: input.secrets,
    visibility: input.visibility,
    unmanaged,
    awaited: [...draft.awaited].toSorted(compareText),
    plan: proposed,
    exit: planExitCode(proposed, draft.exits),
  };
}

/** `<kind> <id>` of the live objects that declarations mean. */
const objectsOf = (all: readonly Planned[]): ReadonlySet<string> =>
  new Set(all.flatMap(({ kind, live }) => (live ? [`${kind.name} ${live.id}`] : [])));

/** What has to be visible before anything is written. */
function waitForUnseen({ matcher, unseen, awaited }: Draft, changes: readonly Change[]): void {
  const strays = matcher.strays();
  for (const change of changes) {
    if (change.action === 'create' && strays.has(change.kind)) awaited.add(change.address);
    if (writes(change))
      for (const address of change.depends_on) if (unseen.has(address)) awaited.add(address);
  }
}

/** Declarations that the plan does not cover, as far as their kinds were read, with the live objects that they mean, after those that are `known`. */
function matchOthers(
  { input, matcher, planned, lookups }: Draft,
  declarations: readonly Declaration[],
  known: ReadonlyMap<string, Planned> = new Map(),
): ReadonlyMap<string, Planned> {
  const found = new Map(known);
  const others = new Map(declarations.map((one) => [one.address, one]));
  const resolver: Resolver = (reference) => {
    const targets = found.has(reference.target) ? found : planned;
    return resolveReference(reference, targets, lookups, input);
  };
  for (const address of graph(others, () => true).order) {
    const declaration = others.get(address)!;
    const kind = input.kinds.get(declaration.kind)!;
    if (!input.liveObjects.has(kind.name)) continue;
    const declared = fillAll(kind.attributes, declaration.values, resolver);
    const match = matcher.match(kind, declaration, declared);
    const live = isMatchError(match) ? undefined : match.live;
    found.set(address, { kind, declared, ...defined({ live }), moves: false });
  }
  return found;
}

function planDeclared(draft: Draft, declaration: Declaration): readonly Change[] {
  const { undecided } = draft;
  const [root] = (draft.graph.dependencies.get(declaration.address) ?? []).flatMap(
    (one) => undecided.get(one) ?? [],
  );
  const kind = draft.input.kinds.get(declaration.kind)!;
  const filled = fillAll(kind.attributes, declaration.values, draft.resolver);
  const one: FilledDeclaration = { kind, declaration, filled };
  const found = draft.matcher.match(kind, declaration, filled);
  // What the state holds is known by its id, whatever it refers to; what would take its place is not.
  const isKnownById = !isMatchError(found) && found.entry !== undefined && !found.gone;
  if (isMatchError(found) || (root !== undefined && !isKnownById)) {
    if (isMatchError(found) && root === undefined) {
      draft.diagnostics.push(found.diagnostic);
      draft.exits.push(found.exit);
    }
    undecided.set(declaration.address, root ?? declaration.address);
    const gone = isMatchError(found) ? found.gone : found.entry;
    if (gone) noteGone(draft, declaration, gone);
    return [];
  }
  const match = upToDate(draft, declaration, found);
  if (match.how === 'unseen' && match.entry)
    return [unseen(draft, one, { ...match, entry: match.entry })];
  const values = match.live ? withNumbers(kind, filled, match.live.values) : filled;
  const planned = (): readonly Change[] =>
    match.live ? onLive(draft, one, { ...match, live: match.live }) : creation(draft, one, match);
  const changes = isFaulty(draft, { ...one, filled: values }, match.live) ? [] : planned();
  draft.diagnostics.push(...goneErrors(draft, { kind, declaration }, changes));
  const stays = match.live && !changes.some((change) => change.deposed) ? { live: match.live } : {};
  draft.planned.set(declaration.address, {
    kind,
    declared: stays.live ? values : filled,
    ...stays,
    moves: changes.length === 0 || changes.some(writes),
  });
  const { entry, live, gone } = match;
  if (entry && gone) noteGone(draft, declaration, entry, live);
  else if (entry && live) noteDrift(draft, one, entry, live);
  if (entry && gone && draft.input.visibility.created(kind.name, entry.id) !== undefined)
    draft.awaited.add(declaration.address);
  return changes;
}

function upToDate(
  draft: Draft,
  { address, lifecycle: { ignore_changes = [] } }: Declaration,
  match: Match,
): Match {
  const { how, entry, live } = match;
  if (how !== 'recorded' || !entry || !live) return match;
  const held = { ...entry, applied: ignoring(entry.applied, ignore_changes) };
  return { ...match, live: current(draft, address, held, live) };
}

/** Nothing changes of an object that is not visible yet: what is recorded stands for it. Where more than that is declared by now, apply waits for it. */
function unseen(
  draft: Draft,
  { kind, declaration, filled }: FilledDeclaration,
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
  const reason = 'it was created just now, and no listing shows it yet';
  const base = common(draft, declaration, reason, match);
  return {
    action: 'keep',
    ...base,
    id: entry.id,
    before: live.values,
    declaredObject: declaredObject(declaration, declared),
  };
}

/** Says what is wrong with what is declared, and whether that keeps it from being sent. */
function isFaulty(
  draft: Draft,
  { kind, declaration, filled }: FilledDeclaration,
  live: Live | undefined,
): boolean {
  const sent = live ? ignoring(filled, declaration.lifecycle.ignore_changes ?? []) : filled;
  const faults = faultsOf(kind, sent, live?.values).map(
    ({ attribute = '', ...one }): Diagnostic => {
      const stays = `The live object has it already, so it stays. ${one.detail ?? ''}`;
      return {
        ...one,
        ...(one.severity === 'warning' && { detail: stays }),
        summary: `${declaration.address}: ${one.summary}`,
        address: declaration.address,
        attribute,
        origin: declaration.at(attribute),
      };
    },
  );
  draft.diagnostics.push(...faults);
  return faults.some(isError);
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

const declaredObject = (declaration: Declaration, declared: Values): DeclaredObject => ({
  declared,
  file: declaration.file ?? declaration.origin.file,
  protect: declaration.lifecycle.protect === true,
  ...defined({ on_removal: declaration.lifecycle.on_removal }),
});

/** What looks renamed has the values that its earlier address has. */
const ofRenamed =
  ({ renamed, lookups, input }: Draft): Resolver =>
  ({ target, attribute }) => {
    const old = renamed.find(({ change }) => change.address === target)?.old.address;
    const reference = old === undefined ? undefined : new Reference('declared', old, attribute);
    return reference && resolveReference(reference, new Map(), lookups, input);
  };

/** What looks renamed, of what a value refers to. */
const looksRenamed = ({ renamed }: Draft, value: Value): string | undefined =>
  referencesIn(value).find((one) => renamed.some(({ change }) => change.address === one.target))
    ?.target;

function creation(
  draft: Draft,
  { kind, declaration, filled: values }: FilledDeclaration,
  match: Match,
): readonly Create[] {
  const collection = draft.input.liveObjects.get(kind.name)!;
  if (!kind.operations.create) {
    const asRenamed = fillAll(kind.attributes, values, ofRenamed(draft));
    const [held] = draft.matcher.held(kind, asRenamed);
    if (held && draft.selection.gone.has(held[0])) {
      const [address, live] = held;
      draft.renamed.push({
        old: { address, name: address.slice(kind.name.length + 1) },
        change: declaration,
        waiting: [],
        isAsDeclared: isAsLive(kind, asRenamed, live),
      });
      return [];
    }
    const targets = new Set(referencesIn(values).map(({ target }) => target));
    draft.absent.push({
      declaration,
      advice: held
        ? heldAdvice(held[0], declaration.address)
        : adviceToFind(kind, values, collection.byId.values()),
      gone: match.gone === true,
      needs: [...targets].filter((target) => !draft.planned.get(target)?.live),
    });
    return [];
  }
  const parent = declaration.lifecycle.allow_duplicate
    ? undefined
    : unknownParent(collection, values);
  if (parent !== undefined) {
    draft.diagnostics.push(
      declarationError(declaration, {
        code: 'unknown-parent',
        summary: `${declaration.address} declares no ${parent}, and the listing of ${kind.name} does not show in which one it would be created: an equal object may exist already.`,
        detail: `Declare \`${parent}\`. List what is live: trueup get ${kind.name}`,
      }),
    );
    return [];
  }
  const write: Write = { verb: 'create', fields: createdFields(kind, values) };
  const reason = match.gone
    ? 'it was deleted outside of trueup and is created again'
    : 'it has no live object yet';
  return [
    {
      action: 'create',
      ...common(draft, declaration, reason, match),
      write,
      request: draft.input.compose(kind, write),
      declaredObject: declaredObject(declaration, values),
    },
  ];
}

function onLive(
  draft: Draft,
  one: FilledDeclaration,
  match: Match & { readonly live: Live },
): readonly Change[] {
  const { kind, declaration, filled } = one;
  const { entry } = match;
  const values = withNumbers(kind, filled, match.live.values);
  const wanted = ignoring(values, declaration.lifecycle.ignore_changes ?? []);
  const declared = keepingRecorded(draft, kind, wanted, match.live);
  const recorded = match.how === 'recorded';
  const applied = recorded ? entry?.applied : undefined;
  const seen = declaredPart(kind, declared, match.live.values, applied);
  const live = seen === match.live.values ? match.live : { ...match.live, values: seen };
  const secret = (path: string): SecretVerdict => {
    const verdict = draft.input.secrets.get(`${declaration.address} ${path}`) ?? 'unavailable';
    // The recorded values are of the deleted object; the values last sent to this one are unknown.
    return recorded || verdict === 'unavailable' ? verdict : 'unknown';
  };
  const asRecorded = recordedValue(draft, declaration.values);
  const changes = diff({ kind, declared, live, applied, secret, asRecorded });
  const fixed = changes.filter(({ path }) => kind.attributes[path.split('.', 1)[0]!]?.immutable);
  const [root] = fixed.flatMap(
    ({ after = null }) => undecidedIn(draft, after) ?? looksRenamed(draft, after) ?? [],
  );
  if (root !== undefined) {
    draft.undecided.set(declaration.address, root);
    return [];
  }
  if (fixed.length > 0)
    return replacement(draft, one, { match, before: live.values, changes, fixed });
  const masks = literalsAtMasks(kind, declared, match.live.values);
  if (masks.length > 0) {
    draft.diagnostics.push(...masks.map((path) => maskedValueError(declaration, path)));
    return [];
  }
  // With the spread first, V8 would make hidden classes for each change.
  const base = {
    id: live.id,
    before: live.values,
    declaredObject: declaredObject(declaration, declared),
    ...common(draft, declaration, reasonOf(draft, declaration, match, changes), match),
  };
  const resend = (path: string): boolean => ['changed', 'unknown'].includes(secret(path));
  const sending = { kind, declared, live: match.live, changes, resend };
  const written = changes.length === 0 ? undefined : composedUpdate(draft, sending, live);
  if (changes.length > 0 && !written) {
    draft.diagnostics.push(additionsOnlyError(declaration));
    return [];
  }
  if (!recorded) return [{ action: 'adopt', ...base, changes, ...written }];
  return [
    written ? { action: 'update', ...base, changes, ...written } : { action: 'keep', ...base },
  ];
}

interface Replacing extends Pick<Replaces, 'before' | 'changes'> {
  readonly match: LiveMatch;
  /** Those of the changes that no update can make. */
  readonly fixed: readonly AttributeChange[];
}

/** A new object, and the delete of the old one: each is carried out like any other create and delete. */
function replacement(
  draft: Draft,
  one: FilledDeclaration,
  { match, before, changes, fixed }: Replacing,
): readonly Change[] {
  const { kind, declaration, filled: values } = one;
  const { live } = match;
  const { address } = declaration;
  const others = draft.matcher.alike(kind, values);
  const isOtherLive = others.length > 0 || draft.matcher.held(kind, values).length > 0;
  const hindrance = hindranceTo(kind, declaration, match, isOtherLive);
  if (hindrance !== undefined) {
    draft.fixed.push(...fixed.map((change) => ({ declaration, change, hindrance })));
    return [];
  }
  const [there] = declaration.lifecycle.allow_duplicate ? [] : others;
  if (there) draft.diagnostics.push(existsAlreadyError(kind, declaration, there));
  if (there || isFaulty(draft, one, undefined)) return [];
  const first = firstWrite(draft, one, before);
  if (first === 'delete') draft.vacated.add(address);
  const paths = fixed.map(({ path }) => path);
  const base = common(
    draft,
    declaration,
    `${howChanged(fixed, whereEdited(draft.input.project))}, and cannot be updated`,
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
    ...creation(draft, one, match).map((change) => ({
      ...change,
      ...base,
      replaces: { id, before, changes, fixed: paths, first } as const,
    })),
    { action: 'delete', ...old, write, request: draft.input.compose(kind, write) },
  ];
}

function noteGone(draft: Draft, { address, kind }: Declaration, { id }: Entry, live?: Live): void {
  draft.drift.push({ address, kind, id, ...(live && { replaced_by: live.id }) });
}

function noteDrift(
  draft: Draft,
  { kind, declaration }: FilledDeclaration,
  entry: Entry,
  live: Live,
): void {
  const applied = ignoring(entry.applied, declaration.lifecycle.ignore_changes ?? []);
  const changes = driftOf(kind, applied, live);
  if (changes.length > 0)
    draft.drift.push({ address: declaration.address, kind: kind.name, id: live.id, changes });
}
