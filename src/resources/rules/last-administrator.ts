// The rule that every account keeps an administrator after a demotion, the deletion or deactivation of a user, or a move
// to another place in the tree. It holds at the end of a plan, between two of its requests, and despite changes by
// others since the plan was made.
import {
  cached,
  labelsIn,
  namedWithId,
  Refusal,
  refuse,
  type Change,
  type CheckFailure,
  type Diagnostic,
  type Judged,
  type Live,
  type LiveObjects,
  type PolicyRule,
  type Recheck,
  type Rechecks,
  type RecheckTools,
  type Roles,
  type Value,
} from '../../model/index.js';
import { guards, lineage } from './administrators.js';
import {
  ACCOUNTS,
  administers,
  AUTHORIZATIONS,
  deactivates,
  demotes,
  endedBy,
  endsUser,
  inactiveUsers,
  moves,
  promotes,
  reroles,
  USERS,
} from './roles.js';

function rechecks(
  tools: RecheckTools,
  { changes, live: objects, settings: { roles } }: Judged,
): Rechecks {
  const parents = new Map<string, Value | undefined>(
    [...(objects.get(ACCOUNTS)?.byId ?? [])].map(([id, { values }]) => [id, values.account]),
  );
  const administrators = new Map<string, Set<string>>();
  const add = (account: string, id: string): unknown =>
    administrators.set(account, (administrators.get(account) ?? new Set<string>()).add(id));
  const inactive = inactiveUsers(objects.get(USERS)?.byId.values());
  for (const live of objects.get(AUTHORIZATIONS)?.byId.values() ?? [])
    if (isAdministrator(live, roles) && !inactive.has(live.values.user))
      add(String(live.values.account), live.id);
  const demoted = new Set(
    changes.flatMap((change) =>
      demotes(change, roles) ? [change.id] : endedBy(change, objects).map(({ id }) => id),
    ),
  );
  const above = (account: Value | undefined): readonly string[] =>
    lineage((at) => parents.get(at), account);

  function witness(accounts: readonly string[]): Witness | undefined {
    for (const [index, account] of accounts.entries()) {
      const id = [...(administrators.get(account) ?? [])].find((one) => !demoted.has(one));
      if (id !== undefined) return { id, account, path: accounts.slice(0, index + 1) };
    }
    return undefined;
  }

  /** @param moved where a change moves the account itself: those that it will lie in */
  const administration = (change: Change, account: string, moved?: readonly string[]): Recheck =>
    administrationOf(tools, roles, {
      change,
      account,
      witness: witness(moved ?? above(account)),
      moved: moved !== undefined,
      readsUsers: objects.has(USERS),
    });

  return {
    of(change, fields) {
      if (demotes(change, roles)) return administration(change, String(change.before.account));
      if (endsUser(change)) {
        const ended = endedBy(change, objects).filter((live) => isAdministrator(live, roles));
        const all = ended.map(({ values }) => administration(change, String(values.account)));
        return { before: async () => void (await Promise.all(all.map((one) => one.before()))) };
      }
      if (!moves(change) || !above(change.id).some((at) => administrators.has(at)))
        return undefined;
      return administration(change, change.id, [change.id, ...above(fields.account)]);
    },
    done(change, entry) {
      if (entry && change.kind === ACCOUNTS) parents.set(entry.id, entry.observed['account']);
      if (promotes(change, roles) && !inactive.has(change.before.user))
        add(String(change.before.account), change.id);
    },
  };
}

/** An administrator who remains, and the accounts from the one that needs him up to theirs. */
interface Witness {
  readonly id: string;
  readonly account: string;
  readonly path: readonly string[];
}

interface Resting {
  readonly change: Change;
  readonly account: string;
  readonly witness: Witness | undefined;
  /** The account itself goes elsewhere by this change: where it lies now says nothing. */
  readonly moved: boolean;
  /** Whether a user may be inactive: the plan read users. */
  readonly readsUsers: boolean;
}

const isAdministrator = ({ values }: Live, roles: Roles): boolean =>
  administers(values.role, roles) && typeof values.user === 'string';

function administrationOf(
  { cloud, kinds }: RecheckTools,
  roles: Roles,
  { change, account, witness, moved, readsUsers }: Resting,
): Recheck {
  const accounts = kinds.get(ACCOUNTS)!;
  const authorizations = kinds.get(AUTHORIZATIONS)!;
  const users = readsUsers ? kinds.get(USERS) : undefined;

  async function stands(one: Witness): Promise<boolean> {
    const [live] = await cloud.find(authorizations, [one.id]);
    if (!live || !isAdministrator(live, roles)) return false;
    const { user } = live.values;
    const found = users ? await cloud.find(users, [String(user)]) : [];
    if (inactiveUsers(found).has(user)) return false;
    return String(live.values.account) === one.account;
  }

  /** Whether each account still lies below the next. */
  async function isPath(path: readonly string[]): Promise<boolean> {
    const below = path.slice(moved ? 1 : 0, -1);
    if (below.length === 0) return true;
    const found = await cloud.find(accounts, below);
    const parents = new Map(found.map((live) => [live.id, live.values.account]));
    return below.every((id) => String(parents.get(id)) === path[path.indexOf(id) + 1]);
  }

  async function isAdministered(): Promise<boolean> {
    const [all, tree, everybody] = await Promise.all([
      cloud.list(authorizations),
      cloud.list(accounts),
      users && cloud.list(users),
    ]);
    const inactive = inactiveUsers(everybody?.objects);
    const parents = new Map(tree.objects.map((live) => [live.id, live.values.account]));
    const reach = new Set(lineage((at) => parents.get(at), account));
    // The listing may still show the role that was just taken away.
    return all.objects.some(
      (live) =>
        !(reroles(change) && live.id === change.id) &&
        isAdministrator(live, roles) &&
        !inactive.has(live.values.user) &&
        reach.has(String(live.values.account)),
    );
  }

  return {
    async before() {
      if (witness && (await stands(witness)) && (await isPath(witness.path))) return;
      refuse(
        'last-administrator',
        `${change.address} would leave account ${account} without an administrator: the one who was to remain does not administer it any more.`,
        { detail: 'Plan again.' },
      );
    },
    async after() {
      try {
        return (witness && (await stands(witness))) || (await isAdministered())
          ? undefined
          : lost(change, account);
      } catch (error) {
        if (error instanceof Refusal) return unread(change, account);
        throw error;
      }
    },
  };
}

function unread({ address }: Change, account: string): CheckFailure {
  const summary = `${address} was updated, but the reading after it failed: it is not known whether account ${account} still has an administrator.`;
  return {
    verdict: 'unread',
    diagnostic: {
      severity: 'warning',
      code: 'unverified',
      summary,
      detail: 'List users, accounts and roles: trueup get access',
      address,
    },
  };
}

/** Nobody is left after a demotion or a move. A role can be put back. */
function lost(change: Change, account: string): CheckFailure {
  const saying = (end: string, detail: string): Diagnostic => ({
    severity: 'error',
    code: 'last-administrator',
    summary: `${change.address} ${reroles(change) ? 'was updated' : 'was moved'}, and account ${account} had no administrator afterwards: ${end}`,
    detail,
    address: change.address,
  });
  const advice = `Give somebody the role administrator of account ${account}.`;
  if (!reroles(change))
    return { verdict: 'lost', diagnostic: () => saying('nothing was put back.', advice) };
  const { role } = change.before;
  return {
    verdict: 'lost',
    restore: { role: role! },
    diagnostic: (why) =>
      why === undefined
        ? saying(
            `the role ${String(role)} was put back.`,
            'The other administrator was changed outside of trueup at the same time. Plan again.',
          )
        : saying(`the role could not be put back: ${why}`, advice),
  };
}

/** The id of the user whose role ends; none for an account that moves. A role and a user may name one user, and a role may do so by either identifier. */
function userOf(change: Change, live: LiveObjects): string | undefined {
  if (change.action === 'create' || moves(change)) return undefined;
  if (change.kind === USERS) return change.id;
  const { user } = change.before;
  const users = [...(live.get(USERS)?.byId.values() ?? [])];
  return users.find(({ id, values }) => id !== user && values.user_id === user)?.id ?? String(user);
}

function accountWords(live: LiveObjects, id: string): string {
  const name = labelsIn(live)(ACCOUNTS, id);
  return `account ${name === undefined ? id : namedWithId(name, id)}`;
}

export const lastAdministrator: Omit<PolicyRule, 'name'> = {
  judge({ changes, live, settings: { roles } }) {
    const blocked = guards(changes, live, roles).filter(({ waits }) => !waits);
    const users = new Map<string, Set<string>>();
    for (const { change, account } of blocked) {
      const user = userOf(change, live);
      if (user !== undefined) cached(users, account, () => new Set()).add(user);
    }
    return blocked.map(({ change, account }) => {
      const { address } = change;
      const where = accountWords(live, account);
      if (moves(change))
        return { address, detail: `${address} moves ${where} away from its last administrator` };
      const count = users.get(account)?.size;
      const who =
        count === 1 ? 'the last administrator' : `one of the last ${count} administrators`;
      const others = count === 1 ? '' : ', and no other would be left';
      return { address, detail: `${address} is ${who} of ${where}${others}` };
    });
  },
  needs(change, { roles }) {
    if (moves(change) || endsUser(change)) return [ACCOUNTS, AUTHORIZATIONS];
    return demotes(change, roles) ? [ACCOUNTS] : [];
  },
  // Promotions come before demotions and deactivations.
  waits: ({ changes, live, settings: { roles } }) =>
    guards(changes, live, roles).map(({ change, waits = [] }) => ({
      change,
      waits,
      last: demotes(change, roles) || deactivates(change),
    })),
  endangers: (change, { roles }) => demotes(change, roles) || moves(change) || endsUser(change),
  // An old role or an old place in the tree must not come back.
  sensitive: (change) => reroles(change) || moves(change),
  rechecks,
};
