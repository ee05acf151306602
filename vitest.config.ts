// Tests see a plain world: no colour, no credentials of the person who runs them, no proxy.
import { defineConfig } from 'vitest/config';

for (const name of Object.keys(process.env)) if (/^TRUEUP_|_proxy$/i.test(name)) delete process.env[name];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/setup.ts'],
    env: { NO_COLOR: '1' },
    // Left alone, vitest keeps one core free: of two, that is half.
    maxWorkers: '100%',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    restoreMocks: true,
    allowOnly: false,
  },
});
