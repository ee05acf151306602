// Secrets through the command: what a state proves of them, what declarations may say, and that no output holds one.
import { createHmac, scryptSync } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256, type Entry, type SaltedFingerprint, type State } from '../../src/model/index.js';
import { scryptFingerprints } from '../../src/state/index.js';
import { encodeState } from '../../src/state/state-format.js';
import { emulator, folder, type Folder } from '../support/cli.js';

const PATH = 'authentication.secret';
const destinations = (count: number, secret = (index: number) => `SECRET_${index}`): string =>
  `settings: { target: emulator }\nalert_push_destinations:\n${Array.from({ length: count }, (_, index) => `  d${index}: { name: D${index}, enabled: true, endpoint: { url: "https://hooks.example.com/${index}" }, authentication: { secret: "\${secret.env.${secret(index)}}" } }\n`).join('')}`;
const valuesOf = (count: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`SECRET_${index}`, `value number ${index}`]),
  );
const stateIn = (home: Folder): State => JSON.parse(home.read('.trueup/state.json')) as State;
const secretsOf = (state: State) =>
  Object.values(state.resources).map(({ secrets }) => secrets?.[PATH]);

/** The state as the command wrote it, with other fingerprints. */
function refingerprint(
  home: Folder,
  change: Partial<State>,
  made: (address: string) => Entry['secrets'],
): void {
  const {
    checksum: _,
    secrets_salt: _salt,
    secrets_together: _together,
    ...rest
  } = stateIn(home) as State & { readonly checksum: string };
  const resources = Object.fromEntries(
    Object.entries(rest.resources).map(([address, entry]) => [
      address,
      { ...entry, secrets: made(address) } as Entry,
    ]),
  );
  const read = Object.fromEntries(
    Object.entries(resources).map(
      ([address, { as_observed: _names, ...entry }]: [
        string,
        Entry & { as_observed?: unknown },
      ]) => [address, entry],
    ),
  );
  home.write('.trueup/state.json', encodeState({ ...rest, ...change, resources: read }));
}

/** As format 1 made it. */
function salted(value: string, key?: string): SaltedFingerprint {
  const salt = Buffer.from(sha256(value).slice(0, 16));
  const hash = scryptSync(
    key === undefined ? value : createHmac('sha256', key).update(value).digest(),
    salt,
    32,
    { N: 2 ** 10, r: 8, p: 1 },
  );
  return {
    algorithm: 'scrypt',
    cost: 10,
    block: 8,
    parallel: 1,
    salt: salt.toString('base64'),
    hash: hash.toString('base64'),
    keyed: key !== undefined,
  };
}

const QUIET = /^No changes\./m;

describe('what declarations may say', () => {
  const secret = (expression: string): string =>
    `settings: { target: emulator }\nalert_push_destinations:\n  p: { name: P, authentication: { secret: "${expression}" } }\n`;

  test('follows links to where they lead, and reads below secret_roots', async () => {
    const [home, elsewhere] = [folder(), folder({ 'keys/pager': 'a secret of elsewhere\n' })];
    symlinkSync(join(elsewhere.path, 'keys'), join(home.path, 'keys'));
    home.write('trueup.yaml', secret('${secret.file.keys/pager}'));
    for (const command of [['validate'], ['plan'], ['apply', '--auto-approve'], ['drift']]) {
      const { stderr } = await home.expect(1, command);
      expect(stderr).toContain('[secret-outside]');
      expect(stderr.replaceAll(/\s+/g, ' ')).toContain('settings: { secret_roots: [');
    }
    home.write(
      'trueup.yaml',
      secret('${secret.file.keys/pager}').replace(
        'emulator }',
        `emulator, secret_roots: [${JSON.stringify(elsewhere.path)}] }`,
      ),
    );
    await home.expect(0, ['apply', '--auto-approve']);
    await home.expect(0, ['plan', '--detailed-exitcode']);
    for (const path of ['/proc/self/environ', '/dev/stdin']) {
      home.write(
        'trueup.yaml',
        secret(`\${secret.file.${path}}`).replace('emulator }', 'emulator, secret_roots: ["/"] }'),
      );
      expect((await home.expect(1, ['validate'])).stderr).toContain('[secret-outside]');
    }
  });

  test('is the same for stacks, and a sensitive variable is not given on the command line', async () => {
    const stack = (name: string, more: object = {}) =>
      JSON.stringify({
        provider: { devicecloud: [{}] },
        resource: { devicecloud_account: { a: { name } } },
        ...more,
      });
    const home = folder({ 'cdk.tf.json': stack('A') });
    await home.expect(0, ['validate', 'cdk.tf.json']);
    for (const name of ['${env.X_TOKEN}', 'x ${env.X_TOKEN}', '$${env.X_TOKEN}']) {
      home.write('cdk.tf.json', stack(name));
      const { code, stdout, stderr } = await home.run(['validate', 'cdk.tf.json'], {
        env: { X_TOKEN: 'hunter2hunter2' },
      });
      expect([name, code]).toEqual([name, name.startsWith('$$') ? 0 : 1]);
      expect(stdout + stderr).not.toContain('hunter2');
    }
    const pager = {
      variable: { key: { sensitive: true } },
      resource: {
        devicecloud_alert_push_destination: {
          p: { name: 'P', authentication: { secret_wo: '${var.key}' } },
        },
      },
    };
    home.write('cdk.tf.json', stack('A', pager));
    for (const command of ['validate', 'plan', 'apply']) {
      const { stderr } = await home.expect(1, [
        command,
        'cdk.tf.json',
        '--var',
        'key=hunter2hunter2',
        ...(command === 'apply' ? ['--auto-approve'] : []),
      ]);
      expect(stderr).toMatch(
        /the variable `key` is secret: its value is not allowed[\s]+in[\s]+--var/,
      );
      expect(stderr).toContain('TRUEUP_VAR_key or TF_VAR_key');
      expect(stderr).not.toContain('hunter2');
    }
    await home.expect(0, ['validate', 'cdk.tf.json'], { env: { TF_VAR_key: 'hunter2hunter2' } });
  });
});

describe('fingerprints in a state', () => {
  test('of format 1 are compared as they are, and made anew when a run writes', async () => {
    const home = folder({ 'trueup.yaml': destinations(3) });
    const env = valuesOf(3);
    await home.expect(0, ['apply', '--auto-approve'], { env });
    refingerprint(home, { format_version: 1 } as unknown as Partial<State>, (address) => ({
      [PATH]: salted(`value number ${address.slice(-1)}`),
    }));
    const before = home.read('.trueup/state.json');
    expect((await home.expect(0, ['plan', '--detailed-exitcode'], { env })).stdout).toMatch(QUIET);
    const changed = await home.expect(2, ['plan', '--detailed-exitcode'], {
      env: { ...env, SECRET_1: 'rotated' },
    });
    expect(changed.stdout).toContain('alert_push_destinations.d1');
    expect(changed.stdout).not.toContain('alert_push_destinations.d2');
    expect(home.read('.trueup/state.json')).toBe(before);
    home.write('trueup.yaml', `${destinations(3)}accounts:\n  a: { name: A }\n`);
    await home.expect(0, ['apply', '--auto-approve'], { env });
    const after = stateIn(home);
    expect(after).toMatchObject({ format_version: 3, secrets_together: [{ cost: 14 }] });
    expect(Buffer.from(after.secrets_salt as string, 'base64')).toHaveLength(16);
    expect(
      Object.entries(after.resources).flatMap(([address, { secrets }]) =>
        Object.entries(secrets ?? {}).map(([path, one]) => ({ ...one, at: `${address} ${path}` })),
      ),
    ).toEqual(
      [0, 1, 2].map((index) => ({
        at: `alert_push_destinations.d${index} ${PATH}`,
        of: `alert_push_destinations.d${index} ${PATH}`,
        cost: 14,
        hash: expect.any(String) as string,
      })),
    );
    expect((await home.expect(0, ['plan', '--detailed-exitcode'], { env })).stdout).toMatch(QUIET);
  });

  test('survive another name, and a renamed object sends no secret again', async () => {
    const home = folder({ 'trueup.yaml': destinations(2) });
    const env = valuesOf(2);
    await home.expect(0, ['apply', '--auto-approve'], { env });
    await home.expect(
      0,
      ['state', 'mv', 'alert_push_destinations.d0', 'alert_push_destinations.moved'],
      { env },
    );
    home.write(
      'trueup.yaml',
      destinations(2)
        .replace('  d0:', '  moved:')
        .replace('  d1: {', '  renamed: { lifecycle: { renamed_from: d1 },'),
    );
    await home.expect(0, ['apply', '--auto-approve'], { env });
    expect((await home.expect(0, ['plan', '--detailed-exitcode'], { env })).stdout).toMatch(QUIET);
    await home.expect(2, ['plan', '--detailed-exitcode'], { env: { ...env, SECRET_0: 'rotated' } });
  });

  test('made with a key are not judged without it, which is said; the key that is new is taken on by the next write', async () => {
    const home = folder({ 'trueup.yaml': destinations(2) });
    const env = valuesOf(2);
    const keyed = { ...env, TRUEUP_FINGERPRINT_KEY: 'a key of some length' };
    await home.expect(0, ['apply', '--auto-approve'], { env });
    expect(secretsOf(stateIn(home))).toEqual([
      expect.objectContaining({ cost: 14 }),
      expect.objectContaining({ cost: 14 }),
    ]);
    expect((await home.expect(0, ['plan', '--detailed-exitcode'], { env: keyed })).stdout).toMatch(
      QUIET,
    );
    home.write('trueup.yaml', `${destinations(2)}accounts:\n  a: { name: A }\n`);
    await home.expect(0, ['apply', '--auto-approve'], { env: keyed });
    for (const one of secretsOf(stateIn(home)).filter(Boolean))
      expect(one).not.toHaveProperty('cost');
    expect((await home.expect(0, ['plan', '--detailed-exitcode'], { env: keyed })).stdout).toMatch(
      QUIET,
    );
    await home.expect(2, ['plan', '--detailed-exitcode'], {
      env: { ...keyed, SECRET_0: 'rotated' },
    });
    const without = await home.expect(0, ['plan', '--detailed-exitcode'], {
      env: { ...env, SECRET_0: 'rotated' },
    });
    expect(without.stderr).toMatch(
      /2 secrets were fingerprinted with a key, and TRUEUP_FINGERPRINT_KEY is\s+not set/,
    );
    expect(without.stdout).toMatch(QUIET);
  });

  test('are made and asked for by no validate, whatever else is wrong', async () => {
    const [home, env] = [folder({ 'trueup.yaml': destinations(40) }), valuesOf(40)];
    // Every hash of a secret that a process computes is one line.
    home.write(
      'hashes.cjs',
      `const crypto = require('node:crypto');
      const { appendFileSync } = require('node:fs');
      const watched = (holder, name) => {
        const real = holder[name];
        holder[name] = function (...given) {
          if (given.some((one) => String(one).includes('value number')) || name === 'scrypt')
            appendFileSync(${JSON.stringify(join(home.path, 'hashes.txt'))}, name + '\\n');
          return real.apply(this, given);
        };
      };
      for (const name of ['scrypt', 'scryptSync', 'pbkdf2', 'pbkdf2Sync', 'createHmac', 'hash']) if (crypto[name]) watched(crypto, name);
      for (const one of [crypto.createHash('sha256'), crypto.createHmac('sha256', '')])
        watched(Object.getPrototypeOf(one), 'update');
      require('node:module').syncBuiltinESMExports();`,
    );
    const hashes = async (code: number, ...args: readonly string[]): Promise<number> => {
      home.write('hashes.txt', '');
      await home.expect(code, args, {
        env: { ...env, NODE_OPTIONS: `--require ${join(home.path, 'hashes.cjs')}` },
      });
      return home.read('hashes.txt').split('\n').length - 1;
    };
    expect(await hashes(0, 'validate')).toBe(0);
    expect(await hashes(0, 'apply', '--auto-approve')).toBeGreaterThanOrEqual(40);
    expect(await hashes(0, 'validate')).toBe(0);
    // What is wrong with these is asked of the state too.
    home.write(
      'more.yaml',
      'alert_rules: { r: { http_destinations: ["${alert_push_destinations.none.destination_config_id}"], colour: red } }\n',
    );
    expect(await hashes(1, 'validate')).toBe(0);
  });

  test('of a thousand secrets plan as quickly as they are, and name the one that changed', async () => {
    const home = folder({ 'trueup.yaml': destinations(1000) });
    const env = valuesOf(1000);
    await home.expect(0, ['apply', '--auto-approve', '--parallelism', '50'], {
      env: { ...env, TRUEUP_FINGERPRINT_KEY: 'quick' },
    });
    const [quick, salt] = [scryptFingerprints({ cost: 1 }), 'MDEyMzQ1Njc4OWFiY2RlZg=='];
    const made = new Map<string, Entry['secrets']>();
    for (const address of Object.keys(stateIn(home).resources))
      made.set(address, {
        [PATH]: await quick.make(salt, `${address} ${PATH}`, `value number ${address.slice(25)}`),
      });
    refingerprint(home, { secrets_salt: salt }, (address) => made.get(address));
    expect((await home.expect(0, ['plan', '--detailed-exitcode'], { env })).stdout).toMatch(QUIET);
    const changed = await home.expect(2, ['plan', '--detailed-exitcode', '--format', 'json'], {
      env: { ...env, SECRET_7: 'rotated' },
    });
    const { summary, resource_changes: changes } = JSON.parse(changed.stdout) as {
      summary: object;
      resource_changes: { address: string; change: { actions: string[] } }[];
    };
    expect(summary).toMatchObject({ create: 0, update: 1, keep: 999 });
    expect(
      changes.filter(({ change }) => change.actions[0] === 'update').map(({ address }) => address),
    ).toEqual(['alert_push_destinations.d7']);
  });
});

describe('the value of a secret', () => {
  const CANARY = 'canary-5ecret&value';
  const OWN = 'own-key-that-nobody-may-see';
  const NAMED = ['live-api-key', 'live-shared-key', 'declared-api-key', 'declared-shared-key'];
  const spelled = [
    CANARY,
    'canary-5ecret%26value',
    'canary-5ecret&amp;value',
    // In whatever other spelling.
    'canary-5ecret',
    Buffer.from(CANARY).toString('base64'),
    OWN,
    ...NAMED,
  ];
  const id = (digit: number): string => `${digit}de06d30-aa9b-11f0-9b22-116adc8ab9a4`;
  const destination = (digit: number, more: object) => ({
    destination_config_id: id(digit),
    enabled: true,
    authentication: { secret: 'x' },
    ...more,
  });
  const estate = {
    version: 1,
    root: '1',
    records: {
      accounts: [
        { id: '1', account: null, name: 'HQ' },
        { id: '2', account: '1', name: `of ${CANARY}` },
        { id: '3', account: '1', name: `of ${OWN}` },
        ...['\\u0026', '\\\\u0026', '&#38;', '&#038;', '&#0038;', '&#x26;', '&#x0026;'].map(
          (and, index) => ({
            id: String(4 + index),
            account: '1',
            name: `of canary-5ecret${and}value`,
          }),
        ),
      ],
      alert_push_destinations: [
        destination(1, {
          name: 'Pager',
          suspended: true,
          endpoint: { url: 'https://hooks.example.com/t' },
          last_error_at: '2026-01-01T00:00:00Z',
          last_error_text: `401 for ${CANARY}, ?s=canary-5ecret%26value, ${OWN}`,
        }),
        destination(2, {
          name: `Other ${CANARY}`,
          endpoint: { url: 'https://hooks.example.com/o' },
        }),
        destination(3, { name: 'Third', endpoint: { url: `https://hooks.example.com/${CANARY}` } }),
      ],
      alert_rules: [
        {
          alert_config_id: id(4),
          associated_accounts: ['1'],
          filter_criteria: { alert_type__in: ['account_locked'] },
          settings: { x: { api_key: 'live-api-key', n: 1 } },
          http_destinations: [id(1)],
        },
      ],
      configuration_managers: [
        {
          id: '30',
          router: '12',
          configuration: [{ wan: { sharedKey: 'live-shared-key', note: CANARY, mtu: 1400 } }, []],
          version_number: 1,
        },
      ],
    },
  };
  const project = `alert_push_destinations:
  pager: { name: Pager, enabled: false, authentication: { secret: "\${secret.env.PAGER_SECRET}" } }
  third: { name: Third, enabled: true }
alert_rules:
  r: { lifecycle: { adopt: ${id(4)} }, settings: { x: { api_key: declared-api-key, n: 2 } } }
configuration_managers:
  m: { router: "12", configuration: [{ wan: { sharedKey: declared-shared-key, mtu: 1500 } }] }
`;

  /** Everything below a folder, as one text. */
  function everything(path: string): string {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile() && !['estate.json', 'trueup.yaml'].includes(one.name))
      .map((one) => readFileSync(join(one.parentPath, one.name), 'utf8'))
      .join('\n');
  }

  test('is in no output of any command and in no file, whatever the service repeats', async () => {
    const home = folder({ 'estate.json': JSON.stringify(estate), 'trueup.yaml': project });
    const { env: there } = await emulator(home, ['--seed', 'estate.json']);
    const env = { ...there, PAGER_SECRET: CANARY, ACME_TRUEUP_STATE_HTTP_PASSWORD: OWN };
    const reports = (formats: readonly string[], name: string): string[] =>
      formats.flatMap((format) => ['--report', `${format}=${name}.${format}`]);
    const four = ['text', 'json', 'markdown', 'html'];
    const commands = [
      ['validate'],
      ['plan', '--allow', 'first-run', '--out', 'saved.plan', ...reports(four, 'plan')],
      ['plan', '--allow', 'first-run', '--json'],
      ['show', 'saved.plan'],
      ['drift', ...reports([...four, 'junit', 'sarif'], 'drift')],
      ['drift', '--json'],
      ...['table', 'json', 'yaml', 'csv', 'ndjson'].flatMap((form) =>
        ['accounts', 'alert_push_destinations', 'alert_rules', 'configuration_managers'].map(
          (kind) => ['get', kind, '-o', form],
        ),
      ),
      ['get', 'access', '-o', 'json'],
      ['export'],
      ['export', '--format', 'hcl', '--out', 'hcl'],
      ['export', '--format', 'cdktf', '--out', 'cdktf'],
      ['doctor'],
      ['apply', 'saved.plan'],
      ['apply', '--auto-approve', '--json'],
      ['state', 'show', 'alert_push_destinations.pager'],
      ['state', 'show', 'alert_rules.r'],
      ['plan', '--detailed-exitcode'],
    ];
    for (const command of commands) {
      const { stdout, stderr, code } = await home.run(command, { env });
      expect([command.join(' '), code, code === 0 ? '' : stderr]).toEqual([
        command.join(' '),
        0,
        '',
      ]);
      for (const one of spelled)
        expect(`${command.join(' ')}\n${stdout}${stderr}`).not.toContain(one);
    }
    const written = everything(home.path);
    for (const one of spelled.filter(
      (value) => !['declared-api-key', 'declared-shared-key'].includes(value),
    ))
      expect(written).not.toContain(one);
    expect(stateIn(home).resources['alert_push_destinations.pager']?.observed).toMatchObject({
      last_error_at: '2026-01-01T00:00:00.000Z',
    });
    expect(home.read('.trueup/state.json')).not.toMatch(
      /last_error_text|https:\/\/hooks.example.com\/\(/,
    );
    expect(home.read('drift.text')).toMatch(
      /401 for \(sensitive\),\s+\?s=\(sensitive\), \(sensitive\)/,
    );
  });

  test('is read from a pipe by the request that needs it alone', async () => {
    const home = folder({ 'trueup.yaml': 'alert_rules:\n  r: { schedule: dayly }\n' });
    const { env } = await emulator(home);
    const { TRUEUP_MGR_API_KEY: key = '', ...rest } = env;
    execFileSync('mkfifo', [join(home.path, 'key')]);
    const validated = await home.expect(0, ['validate'], {
      env: { ...rest, TRUEUP_MGR_API_KEY_FILE: 'key' },
    });
    expect(validated.stderr).toContain('[unknown-value]');
    const planning = home.run(['plan'], { env: { ...rest, TRUEUP_MGR_API_KEY_FILE: 'key' } });
    await writeFile(join(home.path, 'key'), key);
    expect((await planning).code).toBe(0);
  });

  test('is left out of exports with a comment, and what is exported plans empty', async () => {
    const home = folder({ 'estate.json': JSON.stringify(estate), 'trueup.yaml': project });
    const { env: there } = await emulator(home, ['--seed', 'estate.json']);
    const env = { ...there, PAGER_SECRET: CANARY, ACME_TRUEUP_STATE_HTTP_PASSWORD: OWN };
    const { stderr } = await home.expect(0, ['export', '--out', 'exported'], { env });
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
      `The alert push destination ${id(2)} is left out: its name holds the value of a secret.`,
    );
    const [rules, managers, destinations] = [
      'alert_rules',
      'configuration_managers',
      'alert_push_destinations',
    ].map((name) => home.read(`exported/${name}.yaml`)) as [string, string, string];
    expect(rules).toMatch(/# settings\.x\.api_key is secret and is left out/);
    expect(rules).not.toMatch(/^ +settings:/m);
    expect(managers).toMatch(
      /# configuration\.0\.wan\.sharedKey is secret and is left out\n {2}# configuration\.0\.wan\.note is secret/,
    );
    expect(managers).toContain('wan: { mtu: 1400 }');
    expect(destinations).toContain('# endpoint.url is secret and is left out');
    await home.expect(0, ['plan', 'exported', '--detailed-exitcode'], { env });
  });

  test('is masked whole where it is short, and a saved plan that would hold it in a variable is refused', async () => {
    const home = folder({
      'estate.json': JSON.stringify(estate),
      'trueup.yaml': `accounts:\n  a: { name: "\${var.name}" }\n${project}`,
    });
    const { env } = await emulator(home, ['--seed', 'estate.json']);
    const { stdout } = await home.expect(0, ['get', 'alert_push_destinations'], {
      env: { ...env, PAGER_SECRET: 'Third' },
    });
    expect(stdout).toContain('(sensitive)');
    expect(stdout).not.toContain('Third');
    const refused = await home.expect(
      1,
      ['plan', '--allow', 'first-run', '--out', 'saved.plan', '--var', `name=x ${CANARY}`],
      { env: { ...env, PAGER_SECRET: CANARY } },
    );
    expect(refused.stderr).toContain('[secret-in-plan]');
    expect(everything(home.path)).not.toContain(CANARY);
  });
});
