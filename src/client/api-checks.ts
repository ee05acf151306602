// `trueup doctor --check-api`: checks assumptions about the service on a real account. Each check sends only GET, reads
// at most two pages of a listing, and concludes nothing from missing records.
import {
  collectionsOf,
  cached,
  defined,
  exits,
  Refusal,
  type Collections,
} from '../model/index.js';
import { Malformed, parseResponse, recordOf } from './response.js';
import { openSession, type ConnectOptions, type ClientSession } from './client-session.js';
import type { HttpResponse } from './transport.js';
import { checks, type CheckResult, type Facts } from './api-check-table.js';

/** `name`: of an entry of the ledger in docs/explanation/api.md. */
export interface Checked extends CheckResult {
  readonly name: string;
}

/** How many other entries the ledger has. */
export const UNCHECKABLE = 52;

/** Checks one assumption after the other, by the collections of the API reference. @throws Refusal for an address that must not be used */
export async function* checkAssumptions(
  options: ConnectOptions,
  collections: Collections,
): AsyncGenerator<Checked> {
  const session = openSession(options);
  const known = collectionsOf([...collections.values()].filter(({ beyond }) => !beyond));
  const facts = factsOf(session, known);
  for (const [name, check] of Object.entries(checks)) {
    const { verdict, detail } = await check(facts).catch(unseen);
    yield { name, verdict, detail: session.tidy(detail) };
  }
}

/** What cannot be read is not known. The check that is about the form of the response says so by itself. */
function unseen(error: unknown): CheckResult {
  if (error instanceof Malformed)
    return { verdict: 'unchecked', detail: `the response ${error.message}` };
  if (error instanceof Refusal && error.exit === exits.error)
    return { verdict: 'unchecked', detail: error.diagnostics[0]?.summary ?? '' };
  throw error;
}

function factsOf(session: ClientSession, collections: Collections): Facts {
  const known = new Map<string, Promise<HttpResponse>>();
  const endpointOf = (name: string) =>
    session.endpointOf(collections.get(name)?.operations.dialect ?? 'v2', name);
  const response: Facts['response'] = (name, asked, { id, statuses } = {}) => {
    const endpoint = endpointOf(name);
    const path =
      endpoint.base.path +
      endpoint.dialect.path(collections.get(name)?.operations.collection ?? name, id);
    const query = typeof asked === 'string' ? asked : new URLSearchParams(asked).toString();
    const key = `${endpoint.dialect.name} ${path}?${query}`;
    return cached(known, key, () =>
      session.read(endpoint, name, path, defined({ query, statuses })),
    );
  };
  return {
    collections,
    now: () => session.options.clock.now(),
    response,
    dialect: (name) => endpointOf(name).dialect,
    async page(name, query) {
      const { records, next } = endpointOf(name).dialect.page(
        parseResponse(await response(name, query)),
      );
      return { records: records.map(recordOf), next };
    },
  };
}
