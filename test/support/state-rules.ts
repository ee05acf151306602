// The rules by which servers keep a state for Terraform's http protocol, as a function from request to answer: those of
// GitLab (lib/api/terraform/state.rb, remote_state_handler.rb), and those of a plain server with LOCK and UNLOCK.
import { Buffer } from 'node:buffer';

export interface StateRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly authorization?: string | undefined;
  readonly body: string;
}

export interface StateAnswer {
  readonly status: number;
  readonly body: string;
}

interface Kept {
  /** By serial. */
  readonly versions: Map<number, string>;
  lock: Readonly<Record<string, string>> | undefined;
}

export interface StateRules {
  answer(request: StateRequest): StateAnswer;
  /** The newest document of a state. */
  document(name: string): string | undefined;
  readonly kept: Map<string, Kept>;
}

export const GITLAB_PATH = '/api/v4/projects/42/terraform/state';
export const PLAIN_PATH = '/states';
export const STATE_USERS = { maintainer: 'loopback-only', reader: 'loopback-read' } as const;

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** @param now ISO 8601 */
export function stateRules(now: () => string = () => new Date().toISOString()): StateRules {
  const kept: StateRules['kept'] = new Map();
  const stateOf = (name: string): Kept => {
    const state = kept.get(name) ?? { versions: new Map(), lock: undefined };
    kept.set(name, state);
    return state;
  };
  const newest = (state: Kept | undefined): string | undefined =>
    state?.versions.get(Math.max(...state.versions.keys()));

  return {
    kept,
    document: (name) => newest(kept.get(name)),
    answer({ method, path, authorization, body }) {
      const { pathname, searchParams } = new URL(path, 'http://localhost');
      const who = Object.entries(STATE_USERS).find(
        // The token of a job has the rights of the person who started it.
        ([name, password]) =>
          [name, 'gitlab-ci-token'].some((user) => basic(user, password) === authorization),
      )?.[0];
      if (who === undefined) return { status: 401, body: '{"message":"401 Unauthorized"}' };
      const isGitLab = pathname.startsWith(`${GITLAB_PATH}/`);
      if (!isGitLab && !pathname.startsWith(`${PLAIN_PATH}/`))
        return { status: 404, body: '{"message":"404 Project Not Found"}' };
      const base = isGitLab ? GITLAB_PATH : PLAIN_PATH;
      const [name = '', below] = pathname.slice(base.length + 1).split('/');
      if (method === 'GET' && below === undefined) {
        const found = newest(kept.get(name));
        if (found !== undefined) return { status: 200, body: found };
        return kept.has(name) ? { status: 204, body: '' } : { status: 404, body: '' };
      }
      if (who === 'reader') return { status: 403, body: '{"message":"403 Forbidden"}' };
      const id = searchParams.get('ID') ?? undefined;
      const asked = { name, below, method, id, body, who };
      return isGitLab ? gitLab(stateOf(name), asked, now()) : plain(stateOf(name), asked);
    },
  };
}

interface Asked {
  readonly below: string | undefined;
  readonly method: string;
  readonly id: string | undefined;
  readonly body: string;
  readonly who: string;
}

const MEMBERS = ['ID', 'Operation', 'Info', 'Who', 'Version', 'Created', 'Path'];

function gitLab(state: Kept, { below, method, id, body, who }: Asked, now: string): StateAnswer {
  const parsed = parsedObject(body);
  if (below === 'lock' && method === 'POST') {
    if (!parsed || MEMBERS.some((member) => typeof parsed[member] !== 'string'))
      return { status: 400, body: '{"error":"a parameter is missing"}' };
    const isHeld = state.lock !== undefined;
    state.lock ??= { ID: String(parsed['ID']), Who: who, Created: now };
    // The rest of the answer is what this request named, whoever holds the lock.
    return {
      status: isHeld ? 409 : 200,
      body: JSON.stringify({ ...parsed, ...state.lock }),
    };
  }
  if (below === 'lock' && method === 'DELETE') {
    const given = id ?? parsed?.['ID'];
    if (given !== undefined && given !== state.lock?.['ID']) return { status: 409, body: '' };
    state.lock = undefined;
    return { status: 200, body: '' };
  }
  if (below !== undefined || method !== 'POST') return { status: 405, body: '' };
  if (body === '') return { status: 204, body: '' };
  const serial = parsed?.['serial'];
  if (typeof serial !== 'number') return { status: 422, body: '{"message":"No serial"}' };
  // Nothing in GitLab turns this error into an answer of its own.
  if (id !== state.lock?.['ID'])
    return { status: 500, body: '{"message":"500 Internal Server Error"}' };
  if (state.versions.has(serial)) return { status: 422, body: '{"message":"serial exists"}' };
  state.versions.set(serial, body);
  return { status: 200, body: '' };
}

function plain(state: Kept, { below, method, id, body }: Asked): StateAnswer {
  const parsed = parsedObject(body);
  if (below !== undefined) return { status: 404, body: '' };
  if (method === 'LOCK') {
    if (state.lock) return { status: 423, body: JSON.stringify(state.lock) };
    state.lock = Object.fromEntries(
      Object.entries(parsed ?? {}).map(([name, value]) => [name, String(value)]),
    );
    return { status: 200, body: '' };
  }
  if (method === 'UNLOCK') {
    if (parsed?.['ID'] !== state.lock?.['ID']) return { status: 409, body: '' };
    state.lock = undefined;
    return { status: 200, body: '' };
  }
  if (method !== 'POST') return { status: 405, body: '' };
  if (id !== state.lock?.['ID']) return { status: 409, body: JSON.stringify(state.lock ?? {}) };
  state.versions.clear();
  state.versions.set(0, body);
  return { status: 200, body: '' };
}

function parsedObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
