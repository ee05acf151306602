// `trueup drift`: compares live objects with the declarations and the last apply.
import {
  equal,
  exits,
  Refusal,
  worst,
  type DriftChange,
  type DriftRecord,
  type Exit,
} from '../../model/index.js';
import { driftFormats, type DriftFormat } from '../../report/formats.js';
import { audit, failedAudit } from '../run-audit.js';
import type { Command, Context } from '../context.js';
import { exportCommand, typed } from '../commands-to-type.js';
import { auditEnd, withNotification, type Ended } from '../notify.js';
import { checkOutputs } from '../output-files.js';
import {
  conclude,
  formsOf,
  outputsOf,
  SECRETS_COMPARED,
  showsText,
  writeReports,
  type Forms,
} from '../report-flags.js';
import { withProject } from '../working-context.js';

export const run: Command = (context, paths) =>
  withNotification(context, 'drift', (end) => report(context, paths, end));

async function report(
  context: Context,
  paths: readonly string[],
  end: (ended: Ended) => void,
): Promise<Exit> {
  const forms = formsOf(context, driftFormats);
  const { out, err } = context;
  await checkOutputs(context, outputsOf(forms), paths);
  // Refused before anything is read, where it cannot be written.
  const forge = context.flags.issue;
  const issue =
    forge === undefined
      ? undefined
      : (await import('../forge/drift-issue.js')).driftIssue(context, forge, paths);
  const work = withProject(context, paths, async (site): Promise<Exit> => {
    const { renderDrift } = await import('../../report/render.js');
    const { document, exit, compares_secrets } = await audit(context, site);
    end(auditEnd(document));
    site.watch.end();
    if (site.watch.lines) out.write(site.watch.lines.drift(document));
    const concluded = await conclude(context, forms, document, { render: renderDrift, exit });
    if (showsText(context) && compares_secrets) err.write(SECRETS_COMPARED);
    if (showsText(context) && document.drift.some(({ status }) => status !== 'settled'))
      err.write(`To see what apply would change: ${typed('trueup plan', context.said)}\n`);
    if (showsText(context) && document.drift.some(isAcceptable))
      err.write(
        `To write the live values into the declarations: ${typed('trueup export --update', context.said)}\n`,
      );
    if (showsText(context) && document.unmanaged_is_drift && document.summary.unmanaged > 0)
      err.write(
        `To write declarations of what is unmanaged: ${typed(exportCommand(context.kinds, document.unmanaged), context.said)}\n`,
      );
    const kept = await issue?.audited(document, exit, site.project.settings);
    return worst([concluded, kept ?? exits.done]);
  });
  return work.catch(async (error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    await reportUnmade(context, paths, forms, error);
    if (error.exit !== exits.interrupted) await issue?.failed(error.diagnostics);
    throw error;
  });
}

/** Whether a declaration in YAML, of no template, could take over what was changed in the cloud. */
const isAcceptable = ({ status, origin, since, changes }: DriftRecord): boolean =>
  status === 'changed' &&
  origin !== null &&
  origin.path === undefined &&
  origin.used_at === undefined &&
  (since === null || changes.some(isOutsideAlone));

/** Whether a value was changed outside of trueup, and not in the declaration. Secrets are shown alike. */
const isOutsideAlone = ({ declared, applied, live }: DriftChange): boolean =>
  applied !== undefined && equal(applied, declared) && !equal(applied, live);

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
