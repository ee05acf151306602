// The provider as a registry hands it out: terraform installs the zip of a release from a mirror, and accepts every
// example of the provider's pages.
import { execFileSync } from 'node:child_process';
import { mkdirSync, copyFileSync, readFileSync, readdirSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folder } from '../support/cli.js';
import { terraformIsHere, workspace } from '../support/terraform.js';

const root = join(import.meta.dirname, '../..');
const pages = join(root, 'terraform-provider-devicecloud/docs');
const read = (path: string): string => readFileSync(path, 'utf8');
const { version } = JSON.parse(read(join(root, 'package.json'))) as { version: string };

/** The example of every page, by the name of a file; that of the first page names the provider. */
const examples = Object.fromEntries(
  readdirSync(pages, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => {
      const blocks = [...read(join(pages, name)).matchAll(/^```terraform\n(.*?)^```$/gms)];
      const file = name === 'index.md' ? 'terraform' : name.replaceAll(/\.md$|[/\\]/g, '-');
      return [`${file}.tf`, blocks.map(([, text]) => text).join('\n')];
    }),
);

describe.runIf(terraformIsHere('the provider of a release', 1))('the provider of a release', () => {
  it('is installed from its zip, and takes the examples of its pages', async () => {
    const home = folder();
    const files = join(home.path, 'files');
    execFileSync(process.execPath, ['scripts/release-files.mjs', '--out', files], { cwd: root });
    // Terraform unpacks it, as it does with what a registry sends.
    const mirror = join(home.path, 'mirror');
    const place = join(mirror, 'registry.terraform.io/trueup/devicecloud');
    mkdirSync(place, { recursive: true });
    const system = `${platform()}_${arch() === 'x64' ? 'amd64' : arch()}`;
    const zip = `terraform-provider-devicecloud_${version}_${system}.zip`;
    copyFileSync(join(files, zip), join(place, zip));

    const { folder: project, write, run } = workspace('');
    write({
      ...examples,
      'cli.tfrc': `provider_installation {\n  filesystem_mirror {\n    path = ${JSON.stringify(mirror)}\n  }\n}\n`,
    });
    expect(Object.keys(examples).length).toBeGreaterThan(10);
    expect(await run('fmt', '-check', '-diff')).toMatchObject({ status: 0, stdout: '' });
    expect(await run('init', '-input=false')).toMatchObject({ status: 0, stderr: '' });
    expect(await run('validate')).toMatchObject({ status: 0, stderr: '' });

    // The lock file of the zip serves what `provider install` copies: it is one package.
    home.write('.terraform.lock.hcl', read(join(project, '.terraform.lock.hcl')));
    const { stderr } = await home.expect(0, ['provider', 'install']);
    expect(stderr).toContain('type\n  terraform init\n  terraform plan\n');
  });
});
