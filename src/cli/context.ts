// What a command is given: flags, environment, streams, ports and the signal. Everything of the process that a
// command may know passes through here; rooms that cost time to load are loaded by the command that needs them.
import { refuse, type Diagnostic, type Exit, type Kinds } from '../model/index.js';
import type { Ports } from '../ports/index.js';
import { systemClock } from '../ports/clock.js';
import { diskFiles } from '../ports/files.js';
import { systemRandom } from '../ports/random.js';
import { kinds } from '../resources/index.js';
import { inEnvironment } from './commands-to-type.js';
import type { Flags } from './program.js';
import { version } from './version.js';
import { ask, outlet, readAll, type Out } from './streams.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Context extends Ports {
  readonly flags: Flags;
  readonly environment: Environment;
  readonly cwd: string;
  readonly kinds: Kinds;
  readonly out: Out;
  readonly err: Out;
  /** Raised by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Whether a person can be asked. */
  readonly interactive: boolean;
  ask(question: string): Promise<string>;
  /** All of standard input. */
  stdin(): Promise<string>;
  /** Says diagnostics, as far as TRUEUP_LOG wants them: on stderr, or as part of the stream that `--json` asks for. */
  tell(diagnostics: readonly Diagnostic[]): Promise<void>;
  /** One line on stderr where TRUEUP_LOG=debug. */
  debug(line: () => string): void;
}

export type Command = (context: Context, args: readonly string[]) => Promise<Exit>;

const LONGEST_INPUT = 2 * 1024 * 1024 + 1;
const levels = ['error', 'warning', 'info', 'debug'] as const;

export function contextOf(process: NodeJS.Process, flags: Flags, signal: AbortSignal): Context {
  const { env: environment, stdin, stdout, stderr } = process;
  const out = outlet(stdout, environment);
  const err = outlet(stderr, environment);
  const wanted = environment['TRUEUP_LOG'] || 'info';
  const level = levels.findIndex((one) => one === (wanted === 'warn' ? 'warning' : wanted));
  const random = systemRandom();
  const clock = systemClock();
  return {
    flags,
    environment,
    cwd: process.cwd(),
    kinds,
    out,
    err,
    signal,
    clock,
    random,
    files: diskFiles(random),
    interactive: stdin.isTTY ? stderr.isTTY : false,
    ask: (question) => ask(stdin, stderr, question, signal),
    stdin: () => readAll(stdin, LONGEST_INPUT),
    async tell(diagnostics) {
      const shown = diagnostics.filter((one) => level === -1 || levels.indexOf(one.severity) <= level);
      if (shown.length === 0) return;
      const { ndjson, renderDiagnostics } = await import('../report/index.js');
      if (flags.json) out.write(ndjson({ version, clock }).diagnostics(shown));
      else err.write(renderDiagnostics(inEnvironment(shown, flags.env), err.style));
    },
    debug: (line) => level === levels.length - 1 && err.write(`${line()}\n`),
  };
}

/** A whole number from a flag. @throws Refusal */
export function wholeNumber(flag: string, value: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  return refuse('usage', `${flag} takes a whole number from ${least} to ${most}.`);
}
