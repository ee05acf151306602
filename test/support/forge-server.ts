// GitHub and GitLab on loopback, as far as trueup asks them: users, permissions, pages, limits, and failures on demand.
// Written from their references, not from the client.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { GITLAB_PATH, type StateRules } from './state-rules.js';

type Json = Record<string, unknown>;

export interface ServedPost extends Json {
  id: number;
  body: string;
  author: string | undefined;
}

export interface ServedIssue extends ServedPost {
  title: string;
  open: boolean;
  pull?: true;
  comments: ServedPost[];
}

export interface Token {
  readonly login: string;
  /** As for GITHUB_TOKEN: it must not ask who it is. */
  readonly anonymous?: true;
  readonly may?: readonly ('comments' | 'issues' | 'checks')[];
}

interface Failure {
  readonly method: string;
  readonly path: RegExp;
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: Json;
  /** The request takes effect all the same. */
  readonly late?: true;
}

export interface ForgeServer {
  readonly url: string;
  readonly tokens: Map<string, Token>;
  /** Of the one pull request there is, number 7. */
  readonly comments: ServedPost[];
  readonly issues: ServedIssue[];
  readonly checks: Json[];
  /** `METHOD path` of every request. */
  readonly log: string[];
  readonly failures: Failure[];
  /** As on an installation where the filter by author finds nothing. */
  authorFilter: boolean;
  writes(): readonly string[];
}

const LONGEST = 65_536;
const all = ['comments', 'issues', 'checks'] as const;

class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** @param states those that GitLab keeps for projects */
export async function forgeServer(states?: StateRules): Promise<ForgeServer> {
  let lastId = 1000;
  const state: Omit<ForgeServer, 'url' | 'writes'> = {
    tokens: new Map<string, Token>([
      ['person-token', { login: 'Reviewer' }],
      ['job-token', { login: 'github-actions[bot]', anonymous: true }],
    ]),
    comments: [],
    issues: [],
    checks: [],
    log: [],
    failures: [],
    authorFilter: true,
  };
  const nextId = (): number => (lastId += 1);
  const server = createServer((request, response) => {
    void handle(request, response);
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const url = new URL(request.url ?? '/', 'http://localhost');
    const method = request.method ?? '';
    state.log.push(`${method} ${url.pathname}${url.search}`);
    const reply = (status: number, body: unknown, headers: Record<string, string> = {}): void =>
      void response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    if (states && url.pathname.startsWith(GITLAB_PATH)) {
      const { authorization } = request.headers;
      const path = request.url ?? '';
      const answer = states.answer({ method, path, authorization, body: text });
      return void response.writeHead(answer.status).end(answer.body);
    }
    const at = state.failures.findIndex(
      (one) => one.method === method && one.path.test(url.pathname),
    );
    const [failure] = at === -1 ? [] : state.failures.splice(at, 1);
    try {
      const serve = url.pathname.startsWith('/api/v4') ? gitlab : github;
      const act = (): Reply =>
        serve(state, nextId, {
          method,
          url,
          body: text === '' ? {} : (JSON.parse(text) as Json),
          token: tokenOf(request, state.tokens, serve === gitlab),
        });
      if (failure) {
        if (failure.late) act();
        const { status, body = { message: 'made to fail' }, headers } = failure;
        return reply(status, body, headers);
      }
      const { status = 200, body, headers } = act();
      reply(status, body, headers);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      reply(error.status, { message: error.message });
    }
  }

  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return {
    ...state,
    get authorFilter() {
      return state.authorFilter;
    },
    set authorFilter(on) {
      state.authorFilter = on;
    },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    writes: () => state.log.filter((line) => !line.startsWith('GET ')),
  };
}

type State = Omit<ForgeServer, 'url' | 'writes'>;

interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly body: Json;
  readonly token: Token;
}

interface Reply {
  readonly status?: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

function tokenOf(
  { headers }: IncomingMessage,
  tokens: ReadonlyMap<string, Token>,
  isGitlab: boolean,
): Token {
  const text = isGitlab
    ? String(headers['private-token'])
    : /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1];
  if (!isGitlab && headers['user-agent'] === undefined)
    throw new Refused(403, 'Request forbidden by administrative rules.');
  const token = tokens.get(text ?? '');
  if (!token) throw new Refused(401, 'Bad credentials');
  return token;
}

function demand({ may = all }: Token, what: (typeof all)[number]): void {
  if (!may.includes(what)) throw new Refused(403, 'Resource not accessible by integration');
}

function lengthChecked(text: unknown, name = 'body'): string {
  if (typeof text !== 'string' || text === '') throw new Refused(422, `${name} can't be blank`);
  if (Array.from(text).length > LONGEST)
    throw new Refused(422, `${name} is too long (maximum is ${LONGEST} characters)`);
  return text;
}

/** A page of at most 100, and where the next one is. */
function paged<T>(url: URL, records: readonly T[], shown: (one: T) => unknown): Reply {
  const size = Math.min(Number(url.searchParams.get('per_page') ?? 30), 100);
  const page = Number(url.searchParams.get('page') ?? 1);
  const more = page * size < records.length;
  const next = new URL(url);
  next.searchParams.set('page', String(page + 1));
  // The path of GitHub's links is another one: /repositories/1/…
  const link = `<https://api.elsewhere.example/repositories/1/x${next.search}>; rel="next", <https://api.elsewhere.example/?page=99>; rel="last"`;
  const isGitlab = url.pathname.startsWith('/api/v4');
  return {
    body: records.slice((page - 1) * size, page * size).map(shown),
    headers: isGitlab ? { 'x-next-page': more ? String(page + 1) : '' } : { ...(more && { link }) },
  };
}

function github(state: State, nextId: () => number, { method, url, body, token }: Asked): Reply {
  const user = (login: string | undefined) => (login === undefined ? null : { login });
  const post = ({ id, body: text, author }: ServedPost) => ({ id, body: text, user: user(author) });
  const issue = (one: ServedIssue) => ({
    ...post(one),
    number: one.id,
    title: one.title,
    state: one.open ? 'open' : 'closed',
    ...(one.pull && { pull_request: {} }),
  });
  const path = url.pathname.replace('/repos/acme/network', '');
  const [, number = ''] = /\/(\d+)(?:\/|$)/.exec(path) ?? [];
  const route = `${method} ${path.replace(/\/\d+(?=\/|$)/, '/N').replace(/\/commits\/\w+/, '/commits/SHA')}`;
  const found = <T extends { id: number }>(all: readonly T[]): T => {
    const one = all.find(({ id }) => id === Number(number));
    if (!one) throw new Refused(404, 'Not Found');
    return one;
  };
  const posted = (): ServedPost => ({
    id: nextId(),
    body: lengthChecked(body['body']),
    author: token.login,
  });
  switch (route) {
    case 'GET /user':
      if (token.anonymous) throw new Refused(403, 'Resource not accessible by integration');
      return { body: { login: token.login } };
    case 'GET /issues/N/comments':
      if (number !== '7') throw new Refused(404, 'Not Found');
      return paged(url, state.comments, post);
    case 'POST /issues/N/comments': {
      demand(token, number === '7' ? 'comments' : 'issues');
      const one = posted();
      (number === '7' ? state.comments : found(state.issues).comments).push(one);
      return { status: 201, body: post(one) };
    }
    case 'PATCH /issues/comments/N': {
      demand(token, 'comments');
      const one = found(state.comments);
      if (one.author !== token.login) throw new Refused(403, 'Must have admin rights');
      one.body = lengthChecked(body['body']);
      return { body: post(one) };
    }
    case 'GET /issues': {
      const creator = url.searchParams.get('creator');
      const shown = state.issues
        .filter(({ author }) => creator === null || (state.authorFilter && author === creator))
        .filter(({ open }) => open || url.searchParams.get('state') === 'all');
      const isDescending = url.searchParams.get('direction') === 'desc';
      return paged(url, isDescending ? shown.toReversed() : shown, issue);
    }
    case 'POST /issues': {
      demand(token, 'issues');
      const one = { ...posted(), title: lengthChecked(body['title'], 'title') };
      state.issues.push({ ...one, open: true, comments: [] });
      return { status: 201, body: issue(state.issues.at(-1)!) };
    }
    case 'PATCH /issues/N': {
      demand(token, 'issues');
      const one = found(state.issues);
      if ('body' in body) one.body = lengthChecked(body['body']);
      if ('state' in body) one.open = body['state'] === 'open';
      return { body: issue(one) };
    }
    case 'GET /pulls/N':
      return { body: { number: Number(number), head: { sha: 'b'.repeat(40) } } };
    case 'GET /commits/SHA/check-runs':
      demand(token, 'checks');
      return { body: { total_count: state.checks.length, check_runs: state.checks } };
    case 'POST /check-runs':
    case 'PATCH /check-runs/N': {
      demand(token, 'checks');
      const { summary } = body['output'] as Json;
      if (String(summary).length > LONGEST - 1) throw new Refused(422, 'summary is too long');
      if (method === 'POST') state.checks.push({ ...body, id: nextId() });
      else Object.assign(found(state.checks as (Json & { id: number })[]), body);
      return { status: 201, body: state.checks.at(-1) };
    }
    default:
      throw new Refused(404, 'Not Found');
  }
}

function gitlab(state: State, nextId: () => number, { method, url, body, token }: Asked): Reply {
  const author = (username: string | undefined) => (username === undefined ? null : { username });
  const note = ({ id, body: text, author: name }: ServedPost) => ({
    id,
    body: text,
    author: author(name),
    system: false,
  });
  const issue = (one: ServedIssue) => ({
    id: one.id + 5000,
    iid: one.id,
    title: one.title,
    description: one.body,
    author: author(one.author),
    state: one.open ? 'opened' : 'closed',
  });
  const path = url.pathname.replace('/api/v4', '').replace('/projects/42', '');
  const number = Number(/\/(\d+)(?:\/notes)?$/.exec(path)?.[1]);
  const route = `${method} ${path.replaceAll(/\/\d+(?=\/|$)/g, '/N')}`;
  const found = <T extends { id: number }>(all: readonly T[]): T => {
    const one = all.find(({ id }) => id === number);
    if (!one) throw new Refused(404, '404 Not found');
    return one;
  };
  const posted = (text: unknown): ServedPost => ({
    id: nextId(),
    body: lengthChecked(text),
    author: token.login,
  });
  switch (route) {
    case 'GET /user':
      return { body: { username: token.login } };
    case 'GET /merge_requests/N/notes':
      if (number !== 7) throw new Refused(404, '404 Not found');
      return paged(url, state.comments, note);
    case 'POST /merge_requests/N/notes': {
      demand(token, 'comments');
      const one = posted(body['body']);
      state.comments.push(one);
      return { status: 201, body: note(one) };
    }
    case 'PUT /merge_requests/N/notes/N': {
      demand(token, 'comments');
      const one = found(state.comments);
      if (one.author !== token.login) throw new Refused(403, '403 Forbidden');
      one.body = lengthChecked(body['body']);
      return { body: note(one) };
    }
    case 'GET /issues': {
      const name = url.searchParams.get('author_username');
      const shown = state.issues.filter((one) => name === null || one.author === name);
      return paged(url, shown.toReversed(), issue);
    }
    case 'POST /issues': {
      demand(token, 'issues');
      const one = { ...posted(body['description']), title: String(body['title']) };
      state.issues.push({ ...one, open: true, comments: [] });
      return { status: 201, body: issue(state.issues.at(-1)!) };
    }
    case 'PUT /issues/N': {
      demand(token, 'issues');
      const one = found(state.issues);
      if ('description' in body) one.body = lengthChecked(body['description']);
      if ('state_event' in body) one.open = body['state_event'] === 'reopen';
      return { body: issue(one) };
    }
    case 'POST /issues/N/notes': {
      demand(token, 'issues');
      const one = posted(body['body']);
      found(state.issues).comments.push(one);
      return { status: 201, body: note(one) };
    }
    default:
      throw new Refused(404, '404 Not found');
  }
}
