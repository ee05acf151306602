// What the commands of a fleet have in common: the forms of their reports, the run that they begin, and how it is queued.
import { resolve } from 'node:path';
import { stagesOf } from '../fleet/lanes.js';
import { namesOf } from '../fleet/tenant.js';
import {
  defined,
  exits,
  Refusal,
  refuse,
  pathWord,
  warning,
  type Exit,
  type FleetCommand,
  type FleetRun,
  type QueuedJobs,
} from '../model/index.js';
import type { ProjectPolicy } from '../policies/policy-files.js';
import { fleetFormats } from '../report/formats.js';
import type { Flags } from './command-table.js';
import { otherWords } from './commands-to-type.js';
import type { Context } from './context.js';
import type { FleetSite } from './fleet-context.js';
import {
  enqueue,
  queueWords,
  refuseUnshared,
  runFlags,
  sayQueued,
  shared,
  withQueue,
  type QueuedRun,
} from './fleet-queue.js';
import {
  checkedRun,
  resultPlaces,
  runRecords,
  type ResultPlace,
  type RunRecords,
} from './fleet-results.js';
import type { FleetForms } from './fleet-run.js';
import { checkFleetOutputs } from './output-files.js';
import { formsOf, outputsOf } from './report-flags.js';
import { tenantPages } from './tenant-pages.js';
import { version } from './version.js';

/** @param inputs absolute paths of files that the command reads */
export async function formsHere(
  context: Context,
  inputs: readonly string[] = [],
): Promise<FleetForms> {
  const forms = formsOf(context, fleetFormats);
  const out = context.flags.out;
  const saved = out === undefined ? [] : [{ flag: '--out', path: resolve(context.cwd, out) }];
  await checkFleetOutputs(context, [...saved, ...outputsOf(forms)], inputs);
  const pages = await tenantPages(context, forms);
  if (forms.shown !== 'ndjson') return { ...forms, pages };
  const { fleetNdjson } = await import('../report/fleet-ndjson.js');
  return { ...forms, pages, events: fleetNdjson(version, context.clock.now) };
}

/** The flags that a tenant is planned and applied with. */
export const tenantFlags = ({ flags }: Pick<Context, 'flags'>): Flags => ({
  ...runFlags(flags),
  autoApprove: true,
  // A result holds every warning.
  verbose: true,
});

interface RunContent {
  /** Digest of the bundle that it applies. */
  readonly bundle?: string;
  /** Where it is queued: then its results are where all workers reach them. */
  readonly queued?: QueuedJobs | undefined;
  /** The place of its results, where it is known. */
  readonly place?: ResultPlace;
}

/** Begins a run, or goes on with the one of `--run`. */
export async function begun(
  context: Context,
  site: FleetSite,
  command: FleetCommand,
  { bundle, queued, place: known }: RunContent = {},
): Promise<QueuedRun> {
  const { flags, clock, random } = context;
  const started_at = new Date(clock.now()).toISOString();
  const stamp = started_at.replaceAll(/[-:]|\.\d+/g, '');
  const usual = `${command}-${stamp}-${random.uuid().slice(0, 4)}`;
  const run = flags.run === undefined ? usual : checkedRun(flags.run);
  const tenants = namesOf(site.selected);
  const record: FleetRun = {
    format_version: '1.0',
    run,
    command,
    started_at,
    tenants,
    bundle: bundle ?? null,
    ...defined({ queued, states: site.fleet.states }),
  };
  const { results } = site.fleet;
  const places = known
    ? [known]
    : await (queued ? sharedPlaces(context, results) : resultPlaces(context, results));
  for (const place of places) {
    const one = runRecords(place, run);
    const begun = await one
      .begin(record, queueWords(context))
      .catch(unlessDenied(context, places.at(-1) === place));
    if (begun === undefined) continue;
    return { run, place, records: begun ? one : ofNewRun(one) };
  }
  throw new Error('the last place takes results, or refuses');
}

/** Nothing was stored before, and so nothing is asked for. */
const ofNewRun = (records: RunRecords): RunRecords => ({
  ...records,
  last: async () => undefined,
  end: async (ended) => (ended.stops.length > 0 ? records.end(ended) : undefined),
});

/** Without the right to write beside the states, results are kept on this machine. */
const unlessDenied =
  ({ tell }: Context, isLast: boolean) =>
  async (error: unknown): Promise<undefined> => {
    const denied = error instanceof Refusal && error.diagnostics[0]?.code === 'backend-denied';
    if (!denied || isLast) throw error;
    await tell([
      warning(
        'results-here',
        'The credentials may not write beside the states, so the results of this run are kept in .trueup/fleet on this machine.',
      ),
    ]);
  };

/** Where all workers of a queue reach them. @throws Refusal where there is no such place */
export async function sharedPlaces(
  context: Context,
  results: string | undefined,
): Promise<readonly [ResultPlace]> {
  const [place, folder] = await resultPlaces(context, shared(results));
  return place && folder ? [place] : refuseUnshared();
}

/** Puts the tenants of a run into the queue, and says what to type next. */
export async function queueRun(
  context: Context,
  site: FleetSite,
  jobs: QueuedJobs,
  begin: () => Promise<QueuedRun>,
): Promise<Exit> {
  const tenants = namesOf(site.here);
  // The queue first: a run that cannot be queued is not begun.
  return withQueue(context, site.fleet.states, async (queue) => {
    const begun = await begin();
    const added = await enqueue(queue, begun, { tenants, jobs });
    sayQueued(context, begun.run, { added, all: tenants.length });
    return exits.done;
  });
}

/**
 * A shard, or a worker, does not see when the others have ended a stage.
 * @param bundle absent where plans are made first
 * @param isQueued whether workers apply
 * @throws Refusal before anything is written
 */
export function refuseOrderInShards(
  { fleet, selected, shards }: FleetSite,
  { shard, select = '*', ...flags }: Flags,
  bundle?: string,
  isQueued = false,
): void {
  const stages = isQueued || shards > 1 ? stagesOf(fleet, selected) : [];
  if (stages.length < 2) return;
  const first = [select, fleet.order[0]!.select].filter((one) => one !== '*').join();
  const stage = [
    'trueup fleet apply',
    ...(bundle === undefined ? [] : [pathWord(bundle)]),
    ...otherWords('fleet apply', {
      ...flags,
      ...(first !== '' && { select: first }),
      ...(isQueued ? {} : defined({ shard })),
    }),
  ].join(' ');
  const advice = `Apply one stage after the other, as in: ${stage}`;
  refuse(
    'order-in-shards',
    `\`order\` has ${stages.length} stages for these tenants, and a ${isQueued ? 'worker' : 'shard'} cannot wait for the others to finish a stage.`,
    {
      detail: isQueued
        ? advice
        : `${advice}\nOr apply without shards. If the CI system sets a shard, add --shard 1/1`,
      origin: fleet.order[0]!.origin,
    },
  );
}

/** A shard sees no plan of another one. @param inPods whether the shards are to be pods, which plan for themselves @throws Refusal where an apply without a bundle has a limit over tenants */
export function refuseLimitsInShards(
  { fleet: { stop }, selected, shards }: FleetSite,
  flags: Flags,
  policies: readonly ProjectPolicy[],
  inPods = false,
): void {
  if (shards < 2) return;
  const { changed_tenants: most = Infinity } = stop;
  const isLimited = selected.length > most;
  const policy = policies.find(
    ({ name, scope, severity, allow }) =>
      scope === 'fleet' && severity === 'error' && !(allow && flags.allow?.includes(name)),
  );
  if (!isLimited && !policy) return;
  refuse(
    'limits-in-shards',
    isLimited
      ? `\`stop.changed_tenants\` is ${most}, and a shard does not know how many tenants the others would change.`
      : `The policy ${policy?.name} names \`fleet\`, and a shard does not know the plans of the others.`,
    {
      detail: `${inPods ? 'Use --shards 1, or apply' : 'Apply'} a bundle, which holds all plans. ${bundledWords(flags, inPods)}`,
      ...defined({ origin: isLimited ? undefined : policy?.origin }),
    },
  );
}

/** What to type to apply a bundle of all tenants in shards, or with workers. */
function bundledWords({ run, allow, autoApprove: _, ...flags }: Flags, inPods: boolean): string {
  const plan = otherWords('fleet plan', { ...flags, ...defined({ allow }), shard: '1/1' });
  // The bundle holds what was selected and allowed.
  const { select: __, changedSince: ___, ...rest } = { ...flags, ...defined({ run }) };
  const apply = inPods ? ['--engine pgboss'] : otherWords('fleet apply', rest);
  return [
    `In one job: ${['trueup fleet plan --out change.bundle', ...plan].join(' ')}`,
    `and then${inPods ? '' : ', in each shard,'} type \`${['trueup fleet apply change.bundle', ...apply].join(' ')}\`.`,
  ].join('\n');
}
