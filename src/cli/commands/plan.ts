// `trueup plan`: reads, compares, shows. Writes nothing but the files it was asked for.
import { resolve } from 'node:path';
import {
  defined,
  exits,
  flagToAllow,
  refuse,
  shellWord,
  worst,
  type Exit,
} from '../../model/index.js';
import type { Assessment } from '../../resources/rules/impact-data.js';
import type { Proposal } from '../../reconciler/plan/plan.js';
import { planFormats } from '../../report/formats.js';
import type { Command, Context } from '../context.js';
import { checkOutputs } from '../output-files.js';
import { chosen } from '../project.js';
import { deliver, formsOf, outputsOf, planRenderer, reportErrors } from '../report-flags.js';
import { timeFrom } from '../time-arguments.js';
import { planDocumentOf, requestOf, withProject, type ProjectContext } from '../working-context.js';

export const run: Command = async (context, paths) => {
  const forms = formsOf(context, planFormats);
  const { flags, out, files, clock, cwd } = context;
  const how = chosen(context);
  const since = sinceOf(context);
  const saved =
    flags.out === undefined ? undefined : { flag: '--out', path: resolve(cwd, flags.out) };
  await checkOutputs(context, [...(saved ? [saved] : []), ...outputsOf(forms)], paths);
  return withProject(
    context,
    paths,
    async (site): Promise<Exit> => {
      const { propose } = await import('../../reconciler/plan/propose.js');
      const renderPlan = await planRenderer(forms);
      const request = requestOf(context);
      if (saved) refuseSecretVariables(context, site);
      const proposal = await propose(site.context, site.project, site.snapshot, request);
      const { exit } = proposal;
      const { impact, diagnostics } = await meaningOf(site, proposal, since);
      const plan = {
        ...proposal.plan,
        diagnostics: [...proposal.plan.diagnostics, ...diagnostics],
      };
      const document = await planDocumentOf(context, site, plan, {
        snapshot: site.snapshot,
        keeps: forms.complete || saved ? 'all' : 'count',
        impact,
      });
      site.watch.end();
      if (site.watch.lines) out.write(site.watch.lines.plan(document));
      const delivered = await deliver(context, forms, (format, style) =>
        renderPlan(document, format, style),
      );
      await reportErrors(context, document, forms.shown);
      if (saved && !plan.diagnostics.some((one) => one.severity === 'error')) {
        const { writePlanFile } = await import('../../state/index.js');
        const { env } = how;
        await writePlanFile({ path: saved.path, files, clock }, document, {
          ...request,
          ...defined({ env }),
          variables: site.project.variables,
        });
        const blocked = [
          ...new Set(
            plan.verdicts.flatMap(({ rule, verdict }) => (verdict === 'blocked' ? [rule] : [])),
          ),
        ];
        const allows = blocked.flatMap((rule) => flagToAllow(rule) ?? []);
        context.err.write(
          blocked.length === 0
            ? `Saved. To carry it out: trueup apply ${shellWord(flags.out as string)}\n`
            : `Saved to be looked at: it is blocked, and apply refuses it.${allows.length < blocked.length ? '' : ` To let it pass, plan again with ${allows.join(' ')}`}\n`,
        );
      }
      return worst([
        delivered,
        exit === exits.changes && !flags.detailedExitcode ? exits.done : exit,
      ]);
    },
    how,
  );
};

/** A saved plan holds the variables that it was made with. @throws Refusal where one of them is a secret */
function refuseSecretVariables({ masking }: Context, { project }: ProjectContext): void {
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
  if (flags.impact) {
    const since = timeFrom('--since', flags.since ?? '7d', clock.now());
    return Date.parse(since) <= clock.now()
      ? since
      : refuse('usage', `--since ${since} is still to come: no alert is younger.`, {
          detail: 'Name a time that is past, as in: --since 7d',
        });
  }
  return flags.since === undefined
    ? undefined
    : refuse('usage', '--since has a meaning with --impact only.', {
        detail: 'Type it as in: trueup plan --impact --since 7d',
      });
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
