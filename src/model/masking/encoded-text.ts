// Decodes the escapes in a text: those of JSON and JavaScript, of URLs and forms, and of HTML, also nested. The places
// that are found are offsets in the original text.
import { addRange, type Ranges } from './word-finder.js';

/** The escapes of an encoding. */
interface Escape {
  /** A text that does not hold it has none: most texts have none, and this is asked of every one. */
  readonly sign: RegExp;
  readonly pattern: RegExp;
  /** The decoded text of an escape; undefined if it is not an escape. */
  readonly plain: (found: readonly string[]) => string | undefined;
}

/** A text, or what one reads as with its escapes of one form undone. */
interface Reading {
  readonly text: string;
  /** How many escapes, one inside another, were undone. */
  readonly layer: number;
  readonly undone?: { readonly of: Reading; readonly by: Escape };
}

/** Names of references for the characters from U+00A0 on. */
const LATIN =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';
const ASCII =
  '&amp &AMP <lt <LT >gt >GT "quot "QUOT \'apos !excl #num $dollar %percnt (lpar )rpar *ast *midast +plus ,comma .period /sol :colon ;semi =equals ?quest @commat [lsqb [lbrack \\bsol ]rsqb ]rbrack ^Hat _lowbar `grave {lcub {lbrace |verbar |vert |VerticalLine }rcub }rbrace \tTab \nNewLine';
const NAMED = new Map([
  ...LATIN.split(' ').map((name, index) => [name, String.fromCharCode(0xa0 + index)] as const),
  ...ASCII.split(' ').map((one) => [one.slice(1), one.charAt(0)] as const),
]);

const CONTROLS: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const character = (code: number): string | undefined =>
  code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;

const ESCAPES: readonly Escape[] = [
  {
    sign: /\\/,
    pattern:
      /\\(?:u([\da-fA-F]{4})|u\{([\da-fA-F]{1,6})\}|x([\da-fA-F]{2})|([^a-zA-Z\d]|[bfnrtv]))/g,
    plain: ([, unit, code, byte, other = '']) => {
      const hex = unit ?? code ?? byte;
      return hex === undefined ? (CONTROLS[other] ?? other) : character(Number.parseInt(hex, 16));
    },
  },
  {
    sign: /%/,
    // One character in UTF-8, else one byte.
    pattern:
      /%(?:[cd][\da-f]%[89ab][\da-f]|e[\da-f](?:%[89ab][\da-f]){2}|f[0-7](?:%[89ab][\da-f]){3}|[\da-f]{2})/gi,
    plain: ([escaped = '']) => {
      try {
        return decodeURIComponent(escaped);
      } catch {
        return Buffer.from(escaped.replaceAll('%', ''), 'hex').toString('latin1');
      }
    },
  },
  {
    sign: /&/,
    pattern: /&(?:#0*(\d{1,7})|#x0*([\da-f]{1,6})|([a-z]+\d*));?/gi,
    plain: ([, decimal, hex, name]) =>
      name === undefined
        ? character(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
        : NAMED.get(name),
  },
];

/** Line breaks of every kind, and all other characters that forms, pages or trueup's messages turn into a blank. */
const BLANKS: Escape = {
  sign: /[^ -*,-~]|\+| {2}|<br/i,
  pattern: /(?:[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s+]|<br ?\/?>)+/giu,
  plain: () => ' ',
};

const WITH_BLANKS: readonly Escape[] = [...ESCAPES, BLANKS];

/** Whether there are blanks in the text, or line breaks, or what is not seen. */
export const hasGaps = (text: string): boolean => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]/u.test(text);

/** The text as `placesIn` looks for it: each gap is one blank. */
export const withOneBlank = (text: string): string => text.replace(BLANKS.pattern, ' ');

/** The most layers of nested escapes that are decoded. */
const LAYERS = 3;

/**
 * Where `find` finds something in the text or in what the text reads as, in order; places that touch are one.
 * @param gaps whether to look, too, where each gap is made one blank
 */
export function placesIn(text: string, find: (text: string) => Ranges, gaps: boolean): Ranges {
  if (!/[\\%&]/.test(text) && !(gaps && BLANKS.sign.test(text))) return find(text);
  const readings: Reading[] = [{ text, layer: 0 }];
  const found: Ranges[] = [];
  // It grows meanwhile.
  for (const reading of readings) {
    const ranges = find(reading.text);
    if (ranges.length > 0) found.push(inOriginal(reading, ranges));
    for (const by of escapesOf(reading, gaps)) {
      if (!by.sign.test(reading.text)) continue;
      const read = reading.text.replace(by.pattern, (...match) => by.plain(match) ?? match[0]);
      if (readings.every((other) => other.text !== read))
        readings.push({ text: read, layer: reading.layer + 1, undone: { of: reading, by } });
    }
  }
  return found.length === 0 ? [] : joined(found.flat());
}

/** Blanks are looked at last, whatever was undone before. */
function escapesOf({ layer, undone }: Reading, gaps: boolean): readonly Escape[] {
  if (undone?.by === BLANKS) return [];
  if (layer < LAYERS) return gaps ? WITH_BLANKS : ESCAPES;
  return gaps ? [BLANKS] : [];
}

/** A range ends where the character behind it begins: one escape may stand for several. */
function inOriginal(reading: Reading, ranges: Ranges): Ranges {
  const places = placesOf(reading);
  return ranges.map(([from, to]) => {
    let end = to;
    while (places[end] === places[to - 1]) end += 1;
    return [places[from]!, places[end]!];
  });
}

/** Where each character of a reading, and its end, begins in the original. */
function placesOf({ text, undone }: Reading): Uint32Array {
  if (!undone) return Uint32Array.from({ length: text.length + 1 }, (_, at) => at);
  const { of, by } = undone;
  const before = placesOf(of);
  const places = new Uint32Array(text.length + 1);
  let from = 0;
  let to = 0;
  for (const match of of.text.matchAll(by.pattern)) {
    places.set(before.subarray(from, match.index), to);
    to += match.index - from;
    from = match.index + match[0].length;
    const length = (by.plain(match) ?? match[0]).length;
    if (length === match[0].length) places.set(before.subarray(match.index, from), to);
    else places.fill(before[match.index]!, to, to + length);
    to += length;
  }
  places.set(before.subarray(from), to);
  return places;
}

function joined(ranges: Ranges): Ranges {
  const out: [number, number][] = [];
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) addRange(out, from, to);
  return out;
}
