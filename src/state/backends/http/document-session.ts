// One run on the document of a server. Each wave of records is a write of the whole document, so a run may hold no more
// than some hundred changes.
import { pending, refuse, shellWord, warning, type RunRecord } from '../../../model/index.js';
import { grouped, queue } from '../../record-batches.js';
import { encodeRecord } from '../../journal-text.js';
import { snapshotOf, nextState } from '../../snapshot.js';
import { encodeState } from '../../state-format.js';
import type { Compaction, Session, Snapshot } from '../../store-port.js';
import type { LockTools } from '../file/lock.js';
import { unlessRefused } from '../backend-errors.js';
import { noResponse } from '../retried.js';
import { endedSoon, LAST } from '../until-interrupted.js';
import { sharedNext, untilStopped } from '../until-stopped.js';
import type { SessionTools } from '../registers/register-session.js';
import type { DocumentContent, DocumentHolder } from './document.js';
import type { DocumentTools, UnnumberedDocument, HeldDocument } from './held-document.js';
import type { StateServer } from './state-server.js';

/** Changes of one run. */
const MOST = 500;
/** Milliseconds for which an accepted write shows that the lock is held. Far less than the settle time. */
const FRESH = 5_000;

export interface DocumentSessionTools
  extends
    Omit<DocumentTools, 'server'>,
    Pick<SessionTools, 'signal' | 'rescue' | 'author'>,
    Pick<LockTools, 'notify'> {
  /** The document itself is written through a `HeldDocument`. */
  readonly server: Pick<StateServer, 'location' | 'unlock'>;
}

interface OpenedDocument {
  /** As it was written last, with this run as its holder. */
  readonly draft: UnnumberedDocument & { readonly holder: DocumentHolder };
  readonly content: DocumentContent;
}

export function documentSession(
  tools: DocumentSessionTools,
  document: HeldDocument,
  { draft, content }: OpenedDocument,
): Session {
  const { server, clock, rescue, author } = tools;
  let written: UnnumberedDocument = draft;
  let { state, records } = content;
  let earlier = records;
  const inTurn = queue((work) => work());
  const going = untilStopped(document.isLost, rescue);
  const passes = proofs(tools);

  const write = async (change: Partial<UnnumberedDocument>, least?: number): Promise<void> => {
    const next = { ...written, ...change };
    await document.write(next, least);
    written = next;
  };

  const append = async (added: readonly RunRecord[], lines: string): Promise<void> => {
    await write({ journal: [...written.journal, ...withoutEnds(lines)] });
    records = [...records, ...added];
  };
  const group = grouped(inTurn, records, (added, lines) =>
    going.on(() => append(added, lines), added),
  );
  const record: Session['record'] = async (...added) => {
    const isIntent = added.some(({ type }) => type === 'intent');
    // Refused before it waits with others: what became of requests is still recorded.
    if (isIntent && changesIn(records) >= MOST) refuseFull(server.location);
    await group(...added);
    if (isIntent) passes.add(document.since());
  };

  const compact = async (how: Compaction): Promise<Snapshot> => {
    const open = pending(records);
    const { operation } = draft.holder;
    const least = state.serial + 1;
    const next = await nextState({ clock, operation, author, state, records, least, earlier }, how);
    if (next) {
      const journal = withoutEnds(open.map(encodeRecord).join(''));
      const { lineage, serial, secrets_salt = written.secrets_salt } = next;
      await write({ lineage, secrets_salt, state: encodeState(next), journal }, serial);
      [state, records, earlier] = [next, open, []];
    } else if (open.length === 0 && records.length > 0) {
      await write({ journal: [] });
      records = [];
    }
    return snapshotOf(state, records);
  };

  const ask = sharedNext(() => inTurn(() => write({})));
  const release = async (): Promise<void> => {
    // After a failure it is unknown which document is there: it stays.
    if (!going.isStopped())
      await endedSoon(tools, server.location, write({ holder: null })).catch(() => undefined);
    // Not every server checks the id: the lock may be another run's by now.
    if (document.isLost()) return;
    await removeLock(tools, draft.holder);
  };
  let released: Promise<void> | undefined;
  return {
    get snapshot() {
      return snapshotOf(state, records);
    },
    record,
    assertHeld: () => going.on(async () => (passes.take() ? undefined : ask())),
    compact: (how = {}) => inTurn(() => going.on(() => compact(how))),
    mark: (moved) => inTurn(() => going.on(() => write({ moved }))),
    release: () => (released ??= inTurn(release)),
  };
}

/** Accepted writes of intents. Each settles one check whether the lock is held, soon after it. */
function proofs({ clock }: Pick<DocumentTools, 'clock'>) {
  let known: readonly number[] = [];
  return {
    add: (since: number): void => void (known = [...known, since]),
    /** Uses up one fresh check; false if there is none. */
    take(): boolean {
      const now = clock.monotonic();
      const [first, ...rest] = known.filter((since) => now - since <= FRESH);
      known = rest;
      return first !== undefined;
    },
  };
}

const withoutEnds = (lines: string): readonly string[] => lines.split('\n').slice(0, -1);

const changesIn = (records: readonly RunRecord[]): number =>
  new Set(records.flatMap((one) => (one.type === 'intent' ? [one.op] : []))).size;

const refuseFull = (location: string): never =>
  refuse('journal-full', `${location} takes no more than ${MOST} changes in one run`, {
    detail:
      'Run the same command again for the rest. For larger runs keep the state in PostgreSQL or S3: postgres://host/database, s3://bucket/prefix',
  });

/** Removes the lock of this run. A lock that stays is said, because no run takes it over. */
export async function removeLock(
  { server, notify, ...run }: Pick<DocumentSessionTools, 'server' | 'notify' | 'clock' | 'signal'>,
  holder: DocumentHolder,
): Promise<void> {
  const asked = server.unlock(holder);
  const unlocked = await endedSoon(run, server.location, asked).catch((error: unknown) => {
    unlessRefused(error);
    return { failure: noResponse(LAST) };
  });
  if (typeof unlocked !== 'object') return;
  notify?.(
    warning(
      'lock-left',
      `The lock of ${server.location} could not be removed: ${unlocked.failure}.`,
      `No run takes it over. Type: trueup unlock ${shellWord(holder.id)}`,
    ),
  );
}
