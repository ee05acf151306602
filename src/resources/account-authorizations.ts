// Account authorizations: the role a user holds in an account and its sub-accounts. The API reads them and
// changes the role; it neither creates nor deletes them. "No access" is a role.
import { choice, kind, ref, roleLadder, text } from '../model/index.js';

export const accountAuthorizations = kind({
  name: 'account_authorizations',
  singular: 'account_authorization',
  doc: 'The role a user holds in an account and its sub-accounts. Recognised by user and account; it cannot be created or deleted here, only adopted, changed and let go.',
  id: 'id',
  identity: ['user', 'account'],
  attributes: {
    user: ref('The user.', 'users', { immutable: true, wire: 'relationship' }),
    account: ref('The account.', 'accounts', { immutable: true, wire: 'relationship' }),
    role: choice('The role. Others than those named pass with a warning.', roleLadder, { open: true, wire: 'attribute' }),
    id: text('Record id.', { computed: true }),
  },
  operations: {
    dialect: 'v3',
    collection: 'beta/account_authorizations',
    paging: 'next',
    page: 50,
    by_id: 'path',
    filters: ['filter[role]', 'filter[user]', 'search', 'search[…]', 'sort'],
    update: 'PUT',
  },
  retire: { no_access: { role: 'no_access' } },
  example: { user: '77', account: '${accounts.example.id}', role: 'full_access_user' },
});
