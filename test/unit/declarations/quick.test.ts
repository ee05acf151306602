// The quick reader must give what the full reader gives, or decline.
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { Lexer } from 'yaml';
import { tryQuick } from '../../../src/declarations/yaml/quick-reader.js';
import {
  Word,
  type Marks,
  type Raw,
  type RawDocument,
} from '../../../src/declarations/yaml/raw-values.js';
import { readYaml } from '../../../src/declarations/yaml/reader.js';
import { drawn } from '../../support/drawn.js';

/** Values with every mark beside them, so that equality covers positions too. */
function plainly(value: Raw, marks: Marks): unknown {
  if (value instanceof Word) return { word: String(value) };
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : value;
  const at = marks.get(value);
  const members = Object.entries(value).map(([key, item]) => [
    key,
    at?.get(key),
    plainly(item, marks),
  ]);
  return Array.isArray(value) ? { items: members } : { members };
}

const view = (documents: readonly RawDocument[]): unknown =>
  documents.map(({ root, marks }) => plainly(root, marks));

/** `agrees`, `declines`, or the difference. */
function compare(text: string): unknown {
  const quick = tryQuick(text, Infinity);
  if (!quick) return 'declines';
  const full = readYaml(text, Infinity);
  expect('documents' in full ? view(full.documents) : full.faults, text).toEqual(view(quick));
  // One limit of tokens: where the full reader refuses a text for it, the quick one declines, and hardly ever where it does not.
  const tokens = [...new Lexer().lex(text)].length;
  expect(tokens > 0 && tryQuick(text, Infinity, tokens - 1), text).toBeFalsy();
  expect(tryQuick(text, Infinity, tokens + 1), text).toBeDefined();
  return 'agrees';
}

describe('nasty documents: the quick reader agrees or declines', () => {
  const values = [
    '0o7',
    '0o8',
    '1_000',
    '.5',
    '5.',
    '0x1F',
    '0xG',
    '+1',
    '-1',
    '-0',
    '0',
    '007',
    '1e3',
    '1.50',
    '1.',
    '-.inf',
    '.nan',
    '.NaN',
    '12e03',
    '9007199254740993',
    '123456789012345',
    '1234567890123456',
    '~',
    'null',
    'Null',
    'NULL',
    'nUll',
    'true',
    'True',
    'TRUE',
    'tRUE',
    'yes',
    'No',
    'ON',
    'off',
    'y',
    'n',
    '2026-11-20',
    '2026-11-20T10:00:00Z',
    '10.0.0.1',
    '1.2.3',
    '12:30',
    '12:30:45',
    '- x',
    '-x',
    '-',
    '--',
    '---',
    '--- x',
    '?x',
    '? x',
    ':x',
    ': x',
    'a: b',
    'a:b',
    'a :b',
    'a : b',
    'b:',
    'a #b',
    'a#b',
    '#b',
    ' # b',
    '"a" # b',
    '"a"#b',
    "'a'b",
    "'it''s'",
    '"a\\nb"',
    '"a',
    "'a",
    '"a\\"b"',
    '[a, b]',
    '[a, b,]',
    '[a,, b]',
    '[a b , c ]',
    '[]',
    '[ ]',
    '[,]',
    '[a',
    '[a]]',
    '[a] b',
    '[a] # b',
    '[[a], [b, [c]]]',
    '[a: b]',
    '[a:b]',
    '[a:]',
    '["a": b]',
    '["a":b]',
    '[{a: b}]',
    '[#a]',
    '[a #b]',
    '[a#b]',
    '{a: b}',
    '{a: b, c: d}',
    '{a: b,}',
    '{a:b}',
    '{a}',
    '{a: }',
    '{a: , b: c}',
    '{"a":1}',
    '{"a": 1}',
    "{'a':1}",
    '{"a" : 1}',
    '{a: b, a: c}',
    '{ a: {b: c} }',
    '{a: [b, {c: d}]}',
    '{}',
    '{ }',
    '{a: b} c',
    '{? a: b}',
    '{a: https://x.y/z}',
    '{a: b#c}',
    '{a: ${x}}',
    '[${x}]',
    '${accounts.x.id}',
    '"${accounts.x[\\"a\\"].id}"',
    '${accounts.x["a"].id}',
    '&a b',
    '*a',
    '!t b',
    '!!str b',
    '| ',
    '|',
    '>',
    '>-',
    '@a',
    '`a`',
    '%a',
    'a%b',
    'a, b',
    'a]b',
    'a}b',
    '[a]b]',
    '[a\'b, c"d]',
    '["a" "b"]',
    'été',
    '日本語',
    '😀',
    '\u2028x',
    '\u0085x',
    '\u00a0x',
    'a\u00a0',
    '\uFEFFx',
    'x  ',
    'a  b',
    '<<',
    '<',
    '=',
    '!',
    '"yes"',
    "'null'",
    '[yes, "yes"]',
    '[null, ~]',
    '[-1, - 1]',
    '[-]',
    '[- a]',
    '[?a]',
    '[? a]',
    '[:a]',
    '[::]',
    '[a::b]',
  ];
  const frames = [
    (value: string) => `a: ${value}\n`,
    (value: string) => `a: ${value}`,
    (value: string) => `a:   ${value}   \nb: 1\n`,
    (value: string) => `a:\n  b: ${value}\n  c: 2\nd: 3\n`,
    (value: string) => `a:\n  - ${value}\n  - z\nd: 3\n`,
    (value: string) => `a:\n- ${value}\n- k: ${value}\n  l: 1\nd: 3\n`,
    (value: string) => `a: [x, ${value}, y]\n`,
    (value: string) => `a: { x: ${value}, y: 1 }\n`,
    (value: string) => `${value}: 1\nb: 2\n`,
    (value: string) => `a:\n  ${value}: 1\n`,
    (value: string) => `a: ${value}\r\nb: 1\r\n`,
    (value: string) => `a: ${value}\n  more\nb: 1\n`,
    (value: string) => `a: x # ${value}\n\n  # ${value}\nb: 1\n`,
    (value: string) => `---\na: ${value}\n---\nb: 1\n`,
  ];
  it.each(values)('%s', (value) => {
    for (const make of frames) compare(make(value));
  });

  const whole: readonly (readonly [text: string, verdict: 'agrees' | 'declines'])[] = [
    ['', 'agrees'],
    ['\n\n', 'agrees'],
    ['# only\n', 'agrees'],
    ['---\n', 'agrees'],
    ['---\n---\na: 1\n', 'agrees'],
    ['a: 1\n---\nb: 2\n--- # c\nc: 3', 'agrees'],
    ['a: 1\n...\nb: 2\n', 'declines'],
    ['%YAML 1.2\n---\na: 1\n', 'declines'],
    ['a:\n', 'agrees'],
    ['a:', 'agrees'],
    ['a:\nb:\n', 'agrees'],
    ['a:\n# c\nb: 1', 'agrees'],
    ['a:\n\n\n  b: 1\n\n\nc: 1\n', 'agrees'],
    ['  a: 1\n  b: 2\n', 'agrees'],
    ['  a: 1\nb: 2\n', 'declines'],
    ['a: 1\n b: 2\n', 'declines'],
    ['a:\n    b: 1\n  c: 2\n', 'declines'],
    ['a:\n  b: 1\n c: 2\n', 'declines'],
    ['a: 1\na: 2\n', 'declines'],
    ['a:\n  b: 1\n  b: 2\n', 'declines'],
    ['a:\n- 1\n- 2\nb: 1\n', 'agrees'],
    ['a:\n- 1\n - 2\n', 'declines'],
    ['a:\n  - 1\n - 2\n', 'declines'],
    ['a:\n  - 1\n  b: 2\n', 'declines'],
    ['a:\n  b: 1\n  - 2\n', 'declines'],
    ['- a\n- b\n', 'declines'],
    ['plain\n', 'declines'],
    ['"a": 1\n', 'agrees'],
    ["'a b': 1\n", 'agrees'],
    ['a b: 1\n', 'declines'],
    ['? a\n: b\n', 'declines'],
    ['a : 1\n', 'declines'],
    ['a:b\n', 'declines'],
    ['a: b: c\n', 'declines'],
    ['a: - b\n', 'declines'],
    ['a:\n  - - x\n', 'declines'],
    ['a:\n  -\n    x: 1\n', 'declines'],
    ['a:\n  - b: 1\n    c: 2\n  - b: 3\n', 'agrees'],
    ['a:\n  - b: 1\n     c: 2\n', 'declines'],
    ['a:\n  - b: 1\n   c: 2\n', 'declines'],
    ['a:\n  -   b: 1\n      c: 2\n', 'agrees'],
    ['a:\n  - b:\n    - c\n    - d\n  - e\n', 'agrees'],
    ['a:\n  - b:\n  - c:\n', 'agrees'],
    ['a:\n  - b:\n      c: 1\n', 'agrees'],
    ['a: one\n  two\n', 'declines'],
    ['a: "one\n  two"\n', 'declines'],
    ['a: [1,\n  2]\n', 'declines'],
    ['a:\n  one\n', 'declines'],
    ['a:\tb\n', 'declines'],
    ['a: b\t\n', 'declines'],
    ['\ta: b\n', 'declines'],
    ['a: b # \t\n', 'declines'],
    ['a: |\n  x\n', 'declines'],
    ['a: 1\rb: 2\r', 'declines'],
    ['a: 1\r\n\r\nb:\r\n  c: 2\r\n', 'agrees'],
    ['null: 1\n', 'declines'],
    ['true: 1\n', 'declines'],
    ['1: 1\n', 'declines'],
    ['"1": 1\n', 'agrees'],
    ['__proto__: 1\n', 'declines'],
    ['"__proto__": 1\n', 'declines'],
    ['constructor: 1\n', 'agrees'],
    ['yes: 1\n', 'agrees'],
    ['<<: 1\n', 'declines'],
    ['a: 1\n# c\n  # d\nb: 1\n', 'agrees'],
    ['a: x\n# c\n  y\n', 'declines'],
    ['a:\n  b: 1\n---\na:\n  b: 2\n', 'agrees'],
    ['a: 1\n---', 'agrees'],
    ['a:\n  b: 1\n--- x\n', 'declines'],
    ['---a: 1\n', 'declines'],
    ['a: ---\n', 'agrees'],
    ['a: "x" \n', 'agrees'],
    ['"a:b": 1', 'agrees'],
    ['"a":1\n', 'declines'],
    ["'a''b': 1\n", 'declines'],
    ['-a: 1\n', 'declines'],
    ['a: {b: 1}\n  c: 2\n', 'declines'],
    ['a: "b"\n c: 2\n', 'declines'],
    ['a/b.c-d_e: 1\n', 'agrees'],
    ['a-:\n  b: 1\n', 'agrees'],
  ];
  it.each(whole)('%j %s', (text, verdict) => {
    expect(compare(text)).toBe(verdict);
  });

  it('declines nesting beyond the limit, by blocks and by brackets', () => {
    const deep = (levels: number): string =>
      Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}a:\n`).join('');
    expect(compare(deep(60))).toBe('agrees');
    expect(compare(deep(70))).toBe('declines');
    expect(compare(`a: ${'['.repeat(60)}${']'.repeat(60)}\n`)).toBe('agrees');
    expect(compare(`a: ${'['.repeat(70)}${']'.repeat(70)}\n`)).toBe('declines');
  });
});

describe('generated documents', () => {
  const word = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,6}$/);
  const plain = fc.oneof(
    word,
    fc.integer().map(String),
    fc.constantFrom(
      'true',
      'null',
      '~',
      '1.5',
      'a b',
      'https://x.y:8443/z',
      'a:b',
      'x#y',
      'on',
      '"q: #"',
      "'s, ]'",
      '""',
      '2026-01-01',
      '${accounts.x.id}',
      '- 1',
      '1_0',
      'a: b',
      '.5',
    ),
  );
  const flowPlain = fc.oneof(
    word,
    fc.constantFrom('1', '-2.5', 'true', '"a, b"', "'c'", 'a b', 'x:y', 'null'),
  );
  const { flow } = fc.letrec<{ flow: string }>((tie) => ({
    flow: fc.oneof(
      { maxDepth: 3 },
      flowPlain,
      fc.array(tie('flow'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      fc
        .array(fc.tuple(word, tie('flow')), { maxLength: 3 })
        .map((items) => `{ ${items.map(([key, item]) => `${key}: ${item}`).join(', ')} }`),
    ),
  }));
  const ending = fc.constantFrom('', '', '', '  ', ' # note', '\n', '\n  # note: x\n');
  type Lines = readonly string[];
  const { block } = fc.letrec<{ block: Lines }>((tie) => ({
    block: fc
      .array(
        fc.oneof(
          { maxDepth: 3 },
          fc
            .tuple(word, fc.oneof(plain, flow), ending)
            .map(([key, value, end]): Lines => [`${key}: ${value}${end}`]),
          fc
            .tuple(
              word,
              fc.array(fc.oneof(plain, flow), { maxLength: 3 }),
              fc.constantFrom('', '  '),
            )
            .map(([key, items, margin]): Lines => [
              `${key}:`,
              ...items.map((item) => `${margin}- ${item}`),
            ]),
          fc
            .tuple(word, tie('block'), fc.constantFrom('  ', '    ', ' '))
            .map(([key, inner, margin]): Lines => [
              `${key}:`,
              ...inner.map((line) => margin + line),
            ]),
          fc
            .tuple(word, fc.array(tie('block'), { maxLength: 2 }))
            .map(([key, items]): Lines => [
              `${key}:`,
              ...items.flatMap((lines) =>
                lines.map((line, index) => (index === 0 ? `  - ${line}` : `    ${line}`)),
              ),
            ]),
        ),
        { minLength: 1, maxLength: 4 },
      )
      .map((parts) => parts.flat()),
  }));

  test('equal values at equal places', () => {
    let agreed = 0;
    fc.assert(
      fc.property(block, fc.constantFrom('\n', '\r\n'), (lines, end) => {
        if (compare(lines.join(end)) === 'agrees') agreed += 1;
      }),
      { numRuns: drawn(1500) },
    );
    expect(agreed).toBeGreaterThan(300);
  });

  test('the same with a random change', () => {
    fc.assert(
      fc.property(
        block,
        fc.nat(),
        fc.constantFrom(
          '',
          ' ',
          '\n',
          ':',
          '-',
          '"',
          '#',
          ',',
          '[',
          '}',
          "'",
          '&',
          '\t',
          '  ',
          '- ',
        ),
        fc.boolean(),
        (lines, seed, piece, replaces) => {
          const text = lines.join('\n');
          const at = seed % (text.length + 1);
          compare(text.slice(0, at) + piece + text.slice(at + (replaces ? 1 : 0)));
        },
      ),
      { numRuns: drawn(3000) },
    );
  });
});
