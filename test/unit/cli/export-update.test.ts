// `export --update`: what it refuses and where, what it leaves alone and names, and that all files are written or none.
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  lstatSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as drift } from '../../../src/cli/commands/drift.js';
import { run as exportRun } from '../../../src/cli/commands/export.js';
import { run as importRun } from '../../../src/cli/commands/import.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import { rm as stateRemove } from '../../../src/cli/commands/state.js';
import type { JsonObject } from '../../../src/model/index.js';
import { box, type Box } from '../../support/box.js';
import { diskSession } from '../../support/disk-session.js';
import { freshFolder, inProcess, type Said } from '../../support/in-process.js';
import { intent } from '../state/samples.js';

const PAGER = 'pager-secret-canary';

interface Scene {
  readonly service: Box;
  readonly cwd: string;
  read(file: string): string;
  run(command: Parameters<typeof inProcess>[0], ...words: readonly string[]): Promise<Said>;
  update(...words: readonly string[]): Promise<Said>;
  /** An update with other values in the environment. */
  later(env: Readonly<Record<string, string>>): Promise<Said>;
  /** Another hand changes the objects of a kind with this name, or all. */
  change(kind: string, name: string | undefined, values: JsonObject): void;
}

const scenes: Box[] = [];
afterEach(async () => {
  for (const one of scenes.splice(0)) await one.close();
});

/** Files that were applied. */
async function applied(
  files: Readonly<Record<string, string>>,
  paths: readonly string[] = [],
  records: Readonly<Record<string, readonly JsonObject[]>> = {},
): Promise<Scene> {
  const service = await box({
    version: 1,
    root: '1',
    next_id: 2,
    records: {
      accounts: [{ id: '1', account: null, name: 'Root' }],
      ...records,
    },
    users: [],
  });
  scenes.push(service);
  const cwd = freshFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const env = { ...service.env, PAGER, NAME: 'from the environment' };
  const run: Scene['run'] = (command, ...words) => inProcess(command, words, { cwd, env });
  const { code, stderr } = await run(apply, 'apply', '--auto-approve', ...paths);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('error')]);
  return {
    service,
    cwd,
    run,
    read: (file) => readFileSync(join(cwd, file), 'utf8'),
    update: (...words) => run(exportRun, 'export', '--update', ...words),
    later: (more) =>
      inProcess(exportRun, ['export', '--update'], { cwd, env: { ...env, ...more } }),
    change: (kind, name, values) =>
      service.tamper(kind, (records) =>
        records.map((one) =>
          one['id'] !== '1' && (name === undefined || one['name'] === name)
            ? { ...one, ...values }
            : one,
        ),
      ),
  };
}

const rename = { kind: 'accounts', to: { name: 'Other' } };
const rule = (more: string): string => `accounts:
  a: { name: A, account: "1" }
  b: { name: B, account: "1" }
alert_rules:
  r:
    associated_accounts: ["\${accounts.a.id}"]
    filter_criteria:
${more}`;
const types = {
  kind: 'alert_rules',
  to: { filter_criteria: { alert_type__in: ['memory_utilization'] } },
};

interface Refusal {
  readonly text: string;
  readonly change: { readonly kind: string; readonly to: JsonObject };
  readonly at: string;
  readonly why: string;
}

const refusals: Readonly<Record<string, Refusal>> = {
  'a variable': {
    text: 'variables: { n: A }\naccounts:\n  a: { name: "${var.n}", account: "1" }\n',
    change: rename,
    at: 'trueup.yaml:3:14 · accounts.a · name',
    why: 'it is written with ${var.n}',
  },
  'a text with an expression in it': {
    text: 'variables: { n: A }\naccounts:\n  a: { name: "Shop ${var.n}", account: "1" }\n',
    change: rename,
    at: 'trueup.yaml:3:14 · accounts.a · name',
    why: 'it is written with ${var.n}',
  },
  'the environment': {
    text: 'accounts:\n  a:\n    account: "1"\n    name: ${env.NAME}\n',
    change: rename,
    at: 'trueup.yaml:4:11 · accounts.a · name',
    why: 'it is written with ${env.NAME}',
  },
  'a template of another object': {
    text: 'accounts:\n  root: { name: R, account: "1" }\n  a: { name: "Below ${accounts.root.id}", account: "1" }\n',
    change: { kind: 'accounts', to: { name: 'Other' } },
    at: 'trueup.yaml:3:14 · accounts.a · name',
    why: 'it is written with ${accounts.root.id}',
  },
  'a for_each': {
    text: 'accounts:\n  a: { name: "A ${each.key}", account: "1", for_each: [x] }\n',
    change: rename,
    at: 'trueup.yaml:2:8 · accounts.a["x"] · name',
    why: 'To accept it, change by hand what the `for_each` holds for "x". If it holds no value for this attribute, all members share one: give each its own.',
  },
  'a template': {
    text: 'templates:\n  t: { accounts: { a: { name: A, account: "1" } } }\nuse: { u: { template: t } }\n',
    change: rename,
    at: 'trueup.yaml:2:25, used at trueup.yaml:3:8 · accounts.u-a · name',
    why: 'a template makes the declaration',
  },
  'an alias': {
    text: rule(
      '      alert_type__in: &t [cpu_utilization]\n  s:\n    associated_accounts: ["${accounts.b.id}"]\n    filter_criteria: { alert_type__in: *t }\n',
    ),
    change: types,
    at: 'trueup.yaml:11:40 · alert_rules.s · filter_criteria.alert_type__in',
    why: 'it is an alias',
  },
  'an anchor': {
    text: rule('      alert_type__in: &t [cpu_utilization]\nvariables: { t: *t }\n'),
    change: types,
    at: 'trueup.yaml:8:26 · alert_rules.r · filter_criteria.alert_type__in',
    why: 'it has an anchor',
  },
  'an anchor around it': {
    text: 'accounts:\n  a: &a\n    name: A\n    account: "1"\nvariables: { a: *a }\n',
    change: rename,
    at: 'accounts.a · name',
    why: 'it has an anchor',
  },
  'a secret in its place': {
    text: 'accounts:\n  a: { name: A, account: "1" }\nalert_push_destinations:\n  p:\n    name: P\n    enabled: true\n    endpoint: { url: https://hooks.example.com/a }\n    authentication: { secret: "${secret.env.PAGER}" }\n',
    change: { kind: 'accounts', to: { name: `x ${PAGER}` } },
    at: 'trueup.yaml:2:8 · accounts.a · name',
    why: 'holds a secret',
  },
  'a masked value': {
    text: 'accounts:\n  a: { name: A, account: "1" }\n',
    change: { kind: 'accounts', to: { name: '*' } },
    at: 'trueup.yaml:2:8 · accounts.a · name',
    why: 'the live value is masked',
  },
  'an empty live value': {
    text: 'accounts:\n  a: { name: A, account: "1" }\n',
    change: { kind: 'accounts', to: { name: '' } },
    at: 'trueup.yaml:2:8 · accounts.a · name',
    why: 'the live value is an empty string',
  },
  'an expression in a list, whose value is no longer live': {
    text: `variables: { t: cpu_utilization }\n${rule('      alert_type__in: ["${var.t}", reboot]\n')}`,
    change: types,
    at: 'trueup.yaml:9:23 · alert_rules.r · filter_criteria.alert_type__in',
    why: 'it is written with ${var.t}',
  },
  'a live null': {
    text: rule('      alert_type__in: [reboot]\n    settings: { a: 1 }\n'),
    change: { kind: 'alert_rules', to: { settings: { a: null } } },
    at: 'trueup.yaml:9:17 · alert_rules.r · settings.a',
    why: 'the live value is null',
  },
  'a member that is not live': {
    text: rule('      alert_type__in: [reboot]\n    settings: { a: 1 }\n'),
    change: { kind: 'alert_rules', to: { settings: {} } },
    at: 'trueup.yaml:9:17 · alert_rules.r · settings.a',
    why: 'there is no live value',
  },
  'a member that only the live object has': {
    text: rule('      alert_type__in: [reboot]\n    settings: { a: 1 }\n'),
    change: { kind: 'alert_rules', to: { settings: { a: 1, other: 2 } } },
    at: 'trueup.yaml:9:5 · alert_rules.r · settings.other',
    why: 'it is not written in the declaration itself',
  },
  'a list with comments in brackets': {
    text: rule(
      '      alert_type__in: [\n        cpu_utilization, # why\n        reboot,\n      ]\n',
    ),
    change: types,
    at: 'trueup.yaml:8:23 · alert_rules.r · filter_criteria.alert_type__in',
    why: 'could lose some',
  },
  'values that no declarations may have': {
    text: 'accounts:\n  a: { name: A, account: "1" }\n  b: { name: B, account: "1" }\n',
    change: rename,
    at: 'identical-declarations',
    why: 'With the live values, the declarations would have errors.',
  },
};

it('warns that what is live may be of a run that did not finish', async () => {
  const home = await applied({ 'trueup.yaml': 'accounts:\n  a: { name: A, account: "1" }\n' });
  const path = join(home.cwd, '.trueup/state.json');
  const { target } = JSON.parse(readFileSync(path, 'utf8')) as { readonly target: string };
  const session = await diskSession(path, target);
  await session.record({ ...intent('1'), action: 'update', address: 'accounts.a', id: '2' });
  await session.release();
  home.change('accounts', 'A', { name: 'A2' });
  const { stdout, stderr } = await home.update('--dry-run');
  expect(stdout).toContain('A2');
  expect(stderr).toContain('The outcome of the update of accounts.a is not known');
});

describe('a value that cannot be written in place is refused, and nothing is written', () => {
  it.each(Object.entries(refusals))('%s', async (_, { text, change, at, why }) => {
    const extra = 'accounts:\n  free: { name: Free, account: "1" }\n';
    const home = await applied({ 'trueup.yaml': text, 'other.yaml': extra });
    home.change(change.kind, undefined, change.to);
    if (change.kind === 'accounts' && at !== 'identical-declarations')
      home.service.tamper('accounts', (all) =>
        all.map((one, index) =>
          index > 1 ? { ...one, name: `${String(one['name'])} ${index}` } : one,
        ),
      );
    const { code, stdout, stderr } = await home.update();
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(why);
    expect(stderr).toContain(at);
    expect(stderr).toContain('[not-updatable]');
    expect(stderr).toContain('Nothing was written');
    expect(stderr).not.toContain(PAGER);
    expect([home.read('trueup.yaml'), home.read('other.yaml')]).toEqual([text, extra]);
  });

  it('a stack', async () => {
    const stack = JSON.stringify({
      '//': { metadata: { stackName: 's' } },
      resource: { devicecloud_account: { a: { name: 'A', account: '1' } } },
    });
    const home = await applied({ 'cdk.tf.json': stack }, ['cdk.tf.json']);
    home.change('accounts', 'A', { name: 'A2' });
    const { code, stderr } = await home.update('cdk.tf.json');
    expect(code).toBe(1);
    expect(stderr).toContain(
      'a stack declares it. s/devicecloud_account.a · accounts.a · name · [not-updatable]',
    );
    expect(home.read('cdk.tf.json')).toBe(stack);
  });

  it('a key that means something to a replacement is printed as it is', async () => {
    const home = await applied({
      'trueup.yaml':
        'accounts:\n  a: { name: "A ${each.value}", account: "1", for_each: { "$&": x } }\n',
    });
    home.change('accounts', 'A x', { name: 'A2' });
    const { stderr } = await home.update();
    expect(stderr).toContain(`trueup apply --target 'accounts.a["$&"]' `);
  });

  it('a key that holds the words of the advice is printed as it is', async () => {
    const home = await applied({
      'trueup.yaml':
        'accounts:\n  a: { name: "A ${each.value}", account: "1", for_each: { "trueup apply": x } }\n',
    });
    home.change('accounts', 'A x', { name: 'A2' });
    const { stderr } = await home.update();
    expect(stderr).toContain('holds for "trueup apply". If');
    expect(stderr).toContain(
      `To restore what is declared: trueup apply --target 'accounts.a["trueup apply"]' `,
    );
  });

  it('an apply that a rule blocks is not advised', async () => {
    const home = await applied(
      {
        'trueup.yaml':
          'variables: { role: administrator }\naccount_authorizations:\n  ada: { user: "70", account: "1", role: "${var.role}" }\n',
      },
      [],
      {
        account_authorizations: ['70', '71'].map((user) => ({
          id: `z-${user}`,
          user,
          account: '1',
          role: 'administrator',
        })),
      },
    );
    home.service.tamper('account_authorizations', (records) =>
      records.map((one) => (one['id'] === 'z-70' ? { ...one, role: 'read_only_user' } : one)),
    );
    const { stderr } = await home.update();
    const command = 'trueup plan --target account_authorizations.ada';
    expect(stderr).toContain(
      `restore what is declared: ${command} A rule blocks the apply: the plan says which.`,
    );
    expect((await home.run(plan, ...command.split(' ').slice(1))).stdout).toContain('BLOCKED');
  });

  it('the plan of an object is advised where a rule blocks the plan of everything', async () => {
    const declared = (more: string): string =>
      `settings: { policy: { max_deletes: 0 } }
variables: { n: A }
accounts:
  a: { name: "\${var.n}", account: "1" }
${more}`;
    const home = await applied({
      'trueup.yaml': declared('  b: { name: B, account: "1" }\n'),
    });
    home.change('accounts', 'A', { name: 'A2' });
    writeFileSync(join(home.cwd, 'trueup.yaml'), declared(''));
    expect((await home.update()).stderr).toContain(
      'restore what is declared: trueup plan --target accounts.a A rule blocks the apply of everything: the plan says whether it blocks this, too. ',
    );
  });

  it('the others can be named', async () => {
    const home = await applied({
      'trueup.yaml':
        'variables: { n: A }\naccounts:\n  a: { name: "${var.n}", account: "1" }\n  b: { name: B, account: "1" }\n',
    });
    home.change('accounts', 'A', { name: 'A2' });
    home.change('accounts', 'B', { name: 'B2' });
    const { stderr } = await home.update();
    expect(stderr).toContain('restore what is declared: trueup apply --target accounts.a ');
    expect(stderr).toContain('To update the others: trueup export --update --target accounts.b');
    expect((await home.update('--dry-run')).stderr).toContain(
      'To update the others: trueup export --update --target accounts.b',
    );
    const { code, stdout } = await home.update('--target', 'accounts.b');
    expect(code).toBe(0);
    expect(stdout).toContain('+  b: { name: B2, account: "1" }');
    expect(home.read('trueup.yaml')).toContain('${var.n}');
  });

  it('errors of the plan: the others can be named, as far as they do not refer to what has one', async () => {
    const text = `users:
  gus: { email: gus@example.com }
  ida: { email: ida@example.com }
account_authorizations:
  gus: { user: "\${users.gus.id}", account: "1", role: administrator }
  ida: { user: "\${users.ida.id}", account: "1", role: administrator }
alert_push_destinations:
  late:
    name: Of \${account_authorizations.gus.id}
    enabled: true
    endpoint: { url: https://hooks.example.com/a }
`;
    const roles = ['77', '78'].map((user) => ({
      id: `90${user}`,
      user,
      account: '1',
      role: 'administrator',
    }));
    const people = ['gus', 'ida'].map((name, index) => ({
      id: `${77 + index}`,
      email: `${name}@example.com`,
      is_active: true,
    }));
    const home = await applied({ 'trueup.yaml': text }, [], {
      users: people,
      account_authorizations: roles,
    });
    home.service.tamper('users', (all) => all.filter(({ id }) => id !== '77'));
    home.service.tamper('account_authorizations', () =>
      roles.map((one) => ({ ...one, role: one.id === '9078' ? 'read_only_user' : one.role })),
    );
    home.service.tamper('alert_push_destinations', (all) =>
      all.map((one) => ({ ...one, enabled: false })),
    );
    const { code, stderr } = await home.update();
    expect(code).toBe(1);
    expect(stderr).toContain('[immutable]');
    expect(stderr).toContain('Nothing was written.');
    expect(stderr).toMatch(
      /To update the others: trueup export --update --target account_authorizations\.ida (?!--)/,
    );
    const meant = ['account_authorizations.gus', 'alert_push_destinations.late'];
    const both = await home.update(...meant.flatMap((address) => ['--target', address]));
    expect([both.code, both.stderr]).toEqual([1, expect.not.stringContaining('the others')]);
    expect(home.read('trueup.yaml')).toBe(text);
    const { code: done } = await home.update('--target', 'account_authorizations.ida');
    expect([done, home.read('trueup.yaml')]).toEqual([
      0,
      text.replace(/(ida.id.*)administrator/, '$1read_only_user'),
    ]);
  });
});

describe('a configuration', () => {
  const text = `configuration_managers:
  one:
    router: "5001"
    configuration:
      lan: { mtu: 1400, "a.b$\${c}": old } # alone
  two:
    router: "5002"
    configuration:
      - lan: { mtu: 1400 } # in a list
        wlan: { key: plain }
      - []
`;
  const routers = (mtu: number, more: JsonObject = {}): readonly JsonObject[] =>
    ['5001', '5002'].map((router, index) => ({
      id: `${6001 + index}`,
      router,
      account: '1',
      version_number: 1,
      configuration: [
        { lan: { mtu, 'a.b${c}': mtu === 1400 ? 'old' : 'new' }, wlan: { key: 'plain', ...more } },
        [],
      ],
    }));

  it('that lost a member with a secret is refused with the way to accept that', async () => {
    const home = await applied(
      {
        'trueup.yaml':
          'configuration_managers:\n  one: { router: "5001", configuration: [{ wlan: { psk: "${secret.env.PAGER}" } }], lifecycle: { adopt: "6001" } }\n',
      },
      [],
      { configuration_managers: routers(1400).slice(0, 1) },
    );
    home.service.tamper('configuration_managers', (records) =>
      records.map((one) => ({ ...one, configuration: [{ lan: { mtu: 1400 } }, []] })),
    );
    const { code, stderr } = await home.update();
    expect(code).toBe(1);
    expect(stderr).toContain('there is no live value');
    expect(stderr).toContain('remove it from the declaration');
    expect(stderr).not.toContain('Change the secret');
  });

  it('is written member by member, in both forms; one that is masked is refused', async () => {
    const home = await applied({ 'trueup.yaml': text }, [], {
      configuration_managers: routers(1400),
    });
    home.service.tamper('configuration_managers', () => routers(1500));
    const first = await home.update();
    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining('updated')]);
    const now = text.replaceAll('1400', '1500').replace('old', 'new');
    expect(home.read('trueup.yaml')).toBe(now);
    expect((await home.run(plan, 'plan', '--detailed-exitcode')).code).toBe(0);
    home.service.tamper('configuration_managers', () => routers(1500, { key: '*' }));
    const { code, stderr } = await home.update();
    expect(code).toBe(1);
    expect(stderr).toContain(
      'configuration_managers.two · configuration.0.wlan.key · [masked-value]',
    );
    expect(home.read('trueup.yaml')).toBe(now);
  });
});

it.each(['plain', 'a.b'])(
  'the live members of a document are written beside a secret in it that has a new value: %s',
  async (name) => {
    const there = { id: '7', name: 'G', account: '1', configuration: [{}, []] };
    const text = `groups:
  g:
    name: G
    account: "1"
    configuration: [{ "${name}": { mtu: 1500 }, wifi: { psk: "\${secret.env.PAGER}", ssid: one } }, []]
`;
    const home = await applied({ 'trueup.yaml': text }, ['--allow', 'first-run'], {
      groups: [there],
    });
    const now = [{ [name]: { mtu: 1400 }, wifi: { psk: '*', ssid: 'two' } }, []];
    home.service.tamper('groups', () => [{ ...there, configuration: now }]);
    const { code, stderr } = await home.later({ PAGER: 'new-pager-secret-canary' });
    expect([code, stderr]).toEqual([0, expect.stringContaining('updated')]);
    expect(home.read('trueup.yaml')).toBe(text.replace('1500', '1400').replace('one', 'two'));
  },
);

describe('a value is written in place', () => {
  it.each<[string, string, JsonObject, string]>([
    [
      'that has an anchor without an alias',
      'alert_type__in: &t [cpu_utilization]',
      { alert_type__in: ['reboot'] },
      'alert_type__in: &t [reboot]',
    ],
    [
      'of an item with an anchor',
      'alert_type__in:\n        - &t cpu_utilization\n        - reboot',
      { alert_type__in: ['reboot'] },
      'alert_type__in:\n        - reboot',
    ],
    [
      'of a list with an anchor whose items go',
      'alert_type__in: &t\n        - cpu_utilization',
      { alert_type__in: [] },
      'alert_type__in: &t []',
    ],
    [
      'beside an expression that stays',
      'alert_type__in: ["${var.t}", cpu_utilization]',
      { alert_type__in: ['memory_utilization', 'reboot'] },
      'alert_type__in: ["${var.t}", memory_utilization]',
    ],
  ])('%s', async (_, written, filter_criteria, expected) => {
    const text = (criteria: string): string =>
      `variables: { t: reboot }\n${rule(`      ${criteria}\n`)}`;
    const home = await applied({ 'trueup.yaml': text(written) });
    home.change('alert_rules', undefined, { filter_criteria });
    const { code, stderr } = await home.update();
    expect(code, stderr).toBe(0);
    expect(home.read('trueup.yaml')).toBe(text(expected));
    expect((await home.run(plan, 'plan', '--detailed-exitcode')).code).toBe(0);
  });
});

it('beside an error of the plan, the others are those that can be written', async () => {
  const text = `users: { gus: { email: gus@example.com } }
account_authorizations:
  gus: { user: "\${users.gus.id}", account: "1", role: administrator }
templates: { t: { accounts: { a: { name: A, account: "1" } } } }
use: { u: { template: t } }
accounts:
  b: { name: B, account: "1" }
`;
  const home = await applied({ 'trueup.yaml': text }, [], {
    users: [{ id: '77', email: 'gus@example.com', is_active: true }],
    account_authorizations: [{ id: '9', user: '77', account: '1', role: 'administrator' }],
  });
  home.service.tamper('account_authorizations', () => []);
  home.change('accounts', 'A', { name: 'A2' });
  home.change('accounts', 'B', { name: 'B2' });
  const { code, stderr } = await home.update();
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/update the others: trueup export --update --target accounts\.b (?!--)/),
  ]);
  expect((await home.update('--target', 'accounts.b')).code).toBe(0);
});

describe('what is not drift stays, and is named', () => {
  const text =
    'accounts:\n  a: { name: A, account: "1" }\n  b: { name: B, account: "1" }\n  c: { name: C, account: "1" }\n';

  it('objects that are gone, edits that wait for an apply, what is unmanaged', async () => {
    const home = await applied({ 'trueup.yaml': text });
    home.service.tamper('accounts', (all) => all.filter((one) => one['name'] !== 'A'));
    home.change('accounts', 'C', { name: 'C2' });
    const edited = text.replace('name: B', 'name: B2');
    writeFileSync(join(home.cwd, 'trueup.yaml'), edited);
    const { code, stderr } = await home.update();
    expect(code).toBe(0);
    expect(stderr).toContain('accounts.a no longer exists: its declaration stays.');
    expect(stderr).toContain(
      'To create again what is gone: trueup apply --target accounts.a Otherwise',
    );
    expect(stderr).toContain('name of accounts.b was not changed outside of trueup, and stays.');
    expect(stderr).toContain('accounts Root (1) is unmanaged, and stays unmanaged.');
    expect(home.read('trueup.yaml')).toBe(edited.replace('name: C', 'name: C2'));
  });

  it('edits of what was changed outside, too', async () => {
    const home = await applied({ 'trueup.yaml': text });
    home.change('accounts', 'A', { name: 'A2' });
    home.change('accounts', 'C', { name: 'C2' });
    const edited = text.replace('name: A', 'name: A3');
    writeFileSync(join(home.cwd, 'trueup.yaml'), edited);
    const { code, stderr } = await home.update();
    expect(code).toBe(0);
    expect(stderr).toContain(
      'name of accounts.a changed outside of trueup and in the declaration, which stays. [not-updated] ' +
        'To keep the live values, put the values of the last apply back, and update again. ' +
        'To send what is declared: trueup apply --target accounts.a',
    );
    expect(home.read('trueup.yaml')).toBe(edited.replace('name: C', 'name: C2'));
    const shown = await home.run(plan, 'plan');
    expect(shown.stdout).toContain('name changed in the declaration, and outside of trueup');
  });

  it('a secret that trueup never sent: no live value of it can be read', async () => {
    const pager =
      'alert_push_destinations:\n  p:\n    { name: P, endpoint: { url: "https://a.test" } }\n';
    const home = await applied({ 'trueup.yaml': pager });
    let id = '';
    home.service.tamper('alert_push_destinations', (all) => {
      id = String(all[0]!['id']);
      return all;
    });
    await home.run(stateRemove, 'state', 'rm', 'alert_push_destinations.p');
    const withSecret = pager.replace(
      ' } }',
      ' }, authentication: { secret: "${secret.env.PAGER}" } }',
    );
    writeFileSync(join(home.cwd, 'trueup.yaml'), withSecret);
    await home.run(importRun, 'import', 'alert_push_destinations.p', id);
    home.change('alert_push_destinations', 'P', { endpoint: { url: 'https://b.test' } });
    const { code, stderr } = await home.update();
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('secret')]);
    expect(home.read('trueup.yaml')).toBe(withSecret.replace('a.test', 'b.test'));
  });

  it('an edit that refers to an object that does not exist yet', async () => {
    const rule = (to: string): string =>
      `accounts: { a: { name: A } }\nalert_push_destinations:\n  p: { name: P, endpoint: { url: "https://a.test" } }\nalert_rules:\n  r:\n    associated_accounts: ["\${accounts.a.id}"]\n    filter_criteria: { alert_type__in: [connection_state] }\n    http_destinations: ["\${alert_push_destinations.${to}.destination_config_id}"]\n`;
    const home = await applied({ 'trueup.yaml': rule('p') });
    home.change('alert_rules', undefined, { http_destinations: [] });
    const edited = rule('q').replace(
      '  p:',
      '  q: { name: Q, endpoint: { url: "https://q.test" } }\n  p:',
    );
    writeFileSync(join(home.cwd, 'trueup.yaml'), edited);
    const { code, stderr } = await home.update();
    expect([code, home.read('trueup.yaml')]).toEqual([0, edited]);
    expect(stderr).toContain('http_destinations of alert_rules.r changed outside of trueup and in');
  });

  it('nothing of a value that refers to an object that is gone: it was not edited', async () => {
    const pagers = ['p', 'q'].map(
      (name) => `  ${name}: { name: ${name}, endpoint: { url: "https://${name}.test" } }\n`,
    );
    const text = `accounts: { a: { name: A } }\nalert_push_destinations:\n${pagers.join('')}alert_rules:\n  r:\n    associated_accounts: ["\${accounts.a.id}"]\n    filter_criteria: { alert_type__in: [connection_state] }\n    http_destinations: ["\${alert_push_destinations.p.destination_config_id}", "\${alert_push_destinations.q.destination_config_id}"]\n`;
    const home = await applied({ 'trueup.yaml': text });
    home.service.tamper('alert_push_destinations', (all) =>
      all.filter((one) => one['name'] !== 'p'),
    );
    home.service.tamper('alert_rules', (all) =>
      all.map((one) => ({
        ...one,
        http_destinations: (one['http_destinations'] as string[]).filter((id) =>
          home.service
            .objects('alert_push_destinations')
            .some((two) => Object.values(two).includes(id)),
        ),
      })),
    );
    const shown = await home.run(plan, 'plan');
    expect(shown.stdout).toContain('http_destinations changed outside of trueup');
    const { code, stderr } = await home.update();
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('in the declaration')]);
    expect(home.read('trueup.yaml')).toBe(
      text.replace('["${alert_push_destinations.p.destination_config_id}", ', '['),
    );
  });

  it('nothing: no file is touched', async () => {
    const home = await applied({ 'trueup.yaml': text });
    const before = statSync(join(home.cwd, 'trueup.yaml'));
    const { code, stdout, stderr } = await home.update();
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('Nothing to update');
    expect(statSync(join(home.cwd, 'trueup.yaml')).ino).toBe(before.ino);
  });
});

describe('files', () => {
  const text = '\uFEFFaccounts:\r\n  a: { name: A, account: "1" } # kept\r\n';

  it('keep their byte order mark, line ends, mode and place behind a link; --dry-run writes nothing', async () => {
    const home = await applied({ 'real/a.yml.txt': text, 'trueup.yaml': 'settings: {}\n' });
    symlinkSync('real/a.yml.txt', join(home.cwd, 'a.yaml'));
    chmodSync(join(home.cwd, 'real/a.yml.txt'), 0o640);
    await home.run(apply, 'apply', '--auto-approve');
    home.change('accounts', 'A', { name: 'A2' });
    const dry = await home.update('--dry-run');
    expect(dry.stdout).toContain('+  a: { name: A2, account: "1" } # kept');
    expect(home.read('a.yaml')).toBe(text);
    const wet = await home.update();
    expect(wet.stdout).toBe(dry.stdout);
    expect(home.read('a.yaml')).toBe(text.replace('name: A', 'name: A2'));
    expect(lstatSync(join(home.cwd, 'a.yaml')).isSymbolicLink()).toBe(true);
    expect(statSync(join(home.cwd, 'a.yaml')).mode & 0o777).toBe(0o640);
    expect((await home.run(plan, 'plan', '--detailed-exitcode')).code).toBe(0);
  });

  it('that end without a line end get no empty line', async () => {
    const rules = rule('      alert_type__in:\n        - cpu_utilization');
    const home = await applied({ 'trueup.yaml': rules });
    home.change(types.kind, undefined, types.to);
    expect((await home.update()).code).toBe(0);
    expect(home.read('trueup.yaml')).toBe(rules.replace('cpu_utilization', 'memory_utilization'));
  });

  it('are all as before where one cannot be written', async () => {
    const home = await applied({
      'a.yaml': 'accounts:\n  a: { name: A, account: "1" }\n',
      'z/b.yaml': 'accounts:\n  b: { name: B, account: "1" }\n',
    });
    home.change('accounts', 'A', { name: 'A2' });
    home.change('accounts', 'B', { name: 'B2' });
    const failing: Parameters<typeof inProcess>[0] = (context, args) => {
      const files = {
        ...context.files,
        replace: (path: string, after: string, mode: number) =>
          path.endsWith('b.yaml')
            ? Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }))
            : context.files.replace(path, after, mode),
      };
      return exportRun({ ...context, files }, args);
    };
    await expect(home.run(failing, 'export', '--update')).rejects.toThrow('full');
    expect(home.read('a.yaml')).toContain('name: A,');
    expect(home.read('z/b.yaml')).toContain('name: B,');
  });
});

describe('the command line', () => {
  it.each([
    [['export', '--update', '--out', 'x'], 'takes no --out'],
    [['export', '--update', '--format', 'hcl'], 'takes no --format'],
    [['export', '--dry-run'], '--dry-run needs --update'],
    [['export', '--target', 'accounts.a'], '--target needs --update'],
  ])('%j', async (words, why) => {
    const { code, stderr } = await inProcess(exportRun, words, { cwd: freshFolder(), env: {} });
    expect([code, stderr]).toEqual([1, expect.stringContaining(why)]);
  });

  it('plan names the command that records what was taken over, once', async () => {
    const home = await applied({ 'trueup.yaml': 'accounts:\n  a: { name: A, account: "1" }\n' });
    const next = async () => {
      const { stdout, stderr } = await home.run(plan, 'plan', '--target', 'accounts.a');
      expect(stdout).toContain('No changes.');
      return stderr;
    };
    expect(await next()).toBe('');
    home.change('accounts', 'A', { name: 'A2' });
    expect((await home.update()).code).toBe(0);
    expect(await next()).toBe('To record the live values: trueup apply --target accounts.a ');
    expect((await home.run(plan, 'plan', '--json')).stderr).toBe('');
    await home.run(apply, 'apply', '--auto-approve');
    expect(await next()).toBe('');
  });

  it('drift names the command, with the PATHs', async () => {
    const home = await applied({ 'trueup.yaml': 'accounts:\n  a: { name: A, account: "1" }\n' });
    expect((await home.run(drift, 'drift')).stderr).not.toContain('--update');
    home.change('accounts', 'A', { name: 'A2' });
    const { stderr } = await home.run(drift, 'drift', 'trueup.yaml');
    expect(stderr).toContain(
      'To write the live values into the declarations: trueup export --update trueup.yaml',
    );
    home.change('accounts', 'A2', { name: 'A' });
    writeFileSync(join(home.cwd, 'trueup.yaml'), 'accounts:\n  a: { name: B, account: "1" }\n');
    expect((await home.run(drift, 'drift')).stderr).not.toContain('--update');
    home.change('accounts', 'A', { name: 'C' });
    expect((await home.run(drift, 'drift')).stderr).not.toContain('--update');
    expect((await home.update()).stderr).toContain('Nothing to update');
  });

  it('so it does where a reference leads elsewhere', async () => {
    const home = await applied({
      'trueup.yaml': 'accounts:\n  a: { name: A }\n  b: { name: B, account: "${accounts.a.id}" }\n',
    });
    home.change('accounts', 'B', { account: '/api/v2/accounts/1/' });
    expect((await home.run(drift, 'drift')).stderr).toContain('trueup export --update');
  });

  it('but not for what a template declares', async () => {
    const home = await applied({
      'trueup.yaml':
        'templates: { t: { accounts: { a: { name: A } } } }\nuse: { u: { template: t } }\n',
    });
    home.change('accounts', 'A', { name: 'A2' });
    const { stdout, stderr } = await home.run(drift, 'drift');
    expect(stdout).toContain('changed accounts.u-a');
    expect(stderr).not.toContain('--update');
  });

  it('but not for a secret', async () => {
    const pager = (name: string): string =>
      `alert_push_destinations:\n  p: { name: P, endpoint: { url: "https://a.test" }, authentication: { secret: "\${secret.env.${name}}" } }\n`;
    const home = await applied({ 'trueup.yaml': pager('PAGER') });
    writeFileSync(join(home.cwd, 'trueup.yaml'), pager('NAME'));
    const { stdout, stderr } = await home.run(drift, 'drift');
    expect(stdout).toContain('changed alert_push_destinations.p');
    expect(stderr).not.toContain('--update');
  });
});
