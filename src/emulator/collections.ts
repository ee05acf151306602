// What can only be read: which records there are, what listings filter by, and how they are shown. The filters are
// written from the API reference, not taken from the collections that the client knows.
import { idOf, type Collection, type Json, type JsonObject } from '../model/index.js';
import { faceOf, queryOf, route, type App, type Asked, type Cloud } from './app.js';
import { checkParameters } from './pages.js';
import { showAll, urlOf, type Face, type Stored } from './records.js';
import { turnDown } from './refused.js';
import { collection as v2Collection, offsetPage, textOf, type TextOf } from './v2.js';
import { cursorPage, linkage, pageParameters, type Resources } from './v3.js';

/** What the value of a filter has to be, and how it is compared. */
type Shape = 'text' | 'integer' | 'reference' | 'time' | 'uuid';
type Test = 'is' | 'among' | 'lt' | 'lte' | 'gt' | 'gte';
interface Filter {
  readonly field: string;
  readonly shape: Shape;
  readonly test: Test;
}

interface Reference {
  readonly filters: Readonly<Record<string, Filter>>;
  /** A filter that has to be given. */
  readonly needs?: string;
  /** Whether `meta` tells offset and previous, beside limit and next. */
  readonly whole?: true;
}

const by = (field: string, shape: Shape = 'text', test: Test = 'is'): Filter => ({ field, shape, test });

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

/** One that is not named here is filtered by its own parameters, as text. */
function referenceOf({ name, operations: { filters = [] } }: Collection): Reference {
  return named[name] ?? { filters: Object.fromEntries(filters.map((filter) => [filter, by(/^filter\[(.+)\]$/.exec(filter)?.[1] ?? filter)])) };
}

export function addCollections(app: App, cloud: Cloud): void {
  for (const one of cloud.store.collections) {
    if (one.operations.dialect === 'v2') {
      const text = textOf((record, face) => shown(one, record, face));
      v2Collection(app, one.operations.collection, { GET: (c) => listV2(cloud, one, text, c) });
    }
    if (one.operations.dialect === 'v3') route(app, `/api/v3/${one.operations.collection}`, { GET: (c) => listV3(cloud, one as Resources, c) });
  }
}

function shown({ name, id = '', attributes }: Collection, record: Stored, face: Face): Json {
  return { ...record, ...showAll(attributes, record, face), ...(attributes.resource_url && { resource_url: urlOf(face, name, String(record[id])) }) };
}

function listV2(cloud: Cloud, one: Collection, text: TextOf, c: Asked): Response {
  const face = faceOf(cloud, c);
  return offsetPage(cloud, c, matching(cloud, one, ['limit', 'offset'], c), (record) => text(record, face), referenceOf(one).whole === true);
}

function listV3(cloud: Cloud, one: Resources, c: Asked): Response {
  return cursorPage(cloud, one, matching(cloud, one, pageParameters, c), c, (records) => ({ included: included(one, records) }));
}

/** What the relationships of the records point at, each once, with nothing in it. */
function included({ attributes }: Collection, records: readonly Stored[]): readonly JsonObject[] {
  const pointed = Object.entries(attributes).flatMap(([name, attribute]) =>
    attribute.wire === 'relationship' ? records.flatMap((record) => linkage(attribute, record[name] ?? null) as JsonObject | readonly JsonObject[] | null) : [],
  );
  const unique = new Map(pointed.flatMap((link) => (link ? [[`${String(link.type)} ${String(link.id)}`, link] as const] : [])));
  return [...unique.values()].map((link) => ({ ...link, attributes: {}, relationships: {} }));
}

function matching({ store }: Cloud, one: Collection, paging: readonly string[], c: Asked): readonly Stored[] {
  const { filters, needs } = referenceOf(one);
  const query = queryOf(c);
  checkParameters(query, (name) => paging.includes(name) || Object.hasOwn(filters, name));
  if (needs !== undefined && !query.has(needs)) turnDown(400, `${needs} must be given`, [needs]);
  const tests = Object.entries(filters).flatMap(([name, filter]) => {
    const text = query.get(name);
    return text === null ? [] : [testOf(name, filter, text)];
  });
  const records = store.records(one.name);
  return tests.length === 0 ? records : records.filter((record) => tests.every((test) => test(record)));
}

const MOST_VALUES = 100;

/** What values of a shape are compared by; undefined for what is none. */
function keyOf(shape: Shape, value: string): string | number | undefined {
  switch (shape) {
    case 'text':
      return value;
    case 'integer':
      return /^\d{1,19}$/.test(value) ? value.replace(/^0+(?=\d)/, '') : undefined;
    case 'reference':
      return keyOf('integer', idOf(value) ?? '');
    case 'time':
      return Number.isNaN(Date.parse(value)) ? undefined : Date.parse(value);
    case 'uuid': {
      const [, low, mid, high, rest] = /^([0-9a-f]{8})-([0-9a-f]{4})-1([0-9a-f]{3})-([0-9a-f]{4}-[0-9a-f]{12})$/i.exec(value) ?? [];
      return low === undefined ? undefined : `${high}${mid}${low}${rest}`.toLowerCase();
    }
  }
}

const compared: Readonly<Record<Test, (a: string | number, b: string | number) => boolean>> = {
  is: (a, b) => a === b,
  among: (a, b) => a === b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
};

/** @throws Refused (400) for a value that cannot be one of that filter. */
function testOf(name: string, { field, shape, test }: Filter, text: string): (record: Stored) => boolean {
  const given = test === 'among' ? text.split(',') : [text];
  if (given.length > MOST_VALUES) turnDown(400, `${name} takes at most ${MOST_VALUES} values`, [name]);
  const wanted = given.map((value) => keyOf(shape, value) ?? turnDown(400, `the value of ${name} is not valid`, [name]));
  return (record) =>
    [record[field] ?? []].flat().some((value: Json) => {
      const key = keyOf(shape, String(value));
      return key !== undefined && wanted.some((one) => compared[test](key, one));
    });
}
