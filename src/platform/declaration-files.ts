// The disk as the loader of declarations sees it.
import {
  closeSync,
  lstatSync,
  openSync,
  readSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs';
import type { DeclarationFiles } from './index.js';

export const declarationFiles: DeclarationFiles = {
  stat(path) {
    const found = statSync(path, { throwIfNoEntry: false });
    const other = found?.isDirectory() ? 'folder' : 'other';
    return found && { kind: found.isFile() ? 'file' : other, id: `${found.dev}:${found.ino}` };
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
  realPath(path) {
    try {
      return realpathSync.native(path);
    } catch {
      return undefined;
    }
  },
  isLink: (path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true,
};
