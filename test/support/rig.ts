// A whole run without a machine: emulator in process, simulated disk, clock and processes. Each `apply` is a
// process of its own; it may be killed at any boundary of the disk or of the network, and a later one goes on.
import {
  connect,
  TransportError,
  type HttpResponse,
  type Transport,
} from '../../src/client/index.js';
import {
  ConnectionReset,
  dummyCredentials,
  type EmulatorOptions,
} from '../../src/emulator/index.js';
import {
  defined,
  maskingOf,
  Secret,
  type Declaration,
  type Event,
  type JsonObject,
  type Kinds,
  type PlanDocument,
  type PlanRequest,
  type Project,
  type RunAuthor,
} from '../../src/model/index.js';
import { apply, type Applied } from '../../src/reconciler/apply/apply.js';
import { findDrift, type Audit } from '../../src/reconciler/audit/drift.js';
import type { Proposal } from '../../src/reconciler/plan/plan.js';
import { propose } from '../../src/reconciler/plan/propose.js';
import { planDocument } from '../../src/report/index.js';
import { collections } from '../../src/resources/index.js';
import { provider } from '../../src/resources/provider.js';
import {
  fileStore,
  scryptFingerprints,
  type Session,
  type Snapshot,
  type Store,
} from '../../src/state/index.js';
import { registerKeys } from '../../src/state/backends/registers/keys.js';
import type { Registers } from '../../src/state/backends/registers/port.js';
import type { RegisterStoreOptions } from '../../src/state/backends/registers/register-lock.js';
import { registerStore } from '../../src/state/backends/registers/register-store.js';
import { rescueIn } from '../../src/state/backends/registers/rescue.js';
import { memoryRegisters, type MemoryFaults, type MemoryRegisters } from './memory-registers.js';
import { project } from './planning.js';
import { recordingEmulator, type RecordingEmulator } from './recording-emulator.js';
import { seededRandom, simulatedClock, type SimulatedClock } from './simulated.js';
import { simulatedFiles, type SimulatedFiles } from './simulated-files.js';
import { simulatedMachine, type SimulatedMachine } from './simulated-machine.js';

export interface RunOptions extends Partial<PlanRequest> {
  readonly signal?: AbortSignal;
  readonly parallelism?: number;
  readonly saved?: PlanDocument;
  readonly approve?: (proposal: Proposal) => Promise<boolean>;
  readonly settle?: number;
  /** The machine that the process runs on. */
  readonly host?: string;
}

export interface Rig {
  readonly emulator: RecordingEmulator;
  readonly clock: SimulatedClock;
  readonly files: SimulatedFiles;
  readonly events: Event[];
  /** Called before and after each mutating request. */
  onMutation: ((when: 'before' | 'after', method: string, path: string) => void) | undefined;
  plan(project: Project, options?: RunOptions): Promise<Proposal>;
  apply(project: Project, options?: RunOptions): Promise<Applied>;
  drift(project: Project, options?: RunOptions): Promise<Audit>;
  document(proposal: Proposal): PlanDocument;
  snapshot(): Promise<Snapshot | undefined>;
  open(): Promise<Session>;
  objects(kind: string): readonly JsonObject[];
  /** Everything that is remembered is gone. */
  forget(): Promise<void>;
  readonly machine: SimulatedMachine;
  /** The client of one process. */
  connect(signal: AbortSignal): ReturnType<typeof connect>;
  /** Mutating requests so far, as `METHOD path`. */
  mutations(): readonly string[];
}

const STATE = '/sim/state.json';

interface RigOptions extends Partial<EmulatorOptions> {
  readonly kinds?: Kinds;
  readonly seed?: number;
  readonly requestsPerMinute?: number;
  /** The state is in a remote place, with these faults. */
  readonly remote?: MemoryFaults;
  /** Milliseconds by which the service tells its time wrong. */
  readonly ahead?: number;
  /** Then the state names its runs. */
  readonly author?: RunAuthor;
  /** What the emulator is given in place of the body of a write. */
  readonly alter?: (body: string) => string;
  /** Stands between client and emulator: `proceed` asks the emulator. */
  readonly intercept?: (
    request: {
      readonly method: string;
      readonly path: string;
      readonly body: string | undefined;
      readonly signal: AbortSignal;
    },
    proceed: () => Promise<HttpResponse>,
  ) => Promise<HttpResponse>;
}

export function rig(options: RigOptions = {}): Rig {
  const kinds = options.kinds ?? provider.kinds;
  const given = { ...provider, kinds };
  const random = seededRandom(options.seed ?? 1);
  const clock = simulatedClock(Date.parse('2026-01-02T03:04:05Z'));
  const files = simulatedFiles(options.seed ?? 1);
  const machine = simulatedMachine();
  const emulator = recordingEmulator({
    kinds,
    collections,
    clock: { ...clock.service, now: () => clock.service.now() + (options.ahead ?? 0) },
    random,
    ...options,
  });
  const events: Event[] = [];
  const fingerprints = scryptFingerprints({ cost: 4 });
  const emit = (event: Event): unknown => events.push(event);

  const transport: Transport = async ({ method, url, headers, body, signal }) => {
    const path = new URL(url).pathname;
    if (method !== 'GET') self.onMutation?.('before', method, path);
    try {
      const proceed = async (): Promise<HttpResponse> => {
        const answer = await emulator.fetch(
          new Request(url, {
            method,
            headers: { ...headers },
            ...(body === undefined ? {} : { body: options.alter?.(body) ?? body }),
          }),
        );
        if (method !== 'GET') self.onMutation?.('after', method, path);
        return {
          status: answer.status,
          headers: Object.fromEntries(answer.headers),
          body: await answer.text(),
        };
      };
      return await (options.intercept
        ? options.intercept({ method, path, body, signal }, proceed)
        : proceed());
    } catch (error) {
      if (error instanceof ConnectionReset)
        throw new TransportError('reset', { sent: error.sent, code: 'ECONNRESET' });
      throw error;
    }
  };
  const cloudFor = (signal: AbortSignal): ReturnType<typeof connect> =>
    connect({
      v2: {
        url: 'http://localhost/api/v2',
        headers: Object.fromEntries(
          Object.entries(dummyCredentials.v2[0] ?? {}).map(([name, value]) => [
            name,
            new Secret(name, () => value),
          ]),
        ),
      },
      v3: {
        url: 'http://localhost',
        token: new Secret('token', () => Object.keys(dummyCredentials.v3)[0]),
      },
      transport,
      clock,
      random,
      emit,
      signal,
      ...(options.requestsPerMinute !== undefined && {
        requestsPerMinute: options.requestsPerMinute,
      }),
    });
  const memory = memoryRegisters(clock.service, random);
  Object.assign(memory.faults, options.remote);
  const store = (process = machine.start()): Store =>
    options.remote
      ? remoteStore({ clock, random, files, lock: process, registers: mortal(memory, files) })
      : fileStore({
          path: STATE,
          files,
          clock,
          random,
          lock: process,
          version: '0.0.0',
          ...defined({ author: options.author }),
        });
  const request = ({
    targets = [],
    excludes = [],
    allow = [],
    destroy = false,
  }: RunOptions = {}): PlanRequest => ({ targets, excludes, allow, destroy });
  const settled = (run?: RunOptions): number => (run?.settle ?? 60) * 1000;
  const never = new AbortController().signal;
  const document = ({ plan }: Proposal): PlanDocument =>
    planDocument({
      plan,
      kinds,
      meta: {
        trueup_version: '0.0.0',
        generated_at: '2026-01-01T00:00:00.000Z',
        generated_from: { paths: ['.'], digest: 'd' },
        target: 't',
        state: { lineage: 'l', serial: 0 },
        api_requests: {},
        masking: maskingOf(),
      },
    });

  const self: Rig = {
    emulator,
    clock,
    files,
    machine,
    events,
    connect: cloudFor,
    onMutation: undefined,
    document,
    async plan(desired, run) {
      return propose(
        {
          ...given,
          cloud: cloudFor(never),
          fingerprints,
          clock,
          emit,
          settleMilliseconds: settled(run),
        },
        desired,
        await store().read(),
        request(run),
      );
    },
    async apply(desired, run = {}) {
      const signal = run.signal ?? never;
      const cloud = cloudFor(signal);
      const process = machine.start(run.host === undefined ? {} : { host: run.host });
      try {
        const session = await store(process).open('apply', cloud.target);
        const applied = await apply(
          {
            ...given,
            cloud,
            fingerprints,
            clock,
            emit,
            session,
            random,
            parallelism: run.parallelism ?? 10,
            signal,
            settleMilliseconds: settled(run),
          },
          desired,
          request(run),
          {
            approve: run.approve ?? (() => Promise.resolve(true)),
            document,
            ...(run.saved ? { saved: run.saved } : {}),
          },
        );
        await session.release();
        return applied;
      } finally {
        machine.kill(process.pid);
      }
    },
    async drift(desired, run) {
      return findDrift(
        {
          ...given,
          collections,
          cloud: cloudFor(never),
          fingerprints,
          clock,
          emit,
          settleMilliseconds: settled(run),
        },
        desired,
        await store().read(),
      );
    },
    snapshot: () => store().read(),
    open: () => store().open('test', cloudFor(never).target),
    objects: (kind) => emulator.objects(kind),
    async forget() {
      memory.values.clear();
      for (const path of files.contents.keys())
        if (path.startsWith(STATE)) await files.remove(path);
    },
    mutations: () =>
      emulator.requests
        .filter(({ method }) => method !== 'GET')
        .map(({ method, path }) => `${method} ${path}`),
  };
  return self;
}

/** Registers of a process that may die before and after each write. */
function mortal(memory: MemoryRegisters, files: SimulatedFiles): Registers {
  const registers = memory.connect();
  return {
    ...registers,
    async get(key) {
      files.assertPower();
      const found = await registers.get(key);
      files.assertPower();
      return found;
    },
    async put(key, body, expect) {
      files.pass();
      const put = await registers.put(key, body, expect);
      files.pass();
      return put;
    },
    async remove(keys) {
      for (const key of keys) {
        files.pass();
        await registers.remove([key]);
      }
    },
  };
}

function remoteStore({
  files,
  ...tools
}: Pick<RegisterStoreOptions, 'clock' | 'random' | 'lock' | 'registers'> & {
  readonly files: SimulatedFiles;
}): Store {
  return registerStore({
    ...tools,
    keys: registerKeys('default'),
    version: '0.0.0',
    locking: { lease: 30_000, wait: 300_000, takeover: true },
    history: { keep: 30, milliseconds: 90 * 24 * 60 * 60 * 1000 },
    rescue: rescueIn('/sim/rescue', 'remote', { files, random: tools.random, clock: tools.clock }),
  });
}

export const desire = (...declarations: readonly Declaration[]): Project => project(declarations);
