// Finds and reads the synthesised stacks of PATHs: one `cdk.tf.json`, an output folder with its manifest, or a CDK
// program, which is run first. Nothing outside the named folder is read.
import { dirname, join, posix } from 'node:path';
import {
  defined,
  isList,
  isObject,
  madeIn,
  stringsIn,
  type Diagnostic,
  type Json,
  type JsonObject,
} from '../../model/index.js';
import type { DeclarationFiles } from '../../platform/index.js';
import { whyNot, type FoundFile, type StackSource } from '../paths.js';
import { limits } from '../yaml/raw-values.js';
import { blockAt } from './values.js';

/** A stack that was read. */
export interface StackFile {
  /** Its file in the state: itself, or the `cdktf.json` of the program that wrote it. */
  readonly from: FoundFile;
  readonly name: string;
  readonly tree: JsonObject;
  /** False for a stack that was not named: others may read its outputs, and that is all. */
  readonly wanted: boolean;
}

/** A message of the program about one of its constructs. */
export interface StackRemark {
  readonly path: string;
  readonly level: string;
  readonly message: string;
  readonly trace: readonly string[];
  readonly from: FoundFile;
}

/** A declaration file that a program wrote instead of stacks; it is gone once it was read. */
export interface ProgramDocument extends FoundFile {
  readonly bytes: Uint8Array;
}

export interface StackFiles {
  readonly documents: readonly ProgramDocument[];
  readonly stacks: readonly StackFile[];
  readonly remarks: readonly StackRemark[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Runs the program of a folder that holds `cdktf.json`; gives the folder it wrote its stacks into. Both absolute. @throws Refusal */
export type Synthesise = (folder: string) => Promise<string>;

export const SYNTHESISE_AGAIN = 'Synthesise again, in the folder of the program: trueup synth';
const LARGEST = 64 * 1024 * 1024;

interface FileMap {
  readonly files: DeclarationFiles;
  /** By path. */
  readonly stacks: Map<string, StackFile>;
  readonly documents: ProgramDocument[];
  readonly remarks: StackRemark[];
  readonly diagnostics: Diagnostic[];
}

/** @param synthesise absent where programs are not to be run: then they hold nothing */
export async function readStacks(
  files: DeclarationFiles,
  sources: readonly StackSource[],
  synthesise: Synthesise | undefined,
): Promise<StackFiles> {
  const shelf: FileMap = { files, stacks: new Map(), documents: [], remarks: [], diagnostics: [] };
  for (const { is, file, path } of sources) {
    if (is === 'file') readOne(shelf, { file, path, named: true });
    else if (is === 'folder') readFolder(shelf, path, (inner) => posix.join(file, inner));
    else if (synthesise) readOutput(shelf, await synthesise(dirname(path)), file);
  }
  return { ...shelf, stacks: [...shelf.stacks.values()] };
}

/** Stacks, or declaration files. Both are known by the program: the folder does not last. */
function readOutput(shelf: FileMap, folder: string, file: string): void {
  const names = shelf.files.list(folder).filter((name) => /\.ya?ml$/.test(name));
  const shownOf = (inner: string): string => `${file}/${inner}`;
  if (names.length === 0 || shelf.files.stat(join(folder, 'manifest.json')))
    return readFolder(shelf, folder, shownOf, { program: file });
  for (const name of names.toSorted()) {
    const found = { file: shownOf(name), path: join(folder, name), named: true };
    if (shelf.files.isLink(found.path)) leadsAway(shelf, found);
    else if (shelf.files.stat(found.path)?.kind !== 'file')
      complain(shelf, found, {
        code: 'not-a-file',
        summary: `${found.file} is not a regular file`,
      });
    else shelf.documents.push(documentIn(shelf, found, file));
  }
}

function documentIn({ files }: FileMap, found: FoundFile, program: string): ProgramDocument {
  const bytes = files.read(found.path, limits.bytes + 1);
  const made = [...madeIn(new TextDecoder().decode(bytes))].map(([key, { path, at }]) => {
    const file = at ? posix.join(posix.dirname(program), at.file) : program;
    const place = at ?? { file, line: 0, column: 0 };
    return [key, { ...place, file, path }] as const;
  });
  return { ...found, bytes, made: new Map(made) };
}

function leadsAway(shelf: FileMap, found: FoundFile): undefined {
  return complain(shelf, found, {
    code: 'not-a-file',
    summary: `${found.file} is a link, or is reached by one`,
    detail: 'What a program writes has to be in its output folder itself.',
  });
}

function readOne(shelf: FileMap, from: FoundFile): void {
  const tree = treeIn(shelf, from);
  if (!tree) return;
  const { stackName } = blockAt(tree, '//', 'metadata');
  const name = typeof stackName === 'string' ? stackName : from.file;
  put(shelf, { from, name, tree, wanted: true });
  const folder = dirname(dirname(dirname(from.path)));
  if (shelf.files.stat(join(folder, 'manifest.json'))?.kind === 'file')
    readFolder(shelf, folder, (inner) => inner, { only: from.path });
}

/** One that is wanted is never replaced by one that is only asked for its outputs. */
function put({ stacks }: FileMap, one: StackFile): void {
  if (!stacks.get(one.from.path)?.wanted) stacks.set(one.from.path, one);
}

/**
 * The stacks that a manifest names.
 * @param shownOf what a file of the folder is called
 * @param only the one that is wanted: the others are there to be asked
 * @param program what stands for all of them: the program that wrote them
 */
function readFolder(
  shelf: FileMap,
  folder: string,
  shownOf: (inner: string) => string,
  { only, program }: { readonly only?: string; readonly program?: string } = {},
): void {
  const foundIn = (inner: string): FoundFile => ({
    file: shownOf(inner),
    path: join(folder, inner),
    named: true,
  });
  const treeBelow = (inner: string): JsonObject | undefined =>
    isReachedByLink(shelf, folder, inner)
      ? leadsAway(shelf, foundIn(inner))
      : treeIn(shelf, foundIn(inner));
  const manifest = foundIn('manifest.json');
  const tree = treeBelow('manifest.json');
  for (const [name, stack] of Object.entries(tree ? blockAt(tree, 'stacks') : {})) {
    const { synthesizedStackPath: inner, annotations } = isObject(stack) ? stack : {};
    if (typeof inner !== 'string' || !isBelow(inner)) {
      complain(shelf, manifest, {
        code: 'bad-manifest',
        summary: `${manifest.file} does not say where the stack ${name} is, or says it is elsewhere`,
        detail: SYNTHESISE_AGAIN,
      });
      continue;
    }
    const from = { ...foundIn(inner), ...defined({ file: program }) };
    const read = shelf.stacks.has(from.path) ? undefined : treeBelow(inner);
    if (read) put(shelf, { from, name, tree: read, wanted: only === undefined });
    if (only === undefined && isList(annotations))
      shelf.remarks.push(...annotations.flatMap((one) => remarkOf(one, from) ?? []));
  }
}

/** Whether any step from the folder on is a link. */
function isReachedByLink({ files }: FileMap, folder: string, inner: string): boolean {
  const steps = posix.normalize(inner).split('/');
  return steps.some((_, index) => files.isLink(join(folder, ...steps.slice(0, index + 1))));
}

const isBelow = (path: string): boolean =>
  !posix.isAbsolute(path) && !path.includes('\\') && !posix.normalize(path).startsWith('..');

function remarkOf(one: Json, from: FoundFile): StackRemark | undefined {
  if (!isObject(one)) return undefined;
  const { constructPath: path, level, message, stacktrace } = one;
  if (typeof path !== 'string' || typeof level !== 'string' || typeof message !== 'string')
    return undefined;
  return { path, level, message, from, trace: stringsIn(stacktrace) };
}

function complain(
  { diagnostics }: FileMap,
  { file }: FoundFile,
  what: Pick<Diagnostic, 'code' | 'summary' | 'detail'>,
): undefined {
  diagnostics.push({
    severity: 'error',
    ...what,
    origin: { file, line: 1, column: 1 },
  });
}

/** The object that a JSON file holds. The parser's own words are not repeated: they quote the text. */
function treeIn(shelf: FileMap, from: FoundFile): JsonObject | undefined {
  const wrong = (code: string, summary: string, detail?: string): undefined =>
    complain(shelf, from, { code, summary, ...defined({ detail }) });
  try {
    if (shelf.files.stat(from.path)?.kind !== 'file')
      return wrong('not-a-file', `${from.file} is not a regular file`);
    const bytes = shelf.files.read(from.path, LARGEST + 1);
    if (bytes.length > LARGEST) {
      const summary = `${from.file} is larger than 64 MiB`;
      return wrong('too-large', summary, 'Split the program into several stacks.');
    }
    const tree: Json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isObject(tree) ? tree : wrong('bad-stack', `${from.file} holds no JSON object`);
  } catch (error) {
    return error instanceof SyntaxError || error instanceof TypeError
      ? wrong('bad-stack', `${from.file} is not valid JSON`, SYNTHESISE_AGAIN)
      : wrong('unreadable', `cannot read ${from.file}: ${whyNot(error)}`);
  }
}
