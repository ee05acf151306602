// The seed estate of suites over whole runs: what other hands made, with an object of every kind. What a test does not
// declare has to be as it was in the end.
import type { Estate } from '../../src/emulator/index.js';
import type { JsonObject } from '../../src/model/index.js';

const updated_at = '2026-01-01T00:00:00.000Z';

/** Ids of the push destinations. */
export const DESTINATIONS = [
  '11111111-1111-11f0-8000-000000000001',
  '11111111-1111-11f0-8000-000000000002',
] as const;

const configured = (tree: JsonObject): JsonObject => ({
  configuration: [tree, []],
  target: [tree, []],
  actual: [tree, []],
});

export const theirs: Estate = {
  version: 1,
  root: '1',
  next_id: 50,
  records: {
    accounts: [
      { id: '1', name: 'Headquarters', account: null },
      { id: '2', name: 'Their depot', account: '1' },
    ],
    alert_push_destinations: [
      {
        destination_config_id: DESTINATIONS[0],
        name: 'Theirs',
        enabled: true,
        endpoint: { url: 'https://theirs.example.com' },
        updated_at,
      },
      {
        destination_config_id: DESTINATIONS[1],
        name: 'Their board',
        enabled: true,
        endpoint: { url: 'https://board.example.com' },
        updated_at,
      },
    ],
    alert_rules: [
      {
        alert_config_id: '22222222-2222-11f0-8000-000000000001',
        associated_accounts: [2],
        filter_criteria: { alert_type__in: ['account_locked'] },
        email_destinations: [7],
        updated_at,
      },
    ],
    account_authorizations: [
      { id: '9', user: '77', account: '1', role: 'full_access_user' },
      { id: '10', user: '78', account: '1', role: 'administrator' },
    ],
    configuration_managers: [
      {
        id: '30',
        router: '12',
        account: '2',
        ...configured({
          lan: { mtu: 1400 },
          wan: { rules: { old: { prio: 1 }, new: { prio: 2 } } },
        }),
      },
      {
        id: '31',
        router: '7',
        account: '1',
        ...configured({ system: { system_id: 'theirs', users: { admin: { password: '*' } } } }),
      },
    ],
  },
  users: [{ id: '77', email: 'dana@example.com' }],
};
