// The plan that a comment shows: a saved plan, the JSON document of a plan, or one that is made here.
import { resolve } from 'node:path';
import { exits, refuse, tryJson, type Exit, type PlanDocument } from '../../model/index.js';
import planSchema from '../../../schemas/plan.schema.json' with { type: 'json' };
import type { Again } from '../../report/words.js';
import type { Context } from '../context.js';
import { withPolicies } from '../project-policies.js';
import { readSavedPlan } from '../saved-plan.js';
import { planDocumentOf, requestOf, withProject } from '../working-context.js';

export interface ShownPlan {
  readonly document: PlanDocument;
  /** The environment that it was made for, where the file tells. */
  readonly env: string | undefined;
  /** Of a saved plan. */
  readonly again?: Again;
  /** Of `trueup plan`, where it was made here. */
  readonly exit?: Exit;
}

/** Plans as `trueup plan` does. */
export const planHere = (context: Context): Promise<ShownPlan> =>
  withProject(context, [], async (without) => {
    const site = await withPolicies(context, without);
    const { propose } = await import('../../reconciler/plan/propose.js');
    const request = requestOf(context);
    const { plan, exit } = await propose(site.context, site.project, site.snapshot, request);
    const document = await planDocumentOf(context, site, plan, { keeps: 'count' });
    site.watch.end();
    return { document, env: undefined, exit: exit === exits.changes ? exits.done : exit };
  });

/** @throws Refusal where the file holds no plan, or a saved plan that is damaged or has expired */
export async function shownPlan(context: Context, name: string): Promise<ShownPlan> {
  const { files, cwd } = context;
  const path = resolve(cwd, name);
  const { isSavedPlan } = await import('../../state/plan-file.js');
  const { ifThere, withDisk } = await import('../../state/disk-errors.js');
  const text =
    (await withDisk(path, () => ifThere(files.read(path)))) ??
    refuse('no-such-file', `There is no file ${path}.`, {
      detail: 'Save a plan first: trueup plan --out FILE',
    });
  const value: unknown = tryJson(text);
  if (isSavedPlan(text, value)) {
    const { file, again } = await readSavedPlan(context, name);
    return { document: file.document, env: file.options.env, again };
  }
  const { compile } = await import('../../declarations/compile-validator.js');
  const isPlan = compile(planSchema);
  if (!isPlan(value))
    refuse('no-plan', `${path} holds neither a saved plan nor the JSON document of a plan.`, {
      detail:
        'To save a plan: trueup plan --out FILE\nTo write its document: trueup plan --report json=FILE',
    });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its schema was checked
  return { document: value as PlanDocument, env: undefined };
}
