// Shared by v2 and v3: authentication, the verbs of each path, and request bodies.
import type { Context, Hono } from 'hono';
import { isObject, parseJson, type Json, type JsonObject } from '../model/index.js';
import type { Actor } from './activity-log.js';
import type { Deliveries, Shared } from './deliveries.js';
import type { User } from './estate.js';
import type { RenderContext } from './records.js';
import { mediaTypes, turnDown, type ErrorFormat } from './error-responses.js';
import type { RecordEdit } from './record-store.js';

/** The four headers of v2 with their values. */
export type V2Key = Readonly<Record<`X-${'MGR' | 'VND'}-API-${'ID' | 'KEY'}`, string>>;

type Login = Readonly<Record<'username' | 'password', string>>;

export interface Credentials {
  readonly v2: readonly V2Key[];
  /** By token: the user it speaks for. */
  readonly v3: Readonly<Record<string, User>>;
  readonly iot: Login;
  readonly flow: Login;
}

/** Dummies of one client. */
export const dummyKey = (name: string): V2Key => ({
  'X-MGR-API-ID': `${name}-mgr-id`,
  'X-MGR-API-KEY': `${name}-mgr-key`,
  'X-VND-API-ID': `${name}-vnd-id`,
  'X-VND-API-KEY': `${name}-vnd-key`,
});

/** Dummies that open the emulator unless others are given: the first of each, and a second pair for changes by another client. */
export const dummyCredentials: Credentials = {
  v2: [dummyKey('emulator'), dummyKey('other')],
  v3: {
    'emulator-token': { id: '1', email: 'emulator@example.com' },
    'other-token': { id: '2', email: 'somebody.else@example.com' },
  },
  iot: { username: 'emulator-iot-user', password: 'emulator-iot-password' },
  flow: { username: 'emulator-flow-user', password: 'emulator-flow-password' },
};

export interface EmulatedCloud extends Shared {
  readonly credentials: Credentials;
  readonly deliveries: Deliveries;
}

interface Known {
  readonly Bindings: {
    /** The request's text, read once at the edge. */
    readonly body: string;
    /** As this request sees it. */
    readonly cloud: EmulatedCloud;
  };
  readonly Variables: { actor: Actor };
}
export type Asked = Context<Known>;
export type EmulatorApp = Hono<Known>;

export type Handler = (c: Asked) => Response | Promise<Response>;

/** Registers a path with the verbs it knows; every other verb gets a 405. */
export function route(
  app: EmulatorApp,
  path: string,
  verbs: Readonly<Record<string, Handler | undefined>>,
): void {
  const allowed = Object.keys(verbs).filter((verb) => verbs[verb]);
  app.all(path, (c) =>
    (
      verbs[c.req.method] ??
      turnDown(405, `${c.req.method} is not allowed here`, [], { allow: allowed.join(', ') })
    )(c),
  );
}

/** Admits nobody below a path whom `actorOf` does not know, and no client that does not take what the dialect returns. */
export function guardPath(
  app: EmulatorApp,
  path: string,
  dialect: ErrorFormat,
  actorOf: (c: Asked) => Actor,
): void {
  app.use(path, async (c, next) => {
    c.set('actor', actorOf(c));
    checkAccept(c, dialect);
    await next();
  });
}

export const textResponse = (text: string, dialect: ErrorFormat, status = 200): Response =>
  new Response(text, { status, headers: { 'content-type': mediaTypes[dialect] } });

export const bearerOf = (c: Asked): string =>
  /^Bearer (\S+)$/.exec(c.req.header('authorization') ?? '')?.[1] ?? '';

/** Carries out a change that a request asks for. */
export const commit = (c: Asked, edit: RecordEdit): void =>
  c.env.cloud.store.commit({ ...edit, actor: c.get('actor'), face: faceOf(c) });

export function faceOf(c: Asked): RenderContext {
  const { store, behaviours } = c.env.cloud;
  return { kinds: store.kinds, behaviours, base: `${originOf(c)}/api/v2` };
}

export const originOf = (c: Asked): string =>
  c.env.cloud.behaviours.shard_origin || new URL(c.req.url).origin;
export const queryOf = (c: Asked): URLSearchParams => new URL(c.req.url).searchParams;

/** The media types of a header, in lower case, without parameters but those of JSON:API. */
const typesOf = (header: string): readonly string[] =>
  header
    .toLowerCase()
    .replaceAll(/\s*;\s*/g, ';')
    .split(',')
    .map((type) => type.trim());

/** @throws Refused (415, 400) unless the body is a JSON object in one of the media types. */
export function bodyOf(
  c: Asked,
  dialect: ErrorFormat,
  types: readonly string[] = [mediaTypes[dialect]],
): JsonObject {
  const [type = ''] = typesOf(c.req.header('content-type') ?? '');
  if (!types.includes(type.replace(/;charset=.*$/, '')))
    turnDown(415, `the body must be ${types[0]}`);
  let body: Json;
  try {
    // `parseJson` drops `__proto__` silently; here it is an unknown field.
    body = c.env.body.includes('__proto__') ? JSON.parse(c.env.body) : parseJson(c.env.body);
  } catch {
    return turnDown(400, 'the body is not JSON');
  }
  return isObject(body) ? body : turnDown(400, 'the body must be a JSON object');
}

/** @throws Refused (406) where the client does not take what the dialect returns. */
function checkAccept(c: Asked, dialect: ErrorFormat): void {
  const accept = c.req.header('accept');
  const tolerated = dialect === 'v2' ? ['*/*', 'application/*'] : [];
  const taken =
    accept === undefined ? tolerated : typesOf(accept).map((type) => type.replace(/;q=.*$/, ''));
  if (![mediaTypes[dialect], ...tolerated].some((type) => taken.includes(type)))
    turnDown(406, `responses are ${mediaTypes[dialect]}`);
}
