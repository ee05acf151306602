// `trueup show`: prints a saved plan in any format.
import { resolve } from 'node:path';
import { planFormats } from '../../report/formats.js';
import type { Command } from '../context.js';
import { checkOutputs } from '../output-files.js';
import { deliver, formsOf, outputsOf } from '../report-flags.js';
import { aboutSavedPlan, readSavedPlan } from '../saved-plan.js';

export const run: Command = async (context, [name = '']) => {
  const { renderPlan } = await import('../../report/render.js');
  const forms = formsOf(context, planFormats);
  await checkOutputs(context, outputsOf(forms), [], [resolve(context.cwd, name)]);
  const plan = await readSavedPlan(context, name);
  const exit = await deliver(context, forms, (format, style) =>
    renderPlan(plan.file.document, format, { ...style, again: plan.again }),
  );
  if (forms.shown === 'text') context.err.write(`${aboutSavedPlan(context, plan)}\n`);
  return exit;
};
