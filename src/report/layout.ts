// Lays out text for a terminal: wrapped with indentation, coloured after its width is measured.
import { inline, oneLine, remark, rows, type Difference } from './differences.js';
import { guard, shorten, visible } from './escaping.js';
import type { Json } from '../model/index.js';
import type { Paint, Screen } from './style.js';
import { columns, wrap } from './text-width.js';

export type Lines = Generator<string, void, undefined>;

/** Characters of one text. */
const longest = 20_000;

const unpainted: Paint = (text) => text;

export interface Flow {
  /** Precedes the first line: signs and indentation of trueup, never text from outside. */
  readonly lead?: string;
  /** Indentation of the following lines; that of the first where absent. */
  readonly hang?: number;
  readonly paint?: Paint;
  readonly paintLead?: Paint;
  /** The spaces at which it is broken if possible. */
  readonly breaks?: RegExp;
}

/** One piece of text from anywhere, made visible and wrapped. */
export function* flow(
  text: string,
  { width }: Screen,
  { lead = '', hang = columns(lead), paint = unpainted, paintLead = unpainted, breaks }: Flow = {},
): Lines {
  const shown = visible(shorten(text, longest));
  const [first = '', ...rest] = wrap(shown, width - columns(lead), width - hang, breaks);
  yield first === '' ? lead.trimEnd() : paintLead(lead) + paint(first);
  for (const line of rest) yield ' '.repeat(hang) + paint(line);
}

/** Text of less importance than the lines above it. */
export const aside = (text: string, screen: Screen, indent = 0): Lines =>
  flow(text, screen, { lead: ' '.repeat(indent), paint: screen.dim });

/** A value, broken only between its members: what is copied is JSON. */
export function* jsonLines(value: Json, { width, dim }: Screen, indent: number): Lines {
  const text = shorten(inline(value), longest);
  let line = '';
  for (const member of text.match(/(?:"(?:[^"\\]|\\.)*"?|[^" ])+/g) ?? []) {
    const longer = line === '' ? member : `${line} ${member}`;
    if (line === '' || columns(longer) <= width - indent) line = longer;
    else {
      yield ' '.repeat(indent) + dim(guard(line));
      line = member;
    }
  }
  yield ' '.repeat(indent) + dim(guard(line));
}

/** Lines below their title, followed by an empty line; empty without lines. */
export function* section(title: string, lines: Iterable<string>, screen: Screen): Lines {
  const all = [...lines];
  if (all.length > 0) yield* [screen.bold(title), ...all, ''];
}

/**
 * Attribute by attribute: one line each where it fits, else its members or lines below its path.
 * @param isUpdate as for `oneLine`
 */
export function* differenceLines(
  differences: readonly Difference[],
  screen: Screen,
  isUpdate = false,
): Lines {
  const lead = '    ';
  const widest = differences.reduce(
    (most, one) =>
      oneLine(one) === undefined && remark(one) === ''
        ? most
        : Math.max(most, columns(visible(one.path))),
    0,
  );
  for (const difference of differences) {
    const path = visible(difference.path);
    const later = remark(difference);
    const line = oneLine(difference, isUpdate);
    const padded = path + ' '.repeat(Math.max(Math.min(widest, 36) - columns(path), 0));
    const whole = `${lead}${padded}  `;
    if (line !== undefined && columns(whole + line + later) <= screen.width)
      yield whole + line + (later && screen.dim(later));
    else {
      const isAligned = columns(lead + padded + later) <= screen.width;
      yield* flow((isAligned ? padded : path) + later, screen, { lead });
      for (const { sign, text } of rows(difference)) {
        const paint = { '-': screen.red, '+': screen.green, ' ': screen.dim }[sign];
        yield* flow(text, screen, { lead: `${lead}  ${sign} `, paint, paintLead: paint });
      }
    }
    if (difference.below !== undefined) yield* aside(difference.below, screen, lead.length + 2);
  }
}

/** The spaces between the parts of a sentence. */
export const BETWEEN_PARTS = /(?<=[.:;,]) /;

/** The sentence that ends a report; what is too wide is broken between its parts. */
export const closing = (sentence: string, screen: Screen, paint: Paint = screen.bold): Lines =>
  flow(sentence, screen, { paint, breaks: BETWEEN_PARTS });
