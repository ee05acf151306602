// The store at an address. What a backend needs is loaded for its own addresses alone.
import { join } from 'node:path';
import { unescape } from 'node:querystring';
import { defined, refuse } from '../model/index.js';
import type { LockTools } from './backends/file/lock.js';
import { registerKeys } from './backends/registers/keys.js';
import type { Registers } from './backends/registers/port.js';
import type { RegisterStoreOptions } from './backends/registers/register-lock.js';
import { registerStore } from './backends/registers/register-store.js';
import { rescueIn } from './backends/registers/rescue.js';
import type { PostgresPools } from './backends/registers/postgres.js';
import type { S3Options } from './backends/registers/s3.js';
import { projectKeys, rememberingStore, serialsOf, type KnownProject } from './known-serials.js';
import { checkedAddress, schemeOf } from './state-address.js';
import type { Store } from './store-port.js';
import { waitingStore } from './waiting-store.js';

export interface RemoteOptions
  extends
    LockTools,
    KnownProject,
    Pick<RegisterStoreOptions, 'locking' | 'history' | 'url' | 'version' | 'author'> {
  /** The value of a variable of the environment, or of the file that `<name>_FILE` names. */
  readonly secret: (name: string) => string | undefined;
  /** Of this process. */
  readonly pools: PostgresPools;
  /** Sends requests to one origin. */
  readonly transport: (origin: string) => Promise<S3Options['transport']>;
}

type MakeRegisters = (url: URL, options: RemoteOptions) => Promise<Registers>;

const postgres: MakeRegisters = async (url, { secret, clock, random, pools }) => {
  const { postgresRegisters } = await import('./backends/registers/postgres.js');
  const named = new URL(url);
  // The client would take that of the process, which is not that of every tenant of a fleet.
  named.username ||= encodeURIComponent(secret('PGUSER') ?? '');
  return postgresRegisters({ url: named, password: secret('PGPASSWORD'), pools, clock, random });
};

const s3: MakeRegisters = async (url, options) => {
  const { secret, transport, clock, random } = options;
  const { bucketAddress, s3Registers } = await import('./backends/registers/s3.js');
  const region =
    url.searchParams.get('region') ??
    secret('AWS_REGION') ??
    secret('AWS_DEFAULT_REGION') ??
    'us-east-1';
  const { origin } = bucketAddress(url, region);
  const { s3Credentials } = await import('./backends/registers/s3-credentials.js');
  return s3Registers({
    url,
    region,
    credentials: await s3Credentials(secret, region),
    transport: await transport(origin),
    clock,
    random,
  });
};

const rescueOf = (
  place: Pick<Registers, 'location' | 'endpoint'>,
  { ownFolder, project, files, random, clock }: RemoteOptions,
) => {
  const [of, before] = projectKeys(place, project);
  return rescueIn(join(ownFolder, 'rescue'), of, { files, random, clock, before });
};

async function httpStore(url: URL, options: RemoteOptions): Promise<Store> {
  const { secret, transport, clock, random, version, project } = options;
  const { stateAddress, stateServer } = await import('./backends/http/state-server.js');
  const { documentStore } = await import('./backends/http/document-store.js');
  const user = unescape(url.username) || secret('TRUEUP_STATE_HTTP_USERNAME');
  const password = secret('TRUEUP_STATE_HTTP_PASSWORD');
  if (user === undefined && password !== undefined)
    return refuse('backend-credentials', 'there is a password for the state, and no user', {
      detail:
        'Set TRUEUP_STATE_HTTP_USERNAME, or name the user in the address: https://user@host/…',
    });
  const server = stateServer({
    url: stateAddress(url, project),
    ...defined({ user, password }),
    version,
    transport: await transport(url.origin),
    clock,
    random,
  });
  const rescue = rescueOf(server, options);
  return waitingStore(documentStore({ ...options, server, rescue }), {
    ...options,
    wait: options.locking.wait,
  });
}

/** Other places keep one document. */
const registerBackends: Readonly<Partial<Record<string, MakeRegisters>>> = {
  postgres,
  postgresql: postgres,
  s3,
};

/** @param location an address; it may hold a password and is not repeated @throws Refusal */
export async function remoteStore(location: string, options: RemoteOptions): Promise<Store> {
  const url = checkedAddress(location);
  const registers = await remoteRegisters(location, options);
  const store = registers
    ? registerStore({
        ...options,
        registers,
        keys: registerKeys(options.project),
        rescue: rescueOf(registers, options),
      })
    : await httpStore(url, options);
  return rememberingStore(store, serialsOf(options));
}

/** The registers at an address, for what is no state; undefined where the place has none. @throws Refusal as `remoteStore` */
export async function remoteRegisters(
  location: string,
  options: RemoteOptions,
): Promise<Registers | undefined> {
  const make = registerBackends[schemeOf(location)];
  return make?.(checkedAddress(location), options);
}
