// The codec against bytes that terraform writes, against itself, and against bytes that nobody should write.
import { decode as unpack, encode as pack } from '@msgpack/msgpack';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExactNumber, parseJson } from '../../../src/model/index.js';
import {
  CtyError,
  decode,
  encode,
  fromJson,
  NOT_NULL,
  Unknown,
  type CtyType,
  type CtyValue,
} from '../../../src/terraform/protocol/cty.js';
import { drawn } from '../../support/drawn.js';

const bytes = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const from = (type: CtyType, msgpack: Uint8Array): CtyValue =>
  decode(type, { msgpack, json: new Uint8Array() });
const hex = (type: CtyType, value: CtyValue): string =>
  Buffer.from(encode(type, value)).toString('hex');

describe('bytes as core writes them', () => {
  const rows: readonly (readonly [what: string, type: CtyType, hex: string, value: CtyValue])[] = [
    ['null', 'string', 'c0', null],
    ['a flag', 'bool', 'c3', true],
    ['a text', 'string', 'a3 61 62 63', 'abc'],
    ['an integer', 'number', 'cd 01 00', 256],
    ['a negative integer', 'number', 'd1 ff 00', -256],
    [
      'an integer beyond a double',
      'number',
      'cf 00 20 00 00 00 00 00 01',
      new ExactNumber('9007199254740993'),
    ],
    [
      'an integer beyond 64 bits',
      'number',
      'b6 31303030303030303030303030303030303030303030',
      new ExactNumber('1000000000000000000000'),
    ],
    ['a decimal', 'number', 'a3 30 2e 31', 0.1],
    [
      'a decimal beyond a double',
      'number',
      'b4 302e313233343536373839303132333435363738',
      new ExactNumber('0.123456789012345678'),
    ],
    ['unknown', 'string', 'd4 00 00', new Unknown()],
    ['unknown, not null', 'string', 'c7 03 0c 81 01 c2', new Unknown(NOT_NULL)],
    [
      'unknown with a prefix',
      'string',
      'd7 0c 82 01 c2 02 a3 61 72 6e',
      new Unknown(Uint8Array.from(bytes('82 01 c2 02 a3 61 72 6e'))),
    ],
    ['a list', ['list', 'bool'], '92 c3 c2', [true, false]],
    ['a map', ['map', 'number'], '81 a1 61 01', { a: 1 }],
    [
      'an object',
      ['object', { a: 'bool', b: 'string' }],
      '82 a1 61 c3 a1 62 c0',
      { a: true, b: null },
    ],
  ];
  it.each(rows)('%s', (_, type, written, value) => {
    expect(from(type, bytes(written))).toEqual(value);
    expect(hex(type, value)).toBe(written.replaceAll(' ', ''));
  });
});

describe('numbers as core may write them, and we do not', () => {
  const double = (value: number): Uint8Array => {
    const out = Buffer.alloc(9);
    out[0] = 0xcb;
    out.writeDoubleBE(value, 1);
    return out;
  };
  const rows: readonly (readonly [double: number, value: number | ExactNumber])[] = [
    [0.5, 0.5],
    [-2.25, -2.25],
    [-0, 0],
    [3, 3],
    [2 ** 70, new ExactNumber('1180591620717411303424')],
    [0.1, new ExactNumber('0.1000000000000000055511151231257827021181583404541015625')],
  ];
  it.each(rows)('the double %d has these digits and no others', (value, digits) =>
    expect(from('number', double(value))).toEqual(digits),
  );
  it.each([Number.NaN, Infinity, -Infinity])('%d is refused both ways', (value) => {
    expect(() => from('number', double(value))).toThrow(CtyError);
    expect(() => encode('number', value)).toThrow(CtyError);
  });
});

describe('values that do not fit', () => {
  const shape: CtyType = ['object', { name: 'string', tags: ['map', ['list', 'number']] }];
  const rows: readonly (readonly [what: string, raw: unknown, path: unknown, says: RegExp])[] = [
    ['a missing attribute', { name: 'a' }, ['tags'], /missing/],
    ['an attribute too many', { name: 'a', tags: null, color: 1 }, ['color'], /no such/],
    ['a number for a text', { name: 1, tags: null }, ['name'], /string is expected/],
    ['a text for a map', { name: 'a', tags: 'b' }, ['tags'], /object is expected/],
    [
      'deep inside',
      { name: 'a', tags: { x: [1, true] } },
      ['tags', { key: 'x' }, 1],
      /number is expected/,
    ],
    ['a time for an object', { name: 'a', tags: new Date(0) }, ['tags'], /object is expected/],
  ];
  it.each(rows)('%s', (_, raw, path, says) => {
    const attempt = (): unknown => from(shape, pack(raw));
    expect(attempt).toThrow(says);
    expect(attempt).toThrow(expect.objectContaining({ name: 'CtyError', path }));
  });

  it('are not written either', () => {
    for (const wrong of [
      { name: 1 },
      { name: 'a', tags: [1] },
      { nome: 'a' },
      'a',
      { name: 'a', tags: { a: [NaN] } },
    ])
      expect(() => encode(shape, wrong)).toThrow(CtyError);
    expect(unpack(encode(shape, { name: 'a' }))).toEqual({ name: 'a', tags: null });
    expect(from('string', encode('string', 'a\ud800'))).toBe('a\ufffd');
  });
});

describe('a state in JSON', () => {
  it('drops what the type does not know, and misses nothing', () => {
    const json = parseJson('{"name":"a","old":1,"size":0.1,"big":12345678901234567890}');
    expect(
      fromJson(
        [
          'object',
          {
            name: 'string',
            size: 'number',
            big: 'number',
            tags: ['set', 'string'],
          },
        ],
        json,
      ),
    ).toEqual({
      name: 'a',
      size: 0.1,
      big: new ExactNumber('12345678901234567890'),
      tags: null,
    });
    expect(
      decode(['list', 'bool'], { msgpack: new Uint8Array(), json: Buffer.from('[true]') }),
    ).toEqual([true]);
    expect(() => decode('bool', { msgpack: new Uint8Array(), json: Buffer.from('[tr') })).toThrow(
      CtyError,
    );
    expect(decode('bool', { msgpack: new Uint8Array(), json: new Uint8Array() })).toBeNull();
  });
});

const name = fc.stringMatching(/^[a-z]{1,4}$/);
const anyType: fc.Arbitrary<CtyType> = fc.letrec<{ type: CtyType }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom<CtyType[]>('string', 'number', 'bool'),
    fc
      .constantFrom('list', 'set', 'map')
      .chain((word) => tie('type').map((of): CtyType => [word, of] as CtyType)),
    fc
      .dictionary(name, tie('type'), { maxKeys: 3, noNullPrototype: true })
      .map((of): CtyType => ['object', of]),
  ),
})).type;

function anyOf(type: CtyType): fc.Arbitrary<CtyValue> {
  const known = (): fc.Arbitrary<CtyValue> => {
    if (type === 'string') return fc.string({ unit: 'grapheme' });
    if (type === 'bool') return fc.boolean();
    if (type === 'number')
      return fc.oneof(
        fc.integer(),
        fc.maxSafeInteger(),
        fc.double({ noNaN: true, noDefaultInfinity: true }).filter((one) => !Object.is(one, -0)),
        fc.bigInt({ min: 2n ** 53n }).map((one) => new ExactNumber(String(one))),
      );
    if (type[0] === 'map')
      return fc.dictionary(
        fc.string().filter((key) => key !== '__proto__'),
        anyOf(type[1]),
        { maxKeys: 3, noNullPrototype: true },
      );
    if (type[0] === 'object')
      return fc.record(
        Object.fromEntries(Object.entries(type[1]).map(([key, of]) => [key, anyOf(of)])),
        { noNullPrototype: true },
      );
    return fc.array(anyOf(type[1]), { maxLength: 3 });
  };
  return fc.oneof(
    { weight: 8, arbitrary: known() },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(new Unknown(), new Unknown(NOT_NULL)) },
  );
}
const anyTyped = anyType.chain((type) => anyOf(type).map((value) => ({ type, value })));

describe('laws', () => {
  it('what is encoded decodes to itself', () => {
    fc.assert(
      fc.property(
        anyTyped,
        ({ type, value }) => void expect(from(type, encode(type, value))).toEqual(value),
      ),
    );
  });

  it('what is read from JSON is what its bytes say, whatever its texts are', () => {
    const units = fc
      .array(fc.integer({ min: 0, max: 0xffff }))
      .map((all) => String.fromCharCode(...all));
    const text = fc.oneof(
      units,
      fc.nat({ max: 300 }).map((length) => `\ufeff${'x'.repeat(length)}`),
    );
    const number = fc.oneof(
      fc.constant('-0'),
      fc.integer().map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.bigInt().map(String),
    );
    const type: CtyType = [
      'object',
      { labels: ['map', 'string'], names: ['set', 'string'], size: 'number' },
    ];
    const labels = fc.dictionary(
      units.filter((key) => key !== '__proto__'),
      text,
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(
        fc.record({ labels, names: fc.array(text) }, { requiredKeys: ['names'] }),
        number,
        (members, size) => {
          const value = fromJson(
            type,
            parseJson(`{${JSON.stringify(members).slice(1, -1)},"size":${size}}`),
          );
          expect(from(type, encode(type, value))).toEqual(value);
        },
      ),
    );
  });

  it('a double keeps every digit: read and written again it is the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const read = from('number', pack(value, { forceIntegerToFloat: true }));
        expect(Number(String(read))).toBe(value === 0 ? 0 : value);
      }),
    );
  });

  it('no bytes do more than fail with a path', () => {
    const hostile = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.anything({ withBigInt: false, withMap: true, maxDepth: 6 }).map((one) => {
        try {
          return pack(one);
        } catch {
          return new Uint8Array([0xc1]);
        }
      }),
      fc
        .tuple(anyTyped, fc.nat(), fc.integer({ min: 0, max: 255 }))
        .map(([{ type, value }, at, byte]) => {
          const whole = Uint8Array.from(encode(type, value));
          whole[at % whole.length] = byte;
          return whole;
        }),
    );
    fc.assert(
      fc.property(anyType, hostile, (type, msgpack) => {
        const thrown = (): unknown => {
          try {
            return void from(type, msgpack);
          } catch (error) {
            return error;
          }
        };
        expect([undefined, 'CtyError']).toContain((thrown() as Error | undefined)?.name);
      }),
      { numRuns: drawn(1000) },
    );
  });

  it.each([
    ['arrays without end', Buffer.alloc(100_000, 0x91)],
    ['a list of four milliards', bytes('dd ff ff ff ff')],
  ])('%s end in an error', (_, msgpack) => {
    expect(() => from('string', msgpack)).toThrow(CtyError);
    expect(() => from(['list', 'bool'], msgpack)).toThrow(CtyError);
  });
});
