// The last step before the network: one request, one response, to a fixed list of origins. It uses undici's dispatchers
// directly, because only they show whether bytes had been sent when a request failed.
import type { Dispatcher } from 'undici';
import { cached, isLoopback, errorCode } from '../model/index.js';
import { checkedUrl, proxyOf, type Proxy } from './endpoint.js';

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Ends the request at whatever point it is: with a TimeoutError at its deadline, else because it is not needed. */
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Valid UTF-8, complete, at most `maxBodyBytes`. */
  readonly body: string;
}

/** Never follows a redirect, never asks twice. @throws TransportError */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

/** `sent`: whether bytes of the request may have left. `code`: Node's or undici's, or one of `finalCodes`. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly sent: boolean;
  readonly code: string;

  constructor(message: string, { sent, code }: Pick<TransportError, 'sent' | 'code'>) {
    super(message);
    this.sent = sent;
    this.code = code;
  }
}

/** Failures that do not go away by asking again. */
export const finalCodes: ReadonlySet<string> = new Set([
  'body-too-large',
  'body-unfinished',
  'body-unreadable',
  'interrupted',
  'proxy-refused',
]);

/** Connections by origin. */
export type HttpConnections = Map<string, Promise<Dispatcher>>;

export interface TransportOptions {
  /** The only origins that it sends requests to; whole addresses are taken for their origin. */
  readonly origins: readonly string[];
  /** Values of HTTPS_PROXY and NO_PROXY; loopback is never proxied. */
  readonly proxy?: { readonly https?: string | undefined; readonly no?: string | undefined };
  /** Default 32 MiB. */
  readonly maxBodyBytes?: number;
  /** Of others, too: `close` leaves them open. Absent, or with a proxy: its own. */
  readonly connections?: HttpConnections | undefined;
}

/** @throws Refusal for an origin in plain http that is not loopback, or a proxy that is needed and cannot be used. */
export function undiciTransport(options: TransportOptions) {
  const origins = new Set(
    options.origins.map((text) => checkedUrl(text, 'The address of the cloud').origin),
  );
  const proxy =
    options.proxy?.https && ![...origins].every(isLocal) ? proxyOf(options.proxy.https) : undefined;
  const own: HttpConnections = new Map();
  // An address of a proxy may hold a password.
  const dispatchers = (!proxy && options.connections) || own;
  const dispatcherOf = (origin: string): Promise<Dispatcher> =>
    cached(dispatchers, origin, () => makeDispatcher(origin, proxy, options.proxy?.no ?? ''));
  return {
    async transport(request: HttpRequest): Promise<HttpResponse> {
      const { origin, pathname, search } = new URL(request.url);
      if (!origins.has(origin))
        throw new Error(
          `the transport is bound to ${[...origins].join(', ')} and was asked for another origin`,
        );
      return exchange(
        await dispatcherOf(origin),
        { ...request, origin, path: pathname + search },
        options.maxBodyBytes ?? 32 * 1024 * 1024,
      );
    },
    async close(): Promise<void> {
      for (const dispatcher of own.values()) await (await dispatcher).destroy();
    },
  };
}

const isLocal = (origin: string): boolean => isLoopback(new URL(origin));

async function makeDispatcher(
  origin: string,
  proxy: Proxy | undefined,
  noProxy: string,
): Promise<Dispatcher> {
  if (proxy && !isLocal(origin)) return (await import('./proxy.js')).proxied(proxy, noProxy);
  return (await import('./dispatcher.js')).direct(origin);
}

function exchange(
  dispatcher: Dispatcher,
  request: HttpRequest & { readonly origin: string; readonly path: string },
  limit: number,
): Promise<HttpResponse> {
  const { origin, path, signal } = request;
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let status = 0;
    let headers: Record<string, string> = {};
    let size = 0;
    const chunks: Buffer[] = [];
    const settle = (): void => signal.removeEventListener('abort', abort);
    const fail = (message: string, code: string): void => {
      settle();
      const error = new TransportError(message, { sent: controller !== undefined, code });
      reject(error);
      controller?.abort(error);
    };
    const abort = (): void =>
      fail('the request was given up', status === 0 ? 'aborted' : 'body-unfinished');
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });

    const handler: Dispatcher.DispatchHandler = {
      // Called right before the first byte: from here on the request counts as sent. A second call would be a second sending.
      onRequestStart(current) {
        if (signal.aborted || controller !== undefined)
          return current.abort(new Error('not to be sent'));
        controller = current;
      },
      onResponseStart(_, code, fields) {
        if (code < 200) return;
        status = code;
        headers = Object.fromEntries(
          Object.entries(fields).map(([name, value]) => [
            name.toLowerCase(),
            Array.isArray(value) ? value.join(', ') : (value ?? ''),
          ]),
        );
        const { 'content-encoding': encoding = '' } = headers;
        if (/\S/.test(encoding) && encoding !== 'identity')
          fail(`the response is encoded as ${encoding}, not as requested`, 'body-unreadable');
      },
      onResponseData(_, chunk) {
        size += chunk.length;
        if (size > limit)
          return fail(`the response is longer than ${limit} bytes`, 'body-too-large');
        chunks.push(chunk);
      },
      onResponseEnd() {
        settle();
        try {
          const body = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
          resolve({ status, headers, body });
        } catch {
          fail('the response is not valid UTF-8', 'body-unreadable');
        }
      },
      onResponseError(_, error) {
        const denied = /^Proxy response \((\d+)\)/.exec(error.message)?.[1];
        if (denied === undefined) return fail(error.message, errorCode(error) ?? error.name);
        const code = denied.startsWith('4') ? 'proxy-refused' : 'proxy-error';
        fail(`the proxy returned ${denied}`, code);
      },
    };
    const fields = { ...request.headers, 'accept-encoding': 'identity' };
    const { method, body = null } = request;
    dispatcher.dispatch({ origin, path, method, headers: fields, body }, handler);
  });
}

/** `wait`: milliseconds the server asked for, where it did. */
export type HttpResult =
  { readonly response: HttpResponse; readonly wait?: number } | { readonly error: TransportError };
