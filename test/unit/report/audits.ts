// The audits that every renderer is shown: differences of every status, and everything else that an audit says.
import type {
  AccessReview,
  HealthIssue,
  Diagnostic,
  DriftDocument,
  DriftRecord,
  UnmanagedRecord,
  Verified,
} from '../../../src/model/index.js';
import { driftDocument } from '../../../src/report/index.js';
import { at, meta, mixed } from './plans.js';

const records: readonly DriftRecord[] = [
  {
    address: 'alert_rules.busy',
    kind: 'alert_rules',
    id: '6d1e8a2c-1111-11f0-8000-000000000002',
    origin: at(30),
    status: 'changed',
    changes: [
      { path: 'schedule', declared: 'daily', applied: 'daily', live: null },
      { path: 'associated_accounts', declared: [5001, 5002], applied: [5001], live: [5001, 5003] },
    ],
    since: '2026-01-01T10:00:00.000Z',
    changed_by: 'unknown',
    window: { after: null, before: null },
  },
  {
    address: 'account_authorizations.dana',
    kind: 'account_authorizations',
    id: '900',
    origin: at(55),
    status: 'changed',
    changes: [
      {
        path: 'role',
        declared: 'full_access_user',
        applied: 'full_access_user',
        live: 'administrator',
      },
    ],
    since: '2026-01-01T10:00:00.000Z',
    changed_by: {
      actor: 'lee@example.com',
      actor_type: 'user',
      at: '2026-01-01T11:00:00.000Z',
      action: 'update',
      before: null,
      after: null,
    },
    window: { after: null, before: null },
  },
  {
    address: 'alert_rules.gone',
    kind: 'alert_rules',
    id: 'r-8',
    origin: at(60),
    status: 'gone',
    changes: [],
    since: '2026-01-01T10:00:00.000Z',
    changed_by: 'unknown',
    window: { after: null, before: null },
  },
  {
    address: 'accounts.new',
    kind: 'accounts',
    id: null,
    origin: at(61),
    status: 'missing',
    changes: [],
    since: null,
    changed_by: 'unknown',
    window: { after: null, before: null },
  },
  {
    address: 'accounts.left',
    kind: 'accounts',
    id: '5009',
    origin: null,
    status: 'undeclared',
    changes: [],
    since: '2026-01-01T10:00:00.000Z',
    changed_by: 'unknown',
    window: { after: null, before: null },
  },
  {
    address: 'accounts.same',
    kind: 'accounts',
    id: '5010',
    origin: at(62),
    status: 'settled',
    changes: [{ path: 'name', declared: 'New', applied: 'Old', live: 'New' }],
    since: '2026-01-01T10:00:00.000Z',
    changed_by: 'unknown',
    window: { after: null, before: null },
  },
];

const inSync = Array.from(
  { length: 6 },
  (_, index) => `${index % 2 === 0 ? 'accounts' : 'alert_rules'}.kept-${index}`,
);

/** What an audit says beside differences: nothing. */
const bare = { unmanaged_objects: [], health: [], expectations: [], access: null };

const lee = {
  actor: 'lee@example.com',
  actor_type: 'user',
  at: '2026-01-01T11:00:00.000Z',
  action: 'update',
} as const;

const withAuthors: readonly DriftRecord[] = records.map((record) => ({
  ...record,
  window: {
    after: record.since,
    before: record.status === 'gone' ? '2026-01-02T03:04:05.000Z' : null,
  },
  ...(record.address === 'account_authorizations.dana' && {
    changed_by: {
      ...lee,
      before: { role: 'full_access_user', user: '77' },
      after: { role: 'administrator', user: '77' },
    },
  }),
}));

const unmanagedObjects: readonly UnmanagedRecord[] = [
  {
    kind: 'accounts',
    id: '7001',
    label: 'Trial (Berlin)',
    changed_by: { ...lee, action: 'create', before: null, after: null },
    window: { after: null, before: null },
  },
  {
    kind: 'alert_rules',
    id: '6d1e8a2c-1111-11f0-8000-00000000000a',
    label: 'North: cpu_utilization and 1 more → Pager',
    changed_by: 'unknown',
    window: { after: null, before: '2026-01-01T23:00:00.000Z' },
  },
];

const health: readonly HealthIssue[] = [
  {
    code: 'destination-suspended',
    kind: 'alert_push_destinations',
    id: '6d1e8a2c-1111-11f0-8000-000000000003',
    address: 'alert_push_destinations.mail-room',
    summary: 'deliveries are suspended',
    detail: 'HTTP 410 Gone',
    at: '2026-01-01T09:30:00.000Z',
  },
  {
    code: 'rule-cannot-fire',
    kind: 'alert_rules',
    id: '6d1e8a2c-1111-11f0-8000-00000000000a',
    label: 'North: cpu_utilization and 1 more → Pager',
    summary: 'no destination is left',
  },
];

const expectations: readonly Verified[] = [
  {
    name: 'fleet-a-active',
    collection: 'subscriptions',
    origin: at(70),
    verdict: 'met',
    checked: 120,
    failed: 0,
    offenders: [],
  },
  {
    name: 'managers-synched',
    collection: 'configuration_managers',
    origin: at(75),
    verdict: 'failed',
    checked: 40,
    failed: 3,
    offenders: [
      { id: '12', why: 'synched must be true' },
      { id: '17', why: 'synched must be true' },
    ],
    count: '40 records, at least 41 are expected',
  },
  {
    name: 'batteries-healthy',
    collection: 'batteries',
    origin: at(80),
    verdict: 'unknown',
    checked: 0,
    failed: 0,
    offenders: [],
    diagnostic: {
      severity: 'warning',
      code: 'unreadable',
      summary: 'the service returned 503',
      detail: 'Try again later.',
    },
  },
];

const access: AccessReview = {
  users: [
    { id: '77', email: 'dana@example.com' },
    { id: '78', email: 'lee@example.com' },
    { id: '79' },
  ],
  accounts: [
    { id: '5001', name: 'Headquarters', depth: 0, administrators: 1 },
    { id: '5002', name: 'Field operations', depth: 1, administrators: 2 },
    { id: '5003', name: 'Depot', depth: 2, administrators: 0 },
    { id: '5009', name: '5009', depth: 0, administrators: null },
  ],
  complete: true,
  cells: [
    { user: '77', account: '5001', role: 'read_only_user' },
    {
      user: '77',
      account: '5002',
      role: 'administrator',
      address: 'account_authorizations.dana',
      declared: 'full_access_user',
    },
    { user: '78', account: '5001', role: 'administrator' },
    { user: '78', account: '5002', role: 'administrator', inherited_from: '5001' },
    {
      user: '78',
      account: '5003',
      role: 'administrator',
      inherited_from: '5001',
      own: ['full_access_user', 'no_access'],
      address: 'account_authorizations.lee',
      declared: 'read_only_user',
    },
    { user: '79', account: '5003', role: 'no_access' },
    { user: '79', account: '5009', role: 'read_only_user' },
  ],
};

export const audits = {
  drift: driftDocument({
    drift: records,
    in_sync: inSync.slice(0, 4),
    ...bare,
    unmanaged: { accounts: 12 },
    diagnostics: mixed.diagnostics,
    meta,
  }),
  'no-drift': driftDocument({
    drift: [],
    in_sync: inSync,
    ...bare,
    unmanaged: {},
    diagnostics: [],
    meta,
  }),
  audited: driftDocument({
    drift: withAuthors,
    in_sync: inSync,
    unmanaged: { accounts: 1, alert_rules: 1 },
    unmanaged_objects: unmanagedObjects,
    health,
    expectations,
    access,
    diagnostics: mixed.diagnostics,
    meta,
  }),
};

/** An audit that holds a text wherever text comes from elsewhere. */
export function hostileAudit(text: string): DriftDocument {
  const changed_by = {
    actor: text,
    actor_type: text,
    action: text,
    at: text,
    before: { [text]: text },
    after: { [text]: [text] },
  };
  const window = { after: text, before: text };
  const diagnostic: Diagnostic = {
    severity: 'error',
    code: 'rejected',
    summary: text,
    detail: `${text}\n${text}`,
    address: text,
    attribute: text,
    origin: at(1, text),
    frame: `  1 | ${text}\n${text}`,
  };
  const record: DriftRecord = {
    address: `accounts.${text}`,
    kind: 'accounts',
    id: text,
    origin: at(2, text),
    status: 'changed',
    changes: [{ path: text, declared: text, applied: { [text]: text }, live: [text] }],
    since: text,
    changed_by,
    window,
  };
  return driftDocument({
    drift: [record, { ...record, changed_by: 'unknown', status: 'settled' }],
    in_sync: [`accounts.${text}`, text],
    unmanaged: { [text]: 1 },
    unmanaged_objects: [
      { kind: text, id: text, label: text, changed_by, window },
      { kind: text, id: text, label: null, changed_by: 'unknown', window },
    ],
    health: [
      { code: 'delivery-failing', kind: text, id: text, summary: text, detail: text, at: text },
    ],
    expectations: [
      {
        name: text,
        collection: text,
        origin: at(3, text),
        verdict: 'failed',
        checked: 1,
        failed: 1,
        offenders: [{ id: text, why: text }],
        count: text,
      },
      {
        name: text,
        collection: text,
        origin: at(4, text),
        verdict: 'unknown',
        checked: 0,
        failed: 0,
        offenders: [],
        diagnostic,
      },
    ],
    access: {
      users: [{ id: text, email: text }],
      accounts: [{ id: text, name: text, depth: 1, administrators: 1 }],
      complete: true,
      cells: [
        {
          user: text,
          account: text,
          role: text,
          inherited_from: text,
          own: [text],
          address: text,
          declared: text,
        },
      ],
    },
    diagnostics: [diagnostic],
    meta: {
      ...meta,
      target: text,
      generated_from: { ...meta.generated_from, paths: [text, text] },
      api_requests: { [text]: 1 },
    },
  });
}
