// A project in memory: files by path, loaded without touching the disk.
import { load, type Loaded, type LoadOptions } from '../../../src/declarations/index.js';
import type { Diagnostic, Project } from '../../../src/model/index.js';
import type { DeclarationFiles } from '../../../src/platform/index.js';
import { collections, kinds } from '../../../src/resources/index.js';

export type Tree = Readonly<Record<string, string | Uint8Array>>;

const CWD = '/project';

function failing(code: string): never {
  throw Object.assign(new Error(code), { code });
}

/** Files by path relative to the project; `FIFO` and `DENIED` stand for what their names say, and text after `LINK` for what a link leads to. */
export const FIFO = 'fifo:';
export const LINK = 'link:';
export const DENIED = 'denied:';

export function disk(tree: Tree): DeclarationFiles {
  const relative = (path: string): string => path.slice(CWD.length + 1);
  const isFolder = (path: string): boolean =>
    path === '' || Object.keys(tree).some((name) => name.startsWith(`${path}/`));
  return {
    stat(path) {
      const name = relative(path);
      if (isFolder(name)) return { kind: 'folder', id: name };
      const content = tree[name];
      return content === undefined
        ? undefined
        : { kind: content === FIFO ? 'other' : 'file', id: name };
    },
    read(path, limit) {
      const content = tree[relative(path)] ?? failing('ENOENT');
      if (content === DENIED) failing('EACCES');
      if (content === FIFO) throw new Error('a FIFO must never be opened');
      if (typeof content === 'string' && content.startsWith(LINK))
        return new TextEncoder().encode(content.slice(LINK.length)).subarray(0, limit);
      return (typeof content === 'string' ? new TextEncoder().encode(content) : content).subarray(
        0,
        limit,
      );
    },
    realPath(path) {
      const content = tree[relative(path)];
      if (typeof content === 'string' && content.startsWith(LINK))
        return content.slice(LINK.length);
      return this.stat(path) && path;
    },
    isLink: (path) => String(tree[relative(path)]).startsWith(LINK),
    list(path) {
      const folder = relative(path) === '' ? '' : `${relative(path)}/`;
      return [
        ...new Set(
          Object.keys(tree).flatMap((name) =>
            name.startsWith(folder) ? [name.slice(folder.length).split('/')[0] as string] : [],
          ),
        ),
      ];
    },
  };
}

export function loading(tree: Tree | string, options: Partial<LoadOptions> = {}): Promise<Loaded> {
  const files = disk(typeof tree === 'string' ? { 'trueup.yaml': tree } : tree);
  return load({
    kinds,
    collections,
    paths: [],
    cwd: CWD,
    files,
    stdin: async () => '',
    environment: {},
    variables: {},
    ...options,
  });
}

/** Loads what must load. */
export async function project(
  tree: Tree | string,
  options: Partial<LoadOptions> = {},
): Promise<Project> {
  const loaded = await loading(tree, options);
  if (!loaded.project) throw new Error(loaded.diagnostics.map(shown).join('\n'));
  return loaded.project;
}

/** The errors of what must not load. */
export async function errors(
  tree: Tree | string,
  options: Partial<LoadOptions> = {},
): Promise<readonly Diagnostic[]> {
  const loaded = await loading(tree, options);
  if (loaded.project) throw new Error('the project loaded');
  return loaded.diagnostics.filter(({ severity }) => severity === 'error');
}

export const shown = ({ code, origin, summary, detail }: Diagnostic): string =>
  `${origin ? `${origin.file}:${origin.line}:${origin.column} ` : ''}${code}: ${summary}${detail === undefined ? '' : ` / ${detail}`}`;
