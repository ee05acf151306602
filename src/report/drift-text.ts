// An audit for a terminal: differences from the declarations or the last apply, their authors, the summary last.
import {
  canonical,
  compareText,
  groupedBy,
  type DriftDocument,
  type DriftRecord,
  type UnmanagedRecord,
} from '../model/index.js';
import { accessSentence } from './access-text.js';
import { addressList } from './change-groups.js';
import { appliedOtherwise, inline, loggedDifferences, recordDifference } from './differences.js';
import { ending } from './diagnostics-text.js';
import { expectationLines } from './expectations-text.js';
import { aside, differenceLines, flow, section, type Lines } from './layout.js';
import { paintOf, screenOf, type Screen, type Style } from './style.js';
import {
  healthIssueSentence,
  healthSentences,
  authorSentence,
  changedBy,
  isChangedOutside,
  driftActions,
  driftMeanings,
  driftSentence,
  driftSignOf,
  place,
  unmanagedObjectSentence,
} from './words.js';

export function* driftText(document: DriftDocument, style: Style): Lines {
  const screen = screenOf(style);
  const { drift, health, unmanaged_objects: unmanaged, access } = document;
  for (const records of groupedBy(drift, screen.verbose ? () => undefined : equalKey))
    yield* [...groupLines(records, screen), ''];
  yield* expectationLines(document.expectations, screen);
  const sentences = screen.verbose ? health.map(healthIssueSentence) : healthSentences(health);
  const issues = listed(sentences, screen, (sentence) =>
    flow(sentence, screen, { lead: '  ! ', paintLead: screen.yellow }),
  );
  yield* section('Health issues:', issues, screen);
  const objects = listed(unmanaged, screen, (one) => unmanagedLines(one, screen));
  yield* section('Unmanaged:', objects, screen);
  if (access) yield* [...flow(accessSentence(access), screen), ''];
  const isTargeted = drift.length > 0;
  yield* ending(document, { sentence: driftSentence(document), isTargeted }, screen);
}

/** The same for objects whose reading is the same but for address, id and time. */
function equalKey(record: DriftRecord): string {
  const { status, kind, changes, changed_by } = record;
  const { actor, actor_type, action } = changed_by === 'unknown' ? noAuthor : changed_by;
  const logged = loggedDifferences(changed_by).map((one) => ({ ...one }));
  const by = [actor, actor_type, action, isChangedOutside(record)];
  return canonical([status, kind, changes.map((one) => ({ ...one })), by, logged]);
}

const noAuthor = { actor: null, actor_type: null, action: null };

/** Who changed them, and between which times. */
function changedByAll(records: readonly DriftRecord[]): string {
  const [first] = records;
  const { changed_by, window } = first!;
  if (changed_by === 'unknown') {
    const ends = (side: keyof typeof window) => records.map((one) => one.window[side]);
    const [after, before] = [ends('after'), ends('before')];
    const merged = { after: bound(after, 'first'), before: bound(before, 'last') };
    return changedBy({ ...first!, window: merged });
  }
  const times = records.flatMap((one) => (one.changed_by === 'unknown' ? [] : one.changed_by.at));
  const [from, to] = [bound(times, 'first'), bound(times, 'last')];
  const sentence = changedBy(first!);
  return from === to
    ? sentence
    : sentence.replace(` at ${changed_by.at}`, ` from ${from} to ${to}`);
}

/** Null if any of the times is not known. */
function bound(times: readonly (string | null)[], which: 'first' | 'last'): string | null {
  const known = times.filter((one) => one !== null).toSorted(compareText);
  return known.length < times.length ? null : (known.at(which === 'first' ? 0 : -1) ?? null);
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
  const places = new Set(records.map(({ origin }) => origin && place(origin)));
  const about = [
    driftMeanings[status],
    ...(records.length > 1 || id === null ? [] : [`id ${id}`]),
    ...(places.size === 1 ? [...places].filter((one) => one !== null) : []),
  ];
  yield* aside(about.join(' · '), screen, 2);
  if (status !== 'missing' && status !== 'undeclared')
    yield* aside(changedByAll(records), screen, 2);
  if (changes.length > 0)
    yield screen.dim(status === 'settled' ? '    last applied → live' : '    declared → live');
  const otherwise = new Map(appliedOtherwise(record).map(({ path, applied }) => [path, applied]));
  for (const change of changes) {
    yield* differenceLines([recordDifference(record)(change)], screen);
    const applied = otherwise.get(change.path);
    if (applied !== undefined) yield* aside(`last applied: ${inline(applied)}`, screen, 6);
  }
  const logged = loggedDifferences(record.changed_by);
  if (logged.length === 0) return;
  yield screen.dim('    in the activity log');
  yield* differenceLines(logged.slice(0, most), screen);
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
