// Routers: devices register themselves, so nothing creates one. The service could delete one, and with it what only a
// person at the device can restore; trueup has no verb for that. The API reference does not describe them.
import { kind, text } from '../model/index.js';
import { ref } from './ref.js';

const note = (doc: string) => text(doc, { optional: true });

export const routers = kind({
  name: 'routers',
  singular: 'router',
  doc: 'A router. Recognised by its MAC address or, without one, by its name. It registers itself, and trueup never deletes it: it can only be adopted, updated and forgotten. Beyond the published API reference.',
  id: 'id',
  identity: ['mac'],
  else_identity: ['name'],
  beyond: true,
  attributes: {
    mac: text('MAC address, with or without separators.', {
      optional: true,
      immutable: true,
      format: 'mac',
      read_doc: 'MAC address.',
    }),
    name: note('Display name.'),
    description: note('Description.'),
    asset_id: note('Number in an inventory of your own.'),
    custom1: note('Free text.'),
    custom2: note('Free text.'),
    group: ref('Group the router belongs to.', 'groups', { optional: true, wire: 'url' }),
    account: ref('Account the router belongs to.', 'accounts', { optional: true, wire: 'url' }),
    serial_number: text('Serial number.', { computed: true }),
    state: text('Whether it is connected.', { computed: true }),
    id: text('Record id.', { computed: true }),
    resource_url: text('URL of the record.', { computed: true, format: 'url' }),
  },
  columns: ['id', 'name', 'mac', 'serial_number', 'group', 'account', 'state'],
  label: ({ name, mac, id }) =>
    String([name, mac, id].find((one) => typeof one === 'string' && one !== '')),
  operations: {
    dialect: 'v2',
    collection: 'routers',
    paging: 'offset',
    page: 500,
    by_id: 'id',
    by_ids: 'id__in',
    filters: [
      'account',
      'account__in',
      'name',
      'name__in',
      'group',
      'group__in',
      'mac',
      'serial_number',
      'state',
      'asset_id',
      'custom1',
      'custom2',
    ],
    update: 'PUT',
    patch: 'PATCH',
  },
  example: { mac: '00:30:44:00:00:01', name: 'Depot 7', group: '${groups.example.id}' },
});
