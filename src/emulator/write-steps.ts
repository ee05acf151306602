// Steps of a write that v2 and v3 share: find the record, accept the fields, check the required ones. What
// a PUT does to fields that it leaves out is in `v2.ts`.
import { type Json, type JsonObject, type Kind } from '../model/index.js';
import { commit, type Asked } from './app.js';
import { acceptAll, type StoredRecord } from './records.js';
import { turnDown } from './error-responses.js';
import { specificsOf } from './collection-rules.js';

/** The record a path names. @throws Refused (404) */
export const existing = (c: Asked, kind: Kind): StoredRecord =>
  c.env.cloud.store.get(kind, c.req.param('id') ?? '') ??
  turnDown(404, `there is no such ${kind.singular}`);

/** `body` in stored form. `place` turns the path of a field into what the dialect calls it. @throws Refused (400) naming every field that is wrong. */
export function fieldsOf(
  c: Asked,
  { attributes }: Pick<Kind, 'attributes'>,
  body: JsonObject,
  place: (path: string) => string,
): Record<string, Json> {
  const { store, behaviours } = c.env.cloud;
  const exists = (name: string, id: string): boolean | undefined => {
    const target = store.kinds.get(name);
    if (target && !target.beyond) return store.get(target, id) !== undefined;
    // An estate that holds none of a collection beyond the reference says nothing of it.
    const records = store.records(name);
    return records.length === 0 ? undefined : records.some((record) => record.id === id);
  };
  const complaints: { readonly path: string; readonly why: string }[] = [];
  const complain = (path: string, why: string): void => void complaints.push({ path, why });
  const intake = {
    kinds: store.kinds,
    behaviours,
    update: c.req.method !== 'POST',
    exists,
    complain,
  };
  const fields = acceptAll(attributes, body, intake);
  if (complaints.length > 0)
    turnDown(
      400,
      complaints.map(({ path, why }) => `${path} ${why}`).join('; '),
      complaints.map(({ path }) => place(path)),
    );
  return fields;
}

/** @throws Refused (400) unless `fields` holds everything the kind insists on. */
export function requireAll(
  { attributes }: Pick<Kind, 'attributes'>,
  fields: Readonly<Record<string, unknown>>,
  place: (path: string) => string,
): void {
  const missing = Object.entries(attributes).flatMap(([name, { optional, computed }]) =>
    optional === true || computed === true || Object.hasOwn(fields, name) ? [] : [name],
  );
  if (missing.length > 0) turnDown(400, `${missing.join(', ')} must be given`, missing.map(place));
}

/** A new record that holds these fields; nothing is stored yet. */
export function drafted(c: Asked, kind: Kind, fields: JsonObject): StoredRecord {
  const draft = c.env.cloud.store.draft(kind, fields);
  return specificsOf(kind).made?.(draft) ?? draft;
}

/** Deletes a record, and before it what belongs to it, as the authorizations of an account. */
export function remove(c: Asked, kind: Kind, record: StoredRecord): void {
  const { store } = c.env.cloud;
  for (const other of store.kinds.values()) {
    const { belongsTo } = specificsOf(other);
    const links = Object.entries(other.attributes).flatMap(([name, attribute]) =>
      attribute.word === 'ref' &&
      attribute.to === kind.name &&
      (attribute.wire === 'relationship' || name === belongsTo)
        ? [name]
        : [],
    );
    if (links.length === 0) continue;
    for (const before of store.all(other))
      if (links.some((name) => before[name] === record[kind.id]))
        commit(c, { kind: other, before });
  }
  commit(c, { kind, before: record });
}
