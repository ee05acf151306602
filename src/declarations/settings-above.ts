// The settings of a project of which PATHs name only a part: they are in a YAML file beside or above the PATHs, up to the
// current folder. Without them, such a plan would use another state, other limits or another target than the whole.
import { dirname } from 'node:path';
import type { Diagnostic, Kinds } from '../model/index.js';
import type { DeclarationFiles } from '../platform/index.js';
import { collect, type RawEntry } from './collect.js';
import { reportOf } from './diagnostics-list.js';
import { sourceFilesOf } from './file-reader.js';
import { yamlFilesIn } from './paths.js';

interface Place {
  readonly files: DeclarationFiles;
  readonly kinds: Kinds;
  /** The current folder, absolute. */
  readonly cwd: string;
}

interface SettingsAbove {
  readonly settings: readonly RawEntry[];
  readonly diagnostics: readonly Diagnostic[];
}

const none: SettingsAbove = { settings: [], diagnostics: [] };

/** Codes of files that cannot be read, or are of other programs. */
const NOT_OURS: ReadonlySet<string> = new Set([
  'unreadable',
  'not-a-file',
  'too-large',
  'not-ours',
  'no-declarations',
]);

/**
 * None where several files hold settings: then the folders are several projects.
 * @param paths relative to the current folder
 */
export async function settingsAbove(
  { files, kinds, cwd }: Place,
  paths: readonly string[],
): Promise<SettingsAbove> {
  const [first = [], ...others] = paths.map(foldersAbove);
  const shared = first.filter((folder) => others.every((folders) => folders.includes(folder)));
  const library = sourceFilesOf(files, undefined, new Set(), (key) => key === 'settings');
  const found: RawEntry[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const folder of shared) {
    const there = yamlFilesIn(files, cwd, folder);
    // The tenants of a fleet are projects of their own.
    if (!there) return none;
    for (const file of there.filter(({ file: name }) => !paths.includes(name))) {
      const report = reportOf([]);
      const { settings } = await collect({ library, kinds, report }, [file]);
      found.push(...settings);
      diagnostics.push(...report.all().filter(({ code }) => !NOT_OURS.has(code)));
    }
  }
  return found.length > 1 ? none : { settings: found, diagnostics };
}

/** The folders that a PATH lies in, up to the current one; none for a PATH outside of it. */
function foldersAbove(path: string): readonly string[] {
  if (path === '.' || path.startsWith('/') || /^\.\.(?:\/|$)/.test(path)) return [];
  const folder = dirname(path);
  return folder === '.' ? ['.'] : [folder, ...foldersAbove(folder)];
}
