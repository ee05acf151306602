// The command as people run it: a process with an environment of its own, its answer, its time and its memory.
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The built command. */
export const TRUEUP = join(import.meta.dirname, '../../dist/trueup.cjs');

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Another script than the built command. */
  readonly script?: string;
  /** After so many milliseconds the process is killed; default 30,000. */
  readonly patience?: number;
  /** Another Node.js than that of the tests. */
  readonly node?: string;
}

export interface Ran {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
  /** Highest resident set that was seen. */
  readonly peakMiB: number;
}

export interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<Ran>;
}

/** Starts it; `ended` never rejects and always comes. Nothing of the tests' own environment but PATH is handed on. */
export function start(
  args: readonly string[],
  { cwd, env = {}, stdin, script = TRUEUP, patience = 30_000, node = process.execPath }: RunOptions,
): Running {
  const begun = performance.now();
  const child = spawn(node, [script, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], NO_COLOR: '1', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  let peak = 0;
  const look = setInterval(() => (peak = Math.max(peak, highWater(child.pid))), 20);
  const end = setTimeout(() => child.kill('SIGKILL'), patience);
  const ended = new Promise<Ran>((resolve) => {
    child.once('close', (code, signal) => {
      clearInterval(look);
      clearTimeout(end);
      const text = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString('utf8');
      resolve({
        code,
        signal,
        stdout: text(stdout),
        stderr: text(stderr),
        milliseconds: performance.now() - begun,
        peakMiB: peak / 1024,
      });
    });
  });
  return { process: child, ended };
}

/** VmHWM in KiB; 0 where the system does not tell, or the process is gone. */
function highWater(pid: number | undefined): number {
  try {
    return Number(
      /^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0,
    );
  } catch {
    return 0;
  }
}
