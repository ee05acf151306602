// `trueup fleet worker`: fetches tenants from the queue of the fleet and runs them in lanes. The queue may give a tenant
// to two workers: one writer at a time is what the lock and the fence of its state see to.
import { readFleet } from '../../fleet/fleet-file.js';
import { laneCount } from '../../fleet/lanes.js';
import {
  delayOf,
  queueNameOf,
  scheduledJobsIn,
  type ScheduledJobs,
} from '../../fleet/tenant-job.js';
import { errorDiagnostic, exits, warning, type Exit } from '../../model/index.js';
import { declarationFiles } from '../../platform/declaration-files.js';
import { plural } from '../../report/words.js';
import type { FetchedJob, JobQueue, JobQueues } from '../../state/pg-boss-queue.js';
import { caughtError } from '../caught-error.js';
import { wholeNumber, type Command, type Context } from '../context.js';
import { ownController } from '../derived-abort-signal.js';
import { sayingOnce } from '../repeated-messages.js';
import { enqueue, queuesOf, queueWords, shared } from '../fleet-queue.js';
import {
  contextOfRun,
  doJob,
  isOutage,
  sayForeign,
  siteOfRun,
  watchJobs,
  whenReachable,
  type FleetWorker,
} from '../run-fleet-job.js';
import { begun, sharedPlaces } from '../fleet-command.js';
import { fleetLines } from '../show-fleet-progress.js';
import { setFleetFlags } from '../v8-flags.js';

/** Milliseconds between two looks into an empty queue. */
const POLL = 1_000;
/** Milliseconds between two looks at cancellations, and at schedules. */
const WATCH = 3_000;
/** Milliseconds after which a scheduled run begins no more: longer than a worker that is killed holds it up. */
const LATE = 60 * 60_000;

export const run: Command = async (context) => {
  const { flags, cwd, clock, err } = context;
  setFleetFlags();
  const fleet = await readFleet({ files: declarationFiles, cwd });
  const lanes = wholeNumber('--lanes', flags.lanes ?? String(fleet.concurrency), 1, 256);
  const workers = wholeNumber('--workers', flags.workers ?? '1', 1, 10_000);
  const name = queueNameOf(shared(fleet.states));
  const [place] = await sharedPlaces(context, fleet.results);
  const { limitersByKey } = await import('../../client/rate-limit.js');
  const queues = await queuesOf(context, true);
  const watch = fleetLines(context);
  try {
    const worker: FleetWorker = {
      context,
      place,
      queue: await queues.queue(name),
      workers,
      shared: { limiter: limitersByKey(clock), lanes: laneCount(lanes) },
      runs: new Map(),
      active: new Map(),
      watch,
      isDown: false,
    };
    err.write(`Working for ${queues.location}, ${plural(lanes, 'lane')}.\n`);
    return await untilEnd(worker, schedulesOf(queues, `${name}.`));
  } finally {
    watch.close();
    await queues.close();
  }
};

/** @param runSchedules queues what is due */
async function untilEnd(
  worker: FleetWorker,
  runSchedules: (worker: FleetWorker) => Promise<void>,
): Promise<Exit> {
  const { context, queue, shared } = worker;
  const { signal, clock, flags } = context;
  const running = new Set<Promise<void>>();
  const ended = new AbortController();
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown): void => void (failure ??= { error });
  const pause = (time: number, until: AbortSignal): Promise<void> =>
    clock.sleep(time, until).catch(() => undefined);
  // What fails is tried again in a moment.
  const repeat = async (work: () => Promise<void>): Promise<void> => {
    while (!ended.signal.aborted) {
      await pause(WATCH, ended.signal);
      await work().catch(() => undefined);
    }
  };
  const until = AbortSignal.any([signal, ended.signal]);
  const scheduler = { ...worker, context: { ...context, signal: until } };
  const watching = Promise.all([
    repeat(() => watchJobs(worker)),
    // By itself: a place that does not respond delays no sign of life.
    repeat(async () => (until.aborted ? undefined : runSchedules(scheduler))),
  ]);
  try {
    while (!signal.aborted && !failure) {
      const free = shared.lanes.lanes() - running.size;
      const jobs = free > 0 ? await whenReachable(worker, () => queue.fetch(free)) : [];
      for (const one of jobs) {
        const work = doJob(worker, one)
          .catch(fail)
          .finally(() => running.delete(work));
        running.add(work);
      }
      if (flags.untilIdle && running.size === 0 && (await isIdle(worker))) break;
      // Each pause ends with its turn.
      const turn = ownController(signal);
      await Promise.race([...running, pause(POLL, turn.signal)]);
      turn.release();
      turn.abort(undefined);
    }
  } finally {
    await Promise.allSettled(running);
    ended.abort();
    await watching;
  }
  if (failure) throw failure.error;
  return exits.done;
}

const isIdle = async (worker: FleetWorker): Promise<boolean> =>
  (await whenReachable(worker, () => worker.queue.unfinished({}))).length === 0;

/** Turns what a schedule put into its queue into a run, which is named by the time. It never throws: what prevents it is said once. */
export function schedulesOf(queues: Pick<JobQueues, 'schedules' | 'queue'>, prefix: string) {
  const known = new Map<string, JobQueue>();
  let quiet: Context | undefined;
  const runDue = async (worker: FleetWorker): Promise<void> => {
    for (const { name } of await queues.schedules()) {
      if (!name.startsWith(prefix)) continue;
      const queue = known.get(name) ?? (await queues.queue(name));
      known.set(name, queue);
      for (const due of await queue.fetch(1)) {
        await beginScheduled(worker, due);
        await whenReachable(worker, () => queue.complete(due.id));
      }
    }
  };
  return async (worker: FleetWorker): Promise<void> => {
    const { context } = worker;
    quiet ??= sayingOnce(context);
    try {
      await runDue(worker);
    } catch (error) {
      const { diagnostics } = caughtError(error);
      // What is due is given to another worker; and the worker itself says that a server does not respond.
      if (context.signal.aborted || diagnostics.some(isOutage)) return;
      const summary = 'What is scheduled cannot begin, for this reason:';
      await quiet.tell([errorDiagnostic('schedules-failed', summary), ...diagnostics]);
    }
  };
}

/** Says why an audit cannot begin: no other attempt would be seen by anybody. */
async function beginScheduled(worker: FleetWorker, due: FetchedJob): Promise<void> {
  const { context } = worker;
  const scheduled = scheduledJobsIn(due.data);
  if (!scheduled) return sayForeign(context, 'schedule');
  const { command, env } = scheduled.jobs;
  const at = due.createdOn.toISOString().slice(0, 16).replaceAll(/[-:]/g, '');
  const name = [command, ...(env === null ? [] : [env]), `${at}Z`].join('-');
  // Workers of other fleets put it into the queue, while none of this one was there. Both are times of the server.
  if (due.startedOn.getTime() - due.createdOn.getTime() > LATE)
    return context.tell([
      warning(
        'missed-schedule',
        `The scheduled run ${name} is left out: no worker of this fleet was there at its time.`,
        `To audit now: trueup fleet drift --engine pgboss${queueWords(context)}`,
      ),
    ]);
  try {
    await whenReachable(worker, () => queueScheduled(worker, due, { ...scheduled, name }));
  } catch (error) {
    if (context.signal.aborted) throw error;
    const summary = `The scheduled run ${name} did not begin, for this reason:`;
    const { diagnostics } = caughtError(error);
    await context.tell([errorDiagnostic('schedule-failed', summary), ...diagnostics]);
  }
}

async function queueScheduled(
  worker: FleetWorker,
  { createdOn }: Pick<FetchedJob, 'createdOn'>,
  { jobs, spread, select, name }: ScheduledJobs & { readonly name: string },
): Promise<void> {
  const { context, queue, place, workers } = worker;
  const own = contextOfRun(context, jobs);
  const named: Context = {
    ...own,
    flags: { ...own.flags, run: name, ...(select !== null && { select }) },
  };
  const site = await siteOfRun(named, workers);
  const tenants = site.here.map((tenant) => tenant.name);
  const run = await begun(named, site, jobs.command, { queued: jobs, place });
  const first = createdOn.getTime();
  const startAt = (tenant: string): number => first + delayOf(tenant, spread);
  const added = await enqueue(queue, run, { tenants, jobs, ...(spread > 0 && { startAt }) });
  worker.watch.hide();
  context.out.write(`Scheduled: ${plural(added, 'tenant')} queued. Run ${name}.\n`);
}
