// A run over a queue: which tenants are queued, what a cancellation ends, and whether a result is a worker's to store.
import { describe, expect, test } from 'vitest';
import {
  cancellationOf,
  cancelWaiting,
  enqueue,
  jobsAsked,
  sayQueued,
  keepNotRun,
  recordCancellation,
  recordedJobs,
  refuseShards,
  roundOf,
  shared,
} from '../../../src/cli/fleet-queue.js';
import { processesWith } from '../../../src/cli/fleet-context.js';
import {
  lastResults,
  queueLines,
  status,
  statusOf,
} from '../../../src/cli/commands/fleet-queued-runs.js';
import { resultRegisters, runRecords, type ResultPlace } from '../../../src/cli/fleet-results.js';
import { fateOf, isBusy } from '../../../src/cli/run-fleet-job.js';
import type { Command, Context } from '../../../src/cli/context.js';
import { tenantJobIn, type TenantJob } from '../../../src/fleet/tenant-job.js';
import type { Tenant } from '../../../src/fleet/tenant.js';
import {
  exits,
  refuse,
  type Exit,
  type FleetRun,
  type QueuedJobs,
  type TenantResult,
} from '../../../src/model/index.js';
import { FILE, fleetOf } from '../../support/fleet-home.js';
import { inProcess } from '../../support/in-process.js';
import { memoryQueue, type MemoryQueue } from '../../support/memory-queue.js';
import { memoryRegisters } from '../../support/memory-registers.js';
import { simulatedMachine } from '../../support/simulated-machine.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';
import { tenantResult } from '../../support/tenant-result.js';

const jobs: QueuedJobs = { command: 'drift', env: null, flags: {}, bundle: null, expiry: 900 };
const clock = simulatedClock();
const random = seededRandom(1);

const result = (tenant: string, exit: Exit, more: Partial<TenantResult> = {}): TenantResult =>
  tenantResult(tenant, { exit, status: exit === exits.done ? 'unchanged' : 'failed', ...more });

const tenants = ['a', 'b', 'c', 'd'];

interface Run {
  readonly queue: MemoryQueue;
  readonly place: ResultPlace;
  /** As one more process sees it. */
  queued(): Promise<number>;
  waiting(): readonly string[];
}

async function begunRun(): Promise<Run> {
  const place = resultRegisters(memoryRegisters(clock, random).connect(), {
    clock,
    random,
    lock: simulatedMachine().start(),
    locking: { lease: 30_000 },
  });
  const record: FleetRun = {
    format_version: '1.0',
    run: 'r',
    command: 'drift',
    started_at: '',
    tenants,
    bundle: null,
    queued: jobs,
  };
  await runRecords(place, 'r').begin(record);
  const queue = memoryQueue();
  return {
    queue,
    place,
    queued: () =>
      enqueue(queue, { run: 'r', place, records: runRecords(place, 'r') }, { tenants, jobs }),
    waiting: () =>
      queue.jobs.flatMap(({ state, data }) =>
        state === 'created' ? (tenantJobIn(data)?.tenant ?? []) : [],
      ),
  };
}

describe('queueing', () => {
  test('leaves out what has a final result or a job', async () => {
    const { place, queued, waiting, queue } = await begunRun();
    const records = runRecords(place, 'r');
    await records.write(result('a', exits.done));
    await records.write(result('b', exits.error));
    expect(await queued()).toBe(3);
    expect(waiting()).toEqual(['b', 'c', 'd']);
    expect(await queued()).toBe(0);
    const [first] = await queue.fetch(1);
    expect(await queued()).toBe(0);
    await queue.complete(first!.id);
    expect(await queued()).toBe(1);
    expect(waiting()).toEqual(['c', 'd', 'b']);
  });
  test('is recorded as it was asked for', async () => {
    const { place } = await begunRun();
    const run = await runRecords(place, 'r').run();
    expect(recordedJobs(run!)).toEqual(jobs);
    const { queued: _, ...alone } = run!;
    expect(() => recordedJobs(alone)).toThrow('the run r was not queued');
    expect(() => recordedJobs(alone)).toThrow(
      expect.objectContaining({
        diagnostics: [
          expect.objectContaining({
            detail:
              'To resume the run, type the command that began it again, with --run r.\nTo cancel it, press Ctrl-C where it runs.',
          }),
        ],
      }),
    );
  });
});

test('a tenant that ends while the status of its run is asked for is counted', async () => {
  const { place, queue, queued } = await begunRun();
  await queued();
  const run = (await runRecords(place, 'r').run())!;
  const ending = {
    ...queue,
    async unfinished() {
      for (const tenant of tenants) await runRecords(place, 'r').write(result(tenant, exits.done));
      return [];
    },
  };
  const now = await statusOf({ run, place }, ending, lastResults({ run, place }));
  expect(Object.values(now.results)).toEqual([tenants.length]);
  expect([now.cancelled, now.queue?.waiting]).toEqual([false, 0]);
});

test.each([
  [['--wait'], 2, 'Retrying.'],
  [[], 0, 'cannot be reached'],
])('a status with %j looks again %i times while the servers are away', async (words, most, why) => {
  const states = 'state: "postgres://u@127.0.0.1:1/x?schema=${tenant}"';
  const { cwd, env } = await fleetOf(['a'], FILE.replace('[base] }', `[base], ${states} }`));
  let looks = 0;
  const run: Command = (context) => {
    const sleep = async (time: number): Promise<void> => {
      if (time < 2_000) return;
      if ((looks += 1) === 2) return refuse('enough', 'seen enough');
    };
    return status({ ...context, clock: { ...context.clock, sleep } }, ['r']);
  };
  const said = await inProcess(run, ['fleet', 'status', 'r', ...words], { cwd, env });
  expect(looks).toBe(most);
  expect(said.stderr.split(why), said.stderr).toHaveLength(2);
});

test('the status of a run names the tenants that are being run', async () => {
  const { place, queue, queued } = await begunRun();
  await queued();
  await queue.fetch(2);
  const run = (await runRecords(place, 'r').run())!;
  const now = await statusOf({ run, place }, queue, lastResults({ run, place }));
  expect(now.queue).toEqual({ waiting: 2, active: 2, running: ['a', 'b'], held: [], given_up: 0 });
});

test('the status of a run names the run that holds a tenant that waits', async () => {
  const { place, queue, queued } = await begunRun();
  const other = (tenant: string) => {
    const job: TenantJob = { ...jobs, run: 'before', tenant, round: 0, tries: 0 };
    return { data: { ...job, flags: {} }, priority: 0, expiry: 900 };
  };
  await queue.add(['c', 'b', 'z'].map(other));
  // Their worker is killed, and the queue does not know yet.
  await queue.fetch(3);
  await queue.add([other('d')]);
  await queued();
  const run = (await runRecords(place, 'r').run())!;
  const now = await statusOf({ run, place }, queue, lastResults({ run, place }));
  expect(now.queue).toEqual({
    waiting: 4,
    active: 0,
    running: [],
    held: ['b', 'c'].map((tenant) => ({ tenant, run: 'before' })),
    given_up: 0,
  });
  expect(queueLines(now.queue!)).toBe('Waiting for another run: b (run before), c (run before).\n');
});

const why = { reason: 'enough', interrupts: true, at: '2026-01-01T00:00:00Z' };

describe('a cancellation', () => {
  test('ends what was queued before it, and nothing that is queued later', async () => {
    const { place, queue, queued, waiting } = await begunRun();
    await queued();
    await queue.fetch(1);
    expect(await roundOf(place, 'r')).toBe(0);
    expect(await recordCancellation(place, { run: 'r', round: 0 }, why)).toBe(true);
    expect(await recordCancellation(place, { run: 'r', round: 0 }, why)).toBe(false);
    expect(await cancelWaiting(queue, 'r')).toEqual({ waiting: ['b', 'c', 'd'], active: 1 });
    expect(await cancellationOf(place, { run: 'r', round: 0 })).toEqual(why);
    expect(await roundOf(place, 'r')).toBe(1);
    // What is still ending is queued, too: it waits for its end.
    const run = (await runRecords(place, 'r').run())!;
    const isCancelled = async (asked: MemoryQueue | undefined) =>
      (await statusOf({ run, place }, asked, lastResults({ run, place }))).cancelled;
    expect([await isCancelled(queue), await isCancelled(undefined)]).toEqual([true, true]);
    expect(await queued()).toBe(4);
    expect([await isCancelled(queue), await isCancelled(undefined)]).toEqual([false, false]);
    expect(waiting()).toEqual(['a', 'b', 'c', 'd']);
    const again = queue.jobs.at(-1)!;
    const { round } = tenantJobIn(again.data)!;
    expect(round).toBe(1);
    expect(await cancellationOf(place, { run: 'r', round })).toBeUndefined();
    const [next] = await queue.fetch(1);
    expect(tenantJobIn(next!.data)).toMatchObject({ tenant: 'a', round: 1 });
    expect(await isBusy(queue, { tenant: 'a' }, next!)).toBe(true);
    expect(await queued()).toBe(0);
  });
  test('is a result of tenants that have none', async () => {
    const { place } = await begunRun();
    await runRecords(place, 'r').write(result('a', exits.error));
    await keepNotRun({ clock }, { run: 'r', place, command: 'drift' }, ['a', 'b']);
    const records = runRecords(place, 'r');
    expect(await records.last('a')).toMatchObject({ status: 'failed', attempt: 1 });
    expect(await records.last('b')).toMatchObject({ status: 'not-run', exit: null });
  });
  test('is not lost where it cannot be stored: then it is to be asked again', async () => {
    const { place } = await begunRun();
    const full: ResultPlace = { ...place, create: () => refuse('backend-unreachable', 'gone') };
    const keep = (at: ResultPlace) =>
      keepNotRun({ clock }, { run: 'r', place: at, command: 'drift' }, ['a', 'b']);
    await expect(keep(full)).rejects.toThrow('gone');
    await keep(place);
    for (const name of ['a', 'b'])
      expect(await runRecords(place, 'r').last(name)).toMatchObject({ status: 'not-run' });
  });
});

test('one tenant is asked about without the results of others', async () => {
  const { place } = await begunRun();
  for (const name of ['a', 'ab']) await runRecords(place, 'r').write(result(name, exits.done));
  await runRecords(place, 'r').write(result('a', exits.error));
  const listed: string[] = [];
  const watched: ResultPlace = {
    ...place,
    list: (folder, begin = '') => {
      listed.push(`${folder}${begin}`);
      return place.list(folder, begin);
    },
  };
  expect(await runRecords(watched, 'r', 'a').last('a')).toMatchObject({ attempt: 2, exit: 1 });
  expect(listed).toEqual(['fleet/r/a']);
});

describe('a worker', () => {
  const working = async () => {
    const queue = memoryQueue();
    const job: TenantJob = { ...jobs, run: 'r', tenant: 'a', round: 0, tries: 0 };
    const data = { ...job, flags: {} };
    await queue.add([{ data, priority: 0, expiry: 900 }]);
    const [fetched] = await queue.fetch(1);
    const controller = new AbortController();
    const asked = { job, fetched: fetched!, signal: new AbortController().signal };
    const context = { signal: controller.signal } as Context;
    const fate = (end: TenantResult, tries = 0, isDone = false) =>
      fateOf({ context, queue }, { ...asked, job: { ...job, tries } }, end, isDone);
    return { queue, data, fetched: fetched!, fate, controller };
  };
  const outage = {
    diagnostics: [{ severity: 'error', code: 'backend-unreachable', summary: 'gone' }],
  } as const;

  test('stores a result that another worker may still get only where it is sure', async () => {
    const { fate, queue, fetched } = await working();
    const all = [exits.done, exits.changes, exits.blocked, exits.stale, exits.locked, exits.error];
    const fates = () => Promise.all(all.map((exit) => fate(result('a', exit))));
    expect(await fates()).toEqual(all.map(() => 'store'));
    const [sure, not] = ['store', 'superseded'];
    queue.lose(fetched.id);
    expect(await fates()).toEqual([sure, sure, sure, not, not, not]);
    await queue.fetch(1);
    expect(await fates()).toEqual([sure, sure, sure, not, not, not]);
  });
  test('stores nothing over what another worker finished', async () => {
    const { fate } = await working();
    for (const exit of [exits.done, exits.stale, exits.error])
      expect(await fate(result('a', exit), 0, true)).toBe('superseded');
  });
  test('puts a tenant back that its own end interrupted, not one that was cancelled', async () => {
    const { fate, controller } = await working();
    const interrupted = result('a', exits.interrupted, { status: 'interrupted' });
    expect(await fate(interrupted)).toBe('store');
    controller.abort();
    expect(await fate(interrupted)).toBe('again');
    expect(await fate(result('a', exits.done))).toBe('store');
  });
  test('puts a tenant back three times whose server is not there, if nothing was written', async () => {
    const { fate } = await working();
    const failed = result('a', exits.error, outage);
    for (const tries of [0, 1, 2]) expect(await fate(failed, tries)).toBe('again');
    expect(await fate(failed, 3)).toBe('store');
    expect(await fate(result('a', exits.undecided, outage))).toBe('store');
    expect(await fate(result('a', exits.error))).toBe('store');
    const written = [
      { address: 'accounts.x', outcome: 'done' },
    ] as unknown as TenantResult['outcomes'];
    expect(await fate(result('a', exits.error, { ...outage, outcomes: written }))).toBe('store');
  });
  test('lets two runs of a tenant follow each other', async () => {
    const { queue, data, fetched } = await working();
    await queue.add([
      { data: { ...data, run: 'other' }, priority: 0, expiry: 900 },
      { data: { ...data, run: 'other', tenant: 'b' }, priority: 0, expiry: 900 },
    ]);
    const [second, third] = await queue.fetch(2);
    expect(await isBusy(queue, { tenant: 'a' }, fetched)).toBe(false);
    expect(await isBusy(queue, { tenant: 'a' }, second!)).toBe(true);
    expect(await isBusy(queue, { tenant: 'b' }, third!)).toBe(false);
    const [one, other] = [
      { ...second!, startedOn: fetched.startedOn, id: 'i' },
      { ...second!, startedOn: fetched.startedOn },
    ];
    expect(await isBusy(queue, { tenant: 'a' }, one)).toBe(false);
    expect(await isBusy(queue, { tenant: 'a' }, other)).toBe(true);
    await queue.complete(fetched.id);
    expect(await isBusy(queue, { tenant: 'a' }, second!)).toBe(false);
  });
  test('shares the rate of a credential with as many workers as may use it at once', () => {
    const tenant = (name: string, prefix: string) =>
      ({ name, credentials: { env_prefix: prefix } }) as Tenant;
    const selected = [tenant('a', 'X_'), tenant('b', 'X_'), tenant('c', 'C_')];
    const credentials = new Map([
      ['a', 'x'],
      ['b', 'x'],
      ['c', 'c'],
    ]);
    const share = (name: string, workers: number) =>
      processesWith(
        selected.find((one) => one.name === name)!,
        { selected, shards: 1, workers, credentials },
      );
    expect([share('a', 1), share('a', 2), share('a', 8), share('c', 8)]).toEqual([1, 2, 2, 1]);
  });
});

describe('what cannot be used with a queue is refused', () => {
  const asked = (flags: Context['flags']) =>
    jobsAsked({ flags, environment: {} } as Context, 'drift');
  test.each([
    [{ shard: '1/2' }, '--shard cannot be used'],
    [{ report: ['json=x'] }, '--report cannot be used'],
    [{ detailedExitcode: true }, '--detailed-exitcode cannot be used'],
    [{ format: 'json' }, '--format cannot be used'],
    [{ jobExpiry: '1m' }, 'from 15m'],
    [{ var: ['token=x'] }, 'named like a secret'],
  ])('%j', (flags, said) => {
    expect(() => asked({ engine: 'pgboss', ...flags })).toThrow(said);
  });
  test.each([
    [{ queue: 'postgres://h/d' }, '--queue can be used only with --engine'],
    [{ jobExpiry: '20m' }, '--job-expiry can be used only with --engine'],
  ])('and without one: %j', (flags, said) => {
    expect(() => asked(flags)).toThrow(said);
  });
  test('and nothing else', () => {
    expect(asked({})).toBeUndefined();
    expect(asked({ engine: 'pgboss', var: ['x=y'], format: 'text' })).toEqual({
      ...jobs,
      flags: { var: ['x=y'] },
    });
    expect(() => refuseShards({ shards: 2 })).toThrow('--engine queues all tenants');
    refuseShards({ shards: 1 });
    expect(() => shared(undefined)).toThrow('stored where all workers can reach them');
    expect(shared('s3://x/y')).toBe('s3://x/y');
  });
});

test.each([
  [2, true],
  [0, false],
])('where %i tenants were queued, a worker is asked for: %s', (added, expected) => {
  let said = '';
  const out = { write: (text: string) => (said += text) } as unknown as Context['out'];
  const queue = 'postgres://h/d?schema=q';
  sayQueued({ out, flags: { queue } }, 'r', { added, all: 3 });
  expect(said).toContain(`trueup fleet status r --queue '${queue}'\n`);
  expect(said.includes(`trueup fleet worker --queue '${queue}'\n`)).toBe(expected);
});
