// The scope of a plan: the selected declarations, and recorded addresses that are no longer declared. Objects declared
// in a file outside the given PATHs are never changed.
import {
  cached,
  firstNamed,
  formatAddress,
  nearest,
  referencesIn,
  tryAddress,
  withoutKey,
  append,
  pathWord,
  shellWord,
  type Declaration,
  type Diagnostic,
  type Entry,
  type Kinds,
  type PlanRequest,
  type Project,
  type State,
} from '../../model/index.js';
import { declaredFormerAddresses, formerAddresses, formerAddressInState } from './match.js';
import { spread } from './document-diff.js';
import { membersOf } from './dependency-graph.js';
import { forgetting, movedAddresses, type MovedAddresses } from './recorded-addresses.js';
import { declarationError, leaveOut } from './plan-errors.js';
import { declaredElsewhere, movesBetweenRecorded, unknownFileErrors } from './removed-elsewhere.js';

export type Selection = ReturnType<typeof select>;

export function select(
  kinds: Kinds,
  project: Project,
  state: State | undefined,
  request: PlanRequest,
) {
  const declarations = recounted(project.declarations, state).map((one) => inOneForm(kinds, one));
  const all = new Map(declarations.map((declaration) => [declaration.address, declaration]));
  const renamed = renamedIn(declarations, state);
  const entries = Object.entries(state?.resources ?? {});
  const inPaths = below(project.paths);
  const forgets = forgetting(project);
  const { pathOf } = movedAddresses(project);
  // A `removed` block names its object by the address after the moves, and so does who destroys what was not moved yet.
  const namesOf = (address: string): readonly string[] => [
    ...(forgets(address) ? pathOf(address) : [address]),
    ...(renamed.has(address) ? [renamed.get(address)!] : []),
  ];
  const isDeclared = (address: string): boolean => all.has(address) || renamed.has(address);
  const gone = entries.filter(
    ([address, { file }]) => inPaths(file) && (request.destroy || !isDeclared(address)),
  );
  const goneAddresses = new Set(gone.map(([address]) => address));
  const declared = request.destroy ? new Map<string, Declaration>() : all;
  const covers = coverage(all, request, { namesOf, pathOf, renamed, gone });
  const staying = entries.filter(([address]) => !goneAddresses.has(address));
  const declaredKinds = new Set(
    [...project.declarations, ...staying.map(([, entry]) => entry)].map(({ kind }) => kind),
  );
  const removedKinds = gone.flatMap(([address, { kind }]) => (forgets(address) ? [] : [kind]));
  const allRemoved = new Set(removedKinds.filter((kind) => !declaredKinds.has(kind)));
  const all_removed = [...kinds.keys()].filter((kind) => !request.destroy && allRemoved.has(kind));
  const outside = (project.outside_paths ?? []).filter(({ address }) => !all.has(address));
  // Where nothing at all is declared, the rule for whole kinds says so, or it was asked for.
  const isSaid = all.size === 0 && (request.destroy || all_removed.length > 0);
  const isOwn = (address: string): boolean =>
    isSaid || renamed.has(address) || forgets(address) !== undefined;
  const known = [...all.values(), ...outside, ...(project.outside_faulty ?? [])];
  const foreign = foreignObjects(entries, known, isOwn);
  const { removed, said } = removals(project, gone, request, { covers, namesOf });
  const isRemoved = foreign > 0 && removed.length > 0;
  const is_foreign_blocked = isRemoved && !request.destroy && project.is_state_unnamed === true;
  return {
    declarations: covers ? new Map([...declared].filter(([address]) => covers(address))) : declared,
    /** Declarations that the request leaves out. */
    others: covers ? [...declared.values()].filter(({ address }) => !covers(address)) : [],
    /** Declarations that PATHs leave out. They only count: they may be another form of what the PATHs declare. */
    outside: outside.map((one) => inOneForm(kinds, one)),
    /** Recorded addresses in scope that nothing declares, in reverse order of the state. */
    removed,
    /** The same, also those that the request leaves out. */
    gone: goneAddresses,
    /** Addresses a reference may name although nothing loaded declares them. */
    known: new Set(staying.map(([address]) => address).filter((one) => !renamed.has(one))),
    /** Kinds of which nothing is declared any more although the state holds some. */
    all_removed,
    /** Number of objects in the state if none of them is declared: it may be that of another project. Otherwise 0. */
    foreign,
    /** True if they would be removed although nothing tells this state apart from that of another project. */
    is_foreign_blocked,
    diagnostics: [
      ...doubtfulRenames(declarations, all, state, inPaths).filter(concerns(request, covers)),
      ...recordedElsewhere(
        all,
        entries,
        (address, file) => request.destroy && !inPaths(file) && (covers?.(address) ?? true),
      ),
      ...(request.destroy ? [] : movesBetweenRecorded(project, gone)),
      ...said,
      ...(foreign > 0 && !is_foreign_blocked ? [foreignState(foreign, isRemoved)] : []),
      ...wrongNames(kinds, request, {
        declared: [...all.keys()],
        recorded: entries.flatMap(([address]) => [address, ...namesOf(address)]),
        renamed,
        pathOf,
      }),
    ],
  };
}

interface Covering extends Pick<OtherNames, 'namesOf'> {
  /** Undefined where everything is covered. */
  readonly covers: ((address: string) => boolean) | undefined;
}

/** What is removed, and what is said of it: errors where a file that is left out mentions it, and what --exclude keeps. An audit compares nothing beside an error. */
function removals(
  project: Project,
  gone: readonly (readonly [string, Entry])[],
  request: PlanRequest,
  { covers = () => true, namesOf }: Covering,
) {
  const { audit, excludes, destroy } = request;
  const covered = gone.filter(([address]) => covers(address)).toReversed();
  const unknown = destroy ? [] : unknownFileErrors(project, covered);
  const errors = declaredElsewhere(project, covered, destroy);
  const isNamed = (address: string): boolean =>
    namesOf(address).some((one) => isNamedBy(one, excludes));
  const leftOf = (addresses: readonly string[]): readonly string[] =>
    addresses.filter((address) => !covers(address) && !isNamed(address));
  if (!audit)
    return {
      removed: covered,
      said: [
        ...unknown,
        ...errors,
        ...excludedToo(request, {
          gone: leftOf(gone.map(([address]) => address)),
          declared: destroy ? [] : leftOf(project.declarations.map(({ address }) => address)),
        }),
      ],
    };
  const kept = new Set(errors.map(({ address }) => address));
  return {
    removed: covered.filter(([address]) => !kept.has(address)),
    said: unknown.map((one) => ({ ...one, severity: 'warning' as const })),
  };
}

/** What --exclude leaves out although it does not name it: no other line shows it. @param left recorded and no longer declared, or to be destroyed; and declared */
function excludedToo(
  { targets, destroy }: PlanRequest,
  { gone, declared }: { readonly gone: readonly string[]; readonly declared: readonly string[] },
): readonly Diagnostic[] {
  if (targets.length > 0) return [];
  const told = (all: readonly string[], code: string, one: string, many: string) =>
    all.length === 0
      ? []
      : [
          {
            severity: 'info' as const,
            code,
            summary: `${firstNamed(all, FEW)} ${all.length === 1 ? one : many}.`,
          },
        ];
  return [
    ...(destroy
      ? told(
          gone,
          'excluded-too',
          'stays, too, because what --exclude leaves out needs it',
          'stay, too, because what --exclude leaves out needs them',
        )
      : told(
          gone,
          'excluded-removal',
          'is no longer declared, and is not removed, because it refers to what --exclude leaves out',
          'are no longer declared, and are not removed, because they refer to what --exclude leaves out',
        )),
    ...told(
      declared,
      'excluded-too',
      'is left out, too, because it refers to what --exclude leaves out',
      'are left out, too, because they refer to what --exclude leaves out',
    ),
  ];
}

/** The address now of each object that the state holds under an earlier one. */
const renamedIn = (
  declarations: readonly Declaration[],
  state: State | undefined,
): ReadonlyMap<string, string> =>
  new Map(
    declarations.flatMap((declaration) => {
      const former = formerAddressInState(declaration, state);
      return former === undefined ? [] : [[former, declaration.address] as const];
    }),
  );

/** Declarations that are left out and that the state does not hold, so that only what is live tells whether they mean an object. */
export const uncounted = (
  { others, outside }: Selection,
  state: State | undefined,
): readonly Declaration[] =>
  [...others, ...outside].filter(
    (one) => !isRecorded(state, one.address) && formerAddressInState(one, state) === undefined,
  );

/** The declarations, as having had another `count` only where the state shows one, and nobody else was renamed from there. */
function recounted(
  declarations: readonly Declaration[],
  state: State | undefined,
): readonly Declaration[] {
  if (!declarations.some((one) => isRecorded(state, one.recounted))) return declarations;
  const explicit = new Set(declarations.flatMap(declaredFormerAddresses));
  return declarations.map((one) => {
    const { recounted: former, ...rest } = one;
    return isRecorded(state, former) &&
      !explicit.has(former) &&
      (!former.endsWith(']') || isCount(state, one.address))
      ? one
      : rest;
  });
}

const isRecorded = (state: State | undefined, address: string | undefined): address is string =>
  address !== undefined && state?.resources[address] !== undefined;

/** True if the recorded members of a name are numbered without a gap: only this distinguishes `count` from `for_each`. */
function isCount(state: State | undefined, whole: string): boolean {
  const members = Object.keys(state?.resources ?? {}).filter((address) =>
    address.startsWith(`${whole}[`),
  );
  return members.every((_, index) => isRecorded(state, `${whole}["${index}"]`));
}

function inOneForm(kinds: Kinds, declaration: Declaration): Declaration {
  const kind = kinds.get(declaration.kind);
  const values = kind ? spread(kind, declaration.values) : declaration.values;
  return values === declaration.values ? declaration : { ...declaration, values };
}

/** How a declaration says that it had an address before, and what takes that back. */
function renameSource({ lifecycle, moved_from = [], origin }: Declaration, former: string) {
  const block = moved_from.find(({ address }) => address === former);
  if (block) return { remedy: 'Delete the moved block', isCount: false, origin: block.origin };
  const isCount = lifecycle.renamed_from === undefined;
  const attribute = isCount ? 'count' : 'lifecycle.renamed_from';
  return { remedy: 'Remove lifecycle.renamed_from', isCount, attribute, origin };
}

/** The number of recorded objects if nothing is declared at any of their addresses, under another key or none either; otherwise 0. One object may just have another name now. */
function foreignObjects(
  entries: readonly (readonly [string, Entry])[],
  declared: readonly Declaration[],
  isOwn: (address: string) => boolean,
): number {
  if (entries.length < 2) return 0;
  const names = new Set(declared.map(({ address }) => withoutKey(address)));
  return entries.every(([address]) => !names.has(withoutKey(address)) && !isOwn(address))
    ? entries.length
    : 0;
}

const foreignState = (known: number, isRemoved: boolean): Diagnostic => ({
  severity: 'warning',
  code: 'foreign-state',
  summary: `None of the ${known} objects in the state is declared here: it may be the state of another project.`,
  detail: `If it is, give this project its own: settings.state.url, or settings.state.project of a remote state.${isRemoved ? ' If it is not, the plan removes what was declared before.' : ''}`,
});

/** A destroy concerns only a rename whose object it would keep without a word. */
const concerns =
  ({ destroy }: PlanRequest, covers: ((address: string) => boolean) | undefined) =>
  ({ code, address = '' }: Diagnostic): boolean =>
    !destroy || (code === 'renamed-elsewhere' && (covers?.(address) ?? true));

/** What the PATHs declare and a destroy would keep, because it was applied from another file. */
function recordedElsewhere(
  declared: ReadonlyMap<string, Declaration>,
  entries: readonly (readonly [string, Entry])[],
  isKept: (address: string, file: string) => boolean,
): readonly Diagnostic[] {
  const found = entries.flatMap(([address, { file }]) => {
    const declaration = declared.get(address);
    return declaration && isKept(address, file) ? [{ declaration, file }] : [];
  });
  const leaving = leaveOut(found.map(({ declaration }) => declaration.address));
  return found.map(({ declaration, file }) =>
    declarationError(declaration, {
      code: 'recorded-elsewhere',
      summary: `${declaration.address} was applied from ${pathWord(file)}, which is not covered, and is declared here now.`,
      detail: `If ${pathWord(file)} no longer declares it, first record its new file: trueup apply\n${leaving}`,
    }),
  );
}

/** Renames that would bind two addresses to one object, or forget one: nothing is planned beside them. */
function doubtfulRenames(
  declarations: readonly Declaration[],
  all: ReadonlyMap<string, Declaration>,
  state: State | undefined,
  inPaths: (file: string) => boolean,
): readonly Diagnostic[] {
  return declarations.flatMap((declaration): readonly Diagnostic[] => {
    const { address } = declaration;
    const own = state?.resources[address];
    const held = formerAddresses(declaration).flatMap((former) => {
      const entry = state?.resources[former];
      return entry && former !== address ? [{ former, entry }] : [];
    });
    return held.flatMap(({ former, entry }): Diagnostic | [] => {
      const { remedy, isCount, ...place } = renameSource(declaration, former);
      const doubt = (code: string, why: string, detail: string): Diagnostic => {
        const summary = `${address} was renamed from ${former}, but ${why}.`;
        return { severity: 'error', code, summary, detail, address, ...place };
      };
      const forgetting = `To keep its object: trueup state rm ${shellWord(former)}`;
      if (all.has(former))
        return doubt(
          'renamed-declared',
          `${former} is declared too`,
          `${remedy}, or rename in two runs: first the one whose name the other takes.`,
        );
      if (own && own.id !== entry.id && isCount) return [];
      if (own && own.id !== entry.id)
        return doubt(
          'renamed-bound',
          'both are recorded',
          `${remedy}; ${former} is then removed, because it is no longer declared. ${forgetting}`,
        );
      const other = held.find((one) => one.entry.id !== entry.id);
      if (!own && other && other !== held[0])
        return doubt(
          'renamed-bound',
          `also from ${other.former}, and both are recorded`,
          `One address holds one object. Forget one of them. ${forgetting}`,
        );
      if (!inPaths(entry.file))
        return doubt(
          'renamed-elsewhere',
          `that was declared in ${pathWord(entry.file)}, which is not covered`,
          `If that file still exists, add it to the PATHs: ${pathWord(entry.file)}\nIf nothing there declares it any more, move it to the new address: trueup state mv ${shellWord(former)} ${shellWord(address)}`,
        );
      return [];
    });
  });
}

/** True if an address is one of `names`, or a member of a `for_each` that one of them names. */
export const isNamedBy = (address: string, names: readonly string[]): boolean =>
  names.some((name) => address === name || address.startsWith(`${name}[`));

interface OtherNames {
  /** The address of an object in the state, and others that mean the same object. */
  readonly namesOf: (address: string) => readonly string[];
  /** The address, and all that moves lead it to. */
  readonly pathOf: MovedAddresses['pathOf'];
  /** Declared addresses by those that the state holds. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Recorded objects that the plan would remove. */
  readonly gone: readonly (readonly [address: string, entry: Entry])[];
}

/** Undefined where nothing was asked for in particular: everything is covered. */
function coverage(
  declared: ReadonlyMap<string, Declaration>,
  { targets: wanted, excludes: unwanted, destroy }: PlanRequest,
  { namesOf, pathOf, renamed, gone }: OtherNames,
): ((address: string) => boolean) | undefined {
  if (wanted.length === 0 && unwanted.length === 0) return undefined;
  const needs = references(declared);
  // What is removed referred to what the state says.
  const recorded = gone.map(
    ([address, entry]) =>
      [address, entry.depends_on.map((one) => renamed.get(one) ?? one)] as const,
  );
  const allNeeds: Edges = new Map([...recorded, ...needs]);
  const addressesIn = (
    asked: readonly string[],
    within: Edges,
    formersOf: (former: string) => readonly string[],
  ): readonly string[] => [
    ...[...new Set([...within].flat(2))].filter((address) => isNamedBy(address, asked)),
    ...[...renamed].flatMap(([former, address]) =>
      destroy && formersOf(former).some((one) => isNamedBy(one, asked)) ? [address] : [],
    ),
  ];
  const targets =
    wanted.length === 0
      ? undefined
      : closure(
          addressesIn(wanted, needs, (former) => [former]),
          destroy ? new Map() : needs,
        );
  // Another environment may hold the object at any address of its path: what is excluded stays there, too.
  const kept = addressesIn(unwanted, allNeeds, pathOf);
  const dependents = closure(kept, invert(allNeeds));
  // What stays needs what it refers to.
  const excludes = destroy ? closure([...dependents], allNeeds) : dependents;
  return (address) => {
    const names = namesOf(address);
    const isWanted =
      targets === undefined || names.some((one) => targets.has(one) || isNamedBy(one, wanted));
    const formers = destroy ? [...names, ...pathOf(address)] : names;
    return isWanted && !formers.some((one) => excludes.has(one) || isNamedBy(one, unwanted));
  };
}

/** Addresses by those that they come from. */
type Edges = ReadonlyMap<string, readonly string[]>;

function closure(start: readonly string[], edges: Edges): ReadonlySet<string> {
  const reached = new Set(start);
  for (const address of reached) for (const next of edges.get(address) ?? []) reached.add(next);
  return reached;
}

function references(declared: ReadonlyMap<string, Declaration>): Edges {
  return new Map(
    [...declared.values()].map((one) => [
      one.address,
      [
        ...referencesIn(one.values)
          .filter((reference) => reference.source === 'declared')
          .map((reference) => reference.target),
        ...(one.depends_on ?? []).flatMap((name) => membersOf(name, declared)),
      ],
    ]),
  );
}

function invert(edges: Edges): Edges {
  const out = new Map<string, string[]>();
  for (const [from, targets] of edges) for (const to of targets) append(out, to, from);
  return out;
}

/** Addresses that the request may name. */
interface Nameable extends Pick<OtherNames, 'renamed' | 'pathOf'> {
  readonly declared: readonly string[];
  readonly recorded: readonly string[];
}

function wrongNames(
  kinds: Kinds,
  { targets, excludes, destroy }: PlanRequest,
  nameable: Nameable,
): readonly Diagnostic[] {
  const all = [...nameable.declared, ...nameable.recorded];
  return [...targets, ...excludes].flatMap((name) => {
    const earlier = destroy ? undefined : earlierName(name, nameable);
    return earlier ?? unknownName(kinds, name, all) ?? [];
  });
}

/** A name that declarations only had before, or have in an environment that is behind, selects nothing: to exclude it would exclude nothing. */
function earlierName(
  name: string,
  { declared, renamed, pathOf }: Nameable,
): Diagnostic | undefined {
  if (declared.some((address) => isNamedBy(address, [name]))) return undefined;
  const later = [...renamed].flatMap(([former, now]) =>
    pathOf(former).some((one) => isNamedBy(one, [name])) ? [now] : [],
  );
  if (later.length === 0) return undefined;
  return {
    severity: 'error',
    code: 'renamed-address',
    summary: `${name} has another address now: ${firstNamed(later, FEW)}.`,
    detail: `Name the address that is declared: ${shellWord(later[0]!)}`,
  };
}

/** Addresses that a message names at most. */
const FEW = 3;

function unknownName(
  kinds: Kinds,
  name: string,
  addresses: readonly string[],
): Diagnostic | undefined {
  if (addresses.some((address) => isNamedBy(address, [name]))) return undefined;
  const address = tryAddress(name);
  const near = nearest(address ? formatAddress(address) : name, addresses);
  const shown = [...kinds.values()].find(({ named_as }) => named_as !== undefined);
  const example = shown ? `, as in ${shown.name}.${shown.named_as}` : '';
  const detail =
    near === undefined
      ? `Addresses are <kind>.<name>${example}.`
      : `Did you mean ${shellWord(near)}?`;
  const summary = `${name} is neither declared nor in the state.`;
  return { severity: 'error', code: 'unknown-address', summary, detail };
}

/** Tells if a file (relative, with `/`) is one of the PATHs or below one of them. Called for every entry of a state, computed once per file. */
function below(paths: readonly string[]): (file: string) => boolean {
  const clean = (path: string): string => path.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '') || '.';
  const roots = paths.map(clean);
  const known = new Map<string, boolean>();
  const isBelow = (file: string): boolean =>
    roots.some((root) =>
      root === '.'
        ? file !== '-' && !file.startsWith('../') && !file.startsWith('/')
        : file === root || file.startsWith(`${root}/`),
    );
  return (file) => cached(known, file, () => isBelow(clean(file)));
}
