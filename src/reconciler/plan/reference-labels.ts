// What people call the objects that a change refers to: their identifiers alone say little.
import {
  cached,
  changesOf,
  labelsIn,
  targetsOf,
  writables,
  type Attribute,
  type AttributeChange,
  type Change,
  type Drift,
  type Kind,
  type LabelOf,
  type Plan,
  type ReferenceLabels,
  type Values,
} from '../../model/index.js';
import { liveReferences } from './order.js';
import type { PlanInput } from './plan-input.js';

/** Adds the labels to what a plan shows. What refers to nothing that was read stays as it is. */
export function withReferenceLabels(
  { changes, drift }: Pick<Plan, 'changes' | 'drift'>,
  { kinds, liveObjects }: Pick<PlanInput, 'kinds' | 'liveObjects'>,
): Pick<Plan, 'changes' | 'drift'> {
  const labels = labelsIn(liveObjects);
  const labelled = <T extends Change | Drift>(one: T): T => {
    const found = labelsOf(kinds.get(one.kind), sidesOf(one), labels);
    return Object.keys(found).length === 0 ? one : { ...one, reference_labels: found };
  };
  return { changes: changes.map(labelled), drift: drift.map(labelled) };
}

/** The values that are shown, before and after. */
function sidesOf(one: Change | Drift): readonly Values[] {
  if (!('action' in one)) return changed(one.changes ?? []);
  if (one.action === 'create')
    return [one.declaredObject.declared, ...(one.replaces ? [one.replaces.before] : [])];
  return one.action === 'delete' ? [one.before] : changed(changesOf(one));
}

const changed = (changes: readonly AttributeChange[]): readonly Values[] =>
  changes.length === 0
    ? []
    : (['before', 'after'] as const).map((side) =>
        Object.fromEntries(changes.map((one) => [one.path, one[side] ?? null])),
      );

function labelsOf(
  kind: Kind | undefined,
  sides: readonly Values[],
  labels: LabelOf,
): ReferenceLabels {
  const found: Record<string, Record<string, string>> = {};
  for (const [name, attribute] of referring(kind))
    for (const side of sides)
      for (const reference of liveReferences({ [name]: attribute }, side)) {
        const [to = '', id = ''] = reference.split(/ (.*)/s);
        const label = labels(to, id);
        if (label !== undefined) (found[name] ??= {})[id] = label;
      }
  return found;
}

/** The attributes of a kind that refer to objects, by name. */
const known = new WeakMap<Kind, readonly (readonly [string, Attribute])[]>();

const referring = (kind: Kind | undefined) =>
  kind === undefined
    ? []
    : cached(known, kind, () =>
        writables(kind).filter(([name, one]) => !targetsOf({ [name]: one }).next().done),
      );
