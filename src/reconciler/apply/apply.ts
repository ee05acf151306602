// Apply: recover, plan, ask, execute (`parallel-run.ts`), prove, record. A rerun resumes.
import {
  defined,
  exits,
  firstNamed,
  flagToAllow,
  isChange,
  Refusal,
  secretsIn,
  worst,
  writes,
  type Diagnostic,
  type Exit,
  type Outcome,
  type PlanDocument,
  type PlanRequest,
  type Project,
  type Seen,
  type State,
} from '../../model/index.js';
import { FRESH, missingSecret } from './write-operation.js';
import type { ApplyContext, ExecutionContext } from './execution-context.js';
import { ParallelRun } from './parallel-run.js';
import { waitFor } from '../recent-writes.js';
import type { Proposal } from '../plan/plan.js';
import { propose, secretsAtHand, SET_KEY } from '../plan/propose.js';
import { recover } from './recovery.js';
import { staleness, unneeded } from '../plan/stale-plan.js';
import type { Session } from '../../state/store-port.js';

export interface Approval {
  /** Shows the plan and asks. */
  readonly approve: (proposal: Proposal) => Promise<boolean>;
  /** The published form, in which two plans are compared. */
  readonly document: (proposal: Proposal) => PlanDocument;
  /** The saved plan this run may not exceed. */
  readonly saved?: PlanDocument;
}

export interface Applied {
  readonly proposal: Proposal;
  readonly approved: boolean;
  readonly outcomes: readonly Outcome[];
  readonly diagnostics: readonly Diagnostic[];
  /** 0, 1, 3, 5 or 7; interruption is for the caller to add. */
  readonly exit: Exit;
}

/** @throws Refusal: undecided (5), stale (6), a reading that failed or a secret that is not there (1); no request was sent to change anything then. */
export async function apply(
  execution: ApplyContext,
  project: Project,
  request: PlanRequest,
  approval: Approval,
): Promise<Applied> {
  const recovered = await recover(execution, execution.session);
  try {
    return await applyRecovered(execution, project, request, { ...approval, recovered });
  } catch (error) {
    if (!(error instanceof Refusal) || recovered.length === 0) throw error;
    throw new Refusal([...recovered, ...error.diagnostics], error.exit);
  }
}

/** @param recovered what became of the requests of an interrupted run; the state holds it already */
async function applyRecovered(
  execution: ApplyContext,
  project: Project,
  request: PlanRequest,
  { approve, document, saved, recovered }: Approval & { readonly recovered: readonly Diagnostic[] },
): Promise<Applied> {
  const snapshot =
    recovered.length > 0 || execution.session.snapshot.unfinished
      ? await execution.session.compact()
      : execution.session.snapshot;
  const proposal = await visible(execution, (waited) =>
    propose({ ...execution, waited }, project, snapshot, request),
  );
  const now = saved && document(proposal);
  const dropped = saved && now ? unneeded(saved, now) : [];
  const nothing = (exit: Exit): Applied => ({
    proposal,
    approved: false,
    outcomes: [],
    diagnostics: [...recovered, ...dropped],
    exit,
  });
  if (saved && now) refuseStale(staleness(saved, now));
  const missing = [
    ...(saved ? unsentSecrets(saved, proposal) : []),
    ...proposal.plan.changes.flatMap((change) =>
      writes(change) ? (missingSecret(change, change.write.fields) ?? []) : [],
    ),
  ];
  if (missing.length > 0) throw new Refusal(missing);
  const asked = execution.clock.boot().milliseconds;
  const approved = await approve(proposal);
  if (proposal.exit !== exits.done && proposal.exit !== exits.changes)
    return nothing(proposal.exit);
  if (!approved) return nothing(exits.error);
  const final =
    execution.clock.boot().milliseconds - asked > FRESH
      ? await propose(execution, project, snapshot, request)
      : proposal;
  if (final !== proposal) {
    refuseStale(staleness(document(proposal), document(final)));
    refuseHindered(final, saved !== undefined);
  }
  await recordSeen(execution.session, snapshot.state, final);
  const run = new ParallelRun(execution, final, {
    entries: snapshot.state.resources,
    project,
    allow: request.allow,
  });
  const outcomes = await run.all();
  const error = run.error ?? (await compacted(execution, project, outcomes));
  const diagnostics = [...recovered, ...dropped, ...run.notes, ...(error?.diagnostics ?? [])];
  return {
    proposal: final,
    approved,
    outcomes,
    diagnostics,
    exit: worst([exitOf(final, outcomes), ...(error ? [error.exit] : [])]),
  };
}

/** Secrets that a saved plan sends to an object that is there, and that this run cannot compare, so that it would leave them as they are. */
function unsentSecrets(
  saved: PlanDocument,
  { plan, secrets }: Pick<Proposal, 'plan' | 'secrets'>,
): readonly Diagnostic[] {
  const approved = new Map(
    saved.resource_changes.map(({ address, change, patch }) => [
      address,
      change.actions[0] === 'update' ? patch : [],
    ]),
  );
  return plan.changes.flatMap((change): readonly Diagnostic[] => {
    if (change.action === 'create' || !('declaredObject' in change) || !change.declaredObject)
      return [];
    const { address } = change;
    const patch = (approved.get(address) ?? []).filter(({ op }) => op !== 'test');
    const unsent = [...secretsIn(change.declaredObject.declared)].filter(
      ([path]) =>
        secrets.get(`${address} ${path}`) === 'unavailable' &&
        patch.some((one) => `${pointerOf(path)}/`.startsWith(`${one.path}/`)),
    );
    if (unsent.length === 0) return [];
    const keyless: Diagnostic = {
      severity: 'error',
      code: 'fingerprint-key',
      summary: `${address}: whether \`${unsent[0]![0]}\` still has to be sent is not known.`,
      detail: SET_KEY,
      address,
      ...defined({ origin: change.origin }),
    };
    return [missingSecret(change, Object.fromEntries(unsent)) ?? keyless];
  });
}

const pointerOf = (path: string): string =>
  `/${path.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('.', '/')}`;

/** New objects of earlier runs that this reading shows: their absence means something from now on. */
async function recordSeen(
  session: Session,
  { recent = [] }: State,
  { liveObjects }: Proposal,
): Promise<void> {
  const seen = recent.map(({ kind, unseen }): Seen => ({
    type: 'seen',
    kind,
    ids: unseen.filter((id) => liveObjects.get(kind)?.byId.has(id)),
  }));
  const some = seen.filter(({ ids }) => ids.length > 0);
  if (some.length > 0) await session.record(...some);
}

const FIRST_PAUSE = 1000;

/** Plans again, with growing pauses, while the plan has to do with objects that were created just now and are not visible yet. */
async function visible(
  context: ApplyContext,
  plan: (waited: number) => Promise<Proposal>,
): Promise<Proposal> {
  const { clock, settleMilliseconds } = context;
  const began = clock.monotonic();
  for (let pause = FIRST_PAUSE; ; pause *= 2) {
    const waited = clock.monotonic() - began;
    const proposal = await plan(waited);
    const left = settleMilliseconds - waited;
    if (proposal.awaited.length === 0 || left <= 0) return proposal;
    const why = `a recent write may not show yet: ${firstNamed(proposal.awaited, 1)}`;
    await waitFor(context, why, Math.min(pause, left));
  }
}

/** Results stay recorded whatever becomes of the state: the journal holds them. */
async function compacted(
  { session, fingerprints }: ExecutionContext,
  project: Project,
  outcomes: readonly Outcome[],
): Promise<Refusal | undefined> {
  try {
    await session.compact({
      finish: (state) => fingerprints.renew(state, secretsAtHand(project)),
      applied: project,
      outcomes,
    });
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function refuseStale(complaints: readonly Diagnostic[]): void {
  if (complaints.length > 0) throw new Refusal(complaints, exits.stale);
}

/** Refuses a plan for what came up while it was looked at, as it would have been refused before. */
function refuseHindered({ plan, exit }: Proposal, isSaved: boolean): void {
  if (exit === exits.done || exit === exits.changes) return;
  const blocked = plan.verdicts.flatMap((one): Diagnostic | [] => {
    const { rule, verdict, detail, address } = one;
    const flag = flagToAllow(one);
    return verdict === 'blocked'
      ? {
          severity: 'error',
          code: rule,
          summary: `Blocked by policy meanwhile: ${detail}.`,
          ...(flag !== undefined && {
            detail: `To allow it${isSaved ? ', make the plan again with' : ':'} ${flag}`,
          }),
          ...defined({ address }),
        }
      : [];
  });
  throw new Refusal(
    [...plan.diagnostics.filter((one) => one.severity === 'error'), ...blocked],
    exit,
  );
}

function exitOf({ plan }: Proposal, outcomes: readonly Outcome[]): Exit {
  const real = new Set(plan.changes.filter(isChange).map((change) => change.address));
  const done = outcomes.some(
    (one) => (one.outcome === 'done' || one.partly) && real.has(one.address),
  );
  const undone = outcomes.some((one) => one.outcome === 'failed' || one.outcome === 'skipped');
  return worst([
    ...(outcomes.some((one) => one.outcome === 'unknown') ? [exits.undecided] : []),
    ...(undone ? [done ? exits.partial : exits.error] : []),
  ]);
}
