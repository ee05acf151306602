// Alerts that the service raised for accounts and routers. Read only.
import { choice, collection, document, text } from '../model/index.js';
import { alertTypes } from './alert-types.js';
import { ref } from './ref.js';

export const alerts = collection({
  name: 'alerts',
  singular: 'alert',
  doc: 'Alerts raised for accounts or routers.',
  id: 'created_at_timeuuid',
  log: true,
  attributes: {
    created_at: text('Time of its creation in the service.', { wire: 'timestamp' }),
    type: choice('Alert type.', alertTypes, { open: true }),
    account: ref('Account it was raised for; null if it was raised for a router.', 'accounts', {
      wire: 'url',
    }),
    router: ref('Router it was raised for; null if it was raised for an account.', 'routers', {
      wire: 'url',
    }),
    friendly_info: text('Description in words.'),
    detected_at: text('Time of the detection.', { wire: 'timestamp' }),
    created_at_timeuuid: text('Identifier, a time-based UUID: its order is the order of time.'),
    info: document('Further details, which depend on the alert type.'),
  },
  columns: ['created_at', 'type', 'account', 'router', 'friendly_info'],
  operations: {
    dialect: 'v2',
    collection: 'alerts',
    paging: 'offset',
    page: 500,
    by_id: 'created_at_timeuuid',
    filters: ['account', 'created_at', 'detected_at', 'friendly_info', 'router', 'type'],
    time: 'created_at',
  },
});
