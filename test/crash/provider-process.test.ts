// The provider as a process: how it starts, whom it lets in, and that it never outlives core or leaves something behind.
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { X509Certificate } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { selfSigned } from '../../src/terraform/protocol/certificate.js';
import { executable } from '../support/built.js';

const TF_PLUGIN_MAGIC_COOKIE = 'd602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2';
const core = selfSigned(Date.now(), Buffer.alloc(8, 9));
const asked = { TF_PLUGIN_MAGIC_COOKIE, PLUGIN_CLIENT_CERT: core.certificate };

let script: Awaited<ReturnType<typeof executable>>;
beforeAll(async () => {
  script = await executable(
    fileURLToPath(new URL('../unit/terraform/made-up-main.ts', import.meta.url)),
  );
});
afterAll(() => script.remove());

interface Started {
  readonly child: ChildProcess;
  /** Where sockets are made. */
  readonly folder: string;
  readonly ended: Promise<number | null>;
  readonly told: { stdout: string; stderr: string };
  /** The fields of the handshake. */
  line(): Promise<readonly string[]>;
}

/** @param shared the folder of an earlier start */
function start(env: Readonly<Record<string, string>>, folderName = 't', shared?: string): Started {
  const top = mkdtempSync(join(tmpdir(), 'fw-'));
  const folder = shared ?? join(top, folderName);
  if (shared === undefined) mkdirSync(folder);
  const child = spawn(process.execPath, [script.file], {
    env: { PATH: process.env['PATH'], TMPDIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const told = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.setEncoding('utf8').on('data', (chunk: string) => (told[stream] += chunk));
  const ended = once(child, 'close').then(([status]) => status as number | null);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(top, { recursive: true, force: true });
  });
  const line = async (): Promise<readonly string[]> => {
    await expect.poll(() => told.stdout, { timeout: 20_000 }).toContain('\n');
    return told.stdout.trimEnd().split('|');
  };
  return { child, folder, ended, told, line };
}

function clientOf([, , network, address, , shown]: readonly string[]): Client {
  const trusted =
    shown === undefined
      ? undefined
      : Buffer.from(new X509Certificate(Buffer.from(shown, 'base64')).toString());
  const how = trusted
    ? credentials.createSsl(trusted, Buffer.from(core.key), Buffer.from(core.certificate))
    : credentials.createInsecure();
  const client = new Client(network === 'unix' ? `unix:${address}` : String(address), how, {
    'grpc.ssl_target_name_override': 'localhost',
    'grpc.default_authority': 'localhost',
  });
  onTestFinished(() => client.close());
  return client;
}

const call = async (client: Client, method: string): Promise<Buffer> =>
  new Promise((done, fail) => {
    const answered = (error: ServiceError | null, reply?: Buffer): void =>
      error ? fail(error) : done(reply as Buffer);
    client.makeUnaryRequest(
      `/${method}`,
      (bytes: Buffer) => bytes,
      (bytes) => bytes,
      Buffer.alloc(0),
      new Metadata({ waitForReady: true }),
      answered,
    );
  });

describe('a start', () => {
  it.each([
    ['without a cookie', {}],
    ['with a wrong cookie', { ...asked, TF_PLUGIN_MAGIC_COOKIE: 'biscuit' }],
  ])('%s is told how it is meant', async (_, env) => {
    const { ended, told } = start(env);
    expect(await ended).toBe(1);
    expect(told).toEqual({ stdout: '', stderr: expect.stringContaining('dev_overrides') });
  });

  it.each([
    ['without a certificate', { TF_PLUGIN_MAGIC_COOKIE }],
    ['with half a certificate', { ...asked, PLUGIN_CLIENT_CERT: core.certificate.slice(0, 100) }],
  ])('%s ends with a word on stderr', async (_, env) => {
    const { ended, told, folder } = start(env);
    expect(await ended).toBe(1);
    expect(told).toEqual({
      stdout: '',
      stderr: expect.stringMatching(/^PLUGIN_CLIENT_CERT .*\n$/),
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('says one line, answers, and ends when asked, with nothing left', async () => {
    const { ended, told, folder, line } = start(asked);
    const said = await line();
    expect(said.slice(0, 3)).toEqual(['1', '6', 'unix']);
    const client = clientOf(said);
    expect((await call(client, 'tfplugin6.Provider/GetProviderSchema')).length).toBeGreaterThan(
      100,
    );
    await call(client, 'plugin.GRPCController/Shutdown');
    expect(await ended).toBe(0);
    expect(told).toEqual({ stdout: expect.stringMatching(/^[^\n]*\n$/), stderr: '' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('goes by a port where a path would be too long, and without TLS where it is told to', async () => {
    const { ended, line } = start(
      { TF_PLUGIN_MAGIC_COOKIE, TF_DISABLE_PLUGIN_TLS: '1' },
      'x'.repeat(100),
    );
    const said = await line();
    expect(said).toEqual(['1', '6', 'tcp', expect.stringMatching(/^127\.0\.0\.1:\d+$/), 'grpc']);
    const client = clientOf(said);
    await call(client, 'plugin.GRPCController/Shutdown');
    expect(await ended).toBe(0);
  });
});

describe('an end', () => {
  it('is not brought about by SIGINT, which core handles', async () => {
    const { child, line } = start(asked);
    const client = clientOf(await line());
    await call(client, 'tfplugin6.Provider/GetProviderSchema');
    child.kill('SIGINT');
    expect(await call(client, 'tfplugin6.Provider/StopProvider')).toBeInstanceOf(Buffer);
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
  });

  it('comes by SIGTERM, with nothing left', async () => {
    const { child, folder, ended, line } = start(asked);
    await call(clientOf(await line()), 'tfplugin6.Provider/GetProviderSchema');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('comes by SIGTERM at once after the line, with nothing left', async () => {
    const { child, folder, ended } = start(asked);
    child.stdout?.once('data', () => child.kill('SIGTERM'));
    expect(await ended).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('by SIGKILL leaves a folder that the next one removes, and no other', async () => {
    const { child, folder, ended, line } = start(asked);
    await call(clientOf(await line()), 'tfplugin6.Provider/GetProviderSchema');
    child.kill('SIGKILL');
    await ended;
    const left = readdirSync(folder);
    expect(left).toEqual([expect.stringMatching(new RegExp(`^trueup-${child.pid}-`))]);
    // Of a process that cannot be seen from here, which listens; of one that runs; of one that may be about to listen.
    const passed = spawn(process.execPath, ['-e', '']);
    await once(passed, 'close');
    const gone = passed.pid;
    const listens = join(folder, `trueup-${gone}-listen`);
    const others = [
      listens,
      join(folder, `trueup-${process.pid}-active`),
      join(folder, `trueup-${gone}-starts`),
      join(folder, 'trueup-notes'),
    ];
    for (const one of others) mkdirSync(one);
    const server = createServer((connection) => connection.destroy()).listen(
      join(listens, 'provider'),
    );
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const old = join(folder, `trueup-${gone}-before`);
    mkdirSync(old);
    utimesSync(old, 1, 1);
    const next = start(asked, '', folder);
    await call(clientOf(await next.line()), 'tfplugin6.Provider/GetProviderSchema');
    const remaining = (): readonly string[] =>
      readdirSync(folder).filter((name) => !name.startsWith(`trueup-${next.child.pid}-`));
    await expect
      .poll(() => remaining().toSorted())
      .toEqual(others.map((one) => basename(one)).toSorted());
  });

  it('comes when core is killed before it ever connected', async () => {
    const top = mkdtempSync(join(tmpdir(), 'fw-'));
    onTestFinished(() => rmSync(top, { recursive: true, force: true }));
    const parent = `const { spawn } = require('node:child_process');
      const child = spawn(process.execPath, [${JSON.stringify(script.file)}], { stdio: ['ignore', 'pipe', 'inherit'] });
      child.stdout.once('data', () => process.stdout.write(String(child.pid) + '\\n'));`;
    const killed = spawn(process.execPath, ['-e', parent], {
      env: { PATH: process.env['PATH'], TMPDIR: top, ...asked },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(killed.stdout, 'data')) as [Buffer];
    const provider = Number(String(said));
    expect(isAlive(provider)).toBe(true);
    killed.kill('SIGKILL');
    await expect.poll(() => isAlive(provider), { timeout: 20_000 }).toBe(false);
    expect(readdirSync(top)).toEqual([]);
  });

  it('comes when core is killed before it could be seen', async () => {
    const top = mkdtempSync(join(tmpdir(), 'fw-'));
    onTestFinished(() => rmSync(top, { recursive: true, force: true }));
    const env = { PATH: process.env['PATH'], TMPDIR: top, ...asked };
    // The shell outlives its parent, and becomes the provider when that is gone.
    const parent = `const { spawn } = require('node:child_process');
      const child = spawn('sh', ['-c', 'read line; exec "$0" "$1"', process.execPath, ${JSON.stringify(script.file)}], { stdio: ['pipe', 'pipe', 'inherit'] });
      process.stdout.write(String(child.pid) + '\\n');`;
    const killed = spawn(process.execPath, ['-e', parent], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(killed.stdout, 'data')) as [Buffer];
    const provider = Number(String(said));
    onTestFinished(() => void (isAlive(provider) && process.kill(provider, 'SIGKILL')));
    killed.kill('SIGKILL');
    await expect.poll(() => isAlive(provider), { timeout: 20_000 }).toBe(false);
    expect(readdirSync(top)).toEqual([]);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
