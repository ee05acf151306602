// `trueup provider install`: puts the provider where Terraform and OpenTofu look for it, without any registry. What is
// there already and is not the same is never overwritten.
import { chmod, copyFile, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { exits, refuse } from '../../model/index.js';
import { shellWord } from '../../state/trouble.js';
import type { Command, Context } from '../context.js';
import { version } from '../version.js';

/** The executable, the script that it starts, and the licences of what is bundled there. */
const EXECUTABLE = 'terraform-provider-devicecloud.cjs';
const PARTS = [EXECUTABLE, 'provider.cjs', 'third-party-licences.txt'];
/** The code that was made of the script. Not every build has it, and without it the provider only starts later. */
const COMPILED = 'provider.cache';
const SOURCE = 'trueup/devicecloud';
const HOSTS = ['registry.terraform.io', 'registry.opentofu.org'];

export const run: Command = async (context) => {
  if (context.system.platform === 'win32')
    refuse('unsupported-system', 'Terraform on Windows starts .exe files only, and the provider is a script.', { detail: 'Use it in WSL, or in a container.' });
  if (context.flags.dev && context.flags.user) refuse('usage', '--user and --dev exclude one another: --dev copies nothing.');
  await (context.flags.dev ? override(context) : mirror(context));
  return exits.done;
};

/** Names the built provider in a configuration of Terraform's own: nothing is copied, and no `terraform init` is needed. */
async function override(context: Context): Promise<void> {
  const { cwd, files, out, err, home } = context;
  const file = join(cwd, 'devicecloud.tfrc');
  const text = `provider_installation {\n  dev_overrides {\n    "${SOURCE}" = ${JSON.stringify(home())}\n  }\n  direct {}\n}\n`;
  const there = await context.files.read(file).catch(absent);
  if (there !== undefined && there !== text) foreign(file);
  if (there === undefined) await files.create(file, text, 0o644);
  out.write(`${there === undefined ? 'wrote' : 'is there already:'} ${relative(cwd, file)}\n`);
  err.write(`Next, in this shell, without terraform init:\n  export TF_CLI_CONFIG_FILE=${shellWord(file)}\n  terraform plan     # or: tofu plan\n`);
}

/** One version of the provider in a filesystem mirror, which is looked into before any registry is asked. */
async function mirror(context: Context): Promise<void> {
  const { cwd, environment, err, flags, out } = context;
  const user = environment['HOME'] ?? (flags.user ? refuse('no-home', 'HOME is not set, so there is no folder of the user.') : '');
  const root = flags.user ? join(user, '.terraform.d', 'plugins') : join(cwd, 'terraform.d', 'plugins');
  const folders = HOSTS.map((host) => join(root, host, SOURCE, version, systemOf(context)));
  const missing = (await Promise.all(folders.flatMap((folder) => [...PARTS, COMPILED].map((part) => missingPart(context, folder, part))))).flat();
  for (const { folder, part } of missing) await copy(context, folder, part);
  for (const folder of folders)
    out.write(
      `${missing.some((one) => one.folder === folder) ? 'wrote' : 'is there already:'} ${flags.user ? join(folder, EXECUTABLE) : relative(cwd, join(folder, EXECUTABLE))}\n`,
    );
  const config = environment['TF_CLI_CONFIG_FILE'] ?? join(user, '.terraformrc');
  // What cannot be read there is terraform's to complain of.
  if (/^\s*provider_installation\b/m.test(await context.files.read(config).catch(() => '')))
    err.write(`${config} has a provider_installation block, so this folder is only looked into where a filesystem_mirror there names it.\n`);
  err.write(`Next, where a .tf file says\n  terraform {\n    required_providers {\n      devicecloud = { source = "${SOURCE}", version = "${version}" }\n    }\n  }\n`);
  err.write('type\n  terraform init     # or: tofu init\n  terraform plan\n');
}

interface Part {
  readonly folder: string;
  readonly part: string;
}

/** Nothing where the same is there. @throws Refusal where something else is */
async function missingPart(context: Context, folder: string, part: string): Promise<readonly Part[]> {
  const [there, ours] = await Promise.all([tryBytes(join(folder, part)), tryBytes(join(context.home(), part))]);
  if (ours === undefined && part === COMPILED) return [];
  if (ours === undefined) return refuse('not-built', `${join(context.home(), part)} is missing.`, { detail: 'Install trueup again, or type in its sources: npm run build' });
  if (there !== undefined && !there.equals(ours)) foreign(join(folder, part));
  return there === undefined ? [{ folder, part }] : [];
}

/** Under its name complete or not at all; until then under one that Terraform does not take for a provider. */
async function copy({ files, home, random }: Context, folder: string, part: string): Promise<void> {
  await files.makeFolder(folder);
  const unfinished = join(folder, `.${random.uuid()}.tmp`);
  await copyFile(join(home(), part), unfinished);
  await chmod(unfinished, part === EXECUTABLE ? 0o755 : 0o644);
  await files.rename(unfinished, join(folder, part));
}

const tryBytes = async (path: string): Promise<Buffer | undefined> => readFile(path).catch(absent);

function absent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

function foreign(path: string): never {
  return refuse('exists', `${path} is there already and is another one, and nothing is overwritten.`, { detail: `To have this one instead, first type: rm ${shellWord(path)}` });
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** The system in the words of Terraform's folders. */
const systemOf = ({ system: { platform, arch } }: Context): string => `${platform}_${architectures[arch] ?? arch}`;
