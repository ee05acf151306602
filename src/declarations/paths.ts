// Finds the files of the project: PATH arguments are files, folders that are walked, `-`, or stacks of a CDK program.
// Only names are read here; the content of a file decides later whether it belongs to trueup.
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import {
  cached,
  defined,
  NAME,
  nameWords,
  pathWord,
  type Diagnostic,
  type Origin,
  errorCode,
} from '../model/index.js';
import type { DeclarationFiles } from '../platform/index.js';

export interface FoundFile {
  /** Relative to the current folder, with `/`; `-` is the standard input. */
  readonly file: string;
  readonly path: string;
  /** Whether the user named it; what a walk finds may turn out not to be ours. */
  readonly named: boolean;
  /** The last of the PATHs that lead to it, counted from 0: variables in a later one win. */
  readonly argument?: number;
  /** Where a program made what stands in it, by key, such as `accounts.ops`. */
  readonly made?: ReadonlyMap<string, Origin>;
}

/** Synthesised stacks: one of them, a folder with a manifest of several, or the `cdktf.json` of the program that makes them. */
export interface StackSource extends FoundFile {
  readonly is: 'file' | 'folder' | 'program';
}

const YAML_FILE = /\.ya?ml$/i;
const OVERLAY = /^trueup\.([A-Za-z][A-Za-z0-9_-]*)\.ya?ml$/;
/** Policies of the current folder, and tests of any: read by themselves. */
const POLICY_FILE = /^policies\/[^/]*\.cel\.ya?ml$/;
const POLICY_TEST = /(?:^|\/)policies\/[^/]*\.test\.ya?ml$/;
const LIKE_POLICY = /\.cel\.ya?ml$/i;
const DEEPEST = 64;
/** Files that a message names at most. */
const NAMED = 20;
export const STACKS_OUTPUT = 'cdktf.out';
export const DOCUMENTS_OUTPUT = 'trueup.out';
const SYNTHESISE = 'Type `trueup synth` first, in the folder of the program.';
/** The advice if no declaration file was found. */
export const BEGIN =
  'Type `trueup init` to begin a project here, or name the file or folder that holds it.';
/** Where programs write what they say: read where it is named, and not beside them. */
const OUTPUTS = [STACKS_OUTPUT, DOCUMENTS_OUTPUT];

/** The code of the complaint that a PATH holds several projects. */
export const FLEET_FOLDER = 'fleet-folder';

interface Walk {
  readonly files: DeclarationFiles;
  readonly cwd: string;
  readonly found: Map<string, FoundFile>;
  readonly stacks: Map<string, StackSource>;
  /** Environment files by environment, those in PATH folders only. */
  readonly overlays: Map<string, FoundFile>;
  /** All files of environments that walks meet. */
  readonly ofEnvironments: FoundFile[];
  /** All `cdktf.json` that walks meet. */
  readonly programs: string[];
  readonly diagnostics: Diagnostic[];
  /** The PATH that is entered, counted from 0. */
  readonly argument: number;
  /** The folders that links may lead into, with every link followed. */
  readonly roots: readonly string[];
}

export function findFiles(
  files: DeclarationFiles,
  cwd: string,
  args: readonly string[],
  environment: string | undefined,
) {
  const walk: Walk = {
    files,
    cwd,
    found: new Map(),
    stacks: new Map(),
    overlays: new Map(),
    ofEnvironments: [],
    programs: [],
    diagnostics: [],
    argument: 0,
    roots: [],
  };
  const paths = (args.length === 0 ? ['.'] : args).map((path) =>
    path === '-' ? '-' : relativeTo(cwd, withinFolder(files, cwd, resolve(cwd, path))),
  );
  for (const [argument, path] of [...new Set(paths)].entries()) {
    if (path === '-') walk.found.set('-', { file: '-', path: '-', named: true, argument });
    else enter({ ...walk, argument }, path);
  }
  const overlay = environment === undefined ? undefined : findOverlay(walk, environment);
  const isBroken = walk.diagnostics.some(({ severity }) => severity === 'error');
  if (walk.found.size === 0 && walk.stacks.size === 0 && !isBroken) {
    const summary = `no YAML file and no CDK program in ${paths.join(', ')}`;
    complain(walk, 'no-declarations', summary, BEGIN);
  }
  return {
    files: [...walk.found.values()],
    stacks: [...walk.stacks.values()],
    /** PATH arguments, relative to the current folder. */
    paths: [...new Set(paths)],
    diagnostics: walk.diagnostics,
    ofEnvironments: walk.ofEnvironments.filter(({ path }) => path !== overlay?.path),
    programs: walk.programs,
    /** The file of the chosen environment. */
    ...defined({ overlay }),
  };
}

/** A path through a link to the current folder, whose own path has every link followed, as the path without the link. */
function withinFolder(files: DeclarationFiles, cwd: string, path: string): string {
  if (!relative(cwd, path).startsWith('..')) return path;
  const real = join(files.realPath(dirname(path)) ?? dirname(path), basename(path));
  return relative(cwd, real).startsWith('..') ? path : real;
}

function relativeTo(cwd: string, path: string): string {
  const short = relative(cwd, path);
  return (isAbsolute(short) ? path : short).split(sep).join('/') || '.';
}

/** Where a path leads, with every link followed; of what is not there yet, where it would be. */
export function realPath(files: DeclarationFiles, path: string): string {
  const [real, folder] = [files.realPath(path), dirname(path)];
  if (real !== undefined || folder === path) return real ?? path;
  return join(realPath(files, folder), basename(path));
}

function complain(walk: Walk, code: string, summary: string, detail?: string): undefined {
  walk.diagnostics.push({ severity: 'error', code, summary, ...defined({ detail }) });
}

function unreadable(
  { diagnostics }: Walk,
  file: string,
  summary: string,
  more: { readonly code?: string; readonly detail?: string } = {},
): undefined {
  const origin = { file, line: 1, column: 1 };
  diagnostics.push({ severity: 'error', code: 'unreadable', summary, ...more, origin });
}

const foundAt = ({ cwd }: Walk, path: string, named = true): FoundFile => ({
  file: path,
  path: join(cwd, path),
  named,
});

/** The kind of file at a path; a complaint where that cannot be known. */
function look(walk: Walk, path: string): ReturnType<DeclarationFiles['stat']> {
  try {
    return walk.files.stat(join(walk.cwd, path));
  } catch (error) {
    return unreadable(walk, path, `cannot look at ${path}: ${whyNot(error)}`);
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'no permission',
  EPERM: 'no permission',
  ENOENT: 'it does not exist',
  EISDIR: 'it is a folder',
  ELOOP: 'its symbolic links go in a circle',
  ENOTDIR: 'a part of the path is not a folder',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open',
};

/** Why the disk refused, without Node's message, which repeats the path. */
export function whyNot(error: unknown): string {
  const code = errorCode(error);
  return code !== undefined ? (reasons[code] ?? code) : 'an unexpected error';
}

/** A PATH argument. */
function enter(walk: Walk, path: string): void {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const before = walk.diagnostics.length;
  const found = look(walk, path);
  const environment = OVERLAY.exec(name)?.[1];
  if (!found) {
    const detail = name === STACKS_OUTPUT ? SYNTHESISE : 'A PATH is a file, a folder or `-`.';
    if (walk.diagnostics.length === before)
      complain(walk, 'no-such-path', `${path} does not exist`, detail);
  } else if (found.kind === 'folder') enterFolder(walk, path, found.id);
  else if (found.kind === 'other') {
    const detail = 'To read from a pipe, name `-` and give it on the standard input.';
    complain(walk, 'not-a-file', `${path} is not a regular file`, detail);
  } else if (environment === 'fleet') {
    const detail = `${goingTo(dirname(path))}To plan its tenants: trueup fleet plan`;
    complain(walk, 'fleet-file', `${path} is the file of a fleet, and declares nothing`, detail);
  } else if (environment !== undefined) {
    const detail = `It is read with \`--env ${environment}\` beside the files of the project.`;
    complain(walk, 'environment-file', `${path} is the file of an environment`, detail);
  } else if (name === 'cdktf.json') addStack(walk, path, 'program');
  else if (name.endsWith('.tf.json')) addStack(walk, path, 'file');
  else add(walk, path, true);
  refusePoliciesAbove(walk, path);
}

/** The line before commands that are to be typed in a folder. */
const goingTo = (folder: string): string =>
  folder === '.' ? '' : `Go to that folder: cd ${pathWord(folder)}\n`;

/** The project of a PATH may be a folder above it, up to the one that also holds the current folder. */
function refusePoliciesAbove(walk: Walk, path: string): void {
  for (let folder = dirname(path); folder !== '.' && folder !== dirname(folder);) {
    const policies = join(folder, 'policies');
    const names = look(walk, policies)?.kind === 'folder' ? namesIn(walk, policies) : [];
    const first = names.find((one) => LIKE_POLICY.test(one));
    if (first !== undefined) refuseUnjudged(walk, `${folder}/policies/${first}`);
    if (/(?:^|\/)\.\.$/.test(folder)) return;
    folder = dirname(folder);
  }
}

const addStack = (walk: Walk, path: string, is: StackSource['is']): void =>
  void walk.stacks.set(path, { ...foundAt(walk, path), is });

const add = (walk: Walk, path: string, named: boolean): void =>
  void walk.found.set(path, {
    ...foundAt(walk, path, named || walk.found.get(path)?.named === true),
    argument: walk.argument,
  });

function enterFolder(walk: Walk, path: string, id: string): void {
  const holds = (name: string, kind: string): boolean =>
    look(walk, join(path, name))?.kind === kind;
  if (holds('manifest.json', 'file') && holds('stacks', 'folder'))
    return addStack(walk, path, 'folder');
  const roots = [walk.cwd, join(walk.cwd, path)].flatMap(
    (folder) => walk.files.realPath(folder) ?? [],
  );
  const inner: Walk = { ...walk, found: new Map(), roots };
  descend(inner, path, [id]);
  if (basename(path) === STACKS_OUTPUT && inner.found.size === 0) {
    const summary = `${path} holds no manifest.json and no stacks`;
    return complain(walk, 'no-stacks', summary, SYNTHESISE);
  }
  const program = path === '.' ? 'cdktf.json' : `${path}/cdktf.json`;
  const isCdk = holds('cdktf.json', 'file');
  if (isCdk && inner.found.size === 0) addStack(walk, program, 'program');
  if (isCdk && inner.found.size > 0) {
    const yaml = [...inner.found.keys()].map(pathWord);
    const choice = yaml.length > NAMED ? 'its files' : yaml.join(' ');
    complain(
      walk,
      'two-sources',
      `${path} holds YAML and a CDK program (cdktf.json)`,
      `Name what you mean as PATHs.\nThe program: ${pathWord(program)}\nThe YAML: ${choice}`,
    );
  }
  for (const file of inner.found.keys()) add(walk, file, false);
  for (const [environment, file] of inner.overlays) walk.overlays.set(environment, file);
}

/** The names in a folder, in order; a complaint where they cannot be known. */
function namesIn(walk: Walk, path: string): readonly string[] {
  try {
    return walk.files.list(join(walk.cwd, path)).toSorted();
  } catch (error) {
    unreadable(walk, path, `cannot list ${path}: ${whyNot(error)}`);
    return [];
  }
}

/** Every YAML file below a folder, in the order of names; `inside` are the folders on the way, so that links cannot go round. */
function descend(walk: Walk, path: string, inside: readonly string[]): void {
  for (const name of namesIn(walk, path)) {
    if (name.startsWith('.') || name === 'node_modules' || OUTPUTS.includes(name)) continue;
    const below = path === '.' ? name : `${path}/${name}`;
    const found = look(walk, below);
    if (found?.kind === 'folder') {
      if (leadsOut(walk, below)) {
        walk.diagnostics.push({
          severity: 'warning',
          code: 'link-outside',
          summary: `${below} is a link to a folder outside the project, and was left out.`,
          detail: 'To read that folder, name it.',
        });
        continue;
      }
      if (!inside.includes(found.id) && inside.length < DEEPEST)
        descend(walk, below, [...inside, found.id]);
    } else if (name === 'cdktf.json') walk.programs.push(below);
    else if (YAML_FILE.test(name)) meet(walk, below, inside.length === 1, found?.kind);
  }
}

/** What a look at the disk finds; undefined where it is not possible. */
function seen<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** The YAML files in a folder itself, as far as they can be seen, without those of environments; undefined for the folder of a fleet. */
export function yamlFilesIn(
  files: DeclarationFiles,
  cwd: string,
  folder: string,
): readonly FoundFile[] | undefined {
  const names = seen(() => files.list(join(cwd, folder)).toSorted()) ?? [];
  if (names.some((name) => OVERLAY.exec(name)?.[1] === 'fleet')) return undefined;
  return names.flatMap((name) => {
    const file = folder === '.' ? name : `${folder}/${name}`;
    const path = join(cwd, file);
    const isPlain = YAML_FILE.test(name) && !name.startsWith('.') && !OVERLAY.test(name);
    const isFile = isPlain && seen(() => files.stat(path)?.kind) === 'file';
    return isFile ? [{ file, path, named: false }] : [];
  });
}

/** The YAML files, stacks and programs that PATHs lead to. */
export function filesAt(
  disk: DeclarationFiles,
  cwd: string,
  paths: readonly string[],
): readonly string[] {
  const { files, stacks } = findFiles(disk, cwd, paths, undefined);
  return [...files, ...stacks].map(({ file }) => file);
}

/** The YAML files and programs that a walk of folders finds, and what of them cannot be read, without those of fleets. */
export function filesBelow(files: DeclarationFiles, cwd: string, folders: readonly string[]) {
  const known = new Map<string, boolean>();
  const isOfFleet = (folder: string): boolean =>
    folder !== '.' &&
    cached(
      known,
      folder,
      () =>
        ['yaml', 'yml'].some((end) =>
          seen(() => files.stat(join(cwd, folder, `trueup.fleet.${end}`))),
        ) || isOfFleet(dirname(folder)),
    );
  const found = findFiles(files, cwd, folders, undefined);
  const isOurs = (file: string): boolean => !isOfFleet(dirname(file));
  return {
    // Also those of environments, which declare nothing: what they hold all the same is looked for.
    names: [...found.files, ...found.ofEnvironments].map(({ file }) => file).filter(isOurs),
    programs: found.programs.filter(isOurs),
    faults: found.diagnostics.flatMap(({ severity, origin, summary }) =>
      severity === 'error' && origin && isOurs(origin.file) ? [{ origin, summary }] : [],
    ),
  };
}

/** Whether a folder is a link out of the project. */
function leadsOut({ files, cwd, roots }: Walk, path: string): boolean {
  const full = join(cwd, path);
  if (!files.isLink(full)) return false;
  const real = files.realPath(full);
  return (
    real === undefined ||
    !roots.some((root) => real === root || real.startsWith(root.endsWith(sep) ? root : root + sep))
  );
}

/** A YAML file that a walk found; one of an environment counts on top alone. */
function meet(walk: Walk, path: string, onTop: boolean, kind: string | undefined): void {
  if (POLICY_FILE.test(path) || POLICY_TEST.test(path)) return;
  if (LIKE_POLICY.test(path)) return refuseUnjudged(walk, path);
  const environment = OVERLAY.exec(basename(path))?.[1];
  if (environment === 'fleet') {
    const folder = dirname(path);
    const detail = `${goingTo(folder)}To plan all tenants: trueup fleet plan\nTo plan one, name its PATHs, as in: trueup plan base tenants/NAME`;
    const summary = `${folder} is the folder of a fleet: its tenants are several projects`;
    complain(walk, FLEET_FOLDER, summary, detail);
  } else if (environment !== undefined) {
    walk.ofEnvironments.push(foundAt(walk, path));
    if (onTop) walk.overlays.set(environment, foundAt(walk, path));
  } else if (kind === 'file') add(walk, path, false);
  else {
    const detail = 'Remove it from the folder, or name the files to read.';
    unreadable(walk, path, `${path} is not a regular file`, { code: 'not-a-file', detail });
  }
}

/** Policies that would not be evaluated must not seem to hold. */
function refuseUnjudged(walk: Walk, path: string): void {
  const realPathOf = (file: string) => walk.files.realPath(join(walk.cwd, file));
  // `policies`, or a file in it, may be a link to this one.
  if (realPathOf(path) === realPathOf(`policies/${basename(path)}`)) return;
  const [, project] = /^(.*)\/policies\/[^/]*$/.exec(path) ?? [];
  const move = `Move it: mkdir -p policies && mv ${pathWord(path)} policies/`;
  complain(
    walk,
    'unread-policies',
    `${path} holds policies that are not read: those of the current folder are, in policies/*.cel.yaml`,
    project === undefined ? move : `Run trueup in that folder: cd ${pathWord(project)}`,
  );
}

/** Beside the PATHs, else in the current folder. */
function findOverlay(walk: Walk, environment: string): FoundFile | undefined {
  if (!NAME.test(environment)) {
    const summary = `\`${environment}\` is not a valid environment name`;
    return complain(walk, 'bad-environment', summary, `A name ${nameWords}`);
  }
  const known = walk.overlays.get(environment);
  if (known) return known;
  const folders = [...walk.found.keys(), ...walk.stacks.keys()].map((path) =>
    path.slice(0, path.lastIndexOf('/') + 1),
  );
  for (const folder of new Set([...folders, '']))
    for (const suffix of ['yaml', 'yml']) {
      const path = `${folder}trueup.${environment}.${suffix}`;
      if (look(walk, path)?.kind === 'file') return foundAt(walk, path);
    }
  return complain(
    walk,
    'no-environment-file',
    `there is no trueup.${environment}.yaml`,
    'It holds the settings and variable values of the environment, beside the other files of the project.',
  );
}
