// Suggestions are made of the fewest steps, and made only where a slip is likely.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { didYouMean, didYouMeanAddress, distance, nearest } from '../../../src/model/index.js';

describe('nearest', () => {
  it.each([
    ['', '', 0],
    ['a', '', 1],
    ['', 'abc', 3],
    ['abc', 'abd', 1],
    ['abc', 'acb', 1],
    ['abcd', 'badc', 2],
    ['kitten', 'sitting', 3],
    ['ca', 'abc', 3],
  ])('%j to %j takes %i steps', (a, b, steps) => {
    expect(distance(a, b)).toBe(steps);
  });

  it('is symmetric, and zero only for equals', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });
    fc.assert(
      fc.property(
        word,
        word,
        (a, b) =>
          void expect([distance(a, b), distance(a, b) === 0]).toEqual([distance(b, a), a === b]),
      ),
    );
  });

  it.each([
    ['nmae', ['name', 'account'], 'name'],
    ['Name', ['name'], 'name'],
    ['on-removal', ['on_removal'], 'on_removal'],
    ['x', ['y'], 'y'],
    ['x', ['yz'], undefined],
    ['pager', ['alert'], undefined],
    ['', ['a'], undefined],
    ['a'.repeat(65), ['a'.repeat(64)], undefined],
    ['ab', ['ax', 'ay'], 'ax'],
  ])('%s among %j is %s', (word, candidates, expected) => {
    expect(nearest(word, candidates)).toBe(expected);
    expect(didYouMean(word, candidates)).toBe(
      expected === undefined ? '' : ` Did you mean \`${expected}\`?`,
    );
  });
});

describe('didYouMeanAddress', () => {
  const known = ['accounts.site["depot-7"]', 'accounts.site["depot-8"]', 'accounts.sites'];
  it.each([
    ['accounts.site["plant-1"]', undefined],
    ['accounts.site["depot7"]', 'accounts.site["depot-7"]'],
    ['accounts.siten', 'accounts.sites'],
    ['accounts.other', undefined],
    ['accounts.sites-of-north', 'accounts.sites'],
    ['accounts.sits["depot-7"]', 'accounts.site["depot-7"]'],
  ])('%s is taken for %s', (word, meant) => {
    expect(didYouMeanAddress(word, known)).toBe(
      meant === undefined ? '' : ` Did you mean \`${meant}\`?`,
    );
  });
});
