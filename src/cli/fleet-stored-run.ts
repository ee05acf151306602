// A run of a fleet as its results are stored.
import { resolve } from 'node:path';
import { readFleet } from '../fleet/fleet-file.js';
import { entryOf, withoutResult, type RunStop } from '../fleet/merge.js';
import { FLEET_FILE } from '../fleet/tenant.js';
import {
  errorDiagnostic,
  exits,
  reasonIn,
  Refusal,
  refuse,
  type FleetRun,
  type TenantEntry,
} from '../model/index.js';
import { declarationFiles } from '../platform/declaration-files.js';
import type { Context } from './context.js';
import { cancellationOf, roundOf, wasResumed, type QueuedRun } from './fleet-queue.js';
import { resultPlaces, runRecords, type RunRecords } from './fleet-results.js';
import type { FleetForms } from './fleet-run.js';

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
    const summary = reasonIn(diagnostics)?.summary ?? '';
    return { ...withoutResult(tenant, 'failed', summary), exit, diagnostics };
  }
}

/** Why the run stopped, as far as it was not resumed. */
export async function storedStops(
  { run: { run }, records, place }: Pick<StoredRun, 'run' | 'records' | 'place'>,
  entries: ReadonlyMap<string, TenantEntry>,
): Promise<readonly RunStop[]> {
  try {
    const isLeft = [...entries.values()].some(({ status }) => cancelledStatuses.has(status));
    const round = isLeft ? await roundOf(place, run) : 0;
    const isCancelled = round > 0 && !(await wasResumed(place, { run, round }));
    const cancelled = isCancelled && (await cancellationOf(place, { run, round: round - 1 }));
    return [...(await records.stops()), ...(cancelled ? [cancelledStop(run, cancelled)] : [])];
  } catch (error) {
    if (error instanceof Refusal) return [error];
    throw error;
  }
}

/** Of tenants that the cancellation of a run in a queue leaves. */
const cancelledStatuses: ReadonlySet<string> = new Set(['not-run', 'interrupted']);

const cancelledStop = (run: string, { reason }: { readonly reason: string }): RunStop => ({
  exit: exits.error,
  diagnostics: [
    errorDiagnostic(
      'cancelled',
      `The run was cancelled: ${reason}.`,
      `To go on, with --queue or TRUEUP_QUEUE as before: trueup fleet resume ${run}`,
    ),
  ],
});

/** A document that no page can be made of was edited, or is of another version. */
function unlessRefused(error: unknown): never {
  if (error instanceof Refusal) throw error;
  return refuse('damaged-result', 'its result holds no plan and no audit that can be shown.', {
    detail: 'It was edited, or written by another version of trueup.',
  });
}

interface StoredRun extends Pick<QueuedRun, 'records' | 'place'> {
  readonly run: FleetRun;
  /** As the fleet names its states, where it keeps results that all its machines reach. */
  readonly states: string | undefined;
}

/** @throws Refusal where there is no such run */
export async function runNamed(context: Context, name: string): Promise<StoredRun> {
  const { files, cwd } = { files: declarationFiles, cwd: context.cwd };
  // The results alone may have been brought here, without the fleet.
  const isFleet = files.stat(resolve(cwd, FLEET_FILE)) !== undefined;
  const { results, states } = isFleet ? await readFleet({ files, cwd }) : {};
  for (const place of await resultPlaces(context, results)) {
    const records = runRecords(place, name);
    const run = await records.run();
    if (run) return { run, records, place, states };
  }
  return refuse('no-run', `there is no run ${name}`, {
    detail:
      'A run is named in the last line of `trueup fleet plan`, `drift` and `apply`. Its results are in .trueup/fleet, or beside the states.',
  });
}
