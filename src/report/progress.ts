// The progress line of a run. Pure: the command line has the stream, the cursor and the clock.
import type { Event } from '../model/index.js';
import { visible } from './escaping.js';
import { screenOf, type Style } from './style.js';
import { clip } from './text-width.js';
import { during } from './words.js';

export interface Progress {
  /** Changes that send something, or zero before they are known. */
  readonly total: number;
  readonly ended: number;
  readonly failed: number;
  /** Running changes by address. */
  readonly running: ReadonlyMap<string, string>;
  /** Objects read so far, by kind. */
  readonly reading: ReadonlyMap<string, number>;
  /** Distinct secrets compared so far, of how many. */
  readonly comparing?: { readonly done: number; readonly total: number };
  /** Why nothing moves, until the next event. */
  readonly waiting?: string;
}

export function noProgress(total: number = 0): Progress {
  return { total, ended: 0, failed: 0, running: new Map(), reading: new Map() };
}

export function advance(progress: Progress, event: Event): Progress {
  const { waiting: _, ...moving } = progress;
  const running = new Map(moving.running);
  switch (event.type) {
    case 'reading':
      return { ...moving, reading: new Map([...moving.reading, [event.kind, event.objects]]) };
    case 'comparing':
      return { ...moving, comparing: event };
    case 'start':
      running.set(event.address, `${during[event.action]} ${event.address}`);
      return { ...moving, running };
    case 'end': {
      const { address, outcome } = event.outcome;
      running.delete(address);
      const failed = moving.failed + (outcome === 'done' ? 0 : 1);
      return { ...moving, running, ended: moving.ended + (event.late ? 0 : 1), failed };
    }
    case 'waiting': {
      const seconds = Math.ceil(event.milliseconds / 1000);
      return { ...moving, waiting: `waiting ${seconds} s: ${event.why}` };
    }
    case 'diagnostic':
      return progress;
  }
}

/** At most `width - 1` columns, without a line feed; empty where there is nothing to tell. What it waits for stands first: it is not cut off. */
export function progressLine(progress: Progress, style: Style): string {
  const { total, ended, failed, running, reading, comparing, waiting } = progress;
  const applying = total > 0 || running.size > 0 || ended > 0;
  const isReading = !applying && waiting === undefined;
  const kinds = [...reading].map(([kind, objects]) => `${kind} ${objects}`);
  const parts = [
    waiting,
    applying && `${ended}/${Math.max(total, ended + running.size)}`,
    isReading && kinds.length > 0 && `reading ${kinds.join(', ')}`,
    isReading && comparing && `comparing secrets ${comparing.done}/${comparing.total}`,
    failed > 0 && `${failed} not done`,
    ...running.values(),
  ].filter((part) => typeof part === 'string');
  return screenOf(style).dim(clip(visible(parts.join(' · ')), style.width - 1));
}
