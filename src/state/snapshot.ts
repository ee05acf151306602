// State and journal folded together, and the state as the next compaction writes it.
import {
  countApplied,
  defined,
  equal,
  fold,
  isOfToday,
  pending,
  type Outcome,
  type RecordedRun,
  type RunAuthor,
  type RunRecord,
  type State,
} from '../model/index.js';
import type { Clock } from '../platform/index.js';
import type { Compaction, Snapshot } from './store-port.js';

export const snapshotOf = (state: State, records: readonly RunRecord[]): Snapshot => ({
  state: fold(state, records),
  pending: pending(records),
  unfinished: records.length > 0,
});

/** Whether writes of an interrupted run took effect. @param earlier the records that it left @param records these, and the later ones */
function hasTakenEffect(earlier: readonly RunRecord[], records: readonly RunRecord[]): boolean {
  const left = new Set(earlier.flatMap((one) => (one.type === 'intent' ? [one.op] : [])));
  const isOfIt = (one: RunRecord): boolean =>
    one.type === 'result' && one.class === 'applied' && one.op !== undefined && left.has(one.op);
  return earlier.some(({ type }) => type === 'result') || records.some(isOfIt);
}

/** The runs that a state names. */
const MOST_RUNS = 100;

/** What a compaction knows of its run. */
interface Compacting {
  readonly clock: Clock;
  readonly operation: string;
  /** Absent: the run is not recorded. */
  readonly author: RunAuthor | undefined;
  readonly state: State;
  readonly records: readonly RunRecord[];
  /** The lowest serial that the new state may have. */
  readonly least: number;
  /** Those of the records that an interrupted run left. */
  readonly earlier: readonly RunRecord[];
}

/** The state that a compaction writes: under its serial, with its run. Undefined where nothing changed. */
export async function nextState(
  { clock, operation, author, state, records, least, earlier }: Compacting,
  { finish, always, applied, outcomes = [] }: Compaction,
): Promise<State | undefined> {
  const folded = fold(state, records);
  if (!always && equal(folded, state)) return undefined;
  const finished = (await finish?.(folded)) ?? folded;
  const serial = Math.max(least, finished.serial);
  const next = { ...withoutPast(finished, clock), serial };
  if (!author) return next;
  const run = {
    serial,
    at: new Date(clock.now()).toISOString(),
    operation,
    ...author,
    ...defined({ digest: applied?.digest() }),
    ...countApplied(state, records),
    ...countUndone(outcomes),
    objects: Object.keys(next.resources).length,
    ...(hasTakenEffect(earlier, records) && { resumed: true as const }),
  };
  return { ...next, runs: [run, ...(next.runs ?? [])].slice(0, MOST_RUNS) };
}

function countUndone(
  outcomes: NonNullable<Compaction['outcomes']>,
): Pick<RecordedRun, 'failed' | 'skipped' | 'unknown'> {
  const count = (wanted: Outcome['outcome']): number | undefined =>
    outcomes.filter(({ outcome }) => outcome === wanted).length || undefined;
  return defined({
    failed: count('failed'),
    skipped: count('skipped'),
    unknown: count('unknown'),
  });
}

/** The state without what counts for a day that is over. */
function withoutPast({ recent: known = [], spent, ...rest }: State, clock: Clock): State {
  // The clock of the service shows at least the latest time that it told.
  const told = [...spent, ...known].map(({ server_at = '' }) => Date.parse(server_at) || 0);
  const now = {
    boot: clock.boot(),
    server: told.reduce((latest, one) => Math.max(latest, one), 0),
    wall: clock.now(),
  };
  const recent = known.filter((one) => isOfToday(one, now));
  return {
    ...rest,
    spent: spent.filter((one) => isOfToday(one, now)),
    ...(recent.length > 0 && { recent }),
  };
}
