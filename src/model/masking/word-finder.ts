// Finds any of very many words in a text in one pass, by Wu and Manber's method: it looks at every few characters and
// skips those that no word contains. An alternation of V8 tries the words one after another.
import { append } from '../json.js';

/** Where words stand: from the first character up to the one behind the last. In order; those that touch are one. */
export type Ranges = readonly (readonly [from: number, to: number])[];

/** Entries of the table for each block of characters of the words, and the logarithm of the most entries. */
const ENTRIES = 16;
const MOST_BITS = 18;
/** Most texts hold none. */
const NONE: Ranges = [];
/** Characters that are looked at together. */
const BLOCK = 3;

/** @param shortest no word is shorter; at least 3 */
export function wordFinder(words: Iterable<string>, shortest: number): (text: string) => Ranges {
  const all = new Set(words);
  const blocks = 1 + all.size * (shortest - BLOCK + 1);
  const bits = Math.min(MOST_BITS, Math.ceil(Math.log2(ENTRIES * blocks)));
  /** A number for the three characters before `end`. */
  const blockAt = (text: string, end: number): number => mixed(text, end) >>> (32 - bits);
  const shifts = new Uint8Array(1 << bits).fill(shortest - BLOCK + 1);
  const ends = new Map<number, string[]>();
  for (const word of all) {
    for (let end = BLOCK; end <= shortest; end += 1) {
      const block = blockAt(word, end);
      shifts[block] = Math.min(shifts[block]!, shortest - end);
    }
    const block = blockAt(word, shortest);
    append(ends, block, word);
  }
  return (text) => {
    let found: [number, number][] | undefined;
    for (let end = shortest; end <= text.length;) {
      const block = blockAt(text, end);
      const shift = shifts[block]!;
      if (shift === 0) note((found ??= []), ends.get(block) ?? [], text, end - shortest);
      end += shift || 1;
    }
    return found ?? NONE;
  };
}

function note(
  found: [number, number][],
  words: readonly string[],
  text: string,
  from: number,
): void {
  let length = 0;
  for (const word of words)
    if (word.length > length && text.startsWith(word, from)) length = word.length;
  if (length > 0) addRange(found, from, from + length);
}

/** Adds one that does not begin before the last. */
export function addRange(found: [number, number][], from: number, to: number): void {
  const last = found.at(-1);
  if (last && from <= last[1]) last[1] = Math.max(last[1], to);
  else found.push([from, to]);
}

const mixed = (text: string, end: number): number =>
  Math.imul(text.charCodeAt(end - 3), 0x9e3779b1) ^
  Math.imul(text.charCodeAt(end - 2), 0x85ebca77) ^
  Math.imul(text.charCodeAt(end - 1), 0xc2b2ae3d);
