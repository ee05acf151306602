// The store on a real S3 server.
import { Buffer } from 'node:buffer';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { undiciTransport } from '../../src/client/index.js';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import type { Registers } from '../../src/state/backends/registers/port.js';
import {
  bucketAddress,
  s3Registers,
  type S3Options,
} from '../../src/state/backends/registers/s3.js';
import { startLiar, startS3, type Server } from '../../scripts/servers.js';
import { cleanUp } from '../support/clean-up.js';
import { emulator, folder, type Folder } from '../support/cli.js';
import { backendSuite } from './backend-suite.js';
import { faultSuite } from './fault-suite.js';
import { teamSuite } from './team-suite.js';

const REGION = 'us-east-1';
let server: Server;
let places = 0;

beforeAll(async () => {
  server = await startS3();
}, 120_000);
afterAll(() => server.stop());

type Transport = S3Options['transport'];

/** @param through what stands between the client and the server */
function connect(url: URL, through = (transport: Transport): Transport => transport): Registers {
  const { transport } = undiciTransport({
    origins: [bucketAddress(url, REGION).origin],
    maxBodyBytes: 2 ** 26,
  });
  return s3Registers({
    url,
    region: REGION,
    credentials: async () => ({
      accessKeyId: server.environment['AWS_ACCESS_KEY_ID']!,
      secretAccessKey: server.environment['AWS_SECRET_ACCESS_KEY']!,
    }),
    transport: through(transport),
    clock: systemClock(),
    random: systemRandom(),
  });
}

backendSuite('radosgw', () => {
  const url = new URL(server.url);
  url.pathname = `/place ${(places += 1)}`;
  return {
    connect: () => connect(url),
    values: async () => {
      const registers = connect(url);
      const found = new Map<string, { readonly body: Uint8Array }>();
      for await (const key of registers.list('')) found.set(key, (await registers.get(key))!);
      return found;
    },
  };
});

teamSuite('S3', () => ({
  url: server.url.replace('/state?', `/team-${(places += 1)}?`),
  environment: server.environment,
}));

describe('keys are removed', () => {
  const names = ['plain', 'a&b', 'a<b>c', 'ü "\'', 'a&amp;b'];
  const listed = async (registers: Registers): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const key of registers.list('')) found.push(key);
    return found;
  };

  it.each<[title: string, together: Awaited<ReturnType<Transport>> | undefined, sent: string[]]>([
    ['with one request', undefined, ['POST']],
    [
      'one by one where the server does not know the request',
      { status: 501, headers: {}, body: '<Error><Code>NotImplemented</Code></Error>' },
      ['POST', ...names.map(() => 'DELETE')],
    ],
    [
      'one by one where some of them were not removed',
      {
        status: 200,
        headers: {},
        body: '<DeleteResult><Error><Key>x</Key><Code>InternalError</Code></Error></DeleteResult>',
      },
      ['POST', ...names.map(() => 'DELETE')],
    ],
    [
      'one by one where the answer is of something else',
      { status: 200, headers: {}, body: '<html></html>' },
      ['POST', ...names.map(() => 'DELETE')],
    ],
  ])('%s', async (_, together, sent) => {
    const url = new URL(server.url);
    url.pathname = `/removed ${(places += 1)}`;
    const methods: string[] = [];
    const registers = connect(url, (transport) => async (request) => {
      methods.push(request.method);
      return request.method === 'POST' && together ? together : transport(request);
    });
    for (const name of [...names, 'kept']) await registers.put(name, Buffer.from(name), null);
    methods.length = 0;
    await registers.remove(names);
    expect(methods).toEqual(sent);
    expect(await listed(registers)).toEqual(['kept']);
    await registers.remove(['absent', 'absent too']);
    await registers.remove([]);
    expect(await listed(registers)).toEqual(['kept']);
  });

  it('in more than one request where they are more than a thousand', async () => {
    const url = new URL(server.url);
    url.pathname = `/removed ${(places += 1)}`;
    const methods: string[] = [];
    const registers = connect(url, (transport) => async (request) => {
      methods.push(request.method);
      return transport(request);
    });
    await registers.put('last', Buffer.from('x'), null);
    methods.length = 0;
    await registers.remove([...Array.from({ length: 2000 }, (_, index) => `n${index}`), 'last']);
    expect(methods).toEqual(['POST', 'POST', 'DELETE']);
    expect(await listed(registers)).toEqual([]);
  });
});

const DENIED = `HTTP/1.1 403 Forbidden\r
content-type: application/xml\r
content-length: 40\r
connection: close\r
\r
<Error><Code>AccessDenied</Code></Error>`;

faultSuite('S3', () => {
  const folder = `/faults-${(places += 1)}`;
  const endpoint = new URL(new URL(server.url).searchParams.get('endpoint')!);
  const through = (port: number): URL => {
    const url = new URL(server.url);
    url.pathname = folder;
    url.searchParams.set('endpoint', `http://127.0.0.1:${port}`);
    return url;
  };
  const port = Number(endpoint.port);
  return {
    port,
    url: (other) => through(other).href,
    environment: server.environment,
    connect: (other = port) => connect(through(other)),
    forbidWrites({ remote }) {
      remote!.proxy.meddle = (piece) =>
        /^(?:PUT|DELETE|POST) /.test(piece.toString('latin1')) ? { answer: DENIED } : 'pass';
    },
  };
});

it('a server that ignores conditions is refused before anything is created', async () => {
  const liar = await startLiar();
  onTestFinished(() => liar.stop());
  const settings = `settings: { state: "${liar.url}" }\n`;
  const home = folder({ 'trueup.yaml': `${settings}accounts:\n  a: { name: Alpha }\n` });
  const cloud = await emulator(folder());
  const env = { ...cloud.env, ...liar.environment };
  await home.expect(0, ['plan'], { env });
  const refused = await home.expect(1, ['apply', '--auto-approve'], { env });
  expect(refused.stderr).toContain('[backend-cannot-lock]');
  expect(refused.stderr).toContain('Use a backend with conditional writes');
  const live = await home.expect(0, ['get', 'accounts', '-o', 'json'], { env });
  expect(live.stdout).not.toContain('Alpha');
  await home.expect(0, ['plan'], { env });
});

describe('credentials of a state in S3', () => {
  /** A project whose state is on the server, and runs of it that are given no keys. */
  function project(): Folder {
    const url = server.url.replace('/state?', `/credentials-${(places += 1)}?`);
    return folder({
      'trueup.yaml': `settings: { target: emulator, state: "${url}" }\naccounts:\n  a: { name: A }\n`,
    });
  }
  const keys = (): readonly string[] => [
    server.environment['AWS_ACCESS_KEY_ID']!,
    server.environment['AWS_SECRET_ACCESS_KEY']!,
  ];

  it('are found in a profile', async () => {
    const home = project();
    const [id, secret] = keys();
    home.write(
      'aws/credentials',
      `[default]\naws_access_key_id = other\naws_secret_access_key = other\n\n[team]\naws_access_key_id = ${id}\naws_secret_access_key = ${secret}\n`,
    );
    const file = `${home.path}/aws/credentials`;
    const env = { AWS_SHARED_CREDENTIALS_FILE: file, AWS_CONFIG_FILE: file, AWS_PROFILE: 'team' };
    await home.expect(0, ['apply', '--auto-approve'], { env });
    await home.expect(0, ['plan', '--detailed-exitcode'], { env });
    const other = await home.expect(1, ['plan'], { env: { ...env, AWS_PROFILE: 'default' } });
    expect(other.stderr).toContain('InvalidAccessKeyId');
  });

  it('are those of a container, asked for once as long as they are valid', async () => {
    const [AccessKeyId, SecretAccessKey] = keys();
    const asked: (string | undefined)[] = [];
    const Expiration = new Date(Date.now() + 3_600_000).toISOString();
    const endpoint = createServer(({ headers }, response) => {
      asked.push(headers.authorization);
      response.end(JSON.stringify({ AccessKeyId, SecretAccessKey, Token: '', Expiration }));
    });
    await new Promise<void>((done) => void endpoint.listen(0, '127.0.0.1', done));
    cleanUp.push(() => new Promise<void>((done) => void endpoint.close(() => done())));
    const { port } = endpoint.address() as AddressInfo;
    const env = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${port}/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'of the container',
    };
    const home = project();
    await home.expect(0, ['apply', '--auto-approve'], { env });
    expect(asked).toEqual(['of the container']);
    await home.expect(0, ['plan', '--detailed-exitcode'], { env });
  });

  it('are missed aloud', async () => {
    const env = { AWS_EC2_METADATA_DISABLED: 'true', HOME: folder().path };
    const { stderr } = await project().expect(1, ['plan'], { env });
    expect(stderr).toContain('the AWS SDK finds no credentials');
    expect(stderr).toContain('Set AWS_ACCESS_KEY_ID');
  });
});
