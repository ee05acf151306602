// Tells whether a file that PATHs leave out is of the project of the PATHs.
import { dirname, relative, resolve } from 'node:path';
import { cached, isAddress, type Project, type Settings } from '../model/index.js';
import type { LoadOptions, Loaded } from '../declarations/index.js';
import { addressPlace } from '../fleet/tenant.js';
import type { DeclarationFiles } from '../platform/index.js';
import type { Context } from './context.js';
import { statePlace } from './state-location.js';

export type Site = Pick<Context, 'cwd' | 'environment' | 'flags' | 'kinds'>;

/** Whether a relative path does not lead out of the current folder. */
export const isBelow = (path: string): boolean => /^(?!\/|\.\.(\/|$))/.test(path);

export interface Loader {
  readonly files: DeclarationFiles;
  readonly load: (
    paths: readonly string[],
    more?: Partial<Pick<LoadOptions, 'cwd' | 'settingsAlone'>>,
  ) => Promise<Loaded>;
}

const MOST_BYTES = 4 * 1024 * 1024;

/** The text at the beginning of a file; empty if it cannot be read. */
export function startOf(files: DeclarationFiles, path: string): string {
  try {
    if (files.stat(path)?.kind !== 'file') return '';
    return Buffer.from(files.read(path, MOST_BYTES)).toString();
  } catch {
    return '';
  }
}

interface FileProject extends Loader {
  readonly project: Project;
  /** Files whose names the state has from a folder above the current one, with that folder. */
  readonly above: ReadonlyMap<string, string>;
  /** Where a path leads, with every link followed. */
  readonly real: (path: string) => string;
}

/** Errors that say nothing of which project a file is of: it declares nothing, or there is no file of the environment. */
const HARMLESS: ReadonlySet<string> = new Set(['no-declarations', 'no-environment-file']);

/**
 * Tells whether a file is of this project. In doubt it is. It is of another one if its settings name another state.
 * Where the environment names the state, other settings are those of another project.
 */
export function fileProject(
  context: Site,
  { project: { settings, paths }, above, real, files, load }: FileProject,
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
  /** In that folder, the state would be at its usual place if the environment did not name it. */
  const isUsual = (some: Settings, folder: string): boolean =>
    some.state?.url === undefined &&
    real(resolve(folder, statePlace(context, some).usual)) === placeOf(settings);
  const isOurs = async (file: string, isHolder: boolean): Promise<boolean> => {
    const { settings_files: here } = await (own ??= load(readable, alone));
    const folder = above.get(file) ?? cwd;
    const name = relative(folder, resolve(cwd, file));
    const isUnclear = ({ diagnostics }: Loaded): boolean =>
      diagnostics.some(
        ({ severity, code, origin }) =>
          severity === 'error' && !HARMLESS.has(code) && (isHolder || origin?.file !== name),
      );
    const readSettings = (path: string) => load([path], { ...alone, cwd: folder });
    let found = await readSettings(name);
    // The variables that the name of the state needs may be in another file of the folder.
    if (isUnclear(found)) found = await readSettings(dirname(name));
    const there = found.settings_files.map((one) => relative(cwd, resolve(folder, one)));
    if (isUnclear(found)) return true;
    const { settings: its } = found.understood;
    const isSame = placeOf(its, folder) === placeOf(settings) || isUsual(its, folder);
    // Settings that name no state may be of another project, for which the environment names another one.
    const isShared = there.some((one) => here.includes(one));
    const isOther = byEnvironment && here.length > 0 && !isShared && its.state?.url === undefined;
    if (there.length > 0) return isSame && (above.has(file) || !isOther);
    // Without settings, it may be planned with any that name a state.
    return isSame || settings.state?.url !== undefined;
  };
  const known = new Map<string, Promise<boolean>>();
  const holders = new Map<string, boolean>();
  return (file) => {
    const isHolder = cached(holders, file, () =>
      startOf(files, resolve(cwd, file)).includes('settings'),
    );
    // The others of a folder have the same settings, unless they are read from a folder above.
    const key = isHolder || above.has(file) ? file : `${dirname(file)}/`;
    return cached(known, key, () => isOurs(file, isHolder));
  };
}
