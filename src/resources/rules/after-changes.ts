// The live objects after the changes of a plan, for rules that compare before and after.
import { writes, type Change, type Values } from '../../model/index.js';

/** Values by `<kind> <id>` of every object that is written. */
export function afterChanges(changes: readonly Change[]): ReadonlyMap<string, Values> {
  return new Map(
    changes.flatMap((change) =>
      writes(change) && change.action !== 'create' && change.action !== 'delete'
        ? [[`${change.kind} ${change.id}`, { ...change.before, ...change.write.fields }] as const]
        : [],
    ),
  );
}

/** `<kind> <id>` of every object that is deleted. */
export function deletedIds(changes: readonly Change[]): ReadonlySet<string> {
  return new Set(
    changes.flatMap((change) =>
      change.action === 'delete' ? [`${change.kind} ${change.id}`] : [],
    ),
  );
}
