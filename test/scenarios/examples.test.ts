// Every example is a project that plans, applies and is quiet afterwards, through the built command; and each tells
// the story its README promises.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { emulator, folder, type Folder } from '../support/cli.js';
import { replay, stepsOf } from '../support/printed.js';

const examples = join(import.meta.dirname, '../../examples');
const secret = 'canary-of-the-examples';
const env = { PAGER_SECRET: secret, ROUTER_PASSWORD: `${secret}-too` };

/** A copy of an example, with the cloud that its `estate.json` describes. */
function copyOf(name: string): Folder {
  const home = folder();
  cpSync(join(examples, name), home.path, {
    recursive: true,
    filter: (path) => !path.includes('.trueup'),
  });
  mkdirSync(join(home.path, '.trueup'));
  if (existsSync(join(home.path, 'estate.json')))
    cpSync(join(home.path, 'estate.json'), join(home.path, '.trueup/emulator.json'));
  return home;
}

type Summary = Readonly<
  Record<'create' | 'update' | 'delete' | 'replace' | 'adopt' | 'forget' | 'keep', number>
>;

interface Story {
  readonly name: string;
  readonly flags?: readonly string[];
  /** What the first plan would do; 0 where it is not named. */
  readonly plan: Partial<Summary>;
  /** Exit code of the first plan: 3 where it would change what it adopts. */
  readonly code: number;
  /** Exit code of the audit behind it, where it is not 0. */
  readonly drift?: number;
}

const stories: readonly Story[] = [
  { name: 'first-steps', plan: { create: 3 }, code: 2 },
  { name: 'field-operations', plan: { create: 21, adopt: 9 }, code: 3 },
  { name: 'environments', flags: ['--env', 'local'], plan: { create: 4 }, code: 2 },
  { name: 'adopting-an-estate', plan: { adopt: 8 }, code: 0 },
  { name: 'router-configuration', plan: { adopt: 2 }, code: 3 },
  { name: 'who-changed-it', plan: { adopt: 6 }, code: 0 },
  { name: 'impact-of-a-rule', plan: { adopt: 5 }, code: 0 },
  { name: 'sim-audit', plan: {}, code: 0, drift: 2 },
  { name: 'access-review', plan: { adopt: 4 }, code: 3 },
  { name: 'forty-customers', plan: { create: 1, adopt: 146 }, code: 2 },
];

/** A folder of many projects: its README tells all of it. */
const FLEET = 'fleet';

/** Plans, expects the exit code, and counts what would be done. */
async function counted(
  home: Folder,
  code: number,
  flags: readonly string[] = [],
): Promise<Summary> {
  const { stdout } = await home.expect(code, [
    'plan',
    '--detailed-exitcode',
    '--format',
    'json',
    ...flags,
  ]);
  const { writes: _, ...summary } = (
    JSON.parse(stdout) as { readonly summary: Summary & { readonly writes: unknown } }
  ).summary;
  return summary;
}

/** What a first run that changes what it adopts is allowed with. */
const allowed = ['--allow', 'first-run'];

const nothing: Summary = {
  create: 0,
  update: 0,
  delete: 0,
  replace: 0,
  adopt: 0,
  forget: 0,
  keep: 0,
};

describe('every example', () => {
  it('is told here', () => {
    const folders = readdirSync(examples, { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    expect(folders.map((entry) => entry.name).toSorted()).toEqual(
      [...stories.map((story) => story.name), FLEET].toSorted(),
    );
  });

  it.each(stories)(
    '$name validates, plans, applies and is quiet',
    async ({ name, flags = [], plan, code, drift = 0 }) => {
      const home = copyOf(name);
      const valid = await home.expect(0, ['validate', ...flags]);
      expect(valid.stdout).toMatch(
        /^Valid: \d+ declarations(?:, \d+ (?:expectations|policies))?\.$/m,
      );
      expect(valid.stderr).toBe('');
      expect(await counted(home, code, flags)).toEqual({ ...nothing, ...plan });
      const applied = await home.expect(
        0,
        ['apply', '--auto-approve', ...(code === 3 ? allowed : []), ...flags],
        { env },
      );
      const second = await home.expect(0, ['plan', '--detailed-exitcode', ...flags], { env });
      expect(second.stdout).toContain('No changes.');
      await home.expect(drift, ['drift', '--detailed-exitcode', ...flags]);
      const onDisk = readdirSync(join(home.path, '.trueup')).map((file) =>
        home.read(`.trueup/${file}`),
      );
      for (const text of [applied.stdout, applied.stderr, second.stdout, ...onDisk])
        expect(text).not.toContain(secret);
    },
  );
});

const printed = [...stories.map(({ name }) => name), FLEET].flatMap((name) => {
  const steps = stepsOf(readFileSync(join(examples, name, 'README.md'), 'utf8'));
  return steps.length > 0 ? [{ name, steps }] : [];
});

/** Ends what a story left running because one of its steps failed. */
function endServers(home: Folder): void {
  for (const name of readdirSync(home.path).filter((one) => one.endsWith('.pid')))
    spawnSync('kill', [home.read(name).trim()]);
}

describe('a story with its answers', () => {
  it('is told of every part of an audit', () => {
    expect(printed.map(({ name }) => name)).toEqual([
      'who-changed-it',
      'impact-of-a-rule',
      'sim-audit',
      'access-review',
      'forty-customers',
      'fleet',
    ]);
  });

  it.each(printed)('$name goes as it is printed', { timeout: 180_000 }, ({ name, steps }) => {
    const home = folder();
    cpSync(join(examples, name), home.path, { recursive: true });
    try {
      replay(steps, home.path);
    } finally {
      endServers(home);
    }
  });
});

describe('first steps', () => {
  it('repairs a hand change, and lets nobody delete the protected rule by accident', async () => {
    const home = copyOf('first-steps');
    await home.expect(0, ['apply', '--auto-approve'], { env });
    home.write(
      '.trueup/emulator.json',
      home.read('.trueup/emulator.json').replace('"enabled":true', '"enabled":false'),
    );
    expect((await home.expect(2, ['drift', '--detailed-exitcode'])).stdout).toContain(
      'true → false',
    );
    await home.expect(0, ['apply', '--auto-approve']);
    await home.expect(0, ['drift', '--detailed-exitcode']);
    const text = home.read('trueup.yaml');
    home.write('trueup.yaml', text.slice(0, text.indexOf('alert_rules:')));
    const blocked = await home.expect(3, ['plan']);
    expect(blocked.stdout).toContain('BLOCKED all-removed');
    expect(blocked.stdout).toContain('BLOCKED protected');
    home.write('trueup.yaml', text.replace(/ *lifecycle: .*\n/, ''));
    await home.expect(0, ['apply', '--auto-approve'], { env });
    home.write('trueup.yaml', text.slice(0, text.indexOf('alert_rules:')));
    expect(
      (await home.expect(0, ['apply', '--auto-approve', '--allow', 'all-removed'])).stdout,
    ).toContain('1 deleted');
  });
});

describe('field operations', () => {
  it('blocks what its README says is blocked, and takes access back from a contractor', async () => {
    const home = copyOf('field-operations');
    await home.expect(0, ['apply', '--auto-approve', ...allowed], { env });
    const roles = home.read('roles.yaml');
    home.write('roles.yaml', roles.slice(0, roles.indexOf('  # A contractor')));
    expect((await home.expect(2, ['plan', '--detailed-exitcode'])).stdout).toContain(
      '"read_only_user" → "no_access"',
    );
    home.write('roles.yaml', roles.replace('full_access_user', 'administrator'));
    expect((await home.expect(3, ['plan'])).stdout).toContain('BLOCKED privilege-escalation');
    home.write('roles.yaml', roles);
    const moved = ['plan', '--var', 'hooks=https://hooks.example.net'];
    expect((await home.expect(3, moved)).stdout).toContain('and 1 more by destination-moved');
    const { stdout } = await home.expect(3, [...moved, '--verbose']);
    expect(stdout.match(/BLOCKED destination-moved/g)).toHaveLength(4);
  });

  it('adopts everything again once the state is lost', async () => {
    const home = copyOf('field-operations');
    await home.expect(0, ['apply', '--auto-approve', ...allowed], { env });
    rmSync(join(home.path, '.trueup/state.json'));
    expect(await counted(home, 0)).toEqual({ ...nothing, adopt: 30 });
  });
});

describe('environments', () => {
  it('brings prod about from a saved plan, with names and a state of its own', async () => {
    const home = copyOf('environments');
    const cloud = await emulator(home, ['--data', '.trueup/prod-cloud.json']);
    const prod = { env: { ...env, ...cloud.env } };
    await home.expect(0, ['doctor', '--env', 'prod'], prod);
    expect(
      (await home.expect(0, ['plan', '--env', 'prod', '--out', 'prod.plan'], prod)).stdout,
    ).toContain('"Field operations (prod)"');
    await home.expect(0, ['apply', 'prod.plan'], prod);
    expect(
      (await home.expect(0, ['plan', '--detailed-exitcode', '--env', 'prod'], prod)).stdout,
    ).toContain('No changes. 6 objects');
    expect(existsSync(join(home.path, '.trueup/state.prod.json'))).toBe(true);
    expect(existsSync(join(home.path, '.trueup/state.json'))).toBe(false);
  });
});

describe('adopting an estate', () => {
  it('holds what export writes, but for names', async () => {
    const home = copyOf('adopting-an-estate');
    await home.expect(0, ['export', '--out', 'found']);
    const nameless = (text: string): string => text.replaceAll(/^ {2}[a-z0-9-]+:$/gm, '  NAME:');
    for (const file of readdirSync(join(home.path, 'found')))
      expect(nameless(home.read(`estate/${file}`))).toBe(nameless(home.read(`found/${file}`)));
    expect(existsSync(join(home.path, '.trueup/state.json'))).toBe(false);
  });

  it('renames without sending anything, and says so where the line is missing', async () => {
    const home = copyOf('adopting-an-estate');
    await home.expect(0, ['apply', '--auto-approve']);
    const before = home.read('.trueup/emulator.json');
    const exported = home.read('estate/alert_rules.yaml').replace('  depot-doors:', '  doors:');
    const adopting = 'lifecycle: { adopt: "1a2c3d51-97c4-11f0-8a51-3d2c9b7f6e10" }';
    expect(exported).toContain(adopting);
    home.write('estate/alert_rules.yaml', exported.replace(adopting, ''));
    expect((await home.expect(0, ['plan'])).stderr).toContain('looks-renamed');
    home.write(
      'estate/alert_rules.yaml',
      exported.replace(adopting, 'lifecycle: { renamed_from: depot-doors }'),
    );
    expect(await counted(home, 0)).toEqual({ ...nothing, keep: 8 });
    await home.expect(0, ['apply', '--auto-approve']);
    expect((await home.expect(0, ['state', 'list'])).stdout).toContain('alert_rules.doors ');
    expect(home.read('.trueup/emulator.json')).toBe(before);
  });
});

describe('router configuration', () => {
  it('leaves alone what others do beside, heals what they do to ours, and sends a password once', async () => {
    const home = copyOf('router-configuration');
    const first = (await home.expect(3, ['plan'], { env })).stdout;
    expect(first).toMatch(/configuration\.0\.lan\.main\.mtu +1400 → 1500/);
    expect(first.trimEnd().split('\n').at(-1)).toBe(
      'BLOCKED by first-run. To allow it: --allow first-run',
    );
    await home.expect(0, ['apply', '--auto-approve', ...allowed], { env });
    const data = (): string => home.read('.trueup/emulator.json');
    const configured = (): string =>
      JSON.stringify(
        (JSON.parse(data()) as { readonly records: Readonly<Record<string, unknown>> }).records[
          'configuration_managers'
        ],
      );
    expect(configured()).not.toContain('temporary');
    home.write('.trueup/emulator.json', data().replaceAll('"timezone":"UTC"', '"timezone":"CET"'));
    await home.expect(0, ['drift', '--detailed-exitcode'], { env });
    home.write('.trueup/emulator.json', data().replaceAll('"mtu":1500', '"mtu":9000'));
    expect((await home.expect(2, ['drift', '--detailed-exitcode'], { env })).stdout).toMatch(
      /configuration\.0\.lan\.main\.mtu +1500 → 9000/,
    );
    await home.expect(0, ['apply', '--auto-approve'], { env });
    const rotated = { env: { ...env, ROUTER_PASSWORD: `${secret}-rotated` } };
    expect((await home.expect(2, ['plan', '--detailed-exitcode'], rotated)).stdout).toContain(
      '1 to update',
    );
    await home.expect(0, ['apply', '--auto-approve'], rotated);
    await home.expect(0, ['plan', '--detailed-exitcode'], rotated);
    expect(configured()).toContain('"timezone":"CET"');
    expect(data()).not.toContain(secret);
  });
});

describe('forty customers', () => {
  it('has a first plan that fits on two screens, and a small comment', async () => {
    const home = copyOf('forty-customers');
    const text = (await home.expect(0, ['plan'])).stdout;
    expect(text).toContain('Plan: 1 to create, 146 to adopt');
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
    const markdown = (await home.expect(0, ['plan', '--format', 'markdown'])).stdout;
    expect(markdown).toContain('146 to adopt');
    expect(Buffer.byteLength(markdown)).toBeLessThanOrEqual(8000);
  });

  it('shows the drift of one webhook and its effect on 60 rules in 15 lines, and accepts it', async () => {
    const home = copyOf('forty-customers');
    await home.expect(0, ['apply', '--auto-approve']);
    home.write(
      '.trueup/emulator.json',
      home
        .read('.trueup/emulator.json')
        .replace('"name":"On-call pager","enabled":true', '"name":"On-call pager","enabled":false'),
    );
    const { stdout } = await home.expect(2, ['drift', '--detailed-exitcode']);
    expect(stdout).toMatch(/^~ changed alert_push_destinations\.on-call-pager$/m);
    expect(stdout).toContain('on-call-pager is disabled, so 60 alert_rules do not work');
    expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(15);
    await home.expect(0, ['export', '--update']);
    expect((await home.expect(0, ['plan', '--detailed-exitcode'])).stdout).toContain('No changes.');
  });
});
