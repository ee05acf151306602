// `trueup show`: a saved plan, in any form.
import { resolve } from 'node:path';
import { exits } from '../../model/index.js';
import { planFormats } from '../../report/formats.js';
import type { Command } from '../context.js';
import { deliver, formsOf } from '../reports.js';

export const run: Command = async (context, [name = '']) => {
  const { files, clock, cwd } = context;
  const [{ readPlanFile }, { renderPlan }] = await Promise.all([import('../../state/index.js'), import('../../report/index.js')]);
  const { document } = await readPlanFile({ path: resolve(cwd, name), files, clock });
  await deliver(context, formsOf(context, planFormats), (format, style) => renderPlan(document, format, style));
  return exits.done;
};
