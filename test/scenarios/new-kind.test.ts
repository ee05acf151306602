// A kind is one file and one line. A copy of the project gets one that the cloud does not have, and then everything that
// the other kinds have: generated files, the commands, the emulator, the provider, the constructs and the docs.
import { Client, credentials } from '@grpc/grpc-js';
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dummyCredentials } from '../../src/emulator/index.js';
import { emulator, folder } from '../support/cli.js';

const root = join(import.meta.dirname, '../..');
const copied = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.types.json',
  'docs',
  'schemas',
  'scripts',
  'src',
  'terraform-provider-devicecloud',
];

const kindFile = `// Geofences: circles around a place.
import { integer, kind, set, text } from '../model/index.js';
import { ref } from './ref.js';

export const geofences = kind({
  name: 'geofences',
  singular: 'geofence',
  doc: 'A circle around a place.',
  id: 'id',
  identity: ['name'],
  attributes: {
    name: text('Display name.'),
    account: ref('Account it belongs to.', 'accounts', { optional: true, wire: 'url' }),
    inside: set('Geofences that lie in it.', ref('A geofence.', 'geofences'), { optional: true }),
    radius: integer('Radius in metres.', { optional: true }),
    id: text('Record id.', { computed: true }),
  },
  columns: ['id', 'name', 'radius'],
  operations: { dialect: 'v2', collection: 'geofences', paging: 'offset', page: 500, by_id: 'id', by_ids: 'id__in', create: 'POST', update: 'PATCH', delete: 'DELETE' },
  example: { name: 'Yard', account: '\${accounts.example.id}', radius: 250 },
});
`;

const yaml = `accounts:
  hq: { name: Field operations }
geofences:
  yard: { name: Yard, account: "\${accounts.hq.id}", radius: 250 }
  country: { name: Country, inside: ["\${geofences.yard.id}"] }
`;

let copy: string;
let generated: string;

const inCopy = (command: string, ...args: readonly string[]) =>
  spawnSync(command, args, { cwd: copy, encoding: 'utf8' });
const text = (path: string): string => readFileSync(join(copy, path), 'utf8');

function must({ status, stdout, stderr }: ReturnType<typeof inCopy>): string {
  expect(status, `${stdout}${stderr}`).toBe(0);
  return stdout;
}

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'trueup-kind-'));
  for (const name of copied) cpSync(join(root, name), join(copy, name), { recursive: true });
  // A folder of links, not a link: what scripts keep in it stays in the copy.
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '.cache')
      symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name));
  writeFileSync(join(copy, 'src/resources/geofences.ts'), kindFile);
  const index = text('src/resources/index.ts');
  writeFileSync(
    join(copy, 'src/resources/index.ts'),
    index.replace(/^export \{ alerts \}/m, "export { geofences } from './geofences.js';\n$&"),
  );
  generated = must(inCopy('npm', 'run', '--silent', 'generate'));
  must(inCopy(process.execPath, 'scripts/build.mjs'));
}, 240_000);

afterAll(() => rmSync(copy, { recursive: true, force: true }));

test('the generator writes all that is read off a kind', () => {
  expect(new Set([...generated.matchAll(/^wrote (.*)$/gm)].map(([, path]) => path))).toEqual(
    new Set([
      'docs/reference/constructs.md',
      'docs/reference/declarations.md',
      'docs/reference/resources/README.md',
      'docs/reference/resources/geofences.md',
      'docs/reference/terraform.md',
      'schemas/declarations.schema.json',
      'schemas/geofences.schema.json',
      'src/constructs/native/generated/classes.ts',
      'src/constructs/terraform/generated/classes.ts',
      'src/declarations/generated/validators.js',
      'src/resources/generated/listed.ts',
      'src/resources/generated/names.ts',
      'terraform-provider-devicecloud/docs/data-sources/geofence.md',
      'terraform-provider-devicecloud/docs/index.md',
      'terraform-provider-devicecloud/docs/resources/geofence.md',
    ]),
  );
  expect(text('docs/reference/declarations.md')).toContain('`routers`, `geofences`<!--');
  expect(text('docs/reference/constructs.md')).toContain('`Router`, `Geofence`<!--');
  expect(text('docs/reference/resources/README.md')).toContain(
    '| [geofences](geofences.md) | A circle around a place. |',
  );
  expect(text('docs/reference/resources/geofences.md')).toContain(
    '| `radius` | integer | optional | Radius in metres. |',
  );
  expect(text('docs/reference/terraform.md')).toMatch(/^### devicecloud_geofence$/m);
  expect(text('dist/types/constructs/cdktf/generated/classes.d.ts')).toMatch(
    /Radius in metres\.[^]*readonly radius\?/,
  );
});

test('a generated file that is changed, missing or left over is found, and repaired', () => {
  const check = () =>
    ['kind-files', 'generate'].map((name) =>
      inCopy(process.execPath, 'scripts/run.mjs', `scripts/${name}.ts`, '--check'),
    );
  const found = () =>
    check().map(({ status, stderr }) => ({
      status,
      said: [...stderr.matchAll(/^stale: (\S+)/gm)].map(([, path]) => path),
    }));
  expect(found()).toEqual([
    { status: 0, said: [] },
    { status: 0, said: [] },
  ]);
  writeFileSync(
    join(copy, 'src/resources/generated/listed.ts'),
    `${text('src/resources/generated/listed.ts')}\n`,
  );
  writeFileSync(join(copy, 'src/constructs/native/generated/classes.ts'), '');
  rmSync(join(copy, 'schemas/geofences.schema.json'));
  writeFileSync(join(copy, 'docs/reference/resources/fences.md'), '');
  expect(found()).toEqual([
    { status: 1, said: ['src/resources/generated/listed.ts'] },
    {
      status: 1,
      said: [
        'schemas/geofences.schema.json',
        'src/constructs/native/generated/classes.ts',
        'docs/reference/resources/fences.md',
      ],
    },
  ]);
  must(inCopy('npm', 'run', '--silent', 'generate'));
  expect(found().map(({ status }) => status)).toEqual([0, 0]);
  expect(existsSync(join(copy, 'docs/reference/resources/fences.md'))).toBe(false);
});

test('the commands and the emulator know it', async () => {
  const home = folder({ 'trueup.yaml': yaml });
  const script = join(copy, 'dist/trueup.cjs');
  const { env } = await emulator(home, [], { script });
  const run = async (code: number, ...args: readonly string[]): Promise<string> =>
    (await home.expect(code, args, { script, env })).stdout;
  expect(await run(0, '--help')).toContain('geofences');
  await run(0, 'validate');
  expect(await run(0, 'plan')).toMatch(/\+ create geofences\.yard[^]*\+ create geofences\.country/);
  await run(0, 'apply', '--auto-approve');
  await run(0, 'plan', '--detailed-exitcode');
  const { resources } = JSON.parse(home.read('.trueup/state.json')) as {
    readonly resources: Readonly<Record<string, { readonly id: string }>>;
  };
  const answer = await fetch(
    `${env['TRUEUP_V2_URL']}/geofences/${resources['geofences.yard']?.id}/`,
    {
      method: 'PATCH',
      headers: { ...dummyCredentials.v2[1], 'content-type': 'application/json' },
      body: JSON.stringify({ radius: 300 }),
    },
  );
  expect(answer.status).toBe(200);
  expect(await run(2, 'drift', '--detailed-exitcode')).toMatch(
    /geofences\.yard[^]*radius +250 → 300/,
  );
  expect(await run(0, 'get', 'geofences')).toMatch(/Yard +300/);
  home.write('trueup.yaml', 'settings: {}\n');
  await run(0, 'state', 'rm', 'geofences.yard');
  expect(await run(0, 'export')).toMatch(/geofences:[^]*name: Yard[^]*radius: 300/);
  expect(await run(0, 'export', '--format', 'hcl')).toMatch(
    /^resource "devicecloud_geofence" "yard"/m,
  );
});

test('the provider serves it', async () => {
  const home = mkdtempSync(join(tmpdir(), 'fw-'));
  const env = {
    PATH: process.env['PATH'],
    TMPDIR: home,
    TF_PLUGIN_MAGIC_COOKIE: 'd602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2',
    TF_DISABLE_PLUGIN_TLS: '1',
  };
  const child = spawn(process.execPath, [join(copy, 'dist/terraform-provider-devicecloud.cjs')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((done) => child.once('close', done));
  try {
    const [, , , path] = await new Promise<readonly string[]>((done) =>
      child.stdout.once('data', (line: Buffer) => done(line.toString().trim().split('|'))),
    );
    const client = new Client(`unix:${path}`, credentials.createInsecure());
    const itself = (bytes: Buffer): Buffer => bytes;
    const schema = await new Promise<Buffer>((done, fail) =>
      client.makeUnaryRequest(
        '/tfplugin6.Provider/GetProviderSchema',
        itself,
        itself,
        Buffer.alloc(0),
        (error, bytes) => (bytes ? done(bytes) : fail(error ?? new Error('no schema'))),
      ),
    );
    client.close();
    expect(schema.includes('devicecloud_geofence')).toBe(true);
  } finally {
    child.kill();
    await ended;
    rmSync(home, { recursive: true, force: true });
  }
});

test.each(['constructs', 'cdktf', 'cdktn'])('programs on %s have a class of it', (library) => {
  const native = library === 'constructs';
  const program = `const { Geofence, DataGeofence, ...rest } = require('./dist/${library}.cjs');
const { App = rest.App, ${native ? 'Stack = rest.Stack' : 'TerraformStack: Stack, Testing'} } = ${native ? '{}' : `require('${library}')`};
const stack = new Stack(new App(${native ? '' : '{ skipValidation: true }'}), 'one');
new Geofence(stack, 'yard', { name: 'Yard', radius: 250 });
new DataGeofence(stack, 'other', { name: 'Country' });
console.log(${native ? "[...stack.node.root.documents().values()].join('')" : 'Testing.synth(stack)'});`;
  writeFileSync(join(copy, `${library}-program.cjs`), program);
  const said = must(inCopy(process.execPath, `${library}-program.cjs`));
  expect(said).toMatch(
    native
      ? /"geofences": \{\s+"yard": \{\s+"name": "Yard",\s+"radius": 250/
      : /"resource": \{\s+"devicecloud_geofence": \{\s+"yard": \{\s+"name": "Yard",\s+"radius": 250/,
  );
});
