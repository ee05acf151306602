// Alerts on request: `POST /emulator/alerts` raises an alert as a device would, and every matching rule fires. It takes
// the v2 keys; paths below `/emulator/` exist only in the emulator. Also the test deliveries that public clients
// request from v2.
import {
  anyRef,
  type Attributes,
  type Collection,
  type Json,
  type JsonObject,
  type Kind,
  isList,
  mapMembers,
  valueAt,
} from '../model/index.js';
import {
  bodyOf,
  faceOf,
  guardPath,
  queryOf,
  route,
  type EmulatorApp,
  type Asked,
  type EmulatedCloud,
} from './app.js';
import { accountLineage } from './collection-rules.js';
import { shown } from './collections.js';
import { fieldsOf, requireAll } from './write-steps.js';
import { checkParameters } from './pagination.js';
import { showRecord, type RenderContext, type StoredRecord } from './records.js';
import type { RecordStore } from './record-store.js';
import { turnDown } from './error-responses.js';
import { actorOf, v2Response, asIs, collectionRoutes, offsetPage } from './v2.js';

/** Not there for kinds that know no alerts, rules or destinations. */
export function addAlerts(app: EmulatorApp, cloud: EmulatedCloud): void {
  const { collections, kinds } = cloud.store;
  const alerts = collections.find(({ name }) => name === 'alerts');
  const rules = kinds.get('alert_rules');
  if (!alerts || !rules || !kinds.has('alert_push_destinations')) return;
  guardPath(app, '/emulator/*', 'v2', actorOf);
  route(app, '/emulator/alerts', { POST: (c) => raise(c, alerts, rules) });
  route(app, '/emulator/deliveries', { GET: listDeliveries });
}

const trial: Attributes = {
  destination_config_id: anyRef('The destination to try.', 'alert_push_destinations'),
};

/** Public clients have a destination tried by v2, unless there is a kind of that name. */
export function addTrials(app: EmulatorApp, cloud: EmulatedCloud): void {
  const name = 'test_alert_push_destinations';
  if (cloud.behaviours.dialect !== 'public' || cloud.store.kinds.has(name)) return;
  collectionRoutes(app, name, {
    POST: async (c) => {
      const { destination_config_id: id } = taken(c, trial);
      const { status, reason = '' } = await c.env.cloud.deliveries.test(String(id), faceOf(c));
      return v2Response({ success: status === 'delivered', details: reason });
    },
  });
}

/** The fields of the body. @throws Refused (400) where one is missing */
function taken(c: Asked, attributes: Attributes): JsonObject {
  const fields = fieldsOf(c, { attributes }, bodyOf(c, 'v2'), asIs);
  requireAll({ attributes }, fields, asIs);
  return fields;
}

const takesOf = ({ attributes: { type } }: Collection): Attributes => ({
  ...(type && { type: { ...type, computed: false } }),
  account: anyRef('Account it is raised for, or that the router belongs to.', 'accounts', {
    wire: 'url',
  }),
  router: anyRef('Router it is raised for.', 'routers', { optional: true, wire: 'url' }),
});

async function raise(c: Asked, alerts: Collection, rules: Kind): Promise<Response> {
  const { store, deliveries } = c.env.cloud;
  const { type, account, router: id } = mapMembers(taken(c, takesOf(alerts)), String);
  const face = faceOf(c);
  const router = id === undefined ? undefined : routerOf(store, id, account!, face);
  const record = store.add(alerts, {
    type: type!,
    account: router ? null : account!,
    router: router ? router.id : null,
    friendly_info: `${type!.replaceAll('_', ' ')} on ${router ? `router ${router.id}` : 'the account'}`,
    detected_at: store.now(),
    info: {},
  });
  const alert = shown(alerts, record, face);
  const delivered = { ...alert, router_details: router?.details ?? null };
  const accounts = accountLineage(store, account);
  const fired = store
    .all(rules)
    .filter((rule) => selects(rule, type!, accounts, router?.group))
    .map(async (rule) => ({
      alert_config_id: rule.alert_config_id ?? null,
      deliveries: await Promise.all(
        listed(rule.http_destinations).map((to) =>
          deliveries.deliver(rule, String(to), delivered, face),
        ),
      ),
    }));
  return v2Response({ alert, rules: await Promise.all(fired) });
}

/** `details`: what a delivery tells of it, its record where there is one, else its id. @throws Refused (400) for a router of another account */
function routerOf(store: RecordStore, id: string, account: string, face: RenderContext) {
  const kind = store.kinds.get('routers');
  const record = kind && store.get(kind, id);
  const managers = store.records('configuration_managers');
  const known = record ?? managers.find(({ router }) => router === id);
  if (known && known.account !== account)
    turnDown(400, `router ${id} belongs to account ${String(known.account)}`, ['account']);
  const details: JsonObject = kind && record ? showRecord(kind, record, face, true) : { id };
  return { id, group: record?.group, details };
}

const listed = (value: Json | undefined): readonly Json[] => (isList(value) ? value : []);

/** Accounts stand for those below them, too; a group for its routers; a rule without either selects nothing. */
function selects(
  rule: StoredRecord,
  type: string,
  accounts: ReadonlySet<Json>,
  group: Json | undefined,
): boolean {
  return (
    listed(valueAt(rule, 'filter_criteria.alert_type__in')).includes(type) &&
    (listed(rule.associated_accounts).some((id) => accounts.has(id)) ||
      (group !== undefined && listed(rule.associated_groups).includes(group)))
  );
}

function listDeliveries(c: Asked): Response {
  checkParameters(queryOf(c), ['limit', 'offset']);
  return offsetPage(c, c.env.cloud.deliveries.list, (one) => JSON.stringify(one), true);
}
