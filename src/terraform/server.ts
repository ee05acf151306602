// The gRPC side: unary calls, one message each way, which is all that the protocol has. It is given connections and
// opens none of its own, so that a process can listen before it has loaded this.
import { X509Certificate } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { callsOf, LARGEST_MESSAGE, type Reply } from './calls.js';
import { headerBlock } from './hpack.js';
import { serveHttp2, type Connection, type Request, type Response } from './http2.js';
import type { Log } from './log.js';
import { methods, type Method } from './messages.js';
import type { ProviderServer } from './protocol.js';

export interface ServerOptions {
  readonly provider: ProviderServer;
  readonly log: Log;
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

export function grpcServer({ provider, log, tls, onEnd }: ServerOptions): GrpcServer {
  const connections = new Set<Socket>();
  const sessions = new Set<Connection>();
  const running = new Set<Promise<Reply>>();
  let seen = false;
  let over = false;
  const end = (): void => {
    if (!over) onEnd();
    over = true;
  };
  const calls = callsOf(provider, log);
  // The reply leaves in turns of its own; core waits two seconds for the end.
  const shutdown = async (): Promise<Reply> => {
    setTimeout(end, 20);
    return {};
  };

  async function answer({ path, body }: Request): Promise<Uint8Array> {
    const method = methods.get(path);
    const call = path === '/plugin.GRPCController/Shutdown' ? shutdown : calls[path.slice(PREFIX.length)];
    if (!method || !call) throw new Status(UNIMPLEMENTED, `${path} is not spoken`);
    const request = decoded(method, messageIn(body));
    seen = true;
    const work = call(request);
    running.add(work);
    const reply = await work.finally(() => running.delete(work));
    log('trace', 'answered', { rpc: path });
    return method.response.encode(reply);
  }

  function serve(stream: Duplex): void {
    const session = serveHttp2(stream, FRAME + LARGEST_MESSAGE, (request) => answer(request).then(answered, refused));
    sessions.add(session);
    stream.once('close', () => sessions.delete(session));
    stream.on('error', ignored);
  }

  const secured = tls && tlsServer(tls, serve);
  return {
    accept(connection) {
      // It may have gone while this was loaded, and would never say so again.
      if (connection.destroyed) return;
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

const PREFIX = '/tfplugin6.Provider/';

/** Why a call got no reply, as gRPC numbers it. */
class Status extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}
const RESOURCE_EXHAUSTED = 8;
const UNIMPLEMENTED = 12;
const INTERNAL = 13;

/** What stands before a message: whether it is compressed (1 byte), and its length (4). */
const FRAME = 5;

/** The one message of a call. @throws Status */
function messageIn(framed: Buffer | undefined): Buffer {
  if (!framed) throw new Status(RESOURCE_EXHAUSTED, `a message has ${LARGEST_MESSAGE} bytes at most`);
  if (framed.length < FRAME || framed.readUInt32BE(1) !== framed.length - FRAME) throw new Status(INTERNAL, 'one message is expected');
  if (framed[0] !== 0) throw new Status(UNIMPLEMENTED, 'messages are not compressed');
  return framed.subarray(FRAME);
}

function decoded({ request }: Method, message: Buffer): ReturnType<Method['request']['decode']> {
  try {
    return request.decode(message);
  } catch {
    throw new Status(INTERNAL, 'the message is malformed');
  }
}

/** A client that vanishes is no trouble of ours; without a listener it would be. */
const ignored = (): void => undefined;

const headers = headerBlock([['content-type', 'application/grpc']]);
const trailers = headerBlock([['grpc-status', '0']]);

function answered(message: Uint8Array): Response {
  const body = Buffer.alloc(FRAME + message.length);
  body.writeUInt32BE(message.length, 1);
  body.set(message, FRAME);
  return { headers, body, trailers };
}

function refused(error: unknown): Response {
  const { code, message } = error instanceof Status ? error : new Status(INTERNAL, 'the call failed');
  const why = encodeURIComponent(message).slice(0, 120);
  return {
    headers: headerBlock([
      ['content-type', 'application/grpc'],
      ['grpc-status', String(code)],
      ['grpc-message', why],
    ]),
  };
}

export interface Reattached {
  /** The value of TF_REATTACH_PROVIDERS. */
  readonly reattach: string;
  close(): Promise<void>;
}

/**
 * Serves a provider from this process, without TLS, to every terraform that is given `reattach`: it starts none, and
 * ends none. `source` as in `registry.terraform.io/trueup/devicecloud`.
 */
export async function serve(options: {
  readonly provider: ProviderServer;
  readonly log: Log;
  readonly source: string;
  readonly path: string;
  readonly pid: number;
}): Promise<Reattached> {
  const { provider, log, source, path, pid } = options;
  const grpc = grpcServer({ provider, log, onEnd: () => undefined });
  const open = new Set<Socket>();
  const listener = createServer((connection) => {
    open.add(connection.once('close', () => open.delete(connection)));
    grpc.accept(connection);
  });
  await new Promise<void>((done, fail) => listener.once('error', fail).listen(path, done));
  const config = { Protocol: 'grpc', ProtocolVersion: 6, Pid: pid, Test: true, Addr: { Network: 'unix', String: path } };
  return {
    reattach: JSON.stringify({ [source]: config }),
    async close() {
      const closed = new Promise((done) => listener.close(done));
      for (const connection of open) connection.destroy();
      await closed;
      await provider.close();
    },
  };
}
