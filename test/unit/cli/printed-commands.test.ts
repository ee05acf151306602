// Commands that messages print do what the run was about, as they are typed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as diff } from '../../../src/cli/commands/diff.js';
import { rollback } from '../../../src/cli/commands/kept-states.js';
import { run as drift } from '../../../src/cli/commands/drift.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import { run as flip } from '../../../src/cli/commands/sim-flip.js';
import { run as testPolicies } from '../../../src/cli/commands/test.js';
import { declarationFiles } from '../../../src/platform/declaration-files.js';
import { gitIn } from '../../support/git.js';
import { folderWith, inProcess, typing } from '../../support/in-process.js';

const SETTINGS = 'settings: { target: emulator }\nvariables: { n: Default }\n';
const PROJECT = `${SETTINGS}accounts: { a: { name: "\${var.n}" } }\n`;

const PROD = ['--env', 'prod', '--var', 'n=two'];

describe('a PATH that begins with a dash', () => {
  test('is named with its folder', async () => {
    const cwd = folderWith({ '-d ir/trueup.yaml': PROJECT });
    const { stderr } = await typing(plan, cwd, 'plan', '--', '-d ir');
    expect(stderr).toContain("To apply it: trueup apply './-d ir' ");
  });

  test('may be a saved plan', async () => {
    const cwd = folderWith({ 'trueup.yaml': PROJECT });
    const { stderr } = await typing(plan, cwd, 'plan', '--out', '-x.plan');
    expect(stderr).toContain('To apply the plan, within 24 h: trueup apply ./-x.plan');
  });
});

test.each([
  ['that sends something', PROJECT, [], 1],
  ['that shows it', PROJECT, ['--show-requests'], 0],
  ['that is saved', PROJECT, ['--out', 'my.plan'], 1],
  ['for a program', PROJECT, ['--format', 'json'], 0],
  ['that sends nothing', SETTINGS, [], 0],
])('a plan %s: the flag that shows what is sent', async (_, text, words, count) => {
  const cwd = folderWith({ 'trueup.yaml': text });
  const { stderr } = await typing(plan, cwd, 'plan', ...words);
  expect(stderr.match(/To see what is sent: --show-requests/g) ?? []).toHaveLength(count);
});

test('a plan and an audit say how secrets are compared, where there are some', async () => {
  const destination =
    'alert_push_destinations:\n  p:\n    name: P\n    endpoint: { url: https://hooks.example.com/a }\n';
  const secret = '    authentication: { secret: "${secret.env.PAGER}" }\n';
  for (const [text, count] of [
    [destination, 0],
    [destination + secret, 1],
  ] as const) {
    const cwd = folderWith({ 'trueup.yaml': SETTINGS + text });
    const where = { cwd, env: { PAGER: 'hunter2' } };
    const first = await inProcess(apply, ['apply', '--auto-approve'], where);
    expect(first.code).toBe(0);
    for (const [command, name] of [
      [plan, 'plan'],
      [drift, 'drift'],
    ] as const) {
      const { stderr } = await inProcess(command, [name], where);
      expect(
        stderr.match(/Declared secrets are compared with those sent last/g) ?? [],
      ).toHaveLength(count);
    }
  }
});

test('a lifecycle that the state does not hold is recorded by an apply of the same project', async () => {
  const cwd = folderWith({ 'p/trueup.yaml': PROJECT, 'p/trueup.prod.yaml': SETTINGS });
  const words = ['p', '--env', 'prod'];
  await typing(apply, cwd, 'apply', ...words, '--auto-approve');
  writeFileSync(
    join(cwd, 'p/trueup.yaml'),
    PROJECT.replace('" }', '", lifecycle: { protect: true } }'),
  );
  const { stderr } = await typing(plan, cwd, 'plan', ...words);
  expect(stderr).toContain('To record the declared ones: trueup apply p --env prod ');
});

test('a refused apply shows no address to notify', async () => {
  const cwd = folderWith({ 'trueup.yaml': PROJECT });
  const words = ['--notify', 'slack=https://h.example/key', '--lock-wait', '5m', ...PROD];
  const { stderr } = await typing(apply, cwd, 'apply', ...words);
  expect(stderr).toContain(
    'confirmation: trueup apply --auto-approve --lock-wait 5m --env prod --notify slack=<value> --var n=<value> ',
  );
});

test('a saved plan that is applied in another project advises no command there', async () => {
  const one = folderWith({ 'trueup.yaml': PROJECT });
  const other = folderWith({ 'trueup.yaml': PROJECT.replace('{ a:', '{ b:') });
  for (const cwd of [one, other]) await typing(apply, cwd, 'apply', '--auto-approve');
  await typing(plan, one, 'plan', '--destroy', '--out', 'd.plan');
  const foreign = await typing(apply, other, 'apply', join(one, 'd.plan'));
  expect(foreign.code).toBe(6);
  expect(foreign.stderr).toContain('If it is the plan of another project, apply it in the folder');
  expect(foreign.stderr).not.toContain('trueup plan');
  writeFileSync(join(one, 'trueup.yaml'), PROJECT.replace('{ a:', '{ c:'));
  const changed = await typing(apply, one, 'apply', 'd.plan');
  expect(changed.code).toBe(6);
  expect(changed.stderr).toContain('Make it again: trueup plan --out d.plan --destroy');
});

test('a saved plan beside a PATH is applied alone', async () => {
  const cwd = folderWith({ 'trueup.yaml': PROJECT });
  await typing(plan, cwd, 'plan', '--out', 'my plan');
  const { code, stderr } = await typing(apply, cwd, 'apply', '.', 'my plan');
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("to apply it: trueup apply 'my plan' "),
  ]);
});

test('a saved plan that is applied in a copy of its project advises no command there', async () => {
  const [staging, prod] = [
    folderWith({ 'trueup.yaml': PROJECT }),
    folderWith({ 'trueup.yaml': PROJECT }),
  ];
  for (const cwd of [staging, prod]) await typing(apply, cwd, 'apply', '--auto-approve');
  await typing(plan, staging, 'plan', '--destroy', '--out', 'd.plan');
  const { code, stderr } = await typing(apply, prod, 'apply', join(staging, 'd.plan'));
  expect([code, stderr.includes('trueup plan')]).toEqual([6, false]);
  expect(stderr).toContain('the state is not the one it was made with');
});

test('so does a plan without a state of which nothing is declared', async () => {
  const one = folderWith({ 'trueup.yaml': PROJECT });
  await typing(plan, one, 'plan', '--out', 'n.plan');
  const other = folderWith({ 'trueup.yaml': PROJECT.replace('{ a:', '{ b:') });
  const { code, stderr } = await typing(apply, other, 'apply', join(one, 'n.plan'));
  expect([code, stderr.includes('trueup plan')]).toEqual([6, false]);
  expect(stderr).toContain('nothing that it plans is declared here');
});

test('a file that cannot be read is told as a saved plan that cannot be used', async () => {
  const cwd = folderWith({ 'trueup.yaml': PROJECT, p: 'accounts: {}' });
  const { read } = declarationFiles;
  const closed = vi.spyOn(declarationFiles, 'read').mockImplementation((path, limit) => {
    if (path === join(cwd, 'p')) throw Object.assign(new Error('no'), { code: 'EACCES' });
    return read(path, limit);
  });
  const { code, stderr } = await typing(apply, cwd, 'apply', 'p');
  closed.mockRestore();
  expect([code, stderr]).toEqual([1, expect.stringContaining('[damaged-file]')]);
});

test.each([
  ['JSON', '{"accounts": {"a": {"name": "A"}}}'],
  ['YAML behind comments', '# ours\n---\naccounts: { a: { name: A } }\n'],
])(
  'declarations in %s, whatever their file is called, are applied as they were planned',
  async (_, text) => {
    const cwd = folderWith({ 'trueup.yaml': 'settings: { target: emulator }\n', site: text });
    for (const paths of [['trueup.yaml', 'site'], ['site']]) {
      const { stderr } = await typing(plan, cwd, 'plan', ...paths);
      expect(stderr).not.toContain('error:');
      const { code } = await typing(apply, cwd, 'apply', ...paths, '--auto-approve');
      expect(code).toBe(0);
    }
  },
);

test('a rollback of an environment names it', async () => {
  const cwd = folderWith({ 'trueup.yaml': PROJECT, 'trueup.prod.yaml': '' });
  await typing(apply, cwd, 'apply', '--auto-approve', ...PROD);
  const { stdout } = await typing(rollback, cwd, 'state', 'rollback', '1', ...PROD);
  expect(stdout).toContain('To see the differences: trueup plan --env prod --var n=<value>\n');
});

test('the file of a plan to make is one word', async () => {
  const cwd = folderWith({
    'policies/p.cel.yaml': '- { name: p, when: "true", message: m }\n',
    'policies/p.test.yaml': '- { name: t, policy: p, plan_file: my plan.json, violations: [] }\n',
  });
  const { stderr } = await typing(testPolicies, cwd, 'test');
  expect(stderr).toContain("To make one: trueup plan --format json > 'my plan.json' ");
  writeFileSync(join(cwd, 'my plan.json'), 'accounts: {}\n');
  const again = await typing(testPolicies, cwd, 'test');
  expect(again.stderr).toContain('To make one: trueup plan --format json > FILE');
  const tests = join(cwd, 'policies/p.test.yaml');
  for (const place of ['policies', 'none/plan.json']) {
    writeFileSync(tests, `- { name: t, policy: p, plan_file: ${place}, violations: [] }\n`);
    const { stderr: told } = await typing(testPolicies, cwd, 'test');
    expect(told).toContain('To make one: trueup plan --format json > FILE');
  }
});

test('a refused flip repeats its flags', async () => {
  const words = ['--imsi', '240010000000001', '--customer', '1 2', '-o', 'json', '--env', 'prod'];
  const { stderr } = await typing(flip, folderWith({}), 'sim', 'flip', ...words);
  expect(stderr).toContain(
    "trueup sim flip --imsi 240010000000001 --customer '1 2' --auto-approve --output json --env prod ",
  );
});

describe('the references of a comparison', () => {
  const program = JSON.stringify({ app: 'touch ran', language: 'typescript' });
  function repository(): string {
    const cwd = folderWith({ 'prog/cdktf.json': program, 'e nv/trueup.yaml': PROJECT });
    const git = gitIn(cwd);
    git('init', '--quiet', '--initial-branch', 'main');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'Change');
    git('branch', 'other');
    return cwd;
  }

  test.each([
    ['main..other', 'prog', 'main..other prog/cdktf.out'],
    ['main..other', 'prog/cdktf.json', 'main..other prog/cdktf.out'],
    ['..other', './prog', 'HEAD..other prog/cdktf.out'],
  ])('%s stay, and its PATHs but for the program %s', async (range, path, whole) => {
    const { stderr } = await typing(diff, repository(), 'diff', range, path, 'e nv');
    expect(stderr).toContain(`name the output: trueup diff ${whole} 'e nv' `);
  });

  test.each([
    [['e nv'], " 'e nv'"],
    [[], ''],
  ])('are two where one is no PATH, before %j', async (paths, rest) => {
    const words = ['diff', 'main', 'other', ...paths, '--env', 'prod'];
    const { stderr } = await typing(diff, repository(), ...words);
    expect(stderr).toContain(
      `To compare two references: trueup diff main..other${rest} --env prod `,
    );
  });
});

describe('a folder of which one part is meant', () => {
  test('may be a fleet', async () => {
    const cwd = folderWith({ 'down here/trueup.fleet.yaml': '' });
    const advice = `Go to that folder: cd 'down here' To plan all tenants: trueup fleet plan --env prod --var n=<value> To plan one, name its PATHs, as in: trueup plan base tenants/NAME --env prod --var n=<value> `;
    const { stderr } = await typing(plan, cwd, 'plan', 'down here', ...PROD);
    expect(stderr).toContain(advice);
    const file = await typing(plan, cwd, 'plan', 'down here/trueup.fleet.yaml', ...PROD);
    expect(file.stderr).toContain(
      "Go to that folder: cd 'down here' To plan its tenants: trueup fleet plan --env prod ",
    );
    const here = await typing(plan, folderWith({ 'trueup.fleet.yaml': '' }), 'plan');
    expect(here.stderr).not.toContain('Go to that folder');
  });

  test('may hold a program and YAML', async () => {
    const names = (count: number): Readonly<Record<string, string>> =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`a b/f${at}.yaml`, '']));
    const program = { 'a b/cdktf.json': '{}' };
    const some = await typing(plan, folderWith({ ...program, ...names(7) }), 'plan', 'a b');
    const files = Object.keys(names(7)).map((name) => `'${name}'`);
    expect(some.stderr).toContain(
      `Name what you mean as PATHs. The program: 'a b/cdktf.json' The YAML: ${files.join(' ')} `,
    );
    const many = await typing(plan, folderWith({ ...program, ...names(21) }), 'plan', 'a b');
    expect(many.stderr).toContain('The YAML: its files ');
  });
});
