// The one page of `trueup watch --metrics-port`: GET /metrics, on loopback unless another address is named.
import { createServer, type Server } from 'node:http';
import { errorDiagnostic, Refusal } from '../model/index.js';

/** @throws Refusal where the address cannot be taken. */
export async function serveMetrics(
  { host, port }: { readonly host: string; readonly port: number },
  text: () => string,
) {
  const server = createServer((request, response) => {
    const [path] = (request.url ?? '').split('?');
    const found = path === '/metrics' && ['GET', 'HEAD'].includes(request.method ?? '');
    const type = `text/plain; ${found ? 'version=0.0.4; ' : ''}charset=utf-8`;
    response.writeHead(found ? 200 : 404, { 'content-type': type });
    response.end(found ? text() : 'GET /metrics\n');
  });
  await listening(server, host, port);
  const address = server.address();
  const { port: taken = port, family = '' } = typeof address === 'object' && address ? address : {};
  return {
    url: `http://${family === 'IPv6' ? `[${host}]` : host}:${taken}/metrics`,
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

const listening = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((done, fail) => {
    server.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
      const summary = `Metrics cannot be served at ${host}:${port} (${code}).`;
      const detail = 'Name another --metrics-port; 0 picks a free one.';
      fail(new Refusal([errorDiagnostic('metrics-port', summary, detail)]));
    });
    server.listen(port, host, done);
  });
