// A plan is a value: every change with its reason and its requests, in execution order, and the verdicts of policy.
import type { Request, Write } from './cloud.js';
import type { Values, Value } from './declaration.js';
import type { Diagnostic, Origin } from './diagnostic.js';

/**
 * One attribute that differs. `drifted`: live is not what was last applied; false: the declaration changed; undefined:
 * what was applied is not recorded. `edited`: it drifted, and the declaration changed, too; false: neither, so an object
 * that it refers to is created again.
 */
export interface AttributeChange {
  /** Dotted path, as in `endpoint.url`. */
  readonly path: string;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly drifted: boolean | undefined;
  readonly edited?: boolean;
}

/** The labels of the objects that attributes refer to, by attribute and identifier. Those without a label are left out. */
export type ReferenceLabels = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface Common {
  readonly address: string;
  readonly kind: string;
  readonly name: string;
  /** Where it is declared; for what is no longer declared, the file that declared it last. */
  readonly origin?: Origin;
  readonly reason: string;
  readonly depends_on: readonly string[];
  /** Earlier address, where the declaration was renamed. */
  readonly renamed_from?: string;
  /** The recorded id, where the live object of the address has another one: somebody replaced it. */
  readonly previous_id?: string;
  /** The object was replaced by another one at this address: it is to be deleted, and the address stays. */
  readonly deposed?: true;
  /** What people call an object that has no name, where nothing declares it any more. */
  readonly label?: string;
  readonly reference_labels?: ReferenceLabels;
}

/** Reason of a change whose object was replaced outside of trueup. */
export const REPLACED_OUTSIDE = 'replaced-outside';

interface OnLive {
  readonly id: string;
  /** The live object in normal form. */
  readonly before: Values;
}

/** The entry of the state after the change; the id of a create and the observed values come from its outcome. */
export interface DeclaredObject {
  /** The declared attributes in normal form: with references while planned, secrets as themselves. */
  readonly declared: Values;
  readonly file: string;
  readonly protect: boolean;
  readonly on_removal?: string;
}

interface Writes {
  readonly write: Write;
  /** As composed at planning; composed again from the same `write` once references are filled. */
  readonly request: Request;
}

/** The object that a new one replaces, because an attribute that is fixed at creation differs. */
export interface Replaces extends OnLive {
  readonly changes: readonly AttributeChange[];
  /** Names of the attributes that are fixed and differ. */
  readonly fixed: readonly string[];
  /** The first step. The delete is a separate change of the same address, with `deposed`. */
  readonly first: 'create' | 'delete';
}
export interface Create extends Common, Writes {
  readonly action: 'create';
  readonly declaredObject: DeclaredObject;
  readonly replaces?: Replaces;
}
/** Takes a live object under management at an address; where it differs, an update follows in the same change. */
export interface Adopt extends Common, OnLive, Partial<Writes> {
  readonly action: 'adopt';
  readonly declaredObject: DeclaredObject;
  readonly changes: readonly AttributeChange[];
}
export interface Update extends Common, OnLive, Writes {
  readonly action: 'update';
  /** Absent where the object is forgotten afterwards (`on_removal`). */
  readonly declaredObject?: DeclaredObject;
  readonly changes: readonly AttributeChange[];
}
export interface Delete extends Common, OnLive, Writes {
  readonly action: 'delete';
}
/** Removes an address from the state and touches nothing remote. `id` and `before` are of the last sight. */
export interface Forget extends Common, OnLive {
  readonly action: 'forget';
}
export interface Keep extends Common, OnLive {
  readonly action: 'keep';
  readonly declaredObject: DeclaredObject;
}

export type Change = Create | Adopt | Update | Delete | Forget | Keep;
export type Action = Change['action'];

/** The key of a change in a plan: an address, or a replaced object of it. `depends_on` holds such keys. */
export const keyOf = (change: {
  readonly address: string;
  readonly id?: string;
  readonly deposed?: true;
}): string => (change.deposed ? `${change.address} (deposed ${change.id})` : change.address);

export const addressOf = (key: string): string => key.replace(/ \(deposed .*\)$/, '');

/** Changes that a change waits for in addition to its references: a new object waits for the delete of the old one. */
export const waitsOf = (change: Change): readonly string[] => {
  const replaces = change.action === 'create' ? change.replaces : undefined;
  return replaces?.first === 'delete'
    ? [...change.depends_on, keyOf({ ...change, id: replaces.id, deposed: true })]
    : change.depends_on;
};

/** The attributes that a change makes another, or for which an object is replaced. */
export function changesOf(change: Change): readonly AttributeChange[] {
  if ('changes' in change) return change.changes;
  return change.action === 'create' ? (change.replaces?.changes ?? []) : [];
}

type Counted = Pick<Common, 'address' | 'deposed'> & {
  readonly action: Action;
  readonly id?: string;
  readonly replaces?: Replaces;
};

/** Each change of a plan; a replacement is paired with the delete of its object, which is not listed separately then. */
export function paired<T extends Counted>(
  changes: readonly T[],
): readonly (readonly [change: T, old: T | undefined])[] {
  const old = new Map(
    changes.flatMap((change) => (change.deposed ? [[keyOf(change), change] as const] : [])),
  );
  const oldOf = ({ address, replaces }: T): T | undefined =>
    replaces && old.get(keyOf({ address, id: replaces.id, deposed: true }));
  const joined = new Set(changes.map(oldOf));
  return changes.flatMap((change) =>
    joined.has(change) ? [] : [[change, oldOf(change)] as const],
  );
}

/** Whether carrying the change out sends anything. */
export function writes(change: Change): change is Change & Writes {
  return 'request' in change && change.request !== undefined;
}

/** The requested scope of a plan. */
export interface PlanRequest {
  /** Addresses (with all members of a `for_each`): only these and what they refer to. Empty: everything. */
  readonly targets: readonly string[];
  readonly excludes: readonly string[];
  readonly allow: readonly string[];
  /** Plan the removal of everything in scope. */
  readonly destroy: boolean;
  /** For an audit, which removes nothing: what a file outside of the PATHs speaks for is left out, and is no error. */
  readonly audit?: true;
}

/** Everything, and no more than the rules let pass. */
export const WHOLE_PLAN: PlanRequest = { targets: [], excludes: [], allow: [], destroy: false };

export interface Verdict {
  /** Name of the rule. */
  readonly rule: string;
  readonly verdict: 'blocked' | 'allowed';
  readonly detail: string;
  readonly address?: string;
  /** Present where no flag lets it pass. */
  readonly allowable?: false;
}

/** The rules of the engine itself, in the order in which they judge. Those of the provider come after them. */
export const engineRules = [
  'max-deletes',
  'max-changed',
  'all-removed',
  'first-run',
  'possible-duplicate',
  'protected',
] as const;

/** The rule that judges last. A mask that is written destroys what it hides, so nothing allows that. */
export const MASKED_CONFIGURATION = 'masked-configuration';

/** Names of the rules that `--allow` takes. @param own those of the provider */
export const allowableRules = (own: readonly string[]): readonly string[] => [
  ...engineRules,
  ...own,
];

/** The flag that lets a rule pass; undefined where none does. */
export const flagToAllow = ({
  rule,
  allowable,
}: Pick<Verdict, 'rule' | 'allowable'>): string | undefined =>
  allowable === false ? undefined : `--allow ${rule}`;

/** Live against last applied: something outside changed a managed object. */
export interface Drift {
  readonly address: string;
  readonly kind: string;
  readonly id: string;
  /** Absent where the live object is gone. */
  readonly changes?: readonly AttributeChange[];
  /** Where it is gone: the id of the object that took its place. */
  readonly replaced_by?: string;
  readonly reference_labels?: ReferenceLabels;
}

export interface Plan {
  /** In execution order: creates, adoptions, updates and keeps from the root of the references, then deletes and forgets in reverse. */
  readonly changes: readonly Change[];
  readonly drift: readonly Drift[];
  /** Live objects of each read kind that nothing here manages. */
  readonly unmanaged: Readonly<Record<string, number>>;
  readonly verdicts: readonly Verdict[];
  readonly diagnostics: readonly Diagnostic[];
}

export type Summary = Readonly<Record<Action | 'replace', number>>;

export function summarise(changes: readonly Counted[]): Summary {
  const summary = { create: 0, update: 0, replace: 0, delete: 0, adopt: 0, forget: 0, keep: 0 };
  for (const [change] of paired(changes)) summary[change.replaces ? 'replace' : change.action] += 1;
  return summary;
}

/** The numbers of requests of a plan, by verb. An adopted object that changes counts as an update. */
export type WriteCounts = Readonly<Record<'create' | 'update' | 'delete', number>>;

export const NO_WRITES: WriteCounts = { create: 0, update: 0, delete: 0 };

export const addedWrites = (a: WriteCounts, b: WriteCounts): WriteCounts => ({
  create: a.create + b.create,
  update: a.update + b.update,
  delete: a.delete + b.delete,
});

export function countWrites(changes: readonly Change[]): WriteCounts {
  const counts = { create: 0, update: 0, delete: 0 };
  for (const change of changes) if (writes(change)) counts[change.write.verb] += 1;
  return counts;
}

/** Stands for a value that was not declared earlier, in a comparison of declarations. */
export const NOT_KNOWN = '(not known)';

/** Whether the change is one for `--detailed-exitcode`: it sends something, drops an address, or was made outside of trueup. */
export function isChange(change: Change): boolean {
  return writes(change) || change.action === 'forget' || change.previous_id !== undefined;
}

/** The outcome of one change. */
export interface Outcome extends Pick<Common, 'address' | 'kind' | 'deposed' | 'renamed_from'> {
  readonly action: Action;
  /** An adopted object that differed was updated, too. */
  readonly updates?: true;
  /** The update was the last one: the state forgets the object. */
  readonly forgets?: true;
  readonly outcome: 'done' | 'failed' | 'skipped' | 'unknown';
  /** Why it was skipped, as the end of a sentence. */
  readonly reason?: string;
  /** The object to delete did not exist any more. */
  readonly gone?: true;
  /** It failed, and part of it took effect all the same. */
  readonly partly?: true;
  readonly id?: string;
  readonly diagnostic?: Diagnostic;
  /** Milliseconds from intent to result. */
  readonly elapsed?: number;
}

/** Whether a write failed, or its result is unknown. */
export const mayHaveFailed = ({ outcome }: Pick<Outcome, 'outcome'>): boolean =>
  outcome === 'failed' || outcome === 'unknown';
