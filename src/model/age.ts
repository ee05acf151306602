// The age of an event. On the same boot, by the time since the start of the machine; otherwise by the clock of the
// service; and by the clock of the machine, which people can set, only if the caller allows it.
import type { Moment } from './state.js';

/** Milliseconds by which responses of the service may give its time wrong: they are cut to seconds, and travel. */
const SLACK = 5000;
const DAY = 24 * 60 * 60 * 1000;

/** Milliseconds of the longest settle time. */
export const MOST_SETTLE = DAY;

export interface Now {
  readonly boot: { readonly id: string | null; readonly milliseconds: number };
  /** Milliseconds since 1970, by the clock of the service; undefined where it did not tell. */
  readonly server?: number | undefined;
  /** Milliseconds that this run has waited already. */
  readonly waited?: number;
  /** Milliseconds since 1970, by the clock of the machine, where that decides if nothing else can tell. */
  readonly wall?: number;
}

/** Milliseconds that have certainly passed since; 0 where nobody can tell. */
export function ageOf(
  { at, boot, server_at }: Moment,
  { boot: now, server, waited = 0, wall }: Now,
): number {
  if (boot && boot.id === now.id && now.milliseconds >= boot.milliseconds)
    return now.milliseconds - boot.milliseconds;
  const passed =
    server_at === undefined || server === undefined
      ? (wall ?? -Infinity) - Date.parse(at)
      : server - Date.parse(server_at) - SLACK;
  return Math.max(passed, waited, 0);
}

/** Whether something counts as recent: not certainly more than 24 hours ago. */
export const isOfToday = (moment: Moment, now: Now): boolean => ageOf(moment, now) <= DAY;

/** The time in a time-based UUID (version 1), in units of 100 nanoseconds since 1582-10-15; undefined for any other id. */
export function uuidTicks(id: string): bigint | undefined {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-1([0-9a-f]{3})-[0-9a-f]{4}-[0-9a-f]{12}$/i.exec(id);
  return match ? BigInt(`0x${match[3]}${match[2]}${match[1]}`) : undefined;
}
