// `trueup diff` in a folder that the reference does not have.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run as diff } from '../../../src/cli/commands/diff.js';
import { repository } from '../../support/git.js';
import { inProcess } from '../../support/in-process.js';

const account = 'accounts:\n  a: { name: A }\n';

it('a current folder that was renamed or is new holds nothing at the reference', async () => {
  const home = repository({ 'old/trueup.yaml': account });
  home.git('mv', 'old', 'new');
  home.commit();
  home.write('untracked/trueup.yaml', account);
  const at = (folder: string, range: string) =>
    inProcess(diff, ['diff', range], {
      cwd: join(home.path, folder),
      env: { PATH: process.env['PATH'] ?? '' },
    });
  for (const [folder, reference] of [
    ['new', 'HEAD~1'],
    ['untracked', 'HEAD'],
  ] as const) {
    const { code, stdout, stderr } = await at(folder, reference);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('1 to create, 0 to update, 0 to delete; 0 unchanged.'),
    ]);
    expect(stderr).toContain(
      `Nothing is declared at ${reference}: the current folder does not exist.`,
    );
  }
  const back = await at('new', 'HEAD..HEAD~1');
  expect(back.stdout).toContain('0 to create, 0 to update, 1 to delete; 0 unchanged.');
  const neither = await at('untracked', 'HEAD~1..HEAD');
  expect([neither.code, neither.stderr]).toEqual([
    1,
    expect.stringContaining('neither HEAD~1 nor HEAD declares anything'),
  ]);
});

it('advice changes no state, and has the references and the PATHs', async () => {
  const home = repository({ 'a b/trueup.yaml': 'accounts:\n  a: { name: A, account: "1" }\n' });
  home.write('a b/trueup.yaml', 'accounts:\n  b: { name: A, account: "1" }\n');
  home.commit();
  const shown = async (...words: readonly string[]) => {
    const env = { PATH: process.env['PATH'] ?? '' };
    const { stdout, stderr } = await inProcess(diff, ['diff', ...words], { cwd: home.path, env });
    return stdout + stderr;
  };
  const renamed = await shown('HEAD~1..HEAD', 'a b');
  expect(renamed).toContain('If it was renamed, write');
  expect(renamed).not.toContain('trueup state mv');
  expect(await shown('HEAD~1...HEAD', 'a b')).toContain(
    "trueup diff $(git merge-base 'HEAD~1' HEAD)..HEAD 'a b'",
  );
});

it('a value that was not declared earlier stands there as not known, and not as a text', async () => {
  const hook = (more: string): string =>
    `alert_push_destinations:\n  p: { name: P, endpoint: { url: "https://a.test" }${more} }\n`;
  const home = repository({ 'trueup.yaml': hook('') });
  home.write('trueup.yaml', hook(', suspended: false'));
  const env = { PATH: process.env['PATH'] ?? '' };
  const { stdout } = await inProcess(diff, ['diff', 'HEAD'], { cwd: home.path, env });
  expect(stdout).toMatch(/suspended +\(not known\) → false/);
});

it('declarations of which none stayed say nothing of a state', async () => {
  const declared = (name: string): string =>
    `accounts:\n  ${name}1: { name: A${name}, account: "1" }\n  ${name}2: { name: B${name}, account: "1" }\n`;
  const home = repository({ 'trueup.yaml': declared('a') });
  home.write('trueup.yaml', declared('z'));
  home.commit();
  const env = { PATH: process.env['PATH'] ?? '' };
  const { stdout, stderr } = await inProcess(diff, ['diff', 'HEAD~1..HEAD'], {
    cwd: home.path,
    env,
  });
  expect(stdout).toContain('2 to create, 0 to update, 2 to delete');
  expect(stderr).not.toContain('state');
});
