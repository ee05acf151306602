// A command in this process, over sources and not over the build: what it says, and how it ends.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { contextOf, warningsBriefly, type Command } from '../../src/cli/context.js';
import { pathsIn, toSeeAll } from '../../src/cli/commands-to-type.js';
import { parse } from '../../src/cli/program.js';
import { Refusal } from '../../src/model/index.js';
import { cleanUp } from './clean-up.js';

export interface Said {
  readonly code: number;
  readonly stdout: string;
  /** With its line breaks as spaces. */
  readonly stderr: string;
}

interface Where {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The width of the terminal; absent where the output is piped. */
  readonly columns?: number;
}

/** @param words without the name of the program */
export async function inProcess(
  run: Command,
  words: readonly string[],
  { cwd, env, columns }: Where,
): Promise<Said> {
  const texts = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof texts) => {
    const through = Object.assign(new PassThrough(), columns && { isTTY: true, columns });
    through.on('data', (chunk: Buffer) => (texts[name] += chunk.toString()));
    return through;
  };
  const own = Object.create(process, {
    env: { value: env },
    cwd: { value: () => cwd },
    stdin: { value: new PassThrough().end() },
    stdout: { value: stream('stdout') },
    stderr: { value: stream('stderr') },
  }) as NodeJS.Process;
  const parsed = parse(words, String, String);
  if ('exit' in parsed) throw new Error(`not a command line: ${words.join(' ')}`);
  const { command, args, flags } = parsed;
  const context = contextOf(own, flags, new AbortController().signal, {
    paths: pathsIn(command, args, flags),
    toSeeAll: toSeeAll(command),
  });
  const code = await run(context, args).catch(async (error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    await context.tell(warningsBriefly(context, error.diagnostics));
    return error.exit;
  });
  await context.out.drained();
  await context.err.drained();
  return { code, stdout: texts.stdout, stderr: texts.stderr.replaceAll(/\s+/g, ' ') };
}

/** An empty folder that goes with the test. */
export function freshFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'trueup-in-process-'));
  cleanUp.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export function writeAll(cwd: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
}

/** A folder that goes with the test, with these files. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const cwd = freshFolder();
  writeAll(cwd, files);
  return cwd;
}

/** A command in a folder, without an environment. */
export const typing = (command: Command, cwd: string, ...words: readonly string[]): Promise<Said> =>
  inProcess(command, words, { cwd, env: {} });
