// Reads the plain subset of YAML that most declarations use, many times faster than a full parser. It declines any text
// outside the subset or with a possible error; then the full reader reads it and reports errors. For a text that it
// does not decline, both readers give the same values at the same offsets.
import { limits, plainText, type Marks, type Raw, type RawDocument } from './raw-values.js';

interface Cursor {
  readonly text: string;
  /** Containers down to this depth have their keys marked. */
  readonly marked: number;
  marks: Marks;
  /** Where reading stands, inside the current line. */
  at: number;
  /** End of the current line, its break left out. */
  end: number;
  /** Column of the line's content, from 0; -1 at the end of a document. */
  indent: number;
  /** Start of the line after this one. */
  next: number;
  /** How many tokens may still come. They are counted as the full reader's lexer does, or higher; beyond, that one decides. */
  tokens: number;
}

const declined = new Error('outside the plain subset');
const decline = (): never => {
  throw declined;
};

const code = (character: string): number => character.charCodeAt(0);
const [SPACE, HASH, COLON, DASH, QUOTE, APOSTROPHE, CR, COMMA, BACKSLASH] = [
  code(' '),
  code('#'),
  code(':'),
  code('-'),
  code('"'),
  code("'"),
  code('\r'),
  code(','),
  code('\\'),
];
const [BRACKET, BRACKET_END, BRACE, BRACE_END] = [code('['), code(']'), code('{'), code('}')];

/** A tab, a lone carriage return, a mark of byte order or a directive may mean anything. */
const STRANGE = /[\t\uFEFF]|\r(?!\n)|^%|^\.\.\./m;

function count(cursor: Cursor, tokens: number): void {
  cursor.tokens -= tokens;
  if (cursor.tokens < 0) decline();
}

/** The documents of `text`, empty ones left out; undefined where the full reader has to decide. */
export function tryQuick(
  text: string,
  marked: number,
  mostTokens: number = limits.tokens,
): readonly RawDocument[] | undefined {
  if (STRANGE.test(text)) return undefined;
  // One token begins the first document.
  const cursor: Cursor = {
    text,
    marked,
    marks: new Map(),
    at: 0,
    end: 0,
    indent: -1,
    next: 0,
    tokens: mostTokens - 1,
  };
  const documents: RawDocument[] = [];
  try {
    while (cursor.next < text.length) {
      advance(cursor);
      if (cursor.indent < 0) continue;
      cursor.marks = new Map();
      documents.push({ root: mapping(cursor, cursor.indent, 1), marks: cursor.marks });
      // A line that fits no block on its way ends here too.
      if (cursor.indent >= 0) decline();
    }
    return documents;
  } catch (error) {
    if (error === declined) return undefined;
    throw error;
  }
}

/** Goes to the next line that has content; a line of `---` ends the document. */
function advance(cursor: Cursor): void {
  const { text } = cursor;
  while (cursor.next < text.length) {
    const start = cursor.next;
    const found = text.indexOf('\n', start);
    const stop = found < 0 ? text.length : found;
    cursor.next = stop + 1;
    let at = start;
    while (text.charCodeAt(at) === SPACE) at += 1;
    cursor.at = at;
    cursor.end = stop > start && text.charCodeAt(stop - 1) === CR ? stop - 1 : stop;
    cursor.indent = at - start;
    // Its break, what it is indented by, and a comment.
    count(
      cursor,
      (found < 0 ? 0 : 1) + (at > start ? 1 : 0) + (text.charCodeAt(at) === HASH ? 1 : 0),
    );
    if (at >= cursor.end || text.charCodeAt(at) === HASH) continue;
    if (cursor.indent === 0 && text.startsWith('---', at)) {
      cursor.at += 3;
      count(cursor, 1);
      if (!restIsEmpty(cursor)) decline();
      cursor.indent = -1;
    }
    return;
  }
  cursor.indent = -1;
}

/** Skips spaces; whether only a comment or nothing is left of the line. */
function restIsEmpty(cursor: Cursor): boolean {
  const from = cursor.at;
  skipSpaces(cursor);
  if (cursor.at >= cursor.end) return true;
  if (cursor.text.charCodeAt(cursor.at) !== HASH || cursor.at === from) return false;
  count(cursor, 1);
  return true;
}

function skipSpaces(cursor: Cursor): void {
  const from = cursor.at;
  while (cursor.at < cursor.end && cursor.text.charCodeAt(cursor.at) === SPACE) cursor.at += 1;
  if (cursor.at > from) count(cursor, 1);
}

function isItem({ text, at, end }: Cursor): boolean {
  return text.charCodeAt(at) === DASH && (at + 1 >= end || text.charCodeAt(at + 1) === SPACE);
}

const NO_TEXT = /^(?:null|true|false|__proto__)$/i;
const LONGEST_KEY = 256;

const isKeyStart = (character: number): boolean =>
  (character >= 97 && character <= 122) || (character >= 65 && character <= 90) || character === 95;

/** Letters, digits, `_`, `-`, `.` and `/`. */
const isKeyPart = (character: number): boolean =>
  isKeyStart(character) || (character >= 45 && character <= 57);

/** Where the key at the cursor ends: quoted without escapes, or plain. -1 if there is none. */
function keyEnd({ text, at, end }: Cursor): number {
  const first = text.charCodeAt(at);
  let stop = at + 1;
  if (first === QUOTE || first === APOSTROPHE) {
    while (stop < end && text.charCodeAt(stop) !== first && text.charCodeAt(stop) !== BACKSLASH)
      stop += 1;
    return text.charCodeAt(stop) === first && text.charCodeAt(stop + 1) !== first ? stop + 1 : -1;
  }
  if (!isKeyStart(first)) return -1;
  while (stop < end && isKeyPart(text.charCodeAt(stop))) stop += 1;
  return stop;
}

/** The offset behind a key and its colon, if they are here; in a flow a quoted key needs no space behind the colon. */
function colonBehind(cursor: Cursor, stop: number, inFlow: boolean): boolean {
  const { text, end } = cursor;
  if (stop < 0 || stop >= end || stop - cursor.at > LONGEST_KEY || text.charCodeAt(stop) !== COLON)
    return false;
  if (stop + 1 < end)
    return (
      text.charCodeAt(stop + 1) === SPACE || (inFlow && !isKeyStart(text.charCodeAt(cursor.at)))
    );
  return !inFlow;
}

function tryKey(cursor: Cursor, inFlow: boolean): string | undefined {
  const stop = keyEnd(cursor);
  if (!colonBehind(cursor, stop, inFlow)) return undefined;
  const { text, at } = cursor;
  const plain = isKeyStart(text.charCodeAt(at));
  const key = plain ? text.slice(at, stop) : text.slice(at + 1, stop - 1);
  if (NO_TEXT.test(key) || (!plain && key.includes('${'))) return undefined;
  cursor.at = stop + 1;
  // A plain text is two tokens, and a colon is one.
  count(cursor, plain ? 3 : 2);
  return key;
}

function mapping(cursor: Cursor, indent: number, depth: number): Raw {
  const out: Record<string, Raw> = {};
  const marks = mark(cursor, out, depth);
  while (cursor.indent === indent && !isItem(cursor)) {
    const from = cursor.at;
    const key = tryKey(cursor, false);
    if (key === undefined || Object.hasOwn(out, key)) return decline();
    marks?.set(key, from);
    out[key] = blockValue(cursor, indent, depth + 1);
  }
  return out;
}

/** The marks of a container that begins here, where it is marked. */
function mark(cursor: Cursor, container: object, depth: number): Map<string, number> | undefined {
  if (depth > limits.levels) decline();
  if (depth > cursor.marked) return undefined;
  const marks = new Map<string, number>();
  cursor.marks.set(container, marks);
  return marks;
}

/** The value of a key of a mapping at `indent`: on its line, or as a block below. */
function blockValue(cursor: Cursor, indent: number, depth: number): Raw {
  if (!restIsEmpty(cursor)) return lineValue(cursor, depth);
  advance(cursor);
  if (isItem(cursor) && cursor.indent >= indent) return sequence(cursor, cursor.indent, depth);
  return cursor.indent > indent ? mapping(cursor, cursor.indent, depth) : null;
}

function sequence(cursor: Cursor, indent: number, depth: number): Raw {
  const out: Raw[] = [];
  const marks = mark(cursor, out, depth);
  while (cursor.indent === indent && isItem(cursor)) {
    const dash = cursor.at;
    cursor.at += 1;
    count(cursor, 1);
    if (restIsEmpty(cursor) || isItem(cursor)) decline();
    marks?.set(String(out.length), cursor.at);
    const column = indent + cursor.at - dash;
    if (startsWithKey(cursor)) {
      cursor.indent = column;
      out.push(mapping(cursor, column, depth + 1));
    } else out.push(lineValue(cursor, depth + 1));
  }
  return out;
}

const startsWithKey = (cursor: Cursor): boolean => colonBehind(cursor, keyEnd(cursor), false);

/** A scalar or flow collection that ends with its line; the cursor goes on to the next one. */
function lineValue(cursor: Cursor, depth: number): Raw {
  const value = inline(cursor, depth, false);
  if (!restIsEmpty(cursor)) decline();
  advance(cursor);
  return value;
}

function inline(cursor: Cursor, depth: number, inFlow: boolean): Raw {
  switch (cursor.text.charCodeAt(cursor.at)) {
    case QUOTE:
    case APOSTROPHE:
      return quoted(cursor);
    case BRACKET:
      return flowSequence(cursor, depth);
    case BRACE:
      return flowMapping(cursor, depth);
    default:
      return plain(cursor, inFlow);
  }
}

/** Escapes are left to the full reader. */
function quoted(cursor: Cursor): string {
  const { text, at, end } = cursor;
  const mark = text[at]!;
  const close = text.indexOf(mark, at + 1);
  if (close < 0 || close >= end || text[close + 1] === mark) return decline();
  const value = text.slice(at + 1, close);
  if (mark === '"' && value.includes('\\')) decline();
  cursor.at = close + 1;
  count(cursor, 1);
  return value;
}

function flowSequence(cursor: Cursor, depth: number): Raw {
  const out: Raw[] = [];
  const marks = mark(cursor, out, depth);
  eachMember(cursor, BRACKET_END, () => {
    marks?.set(String(out.length), cursor.at);
    out.push(inline(cursor, depth + 1, true));
  });
  return out;
}

function flowMapping(cursor: Cursor, depth: number): Raw {
  const out: Record<string, Raw> = {};
  const marks = mark(cursor, out, depth);
  eachMember(cursor, BRACE_END, () => {
    const from = cursor.at;
    const key = tryKey(cursor, true);
    if (key === undefined || Object.hasOwn(out, key)) return decline();
    skipSpaces(cursor);
    marks?.set(key, from);
    out[key] = inline(cursor, depth + 1, true);
  });
  return out;
}

function eachMember(cursor: Cursor, close: number, member: () => void): void {
  const { text } = cursor;
  cursor.at += 1;
  count(cursor, 2);
  skipSpaces(cursor);
  while (text.charCodeAt(cursor.at) !== close) {
    if (cursor.at >= cursor.end) decline();
    member();
    skipSpaces(cursor);
    if (text.charCodeAt(cursor.at) === COMMA) {
      cursor.at += 1;
      count(cursor, 1);
    } else if (text.charCodeAt(cursor.at) !== close) decline();
    skipSpaces(cursor);
  }
  cursor.at += 1;
}

/** Characters that begin something else than a plain scalar, or that need a second look. */
const INDICATOR = new Set('?:,[]{}#&*!|>\'"%@`'.split('').map(code));

const FLOW_INDICATORS: readonly number[] = [COMMA, BRACKET, BRACKET_END, BRACE, BRACE_END];

function plain(cursor: Cursor, inFlow: boolean): Raw {
  const { text, at, end } = cursor;
  const ends = (character: number): boolean => inFlow && FLOW_INDICATORS.includes(character);
  const first = text.charCodeAt(at);
  if (INDICATOR.has(first) || isItem(cursor)) decline();
  if (first === DASH && ends(text.charCodeAt(at + 1))) decline();
  let stop = at;
  for (; stop < end; stop += 1) {
    const character = text.charCodeAt(stop);
    if (ends(character)) break;
    const next = text.charCodeAt(stop + 1);
    if (character === COLON && (stop + 1 >= end || next === SPACE || ends(next))) decline();
    if (character === HASH && text.charCodeAt(stop - 1) === SPACE) break;
  }
  while (text.charCodeAt(stop - 1) === SPACE) stop -= 1;
  cursor.at = stop;
  count(cursor, 2);
  return resolve(text.slice(at, stop));
}

const SPECIAL = /^[-+.\d~NnTtFf]/;
const EXACT = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?$/;
/** Everything that YAML 1.2 core takes for a number. */
const NUMBER =
  /^(?:[-+]?\d+|0o[0-7]+|0x[\da-fA-F]+|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** A plain scalar in the YAML 1.2 core schema; spellings of numbers other than the usual one are left to the full reader. */
function resolve(text: string): Raw {
  if (!SPECIAL.test(text)) return plainText(text);
  if (text === '~' || text === 'null' || text === 'Null' || text === 'NULL') return null;
  if (text === 'true' || text === 'True' || text === 'TRUE') return true;
  if (text === 'false' || text === 'False' || text === 'FALSE') return false;
  if (EXACT.test(text)) return text === '-0' ? decline() : Number(text);
  return NUMBER.test(text) ? decline() : plainText(text);
}
