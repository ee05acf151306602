// The real terraform, where it is installed. Where it is not, one loud line says how much did not run.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Whether terraform is installed. A suite for it: `describe.runIf(terraformIsHere(…))`, which says aloud where it does not run. */
export function terraformIsHere(suite: string, tests: number): boolean {
  const here = spawnSync('terraform', ['version'], { stdio: 'ignore' }).status === 0;
  if (!here)
    process.stderr.write(
      `\n!!! terraform is not installed: ${tests} tests of "${suite}" DID NOT RUN !!!\n\n`,
    );
  return here;
}

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Workspace {
  readonly folder: string;
  write(files: Readonly<Record<string, string>>): void;
  /** `-no-color` and `-input=false` where the command knows them are the caller's. */
  run(...words: readonly string[]): Promise<Ran>;
  start(...words: readonly string[]): ChildProcess;
}

/** A folder with a configuration, removed with the test. `executable`: the provider, found by `dev_overrides`; `env` may be known later than the folder. */
export function workspace(
  main: string,
  how: {
    readonly executable?: string;
    readonly env?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>);
  } = {},
): Workspace {
  const folder = mkdtempSync(join(tmpdir(), 'four-wire-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const write = (files: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  };
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  if (how.executable !== undefined)
    symlinkSync(how.executable, join(bin, 'terraform-provider-devicecloud'));
  const overrides =
    how.executable === undefined
      ? ''
      : `dev_overrides { "trueup/devicecloud" = ${JSON.stringify(bin)} }`;
  write({
    'cli.tfrc': `provider_installation {\n  ${overrides}\n  direct {}\n}\n`,
    'terraform.tf':
      'terraform {\n  required_providers {\n    devicecloud = { source = "trueup/devicecloud" }\n  }\n}\n',
    'main.tf': main,
  });
  const env = (): NodeJS.ProcessEnv => ({
    ...process.env,
    TF_CLI_CONFIG_FILE: join(folder, 'cli.tfrc'),
    CHECKPOINT_DISABLE: '1',
    TF_IN_AUTOMATION: '1',
    TF_CLI_ARGS: '-no-color',
    TMPDIR: folder,
    ...(typeof how.env === 'function' ? how.env() : how.env),
  });
  const start = (...words: readonly string[]): ChildProcess =>
    spawn('terraform', words, { cwd: folder, env: env(), stdio: ['ignore', 'pipe', 'pipe'] });
  return {
    folder,
    write,
    start,
    async run(...words) {
      const child = start(...words);
      const told = { stdout: '', stderr: '' };
      for (const stream of ['stdout', 'stderr'] as const)
        child[stream]?.setEncoding('utf8').on('data', (chunk: string) => (told[stream] += chunk));
      const [status] = (await once(child, 'close')) as [number | null];
      return { status, ...told };
    },
  };
}
