// What PATHs leave out of a project: the limits count what is declared there, and a declaration or a block there may speak
// against what the plan would remove.
import { dirname, join, normalize, relative, resolve, sep } from 'node:path';
import {
  cached,
  type OutsideError,
  type Project,
  type Refactoring,
  type Settings,
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
  // In a fleet, what other PATHs declare is of other tenants.
  if (files.stat(join(cwd, FLEET_FILE))) return project;
  const isInside = paths.every(isBelow);
  if (paths.includes('.') && isInside) return project;
  const all = isInside ? await load([]) : undefined;
  const isCut = !all || all.diagnostics.some(({ code }) => code === 'fleet-folder');
  const found = isCut ? await besidePaths(cwd, paths, reader) : all;
  if (!found) return project;
  const own = new Set(declarations.map(({ address }) => address));
  const outside_paths = all?.project?.declarations.filter(({ address }) => !own.has(address));
  return {
    ...project,
    ...(outside_paths?.length && { outside_paths }),
    ...(await outsideFiles(context, project, { found, reader })),
  };
}

/** What the YAML files declare that are beside those that PATHs name. */
async function besidePaths(
  cwd: string,
  paths: readonly string[],
  { files, load }: Reader,
): Promise<Loaded | undefined> {
  const { yamlFilesIn } = await import('../declarations/index.js');
  const folders = paths.flatMap((path) =>
    path !== '-' && files.stat(resolve(cwd, path))?.kind === 'file'
      ? [relative(cwd, dirname(resolve(cwd, path))) || '.']
      : [],
  );
  const names = [...new Set(folders)].flatMap((folder) =>
    (yamlFilesIn(files, cwd, folder) ?? []).map(({ file }) => file),
  );
  return names.length > 0 ? load(names) : undefined;
}

/** What the files of this project say that PATHs leave out. Also where files have errors: an object would be deleted. */
async function outsideFiles(
  context: Pick<Context, 'cwd' | 'environment'>,
  project: Project,
  { found, reader }: { readonly found: Loaded; readonly reader: Reader },
): Promise<Pick<Project, 'outside'>> {
  const { cwd } = context;
  const { files, load } = reader;
  const real = new Map<string, string>();
  const realOf = (file: string): string =>
    cached(real, file, () => files.realPath(resolve(cwd, file)) ?? resolve(cwd, file));
  const named = project.paths.map(realOf);
  const isNamed = ({ origin }: Pick<Refactoring, 'origin'>): boolean => {
    const path = realOf(origin.file);
    return named.some((one) => path === one || path.startsWith(one + sep));
  };
  const own = new Set(project.declarations.map(({ address }) => address));
  const saidBy = ({ understood, unusable, diagnostics }: Loaded) => ({
    blocks: (understood.refactorings ?? []).filter((one) => !isNamed(one)),
    errors: errorsIn(diagnostics, cwd, files).filter((one) => !isNamed(one)),
    declarations: [...understood.declarations, ...unusable].filter((one) => !isNamed(one)),
  });
  const first = saidBy(found);
  const ofProject = projectFiles(context, project, reader);
  // Two declarations of one address are never of one project.
  const doubtful = new Set([
    ...first.declarations.flatMap((one) => (own.has(one.address) ? [one.origin.file] : [])),
    ...found.diagnostics.flatMap(({ code, origin }) =>
      code === 'duplicate-declaration' && origin ? [origin.file] : [],
    ),
  ]);
  const isOurs = async (file: string): Promise<boolean> => {
    if (!(await ofProject(file))) return false;
    if (!doubtful.has(file)) return true;
    const { understood } = await load([file]);
    return !understood.declarations.some(({ address }) => own.has(address));
  };
  const known = new Map<string, Promise<boolean>>();
  const ours = async <T extends Pick<Refactoring, 'origin'>>(all: readonly T[]): Promise<T[]> => {
    const some: T[] = [];
    for (const one of all) {
      const { file } = one.origin;
      if (await cached(known, file, () => isOurs(file))) some.push(one);
    }
    return some;
  };
  const declarations = await ours(first.declarations);
  const kept = new Set(
    (await ours([...first.blocks, ...first.errors])).map(({ origin }) => origin.file),
  );
  if (kept.size === 0) return { outside: { declarations, blocks: [], errors: [] } };
  // Other projects have variables and addresses of their own, which must not count.
  const readable = project.paths.filter((path) => path !== '-');
  const again = saidBy(await load([...kept, ...readable]));
  const blocks = await ours([...first.blocks, ...again.blocks]);
  return { outside: { declarations, blocks, errors: await ours(again.errors) } };
}

/** Errors in files that may hold blocks. */
function errorsIn(
  diagnostics: Loaded['diagnostics'],
  cwd: string,
  files: DeclarationFiles,
): readonly OutsideError[] {
  const names = new Map<string, ReadonlySet<string>>();
  return diagnostics.flatMap(({ severity, origin, summary }): readonly OutsideError[] => {
    if (severity !== 'error' || !origin) return [];
    const { file } = origin;
    const some = cached(names, file, () => namesIn(readableText(files, resolve(cwd, file))));
    return some.size > 0 ? [{ origin, summary, names: some }] : [];
  });
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

const BLOCK = /(?:^|[{,])\s*["']?(?:moved|removed)["']?\s*:/m;
const FROM = /\bfrom["']?\s*:/;

/** Everything that could be an address in a block, without its key; of one whose name is an expression, the kind and a dot. */
function namesIn(text: string): ReadonlySet<string> {
  const isBlock = BLOCK.test(text) && FROM.test(text);
  return new Set(isBlock ? text.match(/[a-z]\w*\.(?:[\w-]+|(?=\$\{))/gi) : []);
}

/** Nothing that could be of this project: no declarations, or no file of the environment. */
const NO_PART: ReadonlySet<string> = new Set(['no-declarations', 'no-environment-file']);

/**
 * Tells whether a file is of this project. In doubt it is. It is not if its settings name another state. Where the
 * environment names the state, other settings are those of another project.
 */
function projectFiles(
  { cwd, environment }: Pick<Context, 'cwd' | 'environment'>,
  { settings, paths }: Project,
  { files, load }: Reader,
): (file: string) => Promise<boolean> {
  const alone = { settingsAlone: true } as const;
  const readable = paths.filter((path) => path !== '-');
  let own: Promise<Loaded> | undefined;
  const byEnvironment = settings.state?.url === undefined && Boolean(environment['TRUEUP_STATE']);
  const isOurs = async (file: string, isHolder: boolean): Promise<boolean> => {
    const { settings_files: here } = await (own ??= load(readable, alone));
    const { understood, diagnostics, settings_files: there } = await load([file], alone);
    const isUnclear = diagnostics.some(
      ({ severity, code, origin }) =>
        severity === 'error' && !NO_PART.has(code) && (isHolder || origin?.file !== file),
    );
    if (isUnclear || there.some((one) => here.includes(one))) return true;
    const isSame = placeOf(understood.settings) === placeOf(settings);
    return there.length === 0
      ? isSame || isNear(cwd, paths, file)
      : isSame && !(byEnvironment && here.length > 0);
  };
  const known = new Map<string, Promise<boolean>>();
  const holders = new Map<string, boolean>();
  return (file) => {
    const isHolder = cached(holders, file, () =>
      readableText(files, resolve(cwd, file)).includes('settings'),
    );
    // The others of a folder have the same settings.
    return cached(known, isHolder ? file : `${dirname(file)}/`, () => isOurs(file, isHolder));
  };
}

/** What tells two states apart. */
function placeOf({ state }: Settings): string {
  const { url, project } = state ?? {};
  return JSON.stringify([url?.includes('://') ? url : url && normalize(url), project]);
}

/** Whether a file without settings may belong to the PATHs: it is in no folder of the current one in which no PATH is. */
function isNear(cwd: string, paths: readonly string[], file: string): boolean {
  const firstOf = (path: string): string => relative(cwd, resolve(cwd, path)).split(sep)[0]!;
  const isInFolder = relative(cwd, resolve(cwd, file)).includes(sep);
  return !isInFolder || paths.some((path) => firstOf(path) === firstOf(file));
}
