// Programs as people compile them: the built package behind its own door, seen by an ES module and by a CommonJS one
// with the compiler options that CDK templates have. Exactly the marked lines fail.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trueup-types-'));
  for (const name of ['cdktf', 'cdktn', 'constructs', '@types/node', 'undici-types'])
    link(join(root, 'node_modules', name), name);
  link(root, 'trueup');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function link(to: string, name: string): void {
  const path = join(folder, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(to, path, 'dir');
}

/** No types of Node, which TypeScript 7 takes along only where it is told to. */
const esm = {
  tsc: '@typescript/native/bin/tsc',
  types: [] as readonly string[],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  exactOptionalPropertyTypes: true,
};
const commonJs = {
  tsc: 'typescript/bin/tsc6',
  module: 'commonjs',
  moduleResolution: 'node10',
  ignoreDeprecations: '6.0',
  target: 'es2018',
  lib: ['es2018'],
};

/** Numbers of the lines that do not compile. */
function compiled(
  text: string,
  name: string,
  { tsc, ...options }: typeof esm | typeof commonJs,
): readonly number[] {
  const file = join(folder, `${name}.ts`);
  writeFileSync(file, text);
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2022',
        strict: true,
        noEmit: true,
        types: ['node'],
        ...options,
      },
      files: [file],
    }),
  );
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ type: tsc === esm.tsc ? 'module' : 'commonjs' }),
  );
  const said = run([join(root, 'node_modules', tsc), '-p', folder, '--pretty', 'false']);
  const lines = said.split('\n').filter((line) => /^\S/.test(line));
  const elsewhere = lines.filter((line) => !line.startsWith(`${name}.ts(`));
  expect(elsewhere).toEqual([]);
  return [...new Set(lines.map((line) => Number(/\((\d+),/.exec(line)?.[1])))].toSorted(
    (a, b) => a - b,
  );
}

function run(args: readonly string[]): string {
  try {
    return execFileSync(process.execPath, args, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    return stdout + stderr;
  }
}

const MARK = /\/\/ @ts-expect-error/g;
const marked = (text: string): readonly number[] =>
  text.split('\n').flatMap((line, index) => (line.search(MARK) < 0 ? [] : [index + 2]));

test.each([
  ['terraform', 'cdktf', 'an ES module', esm],
  ['terraform', 'cdktn', 'an ES module', esm],
  ['terraform', 'cdktf', 'CommonJS', commonJs],
  ['terraform', 'cdktn', 'CommonJS', commonJs],
  ['native', 'constructs', 'an ES module', esm],
  ['native', 'constructs', 'CommonJS', commonJs],
] as const)(
  'the %s program compiles with %s as %s, but for the lines that must not',
  (program, door, _, options) => {
    const source = readFileSync(
      join(import.meta.dirname, '../unit/constructs/programs', `${program}.ts`),
      'utf8',
    );
    const text = source
      .replaceAll(/'(?:\.\.\/)+src\/[^']+'/g, `'trueup/${door}'`)
      .replaceAll("'#cdk'", `'${door}'`);
    expect(text).not.toContain('src/');
    const lines = marked(text);
    expect(lines.length).toBeGreaterThan(10);
    // With the marks, everything compiles; without them, each marked line fails and no other.
    expect(compiled(text.replaceAll(MARK, '// here:'), `${door}-program`, options)).toEqual(lines);
  },
);

test('the programs of the documentation compile', () => {
  const page = readFileSync(join(root, 'docs/how-to/cdk.md'), 'utf8');
  const blocks = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, text]) => text as string);
  // A block that makes no app continues the one before it.
  const programs = blocks.map((text, index) =>
    text.includes('new App(') ? text : `${blocks[index - 1]}${text}`,
  );
  expect(programs).toHaveLength(3);
  for (const [index, text] of programs.entries())
    expect(compiled(text, `page-${index}`, esm)).toEqual([]);
});

const types = join(root, 'dist/types/constructs');

test.each([
  ['cdktf', 'cdktf/generated/classes.d.ts'],
  ['cdktn', 'cdktn/generated/classes.d.ts'],
  ['constructs', 'native/generated/classes.d.ts'],
])('the props that %s shows with their words are those that the kinds say', (door, file) => {
  const classes = [
    ...readFileSync(join(types, file), 'utf8').matchAll(/^declare const (\w+)_mapped: /gm),
  ].map(([, name]) => name as string);
  expect(classes.length).toBeGreaterThan(9);
  cpSync(join(root, 'dist/types'), join(folder, 'types'), { recursive: true });
  const place = join(folder, 'types/constructs', file);
  const alike = classes.map(
    (name) => `
type ${name}Said = import('../../props.js').PropsOf<typeof ${name}_mapped>;
export declare const ${name}Alike: [ours: (props: ${name}Said) => ${name}Props, theirs: (props: ${name}Props) => ${name}Said];`,
  );
  writeFileSync(place, readFileSync(place, 'utf8') + alike.join('\n'));
  const calls = classes.flatMap((name) => [
    `to<Said.${name}Props>()(given<Parameters<typeof Said.${name}Alike[0]>[0]>());`,
    `to<Parameters<typeof Said.${name}Alike[0]>[0]>()(given<Said.${name}Props>());`,
  ]);
  const text = `import type * as Said from './types/constructs/${file.replace('.d.ts', '.js')}';\ndeclare const to: <T>() => (value: T) => void;\ndeclare const given: <T>() => T;\n${calls.join('\n')}\n`;
  expect(compiled(text, `alike-${door}`, esm)).toEqual([]);
});

const SHOWN = {
  name: 'Display name.',
  endpoint: 'Where alerts are delivered to.',
  url: 'Address of the receiver: https, port 443 or 8443.',
  authentication: 'How the receiver knows that a delivery is genuine.',
  lastErrorAt: 'Time of the last failed delivery.',
};

test.each([
  [
    'cdktf',
    'AlertPushDestination, DataAlerts, DevicecloudProvider',
    `new AlertPushDestination(scope, 'a', { name: 'x', endpoint: { url: 'y' }, authentication: { secretWoVersion: 1 }, timeouts: { create: '10m' } }).lastErrorAt;
new DataAlerts(scope, 'b', { since: 'x' });
new DevicecloudProvider(scope, 'c', { journal: 'x' });`,
    {
      ...SHOWN,
      secretWoVersion: 'Another number sends the secret again.',
      timeouts:
        'How long each operation may take, such as `90s` or `1h30m`. Default: no limit. Changing it sends no request.',
      create:
        'How long creating or adopting it may take, such as `90s` or `1h30m`. Default: no limit.',
      since: 'Only records from this time on (ISO 8601).',
      journal:
        'Folder or address of the journal. Default: `TRUEUP_STATE` if it is an address, otherwise `.trueup/terraform`.',
    },
  ],
  [
    'constructs',
    'AlertPushDestination',
    `new AlertPushDestination(scope, 'a', { name: 'x', enabled: true, endpoint: { url: 'y' }, authentication: { secret: '\${secret.env.A}' } }).lastErrorAt;`,
    {
      ...SHOWN,
      secret: 'Key of the HMAC-SHA256 that signs each delivery. Returned masked.',
    },
  ],
])('an editor shows what the props of %s mean', (door, names, program, expected) => {
  const text = `import { ${names} } from 'trueup/${door}';\ndeclare const scope: never;\n${program}\n`;
  const editor = editorOf(text, `hover-${door}.ts`);
  const shown = Object.keys(expected).map((name) => [
    name,
    editor(text.search(new RegExp(`(?<=[{.] ?|, )${name}\\b`))),
  ]);
  expect(Object.fromEntries(shown)).toEqual(expected);
});

/** What an editor shows at an offset of a program. */
function editorOf(text: string, name: string): (at: number) => string {
  const file = join(folder, name);
  writeFileSync(file, text);
  const options = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    types: [],
  };
  const { fileExists, readFile, directoryExists, realpath = (path: string) => path } = ts.sys;
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) =>
      fileExists(path) ? ts.ScriptSnapshot.fromString(readFile(path) ?? '') : undefined,
    getCurrentDirectory: () => folder,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists,
    readFile,
    directoryExists,
    realpath,
  });
  return (at) => ts.displayPartsToString(service.getQuickInfoAtPosition(file, at)?.documentation);
}
