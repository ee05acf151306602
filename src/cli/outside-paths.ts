// What PATHs leave out of a project: the limits count what is declared there, and the plan removes nothing that a file
// there mentions.
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import {
  cached,
  errorCode,
  isAddress,
  type Diagnostic,
  type Mention,
  type OutsideFiles,
  type Project,
  type Settings,
} from '../model/index.js';
import type { LoadOptions, Loaded } from '../declarations/index.js';
import { addressPlace, FLEET_FILE } from '../fleet/tenant.js';
import type { DeclarationFiles } from '../platform/index.js';
import type { Context } from './context.js';
import { statePlace } from './state-location.js';

interface Reader {
  readonly files: DeclarationFiles;
  readonly load: (
    paths: readonly string[],
    more?: Partial<Pick<LoadOptions, 'cwd' | 'settingsAlone'>>,
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
  const outside_paths = all?.project?.declarations.filter(({ address }) => !own.has(address));
  return {
    ...project,
    ...(outside_paths?.length && { outside_paths }),
    ...(all &&
      !all.project && { outside_faulty: [...all.understood.declarations, ...all.unusable] }),
    async readOutside(recorded) {
      const isNamed = await leadTo(cwd, project, reader);
      const there = recorded.filter((file) => isReadable(files, cwd, file));
      const programs = new Set(
        recorded.flatMap((file) => {
          const program = programOf(file);
          return program !== undefined && kindAt(files, cwd, program) && !isNamed(program)
            ? program
            : [];
        }),
      );
      // Also of files that are gone: they may have another name now.
      const folders = recorded.flatMap((file) => {
        const folder = dirname(programOf(file) ?? file);
        return kindAt(files, cwd, folder) === 'folder' ? folder : [];
      });
      const { names, faults } = await around({ cwd, paths, folders }, reader);
      const higher = above(files, cwd, recorded);
      return outsideFiles(context, project, {
        names: [...there, ...higher.keys(), ...names].filter((file) => !isNamed(file)),
        above: higher,
        faults: faults.filter(({ origin }) => !isNamed(origin.file)),
        programs,
        reader,
        recorded: new Set(recorded),
      });
    },
  };
}

/** The files around PATHs, and those in the folders of the recorded ones; none around the standard input. */
async function around(
  { cwd, paths, folders: recorded }: Around,
  { files, load }: Reader,
): Promise<Pick<Finding, 'names' | 'faults'>> {
  const named = paths.filter((path) => path !== '-');
  if (named.length === 0) return { names: [], faults: [] };
  const { yamlFilesBelow } = await import('../declarations/index.js');
  // The project may be in a hidden folder, which no walk of the current one enters.
  const { settings_files } = await load(named, { settingsAlone: true });
  // Outside of the current folder, only one that holds more of the PATHs in its folders: others may be of the whole machine.
  const places = named.map((path) =>
    resolve(cwd, kindAt(files, cwd, path) === 'folder' ? path : dirname(path)),
  );
  const isSpanned = (folder: string): boolean =>
    isBelow(folder) || places.some((one) => one.startsWith(join(resolve(cwd, folder), '/')));
  const folders = settings_files.map((file) => dirname(file)).filter(isSpanned);
  const { names, faults } = yamlFilesBelow(files, cwd, ['.', ...folders]);
  const beside = await namesBeside({ cwd, paths, folders: recorded }, files);
  return { names: [...names, ...beside], faults };
}

interface Named {
  readonly cwd: string;
  readonly paths: readonly string[];
}

interface Around extends Named {
  /** Those of the recorded files. */
  readonly folders: readonly string[];
}

/** Tells whether PATHs lead to a file, which may be there by way of a link. */
async function leadTo(
  cwd: string,
  { paths }: Project,
  { files }: Reader,
): Promise<(file: string) => boolean> {
  const { filesAt } = await import('../declarations/index.js');
  const pathsOf = (file: string): readonly string[] => {
    const path = resolve(cwd, file);
    return [path, files.realPath(path) ?? path];
  };
  const stacks = paths.flatMap((path) => stacksOf(files, cwd, path));
  const known = new Set([...filesAt(files, cwd, paths), ...paths, ...stacks].flatMap(pathsOf));
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

/** The program that declared what the state has from a file, which may be one of its documents. */
function programOf(file: string): string | undefined {
  if (basename(file) === PROGRAM) return file;
  return basename(dirname(file)) === PROGRAM ? dirname(file) : undefined;
}

const PROGRAM = 'cdktf.json';

/** Whether a recorded file is there, or may be. What a program declares is not read without running it. */
const isReadable = (files: DeclarationFiles, cwd: string, file: string): boolean =>
  file !== '-' &&
  basename(file) !== PROGRAM &&
  ['file', 'unknown'].includes(kindAt(files, cwd, file) ?? '');

/** The YAML files, and the stacks, in the folders of PATHs and of recorded files, and the output of programs there and in the current folder. */
async function namesBeside(
  { cwd, paths, folders: recorded }: Around,
  files: DeclarationFiles,
): Promise<readonly string[]> {
  const { DOCUMENTS_OUTPUT, STACKS_OUTPUT, yamlFilesIn } = await import('../declarations/index.js');
  const folders = new Set([...foldersOf(files, { cwd, paths }), ...recorded]);
  const yamlIn = (folder: string): readonly string[] =>
    (yamlFilesIn(files, cwd, folder) ?? []).map(({ file }) => file);
  const programs = new Set(paths.map((path) => resolve(cwd, path)));
  // What a program of the PATHs wrote before it was edited is out of date.
  const isProgram = (folder: string): boolean => {
    const program = resolve(cwd, folder, PROGRAM);
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
      isProgram(folder)
        ? []
        : [
            ...stacksOf(files, cwd, join(folder, STACKS_OUTPUT)),
            ...yamlIn(join(folder, DOCUMENTS_OUTPUT)),
          ],
    ),
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

type Fault = Pick<Diagnostic, 'summary'> & Pick<Mention, 'origin'>;

interface Finding {
  /** The files that PATHs leave out. */
  readonly names: readonly string[];
  /** What cannot be read at all. */
  readonly faults: readonly Fault[];
  /** Programs that the state names. What they declare is not known without running them. */
  readonly programs: ReadonlySet<string>;
  /** Files whose names the state has from one of the folders above, with that folder. */
  readonly above: ReadonlyMap<string, string>;
  readonly reader: Reader;
  /** Files that the state names: they are of this project. */
  readonly recorded: ReadonlySet<string>;
}

/** What the files of this project say that PATHs leave out. */
async function outsideFiles(
  context: Site,
  project: Project,
  { names, faults, programs, above: higher, reader, recorded }: Finding,
): Promise<OutsideFiles> {
  const { cwd, kinds } = context;
  const { files } = reader;
  const { adoptedByTemplates, mentionsIn, realPath } = await import('../declarations/index.js');
  const paths = project.paths.filter((path) => path !== '-');
  const place = {
    files,
    kinds,
    cwd,
    adopted: await adoptedByTemplates({ files, kinds, cwd }, paths),
  };
  const ofProject = projectFiles(context, project, {
    ...reader,
    above: higher,
    real: (path) => realPath(files, path),
  });
  const isOurs = async (file: string): Promise<boolean> =>
    recorded.has(file) || (await ofProject(file));
  const finds: OutsideFiles[] = [];
  for (const file of new Set(names))
    if (await isOurs(file)) finds.push(await mentionsIn(place, file));
  for (const { origin, summary } of faults) {
    const { file } = origin;
    const why = `cannot be read, and may declare it: ${summary}`;
    if (await isOurs(file)) finds.push(() => ({ file, origin, why, isFaulty: true }));
  }
  finds.push(({ file: from }) => {
    const file = programOf(from);
    if (file === undefined || !programs.has(file)) return undefined;
    return {
      file,
      origin: { file, line: 1, column: 1 },
      why: 'may still declare it: it was not run',
    };
  });
  return (object) => finds.flatMap((find) => find(object) ?? [])[0];
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

interface Following {
  /** Where a path leads, with every link followed. */
  readonly real: (path: string) => string;
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
  { files, load, above: higher, real }: Reader & Pick<Finding, 'above'> & Following,
): (file: string) => Promise<boolean> {
  const { cwd, environment } = context;
  const alone = { settingsAlone: true } as const;
  const readable = paths.filter((path) => path !== '-');
  let own: Promise<Loaded> | undefined;
  const byEnvironment = settings.state?.url === undefined && Boolean(environment['TRUEUP_STATE']);
  const placeOf = (some: Settings, folder = cwd): string => {
    const { url, project } = statePlace(context, some);
    return isAddress(url) ? `${addressPlace(url)} ${project}` : real(resolve(folder, url));
  };
  /** There, a state at its usual place needs no variable of the environment. */
  const isUsual = (some: Settings, folder: string): boolean =>
    some.state?.url === undefined &&
    real(resolve(folder, statePlace(context, some).usual)) === placeOf(settings);
  const isOurs = async (file: string, isHolder: boolean): Promise<boolean> => {
    const { settings_files: here } = await (own ??= load(readable, alone));
    const folder = higher.get(file) ?? cwd;
    const name = relative(folder, resolve(cwd, file));
    const isUnclear = ({ diagnostics }: Loaded): boolean =>
      diagnostics.some(
        ({ severity, code, origin }) =>
          severity === 'error' && !NO_PART.has(code) && (isHolder || origin?.file !== name),
      );
    const readSettings = (path: string) => load([path], { ...alone, cwd: folder });
    let found = await readSettings(name);
    // The variables that the name of the state needs may be in another file of the folder.
    if (isUnclear(found)) found = await readSettings(dirname(name));
    const there = found.settings_files.map((one) => relative(cwd, resolve(folder, one)));
    if (isUnclear(found) || there.some((one) => here.includes(one))) return true;
    const { settings: its } = found.understood;
    const isSame = placeOf(its, folder) === placeOf(settings) || isUsual(its, folder);
    // Settings that name no state may be of another project, for which the environment names another one.
    const isOther = byEnvironment && here.length > 0 && its.state?.url === undefined;
    if (there.length > 0) return isSame && (higher.has(file) || !isOther);
    // Without settings, it may be planned with any that name a state.
    return isSame || settings.state?.url !== undefined;
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
