// The plans of all tenants as one bundle, and what limits over tenants and policies of the fleet say of them.
import { tenantsAre } from '../fleet/lanes.js';
import type { RunStop } from '../fleet/merge.js';
import type { PlannedTenant } from '../fleet/policy-input.js';
import { shardIn } from '../fleet/shards.js';
import { entryDigest, namesOf, tenantState, type StopRules } from '../fleet/tenant.js';
import {
  errorDiagnostic,
  defined,
  exits,
  type PlanFile,
  type TenantEntry,
} from '../model/index.js';
import { planFigures, withWrites } from '../report/fleet-figures.js';
import type { Again } from '../report/words.js';
import type { Bundle, BundleHead, BundleRequest } from '../state/plan-bundle.js';
import { bundleAgain } from './commands-to-type.js';
import type { Context } from './context.js';
import type { FleetSite } from './fleet-context.js';
import { fleetVerdicts } from './fleet-policies.js';
import type { FleetEnd } from './fleet-run.js';
import type { Plans } from './fleet-tenant-work.js';
import { identityOf } from './plan-identity.js';
import { pairs } from './project.js';
import { version } from './version.js';

/** A bundle, and how its plans are made again. @param name as it is typed @throws Refusal where it is none, is damaged or has expired */
export async function bundleAt(
  context: Pick<Context, 'files' | 'clock' | 'cwd' | 'flags' | 'environment' | 'masking'>,
  path: string,
  name: string,
): Promise<Pick<Plans, 'bundle' | 'again'>> {
  const { files, clock, masking } = context;
  const { readBundle } = await import('../state/plan-bundle.js');
  const againOf = (head: BundleHead): Again => bundleAgain(masking, name, head);
  const bundle = await readBundle({ path, files, clock }, identityOf(context), againOf);
  return { bundle, again: againOf(bundle) };
}

export async function bundleOf(
  { clock, environment, flags }: Context,
  site: FleetSite,
  run: string,
  { entries, outcomes }: FleetEnd,
): Promise<string> {
  const { bundleText } = await import('../state/plan-bundle.js');
  const plans = new Map<string, PlanFile>();
  for (const { name } of site.here) {
    const one = outcomes.get(name)?.plan;
    if (one) plans.set(name, one);
  }
  return bundleText(
    {
      trueup_version: version,
      run,
      created_at: new Date(clock.now()).toISOString(),
      env: site.env ?? null,
      allow: flags.allow ?? [],
      ...defined({ asked: askedFor({ flags, environment }, plans, site.here.length) }),
      tenants: site.here.map((tenant) => ({
        tenant: tenant.name,
        entry: entryDigest(tenant, site),
        status: entries.get(tenant.name)?.status ?? 'not-run',
        plan: plans.get(tenant.name)?.digest ?? null,
        state: tenantState(tenant, site.env),
      })),
    },
    plans,
  );
}

/**
 * What chose the tenants and their plans. A variable that no plan holds may be a secret; undefined where it may as well
 * be one that a tenant without a plan needs.
 */
function askedFor(
  { flags, environment }: Pick<Context, 'environment' | 'flags'>,
  plans: ReadonlyMap<string, PlanFile>,
  tenants: number,
): BundleRequest | undefined {
  const { changedSince, encryptTo, select, shard, validFor } = flags;
  const own = shardIn(shard, environment);
  const held = [...plans.values()].map(({ options }) => options.variables);
  const given = pairs('--var', flags.var);
  const variables = given.filter(([name, value]) => held.some((one) => one[name] === value));
  if (variables.length < given.length && plans.size < tenants) return undefined;
  return {
    variables: Object.fromEntries(variables),
    ...defined({
      select,
      changed_since: changedSince,
      shard: own && `${own.index}/${own.total}`,
      valid_for: validFor,
      encrypt_to: encryptTo,
    }),
  };
}

/** Whether any of it is more than a note. */
export const isBlocking = (stops: readonly RunStop[]): boolean =>
  stops.some(({ exit }) => exit !== exits.done);

/** The limits over tenants that the plans are beyond. */
export function beyondLimits(
  { changed_tenants, blocked }: StopRules,
  entries: ReadonlyMap<string, Pick<TenantEntry, 'status'>>,
): readonly RunStop[] {
  const count = (wanted: string): number =>
    [...entries.values()].filter(({ status }) => status === wanted).length;
  const [changed, held] = [count('changes'), count('blocked')];
  const detail =
    'No tenant was changed. Select fewer tenants, or change `stop` in trueup.fleet.yaml.';
  const found: RunStop[] = [];
  const add = (code: string, summary: string): unknown =>
    found.push({ exit: exits.blocked, diagnostics: [errorDiagnostic(code, summary, detail)] });
  if (changed_tenants !== undefined && changed > changed_tenants)
    add(
      'changed-tenants',
      `${changed} tenants would change, and \`stop.changed_tenants\` is ${changed_tenants}.`,
    );
  if (blocked !== undefined && held >= blocked)
    add('blocked-tenants', `${tenantsAre(held)} blocked, and \`stop.blocked\` is ${blocked}.`);
  return found;
}

/** What limits over tenants, and policies of the fleet, say of the plans of a bundle: those of other shards, too. */
export async function judged(
  context: Context,
  site: FleetSite,
  bundle: Bundle,
  again: Again | undefined,
) {
  const selected = new Set(namesOf(site.selected));
  const statuses = new Map(
    bundle.tenants.flatMap((one) => (selected.has(one.tenant) ? [[one.tenant, one]] : [])),
  );
  const tenants = () => plannedIn(site, bundle, selected);
  const verdicts = await fleetVerdicts(context, tenants, bundle.allow, again);
  return { statuses, verdicts, beyond: [...beyondLimits(site.fleet.stop, statuses), ...verdicts] };
}

/** The plans of a bundle, as policies of the fleet see them: each is read and left again. */
function plannedIn(
  { fleet }: Pick<FleetSite, 'fleet'>,
  bundle: Bundle,
  selected: ReadonlySet<string>,
): readonly PlannedTenant[] {
  const labels = new Map(fleet.tenants.map((one) => [one.name, one.labels]));
  return bundle.tenants
    .filter(({ tenant }) => selected.has(tenant))
    .map(({ tenant, status }) => {
      const document = status === 'changes' ? bundle.planOf(tenant)?.document : undefined;
      const kinds = document ? withWrites(planFigures(document, []).kinds, document) : {};
      return { tenant, status, kinds, labels: labels.get(tenant) ?? {} };
    });
}
