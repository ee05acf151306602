// What every figure is made with: whole processes of the built tool, their time and memory, the emulator as a process
// of its own, and the table that is printed at the end.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

// Node reads a machine's own root certificates before it runs anything, which takes longer than starting does.
delete process.env['NODE_EXTRA_CA_CERTS'];

/** The words of the command line; `bench.ts` refuses the wrong ones. */
const { values } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: { quick: { type: 'boolean' }, from: { type: 'string' } },
});
export const quick = values.quick === true;
/** Number of killed workers that an earlier measurement, which was ended, has played. */
export const from = Number(values.from ?? 0);
export const tool = resolve('dist/trueup.cjs');
export const root = mkdtempSync(join(tmpdir(), 'trueup-bench-'));

export interface Run {
  readonly seconds: number;
  /** CPU time, user and system. */
  readonly cpu: number;
  readonly mebibytes: number;
  readonly stdout: string;
}
interface Row {
  readonly what: string;
  readonly measured: string;
  readonly reach: string;
  readonly reached: boolean;
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
export const repeat = async (times: number, work: () => Promise<Run>): Promise<readonly Run[]> => {
  const runs: Run[] = [];
  for (let index = 0; index < times; index += 1) runs.push(await work());
  return runs;
};
export const seconds = (runs: readonly Run[]): number => median(runs.map((run) => run.seconds));
export const cpuOf = (runs: readonly Run[]): number => median(runs.map((run) => run.cpu));
export const memory = (runs: readonly Pick<Run, 'mebibytes'>[]): number =>
  median(runs.map((run) => run.mebibytes));

interface Started {
  /** Once stderr holds the text. */
  says(text: string): Promise<void>;
  /** Asks it to end, or kills it. */
  stop(signal?: 'SIGKILL'): void;
  /** @throws when it fails by itself */
  readonly ended: Promise<Run>;
}

/**
 * Starts a command; its CPU time and the peak of its memory are read from the kernel while it runs. Much output goes to
 * a file: reading it here would take one of two cores from what is measured.
 */
export function start(
  command: string,
  args: readonly string[],
  cwd: string,
  environment: NodeJS.ProcessEnv = process.env,
  output?: string,
): Started {
  const begun = process.hrtime.bigint();
  const to = output === undefined ? 'pipe' : openSync(output, 'w');
  const child = spawn(command, args, { cwd, env: environment, stdio: ['ignore', to, 'pipe'] });
  if (typeof to === 'number') closeSync(to);
  let [stdout, stderr, peak, cpu] = ['', '', 0, 0];
  let [isStopped, heard] = [false, (): void => undefined];
  const sampler = setInterval(() => {
    peak = Math.max(peak, highWater(child.pid));
    cpu = Math.max(cpu, cpuSeconds(child.pid));
  }, 25);
  child.stdout?.on('data', (chunk: Buffer) => (stdout += String(chunk)));
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += String(chunk);
    heard();
  });
  const ended = new Promise<Run>((done, fail) => {
    child.on('error', fail);
    child.on('close', (code) => {
      clearInterval(sampler);
      const elapsed = Number(process.hrtime.bigint() - begun) / 1e9;
      if (code === 0 || (isStopped && (code === STOPPED || code === null)))
        done({ seconds: elapsed, cpu, mebibytes: peak / 1024, stdout });
      else
        fail(new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stderr.slice(-2000)}`));
    });
  });
  return {
    ended,
    says: (text) =>
      new Promise((done, fail) => {
        heard = () => stderr.includes(text) && done();
        heard();
        ended.catch(fail);
      }),
    stop(signal) {
      isStopped = true;
      child.kill(signal ?? 'SIGTERM');
    },
  };
}

/** The exit code after SIGTERM. */
const STOPPED = 143;

/** Runs a command to its end. @throws when it fails */
export const time = (...command: Parameters<typeof start>): Promise<Run> => start(...command).ended;

/** Peak resident memory in KiB. */
export function highWater(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** CPU time so far, user and system, of all threads. The kernel counts it in hundredths of a second. */
function cpuSeconds(pid: number | undefined): number {
  try {
    // The name of the program stands in parentheses and may hold blanks.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}

export interface Cloud {
  readonly environment: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

/** @param tenants names of accounts, each with credentials of its own; all have one address */
export async function cloud(
  folder: string,
  seed: object,
  faults: readonly string[] = [],
  tenants: readonly string[] = [],
): Promise<Cloud> {
  const file = join(folder, 'seed.json');
  writeFileSync(file, JSON.stringify(seed));
  const child = spawn(
    process.execPath,
    [
      tool,
      'emulator',
      '--port',
      '0',
      '--seed',
      file,
      ...faults.flatMap((fault) => ['--fault', fault]),
      ...tenants.flatMap((tenant) => ['--tenant', tenant]),
    ],
    {
      stdio: ['ignore', 'pipe', tenants.length > 0 ? 'ignore' : 'inherit'],
    },
  );
  const exports = await firstLines(child, Math.max(1, tenants.length));
  const pairs = [...exports.matchAll(/^export ((?:\w+_)?TRUEUP_\w+)='?([^'\n]*)'?$/gm)].map(
    // The kernel limits an environment: an address of all is there once.
    ([, name = '', value = '']) => [name.replace(/^.*(?=TRUEUP_V\d_URL$)/, ''), value] as const,
  );
  const quiet = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('TRUEUP_')),
  );
  return {
    environment: { ...quiet, ...Object.fromEntries(pairs), TRUEUP_LOG: 'error' },
    stop: () =>
      new Promise((done) => {
        child.on('close', () => done());
        child.kill('SIGTERM');
      }),
  };
}

function firstLines(child: ChildProcess, accounts: number): Promise<string> {
  return new Promise((done, fail) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += String(chunk);
      const isThere = (name: string): boolean =>
        text.split(`TRUEUP_${name}=`).length > accounts && text.endsWith('\n');
      if (['V3_TOKEN', 'VND_API_KEY', 'V2_URL'].every(isThere)) done(text);
    });
    child.on('close', () => fail(new Error(`the emulator ended: ${text}`)));
  });
}

export const hasTerraform = spawnSync('terraform', ['version']).status === 0;
export const rows: Row[] = [];
export const row = (what: string, measured: string, reach: string, reached: boolean): void => {
  rows.push({ what, measured, reach, reached });
  process.stderr.write(`${reached ? 'ok  ' : 'MISS'} ${what}: ${measured} (reach: ${reach})\n`);
};
export const fixed = (value: number, digits = 2): string => value.toFixed(digits);
