// The tenants of a fleet as contexts: each with its own environment, masking, flags and messages. Nothing of one reaches
// another, but the limiter of a credential that both use.
import {
  defined,
  isOwnCredential,
  keptMembers,
  maskingOf,
  digest,
  refuse,
  Refusal,
  Secret,
  type Diagnostic,
} from '../model/index.js';
import { printedVariables } from '../fleet/credential-command.js';
import { readFleet } from '../fleet/fleet-file.js';
import { selectionOf } from '../fleet/selection.js';
import { shardIn, shardOf } from '../fleet/shards.js';
import { entryDigest, FLEET_FILE, tenantState, type Fleet, type Tenant } from '../fleet/tenant.js';
import {
  environmentFor,
  splitEnvironment,
  type SplitEnvironment,
  type Variables,
} from '../fleet/tenant-environment.js';
import { declarationFiles } from '../platform/declaration-files.js';
import type { CommandOutput } from '../platform/index.js';
import { briefly } from '../report/brief-diagnostics.js';
import { needs } from './cloud-connection.js';
import { withCommands } from './commands-to-type.js';
import type { Flags } from './command-table.js';
import type { Context, Exchanges } from './context.js';
import { ownCredentials } from './own-credentials.js';
import { environmentOf } from './state-location.js';
import { silentOutlet } from './terminal.js';

/** A fleet as a command sees it. */
export interface FleetSite {
  readonly fleet: Fleet;
  /** Every tenant that `--select` selects, those of other shards too. */
  readonly selected: readonly Tenant[];
  /** Those of this process. */
  readonly here: readonly Tenant[];
  readonly shards: number;
  /** How many workers share the tenants, each of which may run any of them; absent without a queue. */
  readonly workers?: number;
  readonly split: SplitEnvironment;
  readonly env: string | undefined;
}

/** Usual names of the credentials of the cloud, also as files: without a prefix they are of no tenant. */
const withheld: ReadonlySet<string> = new Set(
  Object.values(needs).flatMap(({ secrets }) => secrets.flatMap((name) => [name, `${name}_FILE`])),
);

/** Reads the fleet of the current folder. @throws Refusal with everything that is wrong */
export async function fleetHere(context: Context): Promise<FleetSite> {
  const { flags, environment, cwd } = context;
  const env = environmentOf(context);
  if (env === 'fleet')
    refuse(
      'usage',
      `no environment of a fleet can be named fleet: its file would be ${FLEET_FILE}.`,
    );
  const shard = shardIn(flags.shard, environment);
  const fleet = await readFleet({ files: declarationFiles, cwd });
  const isSelected = selectionOf(flags.select ?? '*', fleet.tenants, { what: '--select' });
  const fitting = fleet.tenants.filter(isSelected);
  if (fitting.length === 0)
    refuse('nothing-selected', `--select ${flags.select} selects no tenant.`, {
      detail: `To see the tenants: trueup fleet validate`,
    });
  const changed = await changedHere(context, fleet, env);
  const selected = changed ? fitting.filter((one) => changed.has(one)) : fitting;
  const here = shard
    ? selected.filter(({ name }) => shardOf(name, shard.total) === shard.index)
    : selected;
  const split = splitEnvironment(environment, fleet.tenants, withheld);
  await context.tell(briefly(sharedCredentials(fleet.tenants)));
  return { fleet, selected, here, shards: shard?.total ?? 1, split, env };
}

/** The tenants that `--changed-since` asks for; undefined without it. @throws Refusal where there is no such reference */
async function changedHere(
  { cwd, flags: { changedSince }, environment, tell }: Context,
  fleet: Fleet,
  env: string | undefined,
): Promise<ReadonlySet<Tenant> | undefined> {
  if (changedSince === undefined) return undefined;
  const { gitRepository } = await import('../platform/git-files.js');
  const { referenceNamed } = await import('./git-references.js');
  const { changedTenants } = await import('../fleet/changed-tenants.js');
  const repository = gitRepository({ cwd, environment });
  const files = repository.filesOf(referenceNamed(repository, changedSince).commit);
  const before = await readFleet({ files, cwd }).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    return undefined;
  });
  if (!before)
    await tell([
      {
        severity: 'info',
        code: 'all-changed',
        summary: `${changedSince} has no ${FLEET_FILE} that can be read: every tenant counts as changed.`,
      },
    ]);
  const changed = changedTenants(
    { files, fleet: before },
    { files: declarationFiles, fleet },
    {
      cwd,
      common: ['policies', ...(env === undefined ? [] : [`trueup.${env}.yaml`])],
      entryOf: (tenant) =>
        digest([entryDigest(tenant, { env }), tenant.labels, tenant.requests_per_minute ?? null]),
    },
  );
  return new Set(changed);
}

const sourceOf = ({ credentials }: Tenant): string => JSON.stringify(credentials);

/** One credential may be used twice; people should know that these tenants share its rate. */
function sharedCredentials(tenants: readonly Tenant[]): readonly Diagnostic[] {
  const first = new Map<string, Tenant>();
  return tenants.flatMap((one): readonly Diagnostic[] => {
    const other = first.get(sourceOf(one));
    if (!other) first.set(sourceOf(one), one);
    return other
      ? [
          {
            severity: 'info',
            code: 'shared-credentials',
            summary: `the tenants ${other.name} and ${one.name} use the same credentials, and share their rate limit`,
            origin: one.origin,
          },
        ]
      : [];
  });
}

/** How many processes use the credential of a tenant: they share its rate. */
export function processesWith(
  tenant: Tenant,
  { selected, shards, workers = 1 }: Pick<FleetSite, 'selected' | 'shards' | 'workers'>,
): number {
  if (shards === 1 && workers === 1) return 1;
  const alike = selected.filter((one) => sourceOf(one) === sourceOf(tenant));
  // A tenant is run by one worker at a time.
  if (workers > 1) return Math.min(workers, alike.length);
  return new Set(alike.map(({ name }) => shardOf(name, shards))).size;
}

/** A context whose messages are kept. */
export interface TenantContext {
  readonly context: Context;
  readonly told: readonly Diagnostic[];
}

interface TenantPorts {
  readonly flags: Flags;
  readonly exchanges: Exchanges | undefined;
  /** Absent where no credentials are needed. */
  readonly output?: CommandOutput;
  /** Takes its progress line. */
  readonly status?: ((line: string | undefined) => void) | undefined;
}

/** @throws Refusal where its credentials cannot be had */
export async function tenantContext(
  parent: Context,
  site: FleetSite,
  tenant: Tenant,
  ports: TenantPorts,
): Promise<TenantContext> {
  const { env, split } = site;
  // Of its own: Node takes more than ten listeners of one signal for a leak.
  const signal = AbortSignal.any([parent.signal]);
  const { cwd } = parent;
  const printed = ports.output
    ? await printedFor({ cwd, signal }, tenant, ports.output, split)
    : {};
  const state = tenantState(tenant, env);
  const environment = { ...environmentFor(tenant, split, printed), TRUEUP_STATE: state };
  const masking = maskingOf();
  for (const secret of ownCredentials(environment)) masking.add(secret);
  for (const [name, value] of Object.entries(printed))
    if (!addresses.has(name)) masking.add(new Secret(name, () => value));
  const told: Diagnostic[] = [];
  const context: Context = {
    ...parent,
    flags: { ...ports.flags, ...defined({ env }) },
    environment,
    masking,
    said: { paths: tenant.paths, env, variables: [] },
    out: silentOutlet(),
    err: silentOutlet(ports.status),
    interactive: false,
    ask: () => Promise.resolve(''),
    stdin: () => Promise.resolve(''),
    signal,
    requestsPerMinute: tenant.requests_per_minute,
    fleetVariables: Object.keys(tenant.variables),
    exchanges: ports.exchanges,
    tell: async (diagnostics) => {
      const said = masking.said(withCommands(diagnostics, context.said));
      told.push(...said.map((one) => withPrefix(one, tenant)));
    },
    debug: (line) => parent.debug(() => `${tenant.name}: ${masking.text(line())}`),
  };
  return { context, told };
}

/** Messages name variables as the tenant has them: those without a prefix are not read. */
function withPrefix(one: Diagnostic, { credentials }: Tenant): Diagnostic {
  if (!('env_prefix' in credentials)) return one;
  const named = (text: string): string =>
    text.replaceAll(VARIABLE, (name) => `${credentials.env_prefix}${name}`);
  return { ...one, summary: named(one.summary), ...(one.detail && { detail: named(one.detail) }) };
}

/** What a credential command prints beside secrets. */
const addresses: ReadonlySet<string> = new Set(Object.values(needs).map(({ address }) => address));

const VARIABLE = new RegExp(
  `(?<![A-Z0-9_])(?:${[...addresses, ...withheld].join('|')})(?![A-Z0-9_])`,
  'g',
);

/** Its messages are not read, and what it printed is not repeated. @throws Refusal */
async function printedFor(
  { cwd, signal }: Pick<Context, 'cwd' | 'signal'>,
  { name, credentials, origin }: Tenant,
  output: CommandOutput,
  { shared }: SplitEnvironment,
): Promise<Variables> {
  if ('env_prefix' in credentials) return {};
  const environment = keptMembers(shared, (_, variable) => !isOwnCredential(variable));
  const result = await output(credentials.command, { cwd, environment, signal });
  signal.throwIfAborted();
  const read = 'problem' in result ? result : printedVariables(result.text);
  if (!('problem' in read)) return read.variables;
  return refuse(
    'credential-command',
    `the credential command of ${name} gave nothing: ${read.problem}`,
    {
      detail: `Run it by itself to see why; it has to print one JSON object, as in {"TRUEUP_V2_URL": "https://…"}.`,
      origin,
    },
  );
}
