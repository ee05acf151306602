// The served emulator as another project's client sees it: a process of its own, spoken to by plain HTTP with the header
// names, page sizes and writes of public clients, and a webhook receiver that checks what is delivered.
import { createHmac } from 'node:crypto';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { emulator, folder, type Folder } from '../../support/cli.js';

type Members = Readonly<Record<string, unknown>>;
interface Answer {
  readonly status: number;
  readonly body: Members & {
    readonly data: readonly Members[];
    readonly meta: { readonly next: string | null };
  };
}

const families = [
  {
    'X-ECM-API-ID': 'emulator-mgr-id',
    'X-ECM-API-KEY': 'emulator-mgr-key',
    'X-CP-API-ID': 'emulator-vnd-id',
    'X-CP-API-KEY': 'emulator-vnd-key',
  },
  {
    'X-MGR-API-ID': 'emulator-mgr-id',
    'X-MGR-API-KEY': 'emulator-mgr-key',
    'X-VND-API-ID': 'emulator-vnd-id',
    'X-VND-API-KEY': 'emulator-vnd-key',
  },
];

/** One request over node:http, as scripts do it: the URL as it is, JSON in and out. */
function ask(
  headers: Readonly<Record<string, string>>,
  method: string,
  url: string,
  body?: unknown,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, headers: { 'Content-Type': 'application/json', ...headers } },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            body: (text === '' ? {} : JSON.parse(text)) as Answer['body'],
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** All pages of 500, by the URLs that the answers name. */
async function all(
  headers: Readonly<Record<string, string>>,
  url: string,
): Promise<readonly Members[]> {
  const found: Members[] = [];
  for (let next: string | null = `${url}?limit=500`; next !== null;) {
    const { status, body }: Answer = await ask(headers, 'GET', next);
    if (status !== 200) throw new Error(`${next} answered ${status}`);
    found.push(...body.data);
    next = body.meta.next;
  }
  return found;
}

async function served(home: Folder, ...args: readonly string[]) {
  const started = await emulator(home, ['--dialect', 'public', ...args]);
  const origin = started.env['TRUEUP_V3_URL'] ?? '';
  return { ...started, origin, v2: `${origin}/api/v2` };
}

const receivers: Server[] = [];
afterEach(() => receivers.splice(0).forEach((one) => (one.close(), one.closeAllConnections())));

interface Received {
  readonly body: string;
  readonly signature: string | undefined;
}

/** A receiver on this machine. `statuses` are its answers, in order; then 204. */
async function receiver(
  ...statuses: readonly number[]
): Promise<{ readonly url: string; readonly received: readonly Received[] }> {
  const received: Received[] = [];
  const answers = [...statuses];
  const server = createServer((asked, answer) => {
    let body = '';
    asked.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    asked.on('end', () => {
      received.push({ body, signature: asked.headers['x-signature'] as string | undefined });
      answer.writeHead(answers.shift() ?? 204).end();
    });
  });
  receivers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
}

describe.each(families)('a client with %j', (headers) => {
  test('creates, lists by 500, renames, deletes', async () => {
    const { v2 } = await served(folder());
    const names = Array.from({ length: 1100 }, (_, index) => `Site ${index}`);
    for (let start = 0; start < names.length; start += 50) {
      const made = await Promise.all(
        names.slice(start, start + 50).map((name) =>
          ask(headers, 'POST', `${v2}/accounts/`, {
            name,
            account: 'https://www.example.com/api/v1/accounts/1/',
          }),
        ),
      );
      expect(new Set(made.map(({ status }) => status))).toEqual(new Set([200]));
    }
    const found = await all(headers, `${v2}/accounts/`);
    expect([
      found.length,
      new Set(found.map(({ id }) => id)).size,
      new Set(found.map(({ name }) => name)).size,
    ]).toEqual([1101, 1101, 1101]);
    const { data } = (
      await ask(headers, 'GET', `${v2}/accounts/?name=Site%207&fields=id,resource_url`)
    ).body;
    const [{ id, resource_url: url } = {}] = data;
    expect(data).toEqual([{ id, resource_url: `${v2}/accounts/${String(id)}/` }]);
    expect((await ask(headers, 'PUT', String(url), { name: 'Depot 7' })).body['name']).toBe(
      'Depot 7',
    );
    expect(
      (await ask(headers, 'GET', `${v2}/accounts/?id=${String(id)}`)).body.data[0]?.['name'],
    ).toBe('Depot 7');
    expect((await ask(headers, 'DELETE', String(url))).status).toBe(200);
    expect((await ask(headers, 'GET', String(url))).status).toBe(404);
    expect(await all(headers, `${v2}/accounts/`)).toHaveLength(1100);
  });
});

describe('a client of v3', () => {
  const headers = {
    authorization: 'Bearer emulator-token',
    accept: 'application/vnd.api+json',
    'content-type': 'application/vnd.api+json',
  };

  test('finds a user and changes a role, by GET and by PUT of the whole', async () => {
    const estate = {
      version: 1,
      users: [{ id: '70', email: 'ada@example.com' }],
      records: {
        accounts: [{ id: '1', name: 'Headquarters' }],
        account_authorizations: [{ id: '900', user: '70', account: '1', role: 'read_only_user' }],
      },
    };
    const { origin } = await served(
      folder({ 'estate.json': JSON.stringify(estate) }),
      '--seed',
      'estate.json',
    );
    const get = async (path: string): Promise<Members> =>
      (await (await fetch(`${origin}/api/v3/beta/${path}`, { headers })).json()) as Members;
    const [user] = (await get('users?filter[email]=ada@example.com'))['data'] as readonly Members[];
    const [grant = {}] = (await get(`account_authorizations?filter[user]=${String(user?.['id'])}`))[
      'data'
    ] as readonly Members[];
    const data = {
      ...grant,
      attributes: { ...(grant['attributes'] as Members), role: 'full_access_user' },
    };
    const put = await fetch(`${origin}/api/v3/beta/account_authorizations/900`, {
      method: 'PUT',
      headers,
      body: JSON.stringify({ data }),
    });
    expect(put.status).toBe(200);
    expect(await get('account_authorizations/900')).toMatchObject({
      data: {
        attributes: { role: 'full_access_user' },
        relationships: { user: { data: { id: '70' } } },
      },
    });
  });
});

describe('a receiver of webhooks', () => {
  const [headers = {}] = families;
  const secret = 'correct horse battery staple';

  async function watched(url: string, ...args: readonly string[]) {
    const home = folder();
    const one = await served(home, '--data', 'cloud.json', '--delivery-minute', '1ms', ...args);
    const made = await ask(headers, 'POST', `${one.v2}/alert_push_destinations/`, {
      name: 'Pager',
      enabled: true,
      endpoint: { url },
      authentication: { secret },
    });
    const id = String(made.body['destination_config_id']);
    await ask(headers, 'POST', `${one.v2}/alert_rules/`, {
      associated_accounts: [1],
      filter_criteria: { alert_type__in: ['account_locked'] },
      http_destinations: [id],
    });
    const raise = (): Promise<Answer> =>
      ask(headers, 'POST', `${one.origin}/emulator/alerts`, {
        type: 'account_locked',
        account: '1',
      });
    const deliveries = async (): Promise<readonly Members[]> =>
      (await ask(headers, 'GET', `${one.origin}/emulator/deliveries`)).body.data;
    const destination = async (): Promise<Members | undefined> =>
      (await ask(headers, 'GET', `${one.v2}/alert_push_destinations/?destination_config_id=${id}`))
        .body.data[0];
    const outcome = async (): Promise<Members | undefined> => {
      for (;;) {
        const [first] = await deliveries();
        if (first?.['status'] !== 'retrying') return first;
        await new Promise((later) => setTimeout(later, 10));
      }
    };
    return { ...one, home, id, raise, deliveries, destination, outcome };
  }

  const signed = ({ body, signature }: Received): boolean =>
    signature === createHmac('sha256', secret).update(body).digest('hex');

  test('gets what is signed with its secret, and gets it again until it answers 2xx', async () => {
    const { url, received } = await receiver(500, 302, 204);
    const { raise, outcome, destination, id } = await watched(url);
    const { status, body } = await raise();
    expect([status, body['rules']]).toMatchObject([
      200,
      [
        {
          deliveries: [
            { destination_config_id: id, status: 'retrying', attempts: [{ status: 500 }] },
          ],
        },
      ],
    ]);
    expect(await outcome()).toMatchObject({
      status: 'delivered',
      attempts: [{ status: 500 }, { status: 302 }, { status: 204 }],
    });
    expect(received.map(signed)).toEqual([true, true, true]);
    expect(JSON.parse(received[2]?.body ?? '')).toEqual({
      data: [{ ...(body['alert'] as Members), router_details: null }],
    });
    expect(await destination()).toMatchObject({
      suspended: false,
      last_error_text: 'the receiver returned 302',
    });
  });

  test('that never takes it is suspended, in the data file, too, which holds no secret', async () => {
    const { url, received } = await receiver(...Array.from({ length: 9 }, () => 503));
    const { raise, outcome, destination, deliveries, home, child, id } = await watched(url);
    await raise();
    expect(await outcome()).toMatchObject({
      status: 'failed',
      reason: 'after 6 attempts: the receiver returned 503',
    });
    expect([received.length, received.every(signed)]).toEqual([6, true]);
    expect(await destination()).toMatchObject({
      suspended: true,
      last_error_text: 'the receiver returned 503',
      authentication: { secret: '*' },
    });
    await raise();
    expect((await deliveries()).map(({ status }) => status)).toEqual(['failed', 'skipped']);
    expect(received).toHaveLength(6);
    const kept = home.read('cloud.json');
    expect([kept.includes('the receiver returned 503'), kept.includes('horse')]).toEqual([
      true,
      false,
    ]);
    child.kill('SIGKILL');
    const again = await served(home, '--data', 'cloud.json');
    const [first] = (
      await ask(headers, 'GET', `${again.v2}/alert_push_destinations/?destination_config_id=${id}`)
    ).body.data;
    expect(first).toMatchObject({ suspended: true });
  });

  test('nobody listens: the delivery waits for its next attempt, and the emulator ends all the same', async () => {
    const { url } = await receiver();
    for (const server of receivers.splice(0)) await new Promise((closed) => server.close(closed));
    const { raise, child, ended } = await watched(url, '--delivery-minute', '1h');
    const { body } = await raise();
    expect(body['rules']).toMatchObject([
      {
        deliveries: [
          { status: 'retrying', attempts: [{ error: 'the connection failed (ECONNREFUSED)' }] },
        ],
      },
    ]);
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([143, expect.not.stringContaining('error')]);
  });

  test('elsewhere gets nothing', async () => {
    const { raise } = await watched('https://hooks.example.com/alerts');
    expect((await raise()).body['rules']).toMatchObject([
      { deliveries: [{ status: 'refused', attempts: [] }] },
    ]);
  });

  test('the length of a minute is one', async () => {
    const { stderr } = await folder().expect(1, ['emulator', '--delivery-minute', 'soon']);
    expect(stderr).toContain('--delivery-minute "soon"');
  });
});
