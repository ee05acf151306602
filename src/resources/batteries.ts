// Batteries of E100-series routers. Read only, one router at a time.
import { collection, integer, text } from '../model/index.js';
import { ref } from './ref.js';

export const batteries = collection({
  name: 'batteries',
  singular: 'battery',
  doc: 'Batteries of E100-series routers.',
  id: 'id',
  attributes: {
    id: text('Record id.'),
    router: ref('The router.', 'routers', { wire: 'url' }),
    status: text('Status.'),
    rsoc: integer('Relative state of charge.'),
    health: integer('Health.'),
    temp: integer('Temperature.'),
    milliamps: integer('Current in milliamperes.'),
    millivolts: integer('Voltage in millivolts.'),
    time_remaining: text('Time remaining, or null.'),
    type: text('Type.'),
    manufacturer: text('Manufacturer.'),
    serial: text('Serial number.'),
    created_at: text('Time of its creation.', { wire: 'timestamp' }),
    updated_at: text('Time of the last change.', { wire: 'timestamp' }),
    resource_url: text('URL of the record.', { format: 'url' }),
  },
  columns: ['id', 'router', 'status', 'rsoc', 'health', 'temp', 'time_remaining', 'updated_at'],
  operations: {
    dialect: 'v2',
    collection: 'batteries',
    paging: 'offset',
    page: 500,
    filters: ['router'],
    needs: ['router'],
    time: 'updated_at',
  },
});
