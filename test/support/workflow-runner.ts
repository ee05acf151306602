// Runs GitHub workflows and composite actions as they are written: the `run` steps in bash, each job on a fresh machine.
// The actions that they use are imitated: a clone, and artifacts that go from job to job.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { checkOut, freshMachine, started, type Machine, type Variables } from './ci-machine.js';
import {
  condition,
  filledIn,
  looksAtStatus,
  type Contexts,
  type Scope,
} from './workflow-expressions.js';

/** Values as YAML reads them. */
type Scalars = Readonly<Record<string, string | number | boolean>>;

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly env?: Variables;
  readonly with?: Scalars;
  readonly 'working-directory'?: string;
}

interface Job {
  readonly needs?: string;
  readonly if?: string;
  readonly environment?: string;
  readonly outputs?: Variables;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly env?: Variables;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
}

/** What the forge gives to a run. */
export interface WorkflowRun {
  readonly origin: string;
  readonly sha: string;
  readonly github: Contexts;
  readonly vars: Variables;
  readonly secrets: Variables;
  /** Beside `secrets`, for the jobs of an environment. */
  readonly environments?: Readonly<Record<string, Variables>>;
  /** Of the machines. */
  readonly env: Variables;
  /** The action that `uses: trueup` stands for. */
  readonly action?: string;
}

export interface JobResult {
  readonly result: 'success' | 'failure' | 'skipped';
  readonly outputs: Variables;
  readonly said: string;
  readonly summary: string;
}

export async function runWorkflow(
  text: string,
  run: WorkflowRun,
): Promise<Readonly<Record<string, JobResult>>> {
  const workflow = parse(text) as Workflow;
  const artifacts = freshMachine().workspace;
  const done: Record<string, JobResult> = {};
  // Each job stands below those that it needs.
  for (const [name, job] of Object.entries(workflow.jobs)) {
    const needed = job.needs === undefined ? undefined : done[job.needs];
    const contexts = {
      github: run.github,
      vars: run.vars,
      secrets: { ...run.secrets, ...run.environments?.[job.environment ?? ''] },
      needs: needed ? { [job.needs!]: { outputs: needed.outputs, result: needed.result } } : {},
    };
    const scope: Scope = { contexts, functions: {} };
    const isRun =
      (needed === undefined || needed.result === 'success') && condition(job.if ?? 'true', scope);
    done[name] = isRun
      ? await runJob(job, { run, contexts, artifacts, env: workflow.env ?? {} })
      : { result: 'skipped', outputs: {}, said: '', summary: '' };
  }
  return done;
}

interface JobPlace {
  readonly run: WorkflowRun;
  readonly contexts: Contexts;
  readonly artifacts: string;
  readonly env: Variables;
}

async function runJob(job: Job, place: JobPlace): Promise<JobResult> {
  const machine = freshMachine();
  writeFileSync(join(machine.home, 'event.json'), JSON.stringify(place.run.github['event'] ?? {}));
  writeFileSync(join(machine.home, 'summary.md'), '');
  const given = { contexts: place.contexts, functions: {} };
  const env = mapped(place.env, (text) => filledIn(text, given));
  const ran = await runSteps(job.steps, { ...place, env, machine });
  const after = scopeOf({ ...place, env, machine }, ran.outputs, false);
  const summary = readFileSync(join(machine.home, 'summary.md'), 'utf8');
  rmSync(machine.home, { recursive: true });
  return {
    result: ran.isFailed ? 'failure' : 'success',
    outputs: mapped(job.outputs ?? {}, (text) => filledIn(text, after)),
    said: ran.said,
    summary,
  };
}

interface StepPlace extends JobPlace {
  readonly machine: Machine;
}

type Outputs = Record<string, Variables>;

const scopeOf = (place: StepPlace, outputs: Outputs, isFailed: boolean): Scope => ({
  contexts: {
    ...place.contexts,
    steps: Object.fromEntries(Object.entries(outputs).map(([id, one]) => [id, { outputs: one }])),
  },
  functions: {
    always: () => true,
    failure: () => isFailed,
    success: () => !isFailed,
    hashFiles: (path) => (existsSync(join(place.machine.workspace, path)) ? 'a hash' : ''),
  },
});

async function runSteps(steps: readonly Step[], place: StepPlace) {
  const outputs: Outputs = {};
  let [isFailed, said] = [false, ''];
  for (const step of steps) {
    const scope = scopeOf(place, outputs, isFailed);
    if (isFailed && !looksAtStatus(step.if ?? '')) continue;
    if (!condition(step.if ?? 'true', scope)) continue;
    const ended = await (step.uses === undefined
      ? runScript(step, place, scope)
      : use(step, place, scope));
    said += ended.said;
    if (step.id !== undefined) outputs[step.id] = ended.outputs;
    isFailed ||= ended.code !== 0;
  }
  return { outputs, isFailed, said };
}

interface StepEnd {
  readonly code: number;
  readonly said: string;
  readonly outputs: Variables;
}

async function runScript(step: Step, place: StepPlace, scope: Scope): Promise<StepEnd> {
  const { machine, run, env } = place;
  const output = join(machine.home, 'output');
  const script = join(machine.home, 'step.sh');
  const folder = filledIn(step['working-directory'] ?? '.', scope);
  writeFileSync(output, '');
  writeFileSync(script, filledIn(step.run ?? '', scope));
  const github = run.github;
  const shell = step.shell === 'bash' ? ['--noprofile', '--norc', '-e', '-o', 'pipefail'] : ['-e'];
  const { code, said } = await started('bash', [...shell, script], {
    cwd: join(machine.workspace, folder),
    env: {
      HOME: machine.home,
      CI: 'true',
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: join(machine.home, 'summary.md'),
      GITHUB_EVENT_PATH: join(machine.home, 'event.json'),
      GITHUB_REPOSITORY: String(github['repository']),
      GITHUB_REF: String(github['ref']),
      RUNNER_TEMP: machine.home,
      ...run.env,
      ...env,
      ...mapped(step.env ?? {}, (text) => filledIn(text, scope)),
    },
  });
  const lines = readFileSync(output, 'utf8').split('\n').filter(Boolean);
  return { code, said, outputs: Object.fromEntries(lines.map((line) => splitAt(line, '='))) };
}

const splitAt = (line: string, mark: string): readonly [string, string] => [
  line.slice(0, line.indexOf(mark)),
  line.slice(line.indexOf(mark) + 1),
];

async function use(step: Step, place: StepPlace, scope: Scope): Promise<StepEnd> {
  const { run, machine, artifacts } = place;
  const stepEnv = mapped(step.env ?? {}, (text) => filledIn(text, scope));
  const given = mapped(step.with ?? {}, (text) => filledIn(text, scope));
  const [name] = step.uses!.split('@');
  if (name === 'trueup')
    return runAction(run.action!, given, { ...place, env: { ...place.env, ...stepEnv } });
  if (name === 'actions/checkout') await checkOut(machine, run);
  else if (name === 'actions/upload-artifact') {
    const from = join(machine.workspace, given['path']!);
    const to = join(artifacts, given['name']!);
    mkdirSync(to);
    cpSync(from, join(to, basename(from)));
  } else if (name === 'actions/download-artifact')
    cpSync(join(artifacts, given['name']!), machine.workspace, { recursive: true });
  else if (name !== 'actions/setup-node') throw new Error(`There is no action ${name}.`);
  return { code: 0, said: '', outputs: {} };
}

async function runAction(text: string, given: Variables, place: StepPlace): Promise<StepEnd> {
  const action = parse(text) as Action;
  const unknown = Object.keys(given).filter((name) => action.inputs[name] === undefined);
  if (unknown.length > 0) throw new Error(`There is no input ${unknown.join(', ')}.`);
  const usual = scopeOf(place, {}, false);
  const inputs = Object.fromEntries(
    Object.entries(action.inputs).map(([name, one]) => [
      name,
      given[name] ?? filledIn(one.default ?? '', usual),
    ]),
  );
  // An action sees no secrets: only what it is given.
  const { github = {} } = place.contexts;
  const inside = { ...place, contexts: { github, inputs } };
  const ran = await runSteps(action.runs.steps, inside);
  const after = scopeOf(inside, ran.outputs, ran.isFailed);
  const outputs = Object.entries(action.outputs).map(([name, { value }]) => [
    name,
    filledIn(value, after),
  ]);
  return { code: ran.isFailed ? 1 : 0, said: ran.said, outputs: Object.fromEntries(outputs) };
}

const mapped = (values: Scalars, change: (text: string) => string): Variables =>
  Object.fromEntries(Object.entries(values).map(([name, text]) => [name, change(String(text))]));
