// The rule against deleting an account to which other objects still refer.
import {
  refuse,
  stringsIn,
  type Change,
  type Finding,
  type Judged,
  type Live,
  type LiveObjects,
  type PolicyRule,
  type RecheckTools,
  type Values,
} from '../../model/index.js';
import { phases } from '../../reconciler/plan/order.js';
import { alertRules } from '../alert-rules.js';
import { groups } from '../groups.js';
import { routers } from '../routers.js';
import { afterChanges, deletedIds } from './after-changes.js';
import { ACCOUNTS, AUTHORIZATIONS } from './roles.js';

type AccountDelete = Extract<Change, { action: 'delete' }>;

const isAccountDelete = (change: Change): change is AccountDelete =>
  change.action === 'delete' && change.kind === ACCOUNTS;

function judge({ changes, live }: Judged): readonly Finding[] {
  const deleted = changes.filter(isAccountDelete);
  if (deleted.length === 0) return [];
  const [first] = phases(changes);
  const early = holdersByAccount(live, deletedIds(first), new Map());
  const late = holdersByAccount(live, deletedIds(changes), afterChanges(changes));
  return deleted.flatMap((change) => {
    const found = (first.includes(change) ? early : late).get(change.id) ?? [];
    const held = [...found].map(([kind, count]) => `${count} of ${kind}`);
    const { address, id } = change;
    if (held.length === 0) return [];
    return [{ address, detail: `${address} (account ${id}) still holds ${held.join(', ')}` }];
  });
}

/** How many objects of each kind will still name an account once the changes are done. */
function holdersByAccount(
  objects: LiveObjects,
  deleted: ReadonlySet<string>,
  after: ReadonlyMap<string, Values>,
): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const countsByAccount = new Map<string, Map<string, number>>();
  for (const { kind, byId } of objects.values()) {
    for (const live of byId.values()) {
      const key = `${kind.name} ${live.id}`;
      const values = after.get(key) ?? live.values;
      if (deleted.has(key) || (kind.name === AUTHORIZATIONS && values.role === 'no_access'))
        continue;
      for (const account of new Set([
        String(values.account),
        ...stringsIn(values.associated_accounts),
      ])) {
        const counts = countsByAccount.get(account) ?? new Map<string, number>();
        countsByAccount.set(account, counts.set(kind.name, (counts.get(kind.name) ?? 0) + 1));
      }
    }
  }
  return countsByAccount;
}

/** The kinds that may refer to an account, with their filter. A service that ignores the filter lists everything. */
const holderFilters = [
  [ACCOUNTS, 'account'],
  [alertRules.name, 'associated_accounts'],
  [alertRules.name, 'account'],
] as const;

/** The same for kinds beyond the API reference, where they are read. */
const holdersBeyond = [
  [groups.name, 'account'],
  [routers.name, 'account'],
] as const;

/** Others may have put something below the account since the plan was made. */
function emptiness(
  { cloud, kinds, wasDeletedRecently }: RecheckTools,
  { address, id }: AccountDelete,
  live: LiveObjects,
) {
  const filters = [...holderFilters, ...holdersBeyond.filter(([name]) => live.has(name))];
  const names = ({ values }: Live, attribute: string): boolean =>
    [values[attribute]].flat().some((one) => String(one) === id);
  return {
    async before() {
      for (const [name, attribute] of filters) {
        const kind = kinds.get(name);
        const found = (kind ? await cloud.search(kind, { [attribute]: id }) : []).find(
          (live) => !wasDeletedRecently(name, live.id) && names(live, attribute),
        );
        if (found)
          refuse(
            'account-in-use',
            `${address} (account ${id}) holds the ${kind!.singular.replaceAll('_', ' ')} ${found.id} now, so it was not deleted.`,
            { detail: 'Plan again.' },
          );
      }
    },
  };
}

export const accountInUse: Omit<PolicyRule, 'name'> = {
  judge,
  needs: (change) => (isAccountDelete(change) ? [ACCOUNTS, alertRules.name, AUTHORIZATIONS] : []),
  endangers: isAccountDelete,
  rechecks: (tools, { live }) => ({
    of: (change) => (isAccountDelete(change) ? emptiness(tools, change, live) : undefined),
  }),
};
