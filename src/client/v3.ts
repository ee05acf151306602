// The v3 API: JSON:API resources, cursor pages, no slash at the end of a path.
import {
  defined,
  isObject,
  mapMembers,
  normal,
  own,
  toWire,
  tryJson,
  type Json,
  type JsonObject,
  type Value,
  isList,
  redact,
} from '../model/index.js';
import { Malformed, segment } from './response.js';
import type { Dialect } from './dialect.js';
import { hasErrors, nextQuery } from './v2.js';

export const v3: Dialect = {
  name: 'v3',
  media: 'application/vnd.api+json',
  address: 'TRUEUP_V3_URL',
  credentials: 'TRUEUP_V3_TOKEN or TRUEUP_V3_TOKEN_FILE',
  path: (collection, id) => `/api/v3/${collection}${id === undefined ? '' : `/${segment(id)}`}`,
  query: (size, filters = {}) =>
    new URLSearchParams({ ...filters, 'page[size]': String(size) }).toString(),
  page(body, expand) {
    if (!isObject(body) || !isList(body['data']))
      throw new Malformed('has no list of resources under data');
    if (hasErrors(body)) throw new Malformed('reports errors beside its resources');
    const { data, included } = body;
    const records = expand === undefined ? data : withIncluded(data, included, expand.split(','));
    return { records, next: nextOf(body) };
  },
  single(body) {
    if (!isObject(body) || !isObject(body['data']))
      throw new Malformed('has no resource under data');
    return body['data'];
  },
  identify: (_, record) => record['id'],
  flatten({ attributes }, record) {
    const out: Record<string, Value> = {};
    for (const [name, attribute] of Object.entries(attributes)) {
      const value =
        attribute.wire === 'relationship'
          ? related(member(record, 'relationships')[name])
          : member(record, 'attributes')[name];
      if (value !== undefined) out[name] = value;
    }
    return out;
  },
  // The whole live resource goes back, so that nothing we do not own is lost with it.
  body(kind, { verb, fields, live }) {
    if (verb === 'create') {
      const { collection } = kind.operations;
      const attributes = mapMembers(fields, (value, name) => toWire(kind.attributes[name]!, value));
      return { data: { type: collection.slice(collection.lastIndexOf('/') + 1), attributes } };
    }
    if (!live?.raw) throw new Error(`an update of ${kind.singular} needs the live resource`);
    const { type, id, links } = live.raw;
    const attributes: Record<string, Value> = { ...member(live.raw, 'attributes') };
    const relationships: Record<string, Json> = { ...member(live.raw, 'relationships') };
    for (const [name, value] of Object.entries(fields)) {
      const attribute = kind.attributes[name]!;
      if (attribute.wire !== 'relationship') attributes[name] = toWire(attribute, value);
      else if (normal(attribute, related(relationships[name] ?? null)) !== value)
        relationships[name] = pointed(relationships[name] ?? null, value);
    }
    const data = { ...defined({ type }), id: id!, attributes, relationships };
    return { data: { ...data, ...defined({ links }) } };
  },
  throttles(body) {
    const parsed = tryJson(body);
    return !(isObject(parsed) && hasErrors(parsed));
  },
};

/**
 * A listing ends if `links.next` is null, if `links` is there without it, or if `meta.pagination.after` is null.
 * @throws Malformed if the response has none of these, or `after` names a page that no link leads to.
 */
function nextOf({ links, meta }: Readonly<Record<string, unknown>>): string | null {
  const next = isObject(links) ? own(links, 'next') : undefined;
  if (next !== undefined) return nextQuery(next, 'links.next');
  const pagination = isObject(meta) ? meta['pagination'] : undefined;
  const after = isObject(pagination) ? own(pagination, 'after') : undefined;
  if (after === null || (after === undefined && isObject(links))) return null;
  throw new Malformed(
    after === undefined
      ? 'does not say under links.next or meta.pagination.after whether more follows'
      : 'has more to follow under meta.pagination.after, but no links.next that leads there',
  );
}

const member = (record: JsonObject, name: string): JsonObject =>
  isObject(record[name]) ? record[name] : {};

/** The identifier, or list of identifiers, a relationship points at: null for none, undefined where the record does not say. */
function related(relationship: Json | undefined): Json | undefined {
  if (!isObject(relationship) || !Object.hasOwn(relationship, 'data')) return undefined;
  const { data } = relationship;
  if (Array.isArray(data))
    return data.flatMap((one: Json) =>
      isObject(one) && one['id'] !== undefined ? [one['id']] : [],
    );
  return isObject(data) ? data['id'] : null;
}

/** The resources with what some of their relationships point at in place of mere identifiers, as far as the response included it. */
function withIncluded(
  resources: readonly Json[],
  included: Json | undefined,
  words: readonly string[],
): readonly Json[] {
  if (included !== undefined && !isList(included))
    throw new Malformed('has something under included that is not a list');
  const keyOf = ({ type, id }: JsonObject): string => JSON.stringify([type, id]);
  const known = new Map(
    (included ?? []).flatMap((one) => (isObject(one) ? [[keyOf(one), one] as const] : [])),
  );
  const whole = (linkage: Json): Json =>
    isObject(linkage) ? (known.get(keyOf(linkage)) ?? linkage) : linkage;
  const expanded = (relationship: Json): Json => {
    if (!isObject(relationship)) return relationship;
    const { data = null } = relationship;
    return { ...relationship, data: Array.isArray(data) ? data.map(whole) : whole(data) };
  };
  return resources.map((resource) => {
    if (!isObject(resource)) return resource;
    const relationships = Object.entries(member(resource, 'relationships')).map(
      ([name, value]) => [name, words.includes(name) ? expanded(value) : value] as const,
    );
    return { ...resource, relationships: Object.fromEntries(relationships) };
  });
}

function pointed(relationship: Json | undefined, id: Value): JsonObject {
  const before = isObject(relationship) ? relationship : {};
  return { ...before, data: { ...member(before, 'data'), id: redact(id) } };
}
