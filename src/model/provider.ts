// The provider of a service, apart from its adapter: the kinds, the policy rules of this service, and additional
// sources for audits. The engine itself contains no name of a kind, an attribute or a rule of the service.
import type { CloudReader, Live } from './cloud.js';
import type { Settings, Values } from './declaration.js';
import type { Diagnostic } from './diagnostic.js';
import type { Findings } from './documents/plan-document.js';
import type { Kind, Kinds } from './kind.js';
import type { Change, Plan, Verdict } from './plan.js';
import type { Entry } from './state.js';

/** The live objects of one kind, proven complete. */
export interface Observed {
  readonly kind: Kind;
  readonly byId: ReadonlyMap<string, Live>;
}

/** By kind name, as far as they were read. */
export type LiveObjects = ReadonlyMap<string, Observed>;

/** The input of a rule: the changes of a plan in their order, and the live objects. */
export interface Judged {
  readonly changes: readonly Change[];
  readonly live: LiveObjects;
  readonly settings: Settings;
  /** Kinds that rules asked for and that could not be read; a warning says so. */
  readonly unreadable?: ReadonlySet<string>;
  /** The address that manages an object, where one does; absent where nobody can tell. */
  readonly addressOf?: (kind: string, id: string) => string | undefined;
  /** Whether the plan would remove the object of an address as well if the request had the address among its targets. */
  readonly leftByTargets?: (address: string) => boolean;
}

/** Why a rule blocks a plan. */
export type Finding = Pick<Verdict, 'detail' | 'address'>;

/** What a rule says of a whole plan. */
export interface WholeJudgement {
  readonly findings: readonly Finding[];
  readonly warnings: readonly Diagnostic[];
}

export type Judge = (plan: Judged) => readonly Finding[];

/** The changes that a change waits for in addition to its references. */
export interface Wait {
  readonly change: Change;
  /** Keys of changes. */
  readonly waits: readonly string[];
  /** It comes after all changes that do not say so. */
  readonly last: boolean;
}

/** A check that failed after a write. */
export type CheckFailure =
  /** Nobody could look. */
  | { readonly verdict: 'unread'; readonly diagnostic: Diagnostic }
  /** `restore`: the attributes that take the write back. `diagnostic`: `why` it could not be taken back, absent where it was, or where nothing takes it back. */
  | {
      readonly verdict: 'lost';
      readonly restore?: Values;
      readonly diagnostic: (why?: string) => Diagnostic;
    };

/** The conditions of a change, read again right before its write. */
export interface Recheck {
  /** Right before the request leaves. @throws Refusal where what the change rests on does not hold any more, or cannot be read */
  before(): Promise<void>;
  /** Once an update was carried out; undefined where what it rests on still holds. */
  after?(): Promise<CheckFailure | undefined>;
  /** Once the service refused the request: what to do about it, in sentences; undefined where nothing is known. @throws Refusal where it cannot be read */
  refused?(): Promise<string | undefined>;
}

export interface Rechecks {
  /** Undefined for a change that rests on nothing. @param fields what is sent, references filled */
  of(change: Change, fields: Values): Recheck | undefined;
  /** Told of each change that was carried out. @param entry what the state holds of it now */
  done?(change: Change, entry: Entry | null | undefined): void;
}

/** The context of a recheck. */
export interface RecheckTools {
  readonly cloud: CloudReader;
  readonly kinds: Kinds;
  /** Whether an object was deleted just now: a listing may still show it. */
  readonly wasDeletedRecently: (kind: string, id: string) => boolean;
}

/** A rule that can block a plan. Everything but `exact` and rechecks is pure. */
export interface PolicyRule {
  /** As `--allow` takes it. */
  readonly name: string;
  readonly judge: Judge;
  /** Loads a judge that takes time to load and finds less than `judge`: it is asked only where that found something. */
  readonly exact?: () => Promise<Judge>;
  /** Names of the kinds that have to be read before the rule can judge a change. */
  readonly needs?: (change: Change, settings: Settings) => readonly string[];
  /** Judges the whole plan, after every other rule. Only rules of a project do so. */
  readonly whole?: (plan: Plan) => WholeJudgement;
  /** Present where no flag lets the rule pass. */
  readonly allowable?: false;
  /** Warnings about a plan, which do not block it. */
  readonly warn?: (plan: Judged) => readonly Diagnostic[];
  /** Which changes wait for which others, so that the rule holds at every step of a run. */
  readonly waits?: (plan: Judged) => readonly Wait[];
  /** Whether the rule judges a change that is in no plan, by the live objects at its write. */
  readonly endangers?: (change: Change, settings: Settings) => boolean;
  /** Whether the change alone shows it, without live objects: then it is judged where there is no plan, too. */
  readonly alone?: true;
  /** Whether others rest on a change: what it waits for counts as done once it was seen, and its former value must not come back later. */
  readonly sensitive?: (change: Change) => boolean;
  /** The checks right before and after a write. Not called if the rule is allowed. */
  readonly rechecks?: (tools: RecheckTools, plan: Judged) => Rechecks;
}

/** The compared objects of an audit, and access to more of them. */
export interface Audited extends Judged {
  readonly addressOf: NonNullable<Judged['addressOf']>;
  /** Lists more kinds, by name. @throws Refusal where a reading is not proven complete */
  readonly read: (names: readonly string[]) => Promise<LiveObjects>;
}

/** The findings of an audit beside drift. */
export interface AuditFindings extends Partial<
  Pick<Findings, 'health' | 'access' | 'diagnostics'>
> {
  /** Codes of warnings about a declaration which a health issue of its object makes superfluous. */
  readonly retold?: readonly string[];
}

export type AuditSource = (audited: Audited) => Promise<AuditFindings>;

export interface Provider {
  readonly kinds: Kinds;
  /** In the order in which they judge. */
  readonly rules: readonly PolicyRule[];
  readonly audits: readonly AuditSource[];
}
