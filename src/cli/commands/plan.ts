// `trueup plan`: reads, compares, shows. Writes only the files that its flags name.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { defined, exits, isGood, refuse, writes, type Exit } from '../../model/index.js';
import type { Assessment } from '../../resources/rules/impact-data.js';
import type { Proposal } from '../../reconciler/plan/plan.js';
import { planFormats } from '../../report/formats.js';
import { blockedRules } from '../../report/index.js';
import { scopeWords, typed } from '../commands-to-type.js';
import type { Command, Context } from '../context.js';
import { checkOutputs } from '../output-files.js';
import { chosen } from '../project.js';
import {
  conclude,
  formsOf,
  outputsOf,
  planRenderer,
  SECRETS_COMPARED,
  showsText,
} from '../report-flags.js';
import { protectionOf, refuseSecretVariables, savePlan } from '../saved-plan.js';
import { timeFrom } from '../time-arguments.js';
import { withPolicies } from '../project-policies.js';
import { planDocumentOf, requestOf, withProject, type ProjectContext } from '../working-context.js';

export const run: Command = async (context, paths) => {
  const forms = formsOf(context, planFormats);
  const { flags, out, cwd } = context;
  const how = chosen(context);
  const since = sinceOf(context);
  const protection = await protectionOf(context);
  const saved = flags.out === undefined ? [] : [{ flag: '--out', path: resolve(cwd, flags.out) }];
  await checkOutputs(context, [...saved, ...outputsOf(forms)], paths);
  const work = async (without: ProjectContext): Promise<Exit> => {
    const site = await withPolicies(context, without);
    const { propose } = await import('../../reconciler/plan/propose.js');
    const renderPlan = await planRenderer(forms);
    const request = requestOf(context);
    if (flags.out !== undefined) refuseSecretVariables(context, site);
    const proposal = await propose(site.context, site.project, site.snapshot, request);
    const { impact, diagnostics } = await meaningOf(site, proposal, since);
    const plan = {
      ...proposal.plan,
      diagnostics: [...proposal.plan.diagnostics, ...diagnostics],
    };
    const document = await planDocumentOf(context, site, plan, {
      keeps: forms.complete || flags.out !== undefined ? 'all' : 'count',
      impact,
    });
    site.watch.end();
    if (site.watch.lines) out.write(site.watch.lines.plan(document));
    const exit = await conclude(context, forms, document, {
      render: renderPlan,
      exit: proposal.exit,
    });
    sayMore(context, proposal);
    if (flags.out !== undefined && !plan.diagnostics.some((one) => one.severity === 'error')) {
      const options = {
        ...request,
        ...defined({ env: how.env }),
        variables: site.project.variables,
        ...defined({ valid_for: flags.validFor, encrypt_to: flags.encryptTo }),
      };
      await savePlan({ ...context, name: flags.out }, document, options, protection);
    } else {
      if (flags.out !== undefined) context.err.write(notSaved(context, flags.out));
      sayNext(context, proposal);
    }
    return exit;
  };
  return withProject(context, paths, work, how);
};

/** It may hold an earlier plan. */
const notSaved = ({ cwd }: Context, name: string): string =>
  `Not saved, because the plan has errors${existsSync(resolve(cwd, name)) ? `: ${name} is as it was` : ''}.\n`;

/** What the comparison does not cover, and the flag that shows what is sent, where something is. */
function sayMore(context: Context, { plan, secrets }: Proposal): void {
  const { flags, err } = context;
  const isWrong = plan.diagnostics.some((one) => one.severity === 'error');
  if (isWrong || !showsText(context)) return;
  if ([...secrets.values()].includes('same')) err.write(SECRETS_COMPARED);
  if (!flags.showRequests && plan.changes.some(writes))
    err.write('To see what is sent: --show-requests\n');
}

/** That nothing is applied; or the command that carries out what was shown, with the flags that allow what blocks it; or that records drift to what is declared. */
function sayNext(context: Context, { plan, exit }: Proposal): void {
  const { flags, err, said } = context;
  const { rules: blocking, flags: allow } = blockedRules(plan.verdicts);
  const isWrong = plan.diagnostics.some((one) => one.severity === 'error');
  const isOpen = exit === exits.blocked ? allow.length > 0 && !isWrong : isGood(exit);
  const isEmpty = plan.changes.every((one) => one.action === 'keep' && !one.renamed_from);
  const isRecord = isEmpty && !flags.destroy && plan.drift.length > 0;
  if (!showsText(context)) return;
  // Where rules block as well, the plan itself says to correct the errors first.
  if (isWrong && !isEmpty && blocking.length === 0)
    err.write('Nothing is applied while the plan has errors.\n');
  if (!isOpen || (isEmpty && !isRecord)) return;
  const verb = flags.destroy ? 'destroy' : 'apply';
  const command = ['trueup', verb, ...scopeWords(flags), ...allow].join(' ');
  const aim = isRecord ? 'To record the live values' : 'To apply it';
  const anyway = allow.length > 0 ? ' anyway' : '';
  err.write(`${aim}${anyway}: ${typed(command, said)}\n`);
}

/** From when on alerts are to be judged; undefined where nobody asked for the impact. @throws Refusal */
function sinceOf({ flags, clock }: Context): string | undefined {
  if (!flags.impact && flags.since !== undefined)
    refuse('usage', '--since can be used only with --impact.', {
      detail: 'For example: trueup plan --impact --since 7d',
    });
  if (!flags.impact) return undefined;
  const since = timeFrom('--since', flags.since ?? '7d', clock.now());
  if (Date.parse(since) > clock.now())
    refuse('usage', `--since ${since} is in the future: there are no alerts since then.`, {
      detail: 'Name a time in the past, for example: --since 7d',
    });
  return since;
}

async function meaningOf(
  { context, snapshot }: ProjectContext,
  proposal: Proposal,
  since: string | undefined,
): Promise<Assessment> {
  if (since === undefined) return { diagnostics: [] };
  const { assess } = await import('../../resources/rules/impact-data.js');
  return assess(context, { proposal, state: snapshot?.state, since });
}
