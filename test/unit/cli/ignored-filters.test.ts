// A filter that the service obeyed is never called ignored, and one that it ignored always is.
import { expect, test } from 'vitest';
import { ignoredFilters } from '../../../src/cli/ignored-filters.js';
import type { Values } from '../../../src/model/index.js';
import { collections } from '../../../src/resources/index.js';

const warned = (
  name: string,
  filter: string,
  value: string,
  ...found: readonly Values[]
): number => {
  const { add, warnings } = ignoredFilters(collections.get(name)!, { [filter]: value });
  add(found.map((values) => ({ values, record: {} })));
  return warnings().length;
};

const sims = [{ imsi: '240' }, { imsi: '241' }];

test.each<readonly [string, string, string, readonly Values[], number]>([
  ['subscriptions', 'imsi', '240,241', sims, 0],
  ['accounts', 'name__in', 'North,South', [{ name: 'North' }, { name: 'South' }], 0],
  ['accounts', 'name__in', 'North,South', [{ name: 'West' }], 1],
  ['accounts', 'name', 'North,South', [{ name: 'North,South' }], 0],
  ['accounts', 'name', 'North,South', [{ name: 'North' }], 1],
])('%s by %s=%s', (name, filter, value, found, expected) => {
  expect(warned(name, filter, value, ...found)).toBe(expected);
});
