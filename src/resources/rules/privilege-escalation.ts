// The rule against giving a user a higher role.
import { labelOf, labelsIn, type PolicyRule } from '../../model/index.js';
import { accountAuthorizations } from '../account-authorizations.js';
import { rank, reroles, escalates, roleAfter } from './roles.js';

export const privilegeEscalation: Omit<PolicyRule, 'name'> = {
  alone: true,
  judge: ({ changes, live, settings: { roles } }) =>
    changes
      .filter(reroles)
      .filter((change) => escalates(change.before.role, roleAfter(change), roles))
      .map((change) => {
        const after = roleAfter(change);
        const whose = labelOf(accountAuthorizations, change.before, labelsIn(live));
        const unknown = [change.before.role, after].filter(
          (role) => typeof role === 'string' && rank(role, roles) < 0,
        );
        const why =
          unknown.length === 0
            ? ''
            : `; the rank of ${unknown.join(' and ')} is not known: set it in settings.roles`;
        const higher = unknown.length === 0 ? 'higher ' : '';
        const to =
          typeof after === 'string'
            ? `the ${higher}role ${after}`
            : 'a role that is known only after apply';
        return {
          address: change.address,
          detail: `${change.address} (${whose}) changes from ${String(change.before.role)} to ${to}${why}`,
        };
      }),
};
