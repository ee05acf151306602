// `trueup watch` in the folder of a fleet: every tenant is audited in each pass, as `fleet drift` does it, in the lanes of
// the fleet. A tenant that is slow keeps its lane, and the others are audited again at their time without it. No results
// are stored, and of each tenant a few figures are kept.
import {
  digest,
  exits,
  firstNamed,
  isGood,
  warning,
  type Diagnostic,
  type FleetDocument,
  type TenantEntry,
  type TenantResult,
} from '../../model/index.js';
import { laneCount } from '../../fleet/lanes.js';
import { entryOf, mergedReport, withoutResult } from '../../fleet/merge.js';
import { repeatedLanes } from '../../fleet/repeated-lanes.js';
import type { Tenant } from '../../fleet/tenant.js';
import { allBriefly } from '../../report/brief-diagnostics.js';
import { fleetErrors, fleetSentence, isWell, tenantDiagnostics } from '../../report/fleet-text.js';
import { changedIn } from '../../report/fleet-figures.js';
import {
  fleetWatchMetrics,
  worstWatched,
  type FleetWatchRecord,
  type WatchedTenant,
} from '../../report/fleet-watch-metrics.js';
import { plural } from '../../report/words.js';
import { AS_DECLARED, failedCycle, type AuditCycle, type RepeatedAudit } from '../audit-cycle.js';
import { wholeNumber, type Context, type Exchanges } from '../context.js';
import { fleetHere, type FleetSite } from '../fleet-context.js';
import { runTenant } from '../fleet-run.js';
import { ownController } from '../derived-abort-signal.js';
import { sayingOnce } from '../repeated-messages.js';
import { madeBy, version } from '../version.js';
import { tenantFlags } from '../fleet-command.js';
import { auditedIn } from '../fleet-tenant-work.js';

/** Tenants and errors that a line or a message names. */
const FEW = 3;
/** Messages of one audit that are printed. */
const MOST_SAID = 100;

/** What is kept of a tenant: its figures, and its last entry, without what only a report shows. */
interface Kept {
  readonly figures: WatchedTenant;
  readonly entry: TenantEntry;
  /** What its last audit said. */
  readonly said: ReadonlySet<string>;
}

/** What lives as long as the watch. */
interface WatchState {
  readonly kept: Map<string, Kept>;
  record: FleetWatchRecord;
  /** Of the pass that began last. */
  lanes: ReturnType<typeof laneCount>;
  site: FleetSite | undefined;
}

/** @param every milliseconds from one pass to the next */
export async function watchedFleet(context: Context, every: number): Promise<RepeatedAudit> {
  const { flags, clock, signal } = context;
  // Of a fleet, `auditTenant` says what shows all.
  context.toSeeAll = undefined;
  const most = wholeNumber('--metrics-tenants', flags.metricsTenants ?? '100', 0, 100_000);
  const { limitersByKey } = await import('../../client/rate-limit.js');
  // For as long as the watch runs: a rate holds over two passes, too.
  const limiter = limitersByKey(clock);
  const watchState: WatchState = {
    kept: new Map(),
    record: {
      startedAt: clock.now() / 1000,
      tenants: [],
      audits: { success: 0, failure: 0 },
      requests: 0,
      latePasses: 0,
    },
    lanes: laneCount(1),
    site: undefined,
  };
  const repeated = repeatedLanes<Tenant>({
    lanes: () => watchState.lanes.lanes(),
    mayStart: () => !signal.aborted,
    work: (tenant) => auditTenant(context, watchState, tenant, limiter),
  });
  const quiet = sayingOnce(context);
  return {
    // Where the fleet cannot be read, the next pass reads it again.
    cycle: () =>
      pass(quiet, watchState, repeated, every).catch((error: unknown) => failedCycle(quiet, error)),
    metrics: () => {
      const known = [...watchState.kept.values()].map(({ figures }) => figures);
      const others = (watchState.site?.here ?? []).filter(({ name }) => !watchState.kept.has(name));
      const tenants = [...known, ...others.map(({ name }) => unaudited(name))];
      return fleetWatchMetrics({ ...watchState.record, tenants }, most, version);
    },
    close: repeated.settled,
  };
}

async function auditTenant(
  context: Context,
  watchState: WatchState,
  tenant: Tenant,
  limiter: Exchanges['limiterOf'],
): Promise<void> {
  const { clock, signal, tell } = context;
  const site = watchState.site!;
  const job = {
    command: 'drift',
    run: '',
    flags: tenantFlags(context),
    work: auditedIn(site),
  } as const;
  const shared = { limiter, lanes: watchState.lanes };
  const { result } = await runTenant(context, site, tenant, { job, shared, status: undefined });
  if (signal.aborted) return;
  const before = watchState.kept.get(tenant.name);
  watchState.record = grown(watchState.record, result);
  watchState.kept.set(tenant.name, keptOf(result, before?.figures, clock.now() / 1000));
  const said = result.diagnostics.slice(0, MOST_SAID);
  const fresh = said.filter((one) => !before?.said.has(keyOf(one)));
  const shown = allBriefly(fresh, 'trueup fleet drift --format json');
  await tell(tenantDiagnostics(tenant.name, shown));
}

async function pass(
  context: Context,
  watchState: WatchState,
  repeated: ReturnType<typeof repeatedLanes<Tenant>>,
  every: number,
): Promise<AuditCycle> {
  const { clock, signal } = context;
  const begun = clock.monotonic();
  const before = watchState.record.requests;
  const site = await fleetHere(context);
  const tenants = new Map(site.here.map((one) => [one.name, one]));
  for (const name of watchState.kept.keys()) if (!tenants.has(name)) watchState.kept.delete(name);
  watchState.site = site;
  // Lanes that were lost because of an origin come back with the next pass.
  watchState.lanes = laneCount(site.fleet.concurrency);
  const over = ownController(signal);
  const open = await repeated.pass(
    tenants,
    clock.sleep(every, over.signal).catch(() => undefined),
  );
  over.release();
  over.abort(undefined);
  const document = reportOf([...tenants.keys()], watchState.kept, context);
  const end: PassEnd = {
    open,
    seconds: (clock.monotonic() - begun) / 1000,
    now: clock.now() / 1000,
    requests: watchState.record.requests - before,
  };
  watchState.record = ended(watchState.record, document, end);
  if (open.length > 0 && !signal.aborted)
    await context.tell([
      warning(
        'late-pass',
        `The pass takes longer than --every (${every / 1000} s): ${firstNamed(open, FEW)} ${open.length === 1 ? 'has' : 'have'} not ended.`,
        'The others are audited again at their time. Raise --every, or `concurrency` in trueup.fleet.yaml.',
      ),
    ]);
  const worst = worstWatched([...watchState.kept.values()].map(({ figures }) => figures));
  return cycleOf(document, worst, end);
}

/** Times and numbers, which a service may quote, make no other message. */
const keyOf = ({ code, address, origin }: Diagnostic): string =>
  [code, address, origin?.file, origin?.line].join(' ');

/** Whether an audit checked everything. */
const isWhole = ({ exit }: Pick<TenantEntry, 'exit'>): boolean => isGood(exit);

function grown(record: FleetWatchRecord, result: TenantResult): FleetWatchRecord {
  const { success, failure } = record.audits;
  return {
    ...record,
    requests: record.requests + result.requests,
    audits: isWhole(result) ? { success: success + 1, failure } : { success, failure: failure + 1 },
  };
}

/** A tenant whose first audit has not ended. */
const unaudited = (tenant: string): WatchedTenant => ({
  tenant,
  status: 'not-run',
  kinds: {},
  unmanaged: {},
  expectationsFailed: 0,
  lastSuccessAt: undefined,
});

/** An audit that could not judge drift leaves the figures of the one before. */
function keptOf(result: TenantResult, before: WatchedTenant | undefined, now: number): Kept {
  const { tenant, status, kinds, document } = result;
  const judged = document && 'drift' in document ? document : undefined;
  const { changes, diagnostics, ...entry } = entryOf(result);
  return {
    figures: {
      ...(before ?? unaudited(tenant)),
      status,
      ...(judged && {
        kinds,
        unmanaged: judged.unmanaged,
        expectationsFailed: judged.summary.expectations_failed,
      }),
      ...(isWhole(result) && { lastSuccessAt: now }),
    },
    entry: {
      ...entry,
      changes: changes.map(({ address, kind, action }) => ({ address, kind, action })),
      diagnostics: diagnostics.filter(({ severity }) => severity === 'error').slice(0, FEW),
    },
    said: new Set(diagnostics.slice(0, MOST_SAID).map(keyOf)),
  };
}

function reportOf(
  names: readonly string[],
  kept: ReadonlyMap<string, Kept>,
  context: Pick<Context, 'clock'>,
): FleetDocument {
  const entries = names.map(
    (name) =>
      kept.get(name)?.entry ?? withoutResult(name, 'not-run', 'Its first audit has not ended.'),
  );
  return mergedReport(
    { run: '', command: 'drift', tenants: names },
    new Map(entries.map((one) => [one.tenant, one])),
    madeBy(context),
  );
}

interface PassEnd {
  readonly open: readonly string[];
  /** How long it took. */
  readonly seconds: number;
  /** Seconds since 1970. */
  readonly now: number;
  /** Of this pass. */
  readonly requests: number;
}

function ended(
  record: FleetWatchRecord,
  { tenants }: FleetDocument,
  { open, seconds, now }: PassEnd,
): FleetWatchRecord {
  const isComplete = open.length === 0 && tenants.every(isWhole);
  return {
    ...record,
    latePasses: record.latePasses + (open.length > 0 ? 1 : 0),
    seconds,
    lastAt: now,
    ...(isComplete && { lastSuccessAt: now }),
  };
}

function cycleOf(
  document: FleetDocument,
  worst: readonly WatchedTenant[],
  { requests, seconds, open }: PassEnd,
): AuditCycle {
  const { tenants, exit, summary } = document;
  const named = worst.filter(({ status, kinds }) => !isWell(status) || changedIn(kinds) > 0);
  const sentence = fleetSentence(document);
  const more = [
    named.length > 0 &&
      firstNamed(
        named.map(({ tenant }) => tenant),
        FEW,
      ),
    open.length > 0 && `${open.length} not ended`,
    plural(requests, 'request'),
    `${seconds.toFixed(1)} s`,
  ].filter((part) => part !== false);
  const isNothing = exit === exits.done;
  return {
    words: `${sentence} (${more.join(', ')})`,
    exit,
    ended: {
      summary: sentence,
      counts: { ...summary },
      target: null,
      diagnostics: fleetErrors(document, tenants),
    },
    result: isNothing
      ? AS_DECLARED
      : digest(
          tenants.map(({ tenant, status, changes, diagnostics }) => [
            tenant,
            status,
            changes.map(({ address, action }) => [address, action]),
            diagnostics.map(({ code }) => code),
          ]),
        ),
  };
}
