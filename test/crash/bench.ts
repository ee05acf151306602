// Where processes are killed: an emulator on a real socket that outlives them, and a folder on the real disk, or a
// remote place of the state. A lane is one such pair; several are used beside one another.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type BuildOptions } from 'esbuild';
import { connect, undiciTransport, type Transport } from '../../src/client/index.js';
import { load } from '../../src/declarations/index.js';
import { dummyCredentials, serve } from '../../src/emulator/index.js';
import { Secret } from '../../src/model/index.js';
import { systemClock } from '../../src/platform/clock.js';
import { declarationFiles } from '../../src/platform/declaration-files.js';
import { diskFiles } from '../../src/platform/files.js';
import { machine } from '../../src/platform/host.js';
import { systemRandom } from '../../src/platform/random.js';
import type { Proposal } from '../../src/reconciler/plan/plan.js';
import { propose } from '../../src/reconciler/plan/propose.js';
import { collections, kinds } from '../../src/resources/index.js';
import { provider } from '../../src/resources/provider.js';
import { fileStore, scryptFingerprints, type Snapshot, type Store } from '../../src/state/index.js';
import { start, TRUEUP, type Running } from '../support/command.js';
import { theirs } from '../support/estate.js';
import { recordingEmulator, type RecordingEmulator } from '../support/recording-emulator.js';
import type { TcpProxy } from '../support/tcp-proxy.js';
import { after, before, secrets, withMail } from './scene.js';

const [clock, random] = [systemClock(), systemRandom()];

/** Called for each mutating request, which is answered once the promise is there. */
export type Meddle = (
  nth: number,
  carryOut: () => Promise<Response>,
  method: string,
) => Promise<Response>;

/** A place of the state on a server, for one lane. */
export interface RemoteLane {
  /** The mapping under `settings.state`, in one line. */
  readonly settings: string;
  readonly environment: Environment;
  /** Between the commands and the server. */
  readonly proxy: TcpProxy;
  /** The place as this process sees it, not through the proxy. */
  store(): Store;
  /** Everything in the place, to be put back later. */
  save(): Promise<() => Promise<void>>;
}

export interface Lane {
  readonly cwd: string;
  readonly remote: RemoteLane | undefined;
  emulator: RecordingEmulator;
  meddle: Meddle;
  /** Starts the command that can be killed at a boundary. */
  victim(args: readonly string[], env?: Environment): Running;
  /** Starts the built command. */
  command(args: readonly string[], env?: Environment): Running;
  /** As after the first run, with the twelve operations to do. */
  reset(): Promise<void>;
  snapshot(): Promise<Snapshot | undefined>;
  /** What a run would do now. */
  plan(): Promise<Proposal>;
  close(): Promise<void>;
}

export const APPLY = ['apply', '--auto-approve'] as const;
const passOn: Meddle = (_, carryOut) => carryOut();

export interface Bench {
  /** Lets `work` have a lane of its own. */
  inLane(work: (lane: Lane) => Promise<void>): Promise<void>;
  /** Names of the boundaries of the disk in a run of the twelve operations, one after the other. */
  boundaries(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** @param count how many runs may go on beside one another. @param remote makes the place of one lane */
export async function openBench(count: number, remote?: () => Promise<RemoteLane>): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), 'trueup-kill-'));
  const script = join(folder, 'victim', 'victim.js');
  const asked: BuildOptions = {
    entryPoints: [join(import.meta.dirname, './victim.ts')],
    outdir: join(folder, 'victim'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: {
      js: "import { createRequire as nodeRequire } from 'node:module';\nconst require = nodeRequire(import.meta.url);",
    },
    logLevel: 'error',
    external: ['@cdktn/hcl2json'],
  };
  const lanes: Lane[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(lanes.map((one) => one.close()));
    rmSync(folder, { recursive: true });
  };
  const closeAndThrow = async (error: unknown): Promise<never> => {
    await close();
    throw error;
  };
  try {
    await build(asked);
    writeFileSync(join(folder, 'victim', 'package.json'), '{"type":"module"}');
    while (lanes.length < count)
      lanes.push(await openLane(join(folder, `lane-${lanes.length}`), script, await remote?.()));
    return {
      inLane: sharing(lanes),
      boundaries: () =>
        boundariesOf(lanes[0] as Lane, join(folder, 'boundaries')).catch(closeAndThrow),
      close,
    };
  } catch (error) {
    return closeAndThrow(error);
  }
}

function sharing(lanes: readonly Lane[]): Bench['inLane'] {
  const free = [...lanes];
  const waiting: ((lane: Lane) => void)[] = [];
  return async (work) => {
    const lane = free.pop() ?? (await new Promise<Lane>((go) => waiting.push(go)));
    try {
      await lane.reset();
      await work(lane);
    } finally {
      const next = waiting.shift();
      if (next) next(lane);
      else free.push(lane);
    }
  };
}

async function boundariesOf(lane: Lane, log: string): Promise<readonly string[]> {
  await lane.reset();
  const { code, stderr } = await lane.victim([...APPLY, '--parallelism', '1'], { VICTIM_LOG: log })
    .ended;
  if (code !== 0) throw new Error(`the run that is to be killed fails by itself: ${stderr}`);
  return readFileSync(log, 'utf8').trim().split('\n');
}

async function openLane(cwd: string, script: string, remote?: RemoteLane): Promise<Lane> {
  mkdirSync(cwd);
  const running = new Set<Running>();
  let mutations = 0;
  const fetch = (request: Request): Promise<Response> => {
    const carryOut = (): Promise<Response> => lane.emulator.fetch(request);
    return request.method === 'GET'
      ? carryOut()
      : lane.meddle((mutations += 1), carryOut, request.method);
  };
  const served = await serve({ fetch }, { port: 0 });
  const net = undiciTransport({ origins: [served.url] });
  const environment = { ...environmentFor(served.url), ...remote?.environment };
  const store = remote?.store() ?? (await storeIn(cwd));
  const launch = (args: readonly string[], env: Environment = {}, file = TRUEUP): Running => {
    const one = start(args, {
      cwd,
      script: file,
      env: { ...environment, ...env },
      patience: 120_000,
    });
    running.add(one);
    void one.ended.then(() => running.delete(one));
    return one;
  };
  const lane: Lane = {
    cwd,
    remote,
    emulator: recordingEmulator({ kinds, clock, random, estate: theirs }),
    meddle: passOn,
    victim: (args, env) => launch(args, env, script),
    command: (args, env) => launch(args, env),
    async reset() {
      lane.emulator = recordingEmulator({ kinds, clock, random, estate: first });
      lane.meddle = passOn;
      mutations = 0;
      if (remote) Object.assign(remote.proxy, { meddle: () => 'pass', pieces: 0 });
      await putBack?.();
      rmSync(join(cwd, '.trueup'), { recursive: true, force: true });
      cpSync(`${cwd}-first`, join(cwd, '.trueup'), { recursive: true });
    },
    snapshot: () => store.read(),
    plan: async () => planHere(cwd, environment, net.transport, await store.read()),
    async close() {
      for (const one of running) one.process.kill('SIGKILL');
      await Promise.all([...running].map((one) => one.ended));
      await net.close();
      await served.close();
      await remote?.proxy.close();
    },
  };
  const located = (project: string): string =>
    remote ? project.replace('settings: {', `settings: { state: ${remote.settings},`) : project;
  writeFileSync(join(cwd, 'trueup.yaml'), located(before));
  const { code, stderr } = await lane.victim(APPLY).ended;
  if (code !== 0) {
    await lane.close();
    throw new Error(`the first run fails: ${stderr}`);
  }
  const first = withMail(lane.emulator.snapshot());
  cpSync(join(cwd, '.trueup'), `${cwd}-first`, { recursive: true });
  const putBack = await remote?.save();
  writeFileSync(join(cwd, 'trueup.yaml'), located(after));
  return lane;
}

const storeIn = async (cwd: string): Promise<Store> =>
  fileStore({
    path: join(cwd, '.trueup', 'state.json'),
    files: diskFiles(random),
    clock,
    random,
    lock: await machine(),
    version: '0.0.0',
  });

type Environment = Readonly<Record<string, string>>;

const headers = Object.entries({ ...dummyCredentials.v2[0] });
const token = Object.keys(dummyCredentials.v3)[0] as string;

function environmentFor(url: string): Environment {
  const keys = headers.map(([name, value]) => [
    `TRUEUP_${name.slice('X-'.length).replaceAll('-', '_')}`,
    value,
  ]);
  return {
    ...secrets,
    ...Object.fromEntries(keys),
    TRUEUP_V2_URL: `${url}/api/v2`,
    TRUEUP_V3_URL: url,
    TRUEUP_V3_TOKEN: token,
    TRUEUP_SETTLE_SECONDS: '0',
  };
}

async function planHere(
  cwd: string,
  environment: Environment,
  transport: Transport,
  snapshot: Snapshot | undefined,
): Promise<Proposal> {
  const { project } = await load({
    kinds,
    collections,
    paths: [],
    cwd,
    files: declarationFiles,
    stdin: () => Promise.resolve(''),
    environment,
    variables: {},
  });
  if (!project) throw new Error('the declarations do not load');
  const emit = (): void => undefined;
  const cloud = connect({
    v2: {
      url: environment['TRUEUP_V2_URL'] as string,
      headers: Object.fromEntries(
        headers.map(([name, value]) => [name, new Secret(name, () => value)]),
      ),
    },
    v3: { url: environment['TRUEUP_V3_URL'] as string, token: new Secret('token', () => token) },
    transport,
    clock,
    random,
    emit,
    signal: new AbortController().signal,
  });
  return propose(
    { ...provider, cloud, fingerprints: scryptFingerprints(), clock, emit, settleMilliseconds: 0 },
    project,
    snapshot,
    {
      targets: [],
      excludes: [],
      allow: [],
      destroy: false,
    },
  );
}
