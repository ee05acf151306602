// A server on this machine that takes notifications and keeps what was posted.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cleanUp } from './clean-up.js';

export interface Posted {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

/** Its address, with a path that is a secret, and all that was posted. @param status of each answer */
export async function receiver(status = 204) {
  const heard: Posted[] = [];
  const waiting = new Set<() => void>();
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url, headers } = request;
    let text = '';
    for await (const chunk of request as AsyncIterable<Buffer>) text += chunk.toString();
    heard.push({ method, url, headers, body: JSON.parse(text) as Posted['body'] });
    response.writeHead(status).end();
    waiting.forEach((check) => check());
  };
  const listening = createServer((...both) => void take(...both));
  await new Promise<void>((done) => listening.listen(0, '127.0.0.1', done));
  cleanUp.push(() => void listening.close());
  const host = `127.0.0.1:${(listening.address() as AddressInfo).port}`;
  /** Resolves once so many were posted. */
  const has = (count: number): Promise<void> =>
    new Promise((done) => {
      const check = (): void => void (heard.length >= count && done());
      waiting.add(check);
      check();
    });
  return { host, url: `http://${host}/hook/S3CRET?key=S3CRET`, heard, has };
}
