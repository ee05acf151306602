// `trueup plan`: reads, compares, shows. Writes only the files that its flags name.
import { resolve } from 'node:path';
import {
  defined,
  exits,
  isGood,
  refuse,
  shellWord,
  type Exit,
  type PlanDocument,
  type PlanOptions,
} from '../../model/index.js';
import type { Assessment } from '../../resources/rules/impact-data.js';
import type { Proposal } from '../../reconciler/plan/plan.js';
import { planFormats } from '../../report/formats.js';
import { blockedRules } from '../../report/index.js';
import type { PlanProtection } from '../../state/plan-file.js';
import { scopeWords, typed } from '../commands-to-type.js';
import type { Command, Context } from '../context.js';
import { checkOutputs } from '../output-files.js';
import { chosen } from '../project.js';
import { conclude, formsOf, outputsOf, planRenderer, showsText } from '../report-flags.js';
import { spanOf, timeFrom } from '../time-arguments.js';
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
    if (flags.out !== undefined && !plan.diagnostics.some((one) => one.severity === 'error')) {
      const options = {
        ...request,
        ...defined({ env: how.env }),
        variables: site.project.variables,
        ...defined({ valid_for: flags.validFor, encrypt_to: flags.encryptTo }),
      };
      await save(context, flags.out, { document, options, protection });
    } else sayNext(context, proposal);
    return exit;
  };
  return withProject(context, paths, work, how);
};

/** The command that carries out what was shown, with the flags that allow what blocks it. */
function sayNext(context: Context, { plan, exit }: Proposal): void {
  const { flags, err, said } = context;
  const { flags: allow } = blockedRules(plan.verdicts);
  const isWrong = plan.diagnostics.some((one) => one.severity === 'error');
  const isOpen = exit === exits.blocked ? allow.length > 0 && !isWrong : isGood(exit);
  const isEmpty = plan.changes.every((one) => one.action === 'keep' && !one.renamed_from);
  if (!isOpen || isEmpty || !showsText(context)) return;
  const verb = flags.destroy ? 'destroy' : 'apply';
  const command = ['trueup', verb, ...scopeWords(flags), ...allow].join(' ');
  err.write(`To apply it${allow.length > 0 ? ' anyway' : ''}: ${typed(command, said)}\n`);
}

interface Saved {
  readonly document: PlanDocument;
  readonly options: PlanOptions;
  readonly protection: PlanProtection;
}

async function save(
  { files, clock, cwd, err }: Context,
  name: string,
  { document, options, protection }: Saved,
): Promise<void> {
  const { writePlanFile } = await import('../../state/plan-file.js');
  await writePlanFile({ path: resolve(cwd, name), files, clock }, document, options, protection);
  const { rules, flags } = blockedRules(document.policy);
  const allow = flags.length > 0 ? ` To let it pass, plan again with ${flags.join(' ')}` : '';
  const identity = protection.recipients ? ' --identity FILE' : '';
  const { lineage, serial } = document.state;
  const state = lineage === null ? 'without a state' : `with serial ${serial} of the state`;
  err.write(
    rules.length === 0
      ? `Saved; made ${state}. To apply it: trueup apply ${shellWord(name)}${identity}\n`
      : `Saved for review only: it is blocked, and apply refuses it.${allow}\n`,
  );
}

const LONGEST = 30 * 24 * 60 * 60 * 1000;

/** How the plan is saved. @throws Refusal, before anything is read */
export async function protectionOf({ flags }: Context): Promise<PlanProtection> {
  const { out, validFor, encryptTo: recipients } = flags;
  const useless =
    (validFor !== undefined && '--valid-for') || (recipients !== undefined && '--encrypt-to');
  if (out === undefined && useless)
    refuse('usage', `${useless} can be used only with --out.`, {
      detail: `For example: trueup plan --out change.plan ${useless} ${validFor ?? 'age1…'}`,
    });
  const lifetime = validFor === undefined ? undefined : spanOf('--valid-for', validFor);
  if (lifetime !== undefined && (lifetime === 0 || lifetime > LONGEST))
    refuse('usage', '--valid-for takes more than 0s and at most 30d.', {
      detail: 'For example: --valid-for 7d',
    });
  if (recipients) (await import('../../state/plan-encryption.js')).checkRecipients(recipients);
  return defined({ lifetime, recipients });
}

/** A saved plan holds the variables that it was made with. @throws Refusal where one of them is a secret */
export function refuseSecretVariables(
  { masking }: Context,
  { project }: Pick<ProjectContext, 'project'>,
): void {
  const [name] = Object.entries(project.variables).find(([, value]) => masking.holds(value)) ?? [];
  if (name !== undefined)
    refuse(
      'secret-in-plan',
      `The variable ${name} holds the value of a secret, which a saved plan would hold, too.`,
      {
        detail:
          'Write "${secret.env.NAME}" where the secret belongs and give the variable another value; or apply without a saved plan: trueup apply',
      },
    );
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
