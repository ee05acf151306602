// An access review as a page of its own.
import { accessTable } from './access-html.js';
import { accessSentence, type AccessDocument } from './access-text.js';
import { diagnosticSection } from './html-parts.js';
import { page, pageSection } from './html-page.js';

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
    sections: [
      diagnosticSection(diagnostics),
      pageSection('access', 'Access review', [accessTable(access)]),
    ],
  });
}
