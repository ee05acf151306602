// Questions to git about the folder that a command runs in.
import { execFile } from 'node:child_process';

/** What git prints in the folder, trimmed; undefined where it fails, is not there, or the folder is in no repository. */
export const gitOutput = (cwd: string, ...words: readonly string[]): Promise<string | undefined> =>
  new Promise((done) => {
    execFile('git', words, { cwd, timeout: 10_000 }, (error, printed) =>
      done(error ? undefined : printed.trim()),
    );
  });
