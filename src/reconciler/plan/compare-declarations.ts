// The plan that leads from earlier declarations to later ones, without a cloud. What was declared earlier counts as live
// and as in state. An object's id is the text of the reference to it; what only a cloud knows stays a reference.
import {
  changesOf,
  defined,
  documentOf,
  emptyState,
  equal,
  exits,
  isChange,
  isClear,
  isEmpty,
  isKnown,
  isList,
  isTree,
  keptMembers,
  mergeOf,
  NOT_KNOWN,
  own,
  recordFrom,
  redactAll,
  Reference,
  referencesIn,
  Refusal,
  secretsIn,
  WHOLE_PLAN,
  type Change,
  type Declaration,
  type Diagnostic,
  type Entry,
  type Exit,
  type Kind,
  type Kinds,
  type Live,
  type Lookup,
  type Plan,
  type Project,
  type Request,
  type State,
  type Value,
  type Values,
} from '../../model/index.js';
import type { LiveCollections } from '../live-collections.js';
import { nothingRecent } from '../recent-writes.js';
import { howChanged, whereEdited } from './change-reasons.js';
import { graph } from './dependency-graph.js';
import type { SecretVerdict } from './diff.js';
import { applied, mergedNames, spread } from './document-diff.js';
import type { Planned } from './draft.js';
import { resolveReference } from './lookups.js';
import { formerAddressInState, unknownParent } from './match.js';
import { plan } from './plan.js';
import { WITHOUT_REVIEW } from './rename-hints.js';
import { aboutState } from './refactoring-notes.js';
import { declaredValueAt, fillAll, type Resolver } from './resolve-references.js';
import { select } from './target-selection.js';

export interface DeclarationPair {
  readonly kinds: Kinds;
  readonly before: Project;
  readonly after: Project;
  /** The name of the earlier declarations in messages, such as `main`. */
  readonly label: string;
}

/** A plan whose requests are not composed. Policy rules judge live objects, so there are no verdicts. @throws Refusal where references of the earlier declarations lead nowhere, or in a circle */
export function compareDeclarations(pair: DeclarationPair) {
  const { kinds, before, after } = pair;
  const [old, now] = [allOf(before), allOf(after)];
  const others = otherLookups(before.lookups, after.lookups);
  const earlier = filled(kinds, old, {
    liveId: (declaration) => idOf(kinds, declaration),
    // A lookup that finds another object now is not the same reference.
    lookup: ({ target, attribute }) =>
      others.has(target)
        ? new Reference('lookup', `${target}@${pair.label}`, attribute)
        : undefined,
  });
  if (earlier.diagnostics.length > 0) throw new Refusal(earlier.diagnostics);
  const recorded = stateOf(kinds, old, now, earlier.planned);
  const later = filled(kinds, now, {
    liveId: (declaration) => entryOf(recorded, declaration)?.id,
    lookup: () => undefined,
  });
  const sides: Sides = { ...pair, now, earlier: earlier.planned, later: later.planned };
  const state = withOutside(sides, recorded);
  const adopted = adoptions(sides, state);
  const liveObjects = liveObjectsOf(sides, [...adopted.values()], state);
  const project: Project = {
    ...after,
    lookups: [],
    declarations: after.declarations.map((one) =>
      unmatched(one, { liveObjects, adopted, later: later.planned, state }),
    ),
  };
  const proposal = plan({
    kinds,
    rules: [],
    project,
    state,
    liveObjects,
    selection: select(kinds, project, state, WHOLE_PLAN),
    secrets: secretVerdicts(sides, state),
    visibility: nothingRecent,
    compose: () => NOT_SENT,
    request: WHOLE_PLAN,
    now: { boot: { id: null, milliseconds: 0 }, wall: 0 },
  });
  const isAsWritten = writtenAlike(kinds, old, now, recorded);
  const changes = proposal.plan.changes.map((one) => reworded(one, pair, isAsWritten));
  // The state of the comparison stands for no state that a block was carried out in.
  const notes = proposal.plan.diagnostics.flatMap(({ detail, ...note }): readonly Diagnostic[] =>
    aboutState.has(note.code)
      ? []
      : [{ ...note, ...defined({ detail: detail && withoutLine(detail, WITHOUT_REVIEW) }) }],
  );
  const diagnostics = [...notes, ...lookupNotes(pair, others)];
  const compared: Plan = { changes, drift: [], unmanaged: {}, verdicts: [], diagnostics };
  return { plan: compared, exit: exitOf(changes, diagnostics) };
}

const withoutLine = (text: string, beginning: string): string =>
  text
    .split('\n')
    .filter((line) => !line.startsWith(beginning))
    .join('\n');

/** There is no cloud whose paths a request could name. */
const NOT_SENT: Request = { method: 'PATCH', path: '' };

type Declared = ReadonlyMap<string, Declaration>;
type Filled = ReadonlyMap<string, Planned>;

interface Sides extends DeclarationPair {
  /** With what PATHs leave out. */
  readonly now: Declared;
  readonly earlier: Filled;
  readonly later: Filled;
}

const allOf = ({ declarations, outside_paths = [] }: Project): Declared =>
  new Map([...outside_paths, ...declarations].map((one) => [one.address, one]));

/** 0 nothing differs, 1 errors, 2 changes. */
function exitOf(changes: readonly Change[], diagnostics: readonly Diagnostic[]): Exit {
  if (diagnostics.some(({ severity }) => severity === 'error')) return exits.error;
  return changes.some(isChange) ? exits.changes : exits.done;
}

/** The text of the reference to an object, spelled so that it passes for an id. */
function idOf(kinds: Kinds, { address, kind, lifecycle }: Declaration): string {
  const safe = address.replaceAll(/[%/?#\s]/g, encodeURIComponent);
  return lifecycle.adopt ?? `\${${safe}.${kinds.get(kind)!.id}}`;
}

interface Filling {
  readonly liveId: (declaration: Declaration) => string | undefined;
  readonly lookup: Resolver;
}

/** Declared values, each document in one form, with what references lead to. */
function filled(kinds: Kinds, declarations: Declared, { liveId, lookup }: Filling) {
  const { order, diagnostics } = graph(declarations, () => false);
  const planned = new Map<string, Planned>();
  const resolver: Resolver = (reference) =>
    reference.source === 'lookup'
      ? lookup(reference)
      : resolveReference(reference, planned, new Map(), { kinds, state: undefined });
  for (const address of order) {
    const declaration = declarations.get(address)!;
    const kind = kinds.get(declaration.kind)!;
    const declared = fillAll(kind.attributes, spread(kind, declaration.values), resolver);
    const id = liveId(declaration);
    const live = id === undefined ? undefined : { id, values: { ...declared, [kind.id]: id } };
    planned.set(address, { kind, declared, ...defined({ live }), moves: false });
  }
  return { planned, diagnostics };
}

/** Names of lookups that stand for another object in the later declarations. */
function otherLookups(before: readonly Lookup[], after: readonly Lookup[]): ReadonlySet<string> {
  const later = new Map(after.map((one) => [one.name, one]));
  const others = new Set<string>();
  const differs = ({ name, kind, where }: Lookup): boolean => {
    const now = later.get(name);
    return (
      now !== undefined &&
      (now.kind !== kind ||
        !equal(now.where, where) ||
        referencesIn(where).some(({ target }) => others.has(target)))
    );
  };
  for (let size = -1; size !== others.size;) {
    size = others.size;
    for (const one of before) if (differs(one)) others.add(one.name);
  }
  return others;
}

const lookupNotes = (
  { after, label }: DeclarationPair,
  others: ReadonlySet<string>,
): readonly Diagnostic[] =>
  after.lookups.flatMap(({ name, origin }): Diagnostic | [] =>
    others.has(name)
      ? {
          severity: 'info',
          code: 'lookup-changed',
          summary: `lookups.${name} does not look for the same object as at ${label}.`,
          detail: 'References to it are shown as changed.',
          origin,
        }
      : [],
  );

/** The earlier declarations as in state. An object counts as declared in its later file, which may be outside of the PATHs. */
function stateOf(kinds: Kinds, old: Declared, now: Declared, earlier: Filled): State {
  const resources = [...earlier].map(([address, { kind, declared, live }]) => {
    const declaration = old.get(address)!;
    const { file, origin } = now.get(address) ?? declaration;
    const { on_removal } = declaration.lifecycle;
    const entry: Entry = {
      kind: kind.name,
      id: live?.id ?? idOf(kinds, declaration),
      file: file ?? origin.file,
      applied: applied(kind, declared),
      observed: {},
      depends_on: [],
      applied_at: '',
      ...defined({ on_removal }),
    };
    return [address, entry] as const;
  });
  return { ...emptyState('', ''), resources: Object.fromEntries(resources) };
}

/** What PATHs leave out can be referred to, with its later values. */
function withOutside({ kinds, after, later, now }: Sides, state: State): State {
  const outside = (after.outside_paths ?? []).map((one) => {
    const { kind, declared } = later.get(one.address)!;
    const entry: Entry = {
      kind: kind.name,
      id: state.resources[one.address]?.id ?? idOf(kinds, now.get(one.address)!),
      file: one.file ?? one.origin.file,
      applied: {},
      observed: redactAll(keptMembers(declared, isKnown)),
      depends_on: [],
      applied_at: '',
    };
    return [one.address, entry] as const;
  });
  return { ...state, resources: { ...state.resources, ...Object.fromEntries(outside) } };
}

const entryOf = (state: State, declaration: Declaration): Entry | undefined =>
  state.resources[formerAddressInState(declaration, state) ?? declaration.address];

/** Objects that exist, but were not declared earlier: those that `lifecycle.adopt` names, and those that cannot be created. No more is known of them than what cannot change. By address. */
function adoptions({ kinds, after, later }: Sides, state: State): ReadonlyMap<string, Adoption> {
  const fresh = after.declarations.flatMap((one) => {
    const kind = kinds.get(one.kind)!;
    const exists = one.lifecycle.adopt !== undefined || !kind.operations.create;
    if (entryOf(state, one) || !exists) return [];
    const id = idOf(kinds, one);
    const { declared } = later.get(one.address)!;
    const values = { ...fixedValues(kind, declared), [kind.id]: id };
    return [[one.address, { kind: kind.name, live: { id, values } }] as const];
  });
  return new Map(fresh);
}

interface Adoption {
  readonly kind: string;
  readonly live: Live;
}

function fixedValues(kind: Kind, declared: Values): Values {
  const documents = mergedNames(kind).filter((name) => Object.hasOwn(declared, name));
  return {
    ...keptMembers(declared, (_, name) => kind.attributes[name]?.immutable === true),
    ...recordFrom(documents, (name) =>
      documentOf({ tree: {}, removed: mergeOf(declared[name]).removed && [] }),
    ),
  };
}

function liveObjectsOf(
  { kinds, after, earlier, later }: Sides,
  adopted: readonly Adoption[],
  state: State,
): LiveCollections {
  const names = new Set([...earlier.values(), ...later.values()].map(({ kind }) => kind.name));
  const objects = new Map([...names].map((name) => [name, new Map<string, Live>()]));
  // What an address has already cannot be adopted: the plan says so.
  for (const { kind, live } of adopted) objects.get(kind)!.set(live.id, live);
  for (const { kind, live } of earlier.values())
    if (live) objects.get(kind.name)!.set(live.id, live);
  for (const declaration of after.declarations) {
    const { kind, declared } = later.get(declaration.address)!;
    const byId = objects.get(kind.name)!;
    const live = byId.get(entryOf(state, declaration)?.id ?? idOf(kinds, declaration));
    if (live) byId.set(live.id, { ...live, values: withUnknown(live.values, declared) });
  }
  return new Map(
    [...objects].map(([name, byId]) => [name, { kind: kinds.get(name)!, byId }] as const),
  );
}

/** The earlier values, and what is not known of those that are declared empty only now: there may have been some. */
function withUnknown(before: Values, after: Values): Values {
  const added = Object.entries(after).flatMap(([name, now]): (readonly [string, Value])[] => {
    const old = own<Value>(before, name);
    if (isTree(now) && (old === undefined || isTree(old))) {
      const inner = withUnknown(old ?? {}, now);
      return old === undefined && isEmpty(inner) ? [] : [[name, inner]];
    }
    if (isList(now) && isList(old) && isTree(now[0]) && isTree(old[0]))
      return [[name, [withUnknown(old[0], now[0]), ...old.slice(1)]]];
    if (old !== undefined) return [];
    if (isClear(now)) return [[name, [{ '*': NOT_KNOWN }]]];
    return isEmpty(now) || now === false ? [[name, NOT_KNOWN]] : [];
  });
  return { ...before, ...Object.fromEntries(added) };
}

interface Unmatched {
  readonly liveObjects: LiveCollections;
  readonly adopted: ReadonlyMap<string, Adoption>;
  readonly later: Filled;
  readonly state: State;
}

/** A declaration that needs no live objects to be matched. */
function unmatched(
  declaration: Declaration,
  { liveObjects, adopted, later, state }: Unmatched,
): Declaration {
  const adopt = adopted.get(declaration.address)?.live.id;
  const { kind, declared } = later.get(declaration.address)!;
  // Without a cloud, no equal object of an unknown parent can be found.
  const isFree =
    !entryOf(state, declaration) &&
    unknownParent(liveObjects.get(kind.name)!, declared) !== undefined;
  if (adopt === undefined && !isFree) return declaration;
  const lifecycle = {
    ...declaration.lifecycle,
    ...defined({ adopt }),
    ...(isFree && { allow_duplicate: true }),
  };
  return { ...declaration, lifecycle };
}

/** Secrets are compared by the name of their source: their values are not read. */
function secretVerdicts(
  { after, earlier, later }: Sides,
  state: State,
): ReadonlyMap<string, SecretVerdict> {
  const verdicts = after.declarations.flatMap((declaration) => {
    const { address } = declaration;
    const former = formerAddressInState(declaration, state) ?? address;
    const before = secretsIn(earlier.get(former)?.declared ?? {});
    return [...secretsIn(later.get(address)!.declared)].map(
      ([path, { source }]) =>
        [`${address} ${path}`, before.get(path)?.source === source ? 'same' : 'changed'] as const,
    );
  });
  return new Map(verdicts);
}

type IsAsWritten = (change: Change, path: string) => boolean;

/** Whether both declarations of an object say the same at a path, so that only what they refer to can differ. */
function writtenAlike(kinds: Kinds, old: Declared, now: Declared, state: State): IsAsWritten {
  const written = (declaration: Declaration | undefined, path: string): Value | undefined =>
    declaration && declaredValueAt(spread(kinds.get(declaration.kind)!, declaration.values), path);
  return ({ address }, path) => {
    const one = now.get(address);
    const former = one && formerAddressInState(one, state);
    const before = written(old.get(former ?? address), path);
    return before !== undefined && equal(before, written(one, path));
  };
}

/** Reasons that tell of declarations alone. What a reference leads to is not known, and so is the label. */
function reworded(
  { label: _, ...change }: Change,
  { label, before, after }: DeclarationPair,
  isAsWritten: IsAsWritten,
): Change {
  const since = (paths?: readonly string[]): string => {
    const told = changesOf(change).filter(({ path }) => paths?.includes(path) ?? true);
    const [followed, edited] = [true, false].map((is) =>
      told.filter(({ path }) => isAsWritten(change, path) === is).map(({ path }) => path),
    );
    const refers = followed!.length === 1 ? 'refers' : 'refer';
    return [
      howChanged(
        edited!.map((path) => ({ path, before: undefined, after: undefined, drifted: false })),
        whereEdited(before, after),
      ),
      ...(followed!.length > 0 ? [`${followed!.join(', ')} ${refers} to what changed`] : []),
    ]
      .filter(Boolean)
      .join('; ');
  };
  if (change.action === 'create')
    return {
      ...change,
      reason: change.replaces
        ? `${since(change.replaces.fixed)}, and cannot be updated`
        : `it is not declared at ${label}`,
    };
  if (change.action === 'adopt')
    return {
      ...change,
      reason: `it is not declared at ${label}; it exists already, and its values are not known here`,
    };
  return change.action === 'update' && change.declaredObject
    ? { ...change, reason: since() }
    : change;
}
