// The activity log: what is written for a change, and the codes and filters of reading it.
import { defined, type Json, type JsonObject } from '../model/index.js';
import type { User } from './estate.js';
import { compared, type Test } from './filter-comparison.js';
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

interface Happening {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly action: string;
  readonly actor: Actor;
  readonly account: string | null;
  /** As shown: no secret in them. */
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
}

/** A record of the log, with the id of the account beside it (left out of answers). */
export function logEntry(
  { id, at, action, actor, account, before, after }: Happening,
  object: JsonObject,
): JsonObject {
  return {
    account,
    action: { id, timestamp: at, ...coded('action', action), before, after },
    actor: { id: actor.id, ...defined({ email: actor.email }), ...coded('actor', actor.type_name) },
    object,
  };
}

/** A type as the log tells it, by number and by name. */
export const coded = (section: keyof typeof actionCodes, name: string | null) => ({
  type: name === null ? null : (actionCodes[section][name] ?? null),
  type_name: name,
});

/** What the log says of a changed record. `shown`: without secrets. */
export function loggedObject(
  kind: string,
  id: string,
  shown: JsonObject,
  users: ReadonlyMap<string, User>,
): JsonObject {
  const typeName = typeNames[kind] ?? null;
  const role = shown.role as Json;
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

const times = ['created_at', 'action__timestamp'].flatMap((field) =>
  ['exact', 'lt', 'lte', 'gt', 'gte'].map((word) => `${field}__${word}`),
);

export const activityFilters: readonly string[] = [
  'account',
  ...times,
  'actor__id',
  'object__id',
  'action__id__exact',
  'actor__type',
  'action__type',
  'object__type',
];

type Section = keyof typeof actionCodes;
const part = (entry: JsonObject, name: Section): JsonObject => entry[name] as JsonObject;

/** The test a filter puts to each record. @throws Refused for a value that cannot be one of that filter. */
export function activityTest(name: string, value: string): (entry: JsonObject) => boolean {
  const bad = (): never => turnDown(400, `the value of ${name} is not valid`, [name]);
  if (name === 'account') return /^\d+$/.test(value) ? (entry) => entry.account === value : bad();
  if (times.includes(name)) {
    const word = name.slice(name.lastIndexOf('__') + 2);
    const compare = compared[word === 'exact' ? 'is' : (word as Test)];
    const at = Date.parse(value);
    return Number.isNaN(at)
      ? bad()
      : (entry) => compare(Date.parse(String(part(entry, 'action').timestamp)), at);
  }
  const [section, field] = name.split('__') as [Section, 'id' | 'type'];
  if (field === 'id') return (entry) => part(entry, section).id === value;
  const names = actionCodes[section];
  const wanted = Object.keys(names).find(
    (typeName) => typeName === value || String(names[typeName]) === value,
  );
  return wanted === undefined ? bad() : (entry) => part(entry, section).type_name === wanted;
}
