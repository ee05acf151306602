// A fleet over a queue on a real PostgreSQL server, where the version of pg-boss makes no difference.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { describe, expect, test } from 'vitest';
import type { FleetDocument } from '../../src/model/index.js';
import type { Options } from '../support/cli.js';
import {
  ACTIVE,
  LANES,
  SLOW,
  WAITING,
  fleetOf,
  installed,
  names,
  old,
  startQueueServer,
  versions,
} from './fleet-queue-suite.js';

const server = startQueueServer();

describe('whatever the version', { timeout: SLOW }, () => {
  test('an older pg-boss does not touch the tables of a newer one', async () => {
    const fleet = await fleetOf(versions['12.18.3']());
    await fleet.expect(0, 'fleet', 'drift', '--engine', 'pgboss', '--run', 'r');
    const { env } = fleet;
    const words = ['fleet', 'worker', '--until-idle'];
    const { stderr } = await fleet.home.expect(1, words, { env });
    expect(stderr).toContain('of another version of pg-boss');
    await fleet.expect(0, ...words);
    expect((await fleet.report('r')).summary).toEqual({ tenants: 12, drift: 12 });
  });

  test('a newer pg-boss says how to begin a new queue in place of that of an older one', async () => {
    const fleet = await fleetOf(old);
    await fleet.expect(0, 'fleet', 'drift', '--engine', 'pgboss', '--run', 'r');
    const { script, node } = versions['12.18.3']();
    const newer: Options = { script, node, env: fleet.env, patience: 60_000 };
    const { stderr } = await fleet.home.expect(1, ['fleet', 'worker', '--until-idle'], newer);
    const [, statement] = /: (drop schema trueup_queue cascade)$/m.exec(stderr) ?? [];
    await fleet.sql(statement!);
    await fleet.home.expect(0, ['fleet', 'resume', 'r'], newer);
    await fleet.home.expect(0, ['fleet', 'worker', '--until-idle'], newer);
    expect((await fleet.report('r')).summary).toEqual({ tenants: 12, drift: 12 });
  });

  test.each([
    ['select', 'a word of SQL'],
    ['Queue', 'only lower-case letters'],
  ])('a queue in the schema %s is refused', async (schema, why) => {
    const fleet = await fleetOf(old);
    const env = { ...fleet.env, TRUEUP_QUEUE: `${fleet.env['TRUEUP_QUEUE']}?schema=${schema}` };
    const { stderr } = await fleet.home.expect(1, ['fleet', 'worker', '--until-idle'], { env });
    expect(stderr).toContain(why);
  });

  test('SIGTERM puts tenants back, and another worker goes on at once', async () => {
    const fleet = await fleetOf(old, { faults: ['latency=400'] });
    await fleet.expect(0, 'fleet', 'drift', '--engine', 'pgboss', '--run', 'r');
    const first = fleet.worker();
    await first.says('r t');
    first.child.kill('SIGTERM');
    expect((await first.ended).code).toBe(143);
    const { stdout } = await fleet.expect(0, 'fleet', 'status', 'r');
    expect(stdout).toMatch(/\b0 being run, (?:[6-9]|1[01]) waiting\. Run r\.$/m);
    expect(stdout).not.toContain('interrupted');
    await fleet.expect(0, 'fleet', 'worker', '--until-idle', '--lanes', '12');
    expect((await fleet.report('r')).summary).toEqual({ tenants: 12, drift: 12 });
  });

  test('SIGTERM in an apply puts tenants back, cancels nothing, and another worker finishes', async () => {
    const lanes = 6;
    const fleet = await fleetOf(old, { faults: ['latency=500,method=POST'] });
    const more = [1, 2, 3, 4].map((at) => `  u${at}: { name: Unit ${at} }\n`).join('');
    fleet.home.write('base/more.yaml', `accounts:\n${more}`);
    await fleet.expect(0, 'fleet', 'plan', '--out', 'change.bundle');
    const words = ['--engine', 'pgboss', '--run', 'r', '--lock-wait', '30s', '--parallelism', '1'];
    await fleet.expect(0, 'fleet', 'apply', 'change.bundle', ...words);
    const first = fleet.worker('--lanes', String(lanes));
    const begun = (name: string) =>
      fleet.sql(`select 1 from ${name}.registers where key like '%/log/%'`).catch(() => []);
    await expect
      .poll(async () => (await Promise.all(names.map(begun))).flat().length, {
        timeout: 20_000,
        interval: 20,
      })
      .toBeGreaterThan(0);
    expect((await fleet.sql(ACTIVE)).length).toBeGreaterThan(4);
    first.child.kill('SIGTERM');
    const { code, stderr } = await first.ended;
    expect(code).toBe(143);
    expect(stderr).not.toContain('cancelled');
    const { stdout } = await fleet.expect(0, 'fleet', 'status', 'r');
    expect(stdout).toMatch(/\b0 being run, (?:[6-9]|1[0-2]) waiting\. Run r\.$/m);
    await fleet.expect(0, 'fleet', 'worker', '--until-idle', '--lanes', '12');
    const reported = await fleet.run('fleet', 'report', 'r', '--format', 'json');
    const { summary } = JSON.parse(reported.stdout) as FleetDocument;
    // What was being written is another state now: its plan is stale.
    const { applied = 0, stale = 0, unchanged = 0, ...other } = summary;
    expect(other).toEqual({ tenants: 12 });
    expect(applied + stale + unchanged).toBe(12);
    expect(stale).toBeLessThanOrEqual(lanes);
    await fleet.expect(0, 'fleet', 'apply', '--auto-approve', ...WAITING);
    expect(await fleet.created()).toEqual(names.map(() => 1));
  });

  test('a worker goes on when PostgreSQL is back', async () => {
    const fleet = await fleetOf(old, { faults: ['latency=150'] });
    await fleet.expect(0, 'fleet', 'drift', '--engine', 'pgboss', '--run', 'r');
    const worker = fleet.worker('--until-idle');
    const waiting = fleet.run('fleet', 'status', 'r', '--wait');
    await worker.says('r t');
    await server().halt();
    await worker.says('The worker retries.');
    const late = fleet.start('fleet', 'status', 'r', '--wait');
    await late.says('Retrying.');
    await server().restart();
    const { code, stderr } = await worker.ended;
    expect(code, stderr).toBe(0);
    // So does who waits for its run, also from now on.
    expect(await waiting).toMatchObject({ code: 0 });
    expect(await late.ended).toMatchObject({ code: 0 });
    expect((await fleet.report('r')).summary).toEqual({ tenants: 12, drift: 12 });
  });

  test('what PostgreSQL was gone for is applied once', async () => {
    const fleet = await fleetOf(old, { faults: ['latency=150'] });
    await fleet.expect(0, 'fleet', 'plan', '--out', 'change.bundle');
    const words = ['--engine', 'pgboss', '--run', 'r', '--lock-wait', '30s'];
    await fleet.expect(0, 'fleet', 'apply', 'change.bundle', ...words);
    const worker = fleet.worker('--until-idle');
    await worker.says('r t');
    await server().halt();
    await worker.says('The worker retries.');
    await server().restart();
    await worker.ended;
    const { stdout } = await fleet.run('fleet', 'report', 'r', '--format', 'json');
    const { summary } = JSON.parse(stdout) as FleetDocument;
    expect(summary.missing).toBeUndefined();
    expect(summary.applied).toBeGreaterThanOrEqual(12 - 2 * LANES);
    // What was cut off says so, and is completed.
    await expect
      .poll(async () => (await fleet.run('fleet', 'apply', '--auto-approve')).code, {
        timeout: 40_000,
      })
      .toBe(0);
    expect(await fleet.created()).toEqual(names.map(() => 1));
  });

  test('a bundle stays encrypted, and no job holds a secret', async () => {
    const fleet = await fleetOf(old);
    const identity = await generateIdentity();
    fleet.home.write('key.txt', `${identity}\n`);
    const to = ['--encrypt-to', await identityToRecipient(identity)];
    await fleet.expect(0, 'fleet', 'plan', '--out', 'change.bundle', ...to);
    const key = ['--identity', 'key.txt'];
    const words = ['fleet', 'apply', 'change.bundle', '--engine', 'pgboss', '--run', 'r'];
    await fleet.expect(0, ...words, ...key);
    const [kept] = await fleet.sql(
      `select convert_from(body, 'UTF8') as text from trueup.registers where key like 'bundles/%'`,
    );
    expect(kept?.['text']).toBe(fleet.home.read('change.bundle'));
    expect(kept?.['text']).toContain('BEGIN AGE ENCRYPTED FILE');
    const jobs = JSON.stringify(await fleet.sql('select * from trueup_queue.job'));
    expect(jobs).toContain('"tenant":"t1"');
    const secrets = Object.entries(fleet.env).flatMap(([name, value]) =>
      /KEY|TOKEN|PASSWORD|_ID$/.test(name) ? [value] : [],
    );
    expect(secrets.length).toBeGreaterThan(12);
    expect(secrets.filter((value) => jobs.includes(value))).toEqual([]);
    const worker = ['fleet', 'worker', '--until-idle', '--lanes', '12'];
    const { stderr } = await fleet.expect(0, ...worker, ...key);
    expect(stderr).not.toContain('MaxListeners');
    expect((await fleet.report('r')).summary).toEqual({ tenants: 12, applied: 12 });
  });

  test('the worker that sees too many failures in a row cancels the run', async () => {
    const fleet = await fleetOf(old, { faults: ['status=401'], more: '  stop: { failures: 4 }\n' });
    await fleet.expect(0, 'fleet', 'drift', '--engine', 'pgboss', '--run', 'r');
    const { stderr } = await fleet.expect(0, 'fleet', 'worker', '--until-idle', '--lanes', '1');
    expect(stderr).toContain('The run r is cancelled: 4 tenants in a row failed');
    expect(stderr).toContain('8 tenants not begun');
    expect(stderr).toContain('trueup fleet resume r');
    const { summary } = await fleet.report('r', 1);
    expect(summary).toEqual({ tenants: 12, failed: 4, 'not-run': 8 });
  });

  test('fleets whose results are at one place work for themselves alone', async () => {
    const red = await fleetOf(old);
    const text = red.home.read('trueup.fleet.yaml');
    const schemaOf = (name: string): void =>
      red.home.write('trueup.fleet.yaml', text.replace('schema=', `schema=${name}_`));
    schemaOf('red');
    await red.expect(0, 'fleet', 'drift', '--engine', 'pgboss', '--run', 'r');
    schemaOf('blue');
    expect((await red.expect(0, 'fleet', 'worker', '--until-idle')).stdout).toBe('');
    for (const words of [
      ['resume', 'r'],
      ['cancel', 'r'],
      ['drift', '--engine', 'pgboss', '--run', 'r'],
    ]) {
      const { stderr } = await red.expect(1, 'fleet', ...words);
      expect(stderr).toContain('the run r is of another fleet');
    }
    schemaOf('red');
    await red.expect(0, 'fleet', 'worker', '--until-idle', '--lanes', '12');
    expect((await red.report('r')).summary).toEqual({ tenants: 12, drift: 12 });
  });

  test('an apply goes before an audit, and a worker without a tenant says so', async () => {
    const fleet = await fleetOf(old);
    await fleet.expect(0, 'fleet', 'plan', '--out', 'change.bundle');
    await fleet.expect(0, 'fleet', 'drift', '--engine', 'pgboss', '--run', 'audit');
    await fleet.expect(
      0,
      'fleet',
      'apply',
      'change.bundle',
      '--engine',
      'pgboss',
      '--run',
      'change',
    );
    rmSync(join(fleet.home.path, 'tenants/t12'), { recursive: true });
    const { stdout } = await fleet.expect(0, 'fleet', 'worker', '--until-idle', '--lanes', '1');
    const runs = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0]);
    expect(runs).toEqual([...names.map(() => 'change'), ...names.map(() => 'audit')]);
    expect(stdout).toMatch(/^audit t12: FAILED t12 is not a tenant of the fleet in /m);
    expect((await fleet.report('change', 1)).summary).toEqual({
      tenants: 12,
      applied: 11,
      failed: 1,
    });
  });

  test('what a queue has no use for is refused before anything is queued', async () => {
    const fleet = await fleetOf(old, {
      more: '  order: [{ select: "tenant=t1" }, { select: "*" }]\n',
    });
    await fleet.expect(0, 'fleet', 'plan', '--out', 'all.bundle');
    const table: readonly (readonly [number, readonly string[], string])[] = [
      [1, ['drift', '--shard', '1/2'], '--shard cannot be used with --engine'],
      [1, ['drift', '--report', 'json=x'], 'trueup fleet report RUN'],
      [1, ['drift', '--queue', 'postgres://u:p@127.0.0.1/x'], '--queue holds a password'],
      [1, ['drift', '--queue', 'mysql://127.0.0.1/x'], 'not an address of a PostgreSQL database'],
      [1, ['drift', '--job-expiry', '5m'], 'from 15m to less than 24h'],
      [1, ['drift', '--var', 'api_token=x'], 'named like a secret'],
      [1, ['apply', '--auto-approve'], 'trueup fleet plan --out change.bundle'],
      [1, ['apply', 'all.bundle'], 'a worker cannot wait'],
    ];
    for (const [code, words, said] of table) {
      const { stderr } = await fleet.expect(code, 'fleet', ...words, '--engine', 'pgboss');
      expect(stderr).toContain(said);
    }
    const limited = await fleetOf(old, { more: '  stop: { changed_tenants: 11 }\n' });
    await limited.run('fleet', 'plan', '--out', 'all.bundle');
    const words = ['fleet', 'apply', 'all.bundle', '--engine', 'pgboss', '--run', 'r'];
    const beyond = await limited.expect(3, ...words);
    expect(beyond.stderr).toContain('12 tenants would change');
    await limited.expect(1, 'fleet', 'report', 'r');
    const { stderr } = await fleet.expect(1, 'fleet', 'resume', 'nowhere');
    expect(stderr).toContain('there is no run nowhere');
    await fleet.run('fleet', 'drift', '--run', 'here', '--select', 'tenant=t1');
    for (const word of ['resume', 'cancel']) {
      const ran = await fleet.expect(1, 'fleet', word, 'here');
      expect(ran.stderr).toContain('type the command that began it again, with --run here.');
    }
  });

  test('without pg-boss a message says what to install', async () => {
    const script = installed('none');
    const fleet = await fleetOf({ ...old, script });
    const { stderr } = await fleet.expect(1, 'fleet', 'drift', '--engine', 'pgboss', '--run', 'r');
    expect(stderr).toContain('npm install pg-boss@10.4.2');
    expect(stderr).toContain('npm install pg-boss@12.18.3');
    // Nothing was begun.
    await fleet.expect(1, 'fleet', 'report', 'r');
  });
});
