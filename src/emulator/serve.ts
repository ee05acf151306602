// The emulator on the real network: behind a socket, and as a sender of webhooks. Only this file loads the HTTP server.
import type { Server } from 'node:http';
import { Refusal, errorCode } from '../model/index.js';
import type { Send } from './deliveries.js';
import type { Emulator } from './emulator.js';
import { ConnectionReset } from './faults.js';

const HOST = '127.0.0.1';

export type Served = Awaited<ReturnType<typeof serve>>;

/** Listens on a port (0: any free one). @throws Refusal where the port cannot be had. */
export async function serve(
  emulator: Pick<Emulator, 'fetch'>,
  { port }: { readonly port: number },
) {
  const { createAdaptorServer } = await import('@hono/node-server');
  const { RESPONSE_ALREADY_SENT } = await import('@hono/node-server/utils/response');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without createServer it is one of node:http
  const server = createAdaptorServer({
    overrideGlobalObjects: false,
    fetch: async (request, { incoming }) => {
      try {
        return await emulator.fetch(request);
      } catch (error) {
        if (!(error instanceof ConnectionReset)) throw error;
        incoming.socket?.destroy();
        return RESPONSE_ALREADY_SENT;
      }
    },
  }) as Server;
  const bound = await listening(server, port);
  return {
    /** Origin, without a slash behind. */
    url: `http://${HOST}:${bound}`,
    port: bound,
    /** Ends every connection; safe to call twice. */
    close: () => closed(server),
  };
}

function listening(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE' ? 'another process listens there' : (error.code ?? 'it failed');
      const summary = `cannot listen on ${HOST}:${port}: ${why}`;
      const detail = 'Name another port with --port, or 0 for any free one.';
      reject(new Refusal([{ severity: 'error', code: 'port-not-free', summary, detail }]));
    });
    server.listen(port, HOST, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

const SECONDS = 10;

/** One POST, no redirection, and an error that names no address. @throws Error with the reason in words where there is no response */
export const postWebhook: Send = async (url, headers, body, signal) => {
  const timeout = AbortSignal.timeout(SECONDS * 1000);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    throw new Error(
      timeout.aborted
        ? `there was no response within ${SECONDS} seconds`
        : `the connection failed${codeOf(error)}`,
      { cause: error },
    );
  }
};

function codeOf(error: unknown): string {
  const code = error instanceof Error ? errorCode(error.cause) : undefined;
  return code === undefined ? '' : ` (${code})`;
}
