// Collections that public clients use and the reference does not name, as kinds: their routes, checks and log entries
// follow from these definitions. A kind or collection of the same name that the emulator is given takes their place.
import {
  document,
  flag,
  kind,
  kindsOf,
  anyRef,
  text,
  type Collections,
  type Kind,
  type Kinds,
} from '../model/index.js';

const id = text('Record id.', { computed: true });
const resource_url = text('URL of the record.', { computed: true, format: 'url' });
const account = 'accounts';
const listed = {
  dialect: 'v2',
  paging: 'offset',
  page: 500,
  by_id: 'id',
  by_ids: 'id__in',
} as const;
const named = ['name', 'name__in', 'account', 'account__in'];

const groups = kind({
  name: 'groups',
  singular: 'group',
  doc: 'Routers of one product that share a configuration.',
  id: 'id',
  identity: ['account', 'name'],
  attributes: {
    name: text('Display name.'),
    account: anyRef('Account it belongs to.', account, { optional: true, wire: 'url' }),
    product: anyRef('Product of its routers.', 'products', { optional: true, wire: 'url' }),
    target_firmware: anyRef('Firmware its routers are to have.', 'firmwares', {
      optional: true,
      wire: 'url',
    }),
    configuration: document('Configuration of its routers.', { optional: true, wire: 'merge' }),
    device_type: text('Type of its devices.', { optional: true }),
    id,
    resource_url,
  },
  operations: {
    ...listed,
    collection: 'groups',
    filters: [...named, 'device_type'],
    create: 'POST',
    update: 'PUT',
    delete: 'DELETE',
  },
  example: { name: 'Depots' },
});

const routers = kind({
  name: 'routers',
  singular: 'router',
  doc: 'A router. It registers itself: nobody creates one.',
  id: 'id',
  identity: ['mac'],
  attributes: {
    name: text('Display name.', { optional: true }),
    description: text('Description.', { optional: true }),
    asset_id: text('Number in an inventory of your own.', { optional: true }),
    custom1: text('Free text.', { optional: true }),
    custom2: text('Free text.', { optional: true }),
    group: anyRef('Group it belongs to.', 'groups', { optional: true, wire: 'url' }),
    account: anyRef('Account it belongs to.', account, { optional: true, wire: 'url' }),
    mac: text('MAC address.', { computed: true }),
    serial_number: text('Serial number.', { computed: true }),
    state: text('Whether it is connected.', { computed: true }),
    id,
    resource_url,
  },
  operations: {
    ...listed,
    collection: 'routers',
    filters: [
      ...named,
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
    delete: 'DELETE',
  },
  example: { name: 'Depot 7' },
});

const products = kind({
  name: 'products',
  singular: 'product',
  doc: 'A model of router.',
  id: 'id',
  identity: ['name'],
  attributes: { name: text('Name.', { computed: true }), id, resource_url },
  operations: { ...listed, collection: 'products', filters: ['name', 'name__in'] },
  example: {},
});

const firmwares = kind({
  name: 'firmwares',
  singular: 'firmware',
  doc: 'A version of the software of a product.',
  id: 'id',
  identity: ['product', 'version'],
  attributes: {
    version: text('Version.', { computed: true }),
    product: anyRef('Product it is for.', 'products', { computed: true, wire: 'url' }),
    id,
    resource_url,
  },
  operations: { ...listed, collection: 'firmwares', filters: ['version', 'product'] },
  example: {},
});

const users = kind({
  name: 'users',
  singular: 'user',
  doc: 'Somebody who may hold roles.',
  id: 'id',
  identity: ['email'],
  attributes: {
    email: text('E-mail address.', { wire: 'attribute' }),
    first_name: text('First name.', { optional: true, wire: 'attribute' }),
    last_name: text('Last name.', { optional: true, wire: 'attribute' }),
    is_active: flag('Whether the user may sign in.', { optional: true, wire: 'attribute' }),
    user_id: text('Record id, once more.', { computed: true, wire: 'attribute' }),
    id,
  },
  operations: {
    dialect: 'v3',
    collection: 'beta/users',
    paging: 'next',
    page: 50,
    by_id: 'path',
    filters: ['filter[email]', 'filter[first_name]', 'filter[last_name]', 'filter[is_active]'],
    create: 'POST',
    update: 'PUT',
    delete: 'DELETE',
  },
  example: { email: 'dana@example.com' },
});

const externals: readonly Kind[] = [groups, routers, products, firmwares, users];

export const externalNames: readonly string[] = externals.map(({ name }) => name);

export function withExternals(kinds: Kinds, collections: Collections): Kinds {
  return kindsOf([
    ...kinds.values(),
    ...externals.filter(({ name }) => !kinds.has(name) && !collections.has(name)),
  ]);
}
