// Breaks the sources, one rule at a time, and expects a test to notice: `npm run mutants [part of a name…]`. A mutant that
// survives is a test that is missing; a text that is no longer found is a row of the table that nobody keeps. That the
// tests pass over whole sources is seen first; `--tests-follow` leaves that to a run of all tests before or after this one.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { locate } from './locate.js';
import { mutants, type Mutant } from './table.js';

const AT_ONCE = 2;
/** Milliseconds after which a run of tests is given up: of one mutant's, and of all together. */
const PATIENCE = 180_000;
const WHOLE = 600_000;

interface Report {
  readonly numFailedTests: number;
  readonly numPassedTests: number;
  readonly success: boolean;
  readonly testResults: readonly { readonly name: string; readonly status: string }[];
}

/** Runs test files over sources with a mutant, or none; undefined where there is no report. */
function test(name: string, files: readonly string[], folder: string): Promise<Report | undefined> {
  const report = join(folder, `${name.replaceAll(/\W+/g, '-')}.json`);
  const args = [
    'run',
    '--config',
    'test/mutants/vitest.config.ts',
    '--reporter=json',
    `--outputFile=${report}`,
    ...(name === '' ? [] : ['--bail=1', '--maxWorkers=1']),
  ];
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', ...args, ...files.map((file) => `test/${file}`)],
    {
      env: { ...process.env, MUTANT: name },
      stdio: 'ignore',
      timeout: name === '' ? WHOLE : PATIENCE,
      killSignal: 'SIGKILL',
    },
  );
  return new Promise((resolve) => {
    child.once('close', () => {
      try {
        resolve(JSON.parse(readFileSync(report, 'utf8')) as Report);
      } catch {
        resolve(undefined);
      }
    });
  });
}

/** What is wrong with a row of the table, before anything is run. */
function flaw({ file, find }: Mutant): string | undefined {
  const count = locate(readFileSync(join('src', file), 'utf8'), find).length;
  return count === 1 ? undefined : `src/${file} holds its text ${count} times instead of once`;
}

async function verdict(mutant: Mutant, folder: string): Promise<string | undefined> {
  const report = await test(mutant.name, mutant.tests, folder);
  if (!report) return 'the tests gave no report';
  if (report.numFailedTests > 0) return undefined;
  return report.numPassedTests > 0 ? `survived ${mutant.tests.join(', ')}` : 'no test was run';
}

const flags = new Set(process.argv.slice(2).filter((word) => word.startsWith('--')));
const wanted = process.argv.slice(2).filter((word) => !flags.has(word));
const chosen = mutants.filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);
const folder = mkdtempSync(join(tmpdir(), 'trueup-mutants-'));
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
    const whole = await test('', [...new Set(chosen.flatMap(({ tests }) => tests))], folder);
    const red = whole?.testResults
      .filter(({ status }) => status !== 'passed')
      .map(({ name }) => relative('.', name));
    tell(
      { name: 'without a mutant, every test passes' },
      whole?.success === true ? undefined : `not in ${red?.join(', ') ?? 'time'}`,
    );
  }
  const left = chosen.values();
  const work = async (): Promise<void> => {
    for (const mutant of left) tell(mutant, await verdict(mutant, folder));
  };
  if (troubles.length === 0) await Promise.all(Array.from({ length: AT_ONCE }, work));
} finally {
  rmSync(folder, { recursive: true });
}
process.stdout.write(
  `${chosen.length} mutants, ${troubles.length === 0 ? 'all noticed' : `${troubles.length} in trouble`} (${((performance.now() - begun) / 1000).toFixed(0)} s)\n`,
);
process.exit(troubles.length === 0 && chosen.length > 0 ? 0 : 1);
