// Products: models of routers. Read only. The API reference does not describe them.
import { collection, text } from '../model/index.js';

export const products = collection({
  name: 'products',
  singular: 'product',
  doc: 'Models of routers. Beyond the published API reference.',
  id: 'id',
  beyond: true,
  attributes: {
    id: text('Record id.'),
    name: text('Name.'),
    resource_url: text('URL of the record.', { format: 'url' }),
  },
  columns: ['id', 'name'],
  operations: {
    dialect: 'v2',
    collection: 'products',
    paging: 'offset',
    page: 500,
    by_id: 'id',
    by_ids: 'id__in',
    filters: ['name', 'name__in'],
  },
});
