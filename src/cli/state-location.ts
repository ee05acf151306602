// The location of the state, and the fingerprints of its secrets.
import { availableParallelism, hostname } from 'node:os';
import { resolve } from 'node:path';
import {
  defined,
  defaultSettings,
  durationWords,
  isAddress,
  isCredentialName,
  refuse,
  tryDuration,
  type Diagnostic,
  type Settings,
  type StateSettings,
} from '../model/index.js';
import { FLEET_FILE } from '../fleet/tenant.js';
import type { Fingerprints } from '../platform/index.js';
import { declarationFiles } from '../platform/declaration-files.js';
import { machine, userName } from '../platform/host.js';
import type { RemoteOptions, Store } from '../state/index.js';
import { runAddress } from './ci-run.js';
import { environmentOf } from './environment-settings.js';
import type { Context } from './context.js';
import { proxyIn } from './cloud-connection.js';
import { secretOf } from './environment-credentials.js';
import { version } from './version.js';

/** The project of a state for which the settings name none. */
const UNNAMED = 'default';
/** Bytes of a state or of a wave of its journal. */
const LARGEST_BODY = 256 * 1024 * 1024;

/** What tells the states of two projects apart: where they are, and the name in that place. */
export function statePlace(
  context: Pick<Context, 'environment' | 'flags'>,
  { state = {} }: Pick<Settings, 'state'>,
  env = environmentOf(context),
) {
  const usual = env === undefined ? '.trueup/state.json' : `.trueup/state.${env}.json`;
  const project = state.project ?? UNNAMED;
  return {
    usual,
    url: state.url ?? (context.environment['TRUEUP_STATE'] || usual),
    project: env === undefined ? project : `${project}.${env}`,
  };
}

/** @throws Refusal where the location cannot hold a state */
export async function storeOf(
  context: Context,
  settings: Settings = defaultSettings,
  env = environmentOf(context),
): Promise<Store> {
  const { environment, cwd } = context;
  const { state = {} } = settings;
  const { usual, url, project } = statePlace(context, settings, env);
  // The tenants of a fleet are projects of their own.
  const isFleet = declarationFiles.stat(resolve(cwd, FLEET_FILE)) !== undefined;
  return storeAt(context, {
    ...state,
    url,
    project,
    ...(!isFleet && { usualFile: resolve(cwd, usual) }),
    byEnvironment: state.url === undefined && Boolean(environment['TRUEUP_STATE']),
    author: { user: userName(), host: hostname(), ...defined({ url: runAddress(environment) }) },
  });
}

/** True if another project that gives the same address and no name has the same state. */
export const isStateUnnamed = (
  { environment }: Context,
  { state }: Pick<Settings, 'state'>,
): boolean =>
  (state?.project ?? UNNAMED) === UNNAMED &&
  isAddress(state?.url ?? environment['TRUEUP_STATE'] ?? '');

interface StorePlace
  extends
    Pick<StateSettings, 'lock' | 'history'>,
    Pick<RemoteOptions, 'project' | 'usualFile' | 'byEnvironment' | 'author'> {
  /** A path, relative to the working folder, or an address. */
  readonly url: string;
  /** Ends the advice on damage of a file. */
  readonly afterLoss?: string;
}

/** @param place its `project` includes the environment @throws Refusal where it cannot hold a state */
export async function storeAt(context: Context, place: StorePlace): Promise<Store> {
  const { storeFor } = await import('../state/index.js');
  return storeFor(place.url, await storeOptions(context, place));
}

/** By then, an audit that is gone was taken over. */
const AUDIT_WAIT = 90_000;

/** Milliseconds to wait for another audit of a tenant. @throws Refusal */
export const auditWait = ({ flags: { lockWait } }: Pick<Context, 'flags'>): number =>
  lockWait === undefined ? AUDIT_WAIT : checkedWait(lockWait);

/** The registers beside the states of a fleet; undefined where the place has none. @throws Refusal where it cannot be used */
export async function registersAt(context: Context, url: string) {
  const { remoteRegisters } = await import('../state/remote-store.js');
  const options = await storeOptions(context, { url, project: 'fleet' });
  const registers = await remoteRegisters(url, options);
  const { lock, locking } = options;
  return registers && { registers, lock, locking };
}

async function storeOptions(context: Context, place: StorePlace) {
  const { files, clock, random, masking, signal, environment, cwd } = context;
  const { http: connections, postgres: pools } = context.connections;
  const { project, usualFile, byEnvironment, afterLoss, author } = place;
  return {
    folder: cwd,
    files,
    clock,
    random,
    lock: await machine(),
    version,
    masking,
    signal,
    notify: (one: Diagnostic) => context.beside(context.tell([one])),
    project,
    locking: lockingOf(context, place),
    history: {
      keep: place.history?.keep ?? 30,
      milliseconds: (place.history?.days ?? 90) * 86_400_000,
    },
    ...defined({ url: runAddress(environment), usualFile, byEnvironment, afterLoss, author }),
    ownFolder: resolve(cwd, '.trueup'),
    pools,
    secret: (name: string) => {
      const secret = secretOf(context, name);
      if (isCredentialName(name)) masking.add(secret);
      return secret.reveal();
    },
    transport: async (origin: string) => {
      const { undiciTransport } = await import('../client/index.js');
      const proxy = proxyIn(context);
      const options = { origins: [origin], proxy, maxBodyBytes: LARGEST_BODY, connections };
      return undiciTransport(options).transport;
    },
  };
}

/** Milliseconds to wait for a lock: of a tenant of a fleet, and where a CI system runs. */
const USUAL_WAIT = { tenant: 120_000, ci: 300_000 };
/** Milliseconds after which the lock of a run that was killed has been taken over. */
const takenOverIn = (lease: number): number => 2 * lease + 30_000;
/** Backends whose locks are taken over once their holder gives no sign of life. */
const LEASED = /^(?:postgres(?:ql)?|s3):/i;

/** @throws Refusal where `--lock-wait` is no time */
export function lockingOf(
  { flags, environment, fleetVariables }: Pick<Context, 'flags' | 'environment' | 'fleetVariables'>,
  { url, lock }: StateSettings & { readonly url: string },
) {
  const takeover = lock?.takeover ?? true;
  const isTakenOver = takeover && LEASED.test(url);
  const lease = tryDuration(lock?.lease ?? '30s')!;
  const atHand = fleetVariables && isTakenOver ? USUAL_WAIT.tenant : 0;
  const remote = environment['CI'] ? USUAL_WAIT.ci : atHand;
  const least = isTakenOver && remote > 0 ? takenOverIn(lease) : 0;
  const usual = isAddress(url) ? Math.max(remote, least) : 0;
  const asked = flags.lockWait ?? lock?.wait;
  return { lease, wait: asked === undefined ? usual : checkedWait(asked), takeover };
}

const checkedWait = (text: string): number =>
  (/^0s?$/.test(text) ? 0 : tryDuration(text)) ??
  refuse('usage', `--lock-wait has to be ${durationWords}, or 0.`);

export async function fingerprintsOf(context: Context): Promise<Fingerprints> {
  const { scryptFingerprints } = await import('../state/index.js');
  const secret = secretOf(context, 'TRUEUP_FINGERPRINT_KEY');
  const key = secret.reveal();
  if (key === undefined && context.environment[secret.source])
    refuse('secret-missing', `The file that ${secret.source} names cannot be read.`);
  return scryptFingerprints({ atOnce: availableParallelism(), ...defined({ key }) });
}
