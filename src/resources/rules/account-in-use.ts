// The rule against deleting an account to which other objects still refer.
import { accounts } from '../accounts.js';
import type { Values } from '../../model/index.js';
import { alertRules } from '../alert-rules.js';
import { configurationManagers } from '../configuration-managers.js';
import { groups } from '../groups.js';
import { routers } from '../routers.js';
import { inUseRule } from './in-use.js';
import { AUTHORIZATIONS } from './roles.js';

export const accountInUse = inUseRule({
  rule: 'account-in-use',
  kind: accounts,
  needs: [accounts.name, alertRules.name, AUTHORIZATIONS],
  holders: [
    [accounts.name, 'account'],
    [alertRules.name, 'associated_accounts'],
    [alertRules.name, 'account'],
  ],
  beyond: [
    [groups.name, 'account'],
    [routers.name, 'account'],
  ],
  holds: (kind, values, after) => {
    if (kind === AUTHORIZATIONS) return values.role !== 'no_access';
    return kind !== configurationManagers.name || !leaves(values, after(routers.name));
  },
  refusing: [accounts.name, groups.name, routers.name],
  hints: {
    [AUTHORIZATIONS]:
      'the API cannot delete an authorization, and one with the role no_access does not count',
  },
});

/** A configuration goes with its router. Where routers are not read, it shows where its router is. */
function leaves({ router, account }: Values, routersAfter: ReadonlyMap<string, Values>): boolean {
  const found = routersAfter.get(String(router));
  const other = found?.['account'] ?? account;
  return other !== account;
}
