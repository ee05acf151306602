// The access review for people and spreadsheets: the sentence, the rows, the matrix in Markdown.
import type { AccessCell, AccessReview, Diagnostic, DocumentHead } from '../model/index.js';
import { code, prose, shorten } from './escaping.js';
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
    ...(other > 0 ? [`${plural(other, 'role')} not as declared`] : []),
    ...(orphans > 0 ? [`${plural(orphans, 'account')} without an administrator`] : []),
    ...(unknown > 0 ? [`the account tree above ${plural(unknown, 'account')} is not known`] : []),
    ...(orphans + unknown === 0 ? ['every account has an administrator'] : []),
  ];
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

/** One row a cell, in the order of the tree. */
export function accessRows({
  accounts,
  cells,
  users,
}: AccessReview): readonly (readonly (string | number)[])[] {
  const places = new Map(accounts.map((account) => [account.id, account]));
  const emails = new Map(users.map(({ id, email }) => [id, email ?? id]));
  return cells.map(({ user, account, role, inherited_from, own = [], declared, address }) => {
    const place = places.get(account);
    return [
      account,
      place?.name ?? '',
      place?.administrators ?? '',
      emails.get(user) ?? user,
      role,
      inherited_from ?? '',
      own.join(' '),
      declared ?? '',
      address ?? '',
    ];
  });
}

/** The same for a terminal: accounts indented by their depth, ids only where names are not enough. */
export function accessList(review: AccessReview): {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
} {
  const names = new Map(review.accounts.map(({ id, name }) => [id, name]));
  const depths = new Map(review.accounts.map(({ id, depth }) => [id, depth]));
  // A terminal is narrow, and in most reviews nobody has a role that another one outranks.
  const some = review.cells.some(({ own }) => own !== undefined);
  const rows = accessRows(review).map(
    ([account, name, administrators, user, role, from, own, declared]) => [
      `${'  '.repeat(Math.min(depths.get(String(account)) ?? 0, 8))}${name} (${account})`,
      String(administrators),
      String(user),
      String(role),
      from === '' ? '' : (names.get(String(from)) ?? String(from)),
      ...(some ? [String(own)] : []),
      String(declared),
    ],
  );
  return {
    head: [
      'account',
      'admins',
      'user',
      'role',
      'inherited from',
      ...(some ? ['own role'] : []),
      'declared',
    ],
    rows,
  };
}

export function accessMarkdown({ access }: AccessDocument): string {
  return fitted((level) => accessLines(access, level));
}

function* accessLines(access: AccessReview, level: Level): Lines {
  yield* ['<!-- trueup:access -->', `### ${accessSentence(access)}`, ''];
  yield* accessItems(access, level);
}

/** The matrix, or where it would be too wide a row a cell. */
export const accessItems = (access: AccessReview, level: Level): Lines =>
  access.accounts.length <= WIDEST ? matrix(access, level) : long(access, level);

function* matrix({ users, accounts, cells }: AccessReview, level: Level): Lines {
  const found = new Map(cells.map((cell) => [JSON.stringify([cell.user, cell.account]), cell]));
  const titles = accounts.map(
    ({ id, name, administrators }) =>
      `${prose(shorten(name, level.length))} (${prose(shorten(id, level.length))})<br>administrators: ${administrators ?? 'not known'}`,
  );
  yield* markdownTable(['User', ...titles], users, level, ({ id, email }) => [
    prose(shorten(email ?? id, level.length)),
    ...accounts.map((account) => cellText(found.get(JSON.stringify([id, account.id])), level)),
  ]);
}

function* long(access: AccessReview, level: Level): Lines {
  yield* markdownTable(['Account', 'User', 'Role', 'Declared'], access.cells, level, (cell) => [
    code(shorten(cell.account, level.length)),
    code(shorten(cell.user, level.length)),
    cellText(cell, level),
    prose(shorten(cell.declared ?? '', level.length)),
  ]);
}

function cellText(cell: AccessCell | undefined, level: Level): string {
  if (!cell) return '';
  const role = prose(shorten(cell.role, level.length));
  const from =
    cell.inherited_from === undefined
      ? ''
      : ` (from ${prose(shorten(cell.inherited_from, level.length))})`;
  const own =
    cell.own === undefined ? '' : ` (own: ${prose(shorten(cell.own.join(', '), level.length))})`;
  return cell.declared === undefined
    ? role + from + own
    : `**${role}**${from}${own} ≠ ${prose(shorten(cell.declared, level.length))}`;
}
