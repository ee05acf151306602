// Documents of which a declaration holds only a part (`wire: 'merge'`): `[object, paths]`, as declared, applied and
// read. The paths are the members that the service removes from its defaults. A mask takes the place of a value that
// the service does not show, and is never written.
import { below, isTree, type Value, type Values } from './declaration.js';

export interface Merge {
  readonly tree: Values;
  /** Paths removed from the defaults: lists of keys, or texts with dots between them. Undefined where they are not managed. */
  readonly removed: readonly Value[] | undefined;
}

export const isMask = (value: unknown): boolean => typeof value === 'string' && /^\*+$/.test(value);

/** The two parts of a document in any of its forms; an object alone has no second part. */
export function mergeOf(value: Value | undefined): Merge {
  const [tree, removed] = Array.isArray(value) ? (value as readonly Value[]) : [value];
  return {
    tree: isTree(tree) ? tree : {},
    removed: Array.isArray(removed) ? (removed as readonly Value[]) : undefined,
  };
}

/** Whether a live document has a form that `mergeOf` keeps completely, or is masked as a whole. Null is an empty document; undefined means not shown. */
export function isPartialDocument(value: Value | undefined): boolean {
  if (value === null || isMask(value)) return true;
  if (!Array.isArray(value) || value.length > 2) return false;
  const [tree, removed] = value as readonly Value[];
  return (
    (tree === undefined || isTree(tree) || isMask(tree)) &&
    (removed === undefined || Array.isArray(removed) || isMask(removed))
  );
}

/** The document of two parts; the reverse of `mergeOf`. */
export const documentOf = ({ tree, removed }: Merge): Value =>
  removed === undefined ? [tree] : [tree, removed];

export const pathSteps = (path: Value): readonly string[] =>
  Array.isArray(path) ? (path as readonly Value[]).map(String) : String(path).split('.');

/** Whether a document declares nothing but that it is empty: what clears it. */
export function isClear(value: Value | undefined): boolean {
  const { tree, removed } = mergeOf(value);
  return Array.isArray(value) && Object.keys(tree).length === 0 && removed?.length === 0;
}

/** Dotted paths of the masks in a tree. */
export function masksIn(value: Value, path = ''): readonly string[] {
  if (isMask(value)) return [path];
  if (!Array.isArray(value) && !isTree(value)) return [];
  return Object.entries<Value>(value).flatMap(([step, item]) => masksIn(item, below(path, step)));
}

/** The tree without masks, and without nulls, which would take members out. A list is one value: it goes as a whole where a mask is in it. */
export function unmasked(tree: Values): Values {
  return Object.fromEntries(
    Object.entries(tree).flatMap(([name, item]): [string, Value][] => {
      if (isTree(item)) return [[name, unmasked(item)]];
      return item === null || masksIn(item).length > 0 ? [] : [[name, item]];
    }),
  );
}
