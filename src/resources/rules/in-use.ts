// The rules about deleting an object to which others still refer: what still names it after the changes of a plan, and
// what names it right before the delete, or after the service refused it.
import {
  append,
  cached,
  defined,
  firstNamed,
  liveObjectWords,
  note,
  refuse,
  shellWord,
  type Change,
  type Delete,
  type Diagnostic,
  type Finding,
  type Judged,
  type Kind,
  type Live,
  type LiveObjects,
  type PolicyRule,
  type RecheckTools,
  type Values,
} from '../../model/index.js';
import { liveReferences, phases } from '../../reconciler/plan/order.js';
import { valuesAfter } from './after-changes.js';
import type { RuleName } from './names.js';

/** A kind that may refer to the object, with its filter. A service that ignores the filter lists everything. */
export type HolderFilter = readonly [kind: string, attribute: string];

/** The objects of a kind once the changes are done, by id. */
export type After = (kind: string) => ReadonlyMap<string, Values>;

interface InUse {
  readonly kind: Kind;
  /** The kinds that are read before a delete is planned. */
  readonly needs: readonly string[];
  /** What the service is asked for, to find what refers to the object at the time of the delete. */
  readonly holders: readonly HolderFilter[];
}

/** Blocks the delete of what something still refers to. */
export interface BlockedInUse extends InUse {
  readonly rule: RuleName;
  /** Holders of kinds beyond the API reference, where they are read. */
  readonly beyond: readonly HolderFilter[];
  /** Whether what refers to the object keeps it in use; absent: whatever does. */
  readonly holds?: (kind: string, values: Values, after: After) => boolean;
  /** Kinds because of which the service refuses the delete, as far as is known: to allow the rule does not help. */
  readonly refusing: readonly string[];
  /** What a message adds about objects of a kind. */
  readonly hints?: Readonly<Record<string, string>>;
}

/** It is not known whether the service refuses the delete. */
export interface WarnedInUse extends InUse {
  /** What to do about those that refer to the object. */
  readonly advice: (holders: readonly ReferringObject[]) => string;
}

/** What refers to an object that is deleted. */
export interface ReferringObject {
  readonly kind: string;
  readonly id: string;
  readonly words: string;
  /** What manages it, once the plan is carried out. */
  readonly address?: string;
}

const deleteOf =
  ({ kind }: InUse) =>
  (change: Change): change is Delete =>
    change.action === 'delete' && change.kind === kind.name;

export function inUseRule(use: BlockedInUse): Omit<PolicyRule, 'name'> {
  const isDelete = deleteOf(use);
  return {
    judge: (plan) => findings(use, plan),
    needs: (change) =>
      isDelete(change) ? [...use.needs, ...use.beyond.map(([name]) => name)] : [],
    warn: (plan) => unreadNotes(use, plan),
    endangers: isDelete,
    rechecks: (tools, { live }) => ({
      of: (change) => (isDelete(change) ? emptiness(use, tools, change, live) : undefined),
    }),
  };
}

/** A rule that blocks nothing. */
export function inUseWarning(use: WarnedInUse): Omit<PolicyRule, 'name'> {
  const isDelete = deleteOf(use);
  return {
    judge: () => [],
    needs: (change) => (isDelete(change) ? use.needs : []),
    warn: (plan) => warnings(use, plan),
    rechecks: (tools, plan) => ({
      of: (change) =>
        isDelete(change)
          ? { before: async () => {}, refused: () => whyRefused(use, { tools, change, plan }) }
          : undefined,
    }),
  };
}

/** Objects that a message names: to allow the rule does not help before each of them is elsewhere. */
const FEW = 20;

function findings(use: BlockedInUse, plan: Judged): readonly Finding[] {
  return heldAfter(use, plan, use.holds).map(({ change: { address, id }, holders }) => {
    const held = firstNamed(
      holders.map(({ words }) => words),
      FEW,
    );
    const kinds = [...new Set(holders.map(({ kind }) => kind))];
    const hints = [refusal(use, kinds), ...kinds.flatMap((kind) => use.hints?.[kind] ?? [])];
    const left = holders.flatMap(({ address: one }) =>
      one !== undefined && plan.leftByTargets?.(one) ? `--target ${shellWord(one)}` : [],
    );
    const what = [
      `${address} (${use.kind.singular} ${id}) still holds ${held}`,
      ...hints,
      ...(left.length > 0 ? [`to remove what the targets leave out, add ${left.join(' ')}`] : []),
    ];
    return { address, detail: what.join('; ') };
  });
}

/** What the service does with the delete, as far as is known. */
function refusal({ refusing }: BlockedInUse, kinds: readonly string[]): string {
  const known = kinds.filter((kind) => refusing.includes(kind));
  return known.length > 0
    ? `until it holds no ${known.join(' and no ')}, the service refuses the delete`
    : `whether the service refuses the delete because of ${kinds.join(' and ')} is not known`;
}

/** Nothing reads the kinds beyond the API reference of a project that does not use them. */
function unreadNotes(
  use: BlockedInUse,
  { changes, live, unreadable }: Judged,
): readonly Diagnostic[] {
  const deleted = changes.filter(deleteOf(use)).map(({ address }) => address);
  const unread = use.beyond.flatMap(([name]) =>
    live.has(name) || unreadable?.has(name) ? [] : name,
  );
  if (deleted.length === 0 || unread.length === 0) return [];
  const kinds = unread.join(' and ');
  const [is, it, holds] = deleted.length === 1 ? ['is', 'it', 'holds'] : ['are', 'they', 'hold'];
  return [
    note(
      'not-read',
      `${firstNamed(deleted, FEW)} ${is} to be deleted. Whether ${it} still ${holds} ${kinds} is not known, because ${kinds} were not read.`,
      `If so, the service may refuse the delete. If the service has such objects, add ${kinds} to \`settings.kinds\` to have them read.`,
    ),
  ];
}

function warnings(use: WarnedInUse, plan: Judged): readonly Diagnostic[] {
  return heldAfter(use, plan).map(({ change: { address }, holders }) => ({
    severity: 'warning',
    code: 'still-named',
    summary: `${address} is to be deleted, but other objects still name it, so the service may refuse the delete.`,
    detail: use.advice(holders),
    address,
  }));
}

/** The deletes of a plan, with what will still refer to their objects then. */
function heldAfter(
  { kind, ...use }: InUse,
  plan: Judged,
  holds?: BlockedInUse['holds'],
): readonly { readonly change: Delete; readonly holders: readonly ReferringObject[] }[] {
  const deleted = plan.changes.filter(deleteOf({ kind, ...use }));
  if (deleted.length === 0) return [];
  const [first] = phases(plan.changes);
  const early = holdersByTarget({ ...plan, changes: first }, holds);
  const late = holdersByTarget(plan, holds);
  return deleted.flatMap((change) => {
    const held = (first.includes(change) ? early : late).get(`${kind.name} ${change.id}`) ?? [];
    if (held.length === 0) return [];
    return [{ change, holders: held.map(([name, id]) => holderOf(plan, name, id)) }];
  });
}

/** What will still refer to each object once the changes are done: kind and id, by `<kind> <id>`. */
function holdersByTarget(
  planned: Pick<Judged, 'changes' | 'live'>,
  holds: BlockedInUse['holds'] = () => true,
): ReadonlyMap<string, readonly (readonly [kind: string, id: string])[]> {
  const holders = new Map<string, [string, string][]>();
  const known = new Map<string, ReadonlyMap<string, Values>>();
  const after: After = (name) => cached(known, name, () => valuesAfter(planned, name));
  for (const { kind, byId } of planned.live.values()) {
    for (const id of byId.keys()) {
      const values = after(kind.name).get(id);
      if (!values || !holds(kind.name, values, after)) continue;
      for (const target of new Set(liveReferences(kind.attributes, values)))
        append(holders, target, [kind.name, id]);
    }
  }
  return holders;
}

function holderOf({ live, addressOf, changes }: Judged, kind: string, id: string): ReferringObject {
  const address = managerOf({ addressOf, changes }, kind, id);
  const owner = addressOf?.(kind, id);
  const unmanaged = `${addressOf ? 'unmanaged ' : ''}${liveObjectWords(live, kind, id)}`;
  const words = address ?? (owner === undefined ? unmanaged : `${owner} (forgotten, not deleted)`);
  return { kind, id, words, ...defined({ address }) };
}

/** The address that manages an object once the changes are done. */
export function managerOf(
  { addressOf, changes }: Pick<Judged, 'changes'> & { addressOf: Judged['addressOf'] | undefined },
  kind: string,
  id: string,
): string | undefined {
  const left = cached(unmanagedAfter, changes, () => new Set(changes.flatMap(unmanagedBy)));
  return left.has(`${kind} ${id}`) ? undefined : addressOf?.(kind, id);
}

/** `<kind> <id>` of the objects that nothing manages once the changes of a plan are done. */
const unmanagedAfter = new WeakMap<readonly Change[], ReadonlySet<string>>();

const unmanagedBy = (change: Change): readonly string[] =>
  'id' in change && leavesManagement(change) ? [`${change.kind} ${change.id}`] : [];

/** Forgotten, or retired because the declaration is gone. */
const leavesManagement = (change: Change): boolean =>
  change.action === 'forget' || (change.action === 'update' && change.declaredObject === undefined);

/** What refers to an object now, beside what was deleted just now. */
async function holdersNow(
  filters: readonly HolderFilter[],
  { cloud, kinds, wasDeletedRecently }: RecheckTools,
  { id }: Delete,
): Promise<readonly (readonly [Kind, Live])[]> {
  const names = ({ values }: Live, attribute: string): boolean =>
    [values[attribute]].flat().some((one) => String(one) === id);
  const found: (readonly [Kind, Live])[] = [];
  for (const [name, attribute] of filters) {
    const kind = kinds.get(name);
    for (const live of kind ? await cloud.search(kind, { [attribute]: id }) : [])
      if (!wasDeletedRecently(name, live.id) && names(live, attribute)) found.push([kind!, live]);
  }
  return found;
}

/** Others may have put something into it since the plan was made. */
function emptiness(
  { rule, kind: { singular }, holders, beyond }: BlockedInUse,
  tools: RecheckTools,
  change: Delete,
  live: LiveObjects,
) {
  const filters = [...holders, ...beyond.filter(([name]) => live.has(name))];
  return {
    async before() {
      const [found] = await holdersNow(filters, tools, change);
      if (found) {
        const [kind, { id }] = found;
        refuse(
          rule,
          `${change.address} (${singular} ${change.id}) holds the ${kind.singular.replaceAll('_', ' ')} ${id} now, so it was not deleted.`,
          { detail: 'Plan again.' },
        );
      }
    },
  };
}

async function whyRefused(
  { holders, advice }: WarnedInUse,
  asked: { readonly tools: RecheckTools; readonly change: Delete; readonly plan: Judged },
): Promise<string | undefined> {
  const found = await holdersNow(holders, asked.tools, asked.change);
  if (found.length === 0) return undefined;
  return advice(found.map(([{ name }, { id }]) => holderOf(asked.plan, name, id)));
}
