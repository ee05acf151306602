// Documents that are merged (`wire: 'merge'`): `[object, paths]` as it is declared, applied and read. What stands for a
// value that cannot be read is a mask, and a mask is never written.
import { isTree, type Value, type Values } from './declaration.js';

export interface Merge {
  readonly tree: Values;
  /** Paths to take out: lists of keys, or texts with dots between them. */
  readonly removed: readonly Value[];
}

export const isMask = (value: Value | undefined): boolean => typeof value === 'string' && /^\*+$/.test(value);

/** The two parts of a document in any of its forms; an object alone takes nothing out. */
export function mergeOf(value: Value | undefined): Merge {
  const [tree, removed] = Array.isArray(value) ? (value as readonly Value[]) : [value];
  return { tree: isTree(tree) ? tree : {}, removed: Array.isArray(removed) ? (removed as readonly Value[]) : [] };
}

export const stepsOf = (path: Value): readonly string[] => (Array.isArray(path) ? (path as readonly Value[]).map(String) : String(path).split('.'));

/** The value at a path through objects; undefined where there is none. A list is one value: no path leads into it. */
export function memberAt(tree: Value | undefined, [step, ...rest]: readonly string[]): Value | undefined {
  if (step === undefined) return tree;
  return isTree(tree) && Object.hasOwn(tree, step) ? memberAt(tree[step], rest) : undefined;
}

/** Dotted paths of the masks in a tree. */
export function masksIn(value: Value, path = ''): readonly string[] {
  if (isMask(value)) return [path];
  if (!Array.isArray(value) && !isTree(value)) return [];
  return Object.entries(value).flatMap(([step, item]) => masksIn(item as Value, path === '' ? step : `${path}.${step}`));
}

/** The tree without masks. A list is one value: it goes as a whole where a mask is in it. */
export function unmasked(tree: Values): Values {
  return Object.fromEntries(
    Object.entries(tree).flatMap(([name, item]): [string, Value][] => (isTree(item) ? [[name, unmasked(item)]] : masksIn(item).length > 0 ? [] : [[name, item]])),
  );
}
