// An audit as a comment or a job summary: counts first, a table of objects, their attributes folded.
import type { HealthIssue, DriftDocument, DriftRecord, UnmanagedRecord } from '../model/index.js';
import { accessItems, accessSentence } from './access-text.js';
import { addressList } from './change-groups.js';
import { loggedDifferences, recordDifference } from './differences.js';
import { changedByAll, driftGroups } from './drift-groups.js';
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
import type { Style } from './style.js';
import {
  healthSentences,
  authorSentence,
  commonPlaces,
  driftMeaning,
  driftSentence,
  driftSignOf,
  plural,
} from './words.js';

export function driftMarkdown(
  document: DriftDocument,
  { verbose }: Pick<Style, 'verbose'>,
): string {
  return fitted(function* (level) {
    yield '<!-- trueup:drift -->';
    yield* driftLines(document, level, verbose);
  });
}

/** Without the marker, at most `limit` characters. */
export const driftComment = (document: DriftDocument, limit: number): string =>
  fitted((level) => driftLines(document, level), limit);

function* driftLines(document: DriftDocument, level: Level, verbose?: boolean): Lines {
  const { access } = document;
  const groups = driftGroups(document.drift, verbose);
  yield* [`### ${driftSentence(document)}`, ''];
  const titles = ['Status', 'Address', 'Meaning', 'Changed', 'Declared'];
  if (groups.length > 0)
    yield* markdownTable(titles, groups, level, (records) => cellsOf(records, level));
  const changed = groups.filter(
    ([record]) => record!.changes.length > 0 || loggedDifferences(record!.changed_by).length > 0,
  );
  const title = 'Attributes, from declared (settled: last applied) to live';
  yield* foldedDetails(title, changed, level, (records) => detailOf(records, level));
  yield* diagnosticItems(document.diagnostics, level, verbose);
  yield* expectationItems(document.expectations, level);
  yield* healthIssueItems(document.health, level);
  yield* unmanagedTable(document.unmanaged_objects, level);
  if (access)
    yield* folded(prose(accessSentence(access)), ['', ...accessItems(access, atMost(level))]);
  if (!level.details) yield* leftOut('Attribute details', 'audit');
  yield* footer(document, level);
}

function cellsOf(records: readonly DriftRecord[], level: Level): readonly string[] {
  const { status } = records[0]!;
  const verb = `${code(driftSignOf(status))} ${status}`;
  return [
    status === 'gone' ? `**${verb}**` : verb,
    level.code(addressList(records, status === 'gone')),
    driftMeaning(records[0]!),
    level.prose(changedByAll(records)),
    commonPlaces(records).map(level.code).join(),
  ];
}

function* detailOf(records: readonly DriftRecord[], level: Level): Lines {
  const record = records[0]!;
  const { changes, changed_by, status } = record;
  yield* ['', level.code(addressList(records, status === 'gone')), ''];
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
