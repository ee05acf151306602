// `trueup graph`: the dependencies of the declarations, or of a plan, as a drawing. Needs no network and no credentials.
import { exits, refuse } from '../../model/index.js';
import { drawing, nodesOfPlan, type DrawnNode } from '../../report/dependency-drawing.js';
import type { Command, Context } from '../context.js';
import { chosen, loadProject } from '../project.js';

export const run: Command = async (context, paths) => {
  const { flags, out } = context;
  const nodes = await (flags.plan === undefined
    ? declared(context, paths)
    : planned(context, flags.plan, paths));
  out.write(drawing(nodes, flags.format === 'dot' ? 'dot' : 'mermaid'));
  return exits.done;
};

async function declared(context: Context, paths: readonly string[]): Promise<readonly DrawnNode[]> {
  const project = await loadProject(context, paths, chosen(context), { checks: 'always' });
  const { graph } = await import('../../reconciler/plan/dependency-graph.js');
  const declarations = new Map(project.declarations.map((one) => [one.address, one]));
  // What leads out of the PATHs was checked with the state when the project was loaded.
  const { dependencies } = graph(declarations, () => true);
  return [...dependencies].map(([name, depends_on]) => ({ name, depends_on }));
}

async function planned(
  context: Context,
  file: string,
  paths: readonly string[],
): Promise<readonly DrawnNode[]> {
  const given = (['var', 'env'] as const).find((flag) => context.flags[flag] !== undefined);
  const beside = paths.length > 0 ? 'A PATH' : given && `--${given}`;
  // The command in the advice repeats none of them.
  context.said = { paths: [], env: undefined, variables: [] };
  if (beside !== undefined)
    refuse('usage', `${beside} cannot be used with --plan, which holds its own.`, {
      detail: 'For example: trueup graph --plan change.plan',
    });
  const { shownPlan } = await import('../forge/plan-source.js');
  return nodesOfPlan((await shownPlan(context, file)).document);
}
