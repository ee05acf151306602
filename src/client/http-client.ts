// Sends one request: through the rate limiter, with a timeout and possibly retries. It does not interpret the result.
import { defined, type Emit } from '../model/index.js';
import type { Clock, Random } from '../platform/index.js';
import { holdIfThrottled, limiter, type Limiter } from './rate-limit.js';
import { httpDate, retryAfter, retryBudget, retryDelay } from './retry.js';
import { TransportError, type HttpRequest, type HttpResult, type Transport } from './transport.js';

/** One HTTP request that may be sent more than once. */
export interface Call extends Omit<HttpRequest, 'signal'> {
  /** Name it is counted under. */
  readonly counted: string;
  /** Asked right before bytes leave, after every wait, for the body to send instead; what it throws ends the carrying. */
  readonly mayLeave?: () => Promise<string | undefined>;
  /** Ends the request wherever it is; without it a request that has begun runs to its end, or to the deadline of this client. */
  readonly signal?: AbortSignal;
  /** The limiter of what is asked, where it is not the one of the whole run. */
  readonly rateLimiter?: Limiter | undefined;
}

export interface HttpClient {
  /** The last result; `again` says whether a result allows another attempt. Never throws for network or server, only what `mayLeave` throws. */
  readonly carry: (call: Call, again: (result: HttpResult) => boolean) => Promise<HttpResult>;
  /** Waits after the `tries`th attempt, and says whether there may be another: three a call, and a share of the whole run. */
  readonly pause: (
    tries: number,
    asked: number | undefined,
    signal?: AbortSignal,
  ) => Promise<boolean>;
  /** Attempts so far, by the name they are counted under. */
  readonly cost: () => Readonly<Record<string, number>>;
  /** Milliseconds by which the clock of the service is ahead of this machine's, by its last quick response. */
  readonly skew: () => number | undefined;
  /** The same client until `signal` is raised, which ends requests wherever they are. */
  readonly within: (signal: AbortSignal) => HttpClient;
}

export interface HttpPorts {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
  /** Interruption: reads end at once, writes that have begun run to their end, nothing new is sent. */
  readonly signal: AbortSignal;
  /** The limiter, where it is not of this client alone. */
  readonly limiterFor?: (requestsPerMinute: number | undefined) => Limiter;
  /** Whether to repeat a request without a response, asked after the pause; always where absent. */
  readonly mayRepeat?: (origin: string) => boolean;
}

const noticeable = 1000;
/** The time that a response gives is past where the response took longer than this (milliseconds). */
const prompt = 5000;

export function httpClient(
  { transport, clock, random, emit, signal: whole, limiterFor, mayRepeat }: HttpPorts,
  deadlineSeconds: number,
  requestsPerMinute?: number,
): HttpClient {
  const { exchange, skew } = exchanges(transport, clock, deadlineSeconds);
  const common = limiterFor?.(requestsPerMinute) ?? limiter(clock, requestsPerMinute);
  const budget = retryBudget();
  const counts: Record<string, number> = {};
  let requests = 0;
  let quietUntil = 0;

  /** Whether it slept to the end. Many that wait for the same reason are told of once. */
  async function sleep(milliseconds: number, why: string, signal: AbortSignal): Promise<boolean> {
    if (milliseconds >= noticeable && clock.monotonic() >= quietUntil) {
      quietUntil = clock.monotonic() + milliseconds;
      emit({ type: 'waiting', why, milliseconds });
    }
    return clock.sleep(milliseconds, signal).then(
      () => !signal.aborted,
      () => false,
    );
  }

  async function admitted(rateLimiter: Limiter, signal: AbortSignal): Promise<boolean> {
    for (let wait = rateLimiter.take(); wait > 0; wait = rateLimiter.held()) {
      const why = rateLimiter.held() > 0 ? 'the service asked to wait' : 'the rate limit';
      if (!(await sleep(wait, why, signal))) return false;
    }
    return !signal.aborted;
  }

  /** @param run once it is raised, nothing new is sent  @param time ends what was sent, too */
  function until(run: AbortSignal, time?: AbortSignal): HttpClient {
    async function attempt(call: Call): Promise<HttpResult> {
      const { counted, signal, mayLeave, rateLimiter = common, ...request } = call;
      if (run.aborted || signal?.aborted || !(await admitted(rateLimiter, signal ?? run)))
        return { error: interrupted() };
      const end = signal ?? time;
      const body = await mayLeave?.();
      counts[counted] = (counts[counted] ?? 0) + 1;
      requests += 1;
      return exchange({ ...request, ...defined({ body: body ?? request.body }) }, end);
    }

    async function carry(call: Call, again: (result: HttpResult) => boolean): Promise<HttpResult> {
      for (let tries = 1; ; tries += 1) {
        const result = await attempt(call);
        const asked = 'response' in result ? result.wait : undefined;
        holdIfThrottled(call.rateLimiter ?? common, result);
        if (!again(result) || !(await pause(tries, asked, call.signal))) return result;
        if ('error' in result && mayRepeat?.(new URL(call.url).origin) === false) return result;
      }
    }

    async function pause(tries: number, asked: number | undefined, signal = run): Promise<boolean> {
      const delay = retryDelay(tries, asked, random);
      if (delay === undefined || !budget.spend(requests)) return false;
      const why = asked === undefined ? 'the service failed' : 'the service asked to wait';
      return sleep(delay, why, signal);
    }

    const within = (signal: AbortSignal): HttpClient =>
      until(AbortSignal.any([run, signal]), time ? AbortSignal.any([time, signal]) : signal);
    return {
      carry,
      pause,
      cost: () => ({ ...counts }),
      skew,
      within,
    };
  }

  return until(whole);
}

/** Sends once, under a deadline. What the responses say of the clock of the service is kept. */
function exchanges(transport: Transport, clock: Clock, deadlineSeconds: number) {
  /** Milliseconds by which the clock of the service is ahead of the time since the start of the machine, which nobody sets. */
  let ahead: number | undefined;

  const late = (error: unknown): TransportError =>
    new TransportError(`no complete response within ${deadlineSeconds} s`, {
      sent: isTransportError(error) ? error.sent : true,
      code: isTransportError(error) && error.code === 'body-unfinished' ? error.code : 'timeout',
    });

  async function exchange(
    request: Omit<HttpRequest, 'signal'>,
    end: AbortSignal | undefined,
  ): Promise<HttpResult> {
    const done = new AbortController();
    const deadline = new AbortController();
    clock.sleep(deadlineSeconds * 1000, done.signal).then(
      () => deadline.abort(new DOMException('no complete response', 'TimeoutError')),
      () => undefined,
    );
    const left = clock.boot().milliseconds;
    try {
      const response = await transport({
        ...request,
        signal: end ? AbortSignal.any([deadline.signal, end]) : deadline.signal,
      });
      const served = httpDate(response.headers['date']);
      const heard = clock.boot().milliseconds;
      if (served !== undefined && heard - left <= prompt) ahead = served - heard;
      const wait = retryAfter(response.headers, clock.now());
      return { response, ...defined({ wait }) };
    } catch (error) {
      if (end?.aborted && !deadline.signal.aborted)
        return { error: interrupted(isTransportError(error) ? error.sent : true) };
      if (deadline.signal.aborted) return { error: late(error) };
      if (isTransportError(error)) return { error };
      throw error;
    } finally {
      done.abort('responded');
    }
  }

  const skew = (): number | undefined =>
    ahead === undefined ? undefined : ahead + clock.boot().milliseconds - clock.now();
  return { exchange, skew };
}

const interrupted = (sent = false): TransportError =>
  new TransportError('the run was interrupted', { sent, code: 'interrupted' });

// By shape, not by class: a cloud in the same process has its own error class for a reset.
function isTransportError(error: unknown): error is TransportError {
  return error instanceof Error && 'sent' in error && typeof error.sent === 'boolean';
}
