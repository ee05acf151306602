// One CDK program carried out twice: by trueup, which reads its stacks, and by the real terraform, which applies them
// one by one. What both leave in a cloud of their own has to be the same.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { box, served } from './box.js';
import { start } from './command.js';
import { contentsOf } from './differential.js';
import { theirs } from './estate.js';

interface Told {
  readonly code: number | null;
  readonly said: string;
}

async function terraform(
  folder: string,
  env: NodeJS.ProcessEnv,
  ...words: readonly string[]
): Promise<Told> {
  const child = spawn('terraform', [...words, '-no-color'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}

/** The folders of the stacks that a manifest names, each after those that it depends on. */
function stacksIn(output: string): readonly string[] {
  const { stacks } = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8')) as {
    readonly stacks: Readonly<
      Record<
        string,
        { readonly workingDirectory: string; readonly dependencies: readonly string[] }
      >
    >;
  };
  const order: string[] = [];
  const visit = (name: string): void => {
    const one = stacks[name];
    if (!one || order.includes(one.workingDirectory)) return;
    one.dependencies.forEach(visit);
    order.push(one.workingDirectory);
  };
  Object.keys(stacks).forEach(visit);
  return order.map((folder) => join(output, folder));
}

/**
 * What is unlike after each stage of a program was applied, and planned once more; empty where nothing is.
 * @param program absolute; @param stages what it is given behind the library, one run after the other
 */
export async function programDifferences(
  program: string,
  library: string,
  {
    stages = [''],
    variables = {},
    allow = [],
  }: {
    readonly stages?: readonly string[];
    readonly variables?: Readonly<Record<string, string>>;
    readonly allow?: readonly string[];
  } = {},
): Promise<readonly string[]> {
  const home = mkdtempSync(join(tmpdir(), 'programs-'));
  const [ours, others] = [await box(theirs), await box(theirs)];
  const { reattach, close } = await served(home, others.env);
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    CHECKPOINT_DISABLE: '1',
    TF_IN_AUTOMATION: '1',
    TF_INPUT: '0',
    TF_REATTACH_PROVIDERS: reattach,
    ...variables,
  };
  const trueup = async (...words: readonly string[]): Promise<Told> => {
    const { code, stdout, stderr } = await start([...words], {
      cwd: home,
      env: { ...ours.env, ...variables },
    }).ended;
    return { code, said: stdout + stderr };
  };
  const found: string[] = [];
  const expectDone = (what: string, { code, said }: Told): void =>
    void (code === 0 || found.push(`${what} ended with ${code}:\n${said}`));
  try {
    for (const stage of stages) {
      writeFileSync(
        join(home, 'cdktf.json'),
        JSON.stringify({ app: `${process.execPath} ${program} ${library} ${stage}` }),
      );
      expectDone('trueup synth', await trueup('synth', '--output', 'out'));
      const folders = stacksIn(join(home, 'out'));
      expectDone(
        'trueup apply',
        await trueup('apply', '--auto-approve', ...allow.flatMap((rule) => ['--allow', rule])),
      );
      for (const folder of folders) {
        expectDone('terraform init', await terraform(folder, env, 'init'));
        expectDone(
          `terraform apply of ${folder}`,
          await terraform(folder, env, 'apply', '-auto-approve'),
        );
      }
      const [left, right] = [contentsOf(ours), contentsOf(others)];
      found.push(
        ...left.filter((one) => !right.includes(one)).map((one) => `only trueup: ${one}`),
        ...right.filter((one) => !left.includes(one)).map((one) => `only terraform: ${one}`),
      );
      if (left.length !== right.length)
        found.push(`${left.length} objects of trueup, ${right.length} of terraform`);
      if (found.length > 0) return found;
      expectDone('trueup plan', await trueup('plan', '--detailed-exitcode'));
      for (const folder of folders)
        expectDone(
          `terraform plan of ${folder}`,
          await terraform(folder, env, 'plan', '-detailed-exitcode'),
        );
    }
    return found;
  } finally {
    await close();
    await Promise.all([ours.close(), others.close()]);
    rmSync(home, { recursive: true, force: true });
  }
}
