// Groups: routers of one product that share a configuration. The API reference does not describe them.
import { document, kind, text } from '../model/index.js';
import { ref } from './ref.js';

export const groups = kind({
  name: 'groups',
  singular: 'group',
  doc: 'Routers of one product that share a configuration. Recognised by its account and its name. Beyond the published API reference.',
  id: 'id',
  identity: ['account', 'name'],
  likeness: { equal: ['account'], folded: 'name' },
  beyond: true,
  attributes: {
    name: text('Display name.'),
    account: ref('Account the group belongs to.', 'accounts', { wire: 'url' }),
    product: ref('Product of its routers.', 'products', { optional: true, wire: 'url' }),
    target_firmware: ref('Firmware that its routers should have.', 'firmwares', {
      optional: true,
      wire: 'url',
    }),
    device_type: text('Type of its devices.', { optional: true }),
    configuration: document(
      'Members of the configuration that its routers share (null removes one), and the paths to remove from the defaults. What is not declared stays as it is.',
      {
        optional: true,
        only_declared: true,
        wire: 'merge',
        read_doc:
          'The configuration that its routers share, and the paths that it removes from the defaults.',
      },
    ),
    id: text('Record id.', { computed: true }),
    resource_url: text('URL of the record.', { computed: true, format: 'url' }),
  },
  columns: ['id', 'name', 'account', 'product', 'target_firmware', 'device_type'],
  operations: {
    dialect: 'v2',
    collection: 'groups',
    paging: 'offset',
    page: 500,
    by_id: 'id',
    by_ids: 'id__in',
    by_name: 'name',
    filters: ['account', 'account__in', 'name', 'name__in', 'device_type'],
    create: 'POST',
    update: 'PUT',
    patch: 'PATCH',
    delete: 'DELETE',
  },
  example: { name: 'Stores', account: '${accounts.example.id}' },
});
