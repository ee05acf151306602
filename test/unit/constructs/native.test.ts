// Programs on `constructs` alone: the documents that they write are declaration files, equal to what a person would
// have written.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Construct } from 'constructs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as doors from '../../../src/cli/constructs.js';
import { resourceClass } from '../../../src/constructs/native/classes.js';
import { camel } from '../../../src/model/names/camel-case.js';
import type { Project } from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import { TRUEUP, start } from '../../support/command.js';
import { project } from '../declarations/project.js';
import { geofences } from '../../support/fifth-kind.js';

const {
  Account,
  AccountAuthorization,
  AlertPushDestination,
  AlertRule,
  App,
  ConfigurationManager,
  DataAccount,
  secret,
  Stack,
} = doors;

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'trueup-native-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An estate in two stacks, one of them in layers. */
function estate(outdir: string): InstanceType<typeof App> {
  const app = new App({ outdir });
  const edge = new Stack(app, 'edge', {
    settings: {
      target: 'emulator',
      policy: { maxDeletes: 7 },
      requestsPerMinute: 400,
      v2Headers: { 'X-MGR-API-ID': 'X-A' },
    },
  });
  const hq = new DataAccount(edge, 'hq', { name: 'Headquarters' });
  const site = new Construct(edge, 'site');
  const ops = new Account(site, 'ops', {
    name: 'Operations',
    account: hq.id,
    lifecycle: { protect: true, ignoreChanges: ['isDisabled'], renamedFrom: 'ops' },
  });
  const alerting = new Stack(app, 'alerting');
  const pager = new AlertPushDestination(alerting, 'pager', {
    name: 'Pager',
    enabled: true,
    endpoint: { url: 'https://hooks.example.com/alerts' },
    authentication: { secret: secret.env('PAGER_SECRET') },
  });
  new AlertRule(alerting, 'wan-down', {
    associatedAccounts: [ops.id],
    filterCriteria: { alertTypeIn: ['modem_wan_disconnected'] },
    httpDestinations: [pager.destinationConfigId],
    settings: { custom_alert: { deeper: null } },
    schedule: undefined,
    lifecycle: { adopt: '0a-b', allowDuplicate: true },
  });
  new AccountAuthorization(alerting, 'dana', {
    user: '77',
    account: hq.id,
    role: 'full_access_user',
    lifecycle: { onRemoval: 'no_access' },
  });
  new ConfigurationManager(alerting, 'router-12', {
    router: '12',
    suspended: false,
    configuration: [{ wan: { key: secret.file('/run/secrets/wan') } }, ['wan.old']],
  });
  return app;
}

const YAML = `
settings: { target: emulator, policy: { max_deletes: 7 }, requests_per_minute: 400, v2_headers: { X-MGR-API-ID: X-A } }
lookups:
  hq: { accounts: { name: Headquarters } }
accounts:
  site-ops: { name: Operations, account: "\${lookups.hq.id}", lifecycle: { protect: true, ignore_changes: [is_disabled], renamed_from: ops } }
alert_push_destinations:
  pager: { name: Pager, enabled: true, endpoint: { url: https://hooks.example.com/alerts }, authentication: { secret: "\${secret.env.PAGER_SECRET}" } }
alert_rules:
  wan-down:
    associated_accounts: ["\${accounts.site-ops.id}"]
    filter_criteria: { alert_type__in: [modem_wan_disconnected] }
    http_destinations: ["\${alert_push_destinations.pager.destination_config_id}"]
    settings: { custom_alert: { deeper: null } }
    lifecycle: { adopt: 0a-b, allow_duplicate: true }
account_authorizations:
  dana: { user: "77", account: "\${lookups.hq.id}", role: full_access_user, lifecycle: { on_removal: no_access } }
configuration_managers:
  router-12: { router: "12", suspended: false, configuration: [{ wan: { key: "\${secret.file./run/secrets/wan}" } }, [wan.old]] }
`;

test('the documents of a program say what a file of declarations says', async () => {
  const documents = estate(folder).documents();
  expect([...documents.keys()]).toEqual(['edge', 'alerting']);
  const files = Object.fromEntries(
    [...documents].map(([name, text]) => [`${name}.trueup.yaml`, text]),
  );
  const [made, written] = [await project(files), await project(YAML)];
  expect(made.settings).toEqual(written.settings);
  const desired = ({ declarations, lookups }: Project) => [
    declarations
      .map(({ address, values, lifecycle }) => ({ address, values, lifecycle }))
      .toSorted((a, b) => a.address.localeCompare(b.address)),
    lookups.map(({ name, kind, where }) => ({ name, kind, where })),
  ];
  expect(desired(made)).toEqual(desired(written));
});

test('synth writes them where the command finds them, and takes away those of stacks that are gone', async () => {
  const outdir = join(folder, 'out');
  mkdirSync(outdir);
  writeFileSync(join(outdir, 'mine.trueup.yaml'), 'accounts: { theirs: { name: Theirs } }\n');
  writeFileSync(join(outdir, 'notes.txt'), 'kept');
  const before = new App({ outdir });
  new Account(new Stack(before, 'gone'), 'a', { name: 'A' });
  before.synth();
  expect(readdirSync(outdir).toSorted()).toEqual([
    'gone.trueup.yaml',
    'mine.trueup.yaml',
    'notes.txt',
  ]);
  estate(outdir).synth();
  expect(readdirSync(outdir).toSorted()).toEqual([
    'alerting.trueup.yaml',
    'edge.trueup.yaml',
    'mine.trueup.yaml',
    'notes.txt',
  ]);
  const { code, stdout, stderr } = await start(['validate', 'out'], { cwd: folder }).ended;
  expect(`${stdout}${stderr}`).toContain('6 declarations');
  expect(code).toBe(0);
});

test.each([
  [{ TRUEUP_OUTDIR: 'a', CDKTF_OUTDIR: 'b' }, 'a'],
  [{ CDKTF_OUTDIR: 'b' }, 'b'],
  [{}, 'trueup.out'],
] as const)(
  'the environment %j names the folder %s, for ES modules and for CommonJS',
  async (env, outdir) => {
    const body = "new Account(new Stack(app, 'one'), 'a', { name: 'A' });\napp.synth();\n";
    const door = JSON.stringify(join(TRUEUP, '../constructs.js'));
    writeFileSync(
      join(folder, 'program.mjs'),
      `import { Account, App, Stack } from ${door};\nconst app = new App();\n${body}`,
    );
    writeFileSync(
      join(folder, 'program.cjs'),
      `const { Account, App, Stack } = require(${door});\nconst app = new App();\n${body}`,
    );
    for (const script of ['program.mjs', 'program.cjs']) {
      const { code } = await start([], { cwd: folder, env, script: join(folder, script) }).ended;
      expect(code).toBe(0);
      expect(
        JSON.parse(
          readFileSync(join(folder, outdir, 'one.trueup.yaml'), 'utf8').replaceAll(/^#.*\n/gm, ''),
        ),
      ).toEqual({ accounts: { a: { name: 'A' } } });
      rmSync(join(folder, outdir), { recursive: true });
    }
  },
);

test('the command runs such a program where `cdktf.json` names it, whatever folder the environment has for others', async () => {
  const home = mkdtempSync(join(folder, 'home-'));
  const door = JSON.stringify(join(TRUEUP, '../constructs.js'));
  writeFileSync(
    join(home, 'main.mjs'),
    `import { Account, App, Stack } from ${door};\nconst app = new App();\nnew Account(new Stack(app, 'one'), 'a', { name: 'A' });\napp.synth();\n`,
  );
  writeFileSync(join(home, 'cdktf.json'), '{"language":"typescript","app":"node main.mjs"}');
  const { code, stdout, stderr } = await start(['validate'], {
    cwd: home,
    env: { TRUEUP_OUTDIR: 'elsewhere' },
  }).ended;
  expect(`${stdout}${stderr}`).toContain('1 declaration');
  expect(code).toBe(0);
  expect(readdirSync(home).toSorted()).toEqual(['cdktf.json', 'main.mjs']);
});

test('what the command complains of is told by the construct and the line of the program', async () => {
  const home = mkdtempSync(join(folder, 'told-'));
  const door = JSON.stringify(join(TRUEUP, '../constructs.js'));
  mkdirSync(join(home, 'infra/src'), { recursive: true });
  writeFileSync(
    join(home, 'infra/src/main.mjs'),
    `import { Account, AlertRule, App, Stack } from ${door};
const app = new App();
const stack = new Stack(app, 'one', { settings: { target: 'nowhere' } });
  new AlertRule(stack, 'rule', { associatedAccounts: ['\${acounts.gone.id}'] });
app.synth();
`,
  );
  writeFileSync(
    join(home, 'infra/cdktf.json'),
    '{"language":"typescript","app":"node src/main.mjs"}',
  );
  const { stderr } = await start(['validate', 'infra'], { cwd: home }).ended;
  expect(stderr).toMatch(/one\/rule \(infra\/src\/main\.mjs:4:3\) ·.* associatedAccounts\.0/);
  expect(stderr).toContain("> 4 |   new AlertRule(stack, 'rule'");
  expect(stderr).toContain('one (infra/src/main.mjs:3:15) · target');
  expect(stderr).not.toContain('one.trueup.yaml');
});

test('what is wrong is nearly all that a person sees, of the program and of a plan', async () => {
  const home = mkdtempSync(join(folder, 'wrong-'));
  const door = JSON.stringify(join(TRUEUP, '../constructs.js'));
  writeFileSync(
    join(home, 'main.mjs'),
    `import { Account, App, Stack } from ${door};\nconst app = new App();\nconst stack = new Stack(app, 'one');\nfor (const id of ['a', 'b', 'c', 'd']) new Account(stack, id, {});\napp.synth();\n`,
  );
  writeFileSync(join(home, 'cdktf.json'), '{"language":"typescript","app":"node main.mjs"}');
  const says = ['a', 'b', 'c', 'd']
    .map((id) => `  one/${id}: \`name\` is missing: Display name.`)
    .join('\n');
  const alone = await start([], { cwd: home, script: join(home, 'main.mjs') }).ended;
  expect(alone.stderr).toContain(`Error: the program declares what cannot be:\n${says}\n`);
  expect(alone.stderr.length).toBeLessThan(1_500);
  const planned = await start(['plan'], { cwd: home }).ended;
  expect(planned.stderr.slice(alone.stderr.length)).toContain(says.replaceAll(/^/gm, '  '));
  expect(planned.stderr.length).toBeLessThan(2_500);
});

test('the identifier is `id`, too, and stands in the document by the name of the API', () => {
  const stack = new Stack(new App({ outdir: folder }), 'ids');
  const pager = new AlertPushDestination(stack, 'pager', { name: 'Pager' });
  const theirs = new doors.DataAlertPushDestination(stack, 'theirs', { name: 'Theirs' });
  expect([pager.id, theirs.id]).toEqual([pager.destinationConfigId, theirs.destinationConfigId]);
  expect(pager.id).toBe('${alert_push_destinations.pager.destination_config_id}');
  const known = new doors.DataAlertPushDestination(stack, 'known', { id: 'd1' });
  expect((stack.node.root as InstanceType<typeof App>).documents().get('ids')).toContain(
    '"destination_config_id": "d1"',
  );
  expect(known.id).toBe('${lookups.known.destination_config_id}');
});

test('every kind has its classes', () => {
  for (const { singular } of kinds.values()) {
    expect(doors).toHaveProperty(camel(`_${singular}`));
    expect(doors).toHaveProperty(`Data${camel(`_${singular}`)}`);
  }
});

describe('refused, by path and all at once', () => {
  const circular: { in?: unknown[] } = {};
  circular.in = [circular];
  class Geofence extends resourceClass(geofences) {}
  const said = (declare: (app: InstanceType<typeof App>) => void): string => {
    const app = new App({ outdir: folder });
    declare(app);
    try {
      app.documents();
    } catch (error) {
      return (error as Error).message;
    }
    return 'nothing';
  };
  const stack = (app: InstanceType<typeof App>): InstanceType<typeof Stack> =>
    new Stack(app, 'edge');

  test.each<
    readonly [what: string, declare: (app: InstanceType<typeof App>) => void, says: string]
  >([
    [
      'a literal secret',
      (app) =>
        void new Geofence(stack(app), 'it', {
          name: 'x',
          hook: { url: 'u', token: 'hunter2' as never },
        }),
      'edge/it: `hook.token` is secret, and its value is not allowed in a program: it has to be `secret.env(',
    ],
    [
      'a variable as secret',
      (app) =>
        void new Geofence(stack(app), 'it', {
          name: 'x',
          hook: { url: 'u', token: '${var.x}' as never },
        }),
      'edge/it: `hook.token` is secret',
    ],
    [
      'a wrong choice',
      (app) => void new Geofence(stack(app), 'it', { name: 'x', mode: 'entre' as never }),
      'edge/it: `mode`: one of enter, leave is expected, not a string. Did you mean `enter`?',
    ],
    [
      'JSON text for a document',
      (app) => void new AlertRule(stack(app), 'it', { settings: '{}' as never }),
      'edge/it: `settings`: an object or null is expected, not a string.',
    ],
    [
      'a document that leads back to itself',
      (app) => void new AlertRule(stack(app), 'it', { settings: { in: circular } }),
      'edge/it: `settings.in.in.0` leads back to itself, and has no form in JSON.',
    ],
    [
      'a document without a bottom',
      (app) =>
        void new AlertRule(stack(app), 'it', {
          settings: JSON.parse(`${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`) as Record<
            string,
            never
          >,
        }),
      `edge/it: \`settings${'.a'.repeat(26)}…\` is nested more than 56 levels deep.`,
    ],
    [
      'a document with a key that shadows',
      (app) =>
        void new AlertRule(stack(app), 'it', {
          settings: JSON.parse('{"a":{"__proto__":1}}') as Record<string, never>,
        }),
      'edge/it: `settings.a` has the key `__proto__`, which nobody reads.',
    ],
    [
      'a name that is none',
      (app) => void new Account(stack(app), 'is it', { name: 'x' }),
      'edge/is it: `is it` is not a valid name',
    ],
    [
      'a stack whose name is none',
      (app) => void new Stack(app, '1st'),
      '1st: `1st` cannot name a stack',
    ],
    [
      'two of one address',
      (app) => {
        const scope = stack(app);
        new Account(scope, 'a-b', { name: 'x' });
        new Account(new Construct(new Stack(app, 'other'), 'a'), 'b', { name: 'y' });
      },
      'other/a/b: accounts.a-b is what edge/a-b is called already.',
    ],
    [
      'an order that references do not give',
      (app) => {
        const scope = stack(app);
        new Account(scope, 'a', { name: 'x' }).node.addDependency(
          new Account(scope, 'b', { name: 'y' }),
        );
      },
      'edge/a: a dependency says nothing here',
    ],
    [
      'what another construct says',
      (app) => stack(app).node.addValidation({ validate: () => ['not on a Friday'] }),
      'edge: not on a Friday',
    ],
  ])('%s', (_, declare, says) => {
    const message = said((app) => {
      declare(app);
      new Account(new Stack(app, 'second'), 'it', {} as never);
    });
    expect(message).toContain(`\n  ${says}`);
    expect(message).toContain('\n  second/it: `name` is missing: Display name.');
    expect(message).not.toContain('hunter2');
  });

  test('what is in no stack', () => {
    const app = new App({ outdir: folder });
    const stray = new Account(app, 'stray', { name: 'x' });
    expect(() => app.documents()).toThrow('stray is in no Stack');
    expect(() => stray.id).toThrow('stray is in no Stack');
  });
});
