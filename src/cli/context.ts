// The context of a command: flags, environment, streams, ports and the signal. A command gets everything of the process
// from here; modules that load slowly are imported by the command that needs them.
import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Environment } from '../declarations/environment.js';
import { didYouMean, maskingOf, refuse, type Diagnostic, type Exit } from '../model/index.js';
import { systemClock } from '../platform/clock.js';
import { diskFiles } from '../platform/files.js';
import { systemRandom } from '../platform/random.js';
import { collections, kinds } from '../resources/index.js';
import type { Limiter } from '../client/rate-limit.js';
import type { HttpConnections } from '../client/transport.js';
import { briefly, errorsBriefly } from '../report/brief-diagnostics.js';
import type { Ndjson } from '../report/index.js';
import type { PostgresPools } from '../state/backends/registers/postgres.js';
import { saidAtFirst, withCommands } from './commands-to-type.js';
import type { Flags } from './command-table.js';
import { ownCredentials } from './masked-credentials.js';
import { version } from './version.js';
import { ask, isOneStream, outlet, readAll, type Out } from './terminal.js';

/** What the runs of a process share about one credential, and hear about each other. */
export interface Exchanges {
  /** The rate limiter of a credential at an origin. @param credential a hash */
  readonly limiterOf: (credential: string, perMinute: number | undefined) => Limiter;
  /** Told of each response; the status is 0 where there was none. */
  readonly responded: (origin: string, status: number) => void;
  /** Whether to repeat a request to which there was no response. */
  readonly mayRepeat: (origin: string) => boolean;
}

/** The context of a command. */
export type Context = ReturnType<typeof contextOf>;

export type Command = (context: Context, args: readonly string[]) => Promise<Exit>;

const LONGEST_INPUT = 2 * 1024 * 1024 + 1;
const levels = ['error', 'warning', 'info', 'debug'] as const;

interface CommandLine {
  /** Those that it names. */
  readonly paths?: readonly string[];
  /** Absent where nothing shows it: then nothing is shortened. */
  readonly toSeeAll?: string | undefined;
}

export function contextOf(
  process: NodeJS.Process,
  flags: Flags,
  signal: AbortSignal,
  { paths = [], toSeeAll }: CommandLine = {},
) {
  const { env: environment, stdin, stdout, stderr } = process;
  const out = outlet(stdout, environment);
  const err = outlet(stderr, environment);
  const asked = environment['TRUEUP_LOG'] || 'info';
  const level = levels.findIndex((one) => one === (asked === 'warn' ? 'warning' : asked));
  const random = systemRandom();
  const clock = systemClock();
  const masking = maskingOf();
  for (const secret of ownCredentials(environment)) masking.add(secret);
  let events: Promise<Ndjson> | undefined;
  let input: Promise<string> | undefined;
  const beside: Promise<unknown>[] = [];
  const say = sayer(err);
  const begin = async (): Promise<Ndjson> => {
    const { ndjson } = await import('../report/index.js');
    const begun = ndjson({ version, clock });
    out.write(begun.version());
    return begun;
  };
  const takes = ({ severity }: Diagnostic): boolean =>
    level === -1 || levels.indexOf(severity) <= level;
  const context = {
    flags,
    environment: environment as Environment,
    cwd: process.cwd(),
    system: process as { readonly platform: string; readonly arch: string },
    /** The folder of the built command. */
    home: () => dirname(realpathSync(process.argv[1]!)),
    /**
     * Arguments that printed commands repeat. A saved plan replaces those of the command line with its own. The values
     * of variables are shown once the project has loaded: only then is it known that none of them is a secret.
     */
    said: saidAtFirst(paths, flags),
    /** What to type to see all that is shortened on stderr; undefined where nothing is. */
    toSeeAll,
    /** Masks trueup's credentials and, once they are loaded, the secrets of declarations, in everything that is shown or stored. */
    masking,
    kinds,
    collections,
    out,
    err,
    /** Raised by the first SIGINT or SIGTERM. */
    signal,
    clock,
    random,
    files: diskFiles(random),
    /** Of this process. */
    connections: { postgres: new Map() as PostgresPools, http: new Map() as HttpConnections },
    /** Present for the tenants of a fleet. */
    exchanges: undefined as Exchanges | undefined,
    /** Of a tenant, where its fleet says so: wins over the settings of the project. */
    requestsPerMinute: undefined as number | undefined,
    /** Present for the tenants of a fleet: names of the variables that its file gives. */
    fleetVariables: undefined as readonly string[] | undefined,
    /** True if a person can answer a question. */
    isOneStream: () => isOneStream(stdout, stderr),
    interactive: stdin.isTTY ? stderr.isTTY : false,
    ask: (question: string) => ask(stdin, stderr, question, signal),
    /** All of standard input. */
    stdin: () => (input ??= readAll(stdin, LONGEST_INPUT)),
    /** The events that `--json` asks for: one stream a run, which its version begins. */
    events: () => (events ??= begin()),
    /** Whether TRUEUP_LOG wants a diagnostic. */
    takes,
    /** Says diagnostics, as far as TRUEUP_LOG wants them: on stderr, or as part of the stream that `--json` asks for. @param isWhole whether each error is shown */
    async tell(diagnostics: readonly Diagnostic[], isWhole = false): Promise<void> {
      const wanted = diagnostics.filter(takes);
      if (wanted.length === 0) return;
      const all = isWhole ? undefined : shortening(context);
      const shortened = all === undefined ? wanted : errorsBriefly(wanted, all);
      const shown = masking.said(withCommands(shortened, context.said));
      if (flags.json) out.write((await context.events()).diagnostics(shown));
      else await say(shown);
    },
    /** The command waits for it at its end. */
    beside: (work: Promise<unknown>): void => void beside.push(work),
    besides: (): Promise<unknown> => Promise.allSettled(beside),
    /** One line on stderr where TRUEUP_LOG=debug. */
    debug: (line: () => string): unknown =>
      level === levels.length - 1 && err.write(`${masking.text(line())}\n`),
  };
  return context;
}

/** Writes diagnostics, with a blank line between those of two calls as between those of one. */
function sayer(err: Out): (diagnostics: readonly Diagnostic[]) => Promise<void> {
  let before = '';
  return async (diagnostics) => {
    const { renderDiagnostics } = await import('../report/index.js');
    err.write(before + renderDiagnostics(diagnostics, err.style));
    before = '\n';
  };
}

type Shortened = Pick<Context, 'flags' | 'toSeeAll'>;

/** What to type to see all that stderr shortens; undefined where it shortens nothing. */
const shortening = ({ flags, toSeeAll }: Shortened): string | undefined =>
  flags.json || flags.verbose ? undefined : toSeeAll;

const isError = ({ severity }: Diagnostic): boolean => severity === 'error';

/** For stderr: the first warnings and notes of many, before the errors. With --verbose and --json all of them, as they come. */
export function warningsBriefly(
  context: Shortened,
  diagnostics: readonly Diagnostic[],
): readonly Diagnostic[] {
  const all = shortening(context);
  if (all === undefined) return diagnostics;
  return briefly(diagnostics, all).toSorted((a, b) => Number(isError(a)) - Number(isError(b)));
}

/** A whole number from a flag. @throws Refusal */
export function wholeNumber(flag: string, value: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  return refuse('usage', `${flag} takes a whole number from ${least} to ${most}.`);
}

/** Asks a person; only the whole word `yes` is agreement. */
export const agrees = async ({ ask }: Context, question: string): Promise<boolean> =>
  (await ask(`${question} Only yes is accepted: `)).trim() === 'yes';

export const notApproved = (detail: string, why = 'There is no terminal to ask at'): never =>
  refuse('not-approved', `${why}, and --auto-approve was not given.`, { detail });

export const noSuchKind = (name: string, kinds: readonly string[]): never =>
  refuse(
    'unknown-kind',
    `There is no kind named ${JSON.stringify(name)}.${didYouMean(name, kinds)}`,
    { detail: `Kinds: ${kinds.join(', ')}.` },
  );
