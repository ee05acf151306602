// Records as the API gives them, for people who only want to look: filtered by the API's own query parameters.
import { isObject, refuse, type Attributes, type JsonObject, type Kind, type Values } from '../model/index.js';
import { liveOf, parseAnswer } from './answer.js';
import { chunks, valuesPerQuery } from './each.js';
import { pages } from './paging.js';
import { openSession, understood, type ConnectOptions } from './session.js';

export interface Browsed {
  /** As the API gave it, secrets masked even where it gives them in clear. */
  readonly record: JsonObject;
  /** Its attributes in normal form. */
  readonly values: Values;
}

/**
 * Every record that the filters (query parameters by name) let through. The identifier's parameter, or `path` where
 * the kind is read by its path, asks for one object. @throws Refusal where the reading is not proven complete.
 */
export async function browse(options: ConnectOptions, kind: Kind, filters: Readonly<Record<string, string>>): Promise<readonly Browsed[]> {
  const session = openSession(options);
  const { dialect, collection, page } = kind.operations;
  const door = session.doorOf(dialect, kind.name);
  const { path: id, ...query } = filters;
  const path = door.base.path + door.dialect.path(collection, id);
  const browsed = (record: unknown): Browsed => ({
    values: masked(kind.attributes, liveOf(door.dialect, kind, record).values),
    record: masked(kind.attributes, record as JsonObject),
  });
  return understood(kind.name, path, async () => {
    if (id !== undefined) {
      const answer = await session.read(door, kind.name, path, '', { statuses: [200, 404] });
      return answer.status === 404 ? [] : [browsed(door.dialect.single(parseAnswer(answer)))];
    }
    const found = new Map<string, Browsed>();
    for (const part of parts(query)) {
      for await (const { records, next } of pages(session.reader(door, kind.name, path), door.dialect.query(page, part))) {
        for (const one of records.map(browsed)) {
          const key = String(one.values[kind.id]);
          if (found.has(key))
            refuse('moving-pages', `${kind.name} cannot be read: an object came twice`, {
              detail: 'Objects are being made or deleted while they are listed; run the command again.',
            });
          found.set(key, one);
        }
        options.emit({ type: 'reading', kind: kind.name, objects: found.size, done: next === null });
      }
    }
    return [...found.values()];
  });
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
