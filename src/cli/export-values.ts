// A live object as it is written into a file: without values of known secrets and without members named like secrets.
// If one of them cannot be left out, the object is not exported: a mask in its place would be sent one day.
import {
  below,
  isEmpty,
  isMask,
  isSecretName,
  isTree,
  mergeOf,
  writables,
  type Kind,
  type Masking,
  type Value,
  type Values,
} from '../model/index.js';

export interface Exported {
  readonly values: Values;
  /** The omitted values, with the reasons. */
  readonly comments: readonly string[];
}

/** @returns the path of what would have to be written, where that is secret */
export function exported(
  kind: Kind,
  values: Values,
  { holds }: Pick<Masking, 'holds'>,
): Exported | { readonly secret: string } {
  const kept: Record<string, Value> = { ...values };
  const comments: string[] = [];
  for (const [name, attribute] of writables(kind)) {
    const value = values[name];
    if (value === undefined) continue;
    const paths = [...secretPaths(value, name, attribute.word === 'document', holds)];
    if (paths.length === 0) continue;
    comments.push(...paths.map((path) => `${path} is secret and is left out`));
    if (attribute.wire === 'merge') kept[name] = without(value, name, new Set(paths));
    else if (attribute.optional !== true) return { secret: paths[0]! };
    else delete kept[name];
  }
  return { values: kept, comments };
}

/** Dotted paths of what is secret; lists are one value. */
function* secretPaths(
  value: Value,
  path: string,
  named: boolean,
  holds: Masking['holds'],
): Generator<string> {
  if (isTree(value))
    for (const [name, item] of Object.entries(value)) {
      if (named && isSecretName(name) && isSecret(item)) yield below(path, name);
      else yield* secretPaths(item, below(path, name), named, holds);
    }
  else if (Array.isArray(value) && named)
    for (const [index, item] of (value as readonly Value[]).entries())
      yield* secretPaths(item, `${path}.${index}`, named, holds);
  else if (holds(value)) yield path;
}

const isSecret = (value: Value): boolean =>
  !isEmpty(value) && value !== '' && !isMask(value) && typeof value !== 'boolean';

/** `[object, removed paths]` without what lies at the paths. */
function without(value: Value, path: string, hidden: ReadonlySet<string>): Value {
  const { tree, removed } = mergeOf(value);
  return [pruned(tree, `${path}.0`, hidden), ...(removed ? [removed] : [])];
}

/** A list goes as a whole where something in it is hidden. */
function pruned(tree: Values, path: string, hidden: ReadonlySet<string>): Values {
  const entries = Object.entries(tree).flatMap(([name, item]): [string, Value][] => {
    const at = below(path, name);
    if (isTree(item)) return hidden.has(at) ? [] : [[name, pruned(item, at, hidden)]];
    return [...hidden].some((one) => one === at || one.startsWith(`${at}.`)) ? [] : [[name, item]];
  });
  return Object.fromEntries(entries);
}
