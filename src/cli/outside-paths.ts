// What PATHs leave out of a project: the limits count what is declared there, and a `moved` or `removed` block there may
// name what the plan would remove.
import { dirname, join, relative, resolve, sep } from 'node:path';
import {
  cached,
  equal,
  type OutsideError,
  type Project,
  type Refactoring,
} from '../model/index.js';
import type { Loaded } from '../declarations/index.js';
import { FLEET_FILE } from '../fleet/tenant.js';
import type { DeclarationFiles } from '../platform/index.js';
import type { Context } from './context.js';

interface Reader {
  readonly files: DeclarationFiles;
  readonly load: (
    paths: readonly string[],
    more?: { readonly settingsAlone: true },
  ) => Promise<Loaded>;
}

const isBelow = (path: string): boolean => /^(?![/-]|\.\.(\/|$))/.test(path);

/**
 * The project with what other files declare, where PATHs below the current folder leave them out, and with their blocks.
 * Files with errors, and CDK programs, count nothing, which makes the limits stricter.
 */
export async function withOutsidePaths(
  context: Pick<Context, 'cwd' | 'environment'>,
  project: Project,
  reader: Reader,
): Promise<Project> {
  const { cwd } = context;
  const { files, load } = reader;
  const { paths, declarations } = project;
  if (paths.includes('.') && paths.every(isBelow)) return project;
  // In a fleet, what other PATHs declare is of other tenants.
  const counts = !files.stat(join(cwd, FLEET_FILE)) && paths.every(isBelow);
  const others = counts ? [] : await besidePaths(cwd, paths, files);
  if (!counts && others.length === 0) return project;
  const whole = await load(others);
  const own = new Set(declarations.map(({ address }) => address));
  const outside_paths = whole.project?.declarations.filter(({ address }) => !own.has(address));
  return {
    ...project,
    ...(counts && outside_paths?.length && { outside_paths }),
    ...(await outsideBlocks(context, project, { whole, reader })),
  };
}

/** The YAML files beside those that PATHs name. */
async function besidePaths(
  cwd: string,
  paths: readonly string[],
  files: DeclarationFiles,
): Promise<readonly string[]> {
  const { yamlFilesIn } = await import('../declarations/index.js');
  const folders = paths.flatMap((path) =>
    path !== '-' && files.stat(resolve(cwd, path))?.kind === 'file'
      ? [relative(cwd, dirname(resolve(cwd, path))) || '.']
      : [],
  );
  return [...new Set(folders)].flatMap((folder) =>
    (yamlFilesIn(files, cwd, folder) ?? []).map(({ file }) => file),
  );
}

/** Also where files have errors: what a block there forgets would be deleted. */
async function outsideBlocks(
  context: Pick<Context, 'cwd' | 'environment'>,
  project: Project,
  { whole, reader }: { readonly whole: Loaded; readonly reader: Reader },
): Promise<Pick<Project, 'outside_errors' | 'outside_refactorings'>> {
  const { cwd } = context;
  const named = project.paths.map((path) => resolve(cwd, path));
  const isNamed = (file: string): boolean =>
    named.some((path) => path === resolve(cwd, file) || resolve(cwd, file).startsWith(path + sep));
  const placeOf = ({ origin }: Refactoring): string =>
    JSON.stringify({ ...origin, file: resolve(cwd, origin.file) });
  const own = new Set(project.refactorings?.map(placeOf));
  const isOurs = filesOf(context, project, reader);
  const blocks: Refactoring[] = [];
  for (const block of whole.understood.refactorings ?? [])
    if (!own.has(placeOf(block)) && (await isOurs(block.origin.file))) blocks.push(block);
  const errors: OutsideError[] = [];
  for (const { severity, origin, summary } of whole.diagnostics) {
    if (severity !== 'error' || !origin || isNamed(origin.file)) continue;
    const names = namesIn(readableText(reader.files, resolve(cwd, origin.file)));
    if (names.size > 0 && (await isOurs(origin.file))) errors.push({ origin, summary, names });
  }
  return { outside_refactorings: blocks, outside_errors: errors };
}

/** Files of projects are smaller. */
const LONGEST = 4 * 1024 * 1024;

/** Empty where a file cannot be read: nothing tells that it holds a block. */
function readableText(files: DeclarationFiles, path: string): string {
  try {
    return Buffer.from(files.read(path, LONGEST)).toString();
  } catch {
    return '';
  }
}

/** Everything that could be an address in a block. */
const namesIn = (text: string): ReadonlySet<string> =>
  new Set(/\b(?:moved|removed)\b/.test(text) ? text.match(/[a-z]\w*\.[\w-]+/gi) : []);

/** Nothing that could be of this project: no declarations, or no file of the environment. */
const NO_PART: ReadonlySet<string> = new Set(['no-declarations', 'no-environment-file']);

/**
 * Tells whether a file is of this project. In doubt it is. It is not if its settings name another state, or if it declares
 * an address that the PATHs declare. Where the environment names the state, other settings are those of another project.
 */
function filesOf(
  { cwd, environment }: Pick<Context, 'cwd' | 'environment'>,
  { settings: { state }, paths, declarations }: Project,
  { load }: Reader,
): (file: string) => Promise<boolean> {
  const alone = { settingsAlone: true } as const;
  let own: Promise<readonly string[]> | undefined;
  const ownSettings = async (): Promise<readonly string[]> => {
    const readable = paths.filter((path) => path !== '-');
    return (await load(readable, alone)).settings_files;
  };
  const declared = new Set(declarations.map(({ address }) => address));
  const byEnvironment = state?.url === undefined && Boolean(environment['TRUEUP_STATE']);
  const isOurs = async (file: string): Promise<boolean> => {
    const { understood, diagnostics, settings_files: there } = await load([file], alone);
    const isUnclear = diagnostics.some(
      ({ severity, code }) =>
        code === 'settings-unclear' || (severity === 'error' && !NO_PART.has(code)),
    );
    if (isUnclear) return true;
    const here = await (own ??= ownSettings());
    if (!there.some((one) => here.includes(one))) {
      const isSame = equal(understood.settings.state, state);
      if (there.length === 0 && !isSame && !isNear(cwd, paths, file)) return false;
      if (there.length > 0 && (!isSame || (byEnvironment && here.length > 0))) return false;
    }
    const { understood: whole } = await load([file]);
    return !whole.declarations.some(({ address }) => declared.has(address));
  };
  const known = new Map<string, Promise<boolean>>();
  return (file) => cached(known, file, () => isOurs(file));
}

/** Whether a file without settings may belong to the PATHs: it is in no folder of the current one in which no PATH is. */
function isNear(cwd: string, paths: readonly string[], file: string): boolean {
  const firstOf = (path: string): string => relative(cwd, resolve(cwd, path)).split(sep)[0]!;
  const isInFolder = relative(cwd, resolve(cwd, file)).includes(sep);
  return !isBelow(file) || !isInFolder || paths.some((path) => firstOf(path) === firstOf(file));
}
