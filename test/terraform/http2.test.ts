// HTTP/2 against a client that others wrote, and against bytes that no client would send.
import fc from 'fast-check';
import { once } from 'node:events';
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders, type SessionOptions } from 'node:http2';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { headerBlock, HeaderReader } from '../../src/terraform/hpack.js';
import { serveHttp2, type Connection, type Request, type Response } from '../../src/terraform/http2.js';

const MOST = 1_000_000;
const headers = headerBlock([['kind', 'echo']]);
const trailers = headerBlock([['end', 'good']]);
const echo = async ({ path, body }: Request): Promise<Response> =>
  body === undefined ? { headers: headerBlock([['kind', 'too much']]) } : { headers, body: Buffer.concat([Buffer.from(`${path} `), body]), trailers };

interface Served {
  readonly port: number;
  readonly sessions: readonly Connection[];
}

async function served(answer: (request: Request) => Promise<Response> = echo): Promise<Served> {
  const sessions: Connection[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('error', () => undefined));
    sessions.push(serveHttp2(socket, MOST, answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((done) => server.close(done));
  });
  return { port: (server.address() as AddressInfo).port, sessions };
}

function client(port: number, options: SessionOptions = {}): ClientHttp2Session {
  const session = connectHttp2(`http://127.0.0.1:${port}`, options);
  onTestFinished(() => session.destroy());
  return session.on('error', () => undefined);
}

interface Answered {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly trailers: IncomingHttpHeaders | undefined;
}

async function answerOf(stream: ClientHttp2Stream): Promise<Answered> {
  const chunks: Buffer[] = [];
  let [head, tail]: [IncomingHttpHeaders, IncomingHttpHeaders | undefined] = [{}, undefined];
  stream.on('response', (given) => (head = given)).on('trailers', (given) => (tail = given));
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(stream, 'close');
  return { headers: head, body: Buffer.concat(chunks), trailers: tail };
}

async function ask(session: ClientHttp2Session, path: string, body: Buffer | string, more: Readonly<Record<string, string>> = {}): Promise<Answered> {
  const stream = session.request({ ':method': 'POST', ':path': path, ...more });
  stream.end(body);
  return answerOf(stream);
}

describe('a request', () => {
  it('is answered with headers, body and trailers', async () => {
    const { port } = await served();
    const answer = await ask(client(port), '/a', 'b');
    expect(answer.headers).toMatchObject({ ':status': 200, kind: 'echo' });
    expect(answer.body.toString()).toBe('/a b');
    expect(answer.trailers).toMatchObject({ end: 'good' });
  });

  it('may come beside three hundred others', async () => {
    const { port } = await served(async (request) => {
      await new Promise((done) => setTimeout(done, Number(request.body) % 7));
      return echo(request);
    });
    const session = client(port);
    const answers = await Promise.all(Array.from({ length: 300 }, (_, index) => ask(session, '/n', String(index))));
    expect(answers.map(({ body }) => body.toString())).toEqual(Array.from({ length: 300 }, (_, index) => `/n ${index}`));
  });

  it('of any size comes and goes through windows of any size', async () => {
    const { port } = await served();
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 200_000 }),
        fc.integer({ min: 1000, max: 100_000 }),
        fc.integer({ min: 16_384, max: 60_000 }),
        async (size, initialWindowSize, maxFrameSize) => {
          const session = client(port, { settings: { initialWindowSize, maxFrameSize } });
          const sent = Buffer.alloc(size, 'x');
          const [one, other] = await Promise.all([ask(session, '/a', sent), ask(session, '/b', sent)]);
          expect([one.body.length, other.body.length]).toEqual([size + 3, size + 3]);
          session.close();
        },
      ),
      { numRuns: 25 },
    );
  });

  it('whose body is too large is read to its end, and the next one answered', async () => {
    const { port } = await served();
    const session = client(port);
    expect((await ask(session, '/a', Buffer.alloc(MOST + 1))).headers).toMatchObject({ kind: 'too much' });
    expect((await ask(session, '/a', Buffer.alloc(MOST))).body).toHaveLength(MOST + 3);
  });

  it('may have headers of many frames and padding', async () => {
    const { port } = await served();
    const session = client(port, { paddingStrategy: 1 });
    expect((await ask(session, '/a', 'b', { long: 'y'.repeat(40_000) })).body.toString()).toBe('/a b');
  });

  it('that is given up is not answered, and the others are', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((done) => (release = done));
    const { port } = await served(async (request) => {
      if (request.path === '/slow') await held;
      return echo(request);
    });
    const session = client(port);
    const slow = session.request({ ':method': 'POST', ':path': '/slow' });
    slow.on('error', () => undefined).end('b');
    expect((await ask(session, '/a', 'b')).body.toString()).toBe('/a b');
    slow.close(8);
    release();
    expect((await ask(session, '/a', 'c')).body.toString()).toBe('/a c');
  });

  it('is answered before a connection closes', async () => {
    let [release, reached]: [() => void, () => void] = [() => undefined, () => undefined];
    const held = new Promise<void>((done) => (release = done));
    const begun = new Promise<void>((done) => (reached = done));
    const { port, sessions } = await served(async (request) => {
      reached();
      return held.then(() => echo(request));
    });
    const session = client(port);
    const answer = ask(session, '/a', 'b');
    await begun;
    const closed = sessions[0]?.close();
    await once(session, 'goaway');
    release();
    expect((await answer).body.toString()).toBe('/a b');
    await closed;
  });

  // Core's broker has one, which is what keeps grpc-go from leaving a connection that was not used for half an hour.
  it('that never ends is left open beside others, and holds up no close', async () => {
    const { port, sessions } = await served();
    const session = client(port);
    const endless = session.request({ ':method': 'POST', ':path': '/endless' });
    endless.on('error', () => undefined).write('b');
    let closed = false;
    endless.on('close', () => (closed = true));
    expect((await ask(session, '/a', 'b')).body.toString()).toBe('/a b');
    expect(closed).toBe(false);
    await sessions[0]?.close();
  });
});

/** All frames that the server sends to bytes before it closes. */
async function framesOf(port: number, bytes: Buffer): Promise<readonly Buffer[]> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined);
  socket.write(bytes);
  await Promise.race([once(socket, 'close'), new Promise((done) => setTimeout(done, 200))]);
  socket.destroy();
  const frames: Buffer[] = [];
  for (let all = Buffer.concat(chunks); all.length >= 9; all = all.subarray(9 + all.readUIntBE(0, 3))) frames.push(all.subarray(0, 9 + all.readUIntBE(0, 3)));
  return frames;
}

/** The code of its GOAWAY frame. */
async function complaint(port: number, bytes: Buffer): Promise<number | undefined> {
  const frames = await framesOf(port, bytes);
  return frames.find((one) => one[3] === 7)?.readUInt32BE(13);
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
function frame(type: number, flags: number, stream: number, payload: Uint8Array | string): Buffer {
  const body = Buffer.from(payload as string);
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}
const settings = frame(4, 0, 0, '');
const path = headerBlock([[':path', '/a']]);

describe('what no client sends', () => {
  it.each<[string, number, readonly Buffer[]]>([
    ['a frame that is too large', 6, [settings, Buffer.from([0, 0x40, 1, 0, 0, 0, 0, 0, 1])]],
    ['settings of half a size', 6, [frame(4, 0, 0, 'abc')]],
    ['a window beyond all', 3, [settings, frame(8, 0, 0, Buffer.from([0x7f, 0xff, 0xff, 0xff]))]],
    ['a window of nothing', 1, [settings, frame(8, 0, 0, Buffer.alloc(4))]],
    ['a first window beyond all', 3, [frame(4, 0, 0, Buffer.from([0, 4, 0xff, 0xff, 0xff, 0xff]))]],
    ['a short ping', 6, [settings, frame(6, 0, 0, 'abc')]],
    ['a stream of its own', 1, [settings, frame(1, 5, 2, path)]],
    ['a stream twice', 5, [settings, frame(1, 4, 3, path), frame(0, 1, 3, ''), frame(1, 5, 1, path)]],
    ['a body without a head', 1, [settings, frame(0, 1, 5, 'x')]],
    ['a promise', 1, [settings, frame(5, 4, 1, path)]],
    ['headers that go on elsewhere', 1, [settings, frame(1, 0, 1, path), frame(9, 4, 3, path)]],
    ['headers that go on and never began', 1, [settings, frame(9, 4, 1, path)]],
    ['headers without end', 1, [settings, frame(1, 0, 1, ''), ...Array.from({ length: 5 }, () => frame(9, 0, 1, Buffer.alloc(16_384)))]],
    ['headers that are cut off', 9, [settings, frame(1, 4, 1, Buffer.from([0x40, 0x85]))]],
    ['more padding than there is', 1, [settings, frame(1, 4 | 8, 1, Buffer.from([200, 0x88]))]],
  ])('%s ends the connection with its code', async (_what, code, frames) => {
    const { port } = await served();
    expect(await complaint(port, Buffer.concat([PREFACE, ...frames]))).toBe(code);
  });

  it('is complained of behind what was said before, which begins with settings', async () => {
    const { port } = await served();
    const frames = await framesOf(port, Buffer.concat([PREFACE, settings, frame(6, 0, 0, Buffer.alloc(8)), frame(6, 0, 0, 'abc')]));
    expect(frames.map((one) => one[3])).toEqual([4, 8, 4, 6, 7]);
  });

  it('another protocol is sent away', async () => {
    const { port } = await served();
    expect(await complaint(port, Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.padEnd(30)))).toBe(1);
  });

  it('whatever it is harms nobody else', async () => {
    const { port } = await served();
    const session = client(port);
    const anyFrame = fc.tuple(fc.nat(12), fc.nat(63), fc.nat(9), fc.uint8Array({ maxLength: 40 })).map(([type, flags, stream, payload]) => frame(type, flags, stream, payload));
    await fc.assert(
      fc.asyncProperty(fc.array(anyFrame, { maxLength: 12 }), fc.boolean(), async (frames, greets) => {
        const socket = connect(port, '127.0.0.1').on('error', () => undefined);
        socket.end(Buffer.concat([greets ? PREFACE : Buffer.alloc(0), ...frames]));
        await once(socket.resume(), 'close');
        expect((await ask(session, '/a', 'b')).body.toString()).toBe('/a b');
      }),
      { numRuns: 150 },
    );
  });
});

it('what was asked is read, though who asked is gone by then', async () => {
  const asked = Buffer.concat([PREFACE, settings, frame(1, 4, 1, headerBlock([[':path', '/gone']])), frame(0, 1, 1, 'body')]);
  // As a socket whose other end is closed: what came can be read, and nothing written.
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, next) => next(new Error('EPIPE')) }).on('error', () => undefined);
  const paths: string[] = [];
  serveHttp2(socket, MOST, async ({ path }) => {
    paths.push(path);
    return { headers };
  });
  for (let turn = 0; turn < 3; turn += 1) await new Promise((done) => setImmediate(done));
  socket.push(asked);
  await expect.poll(() => paths).toEqual(['/gone']);
});

describe('header blocks', () => {
  it('are read as another library packs them, byte for byte', async () => {
    const seen: (readonly [string, string])[][] = [];
    const reader = new HeaderReader();
    const server = createServer((socket) => {
      let unread = Buffer.alloc(0);
      socket.on('error', () => undefined).write(settings);
      socket.on('data', (chunk) => {
        unread = Buffer.concat([unread, chunk]);
        if (unread.subarray(0, PREFACE.length).equals(PREFACE)) unread = unread.subarray(PREFACE.length);
        while (unread.length >= 9 && unread.length >= 9 + unread.readUIntBE(0, 3)) {
          const [size, type] = [unread.readUIntBE(0, 3), unread[3]];
          if (type === 1) seen.push([...reader.read(unread.subarray(9 + (((unread[4] ?? 0) & 32) !== 0 ? 5 : 0), 9 + size))]);
          unread = unread.subarray(9 + size);
        }
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const session = client((server.address() as AddressInfo).port);
    const values = Array.from({ length: 400 }, (_, at) =>
      Buffer.from(Array.from({ length: 9 + (at % 40) }, (_one, index) => 33 + ((at * 31 + index * 7) % 223))).toString('latin1'),
    );
    const sendable = values.map((value) => value.replaceAll('\u007f', '~'));
    for (const [at, value] of sendable.entries())
      session
        .request({ ':path': `/${at}`, [`x-${at % 50}`]: value })
        .on('error', () => undefined)
        .end();
    await expect.poll(() => seen.length).toBe(400);
    expect(seen.map((block) => [block.find(([name]) => name === ':path')?.[1], block.at(-1)?.[1]])).toEqual(sendable.map((value, at) => [`/${at}`, value]));
  });

  it('read back as they are written', () => {
    const written = [
      ['content-type', 'application/grpc'],
      ['x', ''],
    ] as const;
    expect(new HeaderReader().read(headerBlock(written))).toEqual(written);
  });

  it('of references alone mean what the table says now', () => {
    const reader = new HeaderReader();
    const added = (name: string, value: string): Buffer => Buffer.concat([Buffer.of(0x40), headerBlock([[name, value]]).subarray(1)]);
    const newest = Buffer.of(0xbe);
    reader.read(added('a', '1'));
    for (let turn = 0; turn < 2; turn += 1) expect(reader.read(newest)).toEqual([['a', '1']]);
    reader.read(added('b', '2'));
    for (let turn = 0; turn < 2; turn += 1) expect(reader.read(newest)).toEqual([['b', '2']]);
    reader.read(Buffer.of(0x20));
    expect(() => reader.read(newest)).toThrow(RangeError);
  });

  it.each<[string, readonly number[]]>([
    ['a reference to nothing', [0x80]],
    ['a reference beyond the table', [0xbf]],
    ['a number without end', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
    ['a text without its end', [0x00, 0x05, 0x61]],
    ['a packed text that stops within a code', [0x00, 0x82, 0xff, 0xff, 0x00]],
    ['a table that nobody agreed to', [0x3f, 0xe2, 0x1f]],
  ])('%s is refused', (_what, bytes) => {
    expect(() => new HeaderReader().read(Buffer.from(bytes))).toThrow(RangeError);
  });
});
