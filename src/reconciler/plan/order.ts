// The order of execution: deletes that a create waits for; creates and updates, from the root of the references; then
// other deletes, in reverse, so that a referring object is deleted before its target.
import {
  append,
  compareText,
  isTree,
  keyOf,
  waitsOf,
  type Attribute,
  type Change,
  type Value,
  type Values,
} from '../../model/index.js';
import type { PlanInput } from './plan-input.js';

export function sequence(
  declared: readonly Change[],
  removed: readonly Change[],
  input: PlanInput,
): readonly Change[] {
  const all = [...declared, ...removed];
  const { kinds } = input;
  const wants = guarded(
    all.filter((change) => !removes(change)),
    input,
  );
  // A delete that something waits for cannot wait for what is made or changed.
  const wanted = new Set(wants.map(keyOf));
  const free = all.filter(
    (change) => removes(change) && !change.depends_on.some((key) => wanted.has(key)),
  );
  const [first, , last] = phases([...wants, ...waiting(all.filter(removes), free, kinds)]);
  return [...dependenciesFirst(first), ...wants, ...dependenciesFirst(waiting(last, all, kinds))];
}

const removes = (change: Change): boolean =>
  change.action === 'delete' || change.action === 'forget';

/** Three phases: deletes that must come first, creates and updates, and the other deletes. */
export function phases(
  changes: readonly Change[],
): readonly [readonly Change[], readonly Change[], readonly Change[]] {
  const byKey = new Map(changes.map((change) => [keyOf(change), change]));
  const wants = changes.filter((change) => !removes(change));
  const needed = new Set(wants);
  for (const change of needed)
    for (const key of waitsOf(change)) if (byKey.has(key)) needed.add(byKey.get(key)!);
  return [
    changes.filter((change) => removes(change) && needed.has(change)),
    wants,
    changes.filter((change) => removes(change) && !needed.has(change)),
  ];
}

/** Changes wait for what the rules name, so that these hold at every step. */
function guarded(
  changes: readonly Change[],
  { rules, liveObjects, project: { settings } }: PlanInput,
): readonly Change[] {
  const found = rules.flatMap(
    (rule) => rule.waits?.({ changes, live: liveObjects, settings }) ?? [],
  );
  const waits = new Map<Change, string[]>();
  for (const { change, waits: others } of found)
    for (const key of others) append(waits, change, key);
  const last = new Set(found.flatMap((one) => (one.last ? [one.change] : [])));
  if (waits.size === 0 && last.size === 0) return changes;
  const ordered = [
    ...changes.filter((change) => !last.has(change)),
    ...changes.filter((change) => last.has(change)),
  ];
  return dependenciesFirst(ordered.map((change) => waitingFor(change, waits.get(change))));
}

/** A change that waits for others as well. */
const waitingFor = (change: Change, others: readonly string[] = []): Change =>
  others.length === 0
    ? change
    : {
        ...change,
        depends_on: [...new Set([...change.depends_on, ...others])].toSorted(compareText),
      };

/** Deletes wait for every change of an object that referred to theirs. */
function waiting(
  going: readonly Change[],
  others: readonly Change[],
  kinds: PlanInput['kinds'],
): readonly Change[] {
  const deletes = new Map<string, string>(
    going.flatMap((change) =>
      change.action === 'delete' ? [[`${change.kind} ${change.id}`, keyOf(change)] as const] : [],
    ),
  );
  if (deletes.size === 0) return going;
  const referrers = new Map<string, string[]>();
  for (const change of others) {
    if (!('before' in change) || change.action === 'keep' || change.action === 'forget') continue;
    for (const target of liveReferences(kinds.get(change.kind)?.attributes ?? {}, change.before)) {
      const key = deletes.get(target);
      if (key !== undefined && key !== keyOf(change)) append(referrers, key, keyOf(change));
    }
  }
  return going.map((change) => waitingFor(change, referrers.get(keyOf(change))));
}

function dependenciesFirst(changes: readonly Change[]): readonly Change[] {
  const byKey = new Map(changes.map((change) => [keyOf(change), change]));
  const out = new Set<Change>();
  const open = new Set<string>();
  for (const start of changes) {
    const stack = [start];
    while (stack.length > 0) {
      const change = stack.at(-1)!;
      const waits = waitsOf(change)
        .flatMap((key) => byKey.get(key) ?? [])
        .filter((other) => !out.has(other) && !open.has(keyOf(other)));
      open.add(keyOf(change));
      if (waits.length > 0) stack.push(...waits);
      else out.add(stack.pop()!);
    }
  }
  return [...out];
}

/** `<kind> <id>` of every object that live values refer to. */
export function* liveReferences(
  attributes: Readonly<Record<string, Attribute>>,
  values: Values,
): Generator<string> {
  for (const [name, attribute] of Object.entries(attributes))
    yield* inAttribute(attribute, values[name]);
}

function* inAttribute(attribute: Attribute, value: Value | undefined): Generator<string> {
  if (attribute.word === 'ref' && typeof value === 'string') yield `${attribute.to} ${value}`;
  else if ((attribute.word === 'set' || attribute.word === 'list') && Array.isArray(value))
    for (const item of value as readonly Value[]) yield* inAttribute(attribute.of, item);
  else if (attribute.word === 'object' && isTree(value))
    yield* liveReferences(attribute.attributes, value);
}
