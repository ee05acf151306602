// Numbers of any length, anywhere in a body: what is read is what is written again, or a double that holds every digit.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExactNumber, needsExact, parseJson, wireText } from '../../../src/model/index.js';
import { drawn } from '../../support/drawn.js';

const digits = (least: number, most: number) =>
  fc.stringMatching(new RegExp(`^[0-9]{${least},${most}}$`));
const whole = fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,25}$/));
const numbers = fc
  .tuple(
    fc.boolean(),
    whole,
    fc.option(digits(1, 25)),
    fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'e-', 'E-'), digits(1, 4))),
  )
  .map(
    ([minus, units, fraction, power]) =>
      `${minus ? '-' : ''}${units}${fraction === null ? '' : `.${fraction}`}${power === null ? '' : power.join('')}`,
  );

/** The value of a number in lowest terms, by whole-number arithmetic alone. */
function valueOf(token: string): string {
  const [mantissa = '', power = '0'] = token.toLowerCase().split('e');
  const [units = '', fraction = ''] = mantissa.split('.');
  let [digits, exponent] = [BigInt(units + fraction), Number(power) - fraction.length];
  if (digits === 0n) return '0';
  while (digits % 10n === 0n) [digits, exponent] = [digits / 10n, exponent + 1];
  return `${digits}e${exponent}`;
}

describe('numbers that a double cannot hold', () => {
  it.each<[string, boolean]>([
    ['1735689600.123456789', true],
    ['123456789012345.678', true],
    ['12345678.12345678901', true],
    ['0.1234567890123456789', true],
    ['9007199254740993', true],
    ['9007199254740994', true],
    ['-9007199254740993', true],
    ['1e400', true],
    ['1e-400', true],
    ['4e-324', true],
    ['9007199254740991', false],
    ['1735689600.123456', false],
    ['0.30000000000000004', false],
    ['1.0000000000000000', false],
    ['0e-400', false],
    ['-0', false],
    ['1e5', false],
    ['12.50', false],
    ['5e-324', false],
    ['twelve', false],
    ['', false],
    ['0x10', false],
    ['007', false],
  ])('%s: %s', (text, exact) => {
    expect([needsExact(text), exact && parseJson(text)]).toEqual([
      exact,
      exact && new ExactNumber(text),
    ]);
  });

  it('come out as they went in, wherever they stand', () => {
    const spaces = fc.constantFrom('', ' ', '\n  ', '\t');
    const places = fc.constantFrom<(number: string, space: string) => string>(
      (number) => number,
      (number, space) => `{"a":${space}${number}${space}}`,
      (number, space) => `[${space}${number},${space}${number}]`,
      (number, space) =>
        `{"1.5e400":"9007199254740993, \\"${number}\\"",${space}"b":[{"c":${number}}]}`,
    );
    fc.assert(
      fc.property(numbers, places, spaces, (number, place, space) => {
        const text = place(number, space);
        const out = wireText(parseJson(text));
        const tokens = (one: string): readonly string[] =>
          one.match(/-?\d[\d.]*(?:[eE][+-]?\d+)?/g) ?? [];
        const [given, got] = [tokens(text), tokens(out)];
        const held = (token: string, other: string): boolean =>
          token === other || (Number(token) === Number(other) && valueOf(token) === valueOf(other));
        expect(got.map((other, index) => held(given[index] as string, other))).toEqual(
          given.map(() => true),
        );
      }),
      { numRuns: drawn(2000) },
    );
  });

  it('stand beside texts that hold whatever a text may', () => {
    const beside = ['\u0000', '\u0000\u00001', '\\u0000', '']
      .map((one) => [one, `${one}9007199254740993`])
      .flat();
    const read = parseJson(`[9007199254740993,${JSON.stringify(beside)}]`);
    expect(read).toEqual([new ExactNumber('9007199254740993'), beside]);
    expect(wireText(read)).toBe(`[9007199254740993,${JSON.stringify(beside)}]`);
  });

  it('are written in lines as any other', () => {
    const made = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.string(),
        fc.integer(),
        fc.constant(null),
        fc.boolean(),
        fc.array(tie('tree')),
        fc.dictionary(fc.string(), tie('tree')),
      ),
    })).tree;
    fc.assert(
      fc.property(made, fc.constantFrom(0, 2), (value, indent) => {
        const beside = [value, { a: value, b: undefined }];
        expect(wireText([new ExactNumber('9007199254740993'), beside], indent)).toBe(
          JSON.stringify(['n', beside], null, indent).replace('"n"', '9007199254740993'),
        );
      }),
    );
  });
});

it.each([
  '__proto__',
  '\\u005f_proto__',
  '__pr\\u006fto__',
  '\\u005F\\u005F\\u0070\\u0072\\u006F\\u0074\\u006F\\u005F_',
])('of a member %s only the name is read', (name) => {
  const read = parseJson(`{"a":[{"${name}":{"evil":1},"b":2}]}`) as {
    readonly a: readonly object[];
  };
  expect(Object.getOwnPropertyNames(read.a[0])).toEqual(['b', '__proto__ (not read)']);
  expect((read.a[0] as { evil?: unknown }).evil).toBeUndefined();
});
