// Runs the command that `cdktf.json` names, without the CDK CLI, and tells it the output folder. The program's output
// goes to stderr, because stdout is for the output of trueup; if it fails, the error says how it ended.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { compareText, isObject, refuse, type Json, type JsonObject } from '../model/index.js';
import { endOf, endWords, GROUPED, TOO_LATE } from '../platform/child-process.js';
import { ifThere } from '../state/disk-errors.js';
import type { Context } from './context.js';

type ProgramContext = Pick<Context, 'cwd' | 'environment' | 'err' | 'files' | 'signal'>;

export interface Program {
  /** The folder of `cdktf.json`, absolute. */
  readonly folder: string;
  /** A command line for the shell. */
  readonly app: string;
  /** The default output folder, relative to its own folder. */
  readonly output: string;
  readonly context: JsonObject;
}

/** @throws Refusal where there is no `cdktf.json` that names a program */
export async function programIn({ files, cwd }: ProgramContext, folder: string): Promise<Program> {
  const path = join(folder, 'cdktf.json');
  const shown = relative(cwd, path) || path;
  const text = await ifThere(files.read(path));
  if (text === undefined)
    refuse('no-program', `There is no ${shown}, which names the program to run.`, {
      detail: 'Go to the folder of the CDK program first.',
    });
  const { app, context } =
    objectIn(text) ?? refuse('bad-program', `${shown} is not a JSON object.`);
  if (typeof app !== 'string' || app.trim() === '')
    refuse('bad-program', `${shown} names no program.`, {
      detail: 'Its key `app` is the command that runs it, as in "app": "node main.js".',
    });
  return { folder, app, output: outputNamed(text), context: isObject(context) ? context : {} };
}

/** The output folder that the text of a `cdktf.json` names. */
export function outputNamed(text: string): string {
  const output = objectIn(text)?.['output'];
  return typeof output === 'string' ? output : 'cdktf.out';
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Paths, relative to the output folder, of the files that a program wrote: stacks, or, for plain constructs, declaration files. */
export type WrittenFiles = readonly string[];

/** Runs the program. @param output absolute folder. @throws Refusal where it fails or writes no stacks */
export async function synthesise(
  context: ProgramContext,
  program: Program,
  output: string,
): Promise<WrittenFiles> {
  const seconds = timeLimit(context);
  const { code, last } = await run(context, program, output, seconds);
  context.signal.throwIfAborted();
  const failed = (code: string, why: string, advice = ''): never =>
    refuse(code, `The program \`${program.app}\` ${why}.`, {
      detail: `${last.length > 0 ? `It said:\n${last.join('\n')}` : 'It said nothing.'}${advice}`,
    });
  if (code === TOO_LATE)
    failed(
      'program-timeout',
      `did not end within ${seconds} seconds, and was stopped`,
      `\nWhere it needs longer: export TRUEUP_SYNTH_SECONDS=${seconds * 3}`,
    );
  if (code !== 0) failed('program-failed', `failed: it ${endWords(code)}`);
  const manifest = await ifThere(context.files.read(join(output, 'manifest.json')));
  if (manifest === undefined) {
    const documents = (await context.files.list(output)).filter((name) => /\.ya?ml$/.test(name));
    if (documents.length > 0) return documents.toSorted(compareText);
  }
  const { stacks } = objectIn(manifest ?? '') ?? {};
  if (!isObject(stacks))
    refuse(
      'no-stacks',
      `The program \`${program.app}\` wrote no stacks to the folder in CDKTF_OUTDIR.`,
      { detail: 'It has to end with `app.synth()`, and its App takes no `outdir`.' },
    );
  return Object.values(stacks).map((stack) =>
    isObject(stack) ? String(stack['synthesizedStackPath']) : '',
  );
}

const SECONDS = 600;
const MOST_SECONDS = 86_400;

/** The time limit of a program. @throws Refusal */
function timeLimit({ environment }: ProgramContext): number {
  const text = environment['TRUEUP_SYNTH_SECONDS'] || String(SECONDS);
  const seconds = Number(text);
  return seconds > 0 && seconds <= MOST_SECONDS
    ? seconds
    : refuse('usage', `TRUEUP_SYNTH_SECONDS takes seconds, up to ${MOST_SECONDS}.`);
}

const TOLD = 12;
/** The libraries run `terraform version` once for each imported object, and fail without it. trueup reads the stack, so it gives them a version. */
const TERRAFORM_STUB = 'echo 1.11.4';

/** Lines that Node adds to an uncaught error: the source line that threw it, which does not help if it is in a package, and the version of Node. */
const THROWN = /^.*[\\/]node_modules[\\/].*:\d+\n.*\n[ \t]*\^+[ \t]*$|^Node\.js v.*$/gm;

/** Its exit code, the signal that ended it, or that it was too late, and the last lines it printed, but for those of stack traces. */
async function run(
  { environment, err, signal }: ProgramContext,
  { app, folder, context }: Program,
  output: string,
  seconds: number,
): Promise<{ readonly code: number | string; readonly last: readonly string[] }> {
  const env = {
    TERRAFORM_BINARY_NAME: TERRAFORM_STUB,
    ...environment,
    CDKTF_OUTDIR: output,
    TRUEUP_OUTDIR: output,
    CDKTF_CONTEXT_JSON: JSON.stringify(context),
    SYNTH_HCL_OUTPUT: 'false',
  };
  const child = spawn(app, {
    cwd: folder,
    env,
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: GROUPED,
  });
  let text = '';
  const hear = (chunk: Buffer): void => {
    err.write(chunk.toString());
    text = (text + chunk.toString()).slice(-8_000);
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const code = await endOf(child, { signal, seconds });
  return { code, last: lastLines(text) };
}

const lastLines = (text: string): readonly string[] =>
  text
    .replaceAll(THROWN, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s+at /.test(line))
    .slice(-TOLD);

/** Runs a program into a folder that is to be discarded. */
export async function synthesisedOnce(
  context: ProgramContext,
  program: Program,
): Promise<{ output: string; written: WrittenFiles; discard(): Promise<void> }> {
  const output = await mkdtemp(join(tmpdir(), 'trueup-synth-'));
  const leave = (): void => rmSync(output, { recursive: true, force: true });
  const discard = async (): Promise<void> => {
    await rm(output, { recursive: true, force: true });
    process.removeListener('exit', leave);
  };
  process.once('exit', leave);
  try {
    return { output, written: await synthesise(context, program, output), discard };
  } catch (error) {
    await discard();
    throw error;
  }
}
