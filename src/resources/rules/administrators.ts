// The administrators of an account while a plan is carried out. Each change that takes an administrator away (a
// demotion, the end of a user, or a move to another place in the tree) needs another active user who still administers
// the account afterwards, whatever else of the plan fails. If the plan makes that user an administrator, the change waits for that.
import {
  append,
  keyOf,
  Reference,
  type Change,
  type LiveObjects,
  type Roles,
  type Value,
} from '../../model/index.js';
import { ownRoot } from '../../reconciler/plan/match.js';
import {
  ACCOUNTS,
  administers,
  AUTHORIZATIONS,
  demotes,
  endedBy,
  inactiveUsers,
  moves,
  promotes,
  USERS,
} from './roles.js';

/** The changes that a change which takes an administrator away waits for; undefined if no administrator would be left. */
export type Guard = {
  readonly change: Change;
  readonly account: string;
  readonly waits: readonly string[] | undefined;
};

/** The accounts whose administration a change may end. */
function guardedAccounts(change: Change, live: LiveObjects, roles: Roles): readonly string[] {
  if (demotes(change, roles)) return [String(change.before.account)];
  if (moves(change)) return [change.id];
  const ended = endedBy(change, live).filter(({ values }) => administers(values.role, roles));
  return [...new Set(ended.map(({ values }) => String(values.account)))];
}

/**
 * A guard for each demotion, each move of an account, and each account of which a deleted or deactivated user is an
 * administrator. A move also waits for the moves of what it goes below: the tree has to be one at every step.
 */
export function guards(
  changes: readonly Change[],
  live: LiveObjects,
  roles: Roles,
): readonly Guard[] {
  const context = administratorContextOf(changes, live, roles);
  const guardOf = (change: Change, account: string): Guard => {
    const above = moves(change) ? movesAbove(context, change) : [];
    const found =
      !moves(change) || isAdministered(context, account)
        ? waitsForAdministrator(context, change, account)
        : [];
    const waits = found && [...new Set([...above, ...found])];
    if (waits) context.waits.set(change.address, waits);
    return { change, account, waits };
  };
  return changes.flatMap((change) =>
    guardedAccounts(change, live, roles).map((account) => guardOf(change, account)),
  );
}

type AdministratorContext = ReturnType<typeof administratorContextOf>;

function administratorContextOf(changes: readonly Change[], live: LiveObjects, roles: Roles) {
  const listed = live.get(ACCOUNTS);
  const accounts = listed?.byId;
  const root = listed && ownRoot(listed).account;
  const parents = new Map<string, Value | undefined>();
  const moved = new Map<string, Change>();
  const demoted = new Set(changes.flatMap((change) => endedBy(change, live).map(({ id }) => id)));
  const promotions = new Map<string, Change[]>();
  const inactive = inactiveUsers(live.get(USERS)?.byId.values());
  for (const change of changes) {
    if (change.kind === ACCOUNTS && change.action === 'create')
      parents.set(change.address, change.write.fields.account ?? root);
    if (moves(change)) {
      moved.set(change.id, change);
      parents.set(change.id, change.changes.find(({ path }) => path === 'account')?.after);
    }
    if (demotes(change, roles)) demoted.add(change.id);
    if (promotes(change, roles) && !demoted.has(change.id) && !inactive.has(change.before.user))
      append(promotions, String(change.before.account), change);
  }
  const all = [...(live.get(AUTHORIZATIONS)?.byId.values() ?? [])].filter(
    ({ values: { role, user } }) =>
      administers(role, roles) && typeof user === 'string' && !inactive.has(user),
  );
  const before = (account: string): Value | undefined => accounts?.get(account)?.values.account;
  return {
    changes: new Map(changes.map((change) => [keyOf(change), change])),
    /** Accounts that go elsewhere in the tree, by id. */
    moved,
    before,
    after: (account: string): Value | undefined =>
      parents.has(account) ? parents.get(account) : before(account),
    /** Administrators by account: before the plan, and those whom it leaves alone. */
    administrators: new Set(all.map(({ values }) => String(values.account))),
    stable: new Set(
      all.filter(({ id }) => !demoted.has(id)).map(({ values }) => String(values.account)),
    ),
    promotions,
    /** How many changes a promotion was given to already. */
    dealt: new Map<string, number>(),
    /** Addresses that changes wait for beyond their references, as far as known. */
    waits: new Map<string, readonly string[]>(),
  };
}

/** An account (by id, or by the address of its creation) and its ancestors, nearest first, as far as the tree was read. */
export function lineage(
  parent: (account: string) => Value | undefined,
  start: Value | undefined,
): readonly string[] {
  const out = new Set<string>();
  for (let at = nodeOf(start); at !== undefined && !out.has(at); at = nodeOf(parent(at)))
    out.add(at);
  return [...out];
}

export function nodeOf(account: Value | undefined): string | undefined {
  if (account instanceof Reference) return account.target;
  return typeof account === 'string' ? account : undefined;
}

const isAdministered = ({ before, administrators }: AdministratorContext, account: string) =>
  lineage(before, account).some((above) => administrators.has(above));

/** Moves of the accounts that an account will lie below, as far as they do not wait for its own. */
function movesAbove(context: AdministratorContext, change: Change & { readonly id: string }) {
  return lineage(context.after, change.id).flatMap((at) => {
    const move = context.moved.get(at);
    return move && move !== change && !dependsOn(context, move, change) ? [move.address] : [];
  });
}

/**
 * The nearest administrator of an account in the tree as it will be. Promotions are dealt out in turn, so that
 * whichever of them fail, a change that runs leaves an administrator behind. What waits for the change itself is no
 * witness for it, and leads to none.
 */
function waitsForAdministrator(
  context: AdministratorContext,
  change: Change,
  account: Value | undefined,
): readonly string[] | undefined {
  const waits: string[] = [];
  for (const at of lineage(context.after, account)) {
    const promoted = dealtPromotion(context, change, at);
    if (promoted) return [...waits, promoted.address];
    if (context.stable.has(at)) return waits;
    const move = context.moved.get(at);
    if (!move || move === change) continue;
    if (dependsOn(context, move, change)) return undefined;
    waits.push(move.address);
  }
  return undefined;
}

function dealtPromotion(context: AdministratorContext, change: Change, account: string) {
  const all = context.promotions.get(account) ?? [];
  const turn = context.dealt.get(account) ?? 0;
  for (let step = 0; step < all.length; step += 1) {
    const promotion = all[(turn + step) % all.length]!;
    if (dependsOn(context, promotion, change)) continue;
    context.dealt.set(account, turn + step + 1);
    return promotion;
  }
  return undefined;
}

function dependsOn({ changes, waits }: AdministratorContext, from: Change, to: Change): boolean {
  const reached = new Set([from.address]);
  for (const address of reached)
    for (const next of [...(changes.get(address)?.depends_on ?? []), ...(waits.get(address) ?? [])])
      reached.add(next);
  return reached.has(to.address);
}
