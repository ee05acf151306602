// The only place that exits the process. Reads the command line, loads and runs one command, and turns its result into
// messages on stderr and an exit code.
import { availableParallelism } from 'node:os';
import { exits, worst, type Exit } from '../model/index.js';
import { caughtError } from './caught-error.js';
import { pathsIn, toSeeAll, typed } from './commands-to-type.js';
import { contextOf, warningsBriefly, type Command, type Context } from './context.js';
import type { CommandSpec } from './command-table.js';
import { parse } from './program.js';
import { stopOnSignals } from './stop-signals.js';
import { setV8Flags } from './v8-flags.js';

const stateCommands = () => import('./commands/state.js');

const queueCommands = () => import('./commands/fleet-queued-runs.js');

const keptStates = () => import('./commands/kept-states.js');

const commands: Readonly<Record<string, () => Promise<{ readonly run: Command }>>> = {
  init: () => import('./commands/init.js'),
  synth: () => import('./commands/synth.js'),
  migrate: () => import('./commands/migrate.js'),
  validate: () => import('./commands/validate.js'),
  plan: () => import('./commands/plan.js'),
  diff: () => import('./commands/diff.js'),
  apply: () => import('./commands/apply.js'),
  destroy: () => import('./commands/destroy.js'),
  drift: () => import('./commands/drift.js'),
  comment: () => import('./commands/comment.js'),
  watch: () => import('./commands/watch.js'),
  import: () => import('./commands/import.js'),
  export: () => import('./commands/export.js'),
  get: () => import('./commands/get.js'),
  graph: () => import('./commands/graph.js'),
  log: () => import('./commands/log.js'),
  test: () => import('./commands/test.js'),
  'fleet validate': () => import('./commands/fleet-validate.js'),
  'fleet plan': () => import('./commands/fleet-plan.js'),
  'fleet drift': () => import('./commands/fleet-drift.js'),
  'fleet apply': () => import('./commands/fleet-apply.js'),
  'fleet report': () => import('./commands/fleet-report.js'),
  'fleet show': () => import('./commands/fleet-show.js'),
  'fleet worker': () => import('./commands/fleet-worker.js'),
  'fleet status': async () => ({ run: (await queueCommands()).status }),
  'fleet resume': async () => ({ run: (await queueCommands()).resume }),
  'fleet cancel': async () => ({ run: (await queueCommands()).cancel }),
  'fleet schedule': () => import('./commands/fleet-schedule.js'),
  'fleet kubernetes': () => import('./commands/fleet-kubernetes.js'),
  'state list': async () => ({ run: (await stateCommands()).list }),
  'state show': async () => ({ run: (await stateCommands()).show }),
  'state mv': async () => ({ run: (await stateCommands()).mv }),
  'state rm': async () => ({ run: (await stateCommands()).rm }),
  'state history': async () => ({ run: (await keptStates()).history }),
  'state rollback': async () => ({ run: (await keptStates()).rollback }),
  'state pull': async () => ({ run: (await keptStates()).pull }),
  'state push': async () => ({ run: (await keptStates()).push }),
  'state migrate': () => import('./commands/state-migrate.js'),
  unlock: async () => ({ run: (await stateCommands()).unlock }),
  show: () => import('./commands/show.js'),
  'provider install': () => import('./commands/provider-install.js'),
  schema: () => import('./commands/schema.js'),
  completion: () => import('./commands/completion.js'),
  doctor: () => import('./commands/doctor.js'),
  'sim flip': () => import('./commands/sim-flip.js'),
  emulator: () => import('./commands/emulator.js'),
};

export async function main(process: NodeJS.Process): Promise<void> {
  setV8Flags();
  // Secrets are hashed on every core, and the threads of libuv are counted when the first one starts.
  process.env['UV_THREADPOOL_SIZE'] ??= String(Math.max(4, availableParallelism() + 2));
  const parsed = parse(
    process.argv.slice(2),
    (text) => process.stdout.write(text),
    (text) => process.stderr.write(text),
  );
  if ('exit' in parsed) {
    process.exitCode = parsed.exit;
    return;
  }
  const { command, args, flags } = parsed;
  // Unless it ends as it should, below.
  process.exitCode = exits.error;
  const controller = new AbortController();
  const context = contextOf(process, flags, controller.signal, {
    paths: pathsIn(command, args, flags),
    toSeeAll: toSeeAll(command),
  });
  const say = (text: string) => context.err.write(`${text}\n`);
  const signalled = stopOnSignals(process, controller, {
    first: () =>
      command.graceful && say('Stopping: what runs is finished first. Once more ends at once.'),
    second: () =>
      WRITERS.has(command.name) &&
      say(
        `${ENDED} To see what became of it: ${context.masking.text(typed('trueup plan', context.said))}`,
      ),
  });
  const code = await outcome(process, context, command, args);
  process.exit(worst([code, ...signalled()]));
}

const ENDED = 'Ended at once. What was sent may take effect.';

/** Commands whose requests may still take effect. */
const WRITERS: ReadonlySet<string> = new Set(['apply', 'destroy']);

async function outcome(
  process: NodeJS.Process,
  context: Context,
  command: CommandSpec,
  args: readonly string[],
): Promise<Exit> {
  const { signal, out, err, flags } = context;
  const complain = async (error: unknown): Promise<Exit> => {
    const { diagnostics, exit } = caughtError(error);
    if (error !== signal.reason) await context.tell(warningsBriefly(context, diagnostics));
    if (flags.debug && error instanceof Error)
      err.write(`${context.masking.text(error.stack ?? '')}\n`);
    return exit;
  };
  const dropped = new Promise<never>((_, reject) => {
    process.on('uncaughtException', reject);
    process.on('unhandledRejection', reject);
    if (!command.graceful) signal.addEventListener('abort', () => reject(signal.reason));
  });
  const work = async (): Promise<Exit> => {
    const { run } = await commands[command.name]!();
    return run(context, args);
  };
  const ended = await Promise.race([work(), dropped]).catch(complain);
  await context.besides();
  err.status(undefined);
  // Not by way of `tell`: with --json, it writes to the stream that failed.
  const unwritten = async (error: unknown): Promise<Exit> => {
    const { diagnostics, exit } = caughtError(error);
    const { renderDiagnostics } = await import('../report/index.js');
    err.write(renderDiagnostics(diagnostics, err.style));
    return exit;
  };
  const handedOver = await out.drained().then(() => exits.done, unwritten);
  // A pipe takes a long list of errors in parts. If stderr itself failed, nobody can be told.
  await err.drained().catch(() => undefined);
  return worst([ended, handedOver]);
}
