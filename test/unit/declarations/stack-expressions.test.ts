// Expressions in a synthesised stack: what their names stand for, when they are evaluated, and what is said of those
// that are wrong, that refer to what is not known yet, or that hold a secret.
import { describe, expect, it } from 'vitest';
import { errors, loading, project, shown, type Tree } from './project.js';

type Options = Parameters<typeof project>[1];

const made = (path: string, more: object): object => ({ '//': { metadata: { path } }, ...more });
const stack = (tree: object, name = 'base'): string =>
  JSON.stringify({ '//': { metadata: { stackName: name } }, ...tree });
const account = (body: object): object => ({
  resource: { devicecloud_account: { a: made('base/a', body) } },
});
const named = (name: string): object => account({ name });
const rule = (settings: string): object => ({
  resource: { devicecloud_alert_rule: { r: made('base/r', { settings }) } },
});

async function values(tree: object, options: Options = {}): Promise<object> {
  const { declarations } = await project(
    { 'cdk.tf.json': stack(tree) },
    { paths: ['cdk.tf.json'], ...options },
  );
  return Object.fromEntries(declarations.map((one) => [one.address, one.values]));
}

const wrong = async (tree: object, options: Options = {}): Promise<string> =>
  (await errors({ 'cdk.tf.json': stack(tree) }, { paths: ['cdk.tf.json'], ...options }))
    .map((one) => `${one.origin?.path} | ${one.attribute} | ${shown(one)}`)
    .join('\n');

const given = {
  variable: {
    list: { type: 'list(string)', default: ['b', 'a'] },
    wrapped: { type: '${map(number)}', default: { a: '1' } },
    object: { type: 'object({ n = number })', default: { n: 2 } },
    flag: { type: 'bool', default: true },
    untyped: { default: 'x' },
    literal: { default: 'a ${b}' },
    none: { type: 'string' },
    pager: { type: 'string', sensitive: true },
    nothing: { type: 'string', default: null },
    items: { type: 'tuple([number, string])', default: ['1', 2] },
    objects: {
      type: 'map(object({ n = number, s: list(string) }))',
      default: { a: { n: '5', s: [1], more: true } },
    },
    anything: { type: 'any', default: [1, '1'] },
  },
  locals: {
    site: '${join("-", ["site", terraform.workspace])}',
    nested: { names: ['${upper(local.site)}', 'plain ${local.site}'], n: 3 },
    whole: '${merge({ a = "x" }, { b = ["y"] })}',
    live: 'of ${devicecloud_account.other.id}',
    secret: '${var.pager}',
    first: '${upper(local.second)}',
    second: '${lower(local.first)}',
  },
};

describe('an expression of a stack', () => {
  it.each<[string, string, unknown]>([
    ['a function', '${join("-", ["a", "b"])}', 'a-b'],
    ['a condition', '${var.flag ? "on" : "off"}', 'on'],
    ['a comparison', '${length(var.list) == 2 ? "two" : "not two"}', 'two'],
    ['arithmetic, as a string', '${var.object.n * 2 + 1}', '5'],
    ['a list of its type', '${join(",", var.list)}', 'b,a'],
    ['a map of its type', '${var.wrapped == (true ? { a = 1 } : { b = 2 })}', 'true'],
    ['a map by its member', '${var.wrapped["a"] + 1}', '2'],
    [
      'objects without the members that they have not',
      '${jsonencode(var.objects.a)}',
      '{"n":5,"s":["1"]}',
    ],
    ['a tuple of its types', '${jsonencode(var.items)}', '[1,"2"]'],
    ['a value of any type', '${jsonencode(var.anything)}', '[1,"1"]'],
    ['a null that is compared', '${var.nothing == null ? "none" : "some"}', 'none'],
    ['braces and escapes in strings', '${lower("$${")} a\\tb ${upper("}")}', '${ a\\tb }'],
    ['an untyped variable', '${upper(var.untyped)}', 'X'],
    ['a literal that looks like a reference', '${upper(var.literal)}', 'A ${B}'],
    ['a local that is an expression', '${upper(local.site)}', 'SITE-DEFAULT'],
    ['a local as it is', '${local.site}', 'site-default'],
    ['members of a local', '${join("|", local.nested.names)}', 'SITE-DEFAULT|plain site-default'],
    ['a member of a local that is an expression', '${local.whole.b[0]}', 'y'],
    ['the workspace', '${terraform.workspace}', 'default'],
    ['text on both sides', '<${upper("a")} ${var.object.n}>', '<A 2>'],
    ['braces in strings', '${upper("a}b")} x', 'A}B x'],
    ['templates in strings', '${var.flag ? "${var.untyped}" : "}"}', 'x'],
    ['several lines', '${join(\n"-",\n["a"])}', 'a'],
    ['a literal', '${true}', 'true'],
    ['what looks like a reference', '${join("", ["$", "{accounts.x.id}"])}', '${accounts.x.id}'],
    ['an index that is a reference', '${var.list[var.object.n - 1]}', 'a'],
  ])('may be %s', async (_, name, expected) => {
    expect(await values({ ...given, ...named(name) })).toEqual({
      'accounts.a': { name: expected },
    });
  });

  it('takes values from outside, and the name of the environment', async () => {
    expect(
      await values(
        { ...given, ...named('${upper(var.none)} ${length(var.list)} ${terraform.workspace}') },
        { variables: { none: 'x', list: '["a"]' } },
      ),
    ).toEqual({ 'accounts.a': { name: 'X 1 default' } });
    const tree: Tree = {
      'cdk.tf.json': stack({ ...given, ...named('${local.site} ${terraform.workspace}') }),
      'trueup.prod.yaml': 'settings: { requests_per_minute: 100 }\n',
    };
    const loaded = await project(tree, { paths: ['cdk.tf.json'], env: 'prod' });
    expect(loaded.declarations[0]?.values).toEqual({ name: 'site-prod prod' });
  });

  it('keeps live references beside it', async () => {
    const found = await values({
      resource: {
        devicecloud_account: {
          other: made('base/other', { name: 'Other' }),
          a: made('base/a', { name: '${upper("a")} ${devicecloud_account.other.id}' }),
        },
      },
    });
    expect(JSON.stringify(found)).toContain('A ${accounts.other.id}');
  });

  it('is evaluated for each member', async () => {
    const found = await values({
      ...given,
      resource: {
        devicecloud_account: {
          each: made('base/each', {
            for_each: '${toset(split(",", "x,y"))}',
            name: '${format("%s-%s", each.key, upper(each.value))}',
          }),
          map: made('base/map', {
            for_each: { a: { n: 1 }, b: { n: 2 } },
            name: '${each.key}${each.value.n + 1}',
          }),
          count: made('base/count', {
            count: '${var.flag ? length(var.list) : 0}',
            name: '${format("%03d", count.index + 1)} ${var.list[count.index]}',
          }),
        },
      },
    });
    expect(
      Object.entries(found).map(([address, one]) => [address, (one as { name: string }).name]),
    ).toEqual([
      ['accounts.each["x"]', 'x-X'],
      ['accounts.each["y"]', 'y-Y'],
      ['accounts.map["a"]', 'a2'],
      ['accounts.map["b"]', 'b3'],
      ['accounts.count["0"]', '001 b'],
      ['accounts.count["1"]', '002 a'],
    ]);
  });

  it('reads outputs of other stacks', async () => {
    const tree: Tree = {
      'out/manifest.json': JSON.stringify({
        stacks: {
          base: { synthesizedStackPath: 'stacks/base/cdk.tf.json' },
          top: { synthesizedStackPath: 'stacks/top/cdk.tf.json' },
        },
      }),
      'out/stacks/base/cdk.tf.json': stack({
        locals: { l: ['b', 'c'] },
        output: {
          names: { value: ['a', '${join("-", local.l)}'] },
          id: { value: '${devicecloud_account.x.id}' },
        },
      }),
      'out/stacks/top/cdk.tf.json': stack(
        named(
          '${join("+", data.terraform_remote_state.cross-stack-reference-input-base.outputs.names)}',
        ),
        'top',
      ),
    };
    const loaded = await project(tree, { paths: ['out'] });
    expect(loaded.declarations[0]?.values).toEqual({ name: 'a+b-c' });
  });

  it.each([
    ['whole', '${jsonencode({ a = [1, "x"], "b" = null })}', { a: [1, 'x'], b: null }],
    ['in quotes', '{"a":"${1 + 1}"}', { a: '2' }],
    ['in quotes with text', '{"a":"n${upper("x")}"}', { a: 'nX' }],
    ['in no quotes', '{"a":${1 + 1},"b":${jsonencode(["x"])}}', { a: 2, b: ['x'] }],
    ['in a local', '${local.document}', { n: 2 }],
  ])('may be part of a document, %s', async (_, settings, expected) => {
    const locals = { document: '${jsonencode({ n = 1 + 1 })}' };
    expect(await values({ locals, ...rule(settings) })).toEqual({
      'alert_rules.r': { settings: expected },
    });
  });

  it('may stand in lookups, imports, settings and lifecycles', async () => {
    const { declarations, lookups, settings } = await project(
      {
        'cdk.tf.json': stack({
          ...given,
          provider: { devicecloud: [{ requests_per_minute: '${100 + 200}' }] },
          data: { devicecloud_account: { hq: made('base/hq', { name: '${upper(var.untyped)}' }) } },
          import: [{ to: 'devicecloud_account.a', id: '${join("", ["1", "2"])}' }],
          ...account({
            name: 'A',
            account: '${data.devicecloud_account.hq.id}',
            lifecycle: { prevent_destroy: '${1 == 1}' },
          }),
        }),
      },
      { paths: ['cdk.tf.json'] },
    );
    expect(lookups[0]?.where).toEqual({ name: 'X' });
    expect(settings.requests_per_minute).toBe(300);
    expect(declarations[0]?.lifecycle).toEqual({ protect: true, adopt: '12' });
  });

  it('converts to the type of its attribute, and null is absent', async () => {
    const found = await values(account({ name: '${1 + 1}', is_disabled: '${lower("TRUE")}' }));
    expect(found).toEqual({ 'accounts.a': { name: '2', is_disabled: true } });
    expect(await values(account({ name: 'A', is_disabled: '${true ? null : true}' }))).toEqual({
      'accounts.a': { name: 'A' },
    });
  });
});

it('has each.value with the type that it has in the for_each', async () => {
  const found = await values({
    variable: {
      sites: { type: 'map(object({ n = number }))', default: { x: { n: '5', more: 1 } } },
    },
    locals: { sites: '${var.sites}' },
    resource: {
      devicecloud_account: {
        v: made('base/v', { for_each: '${var.sites}', name: '${jsonencode(each.value)}' }),
        l: made('base/l', { for_each: '${local.sites}', name: '${each.value.n == 5}' }),
        o: made('base/o', { for_each: { y: { n: '5' } }, name: '${each.value.n == 5}' }),
      },
    },
  });
  expect(found).toEqual({
    'accounts.v["x"]': { name: '{"n":5}' },
    'accounts.l["x"]': { name: 'true' },
    'accounts.o["y"]': { name: 'false' },
  });
});

describe('a variable of a type that is not understood', () => {
  it.each([
    ['object({ n = number, s = optional(string, "d") })', { n: '5' }],
    ['map(any)', { a: 1, b: 'x' }],
    ['list(any)', [1, 'a']],
    ['set(object({ n = optional(number) }))', [{ n: 1 }]],
    ['tuple([any])', [1]],
    ['${list(any)}', [1]],
    ['strnig', 'x'],
  ])('%s is refused as an operand', async (type, initial) => {
    const variable = { v: { type, default: initial } };
    const found = await wrong({ variable, ...named('${jsonencode(var.v)}') });
    const words = type.replace(/^\$\{(.*)\}$/, '$1');
    expect(found).toContain(
      `unsupported-expression: the expression \${jsonencode(var.v)} is not evaluated here: the variable \`v\` is of the type \`${words}\``,
    );
    expect(found).toContain('Work the value out in the program, or let Terraform');
  });

  it('is refused in a for_each, and stays as it is without an expression', async () => {
    const variable = {
      v: { type: 'map(object({ n = optional(string, "d") }))', default: { a: {}, b: { n: 'x' } } },
    };
    const each = (name: string): object => ({
      variable,
      ...account({ for_each: '${var.v}', name }),
    });
    expect(await wrong(each('${lookup(each.value, "n", "z")}'))).toContain(
      'the variable `v` is of the type `map(object(',
    );
    expect(await values(each('${each.key}'))).toEqual({
      'accounts.a["a"]': { name: 'a' },
      'accounts.a["b"]': { name: 'b' },
    });
  });
});

describe('null with text around it', () => {
  it.each([
    ['a variable', named('x${var.nothing}'), 'not-text: ${var.nothing} is null'],
    [
      'a local',
      named('x${local.nothing}'),
      '${local.nothing} is null, which is not allowed inside a string',
    ],
    [
      'each.value',
      account({ for_each: { a: null }, name: 'x${each.value}' }),
      'not-text: ${each.value} is null',
    ],
    [
      'a variable in a document',
      rule('{"a":"${var.nothing}"}'),
      'not-text: ${var.nothing} is null',
    ],
    [
      'a local in a document',
      rule('{"a":"${local.nothing}"}'),
      '${local.nothing} is null, which is not allowed inside a string',
    ],
    [
      'a local in no quotes',
      rule('{"a":${local.nothing}}'),
      '${local.nothing} is null, which is not allowed inside a string',
    ],
  ])('is an error: %s', async (_, tree, expected) => {
    expect(await wrong({ ...given, locals: { nothing: null }, ...tree })).toContain(expected);
  });
});

it.each(
  ['sensitive', 'ephemeral'].flatMap((word) =>
    ['true', '1', 1, '${true}', {}].map((is) => [word, is] as const),
  ),
)('a variable with %s: %j is a secret', async (word, is) => {
  const variable = { s: { type: 'string', [word]: is } };
  for (const name of ['${upper(var.s)}', '${var.s}', 'x ${var.s}']) {
    const found = await wrong(
      { variable, ...named(name) },
      { environment: { TF_VAR_s: 'hunter2' } },
    );
    expect(found).toMatch(/secret: /);
    expect(found).not.toMatch(/hunter2/i);
  }
});

it.each([null, false, 'false'])('a variable with sensitive: %j is none', async (sensitive) => {
  const variable = { s: { type: 'string', sensitive, default: 'x' } };
  expect(await values({ variable, ...named('${upper(var.s)}') })).toEqual({
    'accounts.a': { name: 'X' },
  });
});

describe('an expression that has no value here', () => {
  it.each([
    [
      'a function beyond the table',
      '${sha256("a")}',
      'base/a | name | cdk.tf.json:0:0 unsupported-expression: the expression ${sha256("a")} is not evaluated here: the function `sha256` / Work the value out in the program, or let Terraform carry out this stack with the provider: `terraform plan`.',
    ],
    ['a loop', '${[for x in var.list : x]}', 'is not evaluated here: `for` expressions'],
    ['a splat', '${devicecloud_account.a[*].id}', 'is not evaluated here: `splat` expressions'],
    ['a path', '${upper(path.module)}', 'is not evaluated here: the reference `path.module`'],
    [
      'a division by zero',
      '${1 / 0}',
      'the expression ${1 / 0} is not evaluated here: a division by zero',
    ],
    [
      'a wrong argument',
      '${upper([])}',
      'bad-expression: the expression ${upper([])}: expected a string, found a list',
    ],
    ['a syntax error', '${join(}', 'the expression ${join(}: brackets that do not match'],
    [
      'a null in a text',
      'a ${null}',
      'bad-expression: the expression ${null}: null is not allowed inside a string',
    ],
    [
      'an unknown variable',
      '${upper(var.nmae)}',
      'unknown-variable: the expression ${upper(var.nmae)}: the stack base has no variable `nmae`',
    ],
    [
      'a variable without a value',
      '${upper(var.none)}',
      'unknown-variable: the expression ${upper(var.none)}: the variable `none` has no value',
    ],
    [
      'an unknown local',
      '${upper(local.x)}',
      'unknown-local: the expression ${upper(local.x)}: the stack base has no `local.x`',
    ],
    [
      'locals in a circle',
      '${upper(local.first)}',
      'cycle: the expression ${upper(local.first)}: these lead back to each other: base local.first → base local.second → base local.first',
    ],
    [
      'a live attribute',
      '${upper(devicecloud_account.other.id)}',
      'live-reference: the expression ${upper(devicecloud_account.other.id)}: `devicecloud_account.other.id` is read from the service',
    ],
    [
      'a live attribute in a branch',
      '${var.flag ? "a" : data.devicecloud_account.hq.id}',
      '`data.devicecloud_account.hq.id` is read from the service',
    ],
    [
      'a live attribute in a local',
      '${upper(local.live)}',
      '`devicecloud_account.other.id` is read from the service',
    ],
    [
      'a live attribute of what is not declared',
      '${upper(devicecloud_alert_rule.x.id)}',
      'live-reference: ',
    ],
    ['another stack', '${upper(data.terraform_remote_state.x.outputs.y)}', 'unknown-stack: '],
    ['each outside of a loop', '${upper(each.key)}', 'bad-expression: '],
    ['a count outside of a loop', '${count.index + 1}', 'bad-expression: '],
    ['a list as a string', 'x${concat(["a"])}', 'expected a string, found a list'],
  ])('because it is %s, is an error', async (_, name, expected) => {
    const found = await wrong({ ...given, ...named(name) });
    expect(found.split('\n')).toHaveLength(1);
    expect(found).toContain(expected);
    expect(found).toMatch(/^base\/a \| name \| /);
  });

  it.each([
    ['directly', '${upper(var.pager)}'],
    ['by a local', '${upper(local.secret)}'],
    ['in a branch that is not taken', '${var.flag ? "a" : var.pager}'],
  ])('because a secret stands in it %s, does not repeat the secret', async (_, name) => {
    const found = await wrong(
      { ...given, ...named(name) },
      { environment: { TRUEUP_VAR_pager: 'hunter2', TF_VAR_pager: 'hunter2' } },
    );
    expect(found).toContain('misplaced-secret: ');
    expect(found).toContain('the variable `pager` is sensitive');
    expect(found).not.toContain('hunter2');
  });

  it('because it stands where a secret belongs, is told so', async () => {
    const secret_wo = '${var.flag ? "hunter2" : "x"}';
    const found = await wrong({
      ...given,
      resource: {
        devicecloud_alert_push_destination: {
          p: made('base/p', { name: 'P', enabled: true, authentication: { secret_wo } }),
        },
      },
    });
    expect(found).toContain('literal-secret: ');
    expect(found).not.toContain('hunter2');
  });

  it('because its number or key or text cannot be held, is an error', async () => {
    expect(await wrong(rule('${jsonencode({ a = 12345678901234567890 })}'))).toContain(
      'integer-range',
    );
    expect(await wrong(account({ name: 'A', count: '${1 / 3}' }))).toContain('more digits than');
    expect(await wrong(rule('${jsonencode({ "__proto__" = 1 })}'))).toContain('`__proto__`');
    expect(
      await wrong(account({ name: 'A', for_each: '${merge({ "__proto__" = 1 })}' })),
    ).toContain('the key `__proto__`');
    expect(await wrong(rule('${upper("x")}'))).toContain(
      'bad-json: the expression ${upper("x")}: ',
    );
  });

  it('because locals double again and again, is an error in bounded time', async () => {
    const locals = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `l${n + 1}`,
        `\${upper("\${local.l${n}}\${local.l${n}}")}`,
      ]),
    );
    expect(
      await wrong({ locals: { l0: 'x', ...locals }, ...named('${upper(local.l40)}') }),
    ).toContain('this takes too many steps, or too long a string');
    const long = { variable: { s: { default: 'x'.repeat(10_000) } } };
    const often = `\${jsonencode([${'var.s,'.repeat(200)}])}`;
    expect(await wrong({ ...long, ...named(often) })).toContain('this takes too many steps');
    const chain = Object.fromEntries(
      Array.from({ length: 500 }, (_, n) => [`l${n + 1}`, `\${upper(local.l${n})}`]),
    );
    expect(
      await wrong({ locals: { l0: 'x', ...chain }, ...named('${upper(local.l500)}') }),
    ).toContain('this is nested too deeply');
    const deep = `${'['.repeat(5_000)}1${']'.repeat(5_000)}`;
    const text = stack({ locals: { deep: 0 }, ...named('${length(local.deep) == 1}') });
    const tree = { 'cdk.tf.json': text.replace('{"deep":0}', `{"deep":${deep}}`) };
    const [error] = await errors(tree, { paths: ['cdk.tf.json'] });
    expect(error?.summary).toContain('this is nested too deeply');
  });

  it('because it makes something too deep, is an error', async () => {
    const nested = (levels: number): string => `{"x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    const locals = { open: nested(9_000) };
    expect(await wrong({ locals, ...rule('${join("", [local.open])}') })).toContain(
      'too-deep: the expression ${join("", [local.open])}: a value nested deeper than 64 levels',
    );
    expect(await wrong(rule(nested(9_000)))).toContain(
      'too-deep: base/r: nested deeper than 64 levels',
    );
    expect(await values(rule(nested(60)))).toHaveProperty(['alert_rules.r', 'settings', 'x']);
    const of = `\${${nested(70).replace('"x":', 'x=')}}`;
    expect(await wrong(account({ name: 'A', for_each: of }))).toContain('too-deep: ');
    const variable = { v: { type: 'any' } };
    const found = await wrong(
      { variable, ...named('${length(var.v)}') },
      { variables: { v: nested(9_000) } },
    );
    expect(found).toContain('bad-variable: ');
  });

  it('is not what a file of declarations can name', async () => {
    const { diagnostics } = await loading({
      'trueup.yaml': 'accounts: { a: { name: "${\uE0000}" } }\n',
    });
    expect(diagnostics.map(shown).join('\n')).toContain('bad-reference');
  });
});

describe('a number token that the library did not find', () => {
  const lost =
    'holds the digits of a number token: the library does not find one beside a dash, a digit or a dot';

  it.each([
    ['an expression', named('${acc--8.1e+298}'), 'the expression ${acc--8.1e+298}'],
    [
      'a string in an expression',
      named('${upper("acc--8.109562212591379e+298")}'),
      'the expression ${upper("acc--8.109562212591379e+298")}',
    ],
    ['a text', named('acc--8.109562212591379e+298'), 'the string `acc--8.109562212591379e+298`'],
    [
      'an item of a list of numbers, beside a reference',
      named('acc--1.8881545897087626e+289 ${var.untyped}'),
      'the string `acc--1.8881545897087626e+289 `',
    ],
    ['a document', rule('{"a":"${x--8.1e+298}"}'), 'the expression ${x--8.1e+298}'],
    ['a local', named('${local.lost}'), 'the string `acc--8.1e+298`'],
    [
      'a local in an expression',
      named('${upper(local.lost)}'),
      'the expression ${upper(local.lost)}: the string `acc--8.1e+298`',
    ],
  ])('is named with its cause and the way out in %s', async (_, tree, what) => {
    const found = await wrong({ ...given, locals: { lost: 'acc--8.1e+298' }, ...tree });
    expect(found).toContain(`: ${what} ${lost}`);
    expect(found).toContain(' number-token: ');
    expect(found).toContain('Convert it first: `Token.asString(…)`.');
    expect(found.split('\n')).toHaveLength(1);
  });

  it('is not suspected in other numbers', async () => {
    const name = 'acc--8.2e+29 -7.5e+298 8.1e+298';
    expect(await values(named(name))).toEqual({ 'accounts.a': { name } });
  });
});

it('shows a number in a reference as it is written', async () => {
  expect(await wrong(named('${upper(thing.list[1].name)}'))).toContain(
    'the reference `thing.list.1.name`',
  );
});
