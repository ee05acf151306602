// The tests that judge a mutant of Stryker: those of the engine, in one project, because the runner knows no lanes.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/unit/reconciler/**/*.test.ts'],
    setupFiles: ['test/support/setup.ts'],
    env: { NO_COLOR: '1', FC_RUNS: '3' },
    testTimeout: 60_000,
  },
});
