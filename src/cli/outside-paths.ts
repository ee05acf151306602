// What PATHs leave out of a project: the limits count what is declared there, and a declaration or a block there may speak
// against what the plan would remove.
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import {
  append,
  cached,
  defined,
  errorCode,
  isAddress,
  type OutsideFiles,
  type Project,
  type Refactoring,
  type Settings,
} from '../model/index.js';
import type { LoadOptions, Loaded } from '../declarations/index.js';
import { FLEET_FILE } from '../fleet/tenant.js';
import type { DeclarationFiles } from '../platform/index.js';
import type { Context } from './context.js';
import { statePlace } from './state-location.js';

interface Reader {
  readonly files: DeclarationFiles;
  readonly load: (
    paths: readonly string[],
    more?: Pick<LoadOptions, 'settingsAlone' | 'walked' | 'walkedLast'>,
  ) => Promise<Loaded>;
}

type Site = Pick<Context, 'cwd' | 'environment' | 'flags' | 'kinds'>;

const isBelow = (path: string): boolean => /^(?!\/|\.\.(\/|$))/.test(path);

/**
 * The project with what other files declare, where PATHs below the current folder leave them out, and with what reads
 * their blocks. Files with errors, and CDK programs, count nothing, which makes the limits stricter.
 */
export async function withOutsidePaths(
  context: Site,
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
  // Files that no walk reads, and that declare something all the same.
  const hidden = (all?.diagnostics ?? []).flatMap(({ code, origin, summary }) =>
    code === 'environment-file' && origin ? [{ origin, summary }] : [],
  );
  const outside_paths = all?.project?.declarations.filter(({ address }) => !own.has(address));
  return {
    ...project,
    ...(outside_paths?.length && { outside_paths }),
    ...(all &&
      !all.project && { outside_faulty: [...all.understood.declarations, ...all.unusable] }),
    async readOutside(recorded) {
      const isNamed = await leadTo(cwd, project, reader);
      const there = recorded.filter((file) => isReadable(files, cwd, file));
      const { names, faults } = await around({ cwd, paths, recorded: there }, reader);
      const higher = above(files, cwd, recorded);
      return outsideFiles(context, project, {
        names: [...new Set([...there, ...higher.keys(), ...names])].filter(
          (file) => !isNamed(file),
        ),
        above: higher,
        faults: [...faults, ...hidden].filter(({ origin }) => !isNamed(origin.file)),
        isNamed,
        reader,
        recorded: new Set(recorded),
      });
    },
  };
}

/** The files around PATHs, and those around the recorded ones; none around the standard input. */
async function around(
  { cwd, paths, recorded }: Named & { readonly recorded: readonly string[] },
  { files, load }: Reader,
): Promise<Pick<Finding, 'names' | 'faults'>> {
  const named = paths.filter((path) => path !== '-');
  if (named.length === 0) return { names: [], faults: [] };
  const { yamlFilesBelow } = await import('../declarations/index.js');
  // The project may be in a hidden folder, which no walk of the current one enters.
  const { settings_files } = await load(named, { settingsAlone: true });
  const folders = settings_files.map((file) => dirname(file)).filter(isBelow);
  const { names, faults } = yamlFilesBelow(files, cwd, ['.', ...folders]);
  const beside = await namesBeside({ cwd, paths: [...paths, ...recorded] }, files);
  return { names: [...names, ...beside], faults };
}

interface Named {
  readonly cwd: string;
  readonly paths: readonly string[];
}

/** Tells whether PATHs lead to a file, which may be there by way of a link. */
async function leadTo(
  cwd: string,
  { paths, declarations, refactorings = [] }: Project,
  { files }: Reader,
): Promise<(file: string) => boolean> {
  const { yamlFilesAt } = await import('../declarations/index.js');
  const pathsOf = (file: string): readonly string[] => {
    const path = resolve(cwd, file);
    return [path, files.realPath(path) ?? path];
  };
  const own = [...declarations, ...refactorings].map(fileOf);
  const known = new Set([...yamlFilesAt(files, cwd, paths), ...paths, ...own].flatMap(pathsOf));
  return (file) => pathsOf(file).some((path) => known.has(path));
}

/** The files of recorded names in the folders above, with these: the plan before may have been made there. */
const above = (
  files: DeclarationFiles,
  cwd: string,
  recorded: readonly string[],
): ReadonlyMap<string, string> =>
  new Map(
    foldersAbove(cwd).flatMap((folder) =>
      recorded.flatMap((name) => {
        const file = relative(cwd, join(folder, name));
        return !isAbsolute(name) && isReadable(files, cwd, file) ? [[file, folder] as const] : [];
      }),
    ),
  );

const foldersAbove = (folder: string): readonly string[] =>
  folder === dirname(folder) ? [] : [dirname(folder), ...foldersAbove(dirname(folder))];

/** What is at a path: `unknown` where that cannot be looked at. */
function kindAt(files: DeclarationFiles, cwd: string, path: string) {
  try {
    return files.stat(resolve(cwd, path))?.kind;
  } catch (error) {
    // A part of the path is a file, such as the program whose document is named.
    return errorCode(error) === 'ENOTDIR' ? undefined : 'unknown';
  }
}

/** Whether a recorded file is there, or may be. What a program declares is not read without running it. */
const isReadable = (files: DeclarationFiles, cwd: string, file: string): boolean =>
  file !== '-' &&
  basename(file) !== 'cdktf.json' &&
  ['file', 'unknown'].includes(kindAt(files, cwd, file) ?? '');

/** The YAML files, and the stacks, beside those that PATHs name, and the output of programs there and in the current folder. */
async function namesBeside(
  { cwd, paths }: Named,
  files: DeclarationFiles,
): Promise<readonly string[]> {
  const { DOCUMENTS_OUTPUT, STACKS_OUTPUT, yamlFilesIn } = await import('../declarations/index.js');
  const folders = foldersOf(files, { cwd, paths });
  const yamlIn = (folder: string): readonly string[] =>
    (yamlFilesIn(files, cwd, folder) ?? []).map(({ file }) => file);
  const programs = new Set(paths.map((path) => resolve(cwd, path)));
  // What a program of the PATHs wrote before it was edited is out of date.
  const isProgram = (folder: string): boolean => {
    const program = resolve(cwd, folder, 'cdktf.json');
    return (
      kindAt(files, cwd, program) !== undefined &&
      [program, dirname(program)].some((one) => programs.has(one))
    );
  };
  return [
    ...[...folders].flatMap((folder) => [
      ...yamlIn(folder),
      ...stacksOf(files, cwd, join(folder, '..', '..')),
    ]),
    ...[...new Set(['.', ...folders])].flatMap((folder) =>
      isProgram(folder) ? [] : stacksOf(files, cwd, join(folder, STACKS_OUTPUT)),
    ),
    ...[...new Set(['.', ...folders])].flatMap((folder) => yamlIn(join(folder, DOCUMENTS_OUTPUT))),
  ];
}

/** The stacks that a program left in a folder; none if it is another one, or cannot be looked at. */
function stacksOf(files: DeclarationFiles, cwd: string, output: string): readonly string[] {
  const kindOf = (name: string) => files.stat(resolve(cwd, output, name))?.kind;
  try {
    if (kindOf('manifest.json') !== 'file' || kindOf('stacks') !== 'folder') return [];
    return files
      .list(resolve(cwd, output, 'stacks'))
      .map((name) => join('stacks', name, 'cdk.tf.json'))
      .filter((name) => kindOf(name) === 'file')
      .map((name) => join(output, name));
  } catch {
    return [];
  }
}

/** The folders of the files that PATHs name, and the folders among them. */
const foldersOf = (files: DeclarationFiles, { cwd, paths }: Named): ReadonlySet<string> =>
  new Set(
    paths.flatMap((path) => {
      if (isReadable(files, cwd, path)) return relative(cwd, dirname(resolve(cwd, path))) || '.';
      return kindAt(files, cwd, path) === 'folder' ? path : [];
    }),
  );

/** What is at a place: of what a template or a program makes, its file is where it is used. */
type Sited = Pick<Refactoring, 'origin'> & { readonly file?: string };

const fileOf = ({ file, origin }: Sited): string => file ?? origin.file;

type Fault = NonNullable<OutsideFiles['error']>;

interface Finding {
  /** The files that PATHs leave out. */
  readonly names: readonly string[];
  /** What cannot be read at all. */
  readonly faults: readonly Fault[];
  /** Files whose names the state has from one of the folders above, with that folder. */
  readonly above: ReadonlyMap<string, string>;
  /** Whether PATHs lead to a file. */
  readonly isNamed: (file: string) => boolean;
  readonly reader: Reader;
  /** Files that the state names: they are of this project. */
  readonly recorded: ReadonlySet<string>;
}

/** What the files of this project say that PATHs leave out. Also where files have errors: an object would be deleted. */
async function outsideFiles(
  context: Site,
  project: Project,
  { names, faults, above: higher, isNamed, reader, recorded }: Finding,
): Promise<OutsideFiles> {
  const ofProject = projectFiles(context, project, { ...reader, above: higher });
  const ours = async (some: readonly string[]): Promise<string[]> => {
    const kept: string[] = [];
    for (const file of new Set(some))
      if (recorded.has(file) || (await ofProject(file))) kept.push(file);
    return kept;
  };
  const unread = new Set(await ours(faults.map(({ origin }) => origin.file)));
  const kept = await ours(names);
  const keys = await namesIn(kept, reader);
  const readGroup = groupReader(project, isNamed, reader);
  const found: Reading[] = [];
  for (const group of groupsOf({ files: kept, others: [] }, keys))
    found.push(...(await readGroup(group)));
  const errors = [
    ...faults.filter(({ origin }) => unread.has(origin.file)),
    ...found.flatMap(({ error }) => error ?? []),
  ];
  return {
    declarations: found.flatMap(({ declarations }) => declarations),
    blocks: found.flatMap(({ blocks }) => blocks),
    names: new Map([...keys].flatMap(([file, some]) => [...some].map((key) => [key, file]))),
    ...defined({ error: errors[0] }),
  };
}

type Reading = Pick<OutsideFiles, 'declarations' | 'blocks' | 'error'>;

/** Reads files together, and with each value that a variable may have there. */
function groupReader(
  project: Project,
  isNamed: Finding['isNamed'],
  { load }: Reader,
): (group: Group) => Promise<readonly Reading[]> {
  const paths = project.paths.filter((path) => path !== '-');
  const isElsewhere = (one: Sited): boolean => !isNamed(fileOf(one));
  return async ({ files, others }) => {
    const errorsIn = ({ diagnostics }: Loaded) =>
      diagnostics.flatMap(({ severity, code, origin, summary }) =>
        severity === 'error' && origin && !isNamed(origin.file) ? [{ code, origin, summary }] : [],
      );
    const first = await load(paths, { walked: files });
    const passive = new Set(
      errorsIn(first).flatMap(({ code, origin: { file } }) =>
        first.contents.passive.has(file) && code !== 'duplicate-declaration' ? [file] : [],
      ),
    );
    const kept = files.filter((file) => !passive.has(file));
    if (kept.length === 0) return [];
    // What needs a file that is left out has an error without it.
    const alone = passive.size > 0 ? await load(paths, { walked: kept }) : first;
    const needsOthers = others.length > 0 && errorsIn(alone).length > 0;
    const walked = needsOthers ? [...kept, ...others] : kept;
    const readings = [needsOthers ? await load(paths, { walked }) : alone];
    if (sharesVariables(readings[0]!.contents.keys, new Set(walked)))
      readings.push(await load(paths, { walked, walkedLast: true }));
    return readings.map((reading) => ({
      declarations: reading.understood.declarations.filter(isElsewhere),
      blocks: (reading.understood.refactorings ?? []).filter(isElsewhere),
      ...defined({ error: errorsIn(reading)[0] }),
    }));
  };
}

type Names = Loaded['contents']['keys'];

const namesIn = async (files: readonly string[], { load }: Reader): Promise<Names> =>
  files.length > 0 ? (await load([], { walked: files })).contents.keys : new Map();

/** Whether files give a variable a value that others give another one. Which of them counts depends on the order of the PATHs. */
function sharesVariables(keys: Names, files: ReadonlySet<string>): boolean {
  const given = (isOf: boolean): readonly string[] =>
    [...keys].flatMap(([file, some]) => (files.has(file) === isOf ? [...some] : []));
  const others = new Set(given(false));
  return given(true).some((key) => key.startsWith('variables.') && others.has(key));
}

interface Group {
  readonly files: readonly string[];
  /** Files of other groups that share no name with any file. */
  readonly others: readonly string[];
}

/**
 * Files that can be loaded together. Where several have one name, they are of parts that are never planned together, such
 * as the folders of tenants: each folder is loaded with the files that share no name.
 */
function groupsOf({ files, others }: Group, keys: Names): readonly Group[] {
  if (files.length === 0) return [];
  const holders = new Map<string, string[]>();
  for (const file of files) for (const key of keys.get(file) ?? []) append(holders, key, file);
  const conflicting = new Set([...holders.values()].filter((some) => some.length > 1).flat());
  const folders = [...conflicting].map((file) => file.split('/').slice(0, -1));
  const [first = []] = folders;
  const at = first.findIndex((part, index) => folders.some((one) => one[index] !== part));
  const depth = at < 0 ? first.length : at;
  const groupOf = (file: string): string =>
    file
      .split('/')
      .slice(0, -1)
      .slice(0, depth + 1)
      .join('/');
  const apart = new Set([...conflicting].map(groupOf));
  if (apart.size < 2) return [{ files, others }];
  return [...apart].flatMap((group) => {
    const isOther = (file: string): boolean => groupOf(file) !== group && apart.has(groupOf(file));
    const lent = files.filter((file) => isOther(file) && !conflicting.has(file));
    return groupsOf(
      { files: files.filter((file) => !isOther(file)), others: [...others, ...lent] },
      keys,
    );
  });
}

/** Files of projects are smaller. */
const LONGEST = 4 * 1024 * 1024;

/** Empty where a file cannot be read. */
function readableText(files: DeclarationFiles, path: string): string {
  try {
    if (files.stat(path)?.kind !== 'file') return '';
    return Buffer.from(files.read(path, LONGEST)).toString();
  } catch {
    return '';
  }
}

/** Nothing that could be of this project: no declarations, or no file of the environment. */
const NO_PART: ReadonlySet<string> = new Set(['no-declarations', 'no-environment-file']);

/**
 * Tells whether a file is of this project. In doubt it is. It is not if its settings name another state. Where the
 * environment names the state, other settings are those of another project.
 */
function projectFiles(
  context: Site,
  { settings, paths }: Project,
  { files, load, above: higher }: Reader & Pick<Finding, 'above'>,
): (file: string) => Promise<boolean> {
  const { cwd, environment } = context;
  const alone = { settingsAlone: true } as const;
  const readable = paths.filter((path) => path !== '-');
  let own: Promise<Loaded> | undefined;
  const byEnvironment = settings.state?.url === undefined && Boolean(environment['TRUEUP_STATE']);
  const real = (path: string): string =>
    files.realPath(path) ?? join(real(dirname(path)), basename(path));
  const placeOf = (some: Settings, folder = cwd): string => {
    const { url, project } = statePlace(context, some);
    return isAddress(url) ? `${url} ${project}` : real(resolve(folder, url));
  };
  /** There, a state at its usual place needs no variable of the environment. */
  const isUsual = (some: Settings, folder: string | undefined): boolean =>
    folder !== undefined &&
    some.state?.url === undefined &&
    real(resolve(folder, statePlace(context, some).usual)) === placeOf(settings);
  const isOurs = async (file: string, isHolder: boolean): Promise<boolean> => {
    // A stack has the settings of the PATHs that it is planned with.
    if (file.endsWith('.tf.json')) return true;
    const { settings_files: here } = await (own ??= load(readable, alone));
    const { understood, diagnostics, settings_files: there } = await load([file], alone);
    const isUnclear = diagnostics.some(
      ({ severity, code, origin }) =>
        severity === 'error' && !NO_PART.has(code) && (isHolder || origin?.file !== file),
    );
    if (isUnclear || there.some((one) => here.includes(one))) return true;
    const folder = higher.get(file);
    const isSame =
      placeOf(understood.settings, folder) === placeOf(settings) ||
      isUsual(understood.settings, folder);
    const { DOCUMENTS_OUTPUT } = await import('../declarations/index.js');
    if (there.length === 0) return isSame || isNear(cwd, [...paths, DOCUMENTS_OUTPUT], file);
    return isSame && (higher.has(file) || !(byEnvironment && here.length > 0));
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

/** Whether a file without settings may belong to the PATHs: it is in no folder of the current one in which no PATH is. */
function isNear(cwd: string, paths: readonly string[], file: string): boolean {
  const firstOf = (path: string): string => relative(cwd, resolve(cwd, path)).split(sep)[0]!;
  const isInFolder = isBelow(file) && relative(cwd, resolve(cwd, file)).includes(sep);
  return !isInFolder || paths.some((path) => firstOf(path) === firstOf(file));
}
