// Masks values in a text, in any encoding: one way for documents and for messages of the service.
import { hasGaps, placesIn, withOneBlank } from './encoded-text.js';
import { wordFinder, type Ranges } from './word-finder.js';

/** The least number of characters of a value that is masked inside other texts. */
const LONG = 8;

const isLong = ({ length }: string): boolean => length >= LONG;

interface Mask {
  readonly mark: string;
  /** Whether a value of fewer than eight characters is also masked inside a text, or only if it is the whole text. */
  readonly short: 'inside' | 'whole';
}

/** Masks the values in a text. */
export function maskerOf(
  values: Iterable<string>,
  { mark, short }: Mask,
): (text: string) => string {
  const all = [...new Set([...values].flatMap(trimmed))];
  const words = all.filter(isLong).flatMap(formsOf).filter(isLong);
  const few = all.filter((value) => !isLong(value)).flatMap(shortFormsOf);
  const find = finderOf(words, few, short);
  const gaps = all.some((value) => hasGaps(value.trim()));
  return (text) => {
    const places = all.length === 0 ? [] : placesIn(text, find, gaps);
    if (places.length === 0) return text;
    const from = (index: number): number => places[index - 1]?.[1] ?? 0;
    return (
      places.map(([start], index) => text.slice(from(index), start) + mark).join('') +
      text.slice(from(places.length))
    );
  };
}

function finderOf(
  words: readonly string[],
  few: readonly string[],
  short: Mask['short'],
): (text: string) => Ranges {
  const long = wordFinder(words, LONG);
  if (short === 'inside')
    return (text) => [...long(text), ...few.flatMap((one) => everyPlace(one, text))];
  const whole = new Set(few);
  const longest = few.reduce((most, { length }) => Math.max(most, length), 0);
  return (text) => (text.length <= longest && whole.has(text) ? [[0, text.length]] : long(text));
}

/** A value as it is and trimmed; empty for a blank value. */
function trimmed(value: string): readonly string[] {
  const bare = value.trim();
  return bare === '' ? [] : [value, bare];
}

/** The searched forms: the value, each of its lines (a text may have other characters between them), and both with one blank for each gap. */
function formsOf(value: string): readonly string[] {
  const lines = hasGaps(value) ? value.split(/[\r\n]+/).map((line) => line.trim()) : [];
  return [...[value, ...lines.filter(isLong)].flatMap(withGaps), ...inBase64(value, [0, 1, 2])];
}

const shortFormsOf = (value: string): readonly string[] => [
  ...withGaps(value),
  ...inBase64(value, []),
];

const withGaps = (text: string): readonly string[] =>
  hasGaps(text) ? [text, withOneBlank(text.trim())] : [text];

/**
 * Base64 in both alphabets, with `=` at the end and without.
 * @param within where in a group of three bytes the value may begin inside what was encoded with it: those characters that tell nothing else
 */
function inBase64(value: string, within: readonly number[]): readonly string[] {
  const bytes = Buffer.from(value);
  const alone = bytes.toString('base64');
  const inside = within.map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3)),
  );
  return [alone, alone.replace(/=+$/, ''), ...inside].flatMap((one) => [
    one,
    one.replaceAll('+', '-').replaceAll('/', '_'),
  ]);
}

function everyPlace(word: string, text: string): Ranges {
  const places: (readonly [number, number])[] = [];
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length))
    places.push([at, at + word.length]);
  return places;
}
