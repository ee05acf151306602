// Tables for people and for spreadsheets. A cell is data: no terminal, log or spreadsheet interprets it as a command.
import { clip, columns, guard, inert, visible } from '../report/index.js';
import type { ExactNumber } from '../model/index.js';
import type { Context } from './context.js';

const GAP = 2;
const WIDEST = 60;
/** The least width that a column is clipped to. */
const NARROWEST = 8;
/** The most characters of a text that are read: no cell shows more. */
const LONGEST = 1000;

/** The width of lines, and the columns that are clipped last: the first of them is the last to be. */
export interface TableColumns {
  readonly columns: number;
  readonly kept?: readonly number[];
  /** The column that is clipped first if all columns are shown then, and last if not. */
  readonly id?: number;
}

/** The width of a line: for a table on a terminal, the width of the terminal. */
export const columnsFor = ({ out, flags }: Context): number =>
  out.terminal && flags.output === 'table' ? out.style.width : Infinity;

const ENDLESS: TableColumns = { columns: Infinity };

/** Rows that come in pieces: columns as wide as what the first rows hold, up to a limit and to the width of the terminal; what is wider in later ones is clipped. The last column is not padded. `hidden`: how many columns have no space. */
export function columned(
  head: readonly string[],
  first: readonly (readonly string[])[],
  available = ENDLESS,
) {
  const shown = (cell: string, width = WIDEST): string =>
    clip(visible(cell.length > LONGEST ? `${cell.slice(0, LONGEST)}…` : cell), width);
  const title = head.map((name) => shown(name.toUpperCase()));
  const widest = (name: string, index: number): number =>
    first.reduce((most, row) => Math.max(most, columns(shown(row[index] ?? ''))), columns(name));
  const wanted = title.map(widest);
  const widths = fitting(wanted, available);
  let isClipped = false;
  const padded = (cell: string, index: number): string => {
    const text = shown(cell, index === head.length - 1 ? WIDEST : widths[index]);
    isClipped ||= text.endsWith('…') && text !== visible(cell);
    return text + ' '.repeat(Math.max(0, widths[index]! + GAP - columns(text)));
  };
  const line = (row: readonly string[]): string => {
    const cells = row.slice(0, widths.length).map(padded);
    return `${clip(guard(cells.join('').trimEnd()), available.columns)}\n`;
  };
  return {
    head: line(title),
    rows: (rows: readonly (readonly string[])[]): string => rows.map(line).join(''),
    hidden: head.length - widths.length,
    isClipped: () => isClipped,
  };
}

interface Shortened {
  readonly hidden: number;
  readonly isClipped: () => boolean;
}

/** Where columns have no space, or values are cut. @param whole the format that shows all */
export function shortenedSentence({ hidden, isClipped }: Shortened, whole: string): string {
  const [some, are] = hidden === 1 ? ['column', 'is'] : ['columns', 'are'];
  if (hidden > 0) return `${hidden} ${some} ${are} not shown here. To see all: -o ${whole}\n`;
  return isClipped() ? `Some values are shortened. To see all: -o ${whole}\n` : '';
}

const whole = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width + GAP, -GAP);

/** The widths of the columns that fit. An identifier gives first where all columns fit then: else it stays whole, since only so it can be copied. */
function fitting(
  wanted: readonly number[],
  { columns: available, kept = [], id }: TableColumns,
): readonly number[] {
  if (id === undefined) return limited(wanted, available, kept);
  const space = available - whole(wanted.with(id, 0));
  const least = Math.min(wanted[id]!, Math.max(space, NARROWEST));
  const all = limited(wanted.with(id, least), available, kept);
  return all.length === wanted.length ? all : limited(wanted, available, [id, ...kept]);
}

/** The widest give first, until all of them fit. Those that are kept give only what they have no space for themselves. What still has no space is left out. */
function limited(
  wanted: readonly number[],
  available: number,
  kept: readonly number[],
): readonly number[] {
  const keptWidths: number[] = [];
  for (const index of kept) {
    const space = available - whole([...keptWidths, 0]);
    keptWidths.push(Math.min(wanted[index]!, Math.max(space, NARROWEST)));
  }
  const most = (limit: number): readonly number[] =>
    wanted.map((width, index) => keptWidths[kept.indexOf(index)] ?? Math.min(width, limit));
  let limit = WIDEST;
  while (limit > NARROWEST && whole(most(limit)) > available) limit -= 1;
  const widths = most(limit);
  return widths.filter((_, index) => index === 0 || whole(widths.slice(0, index + 1)) <= available);
}

export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  available?: TableColumns,
): string {
  const lines = columned(head, rows, available);
  return lines.head + lines.rows(rows);
}

export type Cell = string | number | ExactNumber;

/** A row after RFC 4180. A text that a spreadsheet would take for a formula begins with an apostrophe; one that a CI log would take for a command stands in quotes. */
export function csvRow(row: readonly Cell[]): string {
  const cell = (value: Cell): string => {
    const text =
      typeof value === 'string'
        ? visible(value).replace(/^(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20|%]|\\[tr])/u, "'")
        : String(value);
    return /[",]|^\s|\s$|^::/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `${row.map(cell).join(',')}\r\n`;
}

/** Characters in JSON text that may need a replacement. Most texts contain none, and a search costs less than a replacement. */
const suspicious = /[^\n\x20-~]|##/;

/** JSON text, or lines of it, made inert; it stays valid and equal. */
export const inertJson = (text: string): string => (suspicious.test(text) ? inert(text) : text);
