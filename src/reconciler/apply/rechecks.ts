// Checks right before a write, because others may have changed objects since the plan: the rechecks of the provider's
// rules and, if the reading of the plan is old, that the object to create does not exist.
import {
  defined,
  refuse,
  type Change,
  type Create,
  type Judged,
  type Kind,
  type Live,
  type PolicyRule,
  type Recheck,
  type Rechecks,
  type RecheckTools,
  type Settings,
  type Values,
} from '../../model/index.js';
import type { Clock } from '../../platform/index.js';
import { isApplied } from '../plan/diff.js';
import { possibleDuplicates } from '../plan/possible-duplicates.js';
import { identityKey, ownRoot } from '../plan/match.js';
import type { LiveCollections } from '../live-collections.js';

interface Tools extends RecheckTools, Pick<Judged, 'addressOf'> {
  readonly rules: readonly PolicyRule[];
  readonly settings: Settings;
  /** Names of rules that may be broken. */
  readonly allow: readonly string[];
  /** True if an object existed when the plan was made, or was created by the run. */
  readonly isKnown: (kind: string, id: string) => boolean;
  /** True if the request of a create was sent, and its outcome is not known yet. */
  readonly isUnderWay: (change: Create) => boolean;
  /** Addresses whose declarations allow duplicates. */
  readonly duplicates: ReadonlySet<string>;
  readonly clock: Pick<Clock, 'boot'>;
  readonly settleMilliseconds: number;
}

/** @param liveObjects what the plan was made of; @param changes all of the plan */
export function rechecksOf(
  tools: Tools,
  liveObjects: LiveCollections,
  changes: readonly Change[],
): Rechecks {
  const { rules, settings, allow, addressOf } = tools;
  const plan: Judged = { changes, live: liveObjects, settings, ...defined({ addressOf }) };
  const asked = rules.flatMap((rule) =>
    allow.includes(rule.name) ? [] : (rule.rechecks?.(tools, plan) ?? []),
  );
  const absent = absence(tools, liveObjects);
  return {
    of(change, fields) {
      if (change.action === 'create') return absent(change, fields);
      const found = asked.flatMap((one) => one.of(change, fields) ?? []);
      return found.length === 0 ? undefined : allOf(found);
    },
    done: (change, entry) => asked.forEach((one) => one.done?.(change, entry)),
  };
}

const allOf = (rechecks: readonly Recheck[]): Recheck => ({
  async before() {
    for (const one of rechecks) await one.before();
  },
  async after() {
    for (const one of rechecks) {
      const failure = await one.after?.();
      if (failure) return failure;
    }
    return undefined;
  },
  async refused() {
    for (const one of rechecks) {
      const advice = await one.refused?.();
      if (advice !== undefined) return advice;
    }
    return undefined;
  },
});

/** Lists a kind, where its last listing is older than the settle time. */
function recentListings({ cloud, clock, settleMilliseconds }: Tools) {
  const readings = new Map<
    string,
    { readonly at: number; readonly found: Promise<readonly Live[]> }
  >();
  return (kind: Kind): Promise<readonly Live[]> => {
    const [known, now] = [readings.get(kind.name), clock.boot().milliseconds];
    if (known && now - known.at <= settleMilliseconds) return known.found;
    const found = cloud.list(kind).then(({ objects }) => objects);
    readings.set(kind.name, { at: now, found });
    found.catch(() => readings.delete(kind.name));
    return found;
  };
}

/** A reading that is older than the settle time says nothing any more of what exists: before something is created, the kind is listed again. */
function absence(
  tools: Tools,
  liveObjects: LiveCollections,
): (change: Create, fields: Values) => Recheck {
  const { clock, kinds, allow, settleMilliseconds, isKnown, wasDeletedRecently, isUnderWay } =
    tools;
  const asked = new Map<Create, Values>();
  const read = recentListings(tools);
  /** Without what other creates without a response so far have made: one object each. */
  const withoutSiblings = (change: Create, kind: Kind, news: readonly Live[]): readonly Live[] => {
    const own = new Set<Live>();
    for (const [other, fields] of asked) {
      if (other === change || other.kind !== change.kind || !isUnderWay(other)) continue;
      const made = news.find((live) => !own.has(live) && isApplied(kind, fields, live));
      if (made) own.add(made);
    }
    return news.filter((live) => !own.has(live));
  };
  const recheck = (change: Create, fields: Values): Recheck => ({
    async before() {
      const kind = kinds.get(change.kind)!;
      const collection = liveObjects.get(kind.name);
      if (
        collection?.read_at === undefined ||
        clock.boot().milliseconds - collection.read_at <= settleMilliseconds
      )
        return;
      const effective = { ...ownRoot(collection), ...fields };
      const listed = await read(kind);
      const news = withoutSiblings(
        change,
        kind,
        listed.filter(({ id }) => !isKnown(kind.name, id) && !wasDeletedRecently(kind.name, id)),
      );
      const wanted = identityKey(kind, effective);
      const like = { ...change, declaredObject: { ...change.declaredObject, declared: effective } };
      const alike =
        allow.includes('possible-duplicate') || tools.duplicates.has(change.address)
          ? []
          : possibleDuplicates(kind, [like], news, (values) => values).map(({ live }) => live);
      const [found] = [
        ...news.filter(
          ({ values }) => wanted !== undefined && identityKey(kind, values) === wanted,
        ),
        ...alike,
      ];
      if (found)
        refuse(
          'appeared',
          `${change.address} was not created: ${found.id} equals it, or nearly, and appeared since the plan was made.`,
          { detail: 'Plan again.' },
        );
    },
  });
  return (change, fields) => {
    asked.set(change, fields);
    return recheck(change, fields);
  };
}
