// The commands over a fleet, against one emulated account for each set of credentials: nothing of one tenant reaches
// another, what was reviewed is what is applied, and a run stops, resumes and reports as its file says.
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { describe, expect, test } from 'vitest';
import { run as apply } from '../../../src/cli/commands/fleet-apply.js';
import { run as applyProject } from '../../../src/cli/commands/apply.js';
import { run as destroy } from '../../../src/cli/commands/destroy.js';
import { run as show } from '../../../src/cli/commands/show.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import { reach } from '../../../src/cli/cloud-connection.js';
import {
  fleetHere,
  processesWith,
  tenantContext,
  type FleetSite,
} from '../../../src/cli/fleet-context.js';
import type { Command, Context, Exchanges } from '../../../src/cli/context.js';
import { rateOf } from '../../../src/cli/fleet-run.js';
import { limiter } from '../../../src/client/rate-limit.js';
import { shardOf } from '../../../src/fleet/shards.js';
import { parseFault } from '../../../src/emulator/index.js';
import {
  defaultSettings,
  digest,
  maskingOf,
  sha256,
  type FleetDocument,
  type PlanDocument,
} from '../../../src/model/index.js';
import { startHttp } from '../../../scripts/servers.js';
import { cleanUp } from '../../support/clean-up.js';
import { BASE, FILE, fleetOf, MANY_WARNINGS, type FleetHome } from '../../support/fleet-home.js';
import { gitIn } from '../../support/git.js';
import { inProcess, type Said } from '../../support/in-process.js';

const lines = ({ stdout }: Said): readonly string[] => stdout.trimEnd().split('\n');
const files = (cwd: string): readonly string[] =>
  readdirSync(join(cwd, '.trueup'), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name));

test('an apply says what it would write before it asks', async () => {
  const home = await fleetOf(['acme', 'globex']);
  const asking: Command = (context, args) =>
    apply({ ...context, interactive: true, ask: () => Promise.resolve('no') }, args);
  const { code, stdout } = await inProcess(asking, ['fleet', 'apply'], home);
  expect(code).toBe(1);
  expect(stdout).toContain(
    '\n\nTo write: create 2 in 2 tenants\n  alert_push_destinations: create 2 in 2 tenants\n\n',
  );
  expect(home.writes('acme')).toEqual([]);
});

test('a state file that is left in the folder is that of no tenant', async () => {
  const states = await startHttp();
  cleanUp.push(() => states.stop());
  const home = await fleetOf(['acme'], FILE.replace('[base]', `[base], state: "${states.url}"`));
  Object.assign(home.env, states.environment);
  const own = Object.entries(home.env).map(([name, value]) => [name.replace('ACME_', ''), value]);
  const env = Object.fromEntries(own) as Record<string, string>;
  const words = ['apply', 'base', 'tenants/acme', '--auto-approve'];
  expect((await inProcess(applyProject, words, { cwd: home.cwd, env })).code).toBe(0);
  expect(existsSync(join(home.cwd, '.trueup/state.json'))).toBe(true);
  const { code, stdout, stderr } = await home.run('plan');
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('1 to adopt');
});

test('a tenant whose plan was refused is planned again by the same run', async () => {
  const states = await startHttp();
  cleanUp.push(() => states.stop());
  const home = await fleetOf(['acme'], FILE.replace('[base]', `[base], state: "${states.url}"`));
  Object.assign(home.env, states.environment);
  expect((await home.run('apply', '--auto-approve', '--run', 'one')).code).toBe(0);
  const [seen = ''] = files(home.cwd).filter((path) => path.includes('/serials/'));
  const right = readFileSync(seen, 'utf8');
  writeFileSync(seen, right.replace(/"serial":\d+/, '"serial":99'));
  expect((await home.run('apply', '--auto-approve', '--run', 'two')).code).toBe(6);
  writeFileSync(seen, right);
  expect((await home.run('apply', '--auto-approve', '--run', 'two')).code).toBe(0);
});

describe('a tenant whose folder was removed since a git reference', () => {
  const removed = async (...words: readonly string[]) => {
    const home = await fleetOf(['acme', 'globex', 'in-it']);
    const git = gitIn(home.cwd);
    git('init', '--quiet', '.');
    git('add', '.');
    git('commit', '--quiet', '--message', 'First');
    for (const name of ['globex', 'in-it'])
      rmSync(join(home.cwd, 'tenants', name), { recursive: true });
    return home.run('validate', '--changed-since', 'HEAD', ...words);
  };

  test('is named, with the commands that delete its objects', async () => {
    const { code, stderr } = await removed('--env', 'prod');
    expect(code, stderr).toBe(0);
    const said = stderr.replaceAll(/\s+/g, ' ');
    expect(said).toContain('warning: the tenant globex is in HEAD, and no longer here: ');
    expect(said).toContain('First set the variables of the tenant without their prefix');
    expect(said).toContain('To bring its files back: git checkout HEAD -- tenants/globex ');
    expect(said).toContain(
      ': TRUEUP_STATE=.trueup/tenants/globex/state.prod.json trueup destroy base tenants/globex --env prod ',
    );
    expect(said).toContain('the tenant in-it is in HEAD');
    expect(said).not.toContain('tenant acme is');
  });

  test('is not named, if it is not selected', async () => {
    const { stderr } = await removed('--select', 'tenant!=globex');
    expect(stderr).not.toContain('globex is in HEAD');
    expect(stderr).toContain('in-it is in HEAD');
  });
});

describe('the variables of a tenant', () => {
  const file = (variables: string): string =>
    `fleet: { tenants: { acme: { paths: [tenants/acme], variables: ${variables} } }, defaults: { paths: [base] } }`;

  test('are named if nothing uses them', async () => {
    const fleet = await fleetOf(['acme'], file('{ hook: "https://a.example.com/", hok: x }'));
    const { code, stderr } = await fleet.run('validate');
    expect(code).toBe(0);
    expect(stderr).toContain(
      'acme: nothing uses the variable `hok` that trueup.fleet.yaml gives. Did you mean `hook`?',
    );
    expect(stderr).not.toContain('`hook` that');
  });

  test('and its state are in the commands that messages about it tell', async () => {
    const first = file('{ hook: "https://a.example.com/" }');
    const fleet = await fleetOf(['acme'], first);
    expect((await fleet.run('apply', '--auto-approve')).code).toBe(0);
    rmSync(join(fleet.cwd, '.trueup'), { recursive: true });
    fleet.write('trueup.fleet.yaml', first.replace('a.example', 'b.example'));
    const { code, stderr } = await fleet.run('plan');
    const plain = /trueup import alert_push_destinations\.\S+ \S+ base tenants\/acme/;
    const whole = `TRUEUP_STATE=\\.trueup/tenants/acme/state\\.json ${plain.source} --var hook=https://b\\.example\\.com/`;
    expect(code).toBe(3);
    expect(stderr).toMatch(new RegExp(whole));
    expect(stderr).toContain('First set the variables of the tenant without their prefix');
    const [run = ''] = readdirSync(join(fleet.cwd, '.trueup/fleet'));
    const { document } = fleet.result(run, 'acme');
    expect(JSON.stringify(document)).toMatch(plain);
  });

  test('are no place for a secret', async () => {
    const base = BASE.replace(
      '" } }',
      '" }, authentication: { secret: "${secret.env.TRUEUP_VAR_key}" } }',
    );
    const fleet = await fleetOf(['acme'], file('{ key: hunter2 }'), base);
    const { code, stdout, stderr } = await fleet.run('plan');
    expect(code).toBe(1);
    expect(stderr).toContain(
      'the variable `key` is secret: its value is not allowed in trueup.fleet.yaml',
    );
    expect(stdout + stderr).not.toContain('hunter2');
    expect(fleet.calls('acme')).toBe(0);
  });
});

describe('two tenants', () => {
  test('see their own credentials, variables and secrets, and nothing of each other', async () => {
    const base = BASE.replace(
      '" } }',
      '" }, authentication: { secret: "${secret.env.PAGER_SECRET}" } }',
    );
    const home = await fleetOf(['acme', 'globex'], FILE, base);
    Object.assign(home.env, {
      ACME_PAGER_SECRET: 'secret-of-acme',
      GLOBEX_PAGER_SECRET: 'secret-of-globex',
      PAGER_SECRET: 'secret-of-nobody',
    });
    const applied = await home.run('apply', '--auto-approve', '--run', 'first');
    expect(applied.code, applied.stderr).toBe(0);
    for (const [name, other] of [
      ['acme', 'globex'],
      ['globex', 'acme'],
    ] as const) {
      const [post] = home.accounts.get(name)!.requests.filter(({ method }) => method === 'POST');
      expect(post?.body).toMatchObject({
        endpoint: { url: `https://hooks.example.com/${name}` },
        authentication: { secret: `sha256:${sha256(`secret-of-${name}`)}` },
      });
      const stored = files(home.cwd)
        .filter((path) => path.includes(name))
        .map((path) => readFileSync(path, 'utf8'))
        .join('');
      expect(stored).toContain(`hooks.example.com/${name}`);
      expect(stored).not.toContain(`hooks.example.com/${other}`);
      expect(stored).not.toMatch(/secret-of-|-mgr-key|-vnd-key/);
    }
    expect(applied.stdout + applied.stderr).not.toMatch(/secret-of-|-mgr-key|-vnd-key/);
  });

  test('a tenant without credentials uses those of nobody', async () => {
    const home = await fleetOf(['acme', 'globex']);
    for (const name of Object.keys(home.env))
      if (name.startsWith('GLOBEX_')) {
        home.env[name.replace('GLOBEX_', '')] = home.env[name]!;
        delete home.env[name];
      }
    const { code, stderr } = await home.run('drift');
    expect(code).toBe(1);
    expect(stderr).toContain('globex: GLOBEX_TRUEUP_MGR_API_ID has no value');
    expect(home.calls('globex')).toBe(0);
    expect(home.calls('acme')).toBeGreaterThan(0);
  });

  test('a program runs in a child with the environment of its tenant', async () => {
    const home = await fleetOf(['acme', 'globex'], FILE, 'variables: { a: b }\n');
    const program = `import { writeFileSync } from 'node:fs';
const { CDKTF_OUTDIR: out, SITE: site, ACME_SITE, GLOBEX_SITE } = process.env;
writeFileSync(out + '/made.yaml', JSON.stringify({ accounts: { site: { name: [site, ACME_SITE, GLOBEX_SITE].join() } } }));
`;
    for (const name of ['acme', 'globex']) {
      home.write(`tenants/${name}/program/cdktf.json`, '{"app":"node main.mjs","output":"out"}');
      home.write(`tenants/${name}/program/main.mjs`, program);
    }
    home.write(
      'trueup.fleet.yaml',
      'fleet: { tenants: { from: tenants/*/program, name: "${folder}" }, defaults: { paths: [base] } }',
    );
    Object.assign(home.env, { ACME_SITE: 'Berlin', GLOBEX_SITE: 'Paris' });
    const { code, stderr } = await home.run('apply', '--auto-approve');
    expect(code, stderr).toBe(0);
    const namesAt = (name: string) =>
      home.accounts
        .get(name)!
        .objects('accounts')
        .map((one) => one['name']);
    expect(namesAt('acme')).toContain('Berlin,,');
    expect(namesAt('globex')).toContain('Paris,,');
  });
});

test('a plan of a fleet is the plan of the project, in the environment of the tenant', async () => {
  const home = await fleetOf(['acme', 'globex']);
  await home.run('apply', '--auto-approve', '--select', 'tenant=acme');
  const environmentOf = (name: string) => {
    const prefix = `${name.toUpperCase()}_`;
    const own = Object.entries(home.env).flatMap(([key, value]) =>
      key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : [],
    );
    return Object.fromEntries(own) as Record<string, string>;
  };
  // Somebody else changes the destination of acme, and gives globex one of the same name.
  home.write('else.yaml', BASE.replace('/alerts', '/else'));
  for (const name of ['acme', 'globex']) {
    const env = { ...environmentOf(name), TRUEUP_STATE: `else-${name}.json` };
    const words = [
      'apply',
      'else.yaml',
      '--auto-approve',
      '--allow',
      'first-run',
      '--allow',
      'destination-moved',
    ];
    const { code, stderr } = await inProcess(applyProject, words, { cwd: home.cwd, env });
    expect(code, stderr).toBe(0);
  }
  home.write('base/base.yaml', BASE.replace('enabled: true', 'enabled: false'));
  home.write('trueup.prod.yaml', 'variables: { hook: https://prod.example.com }\n');
  for (const [at, words] of [
    [],
    ['--env', 'prod'],
    ['--var', 'hook=https://x.example'],
  ].entries()) {
    const run = `r${at}`;
    await home.run('plan', '--run', run, ...words);
    for (const name of ['acme', 'globex']) {
      const state = `.trueup/tenants/${name}/state${words[0] === '--env' ? '.prod' : ''}.json`;
      const env = { ...environmentOf(name), TRUEUP_STATE: state };
      const paths = ['base', `tenants/${name}`];
      const said = await inProcess(plan, ['plan', ...paths, '--format', 'json', ...words], {
        cwd: home.cwd,
        env,
      });
      const { generated_at: _, ...alone } = JSON.parse(said.stdout) as Record<string, unknown>;
      const { document } = home.result(run, name);
      const { generated_at: __, ...there } = document as unknown as Record<string, unknown>;
      expect(there).toEqual(alone);
      expect(there['resource_drift']).toHaveLength(name === 'acme' && words[0] !== '--env' ? 1 : 0);
    }
  }
});

describe('a bundle', () => {
  test('is applied as it was reviewed, once', async () => {
    const home = await fleetOf(['acme', 'globex']);
    expect((await home.run('plan', '--out', 'b')).code).toBe(0);
    expect(home.writes('acme')).toEqual([]);
    const applied = await home.run('apply', 'b', '--run', 'one');
    expect(applied.code, applied.stderr).toBe(0);
    expect(lines(applied)).toEqual([
      'acme: Applied: 1 created, 0 updated, 0 deleted; 0 unchanged.',
      'globex: Applied: 1 created, 0 updated, 0 deleted; 0 unchanged.',
      '',
      'Written: create 2 in 2 tenants',
      '  alert_push_destinations: create 2 in 2 tenants',
      '',
      '2 tenants: 2 applied. Run one.',
    ]);
    expect([home.writes('acme').length, home.writes('globex').length]).toEqual([1, 1]);
    const before = home.calls('acme');
    expect(lines(await home.run('apply', 'b', '--run', 'one'))).toEqual(lines(applied));
    expect(home.calls('acme')).toBe(before);
    // Another run of the same plans is stale: the states are other ones.
    const stale = await home.run('apply', 'b', '--run', 'two');
    expect(stale.code).toBe(6);
    expect(stale.stderr).toContain('acme: b is stale: it was made without a state');
  });

  test('is applied again by the same run to a tenant that was undecided', async () => {
    const home = await fleetOf(['acme', 'globex']);
    expect((await home.run('apply', '--auto-approve')).code).toBe(0);
    home.write(
      'base/base.yaml',
      `${BASE}  other: { name: Other, enabled: true, endpoint: { url: "https://hooks.example.com/other" } }\n`,
    );
    await home.run('plan', '--out', 'b');
    home.env['TRUEUP_SETTLE_SECONDS'] = '0';
    const acme = home.accounts.get('acme')!;
    // Neither the write nor the look at what became of it gets an answer.
    acme.setFaults(['reset-before,method=POST', 'status=403,method=GET,after=2'].map(parseFault));
    const first = await home.run('apply', 'b', '--run', 'r');
    expect([first.code, home.result('r', 'acme').status], first.stderr).toEqual([5, 'undecided']);
    acme.setFaults([]);
    const again = await home.run('apply', 'b', '--run', 'r');
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout).toContain('acme: Applied: 1 created');
  });

  test('is stale for what changed, and for nobody else', async () => {
    const home = await fleetOf(['acme', 'globex']);
    await home.run('plan', '--out', 'b');
    home.write(
      'tenants/acme/tenant.yaml',
      'variables: { hook: "https://hooks.example.com/else" }\n',
    );
    const { code, stdout, stderr } = await home.run('apply', 'b');
    expect(code).toBe(6);
    expect(stdout).toContain('acme: STALE');
    expect(stderr).toContain('Make it again: trueup fleet plan --out b');
    expect([home.writes('acme').length, home.writes('globex').length]).toEqual([0, 1]);
  });

  describe('without changes for a tenant', () => {
    const empty = async (): Promise<FleetHome> => {
      const home = await fleetOf(['acme', 'globex']);
      expect((await home.run('apply', '--auto-approve')).code).toBe(0);
      expect((await home.run('plan', '--out', 'b')).code).toBe(0);
      return home;
    };
    const hook = (home: FleetHome, address: string): void =>
      home.write('tenants/acme/tenant.yaml', `variables: { hook: "${address}" }\n`);
    /** Another change, and back. */
    const changedTwice = async (home: FleetHome): Promise<void> => {
      for (const name of ['else', 'acme']) {
        hook(home, `https://hooks.example.com/${name}`);
        expect((await home.run('apply', '--auto-approve')).code).toBe(0);
      }
    };

    test('sends nothing to the cloud', async () => {
      const home = await empty();
      const before = home.calls('acme');
      const { code, stdout } = await home.run('apply', 'b');
      expect([code, home.calls('acme')]).toEqual([0, before]);
      expect(stdout).toContain('acme: No changes.');
    });

    test.each([
      [
        'other declarations',
        'the declarations are not those it was made from',
        (home: FleetHome) => hook(home, 'https://else.example.com/'),
      ],
      [
        'declarations with errors',
        'can no longer be loaded',
        (home: FleetHome) => home.write('tenants/acme/tenant.yaml', 'variables: ['),
      ],
      [
        'no state',
        'the state is not the one it was made with',
        ({ cwd }: FleetHome) => rmSync(join(cwd, '.trueup/tenants/acme'), { recursive: true }),
      ],
    ])('is stale with %s', async (_, why, change) => {
      const home = await empty();
      change(home);
      const before = home.calls('acme');
      const { code, stdout, stderr } = await home.run('apply', 'b');
      expect([code, home.calls('acme')]).toEqual([6, before]);
      expect(stdout).toContain('acme: STALE');
      expect(stdout).toContain('globex: No changes.');
      expect(stderr).toContain(why);
    });

    test('is stale with an older state', async () => {
      const home = await empty();
      const state = join(home.cwd, '.trueup/tenants/acme/state.json');
      const older = readFileSync(state);
      await changedTwice(home);
      await home.run('plan', '--out', 'b');
      writeFileSync(state, older);
      const { code, stderr } = await home.run('apply', 'b');
      expect([code, stderr]).toEqual([
        6,
        expect.stringContaining('the state was restored from a backup'),
      ]);
    });

    test('is compared with the cloud where the state was written since', async () => {
      const home = await empty();
      await changedTwice(home);
      const before = [home.calls('acme'), home.calls('globex')];
      const { code, stdout, stderr } = await home.run('apply', 'b');
      expect(code, stderr).toBe(0);
      expect(stdout).toContain('acme: Applied: 0 created, 0 updated, 0 deleted; 1 unchanged.');
      expect(home.calls('acme')).toBeGreaterThan(before[0]!);
      expect(home.calls('globex')).toBe(before[1]);
    });

    test('is compared with the cloud where a run that was killed has written since', async () => {
      const other =
        '  other: { name: Other, endpoint: { url: "https://hooks.example.com/other" } }\n';
      const home = await fleetOf(['acme', 'globex'], FILE, `${BASE}${other}`);
      expect((await home.run('apply', '--auto-approve')).code).toBe(0);
      expect((await home.run('plan', '--out', 'b')).code).toBe(0);
      const state = '.trueup/tenants/acme/state.json';
      const [path, journal] = [join(home.cwd, state), join(home.cwd, `${state}.journal`)];
      const before = readFileSync(path);
      home.accounts.get('acme')!.setFaults([parseFault('latency=1000,method=DELETE,after=1')]);
      const own = Object.entries(home.env).map(([name, value]) => [
        name.replace('ACME_', ''),
        value,
      ]);
      const destroyed = inProcess(
        destroy,
        [
          'destroy',
          'base',
          'tenants/acme',
          '--auto-approve',
          '--parallelism',
          '1',
          '--allow',
          'max-changed',
          '--allow',
          'max-deletes',
        ],
        { cwd: home.cwd, env: { ...Object.fromEntries(own), TRUEUP_STATE: state } },
      );
      const written = () => (existsSync(journal) ? readFileSync(journal, 'utf8') : '');
      await expect.poll(written, { timeout: 10_000, interval: 5 }).toContain('"type":"result"');
      const left = written();
      expect((await destroyed).code).toBe(0);
      writeFileSync(path, before);
      writeFileSync(journal, left);
      home.accounts.get('acme')!.setFaults([]);
      home.env['TRUEUP_SETTLE_SECONDS'] = '0';
      const { code, stdout, stderr } = await home.run('apply', 'b');
      expect(code, stderr).toBe(6);
      expect(stdout).toContain('acme: STALE alert_push_destinations.other');
      expect(stdout).toContain('globex: No changes.');
    });
  });

  test('is made again by a command without the variables of one tenant', async () => {
    const home = await fleetOf(
      ['acme', 'globex'],
      FILE.replace(
        '{ from: tenants/* }',
        '{ from: tenants/*, each: { acme: { variables: { hook: "https://of-acme.example.com/" } } } }',
      ),
    );
    home.env['GLOBEX_TRUEUP_VAR_hook'] = 'https://of-globex.example.com/';
    await home.run('plan', '--out', 'b');
    await home.run('apply', 'b');
    const { code, stderr } = await home.run('apply', 'b');
    expect(code).toBe(6);
    // Typed as it stands, it is about both tenants.
    expect(stderr).toContain('Make it again: trueup fleet plan --out b');
    expect(stderr).not.toContain('--var');
  });

  describe('that is made again', () => {
    const held = (gone: string): string =>
      `settings: { policy: { max_deletes: 0 } }\nvariables: { n: one }\naccounts: { f: { name: "\${var.n}" }${gone} }\n`;
    const planned = ['--out', 'b', '--valid-for', '7d', '--select', 'tenant=acme'];
    const blocked = async (): Promise<FleetHome> => {
      const home = await fleetOf(['acme', 'globex'], FILE, held(', g: { name: G }'));
      expect((await home.run('apply', '--auto-approve')).code).toBe(0);
      home.write('base/base.yaml', held(''));
      Object.assign(home.env, { CI_NODE_INDEX: '1', CI_NODE_TOTAL: '1' });
      expect((await home.run('plan', ...planned, '--var', 'n=two', '--var', 'no=x')).code).toBe(3);
      return home;
    };
    const advice = (flags: readonly string[]): string =>
      ['To allow it, plan again: trueup fleet plan', ...planned, ...flags].join(' ');

    test('holds the same tenants, variables and time', async () => {
      const home = await blocked();
      const [before, allowed] = [
        home.calls('globex'),
        ['--shard', '1/1', '--allow', 'max-deletes', '--var', 'n=two'],
      ];
      const { code, stderr } = await home.run('apply', 'b');
      expect(code).toBe(3);
      expect(stderr).toContain(advice(allowed));
      expect((await home.run('show', 'b', 'acme')).stdout).toContain(advice(allowed));
      expect((await home.run('show', 'b')).stdout).toContain(advice(allowed));
      await home.run('plan', ...planned, ...allowed);
      expect((await home.run('apply', 'b')).code).toBe(0);
      expect(home.calls('globex')).toBe(before);
    });

    test('holds the recipients and the git reference', async () => {
      const home = await fleetOf(['acme'], FILE, held(', g: { name: G }'));
      await home.run('apply', '--auto-approve');
      gitIn(home.cwd)('init', '--quiet', '.');
      gitIn(home.cwd)('add', '.');
      gitIn(home.cwd)('commit', '--quiet', '--message', 'First');
      home.write('base/base.yaml', held(''));
      home.env['TRUEUP_IDENTITY'] = await generateIdentity();
      const recipient = await identityToRecipient(home.env['TRUEUP_IDENTITY']);
      const words = ['--out', 'b', '--encrypt-to', recipient, '--changed-since', 'HEAD'];
      await home.run('plan', ...words);
      expect((await home.run('apply', 'b')).stderr).toContain(
        `plan again: trueup fleet plan ${words.join(' ')} --allow max-deletes `,
      );
    });

    test('is so in words, if an earlier version made it', async () => {
      const home = await blocked();
      const [first = '', ...plans] = readFileSync(join(home.cwd, 'b'), 'utf8').split('\n');
      const { digest: _, asked: __, ...head } = JSON.parse(first) as Record<string, string>;
      home.write('b', [JSON.stringify({ ...head, digest: digest(head) }), ...plans].join('\n'));
      const { code, stderr } = await home.run('apply', 'b');
      expect(code).toBe(3);
      expect(stderr).toContain('To allow it, plan again as before, with `--allow max-deletes`.');
      home.write('base/base.yaml', held(', h: { name: H }'));
      expect((await home.run('apply', 'b')).stderr).toContain('Make it again as before.');
    });

    test('repeats no variable that may be a secret', async () => {
      const pager = BASE.replace(
        '" } }',
        '" }, authentication: { secret: "${secret.env.PAGER_SECRET}" } }',
      );
      const named = pager.replace('On-call pager', '"${var.n}"');
      const home = await fleetOf(['acme'], FILE, named);
      home.env['ACME_PAGER_SECRET'] = 'hunter2';
      for (const [n, code] of [
        ['hunter2', 1],
        ['plain', 0],
      ] as const) {
        const words = ['--out', 'b', '--var', `n=${n}`, '--var', 'spare=hunter2'];
        expect((await home.run('plan', ...words)).code).toBe(code);
        const text = readFileSync(join(home.cwd, 'b'), 'utf8');
        expect([
          text.includes('hunter2'),
          text.includes('"asked":{"variables":{"n":"plain"}}'),
        ]).toEqual([false, code === 0]);
        // Without a plan, nobody knows whether it needs the other variable.
        const said = (await home.run('apply', 'b')).stderr.includes('plan again as before.');
        expect(said).toBe(code === 1);
      }
    });
  });

  test('is stale where the entry of a tenant is another one', async () => {
    const home = await fleetOf(['acme']);
    await home.run('plan', '--out', 'b');
    home.write(
      'trueup.fleet.yaml',
      FILE.replace('paths: [base]', 'paths: [base], state: "s/${tenant}.json"'),
    );
    const { code, stderr } = await home.run('apply', 'b');
    expect(code).toBe(6);
    expect(stderr).toContain('the entry of acme in trueup.fleet.yaml is another one');
    expect(home.writes('acme')).toEqual([]);
  });

  test.each([
    [
      'a plan of another tenant',
      (text: string) => text.replace(/"tenant":"acme"\}$/m, '"tenant":"globex"}'),
    ],
    ['a plan that was edited', (text: string) => text.replace('"enabled":true', '"enabled":false')],
    [
      'a head that was edited',
      (text: string) => text.replace('"status":"changes"', '"status":"unchanged"'),
    ],
    [
      'a plan that was taken out',
      (text: string) =>
        text
          .split('\n')
          .filter((line) => !line.endsWith('"acme"}'))
          .join('\n'),
    ],
  ])('with %s is refused for it', async (_, edit) => {
    const home = await fleetOf(['acme']);
    await home.run('plan', '--out', 'b');
    const text = readFileSync(join(home.cwd, 'b'), 'utf8');
    expect(edit(text)).not.toBe(text);
    home.write('b', edit(text));
    const { code, stderr } = await home.run('apply', 'b');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /edited after it was made|not in it|not the one that the head names|not a bundle/,
    );
    expect(home.writes('acme')).toEqual([]);
  });

  test('names the line of a plan that was edited, and the command that makes it again', async () => {
    const home = await fleetOf(['acme', 'globex']);
    await home.run('plan', '--out', 'b');
    const lines = readFileSync(join(home.cwd, 'b'), 'utf8').split('\n');
    home.write(
      'b',
      lines.with(2, lines[2]!.replace('"enabled":true', '"enabled":false')).join('\n'),
    );
    const { stderr } = await home.run('apply', 'b');
    expect(stderr).toContain('is damaged at line 3, column 1: its digest does not fit');
    expect(stderr).toContain('Make the plan again by trueup fleet plan, with the options');
  });

  test('with another plan of the same tenant, which nobody reviewed, is refused', async () => {
    const home = await fleetOf(['acme']);
    await home.run('plan', '--out', 'reviewed');
    home.write('base/base.yaml', BASE.replace('enabled: true', 'enabled: false'));
    await home.run('plan', '--out', 'other');
    const [head] = readFileSync(join(home.cwd, 'reviewed'), 'utf8').split('\n');
    const [, ...plans] = readFileSync(join(home.cwd, 'other'), 'utf8').split('\n');
    home.write('mixed', [head, ...plans].join('\n'));
    const { code, stderr } = await home.run('apply', 'mixed');
    expect(code).toBe(1);
    expect(stderr).toContain('the plan of acme is not the one that the head names');
    expect(home.writes('acme')).toEqual([]);
  });

  test('that was cut is refused as a whole, whatever is still in it', async () => {
    const home = await fleetOf(['acme', 'globex']);
    await home.run('plan', '--out', 'b');
    const text = readFileSync(join(home.cwd, 'b'), 'utf8');
    const second = text.indexOf('\n', text.indexOf('\n') + 1) + 1;
    for (const end of [second, second + 100]) {
      home.write('b', text.slice(0, end));
      const { code, stdout, stderr } = await home.run('apply', 'b');
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain('b is damaged at line 3, column 1');
      // Its plans stand in the order in which the tenants ended.
      expect(stderr.match(/the plan of (?:acme|globex) is not in it/g)).toHaveLength(1);
      expect([...home.writes('acme'), ...home.writes('globex')]).toEqual([]);
    }
  });

  test('that has expired names the command that makes it again', async () => {
    const home = await fleetOf(['acme']);
    const words = ['plan', '--out', 'b', '--valid-for', '1s', '--select', 'tenant=acme'] as const;
    await home.run(...words);
    await new Promise((go) => setTimeout(go, 1100));
    for (const name of ['apply', 'show'] as const) {
      const { code, stderr } = await home.run(name, 'b');
      expect(code).toBe(6);
      expect(stderr).toContain(`Make the plan again: trueup fleet ${words.join(' ')} `);
    }
  });

  test.each([
    ['show', show],
    ['apply', applyProject],
  ])('is not a saved plan: `%s` names the command', async (name, command) => {
    const home = await fleetOf(['acme']);
    await home.run('plan', '--out', 'b');
    const { code, stderr } = await inProcess(command, [name, 'b', '--identity', 'a key'], home);
    expect(code).toBe(1);
    expect(stderr).toContain('b is a bundle with the plans of a fleet');
    expect(stderr).toMatch(/To see it: trueup fleet show \S*b --identity 'a key' /);
    expect(stderr).toMatch(/To apply it, .*: trueup fleet apply \S*b --identity 'a key' /);
  });

  test('is not applied to other tenants, which is said', async () => {
    const home = await fleetOf(['acme', 'globex']);
    await home.run('plan', '--out', 'b', '--select', 'tenant=acme');
    const { code, stderr } = await home.run('apply', 'b', '--select', 'tenant=globex');
    expect(code).toBe(1);
    expect(stderr).toContain('b holds no plan of the tenants that are selected.');
    expect(stderr).toContain('It holds those of acme.');
    // Another shard has it.
    const shards = await Promise.all(
      ['1/2', '2/2'].map((shard) => home.run('apply', 'b', '--run', 'r', '--shard', shard)),
    );
    expect(shards.map((one) => one.code)).toEqual([0, 0]);
    expect([home.writes('acme').length, home.writes('globex').length]).toEqual([1, 0]);
  });

  test('says the status of a tenant that it has no plan of', async () => {
    const home = await fleetOf(['acme']);
    home.accounts.get('acme')!.setFaults([parseFault('status=403')]);
    await home.run('plan', '--out', 'b');
    const { code, stderr } = await home.run('apply', 'b');
    expect(code).toBe(1);
    expect(stderr).toContain('when the plans were made, its status was `failed`');
  });

  test('with a tenant that is gone is refused as a whole', async () => {
    const home = await fleetOf(['acme', 'globex']);
    await home.run('plan', '--out', 'b');
    home.write(
      'trueup.fleet.yaml',
      FILE.replace('tenants/*', 'tenants/a*').replace('from:', 'name: acme, from:'),
    );
    const { code, stderr } = await home.run('apply', 'b');
    expect(code).toBe(6);
    expect(stderr).toContain('globex, which is no longer a tenant of the fleet');
    expect(home.writes('acme')).toEqual([]);
  });
});

test('a missing variable is named with the prefix of its tenant', async () => {
  const home = await fleetOf(['acme', 'globex']);
  delete home.env['ACME_TRUEUP_MGR_API_KEY'];
  const { code, stderr } = await home.run('drift');
  expect(code).toBe(1);
  expect(stderr).toContain('Set ACME_TRUEUP_MGR_API_KEY where this command runs.');
  expect(stderr).not.toMatch(/GLOBEX|(?<!ACME_)TRUEUP_MGR_API_KEY/);
});

describe('an apply', () => {
  const order = `${FILE}  order: [{ select: "tenant=acme", then_wait: 1ms }, { select: "*" }]\n`;

  test('goes on to the next stage once the one before is applied', async () => {
    const home = await fleetOf(['acme', 'globex'], order);
    const { code, stderr } = await home.run('apply', '--auto-approve', '--run', 'r');
    expect(code, stderr).toBe(0);
    const [first, second] = [home.result('r', 'acme'), home.result('r', 'globex')];
    expect(first.ended_at <= second.started_at).toBe(true);
  });

  test('begins no later stage where an earlier one failed', async () => {
    const home = await fleetOf(['acme', 'globex'], order);
    home.accounts.get('acme')!.setFaults([parseFault('status=400,method=POST')]);
    const { code, stdout } = await home.run('apply', '--auto-approve', '--run', 'r');
    expect(code).not.toBe(0);
    expect(stdout).toMatch(/globex: NOT RUN Stopped: acme, in an earlier stage, was not applied/);
    expect(home.writes('globex')).toEqual([]);
    home.accounts.get('acme')!.setFaults([]);
    // The same run, resumed.
    const resumed = await home.run('apply', '--auto-approve', '--run', 'r');
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(home.writes('globex').length).toBe(1);
  });

  test('of several stages is refused in shards, which cannot wait for each other', async () => {
    const home = await fleetOf(['acme', 'globex'], order);
    await home.run('plan', '--out', 'b');
    for (const [word, advised] of [
      ['--auto-approve', 'apply --auto-approve --select'],
      ['b', 'apply b --select'],
    ] as const)
      for (const shard of ['1/2', '2/2']) {
        const { code, stderr } = await home.run('apply', word, '--shard', shard);
        expect([code, stderr]).toEqual([1, expect.stringContaining('[order-in-shards]')]);
        expect(stderr).toContain(`trueup fleet ${advised} tenant=acme --shard ${shard} `);
      }
    const queue = ['--queue', 'postgres://127.0.0.1:1/none'];
    const queued = await home.run('apply', 'b', '--engine', 'pgboss', ...queue);
    expect(queued.stderr).toContain(
      `apply b --engine pgboss ${queue.join(' ')} --select tenant=acme`,
    );
    expect([...home.writes('acme'), ...home.writes('globex')]).toEqual([]);
    // One stage at a time, every shard has its own tenants.
    for (const tenant of ['acme', 'globex'])
      for (const shard of ['1/2', '2/2'])
        await home.run('apply', 'b', '--select', `tenant=${tenant}`, '--shard', shard);
    expect([home.writes('acme').length, home.writes('globex').length]).toEqual([1, 1]);
  });

  test('names the variables of a tenant where a write fails', async () => {
    const home = await fleetOf(['acme', 'globex']);
    home.accounts.get('acme')!.setFaults([parseFault('status=401,method=POST')]);
    await home.run('apply', '--auto-approve', '--run', 'r');
    const said = JSON.stringify(home.result('r', 'acme').diagnostics);
    expect(said).toContain('ACME_TRUEUP_');
    expect(said).not.toMatch(/(?<!ACME_)TRUEUP_/);
  });

  test('that is partly done is completed by the same run', async () => {
    const two = BASE.replace(
      'alert_push_destinations:',
      'alert_push_destinations:\n  other: { name: Other, enabled: true, endpoint: { url: "https://hooks.example.com/other" } }',
    );
    const home = await fleetOf(['acme', 'globex'], order, two);
    home.accounts.get('acme')!.setFaults([parseFault('status=400,method=POST,times=1')]);
    const first = await home.run('apply', '--auto-approve', '--run', 'r', '--parallelism', '1');
    expect([first.code, home.result('r', 'acme').status]).toEqual([7, 'partial']);
    const again = await home.run('apply', '--auto-approve', '--run', 'r');
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout).toContain('globex: Applied: 2 created');
    // Of both attempts.
    expect(again.stdout).toContain('Written: create 4 in 2 tenants\n');
    const reported = await home.run('report', 'r');
    expect(reported.stdout).toContain('Written: create 4 in 2 tenants\n');
  });

  test('of more tenants than may change is blocked before the first write', async () => {
    const home = await fleetOf(['acme', 'globex'], `${FILE}  stop: { changed_tenants: 1 }\n`);
    const { code, stderr } = await home.run('apply', '--auto-approve');
    expect(code).toBe(3);
    expect(stderr).toContain('2 tenants would change, and `stop.changed_tenants` is 1');
    expect([...home.writes('acme'), ...home.writes('globex')]).toEqual([]);
    const planned = await home.run('plan', '--out', 'b');
    expect(planned.stderr).toContain(
      'Saved. The run is blocked as a whole. To apply a part that is within the limits: trueup fleet apply b --select TERMS',
    );
    expect((await home.run('apply', 'b')).code).toBe(3);
    // A shard of a bundle knows of all tenants; a selection leaves them out.
    expect((await home.run('apply', 'b', '--shard', '1/2')).code).toBe(3);
    expect((await home.run('apply', 'b', '--select', 'tenant=acme')).code).toBe(0);
    expect([home.writes('acme').length, home.writes('globex').length]).toEqual([1, 0]);
  });

  test('in shards without a bundle is refused where a limit is over all tenants', async () => {
    const home = await fleetOf(['acme', 'globex'], `${FILE}  stop: { changed_tenants: 1 }\n`);
    const words = ['--auto-approve', '--var', 'hook=https://hooks.example.com/x'];
    for (const shard of ['1/2', '2/2']) {
      const { code, stderr } = await home.run('apply', ...words, '--run', 'r', '--shard', shard);
      expect([code, stderr]).toEqual([1, expect.stringContaining('[limits-in-shards]')]);
      expect(stderr).toContain(
        'trueup fleet plan --out change.bundle --shard 1/1 --var hook=<value>',
      );
      expect(stderr).toContain(
        `type \`trueup fleet apply change.bundle --run r --shard ${shard}\`.`,
      );
    }
    expect([...home.writes('acme'), ...home.writes('globex')]).toEqual([]);
    // No more than the limit are selected.
    for (const shard of ['1/2', '2/2']) {
      const select = ['--select', 'tenant=acme', '--shard', shard];
      expect((await home.run('apply', '--auto-approve', ...select)).code).toBe(0);
    }
    expect([home.writes('acme').length, home.writes('globex').length]).toEqual([1, 0]);
  });

  const reported = (home: FleetHome, said: Said): FleetDocument => {
    const document = JSON.parse(said.stdout) as FleetDocument;
    expect(document.exit).toBe(said.code);
    const [why] = document.diagnostics;
    const junit = readFileSync(join(home.cwd, 'r.xml'), 'utf8');
    expect(junit).toContain(`<failure type="${why?.code}" message="${why?.summary}"`);
    return document;
  };

  /** What was stored says the same. */
  const saysTheSame = async (home: FleetHome, run: string, document: FleetDocument) => {
    const later = await home.run('report', run, '--format', 'json', '--detailed-exitcode');
    expect(JSON.parse(later.stdout)).toEqual({
      ...document,
      generated_at: expect.any(String) as string,
    });
    expect(later.code).toBe(document.exit);
  };

  // Each shard of a bundle gives the reason, and the report gives it once.
  test.each([
    ['--auto-approve', [[]]],
    [
      'b',
      [
        ['--shard', '1/2'],
        ['--shard', '2/2'],
      ],
    ],
  ])('%s that a limit blocked says so in its report, until it is resumed', async (word, shards) => {
    const home = await fleetOf(['acme', 'globex'], `${FILE}  stop: { changed_tenants: 1 }\n`);
    expect((await home.run('plan', '--out', 'b')).code).toBe(3);
    for (const shard of shards)
      expect((await home.run('apply', word, '--run', 'r', ...shard)).code).toBe(3);
    const blocked = await home.run('report', 'r');
    expect(blocked.code).toBe(3);
    expect(blocked.stdout.match(/error: 2 tenants would change/g)).toHaveLength(1);
    home.write('trueup.fleet.yaml', FILE);
    const applied = await home.run('apply', word, '--run', 'r');
    expect(applied.code, applied.stderr).toBe(0);
    const report = await home.run('report', 'r');
    expect([report.code, report.stdout]).toEqual([0, expect.not.stringContaining('error:')]);
  });

  test('of a bundle without plans says so, and ends well', async () => {
    const home = await fleetOf(['acme']);
    const planned = await home.run('plan', '--out', 'b', '--shard', `${3 - shardOf('acme', 2)}/2`);
    expect([planned.code, planned.stderr]).toEqual([
      0,
      expect.stringContaining('Saved. It holds no plan: there is nothing to apply.'),
    ]);
    const { code, stdout, stderr } = await home.run('apply', 'b', '--report', 'junit=r.xml');
    expect([code, stdout]).toEqual([0, expect.stringContaining('0 tenants.')]);
    expect(stderr).toContain('b holds no plan: there is nothing to apply');
    expect(readFileSync(join(home.cwd, 'r.xml'), 'utf8')).toContain('<testsuites>');
    // No queue is asked for.
    const queued = await home.run('apply', 'b', '--engine', 'pgboss');
    expect([queued.code, queued.stderr]).toEqual([0, stderr]);
    home.accounts.get('acme')!.setFaults([parseFault('status=403')]);
    const failed = await home.run('plan', '--out', 'f');
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain('Saved. It holds no plan: there is nothing to apply.');
  });

  test('of a bundle in which every plan is blocked ends with 3, and plan says so', async () => {
    const home = await fleetOf(['acme', 'globex']);
    await home.run('apply', '--auto-approve');
    home.write('base/base.yaml', 'variables: { hook: unused }\n');
    const planned = await home.run('plan', '--out', 'b');
    expect([planned.code, planned.stderr]).toEqual([
      3,
      expect.stringContaining('Saved. Each plan in it is blocked: there is nothing to apply.'),
    ]);
    expect((await home.run('apply', 'b')).code).toBe(3);
    // The same where a limit blocks it, too.
    home.write('trueup.fleet.yaml', `${FILE}  stop: { blocked: 2 }\n`);
    expect((await home.run('plan', '--out', 'b')).stderr).toContain('Saved. Each plan in it');
    home.write('trueup.fleet.yaml', FILE);
    home.write('tenants/globex/tenant.yaml', BASE);
    const one = await home.run('plan', '--out', 'b');
    expect([one.code, one.stderr]).toEqual([3, expect.stringContaining('trueup fleet apply b')]);
  });

  test('of a bundle that is blocked later keeps what was applied', async () => {
    const home = await fleetOf(['acme', 'globex']);
    await home.run('plan', '--out', 'b');
    home.accounts.get('globex')!.setFaults([parseFault('status=403')]);
    expect((await home.run('apply', 'b', '--run', 'r')).code).toBe(1);
    home.write('trueup.fleet.yaml', `${FILE}  stop: { changed_tenants: 1 }\n`);
    const again = await home.run('apply', 'b', '--run', 'r');
    expect(again.code).toBe(3);
    expect(again.stdout).toContain('1 applied');
    expect(home.result('r', 'acme').status).toBe('applied');
    const report = await home.run('report', 'r', '--format', 'json');
    expect((JSON.parse(report.stdout) as FleetDocument).summary).toEqual({
      tenants: 2,
      applied: 1,
      'not-run': 1,
    });
  });

  test.each([
    ['changed_tenants: 1', '2 tenants would change', ['not-run', 'not-run', 'blocked']],
    ['blocked: 1', '1 tenant is blocked', ['not-run', 'not-run', 'blocked']],
  ])('beyond the limit %s is reported with its reason', async (limit, reason, statuses) => {
    const home = await fleetOf(
      ['acme', 'globex', 'initech'],
      `${FILE}  stop: { failures: 9, ${limit} }\n`,
    );
    home.write(
      'policies/hooks.cel.yaml',
      '- name: no-initech\n  when: plan.resource_changes.exists(c, string(c.change.after.endpoint.url).endsWith("initech"))\n  message: initech\n',
    );
    const forms = ['--format', 'json', '--report', 'junit=r.xml'];
    const applied = await home.run('apply', '--auto-approve', '--run', 'r', ...forms);
    expect(applied.code).toBe(3);
    const document = reported(home, applied);
    expect(document.tenants.map(({ status }) => status)).toEqual(statuses);
    expect(document.tenants[0]?.summary).toContain(reason);
    await saysTheSame(home, 'r', document);
    rmSync(join(home.cwd, 'r.xml'));
    const planned = await home.run('plan', '--out', 'b', '--run', 'p', ...forms);
    expect(planned.code).toBe(3);
    expect(reported(home, planned).summary).toMatchObject({ changes: 2, blocked: 1 });
    await saysTheSame(home, 'p', reported(home, planned));
    rmSync(join(home.cwd, 'r.xml'));
    const bundled = await home.run('apply', 'b', '--run', 'b', ...forms);
    expect(bundled.code).toBe(3);
    expect(reported(home, bundled).summary).toEqual({ tenants: 3, 'not-run': 3 });
    await saysTheSame(home, 'b', reported(home, bundled));
    expect(['acme', 'globex', 'initech'].flatMap((name) => home.writes(name))).toEqual([]);
  });

  test('that nobody agreed to is reported', async () => {
    const home = await fleetOf(['acme']);
    const declined: Command = (context, args) =>
      apply({ ...context, interactive: true, ask: () => Promise.resolve('no') }, args);
    const words = ['fleet', 'apply', '--run', 'r', '--format', 'json', '--report', 'junit=r.xml'];
    const said = await inProcess(declined, words, home);
    expect(said.code).toBe(1);
    expect(said.stderr).toContain('Nothing was changed.');
    expect(reported(home, said).tenants).toMatchObject([
      { status: 'not-run', summary: 'The plans were not agreed to.' },
    ]);
    expect(home.writes('acme')).toEqual([]);
  });

  test('of stopped plans is reported as an apply, also later', async () => {
    const home = await fleetOf(['a', 'b'], `${FILE}  concurrency: 1\n  stop: { failures: 1 }\n`);
    home.accounts.get('a')!.setFaults([parseFault('status=403')]);
    const forms = ['--format', 'json', '--report', 'junit=r.xml'];
    const said = await home.run('apply', '--auto-approve', '--run', 'r', ...forms);
    expect(said.code).toBe(1);
    const document = reported(home, said);
    expect(document.command).toBe('apply');
    expect(document.tenants.map(({ status }) => status)).toEqual(['failed', 'not-run']);
    await saysTheSame(home, 'r', document);
    home.accounts.get('a')!.setFaults([]);
    const resumed = await home.run('apply', '--auto-approve', '--run', 'r');
    expect(resumed.code, resumed.stderr).toBe(0);
  });

  test('with a blocked tenant is blocked where the fleet says so', async () => {
    const home = await fleetOf(['acme', 'globex'], `${FILE}  stop: { blocked: 1 }\n`);
    home.write(
      'policies/hooks.cel.yaml',
      '- name: no-globex\n  when: plan.resource_changes.exists(c, string(c.change.after.endpoint.url).endsWith("globex"))\n  message: globex\n',
    );
    const { code, stdout } = await home.run('apply', '--auto-approve');
    expect(code).toBe(3);
    expect(stdout).toContain('globex: BLOCKED');
    expect([...home.writes('acme'), ...home.writes('globex')]).toEqual([]);
    home.write('trueup.fleet.yaml', FILE);
    expect((await home.run('apply', '--auto-approve')).code).toBe(3);
    expect([home.writes('acme').length, home.writes('globex').length]).toEqual([1, 0]);
  });

  test('changes nothing where the planning of tenants was stopped', async () => {
    const home = await fleetOf(
      ['a', 'b', 'c', 'd'],
      `${FILE}  concurrency: 1\n  stop: { failures: 2 }\n`,
    );
    for (const name of ['b', 'c']) home.accounts.get(name)!.setFaults([parseFault('status=403')]);
    const { code, stdout } = await home.run('apply', '--auto-approve');
    expect(code).toBe(1);
    expect(stdout).toContain('d: NOT RUN Stopped: 2 tenants in a row failed');
    expect(home.writes('a')).toEqual([]);
  });

  test('keeps why a tenant could not be planned, its exit code, and the command as it was typed', async () => {
    const twin = (name: string): string =>
      `  ${name}: { name: Twin, endpoint: { url: "\${var.hook}" }, lifecycle: { allow_duplicate: true } }\n`;
    const home = await fleetOf(
      ['acme', 'globex'],
      FILE,
      `alert_push_destinations:\n${twin('a')}${twin('b')}`,
    );
    const twins = await home.run('apply', '--auto-approve', '--select', 'tenant=acme');
    expect(twins.code, twins.stderr).toBe(0);
    // Another state, in which the twins have no address.
    home.write('trueup.prod.yaml', 'variables: { hook: https://prod.example }\n');
    home.write(
      'base/base.yaml',
      `alert_push_destinations:\n${twin('a').replace(/, lifecycle.*\}/, ' }')}`,
    );
    const before = home.writes('acme').length;
    const words = ['--auto-approve', '--run', 'q', '--select', 'tenant!=initech', '--env', 'prod'];
    const said = await home.run(
      'apply',
      ...words,
      '--var',
      'hook=https://y.example',
      '--lock-wait',
      '5m',
    );
    expect(said.code, said.stderr).toBe(5);
    const { exit, status, summary, diagnostics } = home.result('q', 'acme');
    expect([exit, status]).toEqual([5, 'undecided']);
    expect(summary).toContain('2 live objects');
    expect(diagnostics.map(({ code }) => code).toSorted()).toEqual(['ambiguous', 'no-plan']);
    expect(diagnostics.find(({ code }) => code === 'no-plan')?.detail).toBe(
      "Once that is fixed: trueup fleet apply --run q --auto-approve --lock-wait 5m --select 'tenant!=initech' --env prod --var hook=https://y.example",
    );
    expect(said.stderr.match(/2 live objects/g)).toHaveLength(1);
    expect([home.writes('acme').length, home.writes('globex').length]).toEqual([before, 1]);
    // Nothing was begun, so a resumed run plans it again.
    const calls = home.calls('acme');
    await home.run('apply', ...words, '--var', 'hook=https://y.example', '--lock-wait', '5m');
    expect(home.calls('acme')).toBeGreaterThan(calls);
  });

  test('stores and prints each error and warning once', async () => {
    const home = await fleetOf(['acme', 'globex', 'initech']);
    home.accounts.get('acme')!.setFaults([parseFault('status=400,method=POST')]);
    home.write(
      'policies/hooks.cel.yaml',
      '- name: no-initech\n  when: plan.resource_changes.exists(c, string(c.change.after.endpoint.url).endsWith("initech"))\n  message: initech\n- name: warns\n  when: "true"\n  message: mind this\n  severity: warning\n',
    );
    const words = ['--auto-approve', '--var', 'unused=1'];
    const bundle = await home.run('plan', '--out', 'b', ...words.slice(1));
    expect(bundle.code, bundle.stderr).toBe(3);
    for (const name of ['acme', 'globex', 'initech'])
      expect(bundle.stderr.split(`${name}: mind this`)).toHaveLength(2);
    for (const [run, applied] of [
      ['q', await home.run('apply', '--run', 'q', ...words)],
      ['s', await home.run('apply', 'b', '--run', 's')],
    ] as const)
      for (const name of ['acme', 'globex', 'initech']) {
        const { diagnostics } = home.result(run, name);
        const said = diagnostics.map(({ code, summary }) => `${code} ${summary}`);
        expect(said).toEqual([...new Set(said)]);
        for (const { summary } of diagnostics)
          expect(applied.stderr.split(`: ${name}: ${summary}`)).toHaveLength(2);
      }
  });

  test('keeps why a tenant has no credentials', async () => {
    const home = await fleetOf(['acme', 'globex']);
    for (const name of Object.keys(home.env)) if (name.startsWith('ACME_')) delete home.env[name];
    expect((await home.run('apply', '--auto-approve', '--run', 'q')).code).toBe(1);
    const { summary, diagnostics } = home.result('q', 'acme');
    expect(summary).toContain('there is no v2 address');
    expect(diagnostics.map(({ code }) => code).toSorted()).toContain('no-plan');
  });

  test('asks, and without a terminal says what to type', async () => {
    const home = await fleetOf(['acme']);
    const { code, stderr } = await home.run('apply');
    expect(code).toBe(1);
    expect(stderr).toContain('trueup fleet apply --auto-approve');
    expect(home.calls('acme')).toBe(0);
  });

  test('writes nothing for a tenant that is as declared, and reads it once', async () => {
    const home = await fleetOf(['acme']);
    await home.run('apply', '--auto-approve');
    const before = home.calls('acme');
    await home.run('plan');
    const once = home.calls('acme') - before;
    const { stdout } = await home.run('apply', '--auto-approve');
    expect(home.calls('acme') - before).toBe(2 * once);
    expect(stdout).toContain('1 tenant: 1 as declared.');
  });
});

describe('a run', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

  test('shows what is wrong with the files of all tenants for three of them', async () => {
    const home = await fleetOf(names, FILE, 'accounts: { site: {} }\n');
    const { code, stderr } = await home.run('validate');
    expect(code).toBe(1);
    expect(stderr.match(/[^:]+: `name` is missing/g)).toEqual([
      ' a: `name` is missing',
      ' b: `name` is missing',
      ' c: `name` is missing',
      ' 4 more tenants: `name` is missing',
    ]);
  });

  test('stops after failed tenants in a row; resumed, it runs those alone that have no result', async () => {
    const home = await fleetOf(names, `${FILE}  concurrency: 1\n  stop: { failures: 2 }\n`);
    for (const name of ['c', 'd']) home.accounts.get(name)!.setFaults([parseFault('status=403')]);
    const first = await home.run('drift', '--run', 'nightly');
    expect(first.code).toBe(1);
    expect(first.stdout).toMatch(/e: NOT RUN Stopped: 2 tenants in a row failed/);
    expect(home.calls('e')).toBe(0);
    const report = await home.run('report', 'nightly', '--format', 'json');
    expect(report.code).toBe(1);
    const { summary } = JSON.parse(report.stdout) as FleetDocument;
    expect(summary).toEqual({ tenants: 7, drift: 2, failed: 2, 'not-run': 3 });
    for (const name of ['c', 'd']) home.accounts.get(name)!.setFaults([]);
    const before = home.calls('a');
    const second = await home.run('drift', '--run', 'nightly', '--detailed-exitcode');
    expect(second.code, second.stderr).toBe(2);
    expect(home.calls('a')).toBe(before);
    expect(lines(second).at(-1)).toBe('7 tenants: 7 with drift. Run nightly.');
    expect(home.result('nightly', 'e')).toMatchObject({
      status: 'not-run',
      summary: expect.stringContaining('2 tenants in a row failed') as string,
    });
    expect(home.result('nightly', 'e@2')).toMatchObject({ attempt: 2, status: 'drift' });
    expect(home.result('nightly', 'c@2')).toMatchObject({ attempt: 2, status: 'drift' });
    // Other declarations are another result.
    home.write('tenants/a/tenant.yaml', 'variables: { hook: "https://hooks.example.com/other" }\n');
    await home.run('drift', '--run', 'nightly');
    expect(home.calls('a')).toBeGreaterThan(before);
    expect(home.calls('b')).toBe(before);
  });

  test('prints each tenant once, in the order of the file, whichever ends first', async () => {
    const home = await fleetOf(
      names,
      FILE,
      BASE.replace('pager:', 'pager: # of all').concat('accounts: { x: { name: X, nam: Y } }\n'),
    );
    home.accounts.get('a')!.setFaults([parseFault('latency=50')]);
    const { stdout, code } = await home.run('drift');
    expect(code).toBe(1);
    expect(stdout.match(/^\w(?=: )/gm)).toEqual(names);
  });

  test('of one name is of one command and the same tenants', async () => {
    const home = await fleetOf(['acme', 'globex']);
    await home.run('drift', '--run', 'r');
    for (const [name, words] of [
      ['plan', []],
      ['drift', ['--select', 'tenant=acme']],
    ] as const) {
      const { code, stderr } = await home.run(name, '--run', 'r', ...words);
      expect(code).toBe(1);
      expect(stderr).toContain(
        'the run r is about other tenants, another command or another bundle',
      );
    }
  });

  test('is split among shards, and merged; a shard that did not run is missing', async () => {
    const home = await fleetOf(names);
    for (const shard of ['1/3', '2/3']) await home.run('drift', '--run', 'r', '--shard', shard);
    const broken = await home.run('report', 'r');
    expect(broken.code).toBe(1);
    expect(broken.stdout).toMatch(/: MISSING There is no result/);
    await home.run('drift', '--run', 'r', '--shard', '3/3');
    const none = await home.run('drift', '--shard', '1/1', '--select', 'tenant=a', '--run', 'one');
    expect(none.code).toBe(0);
    const codes = await Promise.all(
      ['1/2', '2/2'].map((shard) => home.run('drift', '--select', 'tenant=a', '--shard', shard)),
    );
    expect(
      codes
        .map(lines)
        .map((all) => all.at(-1)!.replace(/ Run .*/, ''))
        .toSorted(),
    ).toEqual(['0 tenants.', '1 tenant: 1 with drift.']);
    const whole = await home.run('report', 'r');
    expect(whole.code).toBe(0);
    expect(lines(whole).at(-1)).toBe('7 tenants: 7 with drift. Run r.');
    expect(new Set(names.slice(1).map((name) => home.calls(name)))).toEqual(
      new Set([home.calls('b')]),
    );
    const junit = await home.run('report', 'r', '--format', 'junit');
    expect(junit.stdout.match(/<testsuite /g)).toHaveLength(7);
    expect(junit.stdout).toContain('<failure type="missing"');
  });

  test('writes its report beside its lines', async () => {
    const home = await fleetOf(['acme']);
    const { code } = await home.run('plan', '--report', 'json=r.json', '--report', 'junit=r.xml');
    expect(code).toBe(0);
    const { tenants, exit } = JSON.parse(
      readFileSync(join(home.cwd, 'r.json'), 'utf8'),
    ) as FleetDocument;
    expect(exit).toBe(2);
    expect(tenants).toMatchObject([
      {
        tenant: 'acme',
        status: 'changes',
        kinds: { alert_push_destinations: { changed: 1, objects: 1 } },
        changes: [{ address: 'alert_push_destinations.pager', action: 'create' }],
      },
    ]);
    expect(existsSync(join(home.cwd, 'r.xml'))).toBe(true);
  });
});

describe('a report', () => {
  const damage = (text: string, member: string, value: unknown): string =>
    JSON.stringify({ ...(JSON.parse(text) as object), [member]: value });

  test.each<readonly [string, (own: string, other: string) => string]>([
    ['of another tenant', (_, other) => other],
    ['of another run', (own) => damage(own, 'run', 's')],
    ['of another command', (own) => damage(own, 'command', 'apply')],
    ['of a newer format', (own) => damage(own, 'format_version', '2.0')],
    ['with an unknown exit code', (own) => damage(own, 'exit', 99)],
    ['with an unknown status', (own) => damage(own, 'status', 'fine')],
    ['with diagnostics that are none', (own) => damage(own, 'diagnostics', [null])],
    [
      'with a detail that is not a string',
      (own) =>
        damage(own, 'diagnostics', [{ severity: 'error', code: 'x', summary: 'y', detail: 5 }]),
    ],
    ['without members', () => '{}'],
    ['that was cut off', (own) => own.slice(0, 100)],
  ])('shows a result %s as the error of its tenant', async (_, edit) => {
    const home = await fleetOf(['acme', 'globex']);
    await home.run('drift', '--run', 'r');
    const [own, other] = ['acme', 'globex'].map((name) =>
      readFileSync(join(home.cwd, `.trueup/fleet/r/${name}.json`), 'utf8'),
    );
    home.write('.trueup/fleet/r/acme.json', edit(own!, other!));
    const said = await home.run('report', 'r', '--format', 'json');
    expect(said.code).toBe(1);
    const { tenants } = JSON.parse(said.stdout) as FleetDocument;
    expect(tenants.map(({ tenant, status }) => [tenant, status])).toEqual([
      ['acme', 'failed'],
      ['globex', 'drift'],
    ]);
    const [{ summary, detail } = {}] = tenants[0]!.diagnostics;
    expect(summary).toContain('fleet/r/acme in ');
    expect(summary).toContain('is not a result of acme in the run r');
    expect(detail).toContain('type the command that began it again, with --run r');
  });

  test('is of what its run has written: other files are passed over', async () => {
    const home = await fleetOf(['acme']);
    await home.run('drift', '--run', 'r');
    for (const name of ['acme@x', 'acme@', 'acme@2@3', 'acme@01'])
      home.write(`.trueup/fleet/r/${name}.json`, '{}');
    const { code, stdout } = await home.run('report', 'r');
    expect(code, stdout).toBe(0);
    expect(lines({ stdout } as Said).at(-1)).toBe('1 tenant: 1 with drift. Run r.');
  });

  test.each(['{}', '{"format_version":"1.0"', '{"format_version":"1.0","tenants":3}'])(
    'of a run whose record is %s is one error',
    async (text) => {
      const home = await fleetOf(['acme']);
      await home.run('drift', '--run', 'r');
      home.write('.trueup/fleet/r.json', text);
      const { code, stdout, stderr } = await home.run('report', 'r');
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain('fleet/r in ');
      expect(stderr).toContain('is not the record of the run r');
    },
  );
});

test.each([
  ['settings: { target: emulator }\n', 'base/base.yaml:1:13', '`settings.target: emulator` is'],
  ['settings: { state: x.json }\n', 'base/base.yaml:1:13', '`settings.state` names a state in'],
  [
    'settings:\n  state:\n    url: x.json\n',
    'base/base.yaml:2:3',
    '`settings.state` names a state',
  ],
])('%s in the declarations is refused, with its place', async (text, place, expected) => {
  const home = await fleetOf(['acme'], FILE, text + BASE);
  for (const name of ['validate', 'plan', 'drift'] as const) {
    const { code, stderr } = await home.run(name);
    expect(code).toBe(1);
    expect(stderr).toContain(`acme: ${expected}`);
    expect(stderr).toContain(place);
  }
  expect(home.calls('acme')).toBe(0);
});

test('of many warnings of a tenant the first are printed, and reports hold all', async () => {
  const home = await fleetOf(['acme'], FILE, MANY_WARNINGS);
  for (const [name, all] of [
    ['validate', '--format json'],
    ['plan', 'trueup fleet report r --format json'],
  ] as const) {
    const words = name === 'plan' ? ['--run', 'r'] : [];
    const { stderr } = await home.run(name, ...words);
    expect(stderr.match(/unknown-value/g)).toHaveLength(4);
    expect(stderr).toContain(`acme: and 2 more like this [unknown-value] All of them: ${all}`);
  }
  const { stdout } = await home.run('report', 'r', '--format', 'json');
  expect((JSON.parse(stdout) as FleetDocument).tenants[0]?.diagnostics).toHaveLength(5);
});

describe('a bundle is shown', () => {
  test('as it was planned, each plan and all of them, without the fleet', async () => {
    const home = await fleetOf(
      ['acme', 'globex', 'initech', 'hooli'],
      `${FILE}  stop: { failures: 9 }\n`,
    );
    home.write(
      'policies/hooks.cel.yaml',
      '- name: no-globex\n  when: plan.resource_changes.exists(c, string(c.change.after.endpoint.url).endsWith("globex"))\n  message: globex\n',
    );
    home.accounts.get('initech')!.setFaults([parseFault('status=403')]);
    await home.run('apply', '--auto-approve', '--select', 'tenant=hooli');
    const forms = ['--format', 'json', '--report', 'html=r.html'];
    const planned = await home.run('plan', '--out', 'b', '--run', 'r', ...forms);
    rmSync(join(home.cwd, 'trueup.fleet.yaml'));
    rmSync(join(home.cwd, 'r.tenants'), { recursive: true });
    const calls = home.calls('acme');
    const said = await home.run('show', 'b', ...forms);
    expect([said.code, said.stderr, home.calls('acme')]).toEqual([0, '', calls]);
    // A bundle takes no flag.
    const again = 'To allow it, plan again: trueup fleet plan --out b --';
    const before = JSON.parse(planned.stdout.replace('To allow it: --', again)) as FleetDocument;
    const shown = JSON.parse(said.stdout) as FleetDocument;
    expect(before.tenants.map(({ status }) => status)).toEqual([
      'changes',
      'blocked',
      'unchanged',
      'failed',
    ]);
    expect(shown).toEqual({
      ...before,
      generated_at: shown.generated_at,
      tenants: before.tenants.map(({ elapsed_seconds: _, ...one }) =>
        one.status === 'failed'
          ? { ...one, exit: null, summary: 'There is no plan.', diagnostics: [] }
          : one,
      ),
    });
    expect(readdirSync(join(home.cwd, 'r.tenants')).toSorted()).toEqual([
      'acme.html',
      'globex.html',
      'hooli.html',
    ]);
    const plan = await home.run('show', 'b', 'globex', '--format', 'json');
    expect(JSON.parse(plan.stdout)).toEqual(home.result('r', 'globex').document);
    const text = await home.run('show', 'b', 'acme');
    expect(text.stdout).toContain('+ create alert_push_destinations.pager');
    expect((await home.run('show', 'b')).stderr).toContain(': trueup fleet show b acme');
  });

  test('with commands about a tenant that name its state and its variables', async () => {
    const home = await fleetOf(['acme']);
    home.write(
      'trueup.fleet.yaml',
      'fleet: { tenants: { acme: { paths: [base, tenants/acme], variables: { city: Rome } } } }\n',
    );
    const declared = (name: string): string =>
      `variables: { city: Oslo }\naccounts: { ${name}: { name: "\${var.city}" } }\n`;
    home.write('tenants/acme/more.yaml', declared('before'));
    const applied = await home.run('apply', '--auto-approve');
    expect(applied.code).toBe(0);
    home.write('tenants/acme/more.yaml', declared('after'));
    await home.run('plan', '--run', 'r', '--out', 'b', '--report', 'html=f.html');
    const command =
      'TRUEUP_STATE=.trueup/tenants/acme/state.json trueup state mv accounts.before accounts.after --path base --path tenants/acme --var city=Rome';
    const page = (name: string): string =>
      readFileSync(join(home.cwd, `${name}.tenants/acme.html`), 'utf8');
    expect(page('f')).toContain(command);
    const shown = await home.run('show', 'b', 'acme');
    expect(shown.stdout + shown.stderr).toContain(command);
    await home.run('show', 'b', '--report', 'html=g.html');
    expect(page('g')).toContain(command);
    const json = await home.run('show', 'b', 'acme', '--format', 'json');
    expect(json.stdout).not.toContain('TRUEUP_STATE=');
    expect(JSON.parse(json.stdout)).toEqual(home.result('r', 'acme').document);
  });

  test('to nobody who lacks a plan, its key, or another place for the report', async () => {
    const home = await fleetOf(['acme', 'globex']);
    home.accounts.get('globex')!.setFaults([parseFault('status=403')]);
    await home.run('plan', '--out', 'b');
    const bytes = readFileSync(join(home.cwd, 'b'));
    for (const [name, words, reason] of [
      ['show', ['b', 'acmee'], 'b holds no plan of acmee. Did you mean `acme`?'],
      ['show', ['gone'], 'or save one: trueup fleet plan --out FILE'],
      ['show', ['b', 'globex'], 'its status was `failed`'],
      ['show', ['b', '--report', 'json=b'], 'this command reads it'],
      ['apply', ['b', '--report', 'json=b'], 'this command reads it'],
    ] as const) {
      const { code, stdout, stderr } = await home.run(name, ...words);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(reason);
    }
    expect(readFileSync(join(home.cwd, 'b'))).toEqual(bytes);
    const identity = await generateIdentity();
    home.write('key.txt', identity);
    await home.run('plan', '--out', 'e', '--encrypt-to', await identityToRecipient(identity));
    expect((await home.run('show', 'e')).code).toBe(1);
    const shown = await home.run('show', 'e', '--identity', 'key.txt');
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('acme: Plan: 1 to')]);
  });
});

describe('a credential command', () => {
  /** Moves the credentials of these tenants from the environment to vault/NAME.json. */
  const keepInVault = (
    { env, write }: Pick<FleetHome, 'env' | 'write'>,
    ...names: readonly string[]
  ) => {
    for (const name of names) {
      const prefix = `${name.toUpperCase()}_`;
      const own = Object.entries(env).filter(([key]) => key.startsWith(prefix));
      const vault = Object.fromEntries(
        own.map(([key, value]) => [key.slice(prefix.length), value]),
      );
      write(`vault/${name}.json`, JSON.stringify(vault));
      for (const [key] of own) delete env[key];
    }
  };

  const commanded = (script: string): string =>
    `fleet:
  tenants: { from: tenants/* }
  defaults: { paths: [base], credentials: { command: [sh, -c, ${JSON.stringify(script)}, "\${tenant}"] } }
`;

  test('gives what it prints, and its own tenant alone', async () => {
    const home = await fleetOf(['acme', 'globex'], commanded('cat "vault/$0.json"'));
    keepInVault(home, 'acme', 'globex');
    const { code, stderr } = await home.run('apply', '--auto-approve');
    expect(code, stderr).toBe(0);
    expect(home.writes('acme').length).toBe(1);
    expect(home.writes('globex').length).toBe(1);
  });

  test.each([
    ['another command prints', '{}'],
    ['the variables of another tenant hold', '{ acme: { credentials: { env_prefix: ACME_ } } }'],
  ])('that prints the ids of a key that %s says so', async (_, each) => {
    const same = commanded('cat vault/acme.json');
    const file = same.replace(
      'from: tenants/* }',
      `from: tenants/*, each: ${each} }\n  concurrency: 1`,
    );
    const home = await fleetOf(['acme', 'globex'], file);
    const own = { ...home.env };
    keepInVault(home, 'acme', 'globex');
    Object.assign(home.env, own);
    const { code, stderr } = await home.run('drift');
    expect(code, stderr).toBe(0);
    expect(stderr.match(/shared-credentials/g)).toHaveLength(1);
    expect(stderr).toContain('globex: its credentials are those of the tenant acme');
  });

  test('that prints variables leaves them as they are, unless they are secret', async () => {
    const base = BASE.replace('On-call pager', '"Pager of ${var.team} ${var.api_token}"').replace(
      '" } }',
      '" }, authentication: { secret: "${secret.env.TRUEUP_VAR_pager}" } }',
    );
    const home = await fleetOf(
      ['acme'],
      commanded('cat vault.json'),
      base.replace('variables: { ', 'variables: { team: none, api_token: none, '),
    );
    const own = Object.entries(home.env).filter(([key]) => key.startsWith('ACME_'));
    const vault = Object.fromEntries(own.map(([key, value]) => [key.slice('ACME_'.length), value]));
    const printed = { TRUEUP_VAR_team: 'north', TRUEUP_VAR_pager: 's3cret-of-pager' };
    home.write('vault.json', JSON.stringify({ ...vault, ...printed }));
    const saved = await home.run('plan', '--out', 'b', '--run', 'r');
    expect(saved.code, saved.stderr).toBe(0);
    const { document } = home.result('r', 'acme');
    const env = { ...vault, ...printed, PATH: home.env['PATH']! };
    const words = ['plan', 'base', 'tenants/acme', '--format', 'json'];
    const single = await inProcess(plan, words, { cwd: home.cwd, env });
    const { resource_changes } = JSON.parse(single.stdout) as PlanDocument;
    expect(document).toMatchObject({ resource_changes });
    expect(JSON.stringify(resource_changes)).toContain('Pager of north none');
    expect(JSON.stringify(document)).not.toContain('s3cret-of-pager');
    home.write(
      'vault.json',
      JSON.stringify({ ...vault, ...printed, TRUEUP_VAR_api_token: 's3cret-token' }),
    );
    await home.run('plan', '--run', 'named');
    expect(JSON.stringify(home.result('named', 'acme'))).not.toContain('s3cret-token');
  });

  test('that prints too little is what has to be changed, not the environment', async () => {
    const home = await fleetOf(['acme'], commanded('cat "vault/$0.json"'));
    home.write(
      'vault/acme.json',
      JSON.stringify({ TRUEUP_V2_URL: home.env['ACME_TRUEUP_V2_URL'] }),
    );
    const { code, stderr } = await home.run('plan');
    expect(code).toBe(1);
    expect(stderr).toContain('TRUEUP_MGR_API_ID has no value');
    expect(stderr).toContain('Its credential command has to print it.');
  });

  test.each([
    ['drift', [], ['first']],
    ['plan', [], ['first']],
    // Once for the plan, once for the apply.
    ['apply', ['--auto-approve'], ['first', 'first']],
  ] as const)(
    'is not run by a resumed %s for a tenant that has its result',
    async (name, words, ran) => {
      const home = await fleetOf(
        ['acme', 'globex'],
        commanded('echo $WHEN >> "ran-$0"; [ $WHEN = first ] && cat "vault/$0.json"'),
      );
      for (const tenant of ['acme', 'globex']) {
        const prefix = `${tenant.toUpperCase()}_`;
        const own = Object.entries(home.env).filter(([key]) => key.startsWith(prefix));
        const vault = own.map(([key, value]) => [key.slice(prefix.length), value]);
        home.write(`vault/${tenant}.json`, JSON.stringify(Object.fromEntries(vault)));
        for (const [key] of own) delete home.env[key];
      }
      home.env['WHEN'] = 'first';
      const first = await home.run(name, '--run', 'r', ...words);
      expect(first.code, first.stderr).toBe(0);
      home.env['WHEN'] = 'again';
      const again = await home.run(name, '--run', 'r', ...words);
      expect(again.code, again.stderr).toBe(0);
      expect(lines(again).at(-1)).toBe(lines(first).at(-1));
      const asked = readFileSync(join(home.cwd, 'ran-acme'), 'utf8').trim().split('\n');
      expect(asked).toEqual(ran);
      // Other declarations need them again.
      home.write('tenants/acme/tenant.yaml', 'variables: { hook: "https://else.example" }\n');
      expect((await home.run(name, '--run', 'r', ...words)).code).toBe(1);
    },
  );

  test('has a part in what a result is of, if the declarations name what it prints', async () => {
    const home = await fleetOf(
      ['acme'],
      commanded('echo x >> ran; cat vault.json'),
      BASE.replace('${var.hook}', 'https://${env.SITE}.example'),
    );
    const own = Object.entries(home.env).filter(([key]) => key.startsWith('ACME_'));
    const vault = own.map(([key, value]) => [key.slice('ACME_'.length), value] as const);
    home.write('vault.json', JSON.stringify({ ...Object.fromEntries(vault), SITE: 'berlin' }));
    expect((await home.run('drift', '--run', 'r')).code).toBe(0);
    const before = home.calls('acme');
    expect((await home.run('drift', '--run', 'r')).code).toBe(0);
    expect(home.calls('acme')).toBe(before);
    home.write('vault.json', JSON.stringify({ ...Object.fromEntries(vault), SITE: 'paris' }));
    expect((await home.run('drift', '--run', 'r')).code).toBe(0);
    expect(home.calls('acme')).toBeGreaterThan(before);
  });

  test.each([
    ['prints junk', 'echo s3cret; exit 0'],
    ['prints to stderr and fails', 'echo s3cret >&2; exit 3'],
    ['prints a list', `echo '["s3cret"]'`],
    ['prints a name that is none', `echo '{"s3cret!": "x"}'`],
    ['is no program', 'exec /nowhere/s3cret-program'],
  ])('that %s shows nothing of it', async (_, script) => {
    const home = await fleetOf(['acme'], commanded(script));
    const said = await home.run('drift', '--run', 'r');
    expect(said.code).toBe(1);
    expect(said.stderr).toContain('the credential command of acme gave nothing: ');
    const stored = files(home.cwd).map((path) => readFileSync(path, 'utf8'));
    expect(said.stdout + said.stderr + stored.join('')).not.toContain('s3cret');
    expect(home.calls('acme')).toBe(0);
  });

  test('that hangs is a failed tenant, and hears no credential', async () => {
    let heard: Readonly<Record<string, string | undefined>> = {};
    const one = {
      name: 'acme',
      paths: [],
      variables: {},
      labels: {},
      credentials: { command: ['hang'] },
      origin: { file: 'f', line: 1, column: 1 },
    };
    const split = {
      shared: { PATH: '/bin', TRUEUP_STATE_HTTP_PASSWORD: 'x' },
      byPrefix: new Map<string, Record<string, string>>(),
    };
    const signal = new AbortController().signal;
    const parent = { cwd: '/', signal, masking: maskingOf() } as unknown as Context;
    const site = { split, env: undefined } as unknown as FleetSite;
    await expect(
      tenantContext(parent, site, one, {
        flags: {},
        exchanges: undefined,
        output: async (_, { environment }) => {
          heard = environment;
          return { problem: 'it did not end within 30 s' };
        },
      }),
    ).rejects.toThrow('the credential command of acme gave nothing: it did not end within 30 s');
    expect(heard).toEqual({ PATH: '/bin' });
  });
});

test('a service that is down halves the lanes', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const home = await fleetOf(names, `${FILE}  concurrency: 2\n  stop: { failures: 100 }\n`);
  for (const account of home.accounts.values()) account.setFaults([parseFault('status=500')]);
  const { code } = await home.run('drift', '--run', 'r');
  expect(code).toBe(1);
  const [g, h] = [home.result('r', 'g'), home.result('r', 'h')];
  expect(g.ended_at <= h.started_at).toBe(true);
});

test('the limiter of a tenant is that of its key, at the rate of the fleet or the project', async () => {
  const file = `fleet:
  tenants:
    a: { credentials: { env_prefix: ACME_ }, requests_per_minute: 600 }
    b: { credentials: { env_prefix: ACME_ } }
    c: { credentials: { env_prefix: GLOBEX_ } }
  defaults: { paths: [base] }
`;
  const home = await fleetOf(['acme', 'globex'], file);
  const seen: (readonly [tenant: string, key: string, rate: number | undefined])[] = [];
  const settings = { ...defaultSettings, requests_per_minute: 300 };
  const probe: Command = async (context) => {
    const site = await fleetHere(context);
    for (const tenant of site.fleet.tenants) {
      const limiterOf: Exchanges['limiterOf'] = (key, rate) => {
        seen.push([tenant.name, key, rate]);
        return limiter(context.clock, rate);
      };
      const exchanges = { limiterOf, responded: () => undefined, mayRepeat: () => true };
      const { context: own } = await tenantContext(context, site, tenant, { flags: {}, exchanges });
      await (await reach(own, settings, { emit: () => undefined })).close();
    }
    return 0;
  };
  await inProcess(probe, ['fleet', 'drift'], home);
  expect(seen.map(([name, , rate]) => [name, rate])).toEqual([
    ['a', 600],
    ['b', 300],
    ['c', 300],
  ]);
  const [a, b, c] = seen.map(([, key]) => key);
  expect(a).toBe(b);
  expect(c).not.toBe(a);
  expect(a).not.toContain('acme');
});

test.each([
  [1, 1, 1],
  [4, 4, 1],
])(
  'of %i shards, %i share a key that all tenants have, %i one of a single tenant',
  (shards, all, alone) => {
    const tenants = Array.from({ length: 40 }, (_, at) => ({
      name: `t${at}`,
      paths: [],
      variables: {},
      labels: {},
      credentials: { env_prefix: at === 0 ? 'ALONE_' : 'ALL_' },
      origin: { file: 'f', line: 1, column: 1 },
    }));
    const credentials = new Map(tenants.map(({ name }) => [name, name === 't0' ? 'alone' : 'all']));
    const site = { selected: tenants, shards, credentials };
    expect(processesWith(tenants[1]!, site)).toBe(all);
    expect(processesWith(tenants[0]!, site)).toBe(alone);
  },
);

test('processes share the rate of a key, and none sends more than its part', () => {
  expect([rateOf(450, 1), rateOf(450, 4), rateOf(8, 8)]).toEqual([450, 112, 1]);
  expect(() => rateOf(7, 8)).toThrow('8 processes share a key that may send 7 requests a minute');
});

test('two tenants with one credential share its limiter, and that is said', async () => {
  const file =
    'fleet: { tenants: { a: {}, b: {} }, defaults: { paths: [base], credentials: { env_prefix: ACME_ } } }';
  const home = await fleetOf(['acme'], file);
  const { code, stderr } = await home.run('drift');
  expect(code).toBe(0);
  expect(stderr).toContain(
    'the tenants a and b use the same credentials, and share their rate limit',
  );
});

test('of many tenants with one credential the first are named, and no flag that names all', async () => {
  const file =
    'fleet: { tenants: { a: {}, b: {}, c: {}, d: {}, e: {} }, defaults: { paths: [base], credentials: { env_prefix: ACME_ } } }';
  const home = await fleetOf(['acme'], file);
  const { stderr } = await home.run('validate');
  expect(stderr).toContain('and 1 more like this [shared-credentials]');
  expect(stderr).not.toContain('All of them');
});

test('two prefixes with the ids of one key are one credential, and that is said', async () => {
  const home = await fleetOf(['acme', 'globex']);
  for (const id of ['MGR_API_ID', 'VND_API_ID'])
    home.env[`GLOBEX_TRUEUP_${id}`] = home.env[`ACME_TRUEUP_${id}`]!;
  const processes: number[] = [];
  const probe: Command = async (context) => {
    const site = await fleetHere(context);
    for (const tenant of site.fleet.tenants)
      processes.push(processesWith(tenant, { ...site, workers: 8 }));
    return 0;
  };
  const { stderr } = await inProcess(probe, ['fleet', 'drift'], home);
  expect(stderr).toContain('the tenants acme and globex use the same credentials');
  expect(stderr).toContain('If each has an account of its own, correct those of globex.');
  expect(processes).toEqual([2, 2]);
});
