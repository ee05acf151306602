// Many words are found as they would be one by one, and at once.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wordFinder, type Ranges } from '../../../../src/model/index.js';
import { drawn } from '../../../support/drawn.js';

/** Every place of every word, laid together where they touch. */
function oneByOne(words: readonly string[], text: string): Ranges {
  const all = words.flatMap((word) =>
    Array.from({ length: text.length }, (_, at) => at).flatMap((at): [number, number][] =>
      text.startsWith(word, at) ? [[at, at + word.length]] : [],
    ),
  );
  const out: [number, number][] = [];
  for (const [from, to] of all.toSorted((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else out.push([from, to]);
  }
  return out;
}

const few = (length: number) =>
  fc.string({
    unit: fc.constantFrom('a', 'b', '\u{1f600}', 'é'),
    minLength: length,
    maxLength: length + 4,
  });

describe('wordFinder', () => {
  it('finds what looking one by one finds', () => {
    fc.assert(
      fc.property(
        fc.array(few(4), { maxLength: 6 }),
        fc.array(few(0), { maxLength: 12 }),
        (words, rest) => {
          const text = [...rest, ...words, ...rest].join('');
          expect(wordFinder(words, 4)(text)).toEqual(oneByOne(words, text));
        },
      ),
      { numRuns: drawn(500) },
    );
  });

  it.each([
    [
      'at both ends',
      ['secret-1', 'secret-22'],
      'secret-1 x secret-22',
      [
        [0, 8],
        [11, 20],
      ],
    ],
    [
      'the longest of those that begin alike',
      ['longword', 'longword-and-more'],
      'a longword-and-more',
      [[2, 19]],
    ],
    ['words that overlap, as one', ['abcdefgh', 'efghijkl'], 'xabcdefghijklx', [[1, 13]]],
    ['one word twice', ['aaaaaaaa'], 'aaaaaaaaaaaaaaaa', [[0, 16]]],
    ['nothing in a shorter text', ['secret-1'], 'secret-', []],
    ['nothing without words', [], 'whatever it is', []],
  ])('finds %s', (_, words, text, ranges) => {
    expect(wordFinder(words, 8)(text)).toEqual(ranges);
  });

  it('looks at a text once, however many words there are', () => {
    const words = Array.from({ length: 10_000 }, (_, index) => `word number ${index}`);
    let looked = 0;
    const text = {
      length: 1_000_000,
      charCodeAt: () => ((looked += 1), 0x2e),
      startsWith: () => false,
    } as unknown as string;
    expect(wordFinder(words, 8)(text)).toEqual([]);
    expect(looked).toBeLessThan(3_000_000);
  });
});
