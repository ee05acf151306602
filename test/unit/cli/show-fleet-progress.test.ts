// Progress of a fleet: events in their order with the tenant of each, lines on a terminal, and nothing where it is piped.
import { describe, expect, test } from 'vitest';
import type { Context } from '../../../src/cli/context.js';
import { fleetLines, fleetWatch, type FleetWatch } from '../../../src/cli/show-fleet-progress.js';
import { silentOutlet } from '../../../src/cli/terminal.js';
import { withoutResult } from '../../../src/fleet/merge.js';
import { fleetOf } from '../../support/fleet-home.js';
import type { Said } from '../../support/in-process.js';

interface Line {
  readonly type: string;
  readonly tenant?: string;
  readonly command?: string;
  readonly fleet?: { readonly run: string; readonly command: string; readonly exit?: number };
  readonly result?: { readonly status: string; readonly exit: number | null };
}
const eventsIn = ({ stdout }: Said): readonly Line[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
const wordsOf = (lines: readonly Line[]): readonly string[] =>
  lines.map(({ type, tenant, command, fleet, result }) =>
    [type, fleet?.command, tenant, command, result?.status].filter(Boolean).join(' '),
  );

describe('events', () => {
  test('of a drift', async () => {
    const home = await fleetOf(
      ['acme'],
      'fleet: { tenants: { acme: {}, none: {} }, defaults: { paths: [base] }, concurrency: 1 }',
    );
    const said = await home.run('drift', '--format', 'ndjson', '--run', 'r');
    const lines = eventsIn(said);
    expect(wordsOf(lines)).toEqual([
      'version',
      'fleet_start drift',
      'tenant_start acme drift',
      'tenant_complete acme drift drift',
      'tenant_start none drift',
      'diagnostic none',
      'tenant_complete none drift failed',
      'fleet_complete drift',
    ]);
    expect(lines[1]?.fleet).toEqual({ run: 'r', command: 'drift', tenants: 2 });
    expect(lines[3]?.result).toMatchObject({
      status: 'drift',
      exit: 2,
      kinds: { alert_push_destinations: { changed: 1, objects: 1 } },
      requests: expect.any(Number) as number,
      elapsed_seconds: expect.any(Number) as number,
    });
    expect(lines.at(-1)?.fleet).toMatchObject({
      run: 'r',
      exit: 1,
      summary: { tenants: 2, drift: 1, failed: 1 },
    });
    expect(said.stderr).toContain('none: ');
    const report = await home.run('report', 'r', '--format', 'ndjson');
    expect(wordsOf(eventsIn(report))).toEqual([
      'version',
      'tenant_complete acme drift drift',
      'diagnostic none',
      'tenant_complete none drift failed',
      'fleet_complete drift',
    ]);
  });

  test('of an apply: first of its plans, then of what is written', async () => {
    const home = await fleetOf(['acme']);
    const said = await home.run('apply', '--auto-approve', '--format', 'ndjson');
    expect(wordsOf(eventsIn(said))).toEqual([
      'version',
      'fleet_start plan',
      'tenant_start acme plan',
      'tenant_complete acme plan changes',
      'fleet_start apply',
      'tenant_start acme apply',
      'tenant_complete acme apply applied',
      'fleet_complete apply',
    ]);
  });

  test('of an apply that begins no tenant', async () => {
    const home = await fleetOf(
      ['acme', 'globex'],
      'fleet: { tenants: { from: tenants/* }, defaults: { paths: [base] }, stop: { changed_tenants: 1 } }',
    );
    const said = await home.run('apply', '--auto-approve', '--format', 'ndjson');
    expect(said.code).toBe(3);
    expect(wordsOf(eventsIn(said)).slice(-4)).toEqual([
      'tenant_complete acme apply not-run',
      'tenant_complete globex apply not-run',
      'diagnostic',
      'fleet_complete apply',
    ]);
  });
});

/** @param make what watches; a fleet of four tenants where it is left out */
function watched(animated: boolean, make?: (context: Context) => FleetWatch) {
  const shown: (string | undefined)[] = [];
  let now = 0;
  const context = {
    err: {
      ...silentOutlet((lines) => void shown.push(lines)),
      animated,
      rows: 6,
      style: { color: false, width: 80 },
    },
    clock: { monotonic: () => now },
  } as unknown as Context;
  const watch = make?.(context) ?? fleetWatch(context, { run: 'r', command: 'drift' }, 4);
  return { watch, shown, wait: (milliseconds: number) => void (now += milliseconds) };
}
const ended = (tenant: string) => withoutResult(tenant, 'failed', 'x');

describe('lines', () => {
  test('a tenant keeps its line; what ends leaves the totals and the time to go', () => {
    const { watch, shown, wait } = watched(true);
    const first = watch.begin('a');
    wait(2000);
    watch.begin('b');
    wait(2000);
    first?.('reading accounts 1');
    expect(shown.at(-1)).toBe(
      'a        4 s  reading accounts 1\nb        2 s  begins\n0 of 4 tenants · 4 s',
    );
    wait(1000);
    watch.end(ended('a'), true);
    expect(shown.at(-1)).toBe(
      'b        3 s  begins\n1 of 4 tenants · 5 s · about 15 s to go · 1 failed',
    );
    wait(1000);
    watch.begin('c');
    expect(shown.at(-1)).toMatch(/^c .*\nb /);
    watch.close();
    expect(shown.at(-1)).toBeUndefined();
  });

  test('of a queue hold no number of tenants, and no time to go', () => {
    const { watch, shown, wait } = watched(true, fleetLines);
    watch.begin('a');
    watch.begin('b');
    wait(1000);
    watch.end(ended('a'), true);
    expect(shown.at(-1)).toBe('b        1 s  begins\n1 tenant · 1 s · 1 failed');
    wait(1000);
    watch.leave('b');
    expect(shown.at(-1)).toBe('1 tenant · 2 s · 1 failed');
    watch.close();
  });

  test('are not drawn for every event, and tell nothing by what was done before', () => {
    const { watch, shown, wait } = watched(true);
    watch.begin('a');
    watch.begin('b');
    expect(shown).toHaveLength(1);
    wait(1000);
    watch.end(ended('c'), false);
    expect(shown.at(-1)).not.toContain('to go');
    watch.close();
  });

  test('there are none where stderr is no terminal', () => {
    const { watch, shown } = watched(false);
    expect(watch.begin('a')).toBeUndefined();
    watch.end(ended('a'), true);
    watch.hide();
    watch.close();
    expect(shown).toEqual([]);
  });
});
