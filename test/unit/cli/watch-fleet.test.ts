// `trueup watch` of a fleet: each pass audits every tenant, a slow one delays nobody, and nothing of a pass is kept but
// figures.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RepeatedAudit } from '../../../src/cli/audit-cycle.js';
import type { Command } from '../../../src/cli/context.js';
import { run as watch } from '../../../src/cli/commands/watch.js';
import { watchedFleet } from '../../../src/cli/commands/watch-fleet.js';
import { parseFault } from '../../../src/emulator/index.js';
import { BASE, FILE, fleetOf, MANY_WARNINGS, type FleetHome } from '../../support/fleet-home.js';
import { inProcess, type Said } from '../../support/in-process.js';

const watching = (
  home: FleetHome,
  every: number,
  look: (watched: RepeatedAudit) => Promise<void>,
  ...words: readonly string[]
): Promise<Said> => {
  const probe: Command = async (context) => {
    const watched = await watchedFleet(context, every);
    await look(watched);
    await watched.close();
    return 0;
  };
  return inProcess(probe, ['watch', ...words], home);
};
const OLDEST = 'fleet_oldest_success_timestamp_seconds';
const valueIn = (watched: RepeatedAudit, name: string): number =>
  Number(
    new RegExp(`^trueup_${name.replaceAll(/[{}]/g, '\\$&')} (.+)$`, 'm').exec(
      watched.metrics(),
    )?.[1],
  );

test('each pass audits all tenants, and keeps no results', async () => {
  const home = await fleetOf(['a1', 'b1']);
  await home.run('apply', '--auto-approve', '--select', 'tenant=a1');
  rmSync(join(home.cwd, '.trueup/fleet'), { recursive: true });
  home.accounts.get('b1')!.setFaults([parseFault('status=403')]);
  const said = await watching(home, 60_000, async (watched) => {
    const first = await watched.cycle();
    expect(first.words).toMatch(
      /^2 tenants: 1 as declared, 1 failed\. \(b1, \d+ requests?, \d+\.\d s\)$/,
    );
    expect(first.exit).toBe(1);
    expect(valueIn(watched, 'audits_total{result="failure"}')).toBe(1);
    expect(valueIn(watched, 'fleet_tenant_failed{tenant="b1"}')).toBe(1);
    expect((await watched.cycle()).result).toBe(first.result);
    home.accounts.get('b1')!.setFaults([]);
    const third = await watched.cycle();
    expect(third.words).toMatch(/^2 tenants: 1 as declared, 1 with drift\. \(b1, /);
    expect(third.result).not.toBe(first.result);
    expect(valueIn(watched, 'drift_objects{kind="alert_push_destinations"}')).toBe(1);
    expect(valueIn(watched, 'audits_total{result="success"}')).toBe(4);
    // What cannot be read keeps its figures.
    home.accounts.get('b1')!.setFaults([parseFault('status=403')]);
    await watched.cycle();
    expect(valueIn(watched, 'fleet_tenant_drift_objects{tenant="b1"}')).toBe(1);
    rmSync(join(home.cwd, 'tenants/b1'), { recursive: true });
    const last = await watched.cycle();
    expect([last.exit, last.result]).toEqual([0, '']);
    expect(watched.metrics()).not.toContain('b1');
  });
  expect(said.code, said.stderr).toBe(0);
  expect(existsSync(join(home.cwd, '.trueup/fleet'))).toBe(false);
  // Of three audits that failed, two followed one another.
  expect(said.stderr.match(/b1: /g)).toHaveLength(2);
});

test('of many warnings of a tenant the first are printed, with what shows all', async () => {
  const home = await fleetOf(['a'], FILE, MANY_WARNINGS);
  const { stderr } = await watching(home, 60_000, async (watched) => {
    await watched.cycle();
    await watched.cycle();
  });
  expect(stderr.match(/unknown-value/g)).toHaveLength(4);
  expect(stderr).toContain('All of them: trueup fleet drift --format json');
});

test('a slow tenant delays nobody, is not audited twice at once, and that is said', async () => {
  const home = await fleetOf(['quick', 'slow']);
  home.accounts.get('slow')!.setFaults([parseFault('latency=1500')]);
  const said = await watching(home, 700, async (watched) => {
    const begun = Date.now() / 1000;
    const first = await watched.cycle();
    expect(first.words).toMatch(/^2 tenants: 1 with drift, 1 not run\. \(.*1 not ended/);
    // What has not ended once is counted, and its last success is no later than the start of the watch.
    expect(valueIn(watched, 'fleet_tenants{status="drift"}')).toBe(1);
    expect(valueIn(watched, 'fleet_tenants{status="not-run"}')).toBe(1);
    expect(valueIn(watched, 'fleet_tenant_failed{tenant="slow"}')).toBe(0);
    expect(valueIn(watched, OLDEST)).toBeLessThanOrEqual(begun);
    const calls = home.calls('quick');
    await watched.cycle();
    expect(home.calls('quick')).toBe(2 * calls);
    expect(valueIn(watched, 'fleet_late_passes_total')).toBeGreaterThan(0);
  });
  expect(said.stderr).toContain('The pass takes longer than --every (0.7 s): slow has not ended.');
});

test('a fleet that cannot be read fails its pass, and the next pass reads it again', async () => {
  const home = await fleetOf(['acme']);
  const said = await watching(home, 60_000, async (watched) => {
    await watched.cycle();
    home.write('trueup.fleet.yaml', 'fleet: 3');
    const broken = await watched.cycle();
    expect([broken.exit, broken.result]).toEqual([1, 'failed']);
    expect(broken.words).toMatch(/^failed: /);
    home.write(
      'trueup.fleet.yaml',
      'fleet: { tenants: { from: tenants/* }, defaults: { paths: [base] } }',
    );
    expect((await watched.cycle()).words).toContain('1 with drift');
  });
  expect(said.stderr).toContain('trueup.fleet.yaml:1:1 ');
});

test.each([
  [['--metrics-tenants', '-1'], '--metrics-tenants takes a whole number from 0 to 100000.'],
  [['--metrics-tenants', 'x'], '--metrics-tenants takes a whole number'],
])('%j is refused', async (words, why) => {
  const home = await fleetOf(['acme']);
  const { code, stderr } = await inProcess(watch, ['watch', ...words], home);
  expect(code).toBe(1);
  expect(stderr).toContain(why);
});

test('--metrics-tenants is of a fleet only', async () => {
  const home = await fleetOf(['acme']);
  home.write('alone/a.yaml', BASE);
  const { code, stderr } = await inProcess(
    watch,
    ['watch', 'alone', '--metrics-tenants', '3'],
    home,
  );
  expect(code).toBe(1);
  expect(stderr).toContain('can be used only in the folder of a fleet');
});
