// Users: people who may hold roles. The API reference shows only their ids, in account authorizations.
import { flag, kind, text } from '../model/index.js';

export const users = kind({
  name: 'users',
  singular: 'user',
  doc: 'A person who may hold roles. Recognised by the e-mail address, in any case. Beyond the published API reference, and a beta of the service.',
  id: 'id',
  identity: ['email'],
  likeness: { equal: [], folded: 'email' },
  beyond: true,
  attributes: {
    email: text('E-mail address.', { format: 'email', wire: 'attribute' }),
    first_name: text('First name.', { optional: true, wire: 'attribute' }),
    last_name: text('Last name.', { optional: true, wire: 'attribute' }),
    is_active: flag(
      'Whether the user may sign in. If it is not declared, an update sends the live value back.',
      {
        optional: true,
        only_declared: true,
        read_doc: 'Whether the user may sign in.',
        wire: 'attribute',
      },
    ),
    user_id: text(
      'Another identifier of the user. Authorizations name a user by `id`, as far as the API reference shows.',
      { computed: true, wire: 'attribute' },
    ),
    id: text('Record id.', { computed: true }),
  },
  columns: ['id', 'email', 'first_name', 'last_name', 'is_active'],
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
  example: { email: 'sam@example.com', first_name: 'Sam' },
});
