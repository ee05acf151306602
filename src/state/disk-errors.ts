// The messages for errors of a disk. They never quote the content of a file.
import { Refusal, refuse } from '../model/index.js';

const meanings: Readonly<Record<string, string>> = {
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left',
  EDQUOT: 'the quota is used up',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'something else is already there',
  ENOENT: 'a part of the path does not exist',
  ELOOP: 'the symbolic links form a loop',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open',
  EIO: 'the disk reported an input/output error',
  EFTYPE: 'it is not a regular file',
  EFBIG: 'it would exceed the largest allowed size',
};

interface DiskError extends Error {
  readonly code: string;
  readonly path?: string;
  /** Our own words, where the error is from our own disk port. */
  readonly problem?: string;
}

export function isDiskError(error: unknown, ...codes: readonly string[]): error is DiskError {
  const code = error instanceof Error && (error as Partial<DiskError>).code;
  return (
    typeof code === 'string' &&
    (codes.length === 0 ? /^E[A-Z0-9]+$/.test(code) : codes.includes(code))
  );
}

/** Our own words where they are from our own port, which continue "it …". */
const meaningOf = ({ problem, code }: DiskError): string =>
  problem === undefined ? (meanings[code] ?? code) : `it ${problem}`;

/** Runs something that uses the disk; its failures become a Refusal that names the file. `path` stands in where the error names none. */
export async function withDisk<T>(path: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    if (error instanceof Refusal || !isDiskError(error)) throw error;
    const where = (error.path ?? path).replace(/\.[0-9a-f-]{36}\.tmp$/, '');
    return refuse('disk', `cannot use ${where}: ${meaningOf(error)}`, {
      detail: 'Fix this, or name another file. Then run the same command again.',
    });
  }
}

/** The result of a use of the disk; undefined where it fails with the code. */
export async function unlessDisk<T>(code: string, use: Promise<T>): Promise<T | undefined> {
  try {
    return await use;
  } catch (error) {
    if (isDiskError(error, code)) return undefined;
    throw error;
  }
}

/** Undefined where there is no such file. */
export const ifThere = <T>(use: Promise<T>): Promise<T | undefined> => unlessDisk('ENOENT', use);

/** Damage: what is wrong with a file, where (line and column from 1), and what to do. */
export function damaged(
  file: string,
  place: { readonly line: number; readonly column: number },
  problem: string,
  detail: string,
): never {
  const { line, column } = place;
  refuse('damaged-file', `${file} is damaged at line ${line}, column ${column}: ${problem}`, {
    detail,
    origin: { file, ...place },
  });
}
