// The runs of a fleet over a queue: what is put into it, which runs were cancelled, and what a queue is refused for. The
// record of a run and its results are registers beside the states, as without a queue.
import {
  defined,
  forEachLimited,
  isObject,
  refuse,
  Secret,
  shellWord,
  tryJson,
  urlFrom,
  type FleetCommand,
  type FleetRun,
  type QueuedJobs,
} from '../model/index.js';
import { isFinal, withoutResult } from '../fleet/merge.js';
import {
  expiryOf,
  queuedJob,
  queueNameOf,
  refuseSecretJobs,
  tenantJobIn,
  type TenantJob,
} from '../fleet/tenant-job.js';
import { jsonText } from '../report/json-output.js';
import { plural } from '../report/words.js';
import type { JobQueue, JobQueues } from '../state/pg-boss-queue.js';
import { unreadParameter } from '../state/state-address.js';
import { secretOf } from './environment-credentials.js';
import type { Flags } from './command-table.js';
import type { Context } from './context.js';
import type { FleetSite } from './fleet-context.js';
import {
  lastOrDamaged,
  RESULTS_AT_ONCE,
  recordText,
  runRecords,
  toResume,
  type ResultPlace,
  type RunRecords,
} from './fleet-results.js';
import { resultOfEntry } from './fleet-run.js';
import { environmentOf } from './environment-settings.js';

const VARIABLE = 'TRUEUP_QUEUE';
const EXAMPLE = 'postgres://host/database';

/** The address of `--queue` or of the environment; undefined where none is named. @throws Refusal */
function addressOf(context: Context): URL | undefined {
  const { flags, environment, masking } = context;
  const named = flags.queue;
  const text = named ?? secretOf({ environment }, VARIABLE).reveal();
  if (text === undefined) return undefined;
  const url = urlFrom(text);
  const what = named === undefined ? VARIABLE : '--queue';
  if (!url || !/^postgres(?:ql)?:$/.test(url.protocol) || url.host === '')
    return refuse('usage', `${what} is not an address of a PostgreSQL database.`, {
      detail: `For example: ${EXAMPLE}`,
    });
  const unknown = unreadParameter(url);
  if (unknown !== undefined)
    refuse('usage', `${what} has ${unknown}`, { detail: `For example: ${EXAMPLE}?schema=NAME` });
  const password = decoded(url.password) ?? url.searchParams.get('password') ?? '';
  if (password !== '' && named !== undefined)
    refuse('usage', '--queue holds a password, which everybody on this machine could read.', {
      detail: `Set ${VARIABLE} to the address, or PGPASSWORD to the password.`,
    });
  if (password !== '') masking.add(new Secret(VARIABLE, () => password));
  return url;
}

/** Undefined for an empty text. @throws Refusal where it cannot be decoded */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text) || undefined;
  } catch {
    return refuse(
      'usage',
      `the password in ${VARIABLE} holds a \`%\` that does not begin an escape.`,
      {
        detail: 'Write %25 for it, or set PGPASSWORD to the password.',
      },
    );
  }
}

/** Whether a queue is named. */
export const hasQueue = ({ flags, environment }: Context): boolean =>
  flags.queue !== undefined || Boolean(environment[VARIABLE] || environment[`${VARIABLE}_FILE`]);

/** @param works whether this process does jobs @throws Refusal where none is named, or it cannot be used */
export async function queuesOf(context: Context, works = false): Promise<JobQueues> {
  const { clock, random, environment } = context;
  const url =
    addressOf(context) ??
    refuse('usage', 'No queue is named.', {
      detail: `Set ${VARIABLE}, or name the queue, for example: --queue ${EXAMPLE}`,
    });
  const password =
    url.password === '' ? secretOf({ environment }, 'PGPASSWORD').reveal() : undefined;
  const { jobQueues } = await import('../state/pg-boss-queue.js');
  return jobQueues({ url, password, works, clock, random });
}

/** Opens the queue of a fleet, runs `work`, closes. @param states as the fleet names them, where it keeps results there */
export async function withQueue<T>(
  context: Context,
  states: string | undefined,
  work: (queue: JobQueue, queues: JobQueues, name: string) => Promise<T>,
): Promise<T> {
  const name = queueNameOf(shared(states));
  const queues = await queuesOf(context);
  try {
    return await work(await queues.queue(name), queues, name);
  } finally {
    await queues.close();
  }
}

/** @throws Refusal where each machine has its own results */
export const shared = (place: string | undefined): string => place ?? refuseUnshared();

export const refuseUnshared = (): never =>
  refuse(
    'queue-needs-shared-results',
    'The results of this fleet would not be stored where all workers can reach them.',
    {
      detail:
        'Set a shared state in trueup.fleet.yaml, for example: defaults: { state: "s3://bucket/prefix/${tenant}" }',
    },
  );

/** What jobs of `--engine` have in common; undefined without an engine. @throws Refusal for flags that a queue has no use for */
export function jobsAsked(context: Context, command: FleetCommand): QueuedJobs | undefined {
  const { flags } = context;
  const { engine, report, detailedExitcode, format, shard } = flags;
  const useless = (flag: string, detail: string): never =>
    refuse('usage', `${flag} cannot be used with --engine, which only queues the tenants.`, {
      detail,
    });
  if (engine === undefined) {
    const alone = (['queue', 'jobExpiry'] as const).find((flag) => flags[flag] !== undefined);
    if (alone !== undefined)
      refuse(
        'usage',
        `--${alone === 'queue' ? 'queue' : 'job-expiry'} can be used only with --engine.`,
        {
          detail: `For example: trueup fleet drift --engine pgboss --queue ${EXAMPLE}`,
        },
      );
    return undefined;
  }
  if (shard !== undefined)
    useless('--shard', 'Leave it out, and start as many workers as you like.');
  const reports = 'Once the run has ended: trueup fleet report RUN';
  if (report !== undefined) useless('--report', reports);
  if (detailedExitcode) useless('--detailed-exitcode', reports);
  if ((format ?? 'text') !== 'text') useless('--format', reports);
  // Before a message repeats it: it may hold a password.
  addressOf(context);
  return jobsOf(context, command);
}

/** Those of the flags that a tenant is planned, applied and audited with. */
export const runFlags = (flags: Flags): QueuedJobs['flags'] =>
  defined({
    var: flags.var,
    allow: flags.allow,
    parallelism: flags.parallelism,
    lockWait: flags.lockWait,
    unmanaged: flags.unmanaged,
  });

/** What the jobs of a run, or of a schedule, have in common. @throws Refusal where that holds a secret */
export function jobsOf(context: Context, command: FleetCommand): QueuedJobs {
  const { flags } = context;
  const jobs: QueuedJobs = {
    command,
    env: environmentOf(context) ?? null,
    flags: runFlags(flags),
    bundle: null,
    expiry: expiryOf(flags.jobExpiry ?? '15m'),
  };
  refuseSecretJobs(jobs.flags);
  return jobs;
}

/** CI systems name shards by themselves. @throws Refusal */
export function refuseShards({ shards }: Pick<FleetSite, 'shards'>): void {
  if (shards > 1)
    refuse(
      'usage',
      'The variables of the CI system name a shard, and --engine queues all tenants.',
      {
        detail:
          'Queue the run in a job of its own. If this is that job: unset CI_NODE_INDEX and its like.',
      },
    );
}

/** Where the text of a bundle stands: what was reviewed is what every worker gets. */
export const bundleKey = (digest: string): string => `bundles/${digest}`;

export interface QueuedRun {
  readonly run: string;
  readonly records: RunRecords;
  readonly place: ResultPlace;
}

/** Where a cancellation stands: each is written once. */
const cancellationKey = (run: string, round: number): string => `fleet/${run}@cancelled-${round}`;

/** How often a run was cancelled. */
export async function roundOf(place: ResultPlace, run: string): Promise<number> {
  for (let round = 0; ; round += 1)
    if (!(await cancellationOf(place, { run, round }))) return round;
}

interface Cancellation {
  readonly reason: string;
  /** Whether tenants that are being run are interrupted, too. */
  readonly interrupts: boolean;
  /** ISO 8601. */
  readonly at: string;
}

/** Why what was queued in this round is cancelled; undefined where it is not. */
export async function cancellationOf(
  place: ResultPlace,
  { run, round }: Pick<TenantJob, 'run' | 'round'>,
): Promise<Cancellation | undefined> {
  const text = await place.read(cancellationKey(run, round + 1));
  if (text === undefined) return undefined;
  const value = tryJson(text);
  const { reason, interrupts, at }: Readonly<Record<string, unknown>> = isObject(value)
    ? value
    : {};
  return {
    reason: typeof reason === 'string' ? reason : 'the run was cancelled',
    interrupts: interrupts !== false,
    at: String(at),
  };
}

/** Whether what is being run of a round is to be interrupted: a cancellation may follow a stop that interrupts nothing. */
export async function isInterrupted(
  place: ResultPlace,
  { run, round: first }: Pick<TenantJob, 'run' | 'round'>,
): Promise<boolean> {
  for (let round = first; ; round += 1) {
    const cancelled = await cancellationOf(place, { run, round });
    if (!cancelled || cancelled.interrupts) return cancelled !== undefined;
  }
}

/** @returns whether it was not cancelled before */
export const recordCancellation = (
  place: ResultPlace,
  { run, round }: Pick<TenantJob, 'run' | 'round'>,
  cancellation: Cancellation,
): Promise<boolean> =>
  place.create(
    cancellationKey(run, round + 1),
    recordText(place, { format_version: '1.0', run, ...cancellation }),
  );

/** Where it stands that a run was queued again after a cancellation. */
const resumptionKey = (run: string, round: number): string => `fleet/${run}@resumed-${round}`;

/** @param round how often the run was cancelled */
export const wasResumed = async (
  place: ResultPlace,
  { run, round }: Pick<TenantJob, 'run' | 'round'>,
): Promise<boolean> => (await place.read(resumptionKey(run, round))) !== undefined;

/** Writes for tenants without a result why they were not begun. @throws Refusal where it cannot be stored */
export async function keepNotRun(
  context: Pick<Context, 'clock'>,
  { run, place, command }: Pick<QueuedRun, 'run' | 'place'> & Pick<QueuedJobs, 'command'>,
  tenants: readonly string[],
): Promise<void> {
  await forEachLimited(tenants, RESULTS_AT_ONCE, async (tenant) => {
    const records = runRecords(place, run, tenant);
    if (await lastOrDamaged(records, tenant)) return;
    const entry = withoutResult(tenant, 'not-run', 'The run was cancelled.');
    await records.write(resultOfEntry(context, { run, command }, entry));
  });
}

/** Takes what waits of a run out of its queue. @returns its tenants, and how many are being run */
export async function cancelWaiting(
  queue: JobQueue,
  run: string,
): Promise<{ readonly waiting: readonly string[]; readonly active: number }> {
  const jobs = await queue.unfinished({ run });
  const waiting = jobs.filter(({ state }) => state !== 'active');
  await queue.cancel(waiting.map(({ id }) => id));
  return { waiting: tenantsOf(waiting), active: jobs.length - waiting.length };
}

/** Of jobs of a run. */
export const tenantsOf = (jobs: readonly { readonly data: unknown }[]): readonly string[] =>
  jobs.flatMap(({ data }) => tenantJobIn(data)?.tenant ?? []);

interface Enqueued {
  readonly tenants: readonly string[];
  readonly jobs: QueuedJobs;
  /** When a tenant may begin, in milliseconds since 1970. */
  readonly startAt?: (tenant: string) => number;
}

/** Queues the tenants that have neither a final result nor a job of this round: what was cancelled may still be ending. @returns how many */
export async function enqueue(
  queue: JobQueue,
  { run, records, place }: QueuedRun,
  { tenants, jobs, startAt }: Enqueued,
): Promise<number> {
  const round = await roundOf(place, run);
  const there = new Set(tenantsOf(await queue.unfinished({ run, round })));
  const open: string[] = [];
  for (const tenant of tenants) {
    if (there.has(tenant)) continue;
    const last = await records.last(tenant);
    if (!last || !isFinal(last)) open.push(tenant);
  }
  // Its cancellation is told no more.
  if (round > 0)
    await place.create(resumptionKey(run, round), jsonText({ format_version: '1.0', run }));
  const jobOf = (tenant: string): TenantJob => ({ ...jobs, run, tenant, round, tries: 0 });
  await queue.add(open.map((tenant) => queuedJob(jobOf(tenant), startAt?.(tenant))));
  return open.length;
}

/** What a command to type needs so that it finds the queue of this one. */
export const queueWords = ({ flags: { queue } }: Pick<Context, 'flags'>): string =>
  queue === undefined ? '' : ` --queue ${shellWord(queue)}`;

/** Says what to type next. */
export function sayQueued(
  context: Pick<Context, 'out' | 'flags'>,
  run: string,
  { added, all }: { readonly added: number; readonly all: number },
): void {
  const rest = all - added;
  const queue = queueWords(context);
  context.out.write(
    `${plural(added, 'tenant')} queued${rest > 0 ? `; ${plural(rest, 'tenant')} done, or queued before` : ''}. Run ${run}.\n` +
      (added > 0
        ? `To run them, on as many machines as you like: trueup fleet worker${queue}\n`
        : '') +
      `To see their progress: trueup fleet status ${run}${queue}\n` +
      `To merge their results: trueup fleet report ${run}\n`,
  );
}

/** What the jobs of a run have in common, as it was recorded. @throws Refusal where it was never queued */
export function recordedJobs({ run, queued }: FleetRun): QueuedJobs {
  if (queued) return queued;
  return refuse('not-queued', `the run ${run} was not queued: the processes that began it run it`, {
    detail: `${toResume(run)}\nTo cancel it, press Ctrl-C where it runs.`,
  });
}
