// The v2 API: `/api/v2/<collection>/`, four headers, `data` and `meta`, references as URLs.
import {
  keptMembers,
  mapMembers,
  wireText,
  type Json,
  type JsonObject,
  type Kind,
  keysOf,
} from '../model/index.js';
import { activitiesOf, activityFilters, type Actor } from './activity-log.js';
import {
  textResponse,
  bodyOf,
  commit,
  faceOf,
  guardPath,
  originOf,
  queryOf,
  route,
  type EmulatorApp,
  type Asked,
  type EmulatedCloud,
  type Handler,
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
import { filtered, namedValues } from './filter-comparison.js';
import { extrasOf, publicHeader } from './public-dialect.js';
import { blank, showRecord, type RenderContext, type StoredRecord, recordId } from './records.js';
import { turnDown } from './error-responses.js';
import { filtersOf, isNamed, specificsOf } from './collection-rules.js';

const DEFAULT_PAGE = 20;
const MOST_PAGE = 500;
/** Name of the cursor in `next`: not documented, so nobody may depend on it. */
const CURSOR = 'cursor';

export function addV2(app: EmulatorApp, cloud: EmulatedCloud): void {
  guardPath(app, '/api/v2/*', 'v2', actorOf);
  for (const kind of cloud.store.kinds.values())
    if (kind.operations.dialect === 'v2') addKind(app, cloud, kind);
  collectionRoutes(app, 'activity_logs', { GET: listActivities });
}

function addKind(app: EmulatorApp, cloud: EmulatedCloud, kind: Kind): void {
  const { collection: name, create, update, patch, delete: removal } = kind.operations;
  const { hidesUrl, patched, deletable } = specificsOf(kind);
  const text = recordTextOf((record, face) => showRecord(kind, record, face, !hidesUrl));
  collectionRoutes(app, name, {
    GET: (c) => list(c, kind, text),
    POST: create && ((c) => makeOne(c, kind)),
  });
  const verbs: Record<string, Handler | undefined> = {
    DELETE: removal || deletable ? (c) => removeOne(c, kind) : undefined,
  };
  const updating: Handler = (c) => updateOne(c, kind);
  if (update) verbs[update] = updating;
  if (patch || patched?.(cloud.behaviours)) verbs['PATCH'] = updating;
  if (cloud.behaviours.dialect === 'public')
    verbs['GET'] = (c) => v2Response(showRecord(kind, existing(c, kind), faceOf(c), true));
  if (Object.values(verbs).some(Boolean)) collectionRoutes(app, `${name}/:id`, verbs);
}

/** A path that ends in a slash; without it the response is a redirection that no client should follow. */
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
export function actorOf(c: Asked): Actor {
  const { credentials, behaviours } = c.env.cloud;
  const given = (name: string): string | undefined =>
    c.req.header(name) ??
    (behaviours.dialect === 'public' ? c.req.header(publicHeader(name)) : undefined);
  const key = credentials.v2.find((one) => keysOf(one).every((name) => given(name) === one[name]));
  return key
    ? { id: key['X-MGR-API-ID'], type_name: 'api_key' }
    : turnDown(401, 'Authentication failed: the API keys are missing or not valid.');
}

export const v2Response = (value: Json | object, status?: number): Response =>
  textResponse(wireText(value), 'v2', status);

export type TextOf = (record: StoredRecord, face: RenderContext) => string;

/** Text of a record in a listing, kept until the record changes or is asked for under another address. */
export function recordTextOf(shown: (record: StoredRecord, face: RenderContext) => Json): TextOf {
  const kept = new WeakMap<StoredRecord, { readonly base: string; readonly text: string }>();
  return (record, face) => {
    const had = kept.get(record);
    if (had?.base === face.base) return had.text;
    const text = wireText(shown(record, face));
    kept.set(record, { base: face.base, text });
    return text;
  };
}

function list(c: Asked, kind: Kind, text: TextOf): Response {
  const { expand = [] } = specificsOf(kind);
  const query = queryOf(c);
  const byOffset = kind.operations.paging === 'offset';
  const known = [...Object.keys(filtersOf(kind)), 'limit', byOffset ? 'offset' : CURSOR];
  if (expand.length > 0) known.push('expand');
  const extras = extrasOf(c, kind);
  checkParameters(query, known, extras.knows);
  const expanded = query.get('expand');
  if (expanded !== null && !expand.includes(expanded))
    turnDown(400, `expand takes ${expand.join(', ')}`, ['expand']);

  const records = extras.pick(matching(c, kind));
  const face = faceOf(c);
  const { narrow = (shown) => shown, ordered } = extras;
  const plain = expanded === null && !extras.narrow;
  const show = (record: StoredRecord): string =>
    plain ? text(record, face) : wireText(narrow(expandedRecord(c, kind, record, expanded ?? '')));
  return byOffset
    ? offsetPage(c, records, show, true)
    : cursorPage(c, kind, records, { show, ordered });
}

/** @param name of the reference that comes as what it points at; empty for none */
function expandedRecord(c: Asked, kind: Kind, record: StoredRecord, name: string): JsonObject {
  const { store } = c.env.cloud;
  const face = faceOf(c);
  const shown = showRecord(kind, record, face, !specificsOf(kind).hidesUrl);
  const attribute = kind.attributes[name];
  const target = attribute?.word === 'ref' ? store.kinds.get(attribute.to) : undefined;
  const other =
    target && typeof record[name] === 'string' ? store.get(target, record[name]) : undefined;
  return target && other ? { ...shown, [name]: showRecord(target, other, face, true) } : shown;
}

/** Records that pass every filter of the query. Those named by id are looked up, not searched for. */
function matching(c: Asked, kind: Kind): readonly StoredRecord[] {
  const { store, behaviours } = c.env.cloud;
  const query = queryOf(c);
  const filters = filtersOf(kind);
  const byId = Object.entries(filters).find(
    ([name, { field }]) => field === kind.id && query.has(name),
  );
  if (!byId) return filtered(store.all(kind), query, behaviours.ignored_filters ? {} : filters);
  const [name, { test }] = byId;
  const { [name]: _, ...others } = filters;
  const ids = namedValues(name, test, query.get(name) ?? '');
  const shape = kind.id === 'id' ? /^\d+$/ : /^[0-9a-f-]{36}$/i;
  if (!ids.every((id) => shape.test(id)))
    turnDown(400, `the value of ${name} is not an id`, [name]);
  const found = [...new Set(ids)]
    .map((id) => store.get(kind, id))
    .filter((one) => one !== undefined);
  return filtered(found, query, others);
}

/** `whole`: whether `meta` also has the offset and the previous page. */
export function offsetPage<T>(
  c: Asked,
  items: readonly T[],
  text: (item: T) => string,
  whole: boolean,
): Response {
  const query = queryOf(c);
  const limit = limitOf(c);
  const offset = count(query, 'offset', 0, [0, Number.MAX_SAFE_INTEGER]);
  const at = (start: number): string => pageUrl(c, { limit: String(limit), offset: String(start) });
  const next = offset + limit < items.length ? at(offset + limit) : null;
  const previous = offset > 0 ? at(Math.max(0, offset - limit)) : null;
  return page(
    items.slice(offset, offset + limit).map(text),
    whole ? { limit, next, offset, previous } : { limit, next },
  );
}

/** @param ordered whether another order was asked for than that of places: then cursors hold the id */
function cursorPage(
  c: Asked,
  kind: Kind,
  items: readonly StoredRecord[],
  { show, ordered }: { readonly show: (record: StoredRecord) => string; readonly ordered: boolean },
): Response {
  const query = queryOf(c);
  const limit = limitOf(c);
  const identify = (record: StoredRecord): string => recordId(kind, record);
  const placeOf = (record: StoredRecord): number => c.env.cloud.store.place(kind, identify(record));
  const begin = (cursor: string): number =>
    ordered ? behind(items, cursor, CURSOR, identify) : behindPlace(items, cursor, CURSOR, placeOf);
  const after = (last: number): string =>
    ordered ? cursorAt(items, last, identify) : placeCursor(placeOf(items[last]!));
  const cursor = query.get(CURSOR);
  const start = cursor === null ? 0 : begin(cursor);
  const end = start + limit;
  const next =
    end < items.length ? pageUrl(c, { limit: String(limit), [CURSOR]: after(end - 1) }) : null;
  return page(items.slice(start, end).map(show), { limit, next });
}

/** In the public dialect a larger limit counts as the largest there is. */
function limitOf(c: Asked): number {
  const most = c.env.cloud.behaviours.dialect === 'public' ? Infinity : MOST_PAGE;
  return Math.min(count(queryOf(c), 'limit', DEFAULT_PAGE, [1, most]), MOST_PAGE);
}

function pageUrl(c: Asked, changes: Readonly<Record<string, string | null>>): string {
  const { pathname, searchParams } = new URL(c.req.url);
  return (
    originOf(c) +
    pathname +
    queryWith(searchParams, {
      ...changes,
      ...(c.env.cloud.behaviours.next_drops_expand && { expand: null }),
    })
  );
}

const page = (texts: readonly string[], meta: Json): Response =>
  textResponse(`{"data":[${texts.join(',')}],"meta":${JSON.stringify(meta)}}`, 'v2');

function listActivities(c: Asked): Response {
  const query = queryOf(c);
  checkParameters(query, ['limit', 'offset', ...Object.keys(activityFilters)]);
  const text = (entry: JsonObject): string => JSON.stringify({ ...entry, account: undefined });
  return offsetPage(c, activitiesOf(c.env.cloud.store.log, query), text, false);
}

export const asIs = (path: string): string => path;

function sentFields(c: Asked, kind: Kind): Record<string, Json> {
  const body = bodyOf(c, 'v2');
  if (Object.keys(body).length === 0) turnDown(400, 'the body is empty');
  return fieldsOf(c, kind, body, asIs);
}

function makeOne(c: Asked, kind: Kind): Response {
  const fields = sentFields(c, kind);
  if (!specificsOf(kind).anyOf) requireAll(kind, fields, asIs);
  const record = drafted(c, kind, fields);
  commit(c, { kind, after: record });
  c.env.cloud.secrets.keep(kind, recordId(kind, record), () => bodyOf(c, 'v2'));
  return v2Response(
    showRecord(kind, record, faceOf(c), true),
    c.env.cloud.behaviours.created_status,
  );
}

function updateOne(c: Asked, kind: Kind): Response {
  const { store, behaviours, secrets } = c.env.cloud;
  const { hindersUpdate, settled, follow, hidesUrl } = specificsOf(kind);
  const before = existing(c, kind);
  const isPut = c.req.method === 'PUT';
  const sent = sentFields(c, kind);
  const fields = isPut ? sent : added(kind, before, sent);
  const after = {
    ...before,
    ...(isPut && behaviours.replacing_put && reset(c, kind, before, fields)),
    ...fields,
    ...('updated_at' in before && { updated_at: store.now() }),
  };
  const hindrance = hindersUpdate?.(store, before, after);
  if (hindrance) turnDown(409, hindrance.why, [hindrance.path]);
  const how = isPut && !behaviours.merging_configuration ? 'replace' : 'merge';
  const result = settled?.(before, after, how) ?? after;
  commit(c, { kind, before, after: result });
  for (const change of follow?.(store, result) ?? []) commit(c, change);
  secrets.keep(kind, recordId(kind, before), () => bodyOf(c, 'v2'));
  return isPut
    ? v2Response(showRecord(kind, result, faceOf(c), !hidesUrl))
    : written(c, kind, result);
}

/** The fields of a PATCH: documents are only added to. */
function added(
  kind: Kind,
  before: StoredRecord,
  sent: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  return mapMembers(sent, (value, name): Json => {
    if (kind.attributes[name]?.wire !== 'merge') return value;
    const tree = mergedAdditions(before[name] ?? null, value);
    return typeof tree === 'string' ? turnDown(400, `${name} ${tree}`, [name]) : tree;
  });
}

/** The fields that a replacing PUT resets because it does not name them. */
function reset(
  c: Asked,
  kind: Kind,
  before: StoredRecord,
  fields: Readonly<Record<string, Json>>,
): Record<string, Json> {
  const fixed = keptMembers(before, (_, name) => kind.attributes[name]?.immutable === true);
  requireAll(kind, { ...fixed, ...fields }, asIs);
  const left = keptMembers(
    kind.attributes,
    ({ computed, optional, wire }) => computed !== true && optional === true && wire !== 'merge',
  );
  return mapMembers(left, (attribute) =>
    attribute.word === 'ref' && attribute.to === 'accounts'
      ? c.env.cloud.store.root
      : blank(attribute),
  );
}

function removeOne(c: Asked, kind: Kind): Response {
  const { store, behaviours } = c.env.cloud;
  const record = existing(c, kind);
  const hindrance = specificsOf(kind).hindersDelete?.(store, record, behaviours);
  if (hindrance !== undefined) turnDown(409, hindrance);
  if (!behaviours.dangling_references && isNamed(store, kind, record))
    turnDown(409, `the ${kind.singular} is still named by other records`);
  remove(c, kind, record);
  return written(c, kind, record);
}

function written(c: Asked, kind: Kind, record: StoredRecord): Response {
  return c.env.cloud.behaviours.echo_writes
    ? v2Response(showRecord(kind, record, faceOf(c), false))
    : new Response(null);
}
