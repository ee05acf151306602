// The provider where Terraform and OpenTofu look for it: the real terraform finds it there, and nothing foreign is lost.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { terraformIn } from '../support/installed.js';
import { terraformIsHere } from '../support/terraform.js';
import { folder, type Folder } from '../support/cli.js';

const { version } = manifest;
const root = join(import.meta.dirname, '../..');
const system = `${process.platform}_${({ x64: 'amd64', ia32: '386' } as Readonly<Record<string, string>>)[process.arch] ?? process.arch}`;
const systems = [
  ...new Set(['darwin_amd64', 'darwin_arm64', 'linux_amd64', 'linux_arm', 'linux_arm64', system]),
].toSorted();
const packageOf = (host: string, on = system, of = version): string =>
  `registry.${host}/trueup/devicecloud/${of}/${on}`;
const EXECUTABLE = 'terraform-provider-devicecloud.cjs';

const configuration = `terraform {\n  required_providers {\n    devicecloud = { source = "trueup/devicecloud", version = "${version}" }\n  }\n}\n`;
const at = (home: Folder, path: string): string => readFileSync(join(home.path, path), 'latin1');

/** What a person types next, as the command printed it. */
function printed(stderr: string): readonly string[] {
  const [, lines = ''] = /^type\n((?: {2}.*\n)+)/m.exec(stderr) ?? [];
  return lines
    .split('\n')
    .flatMap((line) =>
      /^ {2}terraform (?!plan)/.test(line) ? [line.replace(/ # .*/, '').trim()] : [],
    );
}

/** The built package once more, changed: its command. */
function build(home: Folder, name: string, as = version): string {
  const made = join(home.path, name);
  cpSync(join(root, 'dist'), made, { recursive: true });
  appendFileSync(join(made, 'provider.cjs'), `// ${name}\n`);
  const scripts = readdirSync(made, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.c?js$/.test(path),
  );
  for (const path of scripts) {
    const text = readFileSync(join(made, path), 'utf8');
    if (text.includes('name:"trueup",version:'))
      writeFileSync(
        join(made, path),
        text.replace(`name:"trueup",version:"${version}"`, `name:"trueup",version:"${as}"`),
      );
  }
  return join(made, 'trueup.cjs');
}

describe('provider install', () => {
  it('fills a mirror of the folder, for both tools and every system', async () => {
    const home = folder();
    const { stdout, stderr } = await home.expect(0, ['provider', 'install']);
    for (const host of ['terraform.io', 'opentofu.org']) {
      expect(stdout).toContain(
        `wrote terraform.d/plugins/registry.${host}/trueup/devicecloud/${version} for ${systems.join(', ')}\n`,
      );
      for (const one of systems) {
        const path = `terraform.d/plugins/${packageOf(host, one)}`;
        expect(readdirSync(join(home.path, path)).toSorted()).toEqual([
          'provider.cjs',
          EXECUTABLE,
          'third-party-licences.txt',
        ]);
        expect(at(home, `${path}/${EXECUTABLE}`)).toBe(
          readFileSync(join(root, 'dist', EXECUTABLE), 'latin1'),
        );
        expect(statSync(join(home.path, path, EXECUTABLE)).mode & 0o111).toBe(0o111);
      }
    }
    expect(stderr).toContain('terraform init');
  });

  it('is content with what is the same, completes what is not complete, and overwrites nothing that it did not write', async () => {
    const home = folder();
    await home.expect(0, ['provider', 'install']);
    const again = await home.expect(0, ['provider', 'install']);
    expect(again.stdout).toContain(
      `already exists: terraform.d/plugins/registry.terraform.io/trueup/devicecloud/${version} for `,
    );
    expect(again.stdout).not.toMatch(/^(?:wrote|replaced)/m);
    const path = `terraform.d/plugins/${packageOf('opentofu.org')}/${EXECUTABLE}`;
    rmSync(join(home.path, path));
    expect((await home.expect(0, ['provider', 'install'])).stdout).toMatch(
      /^already exists: .*terraform\.io.*\nwrote .*opentofu\.org/,
    );
    const part = `terraform.d/plugins/${packageOf('terraform.io')}/provider.cjs`;
    rmSync(join(home.path, part));
    home.write(path, 'somebody else’s');
    const refused = await home.expect(1, ['provider', 'install']);
    expect(refused.stderr).toContain('[exists]');
    expect(refused.stderr).toContain('rm ');
    expect(home.read(path)).toBe('somebody else’s');
    expect(existsSync(join(home.path, part))).toBe(false);
  });

  it('replaces another build of the same version, and leaves other versions, which it names', async () => {
    const home = folder();
    await home.expect(0, ['provider', 'install'], { script: build(home, 'earlier') });
    await home.expect(0, ['provider', 'install'], { script: build(home, 'newer', '7.0.0') });
    const { stdout, stderr } = await home.expect(0, ['provider', 'install']);
    expect(stdout.match(/^replaced /gm)).toHaveLength(2);
    for (const host of ['terraform.io', 'opentofu.org'])
      for (const one of systems)
        for (const part of ['provider.cjs', EXECUTABLE])
          expect(
            at(home, `terraform.d/plugins/${packageOf(host, one)}/${part}`) ===
              readFileSync(join(root, 'dist', part), 'latin1'),
          ).toBe(true);
    const kept = ['terraform.io', 'opentofu.org'].map(
      (host) => `terraform.d/plugins/registry.${host}/trueup/devicecloud/7.0.0`,
    );
    expect(stderr).toContain(
      `Version 7.0.0 stays, for configurations that are locked to it. To remove it: rm -r ${kept.join(' ')}\n`,
    );
    expect(stderr).toContain(
      'Where a .terraform.lock.hcl has the checksum of what was replaced, type there first:\n  terraform providers lock -fs-mirror=terraform.d/plugins ',
    );
  });

  it('serves every folder of a user, and says where a configuration of terraform keeps it from being seen', async () => {
    const home = folder({ 'home/.terraformrc': 'provider_installation {\n  direct {}\n}\n' });
    const { stderr } = await home.expect(0, ['provider', 'install', '--user'], {
      env: { HOME: join(home.path, 'home') },
    });
    expect(
      readdirSync(join(home.path, 'home/.terraform.d/plugins', packageOf('terraform.io'))),
    ).toContain(EXECUTABLE);
    expect(readdirSync(home.path)).toEqual(['home']);
    expect(stderr).toContain('provider_installation');
    const lost = await home.expect(1, ['provider', 'install', '--user']);
    expect(lost.stderr).toContain('HOME is not set');
  });

  it.each(['/dev/null', '.', 'none'])(
    'says what comes next where the configuration of terraform is %s',
    async (config) => {
      const { stderr } = await folder().expect(0, ['provider', 'install'], {
        env: { TF_CLI_CONFIG_FILE: config },
      });
      expect(stderr).toMatch(/^Next, [^]*terraform init/);
    },
  );

  it('names the built provider for those who build it, without init', async () => {
    const home = folder();
    await home.expect(0, ['provider', 'install', '--dev']);
    expect(home.read('devicecloud.tfrc')).toContain(JSON.stringify(join(root, 'dist')));
    expect((await home.expect(0, ['provider', 'install', '--dev'])).stdout).toBe(
      'already exists: devicecloud.tfrc\n',
    );
    home.write('devicecloud.tfrc', 'mine');
    expect((await home.expect(1, ['provider', 'install', '--dev'])).stderr).toContain('[exists]');
    expect(home.read('devicecloud.tfrc')).toBe('mine');
    expect((await home.expect(1, ['provider', 'install', '--dev', '--user'])).stderr).toContain(
      'cannot be used together',
    );
  });
});

describe.runIf(terraformIsHere('what provider install did', 5))('what provider install did', () => {
  it('gives terraform init a provider, whatever package lies around it', async () => {
    const home = folder({
      'main.tf': configuration,
      'package.json': '{"type":"module"}',
      'none.tfrc': '',
    });
    await home.expect(0, ['provider', 'install']);
    const terraform = await terraformIn(home, '.', {
      TF_CLI_CONFIG_FILE: join(home.path, 'none.tfrc'),
    });
    expect(await terraform('init', '-input=false', '-no-color')).toMatchObject({ code: 0 });
    const schema = await terraform('providers', 'schema', '-json');
    expect(schema).toMatchObject({ code: 0 });
    expect(schema.said).toContain('devicecloud_alert_rule');
  });

  it.each([
    ['the same again', () => undefined, ['terraform init']],
    [
      'another build of the same version',
      (home: Folder) => build(home, 'other'),
      [
        'terraform providers lock -fs-mirror=terraform.d/plugins trueup/devicecloud',
        'terraform init',
      ],
    ],
    [
      'another version',
      (home: Folder) => build(home, 'other', '0.2.0'),
      ['terraform init -upgrade'],
    ],
  ] as const)(
    'after %s, what it tells to type makes terraform work',
    async (what, other, commands) => {
      const home = folder({
        'main.tf': configuration.replace(/, version = .*"/, ''),
        'none.tfrc': '',
      });
      await home.expect(0, ['provider', 'install']);
      const terraform = await terraformIn(home, '.', {
        TF_CLI_CONFIG_FILE: join(home.path, 'none.tfrc'),
      });
      expect(await terraform('init', '-input=false', '-no-color')).toMatchObject({ code: 0 });
      const script = other(home);
      const { stderr } = await home.expect(
        0,
        ['provider', 'install'],
        script === undefined ? {} : { script },
      );
      expect(printed(stderr)).toEqual(commands);
      for (const command of printed(stderr))
        expect(await terraform(...command.split(' ').slice(1), '-no-color')).toMatchObject({
          code: 0,
        });
      expect(await terraform('validate', '-no-color')).toMatchObject({ code: 0 });
      const installed = readFileSync(join(home.path, '.terraform.lock.hcl'), 'utf8');
      expect(installed).toContain(`"${what === 'another version' ? '0.2.0' : version}"`);
      // The checksum is now known: nothing but init is left to type.
      expect(
        printed(
          (await home.expect(0, ['provider', 'install'], script === undefined ? {} : { script }))
            .stderr,
        ),
      ).toEqual(['terraform init']);
    },
  );

  it('gives terraform one without init', async () => {
    const home = folder({ 'main.tf': configuration });
    const terraform = await terraformIn(home, '.', {});
    expect((await terraform('validate', '-no-color')).said).toContain('Success!');
  });
});

describe('the package', () => {
  it('holds the executable, and the licences of all that is bundled in it', () => {
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--silent'], {
        cwd: root,
        encoding: 'utf8',
      }),
    ) as [{ readonly files: readonly { readonly path: string; readonly mode: number }[] }];
    expect(packed.files.find(({ path }) => path === `dist/${EXECUTABLE}`)?.mode).toBe(0o755);
    const noticed = readFileSync(join(root, 'dist/third-party-licences.txt'), 'utf8').matchAll(
      /^(\S+) [\d.]+ \(/gm,
    );
    expect([...noticed].map(([, name]) => name)).toEqual(
      expect.arrayContaining(['@msgpack/msgpack', 'protobufjs', 'undici']),
    );
  });
});
