// Patterns of expectations: which are taken, what they mean, and that no pair of pattern and text holds a run up.
import { describe, expect, it } from 'vitest';
import { patternFault } from '../../../src/expressions/schema-options.js';
import { conformity } from '../../../src/reconciler/audit/expectation-schema.js';

const matches = (pattern: string, text: string): boolean =>
  conformity({ properties: { a: { pattern } } })({ a: text }) === undefined;

describe('a pattern', () => {
  it.each([
    ['(a)\\1', 'invalid escape sequence: `\\1`'],
    ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
    ['a{3,2}', 'invalid repeat count: `{3,2}`'],
    ['*a', 'missing argument to repetition operator: `*`'],
    ['(a', 'missing closing ): `(a`'],
    ['[b-a]', 'invalid character class range: `b-a`'],
    ['x'.repeat(501), 'it is longer than 500 characters'],
    ['(?:a{100}){100}', 'invalid repeat count: `{100}`'],
    ['(?:[ab]{900})(?:[ab]{900})', 'with its repetitions written out it is too long'],
  ])('%s is refused: %s', (source, why) => {
    expect(patternFault(source)).toBe(why);
  });

  it.each<[pattern: string, text: string, matched: boolean]>([
    ['b', 'abc', true],
    ['^b', 'abc', false],
    ['^[A-Z]{3}-\\d+$', 'ABC-12', true],
    ['^[A-Z]{3}-\\d+$', 'ABC-12\n', false],
    ['^(?:north|south)$', 'south', true],
    ['\\u0062', 'b', true],
    ['\\/', 'a/b', true],
    ['\\bword\\b', 'a word here', true],
    ['^\\p{Lu}', 'Éa', true],
    ['^.$', '😀', true],
    ['(?<year>\\d{4})', 'in 2026', true],
  ])('%s of %j: %s', (pattern, text, matched) => {
    expect([patternFault(pattern), matches(pattern, text)]).toEqual([undefined, matched]);
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
  ])('%s ends at once', (source, head, tail) => {
    expect(matches(source, head + tail)).toBe(false);
  });
});
