// The legacy surface: `/api/v2/<collection>/`, four headers, `data` and `meta`, references as URLs.
import {
  canonical,
  idOf,
  wireText,
  type Attribute,
  type Json,
  type JsonObject,
  type Kind,
} from '../model/index.js';
import { activityFilters, activityTest, type Actor } from './activity-log.js';
import {
  bodyOf,
  checkAccept,
  faceOf,
  originOf,
  queryOf,
  route,
  type EmulatorApp,
  type Asked,
  type EmulatedCloud,
  type Handler,
  type V2Key,
} from './app.js';
import { mergedAdditions } from './configuration.js';
import { drafted, existing, fieldsOf, remove, requireAll } from './write-steps.js';
import {
  behind,
  behindPlace,
  checkParameters,
  count,
  cursorAt,
  placeCursor,
  queryWith,
} from './pagination.js';
import { extrasOf, publicHeader } from './public-dialect.js';
import { blank, showRecord, type Face, type StoredRecord } from './records.js';
import { turnDown } from './error-responses.js';
import { isNamed, specificsOf } from './collection-rules.js';

const DEFAULT_PAGE = 20;
const MOST_VALUES = 100;
const MOST_PAGE = 500;
/** Name of the cursor in `next`: not documented, so nobody may depend on it. */
const CURSOR = 'cursor';

export function addV2(app: EmulatorApp, cloud: EmulatedCloud): void {
  app.use('/api/v2/*', async (c, next) => {
    c.set('actor', actorOf(cloud, c));
    checkAccept(c, 'v2');
    await next();
  });
  for (const kind of cloud.store.kinds.values())
    if (kind.operations.dialect === 'v2') addKind(app, cloud, kind);
  collectionRoutes(app, 'activity_logs', { GET: (c) => listActivities(cloud, c) });
}

function addKind(app: EmulatorApp, cloud: EmulatedCloud, kind: Kind): void {
  const { collection: name, create, update, delete: removal } = kind.operations;
  const text = recordTextOf((record, face) =>
    showRecord(kind, record, face, specificsOf(kind).listsUrl),
  );
  collectionRoutes(app, name, {
    GET: (c) => list(cloud, kind, text, c),
    POST: create && ((c) => makeOne(cloud, kind, c)),
  });
  const verbs: Record<string, Handler | undefined> = {
    DELETE: removal && ((c) => removeOne(cloud, kind, c)),
  };
  if (update) verbs[update] = (c) => updateOne(cloud, kind, c);
  if (specificsOf(kind).patched?.(cloud.behaviours))
    verbs['PATCH'] = (c) => updateOne(cloud, kind, c);
  if (cloud.behaviours.dialect === 'public')
    verbs['GET'] = (c) =>
      answer(showRecord(kind, existing(cloud, kind, c), faceOf(cloud, c), true));
  if (Object.values(verbs).some(Boolean)) collectionRoutes(app, `${name}/:id`, verbs);
}

/** A path that ends in a slash; without it the answer is a redirection that no client should follow. */
export function collectionRoutes(
  app: EmulatorApp,
  name: string,
  verbs: Readonly<Record<string, Handler | undefined>>,
): void {
  route(app, `/api/v2/${name}/`, verbs);
  app.all(`/api/v2/${name}`, (c) => {
    const { pathname, search } = new URL(c.req.url);
    return new Response(null, { status: 301, headers: { location: `${pathname}/${search}` } });
  });
}

/** @throws Refused (401) */
export function actorOf({ credentials, behaviours }: EmulatedCloud, c: Asked): Actor {
  const given = (name: string): string | undefined =>
    c.req.header(name) ??
    (behaviours.dialect === 'public' ? c.req.header(publicHeader(name)) : undefined);
  const key = credentials.v2.find((one) =>
    (Object.keys(one) as (keyof V2Key)[]).every((name) => given(name) === one[name]),
  );
  return key
    ? { id: key['X-MGR-API-ID'], type_name: 'api_key' }
    : turnDown(401, 'Authentication failed: the API keys are missing or not valid.');
}

export const answer = (value: Json, status = 200): Response => jsonText(wireText(value), status);
const jsonText = (text: string, status = 200): Response =>
  new Response(text, { status, headers: { 'content-type': 'application/json' } });

export type TextOf = (record: StoredRecord, face: Face) => string;

/** Text of a record in a listing, kept until the record changes or is asked for under another address. */
export function recordTextOf(shown: (record: StoredRecord, face: Face) => Json): TextOf {
  const kept = new WeakMap<StoredRecord, { readonly base: string; readonly text: string }>();
  return (record, face) => {
    const had = kept.get(record);
    if (had?.base === face.base) return had.text;
    const text = wireText(shown(record, face));
    kept.set(record, { base: face.base, text });
    return text;
  };
}

function list(cloud: EmulatedCloud, kind: Kind, text: TextOf, c: Asked): Response {
  const { filters, expand } = specificsOf(kind);
  const query = queryOf(c);
  const byOffset = kind.operations.paging === 'offset';
  const known = new Set([
    ...filters,
    'limit',
    byOffset ? 'offset' : CURSOR,
    ...(expand.length > 0 ? ['expand'] : []),
  ]);
  const extras = extrasOf(cloud, kind, c);
  checkParameters(query, (name) => known.has(name) || extras.knows(name));
  const expanded = query.get('expand');
  if (expanded !== null && !expand.includes(expanded))
    turnDown(400, `expand takes ${expand.join(', ')}`, ['expand']);

  const matching = extras.pick(filtered(cloud, kind, filters, query));
  const face = faceOf(cloud, c);
  const { narrow = (shown) => shown, ordered } = extras;
  const plain = expanded === null && !extras.narrow;
  const shown = (record: StoredRecord): JsonObject =>
    expanded === null
      ? showRecord(kind, record, face, specificsOf(kind).listsUrl)
      : expandedRecord(cloud, kind, record, face, expanded);
  const show = (record: StoredRecord): string =>
    plain ? text(record, face) : wireText(narrow(shown(record)));
  return byOffset
    ? offsetPage(cloud, c, matching, show, true)
    : cursorPage(cloud, c, matching, show, ordered ? byId(kind) : byPlace(cloud, kind));
}

function expandedRecord(
  cloud: EmulatedCloud,
  kind: Kind,
  record: StoredRecord,
  face: Face,
  name: string,
): JsonObject {
  const shown = showRecord(kind, record, face, true);
  const attribute = kind.attributes[name];
  const target = attribute?.word === 'ref' ? cloud.store.kinds.get(attribute.to) : undefined;
  const other =
    target && typeof record[name] === 'string' ? cloud.store.get(target, record[name]) : undefined;
  return target && other ? { ...shown, [name]: showRecord(target, other, face, true) } : shown;
}

/** Records that pass every filter of the query. Those named by id are looked up, not searched for. */
function filtered(
  cloud: EmulatedCloud,
  kind: Kind,
  filters: readonly string[],
  query: URLSearchParams,
): readonly StoredRecord[] {
  let records: readonly StoredRecord[] | undefined;
  const tests: ((record: StoredRecord) => boolean)[] = [];
  for (const filter of filters) {
    const text = query.get(filter);
    if (text === null) continue;
    const name = filter.replace(/__in$/, '');
    const values = name === filter ? [text] : text.split(',');
    if (values.length > MOST_VALUES)
      turnDown(400, `${filter} takes at most ${MOST_VALUES} values`, [filter]);
    const attribute = kind.attributes[name] as Attribute;
    if (name === kind.id && !records) records = lookedUp(cloud, kind, filter, values);
    else
      tests.push(
        anyOf(
          values.map((value) => filterTest(filter, attribute, value)),
          name,
        ),
      );
  }
  const pool = records ?? cloud.store.all(kind);
  return tests.length === 0 ? pool : pool.filter((record) => tests.every((test) => test(record)));
}

const anyOf =
  (tests: readonly ((value: Json) => boolean)[], name: string) => (record: StoredRecord) =>
    tests.some((test) => test(record[name] ?? null));

function lookedUp(
  { store }: EmulatedCloud,
  kind: Kind,
  filter: string,
  values: readonly string[],
): readonly StoredRecord[] {
  const shape = kind.id === 'id' ? /^\d+$/ : /^[0-9a-f-]{36}$/i;
  if (!values.every((value) => shape.test(value)))
    turnDown(400, `the value of ${filter} is not an id`, [filter]);
  return [...new Set(values)].flatMap((id) => {
    const record = store.get(kind, id);
    return record ? [record] : [];
  });
}

function filterTest(filter: string, attribute: Attribute, text: string): (value: Json) => boolean {
  const bad = (): never => turnDown(400, `the value of ${filter} is not valid`, [filter]);
  switch (attribute.word) {
    case 'ref': {
      const id = idOf(text);
      return id === null || (attribute.wire !== undefined && !/^\d+$/.test(id))
        ? bad()
        : (value) => value === id;
    }
    case 'set':
    case 'list': {
      const test = filterTest(filter, attribute.of, text);
      return (value) => Array.isArray(value) && value.some((item: Json) => test(item));
    }
    case 'object':
    case 'document': {
      const wanted = parsed(text) ?? bad();
      return (value) => canonical(value) === canonical(wanted);
    }
    case 'flag':
      return text === 'true' || text === 'false' ? (value) => String(value) === text : bad();
    default: {
      if (attribute.word !== 'text' || attribute.wire !== 'timestamp')
        return (value) => String(value) === text;
      const at = Date.parse(text);
      return Number.isNaN(at)
        ? bad()
        : (value) => typeof value === 'string' && Date.parse(value) === at;
    }
  }
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** `whole`: whether `meta` tells the offset and the page before, too. */
export function offsetPage<T>(
  cloud: EmulatedCloud,
  c: Asked,
  items: readonly T[],
  text: (item: T) => string,
  whole: boolean,
): Response {
  const query = queryOf(c);
  const limit = limitOf(cloud, query);
  const offset = count(query, 'offset', 0, 0, Number.MAX_SAFE_INTEGER);
  const at = (start: number): string =>
    pageUrl(cloud, c, { limit: String(limit), offset: String(start) });
  const next = offset + limit < items.length ? at(offset + limit) : null;
  const previous = offset > 0 ? at(Math.max(0, offset - limit)) : null;
  return page(
    items.slice(offset, offset + limit).map(text),
    whole ? { limit, next, offset, previous } : { limit, next },
  );
}

/** How the cursor of a listing names where it goes on. */
interface Cursors {
  readonly after: (items: readonly StoredRecord[], index: number) => string;
  readonly start: (items: readonly StoredRecord[], cursor: string) => number;
}

function byPlace({ store }: EmulatedCloud, kind: Kind): Cursors {
  const placeOf = (record: StoredRecord): number => store.place(kind, record[kind.id] as string);
  return {
    after: (items, index) => placeCursor(placeOf(items[index] as StoredRecord)),
    start: (items, cursor) => behindPlace(items, cursor, CURSOR, placeOf),
  };
}

/** For an order in which places do not ascend. */
function byId(kind: Kind): Cursors {
  const identify = (record: StoredRecord): string => record[kind.id] as string;
  return {
    after: (items, index) => cursorAt(items, index, identify),
    start: (items, cursor) => behind(items, cursor, CURSOR, identify),
  };
}

function cursorPage(
  cloud: EmulatedCloud,
  c: Asked,
  items: readonly StoredRecord[],
  text: (record: StoredRecord) => string,
  cursors: Cursors,
): Response {
  const query = queryOf(c);
  const limit = limitOf(cloud, query);
  const cursor = query.get(CURSOR);
  const start = cursor === null ? 0 : cursors.start(items, cursor);
  const end = start + limit;
  const next =
    end < items.length
      ? pageUrl(cloud, c, { limit: String(limit), [CURSOR]: cursors.after(items, end - 1) })
      : null;
  return page(items.slice(start, end).map(text), { limit, next });
}

/** In the public dialect a larger limit counts as the largest there is. */
function limitOf({ behaviours }: EmulatedCloud, query: URLSearchParams): number {
  const most = behaviours.dialect === 'public' ? Infinity : MOST_PAGE;
  return Math.min(count(query, 'limit', DEFAULT_PAGE, 1, most), MOST_PAGE);
}

function pageUrl(
  { behaviours }: EmulatedCloud,
  c: Asked,
  changes: Readonly<Record<string, string | null>>,
): string {
  const { pathname, searchParams } = new URL(c.req.url);
  return (
    originOf(behaviours, c) +
    pathname +
    queryWith(searchParams, { ...changes, ...(behaviours.next_drops_expand && { expand: null }) })
  );
}

const page = (texts: readonly string[], meta: Json): Response =>
  jsonText(`{"data":[${texts.join(',')}],"meta":${JSON.stringify(meta)}}`);

function listActivities(cloud: EmulatedCloud, c: Asked): Response {
  const query = queryOf(c);
  checkParameters(
    query,
    (name) => name === 'limit' || name === 'offset' || activityFilters.includes(name),
  );
  const tests = [...query]
    .filter(([name]) => activityFilters.includes(name))
    .map(([name, value]) => activityTest(name, value));
  const matching = cloud.store.log.filter((entry) => tests.every((test) => test(entry)));
  return offsetPage(
    cloud,
    c,
    matching,
    (entry) => JSON.stringify({ ...entry, account: undefined }),
    false,
  );
}

export const asIs = (path: string): string => path;

function sentFields(
  cloud: EmulatedCloud,
  kind: Kind,
  c: Asked,
  update: boolean,
): Record<string, Json> {
  const body = bodyOf(c, 'v2');
  if (Object.keys(body).length === 0) turnDown(400, 'the body is empty');
  return fieldsOf(cloud, kind, body, update, asIs);
}

function makeOne(cloud: EmulatedCloud, kind: Kind, c: Asked): Response {
  const fields = sentFields(cloud, kind, c, false);
  if (!specificsOf(kind).anyOf) requireAll(kind, fields, asIs);
  const face = faceOf(cloud, c);
  const record = drafted(cloud, kind, fields);
  cloud.store.commit({ kind, after: record, actor: c.get('actor'), face });
  cloud.secrets.keep(kind, record[kind.id] as string, () => bodyOf(c, 'v2'));
  return answer(showRecord(kind, record, face, true), cloud.behaviours.created_status);
}

function updateOne(cloud: EmulatedCloud, kind: Kind, c: Asked): Response {
  const { store, behaviours } = cloud;
  const before = existing(cloud, kind, c);
  const isPut = c.req.method === 'PUT';
  const sent = sentFields(cloud, kind, c, true);
  const fields = isPut ? sent : added(kind, before, sent);
  const after = {
    ...before,
    ...(isPut && behaviours.replacing_put && reset(cloud, kind, before, fields)),
    ...fields,
    ...('updated_at' in before && { updated_at: store.now() }),
  };
  const hindrance = specificsOf(kind).hindersUpdate?.(store, before, after);
  if (hindrance) turnDown(409, hindrance.why, [hindrance.path]);
  const face = faceOf(cloud, c);
  const result =
    specificsOf(kind).settled?.(
      before,
      after,
      isPut && !behaviours.merging_configuration ? 'replace' : 'merge',
    ) ?? after;
  const actor = c.get('actor');
  store.commit({ kind, before, after: result, actor, face });
  for (const change of specificsOf(kind).follow?.(store, result) ?? [])
    store.commit({ ...change, actor, face });
  cloud.secrets.keep(kind, before[kind.id] as string, () => bodyOf(c, 'v2'));
  return isPut
    ? answer(showRecord(kind, result, face, specificsOf(kind).listsUrl))
    : written(cloud, kind, result, face);
}

/** What a PATCH may write: documents are only added to. */
function added(
  kind: Kind,
  before: StoredRecord,
  sent: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  const entries = Object.entries(sent).map(([name, value]) => {
    if (kind.attributes[name]?.wire !== 'merge') return [name, value] as const;
    const tree = mergedAdditions(before[name] ?? null, value);
    return [
      name,
      typeof tree === 'string' ? turnDown(400, `${name} ${tree}`, [name]) : tree,
    ] as const;
  });
  return Object.fromEntries(entries);
}

/** What a replacing PUT makes of the fields it does not name. */
function reset(
  { store }: EmulatedCloud,
  kind: Kind,
  before: StoredRecord,
  fields: Readonly<Record<string, Json>>,
): Record<string, Json> {
  const fixed = Object.fromEntries(
    Object.entries(before).filter(([name]) => kind.attributes[name]?.immutable === true),
  );
  requireAll(kind, { ...fixed, ...fields }, asIs);
  const left = Object.entries(kind.attributes).filter(
    ([, { computed, optional, wire }]) =>
      computed !== true && optional === true && wire !== 'merge',
  );
  return Object.fromEntries(
    left.map(([name, attribute]) => [
      name,
      attribute.word === 'ref' && attribute.to === 'accounts' ? store.root : blank(attribute),
    ]),
  );
}

function removeOne(cloud: EmulatedCloud, kind: Kind, c: Asked): Response {
  const { store, behaviours } = cloud;
  const record = existing(cloud, kind, c);
  const hindrance = specificsOf(kind).hindersDelete?.(store, record, behaviours);
  if (hindrance !== undefined) turnDown(409, hindrance);
  if (!behaviours.dangling_references && isNamed(store, kind, record))
    turnDown(409, `the ${kind.singular} is still named by other records`);
  const face = faceOf(cloud, c);
  remove(cloud, kind, record, c);
  return written(cloud, kind, record, face);
}

function written(
  { behaviours }: EmulatedCloud,
  kind: Kind,
  record: StoredRecord,
  face: Face,
): Response {
  return behaviours.echo_writes
    ? answer(showRecord(kind, record, face, false))
    : new Response(null);
}
