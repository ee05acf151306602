// Names that a maintainer can search for: an exported name has one home, and a file name one meaning.
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map((path) => `src/${path.split(sep).join('/')}`)
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts') && !/\/generated\//.test(path));

const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|function\*?|interface|type|class|enum) (\w+)/gm;

/** Each key with the different values that it has. */
function grouped(pairs: readonly (readonly [key: string, value: string])[]): readonly string[] {
  const groups = new Map<string, Set<string>>();
  for (const [key, value] of pairs) groups.set(key, (groups.get(key) ?? new Set()).add(value));
  return [...groups].flatMap(([key, values]) =>
    values.size > 1 ? [`${key}: ${[...values].join(', ')}`] : [],
  );
}

it('has sources to look at', () => {
  expect(sources.length).toBeGreaterThan(200);
});

it('exports each name from one file, constructs and commands aside', () => {
  const own = sources.filter((path) => !/^src\/(constructs|cli\/commands)\//.test(path));
  const exported = own.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(EXPORT)].map(
      ([, name = '']) => [name, path] as const,
    ),
  );
  expect(exported.length).toBeGreaterThan(500);
  expect(grouped(exported)).toEqual([]);
});

/** The emulator answers what the client asks; a type in the model, what makes it, and its command have one name. */
const meaning = (path: string): string => {
  if (/^src\/(client|emulator)\/[^/]+$/.test(path)) return 'the API';
  if (/^src\/(model|reconciler|resources|cli\/commands|emulator)\//.test(path)) return 'the engine';
  return path;
};

it('gives no two files of different meaning one name', () => {
  const files = sources
    .filter((path) => basename(path) !== 'index.ts' && !path.startsWith('src/constructs/'))
    .filter((path) => path !== 'src/emulator/emulator.ts')
    .map((path) => [basename(path), meaning(path)] as const);
  expect(grouped(files)).toEqual([]);
});

it('calls no file by a metaphor', () => {
  const metaphors =
    /^(courier|vault|sight|workbench|trouble|made|thrift|every|remembered|workplace|lined|inert|numbers|memory)\.ts$/;
  const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' });
  const names = [...sources, ...tests].filter((path) =>
    metaphors.test(basename(path).replace('.test.ts', '.ts')),
  );
  expect(names).toEqual([]);
});
