import { describe } from 'vitest';
import { SLOW, queueSuite } from './fleet-queue-suite.js';

describe('a fleet over pg-boss 12.18.3', { timeout: SLOW }, () => {
  queueSuite('12.18.3');
});
