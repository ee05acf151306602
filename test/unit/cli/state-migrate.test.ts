// A state that moves between shared places: to one that it left before, and to no other one that holds a state.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startHttp } from '../../../scripts/servers.js';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import { run as migrate } from '../../../src/cli/commands/state-migrate.js';
import type { Command } from '../../../src/cli/context.js';
import { cleanUp } from '../../support/clean-up.js';
import { freshFolder, inProcess, type Said } from '../../support/in-process.js';

it('moves back to a place that it left, and to none that holds another state', async () => {
  const server = await startHttp();
  cleanUp.push(() => server.stop());
  const [one, other, third] = ['one', 'other', 'third'].map((name) => `${server.url}-${name}`);
  const folder = () => {
    const home = { cwd: freshFolder(), env: server.environment };
    const run = (command: Command, ...words: readonly string[]): Promise<Said> =>
      inProcess(command, words, home);
    return {
      use: (state: string | undefined): void =>
        writeFileSync(
          join(home.cwd, 'trueup.yaml'),
          `settings: { target: emulator, state: "${state!}" }\naccounts:\n  field: { name: Field }\n`,
        ),
      plan: () => run(plan, 'plan'),
      apply: () => run(apply, 'apply', '--auto-approve'),
      migrate: (to: string | undefined, ...words: readonly string[]) =>
        run(migrate, 'state', 'migrate', '--to', to!, ...words),
    };
  };
  const [home, elsewhere] = [folder(), folder()];
  elsewhere.use(third);
  expect(await elsewhere.apply()).toMatchObject({ code: 0 });
  home.use(one);
  expect(await home.apply()).toMatchObject({ code: 0 });
  expect(await home.migrate(other)).toMatchObject({ code: 0 });
  home.use(other);
  expect((await home.migrate(third)).stderr).toContain('holds a state already');
  expect(await home.migrate(one, '--dry-run')).toMatchObject({ code: 0 });
  expect(await home.plan()).toMatchObject({ code: 0 });
  expect(await home.migrate(one)).toMatchObject({ code: 0 });
  expect((await home.plan()).stderr).toContain('Name that place');
  home.use(one);
  expect((await home.plan()).stdout).toContain('No changes. 1 object is as declared.');
  // What moved to elsewhere is free for nobody else.
  expect(await home.migrate(other)).toMatchObject({ code: 0 });
  expect((await elsewhere.migrate(one)).stderr).toContain('state-moved');
});
