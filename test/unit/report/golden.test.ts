// Every renderer over the same plans, byte for byte.
import { describe, expect, test } from 'vitest';
import type { Diagnostic, Event, Outcome } from '../../../src/model/index.js';
import {
  ndjson,
  planDocument,
  renderDiagnostics,
  renderOutcomes,
} from '../../../src/report/index.js';
import { renderDrift, renderPlan } from '../../../src/report/render.js';
import { planFormats } from '../../../src/report/formats.js';
import { columns } from '../../../src/report/text-width.js';
import { kinds } from '../../../src/resources/index.js';
import { audits } from './audits.js';
import { expectGolden, ownPart } from './golden.js';
import { at, meta, mixed, plans } from './plans.js';

const plain = { color: false, width: 80 };
const clock = { now: () => Date.UTC(2026, 0, 2), monotonic: () => 5_000 };

describe.each(Object.entries(plans))('the plan %s', (name, plan) => {
  const document = planDocument({ plan, kinds, meta });
  const brief = planDocument({ plan, kinds, meta, keeps: 'count' });

  test('as text', () => {
    const text = renderPlan(brief, 'text', plain);
    expect(renderPlan(document, 'text', plain)).toBe(text);
    expect(text.split('\n').filter((line) => columns(line) > 80)).toEqual([]);
    expectGolden(`${name}.txt`, text);
  });

  test('as text with colour, which changes nothing but colour', () => {
    const text = renderPlan(brief, 'text', { color: true, width: 80 });
    expect(text.replace(/\u001b\[\d+m/g, '')).toBe(renderPlan(brief, 'text', plain));
    expectGolden(`${name}.color.txt`, text);
  });

  test('as text in 40 columns', () =>
    expectGolden(`${name}.narrow.txt`, renderPlan(brief, 'text', { color: false, width: 40 })));

  test('as Markdown', () => {
    expect(renderPlan(document, 'markdown', plain)).toBe(renderPlan(brief, 'markdown', plain));
    expectGolden(`${name}.md`, renderPlan(brief, 'markdown', plain));
  });

  test('as JSON', () => expectGolden(`${name}.json`, renderPlan(document, 'json', plain)));

  test('as HTML', () => {
    expect(renderPlan(document, 'html', plain)).toBe(renderPlan(brief, 'html', plain));
    expectGolden(`${name}.html`, ownPart(renderPlan(brief, 'html', plain)));
  });

  test('as events', () =>
    expectGolden(
      `${name}.ndjson`,
      ndjson({ version: '0.1.0', clock }).version() +
        ndjson({ version: '0.1.0', clock }).plan(document),
    ));

  test('a document that went through JSON renders the same', () => {
    const again = JSON.parse(renderPlan(document, 'json', plain)) as typeof document;
    for (const format of planFormats)
      expect(renderPlan(again, format, plain)).toBe(renderPlan(document, format, plain));
  });
});

describe.each(Object.entries(audits))('the audit %s', (name, document) => {
  test('as text', () => expectGolden(`${name}.txt`, renderDrift(document, 'text', plain)));
  test('as Markdown', () => expectGolden(`${name}.md`, renderDrift(document, 'markdown', plain)));
  test('as JSON', () => expectGolden(`${name}.json`, renderDrift(document, 'json', plain)));
  test('as HTML', () =>
    expectGolden(`${name}.html`, ownPart(renderDrift(document, 'html', plain))));
  test('as JUnit XML', () => expectGolden(`${name}.xml`, renderDrift(document, 'junit', plain)));
  test('as SARIF', () => expectGolden(`${name}.sarif`, renderDrift(document, 'sarif', plain)));
  test('as events', () =>
    expectGolden(`${name}.ndjson`, ndjson({ version: '0.1.0', clock }).drift(document)));
});

const refused: Diagnostic = {
  severity: 'error',
  code: 'rejected',
  summary: 'the service refused the request (400): unknown parent',
  detail: 'Correct the declaration and apply again.',
  address: 'accounts.field-ops',
  origin: at(4),
};
const outcomes: readonly Outcome[] = [
  {
    address: 'accounts.hq',
    kind: 'accounts',
    action: 'adopt',
    outcome: 'done',
    id: '5002',
    elapsed: 0,
  },
  {
    address: 'accounts.field-ops',
    kind: 'accounts',
    action: 'create',
    outcome: 'failed',
    diagnostic: refused,
    elapsed: 1200,
  },
  {
    address: 'alert_rules.busy',
    kind: 'alert_rules',
    action: 'update',
    outcome: 'done',
    id: 'r-2',
    elapsed: 2600,
  },
  {
    address: 'alert_rules.wan-down["north"]',
    kind: 'alert_rules',
    action: 'create',
    outcome: 'skipped',
    reason: 'accounts.field-ops did not succeed',
    diagnostic: {
      severity: 'warning',
      code: 'skipped',
      summary: 'alert_rules.wan-down["north"] was skipped: accounts.field-ops did not succeed.',
      address: 'alert_rules.wan-down["north"]',
    },
  },
  {
    address: 'alert_push_destinations.pager',
    kind: 'alert_push_destinations',
    action: 'create',
    outcome: 'unknown',
    diagnostic: {
      severity: 'error',
      code: 'unknown-outcome',
      summary: 'the connection was lost after the request was sent',
      detail: 'Type `trueup apply` to settle it by looking.',
    },
    elapsed: 30_000,
  },
  { address: 'accounts.kept', kind: 'accounts', action: 'keep', outcome: 'done', id: '1' },
  {
    address: 'alert_push_destinations.old',
    kind: 'alert_push_destinations',
    action: 'delete',
    outcome: 'done',
    id: 'd-1',
    gone: true,
    elapsed: 400,
  },
];

describe('the end of an apply', () => {
  test('as text', () => expectGolden('outcomes.txt', renderOutcomes(outcomes, plain)));
  test('where all went well', () =>
    expect(renderOutcomes([outcomes[5] as Outcome], plain)).toBe(
      'Applied: 0 created, 0 updated, 0 deleted; 1 unchanged.\n',
    ));

  test('as events', () => {
    let monotonic = 0;
    const stream = ndjson({
      version: '0.1.0',
      clock: { now: clock.now, monotonic: () => monotonic },
    });
    const events: readonly Event[] = [
      { type: 'reading', kind: 'accounts', objects: 12 },
      ...outcomes.flatMap((outcome): readonly Event[] => [
        { type: 'start', address: outcome.address, action: outcome.action },
        { type: 'waiting', why: 'rate limited', milliseconds: 12_000 },
        { type: 'end', outcome },
      ]),
      { type: 'diagnostic', diagnostic: refused },
    ];
    const lines = events.map((event) => {
      monotonic += 12_000;
      return stream.event(event);
    });
    expect(stream.progress()).toBe('');
    expectGolden('outcomes.ndjson', lines.join('') + stream.outcomes(outcomes));
  });
});

test('an adoption that writes as well is an update from the plan to the sum, which counts it under both', () => {
  const stream = ndjson({ version: '0.1.0', clock });
  const adoptions = mixed.changes.filter(({ action }) => action === 'adopt');
  const ends = adoptions.map(({ address, kind }): Outcome => ({
    address,
    kind,
    action: 'adopt',
    outcome: 'done',
    id: '900',
  }));
  const started = ends.map(({ address }) =>
    stream.event({ type: 'start', address, action: 'adopt' }),
  );
  expect(started.join('')).not.toContain('"update"');
  const lines = [
    stream.plan(planDocument({ plan: { ...mixed, changes: adoptions }, kinds, meta })),
    ...ends.map(({ address }) => stream.event({ type: 'start', address, action: 'adopt' })),
    stream.progress(),
    ...ends.map((outcome) => stream.event({ type: 'end', outcome })),
    stream.outcomes(ends),
  ].join('');
  type Told = { type: string; change?: About; hook?: About; changes?: unknown };
  type About = { action: string; resource: { addr: string } };
  const told = lines.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Told]));
  const words = told
    .filter(({ type }) => /^(planned_change|apply_)/.test(type))
    .map(({ type, change, hook }) => [
      type,
      (change ?? hook)?.resource.addr,
      (change ?? hook)?.action,
    ]);
  const each = (type: string): unknown[] => [
    [type, 'accounts.hq', 'import'],
    [type, 'account_authorizations.dana', 'update'],
  ];
  expect(words).toEqual(
    ['planned_change', 'apply_start', 'apply_progress', 'apply_complete'].flatMap(each),
  );
  const sum = { add: 0, change: 1, import: 2, remove: 0, forget: 0 };
  expect(told.flatMap(({ changes }) => (changes === undefined ? [] : [changes]))).toEqual([
    { ...sum, operation: 'plan' },
    { ...sum, operation: 'apply' },
  ]);
});

test('diagnostics as text', () => {
  const more: readonly Diagnostic[] = [
    refused,
    ...mixed.diagnostics,
    {
      severity: 'info',
      code: 'note',
      summary: 'x'.repeat(100),
      detail: `one\n\ntwo ${'word '.repeat(30)}`,
    },
  ];
  expectGolden('diagnostics.txt', renderDiagnostics(more, plain));
  expect(renderDiagnostics([], plain)).toBe('');
});
