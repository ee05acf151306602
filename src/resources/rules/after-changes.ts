// The objects of a kind before and after the changes of a plan, for rules that compare the two.
import { writes, type Judged, type Values } from '../../model/index.js';

/** Values by id. */
export type ValuesOf = (
  planned: Pick<Judged, 'live' | 'changes'>,
  kind: string,
) => ReadonlyMap<string, Values>;

export const valuesBefore: ValuesOf = ({ live }, kind) =>
  new Map([...(live.get(kind)?.byId ?? [])].map(([id, { values }]) => [id, values]));

/** What is created is there by its address. */
export const valuesAfter: ValuesOf = (planned, kind) => {
  const all = new Map(valuesBefore(planned, kind));
  for (const change of planned.changes) {
    if (change.kind !== kind || !writes(change)) continue;
    if (change.action === 'create') all.set(change.address, change.write.fields);
    else if (change.action === 'delete') all.delete(change.id);
    else all.set(change.id, { ...change.before, ...change.write.fields });
  }
  return all;
};
