// Connects a run to its cloud: the APIs that the environment names, or the emulator in this process.
import { join } from 'node:path';
import type { Checked } from '../client/api-checks.js';
import type { Flip, HttpRequest, Transport } from '../client/index.js';
import {
  defined,
  refuse,
  Secret,
  sha256,
  urlFrom,
  type Cloud,
  type Emit,
  type Flipped,
  type Project,
  type Settings,
} from '../model/index.js';
import type { Credentials } from '../emulator/index.js';
import type { Context } from './context.js';
import { durable } from './durable-emulator.js';
import { endpointsOf, needs, secretOf, type Endpoints } from './environment-credentials.js';
import { v2Headers } from './header-names.js';

export interface Reached {
  readonly cloud: Cloud;
  close(): Promise<void>;
}

/** The APIs that what is declared or expected belongs to. */
export function surfacesOf(
  { collections }: Pick<Context, 'collections'>,
  project: Pick<Project, 'declarations' | 'expectations'> | undefined,
): ReadonlySet<string | undefined> {
  const named = [
    ...(project?.declarations ?? []).map(({ kind }) => kind),
    ...(project?.expectations ?? []).map(({ collection }) => collection),
  ];
  return new Set(named.map((name) => collections.get(name)?.operations.dialect));
}

/** The proxy that the environment names, as other programs read it. */
export function proxyIn({ environment }: Pick<Context, 'environment'>) {
  const { HTTPS_PROXY, https_proxy: lower, NO_PROXY, no_proxy: lowerNo } = environment;
  return { https: HTTPS_PROXY || lower, no: NO_PROXY || lowerNo };
}

interface Line extends Endpoints {
  readonly transport: Transport;
  /** The name that a state is bound to where the addresses do not tell deployments apart. */
  readonly name?: string;
  close(): Promise<void>;
}

async function lineTo(context: Context, settings: Settings): Promise<Line> {
  if (settings.target === 'emulator') return emulatorLine(context, settings);
  const { checkedUrl, undiciTransport } = await import('../client/index.js');
  const endpoints = endpointsOf(context, settings);
  const origins = (['v2', 'v3', 'iot', 'flow'] as const).flatMap((name) =>
    endpoints[name] ? [checkedUrl(endpoints[name].url, needs[name].address).origin] : [],
  );
  // Tenants of a fleet follow each other too closely to open connections for each.
  const connections = context.exchanges && context.connections.http;
  return { ...endpoints, ...undiciTransport({ origins, proxy: proxyIn(context), connections }) };
}

/** Addresses of the emulator in this process: never resolved, but loopback by name. */
const inProcess = 'http://localhost';

async function emulatorLine(context: Context, settings: Settings): Promise<Line> {
  const { dummyCredentials } = await import('../emulator/index.js');
  const emulator = await durable(context, { data: join(context.cwd, '.trueup', 'emulator.json') });
  const [key] = dummyCredentials.v2;
  const [token = ''] = Object.keys(dummyCredentials.v3);
  const dummy = (value: string): Secret => new Secret('the dummy credentials', () => value);
  const login = ({ username, password }: Credentials['iot']) => ({
    url: inProcess,
    username: dummy(username),
    password: dummy(password),
  });
  const headers = Object.entries({ ...key }).map(([name, value]) => [
    settings.v2_headers[name] ?? name,
    dummy(value),
  ]);
  return {
    name: 'emulator',
    v2: { url: `${inProcess}/api/v2`, headers: Object.fromEntries(headers) },
    v3: { url: inProcess, token: dummy(token) },
    iot: login(dummyCredentials.iot),
    flow: login(dummyCredentials.flow),
    async transport({ method, url, headers, body }) {
      const response = await emulator.fetch(
        new Request(url, { method, headers, ...defined({ body }) }),
      );
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      };
    },
    close: () => emulator.settled(),
  };
}

/** @throws Refusal for an address that must not be used. */
export async function reach(
  context: Context,
  settings: Settings,
  { emit, ahead }: { readonly emit: Emit; readonly ahead?: Readonly<Record<string, number>> },
): Promise<Reached> {
  const { connect } = await import('../client/index.js');
  const line = await lineTo(context, settings);
  const limiterFor = limiterOf(context, line);
  const cloud = connect({
    ...optionsOf(context, settings, line),
    emit,
    ...defined({ ahead, limiterFor, mayRepeat: context.exchanges?.mayRepeat }),
  });
  return { cloud: { ...cloud, target: line.name ?? cloud.target }, close: line.close };
}

/** The limiter that all runs of this process share which use the same credential at the same origin. */
function limiterOf({ exchanges, environment }: Context, { v2, v3 }: Line) {
  const credential = exchanges && credentialIn(environment, { v2: v2?.url, v3: v3?.url });
  if (!exchanges || credential === undefined) return undefined;
  return (perMinute: number | undefined) => exchanges.limiterOf(credential, perMinute);
}

interface Addresses {
  readonly v2: string | undefined;
  readonly v3: string | undefined;
}

/** The addresses that an environment names. */
export const addressesIn = (environment: Context['environment']): Addresses => ({
  v2: environment[needs.v2.address] || undefined,
  v3: environment[needs.v3.address] || undefined,
});

/** Tells one credential from another one, by its origin and its ids; undefined where there is none. @throws Refusal where an id is given twice */
export function credentialIn(
  environment: Context['environment'],
  { v2, v3 }: Addresses,
): string | undefined {
  const url = urlFrom(v2 ?? v3 ?? '');
  const named = v2 ? [v2Headers['X-MGR-API-ID'], v2Headers['X-VND-API-ID']] : needs.v3.secrets;
  const ids = named.map((name) => secretOf({ environment }, name).reveal() ?? '');
  return url && ids.some((id) => id !== '') ? sha256([url.origin, ...ids].join('\n')) : undefined;
}

/** The options that all clients of a connection have in common. */
const optionsOf = (
  { clock, random, signal, debug, exchanges, requestsPerMinute }: Context,
  { requests_per_minute: usual }: Settings,
  { transport, v2, v3, iot }: Line,
) => ({
  clock,
  random,
  signal,
  ...defined({ requestsPerMinute: requestsPerMinute ?? usual, v2, v3, iot }),
  transport: noted({ clock, debug, exchanges, signal }, transport),
  emit: () => undefined,
});

/** Checks the assumptions about the service, by GET alone. It asks neither the IoT platform nor the flow. @throws Refusal */
export async function* checkedApi(context: Context, settings: Settings): AsyncGenerator<Checked> {
  const { checkAssumptions } = await import('../client/api-checks.js');
  const line = await lineTo(context, settings);
  try {
    const { iot: _, ...options } = optionsOf(context, settings, line);
    yield* checkAssumptions(options, context.collections);
  } finally {
    await line.close();
  }
}

/** The sample flow, which changes what it is asked about: no part of what `reach` gives. @throws Refusal where it has no address */
export async function reachFlow(
  context: Context,
  settings: Settings,
): Promise<{ flip(flip: Flip): Promise<Flipped>; close(): Promise<void> }> {
  const { connectFlow } = await import('../client/index.js');
  const line = await lineTo(context, settings);
  const { flow, close } = line;
  const { address, secrets } = needs.flow;
  if (!flow)
    return refuse('no-target', 'There is no address of the sample flow.', {
      detail: `Set ${[address, ...secrets].join(', ')}.`,
    });
  const { clock, random, signal, transport, emit } = optionsOf(context, settings, line);
  return { flip: connectFlow({ flow, transport, clock, random, signal, emit }), close };
}

/** Says nothing of the service: such as a page that was read ahead and is not needed. */
function isGivenUp({ signal }: Pick<HttpRequest, 'signal'>): boolean {
  const reason: unknown = signal.reason;
  return signal.aborted && !(reason instanceof DOMException && reason.name === 'TimeoutError');
}

/** A transport that reports its exchanges to an observer. */
export function noted(
  { clock, debug, exchanges, signal }: Pick<Context, 'clock' | 'debug' | 'exchanges' | 'signal'>,
  transport: Transport,
): Transport {
  return async (request) => {
    const begun = clock.monotonic();
    const response = await transport(request).catch((error: unknown) => {
      if (!signal.aborted && !isGivenUp(request))
        exchanges?.responded(new URL(request.url).origin, 0);
      throw error;
    });
    exchanges?.responded(new URL(request.url).origin, response.status);
    const elapsed = Math.round(clock.monotonic() - begun);
    debug(() => `${request.method} ${request.url} ${response.status} ${elapsed} ms`);
    return response;
  };
}
