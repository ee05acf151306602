// The command as a process: exit codes, streams, files and signals, as the outside of the tool promises them.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answers } from '../../src/cli/program.js';
import { sha256 } from '../../src/model/index.js';
import { TRUEUP } from '../support/command.js';
import { answering, atTerminal, emulator, folder, small } from '../support/cli.js';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

describe('before anything is loaded', () => {
  test.each([
    [['--help'], ''],
    [['-help'], ''],
    [[], ''],
    [['help', 'plan'], 'plan'],
    [['plan', '-h'], 'plan'],
    [['state', 'mv', '--help'], 'state mv'],
  ])('%j is answered with what the parser says', async (args, name) => {
    expect(await folder().run(args)).toMatchObject({
      code: 0,
      stdout: answers()[name],
      stderr: '',
    });
  });

  test('the version', async () => {
    const { code, stdout, stderr } = await folder().run(['--version']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.replace(/ \([0-9a-f]{7}(-dirty)?\)/, '')).toBe(`trueup ${manifest.version}\n`);
  });

  test('wrong usage is 1, on stderr, without a stack', async () => {
    const { code, stdout, stderr } = await folder().run(['plan', '--frmat', 'json']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/unknown option '--frmat'[\s\S]*--format/);
    expect(stderr).not.toContain('    at ');
  });

  test('an argument that is empty is no question for help', async () => {
    for (const args of [['apply', ''], ['plan', ''], ['']])
      expect([args, await folder().run(args)]).toMatchObject([args, { code: 1, stdout: '' }]);
  });
});

describe('a first project', () => {
  test('init plans at once, and writes nothing twice', async () => {
    const home = folder({ '.gitignore': 'node_modules/' });
    await home.expect(0, ['init']);
    expect(home.read('.gitignore')).toBe('node_modules/\n.trueup/\n');
    expect((await home.expect(0, ['validate'])).stderr).toBe('');
    expect((await home.expect(2, ['plan', '-detailed-exitcode'])).stdout).toContain('3 to create');
    home.write('trueup.yaml', small);
    await home.expect(0, ['init']);
    expect(home.read('trueup.yaml')).toBe(small);
    expect(home.read('.gitignore')).toBe('node_modules/\n.trueup/\n');
  });

  test('plan, apply, plan, drift, destroy', async () => {
    const home = folder({ 'trueup.yaml': small });
    const plan = await home.expect(0, ['plan']);
    expect(plan.stdout).toContain('Plan: 3 to create');
    expect(plan.stderr).toBe('To see what is sent: --show-requests\nTo apply it: trueup apply\n');
    expect(existsSync(join(home.path, '.trueup/state.json'))).toBe(false);
    expect((await home.expect(0, ['apply', '-auto-approve'])).stdout).toContain(
      'Applied: 3 created',
    );
    const state = home.read('.trueup/state.json');
    expect((await home.expect(0, ['plan', '--detailed-exitcode'])).stdout).toContain('No changes');
    expect((await home.expect(0, ['drift', '--detailed-exitcode'])).stdout).toContain('No drift');
    expect(
      (await home.expect(2, ['drift', '--detailed-exitcode', '--unmanaged=fail'])).stdout,
    ).toContain('Unmanaged: 1 account');
    expect(home.read('.trueup/state.json')).toBe(state);
    expect((await home.expect(0, ['destroy', '-auto-approve'])).stdout).toContain('3 deleted');
    expect((await home.expect(0, ['state', 'list'])).stdout).toBe('');
  });

  test('who only looks leaves nothing behind', async () => {
    const home = folder({ 'trueup.yaml': small });
    for (const args of [['plan'], ['drift'], ['get', 'accounts'], ['doctor'], ['state', 'list']])
      await home.expect(0, args);
    expect(readdirSync(home.path)).toEqual(['trueup.yaml']);
  });

  test('nobody to ask: fails at once, before reading anything', async () => {
    const home = folder({ 'trueup.yaml': 'this is not even: [yaml' });
    for (const args of [['apply'], ['destroy'], ['apply', '--json']]) {
      const { stderr, stdout } = await home.expect(1, args);
      expect(stdout + stderr).toContain('--auto-approve');
      expect(stdout + stderr).not.toContain('yaml:');
    }
  });

  test('a saved plan that is not there is missed before anything else', async () => {
    const { stderr } = await folder({ 'trueup.yaml': small }).expect(1, ['apply', 'lost.plan']);
    expect(stderr).toContain('lost.plan does not exist');
    expect(stderr).not.toContain('--auto-approve');
  });
});

describe('validate', () => {
  const refused = async (yaml: string, ...flags: readonly string[]): Promise<string> =>
    (await folder({ 'trueup.yaml': yaml }).expect(1, ['validate', ...flags])).stderr;

  test('references that go round, by their members', async () => {
    const told = await refused(
      'accounts: { a: { name: A, account: "${accounts.b.id}" }, b: { name: B, account: "${accounts.a.id}" } }\n',
    );
    expect(told).toMatch(/accounts\.a → accounts\.b →\s+accounts\.a\./);
    expect(told).toContain('trueup.yaml:1:');
  });

  test('references to nothing, with their place, the lines around it and the nearest address', async () => {
    const told = await refused(
      'accounts:\n  field: { name: F }\n  sub:\n    name: S\n    account: "${accounts.feild.id}"\n',
    );
    expect(told).toMatch(/accounts\.feild[\s\S]*`accounts\.field`/);
    expect(told).toContain('trueup.yaml:5:5');
    expect(told).toContain('> 5 |     account: "${accounts.feild.id}"');
  });

  test('what another PATH declares is answered for by the state', async () => {
    const home = folder({
      'a/trueup.yaml': 'settings: { target: emulator }\naccounts: { up: { name: U } }\n',
      'b/x.yaml': 'accounts: { sub: { name: S, account: "${accounts.up.id}" } }\n',
    });
    await home.expect(1, ['validate', 'b']);
    await home.expect(0, ['apply', 'a', '--auto-approve']);
    await home.expect(0, ['validate', 'b']);
  });

  test('more errors than a pipe holds at once, all of them', async () => {
    const rules = Array.from({ length: 1500 }, (_, index) => `  rule-${index}: { unknown: 1 }\n`);
    const yaml = `alert_rules:\n${rules.join('')}`;
    const told = await refused(yaml, '--verbose');
    expect(told.length).toBeGreaterThan(2 ** 17);
    expect(await refused(yaml)).toMatch(/and 997 more like this: alert_rules\.rule-3, /);
    expect(told).toMatch(/500 more errors are not shown[\s\S]*Fix those above first\.\s*$/);
  });

  test('an error in a template, not once for each of its uses', async () => {
    const uses = Array.from(
      { length: 40 },
      (_, index) => `  c${index}: { template: site, with: { at: a b } }\n`,
    );
    const told = await refused(
      `templates:
  site:
    parameters: { type: object, properties: { at: { type: string } } }
    alert_push_destinations:
      hook: { name: Hook, enabled: true, endpoint: { url: "https://hooks.example.com/\${param.at}" } }
use:
${uses.join('')}`,
    );
    expect(told.match(/holds a blank/g)).toHaveLength(3);
    expect(told).toContain('error: and 37 more like this at the same place');
  });

  test('the first of many warnings, before the error', async () => {
    const told = await refused(
      'alert_rules: { r: { for_each: [a, b, c, d, e], filter_criteria: { alert_type__in: ["${each.key}"] }, associated_accounts: ["1"] } }\naccounts: { a: { nam: A } }\n',
    );
    expect(told.match(/^warning: /gm)).toHaveLength(4);
    expect(told.lastIndexOf('warning: ')).toBeLessThan(told.indexOf('error: '));
  });

  test('advice, too, with the lines around it', async () => {
    const { stderr } = await folder({
      'trueup.yaml': 'account_authorizations: { x: { user: "1", account: "2", role: root } }\n',
    }).expect(0, ['validate']);
    expect(stderr).toContain('> 1 | account_authorizations');
  });
});

describe('references to members of a for_each', () => {
  const keys = ['a/b', 'c/b', 'a?b', 'a?c', 'a#b', 'a#c', 'a/ b', ' b', '"b"', "'b'"];
  const sites = `settings: { target: emulator }\naccounts:\n  site: { for_each: ${JSON.stringify(Object.fromEntries(keys.map((key, index) => [key, `Site ${index}`])))}, name: "\${each.value}" }\n`;
  const gates = `  gate: { for_each: ${JSON.stringify(keys)}, name: Gate, account: "\${accounts.site[each.key].id}" }\n`;

  const at = (key: string): string => `\${accounts.site[${JSON.stringify(key)}].id}`;
  const showsNoPlaceholder = (text: string): void => {
    for (const key of keys) expect(text).not.toContain(sha256(at(key)).slice(0, 12));
  };

  test('are told apart by the whole key, whatever it holds', async () => {
    const home = folder({ 'trueup.yaml': sites + gates });
    const { stdout } = await home.expect(0, ['apply', '--auto-approve']);
    showsNoPlaceholder(stdout);
    const { records } = JSON.parse(home.read('.trueup/emulator.json')) as {
      records: { accounts: readonly { id: string; name: string; account: string | null }[] };
    };
    const above = records.accounts.flatMap(({ name, account }) => (name === 'Gate' ? account : []));
    expect(new Set(above).size).toBe(keys.length);
    await home.expect(0, ['plan', '--detailed-exitcode']);
  });

  test.each(['text', 'json', 'markdown', 'html'])(
    'are told by their addresses where two declarations are the same: %s',
    async (format) => {
      // Texts that the service may escape are one text.
      const gate = (name: string, text: string): string =>
        `  ${name}: { for_each: ${JSON.stringify(keys)}, name: "${text}", account: "\${accounts.site[each.key].id}" }\n`;
      const home = folder({ 'trueup.yaml': sites + gate('a', 'A & B') + gate('b', 'A &amp; B') });
      const { stdout, stderr } = await home.expect(1, ['plan', '--format', format]);
      expect(stderr.match(/ declare the same account/g)).toHaveLength(3);
      expect(stderr).toContain(`and ${keys.length - 3} more like this at the same place`);
      showsNoPlaceholder(stdout + stderr);
    },
  );
});

const escaped = (text: string): string => text.replaceAll(/[[\]]/g, '\\$&');

describe('saved plans', () => {
  test('are stale where what they were made from is not there any more', async () => {
    const home = folder({
      'a.yaml': 'settings: { target: emulator }\naccounts: { a: { name: A } }\n',
    });
    await home.expect(0, ['plan', '--out', 'p.plan']);
    rmSync(join(home.path, 'a.yaml'));
    expect((await home.expect(6, ['apply', 'p.plan'])).stderr).toContain('p.plan is stale');
  });

  test('name the environment in every command they tell to type', async () => {
    const home = folder({
      'a.yaml': 'settings: { target: emulator }\naccounts: { a: { name: A, account: "1" } }\n',
      'trueup.prod.yaml': 'variables: {}\n',
    });
    await home.expect(0, ['apply', '--auto-approve', '--env', 'prod']);
    home.write(
      '.trueup/emulator.json',
      home
        .read('.trueup/emulator.json')
        .replace('"accounts":[', '"accounts":[{"id":"77","name":"A","account":"1"},'),
    );
    rmSync(join(home.path, '.trueup', 'state.prod.json'));
    const { stderr } = await home.expect(5, ['plan', '--env', 'prod']);
    expect(stderr).toMatch(/^ *(?:Choose one: )?trueup import accounts\.a 2 --env prod$/m);
    expect((await home.expect(5, ['plan', 'a.yaml', '--env', 'prod'])).stderr).toMatch(
      /trueup import accounts\.a 2 a\.yaml --env prod$/m,
    );
    expect((await home.expect(5, ['plan', 'a.yaml', '--env', 'prod', '--json'])).stdout).toContain(
      'trueup import accounts.a 2 a.yaml --env prod\\n',
    );
    expect((await home.expect(1, ['apply', 'a.yaml', '--env', 'prod'])).stderr).toMatch(
      /: trueup apply --auto-approve a\.yaml --env prod$/m,
    );
    expect((await home.expect(1, ['destroy', 'a.yaml'])).stderr).toMatch(
      /: trueup destroy --auto-approve a\.yaml$/m,
    );
  });

  test('name the PATHs and the environment they were made with, and not themselves', async () => {
    const home = folder({
      'our estate/a.yaml': 'settings: { target: emulator }\naccounts: { a: { name: A } }\n',
      'our estate/trueup.prod.yaml': 'variables: {}\n',
    });
    expect(
      (await home.expect(0, ['plan', 'our estate', '--env', 'prod', '--out', 'p q.plan'])).stderr,
    ).toContain("trueup apply 'p q.plan'\n");
    home.write('our estate/a.yaml', home.read('our estate/a.yaml').replace('name: A', 'name: B'));
    expect((await home.expect(6, ['apply', 'p q.plan'])).stderr).toMatch(
      /trueup plan --out 'p q.plan' 'our estate' --env prod$/m,
    );
    home.write('p q.plan', '{}');
    expect((await home.expect(1, ['apply', 'p q.plan'])).stderr).toMatch(
      /Make the plan again by trueup plan, with the options/,
    );
  });

  test('are shown, carried out without asking, and refused when stale', async () => {
    const home = folder({ 'trueup.yaml': small });
    expect((await home.expect(0, ['plan', '-out=p.plan'])).stderr).toContain('trueup apply p.plan');
    const shown = JSON.parse(
      (await home.expect(0, ['show', 'p.plan', '--format', 'json'])).stdout,
    ) as { summary: { create: number } };
    expect(shown.summary.create).toBe(3);
    await home.expect(0, ['apply', 'p.plan']);
    expect((await home.expect(6, ['apply', 'p.plan'])).stderr).toContain('made without a state');
    await home.expect(0, ['plan', '-out=q.plan']);
    home.write('trueup.yaml', small.replace('Field operations', 'Field work'));
    const { stderr } = await home.expect(6, ['apply', 'q.plan']);
    expect(stderr).toContain('stale');
    expect(stderr).toContain('trueup plan --out q.plan');
    expect(
      (await home.expect(1, ['apply', 'q.plan', '--target', 'accounts.field-ops'])).stderr,
    ).toContain('--target');
  });

  test('a plan with variables is made again with the same values', async () => {
    const home = folder({ 'trueup.yaml': small.replace('Field operations', '"${var.name}"') });
    await home.expect(0, ['plan', '-var=name=Field', '--out', 'p.plan']);
    await home.expect(0, ['apply', 'p.plan']);
    expect(
      (await home.expect(0, ['get', 'accounts', '-o', 'csv', '--var', 'name=Field'])).stdout,
    ).toContain('Field');
  });

  test.each([
    ['a line feed', '\n'],
    ['a carriage return', '\r'],
    ['a tab', '\t'],
    ['a bell', '\u0007'],
    ['a colour', '\u001b[31m'],
    ['a delete', '\u007f'],
    ['a colour in one character less', '\u009b31m'],
  ])(
    'a variable that holds %s is printed in no command, but named, and raw nowhere',
    async (_, character) => {
      const twin = '"accounts":[{"id":"77","name":"A","account":"1"},';
      const home = folder({
        'a.yaml':
          'settings: { target: emulator }\nvariables: { site: s, other: o }\naccounts: { a: { name: A, account: "1" }, b: { name: "${var.site} ${var.other}" } }\n',
      });
      const given = ['--var', `site=a${character}b`, '--var', 'other=x y'];
      const printed = async (code: number, ...args: readonly string[]): Promise<string> => {
        const { stdout, stderr } = await home.expect(code, args);
        expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]/u);
        expect(stdout + stderr).not.toMatch(new RegExp(`(?:a|si)${escaped(character)}(?:b|te)`));
        return stdout + stderr;
      };
      await printed(0, 'apply', 'a.yaml', '--auto-approve', '--var', 'site=s', '--var', 'other=o');
      await printed(0, 'plan', 'a.yaml', ...given, '--out', 'p.plan');
      const yaml = home.read('a.yaml');
      home.write('a.yaml', yaml.replace('name: A', 'name: C'));
      const stale = await printed(6, 'apply', 'p.plan');
      expect(stale).toMatch(
        /trueup plan --out p\.plan a\.yaml --var 'other=x y' --var site=<value>$/m,
      );
      home.write('a.yaml', yaml);
      const cloud = home.read('.trueup/emulator.json');
      home.write('.trueup/emulator.json', cloud.replace('"accounts":[', twin));
      rmSync(join(home.path, '.trueup', 'state.json'));
      const told = await printed(5, 'plan', 'a.yaml', ...given);
      expect(told).toMatch(
        /trueup import accounts\.a 2 a\.yaml --var 'other=x y' --var site=<value>$/m,
      );
      for (const form of ['json', 'markdown', 'html'])
        await printed(5, 'plan', 'a.yaml', ...given, '--format', form);
      await printed(5, 'plan', 'a.yaml', ...given, '--json');
      await printed(5, 'plan', 'a.yaml', ...given, '--var', `si${character}te=x`);
    },
  );

  test('other files are not plans', async () => {
    const home = folder({ 'trueup.yaml': small, 'notes.txt': 'hello' });
    const { code, stderr } = await home.run(['apply', 'notes.txt']);
    expect(code).toBe(1);
    expect(stderr).toContain('notes.txt');
  });
});

describe('policy', () => {
  const rules = (count: number): string =>
    `settings: { target: emulator, policy: { max_deletes: 1 } }\naccounts:\n${Array.from({ length: count }, (_, index) => `  a${index}: { name: Account ${index} }\n`).join('')}`;

  test('a blocked plan is shown and is 3; --allow lets it pass', async () => {
    const home = folder({ 'trueup.yaml': rules(4) });
    await home.expect(0, ['apply', '--auto-approve']);
    home.write('trueup.yaml', rules(1));
    expect((await home.expect(3, ['plan'])).stdout).toContain('--allow max-deletes');
    const { stderr } = await home.expect(3, ['plan', '--out', 'p.plan']);
    expect(stderr).toContain(
      'it is blocked, and apply refuses it. To let it pass, plan again with --allow max-deletes\n',
    );
    expect(stderr).not.toContain('trueup apply');
    await home.expect(3, ['apply', 'p.plan']);
    expect(
      (await home.expect(0, ['plan', '--out', 'p.plan', '--allow', 'max-deletes'])).stderr,
    ).toContain('To apply the plan, within 24 h: trueup apply p.plan\n');
    expect((await home.expect(3, ['apply', '--auto-approve'])).stdout).toContain('max-deletes');
    expect((await home.expect(0, ['state', 'list'])).stdout).toContain('accounts.a3');
    await home.expect(0, ['apply', '--auto-approve', '--allow', 'max-deletes']);
    expect((await home.expect(0, ['state', 'list'])).stdout).not.toContain('accounts.a3');
  });
});

describe('streams', () => {
  test('complaints go to stderr with their place, the product to stdout', async () => {
    const home = folder({ 'trueup.yaml': small.replace('enabled: true', 'enabled: perhaps') });
    for (const verb of ['validate', 'plan', 'drift']) {
      const { stdout, stderr } = await home.expect(1, [verb]);
      expect(stdout).toBe('');
      expect(stderr).toMatch(/trueup\.yaml:5:\d+/);
      expect(stderr).not.toContain('    at ');
    }
  });

  test('what stands against a plan is printed once: on stderr, or in the text of a terminal', async () => {
    const home = folder({
      'trueup.yaml': `${small}account_authorizations: { x: { user: "1", account: "1", role: read_only_user } }\n`,
    });
    for (const verb of [
      ['plan'],
      ['plan', '--format', 'json'],
      ['apply', '--auto-approve'],
      ['drift'],
    ]) {
      const { stdout, stderr } = await home.expect(1, verb);
      expect(stderr.match(/\[cannot-create\]/g)).toHaveLength(1);
      expect(stdout).not.toContain('[cannot-create]');
    }
    expect(atTerminal(home, ['plan']).screen.match(/cannot-create/g)).toHaveLength(1);
    spawnSync('sh', ['-c', '"$0" "$1" plan >log 2>&1', process.execPath, TRUEUP], {
      cwd: home.path,
    });
    expect(home.read('log').match(/cannot-create/g)).toHaveLength(1);
    home.write('trueup.yaml', small);
    await home.expect(0, ['apply', '--auto-approve']);
    home.write('trueup.yaml', 'settings: { target: emulator }\n');
    expect((await home.expect(3, ['plan', '--format', 'json'])).stderr).toContain(
      '--allow all-removed',
    );
    expect((await home.expect(3, ['apply', '--auto-approve'])).stderr).toContain(
      'Nothing was changed',
    );
    expect((await home.expect(3, ['plan'])).stderr).toContain(
      'To apply it anyway: trueup apply --allow all-removed\n',
    );
  });

  test('--json is one object a line, complaints included', async () => {
    const home = folder({ 'trueup.yaml': small });
    for (const [args, types] of [
      [
        ['plan', '--json'],
        ['version', 'planned_change', 'change_summary'],
      ],
      [
        ['apply', '--json', '-auto-approve'],
        ['version', 'planned_change', 'apply_start', 'apply_complete', 'change_summary'],
      ],
      [
        ['drift', '--json'],
        ['version', 'drift_summary'],
      ],
    ] as const) {
      const { stdout, stderr } = await home.expect(0, args);
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      for (const name of ['@level', '@message', '@module', '@timestamp', 'type'])
        expect(lines.every((line) => typeof line[name] === 'string')).toBe(true);
      expect(lines.map((line) => line['type'])).toEqual(expect.arrayContaining([...types]));
      expect(stderr).toBe('');
    }
    home.write('trueup.yaml', 'accounts: { a: { nmae: x } }');
    expect(
      JSON.parse(
        (await home.expect(1, ['plan', '--json'])).stdout.trim().split('\n').at(-1) as string,
      ),
    ).toMatchObject({ type: 'diagnostic', '@level': 'error' });
  });

  test('--json begins with the version, whatever there is to complain about', async () => {
    const warned =
      small +
      'account_authorizations: { x: { user: "1", account: "2", role: root, lifecycle: { protect: true } } }\n';
    for (const [text, verb] of [
      [warned, ['plan']],
      [warned, ['drift']],
      [warned, ['apply', '--auto-approve']],
      ['accounts: [', ['plan']],
      [small, ['apply']],
    ] as const) {
      const { stdout } = await folder({ 'trueup.yaml': text }).run([...verb, '--json']);
      const types = stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { type: string }).type);
      expect([types[0], types.includes('diagnostic')]).toEqual(['version', true]);
      expect(types.filter((type) => type === 'version')).toHaveLength(1);
    }
  });

  test('reports are written beside what is shown', async () => {
    const home = folder({ 'trueup.yaml': small });
    const { stdout } = await home.expect(0, [
      'plan',
      '--report',
      'markdown=plan.md',
      '--report=json=plan.json',
      '--format=json',
    ]);
    expect(JSON.parse(home.read('plan.json'))).toMatchObject({ summary: { create: 3 } });
    expect(JSON.parse(stdout)).toMatchObject({ format_version: '1.0' });
    expect(home.read('plan.md')).toContain('accounts.field-ops');
    expect((await home.expect(1, ['plan', '--report', 'pdf=x'])).stderr).toContain(
      'Formats: text, json, markdown, html.',
    );
    expect((await home.expect(1, ['plan', '--report', 'junit=x'])).stderr).toContain(
      'has no format named "junit"',
    );
    expect((await home.expect(1, ['plan', '--report', 'json='])).stderr).toContain('names no file');
    expect(
      (await home.expect(1, ['plan', '--report', 'json=no/such/folder/x.json'])).stderr,
    ).toContain('there is no folder');
  });

  test('an audit goes to people, test runners and code scanning at once; a saved plan takes any form', async () => {
    const home = folder({ 'trueup.yaml': small });
    const reports = ['html=drift.html', 'junit=drift.xml', 'sarif=drift.sarif'].flatMap((one) => [
      '--report',
      one,
    ]);
    const { stdout } = await home.expect(2, [
      'drift',
      '--detailed-exitcode',
      '--format',
      'sarif',
      ...reports,
    ]);
    expect(stdout).toBe(home.read('drift.sarif'));
    expect(stdout).toContain('"ruleId": "drift/missing"');
    expect(home.read('drift.html')).toMatch(/^<!doctype html>\n/);
    expect(home.read('drift.xml')).toContain(
      'name="accounts.field-ops" time="0"><failure type="missing"',
    );
    await home.expect(0, ['plan', '--out', 'change.plan', '--report', 'html=plan.html']);
    const shown = await home.expect(0, [
      'show',
      'change.plan',
      '--format',
      'html',
      '--report',
      'text=plan.txt',
    ]);
    expect(shown.stdout.replaceAll(/<time.*?<\/time>/g, '')).toBe(
      home.read('plan.html').replaceAll(/<time.*?<\/time>/g, ''),
    );
    expect(home.read('plan.txt')).toContain('Plan: 3 to create');
  });

  test('a reader that goes away ends nothing and is no error', () => {
    const { status, stderr } = spawnSync(
      'bash',
      ['-c', `set -o pipefail; '${process.execPath}' '${TRUEUP}' schema | true`],
      { encoding: 'utf8' },
    );
    expect([status, stderr]).toEqual([0, '']);
  });

  test.each(['schema', 'plan --json'])('a disk that is full is an error: %s', (words) => {
    const { status, stderr } = spawnSync(
      'bash',
      ['-c', `'${process.execPath}' '${TRUEUP}' ${words} > /dev/full`],
      { encoding: 'utf8' },
    );
    expect(status).toBe(1);
    expect(stderr).toContain('error: The output could not be written (ENOSPC).');
  });

  test('colour is for terminals that want it, whatever FORCE_COLOR says', async () => {
    const home = folder({ 'trueup.yaml': small });
    expect(
      (await home.expect(0, ['plan'], { env: { FORCE_COLOR: '3', NO_COLOR: '' } })).stdout,
    ).not.toContain('\u001b');
    expect(atTerminal(home, ['plan']).screen).toContain('\u001b[');
    for (const env of [{ NO_COLOR: '1' }, { CI: '1' }, { TERM: 'dumb' }])
      expect(atTerminal(home, ['plan'], { env }).screen).not.toMatch(/\u001b\[\d*m/);
  });
});

describe('the prompt', () => {
  test.each(['no', 'y', 'YES', 'yes please', ''])('%j is not yes', async (typed) => {
    const home = folder({ 'trueup.yaml': small });
    const { code, screen } = atTerminal(home, ['apply'], { typed: `${typed}\n` });
    expect(screen).toContain('Nothing was changed');
    expect(code).toBe(1);
    expect(
      readdirSync(join(home.path, '.trueup')).filter((name) => name.startsWith('state.json')),
    ).toEqual([]);
  });

  test('Ctrl-C is a signal, and nothing was changed', async () => {
    const { code, screen } = await answering(
      folder({ 'trueup.yaml': small }),
      ['apply'],
      'is accepted',
      '\u0003',
    );
    expect(screen).not.toContain('Applied');
    expect(code).toBe(130);
  });

  test('yes is', async () => {
    const home = folder({ 'trueup.yaml': small });
    const { code, screen } = atTerminal(home, ['apply'], { typed: 'yes\n' });
    expect(screen).toContain('Applied: 3 created');
    expect(code).toBe(0);
    expect(atTerminal(home, ['apply']).screen).toContain('No changes');
  });
});

describe('signals', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s finishes what runs, saves, and is %i', async (signal, code) => {
    const home = folder({ 'trueup.yaml': many(30) });
    const { env } = await emulator(home, ['--fault', 'latency=100,method=POST']);
    const run = home.start(['apply', '--auto-approve', '--parallelism', '2', '--json'], { env });
    await run.says('apply_complete');
    run.child.kill(signal);
    expect((await run.ended).code).toBe(code);
    const kept = (await home.expect(0, ['state', 'list'])).stdout.trim().split('\n').length - 1;
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThan(30);
    expect(existsSync(join(home.path, '.trueup/state.json.lock'))).toBe(false);
    await home.expect(0, ['apply', '--auto-approve'], { env });
    const listed = JSON.parse(
      (await home.expect(0, ['get', 'accounts', '-o', 'json'], { env })).stdout,
    ) as unknown[];
    expect(listed).toHaveLength(31);
  });

  test('a second one ends at once', async () => {
    const home = folder({ 'trueup.yaml': many(3) });
    const { env } = await emulator(home, ['--fault', 'latency=600000,method=POST']);
    const run = home.start(['apply', '--auto-approve'], { env });
    await run.says('Plan: 3');
    run.child.kill('SIGINT');
    await run.says('Stopping');
    run.child.kill('SIGINT');
    expect((await run.ended).code).toBe(130);
    // Nothing was tidied up: the lock lies there, and the next run on this machine knows its holder is gone.
    expect(existsSync(join(home.path, '.trueup/state.json.lock'))).toBe(true);
    const { env: quick } = await emulator(home);
    await home.expect(0, ['apply', '--auto-approve'], {
      env: { ...quick, TRUEUP_SETTLE_SECONDS: '0' },
    });
  });

  test('reading is simply left', async () => {
    const home = folder({ 'trueup.yaml': many(3) });
    const { env } = await emulator(home, ['--fault', 'latency=600000']);
    const run = home.start(['plan', '--json'], { env });
    await run.says('version');
    run.child.kill('SIGINT');
    const { code, stdout, stderr } = await run.ended;
    expect([code, stderr]).toEqual([130, '']);
    expect(stdout.trim().split('\n')).toHaveLength(1);
  });

  test('while one run holds the lock, another is 4 and doctor names the holder', async () => {
    const home = folder({ 'trueup.yaml': many(3) });
    const { env } = await emulator(home, ['--fault', 'latency=600000,method=POST,path=/api/v2']);
    const run = home.start(['apply', '--auto-approve'], { env });
    await run.says('Plan: 3');
    expect((await home.expect(4, ['apply', '--auto-approve'], { env })).stderr).toContain(
      String(run.child.pid),
    );
    expect((await home.expect(0, ['doctor'], { env })).stdout).toMatch(
      /lock +held by apply .*trueup unlock/,
    );
    expect((await home.expect(0, ['plan'], { env })).stdout).toContain('3 to create');
  });
});

describe('where declarations do not load', () => {
  const broken = {
    'a type that is wrong': 'accounts:\n  a: { name: [1] }\n',
    'YAML that is none': 'accounts:\n  a: { name: [ }\n# note\n\n  b: "\n',
    'an unknown kind': 'acounts: { a: { name: A } }\n',
    'the same twice': 'accounts: { a: { name: A }, a: { name: B } }\r\n',
    'a quote that is not closed': 'accounts:\n  a: { name: "A }\n',
    'a tag and a control character': 'accounts:\n  a: !x { name: "\u0001" }\n',
    'a name that is none': 'accounts: { "1": { name: A } }\n',
  };

  test.each(Object.entries(broken))(
    '%s: the state, the lock and the cloud are still cared for',
    async (_, text) => {
      const home = folder({
        'trueup.yaml': small,
        'keep.yaml': 'variables: { where: kept.json }\n',
      });
      home.write(
        'trueup.yaml',
        small.replace('target: emulator', 'target: emulator, state: "${var.where}"'),
      );
      await home.expect(0, ['apply', '--auto-approve']);
      home.write(
        'trueup.yaml',
        `${text}settings: { target: emulator, state: "\${var.where}" }\n${text}`,
      );
      await home.expect(1, ['plan']);
      expect((await home.expect(0, ['state', 'list'])).stdout).toContain('accounts.field-ops');
      await home.expect(0, ['state', 'show', 'accounts.field-ops']);
      await home.expect(0, ['state', 'mv', 'accounts.field-ops', 'accounts.field']);
      await home.expect(0, ['state', 'rm', 'accounts.field']);
      expect((await home.expect(0, ['get', 'accounts'])).stdout).toContain('Field operations');
      expect((await home.expect(1, ['unlock', 'x'])).stderr).toMatch(/is\s+not\s+locked/);
    },
  );

  test.each([
    ['settings: { target: emulater }\n', 'emulator'],
    ['setings: { target: emulator }\n', 'settings'],
    ['settings: { target: emulator\n', 'trueup.yaml:'],
    ['settings: { target: emulator }\nsettings: { target: emulator }\n', 'twice'],
    ['{ settings: { target: emulater }, accounts: { a: { nmae: A } } }\n', 'emulator'],
    ['accounts:\r  a: { name: A }\rsettings: { target: emulater }\r', 'not valid YAML'],
  ])('%j: settings that are in doubt are refused', async (text, says) => {
    const { stderr } = await folder({ 'trueup.yaml': text }).expect(1, ['state', 'list']);
    expect(stderr).toContain(says);
  });
});

const many = (count: number): string =>
  `accounts:\n${Array.from({ length: count }, (_, index) => `  a${index}: { name: Account ${index} }\n`).join('')}`;

test('stack traces are for --debug', async () => {
  const home = folder({ 'trueup.yaml': 'accounts: [' });
  expect((await home.expect(1, ['plan'])).stderr).not.toContain('    at ');
  const { stderr } = await home.expect(1, ['plan', '--debug']);
  expect(stderr).toContain('    at ');
  // Where it was built is nobody's business.
  expect(stderr).not.toContain('.cache');
});

test('completion loads in bash and knows commands, flags, words and kinds', () => {
  const ask = (...words: string[]): string[] => {
    const script = `source <('${process.execPath}' '${TRUEUP}' completion bash); COMP_WORDS=(${['trueup', ...words].map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _trueup; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout.trim().split('\n');
  };
  expect(ask('pl')).toEqual(['plan']);
  expect(ask('state', '')).toEqual('list show mv rm history rollback pull push migrate'.split(' '));
  expect(ask('plan', '--det')).toEqual(['--detailed-exitcode']);
  expect(ask('plan', '--format', 'm')).toEqual(['markdown']);
  expect(ask('get', 'alert_r')).toEqual(['alert_rules']);
  expect(ask('get', 'a')).toEqual([
    'accounts',
    'alert_push_destinations',
    'alert_rules',
    'account_authorizations',
    'alerts',
    'activity_logs',
    'audit_logs',
    'asset_endpoints',
    'access',
  ]);
  expect(ask('sim', '')).toEqual(['flip']);
  expect(ask('get', 'alerts', '--filter', '')).toEqual(['']);
  expect(ask('get', '--limit', 'a')).toEqual(['']);
  expect(ask('plan', '--out', 'package.j')).toEqual(['package.json']);
  expect(ask('watch', '--metrics')).toEqual([
    '--metrics-file',
    '--metrics-port',
    '--metrics-host',
    '--metrics-tenants',
  ]);
  expect(ask('completion', 'z')).toEqual(['zsh']);
});

test('completion asks the state for addresses, whatever they hold', async () => {
  const home = folder({
    'trueup.yaml': `settings: { target: emulator }
accounts:
  field: { name: Field }
  site: { for_each: ["a b", "$(touch owned)", "q'\\"x"], name: "\${each.key}" }
`,
  });
  await home.expect(0, ['apply', '--auto-approve']);
  const ask = (...words: string[]): string[] => {
    const script = `trueup() { '${process.execPath}' '${TRUEUP}' "$@"; }; source <(trueup completion bash); COMP_WORDS=(${['trueup', ...words].map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _trueup; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = spawnSync('bash', ['-c', script], { encoding: 'utf8', cwd: home.path });
    return stdout.trim().split('\n');
  };
  const all = [
    'accounts.field',
    'accounts.site["$(touch owned)"]',
    'accounts.site["a b"]',
    'accounts.site["q\'\\"x"]',
  ];
  expect(ask('state', 'show', '')).toEqual(all);
  expect(ask('state', 'rm', 'accounts.s')).toEqual(all.slice(1));
  expect(ask('plan', '--target', 'accounts.f')).toEqual(['accounts.field']);
  expect(readdirSync(home.path)).not.toContain('owned');
  home.write('trueup.prod.yaml', 'settings: {}\n');
  home.write('trueup.yaml', 'settings: { target: emulator }\naccounts: { prod: { name: P } }\n');
  await home.expect(0, ['apply', '--env', 'prod', '--auto-approve']);
  expect(ask('state', 'show', '--env', 'prod', '')).toEqual(['accounts.prod']);
  expect(ask('state', 'show', '--env', '=', 'prod', 'accounts.f')).toEqual(['']);
  expect(ask('state', 'show', 'accounts.f')).toEqual(['accounts.field']);
});

test.each(['zsh', 'fish'])('completion for %s names every command', async (shell) => {
  const { stdout } = await folder().expect(0, ['completion', shell]);
  expect(stdout).toMatch(
    shell === 'zsh'
      ? /'get --filter'\) compadd -- ; return/
      : /seen_subcommand_from get' -l filter -x -d/,
  );
  expect(stdout).toMatch(
    shell === 'zsh' ? /'plan --out'\) _files; return/ : /seen_subcommand_from plan' -l out -r -d/,
  );
  for (const name of ['plan', 'apply', 'emulator', 'detailed-exitcode'])
    expect(stdout).toContain(name);
  expect((await folder().expect(1, ['completion', 'powershell'])).stderr).toContain(
    'bash | zsh | fish',
  );
});
