// The built command as a person or a CI job runs it: a real process, a folder of its own, ended with the test.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cleanUp } from './clean-up.js';
import { start as startCommand, TRUEUP, type Ran } from './command.js';

const built = spawnSync(process.execPath, ['scripts/ensure.mjs'], { encoding: 'utf8' });
if (built.status !== 0) throw new Error(built.stderr);

export interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Another build than the one of the tests. */
  readonly script?: string;
  /** After so many milliseconds the process is killed; default 30,000, and ten minutes for one that `start` started. */
  readonly patience?: number;
  /** Another Node.js than that of the tests. */
  readonly node?: string;
}

export interface Folder {
  readonly path: string;
  write(name: string, text: string): void;
  read(name: string): string;
  run(args: readonly string[], options?: Options): Promise<Ran>;
  /** Runs as `run`, and fails where the exit code is another. */
  expect(code: number, args: readonly string[], options?: Options): Promise<Ran>;
  start(args: readonly string[], options?: Options): Started;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
  /** Resolves once stdout or stderr holds the text. */
  says(text: string): Promise<void>;
}

export function folder(files: Readonly<Record<string, string>> = {}): Folder {
  const path = mkdtempSync(join(tmpdir(), 'trueup-cli-'));
  cleanUp.push(() => rmSync(path, { recursive: true, force: true }));
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const start: Folder['start'] = (args, options) =>
    begin(args, path, { patience: 600_000, ...options });
  const run: Folder['run'] = (args, options) => begin(args, path, options).ended;
  return {
    path,
    write,
    read: (name) => readFileSync(join(path, name), 'utf8'),
    run,
    start,
    async expect(code, args, options) {
      const ran = await run(args, options);
      if (ran.code !== code)
        throw new Error(
          `trueup ${args.join(' ')} ended with ${ran.code}, not ${code}.\n${ran.stdout}\n${ran.stderr}`,
        );
      return ran;
    },
  };
}

function begin(
  args: readonly string[],
  cwd: string,
  { env = {}, input = '', script = TRUEUP, patience = 30_000, node }: Options = {},
): Started {
  const { process: child, ended } = startCommand(args, {
    cwd,
    env: { TERM: 'xterm-256color', ...env },
    stdin: input,
    script,
    patience,
    ...(node !== undefined && { node }),
  });
  let [stdout, stderr] = ['', ''];
  const waiting = new Set<() => void>();
  const hear = (): void => waiting.forEach((check) => check());
  child.stdout?.on('data', (text: Buffer) => ((stdout += text.toString()), hear()));
  child.stderr?.on('data', (text: Buffer) => ((stderr += text.toString()), hear()));
  child.once('close', hear);
  cleanUp.push(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const says = (text: string): Promise<void> =>
    new Promise((done, fail) => {
      const check = (): void => {
        if (stdout.includes(text) || stderr.includes(text)) done();
        else if (child.exitCode !== null)
          fail(new Error(`it ended without saying ${JSON.stringify(text)}:\n${stdout}\n${stderr}`));
        else return;
        waiting.delete(check);
      };
      waiting.add(check);
      check();
    });
  return { child, ended, says };
}

/** An emulator of its own process, and the environment that leads to it. */
export async function emulator(
  home: Folder,
  args: readonly string[] = [],
  options: Options = {},
): Promise<Started & { readonly env: Readonly<Record<string, string>> }> {
  const started = home.start(['emulator', ...args], options);
  let printed = '';
  started.child.stdout?.on('data', (text: Buffer) => (printed += text.toString()));
  await started.says('Serving at');
  const env = Object.fromEntries(
    printed
      .trim()
      .split('\n')
      .map((line) => line.replace(/^export /, '').split('=', 2) as [string, string]),
  );
  return { ...started, env };
}

const terminal = (): NodeJS.ProcessEnv => ({ PATH: process.env['PATH'], TERM: 'xterm-256color' });
const inScript = (args: readonly string[]): string[] => [
  '-qec',
  `stty cols 80; ${[process.execPath, TRUEUP, ...args].map((word) => `'${word}'`).join(' ')}`,
  '/dev/null',
];

/** Runs at a terminal at which somebody types `answer` once the screen shows `question`. */
export function answering(
  home: Folder,
  args: readonly string[],
  question: string,
  answer: string,
): Promise<Shown> {
  const child = spawn('script', inScript(args), { cwd: home.path, env: terminal() });
  cleanUp.push(() => void child.kill('SIGKILL'));
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const asked = screen.includes(question);
    screen += text;
    if (!asked && screen.includes(question)) child.stdin.write(answer);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, screen: screen.replaceAll('\r\n', '\n') }));
  });
}

/** What a terminal of 80 columns shows when `typed` is typed at it. @throws where util-linux's `script` is missing */
export function atTerminal(
  home: Folder,
  args: readonly string[],
  {
    env = {},
    typed = '',
  }: { readonly env?: Readonly<Record<string, string>>; readonly typed?: string } = {},
): Shown {
  const { status, stdout, error } = spawnSync('script', inScript(args), {
    cwd: home.path,
    env: { ...terminal(), ...env },
    input: typed,
    encoding: 'utf8',
  });
  if (error) throw new Error(`These tests need the command script of util-linux: ${error.message}`);
  return { code: status, screen: stdout.replaceAll('\r\n', '\n') };
}

interface Shown {
  readonly code: number | null;
  readonly screen: string;
}

/** Three objects that refer to one another, planned against the emulator of the same process. */
export const small = `settings: { target: emulator }
accounts:
  field-ops: { name: Field operations }
alert_push_destinations:
  pager: { name: On-call pager, enabled: true, endpoint: { url: https://hooks.example.com/alerts } }
alert_rules:
  wan-down:
    associated_accounts: ["\${accounts.field-ops.id}"]
    filter_criteria: { alert_type__in: [ethernet_wan_disconnected] }
    http_destinations: ["\${alert_push_destinations.pager.destination_config_id}"]
`;
