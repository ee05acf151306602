// The parser of the command line, and its help: both are made from the table of commands.
import { Command, CommanderError, Help, InvalidArgumentError, Option } from 'commander';
import { buildName } from './build-name.js';
import { commands, type CommandSpec, type Flags, type FlagSpec } from './command-table.js';
import { cached, kindWords } from '../model/index.js';
import { kinds } from '../resources/index.js';

const groups: Readonly<Record<string, string>> = {
  fleet: 'validate, plan, audit and apply many tenants',
  state: 'show and change the state',
  provider: 'install the provider for Terraform and OpenTofu',
  sim: 'change the status of a SIM',
};

const closing = `
Exit codes: 0 done, 1 error, 2 changes (--detailed-exitcode), 3 blocked by
policy, 4 state locked, or lock or journal lost, 5 outcome unknown or ambiguous
match, 6 stale plan, 7 partly applied, 130 interrupted.
Credentials come from the environment; trueup doctor names the missing ones.`;

/** The command, or the exit code of a command line that only asked for help or the version (0) or is wrong (1). */
export type Parsed =
  | { readonly command: CommandSpec; readonly args: readonly string[]; readonly flags: Flags }
  | { readonly exit: 0 | 1 };

type Write = (text: string) => void;

const WIDTH = 80;
const outputError = (text: string, write: Write): void => write(new Help().boxWrap(text, WIDTH));
type Found = (command: CommandSpec, args: readonly string[], flags: Flags) => void;

const toOption = ({ spelling, doc, choices, open, initial, repeat, once }: FlagSpec): Option => {
  const option = new Option(spelling, doc);
  if (choices) option.choices(choices);
  if (initial !== undefined) option.default(initial);
  if (repeat)
    option.argParser((value: string, all: readonly string[] | undefined) => {
      if (choices && !open && !choices.includes(value))
        throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
      return [...(all ?? []), value];
    });
  if (once)
    option.argParser((value: string, first: string | undefined) => {
      if (first !== undefined)
        throw new InvalidArgumentError('It takes one value, and has one already.');
      return value;
    });
  return option;
};

function createProgram(out: Write, err: Write, found: Found): Command {
  const common = (command: Command, path: string): Command =>
    command
      .exitOverride()
      .configureHelp({ subcommandTerm: (one) => one.name() })
      .helpOption('-h, --help', 'show this help')
      .configureOutput({
        writeOut: out,
        writeErr: err,
        getOutHelpWidth: () => WIDTH,
        getErrHelpWidth: () => WIDTH,
        getOutHasColors: () => false,
        getErrHasColors: () => false,
        outputError,
      })
      .showHelpAfterError(`For help, type: ${path} --help`);
  const root = common(new Command('trueup'), 'trueup')
    .description(`Declare objects of a device cloud (${kindWords(kinds)}); plan, apply, audit.`)
    .version(buildName, '-v, --version', 'show the version')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', closing);
  const parents = new Map<string, Command>();
  const group = (name: string): Command => {
    const known = cached(parents, name, () => common(root.command(name), `trueup ${name}`));
    return known.description(groups[name]!).helpCommand(false);
  };
  for (const spec of commands) {
    const words = spec.name.split(' ');
    const parent = words.length > 1 ? group(words[0]!) : root;
    const command = common(
      parent.command(`${words.at(-1)} ${spec.args}`.trim()),
      `trueup ${spec.name}`,
    ).description(spec.doc);
    if (spec.usage !== undefined) command.usage(`[options] ${spec.usage}`);
    for (const flag of spec.flags) command.addOption(toOption(flag));
    if (spec.more !== undefined) command.addHelpText('after', spec.more);
    for (const spelling of spec.without?.flags ?? [])
      command.addOption(
        new Option(spelling)
          .hideHelp()
          .argParser(() =>
            command.error(`error: ${spelling.split(' ', 1)[0]}: ${spec.without!.why}`),
          ),
      );
    command.action(() => {
      // A variable that is not set must not become the current folder, or everything there is.
      if (command.args.includes('')) command.error('error: an argument is empty');
      found(spec, command.args, command.opts());
    });
  }
  return root;
}

const longFlags = new Set([
  ...commands.flatMap((one) => one.flags.map((flag) => /--([a-z-]+)/.exec(flag.spelling)?.[1])),
  'help',
  'version',
]);

/** Terraform writes long flags with one dash, kubectl `-o=json`; what comes after a lone `--` is left alone. */
export function doubleDashes(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return argv.map((word, index) => {
    const name = /^-([a-z][a-z-]+)(=.*)?$/s.exec(word)?.[1];
    const short = name?.startsWith('o') === true && !longFlags.has(name);
    const given = /^(-[a-z])=(.*)$/s.exec(word);
    if (end !== -1 && index >= end) return word;
    if (given) return `${given[1]}${given[2]}`;
    return name !== undefined && !short ? `-${word}` : word;
  });
}

/** Reads a command line (without node and script). Help and complaints go to `out` and `err`; nothing exits. */
export function parse(argv: readonly string[], out: Write, err: Write): Parsed {
  let parsed: Parsed = { exit: 0 };
  const program = createProgram(out, err, (command, args, flags) => {
    parsed = { command, args, flags };
  });
  try {
    if (argv.length === 0) out(program.helpInformation());
    else program.parse(doubleDashes(argv), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { exit: error.exitCode === 0 ? 0 : 1 };
  }
  return parsed;
}

/** Every help text by the words of its command (`''` for the whole), and the version under `--version`. */
export function answers(): Readonly<Record<string, string>> {
  const ask = (...words: readonly string[]): string => {
    let text = '';
    const hear = (part: string) => (text += part);
    parse(words, hear, hear);
    return text;
  };
  const names = ['', ...Object.keys(groups), ...commands.map((one) => one.name)];
  const helps = names.map(
    (name) => [name, ask(...name.split(' ').filter(Boolean), '--help')] as const,
  );
  return { ...Object.fromEntries(helps), '--version': ask('--version') };
}
