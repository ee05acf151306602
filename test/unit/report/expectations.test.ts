// What an audit says of expectations, where nothing else is to be said.
import { describe, expect, test } from 'vitest';
import type { DriftRecord, Verified } from '../../../src/model/index.js';
import { driftDocument } from '../../../src/report/index.js';
import { renderDrift } from '../../../src/report/render.js';
import { at, meta } from './plans.js';

const style = { color: false, width: 100 };
const one = (more: Partial<Verified>): Verified => ({
  name: 'sims',
  collection: 'subscriptions',
  origin: at(3),
  verdict: 'met',
  checked: 4,
  failed: 0,
  offenders: [],
  ...more,
});
const document = (drift: readonly DriftRecord[], ...expectations: readonly Verified[]) =>
  driftDocument({
    drift,
    in_sync: ['accounts.a'],
    unmanaged: {},
    unmanaged_objects: [],
    health: [],
    expectations,
    access: null,
    diagnostics: [],
    meta,
  });
const failed = one({
  verdict: 'failed',
  failed: 30,
  offenders: Array.from({ length: 20 }, (_, index) => ({
    id: `sim-${index}`,
    why: 'state must be "ACTIVE"',
  })),
});

describe.each(['text', 'markdown'] as const)('as %s', (format) => {
  const shown = (...all: readonly Verified[]): string =>
    renderDrift(document([], ...all), format, style);

  test('nothing where nothing is expected', () => expect(shown()).not.toMatch(/expectation/i));

  test('what is met is counted', () => {
    expect(shown(one({}), one({ name: 'other' }))).toContain('Expectations: 2 met');
    expect(shown(one({}))).toContain('No drift.');
    expect(shown(one({}))).not.toContain('expectations.sims');
  });

  test('what settled by itself is no drift', () => {
    const record = {
      address: 'accounts.b',
      kind: 'accounts',
      name: 'b',
      origin: at(2),
      id: '2',
      status: 'settled',
      since: null,
      changes: [],
      changed_by: 'unknown',
      window: { after: null, before: null },
    } as const;
    const text = renderDrift(document([record]), format, style);
    expect(text).toContain('No drift, 1 settled. 1 object is as declared.');
    expect(text).not.toContain('Drift:');
  });

  test('what failed is no silence, and the first of those that offend are named', () => {
    const text = shown(one({ name: 'other' }), failed);
    expect(text).toContain('Expectations: 1 failed, 1 met');
    expect(text).toContain('Drift: 1 expectation failed; 1 in sync.');
    expect(text).not.toContain('No drift');
    expect(text.match(/sim-\d+/g)).toHaveLength(20);
    expect(text).toContain('… and 10 more');
  });

  test('records that were read and could not be judged are not called unread', () => {
    const summary = 'of 3 records nobody can tell whether 1 is as expected';
    const text = shown(
      one({
        name: 'slow',
        verdict: 'unknown',
        checked: 3,
        diagnostic: { severity: 'error', code: 'takes-too-long', summary },
      }),
    );
    expect(text).toContain(`not known: ${summary}`);
    expect(text).not.toContain('could not be read');
  });

  test('what is unknown comes behind what failed', () => {
    const text = shown(
      one({
        name: 'dark',
        verdict: 'unknown',
        diagnostic: { severity: 'error', code: 'unavailable', summary: 'the service returned 503' },
      }),
      failed,
    );
    expect(text.indexOf('expectations.sims')).toBeLessThan(text.indexOf('expectations.dark'));
    expect(text).toMatch(/returned\s+503/);
  });
});
