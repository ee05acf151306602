// A fleet over a queue on a real PostgreSQL server: workers are killed, frozen, stopped and cut off, and every tenant
// has its outcome; nothing is created twice.
import { cpSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPostgres, type Server } from '../../scripts/servers.js';
import { emulator, folder, type Folder, type Started } from '../support/cli.js';

let server: Server;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const names = Array.from({ length: 12 }, (_, at) => `t${at + 1}`);
const LONG = { patience: 120_000 };

/** A fleet of its own: its results, its states and its queue are no other test's. */
function fleet(id: string, more = ''): Folder {
  return folder({
    'trueup.fleet.yaml': `fleet:\n  tenants: { from: tenants/* }\n  defaults: { paths: [base], state: "${server.url}?schema=${id}_\${tenant}" }\n  concurrency: 3\n${more}`,
    'base/base.yaml': 'accounts: { site: { name: Site } }\n',
    ...Object.fromEntries(names.map((name) => [`tenants/${name}/t.yaml`, 'variables: { x: y }\n'])),
  });
}

const cloudOf = (home: Folder, ...faults: readonly string[]) =>
  emulator(
    home,
    [
      ...names.flatMap((name) => ['--tenant', name]),
      ...faults.flatMap((fault) => ['--fault', fault]),
    ],
    LONG,
  );

test('an audit is queued, and workers run it', async () => {
  const home = fleet('audit');
  const cloud = await cloudOf(home);
  const env = { ...cloud.env, ...server.environment, TRUEUP_QUEUE: server.url };
  const queued = await home.expect(0, ['fleet', 'drift', '--engine', 'pgboss', '--run', 'r'], { env });
  console.log(queued);
  const w = await home.run(['fleet', 'worker', '--until-idle'], { env, ...LONG });
  console.log(w);
  const { stdout } = await home.expect(0, ['fleet', 'status', 'r'], { env });
  console.log(stdout);
});
