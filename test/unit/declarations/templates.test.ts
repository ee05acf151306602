// Templates: what a use of one declares, under which addresses, and what is said of both places where it is wrong.
import { describe, expect, it } from 'vitest';
import { Reference, Secret, type Declaration } from '../../../src/model/index.js';
import { errors, loading, project, shown, type Tree } from './project.js';

const SITE = `
templates:
  site:
    parameters:
      required: [title]
      properties:
        title: { type: string, minLength: 2 }
        types: { type: array, items: { type: string }, default: [wan_down] }
        parent: { type: string }
        secret: { type: string }
        on: { type: boolean, default: true }
    accounts:
      main: { name: "\${param.title}" }
      sub: { for_each: [a, b], name: "\${param.title} \${each.key}", account: "\${accounts.main.id}" }
    alert_push_destinations:
      hook:
        name: "\${param.title + '!'}"
        endpoint: { url: "https://hooks.example.com/\${param.title}" }
        authentication: { secret: "\${has(param.secret) ? 'x' : 'y'}" }
    alert_rules:
      down:
        associated_accounts: ["\${accounts.main.id}", "\${accounts.sub[\\"b\\"].id}"]
        filter_criteria: { alert_type__in: "\${param.types}" }
`.replace(/ {4}alert_push_destinations:[^]*?(?= {4}alert_rules)/, '');

const shape = ({ address, values }: Declaration): readonly [string, string] => [
  address,
  Object.values(values).flat().map(String).join(' '),
];

const declared = async (tree: Tree | string, options = {}) =>
  (await project(tree, options)).declarations;

describe('a use', () => {
  it('declares the objects of the template, which refer to one another', async () => {
    const tree = {
      'site.yaml': SITE,
      'use.yaml': 'use:\n  acme: { template: site, with: { title: Acme } }\n',
    };
    const all = await declared(tree);
    expect(all.map(shape)).toEqual([
      ['accounts.acme-main', 'Acme'],
      ['accounts.acme-sub["a"]', 'Acme a ${accounts.acme-main.id}'],
      ['accounts.acme-sub["b"]', 'Acme b ${accounts.acme-main.id}'],
      [
        'alert_rules.acme-down',
        '${accounts.acme-main.id} ${accounts.acme-sub["b"].id} [object Object]',
      ],
    ]);
    expect(all[0]!.file).toBe('use.yaml');
    expect(all[0]!.origin).toEqual({
      file: 'site.yaml',
      line: 13,
      column: 7,
      used_at: { file: 'use.yaml', line: 2, column: 3 },
    });
    expect(all[0]!.at('name')).toMatchObject({ line: 13, column: 15, used_at: { line: 2 } });
  });

  it('with a for_each declares them for each key', async () => {
    const all = await declared(
      `${SITE}variables: { sites: { c00: One, c01: Two } }\nuse:\n  health: { for_each: "\${var.sites}", template: site, with: { title: "\${each.value}" } }\naccounts:\n  other: { name: "\${accounts.health-main[\\"c01\\"].id}" }\n`,
    );
    expect(all.map(shape)).toEqual([
      ['accounts.other', '${accounts.health-main["c01"].id}'],
      ['accounts.health-main["c00"]', 'One'],
      ['accounts.health-sub["c00/a"]', 'One a ${accounts.health-main["c00"].id}'],
      ['accounts.health-sub["c00/b"]', 'One b ${accounts.health-main["c00"].id}'],
      [
        'alert_rules.health-down["c00"]',
        '${accounts.health-main["c00"].id} ${accounts.health-sub["c00/b"].id} [object Object]',
      ],
      ['accounts.health-main["c01"]', 'Two'],
      ['accounts.health-sub["c01/a"]', 'Two a ${accounts.health-main["c01"].id}'],
      ['accounts.health-sub["c01/b"]', 'Two b ${accounts.health-main["c01"].id}'],
      [
        'alert_rules.health-down["c01"]',
        '${accounts.health-main["c01"].id} ${accounts.health-sub["c01/b"].id} [object Object]',
      ],
    ]);
  });

  it('passes references and secrets on, which mean what they mean where they stand', async () => {
    const all = await declared(`
templates:
  t:
    parameters: { properties: { parent: { type: string }, key: { type: string } } }
    accounts: { main: { name: N, account: "\${param.parent}" } }
    alert_push_destinations:
      hook: { name: "\${param.parent}x", endpoint: { url: https://a.example }, authentication: { secret: "\${param.key}" } }
accounts: { main: { name: Outside } }
use: { u: { template: t, with: { parent: "\${accounts.main.id}", key: "\${secret.env.KEY}" } } }
`);
    expect(all[1]!.values['account']).toEqual(new Reference('declared', 'accounts.main', 'id'));
    expect(all[2]!.values['authentication']).toMatchObject({ secret: expect.any(Secret) });
    expect(String(all[2]!.values['name'])).toBe('${accounts.main.id}x');
  });

  it('of a template in a template joins names and keys', async () => {
    const all = await declared(`
templates:
  inner:
    parameters: { required: [n], properties: { n: { type: string }, up: { type: string, default: "0" } } }
    accounts: { a: { name: "\${param.n}", account: "\${param.up}" }, b: { name: b, account: "\${accounts.a.id}" } }
  outer:
    accounts: { a: { name: top }, c: { name: "\${accounts.one-a.id} \${accounts.two-a[\\"y\\"].id}" } }
    use:
      one: { template: inner, with: { n: first, up: "\${accounts.a.id}" } }
      two: { template: inner, for_each: [x, y], with: { n: "\${each.key}" } }
use:
  p: { template: outer }
  q: { template: outer, for_each: [k] }
`);
    expect(all.map(shape)).toEqual([
      ['accounts.p-a', 'top'],
      ['accounts.p-c', '${accounts.p-one-a.id} ${accounts.p-two-a["y"].id}'],
      ['accounts.p-one-a', 'first ${accounts.p-a.id}'],
      ['accounts.p-one-b', 'b ${accounts.p-one-a.id}'],
      ['accounts.p-two-a["x"]', 'x 0'],
      ['accounts.p-two-b["x"]', 'b ${accounts.p-two-a["x"].id}'],
      ['accounts.p-two-a["y"]', 'y 0'],
      ['accounts.p-two-b["y"]', 'b ${accounts.p-two-a["y"].id}'],
      ['accounts.q-a["k"]', 'top'],
      ['accounts.q-c["k"]', '${accounts.q-one-a["k"].id} ${accounts.q-two-a["k/y"].id}'],
      ['accounts.q-one-a["k"]', 'first ${accounts.q-a["k"].id}'],
      ['accounts.q-one-b["k"]', 'b ${accounts.q-one-a["k"].id}'],
      ['accounts.q-two-a["k/x"]', 'x 0'],
      ['accounts.q-two-b["k/x"]', 'b ${accounts.q-two-a["k/x"].id}'],
      ['accounts.q-two-a["k/y"]', 'y 0'],
      ['accounts.q-two-b["k/y"]', 'b ${accounts.q-two-a["k/y"].id}'],
    ]);
  });

  it('fills keys of siblings in from each', async () => {
    const all = await declared(`
templates:
  t:
    accounts:
      a: { for_each: [x], name: "\${each.key}" }
      b: { for_each: [x], name: b, account: "\${accounts.a[each.key].id}" }
use: { u: { template: t, for_each: [k] } }
`);
    expect(all.map(shape)[1]).toEqual(['accounts.u-b["k/x"]', 'b ${accounts.u-a["k/x"].id}']);
  });

  it('takes moved blocks and renamed_from', async () => {
    const { declarations, refactorings } = await project(`
templates:
  t:
    accounts: { a: { name: N, lifecycle: { renamed_from: old } }, b: { name: M } }
use: { u: { template: t, for_each: [k] }, v: { template: t } }
moved: [{ from: accounts.b, to: 'accounts.u-b["k"]' }]
`);
    expect(declarations.map(({ lifecycle }) => lifecycle.renamed_from)).toEqual([
      'u-old["k"]',
      undefined,
      'v-old',
      undefined,
    ]);
    expect(declarations[1]!.moved_from).toMatchObject([{ address: 'accounts.b' }]);
    expect(refactorings).toHaveLength(1);
  });

  it('fills the same text in for each object: by its member, and by the type of its attribute', async () => {
    const all = await declared(`
templates:
  t:
    parameters: { properties: { on: { type: string } } }
    accounts:
      a: { name: "\${param.on}", is_disabled: "\${param.on}" }
      b: { for_each: [x, y], name: "\${each.key} \${param.on}", is_disabled: "\${param.on == 'true' && each.key == 'x'}" }
use: { u: { template: t, for_each: ["true", "false"], with: { on: "\${each.key}" } } }
`);
    expect(all.map(({ values }) => [values['name'], values['is_disabled']])).toEqual([
      ['true', true],
      ['x true', true],
      ['y true', false],
      ['false', false],
      ['x false', false],
      ['y false', false],
    ]);
  });

  it('gives one list to several attributes, and puts it in order in one of them alone', async () => {
    const [rule, other, again] = await declared(`
templates:
  t:
    parameters: { properties: { types: { type: array, items: { type: string } } } }
    alert_rules:
      a: { associated_groups: [1], filter_criteria: { alert_type__in: "\${param.types}" }, settings: { all: "\${param.types}" } }
      b: { associated_groups: [2], settings: { all: "\${param.types}" } }
use:
  u: { template: t, with: { types: [login_success, account_locked] } }
  v: { template: t, with: { types: [wwan_standby] } }
`);
    const written = ['login_success', 'account_locked'];
    expect(rule!.values['filter_criteria']).toEqual({ alert_type__in: written.toReversed() });
    expect(rule!.values['settings']).toEqual({ all: written });
    expect(other!.values['settings']).toEqual({ all: written });
    expect(again!.values['settings']).toEqual({ all: ['wwan_standby'] });
  });

  it('complains of each object of each instance that holds the same wrong text', async () => {
    const found = await errors(`
templates:
  t:
    accounts:
      a: { name: "\${param.none}" }
      b: { name: "\${param.none}" }
use: { u: { template: t, for_each: [k, l] } }
`);
    expect(found.map(({ address, code }) => [address, code])).toEqual([
      ['accounts.u-a["k"]', 'unknown-parameter'],
      ['accounts.u-b["k"]', 'unknown-parameter'],
      ['accounts.u-a["l"]', 'unknown-parameter'],
      ['accounts.u-b["l"]', 'unknown-parameter'],
    ]);
  });

  it('gives defaults that refer to what is outside, and are computed', async () => {
    const all = await declared(
      `variables: { stage: test }
templates:
  t:
    parameters:
      properties:
        parent: { type: string, default: "\${accounts.top.id}" }
        title: { type: string, default: "\${var.stage + '!'}" }
    accounts:
      main: { name: "\${param.title}", account: "\${param.parent}" }
use:
  a: { template: t }
  b: { template: t, with: { parent: "7" } }
accounts:
  top: { name: Top }
`,
    );
    expect(all.map(shape)).toEqual([
      ['accounts.top', 'Top'],
      ['accounts.a-main', 'test! ${accounts.top.id}'],
      ['accounts.b-main', 'test! 7'],
    ]);
  });

  it.each<[what: string, schema: string, said: readonly string[]]>([
    [
      'of another type',
      '{ d: { type: string, default: 5 } }',
      ['`parameters.properties.d.default` must be string, not an integer'],
    ],
    [
      'inside',
      '{ d: { type: object, default: { n: [x] }, properties: { n: { items: { type: integer } } } } }',
      ['`parameters.properties.d.default.n.0` must be integer, not a string'],
    ],
    [
      'two',
      '{ d: { type: integer, minimum: 2, default: 1 }, e: { enum: [a], default: b } }',
      [
        '`parameters.properties.d.default` must be >= 2',
        '`parameters.properties.e.default` is not one of the allowed values. Did you mean `a`?',
      ],
    ],
  ])('with a wrong default is wrong once, in the template: %s', async (_, properties, said) => {
    const found = await errors(
      `templates:\n  t:\n    parameters:\n      properties: ${properties}\n    accounts: { a: { name: A } }\nuse:\n  u: { template: t }\n  v: { template: t }\n`,
    );
    expect(found.map(({ code, summary, origin }) => [code, summary, origin?.line])).toEqual(
      said.map((one) => ['wrong-parameter', one, 4]),
    );
  });

  it('cannot have a default that names a parameter', async () => {
    const found = await errors(
      `templates:\n  t:\n    parameters:\n      properties: { p: { type: string }, q: { type: string, default: "\${param.p}" } }\n    accounts: { a: { name: "\${param.q}" } }\nuse:\n  u: { template: t, with: { p: z } }\n`,
    );
    expect(found).toMatchObject([
      {
        code: 'no-template',
        summary: 'a default is the same for every use, so it cannot name a parameter',
        origin: { line: 4, column: 61 },
      },
    ]);
  });

  it.each<[where: string, schema: string, path: string]>([
    [
      'a member',
      'properties: { o: { type: object, default: {}, properties: { l: { default: "${var.region}-1" } } } }',
      'properties.o.properties.l.default',
    ],
    [
      'an item, a reference',
      'properties: { o: { type: array, items: { type: object, properties: { l: { default: { p: ["${accounts.a.id}"] } } } } } }',
      'properties.o.items.properties.l.default',
    ],
    [
      'a schema beside it',
      'properties: { o: {} }, allOf: [{ properties: { o: { default: "${var.region}" } } }]',
      'allOf.0.properties.o.default',
    ],
  ])('cannot have a default with an expression in %s of a parameter', async (_, schema, path) => {
    const found = await errors(
      `variables: { region: west }\ntemplates:\n  t:\n    parameters: { ${schema} }\n    accounts: { a: { name: "\${param.o}" } }\nuse: { u: { template: t } }\n`,
    );
    expect(found).toMatchObject([
      {
        code: 'bad-schema',
        summary: `\`parameters.${path}\` cannot hold references or expressions`,
        origin: { line: 4 },
      },
    ]);
    expect(found[0]!.detail).toContain('put it into the `default` of the parameter itself');
  });

  it('keeps references in a default that defaults of its members complete', async () => {
    const all = await declared(
      'templates:\n  t:\n    parameters: { properties: { o: { type: object, default: { up: "${accounts.top.id}" }, properties: { default: { type: string, default: "$${n}" } } } } }\n    accounts: { m: { name: "${param.o.default}", account: "${param.o.up}" } }\nuse: { u: { template: t } }\naccounts: { top: { name: Top } }\n',
    );
    expect(all[1]!.values).toEqual({
      name: '${n}',
      account: new Reference('declared', 'accounts.top', 'id'),
    });
  });

  it('names the values of a parameter that takes some alone', async () => {
    const found = await errors(
      'templates:\n  t:\n    parameters:\n      properties: { tier: { enum: [gold, tin, 3] } }\n    accounts: { a: { name: A } }\nuse:\n  u: { template: t, with: { tier: golf } }\n',
    );
    expect(found).toMatchObject([
      {
        code: 'wrong-parameter',
        summary: '`with.tier` is not one of the allowed values. Did you mean `gold`?',
        detail: 'Allowed values: "gold", "tin", 3. The template `t` is in trueup.yaml:2:3.',
      },
    ]);
  });

  it('may have a default beside a parameter that every use has to give', async () => {
    const { declarations } = await project(
      `templates:\n  t:\n    parameters:\n      required: [n]\n      minProperties: 2\n      properties: { n: { type: string }, d: { type: string, default: D } }\n    accounts: { a: { name: "\${param.n + param.d}" } }\nuse:\n  u: { template: t, with: { n: N } }\n`,
    );
    expect(declarations[0]?.values).toEqual({ name: 'ND' });
  });

  it('gives defaults at any depth, and leaves what is text literal', async () => {
    const all = await declared(`
templates:
  t:
    parameters:
      properties:
        one: { type: object, default: {}, properties: { two: { type: string, default: "a $\${b}" } } }
        list: { type: array, items: { type: object, properties: { n: { type: integer, default: 7 } } } }
    accounts: { a: { name: "\${param.one.two} \${param.list[0].n + 1} \${param.list.0.n}" } }
use: { u: { template: t, with: { list: [{}] } } }
`);
    expect(all[0]!.values['name']).toBe('a ${b} 8 7');
  });
});

const T =
  'templates:\n  t:\n    parameters: { required: [a], properties: { a: { type: string, pattern: "^x" }, n: { type: integer, minimum: 2 } } }\n    accounts: { m: { name: "${param.a}" } }\n';

describe('what is wrong is said with both places', () => {
  it.each<[tree: string, said: RegExp]>([
    [
      `${T}use:\n  u: { template: t }\n`,
      /^6:3 missing-parameter: `with.a` is missing \/ The template `t` is in trueup.yaml:2:3/,
    ],
    [
      `${T}use:\n  u: { template: t, with: { a: x, b: 1 } }\n`,
      /^6:31? ?.*unknown-parameter: `b` is not a parameter.* Parameters: a, n. The template `t` is in/,
    ],
    [
      `${T}use:\n  u: { template: t, with: { a: 5 } }\n`,
      /^6:29 wrong-parameter: `with.a` must be string, not an integer \/ Write it in quotes\. The template/,
    ],
    [
      `${T}variables: { v: true }\nuse:\n  u: { template: t, with: { a: "\${var.v}" } }\n`,
      /must be string, not true or false \/ Convert it in the expression: `string\(…\)`\. The template/,
    ],
    [
      `templates:\n  t:\n    parameters: { properties: { l: { type: [array, "null"] } } }\n    accounts: { a: { name: A } }\nuse: { u: { template: t, with: { l: x } } }\n`,
      /must be array,null, not a string \/ Write it in brackets: `\[ … \]`\. The template/,
    ],
    [
      `${T}use:\n  u: { template: t, with: { a: x, n: "3" } }\n`,
      /wrong-parameter: `with.n` must be integer, not a string/,
    ],
    [
      `${T}use:\n  u: { template: t, with: { a: x, n: 1 } }\n`,
      /wrong-parameter: `with.n` must be >= 2/,
    ],
    [
      `${T}use:\n  u: { template: t, with: { a: y } }\n`,
      /wrong-parameter: `with.a` must match pattern/,
    ],
    [
      `${T}use:\n  u: { template: t, for_each: { p: y, q: xy }, with: { a: "\${each.value}" } }\n`,
      /wrong-parameter: `use.u\["p"\]`: `with.a` must match pattern/,
    ],
    [
      `${T}use:\n  u: { template: t, with: [a] }\n`,
      /wrong-type: `with`: a mapping of parameters is expected, not a list/,
    ],
    [`${T}use:\n  u: { template: t, with: "\${var.none}" }\n`, /unknown-variable/],
    [
      `${T}use:\n  u: { template: tt, with: { a: x } }\n`,
      /^6:8 unknown-template: there is no template `tt`. Did you mean `t`\?/,
    ],
    [`${T}use:\n  u: { with: { a: x } }\n`, /missing-attribute: `use.u.template`/],
    [`${T}use:\n  u: { template: [t] }\n`, /wrong-type: `use.u.template`/],
    [
      `${T}use:\n  u: { template: t, wiht: { a: x } }\n`,
      /unknown-attribute: `wiht` is not a key of a `use`. Did you mean `with`\?/,
    ],
    [`${T}use:\n  u: t\n`, /wrong-type: `use.u`: a mapping is expected/],
    [`${T}use:\n  1u: { template: t }\n`, /bad-name/],
    [`${T}use: [t]\n`, /wrong-type: `use`: a mapping of names/],
    [`${T}use:\n  u: { template: t, for_each: [a, a], with: { a: x } }\n`, /bad-for-each/],
    [
      `${T}use:\n  u: { template: t, with: { a: "\${param.b}" } }\n`,
      /no-template: \$\{param.b\} is used outside of a template/,
    ],
    [`${T}accounts:\n  p: { name: "\${param.a + 'x'}" }\n`, /no-template: `param` is used outside/],
    [
      `${T}use:\n  u: { template: t, with: { a: xy } }\n  v: { template: t, with: { a: x } }\naccounts: { u-m: { name: x } }\n`,
      /duplicate-declaration: accounts.u-m is declared twice \/ It is declared in trueup.yaml:8:13 already/,
    ],
    [
      'templates:\n  t: { accounts: { b-c: { name: x } } }\n  s: { accounts: { c: { name: x } } }\nuse:\n  a: { template: t }\n  a-b: { template: s }\n',
      /^3:20 duplicate-declaration: accounts.a-b-c is declared twice \/ It is declared in trueup.yaml:2:20 \(used at trueup.yaml:5:3\) already/,
    ],
    [
      'templates:\n  t: { accounts: { m: { name: "${each.key}" } } }\nuse: { u: { template: t, for_each: [a] } }\n',
      /no-for-each: .* of a `use` is passed through its `with`.*`\$\{param.site\}`/,
    ],
    [
      'templates:\n  t: { accounts: { m: { for_each: [b/c, c], name: x } } }\nuse:\n  u: { template: t, for_each: [a, a/b] }\n',
      /duplicate-declaration: accounts.u-m\["a\/b\/c"\]/,
    ],
    [
      'templates:\n  t:\n    use: { i: { template: t } }\nuse: { u: { template: t } }\n',
      /^3:17 template-circle: the template `t` uses `t`: a circle has no end/,
    ],
    [
      'templates:\n  a:\n    use: { i: { template: b } }\n  b:\n    use: { i: { template: a } }\nuse: { u: { template: a } }\n',
      /^5:17 template-circle: the template `a` uses `b` uses `a`: a circle has no end \/ The other uses are in trueup.yaml:3:12/,
    ],
    [
      'templates:\n  a: { use: { i: { template: c } } }\nuse: { u: { template: a } }\n',
      /unknown-template: there is no template `c`/,
    ],
    [
      'templates:\n  t: { acounts: {} }\n',
      /unknown-section: `acounts` is not allowed in a template. Did you mean `accounts`\?/,
    ],
    [
      'templates:\n  t: { settings: {} }\n',
      /unknown-section: `settings` is not allowed in a template/,
    ],
    ['templates:\n  t: { accounts: [] }\n', /wrong-type: `accounts`: a mapping of names/],
    ['templates:\n  t: { accounts: { 1x: {} } }\n', /bad-name/],
    ['templates:\n  t: []\n', /wrong-type: the template `t`/],
    [
      'templates:\n  t: { parameters: { type: string } }\n',
      /bad-schema: `parameters` has to be the schema of a mapping/,
    ],
    [
      'templates:\n  t: { parameters: { title: { type: string } } }\n',
      /bad-schema: `parameters.title`: text is expected/,
    ],
    [
      'templates:\n  t: { parameters: { required: [titel], properties: { title: {} } } }\n',
      /^2:33 bad-schema: `parameters.required` names `titel`, which `properties` does not have. Did you mean `title`\?/,
    ],
    [
      'templates:\n  t: { parameters: { required: [tag] } }\n',
      /bad-schema: `parameters.required` names `tag`/,
    ],
    [
      'templates:\n  t: { parameters: { propertys: {} } }\n',
      /unknown-keyword: `propertys` is not a keyword that a schema can have here. Did you mean `properties`\?/,
    ],
    [
      'templates:\n  t: { parameters: { properties: { a: { type: strin } } } }\n',
      /^2:41 bad-schema/,
    ],
    ['templates:\n  t: { parameters: { properties: { a: { pattern: "(" } } } }\n', /bad-pattern/],
    [
      'templates:\n  t: { parameters: { anyOf: [{ properties: { a: { default: 1 } } }] } }\n',
      /bad-schema: `parameters` is not a schema that can be checked: default is ignored/,
    ],
    [
      `${T}    alert_rules: { r: { shedule: daily } }\nuse:\n  u: { template: t, with: { a: x } }\n`,
      /^5:25 unknown-attribute: `shedule` .*schedule/,
    ],
    [
      `${T}    alert_rules: { r: { schedule: "\${param.b}" } }\nuse:\n  u: { template: t, with: { a: x } }\n`,
      /unknown-parameter: the parameter `b` has no value/,
    ],
    [
      `${T}    alert_rules: { r: { schedule: "\${param.b + 'x'}" } }\nuse:\n  u: { template: t, with: { a: x } }\n`,
      /^5:44 unknown-parameter: the parameter `b` has no value. /,
    ],
    [
      `${T}    alert_rules: { r: { schedule: "\${param.a-b}" } }\nuse:\n  u: { template: t, with: { a: x } }\n`,
      /unknown-parameter: the parameter `a-b` [^]*minus sign/,
    ],
    [`${T}    accounts: {}\n`, /duplicate/],
  ])('%s', async (tree, said) => {
    const found = await errors(tree);
    expect(shown(found[0]!).replace('trueup.yaml:', '')).toMatch(said);
  });

  it.each([
    ['text', "'${param.a}${param.a}'"],
    ['a list', "['${param.a}', '${param.a}']"],
  ])('%s that templates double is an error before it is too large', async (_, doubled) => {
    const uses = Array.from(
      { length: 30 },
      (__, n) =>
        `  t${n}: { parameters: { properties: { a: {} } }, use: { u: { template: t${n + 1}, with: { a: ${doubled} } } } }\n`,
    ).join('');
    const last = `  t30: { parameters: { properties: { a: {} } }, accounts: { x: { name: x } } }\n`;
    const found = await errors(
      `templates:\n${uses}${last}use: { q: { template: t0, with: { a: some } } }\n`,
    );
    expect(found).toMatchObject([
      {
        code: 'too-large',
        summary: expect.stringContaining('`with` is too large: it is larger than 32 MiB'),
      },
    ]);
  });

  it('a parameter may be required that `additionalProperties` allows', async () => {
    const schema = 'required: [tag-a], additionalProperties: { type: string }';
    const { declarations } = await project(
      `templates:\n  t: { parameters: { ${schema} }, accounts: { a: { name: "\${param.tag-a}" } } }\nuse: { u: { template: t, with: { tag-a: x } } }\n`,
    );
    expect(declarations.map(({ values }) => values)).toEqual([{ name: 'x' }]);
  });

  it('each member of a `use` with a wrong parameter is named', async () => {
    const found = await errors(
      `${T}use:\n  u: { template: t, for_each: [y, x, z], with: { a: "\${each.key}" } }\n`,
    );
    expect(found.map(({ summary }) => summary.slice(0, 21))).toEqual([
      '`use.u["y"]`: `with.a',
      '`use.u["z"]`: `with.a',
    ]);
  });

  it('each member of a `use` whose `with` cannot be filled in is named', async () => {
    const found = await errors(
      `${T}use:\n  u: { template: t, for_each: { c1: 5, c2: z, c3: [] }, with: { a: x, n: "\${each.value + 1}" } }\n`,
    );
    expect(found.map(({ summary }) => summary.replace(/: (?!`).*/, ''))).toEqual([
      '`use.u["c2"]`',
      '`use.u["c3"]`',
    ]);
  });

  it('each `use` in a template with a wrong parameter is named as in the addresses of its objects', async () => {
    const found = await errors(
      `${T}  o: { use: { i: { template: t, for_each: [x, y], with: { a: "\${each.key}" } }, j: { template: t } } }\nuse:\n  p: { template: o }\n  q: { template: o, for_each: [k] }\n`,
    );
    expect(found.map(({ summary }) => summary.replace(/(?<=with\.a`).*/, ''))).toEqual([
      '`use.p-i["y"]`: `with.a`',
      '`use.p-j`: `with.a`',
      '`use.q-i["k/y"]`: `with.a`',
      '`use.q-j["k"]`: `with.a`',
    ]);
  });

  it('each `use` in a template with a wrong `for_each` is named', async () => {
    const found = await errors(
      `${T}  o: { parameters: { properties: { l: {} } }, use: { i: { template: t, for_each: "\${param.l}", with: { a: x } } } }\nuse:\n  q: { template: o, for_each: { k: [a], m: 5, n: 6 }, with: { l: "\${each.value}" } }\n`,
    );
    expect(found.map(({ summary }) => summary.slice(0, 29))).toEqual([
      '`use.q-i["m"]`: `for_each`: a',
      '`use.q-i["n"]`: `for_each`: a',
    ]);
  });

  it('an error in a template names the first use, once', async () => {
    const found = await errors(
      'templates:\n  t: { accounts: { m: { nam: x } } }\nuse:\n  u: { template: t, for_each: [a, b] }\n  v: { template: t }\n',
    );
    expect(found.map(({ code, origin }) => [code, origin?.line, origin?.used_at?.line])).toEqual([
      ['missing-attribute', 2, 4],
      ['unknown-attribute', 2, 4],
    ]);
  });

  it('an error that a parameter gives names each use', async () => {
    const found = await errors(
      `templates:
  t:
    parameters: { properties: { n: {}, e: {} } }
    alert_push_destinations: { m: { name: N, enabled: "\${param.n}", endpoint: "\${param.e}" } }
  o: { parameters: { properties: { n: {} } }, use: { i: { template: t, with: { n: "\${param.n}", e: {} } } } }
use:
  a: { template: t, with: { n: 1, e: {} } }
  b: { template: t, with: { n: true, e: {} } }
  c: { template: t, for_each: [x, y], with: { n: 1, e: { url: "https://a.example" } } }
  d: { template: o, with: { n: 2 } }
`,
    );
    expect(
      found.map(({ code, address, origin }) => [code, address, origin?.used_at?.line]),
    ).toEqual([
      ['wrong-type', 'alert_push_destinations.a-m', 7],
      ['missing-attribute', 'alert_push_destinations.a-m', 7],
      ['missing-attribute', 'alert_push_destinations.b-m', 8],
      ['wrong-type', 'alert_push_destinations.c-m["x"]', 9],
      ['wrong-type', 'alert_push_destinations.c-m["y"]', 9],
      ['wrong-type', 'alert_push_destinations.d-i-m', 10],
      ['missing-attribute', 'alert_push_destinations.d-i-m', 10],
    ]);
  });

  it('files of other programs are left out, whatever resembles `use` and `templates`', async () => {
    const { diagnostics } = await loading({
      'a.yaml': 'accounts: { a: { name: x } }\n',
      'b.yaml': 'user: x\ntemplate: y\n',
      'prometheus.yaml': 'groups: [{ name: x, rules: [] }]\n',
      'cloud-init.yaml': 'users: [default]\n',
    });
    expect(diagnostics.map(({ code }) => code)).toEqual(['not-ours', 'not-ours', 'not-ours']);
  });

  it('members of a use with a mistyped for_each are not missing', async () => {
    const { diagnostics, mayBeDeclared } = await loading(
      'templates:\n  t: { accounts: { m: { name: M } } }\nuse: { u: { template: t, foreach: [x] } }\n',
    );
    expect(diagnostics.map(({ summary }) => summary)).toEqual([
      '`foreach` is not a key of a `use`. Did you mean `for_each`?',
    ]);
    expect(['accounts.u-m["x"]', 'accounts.v-m'].map(mayBeDeclared)).toEqual([true, false]);
  });

  it('a template that nothing uses is a warning', async () => {
    const { diagnostics, project: made } = await loading(`${T}accounts: { a: { name: x } }\n`);
    expect(made).toBeDefined();
    expect(diagnostics.map(shown)).toEqual([
      'trueup.yaml:2:3 unused-template: no `use` names the template `t`',
    ]);
  });

  it('none is called unused beside templates that use each other', async () => {
    const { diagnostics } = await loading(
      'templates:\n  s: { use: { i: { template: t } } }\n  t: { use: { i: { template: s } } }\naccounts: { a: { name: x } }\n',
    );
    expect(diagnostics.map(({ code }) => code)).toEqual(['template-circle']);
  });

  it('references to what a wrong use would declare are not complained of', async () => {
    const { diagnostics, mayBeDeclared } = await loading(
      `${T}use:\n  u: { template: t }\naccounts: { p: { name: "\${accounts.u-m.id}" } }\n`,
    );
    expect(diagnostics.map(({ code }) => code)).toEqual(['missing-parameter']);
    expect([mayBeDeclared('accounts.u-m'), mayBeDeclared('accounts.v-m')]).toEqual([true, false]);
  });

  it('templates that use one another without end are errors', async () => {
    const level = (n: number): string => `  t${n}: { use: { a: { template: t${n + 1} } } }\n`;
    const levels = Array.from({ length: 3_000 }, (_, n) => level(n));
    for (const list of [levels, levels.toReversed()])
      expect(
        (await errors(`templates:\n${list.join('')}use: { u: { template: t0 } }\n`))[0]!.code,
      ).toMatch(/too-deep|unknown-template/);
  });

  it('uses that multiply end at once', async () => {
    const level = (n: number): string =>
      `  t${n}: { use: { a: { template: t${n + 1} }, b: { template: t${n + 1} } } }\n`;
    const tree = `templates:\n${Array.from({ length: 30 }, (_, n) => level(n)).join('')}  t30: { accounts: { a: { name: x } } }\nuse: { u: { template: t0 } }\n`;
    expect((await errors(tree)).map(({ code }) => code)).toContain('too-many');
  });
});
