// Records of any collection, page by page as they come, for people who look and for audits: filtered by the API's
// own query parameters, secrets masked even where the API gives them in clear.
import { isObject, refuse, type Attributes, type Collection, type Found, type JsonObject, type Query, type Values } from '../model/index.js';
import { flattened, parseAnswer } from './answer.js';
import { chunks, valuesPerQuery } from './each.js';
import { pages } from './paging.js';
import { understood, type Session } from './session.js';

/** @throws Refusal where the reading is not proven complete. */
export async function* records(session: Session, collection: Collection, { filters }: Query): AsyncGenerator<readonly Found[]> {
  const { dialect, collection: name, page } = collection.operations;
  const door = session.doorOf(dialect as 'v2' | 'v3', collection.name);
  const { path: id, ...query } = filters;
  const path = door.base.path + door.dialect.path(name, id);
  const found = (record: unknown): Found => ({
    values: masked(collection.attributes, flattened(door.dialect, collection, record)),
    record: masked(collection.attributes, record as JsonObject),
  });
  if (id !== undefined) {
    yield await understood(collection.name, path, async () => {
      const answer = await session.read(door, collection.name, path, '', { statuses: [200, 404] });
      return answer.status === 404 ? [] : [found(door.dialect.single(parseAnswer(answer)))];
    });
    return;
  }
  const seen = new Set<string>();
  let count = 0;
  for (const part of parts(query)) {
    const reading = pages(session.reader(door, collection.name, path), door.dialect.query(page, part));
    for (;;) {
      const step = await understood(collection.name, path, () => reading.next());
      if (step.done) break;
      const some = await understood(collection.name, path, () => Promise.resolve(step.value.records.map(found)));
      for (const { values } of some) {
        const key = collection.id === undefined ? undefined : values[collection.id];
        if (typeof key !== 'string') continue;
        if (seen.has(key))
          refuse('moving-pages', `${collection.name} cannot be read: an object came twice`, {
            detail: 'Objects are being made or deleted while they are listed; run the command again.',
          });
        seen.add(key);
      }
      count += some.length;
      session.options.emit({ type: 'reading', kind: collection.name, objects: count, done: step.value.next === null });
      yield some;
    }
  }
}

/** A record whose secrets read `*`, at its top or, as JSON:API has it, among its `attributes`. */
function masked<T extends Values | JsonObject>(attributes: Attributes, record: T): T {
  const entries = Object.entries(record).map(([name, value]) => {
    const attribute = attributes[name];
    if (attribute?.secret) return [name, value === null ? null : '*'];
    const inner = attribute?.word === 'object' ? attribute.attributes : attribute === undefined && name === 'attributes' ? attributes : undefined;
    return [name, inner && isObject(value) ? masked(inner, value as JsonObject) : value];
  });
  return Object.fromEntries(entries) as T;
}

/** The API takes 100 values in a list: longer ones are asked for in several queries, no value twice. */
function parts(query: Readonly<Record<string, string>>): readonly Readonly<Record<string, string>>[] {
  const [name, list] = Object.entries(query).find(([key, value]) => key.endsWith('__in') && value.split(',').length > valuesPerQuery) ?? [];
  if (name === undefined || list === undefined) return [query];
  return chunks([...new Set(list.split(','))], valuesPerQuery).flatMap((some) => parts({ ...query, [name]: some.join(',') }));
}
