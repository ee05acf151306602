// An audit for a terminal: differences from the declarations or the last apply, their authors, the summary last.
import {
  defined,
  type DriftDocument,
  type DriftRecord,
  type UnmanagedRecord,
} from '../model/index.js';
import { accessSentence } from './access-text.js';
import { addressList, namesOnlySome, waysToSeeAll } from './change-groups.js';
import { appliedOtherwise, loggedDifferences, recordDifference } from './differences.js';
import { ending } from './diagnostics-text.js';
import { changedByAll, driftGroups } from './drift-groups.js';
import { expectationLines } from './expectations-text.js';
import { aside, differenceLines, flow, section, type Lines } from './layout.js';
import { paintOf, screenOf, type Screen, type Style } from './style.js';
import {
  healthIssueSentence,
  healthSentences,
  authorSentence,
  commonPlaces,
  driftActions,
  driftMeaning,
  driftSentence,
  driftSignOf,
  unmanagedObjectSentence,
  unmanagedSentence,
} from './words.js';

export function* driftText(document: DriftDocument, style: Style): Lines {
  const screen = screenOf(style);
  const { drift, health, unmanaged_objects: unmanaged, access } = document;
  for (const records of driftGroups(drift, screen.verbose))
    yield* [...groupLines(records, screen), ''];
  yield* expectationLines(document.expectations, screen);
  const sentences = screen.verbose ? health.map(healthIssueSentence) : healthSentences(health);
  const issues = listed(sentences, screen, (sentence) =>
    flow(sentence, screen, { lead: '  ! ', paintLead: screen.yellow }),
  );
  yield* section('Health issues:', issues, screen);
  const objects = listed(unmanaged, screen, (one) => unmanagedLines(one, screen));
  const counts = unmanagedSentence(document.unmanaged);
  if (counts !== undefined)
    yield* [...flow(counts, screen, { paint: screen.bold }), ...objects, ''];
  const isTargeted = drift.length > 0 || document.unmanaged_is_drift === true;
  const before = access ? accessSentence(access) : undefined;
  yield* ending(document, { before, sentence: driftSentence(document), isTargeted }, screen);
}

/** One object of an audit in full. */
export const recordLines = (record: DriftRecord, screen: Screen): Lines =>
  groupLines([record], screen);

function* groupLines(records: readonly DriftRecord[], screen: Screen): Lines {
  const record = records[0]!;
  const { status, id, changes } = record;
  const lead = `${driftSignOf(status)} ${status} `;
  const paintLead = paintOf(screen, driftActions[status]);
  const addresses = addressList(records, status === 'gone');
  yield* flow(addresses, screen, { lead, hang: 4, paint: screen.bold, paintLead });
  const about = [
    driftMeaning(record),
    ...(records.length > 1 || id === null ? [] : [`id ${id}`]),
    ...commonPlaces(records),
    ...waysToSeeAll(namesOnlySome(records.length) && status !== 'gone'),
  ];
  yield* aside(about.join(' · '), screen, 2);
  if (status !== 'missing' && status !== 'undeclared')
    yield* aside(changedByAll(records), screen, 2);
  if (changes.length > 0)
    yield screen.dim(status === 'settled' ? '    last applied → live' : '    declared → live');
  const otherwise = new Map(appliedOtherwise(record).map(({ path, applied }) => [path, applied]));
  const differences = changes.map((change) => {
    const applied = otherwise.get(change.path);
    const below = applied && `last applied: ${applied}`;
    return { ...recordDifference(record)(change), ...defined({ below }) };
  });
  yield* differenceLines(differences, screen);
  const logged = loggedDifferences(record.changed_by);
  if (logged.length === 0) return;
  yield screen.dim('    in the activity log');
  const { changed_by } = record;
  const isUpdate = changed_by !== 'unknown' && changed_by.action === 'update';
  yield* differenceLines(logged.slice(0, most), screen, isUpdate);
  yield* rest(logged.length, screen);
}

function* unmanagedLines(one: UnmanagedRecord, screen: Screen): Lines {
  yield* flow(unmanagedObjectSentence(one), screen, { lead: '  ', hang: 4 });
  if (one.changed_by !== 'unknown') yield* aside(authorSentence(one), screen, 4);
}

/** Entries of a list that are shown; JSON has all of them. */
const most = 20;

function* listed<T>(all: readonly T[], screen: Screen, write: (one: T) => Lines): Lines {
  const shown = screen.verbose ? all : all.slice(0, most);
  for (const one of shown) yield* write(one);
  if (shown.length < all.length) yield* rest(all.length, screen);
}

function* rest(count: number, { dim }: Screen): Lines {
  if (count > most) yield dim(`    … and ${count - most} more (--format json has all of them)`);
}
