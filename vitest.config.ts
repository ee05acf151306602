// Tests see a plain environment: no colour, no credentials of the person who runs them, no proxy. Each folder of tests is
// a lane, and a project of vitest: `npm test` runs those that need Node alone, `npm run verify` the others.
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

for (const name of Object.keys(process.env))
  if (/^TRUEUP_|_proxy$/i.test(name)) delete process.env[name];

const lanes = [
  'unit',
  'contract',
  'integration',
  'simulate',
  'scenarios',
  'browser',
  'terraform',
  'crash',
  'backends',
];

const cores = availableParallelism();

/** Test files that run at once. Most lanes wait for whole processes a third of their time; those named here do not. */
const workers: Readonly<Record<string, number>> = {
  unit: cores,
  // They wait for PostgreSQL, Ceph and the clock.
  backends: 3 * cores,
};

export default defineConfig({
  test: {
    projects: lanes.map((name, groupOrder) => ({
      extends: true,
      // Files of a lane share the modules that they import: a file leaves nothing behind.
      test: {
        name,
        include: [`test/${name}/**/*.test.ts`],
        isolate: false,
        maxWorkers: workers[name] ?? Math.ceil(1.5 * cores),
        // One lane after another: they differ in their workers.
        sequence: { groupOrder },
      },
    })),
    setupFiles: ['test/support/setup.ts'],
    env: { NO_COLOR: '1' },
    // A test of thirty commands takes 5 s, and a minute on a machine at load 12.
    testTimeout: 180_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    allowOnly: false,
  },
});
