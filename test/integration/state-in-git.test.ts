// A state file that git tracks, or would add, is reported by the first apply and by doctor.
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { folder } from '../support/cli.js';

const project = `settings: { target: emulator }\naccounts:\n  field: { name: Field }\n`;
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');
const WARNED = 'git does not ignore the state .trueup/state.json.';

test.each([
  ['in no repository', false, '', false],
  ['in a repository that ignores it', true, '.trueup/\n', false],
  ['in a repository that does not', true, '', true],
])('%s', async (_, isRepository, ignored, warned) => {
  const home = folder({ 'trueup.yaml': project, '.gitignore': ignored });
  if (isRepository) execFileSync('git', ['init', '--quiet'], { cwd: home.path });
  const first = await home.expect(0, ['apply', '--auto-approve']);
  expect(flat(first.stderr).includes(WARNED)).toBe(warned);
  const again = await home.expect(0, ['apply', '--auto-approve']);
  expect(flat(again.stderr)).not.toContain(WARNED);
  expect(flat((await home.expect(0, ['doctor'])).stdout).includes(WARNED)).toBe(warned);
});

test('tracked: doctor says how to take it out, and it works', async () => {
  const home = folder({ 'trueup.yaml': project });
  const git = (...words: string[]): unknown =>
    execFileSync('git', words, { cwd: home.path, stdio: 'ignore' });
  git('init');
  await home.expect(0, ['apply', '--auto-approve']);
  await home.expect(0, ['apply', '--auto-approve']);
  home.write('.trueup/state.json.1', 'an earlier state');
  git('add', '.trueup');
  const { stdout } = await home.expect(0, ['doctor']);
  expect(flat(stdout)).toContain('The state .trueup/state.json is under version control.');
  const [, pattern = ''] = /Add (\S+) to \.gitignore/.exec(flat(stdout)) ?? [];
  const [, command = ''] = /type: (git rm --cached \S+)/.exec(flat(stdout)) ?? [];
  execFileSync('sh', ['-c', command], { cwd: home.path, stdio: 'ignore' });
  home.write('.gitignore', `${pattern}\n`);
  expect(
    execFileSync('git', ['status', '--porcelain', '-uall'], { cwd: home.path, encoding: 'utf8' }),
  ).not.toContain('state.json');
  expect((await home.expect(0, ['doctor'])).stdout).not.toContain('state in git');
});
