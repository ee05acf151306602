// Policies of a project through the command: they block plans and applies, are allowed by name, and are tested.
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folder, type Folder } from '../support/cli.js';

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');
const project = `settings: { target: emulator }
accounts:
  field: { name: Field }
  ops: { name: Operations }
`;
const policies = `- name: few-creates
  when: plan.summary.create > 1
  message: "\${plan.summary.create} objects would be created"
- name: no-field
  when: declaration.attributes.name == "Field"
  message: "\${declaration.address} is named Field"
  severity: warning
- name: never-delete
  when: change.change.actions == ["delete"]
  message: "\${change.address} would be deleted"
  allow: false
`;
const withPolicies = (more: Readonly<Record<string, string>> = {}): Folder =>
  folder({ 'trueup.yaml': project, 'policies/base.cel.yaml': policies, ...more });

describe('a plan', () => {
  test('is blocked, with the message and what allows it', async () => {
    const home = withPolicies();
    const { stdout, stderr } = await home.expect(3, ['plan']);
    expect(stdout).toContain('BLOCKED few-creates: 2 objects would be created');
    expect(stdout).toContain('--allow few-creates');
    expect(flat(stderr + stdout)).toContain('warning: accounts.field is named Field');
    const document = JSON.parse((await home.expect(3, ['plan', '--format', 'json'])).stdout) as {
      policy: unknown;
    };
    expect(document.policy).toEqual([
      { rule: 'few-creates', verdict: 'blocked', detail: '2 objects would be created' },
    ]);
  });

  test('passes where the rule is allowed, and apply too', async () => {
    const home = withPolicies();
    await home.expect(3, ['apply', '--auto-approve']);
    await home.expect(0, ['plan', '--allow', 'few-creates']);
    await home.expect(0, ['apply', '--auto-approve', '--allow', 'few-creates']);
    await home.expect(0, ['plan', '--detailed-exitcode']);
  });

  test('of a policy that says so cannot be allowed', async () => {
    const home = withPolicies();
    await home.expect(0, ['apply', '--auto-approve', '--allow', 'few-creates']);
    home.write('trueup.yaml', project.replace(/ {2}ops.*\n/, ''));
    const { stdout } = await home.expect(3, ['plan', '--format', 'json']);
    expect((JSON.parse(stdout) as { policy: unknown }).policy).toContainEqual({
      rule: 'never-delete',
      verdict: 'blocked',
      detail: 'accounts.ops would be deleted',
      address: 'accounts.ops',
      allowable: false,
    });
    const { stderr } = await home.expect(1, ['apply', '--auto-approve', '--allow', 'never-delete']);
    expect(stderr).toContain('--allow never-delete: the policy says `allow: false`.');
  });

  test('that was saved before the policy came is refused by apply', async () => {
    const home = folder({ 'trueup.yaml': project });
    await home.expect(0, ['plan', '--out', 'saved']);
    home.write('policies/base.cel.yaml', policies);
    const { stdout, stderr } = await home.expect(3, ['apply', 'saved']);
    expect(flat(stdout)).toContain('2 objects would be created');
    expect(stderr).toContain('error: Blocked by few-creates.');
    await home.expect(3, ['plan', '--out', 'blocked']);
    await home.expect(0, ['plan', '--out', 'allowed', '--allow', 'few-creates']);
    await home.expect(0, ['apply', 'allowed']);
  });

  test('names the rules where --allow names none', async () => {
    const { stderr } = await withPolicies().expect(1, ['plan', '--allow', 'few-craetes']);
    expect(flat(stderr)).toContain('there is no such policy rule. Did you mean `few-creates`?');
    const plain = await folder({ 'trueup.yaml': project }).expect(1, ['plan', '--allow', 'x']);
    expect(flat(plain.stderr)).toContain('Policy rules: max-deletes, max-changed');
    const fixed = ['plan', '--allow', 'masked-configuration'];
    const masked = await folder({ 'trueup.yaml': project }).expect(1, fixed);
    expect(flat(masked.stderr)).toContain(
      'what this rule blocks cannot be allowed. [usage] Policy rules: ',
    );
  });
});

describe('policies that are wrong', () => {
  const one = (fields: string): string => `- name: a\n  when: "true"\n  message: m\n${fields}`;
  test.each([
    [
      'does not compile',
      '- name: a\n  when: chnge.x\n  message: m\n',
      '2:3',
      '`chnge` is not a variable',
    ],
    ['is no mapping', '- 7\n', '1:3', 'a mapping is expected for a policy'],
    ['lacks a message', '- name: a\n  when: "true"\n', '1:3', '`message` is missing'],
    ['has an unknown field', one('  sevrity: error\n'), '4:3', 'Did you mean `severity`?'],
    ['has a wrong severity', one('  severity: fatal\n'), '4:3', 'not one of its words'],
    ['has a string for allow', one('  allow: "${x}"\n'), '4:3', 'true or false is expected'],
    [
      'has a name with capitals',
      '- name: NoDelete\n  when: "true"\n  message: m\n',
      '1:3',
      'not a valid policy name',
    ],
    [
      'has the name of a rule',
      '- name: max-deletes\n  when: "true"\n  message: m\n',
      '1:3',
      'is a rule of trueup',
    ],
    ['stands twice', one('') + one(''), '4:3', 'is in policies/base.cel.yaml:1 already'],
    ['is no YAML', '- name: [\n', '2:1', ''],
    ['holds a tag', '- !!set {a}\n', '1:3', ''],
  ])('%s', async (_, text, at, says) => {
    const home = folder({ 'trueup.yaml': project, 'policies/base.cel.yaml': text });
    for (const command of [['validate'], ['plan'], ['apply', '--auto-approve'], ['test']]) {
      const { stderr } = await home.expect(1, command);
      expect(stderr).toContain(`policies/base.cel.yaml:${at}`);
      expect(flat(stderr)).toContain(says);
    }
    expect(existsSync(join(home.path, '.trueup/state.json'))).toBe(false);
  });

  test('stop no audit', async () => {
    const home = folder({ 'trueup.yaml': project });
    await home.expect(0, ['apply', '--auto-approve']);
    home.write('policies/base.cel.yaml', '- 7\n');
    await home.expect(0, ['drift']);
  });
});

describe('trueup test', () => {
  const tests = `- name: one create passes
  policy: few-creates
  plan: { summary: { create: 1 } }
  violations: []
- name: deletes are refused
  policy: never-delete
  plan:
    resource_changes:
      - { address: accounts.a, change: { actions: [delete] } }
      - { address: accounts.b, change: { actions: [create] } }
  violations: [accounts.a would be deleted]
- name: by a plan that was made
  policy: few-creates
  plan_file: plan.json
  violations: [2 objects would be created]
`;

  test('runs them, and names what has none', async () => {
    const home = withPolicies({ 'policies/base.test.yaml': tests });
    home.write('plan.json', (await home.expect(3, ['plan', '--format', 'json'])).stdout);
    const { stdout } = await home.expect(0, ['test']);
    expect(stdout).toBe(
      'ok   few-creates: one create passes\nok   never-delete: deletes are refused\nok   few-creates: by a plan that was made\nWithout a test: no-field.\n3 tests: 3 passed, 0 failed.\n',
    );
    expect((await home.expect(0, ['validate'])).stdout).toBe(
      'Valid: 2 declarations, 3 policies.\n',
    );
  });

  test('fails where a message differs, and shows both', async () => {
    const home = withPolicies({
      'policies/base.test.yaml': tests
        .replace('accounts.a would', 'accounts.z would')
        .split('- name: by')[0]!,
    });
    const { stdout } = await home.expect(1, ['test']);
    expect(stdout).toContain(
      'FAIL never-delete: deletes are refused\n     policies/base.test.yaml:5:3\n',
    );
    expect(stdout).toContain(
      'accounts.z would be deleted\n     found:\n      accounts.a would be deleted\n',
    );
    expect(stdout).toContain('2 tests: 1 passed, 1 failed.');
  });

  test.each([
    [
      'a policy that is not there',
      'policy: few-creats\n  violations: []',
      'there is no policy `few-creats`. Did you mean `few-creates`?',
    ],
    [
      'two plans',
      'policy: few-creates\n  plan: {}\n  plan_file: x\n  violations: []',
      '`plan` and `plan_file` cannot be used in one test',
    ],
    [
      'a file that holds no plan',
      'policy: few-creates\n  plan_file: trueup.yaml\n  violations: []',
      'trueup.yaml holds no plan document.',
    ],
    [
      'a member that no plan has',
      'policy: few-creates\n  plan: { summry: { create: 9 } }\n  violations: []',
      'no policy can see `plan.summry`. Did you mean `summary`?',
    ],
    [
      'a member that no item of a plan has',
      'policy: few-creates\n  plan: { resource_changes: [{ kind: accounts, addres: x }] }\n  violations: []',
      'no policy can see `plan.resource_changes[0].addres`. Did you mean `address`?',
    ],
    [
      'two tests of one name',
      'policy: few-creates\n  violations: []\n- name: t\n  policy: few-creates\n  violations: []',
      'a test of `few-creates` with this name is in policies/a.test.yaml:1 already',
    ],
    ['nothing that is expected', 'policy: few-creates', '`violations` is missing'],
  ])('refuses %s', async (_, fields, says) => {
    const home = withPolicies({ 'policies/a.test.yaml': `- name: t\n  ${fields}\n` });
    expect(flat((await home.expect(1, ['test'])).stderr)).toContain(says);
  });

  test('says what to write where there is nothing', async () => {
    expect((await folder({}).expect(1, ['test'])).stderr).toContain(
      'There is no policy in policies/',
    );
    expect((await withPolicies().expect(1, ['test'])).stderr).toContain(
      'There is no test in policies/',
    );
  });
});

describe('policies that would not be evaluated', () => {
  const one = '- { name: never, when: "true", message: never }\n';
  const project = (files: Readonly<Record<string, string>>): Folder =>
    folder({ 'trueup.yaml': 'settings: { target: emulator }\n', ...files });

  test.each<[file: string, path: string, next: string]>([
    ['shop/policies/a.cel.yaml', 'shop', 'cd shop'],
    ['rules/a.CEL.yaml', '.', 'mv rules/a.CEL.yaml policies/'],
  ])('are an error in %s', async (file, path, next) => {
    const home = project({ [file]: one, 'shop/a.yaml': 'accounts: {}\n' });
    const { stderr } = await home.expect(1, ['plan', path]);
    expect(flat(stderr)).toContain(`${file} holds policies that are not read`);
    expect(flat(stderr)).toContain(next);
  });

  test('are an error where the folder is a file, or a link to nothing', async () => {
    const home = project({ policies: one });
    expect((await home.expect(1, ['plan'])).stderr).toContain('cannot list policies');
    const other = project({});
    symlinkSync('nowhere', join(other.path, 'policies'));
    expect((await other.expect(1, ['plan'])).stderr).toContain('cannot list policies');
  });

  test('are evaluated behind a link, and other files beside them are no error', async () => {
    const home = project({
      'rules/a.cel.yaml': one,
      'rules/README.md': 'x',
      'rules/plan.json': '{}',
      'rules/alerts.yaml': 'accounts: {}\n',
    });
    symlinkSync('rules', join(home.path, 'policies'));
    expect((await home.expect(3, ['plan'])).stdout).toContain('BLOCKED never');
  });
});
