// Records, derived from the attributes of their kinds: accepted fields (`accept`), and form in responses (`showAll`). A
// stored reference is the id as a string, and a stored secret is only the mask: no record holds a secret.
import {
  cached,
  idOf,
  isObject,
  mapMembers,
  own,
  type Attribute,
  type Attributes,
  type Json,
  type JsonObject,
  type Kind,
  type Kinds,
  isList,
} from '../model/index.js';
import { LIVE_MASK, misfit, veiled } from './configuration.js';
import { escapeHtml, type Behaviours } from './behaviours.js';

export type StoredRecord = JsonObject;

/** How records look from where they are asked for. `base` is the v2 base address, without a slash behind. */
export interface RenderContext {
  readonly kinds: Kinds;
  readonly behaviours: Behaviours;
  readonly base: string;
}

const collectionOf = (kinds: Kinds, name: string): string =>
  kinds.get(name)?.operations.collection ?? name;

export const urlOf = (face: RenderContext, kind: string, id: string): string =>
  `${face.base}/${collectionOf(face.kinds, kind)}/${encodeURIComponent(id)}/`;

type Entries = readonly (readonly [name: string, attribute: Attribute])[];
const listed = new WeakMap<Attributes, Entries>();

/** The entries of a kind's attributes, listed once: a hundred thousand records ask for them. */
export function entriesOf(attributes: Attributes): Entries {
  return cached(listed, attributes, () => Object.entries(attributes));
}

export function showAll(
  attributes: Attributes,
  record: JsonObject,
  face: RenderContext,
): Record<string, Json> {
  const out: Record<string, Json> = {};
  for (const [name, attribute] of entriesOf(attributes)) {
    if (attribute.secret === true) out[name] = LIVE_MASK;
    else if (Object.hasOwn(record, name)) out[name] = show(attribute, record[name]!, face);
  }
  return out;
}

function show(attribute: Attribute, value: Json, face: RenderContext): Json {
  if (value === null) return null;
  switch (attribute.word) {
    case 'ref':
      return showReference(attribute.to, attribute.wire, String(value), face);
    case 'text':
      return showText(attribute, String(value), face.behaviours);
    case 'list':
    case 'set':
      return isList(value) ? value.map((item) => show(attribute.of, item, face)) : value;
    case 'map':
      return isObject(value) ? mapMembers(value, (item) => show(attribute.of, item, face)) : value;
    case 'object':
      return isObject(value) ? showAll(attribute.attributes, value, face) : value;
    case 'document':
      return face.behaviours.escape_html ? escapeTexts(value) : value;
    default:
      return value;
  }
}

function escapeTexts(value: Json): Json {
  if (typeof value === 'string') return escapeHtml(value);
  if (Array.isArray(value)) return value.map(escapeTexts);
  return isObject(value) ? mapMembers(value, (item) => escapeTexts(item)) : value;
}

function showReference(to: string, wire: Attribute['wire'], id: string, face: RenderContext): Json {
  if (wire === 'url') return urlOf(face, to, id);
  return wire === 'integer' && !face.behaviours.swapped_spellings ? Number(id) : id;
}

function showText(attribute: Attribute, text: string, behaviours: Behaviours): string {
  if (attribute.wire === 'timestamp')
    return behaviours.offset_timestamps ? text.replace(/Z$/, '+00:00') : text;
  return behaviours.escape_html && attribute.computed !== true ? escapeHtml(text) : text;
}

/** The identifier of a record that has one. */
export const recordId = (kind: { readonly id: string }, record: StoredRecord): string =>
  String(record[kind.id]);

/** A v2 record, id and all; with `resource_url` where asked for and known to the kind. */
export function showRecord(
  kind: Kind,
  record: StoredRecord,
  face: RenderContext,
  withUrl: boolean,
): Record<string, Json> {
  const out = showAll(kind.attributes, record, face);
  const id = recordId(kind, record);
  if (face.behaviours.swapped_spellings && /^\d{1,15}$/.test(id)) out[kind.id] = Number(id);
  if (withUrl && kind.attributes.resource_url) out.resource_url = urlOf(face, kind.name, id);
  return out;
}

/** The value of a field that nobody has set. */
export function blank(attribute: Attribute): Json {
  switch (attribute.word) {
    case 'list':
    case 'set':
      return [];
    case 'object':
    case 'map':
      return {};
    case 'flag':
      return false;
    case 'document':
      return attribute.wire === 'merge' ? [{}, []] : null;
    default:
      return null;
  }
}

/** The rest of the cloud as `accept` sees it. `exists` is undefined for what is not kept here (groups, users). */
export interface Intake {
  readonly kinds: Kinds;
  readonly behaviours: Behaviours;
  /** Whether the fields are of an object that exists. */
  readonly update: boolean;
  readonly exists: (kind: string, id: string) => boolean | undefined;
  readonly complain: (path: string, why: string) => void;
}

/** Takes the fields of a body: unknown, computed and (in an update) immutable ones are complaints, as are values of another type. `below`: what their paths begin with. */
export function acceptAll(
  attributes: Attributes,
  body: JsonObject,
  intake: Intake,
  below = '',
): Record<string, Json> {
  const fields: Record<string, Json> = {};
  for (const [name, value] of Object.entries(body)) {
    const attribute = own(attributes, name);
    const path = below + name;
    if (!attribute) intake.complain(path, 'is not a field');
    else if (attribute.computed === true || (intake.update && attribute.immutable === true))
      intake.complain(path, 'cannot be written');
    else if (attribute.only_false === true && !(intake.update && value === false))
      intake.complain(path, 'can only be set to false, by an update');
    else fields[name] = accept(attribute, value, path, intake) ?? null;
  }
  return fields;
}

function accept(attribute: Attribute, value: Json, path: string, intake: Intake): Json | undefined {
  const wrong = (why: string): undefined => void intake.complain(path, why);
  const inner = (of: Attribute, item: Json, name: string | number): Json =>
    accept(of, item, `${path}.${name}`, intake) ?? null;
  switch (attribute.word) {
    case 'text':
      if (value === null && attribute.optional === true) return null;
      if (typeof value !== 'string') return wrong('must be a string');
      if (attribute.secret !== true) return value;
      return value === LIVE_MASK || value === ''
        ? wrong('must be a secret, not its mask')
        : LIVE_MASK;
    case 'choice':
      if (value === null && attribute.optional === true) return null;
      if (typeof value !== 'string' || value === '') return wrong('must be a string');
      return (attribute.open && !intake.behaviours.closed_choices) ||
        attribute.values.includes(value)
        ? value
        : wrong(`must be one of ${attribute.values.join(', ')}`);
    case 'flag':
      return typeof value === 'boolean' ? value : wrong('must be true or false');
    case 'integer':
      return typeof value === 'number' && Number.isSafeInteger(value)
        ? value
        : wrong('must be an integer');
    case 'number':
      return typeof value === 'number' ? value : wrong('must be a number');
    case 'document':
      if (attribute.wire === 'merge')
        return misfit(value) === undefined ? veiled(value) : wrong(misfit(value)!);
      if (value !== null && !isObject(value)) return wrong('must be an object or null');
      return intake.behaviours.empty_document_is_null &&
        value !== null &&
        Object.keys(value).length === 0
        ? null
        : value;
    case 'list':
    case 'set':
      return isList(value)
        ? value.map((item, index) => inner(attribute.of, item, index))
        : wrong('must be a list');
    case 'map':
      if (!isObject(value)) return wrong('must be an object');
      return mapMembers(value, (item, key) => inner(attribute.of, item, key));
    case 'object':
      return isObject(value)
        ? acceptObject(attribute.attributes, value, path, intake)
        : wrong('must be an object');
    case 'ref':
      return acceptReference(attribute, value, path, intake);
  }
}

function acceptObject(
  attributes: Attributes,
  members: JsonObject,
  path: string,
  intake: Intake,
): Json {
  const fields = acceptAll(attributes, members, { ...intake, update: false }, `${path}.`);
  for (const [name, { optional, computed, word }] of Object.entries(attributes)) {
    const needed = optional !== true && computed !== true && word !== 'set' && word !== 'list';
    if (needed && !Object.hasOwn(members, name)) intake.complain(`${path}.${name}`, 'is required');
  }
  return fields;
}

function plainId(value: unknown, wire: Attribute['wire']): string | null {
  const isId = wire === 'integer' ? Number.isSafeInteger(value) : typeof value === 'string';
  return isId ? String(value) : null;
}

function acceptReference(
  { to, wire, optional }: Extract<Attribute, { word: 'ref' }>,
  value: unknown,
  path: string,
  { kinds, exists, complain }: Intake,
): Json | undefined {
  // A router leaves its group; an account never leaves its parent.
  const leaves = optional === true && to !== 'accounts';
  if (value === null && leaves) return null;
  const id = wire === 'url' ? idFromUrl(value, collectionOf(kinds, to)) : plainId(value, wire);
  if (id === null || id === '') {
    const why = wire === 'integer' ? 'must be an integer' : `must identify one of ${to}`;
    return void complain(path, why);
  }
  return exists(to, id) === false
    ? void complain(path, `names one of ${to} that does not exist`)
    : id;
}

/** An id, or the URL of a record of that collection, absolute or relative. */
function idFromUrl(value: unknown, collection: string): string | null {
  if (Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'string') return null;
  return !value.includes('/') || value.split('/').filter(Boolean).at(-2) === collection
    ? idOf(value)
    : null;
}
