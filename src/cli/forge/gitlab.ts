// GitLab: the project and the merge request come from the predefined variables of its jobs. A job token cannot write
// notes, so a token of a user, a project or a group is needed.
import { defined, isObject, refuse, type Json, type JsonObject } from '../../model/index.js';
import type { Context } from '../context.js';
import type { Forge, Issue, Post } from './forge.js';
import { forgeApi, postId, textIn, type ForgeApi } from './forge-api.js';
import { numberGiven, tokenIn } from './forge-settings.js';

const title = 'GitLab';
const needs = '(scope api, role Reporter or higher)';

/** @throws Refusal for what the environment lacks */
export function gitlab(context: Context): Forge {
  const { environment, flags } = context;
  const project = environment['CI_PROJECT_ID'] ?? '';
  if (!/^\d+$/.test(project))
    refuse('usage', 'CI_PROJECT_ID names no project.', {
      detail: 'GitLab CI sets it. Elsewhere, set it as in: CI_PROJECT_ID=42',
    });
  const api = forgeApi(context, {
    title,
    address: environment['CI_API_V4_URL'] || 'https://gitlab.com/api/v4',
    source: 'CI_API_V4_URL',
    token: tokenIn(
      context,
      ['GITLAB_TOKEN'],
      environment['CI_JOB_TOKEN']
        ? 'CI_JOB_TOKEN cannot write notes and issues. Create a project access token with the scope api and the role Reporter.'
        : undefined,
    ),
    headers: (token) => ({ 'private-token': token, accept: 'application/json' }),
  });
  const root = `/projects/${project}`;
  return {
    title,
    author: async () => flags.author ?? (await ownName(api)),
    ...notesOf(context, api, root),
    ...issuesIn(api, root),
    pause: api.pause,
    close: api.close,
  };
}

const ownName = async ({ send }: ForgeApi): Promise<string> =>
  textIn(await send({ method: 'GET', path: '/user', to: 'name the user', needs }), 'username') ??
  refuse('forge-answer', `${title} does not say whose token this is.`, {
    detail: 'Name the user: --author USERNAME',
  });

const authorIn = (record: Json): string | undefined =>
  isObject(record) ? textIn(record['author'], 'username') : undefined;

const noted = (record: JsonObject, id: string, body: string): Post => ({
  id: postId(record, id, title),
  body: textIn(record, body) ?? '',
  author: authorIn(record),
});

function notesOf(
  context: Context,
  api: ForgeApi,
  root: string,
): Pick<Forge, 'comments' | 'writeComment'> {
  const notes = (): string => `${root}/merge_requests/${mergeRequestOf(context)}/notes`;
  return {
    async *comments() {
      const query = { order_by: 'created_at', sort: 'asc' };
      for await (const one of api.records({ path: notes(), query, to: 'list the notes', needs }))
        if (one['system'] !== true) yield noted(one, 'id', 'body');
    },
    writeComment: async (body, id) =>
      authorIn(
        await api.send({
          method: id === undefined ? 'POST' : 'PUT',
          path: id === undefined ? notes() : `${notes()}/${id}`,
          body: { body },
          to: 'write the note',
          needs,
        }),
      ),
  };
}

function issuesIn(
  api: ForgeApi,
  root: string,
): Pick<Forge, 'issues' | 'createIssue' | 'changeIssue' | 'commentOnIssue'> {
  const path = `${root}/issues`;
  const more = { to: 'write the issue', needs };
  return {
    async *issues(author) {
      const query = {
        scope: 'all',
        order_by: 'created_at',
        sort: 'desc',
        ...defined({ author_username: author }),
      };
      for await (const one of api.records({ path, query, to: 'list the issues', needs }))
        yield {
          ...noted(one, 'iid', 'description'),
          open: one['state'] === 'opened',
        } satisfies Issue;
    },
    createIssue: async (name, description) =>
      authorIn(
        await api.send({ method: 'POST', path, body: { title: name, description }, ...more }),
      ),
    async changeIssue(id, description, open) {
      const event = open === undefined ? {} : { state_event: open ? 'reopen' : 'close' };
      const body = { description, ...event };
      await api.send({ method: 'PUT', path: `${path}/${id}`, body, ...more });
    },
    async commentOnIssue(id, body) {
      await api.send({ method: 'POST', path: `${path}/${id}/notes`, body: { body }, ...more });
    },
  };
}

function mergeRequestOf(context: Context): string {
  const iid = context.environment['CI_MERGE_REQUEST_IID'] ?? '';
  return (
    numberGiven(context) ??
    (/^\d{1,9}$/.test(iid)
      ? iid
      : refuse('usage', 'No merge request is named.', {
          detail:
            'In a pipeline for merge requests it is in CI_MERGE_REQUEST_IID. Elsewhere, name it: --number 12',
        }))
  );
}
