// The language inside texts: reading and writing are each other's reverse, and nothing filled in becomes an expression.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeText, partsOf, textOf } from '../../../src/declarations/reference-syntax.js';
import { drawn } from '../../support/drawn.js';

const piece = fc.constantFrom(
  '$',
  '{',
  '}',
  '${',
  '$${',
  '"',
  '\\',
  'a',
  '.',
  '${accounts.a.id}',
  '${var.x}',
  '${accounts.a["k}"].id}',
  '${"$"}',
  '${""}',
  '[',
  ']',
  ' ',
);
const source = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));

describe('the language of texts', () => {
  it('reads back what it writes', () => {
    fc.assert(
      fc.property(
        source,
        (text) => void expect(partsOf(textOf(partsOf(text)))).toEqual(partsOf(text)),
      ),
      { numRuns: drawn(2000) },
    );
  });

  it('escapes any text into itself', () => {
    fc.assert(
      fc.property(
        fc.oneof(source, fc.string()),
        (text) => void expect(partsOf(escapeText(text))).toEqual([text]),
      ),
      { numRuns: drawn(2000) },
    );
  });

  it('keeps literals literal beside whatever else', () => {
    fc.assert(
      fc.property(source, source, (a, b) => {
        const expression = partsOf('${accounts.a.id}')[0] as Exclude<
          ReturnType<typeof partsOf>[number],
          string
        >;
        expect(partsOf(textOf([a, expression, b]))).toEqual(
          a + b === '' ? ['', expression] : [a, expression, b].filter((part) => part !== ''),
        );
      }),
      { numRuns: drawn(2000) },
    );
  });

  const KEYS = 'Write the key in quotes, as in `["a"]`, or `[each.key]`.';
  it.each([
    ['${var.a-b}', { from: 'var', name: 'a-b' }],
    ['${ env.HOME }', { from: 'env', name: 'HOME' }],
    ['${each.value.a.b}', { from: 'each', path: ['value', 'a', 'b'] }],
    ['${secret.file./run/x.y z}', { from: 'secret', source: 'file', name: '/run/x.y z' }],
    ['${lookups.hq.id}', { from: 'lookup', name: 'hq', attribute: 'id' }],
    [
      '${accounts.a["b.c"].id}',
      { from: 'declared', kind: 'accounts', name: 'a', index: { key: 'b.c' }, attribute: 'id' },
    ],
    ['${accounts.a[each.key].id}', { from: 'declared', index: { each: ['key'] } }],
    ['${accounts.a[b].id}', { from: 'nowhere', detail: KEYS }],
    [
      '${accounts.a[param.b].id}',
      {
        from: 'nowhere',
        summary: '`param.b` cannot be the key in a reference',
        detail:
          'Give the whole reference to the template where it is used, as in `with: { b: \'${accounts.a["a"].id}\' }`. Here, write `${param.b}`.',
      },
    ],
    [
      '${accounts.a[var.b].id}',
      {
        from: 'nowhere',
        summary: '`var.b` cannot be the key in a reference',
        detail: 'Write the key in quotes, as in `["a"]`, or `[each.key]` beside a `for_each`.',
      },
    ],
    ['${accounts.a["b].id}', { from: 'nowhere' }],
    ['${var.a.0.b-c}', { from: 'var', name: 'a', path: ['0', 'b-c'] }],
    ['${var.a..b}', { from: 'nowhere' }],
    ['${var.}', { from: 'nowhere' }],
    ['${var.1}', { from: 'nowhere' }],
    ['${each.other}', { from: 'nowhere' }],
    ['${secret.env.A-B}', { from: 'nowhere' }],
    ['${}', { from: 'nowhere' }],
    ['${', { from: 'nowhere' }],
  ])('%s', (text, expected) => {
    expect(partsOf(text)).toMatchObject([expected]);
  });
});
