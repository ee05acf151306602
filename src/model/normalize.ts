// Normal form: one spelling for each value, whatever the spelling of the API or the user. References are ids as
// strings, sets are sorted and unique, times are ISO 8601 in UTC; empty collections, null and the empty string of an
// optional choice are the same: none. Values are compared, stored and hashed in normal form; `toWire` turns them into
// the form of a request.
import { keptMembers, mapMembers } from './members.js';
import type { Attribute, Attributes } from './attribute.js';
import { Reference, Template, isTree, type Value, type Values } from './declaration.js';
import {
  canonical,
  compareText,
  digest,
  digitsOf,
  equal,
  ExactNumber,
  isObject,
  type Json,
  type JsonObject,
} from './json.js';
import { recognisedBy, writables, type Kind } from './kind.js';
import { documentOf, masksIn, mergeOf } from './partial-documents.js';
import { Secret } from './secret.js';

/** Pattern of texts that hold an identifier; blanks and slashes alone do not, nor does an address without a path. */
export const IDENTIFYING =
  '^(?!\\s*[A-Za-z][A-Za-z0-9+.-]*://[^/\\s?#]*[/\\s]*(?:[?#]|$))[/\\s]*[^/\\s?#]';
const identifying = new RegExp(IDENTIFYING);

/** The identifier in `https://any.host/api/v2/sites/123/`, `/sites/123/`, `"123"`, `123` or the expanded `{"id": "123"}`; null if there is none. */
export function idOf(value: unknown): string | null {
  if (isObject(value)) return idOf(digitsOf(value['id']) ?? value['resource_url'] ?? null);
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value !== 'string') return null;
  if (digits.test(value)) return plainId(value);
  if (!identifying.test(value)) return null;
  const [path = ''] = value.split(/[?#]/, 1);
  return plainId(
    path
      .split('/')
      .findLast((step) => step.trim() !== '')
      ?.trim() ?? '',
  );
}

const digits = /^\d+$/;

function plainId(text: string): string {
  return digits.test(text) ? text.replace(/^0+(?=\d)/, '') : text;
}

const PLAIN_ID = /^(?!0\d+$|\.{1,2}$)[^\s/\\?#%]+$/;
/** The absolute path of a collection, without steps up, and the step behind it. */
const RECORD_PATH = /^((?:\/(?!\.{1,2}\/)[^\s/\\?#%]+)+)\/([^/]+)\/?$/;

/** The last step of the path of a kind's collection. */
const collectionStep = ({ operations: { collection } }: Kind): string =>
  collection.slice(collection.lastIndexOf('/') + 1);

/** The identifier with which a person names an object of a kind: as it is, or as the absolute path of the object; undefined for anything else, which must not name another object by chance: a URL may be of another cloud. */
export function namedId(kind: Kind, said: unknown): string | undefined {
  const text = typeof said === 'number' ? String(said) : said;
  if (typeof text !== 'string') return undefined;
  const [, path = '', last = ''] = RECORD_PATH.exec(text) ?? [];
  const id = path.endsWith(`/${collectionStep(kind)}`) ? last : text;
  return PLAIN_ID.test(id) ? id : undefined;
}

/** What is said of a text that names no object of a kind. */
export const notAnId = (kind: Kind, said: unknown) => ({
  code: 'bad-id',
  summary: `\`${String(said).slice(0, 200)}\` is not an id of ${kind.name}`,
  detail: `Write the id, or the absolute path of the object, which ends in /${collectionStep(kind)}/ID/.\nTo list the ids: trueup get ${kind.name}`,
});

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/** Undoes one layer of HTML escaping, as the service applies it to some texts. */
export function unescapeHtml(value: string): string {
  if (!value.includes('&')) return value;
  return value.replace(
    /&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return entities[name] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

/** `unescapeHtml` for every text inside: the plain form of what was read, which is what is stored, exported and referred to. */
export function unescapeAll<T extends Value>(value: T): T;
export function unescapeAll(value: Value): Value {
  if (typeof value === 'string') return unescapeHtml(value);
  if (Array.isArray(value)) return (value as readonly Value[]).map((item) => unescapeAll(item));
  return isTree(value) ? mapMembers(value, (item) => unescapeAll(item)) : value;
}

/** The same for every spelling of a text, however often it was escaped. */
export function unescapeFully<T extends Value>(value: T): T {
  const once = unescapeAll(value);
  return equal(once, value) ? value : unescapeFully(once);
}

/** Whether two values are equal, or differ only in how often their texts are HTML-escaped. */
export const equalUnescaped = (a: Value | undefined, b: Value | undefined): boolean =>
  equal(a, b) || (a !== undefined && b !== undefined && equal(unescapeFully(a), unescapeFully(b)));

export const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value)
    ? value.length === 0
    : isObject(value) &&
      Object.getPrototypeOf(value) === Object.prototype &&
      Object.keys(value).length === 0);

/** Normal form of a live or declared value. References, templates and secrets pass through untouched. */
export function normal(attribute: Attribute, value: Value | undefined): Value {
  if (value === undefined || value === null) return null;
  if (value instanceof Reference || value instanceof Template || value instanceof Secret)
    return value;
  if (value instanceof ExactNumber)
    return ['document', 'integer', 'number'].includes(attribute.word)
      ? value
      : normal(attribute, value.text);
  switch (attribute.word) {
    case 'ref':
      return idOf(value) ?? null;
    case 'text':
      return attribute.wire === 'timestamp' ? normalTime(value) : value;
    case 'integer':
    case 'number':
      return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
    case 'list':
      return Array.isArray(value) ? value.map((item: Value) => normal(attribute.of, item)) : value;
    case 'set':
      return Array.isArray(value)
        ? uniqueSorted(value.map((item: Value) => normal(attribute.of, item)))
        : value;
    case 'map':
      return isTree(value) ? mapMembers(value, (item) => normal(attribute.of, item)) : value;
    case 'object':
      return isTree(value) ? { ...value, ...normalAll(attribute.attributes, value) } : value;
    case 'choice':
      return value === '' && attribute.optional ? null : value;
    case 'flag':
    case 'document':
      return value;
  }
}

/** Normal form of those attributes that `values` has; names the kind does not know are left out. */
export function normalAll(attributes: Attributes, values: Values): Values {
  const out: Record<string, Value> = {};
  for (const name of Object.keys(attributes))
    if (Object.hasOwn(values, name)) out[name] = normal(attributes[name]!, values[name]);
  return out;
}

function normalTime(value: Value): Value {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? value : new Date(at).toISOString();
}

const sortKey = (value: Value): string =>
  typeof value === 'string' || value instanceof Reference || value instanceof Template
    ? String(value)
    : canonical(value);

function uniqueSorted(values: readonly Value[]): readonly Value[] {
  const keys = values.map(sortKey);
  if (keys.every((key, index) => index === 0 || compareText(keys[index - 1]!, key) < 0))
    return values;
  const byKey = new Map(values.map((value, index) => [keys[index]!, value]));
  return [...byKey.keys()].toSorted(compareText).map((key) => byKey.get(key)!);
}

/** One spelling for the texts of an attribute that name the same; others stay as they are. */
export function foldedText<T extends Value>(attribute: Attribute, value: T): T | string {
  if (attribute.word !== 'text' || typeof value !== 'string') return value;
  if (attribute.format === 'mac') return value.replaceAll(/[:.-]/g, '').toLowerCase();
  return attribute.format === 'email' ? value.trim().toLowerCase() : value;
}

/**
 * Whether a declared value and a live one mean the same. Both in normal form. Objects compare the declared members
 * only; a text equals its HTML-escaped spelling, whichever side has it; an object or collection without members equals null,
 * and so does false where a flag may be absent. A reference that is not known equals only itself.
 */
export function same(
  attribute: Attribute,
  declared: Value | undefined,
  live: Value | undefined,
): boolean {
  if (isEmpty(declared) && isEmpty(live)) return true;
  if (declared instanceof Reference || declared instanceof Template) return equal(declared, live);
  switch (attribute.word) {
    case 'text':
    case 'choice':
      return equalUnescaped(
        foldedText(attribute, declared ?? null),
        foldedText(attribute, live ?? null),
      );
    case 'object':
      if (!isTree(declared)) return false;
      return Object.entries(declared).every(([name, value]) => {
        const inner = attribute.attributes[name];
        const other = isTree(live) ? live[name] : undefined;
        return inner ? same(inner, value, other) : equal(value, other);
      });
    case 'list':
    case 'set': {
      if (!Array.isArray(declared) || !Array.isArray(live) || declared.length !== live.length)
        return false;
      const seen = live as readonly Value[];
      const inOrder = (declared as readonly Value[]).every((item, index) =>
        same(attribute.of, item, seen[index]),
      );
      return (
        inOrder ||
        (attribute.word === 'set' &&
          (declared as readonly Value[]).every((item) =>
            seen.some((other) => same(attribute.of, item, other)),
          ))
      );
    }
    case 'map':
      if (!isTree(declared) || !isTree(live)) return false;
      return (
        Object.keys(declared).length === Object.keys(live).length &&
        Object.entries(declared).every(
          ([key, item]) => Object.hasOwn(live, key) && same(attribute.of, item, live[key]),
        )
      );
    case 'document':
      return equalUnescaped(declared, live);
    default: {
      const absent = attribute.word === 'flag' && attribute.optional ? false : undefined;
      return equal(declared ?? absent, live ?? absent);
    }
  }
}

/**
 * What is sent for a value in normal form. References and templates that are not known yet stay as they are.
 * @throws RangeError for an identifier that has to travel as a JSON number and would lose digits, and for a mask.
 */
export function toWire(attribute: Attribute, value: Value): Value {
  if (
    value === null ||
    value instanceof Reference ||
    value instanceof Template ||
    value instanceof Secret
  )
    return value;
  switch (attribute.word) {
    case 'ref':
      if (attribute.wire !== 'integer') return value;
      if (typeof value !== 'string' || !/^\d+$/.test(value) || !Number.isSafeInteger(Number(value)))
        throw new RangeError(
          `the identifier ${JSON.stringify(value)} cannot be sent as an integer`,
        );
      return Number(value);
    case 'list':
    case 'set':
      return Array.isArray(value) ? value.map((item: Value) => toWire(attribute.of, item)) : value;
    case 'map':
      return isTree(value) ? mapMembers(value, (item) => toWire(attribute.of, item)) : value;
    case 'object':
      return isTree(value)
        ? mapMembers(value, (item, key) =>
            attribute.attributes[key] ? toWire(attribute.attributes[key], item) : item,
          )
        : value;
    case 'document': {
      if (attribute.wire !== 'merge') return value;
      const { tree, removed } = mergeOf(value);
      const [mask] = masksIn(tree);
      if (mask !== undefined)
        throw new RangeError(
          `${mask} is a mask, not a value, and cannot be sent; write the value as "\${secret.env.NAME}"`,
        );
      return documentOf({ tree, removed });
    }
    default:
      return value;
  }
}

/** Copy without secrets: what may be stored or shown. Secrets become `placeholder(secret)`, or vanish where it is undefined. */
export function redact(
  value: Value,
  placeholder: (secret: Secret) => Json | undefined = () => undefined,
): Json {
  if (value instanceof Secret) return placeholder(value) ?? null;
  if (value instanceof Reference || value instanceof Template) return value.toString();
  if (Array.isArray(value)) return value.map((item: Value) => redact(item, placeholder));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is left is plain, or an exact number
  if (!isTree(value)) return value as Json;
  return redactAll(value, placeholder);
}

export function redactAll(
  values: Values,
  placeholder: (secret: Secret) => Json | undefined = () => undefined,
): JsonObject {
  const kept = Object.entries(values).filter(
    ([, item]) => !(item instanceof Secret && placeholder(item) === undefined),
  );
  return Object.fromEntries(kept.map(([key, item]) => [key, redact(item, placeholder)]));
}

/** Digest of what can be written of an object in normal form: whether anything we could have planned for has moved. */
export function fingerprintOf(kind: Kind, values: Values): string {
  const names = new Set(writables(kind).map(([name]) => name));
  return digest(redactAll(keptMembers(values, (_, name) => names.has(name))));
}

/**
 * Text that is equal for values of equal identity, and cheap: objects count as equal. Only values with equal texts have to be
 * compared exactly.
 */
export function roughIdentity(kind: Kind, values: Values): string {
  const names = recognisedBy(kind, values);
  const texts = names.map((name) => {
    const value = values[name];
    return isEmpty(value) || isTree(value)
      ? ''
      : unescapeFully(String(foldedText(kind.attributes[name]!, value!)));
  });
  return [kind.name, names.length, ...texts].join('\0');
}
