// One run on a remote backend. The order of its steps is what keeps two runs apart:
//   record   writes a wave under a key of its own, which must not exist
//   send     reads the head after the wave is durable; the head must still name this run. Requests share such reads
//   take     replaces the head first, and lists the log afterwards
// If the check of a run passed, its read of the head came before the head of the next holder, and so did its wave: the
// next holder sees the intent of every request that may have left.
import { pending, sha256, type RunAuthor, type RunRecord } from '../../../model/index.js';
import type { Clock, LockPort } from '../../../platform/index.js';
import { grouped, queue, type InTurn } from '../../record-batches.js';
import { snapshotOf, nextState } from '../../snapshot.js';
import type { Compaction, Session, Snapshot } from '../../store-port.js';
import type { LockTools } from '../file/lock.js';
import { endedSoon } from '../until-interrupted.js';
import { sharedNext, untilStopped } from '../until-stopped.js';
import type { RescueFolder } from './rescue.js';
import { heldHead, type HeadTools, type OpenedHead } from './lease.js';
import { slotOf } from './keys.js';
import { encodeWave } from './record-log.js';
import { settledPut } from './settled-put.js';

/** Milliseconds for which a check shows that the lock is held. Far less than the lease and the settle time. */
const FRESH = 100;

export interface SessionTools extends HeadTools, Pick<LockTools, 'signal'> {
  readonly lock: LockPort;
  readonly rescue: RescueFolder;
  /** Recorded in the states that it writes. */
  readonly author?: RunAuthor;
}

export function registerSession(tools: SessionTools, held: OpenedHead): Session {
  const { clock, keys, random, lock, rescue, author } = tools;
  const { holder, epoch } = held.head;
  let { state } = held;
  let { last } = held.log;
  let records: readonly RunRecord[] = [...held.head.carry, ...held.log.records];
  let earlier = records;
  let sequence = 1;
  const inTurn = queue((work) => work());
  const head = heldHead(tools, held);

  const going = untilStopped(head.isLost, rescue);

  const append = async (added: readonly RunRecord[], lines: string): Promise<void> => {
    const slot = slotOf(epoch, sequence);
    const body = encodeWave({ holder: holder.id, after: last, nonce: random.uuid() }, lines);
    const put = await settledPut(tools, keys.entry(head.now().serial, slot), body, null);
    if (put === 'conflict') await head.lose();
    checks.recorded(added);
    sequence += 1;
    last = { slot, sha256: sha256(body) };
    records = [...records, ...added];
  };

  const check = async (): Promise<void> => {
    await head.assertOurs();
    if (head.isOverdue()) await inTurn(() => head.beat());
  };

  const compact = async (how: Compaction): Promise<Snapshot> => {
    const open = pending(records);
    const { operation } = holder;
    const least = head.now().serial + 1;
    const next = await nextState({ clock, operation, author, state, records, least, earlier }, how);
    if (next) {
      await head.replaceState(next, open);
      [state, records, last, earlier] = [next, open, null, []];
      await head.collectGarbage();
    } else if (open.length === 0 && records.length > 0) {
      const log_from = slotOf(epoch, sequence);
      await head.swap((now) => ({ ...now, carry: [], log_from }));
      [records, last] = [[], null];
      await head.collectGarbage();
    }
    return snapshotOf(state, records);
  };

  const checks = sharedChecks(clock, check, () => sequence);
  const assertHeld: Session['assertHeld'] = (op) => going.on(() => checks.held(op));
  const record = grouped(inTurn, records, (added, lines) =>
    going.on(() => append(added, lines), added),
  );
  const every: Heartbeats['every'] = (work) => lock.every(holder.lease / 3, work);
  const stopBeating = heartbeats({ every, inTurn, head, going });
  const release = async (): Promise<void> => {
    stopBeating();
    const given = inTurn(async () => {
      if (!head.isLost()) await head.swap((now) => ({ ...now, holder: null }));
    });
    await endedSoon(tools, tools.registers.location, given).catch(() => undefined);
  };
  let released: Promise<void> | undefined;
  return {
    get snapshot() {
      return snapshotOf(state, records);
    },
    record: checkedEarly(record, assertHeld),
    assertHeld,
    compact: (how = {}) => inTurn(() => going.on(() => compact(how))),
    mark: (moved) => inTurn(() => going.on(() => head.swap((now) => ({ ...now, moved })))),
    release: () => (released ??= release()),
  };
}

interface Heartbeats {
  readonly every: (work: () => void) => () => void;
  readonly inTurn: InTurn;
  readonly head: Pick<ReturnType<typeof heldHead>, 'beat' | 'isLost'>;
  readonly going: Pick<ReturnType<typeof untilStopped>, 'isStopped' | 'stop'>;
}

/** At most one heartbeat waits for its turn: at a slow backend, they would delay records and the release more and more. @returns ends them, also the one that waits */
function heartbeats({ every, inTurn, head, going }: Heartbeats): () => void {
  let [waits, isOver] = [false, false];
  const beat = async (): Promise<void> => {
    waits = false;
    if (!isOver && !going.isStopped()) await head.beat();
  };
  const lost = (error: unknown): void => {
    if (head.isLost()) going.stop(error);
  };
  const stop = every(() => {
    if (waits) return;
    waits = true;
    void inTurn(beat).catch(lost);
  });
  return () => {
    isOver = true;
    stop();
  };
}

/** A check that begins while a request waits for its turn delays it less. Who asks for it is told why it failed. */
const checkedEarly =
  (record: Session['record'], assertHeld: Session['assertHeld']): Session['record'] =>
  async (...added) => {
    await record(...added);
    for (const one of added)
      if (one.type === 'intent') void assertHeld(one.op).catch(() => undefined);
  };

/** A check will do for a request if it began after the intent of the request was durable. @param sequence of the next wave */
function sharedChecks(clock: Clock, check: () => Promise<void>, sequence: () => number) {
  /** By operation: the wave that holds its intent. */
  const waves = new Map<string, number>();
  let passed = { sequence: 0, at: -Infinity };
  const ask = sharedNext(async () => {
    const begun = { sequence: sequence(), at: clock.boot().milliseconds };
    await check();
    passed = begun;
  }, sequence);
  return {
    /** @param added with the wave that is durable now */
    recorded(added: readonly RunRecord[]): void {
      for (const one of added) if (one.type === 'intent') waves.set(one.op, sequence());
    },
    /** @param op whose intent was recorded; absent: checks now */
    async held(op = ''): Promise<void> {
      const wave = waves.get(op);
      if (wave === undefined) return ask();
      const isRecent = clock.boot().milliseconds - passed.at <= FRESH;
      if (!isRecent || passed.sequence <= wave) await ask(wave + 1);
    },
  };
}
