// `trueup show`: prints a saved plan in any format.
import { resolve } from 'node:path';
import type { PlanContent } from '../../model/index.js';
import { planFormats } from '../../report/formats.js';
import type { Again } from '../../report/words.js';
import { planAgain } from '../commands-to-type.js';
import type { Command } from '../context.js';
import { identityOf } from '../plan-identity.js';
import { checkOutputs } from '../output-files.js';
import { deliver, formsOf, outputsOf } from '../report-flags.js';

export const run: Command = async (context, [name = '']) => {
  const { files, clock, cwd, masking } = context;
  const [{ readPlanFile }, { renderPlan }] = await Promise.all([
    import('../../state/plan-file.js'),
    import('../../report/render.js'),
  ]);
  const path = resolve(cwd, name);
  const forms = formsOf(context, planFormats);
  await checkOutputs(context, outputsOf(forms), [], [path]);
  const againOf = (one: PlanContent): Again => planAgain(masking, name, one);
  const file = await readPlanFile({ path, files, clock }, identityOf(context), againOf);
  const again = againOf(file);
  return deliver(context, forms, (format, style) =>
    renderPlan(file.document, format, { ...style, again }),
  );
};
