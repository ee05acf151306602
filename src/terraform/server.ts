// The gRPC side: unary calls over Node's own HTTP/2, one message each way, which is all that the protocol has. It is
// given connections and opens none of its own, so that a process can listen before it has loaded this.
import {
  createSecureServer,
  createServer as createPlainServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer, type Socket } from 'node:net';
import { callsOf, LARGEST_MESSAGE, type Reply } from './calls.js';
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
  const server = listenerOf(tls);
  const connections = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
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

  async function answer(path: string, chunks: readonly Buffer[], length: number): Promise<Uint8Array> {
    const method = methods.get(path);
    const call = path === '/plugin.GRPCController/Shutdown' ? shutdown : calls[path.slice(PREFIX.length)];
    if (!method || !call) throw new Status(UNIMPLEMENTED, `${path} is not spoken`);
    const request = decoded(method, messageIn(chunks, length));
    seen = true;
    const work = call(request);
    running.add(work);
    const reply = await work.finally(() => running.delete(work));
    log('trace', 'answered', { rpc: path });
    return method.response.encode(reply);
  }

  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on('error', ignored);
    const chunks: Buffer[] = [];
    let length = 0;
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= FRAME + LARGEST_MESSAGE) chunks.push(chunk);
    });
    stream.on('end', () => {
      answer(String(headers[':path']), chunks, length).then(
        (message) => reply(stream, message),
        (error: unknown) => refuse(stream, error),
      );
    });
  });
  return {
    accept(connection) {
      connections.add(connection);
      connection.on('error', ignored);
      connection.once('close', () => {
        connections.delete(connection);
        if (seen && connections.size === 0) end();
      });
      server.emit('connection', connection);
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
    async close() {
      await Promise.all([...sessions].map((session) => new Promise<void>((done) => session.close(done))));
    },
  };
}

const PREFIX = '/tfplugin6.Provider/';

/** Memory in MB: a session may hold as many of the largest messages as core has calls under way. */
const limits = { maxSessionMemory: 4096 };

function listenerOf(tls: Tls | undefined): Http2Server | Http2SecureServer {
  if (!tls) return createPlainServer(limits);
  return createSecureServer({ ...limits, cert: tls.certificate, key: tls.key, ca: tls.client, requestCert: true, rejectUnauthorized: true });
}

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

/** The one message of a call. @param length of all that came, which is not kept where it is too much @throws Status */
function messageIn(chunks: readonly Buffer[], length: number): Buffer {
  if (length > FRAME + LARGEST_MESSAGE) throw new Status(RESOURCE_EXHAUSTED, `a message of ${length} bytes is too large`);
  const framed = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  if (length < FRAME || framed.readUInt32BE(1) !== length - FRAME) throw new Status(INTERNAL, 'one message is expected');
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

const accepted = { ':status': 200, 'content-type': 'application/grpc' };

function succeed(this: ServerHttp2Stream): void {
  this.sendTrailers({ 'grpc-status': 0 });
}

/** A client that vanishes, or gives a call up, is no trouble of ours; without a listener it would be. */
const ignored = (): void => undefined;

function reply(stream: ServerHttp2Stream, message: Uint8Array): void {
  if (stream.destroyed) return;
  const framed = Buffer.alloc(FRAME + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, FRAME);
  stream.on('wantTrailers', succeed);
  stream.respond(accepted, { waitForTrailers: true });
  stream.end(framed);
}

function refuse(stream: ServerHttp2Stream, error: unknown): void {
  if (stream.destroyed) return;
  const { code, message } = error instanceof Status ? error : new Status(INTERNAL, 'the call failed');
  stream.respond({ ...accepted, 'grpc-status': code, 'grpc-message': encodeURIComponent(message) }, { endStream: true });
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
