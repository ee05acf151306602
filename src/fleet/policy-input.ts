// What policies see of a fleet: every tenant of the run with its labels and what it would write, and the sums. It is
// made from the plans, after all of them and before the first write.
import { addedWrites, NO_WRITES, type JsonObject, type TenantEntry } from '../model/index.js';
import { fleetImpact } from './merge.js';

export type PlannedTenant = Pick<TenantEntry, 'tenant' | 'labels' | 'status' | 'kinds'>;

/** The variable `fleet`. */
export function fleetInput(tenants: readonly PlannedTenant[]): JsonObject {
  const { writes, kinds } = fleetImpact(tenants);
  return {
    tenants: tenants.map(tenantInput),
    changed_tenants: tenants.filter(({ status }) => status === 'changes').length,
    writes,
    kinds: Object.fromEntries(
      Object.entries(kinds).map(([kind, one]) => [kind, { ...one.writes, tenants: one.tenants }]),
    ),
  };
}

function tenantInput({ tenant: name, labels, status, kinds }: PlannedTenant): JsonObject {
  const written = Object.entries(kinds).flatMap(([kind, { writes }]) =>
    writes ? [[kind, writes] as const] : [],
  );
  const sum = written.map(([, writes]) => writes).reduce(addedWrites, NO_WRITES);
  return { name, labels, status, writes: sum, kinds: Object.fromEntries(written) };
}
