// The policy rules of the engine. Each rule is a small named function over the ordered changes; a finding of a rule
// blocks the run (exit 3) unless the rule is allowed by name. Rules never add a change.
import {
  defined,
  engineRules,
  firstNamed,
  labelsIn,
  isOfToday,
  MASKED_CONFIGURATION,
  removals,
  writes,
  type Adopt,
  type Change,
  type Create,
  type Diagnostic,
  type Finding,
  type Judged,
  type Live,
  type LiveObjects,
  type Plan,
  type PolicyRule,
  type Provider,
  type Settings,
  type Spent,
  type Verdict,
} from '../../model/index.js';
import {
  allowingDuplicates,
  duplicateSentence,
  possibleDuplicates,
} from './possible-duplicates.js';
import { ownRoot, formerAddressInState } from './match.js';
import { canPatch, maskedWrite } from './document-merge.js';
import { bindAdvice } from './plan-errors.js';
import { forgetting, managers } from './recorded-addresses.js';
import type { PlanInput } from './plan-input.js';
import { uncounted, type Selection } from './target-selection.js';

/** From this many objects on, the share of changed ones is limited. */
const SHARE_FROM = 10;
/** Addresses that one verdict names. */
const FEW = 5;

/** The data of a plan beside its changes. */
export interface Circumstances {
  readonly selection: Selection;
  readonly input: PlanInput;
  /** `<kind> <id>` of live objects that declarations mean. */
  readonly matched: ReadonlySet<string>;
  /** Live objects that nothing manages, by kind name. */
  readonly unmanaged: ReadonlyMap<string, readonly Live[]>;
}

interface Case extends Circumstances {
  readonly changes: readonly Change[];
}
type Rule = (at: Case) => Finding | readonly Finding[];

const judged = (changes: readonly Change[], input: PlanInput): Judged => ({
  changes,
  live: input.liveObjects,
  settings: input.project.settings,
  addressOf: managers(changes, input.state?.resources ?? {}),
  ...defined({ unreadable: input.unreadable }),
  leftByTargets: (address) => isLeftByTargets(input, address),
});

function isLeftByTargets({ kinds, request, selection, state }: PlanInput, address: string) {
  const { targets, excludes } = request;
  if (targets.length === 0 || excludes.length > 0 || !selection.gone.has(address)) return false;
  const { kind: name, on_removal } = state!.resources[address]!;
  const kind = kinds.get(name);
  return (
    kind !== undefined &&
    (on_removal ?? removals(kind)[0]) !== 'forget' &&
    !selection.removed.some(([one]) => one === address)
  );
}

/** True if one change alone may harm other objects; then it is judged again at its write, by the live objects. */
export const endangers = (
  rules: readonly PolicyRule[],
  change: Change,
  settings: Settings,
): boolean => rules.some((rule) => rule.endangers?.(change, settings));

/** A finding about one change that is in no plan. */
export type OwnFinding = Finding & Pick<Verdict, 'rule'>;

/** The findings of rules that need nothing but the change. */
export async function judgeUnread(
  rules: readonly PolicyRule[],
  change: Change,
  settings: Settings,
): Promise<readonly OwnFinding[]> {
  const plan: Judged = { changes: [change], live: new Map(), settings };
  const findings = rules
    .filter(({ alone }) => alone)
    .map(async ({ name: rule, judge: rough, exact }) => {
      const found = rough(plan);
      const all = found.length > 0 && exact ? (await exact())(plan) : found;
      return all.map((finding) => ({ rule, ...finding }));
    });
  return (await Promise.all(findings)).flat();
}

/** The findings of rules that need only live objects. */
export function judgeAlone(
  rules: readonly PolicyRule[],
  change: Change,
  live: LiveObjects,
  settings: Settings,
): readonly OwnFinding[] {
  return rules.flatMap(({ name: rule, ...one }) =>
    one.endangers
      ? one.judge({ changes: [change], live, settings }).map((finding) => ({ rule, ...finding }))
      : [],
  );
}

export function judge(
  changes: readonly Change[],
  circumstances: Circumstances,
): readonly Verdict[] {
  const { input } = circumstances;
  const at: Case = { ...circumstances, changes };
  const plan = judged(changes, input);
  return [
    ...engineRules.flatMap((name) => verdictsOf({ name }, [rules[name](at)].flat(), input)),
    ...input.rules.flatMap((rule) => verdictsOf(rule, rule.judge(plan), input)),
    ...verdictsOf({ name: MASKED_CONFIGURATION, allowable: false }, maskedWrites(at), input),
  ];
}

function verdictsOf(
  { name: rule, allowable }: Pick<PolicyRule, 'name' | 'allowable'>,
  findings: readonly Finding[],
  { request }: Pick<PlanInput, 'request'>,
): readonly Verdict[] {
  const isAllowed = allowable !== false && request.allow.includes(rule);
  const verdict = isAllowed ? ('allowed' as const) : ('blocked' as const);
  return findings.map((finding) => ({ rule, verdict, ...finding, ...defined({ allowable }) }));
}

/** The plan, with what the rules say that judge all of it. */
export function judgedWhole(plan: Plan, input: Pick<PlanInput, 'rules' | 'request'>): Plan {
  const judgements = input.rules.flatMap((rule) =>
    rule.whole ? [{ rule, ...rule.whole(plan) }] : [],
  );
  if (judgements.length === 0) return plan;
  return {
    ...plan,
    verdicts: [
      ...plan.verdicts,
      ...judgements.flatMap(({ rule, findings }) => verdictsOf(rule, findings, input)),
    ],
    diagnostics: [...plan.diagnostics, ...judgements.flatMap(({ warnings }) => warnings)],
  };
}

const rules: Readonly<Record<(typeof engineRules)[number], Rule>> = {
  'max-deletes': ({ changes, input }) => {
    const now = objectsOf(changes, ['delete']);
    const before = recent(input, ['delete']);
    const limit = input.project.settings.policy.max_deletes;
    const all = countAll(now, before);
    return now.size > 0 && all > limit
      ? {
          detail: `${now.size} to delete${earlier(all - now.size)}; the limit is ${limit} in 24 hours (settings.policy.max_deletes)`,
        }
      : [];
  },

  'max-changed': ({ changes, input, matched, selection }) => {
    const entries = Object.values(input.state?.resources ?? {});
    const objects = new Set([...matched, ...entries.map(({ kind, id }) => `${kind} ${id}`)]).size;
    const now = objectsOf(changes, ['update', 'delete']);
    const all = countAll(now, recent(input, ['delete', 'update']));
    const limit = input.project.settings.policy.max_changed_percent;
    // The number of live objects that could not be read is unknown: they raise no limit.
    const unread = uncounted(selection, input.state).filter(
      ({ kind }) => !input.liveObjects.has(kind),
    );
    if (objects + unread.length < SHARE_FROM || now.size === 0 || (all / objects) * 100 <= limit)
      return [];
    return {
      detail: `${now.size} of ${objects} objects to update or delete${earlier(all - now.size)}; the limit is ${limit} % in 24 hours (settings.policy.max_changed_percent)`,
    };
  },

  'first-run': ({ changes, input }) => {
    const changed = changedUnnamed(changes, input).map(({ address }) => address);
    if (changed.length === 0) return [];
    const adopted = changes.filter(isAdoption).length;
    return {
      detail: `there is no state, and ${changed.length} of ${adopted} adopted objects would be changed: ${firstNamed(changed, FEW)}; to change an object, name it in lifecycle.adopt, or import it first`,
    };
  },

  'possible-duplicate': ({ changes, input: { project, liveObjects }, unmanaged }) => {
    const allowed = allowingDuplicates(project);
    const creates = changes.filter(
      (change): change is Create => change.action === 'create' && !allowed.has(change.address),
    );
    return [...liveObjects.values()].flatMap((collection) => {
      const { kind } = collection;
      const mine = creates.filter((change) => change.kind === kind.name);
      const root = mine.length === 0 ? {} : ownRoot(collection);
      return possibleDuplicates(kind, mine, unmanaged.get(kind.name) ?? [], (values) => ({
        ...root,
        ...values,
      })).map((one) => ({
        address: one.change.address,
        detail: duplicateSentence(kind, one, labelsIn(liveObjects)),
      }));
    });
  },

  'all-removed': ({ selection, changes, input: { project } }) => {
    const forgets = forgetting(project);
    const removed = changes.filter(({ address }) => !forgets(address));
    return [
      ...selection.all_removed
        .filter((kind) => selection.removed.some(([address]) => address.startsWith(`${kind}.`)))
        .map((kind) => ({
          detail: `no declaration of ${kind} is left: ${removed.filter((change) => change.kind === kind).length} would be deleted or forgotten`,
        })),
      ...(selection.is_foreign_blocked
        ? [
            {
              detail: `none of the ${selection.foreign} objects in the state is declared here: it may be the state of another project; give this one its own with settings.state.project`,
            },
          ]
        : []),
    ];
  },

  protected: ({ changes, input }) => {
    const protects = input.project.declarations.filter((one) => one.lifecycle.protect);
    const declared = new Set(
      protects.flatMap((one) => [one.address, formerAddressInState(one, input.state) ?? []].flat()),
    );
    const isDeclared = new Set(input.project.declarations.map(({ address }) => address));
    return changes
      .filter(isRemoval)
      .filter(
        (change) => input.state?.resources[change.address]?.protect || declared.has(change.address),
      )
      .map(({ address }) => ({
        address,
        detail: isDeclared.has(address)
          ? `${address} is protected; remove lifecycle.protect and apply that first`
          : `${address} is protected; declare it again without lifecycle.protect, apply, then delete the declaration`,
      }));
  },
};

const isAdoption = (change: Change): change is Adopt => change.action === 'adopt';

/** What a run without state would adopt and change, although nothing names the object. */
function changedUnnamed(
  changes: readonly Change[],
  { state, project }: Pick<PlanInput, 'state' | 'project'>,
): readonly Adopt[] {
  if (Object.keys(state?.resources ?? {}).length > 0) return [];
  const named = new Set(
    project.declarations.flatMap((one) => (one.lifecycle.adopt === undefined ? [] : [one.address])),
  );
  return changes.filter(isAdoption).filter((one) => writes(one) && !named.has(one.address));
}

/** Commands that a message lists. */
const FEW_COMMANDS = 3;

/** The commands after which the rule `first-run` lets a change pass. */
export function firstRunNotes(changes: readonly Change[], input: PlanInput): readonly Diagnostic[] {
  const { allow, audit } = input.request;
  const changed = audit || allow.includes('first-run') ? [] : changedUnnamed(changes, input);
  if (changed.length === 0) return [];
  const commands = changed.map(({ address, id }) => bindAdvice(address, id, false));
  const detail = firstNamed(commands, FEW_COMMANDS, '\nand ', '\n');
  const summary = 'The rule first-run blocks nothing once the state holds an object.';
  return [{ severity: 'info', code: 'first-run', summary, detail }];
}

function maskedWrites({ changes, input: { kinds, liveObjects } }: Case): readonly Finding[] {
  const written = changes.flatMap((change) =>
    (change.action === 'update' || change.action === 'adopt') && change.write
      ? {
          address: change.address,
          kind: kinds.get(change.kind)!,
          write: change.write,
          live: liveObjects.get(change.kind)?.byId.get(change.id),
        }
      : [],
  );
  let needPut: readonly (typeof written)[number][] | undefined;
  return written.flatMap((one) => {
    const { address, kind, write, live } = one;
    const canRestPatch = (): boolean => {
      needPut ??= written.filter(
        (other) => other.live && !canPatch(other.kind, other.write, other.live),
      );
      return needPut.every((other) => other === one);
    };
    const masked = maskedWrite(kind, write, live, canRestPatch);
    return masked ? [{ address, detail: `${masked.what}; ${masked.out}` }] : [];
  });
}

/** Names of the kinds that the rules have to read beyond what is declared, for these changes. @param used kinds of the project: others beyond the API reference are not read */
export function policyNeeds(
  changes: readonly Change[],
  { kinds, rules: asked }: Pick<Provider, 'kinds' | 'rules'>,
  settings: Settings,
  used: ReadonlySet<string> = new Set(changes.map(({ kind }) => kind)),
): readonly string[] {
  const needs = new Set(
    changes
      .filter(writes)
      .flatMap((change) => asked.flatMap((rule) => rule.needs?.(change, settings) ?? [])),
  );
  return [...needs].filter((name) => {
    const kind = kinds.get(name);
    return kind && (!kind.beyond || used.has(name));
  });
}

/** The rules with their exact judges, as far as they found something and have one; undefined where none has. */
export async function exactRules(
  all: readonly PolicyRule[],
  verdicts: readonly Verdict[],
): Promise<readonly PolicyRule[] | undefined> {
  const found = new Set(verdicts.map(({ rule }) => rule));
  if (!all.some(({ name, exact }) => exact && found.has(name))) return undefined;
  return Promise.all(
    all.map(async ({ exact, ...rule }) =>
      exact && found.has(rule.name)
        ? { ...rule, judge: await exact() }
        : { ...rule, ...defined({ exact }) },
    ),
  );
}

/** Warnings of the provider's rules. */
export const concerns = (changes: readonly Change[], input: PlanInput): readonly Diagnostic[] =>
  input.rules.flatMap((rule) => rule.warn?.(judged(changes, input)) ?? []);

const earlier = (count: number): string =>
  count === 0 ? '' : `, and ${count} ${count === 1 ? 'other' : 'others'} in the last 24 hours`;

/** `<kind> <id>` of every existing object that is written by one of these verbs, adopted or not. */
function objectsOf(
  changes: readonly Change[],
  verbs: readonly Spent['action'][],
): ReadonlySet<string> {
  return new Set(
    changes.flatMap((change) =>
      writes(change) &&
      change.action !== 'create' &&
      verbs.some((verb) => verb === change.write.verb)
        ? [`${change.kind} ${change.id}`]
        : [],
    ),
  );
}

/** The writes within the window, each object once; records of older versions name no object. */
function recent({ state, now }: PlanInput, actions: readonly Spent['action'][]) {
  const spent = (state?.spent ?? []).filter(
    (one) => actions.includes(one.action) && isOfToday(one, now),
  );
  const named = spent.flatMap(({ kind, id }) =>
    kind === undefined || id === undefined ? [] : [`${kind} ${id}`],
  );
  return { objects: new Set(named), nameless: spent.length - named.length };
}

const countAll = (
  now: ReadonlySet<string>,
  { objects, nameless }: ReturnType<typeof recent>,
): number => new Set([...now, ...objects]).size + nameless;

/** Deleted, or retired because the declaration went. */
function isRemoval(change: Change): boolean {
  return (
    change.action === 'delete' ||
    (change.action === 'update' && change.declaredObject === undefined)
  );
}
