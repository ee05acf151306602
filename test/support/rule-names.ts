// The names of all policy rules, as `--allow` takes them, and in the order in which they judge.
import { allowableRules, MASKED_CONFIGURATION } from '../../src/model/index.js';
import { ruleNames } from '../../src/resources/rules/names.js';

export const allowable = allowableRules(ruleNames);
export const everyRule: readonly string[] = [...allowable, MASKED_CONFIGURATION];
