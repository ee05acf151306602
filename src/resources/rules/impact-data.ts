// Reads the data for the impact of a plan. If a part of it cannot be read, the impact is incomplete and a warning says
// so; the plan is not affected.
import type { Diagnostic, Found, Impact, LiveObjects, State } from '../../model/index.js';
import type { AuditContext } from '../../reconciler/audit/drift.js';
import { managers } from '../../reconciler/plan/recorded-addresses.js';
import { observe, unreadWarnings } from '../../reconciler/live-collections.js';
import type { Proposal } from '../../reconciler/plan/plan.js';
import { observingOf } from '../../reconciler/plan/propose.js';
import { alerts } from '../alerts.js';
import { configurationManagers } from '../configuration-managers.js';
import { routers as routerKind } from '../routers.js';
import { impactOf } from './impact.js';
import { ACCOUNTS } from './roles.js';
import { DESTINATIONS, RULES } from './rule-without-destination.js';

/** The warnings, and the impact if it is known. */
export interface Assessment {
  readonly impact?: Impact;
  readonly diagnostics: readonly Diagnostic[];
}

export interface Assessed {
  readonly proposal: Proposal;
  readonly state: State | undefined;
  /** ISO 8601. */
  readonly since: string;
}

/** The alerts since a time against the rules before and after a plan. A plan with errors has no after, and is not judged. */
export async function assess(
  context: AuditContext,
  { proposal: { plan, liveObjects }, state, since }: Assessed,
): Promise<Assessment> {
  if (plan.diagnostics.some(({ severity }) => severity === 'error')) return { diagnostics: [] };
  const { cloud, collections, clock } = context;
  const entries = state?.resources ?? {};
  const diagnostics: Diagnostic[] = [];
  const unread = [ACCOUNTS, RULES, DESTINATIONS].filter((name) => !liveObjects.has(name));
  try {
    const more = await observe(observingOf(context, state), unread);
    let accounts: Promise<ReadonlyMap<string, string>> | undefined;
    const impact = await impactOf(
      {
        live: new Map([...liveObjects, ...more]),
        changes: plan.changes,
        addressOf: managers(plan.changes, entries),
      },
      {
        since,
        until: new Date(clock.now()).toISOString(),
        alerts: cloud.records(collections.get(alerts.name)!, { filters: {}, since }),
        accountOf: async (router) =>
          (await (accounts ??= routers(context, liveObjects, diagnostics))).get(router),
      },
    );
    return { impact, diagnostics };
  } catch (error) {
    return { diagnostics: unreadWarnings(error, 'What the plan means for alerts is not known.') };
  }
}

/** The account of each router: its own, where routers were read, or that of its configuration manager, which is read only if an alert needs it. */
async function routers(
  { cloud, collections }: AuditContext,
  live: LiveObjects,
  diagnostics: Diagnostic[],
): Promise<ReadonlyMap<string, string>> {
  const { name } = configurationManagers;
  const found = new Map<string, string>();
  const read = live.get(routerKind.name);
  for (const { id, values } of read?.byId.values() ?? [])
    if (typeof values.account === 'string') found.set(id, values.account);
  if (read) return found;
  const learn = ({ values: { router, account } }: Pick<Found, 'values'>): unknown =>
    typeof router === 'string' && typeof account === 'string' && found.set(router, account);
  try {
    if (live.has(name)) live.get(name)?.byId.forEach(learn);
    else
      for await (const page of cloud.records(collections.get(name)!, { filters: {} }))
        page.forEach(learn);
  } catch (error) {
    const summary = 'Which account a router belongs to is not known, so its alerts are not judged.';
    diagnostics.push(...unreadWarnings(error, summary));
    return new Map();
  }
  return found;
}
