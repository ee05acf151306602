// What loading declarations needs of the disk: looking, and reading at most so much. Synchronous, because a
// position inside a file is asked for one at a time, long after the file was read.
import { closeSync, openSync, readSync, readdirSync, statSync } from 'node:fs';

export type EntryKind = 'file' | 'folder' | 'other';

export interface DeclarationFiles {
  /** What is there, symbolic links followed; `id` is equal for equal places. Undefined where nothing is. @throws Node's error where it cannot be known. */
  stat(path: string): { readonly kind: EntryKind; readonly id: string } | undefined;
  /** The first `limit` bytes of a regular file. @throws Node's error, with `code`. */
  read(path: string, limit: number): Uint8Array;
  /** Names in a folder. @throws Node's error, with `code`. */
  list(path: string): readonly string[];
}

export const declarationFiles: DeclarationFiles = {
  stat(path) {
    const found = statSync(path, { throwIfNoEntry: false });
    return found && { kind: found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other', id: `${found.dev}:${found.ino}` };
  },
  read(path, limit) {
    const file = openSync(path, 'r');
    try {
      const chunks: Uint8Array[] = [];
      let left = limit;
      while (left > 0) {
        const chunk = new Uint8Array(Math.min(left, 65_536));
        const size = readSync(file, chunk);
        if (size === 0) break;
        chunks.push(chunk.subarray(0, size));
        left -= size;
      }
      return Buffer.concat(chunks);
    } finally {
      closeSync(file);
    }
  },
  list: (path) => readdirSync(path),
};
