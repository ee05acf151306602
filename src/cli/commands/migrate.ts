// `trueup migrate`: changes a cdktf project to cdktn, and proves by running it before and after that it still says
// the same. What cannot be proved is put back, or waits for `--check` until the packages are there.
import { createRequire } from 'node:module';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { exits, refuse, type Exit, type Json } from '../../model/index.js';
import { ifThere, shellWord } from '../../state/trouble.js';
import type { Command, Context } from '../context.js';
import { boundToCdktf, changedLines, differences, migratedPackage, migratedSource, outputOf, type Output } from '../migration.js';
import { programIn, synthesise, type Program } from '../synthesis.js';

interface Change {
  /** Absolute. */
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly mode: number;
}

export const run: Command = async (context, [place = '.']) => {
  const folder = resolve(context.cwd, place);
  const program = await programIn(context, folder);
  return context.flags.check ? checkAgain(context, program, place) : migrate(context, program, place);
};

async function migrate(context: Context, program: Program, place: string): Promise<Exit> {
  const { flags, out, interactive } = context;
  const changes = await changesIn(program.folder);
  if (changes.length === 0) {
    out.write('Nothing names cdktf: there is nothing to change.\n');
    return exits.done;
  }
  for (const { path, before, after } of changes) {
    for (const one of changedLines(before, after)) out.write(`${relative(context.cwd, path)}:${one.line}\n  - ${one.before}\n  + ${one.after}\n`);
  }
  if (!flags.autoApprove) {
    if (!interactive)
      refuse('not-approved', 'There is no terminal to ask at, and --auto-approve was not given.', { detail: `To do it without being asked: ${again(place)} --auto-approve` });
    if ((await context.ask('\nChange these lines? Only yes is taken for an answer: ')).trim() !== 'yes') {
      context.err.write('Nothing was changed.\n');
      return exits.error;
    }
  }
  const before = await outputNow(context, program);
  for (const { path, after, mode } of changes) await context.files.replace(path, after, mode);
  if (!isInstalled(program.folder)) return later(context, program, place, before);
  return prove(context, program, before, changes);
}

const again = (place: string): string => `trueup migrate${place === '.' ? '' : ` ${shellWord(place)}`}`;

const SOURCE = /\.[cm]?[jt]s$/;
const LEFT_OUT = new Set(['node_modules', 'cdktf.out']);

/** Every text of the project that names cdktf. Generated bindings (`.gen`) are part of it, other dot folders are not. */
async function changesIn(folder: string): Promise<readonly Change[]> {
  const changes: Change[] = [];
  for (const entry of (await readdir(folder, { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !LEFT_OUT.has(entry.name) && (!entry.name.startsWith('.') || entry.name === '.gen')) changes.push(...(await changesIn(path)));
    else if (entry.isFile() && (SOURCE.test(entry.name) || entry.name === 'package.json')) changes.push(...(await changeOf(path)));
  }
  return changes;
}

async function changeOf(path: string): Promise<readonly Change[]> {
  const bytes = await readFile(path);
  const before = bytes.toString('utf8');
  const isPackage = basename(path) === 'package.json';
  const bound = isPackage ? boundToCdktf(before) : [];
  if (bound.length > 0)
    refuse('bound-to-cdktf', `${path} depends on ${bound.join(' and ')}, whose classes crash beside cdktn.`, {
      detail: 'Replace them first: by bindings of the same providers that were made for cdktn.',
    });
  const after = isPackage ? migratedPackage(before) : migratedSource(before);
  if (after === before) return [];
  if (!bytes.equals(Buffer.from(before, 'utf8'))) refuse('not-utf8', `${path} is not UTF-8, and would not stay as it is.`, { detail: 'Save it as UTF-8 first.' });
  return [{ path, before, after, mode: (await stat(path)).mode & 0o777 }];
}

/** What the program writes as it stands. @throws Refusal where it fails */
async function outputNow(context: Context, program: Program): Promise<Output> {
  const folder = await mkdtemp(join(tmpdir(), 'trueup-migrate-'));
  try {
    const written = await synthesise(context, program, folder);
    return await outputOf(written, (path) => readFile(join(folder, path), 'utf8'));
  } finally {
    await rm(folder, { recursive: true, force: true });
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

/** What the program said before the change, until it can be run again. */
const memory = ({ folder }: Program): string => join(folder, '.trueup', 'migration.json');

async function later({ files, out }: Context, program: Program, place: string, before: Output): Promise<Exit> {
  await files.makeFolder(join(program.folder, '.trueup'));
  await files.replace(memory(program), JSON.stringify(before), 0o600);
  out.write(`Changed. cdktn is not installed here yet, so that nothing is proved. Type: npm install\nand then: ${again(place)} --check\n`);
  return exits.done;
}

/** Whether the stacks are the same; else where they are not. A run with the same library proves nothing. */
function compared(before: Output, after: Output): readonly string[] {
  if (before.version === after.version) return [`the program still runs version ${after.version}: does it run what was compiled before?`];
  return differences(before.stacks, after.stacks);
}

const proved = (before: Output, after: Output): string =>
  `Proved: ${Object.keys(after.stacks).length} stacks are the same, but for the version: ${before.version} before, ${after.version} now.\n`;

async function prove(context: Context, program: Program, before: Output, changes: readonly Change[]): Promise<Exit> {
  const back = async (): Promise<void> => {
    for (const { path, before: text, mode } of changes) await context.files.replace(path, text, mode);
    context.err.write('Everything was put back.\n');
  };
  const after = await outputNow(context, program).catch(async (error: unknown) => {
    await back();
    throw error;
  });
  const found = compared(before, after);
  if (found.length > 0) {
    await back();
    refuse('not-the-same', 'The program does not say the same with cdktn.', { detail: found.join('\n') });
  }
  context.out.write(proved(before, after));
  return exits.done;
}

async function checkAgain(context: Context, program: Program, place: string): Promise<Exit> {
  const text = await ifThere(context.files.read(memory(program)));
  if (text === undefined) refuse('nothing-to-check', 'No migration waits to be proved here.', { detail: `To begin one: ${again(place)}` });
  if (!isInstalled(program.folder)) refuse('not-installed', 'cdktn is not installed here.', { detail: 'Type: npm install' });
  const before = JSON.parse(text) as { readonly version: string; readonly stacks: Readonly<Record<string, Json>> };
  const after = await outputNow(context, program);
  const found = compared(before, after);
  if (found.length > 0) refuse('not-the-same', 'The program does not say the same with cdktn.', { detail: found.join('\n') });
  await context.files.remove(memory(program));
  context.out.write(proved(before, after));
  return exits.done;
}
