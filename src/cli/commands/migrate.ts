// `trueup migrate`: changes a cdktf project to cdktn, and runs it before and after to prove that its stacks are the
// same. If that cannot be proved, the changes are undone, or wait for `--check` until the packages are installed.
import { createRequire } from 'node:module';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { exits, refuse, pathWord, type Exit } from '../../model/index.js';
import { ifThere } from '../../state/disk-errors.js';
import { agrees, notApproved, type Command, type Context } from '../context.js';
import {
  boundToCdktf,
  changedLines,
  jsonDifferences,
  migratedPackage,
  migratedSource,
  outputOf,
  type SynthOutput,
} from '../cdktn-migration.js';
import { programIn, synthesisedOnce, type Program } from '../cdk-program.js';

interface Change {
  /** Absolute. */
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly mode: number;
}

export const run: Command = async (context, [place = '.']) => {
  const program = await programIn(context, resolve(context.cwd, place));
  return (context.flags.check ? checkAgain : migrate)(context, program, place);
};

async function migrate(context: Context, program: Program, place: string): Promise<Exit> {
  const { flags, out, err, cwd, files, interactive } = context;
  const { changes, links } = await changesIn(program.folder);
  if (links.length > 0)
    err.write(
      `Links are not followed, and what they lead to stays as it is:\n${links.map((path) => `  ${relative(cwd, path)}\n`).join('')}`,
    );
  if (changes.length === 0) {
    out.write('Nothing names cdktf: there is nothing to change.\n');
    return exits.done;
  }
  for (const { path, before, after } of changes)
    for (const one of changedLines(before, after))
      out.write(`${relative(cwd, path)}:${one.line}\n  - ${one.before}\n  + ${one.after}\n`);
  if (!flags.autoApprove && !interactive)
    notApproved(`To do it without confirmation: ${again(place)} --auto-approve`);
  if (!flags.autoApprove && !(await agrees(context, '\nChange these lines?'))) {
    err.write('Nothing was changed.\n');
    return exits.error;
  }
  const before = await outputNow(context, program);
  const waits = !isInstalled(program.folder);
  if (waits) {
    await files.makeFolder(join(program.folder, '.trueup'));
    await files.replace(earlierOutputFile(program), JSON.stringify(before), 0o600);
  }
  await writeAll(context, changes);
  out.write(
    waits
      ? `Changed. cdktn is not installed here yet, so that nothing is proved. Type: npm install\nand then: ${again(place)} --check\n`
      : await proof(context, program, before).catch(async (error: unknown) => {
          await putBack(context, changes);
          throw error;
        }),
  );
  return exits.done;
}

const again = (place: string): string =>
  `trueup migrate${place === '.' ? '' : ` ${pathWord(place)}`}`;

const SOURCE = /\.[cm]?[jt]s$/;
const LEFT_OUT = new Set(['node_modules', 'cdktf.out']);

/** All of the changes, or none: every text is on the disk before the first one gets its name. */
async function writeAll(context: Context, changes: readonly Change[]): Promise<void> {
  const { files, random } = context;
  const written = new Map<Change, string>();
  const named: Change[] = [];
  try {
    for (const change of changes) {
      const beside = `${change.path}.${random.uuid()}.tmp`;
      await files.replace(beside, change.after, change.mode);
      written.set(change, beside);
    }
    for (const [change, beside] of written) {
      await files.rename(beside, change.path);
      named.push(change);
      written.delete(change);
    }
  } catch (error) {
    for (const beside of written.values()) await files.remove(beside).catch(() => undefined);
    await putBack(context, named);
    throw error;
  }
}

async function putBack({ files, err, cwd }: Context, changes: readonly Change[]): Promise<void> {
  const lost: string[] = [];
  for (const { path, before, mode } of changes)
    await files.replace(path, before, mode).catch(() => void lost.push(relative(cwd, path)));
  err.write(
    lost.length === 0
      ? 'Everything was put back.\n'
      : `These could not be restored, and still use cdktn: ${lost.join(', ')}\n`,
  );
}

interface Found {
  readonly changes: readonly Change[];
  /** Those that may lead to sources. */
  readonly links: readonly string[];
}

/** Every text of the project that names cdktf. Generated bindings (`.gen`) are part of it, other dot folders are not. */
async function changesIn(folder: string): Promise<Found> {
  const changes: Change[] = [];
  const links: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const { name } = entry;
    const path = join(folder, name);
    const isEntered = !LEFT_OUT.has(name) && (!name.startsWith('.') || name === '.gen');
    const isSource = SOURCE.test(name) || name === 'package.json';
    if (entry.isDirectory() && isEntered) {
      const inner = await changesIn(path);
      changes.push(...inner.changes);
      links.push(...inner.links);
    } else if (entry.isFile() && isSource) changes.push(...(await changeOf(path)));
    else if (entry.isSymbolicLink() && (isSource || (isEntered && (await isFolder(path)))))
      links.push(path);
  }
  return { changes, links };
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (about) => about.isDirectory(),
    () => false,
  );

async function changeOf(path: string): Promise<readonly Change[]> {
  const bytes = await readFile(path);
  const before = bytes.toString('utf8');
  const isPackage = basename(path) === 'package.json';
  const bound = isPackage ? boundToCdktf(before) : [];
  if (bound.length > 0)
    refuse(
      'bound-to-cdktf',
      `${path} depends on ${bound.join(' and ')}, whose classes crash beside cdktn.`,
      {
        detail: 'Replace them first: by bindings of the same providers that were made for cdktn.',
      },
    );
  const after = isPackage ? migratedPackage(before) : migratedSource(before);
  if (after === before) return [];
  if (!bytes.equals(Buffer.from(before, 'utf8')))
    refuse('not-utf8', `${path} is not UTF-8, and would not stay as it is.`, {
      detail: 'Save it as UTF-8 first.',
    });
  return [{ path, before, after, mode: (await stat(path)).mode & 0o777 }];
}

/** The output of the program as it stands. @throws Refusal where it fails */
async function outputNow(context: Context, program: Program): Promise<SynthOutput> {
  const { output, written, discard } = await synthesisedOnce(context, program);
  try {
    return await outputOf(written, (path) => readFile(join(output, path), 'utf8'));
  } finally {
    await discard();
  }
}

function isInstalled(folder: string): boolean {
  try {
    createRequire(join(folder, 'package.json')).resolve('cdktn');
    return true;
  } catch {
    return false;
  }
}

/** The file that keeps the earlier output until the program can be run again. */
const earlierOutputFile = ({ folder }: Program): string =>
  join(folder, '.trueup', 'migration.json');

/** The message for a program whose output is the same with cdktn. @throws Refusal where it is not */
async function proof(context: Context, program: Program, before: SynthOutput): Promise<string> {
  const after = await outputNow(context, program);
  // A run with the same library proves nothing.
  const found =
    before.version === after.version
      ? [`the program still runs version ${after.version}: does it run what was compiled before?`]
      : jsonDifferences(before.stacks, after.stacks);
  if (found.length > 0)
    refuse('not-the-same', 'The program does not say the same with cdktn.', {
      detail: found.join('\n'),
    });
  return `Proved: the program writes the same (${Object.keys(after.stacks).join(', ')}), but for the version: ${before.version} before, ${after.version} now.\n`;
}

async function checkAgain(context: Context, program: Program, place: string): Promise<Exit> {
  const text = await ifThere(context.files.read(earlierOutputFile(program)));
  if (text === undefined)
    refuse('nothing-to-check', 'There is no migration to check here.', {
      detail: `To begin one: ${again(place)}`,
    });
  if (!isInstalled(program.folder))
    refuse('not-installed', 'cdktn is not installed here.', { detail: 'Type: npm install' });
  const before: SynthOutput = JSON.parse(text);
  const said = await proof(context, program, before);
  await context.files.remove(earlierOutputFile(program));
  context.out.write(said);
  return exits.done;
}
