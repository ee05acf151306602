// What is done with one tenant of a fleet, in this process or by a worker: it is audited, planned, or its plan is applied,
// unless the run has its result already.
import { isFinal } from '../fleet/merge.js';
import { entryDigest, type Tenant } from '../fleet/tenant.js';
import {
  defined,
  digest,
  exits,
  Refusal,
  refuse,
  type PlanFile,
  type Project,
  type TenantResult,
} from '../model/index.js';
import type { Bundle } from '../state/plan-bundle.js';
import { applyPlan, type Applied } from './commands/apply.js';
import type { Context } from './context.js';
import { tenantFlags } from './fleet-command.js';
import type { FleetSite } from './fleet-context.js';
import type { QueuedRun } from './fleet-queue.js';
import type { RunRecords } from './fleet-results.js';
import {
  doneBefore,
  type FleetEnd,
  type TenantOutcome,
  type TenantTask,
  type TenantWork,
} from './fleet-run.js';
import { withPolicies } from './project-policies.js';
import { chosen, projectToPlan } from './project.js';
import { audit } from './run-audit.js';
import {
  isUntouched,
  refuseSecretVariables,
  refuseStalePlan,
  type SavedPlan,
} from './saved-plan.js';
import { auditWait } from './state-location.js';
import { planDocumentOf, requestOf, withProject } from './working-context.js';

/** Of what is run: an earlier result of the same run stands only if it is of the same. */
const runDigest = (context: Context, site: FleetSite, tenant: Tenant, project: Project): string =>
  digest([project.digest(), entryDigest(tenant, site), ...(context.flags.allow ?? [])]);

const doneAlready = (before: TenantResult): TenantOutcome => ({
  exit: before.exit ?? exits.error,
  digest: before.digest,
  before,
});

/** The result that the run has already, as far as it can be told without credentials. */
export const doneOffline =
  (site: FleetSite, records: RunRecords): NonNullable<TenantTask['known']> =>
  async (tenant, offline) => {
    const last = await records.last(tenant.name);
    if (!last || !isFinal(last)) return undefined;
    try {
      const own = await offline();
      const project = await projectToPlan(own, tenant.paths, chosen(own));
      return last.digest === runDigest(own, site, tenant, project) ? doneAlready(last) : undefined;
    } catch (error) {
      // The declarations may need what the credential command prints, or the work says what is wrong with them.
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  };

/** Does nothing where the run has a result already, of declarations that the credential command has a part in. */
export const unlessDone =
  (site: FleetSite, records: RunRecords, work: TenantWork): TenantWork =>
  async (context, tenant) => {
    const last = await records.last(tenant.name);
    if (!last || !isFinal(last) || 'env_prefix' in tenant.credentials) return work(context, tenant);
    const project = await projectToPlan(context, tenant.paths, chosen(context));
    const of = runDigest(context, site, tenant, project);
    const before = await doneBefore(records, tenant.name, of);
    return before ? doneAlready(before) : work(context, tenant);
  };

/** Audits one tenant, as `trueup drift` does. */
export const auditedIn =
  (site: FleetSite): TenantWork =>
  (own, tenant) =>
    withProject(own, tenant.paths, async (place) => {
      const { document, exit } = await audit(own, place);
      return { exit, document, digest: runDigest(own, site, tenant, place.project) };
    });

/** Audits the tenants that the run has no result of, each while no other run does. */
export function auditWork(context: Context, site: FleetSite, records: RunRecords): TenantTask {
  const [audited, wait] = [auditedIn(site), auditWait(context)];
  const { states } = site.fleet;
  return {
    command: 'drift',
    flags: tenantFlags(context),
    known: doneOffline(site, records),
    work: unlessDone(site, records, (own, tenant) =>
      records.alone(
        tenant.name,
        states,
        { signal: own.signal, wait, notify: (one) => own.beside(own.tell([one])) },
        (signal) => audited({ ...own, signal }, tenant),
      ),
    ),
  };
}

/** Plans one tenant, as `trueup plan` does. @param saves for whom: for this process, or for another one @param lifetime in milliseconds */
export const planned =
  (site: FleetSite, saves: 'no' | 'memory' | 'file', lifetime?: number): TenantWork =>
  (own, tenant) =>
    withProject(own, tenant.paths, async (without): Promise<TenantOutcome> => {
      if (saves === 'file') refuseSecretVariables(own, without);
      const place = await withPolicies(own, without);
      const { propose } = await import('../reconciler/plan/propose.js');
      const { planFileOf } = await import('../state/plan-file.js');
      const request = requestOf(own);
      const { plan, exit } = await propose(place.context, place.project, place.snapshot, request);
      const document = await planDocumentOf(own, place, plan, { keeps: 'all' });
      const options = {
        ...request,
        ...defined({ env: site.env }),
        variables: place.project.variables,
      };
      const isWhole = !plan.diagnostics.some(({ severity }) => severity === 'error');
      return {
        exit,
        document,
        digest: runDigest(own, site, tenant, place.project),
        ...(isWhole &&
          saves !== 'no' && {
            plan: planFileOf(own.clock, document, options, defined({ lifetime })),
          }),
      };
    });

export interface Plans extends Omit<SavedPlan, 'file'> {
  readonly bundle: Bundle;
  /** Present where they were made in this process. */
  readonly now?: PlannedRun;
}

export interface PlannedRun extends Pick<QueuedRun, 'run' | 'records'> {
  readonly end: FleetEnd;
}

/** Applies the plan of one tenant. */
export const applyOf = (site: FleetSite, plans: Plans, records: RunRecords) => ({
  known: (tenant: Tenant) => knownOf(tenant, plans, records),
  work: (own: Context, tenant: Tenant) => appliedOne(own, site, tenant, plans),
});

/** What was done before, or could not be planned. @throws Refusal where a bundle has no plan */
async function knownOf(
  { name }: Tenant,
  { bundle, again, now }: Plans,
  records: RunRecords,
): Promise<TenantOutcome | undefined> {
  const planning = now?.end.outcomes.get(name);
  const entry = now?.end.entries.get(name);
  if (planning?.before || planning?.plan) return planning.before && planning;
  if (entry) {
    const { exit, summary, diagnostics } = entry;
    const code = exit ?? exits.error;
    const { document, digest = '' } = planning ?? {};
    return { exit: code, digest, summary, diagnostics, ...defined({ document }) };
  }
  const bundled = bundle.tenants.find(({ tenant }) => tenant === name);
  if (bundled?.plan) {
    const before = await doneBefore(records, name, bundled.plan);
    return before && doneAlready(before);
  }
  return refuse(
    'no-plan',
    `there is no plan of ${name}: when the plans were made, its status was \`${bundled?.status ?? 'missing'}\``,
    { detail: `Fix that, and plan ${again()}` },
  );
}

async function appliedOne(
  own: Context,
  site: FleetSite,
  tenant: Tenant,
  { bundle, name, again, now }: Plans,
): Promise<TenantOutcome> {
  const bundled = bundle.tenants.find((one) => one.tenant === tenant.name);
  const file = bundle.planOf(tenant.name)!;
  const of = now?.end.outcomes.get(tenant.name)?.digest ?? file.digest;
  if (bundled?.entry !== entryDigest(tenant, site))
    refuseStalePlan(
      `${name} is stale: the entry of ${tenant.name} in trueup.fleet.yaml is another one.`,
      again,
    );
  const saved = { name, again, file };
  // What this run has planned itself is not checked twice.
  if (isEmpty(file) && (now !== undefined || (await isUntouched(own, saved))))
    return { exit: exits.done, digest: of, document: file.document };
  let applied: Applied | undefined;
  const exit = await applyPlan(own, saved, (one) => (applied = one));
  return {
    exit,
    digest: of,
    ...(!now && { again }),
    ...(applied && { document: applied.document, outcomes: applied.outcomes }),
  };
}

/** Whether an apply would do nothing, and record nothing. */
const isEmpty = ({ document }: PlanFile): boolean =>
  document.policy.every(({ verdict }) => verdict !== 'blocked') &&
  document.resource_drift.length === 0 &&
  document.resource_changes.every(
    ({ change, previous_address }) =>
      change.actions[0] === 'no-op' && !change.importing && previous_address === undefined,
  );
