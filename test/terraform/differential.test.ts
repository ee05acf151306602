// Twenty generated estates: what terraform leaves in the cloud is what trueup leaves, at first and after a change.
import { describe, expect, it } from 'vitest';
import '../cli/run.js';
import { differences } from '../support/differential.js';
import { terraformIsHere } from '../support/terraform.js';

const ESTATES = 20;

describe.runIf(terraformIsHere('terraform beside trueup', ESTATES))('terraform apply and trueup apply', () => {
  it.each(Array.from({ length: ESTATES }, (_, index) => index + 1))('leave the same of estate %d', { timeout: 120_000 }, async (seed) => {
    expect((await differences(seed)).join('\n')).toBe('');
  });
});
