// The live objects for all reads of a process: one complete listing per kind, read again after each write of the kind.
// An object that a listing lacks is looked up once more, because absence needs proof.
import {
  cached,
  defined,
  type CloudReader,
  type Emit,
  type Kind,
  type Kinds,
  type Live,
} from '../model/index.js';
import { nothingRecent } from '../reconciler/recent-writes.js';
import {
  observe,
  withoutSecrets,
  type LiveCollection,
  type Observing,
} from '../reconciler/live-collections.js';

/** The most missing objects of a kind that are read one by one; for more, a second listing is the proof. */
const LOOKS = 20;

export type ListingCache = ReturnType<typeof listingCacheOf>;

export function listingCacheOf(cloud: CloudReader, kinds: Kinds, emit: Emit) {
  interface Seen {
    readonly first: Promise<LiveCollection>;
    second?: Promise<LiveCollection>;
    missed: number;
  }
  const seen = new Map<string, Seen>();

  function seeing(kind: Kind): Seen {
    return cached(seen, kind.name, () => ({
      first: readCollection({ cloud, kinds, emit }, kind),
      missed: 0,
    }));
  }

  return {
    /** Every object of a kind. @throws Refusal where the listing is not proven complete */
    list: (kind: Kind) => seeing(kind).first,
    /** An object that every reading may share; undefined where it is provably gone. @throws Refusal */
    async find(kind: Kind, id: string): Promise<Live | undefined> {
      const sighted = seeing(kind);
      const live = (await sighted.first).byId.get(id);
      if (live) return live;
      sighted.missed += 1;
      if (sighted.missed <= LOOKS) return look(cloud, kind, id);
      sighted.second ??= readCollection({ cloud, kinds, emit }, kind);
      return (await sighted.second).byId.get(id);
    },
    /** Forgets the listing of a kind: told before and after each write. */
    wrote: (kind: Kind) => void seen.delete(kind.name),
  };
}

/** A complete listing of its own. @throws Refusal */
export async function readCollection(
  tools: Omit<Observing, 'entries' | 'visibility'>,
  { name }: Kind,
): Promise<LiveCollection> {
  const { cloud, kinds, emit, clock } = tools;
  const observing = { cloud, kinds, emit, entries: [], visibility: nothingRecent };
  const live = await observe({ ...observing, ...defined({ clock }) }, [name]);
  return live.get(name)!;
}

/** One object, read by its identifier. @throws Refusal: a failed look is no proof of absence */
export async function look(cloud: CloudReader, kind: Kind, id: string): Promise<Live | undefined> {
  const [live] = await cloud.find(kind, [id]);
  return live && { ...live, values: withoutSecrets(kind.attributes, live.values) };
}
