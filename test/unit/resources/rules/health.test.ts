// What is ill: one table a kind, live objects in, ailments out.
import { expect, test } from 'vitest';
import type { Json } from '../../../../src/model/index.js';
import { healthOf } from '../../../../src/resources/rules/health.js';
import type { LiveCollections } from '../../../../src/reconciler/live-collections.js';
import { kindOf, live } from '../../../support/planning.js';

type Objects = Readonly<Record<string, Record<string, Json>>>;

const world = (records: Readonly<Record<string, Objects>>): LiveCollections =>
  new Map(
    Object.entries(records).map(([name, objects]) => [
      name,
      {
        kind: kindOf(name),
        byId: new Map(Object.entries(objects).map(([id, values]) => [id, live(name, id, values)])),
      },
    ]),
  );

const codes = (records: Readonly<Record<string, Objects>>): readonly string[] =>
  healthOf(world(records), () => undefined).map(({ code, id }) => `${id} ${code}`);

test.each<[string, Record<string, Json>, string | undefined]>([
  [
    'delivering',
    { enabled: true, suspended: false, last_error_at: null, last_error_text: null },
    undefined,
  ],
  ['suspended', { enabled: true, suspended: true }, 'destination-suspended'],
  ['suspended and off', { enabled: false, suspended: true }, 'destination-suspended'],
  [
    'failing',
    {
      enabled: true,
      suspended: false,
      last_error_at: '2026-01-01T00:00:00Z',
      last_error_text: 'HTTP 500',
    },
    'delivery-failing',
  ],
  ['failing, without a time', { last_error_text: 'HTTP 500' }, 'delivery-failing'],
  [
    'failing, without a text',
    { last_error_at: '2026-01-01T00:00:00Z', last_error_text: '' },
    'delivery-failing',
  ],
  ['off, failed once', { enabled: false, last_error_text: 'HTTP 500' }, undefined],
])('a destination that is %s', (_, values, code) => {
  expect(codes({ alert_push_destinations: { d: values } })).toEqual(
    code === undefined ? [] : [`d ${code}`],
  );
});

test('a destination says what the service said, since when, and its address', () => {
  const found = healthOf(
    world({
      alert_push_destinations: {
        d: { last_error_at: '2026-01-01T00:00:00+00:00', last_error_text: 'HTTP 500' },
      },
    }),
    (kind, id) => `${kind}.${id}`,
  );
  expect(found).toMatchObject([
    {
      kind: 'alert_push_destinations',
      address: 'alert_push_destinations.d',
      detail: 'HTTP 500',
      at: '2026-01-01T00:00:00.000Z',
    },
  ]);
});

test.each([
  ['declared', 'alert_push_destinations.d', 'declare `suspended: false` in it, and apply'],
  ['unmanaged', undefined, 'clear `suspended` where it is managed'],
])('a suspended destination that is %s says how to resume it', (_, address, next) => {
  const found = healthOf(
    world({ alert_push_destinations: { d: { suspended: true } } }),
    () => address,
  );
  expect(found).toMatchObject([
    { summary: `the service stopped delivering to it (to resume: ${next})` },
  ]);
});

const destinations: Objects = {
  on: { enabled: true },
  off: { enabled: false },
  stopped: { suspended: true },
};

test.each<[string, Record<string, Json>, RegExp | undefined]>([
  [
    'with a working destination',
    { associated_accounts: [1], http_destinations: ['off', 'on'] },
    undefined,
  ],
  ['for a group', { associated_groups: [1], http_destinations: ['on'] }, undefined],
  ['with e-mail alone', { associated_accounts: [1], email_destinations: [5] }, undefined],
  [
    'with e-mail beside what is off',
    { associated_accounts: [1], http_destinations: ['off'], email_destinations: [5] },
    undefined,
  ],
  ['without scope', { http_destinations: ['on'] }, /fire: it has neither accounts nor groups$/],
  ['without destination', { associated_accounts: [1] }, /fire: it has no destination$/],
  [
    'whose destinations are off, suspended or missing',
    { associated_accounts: [1], http_destinations: ['off', 'stopped', 'gone'] },
    /fire: \S+ gone is missing, \S+ off is disabled, \S+ stopped is suspended, and there is no e-mail destination$/,
  ],
  ['with neither', {}, /neither accounts nor groups, and it has no destination$/],
])('a rule %s', (_, values, summary) => {
  const found = healthOf(
    world({ alert_push_destinations: destinations, alert_rules: { r: values } }),
    () => undefined,
  ).filter(({ kind }) => kind === 'alert_rules');
  expect(found.map(({ code, id }) => `${id} ${code}`)).toEqual(
    summary ? ['r rule-cannot-fire'] : [],
  );
  expect(found[0]?.summary ?? '').toMatch(summary ?? /^$/);
});

test('what nothing manages is called by its label, and so is what it cannot reach', () => {
  const found = healthOf(
    world({
      accounts: { 1: { name: 'North' } },
      alert_push_destinations: { off: { name: 'Pager', enabled: false } },
      alert_rules: { r: { associated_accounts: [1], http_destinations: ['off'] } },
    }),
    () => undefined,
  );
  expect(found).toMatchObject([
    {
      id: 'r',
      label: 'North: no alert type → Pager',
      cause: 'alert_push_destinations Pager (off) is disabled',
    },
  ]);
});

test('of destinations that were not read nothing is said', () => {
  expect(
    codes({ alert_rules: { r: { associated_accounts: [1], http_destinations: ['off'] } } }),
  ).toEqual([]);
  expect(codes({ alert_rules: { r: { http_destinations: ['off'] } } })).toEqual([
    'r rule-cannot-fire',
  ]);
});

test('a router that is kept back, or behind, names the settings that it has not applied and no value', () => {
  const pending = [
    {
      system: { id: 'canary-1', users: { admin: { password: 'canary-2' } } },
      wan: { a: 1, b: 2, c: 3, d: 4 },
    },
    [],
  ];
  expect(
    codes({
      configuration_managers: {
        a: { synched: true, suspended: false },
        b: { synched: false, suspended: true },
        c: { suspended: true, synched: true },
      },
    }),
  ).toEqual(['b sync-paused', 'b out-of-sync', 'c sync-paused']);
  const [found] = healthOf(
    world({ configuration_managers: { a: { synched: false, pending } } }),
    () => undefined,
  );
  expect(found?.detail).toBe(
    'it has not applied system.id, system.users.admin.password, wan.a, wan.b, wan.c and 1 more yet',
  );
  expect(JSON.stringify(found)).not.toContain('canary');
});
