// Shared by Markdown reports: they fit into a pull-request comment, shortened level by level, with correct counts.
import { defined, type Diagnostic, type DriftDocument, type PlanDocument } from '../model/index.js';
import { allBriefly } from './brief-diagnostics.js';
import { remark, rows, type Difference } from './differences.js';
import { code, fence, prose, shorten } from './escaping.js';
import type { Lines } from './layout.js';
import { cloudSentence, COMPARED, diagnosticPlaces, unmanagedSentence } from './words.js';

/** A comment takes fewer than 65,536 characters; what is left is for what a CI job puts around. */
const limit = 65_000;

/** How much is shown. @param rows entries of each list @param length characters of each text */
const levelOf = (rows: number, length: number, details = false, bodies = false) => ({
  bodies,
  details,
  rows,
  length,
  /** A code span, no longer than that. */
  code: (text: string): string => code(shorten(text, length)),
  prose: (text: string): string => prose(shorten(text, length)),
});
export type Level = Readonly<ReturnType<typeof levelOf>>;

const levels: readonly Level[] = [
  levelOf(Infinity, 2000, true, true),
  levelOf(Infinity, 2000, true),
  levelOf(Infinity, 400),
  ...[400, 200, 100, 50, 20, 5, 0].map((rows) => levelOf(rows, 120)),
];

/** The fullest level that fits. Writing stops where a level has grown too long. */
export function fitted(write: (level: Level) => Lines, most = limit): string {
  for (const level of levels) {
    const text = joined(write(level), most);
    if (text !== undefined) return text;
  }
  throw new Error('a report without rows is too long for a comment');
}

function joined(lines: Lines, most: number): string | undefined {
  const parts: string[] = [];
  let length = 0;
  for (const line of lines) {
    length += line.length + 1;
    if (length > most) return undefined;
    parts.push(line + '\n');
  }
  return parts.join('');
}

/** The first entries, then a line that counts the others. */
export function* some<T>(
  all: readonly T[],
  level: Level,
  write: (one: T, index: number) => Iterable<string>,
): Lines {
  const shown = all.slice(0, level.rows);
  for (const [index, one] of shown.entries()) yield* write(one, index);
  if (shown.length < all.length) yield* ['', `… and ${all.length - shown.length} more`];
}

/** A table whose cells are finished Markdown in one line. */
export function* markdownTable<T>(
  titles: readonly string[],
  all: readonly T[],
  level: Level,
  cells: (one: T) => readonly string[],
): Lines {
  if (level.rows > 0) yield* [`| ${titles.join(' | ')} |`, `|${' --- |'.repeat(titles.length)}`];
  yield* some(all, level, (one) => [`| ${cells(one).join(' | ')} |`]);
  yield '';
}

/** The content begins with an empty line, so that it is read as Markdown. */
export function* folded(title: string, inside: Iterable<string>): Lines {
  yield `<details><summary>${title}</summary>`;
  yield* inside;
  yield* ['', '</details>', ''];
}

/** The details of each entry, folded; empty without entries or without space. */
export function* foldedDetails<T>(
  title: string,
  all: readonly T[],
  level: Level,
  write: (one: T) => Iterable<string>,
): Lines {
  if (level.details && all.length > 0)
    yield* folded(
      title,
      all.flatMap((one) => [...write(one)]),
    );
}

export const leftOut = (what: string, report: string): readonly string[] => [
  `${what} are left out: the ${report} is too long for a comment. The text and JSON forms have them.`,
  '',
];

/** Attribute by attribute, in the form that is coloured as a diff. */
export function* differenceFence(differences: readonly Difference[], level: Level): Lines {
  yield* fence('diff', differenceText(differences, level));
}

function* differenceText(differences: readonly Difference[], level: Level): Lines {
  for (const difference of differences) {
    const later = remark(difference);
    const path = shorten(difference.path, level.length);
    const all = rows(difference);
    const single = /^(?:[-+]?|-\+|\+-)$/.test(all.map(({ sign }) => sign).join(''));
    if (!single) yield `  ${path}:${later}`;
    for (const { sign, text } of all)
      yield single
        ? `${sign} ${path}: ${shorten(text, level.length)}${sign === '+' ? later : ''}`
        : `${sign}   ${shorten(text, level.length)}`;
  }
}

/** The lines of a detail, and those of a block in it that is to be written into a declaration file. */
function withoutBlock(
  detail: string | undefined,
): readonly [said: readonly string[], block: readonly string[]] {
  const lines = detail?.split('\n') ?? [];
  const start = lines.indexOf('moved:');
  if (start < 0) return [lines, []];
  const after = lines.findIndex((line, index) => index > start && !line.startsWith('  '));
  const end = after < 0 ? lines.length : after;
  return [[...lines.slice(0, start), ...lines.slice(end)], lines.slice(start, end)];
}

export function* diagnosticItems(
  diagnostics: readonly Diagnostic[],
  level: Level,
  verbose?: boolean,
): Lines {
  if (diagnostics.length === 0) return;
  yield* some(
    verbose ? diagnostics : allBriefly(diagnostics),
    level,
    ({ severity, summary, detail, address, origin, code: name }) => {
      const where = diagnosticPlaces(defined({ origin, address })).map(level.code);
      const [said, block] = withoutBlock(detail);
      const more = said.length === 0 ? '' : ` — ${said.map(level.prose).join('<br>')}`;
      return [
        `- **${severity}**: ${level.prose(summary)}${more} ${[...where, code(name)].join(' ')}`,
        ...(block.length === 0 ? [] : [...fence('yaml', block)].map((line) => `  ${line}`)),
      ];
    },
  );
  yield '';
}

const stateWords = ({ lineage, serial }: PlanDocument['state']): string =>
  lineage === null ? 'no state' : `state serial ${serial}`;

/** The last lines: what is left alone, and what the report was made of. */
export function* footer(document: PlanDocument | DriftDocument, level: Level): Lines {
  const { target, state, compared, trueup_version: version } = document;
  const unmanaged = unmanagedSentence(document.unmanaged);
  if (unmanaged !== undefined) yield* [prose(shorten(unmanaged, level.length * 4)), ''];
  const source = compared
    ? COMPARED
    : `Cloud ${level.code(cloudSentence({ target }))} · ${stateWords(state)}`;
  yield `${source} · trueup ${level.code(version)}`;
}
