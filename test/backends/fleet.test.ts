// A fleet whose states are on a real PostgreSQL server: its results are beside them, so that machines that share nothing
// else share one run.
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPostgres, type Server } from '../../scripts/servers.js';
import { emulator, folder, type Folder } from '../support/cli.js';

let server: Server;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const names = ['a', 'b', 'c', 'd', 'e', 'f'];

function machine(from?: Folder): Folder {
  const home = folder();
  if (from) {
    cpSync(from.path, home.path, { recursive: true, filter: (path) => !path.includes('.trueup') });
    return home;
  }
  home.write(
    'trueup.fleet.yaml',
    `fleet:\n  tenants: { from: tenants/* }\n  defaults: { paths: [base], state: "${server.url}?schema=tenant_\${tenant}" }\n`,
  );
  home.write('base/base.yaml', 'accounts: { site: { name: Site } }\n');
  for (const name of names) home.write(`tenants/${name}/t.yaml`, 'variables: { x: y }\n');
  return home;
}

test('shards of one run meet in the registers beside the states', async () => {
  const first = machine();
  const cloud = await emulator(
    first,
    names.flatMap((name) => ['--tenant', name]),
  );
  const env = { ...cloud.env, ...server.environment };
  const shard = (home: Folder, index: number) =>
    home.expect(0, ['fleet', 'apply', '--auto-approve', '--run', 'r', '--shard', `${index}/2`], {
      env,
    });
  await shard(first, 1);
  const second = machine(first);
  await second.expect(1, ['fleet', 'report', 'r'], { env });
  await shard(second, 2);
  const third = machine(first);
  const { stdout } = await third.expect(0, ['fleet', 'report', 'r'], { env });
  expect(stdout).toContain('6 tenants: 6 applied. Run r.');
  expect(existsSync(join(first.path, '.trueup/fleet'))).toBe(false);
  const again = await third.expect(0, ['fleet', 'apply', '--auto-approve', '--run', 'r'], { env });
  expect(again.stdout).toContain('6 tenants: 6 applied. Run r.');
  const drift = await third.expect(0, ['fleet', 'drift', '--detailed-exitcode'], { env });
  expect(drift.stdout).toContain('6 tenants: 6 as declared.');
});

test('two audits of a tenant run one after the other', async () => {
  const home = machine();
  const cloud = await emulator(home, [
    ...names.flatMap((name) => ['--tenant', name]),
    '--fault',
    'c:latency=4000',
  ]);
  const env = { ...cloud.env, ...server.environment };
  const first = home.start(['fleet', 'drift', '--run', 'first'], { env, patience: 120_000 });
  await first.says('b: ');
  const hurried = await machine(home).expect(
    4,
    ['fleet', 'drift', '--select', 'tenant=c', '--lock-wait', '0'],
    { env },
  );
  expect(hurried.stderr).toContain('c: an audit is in progress: "fleet drift, run first", process');
  const patient = await machine(home).expect(0, ['fleet', 'drift', '--select', 'tenant=c'], {
    env,
    patience: 120_000,
  });
  expect(patient.stdout).toContain('1 tenant: 1 with drift.');
  expect((await first.ended).code).toBe(0);
}, 180_000);
