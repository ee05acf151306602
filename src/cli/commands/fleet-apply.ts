// `trueup fleet apply`: applies a bundle as it was reviewed, here or by workers; or plans, shows that, asks, and applies.
import { otherWords } from '../commands-to-type.js';
import { resolve } from 'node:path';
import { entryOf, mergedReport, withoutResult, type RunStop } from '../../fleet/merge.js';
import { namesOf, type Tenant } from '../../fleet/tenant.js';
import {
  defined,
  exits,
  firstNamed,
  forEachLimited,
  note,
  reasonIn,
  refuse,
  sha256,
  worst,
  type Exit,
  type QueuedJobs,
  type TenantEntry,
} from '../../model/index.js';
import type { Bundle } from '../../state/plan-bundle.js';
import { writesText } from '../../report/fleet-text.js';
import { plural } from '../../report/words.js';
import { refuseStalePlan } from '../saved-plan.js';
import { agrees, notApproved, wholeNumber, type Command, type Context } from '../context.js';
import { bundleAt, bundleOf, isBlocking, judged } from '../fleet-bundle.js';
import {
  begun,
  formsHere,
  queueRun,
  refuseLimitsInShards,
  refuseOrderInShards,
  sharedPlaces,
  tenantFlags,
} from '../fleet-command.js';
import { fleetHere, type FleetSite } from '../fleet-context.js';
import { bundleKey, jobsAsked, queueWords, refuseShards } from '../fleet-queue.js';
import { RESULTS_AT_ONCE } from '../fleet-results.js';
import {
  concludeFleet,
  doneBefore,
  keepEntry,
  runFleet,
  stopsOf,
  type FleetEnd,
  type FleetForms,
  type FleetJob,
} from '../fleet-run.js';
import {
  applyOf,
  doneOffline,
  planned,
  unlessDone,
  type PlannedRun,
  type Plans,
} from '../fleet-tenant-work.js';
import { policiesHere, refuseUnknownAllow } from '../project-policies.js';
import { version } from '../version.js';

export const run: Command = async (context, [name]) => {
  const queued = jobsAsked(context, 'apply');
  if (queued && name === undefined)
    refuse(
      'usage',
      '--engine applies only a saved bundle, so that the changes can be reviewed first.',
      {
        detail: `Type: ${planWords(context)}\nand then \`trueup fleet apply change.bundle --engine pgboss${queueWords(context)}\`.`,
      },
    );
  const inputs = name === undefined ? [] : [resolve(context.cwd, name)];
  const forms = await formsHere(context, inputs);
  wholeNumber('--parallelism', context.flags.parallelism ?? '10', 1, 100);
  return name === undefined ? applyNow(context, forms) : applyBundle(context, name, forms);
};

/** Tenants that a message names. */
const NAMED = 10;

async function applyBundle(context: Context, name: string, forms: FleetForms): Promise<Exit> {
  const { flags, cwd } = context;
  const given = (['allow', 'var', 'env'] as const).find((flag) => flags[flag] !== undefined);
  if (given !== undefined)
    refuse('usage', `--${given} cannot be used with a bundle, which holds its own.`, {
      detail: `Leave it out, or plan again with \`--${given}\`.`,
    });
  const { bundle, again } = await bundleAt(context, resolve(cwd, name), name);
  const own = { ...context, flags: { ...flags, ...defined({ env: bundle.env ?? undefined }) } };
  const site = await fleetHere(own);
  const gone = bundle.tenants.find(
    ({ tenant }) => !site.fleet.tenants.some((one) => one.name === tenant),
  );
  if (gone)
    refuseStalePlan(
      `${name} holds a plan of ${gone.tenant}, which is no longer a tenant of the fleet.`,
      again,
    );
  const bundled = (tenants: readonly Tenant[]): readonly Tenant[] =>
    tenants.filter((one) => bundle.tenants.some(({ tenant }) => tenant === one.name));
  const narrowed = { ...site, selected: bundled(site.selected), here: bundled(site.here) };
  if (narrowed.selected.length === 0 && site.selected.length > 0 && bundle.tenants.length > 0)
    refuse('nothing-selected', `${name} holds no plan of the tenants that are selected.`, {
      detail: `It holds those of ${firstNamed(
        bundle.tenants.map(({ tenant }) => tenant),
        NAMED,
      )}. Nothing was changed.`,
    });
  const queued = jobsAsked(own, 'apply');
  if (bundle.tenants.length === 0) {
    await context.tell([note('empty-bundle', `${name} holds no plan: there is nothing to apply`)]);
    if (queued) return exits.done;
  }
  if (queued) return queueBundle(own, narrowed, queued, { bundle, name, again });
  return applyAll(own, narrowed, forms, { bundle, name, again });
}

/** Keeps the bundle where the workers reach it, as it was reviewed and as it was encrypted. */
async function queueBundle(
  context: Context,
  site: FleetSite,
  jobs: QueuedJobs,
  { bundle, name, again }: Pick<Plans, 'bundle' | 'name' | 'again'>,
): Promise<Exit> {
  refuseShards(site);
  refuseOrderInShards(site, context.flags, name, true);
  const { beyond } = await judged(context, site, bundle, again);
  await context.tell(beyond.flatMap(({ diagnostics }) => diagnostics));
  if (isBlocking(beyond)) return worst(beyond.map(({ exit }) => exit));
  const text = await context.files.read(resolve(context.cwd, name));
  const queued = { ...jobs, bundle: sha256(text) };
  return queueRun(context, site, queued, async () => {
    const [place] = await sharedPlaces(context, site.fleet.results);
    await place.create(bundleKey(queued.bundle), text);
    return begun(context, site, 'apply', { bundle: bundle.digest, queued });
  });
}

/** Plans every tenant, shows that, asks, and applies what was shown. */
async function applyNow(context: Context, forms: FleetForms): Promise<Exit> {
  const { flags, interactive, clock } = context;
  if (flags.identity !== undefined)
    refuse('usage', '--identity can be used only with a bundle.', {
      detail: 'For example: trueup fleet apply change.bundle --identity key.txt',
    });
  if (!flags.autoApprove && !interactive) {
    const apply = ['trueup fleet apply --auto-approve', ...otherWords('fleet apply', flags)];
    notApproved(
      `To do it without confirmation: ${apply.join(' ')}\nTo save the plans and review them first: ${planWords(context)}\nand then type \`trueup fleet apply change.bundle\`.`,
    );
  }
  const policies = await policiesHere(context);
  refuseUnknownAllow(context, policies);
  const site = await fleetHere(context);
  refuseOrderInShards(site, flags);
  refuseLimitsInShards(site, flags, policies);
  const { run, records } = await begun(context, site, 'apply');
  const again = resuming(context, run);
  const planning: FleetJob = {
    command: 'plan',
    run,
    flags: tenantFlags(context),
    forms: { ...forms, pages: undefined },
    again,
    known: doneOffline(site, records),
    work: unlessDone(site, records, planned(site, 'memory')),
  };
  const end = await runFleet(context, site, planning);
  // Where planning was stopped, nobody has seen what an apply would do.
  const now = { run, records, end };
  if ([...end.entries.values()].some(({ status }) => status === 'not-run'))
    return applyNothing(context, site, forms, { ...now, stops: end.stops });
  const { bundleIn } = await import('../../state/plan-bundle.js');
  const text = await bundleOf(context, site, run, end);
  const bundle = bundleIn(text, { path: 'the plans of this run', clock });
  return applyAll(context, site, forms, {
    bundle,
    name: 'the plan',
    again: () => `again: ${again}`,
    now,
  });
}

/** The command that saves the plans of the same tenants. */
const planWords = ({ flags: { run: _, ...flags } }: Context): string =>
  ['trueup fleet plan --out change.bundle', ...otherWords('fleet plan', flags)].join(' ');

/** The command that resumes a run. `--var` and `--env` are added where it is printed. */
const resuming = ({ flags }: Context, run: string): string => {
  const { run: _, ...typed } = flags;
  return ['trueup fleet apply --run', run, ...otherWords('fleet apply', typed)].join(' ');
};

interface NothingApplied extends Pick<PlannedRun, 'run' | 'records'> {
  readonly stops: readonly RunStop[];
  /** Present where the plans were made in this process. */
  readonly end?: FleetEnd | undefined;
  /** Present where they were saved. */
  readonly bundle?: Bundle;
}

/** Reports why no tenant was begun; what the planning says of a tenant without changes, and what was done before, stands. */
async function applyNothing(
  context: Context,
  site: FleetSite,
  forms: FleetForms,
  { run, records, stops, end, bundle }: NothingApplied,
): Promise<Exit> {
  const job = { command: 'apply', run, records, forms } as const;
  const names = namesOf(site.here);
  const summary =
    reasonIn(stops.find(({ exit }) => exit !== exits.done)?.diagnostics ?? [])?.summary ?? '';
  const saved = new Map(bundle?.tenants.map(({ tenant, plan }) => [tenant, plan]));
  const entries = new Map<string, TenantEntry>();
  await forEachLimited(names, RESULTS_AT_ONCE, async (name) => {
    const before =
      end?.outcomes.get(name)?.before ?? (await doneBefore(records, name, saved.get(name) ?? ''));
    const planning = end?.entries.get(name);
    const isOpen = !planning || planning.status === 'changes';
    const entry = isOpen ? withoutResult(name, 'not-run', summary) : planning;
    entries.set(name, before ? entryOf(before) : await keepEntry(context, job, entry));
  });
  for (const name of forms.events ? names : [])
    context.out.write(forms.events!.tenantEnd(entries.get(name)!, 'apply'));
  return concludeFleet(context, site, job, { entries, stops });
}

async function applyAll(
  context: Context,
  site: FleetSite,
  forms: FleetForms,
  plans: Plans,
): Promise<Exit> {
  const { flags, err } = context;
  const { bundle, name, now } = plans;
  refuseOrderInShards(site, flags, now ? undefined : name);
  const again = now ? undefined : plans.again;
  const { statuses, verdicts, beyond } = await judged(context, site, bundle, again);
  const { run, records } = now ?? (await begun(context, site, 'apply', { bundle: bundle.digest }));
  const nothing = (stops: readonly RunStop[]): Promise<Exit> =>
    applyNothing(context, site, forms, { run, records, stops, ...(now ?? { bundle }) });
  for (const { diagnostics } of beyond) await context.tell(diagnostics);
  if (isBlocking(beyond)) return nothing([...stopsOf(context, undefined), ...beyond]);
  if (context.signal.aborted) return nothing(stopsOf(context, undefined));
  const changing = [...statuses.values()].filter(({ status }) => status === 'changes').length;
  if (now && !flags.autoApprove && changing > 0) {
    const about = { trueup_version: version, generated_at: '' };
    const planned = { run: now.run, command: 'plan', tenants: namesOf(site.here) } as const;
    if (forms.shown === 'text')
      context.out.write(`\n${writesText(mergedReport(planned, now.end.entries, about))}`);
    const agreed = await agrees(context, `\nApply the plans of ${plural(changing, 'tenant')}?`);
    if (!agreed) {
      err.write('Nothing was changed.\n');
      return nothing(stopsOf(context, 'The plans were not agreed to.'));
    }
  }
  const job: FleetJob = {
    command: 'apply',
    run,
    records,
    flags: tenantFlags(context),
    staged: true,
    forms,
    ...(now && { told: now.end.entries }),
    ...applyOf(site, plans, records),
  };
  if (now && forms.shown === 'text') context.out.write('\n');
  const end = await runFleet(context, site, job);
  const stops = [...end.stops, ...verdicts];
  return concludeFleet(context, site, job, { ...end, stops });
}
