// Every fault does what it is ordered to do, to the requests it is ordered for, and the writes it promises happen or do not.
import { describe, expect, test } from 'vitest';
import {
  ConnectionReset,
  parseFault,
  type Estate,
  type Fault,
} from '../../../src/emulator/index.js';
import { Refusal } from '../../../src/model/index.js';
import { requestOf, rig, type Rig } from './rig.js';

const estate: Estate = {
  version: 1,
  records: {
    accounts: [
      { id: '1', name: 'Headquarters', account: null },
      ...[2, 3, 4, 5].map((id) => ({ id: String(id), name: `Site ${id}` })),
    ],
    account_authorizations: [5, 6, 7].map((id) => ({
      id: String(id),
      user: String(id),
      account: '1',
      role: 'no_access',
    })),
  },
};
const faulty = (...faults: readonly string[]): Rig =>
  rig({ estate, faults: faults.map(parseFault) });
const names = ({ emulator }: Rig): readonly unknown[] =>
  emulator.objects('accounts').map(({ name }) => name);
const create = ({ ask }: Rig) => ask('POST', '/api/v2/accounts/', { name: 'New' });

describe('the words of --fault', () => {
  test.each<[string, Fault]>([
    ['latency=250', { name: 'latency', value: 250 }],
    ['status=503,method=post,times=2', { name: 'status', value: 503, method: 'POST', times: 2 }],
    [
      'reset-after, path=alert_rules, after=3',
      { name: 'reset-after', path: 'alert_rules', after: 3 },
    ],
    ['truncate,path=?limit=500', { name: 'truncate', path: '?limit=500' }],
    ['page-shift,mode=remove', { name: 'page-shift', mode: 'remove' }],
    ['late=3000,mode=reset', { name: 'late', value: 3000, mode: 'reset' }],
    [
      'stale=1500,mode=flicker,method=DELETE',
      { name: 'stale', value: 1500, mode: 'flicker', method: 'DELETE' },
    ],
    ['endless', { name: 'endless' }],
    ['endless=50', { name: 'endless', value: 50 }],
    ['hang,times=2', { name: 'hang', times: 2 }],
    ['status=429,retry-after=30', { name: 'status', value: 429, retryAfter: 30 }],
  ])('%s', (text, fault) => expect(parseFault(text)).toEqual(fault));

  test.each([
    '',
    'lightning',
    'constructor',
    'latency',
    'latency=',
    'latency=-1',
    'latency=1=2',
    'reset-before=3',
    'status=99',
    'status=700',
    'html,colour=red',
    'html,after=x',
    'html,mode=reset',
    'late=5,mode=remove',
    'late=5,mode=flicker',
    'stale',
    'stale=5,mode=reset',
    'html,times',
    'hang=5',
    'status=500,retry-after=30',
    'rate-limit=429,retry-after=30',
    'status=429,retry-after=soon',
  ])('%j is not understood, and the grammar is shown', (text) => {
    let refusal: unknown;
    try {
      parseFault(text);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(Refusal);
    expect((refusal as Refusal).diagnostics[0]?.detail).toContain('NAME[=NUMBER]');
  });
});

describe('which requests', () => {
  test('method, path, after and times together', async () => {
    const one = faulty('status=500,method=GET,path=accounts/?limit,after=1,times=2');
    const statuses = [];
    for (const [method, path] of [
      ['GET', '/api/v2/accounts/'],
      ['GET', '/api/v2/accounts/?limit=5'],
      ['GET', '/api/v2/accounts/?limit=5'],
      ['GET', '/api/v2/alert_rules/?limit=5'],
      ['POST', '/api/v2/accounts/?limit=5'],
      ['GET', '/api/v2/accounts/?limit=5'],
      ['GET', '/api/v2/accounts/?limit=5'],
    ] as const) {
      statuses.push(
        (await one.ask(method, path, method === 'POST' ? { name: 'New' } : undefined)).status,
      );
    }
    expect(statuses).toEqual([200, 200, 500, 200, 200, 500, 200]);
  });

  test('faults can be set anew, and taken away', async () => {
    const one = faulty('status=500');
    expect((await create(one)).status).toBe(500);
    one.emulator.setFaults([]);
    expect((await create(one)).status).toBe(200);
  });

  test('the first of several is the outermost', async () => {
    const one = faulty('status=500,times=1', 'reset-after');
    expect((await create(one)).status).toBe(500);
    await expect(create(one)).rejects.toThrow(ConnectionReset);
  });
});

describe('status', () => {
  test('nothing happens', async () => {
    const one = faulty('status=500');
    expect((await create(one)).body).toEqual({
      exception: { type: 'error', message: expect.any(String) },
    });
    expect(names(one)).toHaveLength(5);
  });

  test('of a 409, v3 gives no errors: that is throttling', async () => {
    expect(
      (await faulty('status=409').ask('GET', '/api/v3/beta/account_authorizations')).body,
    ).toEqual({});
    expect(
      (await faulty('status=500').ask('GET', '/api/v3/beta/account_authorizations')).body.errors,
    ).toHaveLength(1);
  });

  test.each([
    ['status=429', '1'],
    ['status=503,retry-after=30', '30'],
    ['status=500', null],
  ])('%s tells how long to wait: %s', async (fault, wait) => {
    const { headers } = await faulty(fault).ask('GET', '/api/v2/accounts/');
    expect(headers.get('retry-after')).toBe(wait);
  });

  test.each([204, 304])('%i has no body', async (status) => {
    const answer = await faulty(`status=${status}`).ask('GET', '/api/v2/accounts/');
    expect([answer.status, answer.text]).toEqual([status, '']);
  });

  test('a redirection leads somewhere', async () => {
    expect(
      (await faulty('status=302').ask('GET', '/api/v2/accounts/')).headers.get('location'),
    ).toBe('http://cloud.test/elsewhere/');
  });
});

describe('resets', () => {
  test('before the write, nothing happens', async () => {
    const one = faulty('reset-before');
    await expect(create(one)).rejects.toMatchObject({ name: 'ConnectionReset', sent: false });
    expect(names(one)).toHaveLength(5);
  });

  test('after the write, it has happened', async () => {
    const one = faulty('reset-after');
    await expect(create(one)).rejects.toMatchObject({ name: 'ConnectionReset', sent: true });
    expect(names(one)).toContain('New');
    expect(one.emulator.requests.map(({ status }) => status)).toEqual([0]);
  });
});

describe('answers that are none', () => {
  test('truncate: it happened, and half the answer came', async () => {
    const one = faulty('truncate');
    const { status, text } = await create(one);
    expect(status).toBe(200);
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    expect(names(one)).toContain('New');
  });

  test('html: somebody else answered, nothing happened', async () => {
    const one = faulty('html');
    const { status, headers, text } = await create(one);
    expect([status, headers.get('content-type'), text.slice(0, 15)]).toEqual([
      200,
      'text/html; charset=utf-8',
      '<!DOCTYPE html>',
    ]);
    expect(names(one)).toHaveLength(5);
  });

  test('hang: no answer, until the client is gone; nothing happened', async () => {
    const one = faulty('hang');
    const client = new AbortController();
    const { signal } = client;
    const request = new Request(requestOf('POST', '/api/v2/accounts/', { name: 'New' }), {
      signal,
    });
    let answered = false;
    const asked = one.emulator.fetch(request).finally(() => (answered = true));
    await new Promise(setImmediate);
    expect(answered).toBe(false);
    client.abort();
    await expect(asked).rejects.toMatchObject({ name: 'ConnectionReset', sent: false });
    expect(names(one)).toHaveLength(5);
  });

  test('endless: it goes on and on', async () => {
    const { body } = await faulty('endless').emulator.fetch(requestOf('GET', '/api/v2/accounts/'));
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    let bytes = 0;
    for (let piece = 0; piece < 200; piece += 1) bytes += (await reader.read()).value?.length ?? 0;
    expect(bytes).toBe(200 * 65_536);
    await reader.cancel();
  });
});

describe('time', () => {
  test('latency: the answer waits for its time', async () => {
    const one = faulty('latency=250');
    let done = false;
    const asked = one.ask('GET', '/api/v2/accounts/').then(() => (done = true));
    await new Promise(setImmediate);
    one.clock.advance(249);
    await new Promise(setImmediate);
    expect(done).toBe(false);
    one.clock.advance(1);
    await asked;
    expect(done).toBe(true);
  });

  test.each([
    ['late=5000', 504],
    ['late=5000,mode=reset', 0],
  ])('%s: the write lands later', async (fault, status) => {
    const one = faulty(fault);
    await create(one).catch(() => undefined);
    expect(one.emulator.requests.map((request) => request.status)).toEqual([status]);
    one.clock.advance(4999);
    await new Promise(setImmediate);
    expect(names(one)).toHaveLength(5);
    one.clock.advance(1);
    await one.emulator.settled();
    expect(names(one)).toContain('New');
  });

  test('late leaves reading alone', async () => {
    expect((await faulty('late=5000').ask('GET', '/api/v2/accounts/')).status).toBe(200);
  });

  test.each([
    ['seconds', '42'],
    ['date', 'Fri, 02 Jan 2026 03:05:05 GMT'],
    ['none', null],
  ] as const)(
    'rate-limit: too many in a minute are told to wait, in %s',
    async (retry_after, wait) => {
      const one = rig({
        estate,
        faults: [parseFault('rate-limit=2')],
        behaviours: { retry_after },
      });
      const statuses = [(await create(one)).status];
      one.clock.advance(18_000);
      statuses.push((await create(one)).status);
      const third = await create(one);
      expect([...statuses, third.status, third.headers.get('retry-after')]).toEqual([
        200,
        200,
        429,
        wait,
      ]);
      expect(names(one)).toHaveLength(7);
      one.clock.advance(42_000);
      expect((await create(one)).status).toBe(200);
    },
  );
});

describe('stale', () => {
  const put = ({ ask }: Rig, name: string) => ask('PUT', '/api/v2/accounts/3/', { name });
  const listed = async (one: Rig): Promise<readonly unknown[]> =>
    (await one.list('/api/v2/accounts/?limit=2')).map(({ name }) => name);
  const before = ['Headquarters', 'Site 2', 'Site 3', 'Site 4', 'Site 5'];

  test('what was written is shown later, everywhere, and stored at once', async () => {
    const one = faulty('stale=1000');
    const { id } = (await create(one)).body;
    expect((await put(one, 'Changed')).body.name).toBe('Changed');
    one.clock.advance(400);
    expect((await one.ask('DELETE', '/api/v2/accounts/2/')).text).toBe('');
    expect((await put(one, 'Again')).body.name).toBe('Again');
    expect(names(one)).toEqual(['Headquarters', 'Again', 'Site 4', 'Site 5', 'New']);
    const byId = async (): Promise<readonly unknown[]> =>
      (await one.list(`/api/v2/accounts/?id__in=2,3,${String(id)}`)).map(({ name }) => name);
    expect([await listed(one), await byId()]).toEqual([before, ['Site 2', 'Site 3']]);
    one.clock.advance(600);
    expect([await listed(one), await byId()]).toEqual([
      ['Headquarters', 'Site 2', 'Changed', 'Site 4', 'Site 5', 'New'],
      ['Site 2', 'Changed', 'New'],
    ]);
    one.clock.advance(400);
    expect([await listed(one), await byId()]).toEqual([
      ['Headquarters', 'Again', 'Site 4', 'Site 5', 'New'],
      ['Again', 'New'],
    ]);
  });

  test('only for the writes it is ordered for', async () => {
    const one = faulty('stale=1000,method=DELETE,path=accounts/5,times=1');
    await put(one, 'Changed');
    await one.ask('DELETE', '/api/v2/accounts/4/');
    await one.ask('DELETE', '/api/v2/accounts/5/');
    expect(await listed(one)).toEqual(['Headquarters', 'Site 2', 'Changed', 'Site 5']);
    expect((await one.ask('DELETE', '/api/v2/accounts/5/')).status).toBe(404);
  });

  test('flicker: some readings show it, some do not yet', async () => {
    const one = faulty('stale=1000,mode=flicker');
    await create(one);
    const counts = new Set<number>();
    for (let reading = 0; reading < 20; reading += 1)
      counts.add((await one.list('/api/v2/accounts/')).length);
    expect(counts).toEqual(new Set([5, 6]));
    one.clock.advance(1000);
    for (let reading = 0; reading < 20; reading += 1) expect(await listed(one)).toHaveLength(6);
  });
});

describe('pages', () => {
  test('page-shift: a record in front makes one come twice', async () => {
    const one = faulty('page-shift,after=1,times=1');
    const seen = (await one.list('/api/v2/accounts/?limit=2')).map(({ name }) => name);
    expect(seen).toHaveLength(6);
    expect(new Set(seen).size).toBe(5);
    expect(names(one)[0]).toBe('Inserted 5');
  });

  test('page-shift,mode=remove: a record gone makes another be missed', async () => {
    const one = faulty('page-shift,mode=remove,after=1,times=1');
    const seen = (await one.list('/api/v2/accounts/?limit=2')).map(({ name }) => name);
    expect(names(one)).toEqual(['Headquarters', 'Site 3', 'Site 4', 'Site 5']);
    expect(seen).toEqual(['Headquarters', 'Site 2', 'Site 4', 'Site 5']);
  });

  test('page-shift is in the log, by the service itself', async () => {
    const one = faulty('page-shift,times=1');
    await one.ask('GET', '/api/v2/accounts/');
    expect(
      await one.list('/api/v2/activity_logs/?actor__type=system&action__type=create'),
    ).toHaveLength(1);
  });

  test('loop-next: next leads to the page it stands on', async () => {
    const one = faulty('loop-next');
    expect((await one.ask('GET', '/api/v2/accounts/?limit=2')).body.meta.next).toBe(
      'http://cloud.test/api/v2/accounts/?limit=2',
    );
    expect((await one.ask('GET', '/api/v3/beta/account_authorizations')).body.links.next).toBe(
      'http://cloud.test/api/v3/beta/account_authorizations',
    );
  });

  test('foreign-next: next leads to another host, its query still holds', async () => {
    const one = faulty('foreign-next');
    expect((await one.ask('GET', '/api/v2/accounts/?limit=2')).body.meta.next).toBe(
      'https://elsewhere.invalid/api/v2/accounts/?limit=2&offset=2',
    );
    expect(await one.list('/api/v2/accounts/?limit=2')).toHaveLength(5);
    expect((await one.ask('GET', '/api/v2/accounts/')).body.meta.next).toBeNull();
  });

  test('writes go through untouched', async () => {
    const one = faulty('loop-next', 'foreign-next');
    expect((await create(one)).body.name).toBe('New');
    expect((await one.ask('DELETE', '/api/v2/accounts/2/')).text).toBe('');
  });
});

test('a write that lands late and breaks its connection harms nobody: who sent it is gone', async () => {
  const one = faulty('late=1000', 'reset-before');
  expect((await create(one)).status).toBe(504);
  one.clock.advance(1000);
  await one.emulator.settled();
  expect(names(one)).not.toContain('New');
});
