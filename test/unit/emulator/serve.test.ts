// Over a real socket: answers arrive whole, resets break the connection, and closing leaves nothing behind.
import { request as httpRequest } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { parseFault, serve, type Served } from '../../../src/emulator/index.js';
import { Refusal } from '../../../src/model/index.js';
import { systemClock } from '../../../src/platform/clock.js';
import { kinds } from '../../../src/resources/index.js';
import { recordingEmulator, type RecordingEmulator } from '../../support/recording-emulator.js';
import { seededRandom } from '../../support/simulated.js';
import { answerOf, requestOf, type Answer } from './rig.js';

const open: Served[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function served(
  ...faults: readonly string[]
): Promise<{ readonly emulator: RecordingEmulator; readonly url: string; readonly port: number }> {
  const emulator = recordingEmulator({
    kinds,
    clock: systemClock(),
    random: seededRandom(),
    faults: faults.map(parseFault),
  });
  const server = await serve(emulator, { port: 0 });
  open.push(server);
  return { emulator, url: server.url, port: server.port };
}

const ask = async (url: string, method: string, path: string, body?: string): Promise<Answer> =>
  answerOf(await fetch(requestOf(method, path, body, {}, url)));

test('requests and answers as in process', async () => {
  const { url, port, emulator } = await served();
  expect(url).toBe(`http://127.0.0.1:${port}`);
  const created = await ask(url, 'POST', '/api/v2/accounts/', '{"name": "Clinic"}');
  expect([created.status, created.body.resource_url, created.headers.get('content-type')]).toEqual([
    200,
    `${url}/api/v2/accounts/2/`,
    'application/json',
  ]);
  expect((await ask(url, 'GET', '/api/v2/accounts/')).body.data.map(({ name }) => name)).toEqual([
    'Headquarters',
    'Clinic',
  ]);
  expect([
    (await ask(url, 'DELETE', '/api/v2/accounts/2/')).text,
    emulator.objects('accounts').length,
  ]).toEqual(['', 1]);
  expect((await ask(url, 'GET', '/api/v2/accounts')).status).toBe(301);
});

test.each([
  ['reset-before', 1],
  ['reset-after', 2],
] as const)('%s breaks the connection', async (fault, accounts) => {
  const { url, port, emulator } = await served(`${fault},method=POST`);
  const code = await new Promise<string | undefined>((resolve) => {
    const { headers } = requestOf('POST', '/api/v2/accounts/');
    const sent = httpRequest(
      {
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/api/v2/accounts/',
        headers: Object.fromEntries(headers),
      },
      () => resolve('answered'),
    );
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    sent.end('{"name": "Clinic"}');
  });
  expect(code).toBe('ECONNRESET');
  expect(emulator.objects('accounts')).toHaveLength(accounts);
  expect((await ask(url, 'GET', '/api/v2/accounts/')).status).toBe(200);
});

test('an endless answer ends with the connection, and closing waits for nobody', async () => {
  const { url } = await served('endless=5');
  const abort = new AbortController();
  const response = await fetch(requestOf('GET', '/api/v2/accounts/', undefined, {}, url), {
    signal: abort.signal,
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  expect((await reader.read()).value?.length).toBeGreaterThan(0);
  abort.abort();
  await expect(reader.read()).rejects.toThrow('aborted');
  await (open[0] as Served).close();
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

test('a request that hangs ends with its client, and the service goes on', async () => {
  const { url, emulator } = await served('hang,times=1');
  const signal = AbortSignal.timeout(50);
  const request = requestOf('GET', '/api/v2/accounts/', undefined, {}, url);
  await expect(fetch(request, { signal })).rejects.toThrow('timeout');
  await expect.poll(() => emulator.requests.map(({ status }) => status)).toEqual([0]);
  expect((await ask(url, 'GET', '/api/v2/accounts/')).status).toBe(200);
});

test('a port that is taken is refused with what to type next', async () => {
  const { emulator, port } = await served();
  const refusal: unknown = await serve(emulator, { port }).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(Refusal);
  expect((refusal as Refusal).diagnostics[0]).toMatchObject({
    code: 'port-not-free',
    detail: expect.stringContaining('--port'),
  });
});
