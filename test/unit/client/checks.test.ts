// What `doctor --check-api` concludes: everything that can be checked holds of the emulator, and each check fails for a
// service of which its assumption is not true. Nothing but GET is ever sent.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checks } from '../../../src/client/api-check-table.js';
import { UNCHECKABLE, checkAssumptions, type Checked } from '../../../src/client/api-checks.js';
import type { HttpResponse, HttpRequest } from '../../../src/client/index.js';
import {
  bareEstate,
  createEmulator,
  dummyCredentials,
  type Estate,
} from '../../../src/emulator/index.js';
import { makeEstate } from '../../support/make-estate.js';
import { Secret, type Json } from '../../../src/model/index.js';
import { systemClock } from '../../../src/platform/clock.js';
import { systemRandom } from '../../../src/platform/random.js';
import { collections, kinds } from '../../../src/resources/index.js';
import { seededRandom } from '../../support/simulated.js';
import { json } from './fake-cloud.js';

/** A body of which any member may be named. */
// oxlint-disable-next-line typescript/no-explicit-any -- answers are broken in ways that no type has
type Body = any;

/** What another service would answer: a changed body, another answer, or what there is. */
type Otherwise = (url: URL, body: Body, answer: HttpResponse) => HttpResponse | undefined;

const ORIGIN = 'http://127.0.0.1:9';
const clock = systemClock();
const estate = makeEstate({
  accounts: 6,
  rules: 4,
  destinations: 3,
  authorizations: 8,
  alerts: 5,
  activities: 5,
  audits: 3,
  routers: 4,
  clock,
  random: seededRandom(),
});

async function checked(
  otherwise: Otherwise = () => undefined,
  given: Estate = estate,
): Promise<{ readonly all: readonly Checked[]; readonly asked: readonly HttpRequest[] }> {
  const emulator = createEmulator({
    kinds,
    collections,
    clock,
    random: systemRandom(),
    estate: given,
  });
  const secret = (value: string): Secret => new Secret('env.TEST', () => value);
  const [token = ''] = Object.keys(dummyCredentials.v3);
  const asked: HttpRequest[] = [];
  const found: Checked[] = [];
  const checking = checkAssumptions(
    {
      v2: {
        url: `${ORIGIN}/api/v2`,
        headers: Object.fromEntries(
          Object.entries(dummyCredentials.v2[0] ?? {}).map(([name, value]) => [
            name,
            secret(value),
          ]),
        ),
      },
      v3: { url: ORIGIN, token: secret(token) },
      clock: {
        ...clock,
        sleep: (_, signal) =>
          new Promise((_done, fail) =>
            signal?.addEventListener('abort', () => fail(new Error('given up')), { once: true }),
          ),
      },
      random: systemRandom(),
      emit: () => undefined,
      signal: new AbortController().signal,
      async transport(request) {
        asked.push(request);
        const { method, url, headers } = request;
        const response = await emulator.fetch(new Request(url, { method, headers }));
        const answer = {
          status: response.status,
          headers: Object.fromEntries(response.headers),
          body: await response.text(),
        };
        const body: unknown = answer.body === '' ? undefined : JSON.parse(answer.body);
        return (
          otherwise(new URL(url), body, answer) ??
          (body === undefined ? answer : { ...answer, body: JSON.stringify(body) })
        );
      },
    },
    collections,
  );
  for await (const one of checking) found.push(one);
  return { all: found, asked };
}

const names = Object.keys(checks);

test('the ledger names each check, and tests that exist', () => {
  const root = join(import.meta.dirname, '../../..');
  const page = readFileSync(join(root, 'docs/explanation/api.md'), 'utf8');
  const entries = [...page.matchAll(/^\| \*\*([a-z0-9-]+)\*\*( ✓)? \| .* \| ([^|]*) \|$/gm)].map(
    ([, name = '', checked, files = '']) => ({ name, checked: checked !== undefined, files }),
  );
  expect(new Set(entries.map(({ name }) => name)).size).toBe(entries.length);
  expect(entries.filter(({ checked }) => checked).map(({ name }) => name)).toEqual(names);
  expect(entries.filter(({ checked }) => !checked)).toHaveLength(UNCHECKABLE);
  const tests = entries.flatMap(({ files }) =>
    [...files.matchAll(/`([^`]+)`/g)].map(([, path]) => `test/${path}.test.ts`),
  );
  expect(tests.length).toBeGreaterThan(entries.length);
  expect(tests.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('everything that can be checked holds of the emulator, asked by GET alone', async () => {
  const { all, asked } = await checked();
  expect(all.map(({ name }) => name)).toEqual(names);
  expect(all.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
  expect(asked.every(({ method }) => method === 'GET')).toBe(true);
  expect(asked.map(({ url }) => url).filter((url) => !/\/api\/v[23]\//.test(url))).toEqual([]);
  expect(asked.length).toBeLessThan(60);
});

/** Changes the records of a listing. */
const records =
  (collection: string, change: (record: Body) => void): Otherwise =>
  (url, body) => {
    if (url.pathname.includes(`/${collection}`) && Array.isArray(body?.data))
      body.data.forEach(change);
    return undefined;
  };
/** Answers a listing as if a filter were not there. */
const ignoring =
  (collection: string, ...filters: readonly string[]): Otherwise =>
  (url, body) => {
    if (url.pathname.includes(`/${collection}`) && filters.some((one) => url.searchParams.has(one)))
      body.data = [{ ...everything[collection] }];
    return undefined;
  };
const everything: Readonly<Record<string, Body>> = Object.fromEntries(
  ['accounts', 'activity_logs', 'audit_logs', 'configuration_managers', 'alert_rules'].map(
    (name) => [name, { id: '1', name: 'x', alert_config_id: 'x', router: 'x/1/' }],
  ),
);
const at = (url: URL, collection: string): boolean =>
  url.pathname.endsWith(`/${collection}/`) || url.pathname.endsWith(`/${collection}`);

/** A service of which an assumption is not true, by the name of the assumption. */
const broken: Readonly<Record<string, readonly Otherwise[]>> = {
  'v2-next': [
    (_, body) => void delete body?.meta?.next,
    (url, body) => (at(url, 'alerts') ? json({ results: body.data }) : undefined),
    (url) =>
      at(url, 'audit_logs')
        ? json('<html></html>', 200, { 'content-type': 'text/html' })
        : undefined,
  ],
  'v2-limit': [
    (url, body) =>
      void (
        at(url, 'accounts') &&
        url.searchParams.get('limit') === '1' &&
        body.data.push({ id: '99' })
      ),
    (url, body) =>
      void (
        at(url, 'accounts') &&
        url.searchParams.get('limit') === '1' &&
        (body.meta.next = null)
      ),
    (url, body) =>
      void (
        at(url, 'accounts') &&
        url.searchParams.get('limit') === '500' &&
        (body.meta.next = '/api/v2/accounts/?limit=20&offset=20')
      ),
  ],
  'v2-offset': [
    (url, body) =>
      void (
        at(url, 'accounts') &&
        url.searchParams.has('offset') &&
        (body.data[0].id = estate.records['accounts']?.[0]?.['id'])
      ),
    (url, body) =>
      void (
        at(url, 'accounts') &&
        url.search === '?limit=1' &&
        (body.meta.next = body.meta.next.replace('offset=1', 'offset=2'))
      ),
  ],
  'v2-cursor': [
    records('alert_rules', (one) => (one.alert_config_id = '11111111-aaaa-11ef-8000-000000000001')),
  ],
  'v2-filter-in': [
    ignoring('accounts', 'id__in'),
    (url, body) => void (url.searchParams.has('id__in') && body.data.pop()),
  ],
  'v2-filter-unknown': [ignoring('accounts', 'id'), ignoring('alert_rules', 'alert_config_id')],
  'v2-filter-name': [
    ignoring('accounts', 'name'),
    (url, body) => void (url.searchParams.has('name') && (body.data = [])),
  ],
  'v2-descendants': [records('accounts', (one) => (one.account = null))],
  'account-ids': [
    records('accounts', (one) => (one.id = `a-${one.id}`)),
    records('configuration_managers', (one) => (one.id = { id: 1 })),
  ],
  'time-based-ids': [
    records('alert_rules', (one) => (one.alert_config_id = '11111111-aaaa-41ef-8000-000000000001')),
    records('alert_push_destinations', (one) => (one.destination_config_id = '7')),
    records('alerts', (one) => (one.created_at_timeuuid = '11111111-aaaa-1fff-8000-000000000001')),
  ],
  references: [
    records('alert_rules', (one) => (one.account = 'https://other.example/api/v2/accounts/777/')),
    records('alert_push_destinations', (one) => (one.account = 'none')),
  ],
  'integer-lists': [
    records('alert_rules', (one) => (one.associated_accounts = ['https://x.example/accounts/1/'])),
    records('alert_rules', (one) => (one.associated_groups = null)),
  ],
  timestamps: [
    records('alert_rules', (one) => (one.updated_at = '20 November 2026')),
    records('activity_logs', (one) => (one.action.timestamp = 1_700_000_000)),
  ],
  'whole-records': [
    records('accounts', (one) => void delete one.name),
    records('alert_rules', (one) => void delete one.settings),
  ],
  'rule-alert-types': [
    records('alert_rules', (one) => (one.filter_criteria = { alert_type__in: 'account_locked' })),
  ],
  'rule-schedule': [records('alert_rules', (one) => (one.schedule = { every: 'day' }))],
  'rule-settings': [records('alert_rules', (one) => (one.settings = ['a']))],
  'destination-secret': [
    records('alert_push_destinations', (one) => (one.authentication = { secret: 'hunter2' })),
  ],
  'destination-url': [
    records(
      'alert_push_destinations',
      (one) => (one.endpoint = { url: 'http://hooks.example.com/' }),
    ),
    records(
      'alert_push_destinations',
      (one) => (one.endpoint = { url: 'https://hooks.example.com:444/' }),
    ),
    records('alert_push_destinations', (one) => (one.endpoint = { url: 'no address' })),
  ],
  'manager-documents': [
    records('configuration_managers', (one) => (one.configuration = { lan: {} })),
    records('configuration_managers', (one) => (one.pending = [{}])),
  ],
  'manager-of-router': [
    (url, body) =>
      void (
        url.searchParams.has('router') &&
        at(url, 'configuration_managers') &&
        (body.data = [])
      ),
    (url, body) =>
      void (
        url.searchParams.has('router') &&
        at(url, 'configuration_managers') &&
        body.data.push({ ...body.data[0] })
      ),
    (url, body) =>
      void (
        at(url, 'configuration_managers') &&
        url.searchParams.has('router') &&
        body.data.length === 0 &&
        body.data.push({ id: '9', router: 'x/1/' })
      ),
  ],
  'manager-version': [records('configuration_managers', (one) => (one.version_number = 'seven'))],
  'v3-media': [
    (url, _, answer) =>
      url.pathname.includes('/api/v3/')
        ? { ...answer, headers: { ...answer.headers, 'content-type': 'application/json' } }
        : undefined,
  ],
  'v3-next': [
    (url, body) =>
      url.pathname.includes('/beta/') && body?.links ? json({ data: body.data }) : undefined,
    records('account_authorizations', (one) => (one.id = '70')),
  ],
  'v3-page-size': [
    (url, body) =>
      void (
        url.searchParams.get('page[size]') === '1' &&
        url.pathname.includes('/beta/') &&
        body.data.push(body.data[0])
      ),
    (url, body) =>
      void (
        url.searchParams.get('page[size]') === '1' &&
        url.pathname.includes('/beta/') &&
        (body.links.next = null)
      ),
    (url, body) =>
      void (
        url.searchParams.get('page[size]') === '50' &&
        url.pathname.includes('/beta/') &&
        (body.links.next = '/x?page[after]=y')
      ),
  ],
  'v3-by-path': [
    (url) =>
      /account_authorizations\/./.test(url.pathname)
        ? json({ errors: [{ status: '400' }] }, 400)
        : undefined,
    (url, _, answer) =>
      /account_authorizations\/./.test(url.pathname) && answer.status === 200
        ? json({}, 405)
        : undefined,
    (url, body) =>
      void (
        /account_authorizations\/./.test(url.pathname) &&
        body.data &&
        (body.data.id = 'other')
      ),
  ],
  'v3-one-each': [
    records('account_authorizations', (one) => {
      one.relationships.user.data.id = '1';
      one.relationships.account.data.id = '1';
    }),
  ],
  'v3-roles': [records('account_authorizations', (one) => (one.attributes.role = { id: 4 }))],
  'v3-account-ids': [
    records(
      'account_authorizations',
      (one) => (one.relationships.account.data.id = `t-${one.relationships.account.data.id}`),
    ),
  ],
  'v3-assets': [
    (url, body) => (url.pathname.endsWith('/asset_endpoints') ? json(body.data) : undefined),
    records('asset_endpoints', (one) => void delete one.attributes),
    (url, body) => void (url.pathname.endsWith('/asset_endpoints') && body.data.push(body.data[0])),
  ],
  'activity-filters': [
    ignoring('activity_logs', 'action__timestamp__gte'),
    ignoring('activity_logs', 'object__id'),
  ],
  'activity-records': [
    records('activity_logs', (one) => void delete one.actor),
    records('activity_logs', (one) => (one.object = 'account 7')),
  ],
  'alert-records': [
    records('alerts', (one) => {
      one.account = null;
      one.router = null;
    }),
    records('alerts', (one) => {
      one.account = 'x/accounts/1/';
      one.router = 'x/routers/1/';
    }),
  ],
  'audit-records': [ignoring('audit_logs', 'reported_at__gt')],
  'battery-router': [
    records('batteries', (one) => (one.router = 'x/routers/0/')),
    (url, body) => (at(url, 'batteries') ? json({ batteries: body.data }) : undefined),
  ],
  'server-date': [
    (_, __, answer) => {
      const { date: _date, ...headers } = answer.headers;
      return { ...answer, headers };
    },
    (_, __, answer) => ({
      ...answer,
      headers: { ...answer.headers, date: new Date(clock.now() + 300_000).toUTCString() },
    }),
  ],
};

describe('each check fails for a service of which its assumption is not true', () => {
  test('none is left out', () => expect(Object.keys(broken).toSorted()).toEqual(names.toSorted()));

  test.each(
    Object.entries(broken).flatMap(([name, ways]) =>
      ways.map((way, index) => [name, index + 1, way] as const),
    ),
  )('%s, %i', async (name, _, way) => {
    const { all } = await checked(way);
    expect(all.find((one) => one.name === name)).toMatchObject({ verdict: 'bad' });
    expect(JSON.stringify(all)).not.toContain('hunter2');
  });
});

test('what is not there is not checked, and never ok', async () => {
  const { all } = await checked(undefined, bareEstate);
  const seen = all.filter(({ verdict }) => verdict !== 'unchecked').map(({ name }) => name);
  expect(seen).toEqual([
    'v2-next',
    'v2-filter-unknown',
    'v2-filter-name',
    'v2-descendants',
    'account-ids',
    'whole-records',
    'v3-media',
    'v3-next',
    'server-date',
  ]);
  expect(all.find(({ verdict }) => !['ok', 'unchecked'].includes(verdict))).toBeUndefined();
});

test('410 for one that does not exist is as good as 404', async () => {
  const { all } = await checked((url, _, { status }) =>
    status === 404 && /account_authorizations\/./.test(url.pathname) ? json({}, 410) : undefined,
  );
  expect(all.find(({ name }) => name === 'v3-by-path')).toMatchObject({
    verdict: 'ok',
    detail: expect.stringContaining('410') as Json,
  });
});

test.each<[status: number]>([[401], [403]])('what answers %i is not checked', async (status) => {
  const { all } = await checked(() => json({ exception: 'no' }, status));
  expect(new Set(all.map(({ verdict }) => verdict))).toEqual(new Set(['unchecked']));
  const { all: some } = await checked((url) =>
    at(url, 'audit_logs') ? json({}, status) : undefined,
  );
  expect(some.filter(({ verdict }) => verdict !== 'ok').map(({ name }) => name)).toEqual([
    'audit-records',
  ]);
  expect(some[0]?.detail).toContain('not checked: audit logs');
});

test.each<[name: string, way: Otherwise, detail: string]>([
  [
    'v3-roles',
    records('account_authorizations', (one) => (one.attributes.role = 'site_auditor')),
    'site_auditor',
  ],
  ['rule-schedule', records('alert_rules', (one) => (one.schedule = 'weekly')), 'weekly'],
  [
    'v3-account-ids',
    (url, body) =>
      void (
        url.searchParams.get('page[size]') === '50' &&
        url.pathname.includes('/beta/') &&
        (body.data[0].relationships.account.data.id = 't-1')
      ),
    't-1',
  ],
])('%s: what passes with a warning is a note', async (name, way, detail) => {
  const { all } = await checked(way);
  expect(all.find((one) => one.name === name)).toEqual({
    name,
    verdict: 'note',
    detail: expect.stringContaining(detail) as Json,
  });
});

test('text of the service is made fit for a terminal', async () => {
  const { all } = await checked(
    records('alert_rules', (one) => (one.schedule = 'x\u001b[31m\n\u202e')),
  );
  expect(all.find(({ name }) => name === 'rule-schedule')?.detail).not.toMatch(/[\u001b\n\u202e]/);
});
