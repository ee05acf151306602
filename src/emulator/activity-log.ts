// The activity log: codes of what it records, and the filters of a query.
import { type JsonObject, keysOf } from '../model/index.js';
import type { User } from './estate.js';
import { by, filtered, type Filter } from './filter-comparison.js';
import { turnDown } from './error-responses.js';

export interface Actor {
  readonly id: string;
  readonly type_name: 'system' | 'api_key' | 'sso_user';
  readonly email?: string;
}

/** The service itself. */
export const system: Actor = { id: '0', type_name: 'system' };

/** Numeric codes; names of the reference whose code is not known map to null and can only be asked for by name. */
const actionCodes: Readonly<
  Record<'actor' | 'action' | 'object', Readonly<Record<string, number | null>>>
> = {
  actor: { system: 1, sso_user: 2, api_key: 3, router: 4, access_point: null },
  action: {
    create: 1,
    delete: 2,
    update: 3,
    request: 4,
    report: 5,
    register: 8,
    unregister: 9,
    activate: 10,
  },
  object: {
    group: 3,
    router: 4,
    schedule: null,
    task: null,
    api_key: null,
    net_device: null,
    notifier: 10,
    feature_binding: null,
    authorization: 12,
    remote_connection: null,
    remote_connection_profile: null,
    remote_lan_management: null,
    access_point: null,
    network: null,
  },
};

/** Kinds the enumeration of object types knows; changes of all others are logged without a type. */
const typeNames: Readonly<Record<string, string>> = {
  account_authorizations: 'authorization',
  groups: 'group',
  routers: 'router',
};

/** A type in the log, by number and by name. */
export const coded = (section: keyof typeof actionCodes, name: string | null) => ({
  type: name === null ? null : (actionCodes[section][name] ?? null),
  type_name: name,
});

/** The entry of the log for a changed record. `shown`: without secrets. */
export function loggedObject(
  kind: string,
  id: string,
  shown: JsonObject,
  users: ReadonlyMap<string, User>,
): JsonObject {
  const typeName = typeNames[kind] ?? null;
  const role = shown.role!;
  const user = String(shown.user);
  return {
    id,
    ...coded('object', typeName),
    ...(typeName === 'authorization' && {
      role: { id: role, name: role },
      user: { id: user, email: users.get(user)?.email ?? null },
    }),
  };
}

const at = (field: string): Readonly<Record<string, Filter>> =>
  Object.fromEntries(
    (['is', 'lt', 'lte', 'gt', 'gte'] as const).map((test) => [
      `${field}__${test === 'is' ? 'exact' : test}`,
      by('action.timestamp', 'time', test),
    ]),
  );

export const activityFilters: Readonly<Record<string, Filter>> = {
  account: by('account', 'integer'),
  ...at('created_at'),
  ...at('action__timestamp'),
  actor__id: by('actor.id'),
  object__id: by('object.id'),
  action__id__exact: by('action.id'),
  actor__type: by('actor.type_name'),
  action__type: by('action.type_name'),
  object__type: by('object.type_name'),
};

/** The records that a query asks for. Types may be named by their codes. @throws Refused (400) */
export function activitiesOf(
  log: readonly JsonObject[],
  query: URLSearchParams,
): readonly JsonObject[] {
  const asked = new URLSearchParams(query);
  for (const section of keysOf(actionCodes)) {
    const [name, codes] = [`${section}__type`, actionCodes[section]];
    const value = query.get(name);
    if (value === null) continue;
    const wanted = Object.keys(codes).find(
      (word) => word === value || String(codes[word]) === value,
    );
    asked.set(name, wanted ?? turnDown(400, `the value of ${name} is not valid`, [name]));
  }
  return filtered(log, asked, activityFilters);
}
