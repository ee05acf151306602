// Commands that messages print do what the run was about, as they are typed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as diff } from '../../../src/cli/commands/diff.js';
import { rollback } from '../../../src/cli/commands/kept-states.js';
import { run as drift } from '../../../src/cli/commands/drift.js';
import { run as exportObjects } from '../../../src/cli/commands/export.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import { run as flip } from '../../../src/cli/commands/sim-flip.js';
import { run as testPolicies } from '../../../src/cli/commands/test.js';
import { declarationFiles } from '../../../src/platform/declaration-files.js';
import { gitIn } from '../../support/git.js';
import { freshFolder, inProcess, type Said } from '../../support/in-process.js';
import type { Command } from '../../../src/cli/context.js';

const SETTINGS = 'settings: { target: emulator }\nvariables: { n: Default }\n';
const PROJECT = `${SETTINGS}accounts: { a: { name: "\${var.n}" } }\n`;

function writeAll(cwd: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
}

function folderWith(files: Readonly<Record<string, string>>): string {
  const cwd = freshFolder();
  writeAll(cwd, files);
  return cwd;
}

const typing = (command: Command, cwd: string, ...words: readonly string[]): Promise<Said> =>
  inProcess(command, words, { cwd, env: {} });

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
    expect(stderr).toContain('To apply it: trueup apply ./-x.plan');
  });
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

describe('a block in a file that the PATHs leave out', () => {
  const applied = async (
    files: Readonly<Record<string, string>>,
    settings = SETTINGS,
    prepare: (cwd: string) => void = () => undefined,
  ) => {
    const cwd = folderWith({
      'a.yaml': `${settings}accounts: { depot: { name: Depot }, keep: { name: Keep } }\n`,
    });
    await typing(apply, cwd, 'apply', 'a.yaml', '--auto-approve');
    writeFileSync(join(cwd, 'a.yaml'), `${settings}accounts: { keep: { name: Keep } }\n`);
    writeAll(cwd, files);
    prepare(cwd);
    return typing(plan, cwd, 'plan', 'a.yaml');
  };
  const REMOVED = 'removed: [{ from: accounts.depot, lifecycle: { destroy: false } }]\n';

  test.each([
    ['alone', {}],
    ['beside a duplicate', { 'other.yaml': 'accounts: { keep: { name: Two } }\n' }],
    ['beside an error', { 'other.yaml': 'accounts: { x: { nme: X } }\n' }],
    ['beside other settings', { 'other.yaml': 'settings: { target: cloud }\n' }],
  ])('is an error where its object would be deleted: %s', async (_, files) => {
    const { code, stderr } = await applied({ 'removals.yaml': REMOVED, ...files });
    expect(code).toBe(1);
    expect(stderr).toContain('add it to the PATHs: removals.yaml');
  });

  const WITH_STATE = 'settings: { target: emulator, state: { url: mine.json } }\n';

  test('is an error where it is unclear which settings are those of its file', async () => {
    const files = { 'removals.yaml': REMOVED, 'other.yaml': SETTINGS };
    const { code, stderr } = await applied(files, WITH_STATE);
    expect([code, stderr]).toEqual([1, expect.stringContaining('[declared-elsewhere]')]);
  });

  const MOVED = 'moved: [{ from: accounts.depot, to: accounts.hall }]\n';
  const HALL = `accounts: { hall: { name: Depot } }\n${MOVED}`;

  test.each([
    ['is new, and declares the object again', HALL],
    ['cannot be parsed', HALL.replace(' } }', ' }')],
    ['has an error in the block', MOVED.replace('hall', '"${var.nope}"')],
    ['declares the object with an error', HALL.replace('name', 'nme')],
    ['has any error', 'accounts: { x: { nme: X } }\n'],
    ['has the same settings', `${SETTINGS}${HALL}`],
  ])('is an error where its file %s', async (_, text) => {
    const { code, stderr } = await applied({ 'new.yaml': text });
    expect([code, stderr]).toEqual([1, expect.stringContaining('[declared-elsewhere]')]);
    expect(stderr).toContain('new.yaml:');
  });

  const OTHER = 'settings: { target: emulator, state: { url: other.json } }\n';

  test.each([
    ['has settings with another state', { 'labs.yaml': `${OTHER}${HALL}` }],
    ['is beside such settings', { 'p/trueup.yaml': OTHER, 'p/moves.yaml': MOVED }],
    [
      'has an error, and is beside such settings',
      { 'p/trueup.yaml': OTHER, 'p/m.yaml': `accounts: { x: { nme: X } }\n${MOVED}` },
    ],
  ])('is none where its file %s', async (_, files) => {
    const { code, stderr } = await applied(files);
    expect([code, stderr.includes('declared-elsewhere')]).toEqual([0, false]);
  });

  const [BOTH, ONE] = ['depot: { name: Depot }, keep: { name: Keep }', 'keep: { name: Keep }'];
  const [TWICE, SETTLED] = [
    `accounts: { hall: { name: Depot }, ${ONE} }\n${MOVED}`,
    `accounts: { hall: { name: Depot } }\n${MOVED}`,
  ];
  const named = (state: string): string =>
    `settings: { target: emulator, state: { url: ${state}.json } }\n`;
  const TEMPLATE = `${SETTINGS}templates:
  site: { parameters: { properties: { n: { type: string } } }, accounts: { main: { name: "\${param.n}" } } }
`;
  const using = (...names: readonly string[]): string =>
    `use: { ${names.map((name) => `${name}: { template: site, with: { n: ${name} } }`).join(', ')} }\n`;
  const EACH = 'accounts: { site: { for_each: "${var.sites}", name: "${each.key}" } }\n';
  const OTHER_ACCOUNT = 'accounts: { z: { name: Z } }\n';
  const stackOf = (...names: readonly string[]): string =>
    JSON.stringify({
      resource: {
        devicecloud_account: Object.fromEntries(names.map((name) => [name, { name }])),
      },
    });
  const manifestOf = (...names: readonly string[]): string =>
    JSON.stringify({
      version: '0.21.0',
      stacks: Object.fromEntries(
        names.map((name) => [
          name,
          { name, synthesizedStackPath: `stacks/${name}/cdk.tf.json`, dependencies: [] },
        ]),
      ),
    });
  const q = { 'q/trueup.yaml': `${named('q')}accounts: { hall: { name: Depot } }\n` };

  test.each<{
    readonly is: string;
    readonly before: Readonly<Record<string, string>>;
    readonly now: Readonly<Record<string, string>>;
    readonly paths: readonly string[];
    /** The PATHs of the apply before, if they are others. */
    readonly applied?: readonly string[];
    readonly words?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly code: number;
  }>([
    {
      is: 'an error: settings in a folder that is a PATH',
      before: { 'c/trueup.yaml': named('mine'), 'o/a.yaml': `accounts: { ${BOTH} }\n` },
      now: { 'o/a.yaml': `accounts: { ${ONE} }\n`, 'o/b.yaml': SETTLED },
      paths: ['c', 'o/a.yaml'],
      code: 1,
    },
    {
      is: 'an error: `.` beside a PATH outside of the current folder',
      before: { 'trueup.yaml': named('mine'), '../o/a.yaml': `accounts: { ${BOTH} }\n` },
      now: { '../o/a.yaml': `accounts: { ${ONE} }\n`, '../o/b.yaml': SETTLED },
      paths: ['.', '../o/a.yaml'],
      code: 1,
    },
    {
      is: 'none: a project without settings, in a folder of its own',
      before: { 'p/trueup.yaml': `${named('p')}accounts: { ${BOTH} }\n` },
      now: { 'p/trueup.yaml': `${named('p')}accounts: { ${ONE} }\n`, 'q/b.yaml': SETTLED },
      paths: ['p'],
      code: 0,
    },
    {
      is: 'an error: a folder with the same settings that declares the same addresses',
      before: { 'trueup.yaml': SETTINGS, 'p/x.yaml': `accounts: { ${BOTH} }\n` },
      now: { 'p/x.yaml': `accounts: { ${ONE} }\n`, 'q/x.yaml': TWICE },
      paths: ['p'],
      env: { TRUEUP_STATE: 'p.json' },
      code: 1,
    },
    {
      is: 'an error: a split into a folder that still declares what stays',
      before: {
        'trueup.yaml': 'settings: { target: emulator, state: { url: s.json } }\n',
        'p/x.yaml': `accounts: { ${BOTH} }\n`,
      },
      now: { 'p/x.yaml': `accounts: { ${ONE} }\n`, 'q/x.yaml': `accounts: { ${BOTH} }\n` },
      paths: ['p'],
      code: 1,
    },
    {
      is: 'an error: a folder that gives a variable of the PATHs a value, as several PATHs may',
      before: {
        'trueup.yaml': 'settings: { target: emulator, state: { url: s.json } }\n',
        'p/x.yaml': `accounts: { ${BOTH} }\n`,
      },
      now: {
        'p/x.yaml': `variables: { region: x }\naccounts: { ${ONE} }\n`,
        'q/x.yaml': 'variables: { region: x }\naccounts: { depot: { name: Depot } }\n',
      },
      paths: ['p'],
      code: 1,
    },
    {
      is: 'none: several projects with settings that name no state',
      before: { 'p/x.yaml': `${SETTINGS}accounts: { ${BOTH} }\n` },
      now: {
        'p/x.yaml': `${SETTINGS}accounts: { ${ONE} }\n`,
        'q/x.yaml': `${SETTINGS}${OTHER_ACCOUNT}`,
        'r/x.yaml': `${SETTINGS}${OTHER_ACCOUNT}`,
      },
      paths: ['p'],
      code: 0,
    },
    {
      is: 'none: files of other programs with keys of trueup that declare nothing',
      before: { 'trueup.yaml': SETTINGS, 'p/x.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        'p/x.yaml': `accounts: { ${ONE} }\n`,
        'pnpm-lock.yaml':
          "lockfileVersion: '9.0'\nsettings:\n  autoInstallPeers: true\nimporters:\n  .: {}\n",
        'ci/azure-pipelines.yml': 'trigger: [main]\nvariables:\n  - name: a\n    value: b\n',
        'alertmanager.yml': 'route: { receiver: x }\ntemplates: [/etc/*.tmpl]\n',
      },
      paths: ['p'],
      code: 0,
    },
    {
      is: 'an error: a variable of a file with an error is needed',
      before: { 'trueup.yaml': SETTINGS, 'p/x.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        'p/x.yaml': `accounts: { ${ONE} }\n`,
        'q/v.yaml': 'variables: { sites: [depot] }\nvariables: {}\n',
        'q/x.yaml': EACH,
      },
      paths: ['p'],
      code: 1,
    },
    {
      is: 'an error: the output of a program in the current folder declares it now',
      before: { 'trueup.yaml': SETTINGS, 'x/a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        'x/a.yaml': `accounts: { ${ONE} }\n`,
        'trueup.out/n.yaml': 'accounts: { depot: { name: Depot } }\n',
      },
      paths: ['trueup.yaml', 'x/a.yaml'],
      code: 1,
    },
    {
      is: 'none: equal settings in another file, if the environment names the state',
      before: { 'p/x.yaml': `${SETTINGS}accounts: { ${BOTH} }\n` },
      now: { 'p/x.yaml': `${SETTINGS}accounts: { ${ONE} }\n`, 'q/x.yaml': `${SETTINGS}${SETTLED}` },
      paths: ['p'],
      env: { TRUEUP_STATE: 'p.json' },
      code: 0,
    },
    {
      is: 'none: a project with another state, and without the environment',
      before: {
        'p/trueup.yaml': `${named('p')}accounts: { ${BOTH} }\n`,
        'p/trueup.prod.yaml': named('p.prod'),
      },
      now: {
        'p/trueup.yaml': `${named('p')}accounts: { ${ONE} }\n`,
        ...q,
        'q/moves.yaml': MOVED,
      },
      paths: ['p'],
      words: ['--env', 'prod'],
      code: 0,
    },
    {
      is: 'an error: the settings of the PATHs, with an environment',
      before: {
        'trueup.yaml': named('p'),
        'trueup.prod.yaml': named('p.prod'),
        'p/x.yaml': `accounts: { ${BOTH} }\n`,
      },
      now: { 'p/x.yaml': `accounts: { ${ONE} }\n`, 'q/x.yaml': SETTLED },
      paths: ['p'],
      words: ['--env', 'prod'],
      code: 1,
    },
    {
      is: 'an error: the object is declared in another file now',
      before: { 'a.yaml': `${SETTINGS}accounts: { ${BOTH} }\n` },
      now: {
        'a.yaml': `${SETTINGS}accounts: { ${ONE} }\n`,
        'b.yaml': 'accounts: { depot: { name: Depot } }\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'an error: the object is declared in another file, with an error',
      before: { 'a.yaml': `${SETTINGS}accounts: { ${BOTH} }\n` },
      now: {
        'a.yaml': `${SETTINGS}accounts: { ${ONE} }\n`,
        'b.yaml': 'accounts: { depot: { name: Depot, x: 1 } }\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'an error: another file declares it with an earlier name',
      before: { 'a.yaml': `${SETTINGS}accounts: { ${BOTH} }\n` },
      now: {
        'a.yaml': `${SETTINGS}accounts: { ${ONE} }\n`,
        'b.yaml': 'accounts: { w: { name: Depot, lifecycle: { renamed_from: depot } } }\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'none: another project declares the address',
      before: { 'p/a.yaml': `${named('p')}accounts: { ${BOTH} }\n` },
      now: {
        'p/a.yaml': `${named('p')}accounts: { ${ONE} }\n`,
        'q/a.yaml': `${named('q')}accounts: { depot: { name: Depot } }\n`,
      },
      paths: ['p'],
      code: 0,
    },
    {
      is: 'an error: the same state in other words',
      before: { 'p/a.yaml': `${named('s')}accounts: { ${BOTH} }\n` },
      now: {
        'p/a.yaml': `${named('s')}accounts: { ${ONE} }\n`,
        'q/a.yaml': `settings: { target: emulator, state: { url: ./s.json, lock: { wait: 1m } } }\n${SETTLED}`,
      },
      paths: ['p'],
      code: 1,
    },
    {
      is: 'none: a removed block of the PATHs with destroy: true',
      before: { 'a.yaml': `${SETTINGS}accounts: { ${BOTH} }\n` },
      now: {
        'a.yaml': `${SETTINGS}accounts: { ${ONE} }\nremoved: [{ from: accounts.depot, lifecycle: { destroy: true } }]\n`,
        'b.yaml': SETTLED,
      },
      paths: ['a.yaml'],
      code: 0,
    },
    {
      is: 'an error: beside the folder of a fleet',
      before: { 'a.yaml': `${SETTINGS}accounts: { ${BOTH} }\n` },
      now: {
        'a.yaml': `${SETTINGS}accounts: { ${ONE} }\n`,
        'b.yaml': SETTLED,
        'f/trueup.fleet.yaml': 'fleet: { tenants: { x: { paths: [x] } } }\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'none: in the folder of a fleet, whose other files are of other tenants',
      before: {
        'trueup.fleet.yaml':
          'fleet: { tenants: { x: { paths: [t/x.yaml] }, y: { paths: [t/y.yaml] } } }\n',
        't/x.yaml': `${SETTINGS}accounts: { ${BOTH} }\n`,
      },
      now: { 't/x.yaml': `${SETTINGS}accounts: { ${ONE} }\n`, 't/y.yaml': SETTLED },
      paths: ['t/x.yaml'],
      code: 0,
    },
    {
      is: 'an error: a file with an error, and an address with a variable',
      before: { 'a.yaml': `${SETTINGS}accounts: { ${BOTH} }\n` },
      now: {
        'a.yaml': `${SETTINGS}accounts: { ${ONE} }\n`,
        'b.yaml': 'moved: [{ from: "accounts.${var.old}", to: accounts.hall, extra: 1 }]\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'none: a file of another program',
      before: { 'a.yaml': `${SETTINGS}accounts: { ${BOTH} }\n` },
      now: {
        'a.yaml': `${SETTINGS}accounts: { ${ONE} }\n`,
        'log.yaml': 'gone:\n  - accounts.depot is no longer made: [x\n',
      },
      paths: ['a.yaml'],
      code: 0,
    },
    {
      is: 'an error: a block with a variable that another project has, too',
      before: {
        'p/a.yaml': `accounts: { ${BOTH} }\n`,
        'p/trueup.yaml': `${named('p')}variables: { old: depot }\n`,
      },
      now: {
        'p/a.yaml': `accounts: { ${ONE} }\n`,
        'p/b.yaml': SETTLED.replace('accounts.depot', '"accounts.${var.old}"'),
        'o/trueup.yaml': `${named('o')}variables: { old: kiosk }\n`,
      },
      paths: ['p/a.yaml', 'p/trueup.yaml'],
      code: 1,
    },
    {
      is: 'an error: a removed block with a variable that another project has, too',
      before: {
        'p/a.yaml': `accounts: { ${BOTH} }\n`,
        'p/trueup.yaml': `${named('p')}variables: { old: depot }\n`,
      },
      now: {
        'p/a.yaml': `accounts: { ${ONE} }\n`,
        'p/b.yaml': REMOVED.replace('accounts.depot', '"accounts.${var.old}"'),
        'o/trueup.yaml': `${named('o')}variables: { old: kiosk }\n`,
      },
      paths: ['p/a.yaml', 'p/trueup.yaml'],
      code: 1,
    },
    {
      is: 'none: a block that is wrong only beside another project',
      before: {
        'p/a.yaml': 'accounts: { depot: { name: Depot }, r: { name: R } }\n',
        'p/trueup.yaml': `${named('p')}accounts: { ${ONE} }\n`,
      },
      now: {
        'p/a.yaml': 'accounts: { r: { name: R } }\n',
        'p/b.yaml':
          'removed: [{ from: accounts.depot, lifecycle: { destroy: true } }]\naccounts: { m: { name: M } }\n',
        'o/trueup.yaml': `${named('o')}accounts: { depot: { name: O } }\n`,
      },
      paths: ['p/a.yaml', 'p/trueup.yaml'],
      code: 0,
    },
    {
      is: 'an error: another file uses the template now',
      before: { 'lib/t.yaml': TEMPLATE, 'a.yaml': using('acme', 'beta') },
      now: { 'a.yaml': using('beta'), 'b.yaml': using('acme') },
      paths: ['lib', 'a.yaml'],
      code: 1,
    },
    {
      is: 'an error: moved within a project, beside one that declares the same',
      before: { 'p/trueup.yaml': named('p'), 'p/a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        'p/a.yaml': `accounts: { ${ONE} }\n`,
        'p/b.yaml': 'accounts: { depot: { name: Depot } }\n',
        'o/trueup.yaml': named('o'),
        'o/a.yaml': `accounts: { ${BOTH} }\n`,
      },
      paths: ['p/a.yaml'],
      code: 1,
    },
    {
      is: 'an error: for_each over a variable that another project has, too',
      before: {
        'p/trueup.yaml': `${named('p')}variables: { sites: [depot, keep] }\n`,
        'p/a.yaml': EACH.replace('accounts: {', 'accounts: { z: { name: Z },'),
      },
      now: {
        'p/a.yaml': OTHER_ACCOUNT,
        'p/b.yaml': EACH,
        'o/trueup.yaml': `${named('o')}variables: { sites: [kiosk] }\n`,
      },
      paths: ['p/a.yaml', 'p/trueup.yaml'],
      code: 1,
    },
    {
      is: 'an error: beside a copy of the earlier file',
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        'a.yaml': `accounts: { ${ONE} }\n`,
        'b.yaml': 'accounts: { depot: { name: Depot } }\n',
        'backup/a.yaml': `accounts: { ${BOTH} }\n`,
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'an error: a file that may declare it cannot be parsed',
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        'a.yaml': `accounts: { ${ONE} }\n`,
        'b.yaml': 'accounts:\n  depot: { name: Depot\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'an error: a variable of the file has no value',
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': EACH.replace('"${var.sites}"', '[depot]') },
      now: { 'a.yaml': OTHER_ACCOUNT, 'b.yaml': EACH },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'an error: beside the PATHs, a file declares it, and one of theirs still',
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': `accounts: { ${BOTH} }\n` },
      now: { 'a.yaml': `accounts: { ${ONE} }\n`, 'b.yaml': `accounts: { ${BOTH} }\n` },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'an error: a hidden folder, if the state names its file',
      before: {
        'trueup.yaml': SETTINGS,
        '.github/a.yaml': `accounts: { ${BOTH} }\n`,
        '.github/b.yaml': OTHER_ACCOUNT,
      },
      now: {
        '.github/a.yaml': `accounts: { ${ONE} }\n`,
        '.github/b.yaml': 'accounts: { depot: { name: Depot } }\n',
      },
      applied: ['trueup.yaml', '.github'],
      paths: ['trueup.yaml', '.github/a.yaml'],
      code: 1,
    },
    {
      is: 'an error: the current folder, which is walked past its hidden folders',
      before: {
        'trueup.yaml': SETTINGS,
        '.github/a.yaml': `accounts: { depot: { name: Depot } }\n`,
        'b.yaml': OTHER_ACCOUNT,
      },
      now: {},
      applied: ['.', '.github'],
      paths: ['.'],
      code: 1,
    },
    {
      is: 'an error: a file of the current folder, beside PATHs outside of it',
      before: {
        'conf/trueup.yaml': SETTINGS,
        '../lib/a.yaml': `accounts: { ${BOTH} }\n`,
        'b.yaml': OTHER_ACCOUNT,
      },
      now: {
        '../lib/a.yaml': `accounts: { ${ONE} }\n`,
        'b.yaml': 'accounts: { depot: { name: Depot } }\n',
      },
      applied: ['conf', '../lib', 'b.yaml'],
      paths: ['conf', '../lib'],
      code: 1,
    },
    {
      is: 'an error: a folder as PATH, beside the folder of a fleet',
      before: {
        'trueup.yaml': SETTINGS,
        'x/a.yaml': `accounts: { ${BOTH} }\n`,
        'y/b.yaml': OTHER_ACCOUNT,
      },
      now: {
        'x/a.yaml': `accounts: { ${ONE} }\n`,
        'y/b.yaml': 'accounts: { depot: { name: Depot } }\n',
        'f/trueup.fleet.yaml': 'fleet: { tenants: { x: { paths: [x] } } }\n',
      },
      applied: ['.'],
      paths: ['x'],
      code: 1,
    },
    {
      is: 'an error: a new file in a hidden folder, beside a PATH',
      before: { 'trueup.yaml': SETTINGS, '.github/a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        '.github/a.yaml': `accounts: { ${ONE} }\n`,
        '.github/new.yaml': 'accounts: { depot: { name: Depot } }\n',
      },
      paths: ['trueup.yaml', '.github/a.yaml'],
      code: 1,
    },
    {
      is: 'an error: a new file of the current folder, beside PATHs outside of it',
      before: { 'conf/trueup.yaml': SETTINGS, '../lib/a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        '../lib/a.yaml': `accounts: { ${ONE} }\n`,
        'b.yaml': 'accounts: { depot: { name: Depot } }\n',
      },
      paths: ['conf', '../lib'],
      code: 1,
    },
    {
      is: 'an error: a new file of another folder, beside the folder of a fleet',
      before: { 'trueup.yaml': SETTINGS, 'x/a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        'x/a.yaml': `accounts: { ${ONE} }\n`,
        'y/b.yaml': 'accounts: { depot: { name: Depot } }\n',
        'f/trueup.fleet.yaml': 'fleet: { tenants: { x: { paths: [x] } } }\n',
      },
      paths: ['x'],
      code: 1,
    },
    {
      is: 'none: a file of a fleet beside the PATHs',
      before: { 'trueup.yaml': SETTINGS, 'x/a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        'x/a.yaml': `accounts: { ${ONE} }\n`,
        'f/t/b.yaml': 'accounts: { depot: { name: Depot } }\n',
        'f/trueup.fleet.yaml': 'fleet: { tenants: { x: { paths: [t] } } }\n',
      },
      paths: ['x'],
      code: 0,
    },
    {
      is: 'an error: a PATH whose name begins with a dash',
      before: { 'trueup.yaml': SETTINGS, '-a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        '-a.yaml': `accounts: { ${ONE} }\n`,
        'o/b.yaml': 'accounts: { depot: { name: Depot } }\n',
      },
      paths: ['trueup.yaml', './-a.yaml'],
      code: 1,
    },
    {
      is: 'an error: a file in UTF-16',
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        'a.yaml': `accounts: { ${ONE} }\n`,
        'b.yaml': '\uFFFDaccounts: { depot: { name: Depot } }\n'.replaceAll(/(?<=.)/gs, '\0'),
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'none: a file of another program in a hidden folder, beside a PATH',
      before: { 'trueup.yaml': SETTINGS, '.github/a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        '.github/a.yaml': `accounts: { ${ONE} }\n`,
        '.github/ci.yaml': 'jobs: { depot: { runs-on: x } }\n',
      },
      paths: ['trueup.yaml', '.github/a.yaml'],
      code: 0,
    },
    {
      is: 'an error: an earlier name from a variable of a third file',
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        'a.yaml': `accounts: { ${ONE} }\n`,
        'vars.yaml': 'variables: { old: depot }\n',
        'b.yaml': 'accounts: { w: { name: Depot, lifecycle: { renamed_from: "${var.old}" } } }\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'an error: a template of a third file adopts the object',
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        'a.yaml': `accounts: { ${ONE} }\n`,
        'lib/t.yaml': TEMPLATE.replace(SETTINGS, '').replace(
          'name: "${param.n}"',
          'name: Depot, lifecycle: { adopt: "${param.n}" }',
        ),
        'b.yaml': 'use: { w: { template: site, with: { n: "2" } } }\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'an error: a recorded file in another folder, without settings',
      before: {
        'conf/trueup.yaml': named('mine'),
        'objs/a.yaml': `accounts: { ${BOTH} }\n`,
        'more/b.yaml': OTHER_ACCOUNT,
      },
      now: {
        'objs/a.yaml': `accounts: { ${ONE} }\n`,
        'more/b.yaml': 'accounts: { depot: { name: Depot } }\n',
      },
      applied: ['.'],
      paths: ['conf', 'objs'],
      code: 1,
    },
    {
      is: 'an error: a stack that was planned by itself',
      before: {
        'trueup.yaml': SETTINGS,
        'out/manifest.json': manifestOf('a', 'b'),
        'out/stacks/a/cdk.tf.json': stackOf('depot', 'keep'),
        'out/stacks/b/cdk.tf.json': stackOf('z'),
      },
      now: {
        'out/stacks/a/cdk.tf.json': stackOf('keep'),
        'out/stacks/b/cdk.tf.json': stackOf('z', 'depot'),
      },
      applied: ['trueup.yaml', 'out'],
      paths: ['trueup.yaml', 'out/stacks/a/cdk.tf.json'],
      code: 1,
    },
    {
      is: 'an error: a new stack beside the one that is a PATH',
      before: {
        'trueup.yaml': SETTINGS,
        'out/manifest.json': manifestOf('a'),
        'out/stacks/a/cdk.tf.json': stackOf('depot', 'keep'),
      },
      now: {
        'out/manifest.json': manifestOf('a', 'b'),
        'out/stacks/a/cdk.tf.json': stackOf('keep'),
        'out/stacks/b/cdk.tf.json': stackOf('depot'),
      },
      paths: ['trueup.yaml', 'out/stacks/a/cdk.tf.json'],
      code: 1,
    },
    {
      is: 'an error: a stack below a folder that is a PATH, and is not read with it',
      before: {
        'trueup.yaml': `${SETTINGS}${OTHER_ACCOUNT}`,
        'hcl/cdk.tf.json': stackOf('depot'),
      },
      now: {},
      applied: ['trueup.yaml', 'hcl/cdk.tf.json'],
      paths: ['.'],
      code: 1,
    },
    {
      is: 'an error: what a program wrote below a folder that is a PATH',
      before: {
        'trueup.yaml': `${SETTINGS}${OTHER_ACCOUNT}`,
        'x/trueup.out/a.yaml': 'accounts: { y: { name: Y } }\n',
      },
      now: {},
      applied: ['trueup.yaml', 'x/trueup.out/a.yaml'],
      paths: ['.'],
      code: 1,
    },
    {
      is: 'none: what a folder of stacks no longer declares',
      before: {
        'trueup.yaml': SETTINGS,
        'out/manifest.json': manifestOf('a', 'b'),
        'out/stacks/a/cdk.tf.json': stackOf('keep'),
        'out/stacks/b/cdk.tf.json': stackOf('z', 'depot'),
      },
      now: { 'out/stacks/b/cdk.tf.json': stackOf('z') },
      paths: ['trueup.yaml', 'out'],
      code: 0,
    },
    {
      is: 'an error: another declaration adopts the object by its id',
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        'a.yaml': `accounts: { ${ONE} }\n`,
        'b.yaml': 'accounts: { w: { name: Depot, lifecycle: { adopt: "2" } } }\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'an error: the usual place of the state, written out',
      before: {
        'p/trueup.yaml': SETTINGS,
        'p/a.yaml': `accounts: { ${BOTH} }\n`,
      },
      now: {
        'p/a.yaml': `accounts: { ${ONE} }\n`,
        'q/trueup.yaml': `settings: { target: emulator, state: .trueup/state.json }\n${HALL}`,
      },
      paths: ['p'],
      code: 1,
    },
    {
      is: 'an error: another file uses a template with an error of a third one',
      before: {
        'trueup.yaml': SETTINGS,
        'a.yaml': 'accounts: { keep: { name: Keep }, acme-main: { name: A } }\n',
      },
      now: {
        'a.yaml': `accounts: { ${ONE} }\n`,
        'b.yaml': 'use: { acme: { template: site } }\n',
        't.yaml': 'templates: { site: { accounts: { main: { name: A, nmae: x } } } }\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    ...[
      'accounts: { hall: { name: Depot, bogus: 1, lifecycle: { renamed_from: depot } } }\n',
      'accounts: { hall: { name: Depot, lifecycle: { adopt: "${var.nope}" } } }\n',
      'accounts: { hall: { name: Depot } }\nmooved: [{ from: accounts.depot, to: accounts.hall }]\n',
    ].map((text) => ({
      is: `an error: a file with an error may take the object: ${text}`,
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': `accounts: { ${BOTH} }\n` },
      now: { 'a.yaml': `accounts: { ${ONE} }\n`, 'b.yaml': text },
      paths: ['a.yaml'],
      code: 1,
    })),
    {
      is: 'an error: a stack in the current folder declares it now',
      before: { 'trueup.yaml': SETTINGS, 'x/a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        'x/a.yaml': `accounts: { ${ONE} }\n`,
        'cdktf.out/manifest.json': '{}',
        'cdktf.out/stacks/net/cdk.tf.json': stackOf('depot'),
      },
      paths: ['trueup.yaml', 'x/a.yaml'],
      code: 1,
    },
    {
      is: 'an error: a file that names a project of the same state file',
      before: { 'x/a.yaml': `${SETTINGS}accounts: { ${BOTH} }\n` },
      now: {
        'x/a.yaml': `${SETTINGS}accounts: { ${ONE} }\n`,
        'y/b.yaml':
          'settings: { target: emulator, state: { project: other } }\naccounts: { depot: { name: Depot } }\n',
      },
      paths: ['x'],
      code: 1,
    },
    {
      is: 'an error: a file with the name of one of an environment declares it',
      before: { 'trueup.yaml': SETTINGS, 'x/a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        'x/a.yaml': `accounts: { ${ONE} }\n`,
        'trueup.sites.yaml': 'accounts: { depot: { name: Depot } }\n',
      },
      paths: ['x'],
      code: 1,
    },
    {
      is: 'an error: another folder of the project, which is hidden',
      before: { '.infra/t.yaml': SETTINGS, '.infra/sub/a.yaml': `accounts: { ${BOTH} }\n` },
      now: {
        '.infra/sub/a.yaml': `accounts: { ${ONE} }\n`,
        '.infra/other/c.yaml': 'accounts: { depot: { name: Depot } }\n',
      },
      applied: ['.infra'],
      paths: ['.infra/sub'],
      code: 1,
    },
    {
      is: 'an error: files beside the PATHs, whose names another folder uses, too',
      before: {
        'trueup.yaml': SETTINGS,
        'team1/a.yaml': EACH.replace('"${var.sites}"', '[depot]'),
      },
      now: {
        'team1/a.yaml': OTHER_ACCOUNT,
        'team1/b.yaml': EACH,
        'team1/v.yaml': 'variables: { sites: [depot] }\n',
        'team2/v.yaml': 'variables: { sites: [other] }\n',
      },
      paths: ['team1/a.yaml'],
      code: 1,
    },
    {
      is: 'none: a folder that sets a variable of the PATHs, such as that of another tenant',
      before: {
        'base/a.yaml': `accounts: { ${BOTH} }\n`,
        'tenants/x/v.yaml': `${named('x')}variables: { site: x }\n`,
      },
      now: {
        'base/a.yaml': `accounts: { ${ONE} }\n`,
        'tenants/y/v.yaml': 'variables: { site: y, more: "${var.nope}" }\n',
      },
      paths: ['base', 'tenants/x'],
      code: 0,
    },
    {
      is: 'none: what the program of the PATHs wrote before it was edited',
      before: {
        'cdktf.json': JSON.stringify({
          language: 'typescript',
          app: 'cp -r made/. $CDKTF_OUTDIR',
        }),
        'made/manifest.json': manifestOf('net', 'lab'),
        'made/stacks/net/cdk.tf.json': stackOf('keep'),
        'made/stacks/lab/cdk.tf.json': stackOf('depot'),
        'cdktf.out/manifest.json': manifestOf('net', 'lab'),
        'cdktf.out/stacks/net/cdk.tf.json': stackOf('keep'),
        'cdktf.out/stacks/lab/cdk.tf.json': stackOf('depot'),
        'trueup.yaml': SETTINGS,
      },
      now: { 'made/manifest.json': manifestOf('net') },
      paths: ['trueup.yaml', 'cdktf.json'],
      code: 0,
    },
    {
      is: 'an error: a new file beside a recorded one, outside of the current folder',
      before: {
        'trueup.yaml': `${SETTINGS}accounts: { ${BOTH} }\n`,
        '../common/c.yaml': OTHER_ACCOUNT,
      },
      now: {
        'trueup.yaml': `${SETTINGS}accounts: { ${ONE} }\n`,
        '../common/d.yaml': 'accounts: { depot: { name: Depot } }\n',
      },
      applied: ['.', '../common'],
      paths: ['.'],
      code: 1,
    },
  ])('is $is', async ({ before, now, paths, applied = paths, words = [], env = {}, code }) => {
    const cwd = join(freshFolder(), 'here');
    writeAll(cwd, before);
    const done = await inProcess(apply, ['apply', ...applied, ...words, '--auto-approve'], {
      cwd,
      env,
    });
    expect(done.code, done.stderr).toBe(0);
    writeAll(cwd, now);
    const shown = await inProcess(plan, ['plan', ...paths, ...words], { cwd, env });
    expect([shown.code, shown.stderr.includes('[declared-elsewhere]')]).toEqual([code, code === 1]);
  });

  test.each([
    [drift, ['drift', 'a.yaml']],
    [exportObjects, ['export', '--update', 'a.yaml']],
  ])('is none for a command that removes nothing: %#', async (command, words) => {
    const cwd = folderWith({ 'a.yaml': `${SETTINGS}accounts: { ${BOTH} }\n` });
    await typing(apply, cwd, 'apply', '--auto-approve');
    const gone = async (): Promise<unknown> => {
      const { code, stdout, stderr } = await typing(command, cwd, ...words);
      const isTold = /undeclared|no longer declared/.test(stdout);
      return [code, isTold, stderr.includes('[declared-elsewhere]')];
    };
    writeAll(cwd, { 'a.yaml': `${SETTINGS}accounts: { ${ONE} }\n` });
    expect(await gone()).toEqual([0, command === drift, false]);
    writeAll(cwd, { 'b.yaml': SETTLED });
    expect(await gone()).toEqual([0, false, false]);
  });

  test('is an error where the recorded file of that name is in a folder above', async () => {
    const top = freshFolder();
    const settings = `settings: { target: emulator, state: { url: ${join(top, 'state.json')} } }\n`;
    writeAll(top, { 'trueup.yaml': `${settings}accounts: { hq: { name: HQ } }\n` });
    await typing(apply, top, 'apply', '--auto-approve');
    writeAll(top, { 'sites/trueup.yaml': `${settings}${OTHER_ACCOUNT}` });
    const { code, stderr } = await typing(plan, join(top, 'sites'), 'plan');
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('add it to the PATHs: ../trueup.yaml'),
    ]);
  });

  test('shows that the state is that of this project, also beside an error', async () => {
    const cwd = folderWith({ 'a.yaml': `${SETTINGS}accounts: { ${BOTH} }\n` });
    await typing(apply, cwd, 'apply', '--auto-approve');
    writeAll(cwd, { 'n.yaml': OTHER_ACCOUNT, 'bad.yaml': 'accounts: { q: { nme: Q } }\n' });
    const { code, stderr } = await typing(plan, cwd, 'plan', 'n.yaml');
    expect([code, stderr.includes('foreign-state')]).toEqual([0, false]);
  });

  test('is an error where it is a pipe, which nobody reads', async () => {
    const { code, stderr } = await applied({}, SETTINGS, (cwd) => {
      spawnSync('mkfifo', [join(cwd, 'pipe.yaml')]);
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining('pipe.yaml is not a regular file')]);
  });

  test('is an error where the environment names the state, and a file above has that name', async () => {
    const top = freshFolder();
    const env = { TRUEUP_STATE: join(top, 'state.json') };
    writeAll(top, { 'trueup.yaml': `${SETTINGS}accounts: { hq: { name: HQ } }\n` });
    await inProcess(apply, ['apply', '--auto-approve'], { cwd: top, env });
    writeAll(top, { 'sites/trueup.yaml': `${SETTINGS}${OTHER_ACCOUNT}` });
    const shown = await inProcess(plan, ['plan'], { cwd: join(top, 'sites'), env });
    expect([shown.code, shown.stderr]).toEqual([1, expect.stringContaining('../trueup.yaml')]);
  });

  test('is none of a project in a folder above, whose state is there', async () => {
    const top = folderWith({
      'trueup.yaml': `${SETTINGS}accounts: { ${BOTH} }\n`,
      'sites/trueup.yaml': `${SETTINGS}accounts: { ${BOTH} }\n`,
    });
    await typing(apply, join(top, 'sites'), 'apply', '--auto-approve');
    writeAll(top, { 'sites/trueup.yaml': `${SETTINGS}accounts: { ${ONE} }\n` });
    const { code, stderr } = await typing(plan, join(top, 'sites'), 'plan');
    expect([code, stderr.includes('[declared-elsewhere]')]).toEqual([0, false]);
  });

  test('is an error where its folder became a link out of the project', async () => {
    const cwd = folderWith({
      'p/trueup.yaml': `${SETTINGS}accounts: { ${ONE} }\n`,
      'p/shared/c.yaml': 'accounts: { depot: { name: Depot } }\n',
    });
    await typing(apply, join(cwd, 'p'), 'apply', '--auto-approve');
    renameSync(join(cwd, 'p/shared'), join(cwd, 'common'));
    symlinkSync('../common', join(cwd, 'p/shared'));
    const { code, stderr } = await typing(plan, join(cwd, 'p'), 'plan');
    expect([code, stderr]).toEqual([1, expect.stringContaining('[declared-elsewhere]')]);
  });

  test('is none of the PATHs themselves, through a link', async () => {
    const cwd = folderWith({ 'real/a.yaml': `${SETTINGS}accounts: { ${BOTH} }\n` });
    symlinkSync('real', join(cwd, 'link'));
    await typing(apply, cwd, 'apply', 'link', '--auto-approve');
    writeAll(cwd, {
      'real/a.yaml': `${SETTINGS}accounts: { ${ONE} }\n`,
      'real/b.yaml': REMOVED,
    });
    const { code, stdout } = await typing(plan, cwd, 'plan', 'link');
    expect([code, stdout]).toEqual([0, expect.stringContaining('. forget accounts.depot')]);
  });

  test('is an error where the folder of a recorded file cannot be entered', async () => {
    const cwd = folderWith({
      'trueup.yaml': SETTINGS,
      'a.yaml': `accounts: { ${BOTH} }\n`,
      'y/b.yaml': OTHER_ACCOUNT,
    });
    await typing(apply, cwd, 'apply', '--auto-approve');
    writeAll(cwd, {
      'a.yaml': `accounts: { ${ONE} }\n`,
      'y/b.yaml': 'accounts: { depot: { name: Depot } }\n',
    });
    const { stat } = declarationFiles;
    const closed = vi.spyOn(declarationFiles, 'stat').mockImplementation((path) => {
      if (path.endsWith('y/b.yaml')) throw Object.assign(new Error('no'), { code: 'EACCES' });
      return stat(path);
    });
    const { code, stderr } = await typing(plan, cwd, 'plan', 'trueup.yaml', 'a.yaml');
    closed.mockRestore();
    expect([code, stderr]).toEqual([1, expect.stringContaining('[declared-elsewhere]')]);
  });

  test('is none of a file of the PATHs that is a link to elsewhere', async () => {
    const cwd = folderWith({
      'trueup.yaml': SETTINGS,
      'x/a.yaml': `accounts: { ${BOTH} }\n`,
      'common/l.yaml': REMOVED,
    });
    await typing(apply, cwd, 'apply', 'trueup.yaml', 'x', '--auto-approve');
    writeAll(cwd, { 'x/a.yaml': `accounts: { ${ONE} }\n` });
    symlinkSync('../common/l.yaml', join(cwd, 'x/l.yaml'));
    const { code, stdout } = await typing(plan, cwd, 'plan', 'trueup.yaml', 'x');
    expect([code, stdout]).toEqual([0, expect.stringContaining('. forget accounts.depot')]);
  });

  test('is an error of a new file beside a PATH through a link', async () => {
    const top = folderWith({
      'here/trueup.yaml': SETTINGS,
      'common/a.yaml': `accounts: { ${BOTH} }\n`,
    });
    const cwd = join(top, 'here');
    symlinkSync('../common', join(cwd, 'common'));
    const paths = ['trueup.yaml', 'common/a.yaml'];
    await typing(apply, cwd, 'apply', ...paths, '--auto-approve');
    writeAll(top, {
      'common/a.yaml': `accounts: { ${ONE} }\n`,
      'common/n.yaml': 'accounts: { depot: { name: Depot } }\n',
    });
    const { code, stderr } = await typing(plan, cwd, 'plan', ...paths);
    expect([code, stderr]).toEqual([1, expect.stringContaining('[declared-elsewhere]')]);
  });

  test('is an error where a file that is left out is a link to nowhere', async () => {
    const { code, stderr } = await applied({}, SETTINGS, (cwd) =>
      symlinkSync('nowhere', join(cwd, 'link.yaml')),
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining('link.yaml is not a regular file')]);
  });

  test('is none of another project with settings of its own, if the environment names the state', async () => {
    const [both, one] = [`accounts: { ${BOTH} }\n`, `accounts: { ${ONE} }\n`];
    const cwd = folderWith({
      'p/trueup.yaml': `${SETTINGS}${both}`,
      'q/trueup.yaml': 'settings: { target: emulator, policy: { max_deletes: 3 } }\n',
      'q/moves.yaml': HALL,
    });
    const env = { TRUEUP_STATE: 'p.json' };
    const typing = (command: Command, ...words: readonly string[]) =>
      inProcess(command, words, { cwd, env });
    await typing(apply, 'apply', 'p', '--auto-approve');
    writeAll(cwd, { 'p/trueup.yaml': `${SETTINGS}${one}` });
    expect((await typing(plan, 'plan', 'p')).code).toBe(0);
    writeAll(cwd, { 'p/new.yaml': HALL });
    const { code, stderr } = await typing(plan, 'plan', 'p/trueup.yaml');
    expect([code, stderr]).toEqual([1, expect.stringContaining('add it to the PATHs: p/new.yaml')]);
  });

  test('is an error in the folder of a file that a PATH names, outside of the current folder', async () => {
    const top = folderWith({
      'dev/trueup.yaml': WITH_STATE,
      'common/a.yaml': 'accounts: { depot: { name: Depot }, keep: { name: Keep } }\n',
    });
    const cwd = join(top, 'dev');
    const paths = ['trueup.yaml', '../common/a.yaml'];
    await typing(apply, cwd, 'apply', ...paths, '--auto-approve');
    writeFileSync(join(top, 'common/a.yaml'), 'accounts: { keep: { name: Keep } }\n');
    writeFileSync(join(top, 'common/b.yaml'), HALL);
    const { code, stderr } = await typing(plan, cwd, 'plan', ...paths);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('add it to the PATHs: ../common/b.yaml'),
    ]);
    expect((await typing(plan, cwd, 'plan', ...paths, '../common/b.yaml')).code).toBe(0);
  });
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
