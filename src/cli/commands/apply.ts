// `trueup apply`: shows the plan, asks, carries it out. A saved plan was reviewed already: it is only checked.
import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import {
  defined,
  exits,
  refuse,
  Refusal,
  sameTarget,
  writes,
  shellWord,
  type Diagnostic,
  type Exit,
  type PlanDocument,
  type PlanRequest,
} from '../../model/index.js';
import type { Proposal } from '../../reconciler/plan/plan.js';
import type { Session } from '../../state/index.js';
import { outcomeWithCommands, saidOf } from '../commands-to-type.js';
import { agrees, notApproved, wholeNumber, type Command, type Context } from '../context.js';
import { reportErrors } from '../report-flags.js';
import { loadProject, withOutsidePaths } from '../project.js';
import {
  planDocumentOf,
  metaOf,
  requestOf,
  underLock,
  withCloud,
  withProject,
  type ProjectContext,
} from '../working-context.js';

export const run: Command = async (context, paths) => {
  const [only] = paths;
  if (paths.length === 1 && only !== undefined && isPlanFile(resolve(context.cwd, only)))
    return applySaved(context, only);
  // A saved plan that is not there is no reason to advise doing without one.
  const missing = paths.find(
    (path) =>
      path !== '-' && statSync(resolve(context.cwd, path), { throwIfNoEntry: false }) === undefined,
  );
  if (missing !== undefined)
    refuse('no-such-path', `${missing} does not exist`, {
      detail: 'A PATH is a saved plan, a file, a folder or `-`.',
    });
  return change(context, paths, requestOf(context));
};

/** Plans, asks and carries out. @throws Refusal at once where nobody can be asked. */
export function change(
  context: Context,
  paths: readonly string[],
  request: PlanRequest,
): Promise<Exit> {
  const { flags, interactive } = context;
  const [act, plan] = request.destroy ? ['destroy', 'plan --destroy'] : ['apply', 'plan'];
  if (!flags.autoApprove && (flags.json || !interactive))
    notApproved(
      `To do it without being asked: trueup ${act} --auto-approve\nTo save a plan and review it first: trueup ${plan} --out plan.trueup\nand then type \`trueup apply plan.trueup\`.`,
      flags.json ? 'With --json nobody is asked' : undefined,
    );
  return withProject(context, paths, (site) => carryOut(context, site, request));
}

/** Declarations have endings of their own; any other regular file can only be a saved plan. */
function isPlanFile(path: string): boolean {
  return (
    !/\.(?:ya?ml|tf\.json)$/i.test(path) &&
    basename(path) !== 'cdktf.json' &&
    statSync(path, { throwIfNoEntry: false })?.isFile() === true
  );
}

async function applySaved(context: Context, name: string): Promise<Exit> {
  const { flags, files, clock, cwd } = context;
  // The PATH is the plan itself, which no other command takes.
  context.said = { paths: [], env: undefined, variables: [] };
  const saved = shellWord(name);
  const given = (['target', 'exclude', 'allow', 'destroy', 'var', 'env'] as const).find(
    (flag) => flags[flag] !== undefined,
  );
  if (given !== undefined)
    refuse('usage', `--${given} has no place beside a saved plan, which holds its own.`, {
      detail: `Leave it out, or plan anew: trueup plan --${given} … --out ${saved}`,
    });
  const { readPlanFile } = await import('../../state/index.js');
  const { document, options } = await readPlanFile({ path: resolve(cwd, name), files, clock });
  const { paths, digest } = document.generated_from;
  const variables = Object.entries(options.variables).map((pair) => pair.join('='));
  context.said = saidOf(context.masking, { paths, env: options.env, variables });
  const stale = (why: string): never =>
    refuse(
      'stale',
      `${name} is stale: ${why}.`,
      { detail: `Nothing was changed. Make it again: trueup plan --out ${saved}` },
      exits.stale,
    );
  const project = await loadProject(context, paths, options).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    const summary = `${name} is stale: the declarations it was made from cannot be loaded any more.`;
    const last: Diagnostic = { severity: 'error', code: 'stale', summary };
    throw new Refusal([...error.diagnostics, last], exits.stale);
  });
  if (project.digest !== digest) stale('the declarations are not those it was made from');
  const whole = await withOutsidePaths(context, project, options);
  return withCloud(
    context,
    project.settings,
    (place) => {
      if (!sameTarget(place.reached.cloud.target, document.target))
        stale(`it is about ${document.target}, and the target is ${place.reached.cloud.target}`);
      const lineage = place.snapshot?.state.lineage ?? '';
      if (document.state.lineage !== '' && lineage !== document.state.lineage)
        stale('the state is not the one it was made with');
      return carryOut(
        context,
        { ...place, project: whole },
        options,
        context.masking.said(document),
      );
    },
    options.env,
  );
}

async function carryOut(
  context: Context,
  site: ProjectContext,
  request: PlanRequest,
  saved?: PlanDocument,
): Promise<Exit> {
  const { flags, out, random, signal } = context;
  const { store, context: planContext, watch, project } = site;
  const parallelism = wholeNumber('--parallelism', flags.parallelism ?? '10', 1, 100);
  const [{ apply }, { renderOutcomes, planDocument }] = await Promise.all([
    import('../../reconciler/apply/apply.js'),
    import('../../report/index.js'),
  ]);
  return underLock(store, flags.destroy ? 'destroy' : 'apply', planContext, async (session) => {
    let shown = false;
    const show = async (proposal: Proposal): Promise<void> => {
      shown = true;
      await present(context, site, session, proposal);
    };
    const execution = { ...planContext, session, random, parallelism, signal };
    const { proposal, diagnostics, approved, exit, ...applied } = await apply(
      execution,
      project,
      request,
      {
        ...defined({ saved }),
        document: ({ plan }) =>
          planDocument({
            plan,
            kinds: context.kinds,
            meta: metaOf(context, site, session.snapshot),
          }),
        approve: async (proposal) => {
          await show(proposal);
          const agreed =
            saved !== undefined || flags.autoApprove === true || (await agree(context, proposal));
          watch.expect(proposal.plan.changes.filter(writes).length);
          return agreed;
        },
      },
    );
    watch.end();
    if (!shown) await show(proposal);
    await context.tell(diagnostics);
    if (!approved && exit !== exits.done) context.err.write('Nothing was changed.\n');
    const outcomes = applied.outcomes.map((one) =>
      context.masking.said(outcomeWithCommands(one, context.said)),
    );
    if (outcomes.length > 0)
      out.write(watch.lines ? watch.lines.outcomes(outcomes) : renderOutcomes(outcomes, out.style));
    return exit;
  });
}

async function present(
  context: Context,
  site: ProjectContext,
  session: Session,
  { plan }: Proposal,
): Promise<void> {
  const { out } = context;
  const { lines } = site.watch;
  const { planInText } = await import('../../report/index.js');
  const document = await planDocumentOf(context, site, plan, {
    snapshot: session.snapshot,
    keeps: lines ? 'all' : 'count',
  });
  site.watch.end();
  out.write(lines ? lines.plan(document) : planInText(document, out.style));
  await reportErrors(context, document, 'text');
}

/** What needs no decision is not asked, and what is blocked cannot be agreed to. */
async function agree(context: Context, { plan, exit }: Proposal): Promise<boolean> {
  if (exit !== exits.done && exit !== exits.changes) return false;
  return plan.changes.every((one) => one.action === 'keep') || agrees(context, '\nCarry this out?');
}
