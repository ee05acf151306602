// The client: reads that are complete or throw, and writes whose outcome has a class.
import type { Cloud, CloudWriter } from '../model/index.js';
import { activity } from './activity-log.js';
import { find, listObjects } from './listing.js';
import { records } from './records.js';
import { openSession, type ConnectOptions, type ClientSession } from './client-session.js';
import { subscriptionsOf } from './iot-subscriptions.js';
import { compose, sender } from './write.js';

/** @throws Refusal for an address that must not be used. */
export function connect(options: ConnectOptions): Cloud {
  const whole = openSession(options);
  const subscriptions = subscriptionsOf(whole);
  const over = (session: ClientSession): CloudWriter => ({
    target: session.target,
    list: (kind) => listObjects(session, kind),
    find: (kind, ids) => find(session, kind, ids),
    search: async (kind, filters) => (await listObjects(session, kind, filters)).objects,
    compose: (kind, write) => compose(session, kind, write),
    send: sender(session),
    pause: (attempt, wait) => session.pause(attempt, wait),
    records: (collection, query) =>
      collection.operations.dialect === 'iot'
        ? subscriptions(collection, query)
        : records(session, collection, query),
    activity: (ids, since) => activity(session, ids, since),
    skew: session.skew,
    cost: session.cost,
  });
  return { ...over(whole), within: (signal) => over(whole.within(signal)) };
}
