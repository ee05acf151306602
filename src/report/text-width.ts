// Columns of a terminal: the width of a text, and its line breaks. Widths are overestimated in doubt, so that no line
// is too long, whether or not the terminal joins emoji.
import { beginning, guard } from './escaping.js';

const wide =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1aff0}-\u{1b2ff}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const marks = /[\p{Mn}\p{Me}\u200c\u200d]/u;
const emojiForm = '\ufe0f';

const plain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** Columns that `text` (one line, no controls) takes. */
export function columns(text: string): number {
  if (plain(text)) return text.length;
  let count = 0;
  for (const character of text) count += columnsOf(character);
  return count;
}

function columnsOf(character: string): number {
  if (character === emojiForm) return 1;
  if (wide.test(character)) return 2;
  return marks.test(character) ? 0 : 1;
}

/** Whether `text` takes more than `available` columns. Reads only as far as needed: texts may have megabytes. */
function exceeds(text: string, available: number): boolean {
  const start = text.slice(0, available + 1);
  if (plain(start)) return start.length > available;
  let count = 0;
  for (const character of text) {
    count += columnsOf(character);
    if (count > available) return true;
  }
  return false;
}

/** Made when the first text needs it: it takes 8 ms. */
let segmenter: Intl.Segmenter | undefined;
const graphemes = (): Intl.Segmenter =>
  (segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' }));

/** UTF-16 units of a column that `cut` looks at: joined emoji have about 14, and a text may have megabytes. */
const UNITS_OF_A_COLUMN = 64;

/** The longest beginning of `text` (at least one character as people see it) that fits into `available` columns, and what is left. */
function cut(text: string, available: number): readonly [head: string, tail: string] {
  const most = Math.max(available, 1);
  if (plain(text.slice(0, most + 1))) return [text.slice(0, most), text.slice(most)];
  let head = '';
  let used = 0;
  for (const { segment } of graphemes().segment(beginning(text, most * UNITS_OF_A_COLUMN))) {
    used += columns(segment);
    if (used > available && head !== '') break;
    head += segment;
  }
  return [head, text.slice(head.length)];
}

/** `text` in at most `available` columns, with `…` where something was left out. */
export function clip(text: string, available: number): string {
  return exceeds(text, available) ? cut(text, available - 1)[0] + '…' : text;
}

/** The spaces at which a text may be broken: all but those between a flag and its value. */
const SPACES = /(?<!(?<![\w-])--[a-z][a-z-]*) /;

/** Words of which a code span is one, so that a command in it can be copied. */
function withWholeSpans(words: readonly string[]): readonly string[] {
  const spans: string[] = [];
  let isOpen = false;
  for (const word of words) {
    if (isOpen) spans[spans.length - 1] += ` ${word}`;
    else spans.push(word);
    if (word.split('`').length % 2 === 0) isOpen = !isOpen;
  }
  return isOpen ? words : spans;
}

/** Lines of at most `first` and then `rest` columns, broken at spaces where that is possible; none reads as a command to a CI log. @param breaks the spaces that are preferred */
export function wrap(
  text: string,
  first: number,
  rest: number = first,
  breaks: RegExp = SPACES,
): readonly string[] {
  const lines: string[] = [];
  let line = '';
  const available = (): number => (lines.length === 0 ? first : rest);
  const [indent = ''] = text.match(/^ */) ?? [];
  const fitting = (word: string, at: RegExp | string): readonly string[] =>
    exceeds(word, rest) ? word.split(at) : [word];
  const words = withWholeSpans(text.slice(indent.length).split(breaks))
    .flatMap((span) => fitting(span, breaks))
    .flatMap((word) => fitting(word, ' '));
  for (const [index, word] of words.entries()) {
    if (line !== '' && columns(line) + 1 + columns(word) <= available()) {
      line += ` ${word}`;
      continue;
    }
    if (line !== '') lines.push(line.trimEnd());
    line = guard(index === 0 ? indent + word : word);
    while (exceeds(line, available())) {
      const [head, tail] = cut(line, available());
      lines.push(head);
      line = guard(tail);
    }
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line.trimEnd()];
}
