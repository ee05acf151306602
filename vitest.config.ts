// Tests see a plain environment: no colour, no credentials of the person who runs them, no proxy. Each folder of tests is
// a lane, and a project of vitest: `npm test` runs those that need Node alone, `npm run verify` the others.
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

export default defineConfig({
  test: {
    projects: lanes.map((name) => ({
      extends: true,
      // Files of a lane share the modules that they import: a file leaves nothing behind.
      test: { name, include: [`test/${name}/**/*.test.ts`], isolate: false },
    })),
    setupFiles: ['test/support/setup.ts'],
    env: { NO_COLOR: '1' },
    // Tests of whole processes wait about a third of their time.
    maxWorkers: '150%',
    // A test of thirty commands takes 5 s, and a minute on a machine at load 12.
    testTimeout: 180_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    allowOnly: false,
  },
});
