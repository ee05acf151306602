// The client of one run: the address and the credentials of each kind, and reads that return a complete result or
// throw. Credentials are revealed here, only for the request that carries them.
import {
  defined,
  mapMembers,
  Refusal,
  exits,
  isLoopback,
  refuse,
  type Secret,
} from '../model/index.js';
import { Malformed } from './response.js';
import { httpClient, type Call, type HttpClient, type HttpPorts } from './http-client.js';
import type { Dialect } from './dialect.js';
import { baseUrlOf, type BaseUrl } from './endpoint.js';
import { complaint } from './errors.js';
import { isRetryableRead } from './retry.js';
import { iot, rates } from './iot.js';
import { limiter, type Limiter } from './rate-limit.js';
import type { HttpResponse } from './transport.js';
import { v2 } from './v2.js';
import { v3 } from './v3.js';
import { credentialsOf, type ApiCredentials } from './reveal-credentials.js';

export interface ConnectOptions extends HttpPorts {
  /** `headers`: names as this deployment spells them. */
  readonly v2?: { readonly url: string; readonly headers: Readonly<Record<string, Secret>> };
  readonly v3?: { readonly url: string; readonly token: Secret };
  readonly iot?: { readonly url: string; readonly username: Secret; readonly password: Secret };
  /** Default 450, and no limit where every address is loopback. The IoT platform has limits of its own. */
  readonly requestsPerMinute?: number;
  /** Wall clock of one request, default 30. */
  readonly deadlineSeconds?: number;
  /** Objects to expect, by kind name: pages are fetched ahead for that many. */
  readonly ahead?: Readonly<Record<string, number>>;
}

/** One dialect at one base address. Header values are secrets until a request leaves. */
export interface Endpoint {
  readonly dialect: Dialect;
  readonly base: BaseUrl;
  readonly headers: Readonly<Record<string, { readonly prefix: string; readonly secret: Secret }>>;
  /** Limits of its own. */
  readonly rateLimiter?: Limiter;
}

export interface ClientSession extends HttpClient, ApiCredentials {
  readonly options: ConnectOptions;
  readonly target: string;
  /** Names of the kinds whose ghost records were reported. */
  readonly ghostsReported: Set<string>;
  /** @throws Refusal where there is no address for the dialect; `subject` is what needs it. */
  readonly endpointOf: (name: string, subject: string) => Endpoint;
  /** A request with its credentials. @throws Refusal */
  readonly callOf: (
    endpoint: Endpoint,
    method: string,
    path: string,
    more: Pick<Call, 'counted' | 'body' | 'signal' | 'mayLeave'> & Pick<ReadOptions, 'type'>,
  ) => Call;
  /** The response to a GET, or to a POST that only reads, that was one of `statuses` (200). @throws Refusal */
  readonly read: (
    endpoint: Endpoint,
    counted: string,
    path: string,
    options?: ReadOptions,
  ) => Promise<HttpResponse>;
  readonly within: (signal: AbortSignal) => ClientSession;
}

interface ReadOptions {
  readonly query?: string;
  readonly statuses?: readonly number[];
  readonly signal?: AbortSignal | undefined;
  /** The body of a POST. */
  readonly body?: string | undefined;
  /** Media type of the body, where that is not the dialect's. */
  readonly type?: string | undefined;
}

/** @throws Refusal for an address that must not be used. */
export function openSession(options: ConnectOptions): ClientSession {
  const endpoints = endpointsOf(options);
  const all = [endpoints.v2, endpoints.v3].filter((endpoint) => endpoint !== undefined);
  const limited = all.some(({ base }) => !isLoopback(new URL(base.origin)));
  const { reveal, tidy } = credentialsOf();

  const endpointOf: ClientSession['endpointOf'] = (name, subject) => {
    const dialect = [v2, v3, iot].find((one) => one.name === name);
    if (!dialect) throw new Error(`${subject}: no dialect is named ${name}`);
    return (
      endpoints[dialect.name] ??
      refuse('no-target', `${subject}: there is no ${name} address`, {
        detail: `Set ${dialect.address}, and ${dialect.credentials}.`,
      })
    );
  };

  const callOf: ClientSession['callOf'] = (endpoint, method, path, { type, ...more }) => {
    const { base, dialect, rateLimiter } = endpoint;
    const headers: Record<string, string> = { accept: dialect.media };
    if (more.body !== undefined || dialect === v3) headers['content-type'] = type ?? dialect.media;
    headers['user-agent'] = 'trueup';
    for (const [name, { prefix, secret }] of Object.entries(endpoint.headers))
      headers[name] = prefix + reveal(secret, true);
    return { method, url: base.origin + path, headers, rateLimiter, ...more };
  };

  function over(messenger: HttpClient, signal: AbortSignal): ClientSession {
    const read: ClientSession['read'] = async (endpoint, counted, path, options = {}) => {
      const { query = '', statuses = [200], signal: page, body, type } = options;
      const method = body === undefined ? 'GET' : 'POST';
      const more = {
        counted,
        type,
        signal: page ? AbortSignal.any([signal, page]) : signal,
        ...defined({ body }),
      };
      const call = callOf(endpoint, method, query === '' ? path : `${path}?${query}`, more);
      const result = await messenger.carry(call, (one) => isRetryableRead(endpoint.dialect, one));
      if ('response' in result && statuses.includes(result.response.status)) return result.response;
      const found = complaint({ method, path }, endpoint.dialect, result, tidy);
      throw new Refusal(
        [{ ...found, summary: `${counted} cannot be read: ${found.summary}` }],
        found.code === 'interrupted' ? exits.interrupted : exits.error,
      );
    };

    const within = (time: AbortSignal): ClientSession =>
      over(messenger.within(time), AbortSignal.any([signal, time]));
    return { ...messenger, ...shared, read, within };
  }

  const target = all.map(({ base }) => base.origin + base.path).join(' ');
  const ghostsReported = new Set<string>();
  const shared = { options, target, ghostsReported, tidy, endpointOf, reveal, callOf };
  const requestsPerMinute = options.requestsPerMinute ?? (limited ? 450 : undefined);
  return over(
    httpClient(options, options.deadlineSeconds ?? 30, requestsPerMinute),
    options.signal,
  );
}

function endpointsOf({ v2: two, v3: three, iot: platform, clock }: ConnectOptions): {
  readonly [name in Dialect['name']]?: Endpoint;
} {
  const base = platform && baseUrlOf(platform.url, iot.address);
  return {
    ...(two && {
      v2: {
        dialect: v2,
        base: baseUrlOf(two.url, v2.address),
        headers: mapMembers(two.headers, (secret) => ({ prefix: '', secret })),
      },
    }),
    ...(three && {
      v3: {
        dialect: v3,
        base: v3Base(three.url),
        headers: { authorization: { prefix: 'Bearer ', secret: three.token } },
      },
    }),
    // Each request is given the token that is valid when it is sent.
    ...(base && {
      iot: {
        dialect: iot,
        base,
        headers: {},
        ...(!isLoopback(new URL(base.origin)) && { rateLimiter: limiter(clock, ...rates.details) }),
      },
    }),
  };
}

/** With `/api/v3` at its end, or without: the paths of v3 begin with it. */
function v3Base(url: string): BaseUrl {
  const { origin, path } = baseUrlOf(url, v3.address);
  return { origin, path: path.replace(/\/api\/v3$/, '') };
}

/** Runs a reading; what is malformed in it becomes a refusal. */
export async function understood<T>(
  counted: string,
  path: string,
  reading: () => Promise<T>,
  method = 'GET',
): Promise<T> {
  try {
    return await reading();
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    const summary = `${counted} cannot be read: the response to ${method} ${path} ${error.message}`;
    const detail =
      'Nothing was concluded from it. Check the address, and any proxy on the way; then run the command again.';
    return refuse('unreadable-answer', summary, { detail });
  }
}
