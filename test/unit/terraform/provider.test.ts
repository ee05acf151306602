// The provider against the emulator: every kind is made, read, changed, imported and let go; what terraform is shown
// is what is there.
import { describe, expect, it } from 'vitest';
import type { Estate } from '../../../src/emulator/index.js';
import { Core, providerRig } from '../../support/provider.js';
import { DESTINATIONS, theirs } from '../../support/estate.js';
import type { CtyObject } from '../../../src/terraform/protocol/cty.js';

interface Story {
  readonly type: string;
  readonly first: CtyObject;
  readonly next: CtyObject;
  /** The request of the change. */
  readonly sends: string;
  /** Absent: adopted. */
  readonly made?: string;
  readonly gone?: string;
}

const stories: Readonly<Record<string, Story>> = {
  account: {
    type: 'devicecloud_account',
    first: { name: 'Field operations', account: '1' },
    next: { name: 'Field services', account: '1' },
    made: 'POST /api/v2/accounts/',
    sends: 'PUT /api/v2/accounts/ID/',
    gone: 'DELETE /api/v2/accounts/ID/',
  },
  rule: {
    type: 'devicecloud_alert_rule',
    first: {
      associated_accounts: ['2'],
      filter_criteria: { alert_type__in: ['modem_wan_disconnected', 'account_locked'] },
      http_destinations: [DESTINATIONS[0]],
    },
    next: {
      associated_accounts: ['2'],
      filter_criteria: { alert_type__in: ['modem_wan_disconnected'] },
      http_destinations: [DESTINATIONS[0]],
      schedule: 'daily',
    },
    made: 'POST /api/v2/alert_rules/',
    sends: 'PATCH /api/v2/alert_rules/ID/',
    gone: 'DELETE /api/v2/alert_rules/ID/',
  },
  destination: {
    type: 'devicecloud_alert_push_destination',
    first: {
      name: "O'Brien & Sons",
      enabled: true,
      endpoint: { url: 'https://hooks.example.com/a' },
      authentication: { secret_wo: 'first', secret_wo_version: 1 },
    },
    next: {
      name: "O'Brien & Sons",
      enabled: false,
      endpoint: { url: 'https://hooks.example.com/a' },
      authentication: { secret_wo: 'first', secret_wo_version: 1 },
    },
    made: 'POST /api/v2/alert_push_destinations/',
    sends: 'PATCH /api/v2/alert_push_destinations/ID/',
    gone: 'DELETE /api/v2/alert_push_destinations/ID/',
  },
  authorization: {
    type: 'devicecloud_account_authorization',
    first: { user: '77', account: '1', role: 'full_access_user' },
    next: { user: '77', account: '1', role: 'read_only_user' },
    sends: 'PUT /api/v3/beta/account_authorizations/ID',
  },
  manager: {
    type: 'devicecloud_configuration_manager',
    first: { router: '12', configuration: '[{"lan":{"mtu":1400}},[]]' },
    next: { router: '12', configuration: '[{"lan":{"mtu":1500}},[["wan","rules","old"]]]' },
    sends: 'PUT /api/v2/configuration_managers/ID/',
  },
  user: {
    type: 'devicecloud_user',
    first: { email: 'Sam@example.com', first_name: 'Sam' },
    next: { email: 'Sam@example.com', first_name: 'Samir' },
    made: 'POST /api/v3/beta/users',
    sends: 'PUT /api/v3/beta/users/ID',
    gone: 'DELETE /api/v3/beta/users/ID',
  },
  group: {
    type: 'devicecloud_group',
    first: { name: 'Stores', account: '2' },
    next: { name: 'Shops', account: '2' },
    made: 'POST /api/v2/groups/',
    sends: 'PATCH /api/v2/groups/ID/',
    gone: 'DELETE /api/v2/groups/ID/',
  },
  'group with a configuration': {
    type: 'devicecloud_group',
    first: { name: 'Stores', account: '2', configuration: '[{"lan":{"mtu":1400}}]' },
    next: { name: 'Stores', account: '2', configuration: '[{"lan":{"mtu":1500}},[["wan"]]]' },
    made: 'POST /api/v2/groups/',
    sends: 'PUT /api/v2/groups/ID/',
    gone: 'DELETE /api/v2/groups/ID/',
  },
  router: {
    type: 'devicecloud_router',
    first: { mac: '00:30:44:00:00:01', name: 'Depot' },
    next: { mac: '00:30:44:00:00:01', name: 'Depot 1' },
    sends: 'PATCH /api/v2/routers/ID/',
  },
};

const estate: Estate = {
  ...theirs,
  records: { ...theirs.records, routers: [{ id: '12', mac: '003044000001', name: 'Depot' }] },
};

describe.each(Object.entries(stories))('%s', (_, { type, first, next, made, sends, gone }) => {
  const idOf = (core: Core, state: CtyObject): string =>
    String(state[core.provider.schema.identities[type]?.attributes[0]?.name ?? '']);

  it('is made, read, changed, imported and let go', async () => {
    const world = providerRig({ estate });
    const core = new Core((await world.start()).provider);
    expect(await core.validate(type, first)).toEqual([]);
    const state = await core.apply(type, null, first);
    const id = idOf(core, state);
    expect(world.mutations()).toEqual(made ? [made] : []);
    expect(await core.isEmpty(type, state, first)).toBe(true);
    const seen = (await core.read(type, state)) as CtyObject;
    expect(await core.isEmpty(type, seen, first)).toBe(true);

    const imported = await core.import(type, id);
    const { authentication: _secret, ...readable } = first;
    expect(await core.isEmpty(type, imported, readable)).toBe(true);

    const changed = await core.apply(type, seen, next);
    expect(world.mutations().slice(made ? 1 : 0)).toEqual([sends.replace('ID', id)]);
    expect(await core.isEmpty(type, await core.read(type, changed), next)).toBe(true);
    expect(await core.isEmpty(type, changed, first)).toBe(false);

    const before = world.mutations().length;
    expect(await core.apply(type, changed, null)).toBeNull();
    expect(world.mutations().slice(before)).toEqual(gone ? [gone.replace('ID', id)] : []);
    expect((await core.read(type, changed)) === null).toBe(gone !== undefined);
  });
});
