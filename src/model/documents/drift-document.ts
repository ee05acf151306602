// The results of an audit apart from differing attributes: authors and times, health issues, failed expectations, the
// access review, and the impact of a plan on recent alerts.
import type { Diagnostic, Origin } from '../diagnostic.js';
import type { JsonObject } from '../json.js';

/** The known role of equal rank of each custom role. */
export type Roles = Readonly<Record<string, string>>;

/** A change of an object in the activity log. */
export interface Activity {
  /** Identifier of the record. */
  readonly id: string;
  readonly object_id: string;
  /** In the log's own words; null if it names no type. */
  readonly object_type: string | null;
  /** E-mail address if the log has one, otherwise the identifier. */
  readonly actor: string;
  readonly actor_id: string;
  readonly actor_type: string;
  readonly action: string;
  /** ISO 8601. */
  readonly at: string;
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
}

/** The author of a change, or `unknown` if the log does not show one: authors are never guessed. */
export type Author =
  Pick<Activity, 'actor' | 'actor_type' | 'at' | 'action' | 'before' | 'after'> | 'unknown';

/** The time of a change: after the last apply, and before the object's `updated_at` or the time it was read. Null if not known. ISO 8601. */
export interface Window {
  readonly after: string | null;
  readonly before: string | null;
}

/** A live object that is in no state, and not matched by a declaration. */
export interface UnmanagedRecord {
  readonly kind: string;
  readonly id: string;
  /** How a person recognises it: its identifying attributes, or null where it has none. */
  readonly label: string | null;
  readonly changed_by: Author;
  readonly window: Window;
}

/** Something live that is as declared, or not declared, and still not well. */
export interface HealthIssue {
  /** Stable kebab-case name of the health issue; the provider knows them. */
  readonly code: string;
  readonly kind: string;
  readonly id: string;
  /** Absent where the object is not managed; then `label` is how a person recognises it, if it has one. */
  readonly address?: string;
  readonly label?: string;
  readonly summary: string;
  /** The service's own text, such as `last_error_text`. */
  readonly detail?: string;
  /** Start of the issue (ISO 8601), if the service reports it. */
  readonly at?: string;
  /** The state of other objects that causes it: many issues may have one cause. */
  readonly cause?: string;
}

/** `expectations.<name>`: what must hold of records that can only be read. */
export interface Expectation {
  readonly name: string;
  readonly collection: string;
  /** Filters of the collection. */
  readonly where: Readonly<Record<string, string>>;
  /** JSON Schema that every record has to satisfy. */
  readonly every?: JsonObject;
  /** How many records there have to be. */
  readonly count?: { readonly min?: number; readonly max?: number };
  readonly origin: Origin;
}

/** The result of one expectation. */
export interface Verified extends Pick<Expectation, 'name' | 'collection' | 'origin'> {
  /** `unknown` where the records could not be read, or not be judged: then `diagnostic` says why. */
  readonly verdict: 'met' | 'failed' | 'unknown';
  /** Records read. */
  readonly checked: number;
  /** Records that do not satisfy `every`; `offenders` names the first of them. */
  readonly failed: number;
  readonly offenders: readonly { readonly id: string; readonly why: string }[];
  /** Why the count is not as expected. */
  readonly count?: string;
  readonly diagnostic?: Diagnostic;
}

/** One user's role in one account. */
export interface AccessCell {
  readonly user: string;
  readonly account: string;
  readonly role: string;
  /** The account whose authorization reaches down here; absent for an authorization of the account itself. */
  readonly inherited_from?: string;
  /** Roles that authorizations of the account itself give the user, the highest first, where these are not just `role`. */
  readonly own?: readonly string[];
  /** Address of the declaration of an authorization of the account itself. */
  readonly address?: string;
  /** Role that is declared there, where that authorization has another one. */
  readonly declared?: string;
}

export interface AccessUser {
  readonly id: string;
  readonly email?: string;
  /** May not sign in, and so administers nothing. */
  readonly inactive?: true;
}

/** The access review: every user, every account, the highest role that reaches there. */
export interface AccessReview {
  readonly users: readonly AccessUser[];
  /** In the order of the tree, parents first. `depth` counts from the top that was read; `administrators` is null where it is not known what is above the account. */
  readonly accounts: readonly {
    readonly id: string;
    readonly name: string;
    readonly depth: number;
    readonly administrators: number | null;
  }[];
  readonly cells: readonly AccessCell[];
  /** False where the matrix would be too large: then only the authorizations themselves are cells. */
  readonly complete: boolean;
}

/** The impact of a plan on recent alerts: each rule before and after. */
export interface Impact {
  /** ISO 8601. */
  readonly since: string;
  readonly until: string;
  readonly alerts: number;
  /** Every live rule and every rule that the plan makes. */
  readonly rules: readonly RuleImpact[];
  /** Alert types that nobody would hear of, everywhere or in some accounts: how many alerts of the type came, and how many of these certainly reached nobody. */
  readonly unheard: readonly {
    readonly type: string;
    readonly alerts: number;
    readonly before: number;
    readonly after: number;
  }[];
  /** Alerts that a rule selects only because the accounts below those it names are taken to be in its scope, which the service does not return. */
  readonly through_sub_accounts: number;
  /** Alerts that not every rule can be judged for: of routers that may be in a group that a rule names, and those whose account is not known or not in the tree that was read. */
  readonly unjudged: { readonly groups: number; readonly routers: number };
}

export interface RuleImpact {
  /** Address of a managed rule, or `<kind> <label> (id)` of another. */
  readonly rule: string;
  readonly id: string | null;
  /** Notifications it would have sent; before the plan and after it. */
  readonly before: number;
  readonly after: number;
  /** Alerts that are not in those numbers, because nobody can tell whether, or on an unknown schedule how often, the rule would have sent them. */
  readonly unjudged: { readonly before: number; readonly after: number };
  /** Those that are delivered to: addresses, `<kind> <label> (id)`, and how many by e-mail. */
  readonly destinations: { readonly before: readonly string[]; readonly after: readonly string[] };
  /** Whether it would now send much more than before. */
  readonly noisy: boolean;
}

/** The outcome of a call of the sample flow. */
export interface Flipped {
  /** `applied`: the flow reports its request as completed. `unknown`: the request was sent, and no response shows its effect; it is never sent again. */
  readonly class: 'applied' | 'rejected' | 'not_sent' | 'unknown';
  /** After the change, in the flow's words: `Active` or `Pause`. */
  readonly status?: string;
  readonly request_id?: string;
  readonly request_status?: string;
  readonly diagnostic?: Diagnostic;
}
