// The real terraform with the built provider, as `trueup provider install --dev` names it, in a folder of the tests'.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Folder } from './cli.js';

export interface Answered {
  readonly code: number | null;
  /** What it said on both streams. */
  readonly said: string;
}

export type Terraform = (...words: readonly string[]) => Promise<Answered>;

/** Runs it in the folder `where` of the home. @param env what the provider is told */
export async function terraformIn(
  home: Folder,
  where: string,
  env: Readonly<Record<string, string>>,
): Promise<Terraform> {
  await home.expect(0, ['provider', 'install', '--dev']);
  const quiet = {
    TF_IN_AUTOMATION: '1',
    CHECKPOINT_DISABLE: '1',
    TF_CLI_CONFIG_FILE: join(home.path, 'devicecloud.tfrc'),
  };
  return async (...words) => {
    const child = spawn('terraform', words, {
      cwd: join(home.path, where),
      env: { PATH: process.env['PATH'], HOME: home.path, ...quiet, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (said += text));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, said };
  };
}
