// Runs a command for the text that it prints, such as the client of a secret manager.
import { isUtf8 } from 'node:buffer';
import { spawn, type ChildProcess } from 'node:child_process';
import { endOf, endWords, GROUPED, signalAll, TOO_LATE } from './child-process.js';
import type { CommandOutput } from './index.js';
import { errorCode, NOT_UTF8 } from '../model/index.js';

const SECONDS = 30;
/** Bytes. */
const LONGEST = 1_048_576;

/** Without a shell. What it says on stderr may hold a secret, and is not read. It is stopped after 30 s, or after 1 MiB. */
export const commandOutput: CommandOutput = async ([command = '', ...words], where) => {
  const { cwd, environment: env, signal } = where;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    const child: ChildProcess = spawn(command, words, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: GROUPED,
      windowsHide: true,
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= LONGEST) chunks.push(chunk);
      else signalAll(child, 'SIGKILL');
    });
    const code = await endOf(child, { signal, seconds: SECONDS });
    if (size > LONGEST) return { problem: 'it printed more than 1 MiB' };
    if (code === TOO_LATE) return { problem: `it did not end within ${SECONDS} s` };
    if (code !== 0) return { problem: `it ${endWords(code)}` };
    const bytes = Buffer.concat(chunks);
    return isUtf8(bytes) ? { value: bytes.toString('utf8') } : NOT_UTF8;
  } catch (error) {
    return {
      problem:
        errorCode(error) === 'ENOENT'
          ? `there is no command \`${command}\` on the PATH`
          : `it cannot be run (${errorCode(error) ?? 'unknown error'})`,
    };
  }
};
