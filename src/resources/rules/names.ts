// The names of the policy rules of this service, in the order in which they judge. In their own file, because the
// command line needs them before it loads the rules.

export const ruleNames = [
  'last-administrator',
  'privilege-escalation',
  'account-in-use',
  'group-in-use',
  'rule-without-destination',
  'destination-moved',
] as const;

export type RuleName = (typeof ruleNames)[number];
