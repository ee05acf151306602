// Tests see a plain environment: no colour, no credentials of the person who runs them, no proxy. Each folder of tests is
// a lane, and a project of vitest: `npm test` runs those that need Node alone, `npm run verify` the others.
import { defineConfig } from 'vitest/config';

for (const name of Object.keys(process.env))
  if (/^TRUEUP_|_proxy$/i.test(name)) delete process.env[name];

const lanes = ['unit', 'contract', 'integration', 'simulate', 'browser', 'terraform', 'crash'];

export default defineConfig({
  test: {
    projects: lanes.map((name) => ({
      extends: true,
      test: { name, include: [`test/${name}/**/*.test.ts`] },
    })),
    setupFiles: ['test/support/setup.ts'],
    env: { NO_COLOR: '1' },
    // Left alone, vitest keeps one core free: of two, that is half.
    maxWorkers: '100%',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    allowOnly: false,
  },
});
