// The names of the policy rules of this service, in the order in which they judge. They stand alone, because the
// command line knows them before it loads the rules.

export const ruleNames = [
  'last-administrator',
  'privilege-escalation',
  'account-in-use',
  'rule-without-destination',
  'destination-moved',
] as const;

export type RuleName = (typeof ruleNames)[number];
