// Requests to a server of Terraform's http protocol, and the meaning of their responses. GitLab locks by POST and DELETE
// at `<address>/lock`; other servers by the methods LOCK and UNLOCK at the address itself.
import { Buffer } from 'node:buffer';
import { defined, isObject, refuse, Refusal, tryJson } from '../../../model/index.js';
import type { LockInfo } from '../../store-port.js';
import { refuseDenied, refuseUnreachable } from '../backend-errors.js';
import {
  asFailure,
  ATTEMPTS,
  isPassing,
  REQUEST_TIMEOUT,
  pauseAfter,
  retried,
  type Pauses,
} from '../retried.js';
import type { S3Options } from '../registers/s3.js';

/** A lock as servers tell it. GitLab tells the operation of who asks, so it is not read. */
export interface ToldLock {
  readonly id?: string;
  readonly who?: string;
  readonly since?: string;
}

/** `refused`: for the id of the lock. `rejected`: for another reason. `unclear`: it may have taken effect, or may yet. */
export type Posted =
  'done' | 'refused' | { readonly rejected: string } | { readonly unclear: string };

export type StateServer = ReturnType<typeof stateServer>;

export interface StateServerOptions extends Pauses {
  /** `https://user@host/path?lock=post`; everything in the query but `lock` is sent along. */
  readonly url: URL;
  readonly user?: string;
  readonly password?: string;
  /** Of trueup. */
  readonly version: string;
  readonly transport: S3Options['transport'];
}

interface Reply {
  readonly status: number;
  readonly body: string;
}

/** `failure`: why there is no response, or one that may be another one the next time. */
type ReplyOrFailure = Reply | { readonly failure: string };

const isGitLab = ({ pathname }: URL): boolean =>
  /\/api\/v4\/projects\/[^/]+\/terraform\/state\/[^/]+$/.test(pathname);

/** The methods and the path with which a server locks. @throws Refusal for an unknown value of `lock` */
function lockForm(url: URL) {
  const asked = url.searchParams.get('lock') ?? (isGitLab(url) ? 'post' : 'lock');
  if (asked === 'post') return { take: 'POST', free: 'DELETE', path: '/lock' };
  if (asked === 'lock') return { take: 'LOCK', free: 'UNLOCK', path: '' };
  return refuse('bad-address', 'the address of the state names no way to lock that trueup knows', {
    detail: 'Write ?lock=post (POST and DELETE at <address>/lock) or ?lock=lock (LOCK and UNLOCK).',
    attribute: 'settings.state',
  });
}

/** The address of a state, with the project at the end of its name where it is not the default one. */
export function stateAddress(url: URL, project: string): URL {
  const name = project.replace(/^default(?:\.|$)/, '').replaceAll('.', '-');
  const address = new URL(url);
  address.pathname = address.pathname.replace(/\/+$/, '');
  if (name !== '') address.pathname += `-${name}`;
  return address;
}

function requests({ url, user, password = '', transport }: StateServerOptions) {
  const location = `${url.origin}${url.pathname}`;
  const authorization =
    user === undefined
      ? {}
      : { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
  return {
    location,
    /** Never asks twice. @throws Refusal for a response that means the same to every request. @param what the user wants to do, as in "read" */
    async send(
      method: string,
      what: string,
      {
        path = '',
        id,
        body,
      }: { readonly path?: string; readonly id?: string; readonly body?: string } = {},
    ): Promise<ReplyOrFailure> {
      const target = new URL(url);
      target.username = '';
      target.hash = '';
      target.pathname += path;
      target.searchParams.delete('lock');
      if (id !== undefined) target.searchParams.set('ID', id);
      const content = body === undefined ? {} : { 'content-type': 'application/json' };
      try {
        const reply = await transport({
          method,
          url: target.href,
          headers: { ...authorization, ...content, 'cache-control': 'no-cache' },
          ...defined({ body }),
          signal: AbortSignal.timeout(REQUEST_TIMEOUT),
        });
        return isPassing(reply)
          ? { failure: `it responds with status ${reply.status}` }
          : explained(location, what, reply);
      } catch (error) {
        return asFailure(error);
      }
    },
  };
}

function explained(location: string, what: string, reply: Reply): Reply {
  const { status, body } = reply;
  if (status === 401 || status === 403) refuseDenied(location, what, `status ${status}`);
  if (status === 404 && /project not found/i.test(body))
    refuseError(location, 'there is no such project, or this user may not see it');
  if (status >= 300 && status < 400)
    refuseError(location, `it responds with a redirect, status ${status}`);
  return reply;
}

export function stateServer(options: StateServerOptions) {
  const server = requests(options);
  const { location, send } = server;
  return {
    /** For people; without user and query. */
    location,
    ...lockRequests(options, server),

    /** Undefined where there is no document. @throws Refusal */
    get: (): Promise<string | undefined> =>
      retried(options, location, async () => {
        const reply = await send('GET', 'read');
        if ('failure' in reply) return reply;
        const { status, body } = reply;
        if (status === 404 || status === 204 || (status === 200 && body === ''))
          return { found: undefined };
        if (status !== 200) refuseError(location, `status ${status}`);
        return { found: body };
      }),

    /** Never sends twice by itself. @throws Refusal where the server refuses this user */
    async post(id: string, body: string): Promise<Posted> {
      const reply = await send('POST', 'write', { id, body });
      if ('failure' in reply) return { unclear: reply.failure };
      const { status } = reply;
      if (status < 300) return 'done';
      if (isRefused(reply)) return 'refused';
      if (status === 413) refuseTooLarge(location, Buffer.byteLength(body));
      return { rejected: `status ${status}` };
    },
  };
}

function lockRequests(
  options: StateServerOptions,
  { location, send }: ReturnType<typeof requests>,
) {
  const { version } = options;
  const { take, free, path } = lockForm(options.url);
  const ask = (lock: LockInfo): Promise<ReplyOrFailure> =>
    send(take, 'lock', { path, body: lockText(lock, version) });

  /** `refused`: the server has no such lock. */
  const unlock = async (
    lock: LockInfo,
  ): Promise<'done' | 'refused' | { readonly failure: string }> => {
    // GitLab removes any lock where it is told no id.
    const one = { path, id: lock.id, body: lockText(lock, version) };
    for (let attempt = 1; ; attempt += 1) {
      const reply = await send(free, 'unlock', one).catch(asDenied);
      if ('status' in reply) {
        if (reply.status < 300) return 'done';
        if (!isRefused(reply)) return { failure: `it responds with status ${reply.status}` };
        // After a lost response it means that the lock is gone.
        return attempt > 1 ? 'done' : 'refused';
      }
      if ('denied' in reply || attempt === ATTEMPTS) return { failure: reply.failure };
      await pauseAfter(options, attempt);
    }
  };

  return {
    unlock,

    /** Asks again after a lost response, which is safe: the server then names this lock as the holder. @throws Refusal */
    async lock(lock: LockInfo): Promise<'taken' | ToldLock> {
      for (let attempt = 1; ; attempt += 1) {
        const reply = await ask(lock);
        if ('status' in reply) {
          if (reply.status < 300) return 'taken';
          if (!isRefused(reply)) return refuseUnlockable(location, reply.status);
          const other = toldLock(reply.body);
          return other.id === lock.id ? 'taken' : other;
        }
        if (attempt === ATTEMPTS) {
          // One of the requests may have taken effect.
          await unlock(lock);
          refuseUnreachable(location, reply.failure);
        }
        await pauseAfter(options, attempt);
      }
    },

    /** Tells if a lock is still held. The protocol offers only one way: request the same lock. If it was free, it is removed again. */
    async holds(lock: LockInfo): Promise<boolean> {
      const reply = await ask(lock);
      if ('failure' in reply) return true;
      if (reply.status < 300) await unlock(lock);
      if (!isRefused(reply)) return reply.status >= 300;
      return (toldLock(reply.body).id ?? lock.id) === lock.id;
    },
  };
}

function asDenied(error: unknown): { readonly failure: string; readonly denied: true } {
  if (!(error instanceof Refusal)) throw error;
  return { failure: error.message, denied: true };
}

/** For the id of the lock. */
const isRefused = ({ status }: Reply): boolean =>
  status === 409 || status === 423 || status === 412;

/** All members of Terraform's lock, of which GitLab refuses none to be missing. */
function lockText({ id, operation, host, pid, created_at, url = '' }: LockInfo, version: string) {
  return JSON.stringify({
    ID: id,
    Operation: operation,
    Info: url,
    Who: `process ${pid} on ${host}`,
    Version: `trueup ${version}`,
    Created: created_at,
    Path: '',
  });
}

function toldLock(body: string): ToldLock {
  const value = tryJson(body);
  const text = (name: string): string | undefined => {
    const one = isObject(value) ? value[name] : undefined;
    return typeof one === 'string' && one !== '' ? one.slice(0, 200) : undefined;
  };
  return defined({ id: text('ID'), who: text('Who'), since: text('Created') });
}

export function refuseError(location: string, why: string): never {
  refuse('backend-error', `the state at ${location} cannot be used: ${why}`, {
    detail:
      'Redirects are not followed. Check the address of the state: settings.state, TRUEUP_STATE',
  });
}

const refuseTooLarge = (location: string, bytes: number): never =>
  refuse('state-too-large', `${location} takes no document of ${bytes} bytes`, {
    detail:
      'Raise the limit of the server, or keep the state in PostgreSQL or S3: postgres://host/database, s3://bucket/prefix',
  });

const refuseUnlockable = (location: string, status: number): never =>
  refuse('backend-cannot-lock', `the state at ${location} cannot be locked: status ${status}`, {
    detail:
      'Check the address, and how the server locks: ?lock=post (POST and DELETE at <address>/lock, as GitLab) or ?lock=lock (LOCK and UNLOCK).',
    attribute: 'settings.state',
  });
