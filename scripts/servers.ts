// Starts servers for tests and by hand: PostgreSQL, an S3 server (radosgw of Ceph), one that ignores conditions (s3rver),
// and one of Terraform's http protocol with the rules of GitLab. Each has a temporary folder and free ports of its own on loopback, and leaves nothing behind.
//   node scripts/servers.mjs [postgres] [s3] [liar] [http]     prints what to export, and runs until Ctrl-C
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { createRequire } from 'node:module';
import { createConnection, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import {
  GITLAB_PATH,
  STATE_USERS,
  stateRules,
  type StateRequest,
  type StateRules,
} from '../test/support/state-rules.js';

export interface Server {
  /** Of the state of a project. */
  readonly url: string;
  /** To use the server. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

interface Account {
  readonly uid: number;
  readonly gid: number;
}

const isRoot = process.getuid?.() === 0;

/** Ends when it cannot be used within a minute. */
const PATIENCE = 60_000;

export interface PostgresServer extends Server {
  /** Ends the processes of the server; its data stay. */
  halt(): Promise<void>;
  /** Starts it again, at the same address. */
  restart(): Promise<void>;
}

/** PostgreSQL refuses to run as root: it gets the account `postgres` then. */
export async function startPostgres(): Promise<PostgresServer> {
  const bin = postgresFolder();
  const account = isRoot ? accountOf('postgres') : undefined;
  // The account has to reach the folder, whatever folder for temporary files this user has.
  const folder = mkdtempSync(join(isRoot ? '/tmp' : tmpdir(), 'trueup-postgres-'));
  if (account) chownSync(folder, account.uid, account.gid);
  const data = join(folder, 'data');
  const password = 'loopback-only';
  const secret = join(folder, 'password');
  writeFileSync(secret, password, { mode: 0o600 });
  if (account) chownSync(secret, account.uid, account.gid);
  const made = spawnSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'trueup', '-A', 'scram-sha-256', `--pwfile=${secret}`, '--no-sync'],
    { ...account, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();
  let server: ChildProcess | undefined;
  const halt = (): Promise<void> => endProcesses(server ? [server] : [], 'SIGINT', PATIENCE);
  const stop = async (): Promise<void> => {
    await halt();
    rmSync(folder, { recursive: true, force: true });
  };
  const isUp = (): boolean =>
    spawnSync(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)]).status === 0;
  const restart = async (): Promise<void> => {
    server = spawn(
      join(bin, 'postgres'),
      ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder, '-N', '300'],
      { ...account, stdio: 'ignore' },
    );
    await ready(isUp, server, stop);
  };
  await restart();
  return {
    halt,
    restart,
    url: `postgres://trueup@127.0.0.1:${port}/postgres`,
    environment: { PGPASSWORD: password },
    stop,
  };
}

const S3_KEYS = { AWS_ACCESS_KEY_ID: 'loopback', AWS_SECRET_ACCESS_KEY: 'loopback-only' };

/** One monitor, one store in memory and one gateway of Ceph, with one bucket: `trueup`. */
export async function startS3(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'trueup-s3-'));
  const [monitor, port] = [await freePort(), await freePort()];
  const configuration = join(folder, 'ceph.conf');
  const [cluster, store] = [randomUUID(), randomUUID()];
  writeFileSync(configuration, cephConfiguration(folder, cluster, monitor));
  for (const name of ['mon', 'osd', 'rgw']) mkdirSync(join(folder, name));
  const common = ['-c', configuration, '--keyring', '/dev/null'];
  const processes: ChildProcess[] = [];
  const start = (command: string, ...args: readonly string[]): ChildProcess => {
    const one = spawn(command, [...args, '-f', ...common], { stdio: 'ignore' });
    processes.push(one);
    return one;
  };
  const stop = (): Promise<void> => end(processes, folder, 'SIGTERM');
  try {
    const map = join(folder, 'monmap');
    run(
      'monmaptool',
      '--create',
      '--addv',
      'a',
      `[v1:127.0.0.1:${monitor}]`,
      '--fsid',
      cluster,
      map,
    );
    run('ceph-mon', '--mkfs', '-i', 'a', '--monmap', map, ...common);
    const monitoring = start('ceph-mon', '-i', 'a');
    await ready(() => accepts(monitor), monitoring, stop);
    // A monitor that has just started refuses some commands (EPERM), although it accepts connections.
    const order = (...words: readonly string[]): Promise<void> =>
      ready(
        async () => failureOf('ceph', '-c', configuration, 'osd', ...words) === undefined,
        monitoring,
        stop,
      );
    await order('new', store);
    // An OSD that places itself at its start can ask before it knows the monitors, and ends then.
    await order('crush', 'add', 'osd.0', '1', 'root=default');
    run('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', store, ...common);
    start('ceph-osd', '-i', '0');
    const gateway = start(
      'radosgw',
      '-n',
      'client.rgw',
      '--rgw-frontends',
      `beast endpoint=127.0.0.1:${port}`,
    );
    await ready(() => accepts(port), gateway, stop);
    run(
      'radosgw-admin',
      ...common,
      '-n',
      'client.admin',
      'user',
      'create',
      '--uid=trueup',
      '--display-name=trueup',
      `--access-key=${S3_KEYS.AWS_ACCESS_KEY_ID}`,
      `--secret-key=${S3_KEYS.AWS_SECRET_ACCESS_KEY}`,
    );
    const endpoint = `http://127.0.0.1:${port}`;
    const { status } = await signedPut(`${endpoint}/trueup`);
    if (status !== 200) throw new Error(`the bucket cannot be made: status ${status}`);
    return {
      url: `s3://trueup/state?endpoint=${encodeURIComponent(endpoint)}&region=us-east-1`,
      environment: S3_KEYS,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** An S3 server that takes the conditions of a write and ignores them: s3rver, with its bucket `trueup`. */
export async function startLiar(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'trueup-liar-'));
  const port = await freePort();
  const script = createRequire(import.meta.url).resolve('s3rver/bin/s3rver.js');
  const server = spawn(
    process.execPath,
    [script, '-d', folder, '-a', '127.0.0.1', '-p', String(port), '--configure-bucket', 'trueup'],
    { stdio: 'ignore' },
  );
  const stop = (): Promise<void> => end([server], folder, 'SIGTERM');
  await ready(() => accepts(port), server, stop);
  const endpoint = encodeURIComponent(`http://127.0.0.1:${port}`);
  return {
    url: `s3://trueup/state?endpoint=${endpoint}`,
    environment: { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' },
    stop,
  };
}

export interface HttpServer extends Server {
  readonly rules: StateRules;
  /** Requests that take effect, and whose connection is cut in place of an answer. */
  cut(which: (request: StateRequest) => boolean): void;
}

/** In this process, with its states in memory. */
export async function startHttp(): Promise<HttpServer> {
  const rules = stateRules();
  let isCut = (_: StateRequest): boolean => false;
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const body = Buffer.concat(chunks).toString('utf8');
      const one = { method, path, authorization: headers.authorization, body };
      const answer = rules.answer(one);
      if (isCut(one)) return void request.socket.destroy();
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${port}${GITLAB_PATH}/prod`,
    environment: {
      TRUEUP_STATE_HTTP_USERNAME: 'maintainer',
      TRUEUP_STATE_HTTP_PASSWORD: STATE_USERS.maintainer,
    },
    rules,
    cut: (which) => void (isCut = which),
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

const cephConfiguration = (folder: string, cluster: string, monitor: number): string =>
  `[global]
fsid = ${cluster}
mon host = [v1:127.0.0.1:${monitor}]
mon initial members = a
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd crush update on start = false
osd class update on start = false
paxos propose interval = 0.05
paxos min wait = 0.01
mon allow pool size one = true
mon max pg per osd = 1000
osd objectstore = memstore
memstore device bytes = 2147483648
public addr = 127.0.0.1
cluster addr = 127.0.0.1
mon data = ${folder}/mon
osd data = ${folder}/osd
rgw data = ${folder}/rgw
run dir = ${folder}
crash dir = ${folder}
admin socket = ${folder}/$name.$pid.asok
log file = ${folder}/$name.log
`;

function run(command: string, ...args: readonly string[]): void {
  const failure = failureOf(command, ...args);
  if (failure !== undefined) throw new Error(`${command} ${args.join(' ')} failed: ${failure}`);
}

/** What a command wrote to stderr, if it failed. */
function failureOf(command: string, ...args: readonly string[]): string | undefined {
  const { status, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: PATIENCE,
  });
  if (error && 'code' in error && error.code === 'ENOENT')
    throw new Error(
      'There is no Ceph here. Type: apt-get install -y radosgw ceph-mon ceph-osd ceph-common',
    );
  return status === 0 ? undefined : stderr;
}

async function signedPut(url: string): Promise<Response> {
  const client = new AwsClient({
    accessKeyId: S3_KEYS.AWS_ACCESS_KEY_ID,
    secretAccessKey: S3_KEYS.AWS_SECRET_ACCESS_KEY,
    service: 's3',
    region: 'us-east-1',
  });
  return fetch(await client.sign(url, { method: 'PUT' }));
}

function postgresFolder(): string {
  const versions = ['18', '17', '16', '15', '14'].map((one) => `/usr/lib/postgresql/${one}/bin`);
  const found = [...versions, ...(process.env['PATH'] ?? '').split(delimiter)].find((folder) =>
    existsSync(join(folder, 'initdb')),
  );
  if (found === undefined)
    throw new Error('There is no PostgreSQL here. Type: apt-get install -y postgresql');
  return found;
}

function accountOf(name: string): Account {
  const id = (flag: string): number => Number(spawnSync('id', [flag, name]).stdout.toString());
  return { uid: id('-u'), gid: id('-g') };
}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    const answer = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
  });

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, milliseconds));

async function ready(
  isUp: () => boolean | Promise<boolean>,
  server: ChildProcess,
  stop: () => Promise<void>,
): Promise<void> {
  const end = performance.now() + PATIENCE;
  while (performance.now() < end && server.exitCode === null) {
    if (await isUp()) return;
    await pause(100);
  }
  await stop();
  throw new Error(`${server.spawnfile} cannot be used`);
}

/** Ends processes in reverse order, by their ids, and removes their folder. */
async function end(
  processes: readonly ChildProcess[],
  folder: string,
  signal: NodeJS.Signals,
): Promise<void> {
  await endProcesses(processes, signal);
  rmSync(folder, { recursive: true, force: true });
}

/** @param patience milliseconds until a process is killed; one that was leaves parts of itself behind */
async function endProcesses(
  processes: readonly ChildProcess[],
  signal: NodeJS.Signals,
  patience = 10_000,
): Promise<void> {
  for (const one of processes.toReversed()) {
    if (one.exitCode !== null || one.signalCode !== null) continue;
    const gone = new Promise((resolve) => void one.once('exit', resolve));
    one.kill(signal);
    const late = setTimeout(() => one.kill('SIGKILL'), patience);
    await gone;
    clearTimeout(late);
  }
}

const starters: Readonly<Record<string, () => Promise<Server>>> = {
  postgres: startPostgres,
  s3: startS3,
  liar: startLiar,
  http: startHttp,
};

if (process.argv[1]?.endsWith('servers.ts')) {
  const names = process.argv.slice(2);
  const unknown = names.filter((name) => starters[name] === undefined);
  if (unknown.length > 0) throw new Error(`Servers: ${Object.keys(starters).join(', ')}`);
  const chosen = names.length === 0 ? ['postgres', 's3', 'http'] : names;
  const servers = await Promise.all(chosen.map((name) => starters[name]!()));
  for (const { url, environment } of servers)
    for (const [name, value] of Object.entries({ TRUEUP_STATE: url, ...environment }))
      console.log(`export ${name}='${value}'`);
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => {
      void Promise.all(servers.map((one) => one.stop())).then(() => process.exit(0));
    });
  setInterval(() => undefined, 60_000);
}
