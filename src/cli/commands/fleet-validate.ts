// `trueup fleet validate`: checks the declarations of every tenant, without credentials.
import { exits } from '../../model/index.js';
import { plural } from '../../report/words.js';
import type { Command } from '../context.js';
import { formsHere, tenantFlags } from '../fleet-command.js';
import { fleetHere } from '../fleet-context.js';
import { concludeFleet, runFleet, type FleetJob } from '../fleet-run.js';
import { policiesHere } from '../project-policies.js';
import { chosen, loadProject } from '../project.js';

export const run: Command = async (context) => {
  const forms = await formsHere(context);
  const site = await fleetHere(context);
  await policiesHere(context);
  const job: FleetJob = {
    command: 'validate',
    run: '',
    flags: tenantFlags(context),
    forms,
    offline: true,
    work: async (own, { paths }) => {
      const project = await loadProject(own, paths, chosen(own), { checks: 'always' });
      const summary = `Valid: ${plural(project.declarations.length, 'declaration')}.`;
      return { exit: exits.done, digest: project.digest(), summary };
    },
  };
  return concludeFleet(context, site, job, await runFleet(context, site, job));
};
