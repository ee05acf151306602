// Reads responses without trusting them: content type, JSON without lost digits, records with an identifier.
import {
  digitsOf,
  isObject,
  normalAll,
  parseJson,
  refuse,
  type Collection,
  type JsonObject,
  type Kind,
  type Live,
  type Values,
  type Json,
} from '../model/index.js';
import type { Dialect } from './dialect.js';
import type { HttpResponse } from './transport.js';

/** A response that is not what was agreed. The message continues "the response …" and never quotes it. */
export class Malformed extends Error {}

/** @throws Malformed */
export function parseResponse({ headers, body }: HttpResponse): Json {
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (type !== '' && !/^application\/(?:[\w.-]+\+)?json$/.test(type))
    throw new Malformed(
      `is ${type === 'text/html' ? 'an HTML page' : `of type ${type}`}, not JSON`,
    );
  try {
    return parseJson(body);
  } catch {
    throw new Malformed(body.trim() === '' ? 'is empty' : 'is not complete, valid JSON');
  }
}

const maxDepth = 64;
// Asked of every record: by a loop that makes nothing.
function isDeep(value: object, left: number): boolean {
  if (left === 0) return true;
  const members: Readonly<Record<string, unknown>> = Object(value);
  for (const key in members) {
    const item = members[key];
    if (typeof item === 'object' && item !== null && isDeep(item, left - 1)) return true;
  }
  return false;
}

// Without a class of Unicode properties under a counted repetition: compiling one takes 35 MiB.
const idCharacters =
  /^[^\s/?#,\\%\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]+$/;
const LONGEST_ID = 200;

/** An identifier that can stand in a path, in a comma-separated filter and at the end of a URL. */
export function validId(value: unknown): string | undefined {
  const text =
    typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : digitsOf(value);
  return typeof text === 'string' &&
    text.length <= LONGEST_ID &&
    idCharacters.test(text) &&
    !/^\.+$/.test(text)
    ? text
    : undefined;
}

/** An identifier as a part of a path. @throws Refusal for one that would make it another path: nothing, or dots. */
export function segment(id: string): string {
  if (/^\.{0,2}$/.test(id))
    refuse('no-identifier', `${JSON.stringify(id)} is not an identifier.`, {
      detail: 'Identifiers are written as trueup get shows them.',
    });
  return encodeURIComponent(id);
}

/** @throws Malformed for what is no record. */
export function recordOf(value: Json): JsonObject {
  if (!isObject(value)) throw new Malformed('holds a record that is not an object');
  if (isDeep(value, maxDepth))
    throw new Malformed(`holds a record that is nested more than ${maxDepth} levels deep`);
  return value;
}

/** The known attributes of a record, in normal form; its identifier under the path that the collection names. */
export function flattened(dialect: Dialect, collection: Collection, record: JsonObject): Values {
  const values = normalAll(collection.attributes, dialect.flatten(collection, record));
  const id =
    collection.id === undefined ? undefined : validId(dialect.identify(collection, record));
  return collection.id === undefined || id === undefined
    ? values
    : { ...values, [collection.id]: id };
}

/** @throws Malformed for a record without a valid identifier. */
export function liveOf(dialect: Dialect, kind: Kind, record: Json): Live {
  return liveIn(dialect, kind, record) ?? unidentified(kind);
}

/** The object that a record of a listing stands for; undefined for a ghost, which stands for none. @throws Malformed for any other record without a valid identifier. */
export function liveIn(dialect: Dialect, kind: Kind, record: Json): Live | undefined {
  const raw = recordOf(record);
  const values = flattened(dialect, kind, raw);
  const id = validId(values[kind.id]);
  if (id === undefined) return isGhost(kind, values) ? undefined : unidentified(kind);
  return kind.operations.update === 'PUT' ? { id, values, raw } : { id, values };
}

const isGhost = ({ ghost }: Kind, values: Values): boolean =>
  ghost !== undefined &&
  Object.entries(ghost).every(
    ([name, value]) => Object.hasOwn(values, name) && values[name] === value,
  );

function unidentified(kind: Kind): never {
  throw new Malformed(`holds a record without a valid ${kind.id}`);
}
