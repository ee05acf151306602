// The metrics of a fleet that is watched. The worst tenants have a label of their own, up to a limit; the others are
// summed under one value, so that the number of series does not follow the number of tenants.
import {
  compareText,
  mapMembers,
  tally,
  totals,
  type KindCount,
  type TenantStatus,
} from '../model/index.js';
import { changedIn, worstFirst } from './fleet-figures.js';
import { isWell } from './fleet-text.js';
import {
  auditsTotal,
  buildInfo,
  byStatus,
  driftObjects,
  exposition,
  lastMetrics,
  single,
  unmanagedObjects,
  type Metric,
  type Sample,
  type WatchRecord,
} from './metrics.js';

/** What is kept of one tenant between two audits. Times in seconds since 1970. */
export interface WatchedTenant {
  readonly tenant: string;
  /** Of its last audit; `not-run` before the end of the first one. */
  readonly status: TenantStatus;
  /** Of its last audit that could judge drift, as the three that follow. */
  readonly kinds: Readonly<Record<string, KindCount>>;
  readonly unmanaged: Readonly<Record<string, number>>;
  readonly expectationsFailed: number;
  /** When its last audit that checked everything ended; undefined before the first one. */
  readonly lastSuccessAt: number | undefined;
}

/** What a watch keeps between its passes. */
export interface FleetWatchRecord extends Omit<WatchRecord, 'requests' | 'document'> {
  readonly startedAt: number;
  readonly tenants: readonly WatchedTenant[];
  readonly requests: number;
  /** Passes that took longer than the time from one to the next. */
  readonly latePasses: number;
}

/** No name of a tenant begins so. */
const OTHERS = '_other';

const isAudited = ({ status }: WatchedTenant): boolean => status !== 'not-run';

/**
 * The worst status first, then the most objects with drift; then by name, so that equal tenants keep their label. Those
 * without an audit come last: at the start of a watch that is every one.
 */
export function worstWatched(tenants: readonly WatchedTenant[]): readonly WatchedTenant[] {
  const byName = tenants.toSorted((a, b) => compareText(a.tenant, b.tenant));
  return [...worstFirst(byName.filter(isAudited)), ...byName.filter((one) => !isAudited(one))];
}

/** @param most tenants with a label of their own */
export function fleetWatchMetrics(record: FleetWatchRecord, most: number, version: string): string {
  const { tenants } = record;
  const sums = (countsOf: (one: WatchedTenant) => Readonly<Record<string, number>>) =>
    totals(tenants.flatMap((one) => Object.entries(countsOf(one))));
  const metrics: readonly Metric[] = [
    buildInfo(version),
    byStatus('audit', tally(tenants.map(({ status }) => status))),
    ...tenantMetrics(worstWatched(tenants), most),
    driftObjects(sums(({ kinds }) => mapMembers(kinds, ({ changed }) => changed))),
    unmanagedObjects(sums(({ unmanaged }) => unmanaged)),
    [
      'expectations_failed',
      'Expectations that do not hold.',
      single(tenants.reduce((sum, one) => sum + one.expectationsFailed, 0)),
    ],
    ...passMetrics(record),
  ];
  return exposition(metrics);
}

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
      byTenant((one) => (isWell(one.status) || !isAudited(one) ? 0 : 1)),
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
    auditsTotal(audits),
    [
      'fleet_late_passes_total',
      'Passes that took longer than the time from one to the next.',
      single(record.latePasses),
    ],
    ...lastMetrics(record, 'pass', 'pass ended that checked every tenant'),
    [
      'fleet_oldest_success_timestamp_seconds',
      'Unix time of the last successful audit of the tenant for which it is longest ago.',
      single(successes.length > 0 ? Math.min(...successes) : undefined),
    ],
  ];
}
