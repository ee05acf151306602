// The results of a fleet: one record for each tenant of a run, written once, and the report that merges them.
import type { Diagnostic, Origin } from '../diagnostic.js';
import type { DocumentHead, DriftDocument, PlanDocument } from './plan-document.js';
import type { Outcome, WriteCounts } from '../plan.js';
import type { Exit } from '../exit-codes.js';

export type FleetCommand = 'validate' | 'plan' | 'drift' | 'apply';

/** The worst first. `missing`: there is no result. `not-run`: the run stopped before the tenant began. */
export const tenantStatuses = [
  'missing',
  'undecided',
  'partial',
  'failed',
  'stale',
  'locked',
  'blocked',
  'interrupted',
  'not-run',
  'drift',
  'changes',
  'applied',
  'unchanged',
  'valid',
] as const;
export type TenantStatus = (typeof tenantStatuses)[number];
/** Number of tenants by their status. */
export type TenantCounts = Readonly<Partial<Record<TenantStatus, number>>>;

/** Of one kind at one tenant. */
export interface KindCount {
  readonly changed: number;
  readonly objects: number;
  /** What an apply would send, or has sent: all of it, even if not all changes are listed. Absent where that is nothing. */
  readonly writes?: WriteCounts;
}

/** Writes over all tenants. */
export interface FleetWrites {
  readonly writes: WriteCounts;
  /** Tenants with such a write. */
  readonly tenants: number;
}

export interface FleetImpact extends FleetWrites {
  readonly kinds: Readonly<Record<string, FleetWrites>>;
}

/** An object that differs. */
export interface TenantChange {
  readonly address: string;
  readonly kind: string;
  /** An action of a plan, a status of drift, or an outcome that is not `done`. */
  readonly action: string;
  /** Where it is declared; absent where it is not. */
  readonly origin?: Pick<Origin, 'file' | 'line' | 'column'>;
}

/** One tenant in the report of a run. */
export interface TenantEntry {
  readonly tenant: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Null where there is no result. */
  readonly exit: Exit | null;
  readonly status: TenantStatus;
  readonly summary: string;
  readonly kinds: Readonly<Record<string, KindCount>>;
  readonly changes: readonly TenantChange[];
  /** How many requests it cost. */
  readonly requests: number;
  /** How long it ran; absent where it was not begun. */
  readonly elapsed_seconds?: number;
  /** Errors and warnings. */
  readonly diagnostics: readonly Diagnostic[];
}

interface OfRun {
  readonly format_version: '1.0';
  readonly run: string;
  readonly command: FleetCommand;
}

/** The result of one tenant, as it is stored. */
export interface TenantResult extends OfRun, TenantEntry {
  readonly trueup_version: string;
  /** Of what was run: the declarations and the tenant's entry in the fleet, or the saved plan. */
  readonly digest: string;
  /** From 1. A tenant that failed runs again in the same run. */
  readonly attempt: number;
  /** ISO 8601. */
  readonly started_at: string;
  readonly ended_at: string;
  readonly document: PlanDocument | DriftDocument | null;
  readonly outcomes: readonly Outcome[];
  /** Absent where the tenant was not looked at, and in results of earlier versions. */
  readonly typed_with?: TypedWith;
}

/** What a command about a tenant needs beside its folders. Its document has none of it: it equals that of `trueup plan`. */
export interface TypedWith {
  /** The value of `TRUEUP_STATE`. */
  readonly state: string;
  /** As `name=value`; `<value>` stands for one that may be secret. */
  readonly variables: readonly string[];
}

/** A run, as its first process records it. */
export interface FleetRun extends OfRun {
  /** ISO 8601. */
  readonly started_at: string;
  /** Names of all tenants, those of other shards too. */
  readonly tenants: readonly string[];
  /** Digest of the bundle that it applies. */
  readonly bundle: string | null;
  /** What its jobs have in common, where it was queued. */
  readonly queued?: QueuedJobs;
  /** As its fleet names the states, where it keeps results beside them. */
  readonly states?: string;
}

/** What the jobs of a run that was queued have in common. None of it is secret. */
export interface QueuedJobs {
  readonly command: FleetCommand;
  readonly env: string | null;
  /** Those that a tenant is audited or applied with. */
  readonly flags: {
    readonly var?: readonly string[];
    readonly allow?: readonly string[];
    readonly parallelism?: string;
    readonly lockWait?: string;
    readonly unmanaged?: string;
  };
  /** Digest of the text of the bundle to be applied. */
  readonly bundle: string | null;
  /** Seconds after which a job that is being done is given to another worker. */
  readonly expiry: number;
}

/** The merged report. */
export interface FleetDocument
  extends OfRun, Pick<DocumentHead, 'trueup_version' | 'generated_at'> {
  readonly exit: Exit;
  /** Why the run itself stopped, or was blocked. */
  readonly diagnostics: readonly Diagnostic[];
  /** Number of tenants, and of those with each status. */
  readonly summary: TenantCounts & { readonly tenants: number };
  /** Of a plan: what an apply would send. Of an apply: what was sent. */
  readonly impact?: FleetImpact;
  readonly tenants: readonly TenantEntry[];
}
