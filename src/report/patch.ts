// The only file that uses the JSON Patch library (RFC 6902). It only writes patches: the library fails to read members
// with names that every object inherits.
import jsonPatch from 'fast-json-patch';
import { isObject, own, type Json, type JsonObject, type PatchOperation } from '../model/index.js';

/** From `before` to `after` (null: no object), each replace and remove preceded by a `test` of what was there. */
export function patchBetween(
  before: JsonObject | null,
  after: JsonObject | null,
): readonly PatchOperation[] {
  if (before === null) return after === null ? [] : [{ op: 'add', path: '', value: after }];
  if (after === null) return [test('', before), { op: 'remove', path: '' }];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a comparison makes no other operations
  return jsonPatch.compare(before, after, true) as readonly PatchOperation[];
}

/** Replaces a value by one that looks the same: a secret by a secret. */
export function replaceAlike(path: string, value: Json): readonly PatchOperation[] {
  return [test(path, value), { op: 'replace', path, value }];
}

/** Applies a patch that was made of `before` (null: no object), whatever the members are called. */
export function patched(
  before: JsonObject | null,
  patch: readonly PatchOperation[],
): JsonObject | null {
  const done = patch.reduce<Json | undefined>(
    (tree, one) => (one.op === 'test' ? tree : after(tree, pointerSteps(one.path), one)),
    before ?? undefined,
  );
  return isObject(done) ? done : null;
}

/** A copy with one operation done; undefined for what is removed. */
function after(
  tree: Json | undefined,
  [step, ...rest]: readonly string[],
  one: PatchOperation,
): Json | undefined {
  if (step === undefined) return one.op === 'remove' ? undefined : one.value;
  const kept = (item: Json | undefined): readonly Json[] => (item === undefined ? [] : [item]);
  if (Array.isArray(tree)) {
    const items = tree as readonly Json[];
    const inserts = one.op === 'add' && rest.length === 0;
    return items.toSpliced(
      Number(step),
      inserts ? 0 : 1,
      ...kept(after(items[Number(step)], rest, one)),
    );
  }
  const members = isObject(tree) ? tree : {};
  const names = Object.hasOwn(members, step)
    ? Object.keys(members)
    : [...Object.keys(members), step];
  return Object.fromEntries(
    names.flatMap((name) =>
      kept(name === step ? after(own(members, name), rest, one) : members[name]).map((item) => [
        name,
        item,
      ]),
    ),
  );
}

/** The members that a path leads through. */
export const pointerSteps = (path: string): readonly string[] =>
  path.split('/').slice(1).map(jsonPatch.unescapePathComponent);

export function pointer(segments: readonly string[]): string {
  return segments.map((segment) => `/${jsonPatch.escapePathComponent(segment)}`).join('');
}

const test = (path: string, value: Json): PatchOperation => ({ op: 'test', path, value });
