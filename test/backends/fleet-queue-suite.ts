// A fleet over a queue on a real PostgreSQL server: workers are killed, frozen, ended and cut off, and every tenant has
// its outcome; nothing is created twice. One test file for each version of pg-boss, the newer on the Node.js that it needs.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPostgres, type PostgresServer } from '../../scripts/servers.js';
import type { AccountCalls } from '../../src/emulator/index.js';
import type { FleetDocument } from '../../src/model/index.js';
import { postgresPool } from '../../src/state/backends/registers/postgres.js';
import { emulator, folder, type Folder, type Options, type Started } from '../support/cli.js';
import type { Ran } from '../support/command.js';
import { drawn } from '../support/drawn.js';
import { seededRandom } from '../support/simulated.js';

const root = join(import.meta.dirname, '../..');
export const names = Array.from({ length: 12 }, (_, at) => `t${at + 1}`);
export const LANES = 3;
/** Whole processes, ended and started again: a minute is not enough on a busy machine. */
export const SLOW = 240_000;

let server: PostgresServer;
let packed: string;

/** For the tests of a file. @returns the server, once it runs */
export function startQueueServer(): () => PostgresServer {
  beforeAll(async () => {
    server = await startPostgres();
    packed = mkdtempSync(join(tmpdir(), 'trueup-packed-'));
  });
  afterAll(async () => {
    await server.stop();
    rmSync(packed, { recursive: true, force: true });
  });
  return () => server;
}

/** The command as it is installed without the packages of this repository. @returns its script */
export function installed(name: string, ...packages: readonly string[]): string {
  const home = join(packed, name);
  const trueup = join(home, 'node_modules/trueup');
  mkdirSync(trueup, { recursive: true });
  if (packages.length > 0) {
    const words = ['install', '--no-save', '--no-audit', '--no-fund', ...packages];
    const ran = spawnSync('npm', words, { cwd: home, encoding: 'utf8' });
    if (ran.status !== 0) throw new Error(`npm ${words.join(' ')} failed: ${ran.stderr}`);
  }
  cpSync(join(root, 'dist'), join(trueup, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(trueup, 'package.json'));
  return join(trueup, 'dist/trueup.cjs');
}

/** Node.js 24, which npm brings. */
function newerNode(): string {
  const words = ['--yes', '--package', 'node@24', '--call', 'node -p process.execPath'];
  const { status, stdout, stderr } = spawnSync('npx', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`npx ${words.join(' ')} failed: ${stderr}`);
  return stdout.trim();
}

interface Fleet {
  readonly home: Folder;
  readonly env: Readonly<Record<string, string>>;
  run(...words: readonly string[]): Promise<Ran>;
  expect(code: number, ...words: readonly string[]): Promise<Ran>;
  worker(...words: readonly string[]): Started;
  start(...words: readonly string[]): Started;
  sql(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  report(run: string, code?: number): Promise<FleetDocument>;
  /** Ends the emulator. @returns the calls of each tenant */
  calls(): Promise<ReadonlyMap<string, number>>;
  /** The most writes of a tenant that ran at once. */
  mostWritesAtOnce(): Promise<number>;
  /** The names of the accounts of each tenant, but for the first. */
  accounts(): Promise<readonly (readonly string[])[]>;
  /** How many objects each tenant has by the name of the one that is declared. */
  created(): Promise<readonly number[]>;
}

interface Engine extends Pick<Options, 'script' | 'node'> {
  /** Makes a job count as lost after some seconds: by its expiry, or without a sign of life. */
  readonly short: string;
}

/** Longer than a tenant takes on a busy machine: one that takes longer is given to the other worker, too. */
export const old: Engine = { short: `expire_in = interval '10 s'` };

let fleets = 0;

const EXAMPLE = join(root, 'examples/fleet');

interface FleetOptions {
  /** Of its emulated accounts. */
  readonly faults?: readonly string[];
  readonly more?: string;
  /** The tenants of the example, with a place for their states. */
  readonly isExample?: boolean;
  /** Milliseconds that a process may live. */
  readonly patience?: number;
}

/** A fleet with a database of its own. */
export async function fleetOf(
  engine: Engine,
  { faults = [], more = '', isExample = false, patience = 120_000 }: FleetOptions = {},
): Promise<Fleet> {
  fleets += 1;
  const database = `fleet${fleets}`;
  const url = new URL(server.url);
  const password = server.environment['PGPASSWORD'];
  const admin = postgresPool(url, password, 1);
  await admin.query(`create database ${database}`);
  await admin.end();
  url.pathname = database;
  const place = new URL(server.url);
  place.pathname = database;
  const home = isExample
    ? exampleOn(place)
    : folder({
        'trueup.fleet.yaml': `fleet:\n  tenants: { from: tenants/* }\n  defaults: { paths: [base], state: "${place.href}?schema=\${tenant}" }\n  concurrency: ${LANES}\n${more}`,
        'base/base.yaml':
          'settings: { state: { lock: { lease: 2s } } }\naccounts: { site: { name: Site } }\n',
        ...Object.fromEntries(
          names.map((name) => [`tenants/${name}/t.yaml`, 'variables: { x: y }\n']),
        ),
      });
  const tenants = readdirSync(join(home.path, 'tenants'));
  const cloud = await emulator(
    home,
    [
      ...tenants.flatMap((name) => ['--tenant', name]),
      ...faults.flatMap((one) => ['--fault', one]),
    ],
    { patience: Math.max(patience, 300_000) },
  );
  const env = {
    ...cloud.env,
    ...server.environment,
    TRUEUP_QUEUE: place.href,
    // A worker that wakes up may find that its request timed out: then it waits until a write can no longer take effect.
    TRUEUP_SETTLE_SECONDS: '5',
  };
  const { script, node } = engine;
  const options: Options = {
    env,
    patience,
    ...(script !== undefined && { script }),
    ...(node !== undefined && { node }),
  };
  const self: Fleet = {
    home,
    env,
    run: (...words) => home.run(words, options),
    expect: (code, ...words) => home.expect(code, words, options),
    worker: (...words) => home.start(['fleet', 'worker', ...words], options),
    start: (...words) => home.start(words, options),
    async sql(text) {
      const pool = postgresPool(url, password, 1);
      try {
        return (await pool.query<Record<string, unknown>>(text)).rows;
      } finally {
        await pool.end();
      }
    },
    async report(run, code = 0) {
      const { stdout } = await self.expect(code, 'fleet', 'report', run, '--format', 'json');
      return JSON.parse(stdout) as FleetDocument;
    },
    async calls() {
      cloud.child.kill('SIGINT');
      const { stderr } = await cloud.ended;
      const found = [...stderr.matchAll(/^(t\d+): (\d+) calls/gm)];
      return new Map(found.map(([, name = '', count]) => [name, Number(count)]));
    },
    async mostWritesAtOnce() {
      const origin = new URL(cloud.env['T1_TRUEUP_V2_URL'] ?? '').origin;
      const counts = await (await fetch(`${origin}/emulator/calls`)).json();
      const all = Object.values(counts as Readonly<Record<string, AccountCalls>>);
      return Math.max(...all.map((one) => one.most_writes_at_once));
    },
    accounts: () =>
      Promise.all(
        names.map(async (name) => {
          const prefix = `${name.toUpperCase()}_`;
          const own = Object.entries(env).flatMap(([key, value]) =>
            key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : [],
          );
          const words = ['get', 'accounts', '-o', 'json'];
          const { stdout } = await home.expect(0, words, {
            env: Object.fromEntries(own) as Record<string, string>,
          });
          const all = JSON.parse(stdout) as readonly { readonly name: string }[];
          return all.map((one) => one.name).filter((one) => one !== 'Headquarters');
        }),
      ),
    async created() {
      const accounts = await self.accounts();
      return accounts.map((all) => all.filter((one) => one === 'Site').length);
    },
  };
  return self;
}

/** The example as it is, but for the place of its states. */
function exampleOn({ href }: URL): Folder {
  const home = folder();
  cpSync(EXAMPLE, home.path, { recursive: true });
  const file = home.read('trueup.fleet.yaml');
  const state = `    state: "${href}?schema=\${tenant}"\n`;
  home.write('trueup.fleet.yaml', file.replace('    paths: [base]\n', `$&${state}`));
  return home;
}

/** Queues; then each job counts as lost within seconds after its worker is gone. */
export async function queued(
  fleet: Fleet,
  engine: Engine,
  words: readonly string[],
  run = 'r',
): Promise<void> {
  const { stdout } = await fleet.expect(0, 'fleet', ...words, '--engine', 'pgboss', '--run', run);
  expect(stdout).toContain(`12 tenants queued. Run ${run}.`);
  await fleet.sql(`update trueup_queue.job set ${engine.short}`);
}

export const ACTIVE = `select id from trueup_queue.job where state = 'active'`;

export const WAITING = ['--lock-wait', '30s', '--parallelism', '1'];

/** Ends one of two workers while it has tenants. */
async function killedAtWork(fleet: Fleet, { child, ended }: Started): Promise<void> {
  await expect
    .poll(async () => (await fleet.sql(ACTIVE)).length, { timeout: 20_000, interval: 20 })
    .toBeGreaterThan(LANES);
  child.kill('SIGKILL');
  await ended;
}

async function twoWorkers(fleet: Fleet): Promise<readonly [Started, Started]> {
  const both = [fleet.worker(), fleet.worker()] as const;
  await Promise.all(both.map((one) => one.says('Working for')));
  return both;
}

/** Audits every tenant with two workers, and kills one of them. @returns the other, which ends */
async function auditedThoughKilled(fleet: Fleet, engine: Engine): Promise<Started> {
  const [first, second] = await twoWorkers(fleet);
  await queued(fleet, engine, ['drift']);
  await killedAtWork(fleet, first);
  const status = await fleet.expect(0, 'fleet', 'status', 'r', '--wait');
  expect(status.stdout).toBe('12 tenants: 12 with drift, 0 being run, 0 waiting. Run r.\n');
  second.child.kill('SIGTERM');
  return second;
}

/** Which version made the tables of the queue. */
async function versionOf(fleet: Fleet): Promise<string | undefined> {
  const columns = await fleet.sql(
    `select column_name as name from information_schema.columns where table_schema = 'trueup_queue' and table_name = 'job'`,
  );
  return columns.some(({ name }) => name === 'heartbeat_on') ? '12.18.3' : '10.4.2';
}

export const versions = {
  '10.4.2': () => old,
  '12.18.3': () => ({
    script: installed('boss12', 'pg-boss@12.18.3'),
    node: newerNode(),
    short: 'heartbeat_seconds = 8',
  }),
} satisfies Readonly<Record<string, () => Engine>>;

export function queueSuite(version: keyof typeof versions): void {
  startQueueServer();
  let engine: Engine;
  beforeAll(() => {
    engine = versions[version]();
  }, SLOW);

  test('two workers audit every tenant of the example, though one is killed', async () => {
    const fleet = await fleetOf(engine, { faults: ['latency=400'], isExample: true });
    // What its program of a secret store reads.
    const own = Object.entries(fleet.env).filter(([name]) => name.startsWith('WONKA_'));
    fleet.home.write('vault.env', own.map((pair) => `export ${pair.join('=')}\n`).join(''));
    const second = await auditedThoughKilled(fleet, engine);
    expect((await second.ended).code).toBe(143);
    const document = await fleet.report('r');
    expect(document.tenants.map(({ tenant }) => tenant)).toContain('wonka');
    expect(document.summary).toEqual({ tenants: 12, drift: 12 });
  });

  test('two workers audit every tenant, though one is killed', async () => {
    const fleet = await fleetOf(engine, { faults: ['latency=400'] });
    const second = await auditedThoughKilled(fleet, engine);
    const { code, stderr } = await second.ended;
    expect(stderr).not.toContain('error');
    expect(code).toBe(143);
    const document = await fleet.report('r');
    expect(document.summary).toEqual({ tenants: 12, drift: 12 });
    // Only what the killed worker was busy with was done again.
    const calls = [...(await fleet.calls()).values()];
    expect(calls).toHaveLength(12);
    const once = Math.min(...calls);
    expect(calls.filter((count) => count > once).length).toBeLessThanOrEqual(LANES);
    const [given] = await fleet.sql(
      'select count(*)::int as again from trueup_queue.job where retry_count > 0',
    );
    expect(given?.['again']).toBeGreaterThan(0);
    expect(given?.['again']).toBeLessThanOrEqual(LANES);
    expect(await versionOf(fleet)).toBe(version);
  });

  test('a bundle is applied to every tenant, once, though a worker is killed', async () => {
    const fleet = await fleetOf(engine, { faults: ['latency=200'] });
    await fleet.expect(0, 'fleet', 'plan', '--out', 'change.bundle');
    const [first, second] = await twoWorkers(fleet);
    await queued(fleet, engine, ['apply', 'change.bundle', '--lock-wait', '30s']);
    await killedAtWork(fleet, first);
    await fleet.expect(0, 'fleet', 'status', 'r', '--wait');
    second.child.kill('SIGTERM');
    await second.ended;
    const { stdout } = await fleet.run('fleet', 'report', 'r', '--format', 'json');
    const document = JSON.parse(stdout) as FleetDocument;
    // What was being written when its worker was killed is another state now: its plan is stale.
    const { applied = 0, stale = 0, unchanged = 0, ...other } = document.summary;
    expect(other).toEqual({ tenants: 12 });
    expect(applied + stale + unchanged).toBe(12);
    expect(stale + unchanged).toBeLessThanOrEqual(LANES);
    await fleet.expect(0, 'fleet', 'apply', '--auto-approve', ...WAITING);
    expect(await fleet.created()).toEqual(names.map(() => 1));
    const drift = await fleet.expect(0, 'fleet', 'drift', '--detailed-exitcode');
    expect(drift.stdout).toContain('12 tenants: 12 as declared.');
  });

  test(
    'every tenant has its outcome and one writer at a time, wherever a worker is killed',
    async () => {
      const [kills, random] = [drawn(2), seededRandom(Number(process.env['FC_SEED'] ?? 1))];
      const patience = kills * SLOW;
      const fleet = await fleetOf(engine, { faults: ['latency=100'], patience });
      const declared: string[] = [];
      const next = async (at: number): Promise<readonly string[]> => {
        if (at % 2 === 0) return ['drift'];
        declared.push(`Unit ${at}`);
        const members = declared.map((name, of) => `  u${of}: { name: ${name} }\n`);
        fleet.home.write('base/units.yaml', `accounts:\n${members.join('')}`);
        await fleet.expect(0, 'fleet', 'plan', '--out', 'change.bundle');
        return ['apply', 'change.bundle', ...WAITING];
      };
      let [first, second] = await twoWorkers(fleet);
      for (let at = 0; at < kills; at += 1) {
        const run = `r${at}`;
        await queued(fleet, engine, await next(at), run);
        if (random.fraction() < 0.5) [first, second] = [second, first];
        await setTimeout(random.fraction() * 2_500);
        first.child.kill('SIGKILL');
        await first.ended;
        const words = ['status', run, '--wait', '--format', 'json'];
        const status = await fleet.expect(0, 'fleet', ...words);
        expect(JSON.parse(status.stdout)).toMatchObject({
          queue: { waiting: 0, active: 0, given_up: 0 },
        });
        const reported = await fleet.run('fleet', 'report', run, '--format', 'json');
        const { tenants } = JSON.parse(reported.stdout) as FleetDocument;
        expect(tenants.map(({ tenant }) => tenant).toSorted()).toEqual(names.toSorted());
        const unexpected = tenants.filter(
          ({ status: of }) => !['applied', 'unchanged', 'drift', 'stale'].includes(of),
        );
        expect(unexpected).toEqual([]);
        const [{ again } = { again: Number.NaN }] = await fleet.sql(
          `select count(*)::int as again from trueup_queue.job where retry_count > 0 and data ->> 'run' = '${run}'`,
        );
        expect(again).toBeLessThanOrEqual(LANES);
        // What was being written when its worker was killed is another state now: its plan is stale. Its lock may be held.
        if (at % 2 === 1) await fleet.expect(0, 'fleet', 'apply', '--auto-approve', ...WAITING);
        first = fleet.worker();
        await first.says('Working for');
      }
      for (const { child, ended } of [first, second]) {
        child.kill('SIGTERM');
        await ended;
      }
      const all = (await fleet.accounts()).map((accounts) => accounts.toSorted());
      const sorted = declared.length > 0 ? ['Site', ...declared].toSorted() : [];
      expect(all).toEqual(names.map(() => sorted));
      expect(await fleet.mostWritesAtOnce()).toBe(1);
    },
    drawn(2) * SLOW,
  );

  test.each([
    ['while it holds the lock', 'GET', 'Applied'],
    ['while it writes', 'POST', 'STALE'],
  ])('a worker that stands still %s, past the expiry, writes nothing more', async (...row) => {
    const [, method, becomes] = row;
    const fleet = await fleetOf(engine, {
      faults: [`t1:latency=${method === 'POST' ? 2500 : 1000},method=${method}`],
    });
    await fleet.expect(0, 'fleet', 'plan', '--out', 'change.bundle');
    const only = ['--select', 'tenant=t1', '--lock-wait', '30s', '--run', 'r'];
    await fleet.expect(0, 'fleet', 'apply', 'change.bundle', '--engine', 'pgboss', ...only);
    await fleet.sql(`update trueup_queue.job set ${engine.short}`);
    const frozen = fleet.worker('--lanes', '1');
    const locked = 'select key from t1.registers';
    const intents = `${locked} where key like '%/log/%'`;
    const isBegun = async (): Promise<boolean> =>
      (await fleet.sql(method === 'POST' ? intents : locked).catch(() => [])).length > 0;
    await expect.poll(isBegun, { timeout: 20_000 }).toBe(true);
    frozen.child.kill('SIGSTOP');
    const other = fleet.worker('--until-idle', '--lanes', '1');
    const taken = await other.ended;
    expect(taken.stdout).toContain(`r t1: ${becomes}`);
    frozen.child.kill('SIGCONT');
    await frozen.says('was given to another worker');
    frozen.child.kill('SIGTERM');
    const ended = await frozen.ended;
    expect(ended.code).toBe(143);
    expect(ended.stdout).toBe('');
    await fleet.expect(0, 'fleet', 'apply', '--auto-approve', '--select', 'tenant=t1');
    expect((await fleet.created())[0]).toBe(1);
  });

  test('a cancelled run ends, and is resumed', async () => {
    const fleet = await fleetOf(engine, { faults: ['latency=300'] });
    await queued(fleet, engine, ['drift']);
    const worker = fleet.worker();
    await worker.says('r t');
    const { stdout } = await fleet.expect(0, 'fleet', 'cancel', 'r');
    expect(stdout).toMatch(/^Cancelled: \d waiting tenants?\./);
    await expect
      .poll(async () => (await fleet.expect(0, 'fleet', 'status', 'r')).stdout, {
        timeout: 20_000,
      })
      .toMatch(/0 being run, 0 waiting\. Run r, cancelled\.$/m);
    const reported = await fleet.run('fleet', 'report', 'r', '--format', 'json');
    const ended = JSON.parse(reported.stdout) as FleetDocument;
    expect(ended.exit).toBeGreaterThan(0);
    expect(ended.summary['not-run']).toBeGreaterThan(0);
    expect(ended.summary.missing).toBeUndefined();
    const again = await fleet.expect(0, 'fleet', 'resume', 'r');
    expect(again.stdout).toMatch(/^\d+ tenants? queued; \d+ tenants? done/);
    const waited = await fleet.expect(0, 'fleet', 'status', 'r', '--wait', '--format', 'json');
    expect(JSON.parse(waited.stdout)).toMatchObject({
      cancelled: false,
      results: { drift: 12 },
      queue: { waiting: 0, active: 0, given_up: 0 },
    });
    worker.child.kill('SIGINT');
    expect((await worker.ended).code).toBe(130);
  });

  test('a schedule begins a run of its own at its time', async () => {
    const fleet = await fleetOf(engine);
    const cron = ['fleet', 'schedule', 'drift', '--cron', '* * * * *', '--spread', '2s'];
    const { stdout } = await fleet.expect(0, ...cron);
    expect(stdout).toBe('drift: * * * * * UTC, spread over 2 s\n');
    const worker = fleet.worker();
    await worker.says('Scheduled: 12 tenants queued. Run drift-');
    await fleet.expect(0, 'fleet', 'schedule', 'drift', '--remove');
    const [row] = await fleet.sql(
      `select convert_from(body, 'UTF8') as body from trueup.registers where key like 'fleet/drift-%' and key not like 'fleet/%/%'`,
    );
    const { run } = JSON.parse(String(row?.['body'])) as { readonly run: string };
    expect(run).toMatch(/^drift-\d{8}T\d{4}Z$/);
    await fleet.expect(0, 'fleet', 'status', run, '--wait');
    expect((await fleet.report(run)).summary).toEqual({ tenants: 12, drift: 12 });
    const empty = await fleet.expect(0, 'fleet', 'schedule');
    expect(empty.stdout).toContain('Nothing is scheduled.');
    worker.child.kill('SIGTERM');
    expect((await worker.ended).code).toBe(143);
  });
}
