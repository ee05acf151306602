// What CONTRACT promises of a declaration file, form by form, and what is said where it is broken.
import { describe, expect, it } from 'vitest';
import {
  Reference,
  Secret,
  Template,
  kindsOf,
  object,
  text,
  flag,
  integer,
  list,
  map,
  number,
  set,
  document,
  kind,
  type Declaration,
} from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import { DENIED, FIFO, errors, loading, project, shown, type Tree } from './project.js';

const one = async (tree: string, options = {}): Promise<Declaration> =>
  (await project(tree, options)).declarations[0] as Declaration;
const codes = async (...args: Parameters<typeof errors>): Promise<readonly string[]> =>
  (await errors(...args)).map(({ code }) => code);

const CONTRACT = `
settings:
  target: emulator
  state: .trueup/state.json
  policy: { max_deletes: 7 }
  requests_per_minute: 400
  v2_headers: { X-MGR-API-ID: X-A }
lookups:
  hq: { accounts: { name: Headquarters } }
accounts:
  field-ops: { name: Field operations, account: "\${lookups.hq.id}" }
alert_push_destinations:
  pager:
    name: On-call pager
    enabled: true
    endpoint: { url: https://hooks.example.com/alerts }
    authentication: { secret: "\${secret.env.PAGER_SECRET}" }
alert_rules:
  wan-down:
    associated_accounts: ["\${accounts.field-ops.id}", 7, "07", "5"]
    filter_criteria: { alert_type__in: [modem_wan_disconnected, ethernet_wan_disconnected] }
    http_destinations: ["\${alert_push_destinations.pager.destination_config_id}"]
    lifecycle: { protect: true, ignore_changes: [settings], adopt: 0a-b, renamed_from: old-name }
account_authorizations:
  dana: { user: "77", account: "\${lookups.hq.id}", role: full_access_user, lifecycle: { on_removal: no_access } }
`;

describe('a whole file', () => {
  it('becomes settings, lookups and declarations in normal form', async () => {
    const { settings, lookups, declarations, paths } = await project(CONTRACT);
    expect(settings).toEqual({
      target: 'emulator',
      state: { url: '.trueup/state.json' },
      policy: { max_deletes: 7, max_changed_percent: 30 },
      requests_per_minute: 400,
      v2_headers: { 'X-MGR-API-ID': 'X-A' },
      roles: {},
    });
    expect(lookups).toEqual([
      {
        name: 'hq',
        kind: 'accounts',
        where: { name: 'Headquarters' },
        origin: { file: 'trueup.yaml', line: 9, column: 3 },
      },
    ]);
    expect(
      declarations.map(({ address, name, origin }) => [address, name, origin.line, origin.column]),
    ).toEqual([
      ['accounts.field-ops', 'field-ops', 11, 3],
      ['alert_push_destinations.pager', 'pager', 13, 3],
      ['alert_rules.wan-down', 'wan-down', 19, 3],
      ['account_authorizations.dana', 'dana', 25, 3],
    ]);
    expect(paths).toEqual(['.']);
    expect(declarations[0]?.values).toEqual({
      name: 'Field operations',
      account: new Reference('lookup', 'hq', 'id'),
    });
    expect(declarations[2]?.values).toEqual({
      associated_accounts: [new Reference('declared', 'accounts.field-ops', 'id'), '5', '7'],
      filter_criteria: { alert_type__in: ['ethernet_wan_disconnected', 'modem_wan_disconnected'] },
      http_destinations: [
        new Reference('declared', 'alert_push_destinations.pager', 'destination_config_id'),
      ],
    });
    expect(declarations[2]?.lifecycle).toEqual({
      protect: true,
      ignore_changes: ['settings'],
      adopt: '0a-b',
      renamed_from: 'old-name',
    });
    expect(declarations[3]?.lifecycle).toEqual({ on_removal: 'no_access' });
  });

  it('finds the place of any attribute on demand', async () => {
    const { declarations } = await project(CONTRACT);
    const place = (address: string, path: string): string => {
      const { file, line, column } = declarations
        .find((each) => each.address === address)
        ?.at(path) ?? { file: '', line: 0, column: 0 };
      return `${file}:${line}:${column}`;
    };
    expect(place('alert_push_destinations.pager', 'endpoint.url')).toBe('trueup.yaml:16:17');
    expect(place('alert_rules.wan-down', 'associated_accounts.1')).toBe('trueup.yaml:20:55');
    expect(place('alert_rules.wan-down', 'associated_accounts')).toBe('trueup.yaml:20:5');
    expect(place('alert_rules.wan-down', 'nothing.here')).toBe('trueup.yaml:19:3');
  });

  it('leaves absent keys absent', async () => {
    expect((await one('alert_rules:\n  a: {}\n')).values).toEqual({});
    expect(
      (await one('alert_rules:\n  a: { schedule: null, settings: null, associated_groups: [] }\n'))
        .values,
    ).toEqual({ schedule: null, associated_groups: [], settings: null });
  });

  it('merges documents and files', async () => {
    const loaded = await project({
      'a.yaml': 'accounts:\n  a: { name: a }\n---\naccounts:\n  b: { name: b }\n',
      'sub/c.yml': 'accounts:\n  c: { name: c }\n',
    });
    expect(
      loaded.declarations.map(({ address, origin }) => `${address} ${origin.file}:${origin.line}`),
    ).toEqual(['accounts.a a.yaml:2', 'accounts.b a.yaml:5', 'accounts.c sub/c.yml:2']);
    expect(loaded.declarations[1]?.at('name')).toEqual({ file: 'a.yaml', line: 5, column: 8 });
  });

  it('loses nothing behind an alias', async () => {
    const { declarations } = await project(
      'alert_rules:\n  r: { settings: { x: &x { a: { name: n } } } }\naccounts: *x\n',
    );
    expect(declarations.map(({ address, origin }) => [address, origin.line])).toEqual([
      ['alert_rules.r', 2],
      ['accounts.a', 3],
    ]);
  });

  it('has the same digest whatever the order of files and keys, and another for another content', async () => {
    const a = 'accounts:\n  a: { name: x, is_disabled: true }\n';
    const b =
      'alert_push_destinations:\n  d: { name: d, authentication: { secret: "${secret.env.A}" } }\n';
    const base = (await project({ 'a.yaml': a, 'b.yaml': b })).digest();
    expect(
      (
        await project({
          'b.yaml': b,
          'a.yaml': 'accounts:\n  # c\n  a:\n    is_disabled: true\n    name: "x"\n',
        })
      ).digest(),
    ).toBe(base);
    expect(
      (await project({ 'a.yaml': a, 'b.yaml': b }, { paths: ['b.yaml', 'a.yaml'] })).digest(),
    ).toBe(base);
    const others = [
      { 'a.yaml': a, 'c.yaml': b },
      { 'a.yaml': a.replace('x', 'y'), 'b.yaml': b },
      { 'a.yaml': a, 'b.yaml': b.replace('env.A', 'env.B') },
      { 'a.yaml': a.replace('true }', 'true, lifecycle: { protect: true } }'), 'b.yaml': b },
      { 'a.yaml': `settings: { policy: { max_deletes: 1 } }\n${a}`, 'b.yaml': b },
      { 'a.yaml': `lookups: { l: { accounts: { name: x } } }\n${a}`, 'b.yaml': b },
      { 'a.yaml': a.replace('name: x', () => 'name: "$${accounts.a.id}"'), 'b.yaml': b },
      { 'a.yaml': a.replace('name: x', 'name: "${accounts.a.id}"'), 'b.yaml': b },
    ];
    const digests = await Promise.all(others.map(async (tree) => (await project(tree)).digest()));
    expect(new Set([base, ...digests]).size).toBe(others.length + 1);
  });
});

describe('what is filled in', () => {
  const rule = (text: string): string => `alert_push_destinations:\n  a: { name: ${text} }\n`;

  it('takes variables from --var, then TRUEUP_VAR_, then the file of the environment, then files', async () => {
    const files = {
      'a.yaml': `variables: { v: file }\n${rule('"x-${var.v}"')}`,
      'trueup.prod.yaml': 'variables: { v: overlay }\n',
    };
    const name = async (options: object): Promise<unknown> =>
      (await project(files, options)).declarations[0]?.values['name'];
    const environment = { TRUEUP_VAR_v: 'outer' };
    expect(await name({})).toBe('x-file');
    expect(await name({ env: 'prod' })).toBe('x-overlay');
    expect(await name({ env: 'prod', environment })).toBe('x-outer');
    expect(await name({ env: 'prod', environment, variables: { v: 'flag' } })).toBe('x-flag');
  });

  it('records the given variables that were used', async () => {
    const loaded = await project(`variables: { c: z }\n${rule('"${var.a}${var.b}${var.c}"')}`, {
      variables: { a: '1' },
      environment: { TRUEUP_VAR_b: '2', TRUEUP_VAR_unused: '3' },
    });
    expect(loaded.variables).toEqual({ a: '1', b: '2' });
  });

  it('reads no secret from what every object inherits', async () => {
    const secret = async (name: string): Promise<Secret> =>
      (
        (
          await one(
            `alert_push_destinations:\n  a: { name: a, authentication: { secret: "\${secret.env.${name}}" } }\n`,
          )
        ).values['authentication'] as { secret: Secret }
      ).secret;
    for (const name of ['toString', 'constructor', '__proto__'])
      expect((await secret(name)).reveal()).toBeUndefined();
  });

  it('warns of a --var that nothing uses', async () => {
    const { diagnostics } = await loading(`variables: { zone: a }\n${rule('"${var.zone}"')}`, {
      variables: { zome: 'x' },
    });
    expect(
      diagnostics.map(({ severity, code, summary }) => `${severity} ${code} ${summary}`).join(),
    ).toMatch(/^warning unused-variable .*Did you mean `zone`/);
  });

  it.each([
    { 'trueup.yaml': 'accounts: { a: { name: "${var.title}" }\n' },
    { 'trueup.yaml': 'accounts: [{ name: "${var.title}" }]\n' },
    {
      'trueup.yaml': 'accounts: { a: { name: x } }\n',
      'b/policies/p.cel.yaml': 'policies: {}\n',
    },
  ])('warns of none where something could not be read: %j', async (tree: Tree) => {
    const { diagnostics, project: made } = await loading(tree, { variables: { title: 'x' } });
    expect(made).toBeUndefined();
    expect(diagnostics.map(({ severity }) => severity)).not.toContain('warning');
  });

  it('does not judge the value of an attribute that cannot be declared', async () => {
    const file =
      'users: { dana: { email: d@example.com } }\nalert_rules:\n  g: { email_destinations: ["${users.dana.id}"] }\n';
    const about = (await errors(file)).filter(({ summary }) =>
      summary.includes('email_destinations'),
    );
    expect(about.map(({ code }) => code)).toEqual(['computed-attribute']);
  });

  it.each<[string, string, string | number | boolean]>([
    ['1500', '1400', 1400],
    ['1500', '1.5', 1.5],
    ['1500', '007', '007'],
    ['1500', 'auto', 'auto'],
    ['true', 'false', false],
    ['true', '1', '1'],
    ['"1500"', '1400', '1400'],
  ])('of a variable that a file gives as %s, %s from outside is %j', async (file, text, value) => {
    const loaded = await project(
      `variables: { v: ${file} }\nalert_rules: { r: { settings: { v: "\${var.v}" } } }\n`,
      { variables: { v: text } },
    );
    expect(loaded.declarations[0]?.values['settings']).toEqual({ v: value });
  });

  it('keeps the type of a whole value, and converts text where the attribute wants another', async () => {
    const file =
      'variables: { list: [3, "4"], on: true, doc: { a: [1, null] } }\nalert_rules:\n  a: { associated_groups: "${var.list}", settings: "${var.doc}" }\nalert_push_destinations:\n  d: { name: "${env.N}", enabled: "${env.E}" }\n  e: { name: x, enabled: "${var.on}" }\n';
    const { declarations } = await project(file, { environment: { N: '12', E: 'false' } });
    expect(declarations.map(({ values }) => values)).toEqual([
      { associated_groups: ['3', '4'], settings: { a: [1, null] } },
      { name: '12', enabled: false },
      { name: 'x', enabled: true },
    ]);
    expect(
      (
        await project('settings: { requests_per_minute: "${env.R}" }\n', {
          environment: { R: '12' },
        })
      ).settings.requests_per_minute,
    ).toBe(12);
    expect(await codes(file, { environment: { N: '12', E: 'maybe' } })).toEqual(['wrong-type']);
  });

  it('writes a literal for $${', async () => {
    expect((await one(rule('"$${accounts.x.id} and $${"'))).values['name']).toBe(
      '${accounts.x.id} and ${',
    );
    expect((await one(rule('"${accounts.x.id} and $${y}"'))).values['name']).toEqual(
      new Template([new Reference('declared', 'accounts.x', 'id'), ' and ${y}']),
    );
  });

  it('never takes a value for an expression', async () => {
    const evil = '${secret.env.A}${accounts.x.id}';
    expect((await one(rule('"${var.v}"'), { variables: { v: evil } })).values['name']).toBe(evil);
    expect(
      (await one(rule('"$${var.v}${env.E}"'), { environment: { E: '{accounts.x.id}' } })).values[
        'name'
      ],
    ).toBe('${var.v}{accounts.x.id}');
    expect(
      (await one(rule('"$${env.E}"'), { environment: { E: '{accounts.x.id}' } })).values['name'],
    ).toBe('${env.E}');
    expect(
      (
        await one(rule('"${var.d}${env.E}"'), {
          variables: { d: '$' },
          environment: { E: '{accounts.x.id}' },
        })
      ).values['name'],
    ).toBe('${accounts.x.id}');
    expect(
      (await one(rule('"${var.d}${accounts.x.id}"'), { variables: { d: '$' } })).values['name'],
    ).toEqual(new Template(['$', new Reference('declared', 'accounts.x', 'id')]));
  });

  it('makes references with keys', async () => {
    const file = `accounts:\n  a: { name: a, account: '\${accounts.site["x y}.\\"z"].id}' }\n`;
    expect((await one(file)).values['account']).toEqual(
      new Reference('declared', 'accounts.site["x y}.\\"z"]', 'id'),
    );
  });

  it('reads a secret only when it is revealed, and strips one line break of a file', async () => {
    const environment: Record<string, string> = {};
    const tree: Record<string, string> = {
      'a.yaml':
        'alert_push_destinations:\n  a: { name: a, authentication: { secret: "${secret.env.KEY}" } }\n  b: { name: b, authentication: { secret: "${secret.file.keys/b}" } }\n',
    };
    const loaded = await project(tree, { environment });
    const [a, b] = loaded.declarations.map(
      ({ values }) => (values['authentication'] as { secret: Secret }).secret,
    );
    expect([a?.source, b?.source]).toEqual(['env.KEY', 'file.keys/b']);
    expect([a?.reveal(), b?.reveal()]).toEqual([undefined, undefined]);
    environment['KEY'] = 'k1';
    tree['keys/b'] = 'k2\n\n';
    expect([a?.reveal(), b?.reveal()]).toEqual(['k1', 'k2\n']);
    tree['keys/b'] = FIFO;
    expect(b?.reveal()).toBeUndefined();
    expect(JSON.stringify(loaded)).not.toMatch(/k1|k2/);
  });
});

describe('for_each', () => {
  it('makes one object for each string of a list and key of a map', async () => {
    const file = `
accounts:
  list:
    for_each: [a, "b c"]
    name: "Site \${each.key} \${each.value}"
  map:
    for_each: { x: { name: X, off: true }, y: { name: "\${accounts.list[\\"a\\"].name}", off: false } }
    name: "\${each.value.name}"
    is_disabled: "\${each.value.off}"
    account: "\${accounts.list[each.key].id}"
    lifecycle: { renamed_from: old, adopt: "id-\${each.key}" }
`;
    const { declarations } = await project(file);
    expect(
      declarations.map(({ address, name, values, lifecycle }) => [
        address,
        name,
        values,
        lifecycle,
      ]),
    ).toEqual([
      ['accounts.list["a"]', 'list["a"]', { name: 'Site a a' }, {}],
      ['accounts.list["b c"]', 'list["b c"]', { name: 'Site b c b c' }, {}],
      [
        'accounts.map["x"]',
        'map["x"]',
        {
          name: 'X',
          is_disabled: true,
          account: new Reference('declared', 'accounts.list["x"]', 'id'),
        },
        { renamed_from: 'old["x"]', adopt: 'id-x' },
      ],
      [
        'accounts.map["y"]',
        'map["y"]',
        {
          name: new Reference('declared', 'accounts.list["a"]', 'name'),
          is_disabled: false,
          account: new Reference('declared', 'accounts.list["y"]', 'id'),
        },
        { renamed_from: 'old["y"]', adopt: 'id-y' },
      ],
    ]);
    expect(declarations[3]?.at('name')).toEqual({ file: 'trueup.yaml', line: 8, column: 5 });
  });

  it('takes its texts from a variable, and none makes none', async () => {
    const file =
      'variables: { sites: [a, b] }\naccounts:\n  s: { for_each: "${var.sites}", name: "${each.key}" }\n  n: { for_each: [], name: x }\n';
    expect((await project(file)).declarations.map(({ address }) => address)).toEqual([
      'accounts.s["a"]',
      'accounts.s["b"]',
    ]);
  });

  it('leaves space for other errors where one mistake is in all of its many members', async () => {
    const members = Array.from({ length: 1500 }, (_, index) => `m${index}`);
    const file = `accounts:
  many: { for_each: [${members.join()}], account: "\${accounts.no-\${each.key}.id}\${each.key}" }
  one: { name: X, unknown: 1 }
`;
    const { diagnostics } = await loading(file);
    const count = (code: string): number => diagnostics.filter((one) => one.code === code).length;
    expect([count('unknown-attribute'), count('more-complaints')]).toEqual([1, 1]);
  });

  it('takes `$${` in a key for a literal', async () => {
    const { declarations } = await project(
      "accounts:\n  s:\n    for_each: ['$${x}', '$$${x}']\n    name: \"${each.key} ${each.value}\"\n",
    );
    expect(declarations.map(({ address, values }) => [address, values['name']])).toEqual([
      ['accounts.s["${x}"]', '${x} ${x}'],
      ['accounts.s["$${x}"]', '$${x} $${x}'],
    ]);
  });

  it.each([
    ['["$$ ${accounts.x.id}"]', 'bad-for-each'],
    ["['$${x}', '${\"${x}\"}']", 'bad-for-each'],
    ["['${x']", 'bad-for-each'],
    ['[a, a]', 'bad-for-each'],
    ['[1]', 'bad-for-each'],
    ['[yes]', 'bad-for-each'],
    ['null', 'bad-for-each'],
    ['text', 'bad-for-each'],
    ['["${accounts.x.id}"]', 'bad-for-each'],
    ['"${accounts.x.id}"', 'live-reference'],
    ['"${lookup.x.id}"', 'live-reference'],
    ['"${var.none}"', 'unknown-variable'],
  ])('refuses %s', async (each, code) => {
    expect(await codes(`accounts:\n  s:\n    for_each: ${each}\n    name: x\n`)).toEqual([code]);
  });

  it.each([
    [
      '[{ name: 5, a: 1 }]',
      'the `name` of a mapping has to be a string, not an integer',
      'Its name is the key. Write it in quotes: name: "5"',
    ],
    [
      '[{ name: yes }]',
      'the `name` of a mapping has to be a string, not the word `yes`',
      'Its name is the key. Write it in quotes: name: "yes"',
    ],
    [
      '[{ name: [a] }]',
      'the `name` of a mapping has to be a string, not a list',
      'Its name is the key.',
    ],
    [
      '[{ a: 1, b: 2 }]',
      'a string or a mapping with a `name` is expected; this one has only `a`, `b`',
      'Its name is the key.',
    ],
    ['[5]', 'a string is expected, not an integer', 'Write it in quotes.'],
    ['[a, b, a]', 'the key "a" appears twice', 'Items 1 and 3 have it.'],
    [
      '[{ name: a, no: 1 }, b, { name: a, no: 2, api_token: t }]',
      'the key "a" appears twice',
      'Items 1 and 3 have it.',
    ],
    [
      '[null]',
      'a string or a mapping with a `name` is expected, not null',
      'The string, or the `name` of the mapping, is the key.',
    ],
    [
      '[[a]]',
      'a string or a mapping with a `name` is expected, not a list',
      'The string, or the `name` of the mapping, is the key.',
    ],
  ])('says how to write the key of %s', async (each, what, how) => {
    const found = await errors(`accounts:\n  s: { for_each: ${each}, name: x }\n`);
    expect(found.map(({ summary, detail }) => [summary, detail])).toEqual([
      [`\`for_each\`: ${what}`, how],
    ]);
  });

  it.each([
    ['{ x: { name: a, title Dune: , desk: true } }', 'It has `name`, `title Dune`, `desk`.'],
    ['{ x: [a] }', 'It is a list.'],
    ['{ x: a }', 'It is a string.'],
  ])('shows what the value of %s has', async (each, detail) => {
    const [found] = await errors(
      `accounts:\n  s: { for_each: ${each}, name: "\${each.value.title}" }\n`,
    );
    expect(found).toMatchObject({
      summary: '${each.value.title}: the value of "x" has no `title`.',
      detail,
    });
  });

  it('names the item of a list that lacks a member, and the nearest member that it has', async () => {
    const list = '[{ name: a, desk: true }, { name: b, des: true, more: { z: 1 }, token: t }]';
    const [found, ...more] = await errors(
      `variables: { all: ${list} }\naccounts:\n  s: { for_each: "\${var.all.filter(c, c.desk)}", name: x }\n`,
    );
    expect(found).toMatchObject({
      summary: 'there is no member `desk`',
      detail: 'Here, `c` (item 2) has `name`, `des`, `more`, `token`. Did you mean `des`?',
    });
    expect(more).toEqual([]);
  });

  it.each([
    ['for_eech', 'accounts', '  s: { for_eech: [a, b], name: "${each.key}" }'],
    ['count', 'accounts', '  s: { count: 2, name: x }'],
    ['forEach', 'accounts', '  s: { forEach: [a], nam: x }'],
  ])(
    'says that `%s` was meant as for_each, and nothing of what follows',
    async (word, kind, text) => {
      const found = await errors(
        `accounts:\n${text}\n  t: { name: t, account: '\${accounts.s["a"].id}' }\n`,
      );
      expect(found).toMatchObject([
        {
          code: 'unknown-attribute',
          summary: `\`${word}\` is not an attribute of ${kind}. Did you mean \`for_each\`?`,
          detail: 'It takes a list of strings or a mapping, as in `for_each: [a, b]`.',
        },
      ]);
      expect(found).toHaveLength(1);
      const { mayBeDeclared } = await loading(`accounts:\n${text}\n`);
      expect(['accounts.s["a"]', 'accounts.t["a"]'].map(mayBeDeclared)).toEqual([true, false]);
    },
  );

  it('complains once for all members', async () => {
    expect(await codes('accounts:\n  s: { for_each: [a, b, c], name: x, nam: y }\n')).toEqual([
      'unknown-attribute',
    ]);
    const variable = 'variables: { n: 1 }\n';
    const wrong = '  s: { for_each: [a, b, c], name: "${var.n}" }\n';
    expect(await codes(`${variable}accounts:\n${wrong}`)).toEqual(['wrong-type']);
    const worded = '  s: { for_each: [a, b, c], name: "Outreach ${var.nope}" }\n';
    expect(await codes(`accounts:\n${worded}`)).toEqual(['unknown-variable']);
  });

  it('makes no reference with a key that could not be computed', async () => {
    const { unusable } = await loading(
      'accounts:\n  s: { for_each: { a: { at: x } }, name: x, account: "${accounts.t[each.value.ta].id}" }\n',
    );
    expect(unusable.map(({ values }) => values)).toEqual([
      { name: 'x', account: '${accounts.t[each.value.ta].id}' },
    ]);
  });

  it('complains of each member whose value is wrong', async () => {
    const found = await errors(
      'accounts:\n  s: { for_each: { a: 1, b: x, c: 2 }, name: "${each.value}" }\n',
    );
    expect(found.map(({ code, address }) => [code, address])).toEqual([
      ['wrong-type', 'accounts.s["a"]'],
      ['wrong-type', 'accounts.s["c"]'],
    ]);
  });
});

describe('keys of mappings', () => {
  const saying = async (text: string): Promise<readonly string[]> =>
    (await errors(text)).map(shown);
  const literal = 'For the characters `${` themselves, write `$${`.';
  const whole = `Where the value may be an expression, write the whole mapping as one, as in \`'\${ {var.member: "value"} }'\`. ${literal}`;
  const refused = (place: string, key: string, detail: string): string =>
    `trueup.yaml:${place} expression-in-key: the key \`${key}\` holds \`\${\`, and expressions in keys are not evaluated / ${detail}`;

  it.each([
    [
      'a for_each',
      'accounts: { site: { for_each: { "${var.k}": N }, name: "${each.value}" } }',
      '1:33',
      `Write a list, as in \`for_each: [{ name: "\${var.site}", title: North }]\`: the name is the key. ${literal}`,
    ],
    [
      'a configuration',
      'configuration_managers:\n  r:\n    router: "12"\n    configuration:\n      - system: { "${var.k}": 1 }\n      - []',
      '5:19',
      whole,
    ],
    [
      'a variable',
      'variables: { m: { "${var.k}": 1 } }',
      '1:19',
      `A variable holds a plain value. ${literal}`,
    ],
    [
      'the default of a parameter',
      'templates: { t: { parameters: { properties: { o: { default: { "${var.k}": 1 } } } } } }',
      '1:63',
      whole,
    ],
    [
      'the parameters of a use',
      'templates: { t: { parameters: { properties: { o: {} } } } }\nuse: { u: { template: t, with: { o: { "${var.k}": 1 } } } }',
      '2:39',
      whole,
    ],
    [
      'a value that an alias repeats',
      'variables: { k: x }\nalert_rules: { r: { settings: &s { "${var.k}": 1 } } }',
      '2:36',
      whole,
    ],
  ])('hold no expression in %s', async (_, text, place, detail) => {
    expect(await saying(text)).toContainEqual(refused(place, '${var.k}', detail));
  });

  it('hold no reference that is not closed, and no literal in braces', async () => {
    const said = await saying('variables: { m: { "a${": 1, \'a${""}\': 1 } }');
    const detail = `A variable holds a plain value. ${literal}`;
    expect(said).toEqual([refused('1:19', 'a${', detail), refused('1:29', 'a${""}', detail)]);
  });

  it('hold the characters that are escaped, as values do', async () => {
    const { declarations } = await project(
      `variables: { doc: { "$\${a}": "$\${a}", "$$\${": 1 } }
accounts: { site: { for_each: { "$\${k}": N }, name: "\${each.key}" } }
alert_rules:
  r: { settings: "\${var.doc}" }
  s: { settings: { "x$\${b}": [{ "$\${c}": 1 }] } }
  t: { settings: '\${ {var.doc["$" + "{a}"]: 1} }' }`,
    );
    expect(declarations.map(({ address, values }) => [address, values])).toEqual([
      ['accounts.site["${k}"]', { name: '${k}' }],
      ['alert_rules.r', { settings: { '${a}': '${a}', '$${': 1 } }],
      ['alert_rules.s', { settings: { 'x${b}': [{ '${c}': 1 }] } }],
      ['alert_rules.t', { settings: { '${a}': 1 } }],
    ]);
  });

  it('leads errors to the place of an escaped one', async () => {
    const text =
      'accounts:\n  a:\n    for_each:\n      x: 1\n      "$${b}": { name: "${var.no}" }\n    name: A\n';
    expect((await errors(text)).map(({ origin }) => origin)).toEqual([
      { file: 'trueup.yaml', line: 5, column: 18 },
    ]);
  });
});

describe('complaints', () => {
  const table: readonly (readonly [text: string, expected: RegExp])[] = [
    ['acounts:\n  a: { name: x }\n', /trueup.yaml:1:1 unknown-section: .*Did you mean `accounts`/],
    [
      'accounts:\n  a: { nmae: x, name: y }\n',
      /2:8 unknown-attribute: `nmae` is not an attribute of accounts.*Did you mean `name`/,
    ],
    [
      'alert_rules:\n  a: { alert_types: [x] }\n',
      /2:8 unknown-attribute: .*Did you mean `filter_criteria.alert_type__in`/,
    ],
    [
      'alert_rules:\n  a: { filter_criteria: { alert_type__in: [], alert_types: [x] } }\n',
      /unknown-attribute: .*Did you mean `alert_type__in`/,
    ],
    ['alert_push_destinations:\n  a: { name: x, ulr: x }\n', /Did you mean `endpoint.url`/],
    [
      'accounts:\n  a: { id: "1", name: y }\n',
      /2:8 computed-attribute: `id` belongs to the server/,
    ],
    ['accounts:\n  a: {}\n', /2:3 missing-attribute: `name` is missing/],
    ['accounts:\n  a:\n', /2:3 wrong-type: .*mapping of attributes/],
    ['accounts:\n', /1:1 null-value: `accounts`/],
    ['accounts: []\n', /1:1 wrong-type: `accounts`/],
    ['accounts:\n  1a: { name: x }\n', /2:3 bad-name/],
    ['accounts:\n  a: { name: x }\n  b: { name: yes }\n', /3:8 ambiguous-word: .*"yes"/],
    [
      'alert_push_destinations:\n  a: { name: x, enabled: on }\n',
      /2:17 ambiguous-word: .*Write `true`/,
    ],
    [
      'alert_push_destinations:\n  a: { name: x, enabled: OFF }\n',
      /ambiguous-word: .*Write `false`/,
    ],
    ['alert_push_destinations:\n  a: { name: x, endpoint: yes }\n', /2:17 ambiguous-word/],
    [
      'accounts:\n  a: { name: 12 }\n',
      /2:8 wrong-type: `name`: a string is expected, not an integer.*quotes/,
    ],
    [
      'accounts:\n  a: { name: x, is_disabled: "no" }\n',
      /wrong-type: `is_disabled`: true or false is expected, not a string/,
    ],
    [
      'accounts:\n  a: { name: x, is_disabled: "$${x}" }\n',
      /wrong-type: `is_disabled`: true or false/,
    ],
    [
      'accounts:\n  a: { name: x, is_disabled: "x${accounts.a.is_disabled}" }\n',
      /wrong-type: `is_disabled`/,
    ],
    [
      'alert_rules:\n  a: { http_destinations: null }\n',
      /2:8 null-value: `http_destinations`: a list is expected, not null.*`\[\]` means none/,
    ],
    ['alert_rules:\n  a: { filter_criteria: null }\n', /null-value: `filter_criteria`: a mapping/],
    [
      'alert_rules:\n  a: { http_destinations: x }\n',
      /wrong-type: `http_destinations`: a list is expected, not a string.*brackets/,
    ],
    [
      'alert_rules:\n  a: { associated_accounts: [1, [2]] }\n',
      /2:33 wrong-type: `associated_accounts.1`: an identifier/,
    ],
    ['alert_rules:\n  a: { associated_accounts: [1.5] }\n', /wrong-type: `associated_accounts.0`/],
    [
      'accounts:\n  a: { name: x, account: "" }\n',
      /2:17 wrong-type: `account`: an identifier or a reference is expected, not a string that names nothing.*leave the key out/,
    ],
    ['accounts:\n  a: { name: x, account: "?" }\n', /2:17 wrong-type: `account`/],
    ['accounts:\n  a: { name: x, account: "https://x/" }\n', /2:17 wrong-type: `account`/],
    [
      'accounts:\n  a: { name: x, account: "${var.parent}" }\nvariables: { parent: "" }\n',
      /2:17 wrong-type: `account`: an identifier or a reference is expected, not a string that names nothing/,
    ],
    [
      'accounts:\n  a: { name: x, account: "${var.parent}${var.parent}" }\nvariables: { parent: "/" }\n',
      /2:17 wrong-type: `account`/,
    ],
    [
      'accounts:\n  a: { name: x, account: "${each.value}", for_each: { b: " " } }\n',
      /2:17 wrong-type: `account`/,
    ],
    [
      'alert_rules:\n  a: { http_destinations: [x, ""] }\n',
      /2:31 wrong-type: `http_destinations.1`: an identifier/,
    ],
    [
      'alert_rules:\n  a: { associated_accounts: [""] }\n',
      /2:30 wrong-type: `associated_accounts.0`: an identifier of digits or a reference is expected, not a string that names nothing/,
    ],
    [
      'accounts:\n  a: { name: x, lifecycle: { adopt: "" } }\n',
      /2:30 wrong-type: `lifecycle.adopt`/,
    ],
    [
      'lookups: { q: { accounts: { account: "${var.none}" } } }\nvariables: { none: "" }\n',
      /1:29 wrong-type: `account`/,
    ],
    ['alert_rules:\n  a: { settings: [] }\n', /wrong-type: `settings`: a mapping or null/],
    [
      'alert_rules:\n  a: { lifecycle: { on_removal: no_access } }\n',
      /unknown-choice: `lifecycle.on_removal`.*Words: delete, forget/,
    ],
    [
      'account_authorizations:\n  a: { user: "1", account: "2", role: administrator, lifecycle: { on_removal: delete } }\n',
      /Words: forget, no_access/,
    ],
    [
      'alert_rules:\n  a: { lifecycle: { ignore_changes: [schedul] } }\n',
      /2:38 unknown-attribute: .*Did you mean `schedule`/,
    ],
    ['alert_rules:\n  a: { lifecycle: { renamed_from: alert_rules.b } }\n', /bad-name/],
    ['alert_rules:\n  a: { lifecycle: { adopt: "${accounts.x.id}" } }\n', /misplaced-reference/],
    ['alert_rules:\n  a: { lifecycle: { renamed_from: null } }\n', /null-value/],
    [
      'accounts:\n  a: { name: x, account: "${acounts.b.id}" }\n',
      /2:17 unknown-kind: .*Did you mean `accounts`/,
    ],
    [
      'accounts:\n  a: { name: x, account: "${accounts.b.idd}" }\n',
      /unknown-attribute: .*Did you mean `id`/,
    ],
    ['accounts:\n  a: { name: x, account: "${accounts.b.constructor}" }\n', /unknown-attribute/],
    ['accounts:\n  a: { name: x, account: "${accounts.b}" }\n', /bad-reference/],
    ['accounts:\n  a: { name: "${accounts.b.id" }\n', /bad-reference: .*never closed/],
    ['accounts:\n  a: { name: "${amount}" }\n', /bad-reference: .*\$\$\{/],
    [
      'accounts:\n  a: { name: "${alert_push_destinations.d.endpoint.url}" }\n',
      /partial-reference/,
    ],
    [
      'accounts:\n  a: { name: "${alert_push_destinations.d.authentication}" }\n',
      /secret-reference/,
    ],
    [
      'accounts:\n  a: { name: "${alert_push_destinations.d.authentication.secret}" }\n',
      /secret-reference/,
    ],
    [
      'accounts:\n  a: { name: x, account: "${alert_rules.r.alert_config_id}" }\n',
      /wrong-kind: .*accounts.*alert_rules/,
    ],
    [
      'alert_rules:\n  r: { associated_accounts: "${accounts.b.id}" }\n',
      /2:8 wrong-type: .*a list is expected, and \$\{accounts\.b\.id\} is a single value/,
    ],
    [
      'alert_rules:\n  r: { filter_criteria: "${alert_rules.s.settings}" }\n',
      /wrong-type: .*a mapping is expected, and .* is a document/,
    ],
    [
      'accounts:\n  a: { name: "${alert_rules.r.associated_accounts}" }\n',
      /wrong-type: .*a single value is expected, and .* is a list/,
    ],
    [
      'accounts:\n  a: { name: x, account: "${accounts.b.name}" }\n',
      /wrong-kind: .*\$\{accounts\.b\.name\} is none/,
    ],
    [
      'alert_rules:\n  r: { associated_accounts: [7, "/api/v2/accounts/8/", "x"] }\n',
      /wrong-type: .*associated_accounts\.2.*digits/,
    ],
    ['alert_rules:\n  r: { associated_groups: [-1] }\n', /wrong-type: .*associated_groups\.0/],
    [
      'accounts:\n  a: { name: x, account: "${lookups.hq.id}" }\nlookups: { hp: { accounts: { name: x } } }\n',
      /unknown-lookup: .*Did you mean `hp`/,
    ],
    [
      'accounts:\n  a: { name: "${var.zon}" }\nvariables: { zone: x }\n',
      /unknown-variable: .*Did you mean `zone`.*--var zon=/,
    ],
    ['accounts:\n  a: { name: "${env.toString}" }\n', /unknown-environment: .*toString is not set/],
    [
      'accounts:\n  a: { name: "${env.constructor}" }\n',
      /unknown-environment: .*constructor is not set/,
    ],
    ['accounts:\n  a: { name: "${env.NOPE}" }\n', /unknown-environment: .*export NOPE=/],
    [
      'alert_push_destinations:\n  a: { name: x, endpoint: { url: "https://a.test" }, authentication: { secret: "${env.NOPE}" } }\n',
      /unknown-environment: .*A secret is written `\$\{secret\.env\.NOPE\}`/,
    ],
    [
      'accounts:\n  a: { name: "${each.key}" }\n',
      /no-for-each: .* Add `for_each: \[a, b\]` beside the attributes/,
    ],
    ['accounts:\n  a: { name: "${accounts.b[each.key].id}" }\n', /no-for-each/],
    ['accounts:\n  a: { for_each: { x: { y: 1 } }, name: "${each.value.z}" }\n', /unknown-member/],
    ['accounts:\n  a: { for_each: { x: { y: [1] } }, name: "a${each.value.y}" }\n', /not-text/],
    ['accounts:\n  a: { name: "${secret.env.A}" }\n', /misplaced-secret/],
    [
      'alert_push_destinations:\n  a: { name: x, authentication: { secret: "${secret.env.A}x" } }\n',
      /literal-secret/,
    ],
    [
      'alert_push_destinations:\n  a: { name: x, authentication: { secret: "${accounts.a.name}" } }\n',
      /literal-secret/,
    ],
    [
      'alert_push_destinations:\n  a: { name: x, authentication: { secret: "x${accounts.a.name}" } }\n',
      /literal-secret/,
    ],
    [
      'alert_push_destinations:\n  a: { name: x, authentication: { secret: "$${secret.env.A}" } }\n',
      /literal-secret/,
    ],
    [
      'variables: { v: hunter2 }\nalert_push_destinations:\n  a: { name: x, authentication: { secret: "${var.v}" } }\n',
      /literal-secret/,
    ],
    [
      'alert_push_destinations:\n  a: { name: x, authentication: { secret: "${secret.vault.A}" } }\n',
      /2:35 unknown-secret-manager: .*`settings.secrets` holds no `vault`/,
    ],
    [
      'settings: { secrets: { vault: { command: foo } } }\nalert_push_destinations:\n  a: { name: x, authentication: { secret: "${secret.vault.A}" } }\n',
      /1:\d+ wrong-type: `secrets.vault.command`/,
    ],
    [
      'settings: { secrets: vault }\nalert_push_destinations:\n  a: { name: x, authentication: { secret: "${secret.vault.A}" } }\n',
      /1:\d+ wrong-type: `secrets`/,
    ],
    [
      'alert_push_destinations:\n  a: { name: x, suspended: true }\n',
      /2:17 only-false: `suspended`: only false can be declared/,
    ],
    ['settings: { roles: { administrator: no_access } }\n', /known-role/],
    ['settings: { target: emulater }\n', /1:13 unknown-choice: .*Did you mean `emulator`/],
    ['settings: { policy: { max_deletes: -1 } }\n', /1:23 out-of-range/],
    ['settings: { requests_per_minute: 0 }\n', /out-of-range/],
    [
      'settings: { state: s3//acme/x?region=eu-west-1 }\n',
      /1:13 bad-address: .*Did you mean s3:\/\/acme\/x\?region=eu-west-1\?/,
    ],
    [
      'settings: { state: { url: "postgres:/h/d" } }\n',
      /1:\d+ bad-address: .*Did you mean postgres:\/\/h\/d\?/,
    ],
    ['settings: { polcy: {} }\n', /Did you mean `policy`/],
    ['settings: { v2_headers: { X-MGR-API-IDD: a } }\n', /Did you mean `X-MGR-API-ID`/],
    ['settings: { state: "${accounts.a.id}" }\n', /misplaced-reference/],
    ['settings: {}\n---\nsettings: {}\n', /3:1 duplicate-settings: .*trueup.yaml:1:1/],
    ['settings: []\n', /1:1 wrong-type/],
    ['variables: { a: "${env.X}" }\n', /1:14 misplaced-reference/],
    [
      'lookups: { p: { products: { name: x } } }\n',
      /1:17 unknown-kind: `products` can only be read, and not looked up \/ Write the id itself where it belongs. To list the ids: trueup get products/,
    ],
    ['lookups: { a: { acounts: { name: x } } }\n', /unknown-kind: .*Did you mean `accounts`/],
    [
      'lookups: { q: { acounts: { name: x } } }\naccounts:\n  a: { name: x, account: "${lookups.q.id}" }\n',
      /1:17 unknown-kind: `acounts` is not a kind. Did you mean `accounts`/,
    ],
    [
      'lookups: { q: {} }\naccounts:\n  a: { name: x, account: "${lookups.q.id}" }\n',
      /1:12 wrong-type: .*exactly one kind/,
    ],
    [
      'lookups: { q: [] }\naccounts:\n  a: { name: x, account: "${lookups.q.id}" }\n',
      /1:12 wrong-type: .*exactly one kind/,
    ],
    ['lookups: { a: { accounts: {} } }\n', /missing-attribute/],
    ['lookups: { a: { accounts: { nam: x } } }\n', /unknown-attribute: .*Did you mean `name`/],
    ['lookups: { a: {} }\n', /wrong-type: .*exactly one kind/],
    [
      'lookups: { a: { accounts: { name: x }, alert_rules: { schedule: x } } }\n',
      /exactly one kind/,
    ],
    [
      'lookups: { a: { alert_push_destinations: { authentication: { secret: x } } } }\n',
      /unknown-attribute/,
    ],
    [
      'accounts:\n  a: { name: x }\n---\naccounts:\n  a: { name: y }\n',
      /5:3 duplicate-declaration: .*trueup.yaml:2:3/,
    ],
    [
      'accounts:\n  a: { name: x, lifecycle: { adopt: "1" } }\n  b: { name: y, lifecycle: { adopt: 1 } }\n',
      /3:30 adopt-taken/,
    ],
    [
      'accounts:\n  a: { name: x, lifecycle: { renamed_from: c } }\n  b: { name: y, lifecycle: { renamed_from: c } }\n',
      /3:30 conflicting-renames/,
    ],
    [
      'accounts:\n  a: { name: x, lifecycle: { renamed_from: b } }\n  b: { name: y }\n',
      /2:30 renamed-declared: .*trueup.yaml:3:3/,
    ],
  ];
  it.each(table)('%j', async (text, expected) => {
    const found = await errors(text);
    expect(found.map(shown).join('\n')).toMatch(expected);
    expect(found).toHaveLength(1);
  });

  it('come all at once, over all files', async () => {
    const found = await errors({
      'a.yaml': 'accounts:\n  a: { nam: x }\n  b: { name: [x] }\n',
      'b.yaml': 'alert_rules:\n  r: { schedule: 1, settings: x }\n',
      'c.yaml': 'accounts: [\n',
    });
    expect(found.map(({ code, origin }) => `${origin?.file} ${code}`).toSorted()).toEqual([
      'a.yaml missing-attribute',
      'a.yaml unknown-attribute',
      'a.yaml wrong-type',
      'b.yaml wrong-type',
      'b.yaml wrong-type',
      'c.yaml yaml-syntax',
    ]);
    for (const { frame } of found) expect(frame).toContain('^');
    expect(new Set(found.map(({ address }) => address))).toEqual(
      new Set(['accounts.a', 'accounts.b', 'alert_rules.r', undefined]),
    );
  });

  it('are counted beyond a thousand', async () => {
    const found = await errors(
      `accounts:\n${Array.from({ length: 1500 }, (_, n) => `  a${n}: { name: x, x: 1 }\n`).join('')}`,
    );
    expect(found).toHaveLength(1001);
    expect(found.at(-1)?.summary).toMatch(/^500 more/);
  });
});

describe('PATH arguments', () => {
  const a = 'accounts:\n  a: { name: a }\n';
  const b = 'accounts:\n  b: { name: b }\n';
  const addresses = async (...args: Parameters<typeof project>): Promise<readonly string[]> =>
    (await project(...args)).declarations.map(({ address }) => address);

  it('walk folders, without dot folders and node_modules', async () => {
    const tree = {
      'x/a.yaml': a,
      'x/.hidden/b.yaml': b,
      'x/node_modules/b.yaml': b,
      'x/.b.yaml': b,
      'x/y/z/b.YML': b,
      'x/notes.txt': b,
      'other.yaml': 'accounts: {\n',
    };
    expect(await addresses(tree, { paths: ['x'] })).toEqual(['accounts.a', 'accounts.b']);
    expect(await addresses(tree, { paths: ['./x/', '/project/x/a.yaml'] })).toEqual([
      'accounts.a',
      'accounts.b',
    ]);
    expect((await project(tree, { paths: ['./x/', '/project/x'] })).paths).toEqual(['x']);
  });

  it('leave out what programs write, unless it is named', async () => {
    const tree = {
      'cdktf.json': '{}',
      'trueup.out/a.trueup.yaml': a,
      'deep/trueup.out/a.trueup.yaml': a,
    };
    expect(await addresses(tree, { paths: ['trueup.out'] })).toEqual(['accounts.a']);
    expect(await addresses(tree)).toEqual([]);
    expect(await addresses({ 'b.yaml': b, ...tree }, { paths: ['b.yaml', 'trueup.out'] })).toEqual([
      'accounts.b',
      'accounts.a',
    ]);
  });

  it('read the standard input for -', async () => {
    const loaded = await project({}, { paths: ['-'], stdin: async () => a });
    expect(loaded.declarations[0]?.origin).toEqual({ file: '-', line: 2, column: 3 });
    expect(loaded.declarations[0]?.at('name')).toEqual({ file: '-', line: 2, column: 8 });
    expect(
      (await errors({}, { paths: ['-'], stdin: async () => 'accounts: x\n' }))[0]?.frame,
    ).toContain('accounts: x');
  });

  it('leave out files that are not ours with a note, unless they are named', async () => {
    const tree = { 'a.yaml': a, 'ci.yaml': 'name: CI\non: [push]\n', 'list.yaml': '- a\n' };
    const { project: loaded, diagnostics } = await loading(tree);
    expect(loaded?.declarations).toHaveLength(1);
    expect(
      diagnostics.map(({ severity, code, origin }) => `${severity} ${code} ${origin?.file}`),
    ).toEqual(['info not-ours ci.yaml', 'info not-ours list.yaml']);
    expect(await codes(tree, { paths: ['ci.yaml'] })).toEqual(['not-ours']);
    expect(await codes({ 'near.yaml': 'acounts:\n  a: {}\n', 'a.yaml': a })).toEqual([
      'unknown-section',
    ]);
  });

  it.each([
    [
      'accounts\n  depot: { name: Depot }\n',
      'yaml-syntax',
      'Look for a missing `:` in the line before, or a quote that is not closed.',
    ],
    ['accounts depot: { name: Depot }\n', 'unknown-section', 'Write a colon behind `accounts`.'],
  ])(
    'leave out no file with a key of ours that lacks its colon: %j',
    async (text, code, detail) => {
      const [error] = await errors({ 'colon.yaml': text, 'a.yaml': a });
      expect([error?.code, error?.detail]).toEqual([code, detail]);
    },
  );

  it.each([
    'accounts receivable: 5\nusers guide: x\nsettings title: x\n',
    'removed some old things: { name: B }\n',
    '{{- range .Values.users }}\nkind: X\nspec:\n    groups\n{{- end }}\n',
  ])('leave out files of others whose keys begin with a word of ours: %j', async (text) => {
    const { project: loaded, diagnostics } = await loading({ 'others.yaml': text, 'a.yaml': a });
    expect([loaded?.declarations.length, diagnostics.map(({ code }) => code)]).toEqual([
      1,
      ['not-ours'],
    ]);
  });

  it('say where a colon is missing in the file of an environment', async () => {
    const [error] = await errors(
      { 'a.yaml': a, 'trueup.prod.yaml': 'variables: {}\nsettings target: emulator\n' },
      { env: 'prod' },
    );
    expect([error?.code, error?.detail]).toEqual([
      'environment-file',
      'Write a colon behind `settings`.',
    ]);
  });

  it('may declare what stands in a file of two bytes for each letter', async () => {
    const wide = Buffer.from('accounts:\n  depot: { name: Depot }\n', 'utf16le').toString('latin1');
    const { mayBeDeclared } = await loading({ 'trueup.yaml': a, 'b.yaml': wide });
    expect([mayBeDeclared('accounts.depot'), mayBeDeclared('accounts.x')]).toEqual([true, false]);
  });

  it('may declare what a template makes for a `use` in a file that cannot be parsed', async () => {
    const { mayBeDeclared } = await loading({
      'trueup.yaml': a,
      'b.yaml': 'use:\n  acme: { template: site, for_each: [x }\n',
    });
    const names = ['accounts.acme-main["x"]', 'accounts.acme-a-b', 'accounts.acm-main'];
    expect(names.map(mayBeDeclared)).toEqual([true, true, false]);
    const other = await loading({ 'trueup.yaml': a, 'b.yaml': 'accounts:\n  acme: { name: [ }\n' });
    expect(names.map(other.mayBeDeclared)).toEqual([false, false, false]);
  });

  it('take an empty file for ours, and none at all for a mistake', async () => {
    expect((await project({ 'trueup.yaml': '# nothing left\n' })).declarations).toEqual([]);
    expect(await codes({ 'readme.md': '' })).toEqual(['no-declarations']);
    expect(await codes({ 'ci.yaml': 'name: CI\n' })).toEqual(['no-declarations']);
  });

  it.each([
    ['missing.yaml', 'no-such-path'],
    ['pipe.yaml', 'not-a-file'],
    ['missing/cdktf.out', 'no-such-path'],
    ['cdktf.out', 'no-stacks'],
    ['both', 'two-sources'],
    ['trueup.prod.yaml', 'environment-file'],
  ])('%s: %s', async (path, code) => {
    const tree = {
      'a.yaml': a,
      'pipe.yaml': FIFO,
      'cdktf.out/manifest.json': '{}',
      'both/cdktf.json': '{}',
      'both/a.yaml': a,
      'trueup.prod.yaml': '',
    };
    const [found] = await errors(tree, { paths: [path] });
    expect(found?.code).toBe(code);
    expect(
      code !== 'two-sources' ||
        found?.detail?.includes('both/a.yaml') === found?.detail?.includes('both/cdktf.json'),
    ).toBe(true);
  });
});

describe('settings of a project of which PATHs name a part', () => {
  const part = 'accounts:\n  a: { name: "${env.MY_KEY}" }\n';
  const settings = (limit: number): string =>
    `settings: { allow_env: [MY_KEY], policy: { max_deletes: ${limit} } }\n`;
  const environment = { MY_KEY: 'x' };
  const OTHERS = 'settings: { theme: dark }\nextends: base\n';
  const limit = async (tree: Tree, ...paths: readonly string[]): Promise<unknown> =>
    (await project({ 'p/a.yaml': 'accounts:\n  a: { name: x }\n', ...tree }, { paths })).settings
      .policy.max_deletes;

  it.each([
    ['a folder', ['p'], { 'trueup.yaml': settings(1) }],
    ['a file', ['p/a.yaml'], { 'p/trueup.yaml': settings(1) }],
    ['several', ['p/a.yaml', 'q'], { 'more.yaml': settings(1), 'q/b.yaml': '' }],
    ['standard input', ['-'], { 'trueup.yaml': settings(1) }],
    ['a file beside broken declarations', ['p'], { 'trueup.yaml': `${settings(1)}accounts: {` }],
  ])('are those of the folders above %s', async (_, paths, tree) => {
    const { settings: found, declarations } = await project(
      { 'p/a.yaml': part, ...tree },
      { paths, environment },
    );
    expect([found.policy.max_deletes, declarations.length]).toEqual([1, paths[0] === '-' ? 0 : 1]);
  });

  it.each<readonly [string, number, readonly string[], Tree]>([
    ['its own', 2, ['p'], { 'p/b.yaml': settings(2), 'trueup.yaml': settings(1) }],
    ['none of a folder beside', 5, ['p'], { 'q/trueup.yaml': settings(1) }],
    ['none of two projects', 5, ['p'], { 'a.yaml': settings(1), 'b.yaml': settings(2) }],
    [
      'the nearest',
      2,
      ['p/q'],
      { 'p/q/c.yaml': '', 'p/b.yaml': settings(2), 'b.yaml': settings(1) },
    ],
    ['the nearest', 2, ['p/a.yaml'], { 'p/b.yaml': settings(2), 'trueup.fleet.yaml': '' }],
    ['those of another program', 1, ['p/a.yaml'], { 'p/b.yaml': OTHERS, 'b.yaml': settings(1) }],
    [
      'the nearest, if empty',
      5,
      ['p/a.yaml'],
      { 'p/b.yaml': 'settings: {}', 'b.yaml': settings(1) },
    ],
    ['none of an environment', 5, ['p'], { 'trueup.prod.yaml': settings(1) }],
    ['none of a fleet', 5, ['p'], { 'trueup.fleet.yaml': '', 'trueup.yaml': settings(1) }],
    ['none of files that cannot be read', 5, ['p'], { 'trueup.yaml': DENIED, 'b.yaml': FIFO }],
  ])('%s count otherwise', async (_, expected, paths, tree) => {
    expect(await limit(tree, ...paths)).toBe(expected);
  });

  it('are named where none of several can be chosen', async () => {
    const tree = { 'p/a.yaml': '', 'a.yaml': settings(1), 'b.yaml': settings(2) };
    const { diagnostics } = await loading(tree, { paths: ['p'] });
    expect(diagnostics).toMatchObject([{ severity: 'info', code: 'settings-unclear' }]);
    expect(diagnostics[0]?.summary).toContain('a.yaml, b.yaml hold settings');
  });

  it('come with the variables of their file, which those of PATHs replace', async () => {
    const tree = {
      'p/a.yaml': 'accounts:\n  a: { name: "${var.a} ${var.b}" }\nvariables: { b: mine }\n',
      'trueup.yaml':
        'settings: { policy: { max_deletes: "${var.most}" } }\nvariables: { most: 3, a: x, b: y }\n',
      'more.yaml': 'variables: { a: other }\n',
      'pipeline.yaml': 'variables:\n  - name: 1\n',
    };
    const { settings: found, declarations } = await project(tree, { paths: ['p'] });
    expect(found.policy.max_deletes).toBe(3);
    expect(declarations[0]?.values['name']).toBe('x mine');
  });

  it('are checked like those of a PATH', async () => {
    const [first] = await errors(
      { 'p/a.yaml': part, 'trueup.yaml': 'settings: { polcy: {} }\n' },
      { paths: ['p'], environment },
    );
    expect(shown(first!)).toMatch(/^trueup\.yaml:1:13 unknown-attribute: .*`policy`/);
    const broken = { 'p/a.yaml': part, 'b.yaml': settings(1), 'c.yaml': 'settings: { a\n' };
    const [syntax] = await errors(broken, { paths: ['p'], environment });
    expect(shown(syntax!)).toMatch(/^c\.yaml:/);
  });
});

describe('environments', () => {
  const tree = {
    'trueup.yaml':
      'settings: { state: a.json, policy: { max_deletes: 1, max_changed_percent: 10 } }\naccounts:\n  a: { name: "${var.n}" }\nvariables: { n: dev }\n',
    'trueup.prod.yaml': 'settings: { policy: { max_deletes: 2 } }\nvariables: { n: prod }\n',
  };

  it('overlay settings and variables with --env, share no state, and are ignored without', async () => {
    const plain = await project(tree);
    expect([plain.settings.policy, plain.declarations[0]?.values['name']]).toEqual([
      { max_deletes: 1, max_changed_percent: 10 },
      'dev',
    ]);
    const prod = await project(tree, { env: 'prod' });
    expect([prod.settings, prod.declarations[0]?.values['name']]).toEqual([
      { policy: { max_deletes: 2, max_changed_percent: 10 }, v2_headers: {}, roles: {} },
      'prod',
    ]);
  });

  it('are found beside a named file, else in the current folder', async () => {
    const nested = {
      'p/trueup.yaml': tree['trueup.yaml'],
      'p/trueup.prod.yaml': tree['trueup.prod.yaml'],
      'q/a.yaml': tree['trueup.yaml'],
      'trueup.prod.yaml': 'variables: { n: outer }\n',
    };
    const name = async (path: string): Promise<unknown> =>
      (await project(nested, { env: 'prod', paths: [path] })).declarations[0]?.values['name'];
    expect([
      await name('p'),
      await name('p/trueup.yaml'),
      await name('q'),
      await name('q/a.yaml'),
    ]).toEqual(['prod', 'prod', 'outer', 'outer']);
  });

  it.each([{}, { env: 'prod' }])('declare nothing, chosen or not: %o', async (options) => {
    const [found, ...others] = await errors(
      { ...tree, 'sub/trueup.sites.yaml': 'variables: { x: 1 }\naccounts:\n  b: { name: x }\n' },
      options,
    );
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      code: 'environment-file',
      summary:
        'sub/trueup.sites.yaml has the name of a file of an environment, and holds `accounts`',
      origin: { file: 'sub/trueup.sites.yaml', line: 2, column: 1 },
    });
  });

  it('hold nothing else, exist, and have names', async () => {
    expect(
      await codes(
        { ...tree, 'trueup.prod.yaml': 'accounts:\n  b: { name: x }\n' },
        { env: 'prod' },
      ),
    ).toEqual(['environment-file']);
    expect(await codes(tree, { env: 'staging' })).toEqual(['no-environment-file']);
    expect(await codes(tree, { env: '../x' })).toEqual(['bad-environment']);
  });
});

describe('a kind that no validator was compiled for', () => {
  const things = kind({
    name: 'things',
    singular: 'thing',
    doc: 'Made up.',
    id: 'id',
    identity: ['name'],
    attributes: {
      name: text('Name.'),
      size: integer('Size.', { optional: true }),
      ratio: number('Ratio.', { optional: true }),
      on: flag('On.', { optional: true }),
      tags: map('Tags.', text('Tag.'), { optional: true }),
      steps: list(
        'Steps.',
        object('Step.', { n: integer('N.'), key: text('Key.', { secret: true, optional: true }) }),
        { optional: true },
      ),
      extra: document('Extra.', { optional: true }),
      kinds: set('Kinds.', text('Kind.'), { optional: true }),
      id: text('Id.', { computed: true }),
    },
    operations: {
      dialect: 'v2',
      collection: 'things',
      paging: 'offset',
      page: 500,
      by_id: 'id',
      create: 'POST',
    },
    example: { name: 'x' },
  });
  const five = { kinds: kindsOf([...kinds.values(), things]) };

  it('loads with every word of the vocabulary', async () => {
    const file =
      'things:\n  a: { name: n, size: 3, ratio: 1.5, on: false, tags: { b: x, a: "${accounts.c.name}" }, steps: [{ n: 2, key: "${secret.env.K}" }, { n: "${things.b.size}" }], extra: { yes: [yes, 1] }, kinds: [b, a, b] }\n';
    const { values } = await one(file, five);
    expect(values).toMatchObject({
      name: 'n',
      size: 3,
      ratio: 1.5,
      on: false,
      tags: { b: 'x', a: new Reference('declared', 'accounts.c', 'name') },
      extra: { yes: ['yes', 1] },
      kinds: ['a', 'b'],
    });
    expect((values['steps'] as readonly { readonly key?: unknown }[])[0]?.key).toBeInstanceOf(
      Secret,
    );
  });

  it('complains alike', async () => {
    const found = await errors(
      'things:\n  a: { name: n, size: 1.5, ratio: x, tags: { a: 1 }, steps: [{ m: 2 }, { n: 1, key: hunter2 }] }\n',
      five,
    );
    expect(found.map(({ code, attribute }) => `${code} ${attribute}`).toSorted()).toEqual([
      'literal-secret steps.1.key',
      'missing-attribute steps.0',
      'unknown-attribute steps.0.m',
      'wrong-type ratio',
      'wrong-type size',
      'wrong-type tags.a',
    ]);
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });
});

it('`lifecycle.adopt` as a number names the same object as in quotes', async () => {
  const { declarations } = await project({
    'trueup.yaml':
      'accounts:\n  a: { name: A, lifecycle: { adopt: 7 } }\n  b: { name: B, lifecycle: { adopt: "${each.value}" }, for_each: { x: 8 } }\n',
  });
  expect(declarations.map(({ lifecycle }) => lifecycle.adopt)).toEqual(['7', '8']);
});

describe('`lifecycle.adopt`', () => {
  const adopting = (id: string): string =>
    `accounts:\n  a: { name: A, lifecycle: { adopt: ${JSON.stringify(id)} } }\n`;

  it.each(['7', '/accounts/7', '/api/v2/accounts/7/'])('names 7 as %s', async (id) =>
    expect((await one(adopting(id))).lifecycle.adopt).toBe('7'),
  );

  it('names an object of a collection with a longer path', async () => {
    const text = adopting('/api/v3/beta/account_authorizations/z-1')
      .replace('accounts:', 'account_authorizations:')
      .replace('name: A', 'user: "1", account: "2", role: administrator');
    expect((await one(text)).lifecycle.adopt).toBe('z-1');
  });

  it.each([
    '07',
    ' 7',
    '7 ',
    '6/../7',
    'accounts/7',
    '/groups/7/',
    '/accounts/6/../7',
    '/accounts/07',
    '/accounts/7/?x=1',
    'https://any.host/api/v2/accounts/7/',
    '//accounts/7/',
    '/accounts/../accounts/7/',
    '..',
    '%37',
    '6\\..\\7',
  ])('does not take %j for another id', async (id) => {
    expect((await errors(adopting(id))).map(shown)).toEqual([
      `trueup.yaml:2:30 bad-id: \`${id}\` is not an id of accounts / Write the id, or the absolute path of the object, which ends in /accounts/ID/.\nTo list the ids: trueup get accounts`,
    ]);
  });
});

describe('variables of several PATHs', () => {
  const tree = {
    'base/a.yaml':
      'variables: { v: base, w: base }\naccounts: { x: { name: "${var.v} ${var.w}" } }\n',
    'own/b.yaml': 'variables: { v: own }\n',
    'own/c.yaml': 'variables: { u: c }\n',
  };
  const nameWith = async (paths: readonly string[]): Promise<unknown> =>
    (await project(tree, { paths })).declarations[0]?.values['name'];

  it.each([
    [['base', 'own'], 'own base'],
    [['own', 'base'], 'base base'],
    [['base', 'own', 'base/a.yaml'], 'base base'],
    [['.', 'own'], 'own base'],
  ])('%j: the last one wins', async (paths, expected) => {
    expect(await nameWith(paths)).toBe(expected);
  });

  it('in one PATH are an error if they have one name', async () => {
    expect(await codes(tree, { paths: ['.'] })).toContain('duplicate-declaration');
  });
});
