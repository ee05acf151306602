// Breaks the sources, one rule at a time, and expects a test to notice: `npm run mutants [part of a name…]`. A mutant that
// survives is a test that is missing; a text that is no longer found is a row of the table that nobody keeps. That the
// tests pass over whole sources is seen first; `--tests-follow` leaves that to a run of all tests before or after this one. With the
// variable MUTANTS_SHARD (such as 2/3), only that part of them is inserted.
import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locate } from './locate.js';
import { mutants, type Mutant } from './table.js';
import type { Answer, Question } from './worker.js';

const AT_ONCE = 2;
/** Milliseconds after which a run of tests is given up: of one mutant's, and of all together. */
const PATIENCE = 400_000;
const WHOLE = 600_000;
/** Milliseconds in which a process may end by itself. */
const CLOSING = 10_000;

/** A process that runs tests, started where it is needed, and again after one that did not end. */
class Worker {
  readonly #folder: string;
  #child: ChildProcess | undefined;

  /** @param folder for temporary files: a process that was killed leaves some */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Undefined where there is no answer in time. */
  ask(question: Question, patience: number): Promise<Answer | undefined> {
    // A group of its own: a test that never ends is a child of this child.
    const child = (this.#child ??= fork('scripts/run.mjs', ['test/mutants/worker.ts'], {
      detached: true,
      env: { ...process.env, TMPDIR: this.#folder },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    }));
    return new Promise((resolve) => {
      const late = setTimeout(() => this.stop(), patience);
      const end = (answer?: Answer): void => {
        clearTimeout(late);
        child.removeAllListeners();
        if (!answer) this.stop();
        resolve(answer);
      };
      child.once('message', (answer: Answer) => end(answer));
      child.once('exit', () => end());
      child.send(question);
    });
  }

  /** Ends it, and whatever test it runs. */
  stop(): void {
    const pid = this.#child?.pid;
    this.#child = undefined;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It ended before.
    }
  }

  /** Lets it end by itself, between two questions. */
  async close(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const late = setTimeout(() => this.stop(), CLOSING);
    const ended = new Promise((resolve) => void child.once('exit', resolve));
    child.disconnect();
    await ended;
    clearTimeout(late);
  }
}

/** What is wrong with a row of the table, before anything is run. */
function flaw({ file, find }: Mutant): string | undefined {
  const count = locate(readFileSync(join('src', file), 'utf8'), find).length;
  return count === 1 ? undefined : `src/${file} holds its text ${count} times instead of once`;
}

async function verdict(mutant: Mutant, worker: Worker): Promise<string | undefined> {
  const { name, file, tests } = mutant;
  const answer = await worker.ask({ mutant: name, file, tests }, PATIENCE);
  if (!answer) return 'the tests gave no report';
  if (answer.failed > 0) return undefined;
  return answer.passed > 0 ? `survived ${tests.join(', ')}` : 'no test was run';
}

const flags = new Set(process.argv.slice(2).filter((word) => word.startsWith('--')));
const wanted = process.argv.slice(2).filter((word) => !flags.has(word));
const [shard = 1, shards = 1] = (process.env['MUTANTS_SHARD'] ?? '1/1').split('/').map(Number);
const chosen = mutants.filter(
  ({ name }, index) =>
    (wanted.length === 0 || wanted.some((part) => name.includes(part))) &&
    index % shards === shard - 1,
);
const folder = mkdtempSync(join(tmpdir(), 'trueup-mutants-'));
const workers = Array.from({ length: AT_ONCE }, () => new Worker(folder));
const begun = performance.now();
const troubles: string[] = [];
const tell = ({ name }: Pick<Mutant, 'name'>, trouble: string | undefined): void => {
  process.stdout.write(
    `${trouble === undefined ? 'ok  ' : 'FAIL'} ${name}${trouble === undefined ? '' : `: ${trouble}`}\n`,
  );
  if (trouble !== undefined) troubles.push(name);
};
for (const mutant of mutants) {
  const trouble = flaw(mutant);
  if (trouble !== undefined) tell(mutant, trouble);
}
try {
  if (troubles.length === 0 && chosen.length > 0 && !flags.has('--tests-follow')) {
    const tests = [...new Set(chosen.flatMap((one) => one.tests))];
    const whole = await workers[0]?.ask({ mutant: '', tests }, WHOLE);
    const isWhole = whole?.red.length === 0 && whole.passed > 0;
    tell(
      { name: 'without a mutant, every test passes' },
      isWhole ? undefined : `not in ${whole?.red.join(', ') ?? 'time'}`,
    );
  }
  const left = chosen.values();
  const work = async (worker: Worker): Promise<void> => {
    for (const mutant of left) tell(mutant, await verdict(mutant, worker));
  };
  if (troubles.length === 0) await Promise.all(workers.map(work));
} finally {
  await Promise.all(workers.map((worker) => worker.close()));
  rmSync(folder, { recursive: true });
}
process.stdout.write(
  `${chosen.length} mutants, ${troubles.length === 0 ? 'all noticed' : `${troubles.length} in trouble`} (${((performance.now() - begun) / 1000).toFixed(0)} s)\n`,
);
process.exit(troubles.length === 0 && chosen.length > 0 ? 0 : 1);
