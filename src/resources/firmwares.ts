// Firmwares: versions of the software of products. Read only. The API reference does not describe them.
import { collection, text } from '../model/index.js';
import { ref } from './ref.js';

export const firmwares = collection({
  name: 'firmwares',
  singular: 'firmware',
  doc: 'Versions of the software of products. Beyond the published API reference.',
  id: 'id',
  beyond: true,
  attributes: {
    id: text('Record id.'),
    version: text('Version.'),
    product: ref('Product it is for.', 'products', { wire: 'url' }),
    resource_url: text('URL of the record.', { format: 'url' }),
  },
  columns: ['id', 'version', 'product'],
  operations: {
    dialect: 'v2',
    collection: 'firmwares',
    paging: 'offset',
    page: 500,
    by_id: 'id',
    by_ids: 'id__in',
    filters: ['version', 'product'],
  },
});
