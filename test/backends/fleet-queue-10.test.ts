import { describe } from 'vitest';
import { SLOW, queueSuite } from './fleet-queue-suite.js';

describe('a fleet over pg-boss 10.4.2', { timeout: SLOW }, () => {
  queueSuite('10.4.2');
});
