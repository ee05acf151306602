// The settings of a project of which PATHs name only a part: they are in the nearest YAML file beside or above the PATHs, up
// to the current folder. Without them, such a plan would use another state, other limits or another target than the whole.
import { dirname } from 'node:path';
import { firstNamed, nearest, type Diagnostic, type Kinds } from '../model/index.js';
import type { DeclarationFiles } from '../platform/index.js';
import { collect, type RawEntry } from './collect.js';
import { reportOf } from './diagnostics-list.js';
import { sourceFilesOf } from './file-reader.js';
import { yamlFilesIn, type FoundFile } from './paths.js';
import { settings as vocabulary } from './vocabulary.js';
import { isMap } from './yaml/raw-values.js';

interface Place {
  readonly files: DeclarationFiles;
  readonly kinds: Kinds;
  /** The current folder, absolute. */
  readonly cwd: string;
}

interface SettingsAbove {
  readonly settings: readonly RawEntry[];
  /** Those beside the settings, which may use them. */
  readonly variables: readonly RawEntry[];
  readonly diagnostics: readonly Diagnostic[];
}

const none: SettingsAbove = { settings: [], variables: [], diagnostics: [] };

/** Codes of files that cannot be read, or are of other programs. */
const NOT_OURS: ReadonlySet<string> = new Set([
  'unreadable',
  'not-a-file',
  'too-large',
  'not-ours',
  'no-declarations',
]);

/**
 * None where several files of the nearest folder hold settings: then they are several projects.
 * @param paths relative to the current folder
 */
export async function settingsAbove(
  { files, kinds, cwd }: Place,
  paths: readonly string[],
): Promise<SettingsAbove> {
  const [first = [], ...others] = paths.map(foldersAbove);
  const shared = first.filter((folder) => others.every((folders) => folders.includes(folder)));
  const texts = sourceFilesOf(files, undefined, new Set());
  const read = async (file: FoundFile, section: string) => {
    const library = sourceFilesOf(files, undefined, new Set(), (key) => key === section);
    const report = reportOf([]);
    const { settings, variables } = await collect({ library, kinds, report }, [file]);
    const diagnostics = report.all().filter(({ code }) => !NOT_OURS.has(code));
    return { file, settings, variables, diagnostics };
  };
  for (const folder of shared) {
    const there = yamlFilesIn(files, cwd, folder);
    // The tenants of a fleet are projects of their own.
    if (!there) return none;
    const found: Awaited<ReturnType<typeof read>>[] = [];
    for (const file of there) {
      if (paths.includes(file.file) || !texts.text(file).includes('settings')) continue;
      const one = await read(file, 'settings');
      if (one.settings.length > 0 ? one.settings.some(isOfTrueup) : one.diagnostics.length > 0)
        found.push(one);
    }
    const diagnostics = found.flatMap((one) => one.diagnostics);
    const holders = found.filter((one) => one.settings.length > 0);
    const [holder, ...more] = holders;
    if (holder && more.length > 0)
      return { ...none, diagnostics: [unclear(holders.map(({ file }) => file.file))] };
    if (holder) {
      const { variables, diagnostics: wrong } = await read(holder.file, 'variables');
      return { settings: holder.settings, variables, diagnostics: [...diagnostics, ...wrong] };
    }
    if (diagnostics.length > 0) return { ...none, diagnostics };
  }
  return none;
}

const unclear = (files: readonly string[]): Diagnostic => ({
  severity: 'info',
  code: 'settings-unclear',
  summary: `no settings are used: ${firstNamed(files, 3)} hold settings`,
  detail: 'To use those of one file, name it as a PATH, too.',
});

/** Other programs have settings, too. */
function isOfTrueup({ raw }: RawEntry): boolean {
  const names = isMap(raw) ? Object.keys(raw) : undefined;
  const ours = Object.keys(vocabulary.attributes);
  return names?.length === 0 || names?.some((name) => nearest(name, ours) !== undefined) === true;
}

/** The folders that a PATH lies in, up to the current one; none for a PATH outside of it. */
function foldersAbove(path: string): readonly string[] {
  if (path === '.' || path.startsWith('/') || /^\.\.(?:\/|$)/.test(path)) return [];
  const folder = dirname(path);
  return folder === '.' ? ['.'] : [folder, ...foldersAbove(folder)];
}
