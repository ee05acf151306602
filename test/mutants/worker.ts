// Runs tests over sources with one mutant after another, for `run.ts`: the sources are transformed once, and only the
// file of a mutant is read again.
import { relative, resolve } from 'node:path';
import { createVitest } from 'vitest/node';

export interface Question {
  /** A name in the table, or '' for whole sources. */
  readonly mutant: string;
  /** The file that the mutant changes, below src/. */
  readonly file?: string;
  /** Below test/. */
  readonly tests: readonly string[];
}

/** The first test that fails ends a run. */
export interface Answer {
  readonly failed: number;
  readonly passed: number;
  /** Files with a test that failed, or that could not be loaded. */
  readonly red: readonly string[];
}

const vitest = await createVitest('test', {
  config: resolve('test/mutants/vitest.config.ts'),
  watch: false,
  reporters: [{}],
  bail: 1,
  maxWorkers: 1,
  // Every test file gets a process of its own, which holds nothing of the mutant before.
  isolate: true,
});

async function answer({ mutant, file, tests }: Question): Promise<Answer> {
  process.env['MUTANT'] = mutant;
  const reload = (): void => {
    if (file !== undefined) vitest.invalidateFile(resolve('src', file));
  };
  reload();
  const found = await vitest.globTestSpecifications(tests.map((test) => resolve('test', test)));
  await vitest.runTestSpecifications(found);
  reload();
  const modules = found.flatMap(({ testModule }) => testModule ?? []);
  const results = modules.flatMap(({ children }) => [...children.allTests()]);
  const count = (state: string): number =>
    results.filter((one) => one.result().state === state).length;
  return {
    failed: count('failed'),
    passed: count('passed'),
    red: modules
      .filter((one) => one.state() === 'failed')
      .map(({ moduleId }) => relative('test', moduleId)),
  };
}

process.on('message', (question: Question) => {
  answer(question).then(
    (found) => process.send?.(found),
    () => process.exit(1),
  );
});
process.once('disconnect', () => {
  void vitest.close().finally(() => process.exit(0));
});
