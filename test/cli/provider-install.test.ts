// The provider where Terraform and OpenTofu look for it: the real terraform finds it there, and nothing foreign is lost.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { terraformIn } from '../support/installed.js';
import { terraformIsHere } from '../support/terraform.js';
import { folder, type Folder } from './run.js';

const { version } = manifest;
const root = join(import.meta.dirname, '../..');
const system = `${process.platform}_${({ x64: 'amd64', ia32: '386' } as Readonly<Record<string, string>>)[process.arch] ?? process.arch}`;
const packageOf = (host: string): string => `registry.${host}/trueup/devicecloud/${version}/${system}`;
const EXECUTABLE = 'terraform-provider-devicecloud.cjs';

const configuration = `terraform {\n  required_providers {\n    devicecloud = { source = "trueup/devicecloud", version = "${version}" }\n  }\n}\n`;
const at = (home: Folder, path: string): string => readFileSync(join(home.path, path), 'latin1');

describe('provider install', () => {
  it('fills a mirror of the folder, for both tools', async () => {
    const home = folder();
    const { stdout, stderr } = await home.expect(0, ['provider', 'install']);
    for (const host of ['terraform.io', 'opentofu.org']) {
      const path = `terraform.d/plugins/${packageOf(host)}`;
      expect(stdout).toContain(`wrote ${path}/${EXECUTABLE}\n`);
      expect(readdirSync(join(home.path, path)).toSorted()).toEqual(['provider.cache', 'provider.cjs', EXECUTABLE, 'third-party-licences.txt']);
      expect(at(home, `${path}/${EXECUTABLE}`)).toBe(readFileSync(join(root, 'dist', EXECUTABLE), 'latin1'));
      expect(statSync(join(home.path, path, EXECUTABLE)).mode & 0o111).toBe(0o111);
    }
    expect(stderr).toContain('terraform init');
  });

  it('is content with what is the same, and overwrites nothing that is not', async () => {
    const home = folder();
    await home.expect(0, ['provider', 'install']);
    const again = await home.expect(0, ['provider', 'install']);
    expect(again.stdout).toContain(`is there already: terraform.d/plugins/${packageOf('terraform.io')}/${EXECUTABLE}\n`);
    const path = `terraform.d/plugins/${packageOf('opentofu.org')}/${EXECUTABLE}`;
    home.write(path, 'somebody else’s');
    const refused = await home.expect(1, ['provider', 'install']);
    expect(refused.stderr).toContain('[exists]');
    expect(refused.stderr).toContain('rm ');
    expect(home.read(path)).toBe('somebody else’s');
  });

  it('serves every folder of a user, and says where a configuration of terraform keeps it from being seen', async () => {
    const home = folder({ 'home/.terraformrc': 'provider_installation {\n  direct {}\n}\n' });
    const { stderr } = await home.expect(0, ['provider', 'install', '--user'], { env: { HOME: join(home.path, 'home') } });
    expect(readdirSync(join(home.path, 'home/.terraform.d/plugins', packageOf('terraform.io')))).toContain(EXECUTABLE);
    expect(readdirSync(home.path)).toEqual(['home']);
    expect(stderr).toContain('provider_installation');
    const lost = await home.expect(1, ['provider', 'install', '--user']);
    expect(lost.stderr).toContain('HOME is not set');
  });

  it.each(['/dev/null', '.', 'none'])('says what comes next where the configuration of terraform is %s', async (config) => {
    const { stderr } = await folder().expect(0, ['provider', 'install'], { env: { TF_CLI_CONFIG_FILE: config } });
    expect(stderr).toMatch(/^Next, [^]*terraform init/);
  });

  it('names the built provider for those who build it, without init', async () => {
    const home = folder();
    await home.expect(0, ['provider', 'install', '--dev']);
    expect(home.read('devicecloud.tfrc')).toContain(JSON.stringify(join(root, 'dist')));
    expect((await home.expect(0, ['provider', 'install', '--dev'])).stdout).toBe('is there already: devicecloud.tfrc\n');
    home.write('devicecloud.tfrc', 'mine');
    expect((await home.expect(1, ['provider', 'install', '--dev'])).stderr).toContain('[exists]');
    expect(home.read('devicecloud.tfrc')).toBe('mine');
    expect((await home.expect(1, ['provider', 'install', '--dev', '--user'])).stderr).toContain('exclude one another');
  });
});

describe.runIf(terraformIsHere('what provider install did', 2))('what provider install did', () => {
  it('gives terraform init a provider, whatever package lies around it', async () => {
    const home = folder({ 'main.tf': configuration, 'package.json': '{"type":"module"}', 'none.tfrc': '' });
    await home.expect(0, ['provider', 'install']);
    const terraform = await terraformIn(home, '.', { TF_CLI_CONFIG_FILE: join(home.path, 'none.tfrc') });
    expect(await terraform('init', '-input=false', '-no-color')).toMatchObject({ code: 0 });
    const schema = await terraform('providers', 'schema', '-json');
    expect(schema).toMatchObject({ code: 0 });
    expect(schema.said).toContain('devicecloud_alert_rule');
  });

  it('gives terraform one without init', async () => {
    const home = folder({ 'main.tf': configuration });
    const terraform = await terraformIn(home, '.', {});
    expect((await terraform('validate', '-no-color')).said).toContain('Success!');
  });
});

describe('the package', () => {
  it('holds the executable, and the licences of all that is bundled in it', () => {
    const [packed] = JSON.parse(execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--silent'], { cwd: root, encoding: 'utf8' })) as [
      { readonly files: readonly { readonly path: string; readonly mode: number }[] },
    ];
    expect(packed.files.find(({ path }) => path === `dist/${EXECUTABLE}`)?.mode).toBe(0o755);
    const noticed = readFileSync(join(root, 'dist/third-party-licences.txt'), 'utf8').matchAll(/^(\S+) [\d.]+ \(/gm);
    expect([...noticed].map(([, name]) => name)).toEqual(expect.arrayContaining(['@msgpack/msgpack', 'protobufjs', 'undici']));
  });
});
