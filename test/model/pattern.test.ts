// Patterns of declarations: the same answer as the engine of the platform, for each that is taken, and no pair of
// pattern and text that holds a run up.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { patternOf } from '../../src/model/index.js';
import { seededRandom } from '../support/simulated.js';

const fault = (source: string): string | undefined => {
  const found = patternOf(source);
  return 'fault' in found ? found.fault : undefined;
};
const matches = (source: string, text: string): boolean | undefined => {
  const found = patternOf(source);
  if ('fault' in found) throw new Error(`${source}: ${found.fault}`);
  return found.matches(text);
};

const isPattern = (source: string): boolean => {
  try {
    return new RegExp(source, 'u').source !== '';
  } catch {
    return false;
  }
};

const characters = [
  'a',
  'b',
  'ab',
  '\\d',
  '\\w',
  '\\s',
  '\\D',
  '\\W',
  '\\S',
  '.',
  '[ab]',
  '[^a]',
  '[a-c0-9_]',
  '[]',
  '[^]',
  '[\\d-]',
  '\\.',
  '\\x61',
  '\\u0062',
  '\\u{1F600}',
  '\\n',
  '😀',
  '[😀-😂]',
];
const quantifiers = ['', '', '', '*', '+', '?', '{2}', '{0,2}', '{1,}', '*?', '{0}'];
const { pattern } = fc.letrec<{ pattern: string; branch: string; atom: string }>((tie) => ({
  pattern: fc.array(tie('branch'), { minLength: 1, maxLength: 3 }).map((branches) => branches.join('|')),
  branch: fc.array(fc.oneof({ depthSize: 'small' }, fc.constantFrom('^', '$', ''), tie('atom')), { maxLength: 4 }).map((parts) => parts.join('')),
  atom: fc
    .tuple(
      fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom(...characters),
        tie('pattern').map((inner) => `(?:${inner})`),
        tie('pattern').map((inner) => `(${inner})`),
      ),
      fc.constantFrom(...quantifiers),
    )
    .map(([atom, quantifier]) => (atom.length > 1 && /^[a-z]+$/.test(atom) ? `(?:${atom})${quantifier}` : atom + quantifier)),
}));
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', '_', '-', '.', ' ', '\n', '\u2028', 'é', '😀', '\ud83d'), maxLength: 8 });

describe('a pattern', () => {
  it('matches what it matches elsewhere', () => {
    let taken = 0;
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 6 }), (source, texts) => {
        const found = patternOf(source);
        if ('fault' in found) return;
        taken += 1;
        for (const one of texts) expect([source, one, found.matches(one)]).toEqual([source, one, new RegExp(source, 'u').test(one)]);
      }),
      { numRuns: 2_000 },
    );
    expect(taken).toBeGreaterThan(1_500);
  });

  it('is no pattern anywhere else either, where it is refused for its form', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('ab(){}[]|*+?^$\\-,:1d')), maxLength: 8 }), (source) => {
        const found = fault(source);
        const only = found !== undefined && /refers back|ahead or behind|means nothing/.test(found);
        expect([source, only || isPattern(source) === (found === undefined)]).toEqual([source, true]);
      }),
      { numRuns: 3_000 },
    );
  });

  it.each([
    ['(a)\\1', 'it refers back to a group'],
    ['(?<n>a)\\k<n>', 'groups have no names here'],
    ['(?=a)', 'it looks ahead or behind'],
    ['(?<!a)b', 'it looks ahead or behind'],
    ['\\bword\\b', '`\\b` means nothing here'],
    ['\\p{L}', '`\\p` means nothing here'],
    ['a{2', 'a `{` begins no repetition such as `{2}`, `{2,}` or `{2,4}`; as a character it is written `\\{`'],
    ['a{3,2}', 'the numbers in `{3,2}` are out of order'],
    ['*a', '`*` stands where nothing can be repeated; as a character it is written `\\*`'],
    ['^*', 'an anchor cannot be repeated'],
    ['(a', 'a `(` is never closed'],
    ['a)', 'a `)` closes nothing'],
    ['[a', 'it ends too early'],
    ['[b-a]', 'a range in `[…]` does not go from a character to a later one'],
    ['[\\d-z]', 'a range in `[…]` does not go from a character to a later one'],
    ['\\u12', "`\\u` is followed by no character's number"],
    ['x'.repeat(501), 'it is longer than 500 characters'],
    ['(?:a{100}){100}', 'with its repetitions written out it is too long'],
    [`${'(?:'.repeat(20)}${'){99}'.repeat(20)}`, 'with its repetitions written out it is too long'],
    ['a{999999999}', 'with its repetitions written out it is too long'],
  ])('%s is refused: %s', (source, why) => {
    expect(fault(source)).toBe(why);
  });

  /** Each of these, with the engine of the platform, takes longer than anybody lives, or hours. */
  it.each([
    ['^(a+)+$', 'a'.repeat(100_000), 'b'],
    ['^(a|a)*$', 'a'.repeat(100_000), 'b'],
    ['^(a|ab|b)*c$', 'ab'.repeat(50_000), 'd'],
    ['^(.*)*x$', 'y'.repeat(100_000), 'y'],
    ['a*a*a*a*a*b', 'a'.repeat(100_000), 'c'],
    ['^([a-z]+\\.?)+@$', 'abc.'.repeat(25_000), '!'],
    ['(x+x+)+y', 'x'.repeat(1_000_000), ''],
    ['^[A-Z]{3,}$', 'A'.repeat(10_000_000), ' '],
    ['(?:[a-z]?){240}z$', 'a'.repeat(10_000_000), ''],
  ])('%s ends at once', (source, head, tail) => {
    expect(matches(source, head + tail)).toBe(false);
  });

  /** What these have to remember, which of the last characters were an `a`, makes every character of a random text a new state. */
  const forgetful = ['a[ab]{240}c', '(?:[ab]?){100}a[ab]{100}c', `a.{100}[${Array.from({ length: 200 }, (_, index) => String.fromCodePoint(0x4e00 + 2 * index)).join('')}]{100}c`];
  const noise = (length: number): string => {
    const { fraction } = seededRandom();
    return Array.from({ length }, () => (fraction() < 0.5 ? 'a' : 'b')).join('');
  };

  it.each(forgetful)('%s is not matched at any price, and matched with what takes no time', (source) => {
    expect(matches(source, noise(3_000_000))).toBeUndefined();
    expect(matches(source, noise(10_000))).toBe(false);
    expect(matches(source, noise(3_000_000))).toBeUndefined();
    expect(matches('a[ab]{240}c', `${noise(5_000)}c`)).toBe(true);
  });

  it('matches the same texts again and again, whatever it let go of in between', () => {
    const [source = ''] = forgetful;
    const pattern = patternOf(source);
    if ('fault' in pattern) throw new Error(pattern.fault);
    const texts = Array.from({ length: 20 }, (_, index) => `${noise(3_000).slice(index)}${index % 2 === 0 ? 'c' : 'd'}`);
    const found = (): readonly unknown[] => texts.map((one) => pattern.matches(one));
    const right = texts.map((one) => new RegExp(source, 'u').test(one));
    expect([found(), found(), new Set(right).size]).toEqual([right, right, 2]);
  });
});
