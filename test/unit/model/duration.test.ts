// Lengths of time, as Go reads them.
import { expect, it } from 'vitest';
import { tryDuration } from '../../../src/model/index.js';

it.each([
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['1.5m', 90_000],
  ['.5s', 500],
  ['+2m', 120_000],
  ['1m30s500ms', 90_500],
  ['10us', 0.01],
  ['1µs1μs', 0.002],
  ['1000000h', 3_600_000_000_000],
])('%s', (text, milliseconds) => expect(tryDuration(text)).toBeCloseTo(milliseconds, 9));

it.each([
  '',
  '10',
  '0',
  '0s',
  '0h0m',
  '-5s',
  '5',
  's',
  '5 m',
  '5d',
  '5m ',
  '1,5m',
  'm5',
  '5M',
  '1e3s',
  '.s',
  'NaN',
  '∞',
  '٥s',
])('%j is none', (text) => expect(tryDuration(text)).toBeUndefined());

it('is soon done with what is long', () => {
  const begun = performance.now();
  expect(tryDuration('1'.repeat(1_000_000))).toBeUndefined();
  expect(tryDuration(`${'9'.repeat(400)}h`)).toBeUndefined();
  expect(performance.now() - begun).toBeLessThan(1000);
});
