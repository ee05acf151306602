// Metrics of a fleet that is watched: their number does not follow the number of tenants, and nothing is left out.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tenantStatuses } from '../../../src/model/index.js';
import {
  fleetWatchMetrics,
  worstWatched,
  type FleetWatchRecord,
  type WatchedTenant,
} from '../../../src/report/fleet-watch-metrics.js';

const tenant = (name: string, more: Partial<WatchedTenant> = {}): WatchedTenant => ({
  tenant: name,
  status: 'unchanged',
  kinds: { accounts: { changed: 0, objects: 2 } },
  unmanaged: {},
  expectationsFailed: 0,
  lastSuccessAt: 1000,
  ...more,
});
const record = (tenants: readonly WatchedTenant[]): FleetWatchRecord => ({
  startedAt: 500,
  tenants,
  audits: { success: 7, failure: 2 },
  requests: 40,
  latePasses: 1,
});
const drifted = (name: string, changed: number): WatchedTenant =>
  tenant(name, { status: 'drift', kinds: { alert_rules: { changed, objects: 9 } } });
const tenants = [
  tenant('good'),
  drifted('small', 1),
  drifted('large', 3),
  tenant('bad', { status: 'failed', lastSuccessAt: undefined, expectationsFailed: 2 }),
  tenant('fine', { unmanaged: { accounts: 4 } }),
];
/** Values by the name of the metric with its labels. */
const valuesOf = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice('trueup_'.length, at), Number(line.slice(at + 1))];
      }),
  );

test('the worst comes first', () =>
  expect(worstWatched(tenants).map((one) => one.tenant)).toEqual([
    'bad',
    'large',
    'small',
    'fine',
    'good',
  ]));

test('a tenant without an audit comes last, has not failed, and is the oldest', () => {
  const open = tenant('a', { status: 'not-run', kinds: {}, lastSuccessAt: undefined });
  const all = [open, ...tenants.filter(({ lastSuccessAt }) => lastSuccessAt !== undefined)];
  expect(worstWatched(all).at(-1)).toBe(open);
  const values = valuesOf(fleetWatchMetrics(record(all), 9, '0.1.0'));
  expect(values.get('fleet_tenants{status="not-run"}')).toBe(1);
  expect(values.get('fleet_tenant_failed{tenant="a"}')).toBe(0);
  expect(values.get('fleet_oldest_success_timestamp_seconds')).toBe(500);
});

describe('three tenants have labels of their own', () => {
  const values = valuesOf(fleetWatchMetrics(record(tenants), 3, '0.1.0'));
  test.each([
    ['fleet_tenant_failed{tenant="bad"}', 1],
    ['fleet_tenant_failed{tenant="_other"}', 0],
    ['fleet_tenant_drift_objects{tenant="large"}', 3],
    ['fleet_tenant_drift_objects{tenant="small"}', 1],
    ['fleet_tenant_drift_objects{tenant="_other"}', 0],
    ['fleet_tenant_drift_objects{tenant="fine"}', undefined],
    ['fleet_tenants{status="drift"}', 2],
    ['fleet_tenants{status="missing"}', 0],
    ['drift_objects{kind="alert_rules"}', 4],
    ['drift_objects{kind="accounts"}', 0],
    ['unmanaged_objects{kind="accounts"}', 4],
    ['expectations_failed', 2],
    ['fleet_requests_total', 40],
    ['audits_total{result="success"}', 7],
    ['audits_total{result="failure"}', 2],
    ['fleet_late_passes_total', 1],
    // One tenant had no success since the start.
    ['fleet_oldest_success_timestamp_seconds', 500],
    ['audit_last_success_timestamp_seconds', undefined],
  ])('%s', (name, value) => expect(values.get(name)).toBe(value));
});

test('two tenants share the label of the others', () => {
  const values = valuesOf(fleetWatchMetrics(record(tenants), 1, '0.1.0'));
  expect(values.get('fleet_tenant_drift_objects{tenant="_other"}')).toBe(4);
});

test('however many tenants there are, their labels are as many as wanted, and the sum is that of all', () =>
  fc.assert(
    fc.property(
      fc.array(fc.record({ status: fc.constantFrom(...tenantStatuses), changed: fc.nat(50) }), {
        maxLength: 60,
      }),
      fc.nat(20),
      (all, most) => {
        const some = all.map(({ status, changed }, at) =>
          tenant(`t${at}`, { status, kinds: { accounts: { changed, objects: 50 } } }),
        );
        const samples = [...valuesOf(fleetWatchMetrics(record(some), most, '0.1.0'))].filter(
          ([name]) => name.startsWith('fleet_tenant_drift_objects'),
        );
        expect(samples.length).toBeLessThanOrEqual(most + 1);
        expect(samples.reduce((sum, [, value]) => sum + value, 0)).toBe(
          all.reduce((sum, { changed }) => sum + changed, 0),
        );
      },
    ),
  ));
