// What roles mean: which is higher, who administers, and how far a role reaches down the account tree.
import type { Adopt, Change, Update, Value } from '../model/index.js';
import type { World } from './observe.js';

export const AUTHORIZATIONS = 'account_authorizations';
const ladder = ['no_access', 'read_only_user', 'full_access_user', 'administrator'];

/** Position on the ladder; an unknown role has none. */
export function rank(role: Value | undefined): number | undefined {
  const at = typeof role === 'string' ? ladder.indexOf(role) : -1;
  return at < 0 ? undefined : at;
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

/** An account and its ancestors, nearest first, as far as the tree was read. */
export function lineage(world: World, account: Value | undefined): readonly string[] {
  const tree = world.get('accounts')?.byId;
  const out: string[] = [];
  for (let at = account; typeof at === 'string' && !out.includes(at); at = tree?.get(at)?.values.account) out.push(at);
  return out;
}

/** Whether a role in `above` reaches `account`. */
export function reaches(world: World, above: Value | undefined, account: Value | undefined): boolean {
  return lineage(world, account).includes(String(above));
}
