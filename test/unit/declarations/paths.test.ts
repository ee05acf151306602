// The files of PATHs, on a real disk: links that lead out of the project are left out, and policies are never ignored.
import { execSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { findFiles } from '../../../src/declarations/paths.js';
import { declarationFiles } from '../../../src/platform/declaration-files.js';

const folders: string[] = [];
afterEach(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true });
});
const folder = (...files: readonly string[]): string => {
  const path = mkdtempSync(join(tmpdir(), 'trueup-links-'));
  folders.push(path);
  for (const file of files) {
    mkdirSync(join(path, file, '..'), { recursive: true });
    writeFileSync(join(path, file), '');
  }
  return path;
};

it('a link within the project is followed, and one that leads out is not', () => {
  const [project, elsewhere] = [folder('trueup.yaml', 'common/more.yaml'), folder('theirs.yaml')];
  mkdirSync(join(project, 'team'));
  symlinkSync('../common', join(project, 'team/within'));
  symlinkSync(elsewhere, join(project, 'team/outside'));
  const { files, diagnostics } = findFiles(declarationFiles, project, [], undefined);
  expect(files.map(({ file }) => file)).toEqual([
    'common/more.yaml',
    'team/within/more.yaml',
    'trueup.yaml',
  ]);
  expect(diagnostics.map(({ code, severity, summary }) => [code, severity, summary])).toEqual([
    [
      'link-outside',
      'warning',
      'team/outside is a link to a folder outside the project, and was left out.',
    ],
  ]);
});

it('a path through a link to the current folder is one of the folder', () => {
  const project = folder('team/a.yaml');
  const link = `${project}-link`;
  symlinkSync(project, link);
  folders.push(link);
  const { paths } = findFiles(declarationFiles, project, [join(link, 'team/a.yaml')], undefined);
  expect(paths).toEqual(['team/a.yaml']);
});

it('a named folder may be a link, and may lie outside the current one', () => {
  const [project, elsewhere] = [folder('trueup.yaml'), folder('theirs.yaml', 'below/more.yaml')];
  symlinkSync(elsewhere, join(project, 'linked'));
  symlinkSync(join(elsewhere, 'below'), join(elsewhere, 'inside'));
  const { files, diagnostics } = findFiles(declarationFiles, project, ['linked'], undefined);
  expect(files.map(({ file }) => file)).toEqual([
    'linked/below/more.yaml',
    'linked/inside/more.yaml',
    'linked/theirs.yaml',
  ]);
  expect(diagnostics).toEqual([]);
});

it.each([
  ['a file of a folder above', 'sub', '../trueup.yaml', '../policies/a.cel.yaml'],
  ['a file below a folder above', 'sub', '../team/x.yaml', '../policies/a.cel.yaml'],
  ['a folder beside', 'sub', '../team', '../policies/a.cel.yaml'],
  ['a file of a folder below', '.', 'other/x.yaml', 'other/policies/b.cel.yaml'],
  ['a stack of a folder below', '.', 'other/cdktf.out/cdk.tf.json', 'other/policies/b.cel.yaml'],
])('policies of the project of %s are not ignored', (_, cwd, path, policies) => {
  const project = folder(
    'trueup.yaml',
    'sub/y.yaml',
    'team/x.yaml',
    'policies/a.cel.yaml',
    'other/x.yaml',
    'other/cdktf.out/cdk.tf.json',
    'other/policies/b.cel.yaml',
  );
  const { diagnostics } = findFiles(declarationFiles, join(project, cwd), [path], undefined);
  expect(diagnostics.map(({ code, summary }) => [code, summary.split(' ')[0]])).toEqual([
    ['unread-policies', policies],
  ]);
});

it.each([
  ['of the current folder', '.', 'team/x.yaml'],
  ['of a folder that does not hold the PATH', '.', 'sub/y.yaml'],
  ['of a folder above the current one', 'team', 'x.yaml'],
])('policies %s are no error', (_, cwd, path) => {
  const project = folder(
    'policies/a.cel.yaml',
    'team/x.yaml',
    'team/z/policies/c.cel.yaml',
    'sub/y.yaml',
  );
  const { diagnostics } = findFiles(declarationFiles, join(project, cwd), [path], undefined);
  expect(diagnostics).toEqual([]);
});

it('the command that moves policies also makes the folder for them', () => {
  const project = folder('trueup.yaml', 'policy/a.cel.yaml');
  const { diagnostics } = findFiles(declarationFiles, project, [], undefined);
  const [, command = ''] = /^Move it: (.*)$/.exec(diagnostics[0]?.detail ?? '') ?? [];
  execSync(command, { cwd: project });
  expect(findFiles(declarationFiles, project, [], undefined).diagnostics).toEqual([]);
});
