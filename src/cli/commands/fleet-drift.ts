// `trueup fleet drift`: audits every tenant, here or by workers.
import { auditWork } from '../fleet-tenant-work.js';
import type { Command } from '../context.js';
import { begun, formsHere, queueRun } from '../fleet-command.js';
import { fleetHere } from '../fleet-context.js';
import { jobsAsked, refuseShards } from '../fleet-queue.js';
import { concludeFleet, runFleet, type FleetJob } from '../fleet-run.js';

export const run: Command = async (context) => {
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
    forms,
    ...auditWork(context, site, records),
  };
  return concludeFleet(context, site, job, await runFleet(context, site, job));
};
