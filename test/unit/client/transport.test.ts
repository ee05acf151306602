// The transport against real sockets on loopback: what was sent, what came back whole, and what never happens.
import { createServer, type RequestListener } from 'node:http';
import {
  createServer as createSocketServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  connect,
  TransportError,
  undiciTransport,
  type HttpConnections,
  type HttpRequest,
  type TransportOptions,
} from '../../../src/client/index.js';
import type { Diagnostic, Refusal } from '../../../src/model/index.js';
import { systemClock } from '../../../src/platform/clock.js';
import { kinds } from '../../../src/resources/index.js';
import { seededRandom } from '../../support/simulated.js';
import { v2Headers } from './fake-cloud.js';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serve = async (listener: RequestListener): Promise<string> =>
  `http://${await listen(createServer(listener))}`;
/** A server that sees bytes, not requests. */
const raw = async (onData: (socket: Socket, text: string) => void): Promise<string> =>
  `http://${await listen(createSocketServer((socket) => socket.on('data', (bytes) => onData(socket, bytes.toString()))))}`;
async function closedPort(): Promise<string> {
  const server = createSocketServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `127.0.0.1:${port}`;
}

function open(origin: string, more: Partial<TransportOptions> = {}) {
  const { transport, close } = undiciTransport({ origins: [origin], ...more });
  closers.push(close);
  return (more: Partial<HttpRequest> = {}) =>
    transport({
      method: 'GET',
      url: `${origin}/x?y=1`,
      headers: {},
      signal: new AbortController().signal,
      ...more,
    });
}

async function trouble(promise: Promise<unknown>): Promise<{ sent: boolean; code: string }> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TransportError);
  const { sent, code } = error as TransportError;
  return { sent, code };
}

describe('an exchange', () => {
  it('sends method, path, headers and body, asks for no encoding, and gives the answer whole', async () => {
    const seen: unknown[] = [];
    const origin = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push([
          request.method,
          request.url,
          request.headers['x-key'],
          request.headers['accept-encoding'],
          body,
        ]);
        response.writeHead(201, { 'X-Answer': 'one' });
        for (const part of ['é', '€', '😀'])
          for (const byte of Buffer.from(part)) response.write(Buffer.from([byte]));
        response.end();
      });
    });
    const answer = await open(origin)({
      method: 'POST',
      headers: { 'X-Key': 'k' },
      body: '{"ü":1}',
    });
    expect(seen).toEqual([['POST', '/x?y=1', 'k', 'identity', '{"ü":1}']]);
    expect(answer).toMatchObject({ status: 201, headers: { 'x-answer': 'one' }, body: 'é€😀' });
  });

  it.each([301, 302, 303, 307, 308])('does not follow a %i', async (status) => {
    let hits = 0;
    const other = await serve((_, response) => void response.end(String((hits += 1))));
    const origin = await serve(
      (_, response) => void response.writeHead(status, { location: `${other}/` }).end(),
    );
    expect((await open(origin)()).status).toBe(status);
    expect(hits).toBe(0);
  });

  it('uses connections again, and as many as are needed', async () => {
    const waiting: (() => void)[] = [];
    const ports = new Set<number | undefined>();
    const origin = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      waiting.push(() => response.end('{}'));
      if (waiting.length === 20) for (const end of waiting.splice(0)) end();
    });
    const get = open(origin);
    for (let round = 0; round < 5; round += 1)
      await Promise.all(Array.from({ length: 20 }, () => get()));
    expect(ports.size).toBeGreaterThanOrEqual(20);
    expect(ports.size).toBeLessThanOrEqual(40);
  });

  it('goes to its own origins alone', async () => {
    let hits = 0;
    const other = await serve((_, response) => void response.end(String((hits += 1))));
    const get = open(await serve((_, response) => void response.end('{}')));
    await expect(get({ url: `${other}/` })).rejects.toThrow(/another origin/);
    expect(hits).toBe(0);
  });

  it.each([
    'http://api.example.com',
    'http://10.0.0.1',
    'http://localhost.example.com',
    'http://128.0.0.1',
  ])('refuses %s', (origin) => {
    expect(() => undiciTransport({ origins: [origin] })).toThrow(/plain http/);
  });

  it.each([
    'https://api.example.com/api/v2',
    'http://localhost:1',
    'http://127.9.9.9',
    'http://[::1]:8',
  ])('takes %s', (origin) => {
    expect(() => undiciTransport({ origins: [origin] })).not.toThrow();
  });
});

describe('what went wrong', () => {
  it('was not sent where nobody listens, or nobody speaks TLS', async () => {
    expect(await trouble(open(`http://${await closedPort()}`)())).toEqual({
      sent: false,
      code: 'ECONNREFUSED',
    });
    const plain = (await raw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))).replace(
      'http:',
      'https:',
    );
    expect(await trouble(open(plain)({ method: 'POST', body: '{}' }))).toMatchObject({
      sent: false,
    });
    const hangs = (await raw((socket) => socket.destroy())).replace('http:', 'https:');
    expect(await trouble(open(hangs)({ method: 'POST', body: '{}' }))).toMatchObject({
      sent: false,
    });
  });

  it.each<[string, (socket: Socket) => void]>([
    ['closed without an answer', (socket) => void socket.end()],
    ['reset without an answer', (socket) => void socket.resetAndDestroy()],
    ['closed in the headers', (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-le')],
    [
      'closed before the promised length',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"a"'),
    ],
    [
      'closed between chunks',
      (socket) =>
        void socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n'),
    ],
    ['no HTTP at all', (socket) => void socket.end('hello\r\n\r\n')],
  ])('may have been carried out where the connection was %s, and was sent once', async (_, act) => {
    let requests = 0;
    const origin = await raw((socket, text) => {
      if (text.startsWith('POST')) requests += 1;
      act(socket);
    });
    expect(await trouble(open(origin)({ method: 'POST', body: '{}' }))).toMatchObject({
      sent: true,
    });
    expect(requests).toBe(1);
  });

  it('was not sent when it was given up before its turn, nor afterwards', async () => {
    let requests = 0;
    const origin = await serve((_, response) => void response.end(String((requests += 1))));
    const before = new AbortController();
    before.abort();
    expect(await trouble(open(origin)({ signal: before.signal }))).toEqual({
      sent: false,
      code: 'aborted',
    });
    const during = new AbortController();
    const promise = trouble(open(origin)({ signal: during.signal }));
    during.abort();
    expect(await promise).toEqual({ sent: false, code: 'aborted' });
    await open(origin)();
    expect(requests).toBe(1);
  });

  it('was sent when it was given up on the way', async () => {
    const giveUp = new AbortController();
    const origin = await serve(() => giveUp.abort());
    expect(await trouble(open(origin)({ signal: giveUp.signal }))).toEqual({
      sent: true,
      code: 'aborted',
    });
    const later = new AbortController();
    const half = await serve((_, response) => {
      response.write('{');
      setTimeout(() => later.abort(), 20);
    });
    expect(await trouble(open(half)({ signal: later.signal }))).toEqual({
      sent: true,
      code: 'body-unfinished',
    });
  });

  it('ends a body that is too long, and one that is not text, packed, or without end', async () => {
    // Twice the usual limit: where there is none, the test fails before the memory is full.
    const endless = await serve((_, response) => {
      let left = 1024;
      const pour = (): void => {
        left -= 1;
        if (response.destroyed) return;
        if (left < 0) response.end();
        else if (response.write(Buffer.alloc(65_536, 32))) setImmediate(pour);
        else response.once('drain', pour);
      };
      pour();
    });
    expect(await trouble(open(endless, { maxBodyBytes: 1_000_000 })())).toEqual({
      sent: true,
      code: 'body-too-large',
    });
    expect(await trouble(open(endless)())).toEqual({ sent: true, code: 'body-too-large' });
    const latin = await serve((_, response) => void response.end(Buffer.from([0x7b, 0xe9, 0x7d])));
    expect(await trouble(open(latin)())).toEqual({ sent: true, code: 'body-unreadable' });
    const packed = await serve(
      (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('{}'),
    );
    expect(await trouble(open(packed)())).toEqual({ sent: true, code: 'body-unreadable' });
  });

  it('takes a body of exactly the limit', async () => {
    const origin = await serve((_, response) => void response.end('x'.repeat(1000)));
    expect((await open(origin, { maxBodyBytes: 1000 })()).body).toHaveLength(1000);
    expect(await trouble(open(origin, { maxBodyBytes: 999 })())).toMatchObject({
      code: 'body-too-large',
    });
  });
});

describe('a proxy', () => {
  const proxy = async () => {
    const seen: string[] = [];
    const address = await raw((socket, text) => {
      seen.push(text.split('\r\n')[0]!);
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    });
    return { seen, address };
  };

  it('is asked for a tunnel; when it says no, nothing was sent', async () => {
    const { seen, address } = await proxy();
    expect(
      await trouble(
        open('https://cloud.invalid', { proxy: { https: address } })({
          method: 'POST',
          body: '{}',
        }),
      ),
    ).toMatchObject({ sent: false });
    expect(seen).toEqual(['CONNECT cloud.invalid:443 HTTP/1.1']);
  });

  it('is left out for NO_PROXY and for loopback', async () => {
    const { seen, address } = await proxy();
    const port = (await closedPort()).split(':')[1]!;
    expect(
      await trouble(
        open(`https://0.0.0.0:${port}`, {
          proxy: { https: address, no: 'other.example,0.0.0.0' },
        })(),
      ),
    ).toEqual({ sent: false, code: 'ECONNREFUSED' });
    const origin = await serve((_, response) => void response.end('{}'));
    for (const https of [address, 'socks5://127.0.0.1:1'])
      expect((await open(origin, { proxy: { https } })()).status).toBe(200);
    expect(seen).toEqual([]);
  });

  it.each([
    ['hunter2', /^HTTPS_PROXY is not a URL$/],
    ['hunter2@proxy.example.com', /^HTTPS_PROXY is not a URL$/],
    ['http://proxy.example.com:hunter2', /^HTTPS_PROXY is not a URL$/],
    ['ftp://hunter2:hunter2@proxy.example.com', /^HTTPS_PROXY is neither http nor https$/],
    ['socks5://hunter2:hunter2@proxy.example.com:1080', /^HTTPS_PROXY is neither http nor https$/],
    ['proxy.example.com:hunter2', /^HTTPS_PROXY is neither http nor https$/],
    [
      'http://user:hunter2%@proxy.example.com',
      /^HTTPS_PROXY has a % in its user name or password that does not begin an escape$/,
    ],
    ['http://%ff:hunter2@proxy.example.com', /^HTTPS_PROXY has a %/],
  ])('is refused without being quoted where it is %s', (https, says) => {
    const opened = (): unknown => open('https://cloud.invalid', { proxy: { https } });
    expect(opened).toThrow(says);
    expect(opened).toThrow(
      expect.objectContaining({
        diagnostics: [
          expect.objectContaining({
            code: 'bad-proxy',
            detail: expect.not.stringContaining('hunter2') as string,
          }),
        ],
      }) as Error,
    );
  });

  it.each([
    ['', undefined],
    ['user:p%40ss%25%3A@', 'user:p@ss%:'],
    ['user@', 'user:'],
    ['%C3%BC:\u00fc@', '\u00fc:\u00fc'],
  ])('is given the credentials %j of its address, decoded', async (credentials, given) => {
    const heads: string[] = [];
    const address = await raw((socket, text) => {
      heads.push(text);
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
    });
    await trouble(
      open('https://cloud.invalid', {
        proxy: { https: address.replace('//', `//${credentials}`) },
      })(),
    );
    const [, sent] = /^proxy-authorization: Basic (\S+)/im.exec(heads[0] ?? '') ?? [];
    expect(sent && Buffer.from(sent, 'base64').toString()).toBe(given);
  });

  it.each(['localhost:PORT', '127.0.0.1:PORT/', 'HTTP://127.0.0.1:PORT'])(
    'is found at %s',
    async (https) => {
      const { seen, address } = await proxy();
      const port = address.split(':')[2]!;
      await trouble(
        open('https://cloud.invalid', { proxy: { https: https.replace('PORT', port) } })(),
      );
      expect(seen).toEqual(['CONNECT cloud.invalid:443 HTTP/1.1']);
    },
  );
});

describe('connections of others', () => {
  const counting = async () => {
    const seen = new Set<Socket>();
    const origin = await serve((request, response) => {
      seen.add(request.socket);
      response.end(request.headers['x-key']);
    });
    return { origin, seen };
  };

  it('are used, and stay open when a transport is closed', async () => {
    const { origin, seen } = await counting();
    const connections: HttpConnections = new Map();
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      const { transport, close } = undiciTransport({ origins: [origin], connections });
      const { signal } = new AbortController();
      const headers = { 'x-key': key };
      const answer = await transport({ method: 'GET', url: origin, headers, signal });
      expect(answer.body).toBe(key);
      await close();
    }
    // The next request may come before the connection of the last one is free.
    expect(seen.size).toBeLessThanOrEqual(2);
    await (await connections.get(origin))?.destroy();
  });

  it('end a request without the requests of others', async () => {
    const waiting: (() => void)[] = [];
    const origin = await serve((_, response) => void waiting.push(() => response.end('done')));
    const connections: HttpConnections = new Map();
    const [one, other] = [open(origin, { connections }), open(origin, { connections })];
    const end = new AbortController();
    const ended = one({ signal: end.signal });
    const going = other();
    await expect.poll(() => waiting.length).toBe(2);
    end.abort(new Error('interrupted'));
    await expect(ended).rejects.toThrow('given up');
    for (const answer of waiting) answer();
    expect((await going).body).toBe('done');
    await (await connections.get(origin))?.destroy();
  });

  it('are not those to a proxy, whose address may hold a password', async () => {
    const proxy = await raw((socket) => socket.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n'));
    const connections: HttpConnections = new Map();
    const more = { proxy: { https: proxy.replace('//', '//user:hunter2@') }, connections };
    await expect(open('https://cloud.invalid', more)()).rejects.toThrow('407');
    expect(connections.size).toBe(0);
  });
});

describe('client and transport together', () => {
  it.each([403, 407])('tell the %i of a proxy as its own, and do not ask again', async (status) => {
    let asked = 0;
    const address = await raw((socket) => {
      asked += 1;
      socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    });
    const { transport, close } = undiciTransport({
      origins: ['https://cloud.invalid'],
      proxy: { https: address.replace('//', '//user:hunter2@') },
    });
    closers.push(close);
    const cloud = connect({
      v2: { url: 'https://cloud.invalid/api/v2', headers: v2Headers },
      transport,
      clock: systemClock(),
      random: seededRandom(),
      emit: () => undefined,
      signal: new AbortController().signal,
    });
    const refused = await cloud
      .list(kinds.get('alert_rules')!)
      .catch((error: unknown) => error as Refusal);
    const [{ code, summary, detail = '' }] = (refused as Refusal).diagnostics as [Diagnostic];
    expect(code).toBe('proxy-refused');
    expect(summary).toMatch(new RegExp(`: the proxy returned ${status}$`));
    expect(detail).toMatch(/HTTPS_PROXY.*NO_PROXY/);
    expect(summary + detail).not.toMatch(/TRUEUP_V2_URL|hunter2/);
    expect(asked).toBe(1);
  });

  it('end a body that trickles on at the deadline, and do not wait for it again', async () => {
    let requests = 0;
    const origin = await serve((_, response) => {
      requests += 1;
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip));
    });
    const { transport, close } = undiciTransport({ origins: [origin] });
    closers.push(close);
    const cloud = connect({
      v2: { url: `${origin}/api/v2`, headers: v2Headers },
      transport,
      clock: systemClock(),
      random: seededRandom(),
      emit: () => undefined,
      signal: new AbortController().signal,
      deadlineSeconds: 0.2,
    });
    await expect(cloud.list(kinds.get('alert_rules')!)).rejects.toThrow(
      /no complete response within 0.2 s/,
    );
    expect(requests).toBe(1);
  });
});
