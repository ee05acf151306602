// The real terraform as a hosted runner has it: a fresh folder, the provider from the mirror that the repository holds,
// the state on a server, and an environment.
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cleanUp } from './clean-up.js';
import { folder, type Folder } from './cli.js';

export interface Runner {
  readonly home: Folder;
  /** Both streams in `said`; `meanwhile` is given the process id of terraform. */
  run(
    words: readonly string[],
    meanwhile?: (pid: number) => void,
  ): Promise<{ readonly code: number | null; readonly said: string }>;
}

/** For a terraform that nobody watches, and that reads no configuration of whoever runs the tests. */
export const quiet = {
  TF_CLI_CONFIG_FILE: '/dev/null',
  TF_CLI_ARGS: '-no-color',
  TF_INPUT: '0',
  TF_IN_AUTOMATION: '1',
  CHECKPOINT_DISABLE: '1',
} as const;

/** Runs what follows on a machine of another name. */
const elsewhere = (host: string): readonly string[] => [
  'unshare',
  '--user',
  '--map-root-user',
  '--uts',
  'sh',
  '-c',
  `echo ${host} > /proc/sys/kernel/hostname && exec "$@"`,
  'sh',
];
const [command = '', ...options] = elsewhere('probe');
const canRename = spawnSync(command, [...options, 'true']).status === 0;

/** @param state where terraform keeps its state: an address of Terraform's http protocol with the locks of GitLab. `host`: the name of the machine, where this one can be given another */
export async function runner(
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
  { state, host }: { readonly state?: string; readonly host?: string } = {},
): Promise<Runner> {
  const home = folder({
    ...files,
    ...(state !== undefined && { 'backend.tf': backend(state) }),
  });
  await home.expect(0, ['provider', 'install']);
  return {
    home,
    run: (words, meanwhile) =>
      new Promise((resolve) => {
        const renamed = host !== undefined && canRename ? elsewhere(host) : [];
        const [first = '', ...rest] = [...renamed, 'terraform', ...words];
        const child = spawn(first, rest, {
          cwd: home.path,
          env: { PATH: process.env['PATH'], HOME: home.path, ...quiet, ...env },
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        cleanUp.push(() => void child.kill('SIGKILL'));
        let said = '';
        for (const stream of [child.stdout, child.stderr])
          stream.setEncoding('utf8').on('data', (text: string) => (said += text));
        child.once('close', (code) => resolve({ code, said }));
        meanwhile?.(child.pid!);
      }),
  };
}

/** The processes that one started, and those that they started. */
function below(pid: number): readonly number[] {
  const threads = `/proc/${pid}/task`;
  const children = readdirSync(threads).flatMap((thread) =>
    readFileSync(`${threads}/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...below(child)]);
}

/** Ends the providers below a process as the end of a machine does. */
export function killProviders(ancestor: number): void {
  const isProvider = (pid: number): boolean =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('terraform-provider-devicecloud');
  for (const pid of below(ancestor).filter(isProvider)) process.kill(pid, 'SIGKILL');
}

/** @param url of a state on a server with the locks of GitLab */
export const backend = (url: string): string => `terraform {
  backend "http" {
    address        = ${JSON.stringify(url)}
    lock_address   = ${JSON.stringify(`${url}/lock`)}
    unlock_address = ${JSON.stringify(`${url}/lock`)}
    lock_method    = "POST"
    unlock_method  = "DELETE"
    username       = "maintainer"
    retry_max      = 0
  }
}
`;
