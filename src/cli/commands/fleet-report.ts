// `trueup fleet report`: merges the results of a run.
import { mergedReport } from '../../fleet/merge.js';
import { forEachLimited, type TenantEntry } from '../../model/index.js';
import { fleetText } from '../../report/fleet-text.js';
import type { Command } from '../context.js';
import { formsHere } from '../fleet-command.js';
import { checkedRun, RESULTS_AT_ONCE } from '../fleet-results.js';
import { deliverFleet } from '../fleet-run.js';
import { runNamed, storedEntry, storedStops } from '../fleet-stored-run.js';
import { madeBy } from '../version.js';

export const run: Command = async (context, [name = '']) => {
  const { out } = context;
  const { events: _, ...forms } = await formsHere(context);
  const stored = await runNamed(context, checkedRun(name));
  const { run, records } = stored;
  const entries = new Map<string, TenantEntry>();
  await forEachLimited(run.tenants, RESULTS_AT_ONCE, async (tenant) => {
    const entry = await storedEntry(records, tenant, forms.pages);
    if (entry) entries.set(tenant, entry);
  });
  const stops = await storedStops(stored, entries);
  const document = mergedReport(run, entries, madeBy(context), stops);
  if (forms.shown === 'text') out.write(fleetText(document, out.style));
  return deliverFleet(context, forms, document);
};
