// A webhook is posted to once, and again only where the server or the network failed; no message holds its address.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { webhookOf, type WebhookOptions } from '../../../src/client/webhook.js';
import { Refusal, Secret } from '../../../src/model/index.js';
import { systemClock } from '../../../src/platform/clock.js';
import { cleanUp } from '../../support/clean-up.js';
import { seededRandom } from '../../support/simulated.js';

const real = systemClock();
/** The wait between two tries is short. So is the timeout, where it is what is tested. */
const optionsOf = (timeout = 10_000) => ({
  clock: {
    ...real,
    sleep(milliseconds: number, signal?: AbortSignal) {
      // No wait that a server asks for is heeded.
      expect(milliseconds).toBeLessThanOrEqual(10_000);
      return real.sleep(milliseconds === 10_000 ? timeout : 1, signal);
    },
  },
  random: seededRandom(1),
});

interface Heard {
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
}

/** A server that answers with each of the statuses in turn, and then with the last; 0 is no answer. */
async function server(
  statuses: readonly number[],
  fields: Readonly<Record<string, string>> = {},
): Promise<{ readonly origin: string; readonly heard: readonly Heard[] }> {
  const heard: Heard[] = [];
  const answer = ({ url, headers }: IncomingMessage, response: ServerResponse): void => {
    heard.push({ url, headers });
    const status = statuses[heard.length - 1] ?? statuses.at(-1)!;
    if (status !== 0) response.writeHead(status, fields).end('https://leak.example.com/path');
  };
  const listening: Server = createServer(answer);
  await new Promise<void>((done) => listening.listen(0, '127.0.0.1', done));
  cleanUp.push(() => {
    listening.closeAllConnections();
    listening.close();
  });
  return { origin: `http://127.0.0.1:${(listening.address() as AddressInfo).port}`, heard };
}

const post = (origin: string, options: Partial<WebhookOptions> = {}) =>
  webhookOf(`${origin}/hook/S3CRET?key=S3CRET`, '--notify number 1', {
    ...optionsOf(),
    ...options,
  }).post('{}');

describe('a webhook', () => {
  it.each<readonly [readonly number[], number, RegExp | undefined]>([
    [[204], 1, undefined],
    [[500, 503, 200], 3, undefined],
    [[500], 3, /^it returned 500$/],
    [[404], 1, /^it returned 404$/],
    [[429], 1, /^it returned 429$/],
    [[302], 1, /^it returned 302, and redirects are not followed$/],
    [[0], 3, /^there was no complete response within 10 s$/],
  ])('that answers %j is asked %d times', async (statuses, times, why) => {
    const elsewhere = await server([200]);
    const { origin, heard } = await server(statuses, {
      location: elsewhere.origin,
      'retry-after': '100',
    });
    const said = await post(origin, statuses[0] === 0 ? optionsOf(1_000) : {});
    expect(said ?? '').toMatch(why ?? /^$/);
    expect(said ?? '').not.toMatch(/S3CRET|leak/);
    expect(heard).toHaveLength(times);
    expect(elsewhere.heard).toHaveLength(0);
    expect(heard[0]?.url).toBe('/hook/S3CRET?key=S3CRET');
  });

  it('that is not there is told with the reason of the system', async () => {
    const { origin, heard } = await server([200]);
    const said = await post(origin.replace(/\d+$/, '1'));
    expect(said).toBe('the request failed (ECONNREFUSED)');
    expect(heard).toHaveLength(0);
  });

  it('is sent the token, if there is one', async () => {
    const { origin, heard } = await server([200]);
    await post(origin);
    await post(origin, { token: new Secret('TRUEUP_NOTIFY_TOKEN', () => 'letmein') });
    expect(heard.map(({ headers }) => headers.authorization)).toEqual([
      undefined,
      'Bearer letmein',
    ]);
    expect(heard[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
  });

  it.each([
    ['S3CRET', 'is not a URL'],
    ['http://hooks.example.com/S3CRET', 'is plain http'],
    ['ftp://hooks.example.com/S3CRET', 'is neither https nor http'],
    ['https://me:S3CRET@hooks.example.com/', 'holds a user name or password'],
  ])('at %s is refused before anything is sent, and not quoted', (address, why) => {
    const make = () => webhookOf(address, '--notify number 1', optionsOf());
    expect(make).toThrow(Refusal);
    expect(make).toThrow(`--notify number 1 ${why}`);
    expect(make).not.toThrow('S3CRET');
  });
});
