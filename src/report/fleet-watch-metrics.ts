// The metrics of a fleet that is watched. The worst tenants have a label of their own, up to a limit; the others are
// summed under one value, so that the number of series does not follow the number of tenants.
import { compareText, tenantStatuses, type KindCount, type TenantStatus } from '../model/index.js';
import { isWell } from './fleet-text.js';
import { exposition, type Metric, type Sample } from './metrics.js';

/** What is kept of one tenant between two audits. Times in seconds since 1970. */
export interface WatchedTenant {
  readonly tenant: string;
  /** Of its last audit. */
  readonly status: TenantStatus;
  /** Of its last audit that could judge drift, as the three that follow. */
  readonly kinds: Readonly<Record<string, KindCount>>;
  readonly unmanaged: Readonly<Record<string, number>>;
  readonly expectationsFailed: number;
  /** When its last audit that checked everything ended; undefined before the first one. */
  readonly lastSuccessAt: number | undefined;
}

/** What a watch keeps between its passes. */
export interface FleetWatchRecord {
  readonly startedAt: number;
  readonly tenants: readonly WatchedTenant[];
  /** Audits of tenants since the start. */
  readonly audits: { readonly success: number; readonly failure: number };
  readonly requests: number;
  /** Passes that took longer than the time from one to the next. */
  readonly latePasses: number;
  /** Of the last pass. */
  readonly seconds?: number;
  readonly lastAt?: number;
  /** When the last pass ended in which every audit checked everything. */
  readonly lastSuccessAt?: number;
}

/** No name of a tenant begins so. */
const OTHERS = '_other';

export const changedIn = (kinds: WatchedTenant['kinds']): number =>
  Object.values(kinds).reduce((sum, { changed }) => sum + changed, 0);

/** The worst status first, then the most objects with drift; then by name, so that equal tenants keep their label. */
export const worstWatched = (tenants: readonly WatchedTenant[]): readonly WatchedTenant[] =>
  tenants.toSorted(
    (a, b) =>
      tenantStatuses.indexOf(a.status) - tenantStatuses.indexOf(b.status) ||
      changedIn(b.kinds) - changedIn(a.kinds) ||
      compareText(a.tenant, b.tenant),
  );

/** @param most tenants with a label of their own */
export function fleetWatchMetrics(record: FleetWatchRecord, most: number, version: string): string {
  const { tenants } = record;
  const metrics: readonly Metric[] = [
    ['build_info', 'The version of trueup, as a label. Always 1.', [[{ version }, 1]]],
    [
      'fleet_tenants',
      'Tenants, by the status of their last audit.',
      tenantStatuses.map((status) => [
        { status },
        tenants.filter((one) => one.status === status).length,
      ]),
    ],
    ...tenantMetrics(worstWatched(tenants), most),
    ['drift_objects', 'Managed objects with drift.', byKind(tenants, driftOf)],
    [
      'unmanaged_objects',
      'Live objects that are not managed.',
      byKind(tenants, ({ unmanaged }) => unmanaged),
    ],
    [
      'expectations_failed',
      'Expectations that do not hold.',
      single(tenants.reduce((sum, one) => sum + one.expectationsFailed, 0)),
    ],
    ...passMetrics(record),
  ];
  return exposition(metrics);
}

const single = (value: number | undefined): readonly Sample[] =>
  value === undefined ? [] : [[{}, value]];

/** @param worst the tenants, the worst first */
function tenantMetrics(worst: readonly WatchedTenant[], most: number): readonly Metric[] {
  const byTenant = (valueOf: (one: WatchedTenant) => number): readonly Sample[] => {
    const rest = worst.slice(most);
    const sum = rest.reduce((total, one) => total + valueOf(one), 0);
    return [
      ...worst.slice(0, most).map((one): Sample => [{ tenant: one.tenant }, valueOf(one)]),
      ...(rest.length > 0 ? [[{ tenant: OTHERS }, sum] as const] : []),
    ];
  };
  return [
    [
      'fleet_tenant_failed',
      '1 if the last audit of the tenant did not end well, else 0.',
      byTenant(({ status }) => (isWell(status) ? 0 : 1)),
    ],
    [
      'fleet_tenant_drift_objects',
      'Managed objects of the tenant with drift.',
      byTenant(({ kinds }) => changedIn(kinds)),
    ],
  ];
}

function passMetrics(record: FleetWatchRecord): readonly Metric[] {
  const { audits, tenants, startedAt } = record;
  const successes = tenants.map(({ lastSuccessAt }) => lastSuccessAt ?? startedAt);
  return [
    ['fleet_requests_total', 'API requests since the start.', single(record.requests)],
    [
      'audits_total',
      'Audits since the start. An audit that left anything unchecked is a failure.',
      [
        [{ result: 'failure' }, audits.failure],
        [{ result: 'success' }, audits.success],
      ],
    ],
    [
      'fleet_late_passes_total',
      'Passes that took longer than the time from one to the next.',
      single(record.latePasses),
    ],
    ['audit_duration_seconds', 'Duration of the last pass.', single(record.seconds)],
    [
      'audit_last_run_timestamp_seconds',
      'Unix time at which the last pass ended.',
      single(record.lastAt),
    ],
    [
      'audit_last_success_timestamp_seconds',
      'Unix time at which the last pass ended that checked every tenant.',
      single(record.lastSuccessAt),
    ],
    [
      'fleet_oldest_success_timestamp_seconds',
      'Unix time of the last successful audit of the tenant for which it is longest ago.',
      single(successes.length > 0 ? Math.min(...successes) : undefined),
    ],
  ];
}

const driftOf = ({ kinds }: WatchedTenant): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(kinds).map(([kind, { changed }]) => [kind, changed]));

/** Sums over all tenants. */
function byKind(
  tenants: readonly WatchedTenant[],
  countsOf: (one: WatchedTenant) => Readonly<Record<string, number>>,
): readonly Sample[] {
  const sums = new Map<string, number>();
  for (const one of tenants)
    for (const [kind, count] of Object.entries(countsOf(one)))
      sums.set(kind, (sums.get(kind) ?? 0) + count);
  return [...sums]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([kind, count]): Sample => [{ kind }, count]);
}
