// What policies see of a fleet: every tenant of the run with its labels and what it would write, and the sums. It is
// made from the plans, after all of them and before the first write.
import { mapMembers, type JsonObject, type TenantEntry } from '../model/index.js';
import { fleetImpact } from './merge.js';

export type PlannedTenant = Pick<TenantEntry, 'tenant' | 'labels' | 'status' | 'kinds'>;

/** The variable `fleet`. */
export function fleetInput(tenants: readonly PlannedTenant[]): JsonObject {
  const { writes, kinds } = fleetImpact(tenants);
  return {
    tenants: tenants.map(tenantInput),
    changed_tenants: tenants.filter(({ status }) => status === 'changes').length,
    writes,
    kinds: mapMembers(kinds, (one) => ({ ...one.writes, tenants: one.tenants })),
  };
}

function tenantInput({ tenant: name, labels, status, ...own }: PlannedTenant): JsonObject {
  const { writes, kinds } = fleetImpact([own]);
  return { name, labels, status, writes, kinds: mapMembers(kinds, (one) => one.writes) };
}
