// The metrics of a continuous audit, in the text format and by the naming conventions of Prometheus. Label values come
// from the service; they are escaped as the format demands.
import { append, compareText, type DriftDocument } from '../model/index.js';
import { visible } from './escaping.js';
import { driftSentence, plural } from './words.js';

/** What a watch remembers between its cycles. Times in seconds since 1970. */
export interface WatchRecord {
  readonly audits: { readonly success: number; readonly failure: number };
  readonly lastAt?: number;
  /** When the last audit ended that checked everything. */
  readonly lastSuccessAt?: number;
  /** Of the last cycle. */
  readonly seconds?: number;
  /** Requests of all cycles, by collection. */
  readonly requests: Readonly<Record<string, number>>;
  /** The last audit that told of drift, whatever else it could not check. */
  readonly document?: DriftDocument;
}

/** What could not be checked that a line names; the others are counted. */
const mostNamed = 3;

/** One cycle in one line. */
export function watchSentence(document: DriftDocument, seconds: number): string {
  const { expectations, health, api_requests: requests, diagnostics } = document;
  const met = expectations.filter(({ verdict }) => verdict === 'met').length;
  const errors = diagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ summary }) => visible(summary).replace(/\.$/, ''));
  const more = [
    ...(expectations.length > 0
      ? [
          `${met === expectations.length ? '' : `${met} of `}${plural(expectations.length, 'expectation')} met`,
        ]
      : []),
    ...errors.slice(0, mostNamed),
    ...(errors.length > mostNamed ? [plural(errors.length - mostNamed, 'more error')] : []),
    ...(health.length > 0 ? [plural(health.length, 'health issue')] : []),
    plural(
      Object.values(requests).reduce((sum, count) => sum + count, 0),
      'request',
    ),
    `${seconds.toFixed(1)} s`,
  ];
  return `${driftSentence(document)} (${more.join(', ')})`;
}

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly samples: readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];
}

/** Ends with a line feed. `version`: of trueup. */
export function metricsText(
  record: WatchRecord,
  kinds: readonly string[],
  version: string,
): string {
  return metricsOf(record, kinds, version)
    .filter(({ samples }) => samples.length > 0)
    .flatMap(({ name, help, type, samples }) => [
      `# HELP trueup_${name} ${help}`,
      `# TYPE trueup_${name} ${type}`,
      ...samples.map(
        ([labels, value]) =>
          `trueup_${name}${labelled(labels)} ${Number.isFinite(value) ? value : 'NaN'}`,
      ),
    ])
    .map((line) => `${line}\n`)
    .join('');
}

function metricsOf(
  { audits, lastAt, lastSuccessAt, seconds, requests, document }: WatchRecord,
  kinds: readonly string[],
  version: string,
): readonly Metric[] {
  const gauge = (name: string, help: string, samples: Metric['samples']): Metric => ({
    name,
    help,
    type: 'gauge',
    samples,
  });
  const counter = (name: string, help: string, samples: Metric['samples']): Metric => ({
    name,
    help,
    type: 'counter',
    samples,
  });
  const single = (value: number | undefined): Metric['samples'] =>
    value === undefined ? [] : [[{}, value]];
  const by = (label: string, counts: Readonly<Record<string, number>>): Metric['samples'] =>
    Object.keys(counts)
      .toSorted(compareText)
      .map((name) => [{ [label]: name }, counts[name] as number]);
  const expectations = document?.expectations ?? [];
  return [
    gauge('build_info', 'The version of trueup, as a label. Always 1.', [[{ version }, 1]]),
    gauge(
      'drift_objects',
      'Managed objects with drift.',
      by(
        'kind',
        document
          ? {
              ...zero(kinds),
              ...tally(
                document.drift.flatMap(({ kind, status }) => (status === 'settled' ? [] : [kind])),
              ),
            }
          : {},
      ),
    ),
    gauge(
      'settled_objects',
      'Managed objects changed outside of trueup to what is declared.',
      by(
        'kind',
        document
          ? tally(
              document.drift.flatMap(({ kind, status }) => (status === 'settled' ? [kind] : [])),
            )
          : {},
      ),
    ),
    gauge(
      'unmanaged_objects',
      'Live objects in no state and no declaration.',
      by('kind', document?.unmanaged ?? {}),
    ),
    gauge(
      'expectations_failed',
      'Expectations that do not hold.',
      single(document?.summary.expectations_failed),
    ),
    gauge(
      'expectation_failed',
      '1 if the expectation does not hold, 0 if it holds, NaN if it could not be checked.',
      expectations.map(({ name, verdict }) => [
        { expectation: name },
        { unknown: Number.NaN, failed: 1, met: 0 }[verdict],
      ]),
    ),
    gauge(
      'unhealthy_objects',
      'Live objects with a health issue, by its code.',
      by('code', document ? tally(document.health.map(({ code }) => code)) : {}),
    ),
    counter(
      'api_requests_total',
      'API requests since the start, by collection.',
      by('collection', requests),
    ),
    counter(
      'audits_total',
      'Audits since the start. An audit that left anything unchecked is a failure.',
      by('result', { ...audits }),
    ),
    gauge('audit_duration_seconds', 'Duration of the last audit.', single(seconds)),
    gauge(
      'audit_last_run_timestamp_seconds',
      'Unix time at which the last audit ended.',
      single(lastAt),
    ),
    gauge(
      'audit_last_success_timestamp_seconds',
      'Unix time at which the last successful audit ended.',
      single(lastSuccessAt),
    ),
  ];
}

const zero = (names: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries(names.map((name) => [name, 0]));

function tally(words: readonly string[]): Readonly<Record<string, number>> {
  const groups = new Map<string, string[]>();
  for (const word of words) append(groups, word, word);
  return Object.fromEntries([...groups].map(([word, all]) => [word, all.length]));
}

function labelled(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) =>
      `${name}="${visible(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
