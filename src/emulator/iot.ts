// The IoT platform: tokens by the password grant, and subscriptions by one condition or by a list of identifiers.
import { isObject, own, type Json, type JsonObject } from '../model/index.js';
import {
  textResponse,
  bearerOf,
  bodyOf,
  guardPath,
  queryOf,
  route,
  type EmulatorApp,
  type Asked,
  type EmulatedCloud,
} from './app.js';
import { behind, checkParameters, count, cursorAt, queryWith } from './pagination.js';
import type { StoredRecord } from './records.js';
import { turnDown } from './error-responses.js';

const DEFAULT_PAGE = 100;
const MOST_PAGE = 10_000;
const CLIENT = 'cm-public-api-client';
const identifiers: Readonly<Record<string, string>> = {
  IMSI: 'imsi',
  ICC: 'iccid',
  MSISDN: 'msisdn',
};
/** Fields that are shown on request; records here hold nothing of those that are undefined. */
const additional: Readonly<Record<string, string | undefined>> = {
  LABEL: 'label',
  CUSTOM_FIELDS: 'customFields',
  DATES: undefined,
  ENTERPRISE: undefined,
  INDIVIDUAL_APN: undefined,
  LOCK_STATE: undefined,
  SECURITY_LOCK: undefined,
  PACKAGE: undefined,
  SIM_SPEC: undefined,
  MONTHLY_DATA: undefined,
  MONTHLY_SMS: undefined,
};
const shownAlways = ['iccid', 'imsi', 'msisdn', 'enterprise', 'organizationId', 'state'];

export function addIot(app: EmulatorApp, cloud: EmulatedCloud): void {
  const issued = new Map<string, number>();
  limit(app, cloud, '/iot/api/auth/token', { Second: 5, Minute: 60 });
  limit(app, cloud, '/iot/api/subscriptions/details', { Second: 10, Minute: 150 });
  guardPath(app, '/iot/api/subscriptions/*', 'iot', (c) =>
    (issued.get(bearerOf(c)) ?? -Infinity) > cloud.clock.monotonic()
      ? { id: c.env.cloud.credentials.iot.username, type_name: 'sso_user' }
      : turnDown(401, 'the token is missing, not valid or too old', [], {
          'www-authenticate': 'Bearer',
        }),
  );
  route(app, '/iot/api/auth/token', { POST: (c) => issue(c, issued) });
  route(app, '/iot/api/subscriptions/details', {
    GET: search,
    POST: identified,
  });
}

const iotResponse = (value: Json): Response => textResponse(JSON.stringify(value), 'iot');

/** @param issued times on the monotonic clock at which tokens end */
function issue(c: Asked, issued: Map<string, number>): Response {
  const { credentials, clock, random, behaviours } = c.env.cloud;
  if (!/^application\/x-www-form-urlencoded(?:;|$)/i.test(c.req.header('content-type') ?? ''))
    turnDown(415, 'the body must be a form');
  const form = new URLSearchParams(c.env.body);
  checkParameters(form, ['grant_type', 'client_id', 'username', 'password']);
  if (form.get('grant_type') !== 'password')
    turnDown(400, 'grant_type must be password', ['grant_type']);
  if (form.get('client_id') !== CLIENT) turnDown(400, 'client_id is not known', ['client_id']);
  const { username, password } = credentials.iot;
  if (form.get('username') !== username || form.get('password') !== password)
    turnDown(401, 'the user name or the password is wrong');
  const token = `emulated.${random.uuid()}`;
  issued.set(token, clock.monotonic() + behaviours.token_seconds * 1000);
  return iotResponse({
    access_token: token,
    token_type: 'JWT',
    expires_in: behaviours.token_seconds,
  });
}

const pick = (record: StoredRecord, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.flatMap((name) => (record[name] === undefined ? [] : [[name, record[name]]])),
  );

/** Whole where no page is asked for. */
function search(c: Asked): Response {
  const { store, behaviours } = c.env.cloud;
  const query = queryOf(c);
  checkParameters(query, ['q', 'limit', 'cursor']);
  const records = store.records('subscriptions').filter(conditionOf(query.get('q') ?? ''));
  const identify = (record: StoredRecord): string => String(record['imsi'] ?? record['iccid']);
  const size = count(query, 'limit', query.has('cursor') ? DEFAULT_PAGE : records.length, [
    1,
    query.has('limit') ? MOST_PAGE : Infinity,
  ]);
  const cursor = query.get('cursor');
  const start = cursor === null ? 0 : behind(records, cursor, 'cursor', identify);
  const shown = records
    .slice(start, start + size)
    .map((record) => pick(record, [...shownAlways, 'detectedImei']));
  const last = start + size - 1;
  const after = last + 1 < records.length ? cursorAt(records, last, identify) : undefined;
  const next =
    after !== undefined &&
    (behaviours.bare_cursors
      ? after
      : new URL(c.req.url).pathname + queryWith(query, { cursor: after }));
  return iotResponse({ subscriptions: shown, size: shown.length, ...(next !== false && { next }) });
}

/** @throws Refused for anything but one condition on company, label or customField. */
function conditionOf(q: string): (record: StoredRecord) => boolean {
  const [, key, double, single, bare] =
    /^(company|label|customField)==(?:"([^"\\]*)"|'([^'\\]*)'|([^\s"'\\;,()=<>!~]+))$/.exec(q) ??
    [];
  const value = double ?? single ?? bare;
  if (value === undefined)
    return turnDown(400, 'q must be one condition on company, label or customField', ['q']);
  if (key === 'label') return ({ label }) => label === value;
  if (key === 'company') return ({ enterprise }) => enterprise === value;
  return ({ customFields }) =>
    Array.isArray(customFields) &&
    customFields.some((field: Json) => isObject(field) && field['fieldValue'] === value);
}

function identified(c: Asked): Response {
  const { store } = c.env.cloud;
  const query = queryOf(c);
  const asked = query.getAll('additionalFields');
  const strange = [...query.keys()].filter((name) => name !== 'additionalFields');
  if (strange.length > 0) turnDown(400, `unknown query parameter ${strange.join(', ')}`, strange);
  if (!asked.every((name) => Object.hasOwn(additional, name)))
    turnDown(400, `additionalFields takes ${Object.keys(additional).join(', ')}`, [
      'additionalFields',
    ]);
  const { identifierType, identifierValues, ...others } = bodyOf(c, 'iot');
  if (Object.keys(others).length > 0)
    turnDown(400, 'unknown member of the body', Object.keys(others));
  const types = Object.keys(identifiers).join(', ');
  const field =
    (typeof identifierType === 'string' ? own(identifiers, identifierType) : undefined) ??
    turnDown(400, `identifierType must be one of ${types}`, ['identifierType']);
  if (
    !Array.isArray(identifierValues) ||
    identifierValues.length === 0 ||
    !identifierValues.every((one) => typeof one === 'string')
  )
    return turnDown(400, 'identifierValues must be a list of strings', ['identifierValues']);
  const wanted = new Set<unknown>(identifierValues);
  const names = [...shownAlways, ...asked.flatMap((name) => additional[name] ?? [])];
  const found = store.records('subscriptions').filter((record) => wanted.has(record[field]));
  return iotResponse({ subscriptions: found.map((record) => pick(record, names)) });
}

/** Counts requests in fixed windows, and reports the remaining number; only if the behaviour is on. */
function limit(
  app: EmulatorApp,
  { clock, behaviours }: EmulatedCloud,
  path: string,
  allowed: { readonly Second: number; readonly Minute: number },
): void {
  if (!behaviours.platform_limits) return;
  const windows = [
    { name: 'Second', most: allowed.Second, milliseconds: 1000, opened: -Infinity, used: 0 },
    { name: 'Minute', most: allowed.Minute, milliseconds: 60_000, opened: -Infinity, used: 0 },
  ];
  app.use(path, async (c, next) => {
    const headers: Record<string, string> = {};
    for (const window of windows) {
      const now = clock.monotonic();
      if (now >= window.opened + window.milliseconds)
        Object.assign(window, { opened: now, used: 0 });
      window.used += 1;
      headers[`X-RateLimit-Limit-${window.name}`] = String(window.most);
      headers[`X-RateLimit-Remaining-${window.name}`] = String(
        Math.max(0, window.most - window.used),
      );
    }
    if (windows.some(({ used, most }) => used > most))
      turnDown(429, 'too many requests', [], headers);
    await next();
    for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value);
  });
}
