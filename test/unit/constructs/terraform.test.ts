// The constructs of both libraries: what they write, that it is the same, and what they refuse.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  App,
  DefaultTokenResolver,
  Lazy,
  StringConcat,
  TerraformDataSource,
  TerraformLocal,
  TerraformResource,
  TerraformStack,
  TerraformVariable,
  Testing,
  Token,
  Tokenization,
} from '#cdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as constructs from '../../../src/constructs/terraform/index.js';
import { lookupClass, resourceClass } from '../../../src/constructs/terraform/classes.js';
import { Records } from '../../../src/constructs/terraform/outputs.js';
import { camel } from '../../../src/model/names/camel-case.js';
import { collections, kinds } from '../../../src/resources/index.js';
import { providerSchema } from '../../../src/terraform/terraform-schema.js';
import type { Schema, SchemaAttribute } from '../../../src/terraform/protocol/provider-replies.js';
import { geofences } from '../../support/fifth-kind.js';

const {
  Account,
  AlertPushDestination,
  AlertRule,
  ConfigurationManager,
  DataAccount,
  DevicecloudProvider,
} = constructs;

type Tree = Readonly<Record<string, unknown>>;

function synthesised(declare: (stack: TerraformStack) => void): Tree {
  return JSON.parse(Testing.synthScope((scope) => declare(scope as TerraformStack))) as Tree;
}

/** What `validate()` says of everything in a stack. */
function said(declare: (stack: TerraformStack) => void): readonly string[] {
  const stack = new TerraformStack(Testing.app(), 'edge');
  new DevicecloudProvider(stack, 'devicecloud');
  declare(stack);
  return stack.node.findAll().flatMap(({ node }) => node.validate());
}

const shared = { a: 1 };
const circular: { in?: unknown[] } = {};
circular.in = [circular];

const later = Token.asNumber(Lazy.anyValue({ produce: () => 1 }));

const variable = (stack: TerraformStack): string =>
  new TerraformVariable(stack, 'PAGER_SECRET', { type: 'string', sensitive: true }).stringValue;

describe('the same program with cdktf and with cdktn', () => {
  let folder: string;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'trueup-constructs-'))));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (library: string, form = 'esm'): Tree => {
    const outdir = join(folder, `${library}-${form}`);
    // The libraries ask for the version of terraform, which need not be here.
    const env = { ...process.env, TERRAFORM_BINARY_NAME: 'echo 1.11.4' };
    execFileSync(
      process.execPath,
      [join(import.meta.dirname, 'programs/estate.mjs'), library, outdir, form],
      { cwd: folder, env },
    );
    const stack = JSON.parse(readFileSync(join(outdir, 'stacks/edge/cdk.tf.json'), 'utf8')) as {
      '//': { metadata: { version?: string } };
    };
    delete stack['//'].metadata.version;
    return stack;
  };

  test('writes the same stack, and one that terraform has words for', () => {
    const cdktf = run('cdktf');
    expect(run('cdktn')).toEqual(cdktf);
    expect(run('cdktf', 'cjs')).toEqual(cdktf);
    expect(cdktf).toMatchObject({
      provider: {
        devicecloud: [
          {
            requests_per_minute: 100,
            allow: ['all-removed'],
            v2_headers: { 'X-MGR-API-ID': 'X-App' },
          },
          { alias: 'far' },
        ],
      },
      terraform: { required_providers: { devicecloud: { source: 'trueup/devicecloud' } } },
      data: {
        devicecloud_account: { hq: { name: 'Headquarters', provider: 'devicecloud.far' } },
        devicecloud_alerts: { alerts: { filter: { type: 'wwan_connected' }, limit: 5 } },
      },
      resource: {
        devicecloud_account: {
          ops: { name: 'Operations', account: '${data.devicecloud_account.hq.id}' },
        },
        devicecloud_alert_push_destination: {
          pager: {
            endpoint: { url: 'https://hooks.example.com/' },
            authentication: { secret_wo: '${var.PAGER_SECRET}', secret_wo_version: 1 },
          },
        },
        devicecloud_alert_rule: {
          rule: {
            schedule: 'daily',
            associated_accounts: ['${devicecloud_account.ops.id}'],
            filter_criteria: { alert_type__in: ['wwan_connected'] },
            http_destinations: [
              '${devicecloud_alert_push_destination.pager.destination_config_id}',
            ],
            settings: '{"site":"${devicecloud_account.ops.id}","levels":[1,true,null]}',
            depends_on: ['devicecloud_alert_push_destination.pager'],
            lifecycle: { prevent_destroy: true, ignore_changes: ['settings'] },
          },
        },
        devicecloud_configuration_manager: {
          router: {
            router: '12',
            suspended: false,
            configuration: '[{"system":{"name":"${devicecloud_account.ops.name}"}},["wan.old"]]',
          },
        },
      },
      import: [{ to: 'devicecloud_alert_rule.rule', id: '11111111-1111-1111-1111-111111111111' }],
      moved: [{ from: 'devicecloud_alert_rule.old', to: 'devicecloud_alert_rule.new' }],
      output: {
        out: {
          value: [
            '${data.devicecloud_alerts.alerts.records[0].type}',
            '${data.devicecloud_alerts.alerts.records}',
            '${data.devicecloud_audit_logs.audit.records[1].record}',
            '${devicecloud_alert_rule.rule.filter_criteria.alert_type__in}',
            '${devicecloud_alert_push_destination.pager.suspended}',
            '${devicecloud_alert_push_destination.pager.authentication.secret_wo_version}',
          ],
        },
      },
    });
  });
});

describe('every kind and collection', () => {
  const schema = providerSchema(kinds, collections);
  const named = (
    name: string,
  ): {
    new (scope: TerraformStack, id: string, props: object): TerraformResource;
    readonly tfResourceType: string;
  } => (constructs as unknown as Record<string, never>)[name] as never;
  const pascal = (name: string): string => camel(`_${name}`);
  const classes = [
    ...[...kinds.values()].map(
      ({ singular }) =>
        [
          pascal(singular),
          `devicecloud_${singular}`,
          schema.resources[`devicecloud_${singular}`],
        ] as const,
    ),
    ...[...kinds.values()].map(
      ({ singular }) =>
        [
          `Data${pascal(singular)}`,
          `devicecloud_${singular}`,
          schema.dataSources[`devicecloud_${singular}`],
        ] as const,
    ),
    ...[...collections.values()]
      .filter(({ name }) => !kinds.has(name))
      .map(
        ({ name }) =>
          [
            `Data${pascal(name)}`,
            `devicecloud_${name}`,
            schema.dataSources[`devicecloud_${name}`],
          ] as const,
      ),
  ];

  /** Every attribute by its path, those of the first of a list included. */
  const paths = (list: readonly SchemaAttribute[], path = ''): readonly string[] =>
    list.flatMap(({ name, nested, write_only: writeOnly }) => {
      if (writeOnly) return [];
      if (nested === undefined) return [path + name];
      return nested.nesting === 'SINGLE'
        ? paths(nested.attributes, `${path}${name}.`)
        : [path + name, ...paths(nested.attributes, `${path}${name}[0].`)];
    });

  /** What a getter gives, as terraform reads it. */
  const references = (value: unknown, stack: TerraformStack): readonly string[] => {
    const inner = value instanceof Records ? [value.get(0)] : [];
    if (!Token.isUnresolved(value))
      return Object.values(value as object).flatMap((one) => references(one, stack));
    return [String(resolved(value, stack)), ...inner.flatMap((one) => references(one, stack))];
  };
  const resolved = (value: unknown, scope: TerraformStack): unknown =>
    Tokenization.resolve(value, {
      scope,
      preparing: false,
      resolver: new DefaultTokenResolver(new StringConcat()),
    });

  test.each(classes)(
    '%s reads as %s what the provider has, and nothing else',
    (name, type, found) => {
      const Class = named(name);
      expect(Class.tfResourceType).toBe(type);
      const stack = new TerraformStack(Testing.app(), 'edge');
      const made = new Class(stack, 'it', {}) as unknown as Readonly<Record<string, unknown>>;
      const getters = Object.keys(Object.getPrototypeOf(Class.prototype) as object);
      const address = `${name.startsWith('Data') ? 'data.' : ''}${type}.it.`;
      const expected = paths((found as Schema).attributes).map((path) => `\${${address}${path}}`);
      expect(getters.flatMap((prop) => references(made[prop], stack)).toSorted()).toEqual(
        expected.toSorted(),
      );
      const base = name.startsWith('Data') ? TerraformDataSource : TerraformResource;
      for (const prop of getters) expect(prop in base.prototype).toBe(false);
    },
  );

  test('has props for what the provider takes', () => {
    const camels = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(camels)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value).map(([key, item]) => [
                key === 'secret' ? 'secretWo' : camel(key),
                camels(item),
              ]),
            )
          : value;
    for (const kind of kinds.values()) {
      const example = Object.fromEntries(
        Object.entries(kind.example).map(([name, value]) => [
          camel(name),
          kind.attributes[name]?.word === 'document' ? value : camels(value),
        ]),
      );
      expect(
        said(
          (stack) =>
            new (named(pascal(kind.singular)))(
              stack,
              'it',
              JSON.parse(JSON.stringify(example).replaceAll('${secret.env.', '${var.')) as object,
            ),
        ),
      ).toEqual([]);
    }
  });

  test("has the provider's own block", () => {
    const given = Object.fromEntries(
      schema.provider.attributes.map(({ name, type }) => [
        camel(name),
        type === 'string'
          ? '${var.x}'
          : type === 'number'
            ? 7
            : Array.isArray(type) && type[0] === 'map'
              ? { A: 'b' }
              : ['a'],
      ]),
    );
    const stack = synthesised((scope) => new DevicecloudProvider(scope, 'devicecloud', given));
    const block = (stack['provider'] as { devicecloud: readonly object[] })
      .devicecloud[0] as object;
    expect(Object.keys(block).toSorted()).toEqual(
      schema.provider.attributes.map(({ name }) => name).toSorted(),
    );
  });
});

describe('validate() says by path', () => {
  class Geofence extends resourceClass(geofences) {}
  class DataGeofence extends lookupClass(geofences) {}
  const wrong = (props: unknown) => (stack: TerraformStack) =>
    void new Geofence(stack, 'it', props as never);

  test.each<readonly [what: string, props: unknown, says: string]>([
    ['what is missing', {}, '`name` is missing: Display name.'],
    [
      'what does not exist',
      { name: 'x', raduis: 1 },
      '`raduis` does not exist. Did you mean `radius`?',
    ],
    ["the API's spelling", { name: 'x', updated_at: 'x' }, '`updated_at` does not exist.'],
    ["what is the service's", { name: 'x', updatedAt: 'x' }, '`updatedAt` belongs to the service'],
    [
      'a wrong choice',
      { name: 'x', mode: 'entre' },
      '`mode`: one of enter, leave is expected, not a string. Did you mean `enter`?',
    ],
    ['a number for text', { name: 7 }, '`name`: a string is expected, not an integer.'],
    ['null', { name: null }, '`name`: a string is expected, not null.'],
    [
      'a number token behind a dash',
      { name: `acc-${later}` },
      '`name` holds the digits of a number token: the library does not find one beside a dash',
    ],
    [
      'two number tokens',
      { name: `${later}-${later}` },
      '`name` holds the digits of a number token',
    ],
    ['a number token in a list', { name: 'x', watchers: [`1${later}`] }, '`watchers.0` holds'],
    [
      'text for a number',
      { name: 'x', radius: '7' },
      '`radius`: an integer is expected, not a string.',
    ],
    [
      'a fraction for an integer',
      { name: 'x', radius: 1.5 },
      '`radius`: an integer is expected, not a fraction.',
    ],
    [
      'what is not a number',
      { name: 'x', latitude: Number.NaN },
      '`latitude`: a number is expected, not NaN.',
    ],
    [
      'text for a flag',
      { name: 'x', active: 'true' },
      '`active`: true or false is expected, not a string.',
    ],
    ['one for a list', { name: 'x', points: '1,1' }, '`points`: a list is expected, not a string.'],
    [
      'an item of a list',
      { name: 'x', watchers: ['1', 2] },
      '`watchers.1`: an identifier as a string, or a reference, is expected, not an integer.',
    ],
    [
      'an identifier that names nothing',
      { name: 'x', account: '' },
      '`account`: an identifier as a string, or a reference, is expected, not an empty string.',
    ],
    [
      'a list for a map',
      { name: 'x', labels: ['x'] },
      '`labels`: an object is expected, not a list.',
    ],
    [
      'what is not a duration',
      { name: 'x', timeouts: { create: '5 minutes' } },
      '`timeouts.create`: a length of time above zero, as in "90s", "10m" or "1h30m", is expected, not a string.',
    ],
    [
      'the time of an operation that is none',
      { name: 'x', timeouts: { destroy: '5m' } },
      '`timeouts.destroy` does not exist. There are create, read, update, delete.',
    ],
    [
      'a token for a block',
      { name: 'x', timeouts: '${var.times}' },
      '`timeouts` is a block, which no token can stand for: write its members, which may be tokens.',
    ],
    [
      'a value of a map',
      { name: 'x', labels: { team: true } },
      '`labels.team`: a string is expected, not true or false.',
    ],
    ['a member of an object', { name: 'x', hook: {} }, '`hook.url` is missing: Address.'],
    [
      'a literal secret',
      { name: 'x', hook: { url: 'u', tokenWo: 'hunter2' } },
      '`hook.tokenWo` is secret, and its value is not allowed in a program',
    ],
    [
      'a secret with something beside it',
      { name: 'x', hook: { url: 'u', tokenWo: '${var.a}hunter2' } },
      '`hook.tokenWo` is secret',
    ],
    [
      'a literal in an expression',
      { name: 'x', hook: { url: 'u', tokenWo: '${"hunter2"}' } },
      '`hook.tokenWo` is secret',
    ],
    [
      'a literal in a function',
      { name: 'x', hook: { url: 'u', tokenWo: '${upper("hunter2.x")}' } },
      '`hook.tokenWo` is secret',
    ],
    [
      'a literal in a condition',
      { name: 'x', hook: { url: 'u', tokenWo: '${true ? "hunter2" : ""}' } },
      '`hook.tokenWo` is secret',
    ],
    [
      'a literal in brackets',
      { name: 'x', hook: { url: 'u', tokenWo: '${["hunter2"][0]}' } },
      '`hook.tokenWo` is secret',
    ],
    [
      'a literal on lines of its own',
      { name: 'x', hook: { url: 'u', tokenWo: '${<<A\nhunter.2\nA\n}' } },
      '`hook.tokenWo` is secret',
    ],
    [
      'a literal in what a token stands for',
      { name: 'x', hook: Lazy.anyValue({ produce: () => ({ url: 'u', token_wo: 'hunter2' }) }) },
      '`hook.tokenWo` is secret',
    ],
    [
      'a literal in a token',
      { name: 'x', hook: { url: 'u', tokenWo: Lazy.stringValue({ produce: () => 'hunter2' }) } },
      '`hook.tokenWo` is secret',
    ],
    [
      'a secret by its own name',
      { name: 'x', hook: { url: 'u', token: '${var.a}' } },
      '`hook.token` does not exist. ',
    ],
  ])('%s', (_, props, says) => {
    const messages = said(wrong(props));
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain(`edge/it: ${says}`);
    expect(messages.join()).not.toContain('hunter2');
  });

  const paging = (stack: TerraformStack, secretWo: string): void =>
    void new AlertPushDestination(stack, 'pager', { name: 'Pager', authentication: { secretWo } });
  const local = (stack: TerraformStack, id: string, value: unknown): TerraformLocal =>
    new TerraformLocal(stack, id, value);

  test.each<readonly [what: string, declare: (stack: TerraformStack) => void]>([
    ['a local', (stack) => paging(stack, local(stack, 'key', 'hunter2').asString)],
    [
      'a local that is declared later',
      (stack) => (paging(stack, '${local.key}'), void local(stack, 'key', 'hunter2')),
    ],
    [
      'a local through a local',
      (stack) =>
        paging(stack, local(stack, 'outer', local(stack, 'key', 'hunter2').asString).asString),
    ],
    [
      'a local in a function',
      (stack) => (local(stack, 'key', 'hunter2'), paging(stack, '${trimspace(local.key)}')),
    ],
    [
      'a token in a local',
      (stack) =>
        paging(stack, local(stack, 'key', Lazy.stringValue({ produce: () => 'hunter2' })).asString),
    ],
    [
      'a member of a local',
      (stack) => (
        local(stack, 'keys', { good: '${var.a}', 'b d': ['x', 'hunter2'] }),
        paging(stack, '${local.keys["b d"][1]}')
      ),
    ],
    [
      'a local that leads back to itself',
      (stack) => (local(stack, 'key', '${local.key}'), paging(stack, '${local.key}')),
    ],
    [
      'the default of a variable',
      (stack) =>
        paging(
          stack,
          new TerraformVariable(stack, 'key', { sensitive: true, default: 'hunter2' }).stringValue,
        ),
    ],
  ])('a secret that stands in %s', (_, declare) => {
    const messages = said(declare);
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain(
      'edge/pager: `authentication.secretWo` is secret, and its value is not allowed in a program: it has to be a reference, such as the',
    );
    expect(messages.join()).not.toContain('hunter2');
  });

  test.each<readonly [what: string, declare: (stack: TerraformStack) => void]>([
    ['a local', (stack) => paging(stack, local(stack, 'key', variable(stack)).asString)],
    [
      'a member of a local',
      (stack) => (
        local(stack, 'keys', { url: 'https://x', key: variable(stack) }),
        paging(stack, '${local.keys.key}')
      ),
    ],
    [
      'a local in a function',
      (stack) => (local(stack, 'key', variable(stack)), paging(stack, '${trimspace(local.key)}')),
    ],
    [
      'a condition over what is no secret',
      (stack) => (
        local(stack, 'stage', 'prod'),
        paging(stack, '${local.stage == "prod" ? var.a : var.b}')
      ),
    ],
    [
      'a variable that is empty',
      (stack) =>
        paging(
          stack,
          new TerraformVariable(stack, 'key', { sensitive: true, default: '' }).stringValue,
        ),
    ],
    ['a data source', (stack) => paging(stack, '${data.vault_secret.pager.value}')],
  ])('a secret that comes through %s passes', (_, declare) => expect(said(declare)).toEqual([]));

  test('everything at once, when a program is synthesised', () => {
    const app = new App({ outdir: mkdtempSync(join(tmpdir(), 'trueup-constructs-')) });
    const stack = new TerraformStack(app, 'edge');
    new DevicecloudProvider(stack, 'devicecloud', { v3Token: 'hunter2' });
    new AlertPushDestination(stack, 'pager', {
      name: 'Pager',
      authentication: { secretWo: 'hunter2' },
    });
    new AlertRule(stack, 'rule', { httpDestinations: 'x' } as never);
    const synth = (): void => app.synth();
    try {
      expect(synth).toThrow(
        /edge\/devicecloud: `v3Token` is secret[^]*edge\/pager: `authentication.secretWo` is secret[^]*edge\/rule: `httpDestinations`: a list/,
      );
      expect(synth).not.toThrow(/hunter2/);
    } finally {
      rmSync(app.outdir, { recursive: true, force: true });
    }
  });

  test.each<readonly [what: string, declare: (stack: TerraformStack) => void]>([
    [
      'tokens of every form',
      (stack) => {
        const one = new Geofence(stack, 'one', { name: 'x' });
        wrong({
          name: one.name,
          radius: one.radius,
          active: one.active,
          mode: one.interpolationForAttribute('mode'),
          points: one.points,
          watchers: one.watchers,
          labels: one.labels,
          hook: one.interpolationForAttribute('hook'),
        })(stack);
      },
    ],
    [
      'text with a token inside',
      (stack) =>
        wrong({
          name: `at ${new Geofence(stack, 'one', { name: 'x' }).name}`,
          points: ['${var.a}'],
        })(stack),
    ],
    ['number tokens that the library finds', wrong({ name: `Depot ${later} of (${later})` })],
    [
      'members that are undefined',
      wrong({ name: 'x', radius: undefined, hook: { url: 'u', tokenWo: undefined } }),
    ],
    [
      'a secret from a variable',
      (stack) => wrong({ name: 'x', hook: { url: 'u', tokenWo: variable(stack) } })(stack),
    ],
    [
      'times of operations',
      wrong({ name: 'x', timeouts: { create: '1h30m', read: '${var.a}', delete: undefined } }),
    ],
    ['a choice that is open', (stack) => void new AlertRule(stack, 'it', { schedule: 'weekly' })],
    [
      'documents as objects, as text and as null',
      (stack) => {
        new AlertRule(stack, 'a', { settings: { a: [1, { b: null }], c: undefined } });
        new AlertRule(stack, 'b', { settings: '{"a":1}' });
        new AlertRule(stack, 'c', { settings: null });
        new AlertRule(stack, 'd', {
          settings: { at: new Date(0), once: shared, twice: [shared, Object.create(null)] },
        });
      },
    ],
    [
      "a condition on the service's own attributes",
      (stack) => void new DataGeofence(stack, 'it', { id: '7', radius: 7 }),
    ],
  ])('nothing against %s', (_, declare) => expect(said(declare)).toEqual([]));

  test.each<readonly [what: string, declare: (stack: TerraformStack) => void, says: string]>([
    [
      'text that is not JSON',
      (stack) => void new AlertRule(stack, 'it', { settings: '{a:1}' }),
      '`settings`: an object or null is expected, or the JSON text of one.',
    ],
    [
      'a list that is no document',
      (stack) => void new AlertRule(stack, 'it', { settings: [] as never }),
      '`settings`: an object or null is expected, not a list.',
    ],
    [
      'a flag in a document that is only known later',
      (stack) =>
        void new AlertRule(stack, 'it', {
          settings: { a: new Account(stack, 'a', { name: 'x' }).isDisabled },
        }),
      '`settings.a` has no form in JSON. A token has to be a string, as `Token.asString(…)` makes it.',
    ],
    [
      'a document that leads back to itself',
      (stack) => void new AlertRule(stack, 'it', { settings: circular }),
      '`settings.in.0` leads back to itself',
    ],
    [
      'a map in a document',
      (stack) => void new AlertRule(stack, 'it', { settings: { a: [new Map([['k', 1]])] } }),
      '`settings.a.0` is of the class `Map`, which has no form in JSON.',
    ],
    [
      'a document of a class',
      (stack) => void new AlertRule(stack, 'it', { settings: new Set() as never }),
      '`settings` is of the class `Set`',
    ],
    [
      'a large integer in a document',
      (stack) => void new AlertRule(stack, 'it', { settings: { a: 1n } }),
      '`settings.a` has no form in JSON.',
    ],
    [
      'a function in a document',
      (stack) =>
        void new ConfigurationManager(stack, 'it', { router: '1', configuration: { a: () => 1 } }),
      '`configuration.a` has no form in JSON.',
    ],
    [
      'a condition of more than one value',
      (stack) => void new DataGeofence(stack, 'it', { points: ['x'] } as never),
      '`points` does not exist.',
    ],
    [
      'a secret as condition',
      (stack) => void new DataAccount(stack, 'it', { authentication: {} } as never),
      '`authentication` does not exist.',
    ],
  ])('%s', (_, declare, says) => expect(said(declare).join()).toContain(`edge/it: ${says}`));

  test('a document without a form in JSON, said where the library writes it', () => {
    const app = Testing.app();
    const stack = new TerraformStack(app, 'edge');
    new DevicecloudProvider(stack, 'devicecloud');
    new AlertRule(stack, 'it', { settings: circular });
    expect(() => app.synth()).toThrow('edge/it: `settings.in.0` leads back to itself');
  });
});

test('a block is one in both languages of Terraform', () => {
  const timeouts = { create: '10m', delete: '${var.patience}' };
  const declare = (scope: TerraformStack): unknown =>
    new AlertRule(scope, 'it', { schedule: 'daily', timeouts });
  expect(synthesised(declare)).toMatchObject({
    resource: { devicecloud_alert_rule: { it: { timeouts } } },
  });
  const stack = new TerraformStack(Testing.app(), 'edge');
  declare(stack);
  expect(String(Testing.synthHcl(stack)).replaceAll(/\s+/g, ' ')).toMatch(
    /timeouts \{ create = "10m" delete = "?\$?\{?var\.patience\}?"? \}/,
  );
});
