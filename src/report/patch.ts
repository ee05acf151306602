// RFC 6902 in one place: the only file that knows the JSON Patch library.
import jsonPatch from 'fast-json-patch';
import type { Json, JsonObject, PatchOperation } from '../model/index.js';

/** From `before` to `after` (null: no object), each replace and remove preceded by a `test` of what was there. */
export function patchBetween(before: JsonObject | null, after: JsonObject | null): readonly PatchOperation[] {
  if (before === null) return after === null ? [] : [{ op: 'add', path: '', value: after }];
  if (after === null) return [test('', before), { op: 'remove', path: '' }];
  return jsonPatch.compare(before, after, true) as readonly PatchOperation[];
}

/** Replaces a value by one that looks the same: a secret by a secret. */
export function replaceAlike(path: string, value: Json): readonly PatchOperation[] {
  return [test(path, value), { op: 'replace', path, value }];
}

/** @throws where an operation does not fit, a `test` above all. */
export function patched(before: JsonObject | null, patch: readonly PatchOperation[]): JsonObject | null {
  return jsonPatch.applyPatch<JsonObject | null>(before, patch as Parameters<typeof jsonPatch.applyPatch>[1], true, false, false).newDocument;
}

export function pointer(segments: readonly string[]): string {
  return segments.map((segment) => `/${jsonPatch.escapePathComponent(segment)}`).join('');
}

const test = (path: string, value: Json): PatchOperation => ({ op: 'test', path, value });
