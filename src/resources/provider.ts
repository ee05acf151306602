// The provider of this service. In its own file, because it loads the engine and the list of kinds does not.
import type { Provider } from '../model/index.js';
import { kinds } from './index.js';
import { reviewWith } from './rules/access-review.js';
import { healthOf, retold } from './rules/health.js';
import { policyRules } from './rules/index.js';

export const provider: Provider = {
  kinds,
  rules: policyRules,
  audits: [
    ({ live, addressOf }) => Promise.resolve({ health: healthOf(live, addressOf), retold }),
    reviewWith,
  ],
};
