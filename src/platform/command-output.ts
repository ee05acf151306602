// Runs a command for the text that it prints, such as the client of a secret manager.
import { spawnSync } from 'node:child_process';
import type { CommandOutput } from './index.js';

const SECONDS = 30;
/** Bytes of what a command prints, and characters of what it says about a failure. */
const [LONGEST, TOLD] = [1_048_576, 500];

/** Without a shell. The command is stopped after 30 s, or after 1 MiB. */
export const commandOutput: CommandOutput = ([command = '', ...words], { cwd, environment }) => {
  const { status, signal, stdout, stderr, error } = spawnSync(command, words, {
    cwd,
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: SECONDS * 1000,
    killSignal: 'SIGKILL',
    maxBuffer: LONGEST,
    windowsHide: true,
  });
  const said = stderr?.trim().replaceAll(/\s+/g, ' ').slice(-TOLD);
  const failed = (why: string) => ({ problem: said ? `${why}. It said: ${said}` : why });
  switch (error && 'code' in error ? error.code : undefined) {
    case undefined:
      break;
    case 'ENOENT':
      return { problem: `there is no command \`${command}\` on the PATH` };
    case 'ETIMEDOUT':
      return failed(`it did not end within ${SECONDS} s`);
    case 'ENOBUFS':
      return failed('it printed more than 1 MiB');
    default:
      return { problem: `it cannot be run (${String(error?.message)})` };
  }
  return status === 0 ? { text: stdout } : failed(`it ended with ${signal ?? String(status)}`);
};
