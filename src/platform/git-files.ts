// The files of a commit of git, as the loader of declarations sees them. git is asked for objects only: nothing is
// checked out, fetched or written, and no hook or filter of the repository runs.
import { isUtf8 } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { posix, relative, resolve, sep } from 'node:path';
import { cached, errorCode, isOwnCredential, keptMembers, refuse } from '../model/index.js';
import type { DeclarationFiles } from './index.js';

interface Place {
  /** Absolute. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export type GitRepository = ReturnType<typeof gitRepository>;

export interface CommittedFiles extends DeclarationFiles {
  /** Paths of submodules below the current folder, relative to it: their files are in other repositories, and are not read. */
  readonly submodules: readonly string[];
}

const SECONDS = 60;
const LONGEST = 1024 * 1024 * 1024;
const YAML = /\.ya?ml$/i;
const LINK = '120000';
const SUBMODULE = '160000';
const TREE = '040000';
const FILES = ['100644', '100755', '100664'];
const MOST_LINKS = 40;
/** What the loader of declarations does not walk. */
const HIDDEN = /(?:^|\/)(?:\.|node_modules\/)/;

type Git = ReturnType<typeof gitIn>;

/** The repository of the current folder. @throws Refusal where there is none, or no git */
export function gitRepository(place: Place) {
  const git = gitIn(place);
  const { ok, bytes, said } = git(['rev-parse', '--is-inside-work-tree', '--show-prefix']);
  const [isInside, prefix = ''] = bytes.toString('utf8').split('\n');
  if (!ok || isInside !== 'true')
    refuse('no-repository', 'The current folder is in no working tree of a git repository.', {
      detail: `${said === '' ? '' : `git says: ${said}\n`}Go to a folder of the repository that holds the declarations.`,
    });
  return {
    /** The full id of the commit that a reference names; undefined if there is none. */
    commitOf(reference: string): string | undefined {
      // What begins with a dash would be an option, and no name of git holds a control character.
      if (/^-|\p{Cc}/u.test(reference)) return undefined;
      const found = git(['rev-parse', '--verify', '--quiet', `${reference}^{commit}`]);
      const commit = found.bytes.toString('utf8').trim();
      return found.ok && /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined;
    },
    /** The files of a commit, at their absolute paths. Read when they are asked for. */
    filesOf: (commit: string) => filesOf(git, commit, { prefix, cwd: place.cwd }),
  };
}

/** Without the credentials of trueup, which git does not need. `said`: what git says about a failure, in one line. */
function gitIn({ cwd, environment }: Place) {
  const env = {
    ...keptMembers(environment, (_, name) => !isOwnCredential(name)),
    LC_ALL: 'C',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
  };
  return (words: readonly string[], input = '') => {
    const { status, error, stdout, stderr } = spawnSync('git', words, {
      cwd,
      env,
      input,
      maxBuffer: LONGEST,
      timeout: SECONDS * 1000,
      windowsHide: true,
    });
    if (error)
      refuse('no-git', `git cannot be run (${errorCode(error) ?? 'unknown error'}).`, {
        detail: 'It has to be on the PATH. To try it, type: git --version',
      });
    const [said = ''] = stderr.toString('utf8').split('\n', 1);
    return { ok: status === 0, bytes: stdout, said };
  };
}

/** The output of a git that has to succeed. @throws Refusal */
function bytesOf(git: Git, words: readonly string[], input?: string): Buffer {
  const { ok, bytes, said } = git(words, input);
  return ok
    ? bytes
    : refuse('git-failed', `git cannot read the repository: ${said}`, {
        detail: 'To see what is wrong with it, type: git fsck',
      });
}

interface Entry {
  readonly mode: string;
  readonly id: string;
}

/** The paths of a commit, from the top of the repository, with `/`; the top itself is empty. */
function treeOf(git: Git, commit: string) {
  const entries = new Map<string, Entry>();
  const folders = new Map<string, Set<string>>([['', new Set()]]);
  const listed = bytesOf(git, ['ls-tree', '-r', '-t', '-z', '--full-tree', commit]);
  const isClean = isUtf8(listed);
  for (const line of listed.toString('utf8').split('\0')) {
    const tab = line.indexOf('\t');
    const [mode, , id] = line.slice(0, tab).split(' ');
    if (tab < 0 || mode === undefined || id === undefined) continue;
    const path = line.slice(tab + 1);
    cached(folders, folderOf(path), () => new Set()).add(posix.basename(path));
    // Two names that are not UTF-8 may become one here. The working tree refuses them, too.
    if (mode !== TREE)
      entries.set(path, { mode: isClean || !path.includes('\uFFFD') ? mode : '', id });
  }
  return { entries, folders };
}

const folderOf = (path: string): string => {
  const folder = posix.dirname(path);
  return folder === '.' ? '' : folder;
};

/** @param prefix of the current folder in the repository, ending in `/`, or empty */
function filesOf(
  git: Git,
  commit: string,
  { prefix, cwd }: { readonly prefix: string; readonly cwd: string },
): CommittedFiles {
  const { entries, folders } = treeOf(git, commit);
  const blobs = blobReader(git, entries, prefix);
  const top = resolve(cwd, prefix.replaceAll(/[^/]+/g, '..'));
  const inTree = (path: string): string =>
    posix.join(prefix, relative(cwd, path).split(sep).join('/')).replace(/^\.$|\/$/, '');
  /** Where a path leads once its links are followed; undefined where that is outside, or nowhere. */
  const follow = (path: string, links = 0): string | undefined => {
    const steps = path.split('/');
    for (const index of steps.keys()) {
      const at = steps.slice(0, index + 1).join('/');
      const entry = entries.get(at);
      if (at === '..' || links > MOST_LINKS) return undefined;
      if (entry?.mode !== LINK) continue;
      const target = blobs(entry.id, at).toString('utf8');
      if (target.startsWith('/')) return undefined;
      const next = posix.join(posix.dirname(at), target, ...steps.slice(index + 1));
      return follow(next.replace(/^\.$|\/$/, ''), links + 1);
    }
    return entries.has(path) || folders.has(path) ? path : undefined;
  };
  const found = (path: string): string => follow(inTree(path)) ?? fail('ENOENT', path);
  return {
    stat(path) {
      const at = follow(inTree(path));
      if (at === undefined) return undefined;
      if (folders.has(at)) return { kind: 'folder', id: at };
      return { kind: FILES.includes(entries.get(at)!.mode) ? 'file' : 'other', id: at };
    },
    read(path, limit) {
      const at = found(path);
      const entry = entries.get(at) ?? fail('EISDIR', path);
      return blobs(entry.id, at).subarray(0, limit);
    },
    list: (path) => [...(folders.get(found(path)) ?? fail('ENOTDIR', path))],
    realPath(path) {
      const at = follow(inTree(path));
      return at === undefined ? undefined : resolve(top, at);
    },
    isLink: (path) => entries.get(inTree(path))?.mode === LINK,
    submodules: [...entries].flatMap(([path, { mode }]) =>
      mode === SUBMODULE && path.startsWith(prefix) && !HIDDEN.test(path)
        ? [path.slice(prefix.length)]
        : [],
    ),
  };
}

const fail = (code: string, path: string): never => {
  throw Object.assign(new Error(`${code}: ${path}`), { code });
};

/** Reads blobs by their ids. The first YAML file brings all those of the current folder with it: one process reads them. */
function blobReader(
  git: Git,
  entries: ReadonlyMap<string, Entry>,
  prefix: string,
): (id: string, path: string) => Buffer {
  const known = new Map<string, Buffer>();
  const isBeside = (path: string): boolean =>
    YAML.test(path) && path.startsWith(prefix) && !HIDDEN.test(path);
  return (id, path) => {
    if (!known.has(id)) {
      const others = isBeside(path)
        ? [...entries].filter(([one, { mode }]) => isBeside(one) && FILES.includes(mode))
        : [];
      const ids = new Set([id, ...others.map(([, one]) => one.id)]);
      const wanted = [...ids].filter((one) => !known.has(one));
      const output = bytesOf(
        git,
        ['cat-file', '--batch'],
        wanted.map((one) => `${one}\n`).join(''),
      );
      let at = 0;
      for (const one of wanted) {
        const end = output.indexOf('\n', at);
        const size = Number(/^\S+ blob (\d+)$/.exec(output.toString('utf8', at, end))?.[1] ?? NaN);
        at = end + 1;
        if (Number.isNaN(size)) continue;
        known.set(one, output.subarray(at, at + size));
        at += size + 1;
      }
    }
    // A partial clone lacks objects.
    return (
      known.get(id) ??
      refuse('git-failed', `The clone does not have ${path}, as the reference has it.`, {
        detail: `To fetch it, type: git cat-file -p ${id}`,
      })
    );
  };
}
