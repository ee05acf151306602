// From PATH arguments to a project: find, read, sort, fill in, validate, convert. All errors are reported at once, each
// with its place; a project is returned only if there are none.
import { resolve as resolvePath } from 'node:path';
import {
  canonical,
  compareText,
  defaultSettings,
  defined,
  didYouMean,
  digest,
  formatAddress,
  isAddress,
  keptMembers,
  nearest,
  sha256,
  tryAddress,
  type Collections,
  type Declaration,
  type Diagnostic,
  type Kinds,
  type Origin,
  type Project,
  type UnknownFile,
  type Secret,
  type Settings,
} from '../model/index.js';
import type { CommandOutput, DeclarationFiles } from '../platform/index.js';
import { collect, refuseDeclaring, type Collected, type RawEntry } from './collect.js';
import { variablesBelow, type Environment } from './environment.js';
import { expectationOf } from './expectation.js';
import {
  holdsCel,
  holdsExpression,
  spell,
  type Evaluate,
  type EvaluateStack,
} from './interpolate.js';
import { sourceFilesOf, type SourceFiles } from './file-reader.js';
import { findFiles, FLEET_FOLDER, type FoundFile, type StackSource } from './paths.js';
import { isMap, type Raw } from './yaml/raw-values.js';
import { reportOf, type Report } from './diagnostics-list.js';
import {
  allowedIn,
  complain,
  declarationsOf,
  distinctAddresses,
  lookupOf,
  mergeSettings,
  refuseConflicts,
  settingsOf,
  type ResolveRun,
} from './resolve-declaration.js';
import { refactored } from './refactor-declarations.js';
import { templatePieces } from './templates.js';
import { settingsAbove } from './settings-above.js';
import { secretSource, secretsNamedIn, type SecretSource } from './secret-source.js';
import type { StackBlock } from './stacks/stack.js';
import type { ProgramDocument, StackFiles, Synthesise } from './stacks/stack-files.js';
import { found as foundWord, validatorsOf, type Violation } from './validation.js';
import { ofType, outsideValue, wordsOf, type VariableType } from './stacks/variables.js';
import { secretNames } from './vocabulary.js';

export interface LoadOptions {
  readonly kinds: Kinds;
  /** The collections that expectations may read. */
  readonly collections: Collections;
  /** PATH arguments; none means the current folder. */
  readonly paths: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly files: DeclarationFiles;
  readonly stdin: () => Promise<string>;
  /** For `${env.X}`, `TRUEUP_VAR_x` and, when it is revealed, `${secret.env.X}`. */
  readonly environment: Environment;
  /** Runs CDK programs. Absent where what they declare is not asked for: then they declare nothing. */
  readonly synthesise?: Synthesise;
  /** Runs the commands of secret managers. Absent where no value is needed: then they give none. */
  readonly commandOutput?: CommandOutput;
  /** Reads settings and variables alone: what is declared may be wrong then. */
  readonly settingsAlone?: boolean;
  /** `--env`. */
  readonly env?: string;
  /** `--var`. */
  readonly variables: Readonly<Record<string, string>>;
  /** Present for the tenant of a fleet: names of the variables that its file gives to it; their values are in the environment. */
  readonly fleetVariables?: readonly string[];
  /** Told of each secret that is declared, whether or not the project loads. */
  readonly found?: (secret: Secret) => void;
}

export interface Loaded {
  /** Absent where any diagnostic is an error. */
  readonly project?: Project;
  /** The project without its faulty parts, for checks of the others. Equal to `project` if that is there. */
  readonly understood: Project;
  /** Declarations with errors. Their references can be checked, and references to them lead somewhere. */
  readonly unusable: readonly Declaration[];
  /** Whether an address may be declared in what could not be read. */
  readonly mayBeDeclared: (address: string) => boolean;
  readonly diagnostics: readonly Diagnostic[];
  /** The files that hold its settings, without that of an environment. */
  readonly settings_files: readonly string[];
  /** The lines around a place in one of the files, cleared of secrets. */
  readonly frame: (origin: Origin) => string | undefined;
}

/** Whether a top-level key is, or may be meant for, settings or variables. */
const isSettings = (key: string): boolean => nearest(key, ['settings', 'variables']) !== undefined;

/** Loads the declarations. Reads files and, if `-` is a PATH, the standard input; reads no secret. */
export async function load(asked: LoadOptions): Promise<Loaded> {
  const { kinds, collections, files, cwd } = asked;
  const finding = filesFor(asked);
  const prefixes = finding.stacks.length > 0 ? [VARIABLE, TERRAFORM_VARIABLE] : [VARIABLE];
  const options: Loading = {
    ...asked,
    prefixes,
    outside: outsideVariables(asked, prefixes),
    secretVariables: new Set(),
  };
  const stdin = finding.files.some(({ path }) => path === '-') ? await options.stdin() : undefined;
  const isBroken = finding.diagnostics.some(({ severity }) => severity === 'error');
  const brought = await broughtBy(options, isBroken ? [] : finding.stacks);
  const library = sourceFilesOf(
    beside(files, brought.documents),
    stdin,
    new Set([...kinds.values()].flatMap((kind) => secretNames(kind.attributes))),
    options.settingsAlone ? isSettings : undefined,
  );
  const report = reportOf([...finding.diagnostics, ...brought.diagnostics]);
  const brokenOff = report.failed();
  const base = { kinds, library, report };
  const found = [...finding.files, ...brought.documents];
  const overlays = finding.overlay ? [finding.overlay] : [];
  const read = await collect(base, found, { brought: brought.pieces });
  const collected = await withSettingsAbove(asked, finding, { read, report });
  const overlay = await collect(base, overlays, { overlay: true });
  const unknown = await refuseDeclaring(base, finding.ofEnvironments);
  const given = [...collected.variables, ...overlay.variables];
  const used = new Set<string>();
  const evaluate = await evaluatorFor(kinds, [collected, overlay]);
  const variables = new Map<string, Raw>();
  const run: ResolveRun = {
    ...base,
    collections,
    validators: await validatorsOf(kinds, collections),
    said: new Set(),
    scope: {
      variables,
      environment: options.environment,
      prefixes: options.prefixes,
      allowed: allowedIn([...collected.settings, ...overlay.settings]),
      using: (name) => used.add(name),
      filled: new Map(),
      ...defined({ evaluate, evaluateStack: brought.evaluateStack }),
    },
    lookups: new Map(collected.lookups.map(({ name, raw }) => [name, firstKey(raw)])),
    secret: secretsBelow(options, {}),
    forms: new Map(),
    unread: [...collected.unread, ...overlay.unread, ...(brokenOff ? [() => true] : [])],
    unusable: [],
  };
  for (const piece of given) takeVariable(run, variables, piece, brought.types.get(piece.name));
  for (const [name, text] of Object.entries(options.outside))
    takeOutside(run, variables, [name, text], brought.types.get(name));
  const parts = await resolve(options, run, collected, finding.overlay && overlay);
  refuseSecretVariables(run, options, given);
  // What could not be read may use anything.
  if (run.unread.length === 0) adviseUnused(options, used, report);
  const values = valuesFrom(options, used);
  const understood = projectOf(parts, finding.paths, values, collected.unknown, unknown);
  return {
    ...(!report.failed() && { project: understood }),
    understood,
    unusable: run.unusable,
    mayBeDeclared: (address) => mayDeclare(run, address),
    diagnostics: report.all(),
    settings_files: collected.settings.map(({ origin }) => origin.file),
    frame: framing(library, [...found, ...overlays], cwd),
  };
}

/** Where PATHs hold no settings and name a part of the project, with those of the project and their variables. */
async function withSettingsAbove(
  options: LoadOptions,
  { paths, stacks }: Pick<ReturnType<typeof findFiles>, 'paths' | 'stacks'>,
  { read, report }: { readonly read: Collected; readonly report: Report },
): Promise<Collected> {
  if (read.settings.length > 0 || stacks.length > 0 || paths.includes('.')) return read;
  const { settings, variables, diagnostics } = await settingsAbove(options, paths);
  for (const one of diagnostics) report.add(() => one);
  return { ...read, settings, variables: [...variables, ...read.variables] };
}

/** Nothing of several projects at once is read. Commands without declarations work in the folder of a fleet without settings. */
function filesFor({ files, cwd, paths, env, settingsAlone }: LoadOptions) {
  const all = findFiles(files, cwd, paths, env);
  const finding = settingsAlone ? { ...all, ofEnvironments: [] } : all;
  const complaints = finding.diagnostics.filter(({ code }) => code === FLEET_FOLDER);
  if (complaints.length === 0) return finding;
  return { ...finding, files: [], stacks: [], diagnostics: settingsAlone ? [] : complaints };
}

/** Undefined where nothing holds an expression. */
async function evaluatorFor(
  kinds: Kinds,
  all: readonly Collected[],
): Promise<Evaluate | undefined> {
  const pieces = all.flatMap((one) => [
    one.settings,
    one.lookups,
    one.expectations,
    one.declared,
    one.blocks,
    one.templates,
    one.uses,
  ]);
  if (!pieces.some((list) => list.some(({ raw }) => holdsCel(raw)))) return undefined;
  const { evaluatorOf } = await import('./evaluate-expression.js');
  return evaluatorOf((word) => word === 'lookups' || kinds.has(word));
}

const firstKey = (raw: Raw): string | undefined => (isMap(raw) ? Object.keys(raw)[0] : undefined);

function mayDeclare({ unread }: ResolveRun, address: string): boolean {
  const { kind, name } = tryAddress(address) ?? {};
  return kind === undefined || name === undefined || unread.some((mayHold) => mayHold(kind, name));
}

interface Brought extends Omit<StackBlock, 'expressions'>, Pick<StackFiles, 'documents'> {
  readonly evaluateStack?: EvaluateStack;
}

async function broughtBy(
  { files, kinds, cwd, synthesise, env = 'default' }: LoadOptions,
  sources: readonly StackSource[],
): Promise<Brought> {
  if (sources.length === 0) return { pieces: [], types: new Map(), documents: [], diagnostics: [] };
  const { desiredOf } = await import('./stacks/stack.js');
  const { readStacks } = await import('./stacks/stack-files.js');
  const { documents, ...read } = await readStacks(files, sources, synthesise);
  const { expressions, ...block } = desiredOf({ ...read, documents }, kinds, cwd, env);
  if (expressions.kept.length === 0) return { ...block, documents };
  const { stackEvaluator } = await import('./evaluate-stack-expression.js');
  return { ...block, documents, evaluateStack: await stackEvaluator(expressions) };
}

/** The disk with the documents of programs, which are on it no more. */
function beside(files: DeclarationFiles, documents: readonly ProgramDocument[]): DeclarationFiles {
  const texts = new Map(documents.map(({ path, bytes }) => [path, bytes]));
  return {
    ...files,
    stat: (path) => (texts.has(path) ? { kind: 'file', id: path } : files.stat(path)),
    read: (path, limit) => texts.get(path)?.subarray(0, limit) ?? files.read(path, limit),
  };
}

/** Of a program, the lines around the construct. */
function framing(library: SourceFiles, files: readonly FoundFile[], cwd: string): Loaded['frame'] {
  let byName: ReadonlyMap<string, FoundFile> | undefined;
  return (origin) => {
    if (origin.path !== undefined)
      return origin.line > 0
        ? library.frame(
            { file: origin.file, path: resolvePath(cwd, origin.file), named: false },
            origin,
          )
        : undefined;
    byName ??= new Map(files.map((one) => [one.file, one]));
    const found = byName.get(origin.file);
    return found && library.frame(found, origin);
  };
}

type Parts = Pick<
  Project,
  'settings' | 'lookups' | 'declarations' | 'expectations' | 'refactorings'
>;

/** An environment never shares a state file: what the shared files say of it counts without one. In a remote place it has a name of its own. */
function withoutStateFile({ state, ...rest }: Partial<Settings>): Partial<Settings> {
  if (!state || state.url === undefined || isAddress(state.url))
    return { ...rest, ...defined({ state }) };
  const { url: _, ...more } = state;
  return { ...rest, ...(Object.keys(more).length > 0 && { state: more }) };
}

const MOST_DECLARATIONS = 250_000;

async function resolve(
  options: Loading,
  bare: ResolveRun,
  collected: Collected,
  overlay: Collected | undefined,
): Promise<Parts> {
  const ofTenant = options.fleetVariables !== undefined;
  const shared = collected.settings.map((piece) => settingsOf(bare, piece, ofTenant));
  const own = overlay?.settings.map((piece) => settingsOf(bare, piece, ofTenant)) ?? [];
  const base = overlay ? shared.map(withoutStateFile) : shared;
  const settings = [...base, ...own].reduce(mergeSettings, defaultSettings);
  const run: ResolveRun = { ...bare, secret: secretsBelow(options, settings) };
  const lookups = collected.lookups.flatMap((piece) => lookupOf(run, piece) ?? []);
  const found: Declaration[] = [];
  const declared: RawEntry[] = [];
  const made = await templatePieces(run, collected);
  for (const piece of joined(collected.declared, made)) {
    if (collected.blocks.length > 0) declared.push(piece);
    for (const declaration of declarationsOf(run, piece)) found.push(declaration);
    if (found.length <= MOST_DECLARATIONS) continue;
    complain(run, piece, {
      path: [],
      code: 'too-many',
      summary: `the project declares more than ${MOST_DECLARATIONS} objects`,
      detail: 'Split it into several projects.',
    });
    run.unread.push(() => true);
    break;
  }
  const distinct = distinctAddresses(run, found);
  const { declarations, refactorings } = refactored(run, { ...collected, declared }, distinct);
  refuseConflicts(run, declarations);
  const { patternFault } =
    collected.expectations.length > 0
      ? await import('../expressions/schema-options.js')
      : { patternFault: () => undefined };
  const expectations = collected.expectations.flatMap(
    (piece) => expectationOf(run, piece, patternFault) ?? [],
  );
  return {
    settings,
    lookups,
    declarations,
    expectations,
    ...(refactorings.length > 0 && { refactorings }),
  };
}

function* joined<T>(...lists: readonly Iterable<T>[]): Generator<T> {
  for (const list of lists) yield* list;
}

/** The variables that are used. */
const valuesFrom = ({ outside }: Loading, used: ReadonlySet<string>) => ({
  variables: keptMembers(outside, (_, name) => used.has(name)),
  ...(used.size > 0 && { uses_variables: true }),
});

/** The digest is a function, because a copy of the project must not compute it: only a document in JSON, a saved plan, an apply and a fleet need it. */
function projectOf(
  parts: Parts,
  paths: readonly string[],
  values: ReturnType<typeof valuesFrom>,
  ...unknown: readonly (readonly UnknownFile[])[]
): Project {
  const unknown_files = unknown.flat();
  let known: string | undefined;
  return {
    ...parts,
    paths,
    ...values,
    ...(unknown_files.length > 0 && { unknown_files }),
    digest: () => (known ??= digestOf(parts)),
  };
}

/** Expectations are no part of it: a plan does not depend on them. */
function digestOf({ settings, lookups, declarations, refactorings = [] }: Parts): string {
  const declared = declarations.map(
    ({ address, values, lifecycle, origin, file, depends_on = [], moved_from = [] }) =>
      canonical([
        address,
        file ?? origin.file,
        spell(values),
        { ...lifecycle },
        ...depends_on,
        ...moved_from.map((former) => ({ moved_from: former.address })),
      ]),
  );
  const forgotten = refactorings.flatMap((one) =>
    one.block === 'removed' ? [{ removed: formatAddress(one.from), forgets: one.forgets }] : [],
  );
  // They lead objects to what is removed, and to no declaration that names them.
  const leading = refactorings.flatMap((one) =>
    one.block === 'moved' && forgotten.length > 0 ? [{ moved: one.from, to: one.to }] : [],
  );
  const asked = lookups.map(({ name, kind, where }) => canonical([name, kind, spell(where)]));
  return digest([
    sha256(declared.toSorted(compareText).join('\n')),
    asked.toSorted(compareText),
    { ...settings.policy, target: settings.target === 'emulator' ? 'emulator' : null },
    ...forgotten,
    ...leading,
  ]);
}

const VARIABLE = 'TRUEUP_VAR_';
const TERRAFORM_VARIABLE = 'TF_VAR_';

/** Values for the variables of a stack are given to trueup, or to Terraform. */
interface Loading extends LoadOptions {
  /** The first wins. */
  readonly prefixes: readonly string[];
  /** Variables that the caller gave, by name. */
  readonly outside: Readonly<Record<string, string>>;
  /** Names of the variables that secrets are read from, as they are found. */
  readonly secretVariables: Set<string>;
}

/** Variables that the caller gave, by name; `--var` wins over the environment. */
function outsideVariables(
  { environment, variables }: LoadOptions,
  prefixes: readonly string[],
): Readonly<Record<string, string>> {
  const named = prefixes.toReversed().flatMap((prefix) => variablesBelow(environment, prefix));
  return { ...Object.fromEntries(named), ...variables };
}

/** A value that a file gives; the file of the environment comes last and wins. */
function takeVariable(
  run: ResolveRun,
  known: Map<string, Raw>,
  piece: RawEntry,
  type: VariableType | undefined,
): void {
  const { name, raw } = piece;
  if (holdsExpression(raw))
    complain(run, piece, {
      path: [],
      code: 'misplaced-reference',
      summary: `the variable \`${name}\` cannot hold references or secrets`,
      detail: 'It holds a plain value; `$${` is a literal `${`.',
    });
  const value = ofType(raw, type);
  if (value === undefined)
    complain(run, piece, {
      path: [],
      code: 'bad-variable',
      summary: `the variable \`${name}\` has to be ${wordsOf(type).what}, not ${foundWord(raw)}`,
    });
  known.set(name, value ?? raw);
}

/** A value that the caller gave, which wins over those of files. */
function takeOutside(
  { unread, report }: ResolveRun,
  known: Map<string, Raw>,
  [name, text]: readonly [string, string],
  type: VariableType | undefined,
): void {
  const value = outsideValue(text, type, known.get(name));
  if (value !== undefined) return void known.set(name, value);
  unread.push((section, one) => section === 'variables' && one === name);
  const { what, example } = wordsOf(type);
  report.add(() => ({
    severity: 'error',
    code: 'bad-variable',
    summary: `the variable \`${name}\` has to be ${what}, and what it was given from outside is none`,
    detail: `As in: --var '${name}=${example}'`,
  }));
}

/** The secrets of the environment and of files that texts name, for what does not load the declarations. */
export function secretsNamed(
  texts: Iterable<string>,
  options: Pick<LoadOptions, 'environment' | 'files' | 'cwd'>,
  { secret_roots }: SecretSettings,
): readonly Secret[] {
  const found: Secret[] = [];
  const source = secretsBelow(
    {
      ...options,
      prefixes: [VARIABLE, TERRAFORM_VARIABLE],
      secretVariables: new Set(),
      found: (secret) => found.push(secret),
    },
    defined({ secret_roots }),
  );
  for (const text of texts) for (const [from, name] of secretsNamedIn(text)) source(from, name);
  return found;
}

type SecretSettings = Pick<Settings, 'secret_roots' | 'secrets'>;

type Reading = Pick<
  Loading,
  'environment' | 'files' | 'cwd' | 'prefixes' | 'secretVariables' | 'found' | 'commandOutput'
>;

const notRun: CommandOutput = async () => ({ problem: 'this command of trueup needs no values' });

/** The variable of a stack is given its value by several names. */
const secretsBelow = (
  {
    prefixes,
    secretVariables,
    found = () => undefined,
    commandOutput: output = notRun,
    ...places
  }: Reading,
  { secret_roots: roots = [], secrets: commands = {} }: SecretSettings,
): SecretSource =>
  secretSource({
    ...places,
    roots,
    commands,
    output,
    found,
    namesOf(name) {
      if (!name.startsWith(VARIABLE)) return [name];
      const variable = name.slice(VARIABLE.length);
      secretVariables.add(variable);
      return prefixes.map((prefix) => prefix + variable);
    },
  });

/** The variables that the caller gave by name, each with where. */
const namedOutside = ({ variables, fleetVariables = [] }: Loading) => [
  ...Object.keys(variables).map((name) => ({ name, source: '--var' })),
  ...fleetVariables.map((name) => ({ name, source: 'trueup.fleet.yaml' })),
];

/** The variables of secrets come from the environment: a command line is seen by others, and a file is shared. */
function refuseSecretVariables(
  run: ResolveRun,
  options: Loading,
  inFiles: readonly RawEntry[],
): void {
  const { secretVariables, prefixes } = options;
  const said = (name: string, where: string): Omit<Violation, 'path'> => ({
    code: 'literal-secret',
    summary: `the variable \`${name}\` is secret: its value is not allowed ${where}`,
    detail: `Give it in the environment: ${prefixes.map((prefix) => prefix + name).join(' or ')}.`,
  });
  for (const { name, source } of namedOutside(options))
    if (secretVariables.has(name))
      run.report.add(() => ({ severity: 'error', ...said(name, `in ${source}`) }));
  for (const piece of inFiles)
    if (secretVariables.has(piece.name))
      complain(run, piece, { path: [], ...said(piece.name, 'in a file') });
}

function adviseUnused(options: Loading, used: ReadonlySet<string>, report: Report): void {
  for (const { name, source } of namedOutside(options))
    if (!used.has(name) && !options.secretVariables.has(name))
      report.add(() => ({
        severity: 'warning',
        code: 'unused-variable',
        summary: `nothing uses the variable \`${name}\` that ${source} gives.${didYouMean(name, used)}`,
      }));
}
