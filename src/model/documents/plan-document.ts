// The plan document: the published JSON form of a plan (`--format json`, `show --format json`, inside a plan file). Its
// schema is `schemas/plan.schema.json`. Renderers get only this redacted form.
import type {
  AccessReview,
  HealthIssue,
  Author,
  Impact,
  UnmanagedRecord,
  Verified,
  Window,
} from './drift-document.js';
import type { Request } from '../cloud.js';
import type { Diagnostic, Origin } from '../diagnostic.js';
import type { Json, JsonObject } from '../json.js';
import type {
  Drift,
  PlanRequest,
  ReferenceLabels,
  Summary,
  Verdict,
  WriteCounts,
} from '../plan.js';

export interface PatchOperation {
  readonly op: 'test' | 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: Json;
}

export interface DocumentRequest extends Pick<Request, 'path' | 'base'> {
  readonly method: string;
  /** Where the request replaces a whole document: our members alone. */
  readonly body: Json;
}

export interface ResourceChange {
  readonly address: string;
  readonly kind: string;
  readonly name: string;
  readonly origin: Origin | null;
  readonly change: {
    readonly actions:
      | readonly ['create' | 'update' | 'delete' | 'forget' | 'no-op']
      | readonly ['create', 'delete']
      | readonly ['delete', 'create'];
    readonly before: JsonObject | null;
    readonly after: JsonObject | null;
    /** `true` at each path whose value is known only after apply. */
    readonly after_unknown: JsonObject;
    readonly before_sensitive: JsonObject;
    readonly after_sensitive: JsonObject;
    readonly importing?: { readonly id: string };
    /** Of a replacement: the attributes that no update can change. */
    readonly replace_paths?: readonly (readonly string[])[];
  };
  /** `replaced-outside` where the live object has another id than the recorded one; otherwise a sentence. */
  readonly reason: string;
  readonly depends_on: readonly string[];
  readonly fingerprint: string | null;
  readonly patch: readonly PatchOperation[];
  readonly requests: readonly DocumentRequest[];
  readonly previous_address?: string;
  readonly previous_id?: string;
  /** The id of an object that another took the place of: it is deleted, and the address stays. */
  readonly deposed?: string;
  /** What people call an object that has no name, where nothing declares it any more. */
  readonly label?: string;
  readonly reference_labels?: ReferenceLabels;
}

export interface ResourceDrift extends Pick<
  Drift,
  'address' | 'kind' | 'id' | 'replaced_by' | 'reference_labels'
> {
  /** `update`: attributes differ; `delete`: the live object is gone. */
  readonly actions: readonly ['update' | 'delete'];
  readonly changes: readonly Required<Omit<DriftChange, 'declared'>>[];
}

/** A git reference as it was named, and the commit that it stands for. */
export interface ComparedReference {
  readonly reference: string;
  readonly commit: string;
}

/** The metadata of plans and audits. */
export interface DocumentHead {
  readonly format_version: '1.0';
  readonly trueup_version: string;
  /** ISO 8601: the one field that differs between equal documents. */
  readonly generated_at: string;
  readonly generated_from: { readonly paths: readonly string[]; readonly digest: string };
  readonly target: string;
  /** The lineage is null where there was no state. */
  readonly state: { readonly lineage: string | null; readonly serial: number };
  readonly api_requests: Readonly<Record<string, number>>;
  /** Of a plan between declarations (`trueup diff`), which names no cloud; `after` is null for the working tree. */
  readonly compared?: {
    readonly before: ComparedReference;
    readonly after: ComparedReference | null;
  };
}

export interface PlanDocument extends DocumentHead {
  readonly resource_changes: readonly ResourceChange[];
  readonly resource_drift: readonly ResourceDrift[];
  readonly unmanaged: Readonly<Record<string, number>>;
  readonly policy: readonly Verdict[];
  readonly summary: Summary & { readonly writes: WriteCounts };
  /** Only where it was asked for. */
  readonly impact?: Impact;
  readonly diagnostics: readonly Diagnostic[];
}

/** How a plan was asked to be saved: what a command repeats that makes it again. Absent without the flag. */
export interface PlanSaving {
  readonly valid_for?: string;
  readonly encrypt_to?: readonly string[];
}

/** How a plan was asked for: what has to be the same when a saved plan is applied. */
export interface PlanOptions extends Omit<PlanRequest, 'audit'>, PlanSaving {
  readonly env?: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** A saved plan: the document, how it was made, and until when it holds. */
export interface PlanContent {
  readonly plan_file_version: 1;
  readonly expires_at: string;
  readonly options: PlanOptions;
  readonly document: PlanDocument;
}

export interface PlanFile extends PlanContent {
  /** SHA-256 of the canonical text of all other members. */
  readonly digest: string;
}

export interface DriftChange {
  readonly path: string;
  readonly declared: Json;
  /** Absent where nothing is recorded. */
  readonly applied?: Json;
  readonly live: Json;
}

/** One object that is not as declared or not as last applied. */
export interface DriftRecord {
  readonly address: string;
  readonly kind: string;
  readonly id: string | null;
  readonly origin: Origin | null;
  /** `changed`: live differs; `gone`: deleted outside; `replaced`: another object is there in its place; `missing`: declared, and not live; `undeclared`: in the state, no longer declared; `settled`: changed outside into what is declared. */
  readonly status: 'changed' | 'gone' | 'replaced' | 'missing' | 'undeclared' | 'settled';
  /** Of what was replaced: why, the recorded id, and the id that is live. */
  readonly reason?: 'replaced-outside';
  readonly previous_id?: string;
  readonly importing?: { readonly id: string };
  readonly changes: readonly DriftChange[];
  readonly reference_labels?: ReferenceLabels;
  /** ISO 8601 of the last apply; the change came after it. */
  readonly since: string | null;
  readonly changed_by: Author;
  readonly window: Window;
}

/** The findings of an audit. */
export interface Findings {
  readonly drift: readonly DriftRecord[];
  /** Addresses of the objects that are as declared. */
  readonly in_sync: readonly string[];
  readonly unmanaged: Readonly<Record<string, number>>;
  readonly unmanaged_objects: readonly UnmanagedRecord[];
  readonly health: readonly HealthIssue[];
  readonly expectations: readonly Verified[];
  /** Null where no authorization is in reach. */
  readonly access: AccessReview | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** The JSON form of `drift`. `drifted` counts objects, not attributes. */
export interface DriftDocument extends DocumentHead, Findings {
  /** Present with `--unmanaged=fail`. */
  readonly unmanaged_is_drift?: true;
  readonly summary: {
    readonly drifted: number;
    readonly in_sync: number;
    readonly unmanaged: number;
    readonly expectations_failed: number;
  };
}
