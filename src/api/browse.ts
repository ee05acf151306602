// Records as the API gives them, for people who only want to look: filtered by the API's own query parameters.
import { refuse, type JsonObject, type Kind } from '../model/index.js';
import { liveOf, parseAnswer } from './answer.js';
import { pages } from './paging.js';
import { openSession, understood, type ConnectOptions } from './session.js';

/**
 * Every record that the filters (query parameters by name) let through. The identifier's parameter, or `path` where
 * the kind is read by its path, asks for one object. @throws Refusal where the reading is not proven complete.
 */
export async function browse(options: ConnectOptions, kind: Kind, filters: Readonly<Record<string, string>>): Promise<readonly JsonObject[]> {
  const session = openSession(options);
  const { dialect, collection, page } = kind.operations;
  const door = session.doorOf(dialect, kind.name);
  const { path: id, ...query } = filters;
  const path = door.base.path + door.dialect.path(collection, id);
  return understood(kind.name, path, async () => {
    if (id !== undefined) {
      const answer = await session.read(door, kind.name, path, '', { statuses: [200, 404] });
      return answer.status === 404 ? [] : [door.dialect.single(parseAnswer(answer)) as JsonObject];
    }
    const found = new Map<string, JsonObject>();
    for await (const { records, next } of pages(session.reader(door, kind.name, path), door.dialect.query(page, query))) {
      for (const record of records) {
        const key = liveOf(door.dialect, kind, record).id;
        if (found.has(key))
          refuse('moving-pages', `${kind.name} cannot be read: an object came twice`, {
            detail: 'Objects are being made or deleted while they are listed; run the command again.',
          });
        found.set(key, record as JsonObject);
      }
      options.emit({ type: 'reading', kind: kind.name, objects: found.size, done: next === null });
    }
    return [...found.values()];
  });
}
