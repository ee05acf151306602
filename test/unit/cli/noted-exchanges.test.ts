// What a fleet is told of the responses of a service: it repeats fewer requests, and halves its lanes, where there are none.
import { expect, test } from 'vitest';
import { noted } from '../../../src/cli/cloud-connection.js';
import type { HttpResponse, HttpRequest } from '../../../src/client/index.js';
import { collections, kinds } from '../../../src/resources/index.js';
import { simulatedClock } from '../../support/simulated.js';
import { bench, never, page, refusal } from '../client/fake-cloud.js';

/** A cloud, and the statuses that are told of it. */
function watched(answer: (request: HttpRequest, url: URL) => Promise<HttpResponse>) {
  const statuses: number[] = [];
  const exchanges = {
    responded: (_: string, status: number): void => void statuses.push(status),
    limiterOf: () => expect.unreachable(),
    mayRepeat: () => true,
  };
  const clock = simulatedClock();
  const { signal } = new AbortController();
  const observed = { clock, debug: () => undefined, exchanges, signal };
  const transport = noted(observed, (request) => answer(request, new URL(request.url)));
  return { statuses, ...bench(() => expect.unreachable(), { transport, clock }) };
}

test('pages that were read ahead and are not needed count as no failure', async () => {
  const { cloud, statuses } = watched(async ({ signal }, url) => {
    const offset = Number(url.searchParams.get('offset') ?? 0);
    if (offset >= 1000) return never(signal);
    const record = { created_at_timeuuid: `${offset}`, type: 'account_locked' };
    return page(
      Array.from({ length: 500 }, () => record),
      `?limit=500&offset=${offset + 500}`,
    );
  });
  let pages = 0;
  for await (const some of cloud.records(collections.get('alerts')!, { filters: {} }))
    if (some.length > 0 && (pages += 1) === 2) break;
  await new Promise((resolve) => setImmediate(resolve));
  expect(statuses).toEqual([200, 200]);
});

test('requests without a response until their deadline count as failures', async () => {
  const { cloud, statuses } = watched(({ signal }) => never(signal));
  await refusal(cloud.list(kinds.get('alert_rules')!));
  expect(statuses).toEqual([0, 0, 0]);
});
