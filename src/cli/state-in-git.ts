// A state file under version control: every branch and every clone has another one, and it names live objects.
import { relative } from 'node:path';
import { isAddress, shellWord, type Diagnostic, warning } from '../model/index.js';
import { gitOutput } from './git-command.js';

/** A warning if git tracks the state file, or would add it. `location`: as the store names it; `cwd`: its folder. */
export async function stateInGit(cwd: string, location: string): Promise<Diagnostic | undefined> {
  if (isAddress(location)) return undefined;
  const status = await gitOutput(
    cwd,
    '--no-optional-locks',
    'status',
    '--porcelain',
    '--ignored=matching',
    '--untracked-files=all',
    '--',
    location,
  );
  if (status === undefined || status.startsWith('!!')) return undefined;
  const isTracked = !status.startsWith('??');
  const path = relative(cwd, location);
  // The files beside it hold its history and its journal.
  const files = `${path}*`;
  return warning(
    'state-in-git',
    isTracked
      ? `The state ${path} is under version control.`
      : `git does not ignore the state ${path}.`,
    [
      'Every branch and every clone would have a state of its own, and one of them is always old.',
      'A team shares a state on a server (docs/how-to/share-a-state.md of the trueup package).',
      `Add ${files} to .gitignore.`,
      ...(isTracked ? [`Then type: git rm --cached ${shellWord(files)}`] : []),
    ].join('\n'),
  );
}
