// `npm run release-files -- --out DIR`: everything that a release consists of, from the built `dist`: the npm package, its
// SBOM, the provider as Terraform registries take it, and checksums. One build gives the same bytes each time.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { zipSync } from 'fflate';

const root = fileURLToPath(new URL('..', import.meta.url));
const { out } = parseArgs({ options: { out: { type: 'string' } } }).values;
if (out === undefined) fail('Where to? Type: npm run release-files -- --out DIR');
const folder = resolve(process.env.INIT_CWD ?? '.', out);
mkdirSync(folder, { recursive: true });
if (readdirSync(folder).length > 0) fail(`${folder} is not empty: name a new folder.`);

const at = (...parts) => join(root, ...parts);
const { name, version, license } = JSON.parse(readFileSync(at('package.json'), 'utf8'));

function fail(message) {
  console.error(message);
  process.exit(1);
}

function npm(...args) {
  const { status, stdout, stderr, error } = spawnSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  if (status !== 0) fail(`npm ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}

const write = (file, data) => writeFileSync(join(folder, file), data);

/** What `npm` says of the installed packages; without the time and the random number of the run. */
function listed(...args) {
  const {
    serialNumber: _,
    metadata,
    ...bom
  } = JSON.parse(npm('sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', ...args));
  const { timestamp: __, ...lasting } = metadata;
  return { ...bom, metadata: lasting };
}

/** The dependencies of the package, and what the build put into `dist` beside them. */
function sbom() {
  const production = listed('--omit', 'dev');
  const licences = readFileSync(at('dist', 'third-party-licences.txt'), 'utf8');
  const bundled = new Set(
    [...licences.matchAll(/^(\S+) (\S+) \(.*\)$/gm)].map(([, one, of]) => `${one}@${of}`),
  );
  const { components, dependencies, metadata } = listed();
  const kept = new Set([...production.components.map((one) => one['bom-ref']), ...bundled]);
  const ref = metadata.component['bom-ref'];
  return {
    ...production,
    metadata: {
      ...metadata,
      component: { ...metadata.component, name, licenses: [{ license: { id: license } }] },
    },
    components: components
      .filter((one) => kept.has(one['bom-ref']))
      .map(({ properties: _, ...one }) => one),
    dependencies: dependencies
      .filter((one) => one.ref === ref || kept.has(one.ref))
      .map((one) => ({ ...one, dependsOn: one.dependsOn.filter((other) => kept.has(other)) })),
  };
}

const provider = `terraform-provider-devicecloud`;

/** Where Node 20 and Terraform run. Terraform on Windows starts .exe files only, and the provider is a script. */
const systems = ['darwin_amd64', 'darwin_arm64', 'linux_amd64', 'linux_arm', 'linux_arm64'];

/** The files that `trueup provider install` copies, under the same names: so both have one checksum in a lock file. */
function providerZip() {
  const mtime = new Date(1980, 0, 1);
  const entries = [
    [`${provider}.cjs`, 0o755],
    ['provider.cjs', 0o644],
    ['third-party-licences.txt', 0o644],
  ].map(([file, mode]) => [
    file,
    [readFileSync(at('dist', file)), { os: 3, attrs: (0o100000 | mode) << 16, mtime }],
  ]);
  return zipSync(Object.fromEntries(entries), { level: 9 });
}

/** In the form that `sha256sum --check` reads. */
const sums = (files) =>
  files
    .toSorted()
    .map((file) => {
      const hash = createHash('sha256').update(readFileSync(join(folder, file)));
      return `${hash.digest('hex')}  ${file}\n`;
    })
    .join('');

npm('pack', '--ignore-scripts', '--pack-destination', folder);
write(`${name}-${version}.cdx.json`, `${JSON.stringify(sbom(), null, 2)}\n`);
const zip = providerZip();
for (const system of systems) write(`${provider}_${version}_${system}.zip`, zip);
write(
  `${provider}_${version}_manifest.json`,
  readFileSync(at(provider, 'terraform-registry-manifest.json')),
);
const registry = readdirSync(folder).filter((file) => file.startsWith(provider));
write(`${provider}_${version}_SHA256SUMS`, sums(registry));
write('SHA256SUMS', sums(readdirSync(folder)));
process.stdout.write(readFileSync(join(folder, 'SHA256SUMS'), 'utf8'));
