// Which tenants differ from those of another version of the folder.
import { expect, test } from 'vitest';
import { changedTenants, removedTenants } from '../../../src/fleet/changed-tenants.js';
import type { Fleet, Tenant } from '../../../src/fleet/tenant.js';
import type { DeclarationFiles } from '../../../src/platform/index.js';

type Tree = Readonly<Record<string, string>>;

/** Files by their paths below `/f`. A value `-> path` is a link. */
function filesIn(tree: Tree): DeclarationFiles {
  const follow = (path: string): string => {
    const at = path.replace(/^\/f\/?/, '');
    const link = Object.keys(tree).find(
      (one) => tree[one]!.startsWith('-> ') && (at === one || at.startsWith(`${one}/`)),
    );
    return link === undefined ? at : follow(`/f/${tree[link]!.slice(3)}${at.slice(link.length)}`);
  };
  const names = (path: string): readonly string[] => {
    const at = follow(path);
    const below = Object.keys(tree).filter((one) => at === '' || one.startsWith(`${at}/`));
    return [
      ...new Set(below.map((one) => one.slice(at === '' ? 0 : at.length + 1).split('/')[0]!)),
    ];
  };
  return {
    stat(path) {
      const at = follow(path);
      if (Object.hasOwn(tree, at)) return { kind: 'file', id: at };
      return names(path).length > 0 ? { kind: 'folder', id: at } : undefined;
    },
    read: (path) => new TextEncoder().encode(tree[follow(path)]),
    list: names,
    realPath: follow,
    isLink: () => false,
  };
}

const tenant = (name: string, more: Partial<Tenant> = {}): Tenant => ({
  name,
  paths: ['base', `tenants/${name}`],
  variables: {},
  labels: {},
  credentials: { env_prefix: name },
  origin: { file: 'trueup.fleet.yaml', line: 1, column: 1 },
  ...more,
});
const fleet = (...tenants: readonly Tenant[]): Fleet => ({
  tenants,
  concurrency: 1,
  order: [],
  stop: { failures: 5 },
});

const tree: Tree = {
  'base/a.yaml': 'a',
  'base/deep/b.yml': 'b',
  'base/notes.md': 'n',
  'policies/p.cel.yaml': 'p',
  'tenants/x/t.yaml': 'x',
  'tenants/y/t.yaml': 'y',
  'tenants/y/program/cdktf.json': '{}',
  'tenants/y/program/src/main.ts': 'm',
  'tenants/limits.yaml': 'settings: 1',
  'tenants/z.yaml': 'z',
  'output/manifest.json': '{}',
  'output/stacks/s/cdk.tf.json': '{}',
};
const both = fleet(tenant('x'), tenant('y'));

function changedBy(more: Tree | undefined, before: Fleet | undefined = both, now: Fleet = both) {
  return changedTenants(
    { files: filesIn(tree), fleet: before },
    { files: filesIn({ ...tree, ...more }), fleet: now },
    {
      cwd: '/f',
      common: ['policies'],
      overlays: ['trueup.prod.yaml', 'trueup.prod.yml'],
      entryOf: ({ paths, variables }) => JSON.stringify([paths, variables]),
    },
  ).map(({ name }) => name);
}

test.each<[string, Tree, readonly string[]]>([
  ['nothing', {}, []],
  ['a file of one', { 'tenants/x/t.yaml': 'X' }, ['x']],
  ['a new file of one', { 'tenants/y/deep/new.yaml': 'n' }, ['y']],
  ['a file of the base', { 'base/deep/b.yml': 'B' }, ['x', 'y']],
  ['a policy', { 'policies/p.cel.yaml': 'P' }, ['x', 'y']],
  [
    'what declares nothing',
    { 'base/notes.md': 'N', 'base/.hidden.yaml': 'h', 'other.yaml': 'o' },
    [],
  ],
  ['a source of a CDK program', { 'tenants/y/program/src/main.ts': 'M' }, ['y']],
  ['a link that leads back into itself', { 'tenants/x/loop': '-> tenants/x' }, ['x']],
])('%s', (_what, more, expected) => {
  expect(changedBy(more)).toEqual(expected);
});

test.each<[string, readonly string[], Tree]>([
  ['settings above a PATH', ['tenants/x'], { 'tenants/limits.yaml': 'settings: 2' }],
  ['new settings above it', ['tenants/x'], { 'tenants/more.yml': '{"settings": 1}' }],
  ['the environment, in a .yml', ['tenants/x'], { 'trueup.prod.yml': 'e' }],
  ['the environment beside a file', ['base/a.yaml'], { 'base/trueup.prod.yaml': 'e' }],
  ['an absolute PATH', ['/f/tenants/x'], { 'tenants/x/t.yaml': 'X' }],
  ['a PATH that goes up and down', ['base/../tenants/x/'], { 'tenants/x/t.yaml': 'X' }],
  [
    'a program that is named by its file',
    ['tenants/y/program/cdktf.json'],
    { 'tenants/y/program/src/main.ts': 'M' },
  ],
  ['synthesised stacks', ['output'], { 'output/stacks/s/cdk.tf.json': '[]' }],
])('%s', (_what, paths, more) => {
  const one = fleet(tenant('one', { paths }));
  expect(changedBy({}, one, one)).toEqual([]);
  expect(changedBy(more, one, one)).toEqual(['one']);
});

test('a file beside that of a tenant, which it does not use', () => {
  const one = fleet(tenant('one', { paths: ['tenants/z.yaml'] }));
  expect(changedBy({ 'tenants/w.yaml': 'w', 'tenants/x/t.yaml': 'X' }, one, one)).toEqual([]);
});

test('what the disk refuses counts as changed, and hides nothing of other tenants', () => {
  const files = filesIn(tree);
  const refusing: DeclarationFiles = {
    ...files,
    stat(path) {
      if (path === '/f/tenants/x/t.yaml') throw Object.assign(new Error('loop'), { code: 'ELOOP' });
      return files.stat(path);
    },
  };
  const changed = changedTenants(
    { files, fleet: both },
    { files: refusing, fleet: both },
    { cwd: '/f', common: [], overlays: [], entryOf: () => '' },
  );
  expect(changed.map(({ name }) => name)).toEqual(['x']);
});

test('an entry that changed, is new, or is gone', () => {
  expect(changedBy({}, both, fleet(tenant('x', { variables: { a: '1' } }), tenant('y')))).toEqual([
    'x',
  ]);
  expect(changedBy({}, fleet(tenant('y')), both)).toEqual(['x']);
  expect(changedBy({}, both, fleet(tenant('y')))).toEqual([]);
});

test('a tenant that is gone, unless another name has its state', () => {
  const gone = (before: Fleet | undefined, now: Fleet): readonly string[] =>
    removedTenants(before, now, undefined).map(({ name }) => name);
  expect(gone(both, fleet(tenant('y')))).toEqual(['x']);
  expect(gone(fleet(tenant('y')), both)).toEqual([]);
  expect(gone(undefined, both)).toEqual([]);
  const state = 's3://b/k';
  expect(gone(fleet(tenant('x', { state })), fleet(tenant('z', { state: `${state}/` })))).toEqual(
    [],
  );
});

test('every tenant, where there was no fleet', () => {
  expect(
    changedTenants(
      { files: filesIn(tree) },
      { files: filesIn(tree), fleet: both },
      { cwd: '/f', common: [], overlays: [], entryOf: () => '' },
    ),
  ).toEqual(both.tenants);
});
