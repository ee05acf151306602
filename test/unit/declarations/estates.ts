// Estates as they are read back, for all that writes them: one that shows every form, and hostile names and documents.
import * as fc from 'fast-check';
import type { WrittenObject } from '../../../src/declarations/writing.js';
import type { Values } from '../../../src/model/index.js';

/** Every kind, references, a masked secret, a comment, empty attributes and a document with what looks like a template. */
export const estate: ReadonlyMap<string, readonly WrittenObject[]> = new Map([
  [
    'accounts',
    [
      {
        name: 'hq',
        id: '1',
        values: { name: 'HQ', account: '9', is_disabled: false, id: '1', resource_url: 'x' },
      },
      { name: 'sub', id: '2', values: { name: 'Sub: "a"', account: '1', is_disabled: true } },
    ],
  ],
  [
    'alert_push_destinations',
    [
      {
        name: 'pager',
        id: 'd-1',
        comments: ['suspended\nsince: yesterday'],
        values: {
          name: 'yes',
          enabled: false,
          endpoint: { url: 'https://x.example/' },
          authentication: { secret: '*' },
          suspended: true,
        },
      },
    ],
  ],
  [
    'alert_rules',
    [
      {
        name: 'r',
        id: 'r-1',
        values: {
          schedule: null,
          associated_accounts: ['1', '7'],
          associated_groups: [],
          filter_criteria: { alert_type__in: [] },
          http_destinations: ['d-1'],
          settings: { a: { b: [1, { c: '${x}' }] } },
        },
      },
    ],
  ],
]);

/** A name of two words of the kinds, an account authorization and a configuration with a mask inside. */
export const adopted: ReadonlyMap<string, readonly WrittenObject[]> = new Map([
  ['accounts', [{ name: 'hq', id: '1', values: { name: 'HQ' } }]],
  ['alert_push_destinations', [{ name: 'hq', id: 'd-1', values: { name: 'HQ', enabled: true } }]],
  [
    'account_authorizations',
    [{ name: 'ada', id: '5', values: { user: '71', account: '1', role: 'administrator' } }],
  ],
  [
    'configuration_managers',
    [
      {
        name: 'gate',
        id: '6',
        values: {
          router: '12',
          suspended: true,
          configuration: [
            {
              system: { name: 'gate', users: { admin: { password: '*' } } },
              'two words': { for: 1, longer: [true, null] },
            },
            [],
          ],
        },
      },
    ],
  ],
]);

/** Texts that mean something to some language or terminal. */
export const hostile: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom(
    'yes',
    '${accounts.x.id}',
    '$${',
    '$$${a}',
    '%{ if true }',
    '%%%{',
    '$',
    '%$%{',
    '"${',
    '\\${',
    '\\u0024{',
    '# x',
    ': ',
    '- a',
    '\u202e',
    '\u0085',
    'null',
    '1e3',
    '\u001b[0m',
    "it's",
    '`',
    '{',
    'a\nb',
    'a\r\n\tb\b\f',
    '\\u0008\\b',
    ' x ',
    'a\u007fb',
    'a\u009bb',
    '.',
    '\u{1f469}\u200d\u{1f4bb}',
    '\u{e0001}',
  ),
);

const key = fc
  .oneof(
    fc.string(),
    fc.constantFrom('for', 'null', 'größe', 'a-b', 'a b', '0', '${x}', '\u{1f469}\u200d\u{1f4bb}'),
  )
  .filter((text) => text !== '__proto__');

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    hostile,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(key, tie('json'), { maxKeys: 3 }),
  ),
}));

/** Documents of plain JSON, without halves of characters, which no file holds. */
export const documents: fc.Arbitrary<Values> = fc
  .dictionary(key, json, { maxKeys: 3 })
  .map(
    (tree) =>
      JSON.parse(JSON.stringify(tree).replaceAll(/\\ud[89a-f][0-9a-f]{2}/gi, '?')) as Values,
  );
