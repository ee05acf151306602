// Writes new files below a folder: all of them or none. They are finished in a hidden folder, which no command reads,
// and then moved. Nothing that is there is overwritten.
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, forEachLimited, refuse } from '../model/index.js';
import { ifThere } from '../state/disk-errors.js';
import type { Context } from './context.js';

/** Files that are written at once: each waits for the disk. */
const AT_ONCE = 16;

/** @param texts by name below the folder, with `/` @throws Refusal where a name is taken */
export async function writeTogether(
  context: Pick<Context, 'files' | 'random'>,
  folder: string,
  texts: ReadonlyMap<string, string>,
): Promise<void> {
  const { files, random } = context;
  const there = await ifThere(files.list(folder)).catch((error: unknown) => {
    if (errorCode(error) === 'ENOTDIR') exists(folder);
    throw error;
  });
  const tops = topsOf(texts);
  const taken = there?.find((name) => [...tops].some((top) => alike(top, name)));
  if (taken !== undefined) exists(join(folder, taken));
  const hidden = `.${random.uuid()}.tmp`;
  const draft = there
    ? join(folder, hidden)
    : join(dirname(folder), `.${basename(folder)}${hidden}`);
  try {
    await files.makeFolder(draft, 0o755);
    await forEachLimited(texts, AT_ONCE, async ([name, text]) => {
      const path = join(draft, name);
      if (name !== topOf(name)) await files.makeFolder(dirname(path), 0o755);
      await files.create(path, text, 0o644);
    });
    if (there) await moveAll(context, draft, folder, texts);
    else await files.rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

const topsOf = (texts: ReadonlyMap<string, string>): ReadonlySet<string> =>
  new Set([...texts.keys()].map(topOf));
const topOf = (name: string): string => name.split('/', 1)[0]!;

/** Whether some disk takes the names for one. */
const alike = (a: string, b: string): boolean => folded(a) === folded(b);
const folded = (name: string): string => name.normalize('NFC').toLowerCase();

const exists = (path: string): never =>
  refuse('exists', `${path} already exists, and no file is overwritten.`, {
    detail: 'Name another folder with --out.',
  });

/** Folders first: they cannot take the place of anything but an empty folder. Files are made again where they belong, because a rename would overwrite. */
async function moveAll(
  { files }: Pick<Context, 'files'>,
  from: string,
  to: string,
  texts: ReadonlyMap<string, string>,
): Promise<void> {
  const moved: string[] = [];
  try {
    const isFile = (top: string): number => (texts.has(top) ? 1 : 0);
    for (const top of [...topsOf(texts)].toSorted((a, b) => isFile(a) - isFile(b))) {
      const text = texts.get(top);
      const path = join(to, top);
      if (text === undefined) await files.rename(join(from, top), path);
      else await files.create(path, text, 0o644);
      moved.push(path);
    }
  } catch (error) {
    for (const path of moved) await rm(path, { recursive: true, force: true });
    throw error;
  }
}
