// The client sends exactly the requests of the contract, and understands the answers that the contract gives.
import { describe, expect, test } from 'vitest';
import {
  connect,
  connectFlow,
  type Flip,
  type HttpRequest,
  type Transport,
} from '../../src/client/index.js';
import {
  Secret,
  isObject,
  type CloudWriter,
  type Collection,
  type Json,
  type JsonObject,
  type Kind,
  type Query,
  type Value,
  type Values,
  type Write,
} from '../../src/model/index.js';
import { collections, kinds } from '../../src/resources/index.js';
import { seededRandom, simulatedClock } from '../support/simulated.js';
import {
  chapters,
  differences,
  filled,
  headersOf,
  headerSets,
  login,
  type ContractClient,
  type Exchange,
} from './exchanges.js';

const ORIGIN = 'https://cloud.test';
const { accept: _, 'content-type': __, ...keys } = headerSets.v2;
const given = (value: string): Secret => new Secret('env.CONTRACT', () => value);

interface Client {
  readonly cloud: CloudWriter;
  readonly flip: ReturnType<typeof connectFlow>;
}

function client(transport: Transport): Client {
  const shared = {
    transport,
    clock: simulatedClock(),
    random: seededRandom(),
    emit: () => undefined,
    signal: new AbortController().signal,
  };
  const user = { url: ORIGIN, username: given(login.username), password: given(login.password) };
  const cloud = connect({
    v2: {
      url: `${ORIGIN}/api/v2`,
      headers: Object.fromEntries(
        Object.entries(keys).map(([name, value]) => [name, given(value)]),
      ),
    },
    v3: { url: ORIGIN, token: given('token-of-dana') },
    iot: user,
    ...shared,
  });
  return { cloud, flip: connectFlow({ flow: user, ...shared }) };
}

/** What the IoT platform answers to requests that come before or after the one of the exchange. */
const asides: Readonly<Record<string, object>> = {
  '/iot/api/auth/token': { access_token: '<token>', token_type: 'JWT', expires_in: 1800 },
  '/iot/api/subscriptions/details': { subscriptions: [], size: 0 },
};

/** Always the one answer of the exchange. */
function stub({ request: asked, answer }: Exchange): {
  readonly transport: Transport;
  readonly requests: readonly HttpRequest[];
} {
  const requests: HttpRequest[] = [];
  const body = answer.body_text ?? JSON.stringify(filled(answer.body ?? null));
  const transport: Transport = async (request) => {
    const { pathname } = new URL(request.url);
    const aside =
      asked.path.startsWith('/iot/') && pathname !== asked.path ? asides[pathname] : undefined;
    if (aside)
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(aside),
      };
    requests.push(request);
    const type = new URL(request.url).pathname.startsWith('/api/v3')
      ? 'application/vnd.api+json'
      : 'application/json';
    return { status: answer.status, headers: { 'content-type': type, ...answer.headers }, body };
  };
  return { transport, requests };
}

/** Fields as the reconciler hands them over: `{"<secret>": "…"}` stands for a secret. */
function withSecrets(value: Json): Value {
  if (Array.isArray(value)) return value.map(withSecrets);
  if (!isObject(value)) return value;
  const secret = value['<secret>'];
  return typeof secret === 'string'
    ? given(secret)
    : Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withSecrets(item)]));
}

/** Does what the exchange says; the result in the words of `understands`. */
async function perform({ cloud, flip }: Client, doing: ContractClient): Promise<Json> {
  const { do: verb, kind: name = '', id, ids = [], since = '', fields = {}, live, patch } = doing;
  if (verb === 'activity') return (await cloud.activity(ids, since)) as unknown as Json;
  if (verb === 'records') return gathered(cloud, doing);
  if (verb === 'flip') return (await flip(doing.flip as Flip)) as unknown as Json;
  const kind = kinds.get(name) as Kind;
  if (verb === 'list')
    return (await cloud.list(kind)).objects.map(({ values }) => values as JsonObject);
  if (verb === 'find')
    return (await cloud.find(kind, ids)).map(({ values }) => values as JsonObject);
  const write: Write = {
    verb,
    fields: withSecrets(fields) as Values,
    ...(id !== undefined && { id }),
    ...(patch && { patch }),
    ...(id !== undefined && live && { live: { id, values: {}, raw: live } }),
  };
  const sent = await cloud.send(kind, cloud.compose(kind, write), write);
  return {
    class: sent.class,
    ...(sent.live && { id: sent.live.id, values: sent.live.values as JsonObject }),
  };
}

async function gathered(
  cloud: CloudWriter,
  { kind = '', filters = {}, expand, since, until, gives }: ContractClient,
): Promise<Json> {
  const query: Query = {
    filters,
    ...(expand && { expand }),
    ...(since && { since }),
    ...(until && { until }),
  };
  const found: JsonObject[] = [];
  for await (const some of cloud.records(collections.get(kind) as Collection, query))
    found.push(
      ...some.map(({ record, values }) => (gives === 'record' ? record : (values as JsonObject))),
    );
  return found;
}

const parameters = (query: string): readonly string[] =>
  [...new URLSearchParams(query)].map(([name, value]) => `${name}=${value}`).toSorted();

type Performed = Exchange & { readonly client: ContractClient };
const performed = chapters.map(
  ([name, exchanges]) =>
    [name, exchanges.filter((one): one is Performed => one.client !== undefined)] as const,
);

describe.each(performed)('%s', (_name, exchanges) => {
  test.each(exchanges)('$title', async (exchange) => {
    const { transport, requests } = stub(exchange);
    const result = await perform(client(transport), exchange.client);

    const [sent] = requests;
    expect(requests).toHaveLength(1);
    const url = new URL((sent as HttpRequest).url);
    expect([sent?.method, url.origin, url.pathname]).toEqual([
      exchange.request.method,
      ORIGIN,
      exchange.request.path,
    ]);
    expect(parameters(url.search)).toEqual(parameters(exchange.request.query ?? ''));
    const { body, body_text } = exchange.request;
    expect(
      sent?.body === undefined || body_text !== undefined ? sent?.body : JSON.parse(sent.body),
    ).toEqual(body_text ?? body);
    const { 'content-type': type, ...others } = headersOf(exchange.request);
    expect(
      Object.fromEntries(
        Object.entries(sent?.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
      ),
    ).toMatchObject({
      ...Object.fromEntries(
        Object.entries(others).map(([name, value]) => [name.toLowerCase(), value]),
      ),
      ...(exchange.request.body !== undefined && { 'content-type': type }),
    });
    expect(differences(filled(exchange.client.understands as Json), result, false)).toEqual([]);
  });
});

test('the client does everything that the kinds can do', () => {
  const done = new Set(
    performed.flatMap(([, exchanges]) =>
      exchanges.map(({ client: { do: verb, kind } }) => `${verb} ${kind ?? 'log'}`),
    ),
  );
  const possible = [...kinds.values()].flatMap(({ name, operations }) => [
    `list ${name}`,
    ...(['create', 'update', 'delete'] as const)
      .filter((verb) => operations[verb])
      .map((verb) => `${verb} ${name}`),
  ]);
  possible.push(
    ...[
      'alerts',
      'activity_logs',
      'audit_logs',
      'batteries',
      'asset_endpoints',
      'subscriptions',
      'products',
      'firmwares',
    ].map((name) => `records ${name}`),
    'flip log',
  );
  expect(possible.filter((one) => !done.has(one))).toEqual([]);
});
