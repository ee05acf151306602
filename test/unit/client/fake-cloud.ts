// A cloud of a few lines for the api room's tests: a transport that answers from a function and keeps what it was asked.
import {
  connect,
  TransportError,
  type HttpResponse,
  type ConnectOptions,
  type HttpRequest,
  type Transport,
} from '../../../src/client/index.js';
import { Secret, type Cloud, type Event } from '../../../src/model/index.js';
import { simulatedClock, seededRandom, type SimulatedClock } from '../../support/simulated.js';

export const json = (
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

export const page = (data: readonly unknown[], next: string | null = null): HttpResponse =>
  json({ data, meta: { limit: 500, next } });
export const page3 = (data: readonly unknown[], next: string | null = null): HttpResponse =>
  json(
    { data, links: { next, prev: null }, meta: { pagination: { before: null, after: null } } },
    200,
    { 'content-type': 'application/vnd.api+json' },
  );

export const lost = (): never => {
  throw new TransportError('other side closed', { sent: true, code: 'UND_ERR_SOCKET' });
};
export const refused = (): never => {
  throw new TransportError('connect ECONNREFUSED', { sent: false, code: 'ECONNREFUSED' });
};

const v2Url = 'http://127.0.0.1:9/api/v2';
const v3Url = 'http://127.0.0.1:9';
export const secret = (source: string, value: string | undefined): Secret =>
  new Secret(source, () => value);
export const v2Headers = {
  'X-MGR-API-ID': secret('env.TRUEUP_MGR_API_ID', 'mgr-id-1'),
  'X-MGR-API-KEY': secret('env.TRUEUP_MGR_API_KEY', 'mgr-key-1'),
  'X-VND-API-ID': secret('env.TRUEUP_VND_API_ID', 'vnd-id-1'),
  'X-VND-API-KEY': secret('env.TRUEUP_VND_API_KEY', 'vnd-key-1'),
};

export interface Bench {
  readonly cloud: Cloud;
  readonly clock: SimulatedClock;
  readonly asked: HttpRequest[];
  readonly events: Event[];
  readonly stop: AbortController;
  /** Paths with queries, in the order they were asked for. */
  readonly paths: () => string[];
}

export function bench(
  answer: (request: HttpRequest, url: URL) => HttpResponse | Promise<HttpResponse>,
  more: Partial<ConnectOptions> = {},
): Bench {
  const asked: HttpRequest[] = [];
  const events: Event[] = [];
  const clock = simulatedClock();
  const stop = new AbortController();
  const transport: Transport = async (request) => {
    asked.push(request);
    return answer(request, new URL(request.url));
  };
  const cloud = connect({
    v2: { url: v2Url, headers: v2Headers },
    v3: { url: v3Url, token: secret('env.TRUEUP_V3_TOKEN', 'token-1') },
    transport,
    clock,
    random: seededRandom(),
    emit: (event) => events.push(event),
    signal: stop.signal,
    ...more,
  });
  return {
    cloud,
    clock,
    asked,
    events,
    stop,
    paths: () => asked.map(({ url }) => url.slice(new URL(url).origin.length)),
  };
}

/** Answers in order; the last one again and again. */
export function script(
  ...answers: readonly (HttpResponse | (() => HttpResponse | Promise<HttpResponse>))[]
): () => HttpResponse | Promise<HttpResponse> {
  let turn = 0;
  return () => {
    const one = answers[Math.min(turn++, answers.length - 1)] as
      HttpResponse | (() => HttpResponse);
    return typeof one === 'function' ? one() : one;
  };
}

/** The diagnostic a refused promise carries. */
export async function refusal(
  promise: Promise<unknown>,
): Promise<{ code: string; text: string; exit: number }> {
  try {
    await promise;
  } catch (error) {
    const { diagnostics, exit } = error as {
      diagnostics?: { code: string; summary: string; detail?: string }[];
      exit: number;
    };
    const first = diagnostics?.[0];
    if (first) return { code: first.code, text: `${first.summary} ${first.detail ?? ''}`, exit };
    throw error;
  }
  throw new Error('it was not refused');
}

/** A promise that fails when the request is given up, as a transport does with a server that never answers. */
export const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) =>
    signal.addEventListener(
      'abort',
      () => reject(new TransportError('the request was given up', { sent: true, code: 'aborted' })),
      { once: true },
    ),
  );
