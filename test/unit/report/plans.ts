// The plans that every renderer is shown, made by hand of the real kinds.
import {
  maskingOf,
  Reference,
  Secret,
  type Change,
  type Delete,
  type Impact,
  type Keep,
  type Origin,
  type Plan,
  type Update,
  type Values,
} from '../../../src/model/index.js';
import type { Meta } from '../../../src/report/index.js';

export const canary = 'canary-5ecret-value';
export const secret = new Secret('env.PAGER_SECRET', () => canary);
export const at = (line: number, file = 'estate.yaml'): Origin => ({ file, line, column: 3 });
export const ref = (address: string, attribute: string): Reference =>
  new Reference('declared', address, attribute);

export const meta: Meta = {
  trueup_version: '0.1.0',
  generated_at: '2026-01-02T03:04:05.000Z',
  generated_from: { paths: ['.'], digest: 'd'.repeat(64) },
  target: 'https://cloud.example.com/api/v2',
  state: { lineage: '6f1d2c3b-0000-4000-8000-000000000001', serial: 12 },
  api_requests: { alert_rules: 1, accounts: 1 },
  masking: maskingOf(),
};

const empty: Plan = { changes: [], drift: [], unmanaged: {}, verdicts: [], diagnostics: [] };
const declaredObject = (declared: Values) => ({ declared, file: 'estate.yaml', protect: false });

export function keep(index: number): Keep {
  const values: Values = {
    associated_accounts: [String(index)],
    filter_criteria: { alert_type__in: ['ethernet_wan_disconnected', 'modem_wan_disconnected'] },
    http_destinations: ['0b0e8400-e29b-11d4-a716-446655440000'],
    schedule: null,
    alert_config_id: `rule-${index}`,
  };
  const address = `alert_rules.rule-${index}`;
  return {
    action: 'keep',
    address,
    kind: 'alert_rules',
    name: `rule-${index}`,
    origin: at(index),
    reason: 'as declared',
    depends_on: [],
    id: `rule-${index}`,
    before: values,
    declaredObject: declaredObject(values),
  };
}

const account: Change = {
  action: 'create',
  address: 'accounts.field-ops',
  kind: 'accounts',
  name: 'field-ops',
  origin: at(4),
  reason: 'not in the cloud yet',
  depends_on: [],
  declaredObject: declaredObject({ name: 'Field operations', account: '5001' }),
  write: { verb: 'create', fields: { name: 'Field operations', account: '5001' } },
  request: {
    method: 'POST',
    path: '/api/v2/accounts/',
    body: { name: 'Field operations', account: '5001' },
  },
};

const pagerValues: Values = {
  name: 'On-call pager',
  enabled: true,
  endpoint: { url: 'https://hooks.example.com/alerts' },
  authentication: { secret },
};
const pager: Change = {
  action: 'create',
  address: 'alert_push_destinations.pager',
  kind: 'alert_push_destinations',
  name: 'pager',
  origin: at(8),
  reason: 'not in the cloud yet',
  depends_on: [],
  declaredObject: declaredObject(pagerValues),
  write: { verb: 'create', fields: pagerValues },
  request: { method: 'POST', path: '/api/v2/alert_push_destinations/', body: pagerValues },
};

const ruleValues: Values = {
  associated_accounts: ['5001', ref('accounts.field-ops', 'id')],
  filter_criteria: { alert_type__in: ['ethernet_wan_disconnected', 'modem_wan_disconnected'] },
  http_destinations: [ref('alert_push_destinations.pager', 'destination_config_id')],
};
const rule: Change = {
  action: 'create',
  address: 'alert_rules.wan-down["north"]',
  kind: 'alert_rules',
  name: 'wan-down["north"]',
  origin: at(15),
  reason: 'not in the cloud yet',
  depends_on: ['accounts.field-ops', 'alert_push_destinations.pager'],
  declaredObject: declaredObject(ruleValues),
  write: { verb: 'create', fields: ruleValues },
  request: {
    method: 'POST',
    path: '/api/v2/alert_rules/',
    body: { ...ruleValues, associated_accounts: [5001, ref('accounts.field-ops', 'id')] },
  },
};

/** Only creates, with references that apply will fill and a secret. */
export const first: Plan = { ...empty, changes: [account, pager, rule] };

const update: Update = {
  action: 'update',
  address: 'alert_rules.busy',
  kind: 'alert_rules',
  name: 'busy',
  origin: at(30),
  reason: 'the declaration changed; the live object was changed outside of trueup as well',
  depends_on: [],
  renamed_from: 'alert_rules.overloaded',
  id: '6d1e8a2c-1111-11f0-8000-000000000002',
  before: {
    associated_accounts: ['5001', '5002', '5003', '5004'],
    filter_criteria: { alert_type__in: ['cpu_utilization', 'memory_utilization'] },
    http_destinations: [],
    schedule: null,
    settings: {
      data_cap_threshold: {
        limit: 10,
        text: 'first line\nsecond line\nthird line\nfourth line\nfifth line\nsixth line\nseventh line',
      },
    },
    alert_config_id: '6d1e8a2c-1111-11f0-8000-000000000002',
    updated_at: '2026-01-01T00:00:00.000Z',
  },
  declaredObject: declaredObject({ schedule: 'daily' }),
  changes: [
    {
      path: 'associated_accounts',
      before: ['5001', '5002', '5003', '5004'],
      after: ['5001', '5003', '5005', '5006'],
      drifted: false,
    },
    {
      path: 'filter_criteria.alert_type__in',
      before: ['cpu_utilization', 'memory_utilization'],
      after: ['cpu_utilization'],
      drifted: true,
    },
    {
      path: 'http_destinations',
      before: [],
      after: [ref('alert_push_destinations.pager', 'destination_config_id')],
      drifted: false,
    },
    { path: 'schedule', before: null, after: 'daily', drifted: false },
    {
      path: 'settings',
      before: undefined,
      after: {
        data_cap_threshold: {
          limit: 20,
          text: 'first line\nsecond line\nthird line\nfourth line\nfifth line\nsixth line, which was made so long that no terminal of eighty columns holds it\nseventh line',
        },
      },
      drifted: false,
    },
  ],
  write: {
    verb: 'update',
    id: '6d1e8a2c-1111-11f0-8000-000000000002',
    fields: { schedule: 'daily' },
  },
  request: {
    method: 'PATCH',
    path: '/api/v2/alert_rules/6d1e8a2c-1111-11f0-8000-000000000002/',
    body: {
      schedule: 'daily',
      associated_accounts: [5001, 5003, 5005, 5006],
      http_destinations: [ref('alert_push_destinations.pager', 'destination_config_id')],
    },
  },
};

const rotated: Update = {
  action: 'update',
  address: 'alert_push_destinations.mail-room',
  kind: 'alert_push_destinations',
  name: 'mail-room',
  origin: at(40),
  reason: 'the declaration changed',
  depends_on: [],
  id: '6d1e8a2c-1111-11f0-8000-000000000003',
  before: {
    name: 'Mail room',
    enabled: true,
    endpoint: { url: 'https://old.example.com/a' },
    authentication: { secret: '*' },
    suspended: false,
  },
  declaredObject: declaredObject({ authentication: { secret } }),
  changes: [
    {
      path: 'endpoint.url',
      before: 'https://old.example.com/a',
      after: `https://new.example.com/${'path/'.repeat(14)}end`,
      drifted: false,
    },
    { path: 'authentication.secret', before: undefined, after: secret, drifted: false },
  ],
  write: {
    verb: 'update',
    id: '6d1e8a2c-1111-11f0-8000-000000000003',
    fields: { authentication: { secret } },
  },
  request: {
    method: 'PATCH',
    path: '/api/v2/alert_push_destinations/6d1e8a2c-1111-11f0-8000-000000000003/',
    body: {
      authentication: { secret },
      endpoint: { url: `https://new.example.com/${'path/'.repeat(14)}end` },
    },
  },
};

const adopted: Change = {
  action: 'adopt',
  address: 'accounts.hq',
  kind: 'accounts',
  name: 'hq',
  origin: at(50),
  reason: 'an unmanaged object has this parent and name',
  depends_on: [],
  id: '5002',
  before: { name: 'Headquarters', account: '1', is_disabled: false, id: '5002' },
  declaredObject: declaredObject({ name: 'Headquarters' }),
  changes: [],
};

const adoptedAndChanged: Change = {
  action: 'adopt',
  address: 'account_authorizations.dana',
  kind: 'account_authorizations',
  name: 'dana',
  origin: at(55),
  reason: 'an unmanaged object has this user and account',
  depends_on: [],
  id: '900',
  before: { user: '77', account: '5002', role: 'read_only_user', id: '900' },
  declaredObject: declaredObject({ user: '77', account: '5002', role: 'full_access_user' }),
  changes: [{ path: 'role', before: 'read_only_user', after: 'full_access_user', drifted: false }],
  write: { verb: 'update', id: '900', fields: { role: 'full_access_user' } },
  request: {
    method: 'PUT',
    path: '/api/v3/beta/account_authorizations/900',
    body: {
      data: { type: 'account_authorizations', id: '900', attributes: { role: 'full_access_user' } },
    },
  },
};

const deleted: Delete = {
  action: 'delete',
  address: 'alert_push_destinations.old-pager',
  kind: 'alert_push_destinations',
  name: 'old-pager',
  origin: at(1, 'teams/old.yaml'),
  reason: 'no longer declared',
  depends_on: [],
  id: '6d1e8a2c-1111-11f0-8000-000000000009',
  before: {
    name: 'Old pager',
    enabled: false,
    endpoint: { url: 'https://pager.example.com/x' },
    authentication: { secret: '*' },
    suspended: true,
  },
  write: { verb: 'delete', id: '6d1e8a2c-1111-11f0-8000-000000000009', fields: {} },
  request: {
    method: 'DELETE',
    path: '/api/v2/alert_push_destinations/6d1e8a2c-1111-11f0-8000-000000000009/',
  },
};

const forgotten: Change = {
  action: 'forget',
  address: 'account_authorizations.lee',
  kind: 'account_authorizations',
  name: 'lee',
  origin: at(1, 'teams/old.yaml'),
  reason: 'no longer declared; the authorization stays as it is',
  depends_on: [],
  id: '901',
  before: { user: '78', account: '5002', role: 'administrator', id: '901' },
};

/** Every action, drift, verdicts, diagnostics, long and multi-line values. */
export const mixed: Plan = {
  changes: [
    account,
    adopted,
    pager,
    update,
    rotated,
    adoptedAndChanged,
    rule,
    ...Array.from({ length: 25 }, (_, index) => keep(index + 60)),
    deleted,
    forgotten,
  ],
  drift: [
    {
      address: 'alert_rules.busy',
      kind: 'alert_rules',
      id: '6d1e8a2c-1111-11f0-8000-000000000002',
      changes: [{ path: 'schedule', before: 'weekly', after: null, drifted: true }],
    },
    {
      address: 'alert_rules.gone',
      kind: 'alert_rules',
      id: '6d1e8a2c-1111-11f0-8000-000000000008',
    },
  ],
  unmanaged: { alert_rules: 3, accounts: 12, alert_push_destinations: 0 },
  verdicts: [
    {
      rule: 'destination-moved',
      verdict: 'blocked',
      detail: 'deliveries move from old.example.com to new.example.com',
      address: 'alert_push_destinations.mail-room',
    },
    { rule: 'max-deletes', verdict: 'allowed', detail: '1 object is deleted, 0 are permitted' },
  ],
  diagnostics: [
    {
      severity: 'warning',
      code: 'unknown-alert-type',
      summary: 'the alert type cpu_utilisation is not known',
      detail: 'Did you mean cpu_utilization?',
      address: 'alert_rules.busy',
      attribute: 'filter_criteria.alert_type__in.0',
      origin: { file: 'estate.yaml', line: 33, column: 26 },
      frame:
        '  32 |     filter_criteria:\n> 33 |       alert_type__in: [cpu_utilisation]\n     |                        ^\n  34 |     schedule: daily',
    },
  ],
};

/** Nothing to do. */
export const quiet: Plan = {
  ...empty,
  changes: Array.from({ length: 30 }, (_, index) => keep(index)),
  unmanaged: { accounts: 2 },
};

const moved: readonly Change[] = [
  {
    ...account,
    reason: 'account changed in the declaration, and cannot be updated',
    replaces: {
      id: '5002',
      before: { name: 'Field operations', account: '5000', id: '5002' },
      changes: [{ path: 'account', before: '5000', after: '5001', drifted: false }],
      fixed: ['account'],
      first: 'create',
    },
  },
  {
    ...deleted,
    address: account.address,
    kind: 'accounts',
    name: 'field-ops',
    depends_on: [account.address],
    id: '5002',
    deposed: true,
    request: { method: 'DELETE', path: '/api/v2/accounts/5002/' },
  },
];
const pagerId = '6d1e8a2c-1111-11f0-8000-000000000004';
const remade: readonly Change[] = [
  {
    ...deleted,
    address: pager.address,
    name: 'pager',
    id: pagerId,
    deposed: true,
    request: { method: 'DELETE', path: `/api/v2/alert_push_destinations/${pagerId}/` },
  },
  {
    ...pager,
    reason: 'endpoint.url changed in the declaration, and cannot be updated',
    replaces: {
      id: pagerId,
      before: {
        name: 'On-call pager',
        enabled: false,
        endpoint: { url: 'https://old.example.com/alerts' },
      },
      changes: [
        { path: 'enabled', before: false, after: true, drifted: false },
        {
          path: 'endpoint.url',
          before: 'https://old.example.com/alerts',
          after: 'https://hooks.example.com/alerts',
          drifted: false,
        },
      ],
      fixed: ['endpoint.url'],
      first: 'delete',
    },
  },
];
const left: Delete = {
  ...deleted,
  address: 'alert_push_destinations.mail-room',
  name: 'mail-room',
  reason: 'another object took its place',
  deposed: true,
};

/** Objects that others take the place of, the new one first and the old one first, and one that an interrupted run left. */
export const replaced: Plan = {
  ...empty,
  changes: [
    remade[0] as Change,
    moved[0] as Change,
    remade[1] as Change,
    rule,
    moved[1] as Change,
    left,
  ],
};

const keys = Array.from({ length: 40 }, (_, index) => `c${String(index).padStart(2, '0')}`);
const member = (name: string, key: string) => ({
  address: `${name}[${JSON.stringify(key)}]`,
  name: `${name.split('.')[1]}[${JSON.stringify(key)}]`,
});
const ruleId = (index: number): string =>
  `6d1e8a2c-1111-11f0-8000-0000000001${String(index).padStart(2, '0')}`;
const { renamed_from: _, ...plainUpdate } = update;

/** The objects of several `for_each`, with equal and with different values; adoptions, deletes, and many notes. */
export const many: Plan = {
  ...empty,
  changes: [
    ...keys.map((key): Change => {
      const values = { name: `Customer ${key}`, account: '5001' };
      return {
        ...account,
        ...member('accounts.customer', key),
        declaredObject: declaredObject(values),
        write: { verb: 'create', fields: values },
        request: { method: 'POST', path: '/api/v2/accounts/', body: values },
      };
    }),
    ...['hq', 'north', 'south'].map((name, index): Change => ({
      action: 'adopt',
      address: `accounts.${name}`,
      kind: 'accounts',
      name,
      origin: at(50 + index),
      reason: 'an unmanaged object has this parent and name',
      depends_on: [],
      id: `60${index}`,
      before: { name, account: '5001' },
      declaredObject: declaredObject({ name }),
      changes: [],
    })),
    ...keys.map((key, index): Change => ({
      ...plainUpdate,
      ...member('alert_rules.health', key),
      reason: 'schedule changed in the declaration',
      id: ruleId(index),
      changes: [{ path: 'schedule', before: null, after: 'daily', drifted: false }],
      request: {
        method: 'PATCH',
        path: `/api/v2/alert_rules/${ruleId(index)}/`,
        body: { schedule: 'daily' },
      },
    })),
    ...keys.slice(0, 4).map((key, index): Change => ({
      ...plainUpdate,
      ...member('accounts.shop', key),
      kind: 'accounts',
      reason: 'name changed in the declaration',
      id: String(6000 + index),
      before: { name: `Shop ${key}`, account: '5001' },
      declaredObject: declaredObject({ name: `Shop ${key} Ltd`, account: '5001' }),
      changes: [{ path: 'name', before: `Shop ${key}`, after: `Shop ${key} Ltd`, drifted: false }],
      request: {
        method: 'PUT',
        path: `/api/v2/accounts/${6000 + index}/`,
        body: { name: `Shop ${key} Ltd`, account: '5001' },
      },
    })),
    ...['east', 'west', 'middle'].map((key): Change => ({
      ...deleted,
      ...member('alert_push_destinations.region', key),
      request: { method: 'DELETE', path: `/api/v2/alert_push_destinations/${key}/` },
    })),
  ],
  verdicts: keys.map((key) => ({
    rule: 'max-changed',
    verdict: 'allowed',
    detail: 'more objects change than are permitted',
    address: `alert_rules.health["${key}"]`,
  })),
  diagnostics: keys.map((key) => ({
    severity: 'info',
    code: 'unknown-alert-type',
    summary: `the alert type of ${key} is not known`,
  })),
};

export const plans = { first, many, mixed, quiet, replaced };

/** What the plan `mixed` would mean for the alerts of a week. */
export const impact: Impact = {
  since: '2025-12-26T03:04:05.000Z',
  until: '2026-01-02T03:04:05.000Z',
  alerts: 1204,
  rules: [
    {
      rule: 'alert_rules.busy',
      id: 'r-2',
      before: 12,
      after: 240,
      unjudged: { before: 0, after: 7 },
      destinations: {
        before: ['alert_push_destinations.old-pager'],
        after: ['alert_push_destinations.pager', '2 by e-mail'],
      },
      noisy: true,
    },
    {
      rule: 'alert_rules.wan-down["north"]',
      id: null,
      before: 0,
      after: 3,
      unjudged: { before: 0, after: 0 },
      destinations: { before: [], after: ['alert_push_destinations.pager'] },
      noisy: false,
    },
  ],
  unheard: [{ type: 'memory_utilization', alerts: 31, before: 0, after: 31 }],
  through_sub_accounts: 5,
  unjudged: { groups: 7, routers: 0 },
};
