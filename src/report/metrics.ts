// The numbers of a continuous audit in Prometheus' text format. Label values come from outside; the format's own
// escaping makes them inert.
import { append, compareText, type DriftDocument } from '../model/index.js';
import { visible } from './escaping.js';
import { driftSentence, plural } from './words.js';

/** What a watch remembers between its cycles. Times in seconds since 1970. */
export interface WatchRecord {
  readonly audits: { readonly good: number; readonly failed: number };
  readonly startedAt: number;
  readonly lastAt?: number;
  /** When the last audit ended that left nothing unchecked. */
  readonly lastGoodAt?: number;
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
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(({ summary }) => visible(summary).replace(/\.$/, ''));
  const more = [
    ...(expectations.length > 0 ? [`${met === expectations.length ? '' : `${met} of `}${plural(expectations.length, 'expectation')} met`] : []),
    ...errors.slice(0, mostNamed),
    ...(errors.length > mostNamed ? [plural(errors.length - mostNamed, 'more error')] : []),
    ...(health.length > 0 ? [`${health.length} ailing`] : []),
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

/** Ends with a line feed. `now`: seconds since 1970. */
export function metricsText(record: WatchRecord, kinds: readonly string[], now: number): string {
  return metricsOf(record, kinds, now)
    .filter(({ samples }) => samples.length > 0)
    .flatMap(({ name, help, type, samples }) => [
      `# HELP trueup_${name} ${help}`,
      `# TYPE trueup_${name} ${type}`,
      ...samples.map(([labels, value]) => `trueup_${name}${labelled(labels)} ${Number.isFinite(value) ? value : 'NaN'}`),
    ])
    .map((line) => `${line}\n`)
    .join('');
}

function metricsOf({ audits, startedAt, lastAt, lastGoodAt, seconds, requests, document }: WatchRecord, kinds: readonly string[], now: number): readonly Metric[] {
  const gauge = (name: string, help: string, samples: Metric['samples']): Metric => ({ name, help, type: 'gauge', samples });
  const counter = (name: string, help: string, samples: Metric['samples']): Metric => ({ name, help, type: 'counter', samples });
  const single = (value: number | undefined): Metric['samples'] => (value === undefined ? [] : [[{}, value]]);
  const by = (label: string, counts: Readonly<Record<string, number>>): Metric['samples'] =>
    Object.keys(counts)
      .toSorted(compareText)
      .map((name) => [{ [label]: name }, counts[name] as number]);
  const expectations = document?.expectations ?? [];
  return [
    gauge(
      'drift_objects',
      'Managed objects that drifted.',
      by('kind', document ? { ...zero(kinds), ...tally(document.drift.flatMap(({ kind, status }) => (status === 'settled' ? [] : [kind]))) } : {}),
    ),
    gauge(
      'settled_objects',
      'Managed objects that were changed outside of trueup to what is declared.',
      by('kind', document ? tally(document.drift.flatMap(({ kind, status }) => (status === 'settled' ? [kind] : []))) : {}),
    ),
    gauge('unmanaged_objects', 'Live objects that nothing here manages.', by('kind', document?.unmanaged ?? {})),
    gauge('expectations_failed', 'Expectations that do not hold.', single(document?.summary.expectations_failed)),
    gauge(
      'expectation_failed',
      '1 where the expectation does not hold, NaN where it could not be checked.',
      expectations.map(({ name, verdict }) => [{ expectation: name }, { unknown: Number.NaN, failed: 1, met: 0 }[verdict]]),
    ),
    gauge('ailing_objects', 'Live objects that are not well, by what they suffer from.', by('code', document ? tally(document.health.map(({ code }) => code)) : {})),
    counter('api_requests_total', 'Requests to the cloud since the start.', by('collection', requests)),
    counter('audits_total', 'Audits since the start.', by('result', { good: audits.good, failed: audits.failed })),
    gauge('audit_duration_seconds', 'How long the last audit took.', single(seconds)),
    gauge('last_audit_timestamp_seconds', 'When the last audit ended.', single(lastAt)),
    gauge('last_good_audit_timestamp_seconds', 'When the last audit that left nothing unchecked ended.', single(lastGoodAt)),
    gauge('last_good_audit_age_seconds', 'How long ago that was; without any, since the start.', single(now - (lastGoodAt ?? startedAt))),
  ];
}

const zero = (names: readonly string[]): Readonly<Record<string, number>> => Object.fromEntries(names.map((name) => [name, 0]));

function tally(words: readonly string[]): Readonly<Record<string, number>> {
  const groups = new Map<string, string[]>();
  for (const word of words) append(groups, word, word);
  return Object.fromEntries([...groups].map(([word, all]) => [word, all.length]));
}

function labelled(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${visible(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
