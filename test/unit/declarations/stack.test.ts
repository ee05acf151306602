// What a synthesised stack says, form by form: the same declarations as YAML, and what is said where it cannot be said.
import { describe, expect, it } from 'vitest';
import {
  Reference,
  Secret,
  Template,
  type Declaration,
  type JsonObject,
  type Project,
} from '../../../src/model/index.js';
import { LINK, disk, errors, loading, project, shown, type Tree } from './project.js';

type Options = Parameters<typeof project>[1];

/** A stack by what it holds; resources carry the metadata that the CDK gives them. */
/** Locals each of which is made of two of the one before. */
const doubled = (first: unknown, of: (name: string) => unknown): object =>
  Object.fromEntries(
    Array.from({ length: 41 }, (_, n) => [`l${n}`, n === 0 ? first : of(`\${local.l${n - 1}}`)]),
  );

const stack = (tree: object, name = 'base'): string =>
  JSON.stringify({ '//': { metadata: { stackName: name, version: '0.21.0' } }, ...tree });
const made = (path: string, more: object = {}): object => ({
  '//': { metadata: { path, uniqueId: path.split('/').at(-1) } },
  ...more,
});
const account = (body: object): object => ({
  resource: { devicecloud_account: { a: made('base/a', body) } },
});
const rule = (body: object): object => ({
  resource: { devicecloud_alert_rule: { r: made('base/r', body) } },
});

const read = (tree: object, options: Options = {}): Promise<Project> =>
  project({ 'cdk.tf.json': stack(tree) }, { paths: ['cdk.tf.json'], ...options });
const wrong = async (tree: object, options: Options = {}): Promise<readonly string[]> =>
  (await errors({ 'cdk.tf.json': stack(tree) }, { paths: ['cdk.tf.json'], ...options })).map(
    ({ code, summary, origin, attribute }) =>
      [code, origin?.path ?? '', attribute ?? '', summary].join(' | '),
  );
const named = ({ declarations }: Project, address: string): Declaration => {
  const found = declarations.find((one) => one.address === address);
  if (!found)
    throw new Error(`${address} is not among ${declarations.map((one) => one.address).join(', ')}`);
  return found;
};
const values = async (tree: object, address: string, options?: Options): Promise<unknown> =>
  named(await read(tree, options), address).values;

describe('a stack', () => {
  const whole = {
    terraform: {
      required_providers: { devicecloud: { source: 'trueup/devicecloud' } },
      backend: { local: { path: 'x' } },
    },
    provider: {
      devicecloud: [{ requests_per_minute: 300, v2_headers: { 'X-MGR-API-ID': 'X-A' } }],
    },
    variable: {
      label: { type: 'string', default: 'Pager' },
      pager: { type: 'string', sensitive: true },
    },
    locals: { types: ['modem_wan_disconnected'] },
    data: { devicecloud_account: { hq: made('base/hq', { name: 'Headquarters' }) } },
    resource: {
      devicecloud_account: {
        ops: made('base/ops', {
          name: 'Field operations',
          account: '${data.devicecloud_account.hq.id}',
          is_disabled: null,
        }),
      },
      devicecloud_alert_push_destination: {
        pager: made('base/pager', {
          name: '${var.label}',
          enabled: true,
          authentication: { secret_wo: '${var.pager}', secret_wo_version: 2 },
          depends_on: ['devicecloud_account.ops', 'data.devicecloud_account.hq'],
        }),
      },
      devicecloud_alert_rule: {
        wan: made('base/wan', {
          associated_accounts: ['${devicecloud_account.ops.id}'],
          filter_criteria: { alert_type__in: '${local.types}' },
          http_destinations: ['${devicecloud_alert_push_destination.pager.destination_config_id}'],
          settings:
            '{"a":{"n":1,"t":"x ${devicecloud_account.ops.name}"},"whole":"${devicecloud_account.ops.id}","$${b}":[]}'.replace(
              '$${b}',
              'b',
            ),
        }),
      },
    },
    output: { id: { value: '${devicecloud_account.ops.id}' } },
  };

  it('says what the same YAML says', async () => {
    const twin = await project(`
settings: { requests_per_minute: 300, v2_headers: { X-MGR-API-ID: X-A } }
variables: { label: Pager }
lookups: { hq: { accounts: { name: Headquarters } } }
accounts: { ops: { name: Field operations, account: "\${lookups.hq.id}" } }
alert_push_destinations: { pager: { name: "\${var.label}", enabled: true, authentication: { secret: "\${secret.env.TRUEUP_VAR_pager}" } } }
alert_rules:
  wan:
    associated_accounts: ["\${accounts.ops.id}"]
    filter_criteria: { alert_type__in: [modem_wan_disconnected] }
    http_destinations: ["\${alert_push_destinations.pager.destination_config_id}"]
    settings: { a: { n: 1, t: "x \${accounts.ops.name}" }, whole: "\${accounts.ops.id}", b: [] }
`);
    const loaded = await read(whole);
    const plain = (one: Project): unknown => [
      one.settings,
      one.lookups.map(({ name, kind, where }) => [name, kind, where]),
      new Map(
        one.declarations.map(({ address, values: all, lifecycle }) => [
          address,
          [JSON.stringify(all), lifecycle],
        ]),
      ),
    ];
    expect(plain(loaded)).toEqual(plain(twin));
    expect(named(loaded, 'alert_push_destinations.pager').depends_on).toEqual(['accounts.ops']);
    expect(named(loaded, 'alert_rules.wan')).toMatchObject({
      origin: { file: 'cdk.tf.json', line: 0, column: 0, path: 'base/wan' },
      file: 'cdk.tf.json',
    });
  });

  it('keeps the type of a whole reference and makes text of a mixed one', async () => {
    const found = (await values(
      {
        resource: {
          devicecloud_account: {
            a: { name: 'A', account: '${devicecloud_account.b.id}' },
            b: { name: 'see ${devicecloud_account.c.id}, $${not} and %%{not}' },
            c: { name: 'C' },
          },
        },
      },
      'accounts.b',
    )) as { readonly name: Template };
    expect(found.name).toBeInstanceOf(Template);
    expect(String(found.name)).toBe('see ${accounts.c.id}, ${not} and %{not}');
    expect(
      await values(
        {
          resource: {
            devicecloud_account: {
              a: { name: 'A', account: '${devicecloud_account.b.id}' },
              b: { name: 'B' },
            },
          },
        },
        'accounts.a',
      ),
    ).toEqual({
      name: 'A',
      account: new Reference('declared', 'accounts.b', 'id'),
    });
  });

  it('takes the value of a variable from the environment, by either name', async () => {
    const tree = {
      variable: { n: { default: 'from the stack' } },
      ...account({ name: '${var.n}' }),
    };
    expect(await values(tree, 'accounts.a')).toEqual({ name: 'from the stack' });
    expect(await values(tree, 'accounts.a', { environment: { TF_VAR_n: 'tf' } })).toEqual({
      name: 'tf',
    });
    expect(
      await values(tree, 'accounts.a', { environment: { TF_VAR_n: 'tf', TRUEUP_VAR_n: 'ours' } }),
    ).toEqual({ name: 'ours' });
    expect(
      await values(tree, 'accounts.a', {
        environment: { TRUEUP_VAR_n: 'ours' },
        variables: { n: 'flag' },
      }),
    ).toEqual({ name: 'flag' });
    const [found] = await errors(
      { 'cdk.tf.json': stack({ variable: { n: {} }, ...account({ name: '${var.n}' }) }) },
      { paths: ['cdk.tf.json'] },
    );
    expect(found?.detail).toContain('TRUEUP_VAR_n or TF_VAR_n');
  });

  it('reads TF_VAR for no YAML', async () => {
    const [found] = await errors('accounts: { a: { name: "${var.n}" } }\n', {
      environment: { TF_VAR_n: 'tf' },
    });
    expect(found?.detail).not.toContain('TF_VAR');
  });

  it.each([
    [{ TRUEUP_VAR_key: 'ours', TF_VAR_key: 'tf' }, 'ours'],
    [{ TF_VAR_key: 'tf' }, 'tf'],
    [{}, undefined],
  ])('reveals a secret of %o as %s', async (environment, value) => {
    const tree = {
      variable: { key: { sensitive: true } },
      resource: {
        devicecloud_alert_push_destination: {
          p: { name: 'P', authentication: { secret_wo: '${var.key}' } },
        },
      },
    };
    const { authentication } = (await values(tree, 'alert_push_destinations.p', {
      environment: { ...environment },
    })) as { readonly authentication: { readonly secret: Secret } };
    expect(authentication.secret).toBeInstanceOf(Secret);
    expect([authentication.secret.source, authentication.secret.reveal()]).toEqual([
      'env.TRUEUP_VAR_key',
      value,
    ]);
  });

  it.each([
    [
      'a set',
      { for_each: '${toset(["a", "b", "a"])}' },
      '${each.value}',
      { '["a"]': 'a', '["b"]': 'b' },
    ],
    [
      'a set of anything',
      { for_each: '${toset(["1", 2, true, 1])}' },
      '${each.value}',
      { '["1"]': '1', '["2"]': '2', '["true"]': 'true' },
    ],
    ['a variable as a set', { for_each: '${toset(var.twice)}' }, '${each.value}', { '["x"]': 'x' }],
    ['a local as a set', { for_each: '${toset(local.list)}' }, '${each.key}', { '["x"]': 'x' }],
    [
      'a map',
      { for_each: { k: { n: 'one' }, l: { n: 'two' } } },
      '${each.key} ${each.value.n}',
      { '["k"]': 'k one', '["l"]': 'l two' },
    ],
    [
      'a local that is a map',
      { for_each: '${local.map}' },
      '${each.value["n"]}',
      { '["k"]': 'deep' },
    ],
    [
      'a count',
      { count: 2 },
      'number ${count.index}',
      { '["0"]': 'number 0', '["1"]': 'number 1' },
    ],
    ['a count of none', { count: 0 }, 'x', {}],
    [
      'a count that is a variable',
      { count: '${var.two}' },
      '${count.index}',
      { '["0"]': '0', '["1"]': '1' },
    ],
    [
      'a count that is text with places',
      { count: '2.0' },
      '${count.index}',
      { '["0"]': '0', '["1"]': '1' },
    ],
    ['a count that is text', { count: '1' }, 'x', { '["0"]': 'x' }],
  ])('unfolds %s', async (_, words, name, expected) => {
    const { declarations } = await read({
      variable: { two: { type: 'number', default: 2 }, twice: { default: ['x', 'x'] } },
      locals: { list: ['x', 'x'], map: { k: { n: 'deep' } } },
      ...account({ name, ...words }),
    });
    expect(
      Object.fromEntries(
        declarations.map((one) => [one.address.replace('accounts.a', ''), one.values['name']]),
      ),
    ).toEqual(expected);
  });

  it('refers to members by key, by number, and by what is each', async () => {
    const tree = {
      resource: {
        devicecloud_account: {
          a: { name: 'x', for_each: '${toset(["k"])}' },
          n: { name: 'y', count: 1 },
          b: { name: 'b', account: '${devicecloud_account.a["k"].id}' },
          c: { name: 'c', account: '${devicecloud_account.n[0].id}' },
          d: {
            name: 'd',
            account: '${devicecloud_account.a[each.key].id}',
            for_each: '${toset(["k"])}',
          },
          e: { name: 'e', account: '${devicecloud_account.n[count.index].id}', count: 1 },
        },
      },
    };
    const loaded = await read(tree);
    const target = (address: string): unknown =>
      (named(loaded, address).values['account'] as Reference).target;
    expect(['accounts.b', 'accounts.c', 'accounts.d["k"]', 'accounts.e["0"]'].map(target)).toEqual([
      'accounts.a["k"]',
      'accounts.n["0"]',
      'accounts.a["k"]',
      'accounts.n["0"]',
    ]);
  });

  it.each<[what: string, variable: object, text: string, expected: unknown]>([
    ['a number', { default: 7 }, '${var.v}', '7'],
    ['a flag', { default: false }, '${var.v}', 'false'],
    ['an item of a list', { default: ['a', 'b'] }, '${var.v[1]}', 'b'],
    ['an item of a list, in the old way', { default: ['a', 'b'] }, '${var.v.0}', 'a'],
    ['a member', { default: { a: { n: 0.5 } } }, '${var.v.a["n"]}', '0.5'],
    ['a member inside a text', { default: ['a'] }, '<${var.v[0]}>', '<a>'],
    ['what looks like a reference', { default: ['${var.v}'] }, '${var.v[0]}', '${var.v}'],
    [
      'what looks like a template, of which a default is none,',
      { default: '${upper("x")} $${a} %{if} %%{b}' },
      '${var.v}',
      '${upper("x")} $${a} %{if} %%{b}',
    ],
    [
      'a member whose key looks like one',
      { default: { m: { '%%{k}': 1, x: 'X' } } },
      '${var.v.m.x}',
      'X',
    ],
  ])('gives a text %s of a variable', async (_, variable, text, expected) => {
    const found = (await values(
      { variable: { v: variable }, ...destined(text) },
      'alert_push_destinations.p',
    )) as Record<string, unknown>;
    expect(found['name']).toEqual(expected);
  });

  it('takes a variable that is null for absent', async () => {
    expect(
      await values(
        { variable: { v: { default: null } }, ...rule({ schedule: '${var.v}', settings: 'null' }) },
        'alert_rules.r',
      ),
    ).toEqual({ settings: null });
  });

  it('makes numbers, flags and texts of one another as attributes need them', async () => {
    const tree = {
      variable: { on: { default: '1' } },
      locals: { n: 12 },
      resource: {
        devicecloud_account: { a: { name: true, account: 5 }, b: { name: '${local.n}' } },
        devicecloud_alert_push_destination: {
          p: { name: 1.5, enabled: 'false' },
          q: { name: 'Q', enabled: '${var.on}' },
        },
        devicecloud_alert_rule: {
          r: { associated_accounts: [1, '${local.n}'], settings: '{"n":1}' },
        },
      },
    };
    const loaded = await read(tree);
    expect(loaded.declarations.map((one) => [one.name, one.values])).toEqual([
      ['a', { name: 'true', account: '5' }],
      ['b', { name: '12' }],
      ['p', { name: '1.5', enabled: false }],
      ['q', { name: 'Q', enabled: true }],
      ['r', { associated_accounts: ['1', '12'], settings: { n: 1 } }],
    ]);
  });

  it('reads a document as JSON after everything was filled in', async () => {
    const tree = {
      variable: { n: { type: 'number', default: 7 }, t: { default: 'x' }, o: { type: 'bool' } },
      locals: { n: 3 },
      ...rule({
        count: 1,
        settings:
          '{"bare":${var.n},"quoted":"${var.n}","local":"${local.n}","index":${count.index},"mixed":"${var.n}${var.t}","on":${var.o}}',
      }),
    };
    expect(await values(tree, 'alert_rules.r["0"]', { environment: { TF_VAR_o: 'true' } })).toEqual(
      {
        settings: { bare: 7, quoted: '7', local: '3', index: 0, mixed: '7x', on: true },
      },
    );
  });

  it('takes a list or a mapping from outside as JSON', async () => {
    const tree = {
      variable: {
        sites: { type: 'map(object({ title = string }))' },
        types: { default: ['account_locked'] },
        n: { type: 'number' },
      },
      resource: {
        devicecloud_account: {
          a: { for_each: '${var.sites}', name: '${each.value.title} ${var.n}' },
        },
        devicecloud_alert_rule: { r: { filter_criteria: { alert_type__in: '${var.types}' } } },
      },
    };
    const environment = {
      TF_VAR_sites: '{"k":{"title":"K ${x}"}}',
      TF_VAR_types: '["wwan_connected"]',
      TF_VAR_n: '03',
    };
    const loaded = await read(tree, { environment });
    expect(loaded.declarations.map((one) => one.values)).toEqual([
      { name: 'K ${x} 3' },
      { filter_criteria: { alert_type__in: ['wwan_connected'] } },
    ]);
    const found = await errors(
      { 'cdk.tf.json': stack(tree) },
      { paths: ['cdk.tf.json'], environment: { ...environment, TF_VAR_sites: '{hunter2}' } },
    );
    expect(found.map(shown)).toEqual([
      'bad-variable: the variable `sites` has to be a mapping, and what it was given from outside is none / As in: --var \'sites={"a": "b"}\'',
    ]);
    expect(found.map(shown).join()).not.toContain('hunter2');
  });

  it.each<[type: string, initial: unknown, outside: string | undefined, expected: unknown]>([
    ['number', '007', undefined, '7'],
    ['number', '1.50', undefined, '1.5'],
    ['number', 3, '1e2', '100'],
    ['number', 3, '3.0', '3'],
    ['number', 3, ' 3', undefined],
    ['number', 3, '0x10', undefined],
    ['number', 3, 'abc', undefined],
    ['number', 3, '1e30', undefined],
    ['number', 3, '12345678901234567', undefined],
    ['number', 'x', undefined, undefined],
    ['number', [1], undefined, undefined],
    ['bool', '1', undefined, 'true'],
    ['bool', 'false', undefined, 'false'],
    ['bool', true, 'yes', undefined],
    ['bool', 1, undefined, undefined],
    ['string', 7, undefined, '7'],
    ['string', '7', '[1]', '[1]'],
    ['string', ['a'], undefined, undefined],
    ['list(number)', ['01', 2], undefined, [1, 2]],
    ['list(number)', [1], '["1.0", 2]', [1, 2]],
    ['list(number)', ['x'], undefined, undefined],
    ['list(number)', 'x', undefined, undefined],
    ['set(string)', ['a', 1, '1', 'a'], undefined, ['a', '1']],
    ['map(bool)', { a: 'true', b: false }, undefined, { a: true, b: false }],
    ['map(bool)', ['true'], undefined, undefined],
    ['map(list(number))', { a: ['1'] }, undefined, { a: [1] }],
    ['object({ a = number })', { a: 1 }, '{"a":2}', { a: 2 }],
    ['object({ a = number })', 'x', undefined, undefined],
    ['object({ a = number })', [1], undefined, undefined],
    ['tuple([string])', ['x'], undefined, ['x']],
    ['tuple([string])', { a: 1 }, undefined, undefined],
    ['any', 'x', '[1]', [1]],
    ['any', 'x', undefined, 'x'],
  ])(
    'a variable of the type %s with the default %j, given %j from outside, is %j',
    async (type, initial, outside, expected) => {
      const whole = Array.isArray(expected) || (typeof expected === 'object' && expected !== null);
      const tree = {
        variable: { v: { type, default: initial } },
        ...(whole
          ? rule({ associated_accounts: ['1'], settings: '{"v":${var.v}}' })
          : destined('${var.v}')),
      };
      const options = {
        paths: ['cdk.tf.json'],
        environment: { ...(outside !== undefined && { TF_VAR_v: outside }) },
      };
      const { declarations, diagnostics } = await loading(
        { 'cdk.tf.json': stack(tree) },
        options,
      ).then((loaded) => ({
        declarations: loaded.project?.declarations ?? [],
        ...loaded,
      }));
      const [found] = declarations.map(({ values }) =>
        whole ? (values['settings'] as { readonly v: unknown }).v : values['name'],
      );
      expect(found).toEqual(expected);
      expect(diagnostics.find(({ severity }) => severity === 'error')?.code).toBe(
        expected === undefined ? 'bad-variable' : undefined,
      );
    },
  );

  it('keeps data sources of one name apart', async () => {
    const tree = {
      data: {
        devicecloud_account: { it: { name: 'A' } },
        devicecloud_alert_push_destination: { it: { name: 'P' } },
      },
      resource: {
        devicecloud_account: { a: { name: 'x', account: '${data.devicecloud_account.it.id}' } },
        devicecloud_alert_rule: {
          r: {
            http_destinations: [
              '${data.devicecloud_alert_push_destination.it.destination_config_id}',
            ],
          },
        },
      },
    };
    const loaded = await read(tree);
    expect(loaded.lookups.map(({ name, kind, where }) => [name, kind, where])).toEqual([
      ['it', 'accounts', { name: 'A' }],
      ['it-2', 'alert_push_destinations', { name: 'P' }],
    ]);
    expect(named(loaded, 'accounts.a').values['account']).toEqual(
      new Reference('lookup', 'it', 'id'),
    );
    expect(named(loaded, 'alert_rules.r').values['http_destinations']).toEqual([
      new Reference('lookup', 'it-2', 'destination_config_id'),
    ]);
  });

  it('knows the identifier by `id`, too, whatever the API calls it', async () => {
    const tree = {
      data: { devicecloud_alert_push_destination: { it: { id: 'd1' } } },
      resource: {
        devicecloud_alert_push_destination: { own: { name: 'Own' } },
        devicecloud_alert_rule: {
          r: {
            http_destinations: [
              '${data.devicecloud_alert_push_destination.it.id}',
              '${devicecloud_alert_push_destination.own.id}',
            ],
          },
        },
      },
    };
    const loaded = await read(tree);
    expect(loaded.lookups.map(({ where }) => where)).toEqual([{ destination_config_id: 'd1' }]);
    expect(named(loaded, 'alert_rules.r').values['http_destinations']).toEqual([
      new Reference('declared', 'alert_push_destinations.own', 'destination_config_id'),
      new Reference('lookup', 'it', 'destination_config_id'),
    ]);
  });

  it('takes an ephemeral variable for a secret', async () => {
    const tree = {
      variable: { key: { ephemeral: true } },
      ...destination({ secret_wo: '${var.key}' }),
    };
    const found = (await values(tree, 'alert_push_destinations.p')) as {
      readonly authentication: { readonly secret: Secret };
    };
    expect(found.authentication.secret.source).toBe('env.TRUEUP_VAR_key');
  });

  it('honours lifecycle, import and moved', async () => {
    const tree = {
      import: [{ to: 'devicecloud_account.a', id: '17' }],
      moved: [
        { from: 'devicecloud_account.old', to: 'devicecloud_account.a' },
        { from: 'random_pet.a', to: 'random_pet.b' },
        { from: 'module.m["k"].module.n[0].random_pet.a', to: 'random_pet.b' },
        { from: 'module.m', to: 'module.n.module.m' },
      ],
      ...account({
        name: 'A',
        lifecycle: { prevent_destroy: true, ignore_changes: ['name'], create_before_destroy: true },
      }),
    };
    const loaded = await read(tree);
    const origin = { file: 'cdk.tf.json', line: 0, column: 0, path: 'base' };
    expect(named(loaded, 'accounts.a')).toMatchObject({
      lifecycle: { protect: true, ignore_changes: ['name'], adopt: '17' },
      import_origin: origin,
      moved_from: [{ address: 'accounts.old', origin }],
    });
    expect(loaded.refactorings).toHaveLength(2);
    const all = named(await read(rule({ lifecycle: { ignore_changes: 'all' } })), 'alert_rules.r')
      .lifecycle.ignore_changes;
    expect(all).toEqual([
      'schedule',
      'associated_accounts',
      'associated_groups',
      'filter_criteria',
      'http_destinations',
      'settings',
    ]);
    const secret = {
      resource: {
        devicecloud_alert_push_destination: {
          p: {
            name: 'P',
            lifecycle: {
              ignore_changes: ['authentication.secret_wo', 'authentication.secret_wo_version'],
            },
          },
        },
      },
    };
    expect(named(await read(secret), 'alert_push_destinations.p').lifecycle).toEqual({
      ignore_changes: ['authentication.secret'],
    });
  });

  it('reads blocks of members, chains of moves, and removals', async () => {
    const { declarations, refactorings = [] } = await read({
      moved: [
        { from: 'devicecloud_account.b', to: 'devicecloud_account.c' },
        { from: 'devicecloud_account.c[1]', to: 'devicecloud_account.a["k"]' },
      ],
      import: { to: 'devicecloud_account.a["l"]', id: '${var.id}', '//': 'made by a program' },
      removed: [
        { from: 'devicecloud_alert_rule.r', lifecycle: [{ destroy: false }] },
        { from: 'random_pet.a' },
        { from: 'module.m.random_pet.a' },
      ],
      variable: { id: { default: '7' } },
      ...account({ name: '${each.key}', for_each: { k: '', l: '' } }),
    });
    expect(
      declarations.map(({ address, lifecycle, moved_from = [] }) => [
        address,
        lifecycle.adopt,
        ...moved_from.map((one) => one.address),
      ]),
    ).toEqual([
      ['accounts.a["k"]', undefined, 'accounts.c["1"]', 'accounts.b["1"]'],
      ['accounts.a["l"]', '7'],
    ]);
    expect(refactorings).toMatchObject([
      { block: 'moved' },
      { block: 'moved' },
      { block: 'removed', from: { kind: 'alert_rules', name: 'r' }, forgets: true },
      { block: 'import', to: ['accounts.a["l"]'] },
    ]);
  });

  it.each<[string, object, object]>([
    ['a mapping', { for_each: { k: '7', l: '8' }, id: '${each.value}' }, {}],
    [
      'a variable',
      { for_each: '${var.ids}', id: '${each.value}' },
      { variable: { ids: { default: { k: '7', l: '8' } } } },
    ],
    ['a set', { for_each: '${toset(["k", "l"])}', id: '${each.key == "k" ? "7" : "8"}' }, {}],
  ])('imports each member of %s', async (_, words, more) => {
    const { declarations, refactorings } = await read({
      import: [{ to: 'devicecloud_account.a[each.key]', ...words }],
      ...account({ name: '${each.key}', for_each: { k: '', l: '' } }),
      ...more,
    });
    expect(declarations.map(({ address, lifecycle }) => [address, lifecycle.adopt])).toEqual([
      ['accounts.a["k"]', '7'],
      ['accounts.a["l"]', '8'],
    ]);
    expect(refactorings).toMatchObject([{ to: ['accounts.a["k"]', 'accounts.a["l"]'] }]);
  });

  it.each([
    ['accounts.b["k"]', 'Write it with its type: devicecloud_account.b["k"]'],
    ['devicecloud_acount.b', 'Write it with its type: devicecloud_account.b'],
  ])('says how to write %s in a block', async (from, detail) => {
    const files = { 'cdk.tf.json': stack({ removed: [{ from }], ...account({ name: 'A' }) }) };
    const found = await errors(files, { paths: ['cdk.tf.json'] });
    expect(found.map((one) => one.detail)).toEqual([detail]);
  });

  it('refuses an import of all members to one address, and of each of nothing', async () => {
    const complaints = async (block: object): Promise<readonly string[]> =>
      (
        await wrong({
          import: [block],
          ...account({ name: '${each.key}', for_each: { k: '', l: '' } }),
        })
      ).map((line) => line.split(' | ')[0] ?? '');
    const to = (index: string): string => `devicecloud_account.a[${index}]`;
    const for_each = { k: '7', l: '8' };
    expect(await complaints({ to: to('"k"'), id: '${each.value}', for_each })).toEqual([
      'conflicting-blocks',
    ]);
    expect(await complaints({ to: to('each.key'), id: '7' })).toEqual(['no-for-each']);
    expect(await complaints({ to: to('each.key'), id: '7', for_each: { m: '' } })).toEqual([
      'undeclared',
    ]);
  });

  it('holds what gets a count, or loses it, for what it was', async () => {
    const former = async (words: object, more: object = {}): Promise<readonly unknown[]> =>
      (await read({ ...account({ name: 'A', ...words }), ...more })).declarations.map(
        ({ address, recounted, moved_from = [] }) => [address, recounted ?? moved_from[0]?.address],
      );
    const moved = (from: string, to: string): object => ({
      moved: [{ from: `devicecloud_account.${from}`, to: `devicecloud_account.${to}` }],
    });
    const counted = [
      ['accounts.a["0"]', 'accounts.a'],
      ['accounts.a["1"]', undefined],
    ];
    expect(await former({ count: 2 })).toEqual(counted);
    expect(await former({ count: 2 }, moved('a', 'a[0]'))).toEqual(counted);
    expect(await former({})).toEqual([['accounts.a', 'accounts.a["0"]']]);
    expect(await former({}, moved('a[0]', 'a'))).toEqual([['accounts.a', 'accounts.a["0"]']]);
    expect(await former({ for_each: { 0: 'x' } })).toEqual([['accounts.a["0"]', undefined]]);
    expect(await former({ count: 1 }, moved('b', 'a'))).toEqual([
      ['accounts.a["0"]', 'accounts.b["0"]'],
    ]);
    expect(await former({}, moved('b', 'a'))).toEqual([['accounts.a', 'accounts.b']]);
  });

  it('takes the provider that a resource has anyway for nothing said', async () => {
    expect(await values(account({ name: 'A', provider: 'devicecloud' }), 'accounts.a')).toEqual({
      name: 'A',
    });
  });

  it('takes a document through a local, and null for null', async () => {
    expect(
      await values(
        {
          locals: { doc: '{"a":"${devicecloud_account.x.id}"}' },
          ...rule({ settings: '${local.doc}' }),
        },
        'alert_rules.r',
      ),
    ).toEqual({
      settings: { a: new Reference('declared', 'accounts.x', 'id') },
    });
    expect(await values(rule({ settings: '{"$${a}":"$${b}"}' }), 'alert_rules.r')).toEqual({
      settings: { '${a}': '${b}' },
    });
    expect(await values(rule({ settings: 'null', schedule: null }), 'alert_rules.r')).toEqual({
      settings: null,
    });
    expect(
      await values(
        rule({
          settings:
            '{"n": "${devicecloud_account.x["k"].id}", "q": "\\"${devicecloud_account.x["k"].id}\\""}',
        }),
        'alert_rules.r',
      ),
    ).toMatchObject({
      settings: { n: new Reference('declared', 'accounts.x["k"]', 'id') },
    });
  });

  it('tells the text of a document from what stands for its references, whatever characters it has', async () => {
    const tree = {
      locals: { flag: '${devicecloud_account.x.is_disabled}' },
      ...rule({
        settings:
          '{"a":"\uE0000\uE000","b":"\\uE001\\uE0010\\ue001","c":"${var.n}","d":${local.flag}}',
      }),
    };
    expect(await values({ variable: { n: { default: 'N' } }, ...tree }, 'alert_rules.r')).toEqual({
      settings: {
        a: '\uE0000\uE000',
        b: '\uE001\uE0010\uE001',
        c: 'N',
        d: new Reference('declared', 'accounts.x', 'is_disabled'),
      },
    });
  });

  it('reads a reference by a key out of a local', async () => {
    const tree = {
      locals: { it: '${devicecloud_account.x["k"].id}' },
      ...rule({ settings: JSON.stringify({ a: '${local.it}', b: 'at ${local.it}' }) }),
    };
    const found = (await values(tree, 'alert_rules.r')) as {
      readonly settings: Readonly<Record<string, unknown>>;
    };
    expect(found.settings['a']).toEqual(new Reference('declared', 'accounts.x["k"]', 'id'));
    expect(String(found.settings['b'])).toContain('accounts.x["k"].id');
  });

  it('names the line of the program where a trace tells it, and shows it', async () => {
    const trace = [
      'new Account (/project/node_modules/trueup/x.js:1:2)',
      'node:internal/x:1:1',
      'new Base (file:///project/src/main%20one.ts:2:7)',
      '/project/src/main.ts:9:9',
    ];
    const block = {
      name: 'A',
      colour: 'red',
      '//': { metadata: { path: 'base/a', stackTrace: trace } },
    };
    const tree = {
      'cdk.tf.json': stack({ resource: { devicecloud_account: { a: block } } }),
      'src/main one.ts': "import x;\n  new Account(this, 'a', { secretWo: 'hunter2' });\n",
    };
    const loaded = await loading(tree, { paths: ['cdk.tf.json'] });
    const [found] = loaded.diagnostics;
    expect(found).toMatchObject({
      code: 'unknown-attribute',
      origin: { file: 'src/main one.ts', line: 2, column: 7, path: 'base/a' },
    });
    const frame = loaded.frame(found?.origin ?? { file: '', line: 0, column: 0 });
    expect(frame).toContain("> 2 |   new Account(this, 'a'");
    expect(frame).not.toContain('hunter2');
  });

  it.each([
    ['outside of the folder', ['/etc/passwd.ts:1:1']],
    ['no source', ['/project/.env:1:1']],
    ['a package', ['/project/node_modules/a/b.js:1:1']],
    ['no place', ['<anonymous>', '']],
  ])('opens no file that is %s', async (_, stackTrace) => {
    const tree = {
      resource: {
        devicecloud_account: {
          a: { name: 'A', '//': { metadata: { path: 'base/a', stackTrace } } },
        },
      },
    };
    expect(named(await read(tree), 'accounts.a').origin).toEqual({
      file: 'cdk.tf.json',
      line: 0,
      column: 0,
      path: 'base/a',
    });
  });
});

it('a local may be as large as its stack', async () => {
  const sites = Array.from({ length: 3000 }, (_, n) => `site ${n} ${'x'.repeat(12_000)}`);
  const tree = {
    locals: { sites, same: '${local.sites}' },
    ...account({ name: '${local.same[2999]}' }),
  };
  expect(await values(tree, 'accounts.a')).toEqual({ name: sites[2999] });
});

describe('what cannot be said', () => {
  it.each<[string, JsonObject | object, string]>([
    ['a directive', account({ name: 'a %{if true}b%{endif}' }), 'the expression %{if true} is'],
    [
      'a member that is not there',
      { variable: { v: { default: ['x'] } }, ...account({ name: '${var.v[1]}' }) },
      'unknown-member | base/a | name | ${var.v.1}: `v` has no `1`',
    ],
    [
      'a part of a secret',
      { variable: { k: { sensitive: true } }, ...destination({ secret_wo: '${var.k[0]}' }) },
      'unsupported-expression | base/p | authentication.secret_wo | ',
    ],
    [
      'waiting for an output that is no resource',
      account({ name: 'A', depends_on: ['data.terraform_remote_state.x.outputs.y'] }),
      'foreign-reference | base/a | depends_on.0 | ',
    ],
    ['an open brace', account({ name: '${var.a' }), 'the expression ${var.a is'],
    [
      'a whole resource',
      account({ name: '${devicecloud_account.b}' }),
      'the expression ${devicecloud_account.b} is',
    ],
    ['an unknown source', account({ name: '${path.module}' }), 'the expression ${path.module} is'],
    [
      'a set of resources',
      account({ name: 'x', for_each: '${devicecloud_account.b}' }),
      'unsupported-expression | base/a | for_each | ',
    ],
    [
      'a count that no number is',
      { variable: { n: { default: ['x'] } }, ...account({ name: 'x', count: '${var.n}' }) },
      'bad-count | base/a | count | ',
    ],
    ['a count below zero', account({ name: 'x', count: -1 }), 'bad-count | base/a | count | '],
    ['a count without end', account({ name: 'x', count: 1e9 }), 'bad-count | base/a | count | '],
    [
      'an unknown variable',
      account({ name: '${var.nmae}' }),
      'unknown-variable | base/a | name | base/a: the stack base has no variable `nmae`.',
    ],
    [
      'a variable without a value',
      { variable: { v: {} }, ...account({ name: '${var.v}' }) },
      'unknown-variable | base/a | name | the variable `v` has no value',
    ],
    ['an unknown local', account({ name: '${local.x}' }), 'unknown-local | base/a | name | '],
    [
      'locals in a circle',
      { locals: { a: '${local.b}', b: '${local.a}' }, ...account({ name: '${local.a}' }) },
      'cycle | base/a | name | base/a: these lead back to each other',
    ],
    [
      'locals that double a text',
      { locals: doubled('x', (name) => name + name), ...account({ name: '${local.l40}' }) },
      'too-large | base/a | name | base/a: base local.l26 is too large: it is larger than 32 MiB',
    ],
    [
      'locals that double a list',
      { locals: doubled(['x'], (name) => [name, name]), ...account({ name: '${local.l40}' }) },
      'base/a: base local.l20 is too large: it is larger than 32 MiB',
    ],
    [
      'a list inside of a text',
      { locals: { l: ['x'] }, ...account({ name: 'a ${local.l}' }) },
      'not-text | base/a | name | ',
    ],
    [
      'a template as key',
      account({ name: 'x', for_each: { '${var.k}': 1 } }),
      'unsupported-expression | base/a | for_each.${var.k} | ',
    ],
    [
      'another stack that is not there',
      account({ name: '${data.terraform_remote_state.x.outputs.y}' }),
      'unknown-stack | base/a | name | ',
    ],
    [
      'a secret as text',
      destination({ secret_wo: 'hunter2' }),
      'literal-secret | base/p | authentication.secret_wo | base/p: `authentication.secret_wo` is secret',
    ],
    [
      'a secret as text beside a variable',
      { variable: { k: { sensitive: true } }, ...destination({ secret_wo: 'x${var.k}' }) },
      'literal-secret | base/p | authentication.secret_wo | ',
    ],
    [
      'what a function makes of a secret',
      destination({ secret_wo: '${sha256("hunter2")}' }),
      'literal-secret | base/p | authentication.secret_wo | base/p: `authentication.secret_wo` is secret',
    ],
    [
      'a directive in a secret',
      destination({ secret_wo: '%{if "hunter2" == ""}' }),
      'literal-secret | base/p | authentication.secret_wo | base/p: `authentication.secret_wo` is secret',
    ],
    [
      'what a local makes of a secret',
      { locals: { s: '${sha256("hunter2")}' }, ...destination({ secret_wo: '${local.s}' }) },
      'literal-secret | base/p | authentication.secret_wo | base/p: `authentication.secret_wo` is secret',
    ],
    [
      'a secret under the name that a file has for it',
      destination({ secret: 'hunter2' }),
      'unknown-attribute | base/p | authentication.secret | base/p: `authentication.secret` is called `authentication.secret_wo`',
    ],
    [
      'a variable that is not sensitive',
      { variable: { k: {} }, ...destination({ secret_wo: '${var.k}' }) },
      'literal-secret | base/p | authentication.secret_wo | ',
    ],
    [
      'a sensitive variable with a default',
      {
        variable: { k: { sensitive: true, default: 'hunter2' } },
        ...destination({ secret_wo: '${var.k}' }),
      },
      'literal-secret | base/p | ',
    ],
    [
      'a sensitive variable elsewhere',
      { variable: { k: { sensitive: true } }, ...account({ name: '${var.k}' }) },
      'misplaced-secret | base/a | name | ',
    ],
    [
      'a document that is not JSON',
      rule({ settings: '{a: 1}' }),
      'bad-json | base/r | settings | ',
    ],
    [
      'a document that is not a string',
      rule({ settings: { a: 1 } }),
      'bad-json | base/r | settings | ',
    ],
    [
      'a document with a key that shadows',
      rule({ settings: '{"__proto__": {}}' }),
      'unsupported-expression | base/r | settings | ',
    ],
    [
      'a document with an expression in a key',
      rule({ settings: '{"${var.k}": 1}' }),
      'unsupported-expression | base/r | settings | ',
    ],
    [
      'a mapping with an expression in a key',
      account({ for_each: { '${var.k}': 1 }, name: 'A' }),
      'unsupported-expression | base/a | for_each.${var.k} | base/a: the key `${var.k}` is not a plain string',
    ],
    [
      'a document with escaped quotes inside of a reference',
      rule({ settings: JSON.stringify({ x: '${devicecloud_account.m["a"].id}' }) }),
      'bad-json | base/r | settings | base/r: `settings`: quotes inside of `${…}` are escaped here',
    ],
    ...(
      [
        ['of an object', '${devicecloud_account.n.id}'],
        ['of a lookup', '${data.devicecloud_account.l.name}'],
        ['of a variable', '${var.s}'],
        ['of a member of a variable', '${var.l.0}'],
        ['of a variable without a type', '${var.u}'],
        ['of a member of a set', '${each.value}'],
        ['of a key', '${each.key}'],
        ['of a local', '${local.t}'],
        ['of a local with a reference', '${local.id}'],
      ] as const
    ).map(([what, text]): [string, object, string] => [
      `text ${what} in a document without quotes`,
      {
        locals: { t: 'x', id: '${devicecloud_account.n.id}' },
        variable: {
          s: { type: 'string', default: 'x' },
          l: { type: 'list(string)', default: ['5'] },
          u: { default: '5' },
        },
        data: { devicecloud_account: { l: { name: 'L' } } },
        ...rule({
          ...(text.startsWith('${each.') && { for_each: '${toset(["a"])}' }),
          settings: `{"m":[${text}]}`,
        }),
      },
      `unquoted-text | base/r | settings.m.0 | base/r: \`settings.m.0\`: ${text} is a string and is not in quotes`,
    ]),
    [
      'a mapping in quotes in a document',
      { locals: { o: { k: 'v' } }, ...rule({ settings: '{"x":"${local.o}"}' }) },
      'not-text | base/r | settings.x | ',
    ],
    [
      'an integer beyond 2^53',
      rule({ settings: '{"a": 9007199254740993}' }),
      'integer-range | base/r | settings.a | ',
    ],
    [
      'an unknown attribute',
      account({ name: 'A', nmae: 'B' }),
      'unknown-attribute | base/a | nmae | ',
    ],
    [
      'a computed attribute',
      account({ name: 'A', id: '7' }),
      'computed-attribute | base/a | id | ',
    ],
    [
      'an unknown type',
      { resource: { devicecloud_acount: { a: made('base/a') } } },
      'unknown-kind | base/a |  | base/a: devicecloud_acount is not a resource type. Did you mean `devicecloud_account`?',
    ],
    [
      'a reference to another provider',
      {
        resource: {
          random_pet: { p: {} },
          devicecloud_account: { a: made('base/a', { name: '${random_pet.p.id}' }) },
        },
      },
      'foreign-reference | base/a | name | ',
    ],
    [
      'waiting for another provider',
      account({ name: 'A', depends_on: ['random_pet.p'] }),
      'foreign-reference | base/a | depends_on.0 | ',
    ],
    [
      'a provisioner',
      account({ name: 'A', provisioner: [{ 'local-exec': {} }] }),
      'unsupported-block | base/a | provisioner | ',
    ],
    [
      'a connection',
      account({ name: 'A', connection: {} }),
      'unsupported-block | base/a | connection | ',
    ],
    [
      'a dynamic block',
      account({ name: 'A', dynamic: {} }),
      'unsupported-block | base/a | dynamic | ',
    ],
    [
      'a provider of its own',
      account({ name: 'A', provider: 'devicecloud.second' }),
      'unsupported-block | base/a | provider | ',
    ],
    [
      'replace_triggered_by',
      account({ name: 'A', lifecycle: { replace_triggered_by: [] } }),
      'unsupported-lifecycle | base/a | lifecycle.replace_triggered_by | ',
    ],
    [
      'a precondition',
      account({ name: 'A', lifecycle: { precondition: [] } }),
      'unsupported-lifecycle | base/a | lifecycle.precondition | ',
    ],
    [
      'an ignored attribute that is none',
      account({ name: 'A', lifecycle: { ignore_changes: ['nmae'] } }),
      'unknown-attribute | base/a | lifecycle.ignore_changes.0 | ',
    ],
    [
      'an alias',
      { provider: { devicecloud: [{ alias: 'x' }] } },
      'unsupported-alias | base | provider.alias | ',
    ],
    [
      'a credential',
      { provider: { devicecloud: [{ v3_token: '${var.t}' }] } },
      'literal-secret | base | provider.v3_token | ',
    ],
    [
      'a module',
      { module: { m: {} } },
      'unsupported-block | base | module | base: `module` is not supported here',
    ],
    [
      'a removal with a provisioner',
      { removed: [{ from: 'devicecloud_account.b', provisioner: {} }] },
      'unsupported-removed | base | removed | ',
    ],
    [
      'a removal by condition',
      { removed: [{ from: 'devicecloud_account.b', lifecycle: { destroy: '${var.x}' } }] },
      'unsupported-removed | base | removed | ',
    ],
    [
      'a removal of what is declared',
      { removed: [{ from: 'devicecloud_account.a' }], ...account({ name: 'A' }) },
      'removed-declared | base | from | ',
    ],
    [
      'a removal by an address of declaration files',
      { removed: [{ from: 'accounts.b["k"]' }] },
      'unsupported-removed | base | removed | ',
    ],
    [
      'a move from a type that does not exist',
      { moved: [{ from: 'devicecloud_acount.b', to: 'devicecloud_acount.c' }] },
      'unsupported-moved | base | moved | ',
    ],
    [
      'removals that are no blocks',
      { removed: 'accounts.b' },
      'bad-stack | base | removed | base: `removed` is not a list of blocks',
    ],
    ['a check', { check: {} }, 'unsupported-block | base | check | '],
    [
      'an import to a member that is not there',
      { import: [{ to: 'devicecloud_account.a["k"]', id: '1' }], ...account({ name: 'A' }) },
      'undeclared | base | to | ',
    ],
    [
      'an import by identity',
      { import: [{ to: 'devicecloud_account.a', identity: {} }], ...account({ name: 'A' }) },
      'unsupported-import | base | import | ',
    ],
    [
      'two imports to one',
      {
        import: [
          { to: 'devicecloud_account.a', id: '1' },
          { to: 'devicecloud_account.a', id: '2' },
        ],
        ...account({ name: 'A' }),
      },
      'conflicting-blocks | base | to | ',
    ],
    [
      'two moves to one',
      {
        moved: [
          { from: 'devicecloud_account.b', to: 'devicecloud_account.a' },
          { from: 'devicecloud_account.c', to: 'devicecloud_account.a' },
        ],
        ...account({ name: 'A' }),
      },
      'conflicting-blocks | base | to | ',
    ],
    [
      'count beside for_each',
      account({ name: 'A', count: 1, for_each: { a: 'b' } }),
      'unsupported-block | base/a | count | ',
    ],
    [
      'a move between types',
      {
        moved: [{ from: 'devicecloud_alert_rule.a', to: 'devicecloud_account.a' }],
        ...account({ name: 'A' }),
      },
      'moved-kind | base | to | ',
    ],
    [
      'a move to another provider',
      { moved: [{ from: 'devicecloud_account.a', to: 'random_pet.a' }] },
      'unsupported-moved | base | moved | base: the move from devicecloud_account.a to random_pet.a',
    ],
    [
      'a move out of a module',
      {
        moved: [{ from: 'module.m.devicecloud_account.a', to: 'devicecloud_account.a' }],
        ...account({ name: 'A' }),
      },
      'unsupported-moved | base | moved | ',
    ],
    [
      'a removal in a module',
      { removed: [{ from: 'module.m.devicecloud_account.a' }] },
      'unsupported-removed | base | removed | ',
    ],
    [
      'a move that leads nowhere',
      { moved: [{ from: 'devicecloud_account.a', to: 'devicecloud_account.b' }] },
      'undeclared | base | to | ',
    ],
    [
      'a lifecycle in a list',
      account({ name: 'A', lifecycle: [{ prevent_destroy: true }] }),
      'wrong-type | base/a | lifecycle | ',
    ],
    [
      'depends_on that is not a list',
      account({ name: 'A', depends_on: 'devicecloud_account.b' }),
      'wrong-type | base/a | depends_on | ',
    ],
    [
      'resources in a list',
      { resource: [{ devicecloud_account: { a: { name: 'A' } } }] },
      'bad-stack | base | resource | ',
    ],
    [
      'resources of a type in a list',
      { resource: { devicecloud_account: [{ a: { name: 'A' } }] } },
      'bad-stack | base | resource | ',
    ],
    [
      'lookups of a type in a list',
      { data: { devicecloud_account: [{ a: { name: 'A' } }] } },
      'bad-stack | base | data | ',
    ],
    ['variables in a list', { variable: [{ v: {} }] }, 'bad-stack | base | variable | '],
    [
      'a lookup of each',
      { data: { devicecloud_account: { d: made('base/d', { name: 'x', count: 1 }) } } },
      'unsupported-block | base/d | count | ',
    ],
  ])('%s', async (_, tree, expected) => {
    const found = await wrong(tree);
    expect(found.some((line) => line.includes(expected))).toBe(true);
    expect(found.join('\n')).not.toContain('hunter2');
  });

  it('is one complaint, with nothing that follows from it', async () => {
    expect(
      await wrong(rule({ associated_accounts: ['${one(var.a)}'], settings: '${yamlencode({})}' })),
    ).toHaveLength(2);
  });

  it.each([
    ['another provider', { resource: { random_pet: { p: made('base/p') } } }, 'other-provider'],
    [
      'a data source of records',
      { data: { devicecloud_alerts: { all: made('base/all') } } },
      'unsupported-data',
    ],
    [
      'an address in the provider block',
      { provider: { devicecloud: [{ v2_url: 'https://x/api/v2' }] } },
      'unused-setting',
    ],
    [
      'a timeout',
      account({
        name: 'A',
        timeouts: { create: '10m' },
        lifecycle: { ignore_changes: ['timeouts', 'timeouts.create'] },
      }),
      'unused-timeouts',
    ],
    [
      'a validation',
      { variable: { v: { validation: [{ condition: '${true}', error_message: 'x' }] } } },
      'unused-validation',
    ],
    ['a backend', { terraform: { backend: { s3: { bucket: 'b' } } } }, 'own-state'],
  ])('%s is only mentioned', async (_, tree, code) => {
    const loaded = await loading({ 'cdk.tf.json': stack(tree) }, { paths: ['cdk.tf.json'] });
    expect([loaded.project === undefined, loaded.diagnostics.map((one) => one.code)]).toEqual([
      false,
      [code],
    ]);
  });

  it('timeouts of many resources are mentioned once, and by the path of the first', async () => {
    const accounts = Object.fromEntries(
      ['a', 'b', 'c'].map((name) => [
        name,
        made(`base/${name}`, { name, timeouts: name === 'a' ? null : { read: '1m' } }),
      ]),
    );
    const { diagnostics, project: found } = await loading(
      { 'cdk.tf.json': stack({ resource: { devicecloud_account: accounts } }) },
      { paths: ['cdk.tf.json'] },
    );
    expect(diagnostics.map(({ severity, summary }) => [severity, summary])).toEqual([
      ['warning', 'base/b: `timeouts` (and of 1 more of the stack) is not used here'],
    ]);
    expect(found?.declarations.map(({ values: all }) => Object.keys(all))).toEqual([
      ['name'],
      ['name'],
      ['name'],
    ]);
  });

  it.each([
    ['no JSON', 'not json "hunter2', 'bad-stack'],
    ['no object', '[]', 'bad-stack'],
  ])('a file that holds %s', async (_, text, code) => {
    const found = await errors({ 'cdk.tf.json': text }, { paths: ['cdk.tf.json'] });
    expect(found.map((one) => one.code)).toEqual([code]);
    expect(found.map(shown).join()).not.toContain('hunter2');
  });
});

const destined = (name: string): object => ({
  resource: { devicecloud_alert_push_destination: { p: { enabled: true, name } } },
});

function destination(authentication: object): object {
  return {
    resource: {
      devicecloud_alert_push_destination: { p: made('base/p', { name: 'P', authentication }) },
    },
  };
}

describe('several stacks', () => {
  const entry = (name: string): object => ({
    name,
    constructPath: name,
    synthesizedStackPath: `stacks/${name}/cdk.tf.json`,
    dependencies: [],
    annotations: [],
  });
  const base = {
    variable: { region: { default: 'eu' } },
    output: { 'cross-out': { value: '${devicecloud_account.ops.id}' } },
    resource: { devicecloud_account: { ops: made('base/ops', { name: 'Ops ${var.region}' }) } },
  };
  const top = {
    variable: { region: { default: 'eu' } },
    data: {
      terraform_remote_state: {
        'cross-stack-reference-input-base': { backend: 'local', config: { path: 'x' } },
      },
    },
    resource: {
      devicecloud_alert_rule: {
        wan: made('top/wan', {
          associated_accounts: [
            '${data.terraform_remote_state.cross-stack-reference-input-base.outputs.cross-out}',
          ],
        }),
      },
    },
  };
  const out = (stacks: Readonly<Record<string, object>>, folder = 'cdktf.out'): Tree => ({
    [`${folder}/manifest.json`]: JSON.stringify({
      version: '0.21.0',
      stacks: Object.fromEntries(Object.keys(stacks).map((name) => [name, entry(name)])),
    }),
    ...Object.fromEntries(
      Object.entries(stacks).map(([name, tree]) => [
        `${folder}/stacks/${name}/cdk.tf.json`,
        stack(tree, name),
      ]),
    ),
  });

  it('refer to each other through outputs', async () => {
    const loaded = await project(out({ base, top }), { paths: ['cdktf.out'] });
    expect(named(loaded, 'alert_rules.wan').values).toEqual({
      associated_accounts: [new Reference('declared', 'accounts.ops', 'id')],
    });
    expect(loaded.declarations.map(({ address, file }) => [address, file])).toEqual([
      ['accounts.ops', 'cdktf.out/stacks/base/cdk.tf.json'],
      ['alert_rules.wan', 'cdktf.out/stacks/top/cdk.tf.json'],
    ]);
  });

  it('may ask for different things under one name, and wait for each other', async () => {
    const ask = (name: string, more: object): object => ({
      data: {
        devicecloud_account: { found: { name } },
        terraform_remote_state: {
          'cross-stack-reference-input-base': { backend: 'local', config: {} },
        },
      },
      ...more,
    });
    const stacks = {
      base: ask('A', {
        output: {
          whole: { value: '${devicecloud_account.ops}' },
          found: { value: '${data.devicecloud_account.found.id}' },
        },
        resource: {
          devicecloud_account: {
            ops: { name: 'Ops', account: '${data.devicecloud_account.found.id}' },
          },
        },
      }),
      top: ask('B', {
        resource: {
          devicecloud_account: {
            b: {
              name: 'b',
              account: '${data.devicecloud_account.found.id}',
              depends_on: [
                'data.terraform_remote_state.cross-stack-reference-input-base.outputs.whole',
              ],
            },
            c: {
              name: 'c',
              account:
                '${data.terraform_remote_state.cross-stack-reference-input-base.outputs.found}',
            },
          },
        },
      }),
    };
    const loaded = await project(out(stacks), { paths: ['cdktf.out'] });
    expect(loaded.lookups.map(({ name, where }) => [name, where['name']])).toEqual([
      ['found', 'A'],
      ['found-2', 'B'],
    ]);
    expect(
      loaded.declarations.map(({ name, values: { account: above }, depends_on }) => [
        name,
        String(above),
        depends_on,
      ]),
    ).toEqual([
      ['ops', '${lookups.found.id}', undefined],
      ['b', '${lookups.found-2.id}', ['accounts.ops']],
      ['c', '${lookups.found.id}', undefined],
    ]);
    const alone = await project(out(stacks), { paths: ['cdktf.out/stacks/top/cdk.tf.json'] });
    expect(new Set(alone.lookups.map(({ where }) => where['name']))).toEqual(new Set(['A', 'B']));
  });

  it('are found by an equal backend where the name does not tell', async () => {
    const renamed = {
      ...top,
      data: { terraform_remote_state: { state: { backend: 's3', config: { bucket: 'b' } } } },
    };
    const text = JSON.parse(
      JSON.stringify(renamed).replaceAll('cross-stack-reference-input-base.', 'state.'),
    ) as object;
    const loaded = await project(
      out({ base: { ...base, terraform: { backend: { s3: { bucket: 'b' } } } }, top: text }),
      { paths: ['cdktf.out'] },
    );
    expect(named(loaded, 'alert_rules.wan').values).toEqual({
      associated_accounts: [new Reference('declared', 'accounts.ops', 'id')],
    });
  });

  it('are asked for their outputs when one alone is named', async () => {
    const loaded = await project(out({ base, top }), {
      paths: ['cdktf.out/stacks/top/cdk.tf.json'],
    });
    expect(loaded.declarations.map((one) => one.address)).toEqual(['alert_rules.wan']);
  });

  it('cannot have two resources of one name, and say which', async () => {
    const [found] = await errors(out({ base, top: base }), { paths: ['cdktf.out'] });
    expect([found?.code, found?.summary, found?.detail]).toEqual([
      'duplicate-declaration',
      'accounts.ops is declared twice',
      'It is declared in base/ops already. Give one of the constructs another name: `overrideLogicalId(…)`.',
    ]);
  });

  it('are those that a program writes, and stand for it', async () => {
    const ran: string[] = [];
    const tree = { 'infra/cdktf.json': '{"app":"x"}', ...out({ base, top }, 'elsewhere') };
    const synthesise = (folder: string): Promise<string> => (
      ran.push(folder),
      Promise.resolve('/project/elsewhere')
    );
    const loaded = await project(tree, { paths: ['infra'], synthesise });
    expect(ran).toEqual(['/project/infra']);
    expect(loaded.declarations.map(({ address, file }) => [address, file])).toEqual([
      ['accounts.ops', 'infra/cdktf.json'],
      ['alert_rules.wan', 'infra/cdktf.json'],
    ]);
    expect(
      (await project(tree, { paths: ['infra/cdktf.json'], synthesise })).declarations,
    ).toHaveLength(2);
    expect((await project(tree, { paths: ['infra'] })).declarations).toEqual([]);
  });

  it('may be declaration files instead, which outlast their folder', async () => {
    const text = 'accounts:\n  a: { name: A }\n  b: { nmae: B }\n';
    const tree: Record<string, string> = {
      'infra/cdktf.json': '{"app":"x"}',
      'elsewhere/base.trueup.yaml': text,
      'elsewhere/.mark': '',
    };
    const files = disk(tree);
    const loaded = await loading(tree, {
      paths: ['infra/cdktf.json'],
      files,
      synthesise: () => Promise.resolve('/project/elsewhere'),
    });
    delete tree['elsewhere/base.trueup.yaml'];
    const [found] = loaded.diagnostics;
    expect(found?.origin).toEqual({
      file: 'infra/cdktf.json/base.trueup.yaml',
      line: 3,
      column: 3,
    });
    expect(loaded.frame(found?.origin ?? { file: '', line: 0, column: 0 })).toContain('nmae');
  });

  it('may tell in declaration files what made them, which are read as such for all that', async () => {
    const made = (key: string, told: object): string => `# ${key} ${JSON.stringify(told)}\n`;
    const text = `accounts:\n  a: { nmae: A }\n  b: { name: 7 }\n  c: { nmae: C }\n  d: { nmae: D }\n${made('accounts.a', { path: 'one/a', at: { file: 'src/x.ts', line: 2, column: 1 } })}${made('accounts.b', { path: 'one/b' })}${made('accounts.c', { path: 'one/c', at: { file: '../secrets.ts', line: 1, column: 1 } })}# accounts.d {\n`;
    const tree: Tree = {
      'infra/cdktf.json': '{"app":"x"}',
      'elsewhere/base.trueup.yaml': text,
      'elsewhere/.mark': '',
      'infra/src/x.ts': '\nnew It();\n',
    };
    const loaded = await loading(tree, {
      paths: ['infra/cdktf.json'],
      synthesise: () => Promise.resolve('/project/elsewhere'),
    });
    const found = new Map(
      loaded.diagnostics
        .filter(({ code }) => code !== 'missing-attribute')
        .map((one) => [one.address, one]),
    );
    expect([...found].map(([address, { code, origin }]) => [address, code, origin])).toEqual([
      [
        'accounts.a',
        'unknown-attribute',
        { file: 'infra/src/x.ts', line: 2, column: 1, path: 'one/a' },
      ],
      ['accounts.b', 'wrong-type', { file: 'infra/cdktf.json', line: 0, column: 0, path: 'one/b' }],
      [
        'accounts.c',
        'unknown-attribute',
        { file: 'infra/cdktf.json', line: 0, column: 0, path: 'one/c' },
      ],
      [
        'accounts.d',
        'unknown-attribute',
        { file: 'infra/cdktf.json/base.trueup.yaml', line: 5, column: 8 },
      ],
    ]);
    expect(
      loaded.frame(found.get('accounts.a')?.origin ?? { file: '', line: 0, column: 0 }),
    ).toContain('> 2 | new It();');
  });

  it.each<[what: string, tree: Tree, shown: string]>([
    [
      'a document',
      { 'elsewhere/x.yaml': `${LINK}hunter2: [`, 'elsewhere/.mark': '' },
      'infra/cdktf.json/x.yaml',
    ],
    [
      'a manifest',
      { 'elsewhere/manifest.json': `${LINK}${JSON.stringify({ stacks: {} })}` },
      'infra/cdktf.json/manifest.json',
    ],
    [
      'a stack',
      {
        ...out({ base }, 'elsewhere'),
        'elsewhere/stacks/base/cdk.tf.json': `${LINK}{"hunter2": {}}`,
      },
      'infra/cdktf.json/stacks/base/cdk.tf.json',
    ],
    [
      'the folder of a stack',
      { ...out({ base: { hunter2: {} } }, 'elsewhere'), 'elsewhere/stacks': LINK },
      'infra/cdktf.json/stacks/base/cdk.tf.json',
    ],
  ])('are not read where %s is a link', async (_, tree, shown) => {
    const found = await errors(
      { 'infra/cdktf.json': '{"app":"x"}', ...tree },
      { paths: ['infra/cdktf.json'], synthesise: () => Promise.resolve('/project/elsewhere') },
    );
    expect(found.map(({ code, summary, origin }) => [code, summary, origin?.file])).toEqual([
      ['not-a-file', `${shown} is a link, or is reached by one`, shown],
    ]);
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });

  it.each([
    ['manifest.json', '{', 'bad-stack'],
    [
      'manifest.json',
      JSON.stringify({ stacks: { base: { synthesizedStackPath: '../x' } } }),
      'bad-manifest',
    ],
    ['stacks/base/cdk.tf.json', '{', 'bad-stack'],
  ])('of a program are named where %s is wrong', async (name, text, code) => {
    const tree = {
      'infra/cdktf.json': '{"app":"x"}',
      ...out({ base }, 'elsewhere'),
      [`elsewhere/${name}`]: text,
    };
    const [found] = await errors(tree, {
      paths: ['infra/cdktf.json'],
      synthesise: () => Promise.resolve('/project/elsewhere'),
    });
    expect([
      found?.code,
      found?.origin?.file,
      found?.summary.startsWith(`infra/cdktf.json/${name} `),
    ]).toEqual([code, `infra/cdktf.json/${name}`, true]);
  });

  it('bring what the program says of its constructs', async () => {
    const annotations = [
      {
        constructPath: 'base/ops',
        level: '@cdktf/warn',
        message: 'mind this',
        stacktrace: ['/project/main.ts:3:4'],
      },
      { constructPath: 'base/ops', level: '@cdktf/error', message: 'not this' },
    ];
    const tree: Tree = {
      ...out({ base }),
      'cdktf.out/manifest.json': JSON.stringify({
        stacks: { base: { ...entry('base'), annotations } },
      }),
    };
    const { diagnostics } = await loading(tree, { paths: ['cdktf.out'] });
    expect(
      diagnostics.map(({ severity, summary, origin }) => [
        severity,
        summary,
        origin?.file,
        origin?.line,
      ]),
    ).toEqual([
      ['warning', 'base/ops: mind this', 'main.ts', 3],
      ['error', 'base/ops: not this', 'cdktf.out/stacks/base/cdk.tf.json', 0],
    ]);
  });

  it.each(['../outside/cdk.tf.json', '/etc/cdk.tf.json', 'stacks/../../x.json', '..\\x'])(
    'are not looked for at %s',
    async (path) => {
      const tree = {
        'cdktf.out/manifest.json': JSON.stringify({
          stacks: { base: { ...entry('base'), synthesizedStackPath: path } },
        }),
        'cdktf.out/stacks/x': '',
      };
      expect((await errors(tree, { paths: ['cdktf.out'] })).map(({ code }) => code)).toEqual([
        'bad-manifest',
      ]);
    },
  );

  it('may stand beside YAML, where both are named', async () => {
    const tree = {
      ...out({ base }),
      'more.yaml':
        'settings: { target: emulator }\naccounts: { b: { name: B, account: "${accounts.ops.id}" } }\n',
    };
    const loaded = await project(tree, { paths: ['cdktf.out', 'more.yaml'] });
    expect([
      loaded.settings.target,
      loaded.declarations.map((one) => one.address).toSorted(),
    ]).toEqual(['emulator', ['accounts.b', 'accounts.ops']]);
  });
});
