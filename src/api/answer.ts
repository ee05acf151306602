// Reading what the server said, with distrust: content type, JSON without lost digits, records with an identifier.
import { isObject, normalAll, type JsonObject, type Kind, type Live } from '../model/index.js';
import type { Dialect } from './dialect.js';
import type { Answer } from './transport.js';

/** An answer that is not what was agreed. The message continues "the answer …" and never quotes it. */
export class Malformed extends Error {}

/** @throws Malformed */
export function parseAnswer({ headers, body }: Answer): unknown {
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (type !== '' && !/^application\/(?:[\w.-]+\+)?json$/.test(type)) throw new Malformed(`is ${type === 'text/html' ? 'an HTML page' : `of type ${type}`}, not JSON`);
  try {
    return parseJson(body);
  } catch {
    throw new Malformed(body.trim() === '' ? 'is empty' : 'is not complete, valid JSON');
  }
}

/**
 * JSON without two of its traps: integers beyond 2^53 become text with all their digits, and members named
 * `__proto__` vanish. Bodies without either pay a scan and no more.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const plain: unknown = JSON.parse(text);
  const digits = /[:,[\s]-?\d{16}/.test(text);
  const proto = /__proto__|\\u005f/i.test(text);
  if (!digits && !proto) return plain;
  return JSON.parse(digits ? quoteLarge(text) : text, proto ? (key, value: unknown) => (key === '__proto__' ? undefined : value) : undefined);
}

/** Valid JSON with its integers beyond 2^53 in quotes. Goes by small tokens: one pattern for a whole string would overflow on a long one. */
function quoteLarge(text: string): string {
  let inside = false;
  return text.replace(/\\.|"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) => {
    if (token === '"') inside = !inside;
    return !inside && /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token;
  });
}

const maxDepth = 64;
const isDeep = (value: unknown, left: number): boolean =>
  typeof value === 'object' && value !== null && (left === 0 || Object.values(value).some((item) => isDeep(item, left - 1)));

// Without a class of Unicode properties under a counted repetition: compiling one takes 35 MiB.
const idCharacters = /^[^\s/?#,\\%\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]+$/;
const LONGEST_ID = 200;

/** An identifier that can stand in a path, in a comma-separated filter and at the end of a URL. */
export function validId(value: unknown): string | undefined {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  return typeof text === 'string' && text.length <= LONGEST_ID && idCharacters.test(text) && !/^\.+$/.test(text) ? text : undefined;
}

/** @throws Malformed for a record without a valid identifier. */
export function liveOf(dialect: Dialect, kind: Kind, record: unknown): Live {
  if (!isObject(record)) throw new Malformed('holds a record that is not an object');
  if (isDeep(record, maxDepth)) throw new Malformed(`holds a record that is nested more than ${maxDepth} levels deep`);
  const id = validId(dialect.identify(kind, record as JsonObject));
  if (id === undefined) throw new Malformed(`holds a record without a valid ${kind.id}`);
  const values = { ...normalAll(kind.attributes, dialect.flatten(kind, record as JsonObject)), [kind.id]: id };
  return kind.operations.update === 'PUT' ? { id, values, raw: record as JsonObject } : { id, values };
}
