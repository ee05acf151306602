// `trueup diff`: the plan from the declarations of a git reference to those of another one, or of the working tree.
// Needs no network, no credentials and no state.
import { refuse, Refusal, type Exit, type PlanDocument, type Project } from '../../model/index.js';
import type { DeclarationPair } from '../../reconciler/plan/compare-declarations.js';
import { planFormats } from '../../report/formats.js';
import { withCommands } from '../commands-to-type.js';
import type { Command, Context } from '../context.js';
import { atReference, projectAt, referencePair, type ReferencePair } from '../git-references.js';
import { checkOutputs } from '../output-files.js';
import { chosen, projectToPlan, wholeProject } from '../project.js';
import { conclude, formsOf, outputsOf, planRenderer } from '../report-flags.js';
import { bareMeta, sourceOf, withWarnings } from '../working-context.js';

export const run: Command = async (context, [range = '', ...paths]) => {
  const forms = formsOf(context, planFormats);
  await checkOutputs(context, outputsOf(forms), paths);
  const pair = referencePair(context, range, paths);
  const later = await laterProject(context, paths, pair);
  const renderPlan = await planRenderer(forms);
  const { document, exit } = await comparedWith(context, paths, pair, later).catch(
    (error: unknown) => {
      throw error instanceof Refusal && later ? withWarnings(later, error) : error;
    },
  );
  return conclude(context, forms, document, { render: renderPlan, exit });
};

async function comparedWith(
  context: Context,
  paths: readonly string[],
  pair: ReferencePair,
  later: Project | undefined,
): ReturnType<typeof compared> {
  const earlier = await projectAt(context, paths, pair, pair.before);
  const known = earlier ?? later ?? nowhere(pair, paths);
  const [before, after] = [earlier ?? emptied(known), later ?? emptied(known)];
  return compared(context, pair, { before, after });
}

async function laterProject(
  context: Context,
  paths: readonly string[],
  pair: ReferencePair,
): Promise<Project | undefined> {
  if (pair.after) return projectAt(context, paths, pair, pair.after);
  const how = chosen(context);
  const project = await projectToPlan(context, paths, how, { checks: 'never' });
  return wholeProject(context, project, how);
}

/** The project without its declarations and what is said of them, where nothing is declared at a reference. */
function emptied(project: Project): Project {
  const { outside_paths: _, refactorings: __, warnings: ___, ...rest } = project;
  return { ...rest, declarations: [], lookups: [] };
}

function nowhere({ before, after }: ReferencePair, paths: readonly string[]): never {
  const where = paths.length === 0 ? '' : ` in ${paths.join(', ')}`;
  return refuse(
    'no-declarations',
    `There is nothing to compare: neither ${before.reference} nor ${after?.reference} declares anything${where}.`,
    { detail: 'Go to the folder of the declarations, or name their PATHs.' },
  );
}

async function compared(
  context: Context,
  { before: earlier, after: later }: ReferencePair,
  projects: Pick<DeclarationPair, 'before' | 'after'>,
): Promise<{ readonly document: PlanDocument; readonly exit: Exit }> {
  const { compareDeclarations } = await import('../../reconciler/plan/compare-declarations.js');
  const { planDocument } = await import('../../report/index.js');
  const { kinds, said } = context;
  try {
    const { plan, exit } = compareDeclarations({ ...projects, kinds, label: earlier.reference });
    const document = planDocument({
      plan: { ...plan, diagnostics: withCommands(plan.diagnostics, said) },
      kinds,
      meta: bareMeta(context, sourceOf(projects.after), ''),
      compared: { before: earlier, after: later ?? null },
    });
    return { document, exit };
  } catch (error) {
    throw atReference(error, earlier.reference);
  }
}
