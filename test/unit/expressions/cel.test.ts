// CEL expressions: what they give, what is wrong with those that give nothing, and that none takes long.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileExpression, RefusedName } from '../../../src/expressions/cel.js';
import { closingBrace, tokensOf } from '../../../src/expressions/tokens.js';
import type { Json } from '../../../src/model/index.js';

const numbers = Array.from({ length: 1000 }, (_, index) => index);

const known: Readonly<Record<string, Json>> = {
  var: {
    x: 1,
    half: 1.5,
    none: null,
    text: 'äö😀b',
    list: ['b', 'a'],
    numbers,
    sites: [
      { name: 'one', enabled: true },
      { name: 'two', enabled: false },
    ],
    constructor: 'a member',
  },
  each: { key: 'k', value: { a: 1, in: 2 } },
};

const evaluated = (source: string, values: Parameters<typeof run>[1] = known) =>
  run(source, values);

function run(source: string, values: Parameters<EvaluateOf>[0]) {
  const compiled = compileExpression(source, Object.keys(values));
  return 'problem' in compiled ? compiled : compiled.value.evaluate(values);
}

type EvaluateOf = Extract<
  ReturnType<typeof compileExpression>,
  { readonly value: unknown }
>['value']['evaluate'];

const problemOf = (source: string) => {
  const made = evaluated(source);
  return 'problem' in made
    ? [source.slice(made.problem.start, made.problem.end), made.problem.summary]
    : made;
};

describe('an expression gives', () => {
  it.each<[source: string, value: Json]>([
    ['var.x + 1', 2],
    ['var.half * 2.0', 3],
    ['var.x == 1.0', true],
    ['var.none == null', true],
    ['9007199254740990 + 1', 9007199254740991],
    ['var.sites.filter(s, s.enabled).map(s, s.name)', ['one']],
    ['var.sites.map(s, {"name": s.name, "on": s.enabled})[1]', { name: 'two', on: false }],
    ['var.sites.exists(s, s.name == "two") && !var.sites.all(s, s.enabled)', true],
    ['"a" in var.list && "x" in {"x": 1} && !("y" in {"x": 1})', true],
    ['has(var.missing) ? var.missing : "default"', 'default'],
    ["'a' == \"a\" ? 'yes' : 'no'", 'yes'],
    ['[1, "a", true, null, 1.5, {"b": []}]', [1, 'a', true, null, 1.5, { b: [] }]],
    ['each.key + string(each.value.a)', 'k1'],
    ['size(var.numbers)', 1000],
    ['var.constructor', 'a member'],
    ['1 > 0 || var.missing', true],
    ['"a}b" + \'{\' // a comment', 'a}b{'],
    ['[1, 2].map(v, v * 2)', [2, 4]],
    ['["var", "matches", "var.x"]', ['var', 'matches', 'var.x']],
    ['{"var": 1}.var', 1],
    // The strings extension
    ['var.text.size()', 4],
    ['var.text.substring(2)', '😀b'],
    ['var.text.substring(2, 3)', '😀'],
    ['var.text.indexOf("b")', 3],
    ['"hello mellow".indexOf("")', 0],
    ['"hello mellow".indexOf("ello", 2)', 7],
    ['"hello mellow".indexOf("jello")', -1],
    ['"hello mellow".indexOf("", 2)', 2],
    ['"hello mellow".lastIndexOf("")', 12],
    ['"hello mellow".lastIndexOf("ello")', 7],
    ['"hello mellow".lastIndexOf("ello", 6)', 1],
    ['"a".lastIndexOf("abc")', -1],
    ['var.text.charAt(2)', '😀'],
    ['"ab".charAt(2)', ''],
    ['var.text.reverse()', 'b😀öä'],
    ['"hello hello".replace("he", "we")', 'wello wello'],
    ['"hello hello".replace("he", "we", 1)', 'wello hello'],
    ['"hello hello".replace("he", "we", 0)', 'hello hello'],
    ['"hello hello".replace("he", "we", -1)', 'wello wello'],
    ['"ab".replace("", "_")', '_a_b_'],
    ['"ab".replace("", "_", 2)', '_a_b'],
    ['"a$&b".replace("a", "$&")', '$&$&b'],
    ['"a,b,c".split(",")', ['a', 'b', 'c']],
    ['"a,b,c".split(",", 2)', ['a', 'b,c']],
    ['"a,b,c".split(",", 0)', []],
    ['"a,b,c".split(",", 1)', ['a,b,c']],
    ['"a,b,c".split(",", -1)', ['a', 'b', 'c']],
    ['"😀a".split("")', ['😀', 'a']],
    ['["a", "b"].join()', 'ab'],
    ['["a", "b"].join("-")', 'a-b'],
    ['[].join("-")', ''],
    ['["a", "b"] . join\n("-")', 'a-b'],
    ['{"join": "j", "split": 2}.join + "a"', 'ja'],
    ['"  a\\t".trim()', 'a'],
    ['"AÄ".lowerAscii() + "aä".upperAscii()', 'aÄAä'],
    ['strings.quote("a\\"b\\n\\\\")', '"a\\"b\\n\\\\"'],
    ['"%s-%d %%".format(["a", 1])', 'a-1 %'],
    ['"%.2f %f %e %.0e".format([1.234, 1, 12.5, 2.0])', '1.23 1.000000 1.250000e+01 2e+00'],
    ['"%x %X %x %o %b %b".format([255, 255, "hi", 8, 5, true])', 'ff FF 6869 10 101 1'],
    ['"%s".format([{"b": [1, true, null], "a": 1.5}])', '{a: 1.5, b: [1, true, null]}'],
    ['"%d %x %f %s".format([1u, 255u, 1u, 7u])', '1 ff 1.000000 7'],
    ['"%s %s %s".format([type(1), duration("90m"), b"hi"])', 'int 5400s hi'],
    ['"%s".format([timestamp("2026-01-02T03:04:05.5Z")])', '2026-01-02T03:04:05.5Z'],
    ['string(timestamp("2026-01-02T03:04:05Z"))', '2026-01-02T03:04:05Z'],
    ['string(duration("1h"))', '3600s'],
    ['var.text.matches("^ä.😀") && !var.text.matches("^b")', true],
  ])('%s: %j', (source, value) => {
    expect(evaluated(source)).toEqual({ value });
  });
});

describe('an expression is wrong', () => {
  it.each<[source: string, at: string, summary: string]>([
    ['', '', 'a value is missing at the end'],
    ['1 +', '', 'a value is missing at the end'],
    ['1 + )', ')', 'a value is missing before `)`'],
    ['(1', '', 'a `)` is missing at the end'],
    ['var.list.map(x, x', '', 'a `)` is missing at the end'],
    ['var.list[0', '', 'a `]` is missing at the end'],
    ['[1 2]', '2', 'a `]` is missing before `2`'],
    ['[1 "a b"]', '"a b"', 'a `]` is missing before this'],
    ['{"a" 1}', '1', 'a `:` is missing before `1`'],
    ['{"a": 1', '', 'a `}` is missing at the end'],
    ['var.', '', 'a name is missing at the end'],
    ['1 foo', 'foo', '`foo` is not expected here'],
    ['HOME:-x', ':', '`:` is not expected here'],
    ['var.list.mapp(x, x)', 'var.list.mapp(x, x)', '`mapp` is not a function. Did you mean `map`?'],
    [
      'var.list.filtre(x, !x.y)',
      'var.list.filtre(x, !x.y)',
      '`filtre` is not a function. Did you mean `filter`?',
    ],
    ['var.list.map(x, x.nope(y))', 'x.nope(y)', '`nope` is not a function.'],
    ['var.list.map(x, x.matches(y))', 'y', '`y` is not a variable.'],
    ['1 == 1.0', '1 == 1.0', 'these types do not go together: int == double'],
    ['var.x + 1.0', 'var.x + 1.0', 'these types do not go together: int + double'],
    ['1 + "a"', '1 + "a"', 'these types do not go together: int + string'],
    ['vra.x', 'vra', '`vra` is not a variable. Did you mean `var`?'],
    ['1 + var.typo', 'typo', 'there is no member `typo`'],
    ['var.__proto__', '__proto__', 'there is no member `__proto__`'],
    ['var["__proto__"]', 'var["__proto__"]', 'there is no member `__proto__`'],
    ['{"a": 1}.constructor', 'constructor', 'there is no member `constructor`'],
    ['each.value.toString', 'toString', 'there is no member `toString`'],
    ['var.list[2]', 'var.list[2]', 'the index is outside of the list'],
    ['var.list[-1]', 'var.list[-1]', 'the index is outside of the list'],
    ['var.x ? 1 : 2', 'x', "ternary condition must be bool, got 'int'"],
    ['while.x', 'while', '`while` is a reserved word of CEL'],
    ['foo(1)', 'foo(1)', '`foo` is not a function.'],
    ['"a".matchs("a")', '"a".matchs("a")', '`matchs` is not a function. Did you mean `matches`?'],
    ['nope()', 'nope()', '`nope` is not a function.'],
    ['"a".nope()', '"a".nope()', '`nope` is not a function.'],
    ['none()', 'none()', '`none` is not a function.'],
    ['of(1)', 'of(1)', '`of` is not a function.'],
    ['sise([1])', 'sise([1])', '`sise` is not a function. Did you mean `size`?'],
    [
      '"a".matches(1)',
      '"a".matches(1)',
      '`string.matches(int)`: the function does not take these types',
    ],
    ['"a".matches("(a")', '"a".matches("(a")', 'the pattern is wrong: missing closing ): `(a`'],
    [
      '"a".matches("(?=a)")',
      '"a".matches("(?=a)")',
      'the pattern is wrong: invalid or unsupported Perl syntax: `(?=`',
    ],
    ['"ab".substring(-1)', '"ab".substring(-1)', 'the position is outside of the string'],
    ['"ab".substring(2, 1)', '"ab".substring(2, 1)', 'the start is behind the end'],
    ['"ab".charAt(3)', '"ab".charAt(3)', 'the position is outside of the string'],
    ['"ab".indexOf("a", 3)', '"ab".indexOf("a", 3)', 'the position is outside of the string'],
    [
      '"ab".lastIndexOf("a", -1)',
      '"ab".lastIndexOf("a", -1)',
      'the position is outside of the string',
    ],
    [
      '["a", 1].join("")',
      '["a", 1].join("")',
      '`join` takes a list of strings; convert each with `string(…)`',
    ],
    ['"%d".format([1.5])', '"%d".format([1.5])', '`%d` does not take this value'],
    ['"%y".format([1])', '"%y".format([1])', 'the format has a verb that does not exist'],
    ['"%.3".format([1])', '"%.3".format([1])', 'a `%` of the format has no verb'],
    ['"%.3s".format([1])', '"%.3s".format([1])', 'only `%f` and `%e` take a number of digits'],
    ['"%.2000000f".format([1.0])', '"%.2000000f".format([1.0])', 'more than 100 digits'],
    ['"%s".format([])', '"%s".format([])', 'the format asks for more than the 0 values given'],
    ['"".format([1])', '"".format([1])', 'the format uses 0 of the 1 values given'],
    [
      '{"a": 1, "a": 2}',
      '{"a": 1, "a": 2}',
      'a key appears twice in the mapping, or is `__proto__`, `prototype` or `constructor`',
    ],
    [
      '{"__proto__": 1}',
      '{"__proto__": 1}',
      'a key appears twice in the mapping, or is `__proto__`, `prototype` or `constructor`',
    ],
    [
      '9007199254740991 + 1',
      '9007199254740991 + 1',
      'the result is an integer beyond 2^53, where integers lose digits',
    ],
    ['1.0 / 0.0', '1.0 / 0.0', 'the result is Infinity, which is not a number'],
    ['b"a"', 'b"a"', 'the result is not a string, number, boolean, list or mapping'],
    ['type(1)', 'type(1)', 'the result is not a string, number, boolean, list or mapping'],
    ['1 / 0', '1 / 0', 'division by zero'],
    ['1 % 0', '1 % 0', 'modulo by zero'],
    ['int("1x")', 'int("1x")', '`int` does not take this string'],
    ['-"a"', '-"a"', 'these types do not go together: -string'],
    ['1 && true', '1 && true', "logical operator requires bool operands, got 'int'"],
    ['var.x && true', 'x', "logical operator requires bool operands, got 'int'"],
    [
      'timestamp("2026-01-02T03:04:05Z").getHours("Nowhere")',
      'timestamp("2026-01-02T03:04:05Z").getHours("Nowhere")',
      'there is no time zone of this name',
    ],
    [
      'string(timestamp("9999-12-31T23:59:59Z") + duration("99999999999h"))',
      'string(timestamp("9999-12-31T23:59:59Z") + duration("99999999999h"))',
      'the value is out of range',
    ],
    ['bytes("{").json()', 'bytes("{").json()', 'the bytes are not JSON'],
  ])('%s at %s: %s', (source, at, summary) => {
    expect(problemOf(source)).toEqual([at, summary]);
  });

  it('a result beyond 2^53 inside an expression is none: it has 64 bits there', () => {
    expect(evaluated('(9007199254740991 + 1) / 2')).toEqual({ value: 4503599627370496 });
  });

  it('names `strings.quote` as it is written', () => {
    expect(evaluated('"a".quote()')).toMatchObject({
      problem: { detail: 'It is `strings.quote(string): string`.' },
    });
  });

  const list = [
    { name: 'one', on: true },
    { name: 'two', on: 'no', token: 't' },
  ];
  const TWO = 'Here, `c` (item 2) has `name`, `on`, `token`.';
  it.each([
    ['var.list.filter(c, !c.on)', TWO],
    ['var.list.filter(c, c.on)', TWO],
    ['var.list.map(c, c.on ? 1 : 2)', TWO],
    ['var.list.exists(c, c.name == "two" && c.on + 1 == 1)', TWO],
    ['var.list.map(v, var.list.filter(c, !c.on))', TWO],
    [
      'var.list.map(c, c.on.matches("a"))',
      'It is `string.matches(string): bool`. Here, `c` (item 1) has `name`, `on`.',
    ],
    ['["a", 1].map(c, c + "b")', 'Here, `c` is item 2.'],
    ['[[1]].map(c, c + 1)', /^$/],
    ['["b", 2].map(c, [1].map(d, c + d))', 'Here, `c` is item 1. `d` is item 1.'],
    ['[[1, 2], ["x", 3]].map(c, c.map(d, d + 1))', 'Here, `d` is item 1.'],
    ['[7, "a"].map(c, [8, 7, "a"].map(c, c + 1))', 'Here, `c` is item 3.'],
    ['var.list.map(c, c.on + 1).filter(d, d == 1)', 'Here, `c` (item 1) has `name`, `on`.'],
    ['{"k": 1}.map(c, c + 1)', /^$/],
    ['cel.bind(v, var.list[1], v.on + 1)', 'Here, `v` has `name`, `on`, `token`.'],
    ['cel.bind(v, var.list[1], v).on + 1', /^$/],
    ['var.list[0].on + 1', /^$/],
    ['each.value.nam', 'Here, `each.value` has `name`, `on`. Did you mean `name`?'],
    ['each.value.name.first', /^$/],
    ['each.lost', /^$/],
  ])('shows the item of a list that is wrong, or what lacks a member: %s', (source, detail) => {
    const made = run(source, { var: { list }, each: { value: { name: 'x', on: true } } });
    const found = 'problem' in made ? made.problem.detail : 'none';
    expect(found ?? '').toMatch(detail);
  });

  it.each<[source: string, summary: string]>([
    ['bool(var.text)', '`bool` does not take this string; it takes `"true"` and `"false"`'],
    ['duration(var.text)', '`duration` does not take this string; it takes one such as `"1h30m"`'],
    [
      'timestamp(var.text)',
      '`timestamp` does not take this value; it takes one such as `"2026-01-02T03:04:05Z"`',
    ],
    ['double(var.text)', '`double` does not take this string'],
    ['uint(var.text)', '`uint` does not take this value'],
    ['"a".matches(var.text)', 'the pattern is wrong: missing closing )'],
    ['var.all[var.text]', 'there is no member of this name'],
    ['{"a": 1}[var.text]', 'there is no member of this name'],
    ['var.all["lost"]', 'there is no member `lost`'],
    ['{"matches": 1}["split"]', 'there is no member `split`'],
    ['[1][var.number]', 'the index is outside of the list'],
    ['b"a".at(var.number)', 'the index is outside of the bytes'],
    ['var.number * 9223372036854775807', 'the integer does not fit in 64 bits'],
    ['var.number * 9007199254740991', 'the integer does not fit in 64 bits'],
    [
      'var.number * 2000000000000',
      'the result is an integer beyond 2^53, where integers lose digits',
    ],
    ['var.text.substring(var.number)', 'the position is outside of the string'],
    ['"%d".format([var.text])', '`%d` does not take this value'],
    ['bytes(var.text).json()', 'the bytes are not JSON'],
    ['timestamp(0).getHours(var.text)', 'there is no time zone of this name'],
    ['[var.all].map(c, c.text + 1)', 'these types do not go together: string + int'],
  ])('shows no value, which may come from the environment: %s', (source, summary) => {
    const all = { text: 'hid(den', number: 4711 };
    const made = run(source, { var: { ...all, all } });
    expect(made).toMatchObject({ problem: { summary } });
    expect(JSON.stringify(made)).not.toMatch(/hid|idden|4711/);
  });

  it('says how integers and decimal numbers meet', () => {
    expect(evaluated('1 == 1.0')).toMatchObject({
      problem: { detail: expect.stringContaining('`double(…)`') },
    });
  });

  it('names the variable and the member that is missing', () => {
    expect(evaluated('var.typo')).toMatchObject({
      problem: { missing: { of: ['var'], name: 'typo' } },
    });
  });
});

describe('members that are asked for', () => {
  const values = {
    env: (name: string) => {
      if (name === 'TOKEN')
        throw new RefusedName({ summary: 'a credential', detail: 'no', code: 'refused' });
      return name === 'HOME' ? '/home-folder' : undefined;
    },
  };
  it.each([
    ['env.HOME + "/x"', { value: '/home-folder/x' }],
    ['env["HOME"]', { value: '/home-folder' }],
    ['has(env.NONE) ? 1 : 2', { value: 2 }],
    ['env.TOKEN', { problem: { summary: 'a credential', detail: 'no', code: 'refused' } }],
    ['env["TO" + "KEN"]', { problem: { summary: 'a credential' } }],
    ['env.NONE', { problem: { missing: { of: ['env'], name: 'NONE' } } }],
    ['env', { problem: { summary: 'a variable of this name has no value of its own' } }],
  ])('%s', (source, result) => {
    expect(run(source, values)).toMatchObject(result);
  });
});

/** Each would take years, or all memory. */
describe('ends at once', () => {
  const doubled = (first: string): string =>
    Array.from({ length: 40 })
      .reduce<string>(
        (inner, _, index) => `cel.bind(v${40 - index}, v${39 - index} + v${39 - index}, ${inner})`,
        'size(v40)',
      )
      .replace(/^/, `cel.bind(v0, ${first}, `) + ')';
  it.each([
    ['three loops', 'var.numbers.map(a, var.numbers.map(b, var.numbers.map(c, c)))', 'steps'],
    [
      'loops that go on after an error',
      'var.numbers.exists(a, var.numbers.exists(b, var.numbers.exists(c, c / 0 == 1)))',
      'steps',
    ],
    [
      'loops behind a condition that is true',
      '(var.numbers.map(a, var.numbers.map(b, var.numbers.map(c, c))) == []) || true',
      'steps',
    ],
    [
      'a comparison in loops',
      'var.numbers.map(a, var.numbers + [1] == var.numbers + [2])',
      'steps',
    ],
    ['members of a list in loops', 'var.numbers.map(a, -1 in var.numbers)', 'steps'],
    ['a list that doubles', doubled('[1]'), 'steps'],
    ['a string that doubles', doubled('"a"'), 'steps'],
    [
      'a mapping that doubles',
      Array.from({ length: 40 }).reduce<string>((inner) => `[${inner}].map(v, [v, v])[0]`, '[1]'),
      'steps',
    ],
    ['open brackets', '('.repeat(10_000), 'levels'],
    ['open lists', '['.repeat(10_000), 'levels'],
    ['signs', `${'-'.repeat(10_000)}1`, ''],
    ['a long sum', `1${'+1'.repeat(9_000)}`, 'parts'],
    ['a long expression', `1${'+1'.repeat(100_000)}`, 'longer than 20000 characters'],
    ['a string of quotes', '"'.repeat(19_999), ''],
    ['a pattern', '"' + 'a'.repeat(2_000) + '".matches("^(a+)+$b")', ''],
  ])('%s', (_, source, why) => {
    const begin = performance.now();
    const made = evaluated(source);
    expect(performance.now() - begin).toBeLessThan(5_000);
    expect('problem' in made ? made.problem.summary : '').toContain(why);
  });
});

describe('laws', () => {
  it('any JSON comes back as it was', () => {
    const safe = fc
      .jsonValue({ depthSize: 'small' })
      .map((value) => JSON.parse(JSON.stringify(value)) as Json);
    fc.assert(
      fc.property(safe, (value) => {
        expect(run('each', { each: value })).toEqual({ value });
      }),
    );
  });

  it('any text gives a value or a problem inside of it', () => {
    const words = fc.constantFrom(
      'var',
      '.',
      'x',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '"',
      "'",
      ' ',
      '+',
      '?',
      ':',
      '1',
      'map',
      ',',
      '%',
      '\\',
      'r',
      '//',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 20 }), (all) => {
        const source = all.join('');
        const made = run(source, known);
        const { start, end, summary } =
          'problem' in made ? made.problem : { start: 0, end: 0, summary: '' };
        expect([start >= 0, end <= source.length]).toEqual([true, true]);
        expect(summary).not.toMatch(/v_r|m_tches/);
      }),
      { numRuns: 1_000 },
    );
  });

  it('tokens hold the whole source', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('"', "'", '\\', 'r', '{', '}', 'a', '/', '\n') }),
        (source) => {
          expect([...tokensOf(source)].map(({ text }) => text).join('')).toBe(source);
        },
      ),
    );
  });

  it.each([
    ['a}', 1],
    ['{"a": {}}}', 9],
    ["'}' + r'\\'}", 10],
    ['"""}"\n}"""}', 10],
    ['"a', -1],
    ['// }\n}', 5],
  ])('the brace that closes %j stands at %i', (source, at) => {
    expect(closingBrace(source, 0)).toBe(at);
  });
});

it('what takes too many steps twenty times is not evaluated again', () => {
  const compiled = compileExpression('var.l.map(a, var.l.map(b, var.l.map(c, a + b + c)))', [
    'var',
  ]);
  if ('problem' in compiled) throw new Error(compiled.problem.summary);
  const given = (l: Json) => ({ var: (name: string) => (name === 'l' ? l : undefined) });
  const said = (l: Json) => compiled.value.evaluate(given(l));
  const often = Array.from({ length: 19 }, () => said(numbers));
  expect(said([1])).toEqual({ value: [[[3]]] });
  for (const one of [...often, said(numbers)])
    expect(one).toMatchObject({
      problem: { summary: 'the expression takes more than 1000000 steps' },
    });
  expect(said([1])).toMatchObject({
    problem: { summary: expect.stringContaining('20 times, so it was not evaluated any more') },
  });
});
