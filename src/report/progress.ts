// The one line that tells how a run goes on. Pure: the command line owns the stream, the cursor and the clock.
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
  /** What runs, by address. */
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
  switch (event.type) {
    case 'reading':
      return { ...moving, reading: new Map([...moving.reading, [event.kind, event.objects]]) };
    case 'comparing':
      return { ...moving, comparing: event };
    case 'start':
      return {
        ...moving,
        running: new Map([
          ...moving.running,
          [event.address, `${during[event.action]} ${event.address}`],
        ]),
      };
    case 'end': {
      const running = new Map(moving.running);
      running.delete(event.outcome.address);
      return {
        ...moving,
        running,
        ended: moving.ended + 1,
        failed: moving.failed + (event.outcome.outcome === 'done' ? 0 : 1),
      };
    }
    case 'waiting':
      return {
        ...moving,
        waiting: `waiting ${Math.ceil(event.milliseconds / 1000)} s: ${event.why}`,
      };
    case 'diagnostic':
      return progress;
  }
}

/** At most `width - 1` columns, without a line feed; empty where there is nothing to tell. */
export function progressLine(progress: Progress, style: Style): string {
  const { total, ended, failed, running, reading, comparing, waiting } = progress;
  const applying = total > 0 || running.size > 0 || ended > 0;
  const parts = [
    ...(applying ? [`${ended}/${Math.max(total, ended + running.size)}`] : []),
    ...(!applying && reading.size > 0
      ? [`reading ${[...reading].map(([kind, objects]) => `${kind} ${objects}`).join(', ')}`]
      : []),
    ...(!applying && comparing ? [`comparing secrets ${comparing.done}/${comparing.total}`] : []),
    ...(failed > 0 ? [`${failed} not done`] : []),
    ...(waiting === undefined ? [] : [waiting]),
    ...running.values(),
  ];
  return screenOf(style).dim(clip(visible(parts.join(' · ')), style.width - 1));
}
