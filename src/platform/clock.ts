// The real clock: wall time, a monotonic one for durations, and a sleep that can be interrupted.
import { readFileSync } from 'node:fs';
import { uptime as systemUptime } from 'node:os';
import { hrtime } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import type { Clock } from './index.js';

const LONGEST_TIMER = 2 ** 31 - 1;

/** @param uptime seconds since the machine started, with the time that it slept */
export function systemClock(uptime: () => number = systemUptime): Clock {
  return { now: () => Date.now(), monotonic, boot: bootClock(uptime), sleep };
}

/** Milliseconds for which a reading of the system counts: asking takes as long as much of the work on a request. */
const FRESH = 10;

interface Asked {
  readonly at: number;
  readonly wall: number;
  readonly milliseconds: number;
}

/** The system is asked again if the wall clock and the monotonic one disagree: the machine may have slept. */
function bootClock(uptime: () => number): Clock['boot'] {
  let asked: Asked | undefined;
  return () => {
    const [at, wall] = [monotonic(), Date.now()];
    const passed = asked ? at - asked.at : Infinity;
    if (!asked || passed > FRESH || Math.abs(wall - asked.wall - passed) > FRESH)
      asked = ask(uptime, asked);
    const milliseconds = asked.milliseconds + Math.max(0, at - asked.at);
    return { id: (bootId ??= readBootId()), milliseconds };
  };
}

/** Never less than before. The monotonic clock is read last: a process that stands still in between is not ahead for good. */
function ask(uptime: () => number, before: Asked | undefined): Asked {
  const milliseconds = uptime() * 1000;
  const [at, wall] = [monotonic(), Date.now()];
  const least = before ? before.milliseconds + at - before.at : 0;
  return { at, wall, milliseconds: Math.max(milliseconds, least) };
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
