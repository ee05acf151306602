// Opens declaration files: bytes to text to values, with the quick reader if the text is plain. At most one file is
// held open; for a position or a code frame, its file is read again.
import { isUtf8 } from 'node:buffer';
import { defined } from '../model/index.js';
import type { DeclarationFiles } from '../platform/index.js';
import {
  frame,
  indexLines,
  positionOf,
  redactedColumns,
  type SourceText,
  type Position,
  type Veil,
} from './source-text.js';
import { whyNot, type FoundFile } from './paths.js';
import type { Violation } from './validation.js';
import { tryQuick } from './yaml/quick-reader.js';
import {
  limits,
  offsetOf,
  withKeys,
  type SyntaxFault,
  type RawDocument,
} from './yaml/raw-values.js';
import type { Reading } from './yaml/reader.js';

export type SourceFiles = ReturnType<typeof sourceFilesOf>;

interface Page {
  readonly page: SourceText;
  readonly fault?: SyntaxFault;
}

interface Opened extends Page {
  readonly file: string;
  veil?: Veil;
  documents?: readonly RawDocument[];
}

/** Faults at one place of a text that was read. */
const inText: ReadonlySet<string> = new Set(['not-utf8', 'control-character']);

/** @param kept the top-level keys that are read; what is wrong elsewhere does not matter then */
export function sourceFilesOf(
  disk: DeclarationFiles,
  stdin: string | undefined,
  secrets: ReadonlySet<string>,
  kept?: (key: string) => boolean,
) {
  let authority: ((text: string, marked: number) => Reading) | undefined;
  let last: Opened | undefined;
  const open = (found: FoundFile): Opened => {
    if (last?.file !== found.file) last = { file: found.file, ...opened(disk, found, stdin) };
    return last;
  };
  const marked = (one: Opened): readonly RawDocument[] => {
    const reading = (): Reading => authority?.(one.page.text, Infinity) ?? { documents: [] };
    one.documents ??= one.fault
      ? []
      : (tryQuick(one.page.text, Infinity) ?? documentsOf(reading()));
    return one.documents;
  };
  return {
    /** The documents of a file, with the keys of their two upper levels marked, or what is wrong with it. */
    async read(found: FoundFile): Promise<Reading> {
      const { page, fault } = open(found);
      if (fault && !(kept && inText.has(fault.code))) return { faults: [fault] };
      const documents = fault ? undefined : tryQuick(page.text, 2);
      if (documents)
        return { documents: kept ? documents.flatMap((one) => withKeys(one, kept)) : documents };
      const { readKeys, readYaml } = await import('./yaml/reader.js');
      authority ??= readYaml;
      return kept ? readKeys(page.text, 2, kept, fault ? [fault] : []) : authority(page.text, 2);
    },
    /** The text of a file, as far as it can be read. */
    text: (found: FoundFile) => open(found).page.text,
    place: (found: FoundFile, offset: number): Position => positionOf(open(found).page, offset),
    /** The place of the deepest step of `path` (document keys, such as `['alert_rules', 'wan-down', 'settings']`) that the file has. */
    locate(found: FoundFile, path: readonly string[], within?: Violation['within']): Position {
      const one = open(found);
      const reached = marked(one).map((document) => offsetOf(document, path));
      const best = reached.reduce((a, b) => (b.steps > a.steps ? b : a), { offset: 0, steps: 0 });
      const inside = within ? offsetInside(one.page.text, best.offset, within) : undefined;
      return positionOf(one.page, inside ?? best.offset);
    },
    frame(found: FoundFile, place: Position): string {
      const one = open(found);
      one.veil ??= redactedColumns(one.page, secrets);
      return frame(one.page, one.veil, place);
    },
  };
}

/** How far behind its key a text is looked for. */
const NEAR = 65_536;
/** A pattern is made of the text. */
const LONGEST_TEXT = 2_000;

/** Where a text stands in the file, whatever quotes and line breaks YAML writes it with. */
function offsetInside(
  page: string,
  from: number,
  { text, start }: NonNullable<Violation['within']>,
): number | undefined {
  if (text.length > LONGEST_TEXT) return undefined;
  const [before, after] = [text.slice(0, start), text.slice(start)].map(written);
  const found = new RegExp(`(${before})${after}`, 'u').exec(page.slice(from, from + NEAR));
  return found ? from + found.index + found[1]!.length : undefined;
}

const written = (text: string): string =>
  text.replaceAll(/\s+|[^\w\s]/gu, (one) => {
    if (one === '"') return '\\\\?"';
    if (one === "'") return "'{1,2}";
    if (one === '\\') return '\\\\{1,2}';
    return /\s/.test(one) ? '\\s+' : `\\u{${one.codePointAt(0)!.toString(16)}}`;
  });

const documentsOf = (reading: Reading): readonly RawDocument[] =>
  'documents' in reading ? reading.documents : [];

function opened(disk: DeclarationFiles, found: FoundFile, stdin: string | undefined): Page {
  if (found.path === '-') return checked(Buffer.from(stdin ?? ''), found);
  const closed = (code: string, summary: string): Page => ({
    page: indexLines(''),
    fault: { offset: 0, code, summary },
  });
  try {
    return disk.stat(found.path)?.kind === 'file'
      ? checked(disk.read(found.path, limits.bytes + 1), found)
      : closed('not-a-file', `${found.file} is not a regular file`);
  } catch (error) {
    return closed('unreadable', `cannot read ${found.file}: ${whyNot(error)}`);
  }
}

const UNPRINTABLE = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;

function checked(bytes: Uint8Array, { file }: FoundFile): Page {
  const text = new TextDecoder().decode(bytes);
  const fault = faultIn(bytes, text, file);
  return { page: indexLines(text), ...defined({ fault }) };
}

function faultIn(bytes: Uint8Array, text: string, file: string): SyntaxFault | undefined {
  const wide =
    bytes[1] === 0 ||
    (bytes[0] === 0xff && bytes[1] === 0xfe) ||
    (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (bytes.length > limits.bytes)
    return {
      offset: 0,
      code: 'too-large',
      summary: `${file} is larger than 2 MiB`,
      detail: 'Split it into several files.',
    };
  if (text.includes('\uFFFD') && !isUtf8(bytes))
    return {
      offset: text.indexOf('\uFFFD'),
      code: 'not-utf8',
      summary: `${file} is not valid UTF-8`,
      detail: `${wide ? 'It looks like UTF-16. ' : ''}Save it as UTF-8.`,
    };
  const offset = text.search(UNPRINTABLE);
  if (offset < 0) return undefined;
  return {
    offset,
    code: 'control-character',
    summary: 'a control character is not allowed here',
    detail: wide
      ? 'The file looks like UTF-16. Save it as UTF-8.'
      : 'Remove it, or write it as an escape in double quotes, as in "\\u001b".',
  };
}
