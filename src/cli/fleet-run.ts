// Runs the tenants of a fleet in lanes: each in a context of its own, with its result, its line and its messages. What
// happens to one tenant is its result, and ends no other.
import {
  errorDiagnostic,
  defined,
  digest,
  exits,
  forEachLimited,
  note,
  reasonIn,
  refuse,
  warning,
  worst,
  type Diagnostic,
  type DriftDocument,
  type Exit,
  type FleetCommand,
  type FleetDocument,
  type Outcome,
  type PlanDocument,
  type PlanFile,
  type TenantEntry,
  type TenantResult,
  type TenantStatus,
  type TypedWith,
} from '../model/index.js';
import { hasFailed, laneCount, stagesOf, stopping } from '../fleet/lanes.js';
import {
  entryOf,
  isFinal,
  mergedReport,
  statusOf,
  withoutResult,
  type RunStop,
} from '../fleet/merge.js';
import { repeatedLanes } from '../fleet/repeated-lanes.js';
import { namesOf, type Tenant } from '../fleet/tenant.js';
import { commandOutput } from '../platform/command-output.js';
import type { FleetFormat } from '../report/formats.js';
import { driftFigures, planFigures, withWrites } from '../report/fleet-figures.js';
import { fleetSentence, tenantLine, tenantMessages, writesText } from '../report/fleet-text.js';
import { allBriefly } from '../report/brief-diagnostics.js';
import { plural, type Again } from '../report/words.js';
import type { FleetNdjson } from '../report/fleet-ndjson.js';
import type { BundledTenant } from '../state/plan-bundle.js';
import { caughtError } from './caught-error.js';
import type { Flags } from './command-table.js';
import type { Context, Exchanges } from './context.js';
import { completeMessages, withCommands } from './commands-to-type.js';
import { fleetWatch, type FleetWatch } from './show-fleet-progress.js';
import {
  processesWith,
  tenantContext,
  type FleetSite,
  type TenantContext,
} from './fleet-context.js';
import { withOwnSignal } from './derived-abort-signal.js';
import { RESULTS_AT_ONCE, type RunRecords } from './fleet-results.js';
import { blocksOf, writeReports, type Forms } from './report-flags.js';
import type { TenantPages } from './tenant-pages.js';
import { setFleetFlags } from './v8-flags.js';
import { madeBy, version } from './version.js';

/** What became of one tenant. */
export interface TenantOutcome {
  readonly exit: Exit;
  /** As in `TenantResult`. */
  readonly digest: string;
  readonly document?: PlanDocument | DriftDocument;
  readonly outcomes?: readonly Outcome[];
  /** Where there is no document. */
  readonly summary?: string;
  /** Why nothing was begun; said before, with all of the document. */
  readonly diagnostics?: readonly Diagnostic[];
  /** To be applied later. */
  readonly plan?: PlanFile;
  /** Of a saved plan. */
  readonly again?: Again;
  /** It was done before, in the same run. */
  readonly before?: TenantResult;
}

export interface FleetForms extends Forms<FleetFormat> {
  /** Absent where another job of the same command has them. */
  readonly pages?: TenantPages | undefined;
  /** Present where stdout carries events. */
  readonly events?: FleetNdjson;
}

export type TenantWork = (context: Context, tenant: Tenant) => Promise<TenantOutcome>;

/** What is done with each tenant. */
export interface TenantTask {
  readonly command: FleetCommand;
  readonly flags: Flags;
  /** What is known before credentials are asked for: then there is no work. */
  readonly known?: (
    tenant: Tenant,
    offline: () => Promise<Context>,
  ) => Promise<TenantOutcome | undefined>;
  readonly work: TenantWork;
  /** Credentials are not asked for. */
  readonly offline?: boolean;
  /** The command to type once what failed is fixed. */
  readonly again?: string;
}

interface RunTask extends TenantTask {
  readonly run: string;
  /** Absent where no results are kept. */
  readonly records?: RunRecords | undefined;
}

export interface FleetJob extends RunTask {
  /** How each tenant is shown when it ends. */
  readonly forms: FleetForms;
  /** What was printed before. */
  readonly told?: FleetEnd['entries'];
  /** Whether a stage has to succeed, and to wait, before the next one begins. */
  readonly staged?: boolean;
}

export interface FleetEnd {
  readonly entries: ReadonlyMap<string, TenantEntry>;
  readonly outcomes: ReadonlyMap<string, TenantOutcome>;
  readonly stops: readonly RunStop[];
}

/** Runs a job for every tenant of this process. */
export async function runFleet(
  context: Context,
  site: FleetSite,
  job: FleetJob,
): Promise<FleetEnd> {
  const { signal, clock } = context;
  setFleetFlags();
  const { limitersByKey } = await import('../client/rate-limit.js');
  const shared = { limiter: limitersByKey(clock), lanes: laneCount(site.fleet.concurrency) };
  const stop = stopping(site.fleet.stop);
  const entries = new Map<string, TenantEntry>();
  const outcomes = new Map<string, TenantOutcome>();
  /** Times at which tenants were applied. */
  const changed = new Map<string, number>();
  const stages = stagesOf(site.fleet, site.here);
  const watch = fleetWatch(context, { ...job, ...job.forms }, site.here.length);
  const print = linesInOrder(
    { context, watch },
    stages.flatMap(({ tenants }) => tenants.map(({ name }) => name)),
    job,
  );
  let reason: string | undefined;
  const mayStart = (): boolean => !signal.aborted && (reason ??= stop.reason()) === undefined;
  const work = async (tenant: Tenant): Promise<void> => {
    const status = watch.begin(tenant.name);
    const { result, outcome } = await runTenant(context, site, tenant, { job, shared, status });
    if (outcome) outcomes.set(tenant.name, withoutDocument(outcome));
    await job.forms.pages?.add(result);
    entries.set(tenant.name, entryOf(result));
    if (result.status === 'applied') changed.set(tenant.name, Date.parse(result.ended_at));
    if (result.exit !== null && !outcome?.before) stop.ended(result.exit);
    watch.end(entryOf(result), !outcome?.before);
    await print(entryOf(result));
  };
  const running = repeatedLanes({ lanes: shared.lanes.lanes, mayStart, work });
  for (const [index, { tenants, wait }] of stages.entries()) {
    if (!mayStart()) break;
    await running.pass(new Map(tenants.map((one) => [one.name, one])));
    if (job.staged !== true || index === stages.length - 1 || signal.aborted) continue;
    const open = tenants.find(({ name }) => entries.get(name)?.exit !== exits.done);
    if (open) reason ??= `${open.name}, in an earlier stage, was not applied (\`order\`)`;
    else {
      const times = tenants.flatMap(({ name }) => changed.get(name) ?? []);
      await waitAfter(context, times, wait);
    }
  }
  const left = site.here.filter(({ name }) => !entries.has(name));
  const stops = stopsOf(context, left.length > 0 ? `Stopped: ${reason ?? 'an error'}.` : undefined);
  const why = reasonIn(stops[0]?.diagnostics ?? [])?.summary ?? '';
  await forEachLimited(left, RESULTS_AT_ONCE, async ({ name }) => {
    const entry = withoutResult(name, 'not-run', why);
    entries.set(name, await keepEntry(context, job, entry));
  });
  for (const { name } of left) {
    watch.end(entries.get(name)!, false);
    await print(entries.get(name)!);
  }
  watch.close();
  return { entries, outcomes, stops };
}

/** A signal counts before anything else that stopped a run. */
export function stopsOf(
  { signal }: Pick<Context, 'signal'>,
  summary: string | undefined,
): readonly RunStop[] {
  if (!signal.aborted)
    return summary === undefined
      ? []
      : [{ exit: exits.error, diagnostics: [errorDiagnostic('stopped', summary)] }];
  const isTerm = signal.reason instanceof Error && signal.reason.message === 'SIGTERM';
  const exit = isTerm ? exits.terminated : exits.interrupted;
  return [{ exit, diagnostics: [errorDiagnostic('interrupted', 'The run was interrupted.')] }];
}

/** Stores what is to be said of a tenant that was not begun. */
export const keepEntry = async (
  context: Pick<Context, 'clock'>,
  job: Pick<FleetJob, 'run' | 'command' | 'records'>,
  entry: TenantEntry,
): Promise<TenantEntry> => entryOf(await stored(job, resultOfEntry(context, job, entry)));

/** The result of a tenant that was not begun: with no digest, so that a resumed run begins it. */
export function resultOfEntry(
  { clock }: Pick<Context, 'clock'>,
  { run, command }: Pick<FleetJob, 'run' | 'command'>,
  entry: TenantEntry,
): TenantResult {
  const ended = clock.now();
  const started = ended - (entry.elapsed_seconds ?? 0) * 1000;
  return {
    format_version: '1.0',
    trueup_version: version,
    run,
    command,
    digest: '',
    attempt: 1,
    started_at: new Date(started).toISOString(),
    ended_at: new Date(ended).toISOString(),
    document: null,
    outcomes: [],
    ...entry,
  };
}

/** Documents are stored with the result; thousands of them do not fit into memory. */
function withoutDocument(outcome: TenantOutcome): TenantOutcome {
  if (hasFailed(outcome.exit) && !outcome.plan) return outcome;
  const { document: _, ...rest } = outcome;
  return rest;
}

/** A resumed run waits for what is left of the time. @param changed times, none where no tenant was changed */
async function waitAfter(
  { err, signal, clock }: Context,
  changed: readonly number[],
  wait: number,
): Promise<void> {
  const left = Math.max(...changed) + wait - clock.now();
  if (!(left > 0)) return;
  err.write(`The next stage begins at ${new Date(clock.now() + left).toISOString()}.\n`);
  await clock.sleep(left, signal).catch(() => undefined);
}

/** Each once: a command tells some of what its document holds, too. */
const distinct = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] => [
  ...new Map(diagnostics.map((one) => [digest(one), one])).values(),
];

/** Prints the lines of tenants in their order, each as soon as those before it are there. */
function linesInOrder(
  { context, watch }: { readonly context: Context; readonly watch: FleetWatch },
  names: readonly string[],
  { forms, told, run, records }: Pick<FleetJob, 'forms' | 'told' | 'run' | 'records'>,
) {
  const all = records ? `trueup fleet report ${run} --format json` : '--format json';
  const ready = new Map<string, TenantEntry>();
  const messages = tenantMessages();
  let next = 0;
  return async (entry: TenantEntry): Promise<void> => {
    ready.set(entry.tenant, entry);
    for (;;) {
      const one = ready.get(names[next] ?? '');
      if (!one) return;
      // Before anything is awaited: another tenant may end meanwhile.
      next += 1;
      if (forms.shown === 'text') {
        watch.hide();
        context.out.write(`${tenantLine(one)}\n`);
      }
      const before = told?.get(one.tenant)?.diagnostics ?? [];
      const fresh = distinct([...before, ...one.diagnostics]).slice(before.length);
      const shown = messages.of(one.tenant, allBriefly(fresh, all));
      await context.tell(next === names.length ? [...shown, ...messages.rest()] : shown);
    }
  };
}

export interface TenantRun {
  readonly job: RunTask;
  readonly shared: {
    readonly limiter: Exchanges['limiterOf'];
    readonly lanes: ReturnType<typeof laneCount>;
  };
  /** Takes its progress line. */
  readonly status?: ReturnType<FleetWatch['begin']>;
}

interface TenantEnd {
  readonly result: TenantResult;
  readonly outcome?: TenantOutcome;
}

/** Runs one tenant; whatever happens to it is its result. */
export const runTenant = (
  context: Context,
  site: FleetSite,
  tenant: Tenant,
  run: TenantRun,
): Promise<TenantEnd> =>
  withOwnSignal(context.signal, (signal) => runIn({ ...context, signal }, site, tenant, run));

async function runIn(
  parent: Context,
  site: FleetSite,
  tenant: Tenant,
  { job, shared, status }: TenantRun,
): Promise<TenantEnd> {
  const started_at = new Date(parent.clock.now()).toISOString();
  const { exchanges, seen, failing } = exchangesOf(site, tenant, shared);
  const ports = { flags: job.flags, exchanges, status };
  let own: TenantContext | undefined;
  let outcome: TenantOutcome | undefined;
  let error: ReturnType<typeof caughtError> | undefined;
  try {
    const offline = () => tenantContext(parent, site, tenant, ports);
    outcome = await job.known?.(tenant, async () => (await offline()).context);
    if (!outcome) {
      own = job.offline
        ? await offline()
        : await tenantContext(parent, site, tenant, { ...ports, output: commandOutput });
      outcome = await job.work(own.context, tenant);
    }
  } catch (thrown) {
    error = failureOf(parent, thrown);
  }
  if (outcome?.before) return { result: outcome.before, outcome };
  const exit = outcome?.exit ?? error?.exit ?? exits.error;
  for (const origin of seen) shared.lanes.ended(origin, hasFailed(exit) && failing.has(origin));
  const failed = error?.diagnostics ?? [];
  const unplanned = job.again !== undefined && hasFailed(exit) && !parent.signal.aborted;
  const nothing = 'Nothing is changed: there is no plan.';
  const remedy = unplanned ? [warning('no-plan', nothing, `Once that is fixed: ${job.again}`)] : [];
  // In the words of the tenant, and with what only its context masks.
  await own?.context.tell([...failed, ...remedy]);
  const said = own?.told ?? withCommands([...failed, ...remedy], parent.said);
  const complaints = complaintsOf(outcome).map((one) => own?.inItsWords(one) ?? one);
  const diagnostics = distinct([...said, ...complaints]);
  const result = resultOf(tenant, { exit, outcome, diagnostics, job });
  const whole = {
    ...result,
    started_at,
    ended_at: new Date(parent.clock.now()).toISOString(),
    ...defined({ typed_with: own?.typedWith() }),
  };
  const told = parent.signal.aborted ? withInterruption(whole) : whole;
  return { result: await stored(job, told), ...defined({ outcome }) };
}

/** Why a cancelled run aborts the signal of its tenants. */
export const CANCELLED = new Error('cancelled');

/** Nothing is said of a tenant that a signal interrupted. */
function failureOf({ signal }: Context, thrown: unknown): ReturnType<typeof caughtError> {
  if (!signal.aborted || thrown !== signal.reason) return caughtError(thrown);
  const summary =
    thrown === CANCELLED ? 'The run was cancelled.' : 'It was interrupted by a signal.';
  return { diagnostics: [note('interrupted', summary)], exit: exits.interrupted };
}

/** The result of an interrupted run: an apply that was cut off tells what it wrote, and not why it ended. */
function withInterruption(result: TenantResult): TenantResult {
  const { outcomes, diagnostics } = result;
  const isCutOff =
    diagnostics.some(({ code }) => code === 'interrupted') ||
    outcomes.some(({ outcome }) => outcome === 'skipped' || outcome === 'unknown');
  return isCutOff ? { ...result, exit: exits.interrupted, status: 'interrupted' } : result;
}

/** A result that cannot be stored is an error of its tenant: its report would miss it. */
async function stored(
  { records }: Pick<FleetJob, 'records'>,
  result: TenantResult,
): Promise<TenantResult> {
  try {
    return (await records?.write(result)) ?? result;
  } catch (error) {
    const { diagnostics, exit } = caughtError(error);
    const worse = worst([exit, result.exit ?? exits.error]);
    return { ...result, exit: worse, diagnostics: [...result.diagnostics, ...diagnostics] };
  }
}

/** What a tenant shares with others, and which origins failed it last. */
function exchangesOf(site: FleetSite, tenant: Tenant, { limiter, lanes }: TenantRun['shared']) {
  const seen = new Set<string>();
  const failing = new Set<string>();
  const share = processesWith(tenant, site);
  const exchanges: Exchanges = {
    limiterOf: (credential, perMinute) =>
      limiter(credential, perMinute === undefined ? undefined : rateOf(perMinute, share)),
    mayRepeat: lanes.mayRepeat,
    responded(origin, status) {
      lanes.responded(origin, status !== 0);
      seen.add(origin);
      if (status === 0 || status >= 500) failing.add(origin);
      else failing.delete(origin);
    },
  };
  return { exchanges, seen, failing };
}

/** What one process may send in a minute. @throws Refusal where there would be less than one request for each */
export function rateOf(perMinute: number, processes: number): number {
  if (perMinute >= processes) return Math.floor(perMinute / processes);
  return refuse(
    'rate-too-low',
    `${processes} processes share a key that may send ${plural(perMinute, 'request')} a minute`,
    { detail: 'Start fewer shards or workers, or raise `requests_per_minute`.' },
  );
}

function complaintsOf(outcome: TenantOutcome | undefined): readonly Diagnostic[] {
  const { document, outcomes = [], diagnostics, again } = outcome ?? {};
  if (diagnostics) return diagnostics;
  if (!document) return [];
  return [
    ...document.diagnostics,
    ...('policy' in document ? blocksOf(document, { again }).map(withNote(document)) : []),
    ...outcomes.flatMap(({ address, diagnostic }) =>
      diagnostic ? [{ address, ...diagnostic }] : [],
    ),
  ];
}

/** The notes of a tenant are not shown: the error of a rule holds what the note of that rule advises. */
const withNote =
  ({ diagnostics }: PlanDocument) =>
  (block: Diagnostic): Diagnostic => {
    const note = diagnostics.find(({ code }) => code === block.code);
    const detail = [note?.detail ?? [], block.detail ?? []].flat().join('\n');
    return { ...block, ...(detail !== '' && { detail }) };
  };

interface Told {
  readonly exit: Exit;
  readonly outcome: TenantOutcome | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly job: Pick<FleetJob, 'run' | 'command'>;
}

/** Exit codes of tenants whose plans are saved. */
const statuses: Readonly<Partial<Record<TenantStatus, Exit>>> = {
  changes: exits.changes,
  blocked: exits.blocked,
};

interface SavedRun {
  readonly run: string;
  readonly document: PlanDocument | null;
  readonly again: Again;
  readonly typed_with: TypedWith | undefined;
}

/** A tenant whose plan was saved, as the run that made the plan reports it. */
export function savedEntry(
  { tenant, status }: BundledTenant,
  { run, document, again, typed_with }: SavedRun,
): TenantEntry {
  if (!document) return { ...withoutResult(tenant, 'failed', 'There is no plan.'), status };
  const exit = statuses[status] ?? exits.done;
  const outcome = { exit, digest: '', document, again };
  const complaints = complaintsOf(outcome);
  const diagnostics = typed_with ? completeMessages(complaints, typed_with) : complaints;
  const job = { command: 'plan', run } as const;
  const result = resultOf({ name: tenant, labels: {} }, { exit, outcome, diagnostics, job });
  return entryOf({ ...result, started_at: '', ended_at: '' });
}

function resultOf(
  { name, labels }: Pick<Tenant, 'name' | 'labels'>,
  { exit, outcome, diagnostics, job }: Told,
): Omit<TenantResult, 'started_at' | 'ended_at'> {
  const { document, outcomes = [], digest: of = '' } = outcome ?? {};
  const applied = outcomes.some((one) => one.outcome === 'done');
  const { run, command } = job;
  const status = statusOf(command, exit, applied);
  const figures = document && figuresOf(document, { command, status, outcomes });
  const first = diagnostics.find(({ severity }) => severity === 'error');
  return {
    format_version: '1.0',
    trueup_version: version,
    run,
    command,
    tenant: name,
    labels,
    digest: of,
    attempt: 1,
    exit,
    status,
    summary:
      (hasFailed(exit) && first?.summary) ||
      (figures?.summary ?? outcome?.summary ?? reasonIn(diagnostics)?.summary ?? ''),
    kinds: figures?.kinds ?? {},
    changes: figures?.changes ?? [],
    requests: figures?.requests ?? 0,
    diagnostics: diagnostics.filter(({ severity }) => severity !== 'info'),
    document: document ?? null,
    outcomes,
  };
}

/** A plan that cannot be applied as it is, such as one that is blocked, would write nothing. */
function figuresOf(
  document: PlanDocument | DriftDocument,
  { command, status, outcomes }: Pick<TenantResult, 'command' | 'status' | 'outcomes'>,
) {
  if (!('resource_changes' in document)) return driftFigures(document);
  const figures = planFigures(document, outcomes);
  if (command !== 'apply' && status !== 'changes') return figures;
  const sent = command === 'apply' ? outcomes : undefined;
  return { ...figures, kinds: withWrites(figures.kinds, document, sent) };
}

/** The result of an earlier process of the run, if it stands and is of the same. */
export async function doneBefore(
  records: RunRecords | undefined,
  tenant: string,
  of: string,
): Promise<TenantResult | undefined> {
  const last = await records?.last(tenant);
  return last && last.digest === of && isFinal(last) ? last : undefined;
}

/** Keeps why the run stopped, and delivers the merged report. @returns the exit code of the run */
export async function concludeFleet(
  context: Context,
  { here }: Pick<FleetSite, 'here'>,
  { forms, ...job }: Pick<FleetJob, 'run' | 'command' | 'records' | 'forms'>,
  { entries, stops }: Omit<FleetEnd, 'outcomes'>,
): Promise<Exit> {
  const tenants = namesOf(here);
  const unkept = await keptOrNot(context, () => job.records?.end({ tenants, stops }));
  const run = { ...job, tenants };
  const document = mergedReport(run, entries, madeBy(context), [...stops, ...unkept]);
  if (forms.shown === 'text')
    context.out.write(`\n${writesText(document)}${fleetSentence(document)}\n`);
  if (forms.events) context.out.write(forms.events.end(document));
  return deliverFleet(context, forms, document);
}

/** A reason that cannot be stored is an error of the run. */
async function keptOrNot(
  { tell }: Context,
  keep: () => Promise<void> | undefined,
): Promise<readonly RunStop[]> {
  try {
    await keep();
    return [];
  } catch (error) {
    const caught = caughtError(error);
    await tell(caught.diagnostics);
    return [caught];
  }
}

/** Text was printed line by line already, where it is asked for. */
export async function deliverFleet(
  context: Context,
  forms: FleetForms,
  document: FleetDocument,
): Promise<Exit> {
  const { renderFleet } = await import('../report/render.js');
  if (forms.shown !== 'text' && !forms.events)
    context.out.write(renderFleet(document, forms.shown, context.out.style));
  const { pages } = forms;
  const problems = pages?.problems ?? [];
  await context.tell(problems);
  const written = await writeReports(context, forms, (format, style, path = '') =>
    renderFleet(document, format, { ...style, ...pages?.links(path) }),
  );
  const { exit } = document;
  const silent = exit === exits.changes && !context.flags.detailedExitcode;
  return worst([problems.length > 0 ? exits.error : written, silent ? exits.done : exit]);
}
