// Accounts and sub-accounts: the tree that contains all other objects.
import { flag, kind, text } from '../model/index.js';
import { ref } from './ref.js';

export const accounts = kind({
  name: 'accounts',
  singular: 'account',
  doc: 'An account or sub-account. Recognised by its parent and its name.',
  id: 'id',
  identity: ['account', 'name'],
  likeness: { equal: ['account'], folded: 'name' },
  attributes: {
    name: text('Display name.'),
    account: ref(
      'Parent account. If absent at creation: the account that the API keys belong to. Later, absent means not managed.',
      'accounts',
      { optional: true, wire: 'url', read_doc: 'Parent account.' },
    ),
    is_disabled: flag('Whether the account is disabled. Sent only if it is declared.', {
      optional: true,
      only_declared: true,
      read_doc: 'Whether the account is disabled.',
    }),
    id: text('Record id.', { computed: true }),
    resource_url: text('URL of the record.', { computed: true, format: 'url' }),
  },
  operations: {
    dialect: 'v2',
    collection: 'accounts',
    paging: 'offset',
    page: 500,
    by_id: 'id',
    by_ids: 'id__in',
    by_name: 'name',
    expand: ['account'],
    filters: ['account', 'account__in', 'name', 'name__in'],
    create: 'POST',
    update: 'PUT',
    delete: 'DELETE',
  },
  example: { name: 'Field operations' },
});
