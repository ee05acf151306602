// The real disk. Every function that promises durability syncs both the file and its folder to the disk, and a whole
// file appears under its name either complete or not at all. What a disk returns at once is asked for synchronously: to
// wake a thread of the pool takes several times as long, and a fleet asks for dozens of files of each tenant.
import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { mkdir, open, readdir, rename, stat, unlink, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Appender, Files, Random } from './index.js';
import { errorCode, isObject } from '../model/index.js';

const LARGEST = 256 * 1024 * 1024;
// Without it, opening a FIFO waits for a writer. Windows has neither.
const NEVER_WAIT = constants.O_RDONLY | ((constants.O_NONBLOCK as number | undefined) ?? 0);
const NO_LINKS = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

export function diskFiles(random: Random): Files {
  const beside = (path: string) => `${path}.${random.uuid()}.tmp`;
  return {
    read,
    replace: (path, text, mode) => replace(path, beside(path), text, mode),
    create: (path, text, mode) => create(path, beside(path), text, mode),
    append,
    async rename(from, to) {
      await rename(from, to);
      await syncFolder(dirname(to));
    },
    async remove(path) {
      await unlink(path);
      await syncFolder(dirname(path));
    },
    async makeFolder(path, mode = 0o700) {
      const first = await mkdir(path, { recursive: true, mode });
      if (first !== undefined) await syncFolder(dirname(first));
    },
    list: (path) => readdir(path),
    realPath: async (path) => realpathSync.native(path),
    stamp,
    size: async (path) => statSync(path, { throwIfNoEntry: false })?.size,
    modified: async (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs,
    async touch(path) {
      const now = new Date();
      await utimes(path, now, now);
    },
  };
}

async function read(path: string): Promise<string> {
  const file = openSync(path, NEVER_WAIT);
  try {
    const about = fstatSync(file);
    if (about.isDirectory()) throw error('EISDIR', 'is a folder', path);
    if (!about.isFile()) throw error('EFTYPE', 'is not a regular file', path);
    if (about.size > LARGEST) throw error('EFBIG', 'is larger than 256 MiB', path);
    const bytes = readWhole(file, about.size);
    if (!isUtf8(bytes))
      throw error('EILSEQ', `is not UTF-8 text, first at byte ${firstBadByte(bytes)}`, path);
    return bytes.toString('utf8');
  } finally {
    closeSync(file);
  }
}

/** All of a file, in a buffer of its size: `readFile` would hold a large one twice. */
function readWhole(file: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  while (filled < size) {
    const read = readSync(file, bytes, filled, size - filled, filled);
    if (read === 0) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}

/** Start of the first line that is not UTF-8: lines are cut at a byte that no longer character contains. */
function firstBadByte(bytes: Buffer): number {
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(0x0a, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return start;
    start = end + 1;
  }
}

function error(code: string, problem: string, path: string): Error {
  return Object.assign(new Error(`${path} ${problem}`), { code, path, problem });
}

async function writeNew(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function replace(path: string, temporary: string, text: string, mode: number): Promise<void> {
  // A terminal, a pipe or a device would not be written to: its name would be taken away from it.
  const about = await stat(path).catch(() => undefined);
  if (about && !about.isFile() && !about.isDirectory())
    throw error('EFTYPE', 'is not a regular file', path);
  try {
    await writeNew(temporary, text, mode);
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
}

/** A link to a finished file: nobody ever sees it half written. Where the file system has no links, at least nobody else can have made it. */
async function create(path: string, temporary: string, text: string, mode: number): Promise<void> {
  try {
    await writeNew(temporary, text, mode);
    linkSync(temporary, path);
  } catch (error) {
    if (!NO_LINKS.has(errorCode(error) ?? '') || (isObject(error) && error['syscall'] !== 'link'))
      throw error;
    await writeNew(path, text, mode);
  } finally {
    removeIfThere(temporary);
  }
  await syncFolder(dirname(path));
}

/** What cannot be removed is left: its name is no other file's. */
function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    return;
  }
}

async function append(path: string, mode: number): Promise<Appender> {
  const file = await open(path, 'a', mode);
  await syncFolder(dirname(path));
  return {
    async write(text) {
      await file.appendFile(text);
      await file.datasync();
    },
    close: () => file.close(),
  };
}

/** Makes names durable. Windows cannot open a folder and needs no such call; some file systems refuse it. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } catch (error) {
    if (errorCode(error) !== 'EINVAL') throw error;
  } finally {
    await folder.close();
  }
}

/** Asked before every request: a local disk responds long before a thread of the pool would have been woken. */
async function stamp(path: string): Promise<string | undefined> {
  const about = statSync(path, { bigint: true, throwIfNoEntry: false });
  return about && `${about.ino}:${about.size}:${about.mtimeNs}`;
}
