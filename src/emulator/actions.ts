// What public clients ask v2 to do beside keeping records: a POST each, with what it takes and what it does. A kind of
// the same name takes the place of one.
import { anyRef, type Attributes, type Json } from '../model/index.js';
import { bodyOf, faceOf, type EmulatorApp, type Asked, type EmulatedCloud } from './app.js';
import { fieldsOf, requireAll } from './write-steps.js';
import { answer, asIs, collectionRoutes } from './v2.js';

interface Action {
  readonly takes: Attributes;
  readonly act: (
    cloud: EmulatedCloud,
    fields: Readonly<Record<string, Json>>,
    c: Asked,
  ) => Promise<Json>;
}

const actions: Readonly<Record<string, Action>> = {
  test_alert_push_destinations: {
    takes: { destination_config_id: anyRef('The destination to try.', 'alert_push_destinations') },
    act: async (cloud, { destination_config_id }, c) => {
      const { status, reason = '' } = await cloud.deliveries.test(
        destination_config_id as string,
        faceOf(cloud, c),
      );
      return { success: status === 'delivered', details: reason };
    },
  },
};

export function addActions(app: EmulatorApp, cloud: EmulatedCloud): void {
  for (const [name, { takes: attributes, act }] of Object.entries(actions)) {
    if (cloud.behaviours.dialect !== 'public' || cloud.store.kinds.has(name)) continue;
    const run = async (c: Asked): Promise<Response> => {
      const fields = fieldsOf(cloud, { attributes }, bodyOf(c, 'v2'), false, asIs);
      requireAll({ attributes }, fields, asIs);
      return answer(await act(cloud, fields, c));
    };
    collectionRoutes(app, name, { POST: run });
  }
}
