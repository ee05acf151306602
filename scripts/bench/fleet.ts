// What a fleet costs: thousands of emulated accounts in one process, 100 ms a request, and audits of all of them by
// `fleet drift`. How the processes of an audit are started is an argument (`Start`): one, shards, or another engine.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { AccountCalls } from '../../src/emulator/index.js';
import type { FleetDocument, TenantResult } from '../../src/model/index.js';
import { startPostgres, type Server } from '../servers.js';
import { declarations, estate, sizesOf } from './estate.js';
import {
  cloud,
  fixed,
  median,
  memory,
  quick,
  root,
  row,
  start,
  time,
  tool,
  type Cloud,
  type Run,
} from './measuring.js';

export const TENANTS = quick ? 200 : 2000;
export const LATENCY = 100;
const LANES = 32;
/** Seconds after which the client gives a request up. */
const DEADLINE = 30;

export interface Fleet {
  readonly folder: string;
  readonly names: readonly string[];
  readonly cloud: Cloud;
  /** Writes the fleet file. @param more members of `fleet`, as lines of YAML */
  write(lanes: number, more?: string): void;
  calls(): Promise<Readonly<Record<string, AccountCalls>>>;
}

interface FleetOptions {
  readonly faults?: readonly string[];
  /** A server for the states; files where absent. */
  readonly server?: Server;
}

/** A fleet whose tenants are as declared, each with a state. */
export async function fleetOf(
  count: number,
  { faults = [], server }: FleetOptions = {},
): Promise<Fleet> {
  const folder = mkdtempSync(join(root, 'fleet-'));
  mkdirSync(join(folder, 'base'), { recursive: true });
  const sizes = sizesOf(20);
  for (const [at, text] of declarations(sizes).entries())
    writeFileSync(join(folder, 'base', `${at}.yaml`), text);
  const names = Array.from({ length: count }, (_, at) => `t${String(at).padStart(4, '0')}`);
  for (const name of names) {
    mkdirSync(join(folder, 'tenants', name), { recursive: true });
    writeFileSync(join(folder, 'tenants', name, 'tenant.yaml'), `variables: { site: ${name} }\n`);
  }
  const write = (lanes: number, more = ''): void =>
    writeFileSync(
      join(folder, 'trueup.fleet.yaml'),
      `fleet:\n  tenants: { from: tenants/* }\n  defaults: { paths: [base]${server ? `, state: "${server.url}?schema=\${tenant}"` : ''} }\n  concurrency: ${lanes}\n${more}`,
    );
  write(LANES);
  await (server
    ? adoptedOn(server, folder, names, estate(sizes))
    : adopted(folder, names, estate(sizes)));
  const started = await cloud(folder, estate(sizes), faults, names);
  const environment = { ...started.environment, ...server?.environment };
  const up = { ...started, environment };
  const origin = new URL(up.environment['TRUEUP_V2_URL'] ?? '').origin;
  const calls = async (): ReturnType<Fleet['calls']> =>
    (await (await fetch(`${origin}/emulator/calls`)).json()) as Readonly<
      Record<string, AccountCalls>
    >;
  return { folder, names, cloud: up, write, calls };
}

/** One tenant is applied, without latency; the others, which are live alike, get a copy of its state. */
async function adopted(folder: string, names: readonly string[], seed: object): Promise<void> {
  const [first = '', ...rest] = names;
  const up = await cloud(folder, seed, [], [first]);
  const words = ['fleet', 'apply', '--auto-approve', '--select', `tenant=${first}`, '--run', 'one'];
  await time(process.execPath, [tool, ...words], folder, up.environment);
  await up.stop();
  const states = join(folder, '.trueup', 'tenants');
  for (const name of rest)
    cpSync(join(states, first, 'state.json'), join(states, name, 'state.json'));
}

/** Every tenant is applied, without latency. */
async function adoptedOn(
  server: Server,
  folder: string,
  names: readonly string[],
  seed: object,
): Promise<void> {
  const up = await cloud(folder, seed, [], names);
  const words = ['fleet', 'apply', '--auto-approve', '--run', 'one'];
  const environment = { ...up.environment, ...server.environment };
  await time(process.execPath, [tool, ...words], folder, environment);
  await up.stop();
}

interface Audit {
  readonly run: string;
  readonly processes: number;
}
interface Processes {
  /** Until every tenant had a result. */
  readonly seconds: number;
  readonly runs: readonly Run[];
}
/** Runs the processes of an audit. */
type Start = (fleet: Fleet, audit: Audit) => Promise<Processes>;

export const driftWords = (run: string): readonly string[] => [
  tool,
  'fleet',
  'drift',
  '--run',
  run,
];

const inShards: Start = async ({ folder, cloud: { environment } }, { run, processes }) => {
  const begun = process.hrtime.bigint();
  const shards = Array.from({ length: processes }, (_, at) =>
    time(
      process.execPath,
      [...driftWords(run), '--shard', `${at + 1}/${processes}`],
      folder,
      environment,
    ),
  );
  const runs = await Promise.all(shards);
  return { seconds: Number(process.hrtime.bigint() - begun) / 1e9, runs };
};

/** Workers of a queue in the database of the states. They wait for the run, as workers do. */
const withWorkers =
  (server: Server): Start =>
  async ({ folder, cloud: { environment } }, { run, processes }) => {
    const own = { ...environment, TRUEUP_QUEUE: server.url };
    const words = ['--lanes', String(SHARD_LANES), '--workers', String(processes)];
    const workers = Array.from({ length: processes }, () =>
      start(process.execPath, [tool, 'fleet', 'worker', ...words], folder, own),
    );
    await Promise.all(workers.map((one) => one.says('Working for')));
    await time(process.execPath, [...driftWords(run), '--engine', 'pgboss'], folder, own);
    await time(process.execPath, [tool, 'fleet', 'status', run, '--wait'], folder, own);
    for (const one of workers) one.stop();
    const runs = await Promise.all(workers.map((one) => one.ended));
    return { seconds: await spanOf(server, run), runs };
  };

/** Seconds from the begin of the first tenant to the end of the last one. */
async function spanOf(server: Server, run: string): Promise<number> {
  const results = await rowsOf<Pick<TenantResult, 'started_at' | 'ended_at'>>(
    server,
    `select value ->> 'started_at' as started_at, value ->> 'ended_at' as ended_at
     from (select convert_from(body, 'UTF8')::json as value from trueup.registers
           where key like 'fleet/${run}/%') as results`,
  );
  const times = (member: keyof (typeof results)[number]) =>
    results.map((one) => Date.parse(one[member]));
  return (Math.max(...times('ended_at')) - Math.min(...times('started_at'))) / 1000;
}

export async function rowsOf<Row extends object>(
  { url, environment }: Server,
  query: string,
): Promise<readonly Row[]> {
  const address = new URL(url);
  address.password = environment['PGPASSWORD'] ?? '';
  const client = new Client({ connectionString: address.href });
  await client.connect();
  try {
    return (await client.query<Row>(query)).rows;
  } finally {
    await client.end();
  }
}

interface Audited {
  readonly seconds: number;
  /** Of the processes of the audit. */
  readonly cpu: number;
  /** Of the largest process. */
  readonly mebibytes: number;
  /** Share of the machine that was busy, with whatever. */
  readonly busy: number;
  readonly requests: number;
  readonly run: string;
}

/** Gives the share of all cores that was used since. */
function machineLoad(): () => number {
  const read = (): readonly [all: number, idle: number] => {
    const times = cpus().map((one) => one.times);
    const all = times.flatMap((one) => Object.values(one)).reduce((sum, one) => sum + one, 0);
    return [all, times.reduce((sum, { idle }) => sum + idle, 0)];
  };
  const [all, idle] = read();
  return () => {
    const [allNow, idleNow] = read();
    return 1 - (idleNow - idle) / Math.max(1, allNow - all);
  };
}

let audits = 0;

/** @throws unless every tenant is as declared */
async function audited(fleet: Fleet, startAll: Start, processes: number): Promise<Audited> {
  const run = `audit-${(audits += 1)}`;
  const total = async (): Promise<number> =>
    Object.values(await fleet.calls()).reduce((sum, { calls }) => sum + calls, 0);
  const [before, busyShare] = [await total(), machineLoad()];
  const { seconds, runs } = await startAll(fleet, { run, processes });
  const cpu = runs.reduce((sum, one) => sum + one.cpu, 0);
  const busy = busyShare();
  const { summary } = await reportOf(fleet, run);
  if (summary['unchanged'] !== fleet.names.length)
    throw new Error(`not every tenant is as declared: ${JSON.stringify(summary)}`);
  const requests = (await total()) - before;
  const mebibytes = Math.max(...runs.map((one) => one.mebibytes));
  return { seconds, cpu, mebibytes, busy, requests, run };
}

export async function reportOf(
  { folder, cloud: { environment } }: Fleet,
  run: string,
): Promise<FleetDocument> {
  const words = [tool, 'fleet', 'report', run, '--format', 'json'];
  const { stdout } = await time(process.execPath, words, folder, environment);
  return JSON.parse(stdout) as FleetDocument;
}

/** Audits and single commands by turns: other guests of a machine slow down both. */
async function oneProcess(fleet: Fleet): Promise<void> {
  fleet.write(LANES);
  const own: Audited[] = [];
  const loop: number[] = [];
  for (let turn = 0; turn < (quick ? 1 : 3); turn += 1) {
    own.push(await audited(fleet, inShards, 1));
    loop.push(await shellLoop(fleet));
  }
  const [wall, cpu, peak] = [
    median(own.map((one) => one.seconds)),
    median(own.map((one) => one.cpu)),
    memory(own),
  ] as const;
  const requests = own[0]!.requests;
  const ideal = (requests * LATENCY) / 1000 / LANES;
  row(
    `\`fleet drift\`, ${TENANTS} tenants, ${LATENCY} ms a request, ${LANES} lanes`,
    `${fixed(wall, 1)} s for ${requests} requests, ${fixed(wall / ideal)} × requests × ${LATENCY} ms ÷ ${LANES}`,
    'at most 1.2 × the larger of that and its CPU',
    wall <= 1.2 * Math.max(ideal, cpu),
  );
  const milliseconds = (cpu * 1000) / TENANTS;
  row('its CPU', `${fixed(milliseconds, 1)} ms a tenant`, 'at most 15 ms', milliseconds <= 15);
  row('its memory', `${fixed(peak, 0)} MiB`, 'at most 200 MiB', peak <= 200);
  const single = median(loop);
  row(
    `a shell loop of \`trueup drift\`, ${LOOP} of these tenants`,
    `${fixed(single)} s a tenant, ${fixed(single / (wall / TENANTS), 0)} × a tenant of the fleet`,
    'told only',
    true,
  );
  await reporting(fleet, own[0]!.run);
}

/** What smaller fleets cost: docs/how-to/fleet.md. */
async function smaller(): Promise<void> {
  for (const count of [10, 200]) {
    const fleet = await fleetOf(count, { faults: [`latency=${LATENCY}`] });
    const runs: Audited[] = [];
    for (let turn = 0; turn < 3; turn += 1) runs.push(await audited(fleet, inShards, 1));
    await fleet.cloud.stop();
    row(
      `\`fleet drift\`, ${count} tenants`,
      `${fixed(median(runs.map((one) => one.seconds)), 1)} s, ${fixed(median(runs.map((one) => one.cpu)), 1)} s of CPU, ${fixed(memory(runs), 0)} MiB, ${runs[0]!.requests} requests`,
      'told only',
      true,
    );
  }
}

const LOOP = quick ? 10 : 50;

/** Seconds a tenant. */
async function shellLoop({ folder, names, cloud: { environment } }: Fleet): Promise<number> {
  const some = names.slice(0, LOOP);
  const begun = process.hrtime.bigint();
  for (const name of some) {
    const prefix = `${name.toUpperCase()}_`;
    const own = Object.entries(environment).flatMap(([key, value]) =>
      key.startsWith(prefix) ? [[key.slice(prefix.length), value] as const] : [],
    );
    const others = Object.entries(environment).filter(([key]) => !/^T\d{4}_/.test(key));
    await time(process.execPath, [tool, 'drift', 'base', `tenants/${name}`], folder, {
      ...Object.fromEntries([...others, ...own]),
      TRUEUP_STATE: `.trueup/tenants/${name}/state.json`,
    });
  }
  return Number(process.hrtime.bigint() - begun) / 1e9 / some.length;
}

async function reporting({ folder, names }: Fleet, run: string): Promise<void> {
  const page = join(folder, 'fleet.html');
  const words = [tool, 'fleet', 'report', run, '--report', `html=${page}`];
  const runs: Run[] = [];
  for (let turn = 0; turn < 3; turn += 1)
    runs.push(await time(process.execPath, words, folder, process.env, join(folder, 'fleet.txt')));
  const took = median(runs.map((one) => one.seconds));
  const size = readFileSync(page).length / 1e6;
  row(
    `\`fleet report\` of ${names.length} tenants, text and HTML`,
    `${fixed(took)} s, page of ${fixed(size, 1)} MB`,
    'at most 3 s and 5 MB',
    took <= 3 && size <= 5,
  );
}

/** Tenants of one key, which the fleet file names: they share its rate. */
async function rates(): Promise<void> {
  const [count, rate] = [quick ? 30 : 60, 150];
  const fleet = await fleetOf(count, { faults: [`latency=${LATENCY}`] });
  const [first = ''] = fleet.names;
  const each = fleet.names
    .map(
      (name) =>
        `      ${name}: { credentials: { env_prefix: ${first.toUpperCase()}_ }, requests_per_minute: ${rate} }\n`,
    )
    .join('');
  writeFileSync(
    join(fleet.folder, 'trueup.fleet.yaml'),
    `fleet:\n  concurrency: ${LANES}\n  defaults: { paths: [base] }\n  tenants:\n    from: tenants/*\n    each:\n${each}`,
  );
  const { seconds } = await audited(fleet, inShards, 4);
  const { calls, most_in_60s: most } = (await fleet.calls())[first]!;
  await fleet.cloud.stop();
  row(
    `${count} tenants of one key in 4 shards, ${rate} requests a minute`,
    `${calls} requests in ${fixed(seconds, 0)} s, at most ${most} in any 60 s`,
    `at most ${rate} in any 60 s`,
    most <= rate,
  );
}

/** Beside the same audit without a slow tenant. */
async function slowTenant(without: Fleet): Promise<void> {
  without.write(LANES);
  const { seconds: wall } = await audited(without, inShards, 1);
  const fleet = await fleetOf(TENANTS, { faults: ['t0000:latency=10000', `latency=${LATENCY}`] });
  const { run } = await audited(fleet, inShards, 1);
  await fleet.cloud.stop();
  const folder = join(fleet.folder, '.trueup', 'fleet', run);
  const results = readdirSync(folder)
    .filter((name) => /^t\d+\.json$/.test(name))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as TenantResult);
  const begun = Math.min(...results.map(({ started_at }) => Date.parse(started_at)));
  const others = results.filter(({ tenant }) => tenant !== 't0000');
  const ended = (Math.max(...others.map(({ ended_at }) => Date.parse(ended_at))) - begun) / 1000;
  row(
    'the same with one tenant of 10 s a request: the others',
    `${fixed(ended, 1)} s (without it ${fixed(wall, 1)} s)`,
    'at most 1.1 ×',
    ended <= 1.1 * wall,
  );
}

/** An origin that accepts requests and never answers. */
async function deadOrigin(): Promise<void> {
  const fleet = await fleetOf(2 * LANES, { faults: ['hang'] });
  const begun = process.hrtime.bigint();
  await time(
    process.execPath,
    [...driftWords('dead')],
    fleet.folder,
    fleet.cloud.environment,
  ).catch(() => undefined);
  const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
  await fleet.cloud.stop();
  row(
    `an origin that never answers, ${2 * LANES} tenants, ${LANES} lanes`,
    `${fixed(seconds, 1)} s`,
    `at most one deadline (${DEADLINE} s) a lane`,
    seconds <= 1.1 * DEADLINE,
  );
}

const SHARD_LANES = 4;
/** Above this share of the machine, processes wait for a core and not for the service. */
const MOST_BUSY = 0.7;

/** One process and more by turns. @returns whether each figure could be told */
async function processes(
  fleet: Fleet,
  {
    name,
    startAll,
    counts = [1, 2, 4, 8],
    turns = quick ? 1 : 3,
  }: {
    readonly name: string;
    readonly startAll: Start;
    readonly counts?: readonly number[];
    readonly turns?: number;
  },
): Promise<boolean> {
  fleet.write(SHARD_LANES);
  const sides = new Map(counts.map((count) => [count, [] as Audited[]]));
  for (let turn = 0; turn < turns; turn += 1)
    for (const [count, runs] of sides) runs.push(await audited(fleet, startAll, count));
  const alone = median(sides.get(1)!.map((one) => one.seconds));
  const told = [...sides].map(([count, runs]) => {
    const wall = median(runs.map((one) => one.seconds));
    const busy = median(runs.map((one) => one.busy));
    const efficiency = alone / wall / count;
    const isTold = busy <= MOST_BUSY;
    row(
      `${name}: ${count} × ${SHARD_LANES} lanes`,
      `${fixed(wall, 1)} s, CPU ${fixed(busy * 100, 0)} %, largest process ${fixed(memory(runs), 0)} MiB${isTold ? `, efficiency ${fixed(efficiency)}` : ': NOT measured, the machine is busy'}`,
      isTold ? 'at least 0.9 of linear' : 'CPU at most 70 %',
      !isTold || efficiency >= 0.9,
    );
    return isTold;
  });
  return told.every(Boolean);
}

/** Milliseconds a request, so that two cores are idle enough: efficiency is that of the tool, not of the machine. */
const SLOW = 4 * LATENCY;

async function shards(fleet: Fleet): Promise<void> {
  const startAll = inShards;
  if (await processes(fleet, { name: `shards, ${TENANTS} tenants`, startAll })) return;
  const count = TENANTS / 2;
  const slow = await fleetOf(count, { faults: [`latency=${SLOW}`] });
  const name = `shards, ${count} tenants, ${SLOW} ms a request`;
  await processes(slow, { name, startAll, counts: [1, 8], turns: 1 });
  await slow.cloud.stop();
}

/** A pool of workers; one alone takes so long that the two are compared once. */
export async function workers(): Promise<void> {
  const latency = 10 * LATENCY;
  const server = await startPostgres().catch(() => undefined);
  if (!server)
    return row('workers', 'no PostgreSQL on this machine: NOT measured', 'not compared', true);
  try {
    const fleet = await fleetOf(TENANTS, { faults: [`latency=${latency}`], server });
    const name = `fleet worker, ${TENANTS} tenants, ${latency} ms a request`;
    await processes(fleet, { name, startAll: withWorkers(server), counts: [1, 8], turns: 1 });
    await fleet.cloud.stop();
  } finally {
    await server.stop();
  }
}

export async function fleets(): Promise<void> {
  await smaller();
  const fleet = await fleetOf(TENANTS, { faults: [`latency=${LATENCY}`] });
  await oneProcess(fleet);
  await shards(fleet);
  await slowTenant(fleet);
  await fleet.cloud.stop();
  await rates();
  await deadOrigin();
}
