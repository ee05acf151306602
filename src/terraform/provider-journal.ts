// The provider's own journal: Terraform's state holds the objects, but Terraform can be killed between the reply and
// its state. It uses the file store of the command line; its entries are creates that no state of Terraform has shown
// yet, under the address `<kind>.tf-<uuid>` and, as their file, the Terraform run that requested them. The lock is held
// while writes are running; another provider process waits for its turn.
import {
  Refusal,
  refuse,
  resultRecord,
  type CloudWriter,
  type Entry,
  type Intent,
} from '../model/index.js';
import type { Random } from '../platform/index.js';
import {
  isUndecided,
  settleOld,
  type RecoveryContext,
  type Undecided,
} from '../reconciler/apply/recovery.js';
import { isLocked, type Notes, type Session, type Store } from '../state/store-port.js';

/** Milliseconds that the lock is kept after the last write: a chain of objects is made one by one. */
const LINGER = 300;
/** Milliseconds to wait for another process that holds the lock. */
const LOCK_TIMEOUT = 600_000;
/** Milliseconds between two attempts to take its lock, at most twice of it. */
const LONGEST_PAUSE = 1_000;

/** Instead of a run: a state of terraform's shows the object. The entry stays for as long as creates of its kind are open, which must not take the object for theirs. */
export const SHOWN = '';

/** The terraform run that this process serves. */
export interface JournalRun {
  /** Names the run among all others, whichever process of it asks. */
  readonly id: string;
  /** True if the run that made an entry has ended, and had the same workspace and folder: then this run may take over its entry. */
  isOver(entry: Entry): Promise<boolean>;
}

/** The tools of one configured provider that the journal and the writes share. */
export interface SharedTools extends RecoveryContext {
  readonly cloud: CloudWriter;
  readonly random: Random;
  /** `<kind> <id>` of objects that a state of terraform's holds. */
  readonly claims: Set<string>;
}

/** The place of a journal. */
export interface JournalPlace {
  readonly store: Store;
  /** Absent for a journal that machines share: whoever applies next is shown the same objects by the same state. */
  readonly notes?: Notes;
  /** The settings of a project whose commands work on this journal, as YAML. */
  readonly journalSettings: string;
  readonly run: JournalRun;
}

type JournalTools = SharedTools & Omit<JournalPlace, 'run'>;

/** The journal in our hands. */
export interface Held {
  readonly session: Session;
  /** As of now, by address. */
  readonly entries: Map<string, Entry>;
  /** Creates that a person has to decide on, of interrupted runs and of this one before. */
  readonly undecided: readonly Undecided[];
  /** Keeps the lock for work that goes on when nobody waits for it any more. */
  readonly keep: (work: Promise<void>) => void;
}

export type ProviderJournal<Hold extends Held> = ReturnType<typeof journalOf<Hold>>;

/** Commands on the journal work where a project names it as its state. */
export const withPlace = (detail: string, settings: string): string =>
  detail.replace(
    /trueup (?:unlock|state rm) \S+/,
    (command) => `${command} (in a folder whose trueup.yaml reads: settings: ${settings})`,
  );

function placed({ diagnostics, exit }: Refusal, settings: string): Refusal {
  return new Refusal(
    diagnostics.map((one) =>
      one.detail === undefined ? one : { ...one, detail: withPlace(one.detail, settings) },
    ),
    exit,
  );
}

export const claimOf = (kind: string, id: string): string => `${kind} ${id}`;

/** @param equip what writes need beside the journal, created each time the lock is taken */
export function journalOf<Hold extends Held>(tools: JournalTools, equip: (held: Held) => Hold) {
  const { store, notes, claims, clock, signal } = tools;
  const questions: Questions = new Map();
  let held: Promise<Hold> | undefined;
  let closing: Promise<unknown> = Promise.resolve();
  let users = 0;
  let idle = new AbortController();

  async function end({ session, entries }: Pick<Held, 'session' | 'entries'>): Promise<void> {
    try {
      await markShown(session, entries, claims);
      await session.compact();
    } finally {
      await session.release();
    }
  }

  /** No other process can interfere: the next one to open it waits for the end. */
  function release(): Promise<void> {
    const opened = held;
    held = undefined;
    if (!opened) return Promise.resolve();
    const ended = opened.then(end);
    closing = ended.catch(() => undefined);
    return ended;
  }

  async function linger(): Promise<void> {
    idle = new AbortController();
    const interrupted = await failed(clock.sleep(LINGER, idle.signal));
    if (!interrupted && users === 0) await release().catch(() => undefined);
  }

  function keep(work: Promise<void>): void {
    users += 1;
    void work.finally(() => {
      users -= 1;
      if (users === 0) void linger();
    });
  }

  return {
    /** Runs a write under the lock. @throws Refusal where the lock cannot be had, or what an earlier run left cannot be settled */
    async during<T>(write: (hold: Hold) => Promise<T>): Promise<T> {
      users += 1;
      idle.abort();
      const mine = (held ??= closing.then(async () =>
        equip({ ...(await opened({ ...tools, questions }, LOCK_TIMEOUT)), keep }),
      ));
      try {
        return await write(await opening(mine, signal));
      } finally {
        users -= 1;
        if (held === mine && (await failed(mine))) held = undefined;
        else if (users === 0) void linger();
      }
    },
    /** Lets the lock go and drops the entries that are claimed. */
    async close(): Promise<void> {
      idle.abort();
      if (held) return release();
      await closing;
      const left = claims.size === 0 || !notes ? undefined : await store.read();
      const shown = Object.values(left?.state.resources ?? {}).flatMap(({ kind, id }) =>
        claims.has(claimOf(kind, id)) ? [claimOf(kind, id)] : [],
      );
      if (!notes || shown.length === 0) return;
      const here = await opened(tools, 0).catch(ifLocked);
      await (here ? end(here) : notes.leave(shown));
    },
  };
}

/** If a wait for another run, or for its outcome, is interrupted, the error says so instead of reporting a bug. */
async function opening<Hold>(hold: Promise<Hold>, signal: AbortSignal): Promise<Hold> {
  try {
    return await hold;
  } catch (error) {
    if (!signal.aborted || error instanceof Refusal) throw error;
    return refuse('interrupted', 'Terraform was interrupted before anything of this was sent.', {
      detail: 'Apply again.',
    });
  }
}

const failed = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => false,
    () => true,
  );

/** Unsettled creates, by intent. They are not looked at again in this process before one of their candidates has an owner. */
type Questions = Map<string, Undecided>;

/** Without `questions` what is open stays open. */
async function opened(tools: JournalTools & { readonly questions?: Questions }, timeout: number) {
  const session = await lockOf(tools, timeout);
  try {
    const { questions } = tools;
    const undecided = questions ? await asked({ ...tools, questions }, session) : [];
    const { state } = session.snapshot.unfinished ? await session.compact() : session.snapshot;
    const entries = new Map(Object.entries(state.resources));
    const noted = await tools.notes?.read();
    await markShown(session, entries, new Set(noted?.lines));
    await noted?.forget();
    return { session, entries, undecided };
  } catch (error) {
    await session.release();
    throw error;
  }
}

/** An object that a state of terraform's shows is nobody's to take any more. */
async function markShown(
  session: Session,
  entries: Map<string, Entry>,
  claims: ReadonlySet<string>,
): Promise<void> {
  const shown = [...entries].filter(([, entry]) => claims.has(claimOf(entry.kind, entry.id)));
  if (shown.length === 0) return;
  const { pending } = await session.compact();
  const isOpen = ({ kind }: Entry): boolean =>
    pending.some((intent) => intent.action === 'create' && intent.kind === kind);
  const results = shown.map(([address, entry]) =>
    resultRecord(address, 'applied', { entry: isOpen(entry) ? { ...entry, file: SHOWN } : null }),
  );
  await session.record(...results);
  for (const { address, entry } of results) {
    if (entry) entries.set(address, entry);
    else entries.delete(address);
  }
}

function ifLocked(error: unknown): undefined {
  if (!isLocked(error)) throw error;
}

/** @param timeout milliseconds */
async function lockOf(tools: JournalTools, timeout: number) {
  const { store, cloud, clock, random, signal, journalSettings } = tools;
  const begun = clock.monotonic();
  for (let pause = 100; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    try {
      return await store.open('terraform', cloud.target);
    } catch (error) {
      if (!isLocked(error)) throw error;
      if (clock.monotonic() - begun >= timeout) throw placed(error, journalSettings);
    }
    await clock.sleep(pause * (1 + random.fraction()), signal);
  }
}

/** Settles what can be settled, and returns what stays open. An object that a state of terraform's holds is nobody's outcome. */
async function asked(
  { claims, questions, ...looker }: JournalTools & { readonly questions: Questions },
  session: Session,
): Promise<readonly Undecided[]> {
  const { snapshot } = session;
  const theirs = Object.fromEntries([...claims].map((claim) => [claim, claimed(claim)]));
  const resources = { ...theirs, ...snapshot.state.resources };
  const owned = new Set(Object.values(resources).map(({ kind, id }) => claimOf(kind, id)));
  const stands = ({ op, kind }: Intent): boolean =>
    questions.get(op)?.candidates.every(({ id }) => !owned.has(claimOf(kind, id))) ?? false;
  if (!snapshot.pending.every(stands)) {
    const { settled } = await settleOld(looker, {
      ...session,
      snapshot: { ...snapshot, state: { ...snapshot.state, resources } },
    });
    questions.clear();
    for (const one of settled.filter(isUndecided)) questions.set(one.intent.op, one);
  }
  return snapshot.pending.flatMap(({ op }) => questions.get(op) ?? []);
}

function claimed(claim: string): Entry {
  const [kind = '', id = ''] = claim.split(' ', 2);
  return { kind, id, file: '', applied: {}, observed: {}, depends_on: [], applied_at: '' };
}
