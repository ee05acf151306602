// The nouns of a fleet: a tenant is one customer account with credentials, state and rate limit of its own.
import type { Origin } from '../model/index.js';

/** The file that makes a folder a fleet. */
export const FLEET_FILE = 'trueup.fleet.yaml';

export type CredentialSource =
  { readonly env_prefix: string } | { readonly command: readonly string[] };

export interface Tenant {
  readonly name: string;
  /** Relative to the folder of the fleet. */
  readonly paths: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** As the fleet names it; absent: a file of its own. */
  readonly state?: string;
  readonly credentials: CredentialSource;
  readonly requests_per_minute?: number;
  readonly origin: Origin;
}

export interface Stage {
  readonly select: string;
  /** Milliseconds before the next stage of an apply. */
  readonly wait: number;
  readonly origin: Origin;
}

/** Limits over tenants. */
export interface StopRules {
  /** Failed tenants in a row. */
  readonly failures: number;
  /** The most tenants that one apply may change. */
  readonly changed_tenants?: number;
  /** Tenants that a policy blocks. */
  readonly blocked?: number;
}

export interface Fleet {
  readonly tenants: readonly Tenant[];
  readonly concurrency: number;
  readonly order: readonly Stage[];
  readonly stop: StopRules;
}

/** As it stands in names of variables: in upper case, with `_` for everything but letters and digits. */
export const variableWord = (name: string): string =>
  name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');

/** The state of a tenant. Environments never share a file. */
export function tenantState({ name, state }: Tenant, env: string | undefined): string {
  const isFile = state === undefined || !/^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(state);
  if (state !== undefined && !(isFile && env !== undefined)) return state;
  return `.trueup/tenants/${name}/state${env === undefined ? '' : `.${env}`}.json`;
}
