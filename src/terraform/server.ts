// The gRPC side: hands the calls of core to the provider, and knows when core is gone. It is given connections and
// opens none of its own, so that a process can listen before it has loaded this.
import { Server, ServerCredentials, type ServiceDefinition, type UntypedHandleCall } from '@grpc/grpc-js';
import { createServer, type Socket } from 'node:net';
import { callsOf, LARGEST_MESSAGE, type Message, type Reply } from './calls.js';
import type { Log } from './log.js';
import { definition } from './messages.js';
import type { ProviderServer } from './protocol.js';

export interface ServerOptions {
  readonly provider: ProviderServer;
  readonly log: Log;
  /** PEM, all three; absent: without TLS. */
  readonly tls?: { readonly certificate: string; readonly key: string; readonly client: string };
  /** Core asked for the end, or was there and is gone. Called once. */
  readonly onEnd: () => void;
}

export interface GrpcServer {
  accept(connection: Socket): void;
  /** Resolves when no call is under way any more. */
  idle(): Promise<void>;
  /** Resolves when everything that was answered has left. */
  close(): Promise<void>;
}

export function grpcServer({ provider, log, tls, onEnd }: ServerOptions): GrpcServer {
  const server = new Server({ 'grpc.enable_channelz': 0, 'grpc.max_receive_message_length': LARGEST_MESSAGE, 'grpc.max_send_message_length': -1 });
  const connections = new Set<Socket>();
  const running = new Set<Promise<Reply>>();
  let seen = false;
  let over = false;
  const end = (): void => {
    if (!over) onEnd();
    over = true;
  };
  const packages = definition();
  const handlers = Object.entries(callsOf(provider, log)).map(([name, answer]): [string, UntypedHandleCall] => [
    name,
    (call: { readonly request: Message }, reply: (error: null, value: Reply) => void) => {
      seen = true;
      const work = answer(call.request);
      running.add(work);
      void work.then((value) => {
        running.delete(work);
        log('trace', 'answered', { rpc: name });
        reply(null, value);
      });
    },
  ]);
  server.addService(packages['tfplugin6.Provider'] as ServiceDefinition, Object.fromEntries(handlers));
  server.addService(packages['plugin.GRPCController'] as ServiceDefinition, {
    Shutdown: (_call: unknown, reply: (error: null, value: Reply) => void) => {
      reply(null, {});
      // The reply leaves in turns of its own; core waits two seconds for the end.
      setTimeout(end, 20);
    },
  });
  const credentials = tls
    ? ServerCredentials.createSsl(Buffer.from(tls.client), [{ private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.certificate) }], true)
    : ServerCredentials.createInsecure();
  const { injectConnection } = server.createConnectionInjector(credentials);
  return {
    accept(connection) {
      connections.add(connection);
      // A client that vanishes is no trouble of ours; without a listener it would be.
      connection.on('error', () => undefined);
      connection.once('close', () => {
        connections.delete(connection);
        if (seen && connections.size === 0) end();
      });
      injectConnection(connection);
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
    close: () => new Promise((done) => server.tryShutdown(() => done())),
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
