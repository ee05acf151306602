// `trueup fleet plan`: plans every tenant, and saves the plans as one bundle.
import { resolve } from 'node:path';
import { exits, pathWord } from '../../model/index.js';
import type { Command } from '../context.js';
import { beyondLimits, bundleOf, isBlocking } from '../fleet-bundle.js';
import { begun, formsHere, tenantFlags } from '../fleet-command.js';
import { fleetHere } from '../fleet-context.js';
import { fleetVerdicts } from '../fleet-policies.js';
import { concludeFleet, runFleet, type FleetEnd, type FleetJob } from '../fleet-run.js';
import { doneOffline, planned, unlessDone } from '../fleet-tenant-work.js';
import { policiesHere, refuseUnknownAllow } from '../project-policies.js';
import { protectionOf } from '../saved-plan.js';

export const run: Command = async (context) => {
  const { flags, files, cwd, err } = context;
  const protection = await protectionOf(context);
  refuseUnknownAllow(context, await policiesHere(context));
  const forms = await formsHere(context);
  const site = await fleetHere(context);
  const { run, records } = await begun(context, site, 'plan');
  const saves = flags.out === undefined ? 'no' : 'file';
  const work = planned(site, saves, protection.lifetime);
  const job: FleetJob = {
    command: 'plan',
    run,
    records,
    flags: tenantFlags(context),
    forms,
    // A bundle needs every plan, also of what was planned before.
    ...(saves === 'file'
      ? { work }
      : { known: doneOffline(site, records), work: unlessDone(site, records, work) }),
  };
  const end = await runFleet(context, site, job);
  const verdicts = await fleetVerdicts(context, () => [...end.entries.values()], flags.allow);
  const beyond = [...beyondLimits(site.fleet.stop, end.entries), ...verdicts];
  const stops = [...end.stops, ...beyond];
  const exit = await concludeFleet(context, site, job, { ...end, stops });
  for (const { diagnostics } of beyond) await context.tell(diagnostics);
  if (flags.out === undefined) return exit;
  const { writeProtected } = await import('../../state/plan-file.js');
  const text = await bundleOf(context, site, run, end);
  await writeProtected({ path: resolve(cwd, flags.out), files }, text, protection);
  const identity = protection.recipients ? ' --identity FILE' : '';
  const apply = `trueup fleet apply ${pathWord(flags.out)}${identity}`;
  const next = isBlocking(beyond)
    ? `The run is blocked as a whole. To apply a part that is within the limits: ${apply} --select TERMS`
    : `To apply it: ${apply}`;
  err.write(`Saved. ${hindrance(end) ?? next}\n`);
  return exit;
};

/** Why no tenant of a bundle can, or need, be applied. */
function hindrance({ outcomes }: FleetEnd): string | undefined {
  const plans = [...outcomes.values()].filter(({ plan }) => plan !== undefined);
  if (plans.length === 0) return 'It holds no plan: there is nothing to apply.';
  return plans.every(({ exit }) => exit === exits.blocked)
    ? 'Each plan in it is blocked: there is nothing to apply.'
    : undefined;
}
