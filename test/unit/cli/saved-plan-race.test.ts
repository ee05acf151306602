// A saved plan of an empty state, applied by two at once: the one that waited for the lock finds a state.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHttp } from '../../../scripts/servers.js';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import type { Command } from '../../../src/cli/context.js';
import { cleanUp } from '../../support/clean-up.js';
import { freshFolder, inProcess, type Said } from '../../support/in-process.js';

test('is applied once', async () => {
  const server = await startHttp();
  cleanUp.push(() => server.stop());
  const home = { cwd: freshFolder(), env: server.environment };
  const run = (command: Command, ...words: readonly string[]): Promise<Said> =>
    inProcess(command, words, home);
  writeFileSync(
    join(home.cwd, 'trueup.yaml'),
    `settings: { target: emulator, state: { url: "${server.url}" } }\naccounts: { one: { name: One } }\n`,
  );
  expect(await run(plan, 'plan', '--out', 'p.plan')).toMatchObject({ code: 0 });
  const both = await Promise.all(
    [1, 2].map(() => run(apply, 'apply', 'p.plan', '--lock-wait', '1m')),
  );
  expect(both.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([0, 6]);
  expect(both.find(({ code }) => code === 6)?.stderr).toContain(
    'it was made without a state, and there is one now',
  );
});
