// What PATHs leave out of a project: the limits count what is declared there, and a declaration or a block there may speak
// against what the plan would remove.
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import {
  cached,
  type OutsideError,
  type OutsideFiles,
  type Project,
  type Refactoring,
  type Settings,
} from '../model/index.js';
import type { Loaded } from '../declarations/index.js';
import { FLEET_FILE } from '../fleet/tenant.js';
import type { DeclarationFiles } from '../platform/index.js';
import type { Context } from './context.js';
import { statePlace } from './state-location.js';

interface Reader {
  readonly files: DeclarationFiles;
  readonly load: (
    paths: readonly string[],
    more?: { readonly settingsAlone: true },
  ) => Promise<Loaded>;
}

const isBelow = (path: string): boolean => /^(?!\/|\.\.(\/|$))/.test(path);

/**
 * The project with what other files declare, where PATHs below the current folder leave them out, and with what reads
 * their blocks. Files with errors, and CDK programs, count nothing, which makes the limits stricter.
 */
export async function withOutsidePaths(
  context: Pick<Context, 'cwd' | 'environment' | 'flags'>,
  project: Project,
  reader: Reader,
): Promise<Project> {
  const { cwd } = context;
  const { files, load } = reader;
  const { paths, declarations } = project;
  // In a fleet, what other PATHs declare is of other tenants.
  if (files.stat(join(cwd, FLEET_FILE))) return project;
  const named = paths.filter((path) => path !== '-');
  const isInside = named.length > 0 && named.every(isBelow);
  const isWhole = named.includes('.');
  const all = isInside && !isWhole ? await load([]) : undefined;
  const own = new Set(declarations.map(({ address }) => address));
  const outside_paths = all?.project?.declarations.filter(({ address }) => !own.has(address));
  const isCut = !all || all.diagnostics.some(({ code }) => code === 'fleet-folder');
  return {
    ...project,
    ...(outside_paths?.length && { outside_paths }),
    async readOutside(recorded) {
      const known = new Set(isCut ? [] : await namesBelow(cwd, reader));
      const others = [
        ...recorded.filter((file) => isReadable(files, cwd, file)),
        ...(await namesBeside({ cwd, paths }, reader)),
        ...(isCut && !isWhole && named.length > 0 ? await namesBelow(cwd, reader) : []),
      ];
      const isNamed = leadTo(cwd, project, reader);
      const names = [...new Set(others)].filter((file) => !known.has(file) && !isNamed(file));
      const found = [...(isCut ? [] : [all]), ...(names.length > 0 ? [await load(names)] : [])];
      return outsideFiles(context, project, { found, reader, recorded: new Set(recorded) });
    },
  };
}

interface Named {
  readonly cwd: string;
  readonly paths: readonly string[];
}

/** Tells whether PATHs lead to a file, which may be there by way of a link. */
function leadTo(
  cwd: string,
  { paths, declarations, refactorings = [] }: Project,
  { files }: Reader,
): (file: string) => boolean {
  const known = new Map<string, readonly string[]>();
  const pathsOf = (file: string): readonly string[] =>
    cached(known, file, () => {
      const path = resolve(cwd, file);
      return [path, files.realPath(path) ?? path];
    });
  const own = new Set([...declarations, ...refactorings].map(fileOf));
  const roots = [...paths, ...own].flatMap(pathsOf);
  return (file) =>
    pathsOf(file).some((path) =>
      roots.some(
        (root) =>
          path === root || (path.startsWith(root + sep) && isWalked(path.slice(root.length))),
      ),
    );
}

/** Whether the walk of a folder reads a file below it. */
const isWalked = (below: string): boolean => /\.ya?ml$/i.test(below) && !PASSED.test(below);

const PASSED = /[/\\](?:\.|(?:node_modules|cdktf\.out|trueup\.out)[/\\])/;

/** Whether a recorded file is there, or may be. What a program declares is not read without running it. */
function isReadable(files: DeclarationFiles, cwd: string, file: string): boolean {
  if (file === '-' || basename(file) === 'cdktf.json') return false;
  try {
    return files.stat(resolve(cwd, file))?.kind === 'file';
  } catch {
    return true;
  }
}

async function namesBelow(cwd: string, { files }: Reader): Promise<readonly string[]> {
  const { yamlFilesBelow } = await import('../declarations/index.js');
  return yamlFilesBelow(files, cwd);
}

/** The YAML files, and the stacks, beside those that PATHs name. */
async function namesBeside({ cwd, paths }: Named, { files }: Reader): Promise<readonly string[]> {
  const { yamlFilesIn } = await import('../declarations/index.js');
  return [...foldersOf(files, { cwd, paths })].flatMap((folder) => [
    ...(yamlFilesIn(files, cwd, folder) ?? []).map(({ file }) => file),
    ...stacksBeside(files, cwd, folder),
  ]);
}

/** The other stacks of the program that made a folder. */
function stacksBeside(files: DeclarationFiles, cwd: string, folder: string): readonly string[] {
  const stacks = dirname(folder);
  const isProgram = (): boolean =>
    files.stat(resolve(cwd, stacks, '..', 'manifest.json')) !== undefined;
  if (basename(stacks) !== 'stacks' || !isProgram()) return [];
  return files
    .list(resolve(cwd, stacks))
    .map((name) => `${stacks}/${name}/cdk.tf.json`)
    .filter((file) => files.stat(resolve(cwd, file))?.kind === 'file');
}

/** The folders of the files that PATHs name. */
const foldersOf = (files: DeclarationFiles, { cwd, paths }: Named): ReadonlySet<string> =>
  new Set(
    paths.flatMap((path) =>
      path !== '-' && files.stat(resolve(cwd, path))?.kind === 'file'
        ? [relative(cwd, dirname(resolve(cwd, path))) || '.']
        : [],
    ),
  );

/** What is at a place: of what a template or a program makes, its file is where it is used. */
type Sited = Pick<Refactoring, 'origin'> & { readonly file?: string };

const fileOf = ({ file, origin }: Sited): string => file ?? origin.file;

const atTop = (file: string): Sited => ({ origin: { file, line: 1, column: 1 } });

interface Finding {
  readonly found: readonly Loaded[];
  readonly reader: Reader;
  /** Files that the state names: they are of this project. */
  readonly recorded: ReadonlySet<string>;
}

/** What the files of this project say that PATHs leave out. Also where files have errors: an object would be deleted. */
async function outsideFiles(
  context: Pick<Context, 'cwd' | 'environment' | 'flags'>,
  project: Project,
  { found, reader, recorded }: Finding,
): Promise<OutsideFiles> {
  const { cwd } = context;
  const { files, load } = reader;
  const { paths } = project;
  const isNamed = leadTo(cwd, project, reader);
  const own = new Set(project.declarations.map(({ address }) => address));
  const isElsewhere = (one: Sited): boolean => !isNamed(fileOf(one));
  const faultsOf = (diagnostics: Loaded['diagnostics']) =>
    diagnostics.flatMap(({ severity, code, origin, summary }) =>
      severity === 'error' && code !== 'not-ours' && origin && !isNamed(origin.file)
        ? [{ origin, summary }]
        : [],
    );
  const saidBy = ({ understood, unusable, diagnostics, common_files }: Loaded) => ({
    blocks: (understood.refactorings ?? []).filter(isElsewhere),
    declarations: [...understood.declarations, ...unusable].filter(isElsewhere),
    faults: faultsOf(diagnostics),
    common: common_files.filter((file) => !isNamed(file)).map(atTop),
  });
  const first = found.map(saidBy);
  const ofProject = projectFiles(context, project, reader);
  // Two declarations of one address are never of one project.
  const doubtful = new Set([
    ...first.flatMap((one) =>
      one.declarations.filter(({ address }) => own.has(address)).map(fileOf),
    ),
    ...found.flatMap(({ diagnostics }) =>
      diagnostics.flatMap(({ code, origin }) =>
        code === 'duplicate-declaration' && origin ? [origin.file] : [],
      ),
    ),
  ]);
  const isOurs = async (file: string): Promise<boolean> => {
    if (recorded.has(file)) return true;
    const { isOfProject, isBeside } = await ofProject(file);
    if (!isOfProject || isBeside || !doubtful.has(file)) return isOfProject;
    const { understood } = await load([file]);
    return !understood.declarations.some(({ address }) => own.has(address));
  };
  const known = new Map<string, Promise<boolean>>();
  const ours = async <T extends Sited>(all: readonly T[]): Promise<T[]> => {
    const some: T[] = [];
    for (const one of all) {
      const file = fileOf(one);
      if (await cached(known, file, () => isOurs(file))) some.push(one);
    }
    return some;
  };
  const sites = first.flatMap((one): readonly Sited[] => [
    ...one.declarations,
    ...one.blocks,
    ...one.faults,
    ...one.common,
  ]);
  const kept = new Set((await ours(sites)).map(fileOf));
  if (kept.size === 0) return { declarations: [], blocks: [], errors: [] };
  // Other projects have variables and addresses of their own, which must not count.
  const loaded = await load([...kept, ...paths.filter((path) => path !== '-')]);
  const again = saidBy(loaded);
  const faults = await ours(again.faults);
  return {
    declarations: await ours(again.declarations),
    blocks: await ours([...first.flatMap(({ blocks }) => blocks), ...again.blocks]),
    errors: errorsIn(faults, cwd, files),
    ...(faults[0] && { unread: { ...faults[0], mayDeclare: loaded.mayBeDeclared } }),
  };
}

/** Errors in files that may hold blocks. */
function errorsIn(
  faults: readonly Pick<OutsideError, 'origin' | 'summary'>[],
  cwd: string,
  files: DeclarationFiles,
): readonly OutsideError[] {
  const names = new Map<string, ReadonlySet<string>>();
  return faults.flatMap(({ origin, summary }): readonly OutsideError[] => {
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

interface Belonging {
  readonly isOfProject: boolean;
  /** Whether it has settings of the PATHs, or neither has any, and it is in a folder of their files. */
  readonly isBeside: boolean;
}

/**
 * Tells whether a file is of this project. In doubt it is. It is not if its settings name another state. Where the
 * environment names the state, other settings are those of another project.
 */
function projectFiles(
  context: Pick<Context, 'cwd' | 'environment' | 'flags'>,
  { settings, paths }: Project,
  { files, load }: Reader,
): (file: string) => Promise<Belonging> {
  const { cwd, environment } = context;
  const alone = { settingsAlone: true } as const;
  const readable = paths.filter((path) => path !== '-');
  let own: Promise<Loaded> | undefined;
  const byEnvironment = settings.state?.url === undefined && Boolean(environment['TRUEUP_STATE']);
  const placeOf = (some: Settings): string => {
    const { url, project } = statePlace(context, some);
    return JSON.stringify([url.includes('://') ? url : resolve(cwd, url), project]);
  };
  const isOurs = async (file: string, isHolder: boolean): Promise<Belonging> => {
    const { settings_files: here } = await (own ??= load(readable, alone));
    const { understood, diagnostics, settings_files: there } = await load([file], alone);
    const isUnclear = diagnostics.some(
      ({ severity, code, origin }) =>
        severity === 'error' && !NO_PART.has(code) && (isHolder || origin?.file !== file),
    );
    const isShared = there.some((one) => here.includes(one));
    const isBare = there.length === 0 && here.length === 0;
    const isBeside = (isShared || isBare) && foldersOf(files, { cwd, paths }).has(dirname(file));
    if (isUnclear || isShared) return { isOfProject: true, isBeside };
    const isSame = placeOf(understood.settings) === placeOf(settings);
    const isOfProject =
      there.length === 0
        ? isSame || isNear(cwd, paths, file)
        : isSame && !(byEnvironment && here.length > 0);
    return { isOfProject, isBeside };
  };
  const known = new Map<string, Promise<Belonging>>();
  const holders = new Map<string, boolean>();
  return (file) => {
    const isHolder = cached(holders, file, () =>
      readableText(files, resolve(cwd, file)).includes('settings'),
    );
    // The others of a folder have the same settings.
    return cached(known, isHolder ? file : `${dirname(file)}/`, () => isOurs(file, isHolder));
  };
}

/** Whether a file without settings may belong to the PATHs: it is in no folder of the current one in which no PATH is. */
function isNear(cwd: string, paths: readonly string[], file: string): boolean {
  const firstOf = (path: string): string => relative(cwd, resolve(cwd, path)).split(sep)[0]!;
  const isInFolder = relative(cwd, resolve(cwd, file)).includes(sep);
  return !isInFolder || paths.some((path) => firstOf(path) === firstOf(file));
}
