// Expressions in declarations: what they give to attributes, texts and `for_each`, and where an error is placed.
import { describe, expect, it } from 'vitest';
import { Reference, Template } from '../../../src/model/index.js';
import { partsOf } from '../../../src/declarations/reference-syntax.js';
import { errors, loading, project, shown } from './project.js';

const VARIABLES = `
variables:
  region: west
  count: 3
  on: true
  list: [b, a]
  types: [wan, lan]
  sites: { a: { enabled: true, title: A }, b: { enabled: false, title: B } }
  rows: [{ name: x, enabled: true }, { name: y, enabled: false }]
  odd: { a b: spaces, 'size(x)': call, map: word, filter: word, 'x + 1': sum, 'a(b': open }
  dollars: '$\${var.region}'
`;
const environment = {
  SITE: 'north',
  HIDING: 'hidden_token',
  API_TOKEN: 'hidden',
  TRUEUP_MGR_API_KEY: 'hidden',
};

const declared = async (text: string, attribute: string) =>
  (
    await project(
      `${VARIABLES}accounts:\n  p: { name: P }\nalert_rules:\n  r: { ${attribute}: ${text} }\n`,
      { environment },
    )
  ).declarations.find(({ kind }) => kind === 'alert_rules')!.values[attribute];

const name = async (text: string) =>
  (await project(`${VARIABLES}accounts:\n  p:\n    name: ${text}\n`, { environment }))
    .declarations[0]!.values['name'];

it.each<[string, boolean | undefined]>([
  ['plain', undefined],
  ['"${var.region}"', true],
  ['"${env.SITE}"', true],
  ['"${env.SITE.upperAscii()}"', true],
])('whether values may change without the files is known: %s', async (text, is) => {
  const tree = `${VARIABLES}accounts:\n  p: { name: ${text} }\n`;
  expect((await project(tree, { environment })).uses_variables).toBe(is);
});

describe('an expression in a text gives', () => {
  it.each<[text: string, value: string]>([
    ['"${var.region + \'-1\'}"', 'west-1'],
    ['\'${var.region + "-1"}\'', 'west-1'],
    ["\"${var.count > 2 ? 'many' : 'few'}\"", 'many'],
    ['"Site ${var.count + 1} of ${env.SITE.upperAscii()}"', 'Site 4 of NORTH'],
    ['"${var.on && true} ${(1.5)}"', 'true 1.5'],
    ['"${true} ${ false } ${1.5} ${-2}"', 'true false 1.5 -2'],
    ['"${-var.count} ${ -(var.count) } ${--2}"', '-3 -3 2'],
    ['"${var.list.join(\', \')}"', 'b, a'],
    ["\"${{'a': {'b': '}'}}['a']['b']}\"", '}'],
    ["\"${'$' + '{accounts.p.id}'}\"", '${accounts.p.id}'],
    ['"${var.dollars + \'\'}"', '${var.region}'],
    ['"${has(var.none) ? var.none : \'default\'}"', 'default'],
    ['>-\n      ${var.region +\n      "-2"}', 'west-2'],
    ['"$${var.region + 1}"', '${var.region + 1}'],
    ['"${var["region"]}"'.replaceAll('"', "'").replace("'$", '"$').replace(/'$/, '"'), 'west'],
    // What was a reference stays one, whatever the keys of a mapping are.
    ['"${var.odd.a b}"', 'spaces'],
    ['"${var.odd.size(x)}"', 'call'],
    ['"${var.odd.map}"', 'word'],
    ['"${var.odd.filter}"', 'word'],
    ['"${var.odd.x + 1}"', 'sum'],
    ['"${var.odd.a(b}"', 'open'],
  ])('%s: %s', async (text, value) => {
    expect(await name(text)).toBe(value);
  });
});

describe('an expression that is the whole value keeps its type', () => {
  it.each([
    ['associated_accounts', '"${[string(var.count), \'5\']}"', ['3', '5']],
    [
      'associated_accounts',
      '["${accounts.p.id}", "${string(var.count)}"]',
      expect.arrayContaining([expect.any(Reference), '3']),
    ],
    [
      'filter_criteria',
      "\"${{'alert_type__in': var.types.map(t, t + '_down')}}\"",
      { alert_type__in: ['lan_down', 'wan_down'] },
    ],
  ])('%s: %s', async (attribute, text, value) => {
    expect(await declared(text, attribute)).toEqual(value);
  });

  it('a boolean', async () => {
    const [one] = (
      await project(
        `${VARIABLES}configuration_managers:\n  m: { router: "12", suspended: "\${var.count > 5}" }\n`,
      )
    ).declarations;
    expect(one!.values['suspended']).toBe(false);
  });

  it('beside references', async () => {
    const { declarations } = await project(
      `${VARIABLES}accounts:\n  p: { name: P }\n  q: { name: "\${var.region + '!'} \${accounts.p.id}" }\n`,
    );
    expect(declarations[1]!.values['name']).toBeInstanceOf(Template);
    expect(String(declarations[1]!.values['name'])).toContain('west! ');
  });
});

describe('for_each', () => {
  it.each([
    ['"${var.list.filter(l, l != \'a\')}"', ['accounts.p["b"]']],
    ['"${var.sites.filter(s, var.sites[s].enabled)}"', ['accounts.p["a"]']],
    ['"${var.rows.filter(s, s.enabled)}"', ['accounts.p["x"]']],
    ['"${{\'k\': 1}}"', ['accounts.p["k"]']],
    ['"${[]}"', []],
    ['[{ name: x }, y]', ['accounts.p["x"]', 'accounts.p["y"]']],
  ])('%s', async (text, addresses) => {
    const { declarations } = await project(
      `${VARIABLES}accounts:\n  p: { for_each: ${text}, name: "\${each.key + '!'}" }\n`,
    );
    expect(declarations.map(({ address }) => address)).toEqual(addresses);
    expect(declarations.map(({ values }) => String(values['name']).at(-1))).toEqual(
      addresses.map(() => '!'),
    );
  });

  it('members of a value that hold references stay usable beside them', async () => {
    const { declarations } = await project(
      `accounts:\n  p: { name: P }\n  q: { for_each: { a: { title: T, parent: "\${accounts.p.id}" } }, name: "\${each.value.title + '!'}", account: "\${each.value.parent}" }\n`,
    );
    expect(declarations[1]!.values).toMatchObject({ name: 'T!', account: expect.any(Reference) });
  });
});

describe('a macro of a list takes two arguments', () => {
  it.each<[source: string, said: string]>([
    ['var.list.map(x)', '`map` takes two arguments, not 1'],
    ['var.list.filter(x)', '`filter` takes two arguments, not 1'],
    ['var.list.all(x)', '`all` takes two arguments, not 1'],
    ['var.list.exists(x)', '`exists` takes two arguments, not 1'],
    ['var.list.exists_one(x)', '`exists_one` takes two arguments, not 1'],
    ['var.list.map()', '`map` takes two arguments, not none'],
    ['var.list.map(x, x, x, x)', '`map` takes two arguments, not 4'],
    ['var.list.map(x, x.filter(y))', '`filter` takes two arguments, not 1'],
    ['var.list.filter("a")', '`filter` takes two arguments, not 1'],
  ])('%s', async (source, said) => {
    const [one] = await errors({
      'p.yaml': `${VARIABLES}accounts:\n  p: { name: '\${${source}}' }\n`,
    });
    expect(one?.summary).toBe(said);
    expect(one?.detail).toMatch(/^A name for each item, and an expression: `var\.names\.\w+\(/);
  });

  it.each([
    ['lost.map(x)', '`lost` is not a variable'],
    ['var.list.map(x) + lost', '`map` takes two arguments, not 1'],
    ['var.list.map(x, lost)', '`lost` is not a variable'],
    ['var.list.map(x, x + lost.size())', '`lost` is not a variable'],
    ['var.list.map(x, true, lost)', '`lost` is not a variable'],
  ])('and is not suspected for another error: %s', async (source, said) => {
    const [one] = await errors({
      'p.yaml': `${VARIABLES}accounts:\n  p: { name: '\${${source}}' }\n`,
    });
    expect(one?.summary).toContain(said);
  });
});

describe('a value of another type that an expression gives', () => {
  it.each([`'\${"a".matches("a")}'`, '"${var.on}"', '"${var.count}"'])(
    'is converted in the expression: %s',
    async (text) => {
      const [one] = await errors({ 'p.yaml': `${VARIABLES}accounts:\n  p: { name: ${text} }\n` });
      expect(one?.summary).toContain('`name`: a string is expected');
      expect(one?.detail).toBe('Convert it in the expression: `string(…)`.');
    },
  );

  it('is not written in quotes where one of some words is expected', async () => {
    const text = 'settings: { roles: { readonly: 1 } }\n';
    const [one] = await errors({ 'p.yaml': text });
    expect([one?.code, one?.detail]).toEqual(['wrong-type', undefined]);
  });

  it.each([
    ['name', 'Give it a value.'],
    ['account', 'Give it a value, or leave the key out: what is absent is not managed.'],
  ])('is no null: %s', async (name, detail) => {
    const values = { name: 'A', account: '"1"', [name]: 'null' };
    const text = `accounts: { p: { name: ${values.name}, account: ${values.account} } }\n`;
    const [one] = await errors({ 'p.yaml': text });
    expect([one?.code, one?.detail]).toEqual(['null-value', detail]);
  });

  it.each([
    ['accounts:\n  p: { name: true }\n'],
    ['account_authorizations:\n  p: { user: "1", account: "1", role: 5 }\n'],
    ['alert_rules:\n  p: { schedule: true }\n'],
    ['alert_rules:\n  p: { filter_criteria: { alert_type__in: [5] } }\n'],
  ])('is written in quotes where it is no expression: %j', async (text) => {
    const [one] = await errors({ 'p.yaml': text });
    expect([one?.code, one?.detail]).toEqual(['wrong-type', 'Write it in quotes.']);
  });

  it.each([
    ['associated_accounts: [null]', 'Give it a value, or remove it.'],
    ['filter_criteria: { alert_type__in: null }', 'Give it a value. `[]` means none.'],
    [
      'associated_accounts: null',
      'Give it a value, or leave the key out: what is absent is not managed. `[]` means none.',
    ],
  ])('is no null in a list: %s', async (rule, detail) => {
    const [one] = await errors({ 'p.yaml': `alert_rules: { p: { ${rule} } }\n` });
    expect([one?.code, one?.detail]).toEqual(['null-value', detail]);
  });

  it.each([
    ['var.count-1', /\nIf `-` is a minus sign, write blanks around it\.$/],
    ['var.counts-1', /of the PATHs\.$/],
  ])('a hyphen that may be a minus sign is told: %s', async (expression, detail) => {
    const text = `variables: { count: 2 }\naccounts: { a: { name: "n \${${expression}}" } }\n`;
    const [one] = await errors({ 'p.yaml': text });
    expect([one?.code, one?.detail]).toEqual(['unknown-variable', expect.stringMatching(detail)]);
  });

  it('does not list all that a choice knows', async () => {
    const text = 'alert_rules:\n  p: { filter_criteria: { alert_type__in: [5] } }\n';
    const [one] = await errors({ 'p.yaml': text });
    expect(one?.summary).toMatch(/one of account_locked, .* and \d+ more is expected/);
  });
});

describe('an expression is wrong', () => {
  it.each<[text: string, said: string | RegExp]>([
    [
      '"${var.regoin + \'\'}"',
      /^3:18 unknown-variable: the variable `regoin` has no value. Did you mean `region`\?/,
    ],
    [
      '"a ${1 + var.count == \'a\'}"',
      /^3:16 bad-expression: these types do not go together: int == string/,
    ],
    ['"${vra.region + 1}"', /^3:14 bad-expression: `vra` is not a variable. Did you mean `var`\?/],
    ['"${accounts.p.id + \'\'}"', /^3:14 live-reference: `accounts` is read from the service/],
    ['"${size(accounts.p.id)}"', /^3:19 live-reference/],
    ["\"${lookups.hq.id == '1' ? 'a' : 'b'}\"", /^3:14 live-reference: `lookups`/],
    [
      '"${\'a\' + secret.env.X}"',
      /^3:20 misplaced-secret: .* a secret is not allowed inside an expression/,
    ],
    ['"${secret.env.X + \'a\'}"', /^3:14 misplaced-secret/],
    ['"${env.API_TOKEN + \'\'}"', /credential-in-env: env.API_TOKEN: .*secret.env.API_TOKEN/],
    [
      "\"${env['API_' + 'TOKEN']}\"",
      /credential-in-env: the name made here is that of a credential/,
    ],
    ['"${env[\'API_TOKEN\']}"', /credential-in-env: env.API_TOKEN/],
    ['"${env[env.HIDING]}"', /credential-in-env: the name made here is that of a credential/],
    ['"${env.TRUEUP_MGR_API_KEY == \'\' ? 1 : 2}"', /own-credential/],
    [
      '"${env.SITES + \'\'}"',
      /^3:18 unknown-environment: the environment variable SITES is not set/,
    ],
    ['"${each.key + \'\'}"', /no-for-each: `each` is used outside/],
    ['"${var.count + 1}"', /wrong-type: `name`: a string is expected, not an integer/],
    ['"${true}"', /wrong-type: `name`: a string is expected, not true or false/],
    ['"${null}"', /null-value: `name`: a string is expected, not null/],
    ['"a${null}"', /not-text: \$\{null\} is null, which is not allowed inside a string/],
    ['"${truth}"', /bad-reference: the reference is incomplete/],
    ['"a ${var.list + []}"', /not-text: .* is not a single value/],
    ['"${1 +}"', /^3:17 bad-expression: a value is missing at the end/],
    ['"${(1}"', /bad-expression/],
    ['"${var.list[7]}"', /bad-expression: the index is outside of the list/],
    ['"${var.list.map(a, var.list.map}"', /bad-expression/],
    ['"${foo(1)}"', /bad-expression: `foo` is not a function/],
    ['"${HOME:-x}"', /bad-expression: .*`\$\$\{` is a literal/],
    ['"${\'a\'"', /bad-reference: a `\$\{` is never closed/],
    ['"${var.region.matches(\'(\')}"', /bad-expression: the pattern is wrong/],
    [
      `"\${${'('.repeat(9_000)}1${')'.repeat(9_000)}}"`,
      /bad-expression: the expression is too large/,
    ],
    [
      `"\${${'('.repeat(30_000)}1${')'.repeat(30_000)}}"`,
      /bad-expression: the expression is longer/,
    ],
    [`"\${1${'+1'.repeat(9_000)}}"`, /bad-expression: the expression is too large/],
    [
      '"${[1,2,3,4,5,6,7,8,9,10].map(a, [1,2,3,4,5,6,7,8,9,10].map(b, [1,2,3,4,5,6,7,8,9,10].map(c, [1,2,3,4,5,6,7,8,9,10].map(d, [1,2,3,4,5,6,7,8,9,10].map(e, [1,2,3,4,5,6,7,8,9,10])))))}"',
      /bad-expression: the expression takes more than 1000000 steps/,
    ],
    ['"${var.dollars + secret}"', /misplaced-secret/],
    ["\"${{'a': 1, 'a': 2}}\"", /bad-expression: a key appears twice/],
  ])('%s', async (text, said) => {
    const begin = performance.now();
    const found = await errors(`accounts:\n  p:\n    name: ${text}\n${VARIABLES}`, { environment });
    expect(performance.now() - begin).toBeLessThan(5_000);
    expect(shown(found[0]!).replace('trueup.yaml:', '')).toMatch(said);
    expect(found.map(shown).join()).not.toContain('hidden');
  });

  it.each([
    ['a folded text', '>-\n      a\n      ${1 +\n      var.typo}', '6:11'],
    ['double quotes with escapes', String.raw`"\"x\" ${'${'}\"a\" + var.typo}"`, '3:32'],
    ['single quotes', "'a ${''b'' + var.typo}'", '3:28'],
    ['the second of two', '"${var.region + \'\'} ${var.region + var.typo}"', '3:50'],
  ])('in %s', async (_, text, place) => {
    const [first] = await errors(`accounts:\n  p:\n    name: ${text}\n${VARIABLES}`);
    expect(shown(first!)).toMatch(new RegExp(`^trueup.yaml:${place} unknown-variable`));
  });

  it('in a for_each: a mapping without a name is no member', async () => {
    const [first] = await errors(
      `${VARIABLES}accounts:\n  p: { for_each: "\${[{'title': 'x'}]}", name: x }\n`,
    );
    expect(shown(first!)).toMatch(
      /a string or a mapping with a `name` is expected; this one has only `title`/,
    );
  });

  it('where a secret belongs', async () => {
    const [first] = await errors(
      `${VARIABLES}alert_push_destinations:\n  d: { name: D, endpoint: { url: "https://a.example" }, authentication: { secret: "\${var.region + '1'}" } }\n`,
    );
    expect(shown(first!)).toMatch(/literal-secret/);
  });

  it.each([
    "each.value + '!'",
    "each.value == 'a' ? 'yes' : 'no'",
    "each.value == null ? 'yes' : 'no'",
    "each.value in ['a'] ? 'yes' : 'no'",
    "[each.value] == ['a'] ? 'yes' : 'no'",
    "each.value.startsWith('a') ? 'yes' : 'no'",
    "'%s'.format([each.value])",
    'size(each.value)',
    '[each.value][0]',
  ])('%s of a value that is known later', async (source) => {
    const [first] = await errors(
      `accounts:\n  p: { name: P }\n  q: { for_each: { a: "\${accounts.p.id}" }, name: "\${${source}}" }\n`,
    );
    expect(first).toMatchObject({
      code: 'live-reference',
      summary: expect.stringContaining(
        'the value here holds ${accounts.p.id}, which is read from the service',
      ) as string,
      detail: expect.stringContaining('A reference must be the whole value') as string,
    });
  });

  it.each(["each.value == ['a']", "'a' in each.value", "each.value == {'a': 'a'}"])(
    '%s with members that are known later',
    async (source) => {
      const list = source.includes('{') ? '{ a: "${accounts.p.id}" }' : '["${accounts.p.id}"]';
      const [first] = await errors(
        `accounts:\n  p: { name: P }\n  q: { for_each: { a: ${list} }, name: "\${string(${source})}" }\n`,
      );
      expect(first).toMatchObject({ code: 'live-reference' });
    },
  );

  it.each(['${each}', '${accounts.}', 'a ${var.} b'])(
    'uses %s, which has no form of a reference',
    async (malformed) => {
      const [first] = await errors(
        `templates:\n  t: { parameters: { properties: { s: { type: string } } }, accounts: { a: { name: "\${param.s + 'x'}" } } }\n` +
          `use: { u: { template: t, with: { s: "${malformed}" } } }\n`,
      );
      expect(first).toMatchObject({
        code: 'bad-reference',
        summary: `the value here holds ${malformed.replace(/^a | b$/g, '')}: the reference is incomplete or has a form that does not exist`,
        detail: expect.stringContaining('References are as in') as string,
      });
    },
  );

  it('compares a secret', async () => {
    const [first] = await errors(
      `templates:\n  t: { parameters: { properties: { s: { type: string } } }, accounts: { a: { name: "\${param.s == 'x' ? 'y' : 'n'}" } } }\n` +
        'use: { u: { template: t, with: { s: "hidden ${secret.env.PW}" } } }\n',
    );
    expect(first).toMatchObject({
      code: 'misplaced-secret',
      summary: expect.stringContaining(
        'the value here holds the secret ${secret.env.PW},',
      ) as string,
    });
  });
});

it('what an expression does not use may be known later', async () => {
  const loaded = await loading(
    `accounts:\n  p: { name: P }\n  q: { for_each: { a: { x: "\${accounts.p.id}", y: b } }, name: "\${each.value.y + ('x' in each.value ? '!' : '?') + string(size([1].map(i, each.value)))}" }\n`,
  );
  expect(loaded.diagnostics).toEqual([]);
});

it('variables of branches that are not taken count as used', async () => {
  const loaded = await loading(`accounts:\n  p: { name: "\${true ? 'a' : var.other}" }\n`, {
    variables: { other: 'x' },
  });
  expect(loaded.diagnostics).toEqual([]);
});

it('many openings in one text end at once', () => {
  const begin = performance.now();
  for (const piece of ['${(', "${('", '${("', '${{', '${(}', "${'"]) partsOf(piece.repeat(100_000));
  expect(performance.now() - begin).toBeLessThan(5_000);
});

describe('the members of a variable are not all known: it is an error to list them', () => {
  it.each([
    'var.filter(k, true)',
    'var.map(k, k)',
    'var.exists(k, true) ? [] : []',
    'size(var) == 0 ? [] : []',
    'var == {} ? [] : []',
    "'%s'.format([env]) == '' ? [] : []",
    'env.map(k, k)',
    'param.map(k, k)',
    'each.map(k, k)',
  ])('%s', async (source) => {
    const text = `${VARIABLES}accounts:\n  p: { for_each: "\${${source}}", name: P }\n`;
    expect((await errors(text, { environment })).map(shown)).toEqual([
      expect.stringContaining('cannot be listed'),
    ]);
  });

  it('and none to ask for one', async () => {
    expect(await name('"${\'region\' in var} ${has(env.NOPE)}"')).toBe('true false');
  });
});
