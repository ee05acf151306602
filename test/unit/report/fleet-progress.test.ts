// The progress lines of a fleet: what they say, and that none is wider or higher than the terminal.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fleetProgressLines, type FleetProgress } from '../../../src/report/fleet-progress.js';
import { timeWords } from '../../../src/report/words.js';
import { columns } from '../../../src/report/text-width.js';

const style = { color: false, width: 80 };
const running = (tenant: string, activity = 'reading accounts 3', elapsed = 4200) => ({
  tenant,
  activity,
  elapsed,
});
const progress: FleetProgress = {
  total: 40,
  counts: { failed: 1, unchanged: 11 },
  running: [running('acme'), running('globex.com', '', 75_000)],
  elapsed: 3_725_000,
  left: 61_000,
};

test('a line for each tenant that runs, and the totals', () => {
  expect(fleetProgressLines(progress, style, 24)).toEqual(
    [
      'acme              4 s  reading accounts 3',
      'globex.com  1 min 15 s  begins',
      '12 of 40 tenants · 1 h 2 min · about 1 min 1 s to go · 1 failed · 11 as declared',
    ].map((line) => (line.length > 79 ? `${line.slice(0, 78)}…` : line)),
  );
});

test('the totals alone, where nothing is known of the rest', () => {
  const start = { total: 1, counts: {}, running: [], elapsed: 0, left: undefined };
  expect(fleetProgressLines(start, style, 24)).toEqual(['0 of 1 tenant · 0 s']);
});

describe('a terminal of few lines', () => {
  const many = { ...progress, running: ['a', 'b', 'c', 'd'].map((name) => running(name)) };
  test.each([
    [5, ['a', 'b', 'c', 'd', '12']],
    [4, ['a', 'b', '…', '12']],
    [2, ['…', '12']],
    [1, ['12']],
  ])('of %i', (rows, first) => {
    const lines = fleetProgressLines(many, style, rows);
    expect(lines.map((line) => line.split(' ')[0])).toEqual(first);
  });

  test('says how many are not shown', () =>
    expect(fleetProgressLines(many, style, 4)[2]).toBe('… and 2 more'));
});

test('no line is too wide, holds a control character, or is more than there is room for', () =>
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          tenant: fc.string({ unit: 'grapheme', maxLength: 100 }),
          activity: fc.string({ unit: 'binary' }),
          elapsed: fc.nat(),
        }),
      ),
      fc.integer({ min: 40, max: 200 }),
      fc.integer({ min: 1, max: 30 }),
      (lanes, width, rows) => {
        const lines = fleetProgressLines(
          { ...progress, running: lanes },
          { color: false, width },
          rows,
        );
        expect(lines.length).toBeLessThanOrEqual(rows);
        for (const line of lines) {
          expect(columns(line)).toBeLessThan(width);
          // oxlint-disable-next-line no-control-regex -- what must not be there
          expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
        }
      },
    ),
  ));

test.each([
  [0, '0 s'],
  [4_900, '4 s'],
  [60_000, '1 min'],
  [125_000, '2 min 5 s'],
  [7_200_000, '2 h'],
  [5_400_000, '1 h 30 min'],
])('%i ms is %s', (milliseconds, words) => {
  expect(timeWords(milliseconds)).toBe(words);
});
