// Asset endpoints: devices and their subscriptions. Read only.
import { collection, set, text } from '../model/index.js';
import { ref } from './ref.js';

export const assetEndpoints = collection({
  name: 'asset_endpoints',
  singular: 'asset_endpoint',
  doc: 'Devices and their subscriptions.',
  id: 'id',
  attributes: {
    id: text('Record id.'),
    hardware_series: text('Hardware series.', { wire: 'attribute' }),
    hardware_series_key: text('Key of the hardware series, a UUID.', { wire: 'attribute' }),
    mac_address: text('MAC address: 12 hexadecimal characters without separators.', {
      wire: 'attribute',
    }),
    serial_number: text('Serial number.', { wire: 'attribute' }),
    tenants: ref('Tenant that owns the device.', 'tenants', { wire: 'relationship' }),
    subscriptions: set('Subscriptions of the device.', ref('A subscription.', 'subscriptions'), {
      wire: 'relationship',
    }),
  },
  columns: ['id', 'hardware_series', 'mac_address', 'serial_number', 'tenants', 'subscriptions'],
  operations: {
    dialect: 'v3',
    collection: 'asset_endpoints',
    paging: 'next',
    page: 50,
    filters: [
      'filter[hardware_series]',
      'filter[hardware_series_key]',
      'filter[mac_address]',
      'filter[serial_number]',
      'filter[subscription]',
    ],
    expand: ['tenants', 'subscriptions'],
  },
});
