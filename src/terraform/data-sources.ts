// Data sources: one live object that meets a condition, or the records of a collection that is only read, page by page.
import {
  filterMeant,
  filterNames,
  isTree,
  refuse,
  unaskable,
  wireText,
  type Attributes,
  type CloudReader,
  type Collection,
  type Found,
  type Kind,
  type Live,
  type Query,
  type Value,
} from '../model/index.js';
import { fresh, isRecord, says, valuesOf } from './convert.js';
import type { CtyObject, CtyValue } from './protocol/cty.js';
import type { SchemaAttribute, WireDiagnostic } from './protocol/provider-server.js';
import type { ListingCache } from './listing-cache.js';

type Shown = readonly SchemaAttribute[];

/** What is live, as far as a schema shows it; `given` stands as it was given. */
function shown(
  schema: Shown,
  attributes: Attributes,
  live: Value | undefined,
  given: CtyObject,
): CtyObject {
  const values = isTree(live) ? live : {};
  return Object.fromEntries(
    schema.map(({ name, nested }) => [
      name,
      shownValue(name, nested?.attributes, attributes, values[name], given[name] ?? null),
    ]),
  );
}

function shownValue(
  name: string,
  nested: Shown | undefined,
  attributes: Attributes,
  live: Value | undefined,
  given: CtyValue,
): CtyValue {
  const attribute = attributes[name];
  if (attribute === undefined) return given;
  if (nested && attribute.word === 'object')
    return isTree(live)
      ? shown(nested, attribute.attributes, live, isRecord(given) ? given : {})
      : null;
  if (given !== null) return given;
  if (!nested || !('of' in attribute) || attribute.of.word !== 'object')
    return fresh(attribute, live);
  const inner = attribute.of.attributes;
  if (attribute.word === 'map')
    return isTree(live)
      ? Object.fromEntries(
          Object.entries(live).map(([key, item]) => [key, shown(nested, inner, item, {})]),
        )
      : null;
  return Array.isArray(live)
    ? (live as readonly Value[]).map((item) => shown(nested, inner, item, {}))
    : [];
}

/** The one live object that meets what is given. @throws Refusal where there is none, or more than one */
export async function readObject(
  listings: ListingCache,
  kind: Kind,
  schema: Shown,
  config: CtyObject,
): Promise<CtyObject> {
  const wanted = Object.entries(valuesOf(kind.attributes, config));
  const meets = ({ values }: Live): boolean =>
    wanted.every(([name, value]) =>
      says(kind.attributes[name] as Attributes[string], value, values[name]),
    );
  const { byId } = await listings.list(kind);
  const met = [...byId.values()].filter(meets);
  const [only] = met;
  if (only && met.length === 1) return shown(schema, kind.attributes, only.values, config);
  const ids = met
    .slice(0, 5)
    .map(({ id }) => id)
    .join(', ');
  return refuse(
    'lookup',
    `Exactly one of ${kind.name} must match, but ${only ? `${met.length} do: ${ids}` : 'none does'}.`,
    {
      detail: only
        ? `Add an attribute, for example ${kind.id} = "${only.id}".`
        : `List what is live: trueup get ${kind.name}`,
    },
  );
}

/** Every complaint about what is asked of a collection, as far as it is known. */
export function askedBadly(collection: Collection, config: CtyObject): readonly WireDiagnostic[] {
  const filters = isRecord(config['filter'] ?? null) ? (config['filter'] as CtyObject) : {};
  const out: WireDiagnostic[] = [];
  for (const word of Object.keys(filters)) {
    const meant = filterMeant(collection, word);
    if (typeof meant !== 'string')
      out.push({ severity: 'error', ...meant, path: ['filter', { key: word }] });
  }
  for (const name of ['since', 'until'] as const) {
    const time = config[name];
    if (typeof time === 'string' && Number.isNaN(Date.parse(time)))
      out.push({
        severity: 'error',
        summary: `\`${name}\` is no time`,
        detail: 'Write it as in 2026-01-31T12:00:00Z.',
        path: [name],
      });
  }
  const { limit } = config;
  if (typeof limit === 'number' && !(Number.isInteger(limit) && limit >= 1))
    out.push({
      severity: 'error',
      summary: '`limit` takes a whole number from 1',
      path: ['limit'],
    });
  const known =
    Object.values(filters).every((value) => value === null || typeof value === 'string') &&
    (config['filter'] ?? null) === (isRecord(config['filter']) ? filters : null);
  const wrong =
    known && out.length === 0
      ? unaskable(collection, meantFilters(collection, filters))
      : undefined;
  if (wrong)
    out.push({
      severity: 'error',
      summary: wrong.summary,
      detail: wrong.detail ?? filtersOf(collection),
      path: ['filter'],
    });
  return out;
}

const filtersOf = (collection: Collection): string =>
  `Filters: ${filterNames(collection).join(', ')}.`;

function meantFilters(
  collection: Collection,
  filters: CtyObject,
): Readonly<Record<string, string>> {
  const entries = Object.entries(filters).flatMap(
    ([word, value]): readonly (readonly [string, string])[] => {
      const meant = filterMeant(collection, word);
      return typeof value === 'string' && typeof meant === 'string' ? [[meant, value]] : [];
    },
  );
  return Object.fromEntries(entries);
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
  return known ? shown(schema, attributes, values, {}) : { record: wireText(record) };
}
