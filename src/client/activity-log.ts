// Reads from the activity log who changed an object.
import {
  compareText,
  isObject,
  own,
  type Activity,
  type JsonObject,
  type Json,
} from '../model/index.js';
import { validId } from './response.js';
import { each, pagesOf } from './pagination.js';
import { understood, type ClientSession } from './client-session.js';

const pageSize = 500;
/** The most objects that are queried one by one; for more, one listing of the whole window is read. */
const singleQueries = 2;

/** Every record about these objects, the oldest first. @throws Refusal where the log cannot be read. */
export async function activity(
  session: ClientSession,
  ids: readonly string[],
  since: string,
): Promise<readonly Activity[]> {
  const name = 'activity_logs';
  const endpoint = session.endpointOf('v2', name);
  const path = endpoint.base.path + endpoint.dialect.path(name);
  const queries = ids.length > singleQueries ? [{}] : ids.map((id) => ({ object__id: id }));
  const found = new Map<string, Activity>();
  const wanted = new Set(ids);
  await understood(name, path, () =>
    each(queries, async (filters) => {
      const first = endpoint.dialect.query(pageSize, { ...filters, action__timestamp__gte: since });
      for await (const { records } of pagesOf(session, { endpoint, name, path, first })) {
        if (records.length === 0) break;
        for (const entry of records.map(activityOf))
          if (entry && wanted.has(entry.object_id)) found.set(entry.id, entry);
      }
    }),
  );
  return [...found.values()].toSorted((a, b) => compareText(a.at, b.at));
}

/** Types by number, for records that name none. */
const actions: Readonly<Record<string, string>> = {
  1: 'create',
  2: 'delete',
  3: 'update',
  4: 'request',
  5: 'report',
  8: 'register',
  9: 'unregister',
  10: 'activate',
};
const objects: Readonly<Record<string, string>> = {
  3: 'group',
  4: 'router',
  10: 'notifier',
  12: 'authorization',
};

/** A name, or else the meaning of the number; an unknown number is a type of its own. */
function typeOf(
  part: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, string>>,
): string | null {
  const { type, type_name } = part;
  if (typeof type_name === 'string' && type_name !== '') return type_name;
  return typeof type === 'number' || (typeof type === 'string' && type !== '')
    ? (own(names, String(type)) ?? `type ${type}`)
    : null;
}

/** A record of the activity log; undefined for one that does not say what, when and by whom. */
function activityOf(record: Json): Activity | undefined {
  const { action, actor, object } = isObject(record) ? record : {};
  if (!isObject(action) || !isObject(actor) || !isObject(object)) return undefined;
  const at = typeof action['timestamp'] === 'string' ? Date.parse(action['timestamp']) : Number.NaN;
  const object_id = validId(object['id']);
  if (Number.isNaN(at) || object_id === undefined) return undefined;
  const text = (value: unknown): string =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : 'unknown';
  const state = (value: Json | undefined): JsonObject | null => (isObject(value) ? value : null);
  return {
    id: text(action['id'] ?? `${object_id} ${at}`),
    object_id,
    object_type: typeOf(object, objects),
    actor: text(actor['email'] || actor['id']),
    actor_id: text(actor['id']),
    actor_type: text(actor['type_name']),
    action: text(typeOf(action, actions)),
    at: new Date(at).toISOString(),
    before: state(action['before']),
    after: state(action['after']),
  };
}
