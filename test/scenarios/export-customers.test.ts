// `trueup export` of a service of 40 customers, through the built command: by kind, account and filter, split into a
// folder per customer, with equal rules folded. What is written validates, and its plan changes nothing.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Estate } from '../../src/emulator/index.js';
import type { PlanDocument } from '../../src/model/index.js';
import { box, type Box } from '../support/box.js';
import { folder, type Folder } from '../support/cli.js';

const uuid = (index: number): string =>
  `${String(index).padStart(8, '0')}-97c4-11f0-8a51-3d2c9b7f6e10`;
const customers = Array.from({ length: 40 }, (_, index) => ({
  id: String(1001 + index),
  account: '1',
  name: `Customer ${String.fromCodePoint(65 + (index % 26))}${Math.floor(index / 26)}`,
}));
/** Both names are one to some disks, and one is a device to Windows. */
const hostile = ['NUL', '../../escape', 'Caf\u00e9', 'CAFE\u0301'];
const accounts = [
  { id: '1', account: null, name: 'Headquarters' },
  ...customers.map((one, index) => ({ ...one, name: hostile[index] ?? one.name })),
  { id: '2001', account: '1010', name: 'Depot' },
  { id: '2002', account: '1011', name: 'Depot' },
];
const estate: Estate = {
  version: 1,
  root: '1',
  next_id: 5000,
  records: {
    accounts,
    alert_push_destinations: [
      {
        destination_config_id: uuid(1),
        name: 'Pager',
        enabled: true,
        endpoint: { url: 'https://hooks.example.com/pager' },
        authentication: { secret: '*' },
      },
    ],
    alert_rules: [
      ...customers.map(({ id }, index) => ({
        alert_config_id: uuid(100 + index),
        associated_accounts: [Number(id)],
        filter_criteria: { alert_type__in: ['modem_wan_disconnected'] },
        http_destinations: [uuid(1)],
      })),
      {
        alert_config_id: uuid(200),
        associated_accounts: [1010],
        filter_criteria: { alert_type__in: ['cpu_utilization'] },
        http_destinations: [uuid(1)],
        schedule: 'daily',
      },
      {
        alert_config_id: uuid(201),
        associated_accounts: [1010, 1011],
        filter_criteria: { alert_type__in: ['memory_utilization'] },
        http_destinations: [uuid(1)],
      },
    ],
    account_authorizations: [
      { id: '9001', user: '71', account: '1', role: 'administrator' },
      { id: '9002', user: '72', account: '2001', role: 'full_access_user' },
    ],
  },
  users: [
    { id: '71', email: 'ada@example.com' },
    { id: '72', email: 'ben@example.com' },
  ],
};

let service: Box;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  service = await box(estate);
  ({ env } = service);
});
afterAll(() => service.close());

async function planOf(home: Folder, ...args: readonly string[]): Promise<PlanDocument> {
  await home.expect(0, ['validate', ...args], { env });
  const { stdout } = await home.expect(
    0,
    ['plan', ...args, '--detailed-exitcode', '--format', 'json'],
    { env },
  );
  return JSON.parse(stdout) as PlanDocument;
}

const empty = { create: 0, update: 0, delete: 0 };

describe('export of 40 customers', () => {
  test('split into a folder per customer, plans empty', async () => {
    const home = folder();
    const { stdout } = await home.expect(0, ['export', '--split', 'account', '--out', 'live'], {
      env,
    });
    expect(stdout.trim().split('\n')).toHaveLength(41);
    const folders = readdirSync(join(home.path, 'live')).toSorted();
    expect(folders).toHaveLength(41);
    expect(folders).toEqual(
      expect.arrayContaining([
        'shared.yaml',
        'nul-account',
        'escape',
        'cafe',
        'cafe-2',
        'customer-e0',
      ]),
    );
    expect(existsSync(join(home.path, 'escape'))).toBe(false);

    const shared = home.read('live/shared.yaml');
    expect(shared.match(/adopt: "00000[0-9]+-97c4/g)).toEqual([
      'adopt: "00000001-97c4',
      'adopt: "00000201-97c4',
    ]);
    expect(home.read('live/customer-e0/account.yaml')).toBe(`accounts:
  customer-e0:
    name: Customer E0
    account: "\${accounts.headquarters.id}"
    lifecycle: { adopt: "1005" }

alert_rules:
  # Customer E0: modem_wan_disconnected → Pager
  customer-e0-modem-wan-disconnected-pager:
    associated_accounts: ["\${accounts.customer-e0.id}"]
    filter_criteria:
      alert_type__in: [modem_wan_disconnected]
    http_destinations: ["\${alert_push_destinations.pager.destination_config_id}"]
    lifecycle: { adopt: "00000104-97c4-11f0-8a51-3d2c9b7f6e10" }
`);
    const tenth = home.read('live/customer-j0/account.yaml');
    expect(tenth).toContain('  depot:\n');
    expect(tenth).toContain('schedule: daily');
    expect(tenth).toContain('account: "${accounts.depot.id}"');

    const plan = await planOf(home);
    expect(plan.summary).toMatchObject({ adopt: 88, writes: empty });
    expect(Object.values(plan.unmanaged).every((count) => count === 0)).toBe(true);

    await home.expect(0, ['apply', '--auto-approve'], { env });
    expect((await home.expect(0, ['export'], { env })).stderr).toContain('nothing to write');
  });

  test('split: a changed rule of one customer is written into its folder', async () => {
    const own = await box(estate);
    const home = folder();
    try {
      const there = { env: own.env };
      await home.expect(0, ['export', '--split', 'account', '--out', 'live'], there);
      await home.expect(0, ['apply', '--auto-approve'], there);
      own.tamper('alert_rules', (rules) =>
        rules.map((one) =>
          one['alert_config_id'] === uuid(104)
            ? { ...one, filter_criteria: { alert_type__in: ['cpu_utilization'] } }
            : one,
        ),
      );
      const { stdout } = await home.expect(0, ['export', '--update'], there);
      expect(stdout).toContain('--- a/live/customer-e0/account.yaml');
      expect(stdout).toContain('+      alert_type__in: [cpu_utilization]');
      await home.expect(0, ['plan', '--detailed-exitcode'], there);
    } finally {
      await own.close();
    }
  });

  test('overwrites nothing, and leaves nothing behind', async () => {
    const home = folder();
    mkdirSync(join(home.path, 'live/Customer-E0'), { recursive: true });
    const { stderr } = await home.expect(1, ['export', '--split', 'account', '--out', 'live'], {
      env,
    });
    expect(stderr).toContain('[exists]');
    expect(readdirSync(join(home.path, 'live'))).toEqual(['Customer-E0']);
    expect(readdirSync(home.path)).toEqual(['live']);
  });

  test('of one account, with what it names and does not hold', async () => {
    const home = folder();
    const { stdout, stderr } = await home.expect(
      0,
      ['export', '--account', 'Customer J0', '--out', 'live'],
      { env },
    );
    expect(stdout).toContain('live/alert_rules.yaml');
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
      'alert_rules that also name accounts outside of the one asked for are left out: Customer J0 and 1 more: memory_utilization → Pager.',
    );
    expect(home.read('live/alert_rules.yaml')).toContain(
      `  # ${uuid(1)} is the alert push destination Pager, which is not exported`,
    );
    expect(home.read('live/accounts.yaml')).toContain(
      '# 1 is the account Headquarters, which is not exported',
    );
    expect(home.read('live/accounts.yaml')).toContain('account: "${accounts.customer-j0.id}"');
    expect(home.read('live/account_authorizations.yaml')).toContain(
      '  # user 72 on Depot\n  user-72-on-depot:\n    user: "72"',
    );
    expect((await planOf(home)).summary).toMatchObject({ adopt: 5, writes: empty });
  });

  test('with users, names them and their roles by e-mail address', async () => {
    const home = folder();
    home.write('trueup.yaml', 'settings: { kinds: [users] }\n');
    await home.expect(0, ['export', '--out', 'live'], { env });
    expect(home.read('live/users.yaml')).toMatch(/^ {2}ada-example-com:\n {4}email: "ada@/m);
    expect(home.read('live/account_authorizations.yaml')).toContain(`  # ben@example.com on Depot
  ben-example-com-on-depot:
    user: "\${users.ben-example-com.id}"
    account: "\${accounts.depot.id}"
`);
    expect((await planOf(home)).summary).toMatchObject({ writes: empty });
    await home.expect(0, ['apply', '--auto-approve'], { env });
    const { stdout } = await home.expect(0, ['get', 'account_authorizations'], { env });
    expect(stdout).toMatch(/^9002 +ben@example\.com on Depot +72 /m);
  });

  test('of some kinds, and of what a filter finds', async () => {
    const home = folder();
    const rules = await home.expect(0, ['export', 'alert_rules'], { env });
    expect(rules.stdout).not.toContain('\naccounts:');
    expect(rules.stdout).toContain('customer-e0: { account: "1005", adopt:');
    home.write('trueup.yaml', rules.stdout);
    expect((await planOf(home)).summary).toMatchObject({ adopt: 42, writes: empty });

    const named = ['export', 'accounts', '--filter', 'name__in=Depot,Customer J0'];
    const { stdout } = await home.expect(0, named, { env });
    expect(stdout.match(/adopt: "(\d+)"/g)).toEqual([
      'adopt: "1010"',
      'adopt: "2001"',
      'adopt: "2002"',
    ]);
    const one = await home.expect(0, [...named, '--account', '1011'], { env });
    expect(one.stdout.match(/adopt: "(\d+)"/g)).toEqual(['adopt: "2002"']);
    const hcl = await home.expect(0, [...named, '--format', 'hcl'], { env });
    expect(hcl.stdout.match(/^resource /gm)).toHaveLength(3);
    expect(hcl.stdout).toContain('# 1 is the account Headquarters, which is not exported');
  });

  test.each<[string, number, readonly string[], string]>([
    ['a kind', 1, ['export', 'alert_rule'], 'Did you mean `alert_rules`?'],
    ['an account', 1, ['export', '--account', 'Customer JO'], 'Did you mean `Customer J0`?'],
    [
      'a name of two accounts',
      5,
      ['export', '--account', 'Depot'],
      '2001 (below Customer J0), 2002 (below Customer K0)',
    ],
    ['a filter', 1, ['export', 'accounts', '--filter', 'nmae=x'], 'Did you mean `name`?'],
    [
      'a filter without a value',
      1,
      ['export', 'accounts', '--filter', 'name'],
      '--filter takes name=value',
    ],
    ['a filter of no kind', 1, ['export', '--filter', 'name=x'], '--filter needs a KIND'],
    [
      'folders of another form',
      1,
      ['export', '--split', 'account', '--format', 'hcl', '--out', 'x'],
      '--split writes YAML, not hcl',
    ],
    ['folders on standard output', 1, ['export', '--split', 'account'], 'Name a folder'],
  ])('refuses %s', async (_, code, args, said) => {
    const home = folder();
    const { stdout, stderr } = await home.expect(code, args, { env });
    expect(stdout).toBe('');
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(said);
    expect(readdirSync(home.path)).toEqual([]);
  });

  test('says the same of a filter as get', async () => {
    const home = folder();
    const words = ['accounts', '--filter', 'nmae=x'];
    const [exported, got] = [
      await home.run(['export', ...words], { env }),
      await home.run(['get', ...words], { env }),
    ];
    expect(exported.stderr).toContain('[unknown-filter]');
    expect([exported.code, exported.stderr]).toEqual([got.code, got.stderr]);
  });
});
