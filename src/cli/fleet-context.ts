// The tenants of a fleet as contexts: each with its own environment, masking, flags and messages. Nothing of one reaches
// another, but the limiter of a credential that both use.
import { resolve } from 'node:path';
import {
  defined,
  isOwnCredential,
  isSecretName,
  keptMembers,
  maskingOf,
  digest,
  equal,
  note,
  pathWord,
  refuse,
  Refusal,
  Secret,
  shellWord,
  warning,
  type Diagnostic,
  type Masking,
  type TypedWith,
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
import { tenantDiagnostics } from '../report/fleet-text.js';
import { addressesIn, credentialIn } from './cloud-connection.js';
import { needs } from './environment-credentials.js';
import { saidOf, withCommands, withCredentials } from './commands-to-type.js';
import type { Flags } from './command-table.js';
import type { Context, Exchanges } from './context.js';
import { ownCredentials } from './masked-credentials.js';
import { environmentOf } from './environment-settings.js';
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
  /** By tenant: equal where two use one credential. */
  readonly credentials: ReadonlyMap<string, string>;
  /** The first tenant that was found to use a credential: what a command prints is known once it ran. */
  readonly printed: Map<string, string>;
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
  const changed = await changedHere(context, fleet, env, isSelected);
  const selected = changed ? fitting.filter((one) => changed.has(one)) : fitting;
  if (selected.length === 0)
    await context.tell([
      note(
        'none-changed',
        `no tenant that is selected differs from ${flags.changedSince}: there is nothing to do`,
      ),
    ]);
  const here = shard
    ? selected.filter(({ name }) => shardOf(name, shard.total) === shard.index)
    : selected;
  const split = splitEnvironment(environment, fleet.tenants, withheld);
  const credentials = credentialsOf(fleet.tenants, split);
  await context.tell(briefly(sharedCredentials(fleet.tenants, credentials), ''));
  const printed = new Map<string, string>();
  return { fleet, selected, here, shards: shard?.total ?? 1, split, credentials, printed, env };
}

/** The tenants that `--changed-since` asks for; undefined without it. @throws Refusal where there is no such reference */
async function changedHere(
  context: Context,
  fleet: Fleet,
  env: string | undefined,
  isSelected: (tenant: Tenant) => boolean,
): Promise<ReadonlySet<Tenant> | undefined> {
  const { cwd, flags, environment, tell } = context;
  const { changedSince } = flags;
  if (changedSince === undefined) return undefined;
  const { gitRepository } = await import('../platform/git-files.js');
  const { referenceNamed } = await import('./git-references.js');
  const { changedTenants, removedTenants } = await import('../fleet/changed-tenants.js');
  const repository = gitRepository({ cwd, environment });
  const files = repository.filesOf(referenceNamed(repository, changedSince).commit);
  const before = await readFleet({ files, cwd }).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    return undefined;
  });
  if (!before)
    await tell([
      note(
        'all-changed',
        `${changedSince} has no ${FLEET_FILE} that can be read: every tenant counts as changed.`,
      ),
    ]);
  const removed = removedTenants(before, fleet, env).filter(isSelected);
  await tell(
    briefly(
      removed.map((one) => removedWarning(context, one, env)),
      '',
    ),
  );
  const changed = changedTenants(
    { files, fleet: before },
    { files: declarationFiles, fleet },
    {
      cwd,
      common: ['policies'],
      overlays: env === undefined ? [] : [`trueup.${env}.yaml`, `trueup.${env}.yml`],
      entryOf: (tenant) =>
        digest([entryDigest(tenant, { env }), tenant.labels, tenant.requests_per_minute ?? null]),
    },
  );
  return new Set(changed);
}

/** Where the files of a tenant are gone, so is the way to delete its objects. */
function removedWarning(
  { cwd, flags, masking, said }: Context,
  tenant: Tenant,
  env: string | undefined,
): Diagnostic {
  const { name, paths } = tenant;
  const since = shellWord(flags.changedSince ?? 'HEAD');
  const gone = paths.filter((path) => !declarationFiles.stat(resolve(cwd, path))).map(pathWord);
  const [complete] = withCommands(
    [
      warning(
        'tenant-removed',
        `the tenant ${name} is in ${flags.changedSince}, and no longer here: objects of it that were not destroyed stay live, and no run of the fleet audits them`,
        [
          ...(gone.length > 0
            ? [`To bring its files back: git checkout ${since} -- ${gone.join(' ')}`]
            : []),
          `To delete its objects before you remove it: trueup destroy ${paths.map(pathWord).join(' ')}`,
        ].join('\n'),
      ),
    ],
    said,
  );
  return wordsOf(masking, tenant, env, flags).inItsWords(complete!);
}

/** What tells the credentials of tenants apart: their ids where the environment holds them, else what the fleet file says. */
const credentialsOf = (
  tenants: readonly Tenant[],
  { shared, byPrefix }: SplitEnvironment,
): ReadonlyMap<string, string> =>
  new Map(
    tenants.map(({ name, credentials }) => {
      const own = 'env_prefix' in credentials ? byPrefix.get(credentials.env_prefix) : undefined;
      return [name, idsIn({ ...shared, ...own }, own) ?? JSON.stringify(credentials)];
    }),
  );

/** What is wrong with an id is an error of its tenant. */
function idsIn(environment: Variables, own: Variables | undefined): string | undefined {
  try {
    return own && credentialIn(environment, addressesIn(environment));
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** One credential may be used twice; people should know that these tenants share its rate, and that they are one account. */
function sharedCredentials(
  tenants: readonly Tenant[],
  credentials: ReadonlyMap<string, string>,
): readonly Diagnostic[] {
  const first = new Map<string, Tenant>();
  return tenants.flatMap((one): readonly Diagnostic[] => {
    const credential = credentials.get(one.name)!;
    const other = first.get(credential);
    if (!other) first.set(credential, one);
    return other
      ? [
          {
            ...note(
              'shared-credentials',
              `the tenants ${other.name} and ${one.name} use the same credentials, and share their rate limit`,
              equal(other.credentials, one.credentials)
                ? undefined
                : `Their variables hold the same ids. If each has an account of its own, correct those of ${one.name}.`,
            ),
            origin: one.origin,
          },
        ]
      : [];
  });
}

/** Of two equal commands, `sharedCredentials` tells. */
function foundElsewhere(
  { fleet, credentials, printed }: FleetSite,
  tenant: Tenant,
  credential: string | undefined,
): readonly Diagnostic[] {
  if (credential === undefined) return [];
  const first = printed.get(credential);
  if (first === undefined) printed.set(credential, tenant.name);
  const other = fleet.tenants.find(
    ({ name }) => name !== tenant.name && (name === first || credentials.get(name) === credential),
  );
  if (!other || credentials.get(other.name) === credentials.get(tenant.name)) return [];
  return [
    warning(
      'shared-credentials',
      `its credentials are those of the tenant ${other.name}: both use one account, and share its rate limit`,
      `If each has an account of its own, correct the credentials of ${tenant.name}. To share one on purpose, write the same \`credentials\` for both.`,
    ),
  ];
}

/** How many processes use the credential of a tenant: they share its rate. */
export function processesWith(
  tenant: Tenant,
  site: Pick<FleetSite, 'selected' | 'shards' | 'workers' | 'credentials'>,
): number {
  const { selected, shards, workers = 1, credentials } = site;
  if (shards === 1 && workers === 1) return 1;
  const own = credentials.get(tenant.name);
  const alike = selected.filter(({ name }) => credentials.get(name) === own);
  // A tenant is run by one worker at a time.
  if (workers > 1) return Math.min(workers, alike.length);
  return new Set(alike.map(({ name }) => shardOf(name, shards))).size;
}

/** A context whose messages are kept. */
export interface TenantContext {
  readonly context: Context;
  readonly told: readonly Diagnostic[];
  /** What a message about the tenant is in the report of the fleet. */
  readonly inItsWords: (one: Diagnostic) => Diagnostic;
  /** Not to be asked for before the tenant has ended: until then, a value may turn out to be secret. */
  readonly typedWith: () => TypedWith;
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
  const { cwd, signal } = parent;
  const printed = ports.output
    ? await printedFor({ cwd, signal }, tenant, ports.output, split)
    : {};
  const environment = {
    ...environmentFor(tenant, split, printed),
    TRUEUP_STATE: tenantState(tenant, env),
  };
  const masking = maskingOf();
  for (const secret of ownCredentials(environment)) masking.add(secret);
  for (const [name, value] of Object.entries(printed))
    if (isSecretOutput(name)) masking.add(new Secret(name, () => value));
  const { inItsWords, typedWith } = wordsOf(masking, tenant, env, ports.flags);
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
    requestsPerMinute: tenant.requests_per_minute,
    fleetVariables: Object.keys(tenant.variables),
    exchanges: ports.exchanges,
    tell: async (diagnostics) => {
      const said = masking.said(withCommands(diagnostics, context.said)).map(inItsWords);
      told.push(...said);
      await showWait(parent, tenant, said, ports.status);
    },
    debug: (line) => parent.debug(() => `${tenant.name}: ${masking.text(line())}`),
  };
  if (ports.output) await context.tell(foundElsewhere(site, tenant, idsIn(environment, printed)));
  return { context, told, inItsWords, typedWith };
}

/** That a tenant waits for a lock, or for another audit, is of use while it waits: as its status, or in the log. */
async function showWait(
  { tell }: Pick<Context, 'tell'>,
  { name }: Pick<Tenant, 'name'>,
  said: readonly Diagnostic[],
  status: TenantPorts['status'],
): Promise<void> {
  const waits = said.filter(({ code }) => code === 'lock-waited');
  if (!status) return tell(tenantDiagnostics(name, waits));
  for (const { summary } of waits)
    status(
      summary
        .replace(/\. Waiting up to .*$/, '')
        .replace(/^.* is locked by /, 'waits for the lock of ')
        .replace(/^An audit is in progress: /, 'waits for the audit '),
    );
}

/** In the report of a fleet, messages about a tenant name its variables with their prefix, and commands have its state and its variables. Its plan document has neither: it equals that of `trueup plan`. */
function wordsOf(masking: Masking, tenant: Tenant, env: string | undefined, flags: Flags) {
  const over = flags.var?.map((one) => one.split('=', 1)[0]);
  const own = Object.entries(tenant.variables).filter(([name]) => !over?.includes(name));
  const state = tenantState(tenant, env);
  const said = saidOf(masking, {
    paths: [],
    env: undefined,
    variables: own.map((pair) => pair.join('=')),
    ofFleet: [],
    state,
  });
  return {
    inItsWords: (one: Diagnostic): Diagnostic => {
      const [complete = one] = withCommands([withPrefixes(one, tenant)], said);
      return withCredentials(complete);
    },
    typedWith: (): TypedWith => ({ state, variables: said.variables }),
  };
}

/** Variables without a prefix are not read. */
function withPrefixes(one: Diagnostic, { credentials }: Tenant): Diagnostic {
  if (!('env_prefix' in credentials))
    return one.code === 'secret-missing' && one.summary.search(VARIABLE) >= 0
      ? { ...one, detail: 'Its credential command has to print it.' }
      : one;
  const named = (text: string): string =>
    text.replaceAll(VARIABLE, (name) => `${credentials.env_prefix}${name}`);
  return { ...one, summary: named(one.summary), ...(one.detail && { detail: named(one.detail) }) };
}

/** What a credential command prints beside secrets. */
const addresses: ReadonlySet<string> = new Set(Object.values(needs).map(({ address }) => address));

/** The value of a variable of the declarations is shown as `trueup plan` shows it: it is secret if a declaration says so, or its name. */
const isSecretOutput = (name: string): boolean =>
  name.startsWith('TRUEUP_VAR_') ? isSecretName(name) : !addresses.has(name);

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
  const read = 'problem' in result ? result : printedVariables(result.value);
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
