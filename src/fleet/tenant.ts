// The nouns of a fleet: a tenant is one customer account with credentials, state and rate limit of its own.
import { digest, isAddress, sha256, urlFrom, type Origin } from '../model/index.js';

/** The file that makes a folder a fleet. */
export const FLEET_FILE = 'trueup.fleet.yaml';

/** Also the name of a file. */
export const TENANT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

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

export const namesOf = (tenants: readonly Tenant[]): readonly string[] =>
  tenants.map(({ name }) => name);

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
  /** Where its results are kept, if its states have a remote place in common. */
  readonly results?: string;
  /** As it names its states, if it keeps results there: tells it from another fleet with results at the same place. */
  readonly states?: string;
}

/** As it stands in names of variables: in upper case, with `_` for everything but letters and digits. */
export const variableWord = (name: string): string =>
  name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');

const NAMED = /\$\{(?:tenant|TENANT)\}/;

/** The remote place that states such as `s3://bucket/prefix/${tenant}` have in common; undefined where there is none. */
export function commonPlace(state: string | undefined): string | undefined {
  if (state === undefined || !isAddress(state) || !NAMED.test(state)) return undefined;
  const [path = '', query = ''] = state.split('?');
  const segments = path.split('/');
  const at = segments.findIndex((one) => NAMED.test(one));
  // After the scheme, an empty segment and the host.
  if (at >= 0 && at < 3) return undefined;
  const kept = query.split('&').filter((one) => one !== '' && !NAMED.test(one));
  const place = (at < 0 ? segments : segments.slice(0, at)).join('/');
  return kept.length > 0 ? `${place}?${kept.join('&')}` : place;
}

/** The state of a tenant. Environments never share a file. */
export function tenantState({ name, state }: Tenant, env: string | undefined): string {
  const isFile = state === undefined || !isAddress(state);
  if (state !== undefined && !(isFile && env !== undefined)) return state;
  return `.trueup/tenants/${name}/state${env === undefined ? '' : `.${env}`}.json`;
}

/** One text for all spellings of an address of a state: the parts that decide where it is. */
export function addressPlace(address: string): string {
  const url = urlFrom(address);
  if (!url) return address;
  const { protocol, host, hostname, port, origin, pathname, search, searchParams } = url;
  const path = pathname.replace(/\/+$/, '');
  if (protocol === 's3:') return `${searchParams.get('endpoint') ?? protocol}/${host}${path}`;
  return /^postgres(?:ql)?:$/.test(protocol)
    ? `postgres://${hostname.toLowerCase()}:${port || 5432}${path}?${searchParams.get('schema') ?? 'trueup'}`
    : `${origin}${path}${search}`;
}

/** Tells fleets apart, by the states as they name them. */
export const fleetDigest = (states: string): string => sha256(addressPlace(states)).slice(0, 16);

/** Tells one entry of a fleet from another one: what its plan depends on beside the declarations. */
export const entryDigest = (
  tenant: Tenant,
  { env }: { readonly env: string | undefined },
): string =>
  digest({
    paths: tenant.paths,
    variables: tenant.variables,
    state: tenantState(tenant, env),
    credentials: tenant.credentials,
  });
