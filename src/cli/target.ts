// Which cloud a run speaks to, and with what: addresses and credentials from the environment, or the emulator in
// this process. Only what is there is handed on; what a kind needs and lacks is refused by name when it is needed.
import { join } from 'node:path';
import type { Checked } from '../client/api-checks.js';
import type { ConnectOptions, Flip, FlowOptions, Transport } from '../client/index.js';
import {
  defined,
  refuse,
  Secret,
  type Cloud,
  type Emit,
  type Flipped,
  type Settings,
} from '../model/index.js';
import type { ProviderEndpoint } from '../terraform/provider-block.js';
import type { Context } from './context.js';
import { durable } from './durable-emulator.js';
import { headerNames, v2Headers } from './header-names.js';
import { tryFile } from './own-credentials.js';

export interface Reached {
  readonly cloud: Cloud;
  close(): Promise<void>;
}

/** What each surface needs of the environment. */
export const needs = {
  v2: { address: 'TRUEUP_V2_URL', secrets: Object.values(v2Headers) },
  v3: { address: 'TRUEUP_V3_URL', secrets: ['TRUEUP_V3_TOKEN'] },
  iot: { address: 'TRUEUP_IOT_URL', secrets: ['TRUEUP_IOT_USERNAME', 'TRUEUP_IOT_PASSWORD'] },
  flow: { address: 'TRUEUP_FLOW_URL', secrets: ['TRUEUP_FLOW_USERNAME', 'TRUEUP_FLOW_PASSWORD'] },
} as const;

/** A secret from the environment, or from the file that `<name>_FILE` names; it is read when it is needed. */
export function secretOf({ environment }: Pick<Context, 'environment'>, name: string): Secret {
  const file = environment[`${name}_FILE`];
  if (file === undefined || file === '')
    return new Secret(name, () => environment[name] || undefined);
  if (environment[name])
    refuse('ambiguous-secret', `${name} and ${name}_FILE are both set.`, {
      detail: 'Unset one of them.',
    });
  let text: string | undefined;
  return new Secret(`${name}_FILE`, () => (text ??= tryFile(file)));
}

/** The services that the environment names, and whether their credentials can be had. */
export function endpointsIn(context: Pick<Context, 'environment'>): readonly ProviderEndpoint[] {
  const named = Object.values(needs).filter(({ address }) => context.environment[address]);
  return named.map(({ address, secrets }) => ({
    address,
    credentials: secrets.map((variable) => {
      const secret = secretOf(context, variable);
      return { variable, source: secret.source, given: Boolean(secret.reveal()) };
    }),
  }));
}

type Endpoints = Pick<ConnectOptions, 'v2' | 'v3' | 'iot'> & Partial<Pick<FlowOptions, 'flow'>>;

function endpointsOf(context: Context, settings: Settings): Endpoints {
  const { [needs.v2.address]: two, [needs.v3.address]: three } = context.environment;
  const login = (surface: 'iot' | 'flow') => {
    const { address, secrets } = needs[surface];
    const url = context.environment[address];
    return (
      url && {
        [surface]: {
          url,
          username: secretOf(context, secrets[0]),
          password: secretOf(context, secrets[1]),
        },
      }
    );
  };
  const headers = (): Readonly<Record<string, Secret>> => {
    const names = headerNames(context.environment, settings.v2_headers);
    return Object.fromEntries(
      Object.entries(v2Headers).map(([name, variable]) => [
        names[name] as string,
        secretOf(context, variable),
      ]),
    );
  };
  return {
    ...(two && { v2: { url: two, headers: headers() } }),
    ...(three && { v3: { url: three, token: secretOf(context, needs.v3.secrets[0]) } }),
    ...login('iot'),
    ...login('flow'),
  };
}

interface Line extends Endpoints {
  readonly transport: Transport;
  /** What a state is bound to, where the addresses do not say it. */
  readonly name?: string;
  close(): Promise<void>;
}

async function lineTo(context: Context, settings: Settings): Promise<Line> {
  if (settings.target === 'emulator') return emulatorLine(context, settings);
  const { checkedUrl, undiciTransport } = await import('../client/index.js');
  const endpoints = endpointsOf(context, settings);
  const { HTTPS_PROXY, https_proxy: lower, NO_PROXY, no_proxy: lowerNo } = context.environment;
  const origins = (['v2', 'v3', 'iot', 'flow'] as const).flatMap((name) =>
    endpoints[name] ? [checkedUrl(endpoints[name].url, needs[name].address).origin] : [],
  );
  return {
    ...endpoints,
    ...undiciTransport({
      origins,
      proxy: { https: HTTPS_PROXY || lower, no: NO_PROXY || lowerNo },
    }),
  };
}

/** Addresses of the emulator in this process: never resolved, but loopback by name. */
const inProcess = 'http://localhost';

async function emulatorLine(context: Context, settings: Settings): Promise<Line> {
  const { dummyCredentials } = await import('../emulator/index.js');
  const emulator = await durable(context, { data: join(context.cwd, '.trueup', 'emulator.json') });
  const [key] = dummyCredentials.v2;
  const [token = ''] = Object.keys(dummyCredentials.v3);
  const dummy = (value: string): Secret => new Secret('the dummy credentials', () => value);
  const login = ({
    username,
    password,
  }: {
    readonly username: string;
    readonly password: string;
  }) => ({ url: inProcess, username: dummy(username), password: dummy(password) });
  return {
    name: 'emulator',
    v2: {
      url: `${inProcess}/api/v2`,
      headers: Object.fromEntries(
        Object.entries({ ...key }).map(([name, value]) => [
          settings.v2_headers[name] ?? name,
          dummy(value),
        ]),
      ),
    },
    v3: { url: inProcess, token: dummy(token) },
    iot: login(dummyCredentials.iot),
    flow: login(dummyCredentials.flow),
    async transport({ method, url, headers, body }) {
      const answer = await emulator.fetch(
        new Request(url, { method, headers, ...defined({ body }) }),
      );
      return {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: await answer.text(),
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
  const { transport, close, name, flow: _, ...endpoints } = await lineTo(context, settings);
  const options: ConnectOptions = {
    ...endpoints,
    ...howToAsk(context, settings),
    emit,
    ...defined({ ahead }),
    transport: noted(context, transport),
  };
  const cloud = connect(options);
  return { cloud: name === undefined ? cloud : { ...cloud, target: name }, close };
}

type HowToAsk = Pick<ConnectOptions, 'clock' | 'random' | 'signal' | 'requestsPerMinute'>;

const howToAsk = (
  { clock, random, signal }: Context,
  { requests_per_minute: requestsPerMinute }: Settings,
): HowToAsk => ({
  clock,
  random,
  signal,
  ...defined({ requestsPerMinute }),
});

/** What is assumed of the service, checked by GET alone; neither the IoT platform nor the flow is asked. @throws Refusal */
export async function* checkedApi(context: Context, settings: Settings): AsyncGenerator<Checked> {
  const { checkAssumptions } = await import('../client/api-checks.js');
  const { transport, close, v2, v3 } = await lineTo(context, settings);
  try {
    const endpoints = { ...defined({ v2, v3 }) };
    yield* checkAssumptions(
      {
        ...endpoints,
        ...howToAsk(context, settings),
        emit: () => undefined,
        transport: noted(context, transport),
      },
      context.collections,
    );
  } finally {
    await close();
  }
}

/** The sample flow, which changes what it is asked about: no part of what `reach` gives. @throws Refusal where it has no address */
export async function reachFlow(
  context: Context,
  settings: Settings,
): Promise<{ flip(flip: Flip): Promise<Flipped>; close(): Promise<void> }> {
  const { connectFlow } = await import('../client/index.js');
  const { transport, close, flow } = await lineTo(context, settings);
  const { address, secrets } = needs.flow;
  if (!flow)
    return refuse('no-target', 'There is no address of the sample flow.', {
      detail: `Set ${[address, ...secrets].join(', ')}.`,
    });
  const { clock, random, signal } = context;
  return {
    flip: connectFlow({
      flow,
      transport: noted(context, transport),
      clock,
      random,
      signal,
      emit: () => undefined,
    }),
    close,
  };
}

/** A transport whose exchanges are told to who wants to hear of them. */
function noted({ clock, debug }: Context, transport: Transport): Transport {
  return async (request) => {
    const begun = clock.monotonic();
    const answer = await transport(request);
    debug(
      () =>
        `${request.method} ${request.url} ${answer.status} ${Math.round(clock.monotonic() - begun)} ms`,
    );
    return answer;
  };
}
