// The progress of a run: a line redrawn on a terminal, a line now and then elsewhere, or JSON lines with `--json`.
import type { Emit } from '../model/index.js';
import type { Ndjson } from '../report/index.js';
import { eventWithCommands } from './commands-to-type.js';
import type { Context } from './context.js';

export interface Watch {
  readonly emit: Emit;
  /** Present with `--json`. */
  readonly lines?: Ndjson;
  /** From here on changes are counted against `total`. */
  expect(total: number): void;
  end(): void;
}

/** Milliseconds between two drawings of the line, two lines where nothing is drawn over, two signs of life in JSON. */
const PACE = { drawn: 80, lines: 10_000, json: 10_000 };

export async function watch(context: Context): Promise<Watch> {
  const { out, err, clock } = context;
  if (context.flags.json) {
    const lines = await context.events();
    const beat = setInterval(() => out.write(lines.progress()), PACE.json);
    return {
      lines,
      emit: (event) =>
        out.write(lines.event(context.masking.said(eventWithCommands(event, context.said)))),
      expect: () => undefined,
      end: () => clearInterval(beat),
    };
  }
  const { advance, noProgress, progressLine } = await import('../report/index.js');
  let progress = noProgress();
  let last = clock.monotonic() - (err.animated ? PACE.drawn : 0);
  return {
    emit(event) {
      progress = advance(progress, event);
      context.debug(() => JSON.stringify(event));
      if (event.type === 'diagnostic') void context.tell([event.diagnostic]);
      const now = clock.monotonic();
      if (now - last < (err.animated ? PACE.drawn : PACE.lines) && event.type !== 'waiting') return;
      last = now;
      const line = progressLine(progress, err.style);
      if (line === '') return;
      if (err.animated) err.status(line);
      else err.write(`${line}\n`);
    },
    expect: (total) => (progress = noProgress(total)),
    end: () => err.status(undefined),
  };
}
