// Injected faults: their effect, the requests they apply to, and when. `parseFault` reads them from the command line.
import { defined, refuse, keysOf, own } from '../model/index.js';
import type { Clock } from '../platform/index.js';
import type { Behaviours } from './behaviours.js';
import { dialectOf, Refused, refusalResponse } from './error-responses.js';
import type { Lag } from './stale-fault.js';

/** The number of each fault behind `=`: `needed`, `optional` or `none`. */
const faultNames = {
  /** Responds after this many milliseconds. */
  latency: 'needed',
  /** Responds with this status; nothing happens. On v3 a 409 comes without `errors`, as throttling does. */
  status: 'needed',
  /** Never responds; nothing happens. */
  hang: 'none',
  /** The connection breaks; nothing happens. */
  'reset-before': 'none',
  /** It happens, then the connection breaks. */
  'reset-after': 'none',
  /** It happens, the response is cut in half. */
  truncate: 'none',
  /** A page in HTML with status 200; nothing happens. */
  html: 'none',
  /** Before the request, somebody inserts (or, with `mode=remove`, removes) a record in front of the collection. */
  'page-shift': 'none',
  /** Requests beyond this number per minute get 429 and have no effect. */
  'rate-limit': 'needed',
  /** A write gets 504 (with `mode=reset`, no response) and takes effect this many milliseconds later. */
  late: 'needed',
  /** Readings show the effect of a write only this many milliseconds later; with `mode=flicker`, some show it before. */
  stale: 'needed',
  /** `next` leads to the page it stands on. */
  'loop-next': 'none',
  /** `next` leads to another host. */
  'foreign-next': 'none',
  /** The response never ends; with a number, that many milliseconds pass between its pieces. */
  endless: 'optional',
} as const;

export type FaultName = keyof typeof faultNames;

const modes = { late: 'reset', 'page-shift': 'remove', stale: 'flicker' } as const;
type Mode = (typeof modes)[keyof typeof modes];

export interface Fault {
  readonly name: FaultName;
  readonly value?: number;
  readonly mode?: Mode;
  /** Seconds to wait that a status 429 or 503 tells; absent: 1. */
  readonly retryAfter?: number;
  /** Only requests of this method, */
  readonly method?: string;
  /** whose path and query hold this text, */
  readonly path?: string;
  /** after this many such requests, */
  readonly after?: number;
  /** and this many times (absent: always). */
  readonly times?: number;
}

const grammar = `A fault is NAME[=NUMBER] with, separated by commas, any of method=VERB, path=TEXT, after=COUNT, times=COUNT, retry-after=SECONDS, mode=remove|reset|flicker; as in reset-after,method=POST,path=alert_rules,times=1.
Names: ${Object.entries(faultNames)
  .map(([name, takes]) => name + ({ needed: '=N', optional: '[=N]' }[takes as string] ?? ''))
  .join(', ')}.`;

/** @throws Refusal with the grammar. */
export function parseFault(text: string): Fault {
  const complain = (why: string): never =>
    refuse('bad-fault', `the fault ${JSON.stringify(text)} is not understood: ${why}`, {
      detail: grammar,
    });
  const number = (name: string, value: string): number =>
    /^\d{1,9}$/.test(value) ? Number(value) : complain(`${name} takes a whole number`);
  const [head = '', ...rest] = text.split(',').map((word) => word.trim());
  const [word = '', ...values] = head.split('=');
  const name =
    keysOf(faultNames).find((one) => one === word) ??
    complain(`there is no fault named ${JSON.stringify(word)}`);
  const takes = faultNames[name];
  const mode = own<Mode>(modes, name);
  const given = values.length > 0;
  if (takes === 'needed' ? !given : takes === 'none' && given)
    complain(takes === 'needed' ? `${name} takes a number` : `${name} takes no number`);
  const value = given ? number(name, values.join('=')) : undefined;
  if (name === 'status' && !(value !== undefined && value >= 200 && value <= 599))
    complain('a status is between 200 and 599');
  const options: { -readonly [K in keyof Fault]?: Fault[K] } = {};
  for (const word of rest) {
    const [key, option = ''] = word.split(/=(.*)/s);
    if (key === 'method') options.method = option.toUpperCase();
    else if (key === 'path') options.path = option;
    else if (key === 'after' || key === 'times') options[key] = number(key, option);
    else if (key === 'retry-after' && name === 'status' && (value === 429 || value === 503))
      options.retryAfter = number(key, option);
    else if (key === 'mode' && mode !== undefined && option === mode) options.mode = mode;
    else complain(`${JSON.stringify(word)} does not belong there`);
  }
  return { name, ...defined({ value }), ...options };
}

/** The connection broke. `sent`: whether the request had arrived and was carried out. */
export class ConnectionReset extends Error {
  readonly code = 'ECONNRESET';
  override readonly name = 'ConnectionReset';

  constructor(readonly sent: boolean) {
    super('the connection was reset');
  }
}

export interface FaultContext {
  readonly clock: Clock;
  readonly behaviours: Behaviours;
  readonly url: URL;
  readonly method: string;
  readonly request: Pick<Request, 'signal'>;
  readonly proceed: () => Promise<Response>;
  /** Changes the collection of the path as another client would. */
  readonly shift: (remove: boolean) => void;
  /** Does `work`, whose effect is shown late. */
  readonly lagging: (lag: Lag, work: () => Promise<Response>) => Promise<Response>;
  /** Runs `work` after this many milliseconds, in the background. */
  readonly later: (milliseconds: number, work: () => Promise<unknown>) => void;
}

type Step = (
  scene: FaultContext,
  value: number,
  fault: Fault,
  proceed: () => Promise<Response>,
) => Promise<Response>;
export type Play = (scene: FaultContext) => Promise<Response>;

/** A request's way through the faults, the first of the list outermost. Each counts the requests it matched. */
export function staged(faults: readonly Fault[]): Play {
  const stages = faults.map((fault) => ({ fault, step: stepOf(fault), matched: 0 }));
  return (scene) => {
    let proceed = scene.proceed;
    for (const stage of stages.toReversed()) {
      const { fault, step } = stage;
      if (!matches(fault, scene)) continue;
      const turn = stage.matched++ - (fault.after ?? 0);
      if (turn < 0 || turn >= (fault.times ?? Infinity)) continue;
      const inner = proceed;
      proceed = () => step(scene, fault.value ?? 0, fault, inner);
    }
    return proceed();
  };
}

function matches({ name, method, path }: Fault, { url, method: asked }: FaultContext): boolean {
  if ((name === 'late' || name === 'stale') && asked === 'GET') return false;
  return (
    (method === undefined || method === asked) &&
    (path === undefined || `${url.pathname}${url.search}`.includes(path))
  );
}

const steps: Readonly<Record<Exclude<FaultName, 'rate-limit'>, Step>> = {
  latency: async ({ clock }, milliseconds, _, proceed) => {
    await clock.sleep(milliseconds);
    return proceed();
  },
  status: async (scene, status, { retryAfter = 1 }) =>
    statusResponse(scene, status, retryAfter * 1000),
  hang: ({ request: { signal } }) =>
    new Promise((_, broken) =>
      signal.addEventListener('abort', () => broken(new ConnectionReset(false)), { once: true }),
    ),
  'reset-before': async () => {
    throw new ConnectionReset(false);
  },
  'reset-after': async (_, __, ___, proceed) => {
    await proceed();
    throw new ConnectionReset(true);
  },
  truncate: async (_, __, ___, proceed) =>
    rewritten(await proceed(), (text) => text.slice(0, Math.floor(text.length / 2))),
  html: async () =>
    new Response(
      '<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>',
      { headers: { 'content-type': 'text/html; charset=utf-8' } },
    ),
  'page-shift': async ({ shift }, _, { mode }, proceed) => {
    shift(mode === 'remove');
    return proceed();
  },
  late: async (scene, milliseconds, { mode }, proceed) => {
    scene.later(milliseconds, proceed);
    if (mode === 'reset') throw new ConnectionReset(true);
    return statusResponse(scene, 504);
  },
  stale: ({ lagging }, milliseconds, { mode }, proceed) =>
    lagging({ milliseconds, flicker: mode === 'flicker' }, proceed),
  'loop-next': async ({ url }, _, __, proceed) =>
    rewritten(await proceed(), (text) => withNext(text, () => url.href)),
  'foreign-next': async (_, __, ___, proceed) =>
    rewritten(await proceed(), (text) =>
      withNext(
        text,
        (next) => next && next.replace(/^https?:\/\/[^/]+/, 'https://elsewhere.invalid'),
      ),
    ),
  endless: async ({ clock }, pause, _, proceed) => {
    const { status, headers } = await proceed();
    return new Response(endlessBody(clock, pause), { status, headers });
  },
};

function stepOf({ name }: Fault): Step {
  return name === 'rate-limit' ? rateLimit() : steps[name];
}

/** A fixed window of a minute that opens with its first request. */
function rateLimit(): Step {
  let opened = -Infinity;
  let used = 0;
  return async (scene, perMinute, _, proceed) => {
    const now = scene.clock.now();
    if (now >= opened + 60_000) [opened, used] = [now, 0];
    used += 1;
    return used > perMinute ? statusResponse(scene, 429, opened + 60_000 - now) : proceed();
  };
}

function statusResponse(
  { url, behaviours, clock }: FaultContext,
  status: number,
  wait = 1000,
): Response {
  const until = new Date(Math.ceil((clock.now() + wait) / 1000) * 1000);
  const retryAfter = {
    seconds: { 'retry-after': String(Math.ceil(wait / 1000)) },
    date: { 'retry-after': until.toUTCString() },
    none: {},
  }[behaviours.retry_after];
  const headers = {
    ...((status === 429 || status === 503) && retryAfter),
    ...(status >= 300 && status < 400 && { location: `${url.origin}/elsewhere/` }),
  };
  if ([204, 205, 304].includes(status)) return new Response(null, { status, headers });
  const dialect = dialectOf(url.pathname);
  const refusal = new Refused(status, `returned ${status} on order`, [], headers);
  const refused = refusalResponse(refusal, dialect, behaviours);
  return dialect === 'v3' && status === 409 ? new Response('{}', refused) : refused;
}

async function rewritten(response: Response, change: (text: string) => string): Promise<Response> {
  const { status, headers } = response;
  return new Response(change(await response.text()), { status, headers });
}

/** The text of a listing with another `next`; any other text as it is. */
function withNext(text: string, change: (next: string | null) => string | null): string {
  type Holder = { next?: string | null } | undefined;
  const body: Holder & { meta?: Holder; links?: Holder } = JSON.parse(text || '{}');
  const holder = [body.links, body.meta, body].find((one) => one && 'next' in one);
  if (!holder) return text;
  holder.next = change(holder.next ?? null);
  return JSON.stringify(body);
}

function endlessBody(clock: Clock, pause: number): ReadableStream<Uint8Array> {
  const spaces = new Uint8Array(65_536).fill(0x20);
  return new ReadableStream({
    async pull(controller) {
      if (pause > 0) await clock.sleep(pause);
      controller.enqueue(spaces);
    },
  });
}
