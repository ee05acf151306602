// Everything that a command on the cloud works with, set up in order and closed in every case.
import {
  exits,
  Refusal,
  tally,
  type Diagnostic,
  type Project,
  type Plan,
  type PlanDocument,
  type PlanRequest,
  type Settings,
} from '../model/index.js';
import type { AuditContext } from '../reconciler/audit/drift.js';
import type { Meta, PlanDocumentInput } from '../report/index.js';
import type { Session, Snapshot, Store } from '../state/index.js';
import { withCommands, verdictWithCommands } from './commands-to-type.js';
import { warningsBriefly, type Context } from './context.js';
import { settleMilliseconds } from './environment-settings.js';
import { fingerprintsOf, storeOf } from './state-location.js';
import {
  brokenHere,
  withSecrets,
  projectToPlan,
  chosen,
  wholeProject,
  type Chosen,
} from './project.js';
import { reach, type Reached } from './cloud-connection.js';
import { madeBy } from './version.js';
import { watch, type Watch } from './watch-loop.js';

export interface Workplace {
  readonly store: Store;
  /** As it was before anything was locked. */
  readonly snapshot: Snapshot | undefined;
  readonly reached: Reached;
  readonly watch: Watch;
  readonly context: AuditContext & { readonly cloud: Reached['cloud'] };
}

export interface ProjectContext extends Workplace {
  readonly project: Project;
}

/** Opens what the settings name, runs `work`, closes. Declarations are not needed for it. */
export async function withCloud<T>(
  context: Context,
  settings: Settings,
  work: (place: Workplace) => Promise<T>,
  env?: string,
): Promise<T> {
  const store = await storeOf(context, settings, env);
  const snapshot = await store.read();
  const fingerprints = await fingerprintsOf(context);
  const { provider } = await import('../resources/provider.js');
  const watching = await watch(context);
  const there = Object.values(snapshot?.state.resources ?? {});
  const ahead = Object.fromEntries(tally(there.map(({ kind }) => kind)));
  const reached = await reach(context, settings, { emit: watching.emit, ahead });
  try {
    const { kinds, collections, clock } = context;
    const { cloud } = reached;
    const { emit } = watching;
    const shared = { kinds, collections, cloud, fingerprints, clock, emit };
    return await work({
      store,
      snapshot,
      reached,
      watch: watching,
      context: { ...provider, ...shared, settleMilliseconds: settleMilliseconds(context) },
    });
  } finally {
    watching.end();
    await reached.close();
  }
}

/** Warnings of projects that were told, or that a document holds. */
const told = new WeakSet<readonly Diagnostic[]>();

/** For commands that make no document of a plan. */
export async function tellWarnings(
  context: Context,
  { project: { warnings = [] } }: Pick<ProjectContext, 'project'>,
): Promise<void> {
  told.add(warnings);
  await context.tell(warningsBriefly(context, warnings));
}

/** The error after the warnings of the project, unless these were told. */
export function withWarnings({ warnings = [] }: Project, error: Refusal): Refusal {
  if (warnings.length === 0 || told.has(warnings)) return error;
  told.add(warnings);
  return new Refusal([...warnings, ...error.diagnostics], error.exit);
}

/** Called where a document holds the warnings of its project. */
export const markTold = ({ warnings = [] }: Project): unknown => told.add(warnings);

/** Loads the project, then as `withCloud`. */
export async function withProject<T>(
  context: Context,
  paths: readonly string[],
  work: (site: ProjectContext) => Promise<T>,
  how: Chosen = chosen(context),
): Promise<T> {
  const loaded = await projectToPlan(context, paths, how);
  const project = await withSecrets(context, await wholeProject(context, loaded, how));
  try {
    const { settings } = project;
    const migrated = async (place: Workplace): Promise<T> => {
      const { store, snapshot, reached } = place;
      const { target } = reached.cloud;
      const files = project.declarations.map(({ file, origin }) => file ?? origin.file);
      if (!snapshot) await store.assertMigrated?.({ target, files });
      return work({ ...place, project });
    };
    return await withCloud(context, settings, migrated, how.env);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.exit !== exits.error) throw withWarnings(project, error);
    // The error that prevented the plan is not about the references; their errors are reported as well.
    const request = requestOf(context);
    const broken = await brokenHere(context, project, how.env, { request }).catch(() => []);
    const said = new Set(error.diagnostics.map(({ summary }) => summary));
    const more = broken.filter(({ summary }) => !said.has(summary));
    const whole =
      more.length > 0 ? new Refusal([...error.diagnostics, ...more], error.exit) : error;
    throw withWarnings(project, whole);
  }
}

export function requestOf({ flags }: Context): PlanRequest {
  return {
    targets: flags.target ?? [],
    excludes: flags.exclude ?? [],
    allow: flags.allow ?? [],
    destroy: flags.destroy ?? false,
  };
}

/** The metadata of a document that neither a cloud nor a state had a part in. */
export const bareMeta = (
  context: Pick<Context, 'clock' | 'masking'>,
  generated_from: Meta['generated_from'],
  target: string,
): Meta => ({
  ...madeBy(context),
  generated_from,
  target,
  state: { lineage: null, serial: 0 },
  api_requests: {},
  masking: context.masking,
});

/** The metadata of a document about its run. */
export function metaOf(
  context: Context,
  { project, reached: { cloud }, snapshot }: ProjectContext,
): Meta {
  const { lineage = null, serial = 0 } = snapshot?.state ?? {};
  return {
    ...bareMeta(context, sourceOf(project), cloud.target),
    state: { lineage, serial },
    api_requests: cloud.cost(),
  };
}

/** What a document is made from. */
export const sourceOf = (project: Project): Meta['generated_from'] => ({
  paths: project.paths,
  get digest() {
    return project.digest();
  },
});

/** The published form of a plan. What is kept is only listed where somebody will read it. */
export async function planDocumentOf(
  context: Context,
  site: ProjectContext,
  plan: Plan,
  how: Pick<PlanDocumentInput, 'keeps' | 'impact'>,
): Promise<PlanDocument> {
  const { planDocument } = await import('../report/index.js');
  const { kinds, said } = context;
  markTold(site.project);
  const diagnostics = withCommands(plan.diagnostics, said);
  const verdicts = plan.verdicts.map((one) => verdictWithCommands(one, said));
  const meta = metaOf(context, site);
  return planDocument({ plan: { ...plan, diagnostics, verdicts }, kinds, meta, ...how });
}

/** Runs `work` while no other run may write. */
export async function underLock<T>(
  store: Store,
  operation: string,
  { cloud }: { readonly cloud: { readonly target: string } },
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await store.open(operation, cloud.target);
  try {
    return await work(session);
  } finally {
    await session.release();
  }
}
