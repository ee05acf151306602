// How people recognise an object: by what its kind says of it, else by its name, else by the rest of its identity.
import type { Values } from './declaration.js';
import type { Kind, Kinds, LabelOf } from './kind.js';
import { unescapeFully } from './normalize.js';
import type { LiveObjects } from './provider.js';
import { SENSITIVE } from './secret.js';
import type { State } from './state.js';

const unread: LabelOf = () => undefined;

/** In plain text, whether or not the service escapes names; null where nothing but the identifier distinguishes the object. */
export const labelOf = (kind: Kind, values: Values, others: LabelOf = unread): string | null =>
  unescapeFully(labelAsRead(kind, values, others));

function labelAsRead(
  { identity, attributes, label }: Kind,
  values: Values,
  others: LabelOf,
): string | null {
  if (label) return label(values, others);
  if (identity === 'content') return null;
  const known = identity.filter((name) => values[name] !== undefined && values[name] !== null);
  const names = known
    .filter((name) => attributes[name]?.word === 'text')
    .map((name) => String(values[name]));
  const named = (name: string): string => {
    const [attribute, id] = [attributes[name], String(values[name])];
    return `${name} ${(attribute?.word === 'ref' && others(attribute.to, id)) || id}`;
  };
  const text = names.length > 0 ? names.join(', ') : known.map(named).join(', ');
  return text === '' ? null : text;
}

/** The labels of what was read. */
export const labelsIn =
  (live: LiveObjects): LabelOf =>
  (name, id) => {
    const read = live.get(name);
    const found = read?.byId.get(id);
    return (read && found && labelOf(read.kind, found.values)) ?? undefined;
  };

/** The labels of what a state holds, as it was last observed. */
export function labelsInState(kinds: Kinds, state: State | undefined): LabelOf {
  const entries = new Map(
    Object.values(state?.resources ?? {}).map((entry) => [`${entry.kind} ${entry.id}`, entry]),
  );
  return (name, id) => {
    const [kind, entry] = [kinds.get(name), entries.get(`${name} ${id}`)];
    return (kind && entry && labelOf(kind, entry.observed)) ?? undefined;
  };
}

/** A name and, behind it, the identifier; a mask has parentheses of its own. */
export const namedWithId = (name: string, id: string): string =>
  id === SENSITIVE ? `${name} ${id}` : `${name} (${id})`;

/** An object in a sentence: its kind, its label and, behind it, its identifier. */
export const objectWords = (kind: string, id: string, label: string | null | undefined): string =>
  `${kind} ${typeof label === 'string' ? namedWithId(label, id) : id}`;

/** An object that was read, in a sentence. */
export function liveObjectWords(live: LiveObjects, name: string, id: string): string {
  const read = live.get(name);
  const found = read?.byId.get(id);
  return objectWords(name, id, read && found && labelOf(read.kind, found.values, labelsIn(live)));
}
