// Data sources: one live object selected by its attributes, or the records of a collection that can only be read.
import {
  filterMeant,
  filterNames,
  isTree,
  labelOf,
  unaskable,
  wireText,
  withId,
  type Attribute,
  type Attributes,
  type CloudReader,
  type Collection,
  type Found,
  type Kind,
  type Live,
  type Query,
  type Value,
} from '../model/index.js';
import { covered } from './covered-documents.js';
import {
  elementsOf,
  fresh,
  identified,
  isRecord,
  isSameValue,
  stateOf,
  valuesOf,
} from './convert.js';
import { onlyOne } from './import-resource.js';
import type { CtyObject, CtyValue } from './protocol/cty.js';
import type { SchemaAttribute, WireDiagnostic } from './protocol/provider-replies.js';
import type { ListingCache } from './listing-cache.js';
import { wireError } from './wire-diagnostics.js';

type Shown = readonly SchemaAttribute[];

/** The live values, as far as a schema shows them; `given` stays as it was given. */
function shown(schema: Shown, attributes: Attributes, live: Value | undefined, given: CtyObject) {
  const values = isTree(live) ? live : {};
  return Object.fromEntries(
    schema.map(({ name, nested }) => [
      name,
      shownValue(nested?.attributes, attributes[name], values[name], given[name] ?? null),
    ]),
  );
}

function shownValue(
  nested: Shown | undefined,
  attribute: Attribute | undefined,
  live: Value | undefined,
  given: CtyValue,
): CtyValue {
  if (attribute === undefined) return given;
  if (nested && attribute.word === 'object')
    return isTree(live)
      ? shown(nested, attribute.attributes, live, isRecord(given) ? given : {})
      : null;
  if (given !== null) return given;
  if (!nested || !('of' in attribute) || attribute.of.word !== 'object')
    return fresh(attribute, live);
  const inner = attribute.of.attributes;
  const items = elementsOf(attribute, live, (item: Value) => shown(nested, inner, item, {}));
  return items ?? (attribute.word === 'map' ? null : []);
}

/** The live objects that have the values of a configuration. @throws Refusal where the listing is not proven complete */
async function meeting(
  listings: ListingCache,
  kind: Kind,
  config: CtyObject,
): Promise<readonly Live[]> {
  const attributes: Attributes = withId(kind);
  const wanted = Object.entries(valuesOf(attributes, config));
  const { byId } = await listings.list(kind);
  return [...byId.values()].filter((live) => {
    const values = identified(live);
    return wanted.every(([name, value]) => isSameValue(attributes[name]!, value, values[name]));
  });
}

/** The one live object that meets what is given. @throws Refusal where there is none, or more than one */
export async function readObject(
  listings: ListingCache,
  kind: Kind,
  schema: Shown,
  config: CtyObject,
): Promise<CtyObject> {
  const met = await meeting(listings, kind, config);
  const only = onlyOne(kind, met, 'lookup', (first) => ({
    detail: first
      ? `Add an attribute, for example id = "${first.id}".`
      : `List what is live: trueup get ${kind.name}`,
  }));
  return shown(schema, withId(kind), identified(only), config);
}

/** The objects of a kind with the values of a configuration, each with a name for people. @throws Refusal */
export async function listForQuery(
  listings: ListingCache,
  kind: Kind,
  { config, limit }: { readonly config: CtyObject; readonly limit: number },
) {
  const met = await meeting(listings, kind, config);
  return met.slice(0, limit > 0 ? limit : undefined).map((live) => ({
    name: labelOf(kind, live.values) ?? live.id,
    state: stateOf(withId(kind), identified(live), null),
  }));
}

/** Every complaint about what is asked of a collection, as far as it is known. */
export function askedBadly(collection: Collection, config: CtyObject): readonly WireDiagnostic[] {
  const { filter = null, limit } = config;
  const filters = isRecord(filter) ? filter : {};
  const out: WireDiagnostic[] = [];
  for (const word of Object.keys(filters)) {
    const meant = filterMeant(collection, word);
    if (typeof meant !== 'string')
      out.push(wireError(['filter', { key: word }], meant.summary, meant.detail));
  }
  for (const name of ['since', 'until'] as const) {
    const time = config[name];
    if (typeof time === 'string' && Number.isNaN(Date.parse(time)))
      out.push(
        wireError([name], `\`${name}\` is not a time`, 'Write it as in 2026-01-31T12:00:00Z.'),
      );
  }
  if (typeof limit === 'number' && !(Number.isInteger(limit) && limit >= 1))
    out.push(wireError(['limit'], '`limit` takes a whole number from 1'));
  const known =
    (filter === null || isRecord(filter)) &&
    Object.values(filters).every((value) => value === null || typeof value === 'string');
  const wrong =
    known && out.length === 0
      ? unaskable(collection, meantFilters(collection, filters))
      : undefined;
  const usable = `Filters: ${filterNames(collection).join(', ')}.`;
  return wrong ? [wireError(['filter'], wrong.summary, wrong.detail ?? usable)] : out;
}

function meantFilters(collection: Collection, filters: CtyObject) {
  const meant: Record<string, string> = {};
  for (const [word, value] of Object.entries(filters)) {
    const name = filterMeant(collection, word);
    if (typeof value === 'string' && typeof name === 'string') meant[name] = value;
  }
  return meant;
}

/** The records of a collection; pages beyond `limit` are not asked for. @throws Refusal */
export async function readRecords(
  cloud: CloudReader,
  collection: Collection,
  schema: Shown,
  config: CtyObject,
): Promise<CtyObject> {
  const inner = schema.find(({ name }) => name === 'records')?.nested?.attributes ?? [];
  const most = typeof config['limit'] === 'number' ? config['limit'] : Infinity;
  const records: CtyObject[] = [];
  for await (const page of cloud.records(collection, queryOf(collection, config))) {
    for (const found of page)
      if (records.length < most) records.push(recordOf(collection, inner, found));
    if (records.length >= most) break;
  }
  return { ...config, records };
}

function queryOf(collection: Collection, { filter = null, since, until }: CtyObject): Query {
  return {
    filters: isRecord(filter) ? meantFilters(collection, filter) : {},
    ...(typeof since === 'string' && { since: new Date(since).toISOString() }),
    ...(typeof until === 'string' && { until: new Date(until).toISOString() }),
  };
}

/** A collection of which nothing is known gives each record whole. */
function recordOf({ attributes }: Collection, schema: Shown, { record, values }: Found): CtyObject {
  const known = schema.some(({ name }) => Object.hasOwn(attributes, name));
  return known ? shown(schema, attributes, values, {}) : { record: wireText(covered(record)) };
}
