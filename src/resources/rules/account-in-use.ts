// The rule against deleting an account to which other objects still refer.
import { accounts } from '../accounts.js';
import { alertRules } from '../alert-rules.js';
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
  holds: (kind, { role }) => kind !== AUTHORIZATIONS || role !== 'no_access',
  refusing: [accounts.name, groups.name, routers.name],
  hints: {
    [AUTHORIZATIONS]:
      'the API cannot delete an authorization, and one with the role no_access does not count',
  },
});
