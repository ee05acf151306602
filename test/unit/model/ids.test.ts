// Which texts name an object, and which one: said once for what is declared, read, and checked by an editor.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IDENTIFYING, idOf } from '../../../src/model/index.js';
import { drawn } from '../../support/drawn.js';

it.each([
  ['https://any.host/api/v2/accounts/123/', '123'],
  ['/accounts/123/', '123'],
  ['accounts/0a-b', '0a-b'],
  ['007', '7'],
  ['0', '0'],
  [' 7\n', '7'],
  ['https://x/7?limit=1#a', '7'],
  ['x?/8/', 'x'],
  ['', null],
  [' ', null],
  ['/', null],
  ['/ /', null],
  ['?', null],
  ['#7', null],
  ['/?id=7', null],
  ['https://x/', null],
  ['https://x', null],
  ['https://x//?id=7', null],
])('%j identifies %j', (text, id) => {
  expect(idOf(text)).toBe(id);
});

it('is the same for a schema as for us, and takes no longer for odd texts', () => {
  const odd = fc
    .array(fc.constantFrom('/', ' ', '?', '#', '0', 'a', ':', 'http://', '\n', '${'), {
      maxLength: 12,
    })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(
      odd,
      (text) =>
        new RegExp(IDENTIFYING, 'u').test(text) === (idOf(text) !== null) && idOf(text) !== '',
    ),
    { numRuns: drawn(2000) },
  );
  for (const part of ['/', ' ', '/ ', 'a://'])
    expect(idOf(`https://${part.repeat(100_000)}x`)).toBe('x');
});
