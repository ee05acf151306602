// The rules against deleting an object to which others still refer: what still names it after the changes of a plan, and
// what names it right before the delete.
import {
  append,
  firstNamed,
  liveObjectWords,
  refuse,
  stringsIn,
  type Change,
  type Delete,
  type Finding,
  type Judged,
  type Kind,
  type Live,
  type LiveObjects,
  type PolicyRule,
  type RecheckTools,
} from '../../model/index.js';
import { phases } from '../../reconciler/plan/order.js';
import { valuesAfter } from './after-changes.js';
import type { RuleName } from './names.js';
import { AUTHORIZATIONS } from './roles.js';

/** A kind that may refer to the object, with its filter. A service that ignores the filter lists everything. */
export type HolderFilter = readonly [kind: string, attribute: string];

export interface InUse {
  readonly rule: RuleName;
  readonly kind: Kind;
  /** Attributes, of whatever kind was read, that name such an object. */
  readonly named: readonly string[];
  /** The kinds that are read before a delete is planned. */
  readonly needs: readonly string[];
  /** What is asked right before the delete. */
  readonly holders: readonly HolderFilter[];
  /** The same for kinds beyond the API reference, where they are read. */
  readonly beyond: readonly HolderFilter[];
}

export function inUseRule(use: InUse): Omit<PolicyRule, 'name'> {
  const isDelete = (change: Change): change is Delete =>
    change.action === 'delete' && change.kind === use.kind.name;
  return {
    judge: (plan) => findings(use, plan.changes.filter(isDelete), plan),
    needs: (change) => (isDelete(change) ? use.needs : []),
    endangers: isDelete,
    rechecks: (tools, { live }) => ({
      of: (change) => (isDelete(change) ? emptiness(use, tools, change, live) : undefined),
    }),
  };
}

/** Objects that a finding names. */
const FEW = 3;

function findings(
  { kind, named }: InUse,
  deleted: readonly Delete[],
  { changes, live, addressOf }: Judged,
): readonly Finding[] {
  if (deleted.length === 0) return [];
  const [first] = phases(changes);
  const early = holdersById(named, { live, changes: first });
  const late = holdersById(named, { live, changes });
  return deleted.flatMap((change) => {
    const found = (first.includes(change) ? early : late).get(change.id) ?? [];
    const held = found.map(([name, one]) => {
      const manager = addressOf?.(name, one);
      return manager ?? `${addressOf ? 'unmanaged ' : ''}${liveObjectWords(live, name, one)}`;
    });
    const { address, id } = change;
    if (held.length === 0) return [];
    const detail = `${address} (${kind.singular} ${id}) still holds ${firstNamed(held, FEW)}`;
    return [{ address, detail }];
  });
}

/** The objects, by kind and id, that will still name an object once the changes are done. */
function holdersById(
  named: readonly string[],
  planned: Pick<Judged, 'changes' | 'live'>,
): ReadonlyMap<string, readonly (readonly [kind: string, id: string])[]> {
  const holders = new Map<string, [string, string][]>();
  for (const { kind, byId } of planned.live.values()) {
    const after = valuesAfter(planned, kind.name);
    for (const id of byId.keys()) {
      const values = after.get(id);
      if (!values || (kind.name === AUTHORIZATIONS && values.role === 'no_access')) continue;
      for (const held of new Set(
        named.flatMap((attribute) => stringsIn([values[attribute]].flat())),
      ))
        append(holders, held, [kind.name, id]);
    }
  }
  return holders;
}

/** Others may have put something into it since the plan was made. */
function emptiness(
  { rule, kind: { singular }, holders, beyond }: InUse,
  { cloud, kinds, wasDeletedRecently }: RecheckTools,
  { address, id }: Delete,
  live: LiveObjects,
) {
  const filters = [...holders, ...beyond.filter(([name]) => live.has(name))];
  const names = ({ values }: Live, attribute: string): boolean =>
    [values[attribute]].flat().some((one) => String(one) === id);
  return {
    async before() {
      for (const [name, attribute] of filters) {
        const kind = kinds.get(name);
        const found = (kind ? await cloud.search(kind, { [attribute]: id }) : []).find(
          (live) => !wasDeletedRecently(name, live.id) && names(live, attribute),
        );
        if (found)
          refuse(
            rule,
            `${address} (${singular} ${id}) holds the ${kind!.singular.replaceAll('_', ' ')} ${found.id} now, so it was not deleted.`,
            { detail: 'Plan again.' },
          );
      }
    },
  };
}
