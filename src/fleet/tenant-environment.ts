// The environment of one tenant: what all have alike, and its own variables under the usual names. Credentials without
// a prefix, and the variables of other tenants, are left out: a tenant without credentials must not use those of another.
import type { Environment } from '../declarations/environment.js';
import { isOwnCredential, refuse } from '../model/index.js';
import type { Tenant } from './tenant.js';

export type Variables = Readonly<Record<string, string>>;

/** The variables of all tenants, by prefix and usual name, and those that are of no tenant. */
export interface SplitEnvironment {
  readonly shared: Variables;
  readonly byPrefix: ReadonlyMap<string, Variables>;
}

const PROGRAM = 'TRUEUP';

/** All variables that begin so are of trueup, of Node.js or of an SDK, those of later versions too. */
const FAMILIES = ['TRUEUP_', 'TF_VAR_', 'AWS_', 'NODE_'];

/** Single variables that trueup, its libraries and the programs that it starts read. */
const READ = [
  'ALL_PROXY HTTP_PROXY HTTPS_PROXY NO_PROXY NO_COLOR SSL_CERT_DIR SSL_CERT_FILE',
  'BUILD_URL BUILDKITE_BUILD_URL BUILDKITE_PARALLEL_JOB BUILDKITE_PARALLEL_JOB_COUNT',
  'CIRCLE_BUILD_URL CIRCLE_NODE_INDEX CIRCLE_NODE_TOTAL',
  'CI CI_API_V4_URL CI_COMMIT_SHA CI_JOB_TOKEN CI_JOB_URL CI_MERGE_REQUEST_IID CI_NODE_INDEX',
  'CI_NODE_TOTAL CI_PROJECT_DIR CI_PROJECT_ID CI_PROJECT_URL GH_TOKEN GITHUB_API_URL',
  'GITHUB_EVENT_PATH GITHUB_OUTPUT GITHUB_REF GITHUB_REPOSITORY GITHUB_RUN_ID GITHUB_SERVER_URL',
  'GITHUB_SHA GITHUB_STEP_SUMMARY GITHUB_TOKEN GITHUB_WORKSPACE GITLAB_TOKEN GIT_CONFIG GIT_DIR',
  'GIT_SSH_COMMAND GIT_WORK_TREE JOB_COMPLETION_INDEX JOB_COMPLETIONS COLORTERM FORCE_COLOR TERM',
  'HOME LANG LC_ALL LD_LIBRARY_PATH LD_PRELOAD PATH SSH_AUTH_SOCK TEMP TMP TMPDIR TZ USER USERNAME',
  'USERPROFILE PGAPPNAME PGCLIENTENCODING PGCONNECT_TIMEOUT PGDATABASE PGHOST PGOPTIONS PGPASSFILE',
  'PGPASSWORD PGPORT PGSSLCERT PGSSLKEY PGSSLMODE PGSSLROOTCERT PGUSER PLUGIN_CLIENT_CERT',
  'SYSTEM_JOBPOSITIONINPHASE SYSTEM_TOTALJOBSINPHASE',
  'TF_CLI_CONFIG_FILE TF_DATA_DIR TF_DISABLE_PLUGIN_TLS TF_LOG TF_LOG_PROVIDER',
  'TF_PLUGIN_MAGIC_COOKIE TF_WORKSPACE TFC_WORKSPACE_SLUG XDG_CONFIG_HOME',
].flatMap((line) => line.split(' '));

/**
 * What other tenants would lose to the one with this prefix; undefined if nothing. In any case of letters, as on Windows.
 * @param prefixes of all tenants: `ACME_TRUEUP_` would take the credentials of the one with `ACME_`
 */
export function variableTaken(prefix: string, prefixes: ReadonlySet<string>): string | undefined {
  const upper = prefix.toUpperCase();
  const family = FAMILIES.find((one) => overlap(one, upper));
  if (family !== undefined) return `${family}\u2026`;
  for (let at = 1; at < prefix.length; at += 1) {
    const other = prefix.slice(0, at);
    if (prefixes.has(other) && overlap(`${PROGRAM}_`, upper.slice(at)))
      return `${other}${PROGRAM}_\u2026`;
  }
  return READ.find((name) => name.startsWith(upper));
}

const overlap = (one: string, other: string): boolean =>
  one.startsWith(other) || other.startsWith(one);

/**
 * The variables of an environment, which may be that of the process: there, Node.js looks for each name from the first one
 * on, and `Object.entries` has it look twice. That took half a second for the keys of 2,000 tenants.
 */
export function* variablesIn(
  environment: Environment,
): Generator<readonly [name: string, value: string]> {
  for (const name of Object.getOwnPropertyNames(environment)) {
    const value = environment[name];
    if (value !== undefined) yield [name, value];
  }
}

/**
 * A variable belongs to the longest prefix that it begins with.
 * @param withheld usual names of the credentials of the cloud
 */
export function splitEnvironment(
  environment: Environment,
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
  for (const [name, value] of variablesIn(environment)) {
    const length = lengths.find((one) => name.length > one && prefixes.has(name.slice(0, one)));
    if (length !== undefined) byPrefix.get(name.slice(0, length))![name.slice(length)] = value;
    else if (!isForeign(name) && !withheld.has(name)) shared[name] = value;
  }
  return { shared, byPrefix };
}

/** A credential of trueup under a prefix that no tenant has. */
const isForeign = (name: string): boolean =>
  isOwnCredential(name) && !name.toUpperCase().startsWith(`${PROGRAM}_`);

/** What the fleet names for each tenant. */
const OF_FLEET = [`${PROGRAM}_ENV`, `${PROGRAM}_STATE`];

/** @param printed what its command gave @throws Refusal where that names an environment or a state */
export function environmentFor(
  { name: tenant, credentials, variables, origin }: Tenant,
  { shared, byPrefix }: SplitEnvironment,
  printed: Variables = {},
): Variables {
  const isPrefix = 'env_prefix' in credentials;
  const own = isPrefix ? byPrefix.get(credentials.env_prefix) : printed;
  const named = OF_FLEET.find((name) => own?.[name] !== undefined);
  if (named !== undefined)
    refuse(
      'set-by-fleet',
      `tenant ${tenant} has ${isPrefix ? credentials.env_prefix : ''}${named}, which is not used: the fleet names its environment and its state`,
      {
        detail:
          'Remove the variable. Write the state into `state` of the tenant, and name the environment of all with --env.',
        origin,
      },
    );
  const made: Record<string, string> = { ...shared, ...own };
  for (const [name, value] of Object.entries(variables)) made[`${PROGRAM}_VAR_${name}`] = value;
  return made;
}
