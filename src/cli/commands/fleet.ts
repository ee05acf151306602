// `trueup fleet …`: validate, plan, audit and apply the tenants of `trueup.fleet.yaml` in one process, and the report of
// a run. A tenant is planned and applied by the same code as a project.
import { resolve } from 'node:path';
import {
  defined,
  digest,
  exits,
  firstNamed,
  forEachLimited,
  refuse,
  Refusal,
  sha256,
  shellWord,
  warning,
  worst,
  type Exit,
  type FleetCommand,
  type FleetRun,
  type PlanFile,
  type Project,
  type QueuedJobs,
  type TenantEntry,
  type TenantResult,
} from '../../model/index.js';
import { hasFailed, stagesOf, tenantsAre } from '../../fleet/lanes.js';
import type { PlannedTenant } from '../../fleet/policy-input.js';
import { entryOf, isFinal, mergedReport, withoutResult, type RunStop } from '../../fleet/merge.js';
import { readFleet } from '../../fleet/fleet-file.js';
import { entryDigest, FLEET_FILE, type StopRules, type Tenant } from '../../fleet/tenant.js';
import { declarationFiles } from '../../platform/declaration-files.js';
import { planFigures, withWrites } from '../../report/fleet-figures.js';
import { fleetFormats } from '../../report/formats.js';
import { fleetText, writesText } from '../../report/fleet-text.js';
import { plural } from '../../report/words.js';
import type { Bundle } from '../../state/plan-bundle.js';
import { flagWords } from '../commands-to-type.js';
import { agrees, notApproved, wholeNumber, type Command, type Context } from '../context.js';
import { fleetHere, type FleetSite } from '../fleet-context.js';
import { fleetVerdicts } from '../fleet-policies.js';
import {
  bundleKey,
  enqueue,
  jobsAsked,
  refuseUnshared,
  refuseShards,
  sayQueued,
  sharedResults,
  withQueue,
  type QueuedRun,
} from '../fleet-queue.js';
import {
  checkedRun,
  resultPlaces,
  runRecords,
  type ResultPlace,
  type RunRecords,
} from '../fleet-results.js';
import {
  concludeFleet,
  deliverFleet,
  doneBefore,
  keepEntry,
  runFleet,
  stopsOf,
  type FleetEnd,
  type FleetForms,
  type FleetJob,
  type TenantOutcome,
  type TenantWork,
} from '../fleet-run.js';
import { checkFleetOutputs } from '../output-files.js';
import { identityOf } from '../plan-identity.js';
import { policiesHere, refuseUnknownAllow, withPolicies } from '../project-policies.js';
import { chosen, loadProject } from '../project.js';
import { formsOf, outputsOf } from '../report-flags.js';
import { audit } from '../run-audit.js';
import { auditWait } from '../state-location.js';
import { tenantPages } from '../tenant-pages.js';
import { version } from '../version.js';
import { planDocumentOf, requestOf, withProject } from '../working-context.js';
import { applyPlan, type Applied } from './apply.js';
import { protectionOf, refuseSecretVariables } from './plan.js';

const namesOf = (tenants: readonly Tenant[]): readonly string[] => tenants.map(({ name }) => name);

export const validate: Command = async (context) => {
  const forms = await formsHere(context);
  const site = await fleetHere(context);
  await policiesHere(context);
  const job: FleetJob = {
    command: 'validate',
    run: '',
    flags: tenantFlags(context),
    prints: forms.shown === 'text',
    events: forms.events,
    offline: true,
    work: async (own, { paths }) => {
      const project = await loadProject(own, paths, chosen(own), { checks: 'always' });
      refuseSettings(project);
      const summary = `Valid: ${plural(project.declarations.length, 'declaration')}.`;
      return { exit: exits.done, digest: project.digest, summary };
    },
  };
  const end = await runFleet(context, site, job);
  return concludeFleet(context, forms, job, { names: namesOf(site.here), ...end });
};

/** What a tenant cannot say by itself, because the fleet says it. @throws Refusal */
function refuseSettings({ settings }: Pick<Project, 'settings'>): void {
  if (settings.target === 'emulator')
    refuse('fleet-settings', '`settings.target: emulator` is one account for the whole folder.', {
      detail:
        'For tenants of a fleet: trueup emulator --tenant NAME, and the variables that it prints.',
      attribute: 'settings.target',
    });
  if (settings.state?.url !== undefined)
    refuse('fleet-settings', '`settings.state` names a state in a fleet, whose file names it.', {
      detail: 'Move it to `state` of the tenant, or of `defaults`, in trueup.fleet.yaml.',
      attribute: 'settings.state',
    });
}

async function formsHere(context: Context): Promise<FleetForms> {
  const forms = formsOf(context, fleetFormats);
  const out = context.flags.out;
  const saved = out === undefined ? [] : [{ flag: '--out', path: resolve(context.cwd, out) }];
  await checkFleetOutputs(context, [...saved, ...outputsOf(forms)]);
  const pages = await tenantPages(context, forms);
  if (forms.shown !== 'ndjson') return { ...forms, pages };
  const { fleetNdjson } = await import('../../report/fleet-ndjson.js');
  return { ...forms, pages, events: fleetNdjson(version, context.clock.now) };
}

interface RunContent {
  /** Digest of the bundle that it applies. */
  readonly bundle?: string;
  /** Where it is queued: then its results are where all workers reach them. */
  readonly queued?: QueuedJobs | undefined;
}

/** Begins a run, or goes on with the one of `--run`. */
export async function begun(
  context: Context,
  site: FleetSite,
  command: FleetCommand,
  { bundle, queued }: RunContent = {},
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
    ...defined({ queued }),
  };
  const places = await (queued
    ? sharedPlaces(context, site.fleet.results)
    : resultPlaces(context, site.fleet.results));
  for (const place of places) {
    const one = runRecords(place, run);
    const begun = await one.begin(record).catch(unlessDenied(context, places.at(-1) === place));
    if (begun === undefined) continue;
    return { run, place, records: begun ? one : { ...one, last: async () => undefined } };
  }
  throw new Error('the last place takes results, or refuses');
}

/** Without the right to write beside the states, results are kept on this machine. */
const unlessDenied =
  ({ tell }: Context, isLast: boolean) =>
  async (error: unknown): Promise<undefined> => {
    const denied = error instanceof Refusal && error.diagnostics[0]?.code === 'backend-denied';
    if (!denied || isLast) throw error;
    await tell([
      warning(
        'results-here',
        'Nothing may be written beside the states, so the results of this run are kept in .trueup/fleet on this machine.',
      ),
    ]);
  };

/** The flags that a tenant is planned and applied with. */
export const tenantFlags = ({ flags }: Context): FleetJob['flags'] =>
  defined({
    var: flags.var,
    allow: flags.allow,
    parallelism: flags.parallelism,
    lockWait: flags.lockWait,
    unmanaged: flags.unmanaged,
    autoApprove: true as const,
    // A result holds every warning.
    verbose: true as const,
  });

/** Where all workers of a queue reach them. @throws Refusal where there is no such place */
export async function sharedPlaces(
  context: Context,
  results: string | undefined,
): Promise<readonly [ResultPlace]> {
  const [place, folder] = await resultPlaces(context, sharedResults(results));
  return place && folder ? [place] : refuseUnshared();
}

/** Of what is run: an earlier result of the same run stands only if it is of the same. */
const runDigest = (context: Context, site: FleetSite, tenant: Tenant, project: Project): string =>
  digest([project.digest, entryDigest(tenant, site), ...(context.flags.allow ?? [])]);

const doneAlready = (before: TenantResult): TenantOutcome => ({
  exit: before.exit ?? exits.error,
  digest: before.digest,
  before,
});

/** The result that the run has already, as far as it can be told without credentials. */
const doneOffline =
  (site: FleetSite, records: RunRecords): NonNullable<FleetJob['known']> =>
  async (tenant, offline) => {
    const last = await records.last(tenant.name);
    if (!last || !isFinal(last)) return undefined;
    try {
      const own = await offline();
      const project = await loadProject(own, tenant.paths, chosen(own));
      return last.digest === runDigest(own, site, tenant, project) ? doneAlready(last) : undefined;
    } catch (error) {
      // The declarations may need what the credential command prints, or the work says what is wrong with them.
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  };

/** Does nothing where the run has a result already, of declarations that the credential command has a part in. */
const unlessDone =
  (site: FleetSite, records: RunRecords, work: TenantWork): TenantWork =>
  async (context, tenant) => {
    const last = await records.last(tenant.name);
    if (!last || !isFinal(last) || 'env_prefix' in tenant.credentials) return work(context, tenant);
    const project = await loadProject(context, tenant.paths, chosen(context));
    const of = runDigest(context, site, tenant, project);
    const before = await doneBefore(records, tenant.name, of);
    return before ? doneAlready(before) : work(context, tenant);
  };

/** Audits one tenant, as `trueup drift` does. */
export const auditedIn =
  (site: FleetSite): TenantWork =>
  (own, tenant) =>
    withProject(own, tenant.paths, async (place) => {
      refuseSettings(place.project);
      const { document, exit } = await audit(own, place);
      return { exit, document, digest: runDigest(own, site, tenant, place.project) };
    });

export const drift: Command = async (context) => {
  const queued = jobsAsked(context, 'drift');
  const forms = await formsHere(context);
  const site = await fleetHere(context);
  if (queued) {
    refuseShards(site);
    return queueRun(context, site, queued, () => begun(context, site, 'drift', { queued }));
  }
  const { run, records } = await begun(context, site, 'drift');
  const job: FleetJob = {
    run,
    records,
    prints: forms.shown === 'text',
    pages: forms.pages,
    events: forms.events,
    ...driftOf(context, site, records),
  };
  const end = await runFleet(context, site, job);
  return concludeFleet(context, forms, job, { names: namesOf(site.here), ...end });
};

/** Audits the tenants that the run has no result of, each while no other run does. */
export function driftOf(
  context: Context,
  site: FleetSite,
  records: RunRecords,
): Pick<FleetJob, 'command' | 'flags' | 'known' | 'work'> {
  const [audited, wait] = [auditedIn(site), auditWait(context)];
  return {
    command: 'drift',
    flags: tenantFlags(context),
    known: doneOffline(site, records),
    work: unlessDone(site, records, (own, tenant) =>
      records.alone(tenant.name, { signal: own.signal, wait }, (signal) =>
        audited({ ...own, signal }, tenant),
      ),
    ),
  };
}

/** Puts the tenants of a run into the queue, and says what to type next. */
async function queueRun(
  context: Context,
  site: FleetSite,
  jobs: QueuedJobs,
  begin: () => Promise<QueuedRun>,
): Promise<Exit> {
  const tenants = namesOf(site.here);
  // The queue first: a run that cannot be queued is not begun.
  return withQueue(context, site.fleet.results, async (queue) => {
    const begun = await begin();
    const added = await enqueue(queue, begun, { tenants, jobs });
    sayQueued(context, begun.run, { added, all: tenants.length });
    return exits.done;
  });
}

interface Planning {
  /** Milliseconds. */
  readonly lifetime?: number;
  /** Whether the plan is needed later: `memory` for this process, `file` for another one. */
  readonly saves: 'no' | 'memory' | 'file';
}

/** Plans one tenant, as `trueup plan` does. */
const planned =
  (site: FleetSite, { lifetime, saves }: Planning): TenantWork =>
  (own, tenant) =>
    withProject(own, tenant.paths, async (without): Promise<TenantOutcome> => {
      refuseSettings(without.project);
      if (saves === 'file') refuseSecretVariables(own, without);
      const place = await withPolicies(own, without);
      const { propose } = await import('../../reconciler/plan/propose.js');
      const { planFileOf } = await import('../../state/plan-file.js');
      const request = requestOf(own);
      const { plan, exit } = await propose(place.context, place.project, place.snapshot, request);
      const document = await planDocumentOf(own, place, plan, {
        snapshot: place.snapshot,
        keeps: 'all',
      });
      const options = {
        ...request,
        ...defined({ env: site.env }),
        variables: place.project.variables,
      };
      const isWhole = !plan.diagnostics.some(({ severity }) => severity === 'error');
      return {
        exit,
        document,
        digest: runDigest(own, site, tenant, place.project),
        ...(isWhole &&
          saves !== 'no' && {
            plan: planFileOf(own.clock, document, options, defined({ lifetime })),
          }),
      };
    });

export const plan: Command = async (context) => {
  const { flags, files, cwd, err } = context;
  const protection = await protectionOf(context);
  refuseUnknownAllow(context, await policiesHere(context));
  const forms = await formsHere(context);
  const site = await fleetHere(context);
  const { run, records } = await begun(context, site, 'plan');
  const saves = flags.out === undefined ? 'no' : 'file';
  const work = planned(site, { saves, ...defined({ lifetime: protection.lifetime }) });
  const job: FleetJob = {
    command: 'plan',
    run,
    records,
    flags: tenantFlags(context),
    prints: forms.shown === 'text',
    pages: forms.pages,
    events: forms.events,
    // A bundle needs every plan, also of what was planned before.
    ...(saves === 'file'
      ? { work }
      : { known: doneOffline(site, records), work: unlessDone(site, records, work) }),
  };
  const end = await runFleet(context, site, job);
  const verdicts = await fleetVerdicts(context, {
    tenants: () => [...end.entries.values()],
    allow: flags.allow ?? [],
  });
  const beyond = [...beyondLimits(site.fleet.stop, end.entries), ...verdicts];
  const exit = await concludeFleet(context, forms, job, {
    names: namesOf(site.here),
    entries: end.entries,
    stops: [...end.stops, ...beyond],
  });
  for (const { diagnostics } of beyond) await context.tell(diagnostics);
  if (flags.out === undefined) return exit;
  const { writeBundle } = await import('../../state/plan-bundle.js');
  const text = await bundleOf(context, site, run, end);
  await writeBundle({ path: resolve(cwd, flags.out), files }, text, protection);
  const identity = protection.recipients ? ' --identity FILE' : '';
  const isBlocked = isBlocking(beyond);
  err.write(
    isBlocked
      ? 'Saved. It is blocked as a whole: no tenant of it can be applied.\n'
      : `Saved. To apply it: trueup fleet apply ${shellWord(flags.out)}${identity}\n`,
  );
  return exit;
};

async function bundleOf(
  { clock, flags }: Context,
  site: FleetSite,
  run: string,
  { entries, outcomes }: FleetEnd,
): Promise<string> {
  const { bundleText } = await import('../../state/plan-bundle.js');
  const plans = new Map<string, PlanFile>();
  for (const { name } of site.here) {
    const one = outcomes.get(name)?.plan;
    if (one) plans.set(name, one);
  }
  return bundleText(
    {
      trueup_version: version,
      run,
      created_at: new Date(clock.now()).toISOString(),
      env: site.env ?? null,
      allow: flags.allow ?? [],
      tenants: site.here.map((tenant) => ({
        tenant: tenant.name,
        entry: entryDigest(tenant, site),
        status: entries.get(tenant.name)?.status ?? 'not-run',
        plan: plans.get(tenant.name)?.digest ?? null,
      })),
    },
    plans,
  );
}

/** Whether any of it is more than a note. */
const isBlocking = (stops: readonly RunStop[]): boolean =>
  stops.some(({ exit }) => exit !== exits.done);

/** The limits over tenants that the plans are beyond. */
function beyondLimits(
  { changed_tenants, blocked }: StopRules,
  entries: ReadonlyMap<string, Pick<TenantEntry, 'status'>>,
): readonly RunStop[] {
  const count = (wanted: string): number =>
    [...entries.values()].filter(({ status }) => status === wanted).length;
  const [changed, held] = [count('changes'), count('blocked')];
  const detail =
    'No tenant was changed. Select fewer tenants, or change `stop` in trueup.fleet.yaml.';
  const found: RunStop[] = [];
  const add = (code: string, summary: string): unknown =>
    found.push({
      exit: exits.blocked,
      diagnostics: [{ severity: 'error', code, summary, detail }],
    });
  if (changed_tenants !== undefined && changed > changed_tenants)
    add(
      'changed-tenants',
      `${changed} tenants would change, and \`stop.changed_tenants\` is ${changed_tenants}.`,
    );
  if (blocked !== undefined && held >= blocked)
    add('blocked-tenants', `${tenantsAre(held)} blocked, and \`stop.blocked\` is ${blocked}.`);
  return found;
}

export const apply: Command = async (context, [name]) => {
  const queued = jobsAsked(context, 'apply');
  if (queued && name === undefined)
    refuse(
      'usage',
      '--engine applies plans that were saved: of others nobody has seen what they change.',
      {
        detail:
          'Type: trueup fleet plan --out change.bundle\nand then `trueup fleet apply change.bundle --engine pgboss`.',
      },
    );
  const forms = await formsHere(context);
  wholeNumber('--parallelism', context.flags.parallelism ?? '10', 1, 100);
  return name === undefined ? applyNow(context, forms) : applyBundle(context, name, forms);
};

/** Tenants that a message names. */
const NAMED = 10;

async function applyBundle(context: Context, name: string, forms: FleetForms): Promise<Exit> {
  const { flags, files, clock, cwd } = context;
  const given = (['allow', 'var', 'env'] as const).find((flag) => flags[flag] !== undefined);
  if (given !== undefined)
    refuse('usage', `--${given} has no place beside a bundle, which holds its own.`, {
      detail: `Leave it out, or plan again: trueup fleet plan --${given} … --out ${shellWord(name)}`,
    });
  const { readBundle } = await import('../../state/plan-bundle.js');
  const path = resolve(cwd, name);
  const bundle = await readBundle({ path, files, clock }, identityOf(context));
  const own = { ...context, flags: { ...flags, ...defined({ env: bundle.env ?? undefined }) } };
  const site = await fleetHere(own);
  const gone = bundle.tenants.find(
    ({ tenant }) => !site.fleet.tenants.some((one) => one.name === tenant),
  );
  if (gone)
    refuse(
      'stale',
      `${name} holds a plan of ${gone.tenant}, which is no tenant of the fleet any more.`,
      {
        detail: `Nothing was changed. Make it again: trueup fleet plan --out ${shellWord(name)}`,
      },
      exits.stale,
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
  const again = `trueup fleet plan --out ${shellWord(name)}`;
  const queued = jobsAsked(own, 'apply');
  if (queued) return queueBundle(own, narrowed, queued, { bundle, path, again });
  return applyAll(own, narrowed, forms, { bundle, name, again });
}

/** Keeps the bundle where the workers reach it, as it was reviewed and as it was encrypted. */
async function queueBundle(
  context: Context,
  site: FleetSite,
  jobs: QueuedJobs,
  { bundle, path, again }: Pick<Plans, 'bundle' | 'again'> & { readonly path: string },
): Promise<Exit> {
  refuseShards(site);
  refuseOrderInShards(site, true);
  const { beyond } = await judged(context, site, { bundle, again });
  await context.tell(beyond.flatMap(({ diagnostics }) => diagnostics));
  if (isBlocking(beyond)) return worst(beyond.map(({ exit }) => exit));
  const text = await context.files.read(path);
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
    refuse('usage', '--identity has a meaning with a bundle only.', {
      detail: 'Type it as in: trueup fleet apply change.bundle --identity key.txt',
    });
  if (!flags.autoApprove && !interactive)
    notApproved(
      'To do it without being asked: trueup fleet apply --auto-approve\nTo save the plans and review them first: trueup fleet plan --out change.bundle\nand then type `trueup fleet apply change.bundle`.',
    );
  refuseUnknownAllow(context, await policiesHere(context));
  const site = await fleetHere(context);
  refuseOrderInShards(site);
  const { run, records } = await begun(context, site, 'apply');
  const again = resuming(context, run);
  const planning: FleetJob = {
    command: 'plan',
    run,
    flags: tenantFlags(context),
    prints: forms.shown === 'text',
    events: forms.events,
    again,
    known: doneOffline(site, records),
    work: unlessDone(site, records, planned(site, { saves: 'memory' })),
  };
  const end = await runFleet(context, site, planning);
  // Where planning was stopped, nobody has seen what an apply would do.
  const now = { run, records, end };
  if ([...end.entries.values()].some(({ status }) => status === 'not-run'))
    return applyNothing(context, site, forms, { now, stops: end.stops });
  const { bundleIn } = await import('../../state/plan-bundle.js');
  const text = await bundleOf(context, site, run, end);
  const bundle = bundleIn(text, { path: 'the plans of this run', clock });
  return applyAll(context, site, forms, {
    bundle,
    name: 'the plan',
    again,
    now,
  });
}

/** A shard, or a worker, does not see when the others have ended a stage. @throws Refusal before anything is written */
export function refuseOrderInShards({ fleet, selected, shards }: FleetSite, queued = false): void {
  const stages = queued || shards > 1 ? stagesOf(fleet, selected) : [];
  if (stages.length < 2) return;
  const select = `--select ${shellWord(fleet.order[0]!.select)}`;
  refuse(
    'order-in-shards',
    `\`order\` has ${stages.length} stages for these tenants, and a ${queued ? 'worker' : 'shard'} cannot wait for those of the others.`,
    {
      detail: queued
        ? `Apply one stage after the other, as in: trueup fleet apply BUNDLE --engine pgboss ${select}`
        : `Apply one stage after the other, as in: trueup fleet apply ${select}\nOr apply without shards; where the CI system names one: --shard 1/1`,
      origin: fleet.order[0]!.origin,
    },
  );
}

/** The command that resumes a run. `--var` and `--env` are added where it is printed. */
const resuming = ({ flags }: Context, run: string): string => {
  const { run: _, var: __, env: ___, ...typed } = flags;
  return ['trueup fleet apply --run', run, ...flagWords('fleet apply', typed)].join(' ');
};

interface Plans {
  readonly bundle: Bundle;
  /** For messages. */
  readonly name: string;
  /** The command that makes them again. */
  readonly again: string;
  /** Present where they were made in this process. */
  readonly now?: Planned;
}

interface Planned {
  readonly run: string;
  readonly records: RunRecords;
  readonly end: FleetEnd;
}

/** Reports why no tenant was begun; what the planning says of a tenant without changes stands. */
async function applyNothing(
  context: Context,
  site: FleetSite,
  forms: FleetForms,
  { now, stops }: { readonly now?: Planned | undefined; readonly stops: readonly RunStop[] },
): Promise<Exit> {
  const { run = '', records, end } = now ?? {};
  const job = { command: 'apply', run, records } as const;
  const names = namesOf(site.here);
  const summary = stops.find(({ exit }) => exit !== exits.done)?.diagnostics[0]?.summary ?? '';
  const entries = new Map<string, TenantEntry>();
  await forEachLimited(names, AT_ONCE, async (name) => {
    const planning = end?.entries.get(name);
    const isOpen = !planning || planning.status === 'changes';
    const entry = isOpen ? withoutResult(name, 'not-run', summary) : planning;
    const isKept = end?.outcomes.get(name)?.before !== undefined;
    entries.set(name, isKept ? entry : await keepEntry(context, job, entry));
  });
  for (const name of forms.events ? names : [])
    context.out.write(forms.events!.tenantEnd(entries.get(name)!, 'apply'));
  return concludeFleet(context, forms, job, { names, entries, stops });
}

async function applyAll(
  context: Context,
  site: FleetSite,
  forms: FleetForms,
  plans: Plans,
): Promise<Exit> {
  const { flags, err } = context;
  const { bundle, now } = plans;
  refuseOrderInShards(site);
  const nothing = (stops: readonly RunStop[]): Promise<Exit> =>
    applyNothing(context, site, forms, { now, stops });
  const again = now ? undefined : plans.again;
  const { statuses, verdicts, beyond } = await judged(context, site, { bundle, again });
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
  const { run, records } = now ?? (await begun(context, site, 'apply', { bundle: bundle.digest }));
  const job: FleetJob = {
    command: 'apply',
    run,
    records,
    flags: tenantFlags(context),
    staged: true,
    prints: forms.shown === 'text',
    pages: forms.pages,
    events: forms.events,
    ...(now && { told: now.end.entries }),
    ...applyOf(site, plans, records),
  };
  if (now && job.prints) context.out.write('\n');
  const end = await runFleet(context, site, job);
  const stops = [...end.stops, ...verdicts];
  return concludeFleet(context, forms, job, { names: namesOf(site.here), ...end, stops });
}

/** What limits over tenants, and policies of the fleet, say of the plans of a bundle: those of other shards, too. */
async function judged(
  context: Context,
  site: FleetSite,
  { bundle, again }: { readonly bundle: Bundle; readonly again: string | undefined },
) {
  const selected = new Set(namesOf(site.selected));
  const statuses = new Map(
    bundle.tenants.flatMap((one) => (selected.has(one.tenant) ? [[one.tenant, one]] : [])),
  );
  const verdicts = await fleetVerdicts(context, {
    tenants: () => plannedIn(site, bundle, selected),
    allow: bundle.allow ?? [],
    again,
  });
  return { statuses, verdicts, beyond: [...beyondLimits(site.fleet.stop, statuses), ...verdicts] };
}

/** The plans of a bundle, as policies of the fleet see them: each is read and left again. */
function plannedIn(
  { fleet }: Pick<FleetSite, 'fleet'>,
  bundle: Bundle,
  selected: ReadonlySet<string>,
): readonly PlannedTenant[] {
  const labels = new Map(fleet.tenants.map((one) => [one.name, one.labels]));
  return bundle.tenants
    .filter(({ tenant }) => selected.has(tenant))
    .map(({ tenant, status }) => {
      const document = status === 'changes' ? bundle.planOf(tenant)?.document : undefined;
      const kinds = document ? withWrites(planFigures(document, []).kinds, document) : {};
      return { tenant, status, kinds, labels: labels.get(tenant) ?? {} };
    });
}

/** Applies the plan of one tenant. */
export const applyOf = (
  site: FleetSite,
  plans: Plans,
  records: RunRecords,
): Pick<FleetJob, 'work'> & {
  readonly known: (tenant: Tenant) => Promise<TenantOutcome | undefined>;
} => ({
  known: (tenant) => knownOf(tenant, plans, records),
  work: (own, tenant) => appliedOne(own, site, tenant, plans),
});

/** What was done before, or could not be planned. @throws Refusal where a bundle has no plan */
async function knownOf(
  { name }: Tenant,
  { bundle, again, now }: Plans,
  records: RunRecords,
): Promise<TenantOutcome | undefined> {
  const planning = now?.end.outcomes.get(name);
  const entry = now?.end.entries.get(name);
  if (planning?.before || planning?.plan) return planning.before && planning;
  if (entry) {
    const { exit, summary, diagnostics } = entry;
    const code = exit ?? exits.error;
    // Nothing was begun: a resumed run plans again.
    const of = hasFailed(code) ? '' : (planning?.digest ?? '');
    const { document } = planning ?? {};
    return { exit: code, digest: of, summary, diagnostics, ...defined({ document }) };
  }
  const bundled = bundle.tenants.find(({ tenant }) => tenant === name);
  if (bundled?.plan) {
    const before = await doneBefore(records, name, bundled.plan);
    return before && doneAlready(before);
  }
  return refuse(
    'no-plan',
    `there is no plan of ${name}: when the plans were made, its status was \`${bundled?.status ?? 'missing'}\``,
    { detail: `Fix that, and plan again: ${again}` },
  );
}

async function appliedOne(
  own: Context,
  site: FleetSite,
  tenant: Tenant,
  { bundle, name, again, now }: Plans,
): Promise<TenantOutcome> {
  const bundled = bundle.tenants.find((one) => one.tenant === tenant.name);
  const file = bundle.planOf(tenant.name)!;
  const of = now?.end.outcomes.get(tenant.name)?.digest ?? file.digest;
  if (bundled?.entry !== entryDigest(tenant, site))
    refuse(
      'stale',
      `${name} is stale: the entry of ${tenant.name} in trueup.fleet.yaml is another one.`,
      {
        detail: `Nothing was changed. Make it again: ${again}`,
      },
      exits.stale,
    );
  if (isEmpty(file)) return { exit: exits.done, digest: of, document: file.document };
  let applied: Applied | undefined;
  const exit = await applyPlan(own, { name, again, file }, (one) => (applied = one));
  return {
    exit,
    digest: of,
    ...(applied && { document: applied.document, outcomes: applied.outcomes }),
  };
}

/** Whether an apply would do nothing, and record nothing. */
const isEmpty = ({ document }: PlanFile): boolean =>
  document.policy.every(({ verdict }) => verdict !== 'blocked') &&
  document.resource_drift.length === 0 &&
  document.resource_changes.every(
    ({ change, previous_address }) =>
      change.actions[0] === 'no-op' && !change.importing && previous_address === undefined,
  );

export const report: Command = async (context, [name = '']) => {
  const { clock, out } = context;
  const { events: _, ...forms } = await formsHere(context);
  const { run, records } = await runNamed(context, checkedRun(name));
  const entries = new Map<string, TenantEntry>();
  await forEachLimited(run.tenants, AT_ONCE, async (tenant) => {
    const entry = await storedEntry(records, tenant, forms.pages);
    if (entry) entries.set(tenant, entry);
  });
  const document = mergedReport(run, entries, {
    trueup_version: version,
    generated_at: new Date(clock.now()).toISOString(),
  });
  if (forms.shown === 'text') out.write(fleetText(document, out.style));
  return deliverFleet(context, forms, document);
};

/** A result that cannot be read is an error of its tenant. */
export async function storedEntry(
  records: RunRecords,
  tenant: string,
  pages?: FleetForms['pages'],
): Promise<TenantEntry | undefined> {
  try {
    const last = await records.last(tenant);
    if (last) await pages?.add(last).catch(unlessRefused);
    return last && entryOf(last);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { diagnostics, exit } = error;
    const summary = diagnostics[0]?.summary ?? '';
    return { ...withoutResult(tenant, 'failed', summary), exit, diagnostics };
  }
}

/** A document that no page can be made of was edited, or is of another version. */
function unlessRefused(error: unknown): never {
  if (error instanceof Refusal) throw error;
  return refuse('damaged-result', 'its result holds no plan and no audit that can be shown.', {
    detail: 'It was edited, or written by another version of trueup.',
  });
}

/** Results that are read at once. */
const AT_ONCE = 16;

/** @throws Refusal where there is no such run */
export async function runNamed(
  context: Context,
  name: string,
): Promise<{
  readonly run: FleetRun;
  readonly records: RunRecords;
  readonly place: ResultPlace;
  /** Where the fleet keeps results that all its machines reach. */
  readonly results: string | undefined;
}> {
  const { files, cwd } = { files: declarationFiles, cwd: context.cwd };
  // The results alone may have been brought here, without the fleet.
  const isFleet = files.stat(resolve(cwd, FLEET_FILE)) !== undefined;
  const results = isFleet ? (await readFleet({ files, cwd })).results : undefined;
  for (const place of await resultPlaces(context, results)) {
    const records = runRecords(place, name);
    const run = await records.run();
    if (run) return { run, records, place, results };
  }
  return refuse('no-run', `there is no run ${name}`, {
    detail:
      'A run is named in the last line of `trueup fleet plan`, `drift` and `apply`. Its results are in .trueup/fleet, or beside the states.',
  });
}
