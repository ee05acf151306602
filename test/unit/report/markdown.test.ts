// A comment always fits, says what it leaves out, and never miscounts.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  summarise,
  type AccessReview,
  type Change,
  type DriftRecord,
  type Plan,
} from '../../../src/model/index.js';
import { accessMarkdown } from '../../../src/report/access-text.js';
import { accessDocument, driftDocument, planDocument } from '../../../src/report/index.js';
import { renderDrift, renderPlan } from '../../../src/report/render.js';
import { kinds } from '../../../src/resources/index.js';
import { arbitraryChange, arbitraryPlan, hostile } from './arbitrary.js';
import { meta, mixed, quiet } from './plans.js';
import { drawn } from '../../support/drawn.js';

const style = { color: false, width: 80, requests: true, verbose: true };
const markdownOf = (plan: Plan): string =>
  renderPlan(planDocument({ plan, kinds, meta, keeps: 'count' }), 'markdown', style);
const repeated = (changes: readonly Change[], times: number): readonly Change[] =>
  Array.from({ length: times }, (_, index) =>
    changes.map((change) => ({ ...change, address: `${change.address}-${index}` })),
  ).flat();
const rowsOf = (markdown: string): number =>
  markdown.split('\n').filter((line) => line.startsWith('| ')).length - 2;

test('deletes stand on top of the table', () => {
  const rows = markdownOf(mixed)
    .split('\n')
    .filter((line) => line.startsWith('| '));
  expect(rows[2]).toContain('**`-` DELETE** | `alert_push_destinations.old-pager`');
});

describe('shortening', () => {
  const changed = mixed.changes.filter((change) => change.action !== 'keep');
  const grown = (times: number): string =>
    markdownOf({ ...mixed, changes: repeated(changed, times) });

  test('first request bodies go, then attribute details, then rows', () => {
    const [all, noBodies, noDetails, fewRows] = [
      grown(5),
      grown(16),
      grown(40),
      grown(1000),
    ] as const;
    expect([
      all.includes('"On-call pager"}'),
      all.includes('```diff'),
      all.includes('left out'),
    ]).toEqual([true, true, false]);
    expect([noBodies.includes('"On-call pager"}'), noBodies.includes('```diff')]).toEqual([
      false,
      true,
    ]);
    expect(noBodies).toContain('Request bodies are left out');
    expect([noDetails.includes('```diff'), rowsOf(noDetails)]).toEqual([
      false,
      40 * changed.length,
    ]);
    expect(noDetails).toContain('Attribute details are left out');
    expect(fewRows).toContain(`… and ${1000 * changed.length - rowsOf(fewRows)} more`);
    expect(rowsOf(fewRows)).toBeGreaterThan(50);
    expect(fewRows).toContain(
      '### Plan: 3000 to create, 2000 to adopt (1000 with changes), 2000 to update (1000 renamed), 1000 to delete, 1000 to forget; 0 unchanged.',
    );
  });
});

test('every plan fits, with true counts', () => {
  const huge = fc.record({
    plan: arbitraryPlan,
    changes: fc.array(arbitraryChange, { minLength: 1, maxLength: 4 }),
    times: fc.integer({ min: 1, max: 2000 }),
    long: fc.constantFrom(1, 1000, 100_000),
    text: fc.constantFrom(...hostile, '|', '\u001b', '`'),
  });
  fc.assert(
    fc.property(huge, ({ plan, changes, times, long, text }) => {
      const stretched = (one: string): string =>
        one + text.repeat(Math.ceil(long / Math.max(text.length, 1)));
      const all = repeated(changes, times).map((change, index) =>
        index % 100 === 0
          ? { ...change, reason: stretched(change.reason), address: stretched(change.address) }
          : change,
      );
      const diagnostics = repeatedOf(plan.diagnostics, times).map((one, index) =>
        index % 100 === 0 ? { ...one, summary: stretched(one.summary) } : one,
      );
      const verdicts = repeatedOf(plan.verdicts, times).map((one, index) =>
        index % 100 === 0 ? { ...one, detail: stretched(one.detail) } : one,
      );
      const markdown = markdownOf({ ...plan, changes: all, diagnostics, verdicts });
      expect(markdown.length).toBeLessThan(65_536);
      const { create, adopt, update, replace, delete: deleted, forget, keep } = summarise(all);
      const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
      const written = all.filter((change) => change.action === 'adopt' && change.write).length;
      const changing = written > 0 ? ` (${written} with changes)` : '';
      const renamed = all.filter(
        ({ action, renamed_from }) => action === 'keep' && renamed_from !== undefined,
      ).length;
      const moved = all.filter(
        ({ action, renamed_from }) => action === 'update' && renamed_from !== undefined,
      ).length;
      const updated = `${update} to update${moved > 0 ? ` (${moved} renamed)` : ''}`;
      const counts = `: ${create} to create,${adopt > 0 ? ` ${adopt} to adopt${changing},` : ''} ${updated},${replace > 0 ? ` ${replace} to replace,` : ''} ${deleted} to delete${forget > 0 ? `, ${forget} to forget` : ''}${renamed > 0 ? `, ${renamed} to rename` : ''}; ${keep - renamed} unchanged.`;
      expect(markdown).toContain(
        errors + create + adopt + update + replace + deleted + forget > 0 ? counts : 'No changes',
      );
      const shown = all.filter(
        (change) => change.action !== 'keep' || change.renamed_from !== undefined,
      ).length;
      const hidden = shown - Math.max(rowsOf(markdown), 0);
      expect(markdown).toContain(hidden === 0 ? '### ' : `… and ${hidden} more`);
    }),
    { numRuns: drawn(10) },
  );
});

const repeatedOf = <T>(all: readonly T[], times: number): readonly T[] =>
  Array.from({ length: all.length * times }, (_, index) => all[index % all.length] as T);

test('every audit fits', () => {
  const record = (index: number): DriftRecord => ({
    address: `accounts.a-${index}`,
    kind: 'accounts',
    id: String(index),
    origin: null,
    status: 'changed',
    changes: [{ path: 'name', declared: 'x'.repeat(200), applied: null, live: 'y' }],
    since: null,
    changed_by: 'unknown',
    window: { after: null, before: null },
  });
  for (const count of [0, 10, 100, 1000, 20_000]) {
    const records = Array.from({ length: count }, (_, index) => record(index));
    const markdown = renderDrift(
      driftDocument({
        drift: records,
        in_sync: ['accounts.a'],
        unmanaged: {},
        unmanaged_objects: [],
        health: [],
        expectations: [],
        access: null,
        diagnostics: [],
        meta,
      }),
      'markdown',
      style,
    );
    expect(markdown.length).toBeLessThan(65_536);
    expect(markdown).toContain(
      count === 0
        ? '### No drift. 1 object is as declared.'
        : `### Drift: ${count} changed; 1 in sync.`,
    );
    expect(markdown.includes('```diff')).toBe(count > 0 && count < 200);
  }
});

test('each line of advice is a line of its own', () => {
  const detail = 'To keep it: trueup a\nTo save it: trueup b';
  const diagnostics = [{ severity: 'error', code: 'x', summary: 'It is wrong.', detail }] as const;
  expect(markdownOf({ ...quiet, diagnostics })).toContain(
    'It is wrong. — To keep it: `trueup a`<br>To save it: `trueup b`',
  );
});

test('a quiet plan is one sentence', () =>
  expect(markdownOf(quiet)).toContain('### No changes. 30 objects are as declared.'));

test('a list of roles names users and accounts as the text table does', () => {
  const accounts = Array.from({ length: 9 }, (_, index) => ({
    id: `${5001 + index}`,
    name: `Depot ${index}`,
    depth: index,
    administrators: 1,
  }));
  const review: AccessReview = {
    users: [{ id: '77', email: 'dana@example.com' }, { id: '78' }],
    accounts,
    complete: true,
    cells: [
      { user: '77', account: '5001', role: 'administrator' },
      { user: '77', account: '5002', role: 'administrator', inherited_from: '5001' },
      { user: '78', account: '5009', role: 'administrator' },
    ],
  };
  const markdown = accessMarkdown(accessDocument({ access: review, diagnostics: [], meta }));
  expect(markdown).toContain('| Depot 0 (5001) | `dana@example.com` | administrator | no |');
  expect(markdown).toContain(
    '| Depot 1 (5002) | `dana@example.com` | administrator (from Depot 0) |  |',
  );
  expect(markdown).toContain('| Depot 8 (5009) | 78 | administrator | no |');
});
