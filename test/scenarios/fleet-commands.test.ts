// A fleet as the built command runs it: signals, processes that are killed, many tenants.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AccountCalls } from '../../src/emulator/index.js';
import type { FleetDocument } from '../../src/model/index.js';
import { atTerminal, emulator, folder, type Folder } from '../support/cli.js';
import { repository } from '../support/git.js';

const names = ['a', 'b', 'c', 'd'];
const base = `alert_push_destinations:
  pager: { name: On-call pager, enabled: true, endpoint: { url: https://hooks.example.com/alerts } }
`;

const filesOf = (more = ''): Readonly<Record<string, string>> => ({
  'trueup.fleet.yaml': `fleet:\n  tenants: { from: tenants/* }\n  defaults: { paths: [base] }\n  concurrency: 1\n${more}`,
  'base/base.yaml': base,
  ...Object.fromEntries(names.map((name) => [`tenants/${name}/t.yaml`, 'variables: { x: y }\n'])),
});
const fleetFolder = (more?: string): Folder => folder(filesOf(more));

/** One account for each tenant. */
const accounts = (home: Folder, ...faults: readonly string[]) =>
  emulator(home, [
    ...names.flatMap((name) => ['--tenant', name]),
    ...faults.flatMap((fault) => ['--fault', fault]),
  ]);

describe('a signal', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    '%s ends what runs, begins nothing more, and the run is resumed',
    async (signal, code) => {
      const home = fleetFolder();
      const cloud = await accounts(home, 'b:latency=300,method=POST');
      const words = ['fleet', 'apply', '--auto-approve', '--run', 'r'];
      const started = home.start(words, { env: cloud.env });
      // The plans are printed; `a` is applied, and `b` waits for its response.
      await started.says('\n\na: Applied');
      started.child.kill(signal);
      const ended = await started.ended;
      expect(ended.code, ended.stderr).toBe(code);
      expect(ended.stderr).toContain('what runs is finished first');
      expect(ended.stdout).toContain('d: NOT RUN The run was interrupted.');
      expect(existsSync(join(home.path, '.trueup/tenants/b/state.json.lock'))).toBe(false);
      const again = await home.expect(0, words, { env: cloud.env });
      expect(again.stdout).toContain('4 tenants:');
      const { stdout } = await home.expect(0, ['fleet', 'drift', '--detailed-exitcode'], {
        env: cloud.env,
      });
      expect(stdout).toContain('4 tenants: 4 as declared.');
      // Nothing was created twice.
      for (const name of names)
        expect(stdout).toContain(`${name}: No drift. 1 object is as declared.`);
    },
  );
});

test('a tenant whose apply is cut off is interrupted, and did not fail', async () => {
  const home = fleetFolder();
  home.write('base/more.yaml', base.replaceAll('pager', 'second').replaceAll('On-call', 'Second'));
  const cloud = await accounts(home, 'b:latency=500,method=POST');
  const words = ['fleet', 'apply', '--auto-approve', '--parallelism', '1'];
  const started = home.start(words, { env: cloud.env });
  const { origin } = new URL(cloud.env['A_TRUEUP_V2_URL'] ?? '');
  const isWriting = async (): Promise<boolean> => {
    const counts = await (await fetch(`${origin}/emulator/calls`)).json();
    return (counts as Readonly<Record<string, AccountCalls>>)['b']!.most_writes_at_once > 0;
  };
  await expect.poll(isWriting, { timeout: 20_000, interval: 20 }).toBe(true);
  started.child.kill('SIGINT');
  const { code, stdout } = await started.ended;
  expect(code).toBe(130);
  expect(stdout).toContain('b: INTERRUPTED Not all applied: 1 created');
  expect(stdout).toMatch(/^4 tenants: 1 applied, 2 not run, 1 interrupted\. /m);
});

test('SIGTERM between two stages ends the process and its report with 143', async () => {
  const home = fleetFolder('  order: [{ select: "tenant=a", then_wait: 10m }, { select: "*" }]\n');
  const cloud = await accounts(home);
  const words = ['fleet', 'apply', '--auto-approve', '--run', 'r', '--format', 'json'];
  const started = home.start(words, { env: cloud.env });
  await expect
    .poll(() => existsSync(join(home.path, '.trueup/fleet/r/a.json')), { timeout: 20_000 })
    .toBe(true);
  started.child.kill('SIGTERM');
  const { code, stdout } = await started.ended;
  expect(code).toBe(143);
  const document = JSON.parse(stdout) as FleetDocument;
  expect(document.exit).toBe(143);
  expect(document.summary).toEqual({ tenants: 4, applied: 1, 'not-run': 3 });
  expect(document.diagnostics).toMatchObject([{ summary: 'The run was interrupted.' }]);
  const report = await home.expect(143, ['fleet', 'report', 'r']);
  expect(report.stdout).toContain('b: NOT RUN The run was interrupted.');
});

test('a run that was killed goes on where it was', async () => {
  const home = fleetFolder();
  const cloud = await accounts(home, 'c:latency=2000');
  const words = ['fleet', 'drift', '--run', 'nightly'];
  const killed = home.start(words, { env: cloud.env });
  await killed.says('b: ');
  killed.child.kill('SIGKILL');
  await killed.ended;
  await home.expect(1, ['fleet', 'report', 'nightly']);
  await home.expect(0, words, { env: cloud.env });
  const { stdout } = await home.expect(0, ['fleet', 'report', 'nightly']);
  expect(stdout).toContain('4 tenants: 4 with drift. Run nightly.');
  expect(existsSync(join(home.path, '.trueup/fleet/nightly/a@2.json'))).toBe(false);
});

test('many commands at once are ended with the run, and warn of nothing', async () => {
  const many = Array.from({ length: 24 }, (_, at) => `t${at}: {}`).join(', ');
  const home = folder({
    'trueup.fleet.yaml': `fleet: { tenants: { ${many} }, concurrency: 24, defaults: { paths: [base], credentials: { command: [sh, -c, "echo > started-$0; sleep 60", "\${tenant}"] } } }`,
    'base/base.yaml': base,
  });
  const started = home.start(['fleet', 'drift']);
  await expect
    .poll(() => existsSync(join(home.path, 'started-t23')), { timeout: 20_000 })
    .toBe(true);
  started.child.kill('SIGINT');
  const { code, stderr, stdout } = await started.ended;
  expect(code).toBe(130);
  expect(stderr).not.toContain('MaxListeners');
  expect(stdout).toContain('24 tenants: 24 interrupted.');
});

test('only tenants that changed since a reference of git', async () => {
  const home = repository(filesOf());
  const words = ['fleet', 'validate', '--changed-since', 'HEAD'];
  const checked = async (): Promise<readonly string[]> =>
    (await home.expect(0, words)).stdout.trim().split('\n');
  expect(await checked()).toEqual(['0 tenants.']);
  expect((await home.expect(0, words)).stderr).toContain('differs from HEAD');
  home.write('tenants/b/t.yaml', 'variables: { x: z }\n');
  expect(await checked()).toEqual(['b: Valid: 1 declaration.', '', '1 tenant: 1 valid.']);
  home.write('base/base.yaml', base.replace('On-call', 'Night'));
  expect((await checked()).at(-1)).toBe('4 tenants: 4 valid.');
  const { stderr } = await home.expect(1, ['fleet', 'plan', '--changed-since', 'nowhere']);
  expect(stderr).toContain('There is no git reference "nowhere" here.');
});

test('at a terminal, each tenant that runs has a line of at most 79 columns; piped, there is none', async () => {
  const home = fleetFolder();
  const cloud = await accounts(home, 'a:latency=300', 'd:latency=300');
  const { code, screen } = atTerminal(home, ['fleet', 'drift'], { env: cloud.env });
  expect(code, screen).toBe(0);
  expect(screen).toMatch(/a +\d s {2}(?:begins|reading)/);
  expect(screen).toMatch(/3 of 4 tenants · \d+ s · about \d+ s to go · 3 with drift/);
  // oxlint-disable-next-line no-control-regex -- what moves the cursor
  const drawn = screen
    .split(/\n|\u001b\[\d*[A-K]|\r/)
    .map((line) => line.replaceAll(/\u001b\[\d*m/g, ''));
  for (const line of drawn.filter((one) => / s {2}| of 4 tenants/.test(one)))
    expect(line.length).toBeLessThan(80);
  // What is printed stays: nothing is drawn over it, nor beside it.
  for (const name of names) expect(drawn).toContain(`${name}: Drift: 1 missing; 0 in sync.`);
  expect(drawn).toContain('4 tenants: 4 with drift. Run ' + /Run (drift-\S+\.)/.exec(screen)![1]);
  const { stderr } = await home.expect(0, ['fleet', 'drift'], { env: cloud.env });
  expect(stderr).toBe('');
});

test('a watch in the folder of a fleet audits all tenants again and again, and ends in good order', async () => {
  const home = fleetFolder();
  const cloud = await accounts(home, 'd:latency=60000');
  const watch = home.start(
    [
      'watch',
      '--every',
      '1s',
      '--metrics-port',
      '0',
      '--metrics-tenants',
      '1',
      '--metrics-file',
      'm.prom',
    ],
    { env: cloud.env },
  );
  await watch.says('4 tenants: 3 with drift, 1 not run. (a, b, c');
  const file = join(home.path, 'm.prom');
  const read = (): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  await expect
    .poll(read, { timeout: 20_000 })
    .toContain('trueup_fleet_tenants{status="drift"} 3\n');
  const metrics = read();
  expect(metrics.match(/tenant_drift_objects\{.*/g)).toEqual([
    'tenant_drift_objects{tenant="a"} 1',
    'tenant_drift_objects{tenant="_other"} 2',
  ]);
  watch.child.kill('SIGTERM');
  const { code, stderr } = await watch.ended;
  expect([code, stderr.match(/^warning: .*/gm)], stderr).toEqual([
    143,
    ['warning: The pass takes longer than --every (1 s): d has not ended.'],
  ]);
  expect(existsSync(join(home.path, '.trueup/fleet'))).toBe(false);
});

test('tenants are not planned as one project', async () => {
  const home = fleetFolder();
  for (const words of [
    ['plan'],
    ['validate', '.'],
    ['apply', '--auto-approve'],
    ['destroy', '--auto-approve'],
  ]) {
    const { stderr, stdout } = await home.expect(1, words);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^error: \. is the folder of a fleet: its tenants are several projects/);
    expect(stderr.match(/^error/gm)).toHaveLength(1);
  }
  expect((await home.expect(0, ['validate', 'base', 'tenants/a'])).stdout).toContain('Valid');
  expect((await home.expect(0, ['state', 'list'])).stderr).not.toContain('error');
  // A project around it does not take its tenants in.
  const around = folder({ 'x.yaml': 'accounts: { x: { name: X } }\n', 'f/trueup.fleet.yaml': '' });
  expect((await around.expect(1, ['validate'])).stderr).toContain('f is the folder of a fleet');
});

test('a first fleet is valid as it is written', async () => {
  const home = folder();
  const { stdout } = await home.expect(0, ['init', '--fleet']);
  expect(stdout).toContain('wrote trueup.fleet.yaml');
  expect((await home.expect(0, ['fleet', 'validate'])).stdout).toContain('1 tenant: 1 valid.');
  const { stderr } = await home.expect(1, ['init', '--fleet', '--ci', 'github']);
  expect(stderr).toContain('--ci cannot be used with --fleet');
  const named = await home.expect(1, ['plan', 'trueup.fleet.yaml']);
  expect(named.stderr).toContain('is the file of a fleet');
  const { stdout: again } = await home.expect(0, ['init', '--fleet']);
  expect(again).toContain('trueup.fleet.yaml already exists and is not changed');
});

test('the folder of a fleet is none of the environment `fleet`', async () => {
  const home = fleetFolder();
  const { stderr } = await home.expect(1, ['fleet', 'validate', '--env', 'fleet']);
  expect(stderr).toContain('no environment of a fleet can be named fleet');
});

test('the emulator tells the calls of each tenant when it ends', async () => {
  const home = fleetFolder();
  const cloud = await accounts(home);
  await home.expect(0, ['fleet', 'drift', '--select', 'tenant=b'], { env: cloud.env });
  cloud.child.kill('SIGINT');
  const { stderr } = await cloud.ended;
  expect(stderr).toMatch(/^a: 0 calls/m);
  expect(stderr).toMatch(/^b: (?:1 call|[2-9]\d* calls), at most \d+ in 60 s and \d+ at once/m);
});

test('a bundle goes on after its apply was killed in the middle of a tenant', async () => {
  const home = fleetFolder();
  const cloud = await accounts(home, 'b:latency=300,method=POST');
  const env = cloud.env;
  await home.expect(0, ['fleet', 'apply', '--auto-approve'], { env });
  const more = ['north', 'south', 'east', 'west'].map((name) => `  ${name}: { name: ${name} }\n`);
  home.write('base/sites.yaml', `accounts:\n${more.join('')}`);
  await home.expect(0, ['fleet', 'plan', '--out', 'change.bundle'], { env });
  const words = ['fleet', 'apply', 'change.bundle', '--run', 'r', '--parallelism', '1'];
  const killed = home.start(words, { env });
  await killed.says('a: Applied');
  const journal = '.trueup/tenants/b/state.json.journal';
  await expect
    .poll(() => existsSync(join(home.path, journal)) && home.read(journal).includes('"result"'), {
      timeout: 20_000,
    })
    .toBe(true);
  killed.child.kill('SIGKILL');
  await killed.ended;
  const { stdout } = await home.expect(0, words, { env: { ...env, TRUEUP_SETTLE_SECONDS: '1' } });
  expect(stdout).toContain('4 tenants:');
  const drift = await home.expect(0, ['fleet', 'drift', '--detailed-exitcode'], { env });
  expect(drift.stdout).toContain('4 tenants: 4 as declared.');
  for (const name of names)
    expect(drift.stdout).toContain(`${name}: No drift. 5 objects are as declared, 1 unmanaged.`);
}, 60_000);
