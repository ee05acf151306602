// What PATHs leave out of a project: the limits count what is declared there, and a `moved` or `removed` block there may
// name what the plan would remove.
import { dirname, join, relative, resolve, sep } from 'node:path';
import {
  defaultSettings,
  equal,
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
  if (paths.includes('.')) return project;
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
  const isOthers = new Map<string, boolean>();
  const ours = async (file: string): Promise<boolean> => {
    if (!isOthers.has(file)) isOthers.set(file, await isOfAnother(context, project, file, reader));
    return !isOthers.get(file);
  };
  const blocks: Refactoring[] = [];
  for (const block of whole.understood.refactorings ?? [])
    if (!own.has(placeOf(block)) && (await ours(block.origin.file))) blocks.push(block);
  const errors: OutsideError[] = [];
  for (const { severity, origin, summary } of whole.diagnostics) {
    if (severity !== 'error' || !origin || isNamed(origin.file)) continue;
    const names = namesIn(Buffer.from(reader.files.read(resolve(cwd, origin.file), Infinity)));
    if (names.size > 0 && (await ours(origin.file))) errors.push({ origin, summary, names });
  }
  return { outside_refactorings: blocks, outside_errors: errors };
}

/** Everything that could be an address in a block. */
function namesIn(bytes: Buffer): ReadonlySet<string> {
  const text = bytes.toString();
  return new Set(/\b(?:moved|removed)\b/.test(text) ? text.match(/[a-z]\w*\.[\w-]+/gi) : []);
}

/** Whether a file is of another project: its settings name another state. In doubt it is not. */
async function isOfAnother(
  { environment }: Pick<Context, 'environment'>,
  { settings }: Project,
  file: string,
  { load }: Reader,
): Promise<boolean> {
  const { understood, diagnostics } = await load([file], { settingsAlone: true });
  const isUnclear = diagnostics.some(
    ({ severity, code }) =>
      code === 'settings-unclear' || (severity === 'error' && code !== 'no-declarations'),
  );
  // Outside of the current folder, settings above a file are not looked for.
  const isBare = !isBelow(file) && equal(understood.settings, defaultSettings);
  if (isUnclear || isBare) return false;
  // A state that the environment names is that of whichever project is planned.
  const compared = ({ state, ...rest }: Settings): unknown =>
    environment['TRUEUP_STATE'] ? { state, ...rest } : state;
  return !equal(compared(understood.settings), compared(settings));
}
