// Readings that lag behind the writes: for a while after a write, a reading returns every record as it was before.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Kind } from '../model/index.js';
import type { Clock, Random } from '../platform/index.js';
import { type StoredRecord, recordId } from './records.js';
import type { RecordChange, RecordStore } from './record-store.js';

/** How late a write is shown. */
export interface Lag {
  readonly milliseconds: number;
  /** Each reading shows it in one of two cases: some replicas have it already. */
  readonly flicker: boolean;
}

/** A record as readings still see it; `record` is absent where it is not there for them. */
interface Earlier {
  readonly record: StoredRecord | undefined;
  readonly place: number;
  /** On the clock of the emulator, milliseconds since 1970. */
  readonly until: number;
  readonly flicker: boolean;
}

/** One for all emulators of a process: each costs every promise there is. */
const lag = new AsyncLocalStorage<Lag>();

export function createStaleFault(store: RecordStore, clock: Clock, random: Random) {
  /** By kind and id, the oldest first. */
  const earlier = new Map<string, Map<string, Earlier[]>>();
  const waiting = (kind: Kind): Map<string, Earlier[]> =>
    earlier.get(kind.name) ?? new Map<string, Earlier[]>();

  const note = ({ kind, before, after }: RecordChange): void => {
    const { milliseconds, flicker } = lag.getStore() ?? { milliseconds: 0, flicker: false };
    if (milliseconds === 0) return;
    const id = recordId(kind, (after ?? before)!);
    const byId = waiting(kind);
    earlier.set(kind.name, byId);
    byId.set(id, [
      ...(byId.get(id) ?? []),
      { record: before, place: store.place(kind, id), until: clock.now() + milliseconds, flicker },
    ]);
  };

  /** The earlier record that a reading finds now; undefined where it finds the stored one. */
  const shown = (kind: Kind, id: string): Earlier | undefined => {
    const byId = waiting(kind);
    const left = (byId.get(id) ?? []).filter(({ until }) => until > clock.now());
    if (left.length === 0) byId.delete(id);
    else byId.set(id, left);
    const [first] = left;
    return first?.flicker && random.fraction() < 0.5 ? undefined : first;
  };

  const all = (kind: Kind): readonly StoredRecord[] => {
    const ids = [...waiting(kind).keys()];
    if (ids.length === 0) return store.all(kind);
    const old = new Map(ids.flatMap((id) => [[id, shown(kind, id)] as const]));
    const kept = store.all(kind).filter((record) => !old.get(recordId(kind, record)));
    const stands = (record: StoredRecord): number =>
      old.get(recordId(kind, record))?.place ?? store.place(kind, recordId(kind, record));
    return [
      ...kept,
      ...[...old.values()].flatMap((one) => (one?.record ? [one.record] : [])),
    ].toSorted((a, b) => stands(a) - stands(b));
  };
  const get = (kind: Kind, id: string): StoredRecord | undefined => {
    const old = shown(kind, id);
    return old ? old.record : store.get(kind, id);
  };
  const place = (kind: Kind, id: string): number =>
    waiting(kind).get(id)?.[0]?.place || store.place(kind, id);

  return {
    /** The store for everything but readings: it takes note of what is changed. */
    store: {
      ...store,
      commit: (change: RecordChange) => {
        if (change.before) note(change);
        store.commit(change);
        if (!change.before) note(change);
      },
    },
    /** The store as readings see it. */
    readings: { ...store, all, get, place },
    /** Whether a reading may differ from what is stored. */
    lags: () => [...earlier.values()].some((byId) => byId.size > 0),
    /** Does a write whose effect is shown late. */
    during: <T>(wanted: Lag, work: () => Promise<T>) => lag.run(wanted, work),
  };
}
