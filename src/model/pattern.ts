// Regular expressions whose time grows with the text alone. Patterns come from declarations and texts from anywhere, so
// that no pair of them may hold a run up: nothing is tried twice, and what cannot be matched like this (back-references,
// looking around) is refused.
import { matcherOf, type Matches, type Ranges, type Step } from './matcher.js';

type Node =
  | { readonly is: 'characters'; readonly ranges: Ranges }
  | { readonly is: 'start' | 'end' }
  | { readonly is: 'sequence' | 'choice'; readonly of: readonly Node[] }
  | { readonly is: 'repeat'; readonly of: Node; readonly least: number; readonly most: number };

export type Pattern = { readonly matches: Matches } | { readonly fault: string };

const LONGEST = 500;
/** Of a pattern with its repetitions written out: what one character of a text may cost. */
const MOST_STEPS = 500;
const LAST = 0x10_ffff;

/** What an unanchored `pattern` of JSON Schema means: the same as `new RegExp(source, 'u')` for every pattern that is taken. */
export function patternOf(source: string): Pattern {
  if (source.length > LONGEST) return { fault: `it is longer than ${LONGEST} characters` };
  try {
    return { matches: matcherOf(stepsFor(parse(source))) };
  } catch (error) {
    if (error instanceof Fault) return { fault: error.message };
    throw error;
  }
}

class Fault extends Error {}

function fail(message: string): never {
  throw new Fault(message);
}

const DIGITS: Ranges = [[48, 57]];
const WORDS: Ranges = [...DIGITS, [65, 90], [95, 95], [97, 122]];
const SPACES: Ranges = [[9, 13], [32, 32], [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f, 0x202f], [0x205f, 0x205f], [0x3000, 0x3000], [0xfeff, 0xfeff]]; // prettier-ignore
const ENDS_OF_LINES: Ranges = [[10, 10], [13, 13], [0x2028, 0x2029]]; // prettier-ignore

const classes: Readonly<Record<string, Ranges>> = { d: DIGITS, w: WORDS, s: SPACES, D: others(DIGITS), W: others(WORDS), S: others(SPACES) };
const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, '0': 0 };

/** Every code point that is in none of the ranges. */
function others(ranges: Ranges): Ranges {
  const out: [number, number][] = [];
  let next = 0;
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    if (first > next) out.push([next, first - 1]);
    next = Math.max(next, last + 1);
  }
  return next > LAST ? out : [...out, [next, LAST]];
}

/** @throws Fault */
function parse(source: string): Node {
  const characters = Array.from(source);
  let at = 0;
  const peek = (): string | undefined => characters[at];
  const take = (): string => characters[at++] ?? fail('it ends too early');
  const eat = (character: string): boolean => peek() === character && (at += 1) > 0;

  function choice(): Node {
    const of = [sequence()];
    while (eat('|')) of.push(sequence());
    return of.length === 1 ? (of[0] as Node) : { is: 'choice', of };
  }

  function sequence(): Node {
    const of: Node[] = [];
    for (let next = peek(); next !== undefined && next !== '|' && next !== ')'; next = peek()) of.push(repeated(atom()));
    return { is: 'sequence', of };
  }

  function atom(): Node {
    const character = take();
    if (character === '^') return { is: 'start' };
    if (character === '$') return { is: 'end' };
    if (character === '(') return group();
    if (character === '[') return { is: 'characters', ranges: bracketed() };
    if (character === '.') return { is: 'characters', ranges: others(ENDS_OF_LINES) };
    if (character === '\\') return { is: 'characters', ranges: escaped('^$\\.*+?()[]{}|/') };
    if ('*+?{}]'.includes(character)) fail(`\`${character}\` stands where nothing can be repeated; as a character it is written \`\\${character}\``);
    return { is: 'characters', ranges: single(character) };
  }

  function group(): Node {
    if (eat('?') && !eat(':')) fail(peek() === '<' && /[^=!]/.test(characters[at + 1] ?? '=') ? 'groups have no names here' : 'it looks ahead or behind');
    const inner = choice();
    if (!eat(')')) fail('a `(` is never closed');
    return inner;
  }

  function repeated(node: Node): Node {
    const [least, most] = quantifier();
    if (least === undefined || most === undefined) return node;
    if (node.is === 'start' || node.is === 'end') fail('an anchor cannot be repeated');
    // Whether a text matches does not depend on how much a quantifier takes first.
    eat('?');
    return { is: 'repeat', of: node, least, most };
  }

  function quantifier(): readonly [] | readonly [least: number, most: number] {
    if (eat('*')) return [0, Infinity];
    if (eat('+')) return [1, Infinity];
    if (eat('?')) return [0, 1];
    if (peek() !== '{') return [];
    const [whole = '', least = '', comma, most = ''] = /^\{(\d{1,9})(,)?(\d{1,9})?\}/.exec(characters.slice(at, at + 24).join('')) ?? [];
    if (whole === '' || (comma === undefined && most !== '')) fail('a `{` begins no repetition such as `{2}`, `{2,}` or `{2,4}`; as a character it is written `\\{`');
    at += whole.length;
    const bounds = [Number(least), comma === undefined ? Number(least) : most === '' ? Infinity : Number(most)] as const;
    return bounds[0] <= bounds[1] ? bounds : fail(`the numbers in \`${whole}\` are out of order`);
  }

  function bracketed(): Ranges {
    const negated = eat('^');
    const ranges: (readonly [number, number])[] = [];
    while (!eat(']')) {
      const first = member();
      if (peek() !== '-' || characters[at + 1] === ']') {
        ranges.push(...first);
        continue;
      }
      at += 1;
      const [from, to] = [codeOf(first), codeOf(member())];
      if (from === undefined || to === undefined || from > to) fail('a range in `[…]` does not go from a character to a later one');
      ranges.push([from, to]);
    }
    return negated ? others(ranges) : ranges;
  }

  function member(): Ranges {
    const character = take();
    return character === '\\' ? escaped('^$\\.*+?()[]{}|/-') : single(character);
  }

  /** @param plain characters that stand for themselves behind a backslash */
  function escaped(plain: string): Ranges {
    const character = take();
    const known = Object.hasOwn(classes, character) ? classes[character] : undefined;
    if (known) return known;
    if (character === 'x' || character === 'u') return coded(character);
    if (Object.hasOwn(controls, character) && !(character === '0' && /\d/.test(peek() ?? ''))) return [[controls[character] as number, controls[character] as number]];
    if (plain.includes(character)) return single(character);
    return fail(/[1-9k]/.test(character) ? 'it refers back to a group' : `\`\\${character}\` means nothing here`);
  }

  function coded(form: 'x' | 'u'): Ranges {
    const [whole = '', braced, hex = braced] = (form === 'x' ? /^()([\da-f]{2})/i : /^(?:\{([\da-f]{1,6})\}|([\da-f]{4}))/i).exec(characters.slice(at, at + 8).join('')) ?? [];
    const code = Number.parseInt(hex ?? '', 16);
    if (!(code <= LAST) || (code >= 0xd800 && code <= 0xdfff)) fail(`\`\\${form}\` is followed by no character's number`);
    at += whole.length;
    return [[code, code]];
  }

  const whole = choice();
  return at === characters.length ? whole : fail('a `)` closes nothing');
}

function single(character: string): Ranges {
  const code = character.codePointAt(0) as number;
  return [[code, code]];
}

const codeOf = ([range, ...more]: Ranges): number | undefined => (range && more.length === 0 && range[0] === range[1] ? range[0] : undefined);

/** @throws Fault where there would be too many */
function stepsFor(root: Node): readonly Step[] {
  const steps: Step[] = [];
  let work = 0;
  const jump = (): { is: 'jump'; to: readonly number[] } => {
    const step = { is: 'jump' as const, to: [] };
    steps.push(step);
    return step;
  };
  const write = (node: Node): void => {
    work += 1;
    if (work > 2 * MOST_STEPS || steps.length > MOST_STEPS) fail('with its repetitions written out it is too long');
    switch (node.is) {
      case 'sequence':
        return node.of.forEach(write);
      case 'choice':
        return writeChoice(node.of);
      case 'repeat':
        return writeRepeat(node.of, node.least, node.most);
      default:
        steps.push(node);
    }
  };
  const writeChoice = (of: readonly Node[]): void => {
    const fork = jump();
    const begins: number[] = [];
    const exits = of.map((branch) => {
      begins.push(steps.length);
      write(branch);
      return jump();
    });
    fork.to = begins;
    for (const exit of exits) exit.to = [steps.length];
  };
  const writeRepeat = (of: Node, least: number, most: number): void => {
    for (let count = 0; count < least; count += 1) write(of);
    const skips: { to: readonly number[] }[] = [];
    for (let count = least; count < Math.min(most, least + 1) || (most !== Infinity && count < most); count += 1) {
      const [fork, begin] = [jump(), steps.length];
      write(of);
      if (most === Infinity) jump().to = [begin - 1];
      fork.to = [begin];
      skips.push(fork);
    }
    for (const skip of skips) skip.to = [...skip.to, steps.length];
  };
  write(root);
  steps.push({ is: 'match' });
  return steps;
}
