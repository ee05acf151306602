// The sample flow: a GET that changes a subscription's status. It is not part of the cloud that plans and audits read.
// It has its own connection, and each call is sent once, whatever its outcome.
import { isObject, own, type Flipped, type Secret } from '../model/index.js';
import { Malformed, parseResponse } from './response.js';
import { httpClient, type HttpPorts } from './http-client.js';
import type { HttpResult } from './transport.js';
import type { Surface } from './dialect.js';
import { baseUrlOf } from './endpoint.js';
import { classify } from './classify.js';
import { complaint } from './errors.js';
import { credentialsOf } from './reveal-credentials.js';

export interface FlowOptions extends HttpPorts {
  readonly flow: { readonly url: string; readonly username: Secret; readonly password: Secret };
}

/** Whose status is changed: the subscription of a customer, by one of its identifiers (digits). */
export interface Flip {
  readonly by: 'imsi' | 'msisdn';
  readonly value: string;
  readonly customer: string;
}

/** Wall clock of the call: the flow makes three of its own. */
const DEADLINE_SECONDS = 90;

const surface: Surface = {
  name: 'flow',
  address: 'TRUEUP_FLOW_URL',
  credentials: 'TRUEUP_FLOW_USERNAME and TRUEUP_FLOW_PASSWORD',
  throttles: () => false,
};

/** The flow makes calls of its own: of its responses only these say that it never came to the change. */
const refusals: ReadonlySet<number> = new Set([400, 401, 403, 404, 409, 429]);

/** The words of the flow for the state of a request, in lower case; any other is unknown. */
const ends: Readonly<Record<string, Flipped['class']>> = {
  completed: 'applied',
  failed: 'rejected',
  rejected: 'rejected',
};

/** @throws Refusal for an address that must not be used, and for credentials that cannot be had. */
export function connectFlow({ flow, ...options }: FlowOptions): (flip: Flip) => Promise<Flipped> {
  const base = baseUrlOf(flow.url, surface.address);
  const { carry } = httpClient(options, DEADLINE_SECONDS);
  const { reveal, tidy } = credentialsOf();
  const login = {
    'X-Username': reveal(flow.username, true),
    'X-Password': reveal(flow.password, true),
  };
  return async (flip) => {
    const path = `${base.path}/get_sim_info/activate_sim`;
    const query = new URLSearchParams({
      customerNo: flip.customer,
      filterKey: flip.by,
      subscriptionStatus: 'Activate',
    });
    const headers = {
      accept: 'application/json',
      'user-agent': 'trueup',
      ...login,
      filterValue: flip.value,
    };
    const result = await carry(
      { method: 'GET', url: `${base.origin}${path}?${query.toString()}`, headers, counted: 'flow' },
      () => false,
    );
    const outcome = classify(result, { refusals });
    if (outcome !== 'applied' || !('response' in result)) {
      const diagnostic = complaint({ method: 'GET', path }, surface, wordless(result), tidy);
      return { class: outcome, diagnostic };
    }
    try {
      const found = told(parseResponse(result.response), flip);
      return { class: own(ends, found.request_status.toLowerCase()) ?? 'unknown', ...found };
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      const summary = `GET ${path} returned ${result.response.status}, but the response ${error.message}`;
      return {
        class: 'unknown',
        diagnostic: { severity: 'error', code: 'unreadable-answer', summary },
      };
    }
  };
}

/** An error may repeat the card's PINs and PUKs: nothing of its body is told. */
const wordless = (result: HttpResult): HttpResult =>
  'response' in result ? { ...result, response: { ...result.response, body: '' } } : result;

/** A status is a word: no prose, and no digits that could be a secret. */
const WORD = /^[a-z_ -]{1,40}$/i;

/** What the response says of the request; nothing else of it is taken, as it holds the card's PINs and PUKs. @throws Malformed */
function told(
  body: unknown,
  { by, value }: Flip,
): Required<Pick<Flipped, 'status' | 'request_id' | 'request_status'>> {
  if (!isObject(body)) throw new Malformed('is not an object');
  const { SIMStatus: status, SIMInfo: info } = body;
  if (typeof status !== 'string' || !WORD.test(status) || !isObject(info))
    throw new Malformed('does not contain the status');
  const [subject] = Array.isArray(info[by]) ? (info[by] as readonly unknown[]) : [];
  if (subject !== value)
    throw new Malformed(`is not about the ${by.toUpperCase()} that was asked for`);
  const request = Object.entries(body).find(
    ([key, one]) => /^\d{4}-.*Z$/.test(key) && isObject(one),
  )?.[1];
  const { serviceRequestId: id, statusRequestResponse: state } = isObject(request) ? request : {};
  if (typeof id !== 'string' || typeof state !== 'string' || !WORD.test(state))
    throw new Malformed('does not say what became of the request');
  return { request_status: state, status, request_id: id };
}
