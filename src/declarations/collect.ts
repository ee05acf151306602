// Sorts what the files hold into settings, variables, lookups and declarations, each with the place of its key.
// Nothing is looked into yet but names.
import { defined, NAME, didYouMean, nearest, type Kinds, type Origin } from '../model/index.js';
import type { Library } from './file-reader.js';
import type { FoundFile } from './paths.js';
import type { Report } from './diagnostics-list.js';
import {
  isMap,
  offsetOf,
  type SyntaxFault,
  type Raw,
  type RawDocument,
  type RawMap,
} from './yaml/raw-values.js';
import { found as foundWord } from './validation.js';
import { sections } from './vocabulary.js';

/** One named thing as it stands in a file; `path` leads to it from the document's root. */
export interface Piece {
  readonly from: FoundFile;
  readonly path: readonly string[];
  readonly name: string;
  readonly raw: Raw;
  /** With a construct's path where a program made it: then all of it stands there, and `from` is what it was read from. */
  readonly origin: Origin;
  /** Addresses it waits for without referring to them; of a whole `for_each` where no member is named. */
  readonly depends_on?: readonly string[];
  /** It was a block of a stack: its values become what their attributes hold, as Terraform converts them. */
  readonly ofStack?: true;
  /** Its `for_each` is how many there are. */
  readonly counted?: boolean;
  /** Nothing but a `count` can have come or gone between it and a piece of its name. */
  readonly recounts?: boolean;
}

/** Whether something that could not be read may hold a name of a section: then nobody can say that it is missing. */
export type MayHold = (section: string, name: string) => boolean;

export interface Collected {
  readonly settings: readonly Piece[];
  readonly variables: readonly Piece[];
  readonly lookups: readonly Piece[];
  readonly expectations: readonly Piece[];
  /** In the order of files and keys; `path[0]` is the kind. */
  readonly declared: readonly Piece[];
  readonly unread: readonly MayHold[];
}

interface Collecting {
  readonly library: Library;
  readonly kinds: Kinds;
  readonly report: Report;
  readonly settings: Piece[];
  readonly variables: Map<string, Piece>;
  readonly lookups: Map<string, Piece>;
  readonly expectations: Map<string, Piece>;
  readonly declared: Map<string, Piece>;
  readonly unread: MayHold[];
  ours: number;
}

/**
 * Reads the files. With `overlay`, they are the files of an environment and may hold settings and variables alone.
 * @param pieces what was brought from elsewhere, to stand beside them
 */
export async function collect(
  library: Library,
  kinds: Kinds,
  files: readonly FoundFile[],
  report: Report,
  {
    overlay = false,
    pieces = [],
  }: { readonly overlay?: boolean; readonly pieces?: readonly Piece[] } = {},
): Promise<Collected> {
  const all: Collecting = {
    library,
    kinds,
    report,
    settings: [],
    variables: new Map(),
    lookups: new Map(),
    expectations: new Map(),
    declared: new Map(),
    unread: [],
    ours: 0,
  };
  for (const file of files) {
    const reading = await library.read(file);
    if ('faults' in reading) failed(all, file, reading.faults);
    else
      for (const part of isOurs(all, file, reading.documents) ? reading.documents : [])
        takeDocument(all, file, part, overlay);
  }
  for (const piece of pieces) takePiece(all, piece);
  if (all.ours === 0 && pieces.length === 0 && files.length > 0 && !report.failed()) {
    report.add(() => ({
      severity: 'error',
      code: 'no-declarations',
      summary: 'none of the YAML files found is ours',
      detail:
        'Type `trueup init` to begin a project here, or name the file or folder that holds it.',
    }));
  }
  const { settings, variables, lookups, expectations, declared, unread } = all;
  return {
    settings,
    variables: [...variables.values()],
    lookups: [...lookups.values()],
    expectations: [...expectations.values()],
    declared: [...declared.values()],
    unread,
  };
}

const topLevel = (kinds: Kinds): readonly string[] => [...sections, ...kinds.keys()];

/** A file that cannot be read is left out only if a walk found it and no line of it looks like ours: what is left out may count as removed. */
function failed(all: Collecting, file: FoundFile, faults: readonly SyntaxFault[]): void {
  const unseen = faults.some(
    ({ code }) => code === 'unreadable' || code === 'not-a-file' || code === 'too-large',
  );
  const words = topLevel(all.kinds).join('|');
  const ours =
    unseen ||
    new RegExp(`(?:^|[{,])[ \\t]{0,99}["']?(?:${words})["']?[ \\t]{0,99}:`, 'm').test(
      all.library.text(file).replaceAll(/[\0\uFFFD]/g, ''),
    );
  if (!ours && !file.named) return leaveOut(all, file);
  all.ours += 1;
  all.unread.push(unseen ? () => true : (_, name) => isKeyIn(all.library.text(file), name));
  for (const { offset, code, summary, detail } of faults)
    complain(all, file, offset, code, summary, detail);
}

const isKeyIn = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w-])${name}["']?[ \\t]*:`).test(text);

function leaveOut(all: Collecting, file: FoundFile): void {
  all.report.add(() => ({
    severity: 'info',
    code: 'not-ours',
    summary: `${file.file} is left out: none of its top-level keys is ours`,
    origin: { file: file.file, line: 1, column: 1 },
  }));
}

function complain(
  all: Collecting,
  file: FoundFile,
  offset: number,
  code: string,
  summary: string,
  detail?: string,
): void {
  const place = all.library.place(file, offset);
  all.report.add(() => ({
    severity: 'error',
    code,
    summary,
    ...defined({ detail }),
    origin: { file: file.file, ...place },
    frame: all.library.frame(file, place),
  }));
}

/** Whether any top-level key is ours or nearly ours. An empty file is: it may be what is left of one. */
function isOurs(all: Collecting, file: FoundFile, documents: readonly RawDocument[]): boolean {
  const words = topLevel(all.kinds);
  const keys = documents.flatMap(({ root }) => (isMap(root) ? Object.keys(root) : []));
  const ours = documents.length === 0 || keys.some((key) => nearest(key, words) !== undefined);
  if (ours) all.ours += 1;
  else if (file.named)
    complain(
      all,
      file,
      0,
      'not-ours',
      `none of the top-level keys of ${file.file} is ours`,
      `Top-level keys are ${words.join(', ')}.`,
    );
  else leaveOut(all, file);
  return ours;
}

function takeDocument(
  all: Collecting,
  file: FoundFile,
  document: RawDocument,
  overlay: boolean,
): void {
  const { root } = document;
  if (!isMap(root)) {
    all.unread.push((_, name) => isKeyIn(all.library.text(file), name));
    return complain(
      all,
      file,
      0,
      'wrong-type',
      `a mapping is expected at the top of the file, not ${foundWord(root)}`,
    );
  }
  for (const key of Object.keys(root)) {
    const offset = offsetOf(document, [key]).offset;
    const words = overlay ? ['settings', 'variables'] : topLevel(all.kinds);
    if (words.includes(key)) {
      take(all, file, document, key);
      continue;
    }
    const names = root[key];
    all.unread.push((_, name) => isMap(names) && Object.hasOwn(names, name));
    if (overlay)
      complain(
        all,
        file,
        offset,
        'environment-file',
        `\`${key}\` cannot stand in the file of an environment`,
        'It holds `settings` and `variables` only.',
      );
    else
      complain(
        all,
        file,
        offset,
        'unknown-section',
        `\`${key}\` is no kind and no section.${didYouMean(key, words)}`,
        `Top-level keys are ${words.join(', ')}.`,
      );
  }
}

function take(all: Collecting, file: FoundFile, document: RawDocument, key: string): void {
  const raw = (document.root as RawMap)[key] as Raw;
  if (key === 'settings')
    return takePiece(all, pieceOf(all, file, [key], raw, offsetOf(document, [key]).offset));
  if (!isMap(raw)) {
    if (raw !== null) all.unread.push((section) => section === key);
    const empty = raw === null ? ' Remove the key if it holds nothing.' : '';
    return complain(
      all,
      file,
      offsetOf(document, [key]).offset,
      raw === null ? 'null-value' : 'wrong-type',
      `\`${key}\`: a mapping of names is expected, not ${foundWord(raw)}`,
      `Names stand below it, indented.${empty}`,
    );
  }
  const offsets = document.marks.get(raw);
  for (const name of Object.keys(raw)) {
    const offset = offsets?.get(name) ?? offsetOf(document, [key]).offset;
    takePiece(all, pieceOf(all, file, [key, name], raw[name] as Raw, offset));
  }
}

function takePiece(all: Collecting, piece: Piece): void {
  const { name, path } = piece;
  const section = path[0] as string;
  if (section === 'settings') {
    const [first] = all.settings;
    if (!first) all.settings.push(piece);
    else
      complainOf(
        all,
        piece,
        'duplicate-settings',
        'settings stand twice in this project',
        `They stand in ${placeText(first.origin)} already. Keep one of them; stacks have to say the same.`,
      );
    return;
  }
  const known =
    section === 'variables' || section === 'lookups' || section === 'expectations'
      ? all[section]
      : all.declared;
  if (!NAME.test(name))
    return complainOf(
      all,
      piece,
      'bad-name',
      `\`${name.slice(0, 80)}\` is no name`,
      'A name begins with a letter and goes on with letters, digits, `_` and `-`.',
    );
  const key = path.join('.');
  const first = known.get(key);
  if (first)
    return complainOf(
      all,
      piece,
      'duplicate-declaration',
      `${key} is declared twice`,
      `It is declared in ${placeText(first.origin)} already. ${renaming(piece)}`,
    );
  known.set(key, piece);
}

const renaming = ({ ofStack }: Piece): string =>
  ofStack
    ? 'Give one of the constructs another name: `overrideLogicalId(…)`.'
    : 'Rename one of them.';

function complainOf(
  { library, report }: Collecting,
  { from, origin }: Piece,
  code: string,
  summary: string,
  detail: string,
): void {
  report.add(() => ({
    severity: 'error',
    code,
    summary,
    detail,
    origin,
    ...(origin.path === undefined && { frame: library.frame(from, origin) }),
  }));
}

export const placeText = ({ file, line, column, path }: Origin): string =>
  path ?? `${file}:${line}:${column}`;

function pieceOf(
  { library }: Collecting,
  from: FoundFile,
  path: readonly string[],
  raw: Raw,
  offset: number,
): Piece {
  return {
    from,
    path,
    name: path.at(-1) as string,
    raw,
    origin: from.made?.get(path.join('.')) ?? { file: from.file, ...library.place(from, offset) },
  };
}
