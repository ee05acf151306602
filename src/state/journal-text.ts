// The journal as text: append-only, one checksummed record per line, `<16 hex digits of SHA-256> <canonical JSON>`. A
// crash can damage only the end: an incomplete last line is dropped, and any other damage is refused.
import {
  canonical,
  sha256,
  shellWord,
  type Begin,
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
  return checkedLine(record);
}

/** A line of canonical JSON behind the start of its own checksum. */
export function checkedLine(value: object): string {
  const json = canonical(value);
  return `${sha256(json).slice(0, 16)} ${json}\n`;
}

/** The value of a line without its end; undefined where its checksum does not fit. */
export const parseCheckedLine = (line: string): unknown =>
  intact(line) ? valueIn(line) : undefined;

/** The value behind the checksum, which is not looked at. */
function valueIn(line: string): unknown {
  const parsed = parseJsonText(line.slice(17));
  return 'value' in parsed ? parsed.value : undefined;
}

/** The records of lines that a run wrote in one piece, which are never cut. @param lines without their ends @param first number of the first of them */
export function decodeWave(
  lines: readonly string[],
  file: string,
  first: number,
  afterLoss = ADOPTED,
): readonly RunRecord[] {
  return lines.flatMap((line, index) => {
    const record = decodeRecord(line, first - 1 + index, file, afterLoss);
    return record.type === 'begin' ? [] : [record];
  });
}

/** Undefined where nothing complete was ever written. @param afterLoss as for a store. @throws Refusal for damage before the end, naming the line. */
export function decodeJournal(
  source: string,
  file: string,
  afterLoss = ADOPTED,
): Journal | undefined {
  const lines = source.split('\n');
  if (lines.pop() === '' && lines.length > 0 && !intact(lines.at(-1)!)) lines.pop();
  const [first, ...others] = lines;
  const begin = first === undefined ? undefined : decodeRecord(first, 0, file, afterLoss);
  if (begin?.type !== 'begin') return undefined;
  const records = decodeWave(others, file, 2, afterLoss);
  return { begin, records, text: lines.map((line) => `${line}\n`).join('') };
}

const intact = (line: string): boolean =>
  line[16] === ' ' && sha256(line.slice(17)).startsWith(line.slice(0, 16));

function decodeRecord(line: string, index: number, file: string, afterLoss: string): JournalRecord {
  const wrong = (problem: string): never =>
    damaged(file, { line: index + 1, column: 1 }, problem, adviceFor(file, afterLoss));
  if (!intact(line)) return wrong('the checksum of the record does not fit');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its shape is checked below
  const record = valueIn(line) as JournalRecord | undefined;
  const shape = recordShapes.get(record?.type);
  if (!record || !shape) return wrong('the record is of no known type');
  const flaw = shape(record);
  if (flaw) return wrong(`${formatPath(flaw.path)} ${flaw.problem}`);
  return (record.type === 'begin') === (index === 0)
    ? record
    : wrong(
        index === 0
          ? 'a journal starts with a begin record'
          : 'it has a begin record in the middle',
      );
}

/** The effect of lost records on the command. */
export const ADOPTED =
  'The next plan then offers to adopt existing objects that are declared, by their identity, and creates none of them again.';

/** Advice for a journal that cannot be used. */
export function adviceFor(file: string, afterLoss: string): string {
  return `It holds what an interrupted run did last. Restore it from a backup or, where there is none, move it away: mv ${shellWord(file)} ${shellWord(`${file}.damaged`)}\n${afterLoss}`;
}
