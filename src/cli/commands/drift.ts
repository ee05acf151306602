// `trueup drift`: compares live objects with the declarations and the last apply.
import { Refusal, type Exit } from '../../model/index.js';
import { driftFormats, type DriftFormat } from '../../report/formats.js';
import { audit, failedAudit } from '../run-audit.js';
import type { Command, Context } from '../context.js';
import { checkOutputs } from '../output-files.js';
import {
  conclude,
  formsOf,
  outputsOf,
  writeReports,
  type Forms,
  type Render,
} from '../report-flags.js';
import { withProject } from '../working-context.js';

export const run: Command = async (context, paths) => {
  const forms = formsOf(context, driftFormats);
  const { out } = context;
  await checkOutputs(context, outputsOf(forms), paths);
  const work = withProject(context, paths, async (site): Promise<Exit> => {
    const { renderDrift } = await import('../../report/render.js');
    const { document, exit } = await audit(context, site);
    site.watch.end();
    if (site.watch.lines) out.write(site.watch.lines.drift(document));
    const render: Render<DriftFormat> = (format, style) => renderDrift(document, format, style);
    return conclude(context, forms, document, { render, exit });
  });
  return work.catch(async (error: unknown) => {
    if (error instanceof Refusal) await reportUnmade(context, paths, forms, error);
    throw error;
  });
};

/** Reports say that there was no audit: those of an earlier one would tell of what is no more. */
async function reportUnmade(
  context: Context,
  paths: readonly string[],
  forms: Forms<DriftFormat>,
  { diagnostics }: Refusal,
): Promise<void> {
  if (forms.files.length === 0) return;
  const { renderDrift } = await import('../../report/render.js');
  const document = await failedAudit(context, paths, diagnostics);
  await writeReports(context, forms, (format, style) => renderDrift(document, format, style));
}
