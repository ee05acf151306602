// The warning that declared roles end with a user who is deleted: the API cannot create them again.
import {
  firstNamed,
  type Change,
  type Diagnostic,
  type Judged,
  type PolicyRule,
} from '../../model/index.js';
import { managerOf } from './in-use.js';
import { AUTHORIZATIONS, endedBy, USERS } from './roles.js';

/** Roles that a message names. */
const FEW = 10;

const isUserDelete = ({ action, kind }: Change): boolean => action === 'delete' && kind === USERS;

const warn = ({ changes, live, addressOf }: Judged): readonly Diagnostic[] =>
  changes.filter(isUserDelete).flatMap((change): Diagnostic | [] => {
    const roles = endedBy(change, live).flatMap(
      ({ id }) => managerOf({ addressOf, changes }, AUTHORIZATIONS, id) ?? [],
    );
    if (roles.length === 0) return [];
    const { address } = change;
    const [end, them] = roles.length === 1 ? ['ends', 'it'] : ['end', 'them'];
    return {
      severity: 'warning',
      code: 'role-ends',
      summary: `${address} is to be deleted, and ${firstNamed(roles, FEW)} ${end} with it.`,
      detail: `If the project still declares ${them}, remove that as well: the API cannot create roles, so the next plan would be an error.`,
      address,
    };
  });

export const rolesOfUser: Omit<PolicyRule, 'name'> = {
  judge: () => [],
  needs: (change) => (isUserDelete(change) ? [AUTHORIZATIONS] : []),
  warn,
};
