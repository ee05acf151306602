// Which objects were created, deleted or updated less than the settle time ago: readings may show these writes late.
// When an object counts as deleted outside of trueup is decided in plan/match.ts and live-collections.ts.
import {
  ageOf,
  digest,
  redact,
  type Emit,
  type Kind,
  type Live,
  type Moment,
  type Now,
  type Recent,
  type State,
  type Value,
  type Values,
} from '../model/index.js';
import type { Clock } from '../platform/index.js';
import { driftOf } from './plan/diff.js';

/** @param skew milliseconds by which the clock of the service is ahead of this machine's, if known */
export const nowOf = (clock: Clock, skew?: number, waited = 0): Now => ({
  boot: clock.boot(),
  server: skew === undefined ? undefined : clock.now() + skew,
  waited,
});

/** Now, by every clock there is, so that an age can be told later. @param skew as for `nowOf` */
export function momentNow(clock: Clock, skew: number | undefined): Moment {
  const now = clock.now();
  const { id, milliseconds } = clock.boot();
  return {
    at: new Date(now).toISOString(),
    ...(skew !== undefined && { server_at: new Date(now + skew).toISOString() }),
    ...(id !== null && { boot: { id, milliseconds: Math.round(milliseconds) } }),
  };
}

interface WaitTools {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/** Waits, and tells for what. @throws the reason of the signal */
export function waitFor(
  { clock, emit, signal }: WaitTools,
  why: string,
  milliseconds: number,
): Promise<void> {
  emit({ type: 'waiting', why, milliseconds });
  return clock.sleep(milliseconds, signal);
}

/** Possible errors of readings about objects that were written recently. */
export interface Visibility {
  /** Created less than the settle time ago. `unseen`: no listing has shown it, so its absence says nothing. */
  created(kind: string, id: string): 'seen' | 'unseen' | undefined;
  /** Deleted less than the settle time ago: it counts as absent, whatever a listing shows. */
  wasDeletedRecently(kind: string, id: string): boolean;
  /** True if an object differs from `base` only in values that trueup replaced less than the settle time ago: the reading may be old. */
  isOld(kind: Kind, base: Values, live: Live): boolean;
}

/** The digest that the state keeps of a value that an update replaces. */
export const replacedValue = (path: string, value: Value | undefined): string =>
  digest([path, redact(value ?? null)]);

/**
 * @param held objects that the state holds, as `objectsIn`: what was deleted and turned out to be still there is one of them
 * @param now asked once, when the first response of the service has given its time
 */
export function visibilityOf(
  { recent = [], spent = [] }: Partial<Pick<State, 'recent' | 'spent'>>,
  held: () => readonly string[],
  settleMilliseconds: number,
  now: () => Now,
): Visibility {
  if (recent.length + spent.length === 0) return nothingRecent;
  const known = once(() => {
    const at = now();
    const isYoung = (moment: Moment): boolean => ageOf(moment, at) < settleMilliseconds;
    const replaced = spent
      .filter(isYoung)
      .flatMap(({ kind, id, replaced: some = [] }) => some.map((one) => `${kind} ${id} ${one}`));
    return { ...entered(recent.filter(isYoung), new Set(held())), replaced: new Set(replaced) };
  });
  return {
    created: (kind, id) => known().created.get(`${kind} ${id}`),
    wasDeletedRecently: (kind, id) => known().deleted.has(`${kind} ${id}`),
    isOld(kind, base, live) {
      const { replaced } = known();
      const changes = replaced.size === 0 ? [] : driftOf(kind, base, live);
      const wasReplaced = ({ path, after }: (typeof changes)[number]): boolean =>
        replaced.has(`${kind.name} ${live.id} ${replacedValue(path, after)}`);
      return changes.length > 0 && changes.every(wasReplaced);
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function entered(recent: readonly Recent[], held: ReadonlySet<string>) {
  const [created, deleted] = [new Map<string, 'seen' | 'unseen'>(), new Set<string>()];
  for (const { kind, created: ids, unseen, deleted: gone } of recent) {
    const late = new Set(unseen);
    for (const id of ids) created.set(`${kind} ${id}`, late.has(id) ? 'unseen' : 'seen');
    for (const id of gone) if (!held.has(`${kind} ${id}`)) deleted.add(`${kind} ${id}`);
  }
  return { created, deleted };
}

/** For a run without recent writes. */
export const nothingRecent: Visibility = {
  created: () => undefined,
  wasDeletedRecently: () => false,
  isOld: () => false,
};
