// The plan that a comment shows: a saved plan, or the JSON document of a plan.
import { resolve } from 'node:path';
import { isObject, parseJson, refuse, type PlanDocument } from '../../model/index.js';
import planSchema from '../../../schemas/plan.schema.json' with { type: 'json' };
import type { Context } from '../context.js';
import { identityOf } from '../plan-identity.js';

export interface ShownPlan {
  readonly document: PlanDocument;
  /** The environment that it was made for, where the file tells. */
  readonly env: string | undefined;
}

/** @throws Refusal where the file holds no plan, or a saved plan that is damaged or has expired */
export async function shownPlan(context: Context, name: string): Promise<ShownPlan> {
  const { files, clock, cwd } = context;
  const path = resolve(cwd, name);
  const { ENCRYPTED, readPlanFile } = await import('../../state/plan-file.js');
  const { ifThere, withDisk } = await import('../../state/disk-errors.js');
  const text =
    (await withDisk(path, () => ifThere(files.read(path)))) ??
    refuse('no-such-file', `There is no file ${path}.`, {
      detail: 'Save a plan first: trueup plan --out FILE',
    });
  const value = parsed(text);
  if (text.trimStart().startsWith(ENCRYPTED) || (isObject(value) && 'plan_file_version' in value)) {
    const { document, options } = await readPlanFile({ path, files, clock }, identityOf(context));
    return { document, env: options.env };
  }
  const { compile } = await import('../../declarations/compile-validator.js');
  const isPlan = compile(planSchema);
  if (!isPlan(value))
    refuse('no-plan', `${path} holds neither a saved plan nor the JSON document of a plan.`, {
      detail: 'Write one of them: trueup plan --out FILE, or trueup plan --report json=FILE',
    });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its schema was checked
  return { document: value as PlanDocument, env: undefined };
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
