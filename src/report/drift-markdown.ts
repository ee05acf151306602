// An audit as a comment or a job summary: counts first, a table of objects, their attributes folded.
import type { HealthIssue, DriftDocument, DriftRecord, UnmanagedRecord } from '../model/index.js';
import { accessItems, accessSentence } from './access-text.js';
import { loggedDifferences, recordDifference } from './differences.js';
import { expectationItems } from './expectations-text.js';
import { code, prose } from './escaping.js';
import type { Lines } from './layout.js';
import {
  diagnosticItems,
  differenceFence,
  fitted,
  folded,
  foldedDetails,
  footer,
  leftOut,
  some,
  markdownTable,
  type Level,
} from './markdown.js';
import {
  healthSentences,
  authorSentence,
  changedBy,
  driftMeanings,
  driftSentence,
  driftSignOf,
  place,
  plural,
} from './words.js';

export function driftMarkdown(document: DriftDocument): string {
  return fitted(function* (level) {
    yield '<!-- trueup:drift -->';
    yield* driftLines(document, level);
  });
}

/** Without the marker, at most `limit` characters. */
export const driftComment = (document: DriftDocument, limit: number): string =>
  fitted((level) => driftLines(document, level), limit);

function* driftLines(document: DriftDocument, level: Level): Lines {
  const { drift, access } = document;
  yield* [`### ${driftSentence(document)}`, ''];
  yield* diagnosticItems(document.diagnostics, level);
  const titles = ['Status', 'Address', 'Meaning', 'Changed', 'Declared'];
  if (drift.length > 0)
    yield* markdownTable(titles, drift, level, (record) => cellsOf(record, level));
  const changed = drift.filter(
    ({ changes, changed_by }) => changes.length > 0 || loggedDifferences(changed_by).length > 0,
  );
  const title = 'Attributes, from declared (settled: last applied) to live';
  yield* foldedDetails(title, changed, level, (record) => detailOf(record, level));
  yield* expectationItems(document.expectations, level);
  yield* healthIssueItems(document.health, level);
  yield* unmanagedTable(document.unmanaged_objects, level);
  if (access)
    yield* folded(prose(accessSentence(access)), ['', ...accessItems(access, atMost(level))]);
  if (!level.details) yield* leftOut('Attribute details', 'audit');
  yield* footer(document, level);
}

function cellsOf(record: DriftRecord, level: Level): readonly string[] {
  const { status, address, origin } = record;
  const verb = `${code(driftSignOf(status))} ${status}`;
  return [
    status === 'gone' ? `**${verb}**` : verb,
    level.code(address),
    driftMeanings[status],
    level.prose(changedBy(record)),
    origin ? level.code(place(origin)) : '',
  ];
}

function* detailOf(record: DriftRecord, level: Level): Lines {
  const { address, changes, changed_by } = record;
  yield* ['', level.code(address), ''];
  if (changes.length > 0) yield* differenceFence(changes.map(recordDifference(record)), level);
  const logged = loggedDifferences(changed_by);
  if (logged.length === 0) return;
  yield* ['', 'In the activity log:', ''];
  yield* differenceFence(logged, level);
}

/** Entries of the lists beside the drift itself: their counts say how many there are. */
const most = 50;

const atMost = (level: Level): Level => ({ ...level, rows: Math.min(level.rows, most) });

function* healthIssueItems(health: readonly HealthIssue[], level: Level): Lines {
  if (health.length === 0) return;
  yield* ['**Health issues**', ''];
  yield* some(healthSentences(health), atMost(level), (sentence) => [`- ${level.prose(sentence)}`]);
  yield '';
}

function* unmanagedTable(unmanaged: readonly UnmanagedRecord[], level: Level): Lines {
  if (unmanaged.length === 0) return;
  const cells = (one: UnmanagedRecord): readonly string[] => [
    level.code(one.kind),
    level.code(one.id),
    level.prose(one.label ?? ''),
    level.prose(authorSentence(one)),
  ];
  yield* folded(`Unmanaged: ${plural(unmanaged.length, 'object')}`, [
    '',
    ...markdownTable(['Kind', 'Id', 'Name', 'Changed'], unmanaged, atMost(level), cells),
  ]);
}
