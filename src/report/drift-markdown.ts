// An audit as a comment or a job summary: counts first, a table of objects, their attributes folded.
import type { DriftDocument, DriftRecord } from '../model/index.js';
import { driftDifference, outsideDifference } from './differences.js';
import { code, prose, shorten } from './inert.js';
import type { Lines } from './layout.js';
import { diagnosticItems, differenceFence, fitted, folded, footer, table, type Level } from './markdown.js';
import { changedBy, driftMeanings, driftSentence, driftSigns, place } from './words.js';

export function driftMarkdown(document: DriftDocument): string {
  return fitted((level) => driftLines(document, level));
}

function* driftLines(document: DriftDocument, level: Level): Lines {
  yield* ['<!-- trueup:drift -->', `### ${driftSentence(document)}`, ''];
  yield* diagnosticItems(document.diagnostics, level);
  const { drift } = document;
  if (drift.length > 0) yield* table(['Status', 'Address', 'Meaning', 'Changed', 'Declared'], drift, level, (record) => cellsOf(record, level));
  const changed = drift.filter(({ changes }) => changes.length > 0);
  if (level.details && changed.length > 0)
    yield* folded(
      'Attributes, from declared (settled: last applied) to live',
      changed.flatMap((record) => [...detailOf(record, level)]),
    );
  if (!level.details) yield* ['Attribute details are left out: the audit is too long for a comment. The text and JSON forms have them.', ''];
  yield* footer(document, level);
}

function cellsOf(record: DriftRecord, level: Level): readonly string[] {
  const { status, address, origin } = record;
  const verb = `${code(driftSigns[status])} ${status}`;
  return [
    status === 'gone' ? `**${verb}**` : verb,
    code(shorten(address, level.length)),
    driftMeanings[status],
    prose(shorten(changedBy(record), level.length)),
    origin ? code(shorten(place(origin), level.length)) : '',
  ];
}

function* detailOf({ address, status, changes }: DriftRecord, level: Level): Lines {
  yield* ['', code(shorten(address, level.length)), ''];
  yield* differenceFence(changes.map(status === 'settled' ? outsideDifference : driftDifference), level);
}
