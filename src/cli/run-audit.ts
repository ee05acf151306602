// One audit, as `drift` runs it once and `watch` repeatedly.
import { exits, warning, worst, type Diagnostic, type DriftDocument } from '../model/index.js';
import type { Audit } from '../reconciler/audit/drift.js';
import { described } from '../state/store-port.js';
import { withCommands } from './commands-to-type.js';
import type { Context } from './context.js';
import { bareMeta, markTold, metaOf, type ProjectContext } from './working-context.js';

/** The document of an audit and its exit code: 0 in sync, 2 drift, others where something could not be checked. */
export async function audit(
  context: Context,
  site: ProjectContext,
): Promise<Pick<Audit, 'exit' | 'compares_secrets'> & { readonly document: DriftDocument }> {
  const { findDrift } = await import('../reconciler/audit/drift.js');
  const { driftDocument } = await import('../report/index.js');
  // An audit waits for nobody.
  const before = await site.store.holder();
  const { exit, compares_secrets, ...found } = await findDrift(
    site.context,
    site.project,
    site.snapshot,
  );
  markTold(site.project);
  const writer = before ?? (await site.store.holder());
  const writing = writer && [
    warning(
      'apply-in-progress',
      `A run that writes is in progress: ${described(writer)}. What it has not done yet may look like drift.`,
    ),
  ];
  const isDrift = context.flags.unmanaged === 'fail';
  const document = driftDocument({
    ...found,
    ...(isDrift && { unmanaged_is_drift: true }),
    diagnostics: withCommands([...found.diagnostics, ...(writing ?? [])], context.said),
    meta: metaOf(context, site),
  });
  const fails = isDrift && document.summary.unmanaged > 0;
  return { document, compares_secrets, exit: worst([exit, fails ? exits.changes : exits.done]) };
}

/** The document of an audit that could not be made: nothing but why. */
export async function failedAudit(
  context: Context,
  paths: readonly string[],
  diagnostics: readonly Diagnostic[],
): Promise<DriftDocument> {
  const { driftDocument } = await import('../report/index.js');
  return driftDocument({
    drift: [],
    in_sync: [],
    unmanaged: {},
    unmanaged_objects: [],
    health: [],
    expectations: [],
    access: null,
    diagnostics: withCommands(diagnostics, context.said),
    meta: bareMeta(context, { paths: paths.length === 0 ? ['.'] : paths, digest: '' }, 'unknown'),
  });
}
