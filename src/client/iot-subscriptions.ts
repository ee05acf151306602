// Subscriptions of the IoT platform, page by page: by one condition (GET), or by lists of identifiers (POST). A token
// that expires in between is renewed, and the refused page is requested again.
import {
  defined,
  isLoopback,
  isObject,
  listedValues,
  own,
  refuse,
  Secret,
  type Collection,
  type Found,
  type Query,
  type Json,
} from '../model/index.js';
import { Malformed, parseResponse, recordOf } from './response.js';
import type { ResponsePage } from './dialect.js';
import { complaint } from './errors.js';
import { condition, rates } from './iot.js';
import { chunks, pages, valuesPerQuery } from './pagination.js';
import { checked, finder, newcomers, told } from './records.js';
import { understood, type Endpoint, type ClientSession } from './client-session.js';
import { limiter, type Limiter } from './rate-limit.js';
import type { HttpResponse } from './transport.js';

const additional = new URLSearchParams([
  ['additionalFields', 'LABEL'],
  ['additionalFields', 'CUSTOM_FIELDS'],
]).toString();

/** One listing: its first query and, where it is asked by POST, its body and the identifiers that its records may carry, once each. */
interface Asking {
  readonly query: string;
  readonly body?: string;
  readonly named?: { readonly attribute: string; readonly awaited: Set<unknown> };
}

/** Reads with tokens that are shared by everything of the session. @throws Refusal where the reading is not proven complete. */
export function subscriptionsOf(session: ClientSession) {
  const tokens = tokensOf(session);

  async function ask(
    endpoint: Endpoint,
    counted: string,
    path: string,
    { query, body }: Asking,
  ): Promise<HttpResponse> {
    const options = { query, statuses: [200, 401], body };
    const askWith = ({ secret }: Token): Promise<HttpResponse> => {
      const headers = { authorization: { prefix: 'Bearer ', secret } };
      return session.read({ ...endpoint, headers }, counted, path, options);
    };
    const first = await tokens.current();
    const response = await askWith(first);
    if (response.status !== 401) return response;
    const again = await askWith(await tokens.renewed(first));
    if (again.status !== 401) return again;
    const told = { method: body === undefined ? 'GET' : 'POST', path };
    const { summary } = complaint(told, endpoint.dialect, { response: again }, session.tidy);
    return refuse('unauthenticated', `${counted} cannot be read: ${summary}`, {
      detail:
        'The token was new: check that the user in TRUEUP_IOT_USERNAME may read subscriptions.',
    });
  }

  return async function* (collection: Collection, query: Query): AsyncGenerator<readonly Found[]> {
    checked(collection, query);
    const { name, operations } = collection;
    const endpoint = session.endpointOf('iot', name);
    const path = endpoint.base.path + endpoint.dialect.path(operations.collection);
    const found = finder(endpoint, collection);
    const fresh = newcomers(endpoint, collection);
    const progress = { name, path, method: 'GET', count: 0 };
    for (const asking of askings(collection, query.filters)) {
      progress.method = asking.body === undefined ? 'GET' : 'POST';
      let read = 0;
      const reading = pages(async (query) => {
        const page = endpoint.dialect.page(
          parseResponse(await ask(endpoint, name, path, { ...asking, query })),
        );
        return { ...page, next: page.next === null ? null : continued(asking.query, page.next) };
      }, asking.query);
      yield* told(session, progress, reading, (page) => {
        read += page.records.length;
        return fresh(proven(page, read, asking).map(found));
      });
    }
  };
}

/** The listings that one filter comes to. @param filters what `checked` let through */
function askings(
  { operations: { page, identifiers = {} } }: Collection,
  filters: Readonly<Record<string, string>>,
): readonly Asking[] {
  const [[key, value] = ['', '']] = Object.entries(filters);
  const attribute = own(identifiers, key);
  if (attribute === undefined)
    return [
      { query: new URLSearchParams({ q: condition(key, value), limit: String(page) }).toString() },
    ];
  return chunks(listedValues(value), valuesPerQuery).map((identifierValues) => ({
    query: additional,
    body: JSON.stringify({ identifierType: key.toUpperCase(), identifierValues }),
    named: { attribute, awaited: new Set(identifierValues) },
  }));
}

/** The query that leads on, with everything that was asked for at first: `next` may forget it, and may not change it. */
function continued(first: string, next: string): string {
  const asked = new URLSearchParams(first);
  const whole = new URLSearchParams(next);
  for (const name of new Set(asked.keys())) whole.delete(name);
  for (const [name, value] of asked) whole.append(name, value);
  return whole.toString();
}

/** The records of a page, after `read` in all. @throws Malformed for what was not asked for or comes twice, and for a last page before the end. */
function proven(
  { records, next, size = 0 }: ResponsePage,
  read: number,
  { named }: Asking,
): readonly Json[] {
  if (next === null && size > read)
    throw new Malformed(`counts ${size} subscriptions and ends after ${read}`);
  if (named && !records.every((one) => named.awaited.delete(recordOf(one)[named.attribute])))
    throw new Malformed('holds a subscription that was not asked for, or one twice');
  return records;
}

/** The bearer token: one for all requests of a run, requested again shortly before it ends or after it is refused. It is kept only in memory, as a secret. */
interface Token {
  readonly secret: Secret;
  /** On the monotonic clock. */
  readonly until: number;
}

/** Milliseconds before its end from which a token is not used any more; of short ones a tenth of their life. */
const margin = 30_000;
const clientId = 'cm-public-api-client';

function tokensOf(session: ClientSession) {
  const { clock } = session.options;
  const subject = 'subscriptions';
  let issued: Token | undefined;
  let asked: Promise<Token> | undefined;
  let tokenLimiter: Limiter | undefined;

  function issue(): Promise<Token> {
    const begun = clock.monotonic();
    const asking = request().then(
      ({ text, seconds }) =>
        (issued = {
          secret: new Secret("the IoT platform's token", () => text),
          until: begun + seconds * 1000 - Math.min(margin, seconds * 100),
        }),
      (error: unknown) => {
        asked = undefined;
        throw error;
      },
    );
    return (asked = asking);
  }

  async function request(): Promise<{ readonly text: string; readonly seconds: number }> {
    const endpoint = session.endpointOf('iot', subject);
    const rateLimiter = isLoopback(new URL(endpoint.base.origin))
      ? undefined
      : (tokenLimiter ??= limiter(clock, ...rates.token));
    const { username, password } = session.options.iot!;
    const path = endpoint.base.path + endpoint.dialect.path('auth/token');
    const form = {
      grant_type: 'password',
      client_id: clientId,
      username: session.reveal(username),
      password: session.reveal(password),
    };
    const more = {
      body: new URLSearchParams(form).toString(),
      type: 'application/x-www-form-urlencoded',
    };
    const asking = { ...endpoint, ...defined({ rateLimiter }) };
    const reading = async () =>
      tokenIn(parseResponse(await session.read(asking, subject, path, more)));
    return understood(subject, path, reading, 'POST');
  }

  /** Another one in place of `stale`; those who hold the same one share it. @throws Refusal */
  function renewed(stale: Token): Promise<Token> {
    if (stale === issued) issued = asked = undefined;
    return asked ?? issue();
  }

  /** @throws Refusal where none is given. */
  async function current(): Promise<Token> {
    const token = await (asked ?? issue());
    return clock.monotonic() < token.until ? token : renewed(token);
  }

  return { current, renewed };
}

/** @throws Malformed */
function tokenIn(body: unknown): { readonly text: string; readonly seconds: number } {
  const { access_token: text, expires_in: seconds } = isObject(body) ? body : {};
  if (typeof text !== 'string' || text === '') throw new Malformed('has no access_token');
  // Without a usable time the token serves until it is refused.
  return { text, seconds: Number(seconds) > 0 ? Number(seconds) : Infinity };
}
