// The progress of a fleet: lines redrawn on a terminal, one for each lane, or events with `--format ndjson`. Nothing of
// it anywhere else, where each tenant has its line when it ends.
import type { FleetRun, TenantEntry, TenantStatus } from '../model/index.js';
import type { FleetNdjson } from '../report/fleet-ndjson.js';
import { fleetProgressLines, type RunningTenant } from '../report/fleet-progress.js';
import type { Context } from './context.js';

export interface FleetWatch {
  /** @returns what takes the progress line of the tenant, where one is shown */
  begin(tenant: string): ((line: string | undefined) => void) | undefined;
  /** @param isNew whether it was run now, and not before in the same run */
  end(entry: TenantEntry, isNew: boolean): void;
  /** It is run no more, and does not count: another process has it. */
  leave(tenant: string): void;
  /** Before something is printed; the lines come again with the next change. */
  hide(): void;
  close(): void;
}

interface Watched extends Pick<FleetRun, 'run' | 'command'> {
  readonly events?: FleetNdjson | undefined;
}

/** Milliseconds between two drawings: at most, and at least. */
const PACE = { fastest: 100, slowest: 1000 };

/** @param total number of tenants */
export function fleetWatch(
  context: Context,
  { run, command, events }: Watched,
  total: number,
): FleetWatch {
  if (!events) return fleetLines(context, total);
  const { out } = context;
  out.write(events.begin({ run, command, tenants: total }));
  return {
    ...nothing,
    begin(tenant) {
      out.write(events.tenantBegin(tenant, command));
      return undefined;
    },
    end: (entry) => out.write(events.tenantEnd(entry, command)),
  };
}

const nothing: FleetWatch = {
  begin: () => undefined,
  end: () => undefined,
  leave: () => undefined,
  hide: () => undefined,
  close: () => undefined,
};

/** The lines alone. @param total absent where it is not known */
export function fleetLines(
  { err, clock }: Pick<Context, 'err' | 'clock'>,
  total?: number,
): FleetWatch {
  if (!err.animated) return nothing;
  const start = clock.monotonic();
  const counts: Partial<Record<TenantStatus, number>> = {};
  /** A tenant keeps its line, so that the eye finds it again; undefined where a line is free. */
  const lanes: (
    { readonly tenant: string; readonly since: number; activity: string } | undefined
  )[] = [];
  let [ended, fresh, drawn] = [0, 0, -Infinity];
  const draw = (): void => {
    const now = clock.monotonic();
    drawn = now;
    const running = lanes.flatMap((one): readonly RunningTenant[] =>
      one ? [{ tenant: one.tenant, activity: one.activity, elapsed: now - one.since }] : [],
    );
    const elapsed = now - start;
    // What was done before takes no time, so it tells nothing of the others.
    const open = total === undefined ? 0 : total - ended;
    const canTell = fresh > 0 && open > 0 && running.length > 0;
    const left = canTell ? (elapsed / fresh) * open : undefined;
    const progress = { total, counts, running, elapsed, left };
    err.status(fleetProgressLines(progress, err.style, err.rows - 1).join('\n'));
  };
  const changed = (): void => {
    if (clock.monotonic() - drawn >= PACE.fastest) draw();
  };
  const leave = (tenant: string): void => {
    const at = lanes.findIndex((one) => one?.tenant === tenant);
    if (at >= 0) lanes[at] = undefined;
    changed();
  };
  const beat = setInterval(draw, PACE.slowest);
  beat.unref();
  return {
    begin(tenant) {
      const lane = { tenant, since: clock.monotonic(), activity: '' };
      const free = lanes.indexOf(undefined);
      lanes[free === -1 ? lanes.length : free] = lane;
      changed();
      return (line) => {
        if (line === undefined) return;
        lane.activity = line;
        changed();
      };
    },
    end({ tenant, status }, isNew) {
      counts[status] = (counts[status] ?? 0) + 1;
      ended += 1;
      if (isNew) fresh += 1;
      leave(tenant);
    },
    leave,
    hide: () => err.status(undefined),
    close() {
      clearInterval(beat);
      err.status(undefined);
    },
  };
}
