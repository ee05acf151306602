// The access review as text: the summary, the rows, and the matrix in Markdown.
import {
  namedWithId,
  type AccessCell,
  type AccessReview,
  type AccessUser,
  type Diagnostic,
  type DocumentHead,
} from '../model/index.js';
import type { Lines } from './layout.js';
import { fitted, markdownTable, type Level } from './markdown.js';
import { plural } from './words.js';

/** An access review with where it comes from. */
export interface AccessDocument extends DocumentHead {
  readonly access: AccessReview;
  readonly diagnostics: readonly Diagnostic[];
}

/** A matrix with more accounts than this is wider than any comment. */
const WIDEST = 8;

export function accessSentence({ users, accounts, cells }: AccessReview): string {
  const other = cells.filter(({ declared }) => declared !== undefined).length;
  const orphans = accounts.filter(({ administrators }) => administrators === 0).length;
  const unknown = accounts.filter(({ administrators }) => administrators === null).length;
  const notes = [
    other > 0 && `${plural(other, 'role')} not as declared`,
    orphans > 0 && `${plural(orphans, 'account')} without an administrator`,
    unknown > 0 && `the account tree above ${plural(unknown, 'account')} is not known`,
    orphans + unknown === 0 && 'every account has an administrator',
  ].filter((note) => note !== false);
  return `Access review: ${plural(users.length, 'user')}, ${plural(accounts.length, 'account')}; ${notes.join('; ')}.`;
}

export const accessHead = [
  'account',
  'account_name',
  'administrators',
  'user',
  'role',
  'inherited_from',
  'own_roles',
  'declared',
  'address',
] as const;

/** The indexes of a review: accounts and users by id, cells by user and account. */
export function accessIndex({ accounts, users, cells }: AccessReview) {
  const key = (user: string, account: string): string => JSON.stringify([user, account]);
  const found = new Map(cells.map((cell) => [key(cell.user, cell.account), cell]));
  return {
    accounts: new Map(accounts.map((account) => [account.id, account])),
    users: new Map(users.map((user) => [user.id, user])),
    cellOf: (user: string, account: string) => found.get(key(user, account)),
  };
}

const userWords = ({ id, email = id, inactive }: AccessUser): string =>
  inactive ? `${email} (inactive)` : email;

const accountWords = ({ name, id }: Pick<AccessReview['accounts'][number], 'id' | 'name'>) =>
  namedWithId(name, id);

/** The role that is declared where it is another one; else whether the role is declared. Empty where all of it is inherited: there is nothing to declare. */
function declaredWords({ declared, address, inherited_from: from, own }: AccessCell): string {
  if (address !== undefined) return declared ?? 'yes';
  return from !== undefined && own === undefined ? '' : 'no';
}

/** One row per cell, in the order of the tree. */
export function accessRows(review: AccessReview): readonly (readonly (string | number)[])[] {
  const { accounts, users } = accessIndex(review);
  return review.cells.map((cell) => {
    const { user, account, role, inherited_from, own = [], address } = cell;
    const place = accounts.get(account);
    return [
      account,
      place?.name ?? '',
      place?.administrators ?? '',
      userWords(users.get(user) ?? { id: user }),
      role,
      inherited_from ?? '',
      own.join(' '),
      declaredWords(cell),
      address ?? '',
    ];
  });
}

/** The same for a terminal: accounts indented by their depth, ids only where names are not enough. */
export function accessList(review: AccessReview) {
  const { accounts, users } = accessIndex(review);
  // A terminal is narrow, and in most reviews nobody has a role that another one outranks.
  const some = review.cells.some(({ own }) => own !== undefined);
  const rows = review.cells.map((cell) => {
    const { account, user, role, inherited_from: from = '', own = [] } = cell;
    const { name = '', depth = 0, administrators } = accounts.get(account) ?? {};
    return [
      `${'  '.repeat(Math.min(depth, 8))}${accountWords({ name, id: account })}`,
      String(administrators ?? ''),
      userWords(users.get(user) ?? { id: user }),
      role,
      accounts.get(from)?.name ?? from,
      ...(some ? [own.join(' ')] : []),
      declaredWords(cell),
    ];
  });
  const own = some ? ['own role'] : [];
  const head = ['account', 'admins', 'user', 'role', 'inherited from', ...own, 'declared'];
  return { head, rows };
}

export function accessMarkdown({ access }: AccessDocument): string {
  return fitted(function* (level) {
    yield* ['<!-- trueup:access -->', `### ${accessSentence(access)}`, ''];
    yield* accessItems(access, level);
  });
}

/** The matrix or, if it would be too wide, one row per cell. */
export const accessItems = (access: AccessReview, level: Level): Lines =>
  access.accounts.length <= WIDEST ? matrix(access, level) : long(access, level);

function* matrix(review: AccessReview, level: Level): Lines {
  const { users, accounts } = review;
  const index = accessIndex(review);
  const titles = accounts.map(
    (account) =>
      `${level.prose(accountWords(account))}<br>administrators: ${account.administrators ?? 'not known'}`,
  );
  yield* markdownTable(['User', ...titles], users, level, (user) => [
    level.prose(userWords(user)),
    ...accounts.map((account) => cellText(index.cellOf(user.id, account.id), index, level)),
  ]);
}

function* long(review: AccessReview, level: Level): Lines {
  const index = accessIndex(review);
  const { accounts, users } = index;
  yield* markdownTable(['Account', 'User', 'Role', 'Declared'], review.cells, level, (cell) => [
    level.prose(accountWords(accounts.get(cell.account) ?? { name: '', id: cell.account })),
    level.prose(userWords(users.get(cell.user) ?? { id: cell.user })),
    cellText(cell, index, level),
    level.prose(declaredWords(cell)),
  ]);
}

function cellText(
  cell: AccessCell | undefined,
  { accounts }: ReturnType<typeof accessIndex>,
  { prose }: Level,
): string {
  if (!cell) return '';
  const { inherited_from: source, own, declared } = cell;
  const role = prose(cell.role);
  const from = source === undefined ? '' : ` (from ${prose(accounts.get(source)?.name ?? source)})`;
  const beside = own === undefined ? '' : ` (own: ${prose(own.join(', '))})`;
  return declared === undefined
    ? role + from + beside
    : `**${role}**${from}${beside} ≠ ${prose(declared)}`;
}
