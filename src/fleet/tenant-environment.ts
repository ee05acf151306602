// The environment of one tenant: what all have alike, and its own variables under the usual names. Credentials without
// a prefix, and the variables of other tenants, are left out: a tenant without credentials must not use those of another.
import { isOwnCredential } from '../model/index.js';
import type { Tenant } from './tenant.js';

export type Variables = Readonly<Record<string, string>>;

/** The variables of all tenants, by prefix and usual name, and those that are of no tenant. */
export interface SplitEnvironment {
  readonly shared: Variables;
  readonly byPrefix: ReadonlyMap<string, Variables>;
}

const PROGRAM = 'TRUEUP';

/**
 * A variable belongs to the longest prefix that it begins with.
 * @param withheld usual names of the credentials of the cloud
 */
export function splitEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  tenants: readonly Tenant[],
  withheld: ReadonlySet<string>,
): SplitEnvironment {
  const prefixes = new Set(
    tenants.flatMap(({ credentials }) =>
      'env_prefix' in credentials ? [credentials.env_prefix] : [],
    ),
  );
  const lengths = [...new Set([...prefixes].map(({ length }) => length))].toSorted((a, b) => b - a);
  const shared: Record<string, string> = {};
  const byPrefix = new Map<string, Record<string, string>>();
  for (const prefix of prefixes) byPrefix.set(prefix, {});
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) continue;
    const length = lengths.find((one) => name.length > one && prefixes.has(name.slice(0, one)));
    if (length !== undefined) byPrefix.get(name.slice(0, length))![name.slice(length)] = value;
    else if (!isForeign(name) && !withheld.has(name)) shared[name] = value;
  }
  return { shared, byPrefix };
}

/** A credential of trueup under a prefix that no tenant has. */
const isForeign = (name: string): boolean =>
  isOwnCredential(name) && !name.toUpperCase().startsWith(`${PROGRAM}_`);

/** @param printed what its command gave */
export function environmentFor(
  { credentials, variables }: Tenant,
  { shared, byPrefix }: SplitEnvironment,
  printed: Variables = {},
): Variables {
  const own = 'env_prefix' in credentials ? byPrefix.get(credentials.env_prefix) : printed;
  const made: Record<string, string> = { ...shared, ...own };
  for (const [name, value] of Object.entries(variables)) made[`${PROGRAM}_VAR_${name}`] = value;
  return made;
}
