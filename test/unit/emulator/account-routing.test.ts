// Many accounts in one process: who asks sees only its own data, and the counts are those of the service.
import { expect, test } from 'vitest';
import {
  accountCredentials,
  byAccount,
  createEmulator,
  parseAccountFault,
  type AccountCalls,
  type Emulator,
} from '../../../src/emulator/index.js';
import { collections, kinds } from '../../../src/resources/index.js';
import { seededRandom } from '../../support/simulated.js';
import { answerOf, handClock, requestOf } from './rig.js';

function routed(names: readonly string[], ...faults: readonly string[]) {
  const [clock, random] = [handClock(), seededRandom()];
  const parsed = faults.map((text) => parseAccountFault(text, names));
  const accounts = new Map<string, Emulator>();
  for (const name of names) {
    const [like] = accounts.values();
    const credentials = accountCredentials(name);
    const own = parsed.filter(({ account }) => account === undefined || account === name);
    const options = { kinds, collections, clock, random, credentials, faults: own };
    accounts.set(name, createEmulator({ ...options, ...(like && { like }) }));
  }
  const { fetch } = byAccount(accounts, clock);
  const ask = async (name: string, method: string, path: string, body?: string) =>
    answerOf(await fetch(requestOf(method, path, body, accountCredentials(name).v2[0])));
  const counts = async (): Promise<Record<string, AccountCalls>> => {
    const response = await fetch(new Request('http://cloud.test/emulator/calls'));
    return (await response.json()) as Record<string, AccountCalls>;
  };
  return { clock, ask, counts, accounts };
}

test('accounts share routes, and no data', async () => {
  const { ask, accounts } = routed(['acme', 'globex']);
  expect((await ask('acme', 'POST', '/api/v2/accounts/', '{"name":"A"}')).status).toBe(200);
  expect(accounts.get('acme')!.app).toBe(accounts.get('globex')!.app);
  const names = async (name: string): Promise<readonly unknown[]> =>
    (await ask(name, 'GET', '/api/v2/accounts/')).body.data.map((one) => one['name']);
  expect(await names('acme')).toEqual(['Headquarters', 'A']);
  expect(await names('globex')).toEqual(['Headquarters']);
  expect((await ask('nobody', 'GET', '/api/v2/accounts/')).status).toBe(401);
});

test('the counts are those of each account, in any 60 seconds and at once', async () => {
  const { ask, counts, clock } = routed(['acme', 'globex'], 'acme:latency=10');
  const path = '/api/v2/accounts/';
  const two = Promise.all([ask('acme', 'GET', path), ask('acme', 'POST', path, '{"name":"A"}')]);
  await new Promise(setImmediate);
  clock.advance(10);
  await two;
  clock.advance(59_989);
  const third = ask('acme', 'GET', path);
  clock.advance(10);
  await third;
  clock.advance(60_000);
  const fourth = ask('acme', 'GET', path);
  clock.advance(10);
  await fourth;
  expect(await counts()).toEqual({
    acme: { calls: 4, most_in_60s: 3, most_at_once: 2, most_writes_at_once: 1 },
    globex: { calls: 0, most_in_60s: 0, most_at_once: 0, most_writes_at_once: 0 },
  });
});

test.each(['status=500', 'status=429,retry-after=9', 'reset-before'])(
  'the fault %s of one account is of no other, and holds up no counts',
  async (fault) => {
    const { ask, counts } = routed(['acme', 'globex'], `acme:${fault}`);
    const status = await ask('acme', 'GET', '/api/v2/accounts/').then(
      (answer) => answer.status,
      () => 0,
    );
    expect(status).toBe(Number(/\d+/.exec(fault)?.[0] ?? 0));
    expect((await ask('globex', 'GET', '/api/v2/accounts/')).status).toBe(200);
    expect((await counts())['acme']).toMatchObject({ calls: 1 });
  },
);
