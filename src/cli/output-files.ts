// The output files of a command. Files that must not be replaced or cannot be written are refused before any work is
// done, so that a report never replaces a state.
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { errorDiagnostic, Refusal, type Diagnostic } from '../model/index.js';
import { ifThere } from '../state/disk-errors.js';
import type { Context } from './context.js';
import { storeOf } from './state-location.js';
import { settingsHere } from './project.js';

export interface OutputFile {
  /** As it was typed, such as `--report html`. */
  readonly flag: string;
  /** Absolute. */
  readonly path: string;
}

/** The suffixes of the files beside a state: five generations, the journal and the next one, the lock. */
const BESIDE_STATE = /^(?:\.[1-5]|\.journal(?:\.next)?|\.lock)?$/;

/** The files in trueup's folder: the states of all environments, and the emulator's data. */
const OWN = /^(?:state\.|emulator\.json$)/;

/**
 * Checks before the run that every output file can be written, and that none of them overwrites an input.
 * @param inputs absolute paths of what the command reads
 * @throws Refusal with every complaint, or where the settings cannot be made out
 */
export async function checkOutputs(
  context: Context,
  outputs: readonly OutputFile[],
  paths: readonly string[],
  inputs: readonly string[] = [],
): Promise<void> {
  if (outputs.length === 0) return;
  const store = await storeOf(context, await settingsHere(context, paths));
  const read = [...paths.map((path) => resolve(context.cwd, path)), ...inputs];
  await checkFleetOutputs(context, outputs, read, store.location);
}

/** As `checkOutputs`, in a fleet, whose states are in trueup's folder or in remote places. @param state its location, where it is in neither @throws Refusal */
export async function checkFleetOutputs(
  context: Context,
  outputs: readonly OutputFile[],
  inputs: readonly string[] = [],
  state = '',
): Promise<void> {
  const real = (path: string): Promise<string> => place(context, path);
  const ground: Ground = {
    state: state === '' ? state : await real(state),
    own: await real(join(context.cwd, '.trueup')),
    read: await Promise.all(inputs.map(real)),
  };
  const taken = new Map<string, string>();
  const complaints: Diagnostic[] = [];
  for (const { flag, path } of outputs) {
    const at = await real(path);
    const other = taken.get(at);
    taken.set(at, flag);
    const why = other ? `${other} writes it too` : (harmAt(at, ground) ?? (await obstacle(path)));
    const summary = `${flag} cannot write ${path}: ${why}.`;
    const detail = 'Nothing was done. Name another file.';
    if (why !== undefined) complaints.push(errorDiagnostic('output', summary, detail));
  }
  if (complaints.length > 0) throw new Refusal(complaints);
}

/** Real paths of what is not to be replaced. */
interface Ground {
  readonly state: string;
  /** The folder of trueup. */
  readonly own: string;
  readonly read: readonly string[];
}

function harmAt(path: string, { state, own, read }: Ground): string | undefined {
  if (
    (path.startsWith(own + sep) && OWN.test(basename(path))) ||
    (state !== '' && path.startsWith(state) && BESIDE_STATE.test(path.slice(state.length)))
  )
    return 'trueup keeps its state there';
  if (/\.ya?ml$/i.test(path)) return 'a file of that name holds declarations';
  return read.includes(path) ? 'this command reads it' : undefined;
}

/** The real path, with links followed; for a file that does not exist yet, the path that it will have. */
async function place({ files }: Context, path: string): Promise<string> {
  return (
    (await ifThere(files.realPath(path)).catch(() => undefined)) ??
    join(await files.realPath(dirname(path)).catch(() => dirname(path)), basename(path))
  );
}

/** The reason why a file cannot be written there. */
async function obstacle(path: string): Promise<string | undefined> {
  const [about, folder] = await Promise.all(
    [path, dirname(path)].map((one) => stat(one).catch(() => undefined)),
  );
  if (about?.isDirectory()) return 'it is a folder';
  if (about && !about.isFile()) return 'it is not a regular file';
  if (!folder) return `there is no folder ${dirname(path)}`;
  if (!folder.isDirectory()) return `${dirname(path)} is not a folder`;
  return access(dirname(path), constants.W_OK).then(
    () => undefined,
    () => `nothing can be written in ${dirname(path)}`,
  );
}
