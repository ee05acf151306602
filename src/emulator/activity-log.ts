// The activity log: what is written for a change, and the codes and filters of reading it.
import { defined, type Json, type JsonObject, type Kind } from '../model/index.js';
import type { User } from './estate.js';
import { turnDown } from './error-responses.js';

export type LoggedAction = 'create' | 'update' | 'delete';

export interface Actor {
  readonly id: string;
  readonly type_name: 'system' | 'api_key' | 'sso_user';
  readonly email?: string;
}

/** The service itself. */
export const system: Actor = { id: '0', type_name: 'system' };

/** Numeric codes; names of the reference whose code is not known map to null and can only be asked for by name. */
export const actionCodes: Readonly<
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

export interface Happening {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly action: LoggedAction;
  readonly actor: Actor;
  readonly kind: Kind;
  readonly objectId: string;
  readonly account: string;
  /** As shown: no secret in them. */
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  readonly users: ReadonlyMap<string, User>;
}

/** A record of the log, with the id of the account beside it (left out of answers). */
export function logEntry({
  id,
  at,
  action,
  actor,
  kind,
  objectId,
  account,
  before,
  after,
  users,
}: Happening): JsonObject {
  const typeName = typeNames[kind.name] ?? null;
  return {
    account,
    action: {
      id,
      timestamp: at,
      type: actionCodes.action[action] as number,
      type_name: action,
      before,
      after,
    },
    actor: {
      id: actor.id,
      ...defined({ email: actor.email }),
      type: actionCodes.actor[actor.type_name] as number,
      type_name: actor.type_name,
    },
    object: {
      id: objectId,
      type: typeName === null ? null : (actionCodes.object[typeName] ?? null),
      type_name: typeName,
      ...(typeName === 'authorization' && authorizationOf(after ?? before ?? {}, users)),
    },
  };
}

function authorizationOf(shown: JsonObject, users: ReadonlyMap<string, User>): JsonObject {
  const user = String(shown.user);
  return {
    role: { id: shown.role as Json, name: shown.role as Json },
    user: { id: user, email: users.get(user)?.email ?? null },
  };
}

type Test = (entry: JsonObject) => boolean;
const comparisons: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  exact: (a, b) => a === b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
};
const times = ['created_at', 'action__timestamp'].flatMap((field) =>
  Object.keys(comparisons).map((word) => `${field}__${word}`),
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

const part = (entry: JsonObject, name: 'action' | 'actor' | 'object'): JsonObject =>
  entry[name] as JsonObject;

/** The test a filter puts to each record. @throws Refused for a value that cannot be one of that filter. */
export function activityTest(name: string, value: string): Test {
  const bad = (): never => turnDown(400, `the value of ${name} is not valid`, [name]);
  if (name === 'account') return /^\d+$/.test(value) ? (entry) => entry.account === value : bad();
  if (times.includes(name)) {
    const compare = comparisons[name.slice(name.lastIndexOf('__') + 2)] as (
      a: number,
      b: number,
    ) => boolean;
    const at = Date.parse(value);
    return Number.isNaN(at)
      ? bad()
      : (entry) => compare(Date.parse(String(part(entry, 'action').timestamp)), at);
  }
  const [section, field] = name.split('__') as ['action' | 'actor' | 'object', 'id' | 'type'];
  if (field === 'id') return (entry) => part(entry, section).id === value;
  const names = actionCodes[section];
  const wanted = Object.keys(names).find(
    (typeName) => typeName === value || String(names[typeName]) === value,
  );
  return wanted === undefined ? bad() : (entry) => part(entry, section).type_name === wanted;
}
