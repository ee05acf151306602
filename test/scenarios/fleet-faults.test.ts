// What goes wrong with one tenant, or at one moment, of a fleet: others go on, nothing is left behind, and the same run
// completes. The emulator counts, so that no test measures time.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AccountCalls } from '../../src/emulator/index.js';
import { emulator, folder, type Folder } from '../support/cli.js';

const names = ['a', 'b', 'c', 'd', 'e', 'f'];

const fleetFolder = (): Folder =>
  folder({
    'trueup.fleet.yaml':
      'fleet: { tenants: { from: tenants/* }, defaults: { paths: [base] }, concurrency: 2 }\n',
    'base/base.yaml':
      'alert_push_destinations:\n  pager: { name: On-call pager, enabled: true, endpoint: { url: https://hooks.example.com } }\n',
    ...Object.fromEntries(names.map((name) => [`tenants/${name}/t.yaml`, 'variables: { x: y }\n'])),
  });

/** One account for each tenant. */
async function accounts(home: Folder, ...faults: readonly string[]) {
  const cloud = await emulator(home, [
    ...names.flatMap((name) => ['--tenant', name]),
    ...faults.flatMap((fault) => ['--fault', fault]),
  ]);
  const { origin } = new URL(cloud.env['A_TRUEUP_V2_URL'] ?? '');
  const calls = async (): Promise<Readonly<Record<string, AccountCalls>>> =>
    (await (await fetch(`${origin}/emulator/calls`)).json()) as Record<string, AccountCalls>;
  const total = async (): Promise<number> =>
    Object.values(await calls()).reduce((sum, one) => sum + one.calls, 0);
  return { ...cloud, calls, total };
}

const filesBelow = (home: Folder, path: string): readonly string[] =>
  readdirSync(join(home.path, path), { recursive: true, encoding: 'utf8' });
const resultsOf = (home: Folder): readonly string[] =>
  filesBelow(home, '.trueup/fleet').filter((path) => /^r\/[a-f]\.json$/.test(path));

test.each([
  ['hang', 'interrupted'],
  ['status=429,retry-after=100', 'failed'],
])('a tenant whose service answers with %s delays no other', async (fault, status) => {
  const home = fleetFolder();
  const cloud = await accounts(home, `a:${fault}`);
  const started = home.start(['fleet', 'drift', '--run', 'r'], { env: cloud.env });
  await expect
    .poll(() => resultsOf(home).toSorted(), { timeout: 20_000 })
    .toEqual(['r/b.json', 'r/c.json', 'r/d.json', 'r/e.json', 'r/f.json']);
  // It waits: nobody asks in its place, and it is not asked again.
  expect((await cloud.calls())['a']!.calls).toBeLessThanOrEqual(2);
  started.child.kill('SIGTERM');
  const { code, stdout } = await started.ended;
  expect(code).toBe(143);
  expect(stdout).toContain(`a: ${status.toUpperCase()}`);
  expect(stdout).toContain(`6 tenants: 5 with drift, 1 ${status}.`);
});

describe.each(['SIGINT', 'SIGTERM'] as const)('%s', (signal) => {
  test.each([
    ['drift', 1],
    ['drift', 4],
    ['apply', 7],
    ['apply', 17],
  ] as const)('ends %s at call %i, and the same run completes it', async (command, moment) => {
    const home = fleetFolder();
    const cloud = await accounts(home, 'latency=100');
    const words = ['fleet', command, ...(command === 'apply' ? ['--auto-approve'] : [])];
    const started = home.start([...words, '--run', 'r'], { env: cloud.env });
    await expect
      .poll(() => cloud.total(), { timeout: 20_000, interval: 5 })
      .toBeGreaterThanOrEqual(moment);
    started.child.kill(signal);
    const ended = await started.ended;
    expect(ended.code, ended.stderr).toBe(signal === 'SIGINT' ? 130 : 143);
    expect(ended.stderr).not.toContain('MaxListeners');
    expect(filesBelow(home, '.trueup').filter((path) => path.endsWith('.lock'))).toEqual([]);
    const again = await home.expect(0, [...words, '--run', 'r'], { env: cloud.env });
    expect(again.stdout).toMatch(
      command === 'drift' ? /^6 tenants: 6 with drift\./m : /^6 tenants: .*applied/m,
    );
    if (command === 'drift') return;
    const audit = await home.expect(0, ['fleet', 'drift', '--detailed-exitcode'], {
      env: cloud.env,
    });
    // Nothing was created twice, and nothing is missing.
    for (const name of names)
      expect(audit.stdout).toContain(`${name}: No drift. 1 object is as declared.`);
  });
});

test('a secret that a credential command prints as an error is shown nowhere', async () => {
  const home = fleetFolder();
  home.write(
    'trueup.fleet.yaml',
    'fleet: { tenants: { from: tenants/* }, defaults: { paths: [base], credentials: { command: [sh, -c, "echo s3cret >&2; echo s3cret; exit 0"] } } }\n',
  );
  const { stdout, stderr } = await home.expect(1, [
    'fleet',
    'drift',
    '--run',
    'r',
    '--debug',
    '--report',
    'html=r.html',
    '--report',
    'junit=r.xml',
    '--report',
    'json=r.json',
  ]);
  expect(stderr).toContain('the credential command of a gave nothing');
  const stored = filesBelow(home, '.trueup/fleet/r').map((path) =>
    home.read(`.trueup/fleet/r/${path}`),
  );
  const all = [stdout, stderr, ...stored, ...['r.html', 'r.xml', 'r.json'].map(home.read)];
  expect(stored.length).toBeGreaterThanOrEqual(5);
  expect(all.join('')).not.toContain('s3cret');
});
