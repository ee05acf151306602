// `trueup diff` through the built command, in real repositories, without a cloud, credentials or a state.
import { readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import type { PlanDocument } from '../../src/model/index.js';
import { folder } from '../support/cli.js';
import { start } from '../support/command.js';
import { repository, type Repository } from '../support/git.js';

const declarations = `settings: { state: "postgres://nobody@127.0.0.1:1/none" }
lookups:
  hq: { accounts: { name: Headquarters } }
accounts:
  field-ops: { name: Field operations, account: "\${lookups.hq.id}" }
alert_push_destinations:
  pager:
    name: On-call pager
    enabled: true
    endpoint: { url: https://hooks.example.com/alerts }
    authentication: { secret: "\${secret.env.PAGER_SECRET}" }
alert_rules:
  wan-down:
    associated_accounts: ["\${accounts.field-ops.id}", "\${lookups.hq.id}"]
    filter_criteria: { alert_type__in: [ethernet_wan_disconnected] }
    http_destinations: ["\${alert_push_destinations.pager.destination_config_id}"]
`;
const renamed = declarations.replace('Field operations', 'Field');

/** Everything in the folder and what git knows of it, as text. */
const shapeOf = (home: Repository): string =>
  [
    readdirSync(home.path, { recursive: true, encoding: 'utf8' }).toSorted().join('\n'),
    home.git('status', '--porcelain=v2', '--branch', '--ignored'),
    home.git('worktree', 'list'),
  ].join('\n');

const documentOf = (stdout: string): PlanDocument => JSON.parse(stdout) as PlanDocument;

const valid = new Ajv({ strict: false }).compile(
  JSON.parse(readFileSync(join(import.meta.dirname, '../../schemas/plan.schema.json'), 'utf8')),
);

test('a reference and the working tree: nothing is read but declarations, and nothing is left', async () => {
  const home = repository({ 'trueup.yaml': declarations });
  const same = await home.expect(0, ['diff', 'main', '--detailed-exitcode']);
  expect(same.stdout).toBe('No changes from main to the working tree. Unchanged: 3.\n');
  expect(same.stderr).toBe('');
  home.write('trueup.yaml', renamed);
  const before = shapeOf(home);
  const { stdout, stderr } = await home.expect(2, ['diff', 'main', '--detailed-exitcode']);
  expect(stdout).toBe(`~ update accounts.field-ops
  name changed in the declaration · trueup.yaml:5:3
    name  "Field operations" → "Field"

Declarations were compared. The cloud and the state were not read, and policies and limits were not evaluated: trueup plan does that.
From main to the working tree: 0 to create, 1 to update, 0 to delete; 2 unchanged.
`);
  expect(stderr).toBe('');
  await home.expect(0, ['diff', 'main']);
  expect(shapeOf(home)).toBe(before);
});

test('two references, whatever the working tree holds', async () => {
  const home = repository({ 'trueup.yaml': declarations });
  home.git('switch', '--quiet', '--create', 'feature');
  home.write('trueup.yaml', renamed.replace(/alert_rules:[^]*/, ''));
  home.commit();
  home.write('trueup.yaml', 'accounts: {');
  for (const range of ['main..feature', 'main..', 'main..HEAD', 'HEAD~1..feature']) {
    const { stdout } = await home.expect(2, ['diff', range, '--detailed-exitcode']);
    expect(stdout).toContain('~ update accounts.field-ops');
    expect(stdout).toContain('- DELETE alert_rules.wan-down');
    expect(stdout).toContain('0 to create, 1 to update, 1 to delete; 1 unchanged.\n');
  }
  const back = await home.expect(0, ['diff', 'feature..main']);
  expect(back.stdout).toContain('+ create alert_rules.wan-down');
  expect(back.stdout).toContain('it is not declared at feature');
  const beside = await home.expect(1, ['diff', 'main', 'feature']);
  expect(beside.stderr).toContain('"feature" is a reference, not a PATH.');
  expect(beside.stderr).toContain('trueup diff main..feature');
  const dots = await home.expect(1, ['diff', 'main...feature']);
  expect(dots.stderr).toContain('git merge-base');
});

test('every format, and reports in files', async () => {
  const home = repository({ 'trueup.yaml': declarations });
  home.write('trueup.yaml', renamed.replace('PAGER_SECRET', 'OTHER_SECRET'));
  const env = { PAGER_SECRET: 'canary-one', OTHER_SECRET: 'canary-two' };
  home.commit();
  const reports = ['--report', 'markdown=p.md', '--report', 'html=p.html'];
  const { stdout } = await home.expect(0, ['diff', 'HEAD~1', '--format', 'json', ...reports], {
    env,
  });
  const document = documentOf(stdout);
  expect([valid(document), valid.errors]).toEqual([true, null]);
  expect(document.compared).toEqual({
    before: { reference: 'HEAD~1', commit: home.git('rev-parse', 'HEAD~1').trim() },
    after: null,
  });
  const rule = document.resource_changes.find(({ address }) => address === 'alert_rules.wan-down');
  expect(rule?.change.after?.['associated_accounts']).toEqual([
    '${accounts.field-ops.id}',
    '${lookups.hq.id}',
  ]);
  expect(document.resource_changes.flatMap(({ requests }) => requests)).toEqual([]);
  expect(document.resource_changes.map(({ change }) => change.after_unknown)).toEqual([{}, {}, {}]);
  expect([document.target, document.policy, document.unmanaged]).toEqual(['', [], {}]);
  const [markdown, html] = [home.read('p.md'), home.read('p.html')];
  for (const text of [stdout, markdown, html]) expect(text).not.toContain('canary');
  for (const text of [markdown, html]) {
    expect(text).toContain('working tree: 0 to create, 2 to update, 0 to delete; 1 unchanged.');
    expect(text).toContain('policies and limits were not evaluated: trueup plan does that.');
    expect(text).not.toContain('serial');
  }
});

describe('the files of a reference', () => {
  test('a project in a folder of the repository, with environments and variables', async () => {
    const home = repository({
      'sites/one/a.yaml': 'accounts:\n  a: { name: "${var.name}" }\n',
      'sites/one/more/b.yaml': 'accounts:\n  b: { name: B, account: "${accounts.a.id}" }\n',
      'sites/one/trueup.prod.yaml': 'variables: { name: Old }\n',
      'sites/two/c.yaml': 'accounts:\n  c: { name: C }\n',
    });
    home.write('sites/one/trueup.prod.yaml', 'variables: { name: New }\n');
    const one = folderIn(home, 'sites/one');
    const { stdout } = await one(0, ['diff', 'main', '--env', 'prod']);
    expect(stdout).toContain('name  "Old" → "New"');
    expect(stdout).toContain('0 to create, 1 to update, 0 to delete; 1 unchanged.\n');
    expect(stdout).not.toContain('accounts.c');
    const given = await one(0, ['diff', 'main', '--var', 'name=Given']);
    expect(given.stdout).toContain('No changes');
    const part = await one(0, ['diff', 'main', 'more', '--env', 'prod']);
    expect(part.stdout).toBe('No changes from main to the working tree. Unchanged: 1.\n');
    const all = await home.expect(0, ['diff', 'main', 'sites/two']);
    expect(all.stdout).toContain('Unchanged: 1.');
  });

  test('a committed cdktf.out; a program is not run at a reference', async () => {
    const stack = (name: string): string =>
      JSON.stringify({
        '//': { metadata: { stackName: 's' } },
        terraform: { required_providers: { devicecloud: { source: 'trueup/devicecloud' } } },
        resource: { devicecloud_account: { ops: { name } } },
      });
    const manifest = JSON.stringify({
      version: '0.20.0',
      stacks: { s: { name: 's', synthesizedStackPath: 'stacks/s/cdk.tf.json' } },
    });
    const home = repository({
      'cdktf.json': JSON.stringify({ app: 'touch ran', language: 'typescript' }),
      'cdktf.out/manifest.json': manifest,
      'cdktf.out/stacks/s/cdk.tf.json': stack('Ops'),
    });
    home.write('cdktf.out/stacks/s/cdk.tf.json', stack('Field'));
    const { stdout } = await home.expect(0, ['diff', 'main', 'cdktf.out']);
    expect(stdout).toContain('name  "Ops" → "Field"');
    const refused = await home.expect(1, ['diff', 'main..main']);
    expect(refused.stderr).toContain('At main: cdktf.json names a CDK program');
    expect(refused.stderr).toContain('trueup diff main..main cdktf.out');
    expect(readdirSync(home.path)).not.toContain('ran');
  });

  test('commands of secret managers are not run, and links lead nowhere outside', async () => {
    const command = 'settings: { secrets: { vault: { command: [touch, ran] } } }\n';
    const home = repository({
      'trueup.yaml': `${command}${declarations.replace(/^settings.*\n/, '').replace('env.PAGER_SECRET', 'vault.pager')}`,
    });
    symlinkSync('/etc', join(home.path, 'outside'));
    home.commit('Link');
    expect((await home.expect(0, ['diff', 'main'])).stdout).toContain('No changes');
    expect(readdirSync(home.path)).not.toContain('ran');
  });
});

test('warnings about the files of the later side, and of no other', async () => {
  const misspelt = declarations.replace('ethernet_wan_disconnected', 'wan_lost');
  const home = repository({ 'trueup.yaml': misspelt });
  const told = async (code: number, range: string): Promise<number> => {
    const { stdout, stderr } = await home.expect(code, ['diff', range]);
    return (stdout + stderr).split('`wan_lost` is not a known value').length - 1;
  };
  home.write('trueup.yaml', declarations);
  expect([await told(0, 'main'), await told(0, 'main..main')]).toEqual([0, 1]);
  home.git('rm', '--quiet', '--force', 'trueup.yaml');
  home.commit('Empty');
  expect([await told(0, 'HEAD..HEAD~1'), await told(0, 'HEAD~1..HEAD')]).toEqual([1, 0]);
  for (const broken of [
    declarations.replace('name: Field', 'nane: Field'),
    declarations.replaceAll('field-ops.id', 'field.id'),
  ]) {
    home.write('trueup.yaml', broken);
    home.commit('Broken');
    home.write('trueup.yaml', misspelt);
    expect([await told(1, 'HEAD..HEAD~2'), await told(1, 'HEAD')]).toEqual([1, 1]);
    home.git('reset', '--quiet', '--hard', 'HEAD~1');
  }
});

describe('where nothing is declared', () => {
  const account = 'accounts:\n  a: { name: A }\n';

  test('a reference before the first declaration: everything is created, and nothing else is taken for it', async () => {
    const home = repository({ README: 'text' });
    home.write('trueup.yaml', account);
    const { stdout, stderr } = await home.expect(0, ['diff', 'main']);
    expect(stdout).toContain('1 to create, 0 to update, 0 to delete; 0 unchanged.\n');
    expect(stderr).toContain('Nothing is declared at main: no YAML file and no CDK program in .');
    home.commit();
    const back = await home.expect(0, ['diff', 'HEAD..HEAD~1']);
    expect(back.stdout).toContain('0 to create, 0 to update, 1 to delete; 0 unchanged.\n');
    const neither = await home.expect(1, ['diff', 'HEAD~1..HEAD~1']);
    expect(neither.stderr).toContain('neither HEAD~1 nor HEAD~1 declares anything');
    home.write('trueup.yaml', account.replace('name', 'nane'));
    home.commit('Broken');
    expect((await home.expect(1, ['diff', 'HEAD..HEAD~1'])).stderr).toContain('At HEAD: ');
  });

  test('a PATH and an environment that the reference lacks', async () => {
    const home = repository({ 'trueup.yaml': declarations });
    home.write('more/a.yaml', account);
    const path = await home.expect(0, ['diff', 'main', 'more']);
    expect(path.stdout).toContain('1 to create, 0 to update, 0 to delete; 0 unchanged.\n');
    expect(path.stderr).toContain('Nothing is declared at main: more does not exist.');
    const both = await home.expect(0, ['diff', 'main', 'more', 'trueup.yaml']);
    expect(both.stdout).toContain('1 to create, 0 to update, 0 to delete; 3 unchanged.\n');
    const none = await home.expect(1, ['diff', 'main..main', 'mroe']);
    expect(none.stderr).toContain('declares anything in mroe');
    home.write('trueup.prod.yaml', 'variables: { a: b }\n');
    const prod = await home.expect(0, ['diff', 'main', '--env', 'prod']);
    expect(prod.stdout).toContain('4 to create, 0 to update, 0 to delete; 0 unchanged.\n');
  });

  test('a submodule: that its files are not read is said', async () => {
    const inner = repository({ 's.yaml': account });
    const home = repository({ 'trueup.yaml': declarations });
    home.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.path, 'sub');
    home.commit();
    const { stdout, stderr } = await home.expect(0, ['diff', 'main']);
    expect(stdout).toContain('+ create accounts.a');
    expect(stderr).toContain(
      'At main: files of submodules are not read, and count as absent: sub.',
    );
    expect((await home.expect(0, ['diff', 'main', 'trueup.yaml'])).stderr).toBe('');
  });
});

describe('what cannot be compared', () => {
  test('no repository, no git', async () => {
    const home = folder({ 'trueup.yaml': declarations });
    const { stderr } = await home.expect(1, ['diff', 'main']);
    expect(stderr).toContain('The current folder is in no working tree of a git repository.');
    const without = await repository().expect(1, ['diff', 'main'], { env: { PATH: home.path } });
    expect(without.stderr).toContain('git cannot be run (ENOENT)');
  });

  test.each([
    ['feature', 'origin/feature'],
    ['origin/feature', 'origin/feature'],
    ['refs/heads/feature', 'origin/feature'],
    ['remotes/origin/feature', 'origin/feature'],
    ['feature^0', 'origin/feature^0'],
    ['v1.0', 'origin/v1.0'],
    ['20261201', 'origin/20261201'],
    ['refs/pull/7/head', 'refs/pull/7/head'],
    ['COMMIT', 'COMMIT'],
  ])('what a clone lacks, until the printed command is typed: %s', async (reference, name) => {
    const origin = repository({ 'trueup.yaml': renamed });
    origin.git('branch', 'feature');
    for (const name of ['v1.0', '20261201']) origin.git('tag', name);
    origin.git('update-ref', 'refs/pull/7/head', 'HEAD');
    const commit = (text: string): string =>
      text.replace('COMMIT', origin.git('rev-parse', 'HEAD').trim());
    const home = repository({ 'trueup.yaml': declarations });
    home.git('remote', 'add', 'origin', `file://${origin.path}`);
    const { stderr } = await home.expect(1, ['diff', commit(reference)]);
    const [, command = '', called = ''] =
      /`git (fetch origin \S+)`\s+Then its name is (\S+)\.\n/.exec(stderr) ?? [];
    expect(called).toBe(commit(name));
    home.git(...command.split(' '));
    expect((await home.expect(0, ['diff', called])).stdout).toContain(
      'name  "Field" → "Field operations"',
    );
  });

  test('a reference that does not exist, also a hostile one', async () => {
    const home = repository({ 'trueup.yaml': declarations });
    const { stderr } = await home.expect(1, ['diff', 'none']);
    expect(stderr).toContain('There is no git reference "none" here.');
    expect(stderr).toContain('git fetch origin none');
    const remote = await home.run(['diff', 'origin/none']);
    expect(remote.stderr).toContain('git fetch origin none');
    const older = await home.expect(1, ['diff', 'HEAD~9']);
    expect(older.stderr).toContain('git fetch --unshallow');
    expect((await home.expect(1, ['diff', 'abcdef01'])).stderr).toContain('git fetch --unshallow');
    expect((await home.expect(1, ['diff', 'FETCH_HEAD'])).stderr).not.toContain('git fetch');
    expect((await home.expect(1, ['diff', ':trueup.yaml'])).stderr).not.toContain('git fetch');
    const before = shapeOf(home);
    for (const reference of ['--output=x', '-h', 'main\n--all', '--output=x..main', 'main..-h']) {
      const ran = await home.expect(1, ['diff', '--', reference]);
      expect(ran.stderr).toContain('There is no git reference');
    }
    await home.expect(1, ['diff', '--output=x']);
    expect(shapeOf(home)).toBe(before);
  });

  test('standard input', async () => {
    const home = repository({ 'trueup.yaml': declarations });
    const standard = await home.expect(1, ['diff', 'main', '-']);
    expect(standard.stderr).toContain('A reference has no standard input');
  });

  test('earlier declarations with errors: at which reference, and where', async () => {
    const home = repository({ 'trueup.yaml': declarations.replace('name: Field', 'nane: Field') });
    home.write('trueup.yaml', declarations);
    const { stderr } = await home.expect(1, ['diff', 'main']);
    expect(stderr).toContain('At main: ');
    expect(stderr).toContain('trueup.yaml:5:16');
    home.write('trueup.yaml', declarations.replaceAll('field-ops.id', 'field.id'));
    home.commit('Broken reference');
    home.write('trueup.yaml', declarations);
    const broken = await home.expect(1, ['diff', 'main']);
    expect(broken.stderr).toContain('At main: alert_rules.wan-down refers to accounts.field');
    expect(broken.stderr).toContain('trueup.yaml:14:');
    const reversed = await home.expect(1, ['diff', 'HEAD~1', 'trueup.yaml']);
    expect(reversed.stderr).toContain('At HEAD~1: ');
  });
});

/** Runs the command in a folder below. */
const folderIn =
  (home: Repository, path: string) => async (code: number, args: readonly string[]) => {
    const ran = await start(args, { cwd: join(home.path, path) }).ended;
    expect([ran.code, ran.stderr]).toEqual([code, '']);
    return ran;
  };
