// Reports of fleets for the renderers: one with every status, one whose texts try to be more than text, one that is large.
import { fleetImpact } from '../../../src/fleet/merge.js';
import {
  exits,
  tenantStatuses,
  type Exit,
  type FleetDocument,
  type TenantEntry,
  type TenantStatus,
} from '../../../src/model/index.js';
import { hostile } from './arbitrary.js';

const exitOf: Readonly<Record<TenantStatus, Exit | null>> = {
  missing: null,
  undecided: exits.undecided,
  partial: exits.partial,
  failed: exits.error,
  stale: exits.stale,
  locked: exits.locked,
  blocked: exits.blocked,
  interrupted: exits.interrupted,
  'not-run': null,
  drift: exits.changes,
  changes: exits.changes,
  applied: exits.done,
  unchanged: exits.done,
  valid: exits.done,
};

const entry = (
  tenant: string,
  status: TenantStatus,
  more: Partial<TenantEntry> = {},
): TenantEntry => ({
  tenant,
  labels: {},
  exit: exitOf[status],
  status,
  summary: `It is ${status}.`,
  kinds: {},
  changes: [],
  requests: 5,
  diagnostics: [],
  ...more,
});

export function fleetOf(tenants: readonly TenantEntry[]): FleetDocument {
  const summary: Record<string, number> = {};
  for (const { status } of tenants) summary[status] = (summary[status] ?? 0) + 1;
  return {
    format_version: '1.0',
    trueup_version: '0.1.0',
    generated_at: '2026-01-02T03:04:05.000Z',
    run: 'nightly',
    command: 'drift',
    exit: exits.error,
    diagnostics: [],
    summary: { ...summary, tenants: tenants.length },
    tenants,
  };
}

const drifted = (tenant: string, changed: number): TenantEntry =>
  entry(tenant, 'drift', {
    elapsed_seconds: 61.25,
    summary: `${changed} of 4 objects drifted.`,
    kinds: { accounts: { changed: 0, objects: 1 }, alert_rules: { changed, objects: 4 } },
    changes: Array.from({ length: changed }, (_, at) => ({
      address: `alert_rules.rule-${at}`,
      kind: 'alert_rules',
      action: 'changed',
      origin: { file: 'base/alerting.yaml', line: 7 + at, column: 3 },
    })),
  });

export const everyStatus: FleetDocument = {
  ...fleetOf([
    ...tenantStatuses.toReversed().map((status) => entry(`t-${status}`, status)),
    drifted('acme', 1),
    drifted('globex.com', 3),
    entry('initech', 'failed', {
      summary: 'accounts cannot be read',
      diagnostics: [
        { severity: 'warning', code: 'some-warning', summary: 'a warning' },
        {
          severity: 'error',
          code: 'unreadable-answer',
          summary: 'accounts cannot be read',
          detail: 'Run the command again.',
        },
      ],
    }),
  ]),
  diagnostics: [
    {
      severity: 'error',
      code: 'changed-tenants',
      summary: '2 tenants would change, and `stop.changed_tenants` is 1.',
      detail: 'Select fewer tenants.',
    },
  ],
};

export const hostileFleet = fleetOf(
  hostile.map((text, at) =>
    entry(`t${at}`, at % 2 === 0 ? 'failed' : 'drift', {
      summary: text,
      // A kind has a name.
      kinds: { [text || 'kind']: { changed: 1, objects: 1 } },
      changes: [{ address: text, kind: text, action: 'changed' }],
      diagnostics: [{ severity: 'error', code: 'x', summary: text, detail: text }],
    }),
  ),
);

export const largeFleet = fleetOf(
  Array.from({ length: 2000 }, (_, at) => drifted(`tenant-${at}`, at % 5)),
);

const writing = (
  tenant: string,
  kinds: Readonly<Record<string, readonly [create: number, update: number, gone: number]>>,
): TenantEntry =>
  entry(tenant, 'changes', {
    kinds: Object.fromEntries(
      Object.entries(kinds).map(([kind, [create, update, gone]]) => {
        const changed = create + update + gone;
        const writes = { create, update, delete: gone };
        return [kind, { changed, objects: changed + 1, ...(changed > 0 && { writes }) }];
      }),
    ),
  });
const planned = [
  writing('acme', { accounts: [2, 0, 0], alert_rules: [600, 99, 1] }),
  writing('globex', { alert_rules: [0, 1, 0] }),
  writing('initech', { alert_rules: [0, 0, 0] }),
];

export const plannedFleet: FleetDocument = {
  ...fleetOf(planned),
  command: 'plan',
  exit: exits.changes,
  impact: fleetImpact(planned),
};
