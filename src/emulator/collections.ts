// Collections that can only be read: their records, filters and form in responses. The filters are written from the API
// reference, not taken from the collections of the client.
import { wireText, type Collection, type JsonObject, isObject } from '../model/index.js';
import { faceOf, queryOf, route, type EmulatorApp, type Asked, type EmulatedCloud } from './app.js';
import { filtersOf } from './collection-rules.js';
import { by, filtered, type Filter } from './filter-comparison.js';
import { checkParameters } from './pagination.js';
import { extrasOf } from './public-dialect.js';
import { showAll, urlOf, type RenderContext, type StoredRecord } from './records.js';
import { turnDown } from './error-responses.js';
import { collectionRoutes as v2Collection, offsetPage, recordTextOf, type TextOf } from './v2.js';
import { cursorPage, linkage, pageParameters, type Resources } from './v3.js';

interface Reference {
  readonly filters: Readonly<Record<string, Filter>>;
  /** A filter that has to be given. */
  readonly needs?: string;
  /** Whether `meta` also has offset and previous, beside limit and next. */
  readonly whole?: true;
}

const named: Readonly<Record<string, Reference>> = {
  alerts: {
    filters: {
      account: by('account', 'reference'),
      created_at: by('created_at', 'time'),
      created_at_timeuuid: by('created_at_timeuuid', 'uuid'),
      detected_at: by('detected_at', 'time'),
      friendly_info: by('friendly_info'),
      router: by('router', 'reference'),
      type: by('type'),
    },
  },
  audit_logs: {
    filters: {
      account_id: by('account_id', 'integer'),
      account_id_in: by('account_id', 'integer', 'among'),
      reported_at: by('reported_at', 'time'),
      reported_at__lt: by('reported_at', 'time', 'lt'),
      reported_at__gt: by('reported_at', 'time', 'gt'),
      reported_at_timeuuid: by('reported_at_timeuuid', 'uuid'),
      reported_at_timeuuid_in: by('reported_at_timeuuid', 'uuid', 'among'),
      reported_at_timeuuid_gt: by('reported_at_timeuuid', 'uuid', 'gt'),
      reported_at_timeuuid_gte: by('reported_at_timeuuid', 'uuid', 'gte'),
      reported_at_timeuuid_lt: by('reported_at_timeuuid', 'uuid', 'lt'),
      reported_at_timeuuid_lte: by('reported_at_timeuuid', 'uuid', 'lte'),
    },
  },
  batteries: { filters: { router: by('router', 'integer') }, needs: 'router', whole: true },
  asset_endpoints: {
    filters: {
      'filter[hardware_series]': by('hardware_series'),
      'filter[hardware_series_key]': by('hardware_series_key'),
      'filter[mac_address]': by('mac_address'),
      'filter[serial_number]': by('serial_number'),
      'filter[subscription]': by('subscriptions'),
    },
  },
};

/** One that is not named here is filtered by its own parameters. */
const referenceOf = (one: Collection): Reference =>
  named[one.name] ?? { filters: filtersOf(one), whole: true };

export function addCollections(app: EmulatorApp, cloud: EmulatedCloud): void {
  for (const one of cloud.store.collections) {
    if (one.operations.dialect === 'v2') {
      const text = recordTextOf((record, face) => shown(one, record, face));
      v2Collection(app, one.operations.collection, { GET: (c) => listV2(c, one, text) });
    }
    const { id } = one;
    if (one.operations.dialect === 'v3' && id !== undefined)
      route(app, `/api/v3/${one.operations.collection}`, {
        GET: (c) => listV3(c, { ...one, id }),
      });
  }
}

export function shown(
  { name, id = '', attributes }: Collection,
  record: StoredRecord,
  face: RenderContext,
): JsonObject {
  return {
    ...record,
    ...showAll(attributes, record, face),
    ...(attributes.resource_url && { resource_url: urlOf(face, name, String(record[id])) }),
  };
}

function listV2(c: Asked, one: Collection, text: TextOf): Response {
  const face = faceOf(c);
  const { narrow } = extrasOf(c, one);
  const show = narrow
    ? (record: StoredRecord) => wireText(narrow(shown(one, record, face)))
    : (record: StoredRecord) => text(record, face);
  const records = matching(c, one, ['limit', 'offset']);
  return offsetPage(c, records, show, referenceOf(one).whole === true);
}

function listV3(c: Asked, one: Resources): Response {
  return cursorPage(c, one, matching(c, one, pageParameters), (records) => ({
    included: included(one, records),
  }));
}

/** The targets of the records' relationships, each once, with nothing in it. */
function included(
  { attributes }: Collection,
  records: readonly StoredRecord[],
): readonly JsonObject[] {
  const unique = new Map<string, JsonObject>();
  for (const [name, attribute] of Object.entries(attributes)) {
    if (attribute.wire !== 'relationship') continue;
    for (const record of records)
      for (const link of [linkage(attribute, record[name] ?? null)].flat())
        if (isObject(link)) unique.set(`${String(link.type)} ${String(link.id)}`, link);
  }
  return [...unique.values()].map((link) => ({ ...link, attributes: {}, relationships: {} }));
}

function matching(c: Asked, one: Collection, paging: readonly string[]): readonly StoredRecord[] {
  const { filters, needs } = referenceOf(one);
  const query = queryOf(c);
  const extras = extrasOf(c, one);
  checkParameters(query, [...paging, ...Object.keys(filters)], extras.knows);
  if (needs !== undefined && !query.has(needs) && !query.has(`${needs}.id`))
    turnDown(400, `${needs} must be given`, [needs]);
  return extras.pick(filtered(c.env.cloud.store.records(one.name), query, filters));
}
