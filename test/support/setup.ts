// What every file of tests begins with. Properties run with the same numbers every time, so that a red test is red again;
// FC_SEED=<number> explores others.
import fc from 'fast-check';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';
import { cleanUp } from './clean-up.js';

const seed = Number(process.env['FC_SEED'] ?? 20_260_901);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

// The libraries of programs make folders that they never take away.
const outer = process.env['TMPDIR'];
const scratch = mkdtempSync(join(tmpdir(), 'tu-'));
process.env['TMPDIR'] = scratch;
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
  if (outer === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = outer;
});
afterEach(async () => {
  for (const one of cleanUp.splice(0).toReversed()) await one();
});
