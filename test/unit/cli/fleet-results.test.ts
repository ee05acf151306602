// The results of a fleet, in a folder and in registers: each is written once, whoever writes it and whatever gets lost.
import { describe, expect, test } from 'vitest';
import {
  checkedRun,
  resultFolder,
  resultRegisters,
  runRecords,
  type ResultPlace,
} from '../../../src/cli/fleet-results.js';
import { enqueue, recordCancellation } from '../../../src/cli/fleet-queue.js';
import { storedEntry, storedStops } from '../../../src/cli/fleet-stored-run.js';
import { entryOf, withoutResult, type RunStop } from '../../../src/fleet/merge.js';
import {
  Refusal,
  warning,
  type FleetRun,
  type QueuedJobs,
  type TenantResult,
} from '../../../src/model/index.js';
import { diskFiles } from '../../../src/platform/files.js';
import { systemRandom } from '../../../src/platform/random.js';
import type { Registers } from '../../../src/state/backends/registers/port.js';
import { freshFolder } from '../../support/in-process.js';
import { memoryQueue } from '../../support/memory-queue.js';
import { memoryRegisters, type MemoryFaults } from '../../support/memory-registers.js';
import { tenantResult } from '../../support/tenant-result.js';
import { simulatedMachine } from '../../support/simulated-machine.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';

const run: FleetRun = {
  format_version: '1.0',
  run: 'r',
  command: 'drift',
  started_at: '2026-01-01T00:00:00Z',
  tenants: ['acme', 'globex.com'],
  bundle: null,
};
const result = (tenant: string, summary: string): TenantResult => tenantResult(tenant, { summary });

const jobs: QueuedJobs = { command: 'drift', env: null, flags: {}, bundle: null, expiry: 900 };
const CANCELLATION = { interrupts: true, at: '' };

const stop = (summary: string): RunStop => ({
  exit: 3,
  diagnostics: [{ severity: 'error', code: 'c', summary }],
});

/** Each is the place as one more process sees it. */
const places: Readonly<Record<string, () => () => ResultPlace>> = {
  'a folder': () => {
    const cwd = freshFolder();
    return () => resultFolder({ files: diskFiles(systemRandom()), cwd });
  },
  registers: () => inMemory({}),
  'registers whose answers get lost': () => inMemory({ lost: 0.4, dropped: 0.2 }),
};

type Putting = Pick<Registers, 'put'>;

/** @param through changes how writes reach the registers */
function inMemory(
  faults: MemoryFaults,
  through: (plain: Registers) => Partial<Putting> = () => ({}),
): () => ResultPlace {
  const clock = simulatedClock();
  const random = seededRandom(7);
  const memory = memoryRegisters(clock, random);
  Object.assign(memory.faults, faults);
  const tools = {
    clock: { ...clock, sleep: () => Promise.resolve() },
    random,
    lock: simulatedMachine().start(),
    locking: { lease: 30_000 },
  };
  const plain = memory.connect();
  return () => resultRegisters({ ...plain, ...through(plain) }, tools);
}

const repeating = (plain: Registers): Putting => ({
  async put(...asked) {
    await plain.put(...asked);
    return plain.put(...asked);
  },
});

describe.each(Object.entries(places))('in %s', (_, make) => {
  test('a run is begun once, and belongs to one command and the same tenants', async () => {
    const connect = make();
    expect(await runRecords(connect(), 'r').run()).toBeUndefined();
    expect(await runRecords(connect(), 'r').begin(run)).toBe(false);
    expect(await runRecords(connect(), 'r').begin({ ...run, started_at: 'later' })).toBe(true);
    expect(await runRecords(connect(), 'r').run()).toMatchObject(run);
    for (const other of [{ command: 'plan' }, { tenants: ['acme'] }, { bundle: 'b' }] as const)
      await expect(runRecords(connect(), 'r').begin({ ...run, ...other })).rejects.toThrow(
        'about other tenants',
      );
  });

  test('a result is never overwritten: the next one stands beside it, and counts', async () => {
    const connect = make();
    await runRecords(connect(), 'r').begin(run);
    const [one, two] = [runRecords(connect(), 'r'), runRecords(connect(), 'r')];
    expect((await one.write(result('globex.com', 'first'))).attempt).toBe(1);
    expect((await two.write(result('globex.com', 'second'))).attempt).toBe(2);
    expect((await one.write(result('globex.com', 'third'))).attempt).toBe(3);
    expect(await one.last('acme')).toBeUndefined();
    expect(await runRecords(connect(), 'r').last('globex.com')).toMatchObject({
      attempt: 3,
      summary: 'third',
    });
  });

  test('why processes stopped holds until others have run their tenants', async () => {
    const connect = make();
    const end = (names: readonly string[], ...stops: readonly RunStop[]): Promise<void> =>
      runRecords(connect(), 'r').end({ tenants: names, stops });
    const said = async (): Promise<readonly string[]> =>
      (await runRecords(connect(), 'r').stops()).map(({ diagnostics }) => diagnostics[0]!.summary);
    await end(['a', 'b']);
    expect([await said(), await connect().list('fleet/')]).toEqual([[], []]);
    await Promise.all([end(['a'], stop('x')), end(['b'], stop('x')), end(['c'], stop('y'))]);
    expect((await said()).toSorted()).toEqual(['x', 'y']);
    await end(['a']);
    expect((await said()).toSorted()).toEqual(['x', 'y']);
    await end(['b', 'c'], stop('z'));
    expect(await said()).toEqual(['z']);
    await end(['a', 'b', 'c']);
    expect(await said()).toEqual([]);
  });

  test('a run that was cancelled in a queue says why, while it left tenants', async () => {
    const place = make()();
    const records = runRecords(place, 'r');
    const stored = { run, records, place };
    const left = new Map([['a', withoutResult('a', 'not-run', '')]]);
    expect(await storedStops(stored, left)).toEqual([]);
    for (const [round, reason] of ['old', 'a person cancelled it'].entries())
      await recordCancellation(place, { run: 'r', round }, { ...CANCELLATION, reason });
    expect(await storedStops(stored, left)).toMatchObject([
      {
        exit: 1,
        diagnostics: [
          {
            summary: 'The run was cancelled: a person cancelled it.',
            detail: 'To go on, with --queue or TRUEUP_QUEUE as before: trueup fleet resume r',
          },
        ],
      },
    ]);
    expect(await storedStops(stored, new Map([['a', entryOf(result('a', ''))]]))).toEqual([]);
    // Until it is resumed, whatever its tenants have as results by then; and again once it is cancelled again.
    await records.begin(run);
    const queued = { tenants: run.tenants, jobs };
    expect(await enqueue(memoryQueue(), { ...stored, run: 'r' }, queued)).toBe(2);
    expect(await storedStops(stored, left)).toEqual([]);
    await recordCancellation(place, { run: 'r', round: 2 }, { ...CANCELLATION, reason: 'again' });
    expect(await storedStops(stored, left)).toMatchObject([
      { diagnostics: [{ summary: 'The run was cancelled: again.' }] },
    ]);
  });

  test('a reason that cannot be read is an error of the report', async () => {
    const place = make()();
    await place.create('fleet/r@ended-1', '{"format_version":"1.0","run":"r","tenants":["a"]}');
    const records = runRecords(place, 'r');
    expect(await storedStops({ run, records, place }, new Map())).toMatchObject([
      { exit: 1, diagnostics: [{ code: 'damaged-result', severity: 'error' }] },
    ]);
  });

  test('processes that write at once all find room', async () => {
    const connect = make();
    const written = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        runRecords(connect(), 'r').write(result('acme', `of ${at}`)),
      ),
    );
    expect(written.map(({ attempt }) => attempt).toSorted((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8,
    ]);
  });
});

test('what a proxy on the way writes twice is there once', async () => {
  const place = inMemory({}, repeating)();
  const records = runRecords(place, 'r');
  expect(await records.begin(run)).toBe(false);
  expect((await records.write(result('acme', 'first'))).attempt).toBe(1);
  expect((await records.write(result('acme', 'second'))).attempt).toBe(2);
  await records.end({ tenants: ['acme'], stops: [stop('x')] });
  const cancellation = { ...CANCELLATION, reason: 'a' };
  const cancel = () => recordCancellation(place, { run: 'r', round: 0 }, cancellation);
  expect([await cancel(), await cancel()]).toEqual([true, false]);
  expect(await place.list('fleet/')).toEqual([
    'fleet/r',
    'fleet/r/acme',
    'fleet/r/acme@2',
    'fleet/r@cancelled-1',
    'fleet/r@ended-1',
  ]);
});

test('equal records of two processes are kept both', async () => {
  const connect = inMemory({});
  const [one, two, three] = [1, 2, 3].map(() => runRecords(connect(), 'r'));
  expect([await one!.begin(run), await two!.begin(run)]).toEqual([false, true]);
  await one!.end({ tenants: ['acme'], stops: [stop('x')] });
  await two!.end({ tenants: ['acme'], stops: [] });
  expect(await three!.stops()).toEqual([]);
  await three!.end({ tenants: ['acme'], stops: [stop('x')] });
  expect(await three!.stops()).toEqual([stop('x')]);
  const twice = [await one!.write(result('acme', 's')), await two!.write(result('acme', 's'))];
  expect(twice.map(({ attempt }) => attempt)).toEqual([1, 2]);
});

describe('the writes of an apply', () => {
  const applied: FleetRun = { ...run, command: 'apply' };
  const wrote = (kinds: TenantResult['kinds']): TenantResult =>
    tenantResult('acme', { command: 'apply', kinds });
  const rules = (create: number, objects = 5): TenantResult['kinds'] => ({
    alert_rules: { changed: 1, objects, writes: { create, update: 1, delete: 0 } },
  });
  const total = {
    alert_rules: { changed: 1, objects: 5, writes: { create: 5, update: 2, delete: 0 } },
  };

  test('are those of all attempts, also of other processes and of one that wrote nothing', async () => {
    const connect = inMemory({});
    const [one, two, three] = [1, 2, 3].map(() => runRecords(connect(), 'r'));
    await one!.begin(applied);
    expect((await one!.write(wrote(rules(2)))).kinds).toEqual(rules(2));
    expect((await two!.write(wrote(rules(3)))).kinds).toEqual(total);
    const none = await three!.write(wrote({}));
    const sum = { alert_rules: { ...total.alert_rules, changed: 0, objects: 0 } };
    expect([none.attempt, none.kinds]).toEqual([3, sum]);
    expect((await runRecords(connect(), 'r').last('acme'))?.kinds).toEqual(sum);
  });

  test('of an attempt that is damaged are left out', async () => {
    const place = inMemory({})();
    await runRecords(place, 'r').begin(applied);
    await place.create('fleet/r/acme', '{');
    const { attempt, kinds } = await runRecords(place, 'r').write(wrote(rules(3)));
    expect([attempt, kinds]).toEqual([2, rules(3)]);
  });

  test('are not those that an audit names', async () => {
    const records = runRecords(inMemory({})(), 'r');
    await records.begin(run);
    const audit = (): TenantResult => tenantResult('acme', { kinds: rules(2) });
    await records.write(audit());
    expect((await records.write(audit())).kinds).toEqual(rules(2));
  });
});

test('the search for a free number ends', async () => {
  const behindCache = runRecords(inMemory({}, () => ({ put: async () => 'conflict' }))(), 'r');
  let asked = 0;
  const create = async () => {
    if ((asked += 1) > 20_000) throw new Error('without end');
    return false;
  };
  const full = runRecords({ ...inMemory({})(), create, read: async () => '' }, 'r');
  const end = { tenants: ['acme'], stops: [stop('x')] };
  for (const [records, why] of [
    [behindCache, 'it rejects every write of a value that it does not return'],
    [full, 'holds 10000 results of one tenant, or of processes, in this run'],
  ] as const) {
    await expect(records.write(result('acme', 's'))).rejects.toThrow(why);
    await expect(records.end(end)).rejects.toThrow(why);
  }
});

test('a place that is silent after an interruption delays the end once, and a slow one takes the results', async () => {
  const clock = simulatedClock();
  const memory = memoryRegisters(clock, seededRandom());
  const plain = memory.connect();
  let waits = (): Promise<void> => Promise.resolve();
  const registers: Registers = {
    ...plain,
    get: async (key) => waits().then(() => plain.get(key)),
    put: async (...asked) => waits().then(() => plain.put(...asked)),
  };
  const end = { tenants: ['acme', 'globex.com'], stops: [stop('The run was interrupted.')] };
  const interruptedRun = async (name: string, then: () => Promise<void>) => {
    const ended = new AbortController();
    const records = runRecords(
      resultRegisters(registers, {
        clock,
        random: seededRandom(),
        lock: simulatedMachine().start(),
        locking: { lease: 30_000 },
        signal: ended.signal,
      }),
      name,
    );
    waits = () => Promise.resolve();
    await records.begin({ ...run, run: name });
    const wait = { signal: ended.signal, wait: 0 };
    const claimed = records.alone(name, undefined, wait, async () => {
      waits = then;
      ended.abort(new Error('SIGINT'));
    });
    const begun = clock.elapsed();
    const outcomes = [
      await claimed.then(() => 'freed'),
      await records.write(result('acme', 's')).catch(String),
      await records.write(result('globex.com', 's')).catch(String),
      await records.end(end).catch(String),
    ];
    return { outcomes, milliseconds: clock.elapsed() - begun };
  };
  const silent = await interruptedRun('r', () => clock.sleep(120_000));
  expect(silent.milliseconds).toBeLessThan(35_000);
  for (const one of silent.outcomes.slice(1))
    expect(one).toContain('interrupted while it waited for a response of the state at memory://');
  const slow = await interruptedRun('slow', () => clock.sleep(8_000));
  expect(slow.outcomes).not.toContainEqual(expect.stringContaining('interrupted'));
  expect(memory.written.filter((key) => key.startsWith('fleet/slow'))).toHaveLength(4);
});

test('what failed once is asked for again', async () => {
  const memory = memoryRegisters(simulatedClock(), seededRandom());
  let fails = 2;
  const registers = {
    ...memory.connect(),
    async prepare() {
      if ((fails -= 1) >= 0) throw new Error('no connection');
    },
  };
  const tools = {
    clock: simulatedClock(),
    random: seededRandom(),
    lock: simulatedMachine().start(),
    locking: { lease: 30_000 },
  };
  const records = runRecords(resultRegisters(registers, tools), 'r');
  for (let attempt = 0; attempt < 2; attempt += 1)
    await expect(records.begin(run)).rejects.toThrow('no connection');
  expect(await records.begin(run)).toBe(false);
  memory.faults.down = true;
  await expect(records.last('acme')).rejects.toThrow('cannot be reached');
  memory.faults.down = false;
  await records.write(result('acme', 'first'));
  expect(await records.last('acme')).toMatchObject({ summary: 'first' });
});

test('a run that was begun without a queue is not queued', async () => {
  const place = inMemory({})();
  await runRecords(place, 'r').begin(run);
  const queued = { command: 'drift', env: null, flags: {}, bundle: null } as unknown as NonNullable<
    FleetRun['queued']
  >;
  await expect(runRecords(place, 'r').begin({ ...run, queued })).rejects.toThrow(
    'was started without a queue',
  );
});

test('a run belongs to one fleet, and is queued with the same flags', async () => {
  const place = inMemory({})();
  const queued: NonNullable<FleetRun['queued']> = {
    command: 'drift',
    env: 'prod',
    flags: { var: ['a=b'] },
    bundle: null,
    expiry: 900,
  };
  const states = 's3://b/red-${tenant}';
  const begin = (more: Partial<FleetRun>) =>
    runRecords(place, 'r').begin({ ...run, queued, states, ...more });
  expect(await begin({})).toBe(false);
  expect(await begin({ queued: { ...queued, expiry: 1800 } })).toBe(true);
  for (const other of [{ env: null }, { flags: {} }, { flags: { var: ['a=c'] } }])
    await expect(begin({ queued: { ...queued, ...other } })).rejects.toThrow(
      'the run r was queued with another --env',
    );
  await expect(begin({ states: 's3://b/blue-${tenant}' })).rejects.toThrow(
    'the run r is of another fleet, with its states at s3://b/red-${tenant}',
  );
});

test.each(['', 'a/b', '../x', '1a', 'a.b', 'x'.repeat(101)])('%j is no name of a run', (name) => {
  expect(() => checkedRun(name)).toThrow('is not a valid run name');
});

test('a result that cannot be read gives the first error as the reason', async () => {
  const records = runRecords(places['a folder']!()(), 'r');
  const refused = new Refusal([
    warning('w', 'it is slow'),
    { severity: 'error', code: 'e', summary: 'it cannot be read' },
  ]);
  const last = () => Promise.reject(refused);
  expect((await storedEntry({ ...records, last }, 'a'))?.summary).toBe('it cannot be read');
});
