// The order of execution: what is made or changed, from the root of the references; then what goes, in reverse,
// so that a referrer lets go before its target goes. Promotions to administrator come before demotions.
import { append, compareText, isTree, type Attribute, type Change, type Kinds, type Roles, type Value, type Values } from '../model/index.js';
import type { World } from './observe.js';
import { guards } from './administrators.js';
import { demotes } from './roles.js';

export function sequence(declared: readonly Change[], removed: readonly Change[], world: World, kinds: Kinds, roles: Roles = {}): readonly Change[] {
  const wants = [...declared, ...removed.filter((change) => change.action === 'update')];
  const goes = removed.filter((change) => change.action !== 'update');
  return [...guarded(wants, world, roles), ...referrersFirst(goes, wants, kinds)];
}

/** Demotions come last; they and the moves of accounts wait for what leaves somebody to administer them. */
function guarded(changes: readonly Change[], world: World, roles: Roles): readonly Change[] {
  const waits = new Map(guards(changes, world, roles).flatMap(({ change, waits: others }) => (others === undefined || others.length === 0 ? [] : [[change, others] as const])));
  const last = changes.filter((change) => demotes(change, roles));
  const ordered = [...changes.filter((change) => !demotes(change, roles)), ...last];
  if (waits.size === 0 && last.length === 0) return changes;
  const waiting = (change: Change): Change => {
    const others = waits.get(change);
    return others ? { ...change, depends_on: [...new Set([...change.depends_on, ...others])].toSorted(compareText) } : change;
  };
  return dependenciesFirst(ordered.map(waiting));
}

/** Deletes wait for every change of an object that referred to theirs. */
function referrersFirst(goes: readonly Change[], wants: readonly Change[], kinds: Kinds): readonly Change[] {
  const deletes = new Map<string, string>(goes.flatMap((change) => (change.action === 'delete' ? [[`${change.kind} ${change.id}`, change.address] as const] : [])));
  if (deletes.size === 0) return goes;
  const referrers = new Map<string, string[]>();
  for (const change of [...wants, ...goes]) {
    if (!('before' in change) || change.action === 'keep' || change.action === 'forget') continue;
    for (const target of liveReferences(kinds.get(change.kind)?.attributes ?? {}, change.before)) {
      const address = deletes.get(target);
      if (address !== undefined && address !== change.address) append(referrers, address, change.address);
    }
  }
  const waiting = goes.map((change) => (referrers.has(change.address) ? { ...change, depends_on: (referrers.get(change.address) as string[]).toSorted(compareText) } : change));
  return dependenciesFirst(waiting);
}

function dependenciesFirst(changes: readonly Change[]): readonly Change[] {
  const byAddress = new Map(changes.map((change) => [change.address, change]));
  const out = new Set<Change>();
  const open = new Set<string>();
  for (const start of changes) {
    const stack = [start];
    while (stack.length > 0) {
      const change = stack.at(-1) as Change;
      const waits = change.depends_on.flatMap((address) => byAddress.get(address) ?? []).filter((other) => !out.has(other) && !open.has(other.address));
      open.add(change.address);
      if (waits.length > 0) stack.push(...waits);
      else out.add(stack.pop() as Change);
    }
  }
  return [...out];
}

/** `<kind> <id>` of every object that live values refer to. */
export function* liveReferences(attributes: Readonly<Record<string, Attribute>>, values: Values): Generator<string> {
  for (const [name, attribute] of Object.entries(attributes)) yield* inAttribute(attribute, values[name]);
}

function* inAttribute(attribute: Attribute, value: Value | undefined): Generator<string> {
  if (attribute.word === 'ref' && typeof value === 'string') yield `${attribute.to} ${value}`;
  else if ((attribute.word === 'set' || attribute.word === 'list') && Array.isArray(value)) for (const item of value as readonly Value[]) yield* inAttribute(attribute.of, item);
  else if (attribute.word === 'object' && isTree(value)) yield* liveReferences(attribute.attributes, value);
}
