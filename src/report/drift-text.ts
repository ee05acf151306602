// An audit for a terminal: what is not as declared or not as last applied, who changed it, the summary last.
import { equal, type DriftDocument, type DriftRecord } from '../model/index.js';
import { driftDifference, inline, outsideDifference } from './differences.js';
import { ending } from './ending.js';
import { differenceLines, flow, type Lines } from './layout.js';
import { paintOf, palette, widthOf, type Palette, type Style } from './style.js';
import { changedBy, driftActions, driftMeanings, driftSentence, driftSigns, place } from './words.js';

export function* driftText(document: DriftDocument, style: Style): Lines {
  const color = palette(style);
  const width = widthOf(style);
  for (const record of document.drift) {
    yield* recordLines(record, color, width);
    yield '';
  }
  yield* ending(document, driftSentence(document), document.drift.length > 0, color, width);
}

/** One object of an audit in full. */
export function* recordLines(record: DriftRecord, color: Palette, width: number): Lines {
  const { status, address, id, origin, changes } = record;
  yield* flow(address, { width, lead: `${driftSigns[status]} ${status} `, hang: 4, paint: color.bold, paintLead: paintOf(color, driftActions[status]) });
  const about = [driftMeanings[status], ...(id === null ? [] : [`id ${id}`]), ...(origin ? [place(origin)] : [])];
  yield* flow(about.join(' · '), { width, lead: '  ', paint: color.dim });
  if (status !== 'missing' && status !== 'undeclared') yield* flow(changedBy(record), { width, lead: '  ', paint: color.dim });
  if (changes.length === 0) return;
  yield color.dim(status === 'settled' ? '    last applied → live' : '    declared → live');
  for (const change of changes) {
    yield* differenceLines([status === 'settled' ? outsideDifference(change) : driftDifference(change)], color, width, 4);
    if (status !== 'settled' && !equal(change.applied, change.declared)) yield* flow(`last applied: ${inline(change.applied)}`, { width, lead: '      ', paint: color.dim });
  }
}
