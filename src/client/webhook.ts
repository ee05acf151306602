// Posts a text to an address that the user named. The address is often a secret as a whole, so only its host is told.
import { defined, type Secret } from '../model/index.js';
import { credentialsOf } from './reveal-credentials.js';
import { checkedUrl } from './endpoint.js';
import { httpClient, type HttpPorts } from './http-client.js';
import {
  finalCodes,
  undiciTransport,
  type HttpResult,
  type TransportOptions,
} from './transport.js';

export interface WebhookOptions
  extends Pick<TransportOptions, 'proxy'>, Pick<HttpPorts, 'clock' | 'random'> {
  /** Sent as Bearer. */
  readonly token?: Secret | undefined;
}

const DEADLINE_SECONDS = 10;

/** @throws Refusal for an address or a token that cannot be used; `source` says where the address is from. */
export function webhookOf(
  address: string,
  source: string,
  { clock, random, proxy, token }: WebhookOptions,
) {
  const { href: url, host, origin } = checkedUrl(address, source, true);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': 'trueup',
  };
  if (token) headers['authorization'] = `Bearer ${credentialsOf().reveal(token, true)}`;
  const connect = () => undiciTransport({ origins: [origin], ...defined({ proxy }) });
  // What cannot be used is refused before any work is done.
  connect();
  return {
    host,
    /** At most three times, as long as the server or the network fails. Returns why it was not delivered. */
    async post(body: string): Promise<string | undefined> {
      const { transport, close } = connect();
      const client = httpClient(
        {
          clock,
          random,
          emit: () => undefined,
          // The end of a run is told also where the run was interrupted.
          signal: new AbortController().signal,
          // A run does not wait for as long as a server asks it to.
          transport: async (request) => ({ ...(await transport(request)), headers: {} }),
        },
        DEADLINE_SECONDS,
      );
      try {
        const call = { method: 'POST', url, headers, body, counted: 'webhook' };
        return failureOf(await client.carry(call, isTemporary));
      } finally {
        await close();
      }
    },
  };
}

const isTemporary = (result: HttpResult): boolean =>
  'error' in result ? !finalCodes.has(result.error.code) : result.response.status >= 500;

/** In words that hold nothing of the address and nothing of the response. */
function failureOf(result: HttpResult): string | undefined {
  if ('error' in result)
    return result.error.code === 'timeout'
      ? `there was no complete response within ${DEADLINE_SECONDS} s`
      : `the request failed (${result.error.code})`;
  const { status } = result.response;
  if (status >= 200 && status < 300) return undefined;
  const redirect = status >= 300 && status < 400 ? ', and redirects are not followed' : '';
  return `it returned ${status}${redirect}`;
}
