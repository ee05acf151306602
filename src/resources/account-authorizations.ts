// Account authorizations: the role a user has in an account and its sub-accounts. The API can read them and change the
// role, but not create or delete them. "No access" is a role.
import {
  choice,
  compareText,
  firstNamed,
  kind,
  text,
  type LabelOf,
  type Values,
} from '../model/index.js';
import { ref } from './ref.js';
import { roleLadder } from './role-ladder.js';

/** Accounts that are named at most. */
const FEW = 10;

/** A user gets its first role outside of trueup. An id of v2 may mean nothing to v3, and the id of a user's record nothing to authorizations. */
function firstRoleOrId({ account, user }: Values, live: readonly Values[]): string | undefined {
  const whose = typeof user === 'string' ? `user ${user}` : 'this user';
  const list = 'List what is live: trueup get account_authorizations -o json';
  const isKnown = live.some((one) => one.user === user);
  if (!isKnown && typeof user === 'string' && user.includes('@'))
    return `\`user\` is the id of a user, not an e-mail address. To find the id, add \`lookups: { NAME: { users: { email: ${JSON.stringify(user)} } } }\`, and write \`user: "\${lookups.NAME.id}"\`.`;
  if (!isKnown)
    return `No authorization that the v3 API shows is of ${whose}. Invite or authorise the user in the service first, then plan again. Authorizations may name a user by another identifier than the id of its record, such as its user_id. ${list}`;
  const accounts = [...new Set(live.map((one) => one.account))]
    .filter((one) => typeof one === 'string')
    .toSorted((a, b) => a.length - b.length || compareText(a, b));
  return typeof account !== 'string' || accounts.includes(account)
    ? undefined
    : `No authorization that the v3 API shows is of account ${account}, only of ${firstNamed(accounts, FEW)}. If ${whose} has no role there, authorise the user in the service first, then plan again. Otherwise, v3 may know the account by another id than v2: declare the id that v3 shows beside ${whose}. ${list}`;
}

/** `<e-mail> on <account>`; what was not read is shown by its id. */
function label({ user, account }: Values, others: LabelOf): string {
  const who = typeof user === 'string' ? (others('users', user) ?? `user ${user}`) : 'no user';
  const where =
    typeof account === 'string'
      ? (others('accounts', account) ?? `account ${account}`)
      : 'no account';
  return `${who} on ${where}`;
}

export const accountAuthorizations = kind({
  name: 'account_authorizations',
  singular: 'account_authorization',
  doc: 'The role a user holds in an account and its sub-accounts. Recognised by user and account; it cannot be created or deleted through the API, only adopted, updated and forgotten.',
  id: 'id',
  identity: ['user', 'account'],
  attributes: {
    user: ref('The user, by id.', 'users', {
      immutable: true,
      wire: 'relationship',
    }),
    account: ref('The account.', 'accounts', { immutable: true, wire: 'relationship' }),
    role: choice('The role. Other roles are accepted with a warning.', roleLadder, {
      open: true,
      read_doc: 'The role.',
      wire: 'attribute',
    }),
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
  label,
  unmatched: firstRoleOrId,
  retire: { no_access: { role: 'no_access' } },
  kept: ({ role }) =>
    role === 'no_access'
      ? undefined
      : 'the role stays as long as its user and its account (to take it away, declare it with lifecycle: { on_removal: no_access }, apply, and remove it then)',
  example: { user: '77', account: '${accounts.example.id}', role: 'full_access_user' },
});
