// Runs GitLab pipelines as they are written: rules, and scripts in bash, each job on a fresh machine that gets the
// artifacts of the jobs before it.
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { checkOut, freshMachine, started, type Variables } from './ci-machine.js';

interface Rule {
  readonly if?: string;
  readonly when?: string;
}

interface Job {
  readonly extends?: string;
  readonly stage?: string;
  readonly needs?: readonly string[];
  readonly rules?: readonly Rule[];
  readonly variables?: Variables;
  readonly environment?: string;
  readonly before_script?: readonly string[];
  readonly script?: readonly string[];
  readonly artifacts?: {
    readonly when?: string;
    readonly paths?: readonly string[];
    readonly reports?: { readonly dotenv?: string };
  };
}

type Pipeline = Readonly<Record<string, Job>>;

export interface PipelineRun {
  readonly origin: string;
  readonly sha: string;
  /** Those that GitLab sets, and those of the project. */
  readonly variables: Variables;
  /** Of the project, for jobs of an environment. */
  readonly environments?: Readonly<Record<string, Variables>>;
  /** Jobs that a person starts. */
  readonly startedByHand?: readonly string[];
  /** Of the machines. */
  readonly env: Variables;
}

export interface PipelineJobResult {
  readonly result: 'success' | 'failed' | 'manual' | 'skipped';
  readonly said: string;
  /** Of `reports: dotenv`. */
  readonly reported: Variables;
}

const STAGES = ['build', 'test', 'deploy'];

export async function runPipeline(
  text: string,
  run: PipelineRun,
): Promise<Readonly<Record<string, PipelineJobResult>>> {
  const pipeline = parse(text) as Pipeline;
  const done: Record<string, PipelineJobResult> = {};
  const artifacts = freshMachine().workspace;
  const jobs = Object.entries(pipeline)
    .filter(([name]) => !name.startsWith('.'))
    .map(([name, job]) => [name, { ...pipeline[job.extends ?? ''], ...job }] as const)
    .toSorted(([, a], [, b]) => STAGES.indexOf(a.stage ?? '') - STAGES.indexOf(b.stage ?? ''));
  for (const [name, job] of jobs) {
    const rule = (job.rules ?? [{}]).find((one) => holds(one.if, run.variables));
    if (!rule) continue;
    const isReady = (job.needs ?? []).every((one) => done[one]?.result === 'success');
    const waits = rule.when === 'manual' && run.startedByHand?.includes(name) !== true;
    const idle = { said: '', reported: {} };
    if (!isReady) done[name] = { result: 'skipped', ...idle };
    else if (waits) done[name] = { result: 'manual', ...idle };
    else done[name] = await runJob(job, run, artifacts);
  }
  return done;
}

/** Comparisons of variables with texts and variables, joined by &&. */
function holds(text: string | undefined, variables: Variables): boolean {
  if (text === undefined) return true;
  const value = (word: string): string =>
    word.startsWith('$') ? (variables[word.slice(1)] ?? '') : word.slice(1, -1);
  return text.split(' && ').every((part) => {
    const [, left = '', operator, right = ''] =
      /^(\$\w+) (==|!=) (\$\w+|"[^"]*")$/.exec(part) ?? [];
    if (operator === undefined) throw new Error(`not understood: ${part}`);
    return (value(left) === value(right)) === (operator === '==');
  });
}

async function runJob(job: Job, run: PipelineRun, artifacts: string): Promise<PipelineJobResult> {
  const machine = freshMachine();
  await checkOut(machine, run);
  cpSync(artifacts, machine.workspace, { recursive: true });
  // What the project sets wins over what the file says.
  const outside = { ...run.variables, ...run.environments?.[job.environment ?? ''] };
  const inside = Object.fromEntries(
    Object.entries(job.variables ?? {}).map(([name, text]) => [name, expanded(text, outside)]),
  );
  const lines = [...(job.before_script ?? []), ...(job.script ?? [])];
  const { code, said } = await started('bash', ['-c', `set -eo pipefail\n${lines.join('\n')}`], {
    cwd: machine.workspace,
    env: { HOME: machine.home, ...run.env, ...inside, ...outside },
  });
  const { when = 'on_success', paths = [], reports } = job.artifacts ?? {};
  if (code === 0 || when === 'always')
    for (const path of paths)
      if (existsSync(join(machine.workspace, path)))
        cpSync(join(machine.workspace, path), join(artifacts, path));
  const dotenv = reports?.dotenv && join(machine.workspace, reports.dotenv);
  const reported = dotenv && existsSync(dotenv) ? readFileSync(dotenv, 'utf8') : '';
  rmSync(machine.home, { recursive: true });
  return {
    result: code === 0 ? 'success' : 'failed',
    said,
    reported: Object.fromEntries(
      [...reported.matchAll(/^(\w+)=(.*)$/gm)].map((one) => one.slice(1)),
    ),
  };
}

const expanded = (text: string, variables: Variables): string =>
  text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => variables[name] ?? '');

type Inputs = Readonly<Record<string, unknown>>;

/** A component with its inputs filled in, as text of a pipeline. */
export function component(text: string, given: Inputs): string {
  const [header, body = ''] = text.split(/^---\n/m);
  const { spec } = parseAllDocuments(header!)[0]!.toJS() as {
    spec: { inputs: Readonly<Record<string, { readonly default?: unknown }>> };
  };
  return body.replaceAll(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, name: string) => {
    if (!spec.inputs[name]) throw new Error(`There is no input ${name}.`);
    const value = name in given ? given[name] : spec.inputs[name].default;
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}
