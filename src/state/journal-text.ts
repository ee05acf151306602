// The journal as text: append-only, one checksummed record per line, `<16 hex digits of SHA-256> <canonical JSON>`. A
// crash can damage only the end: an incomplete last line is dropped, and any other damage is refused.
import {
  canonical,
  sha256,
  shellWord,
  type Begin,
  type Json,
  type JournalRecord,
  type RunRecord,
} from '../model/index.js';
import { parseJsonText } from './json-text.js';
import { formatPath, recordShapes } from './shape-check.js';
import { damaged } from './disk-errors.js';

/** A journal as it verifies: what it opens with, what follows, and its text without a torn end. */
export interface Journal {
  readonly begin: Begin;
  readonly records: readonly RunRecord[];
  readonly text: string;
}

/** @throws TypeError for a record that would be refused when it is read again: a bug of the caller. */
export function encodeRecord(record: JournalRecord): string {
  const flaw = recordShapes.get(record.type)?.(record);
  if (flaw)
    throw new TypeError(
      `a journal record of type ${record.type} cannot be written: ${formatPath(flaw.path)} ${flaw.problem}`,
    );
  const json = canonical(record as unknown as Json);
  return `${sha256(json).slice(0, 16)} ${json}\n`;
}

/** Undefined where nothing complete was ever written. @param afterLoss as for a store. @throws Refusal for damage before the end, naming the line. */
export function decodeJournal(
  source: string,
  file: string,
  afterLoss = ADOPTED,
): Journal | undefined {
  const lines = source.split('\n');
  if (lines.pop() === '' && lines.length > 0 && !intact(lines.at(-1) as string)) lines.pop();
  const [begin, ...records] = lines.map((line, index) =>
    decodeRecord(line, index, file, afterLoss),
  );
  if (!begin) return undefined;
  return {
    begin: begin as Begin,
    records: records as readonly RunRecord[],
    text: lines.map((line) => `${line}\n`).join(''),
  };
}

const intact = (line: string): boolean =>
  line[16] === ' ' && sha256(line.slice(17)).startsWith(line.slice(0, 16));

function decodeRecord(line: string, index: number, file: string, afterLoss: string): JournalRecord {
  const wrong = (problem: string): never =>
    damaged(file, { line: index + 1, column: 1 }, problem, adviceFor(file, afterLoss));
  if (!intact(line)) return wrong('the checksum of the record does not fit');
  const parsed = parseJsonText(line.slice(17));
  const record = ('value' in parsed ? parsed.value : undefined) as JournalRecord | undefined;
  const shape = recordShapes.get(record?.type);
  if (!record || !shape) return wrong('the record is of no known type');
  const flaw = shape(record);
  if (flaw) return wrong(`${formatPath(flaw.path)} ${flaw.problem}`);
  return (record.type === 'begin') === (index === 0)
    ? record
    : wrong(
        index === 0
          ? 'a journal starts with a begin record'
          : 'a begin record stands in its middle',
      );
}

/** What the command does about objects that only lost records knew. */
export const ADOPTED =
  'The next plan then offers to adopt what is declared and there already, by its identity, and creates nothing that exists.';

/** What to do about a journal that cannot be used. */
export function adviceFor(file: string, afterLoss: string): string {
  return `It holds what an interrupted run did last. Restore it from a backup or, where there is none, move it away: mv ${shellWord(file)} ${shellWord(`${file}.damaged`)}\n${afterLoss}`;
}
