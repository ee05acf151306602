// Rows for people and for spreadsheets. Whatever stands in a cell is data: no terminal, log or spreadsheet obeys it.
import { clip, columns, inert, visible } from '../report/index.js';

const GAP = 2;
const WIDEST = 60;

/** Columns as wide as what they hold, up to a limit; the last one is not padded. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head.map((name) => name.toUpperCase()), ...rows].map((row) => row.map((cell) => clip(visible(cell), WIDEST)));
  const widths = head.map((_, index) => Math.max(...cells.map((row) => columns(row[index] ?? ''))));
  const padded = (cell: string, index: number): string => cell + ' '.repeat((widths[index] as number) + GAP - columns(cell));
  return cells.map((row) => `${row.map(padded).join('').trimEnd()}\n`).join('');
}

/** RFC 4180. A text that a spreadsheet would take for a formula begins with an apostrophe. */
export function csv(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cell = (value: string | number): string => {
    const text = typeof value === 'number' ? String(value) : visible(value).replace(/^(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20|%]|\\[tr])/u, "'");
    return /[",]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [head, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** JSON as it came, keys in their order. */
export const plainJson = (value: unknown): string => `${inert(JSON.stringify(value, null, 2))}\n`;
