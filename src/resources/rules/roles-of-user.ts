// The warning that roles end with a user who is deleted: the API cannot create them again.
import {
  firstNamed,
  liveObjectWords,
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

const isDeclared = (change: Change): boolean =>
  'declaredObject' in change && change.declaredObject !== undefined;

function warn({ changes, live, addressOf }: Judged): readonly Diagnostic[] {
  const declared = new Set(changes.filter(isDeclared).map(({ address }) => address));
  return changes.filter(isUserDelete).flatMap((change): Diagnostic | [] => {
    const ended = endedBy(change, live);
    const managers = ended.map(({ id }) => managerOf({ addressOf, changes }, AUTHORIZATIONS, id));
    const roles = managers.flatMap((one) => one ?? []);
    const others = ended.flatMap(({ id }, index) =>
      managers[index] === undefined && addressOf?.(AUTHORIZATIONS, id) === undefined
        ? `unmanaged ${liveObjectWords(live, AUTHORIZATIONS, id)}`
        : [],
    );
    const { address } = change;
    const all = [...roles, ...others];
    if (all.length === 0) return [];
    const summary = `${address} is to be deleted, and ${firstNamed(all, FEW)} ${all.length === 1 ? 'ends' : 'end'} with it.`;
    if (roles.length === 0) return { severity: 'warning', code: 'role-ends', summary, address };
    const [them, its, declaration] =
      roles.length === 1 ? ['it', 'its', 'declaration'] : ['them', 'their', 'declarations'];
    // Of what the plan does not cover, the state does not tell whether it is still declared.
    const remove = roles.every((role) => declared.has(role))
      ? `Remove ${its} ${declaration} as well`
      : `If the project still declares ${them}, remove that as well`;
    return {
      severity: 'warning',
      code: 'role-ends',
      summary,
      detail: `${remove}: the API cannot create roles, so the next plan would be an error.`,
      address,
    };
  });
}

export const rolesOfUser: Omit<PolicyRule, 'name'> = {
  judge: () => [],
  needs: (change) => (isUserDelete(change) ? [AUTHORIZATIONS] : []),
  warn,
};
