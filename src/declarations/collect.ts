// Sorts the content of files into settings, variables, lookups and declarations with their places. Checks only names.
import {
  NAME,
  didYouMean,
  isList,
  nameWords,
  type Kinds,
  type Origin,
  type UnknownFile,
} from '../model/index.js';
import { BEGIN, type FoundFile } from './paths.js';
import { complainIn, complainOfFault, type Reporting } from './diagnostics-list.js';
import {
  isMap,
  offsetOf,
  type SyntaxFault,
  type Raw,
  type RawDocument,
  type RawMap,
} from './yaml/raw-values.js';
import { found as foundWord } from './validation.js';
import { literalKeys } from './literal-keys.js';
import { usesOf } from './mention-texts.js';
import { hasKey, hasOwnTopLevelKeys, lacksColon, topLevelKeys } from './top-level-keys.js';
import { unknownFile, type ReadFile } from './unknown-files.js';
import { isBlockSection } from './vocabulary.js';

/** One use of a template. */
export interface Instance {
  /** Begins the names of its objects. */
  readonly prefix: string;
  /** Of the `for_each` of its `use`, behind those of the uses around it. */
  readonly key?: string;
  /** The parts of the key, the outermost first, each with the place of its `use`. */
  readonly loops: readonly { readonly key: string; readonly origin: Origin }[];
  readonly param: RawMap;
  /** Its texts with their values filled in, as far as they are the same for all of its objects. */
  readonly filled: Map<string, Raw>;
  /** Whether it holds the object. */
  readonly owns: (kind: string, name: string) => boolean;
  /** Where the `use` stands. */
  readonly used: { readonly file: string; readonly origin: Origin };
}

/** One named thing as it stands in a file; `path` leads to it from the document's root. */
export interface RawEntry {
  readonly from: FoundFile;
  readonly path: readonly string[];
  readonly name: string;
  readonly raw: Raw;
  /** With a construct's path where a program made it: then all of it stands there, and `from` is what it was read from. */
  readonly origin: Origin;
  /** Addresses it waits for without referring to them; of a whole `for_each` where no member is named. */
  readonly depends_on?: readonly string[];
  /** The path in its document, if that is not `path`. */
  readonly at?: readonly string[];
  /** It was made from a template. */
  readonly instance?: Instance;
  /** It was a block of a stack: its values become what their attributes hold, as Terraform converts them. */
  readonly ofStack?: true;
  /** Its `for_each` is how many there are. */
  readonly counted?: boolean;
  /** Nothing but a `count` can have come or gone between it and a piece of its name. */
  readonly recounts?: boolean;
}

/** Whether something that could not be read may hold a name of a section: then nobody can say that it is missing. */
export type MayHold = (section: string, name: string) => boolean;

export type Collected = Awaited<ReturnType<typeof collect>>;

interface Collecting extends Reporting {
  readonly kinds: Kinds;
  /** By section and name. */
  readonly pieces: Map<string, RawEntry>;
  readonly blocks: RawEntry[];
  readonly unread: MayHold[];
  /** Files that are left out. */
  readonly unknown: UnknownFile[];
  ours: number;
}

/**
 * Reads the files. With `overlay`, they are the files of an environment and may hold settings and variables alone.
 * @param brought pieces from elsewhere, to stand beside theirs
 */
export async function collect(
  { library, kinds, report }: Pick<Collecting, 'library' | 'kinds' | 'report'>,
  files: readonly FoundFile[],
  { overlay = false, brought = [] as readonly RawEntry[] } = {},
) {
  const all: Collecting = {
    library,
    kinds,
    report,
    pieces: new Map(),
    blocks: [],
    unread: [],
    unknown: [],
    ours: 0,
  };
  for (const file of files) {
    const reading = await library.read(file);
    if ('faults' in reading) failed(all, file, reading.faults);
    else if (isOurs(all, file, reading.documents))
      for (const document of reading.documents) takeDocument(all, file, document, overlay);
  }
  for (const piece of brought) takePiece(all, piece);
  if (all.ours === 0 && brought.length === 0 && files.length > 0 && !report.failed())
    report.add(() => ({
      severity: 'error',
      code: 'no-declarations',
      summary: 'none of the YAML files found is a file of trueup',
      detail: BEGIN,
    }));
  const pieces = [...all.pieces.values()];
  const within = (section: string): readonly RawEntry[] =>
    pieces.filter(({ path }) => path[0] === section);
  return {
    settings: within('settings'),
    variables: within('variables'),
    lookups: within('lookups'),
    expectations: within('expectations'),
    templates: within('templates'),
    uses: within('use'),
    /** In the order of files and keys; `path[0]` is the kind. */
    declared: pieces.filter(({ path }) => kinds.has(path[0]!)),
    /** `moved`, `removed` and `import`; `path` holds the section and the index. */
    blocks: all.blocks as readonly RawEntry[],
    unread: all.unread as readonly MayHold[],
    unknown: all.unknown as readonly UnknownFile[],
  };
}

/** Refuses files of environments that declare something: nobody would read it, and it would count as removed. @returns those with no key of trueup */
export async function refuseDeclaring(
  { library, kinds, report }: Pick<Collecting, 'library' | 'kinds' | 'report'>,
  files: readonly FoundFile[],
): Promise<readonly UnknownFile[]> {
  const unknown: UnknownFile[] = [];
  const words = topLevelKeys(kinds).filter((word) => !OF_ENVIRONMENT.includes(word));
  for (const file of files) {
    const reading = await library.read(file);
    const documents = 'documents' in reading ? reading.documents : [];
    if (documents.length > 0 && !hasOwnTopLevelKeys(kinds, documents))
      unknown.push({ ...unknownFile(kinds, file.file, { documents }), ofEnvironment: true });
    for (const document of documents) {
      const { root } = document;
      const key = isMap(root) ? words.find((word) => Object.hasOwn(root, word)) : undefined;
      if (key !== undefined)
        complainOfFault({ library, report }, file, {
          offset: offsetOf(document, [key]).offset,
          code: 'environment-file',
          summary: `${file.file} has the name of a file of an environment, and holds \`${key}\``,
          detail: 'Such a file holds `settings` and `variables` only. Give it another name.',
        });
    }
  }
  return unknown;
}

const OF_ENVIRONMENT = ['settings', 'variables'];

/** A file that cannot be read is left out only if a walk found it and no line of it looks like ours: what is left out may count as removed. */
function failed(all: Collecting, file: FoundFile, faults: readonly SyntaxFault[]): void {
  const unseen = faults.some(
    ({ code }) => code === 'unreadable' || code === 'not-a-file' || code === 'too-large',
  );
  const text = all.library.text(file).replaceAll(/[\0\uFFFD]/g, '');
  const ours = unseen || hasKey(text, topLevelKeys(all.kinds));
  if (!ours && !file.named) return leaveOut(all, file, { text });
  all.ours += 1;
  all.unread.push(unseen ? () => true : mayHoldIn(text));
  for (const fault of faults) complainOfFault(all, file, fault);
}

const KEYS = /(?<![\w-])([\w-]+)["']?[ \t]*:/g;

/** Of a text that is not understood: it may hold each of its keys, and with `use` all names that begin with one. */
function mayHoldIn(text: string): MayHold {
  let keys: ReadonlySet<string> | undefined;
  return (section, name) => {
    keys ??= new Set(Array.from(text.matchAll(KEYS), ([, key]) => key!));
    return (
      keys.has(name) ||
      (keys.has('use') && usesOf(`${section}.${name}`).some((one) => keys?.has(one)))
    );
  };
}

function leaveOut(all: Collecting, file: FoundFile, read: ReadFile): void {
  all.unknown.push(unknownFile(all.kinds, file.file, read));
  all.report.add(() => ({
    severity: 'info',
    code: 'not-ours',
    summary: `${file.file} is left out: trueup knows none of its top-level keys`,
    origin: { file: file.file, line: 1, column: 1 },
  }));
}

/** An empty file is one of trueup: it may be what is left of one. */
function isOurs(all: Collecting, file: FoundFile, documents: readonly RawDocument[]): boolean {
  const ours = documents.length === 0 || hasOwnTopLevelKeys(all.kinds, documents);
  if (ours) all.ours += 1;
  else if (file.named)
    complainOfFault(all, file, {
      offset: 0,
      code: 'not-ours',
      summary: `trueup knows none of the top-level keys of ${file.file}`,
      detail: `Top-level keys are ${topLevelKeys(all.kinds).join(', ')}.`,
    });
  else leaveOut(all, file, { documents });
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
    all.unread.push(mayHoldIn(all.library.text(file)));
    const summary = `a mapping is expected at the top of the file, not ${foundWord(root)}`;
    return complainOfFault(all, file, { offset: 0, code: 'wrong-type', summary });
  }
  const words = overlay ? OF_ENVIRONMENT : topLevelKeys(all.kinds);
  for (const [key, names] of Object.entries(root)) {
    if (words.includes(key)) {
      take(all, file, document, key);
      continue;
    }
    all.unread.push((_, name) => isMap(names) && Object.hasOwn(names, name));
    const section = lacksColon(key, words);
    const colon = section === undefined ? undefined : `Write a colon behind \`${section}\`.`;
    const wrong = overlay
      ? {
          code: 'environment-file',
          summary: `\`${key}\` is not allowed in the file of an environment`,
          detail: colon ?? 'It holds `settings` and `variables` only.',
        }
      : {
          code: 'unknown-section',
          summary: `\`${key}\` is neither a kind nor a section.${didYouMean(key, words)}`,
          detail: colon ?? `Top-level keys are ${words.join(', ')}.`,
        };
    complainOfFault(all, file, { offset: offsetOf(document, [key]).offset, ...wrong });
  }
}

function take(all: Collecting, file: FoundFile, document: RawDocument, key: string): void {
  const raw = isMap(document.root) ? (document.root[key] ?? null) : null;
  const { offset } = offsetOf(document, [key]);
  const pieceAt = (path: readonly string[], at: { readonly raw: Raw; readonly offset: number }) => {
    const piece = pieceOf(all, file, path, at);
    return document.inKeys ? withLiteralKeys(all, piece) : piece;
  };
  if (key === 'settings') return takePiece(all, pieceAt([key], { raw, offset }));
  const whole = isBlockSection(key) ? isList(raw) && raw : isMap(raw) && raw;
  if (!whole) {
    if (raw !== null) all.unread.push((section) => section === key);
    const empty = raw === null ? ' Remove the key if it holds nothing.' : '';
    const [what, where] = isBlockSection(key)
      ? ['a list of blocks', 'Each block begins with `- ` on a line below it.']
      : ['a mapping of names', 'Write its names below it, indented.'];
    return complainOfFault(all, file, {
      offset,
      code: raw === null ? 'null-value' : 'wrong-type',
      summary: `\`${key}\`: ${what} is expected, not ${foundWord(raw)}`,
      detail: `${where}${empty}`,
    });
  }
  const offsets = document.marks.get(whole);
  for (const [name, one] of Object.entries<Raw>(whole))
    takePiece(all, pieceAt([key, name], { raw: one, offset: offsets?.get(name) ?? offset }));
}

/** With the keys that `$${` is written in as they are meant; complains of those that hold an expression. */
function withLiteralKeys(all: Collecting, piece: RawEntry): RawEntry {
  const { from, path, origin } = piece;
  const raw = literalKeys(piece.raw, path, (at, said) => {
    const place = { file: from.file, ...all.library.locate(from, at) };
    complainIn(all, from, origin.path === undefined ? place : origin, said);
  });
  return { ...piece, raw };
}

function takePiece(all: Collecting, piece: RawEntry): void {
  const { name, path, ofStack } = piece;
  if (isBlockSection(path[0])) return void all.blocks.push(piece);
  const key = path.join('.');
  const first = all.pieces.get(key);
  const renaming = ofStack
    ? 'Give one of the constructs another name: `overrideLogicalId(…)`.'
    : 'Rename one of them.';
  if (key !== 'settings' && !NAME.test(name))
    complainIn(all, piece.from, piece.origin, {
      code: 'bad-name',
      summary: `\`${name.slice(0, 80)}\` is not a valid name`,
      detail: `A name ${nameWords}`,
    });
  else if (!first || (path[0] === 'variables' && later(piece, first) > 0))
    all.pieces.set(key, piece);
  else if (path[0] === 'variables' && later(piece, first) < 0) return;
  else if (key === 'settings')
    complainIn(all, piece.from, piece.origin, {
      code: 'duplicate-settings',
      summary: 'settings appear twice in this project',
      detail: `They are already in ${placeText(first.origin)}. Keep one of them; stacks have to say the same.`,
    });
  else
    complainIn(all, piece.from, piece.origin, {
      code: 'duplicate-declaration',
      summary: `${key} is declared twice`,
      detail: `It is declared in ${placeText(first.origin)} already. ${renaming}`,
    });
}

/** Whether a piece stands in a later PATH than another one: positive where it does, 0 where they stand in the same. */
const later = ({ from }: RawEntry, other: RawEntry): number =>
  (from.argument ?? 0) - (other.from.argument ?? 0);

export const placeText = ({ file, line, column, path, used_at: used }: Origin): string =>
  (path ?? `${file}:${line}:${column}`) + (used ? ` (used at ${placeText(used)})` : '');

function pieceOf(
  { library }: Collecting,
  from: FoundFile,
  path: readonly string[],
  { raw, offset }: { readonly raw: Raw; readonly offset: number },
): RawEntry {
  return {
    from,
    path,
    name: path.at(-1)!,
    raw,
    origin: from.made?.get(path.join('.')) ?? { file: from.file, ...library.place(from, offset) },
  };
}
