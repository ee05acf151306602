// Resolves lookups and references: to an attribute of a live object, of a declaration, or of the state.
import {
  isKnown,
  same,
  unescapeAll,
  type Diagnostic,
  type Reference,
  type Value,
} from '../../model/index.js';
import type { Planned } from './draft.js';
import type { PlanInput } from './plan-input.js';
import { declaredValueAt, fillAll } from './resolve-references.js';

/** Exactly one live object for each lookup, or an error. */
export function lookUp(
  { kinds, project, liveObjects }: PlanInput,
  diagnostics: Diagnostic[],
): ReadonlyMap<string, Planned> {
  const found = new Map<string, Planned>();
  for (const lookup of project.lookups) {
    const kind = kinds.get(lookup.kind)!;
    const where = fillAll(kind.attributes, lookup.where, (reference) =>
      resolveReference(reference, new Map(), found, { kinds, state: undefined }),
    );
    const live = [...(liveObjects.get(kind.name)?.byId.values() ?? [])].filter((one) =>
      Object.entries(where).every(([name, value]) =>
        same(kind.attributes[name]!, value, one.values[name]),
      ),
    );
    const only = live.length === 1 ? live[0] : undefined;
    const shown = live.slice(0, 5).map(({ id }) => id);
    const matched = live.length === 0 ? 'none' : `${live.length}: ${shown.join(', ')}`;
    if (only) found.set(lookup.name, { kind, declared: {}, live: only, moves: false });
    else
      diagnostics.push({
        severity: 'error',
        code: 'lookup',
        summary: `lookups.${lookup.name} must match exactly one of ${kind.name}, but matches ${matched}.`,
        detail:
          live.length === 0
            ? `List what is live: trueup get ${kind.name}`
            : `Add an attribute, for example ${kind.id}: "${live[0]?.id}".`,
        origin: lookup.origin,
      });
  }
  return found;
}

export function resolveReference(
  reference: Reference,
  planned: ReadonlyMap<string, Planned>,
  lookups: ReadonlyMap<string, Planned>,
  { state, kinds }: Pick<PlanInput, 'state' | 'kinds'>,
): Value | undefined {
  const target =
    reference.source === 'lookup' ? lookups.get(reference.target) : planned.get(reference.target);
  if (target) return attributeOf(target, reference.attribute);
  const entry = reference.source === 'lookup' ? undefined : state?.resources[reference.target];
  if (!entry) return undefined;
  return reference.attribute === kinds.get(entry.kind)?.id
    ? entry.id
    : declaredValueAt(entry.observed, reference.attribute);
}

/** A planned value never changes at apply: computed attributes of what is written are not known before. */
function attributeOf({ kind, declared, live, moves }: Planned, path: string): Value | undefined {
  if (path === kind.id) return live?.id;
  const value = declaredValueAt(declared, path);
  if (value !== undefined) return isKnown(value) ? value : undefined;
  const computed = kind.attributes[path.split('.', 1)[0]!]?.computed;
  const read = declaredValueAt(live?.values ?? {}, path);
  return read === undefined || (computed && moves) ? undefined : unescapeAll(read);
}
