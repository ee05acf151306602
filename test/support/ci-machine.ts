// A fresh machine for each job of a CI run: a folder of its own, and bash with an environment of its own.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanUp } from './clean-up.js';

export type Variables = Readonly<Record<string, string>>;

export interface Machine {
  readonly home: string;
  /** Where the repository is cloned to. */
  readonly workspace: string;
}

export interface Ended {
  readonly code: number;
  /** What it said on both streams. */
  readonly said: string;
}

export function freshMachine(): Machine {
  const home = mkdtempSync(join(tmpdir(), 'trueup-ci-'));
  cleanUp.push(() => rmSync(home, { recursive: true, force: true }));
  const workspace = join(home, 'workspace');
  mkdirSync(workspace);
  return { home, workspace };
}

export function started(
  command: string,
  words: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Variables },
): Promise<Ended> {
  const child = spawn(command, words, {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  cleanUp.push(() => void child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => done({ code: code ?? -1, said }));
  });
}

/** Clones the commit into the workspace. */
export async function checkOut(
  { home, workspace }: Machine,
  { origin, sha }: { readonly origin: string; readonly sha: string },
): Promise<void> {
  await git(home, 'clone', '--quiet', '--no-checkout', origin, workspace);
  await git(workspace, 'checkout', '--quiet', '--detach', sha);
}

const identity = { NAME: 'A', EMAIL: 'a@example.com' };

/** What git says. It has to succeed. */
export async function git(cwd: string, ...words: readonly string[]): Promise<string> {
  const author = Object.entries(identity).flatMap(([name, value]) => [
    [`GIT_AUTHOR_${name}`, value],
    [`GIT_COMMITTER_${name}`, value],
  ]);
  const env = { HOME: cwd, GIT_CONFIG_NOSYSTEM: '1', ...Object.fromEntries(author) };
  const { code, said } = await started('git', words, { cwd, env });
  if (code !== 0) throw new Error(`git ${words.join(' ')}: ${said}`);
  return said.trim();
}
