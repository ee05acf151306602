// What a file with an error may mention: it may be meant to declare any object whose name or id is in it.
import type { Diagnostic, Kinds, Mention, RemovedObject } from '../model/index.js';
import { isList } from '../model/index.js';
import type { DeclarationFiles } from '../platform/index.js';
import type { SourceFiles } from './file-reader.js';
import {
  holdsId,
  isLiteral,
  mayName,
  nameOf,
  refersTo,
  usesOf,
  textsBelow,
  wordsIn,
} from './mention-texts.js';
import type { FoundFile } from './paths.js';
import { hasKey } from './top-level-keys.js';
import { blocks } from './vocabulary.js';
import { isMap, type Raw, type RawDocument } from './yaml/raw-values.js';

export interface FilesAndKinds {
  readonly files: DeclarationFiles;
  readonly kinds: Kinds;
}

interface Faulty {
  readonly found: FoundFile;
  readonly error: Diagnostic;
}

type Test = (object: RemovedObject) => boolean;

export async function faultyMentions(
  { files, kinds }: FilesAndKinds,
  library: SourceFiles,
  { found, error: { origin, summary } }: Faulty,
): Promise<(object: RemovedObject) => Omit<Mention, 'file'> | undefined> {
  const mention = {
    origin: origin ?? { file: found.file, line: 1, column: 1 },
    why: `has an error, and may declare it: ${summary}`,
    isFaulty: true,
  } as const;
  const reading = await library.read(found);
  const isParsed = !('faults' in reading) && !found.file.endsWith('.tf.json');
  const isMentioned = isParsed
    ? mentionedInDocuments(reading.documents)
    : mentionedInText(kinds, wholeText(files, found));
  return (object) => (isMentioned(object) ? mention : undefined);
}

/** The name of the object, and those of the uses that may have made it. */
const namesOf = ({ addresses }: RemovedObject): readonly string[] =>
  addresses.flatMap((one) => [nameOf(one), ...usesOf(one)]);

/** Sections in which nothing is declared. */
const SECTIONS_OF_VALUES: ReadonlySet<string> = new Set(['settings', 'variables']);

function mentionedInDocuments(documents: readonly RawDocument[]): Test {
  const roots = documents.map(({ root }) => root);
  const declared = new Set(
    roots
      .flatMap((root) => (isMap(root) ? Object.entries<Raw>(root) : []))
      .flatMap(([key, value]) =>
        SECTIONS_OF_VALUES.has(key) ? [] : [...blockKeys(value), ...wordsBehindFirst(key)],
      ),
  );
  const words = [...new Set(roots.flatMap(wordsIn))];
  const valuesAt = (key: string) => roots.flatMap((root) => textsBelow(root, key));
  const former = valuesAt('renamed_from');
  const adopted = [...valuesAt('adopt'), ...valuesAt('import')];
  const ids = adopted.every(isLiteral) ? adopted : words;
  return (object) => {
    const { addresses, kind, id } = object;
    return (
      namesOf(object).some((name) => declared.has(name)) ||
      words.some((text) => text.startsWith(`${kind}.`) && mayName(text, object)) ||
      words.some((text) => addresses.some((one) => refersTo(text, one))) ||
      former.some((text) => mayName(`${kind}.${text}`, object)) ||
      holdsId(ids, id)
    );
  };
}

/** In `accounts depot: { … }`, a colon is missing behind the section. */
const wordsBehindFirst = (key: string): readonly string[] => key.split(/\s+/).slice(1);

/** The keys in a value that hold mappings, as those of declarations do, or nothing yet. */
const blockKeys = (raw: Raw): readonly string[] =>
  isMap(raw) || isList(raw)
    ? Object.entries<Raw>(raw).flatMap(([key, value]) => [
        ...(isMap(raw) && (isMap(value) || value === null) ? [key] : []),
        ...blockKeys(value),
      ])
    : [];

/** The keys whose values may name an object with an expression. */
const NAMING = [...Object.keys(blocks), 'renamed_from'];

/** @param text of a file that is no valid YAML, or is larger than one may be, or of a stack; undefined if it cannot be read */
function mentionedInText(kinds: Kinds, text: string | undefined): Test {
  // It may be written in another encoding.
  if (text === undefined || /[\0\uFFFD]/.test(text)) return () => true;
  const sections = [...kinds.keys(), 'templates', 'use', ...Object.keys(blocks)];
  if (!text.includes('devicecloud_') && !hasKey(text, sections)) return () => false;
  // A name may be written with escapes.
  if (/\\[uUx]/.test(text)) return () => true;
  const words = new Set(text.match(/[\w-]+/g));
  const adopts = words.has('adopt') || words.has('import');
  const mayNameAny = text.includes('${') && NAMING.some((word) => words.has(word));
  return (object) =>
    mayNameAny ||
    namesOf(object).some((name) => words.has(name)) ||
    (adopts && words.has(object.id));
}

/** Files of other programs, such as lock files, are larger than those of trueup. Larger ones count as not readable. */
const MOST_BYTES = 64 * 1024 * 1024;

function wholeText(files: DeclarationFiles, { path }: FoundFile): string | undefined {
  try {
    if (files.stat(path)?.kind !== 'file') return undefined;
    const bytes = files.read(path, MOST_BYTES);
    return bytes.length < MOST_BYTES ? new TextDecoder().decode(bytes) : undefined;
  } catch {
    return undefined;
  }
}
