// The real clock: wall time, a monotonic one for durations, and a sleep that can be interrupted.
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { hrtime } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import type { Clock } from './index.js';

const LONGEST_TIMER = 2 ** 31 - 1;

export function systemClock(): Clock {
  return { now: () => Date.now(), monotonic, boot, sleep };
}

function boot(): ReturnType<Clock['boot']> {
  return { id: (bootId ??= readBootId()), milliseconds: uptime() * 1000 };
}

let bootId: string | null | undefined;

/** Identifies this boot of the machine; null if the system does not show it. */
export function readBootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return null;
  }
}

/** Node loads `performance` when it is first asked for, which takes longer than many a request. */
function monotonic(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** The timer of Node rejects with an error of its own, which has the reason of the signal as its cause. */
async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  const until = Math.min(milliseconds, LONGEST_TIMER);
  await setTimeout(until, undefined, { signal }).catch(() => {
    throw signal?.reason;
  });
}
