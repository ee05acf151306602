// State and journal folded together, and the state as the next compaction writes it.
import { fold, isOfToday, pending, type RunRecord, type State } from '../model/index.js';
import type { Clock } from '../platform/index.js';
import type { Snapshot } from './store-port.js';

export const snapshotOf = (state: State, records: readonly RunRecord[]): Snapshot => ({
  state: fold(state, records),
  pending: pending(records),
  unfinished: records.length > 0,
});

/** The state without what counts for a day that is over. */
export function withoutPast({ recent: known = [], spent, ...rest }: State, clock: Clock): State {
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
