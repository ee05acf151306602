// The real machine, as far as a lock depends on it. Linux shows when a process started and frees abstract sockets when
// their owner ends; on other systems a process is known only by its number.
import { readFile, readlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname, userInfo } from 'node:os';
import { readBootId } from './clock.js';
import type { LockPort } from './index.js';
import { errorCode } from '../model/index.js';

/** Looked at once: what it tells stays the same while a process runs. */
export const machine = (): Promise<LockPort> => (known ??= lookAtMachine());

let known: Promise<LockPort> | undefined;

async function lookAtMachine(): Promise<LockPort> {
  const pidNamespace = await readlink('/proc/self/ns/pid').catch(() => null);
  const bootId = readBootId();
  return { host: hostname(), bootId, pid: process.pid, pidNamespace, every, find, hold };
}

/** The name of the user that runs this process, or the number of one that the system has no name for. Looked at once. */
export const userName = (): string => (knownUser ??= lookAtUser());

let knownUser: string | undefined;

function lookAtUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

function every(milliseconds: number, work: () => void): () => void {
  const timer = setInterval(work, milliseconds).unref();
  return () => clearInterval(timer);
}

async function find(pid: number): Promise<{ readonly startTime: string | null } | undefined> {
  if (!isRunning(pid)) return undefined;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return isRunning(pid) ? { startTime: null } : undefined;
  // The second field is the name in brackets, and may hold spaces and brackets itself: count from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : { startTime: fields[19] ?? null };
}

/** Whether a process of this machine goes by that number. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

function hold(name: string): ReturnType<LockPort['hold']> {
  if (process.platform !== 'linux') return Promise.resolve('absent');
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'EADDRINUSE' ? 'taken' : 'absent'),
    );
    server.listen(`\0trueup-${name}`, () => {
      server.unref();
      resolve({ release: () => new Promise((done) => void server.close(() => done())) });
    });
  });
}
