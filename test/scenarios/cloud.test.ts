// Commands that look at, or write down, what is in the cloud; credentials; environments; care of the state.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emulator, folder, small } from '../support/cli.js';

const estate = {
  version: 1,
  root: '1',
  users: [{ id: '70', email: 'ada@example.com' }],
  records: {
    accounts: [
      { id: '1', account: null, name: 'Headquarters' },
      { id: '2', account: '1', name: '=HYPERLINK("http://evil")' },
      { id: '3', account: '1', name: 'O\'Brien & "Sons", \u001b[31mred' },
      { id: '4', account: '2', name: 'Dépôt Nord' },
    ],
    alert_push_destinations: [
      {
        destination_config_id: '0de06d30-aa9b-11f0-9b22-116adc8ab9a4',
        name: 'Ticket desk',
        enabled: true,
        endpoint: { url: 'https://hooks.example.com/t' },
        authentication: { secret: 'x' },
      },
    ],
    alert_rules: [
      {
        alert_config_id: '1de06d30-aa9b-11f0-9b22-116adc8ab9a4',
        associated_accounts: ['3'],
        filter_criteria: { alert_type__in: ['account_locked'] },
        http_destinations: ['0de06d30-aa9b-11f0-9b22-116adc8ab9a4'],
      },
    ],
    account_authorizations: [
      { id: '900', user: '70', account: '1', role: 'administrator' },
      { id: '901', user: '70', account: '2', role: 'read_only_user' },
    ],
  },
};

const seeded = () => folder({ 'estate.json': JSON.stringify(estate) });

describe('get', () => {
  test('forms', async () => {
    const home = seeded();
    const { env } = await emulator(home, ['--seed', 'estate.json']);
    const get = async (...args: string[]): Promise<string> =>
      (await home.expect(0, ['get', ...args], { env })).stdout;
    const records = JSON.parse(await get('accounts', '-o', 'json')) as {
      id: string;
      account: string | null;
      resource_url: string;
    }[];
    expect(records.map(({ id }) => id)).toEqual(['1', '2', '3', '4']);
    expect(records[3]).toMatchObject({
      account: `${env['TRUEUP_V2_URL']}/accounts/2/`,
      resource_url: `${env['TRUEUP_V2_URL']}/accounts/4/`,
    });
    expect(await get('accounts')).toMatch(
      /^ID +NAME +ACCOUNT +IS_DISABLED\n1 +Headquarters +false\n/,
    );
    const csv = (await get('accounts', '--output=csv')).split('\r\n');
    expect(csv).toContain(`2,"'=HYPERLINK(""http://evil"")",1,false`);
    expect(csv).toContain('3,"O\'Brien & ""Sons"", \\u001b[31mred",1,false');
    expect(await get('account_authorizations', '-o', 'yaml')).toContain('role: "administrator"');
    for (const form of ['table', 'json', 'yaml', 'csv'])
      expect(await get('accounts', '-o', form)).not.toContain('\u001b');
  });

  test("the API reference's filters, and no others", async () => {
    const home = seeded();
    const { env } = await emulator(home, ['--seed', 'estate.json']);
    const ids = async (...args: string[]): Promise<unknown[]> =>
      (
        JSON.parse((await home.expect(0, ['get', ...args, '-o', 'json'], { env })).stdout) as {
          id: string;
        }[]
      ).map(({ id }) => id);
    expect(await ids('accounts', '--filter', 'account=1')).toEqual(['2', '3']);
    expect(await ids('accounts', '--filter', 'id__in=1,4')).toEqual(['1', '4']);
    const many = Array.from({ length: 250 }, (_, index) => 251 - index).join(',');
    expect(
      (await ids('accounts', '--filter', `id__in=${many},1`)).toSorted(
        (a, b) => Number(a) - Number(b),
      ),
    ).toEqual(await ids('accounts', '--filter', 'id__in=1,2,3,4'));
    expect(await ids('account_authorizations', '--filter', 'search[role]=admin')).toEqual(['900']);
    for (const wrong of [
      ['--filter', 'search[]=admin'],
      ['--filter', 'role=a', '--filter', 'filter[role]=b'],
      ['900', '--filter', 'role=a'],
    ])
      expect(
        (await home.expect(1, ['get', 'account_authorizations', ...wrong], { env })).stderr,
      ).toContain('filter');
    expect(await ids('accounts', '4')).toEqual(['4']);
    expect(await ids('account_authorizations', '--filter', 'role=administrator')).toEqual(['900']);
    expect(await ids('account_authorizations', '--filter', 'filter[role]=read_only_user')).toEqual([
      '901',
    ]);
    expect(await ids('account_authorizations', '901')).toEqual(['901']);
    for (const args of [
      ['accounts', '99'],
      ['account_authorizations', '99'],
    ])
      expect((await home.expect(1, ['get', ...args], { env })).stderr).toContain('99');
    expect(
      (await home.expect(1, ['get', 'accounts', '--filter', 'nmae=x'], { env })).stderr,
    ).toMatch(/Did you mean `name`/);
    expect((await home.expect(1, ['get', 'acounts'], { env })).stderr).toMatch(
      /Did you mean `accounts`/,
    );
    expect(
      (await home.expect(1, ['get', 'accounts', '--filter', 'name'], { env })).stderr,
    ).toContain('name=value');
  });

  test('an answer that is no proof is an error, never an empty list', async () => {
    const home = seeded();
    for (const fault of [
      'status=401',
      'status=404',
      'html',
      'truncate',
      'foreign-next,times=0',
      'loop-next',
    ]) {
      const { env } = await emulator(home, ['--seed', 'estate.json', '--fault', fault]);
      const { code, stdout, stderr } = await home.run(['get', 'accounts', '-o', 'json'], { env });
      expect([fault, code, stdout === '']).toEqual([
        fault,
        fault === 'foreign-next,times=0' ? 0 : 1,
        fault !== 'foreign-next,times=0',
      ]);
      expect(stderr).not.toContain('    at ');
    }
  });
});

describe('export', () => {
  test('writes declarations that plan empty, touches no state, overwrites nothing', async () => {
    const home = seeded();
    const { env } = await emulator(home, ['--seed', 'estate.json']);
    await home.expect(0, ['export', '--out', 'found'], { env });
    expect(readdirSync(join(home.path, 'found')).toSorted()).toEqual([
      'account_authorizations.yaml',
      'accounts.yaml',
      'alert_push_destinations.yaml',
      'alert_rules.yaml',
    ]);
    const plan = await home.expect(
      0,
      ['plan', 'found', '--detailed-exitcode', '--format', 'json'],
      { env },
    );
    expect(JSON.parse(plan.stdout)).toMatchObject({
      summary: { adopt: 8, create: 0, update: 0 },
      unmanaged: {},
    });
    expect(existsSync(join(home.path, '.trueup'))).toBe(false);
    const before = home.read('found/accounts.yaml');
    expect((await home.expect(1, ['export', '--out', 'found'], { env })).stderr).toContain(
      '[exists]',
    );
    expect(home.read('found/accounts.yaml')).toBe(before);
    await home.expect(0, ['apply', 'found', '--auto-approve'], { env });
    expect((await home.expect(0, ['export'], { env })).stdout).toBe('');
    expect((await home.expect(0, ['export', '--all'], { env })).stdout).toContain('depot-nord');
  });
});

describe('credentials', () => {
  const v2 = [
    'TRUEUP_V2_URL',
    'TRUEUP_MGR_API_ID',
    'TRUEUP_MGR_API_KEY',
    'TRUEUP_VND_API_ID',
    'TRUEUP_VND_API_KEY',
  ];
  const only = (
    env: Readonly<Record<string, string>>,
    names: readonly string[],
  ): Record<string, string> => Object.fromEntries(names.map((name) => [name, env[name] ?? '']));
  const accounts = 'accounts: { a: { name: A } }';

  test('only what the declared kinds need is required', async () => {
    const home = folder({ 'estate.json': JSON.stringify(estate), 'a.yaml': accounts });
    const { env } = await emulator(home, ['--seed', 'estate.json']);
    await home.expect(0, ['plan'], { env: only(env, v2) });
    expect((await home.expect(1, ['plan'], { env: only(env, v2.slice(1)) })).stderr).toContain(
      'TRUEUP_V2_URL',
    );
    expect((await home.expect(1, ['plan'], { env: only(env, v2.slice(0, 4)) })).stderr).toContain(
      'TRUEUP_VND_API_KEY',
    );
    home.write(
      'a.yaml',
      'account_authorizations: { ada: { user: "70", account: "1", role: administrator } }',
    );
    expect((await home.expect(1, ['plan'], { env: only(env, v2) })).stderr).toMatch(
      /TRUEUP_V3_URL[\s\S]*TRUEUP_V3_TOKEN/,
    );
    await home.expect(0, ['plan'], { env: only(env, ['TRUEUP_V3_URL', 'TRUEUP_V3_TOKEN']) });
  });

  test('may lie in files', async () => {
    const home = folder({ 'a.yaml': accounts });
    const { env } = await emulator(home);
    const { TRUEUP_VND_API_KEY: key = '', ...rest } = env;
    home.write('key', `${key}\n`);
    await home.expect(0, ['plan'], {
      env: { ...rest, TRUEUP_VND_API_KEY_FILE: join(home.path, 'key') },
    });
    expect(
      (
        await home.expect(1, ['plan'], {
          env: { ...rest, TRUEUP_VND_API_KEY_FILE: join(home.path, 'nokey') },
        })
      ).stderr,
    ).toMatch(/file that TRUEUP_VND_API_KEY_FILE names cannot be read/);
    expect(
      (
        await home.expect(1, ['plan'], {
          env: { ...env, TRUEUP_VND_API_KEY_FILE: join(home.path, 'key') },
        })
      ).stderr,
    ).toContain('both set');
  });

  test('never travel in the clear to another machine', async () => {
    const home = folder({ 'a.yaml': accounts });
    const { env } = await emulator(home);
    const { stderr } = await home.expect(1, ['plan'], {
      env: { ...env, TRUEUP_V2_URL: 'http://192.0.2.1/api/v2' },
    });
    expect(stderr).toContain('plain http');
  });

  test('a deployment may name the headers otherwise', async () => {
    const home = folder({
      'a.yaml': `settings: { v2_headers: { X-MGR-API-ID: X-Other } }\n${accounts}`,
    });
    const { env } = await emulator(home);
    expect((await home.expect(1, ['plan'], { env })).stderr).toContain('401');
  });

  test('doctor tells what is there and never shows it', async () => {
    const home = folder({ 'a.yaml': accounts });
    const { env } = await emulator(home);
    const { stdout } = await home.expect(0, ['doctor'], { env });
    for (const name of Object.keys(env)) expect(stdout).toContain(name);
    for (const value of Object.values(env).filter((one) => !one.startsWith('http')))
      expect(stdout).not.toContain(value);
    expect(stdout).toMatch(/ok +clock +agrees/);
    expect((await folder().expect(0, ['doctor'], { env })).stdout).toMatch(/note +declarations/);
    const bare = await home.expect(1, ['doctor']);
    const nowhere = await folder().expect(1, ['export']);
    expect([nowhere.stdout, nowhere.stderr.includes('TRUEUP_V2_URL')]).toEqual(['', true]);
    expect(bare.stdout).toMatch(/BAD +TRUEUP_V2_URL +not set/);
    expect(bare.stdout).toMatch(/note +TRUEUP_V3_TOKEN +not set/);
    const wrong = await home.expect(1, ['doctor'], {
      env: { ...env, TRUEUP_MGR_API_KEY: 'guessed-wrong' },
    });
    expect(wrong.stdout).toMatch(/BAD +v2 responds/);
    expect(wrong.stdout + wrong.stderr).not.toContain('guessed-wrong');
  });
});

describe('environments', () => {
  test('keep a state of their own, whatever the shared settings name', async () => {
    const home = folder({
      'trueup.yaml':
        'settings: { target: emulator, state: shared/state.json }\nvariables: { name: none }\naccounts: { a: { name: "${var.name}" } }\n',
      'trueup.prod.yaml': 'variables: { name: production }\n',
      'trueup.lab.yaml': 'settings: { state: lab/state.json }\nvariables: { name: laboratory }\n',
    });
    await home.expect(0, ['apply', '--auto-approve']);
    await home.expect(0, ['apply', '--auto-approve', '--env', 'prod']);
    await home.expect(0, ['apply', '--auto-approve'], { env: { TRUEUP_ENV: 'lab' } });
    const names = (path: string): unknown =>
      (JSON.parse(home.read(path)) as { resources: Record<string, { observed: { name: string } }> })
        .resources['accounts.a']?.observed.name;
    expect([
      names('shared/state.json'),
      names('.trueup/state.prod.json'),
      names('lab/state.json'),
    ]).toEqual(['none', 'production', 'laboratory']);
    expect((await home.expect(1, ['plan', '--env', '../prod'])).stderr).toContain('--env');
  });
});

describe('care of the state', () => {
  test('list, show, mv, rm, import', async () => {
    const home = folder({ 'trueup.yaml': small });
    await home.expect(0, ['apply', '--auto-approve']);
    const id = (
      JSON.parse((await home.expect(0, ['state', 'show', 'accounts.field-ops'])).stdout) as {
        id: string;
      }
    ).id;
    await home.expect(0, ['state', 'mv', 'accounts.field-ops', 'accounts.crew']);
    expect(
      JSON.parse((await home.expect(0, ['state', 'show', 'alert_rules.wan-down'])).stdout),
    ).toMatchObject({
      depends_on: expect.arrayContaining(['accounts.crew']) as unknown,
    });
    home.write('trueup.yaml', small.replaceAll('field-ops', 'crew'));
    expect((await home.expect(0, ['plan', '--detailed-exitcode'])).stdout).toContain('No changes');
    await home.expect(0, ['state', 'rm', 'accounts.crew']);
    expect((await home.expect(1, ['state', 'show', 'accounts.crew'])).stderr).toContain(
      'not in the state',
    );
    expect((await home.expect(1, ['import', 'accounts.crew', '999'])).stderr).toContain('999');
    await home.expect(0, ['import', 'accounts.crew', id]);
    expect((await home.expect(0, ['plan', '--detailed-exitcode'])).stdout).toContain('No changes');
    expect(statSync(join(home.path, '.trueup/state.json')).mode & 0o777).toBe(0o600);
  });

  test.each([
    [['state', 'show', 'accounts.nobody'], 'not in the state'],
    [['state', 'mv', 'accounts.field-ops', 'alert_rules.x'], 'not an address of accounts'],
    [['state', 'mv', 'accounts.field-ops', 'nonsense'], 'not an address of accounts'],
    [['state', 'rm', 'accounts.field-ops', 'accounts.nobody'], 'not in the state'],
    [['unlock', 'no-such-lock'], ''],
  ])('%j is refused and changes nothing', async (args, why) => {
    const home = folder({ 'trueup.yaml': small });
    await home.expect(0, ['apply', '--auto-approve']);
    const before = home.read('.trueup/state.json');
    expect((await home.expect(1, args)).stderr).toContain(why);
    expect(home.read('.trueup/state.json')).toBe(before);
  });
});

describe('the emulator', () => {
  test('keeps its data, and complains about what is none', async () => {
    const home = folder({ 'a.yaml': 'accounts: { a: { name: A } }', 'broken.json': '{' });
    const first = await emulator(home, ['--data', 'cloud.json']);
    await home.expect(0, ['apply', '--auto-approve'], { env: first.env });
    first.child.kill('SIGKILL');
    await first.ended;
    const second = await emulator(home, ['--data', 'cloud.json']);
    expect((await home.expect(0, ['get', 'accounts'], { env: second.env })).stdout).toMatch(
      /\bA\b/,
    );
    expect(
      (await home.expect(0, ['plan', '--detailed-exitcode'], { env: second.env })).stdout,
    ).toContain('No changes');
    second.child.kill('SIGTERM');
    expect((await second.ended).code).toBe(143);
    for (const [args, why] of [
      [['--seed', 'broken.json'], 'broken.json'],
      [['--seed', 'missing.json'], 'missing.json'],
      [['--fault', 'gremlins'], 'latency'],
      [['--port', '99999'], '--port'],
      [['--data', '.'], 'folder'],
    ] as const) {
      const { stderr } = await home.expect(1, ['emulator', ...args]);
      expect(stderr).toContain(why);
      expect(stderr).not.toContain('unforeseen');
    }
  });
});

test('schema: all of it, or one kind', async () => {
  const home = folder();
  expect(JSON.parse((await home.expect(0, ['schema'])).stdout)).toHaveProperty(
    'properties.accounts',
  );
  expect(JSON.parse((await home.expect(0, ['schema', 'alert_rules'])).stdout)).toHaveProperty(
    'additionalProperties.properties.http_destinations',
  );
  expect((await home.expect(1, ['schema', 'alert_rule'])).stderr).toContain('Did you mean');
});
