// A remote state that no project name tells apart: another project that was given it deletes nothing there.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startHttp } from '../../../scripts/servers.js';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as get } from '../../../src/cli/commands/get.js';
import { run as bind } from '../../../src/cli/commands/import.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import type { Command } from '../../../src/cli/context.js';
import { cleanUp } from '../../support/clean-up.js';
import { freshFolder, inProcess, type Said } from '../../support/in-process.js';

/** The state of a project with two accounts, and another project that was given the same address. */
async function twoProjects() {
  const server = await startHttp();
  cleanUp.push(() => server.stop());
  const home = { cwd: freshFolder(), env: server.environment };
  const run = (command: Command, ...words: readonly string[]): Promise<Said> =>
    inProcess(command, words, home);
  const write = (accounts: string, more = ''): void =>
    writeFileSync(
      join(home.cwd, 'trueup.yaml'),
      `settings: { target: emulator, state: { url: "${server.url}"${more} } }\naccounts: ${accounts}\n`,
    );
  write('{ one: { name: One }, two: { name: Two } }');
  expect(await run(apply, 'apply', '--auto-approve')).toMatchObject({ code: 0 });
  write('{ other: { name: Other } }');
  return { run, write };
}

it('is judged in the same way when a saved plan is applied', async () => {
  const { run, write } = await twoProjects();
  expect(await run(plan, 'plan', '--out', 'p.plan')).toMatchObject({ code: 3 });
  const applied = await run(apply, 'apply', 'p.plan');
  expect(applied).toMatchObject({ code: 3 });
  expect(applied.stderr).toContain('Blocked by all-removed.');
  write('{ other: { name: Other } }', ', project: other');
  expect(await run(apply, 'apply', '--auto-approve')).toMatchObject({ code: 0 });
  expect((await run(get, 'get', 'accounts')).stdout).toMatch(/One[^]*Two[^]*Other/);
});

it('is not told apart by the name that it has without one', async () => {
  const { run, write } = await twoProjects();
  write('{ other: { name: Other } }', ', project: default');
  expect(await run(plan, 'plan')).toMatchObject({ code: 3 });
});

it('gets an imported object with a warning', async () => {
  const { run, write } = await twoProjects();
  write('{ other: { name: Other } }', ', project: other');
  expect(await run(apply, 'apply', '--auto-approve')).toMatchObject({ code: 0 });
  expect((await run(bind, 'import', 'accounts.other', '4')).stderr).toBe('');
  write('{ other: { name: Other } }');
  const bound = await run(bind, 'import', 'accounts.other', '4');
  expect(bound).toMatchObject({ code: 0 });
  expect(bound.stderr).toContain('None of the 2 objects in the state is declared here');
  expect(bound.stderr).toContain('settings.state.project');
});
