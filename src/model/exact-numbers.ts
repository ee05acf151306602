// Numbers that a double cannot hold: read with all their digits, kept apart from strings, and written as they were.
import { ExactNumber, isObject, type Json } from './json.js';

/** A JSON number in parts: sign, digits before and behind the point, exponent. */
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Whether a text is a JSON number that a double cannot hold exactly; for an integer without an exponent: one beyond 2^53. */
export function needsExact(text: string): boolean {
  const parts = NUMBER.exec(text);
  if (!parts) return false;
  const value = Number(text);
  if (parts[3] === undefined && parts[4] === undefined) return !Number.isSafeInteger(value);
  return !Number.isFinite(value) || decimal(parts) !== decimal(NUMBER.exec(String(value))!);
}

/** One spelling for each number: its digits without zeros around them, and its exponent. */
function decimal([, sign, whole = '', fraction = '', exponent = '0']: RegExpExecArray): string {
  const digits = (whole + fraction).replace(/^0+/, '');
  const short = digits.replace(/(?<!0)0+$/, '');
  return short === ''
    ? '0'
    : `${sign}${short}e${Number(exponent) - fraction.length + digits.length - short.length}`;
}

/** Replaces a member named `__proto__`. Its value would be a prototype; a mask instead prevents a write from dropping it unnoticed. */
const NOT_READ = { name: '__proto__ (not read)', value: '*' };

/**
 * Parses JSON, with two differences: numbers that a double cannot hold become exact ones, and the value of a member named
 * `__proto__` is not read. A body without either costs only one scan more.
 * @throws SyntaxError
 */
export function parseJson(text: string): Json {
  const plain: Json = JSON.parse(text);
  const long = MAY_NEED.test(text);
  const proto = text.includes('__proto__') || ESCAPED_PROTO.test(text);
  if (!long && !proto) return plain;
  const mark = markBesides(text);
  const { marked, any } = long ? markExact(text, mark) : { marked: text, any: false };
  if (!any && !proto) return plain;
  const exact: Json = JSON.parse(
    marked,
    function (this: Record<string, unknown>, key, value: unknown) {
      if (key === '__proto__') {
        this[NOT_READ.name] = NOT_READ.value;
        return undefined;
      }
      return any && typeof value === 'string' && value.startsWith(mark)
        ? new ExactNumber(value.slice(mark.length))
        : value;
    },
  );
  return exact;
}

/** Like `parseJson`, but undefined if the text is not JSON. */
export function tryJson(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** A letter of `__proto__` as an escape. */
const ESCAPED_PROTO = /\\u00(?:5f|7[024]|6f)/i;

/** Sixteen digits in all, or an exponent: what is shorter, a double holds. */
const MAY_NEED = /(?:^|[:,[\s])-?\d(?:[\d.]{15}|[\d.]{0,14}[eE])/;

/** Stands before the digits of an exact number while JSON is read: one NUL more than any text of the body has in a row. JSON spells them one way. */
function markBesides(text: string): string {
  const longest = (text.match(/(?:\\u0000)+/g) ?? []).reduce(
    (most, { length }) => Math.max(most, length / ESCAPED_NUL.length),
    0,
  );
  return '\u0000'.repeat(longest + 1);
}

const ESCAPED_NUL = '\\u0000';

/** Valid JSON with its exact numbers as marked text. Goes by small tokens: one pattern for a whole string would overflow on a long one. */
function markExact(text: string, mark: string): { readonly marked: string; readonly any: boolean } {
  let inside = false;
  let any = false;
  const marked = text.replace(/\\.|"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) => {
    if (token === '"') inside = !inside;
    if (inside || token.length === 1 || token.startsWith('\\') || !needsExact(token)) return token;
    any = true;
    return `"${ESCAPED_NUL.repeat(mark.length)}${token}"`;
  });
  return { marked, any };
}

// Asked of every record: by a loop that makes nothing.
export function holdsExact(value: unknown): boolean {
  if (value instanceof ExactNumber) return true;
  if (Array.isArray(value)) return value.some(holdsExact);
  if (isObject(value)) for (const key in value) if (holdsExact(value[key])) return true;
  return false;
}

/** Like `JSON.stringify`, with all digits of exact numbers. */
export const wireText = (value: unknown, indent = 0): string =>
  holdsExact(value) ? written(value, ' '.repeat(indent), '') : JSON.stringify(value, null, indent);

function written(value: unknown, indent: string, margin: string): string {
  if (value instanceof ExactNumber) return value.text;
  const inner = margin + indent;
  const enclosed = (open: string, items: readonly string[], close: string): string => {
    if (items.length === 0) return open + close;
    return indent === ''
      ? open + items.join(',') + close
      : `${open}\n${inner}${items.join(`,\n${inner}`)}\n${margin}${close}`;
  };
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => written(item ?? null, indent, inner));
    return enclosed('[', items, ']');
  }
  if (!isObject(value)) return JSON.stringify(value);
  const colon = indent === '' ? ':' : ': ';
  const members = Object.entries(value).flatMap(([key, item]) =>
    item === undefined ? [] : [`${JSON.stringify(key)}${colon}${written(item, indent, inner)}`],
  );
  return enclosed('{', members, '}');
}
