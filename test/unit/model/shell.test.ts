// A word in a printed command reaches the program as it is, whatever it holds.
import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalAddress, formatAddress, shellWord } from '../../../src/model/index.js';
import { drawn } from '../../support/drawn.js';

const received = (words: readonly string[]): readonly string[] =>
  execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${words.map(shellWord).join(' ')}`], {
    encoding: 'utf8',
  })
    .split('\0')
    .slice(0, -1);

const nasty = [
  '',
  ' ',
  'a b',
  "it's",
  "'",
  "''",
  '$HOME',
  '$(id)',
  '`id`',
  '"',
  '\\',
  '\\n',
  '~',
  '*',
  '!x',
  '#x',
  '-n',
  'a;b',
  'a&b',
  'a|b',
  'a>b',
  'a\nb',
  '{a,b}',
  'ü',
  '[a]',
  '=a',
];

test.each(nasty)('%j', (word) => expect(received([word, word])).toEqual([word, word]));

test('what needs no quotes has none', () =>
  expect(['alert_rules.wan-down', 'a@b', './x/y.yaml'].map(shellWord)).toEqual([
    'alert_rules.wan-down',
    'a@b',
    './x/y.yaml',
  ]));

test('zsh takes a word that begins with = for the path of a program', () =>
  expect(['=x.yaml', 'a=x'].map(shellWord)).toEqual(["'=x.yaml'", 'a=x']));

test('any words', () => {
  const word = fc
    .string({ unit: 'binary' })
    .filter((text) => !text.includes('\0') && text.isWellFormed());
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), (words) => {
      expect(received(words)).toEqual(words);
    }),
    { numRuns: drawn(200) },
  );
});

test('an address means the same however its key is escaped', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (key) => {
      const address = formatAddress({ kind: 'a', name: 'b', key });
      expect(canonicalAddress(address)).toBe(address);
    }),
  );
  expect(canonicalAddress('a.b["\\u0078\\u202e"]')).toBe('a.b["x\u202e"]');
  expect(['a.b', 'what is this', 'a.b["x]'].map(canonicalAddress)).toEqual([
    'a.b',
    'what is this',
    'a.b["x]',
  ]);
});
