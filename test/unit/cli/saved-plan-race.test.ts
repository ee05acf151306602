// A saved plan of an empty state, applied by two at once: the one that waited for the lock finds a state.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHttp } from '../../../scripts/servers.js';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import type { Session } from '../../../src/state/index.js';
import type { Command } from '../../../src/cli/context.js';
import { cleanUp } from '../../support/clean-up.js';
import { diskSession } from '../../support/disk-session.js';
import { freshFolder, inProcess, type Said } from '../../support/in-process.js';
import { intent, result } from '../state/samples.js';

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

test.each<[what: string, record: (session: Session) => Promise<void>]>([
  ['sent a request', (session) => session.record(intent('1'))],
  ['made an object', (session) => session.record(intent('1'), result('1'))],
])('is refused where another run %s, and was killed before it wrote a state', async (_, record) => {
  const home = { cwd: freshFolder(), env: {} };
  writeFileSync(
    join(home.cwd, 'trueup.yaml'),
    'settings: { target: emulator, state: state.json }\naccounts: { one: { name: One } }\n',
  );
  expect(await inProcess(plan, ['plan', '--out', 'p.plan'], home)).toMatchObject({ code: 0 });
  const session = await diskSession(join(home.cwd, 'state.json'), 'emulator');
  /** The other run ends as soon as this one waits for it. */
  const applied: Command = (context, args) =>
    apply(
      {
        ...context,
        async tell(some) {
          if (some.some(({ code }) => code === 'lock-waited')) {
            await record(session);
            await session.release();
          }
          return context.tell(some);
        },
      },
      args,
    );
  const said = await inProcess(applied, ['apply', 'p.plan', '--lock-wait', '1m'], home);
  expect(said).toMatchObject({ code: 6 });
  expect(said.stderr).toContain('it was made without a state, and there is one now');
});
