// Many accounts behind one address: the credentials of a request decide whose data it sees. Counts the calls of each
// account, as the service would for its rate limit, and tells them at `GET /emulator/calls`. v2 and v3 alone: the IoT platform and the flow have one login.
import { refuse } from '../model/index.js';
import type { Clock } from '../platform/index.js';
import { dummyCredentials, dummyKey, type Credentials } from './app.js';
import type { Emulator } from './emulator.js';
import { parseFault, type Fault } from './faults.js';

const MINUTE = 60_000;

/** Dummies that open one account, and no other. */
export const accountCredentials = (account: string): Credentials => ({
  ...dummyCredentials,
  v2: [dummyKey(account)],
  v3: { [`${account}-token`]: { id: '1', email: `emulator@${account}.example.com` } },
});

/** A fault of all accounts, or with `NAME:` before it, of one. @throws Refusal */
export function parseAccountFault(
  text: string,
  accounts: readonly string[],
): Fault & { readonly account?: string } {
  const [, account, rest = ''] = /^([A-Za-z0-9._-]+):(.*)$/s.exec(text) ?? [];
  if (account === undefined) return parseFault(text);
  if (accounts.includes(account)) return { ...parseFault(rest), account };
  return refuse('usage', `--fault ${JSON.stringify(text)}: there is no --tenant ${account}.`, {
    detail: `Tenants: ${accounts.join(', ')}.`,
  });
}

/** The calls of one account. */
export type AccountCalls = ReturnType<ReturnType<typeof tally>['calls']>;

/** @param accounts by name, each with its `accountCredentials` */
export function byAccount(
  accounts: ReadonlyMap<string, Pick<Emulator, 'fetch'>>,
  clock: Pick<Clock, 'monotonic'>,
) {
  const tallies = new Map([...accounts.keys()].map((name) => [name, tally(clock)]));
  const accountOf = (headers: Headers): string | undefined => {
    const key = headers.get('x-mgr-api-key') ?? '';
    const token = headers.get('authorization') ?? '';
    const name = /^(.*)-mgr-key$/.exec(key)?.[1] ?? /^Bearer (.*)-token$/.exec(token)?.[1];
    return name !== undefined && accounts.has(name) ? name : undefined;
  };
  const [anyone] = accounts.values();
  const calls = (): ReadonlyMap<string, AccountCalls> =>
    new Map([...tallies].map(([name, one]) => [name, one.calls()]));
  return {
    /** Without an account, what any of them returns for wrong credentials. */
    async fetch(request: Request): Promise<Response> {
      // Of all accounts, so it takes the credentials of none, and no fault holds it up.
      if (request.method === 'GET' && new URL(request.url).pathname === '/emulator/calls')
        return Response.json(Object.fromEntries(calls()));
      const name = accountOf(request.headers);
      if (name === undefined) return anyone!.fetch(request);
      const ended = tallies.get(name)!.begun(request.method !== 'GET');
      try {
        return await accounts.get(name)!.fetch(request);
      } finally {
        ended();
      }
    },
    calls,
  };
}

/** What runs at once, now and at most. */
function running() {
  let [now, most] = [0, 0];
  return {
    begun(): () => void {
      now += 1;
      most = Math.max(most, now);
      return () => void (now -= 1);
    },
    most: () => most,
  };
}

function tally(clock: Pick<Clock, 'monotonic'>) {
  const window: number[] = [];
  const [all, writes] = [running(), running()];
  let [calls, most] = [0, 0];
  return {
    begun(isWrite: boolean): () => void {
      const now = clock.monotonic();
      while (window.length > 0 && window[0]! <= now - MINUTE) window.shift();
      window.push(now);
      calls += 1;
      most = Math.max(most, window.length);
      const ends = [all.begun(), ...(isWrite ? [writes.begun()] : [])];
      return () => ends.forEach((end) => end());
    },
    calls: () => ({
      calls,
      /** The most in any 60 seconds. */
      most_in_60s: most,
      most_at_once: all.most(),
      /** Of POST, PUT, PATCH and DELETE. */
      most_writes_at_once: writes.most(),
    }),
  };
}
