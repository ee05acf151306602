// A reading after a write. A service may show a write late: while an object shows its earlier value, it is read again,
// with growing pauses, until the settle time is over. Any other value is final.
import {
  defined,
  keptMembers,
  Refusal,
  same,
  type CloudReader,
  type Kind,
  type Live,
  type Values,
} from '../../model/index.js';
import type { Clock } from '../../platform/index.js';
import { isApplied } from '../plan/diff.js';
import { namedPart } from '../plan/document-diff.js';
import { lookAgain, secretless } from '../live-collections.js';
import type { Visibility } from '../recent-writes.js';
import { isFromBefore, type DocumentWrite } from './document-write.js';

/** The result of a reading after a write: it took effect, it does not show yet, the object holds something else, or the reading failed. */
export type Shown = 'taken' | 'earlier' | 'other' | 'unread';

interface Reading {
  readonly shown: Shown;
  readonly live?: Live;
}

export interface ReadBackTools {
  readonly cloud: Pick<CloudReader, 'find' | 'list'>;
  readonly clock: Pick<Clock, 'sleep' | 'monotonic'>;
  readonly signal: AbortSignal;
  readonly settleMilliseconds: number;
}

/** A written object. */
export interface ReadBack {
  readonly kind: Kind;
  readonly id: string;
  /** Judges a reading; `live` is absent where the object is not there. `isLast`: there will be no other. */
  readonly judge: (live: Live | undefined, isLast: boolean) => Exclude<Shown, 'unread'>;
}

/** Milliseconds until a reading that is too old is repeated; each further pause is twice as long. */
export const FIRST_PAUSE = 500;

/**
 * Reads each object until it is clear what became of it, for the settle time at most. Then `earlier` means that it still
 * shows the value before, and `unread` that no reading of it succeeded.
 * @param count how many objects of a kind there are, to choose between a listing and single readings
 */
export async function readBack<T extends ReadBack>(
  tools: ReadBackTools,
  written: readonly T[],
  count: (kind: Kind) => number,
): Promise<ReadonlyMap<T, Reading>> {
  const found = new Map<T, Reading>();
  const began = tools.clock.monotonic();
  let open = written;
  for (let pause = FIRST_PAUSE; ; pause *= 2) {
    for (const [one, seen] of await readOnce(tools, open, count))
      // An earlier reading counts for more than a later failure to read.
      if (seen.shown !== 'unread' || !found.has(one)) found.set(one, seen);
    open = open.filter((one) => ['earlier', 'unread'].includes(found.get(one)?.shown ?? ''));
    const left = tools.settleMilliseconds - (tools.clock.monotonic() - began);
    if (open.length === 0 || left <= 0 || tools.signal.aborted) {
      for (const [one, { shown, live }] of found)
        if (shown === 'earlier')
          found.set(one, { shown: one.judge(live, true), ...defined({ live }) });
      return found;
    }
    await tools.clock.sleep(Math.min(pause, left), tools.signal).catch(() => undefined);
  }
}

/** By listing or one by one, whichever is fewer requests. A reading that fails proves nothing. */
async function readOnce<T extends ReadBack>(
  { cloud, signal }: ReadBackTools,
  open: readonly T[],
  count: (kind: Kind) => number,
): Promise<ReadonlyMap<T, Reading>> {
  const found = new Map<T, Reading>();
  for (const kind of new Set(open.map((one) => one.kind))) {
    const mine = open.filter((one) => one.kind === kind);
    const looks = kind.operations.by_ids ? Math.ceil(mine.length / 100) : mine.length;
    const pages = Math.ceil((count(kind) + 1) / kind.operations.page);
    try {
      const ids = mine.map(({ id }) => id);
      const objects = looks <= pages ? await cloud.find(kind, ids) : await listed(cloud, kind, ids);
      const live = new Map(secretless(kind, objects).map((one) => [one.id, one]));
      for (const one of mine) {
        const now = live.get(one.id);
        found.set(one, { shown: one.judge(now, false), ...defined({ live: now }) });
      }
    } catch (error) {
      if (!(error instanceof Refusal) && !signal.aborted) throw error;
      for (const one of mine) found.set(one, { shown: 'unread' });
    }
  }
  return found;
}

/** The objects of a listing. One that moved between two pages while they were read is in neither, so ids that it lacks are looked for again. */
async function listed(
  cloud: ReadBackTools['cloud'],
  kind: Kind,
  ids: readonly string[],
): Promise<readonly Live[]> {
  const { objects, pages = 1 } = await cloud.list(kind);
  const shown = new Set(objects.map(({ id }) => id));
  const missing = ids.filter((id) => !shown.has(id));
  return pages > 1 && missing.length > 0
    ? [...objects, ...(await lookAgain(cloud, kind, missing))]
    : objects;
}

export interface SentFields {
  readonly fields: Values;
  /** The object before the write, as far as it was looked at. */
  readonly before: Values;
  /** For an update of a kind that holds a document: what to compare after the write. */
  readonly document?: DocumentWrite;
  readonly isOld?: Visibility['isOld'];
}

/** Whether a reading shows an update, the value before it, or something else. @param isLast as for `judge` */
export function shownOf(
  kind: Kind,
  { fields, before, document, isOld }: SentFields,
  live: Live | undefined,
  isLast: boolean,
): 'taken' | 'earlier' | 'other' {
  if (!live) return 'other';
  if (!isLast && document && isFromBefore(kind, document.before, live)) return 'earlier';
  if (isApplied(kind, fields, live)) return 'taken';
  const then = namedPart(kind, fields, before, before);
  const now = namedPart(kind, fields, live.values, before);
  const unmoved = Object.keys(fields).every((name) =>
    same(kind.attributes[name]!, then[name], now[name]),
  );
  const sent = keptMembers(then, (_, name) => Object.hasOwn(fields, name));
  return unmoved || isOld?.(kind, sent, live) ? 'earlier' : 'other';
}
