// The metrics of a continuous audit, in the text format and with the naming conventions of Prometheus. Label values
// come from the service; they are escaped as the format requires.
import {
  compareText,
  tally,
  tenantStatuses,
  totals,
  type DriftDocument,
  type FleetDocument,
  type TenantStatus,
} from '../model/index.js';
import { visible } from './escaping.js';
import { isWell } from './fleet-text.js';
import { driftSentence, plural } from './words.js';

/** The data that a watch keeps between its cycles, or its passes over a fleet. Times in seconds since 1970. */
export interface WatchRecord {
  /** Since the start. */
  readonly audits: { readonly success: number; readonly failure: number };
  readonly lastAt?: number;
  /** When the last one ended that checked everything. */
  readonly lastSuccessAt?: number;
  /** Of the last cycle. */
  readonly seconds?: number;
  /** Requests of all cycles, by collection. */
  readonly requests: Readonly<Record<string, number>>;
  /** The last audit that could judge drift, even if other parts could not be checked. */
  readonly document?: DriftDocument;
}

/** The most unchecked parts that a line names; the others are counted. */
const mostNamed = 3;

/** One cycle in one line. */
export function watchSentence(document: DriftDocument, seconds: number): string {
  const { expectations, health, api_requests: requests, diagnostics } = document;
  const met = expectations.filter(({ verdict }) => verdict === 'met').length;
  const errors = diagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ summary }) => visible(summary).replace(/\.$/, ''));
  const all = plural(expectations.length, 'expectation');
  const requested = Object.values(requests).reduce((sum, count) => sum + count, 0);
  const more = [
    expectations.length > 0 && `${met === expectations.length ? '' : `${met} of `}${all} met`,
    ...errors.slice(0, mostNamed),
    errors.length > mostNamed && plural(errors.length - mostNamed, 'more error'),
    health.length > 0 && plural(health.length, 'health issue'),
    plural(requested, 'request'),
    `${seconds.toFixed(1)} s`,
  ].filter((part) => part !== false);
  return `${driftSentence(document)} (${more.join(', ')})`;
}

export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];
/** A counter where its name says so: `_total`. */
export type Metric = readonly [name: string, help: string, samples: readonly Sample[]];

/** The report of a fleet. Ends with a line feed. */
export function fleetMetrics(document: FleetDocument): string {
  const { tenants, trueup_version: version, generated_at } = document;
  const changed = totals(
    tenants.flatMap(({ kinds }) =>
      Object.entries(kinds).map(([kind, count]) => [kind, count.changed] as const),
    ),
  );
  const sum = tenants.reduce((total, { requests }) => total + requests, 0);
  return exposition([
    buildInfo(version),
    byStatus('run', tally(tenants.map(({ status }) => status))),
    [
      'fleet_tenant_failed',
      '1 if the run of the tenant did not end well, else 0.',
      tenants.map(({ tenant, status }) => [{ tenant }, isWell(status) ? 0 : 1]),
    ],
    [
      'fleet_changed_objects',
      'Objects that differ, over all tenants.',
      [...changed].map(([kind, count]) => [{ kind }, count]),
    ],
    ['fleet_requests', 'API requests of the run.', [[{}, sum]]],
    [
      'fleet_report_timestamp_seconds',
      'Unix time at which the report was made.',
      [[{}, Date.parse(generated_at) / 1000]],
    ],
  ]);
}

export function exposition(metrics: readonly Metric[]): string {
  return metrics
    .filter(([, , samples]) => samples.length > 0)
    .flatMap(([name, help, samples]) => [
      `# HELP trueup_${name} ${help}`,
      `# TYPE trueup_${name} ${name.endsWith('_total') ? 'counter' : 'gauge'}`,
      ...samples.map(
        ([labels, value]) =>
          `trueup_${name}${labelled(labels)} ${Number.isFinite(value) ? value : 'NaN'}`,
      ),
    ])
    .map((line) => `${line}\n`)
    .join('');
}

export const buildInfo = (version: string): Metric => [
  'build_info',
  'The version of trueup, as a label. Always 1.',
  [[{ version }, 1]],
];

/** @param last what the status is of */
export const byStatus = (
  last: 'run' | 'audit',
  counts: ReadonlyMap<TenantStatus, number>,
): Metric => [
  'fleet_tenants',
  `Tenants, by the status of their last ${last}.`,
  tenantStatuses.map((status) => [{ status }, counts.get(status) ?? 0]),
];

export const driftObjects = (byKind: ReadonlyMap<string, number>): Metric => [
  'drift_objects',
  'Managed objects with drift.',
  by('kind', byKind),
];

export const unmanagedObjects = (byKind: ReadonlyMap<string, number>): Metric => [
  'unmanaged_objects',
  'Live objects that are not managed.',
  by('kind', byKind),
];

export const auditsTotal = (audits: WatchRecord['audits']): Metric => [
  'audits_total',
  'Audits since the start. An audit that left anything unchecked is a failure.',
  by('result', new Map(Object.entries(audits))),
];

/** @param what is repeated @param whole continues "Unix time at which the last …" */
export const lastMetrics = (
  { seconds, lastAt, lastSuccessAt }: Omit<WatchRecord, 'requests'>,
  what: 'audit' | 'pass',
  whole: string,
): readonly Metric[] => [
  ['audit_duration_seconds', `Duration of the last ${what}.`, single(seconds)],
  [
    'audit_last_run_timestamp_seconds',
    `Unix time at which the last ${what} ended.`,
    single(lastAt),
  ],
  [
    'audit_last_success_timestamp_seconds',
    `Unix time at which the last ${whole}.`,
    single(lastSuccessAt),
  ],
];

export const single = (value: number | undefined): readonly Sample[] =>
  value === undefined ? [] : [[{}, value]];

const by = (label: string, counts: ReadonlyMap<string, number>): readonly Sample[] =>
  [...counts]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([name, count]) => [{ [label]: name }, count]);

/** Ends with a line feed. `version`: of trueup. */
export function metricsText(
  record: WatchRecord,
  kinds: readonly string[],
  version: string,
): string {
  const { audits, requests, document } = record;
  const {
    drift = [],
    health = [],
    expectations = [],
    unmanaged = {},
  } = document ?? ({} as Partial<DriftDocument>);
  const kindsWith = (settled: boolean): readonly string[] =>
    drift.filter(({ status }) => (status === 'settled') === settled).map(({ kind }) => kind);
  const watched = (document ? kinds : []).map((kind) => [kind, 0] as const);
  const drifted = totals([...watched, ...tally(kindsWith(false))]);
  const verdicts = { unknown: Number.NaN, failed: 1, met: 0 };
  const checked = expectations.map(({ name, verdict }): Sample => [
    { expectation: name },
    verdicts[verdict],
  ]);
  const codes = tally(health.map(({ code }) => code));
  return exposition([
    buildInfo(version),
    driftObjects(drifted),
    [
      'settled_objects',
      'Managed objects changed outside of trueup to what is declared.',
      by('kind', tally(kindsWith(true))),
    ],
    unmanagedObjects(new Map(Object.entries(unmanaged))),
    [
      'expectations_failed',
      'Expectations that do not hold.',
      single(document?.summary.expectations_failed),
    ],
    [
      'expectation_failed',
      '1 if the expectation does not hold, 0 if it holds, NaN if it could not be checked.',
      checked,
    ],
    ['unhealthy_objects', 'Live objects with a health issue, by its code.', by('code', codes)],
    [
      'api_requests_total',
      'API requests since the start, by collection.',
      by('collection', new Map(Object.entries(requests))),
    ],
    auditsTotal(audits),
    ...lastMetrics(record, 'audit', 'successful audit ended'),
  ]);
}

function labelled(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) =>
      `${name}="${visible(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
