// An access review as a page of its own.
import { accessTable } from './access-html.js';
import { accessSentence, type AccessDocument } from './access-text.js';
import { diagnosticNotes } from './html-parts.js';
import { page } from './html-page.js';

export function accessHtml(document: AccessDocument): string {
  const { access, diagnostics } = document;
  return page({
    kind: 'access',
    sentence: accessSentence(access),
    counts: [
      { count: access.users.length, words: 'users' },
      { count: access.accounts.length, words: 'accounts' },
      {
        count: access.cells.filter(({ declared }) => declared !== undefined).length,
        words: 'not as declared',
        tone: 'update',
      },
      {
        count: access.accounts.filter(({ administrators }) => administrators === 0).length,
        words: 'without an administrator',
        tone: 'delete',
      },
    ],
    document,
    sections: [
      {
        id: 'diagnostics',
        title: 'To be known',
        count: diagnostics.length,
        content: diagnosticNotes(diagnostics),
      },
      { id: 'access', title: 'Access review', content: [accessTable(access)] },
    ],
  });
}
