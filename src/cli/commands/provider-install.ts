// `trueup provider install`: puts the provider where Terraform and OpenTofu look for it, without any registry. An
// earlier installation is upgraded in place; a file that trueup did not write is never overwritten.
import { createHash } from 'node:crypto';
import { chmod, copyFile, readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { append, compareText, exits, refuse, shellWord } from '../../model/index.js';
import { ifThere } from '../../state/disk-errors.js';
import type { Command, Context } from '../context.js';
import { version } from '../version.js';

const EXECUTABLE = 'terraform-provider-devicecloud.cjs';
/** The script and its licences; the executable that starts it is written last, when all of it is there. */
const PARTS = ['provider.cjs', 'third-party-licences.txt', EXECUTABLE];
/** The first bytes of every provider executable of trueup, of any version. */
const OURS = "#!/usr/bin/env node\n'use strict';\n// Written by scripts/build.mjs.\n";
const SOURCE = 'trueup/devicecloud';
const TOOLS = [
  { tool: 'terraform', host: 'registry.terraform.io' },
  { tool: 'tofu', host: 'registry.opentofu.org' },
];
/** The systems on which Node 20, Terraform and OpenTofu run. Files and checksum are the same for all. */
const SYSTEMS = ['darwin_amd64', 'darwin_arm64', 'linux_amd64', 'linux_arm', 'linux_arm64'];

export const run: Command = async (context) => {
  if (context.system.platform === 'win32')
    refuse(
      'unsupported-system',
      'Terraform on Windows starts .exe files only, and the provider is a script.',
      { detail: 'Use it in WSL, or in a container.' },
    );
  if (context.flags.dev && context.flags.user)
    refuse('usage', '--user and --dev cannot be used together: --dev copies nothing.');
  await (context.flags.dev ? override(context) : mirror(context));
  return exits.done;
};

/** Names the built provider in a configuration of Terraform's own: nothing is copied, and no `terraform init` is needed. */
async function override(context: Context): Promise<void> {
  const { cwd, files, out, err, home } = context;
  const file = join(cwd, 'devicecloud.tfrc');
  const text = `provider_installation {\n  dev_overrides {\n    "${SOURCE}" = ${JSON.stringify(home())}\n  }\n  direct {}\n}\n`;
  const there = await ifThere(files.read(file));
  if (there !== undefined && there !== text) foreign(file);
  if (there === undefined) await files.create(file, text, 0o644);
  out.write(`${there === undefined ? 'wrote' : 'already exists:'} ${relative(cwd, file)}\n`);
  err.write(
    `Next, in this shell, without terraform init:\n  export TF_CLI_CONFIG_FILE=${shellWord(file)}\n  terraform plan     # or: tofu plan\n`,
  );
}

type Parts = ReadonlyMap<string, Buffer>;

/** One version of the provider in a filesystem mirror, which is looked into before any registry is asked. */
async function mirror(context: Context): Promise<void> {
  const { cwd, environment, err, flags, out } = context;
  const user =
    environment['HOME'] ??
    (flags.user ? refuse('no-home', 'HOME is not set, so there is no folder of the user.') : '');
  const root = flags.user ? join(user, '.terraform.d', 'plugins') : join('terraform.d', 'plugins');
  const own = systemOf(context);
  const systems = flags.user ? [own] : [...new Set([...SYSTEMS, own])].toSorted();
  const versions = TOOLS.map(({ host }) => join(root, host, SOURCE));
  const parts = await partsOf(context);
  const packages = versions.flatMap((folder) =>
    systems.map((system) => resolve(cwd, folder, version, system)),
  );
  for (const folder of packages) {
    const executable = join(folder, EXECUTABLE);
    const there = await tryBytes(executable);
    if (there && !there.toString('latin1').startsWith(OURS)) foreign(executable);
  }
  let replaced = false;
  for (const folder of versions) {
    const done: string[] = [];
    for (const system of systems)
      done.push(await write(context, resolve(cwd, folder, version, system), parts));
    replaced ||= done.includes('replaced');
    const verb = ['replaced', 'wrote'].find((one) => done.includes(one)) ?? 'already exists:';
    out.write(`${verb} ${join(folder, version)} for ${systems.join(', ')}\n`);
  }
  await tellOtherVersions(context, versions);
  const config = environment['TF_CLI_CONFIG_FILE'] ?? join(user, '.terraformrc');
  // Terraform itself reports a file that cannot be read.
  if (/^\s*provider_installation\b/m.test(await context.files.read(config).catch(() => '')))
    err.write(
      `${config} has a provider_installation block, so this folder is only looked into where a filesystem_mirror there names it.\n`,
    );
  await tellNext(context, root, checksumOf(parts), replaced);
}

/** The files of a package, by name. @throws Refusal if it was not built */
async function partsOf({ home }: Context): Promise<Parts> {
  const parts = new Map<string, Buffer>();
  for (const part of PARTS) {
    const path = join(home(), part);
    const bytes = await tryBytes(path);
    if (!bytes)
      refuse('not-built', `${path} is missing.`, {
        detail: 'Install trueup again, or type in its sources: npm run build',
      });
    parts.set(part, bytes);
  }
  return parts;
}

/** Each part complete or not at all; until then under a name that Terraform does not take for a provider. */
async function write(
  { files, home, random }: Context,
  folder: string,
  parts: Parts,
): Promise<'replaced' | 'wrote' | 'same'> {
  await files.makeFolder(folder);
  let done: 'replaced' | 'wrote' | 'same' = 'same';
  for (const [part, ours] of parts) {
    const there = await tryBytes(join(folder, part));
    if (there?.equals(ours)) continue;
    if (done !== 'replaced') done = there ? 'replaced' : 'wrote';
    const unfinished = join(folder, `.${random.uuid()}.tmp`);
    await copyFile(join(home(), part), unfinished);
    await chmod(unfinished, part === EXECUTABLE ? 0o755 : 0o644);
    await files.rename(unfinished, join(folder, part));
  }
  return done;
}

/** They stay: a configuration elsewhere may be locked to one of them. */
async function tellOtherVersions(
  { cwd, err, files }: Context,
  folders: readonly string[],
): Promise<void> {
  const others = new Map<string, string[]>();
  for (const folder of folders)
    for (const name of await files.list(resolve(cwd, folder)))
      if (name !== version && /^\d+\.\d+\.\d+[\w.+-]*$/.test(name))
        append(others, name, shellWord(join(folder, name)));
  for (const [name, paths] of others)
    err.write(
      `Version ${name} stays, for configurations that are locked to it. To remove it: rm -r ${paths.join(' ')}\n`,
    );
}

/** The next command, which depends on the version and the checksum in the lock file of this folder. */
async function tellNext(
  { cwd, err, files }: Context,
  root: string,
  checksum: string,
  replaced: boolean,
): Promise<void> {
  const locked = await files.read(join(cwd, '.terraform.lock.hcl')).catch(() => '');
  const relock = (tool: string): string =>
    `${tool} providers lock -fs-mirror=${shellWord(root)} ${SOURCE}`;
  const typed = TOOLS.flatMap(({ tool, host }) => {
    const block = `^provider "${host}/${SOURCE}" \\{\\s*version\\s*=\\s*"([\\w.+-]*)"[^]*?^\\}`;
    const [entry, other] = new RegExp(block, 'm').exec(locked) ?? [];
    if (entry === undefined) return [];
    if (other !== version)
      return [`${tool} init -upgrade     # .terraform.lock.hcl has version ${other}`];
    const locks = `${relock(tool)}     # .terraform.lock.hcl has another checksum`;
    return entry.includes(checksum) ? [`${tool} init`] : [locks, `${tool} init`];
  });
  const init = typed.length > 0 ? typed : ['terraform init     # or: tofu init'];
  err.write(
    `Next, where a .tf file says\n  terraform {\n    required_providers {\n      devicecloud = { source = "${SOURCE}", version = "${version}" }\n    }\n  }\n`,
  );
  err.write(`type\n${init.map((line) => `  ${line}\n`).join('')}  terraform plan\n`);
  if (replaced && typed.length === 0)
    err.write(
      `Where a .terraform.lock.hcl has the checksum of what was replaced, type there first:\n  ${relock('terraform')}\n`,
    );
}

/** Terraform's checksum of a package (`h1:`): a hash over the names and hashes of its files. */
function checksumOf(parts: Parts): string {
  const sha256 = (data: Buffer | string, encoding: 'hex' | 'base64'): string =>
    createHash('sha256').update(data).digest(encoding);
  const files = [...parts].toSorted(([a], [b]) => compareText(a, b));
  return `h1:${sha256(files.map(([part, bytes]) => `${sha256(bytes, 'hex')}  ${part}\n`).join(''), 'base64')}`;
}

const tryBytes = (path: string): Promise<Buffer | undefined> => ifThere(readFile(path));

const foreign = (path: string): never =>
  refuse('exists', `${path} already exists, and trueup did not write it: nothing was changed.`, {
    detail: `To replace it, first type: rm ${shellWord(path)}`,
  });

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** The system in the words of Terraform's folders. */
const systemOf = ({ system: { platform, arch } }: Context): string =>
  `${platform}_${architectures[arch] ?? arch}`;
