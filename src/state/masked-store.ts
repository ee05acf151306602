// State and journal hold no value of a secret: an attribute that contains one is left out of the record, like a secret
// itself. It is not compared then, and no reference resolves to it. The intent of a request keeps the name of the
// attribute, because recovery must not treat an object as its own when the differing attribute was left out.
import {
  keptMembers,
  mapMembers,
  SENSITIVE,
  type Entry,
  type JsonObject,
  type Masking,
  type RunRecord,
} from '../model/index.js';
import type { Store } from './store-port.js';

export function maskedStore(store: Store, masking: Masking): Store {
  const cleared = recordWithout(masking);
  return {
    ...store,
    async open(...asked) {
      const session = await store.open(...asked);
      return {
        ...session,
        record: (...records) => session.record(...records.map(cleared)),
        hides: masking.holds,
      };
    },
  };
}

function recordWithout(masking: Masking): <T extends RunRecord>(record: T) => T {
  const clear = (values: JsonObject): JsonObject =>
    masking.holds(values) ? keptMembers(values, (value) => !masking.holds(value)) : values;
  const covered = (values: JsonObject): JsonObject =>
    masking.holds(values)
      ? mapMembers(values, (value) => (masking.holds(value) ? SENSITIVE : value))
      : values;
  const entry = <E extends Partial<Entry>>(one: E): E => ({
    ...one,
    ...(one.applied && { applied: clear(one.applied) }),
    ...(one.observed && { observed: clear(one.observed) }),
  });
  return (record) =>
    record.type === 'seen'
      ? record
      : {
          ...record,
          ...('body' in record && record.body && { body: covered(record.body) }),
          ...(record.entry && { entry: entry(record.entry) }),
        };
}
