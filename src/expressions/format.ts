// `format` and `strings.quote` of CEL's strings extension.
import { refuseUnknown, spend, wrongValue } from './step-limit.js';

const ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** A string literal of CEL. */
export const quoted = (text: string): string =>
  `"${text.replaceAll(/[\u0007\b\f\n\r\t\v\\"]/g, (one) => ESCAPES[one] ?? one)}"`;

const CLAUSE = /%(?:%|(?:\.(\d+))?([A-Za-z])?)/g;
const MOST_DIGITS = 100;

export function formatted(text: string, values: readonly unknown[]): string {
  let next = 0;
  const made = text.replaceAll(CLAUSE, (clause, digits?: string, verb?: string) => {
    if (clause === '%%') return '%';
    if (verb === undefined) throw wrongValue('a `%` of the format has no verb');
    if (next >= values.length)
      throw wrongValue(`the format asks for more than the ${values.length} values given`);
    const value = integerOf(values[next++]);
    return written(verb, digits === undefined ? undefined : Number(digits), value);
  });
  if (next < values.length)
    throw wrongValue(`the format uses ${next} of the ${values.length} values given`);
  return made;
}

function written(verb: string, digits: number | undefined, value: unknown): string {
  if (digits !== undefined && verb !== 'f' && verb !== 'e')
    throw wrongValue('only `%f` and `%e` take a number of digits');
  if ((digits ?? 0) > MOST_DIGITS) throw wrongValue(`more than ${MOST_DIGITS} digits`);
  switch (verb) {
    case 's':
      return shown(value);
    case 'd':
      if (typeof value === 'bigint') return String(value);
      break;
    case 'f':
      if (isNumber(value)) return special(value) ?? Number(value).toFixed(digits ?? 6);
      break;
    case 'e':
      if (isNumber(value)) return special(value) ?? exponential(Number(value), digits ?? 6);
      break;
    case 'b':
      if (typeof value === 'bigint') return value.toString(2);
      if (typeof value === 'boolean') return value ? '1' : '0';
      break;
    case 'o':
      if (typeof value === 'bigint') return value.toString(8);
      break;
    case 'x':
    case 'X': {
      const hex = typeof value === 'bigint' ? value.toString(16) : bytesOf(value)?.toString('hex');
      if (hex !== undefined) return verb === 'X' ? hex.toUpperCase() : hex;
      break;
    }
    default:
      throw wrongValue('the format has a verb that does not exist');
  }
  throw wrongValue(`\`%${verb}\` does not take this value`);
}

/** A `uint` is an object of the library. */
function integerOf(value: unknown): unknown {
  const primitive = typeof value === 'object' ? value?.valueOf() : undefined;
  return typeof primitive === 'bigint' ? primitive : value;
}

const isNumber = (value: unknown): value is bigint | number =>
  typeof value === 'bigint' || typeof value === 'number';

/** At least two digits of the exponent. */
const exponential = (value: number, digits: number): string =>
  value.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2');

function special(value: bigint | number): string | undefined {
  if (typeof value === 'bigint' || Number.isFinite(value)) return undefined;
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? 'Infinity' : '-Infinity';
}

function bytesOf(value: unknown): Buffer | undefined {
  return typeof value === 'string' || value instanceof Uint8Array ? Buffer.from(value) : undefined;
}

/** As `%s` shows it. */
function shown(value: unknown): string {
  spend(1);
  refuseUnknown(value);
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return special(value) ?? String(value);
  if (value instanceof Date) return timestampText(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  if (value instanceof Map) return shownEntries([...value]);
  if (typeof value === 'object' && value?.constructor === Object)
    return shownEntries(Object.entries(value));
  return String(value).replace(/^Type<(.*)>$/, '$1');
}

/** RFC 3339, without zeros at the end. */
export const timestampText = (time: Date): string => time.toISOString().replace(/\.?0+Z$/, 'Z');

const shownEntries = (entries: readonly (readonly [unknown, unknown])[]): string => {
  const texts = entries.map(([key, member]) => `${shown(key)}: ${shown(member)}`);
  return `{${texts.toSorted().join(', ')}}`;
};
