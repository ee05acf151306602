// The gRPC server of the provider: the calls of plugin protocol 6, and the call by which Terraform ends a plugin.
import {
  Server,
  ServerCredentials,
  status,
  type ServerWritableStream,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { isList, isObject } from '../../model/index.js';
import { callsOf } from './calls.js';
import type { Log } from '../core-log.js';
import { LARGEST_MESSAGE, methods, type Method, type WireMessage } from './messages.js';
import type { ProviderServer } from './provider-replies.js';

export interface ServerOptions {
  readonly provider: ProviderServer;
  readonly log: Log;
  /** PEM, all three; `client` is the only certificate that is trusted. Absent: without TLS. */
  readonly tls?: { readonly certificate: string; readonly key: string; readonly client: string };
  /** Core asked for the end, and no call is under way: what is left to do. Core waits for its reply. */
  readonly beforeShutdown?: () => Promise<void>;
  /** Core asked for the end, and has its reply. */
  readonly onShutdown: () => void;
}

export type GrpcServer = ReturnType<typeof grpcServer>;

export function grpcServer({ provider, log, tls, beforeShutdown, onShutdown }: ServerOptions) {
  const server = new Server({
    'grpc.max_receive_message_length': LARGEST_MESSAGE,
    'grpc.max_send_message_length': -1,
  });
  const calls = callsOf(provider, log);
  const running = new Set<Promise<unknown>>();
  const tracked = async <Reply>(work: Promise<Reply>): Promise<Reply> => {
    running.add(work);
    return work.finally(() => running.delete(work));
  };
  for (const [path, method] of methods) {
    const handler = calls[path.slice(path.lastIndexOf('/') + 1)];
    if (!handler) continue;
    addCall(server, path, method, async (message) => {
      const reply = await tracked(handler(message));
      log('trace', 'responded', { rpc: path });
      return reply;
    });
  }
  const empty = { decode: () => ({}), encode: () => new Uint8Array() };
  addCall(server, SHUTDOWN, { request: empty, response: empty, streams: false }, async () => {
    if (running.size === 0) await beforeShutdown?.();
    // The reply leaves in a later turn; core then kills a process that lives on for two seconds.
    setTimeout(onShutdown, 20);
    return {};
  });
  const credentials = tls
    ? ServerCredentials.createSsl(
        Buffer.from(tls.client),
        [{ cert_chain: Buffer.from(tls.certificate), private_key: Buffer.from(tls.key) }],
        true,
      )
    : ServerCredentials.createInsecure();
  return {
    /** @param address `unix:PATH` or `HOST:0`. Resolves to the port, 1 for a socket. */
    listen: (address: string) =>
      new Promise<number>((done, fail) => {
        server.bindAsync(address, credentials, (error, port) => (error ? fail(error) : done(port)));
      }),
    /** Takes no more connections. Resolves when no call is under way any more, also of a client that is gone, and all connections have ended. */
    async drain() {
      const closed = new Promise<void>((done, fail) => {
        server.tryShutdown((error) => (error ? fail(error) : done()));
      });
      while (running.size > 0) await Promise.allSettled(running);
      await closed;
    },
    /** Ends every connection. */
    close: () => server.forceShutdown(),
  };
}

const SHUTDOWN = '/plugin.GRPCController/Shutdown';

/** A call with one message each way, or with one that returns the messages of its `events`. What `handler` throws becomes INTERNAL, without its text, which may quote a message. */
function addCall(
  server: Server,
  path: string,
  { request, response, streams }: Method,
  handler: (message: WireMessage) => Promise<WireMessage>,
): void {
  const definition: ServiceDefinition = {
    call: {
      path,
      requestStream: false,
      responseStream: streams,
      requestSerialize: (message: WireMessage) => Buffer.from(request.encode(message)),
      requestDeserialize: (bytes) => request.decode(bytes),
      responseSerialize: (message: WireMessage) => Buffer.from(response.encode(message)),
      responseDeserialize: (bytes) => response.decode(bytes),
    },
  };
  const failed = { code: status.INTERNAL, details: 'the call failed' };
  const single = (
    call: { readonly request: WireMessage },
    reply: (error: typeof failed | null, message?: WireMessage) => void,
  ): void =>
    void handler(call.request).then(
      (message) => reply(null, message),
      () => reply(failed),
    );
  const streamed = (call: ServerWritableStream<WireMessage, WireMessage>): void =>
    void handler(call.request).then(
      ({ events }) => {
        for (const event of isList(events) ? events : []) if (isObject(event)) call.write(event);
        call.end();
      },
      () => call.emit('error', failed),
    );
  const implementation: UntypedServiceImplementation = {
    call: streams ? streamed : single,
  };
  server.addService(definition, implementation);
}
