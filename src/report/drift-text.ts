// An audit for a terminal: what is not as declared or not as last applied, who changed it, the summary last.
import {
  type HealthIssue,
  type Author,
  type DriftDocument,
  type DriftRecord,
  type UnmanagedRecord,
} from '../model/index.js';
import { accessSentence } from './access-text.js';
import { appliedOtherwise, inline, loggedDifferences, recordDifference } from './differences.js';
import { ending } from './closing-lines.js';
import { expectationLines } from './expectations-text.js';
import { differenceLines, flow, type Lines } from './layout.js';
import { paintOf, palette, widthOf, type Palette, type Style } from './style.js';
import {
  healthIssueSentence,
  authorSentence,
  changedBy,
  driftActions,
  driftMeanings,
  driftSentence,
  driftSigns,
  place,
  unmanagedObjectSentence,
} from './words.js';

/** Entries of a list that are shown; JSON has all of them. */
const most = 20;

export function* driftText(document: DriftDocument, style: Style): Lines {
  const color = palette(style);
  const width = widthOf(style);
  for (const record of document.drift) {
    yield* recordLines(record, color, width);
    yield '';
  }
  yield* expectationLines(document.expectations, color, width);
  yield* healthIssueLines(document.health, color, width);
  yield* unmanagedLines(document.unmanaged_objects, color, width);
  if (document.access) yield* [...flow(accessSentence(document.access), { width }), ''];
  yield* ending(
    document,
    { sentence: driftSentence(document), targeted: document.drift.length > 0 },
    color,
    width,
  );
}

/** One object of an audit in full. */
export function* recordLines(record: DriftRecord, color: Palette, width: number): Lines {
  const { status, address, id, origin, changes } = record;
  yield* flow(address, {
    width,
    lead: `${driftSigns[status]} ${status} `,
    hang: 4,
    paint: color.bold,
    paintLead: paintOf(color, driftActions[status]),
  });
  const about = [
    driftMeanings[status],
    ...(id === null ? [] : [`id ${id}`]),
    ...(origin ? [place(origin)] : []),
  ];
  yield* flow(about.join(' · '), { width, lead: '  ', paint: color.dim });
  if (status !== 'missing' && status !== 'undeclared')
    yield* flow(changedBy(record), { width, lead: '  ', paint: color.dim });
  if (changes.length > 0)
    yield color.dim(status === 'settled' ? '    last applied → live' : '    declared → live');
  const otherwise = new Map(
    appliedOtherwise(record).map((change) => [change.path, change.applied]),
  );
  for (const change of changes) {
    yield* differenceLines([recordDifference(record)(change)], color, width, 4);
    const applied = otherwise.get(change.path);
    if (applied !== undefined)
      yield* flow(`last applied: ${inline(applied)}`, { width, lead: '      ', paint: color.dim });
  }
  yield* loggedLines(record.changed_by, color, width);
}

/** What the activity log shows of the change. */
function* loggedLines(author: Author, color: Palette, width: number): Lines {
  const differences = loggedDifferences(author);
  if (differences.length === 0) return;
  yield color.dim('    in the activity log');
  yield* differenceLines(differences.slice(0, most), color, width, 4);
  yield* rest(differences.length, color);
}

function* healthIssueLines(health: readonly HealthIssue[], color: Palette, width: number): Lines {
  if (health.length === 0) return;
  yield color.bold('Health issues:');
  for (const issue of health.slice(0, most))
    yield* flow(healthIssueSentence(issue), { width, lead: '  ! ', paintLead: color.yellow });
  yield* rest(health.length, color);
  yield '';
}

function* unmanagedLines(
  unmanaged: readonly UnmanagedRecord[],
  color: Palette,
  width: number,
): Lines {
  if (unmanaged.length === 0) return;
  yield color.bold('Unmanaged:');
  for (const one of unmanaged.slice(0, most)) {
    yield* flow(unmanagedObjectSentence(one), { width, lead: '  ', hang: 4 });
    if (one.changed_by !== 'unknown')
      yield* flow(authorSentence(one), { width, lead: '    ', paint: color.dim });
  }
  yield* rest(unmanaged.length, color);
  yield '';
}

function* rest(count: number, color: Palette): Lines {
  if (count > most)
    yield color.dim(`    … and ${count - most} more (--format json has all of them)`);
}
