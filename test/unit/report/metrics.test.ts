// What Prometheus and the log of a watch are told of an audit: what counts as drift, and nothing else, is drift, and
// what could not be checked is named.
import { describe, expect, test } from 'vitest';
import type { Diagnostic, DriftDocument } from '../../../src/model/index.js';
import { metricsText, watchSentence } from '../../../src/report/metrics.js';
import { audits } from './audits.js';

const lines = (document: DriftDocument): readonly string[] =>
  metricsText(
    { audits: { success: 0, failure: 1 }, lastAt: 60, requests: {}, document },
    ['accounts', 'batteries'],
    '1.2.3',
  ).split('\n');
const error = (summary: string): Diagnostic => ({ severity: 'error', code: 'x', summary });

describe('metrics', () => {
  test('count as drift what is drift, and what settled apart from it', () => {
    expect(lines(audits.audited)).toEqual(
      expect.arrayContaining([
        'trueup_drift_objects{kind="accounts"} 2',
        'trueup_drift_objects{kind="batteries"} 0',
        'trueup_settled_objects{kind="accounts"} 1',
        'trueup_expectation_failed{expectation="managers-synched"} 1',
        'trueup_expectation_failed{expectation="batteries-healthy"} NaN',
        'trueup_build_info{version="1.2.3"} 1',
        'trueup_unhealthy_objects{code="rule-cannot-fire"} 1',
        'trueup_audits_total{result="failure"} 1',
        'trueup_audit_last_run_timestamp_seconds 60',
      ]),
    );
    expect(
      lines(audits['no-drift']).some((line) => line.startsWith('trueup_settled_objects')),
    ).toBe(false);
  });

  test('a line names what could not be checked, and counts what is too much for a line', () => {
    const said = (errors: readonly Diagnostic[]): string =>
      watchSentence({ ...audits.audited, diagnostics: errors }, 1.25);
    expect(said([])).toMatch(/^Drift: .*\(1 of 3 expectations met, 2 health issues, /);
    expect(said([error('a could not be\nchecked.')])).toMatch(
      /^Audit with 1 error: 6 drifted, .* \(1 of 3 expectations met, a could not be\\nchecked, /,
    );
    expect(said(['a', 'b', 'c', 'd', 'e'].map(error))).toMatch(/ a, b, c, 2 more errors, /);
  });
});
