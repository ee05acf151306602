// From PATH arguments to a project: find, read, sort, fill in, validate, convert. All complaints at once,
// each with its place; a project only where there is none.
import { resolve as resolvePath } from 'node:path';
import {
  canonical,
  compareText,
  defaultSettings,
  didYouMean,
  digest,
  nearest,
  sha256,
  tryAddress,
  type Collections,
  type Declaration,
  type Diagnostic,
  type Kinds,
  type Origin,
  type Project,
  type Secret,
} from '../model/index.js';
import type { DeclarationFiles } from '../platform/index.js';
import { collect, type Collected, type Piece } from './collect.js';
import { variablesBelow, type Environment } from './environment.js';
import type { PatternFault } from './expectation-schema-checks.js';
import { expectationOf } from './expectation.js';
import { holdsExpression, spell } from './interpolate.js';
import { libraryOf, type Library } from './file-reader.js';
import { findFiles, type FoundFile, type StackSource } from './paths.js';
import { isMap, type Raw } from './yaml/raw-values.js';
import { reportOf, type Report } from './diagnostics-list.js';
import {
  allowedIn,
  complain,
  declarationsOf,
  lookupOf,
  mergeSettings,
  refuseConflicts,
  settingsOf,
  type ResolveRun,
} from './resolve-declaration.js';
import { secretSource, secretsNamedIn, type SecretSource } from './secret-source.js';
import type { StackBlock } from './stacks/stack.js';
import type { ProgramDocument, StackFiles, Synthesise } from './stacks/stack-files.js';
import { found as foundWord, validatorsOf } from './validation.js';
import { ofType, outsideValue, wordsOf, type VariableTypes } from './stacks/variables.js';
import { secretNames } from './vocabulary.js';

export interface LoadOptions {
  readonly kinds: Kinds;
  /** What expectations may read. */
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
  /** Reads settings and variables alone: what is declared may be wrong then. */
  readonly settingsAlone?: boolean;
  /** `--env`. */
  readonly env?: string;
  /** `--var`. */
  readonly variables: Readonly<Record<string, string>>;
  /** Told of each secret that is declared, whether or not the project loads. */
  readonly found?: (secret: Secret) => void;
}

export interface Loaded {
  /** Absent where any diagnostic is an error. */
  readonly project?: Project;
  /** What was understood, whatever else is wrong: for checks of that alone. Equal to `project` if that is there. */
  readonly understood: Project;
  /** Declarations with errors. Their references can be checked, and references to them lead somewhere. */
  readonly unusable: readonly Declaration[];
  /** Whether an address may be declared in what could not be read. */
  readonly mayBeDeclared: (address: string) => boolean;
  readonly diagnostics: readonly Diagnostic[];
  /** The lines around a place in one of the files, cleared of secrets. */
  readonly frame: (origin: Origin) => string | undefined;
}

/** Whether a top-level key is, or may be meant for, settings or variables. */
const isSettings = (key: string): boolean => nearest(key, ['settings', 'variables']) !== undefined;

/** Loads the declarations. Reads files and, if `-` is a PATH, the standard input; reads no secret. */
export async function load(given: LoadOptions): Promise<Loaded> {
  const { kinds, collections, files, cwd } = given;
  const finding = findFiles(files, cwd, given.paths, given.env);
  const prefixes = finding.stacks.length > 0 ? [VARIABLE, TERRAFORM_VARIABLE] : [VARIABLE];
  const options: Loading = {
    ...given,
    prefixes,
    outside: outsideVariables(given, prefixes),
    secretVariables: new Set(),
  };
  const stdin = finding.files.some(({ path }) => path === '-') ? await options.stdin() : undefined;
  const brought =
    finding.stacks.length > 0 && finding.diagnostics.length === 0
      ? await broughtBy(options, finding.stacks)
      : { pieces: [], types: new Map(), documents: [], diagnostics: [] };
  const library = libraryOf(
    beside(files, brought.documents),
    stdin,
    new Set([...kinds.values()].flatMap((kind) => secretNames(kind.attributes))),
    options.settingsAlone ? isSettings : undefined,
  );
  const report = reportOf([...finding.diagnostics, ...brought.diagnostics]);
  const collected = await collect(
    library,
    kinds,
    [...finding.files, ...brought.documents],
    report,
    { pieces: brought.pieces },
  );
  const overlay =
    finding.overlay &&
    (await collect(library, kinds, [finding.overlay], report, { overlay: true }));
  const used = new Set<string>();
  const brokenOff = [...finding.diagnostics, ...brought.diagnostics].some(
    ({ severity }) => severity === 'error',
  );
  const run: ResolveRun = {
    kinds,
    collections,
    library,
    report,
    validators: await validatorsOf(kinds, collections),
    said: new Set(),
    scope: {
      variables: new Map(),
      environment: options.environment,
      prefixes: options.prefixes,
      allowed: allowedIn([...collected.settings, ...(overlay?.settings ?? [])]),
      using: (name) => used.add(name),
    },
    lookups: new Map(
      collected.lookups.map(({ name, raw }) => [
        name,
        isMap(raw) ? Object.keys(raw)[0] : undefined,
      ]),
    ),
    secret: secretsBelow(options, []),
    forms: new Map(),
    unread: [...collected.unread, ...(overlay?.unread ?? []), ...(brokenOff ? [() => true] : [])],
    unusable: [],
  };
  const patternFault =
    collected.expectations.length > 0
      ? (await import('./patterns.js')).patternFault
      : () => undefined;
  const parts = resolve(
    options,
    patternFault,
    {
      ...run,
      scope: {
        ...run.scope,
        variables: variablesOf(run, options, collected, overlay, brought.types),
      },
    },
    collected,
    overlay,
  );
  refuseSecretVariables(run, options, [...collected.variables, ...(overlay?.variables ?? [])]);
  adviseUnused(options, used, report);
  const frame = framing(
    library,
    [...finding.files, ...brought.documents, ...(finding.overlay ? [finding.overlay] : [])],
    cwd,
  );
  const variables = Object.fromEntries(
    Object.entries(options.outside).filter(([name]) => used.has(name)),
  );
  const understood = projectOf(parts, finding.paths, variables);
  const mayBeDeclared = (address: string): boolean => {
    const { kind, name } = tryAddress(address) ?? {};
    return (
      kind === undefined || name === undefined || run.unread.some((mayHold) => mayHold(kind, name))
    );
  };
  return {
    ...(!report.failed() && { project: understood }),
    understood,
    unusable: run.unusable,
    mayBeDeclared,
    diagnostics: report.all(),
    frame,
  };
}

async function broughtBy(
  { files, kinds, cwd, synthesise }: LoadOptions,
  sources: readonly StackSource[],
): Promise<StackBlock & Pick<StackFiles, 'documents'>> {
  const { desiredOf, readStacks } = await import('./stacks/index.js');
  const read = await readStacks(files, sources, synthesise);
  return { ...desiredOf(read, kinds, cwd), documents: read.documents };
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
function framing(library: Library, files: readonly FoundFile[], cwd: string): Loaded['frame'] {
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

type Parts = Pick<Project, 'settings' | 'lookups' | 'declarations' | 'expectations'>;

const MOST_DECLARATIONS = 250_000;

function resolve(
  options: Loading,
  patternFault: PatternFault,
  bare: ResolveRun,
  collected: Collected,
  overlay: Collected | undefined,
): Parts {
  const shared = collected.settings.map((piece) => settingsOf(bare, piece));
  // An environment never shares a state: what the shared files say of it counts without one.
  const base = overlay ? shared.map(({ state: _, ...rest }) => rest) : shared;
  const settings = [
    ...base,
    ...(overlay?.settings ?? []).map((piece) => settingsOf(bare, piece)),
  ].reduce(mergeSettings, defaultSettings);
  const run: ResolveRun = { ...bare, secret: secretsBelow(options, settings.secret_roots ?? []) };
  const lookups = collected.lookups.flatMap((piece) => lookupOf(run, piece) ?? []);
  const declarations: Declaration[] = [];
  for (const piece of collected.declared) {
    for (const declaration of declarationsOf(run, piece)) declarations.push(declaration);
    if (declarations.length <= MOST_DECLARATIONS) continue;
    complain(run, piece, {
      path: [],
      code: 'too-many',
      summary: `the project declares more than ${MOST_DECLARATIONS} objects`,
      detail: 'Split it into several projects.',
    });
    run.unread.push(() => true);
    break;
  }
  refuseConflicts(run, declarations);
  return {
    settings,
    lookups,
    declarations,
    expectations: collected.expectations.flatMap(
      (piece) => expectationOf(run, piece, patternFault) ?? [],
    ),
  };
}

/** The digest is computed when it is first asked for: validation never needs it. */
function projectOf(
  parts: Parts,
  paths: readonly string[],
  variables: Readonly<Record<string, string>>,
): Project {
  let known: string | undefined;
  return {
    ...parts,
    paths,
    variables,
    get digest() {
      return (known ??= digestOf(parts));
    },
  };
}

/** What is expected is no part of it: a plan does not change with that. */
function digestOf({ settings, lookups, declarations }: Parts): string {
  const declared = declarations.map(
    ({ address, values, lifecycle, origin, file, depends_on = [] }) =>
      canonical([address, file ?? origin.file, spell(values), { ...lifecycle }, ...depends_on]),
  );
  const asked = lookups.map(({ name, kind, where }) => canonical([name, kind, spell(where)]));
  return digest([
    sha256(declared.toSorted(compareText).join('\n')),
    asked.toSorted(compareText),
    { ...settings.policy, target: settings.target ?? null },
  ]);
}

const VARIABLE = 'TRUEUP_VAR_';
const TERRAFORM_VARIABLE = 'TF_VAR_';

/** Values for the variables of a stack are given to trueup, or to Terraform. */
interface Loading extends LoadOptions {
  /** The first wins. */
  readonly prefixes: readonly string[];
  /** What the caller gave, by name. */
  readonly outside: Readonly<Record<string, string>>;
  /** Names of the variables that secrets are read from, as they are found. */
  readonly secretVariables: Set<string>;
}

/** What the caller gave, by name; `--var` wins over the environment. */
function outsideVariables(
  { environment, variables }: LoadOptions,
  prefixes: readonly string[],
): Readonly<Record<string, string>> {
  const named = prefixes.toReversed().flatMap((prefix) => variablesBelow(environment, prefix));
  return { ...Object.fromEntries(named), ...variables };
}

/** Values by name. What the caller gave wins over the environment's file, and that over the other files. */
function variablesOf(
  run: ResolveRun,
  options: Loading,
  collected: Collected,
  overlay: Collected | undefined,
  types: VariableTypes,
): ReadonlyMap<string, Raw> {
  const known = new Map<string, Raw>();
  for (const piece of [...collected.variables, ...(overlay?.variables ?? [])]) {
    if (holdsExpression(piece.raw)) {
      complain(run, piece, {
        path: [],
        code: 'misplaced-reference',
        summary: `the variable \`${piece.name}\` cannot hold references or secrets`,
        detail: 'It holds a plain value; `$${` is a literal `${`.',
      });
    }
    const type = types.get(piece.name);
    const value = ofType(piece.raw, type);
    if (value === undefined)
      complain(run, piece, {
        path: [],
        code: 'bad-variable',
        summary: `the variable \`${piece.name}\` has to be ${wordsOf(type).what}, not ${foundWord(piece.raw)}`,
      });
    known.set(piece.name, value ?? piece.raw);
  }
  for (const [name, text] of Object.entries(options.outside)) {
    const type = types.get(name);
    const value = outsideValue(text, type, known.get(name));
    if (value !== undefined) {
      known.set(name, value);
      continue;
    }
    run.unread.push((section, one) => section === 'variables' && one === name);
    run.report.add(() => ({
      severity: 'error',
      code: 'bad-variable',
      summary: `the variable \`${name}\` has to be ${wordsOf(type).what}, and what it was given from outside is none`,
      detail: `As in: --var '${name}=${wordsOf(type).example}'`,
    }));
  }
  return known;
}

/** The secrets that texts name, for what does not load the declarations. @param roots `settings.secret_roots` */
export function secretsNamed(
  texts: Iterable<string>,
  options: Pick<LoadOptions, 'environment' | 'files' | 'cwd'>,
  roots: readonly string[],
): readonly Secret[] {
  const found: Secret[] = [];
  const source = secretsBelow(
    {
      ...options,
      prefixes: [VARIABLE, TERRAFORM_VARIABLE],
      secretVariables: new Set(),
      found: (secret) => found.push(secret),
    },
    roots,
  );
  for (const text of texts) for (const [from, name] of secretsNamedIn(text)) source(from, name);
  return found;
}

type Reading = Pick<
  Loading,
  'environment' | 'files' | 'cwd' | 'prefixes' | 'secretVariables' | 'found'
>;

/** The variable of a stack is given its value by several names. */
const secretsBelow = (
  { environment, files, cwd, prefixes, secretVariables, found = () => undefined }: Reading,
  roots: readonly string[],
): SecretSource =>
  secretSource({
    environment,
    files,
    cwd,
    roots,
    found,
    namesOf(name) {
      if (!name.startsWith(VARIABLE)) return [name];
      const variable = name.slice(VARIABLE.length);
      secretVariables.add(variable);
      return prefixes.map((prefix) => prefix + variable);
    },
  });
/** The variables of secrets come from the environment: a command line is seen by others, and a file is shared. */
function refuseSecretVariables(
  run: ResolveRun,
  { variables, secretVariables, prefixes }: Loading,
  inFiles: readonly Piece[],
): void {
  const detail = (name: string): string =>
    `Give it in the environment: ${prefixes.map((prefix) => prefix + name).join(' or ')}.`;
  for (const name of Object.keys(variables))
    if (secretVariables.has(name))
      run.report.add(() => ({
        severity: 'error',
        code: 'literal-secret',
        summary: `the variable \`${name}\` is secret: its value cannot be given by --var`,
        detail: detail(name),
      }));
  for (const piece of inFiles)
    if (secretVariables.has(piece.name))
      complain(run, piece, {
        path: [],
        code: 'literal-secret',
        summary: `the variable \`${piece.name}\` is secret: its value cannot stand in a file`,
        detail: detail(piece.name),
      });
}

function adviseUnused(options: Loading, used: ReadonlySet<string>, report: Report): void {
  for (const name of Object.keys(options.variables)) {
    if (!used.has(name) && !options.secretVariables.has(name))
      report.add(() => ({
        severity: 'warning',
        code: 'unused-variable',
        summary: `nothing uses the variable \`${name}\` that --var gives.${didYouMean(name, used)}`,
      }));
  }
}
