// The policy rules of this service.
import type { PolicyRule } from '../../model/index.js';
import { accountInUse } from './account-in-use.js';
import { destinationMoved } from './destination-moved.js';
import { groupInUse } from './group-in-use.js';
import { lastAdministrator } from './last-administrator.js';
import { ruleNames, type RuleName } from './names.js';
import { privilegeEscalation } from './privilege-escalation.js';
import { ruleWithoutDestination } from './rule-without-destination.js';

const rules: Readonly<Record<RuleName, Omit<PolicyRule, 'name'>>> = {
  'last-administrator': lastAdministrator,
  'privilege-escalation': privilegeEscalation,
  'account-in-use': accountInUse,
  'group-in-use': groupInUse,
  'rule-without-destination': ruleWithoutDestination,
  'destination-moved': destinationMoved,
};

export const policyRules: readonly PolicyRule[] = ruleNames.map((name) => ({
  name,
  ...rules[name],
}));
