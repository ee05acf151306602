// `trueup drift`: what is live against what is declared and what was last applied.
import { exits, type Exit } from '../../model/index.js';
import { driftFormats } from '../../report/formats.js';
import { audit } from '../audit.js';
import type { Command } from '../context.js';
import { deliver, formsOf, tellTrouble } from '../reports.js';
import { withProject } from '../workplace.js';

export const run: Command = (context, paths) => {
  const forms = formsOf(context, driftFormats);
  const { flags, out } = context;
  return withProject(context, paths, async (site): Promise<Exit> => {
    const { renderDrift } = await import('../../report/index.js');
    const { document, exit } = await audit(context, site);
    site.watch.end();
    if (site.watch.lines) out.write(site.watch.lines.drift(document));
    await deliver(context, forms, (format, style) => renderDrift(document, format, style));
    await tellTrouble(context, document, forms.shown);
    return exit === exits.changes && !flags.detailedExitcode ? exits.done : exit;
  });
};
