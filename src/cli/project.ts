// Loads and lints the project of a command, and prints its diagnostics.
import { join } from 'node:path';
import {
  defined,
  errorDiagnostic,
  faultsOf,
  forEachLimited,
  pathWord,
  refuse,
  secretsIn,
  warning,
  Refusal,
  defaultSettings,
  type Diagnostic,
  type Origin,
  type Project,
  type Settings,
  type Unobtained,
  type Values,
} from '../model/index.js';
import { commandOutput } from '../platform/command-output.js';
import { declarationFiles } from '../platform/declaration-files.js';
import type { Loaded } from '../declarations/index.js';
import type { DeclarationFiles } from '../platform/index.js';
import { saidOf } from './commands-to-type.js';
import { warningsBriefly, type Context } from './context.js';
import { environmentOf } from './environment-settings.js';
import type * as checks from '../reconciler/plan/reference-checks.js';
import { withOutsidePaths } from './outside-paths.js';
import { isStateUnnamed, storeOf } from './state-location.js';

export interface Chosen {
  readonly env?: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
}

/** The values of `--env` and `--var`. @throws Refusal for a `--var` that is not name=value. */
export const chosen = (context: Context): Chosen => ({
  env: environmentOf(context),
  variables: Object.fromEntries(pairs('--var', context.flags.var)),
});

/** Values of a repeatable `--flag name=value`. @throws Refusal */
export function pairs(
  flag: string,
  words: readonly string[] = [],
): readonly (readonly [string, string])[] {
  return words.map((word) => {
    const at = word.indexOf('=');
    return at > 0
      ? [word.slice(0, at), word.slice(at + 1)]
      : refuse('usage', `${flag} takes name=value.`);
  });
}

/** Runs CDK programs while `work` goes on, and removes their output afterwards. */
async function withPrograms<T>(
  context: Context,
  work: (synthesise: (folder: string) => Promise<string>) => Promise<T>,
): Promise<T> {
  const made: { discard(): Promise<void> }[] = [];
  try {
    return await work(async (folder) => {
      const { programIn, synthesisedOnce } = await import('./cdk-program.js');
      const one = await synthesisedOnce(context, await programIn(context, folder));
      made.push(one);
      return one.output;
    });
  } finally {
    for (const one of made) await one.discard();
  }
}

async function read(
  context: Context,
  paths: readonly string[],
  { env, variables }: Chosen,
  { checks, files = declarationFiles, settingsAlone = false, synthesise: given }: Reading,
) {
  const { load, lint, propNamer } = await import('../declarations/index.js');
  const options = { ...loading(context, paths, { env, variables }), files, settingsAlone };
  const { kinds } = context;
  const loaded = await (settingsAlone
    ? load(options)
    : withPrograms(context, (synthesise) => load({ ...options, synthesise: given ?? synthesise })));
  const { project, understood, frame } = loaded;
  const found = [...loaded.diagnostics, ...(settingsAlone ? [] : lint(understood, kinds))];
  if (checks === 'always' || (checks === 'with errors' && found.some(isError)))
    found.push(
      ...(await brokenIn(context, loaded, env)),
      ...(await faultsIn(context, understood, env)),
    );
  const asProps = propNamer(kinds);
  const diagnostics = found.map((one) => framed(asProps(one), frame));
  return { project, diagnostics: await Promise.all(diagnostics.map(namingPlan(context))) };
}

/** A saved plan that is named as a PATH: other commands take it. */
const namingPlan =
  ({ cwd }: Context) =>
  async (one: Diagnostic): Promise<Diagnostic> => {
    const { code, origin } = one;
    if (code !== 'not-ours' || !isError(one) || !origin || origin.file === '-') return one;
    const { isSavedPlan } = await import('../state/plan-file.js');
    const text = Buffer.from(declarationFiles.read(join(cwd, origin.file), Infinity)).toString();
    if (!isSavedPlan(text)) return one;
    const { frame: _, ...bare } = one;
    const word = pathWord(origin.file);
    return {
      ...bare,
      summary: `${origin.file} is a saved plan, not a file of declarations`,
      detail: `To see it, type \`trueup show ${word}\`; to apply it, \`trueup apply ${word}\`.`,
    };
  };

const loading = (context: Context, paths: readonly string[], { env, variables }: Chosen) => {
  const { kinds, collections, cwd, environment, stdin, masking, fleetVariables } = context;
  return {
    kinds,
    collections,
    paths,
    cwd,
    files: declarationFiles,
    stdin,
    environment,
    variables,
    commandOutput,
    found: masking.add,
    ...defined({ env, fleetVariables }),
  };
};

interface Reading {
  readonly checks: Checks;
  readonly files?: DeclarationFiles;
  /** What is done for a CDK program, if it is not run. */
  readonly synthesise?: (folder: string) => Promise<string>;
  /** Then no program is run, and nothing else is checked. */
  readonly settingsAlone?: boolean;
}

/** When references and values are checked while loading, which may read the state: always, or beside other errors. Otherwise the plan checks those that it needs. */
type Checks = 'always' | 'with errors' | 'never';

const isError = ({ severity }: Diagnostic): boolean => severity === 'error';

/** References that lead nowhere or in a circle, those of declarations with other errors too. */
async function brokenIn(
  context: Context,
  { understood, unusable, mayBeDeclared }: Loaded,
  env: string | undefined,
): Promise<readonly Diagnostic[]> {
  const project =
    unusable.length === 0
      ? understood
      : { ...understood, declarations: [...understood.declarations, ...unusable] };
  try {
    return await brokenHere(context, project, env, { mayBeDeclared });
  } catch (error) {
    if (error instanceof Refusal) return error.diagnostics;
    throw error;
  }
}

/** Errors for values that trueup never sends, without the source line, which may contain a password. The state is read only if there is such a value: a value that is live already is a warning. */
async function faultsIn(
  context: Context,
  { settings, declarations }: Project,
  env: string | undefined,
): Promise<readonly Diagnostic[]> {
  const among = (prior: (address: string) => Values | undefined): readonly Diagnostic[] =>
    declarations.flatMap(({ address, kind: name, values, at }) => {
      const kind = context.kinds.get(name);
      const found = kind ? faultsOf(kind, values, prior(address)) : [];
      return found.map((one): Diagnostic => ({
        ...one,
        summary: `${address}: ${one.summary}`,
        address,
        frame: '',
        origin: at(one.attribute ?? ''),
      }));
    });
  const found = among(() => undefined);
  if (found.length === 0) return [];
  const snapshot = await (await storeOf(context, settings, env)).read();
  return snapshot ? among((address) => snapshot.state.resources[address]?.observed) : found;
}

/** The state is asked only if a reference leads out of what was loaded: it knows what other PATHs declare. */
export async function brokenHere(
  context: Context,
  project: Project,
  env: string | undefined,
  how: Parameters<typeof checks.brokenReferences>[2],
): Promise<readonly Diagnostic[]> {
  const { brokenReferences } = await import('../reconciler/plan/reference-checks.js');
  const broken = brokenReferences(context.kinds, project, how);
  if (!broken.some(({ code }) => code === 'unknown-reference')) return broken;
  const snapshot = await (await storeOf(context, project.settings, env)).read();
  return snapshot
    ? brokenReferences(context.kinds, project, { ...how, state: snapshot.state })
    : broken;
}

function framed(one: Diagnostic, frame: (origin: Origin) => string | undefined): Diagnostic {
  const isBare = one.origin && one.frame === undefined && one.severity !== 'info';
  return isBare ? { ...one, ...defined({ frame: frame(one.origin) }) } : one;
}

/** The project, with warnings and notes said. @throws Refusal as `projectToPlan` */
export async function loadProject(...loading: Parameters<typeof projectToPlan>): Promise<Project> {
  const [context] = loading;
  const { warnings = [], ...project } = await projectToPlan(...loading);
  await context.tell(warningsBriefly(context, warnings));
  return project;
}

/** The project for a plan, whose document has its warnings and notes. @throws Refusal with every complaint where it does not load. */
export async function projectToPlan(
  context: Context,
  paths: readonly string[],
  how: Chosen = chosen(context),
  reading: Reading = { checks: 'with errors' },
): Promise<Project> {
  const { project, diagnostics } = await read(context, paths, how, reading);
  if (!project || diagnostics.some(isError)) throw new Refusal(diagnostics);
  const { flags, masking, said } = context;
  if (flags.var) context.said = saidOf(masking, { ...said, variables: flags.var });
  return { ...project, warnings: diagnostics };
}

/** Commands of secret managers that run at once. */
const AT_ONCE = 8;

/**
 * Fetches what secret managers hold of the declared secrets, before anything is locked, shown or recorded. One that
 * cannot be had is a warning of the project: most plans need no value.
 */
export async function withSecrets(
  { signal, masking }: Pick<Context, 'signal' | 'masking'>,
  project: Project,
): Promise<Project> {
  const { declarations, warnings = [] } = project;
  const secrets = new Set(
    declarations
      .flatMap(({ values }) => [...secretsIn(values).values()])
      .filter((one) => one.fetch),
  );
  if (secrets.size === 0) return project;
  const problems = new Map<string, Unobtained>();
  await forEachLimited(secrets, AT_ONCE, async (secret) => {
    signal.throwIfAborted();
    const wrong = await secret.fetch?.(signal);
    if (wrong) problems.set(wrong.problem, wrong);
    else masking.add(secret);
  });
  signal.throwIfAborted();
  const failed = [...problems.values()].map(({ problem, isUnusable }) =>
    isUnusable
      ? errorDiagnostic(
          'not-utf8',
          problem,
          'Secrets are sent as text. Encode it, for example in Base64.',
        )
      : warning('secret-command', problem, 'Its secrets count as unchanged, and cannot be sent.'),
  );
  return { ...project, warnings: [...warnings, ...failed] };
}

/** The project with what policy rules need beyond what is loaded. */
export async function wholeProject(
  context: Context,
  project: Project,
  how: Chosen,
  files: DeclarationFiles = declarationFiles,
): Promise<Project> {
  const { load } = await import('../declarations/index.js');
  const whole = await withOutsidePaths(context, project, {
    files,
    load: (paths, more) => load({ ...loading(context, paths, how), files, ...more }),
  });
  return isStateUnnamed(context, project.settings) ? { ...whole, is_state_unnamed: true } : whole;
}

/**
 * The settings of the current folder, or of what PATHs or `--path` name, for what needs no declarations; the defaults where there
 * are none. What is declared may be as wrong as it likes, and no CDK program is run. @throws Refusal where the settings are not beyond doubt.
 */
export async function settingsHere(
  context: Context,
  paths: readonly string[] = context.flags.path ?? [],
): Promise<Settings> {
  const texts: string[] = [];
  const files: DeclarationFiles = {
    ...declarationFiles,
    read(path, limit) {
      const bytes = declarationFiles.read(path, limit);
      texts.push(Buffer.from(bytes).toString());
      return bytes;
    },
  };
  const stdin = async (): Promise<string> => {
    const text = await context.stdin();
    texts.push(text);
    return text;
  };
  const { project, diagnostics } = await read({ ...context, stdin }, paths, chosen(context), {
    checks: 'never',
    files,
    settingsAlone: true,
  });
  const settings = project?.settings ?? defaultSettings;
  await maskNamed(context, texts, settings);
  const errors = diagnostics.filter(isError);
  if (!project && errors.some(({ code }) => code !== 'no-declarations'))
    throw new Refusal(diagnostics);
  return settings;
}

/** The secrets of the declarations are masked in what is shown, whether or not a command loads them. */
async function maskNamed(
  { masking, environment, cwd }: Context,
  texts: readonly string[],
  settings: Settings,
): Promise<void> {
  if (!texts.some((text) => text.includes('secret.'))) return;
  const { secretsNamed } = await import('../declarations/index.js');
  for (const secret of secretsNamed(texts, { environment, cwd, files: declarationFiles }, settings))
    masking.add(secret);
}
