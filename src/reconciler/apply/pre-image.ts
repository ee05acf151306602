// What existed before a create: the ids of objects with the same identity as the new one, the highest numeric id and the
// newest time-based id. An object in a later listing is new if its id is none of these, and is above the highest or
// later than the newest one.
import {
  cached,
  defined,
  idOf,
  uuidTicks,
  type Intent,
  type Kind,
  type Live,
  type LiveObjects,
  type Values,
} from '../../model/index.js';
import { identityKey, indexByIdentity } from '../plan/match.js';

export type Before = ReturnType<typeof beforeRun>;

/** The objects before this run, from the reading the plan was made of, for pre-images: built once per kind, so that a thousand creates take linear time. */
export function beforeRun(liveObjects: LiveObjects) {
  const indexes = new Map<string, ReadonlyMap<string, readonly Live[]>>();
  const tops = new Map<string, Pick<Intent, 'highest' | 'newest'>>();
  return {
    equals: (kind: Kind, values: Values): readonly string[] => {
      const collection = liveObjects.get(kind.name);
      if (!collection) return [];
      const index = cached(indexes, kind.name, () => indexByIdentity(collection));
      return (index.get(identityKey(kind, values) ?? '') ?? []).map((live) => live.id);
    },
    /** The highest of its numeric ids, and the newest of its time-based ones. */
    youngest: (kind: Kind) =>
      cached(tops, kind.name, () =>
        youngestOf([...(liveObjects.get(kind.name)?.byId.keys() ?? [])]),
      ),
  };
}

function youngestOf(ids: readonly string[]): Pick<Intent, 'highest' | 'newest'> {
  let [highest, newest]: [
    bigint | undefined,
    { readonly id: string; readonly ticks: bigint } | undefined,
  ] = [undefined, undefined];
  for (const id of ids) {
    const ticks = uuidTicks(id);
    if (ticks !== undefined && (newest === undefined || ticks > newest.ticks))
      newest = { id, ticks };
    if (/^\d+$/.test(id) && (highest === undefined || BigInt(id) > highest)) highest = BigInt(id);
  }
  return defined({
    highest: highest === undefined ? undefined : (idOf(String(highest)) ?? undefined),
    newest: newest?.id,
  });
}
