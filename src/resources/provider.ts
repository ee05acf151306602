// The service as the engine is given it. It stands apart from the list of the kinds, because it takes the engine to load.
import type { Provider } from '../model/index.js';
import { kinds } from './index.js';
import { reviewWith } from './rules/access-review.js';
import { healthOf } from './rules/health.js';
import { policyRules } from './rules/index.js';

export const provider: Provider = {
  kinds,
  rules: policyRules,
  audits: [
    ({ live, addressOf }) => Promise.resolve({ health: healthOf(live, addressOf) }),
    reviewWith,
  ],
};
