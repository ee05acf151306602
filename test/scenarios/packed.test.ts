// The package as npm packs it, in a project of its own: jest loads it as CommonJS, vitest as an ES module, one process
// as both, and the compiler finds its types from either side.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
};
let project: string;

beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'scripts/ensure.mjs')]);
  project = mkdtempSync(join(tmpdir(), 'trueup-packed-'));
  execFileSync('npm', ['pack', '--ignore-scripts', '--offline', '--pack-destination', project], {
    cwd: root,
    stdio: 'pipe',
    shell: process.platform === 'win32',
  });
  const [tarball = ''] = readdirSync(project);
  execFileSync('tar', ['-xzf', tarball], { cwd: project });
  // What an installation puts beside it, without asking a registry.
  for (const name of ['cdktf', 'cdktn', 'constructs', 'vitest', '@types/node', 'undici-types'])
    link(join(root, 'node_modules', name), name);
  link(join(project, 'package'), 'trueup');
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

function link(to: string, name: string): void {
  const path = join(project, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(to, path, 'dir');
}

const tool = (...path: readonly string[]): string => join(root, 'node_modules', ...path);

interface Said {
  readonly code: number | null;
  readonly said: string;
}

/** Runs one of the tools in a folder of the project that holds these files. */
function run(
  folder: string,
  files: Readonly<Record<string, string>>,
  command: readonly string[],
): Said {
  const cwd = join(project, folder);
  mkdirSync(cwd, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  const env = {
    PATH: process.env['PATH'],
    HOME: project,
    NO_COLOR: '1',
    CI: '1',
    CHECKPOINT_DISABLE: '1',
  };
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd,
    env,
    encoding: 'utf8',
  });
  return { code: status, said: stdout + stderr };
}

test('an installation runs no script of a package', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { dev?: boolean; hasInstallScript?: boolean }>>;
  };
  const withScript = Object.entries(packages).filter(
    ([, { hasInstallScript = false }]) => hasInstallScript,
  );
  expect(withScript.map(([name]) => name)).toContain('node_modules/protobufjs');
  expect(withScript.filter(([, { dev = false }]) => !dev)).toEqual([]);
  const { stdout } = spawnSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], {
    cwd: root,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  expect(stdout).toContain('undici');
  expect(stdout).not.toMatch(/protobufjs|grpc/);
});

test('it holds what it is made of, without tests, source maps and paths of this machine', () => {
  const folder = join(project, 'package');
  expect(readdirSync(folder).toSorted()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist',
    'docs',
    'examples',
    'package.json',
    'schemas',
  ]);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  expect(files.length).toBeGreaterThan(200);
  expect(
    files
      .map(({ name }) => name)
      .filter((name) => /\.(test\.[cm]?[jt]s|map|tgz|tsbuildinfo|log|tfstate)$|^\.env/.test(name)),
  ).toEqual([]);
  const holding = files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => {
      const text = readFileSync(path, 'utf8');
      return [root, homedir() + sep, 'sourceMappingURL='].some((one) => text.includes(one));
    });
  expect(holding).toEqual([]);
});

test('npm installs it into an empty folder, where every export resolves and the command runs', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { dev?: boolean; peer?: boolean }>>;
  };
  const production = Object.entries(packages).flatMap(([path, { dev, peer }]) =>
    path === '' || dev === true || peer === true ? [] : [join(root, path)],
  );
  // Elsewhere: npm takes the nearest folder above that has a node_modules.
  const empty = mkdtempSync(join(tmpdir(), 'trueup-empty-'));
  onTestFinished(() => rmSync(empty, { recursive: true, force: true }));
  const npm = (...words: readonly string[]): string =>
    execFileSync('npm', [...words, '--offline', '--no-audit', '--no-fund'], {
      cwd: empty,
      encoding: 'utf8',
      stdio: 'pipe',
      shell: process.platform === 'win32',
    });
  // No registry is asked: what it depends on is there as tarballs, too.
  npm('pack', '--ignore-scripts', ...production);
  const tarballs = readdirSync(empty).map((name) => `./${name}`);
  npm('install', join(project, `trueup-${version}.tgz`), ...tarballs);
  const scripts = production.map((path) => {
    const manifest = join(path, 'package.json');
    const { scripts = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as { scripts?: object };
    return Object.keys(scripts).filter((name) => /^(pre|post)?install$/.test(name));
  });
  expect(scripts.length).toBeGreaterThan(10);
  expect(scripts.flat()).toEqual([]);
  const command = join('node_modules', '.bin', 'trueup');
  expect(execFileSync(command, ['--version'], { cwd: empty, encoding: 'utf8' })).toMatch(
    `trueup ${version}`,
  );
  const program = `import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
const require = createRequire(import.meta.url);
const { exports } = require('trueup/package.json');
for (const [name, target] of Object.entries(exports)) {
  const path = 'trueup' + name.slice(1).replace('*', 'plan.schema.json');
  console.log(path, [require.resolve(path), new URL(import.meta.resolve(path)).pathname].every(existsSync));
}
console.log((await import('trueup')).kinds.size === require('trueup').kinds.size);
`;
  writeFileSync(join(empty, 'program.mjs'), program);
  expect(execFileSync(process.execPath, ['program.mjs'], { cwd: empty, encoding: 'utf8' })).toBe(
    `${['', '/cdktf', '/cdktn', '/constructs', '/schemas/plan.schema.json', '/package.json'].map((name) => `trueup${name} true\n`).join('')}true\n`,
  );
});

test('a state in S3 asks for the AWS SDK, where there are no keys and no SDK', () => {
  const state = 's3://acme-trueup/prod?region=eu-west-1';
  const { code, said } = run(
    'without-sdk',
    {
      'trueup.yaml': `settings: { target: emulator, state: "${state}" }\naccounts: { a: { name: A } }\n`,
    },
    [join(project, 'package/dist/trueup.cjs'), 'plan'],
  );
  expect(code).toBe(1);
  expect(said).toContain('there are no credentials for the state in S3');
  expect(said).toContain('npm i @aws-sdk/client-s3');
  expect(said).toContain('Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
});

test('what is bundled comes with its licence', () => {
  const licences = readFileSync(join(project, 'package/dist/third-party-licences.txt'), 'utf8');
  for (const name of ['@grpc/grpc-js', 'protobufjs', 're2js', 'undici', 'yaml'])
    expect(licences).toContain(`${name} `);
});

/** What a test of a program says with either test runner, whose globals it uses. */
const cases = `
test.each([['cdktf', cdktf, forCdktf], ['cdktn', cdktn, forCdktn]])('a stack for %s', (name, library, ours) => {
  const app = new library.App({ outdir: join(folder, name) });
  const stack = new library.TerraformStack(app, 'alerting');
  new ours.DevicecloudProvider(stack, 'devicecloud');
  const hq = new ours.DataAccount(stack, 'hq', { name: 'Headquarters' });
  new ours.AlertRule(stack, 'wan-down', { associatedAccounts: [hq.id], filterCriteria: { alertTypeIn: ['login_success'] } });
  app.synth();
  const { resource } = JSON.parse(readFileSync(join(folder, name, 'stacks/alerting/cdk.tf.json'), 'utf8'));
  expect(resource.devicecloud_alert_rule['wan-down'].filter_criteria).toEqual({ alert_type__in: ['login_success'] });
});

test('a program on constructs alone', () => {
  const app = new native.App({ outdir: join(folder, 'native') });
  new native.Account(new native.Stack(app, 'alerting'), 'ops', { name: 'Operations' });
  app.synth();
  expect(readFileSync(join(folder, 'native/alerting.trueup.yaml'), 'utf8')).toContain('"name": "Operations"');
});

test('the library', () => expect([...kinds.keys()]).toContain('accounts'));
`;

const required = `const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const cdktf = require('cdktf');
const cdktn = require('cdktn');
const forCdktf = require('trueup/cdktf');
const forCdktn = require('trueup/cdktn');
const native = require('trueup/constructs');
const { kinds } = require('trueup');
const folder = __dirname;
${cases}`;

const imported = `import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as cdktf from 'cdktf';
import * as cdktn from 'cdktn';
import * as forCdktf from 'trueup/cdktf';
import * as forCdktn from 'trueup/cdktn';
import * as native from 'trueup/constructs';
import { kinds } from 'trueup';
import { expect, test } from 'vitest';
const folder = import.meta.dirname;
${cases}`;

test('jest tests a program in CommonJS', () => {
  const config = JSON.stringify({
    testEnvironment: 'node',
    transform: {},
    watchman: false,
    cacheDirectory: 'cache',
  });
  const { code, said } = run(
    'jest',
    { 'program.test.js': required, 'jest.config.json': config, 'package.json': '{}' },
    [tool('jest/bin/jest.js'), '--runInBand'],
  );
  expect(said).toContain('Tests:       4 passed, 4 total');
  expect(code).toBe(0);
});

test('vitest tests a program in ES modules', () => {
  const { code, said } = run('vitest', { 'program.test.mjs': imported, 'package.json': '{}' }, [
    tool('vitest/vitest.mjs'),
    'run',
    '--maxWorkers=1',
    '--root',
    '.',
  ]);
  expect(said).toMatch(/Tests {2}4 passed \(4\)/);
  expect(code).toBe(0);
});

describe('one process', () => {
  test('has every class once, imported or required', () => {
    const program = `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
for (const name of ['trueup', 'trueup/cdktf', 'trueup/cdktn', 'trueup/constructs']) {
  const [imported, required] = [await import(name), require(name)];
  const names = Object.keys(required);
  const other = names.filter((one) => imported[one] !== required[one]);
  console.log(name, names.length > 9, Object.keys(imported).length === names.length, other.length);
}
`;
    const { said } = run('both', { 'both.mjs': program }, ['both.mjs']);
    expect(said).toBe(
      ['trueup', 'trueup/cdktf', 'trueup/cdktn', 'trueup/constructs']
        .map((name) => `${name} true true 0\n`)
        .join(''),
    );
  });

  test('may hold the constructs twice, as with modules that a test runner resets: nothing of either is lost', () => {
    const program = `const first = require('trueup/constructs');
delete require.cache[require.resolve('trueup/constructs')];
const second = require('trueup/constructs');
const app = new first.App({ outdir: 'out' });
new first.Account(new second.Stack(app, 'one'), 'a', { name: 'A' });
new second.Account(new first.Stack(app, 'two'), 'b', { name: 'B' });
app.synth();
const { readFileSync } = require('node:fs');
console.log(first.Stack === second.Stack, ['one', 'two'].map((name) => /"name": "[AB]"/.exec(readFileSync('out/' + name + '.trueup.yaml', 'utf8'))[0]).join());
`;
    expect(run('twice', { 'twice.cjs': program }, ['twice.cjs'])).toEqual({
      code: 0,
      said: 'false "name": "A","name": "B"\n',
    });
  });
});

describe('types', () => {
  /** The marked lines alone do not compile: what has no types would take them. */
  const program = `import { kinds, type Kind } from 'trueup';
import type { Construct } from 'constructs';
import { Account, type PropsOf } from 'trueup/cdktf';
import { AlertRule } from 'trueup/cdktn';
import { App, Stack } from 'trueup/constructs';
declare const scope: Construct;
export const [first]: readonly Kind[] = [...kinds.values()];
export const props: PropsOf<typeof Account> = { name: 'x' };
// @ts-expect-error
new Account(scope, 'x', { nam: 'x' });
// @ts-expect-error
new AlertRule(scope, 'x', { schedule: 7 });
// @ts-expect-error
new Stack(new App({ outdir: 7 }), 'x');
`;
  test.each([
    ['node16', 'node16', 'mts'],
    ['node16', 'node16', 'cts'],
    ['nodenext', 'nodenext', 'mts'],
    ['nodenext', 'nodenext', 'cts'],
    ['esnext', 'bundler', 'mts'],
    ['preserve', 'bundler', 'cts'],
  ])('module %s, resolved as %s, in a .%s', (module, moduleResolution, extension) => {
    // The types of the libraries are checked as well, but for those that are not ours.
    const compilerOptions = {
      module,
      moduleResolution,
      target: 'es2022',
      strict: true,
      noEmit: true,
      types: ['node'],
      skipLibCheck: true,
    };
    const config = JSON.stringify({ compilerOptions, files: [`program.${extension}`] });
    const folder = `types-${module}-${extension}`;
    const compiled = run(folder, { [`program.${extension}`]: program, 'tsconfig.json': config }, [
      tool('typescript/bin/tsc6'),
      '-p',
      '.',
      '--pretty',
      'false',
    ]);
    expect(compiled).toEqual({ code: 0, said: '' });
  });

  test('are one class for both sides: what is made in an ES module goes into a CommonJS one', () => {
    const files = {
      'take.cts': `import type { DevicecloudProvider } from 'trueup/cdktf';\nexport const take = (one: DevicecloudProvider): string => one.fqn;\n`,
      'give.mts': `import { DevicecloudProvider } from 'trueup/cdktf';\nimport { take } from './take.cjs';\ndeclare const one: DevicecloudProvider;\ntake(one);\n`,
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          module: 'nodenext',
          target: 'es2022',
          strict: true,
          noEmit: true,
          types: ['node'],
          skipLibCheck: true,
        },
        files: ['give.mts', 'take.cts'],
      }),
    };
    expect(
      run('one-class', files, [tool('typescript/bin/tsc6'), '-p', '.', '--pretty', 'false']),
    ).toEqual({ code: 0, said: '' });
  });
});

test('every file that package.json names is in the package', () => {
  const at = (path: string): string => readFileSync(join(project, 'package', path), 'utf8');
  const { exports, bin, typesVersions } = JSON.parse(at('package.json')) as Readonly<
    Record<string, unknown>
  >;
  const named =
    JSON.stringify({ exports, bin, typesVersions }).match(/(?<=")(?:\.\/)?dist\/[^"*]+/g) ?? [];
  expect(named.length).toBeGreaterThan(15);
  for (const path of named) expect(at(path).length).toBeGreaterThan(0);
});
