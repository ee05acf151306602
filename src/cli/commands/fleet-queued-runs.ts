// `trueup fleet status`, `resume` and `cancel`: a run that was queued, while workers run it.
import {
  compareText,
  exits,
  firstNamed,
  forEachLimited,
  reasonIn,
  Refusal,
  refuse,
  tally,
  warning,
  type FleetRun,
  type TenantCounts,
  type TenantEntry,
} from '../../model/index.js';
import { isFinal } from '../../fleet/merge.js';
import { tenantJobIn, type TenantJob } from '../../fleet/tenant-job.js';
import { visible } from '../../report/escaping.js';
import { statusCounts } from '../../report/fleet-text.js';
import { jsonText } from '../../report/json-output.js';
import { plural } from '../../report/words.js';
import type { JobQueue } from '../../state/pg-boss-queue.js';
import type { Command, Context } from '../context.js';
import {
  cancelWaiting,
  enqueue,
  hasQueue,
  keepNotRun,
  queueWords,
  recordCancellation,
  recordedJobs,
  roundOf,
  sayQueued,
  tenantsOf,
  wasResumed,
  withQueue,
} from '../fleet-queue.js';
import { checkedRun, refuseOtherFleet, RESULTS_AT_ONCE, runRecords } from '../fleet-results.js';
import { runNamed, storedEntry } from '../fleet-stored-run.js';
import { isOutage } from '../run-fleet-job.js';

/** Milliseconds between two looks at a run. */
const POLL = 2_000;

interface RunStatus extends Pick<FleetRun, 'run' | 'command'> {
  readonly tenants: number;
  /** Number of tenants by the status of their last result. */
  readonly results: TenantCounts;
  /** Absent where no queue is named. */
  readonly queue?: QueueCounts;
  readonly cancelled: boolean;
}

interface QueueCounts {
  readonly waiting: number;
  readonly active: number;
  /** The tenants that are being run. */
  readonly running: readonly string[];
  /** Those that wait, and the run whose job has the tenant: a killed worker's job has it until the queue notices. */
  readonly held: readonly Pick<TenantJob, 'tenant' | 'run'>[];
  /** Those whose workers were gone each time. */
  readonly given_up: number;
}

type Named = Awaited<ReturnType<typeof runNamed>>;

export const status: Command = async (context, [name = '']) => {
  const wanted = checkedRun(name);
  const patiently = whileWaiting(context);
  const named = await patiently(() => runNamed(context, wanted));
  const { states, run } = named;
  const { flags, out, err, clock } = context;
  const tell = async (queue?: JobQueue) => {
    const results = lastResults(named);
    for (;;) {
      const now = await patiently(() => statusOf(named, queue, results));
      const open = now.queue
        ? now.queue.waiting + now.queue.active
        : now.tenants - sum(Object.values(now.results));
      if (flags.wait && open > 0 && !(now.cancelled && !now.queue)) {
        err.status(sentence(now));
        await clock.sleep(POLL, context.signal);
        continue;
      }
      err.status(undefined);
      if (flags.format === 'json') out.write(jsonText({ format_version: '1.0', ...now }));
      else out.write(`${sentence(now)}\n${now.queue ? queueLines(now.queue) : ''}`);
      return exits.done;
    }
  };
  // A run that was not queued has results alone.
  return run.queued && hasQueue(context)
    ? patiently(() => withQueue(context, states, tell))
    : tell();
};

/** Workers go on when a server that does not respond is back: so does who waits for them. */
function whileWaiting({ flags, tell, clock, signal }: Context) {
  let isTold = false;
  return async <T>(ask: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        const first = error instanceof Refusal ? reasonIn(error.diagnostics) : undefined;
        if (!flags.wait || !first || !isOutage(first)) throw error;
        if (!isTold) await tell([warning('waiting', `${first.summary}. Retrying.`)]);
        isTold = true;
      }
      await clock.sleep(POLL, signal);
    }
  };
}

const sum = (all: readonly number[]): number => all.reduce((one, other) => one + other, 0);

/** Reads again only what has no result yet, and what may get another one. */
export function lastResults({
  run,
  place,
}: Pick<Named, 'run' | 'place'>): () => Promise<ReadonlyMap<string, TenantEntry>> {
  const final = new Map<string, TenantEntry>();
  return async () => {
    const records = runRecords(place, run.run);
    const entries = new Map(final);
    const left = run.tenants.filter((tenant) => !final.has(tenant));
    await forEachLimited(left, RESULTS_AT_ONCE, async (tenant) => {
      const entry = await storedEntry(records, tenant);
      if (entry) entries.set(tenant, entry);
      if (entry && entry.exit === exits.done) final.set(tenant, entry);
    });
    return entries;
  };
}

/** The queue is asked first: a job ends after its result is stored, so what has left the queue has a result. */
export async function statusOf(
  { run, place }: Pick<Named, 'run' | 'place'>,
  queue: JobQueue | undefined,
  results: () => Promise<ReadonlyMap<string, TenantEntry>>,
): Promise<RunStatus> {
  const round = await roundOf(place, run.run);
  const jobs = (await queue?.unfinished({ run: run.run })) ?? [];
  const given_up = (await queue?.givenUp({ run: run.run })) ?? 0;
  const entries = await results();
  const counts = tally([...entries.values()].map(({ status: one }) => one));
  const base = {
    run: run.run,
    command: run.command,
    tenants: run.tenants.length,
    results: Object.fromEntries(counts),
  };
  const isLeft = run.tenants.some((tenant) => !isFinal(entries.get(tenant) ?? { exit: null }));
  const cancelled = round > 0 && isLeft && !(await wasResumed(place, { run: run.run, round }));
  if (!queue) return { ...base, cancelled };
  const active = jobs.filter(({ state }) => state === 'active');
  const waiting = jobs.filter(({ state }) => state !== 'active');
  const running = tenantsOf(active).toSorted();
  const held = await heldBy(queue, run.run, tenantsOf(waiting));
  return {
    ...base,
    queue: { waiting: waiting.length, active: active.length, running, held, given_up },
    cancelled,
  };
}

/** Those of the waiting tenants that a job of another run has, by name. */
async function heldBy(
  queue: JobQueue,
  run: string,
  waiting: readonly string[],
): Promise<QueueCounts['held']> {
  if (waiting.length === 0) return [];
  const names = new Set(waiting);
  return (await queue.unfinished({}))
    .flatMap(({ data, state }) => (state === 'active' ? (tenantJobIn(data) ?? []) : []))
    .filter((one) => one.run !== run && names.has(one.tenant))
    .map((one) => ({ tenant: one.tenant, run: one.run }))
    .toSorted((one, other) => compareText(one.tenant, other.tenant));
}

function sentence({ run, tenants, results, queue, cancelled }: RunStatus): string {
  const none = tenants - sum(Object.values(results));
  const parts = [
    ...statusCounts(results).toReversed(),
    ...(none > 0 ? [`${none} without a result`] : []),
    ...(queue ? [`${queue.active} being run`, `${queue.waiting} waiting`] : []),
    ...(queue && queue.given_up > 0 ? [`${queue.given_up} given up`] : []),
  ];
  return `${plural(tenants, 'tenant')}: ${parts.join(', ')}. Run ${run}${cancelled ? ', cancelled' : ''}.`;
}

const NAMED = 10;

/** What is being run, and what waits for another run. */
export function queueLines({ running, held }: Pick<QueueCounts, 'running' | 'held'>): string {
  const line = (title: string, names: readonly string[]): string =>
    names.length > 0 ? `${title}: ${firstNamed(names, NAMED)}.\n` : '';
  const waits = held.map(({ tenant, run }) => `${visible(tenant)} (run ${visible(run)})`);
  return line('Being run', running) + line('Waiting for another run', waits);
}

export const resume: Command = async (context, [name = '']) => {
  const named = await runNamed(context, checkedRun(name));
  const { run, states } = named;
  const jobs = recordedJobs(run);
  refuseOtherFleet(run, states);
  return withQueue(context, states, async (queue) => {
    const added = await enqueue(queue, { ...named, run: run.run }, { tenants: run.tenants, jobs });
    sayQueued(context, run.run, { added, all: run.tenants.length });
    return exits.done;
  });
};

export const cancel: Command = async (context, [name = '']) => {
  const { clock, out } = context;
  const { run, place, states } = await runNamed(context, checkedRun(name));
  const { command } = recordedJobs(run);
  refuseOtherFleet(run, states);
  return withQueue(context, states, async (queue) => {
    const round = await roundOf(place, run.run);
    if ((await queue.unfinished({ run: run.run })).length === 0)
      refuse('nothing-queued', `nothing of the run ${run.run} is queued`, {
        detail: `To see its results: trueup fleet report ${run.run}`,
      });
    const at = new Date(clock.now()).toISOString();
    const cancellation = { reason: 'a person cancelled it', interrupts: true, at };
    await recordCancellation(place, { run: run.run, round }, cancellation);
    const { waiting, active } = await cancelWaiting(queue, run.run);
    await keepNotRun(context, { run: run.run, place, command }, waiting);
    const rest =
      active > 0 ? ` Being run: ${plural(active, 'tenant')}, each until its next request.` : '';
    out.write(
      `Cancelled: ${plural(waiting.length, 'waiting tenant')}.${rest} To go on: trueup fleet resume ${run.run}${queueWords(context)}\n`,
    );
    return exits.done;
  });
};
