// Finds the files of a project that PATHs leave out, and looks for mentions of objects in them.
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import {
  DOCUMENTS_OUTPUT,
  filesAt,
  filesBelow,
  mentionsIn,
  realPath,
  STACKS_OUTPUT,
  yamlFilesIn,
} from '../declarations/index.js';
import {
  cached,
  defined,
  errorCode,
  type Diagnostic,
  type FindMention,
  type Mention,
  type Project,
} from '../model/index.js';
import type { DeclarationFiles } from '../platform/index.js';
import { outputNamed } from './cdk-program.js';
import { fileProject, isBelow, startOf, type Loader, type Site } from './file-project.js';

interface Reading {
  readonly loader: Loader;
  /** The files that the state records. */
  readonly recorded: readonly string[];
}

/** @returns what looks for a mention of an object in the files that the PATHs of a project leave out */
export async function leftOutMentions(
  context: Site,
  project: Project,
  { loader, recorded }: Reading,
): Promise<FindMention> {
  const { cwd } = context;
  const { files } = loader;
  const { paths } = project;
  const isCovered = coveredByPaths(cwd, project, files);
  const there = recorded.filter((file) => isReadableFile(files, cwd, file));
  // Also of files that are gone: they may have another name now.
  const folders = recorded.flatMap((file) => {
    const folder = dirname(programOf(file) ?? file);
    return kindAt(files, cwd, folder) === 'folder' ? folder : [];
  });
  const roots = rootsAbove(files, cwd, recorded);
  const { names, faults, programs } = await around({ cwd, paths, folders, roots }, loader);
  const others = programs.filter((program) => !recorded.includes(program) && !isCovered(program));
  const higher = above(files, cwd, recorded);
  return mentionFinder(context, project, {
    names: [...there, ...higher.keys(), ...names].filter((file) => !isCovered(file)),
    above: higher,
    faults: faults.filter(({ origin }) => !isCovered(origin.file)),
    programs: new Map(
      recorded.flatMap((file) => {
        const program = programOf(file);
        const now =
          program === undefined
            ? missingOutput({ files, cwd, paths }, file)
            : programNow({ files, cwd, isCovered, others }, program);
        return now === undefined || isCovered(now) ? [] : [[file, now] as const];
      }),
    ),
    loader,
    recorded: new Set(recorded),
  });
}

/** The files around PATHs, and those in the folders of the recorded ones; none around the standard input. */
async function around(
  { cwd, paths, folders: recorded, roots }: Around,
  { files, load }: Loader,
): Promise<Pick<LeftOut, 'names' | 'faults'> & { readonly programs: readonly string[] }> {
  const named = paths.filter((path) => path !== '-');
  if (named.length === 0) return { names: [], faults: [], programs: [] };
  // The project may be in a hidden folder, which no walk of the current one enters.
  const { settings_files } = await load(named, { settingsAlone: true });
  // Outside of the current folder, only one that holds more of the PATHs in its folders: others may be of the whole machine.
  const places = named.map((path) =>
    resolve(cwd, kindAt(files, cwd, path) === 'folder' ? path : dirname(path)),
  );
  const isSpanned = (folder: string): boolean =>
    isBelow(folder) || places.some((one) => one.startsWith(join(resolve(cwd, folder), '/')));
  const folders = settings_files.map((file) => dirname(file)).filter(isSpanned);
  const { names, faults, programs } = filesBelow(files, cwd, ['.', ...folders, ...roots]);
  const written = programs.flatMap((program) => writtenIn(files, cwd, dirname(program)));
  const beside = namesBeside({ cwd, paths, folders: recorded, roots }, files);
  return { names: [...names, ...beside, ...written], faults, programs };
}

interface Named {
  readonly cwd: string;
  readonly paths: readonly string[];
}

interface Around extends Named {
  /** Those of the recorded files. */
  readonly folders: readonly string[];
  /** Folders above in which the plan before was made. */
  readonly roots: readonly string[];
}

/** Tells whether PATHs lead to a file, or to the program that wrote it. A file may be there by way of a link. */
function coveredByPaths(
  cwd: string,
  { paths }: Project,
  files: DeclarationFiles,
): (file: string) => boolean {
  const pathsOf = (file: string): readonly string[] => {
    const path = resolve(cwd, file);
    return [path, files.realPath(path) ?? path];
  };
  const stacks = paths.flatMap((path) => stacksIn(files, cwd, path));
  const written = programFolders(files, { cwd, paths }).flatMap((folder) =>
    writtenIn(files, cwd, folder),
  );
  const known = new Set(
    [...filesAt(files, cwd, paths), ...paths, ...stacks, ...written].flatMap(pathsOf),
  );
  return (file) => pathsOf(file).some((path) => known.has(path));
}

/** The folders of the programs that PATHs name. */
const programFolders = (files: DeclarationFiles, { cwd, paths }: Named): readonly string[] =>
  paths
    .map((path) => (basename(path) === PROGRAM ? dirname(path) : path))
    .filter((folder) => kindAt(files, cwd, join(folder, PROGRAM)) !== undefined);

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
        return !isAbsolute(name) && isReadableFile(files, cwd, file)
          ? [[file, folder] as const]
          : [];
      }),
    ),
  );

/** Folders above in which the plan before was made: from there, a recorded name leads to a file in the current folder. */
const rootsAbove = (
  files: DeclarationFiles,
  cwd: string,
  recorded: readonly string[],
): readonly string[] =>
  foldersAbove(cwd).flatMap((folder) => {
    const names = recorded
      .filter((name) => !isAbsolute(name))
      .map((name) => relative(cwd, join(folder, name)));
    const leadsHere = names.some((name) => isBelow(name) && isReadableFile(files, cwd, name));
    return leadsHere ? relative(cwd, folder) : [];
  });

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
const STACK = 'cdk.tf.json';

interface Programs extends Pick<Loader, 'files'>, Pick<Site, 'cwd'> {
  readonly isCovered: (file: string) => boolean;
  /** Programs that no PATH leads to and that the state does not record. */
  readonly others: readonly string[];
}

/**
 * Where a program is that the state records and no PATH leads to: where it was, in a folder above the current one if the
 * plan before was made there, or, if it is gone, maybe in the folder of another program.
 */
function programNow(
  { files, cwd, isCovered, others }: Programs,
  program: string,
): string | undefined {
  const isThere = (path: string): boolean => kindAt(files, cwd, path) !== undefined;
  if (isThere(program)) return program;
  const higher = foldersAbove(cwd).map((folder) => relative(cwd, join(folder, program)));
  const found = isAbsolute(program) ? [] : higher.filter(isThere);
  return [...found.filter((path) => !isCovered(path)), ...others][0];
}

/**
 * The program that wrote a recorded file that is gone, or else the folder of the output, which is often not committed;
 * undefined if a PATH is in this folder, or if the folder around it is gone, too.
 */
function missingOutput(
  { files, cwd, paths }: Named & Pick<Loader, 'files'>,
  file: string,
): string | undefined {
  const output = outputOf(file);
  if (isReadableFile(files, cwd, file) || paths.some((path) => `${path}/`.startsWith(`${output}/`)))
    return undefined;
  const isOutput = [STACKS_OUTPUT, DOCUMENTS_OUTPUT].includes(basename(output));
  const isLeft = isOutput && kindAt(files, cwd, dirname(output)) === 'folder';
  return writerOf(files, cwd, file) ?? (isLeft ? output : undefined);
}

/** The folder of an output that a stack, or a document, is in. */
const outputOf = (file: string): string =>
  basename(file) === STACK ? join(dirname(file), '..', '..') : dirname(file);

/** Whether a recorded file is there, or cannot be looked at. A program is none: it would have to be run. */
const isReadableFile = (files: DeclarationFiles, cwd: string, file: string): boolean =>
  file !== '-' &&
  basename(file) !== PROGRAM &&
  ['file', 'unknown'].includes(kindAt(files, cwd, file) ?? '');

/** The YAML files, and the stacks, in the folders of PATHs and of recorded files, and what programs wrote there and in the current folder. */
function namesBeside(
  { cwd, paths, folders: recorded }: Around,
  files: DeclarationFiles,
): readonly string[] {
  const folders = [...new Set([...foldersOf(files, { cwd, paths }), ...recorded])];
  return [
    ...folders.flatMap((folder) => [
      ...yamlIn(files, cwd, folder),
      ...stacksIn(files, cwd, join(folder, '..', '..')),
    ]),
    ...[...new Set(['.', ...folders])].flatMap((folder) => writtenIn(files, cwd, folder)),
  ];
}

const yamlIn = (files: DeclarationFiles, cwd: string, folder: string): readonly string[] =>
  (yamlFilesIn(files, cwd, folder) ?? []).map(({ file }) => file);

/** The stacks and documents that a program in a folder wrote. */
const writtenIn = (files: DeclarationFiles, cwd: string, folder: string): readonly string[] =>
  outputsOf(files, cwd, folder).flatMap((output) => [
    ...stacksIn(files, cwd, output),
    ...yamlIn(files, cwd, output),
  ]);

/** The folders that a program in a folder may have written: the usual ones, and the one that its `cdktf.json` names. */
function outputsOf(files: DeclarationFiles, cwd: string, folder: string): readonly string[] {
  const named = outputNamed(startOf(files, resolve(cwd, folder, PROGRAM)));
  return [STACKS_OUTPUT, DOCUMENTS_OUTPUT, named]
    .map((name) => relative(cwd, resolve(cwd, folder, name)) || '.')
    .filter((output) => output !== folder);
}

/** The program that wrote a file, if it is in a folder that the output is in. */
function writerOf(files: DeclarationFiles, cwd: string, file: string): string | undefined {
  const output = outputOf(file);
  const folders = ['.', ...foldersAbove(resolve(cwd, output)).map((one) => relative(cwd, one))];
  const folder = folders.find(
    (one) => kindAt(files, cwd, join(one, PROGRAM)) && outputsOf(files, cwd, one).includes(output),
  );
  return folder === undefined ? undefined : join(folder, PROGRAM);
}

/** The stacks that a program left in a folder; none if it is another one, or cannot be looked at. */
function stacksIn(files: DeclarationFiles, cwd: string, output: string): readonly string[] {
  const kindOf = (name: string) => files.stat(resolve(cwd, output, name))?.kind;
  try {
    if (kindOf('manifest.json') !== 'file' || kindOf('stacks') !== 'folder') return [];
    return files
      .list(resolve(cwd, output, 'stacks'))
      .map((name) => join('stacks', name, STACK))
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
      if (isReadableFile(files, cwd, path))
        return relative(cwd, dirname(resolve(cwd, path))) || '.';
      return kindAt(files, cwd, path) === 'folder' ? path : [];
    }),
  );

type Fault = Pick<Diagnostic, 'summary'> & Pick<Mention, 'origin'>;

interface LeftOut {
  /** The files that PATHs leave out. */
  readonly names: readonly string[];
  /** What cannot be read at all. */
  readonly faults: readonly Fault[];
  /** By recorded file, the program that declared what is in it, or its output: what they declare now is not known. */
  readonly programs: ReadonlyMap<string, string>;
  /** Files whose names the state has from one of the folders above, with that folder. */
  readonly above: ReadonlyMap<string, string>;
  readonly loader: Loader;
  /** Files that the state names: they are of this project. */
  readonly recorded: ReadonlySet<string>;
}

/** Looks for mentions in the files of this project that PATHs leave out. */
async function mentionFinder(
  context: Site,
  project: Project,
  { names, faults, programs, above: higher, loader, recorded }: LeftOut,
): Promise<FindMention> {
  const { cwd, kinds } = context;
  const { files } = loader;
  const isOfProject = fileProject(context, {
    ...loader,
    project,
    above: higher,
    real: (path) => realPath(files, path),
  });
  const isOurs = async (file: string): Promise<boolean> =>
    recorded.has(file) || (await isOfProject(file));
  const { paths } = project;
  const adopts =
    paths.includes('-') ||
    // What a program writes is not in these files.
    programFolders(files, { cwd, paths }).length > 0 ||
    [...filesAt(files, cwd, paths), ...names].some((file) =>
      startOf(files, resolve(cwd, file)).includes('adopt'),
    );
  const writers = new Map<string, string | undefined>();
  const writer = (file: string): string | undefined =>
    cached(writers, file, () => writerOf(files, cwd, file));
  const finds: FindMention[] = [];
  for (const file of new Set(names)) {
    if (!(await isOurs(file))) continue;
    const find = await mentionsIn({ files, kinds, cwd, adopts }, file);
    finds.push((object) => {
      const mention = find(object);
      if (!mention) return undefined;
      const program = writer(file);
      // With the program as well, those who plan its output would declare each object twice.
      const isPlanned =
        program !== undefined && [...recorded].some((one) => writer(one) === program);
      return { ...mention, ...(!isPlanned && defined({ program })) };
    });
  }
  for (const { origin, summary } of faults) {
    const { file } = origin;
    const why = `cannot be read, and may declare it: ${summary}`;
    if (await isOurs(file)) finds.push(() => ({ file, origin, why, isFaulty: true }));
  }
  finds.push(({ file: from }) => {
    const file = programs.get(from);
    if (file === undefined) return undefined;
    const origin = { file, line: 1, column: 1 };
    const isProgram = basename(file) === PROGRAM;
    return {
      file,
      origin,
      why: `may still declare it: it ${isProgram ? 'was not run' : 'is not there'}`,
    };
  });
  return (object) => finds.flatMap((find) => find(object) ?? [])[0];
}
