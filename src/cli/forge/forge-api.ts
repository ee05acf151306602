// Requests to the API of a forge: bound to one origin, repeated where that is safe, and refused in words that name the
// missing permission.
import {
  defined,
  digitsOf,
  isObject,
  refuse,
  wireText,
  type Json,
  type JsonObject,
  type Secret,
} from '../../model/index.js';
import { baseUrlOf } from '../../client/endpoint.js';
import { httpClient } from '../../client/http-client.js';
import { undiciTransport } from '../../client/index.js';
import { Malformed, parseResponse } from '../../client/response.js';
import { finalCodes, type HttpResponse, type HttpResult } from '../../client/transport.js';
import { shorten, visible } from '../../report/escaping.js';
import type { Context } from '../context.js';
import { proxyIn } from '../cloud-connection.js';
import { version } from '../version.js';
import { ForgeRefusal } from './forge.js';

const DEADLINE_SECONDS = 30;
/** A page of a hundred comments, each as long as a forge takes. */
const LARGEST_RESPONSE = 128 * 1024 * 1024;
/** A listing that does not end by then does not end. */
const MOST_PAGES = 2000;

export interface Ask {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  /** Below the base address. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  /** As in `write the comment`. */
  readonly to: string;
  /** The permission that this takes. */
  readonly needs: string;
}

export type ForgeApi = ReturnType<typeof forgeApi>;

export interface ForgeApiOptions {
  readonly title: string;
  readonly address: string;
  /** The variable that the address is from. */
  readonly source: string;
  readonly token: Secret;
  /** The headers that carry the token. */
  readonly headers: (token: string) => Readonly<Record<string, string>>;
}

/** @throws Refusal for an address or a token that cannot be used */
export function forgeApi(context: Context, options: ForgeApiOptions) {
  const { title, address, source, token } = options;
  const { clock, random, signal, debug } = context;
  const { origin, path: base } = baseUrlOf(address, source);
  const headers = {
    ...options.headers(tokenText(token)),
    'user-agent': `trueup/${version}`,
    'content-type': 'application/json',
  };
  const line = undiciTransport({
    origins: [origin],
    proxy: proxyIn(context),
    maxBodyBytes: LARGEST_RESPONSE,
  });
  const { transport } = line;
  const client = httpClient(
    { transport, clock, random, signal, emit: (event) => debug(() => JSON.stringify(event)) },
    DEADLINE_SECONDS,
  );
  const responseTo = async (ask: Ask): Promise<HttpResponse> => {
    const { method, path, query = {}, body } = ask;
    const search = new URLSearchParams(query).toString();
    const url = `${origin}${base}${path}${search === '' ? '' : `?${search}`}`;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const call = { counted: title, method, url, headers, ...defined({ body: text }) };
    const result = await client.carry(call, (one) => mayRepeat(one, method));
    debug(() => `${method} ${url} ${'response' in result ? result.response.status : 'failed'}`);
    if ('response' in result && result.response.status >= 200 && result.response.status < 300)
      return result.response;
    throw refusal(result, ask, { title, token });
  };
  const parsed = (response: HttpResponse, { to }: Pick<Ask, 'to'>): Json => {
    try {
      return parseResponse(response);
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      return refuse('forge-answer', `${title} was asked to ${to}: the response ${error.message}.`, {
        detail: `Check the address in ${source}.`,
      });
    }
  };
  return {
    send: async (ask: Ask): Promise<Json> => parsed(await responseTo(ask), ask),
    /** Every record of a listing, page by page to its end. */
    async *records(ask: Omit<Ask, 'method' | 'body'>): AsyncGenerator<JsonObject> {
      let query: Readonly<Record<string, string>> | undefined = { ...ask.query, per_page: '100' };
      for (let page = 1; query !== undefined; page += 1) {
        if (page > MOST_PAGES)
          refuse('forge-answer', `${title} was asked to ${ask.to}: the list does not end.`);
        const response: HttpResponse = await responseTo({ ...ask, method: 'GET', query });
        const found = parsed(response, ask);
        if (!Array.isArray(found))
          refuse('forge-answer', `${title} was asked to ${ask.to}: the response is not a list.`);
        for (const one of found as readonly Json[]) if (isObject(one)) yield one;
        query = nextQuery(response, query);
      }
    },
    pause: (tries: number): Promise<boolean> => client.pause(tries, undefined),
    close: line.close,
  };
}

/** The query of the next page: GitLab names its number, GitHub gives its address. Only the query of it is taken. */
function nextQuery(
  { headers }: HttpResponse,
  query: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  const page = headers['x-next-page'];
  if (page !== undefined && page !== '') return { ...query, page };
  const [, link] = /<([^<>]*)>\s*;[^,]*\brel="?next"?/.exec(headers['link'] ?? '') ?? [];
  const at = link?.indexOf('?') ?? -1;
  return link === undefined || at === -1
    ? undefined
    : { ...query, ...Object.fromEntries(new URLSearchParams(link.slice(at + 1))) };
}

/** GitHub refuses with 403 what comes too fast, and then says when to ask again. */
const isTooFast = ({ status, headers }: HttpResponse): boolean =>
  status === 429 || (status === 403 && headers['retry-after'] !== undefined);

/** A secondary limit of GitHub may be named in the message alone. */
const isLimited = (response: HttpResponse): boolean =>
  isTooFast(response) ||
  response.headers['x-ratelimit-remaining'] === '0' ||
  (response.status === 403 && /rate limit/i.test(said(response)));

/** A create is not repeated where it may have taken effect. */
function mayRepeat(result: HttpResult, method: Ask['method']): boolean {
  const creates = method === 'POST';
  if ('error' in result)
    return !finalCodes.has(result.error.code) && !(creates && result.error.sent);
  const { status } = result.response;
  return isTooFast(result.response) || (!creates && (status === 408 || status >= 500));
}

function refusal(
  result: HttpResult,
  { method, to, needs }: Ask,
  { title, token }: Pick<ForgeApiOptions, 'title' | 'token'>,
): ForgeRefusal {
  const asked = `${title} was asked to ${to}`;
  const severity = 'error';
  if ('error' in result) {
    const { message, sent } = result.error;
    const summary = `${asked}: ${message}.`;
    const detail = 'Run the command again.';
    const lost = method === 'POST' && sent;
    return new ForgeRefusal(
      { severity, code: 'forge-unreachable', summary, detail },
      { status: undefined, lost },
    );
  }
  const { response } = result;
  const { status } = response;
  const [code, detail] = remedyFor(response, needs, token.source);
  const summary = `${asked}, and returned ${status}${said(response)}.`;
  const lost = method === 'POST' && status >= 500;
  return new ForgeRefusal({ severity, code, summary, detail }, { status, lost });
}

/** What a response is called, and what to do about it. @param source of the token */
function remedyFor(
  response: HttpResponse,
  needs: string,
  source: string,
): readonly [code: string, detail: string] {
  const { status } = response;
  if (status === 401) return ['forge-token', `Check the token in ${source}: it may have expired.`];
  if (isLimited(response))
    return ['forge-rate-limit', 'Its rate limit is used up. Run the command later.'];
  if (status === 403 || status === 404)
    return [
      'forge-permission',
      `Give the token in ${source} the permission ${needs}, and check that the project and the number exist.`,
    ];
  return ['forge-answer', adviceFor(status)];
}

function adviceFor(status: number): string {
  if (status >= 500) return 'Run the command again.';
  if (status >= 300 && status < 400)
    return 'Redirects are not followed: check the address and the name of the project.';
  return status === 410 ? 'Issues may be disabled in this project.' : 'Check what it names.';
}

const LONGEST = 300;

/** The error message of the forge, as one line. Reasons below names are shown as JSON. */
function said(response: HttpResponse): string {
  try {
    const body = parseResponse(response);
    const { message, error, errors } = isObject(body) ? body : {};
    const text = [message ?? error, errors]
      .filter((one) => one !== undefined && one !== null)
      .map((one) => (typeof one === 'string' ? one : wireText(one)))
      .join(': ');
    return text === '' ? '' : ` (${visible(shorten(text, LONGEST))})`;
  } catch {
    return '';
  }
}

function tokenText(token: Secret): string {
  const text = token.reveal();
  if (text === undefined || text === '')
    return refuse('secret-missing', `The file that ${token.source} names cannot be read.`);
  if (!/^[\x21-\x7e]+$/.test(text))
    return refuse('secret-unusable', `${token.source} holds characters that no header can carry.`, {
      detail: 'Look for a line break or a space at its end.',
    });
  return text;
}

/** An identifier of a record, as the text of its digits. @throws Refusal */
export function postId(record: Json, name: string, title: string): string {
  const id = String(isObject(record) ? digitsOf(record[name]) : '');
  return /^\d{1,20}$/.test(id)
    ? id
    : refuse('forge-answer', `${title} returned a record without ${name}.`);
}

/** The text of a member; undefined where it is none. */
export function textIn(record: Json | undefined, name: string): string | undefined {
  const value = isObject(record) ? record[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}
