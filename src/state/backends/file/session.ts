// One run on a file store. The run writes intents and results to the journal; compaction turns the journal into the
// next state. A crash after each step of a compaction leaves:
//   1 `<state>.journal.next`: a journal of serial n+1 with the intents whose outcome is unknown (if there are any)
//                             → the state is n: the journal is valid, `.next` is deleted
//   2 generations move up, the state is copied to `.1`         → likewise; the state itself is never missing
//   3 the state is replaced by n+1                             → the journal is deleted, and `.next` is valid
//   4 `.next` takes the journal's place, or the journal is deleted → done
import { Buffer } from 'node:buffer';
import {
  defined,
  pending,
  refuse,
  type Begin,
  type Intent,
  type RunAuthor,
  type RunRecord,
  type State,
} from '../../../model/index.js';
import type { Appender, Files } from '../../../platform/index.js';
import { grouped, queue } from '../../record-batches.js';
import { encodeRecord, type Journal } from '../../journal-text.js';
import type { HeldLock, LockTools } from './lock.js';
import { snapshotOf, nextState } from '../../snapshot.js';
import { encodeMoved, encodeState } from '../../state-format.js';
import type { Compaction, Moved, Session, Snapshot } from '../../store-port.js';
import { ifThere, withDisk } from '../../disk-errors.js';
import { refuseLocked } from '../backend-errors.js';
import { sharedNext } from '../until-stopped.js';

export const GENERATIONS = 5;
export const MODE = 0o600;
/** Less than `Files.read` takes: a journal beyond it could not be read again. */
const LARGEST_JOURNAL = 250 * 1024 * 1024;

export interface Paths {
  readonly state: string;
  readonly journal: string;
  readonly next: string;
  readonly lock: string;
}

type Entries = readonly RunRecord[];

interface SessionOptions extends Pick<LockTools, 'files' | 'clock' | 'random'> {
  readonly paths: Paths;
  readonly lock: HeldLock;
  readonly state: State;
  /** Text and stamp of the state file, where there is one. */
  readonly text: string | undefined;
  readonly stamp: string | undefined;
  readonly journal: Journal | undefined;
  readonly operation: string;
  /** Recorded in the states that it writes. */
  readonly author?: RunAuthor;
}

export function fileSession(options: SessionOptions): Session {
  const { clock, random, paths, lock, operation, author } = options;
  const inTurn = queue((work) => withDisk(paths.state, work));
  const memory = stateFile(options);
  const journal = journalFile(options);
  let earlier = [...journal.records()];

  const begin = ({ lineage, serial, target, secrets_salt }: State): Begin => ({
    type: 'begin',
    run: random.uuid(),
    lineage,
    serial,
    target,
    at: new Date(clock.now()).toISOString(),
    ...defined({ secrets_salt }),
  });

  const assertHeld = async (): Promise<void> => {
    const unmoved = memory.assertUnmoved();
    unmoved.catch(() => undefined);
    await lock.assertHeld();
    await unmoved;
  };

  const append = async (records: Entries, lines: string): Promise<void> => {
    await assertHeld();
    await journal.append(records, lines, () => encodeRecord(begin(memory.state())));
  };

  /** Before a request. */
  const assertReady = async (): Promise<void> => {
    const kept = journal.assertKept();
    kept.catch(() => undefined);
    await assertHeld();
    await kept;
  };

  const compact = async (how: Compaction): Promise<Snapshot> => {
    await assertHeld();
    const [state, records] = [memory.state(), journal.records()];
    const open = pending(records);
    const least = state.serial + 1;
    const next = await nextState({ clock, operation, author, state, records, least, earlier }, how);
    if (next) {
      await assertHeld();
      const carried = open.length === 0 ? '' : [begin(next), ...open].map(encodeRecord).join('');
      await journal.prepare(carried);
      await memory.replace(next);
      earlier = [];
      await journal.turn(open, carried);
    } else if (open.length === 0) await journal.turn([], '');
    return snapshotOf(memory.state(), journal.records());
  };

  // Those who ask while the request is under way get the same result: many requests leave together.
  const ask = sharedNext(
    () => withDisk(paths.state, assertReady),
    () => 0,
  );

  let released: Promise<void> | undefined;
  const release = async (): Promise<void> => {
    await journal.close();
    await lock.release();
  };
  return {
    snapshot: snapshotOf(memory.state(), journal.records()),
    record: grouped(inTurn, journal.records(), append),
    assertHeld: () => ask(),
    compact: (how = {}) => inTurn(() => compact(how)),
    mark: (moved) => inTurn(() => memory.mark(moved)),
    release: () => (released ??= inTurn(release)),
  };
}

/** The state in memory and on disk, which must stay the same. */
function stateFile({ files, paths, ...opened }: SessionOptions) {
  let { state, text, stamp } = opened;
  return {
    state: () => state,

    /** The stamp is the quick way; a file that was only touched or copied back is still the same. */
    async assertUnmoved(): Promise<void> {
      const now = await files.stamp(paths.state);
      if (now === stamp) return;
      if ((await ifThere(files.read(paths.state))) !== text)
        refuseLocked('state-moved', `${paths.state} was changed by somebody else during this run`, {
          detail: 'Nothing more is sent. What this run did is in the journal; plan again.',
        });
      stamp = now;
    },

    /** In place of the state, whose text is the newest generation then. */
    async mark(moved: Moved | null): Promise<void> {
      if (text !== undefined && moved) await keepGeneration(files, paths.state, text);
      const written = moved ? encodeMoved(moved) : text;
      if (written !== undefined) await files.replace(paths.state, written, MODE);
      [text, stamp] = [written, await files.stamp(paths.state)];
    },

    async replace(next: State): Promise<void> {
      if (text !== undefined) await keepGeneration(files, paths.state, text);
      const written = encodeState(next);
      await files.replace(paths.state, written, MODE);
      [state, text, stamp] = [next, written, await files.stamp(paths.state)];
    },
  };
}

async function keepGeneration(files: Files, path: string, text: string): Promise<void> {
  for (let generation = GENERATIONS - 1; generation >= 1; generation -= 1)
    await ifThere(files.rename(`${path}.${generation}`, `${path}.${generation + 1}`));
  await files.create(`${path}.1`, text, MODE);
}

/** The journal in memory and on disk. The file appears with its first record. */
function journalFile({ files, paths, journal }: SessionOptions) {
  const records: RunRecord[] = [...(journal?.records ?? [])];
  const end = appended(files, paths.journal);
  let bytes = Buffer.byteLength(journal?.text ?? '');
  /** After a failed write its end is unknown: what is appended behind might be lost with it. */
  let broken = false;
  /** Bytes that a write under way may have added already. */
  let growing = 0;
  let turning = false;
  /** For good, once the file was removed or cut outside of this run: nothing may be sent after that. */
  let lost = false;

  /** The size is the quick way: the journal only grows, and only here. */
  const isKept = async (): Promise<boolean> => {
    const [least, most] = [bytes, bytes + growing];
    if (lost || turning || least === 0) return !lost;
    const size = await files.size(paths.journal);
    return size !== undefined && size >= least && size <= most;
  };

  /** Writes everything again, into the file that is there. What became of requests is worth keeping; an intent of which nothing left yet is not. */
  const restore = async (added: Entries, head: string): Promise<void> => {
    await end.close();
    records.push(...added.filter(({ type }) => type !== 'intent'));
    const text = [head, ...records.map(encodeRecord)].join('');
    await files.replace(paths.journal, text, MODE);
    bytes = Buffer.byteLength(text);
    lost = true;
    if (added.some(({ type }) => type === 'intent')) refuseLost(paths.journal);
  };

  return {
    records: (): Entries => records,
    close: end.close,

    async assertKept(): Promise<void> {
      if (await isKept()) return;
      lost = true;
      refuseLost(paths.journal);
    },

    async append(added: Entries, lines: string, head: () => string): Promise<void> {
      if (broken) refuseBroken(paths.journal);
      if (bytes + Buffer.byteLength(lines) > LARGEST_JOURNAL)
        refuse('journal-full', `${paths.journal} would become larger than 250 MiB`, {
          detail: 'Apply in parts (--target).',
        });
      if (!(await isKept())) return restore(added, head());
      if (bytes === 0) {
        const first = head();
        await files.create(paths.journal, first, MODE);
        bytes = Buffer.byteLength(first);
      }
      broken = true;
      growing = Buffer.byteLength(lines);
      await end.write(lines);
      broken = false;
      [bytes, growing] = [bytes + growing, 0];
      for (const record of added) records.push(record);
    },

    /** Before the state: what will be the journal once the state is written. */
    async prepare(carried: string): Promise<void> {
      if (carried === '') await ifThere(files.remove(paths.next));
      else await files.replace(paths.next, carried, MODE);
    },

    /** After the state: the prepared journal, or none, takes the place of this one. */
    async turn(open: readonly Intent[], carried: string): Promise<void> {
      records.length = 0;
      for (const intent of open) records.push(intent);
      bytes = Buffer.byteLength(carried);
      broken = true;
      turning = true;
      await end.close();
      if (carried === '') await ifThere(files.remove(paths.journal));
      else await files.rename(paths.next, paths.journal);
      broken = false;
      turning = false;
    },
  };
}

const refuseLost = (path: string): never =>
  refuseLocked('journal-lost', `${path} was removed or changed outside of this run`, {
    detail:
      'Nothing more is sent. What this run did is in the journal again. Run the same command again.',
  });

const refuseBroken = (path: string): never =>
  refuse('journal-broken', `${path} could not be written before`, {
    detail: 'What was recorded until then is safe. Fix the cause and run the same command again.',
  });

/** The end of a file, open from its first write. */
function appended(files: Files, path: string): Appender {
  let appender: Appender | undefined;
  return {
    async write(lines) {
      const { write } = (appender ??= await files.append(path, MODE));
      await withDisk(path, () => write(lines));
    },
    async close() {
      await appender?.close();
      appender = undefined;
    },
  };
}
