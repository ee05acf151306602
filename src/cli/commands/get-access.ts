// `trueup get access`: the access review, next to the declared roles.
import { exits, refuse, Refusal, warning, type Exit, type Project } from '../../model/index.js';
import type { AccessDocument } from '../../report/index.js';
import { closing } from '../../report/layout.js';
import { screenOf } from '../../report/style.js';
import type { Context } from '../context.js';
import { loadProject, settingsHere } from '../project.js';
import { columned, columnsFor, csvRow, inertJson, shortenedSentence } from '../tables.js';
import { metaOf, withCloud } from '../working-context.js';

export async function getAccess(context: Context, id: string | undefined): Promise<Exit> {
  const { flags, out } = context;
  if (id !== undefined)
    refuse('no-ids', 'access takes no ID: the review covers all users.', {
      detail: 'For example: trueup get access -o csv',
    });
  const given = (['filter', 'since', 'until', 'expand', 'limit'] as const).find(
    (name) => flags[name] !== undefined,
  );
  if (given !== undefined)
    refuse('usage', `--${given} cannot be used here: the review covers all users.`, {
      detail: 'For example: trueup get access -o csv',
    });
  const project = await declaredHere(context);
  const document = await withCloud(
    context,
    project.settings,
    async (place): Promise<AccessDocument> => {
      const { reviewAccess } = await import('../../resources/rules/access-review.js');
      const { accessDocument } = await import('../../report/index.js');
      const found = await reviewAccess(place.context, project, place.snapshot);
      return accessDocument({
        ...found,
        meta: metaOf(context, { ...place, project }),
      });
    },
  );
  await context.tell(document.diagnostics);
  out.write(await rendered(context, document));
  return exits.done;
}

/** The declarations here: empty without any and, with a warning, if they do not load. */
async function declaredHere(context: Context): Promise<Project> {
  try {
    return await loadProject(context, context.flags.path ?? []);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const settings = await settingsHere(context);
    if (!error.diagnostics.every(({ code }) => code === 'no-declarations'))
      await context.tell([
        warning(
          'declarations-unread',
          'The declarations do not load, so roles are not compared with them.',
          'What is wrong: trueup validate',
        ),
      ]);
    const none = { lookups: [], declarations: [], expectations: [] };
    return { settings, ...none, paths: [], digest: () => '', variables: {} };
  }
}

async function rendered(context: Context, document: AccessDocument): Promise<string> {
  const { accessHead, accessList, accessMarkdown, accessRows, accessSentence } =
    await import('../../report/access-text.js');
  const { access } = document;
  switch (context.flags.output ?? 'table') {
    case 'json':
      return inertJson(`${JSON.stringify(access, null, 2)}\n`);
    case 'ndjson':
      return inertJson(access.cells.map((cell) => `${JSON.stringify(cell)}\n`).join(''));
    case 'yaml':
      return (await import('../yaml-output.js')).yamlText(access);
    case 'csv':
      return [accessHead, ...accessRows(access)].map(csvRow).join('');
    case 'markdown':
      return accessMarkdown(document);
    case 'html':
      return (await import('../../report/access-html.js')).accessHtml(document);
    default: {
      const { head, rows } = accessList(access);
      const columns = columnsFor(context);
      const lines = columned(head, rows, { columns, kept: [head.indexOf('role')] });
      const screen = screenOf({ color: false, width: columns });
      const last = closing(accessSentence(access), screen);
      const text = [lines.head + lines.rows(rows), ...last, ''].join('\n');
      context.err.write(shortenedSentence(lines, 'csv'));
      return text;
    }
  }
}
