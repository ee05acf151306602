// The gRPC side: unary calls, one message each way, which is all that the protocol has. It is given connections and
// opens none of its own, and speaks to core while what answers is still being loaded.
import { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { INTERNAL, LARGEST_MESSAGE, RESOURCE_EXHAUSTED, UNIMPLEMENTED, type Answer, type Refused } from './grpc.js';
import { headerBlock } from './hpack.js';
import { serveHttp2, type Connection, type Request, type Response } from './http2.js';

export interface ServerOptions {
  /** What answers calls; those that come before it wait. */
  readonly loading: Promise<{ readonly answer: Answer }>;
  /** PEM, all three; absent: without TLS. */
  readonly tls?: Tls;
  /** Core asked for the end, or was there and is gone. Called once. */
  readonly onEnd: () => void;
}

interface Tls {
  readonly certificate: string;
  readonly key: string;
  readonly client: string;
}

export interface GrpcServer {
  accept(connection: Socket): void;
  /** Resolves when no call is under way any more. */
  idle(): Promise<void>;
  /** Resolves when everything that was answered has left. */
  close(): Promise<void>;
}

export function grpcServer({ loading, tls, onEnd }: ServerOptions): GrpcServer {
  const connections = new Set<Socket>();
  const sessions = new Set<Connection>();
  const running = new Set<Promise<unknown>>();
  let seen = false;
  let over = false;
  const end = (): void => {
    if (!over) onEnd();
    over = true;
  };

  async function respond({ path, body }: Request): Promise<Response> {
    const message = messageIn(body);
    if ('code' in message) return refused(message);
    seen = true;
    // The reply leaves in turns of its own; core waits two seconds for the end.
    if (path === SHUTDOWN) setTimeout(end, 20);
    const reply = path === SHUTDOWN ? NOTHING : await (await loading).answer(path, message);
    return 'code' in reply ? refused(reply) : answered(reply);
  }

  function answering(request: Request): Promise<Response> {
    const work = respond(request).catch(() => refused({ code: INTERNAL, why: 'the call failed' }));
    running.add(work);
    return work.finally(() => running.delete(work));
  }

  function serve(stream: Duplex): void {
    const session = serveHttp2(stream, FRAME + LARGEST_MESSAGE, answering);
    sessions.add(session);
    stream.once('close', () => sessions.delete(session));
    stream.on('error', ignored);
  }

  const secured = tls && tlsServer(tls, serve);
  return {
    accept(connection) {
      connections.add(connection);
      connection.on('error', ignored);
      connection.once('close', () => {
        connections.delete(connection);
        if (seen && connections.size === 0) end();
      });
      if (secured) secured.emit('connection', connection);
      else serve(connection);
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
    async close() {
      await Promise.all([...sessions].map((session) => session.close()));
    },
  };
}

/**
 * Serves the one client that shows the certificate that is awaited, and so has its key. It is compared here: given to
 * Node as an authority, it would have every root certificate read first, which takes longer than all the rest of a start.
 */
function tlsServer({ certificate, key, client }: Tls, serve: (stream: Duplex) => void): TlsServer {
  const awaited = new X509Certificate(client).raw;
  const options = { cert: certificate, key, ca: [], requestCert: true, rejectUnauthorized: false, ALPNProtocols: ['h2'] };
  return createTlsServer(options, (socket) => {
    if (socket.getPeerX509Certificate()?.raw.equals(awaited)) serve(socket);
    else socket.destroy();
  });
}

const SHUTDOWN = '/plugin.GRPCController/Shutdown';
const NOTHING = new Uint8Array();

/** What stands before a message: whether it is compressed (1 byte), and its length (4). */
const FRAME = 5;

/** The one message of a call. */
function messageIn(framed: Buffer | undefined): Buffer | Refused {
  if (!framed) return { code: RESOURCE_EXHAUSTED, why: `a message has ${LARGEST_MESSAGE} bytes at most` };
  if (framed.length < FRAME || framed.readUInt32BE(1) !== framed.length - FRAME) return { code: INTERNAL, why: 'one message is expected' };
  if (framed[0] !== 0) return { code: UNIMPLEMENTED, why: 'messages are not compressed' };
  return framed.subarray(FRAME);
}

/** A client that vanishes is no trouble of ours; without a listener it would be. */
const ignored = (): void => undefined;

const headers = headerBlock([['content-type', 'application/grpc']]);
const trailers = headerBlock([['grpc-status', '0']]);

function answered(message: Uint8Array): Response {
  const body = Buffer.allocUnsafe(FRAME + message.length);
  body[0] = 0;
  body.writeUInt32BE(message.length, 1);
  body.set(message, FRAME);
  return { headers, body, trailers };
}

function refused({ code, why }: Refused): Response {
  return {
    headers: headerBlock([
      ['content-type', 'application/grpc'],
      ['grpc-status', String(code)],
      ['grpc-message', encodeURIComponent(why).slice(0, 120)],
    ]),
  };
}
