// Commands in messages can be run as printed: they include the PATHs, the variables and the environment of this run.
import {
  defined,
  isSecretName,
  pathWord,
  shellWord,
  type Diagnostic,
  type DriftDocument,
  type Event,
  type Kinds,
  type Masking,
  type Outcome,
  type PlanContent,
  type PlanDocument,
  type TypedWith,
  type Verdict,
} from '../model/index.js';
import type { Again } from '../report/words.js';
import type { BundleHead } from '../state/plan-bundle.js';
import { commands, type CommandSpec, type Flags, type FlagSpec } from './command-table.js';

/** The PATHs, variables and environment of a command line. */
export interface Said {
  /** As they were given; none, or the current folder alone, is what every command takes by itself. */
  readonly paths: readonly string[];
  /** `--target` and `--exclude`, as they are typed. */
  readonly scope?: readonly string[];
  readonly env: string | undefined;
  /** As `name=value`. */
  readonly variables: readonly string[];
  /** Those of a command about all tenants of a fleet, where `variables` are of one of them; absent where they are not. */
  readonly ofFleet?: readonly string[] | undefined;
  /** Of a tenant of a fleet, whose state no settings name. */
  readonly state?: string;
}

/** Stands for a value that no message shows. At the end of a command, it is a syntax error to every shell: such a command is not run by mistake. */
const UNSHOWN = '=<value>';

const unshown = (one: string): string => one.split('=', 1)[0] + UNSHOWN;

/** Without the values of variables that hold a secret, as far as the masking knows it when a command is printed. */
export function saidOf(masking: Masking, { ofFleet, ...said }: Said): Said {
  const typeable = (variables: readonly string[]): readonly string[] =>
    variables.map((one) => {
      const [name = '', ...value] = one.split('=');
      // No terminal takes a control character as it is printed.
      const isTypeable = !/\p{Cc}/u.test(one);
      const isShown = isTypeable && !isSecretName(name) && !masking.holds([one, value.join('=')]);
      return isShown ? one : unshown(one);
    });
  return {
    ...said,
    get variables() {
      return typeable(said.variables);
    },
    get ofFleet() {
      return ofFleet && typeable(ofFleet);
    },
  };
}

const PATHS = '[paths...]';
const namesOf = (fits: (spec: CommandSpec) => boolean): string =>
  commands
    .filter(fits)
    .map(({ name }) => name)
    .join('|');
const takesPaths = new RegExp(
  `^trueup (?:${namesOf(({ args }) => args.includes(PATHS))}|export --update)(?![\\w-])`,
);
const takesPathFlag = new RegExp(
  `^trueup (?:${namesOf(({ flags }) => flags.some(({ spelling }) => spelling.startsWith('--path ')))})\\b`,
);
const takesScope = /^trueup (?:plan|apply|destroy)\b/;
const withEnvironment = `trueup (?:${namesOf(({ flags }) => flags.some(({ spelling }) => spelling.startsWith('--env ')))})\\b`;
const inDetail = new RegExp(`(?<=: )${withEnvironment}[^\\n]*$`, 'gm');
const inVerdict = new RegExp(`(?<=: \`)${withEnvironment}[^\\n]*(?=\`)`, 'g');

/** Those of the arguments that are PATHs. */
export function pathsIn(
  { args: shape }: CommandSpec,
  args: readonly string[],
  { update = false }: Pick<Flags, 'update'>,
): readonly string[] {
  if (update) return args;
  return shape.includes(PATHS) ? args.slice(shape.split(' ').length - 1) : [];
}

/** Commands without `--verbose` that do what another one shows with it. The others load the project. */
const shownBy: Readonly<Partial<Record<string, string>>> = { comment: 'plan', watch: 'drift' };

/** What to type to see all that a command shortens; undefined for fleets: the command says what it shortens itself. */
export function toSeeAll({ name, flags }: CommandSpec): string | undefined {
  if (flags.some(({ spelling }) => spelling === '--verbose')) return '--verbose';
  return name.startsWith('fleet ') ? undefined : `trueup ${shownBy[name] ?? 'validate'} --verbose`;
}

/** An address that may be posted to is a secret. @param value of `--notify` */
const unshownAddress = (value: string): string =>
  (/^[a-z]+(?==)/.exec(value)?.[0] ?? 'generic') + UNSHOWN;

/** Flags as they are typed, but for those with their initial value. */
export const flagWords = (command: CommandSpec['name'], flags: Flags): readonly string[] =>
  commands
    .filter(({ name }) => name === command)
    .flatMap((spec): readonly FlagSpec[] => spec.flags)
    .flatMap(({ spelling, initial }) => {
      const [word = ''] = /--[a-z-]+/.exec(spelling) ?? [];
      const name = word.slice(2).replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
      const given = (flags as Readonly<Record<string, unknown>>)[name];
      if (given === true) return [word];
      return [given ?? initial].flat().flatMap((value) => {
        if (typeof value !== 'string' || value === initial) return [];
        return [word, word === '--notify' ? unshownAddress(value) : shellWord(value)];
      });
    });

/** All flags of a command line as they are typed for another command, without those that `typed` adds. */
export const otherWords = (
  command: CommandSpec['name'],
  { var: _, env: __, ...flags }: Flags,
): readonly string[] => flagWords(command, flags);

/** `export --update` of these targets, as it is typed. */
export const updateCommand = ({ target, dryRun }: Flags): string =>
  ['trueup export --update', ...flagWords('export', defined({ target, dryRun }))].join(' ');

/** The export of kinds with unmanaged objects, as it is typed. Those beyond the API reference have to be named. */
export function exportCommand(kinds: Kinds, unmanaged: PlanDocument['unmanaged']): string {
  const names = Object.keys(unmanaged).filter((name) => unmanaged[name]! > 0);
  const isNamed = names.some((name) => kinds.get(name)?.beyond);
  return ['trueup export', ...(isNamed ? names : [])].join(' ');
}

/** The flags that say what a plan is about and what it allows, as they are typed. */
export const scopeWords = (flags: Pick<Flags, 'target' | 'exclude' | 'allow'>): readonly string[] =>
  (['target', 'exclude', 'allow'] as const).flatMap((flag) =>
    (flags[flag] ?? []).flatMap((word) => [`--${flag}`, shellWord(word)]),
  );

/** Those of a command line before a project has loaded: it is unknown which values are secret. */
export const saidAtFirst = (paths: readonly string[], flags: Flags): Said => ({
  paths: flags.path ?? paths,
  scope: scopeWords({ ...flags, allow: [] }),
  env: flags.env,
  variables: (flags.var ?? []).map(unshown),
});

const variableWord = (one: string): string =>
  one === unshown(one) ? shellWord(one.slice(0, -UNSHOWN.length)) + UNSHOWN : shellWord(one);

function givesVariable(command: string, one: string): boolean {
  const [name = ''] = one.split('=', 1);
  const quoted = shellWord(`${name}= `).slice(0, -2);
  return [`${shellWord(name)}=`, quoted].some((word) => command.includes(` --var ${word}`));
}

const WORD = String.raw`(?:\$\([^)]*\)|\\.|'[^']*'|[^\s'\\])+`;

/** Whether a command names PATHs of its own, beside its other arguments. */
function namesPaths(command: string): boolean {
  const [verb = ''] = takesPaths.exec(command) ?? [];
  const [, name, update] = /^trueup (.*?)( --update)?$/.exec(verb) ?? [];
  const spec = commands.find((one) => one.name === name);
  if (!spec) return false;
  const takingValues = spec.flags.flatMap(({ spelling }) =>
    /[<[]/.test(spelling) ? spelling.split(/[ ,]+/) : [],
  );
  const words = command.slice(verb.length).match(new RegExp(WORD, 'g')) ?? [];
  const args = words.filter(
    (word, at) => !/^-./.test(word) && !takingValues.includes(words[at - 1] ?? ''),
  );
  return pathsIn(spec, args, { update: update !== undefined }).length > 0;
}

const unshownFlag = `( --[a-z-]+ (?:${WORD})?${UNSHOWN})(?![^ ])`;
const quotedOrUnshown = new RegExp(String.raw`\\.|'[^']*'|${unshownFlag}`, 'g');

/** The command with the values that are not shown at its end. */
function unshownLast(command: string): string {
  const unshownFlags: string[] = [];
  const rest = command.replaceAll(quotedOrUnshown, (found: string, flag?: string) => {
    if (flag === undefined) return found;
    unshownFlags.push(flag);
    return '';
  });
  return rest + unshownFlags.join('');
}

/** The flags of a scope, each with its value, that a command does not have. */
const scopeLeft = (command: string, scope: readonly string[]): readonly string[] =>
  scope.flatMap((word, at) => {
    const value = scope[at + 1] ?? '';
    return at % 2 === 1 || `${command} `.includes(` ${word} ${value} `) ? [] : [word, value];
  });

/** The command, complete. Safe to apply twice. */
export function typed(
  command: string,
  { paths, scope = [], env, variables: own, ofFleet = own, state }: Said,
): string {
  const isNarrowed = !takesScope.test(command) || command.includes(' --target ');
  const places = paths.join() === '.' ? [] : paths.map(pathWord);
  const hasPaths = takesPaths.test(command);
  const isPlaced = hasPaths
    ? namesPaths(command)
    : !takesPathFlag.test(command) || command.includes(' --path ');
  const variables = command.startsWith('trueup fleet ') ? ofFleet : own;
  const setting = env === undefined ? '' : `--env ${shellWord(env)}`;
  const words = [
    command,
    ...(isNarrowed ? [] : scopeLeft(command, scope)),
    ...(isPlaced ? [] : places.flatMap((place) => (hasPaths ? [place] : ['--path', place]))),
    ...(setting === '' || `${command} `.includes(` ${setting} `) ? [] : [setting]),
    ...variables.flatMap((one) =>
      givesVariable(command, one) ? [] : ['--var', variableWord(one)],
    ),
  ];
  const whole = unshownLast(words.join(' '));
  const isOfState = state !== undefined && /^trueup (?!fleet )/.test(command);
  return isOfState ? `TRUEUP_STATE=${shellWord(state)} ${whole}` : whole;
}

const variableWords = (variables: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(variables).map((pair) => pair.join('='));

/** What commands repeat of a saved plan, which replaces the command line. */
export const saidOfPlan = ({ document, options }: PlanContent): Said => ({
  paths: document.generated_from.paths,
  env: options.env,
  variables: variableWords(options.variables),
});

/** @param out the file that it is saved to */
export function planAgain(masking: Masking, out: string, file: PlanContent): Again {
  const { targets, excludes, allow, destroy, valid_for, encrypt_to } = file.options;
  const words = flagWords('plan', {
    out,
    target: targets,
    exclude: excludes,
    allow,
    destroy,
    ...defined({ validFor: valid_for, encryptTo: encrypt_to }),
  });
  const said = saidOf(masking, saidOfPlan(file));
  return (flags = []) => `again: ${typed(['trueup plan', ...words, ...flags].join(' '), said)}`;
}

/** @param out the file that it is saved to */
export function bundleAgain(
  masking: Masking,
  out: string,
  { allow = [], asked, env }: BundleHead,
): Again {
  if (!asked)
    return (flags = []) =>
      `again as before${flags.length === 0 ? '' : `, with \`${flags.join(' ')}\``}.`;
  const { changed_since, encrypt_to, select, shard, valid_for, variables } = asked;
  const words = flagWords('fleet plan', {
    out,
    allow,
    ...defined({ changedSince: changed_since, encryptTo: encrypt_to, validFor: valid_for }),
    ...defined({ select, shard }),
  });
  const whole = { paths: [], env: env ?? undefined, variables: variableWords(variables) };
  const said = saidOf(masking, whole);
  return (flags = []) =>
    `again: ${typed(['trueup fleet plan', ...words, ...flags].join(' '), said)}`;
}

/** Renderers put the words of a verdict into sentences of their own, so its command stands between backquotes. */
const completed = (verdict: string, said: Said): string =>
  verdict.replaceAll(inVerdict, (command) => typed(command, said));

function diagnosticWithCommands(diagnostic: Diagnostic, said: Said): Diagnostic {
  const { detail } = diagnostic;
  const summary = completed(diagnostic.summary, said);
  const whole = detail?.replaceAll(inDetail, (command) => typed(command, said));
  return { ...diagnostic, summary, ...defined({ detail: whole }) };
}

/** A command that calls the service with the credentials of whoever types it. */
const CLOUD_COMMAND = /: `?TRUEUP_STATE=.* trueup (?:apply|destroy|drift|get|import|plan)\b/;

const CREDENTIALS =
  'First set the variables of the tenant without their prefix, or those that its credential command prints.';

/** A message about a tenant; with what to do before its command calls the service, if it has one that does. */
export const withCredentials = (one: Diagnostic): Diagnostic =>
  CLOUD_COMMAND.test(`${one.summary}\n${one.detail}`)
    ? { ...one, detail: [CREDENTIALS, ...(one.detail ? [one.detail] : [])].join('\n') }
    : one;

const ofTenant = ({ state, variables }: TypedWith): Said => ({
  paths: [],
  env: undefined,
  variables,
  ofFleet: [],
  state,
});

/** Messages about a tenant, with complete commands. */
export const completeMessages = (
  diagnostics: readonly Diagnostic[],
  typedWith: TypedWith,
): readonly Diagnostic[] => withCommands(diagnostics, ofTenant(typedWith)).map(withCredentials);

/** The plan or the audit of a tenant as it is shown. */
export const tenantDocument = <Shown extends PlanDocument | DriftDocument>(
  document: Shown,
  typedWith: TypedWith,
): Shown => ({
  ...document,
  diagnostics: completeMessages(document.diagnostics, typedWith),
  ...('policy' in document && {
    policy: document.policy.map((one) => verdictWithCommands(one, ofTenant(typedWith))),
  }),
});

export const withCommands = (
  diagnostics: readonly Diagnostic[],
  said: Said,
): readonly Diagnostic[] => diagnostics.map((one) => diagnosticWithCommands(one, said));

export const verdictWithCommands = (verdict: Verdict, said: Said): Verdict => ({
  ...verdict,
  detail: completed(verdict.detail, said),
});

export function outcomeWithCommands(outcome: Outcome, said: Said): Outcome {
  return outcome.diagnostic === undefined
    ? outcome
    : { ...outcome, diagnostic: diagnosticWithCommands(outcome.diagnostic, said) };
}

export function eventWithCommands(event: Event, said: Said): Event {
  if (event.type === 'diagnostic')
    return { ...event, diagnostic: diagnosticWithCommands(event.diagnostic, said) };
  return event.type === 'end'
    ? { ...event, outcome: outcomeWithCommands(event.outcome, said) }
    : event;
}
