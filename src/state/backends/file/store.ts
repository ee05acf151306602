// The store on a disk: `<state>` with five older generations (`.1` is the newest), `<state>.journal` during a run or
// after an interrupted one, `<state>.lock`. A journal belongs to the state whose serial its first record names; one
// with a lower serial was already applied. This file finds and verifies; `session.ts` writes.
import { basename, dirname, join } from 'node:path';
import {
  emptyState,
  refuse,
  sameTarget,
  shellWord,
  type Begin,
  type RunAuthor,
  type State,
} from '../../../model/index.js';
import { refuseTarget } from '../backend-errors.js';
import { fileSession, GENERATIONS, MODE, type Paths } from './session.js';
import { snapshotOf } from '../../snapshot.js';
import { ADOPTED, adviceFor, decodeJournal, type Journal } from '../../journal-text.js';
import { breakLock, holderOf, takeLock, type HeldLock, type LockTools } from './lock.js';
import { decodeState } from '../../state-format.js';
import type { KeptState, Opening, Session, Store } from '../../store-port.js';
import { ifThere, withDisk } from '../../disk-errors.js';

export interface FileStoreOptions extends LockTools {
  /** Absolute path of the state file. */
  readonly path: string;
  /** Of trueup, for messages. */
  readonly version: string;
  /** Ends the advice on damage: what becomes of objects that only the lost part knew. Absent: what the command does about them. */
  readonly afterLoss?: string;
  /** Recorded in the states that it writes. */
  readonly author?: RunAuthor;
}

/** The verified files: the state as last compacted, its own text, and the journal that continues it. */
interface Stored {
  readonly state: State | undefined;
  readonly text: string | undefined;
  readonly journal: Journal | undefined;
  /** True if the journal is still at `.next`: a compaction was interrupted after it wrote the state. */
  readonly cutOff: boolean;
}

export function fileStore(options: FileStoreOptions): Store {
  const { path, files } = options;
  return {
    location: path,
    read: () =>
      withDisk(path, async () => {
        const { state, journal } = await loadQuietly(options, await locate(options));
        if (!journal) return state && snapshotOf(state, []);
        const { lineage, target, secrets_salt } = journal.begin;
        const begun = state ?? emptyState(lineage, target);
        return snapshotOf(salted(begun, secrets_salt), journal.records);
      }),
    holder: () => withDisk(path, async () => holderOf(options, (await locate(options)).lock)),
    open: (operation, target) =>
      withDisk(path, async () => {
        await files.makeFolder(dirname(path));
        const paths = await locate(options);
        const lock = await takeLock(options, paths.lock, operation);
        try {
          return await startSession(options, paths, lock, { operation, target });
        } catch (error) {
          await lock.release();
          throw error;
        }
      }),
    history: () => withDisk(path, async () => keptStates(options, await locate(options))),
    unlock: (id) =>
      withDisk(path, async () => breakLock(options, (await locate(options)).lock, id)),
  };
}

/** Everything lies beside the real file, whichever link led to it. */
async function locate({ files, path }: FileStoreOptions): Promise<Paths> {
  const real = await ifThere(files.realPath(path));
  if (real !== undefined) return pathsOf(real);
  const folder = await ifThere(files.realPath(dirname(path)));
  if (folder === undefined) return pathsOf(path);
  if ((await files.list(folder)).includes(basename(path)))
    refuse('dangling-link', `${path} is a symbolic link to a file that does not exist`, {
      detail: `Make the folder it points into, or remove the link: rm ${shellWord(path)}`,
    });
  return pathsOf(join(folder, basename(path)));
}

const pathsOf = (state: string): Paths => ({
  state,
  journal: `${state}.journal`,
  next: `${state}.journal.next`,
  lock: `${state}.lock`,
});

/** Without a lock another run may compact in between: read until the journal that was read still belongs to the state. */
async function loadQuietly(options: FileStoreOptions, paths: Paths): Promise<Stored> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await options.files.stamp(paths.state);
    try {
      const stored = await load(options, paths);
      if (attempt === 5 || (await options.files.stamp(paths.state)) === before) return stored;
    } catch (error) {
      if (attempt === 5 || (await options.files.stamp(paths.state)) === before) throw error;
    }
  }
}

async function load(options: FileStoreOptions, paths: Paths): Promise<Stored> {
  const { files, version } = options;
  // `.next` first: it may become the journal while we read, but never the other way round.
  const next = await readJournal(options, paths.next);
  const journal = await readJournal(options, paths.journal);
  const text = await ifThere(files.read(paths.state));
  const state =
    text === undefined
      ? undefined
      : await decodeState(text, paths.state, version, () => adviseRestore(options, paths));
  const live = {
    next: next && belongs(options, next, state, paths),
    journal: journal && belongs(options, journal, state, paths),
  };
  return {
    state,
    text,
    ...(live.journal
      ? { journal, cutOff: false }
      : { journal: live.next ? next : undefined, cutOff: live.next === true }),
  };
}

async function readJournal({ files, afterLoss }: FileStoreOptions, at: string) {
  const text = await ifThere(files.read(at));
  const journal = text === undefined ? undefined : decodeJournal(text, at, afterLoss);
  return journal && { ...journal, at };
}

/** True if a journal continues the state; false if the state contains its records already, or if it continues the next state, which is not written yet. @throws Refusal if it belongs to another state. */
function belongs(
  { afterLoss = ADOPTED }: FileStoreOptions,
  { begin, at }: { readonly begin: Begin; readonly at: string },
  state: State | undefined,
  { journal, state: statePath }: Paths,
): boolean {
  const serial = state?.serial ?? 0;
  const strange = (problem: string): never =>
    refuse('foreign-journal', `${at} ${problem}`, {
      detail: adviceFor(at, afterLoss),
      origin: { file: at, line: 1, column: 1 },
    });
  if (state && begin.lineage !== state.lineage)
    strange(`belongs to another state than ${statePath}: the lineages differ`);
  if (begin.serial > serial + (at === journal ? 0 : 1))
    strange(
      `continues serial ${begin.serial}, but ${state ? `${statePath} has serial ${serial}` : `there is no ${statePath}`}`,
    );
  return begin.serial === serial;
}

/** The state and its generations, as far as they verify. */
async function keptStates(
  { files, version }: FileStoreOptions,
  { state }: Paths,
): Promise<readonly KeptState[]> {
  const generations = Array.from({ length: GENERATIONS }, (_, index) => `${state}.${index + 1}`);
  const kept: KeptState[] = [];
  for (const at of [state, ...generations]) {
    const text = await ifThere(files.read(at));
    if (text === undefined) continue;
    const read = (): Promise<State> => decodeState(text, at, version, 'Name another serial.');
    const found = await read().catch(() => undefined);
    if (!found || kept.some(({ serial }) => serial === found.serial)) continue;
    kept.push({ serial: found.serial, objects: Object.keys(found.resources).length, read });
  }
  return kept;
}

/** Advice where the state does not verify: the newest generation that does. */
async function adviseRestore(
  { files, version, afterLoss = ADOPTED }: FileStoreOptions,
  paths: Paths,
): Promise<string> {
  for (let generation = 1; generation <= GENERATIONS; generation += 1) {
    const at = `${paths.state}.${generation}`;
    try {
      const { serial } = await decodeState(await files.read(at), at, version, '');
      return `Nothing was changed. The newest intact generation is ${at} (serial ${serial}). To go back to it: cp ${shellWord(at)} ${shellWord(paths.state)}\n${afterLoss}`;
    } catch {
      continue;
    }
  }
  return `Nothing was changed, and no older generation (${paths.state}.1 to .${GENERATIONS}) is intact. Restore a backup, or move the file away: mv ${shellWord(paths.state)} ${shellWord(`${paths.state}.damaged`)}\n${afterLoss}`;
}

/** The salt of a journal is that of the state which it continues; a state that has none takes it on when it is next written. */
const salted = (state: State, salt: string | undefined): State =>
  state.secrets_salt !== undefined || salt === undefined ? state : { ...state, secrets_salt: salt };

async function startSession(
  options: FileStoreOptions,
  paths: Paths,
  lock: HeldLock,
  { operation, target }: Pick<Opening, 'operation' | 'target'>,
): Promise<Session> {
  const stamp = await options.files.stamp(paths.state);
  const stored = await load(options, paths);
  const begin = stored.journal?.begin;
  const found =
    stored.state ?? emptyState(begin?.lineage ?? options.random.uuid(), begin?.target ?? target);
  const state = salted(
    found,
    begin?.secrets_salt ?? Buffer.from(options.random.bytes(16)).toString('base64'),
  );
  if (!sameTarget(state.target, target)) refuseTarget(paths.state, state.target, target);
  await tidy(options, paths, stored);
  return fileSession({ ...options, ...stored, paths, lock, state, stamp, operation });
}

/** Leaves on disk exactly what was read: torn ends, spent journals and temporary files of killed runs go. */
async function tidy({ files }: FileStoreOptions, paths: Paths, { journal, cutOff }: Stored) {
  if (cutOff) await files.rename(paths.next, paths.journal);
  else await ifThere(files.remove(paths.next));
  if (!journal) await ifThere(files.remove(paths.journal));
  else if ((await files.read(paths.journal)) !== journal.text)
    await files.replace(paths.journal, journal.text, MODE);
  const [folder, name] = [dirname(paths.state), basename(paths.state)];
  const left = /^(?:\.1|\.journal|\.journal\.next)?\.[0-9a-f-]{36}\.tmp$/;
  for (const one of await files.list(folder))
    if (one.startsWith(name) && left.test(one.slice(name.length)))
      await ifThere(files.remove(join(folder, one)));
}
