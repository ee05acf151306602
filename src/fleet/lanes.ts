// Schedules the tenants of a fleet: stages one after the other, the number of lanes, and the rules that stop a run.
import { exits, type Exit } from '../model/index.js';
import { selectionOf } from './selection.js';
import type { Fleet, Stage, StopRules, Tenant } from './tenant.js';

/** The tenants of each stage, in the order of the fleet. What no stage selects comes last. */
export function stagesOf(
  { order, tenants: all }: Fleet,
  tenants: readonly Tenant[],
): readonly { readonly wait: number; readonly tenants: readonly Tenant[] }[] {
  const left = new Set(tenants);
  const take = ({ select, wait }: Pick<Stage, 'select' | 'wait'>) => {
    const fits = selectionOf(select, all, { what: '`select`' });
    const taken = [...left].filter(fits);
    for (const one of taken) left.delete(one);
    return { wait, tenants: taken };
  };
  return [...order.map(take), take({ select: '*', wait: 0 })].filter(
    ({ tenants: some }) => some.length > 0,
  );
}

const harmless: readonly Exit[] = [exits.done, exits.changes, exits.blocked];

/** Whether a tenant counts as failed. */
export const hasFailed = (exit: Exit): boolean => !harmless.includes(exit);

/** The subject and the verb of a sentence. */
export const tenantsAre = (count: number): string =>
  count === 1 ? '1 tenant is' : `${count} tenants are`;

/** Counts tenants as they end, and says why no more are to begin. */
export function stopping({ failures, blocked: mostBlocked }: StopRules) {
  let inARow = 0;
  let blocked = 0;
  return {
    ended(exit: Exit): void {
      inARow = hasFailed(exit) ? inARow + 1 : 0;
      if (exit === exits.blocked) blocked += 1;
    },
    /** Part of a sentence; undefined where the run goes on. */
    reason(this: void): string | undefined {
      if (inARow >= failures)
        return inARow === 1
          ? 'a tenant failed (`stop.failures`)'
          : `${inARow} tenants in a row failed (\`stop.failures\`)`;
      return mostBlocked !== undefined && blocked >= mostBlocked
        ? `${tenantsAre(blocked)} blocked (\`stop.blocked\`)`
        : undefined;
    },
  };
}

/** Tenants in a row, at one origin, that halve the lanes, or double them again; and requests in a row without a response, that are not repeated. */
const DEAD_AFTER = 5;

/** The number of lanes: half as many while an origin seems to be down, never less than one. */
export function laneCount(most: number) {
  /** The last tenants in a row that ended alike. */
  const alike = new Map<string, { readonly down: boolean; readonly count: number }>();
  /** How often an origin halved the lanes. */
  const halvings = new Map<string, number>();
  const unanswered = new Map<string, number>();
  const lanes = (): number => {
    const all = [...halvings.values()].reduce((sum, one) => sum + one, 0);
    return Math.max(1, Math.floor(most / 2 ** all));
  };
  return {
    lanes,
    /** @param down whether the tenant failed because of the service at this origin */
    ended(origin: string, down: boolean): void {
      const before = alike.get(origin);
      const count = before?.down === down ? before.count + 1 : 1;
      alike.set(origin, { down, count: count % DEAD_AFTER });
      if (count < DEAD_AFTER) return;
      const halved = halvings.get(origin) ?? 0;
      if (!down) halvings.set(origin, Math.max(0, halved - 1));
      else if (lanes() > 1) halvings.set(origin, halved + 1);
    },
    /** @param isThere whether there was a response of any kind */
    responded(origin: string, isThere: boolean): void {
      unanswered.set(origin, isThere ? 0 : (unanswered.get(origin) ?? 0) + 1);
    },
    /** Whether a request without a response is to be repeated. */
    mayRepeat: (origin: string): boolean => (unanswered.get(origin) ?? 0) < DEAD_AFTER,
  };
}
