// Records of any collection, page by page as they arrive, for `get` and for audits: filtered by the API's own query
// parameters, secrets masked even if the API returns them in clear text. Only the data needed to recognise repeated
// records is kept.
import {
  equal,
  refuse,
  sha256,
  unaskable,
  unescapeAll,
  valueAt,
  walk,
  type Attributes,
  type Collection,
  type Found,
  type JsonObject,
  type Query,
  type Values,
  mapMembers,
  own,
  isTree,
  type Json,
} from '../model/index.js';
import { flattened, Malformed, parseResponse, recordOf, validId } from './response.js';
import type { ResponsePage } from './dialect.js';
import { chunks, maxEmptyPages, pagesOf, PRESENT_OR_ABSENT, valuesPerQuery } from './pagination.js';
import { understood, type Endpoint, type ClientSession } from './client-session.js';

/** A filter that finds nothing as it is and is HTML-escaped is asked for in its plain form as well. @throws Refusal where the reading is not proven complete, or the collection cannot be asked that. */
export async function* records(
  session: ClientSession,
  collection: Collection,
  query: Query,
): AsyncGenerator<readonly Found[]> {
  const { name, operations } = collection;
  const { path: id, ...filters } = query.filters;
  const asked = { ...filters, ...checked(collection, query) };
  const endpoint = session.endpointOf(operations.dialect, name);
  const path = endpoint.base.path + endpoint.dialect.path(operations.collection, id);
  const found = finder(endpoint, collection);
  if (id !== undefined) {
    yield await understood(name, path, async () => {
      const response = await session.read(endpoint, name, path, { statuses: PRESENT_OR_ABSENT });
      return response.status === 200
        ? [found(endpoint.dialect.single(parseResponse(response)))]
        : [];
    });
    return;
  }
  const fresh = newcomers(endpoint, collection);
  const within = window(collection, query);
  const expected = Object.keys(asked).length === 0 ? (session.options.ahead?.[name] ?? 0) : 0;
  const ahead = operations.paging === 'offset' ? { size: operations.page, expected } : undefined;
  const { expand } = query;
  const progress = { name, path, count: 0 };
  for (const part of parts(asked)) {
    const first = endpoint.dialect.query(operations.page, part, expand);
    const reading = pagesOf(session, { endpoint, name, path, first, ahead, expand });
    const some = told(session, progress, reading, (page) => fresh(page.records.map(found)));
    for await (const records of some) yield records.filter(within);
  }
  const plain = unescapeAll(query.filters);
  if (progress.count === 0 && !equal(plain, query.filters))
    yield* records(session, collection, { ...query, filters: plain });
}

/** A reading, and the number of its records so far. */
interface Progress {
  readonly name: string;
  readonly path: string;
  readonly method?: string;
  count: number;
}

/** The pages of a reading as records, each told of; what is malformed is refused. @param take what is new of a page */
export async function* told(
  { options }: ClientSession,
  progress: Progress,
  reading: AsyncGenerator<ResponsePage>,
  take: (page: ResponsePage) => readonly Found[],
): AsyncGenerator<readonly Found[]> {
  const { name, path, method } = progress;
  const next = async () => {
    const step = await reading.next();
    return step.done ? undefined : take(step.value);
  };
  try {
    for (;;) {
      const page = await understood(name, path, next, method);
      if (!page) return;
      progress.count += page.length;
      options.emit({ type: 'reading', kind: name, objects: progress.count });
      yield page;
    }
  } finally {
    await reading.return(undefined);
  }
}

/** A record whose attributes are computed on access. A class, because an own getter would give each of very many objects its own shape. */
class Row implements Found {
  readonly record: JsonObject;
  readonly #read: (record: JsonObject) => Values;
  #values: Values | undefined;

  constructor(record: JsonObject, read: (record: JsonObject) => Values) {
    this.record = record;
    this.#read = read;
  }

  get values(): Values {
    return (this.#values ??= this.#read(this.record));
  }
}

/** Makes a row of each record. @throws Malformed for what is no record. */
export function finder({ dialect }: Endpoint, collection: Collection): (value: Json) => Found {
  const { attributes } = collection;
  const hides = [...walk(attributes)].some(([, { secret }]) => secret);
  const read = (record: JsonObject): Values => flattened(dialect, collection, record);
  return (value) => new Row(hides ? masked(attributes, recordOf(value)) : recordOf(value), read);
}

/**
 * The records of each page that did not come before. Logs grow at their front while they are read, so that records
 * slide onto the next page, but not all of them for ever; elsewhere a record that comes twice means that another may be missing.
 */
export function newcomers(
  { dialect }: Endpoint,
  collection: Collection,
): (page: readonly Found[]) => readonly Found[] {
  const seen = new Set<string>();
  let stale = 0;
  const isNew = ({ record }: Found): boolean => {
    const key =
      validId(dialect.identify(collection, record)) ??
      (collection.log ? sha256(JSON.stringify(record)) : undefined);
    if (key === undefined) return true;
    const before = seen.size;
    if (seen.add(key).size > before) return true;
    if (!collection.log)
      refuse('moving-pages', `${collection.name} cannot be read: an object came twice`, {
        detail:
          'Objects are being created or deleted while they are listed; run the command again.',
      });
    return false;
  };
  return (page) => {
    const fresh = page.filter(isNew);
    stale = fresh.length > 0 ? 0 : stale + 1;
    if (stale > maxEmptyPages) throw new Malformed('brings nothing but records that came before');
    return fresh;
  };
}

/** What a collection cannot be asked for is refused before anything is sent; gives the API's own parameters for the time. @throws Refusal */
export function checked(collection: Collection, query: Query): Readonly<Record<string, string>> {
  const times = bounds(collection, query);
  checkExpand(collection, query.expand);
  const wrong = unaskable(collection, query.filters);
  if (wrong)
    refuse(wrong.code, `${wrong.summary}.`, {
      detail:
        wrong.detail ??
        `As in: trueup get ${collection.name} --filter ${collection.operations.needs?.[0]}=…`,
    });
  return times;
}

/** The API's own parameters for the time asked for. Where they leave out the bound itself, they are set a millisecond beyond. @throws Refusal */
function bounds(
  { name, operations }: Collection,
  { filters, since, until }: Query,
): Readonly<Record<string, string>> {
  if ((since ?? until) === undefined) return {};
  if (operations.time === undefined && operations.since === undefined)
    refuse('no-times', `${name} have no times, so --since and --until cannot select them.`, {
      detail: 'Leave them out.',
    });
  const given = [
    { parameter: operations.since, at: since, beyond: /_gt$/, by: -1 },
    { parameter: operations.until, at: until, beyond: /_lt$/, by: 1 },
  ];
  const times: Record<string, string> = {};
  for (const { parameter, at, beyond, by } of given) {
    if (parameter === undefined || at === undefined) continue;
    if (Object.hasOwn(filters, parameter))
      refuse('usage', `${name}: the filter ${parameter} says the same as --since or --until.`, {
        detail: 'Give one of them.',
      });
    times[parameter] = beyond.test(parameter) ? new Date(Date.parse(at) + by).toISOString() : at;
  }
  return times;
}

/** Compares times here where the API has no parameter for them. What does not say its time is not kept from anybody. */
function window(
  { operations: { time, ...known } }: Collection,
  { since, until }: Query,
): (found: Found) => boolean {
  const from = known.since === undefined ? since : undefined;
  const to = known.until === undefined ? until : undefined;
  if (time === undefined || (from ?? to) === undefined) return () => true;
  // No time is before or after one that is not given: comparing with NaN gives false.
  const [first, last] = [Date.parse(from ?? ''), Date.parse(to ?? '')];
  return ({ values }) => {
    const told = valueAt(values, time);
    const at = typeof told === 'string' ? Date.parse(told) : Number.NaN;
    return !(at < first || at > last);
  };
}

function checkExpand(
  { name, operations: { dialect, expand = [] } }: Collection,
  asked: string | undefined,
): void {
  const words = asked?.split(',') ?? [];
  const detail =
    expand.length === 0
      ? 'Leave out --expand.'
      : `It takes ${dialect === 'v2' && expand.length > 1 ? 'one of ' : ''}${expand.join(', ')}.`;
  const strange = words.find((word) => !expand.includes(word));
  if (strange !== undefined)
    refuse('unknown-expand', `${name} cannot expand ${JSON.stringify(strange)}.`, { detail });
  if (dialect === 'v2' && words.length > 1)
    refuse('unknown-expand', `${name} expand one reference at a time.`, { detail });
}

/** A record whose secrets read `*`, at its top or, as JSON:API has it, among its `attributes`. */
function masked(attributes: Attributes, record: JsonObject): JsonObject;
function masked(attributes: Attributes, record: Values): Values;
function masked(attributes: Attributes, record: Values): Values {
  return mapMembers(record, (value, name) => {
    const attribute = own(attributes, name);
    if (attribute?.secret) return value === null ? null : '*';
    const beside = attribute === undefined && name === 'attributes' ? attributes : undefined;
    const inner = attribute?.word === 'object' ? attribute.attributes : beside;
    return inner && isTree(value) ? masked(inner, value) : value;
  });
}

/** The API takes 100 values in a list: longer ones are asked for in several queries, no value twice. */
function parts(
  query: Readonly<Record<string, string>>,
): readonly Readonly<Record<string, string>>[] {
  const [name, list] =
    Object.entries(query).find(
      ([key, value]) => key.endsWith('_in') && value.split(',').length > valuesPerQuery,
    ) ?? [];
  if (name === undefined || list === undefined) return [query];
  return chunks([...new Set(list.split(','))], valuesPerQuery).flatMap((some) =>
    parts({ ...query, [name]: some.join(',') }),
  );
}
