// The v3 API (JSON:API): `/api/v3/<collection>`, bearer tokens, resources with relationships, cursors.
import {
  equal,
  isObject,
  keptMembers,
  mapMembers,
  own,
  wireText,
  type Attribute,
  type Collection,
  type Json,
  type JsonObject,
  type Kind,
} from '../model/index.js';
import type { Actor } from './activity-log.js';
import {
  textResponse,
  bearerOf,
  bodyOf,
  commit,
  guardPath,
  originOf,
  queryOf,
  route,
  type EmulatorApp,
  type Asked,
  type EmulatedCloud,
  type Handler,
} from './app.js';
import { drafted, existing, fieldsOf, remove, requireAll } from './write-steps.js';
import { behind, checkParameters, count, cursorAt, locate, queryWith } from './pagination.js';
import { filtered, passing } from './filter-comparison.js';
import { type StoredRecord, recordId } from './records.js';
import { mediaTypes, turnDown } from './error-responses.js';
import { filtersOf } from './collection-rules.js';

const DEFAULT_PAGE = 20;
const MOST_PAGE = 50;
const bulk = `${mediaTypes.v3};ext=bulk`;

export function addV3(app: EmulatorApp, cloud: EmulatedCloud): void {
  guardPath(app, '/api/v3/*', 'v3', actorOf);
  for (const kind of cloud.store.kinds.values())
    if (kind.operations.dialect === 'v3') addKind(app, kind);
}

function addKind(app: EmulatorApp, kind: Kind): void {
  const { collection, create, update, delete: removal } = kind.operations;
  const path = `/api/v3/${collection}`;
  route(app, path, {
    GET: (c) => list(c, kind),
    POST: create && ((c) => makeOne(c, kind)),
  });
  const verbs: Record<string, Handler | undefined> = {
    GET: (c) => v3Response({ data: resource(c, kind, existing(c, kind)) }),
    DELETE: removal && ((c) => removeOne(c, kind)),
  };
  if (update) verbs[update] = (c) => updateOne(c, kind);
  route(app, `${path}/:id`, verbs);
}

function actorOf(c: Asked): Actor {
  const user = own(c.env.cloud.credentials.v3, bearerOf(c));
  return user
    ? { id: user.id, email: user.email, type_name: 'sso_user' }
    : turnDown(401, 'the token is missing or not valid', [], { 'www-authenticate': 'Bearer' });
}

const v3Response = (value: Json, status?: number): Response =>
  textResponse(wireText(value), 'v3', status);
/** A collection of JSON:API resources. */
export type Resources = Collection & { readonly id: string };

const typeOf = ({ operations }: Resources): string =>
  operations.collection.slice(operations.collection.lastIndexOf('/') + 1);
const identify = (kind: Resources) => (record: StoredRecord) => recordId(kind, record);

function resource(c: Asked, kind: Resources, record: StoredRecord): JsonObject {
  const attributes: Record<string, Json> = {};
  const relationships: Record<string, Json> = {};
  for (const [name, attribute] of Object.entries(kind.attributes)) {
    if (name === kind.id) continue;
    if (attribute.wire === 'relationship')
      relationships[name] = { data: linkage(attribute, record[name] ?? null) };
    else attributes[name] = record[name] ?? null;
  }
  const id = recordId(kind, record);
  const self = `${originOf(c)}/api/v3/${kind.operations.collection}/${encodeURIComponent(id)}`;
  return { type: typeOf(kind), id, attributes, relationships, links: { self } };
}

export function linkage(attribute: Attribute, id: Json): Json {
  if (attribute.word === 'set' && Array.isArray(id))
    return id.map((one: Json) => linkage(attribute.of, one));
  return attribute.word === 'ref' && id !== null ? { type: attribute.to, id } : null;
}

function list(c: Asked, kind: Kind): Response {
  const query = queryOf(c);
  const known = [...pageParameters, 'search', 'sort', ...Object.keys(filtersOf(kind))];
  checkParameters(query, known, (name) => /^search\[.*\]$/.test(name));
  const records = inOrder(kind, query.get('sort'), matching(c, kind));
  return cursorPage(c, kind, records);
}

export const pageParameters = ['page[size]', 'page[after]', 'page[before]'];

/** A page of the records; `beside` gives what goes with those that are shown. */
export function cursorPage(
  c: Asked,
  kind: Resources,
  records: readonly StoredRecord[],
  beside: (shown: readonly StoredRecord[]) => JsonObject = () => ({}),
): Response {
  const query = queryOf(c);
  const size = count(query, 'page[size]', DEFAULT_PAGE, [1, MOST_PAGE]);
  const [start, end] = bounds(records, kind, query, size);
  const shown = records.slice(start, end);
  const cursor = (index: number): string => cursorAt(records, index, identify(kind));
  const after = end < records.length && shown.length > 0 ? cursor(end - 1) : null;
  const before = start > 0 && shown.length > 0 ? cursor(start) : null;
  const { pathname } = new URL(c.req.url);
  const link = (changes: Readonly<Record<string, string | null>>): string =>
    originOf(c) + pathname + queryWith(query, changes);
  return v3Response({
    data: shown.map((record) => resource(c, kind, record)),
    ...beside(shown),
    links: {
      next: after === null ? null : link({ 'page[after]': after, 'page[before]': null }),
      prev: before === null ? null : link({ 'page[before]': before, 'page[after]': null }),
    },
    meta: { pagination: { after, before } },
  });
}

function bounds(
  records: readonly StoredRecord[],
  kind: Resources,
  query: URLSearchParams,
  size: number,
): readonly [start: number, end: number] {
  const after = query.get('page[after]');
  const before = query.get('page[before]');
  const both = ['page[after]', 'page[before]'];
  if (after !== null && before !== null)
    turnDown(400, `${both.join(' and ')} exclude each other`, both);
  if (before !== null) {
    const { at } = locate(records, before, 'page[before]', identify(kind));
    return [Math.max(0, at - size), at];
  }
  const start = after === null ? 0 : behind(records, after, 'page[after]', identify(kind));
  return [start, start + size];
}

function matching(c: Asked, kind: Kind): readonly StoredRecord[] {
  const query = queryOf(c);
  const searches = [...query].flatMap(([parameter, terms]) => {
    const form = /^search(?:\[(.*)\])?$/.exec(parameter);
    return form ? [searchTest(kind, parameter, form[1], terms)] : [];
  });
  const records = filtered(c.env.cloud.store.all(kind), query, filtersOf(kind));
  return passing(records, searches);
}

/** Any of the terms in any of the fields, as part of the text, in any case. */
function searchTest(
  kind: Kind,
  parameter: string,
  fieldList: string | undefined,
  terms: string,
): (record: StoredRecord) => boolean {
  const fields =
    fieldList === undefined
      ? Object.keys(kind.attributes)
      : fieldList.split(',').map((name) => name.trim());
  if (!fields.every((name) => Object.hasOwn(kind.attributes, name)))
    turnDown(400, 'search names a field that does not exist', [parameter]);
  const wanted = terms.toLowerCase().split(',').filter(Boolean);
  return (record) => {
    const texts = fields.map((name) => String(record[name] ?? '').toLowerCase());
    return wanted.some((term) => texts.some((text) => text.includes(term)));
  };
}

function inOrder(
  kind: Kind,
  sort: string | null,
  records: readonly StoredRecord[],
): readonly StoredRecord[] {
  if (sort === null) return records;
  const name = sort.replace(/^-/, '');
  if (!Object.hasOwn(kind.attributes, name))
    turnDown(400, 'sort names a field that does not exist', ['sort']);
  const sign = sort.startsWith('-') ? -1 : 1;
  return records.toSorted(
    (a, b) => sign * String(a[name]).localeCompare(String(b[name]), 'en', { numeric: true }),
  );
}

interface Sent {
  readonly id: unknown;
  readonly attributes: JsonObject;
  /** Ids by relationship. */
  readonly links: JsonObject;
}

/** The resource of a body. @throws Refused for anything that is not one resource of this kind. */
function resourceOf(c: Asked, kind: Kind): Sent {
  const { data } = bodyOf(c, 'v3', [mediaTypes.v3, bulk]);
  if (!isObject(data)) return turnDown(400, 'the body must hold one resource', ['/data']);
  const members = ['type', 'id', 'attributes', 'relationships', 'links', 'meta'];
  const unknown = Object.keys(data).filter((name) => !members.includes(name));
  const places = unknown.map((name) => `/data/${name}`);
  if (unknown.length > 0) turnDown(400, 'unknown member of a resource', places);
  if (data.type !== typeOf(kind)) turnDown(409, `the type must be ${typeOf(kind)}`, ['/data/type']);
  const objectIn = (name: string): JsonObject => {
    const value = data[name] === undefined ? {} : data[name];
    return isObject(value) ? value : turnDown(400, `${name} must be an object`, [`/data/${name}`]);
  };
  const [attributes, relationships] = [objectIn('attributes'), objectIn('relationships')];
  const misplaced = Object.keys(attributes).filter(
    (name) => own(kind.attributes, name)?.wire === 'relationship',
  );
  if (misplaced.length > 0)
    turnDown(400, 'relationships are not attributes', misplaced.map(inAttributes));
  const links = mapMembers(relationships, (value, name) => linkedId(kind, name, value));
  return { id: data.id, attributes, links };
}

function linkedId(kind: Kind, name: string, value: unknown): string {
  const attribute = own(kind.attributes, name);
  const data = isObject(value) ? value.data : undefined;
  const fits =
    attribute?.word === 'ref' &&
    attribute.wire === 'relationship' &&
    isObject(data) &&
    data.type === attribute.to &&
    typeof data.id === 'string';
  return fits
    ? String(data.id)
    : turnDown(400, 'not a relationship of this resource', [`/data/relationships/${name}`]);
}

const inAttributes = (path: string): string => `/data/attributes/${path.replaceAll('.', '/')}`;
const inRelationships = (path: string): string => `/data/relationships/${path}`;
const placeIn = (kind: Kind) => (name: string) =>
  kind.attributes[name]?.wire === 'relationship' ? inRelationships(name) : inAttributes(name);

/** A whole resource comes back: relationships and what belongs to the server have to be as they are. */
function updateOne(c: Asked, kind: Kind): Response {
  const before = existing(c, kind);
  const { id, attributes, links } = resourceOf(c, kind);
  if (id !== before[kind.id]) turnDown(409, 'the id must be the one of the path', ['/data/id']);
  const moved = Object.keys(links).filter((name) => links[name] !== before[name]);
  if (moved.length > 0)
    turnDown(409, 'relationships cannot be changed', moved.map(inRelationships));
  const written = keptMembers(
    attributes,
    (value, name) => kind.attributes[name]?.computed !== true || !equal(value, before[name]),
  );
  const fields = fieldsOf(c, kind, written, inAttributes);
  const kept = keptMembers(before, (_, name) => kind.attributes[name]?.wire === 'relationship');
  requireAll(kind, { ...kept, ...fields }, inAttributes);
  const after = { ...before, ...fields };
  commit(c, { kind, before, after });
  return v3Response({ data: resource(c, kind, after) });
}

function makeOne(c: Asked, kind: Kind): Response {
  const { attributes, links } = resourceOf(c, kind);
  const fields = {
    ...fieldsOf(c, kind, attributes, inAttributes),
    ...fieldsOf(c, kind, links, inRelationships),
  };
  requireAll(kind, fields, placeIn(kind));
  const record = drafted(c, kind, fields);
  commit(c, { kind, after: record });
  return v3Response({ data: resource(c, kind, record) }, c.env.cloud.behaviours.created_status);
}

function removeOne(c: Asked, kind: Kind): Response {
  remove(c, kind, existing(c, kind));
  return new Response(null);
}
