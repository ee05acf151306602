// Programs that trueup starts: each in a process group of its own, ended with whatever it started.
import type { ChildProcess } from 'node:child_process';
import { errorCode } from '../model/index.js';

/** For `spawn`. A program runs in a group of its own where there are groups. */
export const GROUPED = process.platform !== 'win32';
export const TOO_LATE = 'too late';

/** Milliseconds in which the last output of a program is still read. */
const LINGER = 1_000;
/** Milliseconds between asking a program to end and ending it. */
const GRACE = 5_000;

/** One listener for the programs of all tenants: Node takes more than ten for a leak. */
const ends = new Set<() => void>();
const endAll = (): void => ends.forEach((end) => end());

/** Does it when the process ends. @returns takes it back */
function beforeExit(end: () => void): () => void {
  if (ends.size === 0) process.prependOnceListener('exit', endAll);
  ends.add(end);
  return () => {
    ends.delete(end);
    if (ends.size === 0) process.removeListener('exit', endAll);
  };
}

/**
 * Waits for a program, and stops it after `seconds` or when the signal comes.
 * @returns its exit code, the signal that ended it, or `TOO_LATE`; rejects where it cannot be started
 */
export function endOf(
  child: ChildProcess,
  { signal, seconds }: { readonly signal: AbortSignal; readonly seconds: number },
): Promise<number | string> {
  const end = (): void => signalAll(child, 'SIGKILL');
  let insisting: NodeJS.Timeout | undefined;
  const stop = (): void => {
    signalAll(child, 'SIGTERM');
    insisting ??= setTimeout(end, GRACE);
  };
  let late = false;
  const deadline = setTimeout(() => {
    late = true;
    stop();
  }, seconds * 1000);
  signal.addEventListener('abort', stop, { once: true });
  // A command that is left at once waits for nobody; nothing more is written then.
  const forget = beforeExit(end);
  return new Promise((resolve, reject) => {
    const over = (): void => {
      clearTimeout(deadline);
      clearTimeout(insisting);
      signal.removeEventListener('abort', stop);
      forget();
    };
    child.once('error', (error) => {
      over();
      reject(error);
    });
    // Child processes that outlive the program keep its output open: they are ended and not waited for.
    child.once('exit', () => {
      clearTimeout(deadline);
      signalAll(child, 'SIGTERM');
      setTimeout(
        () => [child.stdout, child.stderr].forEach((one) => one?.destroy()),
        LINGER,
      ).unref();
    });
    child.once('close', (code, ended) => {
      // The program ends when it is asked to. What it started may not.
      if (insisting) end();
      over();
      resolve(late ? TOO_LATE : (code ?? String(ended)));
    });
  });
}

/** Part of a sentence, which begins "it …". @param code as `endOf` returns it */
export const endWords = (code: number | string): string =>
  typeof code === 'number' ? `ended with exit code ${code}` : `was ended by ${code}`;

/** Whatever the program started is signalled with it. */
export function signalAll(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (GROUPED) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
