// The rule against giving a user a higher role.
import type { PolicyRule } from '../../model/index.js';
import { rank, reroles, rises, roleAfter } from './roles.js';

export const privilegeEscalation: Omit<PolicyRule, 'name'> = {
  judge: ({ changes, settings: { roles } }) =>
    changes
      .filter(reroles)
      .filter((change) => rises(change.before.role, roleAfter(change), roles))
      .map((change) => {
        const after = roleAfter(change);
        const unknown = [change.before.role, after].filter(
          (role) => typeof role === 'string' && rank(role, roles) < 0,
        );
        const why =
          unknown.length === 0
            ? ''
            : `; the rank of ${unknown.join(' and ')} is not known: set it in settings.roles`;
        return {
          address: change.address,
          detail: `${change.address} changes from ${String(change.before.role)} to ${typeof after === 'string' ? `the higher role ${after}` : 'a role that is known only after apply'}${why}`,
        };
      }),
};
