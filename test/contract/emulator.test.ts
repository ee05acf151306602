// The emulator answers every exchange of the contract as the API reference says.
import { describe, expect, test } from 'vitest';
import { createEmulator, type Credentials, type Emulator } from '../../src/emulator/index.js';
import type { Json } from '../../src/model/index.js';
import { collections, kinds } from '../../src/resources/index.js';
import { seededRandom, simulatedClock } from '../support/simulated.js';
import {
  chapters,
  differences,
  headersOf,
  headerSets,
  login,
  ORIGIN,
  type Step,
} from './exchanges.js';

const { accept: _, 'content-type': __, ...key } = headerSets.v2;
const credentials: Credentials = {
  v2: [key],
  v3: { 'token-of-dana': { id: '77', email: 'dana@example.com' } },
  iot: login,
  flow: login,
};

/** The headers of a request, with a token where one is wanted. */
async function headed(
  emulator: Emulator,
  request: Step['request'],
): Promise<Readonly<Record<string, string>>> {
  const headers = headersOf(request);
  if (headers['authorization'] !== headerSets.iot.authorization) return headers;
  const body = new URLSearchParams({
    grant_type: 'password',
    client_id: 'cm-public-api-client',
    ...login,
  }).toString();
  const answer = await emulator.fetch(
    new Request(`${ORIGIN}/iot/api/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    }),
  );
  const { access_token } = (await answer.json()) as { readonly access_token: string };
  return { ...headers, authorization: headers['authorization'].replace('<token>', access_token) };
}

/** What is wrong with the answer to a step. */
async function faults(emulator: Emulator, { request, answer }: Step): Promise<readonly string[]> {
  const {
    method,
    path,
    query = '',
    body,
    body_text = body === undefined ? null : JSON.stringify(body),
  } = request;
  const response = await emulator.fetch(
    new Request(ORIGIN + path + query, {
      method,
      headers: await headed(emulator, request),
      body: body_text,
    }),
  );
  const text = await response.text();
  if (response.status !== answer.status)
    return [`${method} ${path}${query} answered ${response.status} ${text}`];
  const headers = Object.entries(answer.headers ?? {}).filter(
    ([name, value]) => response.headers.get(name) !== value,
  );
  const wanted = answer.body ?? answer.body_holds;
  return [
    ...headers.map(([name]) => `${name}: ${response.headers.get(name)}`),
    ...(answer.body_text === undefined || answer.body_text === text ? [] : [text]),
    ...(wanted === undefined
      ? []
      : differences(
          wanted,
          JSON.parse(text) as Json,
          answer.body !== undefined && answer.status < 300,
        )),
  ];
}

describe.each(chapters)('%s', (_name, exchanges) => {
  test.each(exchanges)('$title', async (exchange) => {
    const emulator = createEmulator({
      kinds,
      collections,
      clock: simulatedClock(),
      random: seededRandom(),
      estate: exchange.given,
      credentials,
    });
    for (const step of [exchange, ...(exchange.then ?? [])])
      expect(await faults(emulator, step)).toEqual([]);
  });
});

test('every endpoint is asked, well and badly', () => {
  const asked = new Map<string, { good: number; bad: number }>();
  for (const [, exchanges] of chapters) {
    for (const { request, answer } of exchanges.flatMap((one) => [one, ...(one.then ?? [])])) {
      const endpoint = `${request.method} ${request.path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+(?=\/?$)/, '{id}')}`;
      const tally = asked.get(endpoint) ?? { good: 0, bad: 0 };
      asked.set(endpoint, tally);
      tally[answer.status < 300 ? 'good' : 'bad'] += 1;
    }
  }
  const endpoints = [...asked]
    .filter(([, { good, bad }]) => good > 0 && bad > 0)
    .map(([endpoint]) => endpoint);
  expect(endpoints.toSorted()).toEqual(
    [
      'DELETE /api/v2/accounts/{id}/',
      'DELETE /api/v2/alert_push_destinations/{id}/',
      'DELETE /api/v2/alert_rules/{id}/',
      'DELETE /api/v2/groups/{id}/',
      'DELETE /api/v2/routers/{id}/',
      'DELETE /api/v3/beta/users/{id}',
      'GET /api/v2/firmwares/',
      'GET /api/v2/groups/',
      'GET /api/v2/products/',
      'GET /api/v2/routers/',
      'GET /api/v3/beta/users',
      'GET /api/v3/beta/users/{id}',
      'PATCH /api/v2/groups/{id}/',
      'PATCH /api/v2/routers/{id}/',
      'POST /api/v2/groups/',
      'POST /api/v3/beta/users',
      'PUT /api/v2/groups/{id}/',
      'PUT /api/v2/routers/{id}/',
      'PUT /api/v3/beta/users/{id}',
      'GET /api/v2/accounts/',
      'GET /api/v2/activity_logs/',
      'GET /api/v2/alert_push_destinations/',
      'GET /api/v2/alert_rules/',
      'GET /api/v2/alerts/',
      'GET /api/v2/audit_logs/',
      'GET /api/v2/batteries/',
      'GET /api/v2/configuration_managers/',
      'GET /api/v3/asset_endpoints',
      'GET /api/v3/beta/account_authorizations',
      'GET /get_sim_info/activate_sim',
      'GET /iot/api/subscriptions/details',
      'POST /iot/api/auth/token',
      'POST /iot/api/subscriptions/details',
      'GET /api/v3/beta/account_authorizations/{id}',
      'PATCH /api/v2/alert_push_destinations/{id}/',
      'PATCH /api/v2/alert_rules/{id}/',
      'POST /api/v2/accounts/',
      'POST /api/v2/alert_push_destinations/',
      'POST /api/v2/alert_rules/',
      'PUT /api/v2/accounts/{id}/',
      'PUT /api/v2/configuration_managers/{id}/',
      'PUT /api/v3/beta/account_authorizations/{id}',
    ].toSorted(),
  );
});
