// What a plan says, offline: one table, and the laws that core holds a provider to.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collections, kinds } from '../../../src/resources/index.js';
import {
  NOT_NULL,
  Unknown,
  type CtyObject,
  type CtyValue,
} from '../../../src/terraform/protocol/cty.js';
import { planChange } from '../../../src/terraform/plan-resource.js';
import { providerSchema } from '../../../src/terraform/terraform-schema.js';
import { complete, Core, providerRig } from '../../support/provider.js';
import { theirs } from '../../support/estate.js';
import { drawn } from '../../support/drawn.js';

const schema = providerSchema(kinds, collections);
const unknown = new Unknown();

const plan = (
  singular: string,
  prior: CtyObject | null,
  given: CtyObject,
): ReturnType<typeof planChange> => {
  const kind = [...kinds.values()].find((one) => one.singular === singular);
  const attributes = schema.resources[`devicecloud_${singular}`]?.attributes ?? [];
  return planChange({
    kind: kind as NonNullable<typeof kind>,
    schema: attributes,
    prior: prior && complete(attributes, prior),
    config: complete(attributes, given),
  });
};

const rule = {
  alert_config_id: 'r1',
  account: '1',
  resource_url: 'https://x.example.com/r1/',
  updated_at: '2026-01-01T00:00:00Z',
  associated_accounts: ['1', '2'],
  associated_groups: [],
  http_destinations: [],
  filter_criteria: { alert_type__in: ['a', 'b'] },
  settings: '{"a": {"b": 1}}',
};
const account = {
  id: '5',
  account: '1',
  name: 'A &amp; B',
  is_disabled: false,
  resource_url: 'https://x.example.com/5/',
};
const destination = {
  destination_config_id: 'd1',
  name: 'N',
  enabled: true,
  endpoint: { url: 'https://h.example.com' },
  authentication: { secret_wo: null, secret_wo_version: 1 },
};
const authorization = { id: '9', user: '77', account: '1', role: 'administrator' };
const manager = {
  id: '30',
  router: '12',
  suspended: false,
  configuration: '[{"lan":{"mtu":1400,"name":"x"}},[]]',
  version_number: 4,
};

/** What is planned for the named attributes; `requires_replace` by names. */
type Row = readonly [
  what: string,
  kind: string,
  prior: CtyObject | null,
  given: CtyObject,
  expected: Record<string, CtyValue>,
  replaces?: readonly string[],
];
const rows: readonly Row[] = [
  [
    'a create knows what is configured',
    'account',
    null,
    { name: 'A' },
    { name: 'A', account: unknown, id: new Unknown(NOT_NULL), resource_url: unknown },
  ],
  [
    'a create passes on what is not known yet',
    'account',
    null,
    { name: unknown },
    { name: unknown },
  ],
  [
    'a create plans no secret',
    'alert_push_destination',
    null,
    { name: 'N', authentication: { secret_wo: 's', secret_wo_version: 1 } },
    { authentication: { secret_wo: null, secret_wo_version: 1 } },
  ],
  [
    'what is not configured stays',
    'alert_rule',
    rule,
    { associated_accounts: ['1', '2'] },
    { ...rule },
  ],
  [
    'sets have no order',
    'alert_rule',
    rule,
    { associated_accounts: ['2', '1'] },
    { associated_accounts: ['1', '2'], updated_at: rule.updated_at },
  ],
  [
    'ids are spelt in several ways',
    'alert_rule',
    rule,
    { associated_accounts: ['002', 'https://x.example.com/api/v2/accounts/1/'] },
    { associated_accounts: ['1', '2'] },
  ],
  [
    'documents are trees',
    'alert_rule',
    rule,
    { settings: '{"a":{"b":1.0}}' },
    { settings: rule.settings },
  ],
  [
    'escaped names are the same',
    'account',
    account,
    { name: 'A & B' },
    { name: 'A &amp; B', resource_url: account.resource_url },
  ],
  [
    'a change moves what the service dates',
    'alert_rule',
    rule,
    { settings: '{"a":2}' },
    {
      settings: '{"a":2}',
      updated_at: unknown,
      alert_config_id: 'r1',
      account: '1',
      resource_url: rule.resource_url,
      associated_accounts: ['1', '2'],
    },
  ],
  [
    'an unknown is a change',
    'alert_rule',
    rule,
    { associated_accounts: ['1', unknown] },
    { associated_accounts: ['1', unknown], updated_at: unknown },
  ],
  [
    'a member alone changes',
    'alert_rule',
    rule,
    { filter_criteria: { alert_type__in: ['a'] } },
    { filter_criteria: { alert_type__in: ['a'] }, associated_accounts: ['1', '2'] },
  ],
  [
    'another version sends the secret',
    'alert_push_destination',
    destination,
    { name: 'N', authentication: { secret_wo: 't', secret_wo_version: 2 } },
    { authentication: { secret_wo: null, secret_wo_version: 2 }, updated_at: unknown },
  ],
  [
    'another secret alone is no difference',
    'alert_push_destination',
    destination,
    { name: 'N', authentication: { secret_wo: 't', secret_wo_version: 1 } },
    { ...destination },
  ],
  [
    'what is fixed is made anew',
    'account_authorization',
    authorization,
    { user: '78', account: '1', role: 'administrator' },
    { user: '78', id: '9' },
    ['user'],
  ],
  [
    'what may become another is made anew',
    'account_authorization',
    authorization,
    { user: '77', account: unknown, role: 'administrator' },
    { account: unknown },
    ['account'],
  ],
  [
    'a document to merge is there when it is part of what is',
    'configuration_manager',
    manager,
    { router: '12', configuration: '[{"lan":{"mtu":1400}}]' },
    { configuration: manager.configuration, version_number: 4 },
  ],
  [
    'a document to merge is there without what it takes out',
    'configuration_manager',
    manager,
    { router: '12', configuration: '[{},[["lan","name"]]]' },
    { configuration: '[{},[["lan","name"]]]', version_number: unknown },
  ],
];

describe('a plan', () => {
  it.each(rows.map((row) => [row[0], row] as const))(
    '%s',
    (_, [, kind, prior, given, expected, replaces = []]) => {
      const { planned_state, requires_replace = [] } = plan(kind, prior, given);
      expect(planned_state).toMatchObject(expected);
      expect(requires_replace.map((path) => path.join('.'))).toEqual(replaces);
    },
  );
});

const rest: CtyObject = {
  synched: true,
  pending: '[{},[]]',
  actual: '[{},[]]',
  target: '[{},[]]',
  account: '2',
  resource_url: null,
};
/** A change, and all that is not known of the object because of it. */
const changes: readonly (readonly [string, CtyObject, CtyObject, readonly string[]])[] = [
  ['account', account, { name: 'B' }, []],
  ['account', account, { name: 'A &amp; B', account: '2' }, []],
  ['alert_rule', { ...rule, last_summary_ts: null }, { settings: '{"a":2}' }, ['updated_at']],
  ['alert_push_destination', destination, { name: 'M' }, ['updated_at']],
  ['account_authorization', authorization, { ...authorization, role: 'no_access' }, []],
  [
    'configuration_manager',
    { ...manager, ...rest },
    { router: '12', suspended: true },
    ['actual', 'pending', 'synched', 'version_number'],
  ],
  [
    'configuration_manager',
    { ...manager, ...rest },
    { router: '12', configuration: '[{"lan":{"mtu":1500}}]' },
    ['actual', 'pending', 'synched', 'target', 'version_number'],
  ],
  ['user', { id: '1', email: 'a@b.c', user_id: 'u' }, { email: 'a@b.c', first_name: 'A' }, []],
  ['group', { id: '1', name: 'G', account: '1' }, { name: 'H', account: '1' }, []],
  ['router', { id: '1', name: 'R', serial_number: 's', state: 'online' }, { name: 'S' }, []],
];

it.each(changes)('an update of %s %j to %j leaves open %j alone', (kind, prior, given, open) => {
  const { planned_state, requires_replace = [] } = plan(kind, prior, given);
  expect(requires_replace).toEqual([]);
  expect(
    Object.entries(planned_state as CtyObject)
      .flatMap(([name, value]) => (value instanceof Unknown ? [name] : []))
      .toSorted(),
  ).toEqual(open);
});

it('every kind has a row of what an update leaves open', () => {
  expect([...kinds.values()].map(({ singular }) => singular).toSorted()).toEqual(
    [...new Set(changes.map(([kind]) => kind))].toSorted(),
  );
});

const ids = fc.uniqueArray(fc.constantFrom('1', '2', '002', '/accounts/1/'), { maxLength: 3 });
const text = fc.constantFrom(
  '{}',
  'null',
  '{"overage":{"limit":5}}',
  '{ "overage": {"limit": 5.0} }',
);
const configured: fc.Arbitrary<CtyObject> = fc.record(
  {
    associated_accounts: ids,
    associated_groups: fc.uniqueArray(fc.constantFrom('4', '5'), { maxLength: 2 }),
    schedule: fc.constantFrom('daily', 'weekly'),
    filter_criteria: fc.record({
      alert_type__in: fc.uniqueArray(fc.constantFrom('account_locked', 'cpu_utilization'), {
        maxLength: 2,
      }),
    }),
    settings: text,
  },
  { requiredKeys: ['associated_accounts'] },
);

describe('laws', () => {
  it('what was applied plans empty, and so does what was read then', async () => {
    await fc.assert(
      fc.asyncProperty(configured, configured, async (first, next) => {
        const world = providerRig({ estate: theirs });
        const core = new Core((await world.start()).provider);
        const type = 'devicecloud_alert_rule';
        let state: CtyValue = null;
        for (const given of [first, next]) {
          state = await core.apply(type, state, given);
          expect(await core.isEmpty(type, state, given)).toBe(true);
          state = await core.read(type, state);
          expect(await core.isEmpty(type, state, given)).toBe(true);
        }
      }),
      { numRuns: drawn(60) },
    );
  });
});
