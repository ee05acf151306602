// One file as it is read and shown: its text, the offsets of its lines, and the few lines around a place with every
// possible secret blanked out. Pages are opened on demand and not kept.
import { isSecretName, nearest, type Origin } from '../model/index.js';

export interface SourceText {
  readonly text: string;
  /** Offset of each line. */
  readonly starts: readonly number[];
}

export type Position = Pick<Origin, 'line' | 'column'>;

export function indexLines(text: string): SourceText {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return { text, starts };
}

/** Line and column of an offset, both from 1. */
export function positionOf({ starts }: SourceText, offset: number): Position {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - starts[low]! + 1 };
}

function lineOf({ text, starts }: SourceText, line: number): string {
  const start = starts[line - 1];
  if (start === undefined) return '';
  const stop = text.indexOf('\n', start);
  return text.slice(start, stop < 0 ? text.length : stop).replace(/\r$/, '');
}

/** For each line the column (from 0) behind which everything is blanked; -1 where all may be shown. */
export type Veil = readonly number[];

const KEY = /(?<![\w-])(?:"([^"]*)"|'([^']*)'|([A-Za-z_][\w-]*))\s*:|^[ \t-]*\?\s+["']?([\w-]+)/g;
const SOURCE_ONLY = /^[ \t]*["']?\$\{secret\.[^}"']*\}["']?[ \t}\]]*(?:,|#.*)?$/;
/** No more of a line is looked at; what lies beyond is never shown. */
const LOOKED_AT = 2_000;

/**
 * A secret's value reaches from its key to the next key that stands no deeper, whatever is written between. Keys that
 * are near a secret's name count too, because a value is no less secret for a slip in its key.
 */
export function redactedColumns(page: SourceText, names: ReadonlySet<string>): Veil {
  let depth = -1;
  return page.starts.map((_, index) => {
    const line = lineOf(page, index + 1);
    const start = line.slice(0, LOOKED_AT);
    const indent = start.search(/\S/);
    if (indent < 0) return line.length > LOOKED_AT ? 0 : -1;
    const keys = keysIn(start, names);
    const first = keys[0];
    const leads = first !== undefined && !/[^-\s]/.test(start.slice(indent, first.start));
    if (depth >= 0 && (indent > depth || !leads))
      return leads && first.secret && SOURCE_ONLY.test(start.slice(first.end)) ? -1 : 0;
    const secret = keys.find(
      (key, at) =>
        key.secret &&
        !SOURCE_ONLY.test(start.slice(key.end)) &&
        !(keys[at + 1]?.secret && /^\s*\{?\s*$/.test(start.slice(key.end, keys[at + 1]?.start))),
    );
    depth = secret ? indent : -1;
    if (!secret) return line.length > LOOKED_AT ? LOOKED_AT : -1;
    return start.slice(secret.end).trim() === '' ? -1 : secret.end;
  });
}

const keysIn = (line: string, names: ReadonlySet<string>) =>
  [...line.matchAll(KEY)].map((match) => {
    const name = match.slice(1).find((part) => part !== undefined) ?? '';
    return {
      start: match.index,
      end: match.index + match[0].length,
      secret: mayBeSecret(name, names),
    };
  });

const mayBeSecret = (name: string, names: ReadonlySet<string>): boolean =>
  names.has(name) ||
  isSecretName(name) ||
  /secret|password|token/i.test(name) ||
  nearest(name, names) !== undefined;

/** Columns of a line that are shown: with what stands before them, they fit into 80. */
const WIDEST = 64;
const pictures = (character: string): string => {
  if (character === '\t') return '→';
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '␡' : '\uFFFD';
};
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** The line of a place with its neighbours, numbered, and a caret below; one character stays one column. */
export function frame(page: SourceText, hidden: Veil, { line, column }: Position): string {
  const from = column < WIDEST ? 0 : column - WIDEST / 2;
  const width = String(line + 1).length;
  const shown: string[] = [];
  const last = Math.min(page.starts.length, line + 1);
  for (let number = Math.max(1, line - 1); number <= last; number += 1) {
    const text = clip(blank(lineOf(page, number), hidden[number - 1] ?? -1), from);
    const sign = number === line ? '>' : ' ';
    shown.push(`${sign} ${String(number).padStart(width)} | ${text}`.trimEnd());
    if (number === line)
      shown.push(`  ${' '.repeat(width)} | ${' '.repeat(column - 1 - from + (from > 0 ? 1 : 0))}^`);
  }
  return shown.join('\n');
}

function blank(line: string, from: number): string {
  if (from < 0) return line;
  return `${line.slice(0, from)}${from === 0 ? (/^\s*/.exec(line)?.[0] ?? '') : ' '}(sensitive)`;
}

function clip(line: string, from: number): string {
  const cut = line.slice(from, from + WIDEST).replace(UNPRINTABLE, pictures);
  return `${from > 0 ? '…' : ''}${cut}${line.length > from + WIDEST ? '…' : ''}`;
}
