// A run of a fleet as its results are stored.
import { resolve } from 'node:path';
import { readFleet } from '../fleet/fleet-file.js';
import { entryOf, withoutResult } from '../fleet/merge.js';
import { FLEET_FILE } from '../fleet/tenant.js';
import { Refusal, refuse, type FleetRun, type TenantEntry } from '../model/index.js';
import { declarationFiles } from '../platform/declaration-files.js';
import type { Context } from './context.js';
import { resultPlaces, runRecords, type ResultPlace, type RunRecords } from './fleet-results.js';
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
