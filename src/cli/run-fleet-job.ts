// What a worker does with one job of the queue: the same as `fleet drift` and `fleet apply` do with a tenant. Its result
// is written while the job is held, and a job whose result cannot be stored is not completed.
import {
  cached,
  errorDiagnostic,
  defined,
  exits,
  reasonIn,
  refuse,
  Refusal,
  sha256,
  warning,
  type QueuedJobs,
  type TenantEntry,
  type TenantResult,
} from '../model/index.js';
import { hasFailed, stopping } from '../fleet/lanes.js';
import { entryOf, isFinal, withoutResult } from '../fleet/merge.js';
import { queuedJob, tenantJobIn, type TenantJob } from '../fleet/tenant-job.js';
import { variablesIn } from '../fleet/tenant-environment.js';
import type { Tenant } from '../fleet/tenant.js';
import { allBriefly } from '../report/brief-diagnostics.js';
import { visible } from '../report/escaping.js';
import { tenantDiagnostics, tenantLine } from '../report/fleet-text.js';
import { plural } from '../report/words.js';
import { pauseAfter } from '../state/backends/retried.js';
import { QUEUE_UNREACHABLE, type FetchedJob, type JobQueue } from '../state/pg-boss-queue.js';
import { bundleAt } from './fleet-bundle.js';
import { tenantFlags } from './fleet-command.js';
import { applyOf, auditWork, type Plans } from './fleet-tenant-work.js';
import type { Context } from './context.js';
import { fleetHere, type FleetSite } from './fleet-context.js';
import {
  bundleKey,
  cancellationOf,
  cancelWaiting,
  isInterrupted,
  keepNotRun,
  queueWords,
  recordCancellation,
} from './fleet-queue.js';
import { ownController, type OwnController } from './derived-abort-signal.js';
import { lastOrDamaged, runRecords, type ResultPlace, type RunRecords } from './fleet-results.js';
import { CANCELLED, keepEntry, runTenant, type TenantRun, type TenantTask } from './fleet-run.js';
import type { FleetWatch } from './show-fleet-progress.js';

/** A run since it was queued or resumed, as this worker knows it. */
interface WorkerRun {
  readonly context: Context;
  /** Read again where a tenant is missing: the checkout may be a newer one. */
  site: FleetSite;
  readonly stop: ReturnType<typeof stopping>;
  /** Read when the first tenant needs it. */
  plans?: Plans;
}

export interface FleetWorker {
  readonly context: Context;
  readonly place: ResultPlace;
  readonly queue: JobQueue;
  /** How many workers share the rate of a credential. */
  readonly workers: number;
  readonly shared: TenantRun['shared'];
  readonly runs: Map<string, WorkerRun>;
  /** What is being run, by the id of its job. */
  readonly active: Map<string, { readonly job: TenantJob; readonly cancel: OwnController }>;
  readonly watch: FleetWatch;
  /** Whether a server was not reachable when it was last asked. */
  isDown: boolean;
}

/** Milliseconds until a tenant is tried again that another run is busy with. */
const BUSY = 5_000;
/** How often a tenant is put back because a server is not reachable; then that is its result. */
const TRIES = 3;
const LONGEST_PAUSE = 5;
/** Runs whose fleets and plans a worker keeps. */
const KEPT_RUNS = 8;

/** Whether asking again may help. */
export const isOutage = ({ code }: { readonly code: string }): boolean =>
  code === QUEUE_UNREACHABLE || code === 'backend-unreachable';

/** Asks again, until a server that does not respond is back or the worker is to end. */
export async function whenReachable<T>(worker: FleetWorker, ask: () => Promise<T>): Promise<T> {
  const { context } = worker;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await ask();
      worker.isDown = false;
      return result;
    } catch (error) {
      const first = error instanceof Refusal ? reasonIn(error.diagnostics) : undefined;
      if (!first || !isOutage(first) || context.signal.aborted) throw error;
      if (!worker.isDown)
        await context.tell([warning('waiting', `${first.summary}. The worker retries.`)]);
      worker.isDown = true;
    }
    await pauseAfter(context, Math.min(attempt, LONGEST_PAUSE));
  }
}

/** The context of a run: with its flags and its environment, whatever those of the worker are. */
export const contextOfRun = (
  context: Context,
  { flags, env }: Pick<QueuedJobs, 'flags' | 'env'>,
): Context => ({
  ...context,
  environment: Object.fromEntries(
    [...variablesIn(context.environment)].filter(([name]) => name !== 'TRUEUP_ENV'),
  ),
  // One worker sees all tenants, whatever the CI system says.
  flags: { ...flags, shard: '1/1', ...defined({ env: env ?? undefined }) },
});

/** @throws Refusal where the folder holds no fleet that can be read */
export async function siteOfRun(own: Context, workers: number): Promise<FleetSite> {
  // What there is to say of the fleet is said once, by the one who queues.
  return { ...(await fleetHere({ ...own, tell: async () => undefined })), workers };
}

async function runOf(worker: FleetWorker, job: TenantJob): Promise<WorkerRun> {
  const key = JSON.stringify([job.run, job.round, job.env, job.flags]);
  const known = worker.runs.get(key);
  if (known) return known;
  const context = contextOfRun(worker.context, job);
  const site = await siteOfRun(context, worker.workers);
  const [oldest] = worker.runs.size < KEPT_RUNS ? [] : worker.runs.keys();
  if (oldest !== undefined) worker.runs.delete(oldest);
  return cached(worker.runs, key, () => ({ context, site, stop: stopping(site.fleet.stop) }));
}

/** @throws Refusal where the fleet cannot be read, or a server refuses this worker */
export async function doJob(worker: FleetWorker, fetched: FetchedJob): Promise<void> {
  const { context, queue, place, active } = worker;
  const job = tenantJobIn(fetched.data);
  if (!job) {
    await sayForeign(context, 'job');
    return whenReachable(worker, () => queue.cancel([fetched.id]));
  }
  const cancel = ownController(context.signal);
  active.set(fetched.id, { job, cancel });
  try {
    const run = await runOf(worker, job);
    if (await whenReachable(worker, () => cancellationOf(place, job))) {
      await whenReachable(worker, () => keepNotRun(context, { ...job, place }, [job.tenant]));
      return await whenReachable(worker, () => queue.complete(fetched.id));
    }
    if (await whenReachable(worker, () => isBusy(queue, job, fetched)))
      return await putBack(worker, fetched, job, BUSY);
    await runJob(worker, run, { job, fetched, signal: cancel.signal }).finally(() =>
      worker.watch.leave(job.tenant),
    );
  } catch (error) {
    // What ends this worker need not end others: they get the tenant now, and it counts as no loss.
    await putBack(worker, fetched, job, BUSY).catch(() => undefined);
    throw error;
  } finally {
    cancel.release();
    active.delete(fetched.id);
  }
}

/** What is in a queue may be of another version. */
export const sayForeign = ({ tell }: Context, what: 'job' | 'schedule'): Promise<void> =>
  tell([
    warning(
      'foreign-job',
      `A ${what} of the queue is of another version of trueup, and was left out.`,
    ),
  ]);

/** Whether another run is at work on the tenant: two runs of a tenant follow each other. */
export async function isBusy(
  queue: Pick<JobQueue, 'unfinished'>,
  { tenant }: Pick<TenantJob, 'tenant'>,
  own: Pick<FetchedJob, 'id' | 'startedOn'>,
): Promise<boolean> {
  const before = own.startedOn.getTime();
  return (await queue.unfinished({ tenant })).some(({ id, state, startedOn }) => {
    if (state !== 'active' || id === own.id) return false;
    const at = startedOn?.getTime() ?? 0;
    return at < before || (at === before && id < own.id);
  });
}

/** A copy first: at any moment there is a job of the tenant. What another worker was given needs none. */
async function putBack(
  worker: FleetWorker,
  fetched: FetchedJob,
  job: TenantJob,
  after: number,
): Promise<void> {
  const { queue, context } = worker;
  if (!(await whenReachable(worker, () => queue.isHeld(fetched)))) return;
  const copy = queuedJob(job, after > 0 ? context.clock.now() + after : undefined);
  await whenReachable(worker, () => queue.add([copy]));
  await whenReachable(worker, () => queue.complete(fetched.id));
}

interface JobToRun {
  readonly job: TenantJob;
  readonly fetched: FetchedJob;
  /** Aborted if the run is cancelled, or the worker is to end. */
  readonly signal: AbortSignal;
}

/** What becomes of a result and its job. `superseded`: another worker has the tenant, or has done it. */
type Fate = 'store' | 'again' | 'superseded' | { readonly error: unknown };

async function runJob(worker: FleetWorker, run: WorkerRun, one: JobToRun): Promise<void> {
  const { context, place, queue } = worker;
  const { job, fetched, signal } = one;
  const parent: Context = { ...run.context, signal };
  let fate: Fate = 'store';
  const stored = runRecords(place, job.run, job.tenant);
  const records: RunRecords = {
    ...stored,
    async write(result) {
      const now = () => lastOrDamaged(runRecords(place, job.run, job.tenant), job.tenant);
      const end = await whenReachable(worker, async () => {
        const isDone = isNewlyDone(await lastOrDamaged(stored, job.tenant), await now());
        return fateOf(worker, one, result, isDone);
      }).catch((error: unknown): Fate => ({ error }));
      fate = end;
      if (end !== 'store' && !(end === 'again' && result.outcomes.length > 0)) return result;
      return whenReachable(worker, () => stored.write(result)).catch((error: unknown) => {
        fate = { error };
        return result;
      });
    },
  };
  const named = () => run.site.fleet.tenants.find(({ name }) => name === job.tenant);
  if (!named()) run.site = await siteOfRun(run.context, worker.workers);
  const tenant = named();
  const { entry, before } = tenant
    ? await runKnown(worker, run, { ...one, parent, tenant, records })
    : { entry: await unknownTenant(parent, job, records), before: false };
  // Assigned by `write`.
  const end = fate as Fate;
  if (typeof end === 'object') throw end.error;
  if (end === 'superseded') {
    await sayTaken(context, job);
    if (await whenReachable(worker, () => queue.isHeld(fetched)))
      await whenReachable(worker, () => queue.complete(fetched.id));
    return;
  }
  if (end === 'again') {
    const { aborted } = context.signal;
    const tries = aborted ? job.tries : job.tries + 1;
    return putBack(worker, fetched, { ...job, tries }, aborted ? 0 : BUSY);
  }
  worker.watch.end(entry, !before);
  worker.watch.hide();
  context.out.write(`${visible(job.run)} ${tenantLine(entry)}\n`);
  const shown = allBriefly(entry.diagnostics, `trueup fleet report ${job.run} --format json`);
  await context.tell(tenantDiagnostics(job.tenant, shown));
  await whenReachable(worker, () => queue.complete(fetched.id));
  // What was interrupted says nothing about the other tenants.
  if (signal.aborted) return;
  if (entry.exit !== null && !before) run.stop.ended(entry.exit);
  const reason = run.stop.reason();
  if (reason !== undefined) await stopRun(worker, job, reason);
}

type LastResult = Awaited<ReturnType<typeof lastOrDamaged>>;

/** Whether another worker finished the tenant while this one was at it. */
const isNewlyDone = (before: LastResult, now: LastResult): boolean =>
  typeof now === 'object' &&
  isFinal(now) &&
  !(typeof before === 'object' && now.attempt === before.attempt);

/** A job that took too long is another worker's: then only what certainly was done is stored, so that it is not lost. @param isDone whether another worker finished the tenant meanwhile */
export async function fateOf(
  { context, queue }: Pick<FleetWorker, 'queue'> & { readonly context: Pick<Context, 'signal'> },
  { job, fetched }: Pick<JobToRun, 'job' | 'fetched'>,
  { status, exit, outcomes, diagnostics }: TenantResult,
  isDone: boolean,
): Promise<Fate> {
  if (status === 'interrupted' && context.signal.aborted) return 'again';
  const isDown = exit === exits.error && outcomes.length === 0 && diagnostics.some(isOutage);
  if (isDown && job.tries < TRIES) return 'again';
  if (isDone) return 'superseded';
  const isSure = exit !== null && !hasFailed(exit);
  return isSure || (await queue.isHeld(fetched)) ? 'store' : 'superseded';
}

const sayTaken = ({ tell }: Context, { run, tenant }: TenantJob): Promise<void> =>
  tell([
    warning(
      'job-taken',
      `${tenant}: its job in the run ${run} was given to another worker, or cancelled, meanwhile; the result is left to that one`,
      'If it took longer than its expiry, queue runs with a longer --job-expiry.',
    ),
  ]);

interface KnownTenant extends JobToRun {
  readonly parent: Context;
  readonly tenant: Tenant;
  readonly records: RunRecords;
}

async function runKnown(
  worker: FleetWorker,
  run: WorkerRun,
  { job, parent, tenant, records }: KnownTenant,
): Promise<{ readonly entry: TenantEntry; readonly before: boolean }> {
  const { site } = run;
  const applying = async () => applyOf(site, await plansOf(worker, run, job), records);
  const work: TenantTask =
    job.command === 'apply'
      ? {
          command: 'apply',
          flags: tenantFlags(parent),
          known: async (one) => (await applying()).known(one),
          work: async (own, one) => (await applying()).work(own, one),
        }
      : auditWork(parent, site, records);
  const { result, outcome } = await runTenant(parent, site, tenant, {
    job: { ...work, run: job.run, records },
    shared: worker.shared,
    status: worker.watch.begin(tenant.name),
  });
  return { entry: entryOf(result), before: outcome?.before !== undefined };
}

/** The bundle that was kept when the run was queued. @throws Refusal where it is gone, or is another one */
async function plansOf(worker: FleetWorker, run: WorkerRun, { bundle }: TenantJob): Promise<Plans> {
  if (run.plans) return run.plans;
  const { context, place } = worker;
  const key = bundleKey(bundle ?? '');
  const text = await whenReachable(worker, () => place.read(key));
  const name = `the bundle ${key} in ${place.location}`;
  if (text === undefined || sha256(text) !== bundle)
    return refuse(
      'damaged-bundle',
      `${name} is ${text === undefined ? 'not there' : 'another one'}`,
      {
        detail: 'Plan again: trueup fleet plan --out FILE',
      },
    );
  const files = { ...context.files, read: async () => text };
  run.plans = { name, ...(await bundleAt({ ...context, files }, name, 'FILE')) };
  return run.plans;
}

/** The checkout is older or newer than the run. */
async function unknownTenant(
  context: Context,
  { run, command, tenant }: TenantJob,
  records: RunRecords,
): Promise<TenantEntry> {
  const summary = `${tenant} is not a tenant of the fleet in ${context.cwd}`;
  const detail = 'Update the checkout of the worker, and resume the run.';
  const diagnostics = [errorDiagnostic('unknown-tenant', summary, detail)];
  const entry = { ...withoutResult(tenant, 'failed', summary), exit: exits.error, diagnostics };
  return keepEntry(context, { run, command, records }, entry);
}

/** Too many failed: nothing more of the run is begun, by any worker. */
async function stopRun(worker: FleetWorker, job: TenantJob, reason: string): Promise<void> {
  const { context, place, queue } = worker;
  const at = new Date(context.clock.now()).toISOString();
  const isFirst = await whenReachable(worker, () =>
    recordCancellation(place, job, { reason, interrupts: false, at }),
  );
  if (!isFirst) return;
  const { waiting } = await whenReachable(worker, () => cancelWaiting(queue, job.run));
  await whenReachable(worker, () => keepNotRun(context, { ...job, place }, waiting));
  await context.tell([
    errorDiagnostic(
      'stopped',
      `The run ${job.run} is cancelled: ${reason}. ${plural(waiting.length, 'tenant')} not begun.`,
      `Once that is fixed: trueup fleet resume ${job.run}${queueWords(context)}`,
    ),
  ]);
}

/** Aborts what is being run of runs that were cancelled, and says that the rest is still being run. */
export async function watchJobs({ active, place, queue }: FleetWorker): Promise<void> {
  await queue.beat([...active.keys()]);
  const known = new Map<string, ReturnType<typeof isInterrupted>>();
  for (const { job, cancel } of active.values())
    if (await cached(known, `${job.run} ${job.round}`, () => isInterrupted(place, job)))
      cancel.abort(CANCELLED);
}
