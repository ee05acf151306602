// Audits of a large fleet by two workers, of which one is killed: at moments that are spread over an audit.
import { setTimeout } from 'node:timers/promises';
import { startPostgres, type Server } from '../servers.js';
import { driftWords, fleetOf, LATENCY, reportOf, rowsOf, TENANTS, type Fleet } from './fleet.js';
import { fixed, quick, row, start, time, tool } from './measuring.js';

const RUNS = quick ? 3 : 100;
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

/** @param after milliseconds until a worker is killed; undefined: none is @returns tenants that were run again @throws unless every tenant has its outcome */
async function audit(pool: Pool, run: string, after?: number): Promise<number> {
  const { fleet, server, environment, workers } = pool;
  await time(
    process.execPath,
    [...driftWords(run), '--engine', 'pgboss'],
    fleet.folder,
    environment,
  );
  // What a killed worker was busy with counts as lost after ten seconds.
  await rowsOf(server, `update ${TABLE} set expire_in = interval '10 s'`);
  if (after !== undefined) {
    await setTimeout(after);
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

export async function killedWorkers(): Promise<void> {
  const server = await startPostgres().catch(() => undefined);
  if (!server)
    return row(
      'killed workers',
      'no PostgreSQL on this machine: NOT measured',
      'not compared',
      true,
    );
  try {
    const fleet = await fleetOf(TENANTS, { faults: [`latency=${LATENCY}`], server });
    const environment = { ...fleet.cloud.environment, TRUEUP_QUEUE: server.url };
    const workers = [await worker(fleet, environment), await worker(fleet, environment)];
    const pool = { fleet, server, environment, workers };
    const begun = Date.now();
    await audit(pool, 'whole');
    const length = Date.now() - begun;
    let most = 0;
    for (let at = 0; at < RUNS; at += 1) {
      const again = await audit(pool, `killed-${at}`, (length * at) / RUNS);
      most = Math.max(most, again);
      process.stderr.write(`${at + 1} of ${RUNS}: ${again} tenants run again\n`);
    }
    for (const one of workers) one.stop();
    await Promise.all(workers.map(({ ended }) => ended));
    await fleet.cloud.stop();
    row(
      `\`fleet drift\` by 2 workers × ${LANES} lanes, ${TENANTS} tenants, ${RUNS} times, a worker killed`,
      `every tenant has its outcome, at most ${most} run again; ${fixed(length / 1000, 0)} s without a kill`,
      `at most ${LANES} run again`,
      most <= LANES,
    );
  } finally {
    await server.stop();
  }
}
