// The nearest known word for a wrong one, for every "did you mean".
import { withoutKey } from './address.js';

/** Steps from `a` to `b`: insertions, deletions, replacements and swaps of neighbours. */
export function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let best = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + cost);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        best = Math.min(best, beforeLast[column - 2]! + 1);
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}

const LONGEST = 64;
const plainly = (word: string): string => word.toLowerCase().replaceAll('-', '_');

/** The candidate that `word` was most likely meant to be, if any is near: one step in three letters, at least one. The first of equals. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length === 0 || word.length > LONGEST) return undefined;
  let best: string | undefined;
  let fewest = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    if (candidate.length > LONGEST || Math.abs(candidate.length - word.length) >= fewest) continue;
    const steps = distance(plainly(word), plainly(candidate));
    if (steps < fewest) [best, fewest] = [candidate, steps];
  }
  return best;
}

/** ` Did you mean \`x\`?` with a leading space, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const found = nearest(word, candidates);
  return found === undefined ? '' : ` Did you mean \`${found}\`?`;
}

/** As `didYouMean`, for an address, in the form that `written` gives it. Names are compared with those of the same kind, and keys with those of the same name; one may be the beginning of the other. */
export function didYouMeanAddress(
  address: string,
  candidates: Iterable<string>,
  written: (found: string) => string = (found) => found,
): string {
  const all = [...candidates];
  const meant = (found: string | undefined): string =>
    found === undefined ? '' : ` Did you mean \`${written(found)}\`?`;
  // A shell takes the quotes of a key.
  const quoted = all.find((one) => one.replaceAll('"', '') === address);
  if (quoted !== undefined) return meant(quoted);
  const stem = withoutKey(address);
  const prefixes = [`${stem}[`, address.slice(0, address.indexOf('.') + 1)];
  const prefix = prefixes.find((one) => one !== '' && all.some((other) => other.startsWith(one)));
  if (prefix === undefined || !address.startsWith(prefix)) return meant(nearest(address, all));
  const rests = all.flatMap((one) => (one.startsWith(prefix) ? one.slice(prefix.length) : []));
  const word = address.slice(prefix.length);
  const longer = rests.find((one) => one.startsWith(word) || word.startsWith(one));
  const rest = nearest(word, rests) ?? longer;
  return meant(rest === undefined ? undefined : prefix + rest);
}
