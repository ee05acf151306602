// The progress of a fleet as lines of a terminal: one for each lane, and one with the totals. Pure: the command line
// has the stream, the cursor and the clock.
import type { TenantCounts } from '../model/index.js';
import { visible } from './escaping.js';
import { statusCounts } from './fleet-text.js';
import { screenOf, type Style } from './style.js';
import { clip, columns } from './text-width.js';
import { plural, timeWords } from './words.js';

export interface RunningTenant {
  readonly tenant: string;
  /** What it does, as the progress line of one project says it; empty where it says nothing. */
  readonly activity: string;
  /** Milliseconds since it began. */
  readonly elapsed: number;
}

export interface FleetProgress {
  /** Absent where that is not known, as of a queue. */
  readonly total?: number | undefined;
  readonly counts: TenantCounts;
  readonly running: readonly RunningTenant[];
  /** Milliseconds since the run began. */
  readonly elapsed: number;
  /** Milliseconds until it ends, as far as that can be told. */
  readonly left: number | undefined;
}

/** The columns that names of tenants get at most. */
const NAME_COLUMNS = 24;

/** Each of at most `width - 1` columns, without a line feed; at most `rows` of them. */
export function fleetProgressLines(
  { total, counts, running, elapsed, left }: FleetProgress,
  style: Style,
  rows: number,
): readonly string[] {
  const { dim } = screenOf(style);
  const isAllShown = running.length < rows;
  const shown = isAllShown ? running : running.slice(0, Math.max(rows - 2, 0));
  const names = shown.map(({ tenant }) => clip(visible(tenant), NAME_COLUMNS));
  const wide = Math.max(0, ...names.map(columns));
  const lines = shown.map(({ activity, elapsed: since }, index) => {
    const name = names[index]!;
    const padding = ' '.repeat(wide - columns(name));
    return `${name}${padding}  ${timeWords(since).padStart(9)}  ${visible(activity) || 'begins'}`;
  });
  const hidden = running.length - shown.length;
  const ended = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const totals = [
    total === undefined ? plural(ended, 'tenant') : `${ended} of ${plural(total, 'tenant')}`,
    timeWords(elapsed),
    left !== undefined && `about ${timeWords(left)} to go`,
    // The best last: it is the first to be cut off.
    ...statusCounts(counts),
  ].filter((part) => typeof part === 'string');
  const all = [
    ...lines,
    ...(hidden > 0 && rows > 1 ? [`… and ${hidden} more`] : []),
    totals.join(' · '),
  ];
  return all.map((line) => dim(clip(line, style.width - 1)));
}
