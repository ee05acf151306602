// A real git repository in a folder of its own, whatever the settings of the person who runs the tests.
import { execFileSync } from 'node:child_process';
import { folder, type Folder } from './cli.js';

export interface Repository extends Folder {
  /** What git prints. @throws where it fails */
  git(...words: readonly string[]): string;
  /** Commits everything. */
  commit(message?: string): void;
}

const gitEnvironment: Readonly<Record<string, string>> = {
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
};

/** Runs git in a folder. */
export const gitIn =
  (cwd: string) =>
  (...words: readonly string[]): string =>
    execFileSync('git', words, {
      cwd,
      env: { PATH: process.env['PATH'], ...gitEnvironment },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });

/** With these files on the branch `main`, committed. */
export function repository(files: Readonly<Record<string, string>> = {}): Repository {
  const home = folder(files);
  const git = gitIn(home.path);
  const commit = (message = 'Change'): void => {
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '--message', message);
  };
  git('init', '--quiet', '--initial-branch', 'main');
  commit();
  return { ...home, git, commit };
}
