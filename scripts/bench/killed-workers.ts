// Audits of a large fleet by two workers, of which one is killed: each time after another number of tenants.
import { setTimeout } from 'node:timers/promises';
import { startPostgres, type Server } from '../servers.js';
import { driftWords, fleetOf, LATENCY, reportOf, rowsOf, TENANTS, type Fleet } from './fleet.js';
import { fixed, from, quick, row, start, time, tool } from './measuring.js';

const RUNS = quick ? 3 : 100;
/** While some wait for what a killed worker was busy with, others keep the cores busy. */
const POOLS = 6;
/** Of each worker: two workers then keep two cores busy. */
const LANES = 16;
const TABLE = 'trueup_queue.job';

const worker = async ({ folder }: Fleet, own: NodeJS.ProcessEnv) => {
  const words = [tool, 'fleet', 'worker', '--lanes', String(LANES), '--workers', '2'];
  const started = start(process.execPath, words, folder, own);
  await started.says('Working for');
  return started;
};

interface Pool {
  readonly fleet: Fleet;
  readonly server: Server;
  readonly environment: NodeJS.ProcessEnv;
  /** The one that is killed next, and the other. */
  readonly workers: Awaited<ReturnType<typeof worker>>[];
}

/** Once this many tenants have a result. */
async function progress(server: Server, run: string, tenants: number): Promise<void> {
  const query = `select count(*)::int from trueup.registers where key like 'fleet/${run}/t%'`;
  const done = async () => (await rowsOf<{ readonly count: number }>(server, query))[0]!.count;
  while ((await done()) < tenants) await setTimeout(200);
}

/** @param after tenants that have a result when a worker is killed; undefined: none is @returns tenants that were run again @throws unless every tenant has its outcome */
async function audit(pool: Pool, run: string, after?: number): Promise<number> {
  const { fleet, server, environment, workers } = pool;
  await time(
    process.execPath,
    [...driftWords(run), '--engine', 'pgboss'],
    fleet.folder,
    environment,
  );
  // What a killed worker was busy with counts as lost after this time. On a busy machine a tenant takes up to a minute.
  await rowsOf(server, `update ${TABLE} set expire_in = interval '180 s'`);
  if (after !== undefined) {
    await progress(server, run, after);
    const killed = workers.shift();
    killed?.stop('SIGKILL');
    await killed?.ended;
    workers.push(await worker(fleet, environment));
  }
  const words = [tool, 'fleet', 'status', run, '--wait'];
  await time(process.execPath, words, fleet.folder, environment);
  const { summary, tenants } = await reportOf(fleet, run);
  const found = new Set(tenants.map(({ tenant }) => tenant));
  if (summary['unchanged'] !== TENANTS || !fleet.names.every((name) => found.has(name)))
    throw new Error(`not every tenant has its outcome: ${JSON.stringify(summary)}`);
  const [again] = await rowsOf<{ readonly count: number }>(
    server,
    `select count(*)::int from ${TABLE} where retry_count > 0 and data ->> 'run' = '${run}'`,
  );
  return again?.count ?? Number.NaN;
}

/** @returns undefined without PostgreSQL */
async function opened(): Promise<Pool | undefined> {
  const server = await startPostgres().catch(() => undefined);
  if (!server) return undefined;
  const fleet = await fleetOf(TENANTS, { faults: [`latency=${LATENCY}`], server });
  const environment = { ...fleet.cloud.environment, TRUEUP_QUEUE: server.url };
  const workers = [await worker(fleet, environment), await worker(fleet, environment)];
  return { fleet, server, environment, workers };
}

async function closed({ fleet, server, workers }: Pool): Promise<void> {
  for (const one of workers) one.stop();
  await Promise.all(workers.map(({ ended }) => ended));
  await fleet.cloud.stop();
  await server.stop();
}

const secondsOf = async (work: Promise<unknown>): Promise<number> => {
  const begun = Date.now();
  await work;
  return (Date.now() - begun) / 1000;
};

/** Several pools at once. */
export async function killedWorkers(): Promise<void> {
  const pools: Pool[] = [];
  try {
    for (let at = 0; at < POOLS; at += 1) {
      const pool = await opened();
      if (!pool) return row('killed workers', 'no PostgreSQL: NOT measured', 'not compared', true);
      pools.push(pool);
    }
    await measure(pools);
  } finally {
    await Promise.all(pools.map(closed));
  }
}

async function measure(pools: readonly Pool[]): Promise<void> {
  const wholes = await Promise.all(pools.map((pool) => secondsOf(audit(pool, 'whole'))));
  const whole = Math.max(...wholes);
  // In an order that spreads those of a part, too: 37 and the number of runs have no common divisor.
  const moments = Array.from({ length: RUNS }, (_, at) => (TENANTS * ((at * 37) % RUNS)) / RUNS);
  moments.splice(0, from);
  const again: number[] = [];
  const playAll = async (pool: Pool): Promise<void> => {
    for (let after = moments.shift(); after !== undefined; after = moments.shift()) {
      const count = await audit(pool, `killed-${Math.floor(after)}`, after);
      again.push(count);
      process.stderr.write(
        `${from + again.length} of ${RUNS}: a worker killed after ${fixed(after, 0)} tenants, ${count} run again\n`,
      );
    }
  };
  await Promise.all(pools.map(playAll));
  const most = Math.max(...again);
  row(
    `\`fleet drift\` by 2 workers × ${LANES} lanes, ${TENANTS} tenants, ${again.length} times, a worker killed`,
    `every tenant has its outcome, at most ${most} run again; ${fixed(whole, 0)} s without a kill, beside ${POOLS - 1} such audits`,
    `at most ${LANES} run again`,
    most <= LANES,
  );
}
