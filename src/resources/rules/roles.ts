// The meaning of roles: their rank, who administers, and the changes that affect that.
import {
  own,
  type Adopt,
  type Change,
  type Live,
  type LiveObjects,
  type Roles,
  type Update,
  type Value,
} from '../../model/index.js';
import { accountAuthorizations } from '../account-authorizations.js';
import { accounts } from '../accounts.js';
import { users } from '../users.js';
import { roleLadder } from '../role-ladder.js';

export const ACCOUNTS = accounts.name;
export const AUTHORIZATIONS = accountAuthorizations.name;
export const USERS = users.name;
const ladder: readonly string[] = roleLadder;

/** Position on the ladder; below it for a role that is neither known nor ranked by `settings.roles`, or known only after apply. */
export function rank(role: Value | undefined, roles: Roles = {}): number {
  if (role === undefined || role === null) return 0;
  return typeof role === 'string' ? ladder.indexOf(own(roles, role) ?? role) : -1;
}

/** Whether the new role may be higher than the old one: an unknown role counts as the highest when it is given, as the lowest when it is taken away. */
export function escalates(before: Value | undefined, after: Value | undefined, roles: Roles) {
  const [from, to] = [rank(before, roles), rank(after, roles)];
  return (to < 0 ? ladder.length : to) > Math.max(from, 0);
}

/** Never true for an unknown role. */
export const administers = (role: Value | undefined, roles: Roles): boolean =>
  rank(role, roles) === ladder.indexOf('administrator');

type Reroling = (Update | Adopt) & { readonly write: NonNullable<Adopt['write']> };

/** Whether a change writes an attribute of an object that exists. */
const rewrites = (change: Change, kind: string, name: string): change is Reroling =>
  change.kind === kind &&
  (change.action === 'update' || change.action === 'adopt') &&
  change.write !== undefined &&
  name in change.write.fields;

export const reroles = (change: Change): change is Reroling =>
  rewrites(change, AUTHORIZATIONS, 'role');

export const roleAfter = (change: Reroling): Value | undefined => change.write.fields.role;

/** Whether a change makes a user an administrator or, with `up` false, takes that away. */
const turns = (up: boolean, change: Change, roles: Roles): change is Reroling =>
  reroles(change) &&
  administers(roleAfter(change), roles) === up &&
  administers(change.before.role, roles) === !up;

export const promotes = (change: Change, roles: Roles): change is Reroling =>
  turns(true, change, roles);
export const demotes = (change: Change, roles: Roles): change is Reroling =>
  turns(false, change, roles);

/**
 * The authorizations that end with a change, because it deletes or deactivates their user. The reference shows that they
 * name a user by its id; where a service means the other identifier, that counts as well.
 */
export function endedBy(change: Change, live: LiveObjects): readonly Live[] {
  if (!endsUser(change) || !('before' in change)) return [];
  const ids = [change.id, change.before.user_id];
  return [...(live.get(AUTHORIZATIONS)?.byId.values() ?? [])].filter(
    ({ values: { user } }) => typeof user === 'string' && ids.includes(user),
  );
}

/** Whether a change deletes a user, or takes away that the user may sign in. */
export const endsUser = (change: Change): boolean =>
  change.kind === USERS && (change.action === 'delete' || deactivates(change));

/** A value that is known only after apply may be false. */
export const deactivates = (change: Change): boolean =>
  rewrites(change, USERS, 'is_active') && change.write.fields.is_active !== true;

/** Identifiers of those of the users who may not sign in. */
export const inactiveUsers = (objects: Iterable<Live> = []): ReadonlySet<Value | undefined> =>
  new Set(
    [...objects]
      .filter(({ values }) => values.is_active === false)
      .flatMap(({ id, values }) => [id, values.user_id]),
  );

/** Those identifiers that no active user has: a user is known by its id or by another identifier. */
export function surelyInactive(objects: Iterable<Live> = []): ReadonlySet<Value | undefined> {
  const all = [...objects];
  const active = new Set(
    all
      .filter(({ values }) => values.is_active !== false)
      .flatMap(({ id, values }): readonly (Value | undefined)[] => [id, values.user_id]),
  );
  return new Set([...inactiveUsers(all)].filter((one) => !active.has(one)));
}

/** Whether a change moves an account to another place in the tree. */
export function moves(change: Change): change is Update | Adopt {
  return (
    change.kind === ACCOUNTS &&
    (change.action === 'update' || change.action === 'adopt') &&
    change.changes.some(({ path }) => path === 'account')
  );
}
