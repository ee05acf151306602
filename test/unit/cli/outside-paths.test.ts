// What files say that the PATHs of a plan leave out: nothing may be deleted that the plan of all files keeps, and what
// other projects of a repository declare stops no removal.
import { spawnSync } from 'node:child_process';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startHttp } from '../../../scripts/servers.js';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as drift } from '../../../src/cli/commands/drift.js';
import { run as exportObjects } from '../../../src/cli/commands/export.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import type { Command } from '../../../src/cli/context.js';
import { declarationFiles } from '../../../src/platform/declaration-files.js';
import { folderWith, freshFolder, inProcess, typing, writeAll } from '../../support/in-process.js';

const SETTINGS = 'settings: { target: emulator }\nvariables: { n: Default }\n';

type Env = Readonly<Record<string, string>>;

describe('what a file says that the PATHs leave out', () => {
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
    ['refers to the object', 'accounts: { x: { name: "${accounts.depot.name}" } }\n'],
    ['has the same settings', `${SETTINGS}${HALL}`],
  ])('is an error where its file %s', async (_, text) => {
    const { code, stderr } = await applied({ 'new.yaml': text });
    expect([code, stderr]).toEqual([1, expect.stringContaining('[declared-elsewhere]')]);
    expect(stderr).toContain('new.yaml:');
  });

  const OTHER = 'settings: { target: emulator, state: { url: other.json } }\n';

  test.each([
    ['has settings with another state', { 'labs.yaml': `${OTHER}${HALL}` }],
    ['has an error, and does not name it', { 'new.yaml': 'accounts: { x: { nme: X } }\n' }],
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
  const [ALL, KEPT] = [`accounts: { ${BOTH} }\n`, `accounts: { ${ONE} }\n`];
  const DEPOT = 'accounts: { depot: { name: Depot } }\n';
  const [TWICE, SETTLED] = [
    `accounts: { hall: { name: Depot }, ${ONE} }\n${MOVED}`,
    `accounts: { hall: { name: Depot } }\n${MOVED}`,
  ];
  const named = (state: string): string =>
    `settings: { target: emulator, state: { url: "${state}.json" } }\n`;
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
  const membersOf = (...keys: readonly string[]): string =>
    JSON.stringify({
      resource: {
        devicecloud_account: {
          site: {
            for_each: Object.fromEntries(keys.map((key) => [key, key])),
            name: '${each.key}',
            '//': {
              metadata: {
                path: 'a/site',
                uniqueId: 'site',
                stackTrace: ['new Site (main.ts:9:5)'],
              },
            },
          },
        },
      },
    });
  const PROGRAM = JSON.stringify({
    language: 'typescript',
    app: 'cp made.yaml.txt $CDKTF_OUTDIR/net.yaml',
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
  /** A program that writes a stack with these accounts, and the output that it left. */
  const programWith = (folder: string, names: readonly string[], output = 'cdktf.out') => {
    const stack = stackOf(...names);
    return {
      [`${folder}cdktf.json`]: JSON.stringify({
        app: 'mkdir -p $CDKTF_OUTDIR/stacks/net && cp manifest.txt $CDKTF_OUTDIR/manifest.json && cp stack.txt $CDKTF_OUTDIR/stacks/net/cdk.tf.json',
        output,
      }),
      [`${folder}manifest.txt`]: manifestOf('net'),
      [`${folder}stack.txt`]: stack,
    };
  };
  const outputWith = (folder: string, ...names: readonly string[]) => ({
    [`${folder}/manifest.json`]: manifestOf('net'),
    [`${folder}/stacks/net/cdk.tf.json`]: stackOf(...names),
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
    /** Files that are not there any more. */
    readonly gone?: readonly string[];
    readonly code: number;
  }>([
    {
      is: 'an error: settings in a folder that is a PATH',
      before: { 'c/trueup.yaml': named('mine'), 'o/a.yaml': ALL },
      now: { 'o/a.yaml': KEPT, 'o/b.yaml': SETTLED },
      paths: ['c', 'o/a.yaml'],
      code: 1,
    },
    {
      is: 'an error: `.` beside a PATH outside of the current folder',
      before: { 'trueup.yaml': named('mine'), '../o/a.yaml': ALL },
      now: { '../o/a.yaml': KEPT, '../o/b.yaml': SETTLED },
      paths: ['.', '../o/a.yaml'],
      code: 1,
    },
    {
      is: 'an error: a folder without settings, which may be planned with any',
      before: { 'p/trueup.yaml': `${named('p')}${ALL}` },
      now: { 'p/trueup.yaml': `${named('p')}${KEPT}`, 'q/b.yaml': SETTLED },
      paths: ['p'],
      code: 1,
    },
    {
      is: 'none: a state whose name holds a variable of another file',
      before: {
        'p/trueup.yaml': named('${var.t}'),
        'p/v.yaml': 'variables: { t: p }\n',
        'p/a.yaml': ALL,
      },
      now: {
        'p/a.yaml': KEPT,
        'q/trueup.yaml': named('${var.t}'),
        'q/v.yaml': 'variables: { t: q }\n',
        'q/a.yaml': ALL,
      },
      paths: ['p'],
      code: 0,
    },
    {
      is: 'an error: a moved block in a new file beside a recorded one',
      before: { 't/trueup.yaml': `${named('s')}${ALL}`, 'base/c.yaml': OTHER_ACCOUNT },
      now: { 't/trueup.yaml': `${named('s')}${KEPT}`, 'base/new.yaml': SETTLED },
      applied: ['t', 'base'],
      paths: ['t'],
      code: 1,
    },
    {
      is: 'none: a value that only another run has',
      before: { 'trueup.yaml': SETTINGS, 'p/x.yaml': ALL },
      now: {
        'p/x.yaml': KEPT,
        'q/x.yaml': 'accounts: { q: { name: "${var.q}" }, r: { name: "${env.R}" } }\n',
      },
      paths: ['p'],
      code: 0,
    },
    {
      is: 'an error: a file in the folder with the settings, outside of the current folder',
      before: { '../infra/trueup.yaml': SETTINGS, '../infra/p/x.yaml': ALL },
      now: { '../infra/p/x.yaml': KEPT, '../infra/q/x.yaml': DEPOT },
      paths: ['../infra/trueup.yaml', '../infra/p'],
      code: 1,
    },
    {
      is: 'an error: such a file, where the current folder is in it, too',
      before: { '../trueup.yaml': named('s'), 'x.yaml': ALL },
      now: { 'x.yaml': KEPT, '../q/x.yaml': DEPOT },
      paths: ['.', '../trueup.yaml'],
      code: 1,
    },
    {
      is: 'none: what a program of the PATHs wrote earlier',
      before: {
        'cdktf.json': PROGRAM,
        'trueup.yaml': SETTINGS,
        'made.yaml.txt': ALL,
      },
      now: { 'made.yaml.txt': KEPT, 'trueup.out/net.yaml': ALL },
      paths: ['cdktf.json', 'trueup.yaml'],
      code: 0,
    },
    {
      is: 'an error: a folder with the same settings that declares the same addresses',
      before: { 'trueup.yaml': SETTINGS, 'p/x.yaml': ALL },
      now: { 'p/x.yaml': KEPT, 'q/x.yaml': TWICE },
      paths: ['p'],
      env: { TRUEUP_STATE: 'p.json' },
      code: 1,
    },
    {
      is: 'an error: a split into a folder that still declares what stays',
      before: {
        'trueup.yaml': 'settings: { target: emulator, state: { url: s.json } }\n',
        'p/x.yaml': ALL,
      },
      now: { 'p/x.yaml': KEPT, 'q/x.yaml': ALL },
      paths: ['p'],
      code: 1,
    },
    {
      is: 'an error: a folder that gives a variable of the PATHs a value, as several PATHs may',
      before: {
        'trueup.yaml': 'settings: { target: emulator, state: { url: s.json } }\n',
        'p/x.yaml': ALL,
      },
      now: {
        'p/x.yaml': `variables: { region: x }\n${KEPT}`,
        'q/x.yaml': 'variables: { region: x }\naccounts: { depot: { name: Depot } }\n',
      },
      paths: ['p'],
      code: 1,
    },
    {
      is: 'none: several projects with settings that name no state',
      before: { 'p/x.yaml': `${SETTINGS}${ALL}` },
      now: {
        'p/x.yaml': `${SETTINGS}${KEPT}`,
        'q/x.yaml': `${SETTINGS}${OTHER_ACCOUNT}`,
        'r/x.yaml': `${SETTINGS}${OTHER_ACCOUNT}`,
      },
      paths: ['p'],
      code: 0,
    },
    {
      is: 'none: files of other programs with keys of trueup that declare nothing',
      before: { 'trueup.yaml': SETTINGS, 'p/x.yaml': ALL },
      now: {
        'p/x.yaml': KEPT,
        'q/x.yaml': OTHER_ACCOUNT,
        'pnpm-lock.yaml':
          "lockfileVersion: '9.0'\nsettings:\n  autoInstallPeers: true\nimporters:\n  .: {}\n",
        'ci/azure-pipelines.yml': 'trigger: [main]\nvariables:\n  - name: a\n    value: b\n',
        'alertmanager.yml': 'route: { receiver: x }\ntemplates: [/etc/*.tmpl]\n',
        'chart/values.yaml': 'users:\n  - name: dana\nsettings: { debug: true }\n',
      },
      paths: ['p'],
      code: 0,
    },
    {
      is: 'an error: the output of a program in the current folder declares it now',
      before: { 'trueup.yaml': SETTINGS, 'x/a.yaml': ALL },
      now: {
        'x/a.yaml': KEPT,
        'trueup.out/n.yaml': DEPOT,
      },
      paths: ['trueup.yaml', 'x/a.yaml'],
      code: 1,
    },
    {
      is: 'none: equal settings in another file, if the environment names the state',
      before: { 'p/x.yaml': `${SETTINGS}${ALL}` },
      now: { 'p/x.yaml': `${SETTINGS}${KEPT}`, 'q/x.yaml': `${SETTINGS}${SETTLED}` },
      paths: ['p'],
      env: { TRUEUP_STATE: 'p.json' },
      code: 0,
    },
    {
      is: 'an error: settings that name the state that the environment names',
      before: { 'p/x.yaml': `${SETTINGS}${ALL}` },
      now: { 'p/x.yaml': `${SETTINGS}${KEPT}`, 'q/x.yaml': `${named('s')}${SETTLED}` },
      paths: ['p'],
      env: { TRUEUP_STATE: 's.json' },
      code: 1,
    },
    {
      is: 'none: a project with another state, and without the environment',
      before: {
        'p/trueup.yaml': `${named('p')}${ALL}`,
        'p/trueup.prod.yaml': named('p.prod'),
      },
      now: {
        'p/trueup.yaml': `${named('p')}${KEPT}`,
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
        'p/x.yaml': ALL,
      },
      now: { 'p/x.yaml': KEPT, 'q/x.yaml': SETTLED },
      paths: ['p'],
      words: ['--env', 'prod'],
      code: 1,
    },
    {
      is: 'an error: the object is declared in another file now',
      before: { 'a.yaml': `${SETTINGS}${ALL}` },
      now: {
        'a.yaml': `${SETTINGS}${KEPT}`,
        'b.yaml': DEPOT,
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'an error: the object is declared in another file, with an error',
      before: { 'a.yaml': `${SETTINGS}${ALL}` },
      now: {
        'a.yaml': `${SETTINGS}${KEPT}`,
        'b.yaml': 'accounts: { depot: { name: Depot, x: 1 } }\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'an error: another file declares it with an earlier name',
      before: { 'a.yaml': `${SETTINGS}${ALL}` },
      now: {
        'a.yaml': `${SETTINGS}${KEPT}`,
        'b.yaml': 'accounts: { w: { name: Depot, lifecycle: { renamed_from: depot } } }\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'none: another project declares the address',
      before: { 'p/a.yaml': `${named('p')}${ALL}` },
      now: {
        'p/a.yaml': `${named('p')}${KEPT}`,
        'q/a.yaml': `${named('q')}accounts: { depot: { name: Depot } }\n`,
      },
      paths: ['p'],
      code: 0,
    },
    {
      is: 'an error: the same state in other words',
      before: { 'p/a.yaml': `${named('s')}${ALL}` },
      now: {
        'p/a.yaml': `${named('s')}${KEPT}`,
        'q/a.yaml': `settings: { target: emulator, state: { url: ./s.json, lock: { wait: 1m } } }\n${SETTLED}`,
      },
      paths: ['p'],
      code: 1,
    },
    {
      is: 'none: a removed block of the PATHs with destroy: true',
      before: { 'a.yaml': `${SETTINGS}${ALL}` },
      now: {
        'a.yaml': `${SETTINGS}${KEPT}removed: [{ from: accounts.depot, lifecycle: { destroy: true } }]\n`,
        'b.yaml': SETTLED,
      },
      paths: ['a.yaml'],
      code: 0,
    },
    {
      is: 'none: a removed block of the PATHs that forgets',
      before: { 'a.yaml': `${SETTINGS}${ALL}` },
      now: {
        'a.yaml': `${SETTINGS}${KEPT}${REMOVED}`,
        'b.yaml': 'accounts: { w: { name: W, lifecycle: { adopt: "${var.n}" } } }\n',
      },
      paths: ['a.yaml'],
      code: 0,
    },
    {
      is: 'an error: beside the folder of a fleet',
      before: { 'a.yaml': `${SETTINGS}${ALL}` },
      now: {
        'a.yaml': `${SETTINGS}${KEPT}`,
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
        't/x.yaml': `${SETTINGS}${ALL}`,
      },
      now: { 't/x.yaml': `${SETTINGS}${KEPT}`, 't/y.yaml': SETTLED },
      paths: ['t/x.yaml'],
      code: 0,
    },
    {
      is: 'an error: a file with an error, and an address with a variable',
      before: { 'a.yaml': `${SETTINGS}${ALL}` },
      now: {
        'a.yaml': `${SETTINGS}${KEPT}`,
        'b.yaml': 'moved: [{ from: "accounts.${var.old}", to: accounts.hall, extra: 1 }]\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'none: a file of another program',
      before: { 'a.yaml': `${SETTINGS}${ALL}` },
      now: {
        'a.yaml': `${SETTINGS}${KEPT}`,
        'log.yaml': 'gone:\n  - accounts.depot is no longer made: [x\n',
      },
      paths: ['a.yaml'],
      code: 0,
    },
    {
      is: 'an error: a block with a variable that another project has, too',
      before: {
        'p/a.yaml': ALL,
        'p/trueup.yaml': `${named('p')}variables: { old: depot }\n`,
      },
      now: {
        'p/a.yaml': KEPT,
        'p/b.yaml': SETTLED.replace('accounts.depot', '"accounts.${var.old}"'),
        'o/trueup.yaml': `${named('o')}variables: { old: kiosk }\n`,
      },
      paths: ['p/a.yaml', 'p/trueup.yaml'],
      code: 1,
    },
    {
      is: 'an error: a removed block with a variable that another project has, too',
      before: {
        'p/a.yaml': ALL,
        'p/trueup.yaml': `${named('p')}variables: { old: depot }\n`,
      },
      now: {
        'p/a.yaml': KEPT,
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
        'p/trueup.yaml': `${named('p')}${KEPT}`,
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
      before: { 'p/trueup.yaml': named('p'), 'p/a.yaml': ALL },
      now: {
        'p/a.yaml': KEPT,
        'p/b.yaml': DEPOT,
        'o/trueup.yaml': named('o'),
        'o/a.yaml': ALL,
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
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': ALL },
      now: {
        'a.yaml': KEPT,
        'b.yaml': DEPOT,
        'backup/a.yaml': ALL,
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'an error: a file that may declare it cannot be parsed',
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': ALL },
      now: {
        'a.yaml': KEPT,
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
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': ALL },
      now: { 'a.yaml': KEPT, 'b.yaml': ALL },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'an error: a hidden folder, if the state names its file',
      before: {
        'trueup.yaml': SETTINGS,
        '.github/a.yaml': ALL,
        '.github/b.yaml': OTHER_ACCOUNT,
      },
      now: {
        '.github/a.yaml': KEPT,
        '.github/b.yaml': DEPOT,
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
        '../lib/a.yaml': ALL,
        'b.yaml': OTHER_ACCOUNT,
      },
      now: {
        '../lib/a.yaml': KEPT,
        'b.yaml': DEPOT,
      },
      applied: ['conf', '../lib', 'b.yaml'],
      paths: ['conf', '../lib'],
      code: 1,
    },
    {
      is: 'an error: a folder as PATH, beside the folder of a fleet',
      before: {
        'trueup.yaml': SETTINGS,
        'x/a.yaml': ALL,
        'y/b.yaml': OTHER_ACCOUNT,
      },
      now: {
        'x/a.yaml': KEPT,
        'y/b.yaml': DEPOT,
        'f/trueup.fleet.yaml': 'fleet: { tenants: { x: { paths: [x] } } }\n',
      },
      applied: ['.'],
      paths: ['x'],
      code: 1,
    },
    {
      is: 'an error: a new file in a hidden folder, beside a PATH',
      before: { 'trueup.yaml': SETTINGS, '.github/a.yaml': ALL },
      now: {
        '.github/a.yaml': KEPT,
        '.github/new.yaml': DEPOT,
      },
      paths: ['trueup.yaml', '.github/a.yaml'],
      code: 1,
    },
    {
      is: 'an error: a new file of the current folder, beside PATHs outside of it',
      before: { 'conf/trueup.yaml': SETTINGS, '../lib/a.yaml': ALL },
      now: {
        '../lib/a.yaml': KEPT,
        'b.yaml': DEPOT,
      },
      paths: ['conf', '../lib'],
      code: 1,
    },
    {
      is: 'an error: a new file of another folder, beside the folder of a fleet',
      before: { 'trueup.yaml': SETTINGS, 'x/a.yaml': ALL },
      now: {
        'x/a.yaml': KEPT,
        'y/b.yaml': DEPOT,
        'f/trueup.fleet.yaml': 'fleet: { tenants: { x: { paths: [x] } } }\n',
      },
      paths: ['x'],
      code: 1,
    },
    {
      is: 'none: a file of a fleet beside the PATHs',
      before: { 'trueup.yaml': SETTINGS, 'x/a.yaml': ALL },
      now: {
        'x/a.yaml': KEPT,
        'f/t/b.yaml': DEPOT,
        'f/trueup.fleet.yaml': 'fleet: { tenants: { x: { paths: [t] } } }\n',
      },
      paths: ['x'],
      code: 0,
    },
    {
      is: 'an error: a PATH whose name begins with a dash',
      before: { 'trueup.yaml': SETTINGS, '-a.yaml': ALL },
      now: {
        '-a.yaml': KEPT,
        'o/b.yaml': DEPOT,
      },
      paths: ['trueup.yaml', './-a.yaml'],
      code: 1,
    },
    {
      is: 'an error: a file in UTF-16',
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': ALL },
      now: {
        'a.yaml': KEPT,
        'b.yaml': '\uFFFDaccounts: { depot: { name: Depot } }\n'.replaceAll(/(?<=.)/gs, '\0'),
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'none: a file of another program in a hidden folder, beside a PATH',
      before: { 'trueup.yaml': SETTINGS, '.github/a.yaml': ALL },
      now: {
        '.github/a.yaml': KEPT,
        '.github/ci.yaml': 'jobs: { depot: { runs-on: x } }\n',
      },
      paths: ['trueup.yaml', '.github/a.yaml'],
      code: 0,
    },
    {
      is: 'an error: an earlier name from a variable of a third file',
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': ALL },
      now: {
        'a.yaml': KEPT,
        'vars.yaml': 'variables: { old: depot }\n',
        'b.yaml': 'accounts: { w: { name: Depot, lifecycle: { renamed_from: "${var.old}" } } }\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    ...[['a.yaml'], ['a.yaml', 'lib']].map((paths) => ({
      is: `an error: a template of a third file adopts the object, with PATHs ${paths.join(' ')}`,
      before: {
        'trueup.yaml': SETTINGS,
        'a.yaml': ALL,
        'lib/t.yaml': TEMPLATE.replace(SETTINGS, '').replace(
          'name: "${param.n}"',
          'name: Depot, lifecycle: { adopt: "${param.n}" }',
        ),
      },
      now: {
        'a.yaml': KEPT,
        'b.yaml': 'use: { w: { template: site, with: { n: "2" } } }\n',
      },
      paths,
      code: 1,
    })),
    {
      is: 'an error: a recorded file in another folder, without settings',
      before: {
        'conf/trueup.yaml': named('mine'),
        'objs/a.yaml': ALL,
        'more/b.yaml': OTHER_ACCOUNT,
      },
      now: {
        'objs/a.yaml': KEPT,
        'more/b.yaml': DEPOT,
      },
      applied: ['.'],
      paths: ['conf', 'objs'],
      code: 1,
    },
    {
      is: 'an error: a recorded file in a folder that has settings of its own now',
      before: {
        'conf/trueup.yaml': named('mine'),
        'objs/a.yaml': ALL,
        'more/b.yaml': OTHER_ACCOUNT,
      },
      now: {
        'objs/a.yaml': KEPT,
        'more/trueup.yaml': named('other'),
        'more/b.yaml': DEPOT,
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
      is: 'none: a member that a folder of stacks no longer declares',
      before: {
        'trueup.yaml': SETTINGS,
        'out/manifest.json': manifestOf('a'),
        'out/stacks/a/cdk.tf.json': membersOf('keep', 'depot'),
      },
      now: { 'out/stacks/a/cdk.tf.json': membersOf('keep') },
      paths: ['trueup.yaml', 'out'],
      code: 0,
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
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': ALL },
      now: {
        'a.yaml': KEPT,
        'b.yaml': 'accounts: { w: { name: Depot, lifecycle: { adopt: "2" } } }\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    {
      is: 'an error: the usual place of the state, written out',
      before: {
        'p/trueup.yaml': SETTINGS,
        'p/a.yaml': ALL,
      },
      now: {
        'p/a.yaml': KEPT,
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
        'a.yaml': KEPT,
        'b.yaml': 'use: { acme: { template: site } }\n',
        't.yaml': 'templates: { site: { accounts: { main: { name: A, nmae: x } } } }\n',
      },
      paths: ['a.yaml'],
      code: 1,
    },
    ...[
      'accounts: { hall: { name: Depot, bogus: 1, lifecycle: { renamed_from: depot } } }\n',
      'accounts: { hall: { name: Depot } }\nmooved: [{ from: accounts.depot, to: accounts.hall }]\n',
    ].map((text) => ({
      is: `an error: a file with an error may take the object: ${text}`,
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': ALL },
      now: { 'a.yaml': KEPT, 'b.yaml': text },
      paths: ['a.yaml'],
      code: 1,
    })),
    {
      is: 'an error: a stack in the current folder declares it now',
      before: { 'trueup.yaml': SETTINGS, 'x/a.yaml': ALL },
      now: {
        'x/a.yaml': KEPT,
        'cdktf.out/manifest.json': '{}',
        'cdktf.out/stacks/net/cdk.tf.json': stackOf('depot'),
      },
      paths: ['trueup.yaml', 'x/a.yaml'],
      code: 1,
    },
    {
      is: 'an error: a file that names a project of the same state file',
      before: { 'x/a.yaml': `${SETTINGS}${ALL}` },
      now: {
        'x/a.yaml': `${SETTINGS}${KEPT}`,
        'y/b.yaml':
          'settings: { target: emulator, state: { project: other } }\naccounts: { depot: { name: Depot } }\n',
      },
      paths: ['x'],
      code: 1,
    },
    {
      is: 'an error: a file with the name of one of an environment declares it',
      before: { 'trueup.yaml': SETTINGS, 'x/a.yaml': ALL },
      now: {
        'x/a.yaml': KEPT,
        'trueup.sites.yaml': DEPOT,
      },
      paths: ['x'],
      code: 1,
    },
    {
      is: 'an error: another folder of the project, which is hidden',
      before: { '.infra/t.yaml': SETTINGS, '.infra/sub/a.yaml': ALL },
      now: {
        '.infra/sub/a.yaml': KEPT,
        '.infra/other/c.yaml': DEPOT,
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
        'base/a.yaml': ALL,
        'tenants/x/v.yaml': `${named('x')}variables: { site: x }\n`,
      },
      now: {
        'base/a.yaml': KEPT,
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
        'trueup.yaml': `${SETTINGS}${ALL}`,
        '../common/c.yaml': OTHER_ACCOUNT,
      },
      now: {
        'trueup.yaml': `${SETTINGS}${KEPT}`,
        '../common/d.yaml': DEPOT,
      },
      applied: ['.', '../common'],
      paths: ['.'],
      code: 1,
    },
    {
      is: 'an error: a file with an error after a byte order mark',
      before: { 'trueup.yaml': SETTINGS, 'p/x.yaml': ALL },
      now: { 'p/x.yaml': KEPT, 'b.yaml': '\uFEFFaccounts: { depot: { name: Depot }\n' },
      paths: ['p'],
      code: 1,
    },
    {
      is: 'an error: a new file without settings beside a recorded one, in a folder above',
      before: {
        'trueup.yaml': `${named('s')}${ALL}`,
        '../common/c.yaml': OTHER_ACCOUNT,
      },
      now: { 'trueup.yaml': `${named('s')}${KEPT}`, '../common/d.yaml': DEPOT },
      applied: ['.', '../common'],
      paths: ['.'],
      code: 1,
    },
    {
      is: 'none: files with words of it that trueup cannot read as declarations',
      before: { 'trueup.yaml': SETTINGS, 'p/x.yaml': ALL },
      now: {
        'p/x.yaml': KEPT,
        'pnpm-lock.yaml': `settings: {}\n${'# depot\n'.repeat(400_000)}importers: { depot: {} }\n`,
        'azure-pipelines.yml': 'variables: {}\ntrigger: [depot]\n',
        'values.yaml': 'settings: { depot: true, more: { depot: {} } }\nimage: x\n',
        '.gitlab-ci.yml': 'variables: {}\ndepot: { script: [make] }\n',
        'changes.yaml': 'removed: [depots]\naccount: x\n',
        'cdktf.out/manifest.json': manifestOf('aws'),
        'cdktf.out/stacks/aws/cdk.tf.json': '{"module":{"depot":{"source":"x"}}}',
      },
      paths: ['p'],
      code: 0,
    },
    {
      is: 'an error: a file that is too large, with a declaration',
      before: { 'trueup.yaml': SETTINGS, 'p/x.yaml': ALL },
      now: { 'p/x.yaml': KEPT, 'b.yaml': `${'# much\n'.repeat(400_000)}${DEPOT}` },
      paths: ['p'],
      code: 1,
    },
    {
      is: 'an error: a block with a variable to which two files give a value',
      before: { 'trueup.yaml': SETTINGS, 'p/x.yaml': ALL },
      now: {
        'p/x.yaml': KEPT,
        'q/v.yaml': 'variables: { old: kiosk }\n',
        'q/w.yaml': 'variables: { old: depot }\n',
        'q/b.yaml': SETTLED.replace('accounts.depot', '"accounts.${var.old}"'),
      },
      paths: ['p'],
      code: 1,
    },
    {
      is: 'an error: a block with a variable to which the PATHs give another value',
      before: {
        'trueup.yaml': SETTINGS,
        'p/x.yaml': ALL,
        'p/v.yaml': 'variables: { old: kiosk }\n',
      },
      now: {
        'p/x.yaml': KEPT,
        'q/v.yaml': 'variables: { old: depot }\n',
        'q/b.yaml': SETTLED.replace('accounts.depot', '"accounts.${var.old}"'),
      },
      paths: ['p'],
      code: 1,
    },
    ...['p/v.yaml', 'q/t/a/v.yaml', 'base/v.yaml'].map((file) => ({
      is: `an error: members by a variable to which ${file} gives another value`,
      before: {
        'trueup.yaml': SETTINGS,
        'p/x.yaml': EACH.replace('"${var.sites}"', '[depot, hall]').replace(
          '{ site',
          '{ z: { name: Z }, site',
        ),
      },
      now: {
        'p/x.yaml': OTHER_ACCOUNT,
        [file]: 'variables: { sites: [depot] }\n',
        'q/t/b/v.yaml': 'variables: { sites: [depot, hall] }\n',
        'q/t/b/x.yaml': EACH,
      },
      paths: ['p'],
      code: 1,
    })),
    ...['cdktf.out/stacks/n/cdk.tf.json', 'trueup.out/n.yaml'].map((file) => ({
      is: `an error: the output of a program in a folder among the PATHs: ${file}`,
      before: { 'trueup.yaml': SETTINGS, 'd/sub/a.yaml': DEPOT },
      now: {
        'd/sub/a.yaml': OTHER_ACCOUNT,
        'd/cdktf.out/manifest.json': manifestOf('n'),
        [`d/${file}`]: file.endsWith('.json') ? stackOf('depot') : DEPOT,
      },
      paths: ['d'],
      code: 1,
    })),
    ...['cdktf.out/stacks/n/cdk.tf.json', 'trueup.out/n.yaml'].map((file) => ({
      is: `an error: the output of a program beside settings that name a state: ${file}`,
      before: { 'conf/trueup.yaml': named('s'), 'a.yaml': ALL },
      now: {
        'a.yaml': KEPT,
        'cdktf.out/manifest.json': manifestOf('n'),
        [file]: file.endsWith('.json') ? stackOf('depot') : DEPOT,
      },
      paths: ['conf', 'a.yaml'],
      code: 1,
    })),
    {
      is: 'none: folders in folders that share names, as those of tenants by region',
      before: {
        'base/trueup.yaml': SETTINGS,
        'tenants/eu/acme/v.yaml': 'variables: { tenant: acme }\n',
        'tenants/eu/acme/x.yaml': ALL,
      },
      now: {
        'tenants/eu/acme/x.yaml': KEPT,
        ...Object.fromEntries(
          ['eu/bell', 'us/cyan', 'us/dune'].flatMap((tenant) => [
            [`tenants/${tenant}/v.yaml`, `variables: { tenant: ${tenant} }\n`],
            [`tenants/${tenant}/x.yaml`, 'accounts: { z: { name: "${var.tenant}" } }\n'],
          ]),
        ),
      },
      paths: ['base', 'tenants/eu/acme'],
      code: 0,
    },
    {
      is: 'none: a folder that gives a value to what another folder uses in templates',
      before: {
        'trueup.yaml': SETTINGS,
        'p/x.yaml': ALL,
        'base/t.yaml': TEMPLATE.replace(SETTINGS, '').replace('param.n', 'var.size'),
        'base/v.yaml': 'variables: { size: one }\n',
        'acme/v.yaml': 'variables: { size: two }\n',
        'acme/u.yaml': using('acme'),
      },
      now: { 'p/x.yaml': KEPT },
      paths: ['p'],
      code: 0,
    },
    {
      is: 'an error: what a program in a folder declares, which is not run with the folders above',
      before: {
        'trueup.yaml': SETTINGS,
        'y/a.yaml': OTHER_ACCOUNT,
        'cdk/cdktf.json': PROGRAM,
        'cdk/made.yaml.txt': DEPOT,
      },
      now: {},
      applied: ['trueup.yaml', 'y', 'cdk/cdktf.json'],
      paths: ['.'],
      code: 1,
    },
    {
      is: 'an error: the output of a recorded program outside of the current folder declares it now',
      before: {
        'trueup.yaml': SETTINGS,
        'y/a.yaml': ALL,
        '../cdk/cdktf.json': PROGRAM,
        '../cdk/made.yaml.txt': OTHER_ACCOUNT,
      },
      now: {
        'y/a.yaml': KEPT,
        '../cdk/cdktf.out/manifest.json': manifestOf('n'),
        '../cdk/cdktf.out/stacks/n/cdk.tf.json': stackOf('depot'),
      },
      applied: ['trueup.yaml', 'y', '../cdk/cdktf.json'],
      paths: ['trueup.yaml', 'y'],
      code: 1,
    },
    {
      is: 'an error: a recorded file outside of the current folder got another name',
      before: { 'trueup.yaml': `${SETTINGS}${ALL}`, '../common/c.yaml': OTHER_ACCOUNT },
      now: {
        'trueup.yaml': `${SETTINGS}${KEPT}`,
        '../common/d.yaml': OTHER_ACCOUNT.replace(' }', ' }, depot: { name: Depot }'),
      },
      gone: ['../common/c.yaml'],
      applied: ['.', '../common'],
      paths: ['.'],
      code: 1,
    },
    {
      is: 'none: what the documents of a program no longer declare',
      before: {
        'cdktf.json': PROGRAM,
        'made.yaml.txt': `${SETTINGS}${ALL}`,
      },
      now: { 'made.yaml.txt': `${SETTINGS}${KEPT}` },
      paths: ['cdktf.json'],
      code: 0,
    },
    {
      is: 'an error: a stack in the current folder, in which no PATH is, declares it now',
      before: { 'x/trueup.yaml': `${SETTINGS}${ALL}` },
      now: { 'x/trueup.yaml': `${SETTINGS}${KEPT}`, ...outputWith('cdktf.out', 'depot') },
      paths: ['x'],
      code: 1,
    },
    {
      is: 'an error: the output that the cdktf.json of a recorded program names declares it now',
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': ALL, ...programWith('p/', ['kiosk'], 'dist') },
      now: { 'a.yaml': KEPT, ...outputWith('p/dist', 'kiosk', 'depot') },
      applied: ['trueup.yaml', 'a.yaml', 'p/cdktf.json'],
      paths: ['trueup.yaml', 'a.yaml'],
      code: 1,
    },
    {
      is: 'an error: the folder of the program that declared it has another name now',
      before: { 'trueup.yaml': SETTINGS, 's/k.yaml': KEPT, ...programWith('s/p/', ['depot']) },
      now: programWith('s/q/', ['depot']),
      gone: ['s/p'],
      applied: ['trueup.yaml', 's/k.yaml', 's/p/cdktf.json'],
      paths: ['trueup.yaml', 's'],
      code: 1,
    },
    {
      is: 'an error: another program beside it is a PATH',
      before: {
        'trueup.yaml': SETTINGS,
        ...programWith('s/a/', ['keep']),
        ...programWith('s/p/', ['depot']),
      },
      now: programWith('s/q/', ['depot']),
      gone: ['s/p'],
      applied: ['trueup.yaml', 's/a/cdktf.json', 's/p/cdktf.json'],
      paths: ['.', 's/a'],
      code: 1,
    },
    {
      is: 'none: settings above name a state of another folder by its variable',
      before: {
        'trueup.yaml': 'settings: { target: emulator, state: { url: "state-${var.c}.json" } }\n',
        'c/acme/vars.yaml': 'variables: { c: acme }\n',
        'c/acme/a.yaml': ALL,
        'c/globex/vars.yaml': 'variables: { c: globex }\n',
        'c/globex/a.yaml': ALL,
      },
      now: { 'c/acme/a.yaml': KEPT },
      paths: ['trueup.yaml', 'c/acme'],
      code: 0,
    },
    {
      is: 'none: a number in a use is not an id if nothing adopts',
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': ALL },
      now: { 'a.yaml': KEPT, 'u.yaml': 'use: { w: { template: t, with: { a: 2, b: 3 } } }\n' },
      paths: ['trueup.yaml', 'a.yaml'],
      code: 0,
    },
    {
      is: 'an error: an id in a use, if a template of the PATHs adopts',
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': ALL },
      now: {
        'a.yaml': `${KEPT}templates: { t: { parameters: { properties: { id: { type: string } } }, accounts: { m: { name: M, lifecycle: { adopt: "\${param.id}" } } } } }\n`,
        'u.yaml': 'use: { w: { template: t, with: { id: "2" } } }\n',
      },
      paths: ['trueup.yaml', 'a.yaml'],
      code: 1,
    },
    {
      is: 'an error: an id in a use, if a template that a program of the PATHs writes may adopt',
      before: {
        'trueup.yaml': SETTINGS,
        'a.yaml': ALL,
        'p/cdktf.json': PROGRAM,
        'p/made.yaml.txt': OTHER_ACCOUNT,
      },
      now: {
        'a.yaml': KEPT,
        'p/made.yaml.txt': `${OTHER_ACCOUNT}templates: { t: { parameters: { properties: { id: { type: string } } }, accounts: { m: { name: M, lifecycle: { adopt: "\${param.id}" } } } } }\n`,
        'u.yaml': 'use: { w: { template: t, with: { id: "2" } } }\n',
      },
      paths: ['trueup.yaml', 'a.yaml', 'p/cdktf.json'],
      code: 1,
    },
    {
      is: 'an error: the recorded output of a program is gone, and the program is there',
      before: {
        'trueup.yaml': `${SETTINGS}${OTHER_ACCOUNT}`,
        ...programWith('p/', ['depot', 'keep'], 'dist'),
        ...outputWith('p/dist', 'depot', 'keep'),
      },
      now: {},
      gone: ['p/dist'],
      applied: ['trueup.yaml', 'p/dist'],
      paths: ['.'],
      code: 1,
    },
    {
      is: 'an error: the recorded output of a program is gone in a folder that is a PATH',
      before: {
        'trueup.yaml': SETTINGS,
        'apps/k.yaml': OTHER_ACCOUNT,
        ...programWith('apps/p/', ['depot']),
        ...outputWith('apps/p/cdktf.out', 'depot'),
      },
      now: {},
      gone: ['apps/p/cdktf.out'],
      applied: ['trueup.yaml', 'apps/k.yaml', 'apps/p/cdktf.out'],
      paths: ['trueup.yaml', 'apps'],
      code: 1,
    },
    {
      is: 'an error: a recorded output is gone, and which program wrote it is not known',
      before: { 'trueup.yaml': `${SETTINGS}${KEPT}`, 'trueup.out/one.yaml': DEPOT },
      now: {},
      gone: ['trueup.out'],
      applied: ['.', 'trueup.out'],
      paths: ['.'],
      code: 1,
    },
    {
      is: 'none: a recorded output is gone with the folder that it was in',
      before: { 'trueup.yaml': `${SETTINGS}${KEPT}`, 'p/trueup.out/one.yaml': DEPOT },
      now: {},
      gone: ['p'],
      applied: ['.', 'p/trueup.out'],
      paths: ['.'],
      code: 0,
    },
    {
      is: 'none: a stack that a program no longer writes, if its output is a PATH',
      before: {
        'trueup.yaml': SETTINGS,
        ...programWith('p/', ['keep']),
        'p/cdktf.out/manifest.json': manifestOf('net', 'lab'),
        'p/cdktf.out/stacks/net/cdk.tf.json': stackOf('keep'),
        'p/cdktf.out/stacks/lab/cdk.tf.json': stackOf('depot'),
      },
      now: { 'p/cdktf.out/manifest.json': manifestOf('net') },
      gone: ['p/cdktf.out/stacks/lab'],
      applied: ['trueup.yaml', 'p/cdktf.out'],
      paths: ['trueup.yaml', 'p/cdktf.out'],
      code: 0,
    },
    {
      is: 'an error: the program that declared it is in another folder now',
      before: { 'trueup.yaml': `${SETTINGS}${KEPT}`, ...programWith('p/', ['depot']) },
      now: programWith('infra/cdk/', ['depot']),
      gone: ['p'],
      applied: ['trueup.yaml', 'p/cdktf.json'],
      paths: ['.'],
      code: 1,
    },
    {
      is: 'an error: the output of a new program in a folder below declares it now',
      before: { 'trueup.yaml': SETTINGS, 'a.yaml': ALL },
      now: {
        'a.yaml': KEPT,
        ...programWith('q/', ['depot']),
        ...outputWith('q/cdktf.out', 'depot'),
      },
      paths: ['trueup.yaml', 'a.yaml'],
      code: 1,
    },
    {
      is: 'none: the program that declared it is gone',
      before: { 'trueup.yaml': SETTINGS, 's/k.yaml': KEPT, ...programWith('s/p/', ['depot']) },
      now: {},
      gone: ['s/p'],
      applied: ['trueup.yaml', 's/k.yaml', 's/p/cdktf.json'],
      paths: ['trueup.yaml', 's'],
      code: 0,
    },
    {
      is: 'none: a recorded stack that the program of a PATH wrote earlier',
      before: {
        'trueup.yaml': SETTINGS,
        ...programWith('p/', ['keep']),
        ...outputWith('p/cdktf.out', 'keep', 'depot'),
      },
      now: {},
      applied: ['trueup.yaml', 'p/cdktf.out'],
      paths: ['trueup.yaml', 'p'],
      code: 0,
    },
    {
      is: 'an error: a file beside one of the PATHs above, in another folder than a file above of a recorded name',
      before: {
        'trueup.yaml': `${SETTINGS}${OTHER_ACCOUNT}`,
        'a.yaml': 'accounts: { y: { name: Y } }\n',
        '../x.yaml': ALL,
      },
      now: {
        '../x.yaml': KEPT,
        '../c.yaml': DEPOT,
        '../a.yaml': 'accounts: { foo: { name: F } }\n',
      },
      paths: ['trueup.yaml', 'a.yaml', '../x.yaml'],
      code: 1,
    },
    ...['AlertRules', 'alert_push_destination', 'alert_destinations'].map((key) => ({
      is: `an error: a key that may be meant for a kind: ${key}`,
      before: { 'trueup.yaml': SETTINGS, 'p/x.yaml': ALL },
      now: { 'p/x.yaml': KEPT, 'b.yaml': `${key}: { depot: { name: Depot } }\n` },
      paths: ['p'],
      code: 1,
    })),
    {
      is: 'none: a template and its use, of which a folder holds copies',
      before: { 'trueup.yaml': SETTINGS, 'p/x.yaml': ALL },
      now: {
        'p/x.yaml': KEPT,
        't.yaml': TEMPLATE.replace(SETTINGS, ''),
        'u.yaml': using('acme'),
        'old/t.yaml': TEMPLATE.replace(SETTINGS, ''),
        'old/u.yaml': using('acme'),
      },
      paths: ['p'],
      code: 0,
    },
  ])(
    'is $is',
    async ({ before, now, gone = [], paths, applied = paths, words = [], env = {}, code }) => {
      const cwd = join(freshFolder(), 'here');
      writeAll(cwd, before);
      const done = await inProcess(apply, ['apply', ...applied, ...words, '--auto-approve'], {
        cwd,
        env,
      });
      expect(done.code, done.stderr).toBe(0);
      writeAll(cwd, now);
      for (const file of gone) rmSync(join(cwd, file), { recursive: true });
      const shown = await inProcess(plan, ['plan', ...paths, ...words], { cwd, env });
      expect([shown.code, shown.stderr.includes('[declared-elsewhere]')]).toEqual([
        code,
        code === 1,
      ]);
    },
  );

  test.each([
    [drift, ['drift', 'a.yaml']],
    [exportObjects, ['export', '--update', 'a.yaml']],
  ])('is none for a command that removes nothing: %#', async (command, words) => {
    const cwd = folderWith({ 'a.yaml': `${SETTINGS}${ALL}` });
    await typing(apply, cwd, 'apply', '--auto-approve');
    const gone = async (): Promise<unknown> => {
      const { code, stdout, stderr } = await typing(command, cwd, ...words);
      const isTold = /undeclared|no longer declared/.test(stdout);
      return [code, isTold, stderr.includes('[declared-elsewhere]')];
    };
    writeAll(cwd, { 'a.yaml': `${SETTINGS}${KEPT}` });
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

  test('is an error where the program that declared the objects is in a folder above', async () => {
    const top = freshFolder();
    const settings = `settings: { target: emulator, state: { url: ${join(top, 'state.json')} } }\n`;
    writeAll(top, {
      'trueup.yaml': settings,
      'k.yaml': OTHER_ACCOUNT,
      ...programWith('p/', ['depot']),
    });
    await typing(apply, top, 'apply', 'trueup.yaml', 'k.yaml', 'p', '--auto-approve');
    rmSync(join(top, 'k.yaml'));
    writeAll(top, { 'sites/trueup.yaml': `${settings}${OTHER_ACCOUNT}` });
    const { code, stderr } = await typing(plan, join(top, 'sites'), 'plan');
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('add it to the PATHs: ../p/cdktf.json'),
    ]);
  });

  test.each(['cdktf.out', 'build/tf', 'dist/'])(
    'advises to name the program that wrote a file to %s',
    async (output) => {
      const cwd = folderWith({ 'trueup.yaml': SETTINGS, 'a.yaml': ALL });
      await typing(apply, cwd, 'apply', '--auto-approve');
      const program = programWith('p/', ['depot'], output);
      const files = { 'p/k.yaml': OTHER_ACCOUNT, ...outputWith(join('p', output), 'depot') };
      writeAll(cwd, { 'a.yaml': KEPT, ...program, ...files });
      const { stderr } = await typing(plan, cwd, 'plan', 'trueup.yaml', 'a.yaml', 'p/k.yaml');
      expect(stderr).toContain(
        'If the program is of this project, add it to the PATHs: p/cdktf.json',
      );
    },
  );

  test('is an error where a file moved out of the folder, and the plan before was made above', async () => {
    const top = freshFolder();
    const env = { TRUEUP_STATE: join(top, 'state.json') };
    writeAll(top, {
      'trueup.yaml': SETTINGS,
      'customers/acme.yaml': DEPOT,
      'customers/globex.yaml': OTHER_ACCOUNT,
    });
    await inProcess(apply, ['apply', '--auto-approve'], { cwd: top, env });
    writeAll(top, { 'archive/acme.yaml': DEPOT });
    rmSync(join(top, 'customers/acme.yaml'));
    const own = 'settings: { target: emulator }\n';
    writeAll(top, { 'customers/trueup.yaml': own });
    const shown = await inProcess(plan, ['plan'], { cwd: join(top, 'customers'), env });
    expect([shown.code, shown.stderr]).toEqual([
      1,
      expect.stringContaining('../archive/acme.yaml'),
    ]);
  });

  test('advises to name the output of a program, of which a part was planned', async () => {
    const cwd = folderWith({
      'trueup.yaml': SETTINGS,
      'a.yaml': ALL,
      ...programWith('p/', ['site', 'depot']),
      ...outputWith('p/cdktf.out', 'site'),
    });
    await typing(apply, cwd, 'apply', 'trueup.yaml', 'a.yaml', 'p/cdktf.out', '--auto-approve');
    writeAll(cwd, { 'a.yaml': KEPT, ...outputWith('p/cdktf.out', 'site', 'depot') });
    const { stderr } = await typing(plan, cwd, 'plan', 'trueup.yaml', 'a.yaml');
    expect(stderr).toContain('add it to the PATHs: p/cdktf.out/stacks/net/cdk.tf.json');
  });

  test('is confirmed by the printed block after the member was moved', async () => {
    const site = (name: string, ...keys: readonly string[]): string =>
      `accounts: { z: { name: Z }, ${name}: { for_each: [${keys.join(', ')}], name: "\${each.key}" } }\n`;
    const cwd = folderWith({ 'a.yaml': `${SETTINGS}${site('store', 'n', 'x')}` });
    await typing(apply, cwd, 'apply', '--auto-approve');
    const moves = ['n', 'x'].map(
      (key) => `{ from: 'accounts.store["${key}"]', to: 'accounts.shop["${key}"]' }`,
    );
    const now = `${SETTINGS}${site('shop', 'n')}moved: [${moves.join(', ')}]\n`;
    writeAll(cwd, {
      'a.yaml': now,
      'b.yaml': `accounts: { s: { name: S, account: '\${accounts.shop["x"].id}' } }\n`,
    });
    const { stderr } = await typing(plan, cwd, 'plan', 'a.yaml');
    const [, block = ''] = /add to a file of the PATHs: (removed: .*\}\])/.exec(stderr) ?? [];
    writeAll(cwd, { 'a.yaml': `${now}${block}\n` });
    const { code, stdout } = await typing(plan, cwd, 'plan', 'a.yaml');
    expect([code, stdout]).toEqual([0, expect.stringContaining('1 to delete')]);
  });

  test('shows that the state is that of this project, also beside an error', async () => {
    const cwd = folderWith({ 'a.yaml': `${SETTINGS}${ALL}` });
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

  test.each<{ before: (top: string) => Env; now: (top: string) => Env }>([
    {
      before: (top) => ({ TRUEUP_STATE: join(top, 's.json') }),
      now: (top) => ({ TRUEUP_STATE: join(top, 's.json') }),
    },
    { before: () => ({}), now: () => ({ TRUEUP_STATE: '../.trueup/state.json' }) },
  ])(
    'is an error where the environment names the state, and a file above has that name: %#',
    async ({ before, now }) => {
      const top = freshFolder();
      writeAll(top, { 'trueup.yaml': `${SETTINGS}accounts: { hq: { name: HQ } }\n` });
      await inProcess(apply, ['apply', '--auto-approve'], { cwd: top, env: before(top) });
      writeAll(top, { 'sites/trueup.yaml': `${SETTINGS}${OTHER_ACCOUNT}` });
      const env = now(top);
      const shown = await inProcess(plan, ['plan'], { cwd: join(top, 'sites'), env });
      expect([shown.code, shown.stderr]).toEqual([1, expect.stringContaining('../trueup.yaml')]);
    },
  );

  test.each([`${SETTINGS}${ALL}`, ALL])(
    'is none of a project in a folder above, whose state is there: %#',
    async (above) => {
      const top = folderWith({ 'trueup.yaml': above, 'sites/trueup.yaml': `${SETTINGS}${ALL}` });
      await typing(apply, join(top, 'sites'), 'apply', '--auto-approve');
      writeAll(top, { 'sites/trueup.yaml': `${SETTINGS}${KEPT}` });
      const { code, stderr } = await typing(plan, join(top, 'sites'), 'plan');
      expect([code, stderr.includes('[declared-elsewhere]')]).toEqual([0, false]);
    },
  );

  test('is an error where its folder became a link out of the project', async () => {
    const cwd = folderWith({
      'p/trueup.yaml': `${SETTINGS}${KEPT}`,
      'p/shared/c.yaml': DEPOT,
    });
    await typing(apply, join(cwd, 'p'), 'apply', '--auto-approve');
    renameSync(join(cwd, 'p/shared'), join(cwd, 'common'));
    symlinkSync('../common', join(cwd, 'p/shared'));
    const { code, stderr } = await typing(plan, join(cwd, 'p'), 'plan');
    expect([code, stderr]).toEqual([1, expect.stringContaining('[declared-elsewhere]')]);
  });

  test('is none of the PATHs themselves, through a link', async () => {
    const each = (...keys: readonly string[]): string =>
      `${SETTINGS}${EACH.replace('"${var.sites}"', `[${keys.join(', ')}]`)}`;
    const cwd = folderWith({ 'real/a.yaml': each('depot', 'keep') });
    symlinkSync('real', join(cwd, 'link'));
    await typing(apply, cwd, 'apply', 'link', '--auto-approve');
    writeAll(cwd, { 'real/a.yaml': each('keep') });
    const { code, stdout } = await typing(plan, cwd, 'plan', 'link');
    expect([code, stdout]).toEqual([0, expect.stringContaining('- DELETE accounts.site["depot"]')]);
  });

  test('is none where the folder of a recorded file became a file', async () => {
    const cwd = folderWith({ 'trueup.yaml': `${SETTINGS}${KEPT}`, 'sites/a.yaml': DEPOT });
    await typing(apply, cwd, 'apply', '--auto-approve');
    rmSync(join(cwd, 'sites'), { recursive: true });
    writeAll(cwd, { sites: 'moved to the wiki' });
    const { code, stdout } = await typing(plan, cwd, 'plan');
    expect([code, stdout]).toEqual([0, expect.stringContaining('- DELETE accounts.depot')]);
  });

  test('is an error of a project with the same state at an address in other words', async () => {
    const server = await startHttp();
    onTestFinished(server.stop);
    const at = (url: string): string =>
      `settings: { target: emulator, state: { url: "${url}" } }\n`;
    const cwd = folderWith({ 'p/trueup.yaml': `${at(server.url)}${ALL}` });
    const where = { cwd, env: server.environment };
    expect((await inProcess(apply, ['apply', 'p', '--auto-approve'], where)).code).toBe(0);
    writeAll(cwd, {
      'p/trueup.yaml': `${at(server.url)}${KEPT}`,
      'q/trueup.yaml': `${at(server.url.replace('http:', 'HTTP:'))}${DEPOT}`,
    });
    const { code, stderr } = await inProcess(plan, ['plan', 'p'], where);
    expect([code, stderr]).toEqual([1, expect.stringContaining('q/trueup.yaml, which the PATHs')]);
  });

  test('is an error of a project with the same state through a link', async () => {
    const cwd = folderWith({ 'p/trueup.yaml': `${named('real/s')}${ALL}` });
    await typing(apply, cwd, 'apply', 'p', '--auto-approve');
    symlinkSync('real', join(cwd, 'link'));
    writeAll(cwd, {
      'p/trueup.yaml': `${named('real/s')}${KEPT}`,
      'q/trueup.yaml': `${named('link/s')}${DEPOT}`,
    });
    const { code, stderr } = await typing(plan, cwd, 'plan', 'p');
    expect([code, stderr]).toEqual([1, expect.stringContaining('q/trueup.yaml, which the PATHs')]);
  });

  test('is an error where the folder of a recorded file cannot be entered', async () => {
    const cwd = folderWith({
      'trueup.yaml': SETTINGS,
      'a.yaml': ALL,
      'y/b.yaml': OTHER_ACCOUNT,
    });
    await typing(apply, cwd, 'apply', '--auto-approve');
    writeAll(cwd, {
      'a.yaml': KEPT,
      'y/b.yaml': DEPOT,
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

  test.each([
    [
      'a stack',
      { 'out/manifest.json': manifestOf('a'), 'out/stacks/a/cdk.tf.json': stackOf('z') },
      'out',
    ],
    [
      'a program',
      { 'cdk/cdktf.json': PROGRAM, 'cdk/made.yaml.txt': OTHER_ACCOUNT },
      'cdk/cdktf.json',
    ],
  ])(
    'keeps what %s of the PATHs declares beside a link out of the project',
    async (_, more, path) => {
      const top = folderWith({ 'elsewhere/note.txt': '' });
      const cwd = join(top, 'here');
      writeAll(cwd, { 'p/trueup.yaml': `${SETTINGS}${KEPT}`, ...more });
      await typing(apply, cwd, 'apply', 'p', path, '--auto-approve');
      symlinkSync('../../elsewhere', join(cwd, 'p/link'));
      const { code, stdout, stderr } = await typing(plan, cwd, 'plan', 'p', path);
      expect([code, stderr]).toEqual([0, expect.stringContaining('[link-outside]')]);
      expect(stdout).toContain('No changes. 2 objects are as declared.');
    },
  );

  test('is none of a file of the PATHs that is a link to elsewhere', async () => {
    const cwd = folderWith({
      'trueup.yaml': SETTINGS,
      'x/a.yaml': ALL,
      'common/l.yaml': REMOVED,
    });
    await typing(apply, cwd, 'apply', 'trueup.yaml', 'x', '--auto-approve');
    writeAll(cwd, { 'x/a.yaml': KEPT });
    symlinkSync('../common/l.yaml', join(cwd, 'x/l.yaml'));
    const { code, stdout } = await typing(plan, cwd, 'plan', 'trueup.yaml', 'x');
    expect([code, stdout]).toEqual([0, expect.stringContaining('. forget accounts.depot')]);
  });

  test('is an error of a new file beside a PATH through a link', async () => {
    const top = folderWith({
      'here/trueup.yaml': SETTINGS,
      'common/a.yaml': ALL,
    });
    const cwd = join(top, 'here');
    symlinkSync('../common', join(cwd, 'common'));
    const paths = ['trueup.yaml', 'common/a.yaml'];
    await typing(apply, cwd, 'apply', ...paths, '--auto-approve');
    writeAll(top, {
      'common/a.yaml': KEPT,
      'common/n.yaml': DEPOT,
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
    const [both, one] = [ALL, KEPT];
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
