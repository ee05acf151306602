// The folders that a pattern such as `tenants/*` stands for. `*` is any part of one name; names that begin with a dot are
// left out, as everywhere.
import { join } from 'node:path';
import { errorCode, refuse } from '../model/index.js';
import type { DeclarationFiles } from '../platform/index.js';

export interface MatchedFolder {
  /** Relative, with `/`. */
  readonly folder: string;
  /** What the last `*` stands for. */
  readonly matched: string;
}

/** In the order of names. @throws Refusal where none is there */
export function foldersOf(
  { files, cwd }: { readonly files: DeclarationFiles; readonly cwd: string },
  pattern: string,
): readonly MatchedFolder[] {
  const parts = pattern.replace(/^\.\//, '').replace(/\/+$/, '').split('/');
  if (!pattern.includes('*') || pattern.startsWith('/') || parts.includes('..'))
    refuse('bad-pattern', '`from` is a pattern of folders below this one, with a `*`', {
      detail: 'Write it as in `tenants/*`.',
    });
  let found: readonly MatchedFolder[] = [{ folder: '', matched: '' }];
  for (const part of parts)
    found = found.flatMap(({ folder, matched }) =>
      namesIn(files, join(cwd, folder), part).flatMap((name) => {
        const below = folder === '' ? name : `${folder}/${name}`;
        const isFolder = files.stat(join(cwd, below))?.kind === 'folder';
        return isFolder ? [{ folder: below, matched: starOf(part, name) ?? matched }] : [];
      }),
    );
  return found.length > 0
    ? found
    : refuse('no-tenants', `no folder matches \`${pattern}\``, {
        detail: 'Make one folder for each tenant, with its declarations.',
      });
}

function namesIn(files: DeclarationFiles, folder: string, part: string): readonly string[] {
  if (!part.includes('*')) return [part];
  try {
    const names = files
      .list(folder)
      .filter((name) => !name.startsWith('.') && name !== 'node_modules');
    return names.filter((name) => starOf(part, name) !== undefined).toSorted();
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}

/** What the `*` of a part stands for; undefined where it is no part with one, or does not fit. */
function starOf(part: string, name: string): string | undefined {
  const at = part.indexOf('*');
  if (at < 0) return undefined;
  const [before, after] = [part.slice(0, at), part.slice(at + 1)];
  const fits =
    name.length > before.length + after.length && name.startsWith(before) && name.endsWith(after);
  return fits ? name.slice(before.length, name.length - after.length) : undefined;
}
