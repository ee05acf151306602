// What lies on disk, as text: places of damage, odd members, formats of other versions.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonical,
  digest,
  emptyState,
  sha256,
  type Json,
  type JsonObject,
  type State,
} from '../../../src/model/index.js';
import { decodeJournal, encodeRecord } from '../../../src/state/journal-text.js';
import { parseJsonText } from '../../../src/state/json-text.js';
import { decodeState, encodeState } from '../../../src/state/state-format.js';
import { refusal } from './conformance.js';
import { entry, intent, result, TARGET } from './samples.js';

const fingerprint = {
  algorithm: 'scrypt',
  cost: 14,
  block: 8,
  parallel: 1,
  salt: 'c2FsdA==',
  hash: 'aGFzaA==',
  keyed: false,
} as const;
const state: State = {
  ...emptyState('line', TARGET),
  serial: 3,
  resources: {
    'accounts.hq': entry('7', {
      secrets: { 'authentication.secret': fingerprint },
      protect: true,
      on_removal: 'forget',
      applied: { nested: { deep: [1, 'zwei', null] } },
    }),
    'accounts.x["a b"]': entry('8'),
  },
  spent: [{ at: '2026-01-01T00:00:00.000Z', action: 'delete' }],
};

const decode = (text: string): Promise<State> =>
  decodeState(text, '/s/state.json', '0.1.0', () => Promise.resolve('what to do'));

/** The text of a state that verifies and holds something else. */
function forged(change: object, edit: (text: string) => string = (text) => text): string {
  const body = edit(`${JSON.stringify({ ...state, ...change }, null, 2).slice(2)}\n`);
  return `{\n  "checksum": "${sha256(body)}",\n${body}`;
}

describe('the text of a state', () => {
  it('comes back as the state, and is the same whichever order its members had', async () => {
    expect(await decode(encodeState(state))).toEqual(state);
    const turned = Object.fromEntries(Object.entries(state).toReversed()) as unknown as State;
    expect(
      encodeState({
        ...turned,
        resources: Object.fromEntries(Object.entries(state.resources).toReversed()),
      }),
    ).toBe(encodeState(state));
  });

  const more = (change: object): object => ({
    resources: { 'accounts.hq': { ...entry('7'), ...change } },
  });
  it.each([
    ['a member that is not ours', { extra: 1 }, 'extra is not a member that belongs here'],
    [
      'a prototype',
      JSON.parse('{"resources":{"__proto__":{}}}') as object,
      'resources.__proto__ must be an address',
    ],
    [
      'a prototype in an entry',
      more(JSON.parse('{"__proto__":{"id":"1"}}') as object),
      '"accounts.hq"].__proto__ is not a member',
    ],
    [
      'an address that is none',
      { resources: { hq: entry('7') } },
      'resources.hq must be an address',
    ],
    ['a number for text', more({ id: 7 }), 'resources["accounts.hq"].id must be a string'],
    ['no id', more({ id: '' }), '.id must be a string and not empty'],
    ['a list for an object', more({ applied: [] }), '.applied must be an object'],
    ['text for a list', more({ depends_on: 'x' }), '.depends_on must be a list'],
    ['a wrong item', more({ depends_on: ['a', 1] }), '.depends_on[1] must be a string'],
    [
      'what was observed of nothing',
      more({ as_observed: ['label'] }),
      '.as_observed[0] must name a member of observed that is not in applied',
    ],
    [
      'an inherited constructor',
      more({ applied: {}, as_observed: ['name', 'constructor'] }),
      '.as_observed[1] must name',
    ],
    [
      'an inherited toString',
      more({ applied: {}, as_observed: ['name', 'toString'] }),
      '.as_observed[1] must name',
    ],
    [
      'an inherited __proto__',
      more({ applied: {}, as_observed: ['name', '__proto__'] }),
      '.as_observed[1] must name',
    ],
    ['what is applied twice', more({ as_observed: ['name'] }), '.as_observed[0] must name'],
    ['a time that is none', more({ applied_at: 'yesterday' }), '.applied_at must be a time'],
    [
      'a fingerprint that asks for gigabytes',
      more({ secrets: { a: { ...fingerprint, cost: 30 } } }),
      '.secrets.a.cost must be a whole number from 1 to 17',
    ],
    [
      'a fingerprint of nothing',
      more({ secrets: { a: { of: '', hash: 'aGFzaA==', cost: 14 } } }),
      '.secrets.a.of must be a string and not empty',
    ],
    [
      'one over several that asks for gigabytes',
      { secrets_together: [{ of: 'x', hash: 'x', cost: 30 }] },
      'secrets_together[0].cost must be a whole number from 1 to 17',
    ],
    ['half a serial', { serial: 1.5 }, 'serial must be a whole number'],
    ['a serial below zero', { serial: -1 }, 'serial must be a whole number'],
    ['no target', { target: undefined }, 'target is missing'],
    [
      'a strange spending',
      { spent: [{ at: '2026-01-01T00:00:00Z', action: 'create' }] },
      'spent[0].action must be "update" or "delete"',
    ],
    [
      'depth without end',
      more({ applied: nest(600) }),
      '.applied is nested deeper than 512 levels',
    ],
  ])('with %s is refused, naming it', async (_, change, words) => {
    const refused = await refusal(decode(forged(change)));
    expect(refused).toMatchObject({ code: 'damaged-file', exit: 1 });
    expect(refused.words).toContain(words);
  });

  it.each(['1e400', '-1e400', '9'.repeat(400)])('with the number %s is refused', async (number) => {
    const refused = await refusal(
      decode(
        forged(more({ observed: { deep: [{ n: 4711 }] } }), (text) => text.replace('4711', number)),
      ),
    );
    expect(refused.code).toBe('damaged-file');
    expect(refused.words).toContain('.observed holds a number that is too large');
  });

  it('gives back any entry exactly', async () => {
    const name = fc.oneof(
      fc.constantFrom(
        '__proto__',
        'constructor',
        'toString',
        'as_observed',
        'applied',
        'name',
        '',
        '0',
      ),
      fc.string({ unit: 'binary' }),
    );
    const leaf = fc.oneof(
      fc.constantFrom<Json>(null, true, 1e308, 2 ** 60, -1.5e-7, '', '\ud800', [], {}),
      fc.string({ unit: 'binary' }),
    );
    const { members } = fc.letrec<{ value: Json; members: JsonObject }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('value'), { maxLength: 3 }),
        tie('members'),
      ),
      members: fc
        .array(fc.tuple(name, tie('value')), { maxLength: 4 })
        .map((pairs) => Object.fromEntries(pairs)),
    }));
    await fc.assert(
      fc.asyncProperty(members, members, fc.nat(3), async (applied, other, alike) => {
        const observed = {
          ...other,
          ...Object.fromEntries(Object.entries(applied).slice(0, alike)),
        };
        const given = entry('7', { applied, observed });
        const back = (await decode(encodeState({ ...state, resources: { 'accounts.hq': given } })))
          .resources['accounts.hq'];
        expect(canonical(back as unknown as Json)).toBe(canonical(given as unknown as Json));
        expect(Object.getPrototypeOf(back?.applied)).toBe(Object.prototype);
      }),
    );
  });

  it('names the line of what is wrong', async () => {
    const text = forged(more({ id: 7 }));
    const line = text.split('\n').findIndex((one) => one.includes('"id": 7')) + 1;
    expect((await refusal(decode(text))).words).toContain(`line ${line}, column 7:`);
  });

  it('of a newer version is refused as newer, even where nothing else fits', async () => {
    for (const text of [
      forged({ format_version: 4 }),
      JSON.stringify({ format_version: 99, all: 'new' }),
    ]) {
      const refused = await refusal(decode(text));
      expect(refused).toMatchObject({ code: 'newer-format', exit: 1 });
      expect(refused.words).toContain('trueup 0.1.0');
    }
  });

  it('of a version that never was is refused', async () => {
    expect((await refusal(decode(forged({ format_version: 0 })))).code).toBe('unknown-format');
  });

  it('of format 1 is read with the fingerprints that it holds, and without what the service said in its own words', async () => {
    expect(await decode(forged({ format_version: 1 }))).toEqual(state);
    expect(await decode(forged({ format_version: 2 }))).toEqual(state);
    const talkative = entry('7', { observed: { name: 'x', last_error_text: 'whatever' } });
    const read = await decode(
      forged({ format_version: 1, resources: { 'accounts.hq': talkative } }),
    );
    expect(read.resources['accounts.hq']?.observed).toEqual({ name: 'x' });
    expect(
      (await refusal(decode(forged({ format_version: 1, resources: { 'accounts.hq': 7 } })))).code,
    ).toBe('damaged-file');
  });

  it('is read with runs that count no forgotten objects, as older versions wrote them', async () => {
    const run = {
      at: '2026-01-01T00:00:00.000Z',
      operation: 'apply',
      user: 'dana',
      host: 'laptop',
    };
    const runs = [{}, { forgotten: 1 }].map((more) => ({
      ...run,
      serial: 1,
      created: 0,
      updated: 0,
      deleted: 0,
      objects: 0,
      ...more,
    }));
    expect((await decode(forged({ runs }))).runs).toEqual(runs);
  });

  it('never quotes what it cannot read', async () => {
    for (const text of ['{"password": hunter2', encodeState(state).replace('zwei', 'hunter2')])
      expect((await refusal(decode(text))).words).not.toContain('hunter2');
  });

  it('is refused at once where it is 10^5 levels deep', async () => {
    expect((await refusal(decode('['.repeat(100_000)))).words).toContain('column 100001');
    expect(
      (
        await refusal(
          decode(
            forged(more({ observed: { a: 1 } })).replace(
              '"a": 1',
              `"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}`,
            ),
          ),
        )
      ).code,
    ).toBe('damaged-file');
  });
});

function nest(levels: number): Json {
  return levels === 0 ? {} : { in: nest(levels - 1) };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('the place where text stops being JSON', () => {
  it.each([
    ['', 1, 1],
    ['{', 1, 2],
    ['{"a"', 1, 5],
    ['{"a": ', 1, 7],
    ['{"a": 1', 1, 8],
    ['{"a": 1,\n', 2, 1],
    ['{"a": 1, }', 1, 10],
    ['[1,\n 2 3]', 2, 4],
    ['[1]]', 1, 4],
    ['{"a": "b\nc"}', 1, 9],
    ['"\\x"', 1, 2],
    ['[tru]', 1, 2],
    ['[01]', 1, 3],
    ['{a: 1}', 1, 2],
    ['[}', 1, 2],
  ])('%j', (text, line, column) => {
    expect(parseJsonText(text)).toEqual({ brokenAt: { line, column } });
  });

  it('is found in a cut text, and only in text that is no JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, at) => {
        const cut = text.slice(0, at % text.length);
        const parsed = parseJsonText(cut);
        expect('value' in parsed).toBe(isJson(cut));
        expect('value' in parsed || parsed.brokenAt.column <= cut.length + 1).toBe(true);
        expect(parseJsonText(text)).toEqual({ value: JSON.parse(text) as unknown });
      }),
    );
  });
});

describe('the text of a journal', () => {
  const begin = {
    type: 'begin',
    run: 'r',
    lineage: 'line',
    serial: 3,
    target: TARGET,
    at: '2026-01-01T00:00:00.000Z',
  } as const;
  const line = (value: Json): string => {
    const json = JSON.stringify(value);
    return `${sha256(json).slice(0, 16)} ${json}\n`;
  };

  it('is one checksummed record a line, and comes back', () => {
    const records = [intent('1'), result('1'), result('2', { entry: null })];
    const text = [begin, ...records].map(encodeRecord).join('');
    expect(text.split('\n')[0]).toMatch(/^[0-9a-f]{16} \{"at":.*\}$/);
    expect(decodeJournal(text, 'j')).toEqual({ begin, records, text });
    expect(decodeJournal('', 'j')).toBeUndefined();
    expect(decodeJournal(text.slice(0, 30), 'j')).toBeUndefined();
  });

  it.each<readonly [string, readonly string[], number, string]>([
    [
      'no beginning',
      [encodeRecord(intent('1')), encodeRecord(intent('2'))],
      1,
      'starts with a begin record',
    ],
    ['two beginnings', [encodeRecord(begin), encodeRecord(begin)], 2, 'in the middle'],
    [
      'a record of another type',
      [encodeRecord(begin), line({ type: 'toString' })],
      2,
      'no known type',
    ],
    ['a record that is none', [encodeRecord(begin), line([1])], 2, 'no known type'],
    ['a null', [encodeRecord(begin), line(null)], 2, 'no known type'],
    [
      'a stranger in a record',
      [
        encodeRecord(begin),
        line({ ...(intent('1') as unknown as Record<string, Json>), extra: 1 }),
      ],
      2,
      'extra is not a member',
    ],
    [
      'a wrong entry',
      [
        encodeRecord(begin),
        line({ type: 'result', class: 'applied', address: 'accounts.a', entry: {} }),
      ],
      2,
      'entry.kind is missing',
    ],
    [
      'a torn record in the middle',
      [encodeRecord(begin), 'torn\n', encodeRecord(intent('1'))],
      2,
      'checksum',
    ],
    [
      'an empty line in the middle',
      [encodeRecord(begin), '\n', encodeRecord(intent('1'))],
      2,
      'checksum',
    ],
  ])('with %s is refused', async (_, lines, at, words) => {
    const refused = await refusal(
      Promise.resolve().then(() => decodeJournal(lines.join(''), '/s/j')),
    );
    expect(refused).toMatchObject({ code: 'damaged-file', exit: 1 });
    expect(refused.words).toContain(`line ${at}, column 1`);
    expect(refused.words).toContain(words);
  });

  it('takes no record that it would refuse to read', () => {
    expect(() => encodeRecord({ ...intent('1'), at: 'now' })).toThrow(TypeError);
    expect(() =>
      encodeRecord(result('1', { entry: entry('1', { observed: nest(600) as never }) })),
    ).toThrow(TypeError);
    expect(digest(result('1') as unknown as Json)).toBe(
      sha256(encodeRecord(result('1')).slice(17, -1)),
    );
  });
});
