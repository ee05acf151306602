// Scenarios drawn from seeds, on every core: `npm run simulate -- COUNT [--seed N] [--remote]`, from seed N (1) on, with a
// state file or a remote state. Ends with 1 where a law does not hold, and says how to see that scenario again.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { laws, type Law } from './laws.js';
import { noCounts, simulate, type Counts, type Played } from './simulate.js';

/** Seeds that a worker is given at once. */
const SHARE = 20;
/** Failures that are told in full, and lines of each. */
const TOLD = 3;
const LINES = 40;

type Share = Pick<Played, 'counts'> & { readonly failed: readonly Played[] };

async function playAll(seeds: readonly number[], remote: boolean): Promise<Share> {
  const counts = noCounts();
  const failed: Played[] = [];
  for (const seed of seeds) {
    const played = await simulate(seed, remote);
    add(counts, played.counts);
    if (played.failures.length > 0)
      failed.push({ seed, counts: played.counts, failures: played.failures, trace: played.trace });
  }
  return { counts, failed };
}

function add(counts: Counts, more: Counts): void {
  for (const name of Object.keys(counts) as (keyof Counts)[]) counts[name] += more[name];
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

function tell({ seed, failures, trace }: Played, remote: boolean): void {
  say(
    `\nseed ${seed}, again with: npm run simulate -- 1 --seed ${seed}${remote ? ' --remote' : ''}`,
  );
  for (const { law, detail } of failures) say(`  ${law} (${laws[law]}): ${detail}`);
  const first = trace.findIndex((line) => line.includes('!!!'));
  for (const line of trace.slice(Math.max(0, first - LINES), first + 1)) say(`  ${line}`);
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seed: { type: 'string', default: '1' }, remote: { type: 'boolean' } },
  });
  const [count, first] = [Number(positionals[0] ?? 1000), Number(values.seed)];
  if (
    !Number.isSafeInteger(count) ||
    count < 1 ||
    !Number.isSafeInteger(first) ||
    first < 0 ||
    positionals.length > 1
  ) {
    say('How many scenarios, and from which seed? Type: npm run simulate -- 1000 --seed 1');
    return 1;
  }
  const begun = performance.now();
  const seconds = (): string => `${((performance.now() - begun) / 1000).toFixed(0)} s`;
  const total = noCounts();
  const failed: Played[] = [];
  let [next, done, told] = [first, 0, 0];
  const take = ({ counts, failed: more }: Share, size: number): void => {
    add(total, counts);
    failed.push(...more);
    for (const one of more) if ((told += 1) <= TOLD) tell(one, values.remote === true);
    if (Math.floor((done + size) / 5000) > Math.floor(done / 5000))
      say(`${done + size} of ${count} scenarios, ${failed.length} failed (${seconds()})`);
    done += size;
  };
  const share = (): readonly number[] => {
    const size = Math.min(SHARE, first + count - next);
    next += size;
    return Array.from({ length: size }, (_, index) => next - size + index);
  };
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: values.remote === true });
      let seeds = share();
      worker.once('error', reject);
      worker.on('message', (played: Share) => {
        take(played, seeds.length);
        seeds = share();
        if (seeds.length > 0) worker.postMessage(seeds);
        else void worker.terminate().then(() => resolve());
      });
      worker.postMessage(seeds);
    });
  await Promise.all(
    Array.from({ length: Math.min(availableParallelism(), Math.ceil(count / SHARE)) }, work),
  );
  const byLaw = (Object.keys(laws) as Law[]).map(
    (law) =>
      [
        law,
        failed.filter(({ failures }) => failures.some((one) => one.law === law)).length,
      ] as const,
  );
  const rows: readonly (readonly [string, number | string])[] = [
    ['scenarios', done],
    ...Object.entries(total),
    ...byLaw.map(([law, times]) => [`failed ${law}`, times] as const),
    ['elapsed', seconds()],
  ];
  say('');
  for (const [name, value] of rows) say(`${name.padEnd(24)}${String(value).padStart(10)}`);
  return failed.length === 0 ? 0 : 1;
}

if (isMainThread) process.exit(await main());
else
  parentPort?.on(
    'message',
    (seeds: readonly number[]) =>
      void playAll(seeds, workerData === true).then((played) => parentPort?.postMessage(played)),
  );
