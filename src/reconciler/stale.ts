// Whether what was approved is still what would run. A change that is not needed any more is fine; anything new
// or different is refused. Attributes that are not ours may move: patches hold only what we change.
import { equal, type Diagnostic, type PlanDocument, type ResourceChange } from '../model/index.js';

/** Complaints where `now` holds a change that `then` did not; none where the approval still covers everything. */
export function staleness(then: PlanDocument, now: PlanDocument): readonly Diagnostic[] {
  const approved = new Map(then.resource_changes.map((change) => [change.address, change]));
  return now.resource_changes.filter(acts).flatMap((change): Diagnostic[] => {
    const old = approved.get(change.address);
    const why = old === undefined || !acts(old) ? 'it was not in the plan' : difference(old, change);
    return why === undefined ? [] : [{ severity: 'error', code: 'stale', summary: `${change.address}: ${why}.`, detail: 'Make a new plan and look at it again.', address: change.address }];
  });
}

/** Sends something, binds something or drops something. */
function acts(change: ResourceChange): boolean {
  return change.change.actions[0] !== 'no-op' || change.change.importing !== undefined;
}

function difference(old: ResourceChange, now: ResourceChange): string | undefined {
  if (old.change.importing?.id !== now.change.importing?.id || idIn(old) !== idIn(now)) return 'another live object is meant now';
  if (old.change.actions[0] !== now.change.actions[0]) return now.change.actions[0] === 'no-op' ? undefined : `it was planned as ${old.change.actions[0]} and is ${now.change.actions[0]} now`;
  switch (now.change.actions[0]) {
    case 'create':
      return equal(old.requests, now.requests) ? undefined : 'what would be sent is different now';
    case 'update':
      return equal(old.patch, now.patch) ? undefined : 'the live object or what is wanted of it is different now';
    case 'delete':
      return old.fingerprint === now.fingerprint ? undefined : 'the live object changed since';
    default:
      return undefined;
  }
}

const idIn = (change: ResourceChange): string | undefined => (change.change.actions[0] === 'create' ? undefined : change.requests[0]?.path);
