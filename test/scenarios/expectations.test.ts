// Expectations through the real binary, against an emulator of its own process.
import { describe, expect, test } from 'vitest';
import { emulator, folder, type Folder } from '../support/cli.js';

const flags = { synched: true, suspended: false };
const estate = {
  version: 1,
  root: '1',
  users: [{ id: '70', email: 'ada@example.com' }],
  records: {
    accounts: [
      { id: '1', account: null, name: 'Headquarters' },
      { id: '2', account: '1', name: '\u001b[31m<b>Depot</b>|`::error::x' },
    ],
    account_authorizations: [
      { id: '900', user: '70', account: '1', role: 'administrator' },
      { id: '901', user: '70', account: '2', role: 'read_only_user' },
    ],
    configuration_managers: [
      {
        id: '30',
        router: '12',
        account: '2',
        ...flags,
        configuration: [{}, []],
        target: [{}, []],
        actual: [{}, []],
      },
      {
        id: '31',
        router: '7',
        account: '1',
        ...flags,
        synched: false,
        configuration: [{}, []],
        target: [{}, []],
        actual: [{}, []],
      },
    ],
  },
};

const project = (body: string): Folder =>
  folder({
    'estate.json': JSON.stringify(estate),
    'trueup.yaml': `# nothing but expectations\nexpectations:\n${body}`,
  });

const met = `  one-admin: { collection: account_authorizations, where: { role: administrator }, count: { min: 1, max: 2 } }
  on: { collection: configuration_managers, every: { required: [suspended], properties: { suspended: { const: false } } } }
`;
const failing = `  synched:
    collection: configuration_managers
    every: { required: [synched], properties: { synched: { const: true } } }
  named: { collection: accounts, every: { properties: { name: { pattern: "^[A-Za-z ]+$" } } }, count: { max: 1 } }
`;

describe('drift', () => {
  test('a project of expectations alone: met', async () => {
    const home = project(met);
    const { env } = await emulator(home, ['--seed', 'estate.json']);
    expect((await home.expect(0, ['validate'])).stdout).toBe(
      'Valid: 0 declarations, 2 expectations.\n',
    );
    const { stdout, stderr } = await home.expect(0, ['drift', '--detailed-exitcode'], { env });
    expect(stdout).toContain('Expectations: 2 met');
    expect(stdout).toContain('No drift. 0 objects are as declared');
    expect(stderr).toBe('');
    expect((await home.expect(0, ['plan', '--detailed-exitcode'], { env })).stdout).toContain(
      'No changes.',
    );
    expect((await home.expect(0, ['apply', '--auto-approve'], { env })).stdout).not.toContain(
      'xpectation',
    );
  });

  test('one that fails is drift, and says who offends', async () => {
    const home = project(met + failing);
    const { env } = await emulator(home, ['--seed', 'estate.json']);
    await home.expect(0, ['drift'], { env });
    const { stdout } = await home.expect(
      2,
      ['drift', '--detailed-exitcode', '--report', 'markdown=d.md', '--report', 'json=d.json'],
      { env },
    );
    expect(stdout).toContain('! failed expectations.synched: 1 of 2 records not as expected');
    expect(stdout).toContain('configuration_managers · trueup.yaml:5:3');
    expect(stdout).toContain('- 31: synched must be true');
    expect(stdout).toContain('; 2 records, at');
    expect(stdout).toContain('2 expectations failed');
    expect(stdout).not.toContain('No drift');
    const { expectations, summary } = JSON.parse(home.read('d.json')) as {
      expectations: { name: string; verdict: string; count?: string }[];
      summary: object;
    };
    expect(summary).toMatchObject({ drifted: 0, expectations_failed: 2 });
    expect(expectations.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['one-admin', 'met'],
      ['on', 'met'],
      ['synched', 'failed'],
      ['named', 'failed'],
    ]);
    expect(home.read('d.md')).toContain('- `31` synched must be true');
    for (const text of [stdout, home.read('d.md'), home.read('d.json')]) {
      expect(text).not.toContain('\u001b');
      expect(text).not.toContain('Depot');
    }
    const events = (await home.expect(2, ['drift', '--json', '--detailed-exitcode'], { env })).stdout.trim().split('\n').map((line) => JSON.parse(line) as { type: string; '@level': string }); // prettier-ignore
    expect(events.filter(({ type }) => type === 'expectation').map((one) => one['@level'])).toEqual(
      ['info', 'info', 'warn', 'warn'],
    );
  });

  test('what cannot be read is an error that hides nothing', async () => {
    const home = project(failing + met);
    const { env } = await emulator(home, ['--seed', 'estate.json']);
    const { stdout, stderr } = await home.expect(
      1,
      ['drift', '--detailed-exitcode', '--format', 'json'],
      { env: { ...env, TRUEUP_V3_TOKEN: '' } },
    );
    const { expectations } = JSON.parse(stdout) as {
      expectations: { name: string; verdict: string }[];
    };
    expect(expectations.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['synched', 'failed'],
      ['named', 'failed'],
      ['one-admin', 'unknown'],
      ['on', 'met'],
    ]);
    expect(stderr).toContain('expectations.one-admin could not be checked');
    expect(stderr).toContain('TRUEUP_V3_TOKEN');
  });

  test('every SIM of a fleet is active', async () => {
    const home = project(
      '  active:\n    collection: subscriptions\n    where: { label: fleet-a }\n    every: { required: [state], properties: { state: { const: ACTIVE } } }\n    count: { min: 1 }\n',
    );
    const sim = (imsi: string, state: string, label: string): object => ({
      imsi,
      iccid: `89${imsi}`,
      msisdn: `49${imsi}`,
      state,
      label,
    });
    home.write(
      'estate.json',
      JSON.stringify({
        ...estate,
        records: {
          ...estate.records,
          subscriptions: [
            sim('001010000000001', 'ACTIVE', 'fleet-a'),
            sim('001010000000002', 'PAUSE', 'fleet-a'),
            sim('001010000000003', 'PAUSE', 'fleet-b'),
          ],
        },
      }),
    );
    const { env } = await emulator(home, ['--seed', 'estate.json']);
    const { stdout } = await home.expect(2, ['drift', '--detailed-exitcode'], { env });
    expect(stdout).toContain('1 of 2 records not as expected');
    expect(stdout).toContain('- 001010000000002: state must be "ACTIVE"');
  });

  test('a pattern that would run away elsewhere is no trouble, and one that cannot be matched stops before anything is read', async () => {
    const home = project(
      '  a: { collection: accounts, every: { properties: { name: { pattern: "^(a+)+$" } } } }\n',
    );
    const { env } = await emulator(home, ['--seed', 'estate.json']);
    expect((await home.expect(2, ['drift', '--detailed-exitcode'], { env })).stdout).toContain(
      '2 of 2 records',
    );
    home.write(
      'trueup.yaml',
      'expectations:\n  a: { collection: accounts, every: { properties: { name: { pattern: "(a)\\\\1" } } } }\n',
    );
    for (const command of ['validate', 'plan', 'drift'])
      expect((await home.expect(1, [command])).stderr).toMatch(
        /invalid escape\s+sequence: `\\1`\s+trueup\.yaml:2:61 /,
      );
  });
});

test('doctor asks for the credentials of what is expected', async () => {
  const home = project(met);
  const { env } = await emulator(home, ['--seed', 'estate.json']);
  const without = (surface: string) => ({ env: { ...env, [`TRUEUP_${surface}_URL`]: '' } });
  expect((await home.expect(1, ['doctor'], without('V3'))).stdout).toMatch(/^BAD +TRUEUP_V3_URL/m);
  expect((await home.expect(0, ['doctor'], without('IOT'))).stdout).toMatch(
    /^note +TRUEUP_IOT_URL/m,
  );
  home.write(
    'trueup.yaml',
    'expectations:\n  a: { collection: subscriptions, where: { label: fleet-a }, count: { min: 1 } }\n',
  );
  expect((await home.expect(0, ['doctor'], without('V3'))).stdout).toMatch(/^note +TRUEUP_V3_URL/m);
  expect((await home.expect(1, ['doctor'], without('IOT'))).stdout).toMatch(
    /^BAD +TRUEUP_IOT_URL/m,
  );
});
