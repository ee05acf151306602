// Runs whose process, network or rights fail, with their state on a real server: real commands, killed or stopped at every
// piece that they send to the server and at every request to the cloud. FC_RUNS=<percent> draws fewer or more of them.
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { Refusal, type RunRecord } from '../../src/model/index.js';
import { diskFiles } from '../../src/platform/files.js';
import { machine } from '../../src/platform/host.js';
import { kinds } from '../../src/resources/index.js';
import { readHead } from '../../src/state/backends/registers/head.js';
import { registerKeys } from '../../src/state/backends/registers/keys.js';
import { readLog } from '../../src/state/backends/registers/record-log.js';
import type { Registers } from '../../src/state/backends/registers/port.js';
import { registerStore } from '../../src/state/backends/registers/register-store.js';
import { rescueIn } from '../../src/state/backends/registers/rescue.js';
import { settledPut } from '../../src/state/backends/registers/settled-put.js';
import { fileStore, type Store } from '../../src/state/index.js';
import { APPLY, openBench, type Bench, type Lane, type RemoteLane } from '../crash/bench.js';
import { expectCode, expectKnown, expectQuiet, expectWhole } from '../crash/oracle.js';
import { OPERATIONS } from '../crash/scene.js';
import { folder } from '../support/cli.js';
import { drawn } from '../support/drawn.js';
import { simulatedFiles } from '../support/simulated-files.js';
import { simulatedMachine } from '../support/simulated-machine.js';
import { tcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { intent, result } from '../unit/state/samples.js';
import { stealHead } from '../unit/state/register-bench.js';

/** A new place on a server, which is reached on loopback. */
export interface FaultPlace {
  readonly port: number;
  /** Of the state, through another port. */
  url(port: number): string;
  readonly environment: Readonly<Record<string, string>>;
  connect(port?: number): Registers;
  /** Takes the right to write from the commands of a lane. */
  forbidWrites(lane: Lane): Promise<void> | void;
}

interface FaultLane extends RemoteLane {
  /** The records that a new holder would see. */
  records(): Promise<{ readonly serial: number; readonly records: readonly RunRecord[] }>;
  steal(): Promise<void>;
  readonly place: FaultPlace;
}

/** Lanes wait most of their time. */
const LANES = 6;
const LEASE = 1_000;
const TARGET = 'http://127.0.0.1';
const [clock, random] = [systemClock(), systemRandom()];
const keys = registerKeys('default');

async function faultLane(place: FaultPlace): Promise<FaultLane> {
  const proxy = await tcpProxy('127.0.0.1', place.port);
  const registers = place.connect();
  const simulated = simulatedMachine();
  return {
    place,
    proxy,
    settings: `{ url: "${place.url(proxy.port)}", lock: { lease: 1s } }`,
    environment: place.environment,
    store: () =>
      registerStore({
        registers,
        keys,
        clock,
        random,
        lock: simulated.start(),
        version: '0.1.0',
        locking: { lease: LEASE, wait: 30_000, takeover: true },
        history: { keep: 30, milliseconds: 90 * 24 * 60 * 60 * 1000 },
        rescue: rescueIn('/rescue', registers.location, { files: simulatedFiles(), random, clock }),
      }),
    async records() {
      const { head } = (await readHead(registers, keys))!;
      const log = await readLog(registers, keys, head);
      return { serial: head.serial, records: [...head.carry, ...log.records] };
    },
    steal: () => stealHead(registers, keys),
    save: () => saved(registers),
  };
}

async function saved(registers: Registers): Promise<() => Promise<void>> {
  const all = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const key of registers.list('')) found.push(key);
    return found;
  };
  const before = new Map<string, Uint8Array>();
  for (const key of await all()) before.set(key, (await registers.get(key))!.body);
  return async () => {
    await registers.remove(await all());
    for (const [key, body] of before)
      await settledPut({ registers, clock, random }, key, body, null);
  };
}

interface Moment {
  /** A piece to the server of the state, or a request to the cloud. */
  readonly at: 'piece' | 'request';
  readonly nth: number;
  readonly when: 'before' | 'after';
  readonly parallelism: string;
}

/** Every moment of a run that sends this number of pieces. */
const momentsOf = (pieces: number): readonly Moment[] =>
  ['1', '4'].flatMap((parallelism) =>
    (['piece', 'request'] as const).flatMap((at) =>
      Array.from({ length: at === 'piece' ? pieces : OPERATIONS }, (_, index) => index + 1).flatMap(
        (nth) => (['before', 'after'] as const).map((when) => ({ at, nth, when, parallelism })),
      ),
    ),
  );

/** A number of them, spread over all; more than there are: all of them again. */
const chosen = (moments: readonly Moment[], count: number): readonly Moment[] =>
  Array.from({ length: count }, (_, index) => {
    const at = count < moments.length ? Math.floor((index * moments.length) / count) : index;
    return moments[at % moments.length]!;
  });

const remoteOf = (lane: Lane): FaultLane => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the lanes of this suite are made above
  return lane.remote as FaultLane;
};

/** Starts a run and calls `befall` at a moment of it. */
function runUntil(lane: Lane, { at, nth, when, parallelism }: Moment, befall: () => void) {
  const run = lane.command([...APPLY, '--parallelism', parallelism], { CI: '' });
  const { proxy } = remoteOf(lane);
  if (at === 'request')
    lane.meddle = async (count, carryOut) => {
      if (count === nth && when === 'before') befall();
      const answer = await carryOut();
      if (count === nth && when === 'after') befall();
      return answer;
    };
  else
    proxy.meddle = (_, count) => {
      if (count !== nth) return 'pass';
      if (when === 'after') return befall;
      befall();
      return 'pass';
    };
  return run;
}

const atPeace = (lane: Lane): void => {
  lane.meddle = (_, carryOut) => carryOut();
  remoteOf(lane).proxy.meddle = () => 'pass';
};

/** One more run finishes the work. */
async function finish(lane: Lane): Promise<void> {
  atPeace(lane);
  await expectKnown(lane);
  expectCode(await lane.command([...APPLY, '--lock-wait', '20s']).ended, 0);
  await expectWhole(lane);
  await expectQuiet(lane);
}

const mutations = ({ emulator }: Lane): readonly string[] =>
  emulator.requests.flatMap(({ method, path }) => {
    const kind = [...kinds.keys()].find((one) => path.split('/').includes(one));
    return method === 'GET' ? [] : [`${verbs[method] ?? 'update'} ${kind}`];
  });

const verbs: Readonly<Record<string, string>> = { POST: 'create', DELETE: 'delete' };

/** Requests without an intent of their own among the records. */
function unseen(lane: Lane, records: readonly RunRecord[]): readonly string[] {
  const intents = records.flatMap((one) =>
    one.type === 'intent' ? [`${one.action} ${one.kind}`] : [],
  );
  return mutations(lane).filter((request) => {
    const at = intents.indexOf(request);
    if (at !== -1) intents.splice(at, 1);
    return at === -1;
  });
}

/** Says at which moment a check failed. */
const at = async <T>(moment: Moment, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw new Error(`at ${JSON.stringify(moment)}: ${String(error)}`, { cause: error });
  }
};

/** @returns whether the run was killed before it ended by itself */
const kill = (lane: Lane, moment: Moment): Promise<boolean> =>
  at(moment, async () => {
    const run = runUntil(lane, moment, () => void run.process.kill('SIGKILL'));
    const { signal } = await run.ended;
    await finish(lane);
    return signal === 'SIGKILL';
  });

/** A run is stopped, another one takes its lock and reads the log, and the first one goes on. */
const overtake = (lane: Lane, moment: Moment, isEarly: boolean): Promise<number> =>
  at(moment, async () => {
    const before = (await remoteOf(lane).records()).serial;
    let stopped = (): void => undefined;
    const isStopped = new Promise<void>((resolve) => (stopped = resolve));
    const run = runUntil(lane, moment, () => {
      run.process.kill('SIGSTOP');
      stopped();
    });
    await Promise.race([isStopped, run.ended]);
    const { records: read, steal, store } = remoteOf(lane);
    // Early: the other run is wrong about the silence of the first one.
    if (isEarly) await steal();
    const session = await store().open('overtake', TARGET);
    const { records, serial } = await read();
    const sent = mutations(lane).length;
    run.process.kill('SIGCONT');
    await run.ended;
    const late = mutations(lane).length - sent;
    // A run that compacted before it was stopped has sent everything.
    if (serial === before) expect(unseen(lane, records)).toEqual([]);
    else expect(late).toBe(0);
    await session.release();
    await finish(lane);
    return late;
  });

const objectsOf = async (store: Store): Promise<readonly string[] | undefined> => {
  try {
    return Object.keys((await store.read())?.state.resources ?? {});
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
};

/**
 * Moves a state file with an unfinished run to a place. If the migration is killed, the old place is used once more
 * where it still can be, and the same command finishes it. @returns how many pieces it sent
 */
async function migrating(
  place: FaultPlace,
  killed: { readonly nth: number; readonly when: 'before' | 'after' } | undefined,
): Promise<number> {
  const home = folder({ 'trueup.yaml': 'settings: { state: { lock: { lease: 1s } } }\n' });
  const old = fileStore({
    path: join(home.path, '.trueup', 'state.json'),
    files: diskFiles(random),
    clock,
    random,
    lock: await machine(),
    version: '0.1.0',
  });
  const { proxy, store } = await faultLane(place);
  onTestFinished(() => proxy.close());
  const first = await old.open('apply', TARGET);
  await first.record(intent('1'), result('1'), intent('2'));
  await first.release();
  const migrate = ['state', 'migrate', '--lock-wait', '20s', '--to', place.url(proxy.port)];
  const options = { env: place.environment };
  if (killed) {
    const run = home.start(migrate, options);
    const kill = (): void => void run.child.kill('SIGKILL');
    proxy.meddle = (_, count) => {
      if (count !== killed.nth) return 'pass';
      if (killed.when === 'after') return kill;
      kill();
      return 'cut';
    };
    await run.ended;
    proxy.meddle = () => 'pass';
    const [here, there] = [await objectsOf(old), (await objectsOf(store())) ?? []];
    if (here && there.length > 0)
      throw new Error(`killed at ${JSON.stringify(killed)}: both places hold a state`);
    if (here) {
      const session = await old.open('apply', TARGET);
      await session.record(result('2'));
      await session.release();
    }
  }
  await home.expect(0, migrate, options);
  expect(await objectsOf(old)).toBeUndefined();
  // As where it was killed between its last two steps: a dry run leaves the mark, and the command takes it away.
  const late = await store().open('state migrate', TARGET);
  await late.mark({ from: old.location });
  await late.release();
  await home.expect(0, [...migrate, '--dry-run'], options);
  expect(await objectsOf(store())).toBeUndefined();
  await home.expect(0, migrate, options);
  const moved = await store().read();
  const { pending = [], state } = moved ?? {};
  const names = Object.keys(state?.resources ?? {});
  // What the old place told last is there: the request is settled, or still open.
  expect([killed, names, pending.map(({ op }) => op)]).toEqual(
    names.length === 2
      ? [killed, ['accounts.a1', 'accounts.a2'], []]
      : [killed, ['accounts.a1'], ['2']],
  );
  return proxy.pieces;
}

export function faultSuite(name: string, makePlace: () => FaultPlace): void {
  describe(`runs that fail, with their state on ${name}`, () => {
    let bench: Bench;
    let moments: readonly Moment[];
    beforeAll(async () => {
      bench = await openBench(LANES, () => faultLane(makePlace()));
      await bench.inLane(async (lane) => {
        expectCode(await lane.command([...APPLY, '--parallelism', '1']).ended, 0);
        moments = momentsOf(remoteOf(lane).proxy.pieces);
      });
    }, 120_000);
    afterAll(() => bench.close());
    const inLane = <T>(work: (lane: Lane) => Promise<T>): Promise<T> => {
      let done: T;
      return bench.inLane(async (lane) => void (done = await work(lane))).then(() => done);
    };

    const kills = drawn(12);
    it(
      `that are killed ${kills} times lose nothing and make nothing twice`,
      async () => {
        const killed = await Promise.all(
          chosen(moments, kills).map((moment) => inLane((lane) => kill(lane, moment))),
        );

        expect(killed.filter(Boolean).length).toBeGreaterThan(kills / 2);
      },
      60_000 + kills * 15_000,
    );

    const takeovers = drawn(12);
    it(
      `that are stopped and overtaken ${takeovers} times send nothing whose intent is not seen`,
      async () => {
        const late = await Promise.all(
          chosen(moments, takeovers).map((moment, index) =>
            inLane((lane) => overtake(lane, moment, index % 2 === 0)),
          ),
        );
        expect(late.length).toBe(takeovers);
      },
      60_000 + takeovers * 15_000,
    );

    it('do not read the cloud where the state cannot be reached', () =>
      inLane(async (lane) => {
        const before = lane.emulator.requests.length;
        remoteOf(lane).proxy.setDown(true);
        for (const one of [APPLY, ['plan'], ['drift']].map((args) => lane.command(args).ended)) {
          const ran = await one;
          expectCode(ran, 1);
          expect(ran.stderr).toContain('[backend-unreachable]');
          expect(ran.stderr).toContain('trueup doctor');
        }
        remoteOf(lane).proxy.setDown(false);
        expect(lane.emulator.requests).toHaveLength(before);
      }));

    it.each(['this machine', 'another machine'])(
      'in the middle end with 5, and the next run on %s goes on',
      (machine) =>
        inLane(async (lane) => {
          const { proxy, records } = remoteOf(lane);
          lane.meddle = async (count, carryOut) => {
            if (count === 4) proxy.setDown(true);
            // Requests share a check of the lock for a moment. It is over before this answer.
            if (count >= 4) await clock.sleep(500);
            return carryOut();
          };
          const ran = await lane.command([...APPLY, '--parallelism', '2']).ended;
          proxy.setDown(false);
          expectCode(ran, 5);
          expect(ran.stderr).toContain('[backend-unreachable]');
          expect(mutations(lane).length).toBeLessThan(6);
          expect(unseen(lane, (await records()).records)).toEqual([]);
          const folder = join(lane.cwd, '.trueup', 'rescue');
          const [file] = readdirSync(folder);
          expect(ran.stderr.replaceAll(/\s/g, '')).toContain(file);
          expect(statSync(join(folder, file!)).mode & 0o777).toBe(0o600);
          if (machine === 'another machine') rmSync(folder, { recursive: true });
          atPeace(lane);
          const next = await lane.command([...APPLY, '--lock-wait', '20s']).ended;
          expectCode(next, 0);
          expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
          await expectWhole(lane);
          await expectQuiet(lane);
        }),
    );

    it('while they write the new state end with 5, and the next run writes it', () =>
      inLane(async (lane) => {
        const { proxy, records } = remoteOf(lane);
        proxy.meddle = (piece) => {
          if (
            !/^PUT \S*default\/state\/|insert into[^]*default\/state\//.test(
              piece.toString('latin1'),
            )
          )
            return 'pass';
          proxy.setDown(true);
          return 'cut';
        };
        const ran = await lane.command(APPLY).ended;
        proxy.setDown(false);
        expectCode(ran, 5);
        expect(mutations(lane)).toHaveLength(OPERATIONS);
        expect(unseen(lane, (await records()).records)).toEqual([]);
        await finish(lane);
      }));

    it('in a place that was restored from a backup are refused with 6, until a person accepts it', () =>
      inLane(async (lane) => {
        const restore = await remoteOf(lane).save();
        expectCode(await lane.command(APPLY).ended, 0);
        // What a run saw counts, also if it only read.
        const known = join(lane.cwd, '.trueup', 'serials');
        rmSync(known, { recursive: true });
        expectCode(await lane.command(['plan', '--out', 'p.plan']).ended, 0);
        await restore();
        const sent = mutations(lane).length;
        for (const args of [['plan'], APPLY, ['apply', 'p.plan']]) {
          const ran = await lane.command(args).ended;
          expectCode(ran, 6);
          expect(ran.stderr).toContain('[state-went-back]');
          expect(ran.stderr).toContain('trueup state rollback --accept');
        }
        // A machine that saw no state before has the serial of the plan.
        renameSync(known, `${known}.away`);
        expectCode(await lane.command(['apply', 'p.plan']).ended, 6);
        rmSync(known, { recursive: true });
        renameSync(`${known}.away`, known);
        expect(mutations(lane)).toHaveLength(sent);
        expectCode(await lane.command(['state', 'rollback', '--accept']).ended, 0);
        expectCode(await lane.command(APPLY).ended, 0);
        expect(
          mutations(lane)
            .slice(sent)
            .filter((one) => one.startsWith('create')),
        ).toEqual([]);
        await expectWhole(lane);
        await expectQuiet(lane);
      }));

    it('that may only read plan and audit, and end before the first request that writes', () =>
      inLane(async (lane) => {
        await remoteOf(lane).place.forbidWrites(lane);
        for (const args of [['plan'], ['drift'], ['state', 'list'], ['state', 'history']])
          expectCode(await lane.command(args).ended, 0);
        const looked = await lane.command(['doctor']).ended;
        expect(looked.stdout).toMatch(/^note +state access +.*may only read the state/m);
        const before = lane.emulator.requests.length;
        const ran = await lane.command(APPLY).ended;
        expectCode(ran, 1);
        expect(ran.stderr).toContain('[backend-denied]');
        expect(
          lane.emulator.requests.slice(before).filter(({ method }) => method !== 'GET'),
        ).toEqual([]);
      }));
  });

  const migrations = drawn(10);
  it(
    `a migration to ${name} that is killed ${migrations} times never leaves two states`,
    async () => {
      const whole = await migrating(makePlace(), undefined);
      const moments = Array.from({ length: whole }, (_, index) => index + 1).flatMap((nth) =>
        (['before', 'after'] as const).map((when) => ({ nth, when })),
      );
      for (let index = 0; index < migrations; index += 1)
        await migrating(
          makePlace(),
          moments[Math.floor((index * moments.length) / migrations) % moments.length],
        );
    },
    60_000 + migrations * 10_000,
  );

  describe(`registers on ${name}, with a network that loses answers`, () => {
    let proxy: TcpProxy;
    let place: FaultPlace;
    beforeAll(async () => {
      place = makePlace();
      proxy = await tcpProxy('127.0.0.1', place.port);
    });
    afterAll(() => proxy.close());

    it('settle a thousand writes out of a thousand', async () => {
      const [through, direct] = [place.connect(proxy.port), place.connect()];
      await direct.prepare?.();
      const tools = { registers: through, clock, random };
      // The first answers tell how the server compares versions.
      const begun = await settledPut(tools, 'begun', Buffer.from('1'), null);
      if (begun === 'conflict') throw new Error('the key is new');
      await settledPut(tools, 'begun', Buffer.from('2'), begun.version);
      let lost = 0;
      proxy.meddle = (piece) => {
        if (!/^PUT |insert into|update "/.test(piece.toString('latin1'))) return 'pass';
        lost += 1;
        return 'lose';
      };
      let settled = 0;
      for (let batch = 0; batch < 125; batch += 1)
        await Promise.all(
          [0, 1, 2, 3].map(async (index) => {
            const key = `lost/${batch}/${index}`;
            const [first, second] = [1, 2].map((nth) => Buffer.from(`${key} ${nth}`));
            const made = await settledPut(tools, key, first!, null);
            if (made === 'conflict') return;
            settled += 1;
            if ((await settledPut(tools, key, second!, made.version)) !== 'conflict') settled += 1;
            expect(Buffer.from((await direct.get(key))!.body).toString()).toBe(`${key} 2`);
          }),
        );
      expect(settled).toBe(1_000);
      expect(lost).toBe(1_000);
    }, 240_000);
  });
}
