// Adding a kind is one file and one line: two made-up ones get their routes, checks and log entries from their definition alone.
import { expect, test } from 'vitest';
import type { Estate } from '../../../src/emulator/index.js';
import {
  choice,
  flag,
  integer,
  kind,
  kindsOf,
  list,
  map,
  number,
  object,
  anyRef,
  set,
  text,
  type JsonObject,
} from '../../../src/model/index.js';
import { kinds as four } from '../../../src/resources/index.js';
import { rig } from './rig.js';

const geofences = kind({
  name: 'geofences',
  singular: 'geofence',
  doc: 'A circle on the map.',
  id: 'geofence_id',
  identity: ['name'],
  attributes: {
    name: text('Name.'),
    shape: choice('Shape.', ['circle', 'square'], { optional: true, immutable: true }),
    radius: integer('Radius in metres.', { optional: true }),
    weight: number('Weight.', { optional: true }),
    active: flag('Whether it counts.', { optional: true }),
    labels: map('Labels.', text('A label.'), { optional: true }),
    points: list('Corners.', object('A corner.', { x: number('East.'), y: number('North.') }), {
      optional: true,
    }),
    rules: set('Rules.', anyRef('A rule.', 'alert_rules'), { optional: true }),
    owner: anyRef('Owner.', 'accounts', { optional: true, wire: 'url' }),
    geofence_id: text('Identifier.', { computed: true }),
    created_at: text('Time of creation.', { computed: true, wire: 'timestamp' }),
    resource_url: text('URL.', { computed: true, format: 'url' }),
  },
  operations: {
    dialect: 'v2',
    collection: 'geofences',
    paging: 'offset',
    page: 500,
    by_id: 'geofence_id',
    filters: ['name'],
    create: 'POST',
    update: 'PATCH',
    delete: 'DELETE',
  },
  example: { name: 'Yard' },
});

const badges = kind({
  name: 'badges',
  singular: 'badge',
  doc: 'A badge a user wears.',
  id: 'id',
  identity: ['user'],
  attributes: {
    user: anyRef('The user.', 'users', { immutable: true, wire: 'relationship' }),
    colour: text('Colour.', { wire: 'attribute' }),
    note: text('Note.', { optional: true, wire: 'attribute' }),
    serial: text('Serial number.', { computed: true, wire: 'attribute' }),
    id: text('Record id.', { computed: true }),
  },
  operations: {
    dialect: 'v3',
    collection: 'beta/badges',
    paging: 'next',
    page: 50,
    by_id: 'path',
    filters: ['filter[colour]'],
    create: 'POST',
    update: 'PUT',
    delete: 'DELETE',
  },
  example: { user: '7', colour: 'red' },
});

const kinds = kindsOf([...four.values(), geofences, badges]);
const rule = '22222222-aaaa-11ef-8000-000000000001';
const estate: Estate = {
  version: 1,
  next_id: 40,
  records: {
    accounts: [{ id: '1', name: 'Headquarters', account: null }],
    alert_rules: [{ alert_config_id: rule }],
  },
};

test('a v2 kind is created, listed, filtered, changed and deleted', async () => {
  const { ask, list, emulator } = rig({ kinds, estate });
  const sent = {
    name: 'Yard',
    shape: 'circle',
    radius: 5,
    weight: 0.5,
    active: true,
    labels: { a: 'b' },
    points: [{ x: 1, y: 2 }],
    rules: [rule],
    owner: '1',
  };
  const { status, body } = await ask('POST', '/api/v2/geofences/', sent);
  expect([status, body]).toMatchObject([
    200,
    {
      ...sent,
      owner: 'http://cloud.test/api/v2/accounts/1/',
      created_at: '2026-01-02T03:04:05.000Z',
    },
  ]);
  const url = `/api/v2/geofences/${String(body.geofence_id)}/`;
  expect(body.resource_url).toBe(`http://cloud.test${url}`);

  await ask('POST', '/api/v2/geofences/', { name: 'Gate' });
  expect(
    (await list('/api/v2/geofences/?name=Gate')).map(({ owner, points, active, labels }) => ({
      owner,
      points,
      active,
      labels,
    })),
  ).toEqual([
    { owner: 'http://cloud.test/api/v2/accounts/1/', points: [], active: false, labels: {} },
  ]);
  expect(
    (await list(`/api/v2/geofences/?geofence_id=${String(body.geofence_id)}`)).map(
      ({ name }) => name,
    ),
  ).toEqual(['Yard']);
  expect(await list('/api/v2/geofences/?limit=1')).toHaveLength(2);

  expect((await ask('PATCH', url, { radius: 6 })).status).toBe(200);
  expect(emulator.objects('geofences')[0]).toMatchObject({ name: 'Yard', radius: 6 });
  expect((await ask('DELETE', `/api/v2/alert_rules/${rule}/`)).status).toBe(409);
  expect((await ask('DELETE', url)).status).toBe(200);
  expect((await ask('DELETE', `/api/v2/alert_rules/${rule}/`)).status).toBe(200);
  expect(await list(`/api/v2/activity_logs/?object__id=${String(body.geofence_id)}`)).toHaveLength(
    3,
  );
});

test.each<[JsonObject, readonly string[]]>([
  [{}, []],
  [{ radius: 1 }, ['name']],
  [{ name: 'Yard', shape: 'star' }, ['shape']],
  [
    { name: 'Yard', radius: 1.5, weight: '1', active: null, labels: [] },
    ['radius', 'weight', 'active', 'labels'],
  ],
  [
    { name: 'Yard', labels: { a: 1 }, points: [{ x: 1 }, 2, { x: 1, y: 2, z: 3 }] },
    ['labels.a', 'points.0.y', 'points.1', 'points.2.z'],
  ],
  [
    { name: 'Yard', geofence_id: 'x', created_at: 'x', constructor: 1, toString: 2 },
    ['geofence_id', 'created_at', 'constructor', 'toString'],
  ],
  [{ name: 'Yard', rules: ['x', 5], owner: true }, ['rules.0', 'rules.1', 'owner']],
])('%j is refused at %j', async (body, paths) => {
  const answer = await rig({ kinds, estate }).ask('POST', '/api/v2/geofences/', body);
  expect(answer.status).toBe(400);
  expect((answer.body.errors ?? []).map(({ path }) => path)).toEqual(paths);
});

test('a key named __proto__ is a field like any other unknown one', async () => {
  const { status, body } = await rig({ kinds, estate }).ask(
    'POST',
    '/api/v2/geofences/',
    '{"name": "Yard", "__proto__": {"shape": "circle"}}',
  );
  expect([status, body.errors]).toEqual([400, [{ path: '__proto__' }]]);
});

test('what is immutable is not changed', async () => {
  const { ask } = rig({ kinds, estate });
  const { body } = await ask('POST', '/api/v2/geofences/', { name: 'Yard', shape: 'circle' });
  expect(
    (await ask('PATCH', `/api/v2/geofences/${String(body.geofence_id)}/`, { shape: 'square' })).body
      .errors,
  ).toEqual([{ path: 'shape' }]);
});

test('a v3 kind is created, read, changed and deleted', async () => {
  const { ask } = rig({ kinds, estate });
  const user = { data: { type: 'users', id: '7' } };
  const resource = { type: 'badges', attributes: { colour: 'red' }, relationships: { user } };
  const created = await ask('POST', '/api/v3/beta/badges', { data: resource });
  expect([created.status, created.body.data]).toMatchObject([
    200,
    { id: '40', attributes: { colour: 'red', note: null, serial: null }, relationships: { user } },
  ]);

  const whole: JsonObject = created.body.data;
  expect(
    (
      await ask('PUT', '/api/v3/beta/badges/40', {
        data: { ...whole, attributes: { colour: 'blue', note: 'n', serial: null } },
      })
    ).status,
  ).toBe(200);
  expect(
    (
      await ask('PUT', '/api/v3/beta/badges/40', {
        data: { ...whole, attributes: { colour: 'blue', serial: '5' } },
      })
    ).status,
  ).toBe(400);
  expect((await ask('GET', '/api/v3/beta/badges?filter[colour]=blue')).body.data).toHaveLength(1);
  expect((await ask('GET', '/api/v3/beta/badges?filter[user]=7')).status).toBe(400);
  expect((await ask('GET', '/api/v3/beta/badges/40')).body.data.attributes).toEqual({
    colour: 'blue',
    note: 'n',
    serial: null,
  });

  for (const wrong of [
    { ...resource, attributes: { colour: 'red', user: '7' } },
    { ...resource, attributes: {} },
    { ...resource, relationships: {} },
    { ...resource, relationships: { user: { data: { type: 'people', id: '7' } } } },
    { ...resource, colour: 'red' },
  ]) {
    expect((await ask('POST', '/api/v3/beta/badges', { data: wrong })).status).toBe(400);
  }
  expect((await ask('DELETE', '/api/v3/beta/badges/40')).status).toBe(200);
  expect((await ask('GET', '/api/v3/beta/badges/40')).status).toBe(404);
});
