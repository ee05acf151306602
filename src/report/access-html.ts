// The access review as a table: one row per user, one column per account or, if too large, one row per authorization.
import type { AccessCell, AccessReview, AccessUser } from '../model/index.js';
import { accessIndex, accessSentence, type AccessDocument } from './access-text.js';
import { page, pageSection } from './html-page.js';
import { diagnosticSection, htmlTable, wideTable } from './html-parts.js';
import { markup, raw, type Markup } from './markup.js';

/** An access review as a page of its own. */
export function accessHtml(document: AccessDocument): string {
  const { access, diagnostics } = document;
  const { users, accounts, cells } = access;
  const otherwise = cells.filter(({ declared }) => declared !== undefined).length;
  const orphans = accounts.filter(({ administrators }) => administrators === 0).length;
  return page({
    kind: 'access',
    sentence: accessSentence(access),
    counts: [
      [users.length, 'users'],
      [accounts.length, 'accounts'],
      [otherwise, 'not as declared', 'update'],
      [orphans, 'without an administrator', 'delete'],
    ],
    document,
    style: { color: false, width: Infinity },
    sections: [
      diagnosticSection(diagnostics),
      pageSection('access', 'Access review', [accessTable(access)]),
    ],
  });
}

export function accessTable(review: AccessReview): Markup {
  return review.complete ? matrix(review) : list(review);
}

type Index = ReturnType<typeof accessIndex>;

function matrix(review: AccessReview): Markup {
  const { users, accounts } = review;
  const index = accessIndex(review);
  const heads = accounts.map(({ id, name, depth, administrators }) => {
    const warned =
      administrators === 0
        ? raw('<span class="differs">no administrator</span>')
        : `administrators: ${administrators ?? 'not known'}`;
    return markup`<th scope="col">${'↳ '.repeat(Math.min(depth, 8))}${name} <code>${id}</code><br>${warned}</th>`;
  });
  const body = users.map((user) => {
    const row = accounts.map(
      (account) => markup`<td>${roleOf(index.cellOf(user.id, account.id), index)}</td>`,
    );
    return markup`<tr><th scope="row">${person(user)}</th>${row}</tr>\n`;
  });
  const caption = markup`Every user's role in every account, with what is inherited through the account tree`;
  const titles = [markup`<th scope="col">User</th>`, ...heads];
  return wideTable({ label: 'Roles by user and account', caption, look: 'scroll' }, titles, body);
}

const person = ({ id, email = 'user', inactive }: AccessUser): Markup =>
  markup`${email} <code>${id}</code>${inactive ? ' (inactive)' : ''}`;

function list(review: AccessReview): Markup {
  const index = accessIndex(review);
  const body = review.cells.map(
    (cell) =>
      markup`<tr><th scope="row">${person(index.users.get(cell.user) ?? { id: cell.user })}</th><td>${index.accounts.get(cell.account)?.name} <code>${cell.account}</code></td><td>${roleOf(cell, index)}</td></tr>\n`,
  );
  return htmlTable(
    'Every authorization; each reaches the accounts below its own',
    ['User', 'Account', 'Role'],
    body,
  );
}

function roleOf(cell: AccessCell | undefined, { accounts }: Index): Markup {
  if (!cell) return raw('<span class="muted">none</span>');
  const { role, inherited_from: source, own, declared } = cell;
  const muted = (text: string): Markup => markup`<br><span class="muted">${text}</span>`;
  const from =
    source === undefined ? undefined : muted(`from ${accounts.get(source)?.name ?? source}`);
  const beside = own === undefined ? undefined : muted(`own: ${own.join(', ')}`);
  const other =
    declared === undefined
      ? undefined
      : markup`<br><span class="differs">≠ declared: ${declared}</span>`;
  return markup`${role}${from}${beside}${other}`;
}
