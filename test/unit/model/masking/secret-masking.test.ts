// Values of secrets are masked in every text, members of documents by their names; names, addresses and words stay.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isSecretName,
  maskingOf,
  Reference,
  Secret,
  SENSITIVE,
  Template,
  type Masking,
} from '../../../../src/model/index.js';
import { drawn } from '../../../support/drawn.js';
import { breaks, encodings, escapes } from '../../../support/encodings.js';

let count = 0;
const knowing = (...values: readonly (string | undefined)[]): Masking => {
  const masking = maskingOf();
  for (const value of values) masking.add(new Secret(`env.S${(count += 1)}`, () => value));
  return masking;
};

describe('a text', () => {
  it.each([
    ['a value inside it', 'long-enough', 'a long-enough b', 'a (sensitive) b'],
    ['several', 'long-enough', 'long-enoughlong-enough long-enough', '(sensitive) (sensitive)'],
    ['the whole of it', 'long-enough', 'long-enough', '(sensitive)'],
    ['eight characters', '12345678', 'x12345678x', 'x(sensitive)x'],
    ['seven characters inside it', '1234567', 'x1234567x', 'x1234567x'],
    ['seven characters as the whole', '1234567', '1234567', '(sensitive)'],
    ['one character as the whole', 'x', 'x', '(sensitive)'],
    [
      'a value with blanks around, without them',
      ' padded-value\n',
      'a padded-value b',
      'a (sensitive) b',
    ],
    ['JSON inside it', 'quote"and\\slash', '{"a":"quote\\"and\\\\slash"}', '{"a":"(sensitive)"}'],
    ['JSON with escapes', 'schlüssel-wort', '"schl\\u00fcssel-wort"', '"(sensitive)"'],
    ['a query', 'a&b c/d=e', '?k=a%26b%20c%2Fd%3De&x', '?k=(sensitive)&x'],
    ['a form', 'a&b c/d=e', 'k=a%26b+c%2Fd%3De', 'k=(sensitive)'],
    [
      'HTML',
      'a<b>&\'c"',
      'a&lt;b&gt;&amp;&#39;c&quot; a&lt;b&gt;&amp;&#x27;c&quot;',
      '(sensitive) (sensitive)',
    ],
    [
      'HTML with character references of every form',
      'a<b>&\'c"',
      'a&#60;b&#62;&#38;&#39;c&#34; a&#x3c;b&#x3e;&#x26;&#x27;c&#x22; a&#x3C;b&#x3E;&#x26;&apos;c"',
      '(sensitive) (sensitive) (sensitive)',
    ],
    [
      'HTML in which a quote alone is a reference',
      'quote"and&and',
      'quote&#34;and&amp;and quote"and&amp;and quote&#x22;and&and',
      '(sensitive) (sensitive) (sensitive)',
    ],
    [
      'JSON as Go writes it',
      'a<b>&c"d\\e',
      '{"a":"a\\u003cb\\u003e\\u0026c\\"d\\\\e"} {\\"a\\":\\"a\\\\u003cb\\\\u003e\\\\u0026c\\\\\\"d\\\\\\\\e\\"}',
      '{"a":"(sensitive)"} {\\"a\\":\\"(sensitive)\\"}',
    ],
    [
      'character references with zeros in front',
      'a<b>&\'c"',
      'a&#060;b&#062;&#038;&#039;c&#034; a&#0060;b&#0062;&#0038;&#0039;c&#0034; a&#00060;b&#00062;&#00038;&#00039;c&#00034; a&#x03c;b&#x03e;&#x026;&#x027;c&#x022; a&#x003C;b&#x003E;&#x0026;&#x0027;c&#x0022;',
      '(sensitive) (sensitive) (sensitive) (sensitive) (sensitive)',
    ],
    [
      'character references with as many zeros as are read',
      'a&b&cdefgh',
      'a&#38;b&#38;cdefgh a&#x26;b&#x26;cdefgh a&#0000038;b&#0000038;cdefgh a&#x000026;b&#x000026;cdefgh',
      '(sensitive) (sensitive) (sensitive) (sensitive)',
    ],
    [
      'JSON inside JSON inside it',
      'quote"and\\schlüssel',
      JSON.stringify({ sent: JSON.stringify({ a: 'quote"and\\schlüssel' }) }),
      '{"sent":"{\\"a\\":\\"(sensitive)\\"}"}',
    ],
    [
      'JSON with escapes inside JSON',
      'schlüssel-wort',
      '"{\\"a\\":\\"schl\\\\u00fcssel-wort\\"}"',
      '"{\\"a\\":\\"(sensitive)\\"}"',
    ],
    ['base64', 'long-enough', 'Basic bG9uZy1lbm91Z2g=', 'Basic (sensitive)'],
    ['nothing', 'long-enough', 'long enough', 'long enough'],
    ['nothing of an empty value', '', 'anything at all', 'anything at all'],
    ['nothing of blanks', '          ', 'a          b', 'a          b'],
  ])('is masked where it holds %s', (_, value, text, masked) => {
    expect(knowing(value).text(text)).toBe(masked);
  });

  it('is masked by what was added later, and by nothing that is not there', () => {
    const masking = knowing(undefined, 'first-value');
    expect(masking.text('first-value second-value')).toBe('(sensitive) second-value');
    masking.add(new Secret('file.later', () => 'second-value'));
    expect(masking.text('first-value second-value')).toBe('(sensitive) (sensitive)');
  });

  it('asks each source once, and before nothing was looked at not at all', () => {
    let asked = 0;
    const masking = maskingOf();
    for (let index = 0; index < 3; index += 1)
      masking.add(new Secret('env.A', () => ((asked += 1), 'a-value-of-it')));
    expect(asked).toBe(0);
    masking.text('a text');
    masking.text('a-value-of-it');
    expect(asked).toBe(1);
  });

  it('is masked by what a source holds now and by what it held before', () => {
    const masking = maskingOf();
    for (const value of ['first-value', 'second-value']) {
      masking.add(new Secret('file.rotated', () => value));
      expect(masking.text(value)).toBe(SENSITIVE);
    }
    expect(masking.text('first-value')).toBe(SENSITIVE);
  });

  it.each(Object.entries(encodings))('holds no value in %s', (_, encode) => {
    const value = `Zq7/+t&x<"'é=pw!*~`;
    const masked = knowing(value).text(`bad: ${encode(value)} end`);
    expect(masked).toMatch(/^bad: .{0,12}\(sensitive\).{0,2} end$/);
  });

  const key = '-----BEGIN KEY-----\nabcdefghijklmnop\nqrstuvwxyz+/2345\n-----END KEY-----\n';

  it.each(Object.entries(breaks))('holds no line of a value with %s', (_, broken) => {
    for (const encode of [escapes['no escape']!, escapes['JSON']!, escapes['a form']!]) {
      const masked = knowing(key).text(`got ${encode(broken(key))}.`);
      expect(masked).toContain(SENSITIVE);
      for (const line of key.trim().split('\n')) {
        expect(masked).not.toContain(encode(line));
      }
    }
  });

  it('is masked by a line of eight characters, and by no shorter one', () => {
    expect(knowing('first-line\nshort\n  12345678').text('first-line, short, 12345678')).toBe(
      '(sensitive), short, (sensitive)',
    );
  });

  it('is left as it is around an escape that stands for several characters, and for what is none', () => {
    const masking = knowing('a-secret-😀', 'long "enough" words');
    expect(masking.text('%zz &x; \\q %F0%9F%98%80a-secret-%F0%9F%98%80%F0%9F%98%80')).toBe(
      '%zz &x; \\q %F0%9F%98%80(sensitive)%F0%9F%98%80',
    );
    expect(masking.text('a%20b&amp;c\nd %C3 %E9 &#0; &#x110000; \\u{110000}')).toBe(
      'a%20b&amp;c\nd %C3 %E9 &#0; &#x110000; \\u{110000}',
    );
    expect(masking.text('long+%22enough%22\r\n words&#46;')).toBe('(sensitive)&#46;');
  });

  it('holds no value of eight characters, whatever escapes were applied one after another', () => {
    const value = fc
      .string({
        unit: fc.constantFrom(...Array.from('abu026&<>"\'\\/%+=;#-! \né\u{1f600}'), '&amp;', '%41'),
        minLength: 8,
        maxLength: 20,
      })
      .map((one) => one.trim())
      .filter((one) => one.replace(/[\s+]+/g, ' ').length >= 8);
    const escape = fc.constantFrom(...Object.values(escapes));
    const encoded = fc.tuple(fc.constantFrom(...Object.values(breaks).slice(0, 4)), escape, escape);
    fc.assert(
      fc.property(fc.array(fc.tuple(value, encoded), { minLength: 1, maxLength: 3 }), (secrets) => {
        const masking = knowing(...secrets.map(([one]) => one));
        const texts = secrets.map(([one, [broken, first, second]]) => second(first(broken(one))));
        expect(masking.text(`x:${texts.join('|')}:y`)).toBe(
          `x:${texts.map(() => SENSITIVE).join('|')}:y`,
        );
      }),
      { numRuns: drawn(500) },
    );
  });
});

describe('a value', () => {
  const masking = knowing('long-enough');

  it.each([
    [
      'texts at any depth',
      { a: ['x long-enough', { b: 'long-enough' }] },
      { a: ['x (sensitive)', { b: SENSITIVE }] },
    ],
    ['no names of members', { 'long-enough': 1 }, { 'long-enough': 1 }],
    [
      'members that are named as secrets',
      {
        password: 'x',
        wpa_psk: 5,
        'admin-password': 'y',
        n: { sharedKey: ['a'] },
        token: { a: 1 },
      },
      {
        password: SENSITIVE,
        wpa_psk: SENSITIVE,
        'admin-password': SENSITIVE,
        n: { sharedKey: SENSITIVE },
        token: SENSITIVE,
      },
    ],
    [
      'nothing that says nothing',
      { password: '', psk: null, secret: '*', token: false, api_key: {}, passwd: [] },
      { password: '', psk: null, secret: '*', token: false, api_key: {}, passwd: [] },
    ],
    [
      'nothing else',
      { a: 1, b: true, c: null, d: 'short' },
      { a: 1, b: true, c: null, d: 'short' },
    ],
  ])('is masked in %s', (_, value, masked) => {
    expect(masking.value(value)).toEqual(masked);
    expect(masking.value(value) === value).toBe(JSON.stringify(value) === JSON.stringify(masked));
  });

  it('keeps references, and masks texts around them', () => {
    const reference = new Reference('declared', 'accounts.a', 'name');
    expect(masking.value({ a: reference })).toEqual({ a: reference });
    expect(masking.value({ a: new Template(['x long-enough ', reference]) })).toEqual({
      a: new Template(['x (sensitive) ', reference]),
    });
    expect([
      masking.holds({ a: [1, 'a long-enough b'] }),
      masking.holds({ 'long-enough': 'x', password: 'x' }),
    ]).toEqual([true, false]);
  });
});

describe('what is said', () => {
  const masking = knowing('long-enough', 'update');

  it.each([
    [
      'a diagnostic, but for the address that it speaks of',
      {
        severity: 'error',
        code: 'long-enough',
        summary: 'accounts.long-enough: long-enough',
        detail: 'import accounts.long-enough',
        address: 'accounts.long-enough',
        attribute: 'long-enough',
        frame: 'x: long-enough',
      },
      {
        severity: 'error',
        code: 'long-enough',
        summary: `accounts.long-enough: ${SENSITIVE}`,
        detail: 'import accounts.long-enough',
        address: 'accounts.long-enough',
        attribute: 'long-enough',
        frame: `x: ${SENSITIVE}`,
      },
    ],
    [
      'a change',
      {
        address: 'accounts.long-enough',
        name: 'long-enough',
        origin: { file: 'long-enough.yaml', line: 1, column: 1 },
        change: {
          actions: ['update'],
          before: { name: 'a long-enough', psk: 'p', n: 1 },
          after: null,
          before_sensitive: { s: true },
          after_sensitive: {},
          importing: { id: 'long-enough' },
        },
        reason: 'long-enough',
        patch: [
          { op: 'replace', path: '/configuration/0/api-key', value: 'k' },
          { op: 'add', path: '/long-enough', value: 'long-enough' },
        ],
        requests: [
          { method: 'PUT', path: '/long-enough/', body: { password: 'x', name: 'update' } },
        ],
      },
      {
        address: 'accounts.long-enough',
        name: 'long-enough',
        origin: { file: 'long-enough.yaml', line: 1, column: 1 },
        change: {
          actions: ['update'],
          before: { name: 'a (sensitive)', psk: SENSITIVE, n: 1 },
          after: null,
          before_sensitive: { s: true, name: true, psk: true },
          after_sensitive: {},
          importing: { id: SENSITIVE },
        },
        reason: SENSITIVE,
        patch: [
          { op: 'replace', path: '/configuration/0/api-key', value: SENSITIVE },
          { op: 'add', path: '/long-enough', value: SENSITIVE },
        ],
        requests: [
          { method: 'PUT', path: '/long-enough/', body: { password: SENSITIVE, name: SENSITIVE } },
        ],
      },
    ],
    [
      'a difference by its path',
      { path: 'configuration.0.wan.psk', declared: 'a', applied: null, live: '*' },
      { path: 'configuration.0.wan.psk', declared: SENSITIVE, applied: null, live: '*' },
    ],
    [
      'a role, an actor and an event',
      [
        { user: 'long-enough', address: 'a.long-enough', declared: 'long-enough' },
        { changed_by: { actor: 'long-enough', before: { token: 't' } } },
        {
          type: 'end',
          outcome: {
            outcome: 'done',
            action: 'update',
            id: '7',
            diagnostic: { summary: 'long-enough' },
          },
        },
      ],
      [
        { user: SENSITIVE, address: 'a.long-enough', declared: SENSITIVE },
        { changed_by: { actor: SENSITIVE, before: { token: SENSITIVE } } },
        {
          type: 'end',
          outcome: {
            outcome: 'done',
            action: 'update',
            id: '7',
            diagnostic: { summary: SENSITIVE },
          },
        },
      ],
    ],
  ])('is masked: %s', (_, said, masked) => {
    expect(masking.said<unknown>(said)).toEqual(masked);
  });

  it('stays the same object where there is nothing to mask', () => {
    const said = { diagnostics: [{ summary: 'fine' }], generated_from: { paths: ['.'] } };
    expect(masking.said(said)).toBe(said);
  });
});

describe('names of secrets', () => {
  it.each(
    [
      'password',
      'Password',
      'admin_password',
      'admin-password',
      'adminPassword',
      'PASSWD',
      'passphrase',
      'wifi.passphrase',
      'secret',
      'client_secret',
      'psk',
      'wpa_psk',
      'wpa-psk',
      'token',
      'accessToken',
      'private_key',
      'privateKey',
      'private-key',
      'PRIVATEKEY',
      'shared_key',
      'sharedKey',
      'api_key',
      'apikey',
      'API-KEY',
      'x_api_key',
    ].map((name) => [name, true] as const),
  )('%s: %s', (name, is) => expect(isSecretName(name)).toBe(is));

  it.each(
    [
      'password_length',
      'secretary',
      'tokens',
      'token_count',
      'key',
      'keys',
      'public_key',
      'psk_enabled',
      'passwords',
      'apikeys',
      'name',
      '',
    ].map((name) => [name, false] as const),
  )('%s: %s', (name, is) => expect(isSecretName(name)).toBe(is));
});
