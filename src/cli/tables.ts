// Rows for people and for spreadsheets. Whatever stands in a cell is data: no terminal, log or spreadsheet obeys it.
import { clip, columns, inert, visible } from '../report/index.js';

const GAP = 2;
const WIDEST = 60;
/** Of a text that no cell holds anyway only so much is looked at. */
const LONGEST = 1000;

/** Rows that come in pieces. */
export interface Lines {
  readonly head: string;
  rows(rows: readonly (readonly string[])[]): string;
}

/** Columns as wide as what the first rows hold, up to a limit; what is wider in later ones is clipped. The last column is not padded. */
export function columned(head: readonly string[], first: readonly (readonly string[])[]): Lines {
  const shown = (cell: string, room = WIDEST): string => clip(visible(cell.length > LONGEST ? `${cell.slice(0, LONGEST)}…` : cell), room);
  const title = head.map((name) => shown(name.toUpperCase()));
  const widths = title.map((name, index) => first.reduce((widest, row) => Math.max(widest, columns(shown(row[index] ?? ''))), columns(name)));
  const padded = (cell: string, index: number): string => {
    const text = shown(cell, index === head.length - 1 ? WIDEST : widths[index]);
    return text + ' '.repeat(Math.max(0, (widths[index] as number) + GAP - columns(text)));
  };
  const line = (row: readonly string[]): string => `${row.map(padded).join('').trimEnd()}\n`;
  return { head: line(title), rows: (rows) => rows.map(line).join('') };
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = columned(head, rows);
  return lines.head + lines.rows(rows);
}

/** A row after RFC 4180. A text that a spreadsheet would take for a formula begins with an apostrophe. */
export function csvRow(row: readonly (string | number)[]): string {
  const cell = (value: string | number): string => {
    const text = typeof value === 'number' ? String(value) : visible(value).replace(/^(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20|%]|\\[tr])/u, "'");
    return /[",]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `${row.map(cell).join(',')}\r\n`;
}

/** What may not be inert in JSON text. Most of it holds none of this, and a search costs less than a replacement. */
const suspicious = /[^\n\x20-~]|##/;

/** JSON text, or lines of it, made inert; it stays valid and equal. */
export const inertJson = (text: string): string => (suspicious.test(text) ? inert(text) : text);
