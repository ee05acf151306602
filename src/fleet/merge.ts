// Merges the results of tenants into the report of a run. A tenant without a result is an error, and never left out.
import {
  NO_WRITES,
  addedWrites,
  exits,
  tally,
  worst,
  type Diagnostic,
  type Exit,
  type FleetCommand,
  type FleetDocument,
  type FleetImpact,
  type FleetRun,
  type FleetWrites,
  type TenantEntry,
  type TenantResult,
  type TenantStatus,
  type WriteCounts,
} from '../model/index.js';

const byExit: Readonly<Partial<Record<Exit, TenantStatus>>> = {
  [exits.error]: 'failed',
  [exits.blocked]: 'blocked',
  [exits.locked]: 'locked',
  [exits.undecided]: 'undecided',
  [exits.stale]: 'stale',
  [exits.partial]: 'partial',
  [exits.interrupted]: 'interrupted',
  [exits.terminated]: 'interrupted',
};

/** @param applied whether anything was written */
export function statusOf(command: FleetCommand, exit: Exit, applied: boolean): TenantStatus {
  const known = byExit[exit];
  if (known !== undefined) return known;
  if (command === 'validate') return 'valid';
  if (exit === exits.changes) return command === 'drift' ? 'drift' : 'changes';
  return applied ? 'applied' : 'unchanged';
}

/**
 * Exit codes of tenants that have something left to do. A signal in the middle of an apply is one of them. Policies that
 * blocked a tenant may have been changed since, and what was undecided can be looked up again: an apply reads first.
 */
const unfinished: readonly Exit[] = [
  exits.error,
  exits.blocked,
  exits.locked,
  exits.undecided,
  exits.partial,
  exits.interrupted,
  exits.terminated,
];

/** Whether a result stands: a tenant with another one runs again when its run is resumed. */
export const isFinal = ({ exit }: Pick<TenantEntry, 'exit'>): boolean =>
  exit !== null && !unfinished.includes(exit);

/** A tenant that has no result, or none that can be read. */
export const withoutResult = (
  tenant: string,
  status: 'missing' | 'not-run' | 'failed',
  summary: string,
): TenantEntry => ({
  tenant,
  labels: {},
  exit: null,
  status,
  summary,
  kinds: {},
  changes: [],
  requests: 0,
  diagnostics: [],
});

export function entryOf(result: TenantResult): TenantEntry {
  const { tenant, labels, exit, status, summary, kinds, changes, requests, diagnostics } = result;
  const entry = { tenant, labels, exit, status, summary, kinds, changes, requests, diagnostics };
  // Of a damaged result they are no number, and a clock can be set back.
  const elapsed = Date.parse(result.ended_at) - Date.parse(result.started_at);
  return exit !== null && elapsed >= 0 ? { ...entry, elapsed_seconds: elapsed / 1000 } : entry;
}

/** The sums of what the tenants write. */
export function fleetImpact(entries: readonly Pick<TenantEntry, 'kinds'>[]): FleetImpact {
  const none: FleetWrites = { writes: NO_WRITES, tenants: 0 };
  const plus = ({ writes, tenants }: FleetWrites, more: WriteCounts): FleetWrites => ({
    writes: addedWrites(writes, more),
    tenants: tenants + 1,
  });
  const sums = new Map<string, FleetWrites>();
  let all = none;
  for (const { kinds } of entries) {
    const written = Object.entries(kinds).flatMap(([kind, { writes }]) =>
      writes ? [[kind, writes] as const] : [],
    );
    for (const [kind, writes] of written) sums.set(kind, plus(sums.get(kind) ?? none, writes));
    if (written.length > 0)
      all = plus(all, written.map(([, writes]) => writes).reduce(addedWrites, NO_WRITES));
  }
  return { ...all, kinds: Object.fromEntries(sums) };
}

/** Why a run stopped, or was blocked, and its exit code for that; or, with exit code 0, what else is to be told of it. */
export interface RunStop {
  readonly exit: Exit;
  readonly diagnostics: readonly Diagnostic[];
}

/** @param entries of tenants in any order; those of the run that are not there are missing */
export function mergedReport(
  { run, command, tenants }: Pick<FleetRun, 'run' | 'command' | 'tenants'>,
  entries: ReadonlyMap<string, TenantEntry>,
  about: Pick<FleetDocument, 'trueup_version' | 'generated_at'>,
  stops: readonly RunStop[] = [],
): FleetDocument {
  const all = tenants.map(
    (name) => entries.get(name) ?? withoutResult(name, 'missing', 'There is no result.'),
  );
  const isStopped = stops.some(({ exit }) => exit !== exits.done);
  const counts = Object.fromEntries(tally(all.map(({ status }) => status)));
  return {
    format_version: '1.0',
    ...about,
    run,
    command,
    exit: worst([
      ...stops.map(({ exit }) => exit),
      ...all.flatMap(
        ({ exit, status }) => exit ?? (isStopped && status === 'not-run' ? [] : exits.error),
      ),
    ]),
    diagnostics: stops.flatMap(({ diagnostics }) => diagnostics),
    summary: { ...counts, tenants: all.length },
    ...((command === 'plan' || command === 'apply') && { impact: fleetImpact(all) }),
    tenants: all,
  };
}
