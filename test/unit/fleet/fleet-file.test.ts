// The form of `trueup.fleet.yaml`: what its tenants are, and every complaint with its place.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { fleetFile } from '../../../src/cli/commands/init-fleet.js';
import { ajvOptions } from '../../../src/declarations/compile-validator.js';
import { readFleet } from '../../../src/fleet/fleet-file.js';
import { variableTaken } from '../../../src/fleet/tenant-environment.js';
import type { Fleet } from '../../../src/fleet/tenant.js';
import { Refusal } from '../../../src/model/index.js';
import { declarationFiles } from '../../../src/platform/declaration-files.js';
import { freshFolder } from '../../support/in-process.js';

const usual = ['base/a.yaml', 'tenants/acme/t.yaml', 'tenants/globex/t.yaml', 'tenants/.x/t.yaml'];

function read(text: string, paths: readonly string[] = usual): Promise<Fleet> {
  const cwd = freshFolder();
  for (const path of paths) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), '');
  }
  writeFileSync(join(cwd, 'trueup.fleet.yaml'), text);
  return readFleet({ files: declarationFiles, cwd });
}

/** `line:column code: summary`, one per error. */
async function complaints(text: string, paths?: readonly string[]): Promise<readonly string[]> {
  const error: unknown = await read(text, paths).catch((thrown: unknown) => thrown);
  if (!(error instanceof Refusal)) return [];
  return error.diagnostics.map(
    ({ origin, code, summary }) => `${origin?.line}:${origin?.column} ${code}: ${summary}`,
  );
}

describe('tenants', () => {
  test('of folders come in the order of names, behind the paths of all', async () => {
    const { tenants, concurrency, stop, order } = await read(
      'fleet:\n  tenants: { from: tenants/*, name: "c-${folder}", labels: { tier: std }, each: { c-acme: { labels: { tier: canary, x: "1" }, requests_per_minute: 60 } } }\n  defaults: { paths: [base] }\n',
    );
    expect(tenants.map(({ origin: _, ...one }) => one)).toEqual([
      {
        name: 'c-acme',
        paths: ['base', 'tenants/acme'],
        variables: {},
        labels: { tier: 'canary', x: '1' },
        credentials: { env_prefix: 'C_ACME_' },
        requests_per_minute: 60,
      },
      {
        name: 'c-globex',
        paths: ['base', 'tenants/globex'],
        variables: {},
        labels: { tier: 'std' },
        credentials: { env_prefix: 'C_GLOBEX_' },
      },
    ]);
    expect({ concurrency, stop, order }).toEqual({
      concurrency: 16,
      stop: { failures: 5 },
      order: [],
    });
  });

  test('of a mapping take what is theirs, and the defaults with their names in it', async () => {
    const { tenants } = await read(
      `fleet:
  tenants:
    acme: { paths: [tenants/acme], variables: { a: b }, state: "states/own.json" }
    globex-eu: { credentials: { command: [vault, "kv/\${tenant}"] } }
  defaults: { paths: [base], state: "s3://b/\${tenant}", credentials: { env_prefix: "X_\${TENANT}_" } }
`,
    );
    expect(tenants.map(({ origin: _, ...one }) => one)).toEqual([
      {
        name: 'acme',
        paths: ['base', 'tenants/acme'],
        variables: { a: 'b' },
        labels: {},
        state: 'states/own.json',
        credentials: { env_prefix: 'X_ACME_' },
      },
      {
        name: 'globex-eu',
        paths: ['base'],
        variables: {},
        labels: {},
        state: 's3://b/globex-eu',
        credentials: { command: ['vault', 'kv/globex-eu'] },
      },
    ]);
  });

  test('are named by what the last star stands for', async () => {
    const paths = ['base/a.yaml', 'customers/acme/prod/t.yaml', 'customers/acme/test/t.yaml'];
    const { tenants } = await read(
      'fleet: { tenants: { from: customers/*/prod }, defaults: { paths: [base] } }',
      paths,
    );
    expect(tenants.map(({ name, paths: all }) => [name, all.at(-1)])).toEqual([
      ['acme', 'customers/acme/prod'],
    ]);
  });
});

const all = 'tenants: { from: tenants/* }';

test.each([
  ['another key', `fleet: { ${all} }\nflee: {}\n`, /^2:1 unknown-section: .*Did you mean `fleet`/],
  ['no such key', 'fleets: {}\n', /^1:1 unknown-section: .*Did you mean `fleet`\?$/],
  ['no such key alone', 'settings: {}\n', /wrong-type: trueup.fleet.yaml has to hold one mapping/],
  [
    'a tenant that is meant to be `from`',
    'fleet: { tenants: { form: tenants/* } }',
    /^1:21 wrong-type: tenant `form`: a mapping of attributes is expected, not a string. Did you mean `from`\?$/,
  ],
  [
    'a tenant that is text',
    'fleet: { tenants: { acme: tenants/acme } }',
    /^1:21 wrong-type: tenant `acme`: a mapping of attributes is expected, not a string.$/,
  ],
  [
    'a list of patterns',
    'fleet: { tenants: { from: [tenants/*] } }',
    /^1:21 wrong-type: `from`: a string is expected, not a list$/,
  ],
  [
    'a word of a key',
    `fleet: { ${all}, order: [{ select: "*", wait: 5m }] }`,
    /^1:63 unknown-attribute: `wait` is not an attribute of `order.0`. Did you mean `then_wait`\?$/,
  ],
  ['no mapping', '- a\n', /^1:1 wrong-type: trueup.fleet.yaml has to hold one mapping/],
  [
    'an unknown member',
    `fleet: { ${all}, concurency: 3 }`,
    /^1:40 unknown-attribute: .*`concurrency`/,
  ],
  ['no tenants', 'fleet: { concurrency: 3 }', /missing-attribute: `tenants` is missing/],
  ['a list of tenants', 'fleet: { tenants: [a] }', /^1:10 wrong-type: `tenants`: a mapping/],
  ['too many lanes', `fleet: { ${all}, concurrency: 0 }`, /^1:40 out-of-range: .*from 1 to 256/],
  [
    'a string for a number',
    `fleet: { ${all}, concurrency: "\${x}" }`,
    /^1:40 wrong-type: .*an integer/,
  ],
  [
    'a wait without unit',
    `fleet: { ${all}, order: [{ select: "*", then_wait: "5" }] }`,
    /^1:63 wrong-type: `then_wait`/,
  ],
  [
    'an unknown label',
    `fleet: { tenants: { from: tenants/*, labels: { tier: a } }, order: [{ select: "teir=a" }] }`,
    /unknown-label: .*Did you mean `tier`/,
  ],
  ['no folder', 'fleet: { tenants: { from: custs/* } }', /^1:21 no-tenants: no folder matches/],
  ['no star', 'fleet: { tenants: { from: tenants } }', /bad-pattern/],
  ['a folder outside', 'fleet: { tenants: { from: "../*" } }', /bad-pattern/],
  [
    'an unknown tenant',
    'fleet: { tenants: { from: tenants/*, each: { akme: {} } } }',
    /^1:46 unknown-tenant: .*`acme`/,
  ],
  [
    'a word that is not a string',
    'fleet: { tenants: { acme: { paths: [base], labels: { a: yes } } } }',
    /^1:54 wrong-type: .*the word `yes`/,
  ],
  [
    'an unknown reference',
    `fleet: { ${all}, defaults: { state: "s/\${tenent}" } }`,
    /^1:52 unknown-reference: .*Did you mean `tenant`\?$/,
  ],
  [
    'a folder that is gone',
    'fleet: { tenants: { acme: { paths: [tenants/gone] } } }',
    /^1:29 no-such-path: tenant `acme`: tenants\/gone does not exist/,
  ],
  ['no paths', 'fleet: { tenants: { acme: {} } }', /^1:21 no-paths/],
  ['the standard input', 'fleet: { tenants: { acme: { paths: ["-"] } } }', /standard input/],
  [
    'two sources of credentials',
    `fleet: { ${all}, defaults: { credentials: { env_prefix: A_, command: [b] } } }`,
    /two-sources/,
  ],
  [
    'an empty command',
    `fleet: { ${all}, defaults: { credentials: { command: [] } } }`,
    /no-command/,
  ],
  [
    'a prefix that no variable has',
    `fleet: { ${all}, defaults: { credentials: { env_prefix: "A-" } } }`,
    /bad-prefix/,
  ],
  [
    'a name that is not a valid name',
    'fleet: { tenants: { "a/b": { paths: [base] } } }',
    /^1:21 bad-name/,
  ],
  [
    'one state',
    `fleet: { ${all}, defaults: { state: states/x.json } }`,
    /^1:52 duplicate-state: the tenants `acme` and `globex` have the same state/,
  ],
  [
    'one remote state',
    'fleet: { tenants: { a: { paths: [base], state: "s3://b/x/" }, b: { paths: [base], state: "s3://b/x" } } }',
    /^1:83 duplicate-state: the tenants `a` and `b` have the same state/,
  ],
  [
    'a label that is the name of a tenant',
    'fleet: { tenants: { acme: { paths: [base], labels: { tenant: b } } } }',
    /^1:54 bad-label: the label `tenant`/,
  ],
  [
    'a label for all that no term can name',
    'fleet: { tenants: { from: tenants/*, labels: { "1a": b } } }',
    /^1:48 bad-label: a label begins with a letter/,
  ],
  [
    'a value of one folder that no term can name',
    'fleet: { tenants: { from: tenants/*, each: { acme: { labels: { a: "b,c" } } } } }',
    /^1:64 bad-label: the value of a label/,
  ],
  [
    'a value without text',
    'fleet: { tenants: { acme: { paths: [base], labels: { a: "" } } } }',
    /^1:54 bad-label: the value of a label/,
  ],
  [
    'a variable whose name is none',
    'fleet: { tenants: { acme: { paths: [base], variables: { "a b": c } } } }',
    /^1:57 bad-name: `a b` is not a valid variable name/,
  ],
  [
    'a variable that is named like a secret',
    'fleet: { tenants: { acme: { paths: [base], variables: { api_key: c } } } }',
    /^1:57 literal-secret: the variable `api_key` is named like a secret/,
  ],
  [
    'a state without a name',
    `fleet: { ${all}, defaults: { state: "" } }`,
    /^1:52 no-state: `state` names no file/,
  ],
  ...['s3//acme/x', 's3:/acme/x', 'postgres//h/d', 'https:/h/x'].map(
    (state): [string, string, RegExp] => [
      `the address ${state}`,
      `fleet: { ${all}, defaults: { state: "${state}" } }`,
      /^1:52 bad-address: `state` looks like an address, but would be a path/,
    ],
  ),
  ['YAML that breaks off', 'fleet: { tenants: [', /^1:\d+ /],
])('%s is an error', async (_, text, expected) => {
  const found = await complaints(text);
  expect(found.join('\n')).toMatch(expected);
});

test('two folders that make one name are an error', async () => {
  const paths = ['base/a', 'c/acme/x/t.yaml', 'c/globex/x/t.yaml'];
  const text = 'fleet: { tenants: { from: c/*/*, name: "${folder}" } }';
  expect((await complaints(text, paths)).join('\n')).toMatch(
    /duplicate-tenant: two tenants have the name `x`: c\/acme\/x and c\/globex\/x/,
  );
});

describe('names that give one prefix', () => {
  test('are an error at each of them', async () => {
    const text =
      'fleet:\n  tenants:\n    a-b: { paths: [base] }\n    x: { paths: [base] }\n    A_b: { paths: [base] }\n';
    expect(await complaints(text)).toEqual([
      '3:5 duplicate-prefix: the tenants `a-b` and `A_b` have the same prefix of variables: A_B_',
      '5:5 duplicate-prefix: the tenants `a-b` and `A_b` have the same prefix of variables: A_B_',
    ]);
  });

  test('are an error once, where folders make them', async () => {
    const found = await complaints(`fleet: { ${all} }`, ['tenants/a.b/t', 'tenants/a-b/t']);
    expect(found.join()).toMatch(/^1:\d+ duplicate-prefix: the tenants `a-b` and `a.b` .*A_B_$/);
  });

  test('share an account where both name it', async () => {
    const own = '{ paths: [base], credentials: { env_prefix: ONE_ } }';
    const { tenants } = await read(`fleet: { tenants: { a-b: ${own}, a_b: ${own} } }`);
    expect(tenants.map(({ credentials }) => credentials)).toEqual([
      { env_prefix: 'ONE_' },
      { env_prefix: 'ONE_' },
    ]);
  });
});

describe('a prefix that begins variables of all', () => {
  const documented = readFileSync(
    join(import.meta.dirname, '../../../docs/reference/environment.md'),
    'utf8',
  )
    .split('\n')
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([A-Z][A-Z0-9_]+)/g)])
    .map(([, name = '']) => name);
  test.each(documented)('is known for %s', (name) => {
    expect(variableTaken(name, new Set())).toBeDefined();
    expect(variableTaken(name.replace(/_.*/, '_').toLowerCase(), new Set())).toBeDefined();
  });

  test.each(['trueup', 'trueup-eu', 'aws', 'https', 'http', 'no', 'node', 'ci', 'Tf-Var', 'ssl'])(
    'is refused for the tenant %s, where it stands',
    async (name) => {
      const found = await complaints(
        `fleet:\n  tenants:\n    acme: { paths: [base] }\n    ${name}: { paths: [base] }\n`,
      );
      expect(found).toEqual([
        expect.stringMatching(`^4:\\d+ taken-prefix: tenant \`${name}\`: the prefix .* would take`),
      ]);
    },
  );

  test.each(['nobel', 'ci-group', 'pg', 'home', 'https2', 'awsome'])(
    'is not that of the tenant %s',
    async (name) => {
      expect(await complaints(`fleet: { tenants: { ${name}: { paths: [base] } } }`)).toEqual([]);
    },
  );

  test('is refused where it begins the credentials of another tenant', async () => {
    const two = (one: string, other: string) =>
      complaints(`fleet: { tenants: { ${one}: { paths: [base] }, ${other}: { paths: [base] } } }`);
    expect((await two('acme', 'acme-trueup')).join()).toMatch(
      /^1:46 taken-prefix: tenant `acme-trueup`: .* would take ACME_TRUEUP_… from other tenants$/,
    );
    expect(await two('acme', 'acme-eu')).toEqual([]);
  });

  test('is refused where the defaults write it, and has another name as the way out', async () => {
    expect(
      await complaints(`fleet: { ${all}, defaults: { credentials: { env_prefix: PG } } }`),
    ).toHaveLength(2);
    const own = '{ paths: [base], credentials: { env_prefix: X_AWS_ } }';
    expect(await complaints(`fleet: { tenants: { aws: ${own} } }`)).toEqual([]);
  });
});

test.each([
  ['https://h/x', 'https://u@H:443/x/', true],
  ['https://h/x', 'https://h/x?a=b', false],
  ['https://h/x', 'https://h:444/x', false],
  ['postgres://h/db', 'postgresql://u@H:5432/db?schema=trueup&sslmode=require', true],
  ['postgres://h/db', 'postgres://h/db?schema=b', false],
  ['postgres://h/db', 'postgres://h/other', false],
  ['s3://b/k', 's3://b/k/?region=eu-central-1', true],
  ['s3://b/k', 's3://c/k', false],
  ['s3://b/k', 's3://b/k?endpoint=https://minio', false],
  ['states/a.json', './states/../states/a.json', true],
  ['states/a.json', 'link/a.json', true],
  ['states/new/a.json', 'link/new/a.json', true],
  ['states/a.json', 'link/b.json', false],
])('the states %s and %s are one place: %s', async (one, other, expected) => {
  const cwd = freshFolder();
  for (const folder of ['base', 'states']) mkdirSync(join(cwd, folder));
  symlinkSync('states', join(cwd, 'link'));
  const entry = (state: string) => `{ paths: [base], state: "${state}" }`;
  writeFileSync(
    join(cwd, 'trueup.fleet.yaml'),
    `fleet: { tenants: { a: ${entry(one)}, b: ${entry(other)} } }`,
  );
  const said = await readFleet({ files: declarationFiles, cwd }).then(() => '', String);
  expect(said.includes('`a` and `b` have the same state')).toBe(expected);
});

describe('an address that cannot hold a state', () => {
  test.each([
    ['ftp://h/${tenant}', /^unsupported-store: a state at ftp:/],
    ['redis://h/${tenant}', /^unsupported-store: redis cannot hold a state/],
    ['postgres://u:hunter2@h/db?schema=${tenant}', /^bad-address: .* holds a password$/],
    ['https://h/${tenant}?private_token=hunter2', /^bad-address: .* holds a password$/],
    ['http://h.example.com/${tenant}', /^bad-address: .* uses plain http$/],
    ['s3:///${tenant}', /^bad-address: .* names no host or bucket$/],
    ['s3://b/${tenant}?endpoint=nonsense', /^bad-address: .* names an `endpoint` that is not/],
    ['s3://b/${tenant}?endpoint=', /^bad-address: .* names an `endpoint` that is not/],
    ['s3://b/${tenant}?endpoint=localhost:9000', /^bad-address: .* names an `endpoint` that is/],
    ['s3://b/${tenant}?endpoint=http%3A%2F%2F127.0.0.1%3A99999', /^bad-address: .* `endpoint`/],
    ['s3://b/${tenant}?endpoint=http://s3.example.com', /^bad-address: .* in plain http$/],
    ['s3://b/${tenant}?endpoint=https://u:hunter2@h', /^bad-address: .* holds a password$/],
    ['s3://b/${tenant}?region=eu%20west', /^bad-address: .* names a `region` that is none$/],
    ['s3://b/${tenant}?regoin=eu-west-1', /parameter `regoin`. Did you mean `region`\?$/],
    ['postgres://h/db?shcema=${tenant}', /parameter `shcema`. Did you mean `schema`\?$/],
    ['postgres://h/db?dbname=${tenant}', /^bad-address: .* has the unknown parameter `dbname`.$/],
  ])('is refused at its place, without its password: %s', async (state, why) => {
    const text = `fleet:\n  tenants: { from: tenants/* }\n  defaults: { state: "${state}" }`;
    const error: unknown = await read(text).catch((thrown: unknown) => thrown);
    const said = error instanceof Refusal ? error.diagnostics : [];
    const places = said.map(({ origin }) => [origin?.file, origin?.line, origin?.column]);
    expect(places).toEqual([['trueup.fleet.yaml', 3, 15]]);
    expect(`${said[0]?.code}: ${said[0]?.summary}`).toMatch(why);
    expect(JSON.stringify(said)).not.toContain('hunter2');
  });

  test('is none because of parameters that trueup, or its client, reads', async () => {
    const ssl = 'sslmode=verify-full&sslrootcert=/ca.pem&channel_binding=require&user=u';
    for (const state of [
      's3://b/${tenant}?region=eu-west-1&endpoint=http://127.0.0.1:9000&style=virtual',
      `postgres://h/db?schema=\${tenant}&${ssl}&connect_timeout=5`,
      'https://h/${tenant}?lock=post&ref=main',
    ])
      expect(
        await complaints(
          `fleet: { tenants: { a: { paths: [base] } }, defaults: { state: "${state}" } }`,
        ),
      ).toEqual([]);
  });

  test('is complained of at its tenant', async () => {
    const text = 'fleet: { tenants: { a: { paths: [base], state: "gs://b/a" } } }';
    expect(await complaints(text)).toEqual([expect.stringMatching(/^1:41 unsupported-store/)]);
  });
});

test('a secret in a variable is not repeated', async () => {
  const file = 'fleet:\n  tenants:\n    a:\n      variables: { wifi_psk: hunter2 }\n';
  const error: unknown = await read(file).catch((thrown: unknown) => thrown);
  const said = error instanceof Refusal ? error.diagnostics : [];
  expect(said.map(({ code }) => code)).toContain('literal-secret');
  expect(JSON.stringify(said)).toContain('TRUEUP_VAR_wifi_psk');
  expect(JSON.stringify(said)).not.toContain('hunter2');
});

test('a number that is to be a time is answered by a time', async () => {
  const file = 'fleet: { tenants: { a: {} }, order: [{ select: "*", then_wait: 30 }] }';
  const error: unknown = await read(file).catch((thrown: unknown) => thrown);
  const [only] = error instanceof Refusal ? error.diagnostics : [];
  expect(only?.detail).toContain('as in "90s"');
});

test('a tenant that is wrong is a tenant', async () => {
  const of = (tenants: string) =>
    complaints(`fleet: { tenants: ${tenants}, defaults: { paths: [base] } }`);
  expect(await of('{ a: { labels: { tier: 1 } } }')).toEqual([
    expect.stringContaining('a string is expected'),
  ]);
  expect(await of('{}')).toEqual([expect.stringContaining('the fleet has no tenants')]);
});

test('a PATH of all tenants that is gone is complained of once', async () => {
  const text = `fleet: { ${all}, defaults: { paths: [base, gone, "gone/\${tenant}"] } }`;
  expect(await complaints(text)).toEqual([
    '1:52 no-such-path: gone does not exist',
    '1:52 no-such-path: tenant `acme`: gone/acme does not exist',
    '1:52 no-such-path: tenant `globex`: gone/globex does not exist',
  ]);
});

test('all complaints come at once', async () => {
  expect(
    await complaints(`fleet: { ${all}, concurrency: 0, stop: { failures: 0, blocked: -1 } }`),
  ).toHaveLength(3);
});

describe('the published schema', () => {
  const root = join(import.meta.dirname, '../../..');
  const text = (path: string): string => readFileSync(join(root, path), 'utf8');
  const valid = new Ajv(ajvOptions).compile(
    JSON.parse(text('schemas/fleet.schema.json')) as Record<string, unknown>,
  );
  test.each([
    ['the example', text('examples/fleet/trueup.fleet.yaml'), true],
    ['what `init --fleet` writes', fleetFile, true],
    ['a mapping', 'fleet: { tenants: { acme: { labels: { tier: a } } } }', true],
    ['an unknown key', 'fleet: { tenants: { from: tenants/* }, concurency: 3 }', false],
    ['an unknown key of a tenant', 'fleet: { tenants: { acme: { label: {} } } }', false],
    ['no tenants', 'fleet: {}', false],
  ])('takes or refuses %s', (_, yaml, expected) => {
    expect(valid(parse(yaml))).toBe(expected);
  });
});
