// Objects of an audit that are read at once, because the same values changed by the same author.
import { canonical, compareText, groupedBy, type DriftRecord } from '../model/index.js';
import { byAddress } from './change-groups.js';
import { loggedDifferences } from './differences.js';
import { changedBy, isChangedOutside, orderedWindow } from './words.js';

/** @param verbose each object by itself */
export const driftGroups = (
  drift: readonly DriftRecord[],
  verbose: boolean | undefined,
): readonly (readonly DriftRecord[])[] =>
  groupedBy(drift, verbose ? () => undefined : equalKey).map((all) => all.toSorted(byAddress));

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
export function changedByAll(records: readonly DriftRecord[]): string {
  const [first] = records;
  const { changed_by, window } = first!;
  if (changed_by === 'unknown') {
    const ends = (side: keyof typeof window) =>
      records.map((one) => orderedWindow(one.window)[side]);
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
