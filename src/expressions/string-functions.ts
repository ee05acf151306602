// The string functions of CEL, as its strings extension defines them: positions count code points. Those of the library
// count UTF-16 units, and its `matches` can take exponential time. RE2 takes linear time.
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { cached } from '../model/index.js';
import { formatted, quoted, timestampText } from './format.js';
import { LONGEST_PATTERN, MOST_INSTRUCTIONS } from './schema-options.js';
import { wrongValue } from './step-limit.js';

/** UTF-16 units. */
const LONGEST = 1_048_576;

const patterns = new Map<string, RE2JS>();

const pattern = (source: string): RE2JS => cached(patterns, source, () => checked(source));

function checked(source: string): RE2JS {
  if (source.length > LONGEST_PATTERN)
    throw wrongValue(`the pattern is longer than ${LONGEST_PATTERN} characters`);
  const made = compiled(source);
  if (made.programSize() > MOST_INSTRUCTIONS)
    throw wrongValue('the pattern is too long with its repetitions written out');
  return made;
}

function compiled(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    throw wrongValue(`the pattern is wrong: ${error.error}`, { cause: error.input });
  }
}

/** The characters of a text, of which some are two UTF-16 units. */
const points = (text: string): readonly string[] => Array.from(text);

function inside(position: bigint, text: readonly string[]): number {
  if (position >= 0n && position <= text.length) return Number(position);
  throw wrongValue('the position is outside of the string');
}

function bounded(text: string, length = text.length): string {
  if (length <= LONGEST) return text;
  throw wrongValue(`the string would be longer than ${LONGEST} characters`);
}

const startsAt = (text: readonly string[], part: readonly string[], at: number): boolean =>
  part.every((character, index) => text[at + index] === character);

function indexOf(whole: string, part: string, from = 0n): bigint {
  const [text, sought] = [points(whole), points(part)];
  for (let at = inside(from, text); at + sought.length <= text.length; at += 1)
    if (startsAt(text, sought, at)) return BigInt(at);
  return -1n;
}

function lastIndexOf(whole: string, part: string, last?: bigint): bigint {
  const [text, sought] = [points(whole), points(part)];
  const from = last === undefined ? text.length : inside(last, text);
  for (let at = Math.min(from, text.length - sought.length); at >= 0; at -= 1)
    if (startsAt(text, sought, at)) return BigInt(at);
  return -1n;
}

function substring(whole: string, start: bigint, end?: bigint): string {
  const text = points(whole);
  const [from, to] = [inside(start, text), end === undefined ? text.length : inside(end, text)];
  if (from > to) throw wrongValue('the start is behind the end');
  return text.slice(from, to).join('');
}

/** @param limit how many parts at most; negative for all */
function split(whole: string, separator: string, limit = -1n): readonly string[] {
  if (limit === 0n) return [];
  const parts = separator === '' ? points(whole) : whole.split(separator);
  const most = limit < 0n ? parts.length : Number(limit);
  if (parts.length <= most) return parts;
  return [...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)];
}

/** @param limit how often at most; negative for everywhere. The empty string stands before each character, and at the end. */
function replace(whole: string, part: string, by: string, limit = -1n): string {
  const pieces = part === '' ? ['', ...points(whole), ''] : whole.split(part);
  const found = pieces.length - 1;
  const times = limit < 0n || limit > BigInt(found) ? found : Number(limit);
  bounded('', whole.length + times * by.length);
  const rest = pieces.slice(times).join(part);
  return [...pieces.slice(0, times), rest].join(by);
}

function join(parts: readonly unknown[], separator = ''): string {
  const texts = parts.map((one) => {
    if (typeof one === 'string') return one;
    throw wrongValue('`join` takes a list of strings; convert each with `string(…)`');
  });
  const length = texts.reduce((sum, one) => sum + one.length + separator.length, 0);
  bounded('', length);
  return texts.join(separator);
}

/** Those that the library has with another meaning. Each is called by another name of the same length. */
export const replaced: ReadonlyMap<string, string> = new Map(
  [
    'matches',
    'indexOf',
    'lastIndexOf',
    'substring',
    'split',
    'join',
    'lowerAscii',
    'upperAscii',
  ].map((name) => [name, `${name[0]}_${name.slice(2)}`]),
);

const own = (name: string): string => replaced.get(name) ?? name;

type StringFunction = (...given: never[]) => unknown;

/** By signature. */
export const stringFunctions: readonly (readonly [string, StringFunction])[] = [
  [`string.${own('matches')}(string): bool`, (text: string, by: string) => pattern(by).test(text)],
  [`string.${own('indexOf')}(string): int`, indexOf],
  [`string.${own('indexOf')}(string, int): int`, indexOf],
  [`string.${own('lastIndexOf')}(string): int`, lastIndexOf],
  [`string.${own('lastIndexOf')}(string, int): int`, lastIndexOf],
  [`string.${own('substring')}(int): string`, substring],
  [`string.${own('substring')}(int, int): string`, substring],
  [`string.${own('split')}(string): list<string>`, split],
  [`string.${own('split')}(string, int): list<string>`, split],
  [`list<string>.${own('join')}(): string`, join],
  [`list<string>.${own('join')}(string): string`, join],
  [
    `string.${own('lowerAscii')}(): string`,
    (text: string) => text.replaceAll(/[A-Z]+/g, (one) => one.toLowerCase()),
  ],
  [
    `string.${own('upperAscii')}(): string`,
    (text: string) => text.replaceAll(/[a-z]+/g, (one) => one.toUpperCase()),
  ],
  ['string.charAt(int): string', (text: string, at: bigint) => charAt(points(text), at)],
  ['string.replace(string, string): string', replace],
  ['string.replace(string, string, int): string', replace],
  ['string.reverse(): string', (text: string) => points(text).toReversed().join('')],
  [
    'string.format(list): string',
    (text: string, values: readonly unknown[]) => bounded(formatted(text, values)),
  ],
  ['string(google.protobuf.Timestamp): string', timestampText],
  ['string(google.protobuf.Duration): string', String],
  ['strings.quote(string): string', (_: unknown, text: string) => quoted(text)],
];

const charAt = (text: readonly string[], at: bigint): string => text[inside(at, text)] ?? '';
