// A worker of a queue in memory, over emulated accounts: what it puts back, what it counts, and what it says. Results are
// registers in memory.
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { schedulesOf } from '../../../src/cli/commands/fleet-worker.js';
import type { Context } from '../../../src/cli/context.js';
import { begun } from '../../../src/cli/fleet-command.js';
import { fleetHere } from '../../../src/cli/fleet-context.js';
import {
  bundleKey,
  cancellationOf,
  enqueue,
  recordCancellation,
} from '../../../src/cli/fleet-queue.js';
import { CANCELLED } from '../../../src/cli/fleet-run.js';
import { resultRegisters, runRecords, type ResultPlace } from '../../../src/cli/fleet-results.js';
import { doJob, watchJobs, type FleetWorker } from '../../../src/cli/run-fleet-job.js';
import { fleetLines } from '../../../src/cli/show-fleet-progress.js';
import { limitersByKey } from '../../../src/client/rate-limit.js';
import { parseFault } from '../../../src/emulator/index.js';
import { laneCount } from '../../../src/fleet/lanes.js';
import { fleetImpact } from '../../../src/fleet/merge.js';
import { delayOf, scheduleData, tenantJobIn } from '../../../src/fleet/tenant-job.js';
import {
  exits,
  refuse,
  sha256,
  type JsonObject,
  type QueuedJobs,
  type TenantResult,
} from '../../../src/model/index.js';
import { QUEUE_UNREACHABLE } from '../../../src/state/pg-boss-queue.js';
import { lockWaited } from '../../../src/state/waiting-store.js';
import { FILE, fleetOf, MANY_WARNINGS, type FleetHome } from '../../support/fleet-home.js';
import { inProcess } from '../../support/in-process.js';
import { memoryQueue, type MemoryQueue } from '../../support/memory-queue.js';
import { memoryRegisters, type MemoryRegisters } from '../../support/memory-registers.js';
import { simulatedMachine } from '../../support/simulated-machine.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';

const drifts: QueuedJobs = { command: 'drift', env: null, flags: {}, bundle: null, expiry: 900 };

const QUEUE = 'postgres://h/d';

const CANCELLATION = { reason: 'as asked', interrupts: true, at: '' };

interface Queued {
  readonly queue: MemoryQueue;
  readonly place: ResultPlace;
  readonly registers: MemoryRegisters;
  resume(): Promise<number>;
}

/** A run `r` whose tenants are queued. */
async function queuedRun(
  tenants: readonly string[],
  jobs: QueuedJobs = drifts,
  bundle?: string,
): Promise<Queued> {
  const [clock, random] = [simulatedClock(), seededRandom(1)];
  const registers = memoryRegisters(clock, random);
  const lock = simulatedMachine().start();
  // The context of a command has a signal, too.
  const { signal } = new AbortController();
  const tools = { clock, random, lock, locking: { lease: 30_000 }, signal };
  const place = resultRegisters(registers.connect(), tools);
  if (bundle !== undefined) await place.create(bundleKey(sha256(bundle)), bundle);
  await runRecords(place, 'r').begin({
    format_version: '1.0',
    run: 'r',
    command: jobs.command,
    started_at: '',
    tenants,
    bundle: jobs.bundle,
    queued: jobs,
  });
  const queue = memoryQueue();
  const resume = () =>
    enqueue(queue, { run: 'r', place, records: runRecords(place, 'r') }, { tenants, jobs });
  await resume();
  return { queue, place, registers, resume };
}

/** Does work as a worker in the folder of the fleet. @returns what it said @throws what ends the worker */
async function working(
  { cwd, env }: Pick<FleetHome, 'cwd' | 'env'>,
  { queue, place }: Queued,
  work: (worker: FleetWorker) => Promise<void>,
  signal?: AbortSignal,
) {
  let failure: { readonly error: unknown } | undefined;
  const run = async (own: Context) => {
    const context: Context = { ...own, ...(signal && { signal }) };
    const done = work({
      context,
      place,
      queue,
      workers: 1,
      shared: { limiter: limitersByKey(context.clock), lanes: laneCount(8) },
      runs: new Map(),
      active: new Map(),
      watch: fleetLines(context),
      isDown: false,
    });
    await done.catch((error: unknown) => (failure = { error }));
    return exits.done;
  };
  const said = await inProcess(run, ['fleet', 'worker', '--queue', QUEUE], { cwd, env });
  if (failure) throw failure.error;
  return said;
}

/** Runs all that waits at once. */
const doAll = async (worker: FleetWorker): Promise<void> => {
  const jobs = await worker.queue.fetch(100);
  await Promise.all(jobs.map((one) => doJob(worker, one)));
};

const waiting = ({ queue }: Queued): readonly string[] =>
  queue.jobs.flatMap(({ state, data }) =>
    state === 'created' ? (tenantJobIn(data)?.tenant ?? []) : [],
  );
const last = ({ place }: Queued, tenant: string): Promise<TenantResult | undefined> =>
  runRecords(place, 'r').last(tenant);

describe('an apply that is cut off', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const many = `alert_push_destinations:\n${[1, 2, 3, 4]
    .map((at) => `  p${at}: { name: P${at}, enabled: true, endpoint: { url: "\${var.hook}" } }\n`)
    .join('')}`;
  const sentBy = (fleet: FleetHome): number => names.flatMap((name) => fleet.writes(name)).length;
  /** @param applied what every tenant has before, in a state */
  const cut = async (how: (worker: FleetWorker, end: AbortController) => void, applied = '') => {
    const fleet = await fleetOf(names, `${FILE}  stop: { failures: 2 }\n`, applied || many);
    if (applied !== '') expect((await fleet.run('apply', '--auto-approve')).code).toBe(0);
    fleet.write('base/base.yaml', many);
    await fleet.run('plan', '--out', 'x.bundle');
    const before = sentBy(fleet);
    const bundle = readFileSync(join(fleet.cwd, 'x.bundle'), 'utf8');
    const jobs: QueuedJobs = {
      ...drifts,
      command: 'apply',
      flags: { parallelism: '1' },
      bundle: sha256(bundle),
    };
    const run = await queuedRun(names, jobs, bundle);
    for (const account of fleet.accounts.values())
      account.setFaults([parseFault('latency=300,method=POST')]);
    const end = new AbortController();
    const work = async (worker: FleetWorker) => {
      const done = doAll(worker);
      const timing = { timeout: 10_000, interval: 10 };
      await expect.poll(() => sentBy(fleet), timing).toBeGreaterThan(before);
      how(worker, end);
      await done;
    };
    const said = await working(fleet, run, work, end.signal);
    return { fleet, run, said, before };
  };

  test('goes back to the queue if its worker ends, and cancels nothing', async () => {
    const { run, said } = await cut((_, end) => end.abort(new Error('SIGTERM')));
    expect(said.stderr).not.toContain('cancelled');
    expect(await cancellationOf(run.place, { run: 'r', round: 0 })).toBeUndefined();
    const statuses = await Promise.all(names.map(async (name) => (await last(run, name))?.status));
    expect(statuses).toContain('interrupted');
    expect(statuses.filter((one) => one === 'partial' || one === 'failed')).toEqual([]);
    const left = names.filter((_, at) => statuses[at] !== 'applied');
    expect(waiting(run).toSorted()).toEqual(left);
    expect(left.length).toBeGreaterThan(2);
  });
  test('is interrupted if its run is cancelled, and counts as no failure', async () => {
    const { run } = await cut(({ active }) => {
      for (const { cancel } of active.values()) cancel.abort(CANCELLED);
    });
    const results = await Promise.all(names.map((name) => last(run, name)));
    const open = results.filter((one) => one?.status !== 'applied');
    expect(open.length).toBeGreaterThan(2);
    for (const one of open) expect(one).toMatchObject({ status: 'interrupted', exit: 130 });
    expect(waiting(run)).toEqual([]);
    expect(await cancellationOf(run.place, { run: 'r', round: 0 })).toBeUndefined();
  });
  test.each<[string, Parameters<typeof cut>[0]]>([
    ['cancelled', ({ active }) => active.forEach(({ cancel }) => cancel.abort(CANCELLED))],
    ['ended', (_, end) => end.abort(new Error('SIGTERM'))],
  ])('counts the writes of all attempts once it was %s and resumed', async (_, how) => {
    const first = many.split('\n').slice(0, 2).join('\n');
    const { fleet, run, before } = await cut(how, first);
    for (const account of fleet.accounts.values()) account.setFaults([]);
    const all = names.length * 3;
    expect(sentBy(fleet) - before).toBeLessThan(all);
    await run.resume();
    await working(fleet, run, doAll);
    expect(sentBy(fleet) - before).toBe(all);
    const results = await Promise.all(names.map((name) => last(run, name)));
    expect(results.map((one) => one?.exit)).toEqual(names.map(() => exits.done));
    expect(fleetImpact(results.map((one) => one!)).writes.create).toBe(all);
  });
});

const stopped = { ...CANCELLATION, interrupts: false };

test.each([
  ['by a person', [CANCELLATION]],
  ['by a person after a rule stopped it', [stopped, CANCELLATION]],
])('an audit ends before its next request if its run is cancelled %s', async (_, rounds) => {
  const fleet = await fleetOf(['a']);
  const run = await queuedRun(['a']);
  fleet.accounts.get('a')!.setFaults([parseFault('latency=2000')]);
  await working(fleet, run, async (worker) => {
    const done = doAll(worker);
    await expect.poll(() => fleet.calls('a'), { timeout: 10_000, interval: 10 }).toBeGreaterThan(0);
    for (const [round, one] of rounds.entries())
      await recordCancellation(run.place, { run: 'r', round }, one);
    await watchJobs(worker);
    await done;
  });
  expect(await last(run, 'a')).toMatchObject({ status: 'interrupted', exit: exits.interrupted });
  expect(waiting(run)).toEqual([]);
});

test('an audit of a run that a rule stopped goes on, and its worker says so to the queue', async () => {
  const fleet = await fleetOf(['a']);
  const run = await queuedRun(['a']);
  fleet.accounts.get('a')!.setFaults([parseFault('latency=200')]);
  const beaten: string[] = [];
  await working(fleet, run, async (worker) => {
    const done = doAll(worker);
    await expect.poll(() => fleet.calls('a'), { timeout: 10_000, interval: 10 }).toBeGreaterThan(0);
    await recordCancellation(run.place, { run: 'r', round: 0 }, stopped);
    const queue = {
      ...worker.queue,
      beat: async (ids: readonly string[]) => void beaten.push(...ids),
    };
    await watchJobs({ ...worker, queue });
    await done;
  });
  expect(beaten).toEqual(['j0']);
  expect(await last(run, 'a')).toMatchObject({ status: 'drift' });
});

describe('a run that is resumed', () => {
  const gone = ['x', 'y', 'z'];

  test('begins to count failures again once it was cancelled', async () => {
    const fleet = await fleetOf(
      [],
      'fleet: { tenants: { a: { paths: [base] } }, stop: { failures: 3 } }',
    );
    const run = await queuedRun(gone);
    const { stderr } = await working(fleet, run, async (worker) => {
      await doAll(worker);
      expect(await cancellationOf(run.place, { run: 'r', round: 0 })).toMatchObject({
        reason: expect.stringContaining('3 tenants in a row failed') as string,
      });
      expect(await run.resume()).toBe(3);
      const [one] = await worker.queue.fetch(1);
      await doJob(worker, one!);
      expect(await cancellationOf(run.place, { run: 'r', round: 1 })).toBeUndefined();
      expect(waiting(run)).toEqual(['y', 'z']);
    });
    expect(stderr).toContain(`Once that is fixed: trueup fleet resume r --queue ${QUEUE} `);
  });
  test('sees the tenants of a checkout that was updated meanwhile', async () => {
    const file = (names: string) =>
      `fleet: { tenants: { ${names} }, defaults: { paths: [base] }, stop: { failures: 9 } }`;
    const fleet = await fleetOf(['x'], file('a: {}'));
    const run = await queuedRun(['x']);
    await working(fleet, run, async (worker) => {
      await doAll(worker);
      expect(await last(run, 'x')).toMatchObject({
        diagnostics: [{ code: 'unknown-tenant' }],
      });
      fleet.write('trueup.fleet.yaml', file('a: {}, x: {}'));
      await run.resume();
      await doAll(worker);
      expect(await last(run, 'x')).toMatchObject({ status: 'drift' });
    });
  });
});

test('a worker shows what it does with a tenant until that ends, and with none that is busy', async () => {
  const fleet = await fleetOf(['a', 'b']);
  const run = await queuedRun(['a', 'b']);
  // Another worker has it.
  const [busy] = await run.queue.fetch(1);
  await run.queue.add([{ ...run.queue.jobs[0]!, data: busy!.data as JsonObject }]);
  const seen: string[] = [];
  await working(fleet, run, (worker) =>
    doAll({
      ...worker,
      watch: {
        begin(tenant) {
          seen.push(`begin ${tenant}`);
          return (line) => void (line !== undefined && seen.push(`${tenant}: ${line}`));
        },
        end: ({ tenant, status }) => void seen.push(`end ${tenant} ${status}`),
        leave: (tenant) => void seen.push(`leave ${tenant}`),
        hide: () => undefined,
        close: () => undefined,
      },
    }),
  );
  expect(seen[0]).toBe('begin b');
  expect(seen.slice(-2)).toEqual(['end b drift', 'leave b']);
  expect(seen.slice(1, -2).length).toBeGreaterThan(0);
  expect(seen.filter((line) => !line.startsWith('b: '))).toHaveLength(3);
});

test('a worker shows the first warnings of a tenant, and its result holds all', async () => {
  const fleet = await fleetOf(['a'], FILE, MANY_WARNINGS);
  const run = await queuedRun(['a']);
  const { stderr } = await working(fleet, run, doAll);
  expect(stderr).toContain('a: and 2 more like this');
  expect(stderr).toContain('All of them: trueup fleet report r --format json');
  expect((await last(run, 'a'))?.diagnostics).toHaveLength(5);
});

describe('a result that cannot be read', () => {
  const damaged = async () => {
    const fleet = await fleetOf(['a', 'b']);
    const run = await queuedRun(['a', 'b']);
    await run.place.create('fleet/r/a', '{');
    return { fleet, run };
  };

  test('is an error of its tenant alone, and the tenant runs again once the run is resumed', async () => {
    const { fleet, run } = await damaged();
    await working(fleet, run, async (worker) => {
      await doAll(worker);
      expect(await last(run, 'a')).toMatchObject({
        attempt: 2,
        status: 'failed',
        diagnostics: [{ code: 'damaged-result' }],
      });
      expect(await last(run, 'b')).toMatchObject({ status: 'drift' });
      expect(await run.resume()).toBe(1);
      await doAll(worker);
      expect(await last(run, 'a')).toMatchObject({ attempt: 3, status: 'drift' });
    });
    expect(waiting(run)).toEqual([]);
  });
  test('does not keep the others from being cancelled', async () => {
    const { fleet, run } = await damaged();
    await recordCancellation(run.place, { run: 'r', round: 0 }, CANCELLATION);
    await working(fleet, run, doAll);
    expect(run.registers.written.filter((key) => key.startsWith('fleet/r/a'))).toHaveLength(1);
    expect(await last(run, 'b')).toMatchObject({ status: 'not-run' });
    expect(waiting(run)).toEqual([]);
  });
});

test('a worker that may not read the results ends, and leaves its tenants to others', async () => {
  const fleet = await fleetOf(['a', 'b']);
  const run = await queuedRun(['a', 'b']);
  const denied = { ...run.place, read: async () => refuse('backend-denied', 'not this user') };
  await expect(working(fleet, { ...run, place: denied }, doAll)).rejects.toThrow('not this user');
  expect(waiting(run).toSorted()).toEqual(['a', 'b']);
  expect(run.queue.jobs.filter(({ state }) => state === 'active')).toEqual([]);
  await working(fleet, run, doAll);
  expect(await last(run, 'b')).toMatchObject({ status: 'drift' });
});

test('a job waits for the audit of another run as long as its run was told to', async () => {
  const fleet = await fleetOf(['a']);
  const run = await queuedRun(['a'], { ...drifts, flags: { lockWait: '0s' } });
  const { signal } = new AbortController();
  let end = (): void => undefined;
  const ended = new Promise<void>((done) => (end = done));
  const records = runRecords(run.place, 'other');
  const other = records.alone('a', undefined, { signal, wait: 0 }, () => ended);
  await working(fleet, run, doAll);
  expect(await last(run, 'a')).toMatchObject({
    exit: exits.locked,
    diagnostics: [{ code: 'audit-in-progress' }],
  });
  end();
  await other;
});

test.each([
  [{ ...drifts, env: 'prod' }, `trueup fleet resume s --queue ${QUEUE} For a new run`],
  [undefined, 'To resume it, leave out --engine, --queue and --job-expiry.'],
])(
  'a run that is another one, queued as %j, is resumed by what is said',
  async (before, advice) => {
    const { cwd, env } = await fleetOf(['a']);
    const { place } = await queuedRun([]);
    const run = async (context: Context) => {
      const site = await fleetHere(context);
      const record = (queued: QueuedJobs | undefined) =>
        begun(context, site, 'drift', { place, ...(queued && { queued }) });
      await record(before);
      await record(drifts);
      return exits.done;
    };
    const words = ['fleet', 'drift', '--run', 's', '--engine', 'pgboss', '--queue', QUEUE];
    const { code, stderr } = await inProcess(run, words, { cwd, env });
    expect(code).toBe(exits.error);
    expect(stderr).toContain(advice);
  },
);

test('a job that waits for the audit of another run says so', async () => {
  const fleet = await fleetOf(['a']);
  const run = await queuedRun(['a']);
  const place: ResultPlace = {
    ...run.place,
    underClaim: ({ notify, signal }, work) => {
      notify?.(lockWaited('an audit is in progress: "fleet drift, run s"', 90_000));
      return work(signal);
    },
  };
  const { stderr } = await working(fleet, { ...run, place }, doAll);
  expect(stderr).toContain('a: An audit is in progress: "fleet drift, run s". Waiting up to 90 s.');
  expect(await last(run, 'a')).toMatchObject({ status: 'drift' });
});

test('a job waits for no audit of another fleet with a tenant of its name', async () => {
  const claims = async (states: string) => {
    const fleet = await fleetOf(['a'], FILE.replace('[base] }', `[base], state: "${states}" }`));
    const run = await queuedRun(['a']);
    const keys: string[] = [];
    const place: ResultPlace = {
      ...run.place,
      underClaim: async ({ key }) => {
        keys.push(key);
        return refuse('audit-in-progress', 'as asked');
      },
    };
    await working(fleet, { ...run, place }, doAll);
    return keys;
  };
  const [prod] = await claims('postgres://h/d?schema=prod_${tenant}');
  expect(prod).toMatch(/^fleet\/@claims\/[0-9a-f]{16}\/a$/);
  expect(await claims('postgresql://h:5432/d?schema=prod_${tenant}')).toEqual([prod]);
  expect(await claims('postgres://h/d?schema=stage_${tenant}')).not.toEqual([prod]);
});

describe('a scheduled audit that is due', () => {
  const due = async (data: JsonObject) => {
    const fleet = await fleetOf(
      ['a', 'b'],
      FILE.replace('[base] }', '[base], state: "s3://b/${tenant}" }'),
    );
    const run = await queuedRun([]);
    const schedule = memoryQueue();
    await schedule.add([{ data, priority: 0, expiry: 900 }]);
    const asked = { name: 'q.drift', cron: '* * * * *', data };
    const others = { name: 'other.drift', cron: '* * * * *', data };
    const queues = {
      schedules: async () => [others, asked],
      queue: async (name: string) => (name === 'q.drift' ? schedule : refuse('c', 'not ours')),
    };
    return { fleet, run, schedule, queues, begin: schedulesOf(queues, 'q.') };
  };
  const audits = (select: string | null = null, spread = 0): JsonObject =>
    scheduleData({ jobs: drifts, spread, select });
  const NAME = 'drift-19700101T0000Z';
  const statesOf = ({ jobs }: MemoryQueue): readonly string[] => jobs.map(({ state }) => state);
  const queued = ({ queue }: Queued) => queue.jobs.map(({ data }) => [data['run'], data['tenant']]);
  const ALL = [
    [NAME, 'a'],
    [NAME, 'b'],
  ];
  /** The first call fails so. */
  const once = <A extends readonly unknown[], T>(
    work: (...all: A) => Promise<T>,
    fail: () => T,
  ): ((...all: A) => Promise<T>) => {
    let calls = 0;
    return async (...all) => {
      calls += 1;
      return calls === 1 ? fail() : work(...all);
    };
  };
  const unreachable = (): never => refuse(QUEUE_UNREACHABLE, 'the queue is gone');

  test('begins once, as a run that is named by its time, each tenant at its moment', async () => {
    const { fleet, run, schedule, begin } = await due(audits(null, 7_200_000));
    const { stdout, stderr } = await working(fleet, run, async (worker) => {
      await begin(worker);
      await begin(worker);
    });
    expect([stdout, stderr]).toEqual([`Scheduled: 2 tenants queued. Run ${NAME}.\n`, '']);
    expect(queued(run)).toEqual(ALL);
    expect(run.queue.jobs.map(({ startAt }) => startAt)).toEqual(
      ['a', 'b'].map((tenant) => delayOf(tenant, 7_200_000)),
    );
    expect(await runRecords(run.place, NAME).run()).toMatchObject({ tenants: ['a', 'b'] });
    expect(statesOf(schedule)).toEqual(['completed']);
  });
  test('is left out where no worker was there for an hour, and the next one begins', async () => {
    const { fleet, run, schedule, begin } = await due(audits());
    schedule.pass(3_600_000);
    const late = await working(fleet, run, begin);
    expect(late.stderr).toContain(`The scheduled run ${NAME} is left out`);
    expect(late.stderr).toContain(`trueup fleet drift --engine pgboss --queue ${QUEUE} `);
    expect([late.stdout, queued(run), statesOf(schedule)]).toEqual(['', [], ['completed']]);
    schedule.pass(-3_600_000);
    await schedule.add([{ data: audits(), priority: 0, expiry: 900 }]);
    await working(fleet, run, begin);
    expect(queued(run)).toEqual(ALL);
  });
  test('says why it cannot begin, and is not tried again in silence', async () => {
    const { fleet, run, schedule, begin } = await due(audits('tier=gone'));
    const { stderr, stdout } = await working(fleet, run, begin);
    expect(stderr).toContain(`The scheduled run ${NAME} did not begin`);
    expect(stderr).toContain('no tenant has a label `tier`');
    expect([stdout, queued(run)]).toEqual(['', []]);
    expect(statesOf(schedule)).toEqual(['completed']);
  });
  test.each(['add', 'complete'] as const)(
    'waits for a server that is gone at its %s, says so, and begins once',
    async (step) => {
      const { fleet, run, schedule, begin } = await due(audits());
      if (step === 'add') run.queue.add = once(run.queue.add, unreachable);
      else schedule.complete = once(schedule.complete, unreachable);
      const { stderr, stdout } = await working(fleet, run, begin);
      expect(stderr.match(/the queue is gone. The worker retries./g)).toHaveLength(1);
      expect(stderr).not.toContain('did not begin');
      expect(stdout).toBe(`Scheduled: 2 tenants queued. Run ${NAME}.\n`);
      expect([queued(run), statesOf(schedule)]).toEqual([ALL, ['completed']]);
    },
  );
  test('is left to another worker if this one is to end', async () => {
    const { fleet, run, schedule, begin } = await due(audits());
    const end = new AbortController();
    run.queue.add = async () => {
      end.abort(new Error('SIGTERM'));
      return unreachable();
    };
    const { stderr } = await working(fleet, run, begin, end.signal);
    expect([stderr, statesOf(schedule)]).toEqual(['', ['active']]);
  });
  test('of another version is left out, and called that', async () => {
    const { fleet, run, schedule, begin } = await due({ jobs: { ...drifts, command: 'apply' } });
    const { stderr } = await working(fleet, run, begin);
    expect(stderr).toContain('A schedule of the queue is of another version of trueup');
    expect([queued(run), statesOf(schedule)]).toEqual([[], ['completed']]);
  });
  test('that cannot be asked for is said once, and begins later', async () => {
    const { fleet, run, queues } = await due(audits());
    let calls = 0;
    const schedules = async () => {
      calls += 1;
      if (calls === 1) unreachable();
      return calls < 4 ? refuse('queue-denied', 'the queue refuses this user') : queues.schedules();
    };
    const begin = schedulesOf({ ...queues, schedules }, 'q.');
    const { stderr } = await working(fleet, run, async (worker) => {
      for (let turn = 0; turn < 4; turn += 1) await begin(worker);
    });
    expect(stderr).not.toContain('the queue is gone');
    expect(stderr.match(/What is scheduled cannot begin/g)).toHaveLength(1);
    expect(stderr.match(/the queue refuses this user/g)).toHaveLength(1);
    expect(queued(run)).toEqual(ALL);
  });
});
