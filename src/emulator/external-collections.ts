// Collections that public clients use and the API reference does not describe, as kinds: their routes, checks and log
// entries follow from these definitions. A given kind or collection of the same name replaces the one here.
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
const listed = {
  dialect: 'v2',
  paging: 'offset',
  page: 500,
  by_id: 'id',
  by_ids: 'id__in',
} as const;
const named = ['name', 'name__in', 'account', 'account__in'];
const note = (doc: string) => text(doc, { optional: true });
const told = (doc: string) => text(doc, { computed: true });
const link = (doc: string, to: string) => anyRef(doc, to, { optional: true, wire: 'url' });

const groups = kind({
  name: 'groups',
  singular: 'group',
  doc: 'Routers of one product that share a configuration.',
  id: 'id',
  identity: ['account', 'name'],
  attributes: {
    name: text('Display name.'),
    account: link('Account it belongs to.', 'accounts'),
    product: link('Product of its routers.', 'products'),
    target_firmware: link('Firmware its routers are to have.', 'firmwares'),
    configuration: document('Configuration of its routers.', { optional: true, wire: 'merge' }),
    device_type: note('Type of its devices.'),
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

const routerFilters = ['mac', 'serial_number', 'state', 'asset_id', 'custom1', 'custom2'];

const routers = kind({
  name: 'routers',
  singular: 'router',
  doc: 'A router. It registers itself: nobody creates one.',
  id: 'id',
  identity: ['mac'],
  attributes: {
    name: note('Display name.'),
    description: note('Description.'),
    asset_id: note('Number in an inventory of your own.'),
    custom1: note('Free text.'),
    custom2: note('Free text.'),
    group: link('Group it belongs to.', 'groups'),
    account: link('Account it belongs to.', 'accounts'),
    mac: told('MAC address.'),
    serial_number: told('Serial number.'),
    state: told('Whether it is connected.'),
    id,
    resource_url,
  },
  operations: {
    ...listed,
    collection: 'routers',
    filters: [...named, 'group', 'group__in', ...routerFilters],
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
  attributes: { name: told('Name.'), id, resource_url },
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
    version: told('Version.'),
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
