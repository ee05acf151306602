// Batteries of E100-series routers. Read only, one router at a time.
import { collection, integer, text } from '../model/index.js';
import { ref } from './ref.js';

export const batteries = collection({
  name: 'batteries',
  singular: 'battery',
  doc: 'The battery of a router of the E100 series.',
  id: 'id',
  attributes: {
    id: text('Record id.', { computed: true }),
    router: ref('The router.', 'routers', { computed: true, wire: 'url' }),
    status: text('Status.', { computed: true }),
    rsoc: integer('Relative state of charge.', { computed: true }),
    health: integer('Health.', { computed: true }),
    temp: integer('Temperature.', { computed: true }),
    milliamps: integer('Current in milliamperes.', { computed: true }),
    millivolts: integer('Voltage in millivolts.', { computed: true }),
    time_remaining: text('Time remaining, or null.', { computed: true }),
    type: text('Type.', { computed: true }),
    manufacturer: text('Manufacturer.', { computed: true }),
    serial: text('Serial number.', { computed: true }),
    created_at: text('Time of its creation.', { computed: true, wire: 'timestamp' }),
    updated_at: text('Time of the last change.', { computed: true, wire: 'timestamp' }),
    resource_url: text('URL of the record.', { computed: true, format: 'url' }),
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
