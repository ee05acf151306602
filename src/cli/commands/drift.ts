// `trueup drift`: what is live against what is declared and what was last applied.
import { exits, worst, type Exit } from '../../model/index.js';
import { driftFormats } from '../../report/formats.js';
import type { Command } from '../context.js';
import { deliver, formsOf, tellTrouble } from '../reports.js';
import { metaOf, withProject } from '../workplace.js';

export const run: Command = (context, paths) => {
  const forms = formsOf(context, driftFormats);
  const { flags, out } = context;
  return withProject(context, paths, async (site): Promise<Exit> => {
    const { findDrift } = await import('../../reconciler/drift.js');
    const { driftDocument, renderDrift } = await import('../../report/index.js');
    const { exit, ...audit } = await findDrift(site.desk, site.project, site.snapshot);
    const document = driftDocument({ ...audit, meta: metaOf(context, site, site.snapshot) });
    site.watch.end();
    if (site.watch.lines) out.write(site.watch.lines.drift(document));
    await deliver(context, forms, (format, style) => renderDrift(document, format, style));
    await tellTrouble(context, document, forms.shown);
    const strangers = flags.unmanaged === 'fail' && document.summary.unmanaged > 0 ? exits.changes : exits.done;
    const found = worst([exit, strangers]);
    return found === exits.changes && !flags.detailedExitcode ? exits.done : found;
  });
};
