// The folder of a provider's socket, named by its process: removed with it or, if it was killed, by the next process.
import { mkdtempSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '../platform/host.js';

const SOCKET = 'provider';
const OURS = /^trueup-(\d+)-\w{6}$/;
/** Milliseconds within which a folder may still get its socket. */
const NEW = 60_000;

export const socketIn = (folder: string): string => `${folder}/${SOCKET}`;

export const makeFolder = (pid: number): string => mkdtempSync(join(tmpdir(), `trueup-${pid}-`));

/** Removes what killed processes of this user left. What may still be in use stays, as does what cannot be removed. */
export async function sweepFolders(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const pid = OURS.exec(name)?.[1];
    const folder = join(tmpdir(), name);
    if (pid !== undefined && !isRunning(Number(pid)) && (await isLeft(folder)))
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Another container may share the folder but not the processes: a living process listens on its socket. */
async function isLeft(folder: string): Promise<boolean> {
  try {
    const { uid, mtimeMs } = await lstat(folder);
    if (uid !== process.getuid?.()) return false;
    const answer = await knock(socketIn(folder));
    return answer === 'ECONNREFUSED' || (answer === 'ENOENT' && Date.now() - mtimeMs > NEW);
  } catch {
    return false;
  }
}

/** The code of the error that an attempt to connect ends with; undefined where somebody listens. */
const knock = (path: string): Promise<string | undefined> =>
  new Promise((done) => {
    const socket = connect(path).on('error', (error: NodeJS.ErrnoException) => done(error.code));
    socket.on('connect', () => {
      socket.destroy();
      done(undefined);
    });
  });
