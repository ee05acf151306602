// The files of a commit, in real repositories: what the loader of declarations sees of them, and what git is never told.
import { chmodSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/model/index.js';
import { gitRepository, type GitRepository } from '../../../src/platform/git-files.js';
import type { DeclarationFiles } from '../../../src/platform/index.js';
import { folder } from '../../support/cli.js';
import { repository, type Repository } from '../../support/git.js';

const environment = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null' };
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** The diagnostic of a refusal. */
function refused(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error.diagnostics[0]!;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('the files of a commit', () => {
  let home: Repository;
  let files: DeclarationFiles;
  const at = (path: string): string => join(home.path, path);

  beforeEach(() => {
    home = repository({
      'trueup.yaml': 'old\n',
      'a/b/deep.yaml': 'deep\n',
      'a/other.txt': 'text\n',
      'ü and\ttab.yaml': 'odd\n',
    });
    symlinkSync('../../trueup.yaml', at('a/b/link.yaml'));
    symlinkSync('b', at('a/folder'));
    symlinkSync('round', at('a/round'));
    symlinkSync('/etc/passwd', at('absolute.yaml'));
    symlinkSync('/b/deep.yaml', at('a/absolute.yaml'));
    symlinkSync('../../outside.yaml', at('a/leaving.yaml'));
    home.commit();
    home.write('trueup.yaml', 'new\n');
    home.write('later.yaml', 'later\n');
    const source = gitRepository({ cwd: home.path, environment });
    files = source.filesOf(source.commitOf('main')!);
  });

  test('are as they were committed, not as they are now', () => {
    expect(text(files.read(at('trueup.yaml'), 100))).toBe('old\n');
    expect(text(files.read(at('a/b/deep.yaml'), 2))).toBe('de');
    expect(text(files.read(at('a/other.txt'), 100))).toBe('text\n');
    expect(text(files.read(at('ü and\ttab.yaml'), 100))).toBe('odd\n');
    expect(files.stat(at('later.yaml'))).toBeUndefined();
    expect(() => files.read(at('later.yaml'), 1)).toThrow('ENOENT');
    expect(() => files.read(at('a'), 1)).toThrow('EISDIR');
  });

  test('with names that are not UTF-8 are no files, as in the working tree: two of them may look alike', () => {
    const put = (name: number): void =>
      writeFileSync(
        Buffer.concat([Buffer.from(`${home.path}/caf`), Buffer.from([name]), Buffer.from('.yaml')]),
        'x\n',
      );
    put(0xe8);
    put(0xe9);
    home.write('\uFFFD.yaml', 'clean\n');
    home.commit();
    const source = gitRepository({ cwd: home.path, environment });
    const odd = source.filesOf(source.commitOf('main')!);
    expect(odd.stat(at('caf\uFFFD.yaml'))?.kind).toBe('other');
    expect(odd.stat(at('trueup.yaml'))?.kind).toBe('file');
  });

  test('are listed by folder', () => {
    expect([...files.list(at('.'))].toSorted()).toEqual([
      'a',
      'absolute.yaml',
      'trueup.yaml',
      'ü and\ttab.yaml',
    ]);
    expect([...files.list(at('a/folder'))].toSorted()).toEqual(['deep.yaml', 'link.yaml']);
    expect(files.stat(at('.'))?.kind).toBe('folder');
    expect(files.stat(at('a/b'))?.kind).toBe('folder');
    expect(() => files.list(at('trueup.yaml'))).toThrow('ENOTDIR');
  });

  test('links are followed inside of the commit, and nowhere else', () => {
    expect(text(files.read(at('a/folder/link.yaml'), 100))).toBe('old\n');
    expect(files.stat(at('a/b/link.yaml'))).toEqual(files.stat(at('trueup.yaml')));
    expect(files.realPath(at('a/folder/deep.yaml'))).toBe(at('a/b/deep.yaml'));
    expect([files.isLink(at('a/folder')), files.isLink(at('a/b'))]).toEqual([true, false]);
    for (const path of [
      'a/round',
      'absolute.yaml',
      'a/absolute.yaml',
      'a/leaving.yaml',
      '../outside.yaml',
    ]) {
      expect(files.stat(at(path))).toBeUndefined();
      expect(files.realPath(at(path))).toBeUndefined();
    }
  });

  test('are found from a folder below', () => {
    const below = gitRepository({ cwd: at('a/b'), environment });
    const inner = below.filesOf(below.commitOf('HEAD')!);
    expect(text(inner.read(at('a/b/deep.yaml'), 100))).toBe('deep\n');
    expect(text(inner.read(at('trueup.yaml'), 100))).toBe('old\n');
    expect(inner.realPath(at('a/b'))).toBe(at('a/b'));
  });

  test('a submodule is no folder with declarations', () => {
    const outer = repository({ 'trueup.yaml': 'x\n' });
    const commit = outer.git('rev-parse', 'HEAD').trim();
    outer.git('update-index', '--add', '--cacheinfo', `160000,${commit},module`);
    outer.git('commit', '--quiet', '--message', 'Module');
    const one = gitRepository({ cwd: outer.path, environment });
    const seen = one.filesOf(one.commitOf('main')!);
    expect(seen.stat(join(outer.path, 'module'))?.kind).toBe('other');
  });
});

describe('references', () => {
  let home: Repository;
  let commitOf: GitRepository['commitOf'];

  beforeEach(() => {
    home = repository({ 'trueup.yaml': 'x\n' });
    ({ commitOf } = gitRepository({ cwd: home.path, environment }));
  });

  test('lead to a commit', () => {
    home.git('tag', '--annotate', '--message', 'One', 'v1');
    const head = home.git('rev-parse', 'HEAD').trim();
    for (const one of ['main', 'HEAD', 'v1', head, head.slice(0, 10), 'refs/heads/main', '@'])
      expect(commitOf(one)).toBe(head);
  });

  test('that name none, or more than one thing, are unknown', () => {
    for (const one of [
      '',
      'none',
      'main~9',
      '^main',
      'main:trueup.yaml',
      'HEAD^{tree}',
      'a b',
      '*',
    ])
      expect([one, commitOf(one)]).toEqual([one, undefined]);
  });

  test('never become options or further lines', () => {
    const before = readdirSync(home.path);
    const hostile = [
      '--output=x',
      '-h',
      '--git-dir=/tmp',
      '--all',
      'main\n--all',
      'ma\u0000in',
      '--',
    ];
    for (const one of hostile) expect([one, commitOf(one)]).toEqual([one, undefined]);
    expect(readdirSync(home.path)).toEqual(before);
  });
});

describe('without a repository', () => {
  test('outside of one, and inside of .git', () => {
    const home = folder({ 'trueup.yaml': 'x\n' });
    const { code, detail } = refused(() => gitRepository({ cwd: home.path, environment }));
    expect(code).toBe('no-repository');
    expect(detail).toContain('not a git repository');
    const inside = join(repository().path, '.git');
    expect(refused(() => gitRepository({ cwd: inside, environment })).code).toBe('no-repository');
  });

  test('without git', () => {
    const home = repository();
    const empty = { PATH: folder().path };
    const { code, detail } = refused(() => gitRepository({ cwd: home.path, environment: empty }));
    expect([code, detail]).toEqual([
      'no-git',
      'It has to be on the PATH. To try it, type: git --version',
    ]);
  });

  test('with an object that is missing', () => {
    const home = repository({ 'trueup.yaml': 'x\n' });
    const source = gitRepository({ cwd: home.path, environment });
    const files = source.filesOf(source.commitOf('main')!);
    const id = home.git('rev-parse', 'main:trueup.yaml').trim();
    rmSync(join(home.path, '.git/objects', id.slice(0, 2), id.slice(2)));
    const { summary, detail } = refused(() => files.read(join(home.path, 'trueup.yaml'), 9));
    expect(summary).toBe('The clone does not have trueup.yaml, as the reference has it.');
    expect(detail).toContain(`git cat-file -p ${id}`);
  });
});

test('git sees no credential of trueup', () => {
  const bin = folder({ git: '#!/bin/sh\necho "$TRUEUP_MGR_API_KEY|$OTHER" >&2\nexit 1\n' });
  chmodSync(join(bin.path, 'git'), 0o755);
  const env = { PATH: bin.path, TRUEUP_MGR_API_KEY: 'canary', OTHER: 'seen' };
  const { detail } = refused(() => gitRepository({ cwd: bin.path, environment: env }));
  expect(detail).toContain('git says: |seen\n');
});
