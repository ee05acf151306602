// One audit, as `drift` shows it and `watch` repeats it.
import { exits, worst, type DriftDocument, type Exit } from '../model/index.js';
import type { Context } from './context.js';
import { metaOf, type Site } from './workplace.js';

/** The document of an audit and its exit code: 0 in sync, 2 drift, others where it could not be made. */
export async function audit(context: Context, site: Site): Promise<{ readonly document: DriftDocument; readonly exit: Exit }> {
  const { findDrift } = await import('../reconciler/drift.js');
  const { driftDocument } = await import('../report/index.js');
  const { exit, ...found } = await findDrift(site.desk, site.project, site.snapshot);
  const document = driftDocument({ ...found, meta: metaOf(context, site, site.snapshot) });
  const strangers = context.flags.unmanaged === 'fail' && document.summary.unmanaged > 0 ? exits.changes : exits.done;
  return { document, exit: worst([exit, strangers]) };
}
