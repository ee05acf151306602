// What is stored between runs holds no value of a secret: an attribute in which one turns up is left out of what is
// recorded, as a secret itself is. Nothing of it is compared then, and no reference leads to it.
import type { Entry, JsonObject, Masking, RunRecord } from '../model/index.js';
import type { Session, Store } from './store-port.js';

export function maskedStore(store: Store, masking: Masking): Store {
  const cleared = recordWithout(masking);
  return {
    location: store.location,
    read: () => store.read(),
    holder: () => store.holder(),
    unlock: (id) => store.unlock(id),
    open: async (operation, target) => maskedSession(await store.open(operation, target), cleared),
  };
}

type Cleared = <T extends RunRecord>(record: T) => T;

const maskedSession = (session: Session, cleared: Cleared): Session => ({
  snapshot: session.snapshot,
  record: (...records) => session.record(...records.map((record) => cleared(record))),
  assertHeld: () => session.assertHeld(),
  compact: (finish) => session.compact(finish),
  release: () => session.release(),
});

function recordWithout(masking: Masking): Cleared {
  const clear = (values: JsonObject): JsonObject =>
    masking.holds(values)
      ? Object.fromEntries(Object.entries(values).filter(([, value]) => !masking.holds(value)))
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
          ...('body' in record && record.body && { body: clear(record.body) }),
          ...(record.entry && { entry: entry(record.entry) }),
        };
}
