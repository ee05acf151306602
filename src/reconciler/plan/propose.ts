// Reads, then plans: lists the objects that the project needs, compares secrets, plans, and reads more only if a policy
// rule needs it. It has only a reader, so it cannot write; it needs no secret values.
import {
  append,
  firstNamed,
  objectsIn,
  referencesIn,
  secretsIn,
  warning,
  writes,
  type Change,
  type CloudReader,
  type Diagnostic,
  type Emit,
  type Kinds,
  type Now,
  type PlanRequest,
  type Intent,
  type Project,
  type Provider,
  type State,
  type Values,
} from '../../model/index.js';
import type { Clock, Fingerprints, Known } from '../../platform/index.js';
import type { Snapshot } from '../../state/store-port.js';
import type { SecretVerdict } from './diff.js';
import { formerAddressInState } from './match.js';
import { nowOf, visibilityOf } from '../recent-writes.js';
import {
  checkTarget,
  observe,
  readAgain,
  unreadWarnings,
  type LiveCollection,
  type Observing,
  type LiveCollections,
} from '../live-collections.js';
import { plan, type Proposal } from './plan.js';
import type { PlanInput } from './plan-input.js';
import { exactRules, policyNeeds } from './policy.js';
import { select, uncounted, type Selection } from './target-selection.js';

export interface PlanContext extends Pick<Provider, 'kinds' | 'rules'> {
  readonly cloud: CloudReader;
  readonly fingerprints: Fingerprints;
  readonly clock: Clock;
  readonly emit: Emit;
  /** The settle time: until then, listings may lack a write, and a request without a response may take effect. */
  readonly settleMilliseconds: number;
}

/** `waited`: milliseconds that the run has waited already for what it does not see. */
export function observingOf(
  { cloud, kinds, emit, clock, settleMilliseconds }: PlanContext,
  state: Pick<State, 'resources' | 'recent' | 'spent'> | undefined,
  waited = 0,
): Observing {
  const began = clock.boot().milliseconds;
  // An object that a listing lacks is judged by its age when the reading began, however long that takes.
  const asOfThen = (): Now => {
    const { boot, server, ...now } = nowOf(clock, cloud.skew(), waited);
    return {
      ...now,
      boot: { ...boot, milliseconds: began },
      server: server === undefined ? undefined : server - (boot.milliseconds - began),
    };
  };
  const entries = Object.values(state?.resources ?? {});
  const held = (): readonly string[] => entries.flatMap(objectsIn);
  const visibility = visibilityOf(state ?? {}, held, settleMilliseconds, asOfThen);
  return { cloud, clock, kinds, emit, entries, visibility };
}

/**
 * @param context.waited as for `observingOf`
 * @throws Refusal where a reading is not proven complete, or state and target do not belong together.
 */
export async function propose(
  { waited, ...context }: PlanContext & { readonly waited?: number },
  project: Project,
  snapshot: Snapshot | undefined,
  request: PlanRequest,
): Promise<Proposal> {
  const state = snapshot?.state;
  checkTarget(state, context.cloud.target);
  const selection = await selected(context.kinds, project, state, request);
  const observing = observingOf(context, state, waited);
  const read = (names: Iterable<string>): Promise<LiveCollections> => observe(observing, names);
  const [liveObjects, secrets] = await Promise.all([
    read(neededKinds(project, selection, request)),
    compareSecrets(context, project, selection, state),
  ]);
  const { visibility } = observing;
  let input: PlanInput = {
    kinds: context.kinds,
    rules: context.rules,
    project,
    state,
    liveObjects,
    selection,
    secrets: secrets.verdicts,
    visibility,
    compose: context.cloud.compose,
    request,
    now: { ...nowOf(context.clock, context.cloud.skew()), wall: context.clock.now() },
  };
  // Kinds that the settings name are read already.
  const used = new Set(
    [...project.declarations, ...Object.values(state?.resources ?? {})].map(({ kind }) => kind),
  );
  const asked = new Map<string, Need>();
  const proven = new Set<string>();
  const notes = [...unfinished(snapshot, project), ...secrets.diagnostics];
  // A further reading may show that further kinds, proofs and exact rules are needed.
  for (;;) {
    const proposal = plan(input);
    const { changes, verdicts, diagnostics } = proposal.plan;
    const wanted = new Map([
      ...limitNeeds(input, changes).map((name) => [name, 'by limits'] as const),
      ...policyNeeds(changes, context, project.settings, used).map(
        (name) => [name, context.kinds.get(name)?.beyond ? 'if offered' : 'by rules'] as const,
      ),
    ]);
    const unread = [...wanted].filter(
      ([name, need]) =>
        !input.liveObjects.has(name) &&
        (!asked.has(name) || (need !== 'by limits' && asked.get(name) === 'by limits')),
    );
    const more = await readMore(unread, read);
    const unproven = assumptionsOf(input, changes).filter(({ key }) => !proven.has(key));
    const again = await prove(observing, unproven, input.liveObjects);
    const exact = await exactRules(input.rules, verdicts);
    notes.push(...more.diagnostics);
    if (unread.length === 0 && again.size === 0 && !exact)
      return { ...proposal, plan: { ...proposal.plan, diagnostics: [...notes, ...diagnostics] } };
    for (const [name, need] of unread) asked.set(name, need);
    for (const { key } of unproven) proven.add(key);
    input = {
      ...input,
      rules: exact ?? input.rules,
      liveObjects: new Map([...input.liveObjects, ...more.liveObjects, ...again]),
      unreadable: new Set([...(input.unreadable ?? []), ...more.unreadable]),
    };
  }
}

/** The selection; of a plan that removes something, with what the files say that PATHs leave out. */
export async function selected(
  kinds: Kinds,
  project: Project,
  state: State | undefined,
  request: PlanRequest,
): Promise<Selection> {
  const selection = select(kinds, project, state, request);
  if (!project.readOutside || selection.removed.length === 0) return selection;
  const recorded = new Set(Object.values(state?.resources ?? {}).map(({ file }) => file));
  const outside = await project.readOutside([...recorded]);
  return select(kinds, { ...project, outside }, state, request);
}

/** Something that a write rests on and that a listing of several pages may have missed. */
interface Assumption {
  /** An address, or `lookups.<name>`. */
  readonly key: string;
  readonly kind: string;
  /** Known values of the objects that would disprove it. */
  readonly values: Values;
  /** Whether an object of another name would disprove it, too. */
  readonly ofAnyName?: boolean;
}

/** That nothing like what is created exists, and that nothing but what is adopted by identity, or found by a lookup, matches. */
function assumptionsOf(
  { kinds, project, request }: Pick<PlanInput, 'kinds' | 'project' | 'request'>,
  changes: readonly Change[],
): readonly Assumption[] {
  const declared = new Map(project.declarations.map((one) => [one.address, one]));
  const written = changes.filter(writes);
  const ofChanges = written.flatMap((change): readonly Assumption[] => {
    const { address: key, kind } = change;
    if (change.action === 'create') {
      // A nearly equal object may have another name.
      const ofAnyName = kinds.get(kind)?.likeness !== undefined;
      return [{ key, kind, values: change.write.fields, ofAnyName }];
    }
    const isMatched = change.action === 'adopt' && declared.get(key)?.lifecycle.adopt !== change.id;
    return isMatched ? [{ key, kind, values: change.declaredObject.declared }] : [];
  });
  if (request.destroy || project.lookups.length === 0) return ofChanges;
  const lookups = project.lookups.map((one) => [`lookups.${one.name}`, one] as const);
  const valuesOf = new Map([
    ...[...declared].map(([key, { values }]) => [key, values] as const),
    ...lookups.map(([key, { where }]) => [key, where] as const),
  ]);
  const used = new Set(written.map(({ address }) => address));
  for (const key of used)
    for (const { source, target } of referencesIn(valuesOf.get(key) ?? {}))
      used.add(source === 'lookup' ? `lookups.${target}` : target);
  return [
    ...ofChanges,
    ...lookups.flatMap(([key, { kind, where: values }]) =>
      used.has(key) && !Object.hasOwn(values, kinds.get(kind)?.id ?? '')
        ? [{ key, kind, values }]
        : [],
    ),
  ];
}

/** Another reading of the collections of several pages that something is assumed of. */
async function prove(
  observing: Observing,
  assumptions: readonly Assumption[],
  liveObjects: LiveCollections,
): Promise<LiveCollections> {
  const byKind = new Map<string, Assumption[]>();
  for (const one of assumptions) append(byKind, one.kind, one);
  const proven = await Promise.all(
    [...byKind].map(
      async ([name, some]) =>
        [name, await readAgain(observing, liveObjects.get(name)!, some)] as const,
    ),
  );
  return new Map(proven.filter(([name, collection]) => collection !== liveObjects.get(name)));
}

function neededKinds(
  project: Project,
  selection: Selection,
  request: PlanRequest,
): ReadonlySet<string> {
  const declared = [...selection.declarations.values()].map(({ kind }) => kind);
  const lookups = request.destroy ? [] : project.lookups.map(({ kind }) => kind);
  return new Set([
    ...declared,
    ...selection.removed.map(([, entry]) => entry.kind),
    ...lookups,
    ...(project.settings.kinds ?? []),
  ]);
}

/** The limits are a share of what the whole project matches, also of what a target leaves out of the plan and no state counts. */
const limitNeeds = (
  { request, selection, state }: PlanInput,
  changes: readonly Change[],
): readonly string[] =>
  !request.allow.includes('max-changed') &&
  changes.some((change) => writes(change) && change.action !== 'create')
    ? uncounted(selection, state).map(({ kind }) => kind)
    : [];

/** Codes of a reader that was given no address or no credentials for a kind. */
export const missingCredentials: ReadonlySet<string> = new Set(['no-target', 'secret-missing']);

/**
 * Why a kind is read that the project need not declare. Without credentials for it, and `by limits` in any case, one that
 * cannot be read is left out with a warning; `if offered`, one that the service refuses to list. Else it is an error.
 */
type Need = 'by limits' | 'by rules' | 'if offered';

/** Codes of a service that does not list a kind, today or tomorrow. */
const notOffered: ReadonlySet<string> = new Set(['unauthenticated', 'forbidden', 'not-found']);

const isLeftOut = (need: Need, code: string): boolean =>
  need === 'by limits' ||
  missingCredentials.has(code) ||
  (need === 'if offered' && notOffered.has(code));

/** Kinds that only a policy asks for. */
async function readMore(
  names: readonly (readonly [name: string, need: Need])[],
  read: (names: Iterable<string>) => Promise<LiveCollections>,
): Promise<{
  liveObjects: LiveCollections;
  unreadable: readonly string[];
  diagnostics: readonly Diagnostic[];
}> {
  const liveObjects = new Map<string, LiveCollection>();
  const unreadable: string[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const [name, need] of names) {
    try {
      for (const [kind, collection] of await read([name])) liveObjects.set(kind, collection);
    } catch (error) {
      const missing = unreadWarnings(
        error,
        `${name} were not checked for what this plan touches:`,
      ).find(({ code }) => isLeftOut(need, code));
      if (!missing) throw error;
      unreadable.push(name);
      diagnostics.push({ ...missing, code: 'policy-unread' });
    }
  }
  return { liveObjects, unreadable, diagnostics };
}

/** What an earlier run sent without recording an outcome. */
function unfinished(
  snapshot: Snapshot | undefined,
  { declarations, outside_paths = [] }: Project,
): readonly Diagnostic[] {
  const declared = new Set([...declarations, ...outside_paths].map(({ address }) => address));
  const isDeclared = ({ address }: Intent): boolean => declared.has(address);
  const effects = [
    ['create', isDeclared, 'until then, it may be shown as a create'],
    [
      'create',
      (intent: Intent) => !isDeclared(intent),
      'nothing declares it under this address any more, so apply may delete or forget it',
    ],
    ['update', () => true, 'until then, it may be shown as a change outside of trueup'],
    ['delete', () => true, 'until then, its object may be shown as gone'],
  ] as const;
  return effects.flatMap(([action, fits, effect]) => {
    const open =
      snapshot?.pending.filter((intent) => intent.action === action && fits(intent)) ?? [];
    if (open.length === 0) return [];
    const names = firstNamed([...new Set(open.map(({ address }) => address))], MOST_NAMED);
    return warning(
      'unfinished',
      `The outcome of the ${action} of ${names} is not known: a run is in progress, or ended before it was known.`,
      `Before it sends anything, apply reads what became of it; ${effect}.`,
    );
  });
}

/** Objects that a warning names. */
const MOST_NAMED = 10;

/** For each declared secret, by `<address> <path>`, whether it is the one last sent. A value that cannot be had here is no error. */
async function compareSecrets(
  context: PlanContext,
  project: Project,
  selection: Selection,
  state: State | undefined,
) {
  const verdicts = new Map<string, SecretVerdict>();
  const known: (Known & { readonly key: string })[] = [];
  for (const declaration of project.declarations) {
    const selected = selection.declarations.get(declaration.address);
    // Secrets that are not selected help to prove all unchanged at once.
    if (!selected && (state?.secrets_together ?? []).length === 0) continue;
    const entry = state?.resources[formerAddressInState(declaration, state) ?? declaration.address];
    for (const [path, secret] of secretsIn((selected ?? declaration).values)) {
      const key = `${declaration.address} ${path}`;
      const value = secret.reveal();
      const fingerprint = entry?.secrets?.[path];
      if (value !== undefined && fingerprint)
        known.push({ key, value, fingerprint, asked: selected !== undefined });
      else if (selected) verdicts.set(key, value === undefined ? 'unavailable' : 'unknown');
    }
  }
  const asked = known.filter((one) => one.asked);
  if (asked.length === 0) return { verdicts, diagnostics: [] };
  const compared = await context.fingerprints.compare(state ?? {}, known, (done, total) =>
    context.emit({ type: 'comparing', done, total }),
  );
  for (const [index, one] of known.entries()) {
    const verdict = compared[index] ? 'same' : 'changed';
    if (one.asked) verdicts.set(one.key, compared[index] === undefined ? 'unavailable' : verdict);
  }
  const locked = asked.filter(({ key }) => verdicts.get(key) === 'unavailable').length;
  return { verdicts, diagnostics: locked === 0 ? [] : [keyMissing(locked)] };
}

const keyMissing = (count: number): Diagnostic =>
  warning(
    'fingerprint-key',
    `${count === 1 ? 'A secret was' : `${count} secrets were`} fingerprinted with a key, and TRUEUP_FINGERPRINT_KEY is not set: a changed value is not noticed.`,
    SET_KEY,
  );

/** Advice where a value cannot be compared without the key. */
export const SET_KEY =
  'Set TRUEUP_FINGERPRINT_KEY (or TRUEUP_FINGERPRINT_KEY_FILE) to the key that was used before.';

/** Values of declared secrets by `<address> <path>`, as far as they can be had here. */
export function secretsAtHand({ declarations }: Project): ReadonlyMap<string, string> {
  const values = declarations.flatMap(({ address, values: declared }) =>
    [...secretsIn(declared)].map(
      ([path, secret]) => [`${address} ${path}`, secret.reveal()] as const,
    ),
  );
  return new Map(values.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}
