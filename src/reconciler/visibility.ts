// Effects that listings may show late, by the age of their write.
import { ageOf, type Moment, type Now, type Recent } from '../model/index.js';
import type { Clock } from '../platform/index.js';

/** @param skew milliseconds by which the clock of the service is ahead of this machine's, if known */
export const nowOf = (clock: Clock, skew?: number, waited = 0): Now => ({
  boot: clock.boot(),
  server: skew === undefined ? undefined : clock.now() + skew,
  waited,
});

/** Now, by every clock there is. @param skew as for `nowOf` */
export function momentNow(clock: Clock, skew: number | undefined): Moment {
  const now = clock.now();
  return momentOf(
    clock,
    new Date(now).toISOString(),
    skew === undefined ? undefined : new Date(now + skew).toISOString(),
  );
}

/** What has to be stored for an age to be told later. */
export function momentOf(clock: Clock, at: string, server_at?: string): Moment {
  const { id, milliseconds } = clock.boot();
  return {
    at,
    ...(server_at !== undefined && { server_at }),
    ...(id !== null && { boot: { id, milliseconds: Math.round(milliseconds) } }),
  };
}

/** What listings may get wrong of objects that were created or deleted lately. */
export interface Visibility {
  /** Created less than the settle time ago. `unseen`: no listing has shown it, so its absence says nothing. */
  created(kind: string, id: string): 'seen' | 'unseen' | undefined;
  /** Deleted less than the settle time ago: it counts as absent, whatever a listing shows. */
  isDeleted(kind: string, id: string): boolean;
}

/**
 * @param held objects that the state holds, as `objectsIn`: what was deleted and turned out to be still there is one of them
 * @param now asked once, when the first answer of the service has told its time
 */
export function visibilityOf(
  recent: readonly Recent[] | undefined,
  held: () => readonly string[],
  settleMilliseconds: number,
  now: () => Now,
): Visibility {
  if (recent === undefined || recent.length === 0) return nothingRecent;
  const known = once(() => {
    const at = now();
    return entered(
      recent.filter((one) => ageOf(one, at) < settleMilliseconds),
      new Set(held()),
    );
  });
  return {
    created: (kind, id) => known().created.get(`${kind} ${id}`),
    isDeleted: (kind, id) => known().deleted.has(`${kind} ${id}`),
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function entered(
  recent: readonly Recent[],
  held: ReadonlySet<string>,
): {
  readonly created: ReadonlyMap<string, 'seen' | 'unseen'>;
  readonly deleted: ReadonlySet<string>;
} {
  const [created, deleted] = [new Map<string, 'seen' | 'unseen'>(), new Set<string>()];
  for (const { kind, created: ids, unseen, deleted: gone } of recent) {
    const late = new Set(unseen);
    for (const id of ids) created.set(`${kind} ${id}`, late.has(id) ? 'unseen' : 'seen');
    for (const id of gone) if (!held.has(`${kind} ${id}`)) deleted.add(`${kind} ${id}`);
  }
  return { created, deleted };
}

/** Where nothing was created or deleted lately. */
export const nothingRecent: Visibility = { created: () => undefined, isDeleted: () => false };
