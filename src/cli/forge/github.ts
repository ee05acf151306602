// GitHub and GitHub Enterprise Server: the repository, the pull request and the token come from the variables of GitHub
// Actions.
import {
  defined,
  digitsOf,
  isList,
  isObject,
  refuse,
  tryJson,
  type Json,
  type JsonObject,
} from '../../model/index.js';
import type { Context } from '../context.js';
import { tryFile } from '../masked-credentials.js';
import { ForgeRefusal, type CheckRun, type Forge, type Issue, type Post } from './forge.js';
import { forgeApi, postId, textIn, type ForgeApi } from './forge-api.js';
import { numberGiven, tokenIn } from './forge-settings.js';

const title = 'GitHub';
/** The author of posts written with the GITHUB_TOKEN of a job. This token is not permitted to read its own user. */
const ACTIONS = 'github-actions[bot]';
const comment = 'pull-requests: write';
const issue = 'issues: write';

/** @throws Refusal for what the environment lacks */
export function github(context: Context): Forge {
  const { environment, flags } = context;
  const repository = repositoryIn(environment);
  const api = forgeApi(context, {
    title,
    address: environment['GITHUB_API_URL'] || 'https://api.github.com',
    source: 'GITHUB_API_URL',
    token: tokenIn(context, ['GITHUB_TOKEN', 'GH_TOKEN']),
    headers: (token) => ({
      authorization: `Bearer ${token}`,
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
    }),
  });
  const root = `/repos/${repository}`;
  return {
    title,
    author: async () => flags.author ?? (await ownLogin(api)),
    ...commentsOf(context, api, root),
    ...issuesOf(api, root),
    writeCheckRun: (run) => writeCheckRun(context, api, root, run),
    pause: api.pause,
    close: api.close,
  };
}

function repositoryIn(environment: Context['environment']): string {
  const name = environment['GITHUB_REPOSITORY'] ?? '';
  return /^[\w.-]+\/[\w.-]+$/.test(name) && !/(?:^|\/)\.{1,2}(?:\/|$)/.test(name)
    ? name
    : refuse('usage', 'GITHUB_REPOSITORY names no repository.', {
        detail: 'GitHub Actions sets it. Elsewhere, set it as in: GITHUB_REPOSITORY=owner/name',
      });
}

async function ownLogin({ send }: ForgeApi): Promise<string> {
  try {
    const user = await send({ method: 'GET', path: '/user', to: 'name the user', needs: 'read' });
    return (
      textIn(user, 'login') ??
      refuse('forge-answer', `${title} does not say whose token this is.`, {
        detail: 'Name the user: --author LOGIN',
      })
    );
  } catch (error) {
    const isForbidden = error instanceof ForgeRefusal && error.status === 403;
    // A person's token that is refused for its rate limit is still a person's.
    if (isForbidden && error.diagnostics.every(({ code }) => code === 'forge-permission'))
      return ACTIONS;
    throw error;
  }
}

const authorOf = (record: Json): string | undefined =>
  isObject(record) ? textIn(record['user'], 'login') : undefined;

const postOf = (record: JsonObject, id: string): Post => ({
  id: postId(record, id, title),
  body: textIn(record, 'body') ?? '',
  author: authorOf(record),
});

function commentsOf(
  context: Context,
  api: ForgeApi,
  root: string,
): Pick<Forge, 'comments' | 'writeComment'> {
  const all = (): string => `${root}/issues/${numberOf(context)}/comments`;
  return {
    async *comments() {
      const ask = { path: all(), to: 'list the comments', needs: comment };
      for await (const one of api.records(ask)) yield postOf(one, 'id');
    },
    writeComment: async (body, id) =>
      authorOf(
        await api.send({
          method: id === undefined ? 'POST' : 'PATCH',
          path: id === undefined ? all() : `${root}/issues/comments/${id}`,
          body: { body },
          to: 'write the comment',
          needs: comment,
        }),
      ),
  };
}

function issuesOf(
  api: ForgeApi,
  root: string,
): Pick<Forge, 'issues' | 'createIssue' | 'changeIssue' | 'commentOnIssue'> {
  const path = `${root}/issues`;
  const more = { to: 'write the issue', needs: issue };
  return {
    async *issues(author) {
      const query = {
        state: 'all',
        sort: 'created',
        direction: 'desc',
        ...defined({ creator: author }),
      };
      for await (const one of api.records({ path, query, to: 'list the issues', needs: issue }))
        // Every pull request is listed as an issue, too.
        if (one['pull_request'] === undefined)
          yield { ...postOf(one, 'number'), open: one['state'] === 'open' } satisfies Issue;
    },
    createIssue: async (name, body) =>
      authorOf(await api.send({ method: 'POST', path, body: { title: name, body }, ...more })),
    async changeIssue(id, body, open) {
      const state = open === undefined ? {} : { state: open ? 'open' : 'closed' };
      await api.send({ method: 'PATCH', path: `${path}/${id}`, body: { body, ...state }, ...more });
    },
    async commentOnIssue(id, body) {
      await api.send({ method: 'POST', path: `${path}/${id}/comments`, body: { body }, ...more });
    },
  };
}

async function writeCheckRun(
  context: Context,
  api: ForgeApi,
  root: string,
  { name, key, conclusion, title: head, summary, url }: CheckRun,
): Promise<void> {
  const needs = 'checks: write';
  const sha = await headOf(context, api, root);
  const found = await api.send({
    method: 'GET',
    path: `${root}/commits/${sha}/check-runs`,
    query: { check_name: name, filter: 'all', per_page: '100' },
    to: 'list the check runs',
    needs,
  });
  const runs = isObject(found) && isList(found['check_runs']) ? found['check_runs'] : [];
  const own = runs.find((one: Json) => textIn(one, 'external_id') === key);
  await api.send({
    method: own === undefined ? 'POST' : 'PATCH',
    path: `${root}/check-runs${own === undefined ? '' : `/${postId(own, 'id', title)}`}`,
    body: {
      name,
      head_sha: sha,
      external_id: key,
      status: 'completed',
      conclusion,
      output: { title: head, summary },
      ...defined({ details_url: url }),
    },
    to: 'write the check run',
    needs,
  });
}

/** The commit that the pull request proposes. The commit that Actions checks out is a merge of it. */
async function headOf(context: Context, api: ForgeApi, root: string): Promise<string> {
  const number = numberOf(context);
  const event = pullRequestIn(context);
  const pull =
    event && String(digitsOf(event['number'])) === number
      ? event
      : await api.send({
          method: 'GET',
          path: `${root}/pulls/${number}`,
          to: 'name the commit of the pull request',
          needs: 'pull-requests: read',
        });
  const sha = textIn(isObject(pull) ? pull['head'] : undefined, 'sha') ?? '';
  return /^[0-9a-f]{40,64}$/.test(sha)
    ? sha
    : refuse('forge-answer', `The commit of pull request ${number} is not known.`);
}

/** The pull request in the event of the job. */
function pullRequestIn({ environment }: Context): JsonObject | undefined {
  const path = environment['GITHUB_EVENT_PATH'];
  const event = tryJson((path && tryFile(path)) ?? '');
  const pull = isObject(event) ? event['pull_request'] : undefined;
  return isObject(pull) ? pull : undefined;
}

function numberOf(context: Context): string {
  const [, merged] = /^refs\/pull\/(\d+)\//.exec(context.environment['GITHUB_REF'] ?? '') ?? [];
  const event = String(digitsOf(pullRequestIn(context)?.['number']));
  return (
    numberGiven(context) ??
    (/^\d{1,9}$/.test(event) ? event : merged) ??
    refuse('usage', 'No pull request is named.', {
      detail:
        'In a workflow for pull_request it is in GITHUB_EVENT_PATH. Elsewhere, name it: --number 12',
    })
  );
}
