// What roles mean: which is higher, who administers, and which changes touch that.
import type { Adopt, Change, Update, Value } from '../model/index.js';

export const ACCOUNTS = 'accounts';
export const AUTHORIZATIONS = 'account_authorizations';
const ladder = ['no_access', 'read_only_user', 'full_access_user', 'administrator'];

/** Position on the ladder. An unknown role is more than none, and no administrator; what it is beside the others nobody knows. */
export const rank = (role: Value | undefined): number => (typeof role === 'string' ? ladder.indexOf(role) : 0);

/** Whether the new role certainly gives more than the old one, or more than an unknown one may have given. */
export function rises(before: Value | undefined, after: Value | undefined): boolean {
  const [from, to] = [rank(before), rank(after)];
  return to < 0 ? from === 0 : to > Math.max(from, 0);
}

export const administers = (role: Value | undefined): boolean => role === 'administrator';

type Reroling = (Update | Adopt) & { readonly write: NonNullable<Adopt['write']> };

export function reroles(change: Change): change is Reroling {
  return change.kind === AUTHORIZATIONS && (change.action === 'update' || change.action === 'adopt') && change.write !== undefined && 'role' in change.write.fields;
}

export const roleAfter = (change: Reroling): Value | undefined => change.write.fields.role;

export function promotes(change: Change): change is Reroling {
  return reroles(change) && administers(roleAfter(change)) && !administers(change.before.role);
}

export function demotes(change: Change): change is Reroling {
  return reroles(change) && administers(change.before.role) && !administers(roleAfter(change));
}

/** Whether a change moves an account to another place in the tree. */
export function moves(change: Change): change is Update | Adopt {
  return change.kind === ACCOUNTS && (change.action === 'update' || change.action === 'adopt') && change.changes.some(({ path }) => path === 'account');
}
