// The policy rules of this service.
import type { PolicyRule } from '../../model/index.js';
import { accountInUse } from './account-in-use.js';
import { destinationInUse } from './destination-in-use.js';
import { destinationMoved } from './destination-moved.js';
import { groupInUse } from './group-in-use.js';
import { lastAdministrator } from './last-administrator.js';
import { ruleNames, type RuleName } from './names.js';
import { privilegeEscalation } from './privilege-escalation.js';
import { rolesOfUser } from './roles-of-user.js';
import { ruleWithoutDestination } from './rule-without-destination.js';

const rules: Readonly<Record<RuleName, Omit<PolicyRule, 'name'>>> = {
  'last-administrator': lastAdministrator,
  'privilege-escalation': privilegeEscalation,
  'account-in-use': accountInUse,
  'group-in-use': groupInUse,
  'rule-without-destination': ruleWithoutDestination,
  'destination-moved': destinationMoved,
};

/** They block nothing, so no flag takes their names. */
const warnings: Readonly<Record<string, Omit<PolicyRule, 'name'>>> = {
  'destination-in-use': destinationInUse,
  'roles-of-user': rolesOfUser,
};

export const policyRules: readonly PolicyRule[] = [
  ...ruleNames.map((name) => ({ name, ...rules[name] })),
  ...Object.entries(warnings).map(([name, rule]) => ({ name, allowable: false as const, ...rule })),
];
