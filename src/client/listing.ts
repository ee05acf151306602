// Reads objects: whole collections, each to its proven end, and single objects by their identifiers.
import { defined, refuse, type Kind, type Listing, type Live } from '../model/index.js';
import { Malformed, liveIn, liveOf, parseResponse, validId } from './response.js';
import { chunks, each, pagesOf, PRESENT_OR_ABSENT, valuesPerQuery } from './pagination.js';
import { httpDate } from './retry.js';
import { understood, type Endpoint, type ClientSession } from './client-session.js';
import type { HttpResponse } from './transport.js';

const relistings = 3;

/** Every object of a listing; undefined where one came twice, so that pages have moved and another may be missing. */
async function listOnce(
  session: ClientSession,
  kind: Kind,
  endpoint: Endpoint,
  filters?: Readonly<Record<string, string>>,
): Promise<Listing | undefined> {
  const { options } = session;
  const { name, operations } = kind;
  const path = endpoint.base.path + endpoint.dialect.path(operations.collection);
  let skew: number | undefined;
  const heed = ({ headers }: HttpResponse): void => {
    const served = httpDate(headers['date']);
    if (served !== undefined) skew ??= served - options.clock.now();
  };
  const first = endpoint.dialect.query(operations.page, filters);
  const ahead =
    operations.paging === 'offset' && !filters
      ? { size: operations.page, expected: options.ahead?.[name] ?? 0 }
      : undefined;
  const objects = new Map<string, Live>();
  let [count, ghosts] = [0, 0];
  for await (const page of pagesOf(session, { endpoint, name, path, first, ahead, heed })) {
    count += 1;
    for (const record of page.records) {
      const live = liveIn(endpoint.dialect, kind, record);
      if (live && objects.has(live.id)) return undefined;
      if (live) objects.set(live.id, live);
      else ghosts += 1;
    }
    options.emit({ type: 'reading', kind: name, objects: objects.size });
  }
  if (ghosts > 0) reportGhosts(session, kind, ghosts);
  return { kind: name, objects: [...objects.values()], pages: count, ...defined({ skew }) };
}

/** Once for each kind. */
function reportGhosts(
  { options: { emit }, ghostsReported }: ClientSession,
  { name }: Kind,
  count: number,
): void {
  if (ghostsReported.has(name)) return;
  ghostsReported.add(name);
  const summary = `The listing of ${name} holds ${count} ${count === 1 ? 'record' : 'records'} without an id, an account or a target. They identify no object and were left out.`;
  emit({ type: 'diagnostic', diagnostic: { severity: 'info', code: 'ghost-records', summary } });
}

/** @throws Refusal where the listing is not proven complete. */
export async function listObjects(
  session: ClientSession,
  kind: Kind,
  filters?: Readonly<Record<string, string>>,
): Promise<Listing> {
  const endpoint = session.endpointOf(kind.operations.dialect, kind.name);
  const path = endpoint.base.path + endpoint.dialect.path(kind.operations.collection);
  return understood(kind.name, path, async () => {
    for (let turn = 0; turn <= relistings; turn += 1) {
      const listing = await listOnce(session, kind, endpoint, filters);
      if (listing) return listing;
    }
    return refuse(
      'moving-pages',
      `${kind.name} cannot be read: each of ${relistings + 1} listings held an object twice`,
      {
        detail:
          'Objects are being created or deleted while they are listed; run the command again when that is over.',
      },
    );
  });
}

async function findByPath(
  { read }: ClientSession,
  kind: Kind,
  endpoint: Endpoint,
  id: string,
): Promise<readonly Live[]> {
  const path = endpoint.base.path + endpoint.dialect.path(kind.operations.collection, id);
  return understood(kind.name, path, async () => {
    const response = await read(endpoint, kind.name, path, { statuses: PRESENT_OR_ABSENT });
    if (response.status !== 200) return [];
    const live = liveOf(endpoint.dialect, kind, endpoint.dialect.single(parseResponse(response)));
    if (live.id !== id) throw new Malformed(`is about ${live.id}`);
    return [live];
  });
}

/** A filter that the server ignores must not fool us: only what carries an asked id counts, and only a listing read to its end proves absence. */
async function findByFilter(
  session: ClientSession,
  kind: Kind,
  endpoint: Endpoint,
  ids: readonly string[],
): Promise<readonly Live[]> {
  const { name, operations } = kind;
  const filter = operations.by_ids ?? operations.by_id;
  const path = endpoint.base.path + endpoint.dialect.path(operations.collection);
  return understood(name, path, async () => {
    const found = new Map<string, Live>();
    const first = endpoint.dialect.query(operations.page, { [filter]: ids.join(',') });
    for await (const page of pagesOf(session, { endpoint, name, path, first })) {
      for (const record of page.records) {
        const live = liveIn(endpoint.dialect, kind, record);
        if (live && ids.includes(live.id)) found.set(live.id, live);
      }
      if (found.size === ids.length) break;
    }
    return [...found.values()];
  });
}

/** Those of the objects that exist. @throws Refusal on any failure. */
export async function find(
  session: ClientSession,
  kind: Kind,
  wanted: readonly string[],
): Promise<readonly Live[]> {
  const { dialect, by_id, by_ids } = kind.operations;
  const endpoint = session.endpointOf(dialect, kind.name);
  const ids = [...new Set(wanted)].filter((id) => validId(id) !== undefined);
  if (by_id === 'path')
    return (await each(ids, (id) => findByPath(session, kind, endpoint, id))).flat();
  const parts = chunks(ids, by_ids === undefined ? 1 : valuesPerQuery);
  return (await each(parts, (part) => findByFilter(session, kind, endpoint, part))).flat();
}
