// What `export` writes as HCL and as a program plans empty: with the real terraform, and with trueup.
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { terraformIn } from '../support/installed.js';
import { terraformIsHere } from '../support/terraform.js';
import { emulator, folder, type Folder } from '../support/cli.js';

const root = join(import.meta.dirname, '../..');
const estate = JSON.stringify({
  version: 1,
  root: '1001',
  next_id: 1100,
  records: {
    accounts: [
      { id: '1001', account: null, name: 'Headquarters' },
      { id: '1002', account: '1003', name: 'Depot "7" ${x} %{y}' },
      { id: '1003', account: '1001', name: 'North region', is_disabled: true },
    ],
    alert_push_destinations: [
      {
        destination_config_id: '0e1b2c40-97c4-11f0-8a51-3d2c9b7f6e10',
        name: 'Headquarters',
        enabled: false,
        endpoint: { url: 'https://hooks.example.com/pager' },
        authentication: { secret: '*' },
      },
    ],
    alert_rules: [
      {
        alert_config_id: '1a2c3d50-97c4-11f0-8a51-3d2c9b7f6e10',
        associated_accounts: [1002, 1003],
        associated_groups: [7],
        filter_criteria: { alert_type__in: ['data_cap_threshold'] },
        http_destinations: ['0e1b2c40-97c4-11f0-8a51-3d2c9b7f6e10'],
        settings: { data_cap_threshold: { percent: 80, note: '${x}' } },
        schedule: 'daily',
      },
    ],
    account_authorizations: [{ id: '9001', user: '71', account: '1002', role: 'administrator' }],
    configuration_managers: [
      {
        id: '6001',
        router: '5001',
        account: '1002',
        version_number: 1,
        suspended: true,
        configuration: [
          { system: { name: 'gate', users: { admin: { password: '*' } } }, lan: { mtu: 1400 } },
          [],
        ],
      },
    ],
  },
  users: [{ id: '71', email: 'ada@example.com' }],
});

async function exported(format: string): Promise<{
  readonly home: Folder;
  readonly env: Readonly<Record<string, string>>;
  readonly said: string;
}> {
  const home = folder({ 'estate.json': estate });
  const { env } = await emulator(home, ['--seed', 'estate.json']);
  const { stdout, stderr } = await home.expect(
    0,
    ['export', '--format', format, '--out', 'found'],
    { env },
  );
  return { home, env, said: `${stdout}${stderr}` };
}

/** As `npm install` would have it. */
function installed(home: Folder, library: string): void {
  const packages = {
    [library]: library,
    constructs: 'constructs',
    typescript: '@typescript/native',
    '@types/node': '@types/node',
  };
  const link = (to: string, at: string): void => {
    mkdirSync(dirname(join(home.path, at)), { recursive: true });
    symlinkSync(to, join(home.path, at));
  };
  for (const [name, from] of Object.entries(packages))
    link(join(root, 'node_modules', from), `found/node_modules/${name}`);
  link(root, 'found/node_modules/trueup');
  link('../typescript/bin/tsc', 'found/node_modules/.bin/tsc');
}

describe.runIf(terraformIsHere('export --format hcl, planned', 1))(
  'export --format hcl, planned',
  () => {
    it('is empty, and applied binds everything', async () => {
      const { home, env, said } = await exported('hcl');
      expect(said).toContain('trueup provider install');
      const terraform = await terraformIn(home, 'found', env);
      expect(await terraform('fmt', '-check')).toEqual({ code: 0, said: '' });
      const first = await terraform('plan', '-input=false', '-no-color');
      expect(first.said).toContain('Plan: 7 to import, 0 to add, 0 to change, 0 to destroy.');
      expect(
        (await terraform('apply', '-auto-approve', '-input=false', '-no-color')).said,
      ).toContain('7 imported, 0 added, 0 changed, 0 destroyed');
      expect(await terraform('plan', '-detailed-exitcode', '-input=false')).toMatchObject({
        code: 0,
      });
    });
  },
);

describe('export --format hcl', () => {
  it('goes to standard output as one text, and overwrites nothing', async () => {
    const { home, env } = await exported('hcl');
    const { stdout } = await home.expect(0, ['export', '--format', 'hcl'], { env });
    expect(stdout).toContain('required_providers');
    expect(stdout).toContain('resource "devicecloud_configuration_manager" "router-5001"');
    const before = home.read('found/accounts.tf');
    expect(
      (await home.expect(1, ['export', '--format', 'hcl', '--out', 'found'], { env })).stderr,
    ).toContain('[exists]');
    expect(home.read('found/accounts.tf')).toBe(before);
  });
});

describe.each(['cdktf', 'cdktn'])('export --format %s', (library) => {
  it('compiles, and plans empty', async () => {
    const { home, env, said } = await exported(library);
    expect(said).toContain('npm install');
    installed(home, library);
    const { stdout } = await home.expect(
      0,
      ['plan', 'found', '--detailed-exitcode', '--format', 'json'],
      { env: { ...env, HOME: home.path } },
    );
    expect(JSON.parse(stdout)).toMatchObject({
      summary: { adopt: 7, create: 0, update: 0, delete: 0 },
      unmanaged: {},
    });
    home.write(
      'found/main.ts',
      home.read('found/main.ts').replace("name: 'Headquarters'", 'name: 7'),
    );
    const wrong = await home.run(['plan', 'found'], { env: { ...env, HOME: home.path } });
    expect(wrong.code).toBe(1);
    expect(`${wrong.stdout}${wrong.stderr}`).toContain('main.ts');
  });
});
