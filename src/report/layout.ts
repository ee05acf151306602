// Laying text out for a terminal: wrapped below its own beginning, painted after it is measured.
import { oneLine, remark, rows, type Difference } from './differences.js';
import { shorten, visible } from './escaping.js';
import type { Paint, Palette } from './style.js';
import { columns, wrap } from './text-width.js';

export type Lines = Generator<string, void, undefined>;

/** Characters of one text. */
const longest = 20_000;

const unpainted: Paint = (text) => text;

export interface Flow {
  readonly width: number;
  /** Stands before the first line: signs and indentation of ours, never text from elsewhere. */
  readonly lead?: string;
  /** Indentation of the following lines; that of the first where absent. */
  readonly hang?: number;
  readonly paint?: Paint;
  readonly paintLead?: Paint;
}

/** One piece of text from anywhere, made visible and wrapped. */
export function* flow(
  text: string,
  { width, lead = '', hang = columns(lead), paint = unpainted, paintLead = unpainted }: Flow,
): Lines {
  const [first = '', ...rest] = wrap(
    visible(shorten(text, longest)),
    width - columns(lead),
    width - hang,
  );
  yield first === '' ? lead.trimEnd() : paintLead(lead) + paint(first);
  for (const line of rest) yield ' '.repeat(hang) + paint(line);
}

/** Several lines of text from anywhere, each wrapped. */
export function* paragraphs(text: string, layout: Flow): Lines {
  for (const line of text.split('\n')) yield* flow(line, layout);
}

const signed = (color: Palette, sign: string): Paint =>
  ({ '-': color.red, '+': color.green })[sign] ?? color.dim;

/** Attribute by attribute: one line each where it fits, else its members or lines below its path. */
export function* differenceLines(
  differences: readonly Difference[],
  color: Palette,
  width: number,
  indent: number,
): Lines {
  const lead = ' '.repeat(indent);
  const aligned = Math.min(
    differences.reduce(
      (most, one) =>
        oneLine(one) === undefined ? most : Math.max(most, columns(visible(one.path))),
      0,
    ),
    36,
  );
  for (const difference of differences) {
    const path = visible(difference.path);
    const later = remark(difference);
    const line = oneLine(difference);
    const whole = `${lead}${path}${' '.repeat(Math.max(aligned - columns(path), 0))}  `;
    if (line !== undefined && columns(whole + line + later) <= width) {
      yield whole + line + (later && color.dim(later));
      continue;
    }
    yield* flow(path + later, { width, lead });
    for (const { sign, text } of rows(difference))
      yield* flow(text, {
        width,
        lead: `${lead}  ${sign} `,
        paint: signed(color, sign),
        paintLead: signed(color, sign),
      });
  }
}

/** The sentence that ends a report; what is too wide is broken behind its semicolon. */
export function* closing(sentence: string, color: Palette, width: number): Lines {
  yield* paragraphs(columns(sentence) <= width ? sentence : sentence.replace('; ', ';\n'), {
    width,
    paint: color.bold,
  });
}
